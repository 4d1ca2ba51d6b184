//! Products of matrices of bf16 where the processor multiplies pairs of them: both are arranged in pairs along the axis that is added
//! up, and each pair is an element of a product of half as many steps.

use std::ops::Range;

use lodestride_buffer::{Buffer, DType};
use lodestride_shape::{Layout, Order, ShapeError};

use crate::elementwise::copy;
use crate::error::{KernelError, Result};
use crate::gemm_bf16::is_available;
use crate::gemm_small::Blend;
use crate::matmul::{OP, pairs, shape_of};
use crate::operand::Operand;

/// Multiply-adds from which on arranging is worth its while.
const WORK: usize = 48 * 48 * 48;

/// Steps, and columns of the result, from which on it is.
const LEAST: [usize; 2] = [8, 16];

/// Whether `a` and `b` are best multiplied so.
pub(crate) fn suits(a: Operand<'_>, b: Operand<'_>) -> bool {
    let (left, right) = (shape_of(a), shape_of(b));
    let (m, k, n) = (left.rows, left.columns, right.columns);
    let is_bf16 = a.dtype() == DType::BF16 && b.dtype() == DType::BF16;
    let is_large = k >= LEAST[0] && n >= LEAST[1] && m.saturating_mul(n).saturating_mul(k) >= WORK;
    is_bf16 && is_large && a.elements() > 0 && is_available()
}

/// Writes the products of operands that [`suit`](suits) to `out`, of `f32`, times `alpha`; false where there is no memory to multiply
/// in, and some may have been written.
///
/// # Errors
/// As [`matmul`](crate::matmul).
pub(crate) fn product(
    a: Operand<'_>,
    b: Operand<'_>,
    out: Operand<'_>,
    alpha: f32,
) -> Result<bool> {
    let exchanged = |layout: &Layout| layout.swap_axes(-2, -1).map_err(KernelError::shape(OP));
    let columns = exchanged(b.layout())?;
    let left = Arranged::of(a)?;
    let right = Arranged::of(Operand::new(b.buffer(), &columns, b.dtype())?)?;
    let (x_layout, y_layout) = (left.layout, exchanged(&right.layout)?);
    let x = Operand::new(
        left.copy.as_ref().unwrap_or(a.buffer()),
        &x_layout,
        DType::F32,
    )?;
    let y = Operand::new(
        right.copy.as_ref().unwrap_or(b.buffer()),
        &y_layout,
        DType::F32,
    )?;
    let beta = 0.0;
    pairs(x, y, out, Blend { alpha, beta })
}

/// Lines in pairs along the last axis, each of the size of an `f32`; the second of the last pair is zero where it has none.
struct Arranged {
    /// Where they do not lie so in the operand's own memory.
    copy: Option<Buffer>,
    layout: Layout,
}

impl Arranged {
    fn of(x: Operand<'_>) -> Result<Self> {
        let layout = match in_place(x.layout()) {
            Some(layout) => layout,
            None => return Self::copied(x),
        };
        let layout = layout.map_err(KernelError::shape(OP))?;
        Ok(Self { copy: None, layout })
    }

    /// A copy, where lines lie side by side if they did; what repeats along an axis is copied once.
    fn copied(x: Operand<'_>) -> Result<Self> {
        let failed = KernelError::shape(OP);
        let (sizes, steps) = (x.layout().shape(), x.layout().strides());
        let depth = sizes.len() - 1;
        let pairs = sizes[depth].div_ceil(2);
        let (mut once, mut wanted) = (sizes.clone(), sizes.clone());
        (once[depth], wanted[depth]) = (pairs, pairs);
        for (size, &step) in once.iter_mut().zip(&steps[..depth - 1]) {
            *size = if step == 0 { (*size).min(1) } else { *size };
        }
        let layout = if steps[depth].unsigned_abs() > steps[depth - 1].unsigned_abs() {
            once.swap(depth - 1, depth);
            let turned = Layout::contiguous(once, Order::C).map_err(&failed)?;
            turned.swap_axes(-2, -1).map_err(&failed)?
        } else {
            Layout::contiguous(once, Order::C).map_err(&failed)?
        };
        let bytes = layout.elements() * size_of::<f32>();
        let is_whole = sizes[depth].is_multiple_of(2);
        let buffer = if is_whole {
            Buffer::recycled(bytes)
        } else {
            Buffer::zeroed(bytes)
        };
        let buffer = buffer.map_err(KernelError::alloc(OP))?;
        let arrange = |range: Range<usize>| {
            let [from, to] = halves(x.layout(), &layout, range).map_err(&failed)?;
            let from = Operand::new(x.buffer(), &from, DType::BF16)?;
            copy(from.into(), Operand::new(&buffer, &to, DType::BF16)?)
        };
        arrange(0..2 * (sizes[depth] / 2))?;
        if !is_whole {
            arrange(sizes[depth] - 1..sizes[depth])?;
        }
        let layout = layout.broadcast_to(&wanted).map_err(&failed)?;
        Ok(Self {
            copy: Some(buffer),
            layout,
        })
    }
}

/// Pairs that lie in memory as they are.
fn in_place(halves: &Layout) -> Option<std::result::Result<Layout, ShapeError>> {
    let (mut sizes, mut steps) = (halves.shape().clone(), halves.strides().clone());
    let depth = sizes.len() - 1;
    let is_even = |step: isize| step % 2 == 0;
    let lie =
        steps[depth] == 1 && sizes[depth].is_multiple_of(2) && halves.offset().is_multiple_of(2);
    if !lie || !steps[..depth].iter().all(|&step| is_even(step)) {
        return None;
    }
    sizes[depth] /= 2;
    steps[..depth].iter_mut().for_each(|step| *step /= 2);
    Some(Layout::new(sizes, steps, halves.offset() / 2))
}

/// Some steps of the lines, in twos where there are several: where they are, and where they are to be among the pairs of `to`.
fn halves(
    from: &Layout,
    to: &Layout,
    range: Range<usize>,
) -> std::result::Result<[Layout; 2], ShapeError> {
    let depth = to.rank() - 1;
    let width = range.len().min(2);
    let mut sizes = to.shape().clone();
    sizes[depth] = range.len() / width.max(1);
    sizes.push(width);
    let (mut here, mut there) = (from.strides().clone(), to.strides().clone());
    let step = here[depth];
    here[depth] *= 2;
    here.push(step);
    there.iter_mut().for_each(|step| *step *= 2);
    let first = from.offset() as isize + range.start as isize * step;
    let pair = 2 * (to.offset() + range.start / 2 * to.strides()[depth].unsigned_abs());
    there.push(1);
    Ok([
        Layout::new(sizes.clone(), here, first.cast_unsigned())?,
        Layout::new(sizes, there, pair)?,
    ])
}
