//! Products of three to eight rows with a large matrix, in the sixteen registers of AVX2: bound by reading the matrix.
//!
//! Eight rows of the right operand are read side by side, each a stream that the processor follows by itself, and are added to the
//! sums of all rows at once. Factors are gathered first, so that they lie one after the other.
#![expect(
    unsafe_code,
    reason = "operands are raw pointers with steps, loaded under masks"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled away; their indices number rows and lanes"
)]

use std::mem::MaybeUninit;

use crate::gemm_register::Register;
use crate::gemm_sweep::{STEPS, SUMS, clear_rows, put_rows};
use crate::gemm_tile::Job;
use crate::numeric::Compute;

/// Rows that are multiplied at once, at most.
const MOST: usize = 8;

/// The rows of the product from `row` on, of which there are at most [`MOST`]: one register of columns of eight rows, or two of four.
///
/// # Safety
/// As [`walk_through`](crate::gemm_walk); the rows must be the job's.
#[inline(always)]
pub(crate) unsafe fn product<R: Register>(job: &Job<R::Item>, row: usize) {
    let mut sums = MaybeUninit::<[R::Item; SUMS]>::uninit();
    let sums = sums.as_mut_ptr().cast::<R::Item>();
    let rows = job.m - row;
    // Rows that there are not have factors of zero.
    let padded = if rows > MOST / 2 { MOST } else { MOST / 2 };
    let width = SUMS / padded;
    for first in (0..job.n).step_by(width) {
        let len = (job.n - first).min(width);
        // SAFETY: so many rows of sums are `width` apart in their array.
        unsafe { clear_rows(sums, padded, width, len) };
        let mut step = 0;
        while job.k > step {
            let steps = if job.k - step >= STEPS { STEPS } else { 1 };
            let block = Block {
                row,
                rows,
                step,
                first,
                len,
                sums,
                width,
            };
            match (padded, steps) {
                // SAFETY: rows, steps and columns are the job's, and there are as many rows of sums, here and below.
                (MOST, STEPS) => unsafe { block.add::<R, MOST, 1, STEPS>(job) },
                // SAFETY: as above.
                (MOST, _) => unsafe { block.add::<R, MOST, 1, 1>(job) },
                // SAFETY: as above.
                (_, STEPS) => unsafe { block.add::<R, { MOST / 2 }, 2, STEPS>(job) },
                // SAFETY: as above.
                (_, _) => unsafe { block.add::<R, { MOST / 2 }, 2, 1>(job) },
            }
            step += steps;
        }
        // SAFETY: these rows of sums are the job's, and so are the columns.
        unsafe { put_rows::<R>(job, [row, rows], first, len, sums, width) };
    }
}

/// Some rows of the right operand from `step` on, and the sums they are added to.
struct Block<C> {
    row: usize,
    rows: usize,
    step: usize,
    /// The first column, and how many follow.
    first: usize,
    len: usize,
    /// Sums of the first row, and elements between rows of them.
    sums: *mut C,
    width: usize,
}

impl<C: Compute> Block<C> {
    /// Adds multiples of `P` rows to the sums of `M`, `V` registers of columns at a time.
    ///
    /// # Safety
    /// As [`product`]; rows, steps and columns must be the job's, and there must be `M` rows of sums.
    #[inline(always)]
    unsafe fn add<R: Register<Item = C>, const M: usize, const V: usize, const P: usize>(
        &self,
        job: &Job<C>,
    ) {
        let mut factors = [[C::ZERO; M]; P];
        for i in 0..self.rows {
            let a = job.a.wrapping_offset((self.row + i) as isize * job.a_row);
            for p in 0..P {
                let a = a.wrapping_offset((self.step + p) as isize * job.a_column);
                // SAFETY: row and step are the job's.
                factors[p][i] = unsafe { *a };
            }
        }
        let whole = self.len / (V * R::LANES) * (V * R::LANES);
        // SAFETY: the caller vouches for the instruction set, here and below.
        let full = unsafe { R::mask(R::LANES) };
        for at in (0..whole).step_by(V * R::LANES) {
            // SAFETY: so many registers of sums and of columns.
            unsafe { self.add_at::<R, M, V, P>(job, &factors, at, full) };
        }
        for at in (whole..self.len).step_by(R::LANES) {
            // SAFETY: as above.
            let mask = unsafe { R::mask((self.len - at).min(R::LANES)) };
            // SAFETY: the lanes of the mask are sums and columns.
            unsafe { self.add_at::<R, M, 1, P>(job, &factors, at, mask) };
        }
    }

    /// The same of the columns from `at` on that are in the mask.
    ///
    /// # Safety
    /// As [`add`](Self::add); they must be there.
    #[inline(always)]
    unsafe fn add_at<R: Register<Item = C>, const M: usize, const V: usize, const P: usize>(
        &self,
        job: &Job<C>,
        factors: &[[C; M]; P],
        at: usize,
        mask: R::Mask,
    ) {
        let b = job.b.wrapping_offset(self.step as isize * job.b_row);
        let b = b.wrapping_add(self.first + at);
        let place = |i: usize, v: usize| self.sums.wrapping_add(i * self.width + at + v * R::LANES);
        // SAFETY: the caller vouches for the instruction set, here and below.
        let mut panel = [[unsafe { R::splat(C::ZERO) }; V]; M];
        for i in 0..M {
            for v in 0..V {
                // SAFETY: the caller vouches for the sums.
                panel[i][v] = unsafe { R::load(place(i, v), mask) };
            }
        }
        for p in 0..P {
            let line = b.wrapping_offset(p as isize * job.b_row);
            for v in 0..V {
                // SAFETY: the lanes of the mask are columns of the job.
                let value = unsafe { R::load(line.wrapping_add(v * R::LANES), mask) };
                for i in 0..M {
                    // SAFETY: the caller vouches for the instruction set, here and below.
                    let factor = unsafe { R::splat(factors[p][i]) };
                    // SAFETY: as above.
                    panel[i][v] = unsafe { factor.mul_add(value, panel[i][v]) };
                }
            }
        }
        for i in 0..M {
            for v in 0..V {
                // SAFETY: as for the load.
                unsafe { panel[i][v].store(place(i, v), mask) };
            }
        }
    }
}
