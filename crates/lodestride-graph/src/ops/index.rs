//! Reading and writing parts: slices as views, gathering by index arrays, and their adjoints.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, Slot};
use crate::ops::build::Build;
use crate::ops::elemwise::{broadcast, broadcast_type, expect_inputs};
use crate::ops::elemwise_grad::fit;
use crate::ops::like::ShapeOf;
use crate::ops::shape::{ReshapeLike, apply, with_list};
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::NdArray;
use lodestride_array::kernels;
use lodestride_array::{DType, Scalar};
use lodestride_array::{Index, Layout, Order, Shape, normalize_axis};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::panic::Location;

/// A basic index: points, intervals, new axes. A view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subtensor {
    /// One entry per axis, as in `s![..]`.
    pub index: SmallVec<[Index; 4]>,
}

/// Input 0 with the part `index` replaced by input 1 (`SetSubtensor`) or increased by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteSubtensor {
    /// One entry per axis, as in `s![..]`.
    pub index: SmallVec<[Index; 4]>,
    /// Add to what is there instead of replacing it.
    pub add: bool,
}

/// Zeros of the shape of input 1, with input 0 at the part `index`: the adjoint of [`Subtensor`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlaceSubtensor {
    /// One entry per axis, as in `s![..]`.
    pub index: SmallVec<[Index; 4]>,
}

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

fn index_name(name: &str, index: &[Index]) -> Cow<'static, str> {
    with_list(name, index.iter().map(index_text))
}

fn index_text(index: &Index) -> String {
    let bound = |b: &Option<isize>| b.map_or(String::new(), |v| v.to_string());
    match index {
        Index::Point(i) => i.to_string(),
        Index::Interval { start, end, step: 1 } => format!("{}:{}", bound(start), bound(end)),
        Index::Interval { start, end, step } => format!("{}:{}:{step}", bound(start), bound(end)),
        Index::All => ":".into(),
        Index::NewAxis => "newaxis".into(),
        Index::Ellipsis => "...".into(),
    }
}

/// The index with the ellipsis spelled out for a rank: one entry per axis and new axis.
pub(crate) fn spelled_out(index: &[Index], rank: usize) -> SmallVec<[Index; 4]> {
    let used = index.iter().filter(|i| !matches!(i, Index::NewAxis | Index::Ellipsis)).count();
    let missing = rank.saturating_sub(used);
    let mut full = SmallVec::new();
    let mut open = true;
    for entry in index {
        match entry {
            Index::Ellipsis if open => {
                full.extend(std::iter::repeat_n(Index::All, missing));
                open = false;
            }
            Index::Ellipsis => {}
            other => full.push(*other),
        }
    }
    if open {
        full.extend(std::iter::repeat_n(Index::All, missing));
    }
    full
}

/// The type of a basic index: lengths where they follow from what is known.
fn indexed_type(ty: &Type, index: &[Index]) -> Result<Type, GraphErrorKind> {
    if let Some(shape) = ty.static_shape() {
        let layout = Layout::contiguous(Shape::from(shape), Order::C)?.index(index)?;
        return Ok(Type::tensor(ty.dtype(), layout.shape().iter().copied()));
    }
    let used = index.iter().filter(|i| !matches!(i, Index::NewAxis | Index::Ellipsis)).count();
    if used > ty.rank() {
        return Err(GraphErrorKind::Axis { axis: used as isize - 1, rank: ty.rank() });
    }
    let mut dims = Dims::new();
    let mut axis = 0;
    for entry in &spelled_out(index, ty.rank()) {
        let dim = ty.dims().get(axis).cloned().unwrap_or(Dim::Unknown);
        match entry {
            Index::NewAxis => {
                dims.push(Dim::Known(1));
                continue;
            }
            Index::Point(i) => {
                if let Dim::Known(n) = dim {
                    normalize_axis(*i, n).map_err(|_| GraphErrorKind::Parameter {
                        parameter: "index",
                        value: *i as i64,
                        rule: "outside the known length of its axis",
                    })?;
                }
            }
            Index::Interval { start: None, end: None, step: 1 | -1 } | Index::All => dims.push(dim),
            Index::Interval { .. } => dims.push(match dim {
                Dim::Known(n) => {
                    let one = Layout::contiguous(Shape::from(n), Order::C)?.index(&[*entry])?;
                    Dim::Known(one.shape()[0])
                }
                Dim::Unknown | Dim::Symbol(_) => Dim::Unknown,
            }),
            Index::Ellipsis => {}
        }
        axis += 1;
    }
    let rows_stay = matches!(index.first(), None | Some(Index::All | Index::Ellipsis));
    if ty.is_lod() && rows_stay {
        return Ok(Type::lod_from_dims(ty.dtype(), &dims, ty.lod_level()));
    }
    Ok(Type::tensor(ty.dtype(), dims))
}

impl Op for Subtensor {
    fn name(&self) -> Cow<'static, str> {
        index_name("index", &self.index)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        Ok(vec![indexed_type(inputs[0].ty, &self.index)?])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let layout = inputs[0].layout.index(&self.index)?;
        let rows_stay = matches!(self.index.first(), None | Some(Index::All | Index::Ellipsis));
        let lod = if rows_stay { inputs[0].lod.clone() } else { None };
        Ok(vec![Planned::View { input: 0, layout, lod }])
    }

    fn perform(&self, _: &[&Slot], _: &[&Slot]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn gradient(&self, node: &Apply, outputs: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else { return Ok(vec![None]) };
        let op = PlaceSubtensor { index: self.index.clone() };
        Ok(vec![Some(Build::of(node).apply(op, vec![g.clone(), node.inputs()[0].clone()])?)])
    }
}

impl Op for WriteSubtensor {
    fn name(&self) -> Cow<'static, str> {
        index_name(if self.add { "inc_index" } else { "set_index" }, &self.index)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        let part = indexed_type(inputs[0].ty, &self.index)?;
        broadcast_type(&[&part, inputs[1].ty], part.dtype())?;
        Ok(vec![inputs[0].ty.clone()])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::Fresh { shape: inputs[0].shape().clone(), lod: inputs[0].lod.clone() }])
    }

    fn perform(&self, inputs: &[&Slot], outputs: &[&Slot]) -> Result<(), GraphErrorKind> {
        let out = &outputs[0].data;
        kernels::copy(inputs[0].data.operand().into(), out.operand())?;
        let part = out.get(&self.index)?;
        let source = broadcast(&inputs[1].data, &part)?;
        if self.add {
            part.addi(&source)?;
        } else {
            kernels::copy(source.operand().into(), part.operand())?;
        }
        Ok(())
    }

    fn gradient(&self, node: &Apply, outputs: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else { return Ok(vec![None, None]) };
        let build = Build::of(node);
        let [x, y] = node.inputs() else { return Ok(vec![None, None]) };
        let dx = if self.add {
            g.clone()
        } else {
            let clear = Self { index: self.index.clone(), add: false };
            build.apply(clear, vec![g.clone(), build.typed(0.0, g.dtype())])?
        };
        let part = build.apply(Subtensor { index: self.index.clone() }, vec![g.clone()])?;
        Ok(vec![fit(build, Some(dx), x)?, fit(build, Some(part), y)?])
    }
}

impl Op for PlaceSubtensor {
    fn name(&self) -> Cow<'static, str> {
        index_name("place", &self.index)
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        Ok(vec![inputs[1].ty.with_dtype(inputs[0].ty.dtype())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::Fresh { shape: inputs[1].shape().clone(), lod: inputs[1].lod.clone() }])
    }

    fn perform(&self, inputs: &[&Slot], outputs: &[&Slot]) -> Result<(), GraphErrorKind> {
        let out = &outputs[0].data;
        out.assign(0.0)?;
        let part = out.get(&self.index)?;
        kernels::copy(broadcast(&inputs[0].data, &part)?.operand().into(), part.operand())?;
        Ok(())
    }

    fn gradient(&self, node: &Apply, outputs: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else { return Ok(vec![None, None]) };
        Ok(vec![Some(Build::of(node).apply(Subtensor { index: self.index.clone() }, vec![g.clone()])?), None])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

fn check_indices(ty: &Type, input: usize) -> Result<(), GraphErrorKind> {
    if ty.dtype().is_integer() {
        return Ok(());
    }
    Err(GraphErrorKind::InputKind { input, expected: "integers", found: ty.clone() })
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
            return Err(GraphErrorKind::Axis { axis: self.axis as isize, rank: ty.rank() });
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
        let shape = x[..self.axis].iter().chain(at.iter()).chain(&x[self.axis + 1..]).copied().collect();
        let lod = if self.axis == 0 { inputs[1].lod.clone() } else { None };
        Ok(vec![Planned::Fresh { shape, lod }])
    }

    fn perform(&self, inputs: &[&Slot], outputs: &[&Slot]) -> Result<(), GraphErrorKind> {
        let (x, at, out) = (&inputs[0].data, &inputs[1].data, &outputs[0].data);
        kernels::take(x.operand(), self.axis, at.operand(), out.operand())?;
        Ok(())
    }

    fn gradient(&self, node: &Apply, outputs: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else { return Ok(vec![None, None]) };
        let [x, at] = node.inputs() else { return Ok(vec![None, None]) };
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
        Ok(vec![Planned::Fresh { shape: inputs[2].shape().clone(), lod: inputs[2].lod.clone() }])
    }

    fn perform(&self, inputs: &[&Slot], outputs: &[&Slot]) -> Result<(), GraphErrorKind> {
        let (g, at, out) = (&inputs[0].data, &inputs[1].data, &outputs[0].data);
        kernels::copy(Scalar::Float(0.0).into(), out.operand())?;
        kernels::scatter_add(out.operand(), self.axis, at.operand(), g.operand())?;
        Ok(())
    }

    fn gradient(&self, node: &Apply, outputs: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else { return Ok(vec![None, None, None]) };
        let back = Build::of(node).apply(Take { axis: self.axis }, vec![g.clone(), node.inputs()[1].clone()])?;
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
            return Err(GraphErrorKind::Axis { axis: self.axes as isize - 1, rank: ty.rank() });
        }
        let joined: Option<usize> = ty.dims()[..self.axes].iter().map(Dim::known).product();
        let rest = ty.dims()[self.axes..].iter().cloned();
        Ok(vec![Type::tensor(ty.dtype(), std::iter::once(Dim::from(joined)).chain(rest))])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let shape = inputs[0].shape();
        let joined = shape[..self.axes].iter().product::<usize>() as isize;
        let sizes: SmallVec<[isize; 6]> =
            std::iter::once(joined).chain(shape[self.axes..].iter().map(|n| *n as isize)).collect();
        if let Some(layout) = inputs[0].layout.reshape(&sizes, Order::C)? {
            return Ok(vec![Planned::view(layout)]);
        }
        Ok(vec![Planned::fresh(sizes.iter().map(|n| *n as usize).collect::<Shape>())])
    }

    fn perform(&self, inputs: &[&Slot], outputs: &[&Slot]) -> Result<(), GraphErrorKind> {
        let (x, out) = (&inputs[0].data, &outputs[0].data);
        let sizes: SmallVec<[isize; 6]> = x.shape().iter().map(|n| *n as isize).collect();
        kernels::copy(x.operand().into(), out.view_as(&sizes[..])?.operand())?;
        Ok(())
    }

    fn gradient(&self, node: &Apply, outputs: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else { return Ok(vec![None]) };
        Ok(vec![Some(Build::of(node).apply(ReshapeLike, vec![g.clone(), node.inputs()[0].clone()])?)])
    }
}

impl Op for LinearIndex {
    fn name(&self) -> Cow<'static, str> {
        if self.rows { "linear_index{rows}".into() } else { "linear_index".into() }
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        if inputs.len() < 2 {
            return Err(GraphErrorKind::InputCount { expected: 2, found: inputs.len() });
        }
        let axes = inputs.len() - 1 + usize::from(self.rows);
        let rank = inputs[0].ty.static_shape().and_then(|shape| shape.first().copied()).unwrap_or(0);
        if axes > rank {
            return Err(GraphErrorKind::Axis { axis: axes as isize - 1, rank });
        }
        for (input, argument) in inputs.iter().enumerate().skip(1) {
            check_indices(argument.ty, input)?;
        }
        let types: Vec<&Type> = inputs[1..].iter().map(|a| a.ty).collect();
        if self.rows && types[0].rank() != 1 {
            return Err(GraphErrorKind::Rank { input: 1, expected: "a vector", found: types[0].clone() });
        }
        Ok(vec![broadcast_type(&types, DType::I64)?])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![super::elemwise::plan_broadcast(&inputs[1..])?])
    }

    fn perform(&self, inputs: &[&Slot], outputs: &[&Slot]) -> Result<(), GraphErrorKind> {
        let (shape, out) = (inputs[0].data.to_vec::<i64>()?, &outputs[0].data);
        let first = usize::from(self.rows);
        out.assign(0)?;
        if self.rows {
            if out.len() as i64 != shape[0] {
                let (left, right) = (out.shape().clone(), Shape::from(shape[0] as usize));
                return Err(GraphErrorKind::ShapesDiffer { left, right, rule: "one index per row" });
            }
            let mut row = 0;
            out.view_mut::<i64>()?.for_each(|slot| {
                *slot = row;
                row += 1;
            });
        }
        for (axis, slot) in inputs[1..].iter().enumerate() {
            let length = shape[first + axis];
            let at = broadcast(&slot.data, out)?;
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
        Some(value) => {
            Err(GraphErrorKind::Parameter { parameter: "index", value, rule: "outside the length of its axis" })
        }
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

    fn perform(&self, _: &[&Slot], _: &[&Slot]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn compute(&self, inputs: &[&Slot]) -> Result<Vec<Slot>, GraphErrorKind> {
        let mask = inputs[0].data.ravel()?;
        let count = kernels::count_nonzero(mask.operand())?;
        let data = NdArray::zeros_of(DType::I64, [count])?;
        kernels::nonzero(mask.operand(), data.expand_dims(1)?.operand())?;
        Ok(vec![Slot { data, lod: None }])
    }

    fn gradient(&self, _: &Apply, _: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        Ok(vec![None])
    }

    fn is_dynamic(&self) -> bool {
        true
    }
}

/// Parts.
impl Variable {
    /// The part given by `s![..]`: a view. Ragged batches become dense unless the rows are taken whole.
    ///
    /// # Errors
    /// `Shape` for an index outside a known length, `Axis` for too many entries.
    #[track_caller]
    pub fn get(&self, index: &[Index]) -> Result<Variable> {
        apply(Subtensor { index: index.into() }, vec![self.clone()], Span(Location::caller()))
    }

    /// This variable with a part replaced by `value`; the variable itself stays as it is.
    ///
    /// # Errors
    /// As for [`get`](Variable::get), and `Broadcast` when the value does not fit the part.
    #[track_caller]
    pub fn set_index(&self, index: &[Index], value: impl Into<Variable>) -> Result<Variable> {
        let op = WriteSubtensor { index: index.into(), add: false };
        apply(op, vec![self.clone(), value.into()], Span(Location::caller()))
    }

    /// This variable with `value` added to a part; the variable itself stays as it is.
    ///
    /// # Errors
    /// As for [`get`](Variable::get), and `Broadcast` when the value does not fit the part.
    #[track_caller]
    pub fn inc_index(&self, index: &[Index], value: impl Into<Variable>) -> Result<Variable> {
        let op = WriteSubtensor { index: index.into(), add: true };
        apply(op, vec![self.clone(), value.into()], Span(Location::caller()))
    }

    /// Slices along `axis` at integer positions; the axes of `indices` take the place of `axis`.
    ///
    /// # Errors
    /// `InputKind` when the indices are no integers; `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn take(&self, indices: impl Into<Variable>, axis: isize) -> Result<Variable> {
        let span = Span(Location::caller());
        let axis = normalize_axis(axis, self.rank()).map_err(|e| GraphError::new(e.into(), None, span))?;
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
        let arguments = std::iter::once(&shape).chain(indices.iter().copied()).cloned().collect();
        let at = apply(LinearIndex { rows: false }, arguments, span)?;
        let joined = apply(JoinAxes { axes: indices.len() }, vec![self.clone()], span)?;
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

    /// The elements along `axis` in reverse order.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn flip(&self, axis: isize) -> Result<Variable> {
        let span = Span(Location::caller());
        let axis = normalize_axis(axis, self.rank()).map_err(|e| GraphError::new(e.into(), None, span))?;
        let mut index: SmallVec<[Index; 4]> = SmallVec::from_elem(Index::All, axis);
        index.push(Index::Interval { start: None, end: None, step: -1 });
        apply(Subtensor { index }, vec![self.clone()], span)
    }

    /// The diagonal of a square or rectangular matrix.
    ///
    /// # Errors
    /// `Rank` unless this is a matrix.
    #[track_caller]
    pub fn diagonal(&self) -> Result<Variable> {
        apply(super::join::Diagonal, vec![self.clone()], Span(Location::caller()))
    }
}
