//! Padding sequences to one length, and back.

use crate::apply::Apply;
use crate::error::{GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, Slot, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::like::LodLike;
use crate::ops::sequence::{expect_lod, lod_of, slot_lod};
use crate::ops::sequence_expand::rows_of;
use crate::ops::shape::apply;
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::kernels::{self};
use lodestride_array::{DType, NdArray, Scalar, Shape};
use lodestride_lod::{LodTensor, sequence};
use std::borrow::Cow;
use std::panic::Location;

/// The sequences of the last level as a dense `[sequences, length, ..]` tensor filled up with a value, and their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequencePad {
    /// The fill, as bits.
    pad: u64,
    /// The common length; that of the longest sequence if not given.
    pub length: Option<usize>,
}

/// Zeros of the shape of input 1, with the rows of the ragged input 0 in front of each padded row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequencePadLike;

/// The adjoint of padding: the rows of input 0 that the sequences of input 1 fill, with its LoD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceUnpadLike;

/// A ragged batch from a padded tensor and the lengths of its sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceUnpad;

fn padded_type(ty: &Type, length: Option<usize>) -> Type {
    let mut dims = Dims::new();
    dims.push(Dim::Unknown);
    dims.push(Dim::from(length));
    dims.extend(ty.dims().iter().skip(1).cloned());
    Type::tensor(ty.dtype(), dims)
}

/// Copies the rows of each sequence to the front of its padded row.
fn fill_padded(rows: &NdArray, offsets: &[usize], out: &NdArray) -> Result<(), GraphErrorKind> {
    for (i, pair) in offsets.windows(2).enumerate() {
        let target = rows_of(&out.slice(i as isize, 0)?, 0..pair[1] - pair[0])?;
        kernels::copy(
            rows_of(rows, pair[0]..pair[1])?.operand().into(),
            target.operand(),
        )?;
    }
    Ok(())
}

impl Op for SequencePad {
    fn name(&self) -> Cow<'static, str> {
        "sequence_pad".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        expect_lod(inputs, 0, 0)?;
        let lengths = Type::tensor(DType::I64, [Dim::Unknown]);
        Ok(vec![padded_type(inputs[0].ty, self.length), lengths])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let lod = lod_of(&inputs[0])?;
        let longest = lod.max_length(-1)?;
        let length = self.length.unwrap_or(longest);
        if length < longest {
            let rule = "shorter than the longest sequence";
            return Err(GraphErrorKind::Parameter {
                parameter: "length",
                value: length as i64,
                rule,
            });
        }
        let sequences = lod.sequences(-1)?;
        let row = inputs[0].shape().iter().skip(1).copied();
        let shape: Shape = [sequences, length].into_iter().chain(row).collect();
        Ok(vec![Planned::fresh(shape), Planned::fresh([sequences])])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let lod = slot_lod(inputs[0])?;
        let out = outputs[0].data;
        kernels::copy(
            Scalar::Float(f64::from_bits(self.pad)).into(),
            out.operand(),
        )?;
        let offsets = lod.rows_of(-1)?;
        fill_padded(inputs[0].data, &offsets, out)?;
        let mut lengths = lod.lengths_of(-1)?;
        let next = |slot: &mut i64| *slot = lengths.next().unwrap_or_default() as i64;
        outputs[1].data.view_mut::<i64>()?.for_each(next);
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let x = &node.inputs()[0];
        let Some(g) = outputs[0].as_ref().filter(|_| x.dtype().is_float()) else {
            return Ok(vec![None]);
        };
        Ok(vec![Some(
            Build::of(node).apply(SequenceUnpadLike, vec![g.clone(), x.clone()])?,
        )])
    }
}

impl Op for SequenceUnpadLike {
    fn name(&self) -> Cow<'static, str> {
        "sequence_unpad_like".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        expect_lod(inputs, 1, 0)?;
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
        let offsets = slot_lod(outputs[0])?.rows_of(-1)?;
        for (i, pair) in offsets.windows(2).enumerate() {
            let source = rows_of(&inputs[0].data.slice(i as isize, 0)?, 0..pair[1] - pair[0])?;
            kernels::copy(
                source.operand().into(),
                rows_of(outputs[0].data, pair[0]..pair[1])?.operand(),
            )?;
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
        let ragged = build.apply(LodLike, vec![g.clone(), node.inputs()[1].clone()])?;
        Ok(vec![
            Some(build.apply(SequencePadLike, vec![ragged, node.inputs()[0].clone()])?),
            None,
        ])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

impl Op for SequencePadLike {
    fn name(&self) -> Cow<'static, str> {
        "sequence_pad_like".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        expect_lod(inputs, 0, 0)?;
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
        let offsets = slot_lod(inputs[0])?.rows_of(-1)?;
        kernels::copy(Scalar::Float(0.0).into(), outputs[0].data.operand())?;
        fill_padded(inputs[0].data, &offsets, outputs[0].data)
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None, None]);
        };
        let arguments = vec![g.clone(), node.inputs()[0].clone()];
        Ok(vec![
            Some(Build::of(node).apply(SequenceUnpadLike, arguments)?),
            None,
        ])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

impl Op for SequenceUnpad {
    fn name(&self) -> Cow<'static, str> {
        "sequence_unpad".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        let (ty, lengths) = (inputs[0].ty, inputs[1].ty);
        if ty.rank() < 2 || ty.is_lod() {
            let expected = "a padded tensor of rank 2 or more";
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected,
                found: ty.clone(),
            });
        }
        if !lengths.dtype().is_integer() || lengths.rank() != 1 {
            let expected = "a vector of integer lengths";
            return Err(GraphErrorKind::InputKind {
                input: 1,
                expected,
                found: lengths.clone(),
            });
        }
        Ok(vec![Type::Lod(crate::LodType::new(
            ty.dtype(),
            ty.dims()[2..].iter().cloned(),
            1,
        ))])
    }

    fn plan(&self, _: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::Dynamic])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn compute(&self, inputs: &[SlotRef<'_>]) -> Result<Vec<Slot>, GraphErrorKind> {
        let lengths = sequence::counts(inputs[1].data)?;
        let tensor: LodTensor =
            sequence::unpad(&LodTensor::from(inputs[0].data.clone()), &lengths)?;
        Ok(vec![Slot {
            data: tensor.data().clone(),
            lod: Some(tensor.lod().clone()),
        }])
    }

    fn is_dynamic(&self) -> bool {
        true
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
        let ragged = build.apply(LodLike, vec![g.clone(), node.out()?])?;
        Ok(vec![
            Some(build.apply(SequencePadLike, vec![ragged, node.inputs()[0].clone()])?),
            None,
        ])
    }
}

/// Padding.
impl Variable {
    /// The sequences of the last level as a dense `[sequences, length, ..]` tensor filled up with `pad`, and their
    /// lengths. Without a length, that of the longest sequence.
    ///
    /// # Errors
    /// `InputKind` for dense variables; at call time `Parameter` when a sequence is longer than `length`.
    #[track_caller]
    pub fn sequence_pad(
        &self,
        pad: f64,
        length: impl Into<Option<usize>>,
    ) -> Result<(Variable, Variable)> {
        let span = Span(Location::caller());
        let op = SequencePad {
            pad: pad.to_bits(),
            length: length.into(),
        };
        let node = Apply::make(op.into(), vec![self.clone()], span)?;
        match <[Variable; 2]>::try_from(node.outputs()) {
            Ok([padded, lengths]) => Ok((padded, lengths)),
            Err(_) => unreachable!("padding has two outputs"),
        }
    }

    /// A ragged batch of one level from a padded tensor and the lengths of its sequences.
    ///
    /// # Errors
    /// `Rank` or `InputKind` for other arguments; at call time an error for a length that does not fit.
    #[track_caller]
    pub fn sequence_unpad(&self, lengths: impl Into<Variable>) -> Result<Variable> {
        apply(
            SequenceUnpad,
            vec![self.clone(), lengths.into()],
            Span(Location::caller()),
        )
    }
}
