//! Products of a matrix and the windows of images, which are read where they are: convolutions.
#![expect(
    unsafe_code,
    reason = "the kernels work on pointers into operands that were checked"
)]

use std::ops::Range;

use lodestride_buffer::{Argument, Buffer, DType};
use lodestride_shape::{Order, Shape, ShapeError, ShapeOperation};

use crate::error::{KernelError, Result};
use crate::gemm_choice::are_worth_threads;
use crate::gemm_small::Blend;
use crate::gemm_tile::{Ahead, Job, TileFloat, is_walked};
use crate::isa::Level;
use crate::matmul::shape_of;
use crate::matrix::Grid;
use crate::numeric::Compute;
use crate::operand::Operand;
use crate::strided::{count, dims_of, offset_at};
use crate::{door, threads};

const OP: &str = "matmul_windows";

/// Where the elements of windows are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows<'a> {
    /// From the first element of a window to each of its elements.
    pub(crate) steps: &'a [isize],
    /// Windows in a row of windows.
    pub(crate) width: usize,
    /// From one row of windows to the next; from one window to the next it is one element.
    pub(crate) down: isize,
    /// Elements from the first of all windows that may be read, less those to the furthest step.
    pub(crate) end: isize,
    /// From one image to the next, and from its results to theirs.
    pub(crate) apart: [isize; 2],
}

/// Some images, and some strips of each.
pub(crate) type Part = (Range<usize>, Range<usize>);

/// Rows of the matrix whose products with windows take as long as copying these. Where more is lost by strips that end with a row of
/// windows, copies are better. On an EPYC (family 26) 128 rows by 3x3 windows in rows of 28 took 4.4 ms in strips, 4.3 copied.
const COPIED: usize = 12;

/// Strips for which each thread copies the matrix once more, in multiples of what are multiplied together.
const STRIPS: usize = 60;
const TOGETHER: usize = 3;

/// Multiplies a matrix `[m, k]` by windows, `[n, c, height, width, rows, columns]`, of which each is the `k = c * height * width` elements
/// of one row and one column, into `[n, m, rows * columns]`: what [`matmul`](crate::matmul()) gives for the windows reshaped to
/// `[n, k, rows * columns]`, without that copy, `height * width` times as large as the images. False, having done nothing, where the
/// three are not all `f32` or `f64`, `out` is not contiguous or shares a buffer with another operand, a size is zero, the processor
/// has no vectors for it, windows of a row do not lie side by side or are few, or there is no memory to work in.
///
/// # Errors
/// [`KernelError`] when the shapes do not fit, `out` overlaps itself, or a buffer cannot be accessed. Nothing is written then.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, matmul_windows};
/// use lodestride_shape::{Layout, Order};
///
/// // Two elements at a time of 1, 2, 3, 4: three windows.
/// let image = Buffer::from_vec(vec![1.0f32, 2.0, 3.0, 4.0])?;
/// let windows = Layout::new([1, 1, 1, 2, 1, 3], [4, 4, 4, 1, 4, 1], 0)?;
/// let weights = Buffer::from_vec(vec![1.0f32, 10.0])?;
/// let row = Layout::contiguous([1, 2], Order::C)?;
/// let (out, sums) = (Buffer::zeroed(12)?, Layout::contiguous([1, 1, 3], Order::C)?);
/// let is_done = matmul_windows(
///     Operand::new(&weights, &row, DType::F32)?,
///     Operand::new(&image, &windows, DType::F32)?,
///     Operand::new(&out, &sums, DType::F32)?,
/// )?;
/// assert!(!is_done || out.read()?.slice::<f32>() == [21.0, 32.0, 43.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn matmul_windows(
    weights: Operand<'_>,
    windows: Operand<'_>,
    out: Operand<'_>,
) -> Result<bool> {
    check_shapes(weights, windows, out)?;
    let dtype = out.dtype();
    let shares = |x: Operand<'_>| x.dtype() != dtype || x.buffer().same_block(out.buffer());
    let is_side_by_side = windows.layout().strides()[5] == 1 || windows.shape()[5] == 1;
    let is_empty = out.elements() == 0 || weights.elements() == 0;
    let lies = out.layout().is_contiguous(Order::C);
    if !is_walked() || is_empty || !lies || !is_side_by_side || shares(weights) || shares(windows) {
        return Ok(false);
    }
    match dtype {
        DType::F32 => multiply(Kernel::of::<f32>(), weights, windows, out),
        DType::F64 => multiply(Kernel::of::<f64>(), weights, windows, out),
        _ => Ok(false),
    }
}

/// What differs between the dtypes.
struct Kernel {
    size: usize,
    lanes: usize,
    level: Level,
    /// Whether so many multiply-adds are worth several threads.
    are_worth: fn(usize) -> bool,
    /// Elements of working memory for so many rows and steps.
    room: fn(Level, usize, usize) -> usize,
    run: unsafe fn(&Call<'_>, Level, Part),
}

impl Kernel {
    fn of<C: TileFloat + Compute>() -> Self {
        let level = Level::current();
        Self {
            size: size_of::<C>(),
            lanes: C::lanes(level),
            level,
            are_worth: are_worth_threads::<C>,
            room: C::room_of_windows,
            run: run::<C>,
        }
    }
}

/// The products of a call, in elements: where the first of each operand is, and the steps between them.
struct Call<'a> {
    a: *const u8,
    b: *const u8,
    out: *mut u8,
    room: *mut u8,
    /// Rows, steps and columns.
    sizes: [usize; 3],
    a_steps: [isize; 2],
    windows: Windows<'a>,
}

// SAFETY: the inputs are only read, and threads work on parts with different destinations and rooms (`multiply`).
unsafe impl Sync for Call<'_> {}

impl Call<'_> {
    /// The same with another's room, so many bytes further on.
    fn with_room(&self, after: usize) -> Self {
        Self {
            room: self.room.wrapping_add(after),
            ..*self
        }
    }
}

/// Some strips of some images.
///
/// # Safety
/// As [`TileFloat::run_windows`], for elements of `C`.
unsafe fn run<C: TileFloat + Compute>(call: &Call<'_>, level: Level, part: Part) {
    let [m, k, n] = call.sizes;
    let job = Job {
        a: call.a.cast::<C>(),
        b: call.b.cast(),
        out: call.out.cast(),
        m,
        n,
        k,
        a_row: call.a_steps[0],
        a_column: call.a_steps[1],
        b_row: 0,
        b_column: 1,
        out_row: n.cast_signed(),
        out_column: 1,
        blend: Blend {
            alpha: C::ONE,
            beta: C::ZERO,
        },
        room: call.room.cast(),
        ahead: Ahead::NOTHING,
    };
    // SAFETY: the caller's contract.
    unsafe { C::run_windows(level, &job, call.windows, part) };
}

fn check_shapes(weights: Operand<'_>, windows: Operand<'_>, out: Operand<'_>) -> Result<()> {
    let (left, right) = (weights.shape(), windows.shape());
    if let ([m, k], [n, sizes @ .., rows, columns]) = (&left[..], &right[..])
        && let [_, _, _] = sizes
        && sizes.iter().product::<usize>() == *k
    {
        return door::check_output(OP, out, &Shape::from([*n, *m, rows * columns]));
    }
    Err(KernelError::Shape {
        op: OP,
        source: ShapeError::mismatch(ShapeOperation::Matmul, left, right),
    })
}

fn multiply(
    kernel: Kernel,
    weights: Operand<'_>,
    windows: Operand<'_>,
    out: Operand<'_>,
) -> Result<bool> {
    let (sizes, strides) = (windows.shape(), windows.layout().strides());
    let of_window = dims_of(&sizes[1..4], &strides[1..4]);
    let steps: Vec<isize> = (0..count(&of_window))
        .map(|step| offset_at(&of_window, step))
        .collect();
    let (m, columns, k) = (out.shape()[1], out.shape()[2], steps.len());
    let Some(strips) = strips(m, [sizes[4], sizes[5]], kernel.lanes) else {
        return Ok(false);
    };
    let grid = grid(sizes[0], strips, [m, k, columns], kernel.are_worth);
    let room = (kernel.room)(kernel.level, m, k) * kernel.size;
    let x = weights.read(OP, Argument::X)?;
    let y = windows.read(OP, Argument::Y)?;
    let mut to = out.write(OP, Argument::Z)?;
    let Ok(buffer) = Buffer::detached_recycled(grid.parts() * room) else {
        return Ok(false);
    };
    let Ok(mut rooms) = buffer.write() else {
        return Ok(false);
    };
    let place = |x: Operand<'_>| x.layout().offset() * kernel.size;
    let behind = (y.bytes().len() - place(windows)) / kernel.size;
    let left = shape_of(weights);
    let call = Call {
        a: x.bytes().as_ptr().wrapping_add(place(weights)),
        b: y.bytes().as_ptr().wrapping_add(place(windows)),
        out: to.bytes_mut().as_mut_ptr().wrapping_add(place(out)),
        room: rooms.bytes_mut().as_mut_ptr(),
        sizes: [m, k, columns],
        a_steps: [left.row_step, left.column_step],
        windows: Windows {
            steps: &steps,
            width: sizes[5],
            down: strides[4],
            end: behind.cast_signed() - steps.iter().copied().max().unwrap_or(0),
            apart: [strides[0], (m * columns).cast_signed()],
        },
    };
    threads::for_each_part(0..grid.parts(), |part| {
        let call = call.with_room(part * room);
        // SAFETY: `Operand::new` has proven every element of the layouts to lie in the buffers, which are open; the destination is
        // contiguous and its buffer no other operand's. Parts write to different images or columns and have rooms of their own.
        unsafe { (kernel.run)(&call, kernel.level, grid.part(part)) };
    });
    Ok(true)
}

/// How many strips rows of windows have; none where copies of windows are better.
fn strips(m: usize, [rows, width]: [usize; 2], lanes: usize) -> Option<usize> {
    let strips = width.div_ceil(lanes);
    let pays = (strips * lanes).saturating_mul(m) <= width.saturating_mul(m + COPIED);
    pays.then_some(rows * strips)
}

/// How images and their windows are divided among threads.
fn grid(
    images: usize,
    strips: usize,
    [m, k, columns]: [usize; 3],
    are_worth: fn(usize) -> bool,
) -> Grid {
    let work = [images, m, k, columns]
        .into_iter()
        .fold(1, usize::saturating_mul);
    let parts = if are_worth(work) {
        threads::shares()
    } else {
        1
    };
    let across = (strips / STRIPS).clamp(1, parts);
    Grid::new(
        images,
        strips,
        [parts.div_ceil(across), across],
        [1, TOGETHER],
    )
}
