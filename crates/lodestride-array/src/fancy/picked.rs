//! From index arrays to places in memory: masks become positions, positions are checked and wrapped, those of several axes
//! become one joint position. Nothing is written here.

use lodestride_buffer::{Argument, DType, Scalar, scope_out, with_dtype};
use lodestride_kernels::{self as kernels, Input};
use lodestride_shape::{Order, Shape};
use smallvec::SmallVec;

use super::plan::{Plan, PlanEntry};
use super::{Entry, FancyIndex};
use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};
use crate::walk::Elements;

/// What an index list picks from an array: every position has been checked.
#[derive(Debug)]
pub(crate) struct Picked {
    pub(crate) plan: Plan,
    /// The joint positions, in the common shape of the index arrays and in C order, outside all workspaces: nobody's result.
    joint: NdArray,
}

/// Positions along one axis.
pub(crate) struct Positions {
    pub(super) shape: Shape,
    pub(crate) values: Vec<i64>,
    /// The size of the mask they come from, where they do.
    mask: Option<usize>,
    /// The array in C order that has the values, which are none then.
    indices: Option<NdArray>,
}

impl Positions {
    pub(crate) fn new(shape: Shape, values: Vec<i64>) -> Self {
        Self {
            shape,
            values,
            mask: None,
            indices: None,
        }
    }

    /// The elements of an integer array, left where they are if they lie one after the other as i64.
    #[track_caller]
    fn beside(op: &'static str, indices: &NdArray) -> Result<Self> {
        if indices.dtype() != DType::I64 || !indices.layout().is_contiguous(Order::C) {
            return Self::of_array(op, indices);
        }
        indices.expect_readable(op, Argument::Y)?;
        let mut positions = Self::new(indices.shape().clone(), Vec::new());
        positions.indices = Some(indices.clone());
        Ok(positions)
    }

    /// The elements of an integer array.
    #[track_caller]
    pub(crate) fn of_array(op: &'static str, indices: &NdArray) -> Result<Self> {
        indices.expect_positions(op)?;
        Ok(Self::new(
            indices.shape().clone(),
            read(op, indices, position)?,
        ))
    }

    /// The positions along each axis at which flags in C order are set.
    fn of_flags(shape: &Shape, flags: impl IntoIterator<Item = bool>) -> Vec<Self> {
        let set = flags.into_iter().enumerate().filter(|&(_, flag)| flag);
        let set: Vec<i64> = set.map(|(place, _)| place as i64).collect();
        let mut step = 1;
        let mut axes: Vec<Self> = (shape.iter().rev())
            .map(|&size| {
                let along = |&place: &i64| place / step % size as i64;
                let values = set.iter().map(along).collect();
                step *= size as i64;
                let mut positions = Self::new(Shape::from(set.len()), values);
                positions.mask = Some(size);
                positions
            })
            .collect();
        axes.reverse();
        axes
    }

    /// Checks the positions against an axis and wraps negative ones.
    #[track_caller]
    pub(super) fn wrap(&mut self, op: &'static str, array: &NdArray, axis: usize) -> Result<()> {
        let size = array.shape()[axis] as i64;
        if let Some(found) = self.mask.filter(|&found| found as i64 != size) {
            let array = ArraySummary::of(array);
            let kind = ArrayErrorKind::MaskSize {
                op,
                axis,
                found,
                array,
            };
            return Err(ArrayError::new(kind));
        }
        if any_outside(&self.values, size) {
            let wrong = (self.values.iter()).position(|&index| is_outside(index, size));
            let position = wrong.unwrap_or_default();
            return Err(ArrayError::new(ArrayErrorKind::PositionRange {
                op,
                axis,
                index: self.values[position],
                position,
                array: ArraySummary::of(array),
            }));
        }
        for value in &mut self.values {
            *value += if *value < 0 { size } else { 0 };
        }
        Ok(())
    }

    /// The values as an array for the kernels, outside all workspaces.
    #[track_caller]
    pub(super) fn array(&self, op: &'static str) -> Result<NdArray> {
        position_array(op, &self.values, self.shape.clone())
    }

    /// The positions of an axis as an array in C order, checked, negative ones as they are.
    #[track_caller]
    fn checked(&mut self, op: &'static str, array: &NdArray, axis: usize) -> Result<NdArray> {
        if let Some(indices) = &self.indices {
            let guard = indices.buffer().read().in_op(op, indices)?;
            let layout = indices.layout();
            let numbers = &guard.slice::<i64>()[layout.offset()..][..layout.elements()];
            if !any_outside(numbers, array.shape()[axis] as i64) {
                return Ok(indices.clone());
            }
            self.values = numbers.to_vec();
        }
        self.wrap(op, array, axis)?;
        self.array(op)
    }
}

impl NdArray {
    /// Checks that the elements are of a dtype that positions may have.
    #[track_caller]
    pub(crate) fn expect_positions(&self, op: &'static str) -> Result<()> {
        if self.dtype().is_float() || self.dtype() == DType::Bool {
            let indices = ArraySummary::of(self);
            return Err(ArrayError::new(ArrayErrorKind::IndexDType { op, indices }));
        }
        Ok(())
    }

    /// Checks that these indices have as many axes as the array they are for.
    #[track_caller]
    pub(crate) fn expect_rank_of(&self, op: &'static str, array: &NdArray) -> Result<()> {
        if self.rank() != array.rank() {
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected: "indices of as many axes as the array",
                array: ArraySummary::of(self),
            }));
        }
        Ok(())
    }
}

impl Picked {
    /// What a list picks.
    #[track_caller]
    pub(crate) fn of(op: &'static str, array: &NdArray, indices: &[FancyIndex]) -> Result<Self> {
        let (entries, positions) = split_with(op, indices, true)?;
        Self::with(op, array, &entries, positions)
    }

    /// What a list of axes taken whole and one of positions behind them picks.
    #[track_caller]
    pub(crate) fn along(
        op: &'static str,
        array: &NdArray,
        axis: usize,
        indices: &NdArray,
    ) -> Result<Self> {
        let positions = Positions::of_array(op, indices)?;
        let mut entries = vec![PlanEntry::Basic(lodestride_shape::all()); axis];
        entries.push(PlanEntry::Positions(positions.shape.clone()));
        Self::with(op, array, &entries, vec![positions])
    }

    /// What index vectors pick: the last axis of `indices` has a position for each of the first axes of the array.
    #[track_caller]
    pub(crate) fn coordinates(
        op: &'static str,
        array: &NdArray,
        indices: &NdArray,
    ) -> Result<Self> {
        let Some((&count, outer)) = indices
            .shape()
            .split_last()
            .filter(|(n, _)| **n <= array.rank())
        else {
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected: "indices with a last axis of at most one number per axis",
                array: ArraySummary::of(indices),
            }));
        };
        let all = Positions::of_array(op, indices)?.values;
        let shape = Shape::from(outer);
        let column = |from| {
            all.iter()
                .skip(from)
                .step_by(count.max(1))
                .copied()
                .collect()
        };
        let mut positions: Vec<_> = (0..count)
            .map(|axis| Positions::new(shape.clone(), column(axis)))
            .collect();
        if count == 0 {
            // No position at all: the whole array, as often as there are index vectors.
            let whole = array.with_layout(array.layout().expand_dims(0).in_op(op, array)?);
            positions.push(Positions::new(shape.clone(), vec![0; shape.elements()]));
            return Self::with(op, &whole, &[PlanEntry::Positions(shape)], positions);
        }
        let entries: Vec<_> = (positions.iter())
            .map(|_| PlanEntry::Positions(shape.clone()))
            .collect();
        Self::with(op, array, &entries, positions)
    }

    /// What a list with its positions taken out picks.
    #[track_caller]
    pub(crate) fn with(
        op: &'static str,
        array: &NdArray,
        entries: &[PlanEntry],
        mut positions: Vec<Positions>,
    ) -> Result<Self> {
        array.expect_readable(op, Argument::X)?;
        let plan = Plan::new(array.layout(), entries).in_op(op, array)?;
        let shape = plan.indexed();
        let fresh = || NdArray::recycled_ordered(op, DType::I64, shape.clone(), Order::C);
        let joint = scope_out(fresh).located()?;
        let base = Input::Scalar(Scalar::from(plan.base() as i64));
        kernels::copy(base, joint.operand()).or_fail(op)?;
        for (positions, axis) in positions.iter_mut().zip(plan.picked()) {
            let numbers = positions.checked(op, array, axis.axis)?;
            let layout = numbers.layout().broadcast_to(shape).or_fail(op)?;
            let (size, weight) = (array.shape()[axis.axis] as i64, axis.weight as i64);
            let add =
                move |joint: i64, at: i64| joint + (at + if at < 0 { size } else { 0 }) * weight;
            let operands = [joint.operand(), numbers.operand_as(&layout)];
            kernels::zip_map(op, &add, operands, joint.operand()).or_fail(op)?;
        }
        Ok(Self { plan, joint })
    }

    /// The shape of the picked part.
    pub(crate) fn shape(&self) -> Shape {
        self.plan.shape()
    }

    /// The joint positions, in the common shape of the index arrays and in C order.
    pub(crate) fn joint(&self) -> &NdArray {
        &self.joint
    }

    /// The distance of every picked element from the lowest the array reaches, in C order of the picked part.
    #[track_caller]
    pub(crate) fn places(&self, lowest: usize) -> Result<Vec<i64>> {
        let positions = self.joint.to_vec::<i64>()?;
        let (layout, at) = (self.plan.layout(), self.plan.at());
        let (shape, strides) = (layout.shape().as_slice(), layout.strides().as_slice());
        let start = layout.offset() as i64 - lowest as i64;
        let step = strides[at] as i64;
        let before = distances(&shape[..at], &strides[..at]);
        let after = distances(&shape[at + 1..], &strides[at + 1..]);
        let mut places = Vec::with_capacity(before.len() * positions.len() * after.len());
        for outer in before {
            for joint in &positions {
                let from = start + outer + joint * step;
                places.extend(after.iter().map(|inner| from + inner));
            }
        }
        Ok(places)
    }
}

fn is_outside(index: i64, size: i64) -> bool {
    (index < -size) | (index >= size)
}

/// Whether any position is outside an axis: one answer for all, for the compiler to vectorise.
fn any_outside(indices: &[i64], size: i64) -> bool {
    (indices.iter()).fold(false, |any, &index| any | is_outside(index, size))
}

/// Positions as an array for the kernels, outside all workspaces: it is nobody's result.
#[track_caller]
pub(crate) fn position_array(op: &'static str, positions: &[i64], shape: Shape) -> Result<NdArray> {
    scope_out(|| NdArray::from_elements(op, positions, shape))
}

/// How far from the first element each one lies, in C order.
fn distances(shape: &[usize], strides: &[isize]) -> Vec<i64> {
    let axes = shape.iter().zip(strides);
    sums(axes.map(|(&size, &stride)| (0..size as i64).map(move |i| i * stride as i64).collect()))
}

/// Every sum of one number of each list, the last list running fastest.
pub(crate) fn sums(lists: impl Iterator<Item = Vec<i64>>) -> Vec<i64> {
    lists.fold(vec![0], |all, list| {
        let with_each = |&sum: &i64| list.iter().map(move |number| sum + number);
        all.iter().flat_map(with_each).collect()
    })
}

/// The entries of a list as the plan takes them, and the positions of its index arrays.
#[track_caller]
pub(crate) fn split(op: &'static str, indices: &[FancyIndex]) -> Result<Split> {
    split_with(op, indices, false)
}

type Split = (SmallVec<[PlanEntry; 8]>, Vec<Positions>);

/// [`split`]; integer arrays may be left beside their positions.
#[track_caller]
fn split_with(op: &'static str, indices: &[FancyIndex], beside: bool) -> Result<Split> {
    let (mut entries, mut positions) = (SmallVec::new(), Vec::new());
    for index in indices {
        let found = match &index.entry {
            Entry::Basic(index) => {
                entries.push(PlanEntry::Basic(*index));
                continue;
            }
            Entry::List(list) => vec![Positions::new(Shape::from(list.len()), list.to_vec())],
            Entry::Truth(truth) => {
                entries.push(PlanEntry::Truth(*truth));
                continue;
            }
            Entry::Flags(flags) => {
                Positions::of_flags(&Shape::from(flags.len()), flags.iter().copied())
            }
            Entry::Array(array) if array.dtype() == DType::Bool => {
                let flags = read(op, array, Scalar::as_bool)?;
                if array.rank() == 0 {
                    entries.push(PlanEntry::Truth(flags[0]));
                    continue;
                }
                Positions::of_flags(array.shape(), flags)
            }
            Entry::Array(array) if beside => vec![Positions::beside(op, array)?],
            Entry::Array(array) => vec![Positions::of_array(op, array)?],
        };
        entries.extend((found.iter()).map(|found| PlanEntry::Positions(found.shape.clone())));
        positions.extend(found);
    }
    Ok((entries, positions))
}

/// A position that no axis has stays one.
fn position(value: Scalar) -> i64 {
    match value {
        Scalar::UInt(value) => i64::try_from(value).unwrap_or(i64::MAX),
        value => value.as_i64(),
    }
}

/// The elements of an index array in C order.
#[track_caller]
fn read<R>(op: &'static str, array: &NdArray, convert: impl Fn(Scalar) -> R) -> Result<Vec<R>> {
    array.expect_readable(op, Argument::Y)?;
    let guard = array.buffer().read().in_op(op, array)?;
    let layout = array.layout();
    Ok(with_dtype!(array.dtype(), T => {
        let (data, convert) = (guard.slice::<T>(), |&value: &T| convert(Scalar::from(value)));
        if layout.is_contiguous(Order::C) {
            // A loop over a slice becomes one over vectors.
            data[layout.offset()..][..layout.elements()].iter().map(convert).collect()
        } else {
            Elements::new(data, layout).map(convert).collect()
        }
    }))
}
