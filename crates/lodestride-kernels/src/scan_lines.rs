//! What accumulates in a scan, and how a dense line of it is taken: in order, in segments, or in any groups.

use crate::isa::Arch;
use crate::numeric::Compute;
use crate::stream::prefetch_after;

/// Elements of a segment of a long line.
const SEGMENT: usize = 64;
/// Segments, or short lines, that run side by side.
pub(crate) const SIDE: usize = 8;
/// Elements that lines side by side take in turn.
const FEW: usize = 4;
/// Elements of the segments that run side by side.
pub(crate) const BLOCK: usize = SIDE * SEGMENT;

/// What accumulates.
pub(crate) trait Step<C: Compute>: Copy {
    const START: C;
    /// Whether elements may be grouped.
    const IS_GROUPED: bool;
    /// Whether groups of any kind give the same, bit for bit.
    const IS_FREE: bool = C::IS_WHOLE;
    /// Whether narrow rows and short lines have a way of their own.
    const HAS_STRIPS: bool = true;
    fn step(running: C, value: C) -> C;
    /// The same for what is not NaN.
    #[inline(always)]
    fn quick(running: C, value: C) -> C {
        Self::step(running, value)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum;

impl<C: Compute> Step<C> for Sum {
    const START: C = C::ZERO;
    const IS_GROUPED: bool = true;
    #[inline(always)]
    fn step(running: C, value: C) -> C {
        running.add(value)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Product;

impl<C: Compute> Step<C> for Product {
    const START: C = C::ONE;
    // A product of a segment can overflow where the product from the left does not.
    const IS_GROUPED: bool = C::IS_WHOLE;
    // Seldom asked for: not worth the code.
    const HAS_STRIPS: bool = false;
    #[inline(always)]
    fn step(running: C, value: C) -> C {
        running.mul(value)
    }
}

/// The largest so far, or with `MIN` the smallest: the first of equal ones, the last NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extreme<const MIN: bool>;

impl<C: Compute, const MIN: bool> Step<C> for Extreme<MIN> {
    const START: C = if MIN { C::HIGHEST } else { C::LOWEST };
    const IS_GROUPED: bool = true;
    const IS_FREE: bool = true;
    // Seldom asked for, and comparisons are long.
    const HAS_STRIPS: bool = false;
    #[inline(always)]
    fn step(running: C, value: C) -> C {
        if MIN {
            running.smaller(value)
        } else {
            running.larger(value)
        }
    }
    #[inline(always)]
    fn quick(running: C, value: C) -> C {
        let is_next = if MIN {
            value < running
        } else {
            value > running
        };
        if is_next { value } else { running }
    }
}

/// A line from left to right; gives the last value.
#[inline(always)]
pub(crate) fn in_order<C: Compute, S: Step<C>>(x: &[C], out: &mut [C], mut running: C) -> C {
    for (out, &value) in out.iter_mut().zip(x) {
        running = S::step(running, value);
        *out = running;
    }
    running
}

/// A line whose elements may be grouped at will; gives the last value.
#[inline(always)]
pub(crate) fn free_line<C: Compute, S: Step<C>>(x: &[C], out: &mut [C], mut running: C) -> C {
    for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        prefetch_after(x);
        if has_nan(x) {
            running = in_order::<C, S>(x, out, running);
            continue;
        }
        let (chunks, rest) = x.as_chunks::<8>();
        let (out_chunks, out_rest) = out.as_chunks_mut::<8>();
        for (out, &chunk) in out_chunks.iter_mut().zip(chunks) {
            // One step of eight waits for those before.
            let mut own = chunk;
            for at in 1..own.len() {
                own[at] = S::quick(own[at - 1], own[at]);
            }
            let next = S::quick(running, own[7]);
            for value in &mut own {
                *value = S::quick(running, *value);
            }
            *out = own;
            running = next;
        }
        running = in_order::<C, S>(rest, out_rest, running);
    }
    running
}

/// Whether some value is NaN, in lanes.
#[inline(always)]
fn has_nan<C: Compute>(x: &[C]) -> bool {
    let (chunks, rest) = x.as_chunks::<8>();
    let mut found = [C::ZERO; 8];
    for chunk in chunks {
        for (found, &value) in found.iter_mut().zip(chunk) {
            *found = if value.is_nan() { value } else { *found };
        }
    }
    found.iter().chain(rest).any(|value| value.is_nan())
}

/// Lines of equal length side by side; gives their last values.
#[inline(always)]
pub(crate) fn side_by_side<C: Compute, S: Step<C>, const N: usize>(
    x: [&[C]; N],
    mut out: [&mut [C]; N],
    len: usize,
) -> [C; N] {
    let mut running = [S::START; N];
    let whole = len / FEW * FEW;
    // A few elements of every line in turn: fewer checks of bounds, and no more registers than there are.
    for at in (0..whole).step_by(FEW) {
        for side in 0..N {
            let (x, out) = (&x[side][at..at + FEW], &mut out[side][at..at + FEW]);
            running[side] = in_order::<C, S>(x, out, running[side]);
        }
    }
    // The compiler is not to write the rest of a line so many times.
    let count = std::hint::black_box(N);
    let lines = x.iter().zip(&mut out).zip(&mut running).take(count);
    for ((x, out), running) in lines {
        *running = in_order::<C, S>(&x[whole..len], &mut out[whole..len], *running);
    }
    running
}

/// Block after block of segments; what is left is taken in order. Gives the last value. `near` says that the line was just
/// written.
#[inline(always)]
pub(crate) fn long_line<A: Arch, C: Compute, S: Step<C>>(
    x: &[C],
    out: &mut [C],
    mut running: C,
    near: bool,
) -> C {
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    let (out_blocks, out_rest) = out.as_chunks_mut::<BLOCK>();
    for (x, out) in blocks.iter().zip(out_blocks) {
        prefetch_after(x);
        let (xs, outs) = (x.as_chunks::<SEGMENT>().0, out.as_chunks_mut::<SEGMENT>().0);
        let mut ends = [S::START; SIDE];
        if size_of::<C>() > 4 && A::TUNED && near {
            let pairs = xs
                .as_chunks::<2>()
                .0
                .iter()
                .zip(outs.as_chunks_mut::<2>().0);
            for (([x, y], [out, more]), ends) in pairs.zip(ends.as_chunks_mut::<2>().0) {
                *ends = side_by_side::<C, S, 2>([x, y], [out, more], SEGMENT);
            }
        } else if size_of::<C>() > 4 || !A::TUNED {
            // Streams through one page, half a kilobyte apart, defeat the processor's prefetching: from memory, eight side by
            // side take three times as long, two at least twice.
            for ((x, out), end) in xs.iter().zip(&mut *outs).zip(&mut ends) {
                *end = in_order::<C, S>(x, out, S::START);
            }
        } else {
            let mut segments = outs.iter_mut();
            let sides =
                std::array::from_fn(|_| segments.next().map_or(&mut [][..], |s| &mut s[..]));
            let xs = std::array::from_fn(|side| &xs[side][..]);
            ends = side_by_side::<C, S, SIDE>(xs, sides, SEGMENT);
        }
        for (segment, end) in outs.iter_mut().zip(ends) {
            for value in segment.iter_mut() {
                *value = S::step(running, *value);
            }
            running = S::step(running, end);
        }
    }
    in_order::<C, S>(rest, out_rest, running)
}
