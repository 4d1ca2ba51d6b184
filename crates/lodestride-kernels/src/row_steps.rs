//! The steps of a [row pass](crate::row_pass()) as instructions: values get slots, steps are checked and written down, rows are divided
//! into blocks, and what blocks have added up is joined.
#![expect(
    unsafe_code,
    reason = "threads work on blocks through pointers, and totals are joined through them"
)]

use crate::code::Slot;
use crate::driver::place;
use crate::error::{KernelError, Result};
use crate::operand::Operand;
use crate::program::{Program, check_count};
use crate::reduce::ReduceOp;
use crate::row_code::{Kind, RowCode};
use crate::row_fold::{ErasedFold, Unit};
use crate::row_pass::{Named, RowFold, RowStep, RowValue, invalid};
use crate::stream;
use crate::threads;
use lodestride_buffer::{Argument, Buffer, DType};
use lodestride_shape::{Layout, Shape};
use smallvec::SmallVec;

/// Elements of a block, if its rows are short.
const BLOCK: usize = 1 << 16;

/// The most blocks that there are: each has totals of its own.
const MOST_BLOCKS: usize = 64;

/// The matrix of a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) name: &'static str,
    pub(crate) elements: usize,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
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
pub(crate) struct Pass<'v, 'a> {
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
    /// Bytes of all operands.
    footprint: usize,
}

impl<'v, 'a> Pass<'v, 'a> {
    /// A pass of no values and steps yet, whose operands have so many bytes.
    pub(crate) fn new(extent: Extent, values: &'v [RowValue<'a>], footprint: usize) -> Self {
        Self {
            extent,
            code: RowCode::new(extent.elements, extent.columns),
            slots: SmallVec::new(),
            values,
            numbers: Vec::with_capacity(values.len()),
            ready: vec![false; values.len()],
            totals: Vec::new(),
            streams: Vec::new(),
            bytes: 0,
            footprint,
        }
    }

    /// Gives the next value a slot.
    pub(crate) fn value(
        &mut self,
        value: &RowValue<'_>,
        opened: Option<(&Named<'_>, *mut u8)>,
    ) -> Result<()> {
        let streamed = stream::pays(self.footprint);
        let size = value.dtype().size();
        let slot = match opened {
            None => {
                self.numbers.push(matches!(value, RowValue::Number(_)));
                // It gets a tile when it is computed.
                Slot::MAX
            }
            Some((&(argument, operand), start)) => {
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
                } else if stream::is_far(self.footprint) && !is_wanted && step != 0 && !number {
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
    pub(crate) fn release(&mut self, step: &RowStep<'_>, later: &[RowStep<'_>]) {
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

    pub(crate) fn step(&mut self, step: &RowStep<'_>) -> Result<()> {
        match *step {
            RowStep::Map {
                program,
                inputs,
                outputs,
            } => self.map(program, inputs, outputs)?,
            RowStep::Fold { op, over, from, to } => self.fold(op, over, (from, to))?,
        }
        let slots = self.code.spots.len();
        if slots > usize::from(Slot::MAX) {
            return Err(invalid(self.extent.name, "number of values", slots));
        }
        Ok(())
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
        for (index, value) in outputs.iter().enumerate() {
            self.known(*value)?;
            // Kernels write while they still read.
            if inputs.contains(value) || outputs[..index].contains(value) {
                return Err(invalid(name, "value that a step has twice", *value));
            }
        }
        let mut all = inputs.iter().chain(outputs);
        let numbers = all.all(|value| self.numbers[*value]);
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
    pub(crate) fn run(&self) -> Result<()> {
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
