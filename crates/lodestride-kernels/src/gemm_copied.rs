//! Products of floats for which an operand is copied first: its rows lie far apart, or across the memory.

use lodestride_buffer::{Buffer, Element};

use crate::blas::BlasFloat;
use crate::gemm_choice;
use crate::gemm_small::Blend;
use crate::gemm_tile;
use crate::isa::Isa;
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::strided::load_alike;

/// Elements of the right matrix from which on copying it to contiguous rows is cheaper than how the packing library reads
/// it, which for few rows on the left takes ten times as long as the product.
const LARGE: usize = 1 << 16;

/// From so many rows of the left matrix on, so many times the work must be worth the copy.
const TALL: usize = 64;

/// Steps between the elements of a row up to which rows are copied as runs of whole vectors.
const THIN: isize = 4;

/// Elements of the right matrix that are copied at a time.
const TURNED: usize = 1 << 20;

/// A product whose right matrix is copied to contiguous rows first; false, with nothing done, where that does not pay and
/// without memory for it.
pub(crate) fn turned<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> bool {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    let unfavourable = b.shape().column_step != 1 && a.shape().column_step == 1;
    let is_large = k * n >= LARGE && (m < TALL || m * n * k >= TALL * LARGE);
    if !unfavourable || !is_large {
        return false;
    }
    let width = (TURNED / k).max(256).min(n);
    with_room(width * k, |room| {
        for first in (0..n).step_by(width) {
            let width = width.min(n - first);
            let right = to_rows(b.part(0, k, first, width), room, threads);
            gemm_choice::multiply(a, right, out.part(0, m, first, width), blend, threads);
        }
    })
    .is_some()
}

/// Elements of a right matrix up to which copying it takes next to no time beside so many rows as these.
const LITTLE: usize = 1 << 13;
pub(crate) const SEVERAL: usize = 16;

/// A product whose right matrix is small and copied to contiguous rows first; false, with nothing done, where that does not pay and
/// without memory for it.
pub(crate) fn small<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) -> bool {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    let is_little = k * n <= LITTLE && m >= SEVERAL;
    let step = if n == 1 {
        b.shape().row_step
    } else {
        b.shape().column_step
    };
    if !is_little || step == 1 || out.shape().column_step != 1 {
        return false;
    }
    let (a_row, b_row) = (a.shape().row_step, n.cast_signed());
    if gemm_choice::is_swept::<C>(Isa::detect(), [m, k, n], a_row, b_row) {
        return false;
    }
    with_room(k * n, |room| {
        gemm_choice::unpacked(a, to_rows(b, room, 1), out, blend, threads)
    }) == Some(true)
}

/// A matrix copied to contiguous rows at the start of `room`.
pub(crate) fn to_rows<'r, C: Element + Sync>(
    x: Matrix<'_, C>,
    room: &'r mut [C],
    threads: usize,
) -> Matrix<'r, C> {
    let shape = x.shape();
    if threads == 1 && (2..=THIN).contains(&shape.column_step) {
        let rows = room.chunks_exact_mut(shape.columns.max(1));
        for (row, to) in rows.take(shape.rows).enumerate() {
            let run = (shape.at(row, 0).cast_signed(), shape.column_step);
            load_alike(x.data(), run, to);
        }
    } else {
        gemm_tile::to_rows(x, room, threads);
    }
    Matrix::new(room, MatrixShape::contiguous(shape.rows, shape.columns))
}

/// Runs something with room for so many elements; none, with nothing done, without memory for them.
pub(crate) fn with_room<C: Element, T>(
    elements: usize,
    run: impl FnOnce(&mut [C]) -> T,
) -> Option<T> {
    if elements == 0 {
        return Some(run(&mut []));
    }
    let buffer = Buffer::detached_recycled(elements * size_of::<C>()).ok()?;
    let mut room = buffer.write().ok()?;
    Some(run(room.slice_mut::<C>()))
}
