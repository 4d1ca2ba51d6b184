//! Random arrays against their distributions: Kolmogorov-Smirnov for real ones, chi-square for counts, at the significance
//! 0.001 with fixed seeds; reproducibility at any number of threads; shuffling, choosing, dropping out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::{Thresholds, set_threads, set_thresholds, threads, thresholds};
use lodestride_array::{DType, NdArray, Result, Rng, Scalar, with_default_dtype};
use support::chances::{chi_square, kolmogorov_smirnov, normal_cdf};
use support::matrix::{combinations, inputs, layout_matrix};
use support::{counted, report};

const DRAWS: usize = 20_000;

type Draw = fn(&mut Rng, [usize; 1]) -> Result<NdArray>;
type Real = (&'static str, Draw, fn(f64) -> f64, f64, f64);

/// Draws beside their distribution function, mean and variance.
const REALS: &[Real] = &[
    (
        "uniform",
        |rng, n| rng.uniform(n, -1.0, 3.0),
        |x| (x + 1.0) / 4.0,
        1.0,
        16.0 / 12.0,
    ),
    (
        "normal",
        |rng, n| rng.normal(n, 2.0, 0.5),
        |x| normal_cdf((x - 2.0) / 0.5),
        2.0,
        0.25,
    ),
    (
        "log-normal",
        |rng, n| rng.log_normal(n, 0.5, 0.4),
        |x| normal_cdf((x.ln() - 0.5) / 0.4),
        1.786_038_4,
        0.553_506_2,
    ),
    (
        "truncated normal",
        |rng, n| rng.truncated_normal(n, 1.0, 2.0),
        |x| (normal_cdf((x - 1.0) / 2.0) - normal_cdf(-2.0)) / (normal_cdf(2.0) - normal_cdf(-2.0)),
        1.0,
        4.0 * 0.773_741_3,
    ),
    (
        "exponential",
        |rng, n| rng.exponential(n, 3.0),
        |x| 1.0 - (-x / 3.0).exp(),
        3.0,
        9.0,
    ),
    (
        "gamma 3",
        |rng, n| rng.gamma(n, 3.0, 2.0),
        |x| 1.0 - (-x / 2.0).exp() * (1.0 + x / 2.0 + x * x / 8.0),
        6.0,
        12.0,
    ),
    (
        "gamma 1/2",
        |rng, n| rng.gamma(n, 0.5, 1.0),
        |x| 2.0 * normal_cdf((2.0 * x).sqrt()) - 1.0,
        0.5,
        0.5,
    ),
    (
        "beta 2 3",
        |rng, n| rng.beta(n, 2.0, 3.0),
        |x| x * x * (6.0 - 8.0 * x + 3.0 * x * x),
        0.4,
        0.04,
    ),
    (
        "beta 1/2 1/2",
        |rng, n| rng.beta(n, 0.5, 0.5),
        |x| 2.0 / std::f64::consts::PI * x.sqrt().asin(),
        0.5,
        0.125,
    ),
];

#[test]
fn real_draws_have_their_distribution() {
    // P(sup > 1.9495) is 0.001; 27 tests at fixed seeds.
    let mut faults = Vec::new();
    for &(name, draw, cdf, mean, variance) in REALS {
        for seed in 1..=3 {
            let drawn = draw(&mut Rng::seeded(seed), [DRAWS]).unwrap();
            let statistic = kolmogorov_smirnov(&drawn, &cdf);
            let sample = drawn.mean_number().unwrap();
            let error = (sample - mean) / (variance / DRAWS as f64).sqrt();
            let ratio = drawn.var_number().unwrap() / variance;
            if statistic > 1.9495 || error.abs() > 3.29 || (ratio - 1.0).abs() > 0.12 {
                faults.push(format!("{name} {seed}: {statistic} {error} {ratio}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The probabilities of 0, 1, .. by the recurrence from one to the next, from the mode outwards and then normalised.
fn by_ratios(count: usize, mode: usize, ratio: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    shares[mode] = 1.0;
    for k in mode + 1..count {
        shares[k] = shares[k - 1] * ratio(k as f64);
    }
    for k in (0..mode).rev() {
        shares[k] = shares[k + 1] / ratio(k as f64 + 1.0);
    }
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

#[test]
fn counts_have_their_distribution() {
    let mut faults = Vec::new();
    let mut check = |name: String, drawn: NdArray, probabilities: &[f64]| {
        assert_eq!(drawn.dtype(), DType::I64);
        let drawn = drawn.to_vec::<i64>().unwrap();
        let (statistic, limit) = chi_square(&drawn, probabilities);
        if statistic > limit {
            faults.push(format!("{name}: {statistic} > {limit}"));
        }
    };
    for (seed, rate) in [0.3f64, 2.0, 9.9, 10.0, 35.5, 400.0, 256.0, 256.1, 3000.0]
        .into_iter()
        .enumerate()
    {
        let count = (rate + 12.0 * rate.sqrt() + 20.0) as usize;
        let probabilities = by_ratios(count, rate as usize, |k| rate / k);
        let drawn = Rng::seeded(seed as u64).poisson([DRAWS], rate).unwrap();
        check(format!("poisson {rate}"), drawn, &probabilities);
    }
    let cases = [
        (1u64, 0.25f64),
        (7, 0.5),
        (20, 0.9),
        (40, 0.3),
        (100, 0.5),
        (1000, 0.985),
        (10_000, 0.0004),
        (1000, 0.3),
        (2000, 0.4),
        (10_000, 0.7),
    ];
    for (seed, (trials, p)) in cases.into_iter().enumerate() {
        let mode = ((trials as f64 + 1.0) * p) as usize;
        let ratio = |k: f64| (trials as f64 + 1.0 - k) / k * p / (1.0 - p);
        let probabilities = by_ratios(trials as usize + 1, mode.min(trials as usize), ratio);
        let drawn = Rng::seeded(seed as u64)
            .binomial([DRAWS], trials, p)
            .unwrap();
        check(format!("binomial {trials} {p}"), drawn, &probabilities);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn integers_coins_and_orders_are_as_likely_as_they_should_be() {
    let mut faults = Vec::new();
    let mut check = |name: String, drawn: Vec<i64>, probabilities: &[f64]| {
        let (statistic, limit) = chi_square(&drawn, probabilities);
        if statistic > limit {
            faults.push(format!("{name}: {statistic} > {limit}"));
        }
    };
    for (seed, (low, high)) in [(0i64, 6i64), (-3, 4), (0, 100), (1 << 40, (1 << 40) + 3)]
        .into_iter()
        .enumerate()
    {
        let mut rng = Rng::seeded(seed as u64);
        let drawn = rng.integers([DRAWS], low, high).unwrap();
        let drawn: Vec<i64> = drawn.to_vec().unwrap();
        let from_0 = drawn.into_iter().map(|value| value - low).collect();
        let count = (high - low) as usize;
        check(
            format!("integers from {low} to {high}"),
            from_0,
            &vec![1.0 / count as f64; count],
        );
    }
    for (seed, p) in [0.02, 0.5, 0.9].into_iter().enumerate() {
        let drawn = Rng::seeded(seed as u64).bernoulli([DRAWS], p).unwrap();
        let drawn = drawn.cast(DType::I64).unwrap().to_vec().unwrap();
        check(format!("bernoulli {p}"), drawn, &[1.0 - p, p]);
    }
    // Orders of three by the places of 0 and 1.
    let mut rng = Rng::seeded(6);
    let orders = (0..6000).map(|_| match rng.permutation(3)[..] {
        [0, 1, 2] => 0,
        [0, 2, 1] => 1,
        [1, 0, 2] => 2,
        [1, 2, 0] => 3,
        [2, 0, 1] => 4,
        _ => 5,
    });
    check("orders of three".into(), orders.collect(), &[1.0 / 6.0; 6]);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn draws_do_not_depend_on_threads() {
    let drawn = || {
        let mut rng = Rng::seeded(9);
        let mut all: Vec<NdArray> = REALS
            .iter()
            .map(|real| real.1(&mut rng, [50_000]).unwrap())
            .collect();
        all.push(rng.poisson([50_000], 50.0).unwrap());
        all.push(rng.binomial([50_000], 90, 0.4).unwrap());
        all.push(rng.dropout(&all[0].clone(), 0.5).unwrap());
        all.push(rng.alpha_dropout(&all[0].clone(), 0.5).unwrap());
        let shuffled = NdArray::arange(0, 100_000, 1).unwrap();
        rng.shuffle(&shuffled, 0).unwrap();
        all.push(rng.choice(&shuffled, 1000, false, Some(&shuffled)).unwrap());
        all.push(shuffled);
        all.push(rng.orthogonal([40, 50], 1.0).unwrap());
        all.iter()
            .map(|array| array.to_bytes().unwrap())
            .collect::<Vec<_>>()
    };
    set_thresholds(Thresholds {
        light_bytes: 1 << 14,
        heavy_bytes: 1 << 14,
        ..thresholds()
    });
    let many = drawn();
    let before = threads();
    set_threads(1);
    let one = drawn();
    set_threads(0);
    assert!(many == one, "with {before} threads and with one");
}

#[test]
fn parameters_out_of_range_are_errors() {
    let mut rng = Rng::seeded(0);
    let shape = [3usize];
    let x = NdArray::ones([4]).unwrap();
    let wrong = [
        rng.truncated_normal(shape, f64::NAN, 1.0),
        rng.truncated_normal(shape, 0.0, -1.0),
        rng.log_normal(shape, 0.0, -1.0),
        rng.exponential(shape, -1.0),
        rng.gamma(shape, 0.0, 1.0),
        rng.gamma(shape, 1.0, f64::INFINITY),
        rng.beta(shape, 1.0, 0.0),
        rng.poisson(shape, -0.1),
        rng.poisson(shape, 1e16),
        rng.binomial(shape, 3, 1.1),
        rng.binomial(shape, u64::MAX, 0.5),
        rng.dropout(&x, 0.0),
        rng.alpha_dropout(&x, 1.5),
        rng.orthogonal(shape, 1.0),
        rng.choice(&x, 5, false, None),
        rng.choice(&x, 1, true, Some(&NdArray::zeros([4]).unwrap())),
        rng.choice(&x, 2, false, Some(&NdArray::from([0.0f32, 0.0, 1.0, 0.0]))),
        rng.choice(&x, 1, true, Some(&NdArray::from([1.0f32, -1.0, 1.0, 1.0]))),
        rng.choice(&x, 1, true, Some(&NdArray::ones([3]).unwrap())),
        rng.choice(&NdArray::zeros([0, 2]).unwrap(), 1, true, None),
        rng.choice(&NdArray::scalar(1.0f32).unwrap(), 1, true, None),
    ];
    for (at, wrong) in wrong.into_iter().enumerate() {
        assert!(wrong.is_err(), "{at}");
    }
    assert!(
        rng.shuffle_together(&[&x, &NdArray::ones([3]).unwrap()], 0)
            .is_err()
    );
    assert!(rng.shuffle(&x.broadcast_to([2, 4]).unwrap(), 0).is_err());
    assert!(rng.shuffle(&x, 1).is_err() && rng.shuffle_together(&[], 0).is_ok());
    let certain = [
        rng.binomial(shape, 5, 0.0).unwrap(),
        rng.binomial(shape, 5, 1.0).unwrap(),
    ];
    assert_eq!(
        (
            certain[0].sum_number().unwrap(),
            certain[1].sum_number().unwrap()
        ),
        (0.0, 15.0)
    );
    assert_eq!(rng.poisson([0, 2], 0.0).unwrap().shape()[..], [0, 2]);
    assert_eq!(
        rng.exponential([2], 0.0).unwrap().sum_number().unwrap(),
        0.0
    );
}

#[test]
fn draws_take_the_default_dtype() {
    for dtype in [DType::F16, DType::BF16, DType::F64] {
        with_default_dtype(dtype, || {
            let mut rng = Rng::seeded(2);
            let drawn = rng.gamma([50], 2.0, 1.0).unwrap();
            assert_eq!(drawn.dtype(), dtype);
            assert!(drawn.is_finite().unwrap().all_true().unwrap());
            assert_eq!(rng.orthogonal([2, 3], 1.0).unwrap().dtype(), dtype);
        });
    }
}

#[test]
fn shuffling_moves_whole_positions_in_any_layout() {
    let plain = counted(&[3, 4, 5]);
    for axis in [0isize, 1, -1] {
        for (layout, x) in layout_matrix(&plain).unwrap() {
            let count = x.size(axis).unwrap();
            let mut sizes = [1; 3];
            sizes[axis.rem_euclid(3) as usize] = count;
            let labels = NdArray::arange(0, count, 1).unwrap();
            let labels = labels.reshape(sizes).unwrap();
            let mut rng = Rng::seeded(5);
            rng.shuffle_together(&[&x, &labels], axis).unwrap();
            let order = labels.ravel().unwrap().cast(DType::I64).unwrap();
            assert_eq!(plain.take(&order, axis).unwrap(), x, "{layout}");
            assert_ne!(x, plain, "{layout}");
            x.assign(&plain).unwrap();
            Rng::seeded(5).shuffle(&x, axis).unwrap();
            let sums = |array: &NdArray| array.sum(axis).unwrap();
            assert_eq!(sums(&x), sums(&plain), "{layout}");
        }
    }
    // All orders of three are equally likely: 6 classes, 5 degrees of freedom, 20.515 at 0.001.
    let mut counts = [0.0f64; 27];
    let mut rng = Rng::seeded(8);
    for _ in 0..6000 {
        let x = NdArray::from([0i64, 1, 2]);
        rng.shuffle(&x, 0).unwrap();
        let x = x.to_vec::<i64>().unwrap();
        counts[(x[0] * 9 + x[1] * 3 + x[2]) as usize] += 1.0;
    }
    let statistic: f64 = counts
        .iter()
        .filter(|&&n| n > 0.0)
        .map(|n| (n - 1000.0) * (n - 1000.0) / 1000.0)
        .sum();
    assert!(statistic < 20.515, "{statistic} {counts:?}");
}

/// The same seed gives the same results, whatever the layout of the arrays that are drawn from or thinned out.
#[test]
fn draws_do_not_depend_on_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    let mut expect = |same: bool, what: String| {
        checked += 1;
        if !same {
            failed.push(what);
        }
    };
    for shape in [&[][..], &[0, 3], &[7], &[3, 4], &[2, 1, 3], &[2, 3, 2, 2]] {
        for (layout, x, plain) in inputs(&counted(shape)).unwrap() {
            let seeded = |draw: fn(&mut Rng, &NdArray) -> Result<NdArray>| {
                let [found, wanted] = [&x, &plain].map(|x| draw(&mut Rng::seeded(3), x).unwrap());
                found == wanted
            };
            expect(
                seeded(|rng, x| rng.dropout(x, 0.6)),
                format!("dropout of {shape:?}, {layout}"),
            );
            expect(
                seeded(|rng, x| rng.alpha_dropout(x, 0.6)),
                format!("alpha_dropout of {shape:?}, {layout}"),
            );
            if !x.is_empty() && x.rank() > 0 {
                expect(
                    seeded(|rng, x| rng.choice(x, 5, true, None)),
                    format!("choice of {shape:?}, {layout}"),
                );
            }
        }
    }
    let (source, weights) = (counted(&[4, 2]), NdArray::from([1.0f64, 0.5, 2.0, 5.0]));
    let draw = |replace, source: &NdArray, weights: &NdArray| {
        let mut rng = Rng::seeded(4);
        rng.choice(source, 3, replace, Some(weights)).unwrap()
    };
    let wanted = [true, false].map(|replace| draw(replace, &source, &weights));
    let run = &mut |layouts: &str, given: &[&NdArray]| {
        let found = [true, false].map(|replace| draw(replace, given[0], given[1]));
        expect(found == wanted, format!("weighted choice, {layouts}"));
    };
    combinations(&[&source, &weights], run).unwrap();
    report(checked, &failed);
    assert!(checked > 400, "{checked}");
}

#[test]
fn choices_follow_their_probabilities() {
    let mut rng = Rng::seeded(4);
    let source = NdArray::arange(0, 4, 1).unwrap();
    let weights = NdArray::from([1.0f64, 0.0, 2.0, 5.0]);
    let shares = [0.125, 0.0, 0.25, 0.625];
    let drawn = rng.choice(&source, DRAWS, true, Some(&weights)).unwrap();
    let drawn = drawn.cast(DType::I64).unwrap().to_vec::<i64>().unwrap();
    let (statistic, limit) = chi_square(&drawn, &shares);
    assert!(
        statistic < limit && !drawn.contains(&1),
        "{statistic} {limit}"
    );
    // Without putting back the second is drawn in proportion among the rest: P(3 then 2) = 5/8 * 2/3.
    let mut both = 0.0;
    for _ in 0..6000 {
        let pair = rng
            .choice(&source, 2, false, Some(&weights))
            .unwrap()
            .to_f64_vec()
            .unwrap();
        assert!(pair[0] != pair[1] && !pair.contains(&1.0));
        both += f64::from(u8::from(pair == [3.0, 2.0]));
    }
    let expected = 6000.0 * 5.0 / 8.0 * 2.0 / 3.0;
    assert!(
        (both - expected).abs() < 3.29 * (expected * (1.0 - expected / 6000.0)).sqrt(),
        "{both}"
    );
    let rows = NdArray::arange(0, 6, 1).unwrap().reshape([3, 2]).unwrap();
    let all = rng.choice(&rows, 3, false, None).unwrap();
    assert_eq!(all.sort(0).unwrap(), rows);
    assert_eq!(
        rng.choice(&rows, 7, true, None).unwrap().shape()[..],
        [7, 2]
    );
    assert_eq!(
        rng.choice(&rows, 0, true, None).unwrap().shape()[..],
        [0, 2]
    );
    let only = NdArray::from([0.0f64, 0.0, 1.0, 0.0]);
    assert_eq!(
        rng.choice(&source, 3, true, Some(&only))
            .unwrap()
            .to_f64_vec()
            .unwrap(),
        [2.0; 3]
    );
}

#[test]
fn choices_without_putting_back_are_even() {
    let mut rng = Rng::seeded(12);
    // Nearly none, some, nearly all, all.
    for (size, count) in [
        (3000, 2),
        (3000, 11),
        (3000, 40),
        (70, 69),
        (70, 70),
        (1, 1),
    ] {
        let source = NdArray::arange(0, size, 1).unwrap();
        let chosen = rng.choice(&source, count, false, None).unwrap();
        let mut chosen = chosen.to_f64_vec().unwrap();
        chosen.sort_by(f64::total_cmp);
        assert_eq!(chosen.len(), count);
        assert!(
            chosen.windows(2).all(|pair| pair[0] < pair[1]),
            "{count} of {size}"
        );
    }
    // Ordered pairs of five: each of twenty as likely.
    let five = NdArray::arange(0, 5, 1).unwrap();
    let pairs: Vec<i64> = (0..DRAWS)
        .map(|_| {
            let pair = rng.choice(&five, 2, false, None).unwrap();
            let pair = pair.to_f64_vec().unwrap();
            (5.0 * pair[0] + pair[1]) as i64
        })
        .collect();
    let shares: Vec<f64> = (0..25)
        .map(|pair| if pair / 5 == pair % 5 { 0.0 } else { 0.05 })
        .collect();
    let (statistic, limit) = chi_square(&pairs, &shares);
    let twice = pairs.iter().any(|pair| pair / 5 == pair % 5);
    assert!(statistic < limit && !twice, "{statistic} {limit}");
    // Two of a thousand, by the tenths they are in.
    let many = NdArray::arange(0, 1000, 1).unwrap();
    let tenths: Vec<i64> = (0..DRAWS)
        .map(|_| {
            let pair = rng.choice(&many, 2, false, None).unwrap();
            let pair = pair.to_f64_vec().unwrap();
            (10.0 * (pair[0] / 100.0).floor() + (pair[1] / 100.0).floor()) as i64
        })
        .collect();
    let (statistic, limit) = chi_square(&tenths, &tenths_of_pairs());
    assert!(statistic < limit, "{statistic} {limit}");
}

/// How likely the tenths are that two different ones of a thousand are in.
fn tenths_of_pairs() -> Vec<f64> {
    let pairs = (0..100).map(|pair| {
        if pair / 10 == pair % 10 {
            100.0 * 99.0
        } else {
            100.0 * 100.0
        }
    });
    pairs.map(|ways| ways / (1000.0 * 999.0)).collect()
}

#[test]
fn dropout_keeps_means_and_alpha_dropout_variances() {
    let mut rng = Rng::seeded(6);
    let x = rng.normal([100_000], 0.0, 1.0).unwrap();
    for keep in [0.5, 0.9, 1.0] {
        let dropped = rng.dropout(&x.add(3.0).unwrap(), keep).unwrap();
        let zeros = dropped.zero_fraction().unwrap();
        assert!((zeros - (1.0 - keep)).abs() < 0.01, "{keep} {zeros}");
        assert!((dropped.mean_number().unwrap() - 3.0).abs() < 0.05);
        let alpha = rng.alpha_dropout(&x, keep).unwrap();
        let (mean, variance) = (alpha.mean_number().unwrap(), alpha.var_number().unwrap());
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02,
            "{keep} {mean} {variance}"
        );
    }
    let integers = rng.dropout(&NdArray::from([2i32, 2]), 1.0).unwrap();
    assert_eq!(
        (integers.dtype(), integers.sum_number().unwrap()),
        (DType::F64, 4.0)
    );
    let view = x.reshape([100, 1000]).unwrap().transpose();
    assert_eq!(rng.dropout(&view, 1.0).unwrap(), view);
}

#[test]
fn orthogonal_matrices_are() {
    with_default_dtype(DType::F64, || {
        let mut rng = Rng::seeded(3);
        for shape in [
            vec![1usize, 1],
            vec![5, 5],
            vec![3, 8],
            vec![8, 3],
            vec![4, 2, 3],
            vec![0, 3],
        ] {
            let q = rng.orthogonal(shape.clone(), 2.0).unwrap();
            assert_eq!(q.shape()[..], shape[..]);
            let columns = shape[1..].iter().product::<usize>();
            let q = q.reshape([shape[0], columns]).unwrap();
            let q = if shape[0] > columns { q.transpose() } else { q };
            let product = q.mmul(&q.transpose()).unwrap();
            let expected = NdArray::eye(shape[0].min(columns))
                .unwrap()
                .mul(Scalar::from(4.0))
                .unwrap();
            assert!(
                product.all_close(&expected, 0.0, 1e-14).unwrap(),
                "{shape:?}"
            );
        }
        // Evenly distributed rotations: an element of a 3x3 one is uniform on [-1, 1] (Archimedes).
        let corners: Vec<f64> = (0..2000)
            .map(|_| {
                rng.orthogonal([3, 3], 1.0)
                    .unwrap()
                    .get_f64([1, 2])
                    .unwrap()
            })
            .collect();
        let corners = NdArray::from(corners);
        let statistic = kolmogorov_smirnov(&corners, &|x| (x + 1.0) / 2.0);
        assert!(statistic < 1.9495, "{statistic}");
    });
}
