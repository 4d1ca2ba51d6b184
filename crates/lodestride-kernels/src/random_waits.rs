//! Exponential numbers: logarithms of uniform ones.

use crate::door;
use crate::error::KernelError;
use crate::isa::Arch;
use crate::operand::Operand;
use crate::random::{Distribution, fill};
use crate::random_philox::{GROUP, ln_f64, words};

/// Fills `out` with waiting times of the given mean: drawn in f64, each from a word of its own, and rounded.
///
/// # Errors
/// [`KernelError`] when `out` is not of a floating dtype, `mean` is negative or not finite, or the buffer cannot be accessed.
pub fn exponential(seed: u64, stream: u64, mean: f64, out: Operand<'_>) -> Result<(), KernelError> {
    const OP: &str = "exponential";
    door::check_argument(OP, "mean", mean, mean >= 0.0 && mean.is_finite())?;
    let draw = Exponential { seed, stream, mean };
    fill(OP, out, |guard, filler| filler.run(guard, &draw))
}

struct Exponential {
    seed: u64,
    stream: u64,
    mean: f64,
}

impl Distribution<f64> for Exponential {
    const PER_GROUP: usize = 2 * GROUP;

    #[inline(always)]
    fn group<A: Arch>(&self, group: u64, out: &mut [f64]) {
        let words = words(self.seed, self.stream, group * GROUP as u64);
        let (rows, _) = out.as_chunks_mut::<GROUP>();
        for (row, words) in rows.iter_mut().zip(&words.0) {
            for (value, &word) in row.iter_mut().zip(words) {
                *value = -self.mean * ln_f64(open_unit(word));
            }
        }
    }
}

/// SplitMix64: moves `state` on and returns the next word.
#[inline(always)]
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A number between 0 and 1, neither included, from a word: its logarithm is finite.
#[inline(always)]
pub fn open_unit(word: u64) -> f64 {
    // The bits of a number from 1 to 2, as vectors have no conversion of 64 bits everywhere; exact.
    f64::from_bits(1f64.to_bits() | word >> 12) - (1.0 - 0.5 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_whole_steps_and_a_half() {
        let mut state = 3;
        for word in [0, 1, 4095, 4096, 1 << 63, u64::MAX]
            .into_iter()
            .chain((0..1000).map(|_| split_mix(&mut state)))
        {
            let wanted = ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
            assert_eq!(open_unit(word), wanted, "{word}");
            assert!(wanted > 0.0 && wanted < 1.0);
        }
    }
}
