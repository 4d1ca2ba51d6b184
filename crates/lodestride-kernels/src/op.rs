//! The registry of elementwise operations: one row per operation, from which its enum variant, name, documentation, dtype
//! rules and kernels follow.
//!
//! Adding an operation is one function in `scalar/` and one row here. A row reads: documentation, variant, name, which
//! loops it gets (a module of `table.rs`), the class of dtypes it computes in, what it returns, and the element
//! function; after a comma, what is done about arguments that function cannot do: how (`Rare`, `Slow`: see `Hard`), which
//! they are, and the complete function; after `with`, its form of whole blocks (`Blocks`).

use crate::isa::{Arch, Level};
use crate::known::{Known, Loops};
use crate::op_entry::{half_entry, out_type, table_entry};
use crate::rules::{Class, Returns};
use crate::scalar::activation::{Activation, Rectify};
use crate::scalar::arith::{Number, Quotient, Ring};
use crate::scalar::bitwise::{Bits, Shift};
use crate::scalar::blocks::Blocks;
use crate::scalar::compare::{Classify, Compare};
use crate::scalar::division::Division;
use crate::scalar::erf::Erf;
use crate::scalar::exp::Exp;
use crate::scalar::hyperbolic::Hyperbolic;
use crate::scalar::inverse_trig::InverseTrig;
use crate::scalar::log::Log;
use crate::scalar::power::Power;
use crate::scalar::rounding::Rounding;
use crate::scalar::trig::Trig;
use crate::scalar::{BLOCK, Binary, Hard, Unary};
use crate::table::{BinaryKernel, UnaryKernel};
use crate::table_halves::HalfLoops;
use lodestride_buffer::{Bool, DType};
use std::fmt;

/// What both registries share: the enum, its list, names, documentation and dtype rules.
macro_rules! op_enum {
    ($(#[$enum_doc:meta])* $Enum:ident: $(
        $(#[doc = $doc:literal])+ $Op:ident $name:literal $class:ident $returns:ident
    )*) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $Enum {
            $( $(#[doc = $doc])+ $Op, )*
        }

        impl $Enum {
            /// Every operation, in the order of the registry.
            pub const ALL: &[$Enum] = &[$( $Enum::$Op, )*];

            /// The operation's name, as in error messages and file formats.
            #[inline]
            pub const fn name(self) -> &'static str {
                match self { $( $Enum::$Op => $name, )* }
            }

            /// The operation of that name.
            pub fn from_name(name: &str) -> Option<$Enum> {
                match name { $( $name => Some($Enum::$Op), )* _ => None }
            }

            /// What the operation does, in a line.
            pub const fn doc(self) -> &'static str {
                match self { $( $Enum::$Op => concat!($($doc),+), )* }
            }

            const fn rules(self) -> (Class, Returns) {
                match self { $( $Enum::$Op => (Class::$class, Returns::$returns), )* }
            }

            /// The dtype operands of (promoted) dtype `input` are computed in: halves in f32 unless only their sign changes,
            /// integers in f64 where the operation is one of the reals. `None` where the operation is not defined for `input`.
            pub fn compute_dtype(self, input: DType) -> Option<DType> {
                self.rules().0.compute(input)
            }

            /// The dtype of the result for operands of (promoted) dtype `input`; `None` where the operation is not
            /// defined for it.
            #[inline]
            pub fn result_dtype(self, input: DType) -> Option<DType> {
                static RESULTS: [[Option<DType>; DType::ALL.len()]; $Enum::ALL.len()] =
                    $Enum::result_dtypes();
                RESULTS[self as usize][input as usize]
            }

            /// [`Self::result_dtype`] of every operation and dtype.
            const fn result_dtypes() -> [[Option<DType>; DType::ALL.len()]; $Enum::ALL.len()] {
                let mut results = [[None; DType::ALL.len()]; $Enum::ALL.len()];
                let mut op = 0;
                while op < results.len() {
                    let (class, returns) = $Enum::ALL[op].rules();
                    let mut dtype = 0;
                    while dtype < DType::ALL.len() {
                        results[op][dtype] = returns.dtype(class, DType::ALL[dtype]);
                        dtype += 1;
                    }
                    op += 1;
                }
                results
            }
        }

        impl fmt::Display for $Enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

macro_rules! unary_ops {
    ($(
        $(#[doc = $doc:literal])+
        $Op:ident $name:literal $weight:ident $class:ident -> $returns:ident = $Trait:ident::$function:ident
        $(, $Hard:ident $is_hard:ident $redo:ident)? $(with $block:ident)?;
    )*) => {
        op_enum! {
            /// An operation on one operand, element by element.
            UnaryOp: $( $(#[doc = $doc])+ $Op $name $class $returns )*
        }

        /// One empty type per operation, for the loops to be compiled with.
        mod unary_op {
            $( #[derive(Clone, Copy, Debug)] pub(crate) struct $Op; )*
        }

        $(
            impl<T: $Trait> Unary<T> for unary_op::$Op {
                type Out = out_type!($returns T);

                #[inline(always)]
                fn apply<A: Arch>(x: T) -> Self::Out {
                    $Trait::$function::<A>(x)
                }

                $(
                    const HARD: Hard = Hard::$Hard;

                    #[inline(always)]
                    fn is_hard(x: T, result: Self::Out) -> bool {
                        x.$is_hard(result)
                    }

                    #[inline(always)]
                    fn redo<B: Arch>(x: T) -> Self::Out {
                        $Trait::$redo::<B>(x)
                    }
                )?

                $(
                    #[inline(always)]
                    fn block<B: Arch>(dst: &mut [Self::Out; BLOCK], x: &[T; BLOCK]) -> Option<bool> {
                        Blocks::$block::<B>(dst, x)
                    }
                )?
            }
        )*

        /// The loops of an operation in its compute dtype.
        pub(crate) fn unary_kernel(op: UnaryOp, dtype: DType, level: Level) -> Option<UnaryKernel> {
            match op {
                $( UnaryOp::$Op => table_entry!(unary $weight $class unary_op::$Op, dtype, level), )*
            }
        }

        /// What an operation does with operands of (promoted) `dtype`, worked out once per process; `None` where it is not
        /// defined for them.
        #[inline]
        pub(crate) fn unary_loops(op: UnaryOp, dtype: DType, level: Level) -> Option<&'static Loops<UnaryKernel>> {
            static KNOWN: Known<UnaryKernel, { UnaryOp::ALL.len() }> = Known::new();
            KNOWN.loops(op as usize, dtype, level, || {
                if let Some(kernel) = half_unary(op, dtype, level) {
                    return Some(Loops { compute: dtype, kernel });
                }
                let compute = op.compute_dtype(dtype)?;
                let kernel = unary_kernel(op, compute, level)?;
                Some(Loops { compute, kernel })
            })
        }

        /// The loops that halves have of their own.
        fn half_unary(op: UnaryOp, dtype: DType, level: Level) -> Option<UnaryKernel> {
            match op {
                $( UnaryOp::$Op => half_entry!(unary $weight $class unary_op::$Op, dtype, level), )*
            }
        }
    };
}

macro_rules! binary_ops {
    ($(
        $(#[doc = $doc:literal])+
        $Op:ident $name:literal $weight:ident $class:ident -> $returns:ident = $Trait:ident::$function:ident
        $(, $Hard:ident $is_hard:ident $redo:ident)? $(with $block:ident)? $(by $by:ident)?;
    )*) => {
        op_enum! {
            /// An operation on two operands, element by element.
            BinaryOp: $( $(#[doc = $doc])+ $Op $name $class $returns )*
        }

        /// One empty type per operation, for the loops to be compiled with.
        pub(crate) mod binary_op {
            $( #[derive(Clone, Copy, Debug)] pub(crate) struct $Op; )*
        }

        $(
            impl<T: $Trait> Binary<T> for binary_op::$Op {
                type Out = out_type!($returns T);

                #[inline(always)]
                fn apply<A: Arch>(x: T, y: T) -> Self::Out {
                    $Trait::$function::<A>(x, y)
                }

                $(
                    const HARD: Hard = Hard::$Hard;

                    #[inline(always)]
                    fn is_hard(x: T, y: T, result: Self::Out) -> bool {
                        $Trait::$is_hard(x, y, result)
                    }

                    #[inline(always)]
                    fn redo<B: Arch>(x: T, y: T) -> Self::Out {
                        $Trait::$redo::<B>(x, y)
                    }
                )?

                $(
                    #[inline(always)]
                    fn block<B: Arch>(dst: &mut [T; BLOCK], x: &[T; BLOCK], y: &[T; BLOCK]) -> Option<bool> {
                        $Trait::$block::<B>(dst, x, y)
                    }
                )?

                $(
                    #[inline(always)]
                    fn by_number<B: Arch>(dst: &mut [T], x: &[T], y: T) -> bool {
                        $Trait::$by::<B>(dst, x, y)
                    }
                )?
            }
        )*

        /// The loops of an operation in its compute dtype.
        pub(crate) fn binary_kernel(op: BinaryOp, dtype: DType, level: Level) -> Option<BinaryKernel> {
            match op {
                $( BinaryOp::$Op => table_entry!(binary $weight $class binary_op::$Op, dtype, level), )*
            }
        }

        /// What an operation does with operands of (promoted) `dtype`, worked out once per process; `None` where it is not
        /// defined for them.
        #[inline]
        pub(crate) fn binary_loops(op: BinaryOp, dtype: DType, level: Level) -> Option<&'static Loops<BinaryKernel>> {
            static KNOWN: Known<BinaryKernel, { BinaryOp::ALL.len() }> = Known::new();
            KNOWN.loops(op as usize, dtype, level, || {
                let compute = op.compute_dtype(dtype)?;
                let kernel = binary_kernel(op, compute, level)?;
                Some(Loops { compute, kernel })
            })
        }

        /// The loops that halves have of their own, worked out once per process.
        #[inline]
        pub(crate) fn half_loops_of(op: BinaryOp, dtype: DType, level: Level) -> Option<&'static Loops<HalfLoops>> {
            static KNOWN: Known<HalfLoops, { BinaryOp::ALL.len() }> = Known::new();
            if !dtype.is_half() {
                return None;
            }
            KNOWN.loops(op as usize, dtype, level, || {
                let kernel = match op {
                    $( BinaryOp::$Op => half_entry!(binary $weight $class binary_op::$Op, dtype, level), )*
                }?;
                Some(Loops { compute: dtype, kernel })
            })
        }
    };
}

unary_ops! {
    /// `-x`; unsigned integers wrap.
    Neg "neg" signless NumberSign -> Same = Number::neg;
    /// The distance from zero.
    Abs "abs" light AnySign -> Same = Ring::abs;
    /// -1, 0 or 1; NaN of NaN.
    Sign "sign" light Number -> Same = Number::sign;
    /// `x * x`.
    Square "square" signless Number -> Same = Number::square;
    /// `x * x * x`.
    Cube "cube" signless Number -> Same = Number::cube;
    /// `1 / x`.
    Reciprocal "reciprocal" light Float -> Same = Quotient::reciprocal;
    /// `1 - x`.
    OneMinus "one_minus" signless Number -> Same = Number::one_minus;
    /// The square root.
    Sqrt "sqrt" light Float -> Same = Power::sqrt;
    /// `1 / sqrt(x)`.
    Rsqrt "rsqrt" heavy Float -> Same = Power::rsqrt;
    /// The cube root.
    Cbrt "cbrt" heavy Float -> Same = Power::cbrt_near, Rare is_beyond_cbrt cbrt with cbrt;
    /// `e` to the power `x`.
    Exp "exp" heavy Float -> Same = Exp::exp_near, Rare is_beyond_exp exp;
    /// 2 to the power `x`.
    Exp2 "exp2" heavy Float -> Same = Exp::exp2_near, Rare is_beyond_exp2 exp2;
    /// `exp(x) - 1`, accurate near zero.
    Expm1 "expm1" heavy Float -> Same = Exp::expm1_near, Rare is_beyond_expm1 expm1 with expm1;
    /// The natural logarithm.
    Log "log" heavy Float -> Same = Log::log_near, Rare is_beyond_log log with log;
    /// The logarithm to base 2.
    Log2 "log2" heavy Float -> Same = Log::log2_near, Rare is_beyond_log log2 with log2;
    /// The logarithm to base 10.
    Log10 "log10" heavy Float -> Same = Log::log10_near, Rare is_beyond_log log10 with log10;
    /// `log(1 + x)`, accurate near zero.
    Log1p "log1p" heavy Float -> Same = Log::log1p_near, Rare is_beyond_log1p log1p with log1p;
    /// The sine of an angle in radians.
    Sin "sin" heavy Float -> Same = Trig::sin, Slow is_far sin_far with sin;
    /// The cosine of an angle in radians.
    Cos "cos" heavy Float -> Same = Trig::cos, Slow is_far cos_far with cos;
    /// The tangent of an angle in radians.
    Tan "tan" heavy Float -> Same = Trig::tan, Slow is_far tan_far with tan;
    /// The angle, from -pi/2 to pi/2, of a sine.
    Asin "asin" heavy Float -> Same = InverseTrig::asin;
    /// The angle, from 0 to pi, of a cosine.
    Acos "acos" heavy Float -> Same = InverseTrig::acos;
    /// The angle, from -pi/2 to pi/2, of a tangent.
    Atan "atan" heavy Float -> Same = InverseTrig::atan with atan;
    /// The hyperbolic sine.
    Sinh "sinh" heavy Float -> Same = Hyperbolic::sinh with sinh;
    /// The hyperbolic cosine.
    Cosh "cosh" heavy Float -> Same = Hyperbolic::cosh with cosh;
    /// The hyperbolic tangent.
    Tanh "tanh" heavy Float -> Same = Hyperbolic::tanh with tanh;
    /// The inverse of `sinh`.
    Asinh "asinh" heavy Float -> Same = Hyperbolic::asinh with asinh;
    /// The inverse of `cosh`.
    Acosh "acosh" heavy Float -> Same = Hyperbolic::acosh with acosh;
    /// The inverse of `tanh`.
    Atanh "atanh" heavy Float -> Same = Hyperbolic::atanh with atanh;
    /// The error function.
    Erf "erf" heavy Float -> Same = Erf::erf with erf;
    /// `1 - erf(x)`, accurate where that is small.
    Erfc "erfc" heavy Float -> Same = Erf::erfc;
    /// Rounded down.
    Floor "floor" signless Number -> Same = Rounding::floor with floor;
    /// Rounded up.
    Ceil "ceil" signless Number -> Same = Rounding::ceil with ceil;
    /// Rounded to the nearest whole number, halves to even.
    Round "round" signless Number -> Same = Rounding::round with round;
    /// Rounded towards zero.
    Trunc "trunc" signless Number -> Same = Rounding::trunc with trunc;
    /// `1 / (1 + exp(-x))`.
    Sigmoid "sigmoid" heavy Float -> Same = Activation::sigmoid_near, Rare is_beyond_logistic sigmoid_beyond with sigmoid;
    /// `log(sigmoid(x))`.
    LogSigmoid "log_sigmoid" heavy Float -> Same = Activation::log_sigmoid_near, Rare is_beyond_logistic log_sigmoid_beyond;
    /// `log(1 + exp(x))`.
    Softplus "softplus" heavy Float -> Same = Activation::softplus_near, Rare is_beyond_logistic softplus_beyond;
    /// `x / (1 + |x|)`.
    Softsign "softsign" heavy Float -> Same = Activation::softsign;
    /// `max(x, 0)`.
    Relu "relu" light Number -> Same = Rectify::relu;
    /// `min(max(x, 0), 6)`.
    Relu6 "relu6" light Number -> Same = Rectify::relu6;
    /// `x` where positive, else `0.01 x`.
    LeakyRelu "leaky_relu" heavy Float -> Same = Activation::leaky_relu;
    /// `x` where positive, else `exp(x) - 1`.
    Elu "elu" heavy Float -> Same = Activation::elu with elu;
    /// The scaled `elu` that keeps mean 0 and variance 1.
    Selu "selu" heavy Float -> Same = Activation::selu with selu;
    /// `x` times the normal distribution function of `x` (the exact form, by `erf`).
    Gelu "gelu" heavy Float -> Same = Activation::gelu with gelu;
    /// `x * sigmoid(x)`.
    Swish "swish" heavy Float -> Same = Activation::swish_near, Rare is_beyond_logistic swish_beyond with swish;
    /// `x * tanh(softplus(x))`.
    Mish "mish" heavy Float -> Same = Activation::mish_near, Rare is_beyond_logistic swish_beyond;
    /// `min(max(0.2 x + 0.5, 0), 1)`.
    HardSigmoid "hard_sigmoid" heavy Float -> Same = Activation::hard_sigmoid;
    /// `min(max(x, -1), 1)`.
    HardTanh "hard_tanh" light Float -> Same = Rectify::hard_tanh;
    /// `max(tanh(x), 0)`.
    RectifiedTanh "rectified_tanh" heavy Float -> Same = Activation::rectified_tanh;
    /// LeCun's rational approximation of `1.7159 tanh(2 x / 3)`.
    RationalTanh "rational_tanh" heavy Float -> Same = Activation::rational_tanh;
    /// 1 where `x > 0`, else 0.
    Step "step" light Number -> Same = Rectify::step;
    /// True where `x` is not a number.
    IsNan "is_nan" test Any -> Truth = Compare::is_nan;
    /// True where `x` is plus or minus infinity.
    IsInf "is_inf" test Any -> Truth = Classify::is_inf;
    /// True where `x` is neither infinite nor NaN.
    IsFinite "is_finite" test Any -> Truth = Classify::is_finite;
    /// True where `x` is zero or false.
    Not "not" test Any -> Truth = Compare::not;
    /// Every bit turned; of `bool` the logical "not".
    BitNot "bit_not" signless Bits -> Same = Bits::bit_not;
}

binary_ops! {
    /// `x + y`; integers wrap, of `bool` it is "or".
    Add "add" signless Any -> Same = Ring::add;
    /// `x - y`.
    Sub "sub" signless Number -> Same = Number::sub;
    /// `x * y`; integers wrap, of `bool` it is "and".
    Mul "mul" signless Any -> Same = Ring::mul;
    /// `x / y`, the true quotient: of integers it is f64.
    Div "div" light Float -> Same = Quotient::div;
    /// `y - x`.
    RSub "rsub" signless Number -> Same = Number::rsub;
    /// `y / x`.
    RDiv "rdiv" light Float -> Same = Quotient::rdiv;
    /// `x / y` rounded down; 0 where an integer `y` is 0.
    FloorDiv "floor_div" division Number -> Same = Number::floor_div, Slow is_beyond_division floor_div_far by floor_div_by;
    /// What `floor_div` leaves, with the sign of `y`; 0 where an integer `y` is 0.
    Mod "mod" division Number -> Same = Number::modulo, Slow is_beyond_division modulo_far by modulo_by;
    /// What division rounded towards zero leaves, with the sign of `x`; 0 where an integer `y` is 0.
    FMod "fmod" division Number -> Same = Number::fmod, Slow is_beyond_division fmod_far by fmod_by;
    /// What division rounded to the nearest (ties to even) leaves: the remainder of IEEE 754.
    Remainder "remainder" heavy Float -> Same = Division::ieee_remainder_near, Slow is_beyond_division ieee_remainder_far;
    /// `x` to the power `y`; integers wrap, and negative powers of integers round towards zero.
    Pow "pow" heavy Number -> Same = Number::pow, Rare is_beyond_pow pow_any with pow_block;
    /// The larger; NaN where either is NaN.
    Max "max" light Any -> Same = Ring::max;
    /// The smaller; NaN where either is NaN.
    Min "min" light Any -> Same = Ring::min;
    /// The larger distance from zero.
    AbsMax "abs_max" heavy Number -> Same = Number::abs_max;
    /// The smaller distance from zero.
    AbsMin "abs_min" heavy Number -> Same = Number::abs_min;
    /// The angle of the point with ordinate `x` and abscissa `y`, from -pi to pi.
    Atan2 "atan2" heavy Float -> Same = InverseTrig::atan2_near, Slow is_beyond_atan2 atan2_far with atan2_block;
    /// `sqrt(x * x + y * y)`, without overflow on the way.
    Hypot "hypot" heavy Float -> Same = Power::hypot_near, Slow is_beyond_hypot hypot_far;
    /// `log(exp(x) + exp(y))`, without overflow on the way.
    LogAddExp "log_add_exp" heavy Float -> Same = Log::log_add_exp;
    /// `(x - y) * (x - y)`.
    SquaredDifference "squared_difference" signless Number -> Same = Number::squared_difference;
    /// True where `x == y`; NaN equals nothing.
    Eq "eq" signless_truth Any -> Truth = Compare::eq;
    /// True where `x != y`.
    Ne "ne" signless_truth Any -> Truth = Compare::ne;
    /// True where `x < y`.
    Lt "lt" truth Any -> Truth = Compare::lt;
    /// True where `x <= y`.
    Le "le" truth Any -> Truth = Compare::le;
    /// True where `x > y`.
    Gt "gt" truth Any -> Truth = Compare::gt;
    /// True where `x >= y`.
    Ge "ge" truth Any -> Truth = Compare::ge;
    /// True where both are true (not zero).
    And "and" signless_truth Any -> Truth = Compare::and;
    /// True where either is true (not zero).
    Or "or" signless_truth Any -> Truth = Compare::or;
    /// True where exactly one is true (not zero).
    Xor "xor" signless_truth Any -> Truth = Compare::xor;
    /// The bits both have.
    BitAnd "bit_and" signless Bits -> Same = Bits::bit_and;
    /// The bits either has.
    BitOr "bit_or" signless Bits -> Same = Bits::bit_or;
    /// The bits exactly one has.
    BitXor "bit_xor" signless Bits -> Same = Bits::bit_xor;
    /// The bits of `x` moved up `y` places; 0 where `y` is the width or more.
    ShiftLeft "shift_left" light Integer -> Same = Shift::shift_left;
    /// The bits of `x` moved down `y` places, keeping the sign.
    ShiftRight "shift_right" light Integer -> Same = Shift::shift_right;
}
