//! Products with two to four columns: every row of the left matrix is read once and meets all of them.
#![expect(unsafe_code, reason = "operands are raw pointers, loaded under masks")]
#![expect(
    clippy::needless_range_loop,
    reason = "the compiler keeps arrays in registers where loops index them"
)]

use crate::gemm_register::Horizontal;
use crate::gemm_store::finish;
use crate::gemm_tile::{COPIED, Job};
use crate::numeric::Compute;
use crate::vector::MOST_LANES;

/// The dot products of all rows of the left operand with every column. How a sum is added up depends neither on its row nor on
/// the other columns.
///
/// # Safety
/// As [`Job`], on a machine with the instruction set of `R`; elements of a row lie one after the other, and so do those of a
/// column, or it has at most [`COPIED`]. The columns are two to [`COLUMNS`](crate::gemm_tile::COLUMNS).
#[inline(always)]
pub(crate) unsafe fn product<R: Horizontal>(job: &Job<R::Item>) {
    match job.n {
        // SAFETY: the caller vouches for all of it, here and below.
        2 => unsafe { columns::<R, 2, 4>(job) },
        // SAFETY: as above.
        3 => unsafe { columns::<R, 3, 4>(job) },
        // Sixteen sums are all the registers that AVX2 has.
        // SAFETY: as above.
        _ if R::ROWS < 8 => unsafe { columns::<R, 4, 2>(job) },
        // SAFETY: as above.
        _ => unsafe { columns::<R, 4, 4>(job) },
    }
}

/// [`product`] with `N` columns, `M` rows at a time.
///
/// # Safety
/// As [`product`].
#[inline(always)]
unsafe fn columns<R: Horizontal, const N: usize, const M: usize>(job: &Job<R::Item>) {
    let mut room = [[R::Item::ZERO; COPIED]; N];
    let mut lines = [job.b; N];
    for j in 0..N {
        lines[j] = job.b.wrapping_offset(j as isize * job.b_column);
    }
    if job.b_row != 1 {
        for (line, room) in lines.iter_mut().zip(&mut room) {
            for step in 0..job.k {
                // SAFETY: column and step are the job's.
                room[step] = unsafe { *line.wrapping_offset(step as isize * job.b_row) };
            }
            *line = room.as_ptr();
        }
    }
    let down = Job {
        out_column: job.out_row,
        ..*job
    };
    // SAFETY: the caller vouches for the instruction set, here and below.
    let zero = unsafe { R::splat(R::Item::ZERO) };
    let mut groups = [[zero; MOST_LANES]; N];
    for row in (0..job.m).step_by(R::LANES) {
        let count = (job.m - row).min(R::LANES);
        let together = count / M * M;
        for i in (0..together).step_by(M) {
            // SAFETY: the rows are the job's, here and below; the lines have its steps.
            let lanes = unsafe { rows::<R, N, M>(job, row + i, lines) };
            for j in 0..N {
                groups[j][i..i + M].copy_from_slice(&lanes[j]);
            }
        }
        for i in together..count {
            // SAFETY: as above.
            let lanes = unsafe { rows::<R, N, 1>(job, row + i, lines) };
            for j in 0..N {
                [groups[j][i]] = lanes[j];
            }
        }
        // SAFETY: as above.
        let mask = unsafe { R::mask(count) };
        for j in 0..N {
            // SAFETY: as above.
            let sums = unsafe { R::across(&groups[j]) };
            let corner = row as isize * job.out_row + j as isize * job.out_column;
            let to = job.out.wrapping_offset(corner);
            // SAFETY: the rows and the column are the job's.
            unsafe { finish(&down, job.blend, sums, to, mask, count) };
        }
    }
}

/// `M` rows times each of `N` columns, down to a register each.
///
/// # Safety
/// As [`product`]; the rows `row..row + M` must be the job's, and each line must have as many elements as it has steps.
#[inline(always)]
unsafe fn rows<R: Horizontal, const N: usize, const M: usize>(
    job: &Job<R::Item>,
    row: usize,
    lines: [*const R::Item; N],
) -> [[R; M]; N] {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; M]; N];
    let mut of_rows = [job.a; M];
    for i in 0..M {
        of_rows[i] = job.a.wrapping_offset((row + i) as isize * job.a_row);
    }
    for at in (0..job.k).step_by(R::LANES) {
        // SAFETY: as above.
        let mask = unsafe { R::mask((job.k - at).min(R::LANES)) };
        let mut values = [sums[0][0]; M];
        for i in 0..M {
            // SAFETY: the lanes of the mask are steps of the job, here and below.
            values[i] = unsafe { R::load(of_rows[i].wrapping_add(at), mask) };
        }
        for j in 0..N {
            // SAFETY: as above.
            let factors = unsafe { R::load(lines[j].wrapping_add(at), mask) };
            for i in 0..M {
                // SAFETY: as above.
                sums[j][i] = unsafe { values[i].mul_add(factors, sums[j][i]) };
            }
        }
    }
    sums
}
