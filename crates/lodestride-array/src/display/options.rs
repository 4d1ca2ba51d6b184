//! How an array is printed: [`PrintOptions`], for one array, a scope or the process. What is done with them is in `display`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

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
/// They are given for one array, [`display`](NdArray::display), for what a closure prints on its thread,
/// [`scope`](Self::scope), or for the process, [`set`](Self::set): the innermost counts, as a whole. What a format says,
/// `{:.3}`, `{:e}` or `{:#}`, comes before all of them.
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
#[must_use = "options do nothing until `display`, `scope` or `set`"]
pub struct PrintOptions {
    pub(super) precision: Option<usize>,
    pub(super) notation: Notation,
    pub(super) separator: Cow<'static, str>,
    pub(super) threshold: usize,
    pub(super) edge: usize,
    pub(super) line_width: usize,
}

/// What `{}` prints with on threads that are in no scope; `None` where nobody said.
static PROCESS: RwLock<Option<PrintOptions>> = RwLock::new(None);

/// Whether anybody ever said: until then nothing else is looked at.
static SAID: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What `{}` prints with in the innermost scope of this thread.
    static SCOPE: RefCell<Option<PrintOptions>> = const { RefCell::new(None) };
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl PrintOptions {
    /// What `{}` prints unless other options are [`set`](Self::set): as many digits as tell the numbers apart, at most 8; more
    /// than 1000 elements are summarised to 3 at either end of an axis; lines of 80 columns.
    pub const fn new() -> Self {
        Self {
            precision: None,
            notation: Notation::Common,
            separator: Cow::Borrowed(","),
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

    /// Digits after the point, in either notation; of [`Notation::Each`] it moves the limits too, as in ND4J.
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
        self.separator = Cow::Owned(separator.into());
        self
    }

    /// Arrays with more elements than this are summarised.
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

    /// Prints with these from now on, where nothing else is said, on all threads of the process that are in no
    /// [`scope`](Self::scope). `PrintOptions::new().set()` undoes it.
    ///
    /// Until it is called for the first time, looking for it costs one load for each array that is printed.
    ///
    /// ```
    /// use lodestride_array::{NdArray, PrintOptions};
    ///
    /// let third = NdArray::from([1.0 / 3.0, 1e-9]);
    /// PrintOptions::new().precision(3).set();
    /// assert_eq!(third.to_string(), "[3.333e-01, 1.000e-09]");
    /// assert_eq!(format!("{third:.1}"), "[0.3, 0.0]"); // a format comes first
    /// assert_eq!(PrintOptions::current(), PrintOptions::new().precision(3));
    /// PrintOptions::new().set();
    /// # assert_eq!(PrintOptions::current(), PrintOptions::new());
    /// ```
    #[doc(alias = "set_printoptions")]
    #[doc(alias = "setMaxPrintElements")]
    pub fn set(self) {
        *PROCESS.write().unwrap_or_else(PoisonError::into_inner) = Some(self);
        SAID.store(true, Ordering::Release);
    }

    /// What `{}` prints with on this thread now: to look at, or to change in a part.
    ///
    /// ```
    /// use lodestride_array::{NdArray, PrintOptions};
    ///
    /// let a = NdArray::from([0.125, 2.0]);
    /// PrintOptions::new().precision(1).scope(|| {
    ///     let options = PrintOptions::current().separator(";");
    ///     assert_eq!(a.display(&options).to_string(), "[0.1; 2.0]");
    /// });
    /// ```
    #[doc(alias = "get_printoptions")]
    pub fn current() -> Self {
        if !SAID.load(Ordering::Acquire) {
            return Self::new();
        }
        // A thread that ends has no scope any more.
        let scope = SCOPE.try_with(|scope| scope.borrow().clone());
        if let Ok(Some(options)) = scope {
            return options;
        }
        let process = PROCESS.read().unwrap_or_else(PoisonError::into_inner);
        process.clone().unwrap_or_default()
    }

    /// Runs a closure that prints with these, where nothing else is said, on this thread.
    ///
    /// Scopes may be nested; the innermost counts. Other threads print as before, also those that work for the closure.
    ///
    /// ```
    /// use lodestride_array::{NdArray, PrintOptions};
    ///
    /// let a = NdArray::from([[0.5, 0.25], [2.0, 3.0]]);
    /// let text = PrintOptions::new().precision(1).scope(|| a.to_string());
    /// assert_eq!(text, "[[0.5, 0.2],\n [2.0, 3.0]]");
    /// assert_eq!(a.to_string(), "[[0.50, 0.25],\n [2.00, 3.00]]");
    /// ```
    #[doc(alias = "printoptions")]
    pub fn scope<R>(self, body: impl FnOnce() -> R) -> R {
        /// Closes the scope, also when the closure panics.
        struct Close(Option<PrintOptions>);
        impl Drop for Close {
            fn drop(&mut self) {
                SCOPE.set(self.0.take());
            }
        }
        SAID.store(true, Ordering::Release);
        let _close = Close(SCOPE.replace(Some(self)));
        body()
    }

    /// The options that `{}`, `{:.3}`, `{:e}` and `{:#}` stand for.
    pub(super) fn of(f: &fmt::Formatter<'_>, scientific: bool) -> Self {
        let mut options = Self::current();
        if let Some(digits) = f.precision() {
            options = options.precision(digits);
            if options.notation == Notation::Common {
                options.notation = Notation::Fixed;
            }
        }
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
