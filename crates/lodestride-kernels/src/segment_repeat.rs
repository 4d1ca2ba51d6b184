//! Repeating rows by segment: the adjoint of a sum.

use lodestride_buffer::{Argument, Element};

use crate::door;
use crate::error::Result;
use crate::isa::{Arch, Level, Task};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::segment::with_rows;
use crate::segment_move::{Rows, with_rows_of};
use crate::segment_rows::{check_offsets, rows_of};
use crate::stream;

/// Repeats row `i` of `x` for every row of segment `i`: the adjoint of a segment sum.
///
/// `x` is `[segments, ..]`, `out` `[rows, ..]`; rows of empty segments are dropped.
///
/// # Errors
/// As [`segment_reverse`](crate::segment_reverse).
pub fn segment_broadcast(x: Operand<'_>, offsets: &[usize], out: Operand<'_>) -> Result<()> {
    const OP: &str = "segment_broadcast";
    let rows = rows_of(OP, out)?;
    check_offsets(OP, offsets, rows)?;
    x.check_shape(OP, Argument::X, &with_rows(out.shape(), offsets.len() - 1))?;
    door::check_output(OP, out, out.shape())?;
    broadcast(OP, x, offsets, out)
}

/// [`segment_broadcast`] of checked arguments.
pub(crate) fn broadcast(
    op: &'static str,
    x: Operand<'_>,
    offsets: &[usize],
    out: Operand<'_>,
) -> Result<()> {
    with_rows_of(op, x, out, |rows, from, to| {
        with_unit!(out.dtype(), U => {
            rows.repeat(from.slice::<U>(), to.slice_mut::<U>(), offsets);
        });
    })
}

impl Rows {
    /// Writes row `i` of `x` to the rows `offsets[i]..offsets[i + 1]`.
    fn repeat<U: Element>(&self, x: &[U], out: &mut [U], offsets: &[usize]) {
        let total = offsets[offsets.len() - 1];
        let narrow = |&width: &usize| {
            let past = stream::pays(size_of::<U>() * width * (offsets.len() + total));
            (1..=REPEATED / 2).contains(&width) && total > 0 && !past
        };
        let Some(width) = self.dense_row().filter(narrow) else {
            return self.gather(x, out, offsets, (&|segment| segment, 0));
        };
        self.each_part(out, offsets, width, |segments, out| {
            let task = Repeats {
                rows: self,
                x,
                offsets: &offsets[segments.start..=segments.end],
                first: segments.start,
                width,
                out,
            };
            Level::current().run_narrow(task);
        });
    }
}

/// Elements that are written at a time where a few are repeated.
const REPEATED: usize = 16;

/// Narrow rows, each repeated for every row of a segment. Most segments are shorter than what is written at a time, the rest
/// of which the next ones write over: without a look at each length no branch is guessed wrong.
struct Repeats<'a, U> {
    rows: &'a Rows,
    x: &'a [U],
    offsets: &'a [usize],
    /// The segment that the offsets begin with.
    first: usize,
    width: usize,
    out: &'a mut [U],
}

impl<U: Element> Task for Repeats<'_, U> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        // Apart, so that copies of one element stay in registers.
        if self.width == 1 {
            return self.with_copies(|row| [row[0]; REPEATED]);
        }
        let width = self.width;
        self.with_copies(|row| {
            let mut copies = [row[0]; REPEATED];
            for copy in copies.chunks_exact_mut(width) {
                copy.copy_from_slice(row);
            }
            copies
        });
    }
}

impl<U: Element> Repeats<'_, U> {
    /// Writes every row with a function that fills an array with it.
    #[inline(always)]
    fn with_copies(self, copies: impl Fn(&[U]) -> [U; REPEATED]) {
        let Self { width, out, .. } = self;
        let whole = REPEATED / width * width;
        let mut end = 0;
        for (segment, pair) in self.offsets.windows(2).enumerate() {
            let from = self.rows.start_of((self.first + segment, 0), 0);
            let copies = copies(&self.x[from..][..width]);
            let mut at = end;
            end += (pair[1] - pair[0]) * width;
            while at < end {
                match out[at..].first_chunk_mut() {
                    Some(to) => *to = copies,
                    None => {
                        let rest = &mut out[at..end.min(at + whole)];
                        rest.copy_from_slice(&copies[..rest.len()]);
                    }
                }
                at += whole;
            }
        }
    }
}
