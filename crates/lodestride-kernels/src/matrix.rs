//! Strided matrices over slices: what the matrix kernels work on.

use std::ops::Range;

use smallvec::SmallVec;

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

/// How many elements of a product are computed, a step each, while one of an operand is copied in the order that it is read in.
const COPIED: usize = 16;

/// A matrix divided into parts for threads: shares of its rows times stretches of its columns.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    rows: usize,
    share: usize,
    /// Where each stretch ends.
    ends: SmallVec<[usize; 4]>,
}

impl Grid {
    /// Rows and columns divided so many ways, every share but the last a multiple of its unit. Nothing is zero.
    pub(crate) fn new(rows: usize, columns: usize, ways: [usize; 2], units: [usize; 2]) -> Self {
        let share = |size: usize, axis: usize| {
            size.div_ceil(ways[axis])
                .next_multiple_of(units[axis])
                .min(size)
        };
        let width = share(columns, 1);
        let ends = (1..=columns.div_ceil(width)).map(|end| columns.min(end * width));
        Self {
            rows,
            share: share(rows, 0),
            ends: ends.collect(),
        }
    }

    /// The columns of a square in up to so many stretches of whole strips of `width`, with as much above the diagonal in each as can
    /// be: a strip takes as long as it has rows.
    pub(crate) fn above_diagonal(size: usize, ways: usize, width: usize) -> Self {
        let rows = |end: &usize| (*end).min(size) as f64;
        let strips = (1..=size.div_ceil(width)).map(|number| number * width);
        let whole: f64 = strips.clone().map(|end| rows(&end)).sum();
        let (mut ends, mut done) = (SmallVec::<[usize; 4]>::new(), 0.0);
        for end in strips {
            // A stretch ends before the strip of which more than half would be too much.
            let share = whole * (ends.len() + 1) as f64 / ways as f64;
            if done > 0.0 && done + rows(&end) / 2.0 > share {
                ends.push(end - width);
            }
            done += rows(&end);
        }
        ends.push(size);
        Self {
            rows: size,
            share: size,
            ends,
        }
    }

    /// The parts of a product for so many threads, every share but the last a multiple of its unit, so that the largest one takes least:
    /// it computes its elements, and reads its rows of the left and its columns of the right matrix.
    pub(crate) fn even(rows: usize, columns: usize, threads: usize, units: [usize; 2]) -> Self {
        let ways = (1..=threads).filter(|down| threads.is_multiple_of(*down));
        let grids = ways.map(|down| Self::new(rows, columns, [down, threads / down], units));
        let least = grids.min_by_key(|grid| {
            let [share, width] = [grid.share, grid.widest()];
            share.saturating_mul(width) + COPIED * (share + width)
        });
        least.unwrap_or_else(|| Self::new(rows, columns, [1, 1], units))
    }

    /// How many shares of rows there are.
    fn down(&self) -> usize {
        self.rows.div_ceil(self.share)
    }

    pub(crate) fn parts(&self) -> usize {
        self.down() * self.ends.len()
    }

    /// Columns of the widest part.
    pub(crate) fn widest(&self) -> usize {
        let widths = (0..self.ends.len()).map(|stretch| self.columns(stretch).len());
        widths.max().unwrap_or(0)
    }

    fn columns(&self, stretch: usize) -> Range<usize> {
        let start = stretch.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[stretch]
    }

    /// The rows and columns of a part.
    pub(crate) fn part(&self, part: usize) -> (Range<usize>, Range<usize>) {
        let (row, stretch) = (part % self.down(), part / self.down());
        let rows = row * self.share..self.rows.min((row + 1) * self.share);
        (rows, self.columns(stretch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_have_as_much_above_the_diagonal_and_miss_no_column() {
        for size in [1, 23, 24, 25, 100, 512, 4000] {
            for ways in [1, 2, 3, 8, 64] {
                let grid = Grid::above_diagonal(size, ways, 24);
                assert!(grid.parts() <= ways, "{size} {ways}");
                let panels = |columns: Range<usize>| -> usize {
                    columns
                        .step_by(24)
                        .map(|start| (start + 24).min(size))
                        .sum()
                };
                let mut next = 0;
                for part in 0..grid.parts() {
                    let (rows, columns) = grid.part(part);
                    assert_eq!((rows, columns.start), (0..size, next), "{size} {ways}");
                    assert!(!columns.is_empty() && columns.len() <= grid.widest());
                    // Both ends may be put half a panel further.
                    let most = panels(0..size).div_ceil(ways) + size;
                    assert!(panels(columns.clone()) <= most, "{size} {ways} {columns:?}");
                    next = columns.end;
                }
                assert_eq!(next, size);
            }
        }
    }
}
