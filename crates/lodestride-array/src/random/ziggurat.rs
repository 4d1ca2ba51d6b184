//! The ziggurat: numbers of a falling density, nearly always from one word, a product and a comparison (Marsaglia and Tsang
//! 2000). Strip and place are of different bits of the word, as Doornik 2005 asks for.

use std::sync::LazyLock;

use super::sampler::Words;

/// Strips of the same area under a density; of the lowest the part beyond its edge is the tail.
const STRIPS: usize = 256;

/// Where the normal density's lowest strip ends, and the area of each: of the two equations by which the highest ends at 0.
const NORMAL: (f64, f64) = (3.654_152_885_361_009, 0.004_928_673_233_974_655);
/// The same of the exponential density.
const EXPONENTIAL: (f64, f64) = (7.697_117_470_131_05, 0.003_949_659_822_581_557);

static NORMALS: LazyLock<Ziggurat> =
    LazyLock::new(|| Ziggurat::new(NORMAL, bell, |height| (-2.0 * height.ln()).sqrt()));
static WAITS: LazyLock<Ziggurat> =
    LazyLock::new(|| Ziggurat::new(EXPONENTIAL, |x| (-x).exp(), |height| -height.ln()));

fn bell(x: f64) -> f64 {
    (-0.5 * x * x).exp()
}

/// A density's strips from the lowest on: how wide each is, and the density there.
#[derive(Debug)]
struct Ziggurat {
    widths: [f64; STRIPS + 1],
    heights: [f64; STRIPS + 1],
}

impl Ziggurat {
    fn new(
        (edge, area): (f64, f64),
        density: impl Fn(f64) -> f64,
        inverse: impl Fn(f64) -> f64,
    ) -> Self {
        let (mut widths, mut heights) = ([0.0; STRIPS + 1], [1.0; STRIPS + 1]);
        // As wide as a rectangle of the strip's area would be.
        (widths[0], heights[0]) = (area / density(edge), 0.0);
        (widths[1], heights[1]) = (edge, density(edge));
        for strip in 2..STRIPS {
            heights[strip] = heights[strip - 1] + area / widths[strip - 1];
            widths[strip] = inverse(heights[strip]);
        }
        Self { widths, heights }
    }

    /// A height evenly spread over that of a strip.
    #[cold]
    fn height(&self, strip: usize, words: &mut Words) -> f64 {
        let bottom = self.heights[strip];
        bottom + words.unit() * (self.heights[strip + 1] - bottom)
    }
}

/// Draws normal numbers of mean 0 and deviation 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normals(&'static Ziggurat);

impl Normals {
    pub(super) fn new() -> Self {
        Self(&NORMALS)
    }

    #[inline]
    pub(super) fn draw(self, words: &mut Words) -> f64 {
        loop {
            let word = words.next();
            let strip = word as usize % STRIPS;
            // Between -1 and 1, neither included and never 0.
            let place = ((word as i64 >> 11) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64);
            let x = place * self.0.widths[strip];
            if x.abs() < self.0.widths[strip + 1] {
                return x;
            }
            if strip == 0 {
                return normal_tail(words).copysign(x);
            }
            if self.0.height(strip, words) < bell(x) {
                return x;
            }
        }
    }
}

/// A normal number beyond the lowest strip (Marsaglia 1964).
#[cold]
fn normal_tail(words: &mut Words) -> f64 {
    let edge = NORMAL.0;
    loop {
        let beyond = -words.unit().ln() / edge;
        if -2.0 * words.unit().ln() > beyond * beyond {
            return edge + beyond;
        }
    }
}

/// Draws exponential numbers of mean 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits(&'static Ziggurat);

impl Waits {
    pub(super) fn new() -> Self {
        Self(&WAITS)
    }

    #[inline]
    pub(super) fn draw(self, words: &mut Words) -> f64 {
        loop {
            let word = words.next();
            let strip = word as usize % STRIPS;
            let place = ((word >> 11) as i64 as f64 + 0.5) * (1.0 / (1u64 << 53) as f64);
            let x = place * self.0.widths[strip];
            if x < self.0.widths[strip + 1] {
                return x;
            }
            if strip == 0 {
                // Whoever has waited so long waits from there on as from the beginning.
                return EXPONENTIAL.0 - words.unit().ln();
            }
            if self.0.height(strip, words) < (-x).exp() {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_kernels::random::split_mix;

    /// The chi-square statistic of a million numbers, one of each element's words, by the bins between edges, and what it
    /// exceeds with probability 0.001 (Wilson and Hilferty). Numbers beyond the edges are a fault.
    fn chi_square(
        edges: &[f64],
        density: impl Fn(f64) -> f64,
        draw: impl Fn(&mut Words) -> f64,
    ) -> (f64, f64) {
        const DRAWS: usize = 1_000_000;
        let mut counts = vec![0.0; edges.len() - 1];
        for start in 0..DRAWS as u64 {
            let number = draw(&mut Words::new(split_mix(&mut { start })));
            let bin = edges.partition_point(|&edge| edge <= number);
            counts[bin - 1] += 1.0;
        }
        let statistic = (edges.windows(2).zip(counts))
            .map(|(ends, count)| {
                let expected = DRAWS as f64 * integral(ends[0], ends[1], &density);
                (count - expected) * (count - expected) / expected
            })
            .sum();
        let free = edges.len() as f64 - 2.0;
        let width = 2.0 / (9.0 * free);
        let limit = free * (1.0 - width + 3.0902 * width.sqrt()).powi(3);
        (statistic, limit)
    }

    /// By Simpson's rule.
    fn integral(from: f64, to: f64, density: impl Fn(f64) -> f64) -> f64 {
        const PARTS: u32 = 10_000;
        let step = (to - from) / f64::from(PARTS);
        let terms = (0..=PARTS).map(|part| {
            let weight = match part {
                0 | PARTS => 1.0,
                _ => f64::from(2 + 2 * (part % 2)),
            };
            weight * density(from + f64::from(part) * step)
        });
        terms.sum::<f64>() * step / 3.0
    }

    #[test]
    fn strips_fill_the_densities() {
        for (ziggurat, (edge, area), tail) in [
            (&NORMALS, NORMAL, integral(NORMAL.0, 20.0, bell)),
            (&WAITS, EXPONENTIAL, (-EXPONENTIAL.0).exp()),
        ] {
            let (widths, heights) = (&ziggurat.widths, &ziggurat.heights);
            let lowest = edge * heights[1] + tail;
            assert!((lowest - area).abs() < 1e-11 * area, "{lowest} {area}");
            // The highest strip ends where the density does.
            let top = heights[STRIPS - 1] + area / widths[STRIPS - 1];
            assert!((top - 1.0).abs() < 1e-10, "{top}");
            assert!(widths.is_sorted_by(|a, b| a > b) && heights.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn normal_numbers_fall_into_bins_as_they_should() {
        // Among the edges are those of the tail, and between them all strips.
        let mut edges: Vec<f64> = (-60..=60).map(|at| f64::from(at) / 20.0).collect();
        edges.extend([3.3, NORMAL.0, 4.0, 20.0]);
        edges.extend([-3.3, -NORMAL.0, -4.0, -20.0]);
        edges.sort_by(f64::total_cmp);
        let normals = Normals::new();
        let scale = std::f64::consts::TAU.sqrt().recip();
        let (statistic, limit) =
            chi_square(&edges, |x| scale * bell(x), |words| normals.draw(words));
        assert!(statistic < limit, "{statistic} {limit}");
    }

    #[test]
    fn waiting_times_fall_into_bins_as_they_should() {
        let mut edges: Vec<f64> = (0..=120).map(|at| f64::from(at) / 20.0).collect();
        edges.extend([6.5, 7.0, EXPONENTIAL.0, 8.2, 9.0, 10.0, 60.0]);
        let waits = Waits::new();
        let (statistic, limit) = chi_square(&edges, |x| (-x).exp(), |words| waits.draw(words));
        assert!(statistic < limit, "{statistic} {limit}");
    }

    #[test]
    fn tails_fall_off_as_the_densities() {
        const DRAWS: usize = 200_000;
        let mut words = Words::new(11);
        let tails: Vec<f64> = (0..DRAWS).map(|_| normal_tail(&mut words)).collect();
        assert!(tails.iter().all(|&x| x > NORMAL.0));
        let whole = integral(NORMAL.0, 20.0, bell);
        for beyond in [3.7, 3.9, 4.2, 4.6] {
            let share = integral(beyond, 20.0, bell) / whole;
            let found = tails.iter().filter(|&&x| x > beyond).count() as f64 / DRAWS as f64;
            let deviation = (share * (1.0 - share) / DRAWS as f64).sqrt();
            assert!(
                (found - share).abs() < 4.0 * deviation,
                "{beyond}: {found} {share}"
            );
        }
    }
}
