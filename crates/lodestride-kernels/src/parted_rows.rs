//! Copies that part bytes which lie side by side, such as the channels of pixels: each goes to a row of its own.
#![expect(
    unsafe_code,
    reason = "cache lines are moved through raw pointers and shuffled by intrinsics"
)]

use crate::across::Lines;
use crate::stream::{LINE, copy_piece};
use crate::transfer::Axis;

/// Rows to which lines are parted. Of two every second byte is copied, see `every_second.rs`.
const ROWS: std::ops::RangeInclusive<usize> = 3..=8;

/// Rows up to which each is given a quarter of a line, else an eighth.
const FEW: usize = 4;

/// A copy to rows of bytes.
pub(crate) struct Parts {
    rows: Axis,
    /// Along a row.
    run: Axis,
    /// For each byte of a line of results its place among those of the source, which belong to as many elements of each row as fit.
    places: Lines<[u8; LINE]>,
    /// How many these are.
    group: usize,
}

impl Parts {
    /// The copy along two axes of elements of `size` bytes, in either order, if this is one of those that are parted. `gaps` says
    /// whether what lies between elements of the source may be read.
    pub(crate) fn of([mut rows, mut run]: [Axis; 2], size: usize, gaps: bool) -> Option<Self> {
        if run.x == 1 {
            (rows, run) = (run, rows);
        }
        let apart = run.x.unsigned_abs();
        let is_dense = gaps || apart == rows.size;
        let fits = ROWS.contains(&rows.size) && (rows.size..=*ROWS.end()).contains(&apart);
        let is_worth = size == 1 && run.out == 1 && run.size > 2 * LINE && run.x > 0;
        if rows.x != 1 || !fits || !is_dense || !is_worth || !has_permutes() {
            return None;
        }
        let width = width(rows.size);
        let group = width.min((LINE - rows.size) / apart + 1);
        let mut places = Lines([0; LINE]);
        for (row, places) in (0..rows.size).zip(places.0.chunks_mut(width)) {
            for (element, place) in places[..group].iter_mut().enumerate() {
                *place = (element * apart + row) as u8;
            }
        }
        Some(Self {
            rows,
            run,
            places,
            group,
        })
    }

    /// Copies from the first byte of the source and to that of the first row on.
    ///
    /// # Safety
    /// Every byte that the axes reach from there is valid for reads (`x`) and writes (`out`), which nobody else touches meanwhile; none
    /// of `out` is one of `x`.
    pub(crate) unsafe fn copy(&self, out: *mut u8, x: *const u8) {
        let bytes = (self.run.size - 1) * self.run.x.unsigned_abs() + self.rows.size;
        let by_source = (bytes - LINE) / (self.group * self.run.x.unsigned_abs()) + 1;
        let by_rows = (self.run.size - width(self.rows.size)) / self.group + 1;
        let groups = by_source.min(by_rows);
        match self.rows.size {
            // SAFETY: the caller's contract; so many whole lines lie inside the source, and what is written to a row inside that; the
            // processor was asked.
            ..=FEW => unsafe { self.groups::<u128>(out, x, groups) },
            // SAFETY: as above.
            _ => unsafe { self.groups::<u64>(out, x, groups) },
        }
        for row in 0..self.rows.size {
            let to = out.wrapping_offset(row.cast_signed() * self.rows.out);
            for at in groups * self.group..self.run.size {
                let from = x
                    .wrapping_offset(at.cast_signed() * self.run.x)
                    .wrapping_add(row);
                // SAFETY: a byte of both.
                unsafe { copy_piece::<u8>(to.wrapping_add(at), from, 0) };
            }
        }
    }

    /// # Safety
    /// As [`Parts::copy`], for so many groups, each of which has a line of the source, and room for a `T` in each row; for processors
    /// with AVX-512 VBMI.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx512f,avx512vbmi"))]
    unsafe fn groups<T: Copy>(&self, mut out: *mut u8, mut x: *const u8, groups: usize) {
        let mut parted = Lines([0; LINE]);
        let step = self.group.cast_signed() * self.run.x;
        for _ in 0..groups {
            // SAFETY: a line of the source.
            unsafe { permute(&mut parted.0, x, &self.places.0) };
            let mut to = out;
            for part in parted.0.chunks_exact(size_of::<T>()).take(self.rows.size) {
                // SAFETY: as many bytes of the row; what is beyond this group is written again with the next one.
                unsafe { copy_piece::<T>(to, part.as_ptr(), 0) };
                to = to.wrapping_offset(self.rows.out);
            }
            x = x.wrapping_offset(step);
            out = out.wrapping_add(self.group);
        }
    }
}

/// Whether one instruction moves the bytes of a line to any places.
fn has_permutes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return crate::isa::Isa::detect() == crate::isa::Isa::Avx512
        && is_x86_feature_detected!("avx512vbmi");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Copies bytes of a line, each from its place.
///
/// # Safety
/// A line is valid for reads.
#[inline]
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vbmi")]
unsafe fn permute(to: &mut [u8; LINE], from: *const u8, places: &[u8; LINE]) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_permutexvar_epi8, _mm512_storeu_si512};
    // SAFETY: the caller's contract, and the line of an array.
    let [line, places] =
        [from, places.as_ptr()].map(|line| unsafe { _mm512_loadu_si512(line.cast()) });
    let moved = _mm512_permutexvar_epi8(places, line);
    // SAFETY: the line of an array.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), moved) };
}

#[inline]
#[cfg(not(target_arch = "x86_64"))]
unsafe fn permute(to: &mut [u8; LINE], from: *const u8, places: &[u8; LINE]) {
    // SAFETY: the caller's contract.
    let line = unsafe { from.cast::<[u8; LINE]>().read() };
    *to = places.map(|place| line[usize::from(place)]);
}

/// Bytes of a line for each of some rows.
fn width(rows: usize) -> usize {
    if rows <= FEW { LINE / 4 } else { LINE / 8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes side by side and with gaps, as one plane of many and of as few as there may be.
    #[test]
    fn bytes_are_parted_as_one_by_one() {
        let x: Vec<u8> = (0..9000).map(|i: usize| (i * i / 7 % 251) as u8).collect();
        let mut failed = Vec::new();
        for (count, apart) in ROWS.flat_map(|count| (count..=8).map(move |apart| (count, apart))) {
            for (n, pitch) in [(129_usize, 129_usize), (130, 140), (1000, 1001)] {
                let rows = Axis {
                    size: count,
                    out: pitch.cast_signed(),
                    x: 1,
                };
                let run = Axis {
                    size: n,
                    out: 1,
                    x: apart.cast_signed(),
                };
                let Some(parts) = Parts::of([rows, run], 1, true) else {
                    assert!(!has_permutes());
                    return;
                };
                let x = &x[..(n - 1) * apart + count];
                let mut out = vec![255; pitch * count];
                let mut wanted = out.clone();
                // SAFETY: all of the source is read, and the destination has room.
                unsafe { parts.copy(out.as_mut_ptr(), x.as_ptr()) };
                for (row, at) in (0..count).flat_map(|row| (0..n).map(move |at| (row, at))) {
                    wanted[row * pitch + at] = x[at * apart + row];
                }
                if out != wanted {
                    failed.push((count, apart, n, pitch));
                }
            }
        }
        assert!(failed.is_empty(), "{failed:?}");
    }
}
