//! Running sums, products, maxima and minima along an axis.
//!
//! A line that is dense in memory is cut into segments of 64 elements. Eight of them run side by side, each from nothing,
//! or one after the other where elements are wide, and then take what came before them: that breaks the chain of one addition
//! waiting for the last. Where no grouping changes a bit (integers, extremes), one step of eight waits. Across lines, a row of
//! running values takes one row after the other.

mod tiles;

use self::tiles::Steps;
use std::fmt;
use std::marker::PhantomData;

use lodestride_buffer::{Argument, DType, WriteGuard};
use lodestride_shape::{Layout, Order};
use smallvec::SmallVec;

use crate::dense::SMALL;
use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task, task_baseline};
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
use crate::reduce_plan::{far, insert_by};
use crate::scan_lines::{
    BLOCK, Extreme, Product, SIDE, Step, Sum, free_line, in_order, long_line, side_by_side,
};
use crate::scan_rows::Strips;
use crate::stream::{self, LINE};
use crate::strided::{Dim, Dims, Source, count, dims_of, join_axes, offset_at};
use crate::{spread, threads};

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
    let turned = if is_crossed(x, axis, out) {
        // What is wrong with the input is said of this operation, not of the copy.
        drop(door::read(op.name(), Argument::X, x, None)?);
        Some(door::compact(op.name(), x, x.dtype())?)
    } else {
        None
    };
    let x = door::stand_in(turned.as_ref(), x)?;
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

/// Whether lines lie along the output but across the input, so that every element of a row of them goes to another page: then
/// the input is turned first, by what turns matrices fast.
fn is_crossed(x: Operand<'_>, axis: usize, out: Operand<'_>) -> bool {
    let strides = x.layout().strides();
    let (rank, step) = (strides.len(), strides[axis].unsigned_abs());
    let nearer = |other: usize| {
        let stride = strides[other].unsigned_abs();
        other != axis && x.shape()[other] >= SIDE && 0 < stride && stride < step
    };
    let size = x.dtype().size();
    axis + 1 == rank
        && out.layout().is_contiguous(Order::C)
        && step * size >= LINE
        && x.elements() * size > SMALL
        && (0..rank).any(nearer)
}

/// Lines that are shorter are taken one after the other, with little in between.
const SHORT: usize = 8;

/// Elements of a line, or columns of neighbouring lines, worked on at a time when they must be copied: whole blocks.
pub(crate) const TILE: usize = 2 * BLOCK;

/// The lines along the scanned axis.
struct Lines {
    x_start: isize,
    out_start: isize,
    out_dtype: DType,
    /// The scanned axis in the input and the output.
    x: Dim,
    out: Dim,
    /// Whether results are written past the caches.
    past: bool,
    /// The other axes; the last of them is swept when its step is the smaller one.
    x_rest: Dims,
    out_rest: Dims,
}

impl Lines {
    fn new(x: Operand<'_>, axis: usize, out: Operand<'_>) -> Self {
        let of = |layout: &Layout| dims_of(layout.shape(), layout.strides());
        let (dims, out_dims) = (of(x.layout()), of(out.layout()));
        let scanned = (dims[axis], out_dims[axis]);
        // Innermost what lies closest in the input, whose order results mostly have.
        let mut both = SmallVec::<[(Dim, Dim); 6]>::new();
        for (index, pair) in dims.into_iter().zip(out_dims).enumerate() {
            if index != axis {
                let step = |(x, _): &(Dim, Dim)| far(x.stride.abs());
                insert_by(&mut both, pair, |other, pair| step(other) >= step(pair));
            }
        }
        let mut both = join_axes(both);
        // Lines are taken together: as many as there are an even step apart.
        if let Some((last, others)) = both.split_last_mut()
            && last.0.size < SIDE
            && last.0.stride.abs() >= scanned.0.stride.abs()
            && let Some(most) = others.iter_mut().max_by_key(|(x, _)| x.size)
            && most.0.size > last.0.size
        {
            std::mem::swap(last, most);
        }
        let (x_rest, out_rest) = both.into_iter().unzip();
        Self {
            x_start: x.layout().offset() as isize,
            out_start: out.layout().offset() as isize,
            out_dtype: out.dtype(),
            x: scanned.0,
            out: scanned.1,
            past: stream::pays(x.elements() * (x.dtype().size() + out.dtype().size())),
            x_rest,
            out_rest,
        }
    }

    fn run<C: Compute>(&self, op: ScanOp, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        match op {
            ScanOp::Sum => self.walk::<C, Sum>(source, output),
            ScanOp::Prod => self.walk::<C, Product>(source, output),
            ScanOp::Max => self.walk::<C, Extreme<false>>(source, output),
            ScanOp::Min => self.walk::<C, Extreme<true>>(source, output),
        }
    }

    fn walk<C: Compute, S: Step<C>>(&self, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        // The last of the other axes is taken together with the scanned one.
        let one = Dim { size: 1, stride: 0 };
        let (row, x_outer) = self.x_rest.split_last().unwrap_or((&one, &[]));
        let (out_row, out_outer) = self.out_rest.split_last().unwrap_or((&one, &[]));
        // Short lines that lie across the output are taken as rows of it.
        let is_across = far(row.stride.abs()) < far(self.x.stride.abs())
            || (self.x.size < SHORT && out_row.stride.abs() < self.out.stride.abs());
        for outer in 0..count(x_outer) {
            let mut plane = Plane {
                x_start: self.x_start + offset_at(x_outer, outer),
                out_start: self.out_start + offset_at(out_outer, outer),
                out_dtype: self.out_dtype,
                lines: row.size,
                len: self.x.size,
                x: (row.stride, self.x.stride),
                out: (out_row.stride, self.out.stride),
                past: false,
            };
            let is_swept = is_across && (row.size >= SIDE || plane.are_strips::<C, S>(source));
            let are_wide = if is_swept {
                row.size * size_of::<C>() >= 4 * LINE
            } else {
                self.x.size >= TILE
            };
            plane.past = self.past && are_wide;
            if is_swept {
                plane.sweep::<C, S>(source, output);
            } else {
                plane.along(&Steps::of::<S>(), source, output);
            }
        }
        if self.past {
            stream::fence();
        }
    }
}

/// Neighbouring lines: how far it is from line to line and from element to element, in the input and in the output.
#[derive(Clone, Copy)]
struct Plane {
    x_start: isize,
    out_start: isize,
    out_dtype: DType,
    lines: usize,
    len: usize,
    x: (isize, isize),
    out: (isize, isize),
    past: bool,
}

impl Plane {
    /// One line after the other.
    fn along<C: Compute>(
        &self,
        of_op: &Steps<C>,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
    ) {
        let dense = self.x.1 == 1 && self.out.1 == 1 && self.out_dtype == C::DTYPE;
        if let (Some(data), true) = (source.native(), dense) {
            let steps = (self.x.0.unsigned_abs(), self.out.0.unsigned_abs());
            let along = |x: usize, out: &mut [C], lines: usize| {
                self.along_dense(of_op, &data[x..], out, lines);
            };
            let (x, out) = (self.x_start as usize, self.out_start as usize);
            let output = output.slice_mut::<C>();
            // All lines by one call, or one a thread, where they follow each other, else one at a time.
            if self.x.0 >= 0 && self.out.0 >= self.len as isize {
                let bytes = 2 * self.lines * self.len * size_of::<C>();
                let share = self.lines.div_ceil(threads::parts(bytes, true));
                let end = out + (self.lines - 1) * steps.1 + self.len;
                let output = &mut output[out..end];
                if share == self.lines {
                    return along(x, output, share);
                }
                spread::for_each_chunk(output, share * steps.1, |part, out| {
                    let first = part * share;
                    along(x + first * steps.0, out, share.min(self.lines - first));
                });
                return;
            }
            for line in 0..self.lines as isize {
                let x = (self.x_start + line * self.x.0) as usize;
                let out = (self.out_start + line * self.out.0) as usize;
                along(x, &mut output[out..], 1);
            }
            return;
        }
        self.along_tiles(of_op, source, output);
    }

    /// Whether rows can be taken as they lie.
    fn are_rows<C: Compute>(&self, source: &Source<'_, C>) -> bool {
        let dense = self.x.0 == 1 && self.out.0 == 1 && self.out_dtype == C::DTYPE;
        dense && self.out.1 >= self.lines as isize && source.native().is_some()
    }

    /// Whether the rows of results are narrow and follow each other without gaps, see `scan_rows.rs`.
    fn are_strips<C: Compute, S: Step<C>>(&self, source: &Source<'_, C>) -> bool {
        S::HAS_STRIPS
            && (2..SIDE).contains(&self.lines)
            && self.out.1 == self.lines as isize
            && self.are_rows(source)
    }

    /// All lines together: a row of running values takes one row after the other.
    fn sweep<C: Compute, S: Step<C>>(&self, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        if let (Some(data), true) = (source.native(), self.are_rows(source)) {
            let out = &mut output.slice_mut::<C>()[self.out_start as usize..];
            let is_done = run::<C, _>(Strips::<C, S> {
                x: data,
                x_start: self.x_start,
                x_step: self.x.1,
                out,
                out_step: self.out.1 as usize,
                width: self.lines,
                rows: self.len,
                step: PhantomData,
            });
            if !is_done {
                self.columns(&Steps::of::<S>(), data, out);
            }
            return;
        }
        self.across_tiles(&Steps::of::<S>(), source, output);
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
struct Along<'a, C, S> {
    x: &'a [C],
    out: &'a mut [C],
    steps: (usize, usize),
    lines: usize,
    len: usize,
    running: C,
    /// Whether the lines are taken in segments where groups make a difference.
    is_grouped: bool,
    /// Whether the lines are a tile just written.
    near: bool,
    step: PhantomData<S>,
}

impl<C: Compute, S: Step<C>> Task for Along<'_, C, S> {
    type Output = C;

    #[inline(always)]
    fn run<A: Arch>(self) -> C {
        let (x, len, lines) = (self.x, self.len, self.lines);
        if S::HAS_STRIPS && (A::TUNED || !C::VECTOR) && len < SHORT && self.steps == (len, len) {
            let lines = x.chunks_exact(len).take(lines);
            for (x, out) in lines.zip(self.out.chunks_exact_mut(len)) {
                in_order::<C, S>(x, out, S::START);
            }
            return S::START;
        }
        // Known to the compiler where it is never so.
        let is_grouped = S::IS_GROUPED && self.is_grouped;
        let line = |index: usize| &x[index * self.steps.0..][..len];
        // A single line may be its whole slice, and its step nothing.
        let mut outs = self.out.chunks_mut(self.steps.1.max(len).max(1));
        let mut next = 0;
        if A::TUNED && !S::IS_FREE && !is_grouped {
            while next + SIDE <= lines {
                let outs = std::array::from_fn(|_| outs.next().unwrap_or_default());
                let xs = std::array::from_fn(|side| line(next + side));
                side_by_side::<C, S, SIDE>(xs, outs, len);
                next += SIDE;
            }
        }
        let mut last = self.running;
        for (index, out) in (next..lines).zip(outs) {
            let out = &mut out[..len];
            last = if S::IS_FREE {
                free_line::<C, S>(line(index), out, self.running)
            } else if is_grouped {
                long_line::<A, C, S>(line(index), out, self.running, self.near)
            } else {
                in_order::<C, S>(line(index), out, self.running)
            };
        }
        last
    }
}
