//! Counting pairs of elements by bins of either.

use lodestride_buffer::Argument;
use lodestride_kernels::KernelError;
use smallvec::SmallVec;

use super::{Bins, first_fall};
use crate::NdArray;
use crate::checks::{Made, Watch};
use crate::error::{ArrayError, ArrayErrorKind, InMethod, Result};

/// How pairs are spread over bins, as [`NdArray::histogram2d`] finds it.
#[derive(Clone, Debug)]
pub struct Histogram2d {
    /// A row for each bin of the first array, a column for each of the second.
    pub counts: NdArray,
    /// The edges of the rows.
    pub x_edges: NdArray,
    /// The edges of the columns.
    pub y_edges: NdArray,
}

/// What a histogram of pairs counts, over which ranges.
#[derive(Clone, Copy, Debug, Default)]
pub struct Histogram2dOptions<'a> {
    /// The outer edges of the bins of either array, where they are given by their number; without them the smallest and the
    /// largest element.
    pub ranges: [Option<(f64, f64)>; 2],
    /// Sums these, one for each pair, instead of counting.
    pub weights: Option<&'a NdArray>,
    /// Divides by the total and the areas, so that the integral over the ranges is 1.
    pub density: bool,
}

impl Made for Histogram2d {
    fn arrays(&self) -> Vec<NdArray> {
        let Self {
            counts,
            x_edges,
            y_edges,
        } = self.clone();
        vec![counts, x_edges, y_edges]
    }
}

impl NdArray {
    /// How many pairs of an element of this array and the one of `y` at the same place fall in each pair of bins, as f64.
    ///
    /// A bin holds its lower edge but not its upper one, except the last, which holds both. Pairs outside, and with NaN, are
    /// not counted. Edges are f32 for f32, f16 and bf16 arrays, else f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for arrays of different shapes ([`KernelError::ShapeMismatch`]), no bins
    /// ([`KernelError::InvalidArgument`]), edges that do not ascend ([`KernelError::Edges`]), or a range taken from elements
    /// that are NaN or infinite; [`ArrayErrorKind::Form`] for edges that are not a vector.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (x, y) = (NdArray::from([0.0, 1.0, 4.0]), NdArray::from([1.0, 3.0, 3.0]));
    /// let found = x.histogram2d(&y, 2, &NdArray::from([0.0, 2.0, 3.0]))?;
    /// assert_eq!(found.counts, NdArray::from([[1.0, 1.0], [0.0, 1.0]]));
    /// assert_eq!(found.x_edges.to_vec::<f64>()?, [0.0, 2.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn histogram2d<'a, 'b>(
        &self,
        y: &NdArray,
        x_bins: impl Into<Bins<'a>>,
        y_bins: impl Into<Bins<'b>>,
    ) -> Result<Histogram2d> {
        let bins = [x_bins.into(), y_bins.into()];
        self.spread("histogram2d", y, bins, Histogram2dOptions::default())
    }

    /// [`histogram2d`](Self::histogram2d) over ranges, of weights, or as a density.
    ///
    /// # Errors
    /// As [`histogram2d`](Self::histogram2d), which goes for the shape of the weights too.
    ///
    /// ```
    /// use lodestride_array::{Histogram2dOptions, NdArray};
    ///
    /// let (x, y) = (NdArray::from([0.5, 1.5, 9.0]), NdArray::from([0.5, 0.5, 0.5]));
    /// let options = Histogram2dOptions { ranges: [Some((0.0, 2.0)), None], ..Default::default() };
    /// assert_eq!(x.histogram2d_with(&y, 2, 1, options)?.counts, NdArray::from([[1.0], [1.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "histogram2d")]
    #[track_caller]
    pub fn histogram2d_with<'a, 'b>(
        &self,
        y: &NdArray,
        x_bins: impl Into<Bins<'a>>,
        y_bins: impl Into<Bins<'b>>,
        options: Histogram2dOptions<'_>,
    ) -> Result<Histogram2d> {
        self.spread(
            "histogram2d_with",
            y,
            [x_bins.into(), y_bins.into()],
            options,
        )
    }

    #[track_caller]
    fn spread(
        &self,
        op: &'static str,
        y: &NdArray,
        bins: [Bins<'_>; 2],
        options: Histogram2dOptions<'_>,
    ) -> Result<Histogram2d> {
        let watch = Watch::start();
        let weights = options.weights;
        let inputs: SmallVec<[&NdArray; 3]> = [self, y].into_iter().chain(weights).collect();
        let places = [Argument::X, Argument::Y, Argument::Input(2)];
        for (array, argument) in inputs.iter().zip(places) {
            array.expect_readable(op, argument)?;
            if array.shape() != self.shape() {
                let (found, expected) = (array.shape().clone(), self.shape().clone());
                let source = KernelError::ShapeMismatch {
                    op,
                    argument,
                    found: Box::new(found),
                    expected: Box::new(expected),
                };
                return Err(ArrayError::new(ArrayErrorKind::Kernel { source }));
            }
        }
        let mut edges = SmallVec::<[NdArray; 2]>::new();
        for (axis, (array, bins)) in [self, y].into_iter().zip(bins).enumerate() {
            edges.push(match bins {
                Bins::Count(count) => array
                    .even_edges(op, count, options.ranges[axis])
                    .located()?,
                Bins::Edges(given) => {
                    given.expect_readable(op, Argument::Input(3 + axis))?;
                    given.expect_line(op)?;
                    given.clone()
                }
            });
        }
        let limits = [limits(op, &edges[0])?, limits(op, &edges[1])?];
        let sizes = [0, 1].map(|axis| limits[axis].len().saturating_sub(1));
        let mut sums = vec![0.0; sizes[0] * sizes[1]];
        let weights = weights.map(NdArray::to_f64_vec).transpose()?;
        let pairs = self.to_f64_vec()?.into_iter().zip(y.to_f64_vec()?);
        for (place, (x, y)) in pairs.enumerate() {
            if let (Some(row), Some(column)) = (bin(&limits[0], x), bin(&limits[1], y)) {
                let weight = weights.as_ref().map_or(1.0, |weights| weights[place]);
                sums[row * sizes[1] + column] += weight;
            }
        }
        if options.density {
            let total: f64 = sums.iter().sum();
            let width = |axis: usize, at: usize| limits[axis][at + 1] - limits[axis][at];
            for (place, sum) in sums.iter_mut().enumerate() {
                let (row, column) = (place / sizes[1], place % sizes[1]);
                *sum = *sum / width(0, row) / width(1, column) / total;
            }
        }
        let counts = NdArray::from_vec(sums, sizes)?;
        let (y_edges, x_edges) = (edges.remove(1), edges.remove(0));
        let made = Histogram2d {
            counts,
            x_edges,
            y_edges,
        };
        watch.made(op, &inputs, Ok(made))
    }
}

/// Edges that ascend.
#[track_caller]
fn limits(op: &'static str, edges: &NdArray) -> Result<Vec<f64>> {
    let limits = edges.to_f64_vec()?;
    match first_fall(&limits) {
        None => Ok(limits),
        Some(index) => Err(ArrayError::new(ArrayErrorKind::Kernel {
            source: KernelError::Edges {
                op,
                index,
                edge: limits[index],
                previous: limits[index.saturating_sub(1)],
            },
        })),
    }
}

/// The bin a value falls in, if there is one.
fn bin(limits: &[f64], value: f64) -> Option<usize> {
    let last = limits.len().checked_sub(1)?;
    let before = limits.partition_point(|limit| *limit <= value);
    let bin = if value == limits[last] { last } else { before };
    bin.checked_sub(1).filter(|&bin| bin < last)
}
