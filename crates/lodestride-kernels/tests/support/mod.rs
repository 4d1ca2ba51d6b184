//! Arrays in every layout and a plain scalar reference, for the tests that compare kernels with it.
#![allow(dead_code, reason = "each test binary uses its part")]

use lodestride_buffer::{Buffer, DType, Element, Scalar, with_dtype};
use lodestride_kernels::{BinaryOp, Operand, UnaryOp};
use lodestride_shape::Layout;

/// A buffer with a layout, as a user of the kernels would hold it.
#[derive(Clone)]
pub(crate) struct Array {
    pub(crate) buffer: Buffer,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

/// How the elements of an array lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arrangement {
    C,
    F,
    /// Every second element of a larger block, along every axis.
    Strided,
    /// The first elements of longer rows.
    Part,
    /// All axes walked backwards.
    Reversed,
    /// The first axis broadcast: stride 0.
    RowBroadcast,
    /// The last axis broadcast.
    ColumnBroadcast,
    /// All axes broadcast: one element.
    Constant,
}

impl Arrangement {
    pub(crate) const ALL: [Arrangement; 8] = [
        Arrangement::C,
        Arrangement::F,
        Arrangement::Strided,
        Arrangement::Part,
        Arrangement::Reversed,
        Arrangement::RowBroadcast,
        Arrangement::ColumnBroadcast,
        Arrangement::Constant,
    ];

    /// Those that can be written.
    pub(crate) const WRITABLE: [Arrangement; 5] = [
        Arrangement::C,
        Arrangement::F,
        Arrangement::Strided,
        Arrangement::Part,
        Arrangement::Reversed,
    ];
}

impl Array {
    /// An array whose element number `i` (in C order of positions, before broadcasting) is `value(i)`.
    pub(crate) fn new(
        shape: &[usize],
        arrangement: Arrangement,
        dtype: DType,
        value: impl Fn(usize) -> Scalar,
    ) -> Array {
        let step = if arrangement == Arrangement::Strided {
            2
        } else {
            1
        };
        let mut strides = vec![0isize; shape.len()];
        let mut reach = 1isize;
        let order: Vec<usize> = if arrangement == Arrangement::F {
            (0..shape.len()).collect()
        } else {
            (0..shape.len()).rev().collect()
        };
        for axis in order {
            let last = axis + 1 == shape.len();
            let broadcast = match arrangement {
                Arrangement::RowBroadcast => axis == 0,
                Arrangement::ColumnBroadcast => last,
                Arrangement::Constant => true,
                _ => false,
            };
            if !broadcast {
                strides[axis] = reach * step;
                let gap = isize::from(arrangement == Arrangement::Part && last) * 3;
                reach *= shape[axis] as isize * step + gap;
            }
        }
        let mut offset = 3usize;
        if arrangement == Arrangement::Reversed {
            for (stride, &size) in strides.iter_mut().zip(shape) {
                offset += (*stride * (size as isize - 1).max(0)) as usize;
                *stride = -*stride;
            }
        }
        let elements = 3 + reach.max(0) as usize + 5;
        let buffer = Buffer::zeroed(elements * dtype.size()).unwrap();
        let layout = Layout::new(shape, strides.as_slice(), offset).unwrap();
        let array = Array {
            buffer,
            layout,
            dtype,
        };
        array.fill(value);
        array
    }

    pub(crate) fn operand(&self) -> Operand<'_> {
        Operand::new(&self.buffer, &self.layout, self.dtype).unwrap()
    }

    pub(crate) fn fill(&self, value: impl Fn(usize) -> Scalar) {
        let places = self.places();
        let mut guard = self.buffer.write().unwrap();
        with_dtype!(self.dtype, T => {
            let all = guard.slice_mut::<T>();
            for (i, &place) in places.iter().enumerate() {
                all[place] = value(i).cast::<T>();
            }
        });
    }

    /// The elements in C order of positions.
    pub(crate) fn values(&self) -> Vec<Scalar> {
        let places = self.places();
        let guard = self.buffer.read().unwrap();
        with_dtype!(self.dtype, T => {
            let all = guard.slice::<T>();
            places.iter().map(|&place| all[place].to_scalar()).collect()
        })
    }

    /// Element index in the buffer of every position, in C order.
    fn places(&self) -> Vec<usize> {
        let shape: Vec<usize> = self.layout.shape().to_vec();
        let total: usize = shape.iter().product();
        let mut position = vec![0usize; shape.len()];
        let mut places = Vec::new();
        for _ in 0..total {
            let moved: isize = position
                .iter()
                .zip(self.layout.strides().iter())
                .map(|(&at, &stride)| at as isize * stride)
                .sum();
            places.push((self.layout.offset() as isize + moved) as usize);
            for axis in (0..shape.len()).rev() {
                position[axis] += 1;
                if position[axis] < shape[axis] {
                    break;
                }
                position[axis] = 0;
            }
        }
        places
    }
}

/// `scalar` after a stay in an element of `dtype`.
pub(crate) fn through(scalar: Scalar, dtype: DType) -> Scalar {
    with_dtype!(dtype, T => scalar.cast::<T>().to_scalar())
}

/// Whether two elements of a dtype agree: exactly, or for floats within `ulps` units in the last place of the dtype.
pub(crate) fn close(found: Scalar, wanted: Scalar, dtype: DType, ulps: f64) -> bool {
    if !dtype.is_float() {
        return integer(found) == integer(wanted);
    }
    let (a, b) = (found.as_f64(), wanted.as_f64());
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if a == b {
        return true;
    }
    let epsilon = match dtype {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    (a - b).abs() <= ulps * epsilon * b.abs().max(f64::MIN_POSITIVE)
}

fn integer(scalar: Scalar) -> i128 {
    match scalar {
        Scalar::Bool(value) => i128::from(value),
        Scalar::Int(value) => i128::from(value),
        Scalar::UInt(value) => i128::from(value),
        Scalar::Float(value) => value as i128,
    }
}

/// An integer wrapped into an integer dtype.
fn wrapped(value: i128, dtype: DType) -> Scalar {
    let bits = 8 * dtype.size() as u32;
    let low = value & ((1i128 << bits) - 1);
    let signed = if dtype.is_signed() && low >> (bits - 1) != 0 {
        low - (1i128 << bits)
    } else {
        low
    };
    i64::try_from(signed).map_or(Scalar::UInt(signed as u64), Scalar::Int)
}

fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// What a unary operation gives for an element of (promoted) dtype `dtype`, by the plainest means.
pub(crate) fn reference_unary(op: UnaryOp, dtype: DType, x: Scalar) -> Scalar {
    let result = op.result_dtype(dtype).unwrap();
    let float = x.as_f64();
    let truth = |value: bool| Scalar::Bool(value);
    match op {
        UnaryOp::IsNan => return truth(float.is_nan()),
        UnaryOp::IsInf => return truth(float.is_infinite()),
        UnaryOp::IsFinite => return truth(float.is_finite()),
        UnaryOp::Not => return truth(float == 0.0),
        _ => {}
    }
    if op
        .compute_dtype(dtype)
        .is_some_and(|compute| !compute.is_float())
    {
        let value = integer(x);
        let computed = match op {
            UnaryOp::Neg => -value,
            UnaryOp::Abs => value.abs(),
            UnaryOp::Sign => value.signum(),
            UnaryOp::Square => value * value,
            UnaryOp::Cube => value * value * value,
            UnaryOp::OneMinus => 1 - value,
            UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc => value,
            UnaryOp::Relu => value.max(0),
            UnaryOp::Relu6 => value.clamp(0, 6),
            UnaryOp::Step => i128::from(value > 0),
            UnaryOp::BitNot if dtype == DType::Bool => return truth(value == 0),
            UnaryOp::BitNot => !value,
            other => panic!("no integer reference for {other}"),
        };
        return if dtype == DType::Bool {
            truth(computed != 0)
        } else {
            wrapped(computed, dtype)
        };
    }
    through(Scalar::Float(float_unary(op, float)), result)
}

/// The value of a unary operation of the reals.
#[allow(clippy::too_many_lines, reason = "one arm per operation")]
pub(crate) fn float_unary(op: UnaryOp, x: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign if x == 0.0 || x.is_nan() => x,
        UnaryOp::Sign => x.signum(),
        UnaryOp::Square => x * x,
        UnaryOp::Cube => x * x * x,
        UnaryOp::Reciprocal => 1.0 / x,
        UnaryOp::OneMinus => 1.0 - x,
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Rsqrt => 1.0 / x.sqrt(),
        UnaryOp::Cbrt => x.cbrt(),
        UnaryOp::Exp => x.exp(),
        UnaryOp::Exp2 => x.exp2(),
        UnaryOp::Expm1 => x.exp_m1(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Log2 => x.log2(),
        UnaryOp::Log10 => x.log10(),
        UnaryOp::Log1p => x.ln_1p(),
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tan => x.tan(),
        UnaryOp::Asin => x.asin(),
        UnaryOp::Acos => x.acos(),
        UnaryOp::Atan => x.atan(),
        UnaryOp::Sinh => x.sinh(),
        UnaryOp::Cosh => x.cosh(),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::Asinh => libm::asinh(x),
        UnaryOp::Acosh => libm::acosh(x),
        UnaryOp::Atanh => libm::atanh(x),
        UnaryOp::Erf => erf(x),
        UnaryOp::Erfc => libm::erfc(x),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::Trunc => x.trunc(),
        UnaryOp::Sigmoid => sigmoid(x),
        UnaryOp::LogSigmoid => -softplus(-x),
        UnaryOp::Softplus => softplus(x),
        UnaryOp::Softsign => x / (1.0 + x.abs()),
        UnaryOp::Relu if x.is_nan() => x,
        UnaryOp::Relu => x.max(0.0),
        UnaryOp::Relu6 if x.is_nan() => x,
        UnaryOp::Relu6 => x.clamp(0.0, 6.0),
        UnaryOp::LeakyRelu => {
            if x > 0.0 {
                x
            } else {
                0.01 * x
            }
        }
        UnaryOp::Elu => {
            if x > 0.0 {
                x
            } else {
                x.exp_m1()
            }
        }
        UnaryOp::Selu => {
            1.050_700_987_355_480_5
                * if x > 0.0 {
                    x
                } else {
                    1.673_263_242_354_377_2 * x.exp_m1()
                }
        }
        UnaryOp::Gelu => 0.5 * x * libm::erfc(-x / 2f64.sqrt()),
        UnaryOp::Swish => x * sigmoid(x),
        UnaryOp::Mish => x * softplus(x).tanh(),
        UnaryOp::HardSigmoid => (0.2 * x + 0.5).clamp(0.0, 1.0),
        UnaryOp::HardTanh => x.clamp(-1.0, 1.0),
        UnaryOp::RectifiedTanh if x.is_nan() => x,
        UnaryOp::RectifiedTanh => x.tanh().max(0.0),
        UnaryOp::RationalTanh => {
            let y = x * 2.0 / 3.0;
            let tail = 1.0 + y.abs() + y * y + 1.41645 * y.powi(4);
            1.7159 * y.signum() * (1.0 - 1.0 / tail)
        }
        UnaryOp::Step => f64::from(u8::from(x > 0.0)),
        other => panic!("no float reference for {other}"),
    }
}

/// What a binary operation gives for elements of (promoted) dtype `dtype`.
pub(crate) fn reference_binary(op: BinaryOp, dtype: DType, x: Scalar, y: Scalar) -> Scalar {
    let result = op.result_dtype(dtype).unwrap();
    let (a, b) = (x.as_f64(), y.as_f64());
    let truth = Scalar::Bool;
    match op {
        BinaryOp::Eq => return truth(a == b),
        BinaryOp::Ne => return truth(a != b),
        BinaryOp::Lt => return truth(a < b),
        BinaryOp::Le => return truth(a <= b),
        BinaryOp::Gt => return truth(a > b),
        BinaryOp::Ge => return truth(a >= b),
        BinaryOp::And => return truth(a != 0.0 && b != 0.0),
        BinaryOp::Or => return truth(a != 0.0 || b != 0.0),
        BinaryOp::Xor => return truth((a != 0.0) != (b != 0.0)),
        _ => {}
    }
    if op
        .compute_dtype(dtype)
        .is_some_and(|compute| !compute.is_float())
    {
        let computed = integer_binary(op, dtype, integer(x), integer(y));
        return if dtype == DType::Bool {
            truth(computed != 0)
        } else {
            wrapped(computed, dtype)
        };
    }
    through(Scalar::Float(float_binary(op, a, b)), result)
}

fn integer_binary(op: BinaryOp, dtype: DType, a: i128, b: i128) -> i128 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::RSub => b - a,
        BinaryOp::Mul => a * b,
        BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::FMod if b == 0 => 0,
        BinaryOp::FloorDiv => {
            (a - a.rem_euclid(b.abs())
                - if b < 0 && a.rem_euclid(b.abs()) != 0 {
                    b
                } else {
                    0
                })
                / b
        }
        BinaryOp::Mod => a - b * integer_binary(BinaryOp::FloorDiv, dtype, a, b),
        BinaryOp::FMod => a % b,
        BinaryOp::Pow if b < 0 => match a {
            1 => 1,
            -1 => {
                if b % 2 == 0 {
                    1
                } else {
                    -1
                }
            }
            _ => 0,
        },
        BinaryOp::Pow => (0..b).fold(1i128, |power, _| integer(wrapped(power * a, dtype))),
        BinaryOp::Max => a.max(b),
        BinaryOp::Min => a.min(b),
        BinaryOp::AbsMax => a.abs().max(b.abs()),
        BinaryOp::AbsMin => a.abs().min(b.abs()),
        BinaryOp::SquaredDifference => (a - b) * (a - b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight if b < 0 || b >= 8 * dtype.size() as i128 => {
            if op == BinaryOp::ShiftRight && a < 0 {
                -1
            } else {
                0
            }
        }
        BinaryOp::ShiftLeft => a << b,
        BinaryOp::ShiftRight => a >> b,
        other => panic!("no integer reference for {other}"),
    }
}

fn float_binary(op: BinaryOp, a: f64, b: f64) -> f64 {
    let nan_or = |value: f64| {
        if a.is_nan() || b.is_nan() {
            f64::NAN
        } else {
            value
        }
    };
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::RSub => b - a,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::RDiv => b / a,
        BinaryOp::FloorDiv => (a / b).floor(),
        BinaryOp::Mod if b == 0.0 => f64::NAN,
        BinaryOp::Mod => a - b * (a / b).floor(),
        BinaryOp::FMod if b == 0.0 => f64::NAN,
        BinaryOp::FMod => a - b * (a / b).trunc(),
        BinaryOp::Remainder if b == 0.0 => f64::NAN,
        BinaryOp::Remainder => a - b * (a / b).round_ties_even(),
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Max => nan_or(a.max(b)),
        BinaryOp::Min => nan_or(a.min(b)),
        BinaryOp::AbsMax => nan_or(a.abs().max(b.abs())),
        BinaryOp::AbsMin => nan_or(a.abs().min(b.abs())),
        BinaryOp::Atan2 => a.atan2(b),
        BinaryOp::Hypot => a.hypot(b),
        BinaryOp::LogAddExp => a.max(b) + (-(a - b).abs()).exp().ln_1p(),
        BinaryOp::SquaredDifference => (a - b) * (a - b),
        other => panic!("no float reference for {other}"),
    }
}
