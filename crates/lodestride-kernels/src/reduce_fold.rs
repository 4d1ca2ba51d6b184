//! Folding one block: 64 independent lanes over a contiguous run, or an accumulator row over several rows.
//!
//! Nothing here knows layouts or dtypes. A block is at most [`BLOCK`] elements of a run, or at most [`ROWS`] rows, so no lane takes
//! more than 64 steps before its value is lifted to a wider total. Which lane an element falls in depends on its position alone, so
//! results depend neither on instruction set nor threads. Sets of runs go through one call, which chooses the instruction set once.
#![expect(
    unsafe_code,
    reason = "a row of lanes is written only as far as it is used"
)]

use lodestride_buffer::Element;
use std::mem::MaybeUninit;

use crate::across::{FEW, Lines, across, spill};
use crate::isa::{Arch, Isa, Level, Task};
use crate::numeric::{Compute, run_fold};
use crate::reduce_data::{Rows, Runs};
use crate::reduce_lifted::{LiftedRows, LiftedRuns};
use crate::reduce_narrow::NarrowRows;
use crate::reduce_together::Together;
use crate::stream;
use crate::strided::Source;

/// Independent accumulators of a long run: enough for eight vectors of f64 in flight.
pub(crate) const LANES: usize = 64;
/// Shortest run that is worth all lanes.
pub(crate) const LONG: usize = 192;
/// Runs that are read in turns.
pub(crate) const FOUR: usize = 4;
/// Elements up to which the lanes of several runs are joined together.
pub(crate) const TOGETHER_LONG: usize = 1024;
/// Elements of a block of a run.
pub(crate) const BLOCK: usize = 4096;
/// Shortest run that most reducers fold where it lies rather than gathered with others into a full block.
pub(crate) const SHORT_RUN: usize = 256;
/// Rows of a block of a sweep.
pub(crate) const ROWS: usize = 64;
/// Columns of narrow rows that are folded as one wide row.
pub(crate) const FOLDED: usize = 256;
/// Columns of a sweep: the accumulator row stays in L1.
pub(crate) const COLUMNS: usize = 1024;
/// The same where the processor reads rows best in the order of memory, and nobody shares the columns.
pub(crate) const WIDE: usize = 4096;

/// A fold whose lanes take one element at a time.
pub(crate) trait LaneFold<C: Compute>: Copy + Sync {
    /// What a lane holds inside a block.
    type Lane: Element;
    /// What a block, and everything above it, is summed up as.
    type Total: Copy + Send + Sync;

    fn lane(&self) -> Self::Lane;
    /// A value that leaves every lane as it is.
    fn fill(&self) -> C;
    fn step(&self, lane: Self::Lane, value: C) -> Self::Lane;
    /// Two lanes as one.
    fn join(&self, left: Self::Lane, right: Self::Lane) -> Self::Lane;
    fn lift(&self, lane: Self::Lane) -> Self::Total;
    fn merge(&self, left: Self::Total, right: Self::Total) -> Self::Total;

    /// Whether many short runs are folded side by side: worth its code where a fold is common.
    const COMMON: bool = false;
    /// Whether rows of a few columns are folded where they lie: worth its code likewise.
    const NARROW: bool = false;
    /// Whether elements that are converted or lie apart are folded as they are read: for folds that do little beside.
    const LIFTS: bool = false;
    /// Whether lanes are joined in any order, so in that which the compiler likes.
    const IS_FREE: bool = false;
    /// Whether AVX-512 is worth its code for integers too: it alone multiplies numbers of 64 bits.
    const WIDE: bool = false;
    /// Whether AVX-512 is not worth its code even for floats: for folds that are seldom met.
    const RARE: bool = false;
    /// Whether its lanes are wider than those of more rows, so that they become other results.
    const IS_WIDER: bool = false;
    /// Folds short runs in vector registers where there is a way; false, with nothing done, where there is none.
    #[inline(always)]
    fn short_runs<A: Arch>(self, _runs: Runs<'_, C>, _totals: &mut [Self::Total]) -> bool {
        false
    }
    /// The last elements of a run, fewer than [`FEW`], filled up to a chunk in vector registers, where that gains: sums of a whole
    /// chunk more the compiler would join in odd pieces.
    #[inline(always)]
    fn last_chunk<A: Arch>(self, _rest: &[C]) -> Option<[C; FEW]> {
        None
    }
    /// New lanes stepped over whole chunks in a quicker way, which not every fold and not all values have.
    #[inline(always)]
    fn lanes_of_chunks<A: Arch, const N: usize>(
        self,
        _chunks: &[[C; N]],
        _far: bool,
    ) -> Option<[Self::Lane; N]> {
        None
    }
    /// The same of four runs at once, read in turns.
    #[inline(always)]
    fn lanes_of_four<A: Arch>(self, _runs: [&[C]; FOUR]) -> Option<[[Self::Lane; LANES]; FOUR]> {
        None
    }
    /// The same for a row of new lanes, stepped over rows; false, with the lanes new again, where there is no such way.
    #[inline(always)]
    fn lanes_of_rows<A: Arch>(self, _rows: Rows<'_, C>, _lanes: &mut [Self::Lane]) -> bool {
        false
    }
}

/// Folds a run of at most [`BLOCK`] elements.
pub(crate) fn fold_run<C: Compute, F: LaneFold<C>>(fold: F, run: &[C]) -> F::Total {
    let mut total = [fold.lift(fold.lane())];
    fold_runs(fold, Runs::one(run), &mut total);
    total[0]
}

/// Folds runs of at most [`BLOCK`] elements, one for every total, which is overwritten.
pub(crate) fn fold_runs<C: Compute, F: LaneFold<C>>(
    fold: F,
    runs: Runs<'_, C>,
    totals: &mut [F::Total],
) {
    // A tile for fewer tiny runs would take longer to clear than they take to fold.
    let few = if runs.len < FEW { FEW } else { FEW / 4 };
    // With the registers of AVX-512 the lanes of one run are joined in little more time.
    let joins_longer = !C::IS_WHOLE && Isa::detect() == Isa::Avx2;
    let most = if joins_longer { TOGETHER_LONG } else { LONG };
    if F::COMMON && runs.len < most && totals.len() >= few {
        let totals = &mut *totals;
        let task = Together { fold, runs, totals };
        // Without AVX-512, whose gathers the compiler would use here, slowly.
        if Level::current().run_narrow_tuned(task).is_ok() {
            return;
        }
    }
    run_wide::<C, F, _>(EachRun { fold, runs, totals });
}

/// One run after the other.
pub(crate) struct EachRun<'a, C, F, T> {
    pub(crate) fold: F,
    pub(crate) runs: Runs<'a, C>,
    pub(crate) totals: &'a mut [T],
}

impl<C: Compute, F: LaneFold<C>> Task for EachRun<'_, C, F, F::Total> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { fold, runs, totals } = self;
        let far = runs.are_far();
        let mut next = 0;
        while A::TUNED && next + FOUR <= totals.len() && runs.are_streams() {
            let run = |index: usize| runs.run(next + index);
            let four = [run(0), run(1), run(2), run(3)];
            let Some(lanes) = fold.lanes_of_four::<A>(four) else {
                break;
            };
            for index in 0..FOUR {
                let rest = four[index].as_chunks::<LANES>().1;
                totals[next + index] = with_rest::<A, C, F, LANES>(fold, lanes[index], rest);
            }
            next += FOUR;
        }
        for (index, total) in totals.iter_mut().enumerate().skip(next) {
            *total = lanes_of_run::<A, C, F>(fold, runs.run(index), far);
        }
    }
}

/// The body of [`fold_run`], for callers that already run under an instruction set; `far` as [`Runs::are_far`].
#[inline(always)]
pub(crate) fn lanes_of_run<A: Arch, C: Compute, F: LaneFold<C>>(
    fold: F,
    run: &[C],
    far: bool,
) -> F::Total {
    match run.len() {
        0..FEW => tiny(fold, run),
        _ if !A::TUNED => lanes_in_memory(fold, run),
        FEW..LONG if F::IS_FREE => tiny(fold, run),
        FEW..LONG => lanes::<A, C, F, FEW>(fold, run, false),
        _ => lanes::<A, C, F, LANES>(fold, run, far),
    }
}

#[inline(always)]
pub(crate) fn tiny<C: Compute, F: LaneFold<C>>(fold: F, run: &[C]) -> F::Total {
    let steps = |lane, &value: &C| fold.step(lane, value);
    fold.lift(run.iter().fold(fold.lane(), steps))
}

/// As [`lanes`], of as many as the run has, in loops that stay loops: a tenth of the code.
fn lanes_in_memory<C: Compute, F: LaneFold<C>>(fold: F, run: &[C]) -> F::Total {
    let mut all = [fold.lane(); LANES];
    let wide = if run.len() < LONG { FEW } else { LANES };
    let chunks = run.chunks_exact(wide);
    let rest = chunks.remainder().chunks(FEW);
    for chunk in chunks {
        for (lane, &value) in all.iter_mut().zip(chunk) {
            *lane = fold.step(*lane, value);
        }
    }
    let (few, others) = all.split_at_mut(FEW);
    for group in others[..wide - FEW].chunks(FEW) {
        for (lane, &other) in few.iter_mut().zip(group) {
            *lane = fold.join(*lane, other);
        }
    }
    for chunk in rest {
        for (lane, &value) in few.iter_mut().zip(chunk) {
            *lane = fold.step(*lane, value);
        }
    }
    let mut half = FEW / 2;
    while half > 0 {
        let (left, right) = few.split_at_mut(half);
        for (lane, &other) in left.iter_mut().zip(right.iter()) {
            *lane = fold.join(*lane, other);
        }
        half /= 2;
    }
    fold.lift(few[0])
}

/// `N` lanes, joined to a few for the last elements of the run.
#[inline(always)]
pub(crate) fn lanes<A: Arch, C: Compute, F: LaneFold<C>, const N: usize>(
    fold: F,
    run: &[C],
    far: bool,
) -> F::Total {
    let chunks = run.as_chunks().0;
    let wide = match fold.lanes_of_chunks::<A, N>(chunks, far) {
        Some(lanes) => lanes,
        None => step_chunks(fold, [fold.lane(); N], chunks, far),
    };
    with_rest::<A, C, F, N>(fold, wide, run.as_chunks::<N>().1)
}

/// `N` lanes, joined to a few for the elements that make no chunk of them.
#[inline(always)]
pub(crate) fn with_rest<A: Arch, C: Compute, F: LaneFold<C>, const N: usize>(
    fold: F,
    wide: [F::Lane; N],
    mut rest: &[C],
) -> F::Total {
    let mut few = grouped(wide, |left, right| fold.join(left, right));
    if N > FEW {
        let (chunks, last) = rest.as_chunks();
        few = step_chunks(fold, few, chunks, false);
        rest = last;
    }
    if !rest.is_empty() {
        if let Some(chunk) = fold.last_chunk::<A>(rest) {
            few = step_chunks(fold, few, &[chunk], false);
        } else {
            few = spill(few);
            for (lane, &value) in few.iter_mut().zip(rest) {
                *lane = fold.step(*lane, value);
            }
        }
    }
    fold.lift(across(few, |left, right| fold.join(left, right)))
}

/// `N` lanes joined to a few.
#[inline(always)]
pub(crate) fn grouped<L: Copy, const N: usize>(wide: [L; N], join: impl Fn(L, L) -> L) -> [L; FEW] {
    let mut few = [wide[0]; FEW];
    for lane in 0..FEW {
        few[lane] = wide[lane];
        for group in 1..N / FEW {
            few[lane] = join(few[lane], wide[group * FEW + lane]);
        }
    }
    few
}

/// Steps every lane over whole chunks. Lanes come and go by value: a reference would keep them in memory.
#[inline(always)]
pub(crate) fn step_chunks<C: Compute, F: LaneFold<C>, const N: usize>(
    fold: F,
    mut lanes: [F::Lane; N],
    chunks: &[[C; N]],
    far: bool,
) -> [F::Lane; N] {
    for chunk in chunks {
        if far {
            stream::wake(chunk.as_ptr().cast(), size_of_val(chunk));
        }
        for lane in 0..N {
            lanes[lane] = fold.step(lanes[lane], chunk[lane]);
        }
    }
    lanes
}

/// Merges more totals into as many others, one each.
#[inline(always)]
pub(crate) fn merge_each<T: Copy>(totals: &mut [T], more: &[T], merge: impl Fn(T, T) -> T) {
    for (total, &more) in totals.iter_mut().zip(more) {
        *total = merge(*total, more);
    }
}

/// Merges the columns of at most [`ROWS`] rows into their totals; further totals are of as many rows, each set `step` elements on.
/// `new` totals become those of the columns, whatever they were: merged with that of no elements a total stays as it is.
pub(crate) fn fold_rows<C: Compute, F: LaneFold<C>>(
    fold: F,
    (rows, step): (Rows<'_, C>, usize),
    totals: &mut [F::Total],
    new: bool,
) {
    let mut room = LaneRoom::<_>::new();
    let lanes = room.filled(rows.width, fold.lane());
    let rows = (rows, step);
    let task = RowsTask {
        fold,
        rows,
        lanes,
        totals,
        new,
    };
    run_wide::<C, F, _>(task);
}

/// [`run_fold`] as wide as the fold wants.
pub(crate) fn run_wide<C: Compute, F: LaneFold<C>, T: Task>(task: T) -> T::Output {
    if const { F::WIDE } {
        Level::current().run(task)
    } else if const { F::RARE } {
        Level::current().run_narrow(task)
    } else {
        run_fold::<C, _>(task)
    }
}

/// Room for the lanes of a row of at most `N` columns.
pub(crate) struct LaneRoom<L, const N: usize = WIDE>(Lines<[MaybeUninit<L>; N]>);

impl<L: Copy, const N: usize> LaneRoom<L, N> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self(Lines([const { MaybeUninit::uninit() }; N]))
    }

    /// So many equal lanes. Filling more than are used would cost more than folding them when rows are narrow.
    #[inline(always)]
    pub(crate) fn filled(&mut self, width: usize, lane: L) -> &mut [L] {
        let lanes = &mut self.0.0[..width];
        for to in &mut *lanes {
            to.write(lane);
        }
        // SAFETY: all of them have just been written.
        unsafe { lanes.assume_init_mut() }
    }
}

struct RowsTask<'a, C, F, L, T> {
    fold: F,
    rows: (Rows<'a, C>, usize),
    lanes: &'a mut [L],
    totals: &'a mut [T],
    new: bool,
}

impl<C: Compute, F: LaneFold<C>> Task for RowsTask<'_, C, F, F::Lane, F::Total> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        // Locals: behind `self` the compiler would reload them after every store.
        let Self {
            fold,
            rows: (mut rows, step),
            lanes,
            totals,
            new,
        } = self;
        let mut rest = totals;
        loop {
            let (totals, others) = rest.split_at_mut(rows.width.min(rest.len()));
            if !A::TUNED || !fold.lanes_of_rows::<A>(rows, lanes) {
                lanes_of_rows(rows, lanes, |lane, value| fold.step(lane, value));
            }
            let each = totals.iter_mut().zip(lanes.iter());
            if new {
                each.for_each(|(total, &lane)| *total = fold.lift(lane));
            } else {
                each.for_each(|(total, &lane)| *total = fold.merge(*total, fold.lift(lane)));
            }
            if others.is_empty() || rows.width == 0 {
                return;
            }
            rest = others;
            rows.data = &rows.data[step..];
            lanes.fill(fold.lane());
        }
    }
}

/// Steps a row of lanes over all rows, four rows to a pass where [`Rows::quads`] says so.
#[inline(always)]
pub(crate) fn lanes_of_rows<C: Compute, L: Copy>(
    rows: Rows<'_, C>,
    lanes: &mut [L],
    step: impl Fn(L, C) -> L,
) {
    let quads = rows.quads();
    for quad in 0..quads {
        let (a, b) = (rows.row(4 * quad), rows.row(4 * quad + 1));
        let (c, d) = (rows.row(4 * quad + 2), rows.row(4 * quad + 3));
        for ((((lane, &a), &b), &c), &d) in lanes.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *lane = step(step(step(step(*lane, a), b), c), d);
        }
    }
    for row in rows.in_turn(4 * quads) {
        for (lane, &value) in lanes.iter_mut().zip(row) {
            *lane = step(*lane, value);
        }
    }
}

/// A reduction of blocks: how runs or a set of rows become totals, and totals one value.
pub(crate) trait Reducer<C: Compute>: Sync {
    type Total: Copy + Send + Sync;
    /// The type of the finished value.
    type Value: Compute;

    /// The total of no elements.
    fn empty(&self) -> Self::Total;
    /// Makes each total that of one run, of at most [`BLOCK`] elements; what it was before does not count.
    fn runs(&self, runs: Runs<'_, C>, totals: &mut [Self::Total]);
    /// Elements of the shortest run that is folded where it lies, many by one call, rather than gathered with others into a block.
    fn shortest_run(&self) -> usize {
        SHORT_RUN
    }
    /// Whether there is [`lifted`](Reducer::lifted).
    fn lifts(&self) -> bool {
        false
    }
    /// [`runs`](Reducer::runs) of elements that take a step before they are folded.
    fn lifted(&self, _runs: LiftedRuns<'_, C>, _totals: &mut [Self::Total]) {}
    /// Whether there is [`lifted_rows`](Reducer::lifted_rows).
    fn lifts_rows(&self) -> bool {
        false
    }
    /// [`sets`](Reducer::sets) of one set of rows of halves.
    fn lifted_rows(&self, _rows: LiftedRows<'_, C>, _totals: &mut [Self::Total], _new: bool) {}
    /// The most columns [`rows`](Reducer::rows) takes, which may be more than [`COLUMNS`].
    fn columns(&self) -> usize {
        COLUMNS
    }
    /// Merges the column totals of at most [`ROWS`] rows of at most [`columns`](Reducer::columns) columns into `totals`.
    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Self::Total]);
    /// Whether [`sets`](Reducer::sets) is more than one set of rows.
    fn takes_sets(&self) -> bool {
        false
    }
    /// [`rows`](Reducer::rows) of as many sets of them as there are totals for, each `step` elements after the one before. Of
    /// `new` totals it does not count what they were.
    fn sets(&self, rows: Rows<'_, C>, _step: usize, totals: &mut [Self::Total], new: bool) {
        if new {
            totals.fill(self.empty());
        }
        self.rows(rows, totals);
    }
    /// Whether there is [`narrow`](Reducer::narrow).
    fn takes_narrow(&self) -> bool {
        false
    }
    /// Makes the totals those of the columns of rows, set after set, whatever they were; of rows without gaps that are to be
    /// copied from a source, if one is given.
    fn narrow(
        &self,
        _rows: NarrowRows<'_, C>,
        _copied: Option<&Source<'_, C>>,
        _totals: &mut [Self::Total],
    ) {
    }
    /// Merges more totals into as many others, one each.
    fn merge_all(&self, totals: &mut [Self::Total], more: &[Self::Total]);
    /// Whether arithmetic bounds it, not memory.
    fn is_heavy(&self) -> bool {
        false
    }
    /// The results for `count` elements each.
    fn finish(&self, totals: &[Self::Total], count: usize, values: &mut [Self::Value]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Plus;
    impl LaneFold<f32> for Plus {
        type Lane = f32;
        type Total = f64;
        fn lane(&self) -> f32 {
            0.0
        }
        fn fill(&self) -> f32 {
            0.0
        }
        fn step(&self, lane: f32, value: f32) -> f32 {
            lane + value
        }
        fn join(&self, left: f32, right: f32) -> f32 {
            left + right
        }
        fn lift(&self, lane: f32) -> f64 {
            f64::from(lane)
        }
        fn merge(&self, left: f64, right: f64) -> f64 {
            left + right
        }
    }

    #[test]
    fn runs_of_every_length_sum_up() {
        let values: Vec<f32> = (0..BLOCK).map(|i| (i % 17) as f32).collect();
        for len in (0..300).chain([511, 512, 513, 4000, BLOCK]) {
            let expected: f64 = values[..len].iter().map(|&v| f64::from(v)).sum();
            assert_eq!(fold_run(Plus, &values[..len]), expected, "{len} elements");
        }
    }

    #[test]
    fn rows_sum_up_column_by_column() {
        let values: Vec<f32> = (0..1000).map(|i| (i % 13) as f32).collect();
        for rows in 0..12 {
            let offsets: Vec<usize> = (0..rows).map(|r| r * 31).collect();
            let rows = Rows {
                data: &values,
                offsets: &offsets,
                width: 29,
            };
            let mut columns = vec![0.0; 29];
            fold_rows(Plus, (rows, 0), &mut columns, false);
            for (column, &total) in columns.iter().enumerate() {
                let expected: f32 = offsets.iter().map(|o| values[o + column]).sum();
                assert_eq!(total, f64::from(expected), "column {column}");
            }
        }
    }
}
