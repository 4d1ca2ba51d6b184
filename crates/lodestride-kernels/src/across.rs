//! Joining lanes: those of one row by halves, those of sixteen rows together, by shuffles between their registers.
//!
//! Lane `l` of a row is joined with `l + 8`, of those eight `l` with `l + 4`, then `l + 2` and `l + 1`, always in this
//! order: a result does not depend on how many rows were joined together, nor on the instruction set.
#![expect(
    unsafe_code,
    reason = "vector instructions may only run on processors that have them, and on values of which any bytes are one"
)]

use lodestride_buffer::Element;

use crate::isa::Arch;
use crate::twice::Twice;
use crate::vector::Array;

/// Lanes of a row: a vector of f32 at AVX-512.
pub(crate) const FEW: usize = 16;
/// Lanes of a row once its halves are joined.
pub(crate) const HALF: usize = FEW / 2;

/// Whole cache lines, so that what is stored in one piece is loaded from it without delay.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Lines<T>(pub(crate) T);

/// The halves of sixteen rows of lanes.
pub(crate) type Halves<L> = Lines<[[L; HALF]; FEW]>;

/// Makes the compiler put lanes into memory here. Without it the shuffles of what follows creep into the loop before, which
/// is then compiled in odd pieces instead of whole vectors. No effect on values.
#[inline(always)]
pub(crate) fn spill<T>(lanes: T) -> T {
    let mut spilled = Lines(lanes);
    std::hint::black_box(&mut spilled);
    spilled.0
}

/// All lanes as one, by halves.
#[inline(always)]
pub(crate) fn across<L: Copy>(lanes: [L; FEW], join: impl Fn(L, L) -> L) -> L {
    let half = halved::<L, FEW, HALF>(&spill(lanes), &join);
    let last = halved::<L, HALF, { FEW / 4 }>(&spill(half), &join);
    let last = spill(last);
    join(join(last[0], last[2]), join(last[1], last[3]))
}

/// The first half of some lanes joined with the second.
#[inline(always)]
pub(crate) fn halved<L: Copy, const N: usize, const H: usize>(
    lanes: &[L; N],
    join: impl Fn(L, L) -> L,
) -> [L; H] {
    // Loops, here and below: what a closure in a closure joins is not always compiled for the instruction set.
    let mut half = [lanes[0]; H];
    for lane in 0..H {
        half[lane] = join(lanes[lane], lanes[lane + H]);
    }
    half
}

/// [`across`] for each of sixteen rows, from where their halves are joined.
#[inline(always)]
pub(crate) fn across_rows<A: Arch, L: Element>(
    rows: &Halves<L>,
    join: impl Fn(L, L) -> L + Copy,
) -> [L; FEW] {
    let rows = &rows.0;
    let mut joined = [rows[0][0]; FEW];
    if has_shuffles::<A, L>(4) {
        let groups = rows.as_chunks::<8>().0.iter();
        for (rows, joined) in groups.zip(joined.as_chunks_mut::<8>().0) {
            let [a, b, c, d, e, f, g, h] = *rows;
            let (ae, bf) = (both(halves(a, e), join), both(halves(b, f), join));
            let (cg, dh) = (both(halves(c, g), join), both(halves(d, h), join));
            let (abef, cdgh) = (both(eights(ae, bf), join), both(eights(cg, dh), join));
            *joined = both(fours(abef, cdgh), join);
        }
        return joined;
    }
    if has_shuffles::<A, L>(8) {
        let groups = rows.as_chunks::<4>().0.iter();
        for (rows, joined) in groups.zip(joined.as_chunks_mut::<4>().0) {
            let (a, b): ([L; 4], [L; 4]) = (halved(&rows[0], join), halved(&rows[1], join));
            let (c, d): ([L; 4], [L; 4]) = (halved(&rows[2], join), halved(&rows[3], join));
            let (ac, bd) = (both(halves(a, c), join), both(halves(b, d), join));
            *joined = both(eights(ac, bd), join);
        }
        return joined;
    }
    for (joined, row) in joined.iter_mut().zip(rows) {
        let row: [L; 4] = halved(row, join);
        *joined = join(join(row[0], row[2]), join(row[1], row[3]));
    }
    joined
}

/// Types of which any bytes are a value.
///
/// # Safety
/// They are.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: any bytes are an element.
unsafe impl<L: Element, const N: usize> Plain for [L; N] {}
// SAFETY: as above.
unsafe impl<C: Element, const N: usize> Plain for Array<C, N> {}
// SAFETY: as above, of both.
unsafe impl<V: Plain> Plain for Twice<V> {}

/// Registers.
#[cfg(target_arch = "x86_64")]
macro_rules! plain {
    ($($r:ident),*) => {$(
        // SAFETY: any bits are a register.
        unsafe impl Plain for crate::vector::x86::Register<std::arch::x86_64::$r> {}
    )*};
}
#[cfg(target_arch = "x86_64")]
plain!(__m256, __m256d, __m512, __m512d);

/// Whether elements of `size` bytes are shuffled in registers.
#[inline(always)]
fn has_shuffles<A: Arch, L>(size: usize) -> bool {
    cfg!(target_arch = "x86_64") && A::FMA && size_of::<L>() == size
}

/// Two vectors joined lane by lane.
#[inline(always)]
fn both<L: Copy, const N: usize>((a, b): ([L; N], [L; N]), join: impl Fn(L, L) -> L) -> [L; N] {
    let mut joined = a;
    for lane in 0..N {
        joined[lane] = join(a[lane], b[lane]);
    }
    joined
}

/// Functions of two vectors of 32 bytes with two results, by one shuffle each.
macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident: $op:ident $low:literal $high:literal;)*) => {$(
        $(#[$doc])*
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        pub(crate) fn $name<T: Plain>(a: T, b: T) -> (T, T) {
            use std::arch::x86_64::{__m256, $op};
            assert!(size_of::<T>() == size_of::<__m256>());
            // SAFETY: both types are of that size, and any bytes are a register.
            let a: __m256 = unsafe { std::mem::transmute_copy(&a) };
            // SAFETY: as above.
            let b: __m256 = unsafe { std::mem::transmute_copy(&b) };
            // SAFETY: only code for processors with AVX2 gets here (`across_rows`, and `shuffles` of `reduce_short`).
            let low = unsafe { $op::<$low>(a, b) };
            // SAFETY: as above.
            let high = unsafe { $op::<$high>(a, b) };
            // SAFETY: both types are of that size, and any bytes are a `T`.
            let low = unsafe { std::mem::transmute_copy(&low) };
            // SAFETY: as above.
            (low, unsafe { std::mem::transmute_copy(&high) })
        }

        #[cfg(not(target_arch = "x86_64"))]
        pub(crate) fn $name<T: Plain>(a: T, b: T) -> (T, T) {
            (a, b)
        }
    )*};
}

shuffles! {
    /// The low halves of two vectors, one after the other, and the high ones.
    halves: _mm256_permute2f128_ps 0x20 0x31;
    /// In each half, the low eight bytes of two vectors, and the high ones.
    eights: _mm256_shuffle_ps 0x44 0xee;
    /// In each half, the elements of four bytes at even places of two vectors, and those at odd ones.
    fours: _mm256_shuffle_ps 0x88 0xdd;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Level, Task};

    struct Joined<'a, L>(&'a Halves<L>, fn(L, L) -> L);

    impl<L: Element> Task for Joined<'_, L> {
        type Output = [L; FEW];

        #[inline(always)]
        fn run<A: Arch>(self) -> [L; FEW] {
            across_rows::<A, L>(self.0, self.1)
        }
    }

    /// Rows of lanes that are all different, joined in a way that tells every order apart.
    fn check<L: Element>(of: impl Fn(usize) -> L, join: fn(L, L) -> L) {
        let rows: [[L; FEW]; FEW] =
            std::array::from_fn(|r| std::array::from_fn(|l| of(r * FEW + l)));
        let halves = Lines(rows.map(|row| halved(&row, join)));
        let found = Level::current().run(Joined(&halves, join));
        for (row, found) in rows.into_iter().zip(found) {
            assert_eq!(found, across(row, join));
        }
    }

    #[test]
    fn rows_are_joined_as_one_row_is() {
        check(|i| i as u32, |a, b| a.wrapping_mul(31) ^ b.rotate_left(7));
        check(|i| i as u64, |a, b| a.wrapping_mul(31) ^ b.rotate_left(7));
        check(|i| 1.0 / (i + 1) as f32, |a, b| a - b * 0.5);
        check(|i| 1.0 / (i + 1) as f64, |a, b| a - b * 0.5);
        check(|i| i as u16, |a, b| a.wrapping_mul(31) ^ b.rotate_left(7));
    }
}
