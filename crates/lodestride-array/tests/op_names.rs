//! Every name that ND4J has for a reduction, an index reduction, a broadcast, a comparison or a transform finds an operation
//! that gives the answer of the method, in every memory layout, new, into an output and in place; or it is refused for a
//! reason written here.
#![expect(clippy::too_many_lines, reason = "tables of cases")]
#![expect(clippy::type_complexity, reason = "rows of one table")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::UnaryOp;
use lodestride_array::{
    ArrayErrorKind, DType, Distance, NdArray, OpCall, ParameterProblem, Result, keep, op,
};
use support::{matrix::layout_matrix, report};

/// A name, what its call sets, and the method.
type Name = (
    &'static str,
    for<'a> fn(OpCall<'a>) -> OpCall<'a>,
    fn(&NdArray, &NdArray) -> Result<NdArray>,
);

/// Rows of names with one method; between the names and the method what the call sets.
macro_rules! names {
    ($($name:literal [$($set:tt)*] |$x:pat_param, $y:pat_param| $method:expr;)*) => {
        &[$( ($name, |call| call $($set)*, |$x, $y| $method) ),*]
    };
}

const REDUCTIONS: &[Name] = names! {
    "sum" [.axes(0)] |x, _| x.sum(0);
    "mean" [.axes(keep(1))] |x, _| x.mean(keep(1));
    "prod" [] |x, _| x.prod(..);
    "max" [.axes(1)] |x, _| x.max(1);
    "min" [] |x, _| x.min(..);
    "amax" [.axes(0)] |x, _| x.norm_max(0);
    "amin" [.axes(0)] |x, _| x.min_abs(0);
    "amean" [.axes(0)] |x, _| x.mean_abs(0);
    "asum" [.axes(0)] |x, _| x.norm1(0);
    "norm1" [] |x, _| x.norm1(..);
    "norm2" [.axes(1)] |x, _| x.norm2(1);
    "normmax" [] |x, _| x.norm_max(..);
    "var" [.axes(0)] |x, _| x.var(0);
    "var" [.axes(0).arg(0)] |x, _| x.var_ddof(0, 0);
    "std" [.axes(1).named_arg("biasCorrected", false)] |x, _| x.std_ddof(1, 0);
    "std" [.named_arg("ddof", 1)] |x, _| x.std(..);
    "median" [.axes(0)] |x, _| x.median(0);
    "percentile" [.axes(0).arg(30)] |x, _| x.percentile(30.0, 0);
    "quantile" [.arg(0.3)] |x, _| x.quantile(0.3, ..);
    "entropy" [.axes(1)] |x, _| x.entropy(1);
    "logEntropy" [.axes(1)] |x, _| x.log_entropy(1);
    "shannonEntropy" [.axes(1)] |x, _| x.shannon_entropy(1);
    "logSumExp" [.axes(0)] |x, _| x.log_sum_exp(0);
    "countZero" [.axes(0)] |x, _| x.count_zero(0);
    "countNonZero" [.axes(0)] |x, _| x.count_nonzero(0);
    "zeroFraction" [] |x, _| NdArray::full_of(DType::F64, [0; 0], x.zero_fraction()?);
    "any" [.axes(0)] |x, _| x.any(0);
    "all" [.axes(0)] |x, _| x.all(0);
    "cumsum" [.axes(1)] |x, _| x.cumsum(1);
    "cumprod" [.axes(0)] |x, _| x.cumprod(0);
    "cosineSimilarity" [.axes(1)] |x, y| x.distance(Distance::CosineSimilarity, y, 1);
    "cosineDistance" [.axes(1)] |x, y| x.distance(Distance::Cosine, y, 1);
    "euclidean" [.axes(1)] |x, y| x.distance(Distance::Euclidean, y, 1);
    "euclideanDistance" [] |x, y| x.distance(Distance::Euclidean, y, ..);
    "manhattan" [.axes(0)] |x, y| x.distance(Distance::Manhattan, y, 0);
    "hamming" [.axes(0)] |x, y| x.distance(Distance::Hamming, y, 0);
    "hammingDistance" [.axes(0)] |x, y| x.distance(Distance::Hamming, y, 0);
    "jaccard" [.axes(1)] |x, y| x.distance(Distance::Jaccard, y, 1);
    "jaccardDistance" [.axes(1)] |x, y| x.distance(Distance::Jaccard, y, 1);
    "dot" [.axes(1)] |x, y| x.distance(Distance::Dot, y, 1);
    "equalsWithEps" [.named_arg("eps", 10)] |x, y| x.eps_equal(y, 10.0)?.all(..);
    "allCosineSimilarities" [] |x, y| x.all_distances(Distance::CosineSimilarity, y);
    "allCosineDistances" [] |x, y| x.all_distances(Distance::Cosine, y);
    "allEuclideanDistances" [.axes(1)] |x, y| x.all_distances(Distance::Euclidean, y);
    "allManhattanDistances" [.axes(0)] |x, y| x.transpose().all_distances(Distance::Manhattan, &y.transpose());
    "allHammingDistances" [] |x, y| x.all_distances(Distance::Hamming, y);
    "allJaccardDistances" [] |x, y| x.all_distances(Distance::Jaccard, y);
};

const POSITIONS: &[Name] = names! {
    "IMax" [.axes(0)] |x, _| x.argmax(0);
    "IMin" [.axes(1)] |x, _| x.argmin(1);
    "IAMax" [] |x, _| x.arg_abs_max(..);
    "IAMin" [.axes(0)] |x, _| x.arg_abs_min(0);
    "argmax" [] |x, _| x.argmax(..);
    "FirstIndex" [.axes(1)] |x, _| x.first_index_along(1);
    "LastIndex" [.axes(0)] |x, _| x.last_index_along(0);
    "IsMax" [] |x, _| x.is_max(..);
    "ismax" [.axes(1)] |x, _| x.is_max(1);
};

const PAIRS: &[Name] = names! {
    "broadcastadd" [] |x, y| x.add(y);
    "broadcastsub" [] |x, y| x.sub(y);
    "broadcastrsub" [] |x, y| x.rsub(y);
    "broadcastmul" [] |x, y| x.mul(y);
    "broadcastdiv" [] |x, y| x.div(y);
    "broadcastrdiv" [] |x, y| x.rdiv(y);
    "broadcastcopy" [] |_, y| y.dup();
    "broadcastmax" [] |x, y| x.maximum(y);
    "broadcastmin" [] |x, y| x.minimum(y);
    "broadcastamax" [] |x, y| x.maximum_magnitude(y);
    "broadcastamin" [] |x, y| x.minimum_magnitude(y);
    "broadcastequalto" [] |x, y| x.equal(y);
    "broadcastnotequal" [] |x, y| x.not_equal(y);
    "broadcastgt" [] |x, y| x.greater(y);
    "broadcastgte" [] |x, y| x.greater_equal(y);
    "broadcastlt" [] |x, y| x.less(y);
    "broadcastlte" [] |x, y| x.less_equal(y);
    "broadcast_greaterthan" [] |x, y| x.greater(y);
    "broadcast_lessthanorequal" [] |x, y| x.less_equal(y);
    "add" [] |x, y| x.add(y);
    "sub" [] |x, y| x.sub(y);
    "mul" [] |x, y| x.mul(y);
    "div" [] |x, y| x.div(y);
    "rsub" [] |x, y| x.rsub(y);
    "rdiv" [] |x, y| x.rdiv(y);
    "set" [] |_, y| y.dup();
    "eq" [] |x, y| x.equal(y);
    "neq" [] |x, y| x.not_equal(y);
    "gt" [] |x, y| x.greater(y);
    "gte" [] |x, y| x.greater_equal(y);
    "lt" [] |x, y| x.less(y);
    "lte" [] |x, y| x.less_equal(y);
    "eps" [] |x, y| x.eps_equal(y, 1e-5);
    "and" [] |x, y| x.logical_and(y);
    "or" [] |x, y| x.logical_or(y);
    "xor" [] |x, y| x.logical_xor(y);
    "atan2" [] |x, y| x.atan2(y);
    "pow" [] |x, y| x.pow(y);
    "fmod" [] |x, y| x.fmod(y);
    "remainder" [] |x, y| x.remainder(y);
    "floorDiv" [] |x, y| x.floor_div(y);
    "floorMod" [] |x, y| x.modulo(y);
    "mod" [] |x, y| x.modulo(y);
    "squaredDifference" [] |x, y| x.squared_difference(y);
    "relativeError" [] |x, y| x.relative_error(y);
    "max_pairwise" [] |x, y| x.maximum(y);
    "min_pairwise" [] |x, y| x.minimum(y);
};

const TRANSFORMS: &[Name] = names! {
    "abs" [] |x, _| x.abs();
    "acos" [] |x, _| x.acos();
    "acosh" [] |x, _| x.acosh();
    "asin" [] |x, _| x.asin();
    "asinh" [] |x, _| x.asinh();
    "atan" [] |x, _| x.atan();
    "atanh" [] |x, _| x.atanh();
    "ceil" [] |x, _| x.ceil();
    "copy" [] |x, _| x.dup();
    "cos" [] |x, _| x.cos();
    "cosh" [] |x, _| x.cosh();
    "cube" [] |x, _| x.cube();
    "elu" [] |x, _| x.elu();
    "elu" [.arg(0.5)] |x, _| x.elu_with(0.5);
    "erf" [] |x, _| x.erf();
    "erfc" [] |x, _| x.erfc();
    "exp" [] |x, _| x.exp();
    "expm1" [] |x, _| x.expm1();
    "floor" [] |x, _| x.floor();
    "hardSigmoid" [] |x, _| x.hard_sigmoid();
    "hardTanh" [] |x, _| x.hard_tanh();
    "identity" [] |x, _| x.dup();
    "leakyRelu" [] |x, _| x.leaky_relu();
    "leakyRelu" [.named_arg("alpha", 0.3)] |x, _| x.leaky_relu_with(0.3);
    "log" [] |x, _| x.log();
    "log" [.arg(3)] |x, _| x.log_base(3.0);
    "log1p" [] |x, _| x.log1p();
    "logSigmoid" [] |x, _| x.log_sigmoid();
    "logSoftmax" [] |x, _| x.log_softmax(-1);
    "neg" [] |x, _| x.neg();
    "not" [] |x, _| x.logical_not();
    "oneMinus" [] |x, _| x.one_minus();
    "pow" [.arg(2)] |x, _| x.pow(2);
    "rationalTanh" [] |x, _| x.rational_tanh();
    "rectifiedTanh" [] |x, _| x.rectified_tanh();
    "reciprocal" [] |x, _| x.reciprocal();
    "relu" [] |x, _| x.relu();
    "relu" [.arg(0.25)] |x, _| x.maximum(0.25);
    "relu6" [] |x, _| x.relu6();
    "rint" [] |x, _| x.round();
    "round" [] |x, _| x.round();
    "rsqrt" [] |x, _| x.rsqrt();
    "selu" [] |x, _| x.selu();
    "setRange" [.arg(0.1).arg(0.5)] |x, _| x.clip(0.1, 0.5);
    "clipByValue" [.named_arg("high", 1).named_arg("low", 0)] |x, _| x.clip(0, 1);
    "clipByNorm" [.arg(0.5).axes(1)] |x, _| x.clip_by_norm(0.5, 1);
    "sigmoid" [] |x, _| x.sigmoid();
    "sign" [] |x, _| x.sign();
    "sin" [] |x, _| x.sin();
    "sinh" [] |x, _| x.sinh();
    "softmax" [] |x, _| x.softmax(-1);
    "softmax" [.axes(0)] |x, _| x.softmax(0);
    "softplus" [] |x, _| x.softplus();
    "softsign" [] |x, _| x.softsign();
    "sqrt" [] |x, _| x.sqrt();
    "stabilize" [] |x, _| x.stabilize(1.0);
    "step" [] |x, _| x.step();
    "step" [.arg(0.25)] |x, _| x.step_with(0.25);
    "swish" [] |x, _| x.swish();
    "tan" [] |x, _| x.tan();
    "tanh" [] |x, _| x.tanh();
    "timesOneMinus" [] |x, _| x.times_one_minus();
    "histogram" [.arg(4)] |x, _| Ok(x.histogram(4)?.0);
    "reverse" [] |x, _| x.flip_axes(..)?.dup();
    "reverse" [.axes(1)] |x, _| x.flip(1)?.dup();
    "unitVec" [.axes(1)] |x, _| x.unit_vec(1);
    "mpow" [.arg(3)] |x, _| x.matrix_power(3);
    "normalizeZeroMeanAndUnitVariance" [.axes(0)] |x, _| x.standardize(0);
    "replaceNans" [.arg(2)] |x, _| x.replace_nan(2.0);
    "cubeDerivative" [] |x, _| x.derivative(UnaryOp::Cube);
    "eluDerivative" [] |x, _| x.derivative(UnaryOp::Elu);
    "eluDerivative" [.arg(0.5)] |x, _| x.derivative_with(UnaryOp::Elu, 0.5);
    "hardSigmoidDerivative" [] |x, _| x.derivative(UnaryOp::HardSigmoid);
    "hardTanhDerivative" [] |x, _| x.derivative(UnaryOp::HardTanh);
    "leakyReluDerivative" [.arg(0.5)] |x, _| x.derivative_with(UnaryOp::LeakyRelu, 0.5);
    "logSigmoidDerivative" [] |x, _| x.derivative(UnaryOp::LogSigmoid);
    "rationalTanhDerivative" [] |x, _| x.derivative(UnaryOp::RationalTanh);
    "rectifiedTanhDerivative" [] |x, _| x.derivative(UnaryOp::RectifiedTanh);
    "relu6Derivative" [] |x, _| x.derivative(UnaryOp::Relu6);
    "seluDerivative" [] |x, _| x.derivative(UnaryOp::Selu);
    "sigmoidDerivative" [] |x, _| x.derivative(UnaryOp::Sigmoid);
    "softsignDerivative" [] |x, _| x.derivative(UnaryOp::Softsign);
    "stepDerivative" [] |x, _| x.derivative(UnaryOp::Step);
    "swishDerivative" [] |x, _| x.derivative(UnaryOp::Swish);
    "tanhDerivative" [] |x, _| x.derivative(UnaryOp::Tanh);
};

/// Names that find no operation, and why.
const REFUSED: &[(&str, &str)] = &[
    (
        "moments",
        "has two results: `mean` and `var` are the operations",
    ),
    ("normalizeMoments", "has two results"),
    (
        "softmaxDerivative",
        "is a matrix for each row, not an element for each: the graph's",
    ),
    (
        "logSoftmaxDerivative",
        "is a matrix for each row, not an element for each: the graph's",
    ),
];

/// The operation on these operands: its answer is the method's, its shape and dtype were known, and an output takes it.
fn check(row: &Name, x: &NdArray, y: &NdArray) -> std::result::Result<(), String> {
    let (name, set, method) = *row;
    let text = |error: lodestride_array::ArrayError| error.to_string();
    let found = op(name).map_err(text)?;
    // A number may stand for the second operand.
    let one = set(found.on(&[x]));
    let two = set(found.on(&[x, y]));
    let call = if one.output_shape().is_ok() { one } else { two };
    let (result, expected) = (call.run().map_err(text)?, method(x, y).map_err(text)?);
    let bytes = |array: &NdArray| array.to_bytes().map_err(text);
    let (shape, dtype) = (
        call.output_shape().map_err(text)?,
        call.output_dtype().map_err(text)?,
    );
    if (&shape, dtype) != (expected.shape(), expected.dtype()) {
        return Err(format!(
            "said {dtype} {shape}, not {} {}",
            expected.dtype(),
            expected.shape()
        ));
    }
    if result.dtype() != dtype || bytes(&result)? != bytes(&expected)? {
        return Err(format!("{result:?} instead of {expected:?}"));
    }
    let out = NdArray::zeros_of(dtype, shape.clone()).map_err(text)?;
    call.clone().output(&out).run().map_err(text)?;
    if bytes(&out)? != bytes(&expected)? {
        return Err(format!("into an output {out:?} instead of {expected:?}"));
    }
    if &shape == x.shape() && dtype == x.dtype() {
        call.output(x).run().map_err(text)?;
        if bytes(x)? != bytes(&expected)? {
            return Err(format!("in place {x:?} instead of {expected:?}"));
        }
    }
    Ok(())
}

#[test]
fn every_name_of_nd4j_finds_its_operation() {
    let values: Vec<f64> = (0..16).map(|i| f64::from(i * 7 % 16) / 16.0).collect();
    let plain = NdArray::from_vec(values, [4, 4]).unwrap();
    let other = plain.rsub(0.3).unwrap().transpose();
    let (mut failures, mut count) = (Vec::new(), 0);
    for row in [REDUCTIONS, POSITIONS, PAIRS, TRANSFORMS].concat() {
        for dtype in [DType::F32, DType::F64] {
            let (x, y) = (plain.cast(dtype).unwrap(), other.cast(dtype).unwrap());
            for (layout, x) in layout_matrix(&x).unwrap() {
                count += 1;
                if let Err(wrong) = check(&row, &x, &y) {
                    failures.push(format!("{} of {dtype}, {layout}: {wrong}", row.0));
                }
            }
        }
    }
    for (name, reason) in REFUSED {
        let refused = op(name).is_err_and(|e| matches!(e.kind(), ArrayErrorKind::UnknownOp { .. }));
        if !refused {
            failures.push(format!("{name} is found, although it {reason}"));
        }
    }
    report(count, &failures);
}

/// C4 and C7: the axes of a call are those of the first operand that the second one spans.
#[test]
fn the_second_operand_spans_the_axes_of_a_call() {
    let cube = NdArray::linspace(1, 24, 24)
        .unwrap()
        .reshape([4, 3, 2])
        .unwrap();
    for (axis, size, shape) in [(0, 4, [4, 1, 1]), (1, 3, [1, 3, 1]), (2, 2, [1, 1, 2])] {
        let line = NdArray::linspace(1, size, size as usize).unwrap();
        let found = op("broadcastadd")
            .unwrap()
            .on(&[&cube, &line])
            .axes(axis)
            .run();
        let expected = cube.add(&line.reshape(shape).unwrap()).unwrap();
        assert_eq!(found.unwrap(), expected, "axis {axis}");
    }
    let x = NdArray::linspace(1, 30, 30)
        .unwrap()
        .reshape([2, 3, 5])
        .unwrap();
    let mask = NdArray::from([[1.0f32, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0, 0.0]]);
    let call = op("broadcastmul").unwrap().on(&[&x, &mask]).axes([0, 2]);
    assert_eq!(call.output_shape().unwrap()[..], [2, 3, 5]);
    call.output(&x).run().unwrap();
    for row in 0..3 {
        let part = x.get_f64([1, row, 4]).unwrap();
        assert_eq!(
            (part, x.get_f64([0, row, 4]).unwrap()),
            (0.0, (row * 5 + 5) as f64)
        );
    }
    let error = op("add")
        .unwrap()
        .on(&[&x, &mask])
        .axes(1)
        .run()
        .unwrap_err();
    assert!(
        error.to_string().contains("one axis for each of `axes`"),
        "{error}"
    );
}

#[test]
fn scalar_operations_take_a_number() {
    let x = NdArray::from([[1i32, -5], [7, 3]]);
    let cases = [
        (op("max").unwrap().on(&[&x]).scalar(2).run(), x.maximum(2)),
        (
            op("min").unwrap().on(&[&x, &x.transpose()]).run(),
            x.minimum(&x.transpose()),
        ),
        (op("set").unwrap().on(&[&x]).scalar(4).run(), x.full_like(4)),
        (
            op("broadcastamax").unwrap().on(&[&x]).arg(-4).run(),
            x.maximum_magnitude(-4),
        ),
        (
            op("euclidean").unwrap().on(&[&x]).scalar(1).run(),
            x.distance(Distance::Euclidean, &x.full_like(1).unwrap(), ..),
        ),
        (
            op("clip").unwrap().on(&[&x]).arg(0).arg(5).run(),
            x.clip(0, 5),
        ),
    ];
    for (index, (found, expected)) in cases.into_iter().enumerate() {
        assert_eq!(found.unwrap(), expected.unwrap(), "case {index}");
    }
}

#[test]
fn parameters_are_checked() {
    let x = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let cases: [(
        &str,
        for<'a> fn(OpCall<'a>) -> OpCall<'a>,
        ParameterProblem,
        &str,
    ); 6] = [
        (
            "tanh",
            |c| c.arg(1),
            ParameterProblem::TooMany { given: 1 },
            "tanh: has 0 parameter(s), got 1",
        ),
        (
            "clip",
            |c| c.arg(1),
            ParameterProblem::Missing { name: "high" },
            "clip: needs the parameter `high`",
        ),
        (
            "clip",
            |c| c.arg(1).arg(2).arg(3),
            ParameterProblem::TooMany { given: 3 },
            "clip: has 2 parameter(s), got 3",
        ),
        (
            "elu",
            |c| c.named_arg("beta", 1),
            ParameterProblem::Unknown {
                name: "beta".into(),
            },
            "elu: has no parameter `beta`",
        ),
        (
            "var",
            |c| c.arg(0.5),
            ParameterProblem::NotWhole {
                name: "ddof",
                value: 0.5,
            },
            "var: `ddof` must be a whole number, got 0.5",
        ),
        (
            "mpow",
            |c| c.arg(-1),
            ParameterProblem::NotWhole {
                name: "exponent",
                value: -1.0,
            },
            "matrix_power: `exponent` must be",
        ),
    ];
    for (name, set, expected, start) in cases {
        let error = set(op(name).unwrap().on(&[&x])).run().unwrap_err();
        let ArrayErrorKind::Parameter { problem, .. } = error.kind() else {
            panic!("{name}: {error}");
        };
        assert_eq!(*problem, expected, "{name}");
        let text = error.to_string();
        assert!(
            text.starts_with(start) && text.contains("help: it"),
            "{text}"
        );
        assert!(error.location().file().ends_with("op_names.rs"), "{text}");
    }
    assert!(x.derivative_with(UnaryOp::Tanh, 1.0).is_err());
    assert!(x.leaky_relu_with(f64::NAN).is_err());
}

/// Activations with a parameter against a plain loop, in every layout; with the usual parameter they are the usual functions.
#[test]
fn activations_take_parameters() {
    let values = [
        -1e30f64,
        -2.5,
        -0.5,
        -0.0,
        0.0,
        0.5,
        3.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let plain = NdArray::from_vec(values.to_vec(), [3, 3]).unwrap();
    let mut failures = Vec::new();
    let leaky = |v: f64, alpha: f64| if v < 0.0 { v * alpha } else { v };
    let elu = |v: f64, alpha: f64| if v < 0.0 { alpha * v.exp_m1() } else { v };
    let layouts = layout_matrix(&plain).unwrap();
    let count = layouts.len();
    for (layout, x) in layouts {
        let expect =
            |f: &dyn Fn(f64) -> f64| NdArray::from_vec(values.map(f).to_vec(), [3, 3]).unwrap();
        let out = x.zeros_like().unwrap();
        let mut compare = |what: &str, found: &NdArray, expected: NdArray| {
            if !found
                .is_close(&expected, 1e-15, 0.0)
                .unwrap()
                .all_true()
                .unwrap()
            {
                failures.push(format!(
                    "{what}, {layout}: {found:?} instead of {expected:?}"
                ));
            }
        };
        for alpha in [0.01, 0.3, 2.0, -1.0] {
            compare(
                "leaky_relu",
                &x.leaky_relu_with(alpha).unwrap(),
                expect(&|v| leaky(v, alpha)),
            );
            x.leaky_relu_with_into(alpha, &out).unwrap();
            compare("leaky_relu into", &out, expect(&|v| leaky(v, alpha)));
            compare(
                "elu",
                &x.elu_with(alpha).unwrap(),
                expect(&|v| elu(v, alpha)),
            );
            x.elu_with_into(alpha, &out).unwrap();
            compare("elu into", &out, expect(&|v| elu(v, alpha)));
            compare(
                "step",
                &x.step_with(alpha).unwrap(),
                expect(&|v| f64::from(v > alpha)),
            );
            x.step_with_into(alpha, &out).unwrap();
            compare("step into", &out, expect(&|v| f64::from(v > alpha)));
            let slope = x.derivative_with(UnaryOp::LeakyRelu, alpha).unwrap();
            compare(
                "leaky_relu'",
                &slope,
                expect(&|v| if v > 0.0 { 1.0 } else { alpha }),
            );
            let slope = x.derivative_with(UnaryOp::Elu, alpha).unwrap();
            compare(
                "elu'",
                &slope,
                expect(&|v| if v > 0.0 { 1.0 } else { alpha * v.exp() }),
            );
        }
        compare(
            "usual leaky_relu",
            &x.leaky_relu_with(0.01).unwrap(),
            x.leaky_relu().unwrap(),
        );
        compare("usual elu", &x.elu_with(1.0).unwrap(), x.elu().unwrap());
        compare("usual step", &x.step_with(0).unwrap(), x.step().unwrap());
        let kept = x.dup().unwrap();
        x.leaky_relui_with(0.5).unwrap();
        compare("leaky_relui", &x, expect(&|v| leaky(v, 0.5)));
        x.assign(&kept).unwrap().elui_with(0.5).unwrap();
        compare("elui", &x, expect(&|v| elu(v, 0.5)));
        x.assign(&kept).unwrap().stepi_with(0.25).unwrap();
        compare("stepi", &x, expect(&|v| f64::from(v > 0.25)));
    }
    report(count, &failures);
    for dtype in DType::ALL {
        let x = NdArray::ones_of(dtype, [2]).unwrap();
        let found = [
            x.leaky_relu_with(0.5).map(|a| a.dtype()),
            x.elu_with(0.5).map(|a| a.dtype()),
            x.step_with(0).map(|a| a.dtype()),
        ];
        let usual = [
            x.leaky_relu().map(|a| a.dtype()),
            x.elu().map(|a| a.dtype()),
            x.step().map(|a| a.dtype()),
        ];
        for (found, usual) in found.into_iter().zip(usual) {
            assert_eq!(found.ok(), usual.ok(), "{dtype}");
        }
    }
}

/// The sign stays; the smallest integer is further from zero than all others; NaN wins.
#[test]
fn magnitudes_keep_their_signs() {
    let far = NdArray::from([i8::MIN, -5, 4, -4, 127, 0]);
    let near = NdArray::from([127i8, 5, -3, 4, -127, -1]);
    let signed = |values: [i8; 6]| NdArray::from(values);
    let cases = [
        (
            far.maximum_magnitude(&near),
            signed([i8::MIN, 5, 4, 4, 127, -1]),
        ),
        (
            near.maximum_magnitude(&far),
            signed([i8::MIN, 5, 4, 4, 127, -1]),
        ),
        (
            far.minimum_magnitude(&near),
            signed([127, -5, -3, -4, -127, 0]),
        ),
        (
            far.maximum_magnitude(-6),
            signed([i8::MIN, -6, -6, -6, 127, -6]),
        ),
    ];
    for (index, (found, expected)) in cases.into_iter().enumerate() {
        assert_eq!(found.unwrap(), expected, "case {index}");
    }
    let bytes = NdArray::from([200u8, 3]);
    assert_eq!(
        bytes.maximum_magnitude(100).unwrap(),
        NdArray::from([200u8, 100])
    );
    assert_eq!(
        bytes.minimum_magnitude(100).unwrap(),
        NdArray::from([100u8, 3])
    );
    let floats = NdArray::from([f32::NAN, f32::NEG_INFINITY, 1.0]);
    let found = floats
        .maximum_magnitude(&NdArray::from([1.0f32, 2.0, f32::NAN]))
        .unwrap();
    assert!(found.get_f64([0]).unwrap().is_nan() && found.get_f64([2]).unwrap().is_nan());
    assert_eq!(found.get_f64([1]).unwrap(), f64::NEG_INFINITY);
    let x = NdArray::from([[1i32, -9], [3, 4]]);
    let row = NdArray::from([-2i32, 2]);
    for (layout, x) in layout_matrix(&x).unwrap() {
        let out = x.zeros_like().unwrap();
        x.minimum_magnitude_into(&row, &out).unwrap();
        assert_eq!(out, NdArray::from([[1i32, 2], [-2, 2]]), "{layout}");
        x.maximum_magnitudei(&row).unwrap();
        assert_eq!(x, NdArray::from([[-2i32, -9], [3, 4]]), "{layout}");
    }
    assert!(row.maximum_magnitudei(&x).is_err() && row.maximum_magnitudei(0.5).is_err());
    let mask = NdArray::from([true]);
    assert!(mask.maximum_magnitude(&mask).is_err());
}

/// Elements by their place in C order, whatever the layout; numbers beyond 2^53 exactly.
#[test]
fn flat_positions_and_whole_numbers() {
    let a = NdArray::arange_of(DType::I64, 0, 24, 1)
        .unwrap()
        .reshape([2, 3, 4])
        .unwrap();
    for (layout, view) in layout_matrix(&a).unwrap() {
        for i in 0..24 {
            assert_eq!(view.get_flat(i).unwrap().as_i64(), i as i64, "{layout}");
            assert_eq!(
                view.get_flat(i - 24).unwrap().as_i64(),
                i as i64,
                "{layout}"
            );
        }
        view.set_flat(7, -1).unwrap().set_flat(-1, 99).unwrap();
        assert_eq!(
            (
                view.get_i64([0, 1, 3]).unwrap(),
                view.get_i64([1, 2, 3]).unwrap()
            ),
            (-1, 99)
        );
        let error = view.get_flat(24).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("get_flat: index 24 is out of range for axis 0 with size 24")
        );
        assert!(view.set_flat(-25, 0).is_err() && view.get_flat(isize::MIN).is_err());
    }
    assert!(
        a.get(&lodestride_array::s![.., 0..0])
            .unwrap()
            .get_flat(0)
            .is_err()
    );
    assert_eq!(NdArray::from(5i32).get_flat(0).unwrap().as_i64(), 5);
    assert!(
        a.slice(0, 0)
            .unwrap()
            .broadcast_to([2, 3, 4])
            .unwrap()
            .set_flat(0, 1)
            .is_err()
    );
    let large = NdArray::from([u64::MAX - 3, 1, 2]);
    let exact = |scalar: lodestride_array::Scalar| scalar.cast::<u64>();
    assert_eq!(exact(large.sum_scalar().unwrap()), u64::MAX);
    assert_eq!(exact(large.max_scalar().unwrap()), u64::MAX - 3);
    assert_eq!(exact(large.min_scalar().unwrap()), 1);
    let odd = NdArray::from([3i64, i64::MAX / 3]);
    assert_eq!(odd.prod_scalar().unwrap().as_i64(), i64::MAX / 3 * 3);
    assert!(
        a.get(&lodestride_array::s![0..0])
            .unwrap()
            .max_scalar()
            .is_err()
    );
}
