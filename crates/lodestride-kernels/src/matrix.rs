//! Strided matrices over slices: what the matrix kernels work on.

use std::ops::Range;

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
    /// Rows one after the other from the start of a slice.
    pub(crate) fn contiguous(rows: usize, columns: usize) -> Self {
        Self {
            start: 0,
            rows,
            columns,
            row_step: columns as isize,
            column_step: 1,
        }
    }

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

    /// A part of a matrix; a matrix inside a slice stays inside.
    ///
    /// # Panics
    /// If rows or columns are not the matrix's.
    fn part(self, first_row: usize, rows: usize, first_column: usize, columns: usize) -> Self {
        assert!(rows <= self.rows && first_row <= self.rows - rows);
        assert!(columns <= self.columns && first_column <= self.columns - columns);
        let start = if rows == 0 || columns == 0 {
            self.start
        } else {
            self.at(first_row, first_column)
        };
        Self {
            start,
            rows,
            columns,
            ..self
        }
    }

    /// Whether every element has an index below `len`.
    #[inline]
    fn fits(self, len: usize) -> bool {
        if self.is_empty() {
            return true;
        }
        self.reach()
            .is_some_and(|(low, high)| low >= 0 && high.cast_unsigned() < len)
    }

    /// The lowest and highest element index, of a matrix that is not empty; none where they overflow.
    #[inline]
    fn reach(self) -> Option<(isize, isize)> {
        let start = isize::try_from(self.start).ok()?;
        let span = |size: usize, step: isize| isize::try_from(size - 1).ok()?.checked_mul(step);
        let (rows, columns) = (
            span(self.rows, self.row_step)?,
            span(self.columns, self.column_step)?,
        );
        let low = start
            .checked_add(rows.min(0))?
            .checked_add(columns.min(0))?;
        let high = start
            .checked_add(rows.max(0))?
            .checked_add(columns.max(0))?;
        Some((low, high))
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

    /// `rows` rows from `first_row` on and `columns` columns from `first_column` on.
    pub(crate) fn part(
        self,
        first_row: usize,
        rows: usize,
        first_column: usize,
        columns: usize,
    ) -> Self {
        Self {
            data: self.data,
            shape: self.shape.part(first_row, rows, first_column, columns),
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

    /// As [`Matrix::part`].
    pub(crate) fn part(
        &mut self,
        first_row: usize,
        rows: usize,
        first_column: usize,
        columns: usize,
    ) -> MatrixMut<'_, C> {
        MatrixMut {
            data: self.data,
            shape: self.shape.part(first_row, rows, first_column, columns),
        }
    }
}

/// A matrix divided into parts for threads: shares of its rows times shares of its columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    sizes: [usize; 2],
    shares: [usize; 2],
}

impl Grid {
    /// Rows and columns divided so many ways, every share but the last a multiple of its unit. Nothing is zero.
    pub(crate) fn new(rows: usize, columns: usize, ways: [usize; 2], units: [usize; 2]) -> Self {
        let sizes = [rows, columns];
        let share = |axis: usize| sizes[axis].div_ceil(ways[axis]);
        let shares = [0, 1].map(|axis| share(axis).next_multiple_of(units[axis]));
        Self { sizes, shares }
    }

    /// The ways that make the parts of a product as square as can be: each part reads its rows of the left and its columns
    /// of the right matrix.
    pub(crate) fn even(rows: usize, columns: usize, threads: usize) -> [usize; 2] {
        let ways = (1..=threads).filter(|down| threads.is_multiple_of(*down));
        let least = ways.min_by_key(|&down| rows.div_ceil(down) + columns.div_ceil(threads / down));
        let down = least.unwrap_or(1);
        [down, threads / down]
    }

    fn ways(&self, axis: usize) -> usize {
        self.sizes[axis].div_ceil(self.shares[axis])
    }

    pub(crate) fn parts(&self) -> usize {
        self.ways(0) * self.ways(1)
    }

    /// Columns of the widest part.
    pub(crate) fn widest(&self) -> usize {
        self.sizes[1].min(self.shares[1])
    }

    /// The rows and columns of a part.
    pub(crate) fn part(&self, part: usize) -> (Range<usize>, Range<usize>) {
        let range = |axis: usize, index: usize| {
            let (size, share) = (self.sizes[axis], self.shares[axis]);
            (index * share).min(size)..((index + 1) * share).min(size)
        };
        let down = self.ways(0);
        (range(0, part % down), range(1, part / down))
    }
}
