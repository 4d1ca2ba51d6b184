//! Transforms that scale, shift or limit values: by norms, by deviations, by what an exponential can take.

use lodestride_buffer::{Argument, Bool, DType};
use lodestride_kernels::{BinaryOp, ReduceOp, UnaryOp};
use lodestride_shape::{Axes, keep};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::Watch;
use crate::condition::Tolerance;
use crate::error::Result;
use crate::reduce::{float_of, widened};

impl NdArray {
    /// The array, scaled down so that its Euclidean norm over the given axes is at most `limit`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[3.0f32, 4.0], [0.3, 0.4]]);
    /// let clipped = a.clip_by_norm(1.0, 1)?;
    /// assert!((clipped.get_f64([0, 1])? - 0.8).abs() < 1e-7);
    /// assert_eq!(clipped.row(1)?, a.row(1)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "clipByNorm")]
    #[track_caller]
    pub fn clip_by_norm(&self, limit: f64, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("clip_by_norm", Argument::X)?;
        let norm = self.kept("clip_by_norm", ReduceOp::Norm2, &axes.into())?;
        // What is short enough is divided by 1.
        let longer = norm.greater(limit)?;
        let divisor = longer.select(&norm.div(limit)?, 1.0)?;
        self.widened_div(&divisor)
    }

    /// The array over its Euclidean norm over the given axes; vectors of length 0 stay.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[3.0f64, 4.0], [0.0, 0.0]]).unit_vec(1)?;
    /// assert_eq!(a, NdArray::from([[0.6f64, 0.8], [0.0, 0.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "unitVec")]
    #[track_caller]
    pub fn unit_vec(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("unit_vec", Argument::X)?;
        let norm = self.kept("unit_vec", ReduceOp::Norm2, &axes.into())?;
        let divisor = norm.equal(0.0)?.select(1.0, &norm)?;
        self.widened_div(&divisor)
    }

    /// The array shifted and scaled so that over the given axes its mean is 0 and its variance (over n - 1, as in ND4J) is 1;
    /// constants become 0.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let columns = NdArray::from([[1.0f64, 7.0], [2.0, 7.0], [3.0, 7.0]]).standardize(0)?;
    /// assert_eq!(columns, NdArray::from([[-1.0f64, 0.0], [0.0, 0.0], [1.0, 0.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "normalizeZeroMeanAndUnitVariance")]
    #[track_caller]
    pub fn standardize(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("standardize", Argument::X)?;
        let axes = axes.into();
        let mean = self.kept("standardize", ReduceOp::Mean, &axes)?;
        let deviation = self.kept("standardize", ReduceOp::Std { ddof: 1 }, &axes)?;
        let divisor = deviation.equal(0.0)?.select(1.0, &deviation)?;
        let scaled = (self.widened() - &mean) / &divisor;
        scaled.cast(float_of(self.dtype())).eval()
    }

    /// `x (1 - x)` of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) for bool arrays or a stale array.
    #[doc(alias = "timesOneMinus")]
    #[track_caller]
    pub fn times_one_minus(&self) -> Result<NdArray> {
        self.expect_readable("times_one_minus", Argument::X)?;
        (self.lazy() * self.lazy().apply(UnaryOp::OneMinus)).eval()
    }

    /// The logarithm to a base, of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([1.0f64, 9.0]).log_base(3.0)?.to_vec::<f64>()?, [0.0, 2.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn log_base(&self, base: f64) -> Result<NdArray> {
        self.expect_readable("log_base", Argument::X)?;
        if base == 2.0 {
            return self.log2();
        }
        if base == 10.0 {
            return self.log10();
        }
        let logarithm = self.widened().log() / base.ln();
        logarithm.cast(float_of(self.dtype())).eval()
    }

    /// The elements limited so that `exp(k x)` neither overflows nor becomes denormal in the array's dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([-1e4f32, 2.0, 1e4]).stabilize(1.0)?;
    /// assert!(a.exp()?.is_finite()?.all_true()? && a.get_f64([1])? == 2.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn stabilize(&self, k: f64) -> Result<NdArray> {
        self.expect_readable("stabilize", Argument::X)?;
        let smallest = match float_of(self.dtype()) {
            DType::F16 => 2.0f64.powi(-14),
            DType::F64 => f64::MIN_POSITIVE,
            _ => f64::from(f32::MIN_POSITIVE),
        };
        let cut = -smallest.ln();
        let scaled = self.widened() * k;
        let limited = scaled
            .apply_with(BinaryOp::Min, cut)
            .apply_with(BinaryOp::Max, -cut);
        // What is within stays as it is, without the rounding of the two steps.
        let limited = (limited / k).cast(float_of(self.dtype())).eval()?;
        let within = (self.widened() * k)
            .abs()
            .apply_with(BinaryOp::Le, cut)
            .eval()?;
        within.select(self, &limited)
    }

    /// `|x - y| / (|x| + |y|)` of every element and another's; 0 where both are 0.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f64, 0.0, -2.0]);
    /// let error = a.relative_error(&NdArray::from([3.0f64, 0.0, 2.0]))?;
    /// assert_eq!(error.to_vec::<f64>()?, [0.5, 0.0, 1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "relativeError")]
    #[track_caller]
    pub fn relative_error(&self, other: &NdArray) -> Result<NdArray> {
        self.expect_readable("relative_error", Argument::X)?;
        other.expect_readable("relative_error", Argument::Y)?;
        let dtype = float_of(self.dtype().promote(other.dtype()));
        let [x, y] = [self, other].map(|array| array.lazy().cast(widened(dtype)));
        let size = x.clone().abs() + y.clone().abs();
        let none = size.clone().apply_with(BinaryOp::Eq, 0.0);
        ((x - y).abs() / (size + none)).cast(dtype).eval()
    }

    /// Where the elements of two arrays differ by at most `absolute + relative * |other|`: a mask; NaN is close to nothing.
    ///
    /// [`all_close`](Self::all_close) asks for all of them, [`eps_equal`](Self::eps_equal) has one tolerance. With a
    /// `relative` of 0 they are one and the same, and integers are compared exactly; else f64 is what is computed in.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast,
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) for a negative tolerance.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 1.1, f32::INFINITY]);
    /// let b = NdArray::from([1.000_001f32, 1.0, f32::INFINITY]);
    /// assert_eq!(a.is_close(&b, 0.0, 1e-5)?.to_vec::<bool>()?, [true, false, true]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "eps")]
    #[track_caller]
    pub fn is_close<'a>(
        &self,
        other: impl Into<Arg<'a>>,
        relative: f64,
        absolute: f64,
    ) -> Result<NdArray> {
        let op = "is_close";
        let other = other.into();
        let tolerance = Tolerance::new(op, relative, absolute)?;
        let is_looped = relative > 0.0 && matches!(self.dtype(), DType::F32 | DType::F64);
        let y = match other {
            Arg::Array(y) if is_looped && y.dtype() == self.dtype() => y,
            _ => return self.near(op, other, tolerance)?.eval_as(op),
        };
        self.expect_comparable(op, other)?;
        // Arrays of floats, the usual case, in one loop; what the expression computes.
        let near = move |x: f64, y: f64| {
            let is_within = (x - y).abs() <= absolute + relative * y.abs();
            Bool::from((is_within & y.is_finite()) | (x == y))
        };
        let narrow = move |x: f32, y: f32| near(x.into(), y.into());
        let watch = Watch::start();
        let made = match self.dtype() {
            DType::F64 => NdArray::zip_map([self, y], near),
            _ => NdArray::zip_map([self, y], narrow),
        };
        watch.made(op, &[self, y], made)
    }

    /// A reduction of the values in the dtype several steps are computed in, with its axes kept.
    #[track_caller]
    fn kept(&self, op: &'static str, reduction: ReduceOp, axes: &Axes) -> Result<NdArray> {
        let named = self.resolve_axes(op, axes)?;
        let wide = self.cast(widened(self.dtype()))?;
        wide.reduce(reduction, &keep(named.axes()))
    }

    #[track_caller]
    fn widened_div(&self, divisor: &NdArray) -> Result<NdArray> {
        let quotient = self.widened() / divisor;
        quotient.cast(float_of(self.dtype())).eval()
    }
}
