//! Ops that rearrange without computing: transpose, reshape, unit axes, broadcasting. All are views where memory allows.

use crate::apply::Apply;
use crate::error::{GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, OpRef, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::{Axes, Shape, normalize_axis};
use lodestride_lod::Lod;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::fmt::Write;
use std::panic::Location;

/// A few axes.
pub(crate) type AxisList = SmallVec<[usize; 4]>;

/// `name{a, b}` for listings.
pub(crate) fn with_list(
    name: &str,
    items: impl IntoIterator<Item = impl std::fmt::Display>,
) -> Cow<'static, str> {
    let mut text = format!("{name}{{");
    for (i, item) in items.into_iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{item}", if i > 0 { ", " } else { "" });
    }
    text.push('}');
    text.into()
}

/// Axes in another order. On a ragged batch the result is dense unless the rows stay first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Permute {
    /// Axis `order[i]` of the input becomes axis `i`.
    pub order: AxisList,
}

/// New axes of length 1 at these positions of the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExpandDims {
    /// Positions in the result, ascending.
    pub axes: AxisList,
}

/// Without these axes, which must have length 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Squeeze {
    /// Positions in the input, ascending.
    pub axes: AxisList,
}

/// Input 0 broadcast to a fixed shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BroadcastTo {
    /// The shape of the result.
    pub shape: SmallVec<[usize; 4]>,
}

fn permuted<T: Clone>(items: &[T], order: &[usize]) -> SmallVec<[T; 4]>
where
    [T; 4]: smallvec::Array<Item = T>,
{
    order.iter().map(|axis| items[*axis].clone()).collect()
}

/// The type with `dims`: ragged still when the rows stay where they are.
fn rearranged(ty: &Type, dims: Dims, rows_stay: bool) -> Type {
    if ty.is_lod() && rows_stay {
        Type::lod_from_dims(ty.dtype(), &dims, ty.lod_level())
    } else {
        Type::tensor(ty.dtype(), dims)
    }
}

fn lod_if(facts: &Facts, rows_stay: bool) -> Option<Lod> {
    if rows_stay { facts.lod.clone() } else { None }
}

impl Op for Permute {
    fn name(&self) -> Cow<'static, str> {
        with_list("transpose", &self.order)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        if ty.rank() != self.order.len() {
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected: "one entry per axis",
                found: ty.clone(),
            });
        }
        Ok(vec![rearranged(
            ty,
            permuted(ty.dims(), &self.order),
            self.order.first() == Some(&0),
        )])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let order: SmallVec<[isize; 6]> = self.order.iter().map(|a| *a as isize).collect();
        let layout = inputs[0].layout.permute(&order)?;
        let lod = lod_if(&inputs[0], self.order.first() == Some(&0));
        Ok(vec![Planned::View {
            input: 0,
            layout,
            lod,
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
            return Ok(vec![None]);
        };
        let mut order: AxisList = SmallVec::from_elem(0, self.order.len());
        for (to, from) in self.order.iter().enumerate() {
            order[*from] = to;
        }
        Ok(vec![Some(
            Build::of(node).apply(Permute { order }, vec![g.clone()])?,
        )])
    }
}

impl Op for ExpandDims {
    fn name(&self) -> Cow<'static, str> {
        with_list("expand_dims", &self.axes)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        let mut dims = Dims::from(ty.dims());
        for axis in &self.axes {
            if *axis > dims.len() {
                return Err(GraphErrorKind::Axis {
                    axis: *axis as isize,
                    rank: dims.len() + 1,
                });
            }
            dims.insert(*axis, Dim::Known(1));
        }
        Ok(vec![rearranged(ty, dims, self.axes.first() != Some(&0))])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let mut layout = inputs[0].layout.clone();
        for axis in &self.axes {
            layout = layout.expand_dims(*axis as isize)?;
        }
        let lod = lod_if(&inputs[0], self.axes.first() != Some(&0));
        Ok(vec![Planned::View {
            input: 0,
            layout,
            lod,
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
            return Ok(vec![None]);
        };
        Ok(vec![Some(Build::of(node).apply(
            Squeeze {
                axes: self.axes.clone(),
            },
            vec![g.clone()],
        )?)])
    }
}

impl Op for Squeeze {
    fn name(&self) -> Cow<'static, str> {
        with_list("squeeze", &self.axes)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        let mut dims = Dims::from(ty.dims());
        for axis in self.axes.iter().rev() {
            if *axis >= dims.len() {
                return Err(GraphErrorKind::Axis {
                    axis: *axis as isize,
                    rank: ty.rank(),
                });
            }
            if let Dim::Known(n) = dims.remove(*axis)
                && n != 1
            {
                let (parameter, rule) = ("length", "only axes of length 1 can be squeezed");
                return Err(GraphErrorKind::Parameter {
                    parameter,
                    value: n as i64,
                    rule,
                });
            }
        }
        Ok(vec![rearranged(ty, dims, self.axes.first() != Some(&0))])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let mut layout = inputs[0].layout.clone();
        for axis in self.axes.iter().rev() {
            layout = layout.squeeze(*axis as isize)?;
        }
        let lod = lod_if(&inputs[0], self.axes.first() != Some(&0));
        Ok(vec![Planned::View {
            input: 0,
            layout,
            lod,
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
            return Ok(vec![None]);
        };
        Ok(vec![Some(Build::of(node).apply(
            ExpandDims {
                axes: self.axes.clone(),
            },
            vec![g.clone()],
        )?)])
    }
}

impl Op for BroadcastTo {
    fn name(&self) -> Cow<'static, str> {
        with_list("broadcast_to", &self.shape)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let target = Type::tensor(inputs[0].ty.dtype(), self.shape.iter().copied());
        let dims = crate::ty::broadcast_dims(&[inputs[0].ty, &target])?;
        if dims[..] != *target.dims() {
            let types = [inputs[0].ty.clone(), target].into_iter().collect();
            return Err(GraphErrorKind::Broadcast { types, axis: 0 });
        }
        Ok(vec![target])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::view(
            inputs[0]
                .layout
                .broadcast_to(&Shape::from(&self.shape[..]))?,
        )])
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
        let build = Build::of(node);
        Ok(vec![Some(super::elemwise_grad::sum_to(
            build,
            g.clone(),
            &node.inputs()[0],
        )?)])
    }
}

/// Rearrangements.
impl Variable {
    /// The axes in reverse order.
    ///
    /// # Errors
    /// None for dense variables.
    #[track_caller]
    pub fn transpose(&self) -> Result<Variable> {
        let order = (0..self.rank()).rev().collect();
        apply(
            Permute { order },
            vec![self.clone()],
            Span(Location::caller()),
        )
    }

    /// The axes in the order given: axis `order[i]` becomes axis `i`. Negative axes count from the end.
    ///
    /// # Errors
    /// `Shape` when `order` is no permutation of the axes.
    #[track_caller]
    pub fn permute(&self, order: &[isize]) -> Result<Variable> {
        let span = Span(Location::caller());
        let fail = |kind| crate::GraphError::new(kind, None, span);
        let axes = order
            .iter()
            .map(|a| normalize_axis(*a, self.rank()))
            .collect::<Result<AxisList, _>>()
            .map_err(|e| fail(e.into()))?;
        for (i, axis) in axes.iter().enumerate() {
            if axes[..i].contains(axis) {
                let (parameter, rule) = ("axis", "each axis must be listed once");
                return Err(fail(GraphErrorKind::Parameter {
                    parameter,
                    value: *axis as i64,
                    rule,
                }));
            }
        }
        apply(Permute { order: axes }, vec![self.clone()], span)
    }

    /// New axes of length 1 at these positions of the result.
    ///
    /// # Errors
    /// `Shape` for an axis outside the result.
    #[track_caller]
    pub fn expand_dims(&self, axes: &[isize]) -> Result<Variable> {
        let span = Span(Location::caller());
        let rank = self.rank() + axes.len();
        let mut axes = axes
            .iter()
            .map(|a| normalize_axis(*a, rank))
            .collect::<Result<AxisList, _>>()
            .map_err(|e| crate::GraphError::new(e.into(), None, span))?;
        axes.sort_unstable();
        apply(ExpandDims { axes }, vec![self.clone()], span)
    }

    /// Without these axes, which must have length 1; `..` drops all axes known to have length 1.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist; `Parameter` when a length is known and not 1.
    #[track_caller]
    pub fn squeeze(&self, axes: impl Into<Axes>) -> Result<Variable> {
        let span = Span(Location::caller());
        let axes = axes.into();
        let resolved = axes
            .resolve(self.rank())
            .map_err(|e| crate::GraphError::new(e.into(), None, span))?;
        let all = resolved.is_all() && self.rank() > 0;
        let axes = resolved
            .axes()
            .iter()
            .copied()
            .filter(|a| !all || self.ty().dims()[*a] == Dim::Known(1))
            .collect();
        apply(Squeeze { axes }, vec![self.clone()], span)
    }

    /// Broadcast to a fixed shape.
    ///
    /// # Errors
    /// `Broadcast` when known lengths differ.
    #[track_caller]
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Variable> {
        apply(
            BroadcastTo {
                shape: shape.into(),
            },
            vec![self.clone()],
            Span(Location::caller()),
        )
    }
}

pub(crate) fn apply(op: impl Into<OpRef>, inputs: Vec<Variable>, span: Span) -> Result<Variable> {
    Apply::make(op.into(), inputs, span)?.out()
}
