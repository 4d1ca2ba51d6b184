//! Expanding: rows and sequences repeated as often as another batch says.

use crate::apply::Apply;
use crate::error::{GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::like::LodLike;
use crate::ops::sequence::{expect_lod, lod_of, resolve_level, slot_lod};
use crate::ops::shape::{apply, with_list};
use crate::ty::{Dim, Dims, Type};
use crate::variable::Variable;
use lodestride_array::kernels::{self, RowRange, SegmentOp};
use lodestride_array::{Index, NdArray, Scalar};
use std::borrow::Cow;
use std::ops::Range;
use std::panic::Location;

/// Fluid's `sequence_expand`: sequence i (or row i) of input 0 repeated as often as sequence i of a level of input 1 has
/// parts. A dense input 0 gives a dense result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceExpand {
    /// The level of input 1 that counts.
    pub level: usize,
}

/// The adjoint of [`SequenceExpand`]. Inputs: gradient, original, reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceExpandAdjoint {
    /// The level of the reference that counts.
    pub level: usize,
}

/// Fluid's `sequence_expand_as`: row i of input 0 for every row of sequence i of input 1, with the LoD of input 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceExpandAs {
    /// The level of input 1 whose sequences count.
    pub level: usize,
}

/// How often each sequence or row is repeated, and which rows of the source make up the result.
fn expansion(
    x: &Facts,
    y: &Facts,
    level: usize,
) -> Result<(lodestride_lod::Lod, Vec<Range<usize>>), GraphErrorKind> {
    let counts: Vec<usize> = lod_of(y)?.lengths_of(level as isize)?.collect();
    let lod = match &x.lod {
        Some(lod) => lod.clone(),
        None => lodestride_lod::Lod::uniform(x.shape()[0], 1)?,
    };
    let selection = lod.repeat(0, &counts)?;
    Ok((selection.lod, selection.rows))
}

fn row_count(rows: &[Range<usize>]) -> usize {
    rows.iter().map(ExactSizeIterator::len).sum()
}

impl Op for SequenceExpand {
    fn name(&self) -> Cow<'static, str> {
        with_list("sequence_expand", [self.level])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        expect_lod(inputs, 1, self.level)?;
        let ty = inputs[0].ty;
        if ty.rank() == 0 {
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected: "rows",
                found: ty.clone(),
            });
        }
        if ty.is_lod() {
            return Ok(vec![ty.clone()]);
        }
        let mut dims = Dims::from(ty.dims());
        dims[0] = Dim::Unknown;
        Ok(vec![Type::tensor(ty.dtype(), dims)])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let (lod, rows) = expansion(&inputs[0], &inputs[1], self.level)?;
        let mut shape = inputs[0].shape().clone();
        shape[0] = row_count(&rows);
        Ok(vec![Planned::Fresh {
            shape,
            lod: inputs[0].lod.is_some().then_some(lod),
        }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let (_, rows) = expansion(&inputs[0].facts(), &inputs[1].facts(), self.level)?;
        let rows = rows.into_iter().map(|rows| RowRange::new(0, rows));
        let (x, out) = (inputs[0].data.operand(), outputs[0].data.operand());
        kernels::copy_row_ranges(&[x], &rows.collect::<Vec<_>>(), out)?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let [x, y] = node.inputs() else {
            return Ok(vec![None; node.inputs().len()]);
        };
        let Some(g) = outputs[0].as_ref().filter(|_| x.dtype().is_float()) else {
            return Ok(vec![None, None]);
        };
        let op = SequenceExpandAdjoint { level: self.level };
        Ok(vec![
            Some(Build::of(node).apply(op, vec![g.clone(), x.clone(), y.clone()])?),
            None,
        ])
    }
}

impl Op for SequenceExpandAdjoint {
    fn name(&self) -> Cow<'static, str> {
        with_list("sequence_expand_adjoint", [self.level])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 3)?;
        expect_lod(inputs, 2, self.level)?;
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
        let (_, rows) = expansion(&outputs[0].facts(), &inputs[2].facts(), self.level)?;
        kernels::copy(Scalar::Float(0.0).into(), out.operand())?;
        kernels::add_row_ranges(inputs[0].data.operand(), &rows, out.operand())?;
        Ok(())
    }
}

pub(super) fn rows_of(array: &NdArray, rows: Range<usize>) -> Result<NdArray, GraphErrorKind> {
    let (start, end) = (Some(rows.start as isize), Some(rows.end as isize));
    Ok(array.get(&[Index::Interval {
        start,
        end,
        step: 1,
    }])?)
}

impl Op for SequenceExpandAs {
    fn name(&self) -> Cow<'static, str> {
        with_list("sequence_expand_as", [self.level])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        expect_lod(inputs, 1, self.level)?;
        let ty = inputs[0].ty;
        if ty.rank() == 0 {
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected: "rows",
                found: ty.clone(),
            });
        }
        Ok(vec![Type::lod_from_dims(
            ty.dtype(),
            ty.dims(),
            inputs[1].ty.lod_level(),
        )])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let lod = lod_of(&inputs[1])?;
        let mut shape = inputs[0].shape().clone();
        if shape[0] != lod.sequences(self.level as isize)? {
            let (left, right) = (shape, inputs[1].shape().clone());
            return Err(GraphErrorKind::shapes_differ(
                left,
                right,
                "one row per sequence",
            ));
        }
        shape[0] = inputs[1].shape()[0];
        Ok(vec![Planned::Fresh {
            shape,
            lod: Some(lod.clone()),
        }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let offsets = slot_lod(outputs[0])?.rows_of(self.level as isize)?;
        kernels::segment_broadcast(
            inputs[0].data.operand(),
            &offsets,
            outputs[0].data.operand(),
        )?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let [x, y] = node.inputs() else {
            return Ok(vec![None; node.inputs().len()]);
        };
        let Some(g) = outputs[0].as_ref().filter(|_| x.dtype().is_float()) else {
            return Ok(vec![None, None]);
        };
        let build = Build::of(node);
        let ragged = build.apply(LodLike, vec![g.clone(), y.clone()])?;
        let total = ragged.sequence_pool(SegmentOp::Sum, self.level as isize)?;
        Ok(vec![
            Some(super::elemwise_grad::sum_to(build, total, x)?),
            None,
        ])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

/// Expanding.
impl Variable {
    /// Fluid's `sequence_expand`: sequence i (row i of a dense variable) repeated as often as sequence i of `level` of
    /// `reference` has parts.
    ///
    /// # Errors
    /// `InputKind` when the reference is dense, `Parameter` for a level that does not exist.
    #[track_caller]
    pub fn sequence_expand(
        &self,
        reference: impl Into<Variable>,
        level: isize,
    ) -> Result<Variable> {
        let span = Span(Location::caller());
        let reference = reference.into();
        let level = resolve_level(&reference, level, span)?;
        apply(
            SequenceExpand { level },
            vec![self.clone(), reference],
            span,
        )
    }

    /// Fluid's `sequence_expand_as`: row i for every row of sequence i of `reference`, with the LoD of `reference`.
    ///
    /// # Errors
    /// `InputKind` when the reference is dense, `Parameter` for a level that does not exist.
    #[track_caller]
    pub fn sequence_expand_as(
        &self,
        reference: impl Into<Variable>,
        level: isize,
    ) -> Result<Variable> {
        let span = Span(Location::caller());
        let reference = reference.into();
        let level = resolve_level(&reference, level, span)?;
        apply(
            SequenceExpandAs { level },
            vec![self.clone(), reference],
            span,
        )
    }
}
