//! How sums in registers reach the destination of a product of floats.
#![expect(
    unsafe_code,
    reason = "the destination is a raw pointer with steps, stored to under masks"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled away; their indices number rows and lanes"
)]

use crate::gemm_register::Register;
use crate::gemm_small::Blend;
use crate::gemm_tile::Job;
use crate::numeric::Compute;

/// Blends the sums of a tile into the first `rows` of its rows, the last register of which has `lanes` columns.
///
/// # Safety
/// The rows and columns must be the job's, on a machine with the instruction set of `R`; `to` is the destination of the
/// first sum.
#[inline(always)]
pub(crate) unsafe fn finish_tile<R: Register, const M: usize, const V: usize>(
    job: &Job<R::Item>,
    blend: Blend<R::Item>,
    sums: [[R; V]; M],
    to: *mut R::Item,
    rows: usize,
    lanes: usize,
) {
    let count = |v: usize| if v + 1 == V { lanes } else { R::LANES };
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mut masks = [unsafe { R::mask(R::LANES) }; V];
    // SAFETY: as above.
    masks[V - 1] = unsafe { R::mask(lanes) };
    let place = |i: usize, v: usize| {
        let across = (v * R::LANES) as isize * job.out_column;
        to.wrapping_offset(i as isize * job.out_row + across)
    };
    if job.out_column == 1 && blend.alpha == R::Item::ONE && blend.beta == R::Item::ZERO {
        for i in 0..M {
            for v in 0..V {
                if i < rows {
                    // SAFETY: row `i` is the job's, and so are the columns of the mask.
                    unsafe { sums[i][v].store(place(i, v), masks[v]) };
                }
            }
        }
        return;
    }
    // A loop too long to be unrolled would keep the sums in memory from the start; so it has a copy of its own. One loop
    // over rows and registers has the code for one register.
    let sums = std::hint::black_box(sums);
    for at in 0..rows * V {
        let (i, v) = (at / V, at % V);
        // SAFETY: as above.
        unsafe { finish(job, blend, sums[i][v], place(i, v), masks[v], count(v)) };
    }
}

/// Adds the sums of a tile to what the same elements hold of the steps before: most tiles of a deep product end so. Columns of the
/// destination are one element apart.
///
/// # Safety
/// As [`finish_tile`].
#[inline(always)]
pub(crate) unsafe fn add_tile<R: Register, const M: usize, const V: usize>(
    job: &Job<R::Item>,
    sums: [[R; V]; M],
    to: *mut R::Item,
    rows: usize,
    lanes: usize,
) {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let one = unsafe { R::splat(R::Item::ONE) };
    for i in 0..M {
        for v in 0..V {
            if i >= rows {
                break;
            }
            let count = if v + 1 == V { lanes } else { R::LANES };
            // SAFETY: as above.
            let mask = unsafe { R::mask(count) };
            let to = to.wrapping_offset(i as isize * job.out_row + (v * R::LANES) as isize);
            // SAFETY: row `i` is the job's, and so are the columns of the mask.
            let old = unsafe { R::load(to, mask) };
            // SAFETY: as above.
            let sum = unsafe { one.mul_add(old, sums[i][v]) };
            // SAFETY: as above.
            unsafe { sum.store(to, mask) };
        }
    }
}

/// Blends sums into `count` elements of the destination.
///
/// # Safety
/// As [`finish_tile`]; `to` is the destination of the first lane.
#[inline(always)]
pub(crate) unsafe fn finish<R: Register>(
    job: &Job<R::Item>,
    blend: Blend<R::Item>,
    mut sum: R,
    to: *mut R::Item,
    mask: R::Mask,
    count: usize,
) {
    if job.out_column != 1 {
        let mut lanes = [R::Item::ZERO; 16];
        // SAFETY: the caller vouches for the instruction set.
        let full = unsafe { R::mask(R::LANES) };
        // SAFETY: as above; no register has more than 16 lanes.
        unsafe { sum.store(lanes.as_mut_ptr(), full) };
        // SAFETY: the caller vouches for the elements.
        unsafe { scatter(blend, &lanes[..count], to, job.out_column) };
        return;
    }
    if blend.alpha != R::Item::ONE {
        // SAFETY: the caller vouches for the instruction set, here and below.
        let alpha = unsafe { R::splat(blend.alpha) };
        // SAFETY: as above.
        sum = unsafe { sum.mul(alpha) };
    }
    if blend.beta != R::Item::ZERO {
        // SAFETY: as above.
        let beta = unsafe { R::splat(blend.beta) };
        // SAFETY: the lanes of the mask are elements of the destination.
        let old = unsafe { R::load(to, mask) };
        // SAFETY: as above.
        sum = unsafe { beta.mul_add(old, sum) };
    }
    // SAFETY: the lanes of the mask are elements of the destination.
    unsafe { sum.store(to, mask) };
}

/// [`finish`] for a destination whose columns are `step` apart; not worth a copy for every tile and instruction set.
///
/// # Safety
/// The destination must have an element for every sum, which nobody else holds.
#[inline(never)]
unsafe fn scatter<C: Compute>(blend: Blend<C>, sums: &[C], to: *mut C, step: isize) {
    for (column, &sum) in sums.iter().enumerate() {
        // SAFETY: the caller vouches for these elements of the destination.
        let to = unsafe { &mut *to.wrapping_offset(column as isize * step) };
        blend.apply(to, sum);
    }
}
