//! Vectors of sixteen bytes that are interleaved element by element: what transposes are made of.
#![expect(
    unsafe_code,
    reason = "vectors are loaded and stored through raw pointers, and interleaved by intrinsics"
)]

/// An element size: how vectors of `B` elements are interleaved, and how large its tiles are.
pub(crate) trait Unit<const B: usize> {
    /// Bytes of an element.
    const SIZE: usize = 16 / B;
    /// Rows of a tile.
    const ROWS: usize;
    /// Bytes of a destination row that a tile writes.
    const RUN: usize = Self::ROWS * Self::SIZE;

    /// The first halves of two vectors, interleaved.
    fn low(a: Vector, b: Vector) -> Vector;
    /// The second halves of two vectors, interleaved.
    fn high(a: Vector, b: Vector) -> Vector;
}

/// Elements of 1 byte.
#[derive(Debug)]
pub(crate) struct Bytes1;
/// Elements of 2 bytes.
#[derive(Debug)]
pub(crate) struct Bytes2;
/// Elements of 4 bytes.
#[derive(Debug)]
pub(crate) struct Bytes4;
/// Elements of 8 bytes.
#[derive(Debug)]
pub(crate) struct Bytes8;

/// The transpose of `B` rows of `B` elements. Interleaving row `i` with row `i + B / 2` moves one bit of the column number
/// into the row number: the perfect shuffle. As many rounds as `B` has bits transpose.
#[inline(always)]
pub(crate) fn perfect_shuffles<V: Copy, const B: usize>(
    mut rows: [V; B],
    low: impl Fn(V, V) -> V,
    high: impl Fn(V, V) -> V,
) -> [V; B] {
    let mut round = 1;
    while round < B {
        // Pair by pair: what asks of each row whether it is the first of a pair stays a loop of branches where rows are many.
        let before = rows;
        for i in 0..B / 2 {
            let (a, b) = (before[i], before[i + B / 2]);
            (rows[2 * i], rows[2 * i + 1]) = (low(a, b), high(a, b));
        }
        round *= 2;
    }
    rows
}

#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::Vector;

#[cfg(target_arch = "x86_64")]
mod sse2 {
    //! Vectors of sixteen bytes by SSE2, which every x86-64 processor has. Wider ones gain nothing where a stage in L1 sets the
    //! pace; `transpose_lines.rs` has none.

    use std::arch::x86_64::*;

    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Vector(__m128i);

    impl Vector {
        /// # Safety
        /// Sixteen bytes are valid for reads.
        #[inline(always)]
        pub(crate) unsafe fn load(from: *const u8) -> Vector {
            // SAFETY: the caller's contract; no alignment is asked for.
            Vector(unsafe { _mm_loadu_si128(from.cast()) })
        }

        /// # Safety
        /// Sixteen bytes are valid for writes.
        #[inline(always)]
        pub(crate) unsafe fn store(self, to: *mut u8) {
            // SAFETY: the caller's contract; no alignment is asked for.
            unsafe { _mm_storeu_si128(to.cast(), self.0) }
        }

        /// # Safety
        /// Sixteen bytes are valid for writes and aligned to as many.
        #[inline(always)]
        pub(crate) unsafe fn stream(self, to: *mut u8) {
            // SAFETY: the caller's contract.
            unsafe { _mm_stream_si128(to.cast(), self.0) }
        }
    }

    macro_rules! unit {
        ($Unit:ident, $count:literal, $rows:literal, $low:ident, $high:ident) => {
            impl super::Unit<$count> for super::$Unit {
                const ROWS: usize = $rows;

                #[inline(always)]
                fn low(a: Vector, b: Vector) -> Vector {
                    // SAFETY: SSE2 is part of x86-64.
                    Vector(unsafe { $low(a.0, b.0) })
                }

                #[inline(always)]
                fn high(a: Vector, b: Vector) -> Vector {
                    // SAFETY: SSE2 is part of x86-64.
                    Vector(unsafe { $high(a.0, b.0) })
                }
            }
        };
    }
    unit!(Bytes1, 16, 128, _mm_unpacklo_epi8, _mm_unpackhi_epi8);
    unit!(Bytes2, 8, 128, _mm_unpacklo_epi16, _mm_unpackhi_epi16);
    unit!(Bytes4, 4, 64, _mm_unpacklo_epi32, _mm_unpackhi_epi32);
    unit!(Bytes8, 2, 64, _mm_unpacklo_epi64, _mm_unpackhi_epi64);
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use plain::Vector;

#[cfg(not(target_arch = "x86_64"))]
mod plain {
    //! Vectors of sixteen bytes as arrays, for the compiler to turn into registers.

    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Vector([u8; 16]);

    impl Vector {
        /// # Safety
        /// Sixteen bytes are valid for reads.
        #[inline(always)]
        pub(crate) unsafe fn load(from: *const u8) -> Vector {
            // SAFETY: the caller's contract; bytes need no alignment.
            Vector(unsafe { from.cast::<[u8; 16]>().read() })
        }

        /// # Safety
        /// Sixteen bytes are valid for writes.
        #[inline(always)]
        pub(crate) unsafe fn store(self, to: *mut u8) {
            // SAFETY: the caller's contract; bytes need no alignment.
            unsafe { to.cast::<[u8; 16]>().write(self.0) }
        }

        /// # Safety
        /// As [`Vector::store`].
        #[inline(always)]
        pub(crate) unsafe fn stream(self, to: *mut u8) {
            // SAFETY: the caller's contract.
            unsafe { self.store(to) }
        }
    }

    macro_rules! unit {
        ($Unit:ident, $count:literal, $rows:literal) => {
            impl super::Unit<$count> for super::$Unit {
                const ROWS: usize = $rows;

                #[inline(always)]
                fn low(a: Vector, b: Vector) -> Vector {
                    interleaved::<{ 16 / $count }>(a, b, 0)
                }

                #[inline(always)]
                fn high(a: Vector, b: Vector) -> Vector {
                    interleaved::<{ 16 / $count }>(a, b, 8)
                }
            }
        };
    }
    unit!(Bytes1, 16, 128);
    unit!(Bytes2, 8, 128);
    unit!(Bytes4, 4, 64);
    unit!(Bytes8, 2, 64);

    /// Elements of `SIZE` bytes of two vectors in turn, from byte `from` on.
    #[inline(always)]
    fn interleaved<const SIZE: usize>(a: Vector, b: Vector, from: usize) -> Vector {
        Vector(std::array::from_fn(|at| {
            let (element, byte) = (at / SIZE, at % SIZE);
            let vector = if element % 2 == 0 { a.0 } else { b.0 };
            vector[from + element / 2 * SIZE + byte]
        }))
    }
}
