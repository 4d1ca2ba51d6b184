//! Transposing squares whose rows are cache lines in the registers of AVX-512: no stage lies between, and every line of an
//! aligned destination is written at once.
#![expect(
    unsafe_code,
    reason = "lines are moved through raw pointers and interleaved by intrinsics"
)]

use crate::isa::Isa;
use crate::shuffle::{Bytes4, Bytes8, perfect_shuffles};
use crate::stream::{self, LINE};
use crate::tile::Scratch;
use crate::transpose::{Sheet, Store};
use std::arch::x86_64::*;

/// Columns of a block where lines are carried from square to square: they wait in the second-level cache. On an AMD EPYC,
/// 4099x4097 `f64` took 22.9 ms by blocks of 32, 15.6 ms by 128, 13.5 ms by 512 and 12.2 ms by 2048.
const BLOCK: usize = 2048;

/// Lines ahead of the one read that are asked for.
const AHEAD: usize = 2;

/// An element size: how lines of `N` elements are interleaved.
trait Elements<const N: usize> {
    /// Bytes of an element.
    const SIZE: usize = LINE / N;

    /// The first halves of two lines, interleaved.
    ///
    /// # Safety
    /// The processor has AVX-512.
    unsafe fn low(a: __m512i, b: __m512i) -> __m512i;

    /// The second halves of two lines, interleaved.
    ///
    /// # Safety
    /// The processor has AVX-512.
    unsafe fn high(a: __m512i, b: __m512i) -> __m512i;

    /// A line of two lines one after the other, from element `from` on.
    ///
    /// # Safety
    /// The processor has AVX-512.
    unsafe fn window(a: __m512i, b: __m512i, from: usize) -> __m512i;
}

/// Where the elements of two interleaved lines come from: those of the second count on from the first's.
const fn places<const N: usize>(from: usize) -> [usize; N] {
    let mut places = [0; N];
    let mut at = 0;
    while at < N {
        places[at] = from + at / 2 + at % 2 * N;
        at += 1;
    }
    places
}

impl Elements<16> for Bytes4 {
    #[inline(always)]
    unsafe fn low(a: __m512i, b: __m512i) -> __m512i {
        const LOW: [i32; 16] = narrow(places::<16>(0));
        // SAFETY: the caller's contract; a line of places.
        unsafe { _mm512_permutex2var_epi32(a, _mm512_loadu_si512(LOW.as_ptr().cast()), b) }
    }

    #[inline(always)]
    unsafe fn high(a: __m512i, b: __m512i) -> __m512i {
        const HIGH: [i32; 16] = narrow(places::<16>(8));
        // SAFETY: as above.
        unsafe { _mm512_permutex2var_epi32(a, _mm512_loadu_si512(HIGH.as_ptr().cast()), b) }
    }

    #[inline(always)]
    unsafe fn window(a: __m512i, b: __m512i, from: usize) -> __m512i {
        // SAFETY: the caller's contract.
        unsafe {
            let first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let places = _mm512_add_epi32(first, _mm512_set1_epi32(from as i32));
            _mm512_permutex2var_epi32(a, places, b)
        }
    }
}

/// Places of elements of four bytes.
const fn narrow(places: [usize; 16]) -> [i32; 16] {
    let mut narrow = [0; 16];
    let mut at = 0;
    while at < 16 {
        narrow[at] = places[at] as i32;
        at += 1;
    }
    narrow
}

impl Elements<8> for Bytes8 {
    #[inline(always)]
    unsafe fn low(a: __m512i, b: __m512i) -> __m512i {
        const LOW: [usize; 8] = places(0);
        // SAFETY: the caller's contract; a line of places.
        unsafe { _mm512_permutex2var_epi64(a, _mm512_loadu_si512(LOW.as_ptr().cast()), b) }
    }

    #[inline(always)]
    unsafe fn high(a: __m512i, b: __m512i) -> __m512i {
        const HIGH: [usize; 8] = places(4);
        // SAFETY: as above.
        unsafe { _mm512_permutex2var_epi64(a, _mm512_loadu_si512(HIGH.as_ptr().cast()), b) }
    }

    #[inline(always)]
    unsafe fn window(a: __m512i, b: __m512i, from: usize) -> __m512i {
        // SAFETY: the caller's contract.
        unsafe {
            let first = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
            let places = _mm512_add_epi64(first, _mm512_set1_epi64(from as i64));
            _mm512_permutex2var_epi64(a, places, b)
        }
    }
}

/// Transposes a matrix, or does nothing and answers false.
///
/// # Safety
/// As [`Sheet::run`], with the way to store that [`Sheet::store`] chose.
pub(crate) unsafe fn try_run(sheet: &Sheet, store: Store) -> bool {
    if sheet.x_steps[1] != 1 || sheet.out_steps[0] != 1 || Isa::detect() != Isa::Avx512 {
        return false;
    }
    match sheet.size {
        // SAFETY: the caller's contract; the processor was asked.
        4 => unsafe { squares_of_fours(sheet, store) },
        // SAFETY: as above.
        8 => unsafe { squares_of_eights(sheet, store) },
        _ => return false,
    }
    true
}

/// # Safety
/// As [`try_run`], for elements of four bytes and processors with AVX-512.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn squares_of_fours(sheet: &Sheet, store: Store) {
    // SAFETY: the caller's contract.
    unsafe { squares::<Bytes4, 16>(sheet, store) }
}

/// # Safety
/// As [`try_run`], for elements of eight bytes and processors with AVX-512.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn squares_of_eights(sheet: &Sheet, store: Store) {
    // SAFETY: the caller's contract.
    unsafe { squares::<Bytes8, 8>(sheet, store) }
}

/// # Safety
/// As [`try_run`], with `U` of the element's size, for processors with AVX-512.
#[inline(always)]
unsafe fn squares<U: Elements<N>, const N: usize>(sheet: &Sheet, store: Store) {
    let ahead = sheet.rows * sheet.columns * U::SIZE >= stream::SECOND_LEVEL;
    let block = match store {
        Store::Carry => BLOCK.min(sheet.columns),
        Store::Plain | Store::Lines => sheet.columns,
    };
    let mut scratch = (store == Store::Carry).then(|| Scratch::take(block * LINE));
    let carried = scratch.as_mut().map(|scratch| scratch.pointer());
    for left in (0..sheet.columns).step_by(block.max(1)) {
        let right = sheet.columns.min(left + block);
        for row in (0..sheet.rows).step_by(N) {
            for column in (left..right).step_by(N) {
                let square = Square {
                    x: sheet.source(row, column),
                    x_pitch: sheet.x_steps[0] * U::SIZE.cast_signed(),
                    out: sheet.target(row, column),
                    out_pitch: sheet.out_steps[1] * U::SIZE.cast_signed(),
                    rows: N.min(sheet.rows - row),
                    columns: N.min(right - column),
                };
                if ahead {
                    square.announce::<N>();
                }
                // SAFETY: the caller's contract; the square lies inside the matrix.
                let lines = unsafe { square.turned::<U, N>() };
                if let Some(carried) = carried {
                    let ends = Ends {
                        first: row == 0,
                        last: row + N >= sheet.rows,
                    };
                    if ends.first || ends.last {
                        square.announce_ends(ends);
                    }
                    let carried = carried.wrapping_add((column - left) * LINE);
                    // SAFETY: as above; there is room for a line of each column of a block.
                    unsafe { square.join::<U, N>(lines, carried, ends) };
                } else {
                    // SAFETY: as above.
                    unsafe { square.store(lines, store == Store::Lines) };
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
    fn announce<const N: usize>(self) {
        for row in 0..N {
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
    unsafe fn turned<U: Elements<N>, const N: usize>(self) -> [__m512i; N] {
        let rows: [__m512i; N] = if self.rows == N && self.columns == N {
            // SAFETY: a line of each row of the source.
            std::array::from_fn(|i| unsafe { _mm512_loadu_si512(self.source(i).cast()) })
        } else {
            // Rows that are not there repeat the last one: asking for nothing at an address that is not there takes long.
            let mask = bytes(0, self.columns * U::SIZE);
            let row = |i: usize| self.source(i.min(self.rows - 1)).cast();
            // SAFETY: as many bytes of the source as there are columns.
            std::array::from_fn(|i| unsafe { _mm512_maskz_loadu_epi8(mask, row(i)) })
        };
        // SAFETY: the caller's contract.
        let (low, high) = (
            |a, b| unsafe { U::low(a, b) },
            |a, b| unsafe { U::high(a, b) },
        );
        perfect_shuffles(rows, low, high)
    }

    /// Writes the columns, whole aligned lines past the caches where `past` says so.
    ///
    /// # Safety
    /// As [`Square::turned`], which gave the lines; to go past the caches, the destination's rows begin at lines and consist of
    /// whole ones.
    #[inline(always)]
    unsafe fn store<const N: usize>(self, lines: [__m512i; N], past: bool) {
        if self.rows < N {
            let mask = bytes(0, self.rows * (LINE / N));
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
    unsafe fn join<U: Elements<N>, const N: usize>(
        self,
        lines: [__m512i; N],
        carried: *mut u8,
        ends: Ends,
    ) {
        for (column, line) in lines.into_iter().enumerate().take(self.columns) {
            let target = self.target(column);
            let shift = target.addr() % LINE;
            let to = target.wrapping_sub(shift);
            let from = N - shift / U::SIZE;
            let place = carried.wrapping_add(column * LINE).cast();
            // SAFETY: a line for each column; before the first it is not used.
            let above = unsafe { _mm512_loadu_si512(place) };
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(place, line) };
            // SAFETY: the caller's contract.
            let joined = unsafe { U::window(above, line, from) };
            let end = shift + self.rows * U::SIZE;
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
                let rest = unsafe { U::window(line, line, from) };
                let to = to.wrapping_add(LINE).cast();
                // SAFETY: the last bytes of the destination's row.
                unsafe { _mm512_mask_storeu_epi8(to, bytes(0, end - LINE), rest) };
            }
        }
    }
}

/// Writes a line, `past` the caches or through them.
///
/// # Safety
/// The processor has AVX-512; a line may be written, and lies at one to go past the caches.
#[inline(always)]
unsafe fn put(to: *mut u8, line: __m512i, past: bool) {
    if past {
        // SAFETY: the caller's contract.
        unsafe { _mm512_stream_si512(to.cast(), line) };
    } else {
        // SAFETY: the caller's contract.
        unsafe { _mm512_storeu_si512(to.cast(), line) };
    }
}

/// The mask of a line's bytes from one to before another.
#[inline(always)]
fn bytes(from: usize, to: usize) -> u64 {
    u64::MAX >> (LINE - to) & u64::MAX << from
}
