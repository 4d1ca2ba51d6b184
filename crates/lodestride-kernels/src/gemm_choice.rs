//! Which kernel multiplies two matrices of floats: by size, layout and number of threads.

use lodestride_buffer::Buffer;

use crate::blas::{self, Backend, BlasFloat};
use crate::gemm_small::{self, Blend};
use crate::gemm_tile::{self, Ahead, TileFloat, Walk};
use crate::isa::Isa;
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::threads;

/// Multiply-adds up to which tiles that are not packed are fastest.
const SMALL: usize = 48 * 48 * 48;

/// The same with the registers of AVX-512, for a call of its own and in batches ([`multiply_before`]).
const MIDDLING: usize = 96 * 96 * 96;

/// Elements over which the rows of the right matrix may then reach: far apart they drive one another out of L1.
const NEAR: usize = 1 << 15;

/// Columns that all rows of the left matrix share in one go of tiles: packing rows would cost more than multiplying them.
const NARROW: usize = 24;

/// Whether a call's product of so many multiply-adds is best done in tiles, with `k` rows of the right matrix `b_row` apart.
#[inline]
pub(crate) fn is_small(isa: Isa, work: usize, k: usize, b_row: isize) -> bool {
    work <= SMALL || work <= MIDDLING && isa == Isa::Avx512 && is_near(k, b_row)
}

#[inline]
fn is_near(k: usize, b_row: isize) -> bool {
    k.saturating_mul(b_row.unsigned_abs()) <= NEAR
}

/// Rows up to which a product is bound by reading the other matrix.
pub(crate) const THIN: usize = 8;

/// Elements of the other matrix up to which such a product is done in tiles.
pub(crate) const TILED: usize = 2048;

/// The threads that one product may have.
pub(crate) fn threads_for<C>(rows: usize, columns: usize, depth: usize) -> usize {
    let worth = if rows.min(columns) <= THIN {
        // Reading the matrices takes longer than the arithmetic.
        let elements = (rows + columns).saturating_mul(depth);
        threads::are_worth(elements.saturating_mul(size_of::<C>()), false)
    } else {
        are_worth_threads::<C>(rows * columns * depth)
    };
    if worth { threads::threads() } else { 1 }
}

/// Whether threads pay for so many multiply-adds: three million of `f32`, or half as many of `f64`, take 50 us on one thread.
pub(crate) fn are_worth_threads<C>(work: usize) -> bool {
    threads::are_worth(work.saturating_mul(size_of::<C>()) / 6, true)
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
    if unpacked(a, b, &mut out, blend, threads) {
        return;
    }
    // The transposed product: `out' = b' a'`.
    let out_shape = out.shape();
    let mut turned = MatrixMut::new(out.data(), out_shape.transposed());
    if unpacked(b.transposed(), a.transposed(), &mut turned, blend, threads) {
        return;
    }
    if packed(a, b, &mut out, blend, threads) {
        return;
    }
    let unfavourable = b.shape().column_step != 1 && a.shape().column_step == 1;
    let is_large = k * n >= LARGE && (m < TALL || m * n * k >= TALL * LARGE);
    if unfavourable && is_large && turned_product(a, b, &mut out, blend, threads).is_some() {
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
    if is_thick
        && work > 0
        && is_small(Isa::detect(), work, k, b.shape().row_step)
        && blend.alpha != C::ZERO
    {
        let ahead = next.map_or(Ahead::NOTHING, Ahead::of);
        if gemm_tile::product(a, b, &mut out, blend, Walk::Tiles, 1, ahead) {
            return;
        }
    }
    multiply(a, b, out, blend, threads);
}

/// Elements of the right matrix from which on copying it to contiguous rows is cheaper than how the packing library reads
/// it, which for few rows on the left takes ten times as long as the product.
const LARGE: usize = 1 << 16;

/// From so many rows of the left matrix on, so many times the work must be worth the copy.
const TALL: usize = 64;

/// Elements of the right matrix that are copied at a time.
const TURNED: usize = 1 << 20;

/// A product whose right matrix is copied to contiguous rows first; none, with nothing done, without memory for it.
fn turned_product<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> Option<()> {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    let width = (TURNED / k).max(256).min(n);
    let buffer = Buffer::detached_recycled(width * k * size_of::<C>()).ok()?;
    let mut room = buffer.write().ok()?;
    let room = room.slice_mut::<C>();
    for first in (0..n).step_by(width) {
        let width = width.min(n - first);
        gemm_tile::to_rows(b.part(0, k, first, width), room, threads);
        let right = Matrix::new(room, MatrixShape::contiguous(k, width));
        multiply(a, right, out.part(0, m, first, width), blend, threads);
    }
    Some(())
}

/// A product that needs no packing; false, having done nothing, where packing is better or no walk has these layouts.
fn unpacked<C: TileFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> bool {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    let run =
        |out: &mut _, walk| gemm_tile::product(a, b, out, blend, walk, threads, Ahead::NOTHING);
    if n == 1 && run(out, Walk::Dots) {
        return true;
    }
    if m <= THIN && k * n > TILED {
        return run(out, Walk::Sweep);
    }
    let has_wide = Isa::detect() == Isa::Avx512;
    // Columns of the left matrix in order of memory are swept as rows of the transposed product.
    let is_swept_turned = n <= THIN && a.shape().row_step == 1 && m * k > TILED;
    let is_narrow = has_wide && n <= NARROW && is_near(k, b.shape().row_step);
    if m * n * k <= SMALL || is_narrow && !is_swept_turned {
        return run(out, Walk::Tiles);
    }
    has_wide && m <= 2 * THIN && run(out, Walk::Sweep)
}

/// Whether `b` is `a` transposed, the same elements in the same memory.
fn is_square_of_one<C: Copy>(a: Matrix<'_, C>, b: Matrix<'_, C>) -> bool {
    std::ptr::eq(a.data(), b.data()) && a.shape() == b.shape().transposed()
}

/// A product of packed panels; false, having done nothing, where the backend is to do it: from the diagonal on with any
/// vectors, and with AVX-512 where rows of either matrix are not contiguous, which the `gemm` crate reads worse.
fn packed<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> bool {
    let is_square = is_square_of_one(a, b) && blend.beta == C::ZERO;
    let work = a.shape().rows * b.shape().rows * b.shape().columns;
    let suits = || {
        let apart = a.shape().column_step != 1 || b.shape().column_step != 1;
        let is_ours = Isa::detect() == Isa::Avx512 && Backend::current() == Backend::Gemm;
        apart && work > MIDDLING && is_ours
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
