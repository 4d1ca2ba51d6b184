//! Products of a matrix and the windows of images, which are read where they are: no copy of windows, larger than the images by the
//! area of one, is ever made.
//!
//! Windows that lie side by side in a row are a strip, as many as a register has lanes: their elements at one step lie side by side too.
//! Three strips go past the panels of the matrix (`gemm_packed.rs`) together; what they read of the images stays in L1 meanwhile, as
//! windows overlap. Sums are those of a packed product with a matrix of all windows, to the bit.
#![expect(
    unsafe_code,
    reason = "operands and panels are raw pointers, loaded under masks"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled away; their indices number rows and lanes"
)]

use crate::gemm_packed::{Panel, Sizes};
use crate::gemm_register::{Register, add_rows};
use crate::gemm_tile::Job;
use crate::gemm_walk::ACROSS;
use crate::matmul_windows::{Part, Windows};
use crate::numeric::Compute;
use crate::transpose::Sheet;

/// Elements of working memory for products of `m` rows and `k` steps, neither of which is zero.
pub(crate) fn room_for<R: Register>(m: usize, k: usize) -> usize {
    Sizes::of::<R>(k).room_of_rows(m)
}

/// The products of the job's left matrix and the strips of some images: the first of all begins where the job's right matrix does.
///
/// # Safety
/// As [`Job`], on a machine with the instruction set of `R`, where the right matrix is every step of every window of the images, and
/// columns of both are one element apart; the room has as many elements as [`room_for`] says.
#[inline(always)]
pub(crate) unsafe fn products<R: Register>(job: &Job<R::Item>, windows: Windows<'_>, part: Part) {
    if R::ROWS == 8 {
        // SAFETY: the caller vouches for all of it.
        unsafe { products_in_rows::<R, 8>(job, windows, part) }
    } else {
        // SAFETY: as above.
        unsafe { products_in_rows::<R, 4>(job, windows, part) }
    }
}

/// # Safety
/// As [`products`].
#[inline(always)]
unsafe fn products_in_rows<R: Register, const M: usize>(
    job: &Job<R::Item>,
    windows: Windows<'_>,
    (images, strips): Part,
) {
    let Sizes { depth, height, .. } = Sizes::of::<R>(job.k);
    for step in (0..job.k).step_by(depth) {
        let steps = &windows.steps[step..job.k.min(step + depth)];
        for top in (0..job.m).step_by(height) {
            let rows = height.min(job.m - top);
            for row in (0..rows).step_by(M) {
                let (down, across) = ((top + row) as isize, step as isize);
                let corner = down * job.a_row + across * job.a_column;
                let sheet = Sheet {
                    x: job.a.wrapping_offset(corner).cast(),
                    out: job.room.wrapping_add(row * steps.len()).cast(),
                    size: size_of::<R::Item>(),
                    rows: M.min(rows - row),
                    columns: steps.len(),
                    x_steps: [job.a_row, job.a_column],
                    out_steps: [1, M as isize],
                    stream: false,
                };
                // SAFETY: rows and steps are the job's; there is room for so many rows. What is multiplied beside them is not stored.
                unsafe { sheet.run() };
            }
            for image in images.clone() {
                for strip in strips.clone().step_by(ACROSS) {
                    let end = strips.end;
                    let together = std::array::from_fn(|v| {
                        // SAFETY: the caller vouches for the instruction set.
                        unsafe { Strip::<R>::of(job, windows, image, strip + v, end) }
                    });
                    let are_whole = together.iter().all(|strip| strip.is_whole);
                    for row in (0..rows).step_by(M) {
                        let panel = Panel {
                            a: job.room.wrapping_add(row * steps.len()),
                            a_step: M,
                            row: top + row,
                            rows: M.min(rows - row),
                        };
                        // Masks take up registers of AVX2.
                        if R::ROWS == 4 && are_whole {
                            // SAFETY: the rows are the job's, packed in the panel; steps and strips are the job's.
                            unsafe { tile::<R, M, true>(job, &panel, together, steps, step > 0) };
                        } else {
                            // SAFETY: as above.
                            unsafe { tile::<R, M, false>(job, &panel, together, steps, step > 0) };
                        }
                    }
                }
            }
        }
    }
}

/// Windows side by side, as many as the mask has lanes.
#[derive(Clone, Copy)]
struct Strip<R: Register> {
    from: *const R::Item,
    to: *mut R::Item,
    mask: R::Mask,
    /// Whether there are as many elements as lanes at every step, whatever those are behind the windows.
    is_whole: bool,
}

impl<R: Register> Strip<R> {
    /// The strip of a number; one that has no windows from `end` on.
    ///
    /// # Safety
    /// The machine has the instruction set of `R`.
    #[inline(always)]
    unsafe fn of(
        job: &Job<R::Item>,
        windows: Windows<'_>,
        image: usize,
        number: usize,
        end: usize,
    ) -> Self {
        let of_row = windows.width.div_ceil(R::LANES);
        let (row, place) = (number / of_row, number % of_row * R::LANES);
        let lanes = if number < end {
            R::LANES.min(windows.width - place)
        } else {
            0
        };
        let [from, to] = windows.apart.map(|apart| image as isize * apart);
        let from = from + row as isize * windows.down + place as isize;
        let to = to + (row * windows.width + place) as isize;
        Self {
            from: job.b.wrapping_offset(from),
            to: job.out.wrapping_offset(to),
            // SAFETY: the caller vouches for the instruction set.
            mask: unsafe { R::mask(lanes) },
            is_whole: lanes > 0 && from + R::LANES as isize <= windows.end,
        }
    }
}

/// Some rows of the matrix times some strips, at some steps: added to what the destination holds of the steps before.
///
/// # Safety
/// The rows must be the job's, packed in the panel, and the strips and steps those of its windows, on a machine with the instruction
/// set of `R`; they must be whole where `WHOLE` says so.
#[inline(always)]
unsafe fn tile<R: Register, const M: usize, const WHOLE: bool>(
    job: &Job<R::Item>,
    panel: &Panel<R::Item>,
    strips: [Strip<R>; ACROSS],
    steps: &[isize],
    adds: bool,
) {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; ACROSS]; M];
    // SAFETY: as above.
    let [full, none] = [R::LANES, 0].map(|lanes| unsafe { R::mask(lanes) });
    let mut a = panel.a;
    for &step in steps {
        let mut line = [sums[0][0]; ACROSS];
        for v in 0..ACROSS {
            let Strip { from, mask, .. } = strips[v];
            let mask = if WHOLE { full } else { mask };
            // SAFETY: the lanes of the mask are windows, which have this step, or the strip is whole.
            line[v] = unsafe { R::load(from.wrapping_offset(step), mask) };
        }
        // SAFETY: the panel has `M` rows at every step.
        unsafe { add_rows(&mut sums, line, a, panel.a_step) };
        a = a.wrapping_add(panel.a_step);
    }
    // SAFETY: as above.
    let one = unsafe { R::splat(R::Item::ONE) };
    for i in 0..M {
        for v in 0..ACROSS {
            if i >= panel.rows {
                break;
            }
            let Strip { to, mask, .. } = strips[v];
            let to = to.wrapping_offset((panel.row + i) as isize * job.out_row);
            // SAFETY: row `i` is the job's, and so are the columns of the masks; one of no lanes gives zeros.
            let old = unsafe { R::load(to, if adds { mask } else { none }) };
            // SAFETY: as above.
            let sum = unsafe { one.mul_add(old, sums[i][v]) };
            // SAFETY: as above.
            unsafe { sum.store(to, mask) };
        }
    }
}
