//! Exponential numbers: logarithms of uniform ones.

use crate::door;
use crate::error::KernelError;
use crate::isa::Arch;
use crate::operand::Operand;
use crate::random::{Distribution, bounded, fill};
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
        let mut rare = false;
        for (row, words) in rows.iter_mut().zip(&words) {
            for (value, &word) in row.iter_mut().zip(words) {
                rare |= word == 0;
                // What `bounded` gives for all words but zero.
                *value = self.wait(word.wrapping_sub(1));
            }
        }
        if rare {
            for (at, value) in out.iter_mut().enumerate() {
                if words[at / GROUP][at % GROUP] == 0 {
                    let index = group * Self::PER_GROUP as u64 + at as u64;
                    *value = self.wait(bounded(self.seed, self.stream, index, u64::MAX, 0));
                }
            }
        }
    }
}

impl Exponential {
    /// The number of an element whose words start so far above the lowest integer, as those of other distributions do.
    #[inline(always)]
    fn wait(&self, drawn: u64) -> f64 {
        let mut state = drawn.wrapping_add(1 << 63);
        -self.mean * ln_f64(open_unit(split_mix(&mut state)))
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
    // As i64, which converts in one instruction.
    ((word >> 12) as i64 as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}
