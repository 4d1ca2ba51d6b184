//! The error function of f64 from the nearest of many points: its value there, and a short Taylor series.
//!
//! The n-th derivative of `exp(-x^2)` is `(-1)^n H_n(x) exp(-x^2)` with the polynomials of Hermite, so one slope per point
//! gives the whole series: `erf(r + d) = erf(r) + s d (1 + q d)`, where the coefficients of `q` are polynomials in `r`
//! (Abramowitz and Stegun 7.1.19). Values are kept in two parts; they are integrated from point to point when the crate is
//! compiled, in pairs of floats.

use crate::isa::Arch;
use crate::scalar::BLOCK;
use crate::scalar::float::Float;
use crate::scalar::pair::Pair;
use crate::vector::Vector;

/// Points in a unit.
const UNIT: usize = 128;
/// From here on erf is 1 to the last bit.
const LEVEL: usize = 6;
/// A power of two, so that the low bits of a sum are a point whatever they are.
const POINTS: usize = 1024;
/// Adding it leaves a multiple of `1 / UNIT`, whose number is in the low bits.
const GRID: f64 = f64::WHOLE / UNIT as f64;

/// At each point erf, what it lost, and its slope.
struct Table {
    erf: [f64; POINTS],
    lost: [f64; POINTS],
    slope: [f64; POINTS],
}

static TABLE: Table = table();

/// Steps from point to point by the Taylor series of `y = exp(-x^2)`, for which `y' = -2 x y`.
const fn table() -> Table {
    const TERMS: usize = 16;
    let mut table = Table {
        erf: [1.0; POINTS],
        lost: [0.0; POINTS],
        slope: [0.0; POINTS],
    };
    // 2 / sqrt(pi)
    let scale = Pair(std::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);
    let step = 1.0 / UNIT as f64;
    let (mut bell, mut area) = (Pair(1.0, 0.0), Pair(0.0, 0.0));
    let mut point = 0;
    while point <= LEVEL * UNIT {
        let erf = scale.times(area);
        (table.erf[point], table.lost[point]) = (erf.0, erf.1);
        table.slope[point] = scale.times(bell).0;
        let double = Pair(-2.0 * (point as f64 * step) * step, 0.0);
        let (mut before, mut term) = (Pair(0.0, 0.0), bell);
        bell = Pair(0.0, 0.0);
        let mut power = 0;
        while power < TERMS {
            let next = (power + 1) as f64;
            bell = bell.plus(term);
            area = area.plus(term.times(Pair(step, 0.0)).over(next));
            let mixed = term
                .times(double)
                .plus(before.times(Pair(-2.0 * step * step, 0.0)));
            (before, term) = (term, mixed.over(next));
            power += 1;
        }
        point += 1;
    }
    table
}

/// The error function of a block.
#[inline(always)]
pub(crate) fn block<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) {
    let mut points = [0; BLOCK];
    for (point, &x) in points.iter_mut().zip(x) {
        *point = nearest(x).0;
    }
    let (mut erf, mut lost, mut slope) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    for i in 0..BLOCK {
        // One by one instead of eight: the instruction for that takes some Xeons (model 106) 30 cycles, a million results so 3.5 ms
        // instead of 2.3.
        if const { <A::F64 as Vector<f64>>::LANES == 8 } {
            std::hint::black_box(());
        }
        let point = points[i] % POINTS;
        erf[i] = TABLE.erf[point];
        lost[i] = TABLE.lost[point];
        slope[i] = TABLE.slope[point];
    }
    for i in 0..BLOCK {
        dst[i] = erf_from::<A>(x[i], erf[i], lost[i], slope[i]);
    }
}

/// The point nearest to an argument's distance from zero, and how far from zero it and the argument are.
#[inline(always)]
fn nearest(x: f64) -> (usize, f64, f64) {
    const LAST: f64 = LEVEL as f64;
    let size = x.abs();
    // NaN stays.
    let size = if size > LAST { LAST } else { size };
    let shifted = size + GRID;
    (shifted.to_bits() as usize % POINTS, shifted - GRID, size)
}

/// The error function from what the table has for its point.
#[inline(always)]
fn erf_from<A: Arch>(x: f64, erf: f64, lost: f64, slope: f64) -> f64 {
    let (_, r, size) = nearest(x);
    let d = size - r;
    // (-1)^n H_n(r) / (n + 1)!; of the last only what matters near zero, where its power of `d` is not lost.
    let square = r * r;
    let second = square.fused::<A>(2.0 / 3.0, -1.0 / 3.0);
    let third = r * square.fused::<A>(-1.0 / 3.0, 0.5);
    let fourth = square.fused::<A>(square.fused::<A>(2.0 / 15.0, -0.4), 0.1);
    let fifth = r * square.fused::<A>(square.fused::<A>(-2.0 / 45.0, 2.0 / 9.0), -1.0 / 6.0);
    let sixth = square.fused::<A>(1.0 / 7.0, -1.0 / 42.0);
    let squared = d * d;
    let high = sixth.fused::<A>(d, fifth);
    let middle = high.fused::<A>(squared, fourth.fused::<A>(d, third));
    let q = middle.fused::<A>(squared, second.fused::<A>(d, -r));
    let straight = slope * d;
    // What that rounding lost matters next to zero; without the fused instruction it is taken for nothing.
    let lost = lost + slope.fused::<A>(d, -straight);
    let rest = straight.fused::<A>(q * d, lost);
    (erf + (straight + rest)).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_the_plain_function() {
        for point in 0..=LEVEL * UNIT {
            let x = point as f64 / UNIT as f64;
            let (erf, slope) = (
                libm::erf(x),
                libm::exp(-x * x) * std::f64::consts::FRAC_2_SQRT_PI,
            );
            // libm's functions are within 1 ulp, the exponential magnifies that of its argument.
            assert!(
                (TABLE.erf[point] - erf).abs() <= f64::EPSILON * erf,
                "erf({x})"
            );
            assert!(
                (TABLE.slope[point] - slope).abs() <= 40.0 * f64::EPSILON * slope,
                "{x}"
            );
            assert!(TABLE.lost[point].abs() <= f64::EPSILON * erf, "{x}");
        }
    }
}
