//! Moving elements between strided memory and dense tiles, and the tiles' memory.
//!
//! Elements are moved one by one through raw pointers, never as slices: a strided view may be interleaved with others.
#![expect(
    unsafe_code,
    reason = "strided elements are not slices; they are read and written through pointers"
)]

use crate::cached;
use lodestride_buffer::Element;
use std::cell::Cell;

#[cfg(target_arch = "x86_64")]
use crate::line_repeats::Repeats;
#[cfg(target_arch = "x86_64")]
use crate::lines;
use crate::numeric::Compute;

/// Copies `n` elements of `size` bytes, `stride` elements apart, into dense memory.
///
/// # Safety
/// `source` is aligned for the size and valid for reads at every step, `tile` is valid for `n` elements of writes, and
/// the two do not overlap.
pub(crate) unsafe fn gather(
    tile: *mut u8,
    source: *const u8,
    stride: isize,
    size: usize,
    n: usize,
) {
    // For a few elements the loop below beats the call.
    if stride == 1 && n >= 16 {
        // SAFETY: dense on both sides, valid and apart by the caller's contract.
        unsafe { cached::copy(tile, source, n * size) };
        return;
    }
    if stride == 0 && n >= 16 {
        // SAFETY: the caller's contract.
        unsafe { repeat(tile, source, (size, 0), (1, n)) };
        return;
    }
    if stride == -1 && n >= 16 {
        // SAFETY: the caller's contract.
        unsafe { reverse(tile, source, size, n) };
        return;
    }
    match size {
        // SAFETY: the caller's contract, for each element size.
        1 => unsafe { gather_elements::<u8>(tile, source, stride, n) },
        // SAFETY: as above.
        2 => unsafe { gather_elements::<u16>(tile, source, stride, n) },
        // SAFETY: as above.
        4 => unsafe { gather_elements::<u32>(tile, source, stride, n) },
        // SAFETY: as above; no element is larger than 8 bytes.
        _ => unsafe { gather_elements::<u64>(tile, source, stride, n) },
    }
}

/// # Safety
/// As [`gather`], with `T` of the element's size.
unsafe fn gather_elements<T: Copy>(tile: *mut u8, source: *const u8, stride: isize, n: usize) {
    let (tile, mut source) = (tile.cast::<T>(), source.cast::<T>());
    for i in 0..n {
        // SAFETY: `source` has moved `i` strides, where the caller says an element is.
        let element = unsafe { source.read() };
        // SAFETY: `i < n`, inside the tile.
        let place = unsafe { tile.add(i) };
        // SAFETY: as above; tile memory is aligned for every element.
        unsafe { place.write(element) };
        source = source.wrapping_offset(stride);
    }
}

/// Copies `n` elements backwards.
///
/// # Safety
/// As [`gather`] for a stride of -1.
#[inline(never)]
unsafe fn reverse(tile: *mut u8, source: *const u8, size: usize, n: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's contract.
    if unsafe { lines::try_reverse(tile, source, n, size) } {
        return;
    }
    match size {
        // SAFETY: the caller's contract, for each element size.
        1 => unsafe { reverse_bytes(tile, source, n) },
        // SAFETY: as above.
        2 => unsafe { reverse_elements::<u16>(tile, source, n) },
        // SAFETY: as above.
        4 => unsafe { reverse_elements::<u32>(tile, source, n) },
        // SAFETY: as above; no element is larger than 8 bytes.
        _ => unsafe { reverse_elements::<u64>(tile, source, n) },
    }
}

/// # Safety
/// As [`reverse`], with `T` of the element's size.
unsafe fn reverse_elements<T: Copy>(tile: *mut u8, source: *const u8, n: usize) {
    let (tile, source) = (tile.cast::<T>(), source.cast::<T>());
    for i in 0..n {
        // SAFETY: the caller's element, `i` back from the first.
        let element = unsafe { source.wrapping_sub(i).read() };
        // SAFETY: `i < n`, inside the tile.
        unsafe { tile.wrapping_add(i).write(element) };
    }
}

/// [`reverse`] of bytes, eight at a time.
///
/// # Safety
/// As [`reverse`].
unsafe fn reverse_bytes(tile: *mut u8, source: *const u8, n: usize) {
    let words = n / 8;
    for word in 0..words {
        let last = source.wrapping_sub(8 * word + 7).cast::<u64>();
        // SAFETY: eight bytes of the source, the last of them first.
        let bytes = unsafe { last.read_unaligned() }.swap_bytes();
        // SAFETY: eight places.
        unsafe { tile.cast::<u64>().wrapping_add(word).write_unaligned(bytes) };
    }
    let done = 8 * words;
    let (tile, source) = (tile.wrapping_add(done), source.wrapping_sub(done));
    // SAFETY: the rest.
    unsafe { reverse_elements::<u8>(tile, source, n - done) };
}

/// Writes each of `count` elements of `size` bytes, `stride` elements apart, `times` times, one after the other.
///
/// # Safety
/// The elements are valid for reads and aligned for the size, `tile` is valid for `count * times` elements of writes, and the two
/// do not overlap.
#[inline(never)]
pub(crate) unsafe fn repeat(
    tile: *mut u8,
    source: *const u8,
    (size, stride): (usize, isize),
    (count, times): (usize, usize),
) {
    #[cfg(target_arch = "x86_64")]
    {
        let repeats = Repeats {
            to: tile,
            from: source,
            stride,
            count,
            times,
        };
        // SAFETY: the caller's contract.
        if unsafe { repeats.try_run(size) } {
            return;
        }
    }
    match size {
        // SAFETY: the caller's contract, for each element size.
        1 => unsafe { repeat_elements::<u8>(tile, source, stride, count, times) },
        // SAFETY: as above.
        2 => unsafe { repeat_elements::<u16>(tile, source, stride, count, times) },
        // SAFETY: as above.
        4 => unsafe { repeat_elements::<u32>(tile, source, stride, count, times) },
        // SAFETY: as above; no element is larger than 8 bytes.
        _ => unsafe { repeat_elements::<u64>(tile, source, stride, count, times) },
    }
}

/// [`repeat`] of elements of a slice, from one place on and `stride` apart, until a tile is full.
///
/// # Panics
/// If they are not the slice's.
pub(crate) fn repeat_each<T: Element>(
    data: &[T],
    (start, stride): (usize, isize),
    times: usize,
    tile: &mut [T],
) {
    let count = tile.len() / times;
    let Some(last) = count.checked_sub(1) else {
        return;
    };
    let end = start.checked_add_signed(last.cast_signed() * stride);
    assert!(start < data.len() && end.is_some_and(|end| end < data.len()));
    let (to, from) = (tile.as_mut_ptr().cast(), data.as_ptr().wrapping_add(start));
    // SAFETY: first and last element are the slice's, so all between are; the tile has room for all repetitions, and is apart.
    unsafe { repeat(to, from.cast(), (size_of::<T>(), stride), (count, times)) };
}

/// # Safety
/// As [`repeat`], with `T` of the element's size.
unsafe fn repeat_elements<T: Copy>(
    tile: *mut u8,
    source: *const u8,
    stride: isize,
    count: usize,
    times: usize,
) {
    let (mut tile, mut source) = (tile.cast::<T>(), source.cast::<T>());
    for _ in 0..count {
        // SAFETY: one of the caller's elements.
        let element = unsafe { source.read() };
        for i in 0..times {
            // SAFETY: inside the tile, whose memory is aligned for every element.
            unsafe { tile.wrapping_add(i).write(element) };
        }
        tile = tile.wrapping_add(times);
        source = source.wrapping_offset(stride);
    }
}

/// Copies `n` dense elements of `size` bytes to places `stride` elements apart.
///
/// # Safety
/// `target` is aligned for the size and valid for writes at every step, `tile` is valid for reads of `n` elements, and
/// the two do not overlap.
pub(crate) unsafe fn scatter(
    target: *mut u8,
    stride: isize,
    tile: *const u8,
    size: usize,
    n: usize,
) {
    if stride == 1 && n >= 16 {
        // SAFETY: dense on both sides, valid and apart by the caller's contract.
        unsafe { cached::copy(target, tile, n * size) };
        return;
    }
    match size {
        // SAFETY: the caller's contract, for each element size.
        1 => unsafe { scatter_elements::<u8>(target, stride, tile, n) },
        // SAFETY: as above.
        2 => unsafe { scatter_elements::<u16>(target, stride, tile, n) },
        // SAFETY: as above.
        4 => unsafe { scatter_elements::<u32>(target, stride, tile, n) },
        // SAFETY: as above; no element is larger than 8 bytes.
        _ => unsafe { scatter_elements::<u64>(target, stride, tile, n) },
    }
}

/// # Safety
/// As [`scatter`], with `T` of the element's size.
unsafe fn scatter_elements<T: Copy>(target: *mut u8, stride: isize, tile: *const u8, n: usize) {
    let (mut target, tile) = (target.cast::<T>(), tile.cast::<T>());
    for i in 0..n {
        // SAFETY: `i < n`, inside the tile.
        let place = unsafe { tile.add(i) };
        // SAFETY: as above; tile memory is aligned for every element.
        let element = unsafe { place.read() };
        // SAFETY: `target` has moved `i` strides, where the caller says an element is.
        unsafe { target.write(element) };
        target = target.wrapping_offset(stride);
    }
}

/// One cache line of tile memory: the unit that keeps tiles 64-byte aligned.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only there to have a size")] [u64; 8]);

thread_local! {
    /// The tile memory of this thread between two calls.
    static SPARE: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// Zero-initialised, 64-byte aligned memory for tiles, kept by the thread from call to call.
pub(crate) struct Scratch {
    lines: Vec<Line>,
}

impl Scratch {
    /// At least `bytes` bytes, with contents of an earlier call.
    #[inline(never)]
    pub(crate) fn take(bytes: usize) -> Scratch {
        let mut lines = SPARE.take();
        let needed = bytes.div_ceil(size_of::<Line>());
        if lines.len() < needed {
            lines.resize(needed, Line([0; 8]));
        }
        Scratch { lines }
    }

    /// The first numbers of the memory, which may be any.
    #[inline]
    pub(crate) fn numbers<C: Compute>(&mut self, count: usize) -> &mut [C] {
        assert!(count * size_of::<C>() <= size_of_val(&self.lines[..]));
        // SAFETY: lines are aligned for every number, initialised, and as long as was just checked; all bits are numbers, and
        // back as lines they are bits again. The slice borrows `self`.
        unsafe { std::slice::from_raw_parts_mut(self.pointer().cast(), count) }
    }

    /// The start of the memory.
    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }
}

impl Drop for Scratch {
    #[inline(never)]
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        // A nested call may have left its own; the larger is kept.
        let other = SPARE.take();
        SPARE.set(if other.len() > lines.len() {
            other
        } else {
            lines
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_of_every_direction_round_trip() {
        for (stride, n) in [-3isize, -1, 0, 1, 2, 5]
            .into_iter()
            .flat_map(|stride| [(stride, 8), (stride, 20)])
        {
            let memory: Vec<u32> = (0..128).collect();
            let start = if stride < 0 { 60 } else { 3 };
            let mut tile = vec![0u32; n];
            let source = memory.as_ptr().wrapping_add(start).cast();
            // SAFETY: 20 steps of at most five from 3, or three back from 60, stay inside 128 elements.
            unsafe { gather(tile.as_mut_ptr().cast(), source, stride, 4, n) };
            let wanted: Vec<u32> = (0..n as isize)
                .map(|i| (start as isize + i * stride) as u32)
                .collect();
            assert_eq!(tile, wanted, "stride {stride}, {n} elements");
            let mut back = vec![0u32; 128];
            let target = back.as_mut_ptr().wrapping_add(start).cast();
            // SAFETY: the same places, in a vector of its own.
            unsafe { scatter(target, stride, tile.as_ptr().cast(), 4, n) };
            for (i, &value) in back.iter().enumerate() {
                let i = i as u32;
                let expected = if wanted.contains(&i) { i } else { 0 };
                assert_eq!(value, expected, "stride {stride}, {n} elements");
            }
        }
    }

    #[test]
    fn one_element_of_every_size_is_repeated() {
        let memory = [0x0807_0605_0403_0201_u64];
        for size in [1, 2, 4, 8] {
            let mut tile = [0u64; 21];
            // SAFETY: 20 elements of at most eight bytes, and a source of eight.
            unsafe {
                gather(
                    tile.as_mut_ptr().cast(),
                    memory.as_ptr().cast(),
                    0,
                    size,
                    20,
                )
            };
            let bytes: Vec<u8> = tile.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let element = &memory[0].to_ne_bytes()[..size];
            let expected = [element.repeat(20), vec![0; 168 - 20 * size]].concat();
            assert_eq!(bytes, expected, "{size} bytes");
        }
    }

    #[test]
    fn each_of_several_elements_is_repeated() {
        let memory: Vec<u64> = (0..400u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for size in [1, 2, 4, 8] {
            for stride in [1isize, 0, 2, -1] {
                for (count, times) in [
                    (1, 1),
                    (3, 2),
                    (40, 3),
                    (70, 7),
                    (33, 16),
                    (9, 64),
                    (5, 65),
                    (4, 300),
                ] {
                    let first = if stride < 0 { count } else { 1 };
                    let mut tile = vec![0u64; count * times * size / 8 + 9];
                    let source = memory.as_ptr().cast::<u8>().wrapping_add(first * size);
                    let (elements, runs) = ((size, stride), (count, times));
                    // SAFETY: at most 70 elements of eight bytes two steps apart, or back to the second; room for all and more.
                    unsafe { repeat(tile.as_mut_ptr().cast(), source, elements, runs) };
                    let mut wanted = Vec::new();
                    for i in 0..count.cast_signed() {
                        let at = (first.cast_signed() + i * stride).unsigned_abs() * size;
                        wanted.extend(bytes[at..at + size].repeat(times));
                    }
                    let tile: Vec<u8> = tile.iter().flat_map(|word| word.to_ne_bytes()).collect();
                    wanted.resize(tile.len(), 0);
                    assert!(
                        tile == wanted,
                        "{size} bytes, stride {stride}, {count} times {times}"
                    );
                }
            }
        }
    }

    #[test]
    fn scratch_is_kept_and_aligned() {
        let first = Scratch::take(1000).pointer();
        let second = Scratch::take(500).pointer();
        assert_eq!(first, second);
        assert!(first.cast::<Line>().is_aligned());
    }
}
