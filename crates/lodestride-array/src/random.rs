//! Random arrays: reproducible from a seed, at any number of threads.
//!
//! The common distributions are here, integers in `integers`, vectors in `vectors`, others in `distributions`, chance applied to
//! arrays in `choose`.

mod choose;
mod counts;
mod distributions;
mod integers;
#[cfg(feature = "linalg")]
mod multivariate;
mod sampler;
mod vectors;
mod ziggurat;

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use lodestride_buffer::DType;
use lodestride_kernels::random as draw;
use lodestride_shape::{Order, Shape};

use crate::NdArray;
use crate::checks::{Watch, watched};
use crate::error::{ArrayError, ArrayErrorKind, Result};

thread_local! {
    static GENERATOR: RefCell<Rng> = RefCell::new(Rng::seeded(RandomState::new().hash_one(0u8)));
}

/// Seeds the generator of this thread, which [`NdArray::rand`] and [`NdArray::randn`] draw from.
///
/// The same seed and the same calls give the same arrays. Without it every thread starts at a seed of its own.
///
/// ```
/// use lodestride_array::{NdArray, set_seed};
///
/// set_seed(7);
/// let a = NdArray::rand([3, 3])?;
/// set_seed(7);
/// assert_eq!(NdArray::rand([3, 3])?, a);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[doc(alias = "setSeed")]
pub fn set_seed(seed: u64) {
    GENERATOR.with_borrow_mut(|generator| *generator = Rng::seeded(seed));
}

/// A source of random arrays with a seed of its own.
///
/// Every array is drawn from a new stream of a counter-based generator (Philox), so that its values depend only on the
/// seed and on how many arrays were drawn before, not on threads.
///
/// # Dtypes
/// Reals are of the default dtype, integers and counts of i64. Forms in `_of` take a dtype, as those of [`NdArray::zeros_of`]
/// do; `fill_` forms draw in the dtype of the array. Whatever the dtype, an array takes one stream, so that what is drawn
/// after it stays the same. Of one seed and one stream
/// * integers are the same numbers in every dtype;
/// * `uniform` and `normal` in f16 and bf16 are those in f32, rounded (uniform ones stay below `high`), and those in f64 are
///   others: they take more random bits; `log_normal` is the exponential of `normal` in its dtype;
/// * the other reals are drawn in f64 and rounded once to the dtype.
///
/// ```
/// use lodestride_array::{DType, Rng};
///
/// let mut rng = Rng::seeded(42);
/// let a = rng.normal([1000], 5.0, 0.1)?;
/// assert!((a.mean_number()? - 5.0).abs() < 0.05);
/// let b = rng.normal_of(DType::F64, [1000], 5.0, 0.1)?;
/// assert_eq!((a.dtype(), b.dtype()), (DType::F32, DType::F64));
/// let die = rng.integers_of(DType::U8, [1000], 1, 7)?;
/// assert_eq!((die.min_number()?, die.max_number()?), (1.0, 6.0));
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rng {
    seed: u64,
    stream: u64,
}

impl Rng {
    /// A generator that starts at the given seed.
    pub const fn seeded(seed: u64) -> Self {
        Self { seed, stream: 0 }
    }

    fn next_stream(&mut self) -> u64 {
        let stream = self.stream;
        self.stream = self.stream.wrapping_add(1);
        stream
    }

    /// An array of the default dtype, spread evenly over `[low, high)`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when the bounds are not finite and ascending.
    #[track_caller]
    pub fn uniform(&mut self, shape: impl Into<Shape>, low: f64, high: f64) -> Result<NdArray> {
        self.uniform_of(float_default(), shape, low, high)
    }

    /// [`uniform`](Self::uniform) of the given float dtype; every number is below `high`, also after rounding.
    ///
    /// # Errors
    /// As [`uniform`](Self::uniform); [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for another
    /// kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let a = Rng::seeded(1).uniform_of(DType::F16, [1000], -1.0, 1.0)?;
    /// assert!(a.dtype() == DType::F16 && a.max_number()? < 1.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn uniform_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        low: f64,
        high: f64,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        let out = real("uniform", dtype, shape.into())?;
        self.fill_uniform(&out, low, high)?;
        watch.made("uniform", &[], Ok(out))
    }

    /// An array of the default dtype from the normal distribution of the given mean and standard deviation.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when the deviation is negative or not finite.
    #[track_caller]
    pub fn normal(
        &mut self,
        shape: impl Into<Shape>,
        mean: f64,
        deviation: f64,
    ) -> Result<NdArray> {
        self.normal_of(float_default(), shape, mean, deviation)
    }

    /// [`normal`](Self::normal) of the given float dtype.
    ///
    /// # Errors
    /// As [`normal`](Self::normal); [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for another
    /// kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let a = Rng::seeded(1).normal_of(DType::F64, [2, 3], 0.0, 1.0)?;
    /// assert_eq!((a.dtype(), &a.shape()[..]), (DType::F64, &[2, 3][..]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "standard_normal")]
    #[track_caller]
    pub fn normal_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        mean: f64,
        deviation: f64,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        let out = real("normal", dtype, shape.into())?;
        self.fill_normal(&out, mean, deviation)?;
        watch.made("normal", &[], Ok(out))
    }

    /// A bool array that is true with the given probability.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when the probability is outside `[0, 1]`.
    #[track_caller]
    pub fn bernoulli(&mut self, shape: impl Into<Shape>, probability: f64) -> Result<NdArray> {
        let out = NdArray::recycled_ordered("bernoulli", DType::Bool, shape.into(), Order::C)?;
        self.draw_bernoulli("bernoulli", &out, probability)?;
        Ok(out)
    }

    /// Fills a bool array with what is true with the given probability; allocates nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when the probability is outside `[0, 1]` or the array is
    /// not of bool.
    #[track_caller]
    pub fn fill_bernoulli(&mut self, out: &NdArray, probability: f64) -> Result<()> {
        out.expect_writable("fill_bernoulli")?;
        self.draw_bernoulli("fill_bernoulli", out, probability)
    }

    #[track_caller]
    fn draw_bernoulli(&mut self, op: &'static str, out: &NdArray, probability: f64) -> Result<()> {
        let (seed, stream) = (self.seed, self.next_stream());
        watched(op, &[], out, || {
            draw::bernoulli(seed, stream, probability, out.operand())
        })
    }

    /// A random order of the numbers below `n`.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        self.sample(n, n)
    }

    /// `count` of the numbers below `n` in random order, each at most once.
    fn sample(&mut self, n: usize, count: usize) -> Vec<usize> {
        let stream = self.next_stream();
        let seed = self.seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        choose::sample(seed, n, count)
    }

    /// Fills a float array with numbers spread evenly over `[low, high)`; allocates nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when the array is not of a float dtype or the bounds are
    /// not finite and ascending.
    #[track_caller]
    pub fn fill_uniform(&mut self, out: &NdArray, low: f64, high: f64) -> Result<()> {
        out.expect_writable("fill_uniform")?;
        let (seed, stream) = (self.seed, self.next_stream());
        watched("fill_uniform", &[], out, || {
            draw::uniform(seed, stream, low, high, out.operand())
        })
    }

    /// Fills a float array from the normal distribution of the given mean and standard deviation; allocates nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when the array is not of a float dtype or the deviation is
    /// negative or not finite.
    #[track_caller]
    pub fn fill_normal(&mut self, out: &NdArray, mean: f64, deviation: f64) -> Result<()> {
        out.expect_writable("fill_normal")?;
        let (seed, stream) = (self.seed, self.next_stream());
        watched("fill_normal", &[], out, || {
            draw::normal(seed, stream, mean, deviation, out.operand())
        })
    }
}

/// The default dtype where it is a float, else f32: random reals need one.
fn float_default() -> DType {
    let default = DType::default();
    if default.is_float() {
        default
    } else {
        DType::F32
    }
}

/// An array for draws of reals.
#[track_caller]
fn real(op: &'static str, dtype: DType, shape: Shape) -> Result<NdArray> {
    expect_float(op, dtype)?;
    NdArray::recycled_ordered(op, dtype, shape, Order::C)
}

/// Refuses a dtype that cannot hold reals.
#[track_caller]
fn expect_float(op: &'static str, dtype: DType) -> Result<()> {
    if dtype.is_float() {
        return Ok(());
    }
    Err(ArrayError::new(ArrayErrorKind::UnsupportedDType {
        op,
        dtype,
    }))
}

impl NdArray {
    /// An array of random numbers spread evenly over `[0, 1)`, from this thread's generator.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    #[track_caller]
    pub fn rand(shape: impl Into<Shape>) -> Result<NdArray> {
        Self::rand_of(float_default(), shape)
    }

    /// [`rand`](Self::rand) of the given float dtype.
    ///
    /// # Errors
    /// As [`rand`](Self::rand); [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for another kind
    /// of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray};
    ///
    /// assert_eq!(NdArray::rand_of(DType::F64, [2, 3])?.dtype(), DType::F64);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn rand_of(dtype: DType, shape: impl Into<Shape>) -> Result<NdArray> {
        let watch = Watch::start();
        let out = real("rand", dtype, shape.into())?;
        let mut rng = GENERATOR.with_borrow_mut(Rng::split);
        rng.fill_uniform(&out, 0.0, 1.0)?;
        watch.made("rand", &[], Ok(out))
    }

    /// An array of random numbers of mean 0 and standard deviation 1, from this thread's generator.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    #[track_caller]
    pub fn randn(shape: impl Into<Shape>) -> Result<NdArray> {
        Self::randn_of(float_default(), shape)
    }

    /// [`randn`](Self::randn) of the given float dtype.
    ///
    /// # Errors
    /// As [`randn`](Self::randn); [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for another
    /// kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray};
    ///
    /// assert_eq!(NdArray::randn_of(DType::BF16, [2, 3])?.dtype(), DType::BF16);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn randn_of(dtype: DType, shape: impl Into<Shape>) -> Result<NdArray> {
        let watch = Watch::start();
        let out = real("randn", dtype, shape.into())?;
        let mut rng = GENERATOR.with_borrow_mut(Rng::split);
        rng.fill_normal(&out, 0.0, 1.0)?;
        watch.made("randn", &[], Ok(out))
    }
}

impl Rng {
    /// A generator that draws the next array of this one, which moves on.
    fn split(&mut self) -> Rng {
        Rng {
            seed: self.seed,
            stream: self.next_stream(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_sequence() {
        let (mut a, mut b) = (Rng::seeded(3), Rng::seeded(3));
        let first = a.uniform([10], 0.0, 1.0).unwrap();
        assert_eq!(first, b.uniform([10], 0.0, 1.0).unwrap());
        assert_ne!(first, a.uniform([10], 0.0, 1.0).unwrap());
        set_seed(3);
        assert_eq!(NdArray::rand([10]).unwrap(), first);
        assert_ne!(NdArray::rand([10]).unwrap(), first);
    }

    #[test]
    fn values_have_the_distribution() {
        let mut rng = Rng::seeded(1);
        let a = rng.uniform([10_000], -1.0, 3.0).unwrap();
        assert!(a.min_number().unwrap() >= -1.0 && a.max_number().unwrap() < 3.0);
        assert!((a.mean_number().unwrap() - 1.0).abs() < 0.05);
        let a = rng.normal([10_000], 0.0, 2.0).unwrap();
        assert!((a.std_number().unwrap() - 2.0).abs() < 0.1);
        let mut order = rng.permutation(50);
        assert_ne!(order, (0..50).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }
}
