//! Reshaping: the same elements in C order under another shape, a view where strides allow it.

use crate::apply::Apply;
use crate::error::{GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::shape::{apply, with_list};
use crate::ty::{Dim, Type};
use crate::variable::Variable;
use lodestride_array::kernels;
use lodestride_array::{Layout, Order, Shape};
use lodestride_lod::Lod;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::panic::Location;

/// The same elements in C order under another shape; at most one size is -1 and follows from the rest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reshape {
    /// The new sizes.
    pub sizes: SmallVec<[isize; 4]>,
}

/// Input 0 reshaped to the shape of input 1, with the sequences of input 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReshapeLike;

/// A reshaped view if strides allow it, else new memory that `copy_reshaped` fills.
fn plan_reshape(
    facts: &Facts,
    sizes: &[isize],
    lod: Option<Lod>,
) -> Result<Planned, GraphErrorKind> {
    if let Some(layout) = facts.layout.reshape(sizes, Order::C)? {
        return Ok(Planned::View {
            input: 0,
            layout,
            lod,
        });
    }
    let packed = Layout::contiguous(facts.shape().clone(), Order::C)?;
    let shape = packed
        .reshape(sizes, Order::C)?
        .unwrap_or(packed)
        .shape()
        .clone();
    Ok(Planned::Fresh { shape, lod })
}

fn copy_reshaped(inputs: &[SlotRef<'_>], outputs: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
    let (x, out) = (inputs[0].data, outputs[0].data);
    let sizes: SmallVec<[isize; 6]> = x.shape().iter().map(|n| *n as isize).collect();
    // The output is packed, so it can be seen with the input's shape.
    let seen = out.view_as(&sizes[..])?;
    kernels::copy(x.operand().into(), seen.operand())?;
    Ok(())
}

impl Op for Reshape {
    fn name(&self) -> Cow<'static, str> {
        with_list("reshape", &self.sizes)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        if self.sizes.iter().filter(|n| **n == -1).count() > 1 || self.sizes.iter().any(|n| *n < -1)
        {
            let value = self.sizes.iter().copied().min().unwrap_or(0) as i64;
            return Err(GraphErrorKind::Parameter {
                parameter: "size",
                value,
                rule: "at most one size may be -1",
            });
        }
        if let Some(shape) = ty.static_shape() {
            let layout = Layout::contiguous(Shape::from(shape), Order::C)?;
            let reshaped = layout.reshape(&self.sizes, Order::C)?.unwrap_or(layout);
            return Ok(vec![Type::tensor(
                ty.dtype(),
                reshaped.shape().iter().copied(),
            )]);
        }
        let dims = self
            .sizes
            .iter()
            .map(|n| usize::try_from(*n).map_or(Dim::Unknown, Dim::Known));
        Ok(vec![Type::tensor(ty.dtype(), dims)])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![plan_reshape(&inputs[0], &self.sizes, None)?])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        copy_reshaped(inputs, outputs)
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None]);
        };
        Ok(vec![Some(Build::of(node).apply(
            ReshapeLike,
            vec![g.clone(), node.inputs()[0].clone()],
        )?)])
    }
}

impl Op for ReshapeLike {
    fn name(&self) -> Cow<'static, str> {
        "reshape_like".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        Ok(vec![inputs[1].ty.with_dtype(inputs[0].ty.dtype())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let sizes: SmallVec<[isize; 6]> = inputs[1].shape().iter().map(|n| *n as isize).collect();
        Ok(vec![plan_reshape(
            &inputs[0],
            &sizes,
            inputs[1].lod.clone(),
        )?])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        copy_reshaped(inputs, outputs)
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None, None]);
        };
        let back = Build::of(node).apply(ReshapeLike, vec![g.clone(), node.inputs()[0].clone()])?;
        Ok(vec![Some(back), None])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

/// Reshaping.
impl Variable {
    /// The same elements, C order, in another shape; one size may be -1. A ragged batch becomes dense.
    ///
    /// # Errors
    /// `Shape` when the number of elements is known and differs; `Parameter` for two -1.
    #[track_caller]
    pub fn reshape(&self, sizes: &[isize]) -> Result<Variable> {
        apply(
            Reshape {
                sizes: sizes.into(),
            },
            vec![self.clone()],
            Span(Location::caller()),
        )
    }

    /// The same elements in the shape of `like`, with the sequences of `like`.
    ///
    /// # Errors
    /// At call time, when the numbers of elements differ.
    #[track_caller]
    pub fn reshape_like(&self, like: impl Into<Variable>) -> Result<Variable> {
        apply(
            ReshapeLike,
            vec![self.clone(), like.into()],
            Span(Location::caller()),
        )
    }
}
