//! Products with a single column: dot products of the left matrix's rows, whose lanes are joined for as many rows together as a
//! register has lanes.
#![expect(unsafe_code, reason = "operands are raw pointers, loaded under masks")]
#![expect(
    clippy::needless_range_loop,
    reason = "the compiler keeps arrays in registers where loops index them"
)]

use crate::across::{FEW, halved};
use crate::gemm_across::MOST;
use crate::gemm_register::Horizontal;
use crate::gemm_store::finish;
use crate::gemm_tile::Job;
use crate::numeric::Compute;
use crate::stream::{self, LINE};
use crate::vector::MOST_LANES;

/// The dot products of all rows of the left operand with one column.
///
/// # Safety
/// As [`Job`], on a machine with the instruction set of `R`; elements of a row lie one after the other, and so do those of the column.
#[inline(always)]
pub(crate) unsafe fn product<R: Horizontal>(job: &Job<R::Item>) {
    if job.k <= SHORT && job.m >= MANY && !is_wide::<R>() {
        // SAFETY: the caller vouches for all of it.
        unsafe { one_by_one::<R>(job) };
        return;
    }
    let down = Job {
        out_column: job.out_row,
        ..*job
    };
    if R::TAKES_APART && job.a_row == job.k.cast_signed() {
        match job.k {
            // SAFETY: the caller vouches for all of it, here and below.
            2 => return unsafe { packed_rows::<R, 2>(&down) },
            // SAFETY: as above.
            3 => return unsafe { packed_rows::<R, 3>(&down) },
            // SAFETY: as above.
            4 => return unsafe { packed_rows::<R, 4>(&down) },
            _ => {}
        }
    }
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mut group = [unsafe { R::splat(R::Item::ZERO) }; MOST_LANES];
    let is_short = job.k <= R::LANES;
    for row in (0..job.m).step_by(R::LANES) {
        let count = (job.m - row).min(R::LANES);
        match (is_short, count == R::LANES) {
            // SAFETY: these are rows of the job, here and below.
            (true, true) => unsafe { short_rows(job, row, R::LANES, &mut group) },
            // SAFETY: as above.
            (true, false) => unsafe { short_rows(job, row, count, &mut group) },
            // SAFETY: as above.
            (false, _) => unsafe { long_rows(job, row, count, &mut group) },
        }
        if count == 1 {
            // SAFETY: as above.
            let sum = unsafe { joined(group[0]) };
            // SAFETY: as above.
            unsafe { put::<R>(job, row, sum) };
            break;
        }
        // SAFETY: as above.
        let sums = unsafe { R::across(&group) };
        // SAFETY: as above.
        let mask = unsafe { R::mask(count) };
        let to = job.out.wrapping_offset(row as isize * job.out_row);
        // SAFETY: the rows are the job's.
        unsafe { finish(&down, job.blend, sums, to, mask, count) };
    }
}

/// Rows of `K` elements that lie one after the other, as many together as a register has lanes, with the bits of [`short_rows`]. The
/// columns of the job's destination are rows of the result.
///
/// # Safety
/// As [`product`], of `K` steps.
#[inline(always)]
unsafe fn packed_rows<R: Horizontal, const K: usize>(down: &Job<R::Item>) {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let zero = unsafe { R::splat(R::Item::ZERO) };
    // SAFETY: as above.
    let one = unsafe { R::splat(R::Item::ONE) };
    let mut factors = [zero; MOST];
    for t in 0..K {
        // SAFETY: a step of the job.
        let factor = unsafe { *down.b.wrapping_add(t) };
        // SAFETY: as above.
        factors[t] = unsafe { R::splat(factor) };
    }
    for row in (0..down.m).step_by(R::LANES) {
        let count = (down.m - row).min(R::LANES);
        let from = down.a.wrapping_add(row * K);
        let mut products = [zero; MOST];
        for j in 0..K {
            let lanes = (count * K).saturating_sub(j * R::LANES).min(R::LANES);
            // SAFETY: as above.
            let mask = unsafe { R::mask(lanes) };
            // SAFETY: the lanes of the mask are elements of these rows.
            products[j] = unsafe { R::load(from.wrapping_add(j * R::LANES), mask) };
        }
        // SAFETY: as above.
        products = unsafe { R::apart::<K>(products) };
        for t in 0..K {
            // SAFETY: as above.
            products[t] = unsafe { products[t].mul_add(factors[t], zero) };
        }
        let [a, b, c, d] = products;
        let (left, right) = if K > 3 {
            // SAFETY: as above.
            (unsafe { one.mul_add(a, c) }, unsafe { one.mul_add(b, d) })
        } else if K > 2 {
            // SAFETY: as above.
            (unsafe { one.mul_add(a, c) }, b)
        } else {
            (a, b)
        };
        // SAFETY: as above.
        let sums = unsafe { one.mul_add(left, right) };
        let to = down.out.wrapping_offset(row as isize * down.out_row);
        // SAFETY: as above.
        let mask = unsafe { R::mask(count) };
        // SAFETY: the rows are the job's.
        unsafe { finish(down, down.blend, sums, to, mask, count) };
    }
}

/// Rows of no more elements than a register has lanes, times the column, lane by lane.
///
/// # Safety
/// As [`product`]; the rows `row..row + count` must be the job's.
#[inline(always)]
unsafe fn short_rows<R: Horizontal>(
    job: &Job<R::Item>,
    row: usize,
    count: usize,
    group: &mut [R; MOST_LANES],
) {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mask = unsafe { R::mask(job.k) };
    // SAFETY: as above.
    let zero = unsafe { R::splat(R::Item::ZERO) };
    // SAFETY: the lanes of the mask are steps of the job, here and below.
    let x = unsafe { R::load(job.b, mask) };
    for i in 0..count {
        let line = job.a.wrapping_offset((row + i) as isize * job.a_row);
        // SAFETY: as above.
        let values = unsafe { R::load(line, mask) };
        // SAFETY: as above.
        group[i] = unsafe { values.mul_add(x, zero) };
    }
}

/// Rows times the column, added up to a register each.
///
/// # Safety
/// As [`short_rows`].
#[inline(always)]
unsafe fn long_rows<R: Horizontal>(
    job: &Job<R::Item>,
    row: usize,
    count: usize,
    group: &mut [R; MOST_LANES],
) {
    let quads = count / 4 * 4;
    let mut first = 0;
    if is_wide::<R>() {
        let asked = stream::are_eight(job.m * job.k * size_of::<R::Item>());
        while first + 8 <= count {
            let lanes = if asked {
                // SAFETY: the caller vouches for the rows, here and below.
                unsafe { rows::<R, 8, 2, true>(job, row + first) }
            } else {
                // SAFETY: as above.
                unsafe { rows::<R, 8, 2, false>(job, row + first) }
            };
            group[first..first + 8].copy_from_slice(&lanes);
            first += 8;
        }
    }
    for i in (first..quads).step_by(4) {
        // SAFETY: as above.
        let lanes = unsafe { rows::<R, 4, 2, false>(job, row + i) };
        group[i..i + 4].copy_from_slice(&lanes);
    }
    for i in quads..count {
        // SAFETY: as above.
        [group[i]] = unsafe { rows::<R, 1, 8, false>(job, row + i) };
    }
}

/// Elements of a row up to which many rows are multiplied one by one, where registers are narrow.
const SHORT: usize = 8;
/// Rows that are many.
const MANY: usize = 32;

/// The same without vectors, which short rows fill badly: the processor multiplies several rows at a time by itself.
///
/// # Safety
/// As [`product`].
#[inline(always)]
unsafe fn one_by_one<R: Horizontal>(job: &Job<R::Item>) {
    for row in 0..job.m {
        let line = job.a.wrapping_offset(row as isize * job.a_row);
        let mut sum = R::Item::ZERO;
        for step in 0..job.k {
            // SAFETY: row and step are the job's.
            let value = unsafe { *line.wrapping_add(step) };
            // SAFETY: as above.
            let factor = unsafe { *job.b.wrapping_add(step) };
            // SAFETY: the caller vouches for the instruction set.
            sum = unsafe { R::fused(value, factor, sum) };
        }
        // SAFETY: the row is the job's.
        unsafe { put::<R>(job, row, sum) };
    }
}

/// Whether a register is a cache line.
const fn is_wide<R: Horizontal>() -> bool {
    R::LANES * size_of::<R::Item>() == LINE
}

/// The lanes of one row, joined as [`Horizontal::across`] joins them.
///
/// # Safety
/// On a machine with the instruction set of `R`.
#[inline(always)]
unsafe fn joined<R: Horizontal>(lanes: R) -> R::Item {
    let mut all = [R::Item::ZERO; FEW];
    // SAFETY: the caller vouches for the instruction set.
    let full = unsafe { R::mask(R::LANES) };
    // SAFETY: no register has more lanes.
    unsafe { lanes.store(all.as_mut_ptr(), full) };
    let eight: [R::Item; 8] = halved(&all, |left, right| left.add(right));
    let four: [R::Item; 4] = halved(&eight, |left, right| left.add(right));
    let two: [R::Item; 2] = halved(&four, |left, right| left.add(right));
    two[0].add(two[1])
}

/// Puts a dot product to its row of the destination.
///
/// # Safety
/// As [`product`]; the row must be the job's.
#[inline(always)]
unsafe fn put<R: Horizontal>(job: &Job<R::Item>, row: usize, sum: R::Item) {
    let to = job.out.wrapping_offset(row as isize * job.out_row);
    // SAFETY: the row is the job's, and nobody else holds the destination.
    job.blend.apply(unsafe { &mut *to }, sum);
}

/// Dot products of `M` rows, `U` registers of each at a time, down to a register each; with `ASKED`, their lines are
/// [asked for](stream::prefetch_several).
///
/// # Safety
/// As [`product`]; the rows `row..row + M` must be the job's.
#[inline(always)]
unsafe fn rows<R: Horizontal, const M: usize, const U: usize, const ASKED: bool>(
    job: &Job<R::Item>,
    row: usize,
) -> [R; M] {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let full = unsafe { R::mask(R::LANES) };
    // SAFETY: as above.
    let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; U]; M];
    let mut lines = [job.a; M];
    for i in 0..M {
        lines[i] = job.a.wrapping_offset((row + i) as isize * job.a_row);
    }
    let whole = job.k / (U * R::LANES) * (U * R::LANES);
    for at in (0..whole).step_by(U * R::LANES) {
        for u in 0..U {
            let at = at + u * R::LANES;
            // SAFETY: these are steps of the job.
            let x = unsafe { R::load(job.b.wrapping_add(at), full) };
            for (line, sums) in lines.iter().zip(&mut sums) {
                if ASKED {
                    stream::prefetch_several(line.wrapping_add(at).cast());
                }
                // SAFETY: as above.
                let value = unsafe { R::load(line.wrapping_add(at), full) };
                // SAFETY: as above.
                sums[u] = unsafe { value.mul_add(x, sums[u]) };
            }
        }
    }
    for at in (whole..job.k).step_by(R::LANES) {
        // SAFETY: as above.
        let mask = unsafe { R::mask((job.k - at).min(R::LANES)) };
        // SAFETY: as above.
        let x = unsafe { R::load(job.b.wrapping_add(at), mask) };
        for (line, sums) in lines.iter().zip(&mut sums) {
            // SAFETY: as above.
            let value = unsafe { R::load(line.wrapping_add(at), mask) };
            // SAFETY: as above.
            sums[0] = unsafe { value.mul_add(x, sums[0]) };
        }
    }
    // SAFETY: as above.
    let one = unsafe { R::splat(R::Item::ONE) };
    let mut lanes = [one; M];
    for i in 0..M {
        lanes[i] = sums[i][0];
        for u in 1..U {
            // SAFETY: as above.
            lanes[i] = unsafe { one.mul_add(lanes[i], sums[i][u]) };
        }
    }
    lanes
}
