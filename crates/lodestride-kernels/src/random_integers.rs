//! Integers of a range, each exactly as likely.

use lodestride_buffer::{Argument, DType};

use crate::door;
use crate::error::KernelError;
use crate::isa::Arch;
use crate::operand::Operand;
use crate::random::{Distribution, Filler};
use crate::random_philox::{GROUP, LOW, Words, pair, words};

/// Fills `out`, of any integer dtype, with integers of `[low, high)`, each exactly equally likely.
///
/// # Errors
/// [`KernelError`] when `out` is not of an integer dtype, `low >= high`, a bound does not fit the dtype, or the buffer
/// cannot be accessed.
pub fn uniform_integers(
    seed: u64,
    stream: u64,
    low: i64,
    high: i64,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "uniform_integers";
    door::check_integer(OP, out)?;
    let (least, most) = integer_range(out.dtype());
    door::check_argument(OP, "low", low as f64, least <= i128::from(low))?;
    let valid = low < high && i128::from(high) - 1 <= most;
    door::check_argument(OP, "high", high as f64, valid)?;
    let range = high.wrapping_sub(low) as u64;
    let draw = Integers {
        seed,
        stream,
        low,
        range,
        uneven: range.wrapping_neg() % range,
    };
    door::check_output(OP, out, out.layout().shape())?;
    let mut guard = door::write(OP, Argument::Z, out)?;
    Filler::new(out).run(&mut guard, &draw);
    Ok(())
}

/// An unbiased integer below `range` from the word `first`, drawing again where multiply-shift would be uneven (Lemire).
#[inline(always)]
pub(crate) fn bounded(seed: u64, stream: u64, index: u64, range: u64, first: u64) -> u64 {
    let mut product = u128::from(first) * u128::from(range);
    if (product as u64) < range {
        let uneven = range.wrapping_neg() % range;
        let mut attempt = 0u64;
        while (product as u64) < uneven {
            attempt += 1;
            // Counters of second draws have their top bits set; no array has 2^48 groups.
            let word = pair(seed, stream, index | attempt << 48)[1];
            product = u128::from(word) * u128::from(range);
        }
    }
    (product >> 64) as u64
}

fn integer_range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size() as u32;
    if dtype.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    }
}

struct Integers {
    seed: u64,
    stream: u64,
    low: i64,
    range: u64,
    /// Products whose lower half is below this are drawn again.
    uneven: u64,
}

impl Distribution<i64> for Integers {
    const PER_GROUP: usize = 2 * GROUP;

    #[inline(always)]
    fn group<A: Arch>(&self, group: u64, out: &mut [i64]) {
        let words = words(self.seed, self.stream, group * GROUP as u64);
        let (rows, _) = out.as_chunks_mut::<GROUP>();
        let mut again = false;
        for (row, words) in rows.iter_mut().zip(&words.0) {
            if self.range <= LOW {
                // Products of halves, which vectors have; only where the bits below the number's are 0 can it be uneven.
                for (value, &word) in row.iter_mut().zip(words) {
                    let upper = (word >> 32) * self.range + (((word & LOW) * self.range) >> 32);
                    again |= upper & LOW == 0;
                    *value = self.low.wrapping_add((upper >> 32) as i64);
                }
            } else {
                for (value, &word) in row.iter_mut().zip(words) {
                    let product = u128::from(word) * u128::from(self.range);
                    again |= (product as u64) < self.uneven;
                    *value = self.low.wrapping_add((product >> 64) as i64);
                }
            }
        }
        if again {
            self.draw_again(group, &words, out);
        }
    }
}

impl Integers {
    /// The values of a group one by one. Apart, since it is for hardly any group and there once for all instruction sets.
    #[cold]
    #[inline(never)]
    fn draw_again(&self, group: u64, words: &Words, out: &mut [i64]) {
        let first = group * out.len() as u64;
        for ((index, value), &word) in (first..).zip(out).zip(words.0.as_flattened()) {
            let drawn = bounded(self.seed, self.stream, index, self.range, word);
            *value = self.low.wrapping_add(drawn as i64);
        }
    }
}
