//! Ops over the sequences of ragged batches: pooling, softmax, reversal. Context windows are in `sequence_windows`,
//! expanding in `sequence_expand`, padding in `sequence_pad`.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::like::LodLike;
use crate::ops::shape::{apply, with_list};
use crate::ty::{Dim, Type};
use crate::variable::Variable;
use lodestride_array::kernels::{self, RowRange, SegmentOp};
use lodestride_array::{DType, Scalar};
use lodestride_lod::Lod;
use std::borrow::Cow;
use std::panic::Location;

/// Each sequence of a level reduced to one row; levels above stay. An empty sequence gives the pad value.
///
/// `Max` and `Min` have a second output: the row each value came from, -1 for an empty sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequencePool {
    /// What is computed.
    pub kind: SegmentOp,
    /// Which level's sequences, resolved: 0 is the top.
    pub level: usize,
    /// The value for empty sequences, as bits.
    pad: u64,
}

/// The adjoint of [`SequencePool`]: rows from one row per sequence. Inputs: gradient, ragged original, rows of extremes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequencePoolGradient {
    /// What was computed.
    pub kind: SegmentOp,
    /// Which level's sequences.
    pub level: usize,
}

/// Softmax over the rows of each sequence of a level, column by column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceSoftmax {
    /// Which level's sequences.
    pub level: usize,
}

/// The parts of each sequence of a level in reverse order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceReverse {
    /// Which level's sequences.
    pub level: usize,
}

/// The LoD of an argument at call time.
pub(super) fn lod_of(facts: &Facts) -> Result<&Lod, GraphErrorKind> {
    facts.lod.as_ref().ok_or(GraphErrorKind::LodMissing)
}

pub(super) fn slot_lod(slot: SlotRef<'_>) -> Result<&Lod, GraphErrorKind> {
    slot.lod.ok_or(GraphErrorKind::LodMissing)
}

/// Checks that an argument is ragged with more than `level` levels.
pub(super) fn expect_lod(
    inputs: &[Argument<'_>],
    input: usize,
    level: usize,
) -> Result<(), GraphErrorKind> {
    let found = inputs[input].ty;
    if found.lod_level() > level {
        return Ok(());
    }
    Err(GraphErrorKind::InputKind {
        input,
        expected: "a ragged batch with that level",
        found: found.clone(),
    })
}

/// Drops the levels from `level` on; the row count becomes the number of sequences.
fn pooled_type(ty: &Type, dtype: DType, level: usize) -> Type {
    if level > 0 {
        return Type::lod_from_dims(dtype, ty.dims(), level);
    }
    let row = ty.dims().iter().skip(1).cloned();
    Type::tensor(dtype, std::iter::once(Dim::Unknown).chain(row))
}

impl SequencePool {
    fn has_positions(self) -> bool {
        matches!(self.kind, SegmentOp::Max | SegmentOp::Min)
    }

    /// Whether what is pooled of a multiple is that multiple of what is pooled.
    pub(crate) fn is_linear(&self) -> bool {
        !self.has_positions() && self.pad == 0
    }
}

impl Op for SequencePool {
    fn name(&self) -> Cow<'static, str> {
        with_list(&format!("sequence_pool.{}", self.kind.name()), [self.level])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        expect_lod(inputs, 0, self.level)?;
        let ty = inputs[0].ty;
        let mut types = vec![pooled_type(
            ty,
            self.kind.result_dtype(ty.dtype()),
            self.level,
        )];
        if self.has_positions() {
            types.push(pooled_type(ty, DType::I64, self.level));
        }
        Ok(types)
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let lod = lod_of(&inputs[0])?;
        let level = self.level as isize;
        let mut shape = inputs[0].shape().clone();
        shape[0] = lod.sequences(level)?;
        let above = if self.level > 0 {
            Some(lod.above(level)?)
        } else {
            None
        };
        let planned = Planned::Fresh { shape, lod: above };
        Ok(if self.has_positions() {
            vec![planned.clone(), planned]
        } else {
            vec![planned]
        })
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let offsets = slot_lod(inputs[0])?.rows_of(self.level as isize)?;
        let pad = Scalar::Float(f64::from_bits(self.pad));
        let positions = outputs.get(1).map(|slot| slot.data.operand());
        let (x, out) = (inputs[0].data.operand(), outputs[0].data.operand());
        kernels::segment_reduce(self.kind, x, &offsets, pad, out, positions)?;
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
        let mut arguments = vec![g.clone(), x.clone()];
        if self.has_positions() {
            arguments.extend(node.output(1));
        }
        let op = SequencePoolGradient {
            kind: self.kind,
            level: self.level,
        };
        Ok(vec![Some(Build::of(node).apply(op, arguments)?)])
    }
}

impl Op for SequencePoolGradient {
    fn name(&self) -> Cow<'static, str> {
        with_list(
            &format!("sequence_pool_gradient.{}", self.kind.name()),
            [self.level],
        )
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        if inputs.len() < 2 {
            return Err(GraphErrorKind::InputCount {
                expected: 2,
                found: inputs.len(),
            });
        }
        expect_lod(inputs, 1, self.level)?;
        let mut dims = vec![Dim::Unknown];
        dims.extend(inputs[0].ty.dims().iter().skip(1).cloned());
        Ok(vec![Type::lod_from_dims(
            inputs[0].ty.dtype(),
            &dims,
            inputs[1].ty.lod_level(),
        )])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let lod = lod_of(&inputs[1])?;
        let mut shape = inputs[0].shape().clone();
        let sequences = lod.sequences(self.level as isize)?;
        if shape.first() != Some(&sequences) {
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
        let lod = slot_lod(outputs[0])?;
        let offsets = lod.rows_of(self.level as isize)?;
        let positions = inputs.get(2).map(|slot| slot.data.operand());
        let (g, out) = (inputs[0].data.operand(), outputs[0].data.operand());
        kernels::segment_reduce_gradient(self.kind, g, &offsets, positions, out)?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let mut none = vec![None; node.inputs().len()];
        let Some(g) = &outputs[0] else {
            return Ok(none);
        };
        if matches!(self.kind, SegmentOp::Max | SegmentOp::Min) {
            return Err(GraphError::new(
                GraphErrorKind::NotDifferentiable,
                Some(node.op()),
                node.span(),
            ));
        }
        let build = Build::of(node);
        let ragged = build.apply(LodLike, vec![g.clone(), node.inputs()[1].clone()])?;
        none[0] = Some(build.apply(
            SequencePool {
                kind: self.kind,
                level: self.level,
                pad: 0,
            },
            vec![ragged],
        )?);
        Ok(none)
    }

    fn reads(&self, input: usize) -> bool {
        input != 1
    }
}

impl Op for SequenceSoftmax {
    fn name(&self) -> Cow<'static, str> {
        with_list("sequence_softmax", [self.level])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        expect_lod(inputs, 0, self.level)?;
        let dtype = inputs[0].ty.dtype();
        if !dtype.is_float() {
            return Err(GraphErrorKind::UnsupportedDType { dtype });
        }
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
        let offsets = slot_lod(inputs[0])?.rows_of(self.level as isize)?;
        kernels::segment_softmax(
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
        let Some(g) = &outputs[0] else {
            return Ok(vec![None]);
        };
        let (build, y) = (Build::of(node), node.out()?);
        let weighted = build.mul(&y, g)?;
        let pool = SequencePool {
            kind: SegmentOp::Sum,
            level: self.level,
            pad: 0,
        };
        let total = build.apply(pool, vec![weighted.clone()])?;
        let spread = SequencePoolGradient {
            kind: SegmentOp::Sum,
            level: self.level,
        };
        let total = build.apply(spread, vec![total, y.clone()])?;
        Ok(vec![Some(build.sub(weighted, build.mul(y, total)?)?)])
    }
}

impl Op for SequenceReverse {
    fn name(&self) -> Cow<'static, str> {
        with_list("sequence_reverse", [self.level])
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        expect_lod(inputs, 0, self.level)?;
        Ok(vec![inputs[0].ty.clone()])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let lod = lod_of(&inputs[0])?.reverse(self.level as isize)?.lod;
        Ok(vec![Planned::Fresh {
            shape: inputs[0].shape().clone(),
            lod: Some(lod),
        }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let lod = slot_lod(inputs[0])?;
        let (x, out) = (inputs[0].data.operand(), outputs[0].data.operand());
        if self.level + 1 == lod.depth() {
            kernels::segment_reverse(x, &lod.rows_of(self.level as isize)?, out)?;
        } else {
            let rows = lod.reverse(self.level as isize)?.rows;
            let rows = rows.into_iter().map(|rows| RowRange::new(0, rows));
            kernels::copy_row_ranges(&[x], &rows.collect::<Vec<_>>(), out)?;
        }
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
        let ragged = build.apply(LodLike, vec![g.clone(), node.out()?])?;
        Ok(vec![Some(build.apply(*self, vec![ragged])?)])
    }
}

/// A level counted from the top; -1 is the last.
pub(super) fn resolve_level(x: &Variable, level: isize, span: Span) -> Result<usize> {
    let depth = x.ty().lod_level();
    let from_top = if level < 0 {
        level + depth as isize
    } else {
        level
    };
    usize::try_from(from_top)
        .ok()
        .filter(|l| *l < depth)
        .ok_or_else(|| {
            let kind = if depth == 0 {
                GraphErrorKind::InputKind {
                    input: 0,
                    expected: "a ragged batch",
                    found: x.ty().clone(),
                }
            } else {
                GraphErrorKind::Parameter {
                    parameter: "level",
                    value: level as i64,
                    rule: "no such LoD level",
                }
            };
            GraphError::new(kind, None, span)
        })
}

/// Ops over sequences; `level` counts from the top, -1 is the last.
impl Variable {
    /// Each sequence of a level reduced to one row; 0 for empty ones.
    ///
    /// # Errors
    /// `InputKind` for dense variables, `Parameter` for a level that does not exist.
    ///
    /// ```
    /// use lodestride_array::kernels::SegmentOp;
    /// use lodestride_graph::{DType, lod};
    /// let x = lod("x", DType::F32, [12usize], 2);
    /// assert_eq!(x.sequence_pool(SegmentOp::Mean, -1)?.ty().to_string(), "LodType(f32, (?, 12), lod_level=1)");
    /// assert_eq!(x.sequence_pool(SegmentOp::Mean, 0)?.ty().to_string(), "TensorType(f32, (?, 12))");
    /// # Ok::<(), lodestride_graph::GraphError>(())
    /// ```
    #[track_caller]
    pub fn sequence_pool(&self, kind: SegmentOp, level: isize) -> Result<Variable> {
        self.pool_at(kind, level, 0.0, Span(Location::caller()))
    }

    /// [`sequence_pool`](Variable::sequence_pool) with a value for empty sequences.
    ///
    /// # Errors
    /// As for [`sequence_pool`](Variable::sequence_pool).
    #[track_caller]
    pub fn sequence_pool_or(&self, kind: SegmentOp, level: isize, empty: f64) -> Result<Variable> {
        self.pool_at(kind, level, empty, Span(Location::caller()))
    }

    fn pool_at(&self, kind: SegmentOp, level: isize, empty: f64, span: Span) -> Result<Variable> {
        let level = resolve_level(self, level, span)?;
        let op = SequencePool {
            kind,
            level,
            pad: empty.to_bits(),
        };
        let node = Apply::make(op.into(), vec![self.clone()], span)?;
        node.output(0).map_or_else(|| node.out(), Ok)
    }

    /// The first row of each sequence of the last level.
    ///
    /// # Errors
    /// `InputKind` for dense variables.
    #[track_caller]
    pub fn sequence_first_step(&self) -> Result<Variable> {
        self.pool_at(SegmentOp::First, -1, 0.0, Span(Location::caller()))
    }

    /// The last row of each sequence of the last level.
    ///
    /// # Errors
    /// `InputKind` for dense variables.
    #[track_caller]
    pub fn sequence_last_step(&self) -> Result<Variable> {
        self.pool_at(SegmentOp::Last, -1, 0.0, Span(Location::caller()))
    }

    /// Softmax over the rows of each sequence, column by column.
    ///
    /// # Errors
    /// `InputKind` for dense variables, `UnsupportedDType` unless floats.
    #[track_caller]
    pub fn sequence_softmax(&self, level: isize) -> Result<Variable> {
        let span = Span(Location::caller());
        apply(
            SequenceSoftmax {
                level: resolve_level(self, level, span)?,
            },
            vec![self.clone()],
            span,
        )
    }

    /// Each sequence with its parts in reverse order.
    ///
    /// # Errors
    /// `InputKind` for dense variables.
    #[track_caller]
    pub fn sequence_reverse(&self, level: isize) -> Result<Variable> {
        let span = Span(Location::caller());
        apply(
            SequenceReverse {
                level: resolve_level(self, level, span)?,
            },
            vec![self.clone()],
            span,
        )
    }
}
