//! What bytes mean: the thirteen element types, their promotion rules and the process default.
//! Typed host values and weak scalars are in `scalar.rs`.
#![expect(
    unsafe_code,
    reason = "`Element` is an unsafe trait: its implementations promise that any bytes are a value"
)]

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use crate::scalar::{Cast, Scalar, ScalarKind};

/// Calls a macro with the one list of dtypes: `for_each_dtype!(my_macro!(extra tokens))` expands to
/// `my_macro! { (extra tokens) [(Bool, Bool, "bool"), (U8, u8, "u8"), ..] }`, each entry a variant of
/// [`DType`](crate::DType), its element type as a path, and its name.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_dtype {
    ($($callback:ident)::+ ! ($($extra:tt)*)) => {
        $($callback)::+! {
            ($($extra)*)
            [
                (Bool, $crate::Bool, "bool"),
                (U8, u8, "u8"),
                (I8, i8, "i8"),
                (U16, u16, "u16"),
                (I16, i16, "i16"),
                (U32, u32, "u32"),
                (I32, i32, "i32"),
                (U64, u64, "u64"),
                (I64, i64, "i64"),
                (F16, $crate::f16, "f16"),
                (BF16, $crate::bf16, "bf16"),
                (F32, f32, "f32"),
                (F64, f64, "f64"),
            ]
        }
    };
}

/// Runs an expression with a type alias bound to the element type of a run-time dtype.
///
/// ```
/// use lodestride_buffer::{with_dtype, DType};
/// let size = with_dtype!(DType::F64, T => std::mem::size_of::<T>());
/// assert_eq!(size, 8);
/// ```
#[macro_export]
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::for_each_dtype!($crate::match_dtype!($dtype, $T => $body))
    };
}

/// [`with_dtype!`](crate::with_dtype) for integers, with another expression for every other dtype.
///
/// ```
/// use lodestride_buffer::{with_integer, DType};
/// let bits = |dtype| with_integer!(dtype, T => T::BITS, else 0);
/// assert_eq!([DType::I16, DType::F64, DType::Bool].map(bits), [16, 0, 0]);
/// ```
#[macro_export]
macro_rules! with_integer {
    ($dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::with_integer!(@match $dtype, $T => $body, else $other,
            U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64)
    };
    (@match $dtype:expr, $T:ident => $body:expr, else $other:expr, $($variant:ident $type:ty),*) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $type;
                $body
            })*
            _ => $other,
        }
    };
}

/// The match behind [`with_dtype!`](crate::with_dtype).
#[doc(hidden)]
#[macro_export]
macro_rules! match_dtype {
    (($dtype:expr, $T:ident => $body:expr) [$(($variant:ident, $type:ty, $name:literal),)*]) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $type;
                $body
            })*
        }
    };
}

macro_rules! define_dtype {
    (() [$(($variant:ident, $type:ty, $name:literal),)*]) => {
        /// The type of an array's elements, known at run time.
        ///
        /// ```
        /// use lodestride_buffer::DType;
        /// assert_eq!("f32".parse(), Ok(DType::F32));
        /// assert_eq!(DType::I32.promote(DType::F32), DType::F64);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DType {
            $(#[doc = concat!("Elements are `", stringify!($type), "`.")] $variant,)*
        }

        impl DType {
            /// Every dtype, in the order of the list.
            pub const ALL: [DType; 13] = [$(DType::$variant),*];

            /// The dtype's short name, as `Display` writes it and `FromStr` reads it.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }

            /// Bytes per element.
            #[inline]
            pub const fn size(self) -> usize {
                // A load: of a `match` the compiler makes a jump for each use.
                const SIZES: &[usize] = &[$(size_of::<$type>()),*];
                SIZES[self as usize]
            }
        }

        $(
            impl Sealed for $type {}
            // SAFETY: the type is `repr(transparent)` over, or is, a primitive integer or float: it has no padding, no
            // invalid bit pattern and no drop glue; `DTYPE` is the variant that the list pairs with it.
            unsafe impl Element for $type {
                const DTYPE: DType = DType::$variant;
                #[inline]
                fn from_scalar(scalar: Scalar) -> Self { <Self as Cast>::cast_from(scalar) }
                #[inline]
                fn to_scalar(self) -> Scalar { <Self as Cast>::cast_to(self) }
            }
        )*
    };
}

mod private {
    /// Keeps [`Element`](super::Element) to the types of the list.
    pub trait Sealed {}
}
use private::Sealed;

/// An element type: plain bytes with a meaning.
///
/// # Safety
/// Implementers promise that every bit pattern of the right length is a value, that the type has no padding and no drop
/// glue, and that `DTYPE` names it. In return a buffer's bytes may be seen as a slice of it at any time. The trait is
/// sealed; the thirteen implementations are made by one list.
pub unsafe trait Element:
    Sealed + Copy + Default + PartialEq + PartialOrd + fmt::Debug + Send + Sync + 'static
{
    /// The run-time name of this type.
    const DTYPE: DType;
    /// Converts a weak scalar as NumPy's `astype` would: see [`Scalar::cast`].
    fn from_scalar(scalar: Scalar) -> Self;
    /// The value as a weak scalar of its kind.
    fn to_scalar(self) -> Scalar;
}

/// An element of dtype bool: one byte, true unless zero.
///
/// A Rust `bool` may only hold 0 or 1, but array memory must accept any byte, so the element has a type of its own.
///
/// ```
/// use lodestride_buffer::Bool;
/// assert!(bool::from(Bool::from(true)));
/// ```
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    /// The element that is written for `true`.
    pub const TRUE: Bool = Bool(1);
    /// The element that is written for `false`.
    pub const FALSE: Bool = Bool(0);

    /// Whether the byte is not zero.
    #[inline]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    #[inline]
    fn from(value: bool) -> Self {
        Bool(u8::from(value))
    }
}

impl From<Bool> for bool {
    #[inline]
    fn from(value: Bool) -> Self {
        value.get()
    }
}

impl fmt::Debug for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

impl fmt::Display for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.get(), f)
    }
}

impl PartialEq for Bool {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Bool {}

impl PartialOrd for Bool {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bool {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.get().cmp(&other.get())
    }
}

impl std::hash::Hash for Bool {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

for_each_dtype!(define_dtype!());

/// How a dtype takes part in promotion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Bool,
    Unsigned,
    Signed,
    Float,
}

impl DType {
    #[inline]
    const fn family(self) -> Family {
        match self {
            DType::Bool => Family::Bool,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => Family::Unsigned,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Family::Signed,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Family::Float,
        }
    }

    /// True for f16, bf16, f32 and f64.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.family(), Family::Float)
    }

    /// True for the floats of 16 bits, f16 and bf16, which most operations compute in f32.
    #[inline]
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// True for the eight integer dtypes; bool is not one of them.
    #[inline]
    pub const fn is_integer(self) -> bool {
        matches!(self.family(), Family::Signed | Family::Unsigned)
    }

    /// True for dtypes with negative values: signed integers and floats.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self.family(), Family::Signed | Family::Float)
    }

    /// The weak kind of this dtype's values.
    #[inline]
    pub const fn kind(self) -> ScalarKind {
        match self.family() {
            Family::Bool => ScalarKind::Bool,
            Family::Unsigned | Family::Signed => ScalarKind::Int,
            Family::Float => ScalarKind::Float,
        }
    }

    /// The dtype of a result computed from arrays of the two dtypes: NumPy 2's table.
    ///
    /// bfloat16, which NumPy lacks, behaves as an 8-bit-mantissa float: with 8-bit integers it stays, with 16-bit ones
    /// it becomes f32, with wider ones f64; with f16 it becomes f32.
    ///
    /// ```
    /// use lodestride_buffer::DType::*;
    /// assert_eq!(U8.promote(I8), I16);
    /// assert_eq!(U64.promote(I8), F64);
    /// assert_eq!(F16.promote(BF16), F32);
    /// ```
    #[inline]
    pub const fn promote(self, other: DType) -> DType {
        if self as u8 == other as u8 {
            return self;
        }
        self.promote_another(other)
    }

    /// [`DType::promote`] of two different dtypes.
    const fn promote_another(self, other: DType) -> DType {
        let (a, b) = if self.rank() <= other.rank() {
            (self, other)
        } else {
            (other, self)
        };
        match (a.family(), b.family()) {
            (Family::Bool, _) => b,
            (Family::Float, Family::Float) if b.size() == 2 => DType::F32,
            (Family::Float, Family::Float) => b,
            (Family::Unsigned, Family::Signed) if a.size() < b.size() => b,
            (Family::Unsigned, Family::Signed) => match a.size() {
                1 => DType::I16,
                2 => DType::I32,
                4 => DType::I64,
                _ => DType::F64,
            },
            // An integer fits a float of twice its size; 32 bits and more need f64.
            (_, Family::Float) => match a.size() {
                1 => b,
                2 if b.size() <= 4 => DType::F32,
                _ => DType::F64,
            },
            _ => b,
        }
    }

    /// Position in the order that `promote` folds over: families, then sizes.
    const fn rank(self) -> usize {
        let family = match self.family() {
            Family::Bool => 0,
            Family::Unsigned => 1,
            Family::Signed => 2,
            Family::Float => 3,
        };
        family * 16 + self.size()
    }

    /// The dtype of a result computed from an array of this dtype and a literal: literals are weak, they raise the kind
    /// (bool, integer, float) but never the width inside a kind.
    ///
    /// ```
    /// use lodestride_buffer::{DType, ScalarKind};
    /// assert_eq!(DType::F32.promote_scalar(ScalarKind::Float), DType::F32);
    /// assert_eq!(DType::I32.promote_scalar(ScalarKind::Float), DType::F64);
    /// assert_eq!(DType::Bool.promote_scalar(ScalarKind::Int), DType::I64);
    /// ```
    #[inline]
    pub const fn promote_scalar(self, kind: ScalarKind) -> DType {
        match (self.kind(), kind) {
            (ScalarKind::Bool, ScalarKind::Int) => DType::I64,
            (ScalarKind::Bool | ScalarKind::Int, ScalarKind::Float) => DType::F64,
            _ => self,
        }
    }

    /// The dtype that creation functions use when none is named: the innermost [`with_default_dtype`], else the
    /// environment variable `LODESTRIDE_DTYPE` (`f32`, `f64`, `f16` or `bf16`, read once; other values are ignored),
    /// else f32.
    #[expect(
        clippy::should_implement_trait,
        reason = "a scoped setting, not the constant that `Default` suggests"
    )]
    pub fn default() -> DType {
        SCOPED_DEFAULT.get().unwrap_or_else(process_default)
    }
}

thread_local! {
    static SCOPED_DEFAULT: Cell<Option<DType>> = const { Cell::new(None) };
}

fn process_default() -> DType {
    static PROCESS: OnceLock<DType> = OnceLock::new();
    *PROCESS.get_or_init(|| {
        std::env::var("LODESTRIDE_DTYPE")
            .ok()
            .and_then(|name| name.parse().ok())
            .filter(|dtype: &DType| dtype.is_float())
            .unwrap_or(DType::F32)
    })
}

/// Runs a function with another default dtype on this thread; restored afterwards, also on panic.
///
/// ```
/// use lodestride_buffer::{with_default_dtype, DType};
/// let inside = with_default_dtype(DType::F64, DType::default);
/// assert_eq!(inside, DType::F64);
/// ```
pub fn with_default_dtype<R>(dtype: DType, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<DType>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SCOPED_DEFAULT.set(self.0);
        }
    }
    let _restore = Restore(SCOPED_DEFAULT.replace(Some(dtype)));
    body()
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not one of the thirteen dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownDType;

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a dtype name; the names are:")?;
        for dtype in DType::ALL {
            write!(f, " {dtype}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownDType {}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        DType::ALL
            .into_iter()
            .find(|dtype| dtype.name() == name)
            .ok_or(UnknownDType)
    }
}

#[cfg(test)]
mod tests {
    use super::DType::{Bool, *};
    use super::*;
    use half::{bf16, f16};

    /// NumPy 2's `np.result_type`, rows and columns in the order of `DType::ALL`; the bf16 row follows ml_dtypes.
    #[rustfmt::skip]
    const TABLE: [[DType; 13]; 13] = [
        [Bool, U8,  I8,  U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64],
        [U8,   U8,  I16, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64],
        [I8,   I16, I8,  I32, I16, I64, I32, F64, I64, F16, BF16, F32, F64],
        [U16,  U16, I32, U16, I32, U32, I32, U64, I64, F32, F32,  F32, F64],
        [I16,  I16, I16, I32, I16, I64, I32, F64, I64, F32, F32,  F32, F64],
        [U32,  U32, I64, U32, I64, U32, I64, U64, I64, F64, F64,  F64, F64],
        [I32,  I32, I32, I32, I32, I64, I32, F64, I64, F64, F64,  F64, F64],
        [U64,  U64, F64, U64, F64, U64, F64, U64, F64, F64, F64,  F64, F64],
        [I64,  I64, I64, I64, I64, I64, I64, F64, I64, F64, F64,  F64, F64],
        [F16,  F16, F16, F32, F32, F64, F64, F64, F64, F16, F32,  F32, F64],
        [BF16, BF16,BF16,F32, F32, F64, F64, F64, F64, F32, BF16, F32, F64],
        [F32,  F32, F32, F32, F32, F64, F64, F64, F64, F32, F32,  F32, F64],
        [F64;  13],
    ];

    #[test]
    fn promotion_is_numpy_2s_table() {
        let mut failures = Vec::new();
        for (a, row) in DType::ALL.into_iter().zip(TABLE) {
            for (b, expected) in DType::ALL.into_iter().zip(row) {
                if a.promote(b) != expected {
                    failures.push((a, b, expected, a.promote(b)));
                }
            }
        }
        assert_eq!(failures, [], "(a, b, expected, found)");
    }

    #[test]
    fn weak_scalars_raise_the_kind_and_never_the_width() {
        for dtype in DType::ALL {
            for kind in [ScalarKind::Bool, ScalarKind::Int, ScalarKind::Float] {
                let expected = match kind {
                    _ if kind <= dtype.kind() => dtype,
                    ScalarKind::Float => F64,
                    _ => I64,
                };
                assert_eq!(
                    dtype.promote_scalar(kind),
                    expected,
                    "{dtype} with {kind:?}"
                );
            }
        }
    }

    #[test]
    fn names_sizes_and_types_agree() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(dtype.to_string(), dtype.name());
            let (size, named) = with_dtype!(dtype, T => (size_of::<T>(), T::DTYPE));
            assert_eq!((size, named), (dtype.size(), dtype));
        }
        assert_eq!("float".parse::<DType>(), Err(UnknownDType));
        assert!(UnknownDType.to_string().ends_with(" f16 bf16 f32 f64"));
    }

    #[test]
    fn casts_wrap_integers_and_saturate_floats() {
        assert_eq!(Scalar::Int(300).cast::<u8>(), 44);
        assert_eq!(Scalar::Int(-1).cast::<u64>(), u64::MAX);
        assert_eq!(Scalar::Float(-3.7).cast::<i8>(), -3);
        assert_eq!(Scalar::Float(1e30).cast::<i32>(), i32::MAX);
        assert_eq!(Scalar::Float(f64::NAN).cast::<i64>(), 0);
        assert_eq!(
            Scalar::Float(f64::NAN).cast::<super::Bool>(),
            super::Bool::TRUE
        );
        assert_eq!(Scalar::Bool(true).cast::<f16>(), f16::ONE);
        assert_eq!(
            Scalar::UInt(u64::MAX).cast::<f32>(),
            18_446_744_073_709_551_616.0
        );
        assert_eq!(Scalar::from(bf16::from_f32(1.5)), Scalar::Float(1.5));
        assert_eq!(Scalar::from(usize::MAX), Scalar::UInt(u64::MAX));
        assert_eq!(Scalar::from(7_usize), Scalar::Int(7));
    }

    #[test]
    fn any_byte_is_a_bool() {
        let two = super::Bool(2);
        assert_eq!(two, super::Bool::TRUE);
        assert!(two > super::Bool::FALSE && two.get());
        assert_eq!(format!("{two:?} {two}"), "true true");
    }

    #[test]
    fn the_scoped_default_is_restored_after_a_panic() {
        let before = DType::default();
        let panic = std::panic::catch_unwind(|| with_default_dtype(BF16, || panic!("on purpose")));
        assert!(panic.is_err());
        assert_eq!(DType::default(), before);
    }
}
