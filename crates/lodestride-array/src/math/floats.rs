//! What floats have and integers lack: signs of zero, NaN and infinity, digits behind the point, angles.

use lodestride_buffer::{Argument, Bool, DType, bf16, f16};
use lodestride_kernels::BinaryOp;

use crate::NdArray;
use crate::arg::{Arg, with};
use crate::checks::Watch;
use crate::compute::{promoted, result_dtype};
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;
use crate::reduce::{float_of, widened};

/// Radians in a degree.
const RADIANS: f64 = std::f64::consts::PI / 180.0;
/// Degrees in a radian.
const DEGREES: f64 = 180.0 / std::f64::consts::PI;

impl NdArray {
    /// Every element rounded to so many digits behind the point, halves to even; negative numbers count digits before it.
    ///
    /// As in NumPy, the elements are scaled, rounded and scaled back, so that what is stored a little below a half, as 2.675
    /// is, may still round up.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([1.234f64, -0.055]).round_to(2)?, NdArray::from([1.23f64, -0.06]));
    /// assert_eq!(NdArray::from([15i32, 125, -7]).round_to(-1)?, NdArray::from([20i32, 120, -10]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "around")]
    #[doc(alias = "round")]
    #[track_caller]
    pub fn round_to(&self, decimals: i32) -> Result<NdArray> {
        let (op, watch, dtype) = ("round_to", Watch::start(), self.dtype());
        self.expect_readable(op, Argument::X)?;
        result_dtype(op, dtype, (dtype != DType::Bool).then_some(dtype))?;
        if !dtype.is_float() && decimals >= 0 {
            return watch.made(op, &[self], self.dup());
        }
        let wide = self.cast(widened(dtype))?;
        let (is_wide, digits) = (wide.dtype() == DType::F64, decimals.unsigned_abs());
        // Beyond that the scale itself is infinite.
        let scale = 10f64.powi(digits.min(if is_wide { 308 } else { 38 }) as i32);
        // A closure for each, so that their loops have no branch, with the scale in it: behind a reference it would be
        // loaded again after every element, and nothing vectorise.
        macro_rules! rounded {
            ($F:ty, $first:tt, $second:tt) => {{
                let scale = scale as $F;
                wide.map(move |x: $F| {
                    let rounded = (x $first scale).round_ties_even() $second scale;
                    // Too large to be scaled is too large to have digits there.
                    if rounded.is_finite() { rounded } else { x }
                })
            }};
        }
        let made = match (is_wide, decimals < 0) {
            (true, true) => rounded!(f64, /, *),
            (true, false) => rounded!(f64, *, /),
            (false, true) => rounded!(f32, /, *),
            (false, false) => rounded!(f32, *, /),
        };
        watch.made(op, &[self], made?.cast(dtype))
    }

    /// [`round_to`](Self::round_to) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`round_to`](Self::round_to); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn round_to_into(&self, decimals: i32, out: &NdArray) -> Result<()> {
        out.store("round_to_into", &[self], || self.round_to(decimals))
    }

    /// Angles in degrees as radians.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([180.0f64]).to_radians()?, NdArray::from([std::f64::consts::PI]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "deg2rad")]
    #[track_caller]
    pub fn to_radians(&self) -> Result<NdArray> {
        self.expect_readable("to_radians", Argument::X)?;
        self.times(RADIANS).eval_as("to_radians")
    }

    /// [`to_radians`](Self::to_radians) in place.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Cast`] for an array of integers.
    #[track_caller]
    pub fn to_radiansi(&self) -> Result<&Self> {
        self.expect_readable("to_radiansi", Argument::Z)?;
        self.expect_storable("to_radiansi", float_of(self.dtype()))?;
        self.times(RADIANS).eval_into_as("to_radiansi", self)?;
        Ok(self)
    }

    /// [`to_radians`](Self::to_radians) into an array of this shape.
    ///
    /// # Errors
    /// As [`to_radians`](Self::to_radians); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn to_radians_into(&self, out: &NdArray) -> Result<()> {
        self.expect_readable("to_radians_into", Argument::X)?;
        out.expect_readable("to_radians_into", Argument::Z)?;
        self.times(RADIANS).eval_into_as("to_radians_into", out)
    }

    /// Angles in radians as degrees.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([std::f64::consts::PI]).to_degrees()?, NdArray::from([180.0f64]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "rad2deg")]
    #[track_caller]
    pub fn to_degrees(&self) -> Result<NdArray> {
        self.expect_readable("to_degrees", Argument::X)?;
        self.times(DEGREES).eval_as("to_degrees")
    }

    /// [`to_degrees`](Self::to_degrees) in place.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Cast`] for an array of integers.
    #[track_caller]
    pub fn to_degreesi(&self) -> Result<&Self> {
        self.expect_readable("to_degreesi", Argument::Z)?;
        self.expect_storable("to_degreesi", float_of(self.dtype()))?;
        self.times(DEGREES).eval_into_as("to_degreesi", self)?;
        Ok(self)
    }

    /// [`to_degrees`](Self::to_degrees) into an array of this shape.
    ///
    /// # Errors
    /// As [`to_degrees`](Self::to_degrees); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn to_degrees_into(&self, out: &NdArray) -> Result<()> {
        self.expect_readable("to_degrees_into", Argument::X)?;
        out.expect_readable("to_degrees_into", Argument::Z)?;
        self.times(DEGREES).eval_into_as("to_degrees_into", out)
    }

    /// A mask that is true where the sign is minus: also that of -0.0 and of NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([-0.0f32, 0.0, -3.0]);
    /// assert_eq!(a.sign_bit()?.to_vec::<bool>()?, [true, false, true]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "signbit")]
    #[track_caller]
    pub fn sign_bit(&self) -> Result<NdArray> {
        let (op, watch) = ("sign_bit", Watch::start());
        self.expect_readable(op, Argument::X)?;
        let made = match self.dtype() {
            DType::F64 => self.map(|x: f64| Bool::from(x.is_sign_negative())),
            dtype if dtype.is_float() => {
                let wide = self.cast(DType::F32)?;
                wide.map(|x: f32| Bool::from(x.is_sign_negative()))
            }
            dtype if dtype.is_signed() => self.less(0),
            _ => NdArray::zeros_of(DType::Bool, self.shape().clone()),
        };
        watch.made(op, &[self], made)
    }

    /// [`sign_bit`](Self::sign_bit) into a bool array of this shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`sign_bit`](Self::sign_bit); [`ArrayErrorKind::OutputShape`] when `out` does not fit.
    #[track_caller]
    pub fn sign_bit_into(&self, out: &NdArray) -> Result<()> {
        out.store("sign_bit_into", &[self], || self.sign_bit())
    }

    /// The distance of this element from zero with the sign of the other, which may be that of -0.0 or NaN; of integers, f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f64, -2.0]).copysign(&NdArray::from([-0.0f64, 5.0]))?;
    /// assert_eq!(a, NdArray::from([-1.0f64, 2.0]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn copysign<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        let (narrow, wide) = (f32::copysign, f64::copysign);
        self.of_floats("copysign", rhs.into(), narrow, wide)
    }

    /// [`copysign`](Self::copysign) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`copysign`](Self::copysign); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn copysign_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        let rhs = rhs.into();
        out.store("copysign_into", &with(self, rhs), || self.copysign(rhs))
    }

    /// The larger of this element and the other, or the one that is not NaN: [`maximum`](Self::maximum) without its NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f64, f64::NAN]).fmax(&NdArray::from([f64::NAN, 5.0]))?;
    /// assert_eq!(a, NdArray::from([1.0f64, 5.0]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn fmax<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        let rhs = rhs.into();
        if !promoted(self.dtype(), &rhs).is_float() {
            return self.binary(BinaryOp::Max, rhs);
        }
        let narrow = |x: f32, y: f32| if x >= y || y.is_nan() { x } else { y };
        let wide = |x: f64, y: f64| if x >= y || y.is_nan() { x } else { y };
        self.of_floats("fmax", rhs, narrow, wide)
    }

    /// [`fmax`](Self::fmax) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`fmax`](Self::fmax); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn fmax_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        let rhs = rhs.into();
        out.store("fmax_into", &with(self, rhs), || self.fmax(rhs))
    }

    /// The smaller of this element and the other, or the one that is not NaN: [`minimum`](Self::minimum) without its NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f64, f64::NAN]).fmin(0.5)?;
    /// assert_eq!(a, NdArray::from([0.5f64, 0.5]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn fmin<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        let rhs = rhs.into();
        if !promoted(self.dtype(), &rhs).is_float() {
            return self.binary(BinaryOp::Min, rhs);
        }
        let narrow = |x: f32, y: f32| if x <= y || y.is_nan() { x } else { y };
        let wide = |x: f64, y: f64| if x <= y || y.is_nan() { x } else { y };
        self.of_floats("fmin", rhs, narrow, wide)
    }

    /// [`fmin`](Self::fmin) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`fmin`](Self::fmin); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn fmin_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        let rhs = rhs.into();
        out.store("fmin_into", &with(self, rhs), || self.fmin(rhs))
    }

    /// A copy with numbers in place of NaN and of both infinities; without one, infinity becomes the largest number of the
    /// dtype and minus infinity the smallest. Integers stay as they are.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f64, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    /// let b = a.replace_not_finite(0.0, Some(9.0), None)?;
    /// assert_eq!(b, NdArray::from([1.0f64, 0.0, 9.0, f64::MIN]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "nan_to_num")]
    #[track_caller]
    pub fn replace_not_finite(
        &self,
        nan: f64,
        infinity: Option<f64>,
        minus_infinity: Option<f64>,
    ) -> Result<NdArray> {
        let (op, watch) = ("replace_not_finite", Watch::start());
        self.expect_readable(op, Argument::X)?;
        let largest = match self.dtype() {
            DType::F16 => f64::from(f16::MAX),
            DType::BF16 => f64::from(bf16::MAX),
            DType::F32 => f64::from(f32::MAX),
            DType::F64 => f64::MAX,
            _ => return watch.made(op, &[self], self.dup()),
        };
        let (up, down) = (
            infinity.unwrap_or(largest),
            minus_infinity.unwrap_or(-largest),
        );
        let wide = self.cast(widened(self.dtype()))?;
        let made = match wide.dtype() {
            DType::F64 => wide.map(move |x: f64| {
                let known = if x.is_nan() { nan } else { x };
                let bounded = if x == f64::INFINITY { up } else { known };
                if x == f64::NEG_INFINITY {
                    down
                } else {
                    bounded
                }
            }),
            _ => {
                let [nan, up, down] = [nan, up, down].map(|number| number as f32);
                wide.map(move |x: f32| {
                    let known = if x.is_nan() { nan } else { x };
                    let bounded = if x == f32::INFINITY { up } else { known };
                    if x == f32::NEG_INFINITY {
                        down
                    } else {
                        bounded
                    }
                })
            }
        };
        watch.made(op, &[self], made?.cast(self.dtype()))
    }

    /// [`replace_not_finite`](Self::replace_not_finite) into an array of this shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`replace_not_finite`](Self::replace_not_finite); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn replace_not_finite_into(
        &self,
        nan: f64,
        infinity: Option<f64>,
        minus_infinity: Option<f64>,
        out: &NdArray,
    ) -> Result<()> {
        out.store("replace_not_finite_into", &[self], || {
            self.replace_not_finite(nan, infinity, minus_infinity)
        })
    }

    /// The elements times a number, as floats.
    fn times(&self, factor: f64) -> crate::lazy::Lazy<'_> {
        (self.widened() * factor).cast(float_of(self.dtype()))
    }

    /// A function of two floats, of the elements as floats: half precision is computed in f32.
    #[track_caller]
    fn of_floats(
        &self,
        op: &'static str,
        rhs: Arg<'_>,
        narrow: impl Fn(f32, f32) -> f32 + Sync,
        wide: impl Fn(f64, f64) -> f64 + Sync,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable(op, Argument::X)?;
        let dtype = float_of(promoted(self.dtype(), &rhs));
        let (x, mut inputs) = (self.cast(widened(dtype))?, vec![self]);
        let y = match rhs {
            Arg::Array(array) => {
                array.expect_readable(op, Argument::Y)?;
                self.broadcast_with(op, array)?;
                inputs.push(array);
                array.cast(x.dtype())?
            }
            Arg::Scalar(number) => NdArray::full_of(x.dtype(), (), number)?,
        };
        let made = match x.dtype() {
            DType::F64 => NdArray::zip_map([&x, &y], wide),
            _ => NdArray::zip_map([&x, &y], narrow),
        };
        watch.made(op, &inputs, made?.cast(dtype))
    }
}
