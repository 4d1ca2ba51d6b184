//! How far each function is from the true value, in units in the last place, per dtype and instruction set; and what it
//! gives at the ends of its domain.
//!
//! The measured figures are in docs/accuracy.md, which this test checks and, with `LODESTRIDE_WRITE_ACCURACY=1` in the
//! environment, writes. f32 is compared with f64, f64 with 192-bit arithmetic.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; functions outside `#[test]` are not recognised"
)]

mod support;

use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use lodestride_buffer::{Buffer, DType, Element};
use lodestride_kernels::{BinaryOp, Isa, Operand, UnaryOp, binary, unary};
use lodestride_shape::{Layout, Order};
use std::fmt::Write as _;
use std::path::PathBuf;

const BITS: usize = 192;
/// For sums next to 1 of numbers down to 1e-300.
const WIDE: usize = 1300;
const ROUND: RoundingMode = RoundingMode::None;

type Exact = fn(&BigFloat, &mut Consts) -> BigFloat;

/// Where a function is sampled.
#[derive(Clone, Copy)]
enum Range {
    /// Evenly.
    Linear(f64, f64),
    /// Evenly in the exponent, with a sign.
    Spread(f64, f64, f64),
}

use Range::{Linear, Spread};

struct Row {
    op: UnaryOp,
    ranges: &'static [Range],
    exact: Exact,
    note: &'static str,
}

const ANGLES: &[Range] = &[
    Linear(-4.0, 4.0),
    Linear(-1000.0, 1000.0),
    Linear(-9e4, 9e4),
    Spread(1e5, 1e30, 1.0),
    Spread(1e-30, 1.0, -1.0),
];
const POSITIVE: &[Range] = &[
    Linear(0.5, 2.0),
    Spread(1e-37, 1e38, 1.0),
    Linear(0.99, 1.01),
    Spread(1e-44, 1e-37, 1.0),
];
const ALL_SIGNS: &[Range] = &[
    Linear(-5.0, 5.0),
    Linear(-80.0, 20.0),
    Spread(1e-20, 1.0, 1.0),
    Spread(1e-20, 1.0, -1.0),
];
const UNIT: &[Range] = &[
    Linear(-1.0, 1.0),
    Spread(1e-20, 1.0, 1.0),
    Linear(0.99, 1.0),
    Linear(-1.0, -0.99),
];

fn one() -> BigFloat {
    number(1.0)
}

fn number(x: f64) -> BigFloat {
    BigFloat::from_f64(x, BITS)
}

fn expm1(x: &BigFloat, c: &mut Consts) -> BigFloat {
    x.exp(BITS, ROUND, c).sub(&one(), BITS, ROUND)
}

fn softplus(x: &BigFloat, c: &mut Consts) -> BigFloat {
    one()
        .add(&x.exp(BITS, ROUND, c), WIDE, ROUND)
        .ln(BITS, ROUND, c)
}

fn sigmoid(x: &BigFloat, c: &mut Consts) -> BigFloat {
    one().div(
        &one().add(&x.neg().exp(BITS, ROUND, c), BITS, ROUND),
        BITS,
        ROUND,
    )
}

/// By its power series, with bits enough for the cancellation up to |x| = 10.
fn erf(x: &BigFloat, c: &mut Consts) -> BigFloat {
    const P: usize = 640;
    let square = x.mul(x, P, ROUND);
    let mut term = x.clone();
    let mut sum = x.clone();
    for n in 1..600 {
        term = term
            .mul(&square, P, ROUND)
            .div(&number(-f64::from(n)), P, ROUND);
        let part = term.div(&number(f64::from(2 * n + 1)), P, ROUND);
        sum = sum.add(&part, P, ROUND);
        if part.exponent().unwrap_or(i32::MIN) < sum.exponent().unwrap_or(0) - 500 {
            break;
        }
    }
    sum.mul(&number(2.0), P, ROUND)
        .div(&c.pi(P, ROUND).sqrt(P, ROUND), P, ROUND)
}

fn erfc(x: &BigFloat, c: &mut Consts) -> BigFloat {
    one().sub(&erf(x, c), 640, ROUND)
}

fn gelu(x: &BigFloat, c: &mut Consts) -> BigFloat {
    let z = x.neg().div(&number(2.0).sqrt(640, ROUND), 640, ROUND);
    erfc(&z, c)
        .mul(x, BITS, ROUND)
        .div(&number(2.0), BITS, ROUND)
}

#[expect(clippy::too_many_lines, reason = "one row per function")]
fn rows() -> Vec<Row> {
    let row = |op, ranges, exact: Exact| Row {
        op,
        ranges,
        exact,
        note: "",
    };
    let noted = |op, ranges, exact: Exact, note| Row {
        op,
        ranges,
        exact,
        note,
    };
    let scalar = "f64: one element at a time (libm)";
    vec![
        row(
            UnaryOp::Exp,
            &[
                Linear(-1.0, 1.0),
                Linear(-103.0, 88.0),
                Linear(-700.0, 700.0),
            ],
            |x, c| x.exp(BITS, ROUND, c),
        ),
        row(
            UnaryOp::Exp2,
            &[
                Linear(-1.0, 1.0),
                Linear(-148.0, 127.0),
                Linear(-1000.0, 1000.0),
            ],
            |x, c| number(2.0).pow(x, BITS, ROUND, c),
        ),
        row(UnaryOp::Expm1, ALL_SIGNS, expm1),
        row(UnaryOp::Log, POSITIVE, |x, c| x.ln(BITS, ROUND, c)),
        row(UnaryOp::Log2, POSITIVE, |x, c| x.log2(BITS, ROUND, c)),
        row(UnaryOp::Log10, POSITIVE, |x, c| x.log10(BITS, ROUND, c)),
        row(
            UnaryOp::Log1p,
            &[
                Linear(-0.9, 1.0),
                Spread(1e-20, 1e30, 1.0),
                Spread(1e-9, 0.999, -1.0),
            ],
            |x, c| x.add(&one(), WIDE, ROUND).ln(BITS, ROUND, c),
        ),
        row(UnaryOp::Sqrt, POSITIVE, |x, _| x.sqrt(BITS, ROUND)),
        row(UnaryOp::Rsqrt, POSITIVE, |x, _| {
            one().div(&x.sqrt(BITS, ROUND), BITS, ROUND)
        }),
        row(
            UnaryOp::Cbrt,
            &[Linear(-10.0, 10.0), Spread(1e-44, 1e38, 1.0)],
            |x, _| {
                let root = x.abs().cbrt(BITS, ROUND);
                if x.is_negative() { root.neg() } else { root }
            },
        ),
        noted(
            UnaryOp::Sin,
            ANGLES,
            |x, c| x.sin(BITS, ROUND, c),
            "angles beyond 1e5 (f32) and 8e5 (f64) one at a time",
        ),
        noted(UnaryOp::Cos, ANGLES, |x, c| x.cos(BITS, ROUND, c), "as sin"),
        noted(UnaryOp::Tan, ANGLES, |x, c| x.tan(BITS, ROUND, c), "as sin"),
        row(UnaryOp::Asin, UNIT, |x, c| x.asin(BITS, ROUND, c)),
        row(UnaryOp::Acos, UNIT, |x, c| x.acos(BITS, ROUND, c)),
        row(
            UnaryOp::Atan,
            &[Linear(-3.0, 3.0), Spread(1e-30, 1e30, 1.0)],
            |x, c| x.atan(BITS, ROUND, c),
        ),
        row(UnaryOp::Sinh, ALL_SIGNS, |x, c| x.sinh(BITS, ROUND, c)),
        row(UnaryOp::Cosh, ALL_SIGNS, |x, c| x.cosh(BITS, ROUND, c)),
        row(UnaryOp::Tanh, ALL_SIGNS, |x, c| {
            let e = expm1(&x.add(x, BITS, ROUND), c);
            e.div(&e.add(&number(2.0), BITS, ROUND), BITS, ROUND)
        }),
        noted(
            UnaryOp::Asinh,
            &[Linear(-3.0, 3.0), Spread(1e-20, 1e30, 1.0)],
            |x, c| x.asinh(BITS, ROUND, c),
            scalar,
        ),
        noted(
            UnaryOp::Acosh,
            &[Linear(1.0, 3.0), Spread(1.0, 1e30, 1.0)],
            |x, c| x.acosh(BITS, ROUND, c),
            scalar,
        ),
        noted(UnaryOp::Atanh, UNIT, |x, c| x.atanh(BITS, ROUND, c), scalar),
        noted(
            UnaryOp::Erf,
            &[Linear(-4.0, 4.0), Spread(1e-20, 1.0, 1.0)],
            erf,
            scalar,
        ),
        noted(
            UnaryOp::Erfc,
            &[Linear(-3.0, 9.0), Spread(1e-20, 1.0, 1.0)],
            erfc,
            scalar,
        ),
        row(UnaryOp::Sigmoid, ALL_SIGNS, sigmoid),
        row(UnaryOp::LogSigmoid, ALL_SIGNS, |x, c| {
            softplus(&x.neg(), c).neg()
        }),
        row(UnaryOp::Softplus, ALL_SIGNS, softplus),
        row(UnaryOp::Softsign, ALL_SIGNS, |x, _| {
            x.div(&one().add(&x.abs(), BITS, ROUND), BITS, ROUND)
        }),
        row(UnaryOp::Elu, ALL_SIGNS, |x, c| {
            if x.is_negative() {
                expm1(x, c)
            } else {
                x.clone()
            }
        }),
        noted(
            UnaryOp::Gelu,
            &[Linear(-5.0, 5.0), Linear(-9.0, 9.0)],
            gelu,
            scalar,
        ),
        row(UnaryOp::Swish, ALL_SIGNS, |x, c| {
            x.mul(&sigmoid(x, c), BITS, ROUND)
        }),
        noted(
            UnaryOp::Mish,
            ALL_SIGNS,
            |x, c| {
                let e = x.exp(BITS, ROUND, c);
                let top = e.mul(&e.add(&number(2.0), WIDE, ROUND), WIDE, ROUND);
                x.mul(
                    &top.div(&top.add(&number(2.0), WIDE, ROUND), BITS, ROUND),
                    BITS,
                    ROUND,
                )
            },
            "f64: several rounded factors below zero",
        ),
    ]
}

/// Sample points: a fixed sequence, so that the table is reproducible.
fn points(ranges: &[Range], count: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut uniform = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (state ^ (state >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut all = Vec::new();
    for range in ranges {
        for _ in 0..count {
            let u = uniform();
            all.push(match *range {
                Linear(low, high) => low + (high - low) * u,
                Spread(low, high, sign) => sign * (low.ln() + (high.ln() - low.ln()) * u).exp(),
            });
        }
    }
    all
}

fn apply<T: Element>(op: UnaryOp, x: &[T]) -> Vec<T> {
    let layout = Layout::contiguous([x.len()], Order::C).unwrap();
    let (x, out) = (
        Buffer::from_vec(x.to_vec()).unwrap(),
        Buffer::from_vec(vec![T::default(); x.len()]).unwrap(),
    );
    unary(
        op,
        Operand::new(&x, &layout, T::DTYPE).unwrap().into(),
        Operand::new(&out, &layout, T::DTYPE).unwrap(),
    )
    .unwrap();
    let guard = out.read().unwrap();
    guard.slice::<T>().to_vec()
}

/// The nearest f64, near enough to name the last place.
fn rounded(x: &BigFloat) -> f64 {
    let Some((mantissa, _, sign, exponent, _)) = x.as_raw_parts() else {
        return f64::NAN;
    };
    let top = (mantissa[mantissa.len() - 1] >> 10) as f64 * 2f64.powi(-54);
    let size = if exponent > 0 {
        top * 2f64.powi(exponent)
    } else {
        top * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    };
    if sign == Sign::Neg { -size } else { size }
}

fn ulps64(found: f64, wanted: &BigFloat) -> f64 {
    let near = rounded(wanted).abs();
    let last = f64::from_bits(near.to_bits() + 1) - near;
    // Scaled up together: the arbitrary-precision numbers do not take denormal floats.
    let large = 2f64.powi(300);
    let difference = number(found)
        .sub(wanted, WIDE, ROUND)
        .abs()
        .mul(&number(large), BITS, ROUND);
    rounded(&difference.div(&number(last * large), BITS, ROUND))
}

fn ulps32(found: f32, wanted: f64) -> f64 {
    let near = wanted.abs() as f32;
    if near == f32::INFINITY {
        return if found.abs() == f32::INFINITY {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // The last place of the float below, where the value lies under a power of two.
    let below = if f64::from(near) > wanted.abs() {
        near.next_down()
    } else {
        near
    };
    (f64::from(found) - wanted).abs() / (f64::from(below.next_up()) - f64::from(below))
}

/// The largest error of f32 and f64, on one instruction set.
fn measure(row: &Row, samples: &Samples) -> (f64, f64) {
    let found = apply(row.op, &samples.singles);
    let single = found
        .iter()
        .zip(&samples.single_values)
        .map(|(&found, &wanted)| ulps32(found, wanted));
    let found = apply(row.op, &samples.doubles);
    let double = found
        .iter()
        .zip(&samples.double_values)
        .map(|(&found, wanted)| ulps64(found, wanted));
    let worst = |worst: f64, error: f64| {
        if error.is_nan() || error > worst {
            error
        } else {
            worst
        }
    };
    (single.fold(0.0, worst), double.fold(0.0, worst))
}

struct Samples {
    singles: Vec<f32>,
    single_values: Vec<f64>,
    doubles: Vec<f64>,
    double_values: Vec<BigFloat>,
}

fn samples(row: &Row, constants: &mut Consts) -> Samples {
    let singles: Vec<f32> = points(row.ranges, 4000)
        .into_iter()
        .map(|x| x as f32)
        .filter(|x| x.abs() < f32::INFINITY)
        .collect();
    let single_values = singles
        .iter()
        .map(|&x| support::float_unary(row.op, f64::from(x)))
        .collect();
    let doubles = points(row.ranges, 200);
    let double_values = doubles
        .iter()
        .map(|&x| (row.exact)(&number(x), constants))
        .collect();
    Samples {
        singles,
        single_values,
        doubles,
        double_values,
    }
}

/// Steps of the published bounds.
const BOUNDS: [f64; 6] = [0.51, 1.0, 1.5, 2.0, 3.0, 4.0];

fn bound(error: f64) -> f64 {
    // A margin, for the samples are not all arguments.
    BOUNDS
        .into_iter()
        .find(|&bound| error <= bound * if bound < 1.0 { 1.0 } else { 0.95 })
        .unwrap_or(f64::INFINITY)
}

fn table_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/accuracy.md")
}

const HEAD: &str = "# Accuracy\n\n\
Largest error of each function in units in the last place (0.5 is the best there is), over some ten thousand arguments \
per function spread over its domain, denormal and huge ones included; f32 against f64, f64 against 192-bit arithmetic. \
`bound` is what is promised, the other columns what was measured per instruction set. Written and checked by \
`cargo test -p lodestride-kernels --test accuracy`; `LODESTRIDE_WRITE_ACCURACY=1` in its environment rewrites this page.\n\n\
Halves (f16, bf16) are computed in f32 and rounded once more. Results may differ in the last place between instruction \
sets, because some fuse multiply and add.\n\n";

/// The names of the columns: what this machine can measure.
fn columns() -> Vec<Isa> {
    Isa::available().collect()
}

#[test]
fn errors_stay_within_the_published_bounds() {
    let mut constants = Consts::new().unwrap();
    let isas = columns();
    let start = Isa::detect();
    let mut page = String::from(HEAD);
    let names = isas
        .iter()
        .map(|isa| format!(" {isa} |"))
        .collect::<String>();
    let line = isas.iter().map(|_| "---|").collect::<String>();
    writeln!(
        page,
        "| function | f32 bound |{names} f64 bound |{names} remark |\n|---|---|{line}---|{line}---|"
    )
    .unwrap();
    let published = std::fs::read_to_string(table_path()).unwrap_or_default();
    let write = std::env::var_os("LODESTRIDE_WRITE_ACCURACY").is_some();
    let mut failures = Vec::new();
    for row in rows() {
        let samples = samples(&row, &mut constants);
        let errors: Vec<(f64, f64)> = isas
            .iter()
            .map(|isa| {
                assert!(isa.select());
                measure(&row, &samples)
            })
            .collect();
        let (single, double) = errors.iter().fold((0f64, 0f64), |worst, &(a, b)| {
            (worst.0.max(a), worst.1.max(b))
        });
        let (singles, doubles): (String, String) = errors
            .iter()
            .map(|(single, double)| (format!(" {single:.2} |"), format!(" {double:.2} |")))
            .unzip();
        let name = row.op.name();
        writeln!(
            page,
            "| {name} | {} |{singles} {} |{doubles} {} |",
            bound(single),
            bound(double),
            row.note
        )
        .unwrap();
        if write {
            continue;
        }
        match promised(&published, name) {
            Some((first, second)) if single <= first && double <= second => {}
            Some(promised) => failures.push(format!(
                "{name}: {single:.3} and {double:.3} ulp, promised {promised:?}"
            )),
            None => failures.push(format!("{name}: not in docs/accuracy.md")),
        }
    }
    start.select();
    if write {
        std::fs::write(table_path(), page).unwrap();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The f32 and f64 bounds of a function on the page.
fn promised(page: &str, name: &str) -> Option<(f64, f64)> {
    let line = page
        .lines()
        .find(|line| line.starts_with(&format!("| {name} |")))?;
    let head = page.lines().find(|line| line.starts_with("| function |"))?;
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let second = head
        .split('|')
        .map(str::trim)
        .position(|cell| cell == "f64 bound")?;
    Some((
        cells.get(2)?.parse().ok()?,
        cells.get(second)?.parse().ok()?,
    ))
}

#[test]
fn ends_of_the_domains_are_those_of_the_real_functions() {
    let inf = f64::INFINITY;
    let special = [
        0.0,
        -0.0,
        inf,
        -inf,
        f64::NAN,
        1.0,
        -1.0,
        2.0,
        -2.0,
        1e30,
        -1e30,
        1e-40,
        -1e-40,
        89.5,
        -104.5,
        710.5,
        -750.0,
    ];
    let mut failures = Vec::new();
    for &op in UnaryOp::ALL {
        if op.result_dtype(DType::F64) != Some(DType::F64) || op == UnaryOp::BitNot {
            continue;
        }
        for (x, (single, double)) in special.iter().zip(
            apply(op, &special.map(|x| x as f32))
                .into_iter()
                .zip(apply(op, &special)),
        ) {
            let limit = |x: f64, value: f64| match (op, x) {
                // Formulas of the plain reference that are not right at the ends.
                (UnaryOp::Softsign, _) if x.abs() == inf => x.signum(),
                (UnaryOp::Gelu | UnaryOp::Swish | UnaryOp::Mish, _) if x == -inf => -0.0,
                (UnaryOp::Mish, _) if x == inf => inf,
                (UnaryOp::RationalTanh, _) if x == 0.0 => 0.0,
                _ => value,
            };
            let same = |found: f64, wanted: f64, tolerance: f64| {
                if wanted.is_nan() {
                    found.is_nan()
                } else {
                    found == wanted || (found - wanted).abs() <= tolerance * wanted.abs() + 1e-45
                }
            };
            let wanted = limit(*x, support::float_unary(op, *x));
            if !same(double, wanted, 1e-14) {
                failures.push(format!(
                    "{op} f64 ({x:e}): {double:e} instead of {wanted:e}"
                ));
            }
            let rounded = f64::from(*x as f32);
            let wanted = f64::from(limit(rounded, support::float_unary(op, rounded)) as f32);
            if !same(f64::from(single), wanted, 3e-7) {
                failures.push(format!(
                    "{op} f32 ({rounded:e}): {single:e} instead of {wanted:e}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn powers_have_the_special_cases_of_c() {
    let inf = f64::INFINITY;
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        2.5,
        -2.5,
        inf,
        -inf,
        f64::NAN,
        1e30,
        -1e30,
    ];
    let mut failures = Vec::new();
    for x in values {
        for y in values {
            let (a, b) = (
                Buffer::from_vec(vec![x as f32]).unwrap(),
                Buffer::from_vec(vec![y as f32]).unwrap(),
            );
            let layout = Layout::contiguous([1], Order::C).unwrap();
            let operand = |buffer| Operand::new(buffer, &layout, DType::F32).unwrap();
            binary(
                BinaryOp::Pow,
                operand(&a).into(),
                operand(&b).into(),
                operand(&a),
            )
            .unwrap();
            let found = a.read().unwrap().slice::<f32>()[0];
            let wanted = (x as f32).powf(y as f32);
            let close = (found - wanted).abs() <= 1e-6 * wanted.abs() || found == wanted;
            if !(close || found.is_nan() && wanted.is_nan())
                || (found == 0.0 && found.is_sign_negative() != wanted.is_sign_negative())
            {
                failures.push(format!("pow({x}, {y}) = {found} instead of {wanted}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
