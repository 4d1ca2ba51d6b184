//! Reducing segments of rows: sum, mean, root-scaled sum, extremes, first, last; their gradients; repeating rows.
//!
//! Rows are the slices along axis 0; `offsets` divides them: segment `i` is the rows `offsets[i]..offsets[i + 1]`, possibly
//! none. Accumulators of up to 256 columns stay in L1 while the rows of a segment go by.

use std::fmt;

use lodestride_buffer::{Argument, DType, Scalar, WriteGuard};
use lodestride_shape::Shape;

use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Task};
use crate::numeric::{Compute, ComputeKind, run_for};
use crate::operand::Operand;
use crate::reduce_fold::{BLOCK, ROWS, Rows, lanes_of_rows, lanes_of_run};
use crate::reduce_kinds::{Addable, Magnitude, Sum};
use crate::segment_rows::{RowSink, RowView, balanced, check_offsets, rows_of};
use crate::spread;

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

impl Target<'_, '_> {
    fn put<V: Compute>(&mut self, segment: usize, position: usize, values: &[V], args: &[i64]) {
        self.sink.store(self.guard, segment, position, values);
        if let Some((sink, guard)) = &mut self.arg {
            sink.store(guard, segment, position, args);
        }
    }
}

fn pad_value<V: Compute>(pad: Scalar) -> V {
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
        SegmentOp::First => ends(false, view, offsets, target),
        SegmentOp::Last => ends(true, view, offsets, target),
    }
}

/// Columns folded together: their accumulators stay in L1.
const WIDTH: usize = 256;

/// How the rows of one segment are folded, up to [`WIDTH`] columns at a time.
trait Pool<C: Compute>: Copy + Sync {
    type Value: Compute;
    /// What is kept between calls, so that short segments do not pay for filling it.
    type Scratch;
    fn scratch(&self) -> Self::Scratch;
    /// Folds at least one row into one value per column; `from` gets the row it came from, where that is located.
    fn fold(
        &self,
        columns: Columns<'_, C>,
        scratch: &mut Self::Scratch,
        values: &mut [Self::Value],
        from: &mut [u32],
    );
}

/// Some neighbouring columns of the rows of a segment.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) start: isize,
    pub(crate) stride: isize,
    pub(crate) rows: usize,
    pub(crate) width: usize,
}

impl<'a, C> Columns<'a, C> {
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &'a [C] {
        let start = (self.start + row as isize * self.stride) as usize;
        &self.data[start..start + self.width]
    }
}

#[derive(Clone, Copy)]
enum Divide {
    No,
    ByCount,
    ByRoot,
}

#[derive(Clone, Copy)]
struct SumPool(Divide);

/// Accumulators of a sum.
struct Sums<C: Addable> {
    totals: [C::Sum; WIDTH],
    sums: [C; WIDTH],
    offsets: [usize; ROWS],
}

impl<C: Addable + Magnitude> Pool<C> for SumPool {
    type Value = C::Value;
    type Scratch = Sums<C>;

    fn scratch(&self) -> Sums<C> {
        Sums {
            totals: [C::NOTHING; WIDTH],
            sums: [C::ZERO; WIDTH],
            offsets: [0; ROWS],
        }
    }

    #[inline(always)]
    fn fold(
        &self,
        columns: Columns<'_, C>,
        scratch: &mut Sums<C>,
        values: &mut [C::Value],
        _from: &mut [u32],
    ) {
        let totals = &mut scratch.totals[..columns.width];
        totals.fill(C::NOTHING);
        if columns.width == 1 && columns.stride == 1 {
            // Rows of one element are a run.
            let run = &columns.data[columns.start as usize..][..columns.rows];
            for block in run.chunks(BLOCK) {
                totals[0] = C::plus(totals[0], lanes_of_run(Sum::<false>, block));
            }
        } else {
            for block in (0..columns.rows).step_by(ROWS) {
                let rows = ROWS.min(columns.rows - block);
                let offsets = &mut scratch.offsets[..rows];
                for (row, offset) in offsets.iter_mut().enumerate() {
                    *offset = (columns.start + (block + row) as isize * columns.stride) as usize;
                }
                let rows = Rows {
                    data: columns.data,
                    offsets,
                    width: columns.width,
                };
                let sums = &mut scratch.sums[..columns.width];
                sums.fill(C::ZERO);
                lanes_of_rows(rows, sums, |sum, value| sum.add(value));
                for (total, &sum) in totals.iter_mut().zip(sums.iter()) {
                    *total = C::plus(*total, sum.widen());
                }
            }
        }
        let divisor = match self.0 {
            Divide::No => None,
            Divide::ByCount => Some(columns.rows as f64),
            Divide::ByRoot => Some((columns.rows as f64).sqrt()),
        };
        for (value, &total) in values.iter_mut().zip(totals.iter()) {
            *value = match divisor {
                None => C::value(total),
                Some(divisor) => C::divided(total, divisor),
            };
        }
    }
}

#[derive(Clone, Copy)]
struct ExtremePool<const MIN: bool>;

impl<C: Compute, const MIN: bool> Pool<C> for ExtremePool<MIN> {
    type Value = C;
    type Scratch = ();

    fn scratch(&self) {}

    #[inline(always)]
    fn fold(&self, columns: Columns<'_, C>, (): &mut (), values: &mut [C], from: &mut [u32]) {
        values.copy_from_slice(columns.row(0));
        from.fill(0);
        for index in 1..columns.rows {
            let best = values.iter_mut().zip(from.iter_mut());
            for ((best, from), &value) in best.zip(columns.row(index)) {
                let better = if MIN { value < *best } else { value > *best };
                *best = if better { value } else { *best };
                *from = if better { index as u32 } else { *from };
            }
        }
    }
}

/// Copies the first or last row of every segment, or the padding of an empty one.
fn ends<C: Compute>(
    last: bool,
    view: &RowView<'_, C>,
    offsets: &[usize],
    target: &mut Target<'_, '_>,
) {
    let (width, mut tile) = (view.row_len(), [C::ZERO; 256]);
    for (segment, pair) in offsets.windows(2).enumerate() {
        for position in (0..width).step_by(256) {
            let tile = &mut tile[..(width - position).min(256)];
            if pair[0] == pair[1] {
                tile.fill(pad_value(target.pad));
            } else {
                let row = if last { pair[1] - 1 } else { pair[0] };
                view.load(row, position, tile);
            }
            target.put(segment, position, tile, &[]);
        }
    }
}

fn pool_with<C: Compute, P: Pool<C>>(
    pool: P,
    view: &RowView<'_, C>,
    offsets: &[usize],
    target: &mut Target<'_, '_>,
) {
    let segments = offsets.len() - 1;
    let width = view.row_len();
    let pad = pad_value::<P::Value>(target.pad);
    if width == 0 {
        return;
    }
    if segments > 1 && spread::is_worth(offsets[segments] * width) {
        let parts = (4 * crate::threads::threads()).min(segments);
        let with_args = target.arg.is_some();
        let pooled = spread::map(parts, |part| {
            let range = balanced(offsets, parts, part);
            let mut values = vec![pad; range.len() * width];
            let mut args = vec![-1; if with_args { values.len() } else { 0 }];
            let first = range.start;
            run_for::<C, _>(PoolTask {
                pool,
                view,
                offsets,
                range,
                put: &mut |segment, position, found, from| {
                    let at = (segment - first) * width + position;
                    values[at..at + found.len()].copy_from_slice(found);
                    if with_args {
                        args[at..at + from.len()].copy_from_slice(from);
                    }
                },
            });
            (first, values, args)
        });
        for (first, values, args) in &pooled {
            for (index, values) in values.chunks(width).enumerate() {
                let args = args.get(index * width..(index + 1) * width).unwrap_or(&[]);
                target.put(first + index, 0, values, args);
            }
        }
        return;
    }
    run_for::<C, _>(PoolTask {
        pool,
        view,
        offsets,
        range: 0..segments,
        put: &mut |segment, position, values, args| {
            target.put(segment, position, values, args);
        },
    });
    let (pads, nowhere) = ([pad; 64], [-1; 64]);
    for segment in (0..segments).filter(|&s| offsets[s] == offsets[s + 1]) {
        for position in (0..width).step_by(64) {
            let len = (width - position).min(64);
            target.put(segment, position, &pads[..len], &nowhere[..len]);
        }
    }
}

/// Takes results: segment, position in the row, values, rows they came from.
type Put<'p, V> = dyn FnMut(usize, usize, &[V], &[i64]) + 'p;

/// Pools a range of segments; empty ones are passed over.
struct PoolTask<'a, C: Compute, P: Pool<C>> {
    pool: P,
    view: &'a RowView<'a, C>,
    offsets: &'a [usize],
    range: std::ops::Range<usize>,
    put: &'a mut Put<'a, P::Value>,
}

impl<C: Compute, P: Pool<C>> Task for PoolTask<'_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let view = self.view;
        let mut values = [P::Value::ZERO; WIDTH];
        let (mut from, mut args) = ([0u32; WIDTH], [0i64; WIDTH]);
        let mut scratch = self.pool.scratch();
        for segment in self.range.clone() {
            let (start, end) = (self.offsets[segment], self.offsets[segment + 1]);
            if start == end {
                continue;
            }
            for piece in 0..view.pieces() {
                for column in (0..view.width).step_by(WIDTH) {
                    let width = WIDTH.min(view.width - column);
                    let columns = Columns {
                        data: &view.data,
                        start: view.piece(start, piece) + column as isize,
                        stride: view.row_stride,
                        rows: end - start,
                        width,
                    };
                    self.pool.fold(
                        columns,
                        &mut scratch,
                        &mut values[..width],
                        &mut from[..width],
                    );
                    for (arg, &row) in args.iter_mut().zip(&from[..width]) {
                        *arg = start as i64 + i64::from(row);
                    }
                    let position = piece * view.width + column;
                    (self.put)(segment, position, &values[..width], &args[..width]);
                }
            }
        }
    }
}
