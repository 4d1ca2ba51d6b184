//! Context windows over the rows of sequences, and their adjoint: what sequence convolution is made of.

use crate::apply::Apply;
use crate::error::{GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::like::LodLike;
use crate::ops::sequence::{expect_lod, resolve_level, slot_lod};
use crate::ops::shape::apply;
use crate::ty::{Dim, Type};
use crate::variable::Variable;
use lodestride_array::Shape;
use lodestride_array::kernels::{self, SegmentWindow};
use std::borrow::Cow;
use std::panic::Location;

/// For every row the rows `start .. start + len` from it, side by side; zeros beyond the sequence's ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceWindows {
    /// Where the window begins, relative to the row.
    pub start: isize,
    /// How many rows it holds.
    pub len: usize,
    /// Which level's sequences.
    pub level: usize,
}

/// The adjoint of [`SequenceWindows`]. Inputs: gradient, ragged original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceWindowsAdjoint {
    /// The op whose adjoint this is.
    pub of: SequenceWindows,
}

impl SequenceWindows {
    /// The shape of the result: windows of rank-2 rows lie side by side, others get an axis of their own.
    fn widened<T: Clone>(&self, dims: &[T], times: impl Fn(&T) -> T, len: T) -> Vec<T> {
        match dims {
            [rows, width] => vec![rows.clone(), times(width)],
            _ => {
                let mut wide = dims.to_vec();
                wide.insert(1, len);
                wide
            }
        }
    }
}

impl Op for SequenceWindows {
    fn name(&self) -> Cow<'static, str> {
        format!("sequence_windows{{{}, {}}}", self.start, self.len).into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        expect_lod(inputs, 0, self.level)?;
        let ty = inputs[0].ty;
        if self.len == 0 {
            return Err(GraphErrorKind::Parameter {
                parameter: "len",
                value: 0,
                rule: "a window holds a row or more",
            });
        }
        if ty.rank() < 2 {
            return Err(GraphErrorKind::Rank {
                input: 0,
                expected: "rows of rank 1 or more",
                found: ty.clone(),
            });
        }
        let times = |d: &Dim| Dim::from(d.known().map(|n| n * self.len));
        let dims = self.widened(ty.dims(), times, Dim::Known(self.len));
        Ok(vec![Type::lod_from_dims(ty.dtype(), &dims, ty.lod_level())])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let shape = self.widened(inputs[0].shape(), |n| n * self.len, self.len);
        Ok(vec![Planned::Fresh {
            shape: Shape::from(shape),
            lod: inputs[0].lod.clone(),
        }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let offsets = slot_lod(inputs[0])?.rows_of(self.level as isize)?;
        let (x, out) = (inputs[0].data.operand(), outputs[0].data.operand());
        let window = SegmentWindow::new(self.start, self.len);
        kernels::segment_windows(x, &offsets, 0..x.shape()[0], window, out)?;
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
        let op = SequenceWindowsAdjoint { of: *self };
        Ok(vec![Some(
            Build::of(node).apply(op, vec![g.clone(), x.clone()])?,
        )])
    }
}

impl Op for SequenceWindowsAdjoint {
    fn name(&self) -> Cow<'static, str> {
        format!(
            "sequence_windows_adjoint{{{}, {}}}",
            self.of.start, self.of.len
        )
        .into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        expect_lod(inputs, 1, self.of.level)?;
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
        let offsets = slot_lod(outputs[0])?.rows_of(self.of.level as isize)?;
        let (g, out) = (inputs[0].data.operand(), outputs[0].data.operand());
        kernels::segment_windows_adjoint(g, &offsets, self.of.start, self.of.len, out)?;
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
        Ok(vec![Some(build.apply(self.of, vec![ragged])?), None])
    }

    fn reads(&self, input: usize) -> bool {
        input == 0
    }
}

/// Context windows; `level` counts from the top, -1 is the last.
impl Variable {
    /// For every row the rows `start .. start + len` from it, side by side, with zeros beyond the sequence's ends.
    ///
    /// # Errors
    /// `InputKind` for dense variables, `Parameter` for an empty window.
    #[track_caller]
    pub fn sequence_windows(&self, start: isize, len: usize, level: isize) -> Result<Variable> {
        let span = Span(Location::caller());
        let level = resolve_level(self, level, span)?;
        apply(
            SequenceWindows { start, len, level },
            vec![self.clone()],
            span,
        )
    }

    /// Fluid's `sequence_conv`: context windows of `len` rows from `start` on, times `filter` of shape [len * width, n].
    ///
    /// # Errors
    /// As for [`sequence_windows`](Variable::sequence_windows); `InnerLength` when the filter does not fit.
    #[track_caller]
    pub fn sequence_conv(
        &self,
        filter: impl Into<Variable>,
        start: isize,
        len: usize,
        level: isize,
    ) -> Result<Variable> {
        self.sequence_windows(start, len, level)?.matmul(filter)
    }
}
