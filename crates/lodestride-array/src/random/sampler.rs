//! One random number of a distribution at a time, from the words of its element. No arrays here.

use lodestride_kernels::random::{open_unit, split_mix};

use super::counts::Counts;
use super::ziggurat::{Normals, Waits};

/// The random words of one element: SplitMix64, started at a word that the element's counter decided.
pub(super) struct Words {
    state: u64,
}

impl Words {
    pub(super) const fn new(start: u64) -> Self {
        Self { state: start }
    }

    pub(super) fn next(&mut self) -> u64 {
        split_mix(&mut self.state)
    }

    /// A number between 0 and 1, neither included, so that its logarithm is finite.
    pub(super) fn unit(&mut self) -> f64 {
        open_unit(self.next())
    }
}

/// A distribution of checked parameters, with all that follows from them alone.
#[derive(Debug)]
pub(super) enum Law {
    /// Normal numbers no further than `limit` deviations from the mean.
    TruncatedNormal {
        mean: f64,
        deviation: f64,
        limit: f64,
        normals: Normals,
    },
    /// The sum of waiting times.
    Gamma(Gamma, f64),
    /// Between 0 and 1.
    Beta(Beta),
    /// Whole numbers.
    Counts(Counts),
}

impl Law {
    pub(super) fn truncated_normal(mean: f64, deviation: f64, limit: f64) -> Self {
        Self::TruncatedNormal {
            mean,
            deviation,
            limit,
            normals: Normals::new(),
        }
    }

    pub(super) fn gamma(shape: f64, scale: f64) -> Self {
        Self::Gamma(Gamma::new(shape), scale)
    }

    pub(super) fn beta(a: f64, b: f64) -> Self {
        Self::Beta(Beta {
            first: Gamma::new(a),
            second: Gamma::new(b),
            share: a / (a + b),
        })
    }

    pub(super) fn draw(&self, words: &mut Words) -> f64 {
        match self {
            Self::TruncatedNormal {
                mean,
                deviation,
                limit,
                normals,
            } => loop {
                let normal = normals.draw(words);
                if normal.abs() <= *limit {
                    break mean + deviation * normal;
                }
            },
            Self::Gamma(gamma, scale) => scale * gamma.draw(words),
            Self::Beta(beta) => beta.draw(words),
            Self::Counts(counts) => counts.draw(words),
        }
    }
}

/// Gamma numbers of any positive shape and scale 1: Marsaglia and Tsang 2000. Those of a shape below 1 are those of one more
/// times a power of a uniform number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gamma {
    /// A third less than the shape that is drawn from.
    d: f64,
    c: f64,
    /// What a shape below 1 is the reciprocal of.
    power: Option<f64>,
    normals: Normals,
    waits: Waits,
}

impl Gamma {
    pub(super) fn new(shape: f64) -> Self {
        let (shape, power) = if shape < 1.0 {
            (shape + 1.0, Some(shape.recip()))
        } else {
            (shape, None)
        };
        let d = shape - 1.0 / 3.0;
        Self {
            d,
            c: 1.0 / (9.0 * d).sqrt(),
            power,
            normals: Normals::new(),
            waits: Waits::new(),
        }
    }

    #[inline]
    pub(super) fn draw(&self, words: &mut Words) -> f64 {
        let number = self.of_one_or_more(words);
        match self.power {
            Some(_) => number * self.log_factor(words).exp(),
            None => number,
        }
    }

    /// The logarithm of such a number, also where that is too small for f64.
    pub(super) fn draw_log(&self, words: &mut Words) -> f64 {
        self.of_one_or_more(words).ln() + self.log_factor(words)
    }

    /// The logarithm of what a number is multiplied by: minus a waiting time is that of a uniform number.
    fn log_factor(&self, words: &mut Words) -> f64 {
        self.power
            .map_or(0.0, |power| -power * self.waits.draw(words))
    }

    #[inline]
    fn of_one_or_more(&self, words: &mut Words) -> f64 {
        loop {
            let normal = self.normals.draw(words);
            let root = 1.0 + self.c * normal;
            if root <= 0.0 {
                continue;
            }
            let cube = root * root * root;
            let uniform = words.unit();
            let square = normal * normal;
            // Nearly always inside what the logarithms bound.
            if uniform < 1.0 - 0.0331 * (square * square)
                || uniform.ln() < 0.5 * square + self.d * (1.0 - cube + cube.ln())
            {
                return self.d * cube;
            }
        }
    }
}

/// The share of one gamma number of two.
#[derive(Debug)]
pub(super) struct Beta {
    first: Gamma,
    second: Gamma,
    /// How often it is 1 when parameters are so small that all weight lies at the ends.
    share: f64,
}

impl Beta {
    fn draw(&self, words: &mut Words) -> f64 {
        let (x, y) = (self.first.draw(words), self.second.draw(words));
        if x + y > 0.0 {
            return x / (x + y);
        }
        f64::from(u8::from(words.unit() < self.share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_numbers_have_their_moments() {
        const DRAWS: u64 = 200_000;
        for shape in [0.05, 0.6, 1.0, 2.0, 50.0] {
            let gamma = Gamma::new(shape);
            let mut sums = [0.0; 2];
            for start in 0..DRAWS {
                // Starts as those of elements are: far apart.
                let start = split_mix(&mut { start });
                let number = gamma.draw(&mut Words::new(start));
                let logarithm = gamma.draw_log(&mut Words::new(start));
                assert!(
                    (number.ln() - logarithm).abs() <= 1e-12 * logarithm.abs().max(1.0)
                        || number == 0.0
                );
                sums[0] += number - shape;
                sums[1] += (number - shape) * (number - shape);
            }
            let [mean, variance] = sums.map(|sum| sum / DRAWS as f64);
            // Four deviations; the fourth central moment is 3 shape (shape + 2).
            let bounds =
                [shape, 2.0 * shape * (shape + 3.0)].map(|v| 4.0 * (v / DRAWS as f64).sqrt());
            assert!(mean.abs() < bounds[0], "{shape}: {mean}");
            assert!((variance - shape).abs() < bounds[1], "{shape}: {variance}");
        }
    }
}
