//! Products of matrices of halves with a few columns, or of a few rows with them: dot products of rows, or sums of columns, that
//! become `f32` as they are read. Converted before, a matrix would be written and read once more, at twice the width; the column of
//! many rows is.

mod columns;

use half::{bf16, f16};
use lodestride_buffer::{Argument, DType, ReadGuard};

use self::columns::down_columns;
use crate::across::{FEW, HALF, Lines, across, across_rows, halved};
use crate::door;
use crate::error::Result;
use crate::isa::{Arch, Level, Task};
use crate::matmul::{OP, shape_of};
use crate::matmul_bf16;
use crate::matrix::MatrixShape;
use crate::numeric::{Compute, Numeric};
use crate::operand::Operand;
use crate::reduce_data::last_chunk;
use crate::reduce_fold::{BLOCK, LANES, grouped};
use crate::scalar::float::Float;
use crate::spread;
use crate::stream;
use crate::strided::{Origin, Source, store};
use crate::threads;
use crate::vector::Vector;

/// Elements of a part of a row: a thread's share, and the longest that is summed up at a time.
const PART: usize = 1 << 16;

/// Rows from which on the column is converted before, once for all of them.
const MANY: usize = 4;

/// Rows from which on they are multiplied side by side: enough for several threads, or as many as go together where these are not
/// worth it for a matrix of at most so many bytes.
const MANY_ROWS: usize = 2 * FEW;
const OF_ONE_THREAD: usize = 1 << 18;

/// So many columns are multiplied one after the other at most: where dot products of rows are taken, and where columns of the
/// matrix are added up. Beyond, converting the matrix once takes less.
const COLUMNS: [usize; 2] = [2, 4];

/// A matrix of halves and a few columns, in either order.
pub(crate) struct Columns<'a> {
    matrix: (Operand<'a>, Argument, MatrixShape),
    columns: (Operand<'a>, Argument, MatrixShape),
    /// Whether the product is that of rows with the matrix, of which this is the transposed one.
    turned: bool,
}

impl<'a> Columns<'a> {
    /// The operands of a product of a matrix with few columns or of few rows with a matrix, of one kind of halves that lie in runs.
    pub(crate) fn of(a: Operand<'a>, b: Operand<'a>) -> Option<Self> {
        let is_half = a.dtype().is_half() && a.dtype() == b.dtype();
        let is_one = |x: Operand<'_>| x.shape().iter().rev().skip(2).all(|&size| size == 1);
        if !is_half || !is_one(a) || !is_one(b) {
            return None;
        }
        let (left, right) = ((a, Argument::X, shape_of(a)), (b, Argument::Y, shape_of(b)));
        let transposed =
            |(x, argument, shape): (_, _, MatrixShape)| (x, argument, shape.transposed());
        let turned = right.2.columns > 1 && left.2.rows < right.2.columns;
        let (matrix, columns) = if turned {
            (transposed(right), transposed(left))
        } else {
            (left, right)
        };
        let most = match is_along(matrix.2) {
            true if matmul_bf16::suits(a, b) => 1,
            along => COLUMNS[usize::from(!along)],
        };
        let lies = is_along(matrix.2) || matrix.2.row_step == 1 && matrix.2.rows >= LANES;
        let are_few = (1..=most).contains(&columns.2.columns);
        (are_few && lies).then_some(Self {
            matrix,
            columns,
            turned,
        })
    }

    /// Writes the product to `out`, of floats of any kind.
    ///
    /// # Errors
    /// As [`matmul`](crate::matmul).
    pub(crate) fn multiply(&self, out: Operand<'_>) -> Result<()> {
        let products = self.products()?;
        let target = if self.turned {
            shape_of(out).transposed()
        } else {
            shape_of(out)
        };
        let mut guard = door::write(OP, Argument::Z, out)?;
        for (column, sums) in products.iter().enumerate() {
            let start = target.at(0, column).cast_signed();
            store(&mut guard, out.dtype(), start, target.row_step, sums);
        }
        Ok(())
    }

    /// The products with one column after the other.
    fn products(&self) -> Result<Vec<Vec<f64>>> {
        let ((matrix, argument, x), (columns, other, y)) = (self.matrix, self.columns);
        let x_guard = door::read(OP, argument, matrix, None)?;
        let y_guard = door::read(OP, other, columns, None)?;
        let along = is_along(x);
        let product = |column: usize| {
            let start = y.at(0, column);
            let mut converted = Vec::new();
            if !along || x.rows >= MANY || y.row_step != 1 {
                converted.resize(y.rows, 0.0);
                let source = Source::<f32>::of(Origin::Memory(&y_guard, columns.dtype()));
                source.load(start.cast_signed(), y.row_step, &mut converted);
            }
            let y = Column {
                guard: &y_guard,
                start,
                converted,
            };
            match (matrix.dtype(), along) {
                (DType::F16, true) => along_rows::<f16>((&x_guard, x), &y),
                (DType::F16, false) => down_columns::<f16>((x_guard.slice(), x), &y.converted),
                (_, true) => along_rows::<bf16>((&x_guard, x), &y),
                (_, false) => down_columns::<bf16>((x_guard.slice(), x), &y.converted),
            }
        };
        Ok((0..y.columns).map(product).collect())
    }
}

/// Whether rows lie in runs, long enough for dot products.
fn is_along(matrix: MatrixShape) -> bool {
    matrix.column_step == 1 && matrix.columns >= LANES
}

/// One of the columns, as it lies or converted.
struct Column<'a> {
    guard: &'a ReadGuard<'a>,
    start: usize,
    converted: Vec<f32>,
}

/// The products of rows with a column.
fn along_rows<H: Numeric>((matrix, x): (&ReadGuard<'_>, MatrixShape), y: &Column<'_>) -> Vec<f64> {
    if y.converted.is_empty() {
        return dots::<H, H>(
            (matrix.slice(), x),
            &y.guard.slice()[y.start..][..x.columns],
        );
    }
    // From beyond the caches one row after the other is the one stream that the processor follows: of 16384x1000 halves the product
    // took 1.1 ms so and 2.9 ms side by side, of 1000x1000 60 us and 46.
    let bytes = x.rows * x.columns * size_of::<H>();
    let are_many = x.rows >= MANY_ROWS || x.rows >= BESIDE && bytes <= OF_ONE_THREAD;
    if are_many && x.columns <= PART && !stream::pays(2 * bytes) {
        many_rows((matrix.slice::<H>(), x), &y.converted)
    } else {
        dots::<H, f32>((matrix.slice(), x), &y.converted)
    }
}

/// The elements of a line, one after the other: that of a number, so many steps of elements after the one that begins at `start`.
#[inline(always)]
fn line<H>(x: &[H], (start, step): (usize, isize), number: usize, len: usize) -> &[H] {
    &x[start.wrapping_add_signed(number.cast_signed() * step)..][..len]
}

/// The products of the rows with the column.
fn dots<H: Numeric, T: Numeric>((x, rows): (&[H], MatrixShape), y: &[T]) -> Vec<f64> {
    let steps = rows.columns;
    let parts = steps.div_ceil(PART);
    let level = Level::current();
    let part = |unit: usize| {
        let range = unit % parts * PART..steps.min((unit % parts + 1) * PART);
        let x = line(x, (rows.start, rows.row_step), unit / parts, steps);
        level.run(Dot {
            x: &x[range.clone()],
            y: &y[range],
        })
    };
    let units = rows.rows * parts;
    let sums = if threads::are_worth(rows.rows * steps * size_of::<H>(), false) {
        spread::map(units, part)
    } else {
        (0..units).map(part).collect()
    };
    sums.chunks(parts).map(|parts| parts.iter().sum()).collect()
}

struct Dot<'a, H, T> {
    x: &'a [H],
    y: &'a [T],
}

impl<H: Numeric, T: Numeric> Task for Dot<'_, H, T> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arch>(self) -> f64 {
        let mut total = 0.0;
        // Lanes take no more steps than those of a sum.
        for (x, y) in self.x.chunks(BLOCK).zip(self.y.chunks(BLOCK)) {
            let ((chunks, x_rest), (others, y_rest)) = (x.as_chunks(), y.as_chunks());
            let lanes = stepped::<H, T, A, LANES>([0.0; LANES], chunks, others);
            let few = grouped(lanes, |left, right| left + right);
            let ((chunks, x_rest), (others, y_rest)) = (x_rest.as_chunks(), y_rest.as_chunks());
            let mut few = stepped::<H, T, A, FEW>(few, chunks, others);
            if !x_rest.is_empty() {
                let x = last_chunk(x, x_rest.len(), H::default());
                let y = last_chunk(y, y_rest.len(), T::default());
                few = stepped::<H, T, A, FEW>(few, &[x], &[y]);
            }
            total += across(few.map(f64::from), |left, right| left + right);
        }
        total
    }
}

/// The products of many rows with a column. Threads share out the results.
fn many_rows<H: Numeric>((x, rows): (&[H], MatrixShape), y: &[f32]) -> Vec<f64> {
    let mut products = vec![0.0; rows.rows];
    let level = Level::current();
    let part = |part: usize, products: &mut [f64]| {
        let first = (part * FEW).cast_signed() * rows.row_step;
        let dots = Dots {
            x,
            start: rows.start.wrapping_add_signed(first),
            step: rows.row_step,
            y,
            products,
        };
        level.run_tuned(dots).unwrap_or_else(Dots::one_by_one);
    };
    share::<H>(rows, &mut products, FEW, part);
    products
}

/// Hands out so many results at a time, to several threads where the matrix is worth it.
fn share<H>(
    matrix: MatrixShape,
    results: &mut [f64],
    width: usize,
    part: impl Fn(usize, &mut [f64]) + Sync,
) {
    if threads::are_worth(matrix.rows * matrix.columns * size_of::<H>(), false) {
        spread::for_each_chunk(results, width, part);
    } else {
        (results.chunks_mut(width).enumerate()).for_each(|(index, results)| part(index, results));
    }
}

/// At most [`FEW`] rows, whose lanes are joined together.
struct Dots<'a, H> {
    x: &'a [H],
    /// Where the first row begins, and elements from row to row.
    start: usize,
    step: isize,
    y: &'a [f32],
    products: &'a mut [f64],
}

impl<H: Numeric> Dots<'_, H> {
    #[inline(always)]
    fn row(&self, index: usize) -> &[H] {
        line(self.x, (self.start, self.step), index, self.y.len())
    }

    /// What the baseline does: side by side its rows take twice the time, and 27 KB.
    fn one_by_one(self) {
        for index in 0..self.products.len() {
            let (x, y) = (self.row(index), self.y);
            self.products[index] = Level::current().run(Dot { x, y });
        }
    }
}

impl<H: Numeric> Task for Dots<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let count = self.products.len();
        let mut halves = Lines([[0.0; HALF]; FEW]);
        let groups = halves.0.as_chunks_mut().0.iter_mut();
        for (group, halves) in groups.take(count.div_ceil(BESIDE)).enumerate() {
            // The last row again where there is none.
            let rows = std::array::from_fn(|i| self.row((group * BESIDE + i).min(count - 1)));
            dots_beside::<H, A>(rows, self.y, halves);
        }
        let joined = across_rows::<A, f64>(&halves, |left, right| left + right);
        self.products.copy_from_slice(&joined[..count]);
    }
}

/// Rows multiplied side by side, which share what is read of the column.
const BESIDE: usize = 4;

/// Lanes of each of them.
const SLIM: usize = LANES / 2;

/// Adds the products of rows with a column, of at least [`SLIM`] elements each, to halves of lanes.
#[inline(always)]
fn dots_beside<H: Numeric, A: Arch>(
    rows: [&[H]; BESIDE],
    y: &[f32],
    halves: &mut [[f64; HALF]; BESIDE],
) {
    let (others, rest) = y.as_chunks::<SLIM>();
    let whole = rows.map(|row| row.as_chunks::<SLIM>().0);
    // The last elements, of which those that were in a whole chunk count as zeros.
    let ends = rows.map(|row| row.last_chunk::<SLIM>());
    let end = y.last_chunk::<SLIM>();
    let mut first = 0;
    while first < others.len() {
        // Lanes take no more steps than those of a sum.
        let last = others.len().min(first + BLOCK / SLIM);
        let mut lanes = [[0.0; SLIM]; BESIDE];
        let whole = whole.map(|row| &row[first..last]);
        for (at, y) in others[first..last].iter().enumerate() {
            lanes = beside::<H, A, false>(lanes, whole.map(|row| row[at]), *y, 0);
        }
        if let (true, false, Some(y)) = (last == others.len(), rest.is_empty(), end) {
            let ends = ends.map(|end| end.copied().unwrap_or([H::default(); SLIM]));
            lanes = beside::<H, A, true>(lanes, ends, *y, SLIM - rest.len());
        }
        for (half, lanes) in halves.iter_mut().zip(lanes) {
            let few = folded::<A::F32>(&lanes).map(f64::from);
            let joined = halved::<f64, FEW, HALF>(&few, |left, right| left + right);
            for lane in 0..HALF {
                half[lane] += joined[lane];
            }
        }
        first = last;
    }
}

/// The first half of some lanes and the second: by vectors, as the compiler gathers such sums of several rows lane by lane.
#[inline(always)]
fn folded<V: Vector<f32>>(lanes: &[f32; SLIM]) -> [f32; FEW] {
    let mut few = [0.0; FEW];
    for at in (0..FEW).step_by(V::LANES) {
        let sum = V::load(&lanes[at..]).add(V::load(&lanes[FEW + at..]));
        sum.store(&mut few[at..]);
    }
    few
}

/// Adds the products of a chunk of each row with one of the column to lanes that come and go by value; in the last one the first `skip`
/// elements count as zeros.
#[inline(always)]
fn beside<H: Numeric, A: Arch, const LAST: bool>(
    mut lanes: [[f32; SLIM]; BESIDE],
    x: [[H; SLIM]; BESIDE],
    y: [f32; SLIM],
    skip: usize,
) -> [[f32; SLIM]; BESIDE] {
    // By bits: of a choice between sums the compiler makes one between their addresses, and gathers them.
    let kept: [u32; SLIM] = std::array::from_fn(|lane| if lane < skip { 0 } else { u32::MAX });
    let part = |x: f32, lane: usize| {
        if LAST {
            f32::from_bits(x.to_bits() & kept[lane])
        } else {
            x
        }
    };
    for (lanes, x) in lanes.iter_mut().zip(x) {
        let mut left = [0.0; SLIM];
        f32::load_all::<H, A>(&x, &mut left);
        for lane in 0..SLIM {
            let (left, right) = (part(left[lane], lane), part(y[lane], lane));
            lanes[lane] = left.fused::<A>(right, lanes[lane]);
        }
    }
    lanes
}

/// Adds the products of chunks to as many lanes. They come and go by value: a reference would keep them in memory.
#[inline(always)]
fn stepped<H: Numeric, T: Numeric, A: Arch, const N: usize>(
    mut lanes: [f32; N],
    x: &[[H; N]],
    y: &[[T; N]],
) -> [f32; N] {
    for (x, y) in x.iter().zip(y) {
        let (mut left, mut right) = ([0.0; N], [0.0; N]);
        f32::load_all::<H, A>(x, &mut left);
        f32::load_all::<T, A>(y, &mut right);
        for lane in 0..N {
            lanes[lane] = left[lane].fused::<A>(right[lane], lanes[lane]);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul::matmul;
    use lodestride_buffer::Buffer;
    use lodestride_shape::Layout;

    /// Whole numbers, so that no product or sum is rounded; beside a plain loop.
    fn check<H: Numeric>(rows: usize, steps: usize) -> Option<String> {
        let value = |i: usize| (i * 7 % 5) as f32 - 2.0;
        let pitch = steps + 3;
        let elements = |count: usize| {
            (0..count)
                .map(|i| H::from_f32(value(i)))
                .collect::<Vec<_>>()
        };
        let a = Buffer::from_vec(elements(rows * pitch + 1)).expect("memory");
        let b = Buffer::from_vec(elements(steps + 2)).expect("memory");
        let out = Buffer::zeroed(rows * 2 * size_of::<H>()).expect("memory");
        let layout = |shape: [usize; 2], strides, start| {
            Layout::new(shape, strides, start).expect("a layout")
        };
        // The rows of the first matrix are read backwards, and results lie apart.
        let last = rows.saturating_sub(1) * pitch + 1;
        let layouts = [
            layout([rows, steps], [-(pitch as isize), 1], last),
            layout([steps, 1], [1, 1], 2),
            layout([rows, 1], [2, 1], 0),
        ];
        let [x, y, z] = [(&a, 0), (&b, 1), (&out, 2)]
            .map(|(buffer, i)| Operand::new(buffer, &layouts[i], H::DTYPE).expect("an operand"));
        assert!(Columns::of(x, y).is_some(), "{rows} rows of {steps}");
        matmul(x, y, z, 1.0, 0.0).expect("a product");
        let guard = out.read().expect("a guard");
        (0..rows).find_map(|row| {
            let start = last - row * pitch;
            let products = (0..steps).map(|i| value(start + i) * value(2 + i));
            let wanted = H::from_f32(products.sum()).to_f32();
            let found = guard.slice::<H>()[2 * row].to_f32();
            let dtype = H::DTYPE;
            (found != wanted)
                .then(|| format!("{dtype} {rows}x{steps}, row {row}: {found}, not {wanted}"))
        })
    }

    #[test]
    fn rows_of_every_length_are_multiplied() {
        let sizes = [
            (1, 64),
            (3, 65),
            (17, 127),
            (0, 64),
            (2, 4096),
            (5, 4161),
            (2, 70_001),
            (40, 20_000),
            (32, 64),
            (33, 95),
            (37, 8_197),
            (70, 1_000),
            (35, 70_001),
        ];
        let cases = sizes
            .into_iter()
            .flat_map(|(rows, steps)| [check::<f16>(rows, steps), check::<bf16>(rows, steps)]);
        let failed: Vec<String> = cases.flatten().collect();
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
