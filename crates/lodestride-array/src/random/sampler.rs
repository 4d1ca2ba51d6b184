//! One random number of a distribution at a time, from the words of its element. No arrays here.

use std::f64::consts::TAU;

use lodestride_kernels::random::{open_unit, split_mix};

/// The random words of one element: SplitMix64, started at a word that the element's counter decided.
pub(super) struct Words {
    state: u64,
}

impl Words {
    pub(super) const fn new(start: u64) -> Self {
        Self { state: start }
    }

    fn next(&mut self) -> u64 {
        split_mix(&mut self.state)
    }

    /// A number between 0 and 1, neither included, so that its logarithm is finite.
    pub(super) fn unit(&mut self) -> f64 {
        open_unit(self.next())
    }

    /// A normal number (Box and Muller; the second of the pair is not kept, an element seldom needs it).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }
}

/// A distribution with checked parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    /// Normal numbers no further than `limit` deviations from the mean.
    TruncatedNormal {
        mean: f64,
        deviation: f64,
        limit: f64,
    },
    /// The sum of `shape` waiting times, for any positive `shape`.
    Gamma { shape: f64, scale: f64 },
    /// Between 0 and 1.
    Beta { a: f64, b: f64 },
    /// Counts of events.
    Poisson { rate: f64 },
    /// Successes of `trials` attempts.
    Binomial { trials: f64, probability: f64 },
}

impl Law {
    pub(super) fn draw(&self, words: &mut Words) -> f64 {
        match *self {
            Self::TruncatedNormal {
                mean,
                deviation,
                limit,
            } => loop {
                let normal = words.normal();
                if normal.abs() <= limit {
                    break mean + deviation * normal;
                }
            },
            Self::Gamma { shape, scale } => scale * gamma(shape, words),
            Self::Beta { a, b } => beta(a, b, words),
            Self::Poisson { rate } if rate < 10.0 => poisson_by_products(rate, words),
            Self::Poisson { rate } => poisson_by_rejection(rate, words),
            Self::Binomial {
                trials,
                probability,
            } => {
                // The rarer outcome is counted.
                let rare = probability.min(1.0 - probability);
                let count = if trials * rare < 10.0 {
                    binomial_by_inversion(trials, rare, words)
                } else {
                    binomial_by_rejection(trials, rare, words)
                };
                if probability > 0.5 {
                    trials - count
                } else {
                    count
                }
            }
        }
    }
}

/// Marsaglia and Tsang 2000; below 1 by a power of a uniform number.
fn gamma(shape: f64, words: &mut Words) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, words) * words.unit().powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = words.normal();
        let cube = (1.0 + c * normal).powi(3);
        if cube <= 0.0 {
            continue;
        }
        let bound = 0.5 * normal * normal + d - d * cube + d * cube.ln();
        if words.unit().ln() < bound {
            return d * cube;
        }
    }
}

/// The logarithm of a [`gamma`] number, also where that is too small for f64.
pub(super) fn log_gamma(shape: f64, words: &mut Words) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, words).ln() + words.unit().ln() / shape;
    }
    gamma(shape, words).ln()
}

fn beta(a: f64, b: f64, words: &mut Words) -> f64 {
    let (x, y) = (gamma(a, words), gamma(b, words));
    if x + y > 0.0 {
        return x / (x + y);
    }
    // Both parameters are so small that all weight lies at the ends.
    f64::from(u8::from(words.unit() < a / (a + b)))
}

/// Multiplies uniform numbers until the product falls below `exp(-rate)`.
fn poisson_by_products(rate: f64, words: &mut Words) -> f64 {
    let limit = (-rate).exp();
    let (mut product, mut count) = (words.unit(), 0.0);
    while product > limit {
        product *= words.unit();
        count += 1.0;
    }
    count
}

/// Hörmann 1993, transformed rejection with squeeze (PTRS).
fn poisson_by_rejection(rate: f64, words: &mut Words) -> f64 {
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.024_83 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let squeeze = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let (u, v) = (words.unit() - 0.5, words.unit());
        let side = 0.5 - u.abs();
        let count = ((2.0 * a / side + b) * u + rate + 0.43).floor();
        if side >= 0.07 && v <= squeeze {
            return count;
        }
        if count < 0.0 || (side < 0.013 && v > side) {
            continue;
        }
        let height = v.ln() + inverse_alpha.ln() - (a / (side * side) + b).ln();
        if height <= -rate + count * rate.ln() - ln_factorial(count) {
            return count;
        }
    }
}

/// Walks the distribution from 0 on.
fn binomial_by_inversion(trials: f64, probability: f64, words: &mut Words) -> f64 {
    let failure = 1.0 - probability;
    let odds = probability / failure;
    // `(1 - p)^n` by the logarithm near 1, where the rounding of `1 - p` would count `n` times.
    let none = (trials * (-probability).ln_1p()).exp();
    let (mut left, mut share, mut count) = (words.unit(), none, 0.0);
    while left > share && count < trials {
        left -= share;
        count += 1.0;
        share *= odds * (trials + 1.0 - count) / count;
    }
    count
}

/// Hörmann 1993, transformed rejection with squeeze (BTRS).
fn binomial_by_rejection(trials: f64, probability: f64, words: &mut Words) -> f64 {
    let failure = 1.0 - probability;
    let spread = (trials * probability * failure).sqrt();
    let b = 1.15 + 2.53 * spread;
    let a = -0.0873 + 0.0248 * b + 0.01 * probability;
    let center = trials * probability + 0.5;
    let squeeze = 0.92 - 4.2 / b;
    let alpha = (2.83 + 5.1 / b) * spread;
    let odds = (probability / failure).ln();
    let mode = ((trials + 1.0) * probability).floor();
    let top = ln_factorial(mode) + ln_factorial(trials - mode);
    loop {
        let (u, v) = (words.unit() - 0.5, words.unit());
        let side = 0.5 - u.abs();
        let count = ((2.0 * a / side + b) * u + center).floor();
        if count < 0.0 || count > trials {
            continue;
        }
        if side >= 0.07 && v <= squeeze {
            return count;
        }
        let height = (v * alpha / (a / (side * side) + b)).ln();
        let rest = ln_factorial(count) + ln_factorial(trials - count);
        if height <= top - rest + (count - mode) * odds {
            return count;
        }
    }
}

/// The logarithm of `n!`: by the product up to 15, beyond by Stirling's series, whose next term is below 1e-11.
fn ln_factorial(n: f64) -> f64 {
    if n < 16.0 {
        return (2..=n as u64).map(|i| i as f64).product::<f64>().ln();
    }
    let x = n + 1.0;
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse / 1260.0)) / x;
    (x - 0.5) * x.ln() - x + 0.5 * TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials() {
        let mut sum = 0.0;
        for n in 1..2000 {
            sum += f64::from(n).ln();
            let found = ln_factorial(f64::from(n));
            assert!(
                (found - sum).abs() <= 1e-11 + 1e-13 * sum,
                "{n}: {found} {sum}"
            );
        }
    }
}
