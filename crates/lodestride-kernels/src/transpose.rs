//! Transposing matrices of elements of 1, 2, 4 or 8 bytes: the inner step of every copy whose source and destination are
//! contiguous along different axes.
//!
//! A tile of the source, a cache line or two wide, is brought into L1 row by row, so that rows a power of two apart do not fight
//! for the same cache sets; it leaves transposed in registers, by interleaving vectors. Destinations that the caches cannot
//! hold are written past them in whole lines; where lines begin at another place in every row, the end of a tile's line is
//! carried over to the next tile. Processors with AVX-512 need no stage for elements of 2, 4 and 8 bytes: `transpose_lines.rs`;
//! those with AVX2 none for elements of 4 and 8 bytes: `transpose_halves.rs`.
#![expect(
    unsafe_code,
    reason = "tiles of strided matrices are moved through raw pointers"
)]

use crate::shuffle::{Bytes1, Bytes2, Bytes4, Bytes8, Unit, Vector, perfect_shuffles};
use crate::stream::{self, LINE};
use crate::tile::{self, Scratch};
#[cfg(target_arch = "x86_64")]
use crate::{transpose_halves, transpose_lines};
use std::ops::Range;

/// Rows of a block: the carried pieces of lines end here.
const BLOCK_ROWS: usize = 1024;

/// Bytes from one row of a stage to the next: two lines. Tiles whose lines leave at once past the caches are as wide, since
/// pairs of lines come faster: on an Intel Xeon, 32 matrices of 64 by 3136 `f32` took 3.1 ms instead of 6.5 ms (5.9 ms by asking
/// for lines earlier instead). Others are one line wide, and so are those of processors that need no waking where rows have pages of
/// their own, of `f64` where they lie whole pages apart: on an AMD EPYC 4096x4096 `f32` takes 5.9 ms by single lines and 10 ms by
/// pairs, the 32 matrices 2.3 and 3.4 ms, as `f64` 10.5 and 7.1 ms.
const PITCH: usize = 2 * LINE;

/// Bytes of a source row in a block where pieces of lines are carried.
const BLOCK_BYTES: usize = 1024;

/// A matrix to be transposed: `out[j, i] = x[i, j]`, both through pointers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet {
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) size: usize,
    /// Rows of the source, along which the destination has the smaller step.
    pub(crate) rows: usize,
    /// Columns of the source, along which the source has the smaller step.
    pub(crate) columns: usize,
    /// Elements from one row of the source to the next, and from one column to the next.
    pub(crate) x_steps: [isize; 2],
    /// The same for the destination: along rows, along columns.
    pub(crate) out_steps: [isize; 2],
    /// Whether to write past the caches.
    pub(crate) stream: bool,
}

/// How a tile reaches the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// By ordinary stores.
    Plain,
    /// Past the caches; lines begin at the same row of every column.
    Lines,
    /// Past the caches; lines begin anywhere.
    Carry,
}

/// Bytes of a destination row from which on whole lines of it outweigh its two ends, which have to be read first.
const LONG: usize = 1024;

/// What of a matrix a tile covers: first row, rows, first column, columns.
#[derive(Clone, Copy)]
struct Tile {
    row: usize,
    rows: usize,
    column: usize,
    columns: usize,
    /// Whether it begins and whether it ends the stretch within which pieces of lines are carried.
    first: bool,
    last: bool,
    /// Whether a tile beside it comes next and will have to be waited for.
    ahead: bool,
}

impl Sheet {
    /// Transposes the matrix.
    ///
    /// # Safety
    /// Every element the steps reach lies in memory valid for reads (`x`) and writes (`out`), which nobody else touches
    /// meanwhile; the two are apart.
    pub(crate) unsafe fn run(&self) {
        let sheet = self.forwards();
        // SAFETY: the caller's contract.
        if unsafe { !sheet.by_lines() } {
            // SAFETY: as above.
            unsafe { sheet.by_stages() };
        }
    }

    /// Transposes the matrix on any processor.
    ///
    /// # Safety
    /// As [`Sheet::run`]; the source's columns go forwards.
    unsafe fn by_stages(&self) {
        match self.size {
            // SAFETY: the caller's contract; the element size is the unit's.
            1 => unsafe { self.blocks::<Bytes1, 16>() },
            // SAFETY: as above.
            2 => unsafe { self.blocks::<Bytes2, 8>() },
            // SAFETY: as above.
            4 => unsafe { self.blocks::<Bytes4, 4>() },
            // SAFETY: as above; no element is larger than 8 bytes.
            _ => unsafe { self.blocks::<Bytes8, 2>() },
        }
    }

    /// Transposes the matrix in the registers of AVX-512 or AVX2, or does nothing and answers false.
    ///
    /// # Safety
    /// As [`Sheet::by_stages`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn by_lines(&self) -> bool {
        let store = self.store();
        // SAFETY: the caller's contract.
        if unsafe { transpose_lines::try_run(self, store) } {
            return true;
        }
        // SAFETY: as above.
        unsafe { transpose_halves::try_run(self, store) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn by_lines(&self) -> bool {
        false
    }

    /// The same with the source's columns in the direction of memory.
    fn forwards(&self) -> Sheet {
        if self.x_steps[1] >= 0 {
            return *self;
        }
        let last = self.columns.cast_signed() - 1;
        let bytes = self.size.cast_signed();
        Sheet {
            x: self.x.wrapping_offset(last * self.x_steps[1] * bytes),
            out: self.out.wrapping_offset(last * self.out_steps[1] * bytes),
            x_steps: [self.x_steps[0], -self.x_steps[1]],
            out_steps: [self.out_steps[0], -self.out_steps[1]],
            ..*self
        }
    }

    fn store(&self) -> Store {
        let pitch = self.out_steps[1] * self.size.cast_signed();
        let bytes = self.rows * self.size;
        let aligned = self.out.addr().is_multiple_of(LINE) && pitch % LINE.cast_signed() == 0;
        if !self.stream || self.out_steps[0] != 1 {
            Store::Plain
        } else if aligned && bytes.is_multiple_of(LINE) {
            Store::Lines
        } else if bytes >= LONG {
            Store::Carry
        } else {
            Store::Plain
        }
    }

    /// Whether lines that leave at once are read in pairs, see [`PITCH`].
    fn wants_pairs(&self) -> bool {
        let pitch = self.x_steps[0].unsigned_abs() * self.size;
        let is_apart = if self.size == 4 {
            pitch >= stream::PAGE
        } else {
            pitch.is_multiple_of(stream::PAGE)
        };
        stream::wakes() || !is_apart
    }

    /// # Safety
    /// As [`Sheet::run`], with `U` of the element's size.
    unsafe fn blocks<U: Unit<B>, const B: usize>(&self) {
        let store = self.store();
        // Smaller elements fill too many lines at a time.
        let direct = store == Store::Lines && B <= 4 && self.x_steps[1] == 1;
        let width = if direct && self.wants_pairs() {
            PITCH
        } else {
            LINE
        } / U::SIZE;
        let block_columns = match store {
            Store::Carry => BLOCK_BYTES / U::SIZE,
            Store::Plain | Store::Lines => self.columns.max(1),
        };
        let mut scratch = Scratch::take(U::ROWS * PITCH + width * (U::RUN + LINE));
        let stage = scratch.pointer();
        // From beyond the second-level cache, line by line of rows far apart, where the processor wants to be woken for them.
        let bytes = self.rows * self.columns * U::SIZE;
        let far = bytes >= stream::SECOND_LEVEL && self.x_steps[1] == 1 && stream::wakes();
        for row in (0..self.rows).step_by(BLOCK_ROWS) {
            let rows = row..self.rows.min(row + BLOCK_ROWS);
            for column in (0..self.columns).step_by(block_columns) {
                let columns = column..self.columns.min(column + block_columns);
                // Whole squares first, so that little of a matrix takes the way of what is not.
                let whole = |range: &Range<usize>| match store {
                    Store::Carry => range.end,
                    Store::Plain | Store::Lines => range.start + range.len() / B * B,
                };
                let [whole_rows, whole_columns] = [&rows, &columns].map(whole);
                let tile = |row: usize, column: usize| Tile {
                    row,
                    rows: length(row, whole_rows, U::ROWS, rows.end),
                    column,
                    columns: length(column, whole_columns, width, columns.end),
                    first: row == rows.start,
                    last: row + U::ROWS >= rows.end,
                    ahead: far && store != Store::Carry && column + 2 * width <= columns.end,
                };
                let all_rows = (rows.start..whole_rows).step_by(U::ROWS);
                let all_columns = (columns.start..whole_columns).step_by(width);
                if store == Store::Carry {
                    for column in all_columns {
                        for row in all_rows.clone() {
                            // SAFETY: the tile lies inside the matrix; the scratch holds both stages of a tile.
                            unsafe { self.tile::<U, B>(tile(row, column), store, stage) };
                        }
                    }
                } else {
                    for row in all_rows.chain((whole_rows..rows.end).step_by(B)) {
                        let rest = (whole_columns..columns.end).step_by(B);
                        for column in all_columns.clone().chain(rest) {
                            // SAFETY: as above.
                            unsafe { self.tile::<U, B>(tile(row, column), store, stage) };
                        }
                    }
                }
            }
        }
        if store != Store::Plain {
            stream::fence();
        }
    }

    /// Where an element of the source lies.
    #[inline(always)]
    pub(crate) fn source(&self, row: usize, column: usize) -> *const u8 {
        let steps = row.cast_signed() * self.x_steps[0] + column.cast_signed() * self.x_steps[1];
        self.x.wrapping_offset(steps * self.size.cast_signed())
    }

    /// Where an element of the destination lies.
    #[inline(always)]
    pub(crate) fn target(&self, row: usize, column: usize) -> *mut u8 {
        let steps =
            row.cast_signed() * self.out_steps[0] + column.cast_signed() * self.out_steps[1];
        self.out.wrapping_offset(steps * self.size.cast_signed())
    }

    /// Transposes one tile.
    ///
    /// # Safety
    /// As [`Sheet::run`]; the tile lies inside the matrix, `stage` is scratch memory for a source and a destination tile.
    #[inline(always)]
    unsafe fn tile<U: Unit<B>, const B: usize>(&self, tile: Tile, store: Store, stage: *mut u8) {
        if store == Store::Carry && (tile.first || tile.last) {
            self.announce_ends(tile);
        }
        if tile.ahead {
            self.announce_next(tile, store);
        }
        // SAFETY: the caller's contract.
        unsafe { self.fetch::<U, B>(tile, stage) };
        let whole = tile.rows.is_multiple_of(B) && tile.columns.is_multiple_of(B);
        let direct = match store {
            Store::Plain => whole && self.out_steps[0] == 1,
            Store::Lines => B <= 4 && whole && (tile.rows * U::SIZE).is_multiple_of(LINE),
            Store::Carry => false,
        };
        if direct {
            let pitch = self.out_steps[1] * U::SIZE.cast_signed();
            let target = self.target(tile.row, tile.column);
            for column in (0..tile.columns).step_by(B) {
                let to = target.wrapping_offset(column.cast_signed() * pitch);
                let from = stage.wrapping_add(column * U::SIZE);
                if store == Store::Lines {
                    // SAFETY: whole lines of `B` rows of the destination, and rows of the stage that `fetch` filled.
                    unsafe { whole_lines::<U, B>(from, to, pitch, tile.rows) };
                } else {
                    // SAFETY: as above, without the alignment.
                    unsafe { columns::<U, B>(from, rows_from(to, pitch), tile.rows) };
                }
            }
            return;
        }
        let room = stage.wrapping_add(U::ROWS * PITCH);
        let pitch = U::RUN + LINE;
        let shift = |column: usize| match store {
            Store::Carry => self.target(tile.row, tile.column + column).addr() % LINE,
            Store::Plain | Store::Lines => 0,
        };
        for column in (0..tile.columns).step_by(B) {
            let to = room.wrapping_add(column * pitch);
            let from = stage.wrapping_add(column * U::SIZE);
            // Columns and rows beyond the tile's edge are computed from whatever the stage holds, and left there.
            let mut targets = rows_from::<B>(to, pitch.cast_signed());
            for (j, target) in targets.iter_mut().enumerate() {
                *target = target.wrapping_add(shift((column + j).min(tile.columns - 1)));
            }
            // SAFETY: the second stage has a row of `RUN` bytes and a line for every column of a tile.
            unsafe { columns::<U, B>(from, targets, tile.rows) };
        }
        for column in 0..tile.columns {
            let row = room.wrapping_add(column * pitch);
            // SAFETY: the row holds the tile's part of this column of the source.
            unsafe { self.put::<U, B>(tile, column, store, row, shift(column)) };
        }
    }

    /// Asks for what the tile to the right will read, and for the lines it will write where that needs them.
    #[inline(always)]
    fn announce_next(&self, tile: Tile, store: Store) {
        let next = tile.column + tile.columns;
        for row in 0..tile.rows {
            let source = self.source(tile.row + row, next);
            stream::prefetch_run(source, tile.columns * self.size);
        }
        let pitch = self.out_steps[1].unsigned_abs() * self.size;
        if store == Store::Plain && self.out_steps[0] == 1 && pitch >= stream::PAGE {
            for column in 0..tile.columns {
                let target = self.target(tile.row, next + column);
                stream::prefetch_run(target, tile.rows * self.size);
            }
        }
    }

    /// Asks for the lines of the destination that the tile writes only in part: waiting for them would cost more than
    /// everything else.
    #[inline(always)]
    fn announce_ends(&self, tile: Tile) {
        for column in 0..tile.columns {
            let target = self.target(tile.row, tile.column + column);
            if tile.first {
                stream::prefetch(target);
            }
            if tile.last {
                stream::prefetch(target.wrapping_add(tile.rows * self.size));
            }
        }
    }

    /// Brings the source's part into the first stage.
    ///
    /// # Safety
    /// As [`Sheet::tile`].
    #[inline(always)]
    unsafe fn fetch<U: Unit<B>, const B: usize>(&self, tile: Tile, stage: *mut u8) {
        let bytes = tile.columns * U::SIZE;
        for row in 0..tile.rows {
            let from = self.source(tile.row + row, tile.column);
            let to = stage.wrapping_add(row * PITCH);
            if self.x_steps[1] != 1 {
                // SAFETY: elements of the source, and a row of the stage, which takes `columns` elements.
                unsafe { tile::gather(to, from, self.x_steps[1], U::SIZE, tile.columns) };
            } else if bytes == PITCH {
                // SAFETY: as above, contiguous.
                unsafe { std::ptr::copy_nonoverlapping(from, to, PITCH) };
            } else if bytes == LINE {
                // SAFETY: as above, contiguous.
                unsafe { std::ptr::copy_nonoverlapping(from, to, LINE) };
            } else {
                // SAFETY: as above, contiguous.
                unsafe { stream::copy_short(to, from, bytes) };
            }
        }
    }

    /// Brings one column of a tile from the second stage, where it begins `shift` bytes into a row, to the destination.
    ///
    /// # Safety
    /// As [`Sheet::tile`]; `row` is the column's row of the second stage.
    #[inline(always)]
    unsafe fn put<U: Unit<B>, const B: usize>(
        &self,
        tile: Tile,
        column: usize,
        store: Store,
        row: *mut u8,
        shift: usize,
    ) {
        let target = self.target(tile.row, tile.column + column);
        let bytes = tile.rows * U::SIZE;
        match store {
            Store::Plain if self.out_steps[0] != 1 => {
                // SAFETY: elements of the destination, and `rows` elements of the stage.
                unsafe { tile::scatter(target, self.out_steps[0], row, U::SIZE, tile.rows) };
            }
            // SAFETY: as above, contiguous.
            Store::Plain => unsafe { std::ptr::copy_nonoverlapping(row, target, bytes) },
            // SAFETY: as above, contiguous.
            Store::Lines => unsafe { stream::copy_raw(target, row, bytes) },
            Store::Carry => {
                let (mut begin, end) = (0, shift + bytes);
                let to = |at: usize| target.wrapping_sub(shift).wrapping_add(at);
                if tile.first && shift > 0 {
                    begin = LINE.min(end);
                    // SAFETY: the first bytes of the destination's row, up to the next line.
                    unsafe { stream::copy_short(target, row.wrapping_add(shift), begin - shift) };
                }
                while begin + LINE <= end {
                    // SAFETY: a whole line of the destination: `shift` bytes before `target` a line begins, which
                    // this stretch has not written unless it is the first, and then it was skipped.
                    unsafe { stream::line_raw(to(begin), row.wrapping_add(begin)) };
                    begin += LINE;
                }
                let rest = row.wrapping_add(begin);
                let to = if tile.last { to(begin) } else { row };
                if begin > 0 || tile.last {
                    // SAFETY: the last bytes of the destination's row, or the first line of the stage's, which is apart.
                    unsafe { stream::copy_short(to, rest, end - begin) };
                }
            }
        }
    }
}

/// How much of a range that ends there a tile takes from a place on: as much as one is long, of the whole squares if some are left.
fn length(from: usize, whole: usize, most: usize, end: usize) -> usize {
    let end = if from < whole { whole } else { end };
    most.min(end - from)
}

/// `B` places, a pitch apart.
#[inline(always)]
fn rows_from<const B: usize>(first: *mut u8, pitch: isize) -> [*mut u8; B] {
    std::array::from_fn(|j| first.wrapping_offset(j.cast_signed() * pitch))
}

/// Transposes the first `B` columns of a stage to `B` rows, `rows` long, which begin at the targets.
///
/// # Safety
/// `from` is in a stage with at least `rows` rows, rounded up to `B`; each target is valid for as many elements.
#[inline(always)]
unsafe fn columns<U: Unit<B>, const B: usize>(from: *const u8, targets: [*mut u8; B], rows: usize) {
    for row in (0..rows).step_by(B) {
        // SAFETY: `B` rows of the stage.
        let vectors = unsafe { turned::<U, B>(from.wrapping_add(row * PITCH)) };
        for (vector, target) in vectors.into_iter().zip(targets) {
            // SAFETY: `B` elements from `row` on.
            unsafe { vector.store(target.wrapping_add(row * U::SIZE)) };
        }
    }
}

/// [`columns`] for whole lines of the destination, each written at once past the caches.
///
/// # Safety
/// As [`columns`]; every row of the destination is aligned to lines and as long as some of them.
#[inline(always)]
unsafe fn whole_lines<U: Unit<B>, const B: usize>(
    from: *const u8,
    to: *mut u8,
    pitch: isize,
    rows: usize,
) {
    for row in (0..rows).step_by(4 * B) {
        // SAFETY: four times `B` rows of the stage: a line has four vectors.
        let quarters = [0, 1, 2, 3]
            .map(|i| unsafe { turned::<U, B>(from.wrapping_add((row + i * B) * PITCH)) });
        for j in 0..B {
            let to = to.wrapping_offset(j.cast_signed() * pitch);
            let to = to.wrapping_add(row * U::SIZE);
            for (i, quarter) in quarters.iter().enumerate() {
                // SAFETY: a quarter of an aligned line of the destination.
                unsafe { quarter[j].stream(to.wrapping_add(i * 16)) };
            }
        }
    }
}

/// The transpose of `B` rows and columns of a stage.
///
/// # Safety
/// `from` is in a stage, `B` rows before its end.
#[inline(always)]
unsafe fn turned<U: Unit<B>, const B: usize>(from: *const u8) -> [Vector; B] {
    // SAFETY: sixteen bytes of each of `B` rows.
    let rows = std::array::from_fn(|i| unsafe { Vector::load(from.wrapping_add(i * PITCH)) });
    perfect_shuffles(rows, U::low, U::high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Element `at` of a matrix, different in every byte.
    fn byte(at: usize, part: usize) -> u8 {
        (at.wrapping_mul(2654435761) >> (5 * part)) as u8
    }

    fn check(
        size: usize,
        [rows, columns]: [usize; 2],
        [x_step, out_step]: [isize; 2],
        offset: usize,
        stream: bool,
    ) {
        let (x_pitch, out_pitch) = (
            columns * x_step.unsigned_abs() + 3,
            rows * out_step.unsigned_abs() + offset,
        );
        let x: Vec<u64> = vec![0; (rows * x_pitch * size).div_ceil(8) + 8];
        let mut x = x;
        let source: *mut u8 = x.as_mut_ptr().cast();
        // Aligned to lines, so that some destinations are written in whole lines.
        let mut out = vec![0u64; (columns * out_pitch * size + offset * size).div_ceil(8) + 16];
        let target: *mut u8 = out.as_mut_ptr().cast();
        let target = target.wrapping_add(target.align_offset(LINE) + offset * size);
        let first = if x_step < 0 {
            (columns - 1) * x_step.unsigned_abs()
        } else {
            0
        };
        let from = |i: usize, j: usize| {
            ((first + i * x_pitch).cast_signed() + j.cast_signed() * x_step).unsigned_abs() * size
        };
        for (i, j, part) in every(rows, columns, size) {
            // SAFETY: inside `x`, which is nobody else's.
            unsafe {
                source
                    .wrapping_add(from(i, j) + part)
                    .write(byte(i * columns + j, part))
            };
        }
        let sheet = Sheet {
            x: source.wrapping_add(first * size),
            out: target,
            size,
            rows,
            columns,
            x_steps: [x_pitch.cast_signed(), x_step],
            out_steps: [out_step, out_pitch.cast_signed()],
            stream,
        };
        let expect = |how: &str| {
            for (i, j, part) in every(rows, columns, size) {
                let at = (j * out_pitch + i * out_step.unsigned_abs()) * size + part;
                let place = target.wrapping_add(at);
                // SAFETY: inside `out`.
                let found = unsafe { place.replace(0) };
                assert_eq!(
                    found,
                    byte(i * columns + j, part),
                    "{sheet:?} {how} at {i}, {j}, byte {part}"
                );
            }
        };
        // SAFETY: the steps reach elements of the two vectors, which are apart.
        unsafe { sheet.run() };
        expect("as the processor likes it");
        // SAFETY: as above.
        unsafe { sheet.forwards().by_stages() };
        expect("by stages");
        assert!(out.iter().all(|&word| word == 0), "{sheet:?} wrote more");
    }

    fn every(
        rows: usize,
        columns: usize,
        size: usize,
    ) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..rows).flat_map(move |i| {
            (0..columns).flat_map(move |j| (0..size).map(move |part| (i, j, part)))
        })
    }

    #[test]
    fn every_size_step_and_alignment_is_transposed() {
        let shapes = [
            [4, 4],
            [64, 16],
            [16, 17],
            [31, 8],
            [128, 64],
            [260, 2100],
            [5, 70],
            [200, 33],
            [257, 9],
            [1100, 20],
            [2049, 5],
        ];
        for size in [1, 2, 4, 8] {
            for shape in shapes {
                for steps in [[1, 1], [-1, 1], [2, 1], [1, 2], [-3, 2]] {
                    for offset in [0, 1, 9] {
                        for stream in [false, true] {
                            check(size, shape, steps, offset, stream);
                        }
                    }
                }
            }
        }
    }
}
