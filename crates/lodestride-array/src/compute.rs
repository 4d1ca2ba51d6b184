//! The one path of every elementwise op: dtypes, broadcasting, output, kernel.
//!
//! The public methods (`arithmetic`, `compare`, `math`) are one line each on top of these.

use lodestride_buffer::{Argument, Buffer, DType};
use lodestride_kernels::{self as kernels, BinaryOp, Input, KernelError, Operand, Output, UnaryOp};
use lodestride_shape::{Layout, Shape, broadcast_shapes};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::{self, Watch, watched};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};
use crate::kept::kept_among;

/// The dtype two operands are computed in: NumPy's promotion, in which plain numbers are weak.
#[inline]
pub(crate) fn promoted(lhs: DType, rhs: &Arg<'_>) -> DType {
    match rhs {
        Arg::Array(rhs) => lhs.promote(rhs.dtype()),
        Arg::Scalar(rhs) => lhs.promote_scalar(rhs.kind()),
    }
}

/// Whether results of one dtype may be stored in an array of another without losing more than precision: NumPy's
/// "same kind" rule, bool < unsigned < signed < float.
#[inline]
fn may_store(from: DType, to: DType) -> bool {
    let kind = |dtype: DType| match dtype {
        DType::Bool => 0,
        dtype if dtype.is_float() => 3,
        dtype if dtype.is_signed() => 2,
        _ => 1,
    };
    kind(from) <= kind(to)
}

#[inline]
#[track_caller]
pub(crate) fn result_dtype(op: &'static str, input: DType, result: Option<DType>) -> Result<DType> {
    match result {
        Some(result) => Ok(result),
        None => Err(ArrayError::new(ArrayErrorKind::UnsupportedDType {
            op,
            dtype: input,
        })),
    }
}

impl NdArray {
    #[track_caller]
    pub(crate) fn unary(&self, op: UnaryOp) -> Result<NdArray> {
        if checks::are_on() {
            let watch = Watch::start();
            return watch.made(op.name(), &[self], self.unwatched_unary(op));
        }
        self.unwatched_unary(op)
    }

    #[track_caller]
    fn unwatched_unary(&self, op: UnaryOp) -> Result<NdArray> {
        let dtype = result_dtype(op.name(), self.dtype(), op.result_dtype(self.dtype()))?;
        let mut place = None;
        let layout = self.layout().kept(&mut place);
        NdArray::filled_by(op.name(), layout, dtype, |out| {
            kernels::unary(op, self.operand().into(), out)
        })
    }

    #[track_caller]
    pub(crate) fn unary_in_place(&self, op: UnaryOp, name: &'static str) -> Result<&Self> {
        let dtype = result_dtype(name, self.dtype(), op.result_dtype(self.dtype()))?;
        self.expect_storable(name, dtype)?;
        let run = || kernels::unary(op, self.operand().into(), self.operand());
        watched(name, &[], self, run)?;
        Ok(self)
    }

    #[track_caller]
    pub(crate) fn unary_into(&self, op: UnaryOp, name: &'static str, out: &NdArray) -> Result<()> {
        let dtype = result_dtype(name, self.dtype(), op.result_dtype(self.dtype()))?;
        out.expect_output(name, self.shape(), dtype)?;
        let run = || kernels::unary(op, self.operand().into(), out.operand());
        watched(name, &[self], out, run)
    }

    #[track_caller]
    pub(crate) fn binary(&self, op: BinaryOp, rhs: Arg<'_>) -> Result<NdArray> {
        if let Arg::Array(rhs) = rhs
            && let Some(packed) = self.packed_with(op, rhs)
        {
            let (n, dtype) = (self.len(), packed.result());
            if let Ok(buffer) = Buffer::recycled(n * dtype.size()) {
                let mut made = NdArray::whole(buffer, self.layout().clone(), dtype);
                let run = |out| packed.run(n, self.buffer(), rhs.buffer(), out);
                if made.write_sole().is_ok_and(run) {
                    return Ok(made);
                }
            }
        }
        match rhs {
            Arg::Array(rhs) => self.binary_with_rows(op, rhs),
            Arg::Scalar(_) => self.binary_of_any(op, rhs),
        }
    }

    #[track_caller]
    pub(crate) fn binary_of_any(&self, op: BinaryOp, rhs: Arg<'_>) -> Result<NdArray> {
        if let Some(packed) = self.packed_beside(op, rhs) {
            let (n, dtype) = (self.len(), packed.operation().result());
            if let Ok(buffer) = Buffer::recycled(n * dtype.size()) {
                let mut made = NdArray::whole(buffer, self.layout().clone(), dtype);
                let run = |out| packed.run(n, self.buffer(), out);
                if made.write_sole().is_ok_and(run) {
                    return Ok(made);
                }
            }
        }
        if checks::are_on() {
            let watch = Watch::start();
            let made = self.unwatched_binary(op, rhs);
            return match rhs {
                Arg::Array(rhs) => watch.made(op.name(), &[self, rhs], made),
                Arg::Scalar(_) => watch.made(op.name(), &[self], made),
            };
        }
        // No result is moved on this way, which is the usual one.
        self.unwatched_binary(op, rhs)
    }

    #[track_caller]
    fn unwatched_binary(&self, op: BinaryOp, rhs: Arg<'_>) -> Result<NdArray> {
        let input = promoted(self.dtype(), &rhs);
        let dtype = result_dtype(op.name(), input, op.result_dtype(input))?;
        match rhs {
            Arg::Array(rhs) if rhs.shape() != self.shape() => {
                let layout = self.broadcast_layout(op.name(), rhs)?;
                NdArray::filled_by(op.name(), &layout, dtype, |out| {
                    self.run_broadcast(op, rhs, layout.shape(), out)
                })
            }
            Arg::Array(rhs) => {
                let mut place = None;
                let layout = kept_among(op.name(), self, &[self, rhs], &mut place)?;
                self.binary_same_shape(op, Input::from(rhs.operand()), dtype, layout)
            }
            Arg::Scalar(rhs) => {
                let mut place = None;
                let layout = self.layout().kept(&mut place);
                self.binary_same_shape(op, Input::from(rhs), dtype, layout)
            }
        }
    }

    // Inlined, so that operands are made where they are used.
    #[inline(always)]
    #[track_caller]
    fn binary_same_shape(
        &self,
        op: BinaryOp,
        rhs: Input<'_>,
        dtype: DType,
        layout: &Layout,
    ) -> Result<NdArray> {
        NdArray::filled_by(op.name(), layout, dtype, |out| {
            kernels::binary(op, self.operand().into(), rhs, out)
        })
    }

    #[track_caller]
    pub(crate) fn binary_in_place(
        &self,
        op: BinaryOp,
        name: &'static str,
        rhs: Arg<'_>,
    ) -> Result<&Self> {
        if let Arg::Array(rhs) = rhs
            && let Some(packed) = self.packed_with(op, rhs)
            && packed.run_in_place(self.len(), self.buffer(), rhs.buffer())
        {
            return Ok(self);
        }
        self.binary_of_any_in_place(op, name, rhs)
    }

    #[track_caller]
    fn binary_of_any_in_place(
        &self,
        op: BinaryOp,
        name: &'static str,
        rhs: Arg<'_>,
    ) -> Result<&Self> {
        if let Some(packed) = self.packed_beside(op, rhs)
            && packed.run_in_place(self.len(), self.buffer())
        {
            return Ok(self);
        }
        if let Arg::Array(rhs) = rhs
            && let Some(packed) = self.packed_rows(op, rhs)
            && packed.run_in_place(self.buffer(), rhs.buffer())
        {
            return Ok(self);
        }
        let input = promoted(self.dtype(), &rhs);
        self.expect_storable(name, result_dtype(name, input, op.result_dtype(input))?)?;
        match rhs {
            Arg::Array(rhs) if rhs.shape() != self.shape() => {
                let layout = rhs.stretched(name, self)?;
                let y = rhs.operand_as(&layout);
                let run = || kernels::binary(op, self.operand().into(), y.into(), self.operand());
                watched(name, &[rhs], self, run)?;
            }
            Arg::Array(rhs) => {
                let x = self.operand();
                let run = || kernels::binary(op, x.into(), rhs.operand().into(), x);
                watched(name, &[rhs], self, run)?;
            }
            Arg::Scalar(rhs) => {
                let x = self.operand();
                watched(name, &[], self, || {
                    kernels::binary(op, x.into(), rhs.into(), x)
                })?;
            }
        }
        Ok(self)
    }

    #[track_caller]
    pub(crate) fn binary_into(
        &self,
        op: BinaryOp,
        name: &'static str,
        rhs: Arg<'_>,
        out: &NdArray,
    ) -> Result<()> {
        if let Arg::Array(rhs) = rhs
            && let Some(packed) = self.packed_with(op, rhs)
            && packed.result() == out.dtype()
            && self.layout().is_packed_like(out.layout())
            && packed.run_into(self.len(), self.buffer(), rhs.buffer(), out.buffer())
        {
            return Ok(());
        }
        if let Some(packed) = self.packed_beside(op, rhs)
            && packed.operation().result() == out.dtype()
            && self.layout().is_packed_like(out.layout())
            && packed.run_into(self.len(), self.buffer(), out.buffer())
        {
            return Ok(());
        }
        if let Arg::Array(rhs) = rhs
            && let Some(packed) = self.packed_rows(op, rhs)
            && packed.operation().result() == out.dtype()
            && self.layout().is_packed_like(out.layout())
            && packed.run_into(self.buffer(), rhs.buffer(), out.buffer())
        {
            return Ok(());
        }
        let input = promoted(self.dtype(), &rhs);
        let dtype = result_dtype(name, input, op.result_dtype(input))?;
        match rhs {
            Arg::Array(rhs) if rhs.shape() != self.shape() => {
                let shape = self.broadcast_with(name, rhs)?;
                out.expect_output(name, &shape, dtype)?;
                let run = || self.run_broadcast(op, rhs, &shape, out.operand());
                watched(name, &[self, rhs], out, run)
            }
            Arg::Array(rhs) => {
                out.expect_output(name, self.shape(), dtype)?;
                let (x, y) = (self.operand(), rhs.operand());
                let run = || kernels::binary(op, x.into(), y.into(), out.operand());
                watched(name, &[self, rhs], out, run)
            }
            Arg::Scalar(rhs) => {
                out.expect_output(name, self.shape(), dtype)?;
                let run = || kernels::binary(op, self.operand().into(), rhs.into(), out.operand());
                watched(name, &[self], out, run)
            }
        }
    }

    /// The op with both sides stretched to the output's shape, which they are known to reach.
    fn run_broadcast<'o>(
        &'o self,
        op: BinaryOp,
        rhs: &'o NdArray,
        shape: &Shape,
        out: impl Into<Output<'o>>,
    ) -> kernels::Result<()> {
        let (mut x, mut y) = (None, None);
        let out: Output<'o> = out.into();
        let x = stretched_to(shape, self.layout(), &mut x)?;
        let y = stretched_to(shape, rhs.layout(), &mut y)?;
        kernels::binary(op, self.operand_as(x).into(), rhs.operand_as(y).into(), out)
    }

    /// The operand of this array's elements under a layout made from its own.
    #[inline]
    pub(crate) fn operand_as<'a>(&'a self, layout: &'a Layout) -> Operand<'a> {
        Operand::new(self.buffer(), layout, self.dtype())
            .expect("a layout made from a checked one stays within the buffer")
    }

    /// The shape this array and another broadcast to.
    #[track_caller]
    pub(crate) fn broadcast_with(&self, op: &'static str, rhs: &NdArray) -> Result<Shape> {
        match broadcast_shapes(self.shape(), rhs.shape()) {
            Ok(shape) => Ok(shape),
            Err(_) => {
                let (lhs, rhs) = (ArraySummary::of(self), ArraySummary::of(rhs));
                Err(ArrayError::new(ArrayErrorKind::Broadcast { op, lhs, rhs }))
            }
        }
    }

    /// This array stretched to the shape of one that is changed in place.
    #[track_caller]
    pub(crate) fn broadcast_into(&self, op: &'static str, target: &NdArray) -> Result<NdArray> {
        Ok(self.with_layout(self.stretched(op, target)?))
    }

    /// The layout of [`broadcast_into`](Self::broadcast_into).
    #[track_caller]
    fn stretched(&self, op: &'static str, target: &NdArray) -> Result<Layout> {
        match self.layout().broadcast_to(target.shape()) {
            Ok(layout) => Ok(layout),
            Err(_) => {
                let (target, rhs) = (ArraySummary::of(target), ArraySummary::of(self));
                Err(ArrayError::new(ArrayErrorKind::InPlaceShape {
                    op,
                    target,
                    rhs,
                }))
            }
        }
    }

    /// Refuses an array whose memory may not be read (for Z: written) before anything else is said about it, under its own
    /// letter.
    #[track_caller]
    pub(crate) fn expect_readable(&self, op: &'static str, argument: Argument) -> Result<()> {
        let access = match argument {
            Argument::Z | Argument::Output(_) => self.buffer().write().map(drop),
            _ => self.buffer().read().map(drop),
        };
        match access {
            Ok(()) => Ok(()),
            Err(source) => {
                let array = ArraySummary::of(self);
                Err(ArrayError::new(ArrayErrorKind::Access {
                    op,
                    argument,
                    source,
                    array,
                }))
            }
        }
    }

    /// Checks that results of a dtype may be written over this array's elements.
    #[inline]
    #[track_caller]
    pub(crate) fn expect_storable(&self, op: &'static str, result: DType) -> Result<()> {
        if !may_store(result, self.dtype()) {
            let target = ArraySummary::of(self);
            return Err(ArrayError::new(ArrayErrorKind::Cast {
                op,
                from: result,
                target,
            }));
        }
        self.expect_writable(op)
    }

    /// Checks that this array can take a result of the given shape and dtype.
    #[inline]
    #[track_caller]
    pub(crate) fn expect_output(
        &self,
        op: &'static str,
        shape: &Shape,
        dtype: DType,
    ) -> Result<()> {
        if self.shape() != shape {
            let (expected, out) = (shape.clone(), ArraySummary::of(self));
            return Err(ArrayError::new(ArrayErrorKind::OutputShape {
                op,
                expected,
                out,
            }));
        }
        self.expect_storable(op, dtype)
    }

    /// An elementwise op of the registry, chosen at run time: `a.apply(UnaryOp::Tanh)?` is `a.tanh()?`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] where the op is not defined for this dtype.
    ///
    /// ```
    /// use lodestride_array::{NdArray, kernels::UnaryOp};
    ///
    /// let a = NdArray::from([0.5f32]);
    /// let by_name = UnaryOp::from_name("tanh").map(|op| a.apply(op));
    /// assert_eq!(by_name.transpose()?, Some(a.tanh()?));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "createTransform")]
    #[track_caller]
    pub fn apply(&self, op: UnaryOp) -> Result<NdArray> {
        self.unary(op)
    }

    /// [`apply`](Self::apply) in place.
    ///
    /// # Errors
    /// As [`apply`](Self::apply); [`ArrayErrorKind::Cast`] when the result is of a higher kind.
    #[doc(alias = "execAndReturn")]
    #[track_caller]
    pub fn applyi(&self, op: UnaryOp) -> Result<&Self> {
        self.unary_in_place(op, op.name())
    }

    /// [`apply`](Self::apply) into an array of this shape.
    ///
    /// # Errors
    /// As [`apply`](Self::apply); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn apply_into(&self, op: UnaryOp, out: &NdArray) -> Result<()> {
        self.unary_into(op, op.name(), out)
    }

    /// A two-operand op of the registry, chosen at run time: `a.apply_with(BinaryOp::Add, &b)?` is `a.add(&b)?`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast, [`ArrayErrorKind::UnsupportedDType`] where the op
    /// is not defined for the promoted dtype.
    #[track_caller]
    pub fn apply_with<'a>(&self, op: BinaryOp, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(op, rhs.into())
    }

    /// [`apply_with`](Self::apply_with) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn apply_withi<'a>(&self, op: BinaryOp, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(op, op.name(), rhs.into())
    }

    /// [`apply_with`](Self::apply_with) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`apply_with`](Self::apply_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn apply_with_into<'a>(
        &self,
        op: BinaryOp,
        rhs: impl Into<Arg<'a>>,
        out: &NdArray,
    ) -> Result<()> {
        self.binary_into(op, op.name(), rhs.into(), out)
    }
}

/// A layout stretched to a shape it reaches, kept in `place` where it is not the same.
pub(crate) fn stretched_to<'l>(
    shape: &Shape,
    layout: &'l Layout,
    place: &'l mut Option<Layout>,
) -> kernels::Result<&'l Layout> {
    if layout.shape() == shape {
        return Ok(layout);
    }
    match layout.broadcast_to(shape) {
        Ok(stretched) => Ok(place.insert(stretched)),
        Err(source) => Err(KernelError::Shape {
            op: "broadcast",
            source,
        }),
    }
}
