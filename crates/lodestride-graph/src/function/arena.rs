//! The workspaces of a function: memory for intermediate results that outlives the calls.

use crate::error::GraphErrorKind;
use lodestride_array::{Workspace, WorkspaceConfig};
use std::sync::{Mutex, PoisonError};

/// Workspaces that no call uses at the moment: one, unless calls ran at the same time on several threads.
#[derive(Default)]
pub(crate) struct Arenas {
    idle: Mutex<Vec<Arena>>,
}

/// One workspace and the bytes it was made for.
pub(crate) struct Arena {
    workspace: Workspace,
    bytes: usize,
}

impl Arenas {
    /// A workspace of at least `bytes`: an idle one if it is large enough, else a new one in its place.
    pub(crate) fn borrow(&self, bytes: usize) -> Result<Arena, GraphErrorKind> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        if let Some(arena) = idle
            && arena.bytes >= bytes
        {
            return Ok(arena);
        }
        let config = WorkspaceConfig::new().initial_size(bytes);
        Ok(Arena {
            workspace: Workspace::with_config("FUNCTION", config),
            bytes,
        })
    }

    /// Gives a workspace back for the next call.
    pub(crate) fn give_back(&self, arena: Arena) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(arena);
    }

    /// The bytes of the idle workspaces.
    pub(crate) fn bytes(&self) -> usize {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .map(|a| a.bytes)
            .sum()
    }
}

impl Arena {
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}
