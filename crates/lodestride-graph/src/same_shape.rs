//! Which values of a function graph certainly have the same shape, though their lengths are unknown.

use crate::fgraph::{FunctionGraph, ValueId};
use crate::grad::Barrier;
use crate::ops::{BroadcastLike, Elemwise, Softmax, SumTo};

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
            && a.dims().iter().zip(b.dims()).all(|(a, b)| a.surely_equals(b))
    }

    /// The value that a value's shape and sequences come from.
    pub(crate) fn shape_root(&self, value: ValueId) -> ValueId {
        let mut value = value;
        loop {
            let Some((node, _)) = self.owner(value) else { return value };
            let (op, inputs) = (self.op(node), self.node_inputs(node));
            if op.is::<Elemwise>() {
                let ty = self.ty(value);
                let alone = |x: &ValueId| {
                    self.ty(*x).rank() == ty.rank()
                        && self.ty(*x).is_lod() == ty.is_lod()
                        && inputs.iter().all(|other| other == x || self.ty(*other).rank() == 0)
                };
                match inputs.iter().find(|x| alone(x)) {
                    Some(x) => value = *x,
                    None => return value,
                }
            } else if op.is::<BroadcastLike>() || op.is::<SumTo>() {
                value = inputs[1];
            } else if op.is::<Softmax>() || op.is::<Barrier>() {
                value = inputs[0];
            } else {
                return value;
            }
        }
    }
}
