//! Products with a single column: dot products of the left matrix's rows, whose lanes are joined for sixteen rows together.
#![expect(unsafe_code, reason = "operands are raw pointers, loaded under masks")]
#![expect(
    clippy::needless_range_loop,
    reason = "the compiler keeps arrays in registers where loops index them"
)]

use crate::across::{FEW, HALF, Halves, Lines, across_rows, halved, spill};
use crate::gemm_register::Register;
use crate::gemm_store::finish;
use crate::gemm_tile::Job;
use crate::isa::Fused;
use crate::numeric::Compute;
use crate::stream::LINE;
use crate::transpose::Sheet;
use std::mem::MaybeUninit;

/// The dot products of all rows of the left operand with one column.
///
/// # Safety
/// As [`Job`], on a machine with the instruction set of `R`; elements of a row lie one after the other, and so do those of the column.
#[inline(always)]
pub(crate) unsafe fn product<R: Register>(job: &Job<R::Item>) {
    if job.k <= SHORT && job.m >= MANY {
        if is_wide::<R>() {
            // SAFETY: the caller vouches for all of it.
            unsafe { columns::<R>(job) };
        } else {
            // SAFETY: as above.
            unsafe { one_by_one::<R>(job) };
        }
        return;
    }
    let mut row = 0;
    // Narrower registers have fewer lanes to join, and are not worth the code.
    while is_wide::<R>() && job.m - row >= FEW {
        let mut lanes: Halves<R::Item> = Lines([[R::Item::ZERO; HALF]; FEW]);
        for (quad, lanes) in lanes.0.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            // SAFETY: these are rows of the job.
            *lanes = unsafe { rows::<R, 4, 2>(job, row + 4 * quad) };
        }
        if is_gathered::<R::Item>() {
            std::hint::black_box(&mut lanes);
        }
        // Every register has fused multiply-adds, and so the shuffles of AVX2.
        let sums = across_rows::<Fused, _>(&lanes, |left, right| left.add(right));
        for (row, sum) in (row..).zip(sums) {
            // SAFETY: as above.
            unsafe { put::<R>(job, row, sum) };
        }
        row += FEW;
    }
    while job.m - row >= 4 {
        // SAFETY: as above.
        let lanes = unsafe { rows::<R, 4, 2>(job, row) };
        for (row, lanes) in (row..).zip(lanes) {
            // SAFETY: as above.
            unsafe { put::<R>(job, row, joined(lanes)) };
        }
        row += 4;
    }
    while job.m > row {
        // SAFETY: as above.
        let [lanes] = unsafe { rows::<R, 1, 8>(job, row) };
        // SAFETY: as above.
        unsafe { put::<R>(job, row, joined(lanes)) };
        row += 1;
    }
}

/// Elements of a row up to which many rows are multiplied column by column.
const SHORT: usize = 8;
/// Rows from which on their columns are worth a copy.
const MANY: usize = 32;
/// Elements that are copied at a time: they stay in L1.
const ROOM: usize = 2048;

/// The same for short rows, which fill a register badly and are joined for longer than they are multiplied: their columns are copied
/// to contiguous runs, of which multiples are added.
///
/// # Safety
/// As [`product`]; there are at most [`SHORT`] steps.
#[inline(always)]
unsafe fn columns<R: Register>(job: &Job<R::Item>) {
    let mut room = MaybeUninit::<[R::Item; ROOM]>::uninit();
    let room = room.as_mut_ptr().cast::<R::Item>();
    let most = ROOM / job.k / R::LANES * R::LANES;
    let down = Job {
        out_column: job.out_row,
        ..*job
    };
    for first in (0..job.m).step_by(most) {
        let count = most.min(job.m - first);
        let sheet = Sheet {
            x: job.a.wrapping_offset(first as isize * job.a_row).cast(),
            out: room.cast(),
            size: size_of::<R::Item>(),
            rows: count,
            columns: job.k,
            x_steps: [job.a_row, 1],
            out_steps: [1, count as isize],
            stream: false,
        };
        // SAFETY: these are rows of the job, and the room has place for them.
        unsafe { sheet.run() };
        for at in (0..count).step_by(R::LANES) {
            let lanes = (count - at).min(R::LANES);
            // SAFETY: the caller vouches for the instruction set, here and below.
            let mask = unsafe { R::mask(lanes) };
            // SAFETY: as above.
            let mut sum = unsafe { R::splat(R::Item::ZERO) };
            for step in 0..job.k {
                // SAFETY: the step is the job's.
                let factor = unsafe { *job.b.wrapping_add(step) };
                // SAFETY: as above.
                let factor = unsafe { R::splat(factor) };
                // SAFETY: the lanes of the mask have been copied.
                let values = unsafe { R::load(room.wrapping_add(step * count + at), mask) };
                // SAFETY: as above.
                sum = unsafe { values.mul_add(factor, sum) };
            }
            let to = job.out.wrapping_offset((first + at) as isize * job.out_row);
            // SAFETY: the rows are the job's.
            unsafe { finish(&down, job.blend, sum, to, mask, lanes) };
        }
    }
}

/// The same without vectors, whose columns narrower registers would take longer to copy: the processor multiplies several rows at a
/// time by itself.
///
/// # Safety
/// As [`product`].
#[inline(always)]
unsafe fn one_by_one<R: Register>(job: &Job<R::Item>) {
    for row in 0..job.m {
        let line = job.a.wrapping_offset(row as isize * job.a_row);
        let mut sum = R::Item::ZERO;
        for step in 0..job.k {
            // SAFETY: row and step are the job's.
            let value = unsafe { *line.wrapping_add(step) };
            // SAFETY: as above.
            let factor = unsafe { *job.b.wrapping_add(step) };
            // SAFETY: the caller vouches for the instruction set.
            sum = unsafe { R::fused(value, factor, sum) };
        }
        // SAFETY: the row is the job's.
        unsafe { put::<R>(job, row, sum) };
    }
}

/// Whether a register is a cache line.
const fn is_wide<R: Register>() -> bool {
    R::LANES * size_of::<R::Item>() == LINE
}

/// Whether lanes have to go through memory before they are joined: of four bytes the compiler would else gather them one by one.
const fn is_gathered<C>() -> bool {
    size_of::<C>() == size_of::<f32>()
}

/// The lanes of one row, joined as [`across_rows`] joins them.
#[inline(always)]
fn joined<C: Compute>(lanes: [C; HALF]) -> C {
    let four: [C; HALF / 2] = halved(&lanes, |left, right| left.add(right));
    let two: [C; HALF / 4] = halved(&four, |left, right| left.add(right));
    two[0].add(two[1])
}

/// Puts a dot product to its row of the destination.
///
/// # Safety
/// As [`product`]; the row must be the job's.
#[inline(always)]
unsafe fn put<R: Register>(job: &Job<R::Item>, row: usize, sum: R::Item) {
    let to = job.out.wrapping_offset(row as isize * job.out_row);
    // SAFETY: the row is the job's, and nobody else holds the destination.
    job.blend.apply(unsafe { &mut *to }, sum);
}

/// Dot products of `M` rows, `U` registers of each at a time, down to eight lanes each.
///
/// # Safety
/// As [`product`]; the rows `row..row + M` must be the job's.
#[inline(always)]
unsafe fn rows<R: Register, const M: usize, const U: usize>(
    job: &Job<R::Item>,
    row: usize,
) -> [[R::Item; HALF]; M] {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let full = unsafe { R::mask(R::LANES) };
    // SAFETY: as above.
    let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; U]; M];
    let lines: [*const R::Item; M] =
        std::array::from_fn(|i| job.a.wrapping_offset((row + i) as isize * job.a_row));
    let whole = job.k / (U * R::LANES) * (U * R::LANES);
    for at in (0..whole).step_by(U * R::LANES) {
        for u in 0..U {
            let at = at + u * R::LANES;
            // SAFETY: these are steps of the job.
            let x = unsafe { R::load(job.b.wrapping_add(at), full) };
            for (line, sums) in lines.iter().zip(&mut sums) {
                // SAFETY: as above.
                let value = unsafe { R::load(line.wrapping_add(at), full) };
                // SAFETY: as above.
                sums[u] = unsafe { value.mul_add(x, sums[u]) };
            }
        }
    }
    for at in (whole..job.k).step_by(R::LANES) {
        // SAFETY: as above.
        let mask = unsafe { R::mask((job.k - at).min(R::LANES)) };
        // SAFETY: as above.
        let x = unsafe { R::load(job.b.wrapping_add(at), mask) };
        for (line, sums) in lines.iter().zip(&mut sums) {
            // SAFETY: as above.
            let value = unsafe { R::load(line.wrapping_add(at), mask) };
            // SAFETY: as above.
            sums[0] = unsafe { value.mul_add(x, sums[0]) };
        }
    }
    // A loop: what a closure does is not compiled for the instruction set.
    let mut halves = [[R::Item::ZERO; HALF]; M];
    for i in 0..M {
        let mut lanes = [R::Item::ZERO; FEW];
        for u in 0..U {
            let mut part = [R::Item::ZERO; FEW];
            // SAFETY: no register has more lanes.
            unsafe { sums[i][u].store(part.as_mut_ptr(), full) };
            for (lane, part) in lanes.iter_mut().zip(part) {
                *lane = lane.add(part);
            }
        }
        if is_gathered::<R::Item>() {
            lanes = spill(lanes);
        }
        halves[i] = halved(&lanes, |left, right| left.add(right));
    }
    halves
}
