//! What can go wrong, with the values that went wrong and the words for it.
//! Where each error arises is said at the function that returns it.

use std::fmt;
use std::panic::Location;

use thiserror::Error;

use crate::access::Holder;
use crate::block::ALIGNMENT;
use crate::workspace::WorkspaceName;
use crate::{cache, hard_limit};

/// Which operand of an operation an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// The first operand.
    X,
    /// The second operand.
    Y,
    /// The result.
    Z,
    /// One of many inputs, counted from 0.
    Input(usize),
    /// One of many outputs, counted from 0.
    Output(usize),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::X => f.write_str("X"),
            Argument::Y => f.write_str("Y"),
            Argument::Z => f.write_str("Z"),
            Argument::Input(index) => write!(f, "input {index}"),
            Argument::Output(index) => write!(f, "output {index}"),
        }
    }
}

/// Why a buffer's bytes may not be touched now.
///
/// `Display` speaks of "an array"; whoever knows the operation, the argument and the array's shape uses
/// [`explain`](AccessError::explain) and gets the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// The array's workspace is no longer open.
    Leaked(Box<StaleAccess>),
    /// The array's workspace was closed and opened again, its memory serves other arrays now.
    Outdated(Box<StaleAccess>),
    /// A guard that excludes the requested one is alive.
    InUse(Box<BusyAccess>),
    /// The memory is lent for reading only: that of a mapped file, for example.
    ReadOnly(Box<ReadOnlyAccess>),
}

/// The facts of a write to memory that is lent for reading only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOnlyAccess {
    /// Where the array was made.
    pub made_at: &'static Location<'static>,
}

/// The facts of a leaked or outdated access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleAccess {
    /// The workspace the array was made in.
    pub workspace: WorkspaceName,
    /// Where the array was made.
    pub allocated_at: &'static Location<'static>,
    /// The workspace's generation then.
    pub generation: u64,
    /// The workspace's generation now.
    pub current_generation: u64,
    /// Where the workspace was closed last, if it was.
    pub closed_at: Option<&'static Location<'static>>,
    /// Where the workspace was opened last.
    pub opened_at: Option<&'static Location<'static>>,
    /// The workspaces open on this thread, outermost first.
    pub open_workspaces: Vec<WorkspaceName>,
}

/// The facts of a conflicting access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusyAccess {
    /// True if the refused request was for writing.
    pub writing: bool,
    /// The guards that were alive.
    pub holder: Holder,
    /// Where the array was made.
    pub allocated_at: &'static Location<'static>,
}

impl std::error::Error for AccessError {}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("array ")?;
        self.write_text(f, &"the array")
    }
}

impl AccessError {
    /// The full text for a user: names the operation, the argument and the array, and says what to do.
    ///
    /// ```
    /// use lodestride_buffer::{Argument, Buffer};
    /// let buffer = Buffer::zeroed(48)?;
    /// let reader = buffer.read()?;
    /// let error = buffer.write().unwrap_err();
    /// let text = error.explain("add", Argument::Z, &"f32 [3, 4]").to_string();
    /// assert!(text.starts_with("Op [add] Z argument is in use: 1 read guard is alive"));
    /// # drop(reader);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain<'a>(
        &'a self,
        op: &'a str,
        argument: Argument,
        array: &'a dyn fmt::Display,
    ) -> impl fmt::Display + 'a {
        Explained {
            error: self,
            op,
            argument,
            array,
        }
    }

    /// Everything after the subject of the sentence.
    fn write_text(&self, f: &mut fmt::Formatter<'_>, array: &dyn fmt::Display) -> fmt::Result {
        match self {
            AccessError::Leaked(stale) => {
                let name = &stale.workspace;
                write!(
                    f,
                    "uses leaked workspace pointer from workspace [{name}]: the workspace is no longer open\n  \
                     {array} was allocated at {} in generation {}; workspace closed at {}; open workspaces: {}\n  \
                     help: `detach()` it before the scope ends, `leverage_to(..)` an outer workspace, or allocate it \
                     inside `scope_out(..)`",
                    stale.allocated_at,
                    stale.generation,
                    Place(stale.closed_at),
                    Names(&stale.open_workspaces),
                )
            }
            AccessError::Outdated(stale) => {
                let name = &stale.workspace;
                write!(
                    f,
                    "uses outdated workspace pointer from workspace [{name}]: the workspace was closed and opened \
                     again since the array was made\n  \
                     {array} was allocated at {} in generation {}; workspace closed at {} and opened again at {}, now \
                     in generation {}; open workspaces: {}\n  \
                     help: `detach()` it before the scope ends, `leverage_to(..)` an outer workspace, or make the \
                     array anew in each turn",
                    stale.allocated_at,
                    stale.generation,
                    Place(stale.closed_at),
                    Place(stale.opened_at),
                    stale.current_generation,
                    Names(&stale.open_workspaces),
                )
            }
            AccessError::InUse(busy) => busy.write_text(f, array),
            AccessError::ReadOnly(facts) => write!(
                f,
                "is read-only: its memory is lent for reading, as that of a mapped file is\n  \
                 {array} was made at {}\n  \
                 help: work on a copy, `dup()`",
                facts.made_at,
            ),
        }
    }
}

impl BusyAccess {
    fn write_text(&self, f: &mut fmt::Formatter<'_>, array: &dyn fmt::Display) -> fmt::Result {
        f.write_str("is in use: ")?;
        match self.holder {
            Holder::Writer => f.write_str("a write guard is alive")?,
            Holder::Readers(1) => f.write_str("1 read guard is alive")?,
            Holder::Readers(count) => write!(f, "{count} read guards are alive")?,
        }
        f.write_str(match (self.writing, self.holder) {
            (true, _) => ", and writing needs the array alone",
            (false, Holder::Writer) => ", and reading must wait until it ends",
            (false, Holder::Readers(_)) => ", as many as can be counted",
        })?;
        write!(
            f,
            "\n  {array} was allocated at {}\n  \
             help: end the guard or view first (a block `{{ .. }}` or `drop(view)` does it), or work on a copy, \
             `dup()`; threads that write parts of one array split one mutable view instead",
            self.allocated_at,
        )
    }
}

struct Explained<'a> {
    error: &'a AccessError,
    op: &'a str,
    argument: Argument,
    array: &'a dyn fmt::Display,
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Op [{}] {} argument ", self.op, self.argument)?;
        self.error
            .write_text(f, &format_args!("array {}", self.array))
    }
}

struct Place(Option<&'static Location<'static>>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => fmt::Display::fmt(location, f),
            None => f.write_str("an unknown place"),
        }
    }
}

struct Names<'a>(&'a [WorkspaceName]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, name) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{name}")?;
        }
        f.write_str("]")
    }
}

struct Current<'a>(&'a Option<WorkspaceName>);

impl fmt::Display for Current<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "[{name}]"),
            None => f.write_str("none"),
        }
    }
}

/// Why memory could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AllocError {
    /// The system gave no block of this size.
    #[error("out of memory: no block of {bytes} bytes could be allocated")]
    OutOfMemory {
        /// The size asked for.
        bytes: usize,
    },
    /// The process may not hold that much memory: [`memory::set_hard_limit`](crate::memory::set_hard_limit).
    #[error(
        "out of memory: {} bytes asked for, {} held, and the process's limit is {}\n  help: drop arrays, `destroy()` \
         workspaces, or raise it with `memory::set_hard_limit(..)`", .0.bytes, .0.held, .0.limit
    )]
    OverLimit(Box<LimitFacts>),
    /// The workspace is full and its spill policy is [`SpillPolicy::Fail`](crate::SpillPolicy::Fail).
    #[error(
        "can't allocate memory: workspace [{}] is full: {} bytes asked for, {} of {} free\n  help: give it a larger \
         `initial_size`, or another spill policy than `SpillPolicy::Fail`", .0.workspace, .0.bytes, .0.free, .0.size
    )]
    WorkspaceFull(Box<FullWorkspace>),
    /// The workspace named explicitly is not open on this thread.
    #[error(
        "can't allocate in workspace [{workspace}]: it is not open on this thread\n  help: open it with `scope(..)` or \
         `enter()` around the call"
    )]
    NotOpenHere {
        /// The workspace asked for.
        workspace: WorkspaceName,
    },
}

impl AllocError {
    /// The error of an allocation that got no block.
    #[cold]
    pub(crate) fn no_block(bytes: usize) -> AllocError {
        match hard_limit::get() {
            // A header may come on top.
            Some(limit) if cache::exceeds_limit(bytes.saturating_add(ALIGNMENT)) => {
                AllocError::OverLimit(Box::new(LimitFacts {
                    bytes,
                    held: hard_limit::held(),
                    limit,
                }))
            }
            _ => AllocError::OutOfMemory { bytes },
        }
    }
}

/// The facts of an allocation that the process's limit forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitFacts {
    /// The bytes asked for.
    pub bytes: usize,
    /// The bytes the process held.
    pub held: usize,
    /// The bytes it may hold.
    pub limit: usize,
}

/// The facts of an allocation that a full workspace refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullWorkspace {
    /// The workspace.
    pub workspace: WorkspaceName,
    /// The bytes asked for.
    pub bytes: usize,
    /// The bytes free in it.
    pub free: usize,
    /// Its size.
    pub size: usize,
}

/// Why a workspace could not be opened, closed or destroyed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WorkspaceError {
    /// The workspace is open on another thread; each thread needs its own.
    #[error(
        "workspace [{workspace}] is already open on another thread (opened at {})\n  help: give every thread a \
         workspace of its own; arrays of an open workspace may be read from any thread", Place(*.opened_at)
    )]
    OpenOnAnotherThread {
        /// The workspace.
        workspace: WorkspaceName,
        /// Where the other thread opened it.
        opened_at: Option<&'static Location<'static>>,
    },
    /// The operation needs the workspace to be open on this thread.
    #[error("workspace [{workspace}] is not open on this thread")]
    NotOpen {
        /// The workspace.
        workspace: WorkspaceName,
    },
    /// The operation needs the workspace to be the current one of this thread.
    #[error(
        "workspace [{workspace}] is open but not current; current is {}", Current(.current)
    )]
    NotCurrent {
        /// The workspace.
        workspace: WorkspaceName,
        /// The current one; `None` for the heap.
        current: Option<WorkspaceName>,
    },
    /// The operation needs the workspace to be closed.
    #[error("workspace [{workspace}] is still open (opened at {}): close it first", Place(*.opened_at))]
    StillOpen {
        /// The workspace.
        workspace: WorkspaceName,
        /// Where it was opened.
        opened_at: Option<&'static Location<'static>>,
    },
    /// A scope was closed while scopes opened after it were still open; all of them are closed now.
    #[error(
        "workspace [{workspace}] was closed out of order: opened later and still open were {}; all of them are closed \
         now\n  help: close guards in the reverse order of opening, or use `scope(..)`", Names(.inner)
    )]
    OutOfOrder {
        /// The workspace whose guard was closed.
        workspace: WorkspaceName,
        /// The workspaces opened after it, outermost first.
        inner: Vec<WorkspaceName>,
    },
    /// The scope had already been closed, together with one opened before it.
    #[error("this scope of workspace [{workspace}] was already closed together with an outer one")]
    AlreadyClosed {
        /// The workspace.
        workspace: WorkspaceName,
    },
    /// The workspace is borrowed already.
    #[error("workspace [{workspace}]: can't borrow from borrowed workspace")]
    AlreadyBorrowed {
        /// The workspace.
        workspace: WorkspaceName,
    },
    /// A circular workspace was configured without blocks.
    #[error(
        "workspace [{workspace}] is circular and has 0 blocks: it needs a whole number of blocks, 1 or more\n  help: \
         `WorkspaceConfig::circular(blocks)` sets both"
    )]
    NoBlocks {
        /// The workspace.
        workspace: WorkspaceName,
    },
    /// The workspace's block could not be allocated.
    #[error("workspace [{workspace}] could not get its block of memory")]
    Alloc {
        /// The workspace.
        workspace: WorkspaceName,
        /// Why not.
        source: AllocError,
    },
}
