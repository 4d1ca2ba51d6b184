//! Several elementwise programs and the reductions of what they compute, row by row in one pass over memory.
//!
//! A row is worked on until all is done with it: values that only later steps want stay in a tile of the first cache levels, what is one
//! number per row is at hand as soon as the row has been folded. So a normalisation and its gradients read their operands once.
//! Rows form blocks whose size depends on the shape alone, and totals over all rows are joined block after block: the result depends
//! neither on the number of threads nor on the instruction set.
#![expect(
    unsafe_code,
    reason = "opened buffers and totals are handed to the pass as raw pointers"
)]

use crate::code::Slot;
use crate::door;
use crate::driver::place;
use crate::error::{KernelError, Result};
use crate::operand::{Open, Operand};
use crate::program::{Program, check_count};
use crate::reduce::ReduceOp;
use crate::row_code::{Kind, RowCode};
use crate::row_fold::{ErasedFold, Unit};
use crate::stream;
use crate::threads;
use lodestride_buffer::{Argument, Buffer, DType};
use lodestride_shape::{Layout, Shape};
use smallvec::SmallVec;

/// Elements of a block, if its rows are short.
const BLOCK: usize = 1 << 16;

/// The most blocks that there are: each has totals of its own.
const MOST_BLOCKS: usize = 64;

/// A value of a row pass.
#[derive(Clone, Copy, Debug)]
pub enum RowValue<'a> {
    /// An array that is read: of the pass's shape, or with axes of length 1 that are stretched to it.
    Given(Operand<'a>),
    /// An array that is written: as steps need it.
    Wanted(Operand<'a>),
    /// A row of elements that no one but later steps sees.
    Row(DType),
    /// A number for each row that no one but later steps sees.
    Number(DType),
}

impl RowValue<'_> {
    fn dtype(&self) -> DType {
        match self {
            Self::Given(operand) | Self::Wanted(operand) => operand.dtype(),
            Self::Row(dtype) | Self::Number(dtype) => *dtype,
        }
    }
}

/// What a fold of a row pass goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFold {
    /// Each row, which becomes a number that later steps may use.
    Along,
    /// All rows, column by column; the result is there after the pass.
    Across,
    /// All elements; the result is there after the pass.
    All,
}

/// A step of a row pass. Values are given by their number.
#[derive(Clone, Copy, Debug)]
pub enum RowStep<'p> {
    /// A program on values of the dtypes that it loads and stores.
    Map {
        /// What is computed.
        program: &'p Program,
        /// Its inputs.
        inputs: &'p [usize],
        /// Its outputs.
        outputs: &'p [usize],
    },
    /// A reduction.
    Fold {
        /// How elements become one.
        op: ReduceOp,
        /// Which elements do.
        over: RowFold,
        /// The value that is reduced.
        from: usize,
        /// The value that the result is.
        to: usize,
    },
}

impl RowStep<'_> {
    /// The values that it reads or writes.
    fn values(&self) -> impl Iterator<Item = usize> {
        let (map, fold): (&[usize], _) = match self {
            Self::Map { inputs, .. } => (inputs, None),
            Self::Fold { from, to, .. } => (&[], Some([*from, *to])),
        };
        let outputs = match self {
            Self::Map { outputs, .. } => outputs,
            Self::Fold { .. } => &[][..],
        };
        map.iter()
            .chain(outputs)
            .copied()
            .chain(fold.into_iter().flatten())
    }
}

/// Runs steps for every row of a matrix of `columns` columns, in one pass: what they would compute one after the other, but for the
/// order of additions.
///
/// Operands have two axes, rows and columns, or one: then the matrix is cut out of a vector, whose last row may be shorter. The last
/// axis is dense. Outputs of programs and results of folds along rows are written per row, results of folds across rows or of all
/// elements after the pass. Operations are those of [`ReduceOp`] that give what they take, on `f32` and `f64`.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{BinaryOp, Operand, ProgramBuilder, ReduceOp, RowFold, RowStep, RowValue, row_pass};
/// use lodestride_shape::{Layout, Order};
///
/// // Rows without their mean.
/// let mut program = ProgramBuilder::new("centre");
/// let (x, mean) = (program.load(DType::F32), program.load(DType::F32));
/// let apart = program.binary(BinaryOp::Sub, x, mean)?;
/// program.store(apart);
/// let program = program.finish();
///
/// let (x, out) = (Buffer::from_vec(vec![1.0f32, 3.0, 10.0, 30.0])?, Buffer::zeroed(16)?);
/// let layout = Layout::contiguous([2, 2], Order::C)?;
/// let (rows, centred) = (Operand::new(&x, &layout, DType::F32)?, Operand::new(&out, &layout, DType::F32)?);
/// let values = [RowValue::Given(rows), RowValue::Number(DType::F32), RowValue::Wanted(centred)];
/// let steps = [
///     RowStep::Fold { op: ReduceOp::Mean, over: RowFold::Along, from: 0, to: 1 },
///     RowStep::Map { program: &program, inputs: &[0, 1], outputs: &[2] },
/// ];
/// row_pass("centre", (4, 2), &values, &steps)?;
/// assert_eq!(out.read()?.slice::<f32>(), [-1.0, 1.0, -10.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError::ShapeMismatch`], [`KernelError::DTypeMismatch`] and [`KernelError::UnsupportedDType`] for values that do not suit
/// their steps, [`KernelError::Shape`] for layouts whose rows are not dense or not evenly spaced, [`KernelError::InvalidArgument`] for a
/// value's number that there is not or that no step has computed before, for a step of nothing, or for an input in an output's memory;
/// [`KernelError::Access`]. Nothing is written then.
pub fn row_pass(
    name: &'static str,
    (elements, columns): (usize, usize),
    values: &[RowValue<'_>],
    steps: &[RowStep<'_>],
) -> Result<()> {
    if elements == 0 || columns == 0 {
        return Err(invalid(name, "elements", elements.min(columns)));
    }
    let rows = elements.div_ceil(columns);
    let extent = Extent {
        name,
        elements,
        columns,
        rows,
    };
    let (given, outputs) = operands(values);
    check_outputs(name, &outputs)?;
    let wanted: Operands<'_> = outputs.iter().map(|(_, output)| *output).collect();
    let mut copies: SmallVec<[Option<Buffer>; 4]> = SmallVec::new();
    for (argument, input) in &given {
        copies.push(door::private_copy(name, *argument, *input, &wanted)?);
    }
    let mut inputs = Arguments::new();
    for ((argument, input), copy) in given.iter().zip(&copies) {
        let input = match copy {
            Some(copy) => Operand::new(copy, input.layout(), input.dtype())?,
            None => *input,
        };
        inputs.push((*argument, input));
    }
    run_apart(extent, values, (&inputs, &outputs), steps)
}

/// [`row_pass`] of inputs apart from the outputs.
fn run_apart(
    extent: Extent,
    values: &[RowValue<'_>],
    (inputs, outputs): (&[(Argument, Operand<'_>)], &[(Argument, Operand<'_>)]),
    steps: &[RowStep<'_>],
) -> Result<()> {
    let open = Open::new(extent.name, outputs, inputs)?;
    let mut pass = Pass {
        extent,
        code: RowCode::new(extent.elements, extent.columns),
        slots: SmallVec::new(),
        values,
        numbers: Vec::with_capacity(values.len()),
        ready: vec![false; values.len()],
        totals: Vec::new(),
        streams: Vec::new(),
        bytes: 0,
    };
    let (mut given, mut kept) = (
        inputs.iter().zip(&open.inputs),
        outputs.iter().zip(&open.outputs),
    );
    let footprint = extent.footprint(inputs.iter().chain(outputs).map(|(_, operand)| *operand));
    for value in values {
        let opened = match value {
            RowValue::Given(_) => given
                .next()
                .map(|((a, o), start)| (*a, *o, start.cast_mut())),
            RowValue::Wanted(_) => kept.next().map(|((a, o), start)| (*a, *o, *start)),
            RowValue::Row(_) | RowValue::Number(_) => None,
        };
        pass.value(value, opened, footprint)?;
    }
    for (index, step) in steps.iter().enumerate() {
        pass.step(step)?;
        pass.release(step, &steps[index + 1..]);
    }
    pass.run()
}

type Arguments<'a> = SmallVec<[(Argument, Operand<'a>); 4]>;
type Operands<'a> = SmallVec<[Operand<'a>; 4]>;

/// The arrays among the values: those that are read, and those that are written.
fn operands<'a>(values: &[RowValue<'a>]) -> (Arguments<'a>, Arguments<'a>) {
    let (mut inputs, mut outputs) = (Arguments::new(), Arguments::new());
    for value in values {
        match value {
            RowValue::Given(operand) => inputs.push((Argument::Input(inputs.len()), *operand)),
            RowValue::Wanted(operand) => outputs.push((Argument::Output(outputs.len()), *operand)),
            RowValue::Row(_) | RowValue::Number(_) => {}
        }
    }
    (inputs, outputs)
}

/// Refuses outputs that share memory, or elements.
fn check_outputs(op: &'static str, outputs: &[(Argument, Operand<'_>)]) -> Result<()> {
    for (index, (second, output)) in outputs.iter().enumerate() {
        output.check_writable(op)?;
        let shares =
            |(_, other): &&(Argument, Operand<'_>)| other.buffer().same_block(output.buffer());
        if let Some((first, _)) = outputs[..index].iter().find(shares) {
            let (first, second) = (*first, *second);
            return Err(KernelError::OverlappingOutputs { op, first, second });
        }
    }
    Ok(())
}

fn invalid(op: &'static str, name: &'static str, value: usize) -> KernelError {
    KernelError::InvalidArgument {
        op,
        name,
        value: value as f64,
    }
}

/// The matrix of a pass.
#[derive(Clone, Copy, Debug)]
struct Extent {
    name: &'static str,
    elements: usize,
    columns: usize,
    rows: usize,
}

impl Extent {
    /// What an operand is to the rows: bytes from one to the next, and whether it is one number for each.
    fn fit(&self, argument: Argument, operand: &Operand<'_>) -> Result<(isize, bool)> {
        let (shape, strides) = (operand.shape(), operand.layout().strides());
        let size = operand.dtype().size().cast_signed();
        let (columns, step) = match (shape.as_slice(), strides.as_slice()) {
            (&[elements], &[_]) if elements == self.elements => {
                (self.columns, self.columns.cast_signed())
            }
            (&[1], &[_]) => (1, 0),
            (&[1, columns], &[_, _]) if columns == self.columns || columns == 1 => (columns, 0),
            (&[rows, columns], &[step, _])
                if rows * self.columns == self.elements
                    && (columns == self.columns || columns == 1) =>
            {
                (columns, step)
            }
            _ => {
                let whole = [self.rows, self.columns];
                operand.check_shape(self.name, argument, &Shape::from(whole))?;
                return Err(invalid(self.name, "elements", self.elements));
            }
        };
        let number = columns == 1 && self.columns > 1;
        let inner = strides.as_slice().last().copied().unwrap_or(1);
        if columns > 1 && inner != 1 {
            return Err(invalid(
                self.name,
                "stride of the last axis",
                inner.unsigned_abs(),
            ));
        }
        if step < 0 {
            return Err(invalid(
                self.name,
                "stride of the rows, negative",
                step.unsigned_abs(),
            ));
        }
        Ok((step * size, number))
    }

    /// The bytes that operands read and written have.
    fn footprint<'a>(&self, operands: impl Iterator<Item = Operand<'a>>) -> usize {
        operands.map(|x| x.elements() * x.dtype().size()).sum()
    }
}

/// A total over all rows: where a block's are, how many, and the value they become.
#[derive(Clone, Copy, Debug)]
struct Total {
    fold: ErasedFold,
    at: usize,
    count: usize,
    /// Elements that each is of.
    of: usize,
    to: *mut u8,
}

/// A pass while its steps are put together.
struct Pass<'v, 'a> {
    extent: Extent,
    code: RowCode,
    /// Per value.
    slots: SmallVec<[Slot; 16]>,
    values: &'v [RowValue<'a>],
    /// Per value whether it is one number for a row.
    numbers: Vec<bool>,
    /// Per value whether it may be read.
    ready: Vec<bool>,
    totals: Vec<Total>,
    /// Values that go past the caches when they are there: where to, and the bytes from row to row.
    streams: Vec<(usize, *mut u8, isize)>,
    /// Bytes of rows that come from memory or go there.
    bytes: usize,
}

impl Pass<'_, '_> {
    /// Gives the next value a slot.
    fn value(
        &mut self,
        value: &RowValue<'_>,
        opened: Option<(Argument, Operand<'_>, *mut u8)>,
        footprint: usize,
    ) -> Result<()> {
        let (streamed, far) = (stream::pays(footprint), stream::is_far(footprint));
        let size = value.dtype().size();
        let slot = match opened {
            None => {
                self.numbers.push(matches!(value, RowValue::Number(_)));
                // It gets a tile when it is computed.
                Slot::MAX
            }
            Some((argument, operand, start)) => {
                let (step, number) = self.extent.fit(argument, &operand)?;
                let is_wanted = matches!(value, RowValue::Wanted(_));
                self.numbers.push(number);
                let kind = Kind {
                    size,
                    number,
                    fixed: step == 0 && !is_wanted,
                };
                let base = place(&operand, start).base;
                if step != 0 && !number {
                    self.bytes += self.extent.elements * size;
                }
                self.ready[self.slots.len()] = !is_wanted;
                if streamed && is_wanted && step != 0 && !number {
                    self.streams.push((self.slots.len(), base, step));
                    self.code.tile(kind)
                } else if far && !is_wanted && step != 0 && !number {
                    self.code.rows(base, step, kind)
                } else {
                    self.code.memory(base, step, kind)
                }
            }
        };
        self.slots.push(slot);
        Ok(())
    }

    fn known(&self, value: usize) -> Result<&RowValue<'_>> {
        let none = || invalid(self.extent.name, "number of a value", value);
        self.values.get(value).ok_or_else(none)
    }

    /// A value to be read, of a dtype.
    fn source(&self, value: usize, dtype: DType, argument: Argument) -> Result<Slot> {
        self.check_dtype(value, dtype, argument)?;
        if !self.ready[value] {
            return Err(invalid(
                self.extent.name,
                "value that is not there yet",
                value,
            ));
        }
        Ok(self.slots[value])
    }

    fn check_dtype(&self, value: usize, expected: DType, argument: Argument) -> Result<()> {
        let found = self.known(value)?.dtype();
        if found == expected {
            return Ok(());
        }
        Err(KernelError::DTypeMismatch {
            op: self.extent.name,
            argument,
            found,
            expected,
        })
    }

    /// A value to be written for every row, of a dtype; a number or a row.
    fn target(&mut self, value: usize, dtype: DType, number: bool) -> Result<Slot> {
        let argument = Argument::Output(value);
        self.check_dtype(value, dtype, argument)?;
        let (rows, columns) = (self.extent.rows, self.extent.columns);
        let shape = [rows, if number { 1 } else { columns }];
        match self.known(value)? {
            RowValue::Given(_) => {
                return Err(invalid(self.extent.name, "value that is only read", value));
            }
            RowValue::Wanted(operand) => {
                let flat = !number && operand.shape().as_slice() == [self.extent.elements];
                if !flat {
                    operand.check_shape(self.extent.name, argument, &Shape::from(shape))?;
                }
            }
            kept => {
                let is_number = matches!(kept, RowValue::Number(_)) || columns == 1;
                if is_number != (number || columns == 1) {
                    return Err(invalid(self.extent.name, "value of another length", value));
                }
            }
        }
        let size = dtype.size();
        if let RowValue::Row(_) | RowValue::Number(_) = self.values[value]
            && !self.ready[value]
        {
            let (number, fixed) = (number, false);
            self.slots[value] = self.code.tile(Kind {
                size,
                number,
                fixed,
            });
        }
        self.ready[value] = true;
        Ok(self.slots[value])
    }

    /// Lets go of the tiles of what a step read or wrote and no later one reads.
    fn release(&mut self, step: &RowStep<'_>, later: &[RowStep<'_>]) {
        let mut done: SmallVec<[usize; 8]> = step.values().collect();
        done.sort_unstable();
        done.dedup();
        for value in done {
            let kept = matches!(self.values[value], RowValue::Row(_) | RowValue::Number(_));
            if kept && !later.iter().any(|step| step.values().any(|v| v == value)) {
                self.code.release(self.slots[value]);
            }
        }
    }

    fn step(&mut self, step: &RowStep<'_>) -> Result<()> {
        match *step {
            RowStep::Map {
                program,
                inputs,
                outputs,
            } => self.map(program, inputs, outputs),
            RowStep::Fold { op, over, from, to } => self.fold(op, over, (from, to)),
        }
    }

    fn map(&mut self, program: &Program, inputs: &[usize], outputs: &[usize]) -> Result<()> {
        let name = self.extent.name;
        check_count(name, "inputs", program.inputs(), inputs.len())?;
        check_count(name, "outputs", program.outputs(), outputs.len())?;
        let mut from: SmallVec<[Slot; 8]> = SmallVec::new();
        for (index, &value) in inputs.iter().enumerate() {
            let dtype = program.input_dtype(index).unwrap_or(DType::F64);
            from.push(self.source(value, dtype, Argument::Input(index))?);
        }
        let numbers = inputs.iter().all(|value| self.numbers[*value]);
        let numbers = numbers
            && outputs
                .iter()
                .all(|value| self.known(*value).is_ok() && self.numbers[*value]);
        let mut to: SmallVec<[Slot; 8]> = SmallVec::new();
        for (index, &value) in outputs.iter().enumerate() {
            let dtype = program.output_dtype(index).unwrap_or(DType::F64);
            to.push(self.target(value, dtype, numbers)?);
        }
        self.code.map(program, &from, &to);
        self.stream(outputs);
        Ok(())
    }

    /// Lets what was just computed go past the caches, where it does. It stays in its tile for later steps.
    fn stream(&mut self, outputs: &[usize]) {
        for (value, to, step) in &self.streams {
            if outputs.contains(value) {
                self.code.stream(self.slots[*value], *to, *step);
            }
        }
    }

    fn fold(&mut self, op: ReduceOp, over: RowFold, (from, to): (usize, usize)) -> Result<()> {
        let name = self.extent.name;
        let dtype = self.known(from)?.dtype();
        let unsupported = KernelError::UnsupportedDType {
            op: op.name(),
            dtype,
        };
        let fold = ErasedFold::new(op, dtype).ok_or(unsupported)?;
        let source = self.source(from, dtype, Argument::Input(from))?;
        if self.numbers[from] {
            return Err(invalid(name, "value of another length", from));
        }
        let (rows, columns, elements) =
            (self.extent.rows, self.extent.columns, self.extent.elements);
        if over != RowFold::All && rows * columns != elements {
            return Err(invalid(name, "elements", elements));
        }
        if over == RowFold::Along {
            let target = self.target(to, dtype, true)?;
            self.code.reduce(fold, source, target);
            return Ok(());
        }
        self.check_dtype(to, dtype, Argument::Output(to))?;
        let RowValue::Wanted(operand) = self.known(to)? else {
            return Err(invalid(name, "value that is not written", to));
        };
        let (count, of) = match over {
            RowFold::Across => (columns, rows),
            RowFold::Along | RowFold::All => (1, elements),
        };
        operand.check_shape(name, Argument::Output(to), &Shape::from([1, count]))?;
        let at = match over {
            RowFold::Across => self.code.across(fold, source),
            RowFold::Along | RowFold::All => self.code.along(fold, source),
        };
        let to = self.code.start(self.slots[to]);
        self.totals.push(Total {
            fold,
            at,
            count,
            of,
            to,
        });
        Ok(())
    }

    /// Works through all rows.
    fn run(&self) -> Result<()> {
        let rows = self.extent.rows;
        let least = rows.div_ceil(MOST_BLOCKS);
        let block = (BLOCK / self.extent.columns).max(1).max(least);
        let blocks = rows.div_ceil(block);
        let bytes = blocks * self.code.units * size_of::<Unit>();
        let totals =
            Buffer::detached_recycled(bytes).map_err(KernelError::alloc(self.extent.name))?;
        let line = Layout::line(bytes);
        let mut totals =
            Operand::new(&totals, &line, DType::U8)?.write(self.extent.name, Argument::Z)?;
        let start = Totals(totals.as_mut_ptr().cast());
        let heavy = self.code.heavy || self.code.len() > HEAVY;
        let parts = threads::parts(self.bytes, heavy).min(blocks);
        let share = blocks.div_ceil(parts);
        let code = &self.code;
        threads::for_each_part((0..parts).map(|part| part * share), |first| {
            let start = &start;
            for index in first..(first + share).min(blocks) {
                let units = start.0.wrapping_add(index * code.units);
                let rows = index * block..((index + 1) * block).min(rows);
                // SAFETY: operands were opened and fit the pass; blocks have different rows and totals of their own.
                unsafe { code.run(rows, units) };
            }
        });
        if !self.streams.is_empty() {
            stream::fence();
        }
        for total in &self.totals {
            let of = |block: usize| start.0.wrapping_add(block * code.units + total.at);
            for block in 1..blocks {
                // SAFETY: two blocks' totals of this fold.
                unsafe { total.fold.merge(total.count, of(0), of(block)) };
            }
            // SAFETY: the first block's totals, and an operand of as many elements.
            unsafe { (total.fold).finish(total.count, of(0), total.of, total.to) };
        }
        Ok(())
    }
}

/// From so many kernels and folds on arithmetic sets the pace.
const HEAVY: usize = 4;

/// The totals of all blocks.
struct Totals(*mut Unit);

// SAFETY: every block's totals are touched by the one thread that has the block.
unsafe impl Sync for Totals {}
