//! Arrays of the less common distributions. Every element draws from words of its own, decided by seed, stream and position.

use lodestride_buffer::DType;
use lodestride_kernels::{KernelError, random as draw};
use lodestride_shape::{Order, Shape};

use super::sampler::{Law, Words};
use super::{Rng, float_default};
use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, OrFail, Result};

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
        let logarithms = self.normal(shape, mean, deviation)?;
        logarithms.expi()?;
        Ok(logarithms)
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
        const OP: &str = "truncated_normal";
        valid(OP, "mean", mean, mean.is_finite())?;
        valid(
            OP,
            "deviation",
            deviation,
            deviation >= 0.0 && deviation.is_finite(),
        )?;
        let limit = 2.0;
        let law = Law::TruncatedNormal {
            mean,
            deviation,
            limit,
        };
        self.lawful(OP, float_default(), shape.into(), law)
    }

    /// An array of the default dtype of waiting times of the given mean.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when the mean is negative or not finite.
    #[track_caller]
    pub fn exponential(&mut self, shape: impl Into<Shape>, mean: f64) -> Result<NdArray> {
        const OP: &str = "exponential";
        valid(OP, "mean", mean, mean >= 0.0 && mean.is_finite())?;
        self.lawful(OP, float_default(), shape.into(), Law::Exponential { mean })
    }

    /// An array of the default dtype from the gamma distribution of the given shape and scale.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when a parameter is not positive and finite.
    #[track_caller]
    pub fn gamma(&mut self, shape: impl Into<Shape>, k: f64, scale: f64) -> Result<NdArray> {
        const OP: &str = "gamma";
        valid(OP, "k", k, k > 0.0 && k.is_finite())?;
        valid(OP, "scale", scale, scale > 0.0 && scale.is_finite())?;
        let law = Law::Gamma { shape: k, scale };
        self.lawful(OP, float_default(), shape.into(), law)
    }

    /// An array of the default dtype from the beta distribution.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when a parameter is not positive and finite.
    #[track_caller]
    pub fn beta(&mut self, shape: impl Into<Shape>, a: f64, b: f64) -> Result<NdArray> {
        const OP: &str = "beta";
        valid(OP, "a", a, a > 0.0 && a.is_finite())?;
        valid(OP, "b", b, b > 0.0 && b.is_finite())?;
        self.lawful(OP, float_default(), shape.into(), Law::Beta { a, b })
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
        const OP: &str = "poisson";
        // Beyond that counts are not exact in f64.
        valid(OP, "rate", rate, (0.0..=1e15).contains(&rate))?;
        self.lawful(OP, DType::I64, shape.into(), Law::Poisson { rate })
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
        const OP: &str = "binomial";
        let count = trials as f64;
        valid(OP, "trials", count, count <= 1e15)?;
        valid(
            OP,
            "probability",
            probability,
            (0.0..=1.0).contains(&probability),
        )?;
        let law = Law::Binomial {
            trials: count,
            probability,
        };
        self.lawful(OP, DType::I64, shape.into(), law)
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
        let starts = NdArray::recycled_ordered(op, DType::I64, shape, Order::C)?;
        let (low, high) = (i64::MIN, i64::MAX);
        draw::uniform_integers(self.seed, self.next_stream(), low, high, starts.operand())
            .or_fail(op)?;
        let drawn = starts.map(|start: i64| law.draw(&mut Words::new(start as u64)))?;
        drawn.cast(dtype)
    }
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
