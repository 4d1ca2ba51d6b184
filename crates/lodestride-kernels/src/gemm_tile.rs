//! Products of float matrices in tiles: parts of the result stay in vector registers or L1, the last columns under a mask.
//!
//! Large matrices are packed first (`gemm_packed.rs`); for small and for thin ones that costs more than it saves.
#![expect(
    unsafe_code,
    reason = "masked loads and stores of vector registers take raw pointers"
)]

use std::ops::Range;

use lodestride_buffer::{Buffer, Element};

use crate::gemm_small::Blend;
use crate::isa::{Isa, Level};
use crate::matmul_windows::{Part, Windows};
use crate::matrix::{Grid, Matrix, MatrixMut};
use crate::stream::LINE;
use crate::threads;
use crate::transpose::Sheet;

/// A float with tile kernels.
pub(crate) trait TileFloat: Element + Send + Sync {
    /// Runs a job on this machine's vectors.
    ///
    /// # Safety
    /// As [`Job`] says, with the layouts of the walk; the level must have tiles.
    unsafe fn run(level: Level, job: &Job<Self>, walk: Walk);

    /// Multiplies matrices of `[m, k]` and `[k, n]` elements; false, with nothing done, where a row of the result does not fit one
    /// register.
    ///
    /// # Safety
    /// As [`Packed`] says.
    unsafe fn run_narrow(level: Level, sizes: [usize; 3], packed: Packed<Self>) -> bool;

    /// Elements of working memory that a packed product of at most `[m, n]` elements and `k` steps needs.
    fn room(level: Level, sizes: [usize; 3]) -> usize;

    /// Multiplies the job's left matrix by some strips of some images: windows side by side, a register of them.
    ///
    /// # Safety
    /// As [`Job`], where the right matrix is every step of every window of every image, columns are one element apart,
    /// and the room as many elements as [`room_of_windows`](Self::room_of_windows) says; the level must have tiles.
    unsafe fn run_windows(level: Level, job: &Job<Self>, windows: Windows<'_>, part: Part);

    /// Lanes of the registers of the level's tiles.
    fn lanes(level: Level) -> usize;

    /// Elements of working memory that products of a matrix of `[m, k]` elements and windows need.
    fn room_of_windows(level: Level, m: usize, k: usize) -> usize;
}

/// Columns on the right that rows on the left meet together.
pub(crate) const COLUMNS: usize = 4;

/// Elements of such a column that can be copied, where they do not lie one after the other.
pub(crate) const COPIED: usize = 512;

/// In which order a product is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Tile after tile of the result: what lies in the first caches.
    Tiles,
    /// Row after row of the right operand, whose rows are contiguous: few rows on the left.
    Sweep,
    /// The same of a matrix and its own transpose, but what lies below the diagonal, of which anything is written.
    SweepAbove,
    /// Row after row of the left operand, whose rows are contiguous: up to [`COLUMNS`] columns on the right, which are contiguous
    /// unless there are several of at most [`COPIED`] elements.
    Dots,
    /// Block after block of both operands, copied to panels: any layout.
    Packed,
    /// The same from the diagonal on, of a matrix and its own transpose, where the product begins at column `first` of the
    /// whole.
    Square { first: usize },
}

/// One product as pointers and steps.
///
/// To run it, `a[i * a_row + p * a_column]`, `b[p * b_row + j * b_column]` and `out[i * out_row + j * out_column]` must be
/// valid for every row `i < m`, column `j < n` and `p < k`, `out` for writes, and `out` must overlap neither input. Walks
/// that pack write to as many elements of `room` as [`TileFloat::room`] says; the others take `b_column` for 1, but for dots.
#[derive(Clone, Copy)]
pub(crate) struct Job<C> {
    pub(crate) a: *const C,
    pub(crate) b: *const C,
    pub(crate) out: *mut C,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a_row: isize,
    pub(crate) a_column: isize,
    pub(crate) b_row: isize,
    pub(crate) b_column: isize,
    pub(crate) out_row: isize,
    pub(crate) out_column: isize,
    pub(crate) blend: Blend<C>,
    pub(crate) room: *mut C,
    /// What tiles ask for meanwhile.
    pub(crate) ahead: Ahead,
}

/// Products of matrices whose rows lie one after the other.
///
/// To be run, the pointers must be valid for the elements of the matrices of every product, `out` for writes, and no result may
/// overlap an input or another result.
#[derive(Clone, Copy)]
pub(crate) struct Packed<C> {
    pub(crate) a: *const C,
    pub(crate) b: *const C,
    pub(crate) out: *mut C,
    /// How many there are, and elements from one to the next of each matrix.
    pub(crate) count: usize,
    pub(crate) steps: [isize; 3],
}

/// Memory that is read soon: the operands of a batch's next product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// Starts, and how many lines follow.
    runs: [(*const u8, usize); 2],
}

impl Ahead {
    /// For a product that is followed by none.
    pub(crate) const NOTHING: Ahead = Ahead {
        runs: [(std::ptr::null(), 0); 2],
    };

    /// The two operands; of one whose rows are not contiguous, nothing.
    pub(crate) fn of<C: Copy>(next: [Matrix<'_, C>; 2]) -> Ahead {
        let runs = next.map(|matrix| {
            let shape = matrix.shape();
            let dense = shape.column_step == 1 && shape.row_step == shape.columns.cast_signed();
            let elements = if dense { shape.rows * shape.columns } else { 0 };
            let start = matrix.data().as_ptr().wrapping_add(shape.start);
            (start.cast(), (elements * size_of::<C>()).div_ceil(LINE))
        });
        Ahead { runs }
    }

    /// Where the next `lines` of it begin, if there are any left.
    #[inline(always)]
    pub(crate) fn take(&mut self, lines: usize) -> Option<*const u8> {
        let (start, left) = self.runs.iter_mut().find(|(_, left)| *left > 0)?;
        let here = *start;
        *start = here.wrapping_add(lines * LINE);
        *left = left.saturating_sub(lines);
        Some(here)
    }
}

/// `out = alpha * a b + beta * out` on up to `threads` threads; false, having done nothing, unless the machine has masked
/// vectors, the layouts are those of the walk and there is memory to pack in. A `beta` of zero never reads `out`. No size is
/// zero. Tiles ask for what is `ahead`.
pub(crate) fn product<C: TileFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    walk: Walk,
    threads: usize,
    ahead: Ahead,
) -> bool {
    let (left, right) = (a.shape(), b.shape());
    let fits = match walk {
        Walk::Tiles | Walk::Sweep | Walk::SweepAbove => {
            right.column_step == 1 || right.columns <= 1
        }
        Walk::Dots => {
            let lie = right.row_step == 1 || right.columns > 1 && right.rows <= COPIED;
            left.column_step == 1 && right.columns <= COLUMNS && lie
        }
        Walk::Packed | Walk::Square { .. } => true,
    };
    if !fits || !is_walked() {
        return false;
    }
    let level = Level::current();
    let job = Job {
        ahead,
        ..Job::of(a, b, out, blend)
    };
    let room =
        matches!(walk, Walk::Packed | Walk::Square { .. }).then_some(|sizes| C::room(level, sizes));
    // SAFETY: `Matrix::new` and `MatrixMut::new` have proven every element of these shapes to lie inside the slices the pointers
    // come from, and `out` is a unique borrow; the layouts are those of the walk.
    let run = |part: &Job<C>, walk| unsafe { C::run(level, part, walk) };
    // SAFETY: as above.
    unsafe { in_parts(job, walk, threads, room, run) }
}

/// Runs a job in parts on up to `threads` threads, with as much `room` for each as the widest needs, if they need any; false, having
/// done nothing, where there is no memory for it.
///
/// # Safety
/// As [`Job`] says.
pub(crate) unsafe fn in_parts<C: Element + Send + Sync>(
    mut job: Job<C>,
    walk: Walk,
    threads: usize,
    room: Option<impl Fn([usize; 3]) -> usize>,
    run: impl Fn(&Job<C>, Walk) + Sync,
) -> bool {
    let grid = walk.grid::<C>(job.m, job.n, threads);
    let run = |job: Job<C>, room: usize| {
        // Parts write to different rows or columns of the destination, and to different rooms.
        threads::for_each_part(0..grid.parts(), |index| {
            let (part, walk) = job.part(walk, grid.part(index), index * room);
            run(&part, walk);
        });
    };
    let Some(room) = room else {
        run(job, 0);
        return true;
    };
    let room = room([job.m, grid.widest(), job.k]);
    let Ok(buffer) = Buffer::detached_recycled(grid.parts() * room * size_of::<C>()) else {
        return false;
    };
    let Ok(mut rooms) = buffer.write() else {
        return false;
    };
    job.room = rooms.slice_mut::<C>().as_mut_ptr();
    run(job, room);
    true
}

/// Whether this machine has masked vectors, and so every walk whose layouts fit.
#[inline]
pub(crate) fn is_walked() -> bool {
    matches!(Level::current().isa(), Isa::Avx2 | Isa::Avx512)
}

/// Copies the part of a square matrix above the diagonal to the one below.
pub(crate) fn mirror<C: Copy>(out: &mut MatrixMut<'_, C>) {
    let shape = out.shape();
    assert!(shape.rows == shape.columns);
    let data = out.data();
    for first in (0..shape.rows).step_by(MIRRORED) {
        let count = MIRRORED.min(shape.rows - first);
        let (above, below) = (shape.at(0, first), shape.at(first, 0));
        let sheet = Sheet {
            x: data.as_ptr().wrapping_add(above).cast(),
            out: data.as_mut_ptr().wrapping_add(below).cast(),
            size: size_of::<C>(),
            rows: first,
            columns: count,
            x_steps: [shape.row_step, shape.column_step],
            out_steps: [shape.column_step, shape.row_step],
            stream: false,
        };
        // SAFETY: `MatrixMut::new` has proven every element of the shape, and the slice is a unique borrow; what is read
        // lies above the diagonal, what is written below.
        unsafe { sheet.run() };
        for row in first..first + count {
            for column in first..row {
                data[shape.at(row, column)] = data[shape.at(column, row)];
            }
        }
    }
}

/// Rows that are mirrored at once.
const MIRRORED: usize = 64;

/// Bytes of which the columns of each thread's share of a square are a multiple: a register of AVX-512, two of AVX2. By whole panels,
/// three times as many, the larger of two shares of 512 columns is 55 % of them.
const STRETCH: usize = LINE;

impl Walk {
    /// How a product is divided among threads.
    fn grid<C>(self, m: usize, n: usize, threads: usize) -> Grid {
        let (ways, units) = match self {
            Walk::Sweep => ([1, threads], [1, 64]),
            Walk::Tiles | Walk::Dots => ([threads, 1], [8, 1]),
            Walk::Packed => return Grid::even(m, n, threads, [16, 48]),
            Walk::Square { .. } => {
                return Grid::above_diagonal(n, threads, STRETCH / size_of::<C>());
            }
            Walk::SweepAbove => ([1, 1], [1, 1]),
        };
        Grid::new(m, n, ways, units)
    }
}

/// Copies a matrix to rows one after the other, on up to `threads` threads: what the kernels of this machine read best on the
/// right.
///
/// # Panics
/// If there is not enough room.
pub(crate) fn to_rows<C: Copy + Send + Sync>(x: Matrix<'_, C>, to: &mut [C], threads: usize) {
    let (rows, columns) = (x.shape().rows, x.shape().columns);
    let share = rows.div_ceil(threads).next_multiple_of(LINE);
    let parts = to[..rows * columns].chunks_mut(share * columns).enumerate();
    threads::for_each_part(parts, |(part, to)| {
        let shape = x.part(part * share, to.len() / columns, 0, columns).shape();
        let first = x.data().as_ptr().wrapping_add(shape.start);
        let steps = [shape.row_step, shape.column_step];
        let sheet = sheet_of_rows(first, steps, [shape.rows, columns], to.as_mut_ptr());
        // SAFETY: `Matrix::new` has proven every element of the shape, `to` has as many, and it is a unique borrow.
        unsafe { sheet.run() };
    });
}

/// The copying of a matrix, of so many rows and columns with such steps between them, to rows one after the other.
pub(crate) fn sheet_of_rows<C>(
    x: *const C,
    [row_step, column_step]: [isize; 2],
    [rows, columns]: [usize; 2],
    to: *mut C,
) -> Sheet {
    Sheet {
        x: x.cast(),
        out: to.cast(),
        size: size_of::<C>(),
        rows: columns,
        columns: rows,
        x_steps: [column_step, row_step],
        out_steps: [1, columns.cast_signed()],
        stream: false,
    }
}

// SAFETY: the inputs are only read, and threads work on parts with different destinations and rooms (`product`).
unsafe impl<C: Sync> Sync for Job<C> {}

impl<C: Copy> Job<C> {
    /// The product of two matrices that fit.
    ///
    /// # Panics
    /// If they do not.
    pub(crate) fn of(
        a: Matrix<'_, C>,
        b: Matrix<'_, C>,
        out: &mut MatrixMut<'_, C>,
        blend: Blend<C>,
    ) -> Self {
        let (left, right, to) = (a.shape(), b.shape(), out.shape());
        assert!(left.rows == to.rows && right.columns == to.columns && left.columns == right.rows);
        Self {
            a: a.data().as_ptr().wrapping_add(left.start),
            b: b.data().as_ptr().wrapping_add(right.start),
            out: out.data().as_mut_ptr().wrapping_add(to.start),
            m: to.rows,
            n: to.columns,
            k: left.columns,
            a_row: left.row_step,
            a_column: left.column_step,
            b_row: right.row_step,
            b_column: right.column_step,
            out_row: to.row_step,
            out_column: to.column_step,
            blend,
            room: std::ptr::null_mut(),
            ahead: Ahead::NOTHING,
        }
    }

    /// Rows, steps and columns.
    pub(crate) fn sizes(&self) -> [usize; 3] {
        [self.m, self.k, self.n]
    }

    /// As many products of matrices whose rows lie one after the other, so many elements apart.
    pub(crate) fn packed(&self, count: usize, steps: [isize; 3]) -> Packed<C> {
        let Job { a, b, out, .. } = *self;
        Packed {
            a,
            b,
            out,
            count,
            steps,
        }
    }

    /// Some rows and columns, with room of their own. The diagonal of a square goes with its columns.
    fn part(
        &self,
        walk: Walk,
        (rows, columns): (Range<usize>, Range<usize>),
        room: usize,
    ) -> (Self, Walk) {
        let (down, across) = (rows.start as isize, columns.start as isize);
        let corner = down * self.out_row + across * self.out_column;
        let part = Self {
            a: self.a.wrapping_offset(down * self.a_row),
            b: self.b.wrapping_offset(across * self.b_column),
            out: self.out.wrapping_offset(corner),
            m: rows.len(),
            n: columns.len(),
            room: self.room.wrapping_add(room),
            ..*self
        };
        match walk {
            Walk::Square { first } => (
                part,
                Walk::Square {
                    first: first + columns.start,
                },
            ),
            _ => (part, walk),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use super::{Job, Level, Packed, Part, TileFloat, Walk, Windows};

    macro_rules! none {
        ($($t:ty),*) => {$(
            impl TileFloat for $t {
                unsafe fn run(_level: Level, _job: &Job<$t>, _walk: Walk) {}
                unsafe fn run_narrow(_level: Level, _sizes: [usize; 3], _packed: Packed<$t>) -> bool {
                    false
                }
                fn room(_level: Level, _sizes: [usize; 3]) -> usize { 0 }
                unsafe fn run_windows(
                    _level: Level,
                    _job: &Job<$t>,
                    _windows: Windows<'_>,
                    _part: Part,
                ) {}
                fn lanes(_level: Level) -> usize { 1 }
                fn room_of_windows(_level: Level, _m: usize, _k: usize) -> usize { 0 }
            }
        )*};
    }
    none!(f32, f64);
}
