//! Which axis of a reduction runs innermost, and how input and output are walked. Integers only.

use lodestride_shape::{Layout, Order};
use smallvec::SmallVec;

use crate::across::FEW;
use crate::strided::{Dim, Dims, collapse, count, offset_at};
use crate::threads;

/// Threads share whole lines of the caches, several of each row.
const SHARED_COLUMNS: usize = 128;
/// Runs of an output each are shared by as many as are joined together.
const SHARED_RUNS: usize = 4;

/// A kept axis: how far one step goes in the input and in the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) size: usize,
    pub(crate) x: isize,
    pub(crate) out: isize,
}

/// How one reduction walks its input and output. Built once per call, allocates nothing up to rank six.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Kept axes but the innermost.
    pub(crate) outer_x: Dims,
    pub(crate) outer_out: Dims,
    /// The innermost kept axis (size 1 when everything is reduced).
    pub(crate) inner: Kept,
    pub(crate) reduced: Dims,
    pub(crate) x_start: isize,
    pub(crate) out_start: isize,
    pub(crate) sweep: bool,
}

/// Some neighbouring outputs along the innermost kept axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) x: isize,
    pub(crate) out: isize,
    pub(crate) width: usize,
}

/// Takes runs of results: output offset, output stride, values.
pub(crate) type Sink<'s, V> = dyn FnMut(isize, isize, &[V]) + 's;

impl Plan {
    /// Plans a reduction of what lies by a layout over the axes marked in `reduced`; `out` has the kept axes in order. Values that
    /// are repeated along an axis may be met `once`.
    pub(crate) fn of(x: &Layout, reduced: &[bool], out: &Layout, once: bool) -> Self {
        if let Some(plan) = Self::packed(x, reduced, out) {
            return plan;
        }
        Self::new(
            (x.offset(), x.shape(), x.strides()),
            |axis| reduced[axis],
            (out.offset(), out.strides()),
            once,
        )
    }

    /// [`new`](Self::new) where nothing need be ordered: elements without gaps of which all are reduced, or neighbouring axes to
    /// results without gaps.
    fn packed(x: &Layout, reduced: &[bool], out: &Layout) -> Option<Self> {
        let order = x.order()?;
        let first = reduced.iter().position(|&is_reduced| is_reduced)?;
        let behind = reduced.iter().rposition(|&is_reduced| is_reduced)? + 1;
        let are_neighbours = reduced[first..behind].iter().all(|&is_reduced| is_reduced);
        let is_all = behind - first == reduced.len();
        let are_packed = order == Order::C && out.order() == Some(Order::C);
        if !are_neighbours || !(is_all || are_packed) {
            return None;
        }
        let sizes = x.shape();
        let size = |sizes: &[usize]| sizes.iter().product();
        let (outer, depth): (usize, usize) = (size(&sizes[..first]), size(&sizes[first..behind]));
        let width: usize = size(&sizes[behind..]);
        if depth <= 1 || outer == 0 || width == 0 {
            return None;
        }
        let (sweep, axis) = (width > 1, |size, x, out| Kept { size, x, out });
        let step = (depth * width) as isize;
        let (inner, outer) = match (sweep, outer > 1) {
            (true, _) => (axis(width, 1, 1), axis(outer, step, width as isize)),
            (false, true) => (axis(outer, step, 1), axis(1, 0, 0)),
            (false, false) => (axis(1, 0, 0), axis(1, 0, 0)),
        };
        let dims = |size, stride| {
            let mut dims = Dims::new();
            if size > 1 {
                dims.push(Dim { size, stride });
            }
            dims
        };
        Some(Self {
            outer_x: dims(outer.size, outer.x),
            outer_out: dims(outer.size, outer.out),
            inner,
            reduced: dims(depth, width as isize),
            x_start: x.offset() as isize,
            out_start: out.offset() as isize,
            sweep,
        })
    }

    /// Plans a reduction of `x` (start, shape, strides) over the axes marked in `is_reduced`; `out_strides` belong to the
    /// kept axes in order; repeated values are met `once` or as often as they are.
    pub(crate) fn new(
        (x_start, shape, strides): (usize, &[usize], &[isize]),
        is_reduced: impl Fn(usize) -> bool,
        (out_start, out_strides): (usize, &[isize]),
        once: bool,
    ) -> Self {
        let (mut x_start, mut out_start) = (x_start as isize, out_start as isize);
        let mut reduced = Dims::new();
        let mut kept = SmallVec::<[Kept; 6]>::new();
        let mut out_strides = out_strides.iter();
        for (axis, (&size, &stride)) in shape.iter().zip(strides).enumerate() {
            let back = if stride < 0 {
                stride * (size.max(1) as isize - 1)
            } else {
                0
            };
            x_start += back;
            if is_reduced(axis) {
                if once && stride == 0 && size > 0 {
                    continue;
                }
                let stride = stride.abs();
                insert(&mut reduced, Dim { size, stride }, |dim| far(dim.stride));
                continue;
            }
            let mut out = out_strides.next().copied().unwrap_or(0);
            if stride < 0 {
                out_start += out * (size.max(1) as isize - 1);
                out = -out;
            }
            let x = stride.abs();
            insert(&mut kept, Kept { size, x, out }, |axis| far(axis.x));
        }
        Self::ordered(collapse_kept(&kept), collapse(reduced), x_start, out_start)
    }

    /// From collapsed axes, largest step first.
    fn ordered(
        mut kept: SmallVec<[Kept; 6]>,
        reduced: Dims,
        x_start: isize,
        out_start: isize,
    ) -> Self {
        let mut inner = kept.pop().unwrap_or(Kept {
            size: 1,
            x: 0,
            out: 0,
        });
        let sweep = match reduced.last() {
            Some(last) => inner.size > 1 && far(inner.x) < far(last.stride),
            None => true,
        };
        // Runs are folded by as many as lie an even step apart.
        if let (Some(next), false) = (kept.last_mut(), sweep)
            && inner.size < FEW
            && inner.size < next.size
        {
            std::mem::swap(&mut inner, next);
        }
        let dims = |stride: fn(&Kept) -> isize| {
            let dim = |axis: &Kept| Dim {
                size: axis.size,
                stride: stride(axis),
            };
            kept.iter().map(dim).collect()
        };
        Self {
            outer_x: dims(|axis| axis.x),
            outer_out: dims(|axis| axis.out),
            inner,
            reduced,
            x_start,
            out_start,
            sweep,
        }
    }

    /// The innermost of the kept axes but one, of size 1 where there is none.
    pub(crate) fn last_outer(&self) -> Kept {
        match (self.outer_x.last(), self.outer_out.last()) {
            (Some(x), Some(out)) => Kept {
                size: x.size,
                x: x.stride,
                out: out.stride,
            },
            _ => Kept {
                size: 1,
                x: 0,
                out: 0,
            },
        }
    }

    /// How many lines along the innermost kept axis, one for each position of the axis around it, give results that follow each
    /// other as those of one line do.
    #[inline(never)]
    pub(crate) fn row(&self) -> usize {
        let outer = self.last_outer();
        if outer.out == self.inner.size as isize * self.inner.out {
            outer.size
        } else {
            1
        }
    }

    /// Lines along the innermost kept axis.
    pub(crate) fn lines(&self) -> usize {
        count(&self.outer_x)
    }

    /// Pieces of so many outputs at most.
    pub(crate) fn pieces(&self, width: usize) -> usize {
        self.lines() * self.pieces_of_row(width)
    }

    /// Outputs of a piece where every thread is to have some pieces: outputs are independent, so no result depends on it.
    pub(crate) fn shared_width(&self, sweep: bool) -> usize {
        let pieces = threads::threads().div_ceil(self.lines().max(1));
        let unit = if sweep { SHARED_COLUMNS } else { SHARED_RUNS };
        self.inner.size.div_ceil(pieces).next_multiple_of(unit)
    }

    /// Pieces of a line along the innermost kept axis: mostly one, which needs no division.
    fn pieces_of_row(&self, width: usize) -> usize {
        if (1..=width).contains(&self.inner.size) {
            1
        } else {
            self.inner.size.div_ceil(width)
        }
    }

    /// One of [`pieces`](Self::pieces).
    #[inline(never)]
    pub(crate) fn piece(&self, index: usize, width: usize) -> Piece {
        let inner = self.inner;
        let (outer, start) = match self.pieces_of_row(width) {
            1 => (index, 0),
            several => (index / several, index % several * width),
        };
        Piece {
            x: self.x_start + offset_at(&self.outer_x, outer) + start as isize * inner.x,
            out: self.out_start + offset_at(&self.outer_out, outer) + start as isize * inner.out,
            width: width.min(inner.size - start),
        }
    }

    /// Elements folded into each output.
    pub(crate) fn depth(&self) -> usize {
        count(&self.reduced)
    }
}

/// Adds an axis to a list with the largest steps first, behind those of the same step; most come in that order.
fn insert<A: Copy>(axes: &mut SmallVec<[A; 6]>, axis: A, step: impl Fn(&A) -> isize) {
    insert_by(axes, axis, |other, axis| step(other) >= step(axis));
}

/// Adds an axis to a list behind the last of those that come before it; sorts of the standard library are ten times the code.
pub(crate) fn insert_by<A: Copy>(
    axes: &mut SmallVec<[A; 6]>,
    axis: A,
    before: impl Fn(&A, &A) -> bool,
) {
    let last = axes.iter().rposition(|other| before(other, &axis));
    axes.insert(last.map_or(0, |last| last + 1), axis);
}

/// Sort key of a stride: a repeated (stride 0) axis goes outermost, where it costs nothing per element.
pub(crate) fn far(stride: isize) -> isize {
    if stride == 0 { isize::MAX } else { stride }
}

fn collapse_kept(kept: &[Kept]) -> SmallVec<[Kept; 6]> {
    let mut out = SmallVec::<[Kept; 6]>::new();
    for &axis in kept {
        if axis.size == 1 {
            continue;
        }
        let size = axis.size as isize;
        match out.last_mut() {
            Some(last) if last.x == axis.x * size && last.out == axis.out * size => {
                *last = Kept {
                    size: last.size * axis.size,
                    ..axis
                };
            }
            _ => out.push(axis),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every plan that is made without ordering is the one that ordering makes.
    #[test]
    fn packed_elements_are_planned_as_any_others() {
        let mut wrong = Vec::new();
        for rank in 0..=4 {
            for code in 0..4usize.pow(rank) {
                let sizes: Vec<usize> = (0..rank).map(|axis| code / 4usize.pow(axis) % 4).collect();
                for axes in 0..1 << rank {
                    let reduced: Vec<bool> = (0..rank).map(|axis| axes >> axis & 1 == 1).collect();
                    let kept = sizes.iter().zip(&reduced).filter(|(_, reduced)| !**reduced);
                    let kept: Vec<usize> = kept.map(|(&size, _)| size).collect();
                    for order in [Order::C, Order::F] {
                        let x = Layout::contiguous(sizes.as_slice(), order).unwrap();
                        let out = Layout::contiguous(kept.as_slice(), order).unwrap();
                        let Some(plan) = Plan::packed(&x, &reduced, &out) else {
                            continue;
                        };
                        let expected = Plan::new(
                            (x.offset(), x.shape(), x.strides()),
                            |axis| reduced[axis],
                            (out.offset(), out.strides()),
                            false,
                        );
                        if format!("{plan:?}") != format!("{expected:?}") {
                            wrong.push(format!("{sizes:?} {reduced:?} {order:?}: {plan:?}"));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
