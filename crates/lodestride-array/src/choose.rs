//! Elements chosen by a mask or kept within limits.

use lodestride_buffer::{Argument, DType, Scalar};
use lodestride_kernels::{self as kernels, BinaryOp, Input};
use lodestride_shape::Shape;
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::{Watch, watched};
use crate::compute::promoted;
use crate::error::{OrFail, Result};
use crate::target::Target;

impl NdArray {
    /// The elements of `a` where this mask is true, those of `b` elsewhere; all three broadcast.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([-1.0f32, 2.0, -3.0]);
    /// let positive = a.greater(0.0)?.select(&a, 0.0)?;
    /// assert_eq!(positive.to_vec::<f32>()?, [0.0, 2.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "where")]
    #[track_caller]
    pub fn select<'a, 'b>(&self, a: impl Into<Arg<'a>>, b: impl Into<Arg<'b>>) -> Result<NdArray> {
        self.select_to("select", &a.into(), &b.into(), Target::Kept)
    }

    /// [`select`](Self::select) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`select`](Self::select); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn select_into<'a, 'b>(
        &self,
        a: impl Into<Arg<'a>>,
        b: impl Into<Arg<'b>>,
        out: &NdArray,
    ) -> Result<()> {
        let (a, b) = (a.into(), b.into());
        self.select_to("select_into", &a, &b, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    pub(crate) fn select_to(
        &self,
        op: &'static str,
        a: &Arg<'_>,
        b: &Arg<'_>,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let dtype = match (a, b) {
            (Arg::Array(a), b) => promoted(a.dtype(), b),
            (Arg::Scalar(_), Arg::Array(b)) => promoted(b.dtype(), a),
            (Arg::Scalar(a), Arg::Scalar(b)) => weak_dtype(*a).promote_scalar(b.kind()),
        };
        let mut shape = self.shape().clone();
        let mut inputs = SmallVec::<[&NdArray; 3]>::from_slice(&[self]);
        for arg in [a, b] {
            if let Arg::Array(array) = arg {
                let stretched = self.with_shape_only(&shape);
                shape = stretched
                    .unwrap_or_else(|| self.clone())
                    .broadcast_with(op, array)?;
                inputs.push(array);
            }
        }
        target.fill(op, dtype, shape, &inputs, |out| {
            let mask = self.broadcast_into(op, out)?;
            let (a, b) = (a.broadcast_into(op, out)?, b.broadcast_into(op, out)?);
            kernels::select(mask.operand().into(), a.input(), b.input(), out.operand()).or_fail(op)
        })
    }

    /// This array stretched to a shape, if it reaches it.
    fn with_shape_only(&self, shape: &Shape) -> Option<NdArray> {
        self.layout()
            .broadcast_to(shape)
            .ok()
            .map(|layout| self.with_layout(layout))
    }

    /// The elements limited to the range from `low` to `high`, numbers or arrays that broadcast; NaN stays NaN, and a limit that
    /// is NaN in an array makes NaN.
    ///
    /// [`maximum`](Self::maximum) and [`minimum`](Self::minimum) have one limit only.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for bool arrays,
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([-5i32, 0, 5]);
    /// assert_eq!(a.clip(-1, 2)?.to_vec::<i32>()?, [-1, 0, 2]);
    /// assert_eq!(a.clip(&NdArray::from([-9i32, 1, 1]), 4)?.to_vec::<i32>()?, [-5, 1, 4]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "clipByValue")]
    #[track_caller]
    pub fn clip<'a, 'b>(
        &self,
        low: impl Into<Arg<'a>>,
        high: impl Into<Arg<'b>>,
    ) -> Result<NdArray> {
        let (low, high) = match (low.into(), high.into()) {
            (Arg::Scalar(low), Arg::Scalar(high)) => (low, high),
            (low, high) => {
                let watch = Watch::start();
                let made = self.above("clip", low, high)?.binary(BinaryOp::Min, high);
                return watch.made("clip", &self.and_limits(low, high), made);
            }
        };
        let dtype = self.clipped_dtype(low, high);
        let out = self.recycled_like("clip", dtype)?;
        let run = || kernels::clip(self.operand().into(), low, high, out.operand());
        watched("clip", &[self], &out, run)?;
        Ok(out)
    }

    /// [`clip`](Self::clip) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`clip`](Self::clip); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn clip_into<'a, 'b>(
        &self,
        low: impl Into<Arg<'a>>,
        high: impl Into<Arg<'b>>,
        out: &NdArray,
    ) -> Result<()> {
        let (low, high) = match (low.into(), high.into()) {
            (Arg::Scalar(low), Arg::Scalar(high)) => (low, high),
            (low, high) => return self.clip_between("clip_into", low, high, out),
        };
        out.expect_output("clip_into", self.shape(), self.clipped_dtype(low, high))?;
        let run = || kernels::clip(self.operand().into(), low, high, out.operand());
        watched("clip_into", &[self], out, run)
    }

    /// [`clip`](Self::clip) in place; only the limits broadcast.
    ///
    /// # Errors
    /// As [`clip`](Self::clip); [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) for float limits of an integer array.
    #[track_caller]
    pub fn clipi<'a, 'b>(
        &self,
        low: impl Into<Arg<'a>>,
        high: impl Into<Arg<'b>>,
    ) -> Result<&Self> {
        let (low, high) = match (low.into(), high.into()) {
            (Arg::Scalar(low), Arg::Scalar(high)) => (low, high),
            (low, high) => {
                self.clip_between("clipi", low, high, self)?;
                return Ok(self);
            }
        };
        self.expect_storable("clipi", self.clipped_dtype(low, high))?;
        let run = || kernels::clip(self.operand().into(), low, high, self.operand());
        watched("clipi", &[], self, run)?;
        Ok(self)
    }

    fn clipped_dtype(&self, low: Scalar, high: Scalar) -> DType {
        let dtype = self.dtype().promote_scalar(low.kind());
        dtype.promote_scalar(high.kind())
    }

    /// The elements not below the limits of an array, when it is certain that the other limit can be applied too.
    #[track_caller]
    fn above(&self, op: &'static str, low: Arg<'_>, high: Arg<'_>) -> Result<NdArray> {
        let places = [Argument::Y, Argument::Input(2)];
        self.expect_readable(op, Argument::X)?;
        for (limit, place) in [low, high].into_iter().zip(places) {
            if let Some(limit) = limit.array() {
                limit.expect_readable(op, place)?;
                self.broadcast_with(op, limit)?;
            }
        }
        self.binary(BinaryOp::Max, low)
    }

    #[track_caller]
    fn clip_between(
        &self,
        op: &'static str,
        low: Arg<'_>,
        high: Arg<'_>,
        out: &NdArray,
    ) -> Result<()> {
        let watch = Watch::start();
        out.expect_readable(op, Argument::Z)?;
        let made = self.above(op, low, high)?;
        let done = made.binary_into(BinaryOp::Min, op, high, out).map(|()| out);
        watch.made(op, &self.and_limits(low, high), done).map(drop)
    }

    /// The arrays that are read.
    fn and_limits<'s>(&'s self, low: Arg<'s>, high: Arg<'s>) -> SmallVec<[&'s NdArray; 3]> {
        let limits = [low, high].into_iter().filter_map(|limit| limit.array());
        [self].into_iter().chain(limits).collect()
    }
}

/// The dtype of an array made of a plain number alone.
pub(crate) fn weak_dtype(number: Scalar) -> DType {
    match number {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::I64,
        Scalar::UInt(_) => DType::U64,
        Scalar::Float(_) => DType::default(),
    }
}

/// An operand that has the output's shape: a stretched view, or a number.
pub(crate) enum Stretched {
    Array(NdArray),
    Scalar(Scalar),
}

impl Stretched {
    pub(crate) fn input(&self) -> Input<'_> {
        match self {
            Self::Array(array) => array.operand().into(),
            Self::Scalar(number) => (*number).into(),
        }
    }
}

impl Arg<'_> {
    #[track_caller]
    pub(crate) fn broadcast_into(&self, op: &'static str, target: &NdArray) -> Result<Stretched> {
        match self {
            Arg::Array(array) => array.broadcast_into(op, target).map(Stretched::Array),
            Arg::Scalar(number) => Ok(Stretched::Scalar(*number)),
        }
    }
}
