//! A call of an operation by name, put together step by step: [`OpCall`].

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{BinaryOp, ReduceOp, UnaryOp};
use lodestride_shape::{Axes, Shape};

use super::Op;
use super::composed::Given;
use super::parameters::Arguments;
use crate::NdArray;
use crate::arg::Arg;
use crate::compute::promoted;
use crate::distance::Distance;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, Result};
use crate::reduce::float_of;

/// A call of an operation, put together before it runs.
///
/// ```
/// use lodestride_array::{NdArray, op};
///
/// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let call = op("sum")?.on(&[&a]).axes(0);
/// assert_eq!(call.output_shape()?[..], [2]); // before anything is computed
/// let out = NdArray::zeros(call.output_shape()?)?;
/// call.output(&out).run()?;
/// assert_eq!(out.to_vec::<f32>()?, [4.0, 6.0]);
/// assert_eq!(op("rsub")?.on(&[&a]).scalar(10.0).run()?, a.rsub(10.0)?);
/// assert_eq!(op("std")?.on(&[&a]).named_arg("ddof", 0).run()?, a.std_ddof(.., 0)?);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "DynamicCustomOp")]
#[must_use = "a call does nothing until `run`"]
pub struct OpCall<'a> {
    op: Op,
    inputs: Vec<&'a NdArray>,
    scalar: Option<Scalar>,
    axes: Option<Axes>,
    listed: Vec<Scalar>,
    named: Vec<(Box<str>, Scalar)>,
    output: Option<&'a NdArray>,
}

/// The second operand of a call.
enum Second<'a> {
    None,
    Number(Scalar),
    Array(&'a NdArray),
    /// Along some axes of the first operand.
    Spanning(NdArray),
}

impl Second<'_> {
    /// As an argument; where there is none, `x` stands for it and is never looked at.
    fn arg<'s>(&'s self, x: &'s NdArray) -> Arg<'s> {
        match self {
            Self::None => Arg::Array(x),
            Self::Number(number) => Arg::Scalar(*number),
            Self::Array(array) => Arg::Array(array),
            Self::Spanning(array) => Arg::Array(array),
        }
    }
}

impl<'a> OpCall<'a> {
    pub(super) fn new(op: Op, inputs: &[&'a NdArray]) -> Self {
        OpCall {
            op,
            inputs: inputs.to_vec(),
            scalar: None,
            axes: None,
            listed: Vec::new(),
            named: Vec::new(),
            output: None,
        }
    }

    /// A plain number as second operand.
    #[doc(alias = "addFloatingPointArguments")]
    pub fn scalar(mut self, value: impl Into<Scalar>) -> Self {
        self.scalar = Some(value.into());
        self
    }

    /// The next parameter of [`Op::parameters`]; where a second operand is missing, that operand.
    ///
    /// ```
    /// use lodestride_array::{NdArray, op};
    ///
    /// let a = NdArray::from([-3i32, 2, 9]);
    /// assert_eq!(op("clip")?.on(&[&a]).arg(0).arg(5).run()?, a.clip(0, 5)?);
    /// assert_eq!(op("pow")?.on(&[&a]).arg(2).run()?, a.pow(2)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "addTArgument")]
    #[doc(alias = "extraArgs")]
    pub fn arg(mut self, value: impl Into<Scalar>) -> Self {
        if self.op.arity() > self.given() {
            return self.scalar(value);
        }
        self.listed.push(value.into());
        self
    }

    /// A parameter by its name, in which case and underscores do not count. ND4J's `bias_corrected` is a `ddof` of 1 or 0.
    #[doc(alias = "addBArgument")]
    pub fn named_arg(mut self, name: &str, value: impl Into<Scalar>) -> Self {
        self.named.push((name.into(), value.into()));
        self
    }

    /// The axes of a reduction, the one axis of a running total or a softmax, or those of the first operand that the second
    /// one spans; without this all elements are reduced, the last axis is taken, and operands broadcast as they are.
    #[doc(alias = "addIntegerArguments")]
    #[doc(alias = "setDimensions")]
    pub fn axes(mut self, axes: impl Into<Axes>) -> Self {
        self.axes = Some(axes.into());
        self
    }

    /// The array that takes the result. It may be an operand: then the operation is in place.
    #[doc(alias = "addOutputs")]
    pub fn output(mut self, out: &'a NdArray) -> Self {
        self.output = Some(out);
        self
    }

    /// The shape of the result, found without computing it.
    ///
    /// # Errors
    /// As [`run`](Self::run), for operands that do not go together.
    #[doc(alias = "calculateOutputShape")]
    #[track_caller]
    pub fn output_shape(&self) -> Result<Shape> {
        let (op, x, second) = self.operands()?;
        let given = self.with(op, x, &second)?;
        match op {
            Op::Binary(_) => match given.y {
                Arg::Array(y) => x.broadcast_with(op.name(), y),
                Arg::Scalar(_) => Ok(x.shape().clone()),
            },
            Op::Reduce(_) | Op::Index(_) | Op::Distance(_) => given.reduced_shape(),
            Op::AllPairs(_) => {
                let (x, y) = self.pairs(&given)?;
                let (rows, others) = (x.matrix_form(op.name())?.0, y.matrix_form(op.name())?.0);
                Ok(Shape::from([rows, others]))
            }
            Op::Composed(composed) => composed.entry().shape(&given),
            Op::Unary(_) | Op::Scan(_) | Op::Derivative(_) => Ok(x.shape().clone()),
        }
    }

    /// The dtype of the result, found without computing it.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] where the operation is not defined for the operands.
    #[track_caller]
    pub fn output_dtype(&self) -> Result<DType> {
        let (op, x, second) = self.operands()?;
        let given = self.with(op, x, &second)?;
        let (dtype, both) = (x.dtype(), promoted(x.dtype(), &given.y));
        let (input, result) = match op {
            Op::Unary(UnaryOp::Relu) => {
                let cutoff = given.arguments.first().map(Scalar::kind);
                let dtype = cutoff.map_or(dtype, |kind| dtype.promote_scalar(kind));
                (dtype, UnaryOp::Relu.result_dtype(dtype))
            }
            Op::Unary(op) => (dtype, op.result_dtype(dtype)),
            Op::Binary(op) => (both, op.result_dtype(both)),
            Op::Reduce(op) => (dtype, Some(op.result_dtype(dtype))),
            Op::Index(op) => (dtype, Some(op.result_dtype(dtype))),
            Op::Scan(op) => (dtype, Some(op.result_dtype(dtype))),
            Op::Composed(composed) => (dtype, Some(composed.entry().dtype(&given)?)),
            Op::Derivative(op) => (dtype, op.result_dtype(float_of(dtype))),
            Op::Distance(_) | Op::AllPairs(_) => (both, Some(float_of(both))),
        };
        result.ok_or_else(|| {
            let (op, dtype) = (op.name(), input);
            ArrayError::new(ArrayErrorKind::UnsupportedDType { op, dtype })
        })
    }

    /// Computes the result and returns it: a new array, or another handle on [`output`](Self::output).
    ///
    /// # Errors
    /// [`ArrayErrorKind::OperandCount`] for too few or too many operands, [`ArrayErrorKind::Parameter`] for parameters that
    /// the operation does not have or needs, and the errors of the method of the same name.
    #[doc(alias = "exec")]
    #[track_caller]
    pub fn run(&self) -> Result<NdArray> {
        let (op, x, second) = self.operands()?;
        let (given, name) = (self.with(op, x, &second)?, op.name());
        let Some(out) = self.output else {
            return self.make(op, &given);
        };
        let axes = given.axes();
        match op {
            Op::Unary(op) if given.arguments.first().is_none() => x.unary_into(op, name, out)?,
            Op::Binary(op) => x.binary_into(op, name, given.y, out)?,
            Op::Reduce(op) => x.reduce_into(with_ddof(op, &given)?, name, &axes, out)?,
            // The others have no way into any array, or choose it by themselves.
            _ => match given.y.array().filter(|_| op.arity() == 2) {
                Some(y) => out.store(name, &[x, y], || self.make(op, &given))?,
                None => out.store(name, &[x], || self.make(op, &given))?,
            },
        }
        Ok(out.clone())
    }

    /// The result as a new array.
    #[track_caller]
    fn make(&self, op: Op, given: &Given<'_>) -> Result<NdArray> {
        let (x, name) = (given.x, given.op);
        let axes = given.axes();
        match op {
            Op::Unary(op) => match given.arguments.first() {
                Some(value) => unary_with(x, op, value).renamed(name).located(),
                None => x.unary(op),
            },
            Op::Binary(op) => x.binary(op, given.y),
            Op::Reduce(op) => x.reduce(with_ddof(op, given)?, &axes),
            Op::Index(op) => x.arg_reduce(op, &axes),
            Op::Scan(op) => x.scan(op, x.one_axis(name, &axes)?),
            Op::Composed(composed) => composed.entry().run(given).renamed(name).located(),
            Op::Derivative(op) => match given.arguments.first() {
                Some(value) => x.derivative_with(op, value.as_f64()),
                None => x.derivative(op),
            }
            .renamed(name)
            .located(),
            Op::Distance(kind) => {
                (x.distance(kind, &given.second()?, axes).renamed(name)).located()
            }
            Op::AllPairs(kind) => self.all_pairs(kind, given).renamed(name).located(),
        }
    }

    #[track_caller]
    fn all_pairs(&self, kind: Distance, given: &Given<'_>) -> Result<NdArray> {
        let (x, y) = self.pairs(given)?;
        x.all_distances(kind, &y)
    }

    /// The matrices whose rows are compared: of the columns, their transposes.
    #[track_caller]
    fn pairs(&self, given: &Given<'_>) -> Result<(NdArray, NdArray)> {
        let (x, y) = (given.x.clone(), given.second()?);
        for matrix in [&x, &y] {
            matrix.matrix_form(given.op)?;
        }
        let axis = match &self.axes {
            Some(axes) => x.one_axis(given.op, axes)?,
            None => 1,
        };
        Ok(if axis == 0 {
            (x.transpose(), y.transpose())
        } else {
            (x, y)
        })
    }

    /// How many operands there are.
    fn given(&self) -> usize {
        self.inputs.len() + usize::from(self.scalar.is_some())
    }

    /// The operation and its operands, once there are as many as it takes.
    #[track_caller]
    fn operands(&self) -> Result<(Op, &'a NdArray, Second<'a>)> {
        let op = match (self.op, self.given()) {
            (Op::Reduce(ReduceOp::Max), 2) => Op::Binary(BinaryOp::Max),
            (Op::Reduce(ReduceOp::Min), 2) => Op::Binary(BinaryOp::Min),
            (op, _) => op,
        };
        let (x, second) = match (&self.inputs[..], self.scalar, op.arity()) {
            (&[x], None, 1) => (x, Second::None),
            (&[x, y], None, 2) => (x, Second::Array(y)),
            (&[x], Some(y), 2) => (x, Second::Number(y)),
            _ => {
                return Err(ArrayError::new(ArrayErrorKind::OperandCount {
                    op: op.name(),
                    expected: op.arity(),
                    given: self.given(),
                }));
            }
        };
        let second = match (second, &self.axes) {
            (Second::Array(y), Some(axes)) if op.spans() => {
                Second::Spanning(y.spanning(op.name(), x, axes)?)
            }
            (second, _) => second,
        };
        Ok((op, x, second))
    }

    #[track_caller]
    fn with<'s>(&'s self, op: Op, x: &'s NdArray, second: &'s Second<'_>) -> Result<Given<'s>> {
        let name = op.name();
        Ok(Given {
            op: name,
            x,
            y: second.arg(x),
            axes: self.axes.as_ref(),
            arguments: Arguments::new(name, op.parameters(), &self.listed, &self.named)?,
        })
    }
}

/// The function with its parameter set.
#[track_caller]
fn unary_with(x: &NdArray, op: UnaryOp, value: Scalar) -> Result<NdArray> {
    match op {
        UnaryOp::LeakyRelu => x.leaky_relu_with(value.as_f64()),
        UnaryOp::Elu => x.elu_with(value.as_f64()),
        UnaryOp::Step => x.step_with(value),
        UnaryOp::Relu => x.maximum(value),
        UnaryOp::Log => x.log_base(value.as_f64()),
        // No other function has a parameter.
        _ => x.unary(op),
    }
}

/// The reduction with its parameter set.
#[track_caller]
fn with_ddof(op: ReduceOp, given: &Given<'_>) -> Result<ReduceOp> {
    if given.arguments.first().is_none() {
        return Ok(op);
    }
    let ddof = given.arguments.whole(0)?;
    Ok(match op {
        ReduceOp::Var { .. } => ReduceOp::Var { ddof },
        ReduceOp::Std { .. } => ReduceOp::Std { ddof },
        op => op,
    })
}

impl Op {
    /// Whether the axes of a call are those that the second operand spans.
    fn spans(self) -> bool {
        match self {
            Self::Binary(_) => true,
            Self::Composed(op) => op.is_elementwise(),
            _ => false,
        }
    }
}

impl NdArray {
    /// The one axis among axes; of a vector there is only one.
    #[track_caller]
    pub(super) fn one_axis(&self, op: &'static str, axes: &Axes) -> Result<isize> {
        match self.resolve_axes(op, axes)?.axes() {
            &[axis] => Ok(axis.cast_signed()),
            _ => {
                let (expected, array) = ("one axis: name it by `axes`", ArraySummary::of(self));
                Err(ArrayError::new(ArrayErrorKind::Form {
                    op,
                    expected,
                    array,
                }))
            }
        }
    }

    /// This array with an axis of size 1 for each axis of another one that it does not span.
    #[track_caller]
    fn spanning(&self, op: &'static str, x: &NdArray, axes: &Axes) -> Result<NdArray> {
        let axes = x.resolve_axes(op, axes)?;
        if axes.is_all() {
            return Ok(self.clone());
        }
        if self.rank() != axes.axes().len() {
            let (lhs, rhs) = (ArraySummary::of(x), ArraySummary::of(self));
            let expected = "a second operand with one axis for each of `axes`, which it spans";
            return Err(ArrayError::new(ArrayErrorKind::Operands {
                op,
                expected,
                lhs,
                rhs,
            }));
        }
        (0..x.rank())
            .filter(|axis| !axes.axes().contains(axis))
            .try_fold(self.clone(), |y, axis| y.expand_dims(axis.cast_signed()))
    }
}
