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
///
/// The dtype is erased: what reads through a source is compiled once per compute type, not once per dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a, C> {
    guard: &'a ReadGuard<'a>,
    native: Option<&'a [C]>,
    load: fn(&ReadGuard<'_>, isize, isize, &mut [C]),
}

impl<'a, C: Compute> Source<'a, C> {
    /// The elements behind a guard.
    pub(crate) fn new(guard: &'a ReadGuard<'a>, dtype: DType) -> Self {
        let native = (dtype == C::DTYPE).then(|| guard.slice::<C>());
        Self {
            guard,
            native,
            load: with_dtype!(dtype, T => load_elements::<C, T>),
        }
    }

    /// The elements themselves when the buffer holds `C`: runs of unit stride can be borrowed.
    pub(crate) fn native(&self) -> Option<&'a [C]> {
        self.native
    }

    /// Copies the run that starts at `offset` and advances by `stride` into `out`.
    pub(crate) fn load(&self, offset: isize, stride: isize, out: &mut [C]) {
        (self.load)(self.guard, offset, stride, out);
    }
}

fn load_elements<C: Compute, T: Numeric>(
    guard: &ReadGuard<'_>,
    offset: isize,
    stride: isize,
    out: &mut [C],
) {
    load_run(guard.slice::<T>(), offset, stride, out, C::load::<T>);
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

/// Copies a run of a destination, before it is changed.
pub(crate) fn load_written<C: Compute>(
    guard: &WriteGuard<'_>,
    dtype: DType,
    offset: isize,
    stride: isize,
    out: &mut [C],
) {
    with_dtype!(dtype, T => {
        load_run(guard.slice::<T>(), offset, stride, out, C::load::<T>);
    });
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
