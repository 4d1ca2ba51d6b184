//! Matrix products of any layout and dtype, one or a batch of them.
//!
//! Here are the checks, the batch and the choice of kernel: `gemm_small` for small products, integers and vectors, `blas`
//! for the rest. Threads share out either the batch or one product, never both.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lodestride_buffer::{Argument, DType, ReadGuard, WriteGuard};
use lodestride_shape::{Shape, ShapeError, ShapeOperation};

use crate::blas::BlasFloat;
use crate::door;
use crate::error::{KernelError, Result};
use crate::gemm_bf16;
use crate::gemm_choice::{are_worth_threads, multiply, multiply_before, threads_for};
use crate::gemm_integers::Whole;
use crate::gemm_series::Series;
use crate::gemm_small::{self, Blend};
use crate::matmul_mixed;
use crate::matmul_small;
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::operand::{Operand, Output};
use crate::strided::{Dim, Dims, collapse, count, dims_of, offset_at};
use crate::{spread, threads};

pub(crate) const OP: &str = "matmul";

/// Multiplies matrices: `out = alpha * a b + beta * out`.
///
/// The last two axes are the matrices, `[m, k]` and `[k, n]` into `[m, n]`; axes before them are a batch, equal in all
/// three operands (broadcast them with stride 0). Any strides and dtypes: `f32` and `f64` are multiplied where they lie,
/// half floats are accumulated in `f32` (by processors that multiply pairs of bf16, AVX512-BF16, as these do: what is below 2^-126
/// counts as zero), integers wrap, bool is "or" of "and"; other mixtures are promoted, and
/// cast on store. A `beta` of zero never reads `out`, so what is there may be NaN; a size of zero along `k` gives zeros.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, matmul};
/// use lodestride_shape::{Layout, Order};
///
/// let square = Layout::contiguous([2, 2], Order::C)?;
/// let a = Buffer::from_vec(vec![1.0f64, 2.0, 3.0, 4.0])?;
/// let out = Buffer::zeroed(32)?;
/// let x = Operand::new(&a, &square, DType::F64)?;
/// matmul(x, x, Operand::new(&out, &square, DType::F64)?, 1.0, 0.0)?;
/// assert_eq!(out.read()?.slice::<f64>(), [7.0, 10.0, 15.0, 22.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when the shapes do not fit, `out` overlaps itself, or a buffer cannot be accessed. Nothing is written
/// then.
pub fn matmul<'a>(
    a: Operand<'a>,
    b: Operand<'a>,
    out: impl Into<Output<'a>>,
    alpha: f64,
    beta: f64,
) -> Result<()> {
    matmul_to(a, b, out.into(), alpha, beta)
}

fn matmul_to(
    a: Operand<'_>,
    b: Operand<'_>,
    mut output: Output<'_>,
    alpha: f64,
    beta: f64,
) -> Result<()> {
    let out = *output.operand();
    check_shapes(a, b, out)?;
    let dtype = out.dtype();
    if a.dtype() == dtype && b.dtype() == dtype {
        let done = match dtype {
            DType::F32 => {
                let (alpha, beta) = (alpha as f32, beta as f32);
                matmul_small::product(&a, &b, &mut output, Blend { alpha, beta })?
            }
            DType::F64 => matmul_small::product(&a, &b, &mut output, Blend { alpha, beta })?,
            _ => false,
        };
        if done {
            return Ok(());
        }
    }
    product_of_any(a, b, output, alpha, beta)
}

fn product_of_any(
    a: Operand<'_>,
    b: Operand<'_>,
    mut output: Output<'_>,
    alpha: f64,
    beta: f64,
) -> Result<()> {
    let out = *output.operand();
    let dtype = out.dtype();
    let plain = alpha == 1.0 && beta == 0.0 && is_multiplied_as_it_is(a, b);
    let direct = matches!(dtype, DType::F32 | DType::F64) || plain && dtype.is_integer();
    if !direct || a.dtype() != dtype || b.dtype() != dtype {
        return matmul_mixed::product(a, b, output.close(), alpha, beta);
    }
    opened(a, b, output, |call, x, y, to| match dtype {
        DType::F32 => {
            let (alpha, beta) = (alpha as f32, beta as f32);
            call.floats::<f32>(
                (x.slice(), y.slice(), to.slice_mut()),
                Blend { alpha, beta },
            );
        }
        DType::F64 => {
            call.floats::<f64>(
                (x.slice(), y.slice(), to.slice_mut()),
                Blend { alpha, beta },
            );
        }
        // What wraps is the same for both signs.
        dtype => match dtype.size() {
            1 => call.integers::<u8>(x, y, to),
            2 => call.integers::<u16>(x, y, to),
            4 => call.integers::<u32>(x, y, to),
            _ => call.integers::<u64>(x, y, to),
        },
    })
}

/// Does `then` with operands that are open; one that `out` overlaps is copied first.
fn opened<T>(
    a: Operand<'_>,
    b: Operand<'_>,
    mut output: Output<'_>,
    then: impl FnOnce(Call<'_>, &ReadGuard<'_>, &ReadGuard<'_>, &mut WriteGuard<'_>) -> T,
) -> Result<T> {
    let out = *output.operand();
    let copies = [
        door::private_copy(OP, Argument::X, a, &[out])?,
        door::private_copy(OP, Argument::Y, b, &[out])?,
    ];
    let x = door::read(OP, Argument::X, a, copies[0].as_ref())?;
    let y = door::read(OP, Argument::Y, b, copies[1].as_ref())?;
    Ok(then(Call { a, b, out }, &x, &y, output.guard(OP)?))
}

/// Whether the elements lie as products of integers need them.
pub(crate) fn is_multiplied_as_it_is(a: Operand<'_>, b: Operand<'_>) -> bool {
    gemm_small::suits(shape_of(a), shape_of(b))
}

fn check_shapes(a: Operand<'_>, b: Operand<'_>, out: Operand<'_>) -> Result<()> {
    let mismatch = || KernelError::Shape {
        op: OP,
        source: ShapeError::mismatch(ShapeOperation::Matmul, a.shape(), b.shape()),
    };
    let (left, right) = (a.shape(), b.shape());
    if let ([m, k], [depth, n], [rows, columns]) = (&left[..], &right[..], &out.shape()[..])
        && (m, k, n) == (rows, depth, columns)
    {
        return out.check_writable(OP);
    }
    let rank = left.len();
    if rank < 2 || right.len() != rank {
        return Err(mismatch());
    }
    let batch = rank - 2;
    if left[..batch] != right[..batch] || left[rank - 1] != right[batch] {
        return Err(mismatch());
    }
    let to = out.shape();
    let fits =
        to.len() == rank && to[..rank - 1] == left[..rank - 1] && to[rank - 1] == right[rank - 1];
    if !fits {
        let mut wanted = Shape::from_slice(left);
        wanted[rank - 1] = right[rank - 1];
        out.check_shape(OP, Argument::Z, &wanted)?;
    }
    out.check_writable(OP)
}

/// Writes products of pairs of bf16, which lie in the elements of `a` and `b`, to `out`; false, having done nothing, where there is no
/// memory to do it in. Nothing is empty.
pub(crate) fn pairs(
    a: Operand<'_>,
    b: Operand<'_>,
    out: Operand<'_>,
    blend: Blend<f32>,
) -> Result<bool> {
    opened(a, b, out.into(), |call, x, y, to| {
        call.pairs((x.slice(), y.slice(), to.slice_mut()), blend)
    })
}

/// The operands of a call.
#[derive(Clone, Copy)]
struct Call<'a> {
    a: Operand<'a>,
    b: Operand<'a>,
    out: Operand<'a>,
}

impl Call<'_> {
    /// The products of floats; a single one needs no list of batch axes.
    fn floats<C: BlasFloat>(self, (a, b, out): (&[C], &[C], &mut [C]), blend: Blend<C>) {
        if self.out.shape().len() > 2 {
            return Batch::new(self.a, self.b, self.out).floats(a, b, out, blend);
        }
        let (left, right, to) = (shape_of(self.a), shape_of(self.b), shape_of(self.out));
        let (a, b) = (Matrix::new(a, left), Matrix::new(b, right));
        let threads = threads_for::<C>(to.rows, to.columns, left.columns);
        multiply(a, b, MatrixMut::new(out, to), blend, threads);
    }

    /// The products of pairs of bf16; false where there was no memory for one.
    fn pairs(self, (a, b, out): (&[f32], &[f32], &mut [f32]), blend: Blend<f32>) -> bool {
        let batch = Batch::new(self.a, self.b, self.out);
        let is_short_of_memory = AtomicBool::new(false);
        batch.each(
            out,
            batch.threads::<f32>(),
            &|_, [x, y, to], out, threads| {
                let (x, y) = (Matrix::new(a, x), Matrix::new(b, y));
                if !gemm_bf16::product(x, y, &mut MatrixMut::new(out, to), blend, threads) {
                    is_short_of_memory.store(true, Relaxed);
                }
            },
        );
        !is_short_of_memory.into_inner()
    }

    /// The products of integers, which wrap.
    fn integers<C: Whole>(self, a: &ReadGuard<'_>, b: &ReadGuard<'_>, out: &mut WriteGuard<'_>) {
        let (a, b, out) = (a.slice::<C>(), b.slice::<C>(), out.slice_mut::<C>());
        let batch = Batch::new(self.a, self.b, self.out);
        let are_worth = are_worth_threads::<C>(batch.work());
        let threads = if are_worth { threads::threads() } else { 1 };
        batch.each(out, threads, &|_, [x, y, to], out, threads| {
            let (x, y) = (Matrix::new(a, x), Matrix::new(b, y));
            if threads > 1 {
                in_bands(x, y, out, to);
            } else {
                gemm_small::product(x, y, &mut MatrixMut::new(out, to));
            }
        });
    }
}

/// The product of integers in bands of rows, for as many threads as there are, where these lie wholly one before the other.
fn in_bands<C: Whole>(a: Matrix<'_, C>, b: Matrix<'_, C>, out: &mut [C], to: MatrixShape) {
    /// Rows that are worth reading the right matrix once more, and those where each thread has but one band.
    const LEAST: usize = 64;
    const FEWEST: usize = 16;
    let even = to.rows.div_ceil(threads::threads()).clamp(FEWEST, LEAST);
    let share = to.rows.div_ceil(threads::shares()).max(even);
    let (step, width) = (to.row_step, (to.columns as isize - 1) * to.column_step + 1);
    if share >= to.rows || to.column_step < 0 || step < width {
        return gemm_small::product(a, b, &mut MatrixMut::new(out, to));
    }
    let (first, step) = (to.start, step.unsigned_abs());
    let last = first + (to.rows - 1) * step + width.unsigned_abs();
    spread::for_each_chunk(&mut out[first..last], share * step, |part, out| {
        let rows = share.min(to.rows - part * share);
        let a = a.part(part * share, rows, 0, a.shape().columns);
        let to = MatrixShape {
            start: 0,
            rows,
            ..to
        };
        gemm_small::product(a, b, &mut MatrixMut::new(out, to));
    });
}

/// What is done with one product of several: its number, its matrices, the memory that its destination is in, and the threads it may
/// have.
type One<'a, C> = dyn Fn(usize, [MatrixShape; 3], &mut [C], usize) + Sync + 'a;

/// The products of a call: one matrix shape per operand, and the steps of the batch.
struct Batch {
    a: MatrixShape,
    b: MatrixShape,
    out: MatrixShape,
    a_batch: Dims,
    b_batch: Dims,
    out_batch: Dims,
}

impl Batch {
    fn new(a: Operand<'_>, b: Operand<'_>, out: Operand<'_>) -> Self {
        let (a, a_batch) = matrix_of(a);
        let (b, b_batch) = matrix_of(b);
        let (out, out_batch) = matrix_of(out);
        Self {
            a,
            b,
            out,
            a_batch,
            b_batch,
            out_batch,
        }
        .folded()
    }

    /// With one right matrix for all, the batch is more rows of one product where the layouts allow it.
    fn folded(mut self) -> Self {
        let several = |batch: &Dims| batch.iter().any(|dim| dim.stride != 0 && dim.size > 1);
        if self.out_batch.is_empty() || several(&self.b_batch) {
            return self;
        }
        let rows = |batch: &Dims, shape: MatrixShape| {
            let row = Dim {
                size: shape.rows,
                stride: shape.row_step,
            };
            collapse(batch.iter().copied().chain([row]))
        };
        let (a, out) = (rows(&self.a_batch, self.a), rows(&self.out_batch, self.out));
        let is_empty = count(&self.a_batch) == 0;
        if let ([a_row], [out_row], false) = (&a[..], &out[..], is_empty) {
            self.a.rows = a_row.size;
            self.a.row_step = a_row.stride;
            self.out.rows = out_row.size;
            self.out.row_step = out_row.stride;
            self.a_batch.clear();
            self.b_batch.clear();
            self.out_batch.clear();
        }
        self
    }

    fn len(&self) -> usize {
        count(&self.out_batch)
    }

    /// Multiply-adds of all products.
    fn work(&self) -> usize {
        let one = self.out.rows * self.out.columns * self.a.columns;
        one.saturating_mul(self.len())
    }

    /// The threads that each product may have.
    fn threads<C>(&self) -> usize {
        threads_for::<C>(self.out.rows, self.out.columns, self.a.columns)
    }

    /// The matrices of one product.
    fn shapes(&self, index: usize) -> [MatrixShape; 3] {
        let moved = |shape: MatrixShape, batch: &Dims| {
            let start = shape.start as isize + offset_at(batch, index);
            MatrixShape {
                start: start as usize,
                ..shape
            }
        };
        [
            moved(self.a, &self.a_batch),
            moved(self.b, &self.b_batch),
            moved(self.out, &self.out_batch),
        ]
    }

    fn floats<C: BlasFloat>(&self, a: &[C], b: &[C], out: &mut [C], blend: Blend<C>) {
        let products = self.len();
        if self.work() == 0 && self.out.is_empty() {
            return;
        }
        if self.out_batch.is_empty() {
            let out = MatrixMut::new(out, self.out);
            let (a, b) = (Matrix::new(a, self.a), Matrix::new(b, self.b));
            return multiply(a, b, out, blend, self.threads::<C>());
        }
        let batch = [&self.a_batch, &self.b_batch, &self.out_batch];
        if let Some(series) = Series::of([self.a, self.b, self.out], batch, products)
            && series.run((a, b, out), blend)
        {
            return;
        }
        self.each(
            out,
            self.threads::<C>(),
            &|index, [x, y, to], out, threads| {
                let next = (index + 1 < products).then(|| {
                    let [x, y, _] = self.shapes(index + 1);
                    [Matrix::new(a, x), Matrix::new(b, y)]
                });
                let (x, y) = (Matrix::new(a, x), Matrix::new(b, y));
                multiply_before(x, y, MatrixMut::new(out, to), blend, threads, next);
            },
        );
    }

    /// Does `one` with every product: several at a time, each on one thread, where they are worth it and lie one before the other, else
    /// one after the other, each on up to `threads`.
    fn each<C: Send>(&self, out: &mut [C], threads: usize, one: &One<'_, C>) {
        if !are_worth_threads::<C>(self.work()) || !self.shares_out(out, one) {
            (0..self.len()).for_each(|index| one(index, self.shapes(index), out, threads));
        }
    }

    /// Shares several products out among threads, where their destinations lie one before the other; false, with nothing done,
    /// where they do not.
    fn shares_out<C: Send>(&self, out: &mut [C], one: &One<'_, C>) -> bool {
        let products = self.len();
        let Some(step) = self.separate().filter(|_| products > 1) else {
            return false;
        };
        let first = self.out.start;
        let last = first + (products - 1) * step + self.reach();
        spread::for_each_chunk(&mut out[first..last], step, |index, out| {
            let [x, y, to] = self.shapes(index);
            one(index, [x, y, MatrixShape { start: 0, ..to }], out, 1);
        });
        true
    }

    /// Elements from the first to past the last of one destination with positive steps.
    fn reach(&self) -> usize {
        let rows = (self.out.rows.max(1) - 1) * self.out.row_step.unsigned_abs();
        rows + (self.out.columns.max(1) - 1) * self.out.column_step.unsigned_abs() + 1
    }

    /// The step between destinations when each lies wholly before the next.
    fn separate(&self) -> Option<usize> {
        match &collapse(self.out_batch.iter().copied())[..] {
            [dim] if dim.stride > 0 && self.out.row_step >= 0 && self.out.column_step >= 0 => {
                let step = dim.stride.unsigned_abs();
                (self.reach() <= step).then_some(step)
            }
            _ => None,
        }
    }
}

/// The matrix axes of an operand.
#[inline]
pub(crate) fn shape_of(x: Operand<'_>) -> MatrixShape {
    let layout = x.layout();
    let (sizes, steps) = (&layout.shape()[..], &layout.strides()[..]);
    let batch = sizes.len() - 2;
    MatrixShape {
        start: layout.offset(),
        rows: sizes[batch],
        columns: sizes[batch + 1],
        row_step: steps[batch],
        column_step: steps[batch + 1],
    }
}

/// The matrix axes of an operand, and its batch axes.
fn matrix_of(x: Operand<'_>) -> (MatrixShape, Dims) {
    let (sizes, steps) = (x.layout().shape(), x.layout().strides());
    let batch = sizes.len() - 2;
    (shape_of(x), dims_of(&sizes[..batch], &steps[..batch]))
}
