//! Operations as values, found by name: [`op`], [`Op`], and a call that is put together step by step, [`OpCall`].
//!
//! The operations are those of the registries of the kernels; ND4J's other names for them are in [`ALIASES`].

use std::fmt;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{ArgOp, BinaryOp, ReduceOp, ScanOp, UnaryOp};
use lodestride_shape::{Axes, Shape};

use crate::NdArray;
use crate::arg::Arg;
use crate::compute::promoted;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, Result};

/// An operation of one of the registries.
///
/// ```
/// use lodestride_array::{NdArray, Op, op};
///
/// let a = NdArray::from([[1.0f32, -2.0], [3.0, 4.0]]);
/// assert_eq!(op("abs")?.on(&[&a]).run()?, a.abs()?);
/// assert_eq!(op("imax")?.on(&[&a]).axes(1).run()?, a.argmax(1)?); // ND4J's name for argmax
/// assert!(Op::all().count() > 100);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Of each element.
    Unary(UnaryOp),
    /// Of two elements.
    Binary(BinaryOp),
    /// Of all elements along axes.
    Reduce(ReduceOp),
    /// The position of an element along an axis.
    Index(ArgOp),
    /// Of all elements up to each along an axis.
    Scan(ScanOp),
}

/// The operation of that name, or of ND4J's name for it; case and underscores do not count.
///
/// `max` and `min` are the reductions; of two operands they are called `maximum` and `minimum`.
///
/// # Errors
/// [`ArrayErrorKind::UnknownOp`] with the names most like it.
///
/// ```
/// use lodestride_array::{Op, kernels::UnaryOp, op};
///
/// assert_eq!(op("tanh")?, Op::Unary(UnaryOp::Tanh));
/// assert_eq!(op("hardTanh")?.name(), "hard_tanh");
/// let error = op("tahn").unwrap_err();
/// assert!(error.to_string().contains("tanh"), "{error}");
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[doc(alias = "opName")]
#[doc(alias = "createOp")]
#[track_caller]
pub fn op(name: &str) -> Result<Op> {
    let plain = plain(name);
    let known = |known: &str| self::plain(known) == plain;
    if let Some(op) = Op::all().find(|op| known(op.name())) {
        return Ok(op);
    }
    if let Some((_, name)) = ALIASES.iter().find(|(alias, _)| known(alias)) {
        return op(name);
    }
    // Of names equally near those of the same length come first.
    let mut nearest: Vec<(usize, usize, &'static str)> = Op::all()
        .map(Op::name)
        .chain(ALIASES.iter().map(|(alias, _)| *alias))
        .map(|name| {
            let known = self::plain(name);
            (
                distance(&plain, &known),
                known.len().abs_diff(plain.len()),
                name,
            )
        })
        .filter(|&(distance, ..)| distance <= plain.len().div_ceil(3).max(2))
        .collect();
    nearest.sort_unstable();
    nearest.truncate(3);
    Err(ArrayError::new(ArrayErrorKind::UnknownOp {
        name: name.into(),
        nearest: nearest.into_iter().map(|(.., name)| name).collect(),
    }))
}

impl Op {
    /// Every operation.
    #[doc(alias = "getAllOpNames")]
    pub fn all() -> impl Iterator<Item = Op> {
        // Variance and deviation divide by n - 1, as the methods do.
        let sample = |op| match op {
            ReduceOp::Var { .. } => ReduceOp::Var { ddof: 1 },
            ReduceOp::Std { .. } => ReduceOp::Std { ddof: 1 },
            op => op,
        };
        (UnaryOp::ALL.iter().map(|&op| Op::Unary(op)))
            .chain(BinaryOp::ALL.iter().map(|&op| Op::Binary(op)))
            .chain(ReduceOp::ALL.map(sample).map(Op::Reduce))
            .chain(ArgOp::ALL.map(Op::Index))
            .chain(ScanOp::ALL.map(Op::Scan))
    }

    /// The name by which [`op`] finds it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unary(op) => op.name(),
            Self::Binary(BinaryOp::Max) => "maximum",
            Self::Binary(BinaryOp::Min) => "minimum",
            Self::Binary(op) => op.name(),
            Self::Reduce(op) => op.name(),
            Self::Index(op) => op.name(),
            Self::Scan(op) => op.name(),
        }
    }

    /// The number of operands: 2 for [`Op::Binary`], else 1.
    pub const fn arity(self) -> usize {
        match self {
            Self::Binary(_) => 2,
            _ => 1,
        }
    }

    /// Begins a call with these operands; a second one may also be given by [`OpCall::scalar`].
    pub fn on<'a>(self, inputs: &[&'a NdArray]) -> OpCall<'a> {
        OpCall {
            op: self,
            inputs: inputs.to_vec(),
            scalar: None,
            axes: Axes::all(),
            output: None,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "DynamicCustomOp")]
#[must_use = "a call does nothing until `run`"]
pub struct OpCall<'a> {
    op: Op,
    inputs: Vec<&'a NdArray>,
    scalar: Option<Scalar>,
    axes: Axes,
    output: Option<&'a NdArray>,
}

impl<'a> OpCall<'a> {
    /// A plain number as second operand.
    #[doc(alias = "addFloatingPointArguments")]
    pub fn scalar(mut self, value: impl Into<Scalar>) -> Self {
        self.scalar = Some(value.into());
        self
    }

    /// The axes of a reduction, or the one axis of a running total; without this all elements are reduced.
    #[doc(alias = "addIntegerArguments")]
    pub fn axes(mut self, axes: impl Into<Axes>) -> Self {
        self.axes = axes.into();
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
        let (x, y) = self.operands()?;
        match (self.op, y) {
            (Op::Binary(_), Arg::Array(y)) => x.broadcast_with(self.op.name(), y),
            (Op::Reduce(_) | Op::Index(_), _) => {
                let axes = self.axes.resolve(x.rank()).in_op(self.op.name(), x)?;
                Ok(axes.reduced_shape(x.shape()))
            }
            _ => Ok(x.shape().clone()),
        }
    }

    /// The dtype of the result, found without computing it.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] where the operation is not defined for the operands.
    #[track_caller]
    pub fn output_dtype(&self) -> Result<DType> {
        let (x, y) = self.operands()?;
        let dtype = x.dtype();
        let (input, result) = match self.op {
            Op::Unary(op) => (dtype, op.result_dtype(dtype)),
            Op::Binary(op) => {
                let dtype = promoted(dtype, &y);
                (dtype, op.result_dtype(dtype))
            }
            Op::Reduce(op) => (dtype, Some(op.result_dtype(dtype))),
            Op::Index(op) => (dtype, Some(op.result_dtype(dtype))),
            Op::Scan(op) => (dtype, Some(op.result_dtype(dtype))),
        };
        result.ok_or_else(|| {
            let (op, dtype) = (self.op.name(), input);
            ArrayError::new(ArrayErrorKind::UnsupportedDType { op, dtype })
        })
    }

    /// Computes the result and returns it: a new array, or another handle on [`output`](Self::output).
    ///
    /// # Errors
    /// [`ArrayErrorKind::OperandCount`] for too few or too many operands, and the errors of the method of the same name.
    #[doc(alias = "exec")]
    #[track_caller]
    pub fn run(&self) -> Result<NdArray> {
        let (x, y) = self.operands()?;
        let name = self.op.name();
        let Some(out) = self.output else {
            return match self.op {
                Op::Unary(op) => x.unary(op),
                Op::Binary(op) => x.binary(op, y),
                Op::Reduce(op) => x.reduce(op, &self.axes),
                Op::Index(op) => x.arg_reduce(op, &self.axes),
                Op::Scan(op) => x.scan(op, self.axis(x)?),
            };
        };
        match self.op {
            Op::Unary(op) => x.unary_into(op, name, out)?,
            Op::Binary(op) => x.binary_into(op, name, y, out)?,
            Op::Reduce(op) => x.reduce_into(op, name, &self.axes, out)?,
            // These have no kernel that writes into any array.
            Op::Index(op) => out.store(name, &[x], || x.arg_reduce(op, &self.axes))?,
            Op::Scan(op) => out.store(name, &[x], || x.scan(op, self.axis(x)?))?,
        }
        Ok(out.clone())
    }

    /// The operands, once there are as many as the operation takes.
    #[track_caller]
    fn operands(&self) -> Result<(&'a NdArray, Arg<'a>)> {
        let given = self.inputs.len() + usize::from(self.scalar.is_some());
        match (&self.inputs[..], self.scalar, self.op.arity()) {
            // The second operand of an operation of one is never looked at.
            (&[x], None, 1) => Ok((x, Arg::Array(x))),
            (&[x, y], None, 2) => Ok((x, Arg::Array(y))),
            (&[x], Some(y), 2) => Ok((x, Arg::Scalar(y))),
            _ => Err(ArrayError::new(ArrayErrorKind::OperandCount {
                op: self.op.name(),
                expected: self.op.arity(),
                given,
            })),
        }
    }

    /// The axis of a running total; of a vector there is only one.
    #[track_caller]
    fn axis(&self, x: &NdArray) -> Result<isize> {
        let axes = self.axes.resolve(x.rank()).in_op(self.op.name(), x)?;
        match axes.axes() {
            &[axis] => Ok(axis.cast_signed()),
            _ => {
                let (op, expected) = (self.op.name(), "one axis: name it by `axes`");
                let array = ArraySummary::of(x);
                Err(ArrayError::new(ArrayErrorKind::Form {
                    op,
                    expected,
                    array,
                }))
            }
        }
    }
}

/// Names that ND4J has for operations of another name here; what differs only in case and underscores is found without.
const ALIASES: &[(&str, &str)] = &[
    ("amax", "norm_max"),
    ("amean", "mean_abs"),
    ("amin", "min_abs"),
    ("asum", "norm1"),
    ("bitwise_and", "bit_and"),
    ("bitwise_or", "bit_or"),
    ("bitwise_xor", "bit_xor"),
    ("ceiling", "ceil"),
    ("equals", "eq"),
    ("floormod", "mod"),
    ("greater", "gt"),
    ("greater_equal", "ge"),
    ("gte", "ge"),
    ("iamax", "arg_abs_max"),
    ("iamin", "arg_abs_min"),
    ("imax", "argmax"),
    ("imin", "argmin"),
    ("invert", "bit_not"),
    ("less", "lt"),
    ("less_equal", "le"),
    ("lte", "le"),
    ("max_pairwise", "maximum"),
    ("min_pairwise", "minimum"),
    ("multiply", "mul"),
    ("divide", "div"),
    ("negative", "neg"),
    ("neq", "ne"),
    ("not_equals", "ne"),
    ("reduce_max", "max"),
    ("reduce_mean", "mean"),
    ("reduce_min", "min"),
    ("reduce_norm1", "norm1"),
    ("reduce_norm2", "norm2"),
    ("reduce_norm_max", "norm_max"),
    ("reduce_prod", "prod"),
    ("reduce_sqnorm", "sum_squares"),
    ("reduce_stdev", "std"),
    ("reduce_sum", "sum"),
    ("reduce_variance", "var"),
    ("realdiv", "div"),
    ("reversedivide", "rdiv"),
    ("reversesubtract", "rsub"),
    ("rint", "round"),
    ("shift_bits", "shift_left"),
    ("rshift_bits", "shift_right"),
    ("sqnorm", "sum_squares"),
    ("squaredsubtract", "squared_difference"),
    ("subtract", "sub"),
    ("tf_atan2", "atan2"),
];

/// A name without what does not count.
fn plain(name: &str) -> String {
    let counts = |c: &char| !matches!(c, '_' | '-' | ' ');
    name.chars()
        .filter(counts)
        .flat_map(char::to_lowercase)
        .collect()
}

/// The number of letters to change, add, leave out or exchange with their neighbour to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let change = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_operation_and_no_other() {
        for each in Op::all() {
            assert_eq!(op(each.name()).ok(), Some(each), "{each}");
        }
        for (alias, name) in ALIASES {
            assert_eq!(op(alias).ok(), op(name).ok(), "{alias}");
            assert!(op(name).is_ok(), "{name}");
            assert!(
                Op::all().all(|op| op.name() != *alias),
                "{alias} is a name itself"
            );
        }
    }

    #[test]
    fn distances_count_single_changes() {
        let cases = [
            ("tanh", "tanh", 0),
            ("tahn", "tanh", 1),
            ("tan", "tanh", 1),
            ("", "abc", 3),
            ("sig", "gis", 2),
        ];
        for (a, b, expected) in cases {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
