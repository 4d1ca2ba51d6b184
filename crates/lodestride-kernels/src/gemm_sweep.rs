//! Sweeps through a product of floats that is not packed: multiples of rows of the right operand are added to sums in L1.
#![expect(
    unsafe_code,
    reason = "operands are raw pointers with steps, loaded under masks"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled away; their indices number rows and lanes"
)]

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::gemm_choice::THIN;
use crate::gemm_few;
use crate::gemm_register::Register;
use crate::gemm_store::finish;
use crate::gemm_tile::Job;
use crate::gemm_walk::ACROSS;
use crate::numeric::Compute;
use crate::stream;

/// Sums that stay in L1 during a sweep, in elements of all its rows together: panels of any width fill them.
pub(crate) const SUMS: usize = 3840;
/// Rows of the right operand that are added at once to a single row of sums.
pub(crate) const STEPS: usize = 8;
/// Rows of the right operand that are added to a panel of sums in registers: few enough for the processor to follow each
/// as a stream of its own. With 128 of them 8 by 1024 by 1024 takes 1.3 times as long from the caches, 3.4 times from memory.
const DEEP: usize = 32;
/// The same where panels of other rows follow, which are to find what the first has read in L1, and rows are so long that so many
/// would not stay: those a page apart share few places there.
const NEAR: usize = 8;
/// Rows that are swept at a time where a panel has four of them.
const MANY: usize = 32;
/// How many rows ahead such a panel asks for its elements.
const AHEAD: isize = 8;

/// All rows of the product, as many at a time as there are registers for, or where these are few as find the right operand in L1;
/// `above` leaves out panels below the diagonal.
///
/// # Safety
/// As [`walk_through`](crate::gemm_walk).
#[inline(always)]
pub(crate) unsafe fn sweep_all<R: Register>(job: &Job<R::Item>, above: bool) {
    let mut row = 0;
    if R::ROWS >= 8 {
        while job.m - row >= 8 {
            // SAFETY: the rows are the job's, here and below.
            unsafe { sweep::<R, 8, ACROSS>(job, [row, 8], above) };
            row += 8;
        }
        while job.m - row >= 4 {
            // SAFETY: as above.
            unsafe { sweep::<R, 4, ACROSS>(job, [row, 4], above) };
            row += 4;
        }
    } else {
        while job.m - row > THIN {
            let most = (SUMS / job.n).clamp(8, MANY);
            let rows = (job.m - row).min(most) / 4 * 4;
            // SAFETY: as above.
            unsafe { sweep::<R, 4, 2>(job, [row, rows], above) };
            row += rows;
        }
        if job.m - row >= 3 {
            // SAFETY: as above; there are no more of them than that.
            unsafe { gemm_few::product::<R>(job, row) };
            row = job.m;
        }
    }
    while job.m > row {
        // SAFETY: as above.
        unsafe { sweep::<R, 1, 1>(job, [row, 1], above) };
        row += 1;
    }
}

/// Some rows of the product: multiples of rows of the right operand are added to sums that stay in L1, `M` rows of them at a time.
///
/// # Safety
/// As [`walk_through`](crate::gemm_walk); the rows, a multiple of `M` from `row` on, must be the job's.
#[inline(always)]
unsafe fn sweep<R: Register, const M: usize, const V: usize>(
    job: &Job<R::Item>,
    [row, rows]: [usize; 2],
    above: bool,
) {
    let mut sums = MaybeUninit::<[R::Item; SUMS]>::uninit();
    let sums = sums.as_mut_ptr().cast::<R::Item>();
    let width = SUMS / rows;
    for first in (0..job.n).step_by(width) {
        let len = (job.n - first).min(width);
        // SAFETY: so many rows of sums are `width` apart in their array.
        unsafe { clear_rows(sums, rows, width, len) };
        let mut step = 0;
        while M > 1 && job.k > step {
            let is_close =
                job.b_row.unsigned_abs() * size_of::<R::Item>() * DEEP <= stream::PAGE * 4;
            let deep = if rows > M && !is_close { NEAR } else { DEEP };
            let steps = step..job.k.min(step + deep);
            step = steps.end;
            // SAFETY: rows, steps and columns are the job's.
            unsafe { add_panels::<R, M, V>(job, ([row, rows], above), steps, first, len, sums) };
        }
        while job.k - step >= STEPS {
            // SAFETY: as above.
            unsafe { add_row::<R, STEPS>(job, row, step, first, len, sums) };
            step += STEPS;
        }
        while job.k > step {
            // SAFETY: as above.
            unsafe { add_row::<R, 1>(job, row, step, first, len, sums) };
            step += 1;
        }
        // SAFETY: these rows of sums are the job's, and so are the columns.
        unsafe { put_rows::<R>(job, [row, rows], first, len, sums, width) };
    }
}

/// Makes `len` sums of each of some rows zero.
///
/// # Safety
/// `sums` begins so many rows, `width` apart, of at least `len` floats.
#[inline(always)]
pub(crate) unsafe fn clear_rows<C>(sums: *mut C, rows: usize, width: usize, len: usize) {
    for i in 0..rows {
        // SAFETY: the caller vouches for the row; a zero of a float is made of zeros.
        unsafe { sums.wrapping_add(i * width).write_bytes(0, len) };
    }
}

/// Blends rows of sums, `width` apart, into `len` columns of the destination.
///
/// # Safety
/// As [`sweep`]; the rows and the columns `first..first + len` must be the job's, and `sums` begins so many of them.
#[inline(always)]
pub(crate) unsafe fn put_rows<R: Register>(
    job: &Job<R::Item>,
    [row, rows]: [usize; 2],
    first: usize,
    len: usize,
    sums: *mut R::Item,
    width: usize,
) {
    for i in 0..rows {
        for at in (0..len).step_by(R::LANES) {
            let lanes = (len - at).min(R::LANES);
            // SAFETY: the caller vouches for the instruction set, here and below.
            let mask = unsafe { R::mask(lanes) };
            // SAFETY: the sums of row `i` begin at `i * width` and are `len` long.
            let sum = unsafe { R::load(sums.wrapping_add(i * width + at), mask) };
            let column = (first + at) as isize * job.out_column;
            let start = (row + i) as isize * job.out_row + column;
            let to = job.out.wrapping_offset(start);
            // SAFETY: row and columns are the job's.
            unsafe { finish(job, job.blend, sum, to, mask, lanes) };
        }
    }
}

/// Adds multiples of some rows of the right operand to the sums of `M` rows after one another, of `V` registers of columns each,
/// which meanwhile are in registers, until those of all rows have taken them.
///
/// # Safety
/// As [`sweep`], of so many rows; the steps and the columns `first..first + len` must be the job's; `sums` begins rows of `len`
/// sums, each its share of `SUMS` after the last.
#[inline(always)]
unsafe fn add_panels<R: Register, const M: usize, const V: usize>(
    job: &Job<R::Item>,
    ([row, rows], above): ([usize; 2], bool),
    steps: Range<usize>,
    first: usize,
    len: usize,
    sums: *mut R::Item,
) {
    let width = SUMS / rows;
    for at in (0..len).step_by(V * R::LANES) {
        let lanes = |v: usize| (len - at).saturating_sub(v * R::LANES).min(R::LANES);
        // SAFETY: the caller vouches for the instruction set, here and below.
        let mut masks = [unsafe { R::mask(R::LANES) }; V];
        for v in 0..V {
            // SAFETY: as above.
            masks[v] = unsafe { R::mask(lanes(v)) };
        }
        for part in (0..rows).step_by(M) {
            if above && first + at + V * R::LANES <= row + part {
                break;
            }
            let a = job.a.wrapping_offset((row + part) as isize * job.a_row);
            let sums = sums.wrapping_add(part * width + at);
            let place = |i: usize, v: usize| sums.wrapping_add(i * width + v * R::LANES);
            // SAFETY: as above.
            let mut panel = [[unsafe { R::splat(R::Item::ZERO) }; V]; M];
            for i in 0..M {
                for v in 0..V {
                    // SAFETY: the sums of each row are at least `len` long.
                    panel[i][v] = unsafe { R::load(place(i, v), masks[v]) };
                }
            }
            for step in steps.clone() {
                let line = job.b.wrapping_offset(step as isize * job.b_row);
                let line = line.wrapping_add(first + at);
                let mut values = [panel[0][0]; V];
                for v in 0..V {
                    // SAFETY: the lanes of the mask are columns of the job.
                    values[v] = unsafe { R::load(line.wrapping_add(v * R::LANES), masks[v]) };
                    if part == 0 {
                        let ahead = line.wrapping_offset(AHEAD * job.b_row);
                        stream::prefetch(ahead.wrapping_add(v * R::LANES).cast());
                    }
                }
                let a = a.wrapping_offset(step as isize * job.a_column);
                for i in 0..M {
                    // SAFETY: row and step are the job's.
                    let factor = unsafe { *a.wrapping_offset(i as isize * job.a_row) };
                    // SAFETY: as above.
                    let factor = unsafe { R::splat(factor) };
                    for v in 0..V {
                        // SAFETY: as above.
                        panel[i][v] = unsafe { factor.mul_add(values[v], panel[i][v]) };
                    }
                }
            }
            for i in 0..M {
                for v in 0..V {
                    // SAFETY: as for the load.
                    unsafe { panel[i][v].store(place(i, v), masks[v]) };
                }
            }
        }
    }
}

/// Adds multiples of `P` rows of the right operand to the sums of one row.
///
/// # Safety
/// As [`sweep`]; the steps `step..step + P` and the columns `first..first + len` must be the job's; `sums` begins `len` sums.
#[inline(always)]
unsafe fn add_row<R: Register, const P: usize>(
    job: &Job<R::Item>,
    row: usize,
    step: usize,
    first: usize,
    len: usize,
    sums: *mut R::Item,
) {
    let a = job.a.wrapping_offset(row as isize * job.a_row);
    let b = job.b.wrapping_add(first);
    // In loops: the closures of `array::from_fn` were calls, compiled for no instruction set, in one program and not in another.
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mut factors = [unsafe { R::splat(R::Item::ZERO) }; P];
    let mut lines = [b; P];
    for p in 0..P {
        let step = (step + p) as isize;
        // SAFETY: row and step are the job's.
        let value = unsafe { *a.wrapping_offset(step * job.a_column) };
        // SAFETY: as above.
        factors[p] = unsafe { R::splat(value) };
        lines[p] = b.wrapping_offset(step * job.b_row);
    }
    let whole = len / R::LANES * R::LANES;
    for at in (0..whole).step_by(R::LANES) {
        // SAFETY: a register of sums and columns.
        unsafe { add_register(R::LANES, at, factors, lines, sums) };
    }
    if whole < len {
        // SAFETY: so many sums and columns.
        unsafe { add_register(len - whole, whole, factors, lines, sums) };
    }
}

/// Adds multiples of some lines, from an element on, to so many sums of one register.
///
/// # Safety
/// As [`add_row`]; `lines` and `sums` have so many elements there.
#[inline(always)]
unsafe fn add_register<R: Register, const P: usize>(
    lanes: usize,
    at: usize,
    factors: [R; P],
    lines: [*const R::Item; P],
    sums: *mut R::Item,
) {
    let sums = sums.wrapping_add(at);
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mask = unsafe { R::mask(lanes) };
    // SAFETY: the caller vouches for the sums.
    let sum = unsafe { R::load(sums, mask) };
    // SAFETY: as above.
    let mut halves = [sum, unsafe { R::splat(R::Item::ZERO) }];
    for p in 0..P {
        // SAFETY: the lanes of the mask are columns of the job.
        let value = unsafe { R::load(lines[p].wrapping_add(at), mask) };
        // Two sums, so that one is not waited for while there are few columns.
        let half = &mut halves[usize::from(2 * p >= P && P > 1)];
        // SAFETY: as above.
        *half = unsafe { factors[p].mul_add(value, *half) };
    }
    let [mut sum, more] = halves;
    if P > 1 {
        // SAFETY: as above.
        let one = unsafe { R::splat(R::Item::ONE) };
        // SAFETY: as above.
        sum = unsafe { one.mul_add(more, sum) };
    }
    // SAFETY: as for the load.
    unsafe { sum.store(sums, mask) };
}
