//! Moving arrays between workspaces and the heap, so that they outlive the scope they were made in.
//!
//! Inside a scope new arrays live in its workspace and end with it. `detach` copies one out to the heap, `leverage`
//! and `leverage_to` into another workspace, `migrate` and `migrate_or_detach` into the current one.

use lodestride_buffer::{AllocError, Buffer, Workspace, current_workspace, parent_workspace};
use lodestride_kernels as kernels;

use crate::NdArray;
use crate::checks::watched;
use crate::error::{InOp, Result};

impl NdArray {
    /// Whether the elements live in a workspace and not on the heap.
    pub fn is_attached(&self) -> bool {
        self.buffer().is_attached()
    }

    /// Whether the elements may still be touched: on the heap always, else while their workspace's turn lasts.
    pub fn is_in_scope(&self) -> bool {
        self.buffer().is_in_scope()
    }

    /// Fails when the array is stale: its workspace was closed, or opened again since. Arrays on the heap are always fine.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`](crate::ArrayErrorKind::Access).
    ///
    /// ```
    /// use lodestride_array::{NdArray, Workspace};
    ///
    /// let leaked = Workspace::new("LOOP").scope(|_| NdArray::ones([3]))??;
    /// assert!(leaked.validate().is_err() && NdArray::ones([3])?.validate().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "assertValidArray")]
    #[track_caller]
    pub fn validate(&self) -> Result<()> {
        self.buffer().validate().in_op("validate", self)
    }

    /// The array itself when it is on the heap, else a copy on the heap that outlives every workspace.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`](crate::ArrayErrorKind::Access) when the array is stale already,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Workspace};
    ///
    /// let workspace = Workspace::new("LOOP");
    /// let (kept, lost) = workspace.scope(|_| {
    ///     let a = NdArray::ones([3])?;
    ///     Ok::<_, lodestride_array::ArrayError>((a.detach()?, a))
    /// })??;
    /// assert_eq!(kept.to_vec::<f32>()?, [1.0, 1.0, 1.0]);
    /// assert!(lost.to_vec::<f32>().unwrap_err().to_string().contains("leaked workspace pointer from workspace [LOOP]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn detach(&self) -> Result<NdArray> {
        self.detached("detach")
    }

    #[track_caller]
    fn detached(&self, op: &'static str) -> Result<NdArray> {
        self.buffer().validate().in_op(op, self)?;
        if !self.is_attached() {
            return Ok(self.clone());
        }
        self.copied_by(op, Buffer::detached_recycled)
    }

    /// A copy in the given workspace, which must be open on this thread; the array itself when it is on the heap or
    /// there already.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`](crate::ArrayErrorKind::Access) when the array is stale already,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when the workspace is not open or full.
    #[doc(alias = "leverageTo")]
    #[track_caller]
    pub fn leverage_to(&self, workspace: &Workspace) -> Result<NdArray> {
        self.buffer().validate().in_op("leverage_to", self)?;
        if !self.is_attached() || self.buffer().is_attached_to(workspace) {
            return Ok(self.clone());
        }
        self.copied_by("leverage_to", |bytes| Buffer::recycled_in(workspace, bytes))
    }

    /// [`leverage_to`](Self::leverage_to) when the workspace is open on this thread, else [`detach`](Self::detach).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`](crate::ArrayErrorKind::Access) when the array is stale already,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    #[doc(alias = "leverageOrDetach")]
    #[track_caller]
    pub fn leverage_or_detach(&self, workspace: &Workspace) -> Result<NdArray> {
        if workspace.is_open_here() {
            self.leverage_to(workspace)
        } else {
            self.detach()
        }
    }

    /// A copy in the workspace around the current one, or on the heap when there is none; the array itself when it is
    /// on the heap already.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`](crate::ArrayErrorKind::Access) when the array is stale already,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    #[track_caller]
    pub fn leverage(&self) -> Result<NdArray> {
        self.buffer().validate().in_op("leverage", self)?;
        if !self.is_attached() {
            return Ok(self.clone());
        }
        match parent_workspace() {
            Some(parent) => self.leverage_to(&parent),
            None => self.detach(),
        }
    }

    /// A copy in the current workspace, also of an array on the heap, and of one that is there already; the array itself when
    /// allocations go to the heap.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`](crate::ArrayErrorKind::Access) when the array is stale already,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Workspace};
    ///
    /// let a = NdArray::ones([3])?;
    /// Workspace::new("LOOP").scope(|_| {
    ///     let b = a.migrate()?;
    ///     assert!(b.is_attached() && !b.migrate()?.shares_memory(&b));
    ///     Ok::<_, lodestride_array::ArrayError>(())
    /// })??;
    /// assert!(a.migrate()?.shares_memory(&a));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn migrate(&self) -> Result<NdArray> {
        self.migrated("migrate", |array| Ok(array.clone()))
    }

    /// [`migrate`](Self::migrate), but [`detach`](Self::detach) when allocations go to the heap: the result never ends before
    /// the current scope does.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`](crate::ArrayErrorKind::Access) when the array is stale already,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Workspace, scope_out};
    ///
    /// let kept = Workspace::new("LOOP").scope(|_| {
    ///     let a = NdArray::ones([3])?;
    ///     scope_out(|| a.migrate_or_detach())
    /// })??;
    /// assert!(!kept.is_attached());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "migrate")]
    #[track_caller]
    pub fn migrate_or_detach(&self) -> Result<NdArray> {
        self.migrated("migrate_or_detach", |array| {
            array.detached("migrate_or_detach")
        })
    }

    #[track_caller]
    fn migrated(
        &self,
        op: &'static str,
        otherwise: impl FnOnce(&NdArray) -> Result<NdArray>,
    ) -> Result<NdArray> {
        self.buffer().validate().in_op(op, self)?;
        match current_workspace() {
            Some(current) => self.copied_by(op, |bytes| Buffer::recycled_in(&current, bytes)),
            None => otherwise(self),
        }
    }

    /// A contiguous copy in memory that the closure provides.
    #[track_caller]
    fn copied_by(
        &self,
        op: &'static str,
        allocate: impl FnOnce(usize) -> std::result::Result<Buffer, AllocError>,
    ) -> Result<NdArray> {
        let mut place = None;
        let layout = self.layout().kept(&mut place).clone();
        let buffer = allocate(self.len().saturating_mul(self.dtype().size()));
        let copy = NdArray::over(op, buffer, layout, self.dtype())?;
        let run = || kernels::copy(self.operand().into(), copy.operand());
        watched(op, &[self], &copy, run)?;
        Ok(copy)
    }
}
