//! An elementwise region and the reduction of its result as one kernel: the values never reach memory. Only the optimiser
//! makes it.

use crate::error::GraphErrorKind;
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::elemwise::broadcast_shape;
use crate::ops::fused::{Fused, with_inputs};
use crate::ops::reduce::{Reduce, without_axes};
use crate::ty::Type;
use lodestride_array::{DType, Layout, Order, Shape};
use std::borrow::Cow;

/// A reduction of what a [`Fused`] op with one output computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FusedReduce {
    map: Fused,
    reduce: Reduce,
}

impl FusedReduce {
    /// Joins the two; `None` for an elementwise region of several outputs.
    pub(crate) fn new(map: Fused, reduce: Reduce) -> Option<Self> {
        (map.results() == 1).then_some(Self { map, reduce })
    }

    /// What is computed of every element.
    pub fn map(&self) -> &Fused {
        &self.map
    }

    /// How the results are reduced.
    pub fn reduction(&self) -> &Reduce {
        &self.reduce
    }
}

impl Op for FusedReduce {
    fn name(&self) -> Cow<'static, str> {
        format!("{}({})", self.reduce.name(), self.map.name()).into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        let mapped = self.map.infer(inputs)?;
        self.reduce.infer(&Argument::of_types(&mapped))
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let mut mapped = Vec::new();
        for planned in self.map.plan(inputs)? {
            if let Planned::Fresh { shape, lod } = planned {
                mapped.push(Facts {
                    dtype: self.map.program().output_dtype(0).unwrap_or(DType::F64),
                    layout: Layout::contiguous(shape, Order::C)?,
                    lod,
                });
            }
        }
        self.reduce.plan(&mapped)
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let shape: Shape = broadcast_shape(inputs.iter().map(|slot| slot.data.shape()))?;
        let Reduce { op, axes, keep } = &self.reduce;
        let out = without_axes(outputs[0].data, if *keep { axes } else { &[] })?;
        with_inputs(inputs, &shape, |inputs| {
            self.map.program().reduce(*op, inputs, axes, out.operand())
        })
    }
}
