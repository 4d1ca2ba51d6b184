//! Softmax over each segment of rows, column by column, and its gradient.

use std::marker::PhantomData;

use lodestride_buffer::{Argument, ReadGuard};
use smallvec::SmallVec;

use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::numeric::ComputeKind;
use crate::operand::Operand;
use crate::row_lines::{Columns, Lines};
use crate::row_softmax::{Softmax, SoftmaxGradient};
use crate::row_walk::{Aside, GROUP, RowKernel};
use crate::scalar::raised::{Raised, raised_exp};
use crate::segment::with_rows;
use crate::segment_dense::{dense_copy, onto_dense, stand_in};
use crate::segment_rows::{balanced, check_offsets, rows_of};
use crate::strided::{Dim, collapse, dims_of};
use crate::threads;
use crate::vector::Vector;

/// Softmax of every column over the rows of each segment: `exp(x - max) / sum(exp(x - max))`, so nothing overflows.
///
/// `x` and `out` are `[rows, ..]` of floating dtypes; half floats are computed in `f32`. Where a segment's maximum is
/// infinite or a value is NaN, the column of that segment is NaN, as in NumPy.
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, a dtype is not floating, `out` has another shape, or a buffer
/// cannot be accessed. Nothing is written then.
pub fn segment_softmax(
    x: Operand<'_>,
    offsets: &[usize],
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "segment_softmax";
    let inputs = [(Argument::X, x)];
    checked(OP, &inputs, offsets, out)?;
    match ComputeKind::exact(x.dtype()) {
        ComputeKind::F64 => by_segment::<f64, Softmax>(OP, &inputs, offsets, out),
        _ => by_segment::<f32, Softmax>(OP, &inputs, offsets, out),
    }
}

/// The gradient of [`segment_softmax`] from its result `y` and the gradient `dy` of that: `y * (dy - sum(y * dy))`, the sum over
/// each segment.
///
/// # Errors
/// As [`segment_softmax`]; `dy` has the shape of `y` too.
pub fn segment_softmax_gradient(
    y: Operand<'_>,
    dy: Operand<'_>,
    offsets: &[usize],
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "segment_softmax_gradient";
    let inputs = [(Argument::X, y), (Argument::Y, dy)];
    checked(OP, &inputs, offsets, out)?;
    match ComputeKind::exact(out.dtype()) {
        ComputeKind::F64 => by_segment::<f64, SoftmaxGradient>(OP, &inputs, offsets, out),
        _ => by_segment::<f32, SoftmaxGradient>(OP, &inputs, offsets, out),
    }
}

fn checked(
    op: &'static str,
    inputs: &[(Argument, Operand<'_>)],
    offsets: &[usize],
    out: Operand<'_>,
) -> Result<(), KernelError> {
    check_offsets(op, offsets, rows_of(op, inputs[0].1)?)?;
    door::check_output(
        op,
        out,
        &with_rows(inputs[0].1.shape(), offsets[offsets.len() - 1]),
    )?;
    for &(argument, x) in inputs {
        x.check_shape(op, argument, &with_rows(out.shape(), out.shape()[0]))?;
    }
    for operand in inputs.iter().map(|&(_, x)| x).chain([out]) {
        if !operand.dtype().is_float() {
            let dtype = operand.dtype();
            return Err(KernelError::UnsupportedDType { op, dtype });
        }
    }
    Ok(())
}

/// A kernel that is known when it is compiled, so that nothing of its other form is.
trait SegmentKernel<C: Raised>: RowKernel<C> + Send {
    const KERNEL: Self;
    /// [`RowKernel::row`] of a row of no more than a vector; what lies beyond is of no account. Must be `#[inline(always)]`.
    fn short<V: Vector<C>>(&self, inputs: [&[C]; 2]) -> V;
}

impl<C: Raised> SegmentKernel<C> for Softmax {
    const KERNEL: Self = Softmax { log: false };

    #[inline(always)]
    fn short<V: Vector<C>>(&self, [x, _]: [&[C]; 2]) -> V {
        let x = V::load_part(x, C::LOWEST);
        let power = raised_exp::<C, V>(x.sub(V::splat(x.largest())));
        power.mul(V::splat(C::of(1.0 / power.total().wide())))
    }
}

impl<C: Raised> SegmentKernel<C> for SoftmaxGradient {
    const KERNEL: Self = SoftmaxGradient { log: false };

    #[inline(always)]
    fn short<V: Vector<C>>(&self, [y, g]: [&[C]; 2]) -> V {
        let (y, g) = (V::load_part(y, C::ZERO), V::load_part(g, C::ZERO));
        let sum = self.term::<C, V>(y, g, V::splat(C::ZERO)).total();
        // As of a longer row, whose parts are added to zero.
        self.result::<C, V>(y, g, V::splat(C::of(0.0 + sum.wide())))
    }
}

/// Computes dense rows where they lie, others aside.
fn by_segment<C: Raised, K: SegmentKernel<C>>(
    op: &'static str,
    inputs: &[(Argument, Operand<'_>)],
    offsets: &[usize],
    out: Operand<'_>,
) -> Result<(), KernelError> {
    if out.elements() == 0 {
        return Ok(());
    }
    let mut copies: SmallVec<[Option<Aside>; 2]> = SmallVec::new();
    for &(argument, x) in inputs {
        copies.push(if is_direct::<C>(x, out) {
            None
        } else {
            dense_copy(op, argument, x, C::DTYPE, out)?
        });
    }
    onto_dense(op, (out, false), C::DTYPE, |out| {
        let mut guards: SmallVec<[(ReadGuard<'_>, Operand<'_>); 2]> = SmallVec::new();
        for (&(argument, x), copy) in inputs.iter().zip(&copies) {
            let x = stand_in(copy.as_ref(), x)?;
            guards.push((x.read(op, argument)?, x));
        }
        let mut writer = door::write(op, Argument::Z, out)?;
        let start = out.layout().offset();
        let job = Segments {
            kernel: PhantomData::<K>,
            inputs: [lines(&guards[0]), lines(&guards[guards.len() - 1])],
            width: out.elements() / out.shape()[0],
            offsets,
        };
        job.run(&mut writer.slice_mut::<C>()[start..start + out.elements()]);
        Ok(())
    })
}

/// The rows of an open input and the step from row to row.
fn lines<'g, C: Raised>((guard, x): &'g (ReadGuard<'_>, Operand<'_>)) -> (&'g [C], usize) {
    let pitch = x.layout().strides()[0].unsigned_abs();
    (&guard.slice::<C>()[x.layout().offset()..], pitch)
}

/// Whether the rows of `x` can be worked on where they lie: each without gaps, in order.
fn is_direct<C: Raised>(x: Operand<'_>, out: Operand<'_>) -> bool {
    let dims = dims_of(x.shape(), x.layout().strides());
    let row = collapse(dims[1..].iter().copied());
    x.dtype() == C::DTYPE
        && !x.buffer().same_block(out.buffer())
        && matches!(row[..], [] | [Dim { stride: 1, .. }])
        && (dims[0].stride > 0 || dims[0].size == 1)
}

/// Rows of the inputs, and the step from row to row, divided into segments; the second input is the first again where there is
/// only one.
#[derive(Clone, Copy)]
struct Segments<'a, C, K> {
    kernel: PhantomData<K>,
    inputs: [(&'a [C], usize); 2],
    width: usize,
    offsets: &'a [usize],
}

impl<C: Raised, K: SegmentKernel<C>> Segments<'_, C, K> {
    /// Divides the segments among threads.
    fn run(self, mut out: &mut [C]) {
        let segments = self.offsets.len() - 1;
        let parts = threads::parts((K::INPUTS + 1) * size_of_val(out), true).min(segments);
        let mut pieces = Vec::with_capacity(parts);
        for part in 0..parts {
            let range = balanced(self.offsets, parts, part);
            let offsets = &self.offsets[range.start..=range.end];
            let rows = offsets[range.len()] - offsets[0];
            let (here, rest) = std::mem::take(&mut out).split_at_mut(rows * self.width);
            pieces.push((Segments { offsets, ..self }, here));
            out = rest;
        }
        let level = Level::current();
        threads::for_each_part(pieces.into_iter(), |(segments, out)| {
            let task = SegmentsTask { segments, out };
            // Without exponentials memory bounds it, and a third copy of the code gains nothing.
            if const { K::INPUTS == 1 } {
                level.run(task);
            } else {
                level.run_narrow(task);
            }
        });
    }
}

/// Some segments and their rows of the result.
struct SegmentsTask<'a, C, K> {
    segments: Segments<'a, C, K>,
    out: &'a mut [C],
}

impl<C: Raised, K: SegmentKernel<C>> Task for SegmentsTask<'_, C, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Segments {
            inputs,
            width,
            offsets,
            ..
        } = self.segments;
        // Rows narrower than what goes together go through a tile, padded; a contiguous column is a row itself.
        let lanes = <C::In<A> as Vector<C>>::LANES;
        let group = GROUP * lanes;
        let is_run = width == 1 && inputs.iter().all(|&(_, pitch)| pitch == 1);
        let padded = if is_run || width >= group { 0 } else { group };
        let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max();
        let size = padded * longest.unwrap_or(0);
        let mut tile = vec![C::ZERO; (K::INPUTS + 1) * size];
        let mut rest = self.out;
        for pair in offsets.windows(2).filter(|pair| pair[0] < pair[1]) {
            let rows = pair[1] - pair[0];
            let x = inputs.map(|(data, pitch)| &data[pair[0] * pitch..]);
            // Of no use to AVX-512, whose masked stores are as fast as others.
            let is_short = size_of::<C::In<A>>() <= 32 && rows <= lanes;
            if is_run && is_short && rest.len() >= lanes {
                // The segments after it write over what is too much.
                K::KERNEL
                    .short::<C::In<A>>(x.map(|x| &x[..rows]))
                    .store(rest);
                rest = &mut rest[rows..];
                continue;
            }
            let (out, after) = rest.split_at_mut(rows * width);
            rest = after;
            if is_run {
                K::KERNEL.row::<C::In<A>>(x.map(|x| &x[..rows]), out);
                continue;
            }
            let (from, to) = tile.split_at_mut(K::INPUTS * size);
            let second = (K::INPUTS - 1) * size;
            if padded > 0 {
                for (input, from) in from.chunks_mut(size).enumerate() {
                    for (row, line) in from.chunks_mut(padded).take(rows).enumerate() {
                        line[..width].copy_from_slice(&x[input][row * inputs[input].1..][..width]);
                    }
                }
            }
            // One call for both: it is compiled where it stands.
            let (x, pitch, lines) = if padded > 0 {
                let lines = Lines::even(&mut *to, padded);
                ([&from[..], &from[second..]], [padded; 2], lines)
            } else {
                let lines = Lines::even(&mut *out, width);
                (x, inputs.map(|(_, pitch)| pitch), lines)
            };
            each_group::<A, C, K>((x, pitch), lines, (rows, width));
            if padded > 0 {
                for (line, out) in to.chunks(padded).zip(out.chunks_mut(width)) {
                    out.copy_from_slice(&line[..width]);
                }
            }
        }
    }
}

/// Works on all columns of a segment, a group at a time; the last one overlaps the one before and writes the same there.
#[inline(always)]
fn each_group<A: Arch, C: Raised, K: SegmentKernel<C>>(
    (x, pitch): ([&[C]; 2], [usize; 2]),
    mut lines: Lines<'_, C>,
    (rows, width): (usize, usize),
) {
    let group = GROUP * <C::In<A> as Vector<C>>::LANES;
    loop {
        let at = lines.at;
        let inputs = [0, 1].map(|i| Columns {
            data: &x[i][at..],
            pitch: pitch[i],
            rows,
            width: width - at,
        });
        K::KERNEL.columns::<C::In<A>, GROUP>(inputs, &mut lines);
        if at + group >= width {
            return;
        }
        lines.at = (at + group).min(width - group);
    }
}
