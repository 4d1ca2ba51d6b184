//! Running sums, products, maxima and minima along an axis.

use std::fmt;

use lodestride_buffer::{Argument, DType, WriteGuard};

use crate::door;
use crate::error::KernelError;
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
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
/// integers otherwise. Strictly in order, so the result never depends on threads or layout.
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

/// Elements of a line, or columns of neighbouring lines, worked on at a time.
const TILE: usize = 512;

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
        match op {
            ScanOp::Sum => self.walk(source, output, C::ZERO, C::add),
            ScanOp::Prod => self.walk(source, output, C::ONE, C::mul),
            ScanOp::Max => self.walk(source, output, C::LOWEST, C::larger),
            ScanOp::Min => self.walk(source, output, C::HIGHEST, C::smaller),
        }
    }

    fn walk<C: Compute>(
        &self,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
        start: C,
        step: impl Fn(C, C) -> C + Copy,
    ) {
        let sweep = match self.x_rest.last() {
            Some(last) if last.size >= 8 => last.stride.abs() < self.x.stride.abs(),
            _ => false,
        };
        if sweep {
            self.sweep(source, output, start, step);
        } else {
            self.along(source, output, start, step);
        }
    }

    /// One line after the other, tile by tile.
    fn along<C: Compute>(
        &self,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
        start: C,
        step: impl Fn(C, C) -> C,
    ) {
        let mut tile = [C::ZERO; TILE];
        for line in 0..count(&self.x_rest) {
            let x = self.x_start + offset_at(&self.x_rest, line);
            let out = self.out_start + offset_at(&self.out_rest, line);
            let mut running = start;
            for first in (0..self.x.size).step_by(TILE) {
                let tile = &mut tile[..TILE.min(self.x.size - first)];
                source.load(x + first as isize * self.x.stride, self.x.stride, tile);
                for value in tile.iter_mut() {
                    running = step(running, *value);
                    *value = running;
                }
                let at = out + first as isize * self.out.stride;
                store(output, self.out_dtype, at, self.out.stride, tile);
            }
        }
    }

    /// Neighbouring lines together: a row of running values takes one row after the other.
    fn sweep<C: Compute>(
        &self,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
        start: C,
        step: impl Fn(C, C) -> C,
    ) {
        let (Some((row, x_outer)), Some((out_row, out_outer))) =
            (self.x_rest.split_last(), self.out_rest.split_last())
        else {
            return;
        };
        let (mut running, mut tile) = ([start; TILE], [start; TILE]);
        for outer in 0..count(x_outer) {
            for first in (0..row.size).step_by(TILE) {
                let width = TILE.min(row.size - first);
                let x = self.x_start + offset_at(x_outer, outer) + first as isize * row.stride;
                let out =
                    self.out_start + offset_at(out_outer, outer) + first as isize * out_row.stride;
                let (running, tile) = (&mut running[..width], &mut tile[..width]);
                running.fill(start);
                for index in 0..self.x.size as isize {
                    source.load(x + index * self.x.stride, row.stride, tile);
                    for (running, &value) in running.iter_mut().zip(tile.iter()) {
                        *running = step(*running, value);
                    }
                    let at = out + index * self.out.stride;
                    store(output, self.out_dtype, at, out_row.stride, running);
                }
            }
        }
    }
}
