//! Functions of 16-bit floats, looked up: there are 65,536 such numbers, so that all results of a function are a table of 128 KiB.
//!
//! The function's own loop makes the table, and so a result is the same whether it was computed or looked up. A look-up takes
//! 0.3 ns by one thread on an Intel processor of model 106, 0.4 where the numbers are any of 65,536, while computing takes 0.4
//! (`exp`) to 1.2 (`asinh`): the numbers of one array are seldom so different that their part of the table leaves the L1 cache.
//! The call that brings the elements asked of a function on a dtype to 65,536 makes the table, which pays from then on and is kept.
#![expect(
    unsafe_code,
    reason = "the erased loop rebuilds slices from the pointers a frame hands it"
)]

use crate::closure;
use crate::elementwise::unary_by;
use crate::error::Result;
use crate::isa::{Arch, Isa, Kernel, Level};
use crate::known::Loops;
use crate::op::UnaryOp;
use crate::operand::{Input, Operand, Output};
use crate::table::UnaryKernel;
use lodestride_buffer::{Buffer, DType};
use lodestride_shape::{Layout, Order};
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many numbers of 16 bits there are.
const VALUES: usize = 1 << 16;

/// The fewest elements worth the cache lines of a table that others may have pushed out.
const FEWEST: usize = 512;

type Table = [u16; VALUES];

/// The table of a function on a dtype and an instruction set, and how many elements were asked for without it.
struct Place {
    seen: AtomicUsize,
    table: OnceLock<Box<Table>>,
}

static PLACES: [[[Place; Isa::ALL.len()]; 2]; UnaryOp::ALL.len()] = [const {
    [const {
        [const {
            Place {
                seen: AtomicUsize::new(0),
                table: OnceLock::new(),
            }
        }; Isa::ALL.len()]
    }; 2]
}; UnaryOp::ALL.len()];

/// Looks `op` of `x` up, where it is a function of many instructions on floats of 16 bits, and often asked for. Gives false, having
/// done nothing, where not.
///
/// # Errors
/// As [`unary`](crate::unary).
#[inline]
pub(crate) fn looked_up<'a>(
    op: UnaryOp,
    loops: &Loops<UnaryKernel>,
    x: &Operand<'a>,
    out: &mut Output<'a>,
) -> Result<bool> {
    // Told apart in the caller's code: other dtypes do without a call.
    match x.dtype() {
        DType::F16 => half_looked_up(op, loops, 0, x, out),
        DType::BF16 => half_looked_up(op, loops, 1, x, out),
        _ => Ok(false),
    }
}

/// [`looked_up`] of the `half`-th dtype of 16 bits.
#[inline(never)]
fn half_looked_up<'a>(
    op: UnaryOp,
    loops: &Loops<UnaryKernel>,
    half: usize,
    x: &Operand<'a>,
    out: &mut Output<'a>,
) -> Result<bool> {
    let n = x.elements();
    if n < FEWEST || out.operand().dtype() != x.dtype() {
        return Ok(false);
    }
    let place = &PLACES[op as usize][half][Level::current().isa() as usize];
    let table = match place.table.get() {
        Some(table) => table,
        None => {
            let seen = place.seen.fetch_add(n, Ordering::Relaxed);
            if seen >= VALUES || seen.saturating_add(n) < VALUES {
                return Ok(false);
            }
            let Some(table) = make(op.name(), loops, x.dtype()) else {
                return Ok(false);
            };
            place.table.get_or_init(|| table)
        }
    };
    // Vector instructions take longer: they gather by four bytes, or are taken apart.
    let kernel = Level::baseline_kernel::<LookUp>();
    let table = std::ptr::from_ref::<Table>(table).cast();
    closure::run(op.name(), (kernel, true), table, &[*x], out)?;
    Ok(true)
}

/// The results for all numbers of `dtype`, by their bits; nothing where there is no memory for them.
fn make(op: &'static str, loops: &Loops<UnaryKernel>, dtype: DType) -> Option<Box<Table>> {
    let numbers = Buffer::from_vec((0..=u16::MAX).collect()).ok()?;
    let layout = Layout::contiguous([VALUES], Order::C).ok()?;
    let numbers = Operand::new(&numbers, &layout, dtype).ok()?;
    let (x, mut out) = (Input::Array(numbers), Output::from(numbers));
    unary_by(op, &loops.kernel, loops.compute, &x, &mut out).ok()?;
    drop(out);
    let results = numbers.buffer().read().ok()?;
    Box::<[u16]>::from(results.slice::<u16>()).try_into().ok()
}

/// The loop around a table: the results for numbers of two bytes.
struct LookUp;

impl Kernel for LookUp {
    #[inline(always)]
    unsafe fn run<A: Arch>(
        n: usize,
        dst: *mut u8,
        record: *const u8,
        table: *const u8,
        _c: *const u8,
    ) {
        // SAFETY: `dst` takes `n` elements of two bytes (contract of `Kernel::run`).
        let dst = unsafe { slice::from_raw_parts_mut(dst.cast::<u16>(), n) };
        // SAFETY: a frame's record has a pointer per operand.
        let x = unsafe { record.cast::<*const u8>().read() };
        // SAFETY: it holds `n` elements of two bytes, see `looked_up` (contract of `Kernel::run`).
        let x = unsafe { slice::from_raw_parts(x.cast::<u16>(), n) };
        // SAFETY: `looked_up` has put the table there, which is kept.
        let table = unsafe { &*table.cast::<Table>() };
        let (words, last) = dst.as_chunks_mut::<4>();
        let (numbers, rest) = x.as_chunks::<4>();
        for (word, x) in words.iter_mut().zip(numbers) {
            // One load and one store for four, since a core does two loads a cycle.
            let mut results = [0; 4];
            for (result, &x) in results.iter_mut().zip(x) {
                *result = table[usize::from(x)];
            }
            *word = results;
        }
        for (d, &x) in last.iter_mut().zip(rest) {
            *d = table[usize::from(x)];
        }
    }
}
