//! Batches of float products so small that what leads up to each would take longer than it does: that is worked out once for all.
#![expect(
    unsafe_code,
    reason = "products follow one another by moving the pointers of a job"
)]

use crate::blas::BlasFloat;
use crate::gemm_choice::{are_worth_threads, is_swept};
use crate::gemm_copied::with_room;
use crate::gemm_small::Blend;
use crate::gemm_tile::{Job, Walk, is_walked, sheet_of_rows};
use crate::isa::{Isa, Level};
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::numeric::Compute;
use crate::strided::{Dims, collapse};
use crate::threads;

/// Multiply-adds of such a product: 16 by 16 by 16.
const FEW: usize = 1 << 12;

/// Steps from which on lanes of a vector share them: fewer are sooner added one after the other than together.
const SEVERAL: usize = 8;

/// Products one even step apart in every operand: of the left matrices, the right ones and the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    /// The first ones.
    shapes: [MatrixShape; 3],
    /// Elements from one to the next.
    steps: [isize; 3],
    count: usize,
}

impl Series {
    /// The products of a batch of small matrices, if they lie so.
    pub(crate) fn of(shapes: [MatrixShape; 3], batch: [&Dims; 3], count: usize) -> Option<Series> {
        let [left, right, _] = shapes;
        let work = left.rows * left.columns * right.columns;
        if !(1..=FEW).contains(&work) || count < 2 {
            return None;
        }
        let mut steps = [0; 3];
        for (step, batch) in steps.iter_mut().zip(batch) {
            *step = match &collapse(batch.iter().copied())[..] {
                [] => 0,
                [dim] => dim.stride,
                _ => return None,
            };
        }
        Some(Series {
            shapes,
            steps,
            count,
        })
    }

    /// Computes them; false, with nothing done, where tiles are not what suits them.
    pub(crate) fn run<C: BlasFloat>(
        &self,
        (a, b, out): (&[C], &[C], &mut [C]),
        blend: Blend<C>,
    ) -> bool {
        let [left, right, _] = self.shapes;
        let (m, n, k) = (left.rows, right.columns, left.columns);
        let swept = is_swept::<C>(Isa::detect(), [m, k, n], left.row_step, right.row_step);
        if swept || !is_walked() || blend.alpha == C::ZERO {
            return false;
        }
        let job = self.job((a, b, out), blend);
        let is_copied = n > 1 && right.column_step != 1;
        let is_along = n == 1 && k >= SEVERAL && right.row_step == 1 && left.column_step == 1;
        let walk = if is_along { Walk::Dots } else { Walk::Tiles };
        let many = are_worth_threads::<C>((m * n * k).saturating_mul(self.count));
        let parts = if many {
            threads::shares().min(self.count)
        } else {
            1
        };
        let share = self.count.div_ceil(parts);
        let room = if is_copied { k * n } else { 0 };
        with_room(room * parts, |rooms| {
            let job = Job {
                room: rooms.as_mut_ptr(),
                ..job
            };
            threads::for_each_part(0..parts, |part| {
                let range = part * share..self.count.min((part + 1) * share);
                // SAFETY: parts have products and room of their own; no two products share an element of the result.
                unsafe { self.some(&job, walk, range, part * room, is_copied) };
            });
        })
        .is_some()
    }

    /// The first product.
    fn job<C: BlasFloat>(&self, (a, b, out): (&[C], &[C], &mut [C]), blend: Blend<C>) -> Job<C> {
        let [left, right, to] = self.shapes;
        let last = |index: usize| MatrixShape {
            start: self.shapes[index]
                .start
                .wrapping_add_signed(self.steps[index] * (self.count - 1).cast_signed()),
            ..self.shapes[index]
        };
        // What the first and the last reach lies in the slices, and so what is between them; or this panics.
        Matrix::new(a, last(0));
        Matrix::new(b, last(1));
        MatrixMut::new(out, last(2));
        let (a, b) = (Matrix::new(a, left), Matrix::new(b, right));
        Job::of(a, b, &mut MatrixMut::new(out, to), blend)
    }

    /// Some of the products, `first` being that of them all; right matrices that are to be copied have room behind so many elements.
    ///
    /// # Safety
    /// The range is of these products, nobody else touches their results or the room meanwhile, and the machine has the walk.
    unsafe fn some<C: BlasFloat>(
        &self,
        first: &Job<C>,
        walk: Walk,
        range: std::ops::Range<usize>,
        room: usize,
        is_copied: bool,
    ) {
        let level = Level::current();
        let [left, right, to] = self.steps;
        let room = first.room.wrapping_add(room);
        let is_packed = walk == Walk::Tiles && is_packed(first, is_copied);
        let at = |index: usize| {
            let index = index.cast_signed();
            Job {
                a: first.a.wrapping_offset(index * left),
                b: first.b.wrapping_offset(index * right),
                out: first.out.wrapping_offset(index * to),
                ..*first
            }
        };
        if is_packed && !is_copied {
            let packed = at(range.start).packed(range.len(), self.steps);
            // SAFETY: the caller's contract; the matrices lie so.
            if unsafe { C::run_narrow(level, first.sizes(), packed) } {
                return;
            }
        }
        for index in range.clone() {
            let mut job = at(index);
            if is_copied {
                if right != 0 || index == range.start {
                    // SAFETY: the room is for a right matrix.
                    unsafe { copy_right(&job, room) };
                }
                (job.b, job.b_row, job.b_column) = (room, job.n.cast_signed(), 1);
            }
            if is_packed && is_copied {
                let packed = job.packed(1, [0; 3]);
                // SAFETY: the caller's contract; the matrices lie so.
                if unsafe { C::run_narrow(level, first.sizes(), packed) } {
                    continue;
                }
            }
            // SAFETY: the caller's contract; the layouts are those of the walk.
            unsafe { C::run(level, &job, walk) };
        }
    }
}

/// Whether the matrices of a product, of whose right one there `is_copied` what is multiplied, lie row after row, and the product
/// is all that is written.
fn is_packed<C: Compute>(job: &Job<C>, is_copied: bool) -> bool {
    let follow =
        |[row, column]: [isize; 2], columns: usize| column == 1 && row == columns.cast_signed();
    let [_, k, n] = job.sizes();
    let is_right = is_copied || follow([job.b_row, job.b_column], n);
    let is_product = job.blend.alpha == C::ONE && job.blend.beta == C::ZERO;
    let is_left = follow([job.a_row, job.a_column], k);
    n > 1 && is_left && is_right && follow([job.out_row, job.out_column], n) && is_product
}

/// Elements of a matrix that are copied faster one by one.
const ONE_BY_ONE: usize = 32;

/// Copies the right matrix of a product to rows one after the other.
///
/// # Safety
/// As [`Job`] says, with room for the matrix.
unsafe fn copy_right<C: Copy>(job: &Job<C>, room: *mut C) {
    let (k, n) = (job.k, job.n);
    if k * n > ONE_BY_ONE {
        // SAFETY: the caller's contract.
        unsafe { sheet_of_rows(job.b, [job.b_row, job.b_column], [k, n], room).run() };
        return;
    }
    for row in 0..k {
        let from = job.b.wrapping_offset(row.cast_signed() * job.b_row);
        for column in 0..n {
            // SAFETY: an element of the matrix.
            let element = unsafe { *from.wrapping_offset(column.cast_signed() * job.b_column) };
            // SAFETY: its place in the room.
            unsafe { room.wrapping_add(row * n + column).write(element) };
        }
    }
}
