//! In which order a copy between two layouts goes through its axes.

use smallvec::SmallVec;

use crate::isa::Isa;
use crate::short_rows::LONGEST;
use crate::transfer::Axis;

/// Axes of a transfer, outermost first.
pub(crate) type Axes = SmallVec<[Axis; 6]>;

/// Axes with fewer positions than this are not worth a transpose.
const THIN: usize = 4;

/// So few short rows are not worth what it costs to begin with them.
const FEW: usize = 16;

/// Bytes of a destination that are still in L1 when its other rows are written.
const BLOCK: usize = 1 << 14;

/// Takes very short rows without gaps as elements, where both sides begin at places for such: `starts` are their addresses. Gives how
/// many elements, of `size` bytes, are one then.
pub(crate) fn join_elements(axes: &mut Axes, size: usize, starts: [usize; 2]) -> usize {
    let run = axes.iter().position(|axis| (axis.out, axis.x) == (1, 1));
    let Some(run) = run.filter(|_| axes.len() > 1) else {
        return 1;
    };
    let (joined, step) = (axes[run].size, axes[run].size.cast_signed());
    let bytes = joined * size;
    let others = || {
        (0..axes.len())
            .filter(|&axis| axis != run)
            .map(|axis| axes[axis])
    };
    if joined < 2
        || !matches!(bytes, 2 | 4 | 8)
        || starts.into_iter().any(|start| !start.is_multiple_of(bytes))
        || others().any(|axis| axis.out % step != 0 || axis.x % step != 0)
    {
        return 1;
    }
    axes.remove(run);
    for axis in axes {
        axis.out /= step;
        axis.x /= step;
    }
    joined
}

/// Whether the elements of a run are selected from whole lines, which is then faster for a few rows than a transpose.
fn is_thin(run: Axis, size: usize) -> bool {
    run.out == 1 && matches!(run.x, 3 | 4) && matches!(size, 2 | 4) && Isa::detect() == Isa::Avx512
}

/// Brings the axes that the inner loops are for to the end, and tells whether these are to be transposed.
pub(crate) fn order_axes(axes: &mut Axes, size: usize) -> bool {
    let last = axes.len() - 1;
    let run = axes[last];
    if run.x == 0 || (run.x == 1 && run.out == 1) {
        return false;
    }
    let moving = (0..last).filter(|&axis| axes[axis].x != 0 && axes[axis].size >= THIN);
    let closest = moving.min_by_key(|&axis| axes[axis].x.unsigned_abs());
    if let Some(axis) = closest
        && run.size >= THIN
        && axes[axis].x.unsigned_abs() < run.x.unsigned_abs()
        && !(axes[axis].size == THIN && is_thin(run, size))
    {
        let rows = axes.remove(axis);
        axes.insert(last - 1, rows);
        return true;
    }
    // A short inner loop, and one outside it that is longer: the other way round.
    if run.size < axes[last - 1].size && run.size < THIN {
        axes.swap(last - 1, last);
    }
    false
}

/// The axes of a copy of rows without gaps in another order, where there are few short ones inside many: in blocks, in
/// which the rows of the many come one after the other, and which are small enough to be gone through again for the few. What
/// remains behind the blocks comes with its first position along the third axis from the end of `axes`.
pub(crate) fn blocks(axes: &Axes, size: usize) -> Option<(Axes, Option<(usize, Axes)>)> {
    let [outer @ .., many, few, run] = &axes[..] else {
        return None;
    };
    let bytes = run.size * size;
    let are_short = (run.out, run.x) == (1, 1) && (1..=LONGEST).contains(&bytes);
    if !are_short || !(1..FEW).contains(&few.size) || many.size < FEW {
        return None;
    }
    let block = (BLOCK / (few.size * bytes)).clamp(FEW, many.size);
    let (count, rest) = (many.size / block, many.size % block);
    let with = |inner: &[Axis]| outer.iter().chain(inner).copied().collect::<Axes>();
    let step = block.cast_signed();
    let steps = Axis {
        size: count,
        out: many.out * step,
        x: many.x * step,
    };
    let of = |size: usize| Axis { size, ..*many };
    let rest = (rest > 0).then(|| (count * block, with(&[*few, of(rest), *run])));
    Some((with(&[steps, *few, of(block), *run]), rest))
}
