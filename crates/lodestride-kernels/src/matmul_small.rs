//! The fast path of small products: two matrices of one float dtype, given to the tile kernels where they lie.
//!
//! A product of 4 by 4 is 64 multiplications; what leads up to them costs more than they do, so there is as little of it as
//! the rules of memory allow.
#![expect(
    unsafe_code,
    reason = "opened operands are handed to the tile kernels as pointers and steps"
)]

use lodestride_buffer::{Argument, Buffer, DType, WriteGuard};

use crate::error::Result;
use crate::gemm_choice::{is_columns, is_small, is_swept};
use crate::gemm_small::Blend;
use crate::gemm_tile::{Ahead, Job, Packed, TileFloat, Walk};
use crate::isa::{Isa, Level};
use crate::matmul::OP;
use crate::moments::{reading, writing_apart};
use crate::numeric::Compute;
use crate::operand::{Operand, Output};

/// The product of two packed matrices of one float dtype: rows without gaps from the start of their buffers, few enough for the
/// product to take no longer than finding out how it is done.
///
/// It does what [`matmul`](crate::matmul()) does, by the same kernel, or nothing: where a run is refused, that function does the
/// work, or says what is wrong.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::PackedProduct;
///
/// let a = Buffer::from_vec(vec![1.0f64, 2.0, 3.0, 4.0])?;
/// if let Some(product) = PackedProduct::find(DType::F64, [2, 2, 2]) {
///     let mut out = Buffer::recycled(32)?;
///     assert!(product.run(&a, &a, out.write_sole()?));
///     assert_eq!(out.read()?.slice::<f64>(), [7.0, 10.0, 15.0, 22.0]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PackedProduct {
    level: Level,
    /// `F32` or `F64`.
    dtype: DType,
    /// Invariant: none is 0, and the product of the three is at most [`FEW`].
    sizes: [usize; 3],
}

/// Multiply-adds up to which a product is done this way; those of larger ones take far longer than what is saved.
const FEW: usize = 16 * 16 * 16;

impl PackedProduct {
    /// The product of matrices of `[m, k]` and `[k, n]` elements of a dtype, `sizes` being `m`, `k` and `n`; none where another
    /// kernel is better.
    #[inline(always)]
    pub fn find(dtype: DType, sizes: [usize; 3]) -> Option<PackedProduct> {
        let [m, k, n] = sizes;
        let level = Level::current();
        let tiled = matches!(level.isa(), Isa::Avx2 | Isa::Avx512);
        let work = m.saturating_mul(k).saturating_mul(n);
        let float = matches!(dtype, DType::F32 | DType::F64);
        // The rows on the left lie one after the other, so that the size of an element does not matter.
        let swept = n > 1 && is_swept::<f32>(level.isa(), sizes, k.cast_signed(), n.cast_signed());
        let suits = tiled && float && (1..=FEW).contains(&work) && !swept;
        suits.then_some(PackedProduct {
            level,
            dtype,
            sizes,
        })
    }

    /// Writes the product of the matrices in two buffers to an opened one. False, with nothing written, where a buffer is too
    /// short or cannot be read.
    #[inline]
    pub fn run(self, a: &Buffer, b: &Buffer, mut out: WriteGuard<'_>) -> bool {
        if !self.is_within(a, b, out.buffer()) {
            return false;
        }
        let to = out.as_mut_ptr();
        let compute = |x, y| {
            // SAFETY: the buffers are open and hold as many elements of the dtype as the matrices have, aligned; `out` is open for
            // writing, so it is neither of those that are open for reading.
            unsafe { self.compute(to, x, y) };
        };
        // SAFETY: the tile kernels use no buffers, and multiply little.
        unsafe { reading(a, b, compute) }
    }

    /// [`run`](Self::run) for a product that has a buffer already; false also where it is one of the operands'.
    #[inline]
    pub fn run_into(self, a: &Buffer, b: &Buffer, out: &Buffer) -> bool {
        if !self.is_within(a, b, out) {
            return false;
        }
        let compute = |to, x, y| {
            // SAFETY: as in `run`; the buffer that is open for writing is neither of the others.
            unsafe { self.compute(to, x, y) };
        };
        // SAFETY: as in `run`.
        unsafe { writing_apart(out, a, b, compute) }
    }

    /// Whether the buffers hold the elements of the matrices.
    #[inline]
    fn is_within(self, a: &Buffer, b: &Buffer, out: &Buffer) -> bool {
        let ([m, k, n], size) = (self.sizes, self.dtype.size());
        m * k * size <= a.len() && k * n * size <= b.len() && m * n * size <= out.len()
    }

    /// # Safety
    /// As [`multiply`](Self::multiply) of the dtype, of which they hold elements that are aligned; no size is 0.
    #[inline]
    unsafe fn compute(self, to: *mut u8, x: *const u8, y: *const u8) {
        match self.dtype {
            // SAFETY: the caller's contract; `find` saw an instruction set with tiles.
            DType::F32 => unsafe { self.multiply::<f32>(to.cast(), x.cast(), y.cast()) },
            // SAFETY: as above; there is no third dtype.
            _ => unsafe { self.multiply::<f64>(to.cast(), x.cast(), y.cast()) },
        }
    }

    /// # Safety
    /// The pointers are valid for the elements of the matrices, `out` for writes; it overlaps neither input, and the level has
    /// tiles.
    #[inline]
    unsafe fn multiply<C: TileFloat + Compute>(self, out: *mut C, a: *const C, b: *const C) {
        let [m, k, n] = self.sizes;
        let packed = Packed {
            a,
            b,
            out,
            count: 1,
            steps: [0; 3],
        };
        // SAFETY: the caller vouches for the pointers.
        if n > 1 && unsafe { C::run_narrow(self.level, self.sizes, packed) } {
            return;
        }
        // Sizes of matrices whose elements are few fit.
        let (inner, columns) = (k.cast_signed(), n.cast_signed());
        let (alpha, beta) = (C::ONE, C::ZERO);
        let job = Job {
            a,
            b,
            out,
            m,
            n,
            k,
            a_row: inner,
            a_column: 1,
            b_row: columns,
            b_column: 1,
            out_row: columns,
            out_column: 1,
            blend: Blend { alpha, beta },
            room: std::ptr::null_mut(),
            ahead: Ahead::NOTHING,
        };
        let walk = if n == 1 { Walk::Dots } else { Walk::Tiles };
        // SAFETY: the caller vouches for all of it; neither walk needs room, and rows on both sides are contiguous, as is a
        // right matrix of a single column.
        unsafe { C::run(self.level, &job, walk) };
    }
}

/// `out = alpha * a b + beta * out` for operands of rank 2 whose shapes fit and whose dtype is that of `C`. Gives false,
/// having done nothing, where another kernel is better, or `out` shares its buffer with an operand.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access).
#[inline]
pub(crate) fn product<C: TileFloat + Compute>(
    a: &Operand<'_>,
    b: &Operand<'_>,
    output: &mut Output<'_>,
    blend: Blend<C>,
) -> Result<bool> {
    let level = Level::current();
    if !matches!(level.isa(), Isa::Avx2 | Isa::Avx512) {
        return Ok(false);
    }
    let (out, door) = output.parts();
    let (&[m, k], &[_, n]) = (&a.shape()[..], &b.shape()[..]) else {
        return Ok(false);
    };
    let (&[a_row, a_column], &[b_row, b_column], &[out_row, out_column]) = (
        &a.layout().strides()[..],
        &b.layout().strides()[..],
        &out.layout().strides()[..],
    ) else {
        return Ok(false);
    };
    let thin = n == 1 || is_swept::<C>(level.isa(), [m, k, n], a_row, b_row);
    let work = (m * n).saturating_mul(k);
    let is_small = work > 0 && is_small(work, k, b_row);
    let apart = !a.buffer().same_block(out.buffer()) && !b.buffer().same_block(out.buffer());
    // A factor of zero makes zeros of NaN too; that is not multiplying.
    let are_columns = is_columns([m, k, n], a_column, b_row);
    let lies = b_column == 1 || are_columns;
    if thin || !is_small || !lies || !apart || blend.alpha == C::ZERO {
        return Ok(false);
    }
    let to = door.open(OP)?.as_mut_ptr().cast::<C>();
    let left = a.read(OP, Argument::X)?;
    // One guard opens a buffer for both.
    let right = if b.buffer().same_block(a.buffer()) {
        None
    } else {
        Some(b.read(OP, Argument::Y)?)
    };
    let right = right.as_ref().unwrap_or(&left);
    let job = Job {
        a: left.as_ptr().cast::<C>().wrapping_add(a.layout().offset()),
        b: right.as_ptr().cast::<C>().wrapping_add(b.layout().offset()),
        out: to.wrapping_add(out.layout().offset()),
        m,
        n,
        k,
        a_row,
        a_column,
        b_row,
        b_column,
        out_row,
        out_column,
        blend,
        room: std::ptr::null_mut(),
        ahead: Ahead::NOTHING,
    };
    let walk = if are_columns { Walk::Dots } else { Walk::Tiles };
    // SAFETY: an operand's layout reaches no element outside its buffer, and the guards that open the buffers live until the
    // end of this function; the caller has checked that the shapes fit, the dtype, and that positions of `out` are distinct;
    // `out` is in another buffer than `a` and `b`; the rows of `b` are contiguous, which is what tiles ask for, or else the
    // matrices lie as dots ask for; the level has tiles.
    unsafe { C::run(level, &job, walk) };
    Ok(true)
}
