//! Reductions of bools that lie in long runs: bytes are counted where they are, a cache line at a time.

use lodestride_buffer::{DType, WriteGuard};

use crate::compact::count_set;
use crate::isa::{Arch, Level, Task};
use crate::reduce::ReduceOp;
use crate::reduce_plan::Plan;
use crate::spread;
use crate::strided::{Dim, count, offset_at, store_whole};
use crate::threads;

/// Shortest run worth a call.
const LONG: usize = 16;
/// Fewest columns worth a call for each row.
const WIDE: usize = 64;
/// Flags after which it is asked whether the answer is known.
const ENOUGH: usize = 1 << 16;

/// What is asked of the flags of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Any,
    All,
    Count,
}

/// Which reductions these are.
pub(crate) fn of(op: ReduceOp) -> Option<Of> {
    match op {
        ReduceOp::Any => Some(Of::Any),
        ReduceOp::All => Some(Of::All),
        ReduceOp::CountNonZero => Some(Of::Count),
        _ => None,
    }
}

/// Reduces flags; false, with nothing done, where they are not in long dense runs or rows.
pub(crate) fn run(
    of: Of,
    plan: &Plan,
    flags: &[u8],
    (output, dtype): (&mut WriteGuard<'_>, DType),
) -> bool {
    let inner = plan.inner;
    match *plan.reduced.as_slice() {
        [Dim { size, stride: 1 }] if size >= LONG => {
            each_line(plan, |mut x, mut out| {
                let mut answers = [0; TOGETHER];
                for first in (0..inner.size).step_by(TOGETHER) {
                    let answers = &mut answers[..TOGETHER.min(inner.size - first)];
                    for to in &mut *answers {
                        *to = answer(of, &flags[x as usize..][..size]);
                        x += inner.x;
                    }
                    store_whole((output, dtype), (out, inner.out), answers);
                    out += answers.len() as isize * inner.out;
                }
            });
        }
        [rows] if inner.x == 1 && inner.size >= WIDE && rows.size > 0 => {
            let mut room = ([0; COLUMNS], [0; COUNTED]);
            let most = if of == Of::Count { COUNTED } else { COLUMNS };
            each_line(plan, |x, out| {
                for first in (0..inner.size as isize).step_by(most) {
                    let width = most.min(inner.size - first as usize);
                    let joined = &mut room.0[..width];
                    let run = (out + first * inner.out, inner.out);
                    if of == Of::Count {
                        let counts = &mut room.1[..width];
                        count_columns(joined, counts, (x + first, rows), flags);
                        store_whole((output, dtype), run, counts);
                        continue;
                    }
                    join(of, joined, (x + first, rows), flags);
                    // The bytes are those of flags.
                    let dtype = if dtype == DType::Bool {
                        DType::U8
                    } else {
                        dtype
                    };
                    store_whole((output, dtype), run, joined);
                }
            });
        }
        _ => return false,
    }
    true
}

/// Calls `job(first element, first output)` for every position of the outer axes.
fn each_line(plan: &Plan, mut job: impl FnMut(isize, isize)) {
    for outer in 0..count(&plan.outer_x) {
        job(
            plan.x_start + offset_at(&plan.outer_x, outer),
            plan.out_start + offset_at(&plan.outer_out, outer),
        );
    }
}

/// Answers for runs that are written at a time.
const TOGETHER: usize = 32;
/// Columns whose answers are kept in the nearest cache.
const COLUMNS: usize = 4096;
/// The same of counts: room for more would take longer to clear than few rows to count.
const COUNTED: usize = 1024;
/// Rows after which counts in bytes are added up: they hold no more.
const FULL: usize = 255;

/// How many of the flags of each of neighbouring columns, of which the first begins at `x`, are set.
fn count_columns(joined: &mut [u8], counts: &mut [u64], (x, rows): (isize, Dim), flags: &[u8]) {
    counts.fill(0);
    for start in (0..rows.size).step_by(FULL) {
        let size = FULL.min(rows.size - start);
        let part = x + start as isize * rows.stride;
        join(Of::Count, joined, (part, Dim { size, ..rows }), flags);
        for (count, &joined) in counts.iter_mut().zip(&*joined) {
            *count += u64::from(joined);
        }
    }
}

/// The answers for neighbouring columns: rows of bytes are joined one after the other, at most [`FULL`] where they are counted.
fn join(of: Of, joined: &mut [u8], (x, rows): (isize, Dim), flags: &[u8]) {
    joined.fill(u8::from(of == Of::All));
    for row in 0..rows.size {
        let from = (x + row as isize * rows.stride) as usize;
        let row = &flags[from..][..joined.len()];
        Level::current().run_narrow(Join { of, joined, row });
    }
}

/// A row of bytes joined with the answers for the rows before.
struct Join<'a> {
    of: Of,
    joined: &'a mut [u8],
    row: &'a [u8],
}

impl Task for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let pairs = self.joined.iter_mut().zip(self.row);
        match self.of {
            Of::Any => pairs.for_each(|(to, &flag)| *to |= u8::from(flag != 0)),
            Of::All => pairs.for_each(|(to, &flag)| *to &= u8::from(flag != 0)),
            Of::Count => pairs.for_each(|(to, &flag)| *to += u8::from(flag != 0)),
        }
    }
}

/// The answer for one run.
fn answer(of: Of, flags: &[u8]) -> u64 {
    let level = Level::current();
    let mut pieces = flags.chunks(ENOUGH);
    match of {
        Of::Any => u64::from(pieces.any(|piece| count_set(piece, level) > 0)),
        Of::All => u64::from(pieces.all(|piece| count_set(piece, level) == piece.len())),
        Of::Count if threads::are_worth(flags.len(), false) => {
            let counts = spread::map(pieces.len(), |piece| {
                let rest = &flags[piece * ENOUGH..];
                count_set(&rest[..rest.len().min(ENOUGH)], level) as u64
            });
            counts.iter().sum()
        }
        Of::Count => count_set(flags, level) as u64,
    }
}

#[cfg(test)]
mod tests {
    use crate::operand::Operand;
    use crate::reduce::{ReduceOp, reduce};
    use lodestride_buffer::{Bool, Buffer, DType};
    use lodestride_shape::{Layout, Order};

    /// `(any, all, count)` of the rows of a matrix without its first column.
    fn of_rows(flags: &[bool], columns: usize) -> Vec<(u64, u64, u64)> {
        let rows = flags.len() / columns;
        let bytes = flags
            .iter()
            .map(|&flag| Bool::from(flag))
            .collect::<Vec<_>>();
        let x = Buffer::from_vec(bytes).expect("memory");
        let layout = Layout::new([rows, columns - 1], [columns as isize, 1], 1).expect("a layout");
        let x = Operand::new(&x, &layout, DType::Bool).expect("an operand");
        let out = Layout::contiguous([rows], Order::C).expect("a layout");
        let run = |op| {
            let buffer = Buffer::zeroed(rows * 8).expect("memory");
            let out = Operand::new(&buffer, &out, DType::U64).expect("an operand");
            reduce(op, x, &[1], out).expect("a reduction");
            buffer.read().expect("a guard").slice::<u64>().to_vec()
        };
        let [any, all, count] = [ReduceOp::Any, ReduceOp::All, ReduceOp::CountNonZero].map(run);
        let both = any.into_iter().zip(all).zip(count);
        both.map(|((any, all), count)| (any, all, count)).collect()
    }

    #[test]
    fn flags_are_counted_in_runs_of_every_length() {
        for columns in [2, 64, 65, 66, 130, 20_000, 70_000] {
            for kept in [0, 1, 7, 1000] {
                let is_set = |i: usize| kept > 0 && (kept == 1 || i % kept == kept - 1);
                let flags: Vec<bool> = (0..3 * columns).map(is_set).collect();
                let wanted = flags.chunks(columns).map(|row| {
                    let set = row[1..].iter().filter(|&&flag| flag).count();
                    let all = set == columns - 1;
                    (u64::from(set > 0), u64::from(all), set as u64)
                });
                let wanted: Vec<_> = wanted.collect();
                assert_eq!(
                    of_rows(&flags, columns),
                    wanted,
                    "{columns} columns, every {kept}th"
                );
            }
        }
    }
}
