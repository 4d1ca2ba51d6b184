//! Where an element of a run first stands, in explicit vectors: a value that is known to be there, or the best.

use crate::across::FEW;
use crate::index_search::Rank;
use crate::isa::Arch;
use crate::numeric::Compute;
use crate::reduce_short::has_nan;
use crate::stream;
use crate::vector::{Vector, VectorTask};

/// A run of at least [`FEW`] elements and a value that is among them.
pub(crate) struct FirstOf<'a, C> {
    pub(crate) run: &'a [C],
    pub(crate) key: C,
}

impl<C: Compute> VectorTask<C> for FirstOf<'_, C> {
    type Output = usize;

    /// The first place of the value.
    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> usize {
        let Self { run, key } = self;
        let key = V::splat(key);
        let bits_of = |chunk: &[C; FEW]| {
            let mut bits = 0;
            for part in 0..FEW / V::LANES {
                let values = V::load(&chunk[part * V::LANES..]);
                bits |= u64::from(values.same(key)) << (part * V::LANES);
            }
            bits
        };
        // Whole words of places: a branch for each chunk would be guessed wrong once in every run.
        for (word, chunks) in run.as_chunks().0.chunks(4).enumerate() {
            let mut bits = 0;
            for (index, chunk) in chunks.iter().enumerate() {
                bits |= bits_of(chunk) << (index * FEW);
            }
            if bits != 0 {
                return word * 4 * FEW + bits.trailing_zeros() as usize;
            }
        }
        run.last_chunk().map_or(0, |last| {
            run.len() - FEW + bits_of(last).trailing_zeros() as usize
        })
    }
}

/// Where the best of a run first stands, without a branch that depends on the elements: of each chunk a vector of best lanes
/// is kept, so that the best is looked for among those and then in one chunk.
pub(crate) struct PlaceOf<'a, C, const MIN: bool> {
    pub(crate) run: &'a [C],
    pub(crate) far: bool,
}

/// Elements of a chunk.
pub(crate) const CHUNK: usize = 64;
/// Chunks that are searched together.
const CHUNKS: usize = 16;

impl<C: Rank, const MIN: bool> VectorTask<C> for PlaceOf<'_, C, MIN> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> Option<usize> {
        let Self { run, far } = self;
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
