//! Whole random numbers, one at a time: Poisson's and the binomial distribution.
//!
//! Narrow distributions are looked up: one word, compared with the table of cumulated probabilities near where a guide to it says
//! (Chen and Asau 1974). Wide ones are drawn by Hörmann's transformed rejection with squeeze.

use std::f64::consts::TAU;
use std::sync::LazyLock;

use super::sampler::Words;

/// Up to this variance distributions are looked up: some 310 probabilities, made in a microsecond or two.
const NARROW: f64 = 256.0;

/// A distribution of counts.
#[derive(Debug)]
pub(super) struct Counts {
    method: Method,
    /// The number of trials where those are counted that did not succeed.
    all: Option<f64>,
}

#[derive(Debug)]
enum Method {
    Table(Table),
    Poisson(PoissonRejection),
    Binomial(BinomialRejection),
}

impl Counts {
    /// How often something happens at the given rate.
    pub(super) fn poisson(rate: f64) -> Self {
        let method = if rate <= NARROW {
            Method::Table(Table::new(rate.floor(), |count| rate / count))
        } else {
            Method::Poisson(PoissonRejection::new(rate))
        };
        Self { method, all: None }
    }

    /// How many of `trials` attempts succeed.
    pub(super) fn binomial(trials: f64, probability: f64) -> Self {
        let (rare, all) = rarer(trials, probability);
        let method = if trials * rare * (1.0 - rare) <= NARROW {
            let odds = rare / (1.0 - rare);
            let mode = ((trials + 1.0) * rare).floor().min(trials);
            let ratio = |count: f64| (trials + 1.0 - count) / count * odds;
            Method::Table(Table::new(mode, ratio))
        } else {
            Method::Binomial(BinomialRejection::new(trials, rare))
        };
        Self { method, all }
    }

    #[inline]
    pub(super) fn draw(&self, words: &mut Words) -> f64 {
        let count = match &self.method {
            Method::Table(table) => table.count_of(words.next()),
            Method::Poisson(rejection) => rejection.draw(words),
            Method::Binomial(rejection) => rejection.draw(words),
        };
        self.all.map_or(count, |all| all - count)
    }
}

/// One number of [`Counts::binomial`], without a table for others.
pub(super) fn binomial_once(trials: f64, probability: f64, words: &mut Words) -> f64 {
    let (rare, all) = rarer(trials, probability);
    let count = if trials * rare < 10.0 {
        binomial_by_inversion(trials, rare, words)
    } else {
        BinomialRejection::new(trials, rare).draw(words)
    };
    all.map_or(count, |all| all - count)
}

/// The probability of the rarer outcome, which is counted, and where that is failure the trials it is counted off.
fn rarer(trials: f64, probability: f64) -> (f64, Option<f64>) {
    if probability > 0.5 {
        (1.0 - probability, Some(trials))
    } else {
        (probability, None)
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

/// A distribution by its cumulated probabilities, in steps of 2^-64 of which a word is one.
#[derive(Debug)]
struct Table {
    /// The first count of the table.
    first: f64,
    /// Of each count but the last, from which word on the count is larger.
    ends: Vec<u64>,
    /// Of each part of all words that begins with the same bits, the count of its first word, from `first` on.
    guide: Vec<u16>,
    /// How far those bits are above the lowest.
    shift: u32,
}

/// Counts so much rarer than the most frequent one are left out: all of them together are below a step.
const LEAST: f64 = 1e-20;

impl Table {
    /// Of the most frequent count and how much more often a count is drawn than the one before.
    fn new(mode: f64, ratio: impl Fn(f64) -> f64) -> Self {
        let mut shares = Vec::new();
        let (mut share, mut count) = (1.0, mode);
        while count > 0.0 && share >= LEAST {
            share /= ratio(count);
            count -= 1.0;
            shares.push(share);
        }
        shares.reverse();
        let below = shares.len();
        (share, count) = (1.0, mode);
        while share >= LEAST {
            shares.push(share);
            count += 1.0;
            share *= ratio(count);
        }
        Self::of_shares(mode - below as f64, &shares, below)
    }

    /// Of shares of any sum; those up to `mode` are added from below, the others from above, so that both tails are exact.
    fn of_shares(first: f64, shares: &[f64], mode: usize) -> Self {
        const STEPS: f64 = 18_446_744_073_709_551_616.0;
        let step = STEPS / shares.iter().sum::<f64>();
        let mut ends = vec![0; shares.len() - 1];
        let mut sum = 0.0;
        for (end, share) in ends.iter_mut().zip(&shares[..mode]) {
            sum += share * step;
            *end = sum as u64;
        }
        sum = 0.0;
        for at in (mode..ends.len()).rev() {
            sum += shares[at + 1] * step;
            ends[at] = u64::MAX - sum as u64;
        }
        // Most parts lie within one count.
        let bits = (2 * shares.len()).max(64).next_power_of_two().ilog2();
        let shift = u64::BITS - bits;
        let mut at = 0;
        let guide = (0..1u64 << bits).map(|part| {
            while ends.get(at).is_some_and(|&end| end <= part << shift) {
                at += 1;
            }
            at as u16
        });
        let guide = guide.collect();
        Self {
            first,
            ends,
            guide,
            shift,
        }
    }

    #[inline]
    fn count_of(&self, word: u64) -> f64 {
        let mut at = usize::from(self.guide[(word >> self.shift) as usize]);
        while self.ends.get(at).is_some_and(|&end| end <= word) {
            at += 1;
        }
        self.first + at as f64
    }
}

/// Hörmann 1993, transformed rejection with squeeze (PTRS).
#[derive(Debug)]
struct PoissonRejection {
    rate: f64,
    log_rate: f64,
    a: f64,
    b: f64,
    inverse_alpha: f64,
    squeeze: f64,
}

impl PoissonRejection {
    fn new(rate: f64) -> Self {
        let b = 0.931 + 2.53 * rate.sqrt();
        Self {
            rate,
            log_rate: rate.ln(),
            a: -0.059 + 0.024_83 * b,
            b,
            inverse_alpha: 1.1239 + 1.1328 / (b - 3.4),
            squeeze: 0.9277 - 3.6224 / (b - 2.0),
        }
    }

    fn draw(&self, words: &mut Words) -> f64 {
        let (a, b) = (self.a, self.b);
        loop {
            let (u, v) = (words.unit() - 0.5, words.unit());
            let side = 0.5 - u.abs();
            let count = ((2.0 * a / side + b) * u + self.rate + 0.43).floor();
            if side >= 0.07 && v <= self.squeeze {
                return count;
            }
            if count < 0.0 || (side < 0.013 && v > side) {
                continue;
            }
            let height = (v * self.inverse_alpha / (a / (side * side) + b)).ln();
            if height <= count * self.log_rate - self.rate - ln_factorial(count) {
                return count;
            }
        }
    }
}

/// Hörmann 1993, transformed rejection with squeeze (BTRS).
#[derive(Debug)]
struct BinomialRejection {
    trials: f64,
    a: f64,
    b: f64,
    center: f64,
    squeeze: f64,
    alpha: f64,
    /// The logarithm of how many times as probable success is as failure.
    odds: f64,
    mode: f64,
    top: f64,
}

impl BinomialRejection {
    fn new(trials: f64, probability: f64) -> Self {
        let failure = 1.0 - probability;
        let spread = (trials * probability * failure).sqrt();
        let b = 1.15 + 2.53 * spread;
        let mode = ((trials + 1.0) * probability).floor();
        Self {
            trials,
            a: -0.0873 + 0.0248 * b + 0.01 * probability,
            b,
            center: trials * probability + 0.5,
            squeeze: 0.92 - 4.2 / b,
            alpha: (2.83 + 5.1 / b) * spread,
            odds: (probability / failure).ln(),
            mode,
            top: ln_factorial(mode) + ln_factorial(trials - mode),
        }
    }

    fn draw(&self, words: &mut Words) -> f64 {
        let (a, b) = (self.a, self.b);
        loop {
            let (u, v) = (words.unit() - 0.5, words.unit());
            let side = 0.5 - u.abs();
            let count = ((2.0 * a / side + b) * u + self.center).floor();
            if count < 0.0 || count > self.trials {
                continue;
            }
            if side >= 0.07 && v <= self.squeeze {
                return count;
            }
            let height = (v * self.alpha / (a / (side * side) + b)).ln();
            let rest = ln_factorial(count) + ln_factorial(self.trials - count);
            if height <= self.top - rest + (count - self.mode) * self.odds {
                return count;
            }
        }
    }
}

/// The logarithms of the first factorials.
static LN_FACTORIALS: LazyLock<[f64; 128]> = LazyLock::new(|| {
    let mut logarithms = [0.0; 128];
    for n in 2..128 {
        logarithms[n] = logarithms[n - 1] + (n as f64).ln();
    }
    logarithms
});

/// The logarithm of `n!`: listed up to 127, beyond by Stirling's series, whose next term is below 1e-17.
fn ln_factorial(n: f64) -> f64 {
    if let Some(&listed) = LN_FACTORIALS.get(n as usize) {
        return listed;
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

    /// How many words of all each count has, as a share.
    fn shares(table: &Table) -> Vec<f64> {
        let ends = table.ends.iter().map(|&end| u128::from(end));
        let mut from = 0;
        let shares = ends.chain([1u128 << 64]).map(|end| {
            let share = (end - from) as f64 / 18_446_744_073_709_551_616.0;
            from = end;
            share
        });
        shares.collect()
    }

    /// Checks a table against the logarithms of probabilities.
    fn check(counts: &Counts, probability: impl Fn(f64) -> f64, name: &str) {
        let Method::Table(table) = &counts.method else {
            panic!("{name} has no table");
        };
        let mut sum = 0.0;
        for (at, share) in shares(table).into_iter().enumerate() {
            let wanted = probability(table.first + at as f64).exp();
            sum += wanted;
            let bound = 1e-10 * wanted + 2e-19;
            assert!(
                (share - wanted).abs() <= bound,
                "{name} {at}: {share} {wanted}"
            );
        }
        assert!((sum - 1.0).abs() < 1e-10, "{name}: {sum}");
        // The guide leads to what a search from the beginning finds.
        let near = table
            .ends
            .iter()
            .flat_map(|&end| [end.saturating_sub(1), end]);
        for word in near.chain([0, 1, u64::MAX]) {
            let at = table.ends.partition_point(|&end| end <= word);
            assert_eq!(
                table.count_of(word),
                table.first + at as f64,
                "{name} {word}"
            );
        }
    }

    #[test]
    fn tables_hold_the_probabilities() {
        for rate in [1e-300, 0.01, 1.0, 3.5, 100.0, NARROW] {
            let of = |count: f64| count * rate.ln() - rate - ln_factorial(count);
            check(&Counts::poisson(rate), of, &format!("rate {rate}"));
        }
        for (trials, p) in [
            (1.0, 0.5),
            (10.0, 0.3),
            (1000.0, 0.3),
            (1024.0, 0.5),
            (5.0, 1e-9),
            (10_000.0, 0.02),
        ] {
            let of = |count: f64| {
                let orders =
                    ln_factorial(trials) - ln_factorial(count) - ln_factorial(trials - count);
                orders + count * f64::ln(p) + (trials - count) * f64::ln_1p(-p)
            };
            check(&Counts::binomial(trials, p), of, &format!("{trials} {p}"));
        }
    }

    #[test]
    fn what_is_certain_is_drawn() {
        let mut words = Words::new(1);
        for (counts, wanted) in [
            (Counts::poisson(0.0), 0.0),
            (Counts::binomial(0.0, 0.3), 0.0),
            (Counts::binomial(7.0, 0.0), 0.0),
            (Counts::binomial(7.0, 1.0), 7.0),
            (Counts::binomial(1e15, 1.0), 1e15),
        ] {
            for _ in 0..100 {
                assert_eq!(counts.draw(&mut words), wanted, "{counts:?}");
            }
        }
    }
}
