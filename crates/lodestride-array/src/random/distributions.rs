//! Arrays of the less common distributions. Every element draws from words of its own, decided by seed, stream and position.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::{KernelError, random as draw};
use lodestride_shape::{Order, Shape};

use super::counts::Counts;
use super::sampler::{Law, Words};
use super::{Rng, expect_float, float_default, real};
use crate::NdArray;
use crate::arg::Arg;
use crate::checks::{Watch, recorded_in, watched};
use crate::error::{ArrayError, ArrayErrorKind, InMethod, OrFail, Result};

impl Rng {
    /// An array of the default dtype whose logarithms are normal, of the given mean and standard deviation.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when the deviation is negative or a number is not finite.
    #[doc(alias = "LogNormalDistribution")]
    #[track_caller]
    pub fn log_normal(
        &mut self,
        shape: impl Into<Shape>,
        mean: f64,
        deviation: f64,
    ) -> Result<NdArray> {
        self.log_normal_of(float_default(), shape, mean, deviation)
    }

    /// [`log_normal`](Self::log_normal) of the given float dtype.
    ///
    /// # Errors
    /// As [`log_normal`](Self::log_normal); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let a = Rng::seeded(1).log_normal_of(DType::F64, [100], 0.0, 0.5)?;
    /// assert!(a.dtype() == DType::F64 && a.min_number()? > 0.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn log_normal_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        mean: f64,
        deviation: f64,
    ) -> Result<NdArray> {
        expect_float("log_normal", dtype)?;
        let watch = Watch::start();
        let logarithms = self.normal_of(dtype, shape, mean, deviation)?;
        logarithms.expi()?;
        watch.made("log_normal", &[], Ok(logarithms))
    }

    /// Fills a float array as [`log_normal`](Self::log_normal) makes one; allocates nothing.
    ///
    /// # Errors
    /// As [`fill_normal`](Self::fill_normal).
    #[track_caller]
    pub fn fill_log_normal(&mut self, out: &NdArray, mean: f64, deviation: f64) -> Result<()> {
        let op = "fill_log_normal";
        recorded_in(op, &[], out, || {
            self.fill_normal(out, mean, deviation).renamed(op)?;
            out.expi().renamed(op).map(drop)
        })
    }

    /// An array of the default dtype of normal numbers, of which those further than two standard deviations from the mean are
    /// drawn again.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when the deviation is negative or a number is not finite.
    ///
    /// ```
    /// use lodestride_array::Rng;
    ///
    /// let a = Rng::seeded(1).truncated_normal([1000], 10.0, 0.5)?;
    /// assert!(a.min_number()? >= 9.0 && a.max_number()? <= 11.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "TruncatedNormalDistribution")]
    #[track_caller]
    pub fn truncated_normal(
        &mut self,
        shape: impl Into<Shape>,
        mean: f64,
        deviation: f64,
    ) -> Result<NdArray> {
        self.truncated_normal_of(float_default(), shape, mean, deviation)
    }

    /// [`truncated_normal`](Self::truncated_normal) of the given float dtype.
    ///
    /// # Errors
    /// As [`truncated_normal`](Self::truncated_normal); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let a = Rng::seeded(1).truncated_normal_of(DType::F64, [100], 0.0, 1.0)?;
    /// assert!(a.dtype() == DType::F64 && a.max_number()? <= 2.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn truncated_normal_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        mean: f64,
        deviation: f64,
    ) -> Result<NdArray> {
        expect_float("truncated_normal", dtype)?;
        let law = truncated_normal_law("truncated_normal", mean, deviation)?;
        self.lawful("truncated_normal", dtype, shape.into(), law)
    }

    /// Fills an array as [`truncated_normal`](Self::truncated_normal) makes one; its dtype may be any float.
    ///
    /// # Errors
    /// As [`truncated_normal`](Self::truncated_normal); [`ArrayErrorKind::Cast`] for an array of another kind.
    #[track_caller]
    pub fn fill_truncated_normal(
        &mut self,
        out: &NdArray,
        mean: f64,
        deviation: f64,
    ) -> Result<()> {
        let op = "fill_truncated_normal";
        let law = truncated_normal_law(op, mean, deviation)?;
        self.fill_lawful(op, float_default(), out, law)
    }

    /// An array of the default dtype of waiting times of the given mean.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when the mean is negative or not finite.
    #[track_caller]
    pub fn exponential(&mut self, shape: impl Into<Shape>, mean: f64) -> Result<NdArray> {
        self.exponential_of(float_default(), shape, mean)
    }

    /// [`exponential`](Self::exponential) of the given float dtype.
    ///
    /// # Errors
    /// As [`exponential`](Self::exponential); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let a = Rng::seeded(1).exponential_of(DType::F16, [100], 3.0)?;
    /// assert!(a.dtype() == DType::F16 && a.min_number()? >= 0.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn exponential_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        mean: f64,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        let out = real("exponential", dtype, shape.into())?;
        self.draw_exponential("exponential", &out, mean)?;
        watch.made("exponential", &[], Ok(out))
    }

    /// Fills an array as [`exponential`](Self::exponential) makes one; its dtype may be any float.
    ///
    /// # Errors
    /// As [`exponential`](Self::exponential); [`ArrayErrorKind::Cast`] for an array of another kind.
    #[track_caller]
    pub fn fill_exponential(&mut self, out: &NdArray, mean: f64) -> Result<()> {
        let op = "fill_exponential";
        expect_mean(op, mean)?;
        out.expect_readable(op, Argument::Z)?;
        out.expect_storable(op, float_default())?;
        out.expect_writable(op)?;
        self.draw_exponential(op, out, mean)
    }

    #[track_caller]
    fn draw_exponential(&mut self, op: &'static str, out: &NdArray, mean: f64) -> Result<()> {
        expect_mean(op, mean)?;
        let (seed, stream) = (self.seed, self.next_stream());
        watched(op, &[], out, || {
            draw::exponential(seed, stream, mean, out.operand())
        })
    }

    /// An array of the default dtype from the gamma distribution of the given shape and scale.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when a parameter is not positive and finite.
    #[track_caller]
    pub fn gamma(&mut self, shape: impl Into<Shape>, k: f64, scale: f64) -> Result<NdArray> {
        self.gamma_of(float_default(), shape, k, scale)
    }

    /// [`gamma`](Self::gamma) of the given float dtype.
    ///
    /// # Errors
    /// As [`gamma`](Self::gamma); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let a = Rng::seeded(1).gamma_of(DType::F64, [100], 2.0, 1.0)?;
    /// assert!(a.dtype() == DType::F64 && a.min_number()? > 0.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn gamma_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        k: f64,
        scale: f64,
    ) -> Result<NdArray> {
        expect_float("gamma", dtype)?;
        let law = gamma_law("gamma", k, scale)?;
        self.lawful("gamma", dtype, shape.into(), law)
    }

    /// Fills an array as [`gamma`](Self::gamma) makes one; its dtype may be any float.
    ///
    /// # Errors
    /// As [`gamma`](Self::gamma); [`ArrayErrorKind::Cast`] for an array of another kind.
    #[track_caller]
    pub fn fill_gamma(&mut self, out: &NdArray, k: f64, scale: f64) -> Result<()> {
        let op = "fill_gamma";
        let law = gamma_law(op, k, scale)?;
        self.fill_lawful(op, float_default(), out, law)
    }

    /// An array of the default dtype from the beta distribution.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when a parameter is not positive and finite.
    #[track_caller]
    pub fn beta(&mut self, shape: impl Into<Shape>, a: f64, b: f64) -> Result<NdArray> {
        self.beta_of(float_default(), shape, a, b)
    }

    /// [`beta`](Self::beta) of the given float dtype.
    ///
    /// # Errors
    /// As [`beta`](Self::beta); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let a = Rng::seeded(1).beta_of(DType::BF16, [100], 2.0, 3.0)?;
    /// assert!(a.dtype() == DType::BF16 && a.max_number()? <= 1.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn beta_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        a: f64,
        b: f64,
    ) -> Result<NdArray> {
        expect_float("beta", dtype)?;
        let law = beta_law("beta", a, b)?;
        self.lawful("beta", dtype, shape.into(), law)
    }

    /// Fills an array as [`beta`](Self::beta) makes one; its dtype may be any float.
    ///
    /// # Errors
    /// As [`beta`](Self::beta); [`ArrayErrorKind::Cast`] for an array of another kind.
    #[track_caller]
    pub fn fill_beta(&mut self, out: &NdArray, a: f64, b: f64) -> Result<()> {
        let op = "fill_beta";
        let law = beta_law(op, a, b)?;
        self.fill_lawful(op, float_default(), out, law)
    }

    /// An i64 array of counts of events that happen at the given rate.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when the rate is negative or above 1e15.
    ///
    /// ```
    /// use lodestride_array::Rng;
    ///
    /// let calls = Rng::seeded(1).poisson([10_000], 3.0)?;
    /// assert!((calls.mean_number()? - 3.0).abs() < 0.1);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn poisson(&mut self, shape: impl Into<Shape>, rate: f64) -> Result<NdArray> {
        let law = poisson_law("poisson", rate)?;
        self.lawful("poisson", DType::I64, shape.into(), law)
    }

    /// Fills an array as [`poisson`](Self::poisson) makes one; its dtype may be any signed integer or float.
    ///
    /// # Errors
    /// As [`poisson`](Self::poisson); [`ArrayErrorKind::Cast`] for an array of another kind.
    #[track_caller]
    pub fn fill_poisson(&mut self, out: &NdArray, rate: f64) -> Result<()> {
        let op = "fill_poisson";
        let law = poisson_law(op, rate)?;
        self.fill_lawful(op, DType::I64, out, law)
    }

    /// An i64 array of the numbers of successes of `trials` attempts that succeed with the given probability each.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when the probability is outside `[0, 1]` or there are more than 1e15 trials.
    #[doc(alias = "BinomialDistribution")]
    #[track_caller]
    pub fn binomial(
        &mut self,
        shape: impl Into<Shape>,
        trials: u64,
        probability: f64,
    ) -> Result<NdArray> {
        let law = binomial_law("binomial", trials, probability)?;
        self.lawful("binomial", DType::I64, shape.into(), law)
    }

    /// Fills an array as [`binomial`](Self::binomial) makes one; its dtype may be any signed integer or float.
    ///
    /// # Errors
    /// As [`binomial`](Self::binomial); [`ArrayErrorKind::Cast`] for an array of another kind.
    #[track_caller]
    pub fn fill_binomial(&mut self, out: &NdArray, trials: u64, probability: f64) -> Result<()> {
        let op = "fill_binomial";
        let law = binomial_law(op, trials, probability)?;
        self.fill_lawful(op, DType::I64, out, law)
    }

    /// Draws every element from the words that start at its own random word.
    #[track_caller]
    pub(super) fn lawful(
        &mut self,
        op: &'static str,
        dtype: DType,
        shape: Shape,
        law: Law,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        let drawn = self.drawn(op, shape, &law)?;
        watch.made(op, &[], drawn.cast(dtype))
    }

    /// [`lawful`](Self::lawful) into an array, whose dtype may be of the given one's kind or a higher one.
    #[track_caller]
    pub(super) fn fill_lawful(
        &mut self,
        op: &'static str,
        dtype: DType,
        out: &NdArray,
        law: Law,
    ) -> Result<()> {
        out.expect_readable(op, Argument::Z)?;
        out.expect_storable(op, dtype)?;
        recorded_in(op, &[], out, || {
            let drawn = self.drawn(op, out.shape().clone(), &law)?;
            out.assign_arg(op, Arg::Array(&drawn))
        })
    }

    /// Where the words of each element start.
    #[track_caller]
    pub(super) fn starts(&mut self, op: &'static str, shape: Shape) -> Result<NdArray> {
        let starts = NdArray::recycled_ordered(op, DType::I64, shape, Order::C)?;
        let (low, high) = (i64::MIN, i64::MAX);
        draw::uniform_integers(self.seed, self.next_stream(), low, high, starts.operand())
            .or_fail(op)?;
        Ok(starts)
    }

    /// Draws in f64.
    #[track_caller]
    fn drawn(&mut self, op: &'static str, shape: Shape, law: &Law) -> Result<NdArray> {
        let starts = self.starts(op, shape)?;
        starts.map(|start: i64| law.draw(&mut Words::new(start as u64)))
    }
}

#[track_caller]
fn truncated_normal_law(op: &'static str, mean: f64, deviation: f64) -> Result<Law> {
    valid(op, "mean", mean, mean.is_finite())?;
    valid(
        op,
        "deviation",
        deviation,
        deviation >= 0.0 && deviation.is_finite(),
    )?;
    Ok(Law::truncated_normal(mean, deviation, 2.0))
}

#[track_caller]
fn expect_mean(op: &'static str, mean: f64) -> Result<()> {
    valid(op, "mean", mean, mean >= 0.0 && mean.is_finite())
}

#[track_caller]
fn gamma_law(op: &'static str, k: f64, scale: f64) -> Result<Law> {
    valid(op, "k", k, k > 0.0 && k.is_finite())?;
    valid(op, "scale", scale, scale > 0.0 && scale.is_finite())?;
    Ok(Law::gamma(k, scale))
}

#[track_caller]
fn beta_law(op: &'static str, a: f64, b: f64) -> Result<Law> {
    valid(op, "a", a, a > 0.0 && a.is_finite())?;
    valid(op, "b", b, b > 0.0 && b.is_finite())?;
    Ok(Law::beta(a, b))
}

#[track_caller]
fn poisson_law(op: &'static str, rate: f64) -> Result<Law> {
    // Beyond that counts are not exact in f64.
    valid(op, "rate", rate, (0.0..=1e15).contains(&rate))?;
    Ok(Law::Counts(Counts::poisson(rate)))
}

#[track_caller]
fn binomial_law(op: &'static str, trials: u64, probability: f64) -> Result<Law> {
    let count = trials as f64;
    valid(op, "trials", count, count <= 1e15)?;
    valid(
        op,
        "probability",
        probability,
        (0.0..=1.0).contains(&probability),
    )?;
    Ok(Law::Counts(Counts::binomial(count, probability)))
}

/// The numbers of an array, each of which must fit.
#[track_caller]
pub(super) fn numbers(
    op: &'static str,
    name: &'static str,
    array: &NdArray,
    fits: impl Fn(f64) -> bool,
) -> Result<Vec<f64>> {
    let values = array.cast(DType::F64)?.to_vec::<f64>()?;
    for &value in &values {
        valid(op, name, value, fits(value))?;
    }
    Ok(values)
}

/// The error for a number outside its range.
#[track_caller]
pub(super) fn valid(op: &'static str, name: &'static str, value: f64, valid: bool) -> Result<()> {
    if valid {
        return Ok(());
    }
    let source = KernelError::InvalidArgument { op, name, value };
    Err(ArrayError::new(ArrayErrorKind::Kernel { source }))
}
