//! Bytes, who may touch them, and what they mean: dtypes, buffers with access guards, workspaces.
//!
//! The crate knows neither shapes nor operations. It answers four questions about a piece of array memory: where it
//! lives ([`Buffer`], [`Workspace`]), who may touch it now ([`Buffer::read`], [`Buffer::write`]), what its bytes mean
//! ([`DType`], [`Element`], [`Scalar`]), and what it costs ([`memory`]).
//!
//! ```
//! use lodestride_buffer::{Buffer, Workspace};
//!
//! let workspace = Workspace::new("LOOP");
//! let mut total = 0.0;
//! for turn in 0..3 {
//!     workspace.scope(|_| -> Result<(), Box<dyn std::error::Error>> {
//!         let array = Buffer::zeroed(16)?;              // from the workspace: no malloc after the first turn
//!         array.write()?.slice_mut::<f32>().fill(turn as f32);
//!         total += array.read()?.slice::<f32>().iter().sum::<f32>();
//!         Ok(())
//!     })??;                                             // all of it is free again
//! }
//! assert_eq!(total, 12.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory
//! * **Heap.** A buffer of up to 960 bytes shares one block with its header; larger ones have a block of their own.
//!   Freed blocks wait in a size-class cache, per thread and then shared, under a limit. Blocks from 2 MiB on are aligned
//!   to and advised as huge pages.
//! * **Workspaces.** An array is a pointer increment and a header that an earlier, dead array left. A loop inside a
//!   workspace allocates nothing after its first turns.
//! * **Circular workspaces** have several blocks and take the next one at each opening: for queues that are filled ahead.
//!   **Mapped workspaces** ([`Workspace::mapped`], feature `mmap`) have a file for a block.
//! * `zeroed` is zeroed; `recycled` holds what was there before. No byte is ever uninitialised.
//!
//! # Why it is sound
//! Safe code can neither race, nor reach memory that was recycled or freed, nor read uninitialised bytes. The argument
//! has five steps; each names the file that is responsible for it and may contain `unsafe` for it. No other file may.
//!
//! 1. **Blocks are owned and initialised** (`block.rs`). A `Block` is a unique owner; its memory comes zeroed from the
//!    system and goes back once. Whoever takes a block apart (`into_raw`) puts it together with all bytes initialised:
//!    `buffer.rs` zeroes the place of a header, whose padding is not initialised memory. Memory of a foreign owner
//!    (`Lent`) is reachable through the buffer alone until the owner is dropped.
//! 2. **Any bytes are a value** (`dtype.rs`). [`Element`] is sealed and implemented by one list: integers, floats, and
//!    [`Bool`], for which every byte is valid. So initialised, aligned bytes may be seen as any element type, and all
//!    blocks are aligned to 64 (foreign ones to 8).
//! 3. **Handles count** (`buffer.rs`). The header of a buffer lives until the last handle goes, as with `Arc`; a handle
//!    that finds itself alone may free, or in an arena reuse, the header.
//! 4. **Bytes are reached under the access word only** (`access.rs`, no unsafe). [`ReadGuard`] and [`WriteGuard`] hold a
//!    reader or the writer in one atomic word; many readers or one writer, never both. Acquire on taking and release on
//!    ending order what different threads do. Slices borrow from the guard. Nothing ever waits: a conflict is
//!    [`AccessError::InUse`]. While one thread only has used buffers (`bias.rs`, `barrier.rs`) the word and the counts of
//!    handles are changed by a load and a store instead of a locked exchange: nobody can come between, and whoever comes
//!    later waits until the last of them is done. A [`Moment`] (`moment.rs`) makes that time as long as a short loop, which then
//!    only looks at the words.
//! 5. **Arena memory is recycled only when no guard is on it** (`pin.rs` without unsafe, `ground.rs`). The access word is
//!    also the pin: a guard registers, *then* compares the workspace's epoch with the array's stamp. A closing workspace
//!    moves the epoch, *then* looks at the access word of each array of its generation; the arena holds a handle to every
//!    header, so none is missed. The four steps are sequentially consistent: either the guard finds the moved epoch and
//!    touches nothing, or the workspace finds the pin. A pinned block is retired, the workspace goes on with a fresh one,
//!    and the last guard frees the retired one (bit `WATCHED`). Each block of a circular workspace has an epoch of its own
//!    (`ring.rs`, no unsafe), which moves when the block is taken for another turn. The protocol is model-checked with
//!    loom, with two and three threads.
//!
//! Which thread may allocate in a workspace needs no unsafe at all: opening moves the arena's allocation state from the
//! workspace into the thread's stack of scopes (`scope.rs`), closing moves it back. Who comes second finds it gone and
//! gets [`WorkspaceError::OpenOnAnotherThread`].
//!
//! What safe code *can* do is forget a guard: then the array stays in use, and its block retired, for ever.

mod access;
mod arena;
#[cfg(not(loom))]
mod barrier;
mod bias;
mod block;
mod buffer;
mod cache;
mod counters;
mod create;
mod dlpack;
mod dtype;
mod error;
mod floor;
mod formula;
mod ground;
mod guard;
mod hard_limit;
#[cfg(feature = "mmap")]
mod map;
#[cfg(feature = "mmap")]
mod mapped;
pub mod memory;
mod mode;
mod moment;
mod outlook;
mod pin;
mod plan;
mod query;
mod registry;
mod report;
mod ring;
mod room;
mod scalar;
mod scope;
mod session;
mod stack;
mod sync;
mod system_memory;
mod timeline;
mod timeline_svg;
mod workspace;

pub use access::Holder;
pub use buffer::Buffer;
pub use dlpack::{DlManaged, DlManagedVersioned, DlPackError, DlPlaces, DlTensor};
pub use dtype::{Bool, DType, Element, UnknownDType, with_default_dtype};
pub use error::{
    AccessError, AllocError, Argument, BusyAccess, FullWorkspace, LimitFacts, ReadOnlyAccess,
    StaleAccess, WorkspaceError,
};
pub use formula::{SizeTerm, SizeTerms};
pub use guard::{ReadGuard, ReadSlice, WriteGuard};
pub use half::{bf16, f16};
#[cfg(feature = "mmap")]
pub use mapped::MappedFile;
pub use mode::{DebugMode, debug_mode, set_debug_mode};
pub use moment::Moment;
pub use outlook::{PlanReason, WorkspacePlan};
pub use plan::{AllocationPolicy, LearningPolicy, ResetPolicy, SpillPolicy, WorkspaceConfig};
pub use registry::{
    all_workspaces, destroy_thread_workspaces, find_thread_workspace, thread_workspace,
    thread_workspaces,
};
pub use room::set_room_aside;
pub use scalar::{HostType, Scalar, ScalarKind};
pub use scope::{current_workspace, open_workspaces, parent_workspace, scope_out};
pub use timeline::{Timeline, TimelineEvent, TimelineKind, note_stale_use};
pub use workspace::{Workspace, WorkspaceGuard, WorkspaceName, WorkspaceStats};
