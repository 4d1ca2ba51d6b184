//! Typed access for your own loops: [`ArrayView`] and [`ArrayViewMut`] hold one guard, everything inside is free.
//!
//! The guard is taken once, so elements cost a plain slice access. Windows are borrowed parts of a view that can be
//! split and handed to threads.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use lodestride_buffer::{Element, ReadSlice, WriteGuard};
use lodestride_shape::{Layout, Order, Shape, normalize_axis};

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};
use crate::walk::{Elements, Runs};

impl NdArray {
    /// Opens the array for typed reading until the view is dropped.
    ///
    /// # Errors
    /// [`ArrayErrorKind::DTypeMismatch`] when `T` is not the array's element type, [`ArrayErrorKind::Access`] when the
    /// memory is stale or being written.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]).transpose();
    /// let view = a.view::<f32>()?;
    /// assert_eq!(view[[0, 1]], 3.0);
    /// assert_eq!(view.iter().copied().collect::<Vec<_>>(), [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn view<T: Element>(&self) -> Result<ArrayView<'_, T>> {
        self.expect_dtype::<T>("view")?;
        let guard = self.buffer().read().in_op("view", self)?;
        Ok(ArrayView {
            elements: guard.into_slice(),
            layout: self.layout(),
        })
    }

    /// Opens the array for typed writing until the view is dropped; meanwhile every other access is an error.
    ///
    /// # Errors
    /// [`ArrayErrorKind::DTypeMismatch`] when `T` is not the array's element type,
    /// [`ArrayErrorKind::OverlappingTarget`] for a broadcast view, [`ArrayErrorKind::Access`] when the memory is stale
    /// or in use.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 2])?;
    /// let mut view = a.view_mut::<f32>()?;
    /// view[[1, 0]] = 5.0;
    /// drop(view);
    /// assert_eq!(a.to_vec::<f32>()?, [0.0, 0.0, 5.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn view_mut<T: Element>(&self) -> Result<ArrayViewMut<'_, T>> {
        self.expect_dtype::<T>("view_mut")?;
        self.expect_writable("view_mut")?;
        let guard = self.buffer().write().in_op("view_mut", self)?;
        Ok(ArrayViewMut {
            guard,
            layout: self.layout(),
            element: PhantomData,
        })
    }

    #[inline]
    #[track_caller]
    pub(crate) fn expect_dtype<T: Element>(&self, op: &'static str) -> Result<()> {
        if T::DTYPE == self.dtype() {
            return Ok(());
        }
        let (requested, array) = (T::DTYPE, ArraySummary::of(self));
        Err(ArrayError::new(ArrayErrorKind::DTypeMismatch {
            op,
            requested,
            array,
        }))
    }

    #[inline]
    #[track_caller]
    pub(crate) fn expect_writable(&self, op: &'static str) -> Result<()> {
        if !self.layout().is_self_overlapping() {
            return Ok(());
        }
        Err(ArrayError::new(ArrayErrorKind::OverlappingTarget {
            op,
            target: ArraySummary::of(self),
        }))
    }
}

/// The place of an element in the buffer.
///
/// # Panics
/// When an index is out of range, like a slice.
#[inline]
#[track_caller]
fn place<const N: usize>(layout: &Layout, index: [usize; N]) -> usize {
    match layout.place_of(index) {
        Some(place) => place,
        None => no_place(layout.shape(), &index),
    }
}

#[cold]
#[track_caller]
fn no_place(shape: &[usize], index: &[usize]) -> ! {
    let (rank, given) = (shape.len(), index.len());
    assert_eq!(
        rank, given,
        "an array of rank {rank} is indexed with {given} numbers"
    );
    for (axis, (i, size)) in index.iter().zip(shape).enumerate() {
        assert!(
            i < size,
            "index {i} is out of range for axis {axis} with size {size}"
        );
    }
    unreachable!("called for a position outside the array")
}

/// The part of a slice that is the whole layout in C order.
fn stretch(layout: &Layout) -> Option<std::ops::Range<usize>> {
    layout
        .is_contiguous(Order::C)
        .then(|| layout.offset()..layout.offset() + layout.elements())
}

/// The two layouts of a split, after checking axis and position.
#[track_caller]
fn halves(layout: &Layout, axis: isize, middle: usize) -> Result<(usize, Layout, Layout)> {
    let axis = normalize_axis(axis, layout.rank()).or_fail("split_at")?;
    let size = layout.shape()[axis];
    if middle > size {
        let shape = layout.shape().clone();
        return Err(ArrayError::new(ArrayErrorKind::SplitRange {
            axis,
            middle,
            shape,
        }));
    }
    let first = layout
        .narrow(axis as isize, 0..middle)
        .or_fail("split_at")?;
    let second = layout
        .narrow(axis as isize, middle..size)
        .or_fail("split_at")?;
    Ok((axis, first, second))
}

/// A typed read view that holds the array's read guard.
pub struct ArrayView<'a, T> {
    pub(crate) elements: ReadSlice<'a, T>,
    pub(crate) layout: &'a Layout,
}

impl<T: Element> ArrayView<'_, T> {
    /// Size of every axis.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.layout.elements()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in C order.
    pub fn iter(&self) -> Elements<'_, T> {
        Elements::new(&self.elements, self.layout)
    }

    /// The elements as a slice, when they lie in C order without gaps.
    pub fn as_slice(&self) -> Option<&[T]> {
        stretch(self.layout).map(|range| &self.elements[range])
    }

    /// The whole view as a window, which can be split and shared between threads.
    pub fn window(&self) -> Window<'_, T> {
        Window {
            data: &self.elements,
            layout: self.layout.clone(),
        }
    }

    /// The positions before and from `middle` along an axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::SplitRange`] for a position beyond its size.
    #[track_caller]
    pub fn split_at(&self, axis: isize, middle: usize) -> Result<(Window<'_, T>, Window<'_, T>)> {
        self.window().split_at(axis, middle)
    }
}

impl<T: Element, const N: usize> Index<[usize; N]> for ArrayView<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        &self.elements[place(self.layout, index)]
    }
}

impl<T: Element> std::fmt::Debug for ArrayView<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrayView")
            .field("dtype", &T::DTYPE)
            .field("layout", self.layout)
            .finish()
    }
}

/// A typed write view that holds the array's write guard.
pub struct ArrayViewMut<'a, T> {
    pub(crate) guard: WriteGuard<'a>,
    pub(crate) layout: &'a Layout,
    element: PhantomData<T>,
}

impl<T: Element> ArrayViewMut<'_, T> {
    /// Size of every axis.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.layout.elements()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in C order, for reading.
    pub fn iter(&self) -> Elements<'_, T> {
        Elements::new(self.guard.slice::<T>(), self.layout)
    }

    /// The elements as a mutable slice, when they lie in C order without gaps.
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        stretch(self.layout).map(|range| &mut self.guard.slice_mut::<T>()[range])
    }

    /// Calls a closure with every element in C order.
    pub fn for_each(&mut self, change: impl FnMut(&mut T)) {
        for_each(self.guard.slice_mut::<T>(), self.layout, change);
    }

    /// The whole view as a mutable window, which can be split and handed to threads.
    pub fn window_mut(&mut self) -> WindowMut<'_, T> {
        WindowMut {
            data: self.guard.slice_mut::<T>(),
            layout: self.layout.clone(),
        }
    }

    /// The positions before and from `middle` along an axis, both mutable.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Interleaved`] when the halves are not apart in memory (as the left and right columns of a C
    /// matrix), [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::SplitRange`] for a position beyond its size.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([4, 2])?;
    /// let mut view = a.view_mut::<f32>()?;
    /// let (mut top, mut bottom) = view.split_at(0, 1)?;
    /// std::thread::scope(|threads| {
    ///     threads.spawn(move || top.for_each(|x| *x = 1.0));
    ///     threads.spawn(move || bottom.for_each(|x| *x = 2.0));
    /// });
    /// drop(view);
    /// assert_eq!(a.sum_number()?, 14.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn split_at(
        &mut self,
        axis: isize,
        middle: usize,
    ) -> Result<(WindowMut<'_, T>, WindowMut<'_, T>)> {
        self.window_mut().split_at(axis, middle)
    }
}

fn for_each<T>(data: &mut [T], layout: &Layout, mut change: impl FnMut(&mut T)) {
    let runs = Runs::new(layout);
    let (len, stride) = (runs.len(), runs.stride());
    for start in runs {
        if stride == 1 {
            data[start..start + len].iter_mut().for_each(&mut change);
        } else {
            (0..len as isize)
                .for_each(|i| change(&mut data[start.wrapping_add_signed(i * stride)]));
        }
    }
}

impl<T: Element, const N: usize> Index<[usize; N]> for ArrayViewMut<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        &self.guard.slice::<T>()[place(self.layout, index)]
    }
}

impl<T: Element, const N: usize> IndexMut<[usize; N]> for ArrayViewMut<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        &mut self.guard.slice_mut::<T>()[place(self.layout, index)]
    }
}

impl<T: Element> std::fmt::Debug for ArrayViewMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrayViewMut")
            .field("dtype", &T::DTYPE)
            .field("layout", self.layout)
            .finish()
    }
}

/// A borrowed part of an [`ArrayView`]; may be split further and sent to threads.
#[derive(Clone, Debug)]
pub struct Window<'w, T> {
    data: &'w [T],
    layout: Layout,
}

impl<'w, T> Window<'w, T> {
    /// Size of every axis.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// The elements in C order.
    pub fn iter(&self) -> Elements<'w, T> {
        Elements::new(self.data, &self.layout)
    }

    /// The elements as a slice, when they lie in C order without gaps.
    pub fn as_slice(&self) -> Option<&'w [T]> {
        stretch(&self.layout).map(|range| &self.data[range])
    }

    /// The positions before and from `middle` along an axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::SplitRange`] for a position beyond its size.
    #[track_caller]
    pub fn split_at(self, axis: isize, middle: usize) -> Result<(Self, Self)> {
        let (_, first, second) = halves(&self.layout, axis, middle)?;
        Ok((
            Self {
                data: self.data,
                layout: first,
            },
            Self {
                data: self.data,
                layout: second,
            },
        ))
    }
}

impl<T, const N: usize> Index<[usize; N]> for Window<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        &self.data[place(&self.layout, index)]
    }
}

/// A borrowed mutable part of an [`ArrayViewMut`]; may be split further and sent to threads.
#[derive(Debug)]
pub struct WindowMut<'w, T> {
    data: &'w mut [T],
    layout: Layout,
}

impl<T> WindowMut<'_, T> {
    /// Size of every axis.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// The elements in C order, for reading.
    pub fn iter(&self) -> Elements<'_, T> {
        Elements::new(self.data, &self.layout)
    }

    /// The elements as a mutable slice, when they lie in C order without gaps.
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        stretch(&self.layout).map(|range| &mut self.data[range])
    }

    /// Calls a closure with every element in C order.
    pub fn for_each(&mut self, change: impl FnMut(&mut T)) {
        for_each(self.data, &self.layout, change);
    }

    /// The positions before and from `middle` along an axis, both mutable.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Interleaved`] when the halves are not apart in memory, [`ArrayErrorKind::Shape`] for a wrong
    /// axis, [`ArrayErrorKind::SplitRange`] for a position beyond its size.
    #[track_caller]
    pub fn split_at(self, axis: isize, middle: usize) -> Result<(Self, Self)> {
        let (axis, first, second) = halves(&self.layout, axis, middle)?;
        let apart = match (first.bounds(), second.bounds()) {
            (Some((_, last)), Some((start, _))) if last < start => Some((start, false)),
            (Some((start, _)), Some((_, last))) if last < start => Some((start, true)),
            (Some(_), Some(_)) => None,
            // One half is empty and needs no memory of its own.
            (Some(_), None) => Some((self.data.len(), false)),
            (None, _) => Some((self.data.len(), true)),
        };
        let Some((boundary, swapped)) = apart else {
            let shape = self.layout.shape().clone();
            return Err(ArrayError::new(ArrayErrorKind::Interleaved { axis, shape }));
        };
        let (low, high) = self.data.split_at_mut(boundary);
        let moved = |layout: Layout| {
            // An empty half keeps its place: nothing is ever read there.
            if layout.is_empty() {
                Ok(layout)
            } else {
                layout.shifted(-(boundary as isize)).or_fail("split_at")
            }
        };
        if swapped {
            Ok((
                Self {
                    data: high,
                    layout: moved(first)?,
                },
                Self {
                    data: low,
                    layout: second,
                },
            ))
        } else {
            Ok((
                Self {
                    data: low,
                    layout: first,
                },
                Self {
                    data: high,
                    layout: moved(second)?,
                },
            ))
        }
    }
}

impl<T, const N: usize> Index<[usize; N]> for WindowMut<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        &self.data[place(&self.layout, index)]
    }
}

impl<T, const N: usize> IndexMut<[usize; N]> for WindowMut<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        &mut self.data[place(&self.layout, index)]
    }
}
