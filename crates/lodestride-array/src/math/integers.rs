//! Functions of two whole numbers: divisors, multiples, quotients with their remainders.

use lodestride_buffer::{Argument, DType, Scalar};

use crate::NdArray;
use crate::arg::{Arg, with};
use crate::checks::Watch;
use crate::compute::promoted;
use crate::error::{ArrayError, ArrayErrorKind, Result, expect_within};

impl NdArray {
    /// The largest number that divides this element and the other; 0 and 0 give 0.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for floats and bool, [`ArrayErrorKind::Broadcast`] when the shapes do not
    /// broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([12i32, -18, 0]).gcd(8)?, NdArray::from([4i32, 2, 8]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn gcd<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        let watch = Watch::start();
        let [x, y] = self.wide_with("gcd", rhs.into())?;
        let made = match x.wide.dtype() {
            DType::U64 => NdArray::zip_map([&x.wide, &y.wide], divisor),
            _ => NdArray::zip_map([&x.wide, &y.wide], |x: i64, y: i64| {
                divisor(x.unsigned_abs(), y.unsigned_abs()) as i64
            }),
        };
        watch.made("gcd", &[&x.wide, &y.wide], made?.cast(x.dtype))
    }

    /// [`gcd`](Self::gcd) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`gcd`](Self::gcd); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn gcd_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        let rhs = rhs.into();
        out.store("gcd_into", &with(self, rhs), || self.gcd(rhs))
    }

    /// The smallest number that this element and the other divide; 0 where either is 0. What the dtype cannot hold wraps.
    ///
    /// # Errors
    /// As [`gcd`](Self::gcd).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([4i32, 6, 0]).lcm(6)?, NdArray::from([12i32, 6, 0]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn lcm<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        let watch = Watch::start();
        let [x, y] = self.wide_with("lcm", rhs.into())?;
        let made = match x.wide.dtype() {
            DType::U64 => NdArray::zip_map([&x.wide, &y.wide], multiple),
            _ => NdArray::zip_map([&x.wide, &y.wide], |x: i64, y: i64| {
                multiple(x.unsigned_abs(), y.unsigned_abs()) as i64
            }),
        };
        watch.made("lcm", &[&x.wide, &y.wide], made?.cast(x.dtype))
    }

    /// [`lcm`](Self::lcm) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`lcm`](Self::lcm); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn lcm_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        let rhs = rhs.into();
        out.store("lcm_into", &with(self, rhs), || self.lcm(rhs))
    }

    /// The quotient rounded down and what is left, which has the sign of the divisor: [`floor_div`](Self::floor_div) and
    /// [`modulo`](Self::modulo).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast, [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (quotient, rest) = NdArray::from([7i32, -7]).div_mod(3)?;
    /// assert_eq!((quotient, rest), (NdArray::from([2i32, -3]), NdArray::from([1i32, 2])));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "divmod")]
    #[track_caller]
    pub fn div_mod<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<(NdArray, NdArray)> {
        let (op, rhs, watch) = ("div_mod", rhs.into(), Watch::start());
        self.expect_readable(op, Argument::X)?;
        let mut inputs = vec![self];
        if let Arg::Array(array) = rhs {
            array.expect_readable(op, Argument::Y)?;
            self.broadcast_with(op, array)?;
            inputs.push(array);
        }
        let made = Ok((self.floor_div(rhs)?, self.modulo(rhs)?));
        watch.made(op, &inputs, made)
    }

    /// [`div_mod`](Self::div_mod) into two arrays of the result's shape that share no memory: both are made elsewhere and
    /// copied there.
    ///
    /// # Errors
    /// As [`div_mod`](Self::div_mod); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when one does not fit,
    /// [`ArrayErrorKind::Operands`] when they share memory. Neither is written then.
    #[track_caller]
    pub fn div_mod_into<'a>(
        &self,
        rhs: impl Into<Arg<'a>>,
        quotient: &NdArray,
        rest: &NdArray,
    ) -> Result<()> {
        let rhs = rhs.into();
        NdArray::store_both([quotient, rest], "div_mod_into", &with(self, rhs), || {
            self.div_mod(rhs)
        })
    }

    /// This array and another operand as the widest integers of their kind, and the dtype the result has.
    #[track_caller]
    fn wide_with(&self, op: &'static str, rhs: Arg<'_>) -> Result<[Wide; 2]> {
        self.expect_readable(op, Argument::X)?;
        let dtype = promoted(self.dtype(), &rhs);
        if dtype.is_float() || dtype == DType::Bool {
            return Err(ArrayError::new(ArrayErrorKind::UnsupportedDType {
                op,
                dtype,
            }));
        }
        let widest = if dtype.is_signed() {
            DType::I64
        } else {
            DType::U64
        };
        let wide = match rhs {
            Arg::Array(array) => {
                array.expect_readable(op, Argument::Y)?;
                self.broadcast_with(op, array)?;
                array.cast(widest)?
            }
            Arg::Scalar(number) => {
                if widest == DType::U64 && !matches!(number, Scalar::UInt(_)) {
                    expect_within(op, "number", number.as_f64(), (0.0, f64::INFINITY))?;
                }
                NdArray::full_of(widest, (), number)?
            }
        };
        let own = self.cast(widest)?;
        Ok([own, wide].map(|wide| Wide { wide, dtype }))
    }
}

struct Wide {
    wide: NdArray,
    dtype: DType,
}

fn divisor(mut x: u64, mut y: u64) -> u64 {
    while y != 0 {
        (x, y) = (y, x % y);
    }
    x
}

fn multiple(x: u64, y: u64) -> u64 {
    match divisor(x, y) {
        0 => 0,
        common => (x / common).wrapping_mul(y),
    }
}
