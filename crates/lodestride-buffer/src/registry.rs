//! Which workspaces there are: those of the process, and those that a thread asked for by name.
//! Which are open, and which is current, is `scope.rs`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::WorkspaceError;
use crate::plan::WorkspaceConfig;
use crate::workspace::{Shared, Workspace, WorkspaceName};

/// Every workspace that has handles, and some that had.
static ALL: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: RefCell<HashMap<WorkspaceName, Workspace>> = RefCell::default();
}

pub(crate) fn add(shared: &Arc<Shared>) {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    // Before the list would grow, those that are gone make room.
    if all.len() == all.capacity() {
        all.retain(|workspace| workspace.strong_count() > 0);
        let live = all.len();
        all.reserve(live.max(16));
    }
    all.push(Arc::downgrade(shared));
}

/// Every workspace of the process that has handles, oldest first.
///
/// ```
/// use lodestride_buffer::{Workspace, all_workspaces};
/// let workspace = Workspace::new("LOOP");
/// assert!(all_workspaces().iter().any(|other| other.is_same(&workspace)));
/// ```
#[doc(alias = "getAllWorkspacesIds")]
pub fn all_workspaces() -> Vec<Workspace> {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let live = all.iter().filter_map(Weak::upgrade).collect::<Vec<_>>();
    // The last handle may be dropped here, and then frees memory: not under the lock.
    drop(all);
    live.into_iter().map(Workspace::of_shared).collect()
}

/// This thread's workspace of that name: made with the configuration when it is asked for first, the same one afterwards.
/// Other threads have one of their own.
///
/// ```
/// use lodestride_buffer::{WorkspaceConfig, thread_workspace};
/// let workspace = thread_workspace("LOOP", WorkspaceConfig::new().initial_size(1 << 20));
/// let again = thread_workspace("LOOP", WorkspaceConfig::new());
/// assert!(workspace.is_same(&again) && again.config().initial_size == 1 << 20);
/// let other = std::thread::spawn(|| thread_workspace("LOOP", WorkspaceConfig::new())).join().unwrap();
/// assert!(!workspace.is_same(&other));
/// ```
#[doc(alias = "getWorkspaceForCurrentThread")]
pub fn thread_workspace(name: impl Into<WorkspaceName>, config: WorkspaceConfig) -> Workspace {
    let name = name.into();
    let known = OWN.try_with(|own| {
        (own.borrow_mut().entry(name.clone()))
            .or_insert_with(|| Workspace::with_config(name.clone(), config))
            .clone()
    });
    // A thread that is ending keeps nothing any more.
    known.unwrap_or_else(|_| Workspace::with_config(name, config))
}

/// This thread's workspace of that name, if [`thread_workspace`] made one; none is made.
///
/// ```
/// use lodestride_buffer::{WorkspaceConfig, find_thread_workspace, thread_workspace};
/// assert!(find_thread_workspace("LOOP").is_none());
/// let workspace = thread_workspace("LOOP", WorkspaceConfig::new());
/// assert!(find_thread_workspace("LOOP").is_some_and(|found| found.is_same(&workspace)));
/// ```
#[doc(alias = "checkIfWorkspaceExists")]
pub fn find_thread_workspace(name: &str) -> Option<Workspace> {
    let found = OWN.try_with(|own| own.borrow().get(name).cloned());
    found.ok().flatten()
}

/// The workspaces that [`thread_workspace`] made for this thread, by name.
#[doc(alias = "getAllWorkspacesIdsForCurrentThread")]
pub fn thread_workspaces() -> Vec<Workspace> {
    let own = OWN.try_with(|own| own.borrow().values().cloned().collect::<Vec<_>>());
    let mut own = own.unwrap_or_default();
    own.sort_by(|a, b| a.name().cmp(b.name()));
    own
}

/// Frees the memory of the workspaces that [`thread_workspace`] made for this thread, now, and forgets them.
///
/// ```
/// use lodestride_buffer::{WorkspaceConfig, destroy_thread_workspaces, thread_workspace, thread_workspaces};
/// let workspace = thread_workspace("LOOP", WorkspaceConfig::new().initial_size(1 << 20));
/// workspace.scope(|_| ())?;
/// destroy_thread_workspaces()?;
/// assert_eq!((workspace.stats().size, thread_workspaces().len()), (0, 0));
/// # Ok::<(), lodestride_buffer::WorkspaceError>(())
/// ```
///
/// # Errors
/// [`WorkspaceError::StillOpen`] if one is open: then none was touched.
#[doc(alias = "destroyAllWorkspacesForCurrentThread")]
pub fn destroy_thread_workspaces() -> Result<(), WorkspaceError> {
    let own = thread_workspaces();
    if let Some(open) = own.iter().find(|workspace| workspace.is_open()) {
        return open.destroy();
    }
    for workspace in &own {
        workspace.destroy()?;
    }
    let _ending = OWN.try_with(|own| own.take());
    Ok(())
}
