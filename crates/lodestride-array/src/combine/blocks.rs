//! Arrays joined as NumPy joins columns, layers and the blocks of a matrix.

use lodestride_buffer::Argument;
use smallvec::SmallVec;

use super::join;
use crate::NdArray;
use crate::checks::Watch;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;
use crate::target::Target;

impl NdArray {
    /// Vectors as the columns of a matrix, side by side with the columns of matrices.
    ///
    /// # Errors
    /// As [`concat`](Self::concat).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (x, y) = (NdArray::from([1i32, 2]), NdArray::from([[3i32, 4], [5, 6]]));
    /// let a = NdArray::column_stack(&[&x, &y])?;
    /// assert_eq!(a, NdArray::from([[1i32, 3, 4], [2, 5, 6]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn column_stack(arrays: &[&NdArray]) -> Result<NdArray> {
        let columns = with_axes(arrays, column)?;
        join("column_stack", &references(&columns), 1, Target::New)
    }

    /// [`column_stack`](Self::column_stack) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`column_stack`](Self::column_stack); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn column_stack_into(arrays: &[&NdArray], out: &NdArray) -> Result<()> {
        let columns = with_axes(arrays, column)?;
        let target = Target::Into(out);
        join("column_stack_into", &references(&columns), 1, target).map(drop)
    }

    /// Arrays along the third axis; matrices get one, vectors one in front of them too.
    ///
    /// # Errors
    /// As [`concat`](Self::concat).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (x, y) = (NdArray::from([1i32, 2]), NdArray::from([3i32, 4]));
    /// assert_eq!(NdArray::dstack(&[&x, &y])?, NdArray::from([[[1i32, 3], [2, 4]]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn dstack(arrays: &[&NdArray]) -> Result<NdArray> {
        let layers = with_axes(arrays, layer)?;
        join("dstack", &references(&layers), 2, Target::New)
    }

    /// [`dstack`](Self::dstack) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`dstack`](Self::dstack); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn dstack_into(arrays: &[&NdArray], out: &NdArray) -> Result<()> {
        let layers = with_axes(arrays, layer)?;
        join("dstack_into", &references(&layers), 2, Target::Into(out)).map(drop)
    }

    /// An array made of rows of blocks: the blocks of a row stand side by side along the last axis, the rows below each other
    /// along the one before it. Blocks of fewer axes than others get more in front, two at least.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] without rows or for a row without blocks, [`ArrayErrorKind::Join`] when blocks do not fit.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (a, b) = (NdArray::eye_of(lodestride_array::DType::I32, 2)?, NdArray::from([[7i32], [8]]));
    /// let c = NdArray::from([5i32, 6, 7]);
    /// let whole = NdArray::block(&[&[&a, &b], &[&c]])?;
    /// assert_eq!(whole, NdArray::from([[1i32, 0, 7], [0, 1, 8], [5, 6, 7]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn block(rows: &[&[&NdArray]]) -> Result<NdArray> {
        let (op, watch) = ("block", Watch::start());
        let blocks: Vec<&NdArray> = rows.iter().copied().flatten().copied().collect();
        let mut rank = 2;
        for (position, block) in blocks.iter().enumerate() {
            block.expect_readable(op, Argument::Input(position))?;
            rank = rank.max(block.rank());
        }
        let mut joined = Vec::with_capacity(rows.len());
        for row in rows {
            let row = with_axes(row, |block, _| (block < rank).then_some(0))?;
            // A single block is a row as it is.
            joined.push(match &row[..] {
                [block] => block.clone(),
                row => join(op, &references(row), -1, Target::New)?,
            });
        }
        let made = join(op, &references(&joined), -2, Target::New);
        watch.made(op, &blocks, made)
    }

    /// [`block`](Self::block) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`block`](Self::block); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn block_into(rows: &[&[&NdArray]], out: &NdArray) -> Result<()> {
        let blocks: Vec<&NdArray> = rows.iter().copied().flatten().copied().collect();
        out.store("block_into", &blocks, || NdArray::block(rows))
    }
}

/// Where a column of a matrix gets its next axis, if it needs one: its rank now, and that of the array it was.
fn column(rank: usize, _: usize) -> Option<isize> {
    (rank < 2).then_some(-1)
}

/// The same of a layer: numbers and vectors get axes on both sides.
fn layer(rank: usize, given: usize) -> Option<isize> {
    match (given, rank) {
        (0 | 1, 0 | 1) => Some(0),
        (_, 0..3) => Some(-1),
        _ => None,
    }
}

/// The arrays with the axes that they lack.
#[track_caller]
fn with_axes(
    arrays: &[&NdArray],
    next: impl Fn(usize, usize) -> Option<isize>,
) -> Result<SmallVec<[NdArray; 4]>> {
    let mut grown = SmallVec::new();
    for &array in arrays {
        let mut view = array.clone();
        while let Some(axis) = next(view.rank(), array.rank()) {
            view = view.expand_dims(axis)?;
        }
        grown.push(view);
    }
    Ok(grown)
}

fn references(arrays: &[NdArray]) -> SmallVec<[&NdArray; 4]> {
    arrays.iter().collect()
}
