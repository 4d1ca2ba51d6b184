//! Positions of extremes and running totals.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::shape::{apply, with_list};
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::kernels::{self, ArgOp, ScanOp};
use lodestride_array::{DType, Shape, normalize_axis};
use lodestride_lod::Lod;
use std::borrow::Cow;
use std::panic::Location;

/// The position of the first extreme, along one axis or over the flattened input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArgReduce {
    /// Which extreme.
    pub op: ArgOp,
    /// The axis that goes; `None` for all of them.
    pub axis: Option<usize>,
}

impl Op for ArgReduce {
    fn name(&self) -> Cow<'static, str> {
        with_list(self.op.name(), self.axis)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        let Some(axis) = self.axis else {
            return Ok(vec![Type::tensor(DType::I64, [] as [Dim; 0])]);
        };
        if axis >= ty.rank() {
            return Err(GraphErrorKind::Axis {
                axis: axis as isize,
                rank: ty.rank(),
            });
        }
        let mut dims = Dims::from(ty.dims());
        dims.remove(axis);
        Ok(vec![if ty.is_lod() && axis > 0 {
            Type::lod_from_dims(DType::I64, &dims, ty.lod_level())
        } else {
            Type::tensor(DType::I64, dims)
        }])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let Some(axis) = self.axis else {
            return Ok(vec![Planned::fresh(Shape::scalar())]);
        };
        let mut shape = inputs[0].shape().clone();
        shape.remove(axis);
        let lod: Option<Lod> = if axis > 0 {
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
        kernels::index_reduce(
            self.op,
            inputs[0].data.operand(),
            self.axis,
            outputs[0].data.operand(),
        )?;
        Ok(())
    }

    fn gradient(&self, _: &Apply, _: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        Ok(vec![None])
    }
}

/// A running total along one axis, the present element included; the dtype stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cumulative {
    /// What is accumulated.
    pub op: ScanOp,
    /// The axis.
    pub axis: usize,
    /// From the end towards the beginning.
    pub reverse: bool,
}

impl Op for Cumulative {
    fn name(&self) -> Cow<'static, str> {
        let direction = if self.reverse { ", reverse" } else { "" };
        format!("{}{{{}{direction}}}", self.op.name(), self.axis).into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        if self.axis >= ty.rank() {
            return Err(GraphErrorKind::Axis {
                axis: self.axis as isize,
                rank: ty.rank(),
            });
        }
        Ok(vec![ty.clone()])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::like(&inputs[0])])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let (x, out) = (inputs[0].data, outputs[0].data);
        if self.reverse {
            let axis = self.axis as isize;
            let (x, out) = (x.flip(axis)?, out.flip(axis)?);
            kernels::scan(self.op, x.operand(), self.axis, out.operand())?;
        } else {
            kernels::scan(self.op, x.operand(), self.axis, out.operand())?;
        }
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
        let b = Build::of(node);
        let back = Self {
            op: ScanOp::Sum,
            axis: self.axis,
            reverse: !self.reverse,
        };
        match self.op {
            ScanOp::Sum => Ok(vec![Some(b.apply(back, vec![g.clone()])?)]),
            // Sum over later totals of g * total / x; the division needs x != 0, as in the reference systems.
            ScanOp::Prod => {
                let weighted = b.mul(g, node.out()?)?;
                let total = b.apply(back, vec![weighted])?;
                Ok(vec![Some(b.div(total, x)?)])
            }
            _ => Err(GraphError::new(
                GraphErrorKind::NotDifferentiable,
                Some(node.op()),
                node.span(),
            )),
        }
    }
}

/// Positions of extremes and running totals.
impl Variable {
    /// The position of the first largest element along `axis`, or in the flattened variable for `None`.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn argmax(&self, axis: impl Into<Option<isize>>) -> Result<Variable> {
        self.arg_reduce(ArgOp::ArgMax, axis.into(), Span(Location::caller()))
    }

    /// The position of the first smallest element along `axis`, or in the flattened variable for `None`.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn argmin(&self, axis: impl Into<Option<isize>>) -> Result<Variable> {
        self.arg_reduce(ArgOp::ArgMin, axis.into(), Span(Location::caller()))
    }

    fn arg_reduce(&self, op: ArgOp, axis: Option<isize>, span: Span) -> Result<Variable> {
        let axis = axis.map(|a| normalize_axis(a, self.rank())).transpose();
        let axis = axis.map_err(|e| GraphError::new(e.into(), None, span))?;
        apply(ArgReduce { op, axis }, vec![self.clone()], span)
    }

    /// Running sums along `axis`.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn cumsum(&self, axis: isize) -> Result<Variable> {
        self.cumulative(ScanOp::Sum, axis, Span(Location::caller()))
    }

    /// Running products along `axis`.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn cumprod(&self, axis: isize) -> Result<Variable> {
        self.cumulative(ScanOp::Prod, axis, Span(Location::caller()))
    }

    fn cumulative(&self, op: ScanOp, axis: isize, span: Span) -> Result<Variable> {
        let axis =
            normalize_axis(axis, self.rank()).map_err(|e| GraphError::new(e.into(), None, span))?;
        apply(
            Cumulative {
                op,
                axis,
                reverse: false,
            },
            vec![self.clone()],
            span,
        )
    }
}
