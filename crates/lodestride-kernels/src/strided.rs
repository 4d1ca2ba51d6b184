//! Strided runs of any dtype, copied to and from contiguous slices of a compute type.
//!
//! Reductions, scans, segments and products read their inputs through [`Source`] and write through [`store_run`]. A run
//! that already is contiguous and of the right type is borrowed, never copied. All of it is safe slice code; the
//! elementwise driver has its own tiles.

use lodestride_buffer::{DType, ReadGuard, WriteGuard, with_dtype};
use smallvec::SmallVec;

use crate::numeric::{Compute, Numeric};

/// One axis of a walk: how many steps, and how far one step is in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    pub(crate) size: usize,
    pub(crate) stride: isize,
}

/// Axes of a walk, outermost first.
pub(crate) type Dims = SmallVec<[Dim; 6]>;

/// The number of positions of a walk: 1 for no axes.
pub(crate) fn count(dims: &[Dim]) -> usize {
    dims.iter().map(|dim| dim.size).product()
}

/// The element offset of the `index`-th position of a walk, the last axis fastest.
pub(crate) fn offset_at(dims: &[Dim], mut index: usize) -> isize {
    let mut offset = 0;
    for dim in dims.iter().rev() {
        offset += (index % dim.size) as isize * dim.stride;
        index /= dim.size;
    }
    offset
}

/// Joins neighbouring axes that are one even step; axes of size 1 vanish. The order of positions stays.
pub(crate) fn collapse(dims: impl IntoIterator<Item = Dim>) -> Dims {
    let mut out = Dims::new();
    for dim in dims {
        if dim.size == 1 {
            continue;
        }
        match out.last_mut() {
            Some(last) if last.stride == dim.stride * dim.size as isize => {
                last.size *= dim.size;
                last.stride = dim.stride;
            }
            _ => out.push(dim),
        }
    }
    out
}

/// The axes of a layout as walk axes, outermost first.
pub(crate) fn dims_of(shape: &[usize], strides: &[isize]) -> Dims {
    shape
        .iter()
        .zip(strides)
        .map(|(&size, &stride)| Dim { size, stride })
        .collect()
}

/// Elements of one buffer, seen as values of the compute type `C`.
pub(crate) trait Source<C>: Sync {
    /// The elements themselves when the buffer holds `C`: runs of unit stride can be borrowed.
    fn native(&self) -> Option<&[C]>;
    /// Copies the run that starts at `offset` and advances by `stride` into `out`.
    fn load(&self, offset: isize, stride: isize, out: &mut [C]);
}

/// A slice of elements of type `T`, converted on load.
#[derive(Debug)]
pub(crate) struct Converted<'a, T>(pub(crate) &'a [T]);

/// A slice of elements that are the compute type already.
#[derive(Debug)]
pub(crate) struct Native<'a, C>(pub(crate) &'a [C]);

impl<C: Compute, T: Numeric> Source<C> for Converted<'_, T> {
    fn native(&self) -> Option<&[C]> {
        None
    }

    fn load(&self, offset: isize, stride: isize, out: &mut [C]) {
        load_run(self.0, offset, stride, out, C::load::<T>);
    }
}

impl<C: Compute> Source<C> for Native<'_, C> {
    fn native(&self) -> Option<&[C]> {
        Some(self.0)
    }

    fn load(&self, offset: isize, stride: isize, out: &mut [C]) {
        load_run(self.0, offset, stride, out, |value| value);
    }
}

/// Copies a strided run of `data` through `convert` into `out`.
#[inline]
pub(crate) fn load_run<T: Copy, C>(
    data: &[T],
    offset: isize,
    stride: isize,
    out: &mut [C],
    convert: impl Fn(T) -> C,
) {
    if out.is_empty() {
        return;
    }
    let start = offset as usize;
    match stride {
        1 => {
            let run = &data[start..start + out.len()];
            for (to, &from) in out.iter_mut().zip(run) {
                *to = convert(from);
            }
        }
        0 => {
            let value = data[start];
            out.iter_mut().for_each(|to| *to = convert(value));
        }
        2.. => {
            for (to, &from) in out
                .iter_mut()
                .zip(data[start..].iter().step_by(stride as usize))
            {
                *to = convert(from);
            }
        }
        _ => {
            let step = stride.unsigned_abs();
            for (to, &from) in out
                .iter_mut()
                .zip(data[..=start].iter().rev().step_by(step))
            {
                *to = convert(from);
            }
        }
    }
}

/// Writes `values` through `convert` to the strided run of `data` that starts at `offset`.
#[inline]
pub(crate) fn store_run<C: Copy, T>(
    data: &mut [T],
    offset: isize,
    stride: isize,
    values: &[C],
    convert: impl Fn(C) -> T,
) {
    if values.is_empty() {
        return;
    }
    let start = offset as usize;
    if stride == 1 {
        for (to, &from) in data[start..start + values.len()].iter_mut().zip(values) {
            *to = convert(from);
        }
    } else if stride > 1 {
        for (to, &from) in data[start..]
            .iter_mut()
            .step_by(stride as usize)
            .zip(values)
        {
            *to = convert(from);
        }
    } else {
        for (index, &from) in values.iter().enumerate() {
            data[(offset + index as isize * stride) as usize] = convert(from);
        }
    }
}

/// Runs `job` with the elements behind a read guard as a source of `C`.
pub(crate) fn with_source<C: Compute, R>(
    guard: &ReadGuard<'_>,
    dtype: DType,
    job: impl FnOnce(&dyn Source<C>) -> R,
) -> R {
    if dtype == C::DTYPE {
        job(&Native(guard.slice::<C>()))
    } else {
        with_dtype!(dtype, T => job(&Converted(guard.slice::<T>())))
    }
}

/// Writes compute values to a strided run behind a write guard, cast to its dtype.
pub(crate) fn store<C: Compute>(
    guard: &mut WriteGuard<'_>,
    dtype: DType,
    offset: isize,
    stride: isize,
    values: &[C],
) {
    with_dtype!(dtype, T => {
        store_run(guard.slice_mut::<T>(), offset, stride, values, C::store::<T>);
    });
}
