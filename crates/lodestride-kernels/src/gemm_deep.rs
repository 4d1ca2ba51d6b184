//! Products along a long axis with a small result, such as a dot product or the gradient of a layer's weights, in pieces of that
//! axis, which threads share.
//!
//! Where it is cut depends on shape, dtype and instruction set, and the pieces' products are added in order: any number of threads
//! gives the same bits.

use crate::blas::BlasFloat;
use crate::gemm_choice::{THIN, is_one_go, multiply_whole};
use crate::gemm_copied::with_room;
use crate::gemm_small::Blend;
use crate::isa::Isa;
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::spread;
use crate::stream::LINE;

/// Most pieces.
const MOST: usize = 16;

/// Elements of the largest result: adding the pieces' products takes no time beside making them.
const RESULT: usize = 1 << 14;

/// Steps along the axis for each row or column of the result, and multiply-adds, of a piece at least.
const DEEP: usize = 16;
const LEAST: usize = 1 << 20;

/// The same where a piece is done in one go of tiles, which read it as it lies once for each few rows: it stays in the first-level
/// cache. On a Xeon (model 106) 32 by 4096 by 32 `f32` took 86 us in pieces of 1,024 steps, and takes 69 in those of 256.
const DEEP_TILES: usize = 8;
const LEAST_TILES: usize = 1 << 18;

/// What reading a step counts for at least where the result has few elements.
const READ: usize = 16;

/// In how many pieces a product of so many rows, steps and columns is made.
pub(crate) fn pieces<C>(isa: Isa, [m, k, n]: [usize; 3]) -> usize {
    if m * n > RESULT {
        return 1;
    }
    let in_tiles = m.min(n) > THIN && is_one_go(isa, n, size_of::<C>());
    let (deep, least) = if in_tiles {
        (DEEP_TILES, LEAST_TILES)
    } else {
        (DEEP, LEAST)
    };
    let work = k.saturating_mul((m * n).max(READ));
    (work / least)
        .min(k / (deep * m.max(n)).max(1))
        .clamp(1, MOST)
}

/// The product in so many pieces; false, having done nothing, without memory for theirs.
pub(crate) fn product<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    (pieces, threads): (usize, usize),
) -> bool {
    let (m, n, k) = (a.shape().rows, b.shape().columns, a.shape().columns);
    // Whole lines, so that registers of a piece do not lie across two where those of the first do not.
    let share = k.div_ceil(pieces).next_multiple_of(LINE / size_of::<C>());
    let size = m * n;
    let one = |piece: usize, room: &mut [C]| {
        let first = piece * share;
        let depth = share.min(k - first);
        let (a, b) = (a.part(0, m, first, depth), b.part(first, depth, 0, n));
        let (alpha, beta) = (C::ONE, C::ZERO);
        let room = MatrixMut::new(room, MatrixShape::contiguous(m, n));
        multiply_whole(a, b, room, Blend { alpha, beta }, 1);
    };
    with_room(k.div_ceil(share) * size, |room| {
        if threads > 1 {
            spread::for_each_chunk(room, size, one);
        } else {
            (room.chunks_mut(size).enumerate()).for_each(|(piece, room)| one(piece, room));
        }
        let (sums, others) = room.split_at_mut(size);
        for other in others.chunks(size) {
            (sums.iter_mut().zip(other)).for_each(|(sum, &more)| *sum = sum.add(more));
        }
        let (to, data) = (out.shape(), out.data());
        for (row, sums) in sums.chunks(n).enumerate() {
            for (column, &sum) in sums.iter().enumerate() {
                blend.apply(&mut data[to.at(row, column)], sum);
            }
        }
    })
    .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm_choice::multiply;
    use crate::threads;

    #[test]
    fn only_long_axes_with_small_results_are_cut() {
        for (shape, expected) in [
            ([1, 1 << 16, 1], 1),
            ([1, 1 << 17, 1], 2),
            ([1, 1 << 30, 1], 16),
            ([32, 4096, 32], 4),
            ([48, 154_440, 16], 16),
            ([512, 2048, 512], 1),
            ([128, 2048, 128], 1),
            ([1000, 1000, 1], 1),
            ([0, 1000, 0], 1),
        ] {
            for isa in [Isa::Avx2, Isa::Avx512] {
                assert_eq!(pieces::<f64>(isa, shape), expected, "{shape:?}");
            }
        }
        assert_eq!(pieces::<f32>(Isa::Avx2, [32, 4096, 32]), 4);
        assert_eq!(pieces::<f32>(Isa::Avx512, [32, 4096, 32]), 16);
        assert_eq!(pieces::<f32>(Isa::Avx512, [32, 1023, 32]), 3);
    }

    /// Products of integers small enough that every order of addition is exact, beside plain loops.
    #[test]
    fn pieces_add_up_to_the_product() {
        let usual = threads::threads();
        for (m, k, n) in [
            (1, 150_001, 1),
            (3, 200_003, 2),
            (33, 5000, 31),
            (16, 70_000, 5),
        ] {
            assert!(pieces::<f64>(Isa::detect(), [m, k, n]) > 1, "{m} {k} {n}");
            let a: Vec<f64> = (0..m * k).map(|i| (i * 7 % 13) as f64 - 6.0).collect();
            let b: Vec<f64> = (0..k * n).map(|i| (i * 5 % 11) as f64 - 5.0).collect();
            let mut expected = vec![0.0; m * n];
            for (i, expected) in expected.iter_mut().enumerate() {
                let (row, column) = (i / n, i % n);
                let product: f64 = (0..k).map(|s| a[row * k + s] * b[s * n + column]).sum();
                *expected = 2.0 * product + 3.0 * i as f64;
            }
            for threads in [1, usual.max(2)] {
                let mut out: Vec<f64> = (0..m * n).map(|i| i as f64).collect();
                let a = Matrix::new(&a, MatrixShape::contiguous(m, k));
                let b = Matrix::new(&b, MatrixShape::contiguous(k, n));
                let to = MatrixMut::new(&mut out, MatrixShape::contiguous(m, n));
                let (alpha, beta) = (2.0, 3.0);
                multiply(a, b, to, Blend { alpha, beta }, threads);
                assert_eq!(out, expected, "{m} {k} {n} on {threads}");
            }
        }
    }
}
