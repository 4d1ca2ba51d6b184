//! Walking an array along one axis for kernels that look at a whole row before they write it.
//!
//! The result is seen as `[outer, rows, width]` in its memory order, `rows` along the axis. Three ways, by what is
//! contiguous: a long row along the axis goes to the kernel as it lies; wide rows across it go as lines, some vectors of
//! columns at a time; anything narrow is collected in a tile of two vectors' columns first, short contiguous rows by
//! transposing them. Results that are not dense or of another dtype are computed aside and copied.

mod aside;

pub(crate) use self::aside::Aside;
use self::aside::{is_dense, run_aside, step_order};
use lodestride_buffer::{Argument, ReadGuard};
use lodestride_shape::Layout;
use smallvec::SmallVec;

use crate::door;
use crate::elementwise;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::operand::Operand;
use crate::row_lines::{Columns, Lines};
use crate::scalar::raised::Raised;
use crate::square::transpose;
use crate::strided::{Dim, Dims, collapse, offset_at};
use crate::threads;
use crate::tile::Scratch;
use crate::vector::Vector;

/// Contiguous rows up to this long are worked on as columns.
const SHORT: usize = 64;
/// Rows of a tile: more do not stay in the L2 cache.
const TALL: usize = 4096;
/// Vectors of columns worked on together.
pub(crate) const GROUP: usize = 2;
/// Columns worked on together at most: what counts as wide on every instruction set.
pub(crate) const WIDE: usize = GROUP * crate::vector::MOST_LANES;

/// An operation on rows of one or two inputs; the second is the first again where there is only one.
pub(crate) trait RowKernel<C: Raised>: Copy + Sync {
    /// Inputs that are looked at.
    const INPUTS: usize = 1;

    /// One contiguous row. Must be `#[inline(always)]`.
    fn row<V: Vector<C>>(&self, inputs: [&[C]; 2], out: &mut [C]);

    /// `N` vectors of neighbouring columns. Must be `#[inline(always)]`.
    fn columns<V: Vector<C>, const N: usize>(
        &self,
        inputs: [Columns<'_, C>; 2],
        out: &mut Lines<'_, C>,
    );
}

/// An input whose rows lie so that kernels can take them.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) start: isize,
    pub(crate) outer: Dims,
    /// From line to line along the axis.
    pub(crate) pitch: usize,
}

impl<C> Rows<'_, C> {
    /// Where the rows of an outer position begin.
    #[inline(always)]
    fn at(&self, outer: usize) -> usize {
        (self.start + offset_at(&self.outer, outer)) as usize
    }

    /// The step from row to row at an outer position, and how many of the positions that follow it goes to.
    fn step(&self, outer: usize) -> (usize, usize) {
        match self.outer.last() {
            Some(dim) => match usize::try_from(dim.stride) {
                Ok(step) => (step, dim.size - outer % dim.size),
                Err(_) => (0, 1),
            },
            None => (0, 1),
        }
    }
}

/// The extents of the walk.
#[derive(Clone, Copy, Debug)]
struct Extent {
    rows: usize,
    width: usize,
}

/// Runs a kernel along an axis of the inputs, which have the shape of `out`.
///
/// # Errors
/// [`KernelError::Access`], [`KernelError::Alloc`]. Nothing is written then.
pub(crate) fn along<C: Raised, K: RowKernel<C>>(
    op: &'static str,
    kernel: K,
    inputs: &[(Argument, Operand<'_>)],
    axis: usize,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    if out.elements() == 0 {
        return Ok(());
    }
    // Before anything is copied aside: a refusal names the argument of this operation.
    for (argument, x) in inputs {
        drop(x.read(op, *argument)?);
    }
    drop(out.write(op, Argument::Z)?);
    let mut order = step_order(out.layout());
    let is_direct_out = out.dtype() == C::DTYPE && is_dense(out.layout(), &order);
    // What is copied anyway is turned on the way where columns would need a tile.
    let tall = if is_direct_out { TALL } else { SHORT };
    let is_narrow = is_narrow_and_tall(out.layout(), &order, axis, tall);
    if is_narrow || !is_direct_out {
        if is_narrow {
            // With the axis innermost every way is open.
            order.retain(|other| *other != axis);
            order.push(axis);
        }
        return run_aside(op, kernel, inputs, (axis, &order), out);
    }
    let mut copies: SmallVec<[Option<Aside>; 2]> = SmallVec::new();
    for &(_, x) in inputs {
        let aside = if x.buffer().same_block(out.buffer()) || !is_direct::<C>(x, &order, axis) {
            let aside = Aside::new(op, x, &order, C::DTYPE)?;
            elementwise::copy(x.into(), aside.operand()?)?;
            Some(aside)
        } else {
            None
        };
        copies.push(aside);
    }
    let mut guards: SmallVec<[(ReadGuard<'_>, Operand<'_>); 2]> = SmallVec::new();
    for (&(argument, x), copy) in inputs.iter().zip(&copies) {
        let x = match copy {
            Some(copy) => copy.operand()?,
            None => x,
        };
        guards.push((x.read(op, argument)?, x));
    }
    let mut writer = door::write(op, Argument::Z, out)?;
    let position = order.iter().position(|&other| other == axis).unwrap_or(0);
    let shape = out.shape();
    let extent = Extent {
        rows: shape[axis],
        width: order[position + 1..]
            .iter()
            .map(|&axis| shape[axis])
            .product(),
    };
    let rows = |index: usize| {
        let (guard, x) = &guards[index.min(guards.len() - 1)];
        rows_of(guard.slice::<C>(), x.layout(), &order[..position], axis)
    };
    let inputs = [rows(0), rows(K::INPUTS - 1)];
    let start = out.layout().offset();
    let out = &mut writer.slice_mut::<C>()[start..start + out.elements()];
    spread(kernel, &inputs, extent, out);
    Ok(())
}

/// The rows of an input along an axis, at every position of the outer axes.
fn rows_of<'a, C>(data: &'a [C], layout: &Layout, outer: &[usize], axis: usize) -> Rows<'a, C> {
    let (shape, strides) = (layout.shape(), layout.strides());
    let outer = outer.iter().map(|&axis| Dim {
        size: shape[axis],
        stride: strides[axis],
    });
    Rows {
        data,
        start: layout.offset() as isize,
        outer: collapse(outer),
        pitch: if shape[axis] > 1 {
            strides[axis].unsigned_abs()
        } else {
            0
        },
    }
}

/// Whether the rows are too narrow for lines, and more than so many.
fn is_narrow_and_tall(layout: &Layout, order: &[usize], axis: usize, tall: usize) -> bool {
    let position = order.iter().position(|&other| other == axis).unwrap_or(0);
    let width: usize = order[position + 1..]
        .iter()
        .map(|&axis| layout.shape()[axis])
        .product();
    // A few columns leave most of a vector empty.
    let tall = if width <= 4 { SHORT } else { tall };
    width > 1 && width < WIDE && layout.shape()[axis] > tall
}

/// Whether kernels can take the rows of `x` as they lie: unit steps inside a line, even forward steps from line to line.
fn is_direct<C: Raised>(x: Operand<'_>, order: &[usize], axis: usize) -> bool {
    let (shape, strides) = (x.shape(), x.layout().strides());
    let position = order.iter().position(|&other| other == axis).unwrap_or(0);
    let inner = collapse(order[position + 1..].iter().map(|&axis| Dim {
        size: shape[axis],
        stride: strides[axis],
    }));
    let along = if inner.is_empty() {
        strides[axis] == 1
    } else {
        strides[axis] >= 0
    };
    x.dtype() == C::DTYPE
        && (along || shape[axis] == 1)
        && (inner.is_empty() || matches!(inner[..], [Dim { stride: 1, .. }]))
}

/// Divides the walk among threads: by outer positions, or, where there are few, by columns.
fn spread<C: Raised, K: RowKernel<C>>(
    kernel: K,
    inputs: &[Rows<'_, C>; 2],
    extent: Extent,
    out: &mut [C],
) {
    let block = extent.rows * extent.width;
    let outer = out.len() / block;
    let parts = threads::parts(2 * size_of_val(out), true);
    let level = Level::current();
    if parts > outer && extent.width >= parts * WIDE {
        for (index, out) in out.chunks_mut(block).enumerate() {
            let share = extent.width.div_ceil(parts).next_multiple_of(WIDE);
            let mut pieces: Vec<Vec<&mut [C]>> = Vec::new();
            for line in out.chunks_mut(extent.width) {
                for (piece, line) in line.chunks_mut(share).enumerate() {
                    if piece == pieces.len() {
                        pieces.push(Vec::new());
                    }
                    pieces[piece].push(line);
                }
            }
            threads::for_each_part(pieces.into_iter().enumerate(), |(piece, lines)| {
                let mut lines = Lines::apart(lines);
                level.run(WideTask {
                    kernel,
                    inputs,
                    outer: index,
                    column: piece * share,
                    rows: extent.rows,
                    lines: &mut lines,
                });
            });
        }
        return;
    }
    let share = outer.div_ceil(parts.min(outer));
    let chunks = out.chunks_mut(share * block).enumerate();
    threads::for_each_part(chunks, |(index, out)| {
        level.run(OuterTask {
            kernel,
            inputs,
            extent,
            first: index * share,
            out,
        });
    });
}

/// Columns of wide lines at one outer position.
struct WideTask<'a, 'l, C, K> {
    kernel: K,
    inputs: &'a [Rows<'a, C>; 2],
    outer: usize,
    column: usize,
    rows: usize,
    lines: &'a mut Lines<'l, C>,
}

impl<C: Raised, K: RowKernel<C>> Task for WideTask<'_, '_, C, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let group = GROUP * C::In::<A>::LANES;
        let width = self.lines.width();
        let mut at = 0;
        loop {
            let inputs = [0, 1].map(|i| {
                let input = &self.inputs[i];
                Columns {
                    data: &input.data[input.at(self.outer) + self.column + at..],
                    pitch: input.pitch,
                    rows: self.rows,
                    width,
                }
            });
            self.lines.at = at;
            self.kernel.columns::<C::In<A>, GROUP>(inputs, self.lines);
            if at + group >= width {
                return;
            }
            // The last group overlaps the one before and writes the same there.
            at = (at + group).min(width - group);
        }
    }
}

/// Lines of [`WIDE`] or more columns at an outer position.
#[inline(always)]
fn wide<A: Arch, C: Raised, K: RowKernel<C>>(
    kernel: K,
    inputs: &[Rows<'_, C>; 2],
    (outer, rows): (usize, usize),
    out: &mut [C],
    width: usize,
) {
    let lines = &mut Lines::even(out, width);
    WideTask {
        kernel,
        inputs,
        outer,
        column: 0,
        rows,
        lines,
    }
    .run::<A>();
}

/// A range of outer positions.
struct OuterTask<'a, C, K> {
    kernel: K,
    inputs: &'a [Rows<'a, C>; 2],
    extent: Extent,
    first: usize,
    out: &'a mut [C],
}

impl<C: Raised, K: RowKernel<C>> Task for OuterTask<'_, C, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Extent { rows, width } = self.extent;
        if width >= WIDE {
            for (index, out) in self.out.chunks_mut(rows * width).enumerate() {
                let place = (self.first + index, rows);
                wide::<A, C, K>(self.kernel, self.inputs, place, out, width);
            }
        } else if width == 1 && rows > SHORT {
            for (index, out) in self.out.chunks_mut(rows).enumerate() {
                let inputs = [0, 1].map(|i| {
                    let input = &self.inputs[i];
                    &input.data[input.at(self.first + index)..][..rows]
                });
                self.kernel.row::<C::In<A>>(inputs, out);
            }
        } else {
            self.tiles::<A>();
        }
    }
}

impl<C: Raised, K: RowKernel<C>> OuterTask<'_, C, K> {
    /// Narrow lines, several outer positions together in a tile.
    #[inline(always)]
    fn tiles<A: Arch>(self) {
        let Extent { rows, width } = self.extent;
        let together = (WIDE / width).min(self.out.len() / (rows * width));
        // No wider than it has to be, to stay in the nearest cache if it can.
        let pitch = (together * width).next_multiple_of(GROUP * C::In::<A>::LANES);
        let size = rows * pitch;
        let mut scratch = Scratch::take((K::INPUTS + 1) * size * size_of::<C>());
        let tile = scratch.numbers::<C>((K::INPUTS + 1) * size);
        let (from, to) = tile.split_at_mut(K::INPUTS * size);
        for (index, out) in self.out.chunks_mut(together * rows * width).enumerate() {
            let first = self.first + index * together;
            let count = out.len() / (rows * width);
            for (input, from) in self.inputs.iter().zip(from.chunks_mut(size)) {
                collect::<A, C>(input, (first, count), self.extent, (from, pitch));
            }
            let mut lines = Lines::even(to, pitch);
            for at in (0..count * width).step_by(GROUP * C::In::<A>::LANES) {
                let inputs = [at, (K::INPUTS - 1) * size + at].map(|start| Columns {
                    data: &from[start..],
                    pitch,
                    rows,
                    width: count * width - at,
                });
                lines.at = at;
                self.kernel.columns::<C::In<A>, GROUP>(inputs, &mut lines);
            }
            if width == 1 {
                transpose::<A, C>((to, pitch), (out, rows), (rows, count));
                continue;
            }
            for block in 0..count {
                let (from, out) = (&to[block * width..], &mut out[block * rows * width..]);
                copy_rows((from, pitch), (out, width, usize::MAX), self.extent);
            }
        }
    }
}

/// Collects `count` outer positions from `first` on as neighbouring columns of a tile.
#[inline(always)]
fn collect<A: Arch, C: Raised>(
    input: &Rows<'_, C>,
    (first, count): (usize, usize),
    Extent { rows, width }: Extent,
    (tile, tile_pitch): (&mut [C], usize),
) {
    let mut block = 0;
    while width == 1 && block < count {
        let (step, most) = input.step(first + block);
        let from = &input.data[input.at(first + block)..];
        let here = most.min(count - block);
        let place = (&mut tile[block..], tile_pitch);
        transpose::<A, C>((from, step), place, (here, rows));
        block += here;
    }
    for block in block..count {
        let from = &input.data[input.at(first + block)..];
        let place = (
            &mut tile[block * width..],
            tile_pitch,
            tile_pitch - block * width,
        );
        copy_rows((from, input.pitch), place, Extent { rows, width });
    }
}

/// Copies narrow rows, some elements at a time, which may be more than there are in a row as far as the place of one has room:
/// what lies behind it is yet to be written, or nobody looks at it. Once for all kernels.
#[inline(never)]
fn copy_rows<C: Copy>(
    (from, from_pitch): (&[C], usize),
    (to, to_pitch, room): (&mut [C], usize, usize),
    Extent { rows, width }: Extent,
) {
    const FEW: usize = 8;
    for row in 0..rows {
        let (from, to) = (&from[row * from_pitch..], &mut to[row * to_pitch..]);
        let room = room.min(to.len());
        let to = &mut to[..room];
        for at in (0..width).step_by(FEW) {
            let places = to[at..].first_chunk_mut::<FEW>();
            if let (Some(to), Some(from)) = (places, from[at..].first_chunk::<FEW>()) {
                *to = *from;
            } else {
                to[at..width].copy_from_slice(&from[at..width]);
            }
        }
    }
}
