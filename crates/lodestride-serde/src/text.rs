//! Numbers as decimal text, both ways and exactly, and places in a text. The files made of them are in `txt` and `csv`.

mod scan;
mod shortest;

use std::io::Read;
use std::path::Path;

use lodestride_array::{Bool, Buffer, Element, Layout, NdArray, Order, bf16, f16};

use crate::error::{IoAction, Result, SerdeError, SerdeErrorKind, TextProblem};
use crate::npy::open;
use crate::source::Source;

/// Longest part of a text that an error quotes.
const QUOTED: usize = 24;

/// How a float is written; both forms come back as the same value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Style {
    /// `1.5E0`, as ND4J and JSON readers take it, with `Infinity` and `NaN`.
    Exponent,
    /// `1.5`, with an exponent only for very large and very small numbers, `inf` and `NaN`.
    Plain,
}

/// An element that can be written as decimal text from which the same element is read again. Only the payload of NaN is lost.
pub(crate) trait Decimal: Element {
    /// The number that a text stands for, `None` when it is none of this type.
    fn parse(text: &str) -> Option<Self>;

    /// The number that a text begins with, as [`parse`](Self::parse) reads it, and its length. `None` when it is no plain one: what
    /// is there then, `parse` must say. What follows it is for the caller to look at.
    fn scan(text: &str) -> Option<(Self, usize)>;

    /// Writes the shortest text that stands for this number.
    fn write(self, style: Style, into: &mut Vec<u8>);
}

/// A float from its text; Java writes infinity and NaN as signs.
fn parse_float<T: std::str::FromStr>(text: &str) -> Option<T> {
    let text = match text {
        "\u{221e}" => "inf",
        "-\u{221e}" => "-inf",
        "\u{fffd}" => "NaN",
        text => text,
    };
    text.parse().ok()
}

macro_rules! decimal_floats {
    ($($type:ty, $scan:path);+) => {$(
        impl Decimal for $type {
            fn parse(text: &str) -> Option<Self> {
                parse_float(text)
            }

            fn scan(text: &str) -> Option<(Self, usize)> {
                $scan(text)
            }

            fn write(self, style: Style, into: &mut Vec<u8>) {
                shortest::write(self, style, into);
            }
        }
    )+};
}

// Half floats are read by way of f64: their neighbours are too far apart for the second rounding to matter.
macro_rules! decimal_halves {
    ($($type:ty, $digits:literal);+) => {$(
        impl Decimal for $type {
            fn parse(text: &str) -> Option<Self> {
                parse_float(text).map(<$type>::from_f64)
            }

            fn scan(text: &str) -> Option<(Self, usize)> {
                scan::double(text).map(|(value, length)| (Self::from_f64(value), length))
            }

            fn write(self, style: Style, into: &mut Vec<u8>) {
                let value = self.to_f64();
                let is_read = |number| Self::from_f64(number) == self;
                let number = shortest::of_short(value, $digits, is_read).unwrap_or_else(|| {
                    (0..$digits)
                        .filter_map(|digits: usize| format!("{value:.digits$E}").parse().ok())
                        .find(|&number| is_read(number))
                        .unwrap_or(value)
                });
                shortest::write(number, style, into);
            }
        }
    )+};
}

/// Writes a whole number; the formatter of the standard library takes longer to begin than this to end.
fn write_whole(negative: bool, magnitude: u64, into: &mut Vec<u8>) {
    // As many digits as the largest number has, and a sign.
    let mut text = [b'-'; 21];
    let (mut at, mut rest) = (text.len(), magnitude);
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    into.extend_from_slice(&text[at - usize::from(negative)..]);
}

macro_rules! decimal_integers {
    ($($type:ty),+) => {$(
        impl Decimal for $type {
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok().or_else(|| {
                    // `2.0E0`, as ND4J writes whole numbers.
                    let number: f64 = text.parse().ok()?;
                    let whole = number as i128;
                    (whole as f64 == number).then(|| Self::try_from(whole).ok())?
                })
            }

            fn scan(text: &str) -> Option<(Self, usize)> {
                let (value, length) = scan::whole(text)?;
                Some((Self::try_from(value).ok()?, length))
            }

            fn write(self, _: Style, into: &mut Vec<u8>) {
                let value = i128::from(self);
                write_whole(value < 0, value.unsigned_abs() as u64, into);
            }
        }
    )+};
}

decimal_floats!(f32, scan::single; f64, scan::double);
decimal_halves!(f16, 5; bf16, 4);
decimal_integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl Decimal for Bool {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "true" | "True" | "TRUE" => Some(true.into()),
            "false" | "False" | "FALSE" => Some(false.into()),
            text => u8::parse(text)
                .filter(|&number| number < 2)
                .map(|number| (number == 1).into()),
        }
    }

    fn scan(text: &str) -> Option<(Self, usize)> {
        let (value, length) = scan::whole(text)?;
        matches!(value, 0 | 1).then(|| ((value == 1).into(), length))
    }

    fn write(self, _: Style, into: &mut Vec<u8>) {
        into.push(if bool::from(self) { b'1' } else { b'0' });
    }
}

/// A new array of numbers that were read in C order.
pub(crate) fn array_of<T: Element>(values: Vec<T>, layout: Layout) -> Result<NdArray> {
    let bytes = size_of_val(values.as_slice()) as u64;
    let buffer = Buffer::from_vec(values).map_err(|_| SerdeErrorKind::Memory { bytes })?;
    debug_assert!(layout.is_contiguous(Order::C));
    Ok(NdArray::from_buffer(buffer, layout, T::DTYPE)?)
}

/// The text of a file.
pub(crate) fn read_file(path: &Path) -> Result<String> {
    let (mut file, length) = open(path)?;
    match length.and_then(|length| usize::try_from(length).ok()) {
        Some(length) => {
            let mut source = Source::new(&mut file, Some(length as u64));
            checked(source.vec(length, "the text")?)
        }
        None => read_all(&mut file),
    }
}

/// Everything a reader has left, as text. It grows no faster than the data comes.
pub(crate) fn read_all(reader: &mut dyn Read) -> Result<String> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).while_doing("read")?;
    checked(bytes)
}

fn checked(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]);
        fault(&before, good, TextProblem::NotUtf8)
    })
}

/// The error of a problem at a byte of a text.
#[cold]
pub(crate) fn fault(text: &str, at: usize, problem: TextProblem) -> SerdeError {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before[start..].chars().count() + 1;
    SerdeErrorKind::Text {
        line,
        column,
        problem,
    }
    .into()
}

/// The error of something else than what should stand at a byte of a text.
#[cold]
pub(crate) fn unexpected(text: &str, at: usize, expected: &'static str) -> SerdeError {
    let rest = &text[text.floor_char_boundary(at)..];
    let found = if rest.trim_end().is_empty() {
        "the end of the text".to_owned()
    } else {
        format!("`{}`", quoted(rest.lines().next().unwrap_or_default()))
    };
    fault(text, at, TextProblem::Syntax { expected, found })
}

/// So much of a text as an error quotes.
pub(crate) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short + ".."
    } else {
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of<T: Decimal>(value: T, style: Style) -> String {
        let mut text = Vec::new();
        value.write(style, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    #[test]
    fn every_half_float_comes_back() {
        for bits in 0..=u16::MAX {
            for style in [Style::Exponent, Style::Plain] {
                let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
                let (a, b) = (text_of(half, style), text_of(brain, style));
                let same = |found: Option<u32>, bits: u16| found == Some(u32::from(bits));
                let half_back = f16::parse(&a).map(|value| u32::from(value.to_bits()));
                let brain_back = bf16::parse(&b).map(|value| u32::from(value.to_bits()));
                assert!(half.is_nan() || same(half_back, bits), "{bits:#x} {a}");
                assert!(brain.is_nan() || same(brain_back, bits), "{bits:#x} {b}");
            }
        }
    }

    /// Beside what is found by writing more and more digits.
    #[test]
    fn half_floats_are_written_in_the_fewest_digits() {
        fn by_text<T: Decimal>(value: T, wide: f64) -> String {
            let mut texts = (0..5).map(|digits: usize| format!("{wide:.digits$E}"));
            let short = texts.find(|text| T::parse(text) == Some(value));
            let short = short.and_then(|text| text.parse::<f64>().ok());
            format!("{:?}", short.unwrap_or(wide))
        }
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(text_of(half, Style::Plain), by_text(half, half.to_f64()));
            assert_eq!(text_of(brain, Style::Plain), by_text(brain, brain.to_f64()));
        }
    }

    #[test]
    fn numbers_are_written_short_and_read_strictly() {
        let written = [
            (text_of(1.5f32, Style::Exponent), "1.5E0"),
            (text_of(1.5f32, Style::Plain), "1.5"),
            (text_of(0.1f64, Style::Exponent), "1E-1"),
            (text_of(f32::INFINITY, Style::Exponent), "Infinity"),
            (text_of(f64::NEG_INFINITY, Style::Plain), "-inf"),
            (text_of(f64::NAN, Style::Exponent), "NaN"),
            (text_of(f16::from_f32(0.1), Style::Plain), "0.1"),
            (text_of(Bool::from(true), Style::Plain), "1"),
            (text_of(u64::MAX, Style::Plain), "18446744073709551615"),
            (text_of(i64::MIN, Style::Plain), "-9223372036854775808"),
            (text_of(-10i8, Style::Exponent), "-10"),
            (text_of(0u8, Style::Plain), "0"),
        ];
        for (found, expected) in written {
            assert_eq!(found, expected);
        }
        assert_eq!(i32::parse("2.0E0"), Some(2));
        assert_eq!(i8::parse("128"), None);
        assert_eq!(u8::parse("-1"), None);
        assert_eq!(i64::parse("2.5"), None);
        assert_eq!(i64::parse("NaN"), None);
        assert_eq!(u64::parse("1e300"), None);
        assert_eq!(f32::parse("-\u{221e}"), Some(f32::NEG_INFINITY));
        assert!(Bool::parse("2").is_none() && f64::parse("1,5").is_none());
    }
}
