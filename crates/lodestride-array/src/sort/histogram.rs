//! Counting elements by bins and by value. Pairs of elements are counted in `histogram2d`.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::KernelError;
use lodestride_kernels::sort_histogram::{self as kernels, Tally};
use lodestride_shape::Shape;
use smallvec::SmallVec;

use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, InMethod, OrFail, Result};

/// The bins of a histogram: how many of equal width, or their edges.
#[derive(Clone, Copy, Debug)]
pub enum Bins<'a> {
    /// This many bins of equal width between the ends of the range.
    Count(usize),
    /// Bins between neighbouring elements of an ascending vector.
    Edges(&'a NdArray),
}

impl From<usize> for Bins<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl<'a> From<&'a NdArray> for Bins<'a> {
    fn from(edges: &'a NdArray) -> Self {
        Self::Edges(edges)
    }
}

/// What a histogram counts, over which range.
#[derive(Clone, Copy, Debug, Default)]
pub struct HistogramOptions<'a> {
    /// The outer edges of bins given by their number; without it the smallest and the largest element.
    pub range: Option<(f64, f64)>,
    /// Sums these, one for each element, instead of counting.
    pub weights: Option<&'a NdArray>,
    /// Divides by the total and the widths, so that the integral over the range is 1.
    pub density: bool,
}

impl NdArray {
    /// How many elements fall in each bin, as i64, and the edges of the bins.
    ///
    /// A bin holds its lower edge but not its upper one, except the last, which holds both. Elements outside, and NaN, are
    /// not counted. The edges are f32 for f32, f16 and bf16 arrays, else f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for no bins ([`KernelError::InvalidArgument`]), edges that do not ascend
    /// ([`KernelError::Edges`]), or a range taken from elements that are NaN or infinite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (counts, edges) = NdArray::from([1.0f32, 2.0, 1.0, 4.0]).histogram(3)?;
    /// assert_eq!(counts.to_vec::<i64>()?, [2, 1, 1]);
    /// assert_eq!(edges.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn histogram<'a>(&self, bins: impl Into<Bins<'a>>) -> Result<(NdArray, NdArray)> {
        self.histogram_with(bins, HistogramOptions::default())
    }

    /// [`histogram`](Self::histogram) into two arrays of the results' shape: they are made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`histogram`](Self::histogram); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when an output does
    /// not fit, [`ArrayErrorKind::Operands`] when they share memory. Nothing is written then.
    #[track_caller]
    pub fn histogram_into<'a>(
        &self,
        bins: impl Into<Bins<'a>>,
        counts: &NdArray,
        edges: &NdArray,
    ) -> Result<()> {
        let op = "histogram_into";
        NdArray::store_both([counts, edges], op, &[self], || self.histogram(bins))
    }

    /// [`histogram`](Self::histogram) over a range, of weights, or as a density (the latter two give f64).
    ///
    /// # Errors
    /// As [`histogram`](Self::histogram); [`KernelError::ShapeMismatch`] for weights of another shape.
    ///
    /// ```
    /// use lodestride_array::{HistogramOptions, NdArray};
    ///
    /// let a = NdArray::from([0.5f64, 1.5, 1.7, 9.0]);
    /// let options = HistogramOptions { range: Some((0.0, 2.0)), density: true, ..Default::default() };
    /// let (density, _) = a.histogram_with(4, options)?;
    /// assert_eq!(density.to_vec::<f64>()?, [0.0, 2.0 / 3.0, 0.0, 4.0 / 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn histogram_with<'a>(
        &self,
        bins: impl Into<Bins<'a>>,
        options: HistogramOptions<'_>,
    ) -> Result<(NdArray, NdArray)> {
        let given = [Some(self), options.weights];
        let given: SmallVec<[&NdArray; 2]> = given.into_iter().flatten().collect();
        let watch = Watch::start();
        let (edges, is_even) = match bins.into() {
            Bins::Count(count) => (
                self.even_edges("histogram", count, options.range)
                    .located()?,
                true,
            ),
            Bins::Edges(edges) => {
                edges.expect_line("histogram")?;
                (edges.clone(), false)
            }
        };
        let limits = edges.cast(DType::F64).named("histogram", Argument::Y)?;
        let limits = limits.to_vec::<f64>()?;
        let weights = options.weights.map(NdArray::operand);
        let tally = kernels::histogram(self.operand(), &limits, is_even, weights)
            .or_fail("histogram")
            .blaming(options.weights.unwrap_or(self), Argument::Z)
            .blaming(self, Argument::X)?;
        if !options.density {
            return watch.made("histogram", &given, Ok((tallied(tally)?, edges)));
        }
        let mut sums: Vec<f64> = match tally {
            Tally::Counts(counts) => counts.into_iter().map(|count| count as f64).collect(),
            Tally::Weights(sums) => sums,
        };
        let total: f64 = sums.iter().sum();
        for (sum, pair) in sums.iter_mut().zip(limits.windows(2)) {
            *sum = *sum / (pair[1] - pair[0]) / total;
        }
        watch.made(
            "histogram",
            &given,
            Ok((tallied(Tally::Weights(sums))?, edges)),
        )
    }

    /// [`histogram_with`](Self::histogram_with) into two arrays of the results' shape: they are made elsewhere and copied
    /// there.
    ///
    /// # Errors
    /// As [`histogram_with`](Self::histogram_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when an
    /// output does not fit, [`ArrayErrorKind::Operands`] when they share memory. Nothing is written then.
    #[track_caller]
    pub fn histogram_with_into<'a>(
        &self,
        bins: impl Into<Bins<'a>>,
        options: HistogramOptions<'_>,
        counts: &NdArray,
        edges: &NdArray,
    ) -> Result<()> {
        let op = "histogram_with_into";
        NdArray::store_both([counts, edges], op, &[self], || {
            self.histogram_with(bins, options)
        })
    }

    /// Edges of bins of equal width.
    #[track_caller]
    pub(super) fn even_edges(
        &self,
        op: &'static str,
        bins: usize,
        range: Option<(f64, f64)>,
    ) -> Result<NdArray> {
        let refuse = |name, value| {
            ArrayError::new(ArrayErrorKind::Kernel {
                source: KernelError::InvalidArgument { op, name, value },
            })
        };
        if bins == 0 {
            return Err(refuse("number of bins", 0.0));
        }
        let (low, high) = match range {
            Some(range) => range,
            None if self.is_empty() => (0.0, 1.0),
            None => (
                self.min_number().renamed(op)?,
                self.max_number().renamed(op)?,
            ),
        };
        for (name, value) in [
            ("lower end of the range", low),
            ("upper end of the range", high),
        ] {
            if !value.is_finite() || low > high {
                return Err(refuse(name, value));
            }
        }
        let (low, high) = if low == high {
            (low - 0.5, high + 0.5)
        } else {
            (low, high)
        };
        let step = (high - low) / bins as f64;
        let edge = |index: usize| {
            if index == bins {
                high
            } else {
                low + index as f64 * step
            }
        };
        let edges: Vec<f64> = (0..=bins).map(edge).collect();
        let dtype = match self.dtype() {
            DType::F16 | DType::BF16 | DType::F32 => DType::F32,
            _ => DType::F64,
        };
        let shape = Shape::from(edges.len());
        NdArray::from_vec(edges, shape)?.cast(dtype)
    }

    /// How often each of the numbers `0, 1, ..` occurs among the integers of the array, as i64: at least `minimum` of them,
    /// and as many as the largest element needs.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a negative element ([`KernelError::OutOfRange`]) or a dtype that is not an integer's;
    /// [`ArrayErrorKind::Allocation`] when the largest element asks for more than memory has.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1i32, 3, 1]);
    /// assert_eq!(a.bincount(0)?.to_vec::<i64>()?, [0, 2, 0, 1]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn bincount(&self, minimum: usize) -> Result<NdArray> {
        self.tally_values(minimum, None)
    }

    /// The sums of the weights of the elements equal to `0, 1, ..`, as f64.
    ///
    /// # Errors
    /// As [`bincount`](Self::bincount); [`KernelError::ShapeMismatch`] for weights of another shape.
    #[track_caller]
    pub fn bincount_weighted(&self, weights: &NdArray, minimum: usize) -> Result<NdArray> {
        self.tally_values(minimum, Some(weights))
    }

    #[track_caller]
    fn tally_values(&self, minimum: usize, weights: Option<&NdArray>) -> Result<NdArray> {
        let given = [Some(self), weights];
        let given: SmallVec<[&NdArray; 2]> = given.into_iter().flatten().collect();
        let watch = Watch::start();
        let mut len = minimum;
        if !self.is_empty() && !self.dtype().is_float() {
            let largest = self
                .max(..)
                .renamed("bincount")?
                .cast(DType::U64)?
                .item::<u64>()?;
            let needed = usize::try_from(largest)
                .unwrap_or(usize::MAX)
                .saturating_add(1);
            // A negative number wraps far beyond what memory holds; the kernel names it.
            if (needed as u64) <= i64::MAX as u64 {
                // Asks for the memory first, so that too much of it is an error.
                NdArray::recycled(DType::I64, Shape::from(needed))?;
                len = len.max(needed);
            }
        }
        let operand = weights.map(NdArray::operand);
        let tally = kernels::bincount(self.operand(), len, operand)
            .map_err(without_limit)
            .or_fail("bincount")
            .blaming(weights.unwrap_or(self), Argument::Y)
            .blaming(self, Argument::X)?;
        watch.made("bincount", &given, tallied(tally))
    }
}

#[track_caller]
fn tallied(tally: Tally) -> Result<NdArray> {
    match tally {
        Tally::Counts(counts) => {
            let shape = Shape::from(counts.len());
            NdArray::from_vec(counts, shape)
        }
        Tally::Weights(sums) => {
            let shape = Shape::from(sums.len());
            NdArray::from_vec(sums, shape)
        }
    }
}

/// The kernel's limit is the room it was given, which the largest element decides.
fn without_limit(error: KernelError) -> KernelError {
    match error {
        KernelError::OutOfRange {
            op,
            name,
            value,
            min,
            ..
        } => KernelError::OutOfRange {
            op,
            name,
            value,
            min,
            max: f64::INFINITY,
        },
        other => other,
    }
}
