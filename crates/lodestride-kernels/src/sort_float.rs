//! Sorting floats as floats, where vector instructions compare those faster than the integers that stand for them.
//!
//! The kernels sort numbers by `<`. What that does not order is settled here: NaNs are set aside and sorted by their bits, and
//! the run of zeros is written anew, those with a sign first. So the result is that of sorting keys, bit for bit.

use lodestride_buffer::DType;

use crate::isa::{Arch, Level, Task};
use crate::sort_key::{Coding, Key, infinity};
use crate::sort_radix::{FEW, is_in_order, sort_above};
use crate::sort_share::partition_keys;
use crate::stream;

/// Whether there are vector instructions for these values as floats.
pub(crate) fn has_vectors<K: Key>(coding: Coding) -> bool {
    coding.is_float() && K::has_float_vectors()
}

/// Sorts lines of `len` floats in the direction of `coding`; false, having done nothing, where sorting keys is as fast.
pub(crate) fn sort_floats<K: Key>(
    coding: Coding,
    lines: &mut [K],
    len: usize,
    scratch: &mut [K],
) -> bool {
    let is_faster = has_vectors::<K>(coding) && !stream::takes_integers_fast();
    if is_faster {
        sort_as_floats(coding, lines, len, scratch);
    }
    is_faster
}

fn sort_as_floats<K: Key>(coding: Coding, lines: &mut [K], len: usize, scratch: &mut [K]) {
    let found = Level::current().run(Survey { values: lines });
    for line in lines.chunks_exact_mut(len) {
        sort_line(coding, line, found, scratch);
    }
}

fn sort_line<K: Key>(coding: Coding, line: &mut [K], found: Found, scratch: &mut [K]) {
    if line.len() > FEW
        && let Some(descends) = is_in_order(line, float_key(coding))
    {
        if descends {
            line.reverse();
        }
        return;
    }
    let count = if found.nan {
        nans_last(line)
    } else {
        line.len()
    };
    let (numbers, nans) = line.split_at_mut(count);
    if !K::sort_floats(numbers, scratch) {
        sort_by_keys(numbers);
    }
    if found.negative_zero {
        order_zeros(numbers);
    }
    if !nans.is_empty() {
        let ascending = ascending::<K>();
        ascending.encode(nans);
        sort_above(nans, scratch, 0, 1);
        ascending.decode(nans);
    }
    if coding.is_descending() {
        line.reverse();
    }
}

/// Moves NaNs behind the numbers; how many numbers there are.
fn nans_last<K: Key>(line: &mut [K]) -> usize {
    let (mut at, mut end) = (0, line.len());
    while at < end {
        if is_nan(line[at]) {
            end -= 1;
            line.swap(at, end);
        } else {
            at += 1;
        }
    }
    end
}

/// Puts the zeros with a sign before those without, in sorted numbers.
fn order_zeros<K: Key>(numbers: &mut [K]) {
    let magnitude = |value: K| value & !K::SIGN;
    let is_negative = |value: K| value != magnitude(value) && magnitude(value) != K::ZERO;
    let start = numbers.partition_point(|&value| is_negative(value));
    let zeros = &mut numbers[start..];
    let end = zeros.partition_point(|&value| magnitude(value) == K::ZERO);
    let zeros = &mut zeros[..end];
    let signed = zeros.iter().filter(|&&zero| zero == K::SIGN).count();
    zeros[..signed].fill(K::SIGN);
    zeros[signed..].fill(K::ZERO);
}

/// Mantissa bits of the floats that are sorted here.
fn mantissa<K: Key>() -> u32 {
    if K::BITS == 32 { 23 } else { 52 }
}

/// The key of a float of the width that is sorted here.
pub(crate) fn float_key<K: Key>(coding: Coding) -> impl Fn(K) -> K + Copy {
    coding.float_key(mantissa::<K>())
}

fn is_nan<K: Key>(value: K) -> bool {
    value & !K::SIGN > infinity::<K>(mantissa::<K>())
}

/// Whether among floats are some that `<` does not order.
#[derive(Clone, Copy, Debug)]
struct Found {
    nan: bool,
    negative_zero: bool,
}

struct Survey<'a, K> {
    values: &'a [K],
}

impl<K: Key> Task for Survey<'_, K> {
    type Output = Found;

    #[inline(always)]
    fn run<A: Arch>(self) -> Found {
        let (mut nan, mut zero) = (K::ZERO, K::ZERO);
        let set = |yes: bool| if yes { K::MAX } else { K::ZERO };
        for &value in self.values {
            nan = nan | set(is_nan(value));
            zero = zero | set(value == K::SIGN);
        }
        Found {
            nan: nan != K::ZERO,
            negative_zero: zero != K::ZERO,
        }
    }
}

/// The keys of these floats, ascending.
pub(crate) fn ascending<K: Key>() -> Coding {
    let dtype = if K::BITS == 32 {
        DType::F32
    } else {
        DType::F64
    };
    Coding::new(dtype, false)
}

/// Sorts floats by their keys: what the kernels fall back on.
pub(crate) fn sort_by_keys<K: Key>(numbers: &mut [K]) {
    let coding = ascending::<K>();
    coding.encode(numbers);
    numbers.sort_unstable();
    coding.decode(numbers);
}

/// Whether `<` has the same floats below this one as the order of keys: not of a zero, and nothing is below NaN.
pub(crate) fn is_ordered<K: Key>(value: K) -> bool {
    !is_nan(value) && value & !K::SIGN != K::ZERO
}

/// Moves the floats below `pivot`, which [`is_ordered`], to the front, both sides in their order; how many there are.
pub(crate) fn partition_floats<K: Key>(values: &mut [K], scratch: &mut [K], pivot: K) -> usize {
    if let Some(below) = K::partition_floats(values, scratch, pivot) {
        return below;
    }
    let coding = ascending::<K>();
    coding.encode(values);
    let below = partition_keys(values, scratch, float_key(coding)(pivot));
    coding.decode(values);
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;

    /// Floats that sorts have been wrong for, by their bits and in no order; one in `rare` of all.
    fn odd_ones(len: usize, rare: u64, bits: u32, mantissa: u32) -> Vec<u64> {
        let sign = 1 << (bits - 1);
        let infinity = (sign - 1) >> mantissa << mantissa;
        let odd = [
            0,
            sign,
            infinity,
            sign | infinity,
            infinity | 1,
            sign | infinity | 1,
            infinity | 1 << (mantissa - 1),
            sign | (sign - 1),
            1,
            sign | 1,
        ];
        (0..len as u64)
            .map(|i| {
                let mixed = (i ^ 0x9e37)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(23);
                let mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
                if (mixed >> 40) % rare == 0 {
                    odd[(mixed >> 20) as usize % odd.len()]
                } else {
                    // Any bits but those of NaNs.
                    let value = mixed >> (64 - bits);
                    if value & infinity == infinity {
                        i
                    } else {
                        value
                    }
                }
            })
            .collect()
    }

    /// The number at an index of a line of a length.
    type Pattern = fn(u64, u64) -> f64;

    fn check<K: Key>(
        dtype: DType,
        values: &[u64],
        len: usize,
        what: &str,
        failed: &mut Vec<String>,
    ) {
        let values: Vec<K> = values.iter().map(|&value| K::from_u64(value)).collect();
        for descending in [false, true] {
            let coding = Coding::new(dtype, descending);
            let mut found = values.clone();
            if !has_vectors::<K>(coding) {
                return;
            }
            sort_as_floats(coding, &mut found, len, &mut values.clone());
            let mut expected = values.clone();
            coding.encode(&mut expected);
            for line in expected.chunks_exact_mut(len) {
                line.sort();
            }
            coding.decode(&mut expected);
            if found != expected {
                failed.push(format!("{dtype} {len} {what}, descending: {descending}"));
            }
        }
    }

    fn check_all(
        values: impl Fn(u32, u32) -> Vec<u64>,
        len: usize,
        what: &str,
        failed: &mut Vec<String>,
    ) {
        check::<u32>(DType::F32, &values(32, 23), len, what, failed);
        check::<u64>(DType::F64, &values(64, 52), len, what, failed);
    }

    #[test]
    fn floats_are_sorted_as_their_keys_are() {
        let mut failed = Vec::new();
        let before = Isa::detect();
        for isa in Isa::available().filter(|&isa| isa != Isa::Baseline) {
            assert!(isa.select());
            check_lengths(&mut failed);
        }
        before.select();
        assert!(failed.is_empty(), "{} cases: {failed:?}", failed.len());
    }

    fn check_lengths(failed: &mut Vec<String>) {
        // All short ones; then both sides of what networks take, of scratch memory, and of what is read together.
        let around = [640, 1024, 1152, 1536, 2048, 2176, 2304, 3000, 4096, 9000];
        let around = around.map(|len| [len - 1, len, len + 1, len + 70]);
        for len in (1..=600).chain(around.into_iter().flatten()) {
            for rare in [1, 2, 50, u64::MAX] {
                check_all(
                    |bits, mantissa| odd_ones(len, rare, bits, mantissa),
                    len,
                    "odd ones",
                    failed,
                );
            }
            let patterns: [(&str, Pattern); 8] = [
                ("all equal", |_, _| 7.5),
                ("zeros", |i, _| {
                    if i.wrapping_mul(0x9e37_79b9) >> 7 & 1 == 0 {
                        0.0
                    } else {
                        -0.0
                    }
                }),
                ("two values", |i, _| {
                    if i.wrapping_mul(0x9e37_79b9) >> 9 & 1 == 0 {
                        -1.0
                    } else {
                        3.0
                    }
                }),
                ("sawtooth", |i, _| (i % 17) as f64 - 8.0),
                ("ascending", |i, _| i as f64 - 5.0),
                ("descending", |i, n| (n - i) as f64 - 5.0),
                ("descending, each twice", |i, n| ((n - i) / 2) as f64 - 5.0),
                ("organ pipe", |i, n| i.min(n - i) as f64),
            ];
            for (what, pattern) in patterns {
                let values = |bits: u32, _| {
                    let value = (0..len as u64).map(|i| pattern(i, len as u64));
                    if bits == 32 {
                        value
                            .map(|value| u64::from((value as f32).to_bits()))
                            .collect()
                    } else {
                        value.map(f64::to_bits).collect()
                    }
                };
                check_all(values, len, what, failed);
            }
        }
    }

    #[test]
    fn lines_are_sorted_each_by_itself() {
        let mut failed = Vec::new();
        for len in [1, 2, 7, 16, 33, 64, 97, 300] {
            for rare in [2, 40, u64::MAX] {
                check_all(
                    |bits, mantissa| odd_ones(12 * len, rare, bits, mantissa),
                    len,
                    "lines",
                    &mut failed,
                );
            }
        }
        assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn what_quicksort_gives_up_on_is_sorted_by_keys() {
        let mut found = [1.0f64, -0.0, f64::NEG_INFINITY, 0.0, -2.5].map(f64::to_bits);
        sort_by_keys(&mut found);
        let expected = [f64::NEG_INFINITY, -2.5, -0.0, 0.0, 1.0].map(f64::to_bits);
        assert_eq!(found, expected);
    }
}
