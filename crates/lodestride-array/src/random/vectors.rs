//! Random vectors, one for each position of a shape: shares and counts in proportion to weights. Normal ones are in
//! `multivariate`.

use lodestride_buffer::{Argument, DType};
use lodestride_shape::{Order, Shape};

use super::choose::is_weight;
use super::counts::binomial_once;
use super::distributions::{numbers, valid};
use super::sampler::{Gamma, Words};
use super::{Rng, expect_float, float_default};
use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, Result};

impl Rng {
    /// I64 counts of how `trials` attempts fell into classes, a vector of them for each position of `shape`; each attempt falls into
    /// a class in proportion to its weight. Weights need not add up to 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the weights are no vector, [`ArrayErrorKind::Empty`] when there are none,
    /// [`ArrayErrorKind::Kernel`] for a negative or infinite weight, weights that are all 0, or more than 1e15 trials.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let die = NdArray::ones([6])?;
    /// let counts = Rng::seeded(1).multinomial([1000], 20, &die)?;
    /// assert_eq!(counts.shape()[..], [1000, 6]);
    /// assert!(counts.sum(1)?.equal(20)?.all_true()?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn multinomial(
        &mut self,
        shape: impl Into<Shape>,
        trials: u64,
        weights: &NdArray,
    ) -> Result<NdArray> {
        const OP: &str = "multinomial";
        let watch = Watch::start();
        let classes = vector(OP, Argument::X, weights)?;
        valid(OP, "trials", trials as f64, trials as f64 <= 1e15)?;
        let mut shares = numbers(OP, "weight", weights, is_weight)?;
        // Of what is left at each class, from the last one on, so that the last weight above 0 takes all of it.
        let mut left = 0.0;
        for share in shares.iter_mut().rev() {
            left += *share;
            *share = if *share > 0.0 { *share / left } else { 0.0 };
        }
        valid(
            OP,
            "sum of the weights",
            left,
            left > 0.0 && left.is_finite(),
        )?;
        let counts = self.vectors(OP, shape.into(), classes, |words, counts| {
            let mut trials = trials as f64;
            for (count, &probability) in counts.iter_mut().zip(&shares) {
                *count = binomial_once(trials, probability, words);
                trials -= *count;
            }
        })?;
        watch.made(OP, &[weights], counts.cast(DType::I64))
    }

    /// [`multinomial`](Self::multinomial) into an array whose last axis counts the classes; its dtype may be any signed integer
    /// or float.
    ///
    /// # Errors
    /// As [`multinomial`](Self::multinomial); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn fill_multinomial(
        &mut self,
        out: &NdArray,
        trials: u64,
        weights: &NdArray,
    ) -> Result<()> {
        out.store("fill_multinomial", &[weights], || {
            self.multinomial(vectors_in(out), trials, weights)
        })
    }

    /// Vectors of shares that add up to 1, of the default dtype, one for each position of `shape`: Dirichlet's distribution of the
    /// given parameters.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the parameters are no vector, [`ArrayErrorKind::Empty`] when there are none,
    /// [`ArrayErrorKind::Kernel`] when one is not positive and finite.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let shares = Rng::seeded(1).dirichlet([500], &NdArray::from([1.0, 2.0, 7.0]))?;
    /// assert_eq!(shares.shape()[..], [500, 3]);
    /// assert!(shares.sum(1)?.all_close(&NdArray::ones([500])?, 1e-6, 0.0)?);
    /// assert!((shares.mean(0)?.get_f64([2])? - 0.7).abs() < 0.05);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn dirichlet(&mut self, shape: impl Into<Shape>, parameters: &NdArray) -> Result<NdArray> {
        self.dirichlet_of(float_default(), shape, parameters)
    }

    /// [`dirichlet`](Self::dirichlet) of the given float dtype.
    ///
    /// # Errors
    /// As [`dirichlet`](Self::dirichlet); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray, Rng};
    ///
    /// let shares = Rng::seeded(1).dirichlet_of(DType::F64, [], &NdArray::from([0.5, 0.5]))?;
    /// assert!((shares.sum_number()? - 1.0).abs() < 1e-15);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn dirichlet_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        parameters: &NdArray,
    ) -> Result<NdArray> {
        const OP: &str = "dirichlet";
        let watch = Watch::start();
        let classes = vector(OP, Argument::X, parameters)?;
        expect_float(OP, dtype)?;
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let parameters_of = numbers(OP, "parameter", parameters, positive)?;
        let law = Dirichlet::new(parameters_of);
        let shares = self.vectors(OP, shape.into(), classes, |words, shares| {
            law.draw(words, shares);
        })?;
        watch.made(OP, &[parameters], shares.cast(dtype))
    }

    /// [`dirichlet`](Self::dirichlet) into an array of any float dtype whose last axis counts the parameters.
    ///
    /// # Errors
    /// As [`dirichlet`](Self::dirichlet); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn fill_dirichlet(&mut self, out: &NdArray, parameters: &NdArray) -> Result<()> {
        out.store("fill_dirichlet", &[parameters], || {
            self.dirichlet_of(dtype_in(out), vectors_in(out), parameters)
        })
    }

    /// An f64 array of vectors, each drawn from words of its own.
    #[track_caller]
    fn vectors(
        &mut self,
        op: &'static str,
        shape: Shape,
        size: usize,
        draw: impl Fn(&mut Words, &mut [f64]),
    ) -> Result<NdArray> {
        let starts = self.starts(op, shape)?;
        let whole = Shape::from(&[&starts.shape()[..], &[size]].concat()[..]);
        let out = NdArray::recycled_ordered(op, DType::F64, whole, Order::C)?;
        let starts = starts.to_vec::<i64>()?;
        out.fill_elements(op, |all: &mut [f64]| {
            for (&start, vector) in starts.iter().zip(all.chunks_exact_mut(size)) {
                draw(&mut Words::new(start as u64), vector);
            }
        })?;
        Ok(out)
    }
}

/// The number of elements of a vector, which must have some.
#[track_caller]
fn vector(op: &'static str, argument: Argument, array: &NdArray) -> Result<usize> {
    array.expect_readable(op, argument)?;
    match array.shape()[..] {
        [0] => Err(ArrayError::new(ArrayErrorKind::Empty {
            op,
            expected: "a number for at least one class",
        })),
        [size] => Ok(size),
        _ => Err(array.unfit(op, "a vector")),
    }
}

/// The shape of the vectors that an array is filled with: its own without the last axis.
pub(super) fn vectors_in(out: &NdArray) -> Shape {
    let shape = &out.shape()[..];
    Shape::from(&shape[..shape.len().saturating_sub(1)])
}

/// The dtype reals are drawn in for an output: its own, or where that is not of reals the default.
pub(super) fn dtype_in(out: &NdArray) -> DType {
    let dtype = Some(out.dtype()).filter(|dtype| dtype.is_float());
    dtype.unwrap_or(float_default())
}

/// Gamma numbers over their sum.
struct Dirichlet {
    parameters: Vec<f64>,
    gammas: Vec<Gamma>,
    /// Whether the numbers themselves could all be 0 or nearly so, as of small parameters.
    small: bool,
}

impl Dirichlet {
    fn new(parameters: Vec<f64>) -> Self {
        // A gamma number of this parameter is below 1e-290 once in 1e29.
        let small = parameters.iter().all(|&parameter| parameter < 0.1);
        Self {
            gammas: (parameters.iter())
                .map(|&parameter| Gamma::new(parameter))
                .collect(),
            parameters,
            small,
        }
    }

    fn draw(&self, words: &mut Words, shares: &mut [f64]) {
        if self.small {
            self.draw_logs(words, shares);
        } else {
            for (share, gamma) in shares.iter_mut().zip(&self.gammas) {
                *share = gamma.draw(words);
            }
        }
        let sum: f64 = shares.iter().sum();
        for share in shares.iter_mut() {
            *share /= sum;
        }
    }

    /// Numbers in the same proportion, the largest of which is 1.
    fn draw_logs(&self, words: &mut Words, shares: &mut [f64]) {
        for (share, gamma) in shares.iter_mut().zip(&self.gammas) {
            *share = gamma.draw_log(words);
        }
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            // So small that even the logarithms are infinite: all weight lies in one corner.
            let mut at = words.unit() * self.parameters.iter().sum::<f64>();
            let corner = self.parameters.iter().position(|&parameter| {
                at -= parameter;
                at < 0.0
            });
            shares.fill(0.0);
            shares[corner.unwrap_or(self.parameters.len() - 1)] = 1.0;
            return;
        }
        for share in shares.iter_mut() {
            *share = (*share - most).exp();
        }
    }
}
