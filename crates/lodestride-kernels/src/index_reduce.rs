//! Positions of extremes: the first largest or smallest value along an axis or of a whole array.
//!
//! Along an axis that is innermost in memory, the extreme of a block is found with lanes and then located; across rows,
//! a row of best values and a row of their positions are kept in L1.

use std::fmt;

use lodestride_buffer::{Argument, DType, WriteGuard};
use lodestride_shape::Shape;

use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Task};
use crate::numeric::{Compute, ComputeKind, run_for};
use crate::operand::Operand;
use crate::reduce_fold::{LaneFold, fold_run};
use crate::strided::{Dim, Dims, Source, collapse, count, dims_of, offset_at, store};

/// Which extreme is located.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgOp {
    /// The first largest value.
    ArgMax,
    /// The first smallest value.
    ArgMin,
    /// The first value of largest magnitude.
    ArgAbsMax,
    /// The first value of smallest magnitude.
    ArgAbsMin,
}

impl ArgOp {
    /// Every operation.
    pub const ALL: [ArgOp; 4] = [
        ArgOp::ArgMax,
        ArgOp::ArgMin,
        ArgOp::ArgAbsMax,
        ArgOp::ArgAbsMin,
    ];

    /// The name used in error texts and graphs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArgMax => "argmax",
            Self::ArgMin => "argmin",
            Self::ArgAbsMax => "arg_abs_max",
            Self::ArgAbsMin => "arg_abs_min",
        }
    }

    /// The operation of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The dtype of positions: always `i64`.
    pub const fn result_dtype(self, _input: DType) -> DType {
        DType::I64
    }
}

impl fmt::Display for ArgOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Writes the position of the extreme of `x` along `axis`, or in the whole array (as a logical C-order index) for `None`.
///
/// The first of equal values wins; a NaN beats every number, and the first NaN wins. `out` has the shape of `x` without
/// the axis, and any integer dtype.
///
/// # Errors
/// [`KernelError`] when the axis is out of range, `out` has another shape or is not of an integer dtype, an extreme of no
/// elements is asked for, or a buffer cannot be accessed. Nothing is written then.
pub fn index_reduce(
    op: ArgOp,
    x: Operand<'_>,
    axis: Option<usize>,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    let layout = x.layout();
    let mut kept: Shape = Shape::scalar();
    let mut reduced = Dims::new();
    let mut walk = Dims::new();
    for (index, dim) in dims_of(layout.shape(), layout.strides())
        .into_iter()
        .enumerate()
    {
        if axis.is_none_or(|axis| axis == index) {
            reduced.push(dim);
        } else {
            kept.push(dim.size);
            walk.push(dim);
        }
    }
    if let Some(axis) = axis {
        door::check_axis(op.name(), axis, layout.rank())?;
    }
    door::check_output(op.name(), out, &kept)?;
    door::check_integer(op.name(), out)?;
    if out.layout().is_empty() {
        return Ok(());
    }
    if layout.is_empty() {
        return Err(KernelError::EmptyReduction {
            op: op.name(),
            shape: Box::new(layout.shape().clone()),
        });
    }
    let copy = door::private_copy(op.name(), Argument::X, x, &[out])?;
    let guard = door::read(op.name(), Argument::X, x, copy.as_ref())?;
    let mut output = door::write(op.name(), Argument::Z, out)?;
    let search = Search {
        op,
        start: layout.offset() as isize,
        kept: walk,
        out: (out.layout().offset() as isize, out.layout().strides()),
        out_dtype: out.dtype(),
        reduced: collapse(reduced),
    };
    match ComputeKind::exact(x.dtype()) {
        ComputeKind::F32 => search.run::<f32>(&Source::new(&guard, x.dtype()), &mut output),
        ComputeKind::F64 => search.run::<f64>(&Source::new(&guard, x.dtype()), &mut output),
        ComputeKind::I64 => search.run::<i64>(&Source::new(&guard, x.dtype()), &mut output),
        ComputeKind::U64 => search.run::<u64>(&Source::new(&guard, x.dtype()), &mut output),
    }
    Ok(())
}

/// Outputs that are searched together.
const COLUMNS: usize = 256;
/// Elements that are searched at a time along one output.
const BLOCK: usize = 1024;

/// What values are ranked by: themselves or their magnitude.
pub(crate) trait Rank: Compute {
    type Magnitude: Compute;
    fn rank_magnitude(self) -> Self::Magnitude;
}

macro_rules! rank {
    ($($t:ty => $m:ty, $method:ident);*) => {$(
        impl Rank for $t {
            type Magnitude = $m;
            #[inline(always)]
            fn rank_magnitude(self) -> $m { <$t>::$method(self) }
        }
    )*};
}
// The magnitude of the most negative integer needs the unsigned type.
rank!(f32 => f32, abs; f64 => f64, abs; i64 => u64, unsigned_abs; u64 => u64, from);

/// An ordering: by value or magnitude, largest or smallest first.
trait Order<C>: Copy {
    type Key: Compute;
    const LARGEST: bool;
    fn key(value: C) -> Self::Key;

    /// Whether `new` replaces `best`: strictly better, or the first NaN.
    #[inline(always)]
    fn beats(new: Self::Key, best: Self::Key) -> bool {
        let better = if Self::LARGEST {
            new > best
        } else {
            new < best
        };
        // `&` and `|`: no branches, so that the loops vectorise.
        (better | new.is_nan()) & !best.is_nan()
    }
}

#[derive(Clone, Copy)]
struct ByValue<const LARGEST: bool>;

impl<C: Rank, const LARGEST: bool> Order<C> for ByValue<LARGEST> {
    type Key = C;
    const LARGEST: bool = LARGEST;
    #[inline(always)]
    fn key(value: C) -> C {
        value
    }
}

#[derive(Clone, Copy)]
struct ByMagnitude<const LARGEST: bool>;

impl<C: Rank, const LARGEST: bool> Order<C> for ByMagnitude<LARGEST> {
    type Key = C::Magnitude;
    const LARGEST: bool = LARGEST;
    #[inline(always)]
    fn key(value: C) -> C::Magnitude {
        value.rank_magnitude()
    }
}

/// The best key of a run.
#[derive(Clone, Copy)]
struct BestKey<O>(std::marker::PhantomData<fn() -> O>);

impl<C: Compute, O: Order<C>> LaneFold<C> for BestKey<O> {
    type Lane = O::Key;
    type Total = O::Key;
    #[inline(always)]
    fn lane(&self) -> O::Key {
        if O::LARGEST {
            O::Key::LOWEST
        } else {
            O::Key::HIGHEST
        }
    }
    #[inline(always)]
    fn step(&self, lane: O::Key, value: C) -> O::Key {
        self.merge(lane, O::key(value))
    }
    #[inline(always)]
    fn lift(&self, lane: O::Key) -> O::Key {
        lane
    }
    #[inline(always)]
    fn merge(&self, left: O::Key, right: O::Key) -> O::Key {
        if O::LARGEST {
            left.larger(right)
        } else {
            left.smaller(right)
        }
    }
}

struct Search<'a> {
    op: ArgOp,
    start: isize,
    kept: Dims,
    out: (isize, &'a [isize]),
    out_dtype: DType,
    /// In logical order: the first occurrence is first in C order.
    reduced: Dims,
}

impl Search<'_> {
    fn run<C: Rank>(&self, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        match self.op {
            ArgOp::ArgMax => self.run_by::<C, ByValue<true>>(source, output),
            ArgOp::ArgMin => self.run_by::<C, ByValue<false>>(source, output),
            ArgOp::ArgAbsMax => self.run_by::<C, ByMagnitude<true>>(source, output),
            ArgOp::ArgAbsMin => self.run_by::<C, ByMagnitude<false>>(source, output),
        }
    }

    fn run_by<C: Compute, O: Order<C>>(&self, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        let Some((&row, outer)) = self.kept.split_last() else {
            let best = self.best_of::<C, O>(source, self.start);
            store(output, self.out_dtype, self.out.0, 1, &[best]);
            return;
        };
        let out_dims = dims_of(
            &self
                .kept
                .iter()
                .map(|d| d.size)
                .collect::<smallvec::SmallVec<[usize; 6]>>(),
            self.out.1,
        );
        let (out_row, out_outer) = (
            out_dims[out_dims.len() - 1],
            &out_dims[..out_dims.len() - 1],
        );
        let step = self
            .reduced
            .last()
            .map_or(isize::MAX, |dim| dim.stride.abs());
        let sweep = row.size >= 8 && row.stride.abs() < step;
        for line in 0..count(outer) {
            for first in (0..row.size).step_by(COLUMNS) {
                let piece = Dim {
                    size: COLUMNS.min(row.size - first),
                    stride: row.stride,
                };
                let x = self.start + offset_at(outer, line) + first as isize * row.stride;
                let mut best = [0i64; COLUMNS];
                let best = &mut best[..piece.size];
                if sweep {
                    self.sweep::<C, O>(source, x, piece, best);
                } else {
                    for (column, best) in best.iter_mut().enumerate() {
                        *best = self.best_of::<C, O>(source, x + column as isize * piece.stride);
                    }
                }
                let at = self.out.0 + offset_at(out_outer, line) + first as isize * out_row.stride;
                store(output, self.out_dtype, at, out_row.stride, best);
            }
        }
    }

    /// The position of the best element of the sequence that starts at `start`.
    fn best_of<C: Compute, O: Order<C>>(&self, source: &Source<'_, C>, start: isize) -> i64 {
        let whole = [Dim { size: 1, stride: 1 }];
        let (last, outer) = self.reduced.split_last().unwrap_or((&whole[0], &[]));
        let native = source.native().filter(|_| last.stride == 1);
        let mut best: Option<(O::Key, usize)> = None;
        for run in 0..count(outer) {
            let from = start + offset_at(outer, run);
            for first in (0..last.size).step_by(BLOCK) {
                let len = BLOCK.min(last.size - first);
                let at = from + first as isize * last.stride;
                let found = match native {
                    Some(data) => best_in::<C, O>(&data[at as usize..][..len], best),
                    None if len <= 64 => {
                        let mut tile = [C::ZERO; 64];
                        source.load(at, last.stride, &mut tile[..len]);
                        best_in::<C, O>(&tile[..len], best)
                    }
                    None => {
                        let mut tile = [C::ZERO; BLOCK];
                        source.load(at, last.stride, &mut tile[..len]);
                        best_in::<C, O>(&tile[..len], best)
                    }
                };
                if let Some((key, position)) = found {
                    best = Some((key, run * last.size + first + position));
                    if key.is_nan() {
                        return (run * last.size + first + position) as i64;
                    }
                }
            }
        }
        best.map_or(0, |(_, position)| position as i64)
    }

    fn sweep<C: Compute, O: Order<C>>(
        &self,
        source: &Source<'_, C>,
        start: isize,
        piece: Dim,
        out: &mut [i64],
    ) {
        let native = source.native().filter(|_| piece.stride == 1);
        let mut keys = [O::Key::ZERO; COLUMNS];
        let keys = &mut keys[..piece.size];
        let mut tile = [C::ZERO; COLUMNS];
        let mut positions = [0u32; COLUMNS];
        let rows = count(&self.reduced);
        for first in (0..rows).step_by(CHUNK) {
            let positions = &mut positions[..piece.size];
            positions.fill(u32::MAX);
            for row in first..rows.min(first + CHUNK) {
                let at = start + offset_at(&self.reduced, row);
                let line = match native {
                    Some(data) => &data[at as usize..][..piece.size],
                    None => {
                        source.load(at, piece.stride, &mut tile[..piece.size]);
                        &tile[..piece.size]
                    }
                };
                run_for::<C, _>(Step::<C, O> {
                    line,
                    keys,
                    positions,
                    row: (row - first) as u32,
                    is_first: row == 0,
                });
            }
            for (out, &position) in out.iter_mut().zip(positions.iter()) {
                if position != u32::MAX {
                    *out = (first + position as usize) as i64;
                }
            }
        }
    }
}

/// Rows after which 32-bit positions are carried over to 64 bits.
const CHUNK: usize = 1 << 30;

/// The first element of `run` that beats `best`'s key and is the best of the run.
fn best_in<C: Compute, O: Order<C>>(
    run: &[C],
    best: Option<(O::Key, usize)>,
) -> Option<(O::Key, usize)> {
    let key = fold_run(BestKey::<O>(std::marker::PhantomData), run);
    if best.is_some_and(|(best, _)| !O::beats(key, best)) {
        return None;
    }
    run_for::<C, _>(Locate::<C, O> { run, key }).map(|position| (key, position))
}

/// Where a key first stands in a run: a vector scan for the piece that has it, then that piece.
struct Locate<'a, C, O: Order<C>> {
    run: &'a [C],
    key: O::Key,
}

impl<C: Compute, O: Order<C>> Task for Locate<'_, C, O> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<A: Arch>(self) -> Option<usize> {
        let Self { run, key } = self;
        let is_nan = key.is_nan();
        let found = |&value: &C| {
            let candidate = O::key(value);
            (candidate == key) | (candidate.is_nan() & is_nan)
        };
        for (index, piece) in run.chunks(64).enumerate() {
            if piece.iter().fold(false, |any, value| any | found(value)) {
                return piece.iter().position(found).map(|at| index * 64 + at);
            }
        }
        None
    }
}

/// One row of a sweep: columns it beats take its keys and position.
struct Step<'a, C, O: Order<C>> {
    line: &'a [C],
    keys: &'a mut [O::Key],
    positions: &'a mut [u32],
    row: u32,
    is_first: bool,
}

impl<C: Compute, O: Order<C>> Task for Step<'_, C, O> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        // Locals: behind `self` the compiler would reload them after every store.
        let Self {
            line,
            keys,
            positions,
            row,
            is_first,
        } = self;
        for ((best, position), &value) in keys.iter_mut().zip(positions).zip(line) {
            let key = O::key(value);
            let take = is_first | O::beats(key, *best);
            *best = if take { key } else { *best };
            *position = if take { row } else { *position };
        }
    }
}
