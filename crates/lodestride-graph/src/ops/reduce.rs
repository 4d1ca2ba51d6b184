//! Reductions over axes. Positions of extremes and running totals are in `scan`.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::like::{BroadcastLike, ElementCount};
use crate::ops::shape::{AxisList, ExpandDims, apply, with_list};
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::NdArray;
use lodestride_array::kernels::{self, BinaryOp, ReduceOp, UnaryOp};
use lodestride_array::{Axes, Shape};
use std::borrow::Cow;
use std::panic::Location;

/// A reduction over some axes. On ragged batches, reducing the rows gives a dense result; other axes keep the sequences.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduce {
    /// What is computed.
    pub op: ReduceOp,
    /// The axes that go, ascending.
    pub axes: AxisList,
    /// Whether they stay with length 1.
    pub keep: bool,
}

impl Reduce {
    fn keeps_rows(&self) -> bool {
        !self.axes.contains(&0)
    }

    pub(crate) fn reduced<T: Clone>(&self, items: &[T], one: &T) -> impl Iterator<Item = T> {
        items.iter().enumerate().filter_map(move |(axis, item)| {
            match (self.axes.contains(&axis), self.keep) {
                (false, _) => Some(item.clone()),
                (true, true) => Some(one.clone()),
                (true, false) => None,
            }
        })
    }
}

impl Op for Reduce {
    fn name(&self) -> Cow<'static, str> {
        with_list(self.op.name(), &self.axes)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        if let Some(axis) = self.axes.iter().find(|a| **a >= ty.rank()) {
            return Err(GraphErrorKind::Axis {
                axis: *axis as isize,
                rank: ty.rank(),
            });
        }
        let dtype = ty.dtype();
        let dtype = self.op.result_dtype(dtype);
        let dims: Dims = self.reduced(ty.dims(), &Dim::Known(1)).collect();
        Ok(vec![if ty.is_lod() && self.keeps_rows() {
            Type::lod_from_dims(dtype, &dims, ty.lod_level())
        } else {
            Type::tensor(dtype, dims)
        }])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let shape: Shape = self.reduced(inputs[0].shape(), &1).collect();
        let lod = if self.keeps_rows() {
            inputs[0].lod.clone()
        } else {
            None
        };
        Ok(vec![Planned::Fresh { shape, lod }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let out = without_axes(outputs[0].data, if self.keep { &self.axes } else { &[] })?;
        kernels::reduce(self.op, inputs[0].data.operand(), &self.axes, out.operand())?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let x = &node.inputs()[0];
        let Some(g) = &outputs[0] else {
            return Ok(vec![None]);
        };
        if !x.dtype().is_float() {
            return Ok(vec![None]);
        }
        self.slope(node, x, g).map(|g| vec![g])
    }
}

/// The same memory without some axes of length 1.
pub(crate) fn without_axes(array: &NdArray, axes: &[usize]) -> Result<NdArray, GraphErrorKind> {
    if axes.is_empty() {
        return Ok(array.clone());
    }
    let mut layout = array.layout().clone();
    for axis in axes.iter().rev() {
        layout = layout.squeeze(*axis as isize)?;
    }
    Ok(NdArray::from_buffer(
        array.buffer().clone(),
        layout,
        array.dtype(),
    )?)
}

impl Reduce {
    /// A result of this reduction, stretched back over `x`.
    fn spread(&self, b: Build, result: &Variable, x: &Variable) -> Result<Variable> {
        let kept = self.with_kept_axes(b, result)?;
        b.apply(BroadcastLike, vec![kept, x.clone()])
    }

    /// A result of this reduction with its axes at length 1, so that it broadcasts against the operand.
    fn with_kept_axes(&self, b: Build, result: &Variable) -> Result<Variable> {
        if self.keep || self.axes.is_empty() {
            return Ok(result.clone());
        }
        b.apply(
            ExpandDims {
                axes: self.axes.clone(),
            },
            vec![result.clone()],
        )
    }

    fn over(&self, op: ReduceOp, keep: bool) -> Self {
        Self {
            op,
            axes: self.axes.clone(),
            keep,
        }
    }

    fn slope(&self, node: &Apply, x: &Variable, g: &Variable) -> Result<Option<Variable>> {
        let b = Build::of(node);
        let y = &node.out()?;
        let axes = || self.axes.clone();
        let count = || {
            let count = b.apply(ElementCount { axes: axes() }, vec![x.clone()])?;
            b.cast(count, x.dtype())
        };
        let wide_g = self.with_kept_axes(b, g)?;
        let wide_y = self.with_kept_axes(b, y)?;
        let deviation = || {
            let mean = b.apply(self.over(ReduceOp::Mean, true), vec![x.clone()])?;
            b.sub(x, mean)
        };
        Ok(Some(match self.op {
            ReduceOp::Sum => self.spread(b, g, x)?,
            ReduceOp::Mean => self.spread(b, &b.div(g, count()?)?, x)?,
            ReduceOp::Max | ReduceOp::Min => self.share(b, x, &wide_y, &wide_g)?,
            ReduceOp::Prod => self.product_slope(b, x, &wide_g)?,
            ReduceOp::Norm1 => b.mul(wide_g, b.unary(UnaryOp::Sign, x)?)?,
            ReduceOp::Norm2 => {
                // At 0 the norm has no slope; 0 is its subgradient of least norm.
                let zero = b.binary(BinaryOp::Eq, &wide_y, 0.0)?;
                b.mul(wide_g, b.div(x, b.select(zero, 1.0, wide_y)?)?)?
            }
            ReduceOp::NormMax | ReduceOp::MinAbs => {
                let share = self.share(b, &b.unary(UnaryOp::Abs, x)?, &wide_y, &wide_g)?;
                b.mul(share, b.unary(UnaryOp::Sign, x)?)?
            }
            ReduceOp::Var { ddof } => {
                let scale = b.div(2.0, b.sub(count()?, ddof as f64)?)?;
                b.mul(wide_g, b.mul(deviation()?, scale)?)?
            }
            ReduceOp::Std { ddof } => {
                let scale = b.sub(count()?, ddof as f64)?;
                b.mul(wide_g, b.div(deviation()?, b.mul(wide_y, scale)?)?)?
            }
            ReduceOp::LogSumExp => b.mul(wide_g, b.unary(UnaryOp::Exp, b.sub(x, wide_y)?)?)?,
            ReduceOp::MeanAbs => b.mul(b.div(wide_g, count()?)?, b.unary(UnaryOp::Sign, x)?)?,
            ReduceOp::SumSquares => b.mul(wide_g, b.mul(x, 2.0)?)?,
            ReduceOp::Any | ReduceOp::All | ReduceOp::CountNonZero => return Ok(None),
            #[allow(
                unreachable_patterns,
                reason = "the registry may grow; a new row has no gradient until it is given one"
            )]
            _ => {
                return Err(GraphError::new(
                    GraphErrorKind::NotDifferentiable,
                    Some(node.op()),
                    node.span(),
                ));
            }
        }))
    }

    /// The gradient in equal parts to all elements that are the extreme.
    fn share(
        &self,
        b: Build,
        x: &Variable,
        extreme: &Variable,
        wide_g: &Variable,
    ) -> Result<Variable> {
        let hit = b.cast(b.binary(BinaryOp::Eq, x, extreme)?, x.dtype())?;
        let hits = b.apply(self.over(ReduceOp::Sum, true), vec![hit.clone()])?;
        b.mul(hit, b.div(wide_g, hits)?)
    }

    /// The product of all other elements: right also when there are zeros.
    fn product_slope(&self, b: Build, x: &Variable, wide_g: &Variable) -> Result<Variable> {
        let zero = b.binary(BinaryOp::Eq, x, 0.0)?;
        let zeros = b.apply(
            self.over(ReduceOp::Sum, true),
            vec![b.cast(&zero, x.dtype())?],
        )?;
        let filled = b.select(&zero, 1.0, x)?;
        let rest = b.apply(self.over(ReduceOp::Prod, true), vec![filled.clone()])?;
        // No zero: rest / x. One zero: only that place has a slope, the product of the rest. Two or more: none.
        let none = b.binary(BinaryOp::Eq, &zeros, 0.0)?;
        let one = b.binary(BinaryOp::Eq, &zeros, 1.0)?;
        let at_zero = b.select(b.binary(BinaryOp::And, &zero, one)?, &rest, 0.0)?;
        let slope = b.select(none, b.div(&rest, filled)?, at_zero)?;
        b.mul(wide_g, slope)
    }
}

macro_rules! reductions {
    ($($(#[doc = $doc:literal])* $name:ident $op:expr;)*) => {
        /// Reductions. Axes are an integer, an array of integers, `..` for all, or `keep(axes)` to leave them at length 1.
        impl Variable {$(
            $(#[doc = $doc])*
            ///
            /// # Errors
            /// `Shape` for an axis that does not exist; `UnsupportedDType` when the dtype has no such reduction.
            #[track_caller]
            pub fn $name(&self, axes: impl Into<Axes>) -> Result<Variable> {
                self.reduce($op, axes)
            }
        )*}
    };
}

reductions! {
    /// The sum; narrow integers add up in 64 bits.
    sum ReduceOp::Sum;
    /// The mean.
    mean ReduceOp::Mean;
    /// The product.
    prod ReduceOp::Prod;
    /// The largest element; NaN if any is NaN.
    max ReduceOp::Max;
    /// The smallest element; NaN if any is NaN.
    min ReduceOp::Min;
    /// Whether any element is true.
    any ReduceOp::Any;
    /// Whether all elements are true.
    all ReduceOp::All;
    /// The sum of absolute values.
    norm1 ReduceOp::Norm1;
    /// The square root of the sum of squares.
    norm2 ReduceOp::Norm2;
    /// The largest absolute value.
    norm_max ReduceOp::NormMax;
    /// `log(sum(exp(x)))` without overflow.
    logsumexp ReduceOp::LogSumExp;
    /// The variance, dividing by n.
    var ReduceOp::Var { ddof: 0 };
    /// The standard deviation, dividing by n.
    std ReduceOp::Std { ddof: 0 };
}

/// Any reduction.
impl Variable {
    /// Any reduction of the registry.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist; `UnsupportedDType` when the dtype has no such reduction.
    #[track_caller]
    pub fn reduce(&self, op: ReduceOp, axes: impl Into<Axes>) -> Result<Variable> {
        let span = Span(Location::caller());
        let axes = axes.into();
        let resolved = axes
            .resolve(self.rank())
            .map_err(|e| GraphError::new(e.into(), None, span))?;
        let op = Reduce {
            op,
            axes: resolved.axes().into(),
            keep: resolved.keeps(),
        };
        apply(op, vec![self.clone()], span)
    }
}
