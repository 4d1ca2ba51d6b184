//! Places of values in sorted vectors and among bins.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::KernelError;
use lodestride_kernels::sort_search::{self as kernels, Side};
use lodestride_shape::Order;

use crate::NdArray;
use crate::checks::{Watch, watched};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, Result};

impl NdArray {
    /// For each of `values`, how many elements of this ascending vector stand before it: the place where it belongs, before
    /// or after equal elements. The result is i64 in the shape of `values`.
    ///
    /// NaN belongs after all numbers. A vector that does not ascend gives meaningless places, never an error.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is not a vector.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Side};
    ///
    /// let edges = NdArray::from([1.0f32, 2.0, 3.0]);
    /// let values = NdArray::from([2.0f32, 0.5, 9.0]);
    /// assert_eq!(edges.searchsorted(&values, Side::Left)?.to_vec::<i64>()?, [1, 0, 3]);
    /// assert_eq!(edges.searchsorted(&values, Side::Right)?.to_vec::<i64>()?, [2, 0, 3]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn searchsorted(&self, values: &NdArray, side: Side) -> Result<NdArray> {
        let op = "searchsorted";
        self.expect_line(op)?;
        let out = NdArray::recycled_ordered(op, DType::I64, values.shape().clone(), Order::C)?;
        let run = || kernels::searchsorted(self.operand(), values.operand(), side, out.operand());
        watched(op, &[self, values], &out, run)
            .blaming(values, Argument::Y)
            .blaming(self, Argument::X)?;
        Ok(out)
    }

    /// [`searchsorted`](Self::searchsorted) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`searchsorted`](Self::searchsorted); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn searchsorted_into(&self, values: &NdArray, side: Side, out: &NdArray) -> Result<()> {
        out.store("searchsorted_into", &[self, values], || {
            self.searchsorted(values, side)
        })
    }

    #[track_caller]
    pub(crate) fn expect_line(&self, op: &'static str) -> Result<()> {
        if self.rank() == 1 {
            return Ok(());
        }
        Err(ArrayError::new(ArrayErrorKind::Form {
            op,
            expected: "a vector (`ravel` makes one)",
            array: ArraySummary::of(self),
        }))
    }

    /// The number of the bin each element falls in, as NumPy's `digitize`: with ascending `bins`, `bins[i - 1] <= x < bins[i]`
    /// gives `i`, and 0 and the number of bins stand for values outside. With `right`, the right edge belongs to the bin
    /// instead. Descending bins work likewise.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when `bins` is not a vector, [`ArrayErrorKind::Kernel`] with
    /// [`KernelError::Edges`] when it neither ascends nor descends.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let bins = NdArray::from([0.0f32, 1.0, 2.5]);
    /// let x = NdArray::from([0.2f32, 6.4, 1.0]);
    /// assert_eq!(x.digitize(&bins, false)?.to_vec::<i64>()?, [1, 3, 2]);
    /// assert_eq!(x.digitize(&bins, true)?.to_vec::<i64>()?, [1, 3, 1]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn digitize(&self, bins: &NdArray, right: bool) -> Result<NdArray> {
        let watch = Watch::start();
        bins.expect_line("digitize")?;
        let side = if right { Side::Left } else { Side::Right };
        let edges = bins.cast(DType::F64).named("digitize", Argument::Y)?;
        let edges = edges.to_vec::<f64>()?;
        let falls = |pair: &[f64]| pair[0] > pair[1] || pair[0].is_nan() || pair[1].is_nan();
        let Some(at) = edges.windows(2).position(falls) else {
            let places = bins
                .searchsorted(self, side)
                .blaming(self, Argument::X)
                .renamed("digitize");
            return watch.made("digitize", &[self, bins], places);
        };
        if edges.windows(2).all(|pair| pair[0] >= pair[1]) {
            let places = bins
                .flip(0)?
                .searchsorted(self, side)
                .blaming(self, Argument::X)
                .renamed("digitize")?;
            places.rsubi(bins.len() as i64)?;
            return watch.made("digitize", &[self, bins], Ok(places));
        }
        let made = Err(ArrayError::new(ArrayErrorKind::Kernel {
            source: KernelError::Edges {
                op: "digitize",
                index: at + 1,
                edge: edges[at + 1],
                previous: edges[at],
            },
        }));
        watch.made("digitize", &[self, bins], made)
    }

    /// [`digitize`](Self::digitize) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`digitize`](Self::digitize); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn digitize_into(&self, bins: &NdArray, right: bool, out: &NdArray) -> Result<()> {
        out.store("digitize_into", &[self, bins], || {
            self.digitize(bins, right)
        })
    }
}

/// The first position at which numbers that must ascend do not: what is there is NaN or lower than the number before it.
pub(crate) fn first_fall(numbers: &[f64]) -> Option<usize> {
    (0..numbers.len()).find(|&at| numbers[at].is_nan() || at > 0 && numbers[at] < numbers[at - 1])
}
