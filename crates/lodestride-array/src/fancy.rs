//! Fancy indexing: lists in which arrays of positions and masks stand beside points and intervals.
//!
//! Such parts are copies; lists without index arrays, which give views, are in `get_put`. How positions become places in
//! memory is in `picked`, what becomes of them when they are written in `scatter`, outer products of lists in `outer`.

mod outer;
pub(crate) mod picked;
pub(crate) mod plan;

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use lodestride_buffer::Argument;
use lodestride_kernels as kernels;
use lodestride_shape::Index;
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::Arg;
use crate::error::{OrFail, Result};
use crate::fancy::picked::Picked;
use crate::scatter::Scatter;
use crate::target::Target;

/// One entry of a fancy index list: what an [`Index`] can be, a list or an integer array of positions, or a mask.
///
/// Lists of them are written with [`fancy!`](crate::fancy); everything that can stand there converts to this type.
///
/// * Positions may be in any order and repeat; negative ones count from the end. A list stands for one axis.
/// * A mask, a bool array, stands for as many axes as it has, and must have their sizes. It picks the positions where it is
///   true, in C order.
/// * Several index arrays broadcast together and pick element by element: `fancy![[0, 1], [0, 2]]` names the elements
///   `[0, 0]` and `[1, 2]`. For rows 0 and 1 *by* columns 0 and 2 use [`NdArray::get_outer`].
/// * The axes of their common shape come where the index arrays are, if these stand side by side, else first. A point in a
///   list with index arrays counts as one of them. These are NumPy's rules.
#[derive(Clone, Debug)]
#[doc(alias = "SpecifiedIndex")]
pub struct FancyIndex {
    pub(crate) entry: Entry,
}

/// What a [`FancyIndex`] is.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Basic(Index),
    List(SmallVec<[i64; 8]>),
    Truth(bool),
    Flags(SmallVec<[bool; 8]>),
    Array(NdArray),
}

/// Writes a list of [`FancyIndex`] as [`s!`](crate::s) writes one of [`Index`], with lists, integer arrays and masks in any
/// place.
///
/// ```
/// use lodestride_array::{NdArray, fancy};
///
/// let a = NdArray::arange(0, 24, 1)?.reshape([2, 3, 4])?;
/// let part = a.get_fancy(&fancy![.., [2, 0], 1..3])?;
/// assert_eq!(part.shape()[..], [2, 2, 2]);
/// let mask = a.less(3)?;
/// assert_eq!(a.get_fancy(&fancy![&mask])?.to_vec::<f32>()?, [0.0, 1.0, 2.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[macro_export]
macro_rules! fancy {
    ($($list:tt)*) => { $crate::s!(@list $crate::FancyIndex, [] $($list)*) };
}

impl NdArray {
    /// A copy of the elements that a fancy index list picks; without index arrays, of the part that [`get`](Self::get) views.
    ///
    /// # Errors
    /// [`ArrayErrorKind::PositionRange`](crate::ArrayErrorKind::PositionRange) for a position out of range,
    /// [`ArrayErrorKind::IndexDType`](crate::ArrayErrorKind::IndexDType) for indices that are not integers,
    /// [`ArrayErrorKind::MaskSize`](crate::ArrayErrorKind::MaskSize) for a mask that does not fit its axes,
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) when index arrays do not broadcast together and for wrong
    /// points and too many indices.
    ///
    /// ```
    /// use lodestride_array::{NdArray, fancy};
    ///
    /// let a = NdArray::arange(0, 12, 1)?.reshape([3, 4])?;
    /// assert_eq!(a.get_fancy(&fancy![[0, 2], [1, -1]])?.to_vec::<f32>()?, [1.0, 11.0]);
    /// assert_eq!(a.get_fancy(&fancy![.., [3, 3, 0]])?.shape()[..], [3, 3]);
    /// let rows = NdArray::from([[0i64, 1], [1, 2]]);
    /// assert_eq!(a.get_fancy(&fancy![&rows])?.shape()[..], [2, 2, 4]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "advanced indexing")]
    #[doc(alias = "SpecifiedIndex")]
    #[track_caller]
    pub fn get_fancy(&self, indices: &[FancyIndex]) -> Result<NdArray> {
        let picked = Picked::of("get_fancy", self, indices)?;
        self.gathered("get_fancy", &picked, Target::New)
    }

    /// [`get_fancy`](Self::get_fancy) into an array of the result's shape, whose dtype the elements are converted to.
    ///
    /// # Errors
    /// As [`get_fancy`](Self::get_fancy); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn get_fancy_into(&self, indices: &[FancyIndex], out: &NdArray) -> Result<()> {
        let op = "get_fancy_into";
        out.expect_readable(op, Argument::Z)?;
        let picked = Picked::of(op, self, indices)?;
        self.gathered(op, &picked, Target::Into(out)).map(drop)
    }

    /// Writes the elements that a fancy index list picks: a number, or an array that broadcasts to the shape
    /// [`get_fancy`](Self::get_fancy) returns. Values are converted to this array's dtype; where a position repeats, the
    /// last value stays.
    ///
    /// # Errors
    /// As [`get_fancy`](Self::get_fancy); [`ArrayErrorKind::InPlaceShape`](crate::ArrayErrorKind::InPlaceShape) when the
    /// values do not broadcast, [`ArrayErrorKind::OverlappingTarget`](crate::ArrayErrorKind::OverlappingTarget) for a
    /// broadcast view. Nothing is written then.
    ///
    /// ```
    /// use lodestride_array::{NdArray, fancy};
    ///
    /// let a = NdArray::zeros([3, 3])?;
    /// a.put_fancy(&fancy![[0, 1, 2], [2, 1, 0]], &NdArray::from([1.0f32, 2.0, 3.0]))?;
    /// a.put_fancy(&fancy![[0, 2], 0], 9)?;
    /// assert_eq!(a.to_vec::<f32>()?, [9.0, 0.0, 1.0, 0.0, 2.0, 0.0, 9.0, 0.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn put_fancy<'a>(
        &self,
        indices: &[FancyIndex],
        values: impl Into<Arg<'a>>,
    ) -> Result<&Self> {
        self.expect_target("put_fancy", indices)?;
        let picked = Picked::of("put_fancy", self, indices)?;
        self.scatter_picked(Scatter::Update, "put_fancy", &picked, values.into())?;
        Ok(self)
    }

    /// Combines the elements that a fancy index list picks with values, in place; a position that repeats is combined as
    /// often, in order. NumPy's `ufunc.at`.
    ///
    /// # Errors
    /// As [`put_fancy`](Self::put_fancy); [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when the result is of a
    /// higher kind, [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for the difference and
    /// quotient of truth values.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Scatter, fancy};
    ///
    /// let a = NdArray::ones([3])?;
    /// a.scatter_fancyi(Scatter::Mul, &fancy![[0, 2, 2]], 3)?;
    /// assert_eq!(a.to_vec::<f32>()?, [3.0, 1.0, 9.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "ufunc.at")]
    #[track_caller]
    pub fn scatter_fancyi<'a>(
        &self,
        how: Scatter,
        indices: &[FancyIndex],
        values: impl Into<Arg<'a>>,
    ) -> Result<&Self> {
        self.expect_target("scatter_fancyi", indices)?;
        let picked = Picked::of("scatter_fancyi", self, indices)?;
        self.scatter_picked(how, "scatter_fancyi", &picked, values.into())?;
        Ok(self)
    }

    /// Refuses stale memory under the letters of a write: Z for the array that is changed, X for its indices.
    #[track_caller]
    pub(crate) fn expect_target(&self, op: &'static str, indices: &[FancyIndex]) -> Result<()> {
        self.expect_readable(op, Argument::Z)?;
        for index in indices {
            if let Entry::Array(array) = &index.entry {
                array.expect_readable(op, Argument::X)?;
            }
        }
        Ok(())
    }

    /// The picked elements.
    #[track_caller]
    pub(crate) fn gathered(
        &self,
        op: &'static str,
        picked: &Picked,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let whole = self.operand_as(picked.plan.layout());
        // The joint axis may overlap itself, and a converted copy of it could be far larger than the array: `fill` leaves
        // nothing to convert.
        target.fill(op, self.dtype(), picked.shape(), &[self], |out| {
            let (at, positions) = (picked.plan.at(), picked.joint().operand());
            kernels::gather::take(whole, at, positions, out.operand()).or_fail(op)
        })
    }
}

impl FancyIndex {
    /// Whether this is a list, an integer array or a mask.
    fn is_array(&self) -> bool {
        !matches!(self.entry, Entry::Basic(_))
    }
}

impl From<Index> for FancyIndex {
    fn from(index: Index) -> Self {
        Entry::Basic(index).into()
    }
}

impl From<Entry> for FancyIndex {
    fn from(entry: Entry) -> Self {
        Self { entry }
    }
}

impl From<RangeFull> for FancyIndex {
    fn from(_: RangeFull) -> Self {
        Entry::Basic(Index::All).into()
    }
}

impl From<NdArray> for FancyIndex {
    fn from(array: NdArray) -> Self {
        Entry::Array(array).into()
    }
}

impl From<&NdArray> for FancyIndex {
    fn from(array: &NdArray) -> Self {
        Entry::Array(array.clone()).into()
    }
}

impl From<bool> for FancyIndex {
    fn from(truth: bool) -> Self {
        Entry::Truth(truth).into()
    }
}

/// `From` for the lists of a type.
macro_rules! lists {
    ($($number:ty, $Entry:ident, $convert:expr;)*) => {$(
        impl From<&[$number]> for FancyIndex {
            fn from(list: &[$number]) -> Self {
                Entry::$Entry(list.iter().copied().map($convert).collect()).into()
            }
        }
        impl<const N: usize> From<[$number; N]> for FancyIndex {
            fn from(list: [$number; N]) -> Self {
                list[..].into()
            }
        }
        impl<const N: usize> From<&[$number; N]> for FancyIndex {
            fn from(list: &[$number; N]) -> Self {
                list[..].into()
            }
        }
        impl From<Vec<$number>> for FancyIndex {
            fn from(list: Vec<$number>) -> Self {
                list[..].into()
            }
        }
        impl From<&Vec<$number>> for FancyIndex {
            fn from(list: &Vec<$number>) -> Self {
                list[..].into()
            }
        }
    )*};
}

lists! {
    i32, List, i64::from;
    i64, List, |i| i;
    isize, List, |i| i as i64;
    usize, List, |i| i64::try_from(i).unwrap_or(i64::MAX);
    bool, Flags, |flag| flag;
}

/// `From` for points and ranges of an integer type.
macro_rules! basic {
    ($($number:ty),*) => {$(
        basic!(@ $number, Range<$number>, RangeFrom<$number>, RangeTo<$number>, RangeInclusive<$number>,
            RangeToInclusive<$number>);
    )*};
    (@ $($index:ty),*) => {$(
        impl From<$index> for FancyIndex {
            fn from(index: $index) -> Self {
                Entry::Basic(index.into()).into()
            }
        }
    )*};
}

basic!(i32, i64, isize, usize);
