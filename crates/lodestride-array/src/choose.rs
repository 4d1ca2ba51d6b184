//! Elements chosen by a mask or kept within limits.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{self as kernels, Input};
use lodestride_shape::{Order, Shape};
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::watched;
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
        self.select_to("select", &a.into(), &b.into(), Target::New)
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

    /// The elements limited to the range from `low` to `high`; NaN stays NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for bool arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([-5i32, 0, 5]).clip(-1, 2)?;
    /// assert_eq!(a.to_vec::<i32>()?, [-1, 0, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "clipByValue")]
    #[track_caller]
    pub fn clip(&self, low: impl Into<Scalar>, high: impl Into<Scalar>) -> Result<NdArray> {
        let (low, high) = (low.into(), high.into());
        let dtype = self
            .dtype()
            .promote_scalar(low.kind())
            .promote_scalar(high.kind());
        let out = self.recycled_like("clip", dtype, self.order().unwrap_or(Order::C))?;
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
    pub fn clip_into(
        &self,
        low: impl Into<Scalar>,
        high: impl Into<Scalar>,
        out: &NdArray,
    ) -> Result<()> {
        let (low, high) = (low.into(), high.into());
        let dtype = self
            .dtype()
            .promote_scalar(low.kind())
            .promote_scalar(high.kind());
        out.expect_output("clip_into", self.shape(), dtype)?;
        let run = || kernels::clip(self.operand().into(), low, high, out.operand());
        watched("clip_into", &[self], out, run)
    }

    /// [`clip`](Self::clip) in place.
    ///
    /// # Errors
    /// As [`clip`](Self::clip); [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) for float limits of an integer array.
    #[track_caller]
    pub fn clipi(&self, low: impl Into<Scalar>, high: impl Into<Scalar>) -> Result<&Self> {
        let (low, high) = (low.into(), high.into());
        self.expect_storable(
            "clipi",
            self.dtype()
                .promote_scalar(low.kind())
                .promote_scalar(high.kind()),
        )?;
        let run = || kernels::clip(self.operand().into(), low, high, self.operand());
        watched("clipi", &[], self, run)?;
        Ok(self)
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
