//! Running sums, products, maxima and minima along an axis.
//!
//! A line that is dense in memory is cut into segments of 64 elements. Eight of them run side by side, each from nothing,
//! or one after the other where elements are wide, and then take what came before them: that breaks the chain of one addition
//! waiting for the last. Across lines, a row of results is the row before it and a row of the input.

use std::fmt;

use lodestride_buffer::{Argument, DType, WriteGuard};

use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task, task_baseline};
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
use crate::stream::prefetch_after;
use crate::strided::{Dim, Dims, Source, count, dims_of, offset_at, store};

/// What accumulates along the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanOp {
    /// Running sum.
    Sum,
    /// Running product.
    Prod,
    /// Running maximum; NaN from the first NaN on.
    Max,
    /// Running minimum; NaN from the first NaN on.
    Min,
}

impl ScanOp {
    /// Every operation.
    pub const ALL: [ScanOp; 4] = [ScanOp::Sum, ScanOp::Prod, ScanOp::Max, ScanOp::Min];

    /// The name used in error texts and graphs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "cumsum",
            Self::Prod => "cumprod",
            Self::Max => "cummax",
            Self::Min => "cummin",
        }
    }

    /// The operation of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The natural dtype of the result: 64-bit integers for sums and products of integers and bool, else the input's.
    pub const fn result_dtype(self, input: DType) -> DType {
        match self {
            Self::Sum | Self::Prod => match input {
                DType::Bool | DType::I8 | DType::I16 | DType::I32 | DType::I64 => DType::I64,
                DType::U8 | DType::U16 | DType::U32 | DType::U64 => DType::U64,
                float => float,
            },
            Self::Max | Self::Min => input,
        }
    }
}

impl fmt::Display for ScanOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Accumulates `x` along `axis` into `out` of the same shape: `out[i] = op(x[0], .., x[i])`.
///
/// Computes in the wider of the two dtypes' families: in `f64` when `out` is `f64`, in `f32` for narrower floats, in 64-bit
/// integers otherwise. Products of floats, lines of fewer than 512 elements and lines that are not the innermost in memory are
/// strictly in order. Sums along longer innermost lines are grouped: each element is the sum of the segments of 64 before its
/// own, added in order, plus the sum of its own segment up to it, which has a smaller error bound than the order from left to
/// right. What is grouped depends on shape and strides alone, never on threads or the instruction set.
///
/// # Errors
/// [`KernelError`] when the axis is out of range, `out` has another shape or overlaps itself, or a buffer cannot be
/// accessed. Nothing is written then.
pub fn scan(op: ScanOp, x: Operand<'_>, axis: usize, out: Operand<'_>) -> Result<(), KernelError> {
    door::check_axis(op.name(), axis, x.layout().rank())?;
    door::check_output(op.name(), out, x.layout().shape())?;
    if x.layout().is_empty() {
        return Ok(());
    }
    let copy = door::private_copy(op.name(), Argument::X, x, &[out])?;
    let guard = door::read(op.name(), Argument::X, x, copy.as_ref())?;
    let mut output = door::write(op.name(), Argument::Z, out)?;
    let lines = Lines::new(x, axis, out);
    let kind = match (
        ComputeKind::exact(x.dtype()),
        ComputeKind::exact(out.dtype()),
    ) {
        (ComputeKind::F64, _) | (_, ComputeKind::F64) => ComputeKind::F64,
        // Integers into a half or single float: accumulate exactly representable values as long as possible.
        (ComputeKind::I64 | ComputeKind::U64, ComputeKind::F32) => ComputeKind::F64,
        (kind, _) => kind,
    };
    match kind {
        ComputeKind::F32 => lines.run::<f32>(op, &Source::new(&guard, x.dtype()), &mut output),
        ComputeKind::F64 => lines.run::<f64>(op, &Source::new(&guard, x.dtype()), &mut output),
        ComputeKind::I64 => lines.run::<i64>(op, &Source::new(&guard, x.dtype()), &mut output),
        ComputeKind::U64 => lines.run::<u64>(op, &Source::new(&guard, x.dtype()), &mut output),
    }
    Ok(())
}

/// Elements of a line, or columns of neighbouring lines, worked on at a time when they must be copied: whole blocks.
const TILE: usize = 2 * BLOCK;
/// Elements of a segment of a long line.
const SEGMENT: usize = 64;
/// Segments, or short lines, that run side by side.
const SIDE: usize = 8;
/// Elements of the segments that run side by side.
const BLOCK: usize = SIDE * SEGMENT;

/// The lines along the scanned axis.
struct Lines {
    x_start: isize,
    out_start: isize,
    out_dtype: DType,
    /// The scanned axis in the input and the output.
    x: Dim,
    out: Dim,
    /// The other axes; the last of them is swept when its step is the smaller one.
    x_rest: Dims,
    out_rest: Dims,
}

/// What accumulates: where it starts, how it goes on, and whether elements may be grouped.
#[derive(Clone, Copy)]
struct Step<C, F> {
    start: C,
    step: F,
    is_grouped: bool,
}

impl Lines {
    fn new(x: Operand<'_>, axis: usize, out: Operand<'_>) -> Self {
        let mut x_rest = dims_of(x.layout().shape(), x.layout().strides());
        let mut out_rest = dims_of(out.layout().shape(), out.layout().strides());
        Self {
            x_start: x.layout().offset() as isize,
            out_start: out.layout().offset() as isize,
            out_dtype: out.dtype(),
            x: x_rest.remove(axis),
            out: out_rest.remove(axis),
            x_rest,
            out_rest,
        }
    }

    fn run<C: Compute>(&self, op: ScanOp, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        // A product of a segment can overflow where the product from the left does not.
        let is_whole = matches!(C::KIND, ComputeKind::I64 | ComputeKind::U64);
        match op {
            ScanOp::Sum => self.walk(source, output, grouped(C::ZERO, C::add, true)),
            ScanOp::Prod => self.walk(source, output, grouped(C::ONE, C::mul, is_whole)),
            ScanOp::Max => self.walk(source, output, grouped(C::LOWEST, C::larger, true)),
            ScanOp::Min => self.walk(source, output, grouped(C::HIGHEST, C::smaller, true)),
        }
    }

    fn walk<C: Compute>(
        &self,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
        step: Step<C, impl Fn(C, C) -> C + Copy>,
    ) {
        // The last of the other axes is taken together with the scanned one.
        let one = Dim { size: 1, stride: 0 };
        let (row, x_outer) = self.x_rest.split_last().unwrap_or((&one, &[]));
        let (out_row, out_outer) = self.out_rest.split_last().unwrap_or((&one, &[]));
        let sweep = row.size >= SIDE && row.stride.abs() < self.x.stride.abs();
        for outer in 0..count(x_outer) {
            let plane = Plane {
                x_start: self.x_start + offset_at(x_outer, outer),
                out_start: self.out_start + offset_at(out_outer, outer),
                out_dtype: self.out_dtype,
                lines: row.size,
                len: self.x.size,
                x: (row.stride, self.x.stride),
                out: (out_row.stride, self.out.stride),
            };
            if sweep {
                plane.sweep(source, output, step);
            } else {
                plane.along(source, output, step);
            }
        }
    }
}

fn grouped<C, F>(start: C, step: F, is_grouped: bool) -> Step<C, F> {
    Step {
        start,
        step,
        is_grouped,
    }
}

/// Neighbouring lines: how far it is from line to line and from element to element, in the input and in the output.
struct Plane {
    x_start: isize,
    out_start: isize,
    out_dtype: DType,
    lines: usize,
    len: usize,
    x: (isize, isize),
    out: (isize, isize),
}

impl Plane {
    /// One line after the other.
    fn along<C: Compute>(
        &self,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
        step: Step<C, impl Fn(C, C) -> C + Copy>,
    ) {
        let dense = self.x.1 == 1 && self.out.1 == 1 && self.out_dtype == C::DTYPE;
        if let (Some(data), true) = (source.native(), dense) {
            // All lines by one call where they follow each other, else one at a time.
            let ordered = self.x.0 >= 0 && self.out.0 >= self.len as isize;
            let lines = if ordered { self.lines } else { 1 };
            for line in (0..self.lines as isize).step_by(lines) {
                let x = (self.x_start + line * self.x.0) as usize;
                let out = (self.out_start + line * self.out.0) as usize;
                run::<C, _>(Along {
                    x: &data[x..],
                    out: &mut output.slice_mut::<C>()[out..],
                    steps: (self.x.0.unsigned_abs(), self.out.0.unsigned_abs()),
                    lines,
                    len: self.len,
                    running: step.start,
                    step,
                });
            }
            return;
        }
        let (mut tile, mut results) = ([step.start; TILE], [step.start; TILE]);
        for line in 0..self.lines as isize {
            let x = self.x_start + line * self.x.0;
            let out = self.out_start + line * self.out.0;
            let mut running = step.start;
            for first in (0..self.len).step_by(TILE) {
                let len = TILE.min(self.len - first);
                let (x, out) = (
                    x + first as isize * self.x.1,
                    out + first as isize * self.out.1,
                );
                source.load(x, self.x.1, &mut tile[..len]);
                running = run::<C, _>(Along {
                    x: &tile[..len],
                    out: &mut results[..len],
                    steps: (0, 0),
                    lines: 1,
                    len,
                    running,
                    step: Step {
                        // A short line stays in order.
                        is_grouped: step.is_grouped && self.len >= BLOCK,
                        ..step
                    },
                });
                store(output, self.out_dtype, out, self.out.1, &results[..len]);
            }
        }
    }

    /// All lines together: a row of running values takes one row after the other.
    fn sweep<C: Compute>(
        &self,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
        step: Step<C, impl Fn(C, C) -> C + Copy>,
    ) {
        let dense = self.x.0 == 1 && self.out.0 == 1 && self.out_dtype == C::DTYPE;
        if let (Some(data), true) = (source.native(), dense && self.out.1 >= self.lines as isize) {
            run::<C, _>(Sweep {
                x: data,
                x_start: self.x_start,
                x_step: self.x.1,
                out: &mut output.slice_mut::<C>()[self.out_start as usize..],
                out_step: self.out.1 as usize,
                width: self.lines,
                rows: self.len,
                step,
            });
            return;
        }
        let (mut running, mut tile) = ([step.start; TILE], [step.start; TILE]);
        for first in (0..self.lines).step_by(TILE) {
            let width = TILE.min(self.lines - first);
            let x = self.x_start + first as isize * self.x.0;
            let out = self.out_start + first as isize * self.out.0;
            let (running, tile) = (&mut running[..width], &mut tile[..width]);
            running.fill(step.start);
            for index in 0..self.len as isize {
                source.load(x + index * self.x.1, self.x.0, tile);
                for (running, &value) in running.iter_mut().zip(tile.iter()) {
                    *running = (step.step)(*running, value);
                }
                let at = out + index * self.out.1;
                store(output, self.out_dtype, at, self.out.0, running);
            }
        }
    }
}

/// Runs a part of a scan, whose additions wait for one another: AVX-512 is not worth a third copy of their code.
fn run<C: Compute, T: Task>(task: T) -> T::Output {
    if const { C::VECTOR } {
        Level::current().run_narrow(task)
    } else {
        task_baseline(task)
    }
}

/// Dense lines, `steps` apart in the input and the output, each going on from `running`; those of the output do not overlap.
/// Gives the last value of the last line that was taken alone.
struct Along<'a, C, F> {
    x: &'a [C],
    out: &'a mut [C],
    steps: (usize, usize),
    lines: usize,
    len: usize,
    running: C,
    step: Step<C, F>,
}

impl<C: Compute, F: Fn(C, C) -> C + Copy> Task for Along<'_, C, F> {
    type Output = C;

    #[inline(always)]
    fn run<A: Arch>(self) -> C {
        let (x, len, lines) = (self.x, self.len, self.lines);
        let line = |index: usize| &x[index * self.steps.0..][..len];
        // A single line may be its whole slice, and its step nothing.
        let mut outs = self.out.chunks_mut(self.steps.1.max(len).max(1));
        let mut next = 0;
        if A::TUNED && (!self.step.is_grouped || len < BLOCK) {
            while next + SIDE <= lines {
                let outs = std::array::from_fn(|_| outs.next().unwrap_or_default());
                let xs = std::array::from_fn(|side| line(next + side));
                side_by_side(xs, outs, len, self.step);
                next += SIDE;
            }
        }
        let mut last = self.running;
        for (index, out) in (next..lines).zip(outs) {
            let out = &mut out[..len];
            last = if self.step.is_grouped {
                long_line::<A, C, F>(line(index), out, self.running, self.step)
            } else {
                in_order(line(index), out, self.running, self.step)
            };
        }
        last
    }
}

#[inline(always)]
fn in_order<C: Compute, F: Fn(C, C) -> C + Copy>(
    x: &[C],
    out: &mut [C],
    mut running: C,
    step: Step<C, F>,
) -> C {
    for (out, &value) in out.iter_mut().zip(x) {
        running = (step.step)(running, value);
        *out = running;
    }
    running
}

/// [`SIDE`] lines of equal length, element by element; gives their last values.
#[inline(always)]
fn side_by_side<C: Compute, F: Fn(C, C) -> C + Copy>(
    x: [&[C]; SIDE],
    out: [&mut [C]; SIDE],
    len: usize,
    step: Step<C, F>,
) -> [C; SIDE] {
    // Cut here, so that the compiler sees the lengths and checks nothing in the loop.
    let x = x.map(|line| &line[..len]);
    let out = out.map(|line| &mut line[..len]);
    let mut running = [step.start; SIDE];
    for at in 0..len {
        for side in 0..SIDE {
            running[side] = (step.step)(running[side], x[side][at]);
            out[side][at] = running[side];
        }
    }
    running
}

/// Block after block of segments; what is left is taken in order. Gives the last value.
#[inline(always)]
fn long_line<A: Arch, C: Compute, F: Fn(C, C) -> C + Copy>(
    x: &[C],
    out: &mut [C],
    mut running: C,
    step: Step<C, F>,
) -> C {
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    let (out_blocks, out_rest) = out.as_chunks_mut::<BLOCK>();
    for (x, out) in blocks.iter().zip(out_blocks) {
        prefetch_after(x);
        let (xs, outs) = (x.as_chunks::<SEGMENT>().0, out.as_chunks_mut::<SEGMENT>().0);
        let mut ends = [step.start; SIDE];
        if size_of::<C>() > 4 || !A::TUNED {
            // Eight streams through one page, half a kilobyte apart, defeat the processor's prefetching: from memory, side by
            // side takes three times as long.
            for ((x, out), end) in xs.iter().zip(&mut *outs).zip(&mut ends) {
                *end = in_order(x, out, step.start, step);
            }
        } else {
            let mut segments = outs.iter_mut();
            let sides =
                std::array::from_fn(|_| segments.next().map_or(&mut [][..], |s| &mut s[..]));
            let xs = std::array::from_fn(|side| &xs[side][..]);
            ends = side_by_side(xs, sides, SEGMENT, step);
        }
        for (segment, end) in outs.iter_mut().zip(ends) {
            for value in segment.iter_mut() {
                *value = (step.step)(running, *value);
            }
            running = (step.step)(running, end);
        }
    }
    in_order(rest, out_rest, running, step)
}

/// Rows of a dense input and output: each row of results is the one before it and a row of the input.
struct Sweep<'a, C, F> {
    x: &'a [C],
    x_start: isize,
    x_step: isize,
    out: &'a mut [C],
    out_step: usize,
    width: usize,
    rows: usize,
    step: Step<C, F>,
}

impl<C: Compute, F: Fn(C, C) -> C + Copy> Task for Sweep<'_, C, F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { x, out, width, .. } = self;
        for row in 0..self.rows {
            let x = &x[(self.x_start + row as isize * self.x_step) as usize..][..width];
            let (before, here) = out.split_at_mut(row * self.out_step);
            let here = here[..width].iter_mut().zip(x);
            if row == 0 {
                for (out, &value) in here {
                    *out = (self.step.step)(self.step.start, value);
                }
                continue;
            }
            let before = &before[(row - 1) * self.out_step..][..width];
            for ((out, &value), &running) in here.zip(before) {
                *out = (self.step.step)(running, value);
            }
        }
    }
}
