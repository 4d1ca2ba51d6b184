//! Distinct values, how often and where they occur.

use lodestride_buffer::DType;
use lodestride_kernels::sort as kernels;
use lodestride_shape::{Order, Shape, s};

use crate::NdArray;
use crate::checks::{Made, Watch};
use crate::error::{InMethod, OrFail, Result};

/// The distinct values of an array with their places and numbers.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The distinct values, ascending; NaN once, last.
    pub values: NdArray,
    /// Where each value occurs first in C order, as i64.
    pub indices: NdArray,
    /// For each element of the array, in its shape, the place of its value among `values`, as i64.
    pub inverse: NdArray,
    /// How often each value occurs, as i64.
    pub counts: NdArray,
}

impl Made for Unique {
    fn arrays(&self) -> Vec<NdArray> {
        let Self {
            values,
            indices,
            inverse,
            counts,
        } = self.clone();
        vec![values, indices, inverse, counts]
    }
}

impl NdArray {
    /// A vector of the distinct values, ascending; all NaNs are one value, and -0.0 is 0.0.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[3i32, 1], [3, 2]]);
    /// assert_eq!(a.unique()?.to_vec::<i32>()?, [1, 2, 3]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn unique(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let sorted = self.sort(..).renamed("unique")?;
        watch.made(
            "unique",
            &[self],
            sorted.select_where(&run_starts(&sorted)?),
        )
    }

    /// The distinct values, ascending, and how often each occurs, as i64.
    ///
    /// # Errors
    /// As [`unique`](Self::unique).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (values, counts) = NdArray::from([5.0f32, 2.0, 5.0]).unique_counts()?;
    /// assert_eq!(values.to_vec::<f32>()?, [2.0, 5.0]);
    /// assert_eq!(counts.to_vec::<i64>()?, [1, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn unique_counts(&self) -> Result<(NdArray, NdArray)> {
        let watch = Watch::start();
        let sorted = self.sort(..).renamed("unique_counts")?;
        let starts = run_starts(&sorted)?;
        let counts = lengths(&starts, self.len())?;
        let made = Ok((sorted.select_where(&starts)?, counts));
        watch.made("unique_counts", &[self], made)
    }

    /// The distinct values, ascending, with the place of each one's first occurrence, the way back to the array, and how
    /// often each occurs.
    ///
    /// # Errors
    /// As [`unique`](Self::unique).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[7i32, 4], [4, 7]]);
    /// let unique = a.unique_all()?;
    /// assert_eq!(unique.indices.to_vec::<i64>()?, [1, 0]);
    /// assert_eq!(unique.values.take(&unique.inverse, 0)?, a);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn unique_all(&self) -> Result<Unique> {
        let watch = Watch::start();
        let flat = self.ravel()?;
        let order = flat.argsort(0).renamed("unique_all")?;
        let starts = run_starts(&flat.take(&order, 0)?)?;
        let counts = lengths(&starts, self.len())?;
        let mut inverse = vec![0i64; self.len()];
        let mut positions = order.to_vec::<i64>()?.into_iter();
        for (run, count) in counts.to_vec::<i64>()?.into_iter().enumerate() {
            for position in positions.by_ref().take(count as usize) {
                inverse[position as usize] = run as i64;
            }
        }
        let indices = order.select_where(&starts)?;
        let made = Ok(Unique {
            values: flat.take(&indices, 0)?,
            indices,
            inverse: NdArray::from_vec(inverse, self.shape().clone())?,
            counts,
        });
        watch.made("unique_all", &[self], made)
    }
}

/// Whether each element of a sorted vector is the first of its value.
#[track_caller]
fn run_starts(sorted: &NdArray) -> Result<NdArray> {
    let shape = sorted.shape().clone();
    let starts = NdArray::recycled_ordered("unique", DType::Bool, shape, Order::C)?;
    kernels::run_starts(sorted.operand(), starts.operand()).or_fail("unique")?;
    Ok(starts)
}

/// The lengths of runs that begin where `starts` says, of a vector of `len` elements, as i64.
#[track_caller]
fn lengths(starts: &NdArray, len: usize) -> Result<NdArray> {
    let begin = starts.nonzero()?.ravel()?;
    let count = begin.len();
    let lengths = NdArray::recycled_ordered("unique", DType::I64, Shape::from(count), Order::C)?;
    let Some(last) = count.checked_sub(1) else {
        return Ok(lengths);
    };
    let (from, to) = (begin.get(&s![..last])?, begin.get(&s![1..])?);
    to.sub_into(&from, &lengths.get(&s![..last])?)?;
    let end = len as i64 - begin.get_i64([last])?;
    lengths.set([last], end)?;
    Ok(lengths)
}
