//! Softmax and its relatives along one axis of dense tensors or of the rows' own axes.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::reduce::Reduce;
use crate::ops::shape::{apply, with_list};
use crate::ty::Type;
use crate::variable::Variable;
use lodestride_array::kernels::{self, ReduceOp, UnaryOp};
use lodestride_array::normalize_axis;
use smallvec::smallvec;
use std::borrow::Cow;
use std::panic::Location;

/// `exp(x) / sum(exp(x))` along an axis, without overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Softmax {
    /// The axis.
    pub axis: usize,
    /// The logarithm of it, also exact where the softmax itself is 0.
    pub log: bool,
}

impl Op for Softmax {
    fn name(&self) -> Cow<'static, str> {
        with_list(
            if self.log { "log_softmax" } else { "softmax" },
            [self.axis],
        )
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
        if !ty.dtype().is_float() {
            return Err(GraphErrorKind::UnsupportedDType { dtype: ty.dtype() });
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
        let (x, out, axis) = (inputs[0].data, outputs[0].data, self.axis as isize);
        if self.log {
            x.log_softmax_into(axis, out)?;
        } else {
            x.softmax_into(axis, out)?;
        }
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None]);
        };
        let b = Build::of(node);
        let y = node.out()?;
        let total = |v: Variable| {
            b.apply(
                Reduce {
                    op: ReduceOp::Sum,
                    axes: smallvec![self.axis],
                    keep: true,
                },
                vec![v],
            )
        };
        if self.log {
            let p = b.unary(UnaryOp::Exp, &y)?;
            return Ok(vec![Some(b.sub(g, b.mul(p, total(g.clone())?)?)?)]);
        }
        let inner = total(b.mul(g, &y)?)?;
        Ok(vec![Some(b.mul(&y, b.sub(g, inner)?)?)])
    }
}

/// The gradient of the logarithm of a [`Softmax`] from that, `y`, and its own gradient `g`: `g - exp(y) * sum(g)` in one pass. Only the
/// optimiser makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogSoftmaxGradient {
    /// The axis.
    pub axis: usize,
}

impl Op for LogSoftmaxGradient {
    fn name(&self) -> Cow<'static, str> {
        with_list("log_softmax_gradient", [self.axis])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        Ok(vec![inputs[0].ty.clone()])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::like(&inputs[0])])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let [y, g, out] = [inputs[0], inputs[1], outputs[0]].map(|slot| slot.data.operand());
        kernels::softmax_gradient(y, g, self.axis, true, out)?;
        Ok(())
    }
}

/// Softmax and losses.
impl Variable {
    /// `exp(x) / sum(exp(x))` along `axis`, without overflow.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist; `UnsupportedDType` unless floats.
    #[track_caller]
    pub fn softmax(&self, axis: isize) -> Result<Variable> {
        self.softmax_with(axis, false, Span(Location::caller()))
    }

    /// `log(softmax(x))` along `axis`, exact also where the softmax is 0.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist; `UnsupportedDType` unless floats.
    #[track_caller]
    pub fn log_softmax(&self, axis: isize) -> Result<Variable> {
        self.softmax_with(axis, true, Span(Location::caller()))
    }

    fn softmax_with(&self, axis: isize, log: bool, span: Span) -> Result<Variable> {
        let axis =
            normalize_axis(axis, self.rank()).map_err(|e| GraphError::new(e.into(), None, span))?;
        apply(Softmax { axis, log }, vec![self.clone()], span)
    }

    /// The cross-entropy of each row of scores (logits) with its integer label: a vector.
    ///
    /// # Errors
    /// `InputKind` when the labels are no integers; `Rank` unless the scores are a matrix and the labels a vector.
    #[track_caller]
    pub fn softmax_cross_entropy(&self, labels: impl Into<Variable>) -> Result<Variable> {
        let labels = labels.into();
        self.log_softmax(1)?.pick(labels)?.neg()
    }
}
