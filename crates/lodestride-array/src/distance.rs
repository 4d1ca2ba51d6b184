//! Distances and similarities of arrays: whole, along axes, and of all pairs of vectors.
//!
//! Half precision is computed in f32, integers in f64. Sums go through the reductions, or a kernel for all pairs of rows that has
//! their accuracy.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::{self as kernels, BinaryOp, ReduceOp, RowDistance};
use lodestride_shape::{Axes, Order, ResolvedAxes, Shape, keep};

use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, OrFail, Result};
use crate::lazy::Lazy;
use crate::reduce::{float_of, widened};

/// How two vectors are compared by [`NdArray::distance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Distance {
    /// The sum of products.
    Dot,
    /// The cosine of the angle between them; NaN for a vector of length 0.
    CosineSimilarity,
    /// One minus the cosine.
    Cosine,
    /// The root of the sum of squared differences.
    Euclidean,
    /// The sum of squared differences.
    SquaredEuclidean,
    /// The sum of magnitudes of differences.
    Manhattan,
    /// The largest magnitude of a difference.
    Chebyshev,
    /// The share of places where they differ.
    Hamming,
    /// One minus the sum of minima over the sum of maxima; of zeros and ones, the share of common ones among all ones.
    Jaccard,
}

impl NdArray {
    /// The distance to another array over the given axes; both broadcast to one shape.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast, [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::{Distance, NdArray};
    ///
    /// let points = NdArray::from([[0.0f32, 0.0], [3.0, 4.0]]);
    /// let origin = NdArray::from([0.0f32, 0.0]);
    /// let far = points.distance(Distance::Euclidean, &origin, 1)?;
    /// assert_eq!(far.to_vec::<f32>()?, [0.0, 5.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "cosineSim")]
    #[doc(alias = "euclideanDistance")]
    #[doc(alias = "manhattanDistance")]
    #[doc(alias = "hammingDistance")]
    #[doc(alias = "jaccardDistance")]
    #[track_caller]
    pub fn distance(
        &self,
        kind: Distance,
        other: &NdArray,
        axes: impl Into<Axes>,
    ) -> Result<NdArray> {
        self.expect_readable("distance", Argument::X)?;
        other.expect_readable("distance", Argument::Y)?;
        let shape = self.broadcast_with("distance", other)?;
        let (x, y) = (
            self.broadcast_to(shape.clone())?,
            other.broadcast_to(shape)?,
        );
        let axes = x.resolve_axes("distance", &axes.into())?;
        kind.of(&x, &y, &axes)
    }

    /// [`distance`](Self::distance) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`distance`](Self::distance); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn distance_into(
        &self,
        kind: Distance,
        other: &NdArray,
        axes: impl Into<Axes>,
        out: &NdArray,
    ) -> Result<()> {
        out.store("distance_into", &[self, other], || {
            self.distance(kind, other, axes)
        })
    }

    /// The distance to an array of the same shape, over all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes differ.
    ///
    /// ```
    /// use lodestride_array::{Distance, NdArray};
    ///
    /// let (a, b) = (NdArray::from([1i32, 0, 2]), NdArray::from([1i32, 5, 0]));
    /// assert_eq!(a.distance_number(Distance::Manhattan, &b)?, 7.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn distance_number(&self, kind: Distance, other: &NdArray) -> Result<f64> {
        self.expect_readable("distance_number", Argument::X)?;
        other.expect_readable("distance_number", Argument::Y)?;
        if self.shape() != other.shape() {
            let (lhs, rhs) = (ArraySummary::of(self), ArraySummary::of(other));
            let op = "distance_number";
            return Err(ArrayError::new(ArrayErrorKind::Broadcast { op, lhs, rhs }));
        }
        (self.distance(kind, other, ..)?).cast(DType::F64)?.item()
    }

    /// The distances of every row of this matrix to every row of another: `[n, d]` and `[m, d]` give `[n, m]`.
    ///
    /// Products and cosines are a matrix product; all others go over the differences themselves and keep their accuracy for
    /// neighbours. Columns are compared by transposing both.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when an array is not a matrix, [`ArrayErrorKind::Broadcast`] when the rows differ in length.
    ///
    /// ```
    /// use lodestride_array::{Distance, NdArray};
    ///
    /// let a = NdArray::from([[0.0f32, 0.0], [6.0, 8.0]]);
    /// let b = NdArray::from([[3.0f32, 4.0]]);
    /// assert_eq!(a.all_distances(Distance::Euclidean, &b)?, NdArray::from([[5.0f32], [5.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "allCosineSimilarities")]
    #[doc(alias = "allEuclideanDistances")]
    #[doc(alias = "cdist")]
    #[track_caller]
    pub fn all_distances(&self, kind: Distance, other: &NdArray) -> Result<NdArray> {
        const OP: &str = "all_distances";
        self.expect_readable("all_distances", Argument::X)?;
        other.expect_readable("all_distances", Argument::Y)?;
        let (_, width) = self.matrix_form(OP)?;
        if other.matrix_form(OP)?.1 != width {
            let (lhs, rhs) = (ArraySummary::of(self), ArraySummary::of(other));
            return Err(ArrayError::new(ArrayErrorKind::Broadcast {
                op: OP,
                lhs,
                rhs,
            }));
        }
        let dtype = float_of(self.dtype().promote(other.dtype()));
        let wide = widened(dtype);
        let products = || {
            let (x, y) = (self.cast(wide)?, other.cast(wide)?);
            let products = x.matmul(&y.transpose())?;
            if kind != Distance::Dot {
                products.divi(&x.norm2(keep(1))?)?;
                products.divi(&y.norm2(1)?)?;
            }
            Ok(products)
        };
        match kind {
            Distance::Dot | Distance::CosineSimilarity => products()?.cast(dtype),
            Distance::Cosine => products()?.one_minusi()?.cast(dtype),
            Distance::Euclidean => self.row_distances(RowDistance::Norm2, other, dtype),
            Distance::SquaredEuclidean => self.row_distances(RowDistance::SumSquares, other, dtype),
            Distance::Manhattan => self.row_distances(RowDistance::Norm1, other, dtype),
            // Over the first axis, runs are as long as there are rows.
            _ if width < other.shape()[0] => {
                let (x, y) = (self.transpose(), other.transpose());
                x.expand_dims(2)?.distance(kind, &y.expand_dims(1)?, 0)
            }
            _ => {
                let (x, y) = (self.expand_dims(1)?, other.expand_dims(0)?);
                x.distance(kind, &y, 2)
            }
        }
    }

    /// Distances of all rows to all rows of another matrix, as elements of `dtype`.
    #[track_caller]
    fn row_distances(&self, kind: RowDistance, other: &NdArray, dtype: DType) -> Result<NdArray> {
        const OP: &str = "all_distances";
        let watch = Watch::start();
        let wide = widened(dtype);
        let (x, y) = (self.cast(wide)?, other.cast(wide)?);
        let shape = Shape::from([x.shape()[0], y.shape()[0]]);
        let out = NdArray::recycled_ordered(OP, wide, shape, Order::C)?;
        kernels::row_distances(kind, x.operand(), y.operand(), out.operand()).or_fail(OP)?;
        watch.made(OP, &[self, other], out.cast(dtype))
    }

    /// [`all_distances`](Self::all_distances) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`all_distances`](Self::all_distances); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn all_distances_into(&self, kind: Distance, other: &NdArray, out: &NdArray) -> Result<()> {
        out.store("all_distances_into", &[self, other], || {
            self.all_distances(kind, other)
        })
    }
}

impl Distance {
    /// Every way to compare.
    pub const ALL: [Distance; 9] = [
        Distance::Dot,
        Distance::CosineSimilarity,
        Distance::Cosine,
        Distance::Euclidean,
        Distance::SquaredEuclidean,
        Distance::Manhattan,
        Distance::Chebyshev,
        Distance::Hamming,
        Distance::Jaccard,
    ];

    #[track_caller]
    fn of(self, x: &NdArray, y: &NdArray, axes: &ResolvedAxes) -> Result<NdArray> {
        let dtype = float_of(x.dtype().promote(y.dtype()));
        let wide = widened(dtype);
        let over = || {
            let named = Axes::from(axes.axes());
            if axes.keeps() { keep(named) } else { named }
        };
        let [a, b] = [x, y].map(|array| array.lazy().cast(wide));
        let sum = |values: Lazy<'_>| values.reduce(ReduceOp::Sum, over());
        let distance = match self {
            Self::Dot => sum(&a * &b)?,
            Self::CosineSimilarity | Self::Cosine => {
                let cosine = sum(&a * &b)?;
                cosine.divi(&a.reduce(ReduceOp::Norm2, over())?)?;
                cosine.divi(&b.reduce(ReduceOp::Norm2, over())?)?;
                if self == Self::Cosine {
                    cosine.one_minusi()?;
                }
                cosine
            }
            Self::Euclidean => (&a - &b).reduce(ReduceOp::Norm2, over())?,
            Self::SquaredEuclidean => (&a - &b).reduce(ReduceOp::SumSquares, over())?,
            Self::Manhattan => (&a - &b).reduce(ReduceOp::Norm1, over())?,
            Self::Chebyshev => (&a - &b).reduce(ReduceOp::NormMax, over())?,
            Self::Hamming => {
                let differ = x.lazy().apply_with(BinaryOp::Ne, y);
                differ.cast(wide).reduce(ReduceOp::Mean, over())?
            }
            Self::Jaccard => {
                let common = sum(a.clone().apply_with(BinaryOp::Min, &b))?;
                let all = sum(a.apply_with(BinaryOp::Max, &b))?;
                common.divi(&all)?.one_minusi()?;
                common
            }
        };
        distance.cast(dtype)
    }
}
