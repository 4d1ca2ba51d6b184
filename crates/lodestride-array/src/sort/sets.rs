//! Arrays as sets of values: membership, what two have in common, what only one has.

use lodestride_buffer::{Argument, Bool, DType, Scalar, scope_out, with_integer};
use lodestride_kernels::sort_search::Side;
use lodestride_shape::Order;

use crate::NdArray;
use crate::checks::Watch;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// A mask of this shape that is true where an element is one of `values`; NaN is none of any.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// assert_eq!(a.is_in(&NdArray::from([4i32, 1]))?.to_vec::<bool>()?, [true, false, false, true]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "isin")]
    #[doc(alias = "in1d")]
    #[track_caller]
    pub fn is_in(&self, values: &NdArray) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_both("is_in", values)?;
        let made = self.among(values);
        watch.made("is_in", &[self, values], made)
    }

    /// [`is_in`](Self::is_in) into a bool array of this shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`is_in`](Self::is_in); [`ArrayErrorKind::OutputShape`] when `out` does not fit.
    #[track_caller]
    pub fn is_in_into(&self, values: &NdArray, out: &NdArray) -> Result<()> {
        out.store("is_in_into", &[self, values], || self.is_in(values))
    }

    /// A vector of the values that both arrays have, ascending, each once.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([3i32, 1, 3, 2]).intersection(&NdArray::from([2i32, 3, 7]))?;
    /// assert_eq!(a, NdArray::from([2i32, 3]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "intersect1d")]
    #[track_caller]
    pub fn intersection(&self, other: &NdArray) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_both("intersection", other)?;
        let own = self.unique()?.cast(self.dtype().promote(other.dtype()))?;
        let made = own.select_where(&own.among(other)?);
        watch.made("intersection", &[self, other], made)
    }

    /// A vector of the values that one of the arrays or both have, ascending, each once; NaN once, last.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([3i32, 1]).union(&NdArray::from([2i32, 3]))?;
    /// assert_eq!(a, NdArray::from([1i32, 2, 3]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "union1d")]
    #[track_caller]
    pub fn union(&self, other: &NdArray) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_both("union", other)?;
        let made = NdArray::to_flattened(Order::C, &[self, other])?.unique();
        watch.made("union", &[self, other], made)
    }

    /// A vector of the values that only this array has, ascending, each once, in its dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([3i32, 1, 3, 2]).set_difference(&NdArray::from([2i32, 7]))?;
    /// assert_eq!(a, NdArray::from([1i32, 3]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "setdiff1d")]
    #[track_caller]
    pub fn set_difference(&self, other: &NdArray) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_both("set_difference", other)?;
        let made = self.only(other);
        watch.made("set_difference", &[self, other], made)
    }

    /// A vector of the values that exactly one of the arrays has, ascending.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([3i32, 1]).symmetric_difference(&NdArray::from([2i32, 3]))?;
    /// assert_eq!(a, NdArray::from([1i32, 2]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "setxor1d")]
    #[track_caller]
    pub fn symmetric_difference(&self, other: &NdArray) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_both("symmetric_difference", other)?;
        let made = NdArray::concat(&[&self.only(other)?, &other.only(self)?], 0)?.sort(0);
        watch.made("symmetric_difference", &[self, other], made)
    }

    #[track_caller]
    fn expect_both(&self, op: &'static str, other: &NdArray) -> Result<()> {
        self.expect_readable(op, Argument::X)?;
        other.expect_readable(op, Argument::Y)
    }

    /// The distinct values that are not among those of another array.
    #[track_caller]
    fn only(&self, other: &NdArray) -> Result<NdArray> {
        let own = self.unique()?;
        own.select_where(&own.among(other)?.logical_not()?)
    }

    /// Where the elements are among those of another array.
    #[track_caller]
    fn among(&self, values: &NdArray) -> Result<NdArray> {
        if values.is_empty() {
            return NdArray::zeros_of(DType::Bool, self.shape().clone());
        }
        if let Some(table) = Table::of(values, self) {
            return table.look_up(self);
        }
        let dtype = self.dtype().promote(values.dtype());
        let (own, sorted) = (self.cast(dtype)?, values.cast(dtype)?.sort(..)?);
        let places = sorted.searchsorted(&own, Side::Left)?;
        let places = places.minimum((sorted.len() - 1) as i64)?;
        sorted.take(&places, 0)?.equal(&own)
    }
}

/// Integers in a range that is not much wider than they are many: a flag for each number of it, and a last one for all others.
struct Table {
    lowest: i64,
    flags: Vec<Bool>,
}

impl Table {
    /// A table of `values` to look up the elements of `own` in; `None` where one of them is not of integers, or sorting is
    /// quicker.
    fn of(values: &NdArray, own: &NdArray) -> Option<Self> {
        let dtypes = [values.dtype(), own.dtype()];
        if !dtypes.iter().all(|dtype| dtype.is_integer())
            || !dtypes[0].promote(dtypes[1]).is_integer()
        {
            return None;
        }
        let numbers = scope_out(|| values.cast(DType::I64))
            .ok()?
            .to_vec::<i64>()
            .ok()?;
        let (&lowest, &highest) = (numbers.iter().min()?, numbers.iter().max()?);
        if values.dtype() == DType::U64 && lowest < 0 {
            return None;
        }
        let span = usize::try_from(highest.checked_sub(lowest)?).ok()?;
        if span >= own.len().saturating_add(values.len()) {
            return None;
        }
        let mut flags = vec![Bool::from(false); span + 2];
        for number in numbers {
            flags[number.abs_diff(lowest) as usize] = Bool::from(true);
        }
        Some(Self { lowest, flags })
    }

    /// The flags of an array's elements.
    #[track_caller]
    fn look_up(&self, own: &NdArray) -> Result<NdArray> {
        let (lowest, flags) = (self.lowest, &self.flags[..]);
        let last = flags.len() - 1;
        // What wraps round is beyond every range that fits in a table.
        with_integer!(own.dtype(), T => own.map(move |number: T| {
            let place = Scalar::from(number).as_i64().wrapping_sub(lowest) as u64;
            flags[(place as usize).min(last)]
        }), else NdArray::zeros_of(DType::Bool, own.shape().clone()))
    }
}
