//! Floats to a number of digits after the point, and how many of them it takes to tell them apart.
//!
//! In fixed notation the digits are those of a whole number: the value times a power of ten, rounded. Where that product, which is
//! rounded itself, is too near to the middle of two whole numbers, and in scientific notation, the formatter of the standard library
//! decides, at ten times the cost.

use lodestride_buffer::{DType, Scalar, with_dtype};

/// Digits after the point at most, unless the format says otherwise.
const MAX_DIGITS: usize = 8;

/// Powers of ten by which values are multiplied.
const POWERS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// How many digits it takes to tell the numbers apart from all others of their dtype: from 1 to [`MAX_DIGITS`].
pub(super) fn needed(values: &[f64], dtype: DType, scientific: bool) -> usize {
    let mut most = 1;
    for &value in values.iter().filter(|value| value.is_finite()) {
        let longest = read(value, MAX_DIGITS, scientific);
        let digits = (1..MAX_DIGITS).find(|&digits| {
            // They identify the value, or more would be zeros.
            let short = read(value, digits, scientific);
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

/// The value that is read from the text of a number.
fn read(value: f64, digits: usize, scientific: bool) -> f64 {
    let whole = if scientific {
        None
    } else {
        scaled(value, digits)
    };
    match whole {
        // Both are exact, and so the quotient is what is nearest to the text.
        Some(whole) => (whole as f64 / POWERS[digits]).copysign(value),
        None => number(value, digits, scientific)
            .parse()
            .unwrap_or(f64::NAN),
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
                .map_or(('+', exponent), |rest| ('-', rest));
            format!("{mantissa}e{sign}{exponent:0>2}")
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
    fn needed_by_text(value: f64, dtype: DType) -> usize {
        let read = |digits: usize| {
            format!("{value:.digits$}")
                .parse::<f64>()
                .unwrap_or(f64::NAN)
        };
        let is_exact = |digits: &usize| {
            read(*digits) == read(MAX_DIGITS) || are_one(read(*digits), value, dtype)
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
        for value in values().filter(|value| value.abs() < 1e20) {
            for (value, dtype) in [
                (value, DType::F64),
                (f64::from(value as f32), DType::F32),
                (half::f16::from_f64(value).to_f64(), DType::F16),
                (half::bf16::from_f64(value).to_f64(), DType::BF16),
            ] {
                if value.is_finite() {
                    assert_eq!(
                        needed(&[value], dtype, false),
                        needed_by_text(value, dtype),
                        "{value:?} {dtype}"
                    );
                }
            }
        }
    }
}
