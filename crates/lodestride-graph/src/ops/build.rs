//! Short forms for writing graphs inside the crate: gradients and rewrites speak in these.

use crate::apply::Apply;
use crate::constant::Constant;
use crate::error::{Result, Span};
use crate::op::OpRef;
use crate::ops::Elemwise;
use crate::value::Value;
use crate::variable::Variable;
use lodestride_array::kernels::{BinaryOp, UnaryOp};
use lodestride_array::{DType, Scalar};

/// Builds expressions that carry one source line: that of the node they are derived from.
#[derive(Clone, Copy)]
pub(crate) struct Build(pub(crate) Span);

impl Build {
    pub(crate) fn of(node: &Apply) -> Self {
        Self(node.span())
    }

    pub(crate) fn apply(self, op: impl Into<OpRef>, inputs: Vec<Variable>) -> Result<Variable> {
        Apply::make(op.into(), inputs, self.0)?.out()
    }

    pub(crate) fn literal(self, value: impl Into<Scalar>) -> Variable {
        Constant::literal(value).into()
    }

    /// A constant of rank 0 and exactly this dtype.
    pub(crate) fn typed(self, value: impl Into<Scalar>, dtype: DType) -> Variable {
        Constant::typed(Value::from_scalar(value.into(), dtype), None, self.0).into()
    }

    pub(crate) fn unary(self, op: UnaryOp, x: impl Into<Variable>) -> Result<Variable> {
        self.apply(Elemwise::Unary(op), vec![x.into()])
    }

    pub(crate) fn binary(
        self,
        op: BinaryOp,
        x: impl Into<Variable>,
        y: impl Into<Variable>,
    ) -> Result<Variable> {
        self.apply(Elemwise::Binary(op), vec![x.into(), y.into()])
    }

    pub(crate) fn add(self, x: impl Into<Variable>, y: impl Into<Variable>) -> Result<Variable> {
        self.binary(BinaryOp::Add, x, y)
    }

    pub(crate) fn sub(self, x: impl Into<Variable>, y: impl Into<Variable>) -> Result<Variable> {
        self.binary(BinaryOp::Sub, x, y)
    }

    pub(crate) fn mul(self, x: impl Into<Variable>, y: impl Into<Variable>) -> Result<Variable> {
        self.binary(BinaryOp::Mul, x, y)
    }

    pub(crate) fn div(self, x: impl Into<Variable>, y: impl Into<Variable>) -> Result<Variable> {
        self.binary(BinaryOp::Div, x, y)
    }

    pub(crate) fn neg(self, x: impl Into<Variable>) -> Result<Variable> {
        self.unary(UnaryOp::Neg, x)
    }

    pub(crate) fn square(self, x: impl Into<Variable>) -> Result<Variable> {
        self.unary(UnaryOp::Square, x)
    }

    pub(crate) fn select(
        self,
        condition: impl Into<Variable>,
        yes: impl Into<Variable>,
        no: impl Into<Variable>,
    ) -> Result<Variable> {
        self.apply(
            Elemwise::Select,
            vec![condition.into(), yes.into(), no.into()],
        )
    }

    /// `x` in `dtype`; `x` itself when it has that dtype.
    pub(crate) fn cast(self, x: impl Into<Variable>, dtype: DType) -> Result<Variable> {
        let x = x.into();
        if x.dtype() == dtype && !x.is_weak() {
            return Ok(x);
        }
        self.apply(Elemwise::Cast(dtype), vec![x])
    }
}
