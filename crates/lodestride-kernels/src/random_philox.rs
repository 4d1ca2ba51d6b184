//! Philox4x32-10, the counter-based generator, and what turns its words into numbers.
//!
//! A counter is encrypted into four words; nothing is carried from one draw to the next, so any element can be drawn on
//! its own. Counters are worked on [`GROUP`] at a time, which vectorises. Floating-point steps never fuse, so the numbers
//! are the same on every instruction set. The generator is that of Salmon, Moraes, Dror and Shaw (SC 2011).

use crate::across::Lines;
use crate::isa::Arch;
use crate::stream::LINE;

/// Counters encrypted together: enough that the loop is not unrolled away before it is vectorised.
pub(crate) const GROUP: usize = 64;

/// The two words of [`GROUP`] consecutive counters: `words.0[w][c]` is word `w` of counter `first + c`. In whole lines: elsewhere on the
/// stack every register crosses a line, and some of them a page: 1e7 normal `f64` took 27 or 36 ms by where the stack began.
pub(crate) type Words = Lines<[[u64; GROUP]; 2]>;

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;
/// The half of a 64-bit lane that a word of 32 bits is in; what lies above is ignored.
pub(crate) const LOW: u64 = 0xFFFF_FFFF;

/// Encrypts counters of a stream: the four words of 32 bits of each, as two of 64 bits.
///
/// All rounds in registers, so that a loop over counters vectorises; a word of 32 bits fills a lane of 64, as the widening
/// multiplication wants it. Two `LANES` keep twice as many multiplications under way.
#[inline(always)]
fn encrypt<const LANES: usize>(
    counters: [u64; LANES],
    stream: u64,
    seed: u64,
) -> [[u64; LANES]; 2] {
    let mut a = counters;
    let mut b = counters.map(|counter| counter >> 32);
    let mut c = [stream; LANES];
    let mut d = [stream >> 32; LANES];
    let mut key = [seed as u32, (seed >> 32) as u32];
    for _ in 1..ROUNDS {
        let [first, second] = multiplied(a, c);
        let [low, high] = key.map(u64::from);
        a = std::array::from_fn(|lane| (second[lane] >> 32) ^ b[lane] ^ low);
        c = std::array::from_fn(|lane| (first[lane] >> 32) ^ d[lane] ^ high);
        (b, d) = (second, first);
        key[0] = key[0].wrapping_add(KEY_STEPS[0]);
        key[1] = key[1].wrapping_add(KEY_STEPS[1]);
    }
    // The last round leaves both halves in place: the high half of a product belongs below the low one.
    let [first, second] = multiplied(a, c);
    let [low, high] = key.map(u64::from);
    [
        std::array::from_fn(|lane| second[lane].rotate_left(32) ^ ((b[lane] ^ low) & LOW)),
        std::array::from_fn(|lane| first[lane].rotate_left(32) ^ ((d[lane] ^ high) & LOW)),
    ]
}

#[inline(always)]
fn multiplied<const LANES: usize>(a: [u64; LANES], c: [u64; LANES]) -> [[u64; LANES]; 2] {
    [
        a.map(|a| MULTIPLIERS[0] * (a & LOW)),
        c.map(|c| MULTIPLIERS[1] * (c & LOW)),
    ]
}

/// Calls `take` for each of the counters `first..first + GROUP` of a stream: with its number among them and its words.
#[inline(always)]
pub(crate) fn for_each_counter(
    seed: u64,
    stream: u64,
    first: u64,
    mut take: impl FnMut(usize, [u64; 2]),
) {
    const HALF: usize = GROUP / 2;
    for lane in 0..HALF {
        let counter = first.wrapping_add(lane as u64);
        let both = [counter, counter.wrapping_add(HALF as u64)];
        let [low, high] = encrypt(both, stream, seed);
        take(lane, [low[0], high[0]]);
        take(lane + HALF, [low[1], high[1]]);
    }
}

/// The words of the counters `first..first + GROUP` of a stream.
#[inline(always)]
pub(crate) fn words(seed: u64, stream: u64, first: u64) -> Words {
    let mut words = Lines([[0; GROUP]; 2]);
    for_each_counter(seed, stream, first, |lane, both| {
        words.0[0][lane] = both[0];
        words.0[1][lane] = both[1];
    });
    words
}

/// The words of one of the counters.
#[inline(always)]
pub(crate) fn of_counter(words: &Words, lane: usize) -> [u64; 2] {
    [words.0[0][lane], words.0[1][lane]]
}

/// Two 64-bit words of one counter.
pub(crate) fn pair(seed: u64, stream: u64, counter: u64) -> [u64; 2] {
    encrypt([counter], stream, seed).map(|[word]| word)
}

/// The 32-bit word `index` of a counter.
#[inline(always)]
pub(crate) fn half(words: [u64; 2], index: usize) -> u32 {
    let word = words[index / 2];
    (if index.is_multiple_of(2) {
        word
    } else {
        word >> 32
    }) as u32
}

/// A float that uniform and normal numbers are made in.
pub(crate) trait Draw: crate::numeric::ComputeFloat {
    /// Words that one number takes: one for `f32`, two for `f64`.
    const WORDS: usize;
    /// Numbers that [`GROUP`] counters give.
    const PER_GROUP: usize = 4 * GROUP / Self::WORDS;
    /// Evenly spread over `[0, 1)`, from the words of a counter; `slot` counts numbers per counter.
    fn unit<A: Arch>(words: [u64; 2], slot: usize) -> Self;
    /// Two independent standard normal numbers from the slots `2 * pair` and `2 * pair + 1`.
    fn normal<A: Arch>(words: [u64; 2], pair: usize) -> (Self, Self);
}

impl Draw for f32 {
    const WORDS: usize = 1;

    #[inline(always)]
    fn unit<A: Arch>(words: [u64; 2], slot: usize) -> f32 {
        // 24 bits, the most for which every multiple is a float below one; as i32, which converts in one instruction.
        (half(words, slot) >> 8) as i32 as f32 * (1.0 / 16_777_216.0)
    }

    #[inline(always)]
    fn normal<A: Arch>(words: [u64; 2], pair: usize) -> (f32, f32) {
        let (radius, angle) = (half(words, 2 * pair), half(words, 2 * pair + 1));
        // All 32 bits, moved off zero: the tail reaches 6.7 standard deviations.
        let uniform = (radius as f32 + 0.5) * (1.0 / 4_294_967_296.0);
        let quarter = angle.wrapping_add(1 << 29) >> 30;
        let rest = angle.wrapping_sub(quarter << 30) as i32;
        let x = rest as f32 * (std::f32::consts::TAU / 4_294_967_296.0);
        let (sin, cos) = sin_cos_f32(x);
        let radius = (-2.0 * ln_f32(uniform)).sqrt();
        let (sin, cos) = if quarter & 1 == 1 {
            (cos, -sin)
        } else {
            (sin, cos)
        };
        let sign = if quarter & 2 == 2 { -radius } else { radius };
        (sign * cos, sign * sin)
    }
}

impl Draw for f64 {
    const WORDS: usize = 2;

    #[inline(always)]
    fn unit<A: Arch>(words: [u64; 2], slot: usize) -> f64 {
        to_float::<A>((words[slot] >> 11) as i64) * (1.0 / 9_007_199_254_740_992.0)
    }

    #[inline(always)]
    fn normal<A: Arch>([radius, angle]: [u64; 2], _pair: usize) -> (f64, f64) {
        let uniform =
            (to_float::<A>((radius >> 11) as i64) + 0.5) * (1.0 / 9_007_199_254_740_992.0);
        let quarter = angle.wrapping_add(1 << 61) >> 62;
        let rest = angle.wrapping_sub(quarter << 62) as i64;
        let x = to_float::<A>(rest) * (std::f64::consts::TAU / 18_446_744_073_709_551_616.0);
        let (sin, cos) = sin_cos_f64(x);
        let radius = (-2.0 * ln_f64(uniform)).sqrt();
        let (sin, cos) = if quarter & 1 == 1 {
            (cos, -sin)
        } else {
            (sin, cos)
        };
        let sign = if quarter & 2 == 2 { -radius } else { radius };
        (sign * cos, sign * sin)
    }
}

/// A whole number as a float, rounded once: its halves beside 2^52 and 2^84 where vectors of it have no instruction, without which the
/// compiler would convert one after the other.
#[inline(always)]
fn to_float<A: Arch>(whole: i64) -> f64 {
    const LOW_ONE: f64 = 4_503_599_627_370_496.0;
    const HIGH_ONE: f64 = LOW_ONE * 4_294_967_296.0;
    const SIGN: u64 = 1 << 63;
    if const { cfg!(not(target_arch = "x86_64")) || size_of::<A::F64>() == LINE } {
        return whole as f64;
    }
    let moved = whole as u64 ^ SIGN;
    let low = f64::from_bits(LOW_ONE.to_bits() | moved & LOW);
    let high = f64::from_bits(HIGH_ONE.to_bits() | moved >> 32);
    // Exact but for the last step.
    (high - (HIGH_ONE + SIGN as f64 + LOW_ONE)) + low
}

/// Natural logarithm of a positive normal number, by `ln m = 2 atanh((m - 1) / (m + 1))` around one.
#[inline(always)]
fn ln_f32(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits.wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits()) as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((exponent << 23) as u32));
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let series = 1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * (1.0 / 9.0))));
    exponent as f32 * std::f32::consts::LN_2 + 2.0 * s * series
}

/// As [`ln_f32`]; the series goes on until its terms vanish.
#[inline(always)]
pub(crate) fn ln_f64(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits.wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits()) as i64) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((exponent << 52) as u64));
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let mut series = 0.0;
    let mut odd = 21.0;
    while odd > 0.0 {
        series = series * q + 1.0 / odd;
        odd -= 2.0;
    }
    exponent as i32 as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

/// Sine and cosine on an eighth of a turn either side of zero, by their Taylor series.
#[inline(always)]
fn sin_cos_f32(x: f32) -> (f32, f32) {
    let q = x * x;
    let sin = 1.0 - q * (1.0 / 6.0 - q * (1.0 / 120.0 - q * (1.0 / 5040.0 - q / 362_880.0)));
    let cos = 1.0 / 24.0 - q * (1.0 / 720.0 - q * (1.0 / 40_320.0 - q / 3_628_800.0));
    (x * sin, 1.0 - q * (0.5 - q * cos))
}

/// As [`sin_cos_f32`], to the last bits of f64.
#[inline(always)]
fn sin_cos_f64(x: f64) -> (f64, f64) {
    const SIN: [f64; 9] = reciprocal_factorials(1);
    const COS: [f64; 9] = reciprocal_factorials(2);
    let q = x * x;
    let (mut sin, mut cos) = (0.0, 0.0);
    for term in (0..9).rev() {
        sin = sin * q + SIN[term];
        cos = cos * q + COS[term];
    }
    (x * sin, 1.0 - q * -cos)
}

/// `1/first!, -1/(first + 2)!, 1/(first + 4)!, ..`, negated for the cosine, whose leading one is apart.
const fn reciprocal_factorials(first: usize) -> [f64; 9] {
    let mut terms = [0.0; 9];
    let mut factorial = 1.0;
    let mut sign = if first == 2 { -1.0 } else { 1.0 };
    let (mut n, mut term) = (1, 0);
    while term < 9 {
        while n < first + 2 * term {
            n += 1;
            factorial *= n as f64;
        }
        terms[term] = sign / factorial;
        sign = -sign;
        term += 1;
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Level, Task};

    #[test]
    fn whole_numbers_become_floats_as_the_language_converts_them() {
        struct Check;
        impl Task for Check {
            type Output = ();
            fn run<A: Arch>(self) {
                for shift in 0..64 {
                    for near in -3i64..=3 {
                        for number in [
                            1 << shift,
                            i64::MAX >> shift,
                            0x0123_4567_89AB_CDEF >> shift,
                        ] {
                            for number in [number, number.wrapping_neg(), !number] {
                                let number = number.wrapping_add(near);
                                assert_eq!(to_float::<A>(number), number as f64, "{number}");
                            }
                        }
                    }
                }
            }
        }
        Level::current().run(Check);
    }

    #[test]
    fn philox_matches_the_published_answers() {
        // Known-answer vectors of the Random123 distribution: counter, key, result.
        let cases: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
            (
                [0; 4],
                [0; 2],
                [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
            ),
            (
                [u32::MAX; 4],
                [u32::MAX; 2],
                [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
            ),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            let whole = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
            let [a, b, c, d] = counter;
            let words = pair(whole(key[0], key[1]), whole(c, d), whole(a, b));
            let [a, b, c, d] = expected;
            assert_eq!(words, [whole(a, b), whole(c, d)], "{counter:x?}");
        }
    }

    #[test]
    fn consecutive_counters_are_encrypted_separately() {
        let together = words(7, 9, 100);
        for lane in 0..GROUP {
            let alone = words(7, 9, 100 + lane as u64);
            assert_eq!(
                together.0.map(|word| word[lane]),
                alone.0.map(|word| word[0])
            );
        }
    }

    #[test]
    fn the_functions_are_accurate() {
        // A few ulp: far below what any test of a million normal numbers could see.
        for i in 0..2000 {
            let x = (i as f64 + 0.5) / 2000.0;
            let error = (ln_f64(x) - x.ln()).abs() / x.ln().abs();
            assert!(error < 1e-15, "ln({x}): {error:e}");
            let error = (f64::from(ln_f32(x as f32)) - f64::from(x as f32).ln()).abs();
            assert!(
                error < 3e-7 * x.ln().abs().max(0.01),
                "ln({x}) in f32: {error:e}"
            );
            let angle = (x - 0.5) * std::f64::consts::FRAC_PI_2;
            let (sin, cos) = sin_cos_f64(angle);
            assert!((sin - angle.sin()).abs() < 3e-16, "sin({angle})");
            assert!((cos - angle.cos()).abs() < 3e-16, "cos({angle})");
            let (sin, cos) = sin_cos_f32(angle as f32);
            assert!((f64::from(sin) - f64::from(angle as f32).sin()).abs() < 1e-7);
            assert!((f64::from(cos) - f64::from(angle as f32).cos()).abs() < 1e-7);
        }
    }
}
