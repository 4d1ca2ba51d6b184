//! Printing arrays: aligned columns, `...` in large ones, scientific notation where fixed digits would not do.
//!
//! `{}` prints the elements, `{:?}` puts a line like `f32 [2, 3] C` above them. `{:.2}` fixes the digits after the
//! point, `{:e}` asks for scientific notation, `{:#}` prints every element of a large array. What else there is to choose is in
//! [`PrintOptions`].

mod digits;
mod explain;
mod options;

use std::fmt::{self, Write as _};

use lodestride_buffer::{DType, Element, Scalar, with_dtype};
use smallvec::SmallVec;

use crate::NdArray;
use crate::error::{ArraySummary, InOp, Result};
use digits::number;

pub use options::{Notation, PrintOptions, Printed};

/// From this magnitude on, numbers are printed in scientific notation.
const LARGE: f64 = 1e8;
/// Below this magnitude, numbers are printed in scientific notation.
const SMALL: f64 = 1e-4;
/// Numbers of more different magnitudes than this are printed in scientific notation.
const SPREAD: f64 = 1e5;

impl fmt::Display for NdArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_array(self, f, &PrintOptions::of(f, false))
    }
}

impl fmt::LowerExp for NdArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_array(self, f, &PrintOptions::of(f, true))
    }
}

impl fmt::Debug for NdArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", ArraySummary::of(self))?;
        if self.is_view() {
            let elements = self.buffer().len() / self.dtype().size();
            write!(
                f,
                " of {elements} element{}",
                if elements == 1 { "" } else { "s" }
            )?;
        }
        f.write_char('\n')?;
        write_array(self, f, &PrintOptions::of(f, false))
    }
}

fn write_array(array: &NdArray, f: &mut fmt::Formatter<'_>, options: &PrintOptions) -> fmt::Result {
    let edge = (array.len() > options.threshold).then_some(options.edge);
    match shown_elements(array, edge) {
        Ok(values) => {
            let texts = texts(&values, array.dtype(), options);
            let width = texts.iter().map(String::len).max().unwrap_or(0);
            let mut page = Page {
                shape: array.shape(),
                texts: texts.iter(),
                width,
                edge,
                options,
                line: String::new(),
            };
            page.write_axis(f, 0)?;
            f.write_str(&page.line)
        }
        // A stale array must not make printing fail: say why there is nothing to see.
        Err(error) => write!(f, "<{} cannot be read: {error}>", ArraySummary::of(array)),
    }
}

/// The positions along an axis that are printed.
fn shown_positions(size: usize, edge: Option<usize>) -> impl Iterator<Item = usize> + Clone {
    let cut = match edge {
        Some(edge) if size / 2 >= edge && size > 2 * edge => edge..size - edge,
        _ => size..size,
    };
    (0..cut.start).chain(cut.end..size)
}

/// The elements that are printed, in C order.
fn shown_elements(array: &NdArray, edge: Option<usize>) -> Result<Vec<Scalar>> {
    let layout = array.layout();
    let mut offsets: Vec<isize> = vec![layout.offset() as isize];
    for (&size, &stride) in layout.shape().iter().zip(layout.strides().iter()) {
        let positions = shown_positions(size, edge);
        offsets = offsets
            .iter()
            .flat_map(|&o| positions.clone().map(move |i| o + i as isize * stride))
            .collect();
    }
    let guard = array.buffer().read().in_op("print", array)?;
    Ok(with_dtype!(array.dtype(), T => {
        let slice = guard.slice::<T>();
        offsets.iter().map(|&offset| slice[offset as usize].to_scalar()).collect()
    }))
}

/// Every number as text, with the same digits after the point.
fn texts(values: &[Scalar], dtype: DType, options: &PrintOptions) -> Vec<String> {
    if !dtype.is_float() {
        return values.iter().map(Scalar::to_string).collect();
    }
    let values: Vec<f64> = values.iter().map(|value| value.as_f64()).collect();
    let precision = options.precision;
    let scientific = match options.notation {
        Notation::Common => needs_exponent(&values),
        Notation::Fixed => false,
        Notation::Scientific => true,
        Notation::Each { below, from } => {
            let digits = precision.unwrap_or(4);
            return values
                .iter()
                .map(|&v| number_alone(v, digits, below, from))
                .collect();
        }
    };
    let digits = precision.unwrap_or_else(|| digits::needed(&values, dtype, scientific));
    values
        .iter()
        .map(|&value| number(value, digits, scientific))
        .collect()
}

fn needs_exponent(values: &[f64]) -> bool {
    let magnitudes = values
        .iter()
        .map(|value| value.abs())
        .filter(|value| value.is_finite() && *value != 0.0);
    let (low, high) = magnitudes.fold((f64::INFINITY, 0.0f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    high > 0.0 && (high >= LARGE || low < SMALL || high / low > SPREAD)
}

/// A number in the notation that its own magnitude asks for.
fn number_alone(value: f64, digits: usize, below: f64, from: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() || (below..from).contains(&magnitude) {
        return number(value, digits, false);
    }
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let short = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    format!("{short}e{exponent}")
}

/// The state of a printout: texts still to be placed, and the line being filled.
struct Page<'a> {
    shape: &'a [usize],
    texts: std::slice::Iter<'a, String>,
    width: usize,
    edge: Option<usize>,
    options: &'a PrintOptions,
    line: String,
}

impl Page<'_> {
    fn write_axis(&mut self, f: &mut fmt::Formatter<'_>, axis: usize) -> fmt::Result {
        let Some(&size) = self.shape.get(axis) else {
            if let Some(text) = self.texts.next() {
                // All of them are ASCII.
                let blanks = self.width.saturating_sub(text.len());
                self.line.extend(std::iter::repeat_n(' ', blanks));
                self.line.push_str(text);
            }
            return Ok(());
        };
        if self.shape.contains(&0) {
            self.line.push_str("[]");
            return Ok(());
        }
        self.line.push('[');
        let innermost = axis + 1 == self.shape.len();
        let mut previous = None;
        for position in shown_positions(size, self.edge) {
            if let Some(previous) = previous {
                self.separate(f, axis, innermost)?;
                if previous + 1 != position {
                    self.line.push_str("...");
                    self.separate(f, axis, innermost)?;
                }
            }
            self.write_axis(f, axis + 1)?;
            previous = Some(position);
        }
        self.line.push(']');
        Ok(())
    }

    /// Ends an element: a comma, and where it is due a new line, indented under the open brackets.
    fn separate(
        &mut self,
        f: &mut fmt::Formatter<'_>,
        axis: usize,
        innermost: bool,
    ) -> fmt::Result {
        let comma = if innermost {
            &*self.options.separator
        } else {
            ","
        };
        self.line.push_str(comma);
        let full = self.line.chars().count() + 2 + self.width > self.options.line_width;
        if innermost && !full {
            self.line.push(' ');
            return Ok(());
        }
        f.write_str(&self.line)?;
        let breaks: SmallVec<[char; 6]> =
            SmallVec::from_elem('\n', self.shape.len().saturating_sub(axis + 1).max(1));
        breaks
            .iter()
            .try_for_each(|&line_break| f.write_char(line_break))?;
        self.line.clear();
        self.line.extend(std::iter::repeat_n(' ', axis + 1));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::NdArray;
    use lodestride_buffer::DType;

    #[test]
    fn prints_as_expected() {
        let cases: Vec<(String, &str)> = vec![
            (
                NdArray::from([[1.0f32, 2.0], [3.0, 4.5]]).to_string(),
                "[[1.0, 2.0],\n [3.0, 4.5]]",
            ),
            (
                format!("{:.2}", NdArray::from([[1.0f32, 0.0], [0.0, 1.0]])),
                "[[1.00, 0.00],\n [0.00, 1.00]]",
            ),
            (
                NdArray::from([0.1f32, -12.25]).to_string(),
                "[  0.10, -12.25]",
            ),
            (NdArray::from([0.1f64 + 0.2]).to_string(), "[0.3]"),
            (NdArray::from([1.0f32 / 3.0]).to_string(), "[0.33333334]"),
            (NdArray::from([1i32, -200]).to_string(), "[   1, -200]"),
            (NdArray::from([true, false]).to_string(), "[ true, false]"),
            (
                NdArray::from([f32::NAN, 1.0, f32::NEG_INFINITY]).to_string(),
                "[ nan,  1.0, -inf]",
            ),
            (
                NdArray::from([1e10f64, 1.0]).to_string(),
                "[1.0e+10, 1.0e+00]",
            ),
            (NdArray::from([2.5e-7f64]).to_string(), "[2.5e-07]"),
            (format!("{:.1e}", NdArray::from([1234.0f64])), "[1.2e+03]"),
            (NdArray::from(7.0f32).to_string(), "7.0"),
            (
                NdArray::from([[[1i64], [2]], [[3], [4]]]).to_string(),
                "[[[1],\n  [2]],\n\n [[3],\n  [4]]]",
            ),
            (NdArray::zeros([2, 0]).unwrap().to_string(), "[]"),
            (
                NdArray::from([half::f16::from_f32(0.1)]).to_string(),
                "[0.1]",
            ),
        ];
        let failed: Vec<_> = cases
            .iter()
            .filter(|(found, expected)| found != expected)
            .collect();
        assert!(failed.is_empty(), "{failed:#?}");
    }

    #[test]
    fn large_arrays_are_summarised() {
        let a = NdArray::arange_of(DType::I32, 0, 10_000, 1)
            .unwrap()
            .reshape([100, 100])
            .unwrap();
        let text = a.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7);
        assert_eq!(lines[0], "[[   0,    1,    2, ...,   97,   98,   99],");
        assert_eq!(lines[3], " ...,");
        assert_eq!(lines[6], " [9900, 9901, 9902, ..., 9997, 9998, 9999]]");
        assert!(format!("{a:#}").len() > 20_000);
    }

    #[test]
    fn long_rows_are_continued() {
        let text = NdArray::arange_of(DType::I64, 100_000, 100_020, 1)
            .unwrap()
            .to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.len() == 2 && lines.iter().all(|line| line.len() <= 80),
            "{text}"
        );
        assert!(lines[1].starts_with(" 1000"));
    }

    #[test]
    fn debug_has_a_header() {
        let a = NdArray::from([[1.0f32, 2.0]]);
        assert_eq!(format!("{a:?}"), "f32 [1, 2] C\n[[1.0, 2.0]]");
        assert_eq!(
            format!("{:?}", a.transpose()),
            "f32 [2, 1] C view of 2 elements\n[[1.0],\n [2.0]]"
        );
    }
}
