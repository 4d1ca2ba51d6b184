//! Moving whole rows by index: take and scatter.
//!
//! Every index is checked before the first element is written.

use lodestride_buffer::{Argument, ReadGuard, WriteGuard};
use lodestride_shape::{Order, Shape};

use crate::door;
use crate::error::KernelError;
use crate::gather_indices::{Indices, TILE, with_indices};
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
use crate::row_copy::{Pair, Pairs, copy_block, join, pairs, with_unit};
use crate::strided::{Dim, Dims, Source, collapse, count, dims_of, load_written, offset_at, store};
use crate::take_rows::Rows;

/// The pieces of an indexed copy: axes before the indexed one, the index axes, axes after it.
pub(crate) struct Plan {
    /// Axes before: steps in the whole array and in the gathered one.
    pub(crate) before: Pairs,
    pub(crate) after: Pairs,
    /// Step of the indexed axis in the whole array.
    pub(crate) step: isize,
    /// Index axes of the gathered array.
    indexed: Dims,
    pub(crate) whole: isize,
    gathered: isize,
}

impl Plan {
    fn new(whole: Operand<'_>, axis: usize, index_rank: usize, gathered: Operand<'_>) -> Self {
        let layouts = [whole.layout(), gathered.layout()];
        let [(shape, strides), (sizes, out)] = layouts.map(|l| (&l.shape()[..], l.strides()));
        let tail = axis + index_rank;
        // Without gaps all axes of a piece are one, as they mostly are.
        let (before, indexed, after) = if layouts.iter().all(|l| l.is_contiguous(Order::C)) {
            let row = shape[axis + 1..].iter().product::<usize>();
            let count = sizes[axis..tail].iter().product::<usize>();
            let step = |size: usize, x: usize, out: usize| Pair {
                size,
                x: x.cast_signed(),
                out: out.cast_signed(),
            };
            let outer = step(
                shape[..axis].iter().product(),
                shape[axis] * row,
                count * row,
            );
            let indexed = collapse([dim(count, row.cast_signed())]);
            (join([outer]), indexed, join([step(row, 1, 1)]))
        } else {
            (
                join(pairs(&shape[..axis], &strides[..axis], &out[..axis])),
                collapse(dims_of(&sizes[axis..tail], &out[axis..tail])),
                join(pairs(
                    &shape[axis + 1..],
                    &strides[axis + 1..],
                    &out[tail..],
                )),
            )
        };
        Self {
            before,
            after,
            step: strides[axis],
            indexed,
            whole: whole.layout().offset() as isize,
            gathered: gathered.layout().offset() as isize,
        }
    }

    /// Distance between the gathered elements, where they are single ones.
    fn step_of_single(&self) -> Option<isize> {
        let step = match self.indexed[..] {
            [] => 0,
            [Dim { stride, .. }] => stride,
            _ => return None,
        };
        self.after.is_empty().then_some(step)
    }

    /// Lets single elements, `step` apart in the gathered array, meet those of the whole one.
    #[inline(always)]
    fn each_single<U: Copy>(
        &self,
        indices: &Indices<'_>,
        (out, source): (&mut [U], &[U]),
        step: isize,
        meet: impl Fn(&mut U, U),
    ) {
        let pitch = self.step;
        self.each_line(|whole, gathered| {
            indices.each_tile(0..indices.count, true, |first, tile| {
                let from = gathered + first as isize * step;
                // Mostly; places of the source that are computed would take a quarter longer.
                if step == 1 {
                    for (&index, &new) in tile.iter().zip(&source[from as usize..]) {
                        meet(&mut out[(whole + index as isize * pitch) as usize], new);
                    }
                    return;
                }
                for (number, &index) in (0..).zip(tile) {
                    let new = source[(from + number * step) as usize];
                    meet(&mut out[(whole + index as isize * pitch) as usize], new);
                }
            });
        });
    }

    /// Calls `job(offset in whole, offset in gathered)` for the first element of every block. There once for all jobs.
    fn each(&self, indices: &Indices<'_>, job: &mut dyn FnMut(isize, isize)) {
        self.each_line(|whole, gathered| {
            indices.each(|position, index| {
                job(
                    whole + index as isize * self.step,
                    gathered + offset_at(&self.indexed, position),
                );
            });
        });
    }

    /// Calls `job(offset in whole, offset in gathered)` for what the indices are counted from, at every place before their
    /// axis.
    #[inline(always)]
    fn each_line(&self, mut job: impl FnMut(isize, isize)) {
        let x: Dims = self.before.iter().map(|p| dim(p.size, p.x)).collect();
        let out: Dims = self.before.iter().map(|p| dim(p.size, p.out)).collect();
        for outer in 0..count(&x) {
            let (x, out) = (offset_at(&x, outer), offset_at(&out, outer));
            job(self.whole + x, self.gathered + out);
        }
    }
}

pub(crate) fn dim(size: usize, stride: isize) -> Dim {
    Dim { size, stride }
}

/// `shape` with `axis` replaced by the axes of the index array.
fn gathered_shape(shape: &[usize], axis: usize, indices: &[usize]) -> Shape {
    let sizes = shape[..axis]
        .iter()
        .chain(indices)
        .chain(&shape[axis + 1..]);
    sizes.copied().collect()
}

/// Copies the slices of `x` at `indices` along `axis`: `out[.., i.., ..] = x[.., indices[i..], ..]`.
///
/// `indices` has any integer dtype and any shape; a negative index counts from the end. The shape of `out` is that of `x`
/// with the axis replaced by the shape of `indices`; its dtype is that of `x`, or values are cast.
///
/// # Errors
/// [`KernelError`] when the axis or an index is out of range (the error names its value and position), `indices` is not of
/// an integer dtype, `out` has another shape, or a buffer cannot be accessed. Nothing is written then.
pub fn take(
    x: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    take_to(x, axis, indices, (out, false))
}

/// [`take`] into memory that nobody has seen yet: indices are checked while elements are copied, and where one is out of range,
/// what has been written until then is for the caller to throw away.
///
/// # Errors
/// As [`take`].
pub fn take_new(
    x: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    take_to(x, axis, indices, (out, true))
}

fn take_to(
    x: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    (out, is_new): (Operand<'_>, bool),
) -> Result<(), KernelError> {
    const OP: &str = "take";
    door::check_axis(OP, axis, x.layout().rank())?;
    door::check_integer(OP, indices)?;
    let wanted = gathered_shape(x.layout().shape(), axis, indices.layout().shape());
    door::check_output(OP, out, &wanted)?;
    let converted = door::converted(OP, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let copies = [
        door::private_copy(OP, Argument::X, x, &[out])?,
        door::private_copy(OP, Argument::Y, indices, &[out])?,
    ];
    let x_guard = door::read(OP, Argument::X, x, copies[0].as_ref())?;
    let index_guard = door::read(OP, Argument::Y, indices, copies[1].as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    let index = (indices, &index_guard);
    take_open(
        OP,
        axis,
        (x, &x_guard),
        index,
        (out, &mut out_guard),
        is_new,
    )
}

/// [`take`] between open operands of fitting shapes, of which `x` and `out` have one dtype.
pub(crate) fn take_open(
    op: &'static str,
    axis: usize,
    (x, x_guard): (Operand<'_>, &ReadGuard<'_>),
    (indices, index_guard): (Operand<'_>, &ReadGuard<'_>),
    (out, out_guard): (Operand<'_>, &mut WriteGuard<'_>),
    is_new: bool,
) -> Result<(), KernelError> {
    let plan = Plan::new(x, axis, indices.layout().rank(), out);
    with_indices(
        index_guard,
        indices,
        (axis, x.layout().shape()[axis]),
        |indices| {
            if out.layout().is_empty() {
                return indices.check(op);
            }
            let rows = Rows::new(&plan, x, indices, out);
            if !is_new || rows.is_none() {
                indices.check(op)?;
            }
            if let Some(rows) = rows {
                let are_inside = rows.take(x_guard, out_guard);
                return if are_inside {
                    Ok(())
                } else {
                    indices.check(op)
                };
            }
            with_unit!(x.dtype(), U => {
                let (data, out) = (x_guard.slice::<U>(), out_guard.slice_mut::<U>());
                plan.each(indices, &mut |from, to| copy_block(data, from, out, to, &plan.after));
            });
            Ok(())
        },
    )
}

/// Whether scattered values replace or add to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scatter {
    Add,
    Set,
}

/// Adds slices of `source` to those of `out` at `indices` along `axis`: the adjoint of [`take`]. Duplicates add up.
///
/// The shape of `source` is that of `out` with the axis replaced by the shape of `indices`; its values are cast to the
/// dtype of `out` before the addition.
///
/// # Errors
/// As [`take`].
pub fn scatter_add(
    out: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    source: Operand<'_>,
) -> Result<(), KernelError> {
    scatter("scatter_add", Scatter::Add, out, axis, indices, source)
}

/// Writes slices of `source` to those of `out` at `indices` along `axis`; of duplicates the last one stays.
///
/// # Errors
/// As [`take`].
pub fn scatter_set(
    out: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    source: Operand<'_>,
) -> Result<(), KernelError> {
    scatter("scatter_set", Scatter::Set, out, axis, indices, source)
}

fn scatter(
    op: &'static str,
    mode: Scatter,
    out: Operand<'_>,
    axis: usize,
    indices: Operand<'_>,
    source: Operand<'_>,
) -> Result<(), KernelError> {
    door::check_axis(op, axis, out.layout().rank())?;
    door::check_integer(op, indices)?;
    out.check_writable(op)?;
    let wanted = gathered_shape(out.layout().shape(), axis, indices.layout().shape());
    source.check_shape(op, Argument::Y, &wanted)?;
    let copies = [
        door::private_copy(op, Argument::Y, source, &[out])?,
        door::private_copy(op, Argument::X, indices, &[out])?,
    ];
    let source_guard = door::read(op, Argument::Y, source, copies[0].as_ref())?;
    let index_guard = door::read(op, Argument::X, indices, copies[1].as_ref())?;
    let mut guard = door::write(op, Argument::Z, out)?;
    let plan = Plan::new(out, axis, indices.layout().rank(), source);
    with_indices(
        &index_guard,
        indices,
        (axis, out.layout().shape()[axis]),
        |indices| {
            indices.check(op)?;
            if source.layout().is_empty() {
                return Ok(());
            }
            if mode == Scatter::Set && source.dtype() == out.dtype() {
                if let Some(step) = plan.step_of_single() {
                    with_unit!(out.dtype(), U => {
                        let (data, all) = (source_guard.slice::<U>(), guard.slice_mut::<U>());
                        plan.each_single(indices, (all, data), step, |old, new| *old = new);
                    });
                    return Ok(());
                }
                let after: Pairs = (plan.after.iter())
                    .map(|p| Pair {
                        x: p.out,
                        out: p.x,
                        ..*p
                    })
                    .collect();
                with_unit!(out.dtype(), U => {
                    let (data, all) = (source_guard.slice::<U>(), guard.slice_mut::<U>());
                    plan.each(indices, &mut |to, from| copy_block(data, from, all, to, &after));
                });
                return Ok(());
            }
            let work = Scattering {
                mode,
                plan: &plan,
                indices,
                source,
                out,
            };
            match ComputeKind::exact(out.dtype()) {
                ComputeKind::F32 => work.run::<f32>(&source_guard, &mut guard),
                ComputeKind::F64 => work.run::<f64>(&source_guard, &mut guard),
                ComputeKind::I64 => work.run::<i64>(&source_guard, &mut guard),
                ComputeKind::U64 => work.run::<u64>(&source_guard, &mut guard),
            }
            Ok(())
        },
    )
}

/// Adds a run to another.
#[inline(always)]
fn add_run<C: Compute>(to: &mut [C], from: &[C]) {
    for (to, &new) in to.iter_mut().zip(from) {
        *to = to.add(new);
    }
}

struct Scattering<'a> {
    mode: Scatter,
    plan: &'a Plan,
    indices: &'a Indices<'a>,
    source: Operand<'a>,
    out: Operand<'a>,
}

impl Scattering<'_> {
    fn run<C: Compute>(&self, source: &ReadGuard<'_>, out: &mut WriteGuard<'_>) {
        let after = &self.plan.after;
        let (inner, outer) = match after.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => (
                Pair {
                    size: 1,
                    x: 1,
                    out: 1,
                },
                &[][..],
            ),
        };
        let whole: Dims = outer.iter().map(|p| dim(p.size, p.x)).collect();
        let gathered: Dims = outer.iter().map(|p| dim(p.size, p.out)).collect();
        let (mut new, mut old) = ([C::ZERO; TILE], [C::ZERO; TILE]);
        let source = Source::<C>::new(source, self.source.dtype());
        let dense = (inner.x, inner.out) == (1, 1) && self.out.dtype() == C::DTYPE;
        let native = source
            .native()
            .filter(|_| dense && self.mode == Scatter::Add);
        if let Some(source) = native {
            let out = out.slice_mut::<C>();
            if let Some(step) = self.plan.step_of_single() {
                let meet = |old: &mut C, new: C| *old = old.add(new);
                self.plan
                    .each_single(self.indices, (out, source), step, meet);
                return;
            }
            self.plan.each(self.indices, &mut |to, from| {
                for run in 0..count(&whole) {
                    let to = (to + offset_at(&whole, run)) as usize;
                    let from = (from + offset_at(&gathered, run)) as usize;
                    add_run(&mut out[to..][..inner.size], &source[from..][..inner.size]);
                }
            });
            return;
        }
        self.plan.each(self.indices, &mut |to, from| {
            for run in 0..count(&whole) {
                let to = to + offset_at(&whole, run);
                let from = from + offset_at(&gathered, run);
                for first in (0..inner.size).step_by(TILE) {
                    let len = TILE.min(inner.size - first);
                    let (new, old) = (&mut new[..len], &mut old[..len]);
                    let to = to + first as isize * inner.x;
                    source.load(from + first as isize * inner.out, inner.out, new);
                    if self.mode == Scatter::Add {
                        load_written(out, self.out.dtype(), to, inner.x, old);
                        for (new, &old) in new.iter_mut().zip(old.iter()) {
                            *new = old.add(*new);
                        }
                    }
                    store(out, self.out.dtype(), to, inner.x, new);
                }
            }
        });
    }
}
