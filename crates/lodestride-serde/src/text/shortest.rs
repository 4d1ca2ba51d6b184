//! Floats in the fewest digits that tell them from their neighbours, byte for byte as the standard library writes them.
//!
//! `zmij` finds the digits in a tenth of the time. It sets them otherwise in parts of the range, and where two texts are as short
//! and as near it takes the even one, the standard library the larger one.

use std::fmt::{Debug, UpperExp};
use std::io::Write as _;

use super::Style;
use super::scan::POWERS;

/// A float whose digits `zmij` finds.
pub(super) trait Shortest: zmij::Float + Debug + UpperExp + Into<f64> + Copy {
    /// Whether [`Style::Plain`] writes it without an exponent.
    fn is_plain(self) -> bool;

    /// Whether `zmij` writes an exponent where [`Style::Plain`] writes none.
    fn is_apart(self) -> bool;
}

macro_rules! shortest {
    ($($type:ty, $end:literal);+) => {$(
        impl Shortest for $type {
            fn is_plain(self) -> bool {
                self == 0.0 || (1e-4..1e16).contains(&self.abs())
            }

            fn is_apart(self) -> bool {
                ($end..1e16).contains(&self.abs())
            }
        }
    )+};
}

shortest!(f32, 1e13; f64, 1e16);

/// Writes a float in the digits it needs.
pub(super) fn write<T: Shortest>(number: T, style: Style, into: &mut Vec<u8>) {
    let value: f64 = number.into();
    if !value.is_finite() {
        into.extend_from_slice(word(value, style).as_bytes());
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(number);
    if number.is_apart() || may_be_halfway(value, text) {
        let written = match style {
            Style::Exponent => write!(into, "{number:E}"),
            Style::Plain => write!(into, "{number:?}"),
        };
        debug_assert!(written.is_ok(), "a vector takes every text");
        return;
    }
    match style {
        Style::Exponent => with_exponent(text, b'E', into),
        Style::Plain if number.is_plain() => into.extend_from_slice(text.as_bytes()),
        Style::Plain => with_exponent(text, b'e', into),
    }
}

/// The number of the fewest digits that a short float is read from, where arithmetic finds it: `is_read` tells whether one is, and
/// `digits` after the first are enough.
///
/// The mantissa of `value` has 11 bits at most, so that its product with a power of ten is exact here and its quotient is never halfway
/// by rounding.
pub(super) fn of_short(value: f64, digits: i32, is_read: impl Fn(f64) -> bool) -> Option<f64> {
    /// Ten to this and its inverse hold the values between which that is so.
    const LIMIT: i32 = 9;
    let magnitude = value.abs();
    if value == 0.0 || !value.is_finite() {
        return Some(value);
    }
    let times = |number: f64, power: i32| {
        let scale = POWERS[power.unsigned_abs() as usize];
        if power < 0 {
            number / scale
        } else {
            number * scale
        }
    };
    let first = (-LIMIT..LIMIT).find(|&place| times(magnitude, -place) < 10.0)?;
    if times(magnitude, -first) < 1.0 {
        return None;
    }
    (0..digits)
        .map(|digits| {
            times(
                times(magnitude, digits - first).round_ties_even(),
                first - digits,
            )
            .copysign(value)
        })
        .find(|&number| is_read(number))
}

/// What stands for a value that has no digits.
fn word(value: f64, style: Style) -> &'static str {
    match style {
        _ if value.is_nan() => "NaN",
        Style::Exponent if value > 0.0 => "Infinity",
        Style::Exponent => "-Infinity",
        Style::Plain if value > 0.0 => "inf",
        Style::Plain => "-inf",
    }
}

/// Whether a value may lie halfway between two texts of so many digits.
fn may_be_halfway(value: f64, text: &str) -> bool {
    /// From this magnitude on, and as long as there are digits after the point, texts have no exponent.
    const SMALL: f64 = 1e-5;
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    // The place of its last binary digit. Halves of 10^-n have theirs at -(n + 1), and beyond n = 25 more digits than any text.
    let last = exponent - 1075 + (fraction | 1 << 52).trailing_zeros() as i32;
    if !(-26..-1).contains(&last) {
        return false;
    }
    let point = text.len().checked_add_signed(last as isize);
    value.abs() < SMALL || point.is_some_and(|point| text.as_bytes()[point] == b'.')
}

/// Writes the digits of a text with one of them before the point and an exponent.
fn with_exponent(text: &str, mark: u8, into: &mut Vec<u8>) {
    let text = text.as_bytes();
    // `e-324` at most.
    let tail = text.len().saturating_sub(5);
    if let Some(at) = text[tail..].iter().position(|&byte| byte == b'e') {
        let (mantissa, exponent) = text.split_at(tail + at);
        let exponent = &exponent[1..];
        into.extend_from_slice(mantissa);
        into.push(mark);
        into.extend_from_slice(exponent.strip_prefix(b"+").unwrap_or(exponent));
        return;
    }
    let (sign, text) = text.split_at(usize::from(text.starts_with(b"-")));
    into.extend_from_slice(sign);
    let exponent = match text.strip_prefix(b"0.") {
        Some(after) => fraction(after, into),
        None => whole(text, into),
    };
    into.push(mark);
    if exponent < 0 {
        into.push(b'-');
    }
    // `zmij` writes no more than 16 digits before the point.
    let exponent = exponent.unsigned_abs() as u8;
    if exponent >= 10 {
        into.push(b'1');
    }
    into.push(b'0' + exponent % 10);
}

/// Writes digits that stand after `0.`, and tells their exponent.
fn fraction(digits: &[u8], into: &mut Vec<u8>) -> i32 {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let Some((&first, rest)) = digits[zeros..].split_first() else {
        into.push(b'0');
        return 0;
    };
    into.push(first);
    if !rest.is_empty() {
        into.push(b'.');
        into.extend_from_slice(rest);
    }
    -(zeros as i32 + 1)
}

/// Writes a text of 1 or more with its point after the first digit, and tells its exponent.
fn whole(text: &[u8], into: &mut Vec<u8>) -> i32 {
    let point = text
        .iter()
        .position(|&byte| byte == b'.')
        .unwrap_or(text.len());
    let start = into.len();
    into.extend_from_slice(text);
    into.copy_within(start + 1..start + point, start + 2);
    into[start + 1] = b'.';
    // Zeros at the end of a whole number are in its exponent, and there is nothing after its point.
    if text.ends_with(b".0") {
        while into.last() == Some(&b'0') {
            into.pop();
        }
        if into.last() == Some(&b'.') {
            into.pop();
        }
    }
    point as i32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs<T: Shortest>(number: T) -> Option<String> {
        let infinite = |text: String| text.replace("inf", "Infinity");
        let expected = [
            (Style::Plain, format!("{number:?}")),
            (Style::Exponent, infinite(format!("{number:E}"))),
        ];
        expected.into_iter().find_map(|(style, expected)| {
            let mut found = Vec::new();
            write(number, style, &mut found);
            let found = String::from_utf8_lossy(&found);
            (found != expected).then(|| format!("{found}, not {expected}"))
        })
    }

    fn assert_all<T: Shortest>(numbers: impl Iterator<Item = T>) {
        let wrong: Vec<String> = numbers.filter_map(differs).take(10).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Bits that look random.
    fn mixed(count: u64) -> impl Iterator<Item = u64> {
        (1..=count).map(|i| {
            let bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        })
    }

    #[test]
    fn any_bits_look_as_the_standard_library_writes_them() {
        assert_all(mixed(200_000).map(f64::from_bits));
        assert_all(mixed(200_000).map(|bits| f32::from_bits(bits as u32)));
    }

    #[test]
    fn every_exponent_looks_as_the_standard_library_writes_it() {
        let fractions = [0, 1, 2, 1 << 51, (1 << 52) - 1, 0x5_5555_5555_5555];
        let bits = (0..=0xfffu64).flat_map(|top| fractions.map(|bits| top << 52 | bits));
        assert_all(bits.map(f64::from_bits));
        let fractions = [0u32, 1, 2, 1 << 22, (1 << 23) - 1, 0x15_5555];
        let bits = (0..=0x1ffu32).flat_map(|top| fractions.map(|bits| top << 23 | bits));
        assert_all(bits.map(f32::from_bits));
    }

    #[test]
    fn powers_of_ten_and_their_neighbours_look_as_the_standard_library_writes_them() {
        let powers = (-323..309).flat_map(|power| {
            let bits = format!("1e{power}").parse().map_or(0, f64::to_bits);
            (bits.saturating_sub(3)..bits + 4).map(f64::from_bits)
        });
        assert_all(powers.clone());
        assert_all(powers.map(|value| value as f32));
        let tenths = (-20_000..20_000).map(|i| f64::from(i) / 1000.0);
        assert_all(tenths.clone());
        assert_all(tenths.map(|value| value as f32));
    }

    /// Values halfway between two texts that are as short: every place of the last digit, odd and even ones.
    #[test]
    fn halves_look_as_the_standard_library_writes_them() {
        let halves = (1..40).flat_map(|n| {
            let unit = 0.5f64.powi(n);
            let large = (0..64)
                .map(|k| 1u64 << k)
                .chain((0..20).map(|k| 10u64.pow(k)));
            large.flat_map(move |large| {
                (1..20).map(move |k| large as f64 * unit * 8.0 + f64::from(k) * unit)
            })
        });
        assert_all(halves.clone());
        assert_all(halves.map(|value| value as f32));
        assert_all((0..200_000).map(|k| (8_388_609 + k) as f32 / 4.0));
        assert_all((0..200_000).map(|k| (4_503_599_627_370_497u64 + k) as f64 / 4.0));
    }
}
