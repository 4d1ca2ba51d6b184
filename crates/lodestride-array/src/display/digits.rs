//! Floats to a number of digits after the point, and how many of them it takes to tell them apart.
//!
//! In fixed notation the digits are those of a whole number: the value times a power of ten, rounded. Where that product, which is
//! rounded itself, is too near to the middle of two whole numbers, the formatter of the standard library decides, at ten times the cost.
//! In scientific notation it writes all the digits, and what fewer would be is seen in them.

use lodestride_buffer::{DType, Scalar, with_dtype};

/// Digits after the point at most, unless the format says otherwise.
const MAX_DIGITS: usize = 8;

/// Powers of ten that an `f64` holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// How many digits it takes to tell the numbers apart from all others of their dtype: from 1 to [`MAX_DIGITS`].
pub(super) fn needed(values: &[f64], dtype: DType, scientific: bool) -> usize {
    let mut most = 1;
    for &value in values.iter().filter(|value| value.is_finite()) {
        let long = scientific.then(|| Long::of(value)).flatten();
        let read = |digits| {
            let read = match &long {
                Some(long) => long.read(digits),
                None if scientific => None,
                None => read_fixed(value, digits),
            };
            // What the text says.
            read.unwrap_or_else(|| {
                number(value, digits, scientific)
                    .parse()
                    .unwrap_or(f64::NAN)
            })
        };
        let longest = read(MAX_DIGITS);
        let digits = (1..MAX_DIGITS).find(|&digits| {
            // They identify the value, or more would be zeros.
            let short = read(digits);
            short == longest || are_one(short, value, dtype)
        });
        most = most.max(digits.unwrap_or(MAX_DIGITS));
        if most == MAX_DIGITS {
            break;
        }
    }
    most
}

/// Whether two values are the same when rounded to a dtype.
fn are_one(a: f64, b: f64, dtype: DType) -> bool {
    with_dtype!(dtype, T => Scalar::Float(a).cast::<T>() == Scalar::Float(b).cast::<T>())
}

/// The value that is read from a number in fixed notation, where that is certain.
fn read_fixed(value: f64, digits: usize) -> Option<f64> {
    // Both are exact, and so the quotient is what is nearest to the text.
    scaled(value, digits).map(|whole| (whole as f64 / POWERS[digits]).copysign(value))
}

/// A value in scientific notation with [`MAX_DIGITS`]: its digits as a whole number, and its exponent.
struct Long {
    whole: u64,
    exponent: i32,
    negative: bool,
}

impl Long {
    fn of(value: f64) -> Option<Self> {
        let text = format!("{:.MAX_DIGITS$e}", value.abs());
        let (mantissa, exponent) = text.split_once('e')?;
        let (first, rest) = mantissa.split_once('.')?;
        let digits = first.bytes().chain(rest.bytes());
        Some(Self {
            whole: digits.fold(0, |whole, digit| whole * 10 + u64::from(digit - b'0')),
            exponent: exponent.parse().ok()?,
            negative: value.is_sign_negative(),
        })
    }

    /// The value that is read from fewer digits, where that is certain.
    fn read(&self, digits: usize) -> Option<f64> {
        let unit = 10u64.pow((MAX_DIGITS - digits) as u32);
        let (whole, rest) = (self.whole / unit, self.whole % unit);
        // These digits were rounded: the value itself may lie at either side of the middle.
        if unit > 1 && rest == unit / 2 {
            return None;
        }
        let whole = (whole + u64::from(rest > unit / 2)) as f64;
        let power = self.exponent - digits as i32;
        let scale = *POWERS.get(power.unsigned_abs() as usize)?;
        // Both are exact, and so product and quotient are what is nearest to the text.
        let value = if power < 0 {
            whole / scale
        } else {
            whole * scale
        };
        Some(if self.negative { -value } else { value })
    }
}

/// The magnitude of a value in units of its last digit, where that is certain.
fn scaled(value: f64, digits: usize) -> Option<u64> {
    /// Below this a product is off by less than an eighth.
    const LIMIT: f64 = (1u64 << 50) as f64;
    let product = value.abs() * POWERS.get(digits)?;
    if product.is_nan() || product >= LIMIT {
        return None;
    }
    let whole = (product + 0.5) as u64;
    let distance = (product - whole as f64).abs();
    (distance < 0.5 - product * f64::EPSILON).then_some(whole)
}

/// A number with so many digits after the point.
pub(super) fn number(value: f64, digits: usize, scientific: bool) -> String {
    match value {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        _ if scientific => {
            let text = format!("{value:.digits$e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, exponent) = exponent
                .strip_prefix('-')
                .map_or(("+", exponent), |rest| ("-", rest));
            let zero = if exponent.len() < 2 { "0" } else { "" };
            [mantissa, "e", sign, zero, exponent].concat()
        }
        _ => match scaled(value, digits) {
            Some(whole) => fixed(value.is_sign_negative(), whole, digits),
            None => format!("{value:.digits$}"),
        },
    }
}

/// A whole number with a point before its last digits.
fn fixed(negative: bool, whole: u64, digits: usize) -> String {
    // 20 digits, a point and a sign.
    let mut text = [b'0'; 22];
    let mut at = text.len();
    let mut rest = whole;
    let mut places = 0;
    while rest > 0 || places <= digits {
        if places == digits && digits > 0 {
            at -= 1;
            text[at] = b'.';
        }
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        places += 1;
    }
    if negative {
        at -= 1;
        text[at] = b'-';
    }
    String::from_utf8_lossy(&text[at..]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How it was done before there was arithmetic: by text alone.
    fn needed_by_text(value: f64, dtype: DType, scientific: bool) -> usize {
        let read = |digits: usize| {
            let text = match scientific {
                true => format!("{value:.digits$e}"),
                false => format!("{value:.digits$}"),
            };
            text.parse::<f64>().unwrap_or(f64::NAN)
        };
        let longest = read(MAX_DIGITS);
        let is_exact = |&digits: &usize| {
            let short = read(digits);
            short == longest || are_one(short, value, dtype)
        };
        (1..MAX_DIGITS).find(is_exact).unwrap_or(MAX_DIGITS)
    }

    fn values() -> impl Iterator<Item = f64> {
        let mixed = (1..=20_000u64).map(|i| {
            let bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        });
        let any = mixed.clone().map(f64::from_bits);
        // Of all magnitudes that are printed in fixed notation, and halves of every digit.
        let usual = mixed.map(|bits| (bits >> 11) as f64 / 2f64.powi(27 + (bits % 40) as i32));
        let halves = (-4000..4000).flat_map(|i| {
            [1e-1, 1e-4, 1e-8, 0.125, 0.5, 1.0 / 1024.0].map(|unit| f64::from(i) * unit / 2.0)
        });
        let edges = [
            0.0,
            -0.0,
            1e15,
            1e16,
            9_007_199_254_740_993.0,
            112_589_990.684_262_4,
            f64::MAX,
            5e-324,
            -1e-9,
            0.05,
            0.15,
            99_999_999.999_999_99,
        ];
        any.chain(usual)
            .chain(halves)
            .chain(edges)
            .filter(|value| value.is_finite())
    }

    #[test]
    fn numbers_look_as_the_standard_library_writes_them() {
        for value in values()
            .chain(values().map(|value| f64::from(value as f32)))
            .filter(|value| value.is_finite())
        {
            for digits in [0, 1, 2, 3, 7, 8, 9, 15, 16, 30] {
                assert_eq!(
                    number(value, digits, false),
                    format!("{value:.digits$}"),
                    "{value:?}"
                );
            }
        }
    }

    #[test]
    fn as_many_digits_are_needed_as_by_text() {
        let sevens = (1..2000).map(|i| f64::from(i) * 1.25e-7);
        for value in values().chain(sevens) {
            for (value, dtype) in [
                (value, DType::F64),
                (f64::from(value as f32), DType::F32),
                (half::f16::from_f64(value).to_f64(), DType::F16),
                (half::bf16::from_f64(value).to_f64(), DType::BF16),
            ] {
                for scientific in [false, true] {
                    // Fixed notation of large values is long.
                    if value.is_finite() && (scientific || value.abs() < 1e20) {
                        let found = needed(&[value], dtype, scientific);
                        let expected = needed_by_text(value, dtype, scientific);
                        assert_eq!(found, expected, "{value:?} {dtype} {scientific}");
                    }
                }
            }
        }
    }
}
