//! The convolution of two vectors of floats: sums of products, one vector running backwards past the other.

use lodestride_buffer::{Argument, DType};

use crate::error::{KernelError, Result};
use crate::gemm_choice::are_worth_threads;
use crate::isa::{Arch, Level, Task};
use crate::numeric::Compute;
use crate::operand::Operand;
use crate::reduce_kinds::Magnitude;
use crate::sort_lines::{fill_lines, read_lines};
use crate::vector::{MOST_LANES, Vector, VectorTask};
use crate::{door, spread, threads};

/// Writes the whole convolution of two vectors to `out`: `out[n]` is the sum of `x[n - at] * y[at]` over the places of both,
/// in the order of `y`, each product and each sum rounded. The three are all f32 or all f64.
///
/// # Errors
/// [`KernelError`] when one is not a vector, has no elements or another dtype, `out` is not as long as both together less
/// one, or a buffer cannot be accessed.
pub fn convolve(x: Operand<'_>, y: Operand<'_>, out: Operand<'_>) -> Result<()> {
    match out.dtype() {
        DType::F32 => convolve_as::<f32>(x, y, out),
        DType::F64 => convolve_as::<f64>(x, y, out),
        dtype => Err(KernelError::UnsupportedDType { op: OP, dtype }),
    }
}

const OP: &str = "convolve";

fn convolve_as<C: Magnitude>(x: Operand<'_>, y: Operand<'_>, out: Operand<'_>) -> Result<()> {
    for (operand, argument) in [(x, Argument::X), (y, Argument::Y)] {
        door::check_dtype(OP, argument, operand, C::DTYPE)?;
        let len = operand.elements() as f64;
        door::check_argument(OP, "number of elements", len, len > 0.0)?;
    }
    let wanted = x.elements() + y.elements() - 1;
    door::check_output(OP, out, &[wanted].into())?;
    let (mut values, mut factors) = (Vec::new(), Vec::new());
    read_lines::<C>(OP, x, 0, &mut |x| {
        values = padded(x);
        Ok(())
    })?;
    read_lines::<C>(OP, y, 0, &mut |y| {
        factors = y.to_vec();
        Ok(())
    })?;
    // A zero beside the values adds nothing, not even to a sign, unless its factor is infinite or NaN.
    let meets_zeros = (factors.iter()).all(|&factor| factor.mul(C::ZERO) == C::ZERO);
    fill_lines::<C>(OP, None, out, 0, &mut |sums| {
        let work = x.elements().saturating_mul(factors.len());
        let share = if are_worth_threads::<C>(work) {
            (sums.len().div_ceil(threads::shares())).next_multiple_of(PAD)
        } else {
            sums.len()
        };
        spread::for_each_chunk(sums, share, |part, sums| {
            Level::current().run(Convolve {
                values: &values,
                factors: &factors,
                sums,
                begin: part * share,
                meets_zeros,
            });
        });
        Ok(())
    })
}

/// Vectors of sums that are added to at a time: enough that none waits for the one before.
const TOGETHER: usize = 8;
/// Zeros on both sides of the values, so that sums at the ends need no bounds.
const PAD: usize = TOGETHER * MOST_LANES;

fn padded<C: Compute>(x: &[C]) -> Vec<C> {
    let mut all = vec![C::ZERO; x.len() + 2 * PAD];
    all[PAD..][..x.len()].copy_from_slice(x);
    all
}

struct Convolve<'a, C> {
    /// Between zeros.
    values: &'a [C],
    factors: &'a [C],
    /// The sums from place `begin` of all on.
    sums: &'a mut [C],
    begin: usize,
    /// Whether the factors may meet the zeros beside the values.
    meets_zeros: bool,
}

impl<C: Magnitude> Task for Convolve<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        if self.meets_zeros {
            C::in_vectors::<A, _>(self);
            return;
        }
        self.sums.fill(C::ZERO);
        let values = &self.values[PAD..self.values.len() - PAD];
        for (at, &factor) in self.factors.iter().enumerate() {
            // The sums from `at` on meet a value each; those before `begin` are others'.
            let met = self.sums.iter_mut().skip(at.saturating_sub(self.begin));
            let values = values.iter().skip(self.begin.saturating_sub(at));
            for (sum, &value) in met.zip(values) {
                *sum = sum.add(value.mul(factor));
            }
        }
    }
}

impl<C: Magnitude> VectorTask<C> for Convolve<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) {
        let Self {
            values,
            factors,
            sums,
            begin,
            ..
        } = self;
        let width = TOGETHER * V::LANES;
        let len = values.len() - 2 * PAD;
        for (block, sums) in sums.chunks_mut(width).enumerate() {
            let first = begin + block * width;
            // The factors that meet a value in any of these sums.
            let from = (first + 1).saturating_sub(len);
            let to = factors.len().min(first + width);
            let mut parts = [V::splat(C::ZERO); TOGETHER];
            for (at, &factor) in (from..to).zip(&factors[from..to]) {
                let values = &values[PAD + first - at..][..width];
                let factor = V::splat(factor);
                for (index, part) in parts.iter_mut().enumerate() {
                    *part = part.add(V::load(&values[index * V::LANES..]).mul(factor));
                }
            }
            for (sums, part) in sums.chunks_mut(V::LANES).zip(parts) {
                part.store_part(sums);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::Buffer;
    use lodestride_shape::{Layout, Order};

    fn convolved(x: &[f64], y: &[f64]) -> Vec<f64> {
        let whole = x.len() + y.len() - 1;
        let layouts = [x.len(), y.len(), whole]
            .map(|len| Layout::contiguous([len], Order::C).expect("it fits"));
        let buffer = |values: &[f64]| Buffer::from_vec(values.to_vec()).expect("there is memory");
        let buffers = [buffer(x), buffer(y), buffer(&vec![f64::NAN; whole])];
        let operand = |index: usize| {
            Operand::new(&buffers[index], &layouts[index], DType::F64).expect("it fits")
        };
        convolve(operand(0), operand(1), operand(2)).expect("operands fit");
        let out = operand(2).read(OP, Argument::Z).expect("nobody writes");
        out.slice::<f64>()[..whole].to_vec()
    }

    #[test]
    fn sums_are_those_of_the_definition_bit_for_bit() {
        let numbers = |len: usize, step: f64| -> Vec<f64> {
            (0..len).map(|i| (i as f64 * step).sin() / 3.0).collect()
        };
        for (m, n) in [
            (1, 1),
            (1, 70),
            (70, 1),
            (63, 64),
            (65, 200),
            (129, 128),
            (1000, 3),
            // Shared among threads.
            (2000, 1001),
        ] {
            for odd in [1.0, -0.0, f64::INFINITY, f64::NAN] {
                let (mut x, mut y) = (numbers(m, 1.3), numbers(n, 0.7));
                x[m / 2] = -0.0;
                y[n / 3] = odd;
                let found = convolved(&x, &y);
                for (place, found) in found.into_iter().enumerate() {
                    let mut sum = 0.0;
                    for (at, factor) in y.iter().enumerate() {
                        if at <= place && place - at < m {
                            sum += x[place - at] * factor;
                        }
                    }
                    let is_same =
                        found.to_bits() == sum.to_bits() || found.is_nan() && sum.is_nan();
                    assert!(is_same, "{m}, {n}, {odd}: {found} at {place}, not {sum}");
                }
            }
        }
    }
}
