//! Sorting, positions in sorted order, partitions and the first k, along an axis of arrays of any dtype and layout.
//!
//! The order is total: numbers ascend, NaN is above infinity; -0.0 and 0.0 are equal. Descending is the reverse, so NaN is
//! first there. Every result is the same at any number of threads and on any machine.

use lodestride_buffer::{Argument, DType};
use lodestride_shape::Shape;

use crate::door;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::KernelError;
use crate::error::Result;
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::sort_float::sort_floats;
use crate::sort_halved::sort_halved;
use crate::sort_key::{Coding, Key};
use crate::sort_lines::{Block, Blocks, Lines, Scratch, fill_copies, fill_lines, read_lines};
use crate::sort_order::order_lines;
use crate::sort_radix::{MANY, sort_above};
use crate::sort_runs::{ascend, mark_starts};
use crate::sort_select::{SHORT, little, order_around, partition_at};
use crate::sort_share::each_chunk;
use crate::sort_side::{is_short, sort_side_by_side};

pub use crate::sort_topk::topk;

/// In which direction to sort, and whether equal values keep their order.
///
/// Only floats have equal values that differ: -0.0 and 0.0, and NaNs. Unstable (the default) puts -0.0 before 0.0, stable
/// leaves them in their order; positions are always stable.
///
/// ```
/// use lodestride_kernels::sort::Sorting;
/// assert!(Sorting::descending().is_descending());
/// assert!(Sorting::ascending().stable().is_stable());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sorting {
    descending: bool,
    stable: bool,
}

impl Sorting {
    /// Smallest first, NaN last.
    pub const fn ascending() -> Self {
        Self {
            descending: false,
            stable: false,
        }
    }

    /// Largest first, NaN before it.
    pub const fn descending() -> Self {
        Self {
            descending: true,
            stable: false,
        }
    }

    /// The same direction, with equal values in their order.
    pub const fn stable(self) -> Self {
        Self {
            stable: true,
            ..self
        }
    }

    /// Whether the largest comes first.
    pub const fn is_descending(self) -> bool {
        self.descending
    }

    /// Whether equal values keep their order.
    pub const fn is_stable(self) -> bool {
        self.stable
    }
}

/// Keys coded, sorted and decoded at a time where lines are short: they stay in the first-level cache.
pub(crate) const TOGETHER: usize = 4096;

/// Sorts `x` along `axis` into `out`, which may be `x` itself.
///
/// # Errors
/// [`KernelError`] when the axis is out of range, `out` has another shape or dtype or overlaps itself, or a buffer cannot be
/// accessed. Nothing is written then.
pub fn sort(x: Operand<'_>, axis: usize, sorting: Sorting, out: Operand<'_>) -> Result<()> {
    const OP: &str = "sort";
    check(OP, x, axis, out, x.shape())?;
    door::check_dtype(OP, Argument::Z, out, x.dtype())?;
    if x.layout().is_empty() {
        return Ok(());
    }
    let coding = Coding::new(x.dtype(), sorting.descending);
    if sorting.stable && !coding.is_exact() {
        return sort_stably(OP, x, axis, sorting, out);
    }
    let len = x.shape()[axis];
    with_unit!(x.dtype(), K => fill_copies::<K>(OP, x, out, axis, &mut |keys, from| {
        let blocks = Blocks { keys, len, from };
        blocks.each(&mut [(); 0], 0, |block| sort_block(OP, block, len, coding))
    }))
}

fn sort_block<K: Key>(
    op: &'static str,
    block: Block<'_, K, ()>,
    len: usize,
    coding: Coding,
) -> Result<()> {
    let scratch = Scratch::new::<K>(op, len)?;
    let mut scratch = scratch.open(op)?;
    let scratch = scratch.slice::<K>();
    let parts = block.parts;
    block.each((TOGETHER / len).max(1) * len, |lines| {
        sort_lines(coding, lines, len, scratch, parts);
    });
    Ok(())
}

/// Sorts lines of `len` values.
pub(crate) fn sort_lines<K: Key>(
    coding: Coding,
    lines: &mut [K],
    len: usize,
    scratch: &mut [K],
    parts: usize,
) {
    // Several threads divide a long line by its keys.
    let is_shared = parts > 1 && len > MANY;
    if !is_shared && !is_short(lines, len) && sort_floats(coding, lines, len, scratch) {
        return;
    }
    each_chunk(lines, parts, |values| coding.encode(values));
    let is_done = ascend(lines, len)
        || !is_shared && sort_halved(lines, len)
        || sort_side_by_side(lines, len);
    if !is_done {
        for line in lines.chunks_exact_mut(len) {
            sort_above(line, scratch, 0, parts);
        }
    }
    each_chunk(lines, parts, |keys| coding.decode(keys));
}

/// Equal values that differ keep their order: sorts positions and moves the values after them.
fn sort_stably(
    op: &'static str,
    x: Operand<'_>,
    axis: usize,
    sorting: Sorting,
    out: Operand<'_>,
) -> Result<()> {
    let positions = Lines::beside(op, x.layout(), axis, DType::I64)?;
    order_operand(op, x, axis, sorting, positions.open(op)?.slice::<u64>())?;
    gather(op, x, axis, &positions, out)
}

/// Writes the positions in sorted order of the lines of `x`.
fn order_operand(
    op: &'static str,
    x: Operand<'_>,
    axis: usize,
    sorting: Sorting,
    positions: &mut [u64],
) -> Result<()> {
    let lines = Lines::copy_of(op, x, axis, x.dtype())?;
    order_ranks(op, &lines, x.shape()[axis], sorting, positions)
}

fn order_ranks(
    op: &'static str,
    lines: &Lines,
    len: usize,
    sorting: Sorting,
    positions: &mut [u64],
) -> Result<()> {
    let coding = Coding::new(lines.dtype(), sorting.descending);
    with_unit!(lines.dtype(), K => {
        let mut keys = lines.open(op)?;
        let keys = keys.slice::<K>();
        Blocks { keys, len, from: None }.each(positions, len, |block| {
            let scratch = Scratch::new::<u64>(op, len)?;
            let mut scratch = scratch.open(op)?;
            let scratch = scratch.slice::<u64>();
            let together = (TOGETHER / len).max(1) * len;
            let groups = block.keys.chunks_mut(together).zip(block.beside.chunks_mut(together));
            for (keys, positions) in groups {
                each_chunk(keys, block.parts, |keys| coding.rank(keys));
                order_lines(keys, len, positions, scratch, block.parts);
            }
            Ok(())
        })
    })
}

/// Writes the values of `x` at the chosen positions of each line to the lines of `out`.
fn gather(
    op: &'static str,
    x: Operand<'_>,
    axis: usize,
    positions: &Lines,
    out: Operand<'_>,
) -> Result<()> {
    let (len, chosen) = (x.shape()[axis], out.shape()[axis]);
    let values = Lines::copy_of(op, x, axis, x.dtype())?;
    let mut positions = positions.open(op)?;
    let positions = positions.slice::<u64>();
    with_unit!(x.dtype(), K => {
        let mut values = values.open(op)?;
        let values = values.slice::<K>();
        fill_lines::<K>(op, None, out, axis, &mut |out| {
            let lines = values.chunks_exact(len).zip(positions.chunks_exact(chosen));
            for (out, (values, positions)) in out.chunks_exact_mut(chosen).zip(lines) {
                for (out, &position) in out.iter_mut().zip(positions) {
                    *out = values[position as usize];
                }
            }
            Ok(())
        })
    })
}

/// Writes the positions of the elements of `x` in sorted order along `axis` to `indices` (i64), and the elements in that
/// order to `values` if given. Equal elements keep their order.
///
/// # Errors
/// As [`sort`].
pub fn argsort(
    x: Operand<'_>,
    axis: usize,
    sorting: Sorting,
    indices: Operand<'_>,
    values: Option<Operand<'_>>,
) -> Result<()> {
    const OP: &str = "argsort";
    check(OP, x, axis, indices, x.shape())?;
    door::check_dtype(OP, Argument::Z, indices, DType::I64)?;
    if let Some(values) = values {
        door::check_output(OP, values, x.shape())?;
        door::check_dtype(OP, Argument::Y, values, x.dtype())?;
    }
    if x.layout().is_empty() {
        return Ok(());
    }
    let Some(values) = values else {
        let lines = Lines::copy_of(OP, x, axis, x.dtype())?;
        let len = x.shape()[axis];
        return fill_lines::<u64>(OP, None, indices, axis, &mut |positions| {
            order_ranks(OP, &lines, len, sorting, positions)
        });
    };
    let positions = Lines::beside(OP, x.layout(), axis, DType::I64)?;
    order_operand(OP, x, axis, sorting, positions.open(OP)?.slice::<u64>())?;
    gather(OP, x, axis, &positions, values)?;
    positions.write_to(OP, indices, axis)
}

/// Rearranges `x` along `axis` into `out`, which may be `x` itself: each place of `kth` holds what it holds when sorted
/// ascending, smaller elements stand before it and larger ones behind it. The order among those is not promised.
///
/// # Errors
/// As [`sort`]; [`KernelError::OutOfRange`] for a place beyond the axis.
pub fn partition(x: Operand<'_>, axis: usize, kth: &[usize], out: Operand<'_>) -> Result<()> {
    const OP: &str = "partition";
    check(OP, x, axis, out, x.shape())?;
    door::check_dtype(OP, Argument::Z, out, x.dtype())?;
    let len = x.shape()[axis];
    let kth = places(OP, kth, len)?;
    if x.layout().is_empty() {
        return Ok(());
    }
    let coding = Coding::new(x.dtype(), false);
    with_unit!(x.dtype(), K => fill_copies::<K>(OP, x, out, axis, &mut |keys, from| {
        Blocks { keys, len, from }.each(&mut [(); 0], 0, |block: Block<'_, K, ()>| {
            let scratch = Scratch::new::<K>(OP, len)?;
            let mut scratch = scratch.open(OP)?;
            let (scratch, parts) = (scratch.slice::<K>(), block.parts);
            block.each((TOGETHER / len).max(1) * len, |lines| {
                if sorts_instead::<K>(len, &kth) {
                    return sort_lines(coding, lines, len, scratch, parts);
                }
                for line in lines.chunks_exact_mut(len) {
                    partition_at(coding, line, &kth, scratch, parts);
                }
            });
            Ok(())
        })
    }))
}

/// Whether sorting a line is no slower than a partition of it.
fn sorts_instead<K: Key>(len: usize, kth: &[usize]) -> bool {
    let most = if len > SHORT { 8 } else { 2 };
    len <= little::<K>() || K::BITS == 8 || kth.len() > most
}

/// Places in ascending order, each once.
fn places(op: &'static str, kth: &[usize], len: usize) -> Result<Vec<usize>> {
    for &k in kth {
        door::check_range(op, "kth", k as f64, (0.0, len as f64 - 1.0))?;
    }
    let mut kth = kth.to_vec();
    kth.sort_unstable();
    kth.dedup();
    Ok(kth)
}

/// Writes the positions (i64) of the elements of `x` that [`partition`] would put in each place along `axis`. Deterministic:
/// with one `kth`, the positions of smaller elements, of equal ones and of larger ones each ascend.
///
/// # Errors
/// As [`partition`].
pub fn argpartition(
    x: Operand<'_>,
    axis: usize,
    kth: &[usize],
    indices: Operand<'_>,
) -> Result<()> {
    const OP: &str = "argpartition";
    check(OP, x, axis, indices, x.shape())?;
    door::check_dtype(OP, Argument::Z, indices, DType::I64)?;
    let len = x.shape()[axis];
    let kth = places(OP, kth, len)?;
    if x.layout().is_empty() {
        return Ok(());
    }
    let lines = Lines::copy_of(OP, x, axis, x.dtype())?;
    let [k] = kth[..] else {
        return fill_lines::<u64>(OP, None, indices, axis, &mut |positions| {
            order_ranks(OP, &lines, len, Sorting::ascending(), positions)
        });
    };
    let coding = Coding::new(x.dtype(), false);
    fill_lines::<u64>(OP, None, indices, axis, &mut |positions| {
        with_unit!(x.dtype(), K => {
            let mut keys = lines.open(OP)?;
            let keys = keys.slice::<K>();
            Blocks { keys, len, from: None }.each(positions, len, |block| {
                let together = (TOGETHER / len).max(1) * len;
                let scratch = Scratch::new::<K>(OP, together + len)?;
                let mut scratch = scratch.open(OP)?;
                let scratch = scratch.slice::<K>();
                let groups = block.keys.chunks_mut(together);
                for (keys, positions) in groups.zip(block.beside.chunks_mut(together)) {
                    coding.rank(keys);
                    order_around(keys, len, k, positions, scratch);
                }
                Ok(())
            })
        })
    })
}

/// Writes to `starts` (bool) where runs of equal elements begin in a sorted vector; all NaNs are one run.
///
/// # Errors
/// [`KernelError`] when `x` is not a vector, `starts` has another shape or dtype, or a buffer cannot be accessed.
pub fn run_starts(x: Operand<'_>, starts: Operand<'_>) -> Result<()> {
    const OP: &str = "unique";
    check(OP, x, 0, starts, x.shape())?;
    door::check_dtype(OP, Argument::Z, starts, DType::Bool)?;
    let coding = Coding::new(x.dtype(), false);
    let is_apart = !x.buffer().same_block(starts.buffer());
    with_unit!(x.dtype(), K => {
        let mut mark = |values: &[K]| fill_lines::<u8>(OP, None, starts, 0, &mut |starts| {
            mark_starts::<K>(coding, values, starts);
            Ok(())
        });
        if is_apart {
            return read_lines(OP, x, 0, &mut mark);
        }
        let copy = Lines::copy_of(OP, x, 0, x.dtype())?;
        mark(copy.open(OP)?.slice())
    })
}

/// Refuses an axis that is not there, and an output of another shape.
pub(crate) fn check(
    op: &'static str,
    x: Operand<'_>,
    axis: usize,
    out: Operand<'_>,
    shape: &Shape,
) -> Result<()> {
    door::check_axis(op, axis, x.layout().rank())?;
    door::check_output(op, out, shape)
}
