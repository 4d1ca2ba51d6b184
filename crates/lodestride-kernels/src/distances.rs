//! Distances of all rows of one matrix to all rows of another, from the differences of their elements: several rows of the
//! second stand side by side in vectors, so that nothing is written between a difference and its sum.

use lodestride_buffer::{Argument, DType};
use lodestride_shape::{Order, Shape};

use crate::door;
use crate::error::{KernelError, Result};
use crate::isa::{Arch, Level, Task};
use crate::numeric::{ComputeFloat, ComputeKind};
use crate::operand::Operand;
use crate::reduce_kinds::Magnitude;
use crate::sort_lines::fill_lines;
use crate::vector::{MOST_LANES, Vector, VectorTask};
use crate::{spread, threads};

const OP: &str = "row_distances";

/// What is made of the differences of two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowDistance {
    /// The root of the sum of their squares.
    Norm2,
    /// The sum of their squares.
    SumSquares,
    /// The sum of their magnitudes.
    Norm1,
}

/// Writes the distance of each row of `x` to each row of `y`: `[n, d]` and `[m, d]` give `[n, m]`. The three are all f32 or
/// all f64.
///
/// Squares that leave the range of the dtype, or come near its end, are summed again in f64 and scaled. Results depend neither
/// on the number of threads nor on the instruction set.
///
/// # Errors
/// [`KernelError`] when one is not a matrix, the shapes do not fit, an operand has another dtype, or a buffer cannot be
/// accessed. Nothing is written then.
pub fn row_distances(
    kind: RowDistance,
    x: Operand<'_>,
    y: Operand<'_>,
    out: Operand<'_>,
) -> Result<()> {
    match out.dtype() {
        DType::F32 => distances_as::<f32>(kind, x, y, out),
        DType::F64 => distances_as::<f64>(kind, x, y, out),
        dtype => Err(KernelError::UnsupportedDType { op: OP, dtype }),
    }
}

fn distances_as<C: ComputeFloat + Magnitude>(
    kind: RowDistance,
    x: Operand<'_>,
    y: Operand<'_>,
    out: Operand<'_>,
) -> Result<()> {
    for (operand, argument) in [(x, Argument::X), (y, Argument::Y)] {
        door::check_dtype(OP, argument, operand, C::DTYPE)?;
    }
    let [rows, columns] = [x, y].map(|side| side.shape().first().copied().unwrap_or(1));
    let width = x.shape().last().copied().unwrap_or(1);
    x.check_shape(OP, Argument::X, &Shape::from([rows, width]))?;
    y.check_shape(OP, Argument::Y, &Shape::from([columns, width]))?;
    door::check_output(OP, out, &Shape::from([rows, columns]))?;
    let [x_apart, y_apart] = [apart(Argument::X, x, out)?, apart(Argument::Y, y, out)?];
    let (x, y) = (
        door::stand_in(x_apart.as_ref(), x)?,
        door::stand_in(y_apart.as_ref(), y)?,
    );
    let (x_guard, y_guard) = (x.read(OP, Argument::X)?, y.read(OP, Argument::Y)?);
    let x = &x_guard.slice::<C>()[x.layout().offset()..][..rows * width];
    let packed = packed(
        &y_guard.slice::<C>()[y.layout().offset()..][..columns * width],
        width,
    );
    fill_lines::<C>(OP, None, out, 1, &mut |out| {
        if out.is_empty() || width == 0 {
            out.fill(C::ZERO);
            return Ok(());
        }
        let here = |first: usize, out: &mut [C]| {
            Level::current().run(Distances {
                kind,
                x: &x[first * width..][..out.len() / columns * width],
                packed: &packed,
                width,
                columns,
                out,
            });
        };
        if threads::are_worth(size_of_val(out) * width / TERMS, true) {
            spread::for_each_chunk(out, SHARE * columns, |share, out| here(share * SHARE, out));
        } else {
            here(0, out);
        }
        Ok(())
    })
}

/// What stands for an operand whose elements do not lie one after the other, or lie where the output does.
fn apart(
    argument: Argument,
    side: Operand<'_>,
    out: Operand<'_>,
) -> Result<Option<door::Converted>> {
    drop(side.read(OP, argument)?);
    if side.layout().is_contiguous(Order::C) && !side.buffer().same_block(out.buffer()) {
        return Ok(None);
    }
    door::compact(OP, side, side.dtype()).map(Some)
}

/// Rows of `x` that a thread takes at a time.
const SHARE: usize = 16;
/// Terms that take as long as an `exp`.
const TERMS: usize = 8;
/// Rows of `y` that are packed together: a multiple of what every instruction set takes at a time.
const BLOCK: usize = WIDE * MOST_LANES;
/// Vectors of rows of `y`, and rows of `x`, that are worked on together: enough that no sum waits for the one before.
const WIDE: usize = 4;
const ROWS: usize = 2;
/// Terms that are added up before they join the others, so that rounding grows with neither.
const PART: usize = 32;

/// Blocks of rows side by side, column after column; zeros where the last one has no rows.
fn packed<C: ComputeFloat>(y: &[C], width: usize) -> Vec<C> {
    let mut packed = vec![C::ZERO; (y.len() / width.max(1)).next_multiple_of(BLOCK) * width];
    if width == 0 {
        return packed;
    }
    let blocks = packed.chunks_exact_mut(BLOCK * width);
    for (block, rows) in blocks.zip(y.chunks(BLOCK * width)) {
        for (lane, row) in rows.chunks_exact(width).enumerate() {
            for (column, &value) in row.iter().enumerate() {
                block[column * BLOCK + lane] = value;
            }
        }
    }
    packed
}

struct Distances<'a, C> {
    kind: RowDistance,
    /// Whole rows.
    x: &'a [C],
    packed: &'a [C],
    width: usize,
    /// Rows that are packed.
    columns: usize,
    out: &'a mut [C],
}

impl<C: ComputeFloat + Magnitude> Task for Distances<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        C::in_vectors::<A, _>(self);
    }
}

impl<C: ComputeFloat + Magnitude> VectorTask<C> for Distances<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) {
        let width = self.width;
        let outs = self.out.chunks_mut(ROWS * self.columns);
        for (x, out) in self.x.chunks(ROWS * width).zip(outs) {
            for (block, y) in self.packed.chunks_exact(BLOCK * width).enumerate() {
                let first = block * BLOCK;
                for at in (0..BLOCK.min(self.columns - first)).step_by(WIDE * V::LANES) {
                    let place = (first + at, self.columns);
                    if x.len() == ROWS * width {
                        tile::<C, V, ROWS>(self.kind, x, &y[at..], out, place);
                    } else {
                        tile::<C, V, 1>(self.kind, x, &y[at..], out, place);
                    }
                }
            }
            if self.kind != RowDistance::Norm1 {
                for (x, out) in x
                    .chunks_exact(width)
                    .zip(out.chunks_exact_mut(self.columns))
                {
                    mend(self.kind == RowDistance::Norm2, x, self.packed, out);
                }
            }
        }
    }
}

/// The distances of `R` rows to some vectors of packed ones, to the given column of as many rows of so many distances.
#[inline(always)]
fn tile<C: ComputeFloat, V: Vector<C>, const R: usize>(
    kind: RowDistance,
    x: &[C],
    y: &[C],
    out: &mut [C],
    (first, columns): (usize, usize),
) {
    let width = x.len() / R;
    let mut totals = [[V::splat(C::ZERO); WIDE]; R];
    for start in (0..width).step_by(PART) {
        let mut sums = [[V::splat(C::ZERO); WIDE]; R];
        for column in start..width.min(start + PART) {
            let y = &y[column * BLOCK..][..WIDE * V::LANES];
            let y: [V; WIDE] = std::array::from_fn(|i| V::load(&y[i * V::LANES..]));
            for (row, sums) in sums.iter_mut().enumerate() {
                let x = V::splat(x[row * width + column]);
                for (sum, &y) in sums.iter_mut().zip(&y) {
                    let apart = x.sub(y);
                    *sum = sum.add(match kind {
                        RowDistance::Norm1 => apart.larger(y.sub(x)),
                        _ => apart.mul(apart),
                    });
                }
            }
        }
        for (total, &sum) in totals
            .as_flattened_mut()
            .iter_mut()
            .zip(sums.as_flattened())
        {
            *total = total.add(sum);
        }
    }
    for (row, totals) in totals.into_iter().enumerate() {
        let to = columns.min(first + WIDE * V::LANES);
        let out = &mut out[row * columns + first..row * columns + to];
        for (out, total) in out.chunks_mut(V::LANES).zip(totals) {
            let total = match kind {
                RowDistance::Norm2 => total.root(),
                _ => total,
            };
            total.store_part(out);
        }
    }
}

/// Sums the squares of one row again where some were lost: overflowed, or so small that what underflowed may show.
#[inline(always)]
fn mend<C: ComputeFloat>(root: bool, x: &[C], packed: &[C], out: &mut [C]) {
    // As for the norms of arrays: the roots of their limits are those of roots.
    let least: f64 = match (C::KIND, root) {
        (ComputeKind::F32, true) => 7e-18,
        (ComputeKind::F32, false) => 4.9e-35,
        (_, true) => 1e-140,
        _ => 1e-280,
    };
    let least = C::of(least);
    let is_safe = |value: C| (value >= least) & (value < C::HIGHEST);
    // `&`: no branches, so that the loop vectorises.
    if out.iter().fold(true, |all, &value| all & is_safe(value)) {
        return;
    }
    for (at, out) in out.iter_mut().enumerate() {
        if !is_safe(*out) {
            let y = &packed[at / BLOCK * BLOCK * x.len()..][at % BLOCK..];
            let y = y.iter().step_by(BLOCK);
            *out = C::of(scaled(
                root,
                x.iter().zip(y).map(|(&x, &y)| x.sub(y).wide()),
            ));
        }
    }
}

/// The norm of differences or its square, without overflow or underflow on the way.
#[inline(never)]
fn scaled(root: bool, apart: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = apart.clone().fold(0.0, |most, apart| apart.abs().max(most));
    // The power of two below the largest, by which numbers are divided exactly.
    let unit = match largest.is_finite() && largest > 0.0 {
        true => f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE),
        false => 1.0,
    };
    let squares: f64 = apart.map(|apart| (apart / unit) * (apart / unit)).sum();
    if root {
        unit * squares.sqrt()
    } else {
        unit * unit * squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::Buffer;
    use lodestride_shape::Layout;

    /// The distances of `n` rows of `x` to `m` of `y`, of `width` elements, and what they are by definition.
    fn both<C: ComputeFloat + Magnitude>(
        kind: RowDistance,
        [n, m, width]: [usize; 3],
        [x, y]: [&[C]; 2],
    ) -> (Vec<C>, Vec<f64>) {
        let shapes = [[n, width], [m, width], [n, m]];
        let layouts = shapes.map(|shape| Layout::contiguous(shape, Order::C).expect("it fits"));
        let nothing = vec![C::ONE; n * m];
        let buffers =
            [x, y, &nothing].map(|values| Buffer::from_vec(values.to_vec()).expect("memory"));
        let operand = |i: usize| Operand::new(&buffers[i], &layouts[i], C::DTYPE).expect("it fits");
        row_distances(kind, operand(0), operand(1), operand(2)).expect("operands fit");
        let found = operand(2)
            .read(OP, Argument::Z)
            .expect("nobody writes")
            .slice::<C>()
            .to_vec();
        let wanted = (0..n * m).map(|at| {
            let (x, y) = (&x[at / m * width..][..width], &y[at % m * width..][..width]);
            let apart = || x.iter().zip(y).map(|(x, y)| x.wide() - y.wide());
            match kind {
                RowDistance::Norm1 => apart().map(f64::abs).sum(),
                RowDistance::Norm2 => apart().fold(0.0, f64::hypot),
                RowDistance::SumSquares => apart().map(|apart| apart * apart).sum(),
            }
        });
        (found, wanted.collect())
    }

    fn check<C: ComputeFloat + Magnitude>(tolerance: f64) {
        let numbers = |len: usize, step: f64| -> Vec<C> {
            (0..len).map(|i| C::of((i as f64 * step).sin())).collect()
        };
        for kind in [
            RowDistance::Norm1,
            RowDistance::Norm2,
            RowDistance::SumSquares,
        ] {
            for sizes in [
                [1, 1, 1],
                [2, 63, 3],
                [3, 64, 16],
                [35, 65, 33],
                [5, 130, 100],
                [4, 7, 0],
                [0, 3, 2],
            ] {
                let [n, m, width] = sizes;
                let (mut x, y) = (numbers(n * width, 1.3), numbers(m * width, 0.7));
                if n > 2 && width > 0 {
                    // One that is equal to a row of the others.
                    x[..width].copy_from_slice(&y[..width]);
                }
                let (found, wanted) = both(kind, sizes, [&x, &y]);
                assert_eq!(found.len(), n * m);
                for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                    let far = (found.wide() - wanted).abs();
                    assert!(
                        far <= tolerance * wanted,
                        "{kind:?} {sizes:?} {at}: {found:?}, not {wanted}"
                    );
                }
            }
        }
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        check::<f32>(1e-6);
        check::<f64>(1e-14);
    }

    #[test]
    fn squares_may_leave_the_range() {
        let kind = RowDistance::Norm2;
        for far in [1e-200f64, 1e200, 5e-324, 1.7e308] {
            let (found, _) = both(
                kind,
                [1, 2, 2],
                [&[0.6 * far, 0.8 * far], &[0.0, 0.0, 0.6 * far, 0.8 * far]],
            );
            assert!(
                (found[0] / far - 1.0).abs() < 1e-15 || far < 1e-300,
                "{far}: {found:?}"
            );
            assert_eq!(found[1], 0.0);
        }
        for far in [1e-30f32, 1e30] {
            let (found, _) = both(kind, [1, 1, 2], [&[3.0 * far, 0.0], &[0.0, 4.0 * far]]);
            assert!((found[0] / far - 5.0).abs() < 1e-5, "{far}: {found:?}");
        }
        let (found, _) = both(
            kind,
            [2, 2, 1],
            [&[f64::INFINITY, 1.0], &[f64::NAN, f64::INFINITY]],
        );
        assert!(found[0].is_nan() && found[1].is_nan() && found[2].is_nan());
        assert_eq!(found[3], f64::INFINITY);
    }
}
