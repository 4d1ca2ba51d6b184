//! The gradient of a segment reduction: each row of the output spread back over its segment.

use lodestride_buffer::{Argument, WriteGuard};

use crate::door;
use crate::error::{KernelError, Result};
use crate::numeric::{Compute, ComputeFloat, ComputeKind};
use crate::operand::Operand;
use crate::segment::{SegmentOp, with_rows};
use crate::segment_rows::{RowSink, RowView, check_offsets, rows_of};

/// Columns worked on together.
const TILE: usize = 256;

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
    const OP: &str = "segment_reduce_gradient";
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
    }
    let dy_copy = door::private_copy(OP, Argument::X, dy, &[dx])?;
    let arg_copy = match arg {
        Some(arg) => door::private_copy(OP, Argument::Y, arg, &[dx])?,
        None => None,
    };
    let guard = door::read(OP, Argument::X, dy, dy_copy.as_ref())?;
    let arg_guard = match arg {
        Some(arg) => Some(door::read(OP, Argument::Y, arg, arg_copy.as_ref())?),
        None => None,
    };
    let mut out = door::write(OP, Argument::Z, dx)?;
    let work = Spread {
        op,
        offsets,
        sink: RowSink::new(dx),
    };
    let mut run = |args: Option<&RowView<'_, i64>>| match ComputeKind::float(dy.dtype()) {
        ComputeKind::F32 => RowView::<f32>::with(&guard, dy, |dy| work.run(dy, args, &mut out)),
        _ => RowView::<f64>::with(&guard, dy, |dy| work.run(dy, args, &mut out)),
    };
    match (&arg_guard, arg) {
        (Some(guard), Some(arg)) => RowView::<i64>::with(guard, arg, |args| run(Some(args))),
        _ => run(None),
    }
    Ok(())
}

struct Spread<'a> {
    op: SegmentOp,
    offsets: &'a [usize],
    sink: RowSink,
}

impl Spread<'_> {
    fn run<C: ComputeFloat>(
        &self,
        dy: &RowView<'_, C>,
        args: Option<&RowView<'_, i64>>,
        out: &mut WriteGuard<'_>,
    ) {
        let width = dy.row_len();
        let (mut given, mut from) = ([C::ZERO; TILE], [0i64; TILE]);
        for (segment, pair) in self.offsets.windows(2).enumerate() {
            if pair[0] == pair[1] {
                continue;
            }
            for first in (0..width).step_by(TILE) {
                let given = &mut given[..TILE.min(width - first)];
                dy.load(segment, first, given);
                if let Some(args) = args {
                    let from = &mut from[..given.len()];
                    args.load(segment, first, from);
                    self.spread_located(pair[0]..pair[1], first, (given, from), out);
                } else {
                    self.spread(pair[0]..pair[1], first, given, out);
                }
            }
        }
    }

    fn spread<C: ComputeFloat>(
        &self,
        rows: std::ops::Range<usize>,
        first: usize,
        given: &mut [C],
        out: &mut WriteGuard<'_>,
    ) {
        let count = rows.len() as f64;
        let divisor = match self.op {
            SegmentOp::Mean => count,
            SegmentOp::Sqrt => count.sqrt(),
            _ => 1.0,
        };
        given
            .iter_mut()
            .for_each(|value| *value = value.div(C::of(divisor)));
        let zeros = [C::ZERO; TILE];
        let chosen = match self.op {
            SegmentOp::First => Some(rows.start),
            SegmentOp::Last => Some(rows.end - 1),
            _ => None,
        };
        for row in rows {
            let is_given = chosen.is_none_or(|chosen| chosen == row);
            let values = if is_given {
                &*given
            } else {
                &zeros[..given.len()]
            };
            self.sink.store(out, row, first, values);
        }
    }

    fn spread_located<C: Compute>(
        &self,
        rows: std::ops::Range<usize>,
        first: usize,
        (given, from): (&[C], &[i64]),
        out: &mut WriteGuard<'_>,
    ) {
        let mut values = [C::ZERO; TILE];
        for row in rows {
            let values = &mut values[..given.len()];
            for ((value, &given), &from) in values.iter_mut().zip(given).zip(from) {
                *value = if from == row as i64 { given } else { C::ZERO };
            }
            self.sink.store(out, row, first, values);
        }
    }
}
