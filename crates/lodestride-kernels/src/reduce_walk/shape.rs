//! How a reduction is walked, from its plan and a few facts about its data: nothing here knows dtypes.

use super::{OUTPUTS, SUPERBLOCK};
use crate::across::FEW;
use crate::reduce_fold::{BLOCK, COLUMNS, FOLDED, ROWS, SHORT_RUN};
use crate::reduce_narrow;
use crate::reduce_plan::Plan;
use crate::stream;
use crate::strided::Dim;

/// Bytes of the longest row folded whole.
const WIDE_BYTES: usize = 32 << 10;
/// Columns of a sweep whose rows must be copied to a tile first.
const TILE_COLUMNS: usize = 128;
/// Fewer columns that lie apart are copied and folded one by one.
const FEW_COLUMNS: usize = 8;
/// So many are from beyond the second-level cache too.
const FEWEST_COLUMNS: usize = 3;
/// Elements of a column from which on they are.
const LONG_COLUMNS: usize = 64;
/// Elements from which on narrow rows without gaps are laid side by side.
pub(super) const FOLDED_FROM: usize = 1024;
/// The same where columns would be runs otherwise: for each byte of a number, of what is converted, and of pairs, whose columns are
/// made by vectors.
const FEW_FROM: usize = 128;
const CONVERTED_FROM: usize = 4096;
const PAIRS_FROM: usize = 1 << 14;

/// Narrow rows from which on they are copied to be folded as such.
const FEWEST_COPIED: usize = 16;

/// What is known of the data and the reducer.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// Whether threads share the work.
    pub(super) threaded: bool,
    /// Whether the elements are of the compute type.
    pub(super) native: bool,
    /// Whether long rows of them are folded as they are read.
    pub(super) lifted: bool,
    /// Whether they are made when they are asked for.
    pub(super) computed: bool,
    /// Bytes of an element of the compute type.
    pub(super) size: usize,
    /// Columns that the reducer takes.
    pub(super) columns: usize,
    /// Whether rows of a few columns are folded by a loop of their own.
    pub(super) narrow: bool,
    /// Elements of the [shortest run](crate::reduce_fold::Reducer::shortest_run) that is not gathered.
    pub(super) shortest: usize,
}

/// Whether rows are folded, whether they or single columns are [narrow](reduce_narrow), whether runs are blocks, and those of many
/// outputs folded by one call, outputs of a piece, and rows laid side by side.
pub(super) struct Shape {
    pub(super) sweep: bool,
    pub(super) narrow: bool,
    pub(super) runs: bool,
    pub(super) many: bool,
    pub(super) width: usize,
    pub(super) fold: usize,
}

impl Shape {
    #[inline(never)]
    pub(super) fn of(plan: &Plan, facts: Facts) -> Self {
        let inner = plan.inner;
        let direct = facts.lifted || facts.native && inner.x == 1;
        let narrow = is_narrow(plan, facts);
        let sweep = if narrow {
            plan.sweep
        } else {
            sweeps(plan, facts)
        };
        let (runs, many) = runs(plan, facts);
        let deep = plan.depth() > SUPERBLOCK * BLOCK && !many;
        // Whole rows, in the order of memory, are one stream, but then no thread could take other columns.
        let alone = !stream::wakes() && !facts.threaded;
        let whole = inner.size <= facts.columns && inner.size * facts.size <= WIDE_BYTES;
        // Rows that are copied to a tile are best copied whole: short ones of what the second-level cache holds.
        let bytes = plan.depth() * inner.size * facts.size;
        let few = inner.size <= COLUMNS / 2 && bytes <= stream::SECOND_LEVEL;
        let width = match (sweep, direct) {
            (true, true) if alone && whole => facts.columns,
            (true, true) => COLUMNS,
            // What is computed comes cheapest in long stretches.
            (true, false) if facts.computed => COLUMNS,
            (true, false) if inner.x == 1 && few => COLUMNS,
            (true, false) if plan.depth() < FEW => OUTPUTS,
            (true, false) => TILE_COLUMNS,
            (false, _) if deep => 1,
            (false, _) => OUTPUTS,
        };
        let width = if facts.threaded {
            width.min(plan.shared_width(sweep))
        } else {
            width
        };
        // Narrow contiguous rows: `fold` of them make one wide row, and the columns are merged at the end.
        // What has gaps is copied, which pays for rows of few elements only.
        let widest = if are_packed(plan) { 32 } else { FEW - 1 };
        let folds = sweep && !narrow && plan.reduced.len() == 1 && !facts.computed;
        let fold = match (folds, inner.size) {
            (true, size @ 1..) if size <= widest && is_folded(plan, facts) => {
                (folded(plan.depth() * size) / size).max(1)
            }
            _ => 1,
        };
        Self {
            sweep,
            narrow,
            runs,
            many,
            width,
            fold,
        }
    }
}

/// Whether runs along the innermost reduced axis are blocks, or several of them, rather than gathered to full ones, and whether
/// outputs are so many that their runs at one place of the outer reduced axes are folded by one call.
fn runs(plan: &Plan, facts: Facts) -> (bool, bool) {
    let Some((run, outer)) = plan.reduced.split_last() else {
        return (false, false);
    };
    let are_many = !outer.is_empty() && run.size <= BLOCK && plan.inner.size >= FEW;
    let shortest = match outer.len() {
        0 => 0,
        1 => facts.shortest,
        _ if are_many => facts.shortest,
        _ => facts.shortest.max(SHORT_RUN),
    };
    let lies = run.stride == 1 && !facts.computed && run.size >= shortest;
    (lies && (facts.native || are_many), lies && are_many)
}

/// Whether rows are folded: as planned, but that what must be copied is copied by its longer axis.
fn sweeps(plan: &Plan, facts: Facts) -> bool {
    let (inner, [line]) = (plan.inner, plan.reduced.as_slice()) else {
        return plan.sweep;
    };
    if facts.computed {
        return plan.sweep;
    }
    if plan.sweep {
        // From beyond the second-level cache more than a few columns are best taken at once.
        let bytes = line.size * line.stride.unsigned_abs() * facts.size;
        let is_near = bytes <= stream::SECOND_LEVEL || inner.size <= FEWEST_COLUMNS;
        let are_runs = inner.size < FEW_COLUMNS && line.size >= LONG_COLUMNS && is_near;
        return !are_runs || are_packed(plan) && (line.size <= ROWS || is_folded(plan, facts));
    }
    let lie_together = line.stride == 1 && (facts.native || inner.x == line.size as isize);
    line.size < FEW && inner.size >= FEW_COLUMNS && !lie_together
}

/// Whether narrow rows without gaps, if they are rows, are laid side by side: from so many elements on that joining their totals
/// costs less than folding narrow rows does, or than making columns of them.
fn is_folded(plan: &Plan, facts: Facts) -> bool {
    let (size, depth) = (plan.inner.size, plan.depth());
    let from = match size {
        2 if depth > ROWS => PAIRS_FROM,
        3..FEW_COLUMNS if depth > ROWS && facts.native => FEW_FROM * facts.size,
        3..FEW_COLUMNS if depth > ROWS => CONVERTED_FROM,
        _ => FOLDED_FROM,
    };
    size * depth >= from
}

/// Whether rows of a few elements, of which some columns or a single one are asked for, are enough to be folded where they lie.
fn is_narrow(plan: &Plan, facts: Facts) -> bool {
    let (true, [line], inner) = (facts.narrow, plan.reduced.as_slice(), plan.inner) else {
        return false;
    };
    if plan.sweep {
        let lies = match facts.native {
            true => inner.x == 1,
            false => are_packed(plan) && line.size >= FEWEST_COPIED,
        };
        return lies && reduce_narrow::is_narrow(line.size, inner.size, line.stride);
    }
    if !facts.native {
        return false;
    }
    let pitch = line.stride.unsigned_abs();
    pitch <= reduce_narrow::MOST
        && reduce_narrow::single_from(pitch).is_some_and(|from| line.size >= from)
}

/// Columns of so many elements laid side by side: few where there are few elements, as each row of them ends with a total to join.
fn folded(area: usize) -> usize {
    match area {
        ..2048 => FOLDED / 8,
        2048..16384 => FOLDED / 4,
        _ => FOLDED,
    }
}

/// Whether the rows of a sweep follow each other without gaps.
pub(super) fn are_packed(plan: &Plan) -> bool {
    let inner = plan.inner;
    inner.x == 1
        && matches!(*plan.reduced.as_slice(), [Dim { stride, .. }] if stride == inner.size as isize)
}
