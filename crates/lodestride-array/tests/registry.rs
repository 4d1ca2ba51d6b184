//! Every operation of the kernel registry has its methods, and they do what the operation does.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_array::kernels::{self, ArgOp, BinaryOp, ReduceOp, ScanOp, UnaryOp};
use lodestride_array::{DType, NdArray, Result};

type Unary = fn(&NdArray) -> Result<NdArray>;
type UnaryInPlace = Option<fn(&NdArray) -> Result<()>>;
type UnaryInto = fn(&NdArray, &NdArray) -> Result<()>;
type UnaryMethods = (&'static str, Unary, UnaryInPlace, UnaryInto);
type Binary = fn(&NdArray, &NdArray) -> Result<NdArray>;
type BinaryInPlace = Option<fn(&NdArray, &NdArray) -> Result<()>>;
type BinaryInto = fn(&NdArray, &NdArray, &NdArray) -> Result<()>;
type BinaryMethods = (&'static str, Binary, BinaryInPlace, BinaryInto);
type Reduce = fn(&NdArray) -> Result<NdArray>;

/// The methods of every unary op of the registry: new array, in place (none for truth values), into an output.
const UNARY: &[UnaryMethods] = &[
    (
        "neg",
        |x| x.neg(),
        Some(|x| x.negi().map(drop)),
        |x, out| x.neg_into(out),
    ),
    (
        "abs",
        |x| x.abs(),
        Some(|x| x.absi().map(drop)),
        |x, out| x.abs_into(out),
    ),
    (
        "sign",
        |x| x.sign(),
        Some(|x| x.signi().map(drop)),
        |x, out| x.sign_into(out),
    ),
    (
        "square",
        |x| x.square(),
        Some(|x| x.squarei().map(drop)),
        |x, out| x.square_into(out),
    ),
    (
        "cube",
        |x| x.cube(),
        Some(|x| x.cubei().map(drop)),
        |x, out| x.cube_into(out),
    ),
    (
        "reciprocal",
        |x| x.reciprocal(),
        Some(|x| x.reciprocali().map(drop)),
        |x, out| x.reciprocal_into(out),
    ),
    (
        "one_minus",
        |x| x.one_minus(),
        Some(|x| x.one_minusi().map(drop)),
        |x, out| x.one_minus_into(out),
    ),
    (
        "sqrt",
        |x| x.sqrt(),
        Some(|x| x.sqrti().map(drop)),
        |x, out| x.sqrt_into(out),
    ),
    (
        "rsqrt",
        |x| x.rsqrt(),
        Some(|x| x.rsqrti().map(drop)),
        |x, out| x.rsqrt_into(out),
    ),
    (
        "cbrt",
        |x| x.cbrt(),
        Some(|x| x.cbrti().map(drop)),
        |x, out| x.cbrt_into(out),
    ),
    (
        "exp",
        |x| x.exp(),
        Some(|x| x.expi().map(drop)),
        |x, out| x.exp_into(out),
    ),
    (
        "exp2",
        |x| x.exp2(),
        Some(|x| x.exp2i().map(drop)),
        |x, out| x.exp2_into(out),
    ),
    (
        "expm1",
        |x| x.expm1(),
        Some(|x| x.expm1i().map(drop)),
        |x, out| x.expm1_into(out),
    ),
    (
        "log",
        |x| x.log(),
        Some(|x| x.logi().map(drop)),
        |x, out| x.log_into(out),
    ),
    (
        "log2",
        |x| x.log2(),
        Some(|x| x.log2i().map(drop)),
        |x, out| x.log2_into(out),
    ),
    (
        "log10",
        |x| x.log10(),
        Some(|x| x.log10i().map(drop)),
        |x, out| x.log10_into(out),
    ),
    (
        "log1p",
        |x| x.log1p(),
        Some(|x| x.log1pi().map(drop)),
        |x, out| x.log1p_into(out),
    ),
    (
        "sin",
        |x| x.sin(),
        Some(|x| x.sini().map(drop)),
        |x, out| x.sin_into(out),
    ),
    (
        "cos",
        |x| x.cos(),
        Some(|x| x.cosi().map(drop)),
        |x, out| x.cos_into(out),
    ),
    (
        "tan",
        |x| x.tan(),
        Some(|x| x.tani().map(drop)),
        |x, out| x.tan_into(out),
    ),
    (
        "asin",
        |x| x.asin(),
        Some(|x| x.asini().map(drop)),
        |x, out| x.asin_into(out),
    ),
    (
        "acos",
        |x| x.acos(),
        Some(|x| x.acosi().map(drop)),
        |x, out| x.acos_into(out),
    ),
    (
        "atan",
        |x| x.atan(),
        Some(|x| x.atani().map(drop)),
        |x, out| x.atan_into(out),
    ),
    (
        "sinh",
        |x| x.sinh(),
        Some(|x| x.sinhi().map(drop)),
        |x, out| x.sinh_into(out),
    ),
    (
        "cosh",
        |x| x.cosh(),
        Some(|x| x.coshi().map(drop)),
        |x, out| x.cosh_into(out),
    ),
    (
        "tanh",
        |x| x.tanh(),
        Some(|x| x.tanhi().map(drop)),
        |x, out| x.tanh_into(out),
    ),
    (
        "asinh",
        |x| x.asinh(),
        Some(|x| x.asinhi().map(drop)),
        |x, out| x.asinh_into(out),
    ),
    (
        "acosh",
        |x| x.acosh(),
        Some(|x| x.acoshi().map(drop)),
        |x, out| x.acosh_into(out),
    ),
    (
        "atanh",
        |x| x.atanh(),
        Some(|x| x.atanhi().map(drop)),
        |x, out| x.atanh_into(out),
    ),
    (
        "erf",
        |x| x.erf(),
        Some(|x| x.erfi().map(drop)),
        |x, out| x.erf_into(out),
    ),
    (
        "erfc",
        |x| x.erfc(),
        Some(|x| x.erfci().map(drop)),
        |x, out| x.erfc_into(out),
    ),
    (
        "floor",
        |x| x.floor(),
        Some(|x| x.floori().map(drop)),
        |x, out| x.floor_into(out),
    ),
    (
        "ceil",
        |x| x.ceil(),
        Some(|x| x.ceili().map(drop)),
        |x, out| x.ceil_into(out),
    ),
    (
        "round",
        |x| x.round(),
        Some(|x| x.roundi().map(drop)),
        |x, out| x.round_into(out),
    ),
    (
        "trunc",
        |x| x.trunc(),
        Some(|x| x.trunci().map(drop)),
        |x, out| x.trunc_into(out),
    ),
    (
        "sigmoid",
        |x| x.sigmoid(),
        Some(|x| x.sigmoidi().map(drop)),
        |x, out| x.sigmoid_into(out),
    ),
    (
        "log_sigmoid",
        |x| x.log_sigmoid(),
        Some(|x| x.log_sigmoidi().map(drop)),
        |x, out| x.log_sigmoid_into(out),
    ),
    (
        "softplus",
        |x| x.softplus(),
        Some(|x| x.softplusi().map(drop)),
        |x, out| x.softplus_into(out),
    ),
    (
        "softsign",
        |x| x.softsign(),
        Some(|x| x.softsigni().map(drop)),
        |x, out| x.softsign_into(out),
    ),
    (
        "relu",
        |x| x.relu(),
        Some(|x| x.relui().map(drop)),
        |x, out| x.relu_into(out),
    ),
    (
        "relu6",
        |x| x.relu6(),
        Some(|x| x.relu6i().map(drop)),
        |x, out| x.relu6_into(out),
    ),
    (
        "leaky_relu",
        |x| x.leaky_relu(),
        Some(|x| x.leaky_relui().map(drop)),
        |x, out| x.leaky_relu_into(out),
    ),
    (
        "elu",
        |x| x.elu(),
        Some(|x| x.elui().map(drop)),
        |x, out| x.elu_into(out),
    ),
    (
        "selu",
        |x| x.selu(),
        Some(|x| x.selui().map(drop)),
        |x, out| x.selu_into(out),
    ),
    (
        "gelu",
        |x| x.gelu(),
        Some(|x| x.gelui().map(drop)),
        |x, out| x.gelu_into(out),
    ),
    (
        "swish",
        |x| x.swish(),
        Some(|x| x.swishi().map(drop)),
        |x, out| x.swish_into(out),
    ),
    (
        "mish",
        |x| x.mish(),
        Some(|x| x.mishi().map(drop)),
        |x, out| x.mish_into(out),
    ),
    (
        "hard_sigmoid",
        |x| x.hard_sigmoid(),
        Some(|x| x.hard_sigmoidi().map(drop)),
        |x, out| x.hard_sigmoid_into(out),
    ),
    (
        "hard_tanh",
        |x| x.hard_tanh(),
        Some(|x| x.hard_tanhi().map(drop)),
        |x, out| x.hard_tanh_into(out),
    ),
    (
        "rectified_tanh",
        |x| x.rectified_tanh(),
        Some(|x| x.rectified_tanhi().map(drop)),
        |x, out| x.rectified_tanh_into(out),
    ),
    (
        "rational_tanh",
        |x| x.rational_tanh(),
        Some(|x| x.rational_tanhi().map(drop)),
        |x, out| x.rational_tanh_into(out),
    ),
    (
        "step",
        |x| x.step(),
        Some(|x| x.stepi().map(drop)),
        |x, out| x.step_into(out),
    ),
    ("is_nan", |x| x.is_nan(), None, |x, out| x.is_nan_into(out)),
    ("is_inf", |x| x.is_inf(), None, |x, out| x.is_inf_into(out)),
    (
        "is_finite",
        |x| x.is_finite(),
        None,
        |x, out| x.is_finite_into(out),
    ),
    (
        "not",
        |x| x.logical_not(),
        None,
        |x, out| x.logical_not_into(out),
    ),
    (
        "bit_not",
        |x| x.bit_not(),
        Some(|x| x.bit_noti().map(drop)),
        |x, out| x.bit_not_into(out),
    ),
];

/// The methods of every binary op of the registry.
const BINARY: &[BinaryMethods] = &[
    (
        "add",
        |x, y| x.add(y),
        Some(|x, y| x.addi(y).map(drop)),
        |x, y, out| x.add_into(y, out),
    ),
    (
        "sub",
        |x, y| x.sub(y),
        Some(|x, y| x.subi(y).map(drop)),
        |x, y, out| x.sub_into(y, out),
    ),
    (
        "mul",
        |x, y| x.mul(y),
        Some(|x, y| x.muli(y).map(drop)),
        |x, y, out| x.mul_into(y, out),
    ),
    (
        "div",
        |x, y| x.div(y),
        Some(|x, y| x.divi(y).map(drop)),
        |x, y, out| x.div_into(y, out),
    ),
    (
        "rsub",
        |x, y| x.rsub(y),
        Some(|x, y| x.rsubi(y).map(drop)),
        |x, y, out| x.rsub_into(y, out),
    ),
    (
        "rdiv",
        |x, y| x.rdiv(y),
        Some(|x, y| x.rdivi(y).map(drop)),
        |x, y, out| x.rdiv_into(y, out),
    ),
    (
        "floor_div",
        |x, y| x.floor_div(y),
        Some(|x, y| x.floor_divi(y).map(drop)),
        |x, y, out| x.floor_div_into(y, out),
    ),
    (
        "mod",
        |x, y| x.modulo(y),
        Some(|x, y| x.moduloi(y).map(drop)),
        |x, y, out| x.modulo_into(y, out),
    ),
    (
        "fmod",
        |x, y| x.fmod(y),
        Some(|x, y| x.fmodi(y).map(drop)),
        |x, y, out| x.fmod_into(y, out),
    ),
    (
        "remainder",
        |x, y| x.remainder(y),
        Some(|x, y| x.remainderi(y).map(drop)),
        |x, y, out| x.remainder_into(y, out),
    ),
    (
        "pow",
        |x, y| x.pow(y),
        Some(|x, y| x.powi(y).map(drop)),
        |x, y, out| x.pow_into(y, out),
    ),
    (
        "max",
        |x, y| x.maximum(y),
        Some(|x, y| x.maximumi(y).map(drop)),
        |x, y, out| x.maximum_into(y, out),
    ),
    (
        "min",
        |x, y| x.minimum(y),
        Some(|x, y| x.minimumi(y).map(drop)),
        |x, y, out| x.minimum_into(y, out),
    ),
    (
        "abs_max",
        |x, y| x.abs_maximum(y),
        Some(|x, y| x.abs_maximumi(y).map(drop)),
        |x, y, out| x.abs_maximum_into(y, out),
    ),
    (
        "abs_min",
        |x, y| x.abs_minimum(y),
        Some(|x, y| x.abs_minimumi(y).map(drop)),
        |x, y, out| x.abs_minimum_into(y, out),
    ),
    (
        "atan2",
        |x, y| x.atan2(y),
        Some(|x, y| x.atan2i(y).map(drop)),
        |x, y, out| x.atan2_into(y, out),
    ),
    (
        "hypot",
        |x, y| x.hypot(y),
        Some(|x, y| x.hypoti(y).map(drop)),
        |x, y, out| x.hypot_into(y, out),
    ),
    (
        "log_add_exp",
        |x, y| x.log_add_exp(y),
        Some(|x, y| x.log_add_expi(y).map(drop)),
        |x, y, out| x.log_add_exp_into(y, out),
    ),
    (
        "squared_difference",
        |x, y| x.squared_difference(y),
        Some(|x, y| x.squared_differencei(y).map(drop)),
        |x, y, out| x.squared_difference_into(y, out),
    ),
    (
        "eq",
        |x, y| x.equal(y),
        None,
        |x, y, out| x.equal_into(y, out),
    ),
    (
        "ne",
        |x, y| x.not_equal(y),
        None,
        |x, y, out| x.not_equal_into(y, out),
    ),
    (
        "lt",
        |x, y| x.less(y),
        None,
        |x, y, out| x.less_into(y, out),
    ),
    (
        "le",
        |x, y| x.less_equal(y),
        None,
        |x, y, out| x.less_equal_into(y, out),
    ),
    (
        "gt",
        |x, y| x.greater(y),
        None,
        |x, y, out| x.greater_into(y, out),
    ),
    (
        "ge",
        |x, y| x.greater_equal(y),
        None,
        |x, y, out| x.greater_equal_into(y, out),
    ),
    (
        "and",
        |x, y| x.logical_and(y),
        None,
        |x, y, out| x.logical_and_into(y, out),
    ),
    (
        "or",
        |x, y| x.logical_or(y),
        None,
        |x, y, out| x.logical_or_into(y, out),
    ),
    (
        "xor",
        |x, y| x.logical_xor(y),
        None,
        |x, y, out| x.logical_xor_into(y, out),
    ),
    (
        "bit_and",
        |x, y| x.bit_and(y),
        Some(|x, y| x.bit_andi(y).map(drop)),
        |x, y, out| x.bit_and_into(y, out),
    ),
    (
        "bit_or",
        |x, y| x.bit_or(y),
        Some(|x, y| x.bit_ori(y).map(drop)),
        |x, y, out| x.bit_or_into(y, out),
    ),
    (
        "bit_xor",
        |x, y| x.bit_xor(y),
        Some(|x, y| x.bit_xori(y).map(drop)),
        |x, y, out| x.bit_xor_into(y, out),
    ),
    (
        "shift_left",
        |x, y| x.shift_left(y),
        Some(|x, y| x.shift_lefti(y).map(drop)),
        |x, y, out| x.shift_left_into(y, out),
    ),
    (
        "shift_right",
        |x, y| x.shift_right(y),
        Some(|x, y| x.shift_righti(y).map(drop)),
        |x, y, out| x.shift_right_into(y, out),
    ),
];

/// The methods of every reduction.
const REDUCE: &[(&str, Reduce)] = &[
    ("sum", |x| x.sum(0)),
    ("mean", |x| x.mean(0)),
    ("prod", |x| x.prod(0)),
    ("max", |x| x.max(0)),
    ("min", |x| x.min(0)),
    ("any", |x| x.any(0)),
    ("all", |x| x.all(0)),
    ("norm1", |x| x.norm1(0)),
    ("norm2", |x| x.norm2(0)),
    ("norm_max", |x| x.norm_max(0)),
    ("var", |x| x.var_ddof(0, 0)),
    ("std", |x| x.std_ddof(0, 0)),
    ("log_sum_exp", |x| x.log_sum_exp(0)),
    ("count_nonzero", |x| x.count_nonzero(0)),
    ("mean_abs", |x| x.mean_abs(0)),
    ("min_abs", |x| x.min_abs(0)),
    ("sum_squares", |x| x.sum_squares(0)),
];

/// The methods that locate extremes.
const LOCATE: &[(&str, Reduce)] = &[
    ("argmax", |x| x.argmax(0)),
    ("argmin", |x| x.argmin(0)),
    ("arg_abs_max", |x| x.arg_abs_max(0)),
    ("arg_abs_min", |x| x.arg_abs_min(0)),
];

/// The running methods.
const SCAN: &[(&str, Reduce)] = &[
    ("cumsum", |x| x.cumsum(0)),
    ("cumprod", |x| x.cumprod(0)),
    ("cummax", |x| x.cummax(0)),
    ("cummin", |x| x.cummin(0)),
];

/// Operands every operation is defined for: integers where it works on bits, else floats.
fn operands(float: bool) -> (NdArray, NdArray) {
    let (x, y) = (
        NdArray::from([[0.3f64, 0.9], [0.1, 0.5]]),
        NdArray::from([[0.2f64, 3.0], [0.5, 2.0]]),
    );
    let bits = (
        NdArray::from([[6i64, 9], [1, 5]]),
        NdArray::from([[2i64, 3], [5, 2]]),
    );
    if float { (x, y) } else { bits }
}

/// Same dtype and the same bytes: NaN equals NaN here.
fn same(a: &NdArray, b: &NdArray) -> bool {
    a.dtype() == b.dtype()
        && a.shape() == b.shape()
        && a.to_bytes().unwrap() == b.to_bytes().unwrap()
}

#[test]
fn every_unary_op_has_its_methods() {
    let mut failed = Vec::new();
    for op in UnaryOp::ALL {
        let Some((_, plain, in_place, into)) = UNARY.iter().find(|row| row.0 == op.name()) else {
            failed.push(format!("{op} has no method"));
            continue;
        };
        let (x, _) = operands(op.result_dtype(DType::F64).is_some());
        let dtype = op.result_dtype(x.dtype()).unwrap();
        let expected = NdArray::recycled(dtype, [2, 2]).unwrap();
        kernels::unary(*op, x.operand().into(), expected.operand()).unwrap();
        let out = NdArray::recycled(dtype, [2, 2]).unwrap();
        into(&x, &out).unwrap();
        let changed = x.dup().unwrap();
        let in_place_agrees = match in_place {
            Some(in_place) => in_place(&changed)
                .map(|()| same(&changed, &expected))
                .unwrap(),
            None => dtype == DType::Bool,
        };
        if !(same(&plain(&x).unwrap(), &expected) && same(&out, &expected) && in_place_agrees) {
            failed.push(format!("a method of {op} does something else"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(UNARY.len(), UnaryOp::ALL.len());
}

#[test]
fn every_binary_op_has_its_methods() {
    let mut failed = Vec::new();
    for op in BinaryOp::ALL {
        let Some((_, plain, in_place, into)) = BINARY.iter().find(|row| row.0 == op.name()) else {
            failed.push(format!("{op} has no method"));
            continue;
        };
        let (x, y) = operands(op.result_dtype(DType::F64).is_some());
        let dtype = op.result_dtype(x.dtype()).unwrap();
        let expected = NdArray::recycled(dtype, [2, 2]).unwrap();
        kernels::binary(
            *op,
            x.operand().into(),
            y.operand().into(),
            expected.operand(),
        )
        .unwrap();
        let out = NdArray::recycled(dtype, [2, 2]).unwrap();
        into(&x, &y, &out).unwrap();
        let changed = x.dup().unwrap();
        let in_place_agrees = match in_place {
            Some(in_place) => in_place(&changed, &y)
                .map(|()| same(&changed, &expected))
                .unwrap(),
            None => dtype == DType::Bool,
        };
        if !(same(&plain(&x, &y).unwrap(), &expected) && same(&out, &expected) && in_place_agrees) {
            failed.push(format!("a method of {op} does something else"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(BINARY.len(), BinaryOp::ALL.len());
}

#[test]
fn every_reduction_has_its_methods() {
    let x = NdArray::from([[3.0f64, -1.0], [2.0, 0.0], [2.0, -5.0]]);
    let mut failed = Vec::new();
    for op in ReduceOp::ALL {
        let expected = NdArray::recycled(op.result_dtype(DType::F64), [2]).unwrap();
        kernels::reduce(op, x.operand(), &[0], expected.operand()).unwrap();
        match REDUCE.iter().find(|row| row.0 == op.name()) {
            Some((_, method)) if same(&method(&x).unwrap(), &expected) => {}
            _ => failed.push(op.name()),
        }
    }
    for op in ArgOp::ALL {
        let expected = NdArray::recycled(DType::I64, [2]).unwrap();
        kernels::index_reduce(op, x.operand(), Some(0), expected.operand()).unwrap();
        match LOCATE.iter().find(|row| row.0 == op.name()) {
            Some((_, method)) if same(&method(&x).unwrap(), &expected) => {}
            _ => failed.push(op.name()),
        }
    }
    for op in ScanOp::ALL {
        let expected = NdArray::recycled(DType::F64, [3, 2]).unwrap();
        kernels::scan(op, x.operand(), 0, expected.operand()).unwrap();
        match SCAN.iter().find(|row| row.0 == op.name()) {
            Some((_, method)) if same(&method(&x).unwrap(), &expected) => {}
            _ => failed.push(op.name()),
        }
    }
    assert!(
        failed.is_empty(),
        "no method, or one that does something else: {failed:?}"
    );
}
