//! Products of large matrices of floats: blocks of both operands are copied to panels that registers read in order.
//!
//! A panel of the right matrix, some hundred rows deep, stays in L1 while rows of the left one go by, which are asked for ahead:
//! 512 by 512 by 512 `f64` took a Xeon (model 106) 5.2 ms with rows in L1 and the block going by. Half of L2 holds what is gone
//! through again and again: rows of the left matrix with AVX-512, where both matrices are then copied but once, and a block of
//! the right one with AVX2 ([`Sizes`]). A matrix times its own transpose finds its left panels in the block of the right one,
//! and is computed from the diagonal on. The sums of the blocks are added up in the order of their rows, whatever else is
//! divided.
#![expect(
    unsafe_code,
    reason = "operands and panels are raw pointers, loaded under masks"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled away; their indices number rows and lanes"
)]

use crate::gemm_register::{Register, add_rows};
use crate::gemm_small::Blend;
use crate::gemm_store::{add_tile, finish_tile};
use crate::gemm_tile::Job;
use crate::gemm_walk::ACROSS;
use crate::numeric::Compute;
use crate::square;
use crate::stream::{self, LINE};

/// Rows of the right matrix in a block, at most. The last bits of results depend on it, so it is the same everywhere.
const DEPTH: usize = 256;

/// Columns of a block are a multiple of this, which panels of any register divide, and rows of that: panels begin with lines.
const COLUMNS: usize = 48;
const ROWS: usize = 16;

/// Steps of a panel that are turned at once: what is written stays in L1 until its lines are complete.
const TURNED: usize = 64;

/// How many steps ahead a panel of the right matrix is asked for, which may come from the third level.
const LINES_AHEAD: usize = 4;

/// How many rows ahead a matrix is asked for while it is copied.
const ROWS_AHEAD: isize = 4;

/// What is copied at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Steps, which are rows of the right matrix and columns of the left one.
    pub(crate) depth: usize,
    /// Columns of the right matrix.
    columns: usize,
    /// Rows of the left matrix.
    pub(crate) height: usize,
}

/// Columns of the right matrix that are copied at once, and rows of the left one, where the other of the two fills half of L2.
const WIDE: usize = 4080;
const LOW: usize = 64;

impl Sizes {
    /// For `k` steps in tiles of these registers.
    pub(crate) fn of<R: Register>(k: usize) -> Self {
        let depth = k.div_ceil(k.div_ceil(DEPTH));
        let lines = stream::second_level() / 2 / size_of::<R::Item>() / depth;
        if R::ROWS == 8 {
            let height = (lines / ROWS * ROWS).max(LOW);
            Self {
                depth,
                columns: WIDE,
                height,
            }
        } else {
            let columns = lines.max(COLUMNS);
            Self {
                depth,
                columns,
                height: LOW,
            }
        }
    }

    /// Elements of working memory for so many rows of the left matrix, or as many as are copied at once.
    pub(crate) fn room_of_rows(self, rows: usize) -> usize {
        self.depth * rows.next_multiple_of(ROWS).min(self.height)
    }
}

/// Elements of working memory for a product of at most `m` rows, `n` columns and `k` steps, none of which is zero.
pub(crate) fn room_for<R: Register>([m, n, k]: [usize; 3]) -> usize {
    let sizes = Sizes::of::<R>(k);
    let columns = n.min(sizes.columns).next_multiple_of(COLUMNS);
    sizes.depth * columns + sizes.room_of_rows(m)
}

/// The product; with `diagonal`, that of a matrix and its own transpose from the diagonal on, where the job begins at this
/// column of the whole.
///
/// # Safety
/// As [`Job`], on a machine with the instruction set of `R`; the job's room has as many elements as [`room_for`] says.
#[inline(always)]
pub(crate) unsafe fn blocks<R: Register>(job: &Job<R::Item>, diagonal: Option<usize>) {
    let Sizes {
        depth,
        columns,
        height,
    } = Sizes::of::<R>(job.k);
    let width = (job.n.div_ceil(job.n.div_ceil(columns))).next_multiple_of(COLUMNS);
    for column in (0..job.n).step_by(width) {
        let columns = width.min(job.n - column);
        for step in (0..job.k).step_by(depth) {
            let steps = depth.min(job.k - step);
            let down = step as isize * job.b_row;
            let right = Lines {
                start: (job.b).wrapping_offset(down + column as isize * job.b_column),
                along: job.b_column,
                deep: job.b_row,
                count: columns,
                depth: steps,
            };
            // SAFETY: columns and steps are the job's; the room has `depth * width` elements for them.
            unsafe { right.pack::<R>(ACROSS * R::LANES, R::LANES, job.room) };
            let block = Block {
                column,
                columns,
                step,
                steps,
                height,
                diagonal: diagonal.map(|first| first + column),
                left: job.room.wrapping_add(depth * width),
            };
            // The block has just been copied to the room, behind which there is that for rows of the left matrix.
            if R::ROWS == 8 {
                // SAFETY: so it is.
                unsafe { rows_of_block::<R, 8>(job, &block) };
            } else {
                // SAFETY: as above.
                unsafe { rows_of_block::<R, 4>(job, &block) };
            }
        }
    }
}

/// A block of the right matrix that is packed at the start of the room.
struct Block<C> {
    column: usize,
    columns: usize,
    step: usize,
    steps: usize,
    /// Rows of the left matrix that are copied at once.
    height: usize,
    /// The row of the left matrix that is the block's first column, where the two are transposes of one another.
    diagonal: Option<usize>,
    /// Room for rows of the left matrix.
    left: *mut C,
}

impl<C> Block<C> {
    /// The first column of the block that a row needs.
    fn start_of(&self, row: usize) -> usize {
        self.diagonal.map_or(0, |first| row.saturating_sub(first))
    }
}

/// All rows of the left matrix times a block of the right one.
///
/// # Safety
/// As [`blocks`]; the block must have been packed.
#[inline(always)]
unsafe fn rows_of_block<R: Register, const M: usize>(job: &Job<R::Item>, block: &Block<R::Item>) {
    let width = ACROSS * R::LANES;
    let below = block.diagonal.map_or(job.m, |first| first + block.columns);
    let m = job.m.min(below);
    for top in (0..m).step_by(block.height) {
        let rows = block.height.min(m - top);
        let shared = block.diagonal.is_some_and(|first| top >= first);
        // Rows side by side are copied as columns of the right matrix are, many at a time: to panels of `M` rows each, whose lines
        // get in each other's way, 384 rows of 2048 `f32` took 0.5 ms.
        let (wide, unit) = if job.a_row == 1 {
            (width, R::LANES)
        } else {
            (M, M)
        };
        if !shared {
            let across = block.step as isize * job.a_column;
            let left = Lines {
                start: (job.a).wrapping_offset(top as isize * job.a_row + across),
                along: job.a_row,
                deep: job.a_column,
                count: rows,
                depth: block.steps,
            };
            // SAFETY: rows and steps are the job's; there is room for so many rows.
            unsafe { left.pack::<R>(wide, unit, block.left) };
        }
        let panel_of = |row: usize| {
            let (panels, count, wide, unit, line) = if shared {
                let from = block.start_of(row);
                (job.room, block.columns, width, R::LANES, from)
            } else {
                (block.left, rows, wide, unit, row - top)
            };
            let first = line / wide * wide;
            Panel {
                a: panels.wrapping_add(first * block.steps + line - first),
                a_step: wide.min(count - first).next_multiple_of(unit),
                row,
                rows: M.min(m - row),
            }
        };
        for column in (block.start_of(top) / width * width..block.columns).step_by(width) {
            for row in (top..top + rows).step_by(M) {
                if block.start_of(row) >= column + width {
                    break;
                }
                let panel = panel_of(row);
                // SAFETY: the rows are the job's, packed in the panel; the column is the block's.
                unsafe { one_panel::<R, M>(job, block, &panel, column) };
            }
        }
    }
}

/// A few rows of the left matrix, packed.
pub(crate) struct Panel<C> {
    pub(crate) a: *const C,
    /// Elements between steps.
    pub(crate) a_step: usize,
    pub(crate) row: usize,
    pub(crate) rows: usize,
}

/// Some rows times one panel of the block.
///
/// # Safety
/// As [`rows_of_block`]; the panel must be of the job's rows and the column that of a panel of the block.
#[inline(always)]
unsafe fn one_panel<R: Register, const M: usize>(
    job: &Job<R::Item>,
    block: &Block<R::Item>,
    panel: &Panel<R::Item>,
    column: usize,
) {
    let width = (block.columns - column).min(ACROSS * R::LANES);
    let across = width.div_ceil(R::LANES);
    let lanes = width - (across - 1) * R::LANES;
    match across {
        // SAFETY: the caller vouches for rows and columns.
        1 => unsafe { tile::<R, M, 1>(job, block, panel, column, lanes) },
        // SAFETY: as above.
        2 => unsafe { tile::<R, M, 2>(job, block, panel, column, lanes) },
        // SAFETY: as above.
        _ => unsafe { tile::<R, M, ACROSS>(job, block, panel, column, lanes) },
    }
}

/// The same for `V` registers of columns, the last of them with `lanes` columns.
///
/// # Safety
/// As [`one_panel`].
#[inline(always)]
unsafe fn tile<R: Register, const M: usize, const V: usize>(
    job: &Job<R::Item>,
    block: &Block<R::Item>,
    panel: &Panel<R::Item>,
    column: usize,
    lanes: usize,
) {
    let across = (block.column + column) as isize * job.out_column;
    let corner = job
        .out
        .wrapping_offset(panel.row as isize * job.out_row + across);
    let place = |i: usize, v: usize| {
        let across = (v * R::LANES) as isize * job.out_column;
        corner.wrapping_offset(i as isize * job.out_row + across)
    };
    // SAFETY: the caller vouches for the instruction set.
    let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; V]; M];
    let mut a = panel.a;
    let mut b = job.room.cast_const().wrapping_add(column * block.steps);
    let share = block.steps / M;
    // What is added to is asked for row by row: all of it at once would keep the loads of the panels waiting.
    for row in 0..=M {
        let steps = if row < M {
            for v in 0..V {
                stream::prefetch(place(row, v).cast());
            }
            share
        } else {
            block.steps - share * M
        };
        for _ in 0..steps {
            // SAFETY: panels have `M` rows and whole registers at every step.
            unsafe { add_step::<R, M, V>(&mut sums, a, b, panel.a_step) };
            a = a.wrapping_add(panel.a_step);
            b = b.wrapping_add(V * R::LANES);
        }
    }
    let beta = if block.step == 0 {
        job.blend.beta
    } else {
        R::Item::ONE
    };
    let blend = Blend { beta, ..job.blend };
    if job.out_column != 1 || blend.alpha != R::Item::ONE || beta != R::Item::ONE {
        // SAFETY: the rows of the panel are the job's, and so are the columns.
        unsafe { finish_tile(job, blend, sums, corner, panel.rows, lanes) };
        return;
    }
    // SAFETY: as above.
    unsafe { add_tile(job, sums, corner, panel.rows, lanes) };
}

/// One step of both panels; those that follow are asked for.
///
/// # Safety
/// The pointers must be valid for `M` rows and `V` registers, on a machine with the instruction set of `R`.
#[inline(always)]
unsafe fn add_step<R: Register, const M: usize, const V: usize>(
    sums: &mut [[R; V]; M],
    a: *const R::Item,
    b: *const R::Item,
    a_step: usize,
) {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let full = unsafe { R::mask(R::LANES) };
    let mut line = [sums[0][0]; V];
    for v in 0..V {
        let at = b.wrapping_add(v * R::LANES);
        // SAFETY: as above; the caller vouches for the registers.
        line[v] = unsafe { R::load(at, full) };
        if R::ROWS == 8 {
            stream::prefetch(at.wrapping_add(LINES_AHEAD * V * R::LANES).cast());
        }
    }
    // SAFETY: the caller vouches for the rows.
    unsafe { add_rows(sums, line, a, a_step) };
}

/// Rows of the left matrix, or columns of the right one: `count` lines `along` apart, of `depth` elements `deep` apart.
#[derive(Clone, Copy)]
struct Lines<C> {
    start: *const C,
    along: isize,
    deep: isize,
    count: usize,
    depth: usize,
}

impl<C: Compute> Lines<C> {
    /// Copies the lines to panels of `width` lines, step after step. The last panel has as many lines as there are left,
    /// and zeros up to a multiple of `unit`, which divides `width`.
    ///
    /// # Safety
    /// Every element must be valid for reads, `to` for writes of as many lines, the last panel's zeros included; the
    /// machine has the instruction set of `R`.
    #[inline(always)]
    unsafe fn pack<R: Register<Item = C>>(&self, width: usize, unit: usize, to: *mut C) {
        if self.along == 1 {
            // SAFETY: the caller's contract; the lines lie side by side.
            return unsafe { self.copy::<R>(width, unit, to) };
        }
        for first in (0..self.count).step_by(width) {
            let count = width.min(self.count - first);
            let pitch = count.next_multiple_of(unit);
            for step in (0..self.depth).step_by(TURNED) {
                let corner = first as isize * self.along + step as isize * self.deep;
                let lines = Lines {
                    start: self.start.wrapping_offset(corner),
                    count,
                    depth: TURNED.min(self.depth - step),
                    ..*self
                };
                // SAFETY: the caller's contract, of some steps of one panel.
                unsafe { lines.turn(pitch, to.wrapping_add(first * self.depth + step * pitch)) };
            }
        }
    }

    /// Lines side by side: a step of all panels at a time.
    ///
    /// # Safety
    /// As [`Lines::pack`].
    #[inline(always)]
    unsafe fn copy<R: Register<Item = C>>(&self, width: usize, unit: usize, to: *mut C) {
        for step in 0..self.depth {
            let from = self.start.wrapping_offset(step as isize * self.deep);
            let ahead = from.wrapping_offset(ROWS_AHEAD * self.deep);
            for first in (0..self.count).step_by(width) {
                let lines = width.min(self.count - first);
                let pitch = lines.next_multiple_of(unit);
                let to = to.wrapping_add(first * self.depth + step * pitch);
                if lines == width {
                    for at in (0..width).step_by(LINE / size_of::<C>()) {
                        stream::prefetch(ahead.wrapping_add(first + at).cast());
                    }
                    // SAFETY: so many lines lie side by side, and the panel has as many elements at this step.
                    unsafe { from.wrapping_add(first).copy_to_nonoverlapping(to, width) };
                    continue;
                }
                for at in (0..lines).step_by(R::LANES) {
                    stream::prefetch(ahead.wrapping_add(first + at).cast());
                    // SAFETY: the caller vouches for the instruction set, here and below.
                    let read = unsafe { R::mask((lines - at).min(R::LANES)) };
                    // SAFETY: as above.
                    let written = unsafe { R::mask((pitch - at).min(R::LANES)) };
                    // SAFETY: the lanes of the mask are lines.
                    let values = unsafe { R::load(from.wrapping_add(first + at), read) };
                    // SAFETY: the panel has `pitch` elements at this step; those that were not read are zero.
                    unsafe { values.store(to.wrapping_add(at), written) };
                }
            }
        }
    }

    /// Lines of one panel that lie apart, `pitch` elements from step to step.
    ///
    /// # Safety
    /// As [`Lines::pack`], on a machine with AVX2.
    #[inline(always)]
    unsafe fn turn(&self, pitch: usize, to: *mut C) {
        let (tall, wide) = square::block_size::<C>();
        let mut line = 0;
        while self.deep == 1 && self.count - line >= tall {
            // SAFETY: the lines are there; the caller's contract.
            unsafe { self.turn_block(line, [tall, wide], pitch, to) };
            line += tall;
        }
        // Panels of four lines are half a block wide where elements have four bytes.
        if self.deep == 1 && size_of::<C>() == 4 && self.count - line >= tall / 2 {
            // SAFETY: as above.
            unsafe { self.turn_block(line, [tall / 2, wide], pitch, to) };
            line += tall / 2;
        }
        for line in line..pitch {
            for step in 0..self.depth {
                // SAFETY: the caller's contract: the panel has `pitch` elements at every step.
                unsafe { self.put(line, step, pitch, to) };
            }
        }
    }

    /// As many lines as a block has or, of four bytes, half of one.
    ///
    /// # Safety
    /// As [`Lines::turn`]; the lines must be there, and their elements lie one after the other.
    #[inline(always)]
    unsafe fn turn_block(&self, line: usize, [tall, wide]: [usize; 2], pitch: usize, to: *mut C) {
        let from = self.start.wrapping_offset(line as isize * self.along);
        let along = self.along.cast_unsigned();
        let whole = self.depth / wide * wide;
        for step in (0..whole).step_by(wide) {
            let (from, to) = (
                from.wrapping_add(step),
                to.wrapping_add(step * pitch + line),
            );
            // Steps may be negative, which wrapping offsets do not mind.
            if size_of::<C>() == 4 && tall == wide {
                // SAFETY: the lines and steps of the half are there on both sides.
                unsafe { square::half_block_at(from, along, to, pitch) };
            } else {
                // SAFETY: the same of a block.
                unsafe { square::block_at(from, along, to, pitch) };
            }
        }
        for step in whole..self.depth {
            for i in 0..tall {
                // SAFETY: as above.
                unsafe { self.put(line + i, step, pitch, to) };
            }
        }
    }

    /// One element, zero beyond the last line.
    ///
    /// # Safety
    /// As [`Lines::turn`]; the step must be one of the lines'.
    #[inline(always)]
    unsafe fn put(&self, line: usize, step: usize, pitch: usize, to: *mut C) {
        let from = line as isize * self.along + step as isize * self.deep;
        let value = if line < self.count {
            // SAFETY: the line and the step are there.
            unsafe { *self.start.wrapping_offset(from) }
        } else {
            C::ZERO
        };
        // SAFETY: the panel has `pitch` elements at every step.
        unsafe { *to.wrapping_add(step * pitch + line) = value };
    }
}
