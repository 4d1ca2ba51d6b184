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
use lodestride_buffer::{Buffer, DType, Element, Scalar};
use lodestride_kernels::{BinaryOp, Isa, Operand, UnaryOp, binary, unary};
use lodestride_shape::{Layout, Order};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

const BITS: usize = 192;
/// For sums next to 1 of numbers down to 1e-300.
const WIDE: usize = 1300;
const ROUND: RoundingMode = RoundingMode::None;

type Exact = fn(&BigFloat, &mut Consts) -> BigFloat;
type ExactPair = fn(&BigFloat, &BigFloat, &mut Consts) -> BigFloat;

/// Where a function is sampled.
#[derive(Clone, Copy)]
enum Range {
    /// Evenly.
    Linear(f64, f64),
    /// Evenly in the exponent, with a sign.
    Spread(f64, f64, f64),
}

use Range::{Linear, Spread};

/// A function and its true value.
#[derive(Clone, Copy)]
enum Function {
    /// Of one number.
    One(UnaryOp, Exact),
    /// Of two; the true value in f64 as well, and where the second is sampled.
    Two(BinaryOp, ExactPair, fn(f64, f64) -> f64, &'static [Range]),
}

struct Row {
    function: Function,
    ranges: &'static [Range],
    note: &'static str,
}

impl Row {
    fn name(&self) -> &'static str {
        match self.function {
            Function::One(op, ..) => op.name(),
            Function::Two(op, ..) => op.name(),
        }
    }

    /// The arguments: a fixed sequence, so that the table is reproducible.
    fn arguments(&self, count: usize) -> Vec<[f64; 2]> {
        let first = points(self.ranges, count, 0x9e37_79b9_7f4a_7c15);
        let second = match self.function {
            Function::One(..) => vec![0.0; first.len()],
            Function::Two(_, _, _, ranges) => points(ranges, count, 0xd1b5_4a32_d192_ed03),
        };
        first.into_iter().zip(second).map(|(x, y)| [x, y]).collect()
    }

    fn apply<T: Element>(&self, arguments: &[[T; 2]]) -> Vec<T> {
        let [x, y] = [0, 1].map(|i| arguments.iter().map(|pair| pair[i]).collect::<Vec<T>>());
        match self.function {
            Function::One(op, _) => apply(op, &x),
            Function::Two(op, ..) => apply_pair(op, &x, &y),
        }
    }
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
    let noted = |op, ranges, exact: Exact, note| Row {
        function: Function::One(op, exact),
        ranges,
        note,
    };
    let row = |op, ranges, exact: Exact| noted(op, ranges, exact, "");
    let pair = |op, ranges, second, plain: fn(f64, f64) -> f64, exact: ExactPair, note| Row {
        function: Function::Two(op, exact, plain, second),
        ranges,
        note,
    };
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
        row(
            UnaryOp::Asinh,
            &[Linear(-3.0, 3.0), Spread(1e-20, 1e30, 1.0)],
            |x, c| x.asinh(BITS, ROUND, c),
        ),
        row(
            UnaryOp::Acosh,
            &[Linear(1.0, 3.0), Spread(1.0, 1e30, 1.0)],
            |x, c| x.acosh(BITS, ROUND, c),
        ),
        row(UnaryOp::Atanh, UNIT, |x, c| x.atanh(BITS, ROUND, c)),
        row(
            UnaryOp::Erf,
            &[Linear(-4.0, 4.0), Spread(1e-20, 1.0, 1.0)],
            erf,
        ),
        row(
            UnaryOp::Erfc,
            &[Linear(-3.0, 9.0), Spread(1e-20, 1.0, 1.0)],
            erfc,
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
        row(UnaryOp::Gelu, &[Linear(-5.0, 5.0), Linear(-9.0, 9.0)], gelu),
        row(UnaryOp::Swish, ALL_SIGNS, |x, c| {
            x.mul(&sigmoid(x, c), BITS, ROUND)
        }),
        row(UnaryOp::Mish, ALL_SIGNS, |x, c| {
            let e = x.exp(BITS, ROUND, c);
            let top = e.mul(&e.add(&number(2.0), WIDE, ROUND), WIDE, ROUND);
            x.mul(
                &top.div(&top.add(&number(2.0), WIDE, ROUND), BITS, ROUND),
                BITS,
                ROUND,
            )
        }),
        pair(
            BinaryOp::Pow,
            &[
                Linear(0.1, 10.0),
                Spread(1e-30, 1e30, 1.0),
                Linear(0.9, 1.1),
                Linear(0.97, 1.03),
            ],
            &[
                Linear(-4.0, 4.0),
                Linear(-1.0, 1.0),
                Linear(-300.0, 300.0),
                Linear(-2500.0, 2500.0),
            ],
            f64::powf,
            |x, y, c| x.pow(y, BITS, ROUND, c),
            "",
        ),
        pair(
            BinaryOp::Atan2,
            &[Linear(-3.0, 3.0), Spread(1e-20, 1e20, 1.0)],
            &[Linear(0.0, 3.0), Spread(1e-10, 1e10, 1.0)],
            f64::atan2,
            |x, y, c| x.div(y, BITS, ROUND).atan(BITS, ROUND, c),
            "coordinates beyond 1e18 (f32) and 1e150 (f64) one at a time",
        ),
        pair(
            BinaryOp::Hypot,
            &[Linear(-3.0, 3.0), Spread(1e-17, 1e17, 1.0)],
            &[Linear(-3.0, 3.0), Spread(1e-17, 1e17, 1.0)],
            f64::hypot,
            |x, y, _| {
                let sum = x
                    .mul(x, BITS, ROUND)
                    .add(&y.mul(y, BITS, ROUND), BITS, ROUND);
                sum.sqrt(BITS, ROUND)
            },
            "as atan2",
        ),
    ]
}

/// Sample points of the ranges.
fn points(ranges: &[Range], count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
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

fn apply_pair<T: Element>(op: BinaryOp, x: &[T], y: &[T]) -> Vec<T> {
    let layout = Layout::contiguous([x.len()], Order::C).unwrap();
    let [x, y, out] = [x.to_vec(), y.to_vec(), vec![T::default(); x.len()]]
        .map(|values| Buffer::from_vec(values).unwrap());
    let operand = |buffer| Operand::new(buffer, &layout, T::DTYPE).unwrap();
    binary(op, operand(&x).into(), operand(&y).into(), operand(&out)).unwrap();
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

/// The errors of a function on one instruction set.
struct Errors {
    largest: f64,
    mean: f64,
    /// Where the largest one is.
    at: [f64; 2],
}

impl Errors {
    fn of(found: impl Iterator<Item = (f64, [f64; 2])>) -> Errors {
        let (mut largest, mut sum, mut count, mut at) = (0.0, 0.0, 0.0, [0.0; 2]);
        for (error, arguments) in found {
            // A NaN is the largest of all.
            if error > largest || error.is_nan() {
                (largest, at) = (error, arguments);
            }
            sum += error;
            count += 1.0;
        }
        let mean = sum / count;
        Errors { largest, mean, at }
    }

    /// The cells of the table.
    fn cells(&self, row: &Row) -> String {
        let Errors {
            largest,
            mean,
            at: [x, y],
        } = self;
        let at = match row.function {
            Function::One(..) => format!("{x:.4e}"),
            Function::Two(..) => format!("{x:.3e}, {y:.3e}"),
        };
        format!(" {largest:.2} | {mean:.3} | {at} |")
    }
}

/// The arguments of a function with its true values.
struct Samples {
    singles: Vec<[f32; 2]>,
    single_values: Vec<f64>,
    doubles: Vec<[f64; 2]>,
    double_values: Vec<BigFloat>,
}

impl Samples {
    fn of(row: &Row, constants: &mut Consts) -> Samples {
        let singles: Vec<[f32; 2]> = row
            .arguments(20_000)
            .into_iter()
            .map(|pair| pair.map(|x| x as f32))
            .filter(|pair| pair.iter().all(|x| x.abs() < f32::INFINITY))
            .collect();
        let single_values = singles
            .iter()
            .map(|pair| match (row.function, pair.map(f64::from)) {
                (Function::One(op, _), [x, _]) => support::float_unary(op, x),
                (Function::Two(_, _, plain, _), [x, y]) => plain(x, y),
            })
            .collect();
        let doubles = row.arguments(200);
        let double_values = doubles
            .iter()
            .map(|pair| match (row.function, pair.map(number)) {
                (Function::One(_, exact), [x, _]) => exact(&x, constants),
                (Function::Two(_, exact, ..), [x, y]) => exact(&x, &y, constants),
            })
            .collect();
        Samples {
            singles,
            single_values,
            doubles,
            double_values,
        }
    }

    /// The errors of f32 and f64 on the instruction set that runs.
    fn measure(&self, row: &Row) -> [Errors; 2] {
        let found = row.apply(&self.singles);
        let single = found.iter().zip(&self.single_values).zip(&self.singles);
        let single =
            single.map(|((&found, &wanted), at)| (ulps32(found, wanted), at.map(f64::from)));
        let found = row.apply(&self.doubles);
        let double = found.iter().zip(&self.double_values).zip(&self.doubles);
        let double = double.map(|((&found, wanted), &at)| (ulps64(found, wanted), at));
        [Errors::of(single), Errors::of(double)]
    }
}

/// What is promised of f32 and f64, from some 300,000 arguments each against 113-bit arithmetic and a margin.
fn bounds(name: &str) -> [f64; 2] {
    match name {
        "sqrt" | "softsign" => [0.51, 0.51],
        "log2" | "log10" | "log1p" | "cbrt" | "asin" | "acos" | "atan" | "sinh" | "cosh"
        | "asinh" | "atanh" | "elu" => [1.0, 1.0],
        "exp" | "expm1" | "log" => [1.05, 1.05],
        "tanh" => [1.5, 1.05],
        _ => [1.5, 1.5],
    }
}

fn table_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/accuracy.md")
}

const HEAD: &str = "# Accuracy\n\n\
Errors of each function in units in the last place (0.5 is the best there is), over some hundred thousand arguments \
per function (of f64 a thousand) spread over its domain, denormal and huge ones included; f32 against f64, f64 against \
192-bit arithmetic. \
`bound` is what is promised; then, per instruction set, the largest and the mean error measured and the argument of the \
largest. Written and checked by `cargo test -p lodestride-kernels --test accuracy`; `LODESTRIDE_WRITE_ACCURACY=1` in its \
environment rewrites this page.\n\n\
Halves (f16, bf16) are computed in f32 and rounded once more. Results may differ in the last place between instruction \
sets, because some fuse multiply and add.\n";

/// The names of the columns: what this machine can measure.
fn columns() -> Vec<Isa> {
    Isa::available().collect()
}

/// Held by the tests that choose an instruction set, or compare results of one and the same.
fn settled() -> MutexGuard<'static, ()> {
    static CHOICE: Mutex<()> = Mutex::new(());
    CHOICE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn errors_stay_within_the_published_bounds() {
    let _held = settled();
    let mut constants = Consts::new().unwrap();
    let isas = columns();
    let start = Isa::detect();
    let published = std::fs::read_to_string(table_path()).unwrap_or_default();
    let write = std::env::var_os("LODESTRIDE_WRITE_ACCURACY").is_some();
    let heads: String = isas
        .iter()
        .map(|isa| format!(" {isa} | mean | at |"))
        .collect();
    let rule = "---|".repeat(3 * isas.len());
    let mut tables = ["f32", "f64"].map(|dtype| {
        format!("\n## {dtype}\n\n| function | bound |{heads} remark |\n|---|---|{rule}---|\n")
    });
    let mut failures = Vec::new();
    for row in rows() {
        let samples = Samples::of(&row, &mut constants);
        let errors: Vec<[Errors; 2]> = isas
            .iter()
            .map(|isa| {
                assert!(isa.select());
                samples.measure(&row)
            })
            .collect();
        let name = row.name();
        for (i, dtype) in ["f32", "f64"].into_iter().enumerate() {
            let largest = errors.iter().fold(0.0, |worst: f64, errors| {
                if errors[i].largest <= worst {
                    worst
                } else {
                    errors[i].largest
                }
            });
            let cells: String = errors.iter().map(|errors| errors[i].cells(&row)).collect();
            let bound = bounds(name)[i];
            writeln!(tables[i], "| {name} | {bound} |{cells} {} |", row.note).unwrap();
            if largest > bound || largest.is_nan() {
                failures.push(format!(
                    "{name} of {dtype}: {largest:.3} ulp, promised {bound}"
                ));
            }
            if !write && promised(&published, dtype, name) != Some(bound) {
                failures.push(format!(
                    "{name} of {dtype}: another bound in docs/accuracy.md"
                ));
            }
        }
    }
    start.select();
    if write {
        std::fs::write(table_path(), format!("{HEAD}{}", tables.concat())).unwrap();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The bound of a function on the page.
fn promised(page: &str, dtype: &str, name: &str) -> Option<f64> {
    page.lines()
        .skip_while(|line| *line != format!("## {dtype}"))
        .find(|line| line.starts_with(&format!("| {name} |")))?
        .split('|')
        .nth(2)?
        .trim()
        .parse()
        .ok()
}

/// Where functions end or begin, and where their fast forms do.
const SPECIAL: [f64; 28] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
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
    -16_777_218.0,
    3.3e38,
    -3.3e38,
    f32::MAX as f64,
    f32::MIN as f64,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
];

#[test]
fn ends_of_the_domains_are_those_of_the_real_functions() {
    let _choice = settled();
    let start = Isa::detect();
    let mut failures = Vec::new();
    for isa in Isa::available() {
        isa.select();
        for &op in UnaryOp::ALL {
            if op.result_dtype(DType::F64) == Some(DType::F64) && op != UnaryOp::BitNot {
                check_ends(isa, op, &mut failures);
            }
        }
    }
    start.select();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A function of f32 and f64 where it ends, the sign of zero counted.
fn check_ends(isa: Isa, op: UnaryOp, failures: &mut Vec<String>) {
    let inf = f64::INFINITY;
    let limit = |x: f64, value: f64| match (op, x) {
        // Formulas of the plain reference that are not right at the ends.
        (UnaryOp::Softsign, _) if x.abs() == inf => x.signum(),
        (UnaryOp::Gelu | UnaryOp::Swish | UnaryOp::Mish, _) if x == -inf => -0.0,
        (UnaryOp::Mish, _) if x == inf => inf,
        (UnaryOp::Relu6, _) if x == 0.0 => 0.0,
        (UnaryOp::RationalTanh, _) if x.abs() < 1e-9 => 1.7159 * 2.0 / 3.0 * x,
        _ => value,
    };
    let same = |found: f64, wanted: f64, tolerance: f64| {
        if wanted.is_nan() {
            found.is_nan()
        } else if wanted == 0.0 && found == 0.0 {
            found.is_sign_negative() == wanted.is_sign_negative()
        } else {
            found == wanted || (found - wanted).abs() <= tolerance * wanted.abs() + 1e-45
        }
    };
    let singles = SPECIAL.map(|x| x as f32);
    for (x, found) in singles.iter().zip(apply(op, &singles)) {
        let x = f64::from(*x);
        let wanted = f64::from(limit(x, support::float_unary(op, x)) as f32);
        if !same(f64::from(found), wanted, 3e-7) {
            failures.push(format!(
                "{isa}: {op} f32 ({x:e}): {found:e} instead of {wanted:e}"
            ));
        }
    }
    for (x, found) in SPECIAL.iter().zip(apply(op, &SPECIAL)) {
        let wanted = limit(*x, support::float_unary(op, *x));
        if !same(found, wanted, 1e-14) {
            failures.push(format!(
                "{isa}: {op} f64 ({x:e}): {found:e} instead of {wanted:e}"
            ));
        }
    }
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
            let wanted = (x as f32).powf(y as f32);
            let layout = Layout::contiguous([1], Order::C).unwrap();
            let b = Buffer::from_vec(vec![y as f32]).unwrap();
            let array = Operand::new(&b, &layout, DType::F32).unwrap().into();
            for (way, y_given) in [("an array", array), ("a number", Scalar::Float(y).into())] {
                let a = Buffer::from_vec(vec![x as f32]).unwrap();
                let operand = Operand::new(&a, &layout, DType::F32).unwrap();
                binary(BinaryOp::Pow, operand.into(), y_given, operand).unwrap();
                let found = a.read().unwrap().slice::<f32>()[0];
                let close = (found - wanted).abs() <= 1e-6 * wanted.abs() || found == wanted;
                if !(close || found.is_nan() && wanted.is_nan())
                    || (found == 0.0 && found.is_sign_negative() != wanted.is_sign_negative())
                {
                    failures.push(format!(
                        "pow({x}, {y}) by {way} = {found} instead of {wanted}"
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Functions of one number that are computed in blocks.
const FUNCTIONS: [UnaryOp; 22] = [
    UnaryOp::Sin,
    UnaryOp::Cos,
    UnaryOp::Tan,
    UnaryOp::Tanh,
    UnaryOp::Sigmoid,
    UnaryOp::Gelu,
    UnaryOp::Softplus,
    UnaryOp::Exp,
    UnaryOp::Expm1,
    UnaryOp::Log,
    UnaryOp::Log1p,
    UnaryOp::Log2,
    UnaryOp::Cbrt,
    UnaryOp::Atan,
    UnaryOp::Sinh,
    UnaryOp::Cosh,
    UnaryOp::Asinh,
    UnaryOp::Acosh,
    UnaryOp::Atanh,
    UnaryOp::Elu,
    UnaryOp::Selu,
    UnaryOp::Swish,
];

#[test]
fn a_result_does_not_depend_on_its_neighbours() {
    let _held = settled();
    // Blocks of plain pairs, blocks with one that the fast form cannot do, and the part of a block that is left.
    let odd = [0.0, -20.0, f64::NAN, 1e-40, -f64::INFINITY, -100.0, 7e5];
    let numbers = |step: usize, shift: f64| -> Vec<f64> {
        let plain = |i: usize| (i * step % 997) as f64 / 100.0 + shift;
        (0..1000)
            .map(|i| {
                let place = i % 173 == 40 && i > 300;
                if place { odd[i / 173] } else { plain(i) }
            })
            .collect()
    };
    let (x, y) = (numbers(389, 0.1), numbers(577, -5.0));
    let mut failures = Vec::new();
    macro_rules! check {
        ($t:ty) => {
            let [x, y] = [&x, &y].map(|v| v.iter().map(|&v| v as $t).collect::<Vec<_>>());
            for op in FUNCTIONS {
                for (i, (&x, together)) in x.iter().zip(apply(op, &x)).enumerate() {
                    let alone = apply(op, &[x])[0];
                    if alone.to_bits() != together.to_bits() {
                        failures.push(format!("{op}({x}) at {i}: {together}, alone {alone}"));
                    }
                }
            }
            for op in [BinaryOp::Pow, BinaryOp::Atan2] {
                for (i, together) in apply_pair(op, &x, &y).into_iter().enumerate() {
                    let alone = apply_pair(op, &[x[i]], &[y[i]])[0];
                    if alone.to_bits() != together.to_bits() {
                        let pair = (x[i], y[i]);
                        failures.push(format!("{op}{pair:?} at {i}: {together}, alone {alone}"));
                    }
                }
            }
        };
    }
    check!(f32);
    check!(f64);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
