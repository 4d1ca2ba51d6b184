//! Ops that take a shape or sequences from another variable: broadcasting back and forth, lengths, counts.

use crate::apply::Apply;
use crate::error::{GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::shape::{AxisList, apply, with_list};
use crate::ty::{Dim, Type};
use crate::variable::Variable;
use lodestride_array::DType;
use lodestride_array::NdArray;
use lodestride_array::Shape;
use lodestride_array::kernels::{self, ReduceOp};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::panic::Location;

/// Input 0 summed over whatever axes were stretched to get from the shape of input 1 to its own: the adjoint of
/// broadcasting. The sequences are those of input 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SumTo;

/// Input 0 broadcast to the shape of input 1, with the sequences of input 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BroadcastLike;

/// The lengths of input 0 as an i64 vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShapeOf;

/// How many elements some axes of input 0 hold together, as an i64 scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementCount {
    /// The axes counted.
    pub axes: AxisList,
}

/// The rows of a ragged batch without its sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DropLod;

/// Input 0 with the sequences of input 1, which must have as many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LodLike;

impl Op for SumTo {
    fn name(&self) -> Cow<'static, str> {
        "sum_to".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        if inputs[0].ty.rank() < inputs[1].ty.rank() {
            let expected = "at least as many axes as the target";
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected,
                found: inputs[0].ty.clone(),
            });
        }
        Ok(vec![inputs[1].ty.with_dtype(inputs[0].ty.dtype())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let lod = inputs[1].lod.clone();
        let (from, to) = (inputs[0].shape(), inputs[1].shape());
        if from == to {
            return Ok(vec![Planned::View {
                input: 0,
                layout: inputs[0].layout.clone(),
                lod,
            }]);
        }
        let shift = from.rank().saturating_sub(to.rank());
        if to
            .iter()
            .zip(&from[shift..])
            .any(|(t, f)| t != f && *t != 1)
        {
            let rule = "the target must broadcast to the operand";
            return Err(GraphErrorKind::shapes_differ(
                from.clone(),
                to.clone(),
                rule,
            ));
        }
        Ok(vec![Planned::Fresh {
            shape: to.clone(),
            lod,
        }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let (x, out) = (inputs[0].data, outputs[0].data);
        let shift = x.rank() - out.rank();
        let mut axes: AxisList = (0..shift).collect();
        let mut layout = out.layout().clone();
        for axis in (0..out.rank()).rev() {
            if out.shape()[axis] == 1 && x.shape()[shift + axis] != 1 {
                axes.push(shift + axis);
                layout = layout.squeeze(axis as isize)?;
            }
        }
        axes.sort_unstable();
        let seen = NdArray::from_buffer(out.buffer().clone(), layout, out.dtype())?;
        kernels::reduce(ReduceOp::Sum, x.operand(), &axes, seen.operand())?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None, None]);
        };
        let back =
            Build::of(node).apply(BroadcastLike, vec![g.clone(), node.inputs()[0].clone()])?;
        Ok(vec![Some(back), None])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

impl Op for BroadcastLike {
    fn name(&self) -> Cow<'static, str> {
        "broadcast_like".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        crate::ty::broadcast_dims(&[inputs[0].ty, inputs[1].ty])?;
        Ok(vec![inputs[1].ty.with_dtype(inputs[0].ty.dtype())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let layout = inputs[0].layout.broadcast_to(inputs[1].shape())?;
        Ok(vec![Planned::View {
            input: 0,
            layout,
            lod: inputs[1].lod.clone(),
        }])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None, None]);
        };
        let back = super::elemwise_grad::fit(Build::of(node), Some(g.clone()), &node.inputs()[0])?;
        Ok(vec![back, None])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

impl Op for ShapeOf {
    fn name(&self) -> Cow<'static, str> {
        "shape_of".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        Ok(vec![Type::tensor(DType::I64, [inputs[0].ty.rank()])])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let values: SmallVec<[i64; 4]> = inputs[0].shape().iter().map(|n| *n as i64).collect();
        Ok(vec![Planned::Integers {
            shape: Shape::from(values.len()),
            values,
        }])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn gradient(&self, _: &Apply, _: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        Ok(vec![None])
    }

    fn reads(&self, _: usize) -> bool {
        false
    }
}

impl Op for ElementCount {
    fn name(&self) -> Cow<'static, str> {
        with_list("count", &self.axes)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        Ok(vec![Type::tensor(DType::I64, [] as [Dim; 0])])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let count: usize = self
            .axes
            .iter()
            .map(|axis| inputs[0].shape()[*axis])
            .product();
        Ok(vec![Planned::Integers {
            shape: Shape::scalar(),
            values: smallvec![count as i64],
        }])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn gradient(&self, _: &Apply, _: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        Ok(vec![None])
    }

    fn reads(&self, _: usize) -> bool {
        false
    }
}

impl Op for DropLod {
    fn name(&self) -> Cow<'static, str> {
        "rows".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        Ok(vec![Type::tensor(
            inputs[0].ty.dtype(),
            inputs[0].ty.dims().iter().cloned(),
        )])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::view(inputs[0].layout.clone())])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
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
        Ok(vec![Some(Build::of(node).apply(
            LodLike,
            vec![g.clone(), node.inputs()[0].clone()],
        )?)])
    }
}

impl Op for LodLike {
    fn name(&self) -> Cow<'static, str> {
        "lod_like".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        let (ty, like) = (inputs[0].ty, inputs[1].ty);
        if ty.rank() == 0 {
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected: "rows",
                found: ty.clone(),
            });
        }
        if !like.is_lod() {
            return Ok(vec![Type::tensor(ty.dtype(), ty.dims().iter().cloned())]);
        }
        Ok(vec![Type::lod_from_dims(
            ty.dtype(),
            ty.dims(),
            like.lod_level(),
        )])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let (rows, like) = (inputs[0].shape().first(), inputs[1].shape().first());
        if rows != like {
            let rule = "the rows must agree to take over the sequences";
            let (left, right) = (inputs[0].shape().clone(), inputs[1].shape().clone());
            return Err(GraphErrorKind::shapes_differ(left, right, rule));
        }
        Ok(vec![Planned::View {
            input: 0,
            layout: inputs[0].layout.clone(),
            lod: inputs[1].lod.clone(),
        }])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None, None]);
        };
        let back = Build::of(node).apply(LodLike, vec![g.clone(), node.inputs()[0].clone()])?;
        Ok(vec![Some(back), None])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

/// Shapes and sequences taken from other variables.
impl Variable {
    /// Broadcast to the shape of `like`, with its sequences.
    ///
    /// # Errors
    /// `Broadcast` when known lengths differ.
    #[track_caller]
    pub fn broadcast_like(&self, like: impl Into<Variable>) -> Result<Variable> {
        apply(
            BroadcastLike,
            vec![self.clone(), like.into()],
            Span(Location::caller()),
        )
    }

    /// Summed to the shape of `like`: the adjoint of broadcasting.
    ///
    /// # Errors
    /// `Rank` when `like` has more axes.
    #[track_caller]
    pub fn sum_to(&self, like: impl Into<Variable>) -> Result<Variable> {
        apply(
            SumTo,
            vec![self.clone(), like.into()],
            Span(Location::caller()),
        )
    }

    /// The lengths, as an i64 vector that costs nothing to compute.
    ///
    /// # Errors
    /// None today.
    #[track_caller]
    pub fn shape_of(&self) -> Result<Variable> {
        apply(ShapeOf, vec![self.clone()], Span(Location::caller()))
    }

    /// The rows of a ragged batch as a dense tensor.
    ///
    /// # Errors
    /// None today.
    #[track_caller]
    pub fn rows(&self) -> Result<Variable> {
        apply(DropLod, vec![self.clone()], Span(Location::caller()))
    }

    /// The same rows with the sequences of `like`.
    ///
    /// # Errors
    /// At call time, when the numbers of rows differ.
    #[track_caller]
    pub fn lod_like(&self, like: impl Into<Variable>) -> Result<Variable> {
        apply(
            LodLike,
            vec![self.clone(), like.into()],
            Span(Location::caller()),
        )
    }

    /// Zeros of this variable's type and shape.
    ///
    /// # Errors
    /// None today.
    #[track_caller]
    pub fn zeros_like(&self) -> Result<Variable> {
        let build = Build(Span(Location::caller()));
        build.apply(
            BroadcastLike,
            vec![build.typed(0.0, self.dtype()), self.clone()],
        )
    }

    /// Ones of this variable's type and shape.
    ///
    /// # Errors
    /// None today.
    #[track_caller]
    pub fn ones_like(&self) -> Result<Variable> {
        let build = Build(Span(Location::caller()));
        build.apply(
            BroadcastLike,
            vec![build.typed(1.0, self.dtype()), self.clone()],
        )
    }
}
