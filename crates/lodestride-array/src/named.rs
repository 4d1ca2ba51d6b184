//! Operations as values, found by name: [`op`], [`Op`]. A call of one is put together in `call`.
//!
//! The operations are those of the registries of the kernels, the derivatives and distances, and what is composed of several
//! steps, in `composed`; other names for them are in `aliases`.

mod aliases;
mod call;
mod composed;
mod parameters;

use std::fmt;
use std::sync::LazyLock;

use lodestride_kernels::{ArgOp, BinaryOp, ReduceOp, ScanOp, UnaryOp};

use crate::NdArray;
use crate::distance::Distance;
use crate::error::{ArrayError, ArrayErrorKind, Result};

pub use self::call::OpCall;
pub use self::composed::Composed;
pub(crate) use self::parameters::unary_parameters;
pub use self::parameters::{OpParameter, ParameterProblem};

use self::aliases::ALIASES;
use self::parameters::reduce_parameters;

/// An operation that has a name.
///
/// ```
/// use lodestride_array::{NdArray, Op, op};
///
/// let a = NdArray::from([[1.0f32, -2.0], [3.0, 4.0]]);
/// assert_eq!(op("abs")?.on(&[&a]).run()?, a.abs()?);
/// assert_eq!(op("imax")?.on(&[&a]).axes(1).run()?, a.argmax(1)?); // ND4J's name for argmax
/// assert_eq!(op("softmax")?.on(&[&a]).run()?, a.softmax(-1)?);
/// assert_eq!(op("leakyRelu")?.on(&[&a]).arg(0.5).run()?, a.leaky_relu_with(0.5)?);
/// assert!(Op::all().count() > 200);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Of each element.
    Unary(UnaryOp),
    /// Of two elements. With [`OpCall::axes`] the second operand spans these axes of the first one, as in ND4J's
    /// `BroadcastAddOp(x, y, z, dims)`.
    Binary(BinaryOp),
    /// Of all elements along axes.
    Reduce(ReduceOp),
    /// The position of an element along an axis.
    Index(ArgOp),
    /// Of all elements up to each along an axis.
    Scan(ScanOp),
    /// Made of several steps.
    Composed(Composed),
    /// The derivative of a function of each element.
    Derivative(UnaryOp),
    /// Of two arrays, along axes.
    Distance(Distance),
    /// Of every row of a matrix and every row of another; of columns along axis 0.
    AllPairs(Distance),
}

/// The operation of that name, or of ND4J's name for it; case and underscores do not count.
///
/// `max` and `min` are the reductions, and of two operands what `maximum` and `minimum` are.
///
/// # Errors
/// [`ArrayErrorKind::UnknownOp`] with the names most like it.
///
/// ```
/// use lodestride_array::{Op, kernels::UnaryOp, op};
///
/// assert_eq!(op("tanh")?, Op::Unary(UnaryOp::Tanh));
/// assert_eq!(op("hardTanh")?.name(), "hard_tanh");
/// assert_eq!(op("tanhDerivative")?, Op::Derivative(UnaryOp::Tanh));
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
            .chain(Composed::ALL.iter().map(|&op| Op::Composed(op)))
            .chain(differentiable().map(Op::Derivative))
            .chain(Distance::ALL.map(Op::Distance))
            .chain(Distance::ALL.map(Op::AllPairs))
    }

    /// The name by which [`op`] finds it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unary(op) => op.name(),
            Self::Binary(BinaryOp::Max) => "maximum",
            Self::Binary(BinaryOp::Min) => "minimum",
            Self::Binary(op) => op.name(),
            Self::Reduce(op) => op.name(),
            Self::Index(op) => op.name(),
            Self::Scan(op) => op.name(),
            Self::Composed(op) => op.name(),
            Self::Derivative(op) => &DERIVATIVES[op as usize],
            Self::Distance(kind) => distance_name(kind),
            Self::AllPairs(kind) => &ALL_PAIRS[kind as usize],
        }
    }

    /// The number of operands, 1 or 2.
    pub fn arity(self) -> usize {
        match self {
            Self::Binary(_) | Self::Distance(_) | Self::AllPairs(_) => 2,
            Self::Composed(op) => op.entry().operands,
            _ => 1,
        }
    }

    /// What a call may set besides operands and axes, by [`OpCall::arg`] and [`OpCall::named_arg`].
    ///
    /// ```
    /// use lodestride_array::op;
    ///
    /// let clip = op("clipByValue")?;
    /// assert_eq!(clip.parameters().iter().map(|p| p.name).collect::<Vec<_>>(), ["low", "high"]);
    /// assert_eq!(op("elu")?.parameters()[0].default, Some(1.0));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "extraArgs")]
    pub fn parameters(self) -> &'static [OpParameter] {
        match self {
            Self::Unary(op) | Self::Derivative(op) => unary_parameters(op),
            Self::Reduce(op) => reduce_parameters(op),
            Self::Composed(op) => op.entry().parameters,
            _ => &[],
        }
    }

    /// Begins a call with these operands; a second one may also be given by [`OpCall::scalar`].
    pub fn on<'a>(self, inputs: &[&'a NdArray]) -> OpCall<'a> {
        OpCall::new(self, inputs)
    }
}

/// The functions that have a derivative by name: those of numbers that give numbers.
fn differentiable() -> impl Iterator<Item = UnaryOp> {
    let float = lodestride_buffer::DType::F64;
    (UnaryOp::ALL.iter().copied()).filter(move |op| op.result_dtype(float) == Some(float))
}

/// The names of the derivatives, by number of the function.
static DERIVATIVES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let name = |op: &UnaryOp| format!("{}_derivative", op.name());
    UnaryOp::ALL.iter().map(name).collect()
});

/// The names of the distances of all pairs, by number of the distance.
static ALL_PAIRS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let name = |kind| format!("all_{}", distance_name(kind));
    Distance::ALL.map(name).to_vec()
});

const fn distance_name(kind: Distance) -> &'static str {
    match kind {
        Distance::Dot => "dot",
        Distance::CosineSimilarity => "cosine_similarity",
        Distance::Cosine => "cosine_distance",
        Distance::Euclidean => "euclidean",
        Distance::SquaredEuclidean => "squared_euclidean",
        Distance::Manhattan => "manhattan",
        Distance::Chebyshev => "chebyshev",
        Distance::Hamming => "hamming",
        Distance::Jaccard => "jaccard",
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
