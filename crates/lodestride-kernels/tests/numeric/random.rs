//! Random numbers: ranges, moments, distributions, independence of layout and threads.
//!
//! Seeds are fixed, so these tests cannot fail by chance; bounds are stated as the chance a correct generator with another
//! seed would have of missing them.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::random::{
    bernoulli, exponential, normal, permutation, uniform, uniform_integers,
};
use lodestride_kernels::{Isa, set_threads};

use crate::support::{Arrangement, Array};
use crate::{Report, floats, zeros};

const N: usize = 200_000;

/// Largest distance between the empirical distribution of `values` and `cdf`, times the root of their number.
fn kolmogorov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = values.iter().enumerate().fold(0.0f64, |worst, (i, &v)| {
        let p = cdf(v);
        worst
            .max((p - i as f64 / n).abs())
            .max(((i + 1) as f64 / n - p).abs())
    });
    distance * n.sqrt()
}

/// Exceeded with probability 0.001 (Kolmogorov's distribution).
const KS_LIMIT: f64 = 1.95;

/// The normal distribution function, by Simpson's rule over the density.
fn normal_cdf(z: f64) -> f64 {
    let steps = 200;
    let h = z / f64::from(steps);
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let sum: f64 = (0..steps)
        .map(|i| {
            let x = f64::from(i) * h;
            density(x) + 4.0 * density(x + h / 2.0) + density(x + h)
        })
        .sum();
    0.5 + sum * h / 6.0
}

#[test]
fn uniform_numbers_are_uniform_and_below_the_bound() {
    let mut report = Report::default();
    for dtype in [DType::F32, DType::F64] {
        let out = zeros(&[N], dtype);
        uniform(42, 0, -2.0, 6.0, out.operand()).unwrap();
        let values = floats(&out);
        report.check("range", values.iter().all(|&v| (-2.0..6.0).contains(&v)));
        let ks = kolmogorov(values.clone(), |v| (v + 2.0) / 8.0);
        report.check(&format!("KS {dtype} {ks}"), ks < KS_LIMIT);
        // Mean of N: deviation 8 / sqrt(12 N) = 0.0052; four of them: 6e-5.
        let mean = values.iter().sum::<f64>() / N as f64;
        report.check(&format!("mean {mean}"), (mean - 2.0).abs() < 0.021);
        let lag: f64 = values
            .windows(2)
            .map(|p| (p[0] - 2.0) * (p[1] - 2.0))
            .sum::<f64>()
            / N as f64;
        // Deviation of the lag-one covariance: (64 / 12) / sqrt(N) = 0.012; four of them.
        report.check(&format!("lag {lag}"), lag.abs() < 0.048);
    }
    for (dtype, low, high) in [
        (DType::F16, 0.0, 1.0),
        (DType::BF16, 0.0, 1.0),
        (DType::F16, -1.0, 0.0),
        (DType::BF16, 5.0, 5.1),
        (DType::F32, 1e8, 1e8 + 16.0),
        (DType::F64, -3.0, -2.0),
    ] {
        let out = zeros(&[50_000], dtype);
        uniform(1, 0, low, high, out.operand()).unwrap();
        let worst = floats(&out).into_iter().fold(f64::NEG_INFINITY, f64::max);
        report.check(&format!("{dtype} {worst} < {high}"), worst < high);
    }
    report.finish();
}

#[test]
fn normal_numbers_are_normal() {
    let mut report = Report::default();
    for dtype in [DType::F32, DType::F64] {
        let out = zeros(&[N], dtype);
        normal(7, 3, 1.0, 2.0, out.operand()).unwrap();
        let standard: Vec<f64> = floats(&out).iter().map(|v| (v - 1.0) / 2.0).collect();
        let n = N as f64;
        let moment = |k: i32| standard.iter().map(|z| z.powi(k)).sum::<f64>() / n;
        // Deviations of the first four moments: 1, sqrt 2, sqrt 15, sqrt 96 over sqrt n; four of each: 6e-5.
        for (k, wanted, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
        {
            let error = moment(k) - wanted;
            report.check(
                &format!("moment {k} {dtype} {error}"),
                error.abs() < 4.0 * f64::sqrt(variance / n),
            );
        }
        let ks = kolmogorov(standard[..20_000].to_vec(), normal_cdf);
        report.check(&format!("KS {dtype} {ks}"), ks < KS_LIMIT);
        // 4.5 deviations: 6.8e-6 of all, so 1.4 expected here; 12 or more has a chance below 1e-7.
        let far = standard.iter().filter(|z| z.abs() > 4.5).count();
        report.check(&format!("tail {far}"), far < 12);
    }
    let out = zeros(&[5000], DType::F16);
    normal(7, 3, 0.0, 1.0, out.operand()).unwrap();
    let mean = floats(&out).iter().sum::<f64>() / 5000.0;
    report.check("half mean", mean.abs() < 0.06);
    report.finish();
}

type Draw = fn(&Array);

/// Compares a draw over layouts, threads and instruction sets, and a shorter one.
fn check_draw(report: &mut Report, shape: &[usize], name: &str, dtype: DType, draw: Draw) {
    let best = Isa::detect();
    let mut first: Option<Vec<f64>> = None;
    for arrangement in Arrangement::WRITABLE {
        // Only contiguous arrays are shared out.
        let counts: &[usize] = if arrangement == Arrangement::C {
            &[1, 2, 4]
        } else {
            &[2]
        };
        for &threads in counts {
            for isa in [Isa::Baseline, best] {
                set_threads(threads);
                isa.select();
                let out = Array::new(shape, arrangement, dtype, |_| Scalar::Int(0));
                draw(&out);
                let found = floats(&out);
                let same = first.get_or_insert_with(|| found.clone());
                report.check(
                    &format!("{name} {arrangement:?} {threads} {isa}"),
                    *same == found,
                );
            }
        }
    }
    // A shorter draw is the beginning of a longer one; another stream or seed is another draw.
    let short = zeros(&[1001], dtype);
    draw(&short);
    report.check(
        &format!("{name} prefix"),
        first
            .as_ref()
            .is_some_and(|all| all[..1001] == floats(&short)[..]),
    );
}

#[test]
fn draws_do_not_depend_on_layout_threads_or_instruction_set() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    // Large enough for several threads.
    let shape = [13, 41, 600];
    let draws: [(&str, DType, Draw); 8] = [
        ("uniform f32", DType::F32, |a| {
            uniform(5, 9, 0.0, 1.0, a.operand()).unwrap()
        }),
        ("uniform f64", DType::F64, |a| {
            uniform(5, 9, 0.0, 1.0, a.operand()).unwrap()
        }),
        ("normal f32", DType::F32, |a| {
            normal(5, 9, 0.0, 1.0, a.operand()).unwrap()
        }),
        ("normal f64", DType::F64, |a| {
            normal(5, 9, 0.0, 1.0, a.operand()).unwrap()
        }),
        ("bernoulli", DType::Bool, |a| {
            bernoulli(5, 9, 0.3, a.operand()).unwrap()
        }),
        ("integers", DType::I64, |a| {
            uniform_integers(5, 9, -5, 12, a.operand()).unwrap()
        }),
        ("wide integers", DType::I64, |a| {
            uniform_integers(5, 9, -5, 3 << 61, a.operand()).unwrap()
        }),
        ("exponential", DType::F64, |a| {
            exponential(5, 9, 2.0, a.operand()).unwrap()
        }),
    ];
    for (name, dtype, draw) in draws {
        check_draw(&mut report, &shape, name, dtype, draw);
    }
    set_threads(0);
    best.select();
    let (a, b, c) = (
        zeros(&[64], DType::F32),
        zeros(&[64], DType::F32),
        zeros(&[64], DType::F32),
    );
    uniform(1, 0, 0.0, 1.0, a.operand()).unwrap();
    uniform(1, 1, 0.0, 1.0, b.operand()).unwrap();
    uniform(2, 0, 0.0, 1.0, c.operand()).unwrap();
    report.check(
        "streams and seeds differ",
        floats(&a) != floats(&b) && floats(&a) != floats(&c),
    );
    report.finish();
}

#[test]
fn bernoulli_and_integers_hit_their_frequencies() {
    let mut report = Report::default();
    for (p, dtype) in [
        (0.0, DType::Bool),
        (1.0, DType::Bool),
        (0.3, DType::F32),
        (0.001, DType::U8),
    ] {
        let out = zeros(&[N], dtype);
        bernoulli(11, 0, p, out.operand()).unwrap();
        let share = floats(&out).iter().sum::<f64>() / N as f64;
        // Four deviations, and exact at the ends.
        let bound = 4.0 * (p * (1.0 - p) / N as f64).sqrt();
        report.check(
            &format!("bernoulli {p}: {share}"),
            (share - p).abs() <= bound,
        );
    }
    let out = zeros(&[N], DType::I8);
    uniform_integers(11, 0, -3, 4, out.operand()).unwrap();
    let mut counts = [0f64; 7];
    floats(&out)
        .iter()
        .for_each(|&v| counts[(v + 3.0) as usize] += 1.0);
    let expected = N as f64 / 7.0;
    let chi: f64 = counts
        .iter()
        .map(|c| (c - expected).powi(2) / expected)
        .sum();
    // Chi squared with 6 degrees of freedom: 22.5 is exceeded with probability 0.001.
    report.check(&format!("chi squared {chi}"), chi < 22.5);
    // A range that makes every third word be drawn again.
    let wide = zeros(&[N], DType::I64);
    let high = (1i64 << 62) + (1i64 << 61);
    uniform_integers(11, 0, -high, high - 1, wide.operand()).unwrap();
    let ks = kolmogorov(floats(&wide), |v| (v + high as f64) / (2.0 * high as f64));
    report.check(&format!("wide integers KS {ks}"), ks < KS_LIMIT);
    report.finish();
}

#[test]
fn permutations_are_permutations_and_even() {
    for n in [0, 1, 2, 17, 1000] {
        let mut order = permutation(3, n);
        order.sort_unstable();
        assert_eq!(order, (0..n).collect::<Vec<_>>());
    }
    assert_eq!(permutation(3, 100), permutation(3, 100));
    assert_ne!(permutation(3, 100), permutation(4, 100));
    // All 24 orders of four over 24,000 seeds: chi squared with 23 degrees of freedom exceeds 49.7 with probability 0.001.
    let mut counts = std::collections::HashMap::new();
    for seed in 0..24_000 {
        *counts.entry(permutation(seed, 4)).or_insert(0u32) += 1;
    }
    let chi: f64 = counts
        .values()
        .map(|&c| (f64::from(c) - 1000.0).powi(2) / 1000.0)
        .sum();
    assert!(
        counts.len() == 24 && chi < 49.7,
        "{} orders, chi squared {chi}",
        counts.len()
    );
}

#[test]
fn misuse_is_refused() {
    let floats_out = zeros(&[3], DType::F32);
    let ints_out = zeros(&[3], DType::I8);
    assert!(uniform(1, 0, 1.0, 1.0, floats_out.operand()).is_err());
    assert!(uniform(1, 0, 0.0, f64::INFINITY, floats_out.operand()).is_err());
    assert!(uniform(1, 0, 0.0, 1.0, ints_out.operand()).is_err());
    assert!(normal(1, 0, 0.0, -1.0, floats_out.operand()).is_err());
    assert!(normal(1, 0, f64::NAN, 1.0, floats_out.operand()).is_err());
    assert!(bernoulli(1, 0, 1.5, ints_out.operand()).is_err());
    assert!(uniform_integers(1, 0, 0, 1, floats_out.operand()).is_err());
    assert!(uniform_integers(1, 0, 5, 5, ints_out.operand()).is_err());
    assert!(uniform_integers(1, 0, 0, 129, ints_out.operand()).is_err());
    let shared = Array::new(&[3], Arrangement::RowBroadcast, DType::F32, |_| {
        Scalar::Int(0)
    });
    assert!(uniform(1, 0, 0.0, 1.0, shared.operand()).is_err());
}
