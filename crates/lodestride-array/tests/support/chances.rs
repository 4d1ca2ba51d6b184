//! What random numbers are tested with: distribution functions and the statistics of Kolmogorov-Smirnov and chi-square.

use lodestride_array::NdArray;

/// The normal distribution function, by Abramowitz and Stegun 7.1.26 (absolute error 1.5e-7, far below what is tested).
pub(crate) fn normal_cdf(x: f64) -> f64 {
    let (z, sign) = (x.abs() / 2f64.sqrt(), x.signum());
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let terms = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let tail = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t) * (-z * z).exp();
    0.5 * (1.0 + sign * (1.0 - tail))
}

/// The largest distance between the empirical distribution function and the true one, times the root of the number of draws.
pub(crate) fn kolmogorov_smirnov(drawn: &NdArray, cdf: &dyn Fn(f64) -> f64) -> f64 {
    let sorted = drawn
        .ravel()
        .unwrap()
        .sort(0)
        .unwrap()
        .to_f64_vec()
        .unwrap();
    let count = sorted.len() as f64;
    let apart = sorted.iter().enumerate().map(|(i, &x)| {
        let p = cdf(x);
        (p - i as f64 / count).max((i as f64 + 1.0) / count - p)
    });
    apart.fold(0.0, f64::max) * count.sqrt()
}

/// The chi-square statistic of counts against probabilities from 0 on, tails joined until every class expects 5 or more; and
/// what it exceeds with probability 0.001 (Wilson and Hilferty).
pub(crate) fn chi_square(drawn: &[i64], probabilities: &[f64]) -> (f64, f64) {
    let total = drawn.len() as f64;
    let mut tally = vec![0.0; probabilities.len()];
    for &value in drawn {
        if let Some(count) = tally.get_mut(value as usize) {
            *count += 1.0;
        }
    }
    let (mut statistic, mut classes) = (0.0, 0.0);
    let (mut expected, mut found) = (0.0, 0.0);
    let (mut left, mut counted) = (total, 0.0);
    for (value, probability) in probabilities.iter().enumerate() {
        expected += probability * total;
        found += tally[value];
        if expected >= 5.0 && left - expected >= 5.0 {
            statistic += (found - expected) * (found - expected) / expected;
            left -= expected;
            counted += found;
            classes += 1.0;
            (expected, found) = (0.0, 0.0);
        }
    }
    // What is left, beyond the listed values too, is one class.
    let last = total - counted;
    statistic += (last - left) * (last - left) / left;
    let free: f64 = classes;
    let width = 2.0 / (9.0 * free);
    (
        statistic,
        free * (1.0 - width + 3.0902 * width.sqrt()).powi(3),
    )
}
