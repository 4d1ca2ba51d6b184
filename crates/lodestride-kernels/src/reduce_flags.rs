//! Reductions of bools that lie in long runs, and counts of other short elements that are not zero: they are counted where they
//! are, in lanes as wide as they are.

use lodestride_buffer::{DType, ReadGuard, WriteGuard};

use crate::compact::{Word, count_words};
use crate::isa::{Arch, Level, Task};
use crate::numeric::Numeric;
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
const ENOUGH: usize = 1 << 12;
/// Elements that a thread counts at a time.
const PART: usize = 1 << 16;

/// What is asked of the flags of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Any,
    All,
    Count,
}

/// Elements, which are set where they have some of `these` bits.
#[derive(Clone, Copy)]
struct Flags<'a, W> {
    words: &'a [W],
    these: W,
}

/// Reduces flags; false, with nothing done, where the operation or the elements are others, or they are not in long dense runs or
/// rows.
pub(crate) fn run(
    op: ReduceOp,
    plan: &Plan,
    (guard, dtype): (&ReadGuard<'_>, DType),
    output: (&mut WriteGuard<'_>, DType),
) -> bool {
    let of = match op {
        ReduceOp::Any => Of::Any,
        ReduceOp::All => Of::All,
        ReduceOp::CountNonZero => Of::Count,
        _ => return false,
    };
    if dtype != DType::Bool && of != Of::Count {
        return false;
    }
    // The sign of a float does not count.
    let sign = u32::from(dtype.is_float());
    match dtype.size() {
        1 => Flags::of(guard.slice(), u8::ALL).run(of, plan, output),
        2 => Flags::of(guard.slice(), u16::ALL >> sign).run(of, plan, output),
        4 => Flags::of(guard.slice(), u32::ALL >> sign).run(of, plan, output),
        _ => false,
    }
}

impl<'a, W: Word + Numeric> Flags<'a, W> {
    fn of(words: &'a [W], these: W) -> Self {
        Self { words, these }
    }

    fn run(self, of: Of, plan: &Plan, (output, dtype): (&mut WriteGuard<'_>, DType)) -> bool {
        let inner = plan.inner;
        match *plan.reduced.as_slice() {
            [Dim { size, stride: 1 }] if size >= LONG => {
                each_line(plan, |mut x, mut out| {
                    let mut answers = [0; TOGETHER];
                    for first in (0..inner.size).step_by(TOGETHER) {
                        let answers = &mut answers[..TOGETHER.min(inner.size - first)];
                        for to in &mut *answers {
                            *to = self.answer(of, x as usize, size);
                            x += inner.x;
                        }
                        store_whole((output, dtype), (out, inner.out), answers);
                        out += answers.len() as isize * inner.out;
                    }
                });
            }
            [rows] if inner.x == 1 && inner.size >= WIDE && rows.size > 0 => {
                let mut room = ([W::ZERO; COLUMNS], [0; COUNTED]);
                let most = if of == Of::Count { COUNTED } else { COLUMNS };
                each_line(plan, |x, out| {
                    for first in (0..inner.size as isize).step_by(most) {
                        let width = most.min(inner.size - first as usize);
                        let joined = &mut room.0[..width];
                        let run = (out + first * inner.out, inner.out);
                        if of == Of::Count {
                            let counts = &mut room.1[..width];
                            self.count_columns(joined, counts, (x + first, rows));
                            store_whole((output, dtype), run, counts);
                            continue;
                        }
                        self.join(of, joined, (x + first, rows));
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

    /// How many elements of each of neighbouring columns, of which the first begins at `x`, are set.
    fn count_columns(self, joined: &mut [W], counts: &mut [u64], (x, rows): (isize, Dim)) {
        counts.fill(0);
        for start in (0..rows.size).step_by(W::MOST) {
            let size = W::MOST.min(rows.size - start);
            let part = x + start as isize * rows.stride;
            self.join(Of::Count, joined, (part, Dim { size, ..rows }));
            for (count, &joined) in counts.iter_mut().zip(&*joined) {
                *count += joined.count();
            }
        }
    }

    /// The answers for neighbouring columns: rows are joined one after the other, at most [`Word::MOST`] where they are counted.
    fn join(self, of: Of, joined: &mut [W], (x, rows): (isize, Dim)) {
        let these = self.these;
        joined.fill(if of == Of::All { W::ONE } else { W::ZERO });
        for row in 0..rows.size {
            let from = (x + row as isize * rows.stride) as usize;
            let row = &self.words[from..][..joined.len()];
            Level::current().run_narrow(Join {
                of,
                joined,
                row,
                these,
            });
        }
    }

    /// The answer for one run.
    fn answer(self, of: Of, start: usize, size: usize) -> u64 {
        let (level, these) = (Level::current(), self.these);
        let words = &self.words[start..][..size];
        let mut pieces = words.chunks(ENOUGH);
        let set = |piece: &[W]| count_words(piece, these, level);
        match of {
            Of::Any => u64::from(pieces.any(|piece| set(piece) > 0)),
            Of::All => u64::from(pieces.all(|piece| set(piece) == piece.len())),
            Of::Count if threads::are_worth(size_of_val(words), false) => {
                let counts = spread::map(words.len().div_ceil(PART), |part| {
                    let rest = &words[part * PART..];
                    set(&rest[..rest.len().min(PART)]) as u64
                });
                counts.iter().sum()
            }
            Of::Count => set(words) as u64,
        }
    }
}

/// A row joined with the answers for the rows before.
struct Join<'a, W> {
    of: Of,
    joined: &'a mut [W],
    row: &'a [W],
    these: W,
}

impl<W: Word> Task for Join<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let these = self.these;
        let pairs = self.joined.iter_mut().zip(self.row);
        match self.of {
            Of::Any => pairs.for_each(|(to, &word)| *to |= word.is_set(these)),
            Of::All => pairs.for_each(|(to, &word)| *to &= word.is_set(these)),
            Of::Count => pairs.for_each(|(to, &word)| *to += word.is_set(these)),
        }
    }
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

#[cfg(test)]
mod tests {
    use crate::operand::Operand;
    use crate::reduce::{ReduceOp, reduce};
    use half::f16;
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

    #[test]
    fn zeros_of_either_sign_do_not_count_and_nan_does() {
        // Rows and columns longer than what bytes count to.
        for (rows, columns) in [(3, 700), (700, 70)] {
            let value = |i: usize| [0.0, 1.5, -0.0, f32::NAN, -2.0][i % 5];
            let x: Vec<f32> = (0..rows * columns).map(value).collect();
            let halves: Vec<f16> = x.iter().map(|&x| f16::from_f32(x)).collect();
            let bytes: Vec<u8> = x.iter().map(|&x| u8::from(x != 0.0) * 0x80).collect();
            let shorts: Vec<i16> = x.iter().map(|&x| i16::from(x != 0.0) * i16::MIN).collect();
            let buffers = [
                (Buffer::from_vec(x.clone()), DType::F32),
                (Buffer::from_vec(halves), DType::F16),
                (Buffer::from_vec(bytes), DType::U8),
                (Buffer::from_vec(shorts), DType::I16),
            ];
            let layout = Layout::contiguous([rows, columns], Order::C).expect("a layout");
            for (buffer, dtype) in buffers {
                let buffer = buffer.expect("memory");
                let x_operand = Operand::new(&buffer, &layout, dtype).expect("an operand");
                for axis in [0, 1] {
                    let kept = [columns, rows][axis];
                    let wanted: Vec<u64> = (0..kept)
                        .map(|at| {
                            let is_set = |i: usize| x[i] != 0.0;
                            let of = |other: usize| match axis {
                                0 => is_set(other * columns + at),
                                _ => is_set(at * columns + other),
                            };
                            (0..[rows, columns][axis])
                                .filter(|&other| of(other))
                                .count() as u64
                        })
                        .collect();
                    let counts = Buffer::zeroed(kept * 8).expect("memory");
                    let out = Layout::contiguous([kept], Order::C).expect("a layout");
                    let out = Operand::new(&counts, &out, DType::U64).expect("an operand");
                    reduce(ReduceOp::CountNonZero, x_operand, &[axis], out).expect("counts");
                    let counts = counts.read().expect("a guard");
                    assert_eq!(counts.slice::<u64>(), wanted, "{dtype} along {axis}");
                }
            }
        }
    }
}
