//! Arrays as lines along one axis, contiguous one after the other: what every sorting kernel works on.
//!
//! Arrays that lie otherwise are copied there and back by the elementwise driver, which knows every layout.

use lodestride_buffer::{Argument, Buffer, DType, Element, WriteGuard};
use lodestride_shape::{Layout, Order};

use crate::elementwise;
use crate::error::{KernelError, Result};
use crate::isa::{Arch, Level, Task};
use crate::operand::Operand;
use crate::sort_key::Key;
use crate::square::transpose;
use crate::stream::LINE;
use crate::threads;

/// `layout` with `axis` as the last; a scalar is one line of one element.
fn moved(op: &'static str, layout: &Layout, axis: usize) -> Result<Layout> {
    if layout.rank() == 0 {
        return Ok(layout.clone());
    }
    layout
        .move_axis(axis as isize, -1)
        .map_err(KernelError::shape(op))
}

/// Lines in memory of their own.
#[derive(Debug)]
pub(crate) struct Lines {
    buffer: Buffer,
    layout: Layout,
    dtype: DType,
}

impl Lines {
    fn of_shape(op: &'static str, like: &Layout, dtype: DType) -> Result<Lines> {
        let layout =
            Layout::contiguous(like.shape().clone(), Order::C).map_err(KernelError::shape(op))?;
        let buffer = Buffer::detached_recycled(layout.elements() * dtype.size())
            .map_err(KernelError::alloc(op))?;
        Ok(Lines {
            buffer,
            layout,
            dtype,
        })
    }

    /// A copy of the lines of `x` along `axis`, as `dtype`.
    pub(crate) fn copy_of(
        op: &'static str,
        x: Operand<'_>,
        axis: usize,
        dtype: DType,
    ) -> Result<Lines> {
        // Refused under this op's name, not the copy's.
        drop(x.read(op, Argument::X)?);
        let layout = moved(op, x.layout(), axis)?;
        let lines = Lines::of_shape(op, &layout, dtype)?;
        let x = Operand::new(x.buffer(), &layout, x.dtype())?;
        elementwise::copy(x.into(), lines.operand()?)?;
        Ok(lines)
    }

    /// Lines for one value per element of `like` along `axis`, not written yet.
    pub(crate) fn beside(
        op: &'static str,
        like: &Layout,
        axis: usize,
        dtype: DType,
    ) -> Result<Lines> {
        Lines::of_shape(op, &moved(op, like, axis)?, dtype)
    }

    /// Copies the lines to `out` along `axis`.
    pub(crate) fn write_to(&self, op: &'static str, out: Operand<'_>, axis: usize) -> Result<()> {
        drop(out.write(op, Argument::Z)?);
        let layout = moved(op, out.layout(), axis)?;
        let out = Operand::new(out.buffer(), &layout, out.dtype())?;
        elementwise::copy(self.operand()?.into(), out)
    }

    /// What the elements are.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    fn operand(&self) -> Result<Operand<'_>> {
        Operand::new(&self.buffer, &self.layout, self.dtype)
    }

    /// The elements; `T` is as wide as the dtype.
    pub(crate) fn open(&self, op: &'static str) -> Result<Opened<'_>> {
        Ok(Opened {
            guard: self.operand()?.write(op, Argument::X)?,
            elements: self.layout.elements(),
        })
    }
}

/// Lines opened for the length of a call.
#[derive(Debug)]
pub(crate) struct Opened<'a> {
    guard: WriteGuard<'a>,
    elements: usize,
}

impl Opened<'_> {
    /// All lines, one after the other.
    pub(crate) fn slice<T: Element>(&mut self) -> &mut [T] {
        &mut self.guard.slice_mut::<T>()[..self.elements]
    }
}

/// Lets `fill`, which is called once, write the lines of `out` along `axis`, which first hold the elements of `x` where that is
/// given. Here and below what is called is erased: the way to it is compiled once for each width of elements.
pub(crate) fn fill_lines<T: Element>(
    op: &'static str,
    x: Option<Operand<'_>>,
    out: Operand<'_>,
    axis: usize,
    fill: &mut dyn FnMut(&mut [T]) -> Result<()>,
) -> Result<()> {
    let layout = moved(op, out.layout(), axis)?;
    if layout.is_contiguous(Order::C) {
        if let Some(x) = x {
            drop(x.read(op, Argument::X)?);
            drop(out.write(op, Argument::Z)?);
            elementwise::copy(x.into(), out)?;
        }
        let mut guard = out.write(op, Argument::Z)?;
        let start = layout.offset();
        return fill(&mut guard.slice_mut::<T>()[start..start + layout.elements()]);
    }
    drop(out.write(op, Argument::Z)?);
    let lines = match x {
        Some(x) => Lines::copy_of(op, x, axis, out.dtype())?,
        None => Lines::of_shape(op, &layout, out.dtype())?,
    };
    fill(lines.open(op)?.slice())?;
    lines.write_to(op, out, axis)
}

/// What writes lines, and is given what they are still to be copied from.
type Fill<'f, T> = dyn FnMut(&mut [T], Option<&[T]>) -> Result<()> + 'f;

/// As [`fill_lines`] with the elements of `x`; where there are several lines, and they lie alike in both, these are left to be
/// copied line by line: they come along.
pub(crate) fn fill_copies<T: Element>(
    op: &'static str,
    x: Operand<'_>,
    out: Operand<'_>,
    axis: usize,
    fill: &mut Fill<'_, T>,
) -> Result<()> {
    let is_alike = x.elements() > x.shape().get(axis).copied().unwrap_or(1)
        && !x.buffer().same_block(out.buffer())
        && moved(op, x.layout(), axis)?.is_contiguous(Order::C);
    if !is_alike && fill_columns(op, x, out, axis, fill)? {
        return Ok(());
    }
    if !is_alike {
        return fill_lines(op, Some(x), out, axis, &mut |lines| fill(lines, None));
    }
    read_lines(op, x, axis, &mut |x| {
        fill_lines(op, None, out, axis, &mut |lines| fill(lines, Some(x)))
    })
}

/// Bytes of columns that are lines for a while.
const COLUMNS: usize = 1 << 17;

/// As [`fill_copies`] where lines are columns: so many at a time as the caches hold are turned into rows and back. False,
/// having done nothing, where they do not lie so, or several threads would share them.
fn fill_columns<T: Element>(
    op: &'static str,
    x: Operand<'_>,
    out: Operand<'_>,
    axis: usize,
    fill: &mut Fill<'_, T>,
) -> Result<bool> {
    let (from, to) = (moved(op, x.layout(), axis)?, moved(op, out.layout(), axis)?);
    let (Some(from), Some(to)) = (Columns::of(&from), Columns::of(&to)) else {
        return Ok(false);
    };
    let (len, together) = (
        from.len,
        from.count.min(COLUMNS / size_of::<T>() / from.len),
    );
    let is_apt = size_of::<T>() >= 4
        && together * size_of::<T>() >= LINE
        && !x.buffer().same_block(out.buffer())
        && threads::parts(KEY_BYTES * x.elements(), true) == 1;
    if !is_apt {
        return Ok(false);
    }
    let lines = Scratch::new::<T>(op, together * len)?;
    let mut lines = lines.open(op)?;
    let lines = lines.slice::<T>();
    let x = x.read(op, Argument::X)?;
    let mut out = out.write(op, Argument::Z)?;
    let (x, out) = (x.slice::<T>(), out.slice_mut::<T>());
    for (start, out_start) in from.starts().zip(to.starts()) {
        for first in (0..from.count).step_by(together) {
            let count = together.min(from.count - first);
            let lines = &mut lines[..count * len];
            Level::current().run_narrow(Turn {
                from: (&x[start + first..], from.pitch),
                to: (&mut *lines, len),
                size: (len, count),
            });
            fill(lines, None)?;
            Level::current().run_narrow(Turn {
                from: (&*lines, len),
                to: (&mut out[out_start + first..], to.pitch),
                size: (count, len),
            });
        }
    }
    Ok(true)
}

/// Lines of a layout whose elements of one place lie side by side.
struct Columns<'a> {
    layout: &'a Layout,
    /// Elements of a line, and from one to the next.
    len: usize,
    pitch: usize,
    /// Lines side by side.
    count: usize,
}

impl<'a> Columns<'a> {
    /// The columns of a layout whose last axis is that of the lines.
    fn of(layout: &'a Layout) -> Option<Self> {
        let [.., count, len] = layout.shape()[..] else {
            return None;
        };
        let [.., beside, pitch] = layout.strides()[..] else {
            return None;
        };
        let pitch = usize::try_from(pitch).ok()?;
        let is_apt = beside == 1 && len > 1 && !layout.is_empty() && pitch >= count;
        is_apt.then_some(Columns {
            layout,
            len,
            pitch,
            count,
        })
    }

    /// Where the first elements of the lines lie that are side by side.
    fn starts(&self) -> impl Iterator<Item = usize> {
        let outer = self.layout.rank() - 2;
        let sizes = &self.layout.shape()[..outer];
        let strides = &self.layout.strides()[..outer];
        (0..sizes.iter().product::<usize>()).map(move |mut index| {
            let mut start = self.layout.offset();
            for (size, stride) in sizes.iter().zip(strides).rev() {
                start = start.wrapping_add_signed(stride * (index % size).cast_signed());
                index /= size;
            }
            start
        })
    }
}

/// Transposes rows and columns, so far apart.
struct Turn<'a, T> {
    from: (&'a [T], usize),
    to: (&'a mut [T], usize),
    size: (usize, usize),
}

impl<T: Element> Task for Turn<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        transpose::<A, T>(self.from, self.to, self.size);
    }
}

/// Lets `work` read the lines of `x` along `axis`: where they lie, or a copy of them.
pub(crate) fn read_lines<T: Element>(
    op: &'static str,
    x: Operand<'_>,
    axis: usize,
    work: &mut dyn FnMut(&[T]) -> Result<()>,
) -> Result<()> {
    let layout = moved(op, x.layout(), axis)?;
    if layout.is_contiguous(Order::C) {
        let guard = x.read(op, Argument::X)?;
        let start = layout.offset();
        return work(&guard.slice()[start..start + layout.elements()]);
    }
    let lines = Lines::copy_of(op, x, axis, x.dtype())?;
    work(lines.open(op)?.slice())
}

/// Scratch memory for one thread: recycled, its contents unspecified.
#[derive(Debug)]
pub(crate) struct Scratch {
    lines: Lines,
}

impl Scratch {
    pub(crate) fn new<T: Element>(op: &'static str, elements: usize) -> Result<Scratch> {
        let layout = Layout::contiguous([elements], Order::C).map_err(KernelError::shape(op))?;
        let lines = Lines::of_shape(op, &layout, T::DTYPE)?;
        Ok(Scratch { lines })
    }

    pub(crate) fn open(&self, op: &'static str) -> Result<Opened<'_>> {
        self.lines.open(op)
    }
}

/// What each key, or what is written beside it, counts for beside the thresholds of threads: sorting takes 1.7 to 3 ns for
/// one whatever its width, as long as heavy operations take for so many bytes.
pub(crate) const KEY_BYTES: usize = 32;

/// Lines of keys, in blocks for several threads.
pub(crate) struct Blocks<'a, K> {
    pub(crate) keys: &'a mut [K],
    /// Keys of a line, at least one.
    pub(crate) len: usize,
    /// What the keys are still to be copied from.
    pub(crate) from: Option<&'a [K]>,
}

/// Lines of one thread: the keys, what is written beside them, and how many threads may share a single line.
pub(crate) struct Block<'a, K, B> {
    pub(crate) keys: &'a mut [K],
    from: Option<&'a [K]>,
    pub(crate) beside: &'a mut [B],
    pub(crate) parts: usize,
}

impl<K: Key, B> Block<'_, K, B> {
    /// Calls `work` with so many keys at a time, which have been copied now where they are not yet.
    pub(crate) fn each(self, together: usize, mut work: impl FnMut(&mut [K])) {
        for (index, keys) in self.keys.chunks_mut(together).enumerate() {
            if let Some(from) = self.from {
                keys.copy_from_slice(&from[index * together..][..keys.len()]);
            }
            work(keys);
        }
    }
}

impl<K: Key> Blocks<'_, K> {
    /// Calls `work` with blocks of whole lines, `width` elements of `beside` with each line; several lines are shared among
    /// threads, a single one is left whole.
    pub(crate) fn each<B: Send>(
        self,
        beside: &mut [B],
        width: usize,
        work: impl Fn(Block<'_, K, B>) -> Result<()> + Sync,
    ) -> Result<()> {
        let Self { keys, len, from } = self;
        let lines = keys.len() / len;
        let parts = threads::parts(KEY_BYTES * (keys.len() + beside.len()), true);
        if lines < parts || parts == 1 {
            return work(Block {
                keys,
                from,
                beside,
                parts,
            });
        }
        let share = lines.div_ceil(parts);
        let mut outcomes: Vec<Result<()>> = vec![Ok(()); lines.div_ceil(share)];
        let mut blocks = Vec::with_capacity(outcomes.len());
        let (mut keys, mut beside) = (keys, beside);
        for (index, outcome) in outcomes.iter_mut().enumerate() {
            let here = share.min(lines - index * share);
            let (now, later) = keys.split_at_mut(here * len);
            let (now_beside, later_beside) = beside.split_at_mut(here * width);
            blocks.push((
                Block {
                    keys: now,
                    from: from.map(|from| &from[index * share * len..]),
                    beside: now_beside,
                    parts: 1,
                },
                outcome,
            ));
            (keys, beside) = (later, later_beside);
        }
        threads::for_each_part(blocks.into_iter(), |(block, outcome)| {
            *outcome = work(block);
        });
        outcomes.into_iter().collect()
    }
}
