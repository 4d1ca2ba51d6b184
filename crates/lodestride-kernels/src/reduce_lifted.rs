//! Runs that are folded as they are read: of halves, which become numbers, and of every second number. A tile between the two
//! would cost another pass.

use half::{bf16, f16};
use lodestride_buffer::DType;
use std::marker::PhantomData;
use std::ops::Range;

use crate::isa::{Arch, Isa, Level, Plain, Task};
use crate::numeric::{Compute, ComputeKind, Numeric};
use crate::reduce_fold::{
    BLOCK, LANES, LONG, LaneFold, LaneRoom, Reducer, fold_run, lanes_of_run, with_rest,
};
use crate::reduce_plan::Plan;
use crate::strided::Source;

/// Elements that take a step before they are folded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lift<'a, C> {
    /// Neighbouring halves.
    Half(&'a [f16]),
    /// The same of the other kind.
    Brain(&'a [bf16]),
    /// Every second number.
    Second(&'a [C]),
}

/// Rows whose columns are folded together.
const TOGETHER: usize = 4;

/// Several such runs of equal length: the first begins at `start`, each other `step` elements on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiftedRuns<'a, C> {
    pub(crate) data: Lift<'a, C>,
    pub(crate) start: usize,
    pub(crate) step: usize,
    pub(crate) len: usize,
}

/// Rows of such elements, of equal width, each from an offset on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiftedRows<'a, C> {
    pub(crate) data: Lift<'a, C>,
    pub(crate) offsets: &'a [usize],
    pub(crate) width: usize,
}

/// Folds so many blocks of the only reduced axis for each of some outputs, of which the first begins at `x`; false, with
/// nothing done, where there is no way that gains.
pub(crate) fn fold_blocks<C: Compute, T: Copy + Send + Sync, V: Compute>(
    (plan, source): (&Plan, &Source<'_, C>),
    reducer: &dyn Reducer<C, Total = T, Value = V>,
    (x, blocks): (isize, Range<usize>),
    totals: &mut [T],
) -> bool {
    if const { !C::VECTOR } {
        return false;
    }
    let [run] = plan.reduced.as_slice() else {
        return false;
    };
    // Shorter ones are folded side by side.
    let Some(data) = source.lift(run.stride).filter(|_| run.size >= LONG) else {
        return false;
    };
    if !reducer.lifts() {
        return false;
    }
    let runs = |start, step, len| LiftedRuns {
        data,
        start,
        step,
        len,
    };
    let (start, step, stride) = (x as usize, plan.inner.x as usize, run.stride as usize);
    if run.size <= BLOCK {
        reducer.lifted(runs(start, step, run.size), totals);
        return true;
    }
    for (column, total) in totals.iter_mut().enumerate() {
        *total = reducer.empty();
        for block in blocks.clone() {
            let (at, mut own) = (block * BLOCK, [reducer.empty()]);
            let from = start + column * step + at * stride;
            reducer.lifted(runs(from, 0, BLOCK.min(run.size - at)), &mut own);
            reducer.merge_all(std::slice::from_mut(total), &own);
        }
    }
    true
}

/// Whether [`fold_lifted`] gains: not on the baseline, whose loops convert no faster in registers.
pub(crate) fn is_tuned() -> bool {
    Isa::detect() != Isa::Baseline
}

/// Folds runs of at most a block, one for every total, which is overwritten: as they are folded where they lie in a tile.
pub(crate) fn fold_lifted<C: Compute, F: LaneFold<C>>(
    fold: F,
    runs: LiftedRuns<'_, C>,
    totals: &mut [F::Total],
) {
    match runs.data {
        Lift::Half(data) if const { C::KIND as u8 == ComputeKind::F32 as u8 } => {
            run(fold, Widened(data), runs, totals);
        }
        Lift::Brain(data) if const { C::KIND as u8 == ComputeKind::F32 as u8 } => {
            run(fold, Widened(data), runs, totals);
        }
        Lift::Second(data) if const { C::VECTOR } => run(fold, EverySecond(data), runs, totals),
        // No source has others: see `Source::lift`.
        _ => {}
    }
}

fn run<C: Compute, F: LaneFold<C>, S: Lifted<C>>(
    fold: F,
    source: S,
    runs: LiftedRuns<'_, C>,
    totals: &mut [F::Total],
) {
    let LiftedRuns {
        start, step, len, ..
    } = runs;
    let task = LiftedTask {
        kind: PhantomData::<C>,
        fold,
        source,
        places: (start, step, len),
        totals,
    };
    // Chunks of halves go through memory, where wider vectors gain nothing.
    let done = if const { S::STEP == 1 } {
        Level::current().run_narrow_tuned(task)
    } else {
        Level::current().run_tuned(task)
    };
    // Another thread may have chosen the baseline meanwhile.
    if let Err(task) = done {
        task.by_tile();
    }
}

/// Merges the columns of at most [`ROWS`](crate::reduce_fold::ROWS) rows of halves into their totals, as
/// [`fold_rows`](crate::reduce_fold::fold_rows) those of numbers.
pub(crate) fn fold_lifted_rows<C: Compute, F: LaneFold<C>>(
    fold: F,
    rows: LiftedRows<'_, C>,
    totals: &mut [F::Total],
    new: bool,
) {
    match rows.data {
        Lift::Half(data) if const { C::KIND as u8 == ComputeKind::F32 as u8 } => {
            run_rows(fold, Widened(data), rows, (totals, new));
        }
        Lift::Brain(data) if const { C::KIND as u8 == ComputeKind::F32 as u8 } => {
            run_rows(fold, Widened(data), rows, (totals, new));
        }
        // Rows of others are read as they are.
        _ => {}
    }
}

fn run_rows<C: Compute, F: LaneFold<C>, S: Lifted<C>>(
    fold: F,
    source: S,
    rows: LiftedRows<'_, C>,
    (totals, new): (&mut [F::Total], bool),
) {
    let mut room = LaneRoom::<_>::new();
    let lanes = room.filled(rows.width, fold.lane());
    Level::current().run_narrow(LiftedRowsTask {
        kind: PhantomData::<C>,
        fold,
        source,
        offsets: rows.offsets,
        lanes: &mut *lanes,
    });
    let lifted = lanes.iter().map(|&lane| fold.lift(lane));
    for (total, lane) in totals.iter_mut().zip(lifted) {
        *total = if new { lane } else { fold.merge(*total, lane) };
    }
}

/// Where elements come from.
trait Lifted<C>: Copy {
    /// Elements of the source for each.
    const STEP: usize;
    /// Those from a place on. Must be `#[inline(always)]`.
    fn read<A: Arch>(self, from: usize, to: &mut [C]);
    /// The same of whole chunks. Must be `#[inline(always)]`.
    fn chunk<A: Arch>(self, from: usize) -> [C; LANES];
    /// The last ones of a long run, fewer than a chunk. Must be `#[inline(always)]`.
    #[inline(always)]
    fn rest<A: Arch>(self, from: usize, room: &mut [C; LANES], count: usize) -> &[C] {
        let rest = &mut room[..count];
        self.read::<A>(from, rest);
        rest
    }
}

/// Halves.
#[derive(Clone, Copy)]
struct Widened<'a, T>(&'a [T]);

impl<C: Compute, T: Numeric> Lifted<C> for Widened<'_, T> {
    const STEP: usize = 1;

    #[inline(always)]
    fn read<A: Arch>(self, from: usize, to: &mut [C]) {
        C::load_all::<T, A>(&self.0[from..][..to.len()], to);
    }

    #[inline(always)]
    fn chunk<A: Arch>(self, from: usize) -> [C; LANES] {
        let mut chunk = [C::ZERO; LANES];
        C::load_all::<T, A>(&self.0[from..][..LANES], &mut chunk);
        chunk
    }

    #[inline(always)]
    fn rest<A: Arch>(self, from: usize, room: &mut [C; LANES], count: usize) -> &[C] {
        if const { !matches!(T::DTYPE, DType::F16) } {
            let rest = &mut room[..count];
            self.read::<A>(from, rest);
            return rest;
        }
        // Less than a block is converted by way of one: as well by way of the last chunk.
        *room = self.chunk::<A>(from + count - LANES);
        &room[LANES - count..]
    }
}

/// Every second number.
#[derive(Clone, Copy)]
struct EverySecond<'a, C>(&'a [C]);

impl<C: Compute> Lifted<C> for EverySecond<'_, C> {
    const STEP: usize = 2;

    #[inline(always)]
    fn read<A: Arch>(self, from: usize, to: &mut [C]) {
        // Where nothing is left the place may be one beyond the end.
        let rest = self.0.get(from..).unwrap_or(&[]);
        for (to, &value) in to.iter_mut().zip(rest.iter().step_by(2)) {
            *to = value;
        }
    }

    #[inline(always)]
    fn chunk<A: Arch>(self, from: usize) -> [C; LANES] {
        // The last one may end where the slice does, one before its pair.
        match self.0[from..].first_chunk::<{ 2 * LANES }>() {
            Some(pairs) => std::array::from_fn(|lane| pairs[2 * lane]),
            None => {
                let mut chunk = [C::ZERO; LANES];
                self.read::<A>(from, &mut chunk);
                chunk
            }
        }
    }
}

struct LiftedTask<'a, C, F, S, T> {
    kind: PhantomData<C>,
    fold: F,
    source: S,
    places: (usize, usize, usize),
    totals: &'a mut [T],
}

impl<C: Compute, F: LaneFold<C>, S: Lifted<C>> LiftedTask<'_, C, F, S, F::Total> {
    /// The same through a tile.
    #[cold]
    fn by_tile(self) {
        let (start, step, len) = self.places;
        let mut tile = vec![C::ZERO; len];
        for (index, total) in self.totals.iter_mut().enumerate() {
            self.source.read::<Plain>(start + index * step, &mut tile);
            *total = fold_run(self.fold, &tile);
        }
    }
}

impl<C, F, S> Task for LiftedTask<'_, C, F, S, F::Total>
where
    C: Compute,
    F: LaneFold<C>,
    S: Lifted<C>,
{
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { fold, source, .. } = self;
        let (start, step, len) = self.places;
        let whole = len / LANES;
        for (index, total) in self.totals.iter_mut().enumerate() {
            let mut at = start + index * step;
            if len < LONG {
                // The end of a long run: fewer lanes.
                let mut few = [C::ZERO; LONG];
                source.read::<A>(at, &mut few[..len]);
                *total = lanes_of_run::<A, C, F>(fold, &few[..len], false);
                continue;
            }
            let mut wide = [fold.lane(); LANES];
            for _ in 0..whole {
                let chunk = source.chunk::<A>(at);
                for lane in 0..LANES {
                    wide[lane] = fold.step(wide[lane], chunk[lane]);
                }
                at += LANES * S::STEP;
            }
            let mut room = [C::ZERO; LANES];
            let rest = source.rest::<A>(at, &mut room, len % LANES);
            *total = with_rest::<A, C, F, LANES>(fold, wide, rest);
        }
    }
}

struct LiftedRowsTask<'a, C, F, S, L> {
    kind: PhantomData<C>,
    fold: F,
    source: S,
    offsets: &'a [usize],
    lanes: &'a mut [L],
}

impl<C, F, S> Task for LiftedRowsTask<'_, C, F, S, F::Lane>
where
    C: Compute,
    F: LaneFold<C>,
    S: Lifted<C>,
{
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self {
            fold,
            source,
            offsets,
            lanes,
            ..
        } = self;
        // Some rows at a time: their lanes come and go as rarely.
        for rows in offsets.chunks(TOGETHER) {
            let (chunks, rest) = lanes.as_chunks_mut::<LANES>();
            let mut at = 0;
            for lanes in chunks {
                let mut wide = *lanes;
                for &row in rows {
                    let chunk = source.chunk::<A>(row + at);
                    for lane in 0..LANES {
                        wide[lane] = fold.step(wide[lane], chunk[lane]);
                    }
                }
                *lanes = wide;
                at += LANES;
            }
            let mut room = [C::ZERO; LANES];
            for &row in rows {
                let values = source.rest::<A>(row + at, &mut room, rest.len());
                for (lane, &value) in rest.iter_mut().zip(values) {
                    *lane = fold.step(*lane, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operand::Operand;
    use crate::reduce::{ReduceOp, reduce};
    use lodestride_buffer::Buffer;
    use lodestride_shape::{Layout, Order};

    /// Sums of the columns of a part of a matrix of whole numbers, which are exact, beside a plain loop.
    fn check<H: Numeric>(rows: usize, columns: usize, start: usize) -> Option<String> {
        let pitch = columns + start;
        let value = |i: usize| (i * 11 % 7) as f32 - 3.0;
        let x: Vec<H> = (0..rows * pitch).map(|i| H::from_f32(value(i))).collect();
        let x = Buffer::from_vec(x).expect("memory");
        let layout = Layout::new([rows, columns], [pitch as isize, 1], start).expect("a layout");
        let sums = Buffer::zeroed(columns * 4).expect("memory");
        let out = Layout::contiguous([columns], Order::C).expect("a layout");
        let x = Operand::new(&x, &layout, H::DTYPE).expect("an operand");
        let to = Operand::new(&sums, &out, DType::F32).expect("an operand");
        reduce(ReduceOp::Sum, x, &[0], to).expect("sums");
        let guard = sums.read().expect("a guard");
        (0..columns).find_map(|column| {
            let wanted: f32 = (0..rows)
                .map(|row| value(row * pitch + start + column))
                .sum();
            let found = guard.slice::<f32>()[column];
            let dtype = H::DTYPE;
            (found != wanted).then(|| {
                format!("{dtype} {rows}x{columns}, column {column}: {found}, not {wanted}")
            })
        })
    }

    #[test]
    fn columns_of_halves_are_added_up() {
        let mut failed = Vec::new();
        for rows in [1, 3, 17, 63, 64, 65, 200, 4200] {
            for (columns, start) in [
                (64, 0),
                (65, 0),
                (127, 3),
                (300, 1),
                (1000, 0),
                (1030, 2),
                (4100, 0),
            ] {
                failed.extend(check::<f16>(rows, columns, start));
                failed.extend(check::<bf16>(rows, columns, start));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
