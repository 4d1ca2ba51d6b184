//! Selecting by a mask: how many elements are not zero, which they are, and the rows where a mask is true.
//!
//! Masks of any dtype and layout are turned into bytes, a tile at a time; bool arrays without gaps are such bytes already.

use lodestride_buffer::{Argument, DType, Element, ReadGuard};
use lodestride_shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

use crate::compact::{self, count_set};
use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::operand::Operand;
use crate::row_copy::{copy_block, join, pairs, with_unit};
use crate::spread;
use crate::stream;
use crate::strided::{Dim, Dims, collapse, dims_of, offset_at, store};
use crate::threads;

/// Flags made at a time.
const TILE: usize = 1024;

/// Elements counted as one unit of parallel work.
const CHUNK: usize = 1 << 18;

/// How many elements of `x` are not zero: the length that [`compress`] and [`nonzero`] need.
///
/// # Errors
/// [`KernelError`] when the buffer cannot be accessed.
pub fn count_nonzero(x: Operand<'_>) -> Result<usize, KernelError> {
    let guard = door::read("count_nonzero", Argument::X, x, None)?;
    let flags = Flags::new(&guard, x);
    let (elements, level) = (x.elements(), Level::current());
    if !threads::are_worth(elements.saturating_mul(x.dtype().size()), false) {
        return Ok(flags.count(0..elements, level));
    }
    let part = |index: usize| index * CHUNK..elements.min((index + 1) * CHUNK);
    let counts = spread::map(elements.div_ceil(CHUNK), |index| {
        flags.count(part(index), level)
    });
    Ok(counts.into_iter().sum())
}

/// An array as flags: 0 where an element is zero, else another byte, in logical C order.
struct Flags<'a> {
    guard: &'a ReadGuard<'a>,
    dtype: DType,
    dims: Dims,
    inner: Dim,
    start: isize,
}

impl<'a> Flags<'a> {
    fn new(guard: &'a ReadGuard<'a>, x: Operand<'_>) -> Self {
        let layout = x.layout();
        let mut dims = collapse(dims_of(layout.shape(), layout.strides()));
        let inner = dims.pop().unwrap_or(Dim { size: 1, stride: 1 });
        Self {
            guard,
            dtype: x.dtype(),
            dims,
            inner,
            start: layout.offset() as isize,
        }
    }

    /// The bytes of the elements themselves, where these are flags already.
    fn bytes(&self) -> Option<&'a [u8]> {
        let dense = self.dims.is_empty() && self.inner.stride == 1;
        (dense && self.dtype.size() == 1).then(|| {
            let start = self.start as usize;
            &self.guard.slice::<u8>()[start..start + self.inner.size]
        })
    }

    /// Calls `job(position, flags)` for stretches of at most a tile, in order.
    fn each_tile(&self, range: Range<usize>, level: Level, mut job: impl FnMut(usize, &[u8])) {
        if let Some(bytes) = self.bytes() {
            for first in range.clone().step_by(TILE) {
                job(first, &bytes[first..range.end.min(first + TILE)]);
            }
            return;
        }
        let mut tile = [0; TILE];
        let mut position = range.start;
        while position < range.end {
            let (run, at) = (position / self.inner.size, position % self.inner.size);
            let len = TILE.min(self.inner.size - at).min(range.end - position);
            let tile = &mut tile[..len];
            let from = self.start + offset_at(&self.dims, run) + at as isize * self.inner.stride;
            self.load(from, level, tile);
            job(position, tile);
            position += len;
        }
    }

    /// The flags of a run.
    fn load(&self, from: isize, level: Level, flags: &mut [u8]) {
        // Both zeros of a float are zero: the sign does not count.
        let shift = u32::from(self.dtype.is_float());
        let stride = self.inner.stride;
        with_unit!(self.dtype, U => {
            let data = self.guard.slice::<U>();
            if stride == 1 {
                let x = &data[from as usize..from as usize + flags.len()];
                level.run(Flagging { x, shift, flags });
            } else {
                for (index, flag) in flags.iter_mut().enumerate() {
                    let x = data[(from + index as isize * stride) as usize];
                    *flag = u8::from(x << shift != 0);
                }
            }
        });
    }

    fn count(&self, range: Range<usize>, level: Level) -> usize {
        if let Some(bytes) = self.bytes() {
            return count_set(&bytes[range], level);
        }
        let mut found = 0;
        self.each_tile(range, level, |_, flags| found += count_set(flags, level));
        found
    }

    /// Calls `job` for every tile of a range, in order, with its first position and how far behind that its elements that are not
    /// zero lie.
    fn each_kept(&self, range: Range<usize>, mut job: impl FnMut(usize, &[u16])) {
        let level = Level::current();
        let mut kept = [0; TILE];
        self.each_tile(range, level, |first, flags| {
            // Without a branch for every flag, which nobody can predict.
            let found = compact::compact(&OFFSETS[..flags.len()], flags, &mut kept, level);
            job(first, &kept[..found]);
        });
    }

    /// Calls `job` with the position of every element that is not zero, in order.
    fn each_set(&self, elements: usize, mut job: impl FnMut(usize)) {
        self.each_kept(0..elements, |first, kept| {
            for &offset in kept {
                job(first + usize::from(offset));
            }
        });
    }
}

/// The positions of a tile.
static OFFSETS: [u16; TILE] = {
    let mut offsets = [0; TILE];
    let mut at = 0;
    while at < TILE {
        offsets[at] = at as u16;
        at += 1;
    }
    offsets
};

/// Flags of a run without gaps.
struct Flagging<'a, U> {
    x: &'a [U],
    shift: u32,
    flags: &'a mut [u8],
}

impl<U: Copy + PartialEq + Default + std::ops::Shl<u32, Output = U>> Task for Flagging<'_, U> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (flag, &x) in self.flags.iter_mut().zip(self.x) {
            *flag = u8::from(x << self.shift != U::default());
        }
    }
}

/// Copies the slices of `x` along `axis` whose `mask` entry is not zero, in order.
///
/// `mask` has one axis, as long as that of `x`; the size of `out` along `axis` is the number of its true entries
/// ([`count_nonzero`]).
///
/// # Errors
/// [`KernelError`] when the axis is out of range, a shape does not fit, or a buffer cannot be accessed. Nothing is written
/// then.
pub fn compress(
    x: Operand<'_>,
    axis: usize,
    mask: Operand<'_>,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "compress";
    door::check_axis(OP, axis, x.layout().rank())?;
    let mut wanted = x.shape().clone();
    mask.check_shape(OP, Argument::Y, &Shape::from_slice(&wanted[axis..=axis]))?;
    wanted[axis] = count_nonzero(mask)?;
    door::check_output(OP, out, &wanted)?;
    let converted = door::converted(OP, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let copies = [
        door::private_copy(OP, Argument::X, x, &[out])?,
        door::private_copy(OP, Argument::Y, mask, &[out])?,
    ];
    let x_guard = door::read(OP, Argument::X, x, copies[0].as_ref())?;
    let mask_guard = door::read(OP, Argument::Y, mask, copies[1].as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    let (x_layout, out_layout) = (x.layout(), out.layout());
    let mut axes = pairs(out_layout.shape(), x_layout.strides(), out_layout.strides());
    let along = axes.remove(axis);
    let axes = join(axes);
    if out_layout.is_empty() {
        return Ok(());
    }
    let flags = Flags::new(&mask_guard, mask);
    with_unit!(x.dtype(), U => {
        let (data, all) = (x_guard.slice::<U>(), out_guard.slice_mut::<U>());
        let (from, to) = (x_layout.offset(), out_layout.offset());
        if axes.is_empty() && (along.x, along.out) == (1, 1) {
            let out = &mut all[to..to + along.size];
            compress_dense(&data[from..from + mask.elements()], &flags, out);
        } else {
            let mut to = to as isize;
            flags.each_set(mask.elements(), |row| {
                copy_block(data, from as isize + row as isize * along.x, all, to, &axes);
                to += along.out;
            });
        }
    });
    Ok(())
}

/// Writes the elements whose flag is set one after the other; `out` has room for exactly these.
fn compress_dense<U: compact::Unit>(x: &[U], flags: &Flags<'_>, out: &mut [U]) {
    let level = Level::current();
    let parts = threads::parts((size_of::<U>() + 1) * x.len(), true);
    let Some(bytes) = flags.bytes() else {
        let mut done = 0;
        flags.each_tile(0..x.len(), level, |first, flags| {
            done += compact::compact(
                &x[first..first + flags.len()],
                flags,
                &mut out[done..],
                level,
            );
        });
        return;
    };
    let moved = size_of_val(x) + bytes.len() + size_of_val(out);
    let compact = if stream::pays(moved) {
        compact::compact_past
    } else {
        compact::compact
    };
    if parts == 1 {
        compact(x, bytes, out, level);
        return;
    }
    let share = x.len().div_ceil(parts);
    let counts = spread::map(parts - 1, |part| {
        count_set(&bytes[part * share..x.len().min((part + 1) * share)], level)
    });
    // The last part has what is left.
    let mut jobs: SmallVec<[_; 8]> = SmallVec::new();
    let mut rest = out;
    for (part, (x, bytes)) in x.chunks(share).zip(bytes.chunks(share)).enumerate() {
        let len = counts.get(part).copied().unwrap_or(rest.len());
        let (out, after) = rest.split_at_mut(len);
        jobs.push((x, bytes, out));
        rest = after;
    }
    threads::for_each_part(jobs.into_iter(), |(x, bytes, out)| {
        compact(x, bytes, out, level);
    });
}

/// Writes the positions of the elements of `x` that are not zero: row `i` of `out` is the index of the `i`-th of them in
/// C order.
///
/// `out` is `[count, rank]` of any integer dtype, with `count` from [`count_nonzero`].
///
/// # Errors
/// [`KernelError`] when `out` has another shape or is not of an integer dtype, or a buffer cannot be accessed. Nothing is
/// written then.
pub fn nonzero(x: Operand<'_>, out: Operand<'_>) -> Result<(), KernelError> {
    const OP: &str = "nonzero";
    let shape = x.layout().shape();
    let found = count_nonzero(x)?;
    door::check_output(OP, out, &Shape::from_slice(&[found, shape.len()]))?;
    door::check_integer(OP, out)?;
    let copy = door::private_copy(OP, Argument::X, x, &[out])?;
    let guard = door::read(OP, Argument::X, x, copy.as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    if found == 0 {
        return Ok(());
    }
    let (flags, sizes) = (Flags::new(&guard, x), Sizes::new(shape));
    let (start, rank) = (out.layout().offset(), shape.len());
    let [row, place] = [0, 1].map(|axis| out.layout().strides()[axis]);
    if out.dtype() == i64::DTYPE && (row, place) == (rank as isize, 1) {
        let places = &mut out_guard.slice_mut::<i64>()[start..start + found * rank];
        flags.indices(x.elements(), &sizes, (places, rank));
        return Ok(());
    }
    let mut index = SmallVec::<[i64; 8]>::from_elem(0, rank);
    let mut at = start as isize;
    flags.each_set(x.elements(), |position| {
        sizes.split(position, &mut index);
        store(&mut out_guard, out.dtype(), at, place, &index);
        at += row;
    });
    Ok(())
}

impl Flags<'_> {
    /// Writes the indices of the elements that are not zero, row after row, on several threads where that pays.
    fn indices(&self, elements: usize, sizes: &Sizes, (places, rank): (&mut [i64], usize)) {
        /// What an element counts for beside the thresholds of threads: it takes one to two nanoseconds.
        const BYTES: usize = 24;
        let parts = threads::parts(BYTES * elements, true);
        if parts == 1 {
            return self.indices_of(0..elements, sizes, (places, rank));
        }
        let (share, level) = (elements.div_ceil(parts), Level::current());
        let part = |index: usize| index * share..elements.min((index + 1) * share);
        let counts = spread::map(elements.div_ceil(share), |index| {
            self.count(part(index), level)
        });
        let (mut jobs, mut rest) = (Vec::with_capacity(counts.len()), places);
        for (index, count) in counts.into_iter().enumerate() {
            let (now, later) = rest.split_at_mut(count * rank);
            jobs.push((part(index), now));
            rest = later;
        }
        threads::for_each_part(jobs.into_iter(), |(range, places)| {
            self.indices_of(range, sizes, (places, rank));
        });
    }

    /// [`indices`](Self::indices) of a part of the elements.
    fn indices_of(&self, range: Range<usize>, sizes: &Sizes, (rows, rank): (&mut [i64], usize)) {
        let mut rest = rows;
        self.each_kept(range, |first, kept| {
            let positions = kept.iter().map(|&offset| first + usize::from(offset));
            let (places, later) = std::mem::take(&mut rest).split_at_mut(kept.len() * rank);
            rest = later;
            match rank {
                1 => {
                    for (place, position) in places.iter_mut().zip(positions) {
                        *place = position as i64;
                    }
                }
                2 => {
                    for (row, position) in places.as_chunks_mut::<2>().0.iter_mut().zip(positions) {
                        sizes.split(position, row);
                    }
                }
                _ => {
                    for (row, position) in places.chunks_exact_mut(rank.max(1)).zip(positions) {
                        sizes.split(position, row);
                    }
                }
            }
        });
    }
}

/// The sizes of axes that positions are divided by, with the reciprocals of all but the first.
struct Sizes {
    axes: SmallVec<[(u64, u64); 8]>,
}

impl Sizes {
    fn new(shape: &[usize]) -> Self {
        let axis = |&size: &usize| (size as u64, (u64::MAX / size.max(1) as u64).wrapping_add(1));
        Self {
            axes: shape.iter().map(axis).collect(),
        }
    }

    /// Writes the index of the element at a position in C order.
    #[inline(always)]
    fn split(&self, position: usize, index: &mut [i64]) {
        let mut rest = position as u64;
        let Some((first, others)) = index.split_first_mut() else {
            return;
        };
        for (place, &(size, reciprocal)) in others.iter_mut().zip(&self.axes[1..]).rev() {
            // The reciprocal is too large by less than `size / 2^64`, so below 2^32 no whole number lies between the product and
            // the quotient. That of 1 is none.
            let quotient = match (rest | size) >> 32 {
                0 if reciprocal > 0 => ((u128::from(rest) * u128::from(reciprocal)) >> 64) as u64,
                _ => rest / size,
            };
            *place = (rest - quotient * size) as i64;
            rest = quotient;
        }
        *first = rest as i64;
    }
}
