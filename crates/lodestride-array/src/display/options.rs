//! How an array is printed: [`PrintOptions`]. What is done with them is in `display`.

use std::fmt;

use super::write_array;
use crate::NdArray;

/// Which notation numbers are printed in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notation {
    /// One for all numbers of the array: scientific from 1e8 on, below 1e-4, and when magnitudes differ by more than 1e5.
    Common,
    /// Digits before and after the point, whatever the number.
    Fixed,
    /// `1.5e+03`, whatever the number.
    Scientific,
    /// Each number by itself, as ND4J does: scientific from `from` on and below `below`, without trailing zeros.
    Each {
        /// Magnitudes below this are scientific.
        below: f64,
        /// Magnitudes from this on are scientific.
        from: f64,
    },
}

/// Digits, notation, separator, and how much of a large array is printed.
///
/// ```
/// use lodestride_array::{NdArray, Notation, PrintOptions};
///
/// let a = NdArray::from([[0.5f32, 1234.5678], [-2.0, 0.0]]);
/// let options = PrintOptions::new().precision(2).separator(";");
/// assert_eq!(a.display(&options).to_string(), "[[   0.50; 1234.57],\n [  -2.00;    0.00]]");
/// let options = PrintOptions::new().notation(Notation::Scientific).precision(1);
/// assert_eq!(a.row(0)?.display(&options).to_string(), "[5.0e-01, 1.2e+03]");
/// let long = NdArray::arange(0, 100, 1)?;
/// let options = PrintOptions::new().threshold(10).edge(2).precision(0);
/// assert_eq!(long.display(&options).to_string(), "[ 0,  1, ..., 98, 99]");
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "NDArrayStrings")]
#[doc(alias = "set_printoptions")]
#[must_use]
pub struct PrintOptions {
    pub(super) precision: Option<usize>,
    pub(super) notation: Notation,
    pub(super) separator: String,
    pub(super) threshold: usize,
    pub(super) edge: usize,
    pub(super) line_width: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl PrintOptions {
    /// What `{}` prints: as many digits as tell the numbers apart, at most 8; more than 1000 elements are summarised to 3 at
    /// either end of an axis; lines of 80 columns.
    pub fn new() -> Self {
        Self {
            precision: None,
            notation: Notation::Common,
            separator: ",".to_owned(),
            threshold: 1000,
            edge: 3,
            line_width: 80,
        }
    }

    /// What ND4J prints: 4 digits, each number for itself in scientific notation from 10,000 on and below 0.0001.
    pub fn nd4j() -> Self {
        Self::new().precision(4).notation(Notation::Each {
            below: 1e-4,
            from: 1e4,
        })
    }

    /// Digits after the point; of [`Notation::Each`] it moves the limits too, as in ND4J.
    pub fn precision(mut self, digits: usize) -> Self {
        self.precision = Some(digits);
        if let Notation::Each { below, from } = &mut self.notation {
            *from = 10f64.powi(i32::try_from(digits).unwrap_or(i32::MAX));
            *below = from.recip();
        }
        self
    }

    /// The notation of numbers.
    pub fn notation(mut self, notation: Notation) -> Self {
        self.notation = notation;
        self
    }

    /// What stands between two elements.
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = separator.into();
        self
    }

    /// Arrays with more elements than this are summarised.
    #[doc(alias = "setMaxPrintElements")]
    pub fn threshold(mut self, elements: usize) -> Self {
        self.threshold = elements;
        self
    }

    /// Elements that are printed at either end of an axis of a summarised array, at least 1.
    #[doc(alias = "edgeitems")]
    pub fn edge(mut self, elements: usize) -> Self {
        self.edge = elements.max(1);
        self
    }

    /// Columns after which a row is continued on the next line.
    #[doc(alias = "linewidth")]
    pub fn line_width(mut self, columns: usize) -> Self {
        self.line_width = columns;
        self
    }

    /// The options that `{}`, `{:.3}`, `{:e}` and `{:#}` stand for.
    pub(super) fn of(f: &fmt::Formatter<'_>, scientific: bool) -> Self {
        let mut options = Self::new();
        options.precision = f.precision();
        if scientific {
            options.notation = Notation::Scientific;
        }
        if f.alternate() {
            options.threshold = usize::MAX;
        }
        options
    }
}

/// An array and the options it is printed with.
#[derive(Clone, Copy)]
pub struct Printed<'a> {
    array: &'a NdArray,
    options: &'a PrintOptions,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_array(self.array, f, self.options)
    }
}

impl fmt::Debug for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl NdArray {
    /// The array, to be printed with these options.
    pub fn display<'a>(&'a self, options: &'a PrintOptions) -> Printed<'a> {
        Printed {
            array: self,
            options,
        }
    }
}
