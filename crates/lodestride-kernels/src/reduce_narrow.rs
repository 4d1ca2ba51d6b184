//! Rows of a few columns, as pixels of an image or points of a cloud, folded where they lie.
//!
//! Lanes are as many as some rows have elements, and stay in registers: whichever row an element is of, its lane is of its column.
//! Rows folded one by one would fill a part of a vector each. Columns that are not asked for are folded too, which takes no longer
//! than to leave them out.

use crate::across::Lines;
use crate::isa::{Arch, Level, Task};
use crate::numeric::Compute;
use crate::reduce_fold::{LaneFold, step_chunks};
use crate::stream;
use crate::strided::Source;
use crate::tile::Scratch;

/// Most columns.
pub(crate) const MOST: usize = 8;
/// Lanes of most widths: whole vectors, and whole rows.
const LANES: usize = 48;
/// Rows laid side by side of other widths, whose lanes stay in memory.
const SIDE: usize = 16;
/// Most lanes: of rows of seven columns.
const ROOM: usize = 7 * SIDE;
/// Fewest rows.
const FEWEST: usize = 9;
/// Rows of which a single column is folded so.
const SINGLE: usize = 256;
/// Steps of a lane before its value is lifted, as of others.
const STEPS: usize = 64;

/// Lanes for rows of so many columns.
fn lanes(columns: usize) -> usize {
    if LANES.is_multiple_of(columns) {
        LANES
    } else {
        SIDE * columns
    }
}

/// Whether so many rows, of which some columns are asked for, are enough to be folded so.
#[inline]
pub(crate) fn is_narrow(rows: usize, columns: usize, pitch: isize) -> bool {
    rows >= FEWEST && columns >= 2 && (columns as isize..=MOST as isize).contains(&pitch)
}

/// From how many rows of so many elements on a single column of them is folded so too: fewer are sooner gathered, and so are halves
/// and what is kept in memory.
pub(crate) fn single_from(pitch: usize) -> Option<usize> {
    (pitch > 2 && lanes(pitch) == LANES).then_some(SINGLE)
}

/// Rows of a block.
pub(crate) fn rows_of_block(columns: usize) -> usize {
    STEPS * lanes(columns) / columns
}

/// Sets of rows in one slice: `rows` of them, each `pitch` elements after the one before, from `start` on, and again `step` elements
/// further for each set. The first `width` elements of a row are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NarrowRows<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) start: usize,
    pub(crate) step: usize,
    pub(crate) rows: usize,
    pub(crate) pitch: usize,
    pub(crate) width: usize,
}

/// Makes the totals those of the columns of each set, of at least one row, whatever they were.
#[inline(never)]
pub(crate) fn fold_narrow<C: Compute, F: LaneFold<C>>(
    fold: F,
    rows: NarrowRows<'_, C>,
    totals: &mut [F::Total],
) {
    // Vectors of AVX2 read as fast as the second-level cache gives. Integers, whose sums no order changes, are folded otherwise by the
    // baseline.
    let (level, task) = (Level::current(), NarrowTask { fold, rows, totals });
    if const { C::VECTOR } {
        level.run_narrow(task);
    } else {
        // Where the instruction set was changed since this way was chosen, the sums are the same.
        level
            .run_narrow_tuned(task)
            .unwrap_or_else(NarrowTask::one_by_one);
    }
}

/// [`fold_narrow`] of rows without gaps, of which a block at a time is copied from a source: as many sets as that holds.
#[inline(never)]
pub(crate) fn fold_narrow_copies<C: Compute, F: LaneFold<C>>(
    fold: F,
    source: &Source<'_, C>,
    rows: NarrowRows<'_, C>,
    totals: &mut [F::Total],
) {
    let (width, area) = (rows.width, rows.rows * rows.width);
    let most = rows_of_block(width) * width;
    let mut scratch = Scratch::take(most * size_of::<C>());
    let tile = scratch.numbers(most);
    let sets = match rows.step == area {
        true => (most / area).max(1),
        false => 1,
    };
    let mut of_block = [fold.lift(fold.lane()); MOST];
    for (number, totals) in totals.chunks_mut(sets * width).enumerate() {
        let start = rows.start + number * sets * rows.step;
        let all = area * (totals.len() / width);
        for first in (0..all).step_by(most) {
            let data = &mut tile[..most.min(all - first)];
            source.load((start + first).cast_signed(), 1, data);
            let block = NarrowRows {
                start: 0,
                step: area,
                rows: rows.rows.min(data.len() / width),
                data,
                ..rows
            };
            if first == 0 {
                fold_narrow(fold, block, totals);
                continue;
            }
            let of_block = &mut of_block[..width];
            fold_narrow(fold, block, of_block);
            for (total, &more) in totals.iter_mut().zip(&*of_block) {
                *total = fold.merge(*total, more);
            }
        }
    }
}

struct NarrowTask<'a, C, F, T> {
    fold: F,
    rows: NarrowRows<'a, C>,
    totals: &'a mut [T],
}

impl<C: Compute, F: LaneFold<C>> NarrowTask<'_, C, F, F::Total> {
    /// Element by element.
    #[cold]
    fn one_by_one(self) {
        let Self { fold, rows, totals } = self;
        for (set, totals) in totals.chunks_exact_mut(rows.width).enumerate() {
            totals.fill(fold.lift(fold.lane()));
            for row in 0..rows.rows {
                let at = rows.start + set * rows.step + row * rows.pitch;
                for (total, &value) in totals.iter_mut().zip(&rows.data[at..]) {
                    *total = fold.merge(*total, fold.lift(fold.step(fold.lane(), value)));
                }
            }
        }
    }
}

impl<C: Compute, F: LaneFold<C>> Task for NarrowTask<'_, C, F, F::Total> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { fold, rows, totals } = self;
        let (pitch, width) = (rows.pitch, rows.width);
        let (count, len) = (lanes(pitch), (rows.rows - 1) * pitch + width);
        let far = stream::is_far(size_of_val(rows.data));
        let mut room = Lines([fold.lane(); ROOM + MOST]);
        let lanes = &mut room.0;
        for (set, totals) in totals.chunks_exact_mut(width).enumerate() {
            let all = &rows.data[rows.start + set * rows.step..][..len];
            totals.fill(fold.lift(fold.lane()));
            for block in all.chunks(STEPS * count) {
                step_lanes::<A, C, F>(fold, block, far, &mut lanes[..count]);
                // Of few elements, lanes that have none of them are not looked at.
                let used = count.min(block.len().next_multiple_of(4 * pitch));
                let columns = columns::<A, C, F>(fold, lanes, (used, pitch));
                for (total, lane) in totals.iter_mut().zip(columns) {
                    *total = fold.merge(*total, fold.lift(lane));
                }
            }
        }
    }
}

/// New lanes stepped over a block: in registers, where there are as many as most widths have.
#[inline(always)]
fn step_lanes<A: Arch, C: Compute, F: LaneFold<C>>(
    fold: F,
    mut block: &[C],
    far: bool,
    lanes: &mut [F::Lane],
) {
    lanes.fill(fold.lane());
    if !A::TUNED {
        let count = lanes.len();
        for (index, lane) in lanes.iter_mut().enumerate() {
            let values = block.iter().skip(index).step_by(count);
            *lane = values.fold(*lane, |lane, &value| fold.step(lane, value));
        }
        return;
    }
    if let Ok(lanes) = <&mut [F::Lane; LANES]>::try_from(&mut *lanes) {
        let (chunks, rest) = block.as_chunks();
        *lanes = step_chunks(fold, *lanes, chunks, far);
        block = rest;
    }
    for chunk in block.chunks(lanes.len()) {
        let (groups, rest) = chunk.as_chunks::<MOST>();
        for (lanes, values) in lanes.as_chunks_mut::<MOST>().0.iter_mut().zip(groups) {
            for at in 0..MOST {
                lanes[at] = fold.step(lanes[at], values[at]);
            }
        }
        for (lane, &value) in lanes[groups.len() * MOST..].iter_mut().zip(rest) {
            *lane = fold.step(*lane, value);
        }
    }
}

/// The lanes of each column as one: those of every fourth row, and these four. Of columns that are not, anything.
#[inline(always)]
fn columns<A: Arch, C: Compute, F: LaneFold<C>>(
    fold: F,
    lanes: &[F::Lane; ROOM + MOST],
    (count, width): (usize, usize),
) -> [F::Lane; MOST] {
    let none = [fold.lane(); MOST];
    let [mut a, mut b, mut c, mut d] = [none; 4];
    if A::TUNED {
        for at in (0..count).step_by(4 * width) {
            // Behind the last row are lanes of nothing.
            let row = |index: usize| &lanes[(at + index * width).min(ROOM)..];
            a = joined(fold, a, row(0));
            b = joined(fold, b, row(1));
            c = joined(fold, c, row(2));
            d = joined(fold, d, row(3));
        }
    } else {
        for (index, &lane) in lanes[..count].iter().enumerate() {
            let rows = &mut [&mut a, &mut b, &mut c, &mut d];
            let to = &mut rows[index / width % 4][index % width];
            *to = fold.join(*to, lane);
        }
    }
    joined(fold, joined(fold, a, &b), &joined(fold, c, &d))
}

/// Lanes of a row joined with others. By value: a reference would keep them in memory.
#[inline(always)]
fn joined<C: Compute, F: LaneFold<C>>(
    fold: F,
    mut lanes: [F::Lane; MOST],
    others: &[F::Lane],
) -> [F::Lane; MOST] {
    let others = &others[..MOST];
    for at in 0..MOST {
        lanes[at] = fold.join(lanes[at], others[at]);
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce_kinds::{Addable, Sum};

    /// Sums of whole numbers, which no order changes, beside a plain loop; wrong ones are reported.
    fn check<C: Addable>(of: impl Fn(i32) -> C, wide: impl Fn(C::Sum) -> f64) -> Vec<String>
    where
        Sum<false>: LaneFold<C, Total = C::Sum>,
    {
        let mut wrong = Vec::new();
        for (pitch, width) in
            (2..=MOST).flat_map(|pitch| (1..=pitch).map(move |width| (pitch, width)))
        {
            let block = rows_of_block(pitch);
            for rows in [1, 2, 9, 10, 31, 100, block - 1, block, 2 * block + 7] {
                let (sets, gap) = (3, 5);
                let step = rows * pitch + gap;
                let number = |index: usize| (index * 7919 % 1009) as i32 - 600;
                let data: Vec<C> = (0..1 + sets * step)
                    .map(|index| of(number(index)))
                    .collect();
                let narrow = NarrowRows {
                    data: &data,
                    start: 1,
                    step,
                    rows,
                    pitch,
                    width,
                };
                let mut sums = vec![of(1).widen(); sets * width];
                fold_narrow(Sum::<false>, narrow, &mut sums);
                for (at, &found) in sums.iter().enumerate() {
                    let (set, column) = (at / width, at % width);
                    let numbers =
                        (0..rows).map(|row| number(1 + set * step + row * pitch + column));
                    let sum: i32 = numbers.sum();
                    let found = wide(found);
                    if found != f64::from(sum) {
                        wrong.push(format!(
                            "{rows} rows of {width} of {pitch}: {found}, not {sum}"
                        ));
                    }
                }
            }
        }
        wrong
    }

    #[test]
    fn columns_of_packed_rows_are_those_of_a_plain_loop() {
        let mut wrong = check::<f32>(|i| i as f32, f32::value);
        wrong.extend(check::<f64>(f64::from, f64::value));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
