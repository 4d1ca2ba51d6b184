//! Products of float matrices without packing: parts of the result stay in vector registers or L1, the last columns under
//! a mask.
//!
//! A packing library copies both operands before it multiplies; for small and for thin matrices that costs more than it
//! saves.
#![expect(
    unsafe_code,
    reason = "masked loads and stores of vector registers take raw pointers"
)]

use crate::gemm_small::Blend;
use crate::isa::{Isa, Level};
use crate::matrix::{Matrix, MatrixMut};
use crate::stream::LINE;
use crate::threads;
use crate::transpose::Sheet;

/// A float with tile kernels.
pub(crate) trait TileFloat: Copy + Send + Sync {
    /// Runs a job on this machine's vectors.
    ///
    /// # Safety
    /// As [`Job`] says, with the layouts of the walk; the level must have tiles.
    unsafe fn run(level: Level, job: &Job<Self>, walk: Walk);
}

/// In which order a product is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Tile after tile of the result: what lies in the first caches.
    Tiles,
    /// Row after row of the right operand, whose rows are contiguous: few rows on the left.
    Sweep,
    /// Row after row of the left operand, whose rows are contiguous: one contiguous column on the right.
    Dots,
}

/// One product as pointers and steps.
///
/// To run it, `a[i * a_row + p * a_column]`, `b[p * b_row + j]` and `out[i * out_row + j * out_column]` must be valid for
/// every row `i < m`, column `j < n` and `p < k`, `out` for writes, and `out` must overlap neither input.
#[derive(Clone, Copy)]
pub(crate) struct Job<C> {
    pub(crate) a: *const C,
    pub(crate) b: *const C,
    pub(crate) out: *mut C,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a_row: isize,
    pub(crate) a_column: isize,
    pub(crate) b_row: isize,
    pub(crate) out_row: isize,
    pub(crate) out_column: isize,
    pub(crate) blend: Blend<C>,
}

/// `out = alpha * a b + beta * out` on up to `threads` threads; false, having done nothing, unless the machine has masked
/// vectors and the layouts are those of the walk. A `beta` of zero never reads `out`.
pub(crate) fn product<C: TileFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    walk: Walk,
    threads: usize,
) -> bool {
    let (left, right, to) = (a.shape(), b.shape(), out.shape());
    let fits = match walk {
        Walk::Tiles | Walk::Sweep => right.column_step == 1 || right.columns <= 1,
        Walk::Dots => right.columns == 1 && right.row_step == 1 && left.column_step == 1,
    };
    let level = Level::current();
    if !fits || !matches!(level.isa(), Isa::Avx2 | Isa::Avx512) {
        return false;
    }
    assert!(left.rows == to.rows && right.columns == to.columns && left.columns == right.rows);
    let job = Job {
        a: a.data().as_ptr().wrapping_add(left.start),
        b: b.data().as_ptr().wrapping_add(right.start),
        out: out.data().as_mut_ptr().wrapping_add(to.start),
        m: to.rows,
        n: to.columns,
        k: left.columns,
        a_row: left.row_step,
        a_column: left.column_step,
        b_row: right.row_step,
        out_row: to.row_step,
        out_column: to.column_step,
        blend,
    };
    if threads == 1 || walk == Walk::Tiles {
        // SAFETY: `Matrix::new` and `MatrixMut::new` have proven every element of these shapes to lie inside the slices
        // the pointers come from; `out` is a unique borrow.
        unsafe { C::run(level, &job, walk) };
        return true;
    }
    let (total, unit) = match walk {
        Walk::Tiles => (1, 1),
        Walk::Sweep => (job.n, 64),
        Walk::Dots => (job.m, 8),
    };
    let share = total.div_ceil(threads).next_multiple_of(unit);
    threads::for_each_part(0..total.div_ceil(share), |part| {
        let first = part * share;
        let part = job.part(walk, first, share.min(total - first));
        // SAFETY: `Matrix::new` and `MatrixMut::new` have proven every element of these shapes to lie inside the slices
        // the pointers come from; `out` is a unique borrow, and the parts write to different rows or columns of it.
        unsafe { C::run(level, &part, walk) };
    });
    true
}

/// Copies a matrix to rows one after the other, on up to `threads` threads: what the kernels of this machine read best on the
/// right.
///
/// # Panics
/// If there is not enough room.
pub(crate) fn to_rows<C: Copy + Send + Sync>(x: Matrix<'_, C>, to: &mut [C], threads: usize) {
    let (rows, columns) = (x.shape().rows, x.shape().columns);
    let share = rows.div_ceil(threads).next_multiple_of(LINE);
    let parts = to[..rows * columns].chunks_mut(share * columns).enumerate();
    threads::for_each_part(parts, |(part, to)| {
        let shape = x.part(part * share, to.len() / columns, 0, columns).shape();
        let sheet = Sheet {
            x: x.data().as_ptr().wrapping_add(shape.start).cast(),
            out: to.as_mut_ptr().cast(),
            size: size_of::<C>(),
            rows: shape.columns,
            columns: shape.rows,
            x_steps: [shape.column_step, shape.row_step],
            out_steps: [1, shape.columns as isize],
            stream: false,
        };
        // SAFETY: `Matrix::new` has proven every element of the shape, `to` has as many, and it is a unique borrow.
        unsafe { sheet.run() };
    });
}

// SAFETY: the inputs are only read, and threads work on parts with different destinations (`product`).
unsafe impl<C: Sync> Sync for Job<C> {}

impl<C: Copy> Job<C> {
    /// `count` rows (of dots) or columns (of a sweep) from `first` on; tiles are not divided.
    fn part(&self, walk: Walk, first: usize, count: usize) -> Self {
        match walk {
            Walk::Tiles => *self,
            Walk::Sweep => Self {
                b: self.b.wrapping_add(first),
                out: self.out.wrapping_offset(first as isize * self.out_column),
                n: count,
                ..*self
            },
            Walk::Dots => Self {
                a: self.a.wrapping_offset(first as isize * self.a_row),
                out: self.out.wrapping_offset(first as isize * self.out_row),
                m: count,
                ..*self
            },
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use super::{Job, Level, TileFloat, Walk};

    macro_rules! none {
        ($($t:ty),*) => {$(
            impl TileFloat for $t {
                unsafe fn run(_level: Level, _job: &Job<$t>, _walk: Walk) {}
            }
        )*};
    }
    none!(f32, f64);
}
