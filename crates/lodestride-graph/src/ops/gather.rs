//! Gathering by index arrays and masks, and the adjoint, scattering. Slices are in `index`.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, Slot, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::{broadcast, broadcast_type, expect_inputs};
use crate::ops::like::ShapeOf;
use crate::ops::reshape::ReshapeLike;
use crate::ops::shape::{apply, with_list};
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::kernels;
use lodestride_array::{DType, NdArray, Order, Scalar, Shape, normalize_axis};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::panic::Location;

/// Slices of input 0 along an axis, at the positions in input 1; negative positions count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Take {
    /// The axis indexed.
    pub axis: usize,
}

/// Zeros of the shape of input 2, with the slices of input 0 added at the positions in input 1: the adjoint of [`Take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScatterAdd {
    /// The axis indexed.
    pub axis: usize,
}

/// The first `axes` axes of the input joined into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JoinAxes {
    /// How many axes become one.
    pub axes: usize,
}

/// Positions in the joined first axes of an array whose shape is input 0, for one index array per axis; they broadcast
/// together.
///
/// With `rows`, the first axis is indexed by the position itself: element i of the arrays refers to row i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinearIndex {
    /// Whether the first axis counts along with the index arrays.
    pub rows: bool,
}

/// The positions at which input 0 is true, as an i64 vector over the flattened input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NonZero;

fn check_indices(ty: &Type, input: usize) -> Result<(), GraphErrorKind> {
    if ty.dtype().is_integer() {
        return Ok(());
    }
    Err(GraphErrorKind::InputKind {
        input,
        expected: "integers",
        found: ty.clone(),
    })
}

impl Op for Take {
    fn name(&self) -> Cow<'static, str> {
        with_list("take", [self.axis])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        let (ty, at) = (inputs[0].ty, inputs[1].ty);
        check_indices(at, 1)?;
        if self.axis >= ty.rank() {
            return Err(GraphErrorKind::Axis {
                axis: self.axis as isize,
                rank: ty.rank(),
            });
        }
        let mut dims: Dims = ty.dims()[..self.axis].into();
        dims.extend(at.dims().iter().cloned());
        dims.extend(ty.dims()[self.axis + 1..].iter().cloned());
        if self.axis == 0 && at.is_lod() {
            return Ok(vec![Type::lod_from_dims(ty.dtype(), &dims, at.lod_level())]);
        }
        Ok(vec![Type::tensor(ty.dtype(), dims)])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let (x, at) = (inputs[0].shape(), inputs[1].shape());
        let shape = x[..self.axis]
            .iter()
            .chain(at.iter())
            .chain(&x[self.axis + 1..])
            .copied()
            .collect();
        let lod = if self.axis == 0 {
            inputs[1].lod.clone()
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
        let (x, at, out) = (inputs[0].data, inputs[1].data, outputs[0].data);
        kernels::take(x.operand(), self.axis, at.operand(), out.operand())?;
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
        let [x, at] = node.inputs() else {
            return Ok(vec![None, None]);
        };
        if !x.dtype().is_float() {
            return Ok(vec![None, None]);
        }
        let op = ScatterAdd { axis: self.axis };
        let back = Build::of(node).apply(op, vec![g.clone(), at.clone(), x.clone()])?;
        Ok(vec![Some(back), None])
    }
}

impl Op for ScatterAdd {
    fn name(&self) -> Cow<'static, str> {
        with_list("scatter_add", [self.axis])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 3)?;
        check_indices(inputs[1].ty, 1)?;
        Ok(vec![inputs[2].ty.with_dtype(inputs[0].ty.dtype())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::Fresh {
            shape: inputs[2].shape().clone(),
            lod: inputs[2].lod.clone(),
        }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let (g, at, out) = (inputs[0].data, inputs[1].data, outputs[0].data);
        kernels::copy(Scalar::Float(0.0).into(), out.operand())?;
        kernels::scatter_add(out.operand(), self.axis, at.operand(), g.operand())?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None, None, None]);
        };
        let back = Build::of(node).apply(
            Take { axis: self.axis },
            vec![g.clone(), node.inputs()[1].clone()],
        )?;
        Ok(vec![Some(back), None, None])
    }

    fn reads(&self, input: usize) -> bool {
        input != 2
    }
}

impl Op for JoinAxes {
    fn name(&self) -> Cow<'static, str> {
        with_list("join_axes", [self.axes])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        if self.axes > ty.rank() {
            return Err(GraphErrorKind::Axis {
                axis: self.axes as isize - 1,
                rank: ty.rank(),
            });
        }
        let joined: Option<usize> = ty.dims()[..self.axes].iter().map(Dim::known).product();
        let rest = ty.dims()[self.axes..].iter().cloned();
        Ok(vec![Type::tensor(
            ty.dtype(),
            std::iter::once(Dim::from(joined)).chain(rest),
        )])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let shape = inputs[0].shape();
        let joined = shape[..self.axes].iter().product::<usize>() as isize;
        let sizes: SmallVec<[isize; 6]> = std::iter::once(joined)
            .chain(shape[self.axes..].iter().map(|n| *n as isize))
            .collect();
        if let Some(layout) = inputs[0].layout.reshape(&sizes, Order::C)? {
            return Ok(vec![Planned::view(layout)]);
        }
        Ok(vec![Planned::fresh(
            sizes.iter().map(|n| *n as usize).collect::<Shape>(),
        )])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let (x, out) = (inputs[0].data, outputs[0].data);
        let sizes: SmallVec<[isize; 6]> = x.shape().iter().map(|n| *n as isize).collect();
        kernels::copy(x.operand().into(), out.view_as(&sizes[..])?.operand())?;
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
            ReshapeLike,
            vec![g.clone(), node.inputs()[0].clone()],
        )?)])
    }
}

impl Op for LinearIndex {
    fn name(&self) -> Cow<'static, str> {
        if self.rows {
            "linear_index{rows}".into()
        } else {
            "linear_index".into()
        }
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        if inputs.len() < 2 {
            return Err(GraphErrorKind::InputCount {
                expected: 2,
                found: inputs.len(),
            });
        }
        let axes = inputs.len() - 1 + usize::from(self.rows);
        let rank = inputs[0]
            .ty
            .static_shape()
            .and_then(|shape| shape.first().copied())
            .unwrap_or(0);
        if axes > rank {
            return Err(GraphErrorKind::Axis {
                axis: axes as isize - 1,
                rank,
            });
        }
        for (input, argument) in inputs.iter().enumerate().skip(1) {
            check_indices(argument.ty, input)?;
        }
        let types: Vec<&Type> = inputs[1..].iter().map(|a| a.ty).collect();
        if self.rows && types[0].rank() != 1 {
            return Err(GraphErrorKind::Rank {
                input: 1,
                expected: "a vector",
                found: types[0].clone(),
            });
        }
        Ok(vec![broadcast_type(&types, DType::I64)?])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![super::elemwise::plan_broadcast(&inputs[1..])?])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let (shape, out) = (inputs[0].data.to_vec::<i64>()?, outputs[0].data);
        let first = usize::from(self.rows);
        out.assign(0)?;
        if self.rows {
            if out.len() as i64 != shape[0] {
                let (left, right) = (out.shape().clone(), Shape::from(shape[0] as usize));
                return Err(GraphErrorKind::shapes_differ(
                    left,
                    right,
                    "one index per row",
                ));
            }
            let mut row = 0;
            out.view_mut::<i64>()?.for_each(|slot| {
                *slot = row;
                row += 1;
            });
        }
        for (axis, slot) in inputs[1..].iter().enumerate() {
            let length = shape[first + axis];
            let at = broadcast(slot.data, out)?;
            out.muli(length)?;
            add_checked(out, &at, length)?;
        }
        Ok(())
    }

    fn gradient(&self, node: &Apply, _: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        Ok(vec![None; node.inputs().len()])
    }
}

/// Adds indices into an axis of `length` to `out`; a negative index counts from the end.
fn add_checked(out: &NdArray, at: &NdArray, length: i64) -> Result<(), GraphErrorKind> {
    let mut view = out.view_mut::<i64>()?;
    let mut failed = None;
    lodestride_array::with_dtype!(at.dtype(), T => {
        let source = at.view::<T>()?;
        let mut indices = source.iter();
        view.for_each(|slot| {
            let index = indices.next().map_or(0, |index| Scalar::from(*index).as_i64());
            let from_start = if index < 0 { index + length } else { index };
            if from_start < 0 || from_start >= length {
                failed = failed.or(Some(index));
            }
            *slot += from_start;
        });
    });
    match failed {
        None => Ok(()),
        Some(value) => Err(GraphErrorKind::Parameter {
            parameter: "index",
            value,
            rule: "outside the length of its axis",
        }),
    }
}

impl Op for NonZero {
    fn name(&self) -> Cow<'static, str> {
        "non_zero".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        Ok(vec![Type::tensor(DType::I64, [Dim::Unknown])])
    }

    fn plan(&self, _: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::Dynamic])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn compute(&self, inputs: &[SlotRef<'_>]) -> Result<Vec<Slot>, GraphErrorKind> {
        let mask = inputs[0].data.ravel()?;
        let count = kernels::count_nonzero(mask.operand())?;
        // Rows of one position each, as the kernel writes them fastest.
        let rows = NdArray::recycled(DType::I64, [count, 1])?;
        kernels::nonzero(mask.operand(), rows.operand())?;
        let data = rows.reshape([count])?;
        Ok(vec![Slot { data, lod: None }])
    }

    fn gradient(&self, _: &Apply, _: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        Ok(vec![None])
    }

    fn is_dynamic(&self) -> bool {
        true
    }
}

/// Gathering.
impl Variable {
    /// Slices along `axis` at integer positions; the axes of `indices` take the place of `axis`.
    ///
    /// # Errors
    /// `InputKind` when the indices are no integers; `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn take(&self, indices: impl Into<Variable>, axis: isize) -> Result<Variable> {
        let span = Span(Location::caller());
        let axis =
            normalize_axis(axis, self.rank()).map_err(|e| GraphError::new(e.into(), None, span))?;
        apply(Take { axis }, vec![self.clone(), indices.into()], span)
    }

    /// Elements at index arrays, one per leading axis, broadcast together: NumPy's `x[i, j]`.
    ///
    /// # Errors
    /// `InputKind` when the indices are no integers; `Axis` for more index arrays than axes.
    #[track_caller]
    pub fn gather(&self, indices: &[&Variable]) -> Result<Variable> {
        let span = Span(Location::caller());
        let shape = apply(ShapeOf, vec![self.clone()], span)?;
        let arguments = std::iter::once(&shape)
            .chain(indices.iter().copied())
            .cloned()
            .collect();
        let at = apply(LinearIndex { rows: false }, arguments, span)?;
        let joined = apply(
            JoinAxes {
                axes: indices.len(),
            },
            vec![self.clone()],
            span,
        )?;
        apply(Take { axis: 0 }, vec![joined, at], span)
    }

    /// From each row i, the element `labels[i]` of the second axis: `x[arange(n), labels]`.
    ///
    /// # Errors
    /// `InputKind` when the labels are no integers; `Rank` unless they are a vector.
    #[track_caller]
    pub fn pick(&self, labels: impl Into<Variable>) -> Result<Variable> {
        let span = Span(Location::caller());
        let shape = apply(ShapeOf, vec![self.clone()], span)?;
        let at = apply(LinearIndex { rows: true }, vec![shape, labels.into()], span)?;
        let joined = apply(JoinAxes { axes: 2 }, vec![self.clone()], span)?;
        apply(Take { axis: 0 }, vec![joined, at], span)
    }

    /// The elements of the leading axes where `mask` is true: NumPy's boolean index. The length follows from the values.
    ///
    /// # Errors
    /// `Axis` when the mask has more axes than this variable.
    #[track_caller]
    pub fn compress(&self, mask: impl Into<Variable>) -> Result<Variable> {
        let span = Span(Location::caller());
        let mask = mask.into();
        let joined = apply(JoinAxes { axes: mask.rank() }, vec![self.clone()], span)?;
        let at = apply(NonZero, vec![mask], span)?;
        apply(Take { axis: 0 }, vec![joined, at], span)
    }
}
