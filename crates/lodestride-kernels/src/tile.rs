//! Moving elements between strided memory and dense tiles, and the tiles' memory.
//!
//! Elements are moved one by one through raw pointers, never as slices: a strided view may be interleaved with others.
#![expect(
    unsafe_code,
    reason = "strided elements are not slices; they are read and written through pointers"
)]

use std::cell::Cell;
use std::ptr;

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
        unsafe { ptr::copy_nonoverlapping(source, tile, n * size) };
        return;
    }
    if stride == 0 && n >= 16 {
        // SAFETY: the caller's contract.
        unsafe { repeat(tile, source, size, n) };
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

/// Writes one element of `size` bytes `n` times.
///
/// # Safety
/// As [`gather`] for a stride of 0, of at least one element.
#[inline(never)]
unsafe fn repeat(tile: *mut u8, source: *const u8, size: usize, n: usize) {
    match size {
        // SAFETY: the caller's contract, for each element size.
        1 => unsafe { repeat_element::<u8>(tile, source, n) },
        // SAFETY: as above.
        2 => unsafe { repeat_element::<u16>(tile, source, n) },
        // SAFETY: as above.
        4 => unsafe { repeat_element::<u32>(tile, source, n) },
        // SAFETY: as above; no element is larger than 8 bytes.
        _ => unsafe { repeat_element::<u64>(tile, source, n) },
    }
}

/// # Safety
/// As [`repeat`], with `T` of the element's size.
unsafe fn repeat_element<T: Copy>(tile: *mut u8, source: *const u8, n: usize) {
    // SAFETY: by the caller's contract there is an element.
    let element = unsafe { source.cast::<T>().read() };
    for i in 0..n {
        // SAFETY: `i < n`, inside the tile.
        let place = unsafe { tile.cast::<T>().add(i) };
        // SAFETY: as above; tile memory is aligned for every element.
        unsafe { place.write(element) };
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
        unsafe { ptr::copy_nonoverlapping(tile, target, n * size) };
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
    fn scratch_is_kept_and_aligned() {
        let first = Scratch::take(1000).pointer();
        let second = Scratch::take(500).pointer();
        assert_eq!(first, second);
        assert!(first.cast::<Line>().is_aligned());
    }
}
