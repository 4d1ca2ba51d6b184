//! Elementwise ops: every row of the kernel registry, select and cast. Gradients are in `elemwise_grad`.

use crate::apply::Apply;
use crate::constant::literal_dtype;
use crate::error::{GraphErrorKind, Result};
use crate::op::{Argument, Facts, Op, Overwrite, Planned, SlotRef};
use crate::ops::elemwise_grad;
use crate::ty::{Type, broadcast_dims};
use crate::variable::Variable;
use lodestride_array::NdArray;
use lodestride_array::kernels::{self, BinaryOp, Input, UnaryOp};
use lodestride_array::{DType, Scalar};
use lodestride_array::{Shape, broadcast_shapes};
use lodestride_lod::Lod;
use smallvec::SmallVec;
use std::borrow::Cow;

/// An op that works element by element and broadcasts its operands.
///
/// On ragged batches it works row by row and keeps the sequences; dense operands broadcast to the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elemwise {
    /// One operand.
    Unary(UnaryOp),
    /// Two operands.
    Binary(BinaryOp),
    /// `where(condition, a, b)`: strict in both branches.
    Select,
    /// Conversion to another dtype.
    Cast(DType),
}

impl Elemwise {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self {
            Self::Unary(_) | Self::Cast(_) => 1,
            Self::Binary(_) => 2,
            Self::Select => 3,
        }
    }

    /// The dtype in which the operands meet, literals adopting that of the others.
    pub(crate) fn operand_dtype(self, inputs: &[Argument<'_>]) -> Result<DType, GraphErrorKind> {
        let operands = if self == Self::Select {
            &inputs[1..]
        } else {
            inputs
        };
        let typed = operands
            .iter()
            .filter(|a| a.literal().is_none())
            .map(|a| a.ty.dtype())
            .reduce(DType::promote);
        let literals = operands.iter().filter_map(Argument::literal);
        let Some(mut dtype) = typed else {
            let dtypes = literals.map(literal_dtype).reduce(DType::promote);
            return Ok(dtypes.unwrap_or(DType::F64));
        };
        for literal in literals {
            dtype = dtype.promote_scalar(literal.kind());
            check_literal(literal, dtype)?;
        }
        Ok(dtype)
    }

    /// The result's dtype for operands that meet in `dtype`.
    pub(crate) fn result_dtype(self, dtype: DType) -> Result<DType, GraphErrorKind> {
        let result = match self {
            Self::Unary(op) => op.result_dtype(dtype),
            Self::Binary(op) => op.result_dtype(dtype),
            Self::Select => Some(dtype),
            Self::Cast(to) => Some(to),
        };
        result.ok_or(GraphErrorKind::UnsupportedDType { dtype })
    }
}

/// An integer literal must fit the integer dtype it adopts: wrapping it silently is never what was meant.
fn check_literal(literal: Scalar, dtype: DType) -> Result<(), GraphErrorKind> {
    let value = match literal {
        Scalar::Int(v) => i128::from(v),
        Scalar::UInt(v) => i128::from(v),
        Scalar::Bool(_) | Scalar::Float(_) => return Ok(()),
    };
    if !dtype.is_integer() {
        return Ok(());
    }
    let bits = 8 * dtype.size() as u32;
    let (low, high) = if dtype.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    if value < low || value > high {
        return Err(GraphErrorKind::LiteralRange { value, dtype });
    }
    Ok(())
}

/// Checks the number of arguments.
pub(crate) fn expect_inputs(
    inputs: &[Argument<'_>],
    expected: usize,
) -> Result<(), GraphErrorKind> {
    if inputs.len() == expected {
        Ok(())
    } else {
        Err(GraphErrorKind::InputCount {
            expected,
            found: inputs.len(),
        })
    }
}

/// The shape that all of these broadcast to; that of a scalar for none.
pub(crate) fn broadcast_shape<'a>(
    mut shapes: impl Iterator<Item = &'a Shape>,
) -> Result<Shape, GraphErrorKind> {
    let mut shape = shapes.next().map_or_else(Shape::scalar, Shape::clone);
    for other in shapes {
        if *other != shape {
            shape = broadcast_shapes(&shape, other)?;
        }
    }
    Ok(shape)
}

/// The shape and LoD of an elementwise result.
pub(crate) fn plan_broadcast(inputs: &[Facts]) -> Result<Planned, GraphErrorKind> {
    let mut lod: Option<&Lod> = None;
    for facts in inputs {
        match (lod, &facts.lod) {
            (Some(first), Some(other)) if first != other => return Err(GraphErrorKind::LodDiffers),
            (None, Some(found)) => lod = Some(found),
            _ => {}
        }
    }
    let shape = broadcast_shape(inputs.iter().map(Facts::shape))?;
    if let (Some(_), Some(ragged)) = (lod, inputs.iter().find(|f| f.lod.is_some()))
        && ragged.shape().first() != shape.first()
    {
        return Err(GraphErrorKind::shapes_differ(
            ragged.shape().clone(),
            shape,
            "a dense operand must broadcast to the rows of the ragged one",
        ));
    }
    Ok(Planned::Fresh {
        shape,
        lod: lod.cloned(),
    })
}

/// The type of an elementwise result: broadcast lengths, ragged if an operand is.
pub(crate) fn broadcast_type(types: &[&Type], dtype: DType) -> Result<Type, GraphErrorKind> {
    let dims = broadcast_dims(types)?;
    let Some(ragged) = types.iter().find(|t| t.is_lod()) else {
        return Ok(Type::tensor(dtype, dims));
    };
    let mismatch = |(input, ty): (usize, &&Type), expected| GraphErrorKind::InputKind {
        input,
        expected,
        found: (*ty).clone(),
    };
    for (input, ty) in types.iter().enumerate() {
        if ty.is_lod() && ty.lod_level() != ragged.lod_level() {
            return Err(mismatch(
                (input, ty),
                "the same number of LoD levels as the other operand",
            ));
        }
        if ty.rank() > ragged.rank() {
            return Err(mismatch(
                (input, ty),
                "no more axes than the ragged operand",
            ));
        }
    }
    Ok(Type::lod_from_dims(dtype, &dims, ragged.lod_level()))
}

impl Op for Elemwise {
    fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Unary(op) => op.name().into(),
            Self::Binary(op) => op.name().into(),
            Self::Select => "select".into(),
            Self::Cast(dtype) => format!("cast{{{dtype}}}").into(),
        }
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, self.arity())?;
        let dtype = self.result_dtype(self.operand_dtype(inputs)?)?;
        let types: Vec<&Type> = inputs.iter().map(|a| a.ty).collect();
        Ok(vec![broadcast_type(&types, dtype)?])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![plan_broadcast(inputs)?])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let out = outputs[0].data;
        let operands = inputs
            .iter()
            .map(|slot| broadcast(slot.data, out))
            .collect::<Result<SmallVec<[_; 3]>, _>>()?;
        let input = |i: usize| Input::from(operands[i].operand());
        match *self {
            Self::Unary(op) => kernels::unary(op, input(0), out.operand())?,
            Self::Binary(op) => kernels::binary(op, input(0), input(1), out.operand())?,
            Self::Select => kernels::select(input(0), input(1), input(2), out.operand())?,
            Self::Cast(_) => kernels::copy(input(0), out.operand())?,
        }
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        elemwise_grad::gradient(*self, node, outputs[0].as_ref())
    }

    fn may_overwrite(&self) -> Overwrite {
        Overwrite::AnyInput
    }
}

/// `x` seen with the shape of `out`; itself where it has it already, which costs nothing.
pub(crate) fn broadcast<'a>(
    x: &'a NdArray,
    out: &NdArray,
) -> Result<Cow<'a, NdArray>, GraphErrorKind> {
    if x.shape() == out.shape() {
        Ok(Cow::Borrowed(x))
    } else {
        Ok(Cow::Owned(x.broadcast_to(out.shape().clone())?))
    }
}
