//! Reducing segments of rows: sum, mean, root-scaled sum, extremes, first, last; their gradients; repeating rows.
//!
//! Rows are the slices along axis 0; `offsets` divides them: segment `i` is the rows `offsets[i]..offsets[i + 1]`, possibly
//! none. The accumulators of some neighbouring columns stay in registers while the rows of a segment go by.

use std::fmt;

use lodestride_buffer::{Argument, DType, Scalar, WriteGuard};
use lodestride_shape::Shape;

use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::numeric::{Compute, ComputeKind, run_for, run_narrow_for};
use crate::operand::Operand;
use crate::reduce_kinds::{Addable, Magnitude};
use crate::segment_move::segment_ends;
use crate::segment_pool::{Columns, Divide, ExtremePool, Pool, SumPool};
use crate::segment_rows::{RowSink, RowView, balanced, check_offsets, rows_of};
use crate::stream;
use crate::threads;

/// How the rows of a segment become one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentOp {
    /// Sum of the rows.
    Sum,
    /// Mean of the rows.
    Mean,
    /// Sum of the rows over the square root of their number.
    Sqrt,
    /// Largest value per column; a later value must be greater, so a leading NaN stays and a later NaN is ignored.
    Max,
    /// Smallest value per column, NaN as for `Max`.
    Min,
    /// The first row.
    First,
    /// The last row.
    Last,
}

impl SegmentOp {
    /// Every operation.
    pub const ALL: [SegmentOp; 7] = [
        SegmentOp::Sum,
        SegmentOp::Mean,
        SegmentOp::Sqrt,
        SegmentOp::Max,
        SegmentOp::Min,
        SegmentOp::First,
        SegmentOp::Last,
    ];

    /// The name used in error texts and graphs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "segment_sum",
            Self::Mean => "segment_mean",
            Self::Sqrt => "segment_sqrt",
            Self::Max => "segment_max",
            Self::Min => "segment_min",
            Self::First => "segment_first",
            Self::Last => "segment_last",
        }
    }

    /// The operation of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The natural dtype of the result: the input's, but `f64` for the mean and root-scaled sum of integers and bool.
    pub const fn result_dtype(self, input: DType) -> DType {
        match self {
            Self::Mean | Self::Sqrt if !input.is_float() => DType::F64,
            _ => input,
        }
    }

    /// Whether each value comes from one row that can be named: `Max` and `Min`.
    pub const fn is_located(self) -> bool {
        matches!(self, Self::Max | Self::Min)
    }

    fn compute_kind(self, input: DType) -> ComputeKind {
        match self {
            Self::Mean | Self::Sqrt => ComputeKind::float(input),
            _ => ComputeKind::exact(input),
        }
    }
}

impl fmt::Display for SegmentOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reduces every segment of rows of `x` to one row of `out`; an empty segment gives `pad`.
///
/// `x` is `[rows, ..]`, `out` `[segments, ..]` of any dtype (values are cast). For `Max` and `Min`, `arg_out` may take, in
/// the shape of `out` and any integer dtype, the row each value came from (counted in the whole of `x`; the first of equal
/// values; -1 for an empty segment); it must not share a buffer with `out`. Rows are added in order, in blocks of 64, so the result depends on
/// nothing but the data.
///
/// ```
/// use lodestride_buffer::{Buffer, DType, Scalar};
/// use lodestride_kernels::{Operand, SegmentOp, segment_reduce};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, out) = (Buffer::from_vec(vec![1.0f32, 2.0, 3.0, 4.0])?, Buffer::zeroed(12)?);
/// let (rows, segments) = (Layout::contiguous([4], Order::C)?, Layout::contiguous([3], Order::C)?);
/// let x = Operand::new(&x, &rows, DType::F32)?;
/// let sums = Operand::new(&out, &segments, DType::F32)?;
/// segment_reduce(SegmentOp::Sum, x, &[0, 3, 3, 4], Scalar::Int(0), sums, None)?;
/// assert_eq!(out.read()?.slice::<f32>(), [6.0, 0.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, a shape does not fit, `arg_out` is given for another operation
/// or is not of an integer dtype, or a buffer cannot be accessed. Nothing is written then.
pub fn segment_reduce(
    op: SegmentOp,
    x: Operand<'_>,
    offsets: &[usize],
    pad: Scalar,
    out: Operand<'_>,
    arg_out: Option<Operand<'_>>,
) -> Result<(), KernelError> {
    let name = op.name();
    check_offsets(name, offsets, rows_of(name, x)?)?;
    let wanted = with_rows(x.shape(), offsets.len() - 1);
    door::check_output(name, out, &wanted)?;
    if let Some(arg) = arg_out {
        door::check_integer(name, arg)?;
        arg.check_shape(name, Argument::Output(1), &wanted)?;
        arg.check_writable(name)?;
        if !op.is_located() {
            return Err(KernelError::Count {
                op: name,
                what: "outputs",
                expected: 1,
                found: 2,
            });
        }
    }
    if let SegmentOp::First | SegmentOp::Last = op {
        return segment_ends(name, x, offsets, op == SegmentOp::Last, pad, out);
    }
    let outputs: smallvec::SmallVec<[_; 2]> = std::iter::once(out).chain(arg_out).collect();
    let copy = door::private_copy(name, Argument::X, x, &outputs)?;
    let guard = door::read(name, Argument::X, x, copy.as_ref())?;
    let mut out_guard = door::write(name, Argument::Z, out)?;
    let mut arg_guard = match arg_out {
        Some(arg) => Some(door::write(name, Argument::Output(1), arg)?),
        None => None,
    };
    let mut target = Target {
        sink: RowSink::new(out),
        guard: &mut out_guard,
        arg: arg_out.map(RowSink::new).zip(arg_guard.as_mut()),
        pad,
    };
    match op.compute_kind(x.dtype()) {
        ComputeKind::F32 => RowView::<f32>::with(&guard, x, |v| pool(op, v, offsets, &mut target)),
        ComputeKind::F64 => RowView::<f64>::with(&guard, x, |v| pool(op, v, offsets, &mut target)),
        ComputeKind::I64 => RowView::<i64>::with(&guard, x, |v| pool(op, v, offsets, &mut target)),
        ComputeKind::U64 => RowView::<u64>::with(&guard, x, |v| pool(op, v, offsets, &mut target)),
    }
    Ok(())
}

/// `shape` with another number of rows.
pub(crate) fn with_rows(shape: &[usize], rows: usize) -> Shape {
    let mut shape = Shape::from_slice(shape);
    shape[0] = rows;
    shape
}

/// Where pooled values go.
struct Target<'t, 'g> {
    sink: RowSink,
    guard: &'t mut WriteGuard<'g>,
    arg: Option<(RowSink, &'t mut WriteGuard<'g>)>,
    pad: Scalar,
}

pub(crate) fn pad_value<V: Compute>(pad: Scalar) -> V {
    match pad {
        Scalar::Bool(value) => V::load(u64::from(value)),
        Scalar::Int(value) => V::load(value),
        Scalar::UInt(value) => V::load(value),
        Scalar::Float(value) => V::load(value),
    }
}

fn pool<C: Addable + Magnitude>(
    op: SegmentOp,
    view: &RowView<'_, C>,
    offsets: &[usize],
    target: &mut Target<'_, '_>,
) {
    match op {
        SegmentOp::Sum => pool_with(SumPool(Divide::No), view, offsets, target),
        SegmentOp::Mean => pool_with(SumPool(Divide::ByCount), view, offsets, target),
        SegmentOp::Sqrt => pool_with(SumPool(Divide::ByRoot), view, offsets, target),
        SegmentOp::Max => pool_with(ExtremePool::<false>, view, offsets, target),
        SegmentOp::Min => pool_with(ExtremePool::<true>, view, offsets, target),
        // Those are moved, not computed (`segment_ends`).
        SegmentOp::First | SegmentOp::Last => {}
    }
}

/// Pools straight into rows of the compute type without gaps, anything else aside.
fn pool_with<C: Compute, P: Pool<C>>(
    pool: P,
    view: &RowView<'_, C>,
    offsets: &[usize],
    target: &mut Target<'_, '_>,
) {
    let (segments, width) = (offsets.len() - 1, view.row_len());
    if segments * width == 0 {
        return;
    }
    let pad = pad_value::<P::Value>(target.pad);
    // Rows go where they belong if that has room for them as they are.
    let dense_args = target
        .arg
        .as_ref()
        .and_then(|(sink, _)| sink.dense_start::<i64>(width));
    let aside = target.arg.is_some() && dense_args.is_none();
    let mut args_aside = vec![0; if aside { segments * width } else { 0 }];
    let args = match (&mut target.arg, dense_args) {
        (Some((_, guard)), Some(start)) => {
            &mut guard.slice_mut::<i64>()[start..][..segments * width]
        }
        _ => &mut args_aside[..],
    };
    args.fill(-1);
    let pooling = Pooling {
        pool,
        view,
        offsets,
    };
    if let Some(start) = target.sink.dense_start::<C>(width) {
        let out = &mut target.guard.slice_mut::<C>()[start..][..segments * width];
        pooling.run(C::load(pad), out, args);
    } else {
        let mut values = vec![pad; segments * width];
        pooling.run(pad, &mut values, args);
        for (segment, values) in values.chunks(width).enumerate() {
            target.sink.store(target.guard, segment, 0, values);
        }
    }
    if let Some((sink, guard)) = target.arg.as_mut().filter(|_| aside) {
        for (segment, args) in args_aside.chunks(width).enumerate() {
            sink.store(guard, segment, 0, args);
        }
    }
}

/// Segments to be pooled.
#[derive(Clone, Copy)]
struct Pooling<'a, C: Compute, P> {
    pool: P,
    view: &'a RowView<'a, C>,
    offsets: &'a [usize],
}

impl<C: Compute, P: Pool<C>> Pooling<'_, C, P> {
    /// Divides the segments among threads. `args` gets the rows that values came from, unless it is empty.
    fn run<T: Compute>(self, pad: T, mut out: &mut [T], mut args: &mut [i64]) {
        let (segments, width) = (self.offsets.len() - 1, self.view.row_len());
        let bytes = (self.offsets[segments] * width).saturating_mul(size_of::<C>());
        let parts = threads::parts(bytes, false).min(segments);
        let mut tasks = Vec::with_capacity(parts);
        for part in 0..parts {
            let range = balanced(self.offsets, parts, part);
            let (here, rest) = std::mem::take(&mut out).split_at_mut(range.len() * width);
            let known = args.len().min(here.len());
            let (args_here, args_rest) = std::mem::take(&mut args).split_at_mut(known);
            let offsets = &self.offsets[range.start..=range.end];
            tasks.push(PoolTask {
                pooling: Pooling { offsets, ..self },
                pad,
                out: here,
                args: args_here,
            });
            (out, args) = (rest, args_rest);
        }
        let level = Level::current();
        let is_run = (self.view.row_len(), self.view.row_stride) == (1, 1);
        threads::for_each_part(tasks.into_iter(), |task| match is_run {
            true => run_narrow_for::<C, _>(level, Elements(task)),
            false => run_for::<C, _>(level, task),
        });
    }
}

/// Some segments and their rows of the result.
struct PoolTask<'a, C: Compute, P, T> {
    pooling: Pooling<'a, C, P>,
    pad: T,
    out: &'a mut [T],
    args: &'a mut [i64],
}

impl<C: Compute, P: Pool<C>, T: Compute> Task for PoolTask<'_, C, P, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { pooling, pad, .. } = self;
        let (view, width) = (pooling.view, pooling.view.width);
        let far = view.row_stride == width as isize && stream::is_far(size_of_val(&*view.data));
        let mut out = self.out.chunks_mut(width);
        let mut args = self.args.chunks_mut(width);
        for pair in pooling.offsets.windows(2) {
            for (piece, out) in out.by_ref().take(view.pieces()).enumerate() {
                let args = args.next().unwrap_or_default();
                if pair[0] == pair[1] {
                    out.fill(pad);
                    continue;
                }
                let columns = Columns {
                    data: &view.data,
                    start: view.piece(pair[0], piece),
                    stride: view.row_stride,
                    rows: pair[1] - pair[0],
                    far,
                };
                let place = (pair[0], out, args);
                match width {
                    MOST.. if A::TUNED => {
                        in_blocks::<A, C, P, T, MOST>(pooling.pool, columns, place)
                    }
                    MANY.. if A::TUNED => {
                        in_blocks::<A, C, P, T, MANY>(pooling.pool, columns, place)
                    }
                    SOME.. => in_blocks::<A, C, P, T, SOME>(pooling.pool, columns, place),
                    _ => in_blocks::<A, C, P, T, 1>(pooling.pool, columns, place),
                }
            }
        }
    }
}

/// The same of rows of one element that follow each other.
struct Elements<'a, C: Compute, P, T>(PoolTask<'a, C, P, T>);

impl<C: Compute, P: Pool<C>, T: Compute> Task for Elements<'_, C, P, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        if P::IS_LOCATED && !self.0.args.is_empty() {
            self.pool::<A, true>();
        } else {
            self.pool::<A, false>();
        }
    }
}

impl<C: Compute, P: Pool<C>, T: Compute> Elements<'_, C, P, T> {
    #[inline(always)]
    fn pool<A: Arch, const WHERE: bool>(self) {
        let PoolTask {
            pooling,
            pad,
            out,
            args,
        } = self.0;
        let data = &pooling.view.data[pooling.view.start as usize..];
        for (index, pair) in pooling.offsets.windows(2).enumerate() {
            let (value, row) = if pair[0] == pair[1] {
                (pad, -1)
            } else {
                let rows = pair[1] - pair[0];
                let (value, row) = pooling.pool.fold_run::<A, WHERE>(rows, &data[pair[0]..]);
                (T::load(value), (pair[0] + row) as i64)
            };
            out[index] = value;
            if WHERE {
                args[index] = row;
            }
        }
    }
}

/// Columns folded together.
const MOST: usize = 128;
/// The same of narrower rows.
const MANY: usize = 32;
/// The same of rows narrower still.
const SOME: usize = 8;

/// Folds the columns of a piece of a segment, `W` at a time; the last block overlaps the one before.
#[inline(always)]
fn in_blocks<A: Arch, C: Compute, P: Pool<C>, T: Compute, const W: usize>(
    pool: P,
    columns: Columns<'_, C>,
    (first_row, out, args): (usize, &mut [T], &mut [i64]),
) {
    let mut at = 0;
    loop {
        let mut from = [0; W];
        let start = columns.start + at as isize;
        let values = pool.fold::<A, W>(Columns { start, ..columns }, &mut from);
        for (out, value) in out[at..].iter_mut().zip(values) {
            *out = T::load(value);
        }
        for (arg, row) in args.iter_mut().skip(at).zip(from) {
            *arg = (first_row + row as usize) as i64;
        }
        if at + W >= out.len() {
            return;
        }
        at = (at + W).min(out.len() - W);
    }
}
