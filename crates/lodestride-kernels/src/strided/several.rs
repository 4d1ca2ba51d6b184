//! Several lines copied at once: what is looked up for a dtype is looked up once for all of them.

use lodestride_buffer::{DType, Element, ReadGuard, WriteGuard, with_dtype};
use smallvec::SmallVec;

use super::{
    Dim, Load, Origin, Run as Begins, Source, VIA, convert, load, load_run, offset_at, rows_of,
    store,
};
#[cfg(target_arch = "x86_64")]
use crate::lines;
use crate::numeric::{Compute, ComputeKind, Numeric};
use crate::short_rows::{LONGEST, Run, write_runs};

/// Lines up to so long are copied column by column.
const SHORT: usize = 8;
/// The same of neighbouring elements, which are copied together where they are more.
const SHORTEST: usize = 4;
/// Lines whose beginnings are listed at a time.
const LISTED: usize = 64;

/// Lines of one length: where the first begins, from each line to the next, and from each of its elements to the next.
pub(crate) type Lines = (isize, Dim, Dim);

impl<C: Compute> Source<'_, C> {
    /// Copies lines one after the other into `out`, which they fill; the first begins at `start`.
    #[inline(never)]
    pub(crate) fn load_lines(&self, start: isize, lines: Dim, line: Dim, out: &mut [C]) {
        if lines.size == 1 || line.size as isize * line.stride == lines.stride {
            return self.load(start, line.stride, out);
        }
        let short = if line.stride == 1 && !self.is_of_halves() {
            SHORTEST
        } else {
            SHORT
        };
        let is_short = line.size <= short && line.size < lines.size;
        match (self.native, self.origin) {
            (Some(data), _) => copy_lines(data, (start, lines, line), out),
            (None, Origin::Memory(guard, dtype))
                if is_short && ComputeKind::exact(dtype) == C::KIND =>
            {
                short_lines(guard, dtype, (start, lines, line), out);
            }
            _ => self.load_listed((start, lines, line), out),
        }
    }

    /// Whether elements are best made whole vectors before they are converted.
    fn is_of_halves(&self) -> bool {
        matches!(self.origin, Origin::Memory(_, DType::F16))
    }

    /// The same by lists of where the lines begin.
    fn load_listed(&self, (start, lines, line): Lines, out: &mut [C]) {
        let mut offsets = [0; LISTED];
        for (group, out) in (0..).zip(out.chunks_mut(LISTED * line.size)) {
            let offsets = &mut offsets[..out.len() / line.size];
            for (index, offset) in (group * LISTED as isize..).zip(&mut *offsets) {
                *offset = (start + index * lines.stride) as usize;
            }
            self.load_rows(offsets, line.stride, out);
        }
    }

    /// Copies elements of a walk over `dims`, from its `position`-th on, into `out`, which they fill.
    pub(crate) fn load_walk(&self, start: isize, dims: &[Dim], position: usize, out: &mut [C]) {
        let Some((&last, outer)) = dims.split_last() else {
            return self.load(start, 1, out);
        };
        let mut filled = 0;
        while filled < out.len() {
            let (run, at) = (
                (position + filled) / last.size,
                (position + filled) % last.size,
            );
            let (from, rest) = (start + offset_at(outer, run), out.len() - filled);
            let (size, stride) = match outer.last() {
                Some(next) if at == 0 && rest >= 2 * last.size => {
                    let whole = rest / last.size;
                    (whole.min(next.size - run % next.size), next.stride)
                }
                _ => (1, 0),
            };
            let line = Dim {
                size: last.size.min(rest).min(last.size - at),
                ..last
            };
            let here = &mut out[filled..][..size * line.size];
            filled += here.len();
            let from = from + at as isize * last.stride;
            self.load_lines(from, Dim { size, stride }, line, here);
        }
    }
}

/// Copies lines as they are.
pub(crate) fn copy_lines<T: Element>(data: &[T], (start, lines, line): Lines, out: &mut [T]) {
    if line.stride == 1 && lines.size > 1 && line.size * size_of::<T>() <= LONGEST {
        let (first, rows) = (start as usize, (lines.size, lines.stride));
        let run = Run::new(data, (first, line.size), rows);
        return write_runs(out, line.size, &mut std::iter::once(run));
    }
    if line.size <= SHORT && line.size < lines.size {
        return gather(data, (start, lines, line), out);
    }
    for (row, out) in (0..).zip(out.chunks_exact_mut(line.size)) {
        load_alike(data, (start + row * lines.stride, line.stride), out);
    }
}

/// Copies the run that starts at `offset` and advances by `stride` as it is.
pub(crate) fn load_alike<T: Element>(data: &[T], (offset, stride): (isize, isize), out: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if lines::try_every(stride, out, data.get(offset as usize..).unwrap_or(&[])) {
        return;
    }
    load_run(data, offset, stride, out, |element| element);
}

/// The same of runs that start at `offsets`.
pub(super) fn load_all_alike<T: Element>(data: &[T], (offsets, stride): Begins<'_>, out: &mut [T]) {
    for (&offset, row) in offsets.iter().zip(rows_of(out, offsets.len())) {
        load_alike(data, (offset.cast_signed(), stride), row);
    }
}

/// Short lines of any dtype that `C` is the exact type of.
fn short_lines<C: Compute>(guard: &ReadGuard<'_>, dtype: DType, lines: Lines, out: &mut [C]) {
    with_dtype!(dtype, T => {
        if const { ComputeKind::exact(T::DTYPE) as u8 == C::KIND as u8 } {
            short_lines_of::<T, C>(guard.slice(), lines, out);
        }
    });
}

/// Some lines at a time are made dense, then converted.
#[inline(never)]
fn short_lines_of<T: Numeric, C: Compute>(data: &[T], (start, lines, line): Lines, out: &mut [C]) {
    let mut tile = [T::default(); VIA];
    let together = VIA / line.size;
    for (group, out) in (0..).zip(out.chunks_mut(together * line.size)) {
        let start = start + (group * together as isize) * lines.stride;
        let tile = &mut tile[..out.len()];
        gather(data, (start, lines, line), tile);
        let (data, offsets) = (&*tile, &[0][..]);
        convert::<T>(Load { data, offsets, out });
    }
}

/// Copies as many lines as fill `out`, column by column.
#[inline]
fn gather<T: Copy>(data: &[T], (start, lines, line): Lines, out: &mut [T]) {
    for column in 0..line.size {
        let mut at = start + column as isize * line.stride;
        for to in out.chunks_exact_mut(line.size) {
            to[column] = data[at as usize];
            at += lines.stride;
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
    load(guard, dtype, (&[offset as usize], stride), out);
}

/// Writes lines: from line to line, from element to element, and the elements of each; those without gaps by one call.
pub(crate) fn store_lines<C: Compute>(
    (output, dtype): (&mut WriteGuard<'_>, DType),
    start: isize,
    (step, stride, len): (isize, isize, usize),
    values: &[C],
) {
    if step == len as isize * stride {
        return store(output, dtype, start, stride, values);
    }
    for (line, values) in (0..).zip(values.chunks_exact(len)) {
        store(output, dtype, start + line * step, stride, values);
    }
}

/// Axes of the input and the output, those joined that are one even step in both.
pub(crate) fn join_axes(axes: impl IntoIterator<Item = (Dim, Dim)>) -> SmallVec<[(Dim, Dim); 6]> {
    let is_step = |outer: Dim, axis: Dim| outer.stride == axis.stride * axis.size as isize;
    let mut all = SmallVec::<[(Dim, Dim); 6]>::new();
    for (mut x, mut out) in axes {
        if let Some(&last) = all.last()
            && is_step(last.0, x)
            && is_step(last.1, out)
        {
            x.size *= last.0.size;
            out.size = x.size;
            all.pop();
        }
        all.push((x, out));
    }
    all
}
