//! The shortest way to a result: two small arrays of one dtype and shape that lie gap-free from the start of their buffers, or one
//! and a number.
//!
//! Most calls on small arrays are like that, and what precedes their few additions is most of what they cost.
#![expect(
    unsafe_code,
    reason = "opened buffers are handed to erased kernels as raw pointers"
)]

use crate::dense::SMALL;
use crate::elementwise::{scalar_fits, scalar_word};
use crate::isa::{Level, RawKernel};
use crate::moments::{reading, writing, writing_apart, writing_over};
use crate::op::{self, BinaryOp};
use crate::table::BinaryKernel;
use lodestride_buffer::{Buffer, DType, Scalar, WriteGuard};

/// An operation on packed operands of one dtype in which it computes: elements from the start of their buffers, all of one
/// shape and order.
///
/// It does what [`binary`](crate::binary) does, or nothing: where a run is refused, that function does the work, or says what is
/// wrong.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{BinaryOp, Packed};
///
/// let x = Buffer::from_vec(vec![1.0f32, 2.0, 3.0])?;
/// let y = Buffer::from_vec(vec![0.5f32; 3])?;
/// let done = Packed::find(BinaryOp::Add, DType::F32).is_some_and(|add| add.run_in_place(3, &x, &y));
/// assert!(done);
/// assert_eq!(x.read()?.slice::<f32>(), [1.5, 2.5, 3.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    pub(crate) kernel: &'static BinaryKernel,
    /// The dtype of both operands.
    pub(crate) dtype: DType,
}

impl Packed {
    /// The operation for operands of a dtype; none where it is not defined for them or computes in another dtype.
    #[inline]
    pub fn find(op: BinaryOp, dtype: DType) -> Option<Packed> {
        let loops = op::binary_loops(op, dtype, Level::current())?;
        let kernel = &loops.kernel;
        (loops.compute == dtype).then_some(Packed { kernel, dtype })
    }

    /// The loops that write over their first operand, where there are such and it is of the result's dtype.
    #[inline]
    pub(crate) fn in_place(self) -> (Option<RawKernel>, Option<RawKernel>) {
        if self.kernel.out == self.dtype {
            (self.kernel.zip_in_place, self.kernel.zip_scalar_in_place)
        } else {
            (None, None)
        }
    }

    /// The dtype of the result.
    #[inline]
    pub fn result(self) -> DType {
        self.kernel.out
    }

    /// Whether `n` elements of the operands and of the result are few enough for this way.
    #[inline]
    pub fn suits(self, n: usize) -> bool {
        // Three operands of the widest elements.
        n <= SMALL / (3 * size_of::<u64>())
    }

    /// Writes the results for the first `n` elements of two buffers to an opened one. False, with nothing written, where a
    /// buffer is too short or cannot be read, or there are too many elements.
    #[inline]
    pub fn run(self, n: usize, x: &Buffer, y: &Buffer, mut out: WriteGuard<'_>) -> bool {
        let (size, room) = (self.dtype.size(), self.kernel.out.size());
        if !self.suits(n) || n * size > x.len().min(y.len()) || n * room > out.buffer().len() {
            return false;
        }
        let dst = out.as_mut_ptr();
        let compute = |a, b| {
            // SAFETY: the buffers are open and hold `n` elements of the kernel's dtypes from their start, all aligned; `out` is open
            // for writing, so it is neither of those that are open for reading.
            unsafe { (self.kernel.zip)(n, dst, a, b, std::ptr::null()) };
        };
        // SAFETY: a kernel uses no buffers, and has few elements to go through.
        unsafe { reading(x, y, compute) }
    }

    /// [`run`](Self::run) for a result that has a buffer already; false also where it is one of the operands'.
    #[inline]
    pub fn run_into(self, n: usize, x: &Buffer, y: &Buffer, out: &Buffer) -> bool {
        let (size, room) = (self.dtype.size(), self.kernel.out.size());
        if !self.suits(n) || n * size > x.len().min(y.len()) || n * room > out.len() {
            return false;
        }
        let compute = |dst, a, b| {
            // SAFETY: as in `run`; the buffer that is open for writing is neither of the others.
            unsafe { (self.kernel.zip)(n, dst, a, b, std::ptr::null()) };
        };
        // SAFETY: as in `run`.
        unsafe { writing_apart(out, x, y, compute) }
    }

    /// Writes the results for the first `n` elements of two buffers over those of the first. False, with nothing written, as
    /// for [`run`](Self::run), and where the result has another dtype or both are one buffer.
    #[inline]
    pub fn run_in_place(self, n: usize, x: &Buffer, y: &Buffer) -> bool {
        let Some(kernel) = self.in_place().0 else {
            return false;
        };
        if !self.suits(n) || n * self.dtype.size() > x.len().min(y.len()) {
            return false;
        }
        let compute = |dst: *mut u8, b| {
            // SAFETY: both buffers are open and hold `n` elements of the kernel's dtype from their start, aligned; they are two
            // buffers, and the in-place form reads its first operand through the destination.
            unsafe { kernel(n, dst, dst, b, std::ptr::null()) };
        };
        // SAFETY: as in `run`.
        unsafe { writing_over(x, y, compute) }
    }
}

/// A [`Packed`] operation with a number on the right.
#[derive(Clone, Copy, Debug)]
pub struct PackedNumber {
    operation: Packed,
    /// The number's bytes, from the start.
    word: u64,
}

impl PackedNumber {
    /// The operation for an array of a dtype and a number; none where it is not defined for them or computes in another dtype,
    /// the number does not fit, or there is a better way than to go from element to element.
    // Not moved, which would wait for what was just written.
    #[inline(always)]
    pub fn find(op: BinaryOp, dtype: DType, number: Scalar) -> Option<PackedNumber> {
        let plain = dtype.promote_scalar(number.kind()) == dtype && op != BinaryOp::Pow;
        if !plain || !scalar_fits(number, dtype) {
            return None;
        }
        let operation = Packed::find(op, dtype)?;
        let word = scalar_word(number, dtype);
        Some(PackedNumber { operation, word })
    }

    /// The operation without its number.
    #[inline]
    pub fn operation(self) -> Packed {
        self.operation
    }

    /// As [`Packed::run`]; false also where there is no loop for numbers.
    #[inline]
    pub fn run(&self, n: usize, x: &Buffer, mut out: WriteGuard<'_>) -> bool {
        let Packed { kernel, dtype } = self.operation;
        let fits = n * dtype.size() <= x.len() && n * kernel.out.size() <= out.buffer().len();
        let (Some(form), true) = (kernel.zip_scalar, fits && self.operation.suits(n)) else {
            return false;
        };
        let (dst, number) = (out.as_mut_ptr(), std::ptr::from_ref(&self.word).cast());
        let compute = |a, _| {
            // SAFETY: both buffers are open and hold `n` elements of the kernel's dtypes from their start, aligned; `out` is open for
            // writing, so it is not the one that is read; the number is one element.
            unsafe { form(n, dst, a, number, std::ptr::null()) };
        };
        // SAFETY: a kernel uses no buffers, and has few elements to go through.
        unsafe { reading(x, x, compute) }
    }

    /// As [`Packed::run_into`].
    #[inline]
    pub fn run_into(&self, n: usize, x: &Buffer, out: &Buffer) -> bool {
        let Packed { kernel, dtype } = self.operation;
        let fits = n * dtype.size() <= x.len() && n * kernel.out.size() <= out.len();
        let (Some(form), true) = (kernel.zip_scalar, fits && self.operation.suits(n)) else {
            return false;
        };
        let number = std::ptr::from_ref(&self.word).cast();
        let compute = |dst, a, _| {
            // SAFETY: as above; the buffer that is open for writing is not the one that is read.
            unsafe { form(n, dst, a, number, std::ptr::null()) };
        };
        // SAFETY: as in `run`.
        unsafe { writing_apart(out, x, x, compute) }
    }

    /// As [`Packed::run_in_place`].
    #[inline]
    pub fn run_in_place(&self, n: usize, x: &Buffer) -> bool {
        let dtype = self.operation.dtype;
        let fits = n * dtype.size() <= x.len() && self.operation.suits(n);
        let (Some(form), true) = (self.operation.in_place().1, fits) else {
            return false;
        };
        let number = std::ptr::from_ref(&self.word).cast();
        let compute = |dst: *mut u8| {
            // SAFETY: as above; the in-place form reads its first operand through the destination.
            unsafe { form(n, dst, dst, number, std::ptr::null()) };
        };
        // SAFETY: as in `run`.
        unsafe { writing(x, compute) }
    }
}
