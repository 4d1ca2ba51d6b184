//! Fused elementwise programs: a list of operations run tile by tile, so that intermediate values never leave the L1 cache.
//!
//! A program is built once and run on any operands; its operations are the same kernels, through the same driver, as the
//! single ones of `elementwise.rs`, and give the same results. Reductions at the end of a program would be a further kind
//! of store, fed tile by tile; there are none yet.

use crate::driver;
use crate::elementwise::{scalar_fits, scalar_word};
use crate::error::{KernelError, Result};
use crate::instruction::{Instruction, Register};
use crate::isa::Level;
use crate::op::{self, BinaryOp, UnaryOp};
use crate::operand::{Input, Operand};
use crate::plan::{Action, Load, Plan, Source, Step};
use crate::table;
use lodestride_buffer::{Argument, DType, Scalar};
use smallvec::SmallVec;
use std::fmt;

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
    name: &'static str,
    instructions: Vec<Instruction>,
    /// Per register.
    dtypes: Vec<DType>,
    /// Where a register's value is found when the program runs, per register.
    sources: Vec<Source>,
    loads: Vec<Loaded>,
    steps: Vec<Step>,
    stores: Vec<Register>,
    inputs: usize,
    heavy: bool,
}

/// A value from outside the steps.
#[derive(Clone, Copy, Debug)]
enum Loaded {
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
        Source::Step(number)
    }

    fn converted(&mut self, source: Source, from: DType, to: DType) -> Source {
        if from == to {
            return source;
        }
        self.step(
            Action::Cast(table::cast_kernel(from, to, Level::current()), source),
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
        let (a, b) = (self.source(x, compute), self.source(y, compute));
        let value = self.step(Action::Binary(kernel, a, b), kernel.out);
        let value = self.converted(value, kernel.out, result);
        self.heavy |= kernel.heavy;
        Ok(self.define(Instruction::Binary(op, x, y), result, value))
    }

    /// `a` where `condition` is true (not zero), else `b`; the two promoted to one dtype.
    pub fn select(&mut self, condition: Register, a: Register, b: Register) -> Register {
        let dtype = self.dtype(a).promote(self.dtype(b));
        let kernel = table::select_kernel(dtype.size(), Level::current());
        let truth = self.source(condition, DType::Bool);
        let (x, y) = (self.source(a, dtype), self.source(b, dtype));
        let value = self.step(Action::Select(kernel, truth, x, y), dtype);
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
        let kept: SmallVec<[Source; 4]> = self
            .stores
            .iter()
            .map(|register| self.sources[register.0])
            .collect();
        let tiles = assign_tiles(&mut self.steps, &kept);
        Program { tiles, built: self }
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

/// A fused elementwise computation with any number of inputs and outputs, ready to run. Made by [`ProgramBuilder`].
#[derive(Clone, Debug)]
pub struct Program {
    built: ProgramBuilder,
    tiles: usize,
}

impl Program {
    /// The name errors carry.
    pub fn name(&self) -> &'static str {
        self.built.name
    }

    /// The number of inputs a run takes.
    pub fn inputs(&self) -> usize {
        self.built.inputs
    }

    /// The number of outputs a run takes.
    pub fn outputs(&self) -> usize {
        self.built.stores.len()
    }

    /// The dtype in which input `input` is used.
    pub fn input_dtype(&self, input: usize) -> Option<DType> {
        let mut inputs = self.built.loads.iter().filter_map(|load| match load {
            Loaded::Input(dtype) => Some(*dtype),
            Loaded::Constant(..) => None,
        });
        inputs.nth(input)
    }

    /// The dtype output `output` is computed in.
    pub fn output_dtype(&self, output: usize) -> Option<DType> {
        self.built
            .stores
            .get(output)
            .map(|&register| self.built.dtype(register))
    }

    /// What the program does, register by register.
    pub fn instructions(&self) -> &[Instruction] {
        &self.built.instructions
    }

    /// Computes the outputs from the inputs, tile by tile.
    ///
    /// All outputs and array inputs have one shape (broadcast axes of inputs have stride 0); scalars stand for every
    /// position. Outputs may share memory with inputs: the result is as if the inputs had been copied first.
    ///
    /// # Errors
    /// [`KernelError::Count`] for a wrong number of operands, [`KernelError::OverlappingOutputs`] where outputs share
    /// elements, and as [`binary`](crate::binary). Nothing is written then.
    pub fn run(&self, inputs: &[Input<'_>], outputs: &[Operand<'_>]) -> Result<()> {
        let name = self.built.name;
        check_count(name, "inputs", self.inputs(), inputs.len())?;
        check_count(name, "outputs", self.outputs(), outputs.len())?;
        let Some(first) = outputs.first() else {
            return Ok(());
        };
        for (index, output) in outputs.iter().enumerate() {
            output.check_shape(name, Argument::Output(index), first.shape())?;
            output.check_writable(name)?;
        }
        let mut run = Binding {
            loads: SmallVec::new(),
            casts: SmallVec::new(),
        };
        let mut next = 0;
        for load in &self.built.loads {
            match *load {
                Loaded::Constant(word, size) => run.loads.push(Load::Scalar(word, size)),
                Loaded::Input(dtype) => {
                    run.input(name, next, &inputs[next], dtype, first)?;
                    next += 1;
                }
            }
        }
        let stores = self.built.stores.iter().enumerate();
        let wanted = stores.map(|(index, register)| {
            (
                self.built.sources[register.0],
                self.built.dtype(*register),
                index,
            )
        });
        self.drive(
            &run,
            wanted
                .map(|(source, dtype, index)| (source, dtype, outputs[index]))
                .collect(),
        )
    }

    /// Surrounds the steps with the conversions these operands need, and runs them.
    fn drive<'a>(
        &self,
        run: &Binding<'a>,
        wanted: SmallVec<[(Source, DType, Operand<'a>); 2]>,
    ) -> Result<()> {
        let shift = run.casts.len();
        let moved = |source: Source| match source {
            Source::Step(step) => Source::Step(step + shift),
            Source::Load(load) => match run.casts.iter().position(|&(from, ..)| from == load) {
                Some(cast) => Source::Step(cast),
                None => source,
            },
        };
        let level = Level::current();
        let mut tiles = self.tiles;
        let mut steps: SmallVec<[Step; 16]> = SmallVec::new();
        for &(load, from, to) in &run.casts {
            let kernel = table::cast_kernel(from, to, level);
            steps.push(Step {
                action: Action::Cast(kernel, Source::Load(load)),
                dtype: to,
                tile: tiles,
            });
            tiles += 1;
        }
        steps.extend(self.built.steps.iter().map(|step| Step {
            action: step.action.map_sources(moved),
            ..*step
        }));
        let mut stores: SmallVec<[(Source, Argument, Operand<'a>); 2]> = SmallVec::new();
        for (index, (source, dtype, output)) in wanted.into_iter().enumerate() {
            let mut source = moved(source);
            if dtype != output.dtype() {
                let kernel = table::cast_kernel(dtype, output.dtype(), level);
                steps.push(Step {
                    action: Action::Cast(kernel, source),
                    dtype: output.dtype(),
                    tile: tiles,
                });
                source = Source::Step(steps.len() - 1);
                tiles += 1;
            }
            stores.push((source, Argument::Output(index), output));
        }
        let heavy = self.built.heavy || steps.len() > 4;
        driver::run(&Plan {
            op: self.built.name,
            loads: &run.loads,
            steps: &steps,
            tiles,
            stores: &stores,
            heavy,
        })
    }
}

/// The operands of one run.
struct Binding<'a> {
    loads: SmallVec<[Load<'a>; 6]>,
    /// Loads whose operand has another dtype: the load, its dtype, the dtype wanted.
    casts: SmallVec<[(usize, DType, DType); 4]>,
}

impl<'a> Binding<'a> {
    fn input(
        &mut self,
        name: &'static str,
        index: usize,
        input: &Input<'a>,
        dtype: DType,
        output: &Operand<'_>,
    ) -> Result<()> {
        match *input {
            Input::Scalar(scalar) if !scalar_fits(scalar, dtype) => {
                return Err(KernelError::ScalarOutOfRange {
                    op: name,
                    scalar,
                    dtype,
                });
            }
            Input::Scalar(scalar) => self
                .loads
                .push(Load::Scalar(scalar_word(scalar, dtype), dtype.size())),
            Input::Array(operand) => {
                operand.check_shape(name, Argument::Input(index), output.shape())?;
                if operand.dtype() != dtype {
                    self.casts.push((self.loads.len(), operand.dtype(), dtype));
                }
                self.loads
                    .push(Load::Array(Argument::Input(index), operand));
            }
        }
        Ok(())
    }
}

fn check_count(op: &'static str, what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(KernelError::Count {
            op,
            what,
            expected,
            found,
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (instruction, dtype)) in self
            .built
            .instructions
            .iter()
            .zip(&self.built.dtypes)
            .enumerate()
        {
            writeln!(f, "%{number}: {dtype} = {instruction}")?;
        }
        for (output, register) in self.built.stores.iter().enumerate() {
            writeln!(f, "store {output} {register}")?;
        }
        Ok(())
    }
}
