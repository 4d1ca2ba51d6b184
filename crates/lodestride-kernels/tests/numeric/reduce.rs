//! Reductions and positions of extremes.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    ArgOp, Isa, KernelError, ReduceOp, ScanOp, index_reduce, reduce, scan, set_threads,
};

use crate::support::{Arrangement, Array};
use crate::{Report, array_of, floats, noise, number, positions, settings, zeros};

const OPS: [ReduceOp; 19] = [
    ReduceOp::Sum,
    ReduceOp::Mean,
    ReduceOp::Prod,
    ReduceOp::Max,
    ReduceOp::Min,
    ReduceOp::Any,
    ReduceOp::All,
    ReduceOp::Norm1,
    ReduceOp::Norm2,
    ReduceOp::NormMax,
    ReduceOp::Var { ddof: 0 },
    ReduceOp::Var { ddof: 1 },
    ReduceOp::Std { ddof: 0 },
    ReduceOp::Std { ddof: 1 },
    ReduceOp::LogSumExp,
    ReduceOp::CountNonZero,
    ReduceOp::MeanAbs,
    ReduceOp::MinAbs,
    ReduceOp::SumSquares,
];

/// A sum with the rounding of every addition carried along (Neumaier).
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() {
            (sum - next) + value
        } else {
            (value - next) + sum
        };
        sum = next;
    }
    if lost.is_finite() { sum + lost } else { sum }
}

/// The textbook definition in f64.
fn reference(op: ReduceOp, values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let sum = exact_sum(values.iter().copied());
    let norm1: f64 = values.iter().map(|v| v.abs()).sum();
    let squares: f64 = values.iter().map(|v| v * v).sum();
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let var = |ddof: usize| {
        let mean = sum / n;
        let squares = exact_sum(values.iter().map(|v| (v - mean) * (v - mean)));
        // The mean is rounded: take the square of what is left of the deviations.
        let rest = exact_sum(values.iter().map(|v| v - mean));
        (squares - rest * rest / n) / (n - ddof as f64).max(0.0)
    };
    let truth = |b: bool| f64::from(u8::from(b));
    match op {
        ReduceOp::Sum => sum,
        ReduceOp::Mean => sum / n,
        ReduceOp::Prod => values.iter().product(),
        ReduceOp::Max => max,
        ReduceOp::Min => min,
        ReduceOp::Any => truth(values.iter().any(|&v| v != 0.0)),
        ReduceOp::All => truth(values.iter().all(|&v| v != 0.0)),
        ReduceOp::Norm1 => norm1,
        ReduceOp::Norm2 => squares.sqrt(),
        ReduceOp::NormMax => values.iter().fold(0.0, |m, v| m.max(v.abs())),
        ReduceOp::Var { ddof } => var(ddof),
        ReduceOp::Std { ddof } => var(ddof).sqrt(),
        ReduceOp::LogSumExp => max + values.iter().map(|v| (v - max).exp()).sum::<f64>().ln(),
        ReduceOp::CountNonZero => values.iter().filter(|&&v| v != 0.0).count() as f64,
        ReduceOp::MeanAbs => norm1 / n,
        ReduceOp::MinAbs => values.iter().fold(f64::INFINITY, |m, v| m.min(v.abs())),
        _ => squares,
    }
}

/// The elements that are reduced together, for every output in C order, and the shape of the output.
pub(crate) fn groups(x: &Array, axes: &[usize]) -> (Vec<usize>, Vec<Vec<f64>>) {
    let shape = x.layout.shape().to_vec();
    let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    let out_shape: Vec<usize> = kept.iter().map(|&a| shape[a]).collect();
    let mut groups = vec![vec![]; out_shape.iter().product()];
    for (index, value) in floats(x).into_iter().enumerate() {
        let (mut rest, mut place, mut at) = (index, 1, 0);
        for axis in (0..shape.len()).rev() {
            if !axes.contains(&axis) {
                at += rest % shape[axis] * place;
                place *= shape[axis];
            }
            rest /= shape[axis];
        }
        groups[at].push(value);
    }
    (out_shape, groups)
}

/// The reference applied to every group of an array.
pub(crate) fn reduced(op: ReduceOp, x: &Array, axes: &[usize]) -> (Vec<usize>, Vec<f64>) {
    let (shape, groups) = groups(x, axes);
    let results = groups.iter().map(|g| reference(op, g)).collect();
    (shape, results)
}

/// Small whole numbers, so that products and sums stay exact in every dtype.
fn small(i: usize) -> Scalar {
    const VALUES: [f64; 11] = [1.0, -2.0, 1.0, 2.0, -1.0, 1.0, 0.5, 3.0, -1.0, 1.0, 0.0];
    Scalar::Float(VALUES[(i * 7 + i / 5) % VALUES.len()])
}

#[test]
fn every_operation_dtype_layout_and_set_of_axes_matches_the_reference() {
    let mut report = Report::default();
    let axes: [&[usize]; 8] = [&[], &[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
    for dtype in DType::ALL {
        for arrangement in Arrangement::ALL {
            let x = Array::new(&[3, 4, 5], arrangement, dtype, small);
            for op in OPS {
                for axes in axes {
                    let (shape, wanted) = reduced(op, &x, axes);
                    let out = zeros(&shape, op.result_dtype(dtype));
                    reduce(op, x.operand(), axes, out.operand()).unwrap();
                    let case = format!("{op:?} {dtype} {arrangement:?} over {axes:?}");
                    report.compare(&case, &out, &wanted, 4.0);
                }
            }
        }
    }
    report.finish();
}

#[test]
fn outputs_of_any_layout_and_dtype_are_written() {
    let mut report = Report::default();
    let x = Array::new(&[3, 4, 5], Arrangement::F, DType::F32, small);
    for arrangement in Arrangement::WRITABLE {
        for dtype in [DType::F64, DType::F32, DType::F16, DType::I32, DType::I8] {
            let out = Array::new(&[3, 5], arrangement, dtype, |_| Scalar::Int(77));
            reduce(ReduceOp::Sum, x.operand(), &[1], out.operand()).unwrap();
            let (_, wanted) = reduced(ReduceOp::Sum, &x, &[1]);
            report.compare(&format!("{arrangement:?} {dtype}"), &out, &wanted, 1.0);
        }
    }
    report.finish();
}

#[test]
fn large_arrays_take_every_path() {
    let mut report = Report::default();
    // Sizes around the block, tile and column limits.
    let shapes: [&[usize]; 9] = [
        &[10_007],
        &[300, 70],
        &[70, 300],
        &[3, 2_100],
        &[2_100, 3],
        &[5_000, 1],
        &[40, 1, 270],
        &[6, 7, 130],
        &[130, 7, 6],
    ];
    let ops = [
        ReduceOp::Sum,
        ReduceOp::Max,
        ReduceOp::Norm2,
        ReduceOp::Var { ddof: 0 },
        ReduceOp::LogSumExp,
        ReduceOp::CountNonZero,
    ];
    for shape in shapes {
        for dtype in [DType::F32, DType::F64, DType::I16, DType::BF16] {
            for arrangement in [
                Arrangement::C,
                Arrangement::F,
                Arrangement::Strided,
                Arrangement::Reversed,
            ] {
                let x = Array::new(shape, arrangement, dtype, |i| {
                    Scalar::Float((noise(i) * 100.0).round() / 4.0)
                });
                for axis in 0..shape.len() {
                    for axes in [vec![axis], (0..shape.len()).collect()] {
                        let (out_shape, groups) = groups(&x, &axes);
                        for op in ops {
                            // Near zero the logarithm cancels: only f32 has a more precise reference.
                            if op == ReduceOp::LogSumExp
                                && !matches!(dtype, DType::F32 | DType::BF16)
                            {
                                continue;
                            }
                            let wanted: Vec<f64> =
                                groups.iter().map(|g| reference(op, g)).collect();
                            let out = zeros(&out_shape, op.result_dtype(dtype));
                            reduce(op, x.operand(), &axes, out.operand()).unwrap();
                            // Sums of mixed signs cancel: some ulp of slack beyond the reference's own error.
                            let case = format!("{op:?} {dtype} {shape:?} {arrangement:?} {axes:?}");
                            report.compare(&case, &out, &wanted, 60.0);
                        }
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn wide_rows_give_the_same_on_one_thread_and_several() {
    let _settings = settings();
    let mut report = Report::default();
    let ops = [
        ReduceOp::Sum,
        ReduceOp::Max,
        ReduceOp::Norm2,
        ReduceOp::Var { ddof: 0 },
        ReduceOp::Prod,
    ];
    // Columns up to, at and beyond what is folded at once, in arrays within the second-level cache and beyond it.
    for shape in [&[3, 1025][..], &[70, 4096], &[131, 4097], &[67, 9000]] {
        for dtype in [DType::F32, DType::F64, DType::I32] {
            let x = Array::new(shape, Arrangement::C, dtype, |i| {
                Scalar::Float((noise(i) * 4.0).round() / 2.0)
            });
            let (out_shape, groups) = groups(&x, &[0]);
            for op in ops {
                let [alone, shared] = [1, 0].map(|threads| {
                    set_threads(threads);
                    let out = zeros(&out_shape, op.result_dtype(dtype));
                    reduce(op, x.operand(), &[0], out.operand()).unwrap();
                    out
                });
                set_threads(0);
                let case = format!("{op:?} {dtype} {shape:?}");
                assert_eq!(alone.values(), shared.values(), "{case}");
                let wanted: Vec<f64> = groups.iter().map(|g| reference(op, g)).collect();
                report.compare(&case, &alone, &wanted, 60.0);
            }
        }
    }
    report.finish();
}

#[test]
fn sets_of_rows_give_what_each_set_gives_alone() {
    let _settings = settings();
    // Sets that share a call and more than fit in one, rows wider and narrower than registers, and two axes around them.
    let shapes: [&[usize]; 12] = [
        &[7, 3, 5],
        &[100, 3, 50],
        &[3, 64, 64],
        &[3, 65, 17],
        &[9, 2, 300],
        &[3, 5, 600],
        &[2, 40, 3, 33],
        &[600, 4, 2],
        &[5, 20, 3],
        &[4, 9, 8],
        &[3, 70, 5],
        &[7, 300, 2],
    ];
    set_threads(1);
    for shape in shapes {
        let (outer, set) = shape.split_at(shape.len() - 2);
        let (sets, len) = (outer.iter().product::<usize>(), set[0] * set[1]);
        for dtype in [DType::F32, DType::F64, DType::F16, DType::I64, DType::U8] {
            let value = |i: usize| match i % (2 * len + 7) {
                3 if dtype.is_float() => Scalar::Float(f64::NAN),
                _ => Scalar::Float(noise(i) * 3.0 + 0.25),
            };
            let x = Array::new(shape, Arrangement::C, dtype, value);
            for op in OPS {
                let bits = |x: &Array| {
                    let (axis, shape) = (x.layout.shape().len() - 2, x.layout.shape());
                    let out = zeros(
                        &[&shape[..axis], &shape[axis + 1..]].concat(),
                        op.result_dtype(dtype),
                    );
                    reduce(op, x.operand(), &[axis], out.operand()).unwrap();
                    floats(&out).into_iter().map(f64::to_bits)
                };
                let all: Vec<u64> = bits(&x).collect();
                let each = (0..sets).flat_map(|index| {
                    let one = Array::new(set, Arrangement::C, dtype, |i| value(index * len + i));
                    bits(&one).collect::<Vec<_>>()
                });
                assert!(all.into_iter().eq(each), "{op:?} {dtype} {shape:?}");
            }
        }
    }
    set_threads(0);
}

#[test]
fn columns_of_flags_and_integers_reach_outputs_of_every_kind() {
    let mut report = Report::default();
    let ops = [
        ReduceOp::Any,
        ReduceOp::All,
        ReduceOp::CountNonZero,
        ReduceOp::Max,
        ReduceOp::Min,
    ];
    for shape in [
        &[1, 64][..],
        &[5, 65],
        &[300, 70],
        &[2, 4200],
        &[3, 4, 80],
        &[9, 15],
        &[9, 16],
        &[40, 33],
    ] {
        let width = shape[shape.len() - 1];
        for dtype in [DType::Bool, DType::I8, DType::U32, DType::I64] {
            let x = Array::new(shape, Arrangement::C, dtype, |i| match i % width % 3 {
                0 => Scalar::Int(1 + (i % 90) as i64),
                1 => Scalar::Int(0),
                _ => Scalar::Float((noise(i) * 50.0).round().abs() % 2.0),
            });
            for axis in [shape.len() - 2, shape.len() - 1] {
                let (out_shape, groups) = groups(&x, &[axis]);
                for op in ops {
                    let wanted: Vec<f64> = groups.iter().map(|g| reference(op, g)).collect();
                    for arrangement in Arrangement::WRITABLE {
                        for to in [op.result_dtype(dtype), DType::F32, DType::I64, DType::F16] {
                            let out = Array::new(&out_shape, arrangement, to, |_| Scalar::Int(7));
                            reduce(op, x.operand(), &[axis], out.operand()).unwrap();
                            let case =
                                format!("{op:?} {dtype} {shape:?} {axis} {arrangement:?} {to}");
                            report.compare(&case, &out, &wanted, 0.0);
                        }
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn short_rows_of_every_length_match_the_reference() {
    let mut report = Report::default();
    for len in (1..=70).chain([100, 127, 128, 129, 191, 192, 193]) {
        let dtypes = [DType::I8, DType::U16, DType::I32, DType::I64, DType::U64];
        for dtype in [DType::F32, DType::F64].into_iter().chain(dtypes) {
            // More rows than are worked on together, and some that are left.
            let x = Array::new(&[37, len], Arrangement::C, dtype, |i| {
                Scalar::Float((noise(i) * 50.0).round())
            });
            let (shape, groups) = groups(&x, &[1]);
            for op in OPS {
                // The product leaves every range, and a logarithm near zero cancels in the reference.
                if op == ReduceOp::Prod || op == ReduceOp::LogSumExp && dtype != DType::F32 {
                    continue;
                }
                let wanted: Vec<f64> = groups.iter().map(|g| reference(op, g)).collect();
                let out = zeros(&shape, op.result_dtype(dtype));
                reduce(op, x.operand(), &[1], out.operand()).unwrap();
                report.compare(
                    &format!("{op:?} {dtype} rows of {len}"),
                    &out,
                    &wanted,
                    60.0,
                );
            }
            for op in ArgOp::ALL {
                let wanted: Vec<f64> = groups.iter().map(|g| first_best(op, g) as f64).collect();
                let out = zeros(&shape, DType::I64);
                index_reduce(op, x.operand(), Some(1), out.operand()).unwrap();
                report.compare(&format!("{op} {dtype} rows of {len}"), &out, &wanted, 0.0);
            }
        }
    }
    report.finish();
}

#[test]
fn results_do_not_depend_on_threads_or_instruction_set() {
    let _held = crate::settings();
    let mut report = Report::default();
    let shapes: [&[usize]; 5] = [
        &[600_003],
        &[700, 500],
        &[100_001, 3],
        &[3, 200_001],
        &[700, 300, 3],
    ];
    let ops = [
        ReduceOp::Sum,
        ReduceOp::Mean,
        ReduceOp::Prod,
        ReduceOp::Max,
        ReduceOp::Norm2,
        ReduceOp::Var { ddof: 1 },
    ];
    let best = Isa::detect();
    for shape in shapes {
        for dtype in [DType::F32, DType::F64] {
            let x = Array::new(shape, Arrangement::C, dtype, |i| {
                Scalar::Float(1.0 + noise(i) * 1e-3)
            });
            let middle = vec![shape.len().saturating_sub(2)];
            for axes in [
                vec![0],
                middle,
                vec![shape.len() - 1],
                (0..shape.len()).collect(),
            ] {
                for op in ops {
                    let mut first: Option<Vec<f64>> = None;
                    for threads in [1, 2, 4] {
                        for isa in [Isa::Baseline, best] {
                            set_threads(threads);
                            isa.select();
                            let kept = (0..shape.len()).filter(|a| !axes.contains(a));
                            let out_shape: Vec<usize> = kept.map(|a| shape[a]).collect();
                            let out = zeros(&out_shape, dtype);
                            reduce(op, x.operand(), &axes, out.operand()).unwrap();
                            let found = floats(&out);
                            let same = first.get_or_insert_with(|| found.clone());
                            let case = format!("{op:?} {dtype} {shape:?} {axes:?} {threads} {isa}");
                            report.check(
                                &case,
                                same.iter()
                                    .zip(&found)
                                    .all(|(a, b)| a.to_bits() == b.to_bits()),
                            );
                        }
                    }
                }
            }
        }
    }
    set_threads(0);
    best.select();
    report.finish();
}

#[test]
fn a_sum_of_ten_million_floats_is_accurate_to_a_few_ulp() {
    let n = 10_000_000;
    let x = Array::new(&[n], Arrangement::C, DType::F32, |i| {
        Scalar::Float(0.1 + (i % 1000) as f64 * 1e-4)
    });
    let exact: f64 = floats(&x).iter().sum();
    let out = zeros(&[], DType::F32);
    reduce(ReduceOp::Sum, x.operand(), &[0], out.operand()).unwrap();
    let error = (floats(&out)[0] - exact).abs() / exact;
    assert!(
        error < 3.0 * f64::from(f32::EPSILON),
        "relative error {error:e}"
    );
    // As rows of four columns: the sweep.
    let tall = Array {
        layout: lodestride_shape::Layout::new([n / 4, 4], [4, 1], 3).unwrap(),
        ..x
    };
    let out = zeros(&[4], DType::F32);
    reduce(ReduceOp::Sum, tall.operand(), &[0], out.operand()).unwrap();
    let error = (floats(&out).iter().sum::<f64>() - exact).abs() / exact;
    assert!(
        error < 3.0 * f64::from(f32::EPSILON),
        "relative error {error:e}"
    );
}

#[test]
fn variance_survives_a_large_offset_and_norms_survive_extremes() {
    let mut report = Report::default();
    let values: Vec<f64> = (0..5000).map(|i| 1e9 + noise(i)).collect();
    let out = zeros(&[], DType::F64);
    let x = array_of(&[5000], DType::F64, &values);
    reduce(ReduceOp::Var { ddof: 0 }, x.operand(), &[0], out.operand()).unwrap();
    let mean = values.iter().map(|v| v - 1e9).sum::<f64>() / 5000.0;
    let var = values.iter().map(|v| (v - 1e9 - mean).powi(2)).sum::<f64>() / 5000.0;
    // 1e9 leaves 1e-7 of each deviation, squared and averaged over 5000.
    report.check("variance around 1e9", (floats(&out)[0] - var).abs() < 1e-7);
    for (dtype, scale) in [
        (DType::F64, 1e200),
        (DType::F64, 1e-200),
        (DType::F32, 1e30),
        (DType::F32, 1e-30),
    ] {
        for axes in [[1usize], [0]] {
            let shape: &[usize] = if axes == [1] { &[1, 4] } else { &[4, 1] };
            let x = array_of(shape, dtype, &[3.0 * scale, 0.0, -4.0 * scale, 0.0]);
            let out = zeros(&[1], dtype);
            reduce(ReduceOp::Norm2, x.operand(), &axes, out.operand()).unwrap();
            report.compare(
                &format!("norm2 {dtype} {scale:e}"),
                &out,
                &[5.0 * scale],
                4.0,
            );
        }
    }
    report.finish();
}

#[test]
fn nan_and_infinity_spread() {
    let mut report = Report::default();
    let nan = f64::NAN;
    let inf = f64::INFINITY;
    let cases: [(ReduceOp, &[f64], f64); 14] = [
        (ReduceOp::Max, &[1.0, nan, 3.0], nan),
        (ReduceOp::Min, &[nan, 1.0, 3.0], nan),
        (ReduceOp::Max, &[-inf, -inf], -inf),
        (ReduceOp::Sum, &[inf, 1.0], inf),
        (ReduceOp::Sum, &[inf, -inf], nan),
        (ReduceOp::Norm2, &[inf, 1.0], inf),
        (ReduceOp::Norm2, &[nan, 1.0], nan),
        (
            ReduceOp::LogSumExp,
            &[1000.0, 1000.0],
            1000.0 + std::f64::consts::LN_2,
        ),
        (ReduceOp::LogSumExp, &[-inf, 0.0], 0.0),
        (ReduceOp::LogSumExp, &[inf, 0.0], inf),
        (ReduceOp::Any, &[0.0, nan], 1.0),
        (ReduceOp::All, &[nan, 1.0], 1.0),
        (ReduceOp::Var { ddof: 1 }, &[5.0], nan),
        (ReduceOp::Mean, &[], nan),
    ];
    for (op, values, wanted) in cases {
        for dtype in [DType::F32, DType::F64, DType::F16] {
            let values = if dtype == DType::F16 {
                values.iter().map(|v| v.min(900.0)).collect()
            } else {
                values.to_vec()
            };
            let wanted = if dtype == DType::F16 && op == ReduceOp::LogSumExp {
                reference(op, &values)
            } else {
                wanted
            };
            if dtype == DType::F16
                && (wanted.is_nan() || values.iter().any(|v| v.is_nan() || v.is_infinite()))
            {
                continue;
            }
            let x = array_of(&[values.len()], dtype, &values);
            let out = zeros(&[], op.result_dtype(dtype));
            reduce(op, x.operand(), &[0], out.operand()).unwrap();
            report.compare(&format!("{op:?} {dtype} {values:?}"), &out, &[wanted], 4.0);
        }
    }
    report.finish();
}

/// Of `count` numbers `x`, whose terms are 1, the answer is `x + ln(count)`, here where the two cancel. What is rounded before they do is
/// below a tenth, and so its last place below 16 of the answers'; a logarithm that were rounded first would miss by 256 and more.
#[test]
fn logarithms_of_sums_of_exponentials_are_right_where_they_cancel() {
    let mut report = Report::default();
    for (count, x, wanted) in [
        (2, -0.6875, 0.005_647_180_559_945_31),
        (3, -1.0, 0.098_612_288_668_109_69),
        (10, -2.296_875, 0.005_710_092_994_045_684),
        (1000, -6.90625, 0.001_505_278_982_137_052),
        (1_000_000, -13.8125, 0.003_010_557_964_274_104),
    ] {
        let x = array_of(&[1], DType::F64, &[x]);
        let layout = x.layout.broadcast_to(&[count].into()).unwrap();
        let x = Array { layout, ..x };
        let out = zeros(&[], DType::F64);
        reduce(ReduceOp::LogSumExp, x.operand(), &[0], out.operand()).unwrap();
        report.compare(&format!("{count} numbers"), &out, &[wanted], 16.0);
    }
    report.finish();
}

#[test]
fn reducing_nothing_gives_the_identity() {
    let mut report = Report::default();
    for (op, wanted) in [
        (ReduceOp::Sum, 0.0),
        (ReduceOp::Prod, 1.0),
        (ReduceOp::Any, 0.0),
        (ReduceOp::All, 1.0),
        (ReduceOp::Norm2, 0.0),
        (ReduceOp::CountNonZero, 0.0),
        (ReduceOp::Std { ddof: 0 }, f64::NAN),
    ] {
        let x = zeros(&[3, 0], DType::F32);
        let out = zeros(&[3], op.result_dtype(DType::F32));
        reduce(op, x.operand(), &[1], out.operand()).unwrap();
        report.compare(&format!("{op:?} of nothing"), &out, &[wanted; 3], 0.0);
        let none = zeros(&[0], op.result_dtype(DType::F32));
        reduce(op, x.operand(), &[0], none.operand()).unwrap();
    }
    report.finish();
}

#[test]
fn arrays_without_elements_are_reduced_or_refused_in_every_form() {
    let mut report = Report::default();
    let shapes: [&[usize]; 6] = [&[0], &[3, 0], &[0, 3], &[2, 0, 3], &[0, 0, 2], &[2, 3, 0]];
    for shape in shapes {
        for arrangement in Arrangement::ALL {
            for dtype in [DType::F32, DType::F64, DType::I8, DType::BF16] {
                let x = Array::new(shape, arrangement, dtype, small);
                for mask in 0..1usize << shape.len() {
                    let axes: Vec<usize> =
                        (0..shape.len()).filter(|a| mask >> a & 1 == 1).collect();
                    let (kept, wanted) = groups(&x, &axes);
                    for op in OPS {
                        let out = zeros(&kept, op.result_dtype(dtype));
                        let case = format!("{op:?} {dtype} {shape:?} {arrangement:?} {axes:?}");
                        match reduce(op, x.operand(), &axes, out.operand()) {
                            Ok(()) => {
                                let wanted: Vec<f64> =
                                    wanted.iter().map(|group| reference(op, group)).collect();
                                report.compare(&case, &out, &wanted, 0.0);
                            }
                            Err(error) => report.check(
                                &case,
                                matches!(error, KernelError::EmptyReduction { .. })
                                    && !op.is_defined_on_nothing()
                                    && !wanted.is_empty(),
                            ),
                        }
                    }
                }
                for axis in 0..shape.len() {
                    let kept: Vec<usize> = (0..shape.len())
                        .filter(|&a| a != axis)
                        .map(|a| shape[a])
                        .collect();
                    let out = zeros(&kept, DType::I64);
                    let result =
                        index_reduce(ArgOp::ArgMax, x.operand(), Some(axis), out.operand());
                    let case = format!("argmax {dtype} {shape:?} {arrangement:?} {axis}");
                    report.check(&case, result.is_ok() == kept.contains(&0));
                    let same = zeros(shape, ScanOp::Sum.result_dtype(dtype));
                    let result = scan(ScanOp::Sum, x.operand(), axis, same.operand());
                    report.check(&format!("cumsum of {case}"), result.is_ok());
                }
            }
        }
    }
    report.finish();
}

/// The variance of the values as they are stored, by two passes in f64.
fn exact_variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = exact_sum(values.iter().copied()) / n;
    exact_sum(values.iter().map(|v| (v - mean) * (v - mean))) / n
}

#[test]
fn variance_in_one_pass_stays_within_its_bound() {
    let mut report = Report::default();
    // A block of 64 shifts by one of its own values, so cancellation costs at most a factor of 64; sums of 64 add 6 bits.
    let bound = 64.0 * 8.0 * f64::from(f32::EPSILON);
    type Values = fn(usize) -> f64;
    let cases: [(&str, Values); 4] = [
        ("noise", |i| noise(i)),
        ("large mean", |i| 1e4 + noise(i)),
        ("an outlier first", |i| if i == 0 { 1e6 } else { noise(i) }),
        ("a drift", |i| i as f64 * 0.01 + noise(i)),
    ];
    for (name, value) in cases {
        for n in [100, 1_000, 5_000, 20_011] {
            let shapes: [(&[usize], usize); 2] = [(&[n, 9], 0), (&[9, n], 1)];
            for (shape, axis) in shapes {
                let x = Array::new(shape, Arrangement::C, DType::F32, |i| {
                    // Every line holds the same values.
                    Scalar::Float(value(if axis == 0 { i / 9 } else { i % n }))
                });
                let line: Vec<f64> = floats(&x)
                    .into_iter()
                    .step_by(if axis == 0 { 9 } else { 1 })
                    .take(n)
                    .collect();
                let wanted = exact_variance(&line);
                let out = zeros(&[9], DType::F64);
                let op = ReduceOp::Var { ddof: 0 };
                reduce(op, x.operand(), &[axis], out.operand()).unwrap();
                for found in floats(&out) {
                    let case = format!("{name} {shape:?}: {found} instead of {wanted}");
                    report.check(&case, (found - wanted).abs() <= bound * wanted);
                }
            }
        }
    }
    report.finish();
}

#[test]
fn a_sum_of_ten_million_values_in_the_unit_interval_is_within_1e_7() {
    let n = 10_000_000;
    let x = Array::new(&[n], Arrangement::C, DType::F32, |i| {
        Scalar::Float((noise(i) + 1.0) / 2.0)
    });
    let exact = exact_sum(floats(&x).into_iter());
    let out = zeros(&[], DType::F32);
    reduce(ReduceOp::Sum, x.operand(), &[0], out.operand()).unwrap();
    let error = (floats(&out)[0] - exact).abs() / exact;
    assert!(error <= 1e-7, "relative error {error:e}");
}

#[test]
fn positions_do_not_depend_on_threads_or_instruction_set() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    for shape in [[700, 2_500], [3, 300_000], [300_000, 3]] {
        for dtype in [DType::F32, DType::F64, DType::I64, DType::U8] {
            let x = Array::new(&shape, Arrangement::C, dtype, |i| {
                Scalar::Float((noise(i) * 100.0).round())
            });
            for axis in [None, Some(0), Some(1)] {
                let axes: Vec<usize> = axis.map_or(vec![0, 1], |axis| vec![axis]);
                let (kept, groups) = groups(&x, &axes);
                for op in [ArgOp::ArgMax, ArgOp::ArgAbsMin] {
                    let wanted: Vec<f64> = groups
                        .iter()
                        .map(|group| first_best(op, group) as f64)
                        .collect();
                    for (threads, isa) in [(1, best), (2, best), (4, best), (1, Isa::Baseline)] {
                        set_threads(threads);
                        isa.select();
                        let out = zeros(&kept, DType::I64);
                        index_reduce(op, x.operand(), axis, out.operand()).unwrap();
                        let case = format!("{op} {dtype} {shape:?} {axis:?} {threads} {isa}");
                        report.check(&case, floats(&out) == wanted);
                    }
                }
            }
        }
    }
    set_threads(0);
    best.select();
    report.finish();
}

#[test]
fn misuse_is_refused_and_nothing_written() {
    let x = zeros(&[3, 0], DType::F32);
    let out = Array::new(&[3], Arrangement::C, DType::F32, |_| Scalar::Int(7));
    let error = reduce(ReduceOp::Max, x.operand(), &[1], out.operand()).unwrap_err();
    assert!(
        matches!(error, KernelError::EmptyReduction { op: "max", .. }),
        "{error}"
    );
    let y = zeros(&[3, 4], DType::F32);
    for (axes, wrong) in [(&[2usize][..], "axis"), (&[0, 0], "twice"), (&[0], "shape")] {
        let error = reduce(ReduceOp::Sum, y.operand(), axes, out.operand()).unwrap_err();
        assert!(!error.to_string().is_empty(), "{wrong}");
    }
    let shared = Array::new(&[3], Arrangement::RowBroadcast, DType::F32, |_| {
        Scalar::Int(7)
    });
    assert!(reduce(ReduceOp::Sum, y.operand(), &[1], shared.operand()).is_err());
    assert_eq!(floats(&out), [7.0; 3]);
    assert_eq!(floats(&shared), [7.0; 3]);
}

#[test]
fn input_and_output_may_share_a_buffer() {
    let x = Array::new(&[4, 4], Arrangement::C, DType::F32, |i| {
        Scalar::Int(i as i64)
    });
    let (_, wanted) = reduced(ReduceOp::Sum, &x, &[0]);
    let row = Array {
        layout: x.layout.slice(0, 0).unwrap(),
        ..x.clone()
    };
    reduce(ReduceOp::Sum, x.operand(), &[0], row.operand()).unwrap();
    assert_eq!(floats(&row), wanted);
}

#[test]
fn dtypes_follow_numpy() {
    let cases = [
        (ReduceOp::Sum, DType::Bool, DType::I64),
        (ReduceOp::Sum, DType::I8, DType::I64),
        (ReduceOp::Sum, DType::U32, DType::U64),
        (ReduceOp::Prod, DType::I32, DType::I64),
        (ReduceOp::Sum, DType::F16, DType::F16),
        (ReduceOp::Mean, DType::I64, DType::F64),
        (ReduceOp::Var { ddof: 0 }, DType::Bool, DType::F64),
        (ReduceOp::Max, DType::I8, DType::I8),
        (ReduceOp::All, DType::F32, DType::Bool),
        (ReduceOp::CountNonZero, DType::F32, DType::I64),
        (ReduceOp::Norm2, DType::BF16, DType::BF16),
    ];
    for (op, input, wanted) in cases {
        assert_eq!(op.result_dtype(input), wanted, "{op} of {input}");
        assert_eq!(
            ReduceOp::from_name(op.name()).map(ReduceOp::name),
            Some(op.name())
        );
    }
}

#[test]
fn positions_of_extremes_match_a_plain_search() {
    let mut report = Report::default();
    for dtype in DType::ALL {
        for arrangement in Arrangement::ALL {
            for shape in [[3, 4, 5], [2, 3, 70], [40, 3, 2], [2, 700, 3]] {
                let x = Array::new(&shape, arrangement, dtype, small);
                let values = floats(&x);
                for op in ArgOp::ALL {
                    for axis in [None, Some(0), Some(1), Some(2)] {
                        let out_shape: Vec<usize> = (0..3)
                            .filter(|&a| axis.is_some_and(|x| x != a))
                            .map(|a| shape[a])
                            .collect();
                        let mut groups = vec![vec![]; out_shape.iter().product()];
                        for (p, &v) in positions(&shape).iter().zip(&values) {
                            let at: Vec<usize> = (0..3)
                                .filter(|&a| axis.is_some_and(|x| x != a))
                                .map(|a| p[a])
                                .collect();
                            groups[number(&at, &out_shape)].push(v);
                        }
                        let wanted: Vec<f64> =
                            groups.iter().map(|g| first_best(op, g) as f64).collect();
                        let out = zeros(&out_shape, DType::I64);
                        index_reduce(op, x.operand(), axis, out.operand()).unwrap();
                        report.compare(
                            &format!("{op} {dtype} {arrangement:?} {shape:?} {axis:?}"),
                            &out,
                            &wanted,
                            0.0,
                        );
                    }
                }
            }
        }
    }
    report.finish();
}

pub(crate) fn first_best(op: ArgOp, values: &[f64]) -> usize {
    let key = |v: f64| match op {
        ArgOp::ArgMax => v,
        ArgOp::ArgMin => -v,
        ArgOp::ArgAbsMax => v.abs(),
        ArgOp::ArgAbsMin => -v.abs(),
    };
    let mut best = 0;
    for (i, &v) in values.iter().enumerate() {
        if key(v) > key(values[best]) {
            best = i;
        }
    }
    best
}

#[test]
fn the_first_nan_wins_in_every_form() {
    let mut report = Report::default();
    let nan = f64::NAN;
    for op in ArgOp::ALL {
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            // Column 1 has its first NaN in row 2; column 0 none; others start with one.
            let columns = 12;
            let x = Array::new(&[5, columns], Arrangement::C, dtype, |i| {
                let (row, column) = (i / columns, i % columns);
                let value = match (column, row) {
                    (0, _) => (row as f64 - 2.0) * 3.0,
                    (1, 2..) => nan,
                    (2.., 0 | 3) => nan,
                    _ => row as f64,
                };
                Scalar::Float(value)
            });
            let first = |c: usize| match c {
                0 => first_best(op, &[-6.0, -3.0, 0.0, 3.0, 6.0]),
                1 => 2,
                _ => 0,
            };
            let wanted: Vec<f64> = (0..columns).map(|c| first(c) as f64).collect();
            for arrangement in [Arrangement::C, Arrangement::F] {
                let y = Array::new(&[5, columns], arrangement, dtype, |i| x.values()[i]);
                let out = zeros(&[columns], DType::I64);
                index_reduce(op, y.operand(), Some(0), out.operand()).unwrap();
                report.compare(&format!("{op} {dtype} {arrangement:?}"), &out, &wanted, 0.0);
            }
        }
    }
    report.finish();
}

#[test]
fn long_searches_cross_blocks_and_big_integers_keep_their_last_digit() {
    let n = 5000;
    for at in [0, 1, 1023, 1024, 4095, 4096, 4999] {
        let x = Array::new(&[n], Arrangement::C, DType::F32, |i| {
            Scalar::Int(i64::from(i == at) + i64::from(i > at))
        });
        let out = zeros(&[], DType::I64);
        index_reduce(ArgOp::ArgMax, x.operand(), None, out.operand()).unwrap();
        assert_eq!(floats(&out)[0] as usize, at);
    }
    let values = [i64::MAX - 1, i64::MIN, i64::MAX];
    let x = Array::new(&[3], Arrangement::C, DType::I64, |i| Scalar::Int(values[i]));
    for (op, wanted) in [
        (ArgOp::ArgMax, 2.0),
        (ArgOp::ArgMin, 1.0),
        (ArgOp::ArgAbsMax, 1.0),
        (ArgOp::ArgAbsMin, 0.0),
    ] {
        let out = zeros(&[], DType::I32);
        index_reduce(op, x.operand(), None, out.operand()).unwrap();
        assert_eq!(floats(&out)[0], wanted, "{op}");
    }
    let empty = zeros(&[0, 3], DType::F32);
    let out = zeros(&[3], DType::I64);
    let error = index_reduce(ArgOp::ArgMin, empty.operand(), Some(0), out.operand()).unwrap_err();
    assert!(
        matches!(error, KernelError::EmptyReduction { op: "argmin", .. }),
        "{error}"
    );
}
