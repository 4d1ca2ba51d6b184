//! Several elementwise programs and the reductions of what they compute, row by row in one pass over memory.
//!
//! A row is worked on until all is done with it: values that only later steps want stay in a tile of the first cache levels, what is one
//! number per row is at hand as soon as the row has been folded. So a normalisation and its gradients read their operands once.
//! Rows form blocks whose size depends on the shape alone, and totals over all rows are joined block after block: the result depends
//! neither on the number of threads nor on the instruction set.

use crate::door;
use crate::error::{KernelError, Result};
use crate::operand::{Open, Operand};
use crate::program::Program;
use crate::reduce::ReduceOp;
use crate::row_fold::ErasedFold;
use crate::row_steps::{Extent, Pass};
use lodestride_buffer::{Argument, Buffer, DType};
use smallvec::SmallVec;

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
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Given(operand) | Self::Wanted(operand) => operand.dtype(),
            Self::Row(dtype) | Self::Number(dtype) => *dtype,
        }
    }
}

/// What a fold of a row pass goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowFold {
    /// Each row, which becomes a number that later steps may use.
    Along,
    /// All rows, column by column; the result is there after the pass.
    Across,
    /// All elements; the result is there after the pass.
    All,
}

impl RowFold {
    /// Whether a pass folds elements of this dtype so: sums, means, extremes and norms of `f32` and `f64`.
    ///
    /// ```
    /// use lodestride_buffer::DType;
    /// use lodestride_kernels::{ReduceOp, RowFold};
    /// assert!(RowFold::suits(ReduceOp::Mean, DType::F32));
    /// assert!(!RowFold::suits(ReduceOp::Mean, DType::F16) && !RowFold::suits(ReduceOp::Any, DType::F32));
    /// ```
    pub fn suits(op: ReduceOp, dtype: DType) -> bool {
        ErasedFold::new(op, dtype).is_some()
    }
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
    pub(crate) fn values(&self) -> impl Iterator<Item = usize> {
        let (inputs, outputs): (&[usize], &[usize]) = match self {
            Self::Map {
                inputs, outputs, ..
            } => (inputs, outputs),
            Self::Fold { from, to, .. } => (std::slice::from_ref(from), std::slice::from_ref(to)),
        };
        inputs.iter().chain(outputs).copied()
    }
}

/// Runs steps for every row of a matrix of `columns` columns, in one pass: what they would compute one after the other, but for the
/// order of additions.
///
/// Operands have two axes, rows and columns, or one: then the matrix is cut out of a vector, whose last row may be shorter. The last
/// axis is dense, and rows are not backwards. Outputs of programs and results of folds along rows are written per row, results of folds
/// across rows or of all elements after the pass. Operations are those that [suit](RowFold::suits). An input may share memory with an
/// output: it is read as it was.
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
/// their steps, [`KernelError::OverlappingOutputs`] for outputs in one block of memory, [`KernelError::InvalidArgument`] for rows that are
/// not dense or go backwards, for a value's number that there is not, that no step has computed before or that a step has twice, and for
/// no elements; [`KernelError::Access`]. Nothing is written then.
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
    (inputs, outputs): (&[Named<'_>], &[Named<'_>]),
    steps: &[RowStep<'_>],
) -> Result<()> {
    let open = Open::new(extent.name, outputs, inputs)?;
    let operands = inputs.iter().chain(outputs);
    let footprint = operands.map(|(_, x)| x.elements() * x.dtype().size()).sum();
    let mut pass = Pass::new(extent, values, footprint);
    let mut given = inputs.iter().zip(&open.inputs);
    let mut wanted = outputs.iter().zip(&open.outputs);
    for value in values {
        let opened = match value {
            RowValue::Given(_) => given.next().map(|(x, start)| (x, start.cast_mut())),
            RowValue::Wanted(_) => wanted.next().map(|(x, start)| (x, *start)),
            RowValue::Row(_) | RowValue::Number(_) => None,
        };
        pass.value(value, opened)?;
    }
    for (index, step) in steps.iter().enumerate() {
        pass.step(step)?;
        pass.release(step, &steps[index + 1..]);
    }
    pass.run()
}

/// An operand with its place in the call.
pub(crate) type Named<'a> = (Argument, Operand<'a>);
type Arguments<'a> = SmallVec<[Named<'a>; 4]>;
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

/// Refuses outputs whose elements share places, or that share a block: rows are read as slices with all that lies between them.
fn check_outputs(op: &'static str, outputs: &[Named<'_>]) -> Result<()> {
    for (index, (second, output)) in outputs.iter().enumerate() {
        output.check_writable(op)?;
        let shares = |(_, other): &&Named<'_>| other.buffer().same_block(output.buffer());
        if let Some((first, _)) = outputs[..index].iter().find(shares) {
            let (first, second) = (*first, *second);
            return Err(KernelError::OverlappingOutputs { op, first, second });
        }
    }
    Ok(())
}

pub(crate) fn invalid(op: &'static str, name: &'static str, value: usize) -> KernelError {
    KernelError::InvalidArgument {
        op,
        name,
        value: value as f64,
    }
}
