//! The products of floats: the pure-Rust `gemm` crate, or the system's OpenBLAS where that is built in and chosen.
//!
//! Only this file calls them. Both take raw pointers and steps; [`Matrix`] and [`MatrixMut`] have proven that every element
//! lies inside its slice.
#![expect(
    unsafe_code,
    reason = "both libraries take matrices as raw pointers with steps"
)]

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use gemm::Parallelism;
use lodestride_buffer::Element;

use crate::gemm_small::Blend;
use crate::gemm_tile::TileFloat;
use crate::matrix::{Grid, Matrix, MatrixMut, MatrixShape};
use crate::numeric::Compute;
use crate::threads;

/// What multiplies large matrices of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Our own kernels and the pure-Rust `gemm` crate: always there.
    Gemm,
    /// The system's OpenBLAS: with the `openblas` feature.
    OpenBlas,
}

/// 0 before the first look-up, else a backend's number plus one.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

impl Backend {
    /// The backend of this process: `Gemm`, unless the environment variable `LODESTRIDE_BLAS=openblas` or
    /// [`Backend::select`] asks for OpenBLAS and it is built in.
    pub fn current() -> Backend {
        match CHOSEN.load(Ordering::Relaxed) {
            1 => Backend::Gemm,
            2 => Backend::OpenBlas,
            _ => {
                let name = std::env::var("LODESTRIDE_BLAS").unwrap_or_default();
                let wanted = name.eq_ignore_ascii_case("openblas");
                let chosen = if wanted {
                    Backend::OpenBlas
                } else {
                    Backend::Gemm
                };
                if !chosen.select() {
                    Backend::Gemm.select();
                    return Backend::Gemm;
                }
                chosen
            }
        }
    }

    /// Whether it is built in.
    pub fn is_available(self) -> bool {
        self == Backend::Gemm || cfg!(feature = "openblas")
    }

    /// Makes the whole process use this backend from now on; false (and no change) where it is not built in.
    pub fn select(self) -> bool {
        let available = self.is_available();
        if available {
            CHOSEN.store(self as u8 + 1, Ordering::Relaxed);
        }
        available
    }

    /// The name `LODESTRIDE_BLAS` understands.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Gemm => "gemm",
            Backend::OpenBlas => "openblas",
        }
    }
}

/// A float that every kind of product takes: both libraries and the tiles.
pub(crate) trait BlasFloat: Compute + Element + TileFloat {
    /// `out = alpha * a b + beta * out`; false (and nothing done) where OpenBLAS does not take these layouts.
    fn openblas(
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        out: &mut MatrixMut<'_, Self>,
        blend: Blend<Self>,
        threads: usize,
    ) -> bool;
    fn is_zero(self) -> bool;
}

/// Steps of a product with a vector from which on it may be divided among threads.
const SHORT: usize = 64;

/// `out = alpha * a b + beta * out` on up to `threads` threads; a `beta` of zero never reads `out`. No size is zero.
pub(crate) fn product<C: BlasFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    threads: usize,
) {
    let (left, right, to) = (a.shape(), b.shape(), out.shape());
    if Backend::current() == Backend::OpenBlas && C::openblas(a, b, out, blend, threads) {
        return;
    }
    assert!(left.rows == to.rows && right.columns == to.columns && left.columns == right.rows);
    let job = Job {
        a: a.data().as_ptr(),
        b: b.data().as_ptr(),
        out: out.data().as_mut_ptr(),
        left,
        right,
        to,
        blend,
    };
    // The library adds up short rows in an order that depends on how many there are.
    let is_whole = to.rows.min(to.columns) == 1 && left.columns < SHORT;
    let threads = if is_whole { 1 } else { threads };
    let grid = Grid::even(to.rows, to.columns, threads, [48, 16]);
    threads::for_each_part(0..grid.parts(), |part| {
        let (rows, columns) = grid.part(part);
        job.part(rows, columns);
    });
}

/// A product whose parts may be computed by different threads.
///
/// Invariants: every element that the shapes reach lies inside the slices the pointers come from, which stay borrowed while
/// the job exists, `out` uniquely; positions of `to` are distinct.
struct Job<C> {
    a: *const C,
    b: *const C,
    out: *mut C,
    left: MatrixShape,
    right: MatrixShape,
    to: MatrixShape,
    blend: Blend<C>,
}

// SAFETY: the inputs are only read; parts of different rows or columns write different elements of `out`.
unsafe impl<C: Sync> Sync for Job<C> {}

impl<C: BlasFloat> Job<C> {
    /// Computes these rows and columns of the product.
    fn part(&self, rows: Range<usize>, columns: Range<usize>) {
        let (left, right, to) = (self.left, self.right, self.to);
        let steps = |count: usize, step: isize| count as isize * step;
        // Steps may be negative, so elements are counted from the first of the matrix, not from the lowest.
        let down = steps(rows.start, left.row_step);
        let a = self.a.wrapping_add(left.start).wrapping_offset(down);
        let across = steps(columns.start, right.column_step);
        let b = self.b.wrapping_add(right.start).wrapping_offset(across);
        let corner = steps(rows.start, to.row_step) + steps(columns.start, to.column_step);
        let out = self.out.wrapping_add(to.start).wrapping_offset(corner);
        // SAFETY: the invariants of `Job`; `out` is a unique borrow, so it overlaps neither input, and no other part has
        // these rows and columns.
        unsafe {
            gemm::gemm(
                rows.len(),
                columns.len(),
                left.columns,
                out,
                to.column_step,
                to.row_step,
                !self.blend.beta.is_zero(),
                a,
                left.column_step,
                left.row_step,
                b,
                right.column_step,
                right.row_step,
                self.blend.beta,
                self.blend.alpha,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
}

#[cfg(not(feature = "openblas"))]
mod cblas {
    use super::{BlasFloat, Blend, Matrix, MatrixMut};

    macro_rules! without_openblas {
        ($($t:ty),*) => {$(
            impl BlasFloat for $t {
                fn openblas(
                    _a: Matrix<'_, $t>,
                    _b: Matrix<'_, $t>,
                    _out: &mut MatrixMut<'_, $t>,
                    _blend: Blend<$t>,
                    _threads: usize,
                ) -> bool {
                    false
                }
                fn is_zero(self) -> bool { self == 0.0 }
            }
        )*};
    }
    without_openblas!(f32, f64);
}

#[cfg(feature = "openblas")]
mod cblas {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cblas_sys::{CBLAS_LAYOUT, CBLAS_TRANSPOSE};
    // Without a reference the linker would drop the library.
    use openblas_src as _;

    use super::{BlasFloat, Blend, Matrix, MatrixMut};
    use crate::matrix::MatrixShape;

    unsafe extern "C" {
        fn openblas_set_num_threads(threads: c_int);
    }

    /// Limits OpenBLAS's own threads: it runs alone with all of them, or with one inside our pool.
    fn limit_threads(threads: usize) {
        static LIMIT: AtomicUsize = AtomicUsize::new(0);
        if LIMIT.swap(threads, Ordering::Relaxed) != threads {
            // SAFETY: OpenBLAS exports this function with this signature; it may be called at any time.
            unsafe { openblas_set_num_threads(threads.max(1) as c_int) };
        }
    }

    /// A matrix as cblas sees it in row-major order: transposed or not, and its leading step.
    fn row_major(shape: MatrixShape) -> Option<(CBLAS_TRANSPOSE, c_int)> {
        let plain = leading(shape).map(|step| (CBLAS_TRANSPOSE::CblasNoTrans, step));
        plain
            .or_else(|| leading(shape.transposed()).map(|step| (CBLAS_TRANSPOSE::CblasTrans, step)))
    }

    /// The leading step of a matrix with rows of unit step, if it fits the library's 32-bit integers.
    fn leading(shape: MatrixShape) -> Option<c_int> {
        let wide = shape.columns.max(1) as isize;
        // A single row has no step of its own.
        let step = if shape.rows == 1 {
            wide
        } else {
            shape.row_step
        };
        let unit = shape.column_step == 1 || shape.columns == 1;
        (unit && step >= wide).then(|| c_int::try_from(step).ok())?
    }

    macro_rules! with_openblas {
        ($($t:ty, $gemm:ident);*) => {$(
            impl BlasFloat for $t {
                fn openblas(
                    a: Matrix<'_, $t>,
                    b: Matrix<'_, $t>,
                    out: &mut MatrixMut<'_, $t>,
                    blend: Blend<$t>,
                    threads: usize,
                ) -> bool {
                    let (left, right, to) = (a.shape(), b.shape(), out.shape());
                    let Some(step) = leading(to) else {
                        // A column-major destination is the transposed product: `out' = b' a'`.
                        if leading(to.transposed()).is_none() {
                            return false;
                        }
                        let mut out = MatrixMut::new(out.data(), to.transposed());
                        return Self::openblas(b.transposed(), a.transposed(), &mut out, blend, threads);
                    };
                    let sizes = [to.rows, to.columns, left.columns].map(c_int::try_from);
                    let ([Ok(m), Ok(n), Ok(k)], Some((ta, lda)), Some((tb, ldb))) =
                        (sizes, row_major(left), row_major(right))
                    else {
                        return false;
                    };
                    assert!(left.rows == to.rows && right.columns == to.columns && left.columns == right.rows);
                    limit_threads(threads);
                    let start_a = a.data()[left.start..].as_ptr();
                    let start_b = b.data()[right.start..].as_ptr();
                    let start_out = out.data()[to.start..].as_mut_ptr();
                    // SAFETY: `Matrix::new` and `MatrixMut::new` have proven that every element of these shapes lies in
                    // the slices; steps are positive here, so elements lie at or after the start pointers; sizes and
                    // steps fit the library's integers; `out` is a unique borrow.
                    unsafe {
                        cblas_sys::$gemm(
                            CBLAS_LAYOUT::CblasRowMajor, ta, tb, m, n, k, blend.alpha, start_a, lda,
                            start_b, ldb, blend.beta, start_out, step,
                        );
                    }
                    true
                }
                fn is_zero(self) -> bool { self == 0.0 }
            }
        )*};
    }
    with_openblas!(f32, cblas_sgemm; f64, cblas_dgemm);
}
