//! The number that a text begins with, read while its end is looked for.
//!
//! Only what is plain is read here: digits, a point, an exponent. Words, and whatever needs care, are left to `Decimal::parse`.

/// Whole numbers of so many digits fit 64 bits with a sign.
const WHOLE_DIGITS: usize = 18;

/// Numbers of so many digits fit 64 bits without a sign.
const DIGITS: usize = 19;

/// Powers of ten that an `f64` holds exactly.
pub(super) const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The whole number a text begins with, and its length.
pub(super) fn whole(text: &str) -> Option<(i64, usize)> {
    let bytes = text.as_bytes();
    let (negative, start) = sign(bytes);
    let (value, end) = digits(bytes, start, 0);
    if !(1..=WHOLE_DIGITS).contains(&(end - start)) {
        return None;
    }
    let value = value.cast_signed();
    Some((if negative { -value } else { value }, end))
}

/// The `f64` a text begins with, and its length.
pub(super) fn double(text: &str) -> Option<(f64, usize)> {
    let number = Number::scan(text.as_bytes())?;
    let value = match number.rounded_once() {
        Some(value) => value,
        None => text[..number.length].parse().ok()?,
    };
    Some((value, number.length))
}

/// The `f32` a text begins with, and its length.
pub(super) fn single(text: &str) -> Option<(f32, usize)> {
    /// The bits of an `f64` that an `f32` has no room for, and what they are halfway between two of them.
    const REST: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    let number = Number::scan(text.as_bytes())?;
    // A value that became halfway by rounding would be rounded again to the wrong side. None is too small for a normal `f32`.
    let value = match number.rounded_once() {
        Some(value) if value.to_bits() & REST != HALF => value as f32,
        _ => text[..number.length].parse().ok()?,
    };
    Some((value, number.length))
}

/// A number in digits: `mantissa` times ten to the `exponent`.
struct Number {
    negative: bool,
    /// Has lost its upper digits when there are more than [`DIGITS`].
    mantissa: u64,
    digits: usize,
    exponent: i32,
    length: usize,
}

impl Number {
    #[inline]
    fn scan(text: &[u8]) -> Option<Self> {
        let (negative, start) = sign(text);
        let (mut mantissa, mut end) = digits(text, start, 0);
        let (mut count, mut after) = (end - start, 0);
        if text.get(end) == Some(&b'.') {
            let start = end + 1;
            (mantissa, end) = eights(text, start, mantissa);
            (mantissa, end) = digits(text, end, mantissa);
            after = end - start;
            count += after;
        }
        if count == 0 {
            return None;
        }
        let mut exponent = 0;
        if let Some(b'e' | b'E') = text.get(end) {
            let (down, start) = sign(&text[end + 1..]);
            let start = end + 1 + start;
            let (value, stop) = digits(text, start, 0);
            if !(1..=4).contains(&(stop - start)) {
                return None;
            }
            exponent = if down { -(value as i32) } else { value as i32 };
            end = stop;
        }
        Some(Self {
            negative,
            mantissa,
            digits: count,
            exponent: exponent.saturating_sub_unsigned(after.try_into().ok()?),
            length: end,
        })
    }

    /// The nearest `f64`, when mantissa and power of ten are exact in one, so that only their product or quotient is rounded.
    #[inline]
    fn rounded_once(&self) -> Option<f64> {
        if self.digits > DIGITS || self.mantissa > 1 << 53 {
            return None;
        }
        let power = POWERS.get(self.exponent.unsigned_abs() as usize)?;
        let mantissa = self.mantissa as f64;
        let value = if self.exponent < 0 {
            mantissa / power
        } else {
            mantissa * power
        };
        Some(if self.negative { -value } else { value })
    }
}

/// Whether a text begins with a minus, and where its digits begin.
#[inline]
fn sign(text: &[u8]) -> (bool, usize) {
    match text.first() {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    }
}

/// Appends the digits from `at` on to a number; and where they end.
#[inline]
fn digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(digit) = text
        .get(at)
        .map(|byte| byte.wrapping_sub(b'0'))
        .filter(|&digit| digit < 10)
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// As [`digits`], eight at a time: after a point there often are many. Fewer than eight are left.
#[inline]
fn eights(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(eight) = text
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .and_then(|&chunk| eight_digits(chunk))
    {
        number = number.wrapping_mul(100_000_000).wrapping_add(eight);
        at += 8;
    }
    (number, at)
}

/// The number of eight digits: neighbours are joined to pairs, those to fours, those to eight, all of them at once.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    /// Makes everything above `9` overflow into the upper bit of its byte.
    const ABOVE: u64 = 0x4646_4646_4646_4646;
    const UPPER: u64 = 0x8080_8080_8080_8080;
    let bytes = u64::from_le_bytes(text);
    let digits = bytes.wrapping_sub(ZEROS);
    if (digits | bytes.wrapping_add(ABOVE)) & UPPER != 0 {
        return None;
    }
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use crate::text::Decimal;
    use lodestride_array::{Bool, bf16, f16};

    /// What is read of a text must be what `parse` reads of that part; text with all digits shown tells values apart.
    fn wrong<T: Decimal>(text: &str) -> Option<String> {
        let (value, length) = T::scan(text)?;
        let expected = T::parse(&text[..length]);
        let found = format!("{:?}", Some(value));
        (found != format!("{expected:?}")).then(|| format!("{text}: {found}, not {expected:?}"))
    }

    fn assert_all(texts: impl IntoIterator<Item = String>) {
        let checks = [
            wrong::<f64>,
            wrong::<f32>,
            wrong::<f16>,
            wrong::<bf16>,
            wrong::<i64>,
            wrong::<u64>,
            wrong::<i32>,
            wrong::<u32>,
            wrong::<i16>,
            wrong::<u16>,
            wrong::<i8>,
            wrong::<u8>,
            wrong::<Bool>,
        ];
        let texts = texts.into_iter();
        let wrong: Vec<String> = texts
            .flat_map(|text| checks.map(|check| check(&text)))
            .flatten()
            .take(10)
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn what_is_no_plain_number_is_left_alone() {
        for text in [
            "", "-", "+", ".", "-.", "e5", ".e5", "inf", "-inf", "NaN", "\u{221e}", "x", " 1",
            "--1", "1e", "1e+", "1e12345",
        ] {
            assert!(
                f64::scan(text).is_none() && f32::scan(text).is_none(),
                "{text:?}"
            );
        }
        for text in ["", "-", "+", ".5", "true", "1234567890123456789", "x"] {
            assert!(i64::scan(text).is_none(), "{text:?}");
        }
        assert!(
            u8::scan("256").is_none() && u8::scan("-1").is_none() && i8::scan("-129").is_none()
        );
        assert!(Bool::scan("2").is_none());
        assert_eq!(i32::scan("-12.5"), Some((-12, 3)));
        assert_eq!(f64::scan("+1.5,2"), Some((1.5, 4)));
        assert_eq!(
            f64::scan("12345678.12345678x"),
            Some((12345678.12345678, 17))
        );
    }

    #[test]
    fn forms_and_extremes_are_read_as_the_standard_library_reads_them() {
        let mantissas = [
            "0",
            "00",
            "1",
            "007",
            "1.",
            ".5",
            "0.5",
            "9",
            "9007199254740992",
            "9007199254740993",
            "9007199254740993.0",
            "9007199254740992.99999999999999999999999999",
            "18446744073709551615",
            "18446744073709551616",
            "9999999999999999999",
            "10000000000000000000",
            "123456789012345678901234567890",
            "1.7976931348623157",
            "2.2250738585072011",
            "2.2250738585072014",
            "4.9406564584124654",
            "0.00000000000000000000000000001",
            "1.000123400000000000",
            "100000000000000000000000000000.00000001",
            "00000000000000000000000000012",
            "3.4028235",
            "3.4028235677973366163753939545814251",
            "1.17549435",
            "5.0000000000000000000000000001",
            "999999999999999999",
            "12345678.87654321",
            "0.1234567/8",
            "0.1234567:8",
            "0.12345678\u{e9}",
        ];
        let exponents = [
            "", "e0", "E0", "e5", "E+5", "e-5", "e22", "e23", "e-22", "e-23", "e37", "e38", "e39",
            "e-37", "e-38", "e-44", "e-45", "e-46", "e308", "e309", "e-307", "e-308", "e-323",
            "e-324", "e-325", "e9999", "e-9999", "e0005",
        ];
        assert_all(["", "-", "+"].iter().flat_map(|sign| {
            mantissas.iter().flat_map(move |mantissa| {
                exponents.map(|exponent| format!("{sign}{mantissa}{exponent}"))
            })
        }));
    }

    #[test]
    fn numbers_of_any_bits_are_read_as_the_standard_library_reads_them() {
        assert_all((1..=20_000u64).flat_map(|i| {
            let bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let bits = (bits ^ bits >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let (wide, narrow) = (f64::from_bits(bits), f32::from_bits(bits as u32));
            let near = (bits >> 11) as f64 / 1e13;
            [
                format!("{wide:?}"),
                format!("{wide:.18e}"),
                format!("{narrow:?}"),
                format!("{narrow:e}"),
                format!("{near:?}"),
                format!("{near:.9}"),
                format!("{near:.25}"),
                bits.to_string(),
                bits.cast_signed().to_string(),
                (bits as i16).to_string(),
                (bits as u8 as i8).to_string(),
            ]
        }));
    }

    /// Between two neighbours among the `f32`, and so near to it that an `f64` cannot tell.
    #[test]
    fn halfway_cases_are_rounded_once() {
        assert_all((1..=20_000u32).flat_map(|i| {
            let low = f32::from_bits(0x3000_0000 + i.wrapping_mul(0x9e37_79b9) % 0x2000_0000);
            let high = f32::from_bits(low.to_bits() + 1);
            let half = (f64::from(low) + f64::from(high)) / 2.0;
            let exact = format!("{half:.60}");
            let exact = exact.trim_end_matches('0');
            [
                exact.to_owned(),
                format!("{exact}1"),
                format!("{half:.15}"),
                format!("{half:.12}"),
                format!("{half:.8}"),
            ]
        }));
        // Decimals of 15 digits beside a half: the nearest f64 is the half itself.
        assert_all((0..20_000u64).map(|i| format!("{}.{:06}", 16_777_217 + 2 * (i % 64), i)));
        assert_all((0..2000u64).map(|i| format!("1.00000005960464{:02}{}", i % 100, i / 100)));
    }
}
