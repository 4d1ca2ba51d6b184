//! Reading and writing parts: slices as views, gathering by index arrays, and their adjoints.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::{broadcast, broadcast_type, expect_inputs};
use crate::ops::elemwise_grad::fit;
use crate::ops::shape::{apply, with_list};
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::kernels;
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

fn index_name(name: &str, index: &[Index]) -> Cow<'static, str> {
    with_list(name, index.iter().map(index_text))
}

fn index_text(index: &Index) -> String {
    let bound = |b: &Option<isize>| b.map_or(String::new(), |v| v.to_string());
    match index {
        Index::Point(i) => i.to_string(),
        Index::Interval {
            start,
            end,
            step: 1,
        } => format!("{}:{}", bound(start), bound(end)),
        Index::Interval { start, end, step } => format!("{}:{}:{step}", bound(start), bound(end)),
        Index::All => ":".into(),
        Index::NewAxis => "newaxis".into(),
        Index::Ellipsis => "...".into(),
    }
}

/// The index with the ellipsis spelled out for a rank: one entry per axis and new axis.
pub(crate) fn spelled_out(index: &[Index], rank: usize) -> SmallVec<[Index; 4]> {
    let used = index
        .iter()
        .filter(|i| !matches!(i, Index::NewAxis | Index::Ellipsis))
        .count();
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
    let used = index
        .iter()
        .filter(|i| !matches!(i, Index::NewAxis | Index::Ellipsis))
        .count();
    if used > ty.rank() {
        return Err(GraphErrorKind::Axis {
            axis: used as isize - 1,
            rank: ty.rank(),
        });
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
            Index::Interval {
                start: None,
                end: None,
                step: 1 | -1,
            }
            | Index::All => dims.push(dim),
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

impl Subtensor {
    /// Whether nothing is done but to reverse axes.
    pub(crate) fn is_flip(&self) -> bool {
        let whole = |index: &Index| match index {
            Index::All | Index::Ellipsis => true,
            Index::Interval { start, end, step } => {
                start.is_none() && end.is_none() && step.abs() == 1
            }
            Index::Point(_) | Index::NewAxis => false,
        };
        self.index.iter().all(whole)
    }
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
        let rows_stay = matches!(
            self.index.first(),
            None | Some(Index::All | Index::Ellipsis)
        );
        let lod = if rows_stay {
            inputs[0].lod.clone()
        } else {
            None
        };
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
        let op = PlaceSubtensor {
            index: self.index.clone(),
        };
        Ok(vec![Some(
            Build::of(node).apply(op, vec![g.clone(), node.inputs()[0].clone()])?,
        )])
    }
}

impl Op for WriteSubtensor {
    fn name(&self) -> Cow<'static, str> {
        index_name(
            if self.add { "inc_index" } else { "set_index" },
            &self.index,
        )
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        let part = indexed_type(inputs[0].ty, &self.index)?;
        broadcast_type(&[&part, inputs[1].ty], part.dtype())?;
        Ok(vec![inputs[0].ty.clone()])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::like(&inputs[0])])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let out = outputs[0].data;
        kernels::copy(inputs[0].data.operand().into(), out.operand())?;
        let part = out.get(&self.index)?;
        let source = broadcast(inputs[1].data, &part)?;
        if self.add {
            part.addi(&*source)?;
        } else {
            kernels::copy(source.operand().into(), part.operand())?;
        }
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
        let build = Build::of(node);
        let [x, y] = node.inputs() else {
            return Ok(vec![None, None]);
        };
        let dx = if self.add {
            g.clone()
        } else {
            let clear = Self {
                index: self.index.clone(),
                add: false,
            };
            build.apply(clear, vec![g.clone(), build.typed(0.0, g.dtype())])?
        };
        let part = build.apply(
            Subtensor {
                index: self.index.clone(),
            },
            vec![g.clone()],
        )?;
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
        Ok(vec![Planned::Fresh {
            shape: inputs[1].shape().clone(),
            lod: inputs[1].lod.clone(),
        }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let out = outputs[0].data;
        out.assign(0.0)?;
        let part = out.get(&self.index)?;
        kernels::copy(
            broadcast(inputs[0].data, &part)?.operand().into(),
            part.operand(),
        )?;
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
        Ok(vec![
            Some(Build::of(node).apply(
                Subtensor {
                    index: self.index.clone(),
                },
                vec![g.clone()],
            )?),
            None,
        ])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
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
        apply(
            Subtensor {
                index: index.into(),
            },
            vec![self.clone()],
            Span(Location::caller()),
        )
    }

    /// This variable with a part replaced by `value`; the variable itself stays as it is.
    ///
    /// # Errors
    /// As for [`get`](Variable::get), and `Broadcast` when the value does not fit the part.
    #[track_caller]
    pub fn set_index(&self, index: &[Index], value: impl Into<Variable>) -> Result<Variable> {
        let op = WriteSubtensor {
            index: index.into(),
            add: false,
        };
        apply(
            op,
            vec![self.clone(), value.into()],
            Span(Location::caller()),
        )
    }

    /// This variable with `value` added to a part; the variable itself stays as it is.
    ///
    /// # Errors
    /// As for [`get`](Variable::get), and `Broadcast` when the value does not fit the part.
    #[track_caller]
    pub fn inc_index(&self, index: &[Index], value: impl Into<Variable>) -> Result<Variable> {
        let op = WriteSubtensor {
            index: index.into(),
            add: true,
        };
        apply(
            op,
            vec![self.clone(), value.into()],
            Span(Location::caller()),
        )
    }

    /// The elements along `axis` in reverse order.
    ///
    /// # Errors
    /// `Shape` for an axis that does not exist.
    #[track_caller]
    pub fn flip(&self, axis: isize) -> Result<Variable> {
        let span = Span(Location::caller());
        let axis =
            normalize_axis(axis, self.rank()).map_err(|e| GraphError::new(e.into(), None, span))?;
        let mut index: SmallVec<[Index; 4]> = SmallVec::from_elem(Index::All, axis);
        index.push(Index::Interval {
            start: None,
            end: None,
            step: -1,
        });
        apply(Subtensor { index }, vec![self.clone()], span)
    }

    /// The diagonal of a square or rectangular matrix.
    ///
    /// # Errors
    /// `Rank` unless this is a matrix.
    #[track_caller]
    pub fn diagonal(&self) -> Result<Variable> {
        apply(
            super::join::Diagonal,
            vec![self.clone()],
            Span(Location::caller()),
        )
    }
}
