//! The fast path of single operations: everything dense in memory, of the kernel's dtypes, in one order. No nest, no
//! tiles; what it does not fit goes to `driver.rs`.
#![expect(
    unsafe_code,
    reason = "dense operands are handed to erased kernels as raw pointers"
)]

use crate::closure::argument_of;
use crate::error::Result;
use crate::isa::RawKernel;
use crate::operand::{Operand, Output};
use crate::pass::Pass;
use crate::stream;
use crate::table::{BinaryKernel, UnaryKernel};
use crate::threads;
use lodestride_buffer::{Argument, ReadGuard};
use lodestride_shape::Order;
use std::ops::Range;

/// The fast path of one operation on one operand: everything dense, of the kernel's dtypes, in one order. Gives false,
/// having done nothing, where that is not so.
///
/// # Errors
/// [`KernelError::Access`].
#[inline]
pub(crate) fn dense_unary(
    op: &'static str,
    kernel: &UnaryKernel,
    x: &Operand<'_>,
    output: &mut Output<'_>,
) -> Result<bool> {
    let (out, door) = output.parts();
    if !dense_alike(x, out) {
        return Ok(false);
    }
    let shared = x.buffer().same_block(out.buffer());
    if shared && (kernel.in_place.is_none() || x.layout().offset() != out.layout().offset()) {
        return Ok(false);
    }
    let dst = begin(out, door.open(op)?.as_mut_ptr());
    let n = out.elements();
    match kernel.in_place {
        Some(in_place) if shared => {
            dense(n, kernel.out.size(), false, in_place, dst, [dst; 2], [0; 2])
        }
        _ => {
            let reader = x.read(op, Argument::X)?;
            let a = begin(x, reader.as_ptr().cast_mut());
            let size = x.dtype().size();
            dense(
                n,
                kernel.out.size(),
                kernel.heavy,
                kernel.map,
                dst,
                [a; 2],
                [size; 2],
            );
        }
    }
    Ok(true)
}

/// [`dense_unary`] for two operands; `x` may be `out` itself.
///
/// # Errors
/// [`KernelError::Access`].
#[inline]
pub(crate) fn dense_binary(
    op: &'static str,
    kernel: &BinaryKernel,
    x: &Operand<'_>,
    y: &Operand<'_>,
    output: &mut Output<'_>,
) -> Result<bool> {
    let (out, door) = output.parts();
    if !dense_alike(x, out) || !dense_alike(y, out) || y.buffer().same_block(out.buffer()) {
        return Ok(false);
    }
    let shared = x.buffer().same_block(out.buffer());
    if shared && (kernel.zip_in_place.is_none() || x.layout().offset() != out.layout().offset()) {
        return Ok(false);
    }
    let dst = begin(out, door.open(op)?.as_mut_ptr());
    let (n, size, heavy) = (out.elements(), x.dtype().size(), kernel.heavy);
    match kernel.zip_in_place {
        Some(in_place) if shared => {
            let reader = y.read(op, Argument::Y)?;
            let b = begin(y, reader.as_ptr().cast_mut());
            dense(
                n,
                kernel.out.size(),
                heavy,
                in_place,
                dst,
                [dst, b],
                [size; 2],
            );
        }
        _ => {
            let first = x.read(op, Argument::X)?;
            // One guard opens a buffer for both.
            let second = if y.buffer().same_block(x.buffer()) {
                None
            } else {
                Some(y.read(op, Argument::Y)?)
            };
            let a = begin(x, first.as_ptr().cast_mut());
            let b = begin(y, second.as_ref().unwrap_or(&first).as_ptr().cast_mut());
            dense(
                n,
                kernel.out.size(),
                heavy,
                kernel.zip,
                dst,
                [a, b],
                [size; 2],
            );
        }
    }
    Ok(true)
}

/// [`dense_binary`] for an array and a number: `word` holds the number's bytes, `left` says that it is the left operand.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access).
#[inline(always)]
pub(crate) fn dense_scalar(
    op: &'static str,
    kernel: &BinaryKernel,
    x: &Operand<'_>,
    word: u64,
    left: bool,
    output: &mut Output<'_>,
) -> Result<bool> {
    let (out, door) = output.parts();
    let shared = x.buffer().same_block(out.buffer());
    let form = match (left, shared) {
        (true, false) => kernel.scalar_zip,
        (true, true) => None,
        (false, false) => kernel.zip_scalar,
        (false, true) => kernel.zip_scalar_in_place,
    };
    let Some(form) = form else {
        return match kernel.zip_scalar {
            // Others go on in place beside a tile of the number.
            Some(form)
                if shared && !left && kernel.out == x.dtype() && kernel.zip_in_place.is_none() =>
            {
                staged_scalar(op, (form, kernel.heavy), x, word, output)
            }
            _ => Ok(false),
        };
    };
    if !dense_alike(x, out) || (shared && x.layout().offset() != out.layout().offset()) {
        return Ok(false);
    }
    let dst = begin(out, door.open(op)?.as_mut_ptr());
    let argument = if left { Argument::Y } else { Argument::X };
    let reader = if shared {
        None
    } else {
        Some(x.read(op, argument)?)
    };
    let a = reader
        .as_ref()
        .map_or(dst, |reader| begin(x, reader.as_ptr().cast_mut()));
    let size = x.dtype().size();
    let number = std::ptr::from_ref(&word).cast_mut().cast();
    // A step of 0 bytes: every part reads the same number.
    let (sources, sizes) = if left {
        ([number, a], [0, size])
    } else {
        ([a, number], [size, 0])
    };
    dense(
        out.elements(),
        kernel.out.size(),
        kernel.heavy,
        form,
        dst,
        sources,
        sizes,
    );
    Ok(true)
}

/// [`dense_scalar`] over the array itself, of a kernel without an in-place form.
#[inline(never)]
fn staged_scalar(
    op: &'static str,
    (form, heavy): (RawKernel, bool),
    x: &Operand<'_>,
    word: u64,
    output: &mut Output<'_>,
) -> Result<bool> {
    let (out, door) = output.parts();
    if !dense_alike(x, out) || x.layout().offset() != out.layout().offset() {
        return Ok(false);
    }
    let dst = begin(out, door.open(op)?.as_mut_ptr());
    let size = x.dtype().size();
    let work = Dense {
        kernel: form,
        dst,
        sources: [dst, std::ptr::from_ref(&word).cast_mut().cast()],
        size,
        sizes: [size, 0],
    };
    let parts = threads::parts(work.bytes(out.elements()), heavy);
    in_parts(out.elements(), parts, |range| work.replace(range));
    Ok(true)
}

/// The fast path of a small closure over at most `MOST` operands: the kernel gets their places in a record, and the closure
/// beside it. Gives false, having done nothing, where the operands are not dense in one order, the output shares memory with
/// one of them, or there is enough to do for several threads.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access).
pub(crate) fn dense_record<const MOST: usize>(
    op: &'static str,
    (kernel, heavy): (RawKernel, bool),
    inputs: &[Operand<'_>],
    closure: *const u8,
    output: &mut Output<'_>,
) -> Result<bool> {
    let (out, door) = output.parts();
    let sizes = inputs.iter().map(|x| x.dtype().size());
    let bytes = out.elements() * (sizes.sum::<usize>() + out.dtype().size());
    let fits = |x: &Operand<'_>| dense_alike(x, out) && !x.buffer().same_block(out.buffer());
    if inputs.len() > MOST || threads::are_worth(bytes, heavy) || stream::pays(bytes) {
        return Ok(false);
    }
    if !inputs.iter().all(fits) {
        return Ok(false);
    }
    let dst = begin(out, door.open(op)?.as_mut_ptr());
    let mut readers: [Option<ReadGuard<'_>>; MOST] = [const { None }; MOST];
    let mut record: [*const u8; MOST] = [std::ptr::null(); MOST];
    for (number, x) in inputs.iter().enumerate() {
        let reader = x.read(op, argument_of(number))?;
        record[number] = begin(x, reader.as_ptr().cast_mut()).cast_const();
        readers[number] = Some(reader);
    }
    let record = record.as_ptr().cast();
    // SAFETY: every operand is dense, opened until the end of this function and has as many elements as the output, which
    // is apart from all of them; the caller gives the kernel of these dtypes with the closure that it expects.
    unsafe { kernel(out.elements(), dst, record, closure, std::ptr::null()) };
    Ok(true)
}

/// Whether two operands lie densely in memory, in the same order.
#[inline]
fn dense_alike(x: &Operand<'_>, out: &Operand<'_>) -> bool {
    let (x, out) = (x.layout(), out.layout());
    // An array changed in place is its own output: the same layout, not only an equal one.
    (std::ptr::eq(x, out) || x.shape() == out.shape())
        && (out.is_contiguous(Order::C) && x.is_contiguous(Order::C)
            || out.is_contiguous(Order::F) && x.is_contiguous(Order::F))
}

/// Room for results on their way past the caches.
#[repr(align(64))]
struct Stage([u8; stream::HEAVY_PIECE]);

/// A kernel and dense memory, to be divided among threads.
struct Dense {
    kernel: RawKernel,
    dst: *mut u8,
    sources: [*mut u8; 2],
    /// Bytes of an element of the destination and of each source.
    size: usize,
    sizes: [usize; 2],
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open; the parts given to different threads are
// disjoint ranges of elements.
unsafe impl Sync for Dense {}

impl Dense {
    /// Runs the kernel on elements `range`.
    fn run(&self, range: Range<usize>) {
        let dst = self.dst.wrapping_add(range.start * self.size);
        let [a, b] = self.at(range.start);
        // SAFETY: the fast paths have opened dense operands of the kernel's dtypes with at least `range.end` elements, and
        // only the in-place form gets a source equal to `dst`, through which it does not read.
        unsafe { (self.kernel)(range.len(), dst, a, b, std::ptr::null()) }
    }

    /// [`Dense::run`] with results that go past the caches; no source is the destination. `heavy` as the kernel is.
    fn stream(&self, range: Range<usize>, heavy: bool) {
        let mut stage = Stage([0; stream::HEAVY_PIECE]);
        let ([a, b], [x, y]) = (self.at(range.start), self.sizes);
        let pass = Pass {
            kernel: self.kernel,
            dst: self.dst.wrapping_add(range.start * self.size),
            size: self.size,
            sources: [a, b, std::ptr::null_mut()],
            steps: [x, y, 0],
        };
        let piece = stream::piece(heavy);
        // SAFETY: as in `run`, through a stage of the largest piece that nobody else sees.
        unsafe { pass.stream(range.len(), stage.0.as_mut_ptr(), piece) };
        stream::fence();
    }

    /// [`Dense::run`] of a kernel without an in-place form whose first source is the destination: its results wait in a stage
    /// until a piece has been read.
    fn replace(&self, range: Range<usize>) {
        let mut stage = Stage([0; stream::HEAVY_PIECE]);
        let stage = stage.0.as_mut_ptr();
        let piece = stream::HEAVY_PIECE / self.size;
        for start in range.clone().step_by(piece) {
            let n = piece.min(range.end - start);
            let [a, b] = self.at(start);
            // SAFETY: as in `run`, but the destination is the stage, which has room for a piece and is seen by nobody else.
            unsafe { (self.kernel)(n, stage, a, b, std::ptr::null()) };
            let dst = self.dst.wrapping_add(start * self.size);
            // SAFETY: the destination has these elements, and it is apart from the stage.
            unsafe { std::ptr::copy_nonoverlapping(stage, dst, n * self.size) };
        }
    }

    /// What `n` elements read and write. An array beside itself is read once.
    fn bytes(&self, n: usize) -> usize {
        let [first, second] = self.sources;
        let second = if second == first { 0 } else { self.sizes[1] };
        n * (self.size + self.sizes[0] + second)
    }

    /// Where element `index` of each source is.
    fn at(&self, index: usize) -> [*mut u8; 2] {
        [0, 1].map(|source| self.sources[source].wrapping_add(index * self.sizes[source]))
    }
}

/// Runs a kernel over `n` dense elements, on several threads where that pays.
#[inline(always)]
fn dense(
    n: usize,
    size: usize,
    heavy: bool,
    kernel: RawKernel,
    dst: *mut u8,
    sources: [*mut u8; 2],
    sizes: [usize; 2],
) {
    let work = Dense {
        kernel,
        dst,
        sources,
        size,
        sizes,
    };
    let bytes = work.bytes(n);
    if bytes <= SMALL {
        work.run(0..n);
        return;
    }
    divided(&work, n, bytes, heavy);
}

/// Bytes up to which nothing but the kernel is worth thinking of.
pub(crate) const SMALL: usize = 32 << 10;

/// [`dense`] of what may be worth several threads, or a way past the caches.
#[inline(never)]
fn divided(work: &Dense, n: usize, bytes: usize, heavy: bool) {
    let streamed = stream::pays(bytes) && !work.sources.contains(&work.dst);
    let parts = threads::parts(bytes, heavy);
    if parts == 1 && !streamed {
        work.run(0..n);
        return;
    }
    in_parts(n, parts, |range| {
        if streamed {
            work.stream(range, heavy);
        } else {
            work.run(range);
        }
    });
}

/// Some job on `parts` ranges of `n` elements.
fn in_parts(n: usize, parts: usize, job: impl Fn(Range<usize>) + Sync) {
    // Whole cache lines of every dtype, so that no two threads write the same line.
    let share = n.div_ceil(parts).next_multiple_of(64);
    let ranges = (0..parts).map(|part| (part * share).min(n)..((part + 1) * share).min(n));
    threads::for_each_part(ranges, job);
}

/// Where an opened operand's elements begin.
#[inline]
fn begin(operand: &Operand<'_>, start: *mut u8) -> *mut u8 {
    start.wrapping_add(operand.layout().offset() * operand.dtype().size())
}
