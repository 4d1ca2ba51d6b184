//! Writing fused programs: registers are defined one by one, then joined, given tiles and resolved to kernel calls.

use crate::code::{Job, LoadKind};
use crate::elementwise::{scalar_fits, scalar_word};
use crate::error::{KernelError, Result};
use crate::instruction::{Instruction, Register};
use crate::isa::Level;
use crate::known_power::known_power;
use crate::op::{self, BinaryOp, UnaryOp};
use crate::pairs::{self, Arithmetic};
use crate::plan::{Action, Source, Step};
use crate::program::Program;
use crate::table::{self, UnaryKernel};
use crate::table_cast;
use lodestride_buffer::{DType, Scalar};
use smallvec::SmallVec;

/// Writes a [`Program`], one register at a time.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{BinaryOp, Operand, ProgramBuilder, UnaryOp};
/// use lodestride_shape::{Layout, Order};
///
/// // z = sqrt(x * x + y * y)
/// let mut program = ProgramBuilder::new("length");
/// let (x, y) = (program.load(DType::F32), program.load(DType::F32));
/// let (xx, yy) = (program.unary(UnaryOp::Square, x)?, program.unary(UnaryOp::Square, y)?);
/// let sum = program.binary(BinaryOp::Add, xx, yy)?;
/// let root = program.unary(UnaryOp::Sqrt, sum)?;
/// program.store(root);
/// let program = program.finish();
///
/// let (x, y) = (Buffer::from_vec(vec![3.0f32, 5.0])?, Buffer::from_vec(vec![4.0f32, 12.0])?);
/// let layout = Layout::contiguous([2], Order::C)?;
/// let (x, y) = (Operand::new(&x, &layout, DType::F32)?, Operand::new(&y, &layout, DType::F32)?);
/// program.run(&[x.into(), y.into()], &[x])?;
/// assert_eq!(x.buffer().read()?.slice::<f32>(), [5.0, 13.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    pub(crate) name: &'static str,
    pub(crate) instructions: Vec<Instruction>,
    /// Per register.
    pub(crate) dtypes: Vec<DType>,
    /// Where a register's value is found when the program runs, per register.
    sources: Vec<Source>,
    pub(crate) loads: Vec<Loaded>,
    pub(crate) steps: Vec<Step>,
    /// What a step computes, where it may be joined with another.
    arithmetic: Vec<Arithmetic>,
    pub(crate) stores: Vec<Register>,
    pub(crate) inputs: usize,
    /// Whether arithmetic rather than memory sets the pace.
    pub(crate) heavy: bool,
}

/// A value from outside the steps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loaded {
    /// An input, and the dtype it is loaded in.
    Input(DType),
    /// The word of a constant and the size of its dtype.
    Constant(u64, usize),
}

impl ProgramBuilder {
    /// An empty program; errors of its runs name it.
    pub fn new(name: &'static str) -> ProgramBuilder {
        ProgramBuilder {
            name,
            instructions: Vec::new(),
            dtypes: Vec::new(),
            sources: Vec::new(),
            loads: Vec::new(),
            steps: Vec::new(),
            arithmetic: Vec::new(),
            stores: Vec::new(),
            inputs: 0,
            heavy: false,
        }
    }

    /// The dtype of a register.
    ///
    /// # Panics
    /// If the register is of another program.
    pub fn dtype(&self, register: Register) -> DType {
        self.dtypes[register.0]
    }

    fn define(&mut self, instruction: Instruction, dtype: DType, source: Source) -> Register {
        self.instructions.push(instruction);
        self.dtypes.push(dtype);
        self.sources.push(source);
        Register(self.dtypes.len() - 1)
    }

    fn step(&mut self, action: Action, dtype: DType) -> Source {
        let number = self.steps.len();
        self.steps.push(Step {
            action,
            dtype,
            tile: number,
        });
        self.arithmetic.push(None);
        Source::Step(number)
    }

    /// Tells what the step made last computes.
    fn is(&mut self, op: BinaryOp, dtype: DType) {
        if let Some(last) = self.arithmetic.last_mut() {
            *last = Some((op, dtype));
        }
    }

    fn converted(&mut self, source: Source, from: DType, to: DType) -> Source {
        if from == to {
            return source;
        }
        self.step(
            Action::Cast(table_cast::cast_kernel(from, to, Level::current()), source),
            to,
        )
    }

    fn source(&mut self, register: Register, to: DType) -> Source {
        let (source, from) = (self.sources[register.0], self.dtypes[register.0]);
        self.converted(source, from, to)
    }

    /// Takes the next input, in the order of calls, as `dtype`; a run converts an operand of another dtype.
    pub fn load(&mut self, dtype: DType) -> Register {
        let source = Source::Load(self.loads.len());
        self.loads.push(Loaded::Input(dtype));
        self.inputs += 1;
        self.define(Instruction::Load(self.inputs - 1), dtype, source)
    }

    /// The same number everywhere.
    ///
    /// # Errors
    /// [`KernelError::ScalarOutOfRange`] where a whole number does not fit the integer `dtype`.
    pub fn constant(&mut self, scalar: Scalar, dtype: DType) -> Result<Register> {
        if !scalar_fits(scalar, dtype) {
            return Err(KernelError::ScalarOutOfRange {
                op: self.name,
                scalar,
                dtype,
            });
        }
        let source = Source::Load(self.loads.len());
        self.loads
            .push(Loaded::Constant(scalar_word(scalar, dtype), dtype.size()));
        Ok(self.define(Instruction::Constant(scalar), dtype, source))
    }

    /// An operation on one register; the result's dtype is [`UnaryOp::result_dtype`].
    ///
    /// # Errors
    /// [`KernelError::UnsupportedDType`].
    pub fn unary(&mut self, op: UnaryOp, x: Register) -> Result<Register> {
        let dtype = self.dtype(x);
        let unsupported = KernelError::UnsupportedDType {
            op: op.name(),
            dtype,
        };
        let (Some(compute), Some(result)) = (op.compute_dtype(dtype), op.result_dtype(dtype))
        else {
            return Err(unsupported);
        };
        let Some(kernel) = op::unary_kernel(op, compute, Level::current()) else {
            return Err(unsupported);
        };
        let source = self.source(x, compute);
        let value = self.step(Action::Unary(kernel, source), kernel.out);
        if op == UnaryOp::Square {
            self.is(BinaryOp::Mul, compute);
        }
        let value = self.converted(value, kernel.out, result);
        self.heavy |= kernel.heavy;
        Ok(self.define(Instruction::Unary(op, x), result, value))
    }

    /// An operation on two registers, promoted to one dtype; the result's is [`BinaryOp::result_dtype`] of that.
    ///
    /// # Errors
    /// [`KernelError::UnsupportedDType`].
    pub fn binary(&mut self, op: BinaryOp, x: Register, y: Register) -> Result<Register> {
        let dtype = self.dtype(x).promote(self.dtype(y));
        let unsupported = KernelError::UnsupportedDType {
            op: op.name(),
            dtype,
        };
        let (Some(compute), Some(result)) = (op.compute_dtype(dtype), op.result_dtype(dtype))
        else {
            return Err(unsupported);
        };
        let Some(kernel) = op::binary_kernel(op, compute, Level::current()) else {
            return Err(unsupported);
        };
        let a = self.source(x, compute);
        let (value, heavy) = match self.known_power(op, y, dtype, compute) {
            Some(kernel) => (
                self.step(Action::Unary(kernel, a), kernel.out),
                kernel.heavy,
            ),
            None => {
                let b = self.source(y, compute);
                let value = self.step(Action::Binary(kernel, a, b), kernel.out);
                self.is(op, compute);
                (value, kernel.heavy)
            }
        };
        let value = self.converted(value, kernel.out, result);
        self.heavy |= heavy;
        Ok(self.define(Instruction::Binary(op, x, y), result, value))
    }

    /// [`known_power`] of a constant that converting to `dtype` does not change.
    fn known_power(
        &self,
        op: BinaryOp,
        y: Register,
        dtype: DType,
        compute: DType,
    ) -> Option<UnaryKernel> {
        match self.instructions[y.0] {
            Instruction::Constant(y_value) if op == BinaryOp::Pow && self.dtype(y) == dtype => {
                known_power(y_value, compute, Level::current())
            }
            _ => None,
        }
    }

    /// `a` where `condition` is true (not zero), else `b`; the two promoted to one dtype.
    pub fn select(&mut self, condition: Register, a: Register, b: Register) -> Register {
        let dtype = self.dtype(a).promote(self.dtype(b));
        let kernel = table::select_kernel(dtype.size(), Level::current());
        let truth = self.source(condition, DType::Bool);
        let (x, y) = (self.source(a, dtype), self.source(b, dtype));
        let value = self.step(Action::Ternary(kernel, truth, x, y), dtype);
        self.define(Instruction::Select(condition, a, b), dtype, value)
    }

    /// A register in another dtype, converted as [`copy`](crate::copy) does.
    pub fn cast(&mut self, x: Register, dtype: DType) -> Register {
        let value = self.source(x, dtype);
        self.define(Instruction::Cast(x), dtype, value)
    }

    /// Makes a register the next output, and gives the output's number; a run converts to the operand's dtype.
    pub fn store(&mut self, x: Register) -> usize {
        self.stores.push(x);
        self.stores.len() - 1
    }

    /// Ends the program.
    pub fn finish(mut self) -> Program {
        let level = Level::current();
        let mut results: SmallVec<[Source; 2]> = self
            .stores
            .iter()
            .map(|register| self.sources[register.0])
            .collect();
        pairs::join(&mut self.steps, &self.arithmetic, &mut results, level);
        let tiles = assign_tiles(&mut self.steps, &results);
        let loads: SmallVec<[LoadKind; 6]> = self.loads.iter().map(Loaded::kind).collect();
        let job = Job {
            steps: &self.steps,
            tiles,
            loads: &loads,
            results: &results,
            in_place: None,
        };
        let code = job.compile(level);
        let steps = self.steps.iter().map(|step| step.dtype.size());
        let width = steps.chain(loads.iter().map(|load| load.size)).max();
        self.heavy |= self.steps.len() > 4;
        Program {
            tiles,
            results,
            code,
            width: width.unwrap_or(1),
            built: self,
        }
    }
}

impl Loaded {
    /// What is known before a run: inputs are arrays, mostly.
    fn kind(&self) -> LoadKind {
        match *self {
            Loaded::Input(dtype) => LoadKind {
                size: dtype.size(),
                scalar: false,
            },
            Loaded::Constant(_, size) => LoadKind { size, scalar: true },
        }
    }
}

/// Gives each step a tile that no value still needed occupies; returns their number. `kept` are needed to the end.
fn assign_tiles(steps: &mut [Step], kept: &[Source]) -> usize {
    let mut last_use: Vec<usize> = (0..steps.len()).collect();
    for (number, step) in steps.iter().enumerate() {
        for source in step.action.sources() {
            if let Source::Step(used) = source {
                last_use[used] = number;
            }
        }
    }
    for source in kept {
        if let Source::Step(used) = source {
            last_use[*used] = usize::MAX;
        }
    }
    // Per tile the step that is the last to read what is in it.
    let mut busy_until: Vec<usize> = Vec::new();
    for number in 0..steps.len() {
        let free = busy_until.iter().position(|&until| until < number);
        let tile = free.unwrap_or_else(|| {
            busy_until.push(0);
            busy_until.len() - 1
        });
        busy_until[tile] = last_use[number];
        steps[number].tile = tile;
    }
    busy_until.len()
}
