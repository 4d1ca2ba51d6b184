//! Products other than the matrix product: inner, Kronecker, cross, powers and chains; and the trace.

use lodestride_buffer::{Argument, DType};

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, Result};

impl NdArray {
    /// The sum of products over the last axes of both arrays; of a scalar and an array, their product.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Operands`] when the last axes have different sizes.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.inner(&a)?.to_vec::<f32>()?, [5.0, 11.0, 11.0, 25.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn inner(&self, rhs: &NdArray) -> Result<NdArray> {
        self.expect_readable("inner", Argument::X)?;
        rhs.expect_readable("inner", Argument::Y)?;
        if self.is_scalar() || rhs.is_scalar() {
            return self.mul(rhs);
        }
        if self.rank() == 1 && rhs.rank() == 1 {
            return self.matmul(rhs).renamed("inner");
        }
        self.tensordot(rhs, ([-1], [-1]))
    }

    /// The sum of products of all elements, both arrays as one long vector in C order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::MatrixProduct`] when they have different numbers of elements.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.vdot(&a.transpose())?.item::<f32>()?, 29.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn vdot(&self, rhs: &NdArray) -> Result<NdArray> {
        self.expect_readable("vdot", Argument::X)?;
        rhs.expect_readable("vdot", Argument::Y)?;
        self.ravel()?.matmul(&rhs.ravel()?)
    }

    /// The Kronecker product: each element of this array times the whole other one, in blocks.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when the result is too large.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 10.0]).kron(&NdArray::from([1.0f32, 2.0]))?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 2.0, 10.0, 20.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn kron(&self, rhs: &NdArray) -> Result<NdArray> {
        self.expect_readable("kron", Argument::X)?;
        rhs.expect_readable("kron", Argument::Y)?;
        let rank = self.rank().max(rhs.rank());
        let (mut x, mut y) = (self.clone(), rhs.clone());
        for side in [&mut x, &mut y] {
            while side.rank() < rank {
                *side = side.expand_dims(0)?;
            }
        }
        let sizes: Vec<usize> = x
            .shape()
            .iter()
            .zip(&y.shape()[..])
            .map(|(a, b)| a * b)
            .collect();
        let mut paired = rank;
        if let (Some(&left), Some(&right)) = (x.shape().last(), y.shape().last())
            && right < SHORT
            && x.len().saturating_mul(y.len()) > x.len() * right + y.len() * left
        {
            // Products of short rows are mostly beginnings of rows: rows of the result are multiplied, in parts that are long
            // enough for a loop. The parts repeat the right rows, of which fewer drive less out of the nearest cache.
            let bytes = right * y.dtype().size();
            let together = (1..left).find(|&n| left.is_multiple_of(n) && n * bytes >= LONG);
            let together = together.unwrap_or(left);
            let mut parts: Vec<usize> = x.shape().to_vec();
            parts[rank - 1] = left / together;
            parts.push(together * right);
            x = x.repeat(right, -1)?.reshape(parts)?;
            let mut counts = vec![1; rank];
            counts[rank - 1] = together;
            y = y.tile(&counts)?.expand_dims(-2)?;
            paired -= 1;
        }
        for axis in (0..paired as isize).rev() {
            x = x.expand_dims(axis + 1)?;
            y = y.expand_dims(axis)?;
        }
        let product = if x.dtype() == DType::Bool && y.dtype() == DType::Bool {
            x.logical_and(&y)
        } else {
            x.mul(&y)
        };
        Ok(product?.reshape(sizes)?.owning())
    }

    /// The cross product of vectors of three elements, which lie along the last axis; the other axes broadcast.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the last axis has not three elements, [`ArrayErrorKind::Broadcast`] when the others do
    /// not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (x, y) = (NdArray::from([1.0f32, 0.0, 0.0]), NdArray::from([0.0f32, 1.0, 0.0]));
    /// assert_eq!(x.cross(&y)?.to_vec::<f32>()?, [0.0, 0.0, 1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn cross(&self, rhs: &NdArray) -> Result<NdArray> {
        for array in [self, rhs] {
            if array.shape().last() != Some(&3) {
                let expected = "vectors of three elements along the last axis";
                let array = ArraySummary::of(array);
                return Err(ArrayError::new(ArrayErrorKind::Form {
                    op: "cross",
                    expected,
                    array,
                }));
            }
        }
        self.expect_readable("cross", Argument::X)?;
        rhs.expect_readable("cross", Argument::Y)?;
        self.broadcast_with("cross", rhs)?;
        let parts = [0, 1, 2].map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let [xj, xk] = [j, k].map(|i| self.slice(i, -1));
            let [yj, yk] = [j, k].map(|i| rhs.slice(i, -1));
            (xj?.lazy() * &yk? - xk?.lazy() * &yj?).eval()
        });
        let [x, y, z] = parts;
        let parts = [&x.located()?, &y.located()?, &z.located()?];
        NdArray::stack(&parts, -1)
    }

    /// The sum of the main diagonal of a matrix, or of each matrix of a batch in the last two axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when the array has fewer than two axes.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::eye(3)?.trace()?.item::<f32>()?, 3.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn trace(&self) -> Result<NdArray> {
        self.expect_readable("trace", Argument::X)?;
        let diagonal = self.layout().diagonal(0).in_op("trace", self)?;
        self.with_layout(diagonal).sum(-1)
    }

    /// A square matrix, or each of a batch, multiplied by itself `exponent` times; for 0 the identity.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the last two axes are not square.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let fibonacci = NdArray::from([[1i64, 1], [1, 0]]).matrix_power(90)?;
    /// assert_eq!(fibonacci.get_i64([0, 1])?, 2_880_067_194_370_816_120);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn matrix_power(&self, exponent: u32) -> Result<NdArray> {
        self.expect_readable("matrix_power", Argument::X)?;
        let n = self.square_matrices("matrix_power")?;
        let mut result = NdArray::eye_of(self.dtype(), n)?.broadcast_to(self.shape().clone())?;
        if exponent == 0 {
            return result.dup();
        }
        // Bits of the exponent from the highest on: a square for each, and one factor more where it is set.
        for bit in (0..=exponent.ilog2()).rev() {
            let squared = if bit == exponent.ilog2() {
                self.clone()
            } else {
                result.matmul(&result)?
            };
            let set = exponent >> bit & 1 == 1 && bit != exponent.ilog2();
            result = if set { squared.matmul(self)? } else { squared };
        }
        if exponent == 1 {
            result.dup()
        } else {
            Ok(result)
        }
    }

    /// The order of the square matrices in the last two axes.
    #[track_caller]
    pub(crate) fn square_matrices(&self, op: &'static str) -> Result<usize> {
        match self.shape()[..] {
            [.., rows, columns] if rows == columns => Ok(rows),
            _ => {
                let expected = "a square matrix, or a batch of them in the last two axes";
                let array = ArraySummary::of(self);
                Err(ArrayError::new(ArrayErrorKind::Form {
                    op,
                    expected,
                    array,
                }))
            }
        }
    }

    /// The product of several matrices, multiplied in the cheapest order; the first and the last may be vectors.
    ///
    /// # Errors
    /// [`ArrayErrorKind::MatrixProduct`] when neighbours do not fit, [`ArrayErrorKind::Form`] for other ranks,
    /// [`ArrayErrorKind::Empty`] without arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (a, x) = (NdArray::ones([100, 100])?, NdArray::ones([100])?);
    /// let y = NdArray::multi_dot(&[&a, &a, &x])?; // from the right: two products with a vector
    /// assert_eq!(y.get_f64([0])?, 10_000.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn multi_dot(arrays: &[&NdArray]) -> Result<NdArray> {
        let last = arrays.len().saturating_sub(1);
        for (i, array) in arrays.iter().enumerate() {
            array.expect_readable("multi_dot", Argument::Input(i))?;
            let end = i == 0 || i == last;
            if !(array.rank() == 2 || (end && array.rank() == 1)) {
                let expected = "matrices, or vectors at the ends";
                let array = ArraySummary::of(array);
                return Err(ArrayError::new(ArrayErrorKind::Form {
                    op: "multi_dot",
                    expected,
                    array,
                }));
            }
            if i > 0 && arrays[i - 1].shape().last() != array.shape().first() {
                let (lhs, rhs) = (ArraySummary::of(arrays[i - 1]), ArraySummary::of(array));
                return Err(ArrayError::new(ArrayErrorKind::MatrixProduct {
                    op: "multi_dot",
                    lhs,
                    rhs,
                }));
            }
        }
        match arrays {
            [] => {
                let expected = "at least one array";
                let op = "multi_dot";
                Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }))
            }
            [only] => only.dup(),
            _ => multiply(arrays, &cheapest_splits(arrays), 0, last),
        }
    }
}

/// Elements of a row from which on it is worth a loop.
const SHORT: usize = 256;

/// Bytes of a part of a row that takes hardly longer than a whole one. Of the product of two arrays of 32x32 `f32` on an EPYC of family
/// 25 parts of 1 KiB take 96 us, of 2 KiB, which repeat 64 KiB of right rows, 107, and of 512 bytes 100.
const LONG: usize = 1024;

/// Where to split the chain from the i-th to the j-th array, at `[i][j]`, for the fewest multiplications of numbers.
fn cheapest_splits(arrays: &[&NdArray]) -> Vec<Vec<usize>> {
    let n = arrays.len();
    // A vector at either end is a matrix of one row or column.
    let mut sizes: Vec<f64> = arrays.iter().map(|array| array.shape()[0] as f64).collect();
    let (first, last) = (arrays[0], arrays[n - 1]);
    if first.rank() == 1 {
        sizes[0] = 1.0;
    }
    sizes.push(if last.rank() == 2 {
        last.shape()[1] as f64
    } else {
        1.0
    });
    let mut costs = vec![vec![0.0; n]; n];
    let mut splits = vec![vec![0; n]; n];
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            let cost =
                |k: usize| costs[i][k] + costs[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
            let best = (i..j)
                .min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
                .unwrap_or(i);
            (costs[i][j], splits[i][j]) = (cost(best), best);
        }
    }
    splits
}

/// The product of the i-th to the j-th array of a chain.
#[track_caller]
fn multiply(arrays: &[&NdArray], splits: &[Vec<usize>], i: usize, j: usize) -> Result<NdArray> {
    if i == j {
        return Ok(arrays[i].clone());
    }
    let k = splits[i][j];
    multiply(arrays, splits, i, k)?.matmul(&multiply(arrays, splits, k + 1, j)?)
}
