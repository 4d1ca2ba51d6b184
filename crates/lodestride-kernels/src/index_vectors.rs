//! Where the best element of a run first stands, in explicit vectors.

use crate::index_search::Rank;
use crate::isa::Arch;
use crate::reduce_short::{has_nan, is_nan};
use crate::stream;
use crate::vector::{MOST_LANES, Vector, VectorTask};

/// Where the best of a run first stands, without a branch that depends on the elements: of each chunk a vector of best lanes
/// is kept, so that the best is looked for among those and then in one chunk.
pub(crate) struct PlaceOf<'a, C, const MIN: bool> {
    pub(crate) run: &'a [C],
    pub(crate) far: bool,
}

/// Shortest run that is searched by chunks.
const LONG: usize = 128;
/// Elements of a chunk.
const CHUNK: usize = 64;
/// Chunks that are searched together.
const CHUNKS: usize = 16;

impl<C: Rank, const MIN: bool> VectorTask<C> for PlaceOf<'_, C, MIN> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> Option<usize> {
        let Self { run, far } = self;
        if run.len() < LONG {
            return place_in_short::<C, V, MIN>(run);
        }
        let zero = V::splat(C::ZERO);
        // The largest of what is turned round is the smallest.
        let load = |chunk: &[C; CHUNK], part: usize| {
            let values = V::load(&chunk[part * V::LANES..]);
            if MIN { zero.sub(values) } else { values }
        };
        let (mut sums, mut best) = ([zero; 4], None);
        for (number, part) in run.chunks(CHUNK * CHUNKS).enumerate() {
            let first = number * CHUNK * CHUNKS;
            // The last chunk is a whole one that begins among the elements of the chunk before it.
            let start = |chunk: usize| (first + chunk * CHUNK).min(run.len() - CHUNK);
            let count = part.len().div_ceil(CHUNK);
            let mut bests = [V::splat(C::LOWEST); CHUNKS];
            for (index, lanes) in bests[..count].iter_mut().enumerate() {
                let chunk = run[start(index)..].first_chunk::<CHUNK>()?;
                if far {
                    stream::wake(chunk.as_ptr().cast(), size_of_val(chunk));
                }
                for part in 0..CHUNK / V::LANES {
                    let values = load(chunk, part);
                    *lanes = values.larger(*lanes);
                    sums[part % 4] = sums[part % 4].add(values);
                }
            }
            let largest = bests
                .iter()
                .fold(bests[0], |best, lanes| lanes.larger(best))
                .largest();
            if best.is_some_and(|(key, _)| largest <= key) {
                continue;
            }
            let key = V::splat(largest);
            let holds =
                |bits, (index, lanes): (usize, &V)| bits | u32::from(lanes.same(key) != 0) << index;
            let chunk = bests[..count]
                .iter()
                .enumerate()
                .fold(0, holds)
                .trailing_zeros();
            let at = start(chunk as usize);
            let chunk = run[at..].first_chunk::<CHUNK>()?;
            let place =
                |bits, part| bits | u64::from(load(chunk, part).same(key)) << (part * V::LANES);
            let place = (0..CHUNK / V::LANES).fold(0, place).trailing_zeros();
            best = Some((largest, at + place as usize));
        }
        // A sum with a NaN is NaN; so it can be for other reasons.
        if has_nan(sums) {
            return None;
        }
        best.map(|(_, at)| at)
    }
}

/// [`PlaceOf`] a run of few elements: each lane keeps its best and the place of that, as a number of the same type.
#[inline(always)]
fn place_in_short<C: Rank, V: Vector<C>, const MIN: bool>(run: &[C]) -> Option<usize> {
    let (&first, zero) = (run.first()?, V::splat(C::ZERO));
    let mut count = [C::ZERO; MOST_LANES];
    for (lane, place) in count.iter_mut().enumerate() {
        *place = C::from_i64(lane as i64);
    }
    let step = V::splat(C::from_i64(V::LANES as i64));
    let (mut here, mut sums) = (V::load(&count), zero);
    // What is not better than the first element changes nothing.
    let (mut best, mut places) = (V::splat(first), zero);
    if MIN {
        best = zero.sub(best);
    }
    let mut at = 0;
    while at < run.len() {
        let mut values = match run[at..].len() {
            left if left < V::LANES => V::load_part(&run[at..], first),
            _ => V::load(&run[at..]),
        };
        if MIN {
            values = zero.sub(values);
        }
        places = values.choose_above(best, here, places);
        best = values.larger(best);
        sums = sums.add(values);
        here = here.add(step);
        at += V::LANES;
    }
    if is_nan(sums) {
        return None;
    }
    let largest = V::splat(best.largest());
    let bits = best.same(largest);
    if bits.is_power_of_two() {
        let mut all = [C::ZERO; MOST_LANES];
        places.store(&mut all);
        return Some(all[bits.trailing_zeros() as usize].to_u64() as usize);
    }
    // Lanes that have less than the best are as good as beyond the end; the nearest of the others is the largest below zero.
    let far = V::splat(C::HIGHEST);
    let nearest = zero.sub(largest.choose_above(best, far, places)).largest();
    Some(nearest.to_i64().unsigned_abs() as usize)
}
