//! Transposing squares whose rows are cache lines in the registers of AVX-512: no stage lies between, and every line of an
//! aligned destination is written at once.
#![expect(
    unsafe_code,
    reason = "lines are moved through raw pointers and interleaved by intrinsics"
)]

use crate::isa::Isa;
use crate::lines::{Line, put};
use crate::shuffle::perfect_shuffles;
use crate::stream::{self, LINE};
use crate::tile::Scratch;
use crate::transpose::{Sheet, Store};
use std::arch::x86_64::*;

/// Columns of a block where lines are carried from square to square: they wait in the second-level cache. On an AMD EPYC,
/// 4099x4097 `f64` took 22.9 ms by blocks of 32, 15.6 ms by 128, 13.5 ms by 512 and 12.2 ms by 2048.
const BLOCK: usize = 2048;

/// Where the destination's rows lie a multiple of so many bytes apart, they have few cache sets among them, and squares are
/// done in pairs, one below the other: lines of two neighbours are written in turn. On an AMD EPYC, 1024x1024 `f64` took 0.58 ms
/// by single squares and 0.45 ms by pairs, 4096x4096 11.7 and 10.3 ms; elsewhere pairs cost up to a half more.
const FIGHTING: usize = 1024;

/// Lines ahead of the one read that are asked for.
const AHEAD: usize = 2;

/// Transposes a matrix, or does nothing and answers false.
///
/// # Safety
/// As [`Sheet::run`], with the way to store that [`Sheet::store`] chose.
pub(crate) unsafe fn try_run(sheet: &Sheet, store: Store) -> bool {
    if sheet.x_steps[1] != 1 || sheet.out_steps[0] != 1 || Isa::detect() != Isa::Avx512 {
        return false;
    }
    match sheet.size {
        // Not every such processor has the instruction that carries bytes from square to square.
        1 if store == Store::Carry => return false,
        // SAFETY: the caller's contract; the processor was asked.
        1 => unsafe { squares_of_ones(sheet, store) },
        // SAFETY: as above.
        2 => unsafe { squares_of_twos(sheet, store) },
        // SAFETY: as above.
        4 => unsafe { squares_of_fours(sheet, store) },
        // SAFETY: as above.
        8 => unsafe { squares_of_eights(sheet, store) },
        _ => return false,
    }
    true
}

macro_rules! squares {
    ($name:ident, $size:literal, $columns:literal) => {
        /// # Safety
        /// As [`try_run`], for elements of that many bytes and processors with AVX-512.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $name(sheet: &Sheet, store: Store) {
            // SAFETY: the caller's contract.
            unsafe { squares::<$size, $columns>(sheet, store) }
        }
    };
}
squares!(squares_of_ones, 1, 16);
squares!(squares_of_twos, 2, 16);
squares!(squares_of_fours, 4, 16);
squares!(squares_of_eights, 8, 8);

/// Transposes squares of `N` columns and as many rows as elements of `SIZE` bytes are in a line.
///
/// # Safety
/// As [`try_run`], for elements of that size and processors with AVX-512.
#[inline(always)]
unsafe fn squares<const SIZE: usize, const N: usize>(sheet: &Sheet, store: Store) {
    let ahead = sheet.rows * sheet.columns * SIZE >= stream::SECOND_LEVEL;
    let block = match store {
        Store::Carry => BLOCK.min(sheet.columns),
        Store::Plain | Store::Lines => sheet.columns,
    };
    let high = LINE / SIZE;
    let pitch = sheet.out_steps[1].unsigned_abs() * SIZE;
    let pair = usize::from(pitch.is_multiple_of(FIGHTING));
    let mut scratch = (store == Store::Carry).then(|| Scratch::take(block * LINE));
    let carried = scratch.as_mut().map(|scratch| scratch.pointer());
    for left in (0..sheet.columns).step_by(block.max(1)) {
        let right = sheet.columns.min(left + block);
        for top in (0..sheet.rows).step_by(high << pair) {
            // One loop for one or two rows of squares: a loop of its own inside would cost as much as half a square.
            for square in 0..(right - left).div_ceil(N) << pair {
                let (row, column) = (top + (square & pair) * high, left + (square >> pair) * N);
                if row >= sheet.rows {
                    continue;
                }
                let square = Square {
                    x: sheet.source(row, column),
                    x_pitch: sheet.x_steps[0] * SIZE.cast_signed(),
                    out: sheet.target(row, column),
                    out_pitch: sheet.out_steps[1] * SIZE.cast_signed(),
                    rows: high.min(sheet.rows - row),
                    columns: N.min(right - column),
                };
                if ahead && (column * SIZE).is_multiple_of(LINE) {
                    square.announce();
                }
                // SAFETY: the caller's contract; the square lies inside the matrix.
                let lines = unsafe { square.turned::<SIZE, N>() };
                if SIZE > 1
                    && let Some(carried) = carried
                {
                    let ends = Ends {
                        first: row == 0,
                        last: row + high >= sheet.rows,
                    };
                    if ends.first || ends.last {
                        square.announce_ends(ends);
                    }
                    let carried = carried.wrapping_add((column - left) * LINE);
                    // SAFETY: as above; there is room for a line of each column of a block.
                    unsafe { square.join::<SIZE, N>(lines, carried, ends) };
                } else {
                    // SAFETY: as above.
                    unsafe { square.store::<SIZE, N>(lines, store == Store::Lines) };
                }
            }
        }
    }
    if store != Store::Plain {
        stream::fence();
    }
}

/// Whether a square is the first and whether it is the last of its columns.
#[derive(Clone, Copy)]
struct Ends {
    first: bool,
    last: bool,
}

/// A square of the matrix, or the part of one that is left at an edge: where its rows begin on both sides, how many bytes they
/// lie apart, and how many there are.
#[derive(Clone, Copy)]
struct Square {
    x: *const u8,
    x_pitch: isize,
    out: *mut u8,
    out_pitch: isize,
    rows: usize,
    columns: usize,
}

impl Square {
    #[inline(always)]
    fn source(self, row: usize) -> *const u8 {
        self.x.wrapping_offset(row.cast_signed() * self.x_pitch)
    }

    #[inline(always)]
    fn target(self, column: usize) -> *mut u8 {
        self.out
            .wrapping_offset(column.cast_signed() * self.out_pitch)
    }

    /// Asks for what a square further to the right will read.
    #[inline(always)]
    fn announce(self) {
        for row in 0..self.rows {
            stream::prefetch(self.source(row).wrapping_add(AHEAD * LINE));
        }
    }

    /// Asks for the lines of the destination of which a square further to the right writes only a part.
    #[inline(always)]
    fn announce_ends(self, ends: Ends) {
        for column in self.columns..2 * self.columns {
            if ends.first {
                stream::prefetch(self.target(column));
            }
            if ends.last {
                stream::prefetch(self.target(column).wrapping_add(LINE));
            }
        }
    }

    /// The square's columns, each of them a line; what is beyond the edge is anything.
    ///
    /// # Safety
    /// As [`squares`]; the square lies inside the matrix.
    #[inline(always)]
    unsafe fn turned<const SIZE: usize, const N: usize>(self) -> [__m512i; N] {
        let whole = self.rows == LINE / SIZE && self.columns == N;
        // SAFETY: the caller's contract.
        let mut rows = [unsafe { _mm512_setzero_si512() }; N];
        if whole {
            for (i, row) in rows.iter_mut().enumerate() {
                // SAFETY: as above.
                *row = unsafe { self.line::<SIZE, N>(i, true) };
            }
        } else {
            for (i, row) in rows.iter_mut().enumerate() {
                // SAFETY: as above.
                *row = unsafe { self.line::<SIZE, N>(i, false) };
            }
        }
        let select = |a, places, b| match N {
            // SAFETY: the caller's contract.
            16 => unsafe { Line::<4>::select(a, places, b) },
            // SAFETY: as above; the only other number is 8.
            _ => unsafe { Line::<8>::select(a, places, b) },
        };
        let (low, high) = match N {
            16 => (&Line::<4>::LOW, &Line::<4>::HIGH),
            _ => (&Line::<8>::LOW, &Line::<8>::HIGH),
        };
        perfect_shuffles(rows, |a, b| select(a, low, b), |a, b| select(a, high, b))
    }

    /// A line of the source: of a row, or of two or four where they have only a part of one, their elements in turn. `whole` squares
    /// have all rows and columns.
    ///
    /// # Safety
    /// As [`Square::turned`].
    #[inline(always)]
    unsafe fn line<const SIZE: usize, const N: usize>(self, i: usize, whole: bool) -> __m512i {
        if N * SIZE == LINE {
            // SAFETY: the caller's contract.
            return unsafe { self.row::<SIZE, N>(i, whole) };
        }
        if SIZE == 1 {
            // SAFETY: as above.
            let even = unsafe { self.bytes_of_two::<N>(4 * i, whole) };
            // SAFETY: as above.
            let odd = unsafe { self.bytes_of_two::<N>(4 * i + 2, whole) };
            // SAFETY: as above.
            return unsafe { Line::<2>::select(even, &Line::<2>::LOW, odd) };
        }
        // SAFETY: as above.
        let [even, odd] = [2 * i, 2 * i + 1].map(|i| unsafe { self.row::<SIZE, N>(i, whole) });
        // SAFETY: as above.
        unsafe { Line::<SIZE>::select(even, &Line::<SIZE>::LOW, odd) }
    }

    /// Sixteen bytes each of a row and the next one in turn.
    ///
    /// # Safety
    /// As [`Square::turned`], for elements of one byte.
    #[inline(always)]
    unsafe fn bytes_of_two<const N: usize>(self, i: usize, whole: bool) -> __m512i {
        // SAFETY: the caller's contract.
        let row = unsafe { self.row::<1, N>(i, whole) };
        // SAFETY: as above.
        let next = unsafe { self.row::<1, N>(i + 1, whole) };
        // SAFETY: as above.
        let row = unsafe { _mm512_castsi512_si128(row) };
        // SAFETY: as above.
        let next = unsafe { _mm512_castsi512_si128(next) };
        // SAFETY: as above.
        let low = unsafe { _mm_unpacklo_epi8(row, next) };
        // SAFETY: as above.
        let high = unsafe { _mm_unpackhi_epi8(row, next) };
        // SAFETY: as above.
        let low = unsafe { _mm512_castsi128_si512(low) };
        // SAFETY: as above.
        unsafe { _mm512_inserti32x4::<1>(low, high) }
    }

    /// What the square has of a row of the source. A row that is not there is the last one once more: asking for nothing at an
    /// address that is not there takes long.
    ///
    /// # Safety
    /// As [`Square::turned`].
    #[inline(always)]
    unsafe fn row<const SIZE: usize, const N: usize>(self, i: usize, whole: bool) -> __m512i {
        if !whole {
            let from = self.source(i.min(self.rows - 1)).cast();
            // SAFETY: as many bytes of the source as there are columns.
            return unsafe { _mm512_maskz_loadu_epi8(bytes(0, self.columns * SIZE), from) };
        }
        let from = self.source(i);
        if N * SIZE == LINE {
            // SAFETY: a line of the source.
            unsafe { _mm512_loadu_si512(from.cast()) }
        } else if SIZE == 1 {
            // SAFETY: a quarter of a line of the source.
            let quarter = unsafe { _mm_loadu_si128(from.cast()) };
            // SAFETY: the caller's contract.
            unsafe { _mm512_castsi128_si512(quarter) }
        } else {
            // SAFETY: half a line of the source.
            let half = unsafe { _mm256_loadu_si256(from.cast()) };
            // SAFETY: the caller's contract.
            unsafe { _mm512_castsi256_si512(half) }
        }
    }

    /// Writes the columns, whole aligned lines past the caches where `past` says so.
    ///
    /// # Safety
    /// As [`Square::turned`], which gave the lines; to go past the caches, the destination's rows begin at lines and consist of
    /// whole ones.
    #[inline(always)]
    unsafe fn store<const SIZE: usize, const N: usize>(self, lines: [__m512i; N], past: bool) {
        if self.rows < LINE / SIZE {
            let mask = bytes(0, self.rows * SIZE);
            for (column, line) in lines.into_iter().enumerate().take(self.columns) {
                // SAFETY: as many bytes of the destination as there are rows.
                unsafe { _mm512_mask_storeu_epi8(self.target(column).cast(), mask, line) };
            }
            return;
        }
        if self.columns < N {
            for (column, line) in lines.into_iter().enumerate().take(self.columns) {
                // SAFETY: a line's bytes of the destination.
                unsafe { put(self.target(column), line, past) };
            }
            return;
        }
        for (column, line) in lines.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { put(self.target(column), line, past) };
        }
    }

    /// Writes the lines of the destination that the columns complete past the caches, and carries the rest of each column to
    /// the square below.
    ///
    /// # Safety
    /// As [`Square::turned`], which gave the lines; `carried` holds the lines of the square above, one for each column.
    #[inline(always)]
    unsafe fn join<const SIZE: usize, const N: usize>(
        self,
        lines: [__m512i; N],
        carried: *mut u8,
        ends: Ends,
    ) {
        for (column, line) in lines.into_iter().enumerate().take(self.columns) {
            let target = self.target(column);
            let shift = target.addr() % LINE;
            let to = target.wrapping_sub(shift);
            let from = (LINE - shift) / SIZE;
            let place = carried.wrapping_add(column * LINE).cast();
            // SAFETY: a line for each column; before the first it is not used.
            let above = unsafe { _mm512_loadu_si512(place) };
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(place, line) };
            // SAFETY: the caller's contract.
            let joined = unsafe { Line::<SIZE>::window(above, line, from) };
            let end = shift + self.rows * SIZE;
            let begin = if ends.first { shift } else { 0 };
            if begin == 0 && end >= LINE {
                // SAFETY: a whole aligned line of the destination: what lies before the target belongs to its row.
                unsafe { _mm512_stream_si512(to.cast(), joined) };
            } else {
                // SAFETY: those bytes of the line that belong to the destination's row.
                unsafe { _mm512_mask_storeu_epi8(to.cast(), bytes(begin, end.min(LINE)), joined) };
            }
            if ends.last && end > LINE {
                // SAFETY: the caller's contract.
                let rest = unsafe { Line::<SIZE>::window(line, line, from) };
                let to = to.wrapping_add(LINE).cast();
                // SAFETY: the last bytes of the destination's row.
                unsafe { _mm512_mask_storeu_epi8(to, bytes(0, end - LINE), rest) };
            }
        }
    }
}

/// The mask of a line's bytes from one to before another.
#[inline(always)]
fn bytes(from: usize, to: usize) -> u64 {
    u64::MAX >> (LINE - to) & u64::MAX << from
}
