//! Reductions down a few long rows: neighbouring columns are folded in registers and stored where they belong, without the totals
//! that deeper ones keep in memory meanwhile. As in a block of rows, each column is folded from its first row to its last.

use lodestride_buffer::{DType, Element, ReadGuard, WriteGuard, bf16, f16, with_integer};
use smallvec::SmallVec;
use std::marker::PhantomData;

use crate::isa::{Arch, Level, Plain, Task};
use crate::numeric::{Compute, Numeric};
use crate::rank::{Flip, Key, Rank, flip};
use crate::reduce::ReduceOp;
use crate::reduce_fold::LaneFold;
use crate::reduce_kinds::{Addable, Extreme, Magnitude, Sum};
use crate::reduce_lifted::is_tuned;
use crate::reduce_plan::{Kept, Plan};
use crate::reduce_product::Product;
use crate::reduce_short::{VectorFold, has_nan};
use crate::reduce_squares::ScaledSquares;
use crate::spread;
use crate::strided::{collapse, count, offset_at};
use crate::threads;
use crate::vector::{Vector, VectorTask};

/// Rows up to which columns are folded so: more of them are too many streams to the processor.
const FEW_ROWS: usize = 16;
/// Fewest columns.
const LONG: usize = 64;

/// Reduces columns of few rows to an output of the natural dtype without gaps; false, with nothing done, where the operation is
/// another or they do not lie so.
pub(crate) fn run(
    op: ReduceOp,
    plan: &Plan,
    (guard, dtype): (&ReadGuard<'_>, DType),
    (output, out_dtype): (&mut WriteGuard<'_>, DType),
) -> bool {
    if !has_few_rows(plan) || out_dtype != op.result_dtype(dtype) {
        return false;
    }
    let mut job = Job {
        plan,
        guard,
        output,
    };
    if let (ReduceOp::Norm2, DType::F32) = (op, dtype) {
        // No square of an f32 leaves the range of f64.
        let squares = ScaledSquares { scale: 1.0 };
        job.lanes::<f32, f32, f32, _, f64>(squares, f64::sqrt);
        return true;
    }
    // Elsewhere what follows is no faster than what is done with more rows, and it is the same.
    is_tuned() && job.run(op, dtype)
}

/// Whether rows are few and long, and results follow each other as columns do.
fn has_few_rows(plan: &Plan) -> bool {
    let Kept { size, x, out } = plan.inner;
    // The outer axes are looked at last: most reductions are others.
    if (x, out) != (1, 1) || size < LONG || !(1..=FEW_ROWS).contains(&plan.depth()) {
        return false;
    }
    let lines = collapse(plan.outer_out.iter().copied());
    match *lines.as_slice() {
        [] => true,
        [line] => line.stride == size as isize,
        _ => false,
    }
}

/// How the columns of some rows become results.
trait ColumnFold<S, T>: Copy + Sync {
    /// Whether AVX-512 is worth its code.
    const WIDE: bool;
    /// Whether machines without vectors of ours fold columns so too, since with more rows they become other results.
    const EVERYWHERE: bool = false;
    /// The results of neighbouring columns, given a function to their part of each row and how many rows there are. Must be
    /// `#[inline(always)]`.
    fn block<'a, A: Arch, const N: usize>(
        self,
        row: impl Fn(usize) -> &'a [S; N],
        depth: usize,
        out: &mut [T; N],
    ) where
        S: 'a;
}

/// Lanes of a fold, and what a lane becomes at the end.
#[derive(Clone, Copy)]
struct Lanewise<C, F, E> {
    of: PhantomData<C>,
    fold: F,
    end: E,
}

impl<S, C, F, V, T, E> ColumnFold<S, T> for Lanewise<C, F, E>
where
    S: Numeric,
    C: Compute,
    F: LaneFold<C>,
    V: Compute,
    T: Numeric,
    E: Fn(F::Lane) -> V + Copy + Sync,
{
    // Halves go through memory, where wider vectors gain nothing.
    const WIDE: bool = size_of::<S>() >= 4 && C::VECTOR;
    const EVERYWHERE: bool = F::IS_WIDER;

    #[inline(always)]
    fn block<'a, A: Arch, const N: usize>(
        self,
        row: impl Fn(usize) -> &'a [S; N],
        depth: usize,
        out: &mut [T; N],
    ) {
        let Self { fold, end, .. } = self;
        let mut lanes = [fold.lane(); N];
        for index in 0..depth {
            let mut values = [C::ZERO; N];
            C::load_all::<S, A>(row(index), &mut values);
            for (lane, value) in lanes.iter_mut().zip(values) {
                *lane = fold.step(*lane, value);
            }
        }
        let mut results = [V::ZERO; N];
        for (result, lane) in results.iter_mut().zip(lanes) {
            *result = end(lane);
        }
        V::store_all::<T, A>(&results, out);
    }
}

/// Extremes of floats, by instructions that lose NaN where there is none.
#[derive(Clone, Copy)]
struct Best<const MIN: bool>;

impl<C: Magnitude, const MIN: bool> ColumnFold<C, C> for Best<MIN> {
    const WIDE: bool = true;

    #[inline(always)]
    fn block<'a, A: Arch, const N: usize>(
        self,
        row: impl Fn(usize) -> &'a [C; N],
        depth: usize,
        out: &mut [C; N],
    ) {
        let fold = Extreme::<MIN, false>;
        let best = BestOf {
            fold,
            row: &row,
            depth,
        };
        if let Some(Some(best)) = C::in_vectors::<A, _>(best) {
            *out = best;
            return;
        }
        for (column, out) in out.iter_mut().enumerate() {
            let step = |best, index| fold.step(best, row(index)[column]);
            *out = (0..depth).fold(LaneFold::<C>::lane(&fold), step);
        }
    }
}

/// Extremes of integers, as they are.
#[derive(Clone, Copy)]
struct Ranked<R>(R);

impl<E: Element, R: Rank<E>> ColumnFold<E, E> for Ranked<R> {
    const WIDE: bool = false;

    #[inline(always)]
    fn block<'a, A: Arch, const N: usize>(
        self,
        row: impl Fn(usize) -> &'a [E; N],
        depth: usize,
        out: &mut [E; N],
    ) {
        let mut best = [R::Key::LOWEST; N];
        for index in 0..depth {
            for (best, &x) in best.iter_mut().zip(row(index)) {
                *best = (*best).max(self.0.key(x));
            }
        }
        for (out, best) in out.iter_mut().zip(best) {
            *out = self.0.element(best);
        }
    }
}

struct BestOf<'r, F, R> {
    fold: F,
    row: &'r R,
    depth: usize,
}

impl<'a, C, F, R, const N: usize> VectorTask<C> for BestOf<'_, F, R>
where
    C: Compute + 'a,
    F: VectorFold<C>,
    R: Fn(usize) -> &'a [C; N],
{
    type Output = Option<[C; N]>;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> Option<[C; N]> {
        let Self { fold, row, depth } = self;
        if !N.is_multiple_of(4 * V::LANES) {
            return None;
        }
        let mut best = [C::ZERO; N];
        for first in (0..N).step_by(4 * V::LANES) {
            let (mut lanes, mut sums) = ([V::splat(fold.lane()); 4], [V::splat(C::ZERO); 4]);
            for index in 0..depth {
                let row = &row(index)[first..];
                for part in 0..4 {
                    let values = V::load(&row[part * V::LANES..]);
                    lanes[part] = fold.step_all(lanes[part], values);
                    sums[part] = sums[part].add(values);
                }
            }
            if has_nan(sums) {
                return None;
            }
            for part in 0..4 {
                lanes[part].store(&mut best[first + part * V::LANES..]);
            }
        }
        Some(best)
    }
}

struct Job<'a, 'o> {
    plan: &'a Plan,
    guard: &'a ReadGuard<'a>,
    output: &'a mut WriteGuard<'o>,
}

impl Job<'_, '_> {
    /// Sums, means, products and extremes of what is worth the code; false, with nothing done, for others.
    fn run(&mut self, op: ReduceOp, dtype: DType) -> bool {
        match op {
            ReduceOp::Sum => match dtype {
                DType::F16 => self.sum::<f16, f32, f16>(),
                DType::BF16 => self.sum::<bf16, f32, bf16>(),
                DType::F32 => self.sum::<f32, f32, f32>(),
                DType::F64 => self.sum::<f64, f64, f64>(),
                // What wraps is the same for both signs.
                DType::I64 | DType::U64 => self.sum::<i64, i64, i64>(),
                dtype => with_integer!(dtype, S => self.sum::<S, i64, i64>(), else return false),
            },
            ReduceOp::Prod => match dtype {
                DType::F32 => self.product::<f32, f32, f32>(),
                DType::F64 => self.product::<f64, f64, f64>(),
                DType::I64 | DType::U64 => self.product::<i64, i64, i64>(),
                DType::I32 => self.product::<i32, i64, i64>(),
                DType::U32 => self.product::<u32, i64, i64>(),
                _ => return false,
            },
            ReduceOp::Mean => match dtype {
                DType::F16 => self.mean::<f16, f32, f16>(),
                DType::F32 => {
                    // The quotient of an f32 by so small a number is the same by way of f64.
                    let count = self.plan.depth() as f32;
                    self.lanes::<f32, f32, f32, _, f32>(Sum::<false>, move |sum| sum / count);
                }
                DType::F64 => self.mean::<f64, f64, f64>(),
                DType::I64 => self.mean::<i64, i64, f64>(),
                DType::U64 => self.mean::<u64, u64, f64>(),
                DType::I32 => self.mean::<i32, i64, f64>(),
                DType::U32 => self.mean::<u32, i64, f64>(),
                _ => return false,
            },
            ReduceOp::Max => return self.extreme::<false>(dtype),
            ReduceOp::Min => return self.extreme::<true>(dtype),
            _ => return false,
        }
        true
    }

    fn sum<S: Numeric, C: Addable + Magnitude, T: Numeric>(&mut self) {
        self.lanes::<S, C, T, _, C>(Sum::<false>, |sum| sum);
    }

    fn product<S: Numeric, C: Addable, T: Numeric>(&mut self) {
        self.lanes::<S, C, T, _, _>(Product, |product| product);
    }

    fn mean<S: Numeric, C: Addable + Magnitude, T: Numeric>(&mut self) {
        let count = self.plan.depth() as f64;
        let mean = move |sum: C| sum.to_f64() / count;
        self.lanes::<S, C, T, _, f64>(Sum::<false>, mean);
    }

    fn extreme<const MIN: bool>(&mut self, dtype: DType) -> bool {
        match dtype {
            DType::F32 => self.fold::<f32, f32, _>(Best::<MIN>),
            DType::F64 => self.fold::<f64, f64, _>(Best::<MIN>),
            // Of shorter integers a vector takes more columns than are folded here at a time.
            DType::I32 | DType::U32 => self.fold::<i32, i32, _>(Ranked(Flip(flip(dtype, MIN)))),
            DType::I64 | DType::U64 => self.fold::<i64, i64, _>(Ranked(Flip(flip(dtype, MIN)))),
            _ => return false,
        }
        true
    }

    /// Stores `end` of the lane of each column.
    fn lanes<S: Numeric, C: Compute, T: Numeric, F: LaneFold<C>, V: Compute>(
        &mut self,
        fold: F,
        end: impl Fn(F::Lane) -> V + Copy + Sync,
    ) {
        let of = PhantomData::<C>;
        self.fold::<S, T, _>(Lanewise { of, fold, end });
    }

    /// Stores what each column becomes.
    fn fold<S: Element, T: Element, F: ColumnFold<S, T>>(&mut self, fold: F) {
        let x = self.guard.slice::<S>();
        let level = Level::current();
        let out = self.output.slice_mut::<T>();
        for_each_stretch(self.plan, size_of::<S>(), out, &|start, rows, out| {
            let columns = Columns {
                x: &x[start..],
                rows,
                fold,
                out,
            };
            if const { <F as ColumnFold<S, T>>::EVERYWHERE } {
                return level.run(columns);
            }
            let done = if const { <F as ColumnFold<S, T>>::WIDE } {
                level.run_tuned(columns)
            } else {
                level.run_narrow_tuned(columns)
            };
            // Another thread may have chosen the baseline meanwhile.
            done.unwrap_or_else(Columns::one_by_one);
        });
    }
}

/// What is done with a stretch of columns: its first element, where rows begin from there, and its results.
type Stretch<'a, T> = dyn Fn(usize, &[usize], &mut [T]) + Sync + 'a;

/// Does a job with stretches of columns that lie side by side, of elements of so many bytes: shared among
/// threads where they are worth it. Rows begin so far from the first one.
#[inline(never)]
fn for_each_stretch<T: Element>(plan: &Plan, bytes: usize, out: &mut [T], job: &Stretch<'_, T>) {
    let rows = (0..plan.depth()).map(|row| offset_at(&plan.reduced, row) as usize);
    let rows: SmallVec<[usize; FEW_ROWS]> = rows.collect();
    let size = plan.inner.size;
    let lines = count(&plan.outer_x);
    let out = &mut out[plan.out_start as usize..][..lines * size];
    let stretches = |first: usize, out: &mut [T]| {
        let (mut at, mut rest) = (first, out);
        while !rest.is_empty() {
            let (line, column) = (at / size, at % size);
            let (out, others) = rest.split_at_mut(rest.len().min(size - column));
            let start = plan.x_start as usize + offset_at(&plan.outer_x, line) as usize;
            at += out.len();
            rest = others;
            job(start + column, &rows, out);
        }
    };
    if threads::are_worth(out.len() * rows.len() * bytes, false) {
        let share = out.len().div_ceil(threads::shares());
        spread::for_each_chunk(out, share, |part, out| stretches(part * share, out));
    } else {
        stretches(0, out);
    }
}

/// Neighbouring columns, each of elements that lie as far apart as where `rows` begin.
struct Columns<'a, S, F, T> {
    x: &'a [S],
    rows: &'a [usize],
    fold: F,
    out: &'a mut [T],
}

impl<S: Element, T: Element, F: ColumnFold<S, T>> Task for Columns<'_, S, F, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        // As many as registers hold.
        if size_of::<T>() < 8 {
            self.by::<A, 64>();
        } else {
            self.by::<A, 32>();
        }
    }
}

impl<S: Element, T: Element, F: ColumnFold<S, T>> Columns<'_, S, F, T> {
    /// By so many at a time.
    #[inline(always)]
    fn by<A: Arch, const N: usize>(self) {
        let Self { x, rows, fold, out } = self;
        let Some(last) = out.len().checked_sub(N) else {
            return Columns { x, rows, fold, out }.one_by_one();
        };
        let mut at = 0;
        // A block begins at most at `last`.
        while let (Some(out), block) = (out[at..].first_chunk_mut::<N>(), at) {
            let part = |row: usize| &x[rows[row] + block..].as_chunks::<N>().0[0];
            fold.block::<A, N>(part, rows.len(), out);
            if at == last {
                return;
            }
            // The last block may begin among the columns of the one before.
            at = (at + N).min(last);
        }
    }

    #[cold]
    fn one_by_one(self) {
        let Self { x, rows, fold, out } = self;
        for (at, out) in out.as_chunks_mut::<1>().0.iter_mut().enumerate() {
            let part = |row: usize| &x.as_chunks::<1>().0[rows[row] + at];
            fold.block::<Plain, 1>(part, rows.len(), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operand::Operand;
    use crate::reduce::reduce;
    use lodestride_buffer::{Buffer, with_dtype};
    use lodestride_shape::{Layout, Order};

    const OPS: [ReduceOp; 6] = [
        ReduceOp::Sum,
        ReduceOp::Prod,
        ReduceOp::Mean,
        ReduceOp::Max,
        ReduceOp::Min,
        ReduceOp::Norm2,
    ];

    /// What the reduction of a few values is, of which no step is rounded but the last.
    fn expected(op: ReduceOp, column: &[f64]) -> f64 {
        let extreme = |pick: fn(f64, f64) -> f64| {
            let keep = |a: f64, &b: &f64| {
                if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else {
                    pick(a, b)
                }
            };
            column.iter().fold(column[0], keep)
        };
        match op {
            ReduceOp::Sum => column.iter().sum(),
            ReduceOp::Prod => column.iter().product(),
            ReduceOp::Mean => column.iter().sum::<f64>() / column.len() as f64,
            ReduceOp::Max => extreme(f64::max),
            ReduceOp::Min => extreme(f64::min),
            _ => column.iter().map(|x| x * x).sum::<f64>().sqrt(),
        }
    }

    /// Every column of `[lines, rows, columns]`, whose rows lie three columns more apart, beside [`expected`].
    fn check<S: Numeric>(lines: usize, rows: usize, columns: usize, nan: bool) -> Vec<String> {
        let pitch = columns + 3;
        let value = |i: usize| match [1, 2, 0, 1, 3, 1, 1][i * 31 / 7 % 7] {
            3 if nan && i.is_multiple_of(5) => f64::NAN,
            3 if S::DTYPE.is_float() => -1.0,
            small => f64::from(small),
        };
        let elements = (0..lines * rows * pitch).map(|i| S::from_f64(value(i)));
        let elements: Vec<S> = elements.collect();
        let values: Vec<f64> = elements.iter().map(|&x| x.to_f64()).collect();
        let x = Buffer::from_vec(elements).expect("memory");
        let strides = [(rows * pitch) as isize, pitch as isize, 1];
        let layout = Layout::new([lines, rows, columns], strides, 1).expect("a layout");
        let mut failed = Vec::new();
        for op in OPS {
            let dtype = op.result_dtype(S::DTYPE);
            let to = Buffer::zeroed(lines * columns * 8).expect("memory");
            let out = Layout::contiguous([lines, columns], Order::C).expect("a layout");
            let operand = Operand::new(&x, &layout, S::DTYPE).expect("an operand");
            reduce(
                op,
                operand,
                &[1],
                Operand::new(&to, &out, dtype).expect("an operand"),
            )
            .expect("a reduction");
            let guard = to.read().expect("a guard");
            let found: Vec<f64> =
                with_dtype!(dtype, T => guard.slice::<T>().iter().map(|&x| x.to_f64()).collect());
            for (at, &found) in found.iter().take(lines * columns).enumerate() {
                let (line, column) = (at / columns, at % columns + 1);
                let of = |row: usize| values[(line * rows + row) * pitch + column];
                let wanted = expected(op, &(0..rows).map(of).collect::<Vec<_>>());
                let wanted = with_dtype!(dtype, T => T::from_f64(wanted).to_f64());
                if found != wanted && !(found.is_nan() && wanted.is_nan()) {
                    let dtype = S::DTYPE;
                    failed.push(format!(
                        "{op} of {dtype} {lines}x{rows}x{columns} at {at}: {found}, not {wanted}"
                    ));
                    break;
                }
            }
        }
        failed
    }

    #[test]
    fn columns_of_every_dtype_are_what_they_are_one_by_one() {
        let mut failed = Vec::new();
        for (lines, rows, columns) in [
            (1, 1, 64),
            (3, 2, 65),
            (2, 3, 127),
            (1, 5, 300),
            (5, 16, 70),
            (2, 17, 96),
            (1, 3, 70_000),
        ] {
            for dtype in DType::ALL {
                with_dtype!(dtype, S => failed.extend(check::<S>(lines, rows, columns, false)));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }

    #[test]
    fn nan_wins_wherever_it_stands() {
        let mut failed = Vec::new();
        for (rows, columns) in [(2, 64), (3, 200), (16, 97)] {
            failed.extend(check::<f32>(2, rows, columns, true));
            failed.extend(check::<f64>(2, rows, columns, true));
            failed.extend(check::<f16>(2, rows, columns, true));
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
