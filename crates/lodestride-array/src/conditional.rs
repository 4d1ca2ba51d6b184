//! Writing where a mask or a condition holds: what `masks` does with values, here with functions, other arrays, copies.

use lodestride_buffer::{Argument, Bool, Element};
use lodestride_kernels as kernels;

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::watched;
use crate::condition::Condition;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

/// Which elements are meant: those where a bool array is true, or those of the array itself for which a condition holds.
#[derive(Clone, Debug)]
pub enum Where<'a> {
    /// True in their place; the mask broadcasts to the array.
    Mask(&'a NdArray),
    /// The condition holds for them.
    Condition(Condition),
}

impl<'a> From<&'a NdArray> for Where<'a> {
    fn from(mask: &'a NdArray) -> Self {
        Self::Mask(mask)
    }
}

impl From<Condition> for Where<'_> {
    fn from(condition: Condition) -> Self {
        Self::Condition(condition)
    }
}

impl From<&Condition> for Where<'_> {
    fn from(condition: &Condition) -> Self {
        Self::Condition(condition.clone())
    }
}

impl NdArray {
    /// Replaces the elements that are meant by a function of themselves, in place.
    ///
    /// The function's type is the array's element type. It may be called in any order and on several threads.
    ///
    /// # Errors
    /// [`ArrayErrorKind::DTypeMismatch`] when the function is of another type, [`ArrayErrorKind::Mask`] when a mask is not a
    /// bool array that broadcasts to this shape, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    ///
    /// ```
    /// use lodestride_array::{Condition, NdArray};
    ///
    /// let a = NdArray::from([-4.0f32, 9.0, 16.0]);
    /// a.apply_where(Condition::greater(0), |x: f32| x.sqrt())?;
    /// assert_eq!(a.to_vec::<f32>()?, [-4.0, 3.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "applyWhere")]
    #[track_caller]
    pub fn apply_where<'a, T: Element>(
        &self,
        which: impl Into<Where<'a>>,
        f: impl Fn(T) -> T + Sync,
    ) -> Result<&Self> {
        self.apply_where_else(which, f, |x| x)
    }

    /// Replaces the elements that are meant by one function of themselves and all others by another, in place.
    ///
    /// # Errors
    /// As [`apply_where`](Self::apply_where).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1i32, 2, 3]);
    /// a.apply_where_else(&a.equal(2)?, |x: i32| 10 * x, |x| -x)?;
    /// assert_eq!(a.to_vec::<i32>()?, [-1, 20, -3]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn apply_where_else<'a, T: Element>(
        &self,
        which: impl Into<Where<'a>>,
        f: impl Fn(T) -> T + Sync,
        otherwise: impl Fn(T) -> T + Sync,
    ) -> Result<&Self> {
        self.expect_readable("apply_where", Argument::Z)?;
        self.expect_dtype::<T>("apply_where")?;
        self.expect_writable("apply_where")?;
        let mask = self.mask_of("apply_where", Argument::X, &which.into())?;
        let choose = |x: T, meant: Bool| if meant.get() { f(x) } else { otherwise(x) };
        NdArray::zip_map_into([self, &mask], self, choose)?;
        Ok(self)
    }

    /// Takes over the elements of another array for which a condition holds: the test is made on the *other* array, while
    /// [`replace_where`](Self::replace_where) tests this one.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when the other array does not broadcast into this shape,
    /// [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    ///
    /// ```
    /// use lodestride_array::{Condition, NdArray};
    ///
    /// let (x, y) = (NdArray::from([1i32, 2, 0, 4]), NdArray::from([2i32, 4, 3, 0]));
    /// x.assign_if(&y, &Condition::not_equal(0))?;
    /// assert_eq!(x.to_vec::<i32>()?, [2, 4, 3, 4]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "assignIf")]
    #[doc(alias = "CompareAndSet")]
    #[track_caller]
    pub fn assign_if(&self, from: &NdArray, condition: &Condition) -> Result<&Self> {
        self.expect_readable("assign_if", Argument::Z)?;
        from.expect_readable("assign_if", Argument::X)?;
        self.expect_writable("assign_if")?;
        // Before the test, whose mask has the other array's shape and would be blamed instead.
        from.broadcast_into("assign_if", self)?;
        self.replace_where(&from.matches(condition)?, from)
    }

    /// A copy in which the elements that are meant are replaced by a number or by the matching elements of an array:
    /// [`replace_where`](Self::replace_where) of a copy.
    ///
    /// # Errors
    /// As [`replace_where`](Self::replace_where).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([0i32, 1, 2, 3]);
    /// let mask = NdArray::from([false, false, true, true]);
    /// assert_eq!(a.put_where(&mask, 5)?.to_vec::<i32>()?, [0, 1, 5, 5]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "putWhere")]
    #[doc(alias = "putWhereWithMask")]
    #[track_caller]
    pub fn put_where<'a, 'b>(
        &self,
        which: impl Into<Where<'a>>,
        values: impl Into<Arg<'b>>,
    ) -> Result<NdArray> {
        let (op, which, values) = ("put_where", which.into(), values.into());
        self.expect_readable(op, Argument::X)?;
        if let Where::Mask(mask) = which {
            mask.expect_readable(op, Argument::Y)?;
        }
        if let Arg::Array(values) = values {
            values.expect_readable(op, Argument::Input(2))?;
        }
        // Errors are those of the method this is one of.
        let mask = self.mask_of("replace_where", Argument::X, &which)?;
        let values = values.broadcast_into("replace_where", self)?;
        let out = self.recycled_like(op, self.dtype())?;
        let (x, own) = (mask.operand().into(), self.operand().into());
        let run = || kernels::select(x, values.input(), own, out.operand());
        watched(op, &[self, &mask], &out, run)?;
        Ok(out)
    }

    /// The mask of the elements that are meant, in this array's shape; the letter is the mask's, for errors.
    #[track_caller]
    pub(crate) fn mask_of(
        &self,
        op: &'static str,
        argument: Argument,
        which: &Where<'_>,
    ) -> Result<NdArray> {
        match which {
            Where::Mask(mask) => {
                mask.expect_readable(op, argument)?;
                self.stretched_mask(op, mask)
            }
            Where::Condition(condition) => self.matches(condition),
        }
    }
}
