//! Segments step by step: the first rows of all, then the second ones of those that have one, and so on.

use lodestride_buffer::{Buffer, DType, Element};
use lodestride_shape::{Layout, Order};

use crate::door;
use crate::error::{KernelError, Result};
use crate::gather::take;
use crate::gather_indices::{Picked, pick};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::segment::with_rows;
use crate::segment_move::{Rows, with_rows_of};
use crate::segment_rows::rows_of;
use crate::threads;

/// Writes for every step `t` the rows `starts[..counts[t]] + t` of `x`, one after the other: segments that begin at `starts`,
/// longest first, step by step.
///
/// `x` is `[rows, ..]`; `out` has as many rows as the counts together; values are cast to its dtype.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, segment_steps};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, out) = (Buffer::from_vec(vec![1i64, 2, 3, 4, 5])?, Buffer::zeroed(40)?);
/// let five = Layout::contiguous([5], Order::C)?;
/// let to = Operand::new(&out, &five, DType::I64)?;
/// // Rows 2 to 4 before rows 0 and 1.
/// segment_steps(Operand::new(&x, &five, DType::I64)?, &[2, 0], &[2, 2, 1], to)?;
/// assert_eq!(out.read()?.slice::<i64>(), [3, 1, 4, 2, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when a step names a row that `x` has not or more segments than there are starts, when a shape does not fit,
/// or a buffer cannot be accessed. Nothing is written then.
pub fn segment_steps(
    x: Operand<'_>,
    starts: &[usize],
    counts: &[usize],
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "segment_steps";
    let total = checked_rows(OP, rows_of(OP, x)?, starts, counts)?;
    door::check_output(OP, out, &with_rows(x.shape(), total))?;
    let row: usize = x.shape()[1..].iter().product();
    let starts: Vec<i64> = starts.iter().map(|&start| start as i64).collect();
    if row != 1 || total == 0 || out.layout().strides()[0] != 1 {
        return by_indices(OP, x, &starts, counts, out);
    }
    with_rows_of(OP, x, out, |rows, from, to| {
        with_unit!(out.dtype(), U => {
            let steps = Steps {
                rows,
                height: x.shape()[0],
                starts: &starts,
                x: from.slice::<U>(),
            };
            steps.run(counts, total, to.slice_mut::<U>());
        });
    })
}

/// The rows of all steps together, each of which `x` has.
fn checked_rows(
    op: &'static str,
    rows: usize,
    starts: &[usize],
    counts: &[usize],
) -> Result<usize> {
    let highest = |highest: &mut usize, &start: &usize| {
        *highest = start.max(*highest);
        Some(*highest)
    };
    let highest: Vec<usize> = starts.iter().scan(0, highest).collect();
    let mut total = 0usize;
    for (index, &len) in counts.iter().enumerate().filter(|(_, len)| **len > 0) {
        let start = highest.get(len - 1).copied().unwrap_or(usize::MAX);
        if start.saturating_add(index) >= rows {
            return Err(KernelError::RowRange {
                op,
                index,
                start,
                len,
                rows,
            });
        }
        total = total.saturating_add(len);
    }
    Ok(total)
}

/// Rows of any layout by a list of all of them.
fn by_indices(
    op: &'static str,
    x: Operand<'_>,
    starts: &[i64],
    counts: &[usize],
    out: Operand<'_>,
) -> Result<()> {
    let steps = counts.iter().zip(0i64..);
    let indices: Vec<i64> = steps
        .flat_map(|(&count, step)| starts[..count].iter().map(move |start| start + step))
        .collect();
    let layout = Layout::contiguous([indices.len()], Order::C).map_err(KernelError::shape(op))?;
    let indices = Buffer::from_vec(indices).map_err(KernelError::alloc(op))?;
    take(x, 0, Operand::new(&indices, &layout, DType::I64)?, out)
}

/// Rows of one element, written one after the other.
struct Steps<'a, U> {
    rows: &'a Rows,
    height: usize,
    starts: &'a [i64],
    x: &'a [U],
}

impl<U: Element + Picked> Steps<'_, U> {
    /// Writes the steps, on several threads where that pays.
    fn run(&self, counts: &[usize], total: usize, out: &mut [U]) {
        let mut out = &mut out[self.rows.out_start as usize..][..total];
        let share = total.div_ceil(threads::parts(2 * size_of_val(out), true));
        let (mut pieces, mut first) = (Vec::new(), 0);
        while first < counts.len() {
            let (mut end, mut count) = (first, 0);
            while end < counts.len() && count < share {
                count += counts[end];
                end += 1;
            }
            let (here, rest) = std::mem::take(&mut out).split_at_mut(count);
            pieces.push((first, &counts[first..end], here));
            (out, first) = (rest, end);
        }
        threads::for_each_part(pieces.into_iter(), |(first, counts, mut out)| {
            for (step, &count) in (first..).zip(counts).filter(|(_, count)| **count > 0) {
                let (here, rest) = std::mem::take(&mut out).split_at_mut(count);
                self.step(step, here);
                out = rest;
            }
        });
    }

    fn step(&self, step: usize, out: &mut [U]) {
        let start = self.rows.start_of((0, 1), step) as isize;
        let of = (start, self.rows.x_step, self.height - step);
        let are_inside = pick(self.x, of, &self.starts[..out.len()], out);
        debug_assert!(are_inside);
    }
}
