//! The gradient of a segment reduction: each row of the output spread back over its segment. Only a mean's division computes
//! anything, once for a segment; all else is rows that are moved.

use std::ops::Range;

use lodestride_buffer::{Argument, Element};

use crate::door;
use crate::elementwise;
use crate::error::{KernelError, Result};
use crate::isa::{Arch, Level, Task};
use crate::numeric::{ComputeFloat, ComputeKind};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::row_walk::Aside;
use crate::segment::{SegmentOp, with_rows};
use crate::segment_dense::{aside, dense_copy, onto_dense, stand_in};
use crate::segment_ranges::{RowRange, copy_ranges};
use crate::segment_repeat::broadcast;
use crate::segment_rows::{balanced, check_offsets, rows_of};
use crate::threads;

const OP: &str = "segment_reduce_gradient";

/// Writes the gradient of [`segment_reduce`](crate::segment_reduce) with respect to its input.
///
/// `dy` is `[segments, ..]`, `dx` `[rows, ..]`. Sum copies a segment's row of `dy` to all of its rows, mean and root divide
/// it first, first and last hand it to one row and zero to the others, and the extremes to the row named by `arg`, the
/// `arg_out` of the reduction. Nothing flows from an empty segment.
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, `arg` is missing for an extreme, a dtype or
/// shape does not fit, or a buffer cannot be accessed. Nothing is written then.
pub fn segment_reduce_gradient(
    op: SegmentOp,
    dy: Operand<'_>,
    offsets: &[usize],
    arg: Option<Operand<'_>>,
    dx: Operand<'_>,
) -> Result<()> {
    check_offsets(OP, offsets, rows_of(OP, dx)?)?;
    let wanted = with_rows(dx.shape(), offsets.len() - 1);
    dy.check_shape(OP, Argument::X, &wanted)?;
    door::check_output(OP, dx, dx.shape())?;
    if op.is_located() != arg.is_some() {
        return Err(KernelError::Count {
            op: OP,
            what: "inputs",
            expected: 1 + usize::from(op.is_located()),
            found: 1 + usize::from(arg.is_some()),
        });
    }
    if let Some(arg) = arg {
        door::check_integer(OP, arg)?;
        arg.check_shape(OP, Argument::Y, &wanted)?;
        return located(dy, offsets, arg, dx);
    }
    match op {
        SegmentOp::Mean | SegmentOp::Sqrt => {
            let share = match ComputeKind::float(dy.dtype()) {
                ComputeKind::F32 => divided::<f32>(op, dy, offsets)?,
                _ => divided::<f64>(op, dy, offsets)?,
            };
            broadcast(OP, share.operand()?, offsets, dx)
        }
        SegmentOp::First | SegmentOp::Last => {
            let mut ranges = Vec::with_capacity(2 * offsets.len());
            let filled = offsets
                .windows(2)
                .enumerate()
                .filter(|(_, pair)| pair[0] < pair[1]);
            for (segment, pair) in filled {
                let given = RowRange::new(0, segment..segment + 1);
                let zeros = RowRange::zeros(pair[1] - pair[0] - 1);
                ranges.extend(match op {
                    SegmentOp::First => [given, zeros],
                    _ => [zeros, given],
                });
            }
            copy_ranges(OP, &[dy], &ranges, dx)
        }
        _ => broadcast(OP, dy, offsets, dx),
    }
}

/// The rows of `dy` divided as the sums of their segments were.
fn divided<C: ComputeFloat>(op: SegmentOp, dy: Operand<'_>, offsets: &[usize]) -> Result<Aside> {
    drop(dy.read(OP, Argument::X)?);
    let share = aside(OP, dy, C::DTYPE)?;
    elementwise::copy(dy.into(), share.operand()?)?;
    if dy.elements() > 0 {
        let mut rows = door::write(OP, Argument::X, share.operand()?)?;
        let width = dy.elements() / (offsets.len() - 1);
        let rows = rows.slice_mut::<C>();
        let of_root = op == SegmentOp::Sqrt;
        if width == 1 && i32::try_from(offsets[offsets.len() - 1]).is_ok() {
            let task = Shares {
                rows,
                offsets,
                of_root,
            };
            Level::current().run_narrow(task);
        } else {
            for (row, pair) in rows.chunks_mut(width).zip(offsets.windows(2)) {
                let count = (pair[1] - pair[0]) as f64;
                let divisor = C::of(if of_root { count.sqrt() } else { count });
                row.iter_mut().for_each(|value| *value = value.div(divisor));
            }
        }
    }
    Ok(share)
}

/// Rows of one element and the segments they are divided by, of lengths that vectors convert.
struct Shares<'a, C> {
    rows: &'a mut [C],
    offsets: &'a [usize],
    of_root: bool,
}

impl<C: ComputeFloat> Task for Shares<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let lengths = self.offsets.windows(2);
        let lengths = lengths.map(|pair| f64::from((pair[1] - pair[0]) as i32));
        let pairs = self.rows.iter_mut().zip(lengths);
        if self.of_root {
            pairs.for_each(|(value, count)| *value = value.div(C::of(count.sqrt())));
        } else {
            pairs.for_each(|(value, count)| *value = value.div(C::of(count)));
        }
    }
}

/// Hands every value to the row its maximum came from.
fn located(dy: Operand<'_>, offsets: &[usize], arg: Operand<'_>, dx: Operand<'_>) -> Result<()> {
    let copy = dense_copy(OP, Argument::X, dy, dx.dtype(), dx)?;
    let dy = stand_in(copy.as_ref(), dy)?;
    let named = dense_copy(OP, Argument::Y, arg, i64::DTYPE, dx)?;
    let arg = stand_in(named.as_ref(), arg)?;
    onto_dense(OP, (dx, false), dx.dtype(), |dx| {
        let (given, from) = (dy.read(OP, Argument::X)?, arg.read(OP, Argument::Y)?);
        let mut out = door::write(OP, Argument::Z, dx)?;
        with_unit!(dx.dtype(), U => {
            let work = Located {
                given: &given.slice::<U>()[dy.layout().offset()..][..dy.elements()],
                from: &from.slice::<i64>()[arg.layout().offset()..][..arg.elements()],
                offsets,
            };
            work.run(&mut out.slice_mut::<U>()[dx.layout().offset()..][..dx.elements()]);
        });
        Ok(())
    })
}

/// Values and the rows they go to.
struct Located<'a, U> {
    given: &'a [U],
    from: &'a [i64],
    offsets: &'a [usize],
}

impl<U: Element> Located<'_, U> {
    fn run(&self, mut out: &mut [U]) {
        let segments = self.offsets.len() - 1;
        let Some(width) = out.len().checked_div(self.offsets[segments]) else {
            return;
        };
        let parts = threads::parts(size_of_val(out), false).min(segments);
        let mut tasks = Vec::with_capacity(parts);
        for part in 0..parts {
            let range = balanced(self.offsets, parts, part);
            let rows = self.offsets[range.end] - self.offsets[range.start];
            let (here, rest) = std::mem::take(&mut out).split_at_mut(rows * width);
            tasks.push((range, here));
            out = rest;
        }
        threads::for_each_part(tasks.into_iter(), |(segments, out)| {
            self.place(segments, out, width);
        });
    }

    /// Some segments: zeros for as many as the cache holds, then their values.
    #[inline(never)]
    fn place(&self, segments: Range<usize>, mut out: &mut [U], width: usize) {
        let near = NEAR / size_of::<U>() / width;
        let mut next = segments.start;
        while next < segments.end {
            let (first, before) = (next, self.offsets[next]);
            next += 1;
            while next < segments.end && self.offsets[next + 1] - before <= near {
                next += 1;
            }
            let rows = self.offsets[next] - before;
            let (here, rest) = std::mem::take(&mut out).split_at_mut(rows * width);
            out = rest;
            here.fill(U::default());
            for segment in first..next {
                let rows = self.offsets[segment] - before..self.offsets[segment + 1] - before;
                let own = segment * width..(segment + 1) * width;
                let values = self.given[own.clone()].iter().zip(&self.from[own]);
                for (column, (&value, &row)) in values.enumerate() {
                    // A number that names no row of the segment, as of an empty one, gives it to none.
                    let row = (row as usize).wrapping_sub(before);
                    if rows.contains(&row) {
                        here[row * width + column] = value;
                    }
                }
            }
        }
    }
}

/// Bytes that are zero for a short time only.
const NEAR: usize = 1 << 14;
