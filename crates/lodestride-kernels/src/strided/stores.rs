//! Compute values written to strided runs of any dtype.

use super::{VIA, convert};
use crate::isa::{Arch, Task};
use crate::numeric::{Compute, ComputeKind, Numeric};
use lodestride_buffer::{DType, Element, WriteGuard, with_dtype};

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
    } else {
        for (index, &from) in values.iter().enumerate() {
            data[(offset + index as isize * stride) as usize] = convert(from);
        }
    }
}

/// Writes compute values to a strided run behind a write guard, cast to its dtype.
///
/// Floats go straight to narrower floats, so they are rounded once; other pairs go through the dtype's exact type.
pub(crate) fn store<C: Compute>(
    guard: &mut WriteGuard<'_>,
    dtype: DType,
    offset: isize,
    stride: isize,
    values: &[C],
) {
    let run = (offset, stride);
    match ComputeKind::exact(dtype) {
        kind if kind == C::KIND => store_exact(guard, dtype, run, values),
        ComputeKind::F32 if C::KIND == ComputeKind::F64 => store_exact(guard, dtype, run, values),
        ComputeKind::F32 => store_via(guard, dtype, run, values, C::to_f32),
        ComputeKind::F64 => store_via(guard, dtype, run, values, C::to_f64),
        ComputeKind::I64 => store_via(guard, dtype, run, values, C::to_i64),
        // Not through an integer, which would cut one half to zero.
        ComputeKind::U64 if dtype == DType::Bool => {
            store_via(guard, dtype, run, values, |v| u64::from(v != C::ZERO));
        }
        ComputeKind::U64 => store_via(guard, dtype, run, values, C::to_u64),
    }
}

/// Writes integers to a strided run behind a write guard: as they are where they are of its dtype, else as [`store`] does.
pub(crate) fn store_whole<T: Numeric>(
    (guard, dtype): (&mut WriteGuard<'_>, DType),
    run: (isize, isize),
    values: &[T],
) {
    if dtype == T::DTYPE {
        store_run(guard.slice_mut::<T>(), run.0, run.1, values, |value| value);
    } else if const { ComputeKind::exact(T::DTYPE) as u8 == ComputeKind::I64 as u8 } {
        store_via(guard, dtype, run, values, T::to_i64);
    } else {
        store_via(guard, dtype, run, values, T::to_u64);
    }
}

fn store_via<C: Copy, K: Compute>(
    guard: &mut WriteGuard<'_>,
    dtype: DType,
    (offset, stride): (isize, isize),
    values: &[C],
    convert: impl Fn(C) -> K,
) {
    let mut tile = [K::ZERO; VIA];
    for (index, values) in values.chunks(VIA).enumerate() {
        let tile = &mut tile[..values.len()];
        for (to, &from) in tile.iter_mut().zip(values) {
            *to = convert(from);
        }
        let offset = offset + (index * VIA) as isize * stride;
        store(guard, dtype, offset, stride, tile);
    }
}

fn store_exact<K: Compute>(
    guard: &mut WriteGuard<'_>,
    dtype: DType,
    (offset, stride): (isize, isize),
    values: &[K],
) {
    with_dtype!(dtype, T => {
        if const { is_direct(K::KIND, ComputeKind::exact(T::DTYPE)) } {
            store_slice(guard.slice_mut::<T>(), offset, stride, values);
        }
    });
}

const fn is_direct(from: ComputeKind, exact: ComputeKind) -> bool {
    from as u8 == exact as u8 || matches!((from, exact), (ComputeKind::F64, ComputeKind::F32))
}

/// Compute values to elements.
struct Store<'a, T, K> {
    run: &'a [K],
    out: &'a mut [T],
}

impl<T: Numeric, K: Compute> Task for Store<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        K::store_all::<T, A>(self.run, self.out);
    }
}

/// As [`load_slice`], but other types than halves need no vectors: results are few.
#[inline(never)]
fn store_slice<T: Numeric, K: Compute>(data: &mut [T], offset: isize, stride: isize, values: &[K]) {
    if const { !T::DTYPE.is_half() } {
        store_run(data, offset, stride, values, K::store::<T>);
        return;
    }
    let mut tile = [T::default(); VIA];
    for (index, run) in values.chunks(VIA).enumerate() {
        let out = &mut tile[..run.len()];
        convert::<T>(Store { run, out });
        let offset = offset + (index * VIA) as isize * stride;
        store_run(data, offset, stride, out, |element| element);
    }
}
