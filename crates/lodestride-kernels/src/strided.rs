//! Strided runs of any dtype, copied to and from contiguous slices of a compute type.
//!
//! Reductions, scans, segments and products read their inputs through [`Source`] and write through [`store_run`]. A run
//! that already is contiguous and of the right type is borrowed, never copied. All of it is safe slice code; the
//! elementwise driver has its own tiles.

mod several;
mod stores;

pub(crate) use self::several::load_alike;
use self::several::load_all_alike;
pub(crate) use self::several::{copy_lines, join_axes, load_written, store_lines};
pub(crate) use self::stores::{store, store_run, store_whole};

use lodestride_buffer::{DType, Element, ReadGuard, WriteGuard, with_dtype};
use smallvec::SmallVec;

use crate::isa::{Arch, Level, Task};
use crate::numeric::{Compute, ComputeKind, Numeric};
use crate::program_reduce::Computed;
use crate::reduce_lifted::Lift;

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
#[inline]
pub(crate) fn offset_at(dims: &[Dim], index: usize) -> isize {
    match dims {
        [] => 0,
        [dim] => index as isize * dim.stride,
        _ => offset_among(dims, index),
    }
}

/// [`offset_at`] of several axes: long enough for no more than one copy.
#[inline(never)]
fn offset_among(dims: &[Dim], mut index: usize) -> isize {
    let Some((slowest, others)) = dims.split_first() else {
        return 0;
    };
    let mut offset = 0;
    for dim in others.iter().rev() {
        offset += (index % dim.size) as isize * dim.stride;
        index /= dim.size;
    }
    debug_assert!(index < slowest.size.max(1), "beyond the walk's positions");
    offset + index as isize * slowest.stride
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
    origin: Origin<'a>,
    native: Option<&'a [C]>,
}

/// Where the elements of a source come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// A buffer of this dtype.
    Memory(&'a ReadGuard<'a>, DType),
    /// Nowhere: a program makes them, tile by tile.
    Computed(&'a Computed<'a>),
}

impl<'a, C: Compute> Source<'a, C> {
    /// The elements behind a guard.
    pub(crate) fn new(guard: &'a ReadGuard<'a>, dtype: DType) -> Self {
        Self::of(Origin::Memory(guard, dtype))
    }

    /// The elements of any origin.
    pub(crate) fn of(origin: Origin<'a>) -> Self {
        let native = match origin {
            Origin::Memory(guard, dtype) if dtype == C::DTYPE => Some(guard.slice::<C>()),
            Origin::Memory(..) | Origin::Computed(_) => None,
        };
        Self { origin, native }
    }

    /// Whether the elements are made when they are asked for, best in long stretches.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(self.origin, Origin::Computed(_))
    }

    /// The elements themselves when the buffer holds `C`: runs of unit stride can be borrowed.
    pub(crate) fn native(&self) -> Option<&'a [C]> {
        self.native
    }

    /// The elements for folds that take the steps to `C` themselves, where there is such a way.
    pub(crate) fn lift(&self, stride: isize) -> Option<Lift<'a, C>> {
        let is_f32 = const { C::KIND as u8 == ComputeKind::F32 as u8 };
        match self.origin {
            Origin::Memory(guard, DType::F16) if stride == 1 && is_f32 => {
                Some(Lift::Half(guard.slice()))
            }
            Origin::Memory(guard, DType::BF16) if stride == 1 && is_f32 => {
                Some(Lift::Brain(guard.slice()))
            }
            _ if stride == 2 && C::VECTOR => self.native.map(Lift::Second),
            _ => None,
        }
    }

    /// Copies the run that starts at `offset` and advances by `stride` into `out`.
    #[inline(never)]
    pub(crate) fn load(&self, offset: isize, stride: isize, out: &mut [C]) {
        if let Some(data) = self.native {
            return load_alike(data, (offset, stride), out);
        }
        match self.origin {
            Origin::Memory(guard, dtype) => load(guard, dtype, (&[offset as usize], stride), out),
            Origin::Computed(values) => values.load(offset, stride, out),
        }
    }

    /// Copies runs that start at `offsets` and advance by `stride`, one after the other, into `out`, which they fill.
    #[inline(never)]
    pub(crate) fn load_rows(&self, offsets: &[usize], stride: isize, out: &mut [C]) {
        if let Some(data) = self.native {
            return load_all_alike(data, (offsets, stride), out);
        }
        match self.origin {
            Origin::Memory(guard, dtype) => load(guard, dtype, (offsets, stride), out),
            Origin::Computed(values) => {
                for (offset, row) in offsets.iter().zip(rows_of(out, offsets.len())) {
                    values.load(offset.cast_signed(), stride, row);
                }
            }
        }
    }
}

/// A guard as typed slices.
trait Elements {
    fn elements<T: Element>(&self) -> &[T];
}

impl Elements for ReadGuard<'_> {
    fn elements<T: Element>(&self) -> &[T] {
        self.slice()
    }
}

impl Elements for WriteGuard<'_> {
    fn elements<T: Element>(&self) -> &[T] {
        self.slice()
    }
}

/// Values converted through another compute type at a time.
const VIA: usize = 128;

/// Runs of one length: where they begin, and from each element to the next.
type Run<'r> = (&'r [usize], isize);

/// The `count` rows, of one length, that fill a slice.
#[inline(always)]
fn rows_of<C>(out: &mut [C], count: usize) -> impl Iterator<Item = &mut [C]> {
    let width = out.len() / count.max(1);
    out.chunks_exact_mut(width.max(1))
}

/// Loads runs of any dtype: straight from dtypes that `C` is the exact type of, else through their exact type. So there
/// are loops for 13 pairs of dtype and compute type, not for 52.
#[inline(never)]
fn load<C: Compute>(guard: &impl Elements, dtype: DType, runs: Run<'_>, out: &mut [C]) {
    match ComputeKind::exact(dtype) {
        kind if kind == C::KIND => load_exact(guard, dtype, runs, out),
        ComputeKind::F32 => load_via::<C, f32>(guard, dtype, runs, out),
        ComputeKind::F64 => load_via::<C, f64>(guard, dtype, runs, out),
        ComputeKind::I64 => load_via::<C, i64>(guard, dtype, runs, out),
        ComputeKind::U64 => load_via::<C, u64>(guard, dtype, runs, out),
    }
}

fn load_via<C: Compute, K: Compute>(
    guard: &impl Elements,
    dtype: DType,
    (offsets, stride): Run<'_>,
    out: &mut [C],
) {
    let width = (out.len() / offsets.len().max(1)).max(1);
    let is_long = width >= VIA / 4 && stride == 1;
    if const { are_words(K::KIND, C::KIND) } && is_long && dtype == K::DTYPE {
        let data = guard.elements::<K>();
        return load_words(Load { data, offsets, out });
    }
    let mut tile = [K::ZERO; VIA];
    // Parts of a long row, or several short ones.
    let together = (VIA / width).max(1);
    let rows = out.chunks_mut(together * width);
    for (offsets, rows) in offsets.chunks(together).zip(rows) {
        for (index, out) in rows.chunks_mut(VIA).enumerate() {
            let tile = &mut tile[..out.len()];
            let part = [advanced(offsets[0], stride, index * VIA)];
            let offsets = if width > VIA { &part } else { offsets };
            load_exact(guard, dtype, (offsets, stride), tile);
            if const { are_words(K::KIND, C::KIND) } {
                let (data, offsets) = (&*tile, &[0][..]);
                load_words(Load { data, offsets, out });
            } else {
                for (to, &from) in out.iter_mut().zip(tile.iter()) {
                    *to = C::load(from);
                }
            }
        }
    }
}

/// Whether values are converted that vectors of AVX-512 alone convert: integers of 64 bits to as many of floats.
const fn are_words(from: ComputeKind, to: ComputeKind) -> bool {
    matches!(from, ComputeKind::I64 | ComputeKind::U64) && matches!(to, ComputeKind::F64)
}

/// Such values, in vectors.
#[inline(never)]
fn load_words<K: Compute, C: Compute>(runs: Load<'_, K, C>) {
    Level::current().run(runs);
}

/// Where a run goes on after some elements.
fn advanced(offset: usize, stride: isize, elements: usize) -> usize {
    offset.wrapping_add_signed(elements.cast_signed() * stride)
}

fn load_exact<K: Compute>(guard: &impl Elements, dtype: DType, runs: Run<'_>, out: &mut [K]) {
    with_dtype!(dtype, T => {
        if const { ComputeKind::exact(T::DTYPE) as u8 == K::KIND as u8 } {
            load_slice(guard.elements::<T>(), runs, out);
        }
    });
}

/// One loop for guards of both kinds; dense runs are converted under the current instruction set, others made dense first.
#[inline(never)]
fn load_slice<T: Numeric, K: Compute>(data: &[T], (offsets, stride): Run<'_>, out: &mut [K]) {
    if stride == 1 {
        convert::<T>(Load { data, offsets, out });
        return;
    }
    let mut tile = [T::default(); VIA];
    for (&offset, row) in offsets.iter().zip(rows_of(out, offsets.len())) {
        if const { size_of::<T>() == 1 } {
            load_run(data, offset.cast_signed(), stride, row, K::load::<T>);
            continue;
        }
        for (index, out) in row.chunks_mut(VIA).enumerate() {
            let run = &mut tile[..out.len()];
            let offset = advanced(offset, stride, index * VIA).cast_signed();
            load_alike(data, (offset, stride), run);
            let (data, offsets) = (&*run, &[0][..]);
            convert::<T>(Load { data, offsets, out });
        }
    }
}

/// Converts from or to elements of type `T`.
fn convert<T: Element>(task: impl Task<Output = ()>) {
    let level = Level::current();
    // Halves have instructions of their own, or steps that only vectors do fast.
    if const { T::DTYPE.is_half() } {
        level.run(task);
    } else {
        level.run_narrow(task);
    }
}

/// Dense runs to compute values, one after the other.
struct Load<'a, T, K> {
    data: &'a [T],
    offsets: &'a [usize],
    out: &'a mut [K],
}

impl<T: Numeric, K: Compute> Task for Load<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { data, offsets, out } = self;
        for (&offset, out) in offsets.iter().zip(rows_of(out, offsets.len())) {
            K::load_all::<T, A>(&data[offset..][..out.len()], out);
        }
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
    // The elements between that of a positive step, without a look at the slice's length for each.
    let span = |step: usize, count: usize| &data[start..start + (count - 1) * step + 1];
    let count = out.len();
    match stride {
        1 => {
            for (to, &from) in out.iter_mut().zip(span(1, count)) {
                *to = convert(from);
            }
        }
        2 => {
            // Pairs, of which vectors keep the first halves; the last element may have nothing behind it.
            let run = span(2, count);
            for (to, &[from, _]) in out.iter_mut().zip(run.as_chunks().0) {
                *to = convert(from);
            }
            out[count - 1] = convert(run[run.len() - 1]);
        }
        -1 => {
            let run = &data[start + 1 - count..=start];
            for (to, &from) in out.iter_mut().zip(run.iter().rev()) {
                *to = convert(from);
            }
        }
        3.. => {
            let step = stride.unsigned_abs();
            let (several, rest) = out.as_chunks_mut::<8>();
            let mut from = start;
            for to in several {
                let run = &data[from..from + 7 * step + 1];
                *to = std::array::from_fn(|place| convert(run[place * step]));
                from += 8 * step;
            }
            for to in rest {
                *to = convert(data[from]);
                from += step;
            }
        }
        _ => {
            for (index, to) in out.iter_mut().enumerate() {
                *to = convert(data[(offset + index as isize * stride) as usize]);
            }
        }
    }
}
