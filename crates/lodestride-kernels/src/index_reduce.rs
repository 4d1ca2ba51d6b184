//! Positions of extremes: the first largest or smallest value along an axis or of a whole array.
//!
//! Along an axis that is innermost in memory, the extreme of a block is found with lanes and then located; across rows,
//! a row of best values and a row of their positions are kept in L1.

use std::fmt;
use std::ops::Range;

use lodestride_buffer::{Argument, DType, WriteGuard};
use lodestride_shape::Shape;

use crate::across::Lines;
use crate::door;
use crate::error::KernelError;
use crate::index_search::{AnyOrder, ByMagnitude, ByValue, Rank};
use crate::numeric::{Compute, ComputeKind};
use crate::operand::{Operand, Output};
use crate::reduce_data::{Rows, Runs};
use crate::reduce_extremes::first_places;
use crate::reduce_fold::{BLOCK, COLUMNS, ROWS};
use crate::reduce_kinds::Magnitude;
use crate::strided::{Dim, Dims, Source, collapse, count, dims_of, offset_at, store};
use crate::{spread, threads};

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
pub fn index_reduce<'a>(
    op: ArgOp,
    x: Operand<'a>,
    axis: Option<usize>,
    out: impl Into<Output<'a>>,
) -> Result<(), KernelError> {
    index_reduce_to(op, x, axis, out.into())
}

fn index_reduce_to(
    op: ArgOp,
    x: Operand<'_>,
    axis: Option<usize>,
    mut output: Output<'_>,
) -> Result<(), KernelError> {
    let out = *output.operand();
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
    let output = output.guard(op.name())?;
    let search = Search {
        op,
        start: layout.offset() as isize,
        kept: walk,
        out: (out.layout().offset() as isize, out.layout().strides()),
        out_dtype: out.dtype(),
        reduced: collapse(reduced),
    };
    if x.dtype().is_integer()
        && let [Dim { size, stride: 1 }] = *search.reduced.as_slice()
        && let Some(places) =
            first_places(op, (&guard, x.dtype()), (search.start, &search.kept), size)
    {
        search.write(&places, output);
        return Ok(());
    }
    match ComputeKind::exact(x.dtype()) {
        ComputeKind::F32 => search.run::<f32>(&Source::new(&guard, x.dtype()), output),
        ComputeKind::F64 => search.run::<f64>(&Source::new(&guard, x.dtype()), output),
        ComputeKind::I64 => search.run::<i64>(&Source::new(&guard, x.dtype()), output),
        ComputeKind::U64 => search.run::<u64>(&Source::new(&guard, x.dtype()), output),
    }
    Ok(())
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
    /// Stores the positions for all outputs, in C order.
    fn write(&self, places: &[i64], output: &mut WriteGuard<'_>) {
        let sizes: Shape = self.kept.iter().map(|dim| dim.size).collect();
        let out = collapse(dims_of(&sizes, self.out.1));
        let one = Dim { size: 1, stride: 0 };
        let (row, outer) = out.split_last().unwrap_or((&one, &[]));
        for (line, places) in places.chunks(row.size).enumerate() {
            let start = self.out.0 + offset_at(outer, line);
            store(output, self.out_dtype, start, row.stride, places);
        }
    }

    fn run<C: Rank + Magnitude>(&self, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        // What has no sign is its own magnitude.
        let by_value = const { matches!(C::KIND, ComputeKind::U64) };
        let smallest = matches!(self.op, ArgOp::ArgMin | ArgOp::ArgAbsMin);
        if by_value || matches!(self.op, ArgOp::ArgMax | ArgOp::ArgMin) {
            let order: &dyn AnyOrder<C, C> = if smallest {
                &ByValue::<true>
            } else {
                &ByValue::<false>
            };
            self.run_by(order, source, output);
        } else {
            let order: &dyn AnyOrder<C, C::Magnitude> = if smallest {
                &ByMagnitude::<true>
            } else {
                &ByMagnitude::<false>
            };
            self.run_by(order, source, output);
        }
    }

    fn run_by<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
    ) {
        let Some((&row, outer)) = self.kept.split_last() else {
            let best = self.best_alone(order, source);
            store(output, self.out_dtype, self.out.0, 1, &[best]);
            return;
        };
        let sizes: Shape = self.kept.iter().map(|dim| dim.size).collect();
        let out_dims = dims_of(&sizes, self.out.1);
        let (out_outer, out_step) = (&out_dims[..outer.len()], self.out.1[outer.len()]);
        let per_line = row.size.div_ceil(COLUMNS);
        let piece = |index: usize| {
            let (line, first) = (index / per_line, index % per_line * COLUMNS);
            let x = self.start + offset_at(outer, line) + first as isize * row.stride;
            let out = self.out.0 + offset_at(out_outer, line) + first as isize * out_step;
            let size = COLUMNS.min(row.size - first);
            let stride = row.stride;
            (x, out, Dim { size, stride })
        };
        let mut put = |index: usize, best: &[i64]| {
            store(output, self.out_dtype, piece(index).1, out_step, best);
        };
        let pieces = count(outer) * per_line;
        let elements = count(&self.kept) * count(&self.reduced);
        if pieces > 1 && is_worth_threads::<C>(elements) {
            // Batches bound the memory of results that wait for their turn to be stored.
            for first in (0..pieces).step_by(BATCH) {
                let found = spread::map(BATCH.min(pieces - first), |index| {
                    let (x, _, columns) = piece(first + index);
                    let mut best = vec![0; columns.size];
                    self.search(order, source, x, columns, &mut best);
                    best
                });
                for (index, best) in found.iter().enumerate() {
                    put(first + index, best);
                }
            }
        } else if row.size <= FEW_COLUMNS {
            self.each(order, source, pieces, &mut [0; FEW_COLUMNS], piece, put);
        } else {
            self.each(order, source, pieces, &mut [0; COLUMNS], piece, put);
        }
    }

    /// All pieces on this thread; `best` has room for one.
    fn each<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        pieces: usize,
        best: &mut [i64],
        piece: impl Fn(usize) -> (isize, isize, Dim),
        mut put: impl FnMut(usize, &[i64]),
    ) {
        for index in 0..pieces {
            let (x, _, columns) = piece(index);
            let best = &mut best[..columns.size];
            self.search(order, source, x, columns, best);
            put(index, best);
        }
    }

    /// The positions for neighbouring outputs, the first of which starts at `x`.
    fn search<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        x: isize,
        columns: Dim,
        best: &mut [i64],
    ) {
        let last = self.reduced.last().copied();
        let step = last.map_or(isize::MAX, |dim| dim.stride.abs());
        if columns.size >= 8 && columns.stride.abs() < step {
            self.sweep(order, source, x, columns, best);
            return;
        }
        if let (Some(data), [whole], true) = (
            source.native(),
            self.reduced.as_slice(),
            step == 1 && columns.stride >= 0,
        ) && whole.stride == 1
        {
            let runs = Runs::new(data, x as usize, columns.stride as usize, whole.size);
            order.best_of_runs(runs, best);
            return;
        }
        if let [whole] = self.reduced.as_slice()
            && whole.size <= BLOCK
            && best.len() * whole.size >= SEVERAL
        {
            self.search_copies(order, source, x, (columns.stride, *whole), best);
            return;
        }
        for (column, best) in best.iter_mut().enumerate() {
            let start = x + column as isize * columns.stride;
            *best = self
                .best_of(order, source, start, 0..self.blocks())
                .map_or(0, |(_, position)| position as i64);
        }
    }

    /// The positions for neighbouring outputs whose elements do not lie side by side: some runs at a time are copied.
    #[inline(never)]
    fn search_copies<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        x: isize,
        (stride, whole): (isize, Dim),
        best: &mut [i64],
    ) {
        let mut tile = [C::ZERO; BLOCK];
        let together = BLOCK / whole.size;
        for (group, best) in best.chunks_mut(together).enumerate() {
            let x = x + (group * together) as isize * stride;
            for (row, run) in tile
                .chunks_exact_mut(whole.size)
                .take(best.len())
                .enumerate()
            {
                source.load(x + row as isize * stride, whole.stride, run);
            }
            order.best_of_runs(Runs::new(&tile, 0, whole.size, whole.size), best);
        }
    }

    /// The single position of a search without kept axes, its superblocks shared among threads.
    fn best_alone<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
    ) -> i64 {
        let blocks = self.blocks();
        let parts = blocks.div_ceil(SUPERBLOCK);
        let found = if parts > 1 && is_worth_threads::<C>(count(&self.reduced)) {
            let parts = spread::map(parts, |part| {
                let end = blocks.min((part + 1) * SUPERBLOCK);
                self.best_of(order, source, self.start, part * SUPERBLOCK..end)
            });
            parts.into_iter().flatten().reduce(|best, next| {
                if order.beats(next.0, best.0) {
                    next
                } else {
                    best
                }
            })
        } else {
            self.best_of(order, source, self.start, 0..blocks)
        };
        found.map_or(0, |(_, position)| position as i64)
    }

    fn blocks(&self) -> usize {
        let last = self.reduced.last().map_or(1, |dim| dim.size);
        count(&self.reduced) / last.max(1) * last.div_ceil(BLOCK)
    }

    /// The best element, and its position, in some blocks of the sequence that starts at `start`.
    fn best_of<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        start: isize,
        blocks: Range<usize>,
    ) -> Option<(K, usize)> {
        let whole = [Dim { size: 1, stride: 1 }];
        let (last, outer) = self.reduced.split_last().unwrap_or((&whole[0], &[]));
        let native = source.native().filter(|_| last.stride == 1);
        let per_run = last.size.div_ceil(BLOCK);
        let mut best: Option<(K, usize)> = None;
        for block in blocks {
            let (run, first) = (block / per_run, block % per_run * BLOCK);
            let len = BLOCK.min(last.size - first);
            let at = start + offset_at(outer, run) + first as isize * last.stride;
            let found = match native {
                Some(data) => order.best_in(&data[at as usize..][..len], best),
                None if len <= 64 => {
                    let mut tile = [C::ZERO; 64];
                    source.load(at, last.stride, &mut tile[..len]);
                    order.best_in(&tile[..len], best)
                }
                None => {
                    let mut tile = [C::ZERO; BLOCK];
                    source.load(at, last.stride, &mut tile[..len]);
                    order.best_in(&tile[..len], best)
                }
            };
            if let Some((key, position)) = found {
                best = Some((key, run * last.size + first + position));
                if key.is_nan() {
                    break;
                }
            }
        }
        best
    }

    /// Row after row: a row of best keys and a row of their positions stay in L1.
    fn sweep<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        start: isize,
        piece: Dim,
        out: &mut [i64],
    ) {
        let native = source.native().filter(|_| piece.stride == 1);
        let width = piece.size;
        let mut keys = Lines([K::ZERO; COLUMNS]);
        let keys = &mut keys.0[..width];
        let mut tile = [C::ZERO; COLUMNS];
        let (mut offsets, mut positions) = ([0; ROWS], Lines([0u32; COLUMNS]));
        let positions = &mut positions.0[..width];
        let rows = count(&self.reduced);
        // As many rows as fit in the tile.
        let batch = match native {
            Some(_) => ROWS,
            None => (COLUMNS / width).clamp(1, ROWS),
        };
        for first in (0..rows).step_by(batch) {
            let count = batch.min(rows - first);
            for (row, offset) in offsets[..count].iter_mut().enumerate() {
                *offset = (start + offset_at(&self.reduced, first + row)) as usize;
            }
            if native.is_none() {
                let tile = &mut tile[..count * width];
                source.load_rows(&offsets[..count], piece.stride, tile);
                let places = offsets.iter_mut().zip((0..).step_by(width));
                places.for_each(|(offset, place)| *offset = place);
            }
            positions.fill(u32::MAX);
            let rows = Rows {
                data: native.unwrap_or(&tile),
                offsets: &offsets[..count],
                width,
            };
            order.step(rows, first == 0, keys, positions);
            for (out, &position) in out.iter_mut().zip(positions.iter()) {
                // A choice, not a branch: positions change too often to be guessed.
                let found = first as i64 + i64::from(position);
                *out = if position == u32::MAX { *out } else { found };
            }
        }
    }
}

/// Elements of runs from which on a copy of several at a time is worth its memory.
const SEVERAL: usize = 1024;
/// Pieces that threads search before their results are stored.
const BATCH: usize = 64;
/// Outputs up to which a small stack array is used.
const FEW_COLUMNS: usize = 32;
/// Blocks of a superblock, the unit that threads share.
const SUPERBLOCK: usize = 64;

/// Whether searching so many elements is worth several threads.
fn is_worth_threads<C>(elements: usize) -> bool {
    threads::are_worth(elements.saturating_mul(size_of::<C>()), false)
}
