//! The path of small operations on operands of any layout and dtype: every operand that is not dense in the output's order
//! goes through one tile, whole, and the kernel runs once. No nest and no walk: `driver.rs` is for what is larger.
#![expect(
    unsafe_code,
    reason = "strided elements are moved, and tiles handed to erased kernels, through raw pointers"
)]

use crate::elementwise::{scalar_fits, scalar_word};
use crate::error::{KernelError, Result};
use crate::isa::{Level, RawKernel};
use crate::operand::{Input, Operand, Output};
use crate::plan::WIDEST;
use crate::table_moves;
use crate::tile::Scratch;
use crate::walk::TILE;
use lodestride_buffer::{Argument, DType, ReadGuard};
use lodestride_shape::Order;
use std::mem::MaybeUninit;

/// A source of a small operation.
pub(crate) struct Term<'t, 'a> {
    pub(crate) argument: Argument,
    pub(crate) input: &'t Input<'a>,
    /// The dtype the kernel takes it in.
    pub(crate) dtype: DType,
}

/// Runs `kernel` over up to three sources, each converted to its dtype, and converts the result to `out`'s dtype. Gives
/// false, having done nothing, where there are more elements than a tile holds. Sources may share memory with `out`.
///
/// # Errors
/// As [`crate::binary`].
pub(crate) fn small<const N: usize>(
    op: &'static str,
    kernel: RawKernel,
    terms: [Term<'_, '_>; N],
    result: DType,
    output: &mut Output<'_>,
) -> Result<bool> {
    let (out, door) = output.parts();
    let n = out.elements();
    if n > TILE {
        return Ok(false);
    }
    out.check_writable(op)?;
    terms.iter().try_for_each(|term| check(op, term, out))?;
    let start = door.open(op)?.as_mut_ptr();
    // Opened before the first is read, so that a refused one leaves `out` as it was.
    let mut readers: [Option<ReadGuard<'_>>; N] = [const { None }; N];
    for (term, reader) in terms.iter().zip(&mut readers) {
        if let Input::Array(x) = term.input
            && !x.buffer().same_block(out.buffer())
        {
            *reader = Some(x.read(op, term.argument)?);
        }
    }
    if n == 0 {
        return Ok(true);
    }
    let bench = Bench::new(n, out.layout().order());
    let mut near = MaybeUninit::<Near>::uninit();
    let mut far = None;
    let needed = (N + 3) * bench.room;
    let tiles = if needed <= size_of::<Near>() {
        near.as_mut_ptr().cast::<u8>()
    } else {
        far.insert(Scratch::take(needed)).pointer()
    };
    let tile = |index: usize| tiles.wrapping_add(index * bench.room);
    let mut sources = [std::ptr::null_mut::<u8>(); 3];
    for (index, (term, reader)) in terms.iter().zip(&readers).enumerate() {
        let spare = [tile(index), tile(N)];
        sources[index] = match term.input {
            Input::Scalar(scalar) => bench.spread(scalar_word(*scalar, term.dtype), term, spare),
            Input::Array(x) => {
                let memory = reader.as_ref().map(|reader| reader.as_ptr().cast_mut());
                bench.load(x, memory, start, term.dtype, spare)
            }
        };
    }
    let base = start.wrapping_add(out.layout().offset() * out.dtype().size());
    let dense = out.layout().order().is_some();
    let target = if dense && result == out.dtype() {
        base
    } else {
        tile(N + 1)
    };
    let [a, b, c] = sources;
    // SAFETY: every source is a tile, or dense memory of another buffer that its guard keeps open, of `n` elements of the
    // dtype the kernel takes; the target is another tile or the output's own dense elements, which no source shares: those
    // that did were copied to tiles.
    unsafe { kernel(n, target, a, b, c) };
    let mut values = target;
    if result != out.dtype() {
        let converted = if dense { base } else { tile(N + 2) };
        bench.cast(converted, values, result, out.dtype());
        values = converted;
    }
    if !dense {
        bench.scatter(out, base, values);
    }
    Ok(true)
}

/// Room for the tiles of a few elements, on the stack.
#[repr(align(64))]
struct Near(#[expect(dead_code, reason = "only there to have a size")] [u8; 2048]);

/// What the general path checks of an operand before it opens any.
#[inline]
fn check(op: &'static str, term: &Term<'_, '_>, out: &Operand<'_>) -> Result<()> {
    match *term.input {
        Input::Array(x) => x.check_shape(op, term.argument, out.shape()),
        Input::Scalar(scalar) if scalar_fits(scalar, term.dtype) => Ok(()),
        Input::Scalar(scalar) => Err(KernelError::ScalarOutOfRange {
            op,
            scalar,
            dtype: term.dtype,
        }),
    }
}

/// Where the tiles of one operation are filled: how many elements, in which order of the axes.
struct Bench {
    n: usize,
    /// Bytes from one tile to the next.
    room: usize,
    order: Order,
    level: Level,
}

impl Bench {
    fn new(n: usize, order: Option<Order>) -> Bench {
        Bench {
            n,
            room: (n * WIDEST).next_multiple_of(64),
            order: order.unwrap_or(Order::C),
            level: Level::current(),
        }
    }

    /// A number in every place of a tile.
    fn spread(&self, word: u64, term: &Term<'_, '_>, [tile, _]: [*mut u8; 2]) -> *mut u8 {
        let fill = table_moves::fill_kernel(term.dtype.size(), self.level);
        let number = std::ptr::from_ref(&word).cast();
        // SAFETY: the tile holds `n` elements of the widest dtype; the word holds one of this dtype's size.
        unsafe { fill(self.n, tile, number, std::ptr::null(), std::ptr::null()) };
        tile
    }

    /// Where the elements of an opened array are, in this bench's order and in `dtype`. `memory` is the start of its
    /// buffer, `None` where that is the output's, `shared`.
    fn load(
        &self,
        x: &Operand<'_>,
        memory: Option<*mut u8>,
        shared: *mut u8,
        dtype: DType,
        [tile, spare]: [*mut u8; 2],
    ) -> *mut u8 {
        let size = x.dtype().size();
        let base = memory
            .unwrap_or(shared)
            .wrapping_add(x.layout().offset() * size);
        let converts = x.dtype() != dtype;
        let dense = x.layout().is_contiguous(self.order);
        let values = if dense && (memory.is_some() || converts) {
            base
        } else {
            let raw = if converts { spare } else { tile };
            let plane = self.plane(x, dense);
            // SAFETY: the layout stays inside the opened buffer (invariant of `Operand`); the tile holds `n` elements of
            // the widest dtype and is apart.
            unsafe { move_elements::<true>(size, base, raw, plane) };
            raw
        };
        if converts {
            self.cast(tile, values, x.dtype(), dtype);
            return tile;
        }
        values
    }

    /// The axes of an operand; one axis where it is dense.
    #[inline]
    fn plane<'l>(&'l self, operand: &'l Operand<'_>, dense: bool) -> Plane<'l> {
        let (sizes, strides) = if dense {
            (std::slice::from_ref(&self.n), &[1][..])
        } else {
            let layout = operand.layout();
            (layout.shape().as_slice(), layout.strides().as_slice())
        };
        Plane {
            sizes,
            strides,
            order: self.order,
        }
    }

    /// `n` elements in another dtype.
    fn cast(&self, to: *mut u8, from: *const u8, source: DType, target: DType) {
        let cast = table_moves::cast_kernel(source, target, self.level);
        // SAFETY: both are `n` elements of these dtypes, tiles or dense memory of an opened operand, and apart.
        unsafe { cast(self.n, to, from, std::ptr::null(), std::ptr::null()) };
    }

    /// Moves the elements of a tile to where the output's layout has them.
    fn scatter(&self, out: &Operand<'_>, base: *mut u8, tile: *mut u8) {
        let plane = self.plane(out, false);
        // SAFETY: the layout stays inside the output's opened buffer; the tile holds its elements in this order.
        unsafe { move_elements::<false>(out.dtype().size(), base, tile, plane) };
    }
}

/// The axes of strided memory, in the order they are walked in.
#[derive(Clone, Copy)]
struct Plane<'l> {
    sizes: &'l [usize],
    strides: &'l [isize],
    order: Order,
}

impl<'l> Plane<'l> {
    /// The size and the stride of the axis walked first, and the plane of the others; one position for a scalar.
    #[inline]
    fn outermost(self) -> (usize, isize, Plane<'l>) {
        let split = match self.order {
            Order::C => (self.sizes.split_first(), self.strides.split_first()),
            Order::F => (self.sizes.split_last(), self.strides.split_last()),
        };
        let (Some((&size, sizes)), Some((&stride, strides))) = split else {
            return (1, 1, self);
        };
        let order = self.order;
        let rest = Plane {
            sizes,
            strides,
            order,
        };
        (size, stride, rest)
    }
}

/// Copies the elements of an array, of which the first is at `first`, to dense memory in an order of its axes.
///
/// # Safety
/// The array's buffer is open, `dense` has room for its elements, aligned to them, and is apart.
pub(crate) unsafe fn gather(x: &Operand<'_>, first: *mut u8, dense: *mut u8, order: Order) {
    let plane = Plane {
        sizes: x.shape().as_slice(),
        strides: x.layout().strides().as_slice(),
        order,
    };
    // SAFETY: the layout stays inside the opened buffer (invariant of `Operand`), and the caller's contract.
    unsafe { move_elements::<true>(x.dtype().size(), first, dense, plane) };
}

/// Elements of an axis from which on it is worth asking whether they can be moved together.
const SOME: usize = 8;

/// Copies the elements of a plane to dense memory, or with `IN` false from there, and gives the place behind the last.
///
/// # Safety
/// Every element of the plane from `strided` on is aligned for `size` and valid for reads (writes); `dense` is aligned
/// and valid for as many elements of writes (reads); the two do not overlap.
unsafe fn move_elements<const IN: bool>(
    size: usize,
    strided: *mut u8,
    dense: *mut u8,
    plane: Plane<'_>,
) {
    match size {
        // SAFETY: the caller's contract, for each element size.
        1 => _ = unsafe { move_plane::<u8, IN>(strided.cast(), dense.cast(), plane) },
        // SAFETY: as above.
        2 => _ = unsafe { move_plane::<u16, IN>(strided.cast(), dense.cast(), plane) },
        // SAFETY: as above.
        4 => _ = unsafe { move_plane::<u32, IN>(strided.cast(), dense.cast(), plane) },
        // SAFETY: as above; no element is larger than 8 bytes.
        _ => _ = unsafe { move_plane::<u64, IN>(strided.cast(), dense.cast(), plane) },
    }
}

/// # Safety
/// As [`move_elements`], with `T` of the element's size.
unsafe fn move_plane<T: Copy, const IN: bool>(
    strided: *mut T,
    dense: *mut T,
    plane: Plane<'_>,
) -> *mut T {
    let (count, step, inner) = plane.outermost();
    let (mut strided, mut dense) = (strided, dense);
    if inner.sizes.is_empty() {
        if count >= SOME && step == 1 {
            let (to, from) = if IN {
                (dense, strided)
            } else {
                (strided, dense)
            };
            // SAFETY: elements of the plane that lie next to each other, and their places in dense memory.
            unsafe { to.copy_from_nonoverlapping(from, count) };
            return dense.wrapping_add(count);
        }
        if IN && count >= SOME && step == 0 {
            // SAFETY: the element that stands for all of the axis.
            let element = unsafe { strided.read() };
            for i in 0..count {
                // SAFETY: its places in dense memory.
                unsafe { dense.wrapping_add(i).write(element) };
            }
            return dense.wrapping_add(count);
        }
        for _ in 0..count {
            let (to, from) = if IN {
                (dense, strided)
            } else {
                (strided, dense)
            };
            // SAFETY: an element of the plane and its place in dense memory, by the caller's contract.
            unsafe { to.copy_from_nonoverlapping(from, 1) };
            dense = dense.wrapping_add(1);
            strided = strided.wrapping_offset(step);
        }
        return dense;
    }
    for _ in 0..count {
        // SAFETY: one position of the outer axis; its elements are among the caller's.
        dense = unsafe { move_plane::<T, IN>(strided, dense, inner) };
        strided = strided.wrapping_offset(step);
    }
    dense
}
