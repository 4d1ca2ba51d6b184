//! Matrix products; behind the feature `linalg`, solvers and decompositions.

#[cfg(feature = "linalg")]
mod decompositions;
#[cfg(feature = "linalg")]
mod eigen;
#[cfg(feature = "linalg")]
mod elimination;
#[cfg(feature = "linalg")]
mod into;
#[cfg(feature = "linalg")]
pub(crate) mod matrices;
#[cfg(feature = "linalg")]
mod norms;
#[cfg(feature = "linalg")]
mod polynomial;
#[cfg(feature = "linalg")]
mod small;
#[cfg(feature = "linalg")]
mod solve;
#[cfg(feature = "linalg")]
mod svd;
#[cfg(feature = "linalg")]
mod tall;
#[cfg(feature = "linalg")]
mod threads;

use lodestride_buffer::{Buffer, DType};
use lodestride_kernels::{self as kernels, BinaryOp, KernelError, Output, PackedProduct};
use lodestride_shape::{Layout, Order, Shape, broadcast_shapes};
use smallvec::SmallVec;

#[cfg(feature = "linalg")]
pub use self::eigen::{Eigen, SymmetricEigen};
#[cfg(feature = "linalg")]
pub use self::matrices::LinalgProblem;
#[cfg(feature = "linalg")]
pub use self::norms::MatrixNorm;
#[cfg(feature = "linalg")]
pub use self::solve::{LogDeterminant, Lu, Qr};
#[cfg(feature = "linalg")]
pub use self::svd::{Components, LeastSquares, Pca, Svd};
use crate::NdArray;
use crate::arg::Arg;
use crate::checks::{self, Watch, watched};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, OrFail, Result};

impl NdArray {
    /// The product of two matrices.
    ///
    /// [`matmul`](Self::matmul) also takes vectors and batches.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Operands`] when one of them is not a matrix, [`ArrayErrorKind::MatrixProduct`] when the inner sizes
    /// differ.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// assert_eq!(a.mmul(&a.transpose())?, NdArray::from([[14.0f32, 32.0], [32.0, 77.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn mmul(&self, rhs: &NdArray) -> Result<NdArray> {
        if self.rank() != 2 || rhs.rank() != 2 {
            return Err(self.no_matrices("mmul", rhs));
        }
        self.product("mmul", rhs)
    }

    /// [`mmul`](Self::mmul) into an existing matrix; allocates nothing.
    ///
    /// # Errors
    /// As [`mmul`](Self::mmul); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn mmul_into(&self, rhs: &NdArray, out: &NdArray) -> Result<()> {
        if self.packed_product_into(rhs, out) {
            return Ok(());
        }
        if self.wraps_before(rhs, out) {
            return out.store("mmul_into", &[self, rhs], || self.mmul(rhs));
        }
        self.run_gemm("mmul_into", rhs, (1.0, 0.0), out)
    }

    /// `alpha` times the product of two matrices plus `beta` times what `out` holds, into `out`.
    ///
    /// With `beta` 0 the old contents do not matter, be they NaN.
    ///
    /// # Errors
    /// As [`mmul`](Self::mmul); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn gemm_into(&self, rhs: &NdArray, alpha: f64, beta: f64, out: &NdArray) -> Result<()> {
        self.run_gemm("gemm_into", rhs, (alpha, beta), out)
    }

    #[track_caller]
    fn run_gemm(
        &self,
        op: &'static str,
        rhs: &NdArray,
        (alpha, beta): (f64, f64),
        out: &NdArray,
    ) -> Result<()> {
        let (Some(&[rows, inner]), Some(&[rhs_rows, columns])) =
            (self.shape().as_array(), rhs.shape().as_array())
        else {
            return Err(self.no_matrices(op, rhs));
        };
        if inner != rhs_rows {
            return Err(self.product_error(op, rhs));
        }
        out.expect_output(op, &Shape::from([rows, columns]), self.product_dtype(rhs))?;
        let run = || kernels::matmul(self.operand(), rhs.operand(), out.operand(), alpha, beta);
        watched(op, &[self, rhs], out, run)
    }

    /// The matrix product over the last two axes, batched over the others, which broadcast.
    ///
    /// A vector on the left is a row, one on the right a column; their axis is missing from the result, so that the
    /// product of two vectors is their dot product.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] for a scalar, [`ArrayErrorKind::MatrixProduct`] when the inner sizes differ,
    /// [`ArrayErrorKind::Broadcast`] when the batch axes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let x = NdArray::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(x.matmul(&x)?.item::<f32>()?, 14.0);
    /// let batch = NdArray::ones([5, 2, 3])?;
    /// assert_eq!(batch.matmul(&x)?.shape()[..], [5, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "dot")]
    #[track_caller]
    pub fn matmul(&self, rhs: &NdArray) -> Result<NdArray> {
        if self.rank() >= 2 && rhs.rank() >= 2 {
            return self.product("matmul", rhs);
        }
        self.product_with_vector(rhs)
    }

    /// [`matmul`](Self::matmul) with an operand of less than two axes.
    #[track_caller]
    fn product_with_vector(&self, rhs: &NdArray) -> Result<NdArray> {
        if let Some(product) = self.packed_vector_product(rhs) {
            return Ok(product);
        }
        for array in [self, rhs] {
            if array.rank() == 0 {
                let (expected, array) = ("arrays with at least one axis", ArraySummary::of(array));
                return Err(ArrayError::new(ArrayErrorKind::Form {
                    op: "matmul",
                    expected,
                    array,
                }));
            }
        }
        match (self.rank(), rhs.rank()) {
            (1, 1) => self
                .expand_dims(0)?
                .product_of("matmul", self, &rhs.expand_dims(1)?, rhs)?
                .reshape(&[] as &[isize]),
            (1, _) => self
                .expand_dims(0)?
                .product_of("matmul", self, rhs, rhs)?
                .squeeze(-2),
            _ => self
                .product_of("matmul", self, &rhs.expand_dims(1)?, rhs)?
                .squeeze(-1),
        }
        .map(NdArray::owning)
    }

    /// [`matmul`](Self::matmul) of arrays of at least two axes into an existing array; allocates nothing.
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn matmul_into(&self, rhs: &NdArray, out: &NdArray) -> Result<()> {
        const OP: &str = "matmul_into";
        if self.packed_product_into(rhs, out) {
            return Ok(());
        }
        if self.wraps_before(rhs, out) {
            return out.store(OP, &[self, rhs], || self.matmul(rhs));
        }
        if self.rank() == 1 || rhs.rank() == 1 {
            return self.vector_product_into(OP, rhs, out);
        }
        let shape = self.product_shape(OP, self, rhs, rhs)?;
        out.expect_output(OP, &shape, self.product_dtype(rhs))?;
        let run = || self.run_product(rhs, out.shape(), out.operand());
        watched(OP, &[self, rhs], out, run)
    }

    /// [`matmul_into`](Self::matmul_into) of a vector on the left, the right, or both sides: a matrix of one row or column, whose
    /// axis the result does not have.
    #[track_caller]
    fn vector_product_into(&self, op: &'static str, rhs: &NdArray, out: &NdArray) -> Result<()> {
        let (mut x, mut y) = (self.clone(), rhs.clone());
        if x.rank() == 1 {
            x = x.expand_dims(0)?;
        }
        if y.rank() == 1 {
            y = y.expand_dims(1)?;
        }
        let whole = x.product_shape(op, self, &y, rhs)?;
        let (mut shape, mut view) = (whole.clone(), out.clone());
        if self.rank() == 1 {
            shape.remove(whole.len() - 2);
        }
        if rhs.rank() == 1 {
            shape.remove(shape.len() - 1);
        }
        out.expect_output(op, &shape, self.product_dtype(rhs))?;
        if self.rank() == 1 {
            view = view.expand_dims(if rhs.rank() == 1 { 0 } else { -2 })?;
        }
        if rhs.rank() == 1 {
            view = view.expand_dims(-1)?;
        }
        let run = || x.run_product(&y, &whole, view.operand());
        watched(op, &[self, rhs], out, run)
    }

    /// Every element of this vector times every element of another: a matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when an operand is not a vector of rank 1.
    #[track_caller]
    pub fn outer(&self, rhs: &NdArray) -> Result<NdArray> {
        self.expect_vectors("outer", rhs)?;
        let product = self.expand_dims(1)?.mul(rhs);
        product.renamed("outer")
    }

    #[track_caller]
    fn expect_vectors(&self, op: &'static str, rhs: &NdArray) -> Result<()> {
        for array in [self, rhs] {
            if array.rank() != 1 {
                let (expected, array) = ("vectors", ArraySummary::of(array));
                return Err(ArrayError::new(ArrayErrorKind::Form {
                    op,
                    expected,
                    array,
                }));
            }
        }
        Ok(())
    }

    /// [`outer`](Self::outer) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`outer`](Self::outer); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn outer_into(&self, rhs: &NdArray, out: &NdArray) -> Result<()> {
        self.expect_vectors("outer_into", rhs)?;
        let column = self.expand_dims(1)?;
        column.binary_into(BinaryOp::Mul, "outer_into", Arg::Array(rhs), out)
    }

    #[track_caller]
    pub(crate) fn product(&self, op: &'static str, rhs: &NdArray) -> Result<NdArray> {
        match self.packed_product(rhs) {
            Some(product) => Ok(product),
            None => self.product_of(op, self, rhs, rhs),
        }
    }

    /// The product, with the operands as the caller gave them for the error message.
    #[track_caller]
    fn product_of(
        &self,
        op: &'static str,
        given: &NdArray,
        rhs: &NdArray,
        given_rhs: &NdArray,
    ) -> Result<NdArray> {
        if checks::are_on() {
            let watch = Watch::start();
            let made = self.unwatched_product(op, given, rhs, given_rhs);
            return watch.made(op, &[given, given_rhs], made);
        }
        // No result is moved on this way, which is the usual one.
        self.unwatched_product(op, given, rhs, given_rhs)
    }

    /// The shortest way to the product of two matrices, where there is one: small ones of one float dtype, without gaps.
    #[inline(always)]
    #[track_caller]
    fn packed_product(&self, rhs: &NdArray) -> Option<NdArray> {
        let ([m, k, n], product) = self.packed_product_with(rhs)?;
        let mut place = None;
        // With a square matrix on the right the result has the shape of the left one.
        let layout = if n == k {
            self.layout().packed_in(Order::C, &mut place)
        } else {
            place.insert(Layout::contiguous([m, n], Order::C).ok()?)
        };
        self.packed_result(product, rhs, layout)
    }

    /// [`packed_product`](Self::packed_product) of a vector and a matrix, or of two vectors, as [`matmul`](Self::matmul) takes them.
    #[inline(always)]
    #[track_caller]
    fn packed_vector_product(&self, rhs: &NdArray) -> Option<NdArray> {
        let (left, right, shape) = match (&self.shape()[..], &rhs.shape()[..]) {
            (&[m, k], &[depth]) => ([m, k], [depth, 1], Shape::from([m])),
            (&[k], &[depth, n]) => ([1, k], [depth, n], Shape::from([n])),
            (&[k], &[depth]) => ([1, k], [depth, 1], Shape::scalar()),
            _ => return None,
        };
        let product = self.packed_product_as(left, rhs, right)?;
        let layout = Layout::contiguous(shape, Order::C).ok()?;
        self.packed_result(product, rhs, &layout)
    }

    /// A packed product in a new array.
    #[inline(always)]
    #[track_caller]
    fn packed_result(
        &self,
        product: PackedProduct,
        rhs: &NdArray,
        layout: &Layout,
    ) -> Option<NdArray> {
        let dtype = self.dtype();
        let buffer = Buffer::recycled(layout.elements() * dtype.size()).ok()?;
        let mut made = NdArray::whole(buffer, layout.clone(), dtype);
        let run = |out| product.run(self.buffer(), rhs.buffer(), out);
        made.write_sole().is_ok_and(run).then_some(made)
    }

    /// [`packed_product`](Self::packed_product) into an array without gaps; false, with nothing written, where it is not for
    /// these.
    #[inline]
    fn packed_product_into(&self, rhs: &NdArray, out: &NdArray) -> bool {
        self.packed_product_with(rhs)
            .is_some_and(|([m, _, n], product)| {
                let fits = out.shape().as_array() == Some(&[m, n]) && out.dtype() == self.dtype();
                fits && lies_plainly(out)
                    && product.run_into(self.buffer(), rhs.buffer(), out.buffer())
            })
    }

    /// How two matrices are multiplied the shortest way, of what sizes: rows, those of `rhs`, its columns.
    #[inline(always)]
    fn packed_product_with(&self, rhs: &NdArray) -> Option<([usize; 3], PackedProduct)> {
        let (&left, &right) = (self.shape().as_array()?, rhs.shape().as_array()?);
        let product = self.packed_product_as(left, rhs, right)?;
        Some(([left[0], left[1], right[1]], product))
    }

    /// The same of arrays that are taken for matrices of these sizes.
    #[inline(always)]
    fn packed_product_as(
        &self,
        [m, k]: [usize; 2],
        rhs: &NdArray,
        [depth, n]: [usize; 2],
    ) -> Option<PackedProduct> {
        let plain = lies_plainly(self) && lies_plainly(rhs);
        if k != depth || rhs.dtype() != self.dtype() || !plain || checks::are_on() {
            return None;
        }
        PackedProduct::find(self.dtype(), [m, k, n])
    }

    #[track_caller]
    fn unwatched_product(
        &self,
        op: &'static str,
        given: &NdArray,
        rhs: &NdArray,
        given_rhs: &NdArray,
    ) -> Result<NdArray> {
        let dtype = self.product_dtype(rhs);
        if let (&[_, inner], &[depth, columns]) = (&self.shape()[..], &rhs.shape()[..])
            && inner == depth
            && inner == columns
        {
            // A square matrix on the right: the result has the shape of the left one.
            let mut place = None;
            let layout = self.layout().packed_in(Order::C, &mut place);
            return NdArray::filled_by(op, layout, dtype, |out| {
                kernels::matmul(self.operand(), rhs.operand(), out, 1.0, 0.0)
            });
        }
        let shape = self.product_shape(op, given, rhs, given_rhs)?;
        let layout = Layout::contiguous(shape, Order::C).or_fail(op)?;
        NdArray::filled_by(op, &layout, dtype, |out| {
            self.run_product(rhs, layout.shape(), out)
        })
    }

    /// The shape of the product of two arrays with at least two axes.
    #[track_caller]
    fn product_shape(
        &self,
        op: &'static str,
        given: &NdArray,
        rhs: &NdArray,
        given_rhs: &NdArray,
    ) -> Result<Shape> {
        let ([batch @ .., rows, inner], [rhs_batch @ .., rhs_rows, columns]) =
            (&self.shape()[..], &rhs.shape()[..])
        else {
            let (expected, array) = ("arrays with at least two axes", ArraySummary::of(given));
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected,
                array,
            }));
        };
        if inner != rhs_rows {
            return Err(given.product_error(op, given_rhs));
        }
        if batch.is_empty() && rhs_batch.is_empty() {
            return Ok(Shape::from([*rows, *columns]));
        }
        let Ok(batch) = broadcast_shapes(&Shape::from(batch), &Shape::from(rhs_batch)) else {
            let (lhs, rhs) = (ArraySummary::of(given), ArraySummary::of(given_rhs));
            return Err(ArrayError::new(ArrayErrorKind::Broadcast { op, lhs, rhs }));
        };
        let mut shape = batch;
        shape.push(*rows);
        shape.push(*columns);
        Ok(shape)
    }

    /// The product into an array of the shape it has.
    fn run_product<'o>(
        &'o self,
        rhs: &'o NdArray,
        shape: &Shape,
        out: impl Into<Output<'o>>,
    ) -> kernels::Result<()> {
        let out: Output<'o> = out.into();
        let batch = &shape[..shape.len() - 2];
        if self.rank() == shape.len() && rhs.rank() == shape.len() && batch.is_empty() {
            return kernels::matmul(self.operand(), rhs.operand(), out, 1.0, 0.0);
        }
        let stretched = |array: &NdArray| {
            let mut shape: SmallVec<[usize; 6]> = SmallVec::from_slice(batch);
            shape.extend_from_slice(&array.shape()[array.rank() - 2..]);
            array.layout().broadcast_to(&Shape::from(&shape[..]))
        };
        let failed = KernelError::shape("matmul");
        let x = stretched(self).map_err(&failed)?;
        let y = stretched(rhs).map_err(&failed)?;
        kernels::matmul(self.operand_as(&x), rhs.operand_as(&y), out, 1.0, 0.0)
    }

    /// Whether the product is of integers that wrap before they are stored in another dtype, which kernels leave out.
    fn wraps_before(&self, rhs: &NdArray, out: &NdArray) -> bool {
        let dtype = self.product_dtype(rhs);
        !dtype.is_float() && dtype != out.dtype()
    }

    fn product_dtype(&self, rhs: &NdArray) -> DType {
        self.dtype().promote(rhs.dtype())
    }

    #[cold]
    #[track_caller]
    fn product_error(&self, op: &'static str, rhs: &NdArray) -> ArrayError {
        let (lhs, rhs) = (ArraySummary::of(self), ArraySummary::of(rhs));
        ArrayError::new(ArrayErrorKind::MatrixProduct { op, lhs, rhs })
    }

    /// The error for operands of which one at least is no matrix.
    #[cold]
    #[track_caller]
    fn no_matrices(&self, op: &'static str, rhs: &NdArray) -> ArrayError {
        ArrayError::new(ArrayErrorKind::Operands {
            op,
            expected: "two matrices",
            lhs: ArraySummary::of(self),
            rhs: ArraySummary::of(rhs),
        })
    }
}

/// Whether an array's rows lie one after the other from the start of its buffer.
#[inline]
fn lies_plainly(array: &NdArray) -> bool {
    array.layout().offset() == 0 && array.layout().is_contiguous(Order::C)
}
