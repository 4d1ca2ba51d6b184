//! Every op with a gradient against central differences, through one checker that reports all failing cases.
#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a table of cases; a failing unwrap is a failing test"
)]

use lodestride_array::kernels::{BinaryOp, ReduceOp, SegmentOp, UnaryOp};
use lodestride_array::{DType, NdArray, Rng, keep, s};
use lodestride_graph::ops::{self, Elemwise};
use lodestride_graph::{Function, OpRef, Result, Unused, Value, Variable, grad, lod, tensor};
use lodestride_lod::{Lod, LodTensor};

/// Where the inputs of a case are drawn from.
#[derive(Clone, Copy)]
struct Range(f64, f64);

const ANY: Range = Range(-1.5, 1.5);
const POSITIVE: Range = Range(0.3, 2.0);
const UNIT: Range = Range(-0.8, 0.8);
const ABOVE_ONE: Range = Range(1.2, 3.0);

struct Case {
    name: String,
    inputs: Vec<(Variable, Value)>,
    output: Variable,
}

/// Central differences lose half of f64's digits; a wrong slope is off by far more.
const TOLERANCE: f64 = 2e-6;
const STEP: f64 = 1e-5;

/// The slope of `sum(output * weights)` for fixed pseudo-random weights, by the graph and by differences.
fn check(case: &Case) -> std::result::Result<(), String> {
    let fail = |e: lodestride_graph::GraphError| e.to_string();
    let weights = weighted(&case.output).map_err(fail)?;
    let wrt: Vec<&Variable> = case
        .inputs
        .iter()
        .map(|(v, _)| v)
        .filter(|v| v.dtype().is_float())
        .collect();
    let inputs: Vec<&Variable> = case.inputs.iter().map(|(v, _)| v).collect();
    let slopes = grad(&weights, &wrt).map_err(fail)?;
    let outputs: Vec<&Variable> = std::iter::once(&weights).chain(&slopes).collect();
    let build = |outputs: &[&Variable]| {
        Function::builder(&inputs, outputs)
            .on_unused_input(Unused::Ignore)
            .compile()
    };
    let with_slopes = build(&outputs).map_err(fail)?;
    let cost = build(&[&weights]).map_err(fail)?;
    let values: Vec<Value> = case.inputs.iter().map(|(_, v)| v.clone()).collect();
    let found = with_slopes.call(&values).map_err(fail)?;
    let floats = case
        .inputs
        .iter()
        .enumerate()
        .filter(|(_, (v, _))| v.dtype().is_float())
        .map(|(i, _)| i);
    for (slope, input) in found[1..].iter().zip(floats) {
        let found = slope.array().to_vec::<f64>().map_err(|e| e.to_string())?;
        let count = values[input].array().len();
        if found.len() != count {
            return Err(format!(
                "input {input}: {} slopes for {count} elements",
                found.len()
            ));
        }
        for (element, found) in found.iter().enumerate() {
            let at = |offset: f64| -> Result<f64> {
                let mut moved = values.clone();
                moved[input] = nudged(&values[input], element, offset)?;
                Ok(cost.call(&moved)?[0].array().item::<f64>()?)
            };
            let want = (at(STEP).map_err(fail)? - at(-STEP).map_err(fail)?) / (2.0 * STEP);
            if (found - want).abs() > TOLERANCE * (1.0 + want.abs()) || !found.is_finite() {
                return Err(format!(
                    "input {input}, element {element}: {found}, by differences {want}"
                ));
            }
        }
    }
    Ok(())
}

fn nudged(value: &Value, element: usize, offset: f64) -> Result<Value> {
    let array = value.array();
    let mut data = array.to_vec::<f64>()?;
    data[element] += offset;
    let array = NdArray::from_vec(data, array.shape())?;
    Ok(match value.lod_tensor() {
        None => array.into(),
        Some(tensor) => LodTensor::new(array, tensor.lod().clone())?.into(),
    })
}

/// Different elements count differently, so that a slope in the wrong place shows.
fn weighted(output: &Variable) -> Result<Variable> {
    let output = if output.ty().is_lod() {
        output.rows()?
    } else {
        output.clone()
    };
    let flat = output.reshape(&[-1])?;
    let places = flat.ones_like()?.cumsum(0)?;
    flat.mul((places * 0.7).sin()? + 1.3)?.sum(..)
}

fn run(cases: Vec<Case>) {
    let mut failures = Vec::new();
    for case in &cases {
        if let Err(error) = check(case) {
            failures.push(format!("{}: {error}", case.name));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} fail:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

fn dense(name: &'static str, shape: &[usize], range: Range, seed: u64) -> (Variable, Value) {
    let variable = tensor(name, DType::F64, vec![None::<usize>; shape.len()]);
    let array = Rng::seeded(seed)
        .uniform(shape, range.0, range.1)
        .unwrap()
        .cast(DType::F64)
        .unwrap();
    (variable, array.into())
}

fn ragged(
    name: &'static str,
    lengths: &[&[usize]],
    width: &[usize],
    seed: u64,
) -> (Variable, Value) {
    let variable = lod(name, DType::F64, width.to_vec(), lengths.len());
    let rows: usize = lengths.last().unwrap().iter().sum();
    let shape: Vec<usize> = std::iter::once(rows).chain(width.iter().copied()).collect();
    let array = Rng::seeded(seed)
        .uniform(&shape[..], -1.5, 1.5)
        .unwrap()
        .cast(DType::F64)
        .unwrap();
    let lengths: Vec<Vec<usize>> = lengths.iter().map(|l| l.to_vec()).collect();
    (
        variable,
        LodTensor::new(array, Lod::from_lengths(lengths).unwrap())
            .unwrap()
            .into(),
    )
}

fn integers(name: &'static str, values: &[i64], shape: &[usize]) -> (Variable, Value) {
    let variable = tensor(name, DType::I64, vec![None::<usize>; shape.len()]);
    (
        variable,
        NdArray::from_vec(values.to_vec(), shape).unwrap().into(),
    )
}

fn case(
    name: &str,
    inputs: Vec<(Variable, Value)>,
    output: impl Fn(&[Variable]) -> Result<Variable>,
) -> Case {
    let variables: Vec<Variable> = inputs.iter().map(|(v, _)| v.clone()).collect();
    Case {
        name: name.to_owned(),
        output: output(&variables).unwrap(),
        inputs,
    }
}

#[test]
fn unary_ops() {
    let range = |op: UnaryOp| match op {
        UnaryOp::Log
        | UnaryOp::Log2
        | UnaryOp::Log10
        | UnaryOp::Sqrt
        | UnaryOp::Rsqrt
        | UnaryOp::Reciprocal => POSITIVE,
        UnaryOp::Cbrt | UnaryOp::Abs | UnaryOp::Relu | UnaryOp::Relu6 | UnaryOp::RectifiedTanh => {
            POSITIVE
        }
        UnaryOp::Asin | UnaryOp::Acos | UnaryOp::Atanh | UnaryOp::Log1p | UnaryOp::HardTanh => UNIT,
        UnaryOp::Acosh => ABOVE_ONE,
        // Between the steps, where the slope is 0.
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Sign | UnaryOp::Step => {
            Range(0.2, 0.8)
        }
        UnaryOp::Round => Range(0.6, 0.9),
        _ => ANY,
    };
    let real = |op: &UnaryOp| op.result_dtype(DType::F64) == Some(DType::F64);
    let cases = UnaryOp::ALL.iter().copied().filter(real).map(|op| {
        let inputs = vec![dense("x", &[2, 3], range(op), 1)];
        case(op.name(), inputs, |v| {
            OpRef::from(Elemwise::Unary(op)).call(&[&v[0]])
        })
    });
    run(cases.collect());
}

#[test]
fn binary_ops() {
    let mut cases = Vec::new();
    for op in BinaryOp::ALL
        .iter()
        .copied()
        .filter(|op| op.result_dtype(DType::F64) == Some(DType::F64))
    {
        for (shapes, label) in [
            ([&[2, 3][..], &[2, 3][..]], "same"),
            ([&[2, 3][..], &[3][..]], "row"),
            ([&[2, 1][..], &[1, 3][..]], "outer"),
        ] {
            let inputs = vec![
                dense("x", shapes[0], POSITIVE, 1),
                dense("y", shapes[1], POSITIVE, 2),
            ];
            cases.push(case(&format!("{} {label}", op.name()), inputs, |v| {
                OpRef::from(Elemwise::Binary(op)).call(&[&v[0], &v[1]])
            }));
        }
    }
    for exponent in [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 2.5] {
        let inputs = vec![dense("x", &[4], POSITIVE, 3)];
        cases.push(case(&format!("pow {exponent}"), inputs, |v| {
            v[0].pow(exponent)
        }));
    }
    cases.push(case(
        "select",
        vec![dense("x", &[2, 3], ANY, 1), dense("y", &[3], ANY, 2)],
        |v| ops::select(v[0].greater(0.1)?, &v[0] * 2.0, &v[1]),
    ));
    cases.push(case("clip", vec![dense("x", &[6], ANY, 1)], |v| {
        v[0].clip(-0.5, 0.5)
    }));
    cases.push(case("cast", vec![dense("x", &[6], ANY, 1)], |v| {
        v[0].cast(DType::F64)
    }));
    run(cases);
}

#[test]
fn reductions_and_scans() {
    let mut cases = Vec::new();
    for op in ReduceOp::ALL {
        if op.result_dtype(DType::F64) != DType::F64 || matches!(op, ReduceOp::CountNonZero) {
            continue;
        }
        let x = || vec![dense("x", &[2, 3, 4], POSITIVE, 5)];
        cases.push(case(&format!("{} all", op.name()), x(), |v| {
            v[0].reduce(op, ..)
        }));
        cases.push(case(&format!("{} middle", op.name()), x(), |v| {
            v[0].reduce(op, 1)
        }));
        cases.push(case(&format!("{} kept", op.name()), x(), |v| {
            v[0].reduce(op, keep([0, 2]))
        }));
    }
    {
        let ddof = 1;
        cases.push(case("var ddof", vec![dense("x", &[2, 5], ANY, 5)], |v| {
            v[0].reduce(ReduceOp::Var { ddof }, 1)
        }));
        cases.push(case("std ddof", vec![dense("x", &[2, 5], ANY, 5)], |v| {
            v[0].reduce(ReduceOp::Std { ddof }, 1)
        }));
    }
    cases.push(case("cumsum", vec![dense("x", &[3, 4], ANY, 6)], |v| {
        v[0].cumsum(1)
    }));
    cases.push(case(
        "cumprod",
        vec![dense("x", &[3, 4], POSITIVE, 6)],
        |v| v[0].cumprod(0),
    ));
    cases.push(case("softmax", vec![dense("x", &[3, 4], ANY, 6)], |v| {
        v[0].softmax(1)
    }));
    cases.push(case(
        "log_softmax",
        vec![dense("x", &[3, 4], ANY, 6)],
        |v| v[0].log_softmax(0),
    ));
    cases.push(case(
        "cross entropy",
        vec![dense("x", &[3, 4], ANY, 6), integers("i", &[2, 0, 3], &[3])],
        |v| v[0].softmax_cross_entropy(&v[1]),
    ));
    run(cases);
}

#[test]
fn products() {
    let cases = vec![
        case(
            "matrices",
            vec![dense("a", &[2, 3], ANY, 1), dense("b", &[3, 4], ANY, 2)],
            |v| v[0].matmul(&v[1]),
        ),
        case(
            "vectors",
            vec![dense("a", &[3], ANY, 1), dense("b", &[3], ANY, 2)],
            |v| v[0].dot(&v[1]),
        ),
        case(
            "row",
            vec![dense("a", &[3], ANY, 1), dense("b", &[3, 2], ANY, 2)],
            |v| v[0].dot(&v[1]),
        ),
        case(
            "column",
            vec![dense("a", &[2, 3], ANY, 1), dense("b", &[3], ANY, 2)],
            |v| v[0].dot(&v[1]),
        ),
        case(
            "outer",
            vec![dense("a", &[3], ANY, 1), dense("b", &[2], ANY, 2)],
            |v| v[0].outer(&v[1]),
        ),
        case(
            "batch",
            vec![
                dense("a", &[2, 1, 2, 3], ANY, 1),
                dense("b", &[3, 3, 2], ANY, 2),
            ],
            |v| v[0].matmul(&v[1]),
        ),
        case(
            "scaled sum",
            vec![
                dense("a", &[2, 2], ANY, 1),
                dense("b", &[2, 2], ANY, 2),
                dense("c", &[2, 2], ANY, 3),
            ],
            |v| Ok(v[0].matmul(&v[1])? * 0.5 + &v[2] * 0.3),
        ),
        case(
            "transposed",
            vec![dense("a", &[3, 2], ANY, 1), dense("b", &[4, 3], ANY, 2)],
            |v| v[0].transpose()?.matmul(v[1].transpose()?),
        ),
    ];
    run(cases);
}

#[test]
fn shapes_and_indices() {
    let x = || vec![dense("x", &[3, 4], ANY, 1)];
    let pair = || vec![dense("x", &[3, 4], ANY, 1), dense("y", &[2, 4], ANY, 2)];
    let cases = vec![
        case("permute", vec![dense("x", &[2, 3, 4], ANY, 1)], |v| {
            v[0].permute(&[2, 0, 1])
        }),
        case("reshape", x(), |v| v[0].reshape(&[2, -1])),
        case("reshape of transposed", x(), |v| {
            v[0].transpose()?.reshape(&[-1])
        }),
        case("expand, squeeze", x(), |v| {
            v[0].expand_dims(&[0, 3])?.squeeze(0)
        }),
        case("broadcast_to", vec![dense("x", &[3, 1], ANY, 1)], |v| {
            v[0].broadcast_to(&[2, 3, 4])
        }),
        case(
            "broadcast_like",
            vec![dense("x", &[4], ANY, 1), dense("y", &[3, 4], ANY, 2)],
            |v| v[0].broadcast_like(&v[1])?.mul(&v[1]),
        ),
        case(
            "sum_to",
            vec![dense("x", &[3, 4], ANY, 1), dense("y", &[1, 4], ANY, 2)],
            |v| v[0].sum_to(&v[1])?.mul(&v[1]),
        ),
        case("slice", x(), |v| v[0].get(&s![1.., 0..4;2])),
        case("reversed", x(), |v| v[0].flip(0)),
        case("point", x(), |v| v[0].get(&s![1, -1])),
        case(
            "set",
            vec![dense("x", &[3, 4], ANY, 1), dense("y", &[4], ANY, 2)],
            |v| v[0].set_index(&s![1], &v[1]),
        ),
        case(
            "increase",
            vec![dense("x", &[3, 4], ANY, 1), dense("y", &[4], ANY, 2)],
            |v| v[0].inc_index(&s![0..2], &v[1]),
        ),
        case(
            "take",
            vec![x().remove(0), integers("i", &[2, 0, 2, -1], &[2, 2])],
            |v| v[0].take(&v[1], 0),
        ),
        case(
            "take columns",
            vec![x().remove(0), integers("i", &[2, 0, 2], &[3])],
            |v| v[0].take(&v[1], 1),
        ),
        case(
            "pick",
            vec![x().remove(0), integers("i", &[2, 0, 2], &[3])],
            |v| v[0].pick(&v[1]),
        ),
        case(
            "gather",
            vec![
                x().remove(0),
                integers("i", &[2, 0], &[2]),
                integers("j", &[-1, 1], &[2]),
            ],
            |v| v[0].gather(&[&v[1], &v[2]]),
        ),
        case("compress", x(), |v| v[0].compress(v[0].greater(0.0)?)),
        case("concat", pair(), |v| ops::concat(&[&v[0], &v[1]], 0)),
        case(
            "stack",
            vec![dense("x", &[3], ANY, 1), dense("y", &[3], ANY, 2)],
            |v| ops::stack(&[&v[0], &v[1]], 1),
        ),
        case("diagonal", x(), |v| v[0].diagonal()),
    ];
    run(cases);
}

#[test]
fn sequences() {
    let one = || vec![ragged("x", &[&[2, 0, 3, 1]], &[2], 1)];
    let two = || vec![ragged("x", &[&[2, 0, 2], &[1, 3, 0, 2]], &[2], 2)];
    let mut cases = Vec::new();
    for kind in SegmentOp::ALL {
        cases.push(case(kind.name(), one(), |v| v[0].sequence_pool(kind, -1)));
        cases.push(case(&format!("{} top", kind.name()), two(), |v| {
            v[0].sequence_pool(kind, 0)
        }));
        cases.push(case(&format!("{} last of two", kind.name()), two(), |v| {
            v[0].sequence_pool(kind, -1)
        }));
    }
    cases.push(case("softmax", one(), |v| v[0].sequence_softmax(-1)));
    cases.push(case("reverse", one(), |v| v[0].sequence_reverse(-1)));
    cases.push(case("reverse top", two(), |v| v[0].sequence_reverse(0)));
    for (start, len) in [(-1, 3), (0, 2), (-3, 2), (2, 2)] {
        cases.push(case(&format!("windows {start} {len}"), one(), |v| {
            v[0].sequence_windows(start, len, -1)
        }));
    }
    cases.push(case(
        "conv",
        vec![one().remove(0), dense("f", &[6, 3], ANY, 3)],
        |v| v[0].sequence_conv(&v[1], -1, 3, -1),
    ));
    cases.push(case(
        "expand rows",
        vec![dense("r", &[4, 2], ANY, 3), two().remove(0)],
        |v| v[0].sequence_expand(&v[1], -1),
    ));
    cases.push(case(
        "expand sequences",
        vec![ragged("s", &[&[1, 0, 2]], &[2], 4), two().remove(0)],
        |v| v[0].sequence_expand(&v[1], 0),
    ));
    cases.push(case(
        "expand_as",
        vec![dense("r", &[4, 2], ANY, 3), one().remove(0)],
        |v| v[0].sequence_expand_as(&v[1], -1)?.mul(&v[1]),
    ));
    cases.push(case("pad", one(), |v| Ok(v[0].sequence_pad(0.5, None)?.0)));
    cases.push(case("pad longer", one(), |v| {
        Ok(v[0].sequence_pad(0.5, 5)?.0)
    }));
    cases.push(case(
        "unpad",
        vec![
            dense("p", &[3, 2, 2], ANY, 5),
            integers("n", &[2, 0, 1], &[3]),
        ],
        |v| v[0].sequence_unpad(&v[1]),
    ));
    cases.push(case(
        "dense on ragged",
        vec![one().remove(0), dense("b", &[2], ANY, 6)],
        |v| (&v[0] * &v[1]).tanh(),
    ));
    cases.push(case(
        "matmul on ragged",
        vec![one().remove(0), dense("w", &[2, 3], ANY, 6)],
        |v| v[0].matmul(&v[1]),
    ));
    cases.push(case("rows", one(), |v| v[0].rows()?.square()));
    cases.push(case(
        "attention",
        vec![one().remove(0), dense("w", &[2, 1], ANY, 6)],
        |v| {
            v[0].matmul(&v[1])?
                .sequence_softmax(-1)?
                .mul(&v[0])?
                .sequence_pool(SegmentOp::Sum, -1)
        },
    ));
    run(cases);
}
