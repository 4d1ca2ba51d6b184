//! Typed values on the host side: weak scalars and the types a user may put into an array.
//! The element types themselves are in `dtype.rs`.

use std::fmt;

use crate::dtype::{Bool, Element};
use half::{bf16, f16};

/// The kind of a weak scalar; kinds are ordered, widths do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarKind {
    /// `true` or `false`.
    Bool,
    /// Any integer.
    Int,
    /// Any float.
    Float,
}

/// A literal in an expression: it takes the dtype of the array it meets.
///
/// ```
/// use lodestride_buffer::{Scalar, ScalarKind};
/// let scalar = Scalar::from(3);
/// assert_eq!(scalar.kind(), ScalarKind::Int);
/// assert_eq!(scalar.cast::<f32>(), 3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer that fits `i64`.
    Int(i64),
    /// An integer that came as `u64`.
    UInt(u64),
    /// A float.
    Float(f64),
}

impl Scalar {
    /// The kind that takes part in promotion.
    #[inline]
    pub const fn kind(self) -> ScalarKind {
        match self {
            Scalar::Bool(_) => ScalarKind::Bool,
            Scalar::Int(_) | Scalar::UInt(_) => ScalarKind::Int,
            Scalar::Float(_) => ScalarKind::Float,
        }
    }

    /// The value as f64; integers above 2^53 are rounded.
    #[inline]
    pub const fn as_f64(self) -> f64 {
        match self {
            Scalar::Bool(value) => value as u8 as f64,
            Scalar::Int(value) => value as f64,
            Scalar::UInt(value) => value as f64,
            Scalar::Float(value) => value,
        }
    }

    /// The value as i64: floats are truncated and saturate (NaN is 0), unsigned values wrap.
    #[inline]
    pub const fn as_i64(self) -> i64 {
        match self {
            Scalar::Bool(value) => value as i64,
            Scalar::Int(value) => value,
            Scalar::UInt(value) => value as i64,
            Scalar::Float(value) => value as i64,
        }
    }

    /// Whether the value is not zero; NaN is true.
    #[inline]
    pub const fn as_bool(self) -> bool {
        match self {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::UInt(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
        }
    }

    /// Converts to an element type: integers wrap, floats are truncated towards zero and saturate, NaN becomes 0, and
    /// anything but zero is true.
    #[inline]
    pub fn cast<T: Element>(self) -> T {
        T::from_scalar(self)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(value) => value.fmt(f),
            Scalar::Int(value) => value.fmt(f),
            Scalar::UInt(value) => value.fmt(f),
            Scalar::Float(value) => fmt::Debug::fmt(value, f),
        }
    }
}

impl From<bool> for Scalar {
    #[inline]
    fn from(value: bool) -> Self {
        Scalar::Bool(value)
    }
}

macro_rules! scalar_from_elements {
    ($($type:ty),*) => {$(
        impl From<$type> for Scalar {
            #[inline]
            fn from(value: $type) -> Self {
                value.to_scalar()
            }
        }
    )*};
}
scalar_from_elements!(
    Bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64
);

impl From<usize> for Scalar {
    #[inline]
    fn from(value: usize) -> Self {
        i64::try_from(value).map_or(Scalar::UInt(value as u64), Scalar::Int)
    }
}

impl From<isize> for Scalar {
    #[inline]
    fn from(value: isize) -> Self {
        Scalar::Int(value as i64)
    }
}

/// A type users hold values in: every [`Element`], and `bool`, whose element is [`Bool`].
///
/// ```
/// use lodestride_buffer::{Bool, DType, Element, HostType};
/// assert_eq!(<bool as HostType>::Element::DTYPE, DType::Bool);
/// assert_eq!(true.into_element(), Bool::TRUE);
/// ```
pub trait HostType: Copy {
    /// What is stored for it.
    type Element: Element;
    /// The stored form of a value.
    fn into_element(self) -> Self::Element;
    /// The value of a stored form.
    fn from_element(element: Self::Element) -> Self;
}

impl<T: Element> HostType for T {
    type Element = T;
    #[inline]
    fn into_element(self) -> T {
        self
    }
    #[inline]
    fn from_element(element: T) -> T {
        element
    }
}

impl HostType for bool {
    type Element = Bool;
    #[inline]
    fn into_element(self) -> Bool {
        Bool::from(self)
    }
    #[inline]
    fn from_element(element: Bool) -> bool {
        element.get()
    }
}

/// The two conversions behind [`Element`], as NumPy's `astype` makes them.
pub(crate) trait Cast: Sized {
    fn cast_from(scalar: Scalar) -> Self;
    fn cast_to(self) -> Scalar;
}

impl Cast for Bool {
    #[inline]
    fn cast_from(scalar: Scalar) -> Self {
        Bool::from(scalar.as_bool())
    }
    #[inline]
    fn cast_to(self) -> Scalar {
        Scalar::Bool(self.get())
    }
}

macro_rules! cast_integers {
    ($($type:ty => $variant:ident $wide:ty),*) => {$(
        impl Cast for $type {
            #[inline]
            fn cast_from(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::Bool(value) => value as $type,
                    // Integers wrap, as C and NumPy do.
                    Scalar::Int(value) => value as $type,
                    Scalar::UInt(value) => value as $type,
                    // C leaves a float outside the range undefined; Rust's saturation is the defined choice.
                    Scalar::Float(value) => value as $type,
                }
            }
            #[inline]
            fn cast_to(self) -> Scalar {
                Scalar::$variant(<$wide>::from(self))
            }
        }
    )*};
}
cast_integers!(u8 => Int i64, i8 => Int i64, u16 => Int i64, i16 => Int i64, u32 => Int i64, i32 => Int i64,
    i64 => Int i64, u64 => UInt u64);

macro_rules! cast_floats {
    ($($type:ty, $from:expr, $to:expr);*) => {$(
        impl Cast for $type {
            #[inline]
            fn cast_from(scalar: Scalar) -> Self {
                $from(scalar.as_f64())
            }
            #[inline]
            fn cast_to(self) -> Scalar {
                Scalar::Float($to(self))
            }
        }
    )*};
}
cast_floats!(f16, f16::from_f64, f16::to_f64; bf16, bf16::from_f64, bf16::to_f64;
    f32, |x| x as f32, f64::from; f64, |x| x, |x| x);
