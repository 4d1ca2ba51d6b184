//! Whether any or all elements are not zero, and how many: they are counted where they are, in lanes as wide as they are, and no
//! further than the answer is open. The extremes of bools are such answers.

use std::sync::atomic::{AtomicBool, Ordering};

use lodestride_buffer::{DType, ReadGuard, WriteGuard};

use crate::compact::{Word, counted};
use crate::isa::{Arch, Level, Task};
use crate::numeric::Numeric;
use crate::reduce::ReduceOp;
use crate::reduce_data::Runs;
use crate::reduce_lines::{Depth, GROUP, Way};
use crate::reduce_plan::{Piece, Plan};
use crate::strided::{Dim, store_whole};
use crate::threads;

/// Shortest run worth a call.
const LONG: usize = 16;
/// Fewest columns worth a call for each row.
const WIDE: usize = 64;
/// Elements after which it is asked whether the answer is known.
const ENOUGH: usize = 1 << 12;

/// What is asked of the flags of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Any,
    All,
    Count,
}

impl Of {
    /// The answer for no elements.
    fn of_none(self) -> i64 {
        i64::from(self == Self::All)
    }

    /// The answer for what two answers are for.
    fn joined(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Any => a | b,
            Self::All => a & b,
            Self::Count => a + b,
        }
    }

    /// Whether no further element changes the answer.
    fn is_known(self, answer: i64) -> bool {
        self != Self::Count && answer != self.of_none()
    }
}

/// Elements, which are set where they have some of `these` bits.
#[derive(Clone, Copy)]
struct Flags<'a, W> {
    words: &'a [W],
    these: W,
    of: Of,
}

/// Reduces flags; false, with nothing done, where the operation is another, or they are not in long runs or rows.
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
        ReduceOp::Max if dtype == DType::Bool => Of::Any,
        ReduceOp::Min if dtype == DType::Bool => Of::All,
        _ => return false,
    };
    let flags = (of, dtype);
    match dtype.size() {
        1 => Flags::<i8>::of(flags, guard).run(plan, output),
        2 => Flags::<i16>::of(flags, guard).run(plan, output),
        4 => Flags::<i32>::of(flags, guard).run(plan, output),
        _ => Flags::<i64>::of(flags, guard).run(plan, output),
    }
}

impl<'a, W: Word + Numeric> Flags<'a, W> {
    fn of((of, dtype): (Of, DType), guard: &'a ReadGuard<'_>) -> Self {
        // The sign of a float does not count.
        let these = if dtype.is_float() { W::MAX } else { W::ALL };
        let words = guard.slice();
        Self { words, these, of }
    }

    fn run(self, plan: &Plan, output: (&mut WriteGuard<'_>, DType)) -> bool {
        let elements = plan.lines() * plan.inner.size * plan.depth();
        let shared = threads::are_worth(elements.saturating_mul(size_of::<W>()), false);
        match plan.way(LONG, WIDE) {
            Some(Way::Along(depth)) => {
                let is_alone = elements == plan.depth();
                self.run_along((plan, depth), (shared, is_alone), output);
            }
            Some(Way::Down(depth)) if self.of == Of::Count => {
                self.count_down((plan, depth), shared, output);
            }
            Some(Way::Down(depth)) => self.join_down((plan, depth), shared, output),
            None => return false,
        }
        true
    }

    fn run_along(
        self,
        (plan, depth): (&Plan, Depth<'_>),
        (shared, is_alone): (bool, bool),
        (output, dtype): (&mut WriteGuard<'_>, DType),
    ) {
        let (of, is_known) = (self.of, AtomicBool::new(false));
        let fold = |piece: Piece, depth: Depth<'_>| {
            let mut answers = [of.of_none(); GROUP];
            if !is_alone || !is_known.load(Ordering::Relaxed) {
                self.along(plan, (piece, depth), &mut answers);
                if is_alone && of.is_known(answers[0]) {
                    is_known.store(true, Ordering::Relaxed);
                }
            }
            answers
        };
        let join = |a, b| of.joined(a, b);
        plan.fold_along((depth, shared), &fold, &join, &mut |piece, answers| {
            store_whole((output, dtype), (piece.out, plan.inner.out), answers);
        });
    }

    fn count_down(
        self,
        (plan, depth): (&Plan, Depth<'_>),
        shared: bool,
        (output, dtype): (&mut WriteGuard<'_>, DType),
    ) {
        let fold = |piece: Piece| {
            let (mut counts, mut joined) = (vec![0; piece.width], vec![W::ZERO; piece.width]);
            for x in depth.starts(piece.x) {
                self.count_columns(&mut joined, &mut counts, (x, depth.line));
            }
            counts
        };
        plan.fold_down((COLUMNS, shared), &fold, &mut |piece, counts| {
            store_whole((output, dtype), (piece.out, plan.inner.out), counts);
        });
    }

    fn join_down(
        self,
        (plan, depth): (&Plan, Depth<'_>),
        shared: bool,
        (output, dtype): (&mut WriteGuard<'_>, DType),
    ) {
        let (of, these) = (self.of, self.these);
        // The bytes are those of flags.
        let dtype = if dtype == DType::Bool {
            DType::I8
        } else {
            dtype
        };
        let fold = |piece: Piece| {
            let mut joined = vec![of.of_none() as i8; piece.width];
            for x in depth.starts(piece.x) {
                self.each_row((x, depth.line, piece.width), |row| {
                    let joined = &mut joined[..];
                    Level::current().run_narrow(Join {
                        of,
                        joined,
                        row,
                        these,
                    });
                });
            }
            joined
        };
        plan.fold_down((COLUMNS, shared), &fold, &mut |piece, joined| {
            store_whole((output, dtype), (piece.out, plan.inner.out), joined);
        });
    }

    /// Joins answers for outputs with those for more of their elements.
    fn along(self, plan: &Plan, there: (Piece, Depth<'_>), answers: &mut [i64; GROUP]) {
        let Self { words, these, of } = self;
        plan.each_runs(words, there, &mut |runs, count, outputs| {
            let answers = &mut answers[outputs];
            Level::current().run(Along {
                runs,
                count,
                these,
                of,
                answers: &mut *answers,
            });
            !of.is_known(answers[0])
        });
    }

    /// Counts of each of neighbouring columns, of which the first begins at `x`, with those of some rows.
    fn count_columns(self, joined: &mut [W], counts: &mut [i64], (x, rows): (isize, Dim)) {
        for start in (0..rows.size).step_by(W::MOST) {
            let size = W::MOST.min(rows.size - start);
            let part = x + start as isize * rows.stride;
            joined.fill(W::ZERO);
            let rows = (part, Dim { size, ..rows }, joined.len());
            self.each_row(rows, |row| {
                let (joined, these) = (&mut *joined, self.these);
                Level::current().run_narrow(CountEach { joined, row, these });
            });
            for (count, &joined) in counts.iter_mut().zip(&*joined) {
                *count += joined.count();
            }
        }
    }

    /// Calls `job` with rows of neighbouring columns, of which the first begins at `x`.
    fn each_row(self, (x, rows, width): (isize, Dim, usize), mut job: impl FnMut(&'a [W])) {
        for row in 0..rows.size {
            let from = (x + row as isize * rows.stride) as usize;
            job(&self.words[from..][..width]);
        }
    }
}

/// Answers for runs, one for each or one for all of them, joined with what they are already.
struct Along<'a, W> {
    runs: Runs<'a, W>,
    count: usize,
    these: W,
    of: Of,
    answers: &'a mut [i64],
}

impl<W: Word> Task for Along<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, of, .. } = self;
        let piece = if of == Of::Count { runs.len } else { ENOUGH };
        for index in 0..self.count {
            let answer = &mut self.answers[index.min(self.answers.len() - 1)];
            for piece in runs.run(index).chunks(piece) {
                if of.is_known(*answer) {
                    break;
                }
                let set = counted(piece, self.these) as i64;
                let of_piece = match of {
                    Of::Any => i64::from(set > 0),
                    Of::All => i64::from(set == piece.len() as i64),
                    Of::Count => set,
                };
                *answer = of.joined(*answer, of_piece);
            }
        }
    }
}

/// A row joined with the answers for the rows before.
struct Join<'a, W> {
    of: Of,
    joined: &'a mut [i8],
    row: &'a [W],
    these: W,
}

impl<W: Word> Task for Join<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let these = self.these;
        let pairs = self.joined.iter_mut().zip(self.row);
        if self.of == Of::All {
            pairs.for_each(|(to, &word)| *to &= i8::from(word.has(these)));
        } else {
            pairs.for_each(|(to, &word)| *to |= i8::from(word.has(these)));
        }
    }
}

/// A row counted with the rows before, at most [`Word::MOST`].
struct CountEach<'a, W> {
    joined: &'a mut [W],
    row: &'a [W],
    these: W,
}

impl<W: Word> Task for CountEach<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (to, &word) in self.joined.iter_mut().zip(self.row) {
            *to += word.is_set(self.these);
        }
    }
}

/// Columns whose answers are kept in the nearest cache.
const COLUMNS: usize = 4096;

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
