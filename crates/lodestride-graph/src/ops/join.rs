//! Joining and splitting along an axis, and diagonals.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::shape::{ExpandDims, apply, with_list};
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::kernels::{self, Operand};
use lodestride_array::normalize_axis;
use lodestride_array::{DType, Scalar};
use smallvec::smallvec;
use std::borrow::Cow;
use std::panic::Location;

/// The inputs one after the other along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Concat {
    /// The axis.
    pub axis: usize,
}

/// The part of input 0 that comes from piece `part` when inputs 1.. are joined along `axis`: the adjoint of [`Concat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConcatPart {
    /// The axis.
    pub axis: usize,
    /// Which piece.
    pub part: usize,
}

/// The diagonal of a matrix, as a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Diagonal;

/// Zeros of the shape of input 1 with input 0 on the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaceDiagonal;

impl Op for Concat {
    fn name(&self) -> Cow<'static, str> {
        with_list("concat", [self.axis])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        let Some(first) = inputs.first() else {
            return Err(GraphErrorKind::InputCount {
                expected: 1,
                found: 0,
            });
        };
        let mut dims = Dims::from(first.ty.dims());
        if self.axis >= dims.len() {
            return Err(GraphErrorKind::Axis {
                axis: self.axis as isize,
                rank: dims.len(),
            });
        }
        let mut dtype = first.ty.dtype();
        let mut length = first.ty.dims()[self.axis].known();
        for (input, argument) in inputs.iter().enumerate().skip(1) {
            let ty = argument.ty;
            dtype = dtype.promote(ty.dtype());
            if ty.rank() != dims.len() {
                return Err(GraphErrorKind::Rank {
                    input,
                    expected: "the rank of the first",
                    found: ty.clone(),
                });
            }
            for (axis, (dim, other)) in dims.iter_mut().zip(ty.dims()).enumerate() {
                if axis != self.axis {
                    *dim = dim.meet(other).ok_or_else(|| GraphErrorKind::Broadcast {
                        types: [first.ty.clone(), ty.clone()].into_iter().collect(),
                        axis,
                    })?;
                }
            }
            length = length.zip(ty.dims()[self.axis].known()).map(|(a, b)| a + b);
        }
        dims[self.axis] = Dim::from(length);
        // Side by side, ragged rows keep their sequences.
        if self.axis > 0
            && let Some(ragged) = inputs.iter().find(|a| a.ty.is_lod())
        {
            return Ok(vec![Type::lod_from_dims(
                dtype,
                &dims,
                ragged.ty.lod_level(),
            )]);
        }
        Ok(vec![Type::tensor(dtype, dims)])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let mut shape = inputs[0].shape().clone();
        let mut lod = inputs[0].lod.clone();
        for facts in &inputs[1..] {
            let other = facts.shape();
            let differs = |axis: usize| axis != self.axis && shape[axis] != other[axis];
            if (0..shape.rank()).any(differs) {
                let rule = "joined arrays must agree in all other axes";
                return Err(GraphErrorKind::shapes_differ(shape, other.clone(), rule));
            }
            shape[self.axis] += other[self.axis];
            match (&lod, &facts.lod) {
                (Some(a), Some(b)) if a != b && self.axis > 0 => {
                    return Err(GraphErrorKind::LodDiffers);
                }
                (None, Some(b)) => lod = Some(b.clone()),
                _ => {}
            }
        }
        let lod = if self.axis > 0 { lod } else { None };
        Ok(vec![Planned::Fresh { shape, lod }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let operands: Vec<Operand<'_>> = inputs.iter().map(|slot| slot.data.operand()).collect();
        kernels::concat(&operands, self.axis, outputs[0].data.operand())?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let inputs = node.inputs();
        let Some(g) = &outputs[0] else {
            return Ok(vec![None; inputs.len()]);
        };
        let build = Build::of(node);
        let part = |(part, x): (usize, &Variable)| {
            if !x.dtype().is_float() {
                return Ok(None);
            }
            let arguments = std::iter::once(g).chain(inputs).cloned().collect();
            let piece = build.apply(
                ConcatPart {
                    axis: self.axis,
                    part,
                },
                arguments,
            )?;
            build.cast(piece, x.dtype()).map(Some)
        };
        inputs.iter().enumerate().map(part).collect()
    }
}

impl Op for ConcatPart {
    fn name(&self) -> Cow<'static, str> {
        with_list("concat_part", [self.axis, self.part])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        let Some(piece) = inputs.get(self.part + 1) else {
            return Err(GraphErrorKind::InputCount {
                expected: self.part + 2,
                found: inputs.len(),
            });
        };
        Ok(vec![piece.ty.with_dtype(inputs[0].ty.dtype())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let start: usize = inputs[1..=self.part]
            .iter()
            .map(|f| f.shape()[self.axis])
            .sum();
        let piece = &inputs[self.part + 1];
        let layout = inputs[0]
            .layout
            .narrow(self.axis as isize, start..start + piece.shape()[self.axis])?;
        Ok(vec![Planned::View {
            input: 0,
            layout,
            lod: piece.lod.clone(),
        }])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

impl Op for Diagonal {
    fn name(&self) -> Cow<'static, str> {
        "diagonal".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        let ty = inputs[0].ty;
        if ty.rank() != 2 {
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected: "a matrix",
                found: ty.clone(),
            });
        }
        let length = ty.dims()[0]
            .known()
            .zip(ty.dims()[1].known())
            .map(|(a, b)| a.min(b));
        Ok(vec![Type::tensor(ty.dtype(), [length])])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::view(inputs[0].layout.diagonal(0)?)])
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
            PlaceDiagonal,
            vec![g.clone(), node.inputs()[0].clone()],
        )?)])
    }
}

impl Op for PlaceDiagonal {
    fn name(&self) -> Cow<'static, str> {
        "place_diagonal".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        Ok(vec![inputs[1].ty.with_dtype(inputs[0].ty.dtype())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::fresh(inputs[1].shape().clone())])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let out = outputs[0].data;
        kernels::copy(Scalar::Float(0.0).into(), out.operand())?;
        let layout = out.layout().diagonal(0)?;
        let target = Operand::new(out.buffer(), &layout, out.dtype())?;
        kernels::copy(inputs[0].data.operand().into(), target)?;
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
            Some(Build::of(node).apply(Diagonal, vec![g.clone()])?),
            None,
        ])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

fn first_rank(pieces: &[&Variable], span: Span) -> Result<usize> {
    let missing = || {
        GraphError::new(
            GraphErrorKind::InputCount {
                expected: 1,
                found: 0,
            },
            None,
            span,
        )
    };
    pieces.first().map(|v| v.rank()).ok_or_else(missing)
}

/// The variables one after the other along an existing axis.
///
/// # Errors
/// `Rank` or `Broadcast` when the others do not fit the first; `InputCount` for none.
#[track_caller]
pub fn concat(pieces: &[&Variable], axis: isize) -> Result<Variable> {
    let span = Span(Location::caller());
    let rank = first_rank(pieces, span)?;
    let axis = normalize_axis(axis, rank).map_err(|e| GraphError::new(e.into(), None, span))?;
    apply(
        Concat { axis },
        pieces.iter().map(|v| (*v).clone()).collect(),
        span,
    )
}

/// The variables one after the other along a new axis.
///
/// # Errors
/// `Rank` or `Broadcast` when the others do not fit the first; `InputCount` for none.
#[track_caller]
pub fn stack(pieces: &[&Variable], axis: isize) -> Result<Variable> {
    let span = Span(Location::caller());
    let rank = first_rank(pieces, span)?;
    let axis = normalize_axis(axis, rank + 1).map_err(|e| GraphError::new(e.into(), None, span))?;
    let expand = |v: &&Variable| {
        apply(
            ExpandDims {
                axes: smallvec![axis],
            },
            vec![(*v).clone()],
            span,
        )
    };
    let pieces = pieces.iter().map(expand).collect::<Result<Vec<_>>>()?;
    apply(Concat { axis }, pieces, span)
}

/// Rows of zeros with a one at each label: shape of the labels plus one axis of length `classes`.
///
/// # Errors
/// `InputKind` when the labels are no integers.
#[track_caller]
pub fn one_hot(labels: impl Into<Variable>, classes: usize, dtype: DType) -> Result<Variable> {
    let span = Span(Location::caller());
    let build = Build(span);
    let labels = labels.into();
    if !labels.dtype().is_integer() {
        let kind = GraphErrorKind::InputKind {
            input: 0,
            expected: "integers",
            found: labels.ty().clone(),
        };
        return Err(GraphError::new(kind, None, span));
    }
    let columns: Vec<i64> = (0..classes as i64).collect();
    let array = lodestride_array::NdArray::from_vec(columns, [classes])
        .map_err(|e| GraphError::new(e.into(), None, span))?;
    let columns = crate::Constant::typed(array.into(), None, span);
    let wide = build.apply(
        ExpandDims {
            axes: smallvec![labels.rank()],
        },
        vec![labels],
    )?;
    let hit = build.binary(lodestride_array::kernels::BinaryOp::Eq, wide, columns)?;
    build.cast(hit, dtype)
}
