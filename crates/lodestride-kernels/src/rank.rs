//! Keys by which integers and halves are ranked: the largest belongs to the extreme that is looked for.

use std::ops::BitXor;

use lodestride_buffer::{DType, Element, bf16, f16};

/// A signed integer by which those of its size are ranked, once their bits are turned round as [`flip`] says.
pub(crate) trait Key: Element + Ord + BitXor<Output = Self> {
    const ZERO: Self;
    const LOWEST: Self;
    const HIGHEST: Self;
    fn widened(self) -> i64;
    /// The key that was widened.
    fn narrowed(wide: i64) -> Self;
}

macro_rules! key {
    ($($t:ty),*) => {$(
        impl Key for $t {
            const ZERO: $t = 0;
            const LOWEST: $t = <$t>::MIN;
            const HIGHEST: $t = <$t>::MAX;
            #[inline(always)]
            fn widened(self) -> i64 { self as i64 }
            #[inline(always)]
            fn narrowed(wide: i64) -> $t { wide as $t }
        }
    )*};
}
key!(i8, i16, i32, i64);

/// Runs an expression with `$K` the [`Key`] of an integer dtype, or another for other dtypes.
macro_rules! with_key {
    ($dtype:expr, $K:ident => $body:expr, else $other:expr) => {
        with_key!(@match $dtype, $K => $body, else $other, I8 U8 i8, I16 U16 i16, I32 U32 i32, I64 U64 i64)
    };
    (@match $dtype:expr, $K:ident => $body:expr, else $other:expr, $($signed:ident $unsigned:ident $key:ty),*) => {
        match $dtype {
            $(DType::$signed | DType::$unsigned => {
                type $K = $key;
                $body
            })*
            _ => $other,
        }
    };
}
pub(crate) use with_key;

/// The bits to be turned round so that the largest key is that of the largest or the smallest element of an integer dtype.
pub(crate) fn flip<K: Key>(dtype: DType, is_smallest: bool) -> K {
    match (dtype.is_signed(), is_smallest) {
        (true, false) => K::ZERO,
        (true, true) => K::LOWEST ^ K::HIGHEST,
        (false, false) => K::LOWEST,
        (false, true) => K::HIGHEST,
    }
}

/// Elements as keys, of which the largest belongs to the extreme that is looked for.
pub(crate) trait Rank<E: Element>: Copy + Sync {
    type Key: Key;
    fn key(self, x: E) -> Self::Key;
    fn element(self, key: Self::Key) -> E;
    /// A number whose bits turn those of keys that are kept in memory: where a larger key takes the place of one that lies there as
    /// it is, the compiler stores under masks, for which processors of AMD take a dozen cycles.
    fn veil(self) -> Self::Key;
}

/// Integers, their bits turned round as [`flip`] says.
#[derive(Clone, Copy)]
pub(crate) struct Flip<K>(pub(crate) K);

impl<K: Key> Rank<K> for Flip<K> {
    type Key = K;

    #[inline(always)]
    fn key(self, x: K) -> K {
        x ^ self.0
    }
    #[inline(always)]
    fn element(self, key: K) -> K {
        key ^ self.0
    }
    #[inline(always)]
    fn veil(self) -> K {
        self.0
    }
}

/// Halves of either kind: size and sign become a number in two's complement, and all are turned on in a ring until what was
/// below negative infinity, the NaN of that sign, is above everything as the others are. Zeros rank by their signs.
#[derive(Clone, Copy)]
pub(crate) struct HalfRank {
    /// The bits of infinity.
    infinity: i16,
    /// The sign, where the smallest is looked for.
    flip: i16,
}

impl HalfRank {
    pub(crate) fn of(dtype: DType, is_smallest: bool) -> Option<Self> {
        let infinity = match dtype {
            DType::F16 => f16::INFINITY.to_bits(),
            DType::BF16 => bf16::INFINITY.to_bits(),
            _ => return None,
        };
        let infinity = infinity.cast_signed();
        let flip = i16::from(is_smallest) << 15;
        Some(Self { infinity, flip })
    }

    /// How many NaN there are of a sign.
    #[inline(always)]
    fn turn(self) -> i16 {
        i16::MAX - self.infinity
    }
}

/// A number in sign and size as one in two's complement, or back.
#[inline(always)]
pub(crate) fn complemented(bits: i16) -> i16 {
    bits ^ (bits >> 15 & i16::MAX)
}

impl Rank<i16> for HalfRank {
    type Key = i16;

    #[inline(always)]
    fn key(self, x: i16) -> i16 {
        complemented(x ^ self.flip).wrapping_sub(self.turn())
    }
    #[inline(always)]
    fn element(self, key: i16) -> i16 {
        let bits = complemented(key.wrapping_add(self.turn())) ^ self.flip;
        // A NaN is a quiet one, of which the first bit of the fraction is set.
        let is_nan = bits & 0x7fff > self.infinity;
        let quiet = (self.infinity & self.infinity.wrapping_neg()) >> 1;
        if is_nan { bits | quiet } else { bits }
    }
    #[inline(always)]
    fn veil(self) -> i16 {
        // There are no masked stores of so few bits.
        0
    }
}
