//! Sums of products over named axes: `einsum` and `tensordot`.
//!
//! Every product of two arrays becomes one batched matrix product, or one elementwise pass where nothing is multiplied out;
//! with more operands the cheapest order is searched first.

mod contract;
mod path;
mod subscripts;

use lodestride_buffer::Argument;
use lodestride_shape::normalize_axis;
use smallvec::SmallVec;

use self::contract::{LABELS, Labelled, labels_of};
pub use self::path::EinsumPath;
pub use self::subscripts::SubscriptsProblem;
use self::subscripts::{Subscripts, parse};
use crate::NdArray;
use crate::arg::IndexList;
use crate::combine::common_dtype;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, Result};

impl NdArray {
    /// The sum of products that the subscripts describe, as in NumPy: a letter for each axis of each operand, equal letters
    /// run together, and letters that are missing behind the arrow are summed over.
    ///
    /// `...` stands for any number of axes, which broadcast. Without an arrow the result has the letters that occur once, in
    /// alphabetical order. The result is a new array, of the dtype the operands promote to.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Subscripts`] when the subscripts cannot be read or do not fit the operands.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(NdArray::einsum("ij,jk->ik", &[&a, &a])?, a.mmul(&a)?);
    /// assert_eq!(NdArray::einsum("ii", &[&a])?.item::<f32>()?, 5.0);
    /// assert_eq!(NdArray::einsum("...i,i", &[&a, &a.row(0)?])?.to_vec::<f32>()?, [5.0, 11.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn einsum(subscripts: &str, operands: &[&NdArray]) -> Result<NdArray> {
        for (i, operand) in operands.iter().enumerate() {
            operand.expect_readable("einsum", Argument::Input(i))?;
        }
        evaluate("einsum", &read(subscripts, operands)?, operands)
    }

    /// [`einsum`](Self::einsum) into an array of the result's shape: products of operands, and the search for their order,
    /// need scratch memory; the last one is copied there.
    ///
    /// # Errors
    /// As [`einsum`](Self::einsum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn einsum_into(subscripts: &str, operands: &[&NdArray], out: &NdArray) -> Result<()> {
        out.store("einsum_into", operands, || {
            NdArray::einsum(subscripts, operands)
        })
    }

    /// The order in which [`einsum`](Self::einsum) multiplies, and what that costs.
    ///
    /// # Errors
    /// As [`einsum`](Self::einsum).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (a, b) = (NdArray::zeros([100, 100])?, NdArray::zeros([100])?);
    /// let path = NdArray::einsum_path("ij,jk,k", &[&a, &a, &b])?;
    /// assert_eq!(path.steps, [[1, 2], [0, 3]]); // from the right: two products with a vector
    /// assert_eq!(path.products, 20_000.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn einsum_path(subscripts: &str, operands: &[&NdArray]) -> Result<EinsumPath> {
        Ok(path::search(&read(subscripts, operands)?))
    }

    /// The sum of products over axes of both arrays, taken in pairs: the last `n` of this with the first `n` of the other, or
    /// two lists of axes. The result has the other axes of this array, then those of the other.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Operands`] when two axes of a pair have different sizes or the lists different lengths,
    /// [`ArrayErrorKind::Shape`] when there is no such axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (a, b) = (NdArray::ones([3, 4, 5])?, NdArray::ones([4, 3, 2])?);
    /// assert_eq!(a.tensordot(&b, ([1, 0], [0, 1]))?.shape()[..], [5, 2]);
    /// assert_eq!(a.tensordot(&NdArray::ones([5, 7])?, 1)?.shape()[..], [3, 4, 7]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "tensorMmul")]
    #[track_caller]
    pub fn tensordot(&self, rhs: &NdArray, axes: impl Into<AxisPairs>) -> Result<NdArray> {
        self.expect_readable("tensordot", Argument::X)?;
        rhs.expect_readable("tensordot", Argument::Y)?;
        let (left, right) = axes.into().resolve(self, rhs)?;
        let fits = |(&x, &y): (&usize, &usize)| self.shape()[x] == rhs.shape()[y];
        if left.len() != right.len() || !left.iter().zip(&right).all(fits) {
            return Err(unlike("pairs of axes of equal sizes", self, rhs));
        }
        let Some(labels) = LABELS
            .checked_sub(self.rank() + rhs.rank())
            .map(|_| 0..LABELS as u8)
        else {
            return Err(unlike("fewer than 128 axes together", self, rhs));
        };
        let mut labels = labels.into_iter();
        let x: Vec<u8> = labels.by_ref().take(self.rank()).collect();
        let y: Vec<u8> = (0..rhs.rank())
            .filter_map(|axis| match right.iter().position(|&other| other == axis) {
                Some(pair) => Some(x[left[pair]]),
                None => labels.next(),
            })
            .collect();
        let kept = labels_of(&x) ^ labels_of(&y);
        let output: Vec<u8> = x
            .iter()
            .chain(&y)
            .copied()
            .filter(|&label| kept >> label & 1 == 1)
            .collect();
        let dtype = self.dtype().promote(rhs.dtype());
        let (x, y) = (
            Labelled::new(self.cast(dtype)?, x),
            Labelled::new(rhs.cast(dtype)?, y),
        );
        Ok(contract::pair("tensordot", x, y, kept)?
            .finish(&output)?
            .owning())
    }

    /// [`tensordot`](Self::tensordot) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`tensordot`](Self::tensordot); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn tensordot_into(
        &self,
        rhs: &NdArray,
        axes: impl Into<AxisPairs>,
        out: &NdArray,
    ) -> Result<()> {
        out.store("tensordot_into", &[self, rhs], || self.tensordot(rhs, axes))
    }
}

/// Which axes of two arrays [`NdArray::tensordot`] sums over: a count, or two lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisPairs {
    choice: Choice,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    /// The last axes of the left and as many first ones of the right.
    Count(usize),
    Listed(SmallVec<[isize; 6]>, SmallVec<[isize; 6]>),
}

impl From<usize> for AxisPairs {
    fn from(count: usize) -> Self {
        let choice = Choice::Count(count);
        Self { choice }
    }
}

impl<L: IndexList, R: IndexList> From<(L, R)> for AxisPairs {
    fn from((left, right): (L, R)) -> Self {
        let choice = Choice::Listed(left.indices(), right.indices());
        Self { choice }
    }
}

impl AxisPairs {
    /// The axes of both sides, counted from the first.
    #[track_caller]
    fn resolve(&self, lhs: &NdArray, rhs: &NdArray) -> Result<(Vec<usize>, Vec<usize>)> {
        match &self.choice {
            Choice::Count(count) => match lhs.rank().checked_sub(*count) {
                Some(first) if *count <= rhs.rank() => {
                    Ok(((first..lhs.rank()).collect(), (0..*count).collect()))
                }
                _ => Err(unlike(
                    "as many axes on both sides as are summed over",
                    lhs,
                    rhs,
                )),
            },
            Choice::Listed(left, right) => {
                let resolve = |list: &[isize], array: &NdArray| -> Result<Vec<usize>> {
                    list.iter()
                        .map(|&axis| normalize_axis(axis, array.rank()).in_op("tensordot", array))
                        .collect()
                };
                let (left, right) = (resolve(left, lhs)?, resolve(right, rhs)?);
                let repeats =
                    |axes: &[usize]| (1..axes.len()).any(|i| axes[..i].contains(&axes[i]));
                if repeats(&left) || repeats(&right) {
                    return Err(unlike("every axis at most once", lhs, rhs));
                }
                Ok((left, right))
            }
        }
    }
}

#[cold]
#[track_caller]
fn unlike(expected: &'static str, lhs: &NdArray, rhs: &NdArray) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Operands {
        op: "tensordot",
        expected,
        lhs: ArraySummary::of(lhs),
        rhs: ArraySummary::of(rhs),
    })
}

/// Multiplies in the cheapest order, sums, and puts the axes in order.
#[track_caller]
fn evaluate(op: &'static str, read: &Subscripts, operands: &[&NdArray]) -> Result<NdArray> {
    let dtype = common_dtype(op, operands)?;
    let mut terms = operands
        .iter()
        .zip(&read.inputs)
        .map(|(operand, labels)| Labelled::read(operand.cast(dtype)?, labels, read).map(Some))
        .collect::<Result<Vec<_>>>()?;
    for [x, y] in path::search(read).steps {
        let (Some(x), Some(y)) = (terms[x].take(), terms[y].take()) else {
            continue;
        };
        let open = terms.iter().flatten().map(|term| labels_of(&term.labels));
        let kept = open.fold(labels_of(&read.output), |all, labels| all | labels);
        terms.push(Some(contract::pair(op, x, y, kept)?));
    }
    let Some(last) = terms.pop().flatten() else {
        let expected = "at least one array";
        return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
    };
    let result = last.finish(&read.output)?;
    if operands
        .iter()
        .any(|operand| result.buffer().same_block(operand.buffer()))
    {
        return result.dup();
    }
    Ok(result.owning())
}

#[track_caller]
fn read(subscripts: &str, operands: &[&NdArray]) -> Result<Subscripts> {
    let ranks: Vec<_> = operands.iter().map(|operand| operand.shape()).collect();
    // No closure: it would be the caller that errors point at.
    match parse(subscripts, &ranks) {
        Ok(read) => Ok(read),
        Err(problem) => {
            let operands = operands
                .iter()
                .map(|array| ArraySummary::of(array))
                .collect();
            Err(ArrayError::new(ArrayErrorKind::Subscripts {
                problem,
                operands,
            }))
        }
    }
}
