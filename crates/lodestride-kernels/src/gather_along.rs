//! Single elements along one axis, at each position of the other axes their own: what undoes an argsort.

use lodestride_buffer::{Argument, DType, ReadGuard, WriteGuard};
use lodestride_shape::{Layout, Order, Shape, ShapeError, broadcast_shapes};
use smallvec::SmallVec;

use crate::door;
use crate::error::KernelError;
use crate::gather::{TILE, dim, pick, with_indices, wrap};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::strided::{Dim, Dims, Source, count, offset_at};
use crate::threads;

/// Copies single elements along `axis`, `out[.., i, ..] = x[.., indices[.., i, ..], ..]`.
///
/// `indices` has any integer dtype and as many axes as `x`; a negative index counts from the end. Along the other axes the
/// two broadcast to the shape of `out`, which along `axis` has the size of `indices`; its dtype is that of `x`, or values
/// are cast. The same as NumPy's `take_along_axis` and, where nothing broadcasts, ONNX' `GatherElements`.
///
/// # Errors
/// [`KernelError`] when the axis or an index is out of range (the error names its value and position), `indices` is not of
/// an integer dtype, the shapes do not broadcast, `out` has another shape, or a buffer cannot be accessed. Nothing is
/// written then.
pub fn take_along(
    x: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "take_along_axis";
    door::check_axis(OP, axis, x.layout().rank())?;
    door::check_integer(OP, indices)?;
    let failed = KernelError::shape(OP);
    if indices.layout().rank() != x.layout().rank() {
        indices.check_shape(OP, Argument::Y, x.shape())?;
    }
    let size = x.shape()[axis];
    let wanted = taken_shape(x.shape(), axis, indices.shape()).map_err(&failed)?;
    door::check_output(OP, out, &wanted)?;
    let at = indices.layout().broadcast_to(&wanted).map_err(&failed)?;
    let converted = door::converted(OP, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let whole = x.layout().broadcast_to(&along(&wanted, axis, size));
    let whole = whole.map_err(&failed)?;
    let copies = [
        door::private_copy(OP, Argument::X, x, &[out])?,
        door::private_copy(OP, Argument::Y, indices, &[out])?,
    ];
    let x_guard = door::read(OP, Argument::X, x, copies[0].as_ref())?;
    let index_guard = door::read(OP, Argument::Y, indices, copies[1].as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    // Each index is checked once, where it is: the place in an error is its place among the indices.
    with_indices(&index_guard, indices, (axis, size), |indices| {
        indices.check(OP)
    })?;
    if !out.layout().is_empty() {
        let source = Source::new(&index_guard, indices.dtype());
        Along::new(&whole, axis, (&at, &source), out).take(&x_guard, &mut out_guard);
    }
    Ok(())
}

/// The shape of what [`take_along`] gives, for shapes of equal rank.
///
/// # Errors
/// [`ShapeError::Broadcast`] when they do not broadcast along the other axes.
pub fn taken_shape(x: &Shape, axis: usize, indices: &Shape) -> Result<Shape, ShapeError> {
    let rest = broadcast_shapes(&along(x, axis, 1), &along(indices, axis, 1))?;
    Ok(along(&rest, axis, indices[axis]))
}

/// A shape with another size along one axis.
fn along(shape: &[usize], axis: usize, size: usize) -> Shape {
    let sizes = shape.iter().enumerate();
    sizes
        .map(|(at, &old)| if at == axis { size } else { old })
        .collect()
}

/// Lines of the result: its last axis, for each position of the others.
struct Along<'a> {
    indices: &'a Source<'a, i64>,
    /// Size and step of the indexed axis in the whole array.
    size: usize,
    step: isize,
    /// First elements of the whole array, of the indices, and of the result.
    start: [isize; 3],
    /// The axes before the last in each of the three; the indexed axis is no way through the whole array.
    outer: [Dims; 3],
    /// The last axis in each of them.
    line: [Dim; 3],
    is_packed: bool,
    dtype: DType,
}

impl<'a> Along<'a> {
    fn new(
        whole: &Layout,
        axis: usize,
        (at, indices): (&Layout, &'a Source<'a, i64>),
        out: Operand<'_>,
    ) -> Self {
        let mut still: SmallVec<[isize; 6]> = SmallVec::from_slice(whole.strides());
        let step = std::mem::take(&mut still[axis]);
        let steps = [&still[..], at.strides(), out.layout().strides()];
        let shape = at.shape();
        let mut outer =
            steps.map(|steps| shape.iter().zip(steps).map(|(&n, &s)| dim(n, s)).collect());
        // An axis there is: it was checked.
        let line = outer
            .each_mut()
            .map(|dims: &mut Dims| dims.pop().unwrap_or(dim(1, 0)));
        let start = [whole.offset(), at.offset(), out.layout().offset()];
        Self {
            indices,
            size: whole.shape()[axis],
            step,
            start: start.map(|offset| offset as isize),
            outer,
            line,
            is_packed: out.layout().is_contiguous(Order::C),
            dtype: out.dtype(),
        }
    }

    fn take(&self, x: &ReadGuard<'_>, out: &mut WriteGuard<'_>) {
        let (lines, len) = (count(&self.outer[0]), self.line[0].size);
        with_unit!(self.dtype, U => {
            let (x, out) = (x.slice::<U>(), out.slice_mut::<U>());
            if !self.is_packed {
                for line in 0..lines {
                    let to = self.start[2] + offset_at(&self.outer[2], line);
                    self.line(x, line, out, (to, self.line[2].stride));
                }
                return;
            }
            let out = &mut out[self.start[2] as usize..][..lines * len];
            let share = lines.div_ceil(threads::parts(lines * len * (2 * self.dtype.size() + 8), true));
            threads::for_each_part(out.chunks_mut(share * len).enumerate(), |(part, out)| {
                for (line, out) in out.chunks_exact_mut(len).enumerate() {
                    self.line(x, part * share + line, out, (0, 1));
                }
            });
        });
    }

    /// One line, written from an offset on with a step.
    fn line<U: Copy>(&self, x: &[U], line: usize, out: &mut [U], (to, to_step): (isize, isize)) {
        let from = self.start[0] + offset_at(&self.outer[0], line);
        let at = self.start[1] + offset_at(&self.outer[1], line);
        let (from_step, at_step) = (self.line[0].stride, self.line[1].stride);
        let (mut tile, mut wrapped) = ([0; TILE], [0; TILE]);
        for first in (0..self.line[0].size).step_by(TILE) {
            let len = TILE.min(self.line[0].size - first);
            let first = first as isize;
            let at = at + first * at_step;
            let raw = match self.indices.native() {
                Some(data) if at_step == 1 => &data[at as usize..][..len],
                _ => {
                    self.indices.load(at, at_step, &mut tile[..len]);
                    &tile[..len]
                }
            };
            wrap(raw, self.size, &mut wrapped[..len]);
            if from_step == 0 && to_step == 1 {
                let out = &mut out[(to + first) as usize..][..len];
                pick(x, from, self.step, &wrapped[..len], out);
                continue;
            }
            for (i, &index) in (first..).zip(&wrapped[..len]) {
                let from = from + i * from_step + index as isize * self.step;
                out[(to + i * to_step) as usize] = x[from as usize];
            }
        }
    }
}
