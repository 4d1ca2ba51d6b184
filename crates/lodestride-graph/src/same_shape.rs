//! Which values of a function graph certainly have the same shape, though their lengths are unknown.

use crate::fgraph::{FunctionGraph, ValueId};
use crate::grad::Barrier;
use crate::op::OpRef;
use crate::ops::{BroadcastLike, Elemwise, LogSoftmaxGradient, Softmax, Subtensor, SumTo};
use crate::ty::Type;

impl FunctionGraph {
    /// Whether two values certainly have the same shape and sequences.
    pub(crate) fn same_shape(&self, a: ValueId, b: ValueId) -> bool {
        let (a, b) = (self.shape_root(a), self.shape_root(b));
        if a == b {
            return true;
        }
        let (a, b) = (self.ty(a), self.ty(b));
        !a.is_lod()
            && !b.is_lod()
            && a.rank() == b.rank()
            && a.dims()
                .iter()
                .zip(b.dims())
                .all(|(a, b)| a.surely_equals(b))
    }

    /// The value that a value's shape and sequences come from; known since the value was made.
    pub(crate) fn shape_root(&self, value: ValueId) -> ValueId {
        self.values[value.index()].shape_root.unwrap_or(value)
    }

    /// The shape root of the result of `op(inputs)` of type `ty`, if it is one of the inputs' roots.
    pub(crate) fn root_of_result(
        &self,
        op: &OpRef,
        inputs: &[ValueId],
        ty: &Type,
    ) -> Option<ValueId> {
        let source = if op.is::<Elemwise>() {
            let alone = |x: &&ValueId| {
                self.ty(**x).rank() == ty.rank()
                    && self.ty(**x).is_lod() == ty.is_lod()
                    && inputs
                        .iter()
                        .all(|other| other == *x || self.ty(*other).rank() == 0)
            };
            // Or the result's lengths are all known by name, and an operand has them.
            let whole = |x: &&ValueId| {
                let x = self.ty(**x);
                let mut pairs = x.dims().iter().zip(ty.dims());
                let fits = x.rank() == ty.rank() && pairs.all(|(a, b)| a.surely_equals(b));
                fits && !x.is_lod() && !ty.is_lod()
            };
            let source = inputs.iter().find(alone);
            *source.or_else(|| inputs.iter().find(whole))?
        } else if op.is::<BroadcastLike>() || op.is::<SumTo>() {
            inputs[1]
        } else if op.is::<Softmax>()
            || op.is::<LogSoftmaxGradient>()
            || op.is::<Barrier>()
            || (op.downcast_ref().is_some_and(Subtensor::is_flip) && !self.ty(inputs[0]).is_lod())
        {
            inputs[0]
        } else {
            return None;
        };
        Some(self.shape_root(source))
    }
}
