//! Products of matrices of halves with a single column: dot products of rows that become `f32` as they are read. Converted before, a
//! matrix would be written and read once more, at twice the width; the column of many rows is.

use half::{bf16, f16};
use lodestride_buffer::{Argument, DType, Element, ReadGuard};

use crate::across::{FEW, across};
use crate::door;
use crate::error::Result;
use crate::isa::{Arch, Level, Task};
use crate::matmul::{OP, shape_of};
use crate::matrix::MatrixShape;
use crate::numeric::{Compute, Numeric};
use crate::operand::Operand;
use crate::reduce_data::last_chunk;
use crate::reduce_fold::{BLOCK, LANES, grouped};
use crate::scalar::float::Float;
use crate::spread;
use crate::strided::{Origin, Source, store};
use crate::threads;

/// Elements of a part of a row: a thread's share, and the longest that is summed up at a time.
const PART: usize = 1 << 16;

/// Rows from which on the column is converted before, once for all of them.
const MANY: usize = 4;

/// Whether `a` and the column `b` are of one kind of halves that lie in runs.
pub(crate) fn suits(a: Operand<'_>, b: Operand<'_>) -> bool {
    let is_half = a.dtype().is_half() && a.dtype() == b.dtype();
    let is_one = |x: Operand<'_>| x.shape().iter().rev().skip(2).all(|&size| size == 1);
    let (left, right) = (shape_of(a), shape_of(b));
    let are_runs = left.column_step == 1 && right.row_step == 1 && left.columns >= LANES;
    is_half && right.columns == 1 && is_one(a) && is_one(b) && are_runs
}

/// Writes the products of operands that [`suit`](suits) to `out`, of floats of any kind.
///
/// # Errors
/// As [`matmul`](crate::matmul).
pub(crate) fn product(a: Operand<'_>, b: Operand<'_>, out: Operand<'_>) -> Result<()> {
    let sums = {
        let a_guard = door::read(OP, Argument::X, a, None)?;
        let b_guard = door::read(OP, Argument::Y, b, None)?;
        let (x, y) = (shape_of(a), shape_of(b));
        let mut column = Vec::new();
        if x.rows >= MANY {
            column.resize(y.rows, 0.0);
            let source = Source::<f32>::of(Origin::Memory(&b_guard, b.dtype()));
            source.load(y.start.cast_signed(), 1, &mut column);
        }
        match (a.dtype(), column.as_slice()) {
            (DType::F16, []) => dots::<f16, f16>((a_guard.slice(), x), of_column(&b_guard, y)),
            (DType::F16, column) => dots::<f16, f32>((a_guard.slice(), x), column),
            (_, []) => dots::<bf16, bf16>((a_guard.slice(), x), of_column(&b_guard, y)),
            (_, column) => dots::<bf16, f32>((a_guard.slice(), x), column),
        }
    };
    let target = shape_of(out);
    let mut guard = door::write(OP, Argument::Z, out)?;
    let start = target.start.cast_signed();
    store(&mut guard, out.dtype(), start, target.row_step, &sums);
    Ok(())
}

/// The elements of a column that lies in a run.
fn of_column<'a, H: Element>(guard: &'a ReadGuard<'_>, column: MatrixShape) -> &'a [H] {
    &guard.slice()[column.start..][..column.rows]
}

/// The products of the rows with the column.
fn dots<H: Numeric, T: Numeric>((x, rows): (&[H], MatrixShape), y: &[T]) -> Vec<f64> {
    let steps = rows.columns;
    let parts = steps.div_ceil(PART);
    let level = Level::current();
    let part = |unit: usize| {
        let start = rows
            .start
            .wrapping_add_signed((unit / parts) as isize * rows.row_step);
        let range = unit % parts * PART..steps.min((unit % parts + 1) * PART);
        let x = &x[start..][..steps];
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
        assert!(suits(x, y), "{rows} rows of {steps}");
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
        ];
        let cases = sizes
            .into_iter()
            .flat_map(|(rows, steps)| [check::<f16>(rows, steps), check::<bf16>(rows, steps)]);
        let failed: Vec<String> = cases.flatten().collect();
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
