//! Elementwise ops and reductions over the rows of one matrix as one pass over memory. Only a plan makes it, for the lengths of a call.

use crate::error::GraphErrorKind;
use crate::op::{Argument, Facts, Op, OpRef, Planned, SlotRef};
use crate::ops::fused::Fused;
use crate::ty::Type;
use lodestride_array::kernels::{self, Operand, ReduceOp, RowFold, RowStep, RowValue};
use lodestride_array::{DType, Layout};
use std::borrow::Cow;

/// What a value of a pass is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PassValue {
    /// Input number `0`, as rows and columns.
    Given(usize, Layout),
    /// Output number `0`, as rows and columns.
    Wanted(usize, Layout),
    /// A row that no one else sees.
    Row(DType),
    /// A number per row that no one else sees.
    Number(DType),
}

/// A step of a pass, its operands by their numbers among the values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PassStep {
    Map {
        op: Box<Fused>,
        inputs: Vec<usize>,
        outputs: Vec<usize>,
    },
    Fold {
        op: ReduceOp,
        over: RowFold,
        from: usize,
        to: usize,
    },
}

/// The steps that some nodes are, row by row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowPass {
    /// The nodes' ops.
    pub(crate) ops: Vec<OpRef>,
    /// Elements, and how many are a row.
    pub(crate) extent: (usize, usize),
    pub(crate) values: Vec<PassValue>,
    pub(crate) steps: Vec<PassStep>,
}

impl Op for RowPass {
    fn name(&self) -> Cow<'static, str> {
        crate::ops::with_list("rows", self.ops.iter().map(|op| op.name()))
    }

    fn infer(&self, _: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        Err(GraphErrorKind::NotComputable)
    }

    fn plan(&self, _: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Err(GraphErrorKind::NotComputable)
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let mut values = Vec::with_capacity(self.values.len());
        for value in &self.values {
            values.push(match value {
                PassValue::Given(input, layout) => {
                    let data = inputs[*input].data;
                    RowValue::Given(Operand::new(data.buffer(), layout, data.dtype())?)
                }
                PassValue::Wanted(output, layout) => {
                    let data = outputs[*output].data;
                    RowValue::Wanted(Operand::new(data.buffer(), layout, data.dtype())?)
                }
                PassValue::Row(dtype) => RowValue::Row(*dtype),
                PassValue::Number(dtype) => RowValue::Number(*dtype),
            });
        }
        let steps: Vec<RowStep<'_>> = self.steps.iter().map(PassStep::by_ref).collect();
        Ok(kernels::row_pass("rows", self.extent, &values, &steps)?)
    }
}

impl PassStep {
    fn by_ref(&self) -> RowStep<'_> {
        match self {
            Self::Map {
                op,
                inputs,
                outputs,
            } => RowStep::Map {
                program: op.program(),
                inputs,
                outputs,
            },
            Self::Fold { op, over, from, to } => RowStep::Fold {
                op: *op,
                over: *over,
                from: *from,
                to: *to,
            },
        }
    }
}
