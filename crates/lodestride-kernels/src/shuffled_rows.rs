//! Copies of short rows that lie otherwise than they should, such as pixels from right to left or their channels backwards: one shuffle
//! brings the elements of sixteen bytes to their places.
#![expect(
    unsafe_code,
    reason = "sixteen bytes at a time are moved through raw pointers and shuffled by intrinsics"
)]

use crate::isa::Isa;
use crate::short_rows::LONGEST;
use crate::stream::{LINE, copy_short, prefetch_run};
use crate::transfer::Axis;

/// Bytes that are shuffled at a time.
const WIDTH: usize = 16;

/// Rows so few are not worth what it costs to find out where their elements go.
const FEW: usize = 16;

/// Bytes of the longest rows that are taken backwards one by one.
const LONGEST_BACKWARDS: usize = 1 << 14;

/// Longer rows backwards are not foreseen by the processor, so each is asked for while the one before is copied: on an EPYC of family 26
/// rows of 128 and of 1000 of 32 million `f32` took 16 and 11 ms without and 8 and 10 with it, those of 64 6.4 either way.
const FORESEEN: usize = 4 * LINE;

/// For each byte of the destination, its place among those of the source.
type Places = [u8; WIDTH];

/// A copy of rows to a dense destination, of one plane or of several.
pub(crate) struct Shuffle {
    rows: Axis,
    run: Axis,
    /// Bytes of an element: 1, 2, 4 or 8.
    size: usize,
    /// How many rows are moved at once; 0 where a row is longer than sixteen bytes.
    group: usize,
    /// Bytes from a group's first element to the one that lies lowest in memory.
    low: isize,
    places: Places,
}

impl Shuffle {
    /// The copy of rows of elements of `size` bytes, if it is one of those that this is for: rows that follow each other in the
    /// destination and lie close together in the source, or longer ones backwards. `gaps` says whether what lies between elements of
    /// the source may be read.
    pub(crate) fn of([mut rows, mut run]: [Axis; 2], size: usize, gaps: bool) -> Option<Self> {
        if rows.out == 1 {
            (rows, run) = (run, rows);
        }
        let bytes = run.size * size;
        // What is repeated is read once, see `line_repeats.rs`.
        let longest = if run.x == -1 {
            LONGEST_BACKWARDS
        } else {
            LONGEST
        };
        let is_short = run.out == 1 && run.x != 0 && bytes <= longest;
        if rows.size < FEW || !is_short || !has_shuffles() {
            return None;
        }
        let mut shuffle = Self {
            rows,
            run,
            size,
            group: 0,
            low: 0,
            places: [0; WIDTH],
        };
        if bytes > WIDTH {
            if run.x != -1 {
                return None;
            }
            shuffle.find_places(1, [0, -size.cast_signed()], WIDTH / size);
            return Some(shuffle);
        }
        let lies_close = gaps || [rows.x, run.x].map(isize::unsigned_abs) == [run.size, 1];
        let [row_step, step] = [rows.x, run.x].map(|step| step.saturating_mul(size.cast_signed()));
        let last = step.saturating_mul(run.size.cast_signed() - 1);
        let span = last.unsigned_abs().saturating_add(size);
        if rows.out != run.size.cast_signed() || rows.x == 0 || !lies_close || span > WIDTH {
            return None;
        }
        // Rows that follow a first one in what it leaves of the sixteen bytes.
        let follow =
            |room: usize, step: usize| room.checked_sub(step).map_or(0, |room| room / step + 1);
        let more = follow(WIDTH - span, row_step.unsigned_abs());
        shuffle.group = 1 + more.min(follow(WIDTH - bytes, bytes));
        shuffle.find_places(shuffle.group, [row_step, step], run.size);
        (shuffle.group * run.size > 1).then_some(shuffle)
    }

    /// The places of the elements of some rows, and of the lowest one, by bytes from row to row and from element to element.
    fn find_places(&mut self, rows: usize, [row_step, step]: [isize; 2], elements: usize) {
        let end = |count: usize, step: isize| (step * (count.cast_signed() - 1)).min(0);
        self.low = end(rows, row_step) + end(elements, step);
        let (mut row, mut places) = (-self.low, self.places.iter_mut());
        for _ in 0..rows {
            let mut from = row;
            for _ in 0..elements {
                for (byte, place) in (from..).zip(places.by_ref().take(self.size)) {
                    *place = byte as u8;
                }
                from += step;
            }
            row += row_step;
        }
    }

    /// Copies the rows of a plane from their first elements on.
    ///
    /// # Safety
    /// Every element that the axes reach from there lies in memory valid for reads (`x`) and writes (`out`), which nobody else touches
    /// meanwhile; none of `out` is one of `x`.
    pub(crate) unsafe fn copy(&self, out: *mut u8, x: *const u8) {
        match self.group {
            // SAFETY: the caller's contract; the processor was asked.
            0 => unsafe { self.backwards(out, x) },
            // SAFETY: as above.
            _ => unsafe { self.groups(out, x) },
        }
    }

    /// Groups of rows of at most sixteen bytes.
    ///
    /// # Safety
    /// As [`Shuffle::copy`], for processors with AVX2.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
    unsafe fn groups(&self, out: *mut u8, x: *const u8) {
        let (rows, run) = (self.rows, self.run);
        let (width, size) = (WIDTH.cast_signed(), self.size.cast_signed());
        let to_step = self.group * run.size * self.size;
        let step = self.group.cast_signed() * rows.x * size;
        let bytes = rows.size * run.size * self.size;
        // The last sixteen bytes of the source and the first ones, from where the first group reads on.
        let far = |axis: Axis| axis.x * (axis.size.cast_signed() - 1) * size;
        let last = far(rows).max(0) + far(run).max(0) + size - self.low - width;
        let first = far(rows).min(0) + far(run).min(0) - self.low;
        let from = x.wrapping_offset(self.low);
        let at_an_end = |group: usize| {
            let at = group.cast_signed() * step;
            let inside = at.clamp(first, last);
            let further = (at - inside) as u8;
            let mut buffer = [0; WIDTH];
            let moved = buffer.as_mut_ptr();
            // SAFETY: sixteen bytes of the source, and of the buffer.
            unsafe { shuffle(moved, from.wrapping_offset(inside), &self.places, further) };
            let (to, left) = (out.wrapping_add(group * to_step), bytes - group * to_step);
            // SAFETY: what of the group there is of the destination.
            unsafe { copy_short(to, moved, to_step.min(left)) };
        };
        let groups = rows.size.div_ceil(self.group);
        // The last groups for which there are sixteen bytes of the destination and of the source, and the first one.
        let of_out = (bytes - WIDTH) / to_step + 1;
        let forward = if step > 0 {
            last / step + 1
        } else {
            groups.cast_signed() - 1
        };
        let end = of_out.min(forward.cast_unsigned());
        let start = if step < 0 {
            (-last).max(0).cast_unsigned().div_ceil(step.unsigned_abs())
        } else {
            0
        };
        let start = start.min(end);
        (0..start).for_each(at_an_end);
        let mut to = out.wrapping_add(start * to_step);
        let inside = |group: usize| (first..=last).contains(&(group.cast_signed() * step));
        debug_assert!(start == end || (inside(start) && inside(end - 1)));
        let mut from = from.wrapping_offset(start.cast_signed() * step);
        for _ in start..end {
            // SAFETY: sixteen bytes between the first and the last of both; what lies between elements of the source may be read, and
            // what is written of later rows is written again with them.
            unsafe { shuffle(to, from, &self.places, 0) };
            to = to.wrapping_add(to_step);
            from = from.wrapping_offset(step);
        }
        (end..groups).for_each(at_an_end);
    }

    /// Rows of more than sixteen bytes backwards.
    ///
    /// # Safety
    /// As [`Shuffle::copy`], for processors with AVX2.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
    unsafe fn backwards(&self, mut to: *mut u8, x: *const u8) {
        let (rows, size) = (self.rows, self.size.cast_signed());
        let last = self.run.size * self.size - WIDTH;
        let mut end = x.wrapping_offset(size);
        for _ in 0..rows.size {
            if last >= FORESEEN {
                let next = end.wrapping_offset(rows.x * size);
                prefetch_run(next.wrapping_sub(last + WIDTH), last + WIDTH);
            }
            for at in (0..last).step_by(WIDTH) {
                let from = end.wrapping_sub(at + WIDTH);
                // SAFETY: sixteen bytes of the row in both: `at + WIDTH` is less than its bytes.
                unsafe { shuffle(to.wrapping_add(at), from, &self.places, 0) };
            }
            // SAFETY: the last sixteen bytes of the row, and the first of the source.
            unsafe {
                shuffle(
                    to.wrapping_add(last),
                    end.wrapping_sub(last + WIDTH),
                    &self.places,
                    0,
                )
            };
            to = to.wrapping_offset(rows.out * size);
            end = end.wrapping_offset(rows.x * size);
        }
    }
}

/// Whether one instruction moves sixteen bytes to any places.
fn has_shuffles() -> bool {
    cfg!(target_arch = "x86_64") && Isa::detect() >= Isa::Avx2
}

/// Moves sixteen bytes, each from its place and so many on.
///
/// # Safety
/// Sixteen bytes are valid for reads and writes, and apart.
#[inline]
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn shuffle(to: *mut u8, from: *const u8, places: &Places, further: u8) {
    use std::arch::x86_64::*;
    // SAFETY: sixteen bytes of an array.
    let places = unsafe { _mm_loadu_si128(places.as_ptr().cast()) };
    let places = _mm_add_epi8(places, _mm_set1_epi8(further.cast_signed()));
    // SAFETY: the caller's contract.
    let bytes = unsafe { _mm_loadu_si128(from.cast()) };
    let moved = _mm_shuffle_epi8(bytes, places);
    // SAFETY: as above.
    unsafe { _mm_storeu_si128(to.cast(), moved) };
}

#[inline]
#[cfg(not(target_arch = "x86_64"))]
unsafe fn shuffle(to: *mut u8, from: *const u8, places: &Places, further: u8) {
    // SAFETY: the caller's contract.
    let bytes = unsafe { from.cast::<[u8; WIDTH]>().read() };
    let moved = places.map(|place| bytes[usize::from(place.wrapping_add(further)) % WIDTH]);
    // SAFETY: as above.
    unsafe { to.cast::<[u8; WIDTH]>().write(moved) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of every size, steps of both signs with and without gaps, either axis last, beside a loop over elements.
    #[test]
    fn rows_are_copied_as_by_elements() {
        let source: Vec<u8> = (0..1 << 18)
            .map(|i: usize| (i * i / 7 % 251) as u8)
            .collect();
        let (mut failed, mut done) = (Vec::new(), 0);
        for (size, count) in [1, 2, 4, 8]
            .into_iter()
            .flat_map(|size| [16, 17, 100].map(|n| (size, n)))
        {
            for (len, swapped) in (2..40).flat_map(|len: usize| [(len, false), (len, true)]) {
                let width = len.cast_signed();
                for (row, step) in [
                    (-width, 1),
                    (width, -1),
                    (width + 1, 1),
                    (width + 1, -1),
                    (-width - 2, -1),
                    (1, 3),
                    (-2 * width, 2),
                ] {
                    let axis = |size, out, x| Axis { size, out, x };
                    let mut axes = [axis(count, width, row), axis(len, 1, step)];
                    if swapped {
                        axes.reverse();
                    }
                    let Some(shuffle) = Shuffle::of(axes, size, true) else {
                        continue;
                    };
                    done += 1;
                    let (bytes, middle) = (count * len * size, source.len() / 2);
                    let mut out = vec![255; bytes + WIDTH];
                    // SAFETY: all steps from the middle of the source stay inside it, and the destination has room.
                    unsafe { shuffle.copy(out.as_mut_ptr(), source[middle..].as_ptr()) };
                    let byte = |at: usize| {
                        let (row_of, of_row) = (at / size / len, at / size % len);
                        let x = row_of.cast_signed() * row + of_row.cast_signed() * step;
                        source[middle.wrapping_add_signed(x * size.cast_signed()) + at % size]
                    };
                    let wanted: Vec<u8> = (0..bytes).map(byte).chain([255; WIDTH]).collect();
                    if out != wanted {
                        failed.push((size, count, len, row, step, swapped));
                    }
                }
            }
        }
        assert!(failed.is_empty(), "{failed:?}");
        assert_eq!(done > 0, has_shuffles());
    }
}
