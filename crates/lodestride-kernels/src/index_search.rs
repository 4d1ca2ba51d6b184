//! Finding the best element: orderings, the best of a run, of many runs, and of rows column by column.
//!
//! Nothing here knows layouts or dtypes; `index_reduce` walks arrays and calls it.

use std::marker::PhantomData;

use crate::across::FEW;
use crate::index_vectors::PlaceOf;
use crate::isa::{Arch, Task};
use crate::numeric::Compute;
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{LaneFold, fold_run, lanes_of_run, run_wide};
use crate::reduce_kinds::{Extreme, Magnitude};

/// What values are ranked by: themselves or their magnitude.
pub(crate) trait Rank: Compute {
    type Magnitude: Compute;
    /// A value that is no nearer to zero than any other.
    const FARTHEST: Self;
    fn rank_magnitude(self) -> Self::Magnitude;
}

macro_rules! rank {
    ($($t:ty => $m:ty, $method:ident, $farthest:ident);*) => {$(
        impl Rank for $t {
            type Magnitude = $m;
            const FARTHEST: $t = <$t>::$farthest;
            #[inline(always)]
            fn rank_magnitude(self) -> $m { <$t>::$method(self) }
        }
    )*};
}
// The magnitude of the most negative integer needs the unsigned type.
rank!(
    f32 => f32, abs, INFINITY;
    f64 => f64, abs, INFINITY;
    i64 => u64, unsigned_abs, MIN;
    u64 => u64, from, MAX
);

/// An ordering: by value or magnitude, largest or smallest first.
pub(crate) trait Order<C: Compute>: Copy {
    type Key: Compute;
    /// What finds the best key.
    type Fold: LaneFold<C, Lane = Self::Key, Total = Self::Key> + Default;
    const LARGEST: bool;
    fn key(value: C) -> Self::Key;
    /// Where the best of a run first stands; none where this has no quick way, or a NaN is there.
    #[inline(always)]
    fn place<A: Arch>(_run: &[C], _far: bool) -> Option<usize> {
        None
    }

    /// Whether `new` replaces `best`: strictly better, or the first NaN.
    #[inline(always)]
    #[expect(
        clippy::neg_cmp_op_on_partial_ord,
        reason = "a NaN must pass the first test: one comparison for both"
    )]
    fn beats(new: Self::Key, best: Self::Key) -> bool {
        let passes = if Self::LARGEST {
            !(new <= best)
        } else {
            !(new >= best)
        };
        // `&`: no branches, so that the loops vectorise.
        passes & !best.is_nan()
    }
}

/// Values as they are, with `MIN` the smallest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByValue<const MIN: bool>;

impl<C: Rank + Magnitude, const MIN: bool> Order<C> for ByValue<MIN> {
    type Key = C;
    type Fold = Extreme<MIN, false>;
    const LARGEST: bool = !MIN;
    #[inline(always)]
    fn key(value: C) -> C {
        value
    }
    #[inline(always)]
    fn place<A: Arch>(run: &[C], far: bool) -> Option<usize> {
        if !A::TUNED {
            return None;
        }
        C::in_vectors::<A, _>(PlaceOf::<C, MIN> { run, far })?
    }
}

/// Distances from zero, with `MIN` the smallest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByMagnitude<const MIN: bool>;

impl<C: Rank, const MIN: bool> Order<C> for ByMagnitude<MIN> {
    type Key = C::Magnitude;
    type Fold = BestMagnitude<MIN>;
    const LARGEST: bool = !MIN;
    #[inline(always)]
    fn key(value: C) -> C::Magnitude {
        value.rank_magnitude()
    }
}

/// The best magnitude of a run: as [`Extreme`], but that the magnitudes of `i64` need `u64`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BestMagnitude<const MIN: bool>;

impl<C: Rank, const MIN: bool> LaneFold<C> for BestMagnitude<MIN> {
    type Lane = C::Magnitude;
    type Total = C::Magnitude;
    const RARE: bool = true;
    #[inline(always)]
    fn lane(&self) -> C::Magnitude {
        if MIN {
            C::Magnitude::HIGHEST
        } else {
            C::Magnitude::LOWEST
        }
    }
    #[inline(always)]
    fn fill(&self) -> C {
        // No other is worse.
        if MIN { C::FARTHEST } else { C::ZERO }
    }
    #[inline(always)]
    fn step(&self, lane: C::Magnitude, value: C) -> C::Magnitude {
        LaneFold::<C>::merge(self, lane, value.rank_magnitude())
    }
    #[inline(always)]
    fn join(&self, left: C::Magnitude, right: C::Magnitude) -> C::Magnitude {
        LaneFold::<C>::merge(self, left, right)
    }
    #[inline(always)]
    fn lift(&self, lane: C::Magnitude) -> C::Magnitude {
        lane
    }
    #[inline(always)]
    fn merge(&self, left: C::Magnitude, right: C::Magnitude) -> C::Magnitude {
        if MIN {
            left.smaller(right)
        } else {
            left.larger(right)
        }
    }
}

/// An ordering of values with such keys, erased: walks that differ in it alone are the same code.
pub(crate) trait AnyOrder<C, K>: Sync {
    /// [`Order::beats`].
    fn beats(&self, new: K, best: K) -> bool;
    /// The best key of a run.
    fn best_in(&self, run: &[C]) -> K;
    /// Where a run has a key first.
    fn place_in(&self, run: &[C], key: K) -> usize;
    /// [`best_of_runs`].
    fn best_of_runs(&self, runs: Runs<'_, C>, best: &mut [i64]);
    /// [`Steps`].
    fn step(&self, rows: Rows<'_, C>, is_first: bool, keys: &mut [K], positions: &mut [u32]);
    /// [`Join`].
    fn join(&self, keys: &mut [K], places: &mut [i64], columns: usize);
}

impl<C: Compute, K: Compute, O: Order<C, Key = K> + Sync> AnyOrder<C, K> for O {
    fn beats(&self, new: K, best: K) -> bool {
        O::beats(new, best)
    }
    fn best_in(&self, run: &[C]) -> K {
        fold_run(O::Fold::default(), run)
    }
    fn place_in(&self, run: &[C], key: K) -> usize {
        run_wide::<C, O::Fold, _>(Locate::<C, O> { run, key })
    }
    fn best_of_runs(&self, runs: Runs<'_, C>, best: &mut [i64]) {
        best_of_runs::<C, O>(runs, best);
    }
    fn step(&self, rows: Rows<'_, C>, is_first: bool, keys: &mut [K], positions: &mut [u32]) {
        run_wide::<C, O::Fold, _>(Steps::<C, O> {
            rows,
            keys,
            positions,
            is_first,
        });
    }
    fn join(&self, keys: &mut [K], places: &mut [i64], columns: usize) {
        run_wide::<C, O::Fold, _>(Join::<C, O> {
            keys,
            places,
            columns,
        });
    }
}

/// Where a key first stands in a run.
struct Locate<'a, C: Compute, O: Order<C>> {
    run: &'a [C],
    key: O::Key,
}

impl<C: Compute, O: Order<C>> Task for Locate<'_, C, O> {
    type Output = usize;

    #[inline(always)]
    fn run<A: Arch>(self) -> usize {
        locate::<A, C, O>(self.run, self.key)
    }
}

/// Elements that are searched at a time.
const PIECE: usize = 64;

/// A vector scan for the piece that has the key, then the smallest position in that piece; zero where it is nowhere.
#[inline(always)]
fn locate<A: Arch, C: Compute, O: Order<C>>(run: &[C], key: O::Key) -> usize {
    let found = |&value: &C| stands::<C, O>(value, key);
    // Without instructions that compare words of 64 bits, vectors of them are long and no faster.
    if !A::TUNED && size_of::<C>() == 8 {
        return run.iter().position(found).unwrap_or(0);
    }
    let has = |piece: &[C]| piece.iter().fold(false, |any, value| any | found(value));
    let last = run.len().saturating_sub(1) / PIECE * PIECE;
    let start = (0..last)
        .step_by(PIECE)
        .find(|&start| has(&run[start..start + PIECE]))
        .unwrap_or(last);
    let mut first = u32::MAX;
    for (position, value) in run[start..].iter().take(PIECE).enumerate() {
        let position = if found(value) {
            position as u32
        } else {
            u32::MAX
        };
        first = first.min(position);
    }
    if first == u32::MAX {
        0
    } else {
        start + first as usize
    }
}

/// Writes the position of the best element of every run, one for each of `best`.
fn best_of_runs<C: Compute, O: Order<C>>(runs: Runs<'_, C>, best: &mut [i64]) {
    let order = PhantomData::<fn() -> O>;
    if runs.len < FEW / 2 {
        for (index, best) in best.iter_mut().enumerate() {
            *best = first_of_few::<C, O>(runs.run(index)) as i64;
        }
        return;
    }
    run_wide::<C, O::Fold, _>(BestOfEachRun { runs, best, order });
}

/// The positions of the best elements of runs, one run after the other.
struct BestOfEachRun<'a, C, O> {
    runs: Runs<'a, C>,
    best: &'a mut [i64],
    order: PhantomData<fn() -> O>,
}

impl<C: Compute, O: Order<C>> Task for BestOfEachRun<'_, C, O> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, best, .. } = self;
        let far = runs.are_far();
        for (index, best) in best.iter_mut().enumerate() {
            let run = runs.run(index);
            if let Some(at) = O::place::<A>(run, far) {
                *best = at as i64;
                continue;
            }
            let (mut key, mut at) = (O::Key::ZERO, 0);
            for (number, part) in run.chunks(PART).enumerate() {
                let found = lanes_of_run::<A, C, O::Fold>(O::Fold::default(), part, far);
                if number == 0 || O::beats(found, key) {
                    (key, at) = (found, number * PART);
                }
            }
            *best = (at + locate::<A, C, O>(&run[at..], key)) as i64;
        }
    }
}

/// Where the best element of a run of a few first stands: one after the other, since a vector would be set up for longer.
#[inline(always)]
fn first_of_few<C: Compute, O: Order<C>>(run: &[C]) -> usize {
    let Some((&first, rest)) = run.split_first() else {
        return 0;
    };
    let (mut key, mut at) = (O::key(first), 0);
    for (place, &value) in (1..).zip(rest) {
        let found = O::key(value);
        let beats = O::beats(found, key);
        (key, at) = if beats { (found, place) } else { (key, at) };
    }
    at
}

/// Elements of a run whose best is known apart, so that only these are searched for it.
const PART: usize = 512;
/// Whether a value is the one that a key was taken from; any NaN is as good as another.
#[inline(always)]
fn stands<C: Compute, O: Order<C>>(value: C, key: O::Key) -> bool {
    let candidate = O::key(value);
    (candidate == key) | (candidate.is_nan() & key.is_nan())
}

/// Some rows of a sweep: columns that a row beats take its keys and its number.
struct Steps<'a, C: Compute, O: Order<C>> {
    rows: Rows<'a, C>,
    keys: &'a mut [O::Key],
    positions: &'a mut [u32],
    /// Whether the first row starts the columns.
    is_first: bool,
}

impl<C: Compute, O: Order<C>> Task for Steps<'_, C, O> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        // Locals: behind `self` the compiler would reload them after every store.
        let Self {
            rows,
            keys,
            positions,
            is_first,
        } = self;
        if is_first {
            for (key, &value) in keys.iter_mut().zip(rows.row(0)) {
                *key = O::key(value);
            }
            positions.fill(0);
        }
        let step = |(best, position): (O::Key, u32), value: C, row: u32| {
            let key = O::key(value);
            let take = O::beats(key, best);
            let best = if take { key } else { best };
            (best, if take { row } else { position })
        };
        // Always four to a pass, for comparing takes longer than fetching; at the end the last row is compared again, and does not
        // beat itself.
        let count = rows.offsets.len();
        for at in (0..count).step_by(4) {
            let first = at as u32;
            let row = |index: usize| rows.row((at + index).min(count - 1));
            let values = row(0).iter().zip(row(1)).zip(row(2)).zip(row(3));
            for ((best, position), (((&a, &b), &c), &d)) in
                keys.iter_mut().zip(positions.iter_mut()).zip(values)
            {
                let two = step(step((*best, *position), a, first), b, first + 1);
                (*best, *position) = step(step(two, c, first + 2), d, first + 3);
            }
        }
    }
}

/// Joins the columns of wide rows, each of which has several times the same few, with the place of its key: the first are the best.
struct Join<'a, C: Compute, O: Order<C>> {
    keys: &'a mut [O::Key],
    places: &'a mut [i64],
    columns: usize,
}

impl<C: Compute, O: Order<C>> Task for Join<'_, C, O> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut groups = self.keys.len() / self.columns;
        while groups > 1 {
            let half = groups.div_ceil(2) * self.columns;
            let (keys, more) = self.keys[..groups * self.columns].split_at_mut(half);
            let (places, others) = self.places.split_at_mut(half);
            let best = keys.iter_mut().zip(places);
            for ((best, place), (&key, &other)) in best.zip(more.iter().zip(&*others)) {
                let equals = (key == *best) | (key.is_nan() & best.is_nan());
                let take = O::beats(key, *best) | (equals & (other < *place));
                *best = if take { key } else { *best };
                *place = if take { other } else { *place };
            }
            groups = groups.div_ceil(2);
        }
    }
}
