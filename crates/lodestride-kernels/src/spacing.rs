//! Numbers at equal distances, each computed from its index alone.
#![expect(
    unsafe_code,
    reason = "numbers in another dtype go through a kernel over erased pointers"
)]

use std::ptr;

use lodestride_buffer::{DType, WriteGuard};

use crate::isa::{Arch, Level, Task};
use crate::op::binary_op;
use crate::table::ZipBlocks;
use crate::{spread, table_moves, threads};

/// How a number follows from its index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// `first + i * step`.
    Step {
        /// The number at index 0.
        first: f64,
        /// How far it is to the next one.
        step: f64,
    },
    /// `first + (last - first) * (i / gaps)`, and `last` itself at index `gaps`.
    Between {
        /// The number at index 0.
        first: f64,
        /// The number at index `gaps`.
        last: f64,
        /// How many steps lie between them: at least one.
        gaps: usize,
    },
}

impl Spacing {
    /// Writes the numbers of the indices from `start` on, in vectors of the best instruction set of the machine; which one it is
    /// does not change them.
    ///
    /// ```
    /// use lodestride_kernels::Spacing;
    ///
    /// let mut numbers = [0.0; 3];
    /// Spacing::Step { first: 1.0, step: 0.5 }.fill(2, &mut numbers);
    /// assert_eq!(numbers, [2.0, 2.5, 3.0]);
    /// Spacing::Between { first: 0.0, last: 1.0, gaps: 4 }.fill(2, &mut numbers);
    /// assert_eq!(numbers, [0.5, 0.75, 1.0]);
    /// ```
    pub fn fill(self, start: usize, out: &mut [f64]) {
        let level = Level::current();
        match self {
            Self::Step { first, step } => level.run(Step {
                start,
                out,
                first,
                step,
            }),
            Self::Between { first, last, gaps } => {
                let (width, count) = (last - first, gaps as f64);
                if count < EXACT {
                    level.run(Between {
                        start,
                        out: &mut *out,
                        first,
                        width,
                        gaps: count,
                    });
                } else {
                    each(start, out, |i| first + width * (i / count));
                }
                // Not a rounded sum.
                if let Some(end) = gaps.checked_sub(start).and_then(|end| out.get_mut(end)) {
                    *end = last;
                }
            }
        }
    }
}

/// Indices that are counted in 32 bits, which every instruction set converts in vectors.
const COUNTED: usize = 1 << 16;

struct Step<'a> {
    start: usize,
    out: &'a mut [f64],
    first: f64,
    step: f64,
}

impl Task for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { first, step, .. } = self;
        each(self.start, self.out, |i| first + i * step);
    }
}

/// Calls a function with each index.
#[inline(always)]
fn each(start: usize, out: &mut [f64], number: impl Fn(f64) -> f64) {
    for (part, out) in out.chunks_mut(COUNTED).enumerate() {
        let start = (start + part * COUNTED) as f64;
        for (i, to) in (0i32..).zip(out) {
            *to = number(start + f64::from(i));
        }
    }
}

/// Divisors below have zeros at their end, as the rule below wants them.
const EXACT: f64 = (1_u64 << 52) as f64;

/// `gaps` is below [`EXACT`].
struct Between<'a> {
    start: usize,
    out: &'a mut [f64],
    first: f64,
    width: f64,
    gaps: f64,
}

impl Task for Between<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self {
            first, width, gaps, ..
        } = self;
        let reciprocal = 1.0 / gaps;
        each(self.start, self.out, |i| {
            if const { !A::FMA } {
                return first + width * (i / gaps);
            }
            // A quotient by the rounded reciprocal, and what is missing of it, which is exact, times that again is the rounded quotient
            // (Markstein, "Computation of elementary functions on the IBM RISC System/6000", 1990): a fifth of a division's time.
            let near = i * reciprocal;
            let rest = (-near).mul_add(gaps, i);
            first + width * rest.mul_add(reciprocal, near)
        });
    }
}

/// Writes the numbers of the indices from one on.
pub type Numbers<'n> = dyn Fn(usize, &mut [f64]) + Sync + 'n;

/// Numbers that are computed before they are converted: a tile that stays in the first-level cache. A thread takes so many tiles at once.
const TILE: usize = 1024;
const SHARE: usize = 16 * TILE;

/// Writes numbers that follow from their index to the first elements of an opened buffer, up to `count` of a dtype, on several threads where
/// that pays. Each is rounded once.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Spacing, write_numbers};
///
/// let buffer = Buffer::zeroed(3 * 4)?;
/// let halves = Spacing::Step { first: 0.0, step: 0.5 };
/// write_numbers(&mut buffer.write()?, DType::F32, 3, &|start, out| halves.fill(start, out));
/// assert_eq!(buffer.read()?.slice::<f32>(), [0.0, 0.5, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_numbers(out: &mut WriteGuard<'_>, dtype: DType, count: usize, numbers: &Numbers<'_>) {
    let share = |whole: usize| {
        let is_shared = threads::are_worth(whole * size_of::<f64>(), true);
        if is_shared { SHARE } else { whole.max(1) }
    };
    if dtype == DType::F64 {
        let out = out.slice_mut::<f64>();
        let count = count.min(out.len());
        let share = share(count);
        return spread::for_each_chunk(&mut out[..count], share, |index, out| {
            numbers(index * share, out);
        });
    }
    let (size, bytes) = (dtype.size(), out.bytes_mut());
    let count = count.min(bytes.len() / size);
    let share = share(count);
    let cast = table_moves::cast_kernel(DType::F64, dtype, Level::current());
    spread::for_each_chunk(&mut bytes[..count * size], share * size, |index, out| {
        let mut tile = [0.0; TILE];
        for (part, out) in out.chunks_mut(TILE * size).enumerate() {
            let tile = &mut tile[..out.len() / size];
            numbers(index * share + part * TILE, tile);
            let (to, from) = (out.as_mut_ptr(), tile.as_ptr().cast());
            // SAFETY: so many numbers are in the tile, and so many elements of the dtype in the bytes, which begin whole elements after
            // the start of an opened buffer and are borrowed uniquely.
            unsafe { cast(tile.len(), to, from, ptr::null(), ptr::null()) };
        }
    });
}

/// Writes the powers of a base over their exponents, by the loop of [`BinaryOp::Pow`](crate::BinaryOp::Pow).
///
/// ```
/// use lodestride_kernels::write_powers;
///
/// let mut numbers = [-1.0, 0.0, 2.0];
/// write_powers(10.0, &mut numbers);
/// assert_eq!(numbers, [0.1, 1.0, 100.0]);
/// ```
pub fn write_powers(base: f64, exponents: &mut [f64]) {
    let pow = Level::current().kernel::<ZipBlocks<binary_op::Pow, f64>>();
    let bases = [base; TILE];
    let mut tile = [0.0; TILE];
    for out in exponents.chunks_mut(TILE) {
        let tile = &mut tile[..out.len()];
        tile.copy_from_slice(out);
        let (to, left) = (out.as_mut_ptr().cast(), bases.as_ptr().cast());
        // SAFETY: the output, which is borrowed uniquely, and the exponents have so many elements of f64, and there are at least as
        // many bases; the three are apart.
        unsafe { pow(out.len(), to, left, tile.as_ptr().cast(), ptr::null()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_quotients() {
        let mut wrong = Vec::new();
        let mut state = 1_u64;
        let mut number = |bits: u32| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as usize >> (53 - bits)
        };
        for turn in 0..20_000 {
            let gaps = number(turn % 53 + 1).max(1);
            let start = number(turn % 50 + 3) % gaps.saturating_mul(2);
            let mut found = [0.0; 9];
            let (first, last) = (0.0, 1.0);
            Spacing::Between { first, last, gaps }.fill(start, &mut found);
            let expected = (start..start + 9).map(|i| i as f64 / gaps as f64);
            if !expected.eq(found) {
                wrong.push(format!("{start} of {gaps}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn numbers_are_those_of_a_plain_loop_wherever_they_begin() {
        let (first, last) = (-3.7, 1e6 / 3.0);
        let mut wrong = Vec::new();
        for len in [0, 1, 2, 7, 64, 1000, COUNTED + 3] {
            for start in [0, 1, 5, 4096, (1 << 40) + 1] {
                for gaps in [1, 3, start + len.saturating_sub(1).max(1), start + len + 9] {
                    let mut found = vec![0.0; len];
                    Spacing::Between { first, last, gaps }.fill(start, &mut found);
                    let expected = (start..start + len).map(|i| match i {
                        _ if i == gaps => last,
                        _ => first + (last - first) * (i as f64 / gaps as f64),
                    });
                    if !expected.eq(found.iter().copied()) {
                        wrong.push(format!("{len} from {start} of {gaps}"));
                    }
                    Spacing::Step { first, step: 0.3 }.fill(start, &mut found);
                    if !(start..start + len)
                        .map(|i| first + i as f64 * 0.3)
                        .eq(found)
                    {
                        wrong.push(format!("{len} steps from {start}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
