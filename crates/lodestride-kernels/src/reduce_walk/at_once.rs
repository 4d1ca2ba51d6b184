//! Reductions so small that what a walk prepares would take longer than they do.

use super::shape::FOLDED_FROM;
use crate::across::{FEW, Lines};
use crate::numeric::Compute;
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{BLOCK, ROWS, Reducer};
use crate::reduce_narrow::{NarrowRows, is_narrow};
use crate::reduce_plan::{Plan, Sink};
use crate::strided::{Dim, Source};

/// Reduces what lies in a few runs or rows of at most a block, by the call of the reducer to which a walk of it comes down.
/// False, with nothing done, where it lies otherwise, is more, or must be converted.
#[inline(never)]
pub(super) fn run<C: Compute, T: Copy + Send + Sync, V: Compute>(
    plan: &Plan,
    source: &Source<'_, C>,
    reducer: &dyn Reducer<C, Total = T, Value = V>,
    sink: &mut Sink<'_, V>,
) -> bool {
    let (inner, Some(data), [line]) = (plan.inner, source.native(), plan.reduced.as_slice()) else {
        return false;
    };
    if !plan.outer_x.is_empty() {
        return false;
    }
    let few = Few {
        start: plan.x_start as usize,
        lines: inner.size,
        step: inner.x,
        line: *line,
        sweep: plan.sweep,
    };
    let mut values = [V::ZERO; FEW];
    let done = few.reduced(data, reducer, &mut values);
    if done {
        sink(plan.out_start, inner.out, &values[..inner.size]);
    }
    done
}

/// Lines of elements of which each is reduced to one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Few {
    pub(crate) start: usize,
    /// How many, and how far one is from the next.
    pub(crate) lines: usize,
    pub(crate) step: isize,
    /// One of them.
    pub(crate) line: Dim,
    /// Whether the elements of lines that are side by side are folded by rows.
    pub(crate) sweep: bool,
}

impl Few {
    /// Whether they are few enough, and lie in dense runs or rows.
    #[inline]
    pub(crate) fn fits(self) -> bool {
        let Few { lines, line, .. } = self;
        let area = line.size.saturating_mul(lines);
        let lies = match self.sweep {
            true => self.step == 1 && area < FOLDED_FROM && line.size < ROWS,
            false => line.stride == 1,
        };
        lies && lines <= FEW && line.size > 0 && area <= BLOCK
    }

    /// Reduces them; false, with nothing done, where they are many or lie otherwise than in dense runs or rows.
    #[inline(never)]
    pub(crate) fn reduced<C: Compute, T: Copy + Send + Sync, V: Compute>(
        self,
        data: &[C],
        reducer: &dyn Reducer<C, Total = T, Value = V>,
        values: &mut [V; FEW],
    ) -> bool {
        if !self.fits() {
            return false;
        }
        let Few { lines, line, .. } = self;
        let Dim { size, stride } = line;
        let mut totals = Lines([reducer.empty(); FEW]);
        let totals = &mut totals.0[..lines];
        if !self.sweep {
            reducer.runs(
                Runs::new(data, self.start, self.step as usize, size),
                totals,
            );
        } else if is_narrow(size, lines, stride) && reducer.takes_narrow() {
            self.narrow(data, reducer, totals);
        } else {
            let mut offsets = [0; ROWS];
            let mut at = self.start;
            for offset in &mut offsets[..size] {
                *offset = at;
                at = at.wrapping_add_signed(stride);
            }
            let rows = Rows {
                data,
                offsets: &offsets[..size],
                width: lines,
            };
            reducer.sets(rows, 0, totals, true);
        }
        reducer.finish(totals, size, &mut values[..lines]);
        true
    }

    /// [`reduced`](Self::reduced) as rows of a few columns.
    #[inline(never)]
    fn narrow<C: Compute, T: Copy + Send + Sync, V: Compute>(
        self,
        data: &[C],
        reducer: &dyn Reducer<C, Total = T, Value = V>,
        totals: &mut [T],
    ) {
        let rows = NarrowRows {
            data,
            start: self.start,
            step: 0,
            rows: self.line.size,
            pitch: self.line.stride as usize,
            width: self.lines,
        };
        reducer.narrow(rows, None, totals);
    }
}
