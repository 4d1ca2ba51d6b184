//! Which kernel multiplies two matrices of floats: by size, layout and number of threads.

use lodestride_buffer::Buffer;

use crate::blas::{self, BlasFloat};
use crate::gemm_small::{self, Blend};
use crate::gemm_tile::{self, TileFloat, Walk};
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::threads;

/// Multiply-adds below which one thin product stays on one thread.
const THIN_THREADED: usize = 1 << 19;

/// Multiply-adds up to which tiles that are not packed are faster than a packing library.
pub(crate) const SMALL: usize = 48 * 48 * 48;

/// Rows up to which a product is bound by reading the other matrix.
pub(crate) const THIN: usize = 8;

/// Elements of the other matrix up to which such a product is done in tiles.
pub(crate) const TILED: usize = 2048;

/// Rows and columns of a symmetric product that is not divided any more.
const SYMMETRIC: usize = 64;

/// The threads that one product of so many multiply-adds may have; asking the pool costs as much as a tiny product.
pub(crate) fn threads_for(work: usize) -> usize {
    if work < THIN_THREADED {
        1
    } else {
        threads::threads()
    }
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
    if is_square_of_one(a, b) && blend.beta == C::ZERO && m > SYMMETRIC {
        symmetric(a, b, &mut out, blend, threads);
        return;
    }
    let unfavourable = b.shape().column_step != 1 && a.shape().column_step == 1;
    let is_large = k * n >= LARGE && (m < TALL || m * n * k >= TALL * LARGE);
    if unfavourable && is_large && turned_product(a, b, &mut out, blend, threads).is_some() {
        return;
    }
    blas::product(a, b, &mut out, blend, threads);
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
    let run = |out: &mut _, walk| gemm_tile::product(a, b, out, blend, walk, threads);
    if n == 1 && run(out, Walk::Dots) {
        return true;
    }
    if m <= THIN && k * n > TILED {
        return run(out, Walk::Sweep);
    }
    m * n * k <= SMALL && run(out, Walk::Tiles)
}

/// Whether `b` is `a` transposed, the same elements in the same memory.
fn is_square_of_one<C: Copy>(a: Matrix<'_, C>, b: Matrix<'_, C>) -> bool {
    std::ptr::eq(a.data(), b.data()) && a.shape() == b.shape().transposed()
}

/// `out = alpha * a a'`: one triangle is multiplied, the other mirrored.
fn symmetric<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) {
    let (n, k) = (a.shape().rows, a.shape().columns);
    if n <= SYMMETRIC {
        return blas::product(a, b, out, blend, threads);
    }
    let half = (n / 2).next_multiple_of(16);
    let (upper, lower) = (a.part(0, half, 0, k), a.part(half, n - half, 0, k));
    let (left, right) = (b.part(0, k, 0, half), b.part(0, k, half, n - half));
    symmetric(upper, left, &mut out.part(0, half, 0, half), blend, threads);
    blas::product(
        upper,
        right,
        &mut out.part(0, half, half, n - half),
        blend,
        threads,
    );
    let shape = out.shape();
    let data = out.data();
    for row in half..n {
        for column in 0..half {
            data[shape.at(row, column)] = data[shape.at(column, row)];
        }
    }
    symmetric(
        lower,
        right,
        &mut out.part(half, n - half, half, n - half),
        blend,
        threads,
    );
}
