//! Strided matrices over slices: what the matrix kernels work on.

/// A matrix inside a slice. Made only by [`Matrix::new`], which proves that every element lies inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a, C> {
    data: &'a [C],
    shape: MatrixShape,
}

/// A matrix inside a slice that is written. Made only by [`MatrixMut::new`], which proves that every element lies inside.
#[derive(Debug)]
pub(crate) struct MatrixMut<'a, C> {
    data: &'a mut [C],
    shape: MatrixShape,
}

/// Where the elements of a matrix are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatrixShape {
    pub(crate) start: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Steps from row to row and from column to column.
    pub(crate) row_step: isize,
    pub(crate) column_step: isize,
}

impl MatrixShape {
    pub(crate) fn at(self, row: usize, column: usize) -> usize {
        let offset = row as isize * self.row_step + column as isize * self.column_step;
        (self.start as isize + offset) as usize
    }

    pub(crate) fn is_empty(self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    pub(crate) fn transposed(self) -> Self {
        Self {
            start: self.start,
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
        }
    }

    /// The lowest and highest element index, of a matrix that is not empty.
    fn reach(self) -> (i128, i128) {
        let mut low = self.start as i128;
        let mut high = low;
        for (size, step) in [(self.rows, self.row_step), (self.columns, self.column_step)] {
            let span = (size as i128 - 1) * step as i128;
            low += span.min(0);
            high += span.max(0);
        }
        (low, high)
    }

    /// Whether every element has an index below `len`.
    fn fits(self, len: usize) -> bool {
        if self.is_empty() {
            return true;
        }
        let (low, high) = self.reach();
        low >= 0 && high < len as i128
    }
}

impl<'a, C: Copy> Matrix<'a, C> {
    /// The matrix of that shape in `data`.
    ///
    /// # Panics
    /// If an element lies outside: operands are checked against their buffers before, so that is a bug in this crate.
    pub(crate) fn new(data: &'a [C], shape: MatrixShape) -> Self {
        assert!(shape.fits(data.len()), "a matrix reaches beyond its buffer");
        Self { data, shape }
    }

    pub(crate) fn shape(&self) -> MatrixShape {
        self.shape
    }

    pub(crate) fn data(&self) -> &'a [C] {
        self.data
    }

    pub(crate) fn transposed(self) -> Self {
        Self {
            data: self.data,
            shape: self.shape.transposed(),
        }
    }

    /// The rows `first..first + count`.
    pub(crate) fn row_range(self, first: usize, count: usize) -> Self {
        assert!(count <= self.shape.rows && first <= self.shape.rows - count);
        let start = if count == 0 {
            self.shape.start
        } else {
            self.shape.at(first, 0)
        };
        Self {
            data: self.data,
            shape: MatrixShape {
                start,
                rows: count,
                ..self.shape
            },
        }
    }
}

impl<'a, C: Copy> MatrixMut<'a, C> {
    /// As [`Matrix::new`].
    ///
    /// # Panics
    /// As [`Matrix::new`].
    pub(crate) fn new(data: &'a mut [C], shape: MatrixShape) -> Self {
        assert!(shape.fits(data.len()), "a matrix reaches beyond its buffer");
        Self { data, shape }
    }

    pub(crate) fn shape(&self) -> MatrixShape {
        self.shape
    }

    pub(crate) fn data(&mut self) -> &mut [C] {
        self.data
    }
}
