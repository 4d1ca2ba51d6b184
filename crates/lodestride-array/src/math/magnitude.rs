//! The one of two elements that is further from zero or nearer to it, with its sign: IEEE 754's `maximumMagnitude` and
//! `minimumMagnitude`. What gives the magnitude itself is in `pairs`.

use lodestride_buffer::Argument;
use lodestride_kernels::BinaryOp;

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::Watch;
use crate::compute::{promoted, result_dtype};
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;
use crate::lazy::Lazy;
use crate::target::Target;

impl NdArray {
    /// The element of the larger magnitude, with its sign; of two like 2 and -2 the positive one; NaN where either is NaN.
    ///
    /// [`abs_maximum`](Self::abs_maximum) gives the magnitude.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast, [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, -5.0, 2.0]);
    /// assert_eq!(a.maximum_magnitude(&NdArray::from([-3.0f32, 4.0, -2.0]))?.to_vec::<f32>()?, [-3.0, -5.0, 2.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "BroadcastAMax")]
    #[doc(alias = "MaxAbs")]
    #[track_caller]
    pub fn maximum_magnitude<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.by_magnitude(
            "maximum_magnitude",
            BinaryOp::AbsMax,
            rhs.into(),
            Target::New,
        )
    }

    /// [`maximum_magnitude`](Self::maximum_magnitude) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn maximum_magnitudei<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.by_magnitude_in_place("maximum_magnitudei", BinaryOp::AbsMax, rhs.into())
    }

    /// [`maximum_magnitude`](Self::maximum_magnitude) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`maximum_magnitude`](Self::maximum_magnitude); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn maximum_magnitude_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        let (op, target) = ("maximum_magnitude_into", Target::Into(out));
        out.expect_readable(op, Argument::Z)?;
        self.by_magnitude(op, BinaryOp::AbsMax, rhs.into(), target)
            .map(drop)
    }

    /// The element of the smaller magnitude, with its sign; of two like 2 and -2 the negative one; NaN where either is NaN.
    ///
    /// [`abs_minimum`](Self::abs_minimum) gives the magnitude.
    ///
    /// # Errors
    /// As [`maximum_magnitude`](Self::maximum_magnitude).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([-1i32, -5, 2]).minimum_magnitude(3)?.to_vec::<i32>()?, [-1, 3, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "BroadcastAMin")]
    #[doc(alias = "MinAbs")]
    #[track_caller]
    pub fn minimum_magnitude<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.by_magnitude(
            "minimum_magnitude",
            BinaryOp::AbsMin,
            rhs.into(),
            Target::New,
        )
    }

    /// [`minimum_magnitude`](Self::minimum_magnitude) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// As [`maximum_magnitudei`](Self::maximum_magnitudei).
    #[track_caller]
    pub fn minimum_magnitudei<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.by_magnitude_in_place("minimum_magnitudei", BinaryOp::AbsMin, rhs.into())
    }

    /// [`minimum_magnitude`](Self::minimum_magnitude) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`maximum_magnitude_into`](Self::maximum_magnitude_into).
    #[track_caller]
    pub fn minimum_magnitude_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        let (op, target) = ("minimum_magnitude_into", Target::Into(out));
        out.expect_readable(op, Argument::Z)?;
        self.by_magnitude(op, BinaryOp::AbsMin, rhs.into(), target)
            .map(drop)
    }

    /// The larger of both or the smaller, whichever `rule` finds further from zero or nearer to it.
    #[track_caller]
    fn by_magnitude<'a>(
        &'a self,
        op: &'static str,
        rule: BinaryOp,
        rhs: Arg<'a>,
        target: Target<'_>,
    ) -> Result<NdArray> {
        self.expect_readable(op, Argument::X)?;
        if let Arg::Array(rhs) = rhs {
            rhs.expect_readable(op, Argument::Y)?;
            self.broadcast_with(op, rhs)?;
        }
        let dtype = promoted(self.dtype(), &rhs);
        result_dtype(op, dtype, rule.result_dtype(dtype))?;
        let with = |rule| match rhs {
            Arg::Array(rhs) => self.lazy().apply_with(rule, rhs),
            Arg::Scalar(rhs) => self.lazy().apply_with(rule, rhs),
        };
        let (high, low) = (with(BinaryOp::Max), with(BinaryOp::Min));
        let (first, second, nearer) = match rule {
            BinaryOp::AbsMax => (high, low, BinaryOp::Le),
            _ => (low, high, BinaryOp::Ge),
        };
        let watch = Watch::start();
        if !dtype.is_signed() {
            let made = match target {
                Target::New | Target::Kept => first.eval_as(op),
                Target::Into(out) => first.eval_into_as(op, out).map(|()| out.clone()),
            };
            return watch.made(op, &[self], made);
        }
        // Minus the distance from zero, which the smallest integer has too.
        let minus = |x: &Lazy<'a>| x.clone().apply_with(BinaryOp::Min, -x.clone());
        let mask = minus(&first).apply_with(nearer, minus(&second));
        let [first, second] = [first.eval_as(op)?, second.eval_as(op)?];
        let (first, second) = (Arg::Array(&first), Arg::Array(&second));
        let made = mask.eval_as(op)?.select_to(op, &first, &second, target);
        watch.made(op, &[self], made)
    }

    #[track_caller]
    fn by_magnitude_in_place(
        &self,
        op: &'static str,
        rule: BinaryOp,
        rhs: Arg<'_>,
    ) -> Result<&Self> {
        self.expect_readable(op, Argument::Z)?;
        if let Arg::Array(rhs) = rhs {
            rhs.expect_readable(op, Argument::Y)?;
        }
        rhs.broadcast_into(op, self)?;
        self.by_magnitude(op, rule, rhs, Target::Into(self))?;
        Ok(self)
    }
}
