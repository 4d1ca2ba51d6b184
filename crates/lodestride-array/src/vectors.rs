//! Ops between a matrix and a vector that is applied to all rows or all columns.

use lodestride_kernels::BinaryOp;

use crate::NdArray;
use crate::arg::Arg;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};

impl NdArray {
    /// The vector as a matrix of one row that fits this matrix.
    #[track_caller]
    fn along_rows(&self, op: &'static str, vector: &NdArray) -> Result<NdArray> {
        let (_, columns) = self.matrix_form(op)?;
        self.expect_vector(op, columns, vector)?;
        vector.reshape([1, columns])
    }

    /// The vector as a matrix of one column that fits this matrix.
    #[track_caller]
    fn along_columns(&self, op: &'static str, vector: &NdArray) -> Result<NdArray> {
        let (rows, _) = self.matrix_form(op)?;
        self.expect_vector(op, rows, vector)?;
        vector.reshape([rows, 1])
    }

    #[track_caller]
    fn expect_vector(&self, op: &'static str, expected: usize, vector: &NdArray) -> Result<()> {
        if vector.is_vector() && vector.len() == expected {
            return Ok(());
        }
        let (matrix, vector) = (ArraySummary::of(self), ArraySummary::of(vector));
        Err(ArrayError::new(ArrayErrorKind::VectorLength {
            op,
            expected,
            matrix,
            vector,
        }))
    }

    /// The vector added to every row of this matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 9.0, 5.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]]);
    /// let sum = a.add_row_vector(&NdArray::from([1.0f32, 2.0, 3.0]))?;
    /// assert_eq!(sum, NdArray::from([[2.0f32, 11.0, 8.0], [6.0, 5.0, 8.0], [3.0, 5.0, 9.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "addRowVector")]
    #[track_caller]
    pub fn add_row_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_rows("add_row_vector", vector)?;
        self.binary(BinaryOp::Add, Arg::Array(&vector))
    }

    /// [`add_row_vector`](Self::add_row_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`add_row_vector`](Self::add_row_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn add_row_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "add_row_vector_into";
        let vector = self.along_rows(op, vector)?;
        self.binary_into(BinaryOp::Add, op, Arg::Array(&vector), out)
    }

    /// [`add_row_vector`](Self::add_row_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`add_row_vector`](Self::add_row_vector).
    #[track_caller]
    pub fn addi_row_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_rows("addi_row_vector", vector)?;
        self.binary_in_place(BinaryOp::Add, "addi_row_vector", Arg::Array(&vector))
    }

    /// The vector subtracted from every row of this matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "subRowVector")]
    #[track_caller]
    pub fn sub_row_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_rows("sub_row_vector", vector)?;
        self.binary(BinaryOp::Sub, Arg::Array(&vector))
    }

    /// [`sub_row_vector`](Self::sub_row_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`sub_row_vector`](Self::sub_row_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn sub_row_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "sub_row_vector_into";
        let vector = self.along_rows(op, vector)?;
        self.binary_into(BinaryOp::Sub, op, Arg::Array(&vector), out)
    }

    /// [`sub_row_vector`](Self::sub_row_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`sub_row_vector`](Self::sub_row_vector).
    #[track_caller]
    pub fn subi_row_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_rows("subi_row_vector", vector)?;
        self.binary_in_place(BinaryOp::Sub, "subi_row_vector", Arg::Array(&vector))
    }

    /// Every row of this matrix times the vector, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "mulRowVector")]
    #[track_caller]
    pub fn mul_row_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_rows("mul_row_vector", vector)?;
        self.binary(BinaryOp::Mul, Arg::Array(&vector))
    }

    /// [`mul_row_vector`](Self::mul_row_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`mul_row_vector`](Self::mul_row_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn mul_row_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "mul_row_vector_into";
        let vector = self.along_rows(op, vector)?;
        self.binary_into(BinaryOp::Mul, op, Arg::Array(&vector), out)
    }

    /// [`mul_row_vector`](Self::mul_row_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`mul_row_vector`](Self::mul_row_vector).
    #[track_caller]
    pub fn muli_row_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_rows("muli_row_vector", vector)?;
        self.binary_in_place(BinaryOp::Mul, "muli_row_vector", Arg::Array(&vector))
    }

    /// Every row of this matrix divided by the vector, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "divRowVector")]
    #[track_caller]
    pub fn div_row_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_rows("div_row_vector", vector)?;
        self.binary(BinaryOp::Div, Arg::Array(&vector))
    }

    /// [`div_row_vector`](Self::div_row_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`div_row_vector`](Self::div_row_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn div_row_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "div_row_vector_into";
        let vector = self.along_rows(op, vector)?;
        self.binary_into(BinaryOp::Div, op, Arg::Array(&vector), out)
    }

    /// [`div_row_vector`](Self::div_row_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`div_row_vector`](Self::div_row_vector).
    #[track_caller]
    pub fn divi_row_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_rows("divi_row_vector", vector)?;
        self.binary_in_place(BinaryOp::Div, "divi_row_vector", Arg::Array(&vector))
    }

    /// The vector minus every row of this matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "rsubRowVector")]
    #[track_caller]
    pub fn rsub_row_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_rows("rsub_row_vector", vector)?;
        self.binary(BinaryOp::RSub, Arg::Array(&vector))
    }

    /// [`rsub_row_vector`](Self::rsub_row_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`rsub_row_vector`](Self::rsub_row_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn rsub_row_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "rsub_row_vector_into";
        let vector = self.along_rows(op, vector)?;
        self.binary_into(BinaryOp::RSub, op, Arg::Array(&vector), out)
    }

    /// [`rsub_row_vector`](Self::rsub_row_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`rsub_row_vector`](Self::rsub_row_vector).
    #[track_caller]
    pub fn rsubi_row_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_rows("rsubi_row_vector", vector)?;
        self.binary_in_place(BinaryOp::RSub, "rsubi_row_vector", Arg::Array(&vector))
    }

    /// The vector divided by every row of this matrix, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "rdivRowVector")]
    #[track_caller]
    pub fn rdiv_row_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_rows("rdiv_row_vector", vector)?;
        self.binary(BinaryOp::RDiv, Arg::Array(&vector))
    }

    /// [`rdiv_row_vector`](Self::rdiv_row_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`rdiv_row_vector`](Self::rdiv_row_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn rdiv_row_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "rdiv_row_vector_into";
        let vector = self.along_rows(op, vector)?;
        self.binary_into(BinaryOp::RDiv, op, Arg::Array(&vector), out)
    }

    /// [`rdiv_row_vector`](Self::rdiv_row_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`rdiv_row_vector`](Self::rdiv_row_vector).
    #[track_caller]
    pub fn rdivi_row_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_rows("rdivi_row_vector", vector)?;
        self.binary_in_place(BinaryOp::RDiv, "rdivi_row_vector", Arg::Array(&vector))
    }

    /// The vector added to every column of this matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "addColumnVector")]
    #[track_caller]
    pub fn add_column_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_columns("add_column_vector", vector)?;
        self.binary(BinaryOp::Add, Arg::Array(&vector))
    }

    /// [`add_column_vector`](Self::add_column_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`add_column_vector`](Self::add_column_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn add_column_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "add_column_vector_into";
        let vector = self.along_columns(op, vector)?;
        self.binary_into(BinaryOp::Add, op, Arg::Array(&vector), out)
    }

    /// [`add_column_vector`](Self::add_column_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`add_column_vector`](Self::add_column_vector).
    #[track_caller]
    pub fn addi_column_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_columns("addi_column_vector", vector)?;
        self.binary_in_place(BinaryOp::Add, "addi_column_vector", Arg::Array(&vector))
    }

    /// The vector subtracted from every column of this matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "subColumnVector")]
    #[track_caller]
    pub fn sub_column_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_columns("sub_column_vector", vector)?;
        self.binary(BinaryOp::Sub, Arg::Array(&vector))
    }

    /// [`sub_column_vector`](Self::sub_column_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`sub_column_vector`](Self::sub_column_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn sub_column_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "sub_column_vector_into";
        let vector = self.along_columns(op, vector)?;
        self.binary_into(BinaryOp::Sub, op, Arg::Array(&vector), out)
    }

    /// [`sub_column_vector`](Self::sub_column_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`sub_column_vector`](Self::sub_column_vector).
    #[track_caller]
    pub fn subi_column_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_columns("subi_column_vector", vector)?;
        self.binary_in_place(BinaryOp::Sub, "subi_column_vector", Arg::Array(&vector))
    }

    /// Every column of this matrix times the vector, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "mulColumnVector")]
    #[track_caller]
    pub fn mul_column_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_columns("mul_column_vector", vector)?;
        self.binary(BinaryOp::Mul, Arg::Array(&vector))
    }

    /// [`mul_column_vector`](Self::mul_column_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`mul_column_vector`](Self::mul_column_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn mul_column_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "mul_column_vector_into";
        let vector = self.along_columns(op, vector)?;
        self.binary_into(BinaryOp::Mul, op, Arg::Array(&vector), out)
    }

    /// [`mul_column_vector`](Self::mul_column_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`mul_column_vector`](Self::mul_column_vector).
    #[track_caller]
    pub fn muli_column_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_columns("muli_column_vector", vector)?;
        self.binary_in_place(BinaryOp::Mul, "muli_column_vector", Arg::Array(&vector))
    }

    /// Every column of this matrix divided by the vector, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "divColumnVector")]
    #[track_caller]
    pub fn div_column_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_columns("div_column_vector", vector)?;
        self.binary(BinaryOp::Div, Arg::Array(&vector))
    }

    /// [`div_column_vector`](Self::div_column_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`div_column_vector`](Self::div_column_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn div_column_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "div_column_vector_into";
        let vector = self.along_columns(op, vector)?;
        self.binary_into(BinaryOp::Div, op, Arg::Array(&vector), out)
    }

    /// [`div_column_vector`](Self::div_column_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`div_column_vector`](Self::div_column_vector).
    #[track_caller]
    pub fn divi_column_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_columns("divi_column_vector", vector)?;
        self.binary_in_place(BinaryOp::Div, "divi_column_vector", Arg::Array(&vector))
    }

    /// The vector minus every column of this matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "rsubColumnVector")]
    #[track_caller]
    pub fn rsub_column_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_columns("rsub_column_vector", vector)?;
        self.binary(BinaryOp::RSub, Arg::Array(&vector))
    }

    /// [`rsub_column_vector`](Self::rsub_column_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`rsub_column_vector`](Self::rsub_column_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn rsub_column_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "rsub_column_vector_into";
        let vector = self.along_columns(op, vector)?;
        self.binary_into(BinaryOp::RSub, op, Arg::Array(&vector), out)
    }

    /// [`rsub_column_vector`](Self::rsub_column_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`rsub_column_vector`](Self::rsub_column_vector).
    #[track_caller]
    pub fn rsubi_column_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_columns("rsubi_column_vector", vector)?;
        self.binary_in_place(BinaryOp::RSub, "rsubi_column_vector", Arg::Array(&vector))
    }

    /// The vector divided by every column of this matrix, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is no matrix, [`ArrayErrorKind::VectorLength`] when the vector does not fit.
    #[doc(alias = "rdivColumnVector")]
    #[track_caller]
    pub fn rdiv_column_vector(&self, vector: &NdArray) -> Result<NdArray> {
        let vector = self.along_columns("rdiv_column_vector", vector)?;
        self.binary(BinaryOp::RDiv, Arg::Array(&vector))
    }

    /// [`rdiv_column_vector`](Self::rdiv_column_vector) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`rdiv_column_vector`](Self::rdiv_column_vector); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn rdiv_column_vector_into(&self, vector: &NdArray, out: &NdArray) -> Result<()> {
        let op = "rdiv_column_vector_into";
        let vector = self.along_columns(op, vector)?;
        self.binary_into(BinaryOp::RDiv, op, Arg::Array(&vector), out)
    }

    /// [`rdiv_column_vector`](Self::rdiv_column_vector) in place; the vector may be a part of the matrix.
    ///
    /// # Errors
    /// As [`rdiv_column_vector`](Self::rdiv_column_vector).
    #[track_caller]
    pub fn rdivi_column_vector(&self, vector: &NdArray) -> Result<&Self> {
        let vector = self.along_columns("rdivi_column_vector", vector)?;
        self.binary_in_place(BinaryOp::RDiv, "rdivi_column_vector", Arg::Array(&vector))
    }
}
