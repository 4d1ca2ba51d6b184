//! What elements are ordered by: unsigned integers of the element's size whose order is the order of the values.
//!
//! So there are four sorting kernels, one per element size, for thirteen dtypes in two directions. The maps are exact
//! where values are moved through them, and tie what compares equal where only positions are wanted.

use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use lodestride_buffer::{DType, Element};

use crate::isa::{Arch, Level, Task};

/// An unsigned integer that elements are ordered by.
pub(crate) trait Key:
    Element
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Debug
{
    const BITS: u32;
    const ZERO: Self;
    const MAX: Self;
    /// The sign bit.
    const SIGN: Self;

    fn to_u64(self) -> u64;

    /// The low bits of a number.
    fn from_u64(value: u64) -> Self;

    /// All ones for a set sign bit, else zero.
    fn sign_mask(self) -> Self;

    fn plus(self, other: Self) -> Self;

    fn minus(self, other: Self) -> Self;

    /// Sorts by vector instructions where there are any for these keys; false where nothing was done. Scratch memory as long as
    /// the keys spares the kernel clearing its own.
    fn sort_vectors(_keys: &mut [Self], _scratch: &mut [Self]) -> bool {
        false
    }

    /// Whether there is a [`partition_vectors`](Self::partition_vectors) in this process.
    fn has_vectors() -> bool {
        false
    }

    /// Whether there is a [`sort_floats`](Self::sort_floats) in this process.
    fn has_float_vectors() -> bool {
        false
    }

    /// Sorts the bits of floats by `<`, NaN not among them, where there are vector instructions for it.
    fn sort_floats(_numbers: &mut [Self], _scratch: &mut [Self]) -> bool {
        false
    }

    /// Moves the keys below `pivot` to the front, both sides in their order, by vector instructions: how many there are;
    /// `None` where nothing was done.
    fn partition_vectors(_keys: &mut [Self], _scratch: &mut [Self], _pivot: Self) -> Option<usize> {
        None
    }

    /// As [`partition_vectors`](Self::partition_vectors), of the bits of floats by `<`.
    fn partition_floats(
        _values: &mut [Self],
        _scratch: &mut [Self],
        _pivot: Self,
    ) -> Option<usize> {
        None
    }
}

/// The vector functions of [`Key`], from a module of each of the instruction sets that have them.
macro_rules! vectors {
    ($vectors:ident of [$($set:ident)+]) => {
        #[cfg(target_arch = "x86_64")]
        fn sort_vectors(keys: &mut [Self], scratch: &mut [Self]) -> bool {
            $(crate::$set::$vectors::try_sort(keys, scratch))||+
        }
        #[cfg(target_arch = "x86_64")]
        fn has_vectors() -> bool {
            $(crate::$set::$vectors::can_partition())||+
        }
        #[cfg(target_arch = "x86_64")]
        fn partition_vectors(
            keys: &mut [Self],
            scratch: &mut [Self],
            pivot: Self,
        ) -> Option<usize> {
            None$(.or_else(|| crate::$set::$vectors::try_partition(keys, scratch, pivot)))+
        }
    };
}

/// Those for floats.
macro_rules! float_vectors {
    ($vectors:ident of [$($set:ident)+]) => {
        #[cfg(target_arch = "x86_64")]
        fn has_float_vectors() -> bool {
            $(crate::$set::$vectors::can_partition())||+
        }
        #[cfg(target_arch = "x86_64")]
        fn sort_floats(numbers: &mut [Self], scratch: &mut [Self]) -> bool {
            $(crate::$set::$vectors::try_sort(numbers, scratch))||+
        }
        #[cfg(target_arch = "x86_64")]
        fn partition_floats(
            values: &mut [Self],
            scratch: &mut [Self],
            pivot: Self,
        ) -> Option<usize> {
            None$(.or_else(|| crate::$set::$vectors::try_partition(values, scratch, pivot)))+
        }
    };
}

macro_rules! keys {
    ($($key:ty, $signed:ty, $vectors:ident $($floats:ident)? => $sets:tt;)*) => {$(
        impl Key for $key {
            const BITS: u32 = <$key>::BITS;
            const ZERO: Self = 0;
            const MAX: Self = <$key>::MAX;
            const SIGN: Self = 1 << (<$key>::BITS - 1);
            #[inline(always)]
            fn to_u64(self) -> u64 { u64::from(self) }
            #[inline(always)]
            fn from_u64(value: u64) -> Self { value as $key }
            #[inline(always)]
            fn sign_mask(self) -> Self { ((self as $signed) >> (<$key>::BITS - 1)) as $key }
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            vectors! { $vectors of $sets }
            $(float_vectors! { $floats of $sets })?
        }
    )*};
}
keys!(
    u8, i8, bytes => [sort_avx512];
    u16, i16, tiny => [sort_avx512];
    u32, i32, narrow narrow_floats => [sort_avx512 sort_avx2];
    u64, i64, wide wide_floats => [sort_avx512 sort_avx2];
);

/// How the bits of a dtype become keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Any byte but zero is true.
    Bool,
    Unsigned,
    Signed,
    /// With this many mantissa bits.
    Float(u32),
}

/// The map between the bits of a dtype and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coding {
    kind: Kind,
    descending: bool,
}

impl Coding {
    pub(crate) fn new(dtype: DType, descending: bool) -> Self {
        let kind = match dtype {
            DType::Bool => Kind::Bool,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => Kind::Unsigned,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Kind::Signed,
            DType::F16 => Kind::Float(10),
            DType::BF16 => Kind::Float(7),
            DType::F32 => Kind::Float(23),
            DType::F64 => Kind::Float(52),
        };
        Self { kind, descending }
    }

    pub(crate) fn is_descending(self) -> bool {
        self.descending
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float(_))
    }

    pub(crate) fn is_bool(self) -> bool {
        self.kind == Kind::Bool
    }

    /// The sign bit of floats and their infinity; without effect on other values, no bit and the largest number.
    pub(crate) fn sign_and_infinity<K: Key>(self) -> (K, K) {
        match self.kind {
            Kind::Float(mantissa) => (K::SIGN, infinity(mantissa)),
            _ => (K::ZERO, K::MAX),
        }
    }

    /// Whether equal keys always are equal bits: not where -0.0 and 0.0, or one NaN and another, are tied.
    pub(crate) fn is_exact(self) -> bool {
        !self.is_float()
    }

    /// The key that [`rank`](Self::rank) gives every NaN, above those of all numbers in ascending order.
    pub(crate) fn nan<K: Key>(self) -> Option<K> {
        let Kind::Float(mantissa) = self.kind else {
            return None;
        };
        let mut key = [quiet_nan::<K>(mantissa)];
        self.encode(&mut key);
        Some(key[0])
    }

    fn mask<K: Key>(self) -> K {
        if self.descending { K::MAX } else { K::ZERO }
    }

    /// Keys that keep every bit: -0.0 is below 0.0, NaNs are above infinity (those with a sign last), so that the
    /// values can be had back.
    pub(crate) fn encode<K: Key>(self, values: &mut [K]) {
        let mask = self.mask::<K>();
        match self.kind {
            Kind::Bool => each(values, move |v| {
                (if v == K::ZERO {
                    K::ZERO
                } else {
                    K::from_u64(1)
                }) ^ mask
            }),
            Kind::Unsigned if !self.descending => {}
            Kind::Unsigned => each(values, move |v| v ^ mask),
            Kind::Signed => each(values, move |v| v ^ (K::SIGN ^ mask)),
            Kind::Float(mantissa) => each(values, self.float_key(mantissa)),
        }
    }

    /// The key of a float with so many mantissa bits.
    pub(crate) fn float_key<K: Key>(self, mantissa: u32) -> impl Fn(K) -> K + Copy {
        let mask = self.mask::<K>();
        let nans = K::from_u64((1 << mantissa) - 1);
        move |v| (v ^ (v.sign_mask() | K::SIGN)).minus(nans) ^ mask
    }

    /// The values of keys made by [`encode`](Self::encode).
    pub(crate) fn decode<K: Key>(self, keys: &mut [K]) {
        let mask = self.mask::<K>();
        match self.kind {
            Kind::Unsigned if !self.descending => {}
            Kind::Bool | Kind::Unsigned => each(keys, move |k| k ^ mask),
            Kind::Signed => each(keys, move |k| k ^ (K::SIGN ^ mask)),
            Kind::Float(mantissa) => {
                let nans = K::from_u64((1 << mantissa) - 1);
                each(keys, move |k| {
                    let flipped = (k ^ mask).plus(nans);
                    flipped ^ (!flipped.sign_mask() | K::SIGN)
                });
            }
        }
    }

    /// Keys that are equal where the values compare equal: -0.0 is 0.0, and all NaNs are one value above infinity.
    pub(crate) fn rank<K: Key>(self, values: &mut [K]) {
        // In the first cache for both passes.
        for values in values.chunks_mut(NEAR / size_of::<K>()) {
            self.rank_near(values);
        }
    }

    /// [`rank`](Self::rank) of copies of as many values.
    pub(crate) fn rank_copies<K: Key>(self, values: &[K], keys: &mut [K]) {
        let near = NEAR / size_of::<K>();
        for (values, keys) in values.chunks(near).zip(keys.chunks_mut(near)) {
            keys.copy_from_slice(values);
            self.rank_near(keys);
        }
    }

    fn rank_near<K: Key>(self, values: &mut [K]) {
        if let Kind::Float(mantissa) = self.kind {
            let nan = quiet_nan::<K>(mantissa);
            let infinity = infinity::<K>(mantissa);
            each(values, move |v| {
                let magnitude = v & !K::SIGN;
                let v = if magnitude == K::ZERO { K::ZERO } else { v };
                if magnitude > infinity { nan } else { v }
            });
        }
        self.encode(values);
    }
}

/// Bytes of keys that are made ranks at a time.
const NEAR: usize = 16 << 10;

/// Above that are the magnitudes of NaNs.
pub(crate) fn infinity<K: Key>(mantissa: u32) -> K {
    K::from_u64((K::SIGN.to_u64() - 1) >> mantissa << mantissa)
}

fn quiet_nan<K: Key>(mantissa: u32) -> K {
    infinity::<K>(mantissa) | K::from_u64(1 << (mantissa - 1))
}

/// Replaces every key by its image.
fn each<K: Key>(keys: &mut [K], map: impl Fn(K) -> K) {
    Level::current().run(Each { keys, map });
}

struct Each<'a, K, F> {
    keys: &'a mut [K],
    map: F,
}

impl<K: Key, F: Fn(K) -> K> Task for Each<'_, K, F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for key in self.keys.iter_mut() {
            *key = (self.map)(*key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;

    #[test]
    fn keys_of_floats_ascend_with_the_values() {
        let ascending = [
            f32::NEG_INFINITY,
            -1e30,
            -1.0,
            -1e-40,
            -0.0,
            0.0,
            1e-40,
            1.0,
            f32::INFINITY,
            f32::NAN,
            -f32::NAN,
        ];
        for descending in [false, true] {
            let coding = Coding::new(DType::F32, descending);
            let bits = ascending.map(f32::to_bits);
            let mut keys = bits;
            coding.encode(&mut keys);
            assert!(keys.is_sorted_by(|a, b| if descending { a > b } else { a < b }));
            coding.decode(&mut keys);
            assert_eq!(keys, bits);
            coding.rank(&mut keys);
            assert!(keys.is_sorted_by(|a, b| if descending { a >= b } else { a <= b }));
            assert_eq!((keys[4], keys[9]), (keys[5], keys[10]));
            assert!(keys[8] != keys[9]);
            assert_eq!(coding.nan(), Some(keys[9]));
        }
    }

    #[test]
    fn every_half_and_byte_comes_back() {
        for dtype in [DType::F16, DType::BF16, DType::I16, DType::U16] {
            for descending in [false, true] {
                let coding = Coding::new(dtype, descending);
                let all: Vec<u16> = (0..=u16::MAX).collect();
                let mut keys = all.clone();
                coding.encode(&mut keys);
                let mut seen = keys.clone();
                seen.sort_unstable();
                assert_eq!(seen, all, "{dtype}");
                coding.decode(&mut keys);
                assert_eq!(keys, all, "{dtype}");
            }
        }
    }

    /// Keys of which so many are different, from a fixed mixer.
    fn keys<K: Key>(len: usize, distinct: u64) -> Vec<K> {
        let mixed = (0..len as u64)
            .map(|i| ((i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7) % distinct);
        // The sign bits of all widths are set in some.
        mixed
            .map(|key| K::from_u64(key.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect()
    }

    /// Whether keys come out in order where they are sorted at all, and in two where they are partitioned.
    fn are_sorted<K: Key>(len: usize, distinct: u64) -> bool {
        let keys = keys::<K>(len, distinct);
        let (mut found, mut scratch) = (keys.clone(), keys.clone());
        let mut expected = keys.clone();
        expected.sort();
        let is_sorted = !K::sort_vectors(&mut found, &mut []) || found == expected;
        let pivot = expected.get(len / 3).copied().unwrap_or(K::MAX);
        let (mut below, above): (Vec<K>, Vec<K>) = keys.iter().partition(|&&key| key < pivot);
        let count = below.len();
        below.extend(above);
        found.copy_from_slice(&keys);
        let ended = K::partition_vectors(&mut found, &mut scratch, pivot);
        is_sorted && ended.is_none_or(|ended| ended == count && found == below)
    }

    #[test]
    fn keys_of_every_number_are_sorted() {
        let mut failures = Vec::new();
        let before = Isa::detect();
        for isa in Isa::available() {
            assert!(isa.select());
            // On both sides of what networks take, and of what a partition reads together.
            let around = [128, 256, 384, 512, 1024, 2048, 4096, 12_288];
            let around = around.map(|len| [len - 1, len, len + 1, len + 70]);
            for len in (0..80).chain(around.into_iter().flatten()) {
                for distinct in [1, 2, 3, 60, u64::MAX] {
                    let are_sorted = are_sorted::<u8>(len, distinct)
                        && are_sorted::<u16>(len, distinct)
                        && are_sorted::<u32>(len, distinct)
                        && are_sorted::<u64>(len, distinct);
                    if !are_sorted {
                        failures.push((isa, len, distinct));
                    }
                }
            }
        }
        before.select();
        assert!(failures.is_empty(), "{failures:?}");
    }
}
