//! Element conversions and the four types that folds, scans and segment sums compute in.
//!
//! Elementwise operations do not use these traits: their scalar functions live in `scalar`. Here an element is first
//! converted to a [`Compute`] type (`f32`, `f64`, `i64` or `u64`), worked on, and converted back on store.

use half::{bf16, f16};
use lodestride_buffer::{Bool, DType, Element};

use crate::inner;
use crate::isa::{Arch, Level, Task, task_baseline};
use crate::scalar::cast::Cast;
use crate::scalar::exp::Exp;

/// An element of any dtype that converts to and from every [`Compute`] type.
///
/// Integers wrap when narrowed, as C casts do; a float goes to the nearest 64-bit integer first.
pub(crate) trait Numeric: Element {
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn to_i64(self) -> i64;
    fn to_u64(self) -> u64;
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;
    fn from_i64(value: i64) -> Self;
    fn from_u64(value: u64) -> Self;

    /// `out[i] = run[i].to_f32()`, of runs of one length.
    #[inline(always)]
    fn run_to_f32<A: Arch>(run: &[Self], out: &mut [f32]) {
        each(run, out, Self::to_f32);
    }
    /// `out[i] = Self::from_f32(run[i])`, of runs of one length.
    #[inline(always)]
    fn run_from_f32<A: Arch>(run: &[f32], out: &mut [Self]) {
        each(run, out, Self::from_f32);
    }
    /// The same of f64.
    #[inline(always)]
    fn run_from_f64<A: Arch>(run: &[f64], out: &mut [Self]) {
        each(run, out, Self::from_f64);
    }
}

/// `out[i] = convert(run[i])`.
#[inline(always)]
fn each<S: Copy, D>(run: &[S], out: &mut [D], convert: impl Fn(S) -> D) {
    for (to, &from) in out.iter_mut().zip(run) {
        *to = convert(from);
    }
}

macro_rules! numeric_primitive {
    ($($t:ty),*) => {$(
        impl Numeric for $t {
            #[inline(always)]
            fn to_f32(self) -> f32 { self as f32 }
            #[inline(always)]
            fn to_f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn to_i64(self) -> i64 { self as i64 }
            #[inline(always)]
            fn to_u64(self) -> u64 { self as u64 }
            #[inline(always)]
            fn from_f32(value: f32) -> Self { value as $t }
            #[inline(always)]
            fn from_f64(value: f64) -> Self { value as $t }
            #[inline(always)]
            fn from_i64(value: i64) -> Self { value as $t }
            #[inline(always)]
            fn from_u64(value: u64) -> Self { value as $t }
        }
    )*};
}
numeric_primitive!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

macro_rules! numeric_half {
    ($($t:ty),*) => {$(
        impl Numeric for $t {
            #[inline(always)]
            fn to_f32(self) -> f32 { Cast::<f32>::cast(self) }
            #[inline(always)]
            fn to_f64(self) -> f64 { Cast::<f64>::cast(self) }
            #[inline(always)]
            fn to_i64(self) -> i64 { Cast::<f32>::cast(self) as i64 }
            #[inline(always)]
            fn to_u64(self) -> u64 { Cast::<f32>::cast(self) as u64 }
            #[inline(always)]
            fn from_f32(value: f32) -> Self { value.cast() }
            #[inline(always)]
            fn from_f64(value: f64) -> Self { value.cast() }
            #[inline(always)]
            fn from_i64(value: i64) -> Self { (value as f64).cast() }
            #[inline(always)]
            fn from_u64(value: u64) -> Self { (value as f64).cast() }
            #[inline(always)]
            fn run_to_f32<A: Arch>(run: &[Self], out: &mut [f32]) { inner::cast::<_, _, A>(out, run) }
            #[inline(always)]
            fn run_from_f32<A: Arch>(run: &[f32], out: &mut [Self]) { inner::cast::<_, _, A>(out, run) }
            #[inline(always)]
            fn run_from_f64<A: Arch>(run: &[f64], out: &mut [Self]) { inner::cast::<_, _, A>(out, run) }
        }
    )*};
}
numeric_half!(f16, bf16);

impl Numeric for Bool {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from(u8::from(bool::from(self)))
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(bool::from(self)))
    }
    #[inline(always)]
    fn to_i64(self) -> i64 {
        i64::from(bool::from(self))
    }
    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(bool::from(self))
    }
    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        Self::from(value != 0.0)
    }
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self::from(value != 0.0)
    }
    #[inline(always)]
    fn from_i64(value: i64) -> Self {
        Self::from(value != 0)
    }
    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        Self::from(value != 0)
    }
}

/// A type that folds work in: `f32`, `f64`, `i64`, `u64`. Integer arithmetic wraps.
pub(crate) trait Compute: Numeric {
    const ZERO: Self;
    const ONE: Self;
    /// Whether loops are compiled for every instruction set: floats. Integers keep to the baseline, which bounds the time
    /// and size of the build.
    const VECTOR: bool;
    /// Which of the four this is.
    const KIND: ComputeKind;
    /// Whether it is an integer: sums and products in any order are the same.
    const IS_WHOLE: bool = matches!(Self::KIND, ComputeKind::I64 | ComputeKind::U64);
    /// The identity of `max`: no value is below it.
    const LOWEST: Self;
    /// The identity of `min`: no value is above it.
    const HIGHEST: Self;
    fn load<T: Numeric>(value: T) -> Self;
    fn store<T: Numeric>(self) -> T;
    /// `out[i] = Self::load(run[i])`, of runs of one length.
    #[inline(always)]
    fn load_all<T: Numeric, A: Arch>(run: &[T], out: &mut [Self]) {
        each(run, out, Self::load);
    }
    /// `out[i] = run[i].store()`, of runs of one length.
    #[inline(always)]
    fn store_all<T: Numeric, A: Arch>(run: &[Self], out: &mut [T]) {
        each(run, out, Self::store);
    }
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
    /// The larger value; NaN if either is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // `|`, not `||`: a branch would keep loops from vectorising.
        if (other > self) | other.is_nan() {
            other
        } else {
            self
        }
    }
    /// The smaller value; NaN if either is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if (other < self) | other.is_nan() {
            other
        } else {
            self
        }
    }
}

macro_rules! compute_float {
    ($($t:ty, $kind:ident, $load:ident, $store:ident, { $($runs:item)* });*) => {$(
        impl Compute for $t {
            const KIND: ComputeKind = ComputeKind::$kind;
            const VECTOR: bool = true;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = <$t>::NEG_INFINITY;
            const HIGHEST: Self = <$t>::INFINITY;
            #[inline(always)]
            fn load<T: Numeric>(value: T) -> Self { value.$load() }
            #[inline(always)]
            fn store<T: Numeric>(self) -> T { T::$store(self) }
            $($runs)*
            #[inline(always)]
            fn add(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn is_nan(self) -> bool { <$t>::is_nan(self) }
        }
    )*};
}
compute_float!(
    f32, F32, to_f32, from_f32, {
        #[inline(always)]
        fn load_all<T: Numeric, A: Arch>(run: &[T], out: &mut [f32]) { T::run_to_f32::<A>(run, out) }
        #[inline(always)]
        fn store_all<T: Numeric, A: Arch>(run: &[f32], out: &mut [T]) { T::run_from_f32::<A>(run, out) }
    };
    f64, F64, to_f64, from_f64, {
        #[inline(always)]
        fn store_all<T: Numeric, A: Arch>(run: &[f64], out: &mut [T]) { T::run_from_f64::<A>(run, out) }
    }
);

macro_rules! compute_integer {
    ($($t:ty, $kind:ident, $load:ident, $store:ident);*) => {$(
        impl Compute for $t {
            const KIND: ComputeKind = ComputeKind::$kind;
            const VECTOR: bool = false;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = <$t>::MIN;
            const HIGHEST: Self = <$t>::MAX;
            #[inline(always)]
            fn load<T: Numeric>(value: T) -> Self { value.$load() }
            #[inline(always)]
            fn store<T: Numeric>(self) -> T { T::$store(self) }
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn is_nan(self) -> bool { false }
            #[inline(always)]
            fn larger(self, other: Self) -> Self { self.max(other) }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self { self.min(other) }
        }
    )*};
}
compute_integer!(i64, I64, to_i64, from_i64; u64, U64, to_u64, from_u64);

/// Runs a loop over values of type `C`: under an instruction set, or for integers as plain code.
#[inline]
pub(crate) fn run_for<C: Compute, T: Task>(level: Level, task: T) -> T::Output {
    if const { C::VECTOR } {
        level.run(task)
    } else {
        task_baseline(task)
    }
}

/// [`run_for`] of a loop that memory bounds: a copy of its code for AVX-512 would gain nothing.
#[inline]
pub(crate) fn run_narrow_for<C: Compute, T: Task>(level: Level, task: T) -> T::Output {
    if const { C::VECTOR } {
        level.run_narrow(task)
    } else {
        task_baseline(task)
    }
}

/// Runs a fold of values of type `C`: integers stop at AVX2, which bounds the time and size of the build.
#[inline]
pub(crate) fn run_fold<C: Compute, T: Task>(task: T) -> T::Output {
    if const { C::VECTOR } {
        Level::current().run(task)
    } else {
        Level::current().run_narrow(task)
    }
}

/// Floating-point compute types: `f32` and `f64`.
pub(crate) trait ComputeFloat: Compute {
    fn sub(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn exponential<A: Arch>(self) -> Self;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! compute_float_more {
    ($($t:ty),*) => {$(
        impl ComputeFloat for $t {
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn div(self, other: Self) -> Self { self / other }
            #[inline(always)]
            fn exponential<A: Arch>(self) -> Self { Exp::exp::<A>(self) }
            #[inline(always)]
            fn of(value: f64) -> Self { value as $t }
            #[inline(always)]
            fn wide(self) -> f64 { self as f64 }
        }
    )*};
}
compute_float_more!(f32, f64);

/// Which [`Compute`] type holds a dtype's values: exactly for every dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComputeKind {
    F32,
    F64,
    I64,
    U64,
}

impl ComputeKind {
    /// The type as a dtype.
    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
            Self::I64 => DType::I64,
            Self::U64 => DType::U64,
        }
    }

    /// The exact compute type of a dtype: half floats go to `f32`, bool and unsigned integers to `u64`.
    pub(crate) const fn exact(dtype: DType) -> Self {
        match dtype {
            DType::F16 | DType::BF16 | DType::F32 => Self::F32,
            DType::F64 => Self::F64,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Self::I64,
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => Self::U64,
        }
    }

    /// The floating compute type of a dtype: integers and bool go to `f64`, as NumPy's `mean` does.
    pub(crate) fn float(dtype: DType) -> Self {
        match Self::exact(dtype) {
            Self::F32 => Self::F32,
            _ => Self::F64,
        }
    }
}
