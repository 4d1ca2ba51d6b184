//! Fused elementwise programs: a list of operations run tile by tile, so that intermediate values never leave the L1 cache.
//!
//! A program is built once (`program_builder.rs`) and run on any operands; its operations are the same kernels, through the
//! same frames, as the single ones of `elementwise.rs`, and give the same results.

use crate::code::Code;
use crate::driver;
use crate::elementwise::{scalar_fits, scalar_word};
use crate::error::{KernelError, Result};
use crate::flat::{self, Operands};
use crate::instruction::Instruction;
use crate::isa::Level;
use crate::operand::{Input, Operand};
use crate::plan::{Action, Load, Plan, Source, Step};
use crate::program_builder::{Loaded, ProgramBuilder};
use crate::table_moves;
use lodestride_buffer::{Argument, DType};
use lodestride_shape::Shape;
use smallvec::SmallVec;
use std::fmt;

/// A fused elementwise computation with any number of inputs and outputs, ready to run. Made by [`ProgramBuilder`].
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) built: ProgramBuilder,
    pub(crate) tiles: usize,
    /// Where the outputs' values are.
    pub(crate) results: SmallVec<[Source; 2]>,
    /// The calls for array inputs of the program's dtypes.
    pub(crate) code: Code,
    /// Bytes of the widest element.
    pub(crate) width: usize,
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
        if self.run_flat(inputs, outputs)? {
            return Ok(());
        }
        let Some(first) = outputs.first() else {
            return Ok(());
        };
        for (index, output) in outputs.iter().enumerate() {
            output.check_shape(name, Argument::Output(index), first.shape())?;
            output.check_writable(name)?;
        }
        let run = self.bind(inputs, first.shape())?;
        let dtypes: SmallVec<[DType; 2]> = outputs.iter().map(Operand::dtype).collect();
        let steps = self.steps(&run, &dtypes);
        let mut targets: SmallVec<[(Argument, Operand<'_>); 2]> = SmallVec::new();
        for (index, output) in outputs.iter().enumerate() {
            targets.push((Argument::Output(index), *output));
        }
        driver::run(&steps.plan(self, &run, &targets))
    }

    /// The run on dense operands of the program's dtypes; gives false, having done nothing, where they are not so.
    ///
    /// # Errors
    /// [`KernelError::Access`].
    fn run_flat(&self, inputs: &[Input<'_>], outputs: &[Operand<'_>]) -> Result<bool> {
        let stored = self.built.stores.iter().zip(outputs);
        for (register, output) in stored {
            if self.built.dtypes[register.0] != output.dtype() {
                return Ok(false);
            }
        }
        let operands = Operands {
            loads: &self.built.loads,
            inputs,
            outputs,
        };
        let Some(fit) = operands.fit() else {
            return Ok(false);
        };
        let cost = (self.width, self.built.heavy);
        flat::run(self.built.name, &self.code, cost, &operands, fit)?;
        Ok(true)
    }

    /// Inputs as the loads take them.
    ///
    /// # Errors
    /// As [`Program::run`], for arrays of another shape and scalars out of range.
    pub(crate) fn bind<'a>(&self, inputs: &[Input<'a>], shape: &Shape) -> Result<Binding<'a>> {
        let mut run = Binding {
            loads: SmallVec::new(),
            casts: SmallVec::new(),
        };
        let mut next = inputs.iter().enumerate();
        for load in &self.built.loads {
            match *load {
                Loaded::Constant(word, size) => run.loads.push(Load::Scalar(word, size)),
                Loaded::Input(dtype) => {
                    if let Some((index, input)) = next.next() {
                        run.input(self.built.name, index, input, dtype, shape)?;
                    }
                }
            }
        }
        Ok(run)
    }

    /// The steps with the conversions around them that these operands need; `outputs` are the dtypes wanted.
    pub(crate) fn steps(&self, run: &Binding<'_>, outputs: &[DType]) -> Steps {
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
        let mut cast = |steps: &mut SmallVec<[Step; 16]>, source, from, to| {
            steps.push(Step {
                action: Action::Cast(table_moves::cast_kernel(from, to, level), source),
                dtype: to,
                tile: tiles,
            });
            tiles += 1;
        };
        for &(load, from, to) in &run.casts {
            cast(&mut steps, Source::Load(load), from, to);
        }
        steps.extend(self.built.steps.iter().map(|step| Step {
            action: step.action.map_sources(moved),
            ..*step
        }));
        let mut results = SmallVec::new();
        for ((register, source), &to) in self.built.stores.iter().zip(&self.results).zip(outputs) {
            let (mut source, from) = (moved(*source), self.built.dtype(*register));
            if from != to {
                cast(&mut steps, source, from, to);
                source = Source::Step(steps.len() - 1);
            }
            results.push(source);
        }
        Steps {
            steps,
            tiles,
            results,
        }
    }
}

/// The steps of one run.
pub(crate) struct Steps {
    steps: SmallVec<[Step; 16]>,
    tiles: usize,
    results: SmallVec<[Source; 2]>,
}

impl Steps {
    /// A plan of these steps, as long as they and what they were made for live.
    pub(crate) fn plan<'p, 'a>(
        &'p self,
        program: &Program,
        run: &'p Binding<'a>,
        outputs: &'p [(Argument, Operand<'a>)],
    ) -> Plan<'p, 'a> {
        Plan {
            op: program.built.name,
            loads: &run.loads,
            steps: &self.steps,
            tiles: self.tiles,
            results: &self.results,
            outputs,
            heavy: program.built.heavy,
        }
    }
}

/// The operands of one run.
pub(crate) struct Binding<'a> {
    pub(crate) loads: SmallVec<[Load<'a>; 6]>,
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
        shape: &Shape,
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
                operand.check_shape(name, Argument::Input(index), shape)?;
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

pub(crate) fn check_count(
    op: &'static str,
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<()> {
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
