//! Reductions so small that what a walk prepares would take longer than they do.

use super::shape::FOLDED_FROM;
use crate::across::{FEW, Lines};
use crate::numeric::Compute;
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{BLOCK, ROWS, Reducer};
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
    let is_little = line.size.saturating_mul(inner.size) <= BLOCK;
    if !plan.outer_x.is_empty() || inner.size > FEW || line.size == 0 || !is_little {
        return false;
    }
    let Dim { size, stride } = *line;
    let start = plan.x_start as usize;
    let mut totals = Lines([reducer.empty(); FEW]);
    let totals = &mut totals.0[..inner.size];
    if !plan.sweep && stride == 1 {
        reducer.runs(Runs::new(data, start, inner.x as usize, size), totals);
    } else if plan.sweep && inner.x == 1 && size * inner.size < FOLDED_FROM && size < ROWS {
        let mut offsets = [0; ROWS];
        let mut at = start;
        for offset in &mut offsets[..size] {
            *offset = at;
            at = at.wrapping_add_signed(stride);
        }
        let (width, offsets) = (inner.size, &offsets[..size]);
        let rows = Rows {
            data,
            offsets,
            width,
        };
        reducer.sets(rows, 0, totals, true);
    } else {
        return false;
    }
    let mut values = [V::ZERO; FEW];
    let values = &mut values[..totals.len()];
    reducer.finish(totals, size, values);
    sink(plan.out_start, inner.out, values);
    true
}
