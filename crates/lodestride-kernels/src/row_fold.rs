//! Folds of a [row pass](crate::row_pass()), whose values are known by address and dtype only: any reducer of `reduce.rs`, told what to do
//! with what it keeps.
#![expect(
    unsafe_code,
    reason = "rows and totals are handed over as raw pointers, their types erased"
)]

use crate::isa::{Level, RawKernel};
use crate::numeric::Compute;
use crate::op::{self, BinaryOp};
use crate::reduce::ReduceOp;
use crate::reduce_choice::{Visitor, choose_common};
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{BLOCK, ROWS, Reducer};
use lodestride_buffer::DType;

/// What totals are aligned for.
pub(crate) type Unit = u128;

/// Totals that become values at once.
const AT_ONCE: usize = ROWS;

/// Rows of elements, at most [`ROWS`] of them: where they are, and the bytes from one to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    pub(crate) at: *const u8,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) step: isize,
}

impl Matrix {
    /// The rows in a slice.
    ///
    /// # Safety
    /// They are valid for reads, of that type, aligned, and whole elements apart, not backwards; nobody writes them meanwhile.
    unsafe fn runs<'a, C>(self) -> Runs<'a, C> {
        let step = self.step.unsigned_abs() / size_of::<C>();
        let elements = self.rows.saturating_sub(1) * step + self.columns;
        // SAFETY: the caller's contract; what lies between rows is in the same buffer.
        let data = unsafe { std::slice::from_raw_parts(self.at.cast(), elements) };
        Runs::new(data, 0, step, self.columns)
    }
}

/// What is done with elements and totals.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// Tells the bytes of a total.
    Measure,
    /// Makes `n` totals those of no elements.
    Empty,
    /// Reduces each row to a value at `to`.
    Reduce,
    /// Adds the only row to the only total.
    Along,
    /// Adds the rows to a total for each column.
    Across,
    /// Adds `n` totals to as many others.
    Merge,
    /// Makes values at `to` of `n` totals of `count` elements each.
    Finish,
}

/// A fold of elements of one float dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErasedFold {
    op: ReduceOp,
    dtype: DType,
}

impl ErasedFold {
    /// The fold of an operation that computes in a dtype and gives values of it; none for other operations and dtypes.
    pub(crate) fn new(op: ReduceOp, dtype: DType) -> Option<Self> {
        let fold = Self { op, dtype };
        fold.perform(&mut Call::of(Task::Measure, 0))
            .then_some(fold)
    }

    /// The kernel that adds elements to others in place, if as many as [`ROWS`] may be added so before they are folded.
    pub(crate) fn addition(self) -> Option<RawKernel> {
        let adds = matches!(self.op, ReduceOp::Sum | ReduceOp::Mean);
        let kernel = op::binary_kernel(BinaryOp::Add, self.dtype, Level::current())?;
        kernel.zip_in_place.filter(|_| adds)
    }

    /// Performs a task; false where there is no such fold.
    #[inline(never)]
    fn perform(self, call: &mut Call) -> bool {
        match self.dtype {
            DType::F32 => choose_common::<f32>(self.op, call),
            DType::F64 => choose_common::<f64>(self.op, call),
            _ => false,
        }
    }

    /// The units that so many totals take.
    pub(crate) fn units(self, totals: usize) -> usize {
        let mut call = Call::of(Task::Measure, totals);
        self.perform(&mut call);
        call.count.div_ceil(size_of::<Unit>())
    }

    /// Makes `n` totals those of no elements.
    ///
    /// # Safety
    /// `totals` is valid for writes of the [units](Self::units) of so many.
    pub(crate) unsafe fn empty(self, n: usize, totals: *mut Unit) {
        self.perform(&mut Call {
            totals,
            ..Call::of(Task::Empty, n)
        });
    }

    /// Reduces each row to a number; numbers are `step` bytes apart.
    ///
    /// # Safety
    /// The rows are valid for reads, of the dtype and aligned, `to` for writes of as many numbers; they are apart.
    pub(crate) unsafe fn reduce(self, rows: Matrix, to: *mut u8, step: isize) {
        self.perform(&mut Call {
            rows,
            step,
            to,
            ..Call::of(Task::Reduce, rows.rows)
        });
    }

    /// Adds `n` elements to the only total.
    ///
    /// # Safety
    /// `at` is valid for reads of `n` elements of the dtype and aligned, `totals` holds one total; they are apart.
    pub(crate) unsafe fn along(self, n: usize, at: *const u8, totals: *mut Unit) {
        let rows = Matrix {
            at,
            rows: 1,
            columns: n,
            step: 0,
        };
        self.perform(&mut Call {
            rows,
            totals,
            ..Call::of(Task::Along, 1)
        });
    }

    /// Adds rows to a total for each column.
    ///
    /// # Safety
    /// The rows are valid for reads, of the dtype and aligned, `totals` holds as many totals as there are columns; they are apart.
    pub(crate) unsafe fn across(self, rows: Matrix, totals: *mut Unit) {
        self.perform(&mut Call {
            rows,
            totals,
            ..Call::of(Task::Across, rows.columns)
        });
    }

    /// Adds `n` totals to as many others.
    ///
    /// # Safety
    /// Both hold `n` totals, and are apart.
    pub(crate) unsafe fn merge(self, n: usize, totals: *mut Unit, more: *const Unit) {
        self.perform(&mut Call {
            more,
            totals,
            ..Call::of(Task::Merge, n)
        });
    }

    /// The values of `n` totals of `count` elements each.
    ///
    /// # Safety
    /// `totals` holds `n`; `to` is valid for writes of `n` elements of the dtype and aligned; they are apart.
    pub(crate) unsafe fn finish(self, n: usize, totals: *mut Unit, count: usize, to: *mut u8) {
        self.perform(&mut Call {
            totals,
            count,
            to,
            ..Call::of(Task::Finish, n)
        });
    }
}

/// A task and its operands, those that it has.
struct Call {
    task: Task,
    /// Totals, or values.
    n: usize,
    rows: Matrix,
    totals: *mut Unit,
    more: *const Unit,
    count: usize,
    to: *mut u8,
    step: isize,
}

impl Call {
    fn of(task: Task, n: usize) -> Self {
        Self {
            task,
            n,
            rows: Matrix {
                at: std::ptr::null(),
                rows: 0,
                columns: 0,
                step: 0,
            },
            totals: std::ptr::null_mut(),
            more: std::ptr::null(),
            count: 0,
            to: std::ptr::null_mut(),
            step: 0,
        }
    }

    /// `n` elements, totals or values of a type.
    ///
    /// # Safety
    /// `start` is valid for that and aligned, and nobody writes them as long as the slice lives.
    unsafe fn some<'a, T>(start: *const u8, n: usize) -> &'a [T] {
        // SAFETY: the caller's contract.
        unsafe { std::slice::from_raw_parts(start.cast(), n) }
    }

    /// The same to be written.
    ///
    /// # Safety
    /// As [`some`](Self::some), and nobody reads them either.
    unsafe fn some_mut<'a, T>(start: *mut u8, n: usize) -> &'a mut [T] {
        // SAFETY: the caller's contract.
        unsafe { std::slice::from_raw_parts_mut(start.cast(), n) }
    }
}

/// Gives the totals of rows of any length that lie in a slice, some at a time.
fn totals_of<C: Compute, T: Copy + Send + Sync, V: Compute>(
    reducer: &dyn Reducer<C, Total = T, Value = V>,
    runs: Runs<'_, C>,
    count: usize,
    mut take: impl FnMut(usize, &mut [T]),
) {
    let mut totals = [reducer.empty(); AT_ONCE];
    let mut more = totals;
    for first in (0..count).step_by(AT_ONCE) {
        let totals = &mut totals[..AT_ONCE.min(count - first)];
        for at in (0..runs.len).step_by(BLOCK) {
            let start = runs.start + first * runs.step + at;
            let part = Runs::new(runs.data, start, runs.step, BLOCK.min(runs.len - at));
            if at == 0 {
                reducer.runs(part, totals);
            } else {
                let more = &mut more[..totals.len()];
                reducer.runs(part, more);
                reducer.merge_all(totals, more);
            }
        }
        take(first, totals);
    }
}

/// The values of totals of `count` elements each, in the type of the elements.
fn finished<C: Compute, T: Copy + Send + Sync, V: Compute>(
    reducer: &dyn Reducer<C, Total = T, Value = V>,
    totals: &[T],
    count: usize,
    to: &mut [C],
) {
    let mut values = [V::ZERO; AT_ONCE];
    for (totals, to) in totals.chunks(AT_ONCE).zip(to.chunks_mut(AT_ONCE)) {
        let values = &mut values[..totals.len()];
        reducer.finish(totals, count, values);
        for (to, &value) in to.iter_mut().zip(&*values) {
            *to = C::load(value);
        }
    }
}

impl Visitor for Call {
    #[inline(never)]
    fn visit<C: Compute, T: Copy + Send + Sync, V: Compute>(
        &mut self,
        reducer: &dyn Reducer<C, Total = T, Value = V>,
    ) {
        const { assert!(align_of::<T>() <= align_of::<Unit>()) };
        let n = self.n;
        let totals: *mut u8 = self.totals.cast();
        match self.task {
            Task::Measure => self.count = n * size_of::<T>(),
            Task::Empty => {
                for index in 0..n {
                    let at = self.totals.cast::<T>().wrapping_add(index);
                    // SAFETY: room for `n` totals, by the contract of `ErasedFold::empty`.
                    unsafe { at.write(reducer.empty()) };
                }
            }
            Task::Reduce => {
                // SAFETY: rows of the dtype, whose compute type `C` is, by the contract of `ErasedFold::reduce`.
                let runs = unsafe { self.rows.runs::<C>() };
                let (to, step) = (self.to, self.step);
                totals_of(reducer, runs, n, |first, totals| {
                    let mut values = [C::ZERO; AT_ONCE];
                    let values = &mut values[..totals.len()];
                    finished(reducer, totals, runs.len, values);
                    for (index, value) in values.iter().enumerate() {
                        let at = to.wrapping_offset((first + index).cast_signed() * step);
                        // SAFETY: the place of one of the numbers.
                        unsafe { at.cast::<C>().write(*value) };
                    }
                });
            }
            Task::Along => {
                // SAFETY: a row, by the contract of `ErasedFold::along`.
                let runs = unsafe { self.rows.runs::<C>() };
                // SAFETY: one total.
                let all = unsafe { Self::some_mut::<T>(totals, 1) };
                totals_of(reducer, runs, 1, |_, total| reducer.merge_all(all, total));
            }
            Task::Across => {
                // SAFETY: rows, by the contract of `ErasedFold::across`.
                let runs = unsafe { self.rows.runs::<C>() };
                // SAFETY: `n` totals.
                let totals = unsafe { Self::some_mut::<T>(totals, n) };
                let most = reducer.columns();
                for (part, totals) in totals.chunks_mut(most).enumerate() {
                    let mut offsets = [0; ROWS];
                    let offsets = &mut offsets[..self.rows.rows];
                    for (row, offset) in offsets.iter_mut().enumerate() {
                        *offset = row * runs.step + part * most;
                    }
                    let rows = Rows {
                        data: runs.data,
                        offsets,
                        width: totals.len(),
                    };
                    reducer.rows(rows, totals);
                }
            }
            Task::Merge => {
                // SAFETY: `n` totals here and there, by the contract of `ErasedFold::merge`.
                let more = unsafe { Self::some::<T>(self.more.cast(), n) };
                // SAFETY: as above.
                reducer.merge_all(unsafe { Self::some_mut::<T>(totals, n) }, more);
            }
            Task::Finish => {
                // SAFETY: `n` totals, by the contract of `ErasedFold::finish`.
                let totals = unsafe { Self::some::<T>(totals, n) };
                // SAFETY: `n` elements.
                finished(reducer, totals, self.count, unsafe {
                    Self::some_mut(self.to, n)
                });
            }
        }
    }
}
