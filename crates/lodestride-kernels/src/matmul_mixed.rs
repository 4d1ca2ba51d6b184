//! Products of other dtypes than `f32` and `f64`: operands are converted whole, multiplied, and the result is cast.

use lodestride_buffer::{Argument, Buffer, DType, Scalar};
use lodestride_shape::{Layout, Order};

use crate::elementwise::{binary, copy};
use crate::error::{KernelError, Result};
use crate::matmul::{OP, is_multiplied_as_it_is, matmul};
use crate::matmul_halves::Columns;
use crate::numeric::ComputeKind;
use crate::op::BinaryOp;
use crate::operand::Operand;
use crate::strided::{collapse, dims_of};
use crate::{door, matmul_bf16, operand::Input};

/// [`matmul`] of operands that no kernel multiplies as they are; shapes have been checked.
///
/// # Errors
/// As [`matmul`].
pub(crate) fn product(
    a: Operand<'_>,
    b: Operand<'_>,
    out: Operand<'_>,
    alpha: f64,
    beta: f64,
) -> Result<()> {
    // Before anything is converted: a refusal names the argument of the product.
    drop((a.read(OP, Argument::X)?, b.read(OP, Argument::Y)?));
    drop(out.write(OP, Argument::Z)?);
    if let Some([x, y, to]) = as_one(a, b, out) {
        let x = Operand::new(a.buffer(), &x, a.dtype())?;
        let y = Operand::new(b.buffer(), &y, b.dtype())?;
        let to = Operand::new(out.buffer(), &to, out.dtype())?;
        return product(x, y, to, alpha, beta);
    }
    let plain = alpha == 1.0 && beta == 0.0;
    if plain
        && out.dtype().is_float()
        && let Some(columns) = Columns::of(a, b)
    {
        return columns.multiply(out);
    }
    let dtype = multiplied_in(a, b, out);
    let product = |to: Operand<'_>, alpha, beta| in_dtype(dtype, [a, b, to], alpha, beta);
    if out.dtype() == dtype && (dtype.is_float() || plain) {
        return product(out, alpha, beta);
    }
    let layout =
        Layout::contiguous(out.shape().clone(), Order::C).map_err(KernelError::shape(OP))?;
    let buffer = |dtype: DType| {
        Buffer::recycled(layout.elements() * dtype.size()).map_err(KernelError::alloc(OP))
    };
    let products = buffer(dtype)?;
    let products = Operand::new(&products, &layout, dtype)?;
    if dtype.is_float() {
        if beta != 0.0 {
            copy(out.into(), products)?;
        }
        product(products, alpha, beta)?;
        return copy(products.into(), out);
    }
    product(products, 1.0, 0.0)?;
    if plain {
        return copy(products.into(), out);
    }
    // Factors need not be whole: integers are blended as the scalars' type.
    let (blended, old) = (buffer(DType::F64)?, buffer(DType::F64)?);
    let blended = Operand::new(&blended, &layout, DType::F64)?;
    let old = Operand::new(&old, &layout, DType::F64)?;
    let times = |x: Operand<'_>, factor: f64, to: Operand<'_>| {
        copy(x.into(), to)?;
        binary(
            BinaryOp::Mul,
            to.into(),
            Input::Scalar(Scalar::Float(factor)),
            to,
        )
    };
    times(products, alpha, blended)?;
    if beta != 0.0 {
        times(out, beta, old)?;
        binary(BinaryOp::Add, blended.into(), old.into(), blended)?;
    }
    copy(blended.into(), out)
}

/// The layouts of a batch with one right matrix for all as those of one product, where the left matrices and the results lie as one.
fn as_one(a: Operand<'_>, b: Operand<'_>, out: Operand<'_>) -> Option<[Layout; 3]> {
    let batch = a
        .layout()
        .rank()
        .checked_sub(2)
        .filter(|&batch| batch > 0)?;
    if a.elements() == 0 || b.elements() == 0 {
        return None;
    }
    let rows_of = |x: Operand<'_>| {
        let (shape, strides) = (x.shape(), x.layout().strides());
        let [ref rows @ .., columns] = *dims_of(shape, strides) else {
            return None;
        };
        let [row] = *collapse(rows.iter().copied()) else {
            return None;
        };
        let sizes = [row.size, columns.size];
        Layout::new(sizes, [row.stride, columns.stride], x.layout().offset()).ok()
    };
    let (shape, strides) = (b.shape(), b.layout().strides());
    let mut repeats = shape[..batch].iter().zip(&strides[..batch]);
    if !repeats.all(|(&size, &stride)| size == 1 || stride == 0) {
        return None;
    }
    let right = Layout::new(
        [shape[batch], shape[batch + 1]],
        [strides[batch], strides[batch + 1]],
        b.layout().offset(),
    );
    Some([rows_of(a)?, right.ok()?, rows_of(out)?])
}

/// A product worked out in `dtype`, which is that of `out`.
fn in_dtype(dtype: DType, [a, b, out]: [Operand<'_>; 3], alpha: f64, beta: f64) -> Result<()> {
    // What has been written when memory ran out is written again.
    let in_pairs = dtype == DType::F32 && beta == 0.0 && alpha != 0.0 && matmul_bf16::suits(a, b);
    if in_pairs && matmul_bf16::product(a, b, out, alpha as f32)? {
        return Ok(());
    }
    let left = door::converted(OP, a, dtype)?;
    let right = if dtype.is_float() || is_multiplied_as_it_is(a, b) {
        door::converted(OP, b, dtype)?
    } else {
        Some(door::compact(OP, b, dtype)?)
    };
    let (left, right) = (
        door::stand_in(left.as_ref(), a)?,
        door::stand_in(right.as_ref(), b)?,
    );
    matmul(left, right, out, alpha, beta)
}

/// The dtype that a product is worked out in.
fn multiplied_in(a: Operand<'_>, b: Operand<'_>, out: Operand<'_>) -> DType {
    let promoted = a.dtype().promote(b.dtype());
    match ComputeKind::exact(promoted) {
        // Sums wrap to the same number whether they were cut before or after.
        _ if promoted.is_integer() && promoted == out.dtype() => promoted,
        ComputeKind::F32 if out.dtype() != DType::F64 => DType::F32,
        ComputeKind::F32 | ComputeKind::F64 => DType::F64,
        ComputeKind::I64 => DType::I64,
        ComputeKind::U64 => DType::U64,
    }
}
