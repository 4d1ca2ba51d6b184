//! Which kernel multiplies two matrices of floats: by size, layout and number of threads.

use crate::blas::{self, Backend, BlasFloat};
use crate::gemm_beside;
use crate::gemm_copied;
use crate::gemm_deep;
use crate::gemm_small::{self, Blend};
use crate::gemm_tile::{self, Ahead, COLUMNS, COPIED, TileFloat, Walk};
use crate::isa::Isa;
use crate::matrix::{Matrix, MatrixMut};
use crate::numeric::Compute;
use crate::stream::LINE;
use crate::threads;

/// Multiply-adds up to which tiles that are not packed are fastest.
const SMALL: usize = 48 * 48 * 48;

/// The same for a call of its own and in batches ([`multiply_before`]), where rows of the right matrix lie near.
const MIDDLING: usize = 96 * 96 * 96;

/// Elements over which the rows of the right matrix may then reach: far apart they drive one another out of L1.
const NEAR: usize = 1 << 15;

/// Bytes of a row of the right matrix that all rows of the left one meet in one go of tiles, in three registers: packing rows would
/// cost more than multiplying them. On a Xeon (model 106) 4096 by 32 by 32 `f32` took 115 us packed, and takes 79.
const ROW: usize = 3 * LINE;

/// Rows of a result, or its columns, that are no longer few.
const NARROW: usize = 24;

/// Whether a call's product of so many multiply-adds is best done in tiles, where there are any, with `k` rows of the right matrix `b_row` apart.
#[inline]
pub(crate) fn is_small(work: usize, k: usize, b_row: isize) -> bool {
    work <= SMALL || work <= MIDDLING && is_near(k, b_row)
}

#[inline]
fn is_near(k: usize, b_row: isize) -> bool {
    k.saturating_mul(b_row.unsigned_abs()) <= NEAR
}

/// Whether rows of the right matrix, `b_row` apart, fit the registers of one go of tiles, and are read but once or stay in L1.
#[inline]
fn is_narrow(isa: Isa, [m, k, n]: [usize; 3], b_row: isize, size: usize) -> bool {
    let once = m <= THIN && b_row.unsigned_abs() <= ROW / size;
    is_one_go(isa, n, size) && (once || is_near(k, b_row))
}

/// Whether `n` columns of elements of `size` bytes fit the registers of one go of tiles.
pub(crate) fn is_one_go(isa: Isa, n: usize, size: usize) -> bool {
    isa == Isa::Avx512 && n <= ROW / size
}

/// Rows up to which a product is bound by reading the other matrix.
pub(crate) const THIN: usize = 8;

/// Elements of the other matrix up to which such a product is done in tiles.
const TILED: usize = 2048;

/// Multiply-adds for each element of the matrices up to which reading these takes longer.
const READ_LONGER: usize = 3;

/// The threads that one product may have.
pub(crate) fn threads_for<C>(rows: usize, columns: usize, depth: usize) -> usize {
    let work = (rows * columns).saturating_mul(depth);
    let elements = (rows + columns).saturating_mul(depth);
    let worth = if work / READ_LONGER < elements {
        threads::are_worth(elements.saturating_mul(size_of::<C>()), false)
    } else {
        are_worth_threads::<C>(work)
    };
    if worth { threads::threads() } else { 1 }
}

/// Whether threads pay for so many multiply-adds: three million of `f32`, or half as many of `f64`, take 50 us on one thread. Those of
/// narrower integers are no faster than of `f32`.
pub(crate) fn are_worth_threads<C>(work: usize) -> bool {
    threads::are_worth(work.saturating_mul(size_of::<C>().max(4)) / 6, true)
}

/// Whether a product, whose rows are `a_row` apart on the left and `b_row` on the right, is best multiplied in one sweep, row after
/// row: the result has few rows, or few columns and a left matrix that lies column by column.
#[inline(always)]
pub(crate) fn is_swept<C>(isa: Isa, [m, k, n]: [usize; 3], a_row: isize, b_row: isize) -> bool {
    let most = k * m.max(n);
    most > TILED && is_large_swept(isa, [m, k, n], [a_row, b_row], size_of::<C>())
}

/// The same of one with an operand of more than [`TILED`] elements of `size` bytes.
#[inline(never)]
fn is_large_swept(isa: Isa, [m, k, n]: [usize; 3], steps: [isize; 2], size: usize) -> bool {
    let [a_row, b_row] = steps;
    let down = m <= THIN && k * n > TILED && !is_narrow(isa, [m, k, n], b_row, size);
    // The turned result is put in place element by element.
    let is_long = k > 4 * n && n * size <= LINE / 2;
    let across = n <= THIN && a_row == 1 && m > NARROW && m * k > TILED;
    down || across && (is_long || m * k > NEAR)
}

/// Whether the result is so small beside the operands that its sums stay in L1 while these are read once, as they lie.
fn is_deep([m, k, n]: [usize; 3]) -> bool {
    (THIN + 1..=4 * THIN).contains(&m) && m * n <= TILED && k > 8 * n.max(m)
}

/// One product of floats, by the kernel that suits its size and layout.
pub(crate) fn multiply<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    mut out: MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 || blend.alpha == C::ZERO {
        gemm_small::scale(&mut out, blend.beta);
        return;
    }
    let pieces = gemm_deep::pieces::<C>(Isa::detect(), [m, k, n]);
    if pieces > 1 && gemm_deep::product(a, b, &mut out, blend, (pieces, threads)) {
        return;
    }
    multiply_whole(a, b, out, blend, threads);
}

/// [`multiply`] where no axis is empty, in one piece.
pub(crate) fn multiply_whole<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    mut out: MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) {
    if unpacked(a, b, &mut out, blend, threads)
        || gemm_copied::small(a, b, &mut out, blend, threads)
        || unpacked_turned(a, b, &mut out, blend, threads)
    {
        return;
    }
    if packed(a, b, &mut out, blend, threads) {
        return;
    }
    if gemm_copied::turned(a, b, &mut out, blend, threads) {
        return;
    }
    blas::product(a, b, &mut out, blend, threads);
}

/// One of the products of a batch: where it is done in tiles, the operands of the `next` one are asked for meanwhile. What comes
/// from memory is else read better by packing: on an EPYC 1,024 products of 64 by 64 `f64` took 17.7 ms packed, 18.8 ms in tiles, and
/// take 12.3 ms in tiles that ask.
pub(crate) fn multiply_before<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    mut out: MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
    next: Option<[Matrix<'_, C>; 2]>,
) {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    let work = m * n * k;
    let is_thick = m > 2 * THIN && n > NARROW;
    if is_thick && work > 0 && is_small(work, k, b.shape().row_step) && blend.alpha != C::ZERO {
        let ahead = next.map_or(Ahead::NOTHING, Ahead::of);
        if gemm_tile::product(a, b, &mut out, blend, Walk::Tiles, 1, ahead) {
            return;
        }
    }
    multiply(a, b, out, blend, threads);
}

/// A product that needs no packing; false, having done nothing, where packing is better or no walk has these layouts.
pub(crate) fn unpacked<C: TileFloat + Compute>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> bool {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    let run =
        |out: &mut _, walk| gemm_tile::product(a, b, out, blend, walk, threads, Ahead::NOTHING);
    let isa = Isa::detect();
    let (a_row, b_row) = (a.shape().row_step, b.shape().row_step);
    if n == 1 {
        if k == 1 && m > 1 {
            // One row times a number, turned.
            return false;
        }
        // Columns of the left matrix in order of memory are rows of the transposed product; of its rows in line, a column that is
        // not can be copied.
        let has_better = a_row == 1 || a.shape().column_step == 1 && m >= gemm_copied::SEVERAL;
        return run(out, Walk::Dots) || (m == 1 || !has_better) && run(out, Walk::Tiles);
    }
    if k * n > TILED && gemm_beside::product(a, b, out, blend) {
        return true;
    }
    let (a_column, sizes) = (a.shape().column_step, [m, k, n]);
    if is_columns(sizes, a_column, b_row) && run(out, Walk::Dots) {
        return true;
    }
    if is_swept::<C>(isa, [m, k, n], a_row, b_row) {
        return m <= THIN && run(out, Walk::Sweep);
    }
    if isa == Isa::Avx2 && is_deep([m, k, n]) {
        let is_square = is_square_of_one(a, b) && blend.beta == C::ZERO;
        if is_square && run(out, Walk::SweepAbove) {
            gemm_tile::mirror(out);
            return true;
        }
        if run(out, Walk::Sweep) {
            return true;
        }
    }
    let has_wide = isa == Isa::Avx512;
    if m * n * k <= SMALL || is_narrow(isa, [m, k, n], b_row, size_of::<C>()) {
        return run(out, Walk::Tiles);
    }
    has_wide && m <= 2 * THIN && run(out, Walk::Sweep)
}

/// Whether a product with a few columns is best done as dot products of contiguous rows: not where these are so few or short that
/// other kernels are as fast. The left matrix has more elements than those of [`PackedProduct`](crate::PackedProduct) and of
/// batches of small products, which need not ask.
#[inline]
pub(crate) fn is_columns([m, k, n]: [usize; 3], a_column: isize, b_row: isize) -> bool {
    let is_worth = (k >= 64 && m >= 16 || k > NEAR) && m * k > TILED;
    let lies = a_column == 1 && (b_row == 1 || k <= COPIED);
    (2..=COLUMNS).contains(&n) && is_worth && lies
}

/// Steps from which on a product in tiles is worth putting it in place element by element.
const DEEP: usize = 8;

/// The transposed product, `out' = b' a'`, where it needs no packing; else false, having done nothing.
fn unpacked_turned<C: TileFloat + Compute>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> bool {
    let shape = out.shape().transposed();
    let lies = shape.column_step == 1 || shape.rows == 1 || shape.columns == 1;
    let mut out = MatrixMut::new(out.data(), shape);
    (lies || a.shape().columns >= DEEP)
        && unpacked(b.transposed(), a.transposed(), &mut out, blend, threads)
}

/// Whether `b` is `a` transposed, the same elements in the same memory.
fn is_square_of_one<C: Copy>(a: Matrix<'_, C>, b: Matrix<'_, C>) -> bool {
    std::ptr::eq(a.data(), b.data()) && a.shape() == b.shape().transposed()
}

/// Rows of the left matrix up to which copying a large right one takes a good part of the time, its least size in both directions, and
/// how many of its bytes all rows must meet together.
const FLAT: usize = 64;
const FLAT_SIZE: usize = 512;
const FLAT_BYTES: usize = 128 << 20;

/// Rows and columns of a result from which on packed panels are faster than the `gemm` crate in any layout, with AVX-512, if there are
/// as many steps: on a Xeon (model 106) 1024 by 1024 by 1024 `f64` take the crate 36.0 ms, panels 30.0.
const LARGE: usize = 480;

/// Rows of the left matrix up to which panels of a transposed right one are faster than the `gemm` crate, with AVX2.
const TURNED: usize = 512;

/// Steps up to which writing the result takes longer than the arithmetic, so that nothing is won by computing half of it, which is then
/// read again to be mirrored. On a Xeon (model 106) a matrix of 1000 by 3 `f64` times its own transpose took 1.18 ms and takes 0.33.
const SHALLOW: usize = 32;

/// Whether few rows meet a large matrix, with AVX2: on an EPYC 32 by 2048 by 8192 `f32` take the `gemm` crate 30 ms, packed panels 16.
fn is_flat<C: Copy>(a: Matrix<'_, C>, b: Matrix<'_, C>) -> bool {
    let (m, k, n) = (a.shape().rows, a.shape().columns, b.shape().columns);
    let met = (m * n).saturating_mul(k).saturating_mul(size_of::<C>());
    Isa::detect() == Isa::Avx2 && m <= FLAT && k.min(n) >= FLAT_SIZE && met >= FLAT_BYTES
}

/// A product of packed panels; false, having done nothing, where the backend is to do it: from the diagonal on, where rows of either
/// matrix are not contiguous, and where few rows meet a large matrix, both of which the `gemm` crate reads worse.
fn packed<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> bool {
    let (m, k, n) = (a.shape().rows, a.shape().columns, b.shape().columns);
    let is_shallow = k <= SHALLOW;
    let is_square = is_square_of_one(a, b) && blend.beta == C::ZERO && !is_shallow;
    let work = m * k * n;
    let suits = || {
        let [left, right] = [a.shape(), b.shape()].map(|x| x.column_step != 1);
        let apart = match Isa::detect() {
            // What it writes is in its way where there is little to add up.
            Isa::Avx512 => {
                let is_large = m.min(n) >= LARGE && work > LARGE * LARGE * LARGE;
                (left || right || is_shallow || is_large) && work > MIDDLING
            }
            // The left one it reads as well, and many rows make the right one worth its while.
            _ => right && m <= TURNED && work > SMALL,
        };
        let is_ours = gemm_tile::is_walked() && Backend::current() == Backend::Gemm;
        is_ours && (apart || is_flat(a, b))
    };
    if !is_square && !suits() {
        return false;
    }
    let shape = out.shape();
    if shape.column_step != 1 && shape.row_step == 1 {
        // Rows of the transposed product are contiguous.
        let mut turned = MatrixMut::new(out.data(), shape.transposed());
        return packed(b.transposed(), a.transposed(), &mut turned, blend, threads);
    }
    if !is_square {
        return gemm_tile::product(a, b, out, blend, Walk::Packed, threads, Ahead::NOTHING);
    }
    let walk = Walk::Square { first: 0 };
    let done = gemm_tile::product(a, b, out, blend, walk, threads, Ahead::NOTHING);
    if done {
        gemm_tile::mirror(out);
    }
    done
}
