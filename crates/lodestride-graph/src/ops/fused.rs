//! Several elementwise ops as one kernel: a register program run over cache-sized tiles. Only the optimiser makes it.

use crate::error::GraphErrorKind;
use crate::op::{Argument, Facts, Op, Overwrite, Planned, SlotRef};
use crate::ops::elemwise::{Elemwise, broadcast_type, plan_broadcast};
use crate::ty::Type;
use lodestride_array::kernels::{self, Input, Operand, Program, ProgramBuilder};
use lodestride_array::{DType, Scalar, Shape};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// One instruction of a fused op; operands are earlier instructions by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FusedStep {
    /// Input number `0`, of dtype `1`.
    Load(usize, DType),
    /// A number, by its bits as f64 or i64, in a dtype.
    Constant(u64, DType),
    /// An elementwise op.
    Apply(Elemwise, SmallVec<[usize; 3]>),
}

/// An elementwise region of the graph in one kernel.
#[derive(Clone, Debug)]
pub struct Fused {
    steps: Vec<FusedStep>,
    /// The instructions whose values are the outputs.
    outputs: SmallVec<[usize; 2]>,
    program: Program,
}

impl Fused {
    /// Compiles instructions into a program; `None` when a kernel for one of them is missing.
    pub(crate) fn new(steps: Vec<FusedStep>, outputs: SmallVec<[usize; 2]>) -> Option<Self> {
        let mut builder = ProgramBuilder::new("fused");
        let mut registers = Vec::with_capacity(steps.len());
        for step in &steps {
            let register = match step {
                FusedStep::Load(_, dtype) => builder.load(*dtype),
                FusedStep::Constant(bits, dtype) => {
                    let scalar = if dtype.is_float() {
                        Scalar::Float(f64::from_bits(*bits))
                    } else if *dtype == DType::Bool {
                        Scalar::Bool(*bits != 0)
                    } else if dtype.is_signed() {
                        Scalar::Int(bits.cast_signed())
                    } else {
                        Scalar::UInt(*bits)
                    };
                    builder.constant(scalar, *dtype).ok()?
                }
                FusedStep::Apply(op, operands) => {
                    let operand = |i: usize| registers[operands[i]];
                    match op {
                        Elemwise::Unary(op) => builder.unary(*op, operand(0)).ok()?,
                        Elemwise::Binary(op) => builder.binary(*op, operand(0), operand(1)).ok()?,
                        Elemwise::Select => builder.select(operand(0), operand(1), operand(2)),
                        Elemwise::Cast(dtype) => builder.cast(operand(0), *dtype),
                    }
                }
            };
            registers.push(register);
        }
        for output in &outputs {
            builder.store(registers[*output]);
        }
        Some(Self {
            steps,
            outputs,
            program: builder.finish(),
        })
    }

    /// The elementwise ops inside, in order.
    pub fn ops(&self) -> impl Iterator<Item = Elemwise> + '_ {
        self.steps.iter().filter_map(|step| match step {
            FusedStep::Apply(op, _) => Some(*op),
            FusedStep::Load(..) | FusedStep::Constant(..) => None,
        })
    }

    /// The number of outputs.
    pub(crate) fn results(&self) -> usize {
        self.outputs.len()
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The instructions.
    pub fn steps(&self) -> &[FusedStep] {
        &self.steps
    }
}

impl PartialEq for Fused {
    fn eq(&self, other: &Self) -> bool {
        self.steps == other.steps && self.outputs == other.outputs
    }
}

impl Eq for Fused {}

impl Hash for Fused {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.steps.hash(state);
        self.outputs.hash(state);
    }
}

impl Op for Fused {
    fn name(&self) -> Cow<'static, str> {
        crate::ops::with_list("fused", self.ops().map(|op| op.name()))
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        let types: Vec<&Type> = inputs.iter().map(|a| a.ty).collect();
        let dtypes =
            (0..self.outputs.len()).map(|i| self.program.output_dtype(i).unwrap_or(DType::F64));
        dtypes.map(|dtype| broadcast_type(&types, dtype)).collect()
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![plan_broadcast(inputs)?; self.outputs.len()])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let mut targets: SmallVec<[Operand<'_>; 2]> = SmallVec::with_capacity(outputs.len());
        for slot in outputs {
            targets.push(slot.data.operand());
        }
        with_inputs(inputs, outputs[0].data.shape(), |inputs| {
            self.program.run(inputs, &targets)
        })
    }

    fn may_overwrite(&self) -> Overwrite {
        Overwrite::AnyInput
    }
}

/// Hands values, stretched to a shape they broadcast to, to a program.
pub(crate) fn with_inputs(
    inputs: &[SlotRef<'_>],
    shape: &Shape,
    run: impl FnOnce(&[Input<'_>]) -> kernels::Result<()>,
) -> Result<(), GraphErrorKind> {
    let has_shape = |slot: &SlotRef<'_>| slot.data.shape() == shape;
    let mut stretched = Vec::new();
    let mut operands: SmallVec<[Input<'_>; 4]> = SmallVec::with_capacity(inputs.len());
    // Mostly all have the shape already; the others need a layout of their own.
    if inputs.iter().all(has_shape) {
        for slot in inputs {
            operands.push(slot.data.operand().into());
        }
        return Ok(run(&operands)?);
    }
    for slot in inputs {
        let data = (!has_shape(slot)).then(|| slot.data.broadcast_to(shape.clone()));
        stretched.push(data.transpose()?);
    }
    for (slot, stretched) in inputs.iter().zip(&stretched) {
        operands.push(stretched.as_ref().unwrap_or(slot.data).operand().into());
    }
    Ok(run(&operands)?)
}
