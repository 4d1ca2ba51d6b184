//! Single elements along one axis, at each position of the other axes their own: what undoes an argsort.

use lodestride_buffer::{Argument, DType, ReadGuard, WriteGuard};
use lodestride_shape::{Layout, Order, Shape, ShapeError, broadcast_shapes};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::door;
use crate::error::KernelError;
use crate::gather::dim;
use crate::gather_indices::{Picked, Places, TILE, pick, prefetch_line, with_indices, wrap};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::stream::prefetch_after;
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
    take_along_to(x, axis, indices, (out, false))
}

/// [`take_along`] into memory that nobody has seen yet: indices are checked while elements are copied, where that saves a look
/// at them, and if one is out of range, what has been written until then is for the caller to throw away.
///
/// # Errors
/// As [`take_along`].
pub fn take_along_new(
    x: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    take_along_to(x, axis, indices, (out, true))
}

fn take_along_to(
    x: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    (out, is_new): (Operand<'_>, bool),
) -> Result<(), KernelError> {
    const OP: &str = "take_along_axis";
    let wanted = checked_shape(OP, x, axis, indices)?;
    door::check_output(OP, out, &wanted)?;
    let converted = door::converted(OP, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let copies = [
        door::private_copy(OP, Argument::X, x, &[out])?,
        door::private_copy(OP, Argument::Y, indices, &[out])?,
    ];
    let x_guard = door::read(OP, Argument::X, x, copies[0].as_ref())?;
    let index_guard = door::read(OP, Argument::Y, indices, copies[1].as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    let whole = (x, axis);
    let taken = (out, is_new);
    with_lines(OP, whole, (indices, &index_guard), taken, &mut |lines| {
        lines.take(&x_guard, &mut out_guard)
    })
}

/// Writes single elements along `axis`, `out[.., indices[.., i, ..], ..] = values[.., i, ..]`: where [`take_along`] would read
/// them. Of repeated positions the last value stays.
///
/// The shape of `values`, whose dtype is that of `out`, is [`taken_shape`]'s.
///
/// # Errors
/// As [`take_along`].
pub fn put_along(
    out: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    values: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "put_along_axis";
    let wanted = checked_shape(OP, out, axis, indices)?;
    out.check_writable(OP)?;
    values.check_shape(OP, Argument::Y, &wanted)?;
    let converted = door::converted(OP, values, out.dtype())?;
    let values = door::stand_in(converted.as_ref(), values)?;
    let copies = [
        door::private_copy(OP, Argument::Y, values, &[out])?,
        door::private_copy(OP, Argument::X, indices, &[out])?,
    ];
    let value_guard = door::read(OP, Argument::Y, values, copies[0].as_ref())?;
    let index_guard = door::read(OP, Argument::X, indices, copies[1].as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    let (whole, taken) = ((out, axis), (values, false));
    with_lines(OP, whole, (indices, &index_guard), taken, &mut |lines| {
        lines.put(&value_guard, &mut out_guard);
        true
    })
}

/// The shape of the taken elements, where axis and indices suit the whole array.
fn checked_shape(
    op: &'static str,
    whole: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
) -> Result<Shape, KernelError> {
    door::check_axis(op, axis, whole.layout().rank())?;
    door::check_integer(op, indices)?;
    if indices.layout().rank() != whole.layout().rank() {
        indices.check_shape(op, Argument::Y, whole.shape())?;
    }
    taken_shape(whole.shape(), axis, indices.shape()).map_err(KernelError::shape(op))
}

/// The lines of the taken elements, if there are any, once all indices have been found in range; or before, if the elements go
/// where nobody sees them yet and the job looks at indices itself: it gives false where one is out of range.
fn with_lines(
    op: &'static str,
    (whole, axis): (Operand<'_>, usize),
    (indices, guard): (Operand<'_>, &ReadGuard<'_>),
    (taken, is_new): (Operand<'_>, bool),
    job: &mut dyn FnMut(&Along<'_>) -> bool,
) -> Result<(), KernelError> {
    let (failed, size) = (KernelError::shape(op), whole.shape()[axis]);
    // Each index is checked once, where it is: the place in an error is its place among the indices.
    let check = || with_indices(guard, indices, (axis, size), |indices| indices.check(op));
    if taken.layout().is_empty() {
        return check();
    }
    let at = indices
        .layout()
        .broadcast_to(taken.shape())
        .map_err(&failed)?;
    let stretched = along(taken.shape(), axis, size);
    let whole = whole.layout().broadcast_to(&stretched).map_err(&failed)?;
    let source = Source::new(guard, indices.dtype());
    let lines = Along::new((&whole, axis), (&at, &source), taken);
    if !(is_new && lines.are_checked_later()) {
        check()?;
    }
    if job(&lines) { Ok(()) } else { check() }
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

/// Room for a tile of indices, cleared once for all lines.
struct Tiles {
    tile: [i64; TILE],
    wrapped: [i64; TILE],
}

impl Tiles {
    fn new() -> Self {
        let (tile, wrapped) = ([0; TILE], [0; TILE]);
        Self { tile, wrapped }
    }
}

/// Joins axes that are one even step in all three.
fn join_evenly(outer: &mut [Dims; 3]) {
    for axis in (1..outer[0].len()).rev() {
        let is_even = |dims: &Dims| {
            let (before, here) = (dims[axis - 1], dims[axis]);
            before.stride == here.stride * here.size as isize
        };
        if outer.iter().all(is_even) {
            for dims in &mut *outer {
                let here = dims.remove(axis);
                dims[axis - 1] = dim(dims[axis - 1].size * here.size, here.stride);
            }
        }
    }
}

/// Lines of the taken elements: their last axis, for each position of the others.
struct Along<'a> {
    indices: &'a Source<'a, i64>,
    /// Size and step of the indexed axis in the whole array.
    size: usize,
    step: isize,
    /// First elements of the whole array, of the indices, and of the taken elements.
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
        (whole, axis): (&Layout, usize),
        (at, indices): (&Layout, &'a Source<'a, i64>),
        taken: Operand<'_>,
    ) -> Self {
        let mut still: SmallVec<[isize; 6]> = SmallVec::from_slice(whole.strides());
        let step = std::mem::take(&mut still[axis]);
        let steps = [&still[..], at.strides(), taken.layout().strides()];
        let shape = at.shape();
        let mut outer: [Dims; 3] =
            steps.map(|steps| shape.iter().zip(steps).map(|(&n, &s)| dim(n, s)).collect());
        // An axis there is: it was checked.
        let line = outer
            .each_mut()
            .map(|dims: &mut Dims| dims.pop().unwrap_or(dim(1, 0)));
        join_evenly(&mut outer);
        let start = [whole.offset(), at.offset(), taken.layout().offset()];
        Self {
            indices,
            size: whole.shape()[axis],
            step,
            start: start.map(|offset| offset as isize),
            outer,
            line,
            is_packed: taken.layout().is_contiguous(Order::C),
            dtype: taken.dtype(),
        }
    }

    /// Whether [`take`](Self::take) looks at all indices itself.
    fn are_checked_later(&self) -> bool {
        self.is_packed && (self.line[0].stride == 0 || self.are_short()) && self.size > 0
    }

    /// Whether several lines are taken together.
    fn are_short(&self) -> bool {
        self.line[0].size <= TILE / 2
    }

    /// Takes the elements; false where lines that look at their indices have found one out of range.
    fn take(&self, x: &ReadGuard<'_>, out: &mut WriteGuard<'_>) -> bool {
        let (lines, len) = (count(&self.outer[0]), self.line[0].size);
        with_unit!(self.dtype, U => {
            let (x, out) = (x.slice::<U>(), out.slice_mut::<U>());
            if !self.is_packed {
                let tiles = &mut Tiles::new();
                for line in 0..lines {
                    let to = self.start[2] + offset_at(&self.outer[2], line);
                    self.line(x, line, tiles, out, (to, self.line[2].stride));
                }
                return true;
            }
            let wrong = AtomicBool::new(false);
            let out = &mut out[self.start[2] as usize..][..lines * len];
            let share = lines.div_ceil(threads::parts(lines * len * (2 * self.dtype.size() + 8), true));
            threads::for_each_part(out.chunks_mut(share * len).enumerate(), |(part, out)| {
                let tiles = &mut Tiles::new();
                if self.are_short() {
                    if !self.short_lines(x, part * share, tiles, out) {
                        wrong.store(true, Ordering::Relaxed);
                    }
                    return;
                }
                for (line, out) in out.chunks_exact_mut(len).enumerate() {
                    if !self.line(x, part * share + line, tiles, out, (0, 1)) {
                        wrong.store(true, Ordering::Relaxed);
                    }
                }
            });
            !wrong.into_inner()
        })
    }

    fn put(&self, values: &ReadGuard<'_>, whole: &mut WriteGuard<'_>) {
        let steps = self.line.map(|line| line.stride);
        with_unit!(self.dtype, U => {
            let (values, whole) = (values.slice::<U>(), whole.slice_mut::<U>());
            let tiles = &mut Tiles::new();
            // In order, since positions may repeat.
            for line in 0..count(&self.outer[0]) {
                let [to, _, from] = self.starts(line);
                self.each_tile(line, tiles, true, |first, at| {
                    if [steps[0], self.step, steps[2]] == [0, 1, 1] {
                        // Along the last axis: rows of both.
                        let row = &mut whole[to as usize..][..self.size];
                        let values = &values[(from + first) as usize..][..at.len()];
                        for (&index, &value) in at.iter().zip(values) {
                            row[index as usize] = value;
                        }
                        return;
                    }
                    for (i, &index) in (first..).zip(at) {
                        let to = to + i * steps[0] + index as isize * self.step;
                        whole[to as usize] = values[(from + i * steps[2]) as usize];
                    }
                });
            }
        });
    }

    /// Lines from a number on, side by side; false where an index is out of range. So many as fill a tile, and lie evenly apart,
    /// are taken as one: what a line costs by itself is more than its few elements do.
    fn short_lines<U: Picked>(
        &self,
        x: &[U],
        mut line: usize,
        tiles: &mut Tiles,
        mut out: &mut [U],
    ) -> bool {
        let len = self.line[0].size;
        let last = |outer: &Dims| outer.last().copied().unwrap_or(dim(1, 0));
        let [pitch, at_pitch] = [0, 1].map(|i| last(&self.outer[i]));
        let places = Places::new(dim(self.size, self.step), pitch.stride, self.line[0]);
        let mut are_inside = true;
        while !out.is_empty() {
            let even = pitch.size - line % pitch.size;
            let count = (TILE / len).min(even).min(out.len() / len);
            let (here, rest) = std::mem::take(&mut out).split_at_mut(count * len);
            let [from, at, _] = self.starts(line);
            let lines = dim(count, at_pitch.stride);
            let raw = self.indices_of((at, lines), &mut tiles.tile[..here.len()]);
            are_inside &= places.pick((x, from), raw, &mut tiles.wrapped, here);
            (line, out) = (line + count, rest);
        }
        are_inside
    }

    /// The indices of lines from one on, as they are.
    fn indices_of<'t>(&'t self, (at, lines): (isize, Dim), tile: &'t mut [i64]) -> &'t [i64] {
        let line = self.line[1];
        let is_run = line.stride == 1 && (lines.size == 1 || lines.stride == line.size as isize);
        if let (Some(data), true) = (self.indices.native(), is_run) {
            return &data[at as usize..][..tile.len()];
        }
        self.indices.load_lines(at, lines, line, tile);
        tile
    }

    /// One line, written from an offset on with a step; false where it looks at its indices and one is out of range.
    fn line<U: Picked>(
        &self,
        x: &[U],
        line: usize,
        tiles: &mut Tiles,
        out: &mut [U],
        (to, to_step): (isize, isize),
    ) -> bool {
        let mut are_inside = true;
        let ([from, ..], from_step) = (self.starts(line), self.line[0].stride);
        let is_picked = from_step == 0 && to_step == 1;
        // Of the next line, which is read in no order the processor could guess, a share is asked for with every tile.
        let last = count(&self.outer[0]) - 1;
        let [next, ..] = self.starts(last.min(line + 1));
        self.each_tile(line, tiles, !is_picked, |first, at| {
            if is_picked {
                let out = &mut out[(to + first) as usize..][..at.len()];
                if self.step == 1 {
                    prefetch_line(x, next + first, self.size, at.len());
                }
                are_inside &= pick(x, (from, self.step, self.size), at, out);
                return;
            }
            for (i, &index) in (first..).zip(at) {
                let from = from + i * from_step + index as isize * self.step;
                out[(to + i * to_step) as usize] = x[from as usize];
            }
        });
        are_inside
    }

    /// The first elements of a line.
    fn starts(&self, line: usize) -> [isize; 3] {
        std::array::from_fn(|i| self.start[i] + offset_at(&self.outer[i], line))
    }

    /// Calls `job(first place, indices)` for stretches of a line, the indices wrapped if so `wished`.
    fn each_tile(
        &self,
        line: usize,
        tiles: &mut Tiles,
        wished: bool,
        mut job: impl FnMut(isize, &[i64]),
    ) {
        let [_, at, _] = self.starts(line);
        for first in (0..self.line[0].size).step_by(TILE) {
            let len = TILE.min(self.line[0].size - first);
            let first = first as isize;
            let at = at + first * self.line[1].stride;
            job(first, self.positions(at, len, tiles, wished));
        }
    }

    /// The positions that so many indices from one on stand for, or these where they are not to be wrapped. Once for all types
    /// of elements.
    #[inline(never)]
    fn positions<'t>(
        &'t self,
        at: isize,
        len: usize,
        tiles: &'t mut Tiles,
        wished: bool,
    ) -> &'t [i64] {
        let (Tiles { tile, wrapped }, step) = (tiles, self.line[1].stride);
        let raw = match self.indices.native() {
            Some(data) if step == 1 => &data[at as usize..][..len],
            _ => {
                self.indices.load(at, step, &mut tile[..len]);
                &tile[..len]
            }
        };
        // While elements are picked.
        prefetch_after(raw);
        if !wished {
            return raw;
        }
        wrap(raw, self.size, &mut wrapped[..len]);
        &wrapped[..len]
    }
}
