//! Opening the operands of a call that works on safe slices, and the checks that come before.
//!
//! A buffer opens once for writing, so an input that shares the output's buffer is copied first: whatever the overlap, the
//! result is as if every input had been read before anything was written.

use lodestride_buffer::{Argument, Buffer, DType, ReadGuard, WriteGuard};
use lodestride_shape::{Layout, Order, Shape, ShapeError};
use smallvec::SmallVec;

use crate::error::KernelError;
use crate::operand::Operand;

/// A copy of `x`'s buffer where one of the outputs lives in it too, with the same layout.
#[inline]
pub(crate) fn private_copy(
    op: &'static str,
    argument: Argument,
    x: Operand<'_>,
    outputs: &[Operand<'_>],
) -> Result<Option<Buffer>, KernelError> {
    let shared = |out: &Operand<'_>| out.buffer().same_block(x.buffer());
    if outputs.iter().any(shared) {
        return copied(op, argument, x).map(Some);
    }
    Ok(None)
}

#[cold]
fn copied(op: &'static str, argument: Argument, x: Operand<'_>) -> Result<Buffer, KernelError> {
    let guard = x.read(op, argument)?;
    let copy = Buffer::recycled(x.buffer().len()).map_err(KernelError::alloc(op))?;
    {
        let mut to = copy.write().map_err(refused(op, argument, x))?;
        let bytes = guard.bytes();
        to.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
    }
    Ok(copy)
}

fn refused(
    op: &'static str,
    argument: Argument,
    x: Operand<'_>,
) -> impl Fn(lodestride_buffer::AccessError) -> KernelError {
    move |source| x.refused(op, argument, source)
}

/// Opens `x` for reading, or the private copy that stands for it.
#[inline]
pub(crate) fn read<'b>(
    op: &'static str,
    argument: Argument,
    x: Operand<'b>,
    copy: Option<&'b Buffer>,
) -> Result<ReadGuard<'b>, KernelError> {
    match copy {
        Some(copy) => copy.read().map_err(refused(op, argument, x)),
        None => x.read(op, argument),
    }
}

/// Opens `out` for writing.
pub(crate) fn write<'b>(
    op: &'static str,
    argument: Argument,
    out: Operand<'b>,
) -> Result<WriteGuard<'b>, KernelError> {
    out.write(op, argument)
}

/// An array converted to another dtype for the length of a call.
#[derive(Debug)]
pub(crate) struct Converted {
    buffer: Buffer,
    layout: Layout,
    dtype: DType,
}

/// What stands for `x` in the call: its conversion if there is one.
pub(crate) fn stand_in<'c>(
    converted: Option<&'c Converted>,
    x: Operand<'c>,
) -> Result<Operand<'c>, KernelError> {
    match converted {
        Some(c) => Operand::new(&c.buffer, &c.layout, c.dtype),
        None => Ok(x),
    }
}

/// `x` in another dtype; `None` if it has it already.
pub(crate) fn converted(
    op: &'static str,
    x: Operand<'_>,
    dtype: DType,
) -> Result<Option<Converted>, KernelError> {
    if x.dtype() == dtype {
        return Ok(None);
    }
    compact(op, x, dtype).map(Some)
}

/// A copy of an operand as elements of `dtype`, without gaps; what repeats along an axis before the last two is copied once.
///
/// # Errors
/// As [`converted`].
pub(crate) fn compact(
    op: &'static str,
    x: Operand<'_>,
    dtype: DType,
) -> Result<Converted, KernelError> {
    let (shape, strides) = (x.layout().shape(), x.layout().strides());
    let outer = shape.len().saturating_sub(2);
    let mut once: SmallVec<[usize; 8]> = SmallVec::from_slice(shape);
    for (size, &stride) in once.iter_mut().zip(&strides[..outer]) {
        if stride == 0 {
            *size = (*size).min(1);
        }
    }
    let failed = KernelError::shape(op);
    let source = Layout::new(&once[..], strides.clone(), x.layout().offset()).map_err(&failed)?;
    let layout = Layout::contiguous(&once[..], Order::C).map_err(&failed)?;
    let bytes = layout.elements() * dtype.size();
    let buffer = Buffer::recycled(bytes).map_err(KernelError::alloc(op))?;
    crate::elementwise::copy(
        Operand::new(x.buffer(), &source, x.dtype())?.into(),
        Operand::new(&buffer, &layout, dtype)?,
    )?;
    let layout = layout.broadcast_to(shape).map_err(&failed)?;
    Ok(Converted {
        buffer,
        layout,
        dtype,
    })
}

/// Refuses an axis that `rank` axes do not have.
pub(crate) fn check_axis(op: &'static str, axis: usize, rank: usize) -> Result<(), KernelError> {
    if axis < rank {
        return Ok(());
    }
    Err(KernelError::Shape {
        op,
        source: ShapeError::AxisOutOfRange {
            axis: axis as isize,
            rank,
        },
    })
}

/// Marks the axes named, refusing those that do not exist or come twice.
pub(crate) fn marked_axes(
    op: &'static str,
    axes: &[usize],
    rank: usize,
) -> Result<SmallVec<[bool; 8]>, KernelError> {
    let mut marked = SmallVec::from_elem(false, rank);
    for &axis in axes {
        check_axis(op, axis, rank)?;
        if std::mem::replace(&mut marked[axis], true) {
            return Err(KernelError::Shape {
                op,
                source: ShapeError::RepeatedAxis { axis, rank },
            });
        }
    }
    Ok(marked)
}

/// Refuses a destination of another shape, or one whose positions share elements.
pub(crate) fn check_output(
    op: &'static str,
    out: Operand<'_>,
    wanted: &Shape,
) -> Result<(), KernelError> {
    out.check_shape(op, Argument::Z, wanted)?;
    out.check_writable(op)
}

/// Refuses an operand of another dtype.
pub(crate) fn check_dtype(
    op: &'static str,
    argument: Argument,
    operand: Operand<'_>,
    expected: DType,
) -> Result<(), KernelError> {
    if operand.dtype() == expected {
        return Ok(());
    }
    Err(KernelError::DTypeMismatch {
        op,
        argument,
        found: operand.dtype(),
        expected,
    })
}

/// Refuses a dtype that is not an integer's.
pub(crate) fn check_integer(op: &'static str, x: Operand<'_>) -> Result<(), KernelError> {
    if x.dtype().is_integer() {
        return Ok(());
    }
    Err(KernelError::UnsupportedDType {
        op,
        dtype: x.dtype(),
    })
}

/// Refuses a number that does not satisfy its condition.
pub(crate) fn check_argument(
    op: &'static str,
    name: &'static str,
    value: f64,
    valid: bool,
) -> Result<(), KernelError> {
    if valid {
        return Ok(());
    }
    Err(KernelError::InvalidArgument { op, name, value })
}

/// Refuses a number outside the limits that the operands set.
pub(crate) fn check_range(
    op: &'static str,
    name: &'static str,
    value: f64,
    (min, max): (f64, f64),
) -> Result<(), KernelError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(KernelError::OutOfRange {
        op,
        name,
        value,
        min,
        max,
    })
}
