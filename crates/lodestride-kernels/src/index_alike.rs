//! Positions of extremes of integers, which are compared as they are, and of bools, which are looked through until the first.

use lodestride_buffer::{DType, ReadGuard, WriteGuard};

use crate::index_reduce::ArgOp;
use crate::index_walk::{COPIED, Search, runs_at_a_time};
use crate::rank::{Key, flip, with_key};
use crate::reduce_data::Runs;
use crate::reduce_extremes::{best_of_all, first_places};
use crate::reduce_lines::{Depth, GROUP};
use crate::reduce_plan::Piece;
use crate::strided::{Dim, copy_lines, count, store};
use crate::{spread, threads};

/// Shortest run of integers that is searched as it is.
const SHORTEST: usize = 8;
/// Bytes of a run that are compared before it is asked whether something better was found.
const COMPARED: usize = 1 << 13;

impl Search {
    /// Integers and bools without conversion; false, with nothing done, where there is no such way.
    pub(crate) fn run_as_they_are(
        &self,
        (guard, dtype): (&ReadGuard<'_>, DType),
        output: &mut WriteGuard<'_>,
    ) -> bool {
        let is_smallest = match self.op {
            ArgOp::ArgMax => false,
            ArgOp::ArgMin => true,
            _ => return false,
        };
        let Some((&line, outer)) = self.reduced.split_last() else {
            return false;
        };
        let depth = Depth { outer, line };
        let alone = self.plan.pieces(1) == 1;
        if line.size < SHORTEST || !alone && line.stride != 1 && self.goes_by_rows() {
            return false;
        }
        if dtype == DType::Bool {
            self.first_flags((guard.slice(), !is_smallest), depth, output);
            return true;
        }
        if !alone && line.stride != 1 && line.size > COPIED {
            return false;
        }
        with_key!(dtype, K => {
            let (data, flip) = (guard.slice::<K>(), flip(dtype, is_smallest));
            if alone {
                let found = self.best_alike(data, flip, depth);
                store(output, self.out_dtype, self.plan.out_start, 1, &[found]);
            } else {
                self.each_line(data, flip, line, output);
            }
            true
        }, else false)
    }

    /// The positions along one axis.
    fn each_line<K: Key>(&self, data: &[K], flip: K, line: Dim, output: &mut WriteGuard<'_>) {
        let (size, step) = (line.size, self.plan.inner.x);
        let find = |x: isize, best: &mut [i64]| {
            if line.stride == 1 {
                let runs = Runs::new(data, x as usize, step as usize, size);
                return first_places(runs, flip, best);
            }
            let (mut tile, together) = ([K::default(); COPIED], COPIED / size);
            for (group, best) in (0..).zip(best.chunks_mut(together)) {
                let x = x + group * together as isize * step;
                let lines = Dim {
                    size: best.len(),
                    stride: step,
                };
                let tile = &mut tile[..best.len() * size];
                copy_lines(data, (x, lines, line), tile);
                first_places(Runs::new(tile, 0, size, size), flip, best);
            }
        };
        self.each_piece(runs_at_a_time(size), size_of::<K>(), &find, output);
    }

    /// The position in the whole array.
    fn best_alike<K: Key>(&self, data: &[K], flip: K, depth: Depth<'_>) -> i64 {
        if !threads::are_worth(self.elements() * size_of::<K>(), false) {
            return self.best_of_part(data, flip, (self.plan.x_start, depth)).1;
        }
        let parts = depth.parts();
        let found = spread::map(parts.len(), |index| {
            let (x, outer, line) = &parts[index];
            let depth = Depth { outer, line: *line };
            self.best_of_part(data, flip, (self.plan.x_start + x, depth))
        });
        let (mut best, mut position, mut passed) = (K::LOWEST, 0, 0);
        for ((key, at), (_, outer, line)) in found.into_iter().zip(&parts) {
            if key > best {
                (best, position) = (key, passed + at);
            }
            passed += (count(outer) * line.size) as i64;
        }
        position
    }

    /// The best key of a part of an array, and where in it that first stands.
    fn best_of_part<K: Key>(
        &self,
        data: &[K],
        flip: K,
        (x, depth): (isize, Depth<'_>),
    ) -> (K, i64) {
        let mut so_far = SoFar {
            flip,
            best: K::LOWEST,
            position: 0,
            passed: 0,
        };
        let mut goes_on = true;
        let mut each = |x: isize, depth: Depth<'_>| {
            let (out, width) = (0, 1);
            let piece = (Piece { x, out, width }, depth);
            self.plan.each_runs(data, piece, &mut |runs, count, _| {
                goes_on = goes_on && so_far.look(runs, count);
                goes_on
            });
        };
        let (line, compared) = (depth.line, COMPARED / size_of::<K>());
        if !depth.outer.is_empty() || line.size <= compared {
            each(x, depth);
            return (so_far.best, so_far.position);
        }
        // A long run is cut into pieces, and what is left behind them.
        let pieces = Dim {
            size: line.size / compared,
            stride: line.stride * compared as isize,
        };
        let of = |size: usize| Dim { size, ..line };
        let outer = &[pieces];
        let line = of(compared);
        each(x, Depth { outer, line });
        let left = depth.line.size % compared;
        if left > 0 {
            let (outer, line) = (&[], of(left));
            each(
                x + pieces.size as isize * pieces.stride,
                Depth { outer, line },
            );
        }
        (so_far.best, so_far.position)
    }

    /// The positions of the first flags that are set or not, or 0.
    fn first_flags(
        &self,
        (data, set): (&[u8], bool),
        depth: Depth<'_>,
        output: &mut WriteGuard<'_>,
    ) {
        let (line, step) = (depth.line, self.plan.inner.x);
        let first = |x: isize| {
            depth.starts(x).enumerate().find_map(|(at, x)| {
                let there = if line.stride == 1 {
                    first_flag(&data[x as usize..][..line.size], set)
                } else {
                    (0..line.size).find(|&at| {
                        let at = x + at as isize * line.stride;
                        (data[at as usize] != 0) == set
                    })
                };
                Some((at * line.size + there?) as i64)
            })
        };
        let find = |x: isize, best: &mut [i64]| {
            for (column, best) in (0..).zip(best) {
                *best = first(x + column * step).unwrap_or(0);
            }
        };
        self.each_piece(runs_at_a_time(line.size), 1, &find, output);
    }
}

/// The best key that was met, where it first stands, and how many elements were looked at.
struct SoFar<K> {
    flip: K,
    best: K,
    position: i64,
    passed: i64,
}

impl<K: Key> SoFar<K> {
    /// Looks at the next runs; false where there is nothing better.
    fn look(&mut self, runs: Runs<'_, K>, count: usize) -> bool {
        let key = best_of_all(runs, count, self.flip, self.best);
        if key > self.best {
            self.best = key;
            self.position = self.passed + self.place_in(runs, count);
        }
        self.passed += (count * runs.len) as i64;
        self.best != K::HIGHEST
    }

    /// Where the best key first stands in runs that have it.
    fn place_in(&self, runs: Runs<'_, K>, count: usize) -> i64 {
        let is_best = |x: K| x ^ self.flip == self.best;
        let mut places = [0; GROUP];
        if runs.len >= SHORTEST {
            first_places(runs, self.flip, &mut places[..count]);
        }
        let place = |index: usize| {
            let (run, first) = (runs.run(index), places[index] as usize);
            let at = match runs.len >= SHORTEST {
                true => is_best(run[first]).then_some(first)?,
                false => run.iter().position(|&x| is_best(x))?,
            };
            Some((index * runs.len + at) as i64)
        };
        (0..count).find_map(place).unwrap_or(0)
    }
}

/// The first byte that is not zero, or that is.
fn first_flag(bytes: &[u8], set: bool) -> Option<usize> {
    const WORD: usize = 8;
    let others = if set {
        0
    } else {
        u64::from_ne_bytes([1; WORD])
    };
    let differs = |word: &[u8; WORD]| u64::from_le_bytes(*word) ^ others;
    let (lines, _) = bytes.as_chunks::<64>();
    // The first line word by word: many masks begin with what is looked for.
    let skipped = lines.iter().skip(1).take_while(|line| {
        let words = line.as_chunks::<WORD>().0;
        words.iter().fold(0, |bits, word| bits | differs(word)) == 0
    });
    let near = &bytes[..bytes.len().min(64)];
    let at = |from: usize, bytes: &[u8]| {
        let (words, rest) = bytes.as_chunks::<WORD>();
        let word = words.iter().position(|word| differs(word) != 0);
        match word {
            Some(word) => {
                Some(from + word * WORD + differs(&words[word]).trailing_zeros() as usize / 8)
            }
            None => {
                let rest_at = rest.iter().position(|&byte| (byte != 0) == set)?;
                Some(from + words.len() * WORD + rest_at)
            }
        }
    };
    at(0, near).or_else(|| {
        let from = near.len() + skipped.count() * 64;
        at(from, &bytes[from..])
    })
}
