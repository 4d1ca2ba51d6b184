//! [`WorkspaceManager`]: which kind of array lives in which workspace, said once.
//!
//! A program names its kinds (inputs, activations, gradients, results) and assigns each to a workspace or to none; what makes
//! arrays says the kind, and what receives them checks it. Moving arrays one by one is `transfer.rs`.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use lodestride_buffer::{Workspace, WorkspaceError, WorkspaceGuard, WorkspaceName, scope_out};
use lodestride_shape::{Order, Shape};
use thiserror::Error;

use crate::error::ArrayError;
use crate::{DType, NdArray};

/// Maps kinds of arrays to workspaces; `K` is usually an enum of the program's.
///
/// ```
/// use lodestride_array::{DType, Workspace, WorkspaceManager};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
/// enum Kind { Input, Activation, Gradient }
///
/// let loops = Workspace::new("LOOP");
/// let manager = WorkspaceManager::new()
///     .assign(Kind::Input, &loops)
///     .assign(Kind::Activation, &loops)
///     .scoped_out(Kind::Gradient);
/// let open = manager.open([Kind::Input, Kind::Activation])?;
/// let activation = manager.zeros(Kind::Activation, DType::F32, [3, 4])?;
/// let gradient = manager.dup(Kind::Gradient, &activation)?;
/// open.close()?;
/// assert!(!activation.is_in_scope() && gradient.is_in_scope());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "WorkspaceMgr")]
#[derive(Clone, Debug)]
pub struct WorkspaceManager<K> {
    /// `None` for kinds that live in no workspace.
    places: HashMap<K, Option<Workspace>>,
}

/// Why an array cannot be made in, or is not in, the place of its kind.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlaceError<K: Debug> {
    /// The kind was given no place.
    #[error(
        "no workspace is assigned to arrays of type {kind:?}\n  help: `assign(..)` one, or `scoped_out(..)` for none"
    )]
    Unassigned {
        /// The kind.
        kind: K,
    },
    /// The kind's workspace is not open on this thread.
    #[error(
        "the workspace \"{workspace}\" of arrays of type {kind:?} is not open on this thread\n  help: `open([..])` it \
         around the call"
    )]
    NotOpen {
        /// The kind.
        kind: K,
        /// Its workspace.
        workspace: WorkspaceName,
    },
    /// The kind's workspace is open, but another one is current.
    #[error(
        "the workspace \"{workspace}\" of arrays of type {kind:?} is open but not current; current is {}",
        Quoted(.current)
    )]
    NotCurrent {
        /// The kind.
        kind: K,
        /// Its workspace.
        workspace: WorkspaceName,
        /// The current one.
        current: Option<WorkspaceName>,
    },
    /// The array is in another workspace than its kind, or in one at all.
    #[error(
        "Array workspace validation failed: Array of type {kind:?} should be {} but is {}",
        Where(.expected), Where(.found)
    )]
    Misplaced {
        /// The kind.
        kind: K,
        /// Where arrays of this kind live; `None` for no workspace.
        expected: Option<WorkspaceName>,
        /// Where this one lives.
        found: Option<WorkspaceName>,
    },
    /// A workspace could not be opened or closed.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// An array could not be made or moved, or is stale.
    #[error(transparent)]
    Array(#[from] ArrayError),
}

/// The place of an array in words.
struct Where<'a>(&'a Option<WorkspaceName>);

impl std::fmt::Display for Where<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(name) => write!(f, "in workspace \"{name}\""),
            None => f.write_str("detached"),
        }
    }
}

struct Quoted<'a>(&'a Option<WorkspaceName>);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(name) => write!(f, "\"{name}\""),
            None => f.write_str("none"),
        }
    }
}

/// What [`WorkspaceManager`] returns.
type Placed<T, K> = Result<T, PlaceError<K>>;

impl<K> Default for WorkspaceManager<K> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
        }
    }
}

impl<K: Copy + Eq + Hash + Debug> WorkspaceManager<K> {
    /// No kind has a place yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Arrays of this kind live in the workspace. Several kinds may share one.
    #[must_use]
    pub fn assign(mut self, kind: K, workspace: &Workspace) -> Self {
        self.places.insert(kind, Some(workspace.clone()));
        self
    }

    /// Arrays of this kind live in no workspace.
    #[doc(alias = "setScopedOutFor")]
    #[must_use]
    pub fn scoped_out(mut self, kind: K) -> Self {
        self.places.insert(kind, None);
        self
    }

    /// The kind's workspace; `None` if it lives in none.
    ///
    /// # Errors
    /// [`PlaceError::Unassigned`].
    pub fn workspace(&self, kind: K) -> Placed<Option<&Workspace>, K> {
        let place = self.places.get(&kind).map(Option::as_ref);
        place.ok_or(PlaceError::Unassigned { kind })
    }

    /// True if arrays of this kind live in no workspace.
    ///
    /// # Errors
    /// [`PlaceError::Unassigned`].
    pub fn is_scoped_out(&self, kind: K) -> Placed<bool, K> {
        Ok(self.workspace(kind)?.is_none())
    }

    /// Opens the workspaces of these kinds, each once, in this order; they are closed in the reverse one.
    ///
    /// # Errors
    /// [`PlaceError::Unassigned`], [`PlaceError::Workspace`]: none is open then that was not before.
    #[doc(alias = "notifyScopeEntered")]
    #[track_caller]
    pub fn open(&self, kinds: impl IntoIterator<Item = K>) -> Placed<OpenKinds, K> {
        let mut open = OpenKinds { guards: Vec::new() };
        for kind in kinds {
            let Some(workspace) = self.workspace(kind)? else {
                continue;
            };
            let is_same = |guard: &WorkspaceGuard| guard.workspace().is_same(workspace);
            if !open.guards.iter().any(is_same) {
                open.guards.push(workspace.enter()?);
            }
        }
        Ok(open)
    }

    /// Runs a function that makes arrays of this kind: allocations go to its workspace, which must be open on this thread, or
    /// to the heap.
    ///
    /// # Errors
    /// [`PlaceError::Unassigned`], [`PlaceError::NotOpen`]; the function has not run then.
    #[track_caller]
    pub fn place<R>(&self, kind: K, body: impl FnOnce() -> R) -> Placed<R, K> {
        let Some(workspace) = self.workspace(kind)? else {
            return Ok(scope_out(body));
        };
        if workspace.is_current() {
            return Ok(body());
        }
        match workspace.borrow() {
            Ok(_current) => Ok(body()),
            // It is open here, so entering only makes it current once more.
            Err(WorkspaceError::AlreadyBorrowed { .. }) => Ok(workspace.scope(|_| body())?),
            Err(_) => Err(PlaceError::NotOpen {
                kind,
                workspace: workspace.name().clone(),
            }),
        }
    }

    /// An array of zeros in the place of its kind.
    ///
    /// # Errors
    /// As [`place`](Self::place), [`PlaceError::Array`] when memory runs out.
    #[doc(alias = "create")]
    #[track_caller]
    pub fn zeros(&self, kind: K, dtype: DType, shape: impl Into<Shape>) -> Placed<NdArray, K> {
        Ok(self.place(kind, || NdArray::zeros_of(dtype, shape))??)
    }

    /// An array with unspecified contents in the place of its kind.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    #[doc(alias = "createUninitialized")]
    #[track_caller]
    pub fn recycled(&self, kind: K, dtype: DType, shape: impl Into<Shape>) -> Placed<NdArray, K> {
        Ok(self.place(kind, || NdArray::recycled(dtype, shape))??)
    }

    /// A copy in the place of its kind.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros); also when the array is stale.
    #[track_caller]
    pub fn dup(&self, kind: K, array: &NdArray) -> Placed<NdArray, K> {
        Ok(self.place(kind, || array.dup())??)
    }

    /// A copy of this order in the place of its kind.
    ///
    /// # Errors
    /// As [`dup`](Self::dup).
    #[track_caller]
    pub fn dup_order(&self, kind: K, array: &NdArray, order: Order) -> Placed<NdArray, K> {
        Ok(self.place(kind, || array.dup_order(order))??)
    }

    /// The array as another dtype, in the place of its kind.
    ///
    /// # Errors
    /// As [`dup`](Self::dup).
    #[track_caller]
    pub fn cast(&self, kind: K, array: &NdArray, dtype: DType) -> Placed<NdArray, K> {
        Ok(self.place(kind, || array.cast(dtype))??)
    }

    /// The array itself if it is on the heap or in the place of its kind, else a copy there.
    ///
    /// # Errors
    /// As [`dup`](Self::dup).
    #[doc(alias = "leverageTo")]
    #[track_caller]
    pub fn leverage_to(&self, kind: K, array: &NdArray) -> Placed<NdArray, K> {
        let Some(workspace) = self.workspace(kind)? else {
            return Ok(array.detach()?);
        };
        if !array.is_attached() || array.buffer().is_attached_to(workspace) {
            // Says that a stale array is stale.
            return Ok(array.leverage_to(workspace)?);
        }
        self.dup(kind, array)
    }

    /// The array, if it is in the place of its kind and not stale.
    ///
    /// Elsewhere it is an error, or, with [`Misplaced::Move`], a copy in the right place. An array on the heap whose kind has
    /// a workspace is wrong only where `detached_is_error`.
    ///
    /// # Errors
    /// [`PlaceError::Misplaced`]; [`PlaceError::Array`] when the array is stale.
    #[doc(alias = "validateArrayLocation")]
    #[track_caller]
    pub fn validate_array_location(
        &self,
        kind: K,
        array: &NdArray,
        misplaced: Misplaced,
        detached_is_error: bool,
    ) -> Placed<NdArray, K> {
        // Whether it is stale comes first, wherever it is.
        array.validate()?;
        let place = self.workspace(kind)?;
        let fits = match place {
            None => !array.is_attached(),
            Some(workspace) => {
                array.buffer().is_attached_to(workspace)
                    || !array.is_attached() && !detached_is_error
            }
        };
        match misplaced {
            _ if fits => Ok(array.clone()),
            Misplaced::Move => self.dup(kind, array),
            Misplaced::Refuse => Err(PlaceError::Misplaced {
                kind,
                expected: place.map(|workspace| workspace.name().clone()),
                found: array.buffer().workspace().cloned(),
            }),
        }
    }

    /// Fails unless the kind's workspace is open on this thread; kinds without one are always fine.
    ///
    /// # Errors
    /// [`PlaceError::Unassigned`], [`PlaceError::NotOpen`].
    #[doc(alias = "assertOpen")]
    #[track_caller]
    pub fn expect_open(&self, kind: K) -> Placed<(), K> {
        self.place(kind, || ())
    }

    /// Fails unless allocations of this thread go to the place of the kind now.
    ///
    /// # Errors
    /// [`PlaceError::Unassigned`], [`PlaceError::NotOpen`], [`PlaceError::NotCurrent`].
    #[doc(alias = "assertCurrentWorkspace")]
    #[track_caller]
    pub fn expect_current(&self, kind: K) -> Placed<(), K> {
        self.expect_open(kind)?;
        match self.workspace(kind)? {
            Some(workspace) if !workspace.is_current() => Err(PlaceError::NotCurrent {
                kind,
                workspace: workspace.name().clone(),
                current: lodestride_buffer::current_workspace().map(|open| open.name().clone()),
            }),
            _ => Ok(()),
        }
    }
}

/// What becomes of an array that is not in the place of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Misplaced {
    /// It is an error.
    #[default]
    Refuse,
    /// It is copied to the right place.
    Move,
}

/// The workspaces that [`WorkspaceManager::open`] opened; dropping it closes them, the last one first.
#[must_use = "the workspaces are open only while the guard lives"]
#[derive(Debug)]
pub struct OpenKinds {
    guards: Vec<WorkspaceGuard>,
}

impl OpenKinds {
    /// Closes them.
    ///
    /// # Errors
    /// As [`WorkspaceGuard::close`], of the first that was closed out of its turn; all are closed.
    #[track_caller]
    pub fn close(mut self) -> Result<(), WorkspaceError> {
        let mut outcome = Ok(());
        while let Some(guard) = self.guards.pop() {
            outcome = outcome.and(guard.close());
        }
        outcome
    }
}

impl Drop for OpenKinds {
    fn drop(&mut self) {
        while let Some(guard) = self.guards.pop() {
            drop(guard);
        }
    }
}
