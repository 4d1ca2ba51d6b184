//! Random numbers of every dtype and how those of one dtype follow from those of another; integers over whole ranges; counts,
//! shares and normal vectors against their distributions, at the significance 0.001 with fixed seeds.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::{Thresholds, set_threads, set_thresholds, thresholds};
use lodestride_array::{ArrayErrorKind, DType, NdArray, Result, Rng, set_seed, with_default_dtype};
use support::chances::{chi_square, kolmogorov_smirnov, normal_cdf};
use support::matrix::layout_matrix;
use support::report;

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];
const INTEGERS: [DType; 8] = [
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::U32,
    DType::I64,
    DType::U64,
];

/// What the narrow dtypes are made of.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// f32 numbers, rounded, but not up to this.
    F32(f64),
    /// f64 numbers, rounded.
    F64,
    /// The exponential of `normal` in the dtype.
    Normal,
}

type Draw = fn(&mut Rng, DType) -> Result<NdArray>;
type Plain = fn(&mut Rng) -> Result<NdArray>;

const SHAPE: [usize; 2] = [50, 30];

/// Draws of a dtype, and those of the default dtype.
const REALS: &[(&str, Source, Draw, Plain)] = &[
    (
        "uniform",
        Source::F32(1.0),
        |r, dtype| r.uniform_of(dtype, SHAPE, -2.0, 1.0),
        |r| r.uniform(SHAPE, -2.0, 1.0),
    ),
    (
        "normal",
        Source::F32(f64::INFINITY),
        |r, dtype| r.normal_of(dtype, SHAPE, 3.0, 2.0),
        |r| r.normal(SHAPE, 3.0, 2.0),
    ),
    (
        "log_normal",
        Source::Normal,
        |r, dtype| r.log_normal_of(dtype, SHAPE, 0.5, 0.4),
        |r| r.log_normal(SHAPE, 0.5, 0.4),
    ),
    (
        "truncated_normal",
        Source::F64,
        |r, dtype| r.truncated_normal_of(dtype, SHAPE, 3.0, 2.0),
        |r| r.truncated_normal(SHAPE, 3.0, 2.0),
    ),
    (
        "exponential",
        Source::F64,
        |r, dtype| r.exponential_of(dtype, SHAPE, 3.0),
        |r| r.exponential(SHAPE, 3.0),
    ),
    (
        "gamma",
        Source::F64,
        |r, dtype| r.gamma_of(dtype, SHAPE, 0.7, 2.0),
        |r| r.gamma(SHAPE, 0.7, 2.0),
    ),
    (
        "beta",
        Source::F64,
        |r, dtype| r.beta_of(dtype, SHAPE, 0.5, 2.0),
        |r| r.beta(SHAPE, 0.5, 2.0),
    ),
    (
        "orthogonal",
        Source::F64,
        |r, dtype| r.orthogonal_of(dtype, [7, 5], 2.0),
        |r| r.orthogonal([7, 5], 2.0),
    ),
    (
        "dirichlet",
        Source::F64,
        |r, dtype| r.dirichlet_of(dtype, SHAPE, &NdArray::from([0.5, 1.0, 4.0])),
        |r| r.dirichlet(SHAPE, &NdArray::from([0.5, 1.0, 4.0])),
    ),
    #[cfg(feature = "linalg")]
    (
        "multivariate_normal",
        Source::F64,
        |r, dtype| r.multivariate_normal_of(dtype, SHAPE, &mean(), &covariance()),
        |r| r.multivariate_normal(SHAPE, &mean(), &covariance()),
    ),
];

#[cfg(feature = "linalg")]
fn mean() -> NdArray {
    NdArray::from([1.0, -2.0])
}

#[cfg(feature = "linalg")]
fn covariance() -> NdArray {
    NdArray::from([[2.0, -0.6], [-0.6, 0.5]])
}

/// What a dtype's draw must be, by the documented relation.
fn wanted(from: Source, draw: Draw, dtype: DType, seed: u64) -> NdArray {
    let whole = |dtype| draw(&mut Rng::seeded(seed), dtype).unwrap();
    match from {
        Source::F64 => whole(DType::F64).cast(dtype).unwrap(),
        Source::Normal => {
            let normal = Rng::seeded(seed).normal_of(dtype, SHAPE, 0.5, 0.4);
            normal.unwrap().exp().unwrap()
        }
        Source::F32(_) if dtype == DType::F64 => whole(dtype),
        Source::F32(end) => {
            let rounded = whole(DType::F32).cast(dtype).unwrap();
            // The largest number of the dtype below the end.
            let spacing = match dtype {
                DType::F16 => 1.0 / 2048.0,
                DType::BF16 => 1.0 / 256.0,
                _ => 0.5 * f64::from(f32::EPSILON),
            };
            rounded.minimum(end * (1.0 - spacing)).unwrap()
        }
    }
}

#[test]
fn draws_of_one_dtype_follow_from_those_of_another() {
    let (mut checked, mut failures) = (0, Vec::new());
    for &(name, from, draw, plain) in REALS {
        for dtype in FLOATS {
            for seed in [1, 77] {
                checked += 1;
                let mut rng = Rng::seeded(seed);
                let found = draw(&mut rng, dtype).unwrap();
                let next = rng.integers([9], 0, 1000).unwrap();
                let mut plain_rng = Rng::seeded(seed);
                let by_default = with_default_dtype(dtype, || plain(&mut plain_rng).unwrap());
                let faults = [
                    (found.dtype() != dtype, "has another dtype"),
                    (
                        found != wanted(from, draw, dtype, seed),
                        "is not what it is made of",
                    ),
                    (
                        found != by_default,
                        "differs from that of the default dtype",
                    ),
                    (found.unique().unwrap().len() < 9, "has hardly any numbers"),
                    // One array takes one stream, whatever its dtype.
                    (
                        next != plain_rng.integers([9], 0, 1000).unwrap()
                            || next != after(draw, seed),
                        "moves the generator by something else",
                    ),
                ];
                for (_, what) in faults.into_iter().filter(|(is, _)| *is) {
                    failures.push(format!("{name} of {dtype}, seed {seed}: {what}"));
                }
            }
        }
        for dtype in INTEGERS.into_iter().chain([DType::Bool]) {
            checked += 1;
            let error = draw(&mut Rng::seeded(1), dtype).unwrap_err();
            let kind = error.kind();
            let fits = matches!(kind, ArrayErrorKind::UnsupportedDType { op, dtype: found } if *op == name && *found == dtype);
            if !fits || !error.to_string().contains("help:") {
                failures.push(format!("{name} of {dtype}: {error}"));
            }
        }
    }
    report(checked, &failures);
}

/// What is drawn after an f32 array.
fn after(draw: Draw, seed: u64) -> NdArray {
    let mut rng = Rng::seeded(seed);
    draw(&mut rng, DType::F32).unwrap();
    rng.integers([9], 0, 1000).unwrap()
}

#[test]
fn the_generator_of_the_thread_draws_every_float_dtype() {
    for dtype in FLOATS {
        set_seed(5);
        let drawn = [
            NdArray::rand_of(dtype, SHAPE).unwrap(),
            NdArray::randn_of(dtype, SHAPE).unwrap(),
        ];
        let mut rng = Rng::seeded(5);
        let wanted = [
            rng.uniform_of(dtype, SHAPE, 0.0, 1.0).unwrap(),
            rng.normal_of(dtype, SHAPE, 0.0, 1.0).unwrap(),
        ];
        assert_eq!(drawn, wanted, "{dtype}");
    }
    assert!(NdArray::rand_of(DType::I32, SHAPE).is_err());
    assert!(NdArray::randn_of(DType::Bool, SHAPE).is_err());
}

#[test]
fn draws_of_f64_have_their_distribution() {
    // P(sup > 1.9495) is 0.001.
    const DRAWS: usize = 20_000;
    let mut failures = Vec::new();
    for seed in 1..=3 {
        let mut rng = Rng::seeded(seed);
        let uniform = rng.uniform_of(DType::F64, [DRAWS], -1.0, 3.0).unwrap();
        let normal = rng.normal_of(DType::F64, [DRAWS], 2.0, 0.5).unwrap();
        let statistics = [
            kolmogorov_smirnov(&uniform, &|x| (x + 1.0) / 4.0),
            kolmogorov_smirnov(&normal, &|x| normal_cdf((x - 2.0) / 0.5)),
        ];
        if statistics.iter().any(|&statistic| statistic > 1.9495) {
            failures.push(format!("seed {seed}: {statistics:?}"));
        }
        // More bits than f32 has: no number comes twice, and none is one of f32.
        let narrow = uniform.cast(DType::F32).unwrap().cast(DType::F64).unwrap();
        let same = uniform
            .equal(&narrow)
            .unwrap()
            .count_nonzero_number()
            .unwrap();
        if uniform.unique().unwrap().len() < DRAWS || same > 3.0 {
            failures.push(format!(
                "seed {seed}: {same} numbers have but the bits of f32"
            ));
        }
    }
    report(3, &failures);
}

#[test]
fn integers_are_the_same_numbers_in_every_dtype() {
    let ranges: [(i64, i64); 4] = [(0, 7), (5, 6), (0, 128), (100, 127)];
    let mut failures = Vec::new();
    for (low, high) in ranges {
        let wide = Rng::seeded(3).integers(SHAPE, low, high).unwrap();
        for dtype in INTEGERS {
            let found = Rng::seeded(3).integers_of(dtype, SHAPE, low, high).unwrap();
            if found.dtype() != dtype || found.cast(DType::I64).unwrap() != wide {
                failures.push(format!("{dtype} from {low} to {high}"));
            }
        }
        // From another start the same distances.
        let moved = Rng::seeded(3)
            .integers(SHAPE, low - 1000, high - 1000)
            .unwrap();
        if moved.add(1000).unwrap() != wide {
            failures.push(format!("moved from {low} to {high}"));
        }
    }
    report(4 * 9, &failures);
}

/// The least number of an integer dtype and the end of its range.
fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size();
    if dtype.is_signed() {
        (-(1 << (bits - 1)), 1 << (bits - 1))
    } else {
        (0, 1 << bits)
    }
}

/// The elements of an array of integers.
fn wide(array: &NdArray) -> Vec<i128> {
    if array.dtype() == DType::U64 {
        let numbers = array.to_vec::<u64>().unwrap();
        return numbers.into_iter().map(i128::from).collect();
    }
    let numbers = array.cast(DType::I64).unwrap().to_vec::<i64>().unwrap();
    numbers.into_iter().map(i128::from).collect()
}

/// The shares of the numbers below `width` that fall into each eighth; of a width that 8 does not divide they differ.
fn eighths(width: i128) -> Vec<f64> {
    let from = |part: i128| (part * width + 7) / 8;
    (0..8)
        .map(|part| (from(part + 1) - from(part)) as f64 / width as f64)
        .collect()
}

#[test]
fn integers_reach_over_the_whole_range_of_their_dtype() {
    const DRAWS: usize = 20_000;
    let mut failures = Vec::new();
    let mut checked = 0;
    for dtype in INTEGERS {
        let (least, end) = range(dtype);
        let width = end - least;
        // All of it, all but the last, and a few numbers at either end and in the middle, each by the eighth it falls into.
        for (low, high) in [
            (least, end),
            (least, end - 1),
            (least + width / 8, end),
            (least, least + 8),
            (end - 8, end),
            (least + width / 2 - 4, least + width / 2 + 4),
        ] {
            checked += 1;
            let drawn = Rng::seeded(6)
                .integers_of(dtype, [DRAWS], low, high)
                .unwrap();
            let numbers = wide(&drawn);
            let name = format!("{dtype} from {low} to {high}");
            if numbers.iter().any(|number| !(low..high).contains(number)) {
                failures.push(format!("{name}: out of bounds"));
                continue;
            }
            let eighth = |number: i128| (number - low) * 8 / (high - low);
            let shares = eighths(high - low);
            let parts: Vec<i64> = numbers.iter().map(|&n| eighth(n) as i64).collect();
            let (statistic, limit) = chi_square(&parts, &shares);
            if statistic > limit {
                failures.push(format!("{name}: {statistic} > {limit} by eighths"));
            }
            if high - low >= 1 << 32 {
                let ends: Vec<i64> = numbers.iter().map(|n| (n & 7) as i64).collect();
                let (statistic, limit) = chi_square(&ends, &[0.125; 8]);
                if statistic > limit {
                    failures.push(format!("{name}: {statistic} > {limit} by last bits"));
                }
            }
        }
    }
    report(checked, &failures);
}

#[test]
fn bounds_beyond_the_dtype_are_errors() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for dtype in INTEGERS {
        let (least, end) = range(dtype);
        let bad = [
            (least - 1, end),
            (least, end + 1),
            (end, end),
            (5, 5),
            (6, 5),
            (end, end + 1),
        ];
        for (low, high) in bad {
            checked += 1;
            let error = Rng::seeded(1).integers_of(dtype, [3], low, high);
            let text = error.map_or_else(|error| error.to_string(), |drawn| drawn.to_string());
            if !(text.starts_with("Op [integers]: ") && text.contains("it must lie between")) {
                failures.push(format!("{dtype} from {low} to {high}: {text}"));
            }
        }
    }
    for dtype in FLOATS.into_iter().chain([DType::Bool]) {
        checked += 1;
        let error = Rng::seeded(1).integers_of(dtype, [3], 0, 1).unwrap_err();
        if !matches!(
            error.kind(),
            ArrayErrorKind::UnsupportedDType { op: "integers", .. }
        ) {
            failures.push(format!("{dtype}: {error}"));
        }
    }
    report(checked, &failures);
}

/// Its name, its dtype, a new array of shape [3, 4], and an array filled.
type Making = (
    &'static str,
    DType,
    fn(&mut Rng) -> Result<NdArray>,
    fn(&mut Rng, &NdArray) -> Result<()>,
);

const MAKINGS: &[Making] = &[
    (
        "all of u64",
        DType::U64,
        |r| r.integers_of(DType::U64, [3, 4], 0, 1i128 << 64),
        |r, out| r.fill_integers(out, 0, 1i128 << 64),
    ),
    (
        "upper u64",
        DType::U64,
        |r| r.integers_of(DType::U64, [3, 4], 5, 1i128 << 63 | 9),
        |r, out| r.fill_integers(out, 5, 1i128 << 63 | 9),
    ),
    (
        "all of i64",
        DType::I64,
        |r| r.integers([3, 4], i64::MIN, 1i128 << 63),
        |r, out| r.fill_integers(out, i64::MIN, 1i128 << 63),
    ),
    (
        "multinomial",
        DType::I64,
        |r| r.multinomial([3], 50, &NdArray::from([1, 2, 0, 3])),
        |r, out| r.fill_multinomial(out, 50, &NdArray::from([1, 2, 0, 3])),
    ),
    (
        "dirichlet",
        DType::F32,
        |r| r.dirichlet([3], &NdArray::from([1, 2, 1, 3])),
        |r, out| r.fill_dirichlet(out, &NdArray::from([1, 2, 1, 3])),
    ),
    #[cfg(feature = "linalg")]
    (
        "multivariate_normal",
        DType::F64,
        |r| {
            let (mean, covariance) = (NdArray::arange(0, 4, 1)?, NdArray::eye(4)?);
            r.multivariate_normal_of(DType::F64, [3], &mean, &covariance)
        },
        |r, out| {
            let (mean, covariance) = (NdArray::arange(0, 4, 1)?, NdArray::eye(4)?);
            r.fill_multivariate_normal(out, &mean, &covariance)
        },
    ),
];

#[test]
fn fills_are_what_is_made_in_any_layout() {
    let mut failures = Vec::new();
    for &(name, dtype, make, fill) in MAKINGS {
        let wanted = make(&mut Rng::seeded(9)).unwrap();
        for (layout, out) in layout_matrix(&NdArray::ones_of(dtype, [3, 4]).unwrap()).unwrap() {
            fill(&mut Rng::seeded(9), &out).unwrap();
            if out != wanted {
                failures.push(format!("{name} into {layout}"));
            }
        }
        let kept = NdArray::ones_of(DType::Bool, [3, 4]).unwrap();
        let short = NdArray::ones_of(dtype, [3, 5]).unwrap();
        let stretched = NdArray::ones_of(dtype, [4])
            .unwrap()
            .broadcast_to([3, 4])
            .unwrap();
        let scalar = NdArray::ones_of(dtype, []).unwrap();
        let draws_any_shape = name.contains("64");
        for (what, out) in [
            ("bool", &kept),
            ("stretched", &stretched),
            ("short", &short),
            ("scalar", &scalar),
        ] {
            let any = draws_any_shape && (what == "short" || what == "scalar");
            if !any && fill(&mut Rng::seeded(9), out).is_ok() {
                failures.push(format!("{name} into {what} was done"));
            }
        }
        if !kept.all_true().unwrap() {
            failures.push(format!("{name}: written all the same"));
        }
    }
    report(MAKINGS.len(), &failures);
}

#[test]
fn counts_of_classes_are_multinomial() {
    // The joint distribution: 3 attempts in 3 classes have 10 outcomes; 27.877 is exceeded with probability 0.001.
    let p = [0.2f64, 0.5, 0.3];
    let weights = NdArray::from([2, 5, 3]);
    const DRAWS: usize = 20_000;
    let counts = Rng::seeded(4).multinomial([DRAWS], 3, &weights).unwrap();
    assert_eq!(
        (counts.dtype(), counts.shape()[..].to_vec()),
        (DType::I64, vec![DRAWS, 3])
    );
    let counts = counts.to_vec::<i64>().unwrap();
    let outcomes: Vec<i64> = counts
        .chunks(3)
        .map(|c| c[0] * 16 + c[1] * 4 + c[2])
        .collect();
    let factorial = |n: i64| (1..=n).product::<i64>() as f64;
    let mut statistic = 0.0;
    let mut seen = 0.0;
    for a in 0..=3 {
        for b in 0..=3 - a {
            let c = 3 - a - b;
            let ways = 6.0 / (factorial(a) * factorial(b) * factorial(c));
            let probability =
                ways * p[0].powi(a as i32) * p[1].powi(b as i32) * p[2].powi(c as i32);
            let expected = probability * DRAWS as f64;
            let found = outcomes
                .iter()
                .filter(|&&o| o == a * 16 + b * 4 + c)
                .count() as f64;
            statistic += (found - expected) * (found - expected) / expected;
            seen += found;
        }
    }
    assert!(
        statistic < 27.877 && seen == DRAWS as f64,
        "{statistic} {seen}"
    );
}

#[test]
fn counts_of_many_attempts_have_their_means_and_covariances() {
    let p = [0.2f64, 0.5, 0.3];
    let weights = NdArray::from([2, 5, 3]);
    // Within 3.29 deviations of them.
    let (rows, trials) = (4000.0f64, 100_000.0f64);
    let counts = Rng::seeded(5)
        .multinomial([4000], 100_000, &weights)
        .unwrap();
    assert_eq!(
        counts.sum(1).unwrap(),
        NdArray::full_of(DType::I64, [4000], 100_000).unwrap()
    );
    let means = counts.mean(0).unwrap().to_vec::<f64>().unwrap();
    let found = counts.transpose().covariance(1).unwrap();
    for i in 0..3 {
        let deviation = (trials * p[i] * (1.0 - p[i]) / rows).sqrt();
        assert!(
            (means[i] - trials * p[i]).abs() < 3.29 * deviation,
            "{means:?}"
        );
        for j in 0..3 {
            let product = |i: usize| trials * p[i] * (1.0 - p[i]);
            let expected = if i == j {
                product(i)
            } else {
                -trials * p[i] * p[j]
            };
            let spread = ((product(i) * product(j) + expected * expected) / rows).sqrt();
            let value = found.get_f64([i as isize, j as isize]).unwrap();
            assert!(
                (value - expected).abs() < 3.29 * spread,
                "{i} {j}: {value} {expected}"
            );
        }
    }
    let only = Rng::seeded(1)
        .multinomial([2, 2], 9, &NdArray::from([0.0, 1e-300, 0.0]))
        .unwrap();
    assert_eq!(
        only,
        NdArray::from([0i64, 9, 0]).broadcast_to([2, 2, 3]).unwrap()
    );
    let none = Rng::seeded(1).multinomial([], 0, &weights).unwrap();
    assert_eq!(none, NdArray::from([0i64, 0, 0]));
    let rows = Rng::seeded(1).multinomial([0, 2], 7, &weights).unwrap();
    assert_eq!(rows.shape()[..], [0, 2, 3]);
}

#[test]
fn shares_are_those_of_dirichlet() {
    type Marginal = (&'static [f64], usize, fn(f64) -> f64);
    // Each share alone is a beta number; P(sup > 1.9495) is 0.001.
    let marginals: &[Marginal] = &[
        (&[1.0, 1.0, 1.0], 0, |x| 1.0 - (1.0 - x) * (1.0 - x)),
        (&[2.0, 1.0, 1.0], 0, |x| x * x * (3.0 - 2.0 * x)),
        (&[2.0, 1.0, 1.0], 2, |x| 1.0 - (1.0 - x).powi(3)),
        (&[0.5, 0.5], 1, |x| {
            2.0 / std::f64::consts::PI * x.sqrt().asin()
        }),
        (&[2.0, 3.0], 0, |x| x * x * (6.0 - 8.0 * x + 3.0 * x * x)),
    ];
    let mut failures = Vec::new();
    for (at, &(parameters, class, cdf)) in marginals.iter().enumerate() {
        let given = NdArray::from(parameters.to_vec());
        let mut rng = Rng::seeded(at as u64);
        let shares = rng.dirichlet_of(DType::F64, [20_000], &given).unwrap();
        let statistic = kolmogorov_smirnov(&shares.slice(class as isize, 1).unwrap(), &cdf);
        let sums = shares
            .sum(1)
            .unwrap()
            .sub(1)
            .unwrap()
            .norm_max_number()
            .unwrap();
        if statistic > 1.9495 || sums > 1e-15 {
            failures.push(format!(
                "{parameters:?} {class}: {statistic}, sums off by {sums}"
            ));
        }
    }
    // However small the parameters, shares are numbers, and a class has all in proportion to its parameter.
    for scale in [1e-3, 1e-5, 1e-200, 1e-315] {
        let given = NdArray::from([scale, 2.0 * scale, 5.0 * scale]);
        let shares = Rng::seeded(2)
            .dirichlet_of(DType::F64, [20_000], &given)
            .unwrap();
        let largest = shares.argmax(1).unwrap().to_vec::<i64>().unwrap();
        let (statistic, limit) = chi_square(&largest, &[0.125, 0.25, 0.625]);
        let finite = shares.is_finite().unwrap().all_true().unwrap();
        if !finite || statistic > limit && scale < 1e-4 {
            failures.push(format!("{scale}: {statistic} > {limit}, finite: {finite}"));
        }
    }
    report(9, &failures);
}

#[test]
fn bad_weights_and_parameters_are_typed_errors() {
    let one = || NdArray::from([1.0, 2.0]);
    let mut rng = Rng::seeded(0);
    let starts = [
        (
            rng.multinomial([2], 3, &one().reshape([1, 2]).unwrap()),
            "multinomial: ",
        ),
        (
            rng.multinomial([2], 3, &NdArray::zeros([0]).unwrap()),
            "multinomial: needs",
        ),
        (
            rng.multinomial([2], 3, &NdArray::zeros([3]).unwrap()),
            "Op [multinomial]: ",
        ),
        (
            rng.multinomial([2], 3, &NdArray::from([1.0, -1.0])),
            "Op [multinomial]: ",
        ),
        (
            rng.multinomial([2], 3, &NdArray::from([f64::MAX, f64::MAX])),
            "Op [multinomial]: ",
        ),
        (rng.multinomial([2], u64::MAX, &one()), "Op [multinomial]: "),
        (
            rng.dirichlet([2], &NdArray::scalar(1.0).unwrap()),
            "dirichlet: ",
        ),
        (
            rng.dirichlet([2], &NdArray::zeros([0]).unwrap()),
            "dirichlet: needs",
        ),
        (
            rng.dirichlet([2], &NdArray::from([1.0, 0.0])),
            "Op [dirichlet]: ",
        ),
        (
            rng.dirichlet([2], &NdArray::from([1.0, f64::INFINITY])),
            "Op [dirichlet]: ",
        ),
        (
            rng.dirichlet_of(DType::I32, [2], &one()),
            "dirichlet: not defined",
        ),
    ];
    let mut failures = Vec::new();
    for (at, (made, start)) in starts.into_iter().enumerate() {
        let text = made.map_or_else(|error| error.to_string(), |made| format!("made {made}"));
        if !text.starts_with(start) || !(text.contains("help:") || start.ends_with("needs")) {
            failures.push(format!("{at}: {text}"));
        }
    }
    report(11, &failures);
}

#[cfg(feature = "linalg")]
mod normal_vectors {
    use lodestride_array::LinalgProblem;

    use super::*;

    #[test]
    fn they_have_their_mean_and_covariance() {
        const DRAWS: usize = 20_000;
        let three = NdArray::from([[4.0, 1.0, -0.5], [1.0, 2.0, 0.3], [-0.5, 0.3, 1.0]]);
        let mean = NdArray::from([1.0, -2.0, 0.5]);
        let mut rng = Rng::seeded(11);
        let points = rng
            .multivariate_normal_of(DType::F64, [DRAWS], &mean, &three)
            .unwrap();
        let centred = points.sub(&mean).unwrap();
        // The squared distance in terms of the covariance is chi-square of 3 degrees; every projection is normal.
        let inverse = three.inv().unwrap();
        let squares = centred
            .matmul(&inverse)
            .unwrap()
            .mul(&centred)
            .unwrap()
            .sum(1)
            .unwrap();
        let chi_3 = |x: f64| {
            2.0 * normal_cdf(x.sqrt())
                - 1.0
                - (2.0 * x / std::f64::consts::PI).sqrt() * (-x / 2.0).exp()
        };
        let statistic = kolmogorov_smirnov(&squares, &chi_3);
        assert!(statistic < 1.9495, "{statistic}");
        for direction in [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, -2.0, 3.0]] {
            let direction = NdArray::from(direction);
            let variance = direction
                .matmul(&three)
                .unwrap()
                .matmul(&direction)
                .unwrap();
            let deviation = variance.item::<f64>().unwrap().sqrt();
            let along = centred.matmul(&direction).unwrap();
            let statistic = kolmogorov_smirnov(&along, &|x| normal_cdf(x / deviation));
            assert!(statistic < 1.9495, "{statistic} along {direction}");
        }
    }

    #[test]
    fn they_follow_from_normal_numbers() {
        // Of the unit covariance they are what `normal` draws; of a diagonal one, scaled.
        let mean = NdArray::from([1.0, 2.0, 3.0]);
        for variances in [
            [1.0, 1.0, 1.0],
            [4.0, 0.25, 9.0],
            [4.0, 0.0, 1.0],
            [0.0, 0.0, 0.0],
        ] {
            let variances = NdArray::from(variances);
            let covariance = variances.diag(0).unwrap();
            let found = Rng::seeded(3)
                .multivariate_normal_of(DType::F64, [50, 2], &mean, &covariance)
                .unwrap();
            let standard = Rng::seeded(3)
                .normal_of(DType::F64, [50, 2, 3], 0.0, 1.0)
                .unwrap();
            let wanted = standard
                .mul(&variances.sqrt().unwrap())
                .unwrap()
                .add(&mean)
                .unwrap();
            assert!(
                found.all_close(&wanted, 1e-13, 1e-13).unwrap(),
                "{variances}"
            );
        }
        // A singular one, by rank 1: all points on a line, on which they are normal.
        let line = NdArray::from([1.0, -2.0, 0.5]);
        let covariance = line.outer(&line).unwrap();
        let zero = NdArray::zeros_of(DType::F64, [3]).unwrap();
        let points = Rng::seeded(8)
            .multivariate_normal_of(DType::F64, [20_000], &zero, &covariance)
            .unwrap();
        let along = points.slice(0, 1).unwrap();
        let wanted = along.outer(&line).unwrap();
        // Of the eigenvalues that should be 0 roots of about 1e-8 are left.
        assert!(points.all_close(&wanted, 0.0, 1e-6).unwrap());
        let statistic = kolmogorov_smirnov(&along, &normal_cdf);
        assert!(statistic < 1.9495, "{statistic}");
        let none = NdArray::zeros([0]).unwrap();
        let empty =
            Rng::seeded(1).multivariate_normal([4], &none, &NdArray::zeros([0, 0]).unwrap());
        assert_eq!(empty.unwrap().shape()[..], [4, 0]);
        // Mean and covariance of any dtype.
        let whole = Rng::seeded(1)
            .multivariate_normal(
                [4],
                &NdArray::from([1, 2]),
                &NdArray::from([[2, 1], [1, 2]]),
            )
            .unwrap();
        assert_eq!(
            (whole.dtype(), whole.shape()[..].to_vec()),
            (DType::F32, vec![4, 2])
        );
    }

    fn draw(mean: &NdArray, covariance: NdArray) -> Result<()> {
        Rng::seeded(1)
            .multivariate_normal([3], mean, &covariance)
            .map(drop)
    }

    #[test]
    fn what_is_no_covariance_is_refused() {
        let mean = NdArray::from([0.0, 0.0]);
        let negative = draw(&mean, NdArray::from([[1.0, 2.0], [2.0, 1.0]])).unwrap_err();
        assert!(
            matches!(negative.kind(), ArrayErrorKind::Linalg {
                problem: LinalgProblem::NotPositiveSemidefinite { matrix: 0, eigenvalue }, ..
            } if (eigenvalue + 1.0).abs() < 1e-12),
            "{negative}"
        );
        let skew = draw(&mean, NdArray::from([[1.0, 0.5], [0.2, 1.0]])).unwrap_err();
        assert!(
            matches!(
                skew.kind(),
                ArrayErrorKind::Linalg {
                    problem: LinalgProblem::NotSymmetric {
                        matrix: 0,
                        row: 1,
                        column: 0
                    },
                    ..
                }
            ),
            "{skew}"
        );
        let mut failures = Vec::new();
        for (error, start) in [
            (
                negative,
                "multivariate_normal: matrix 0 is no covariance: its smallest eigenvalue is -",
            ),
            (
                skew,
                "multivariate_normal: matrix 0 is not symmetric: elements [1, 0] and [0, 1] differ",
            ),
            (
                draw(&mean, NdArray::from([[1.0, 0.0]])).unwrap_err(),
                "multivariate_normal: needs a covariance with a row and a column for each element of the mean",
            ),
            (
                draw(&NdArray::from([[0.0, 0.0]]), NdArray::eye(2).unwrap()).unwrap_err(),
                "multivariate_normal: needs a vector",
            ),
        ] {
            let text = error.to_string();
            if !text.starts_with(start) || !text.contains("help:") {
                failures.push(text);
            }
        }
        for covariance in [
            [[1.0, 0.0], [0.0, f64::NAN]],
            [[f64::INFINITY, 0.0], [0.0, 1.0]],
        ] {
            let error = draw(&mean, NdArray::from(covariance)).unwrap_err();
            if !error
                .to_string()
                .starts_with("Op [multivariate_normal]: covariance = ")
            {
                failures.push(error.to_string());
            }
        }
        report(6, &failures);
    }

    #[test]
    fn what_rounding_makes_of_a_singular_covariance_is_no_fault() {
        let line = NdArray::from([1.0, -0.7, 0.3, 1.9, 0.01]);
        let singular = line.outer(&line).unwrap();
        for dtype in FLOATS {
            let covariance = singular.cast(dtype).unwrap();
            let zero = NdArray::zeros([5]).unwrap();
            Rng::seeded(1)
                .multivariate_normal([3], &zero, &covariance)
                .unwrap();
        }
    }
}

#[test]
fn draws_of_every_kind_are_the_same_at_any_number_of_threads() {
    let drawn = || {
        let mut rng = Rng::seeded(21);
        let mut all: Vec<NdArray> = Vec::new();
        for dtype in FLOATS {
            all.push(rng.uniform_of(dtype, [70_000], 0.0, 1.0).unwrap());
            all.push(rng.normal_of(dtype, [70_000], 0.0, 1.0).unwrap());
        }
        all.push(rng.gamma_of(DType::F16, [20_000], 2.0, 1.0).unwrap());
        all.push(
            rng.integers_of(DType::U64, [70_000], 0, 1i128 << 64)
                .unwrap(),
        );
        all.push(rng.integers_of(DType::U8, [70_000], 0, 256).unwrap());
        all.push(
            rng.multinomial([20_000], 40, &NdArray::from([1, 2, 3]))
                .unwrap(),
        );
        all.push(rng.dirichlet([20_000], &NdArray::from([1, 2, 3])).unwrap());
        #[cfg(feature = "linalg")]
        {
            let x = rng.normal_of(DType::F64, [80, 100], 0.0, 1.0).unwrap();
            let covariance = x.covariance(1).unwrap();
            let mean = NdArray::arange(0, 80, 1).unwrap();
            all.push(
                rng.multivariate_normal_of(DType::F64, [300], &mean, &covariance)
                    .unwrap(),
            );
        }
        let bytes = all.iter().map(|array| array.to_bytes().unwrap());
        bytes.collect::<Vec<_>>()
    };
    set_thresholds(Thresholds {
        light_bytes: 1 << 14,
        heavy_bytes: 1 << 14,
        ..thresholds()
    });
    let many = drawn();
    set_threads(1);
    let one = drawn();
    set_threads(0);
    let differ: Vec<usize> = (0..many.len()).filter(|&at| many[at] != one[at]).collect();
    assert!(differ.is_empty(), "{differ:?}");
}
