//! Constants: variables whose value is part of the graph.

use crate::error::Span;
use crate::ty::{Dim, Type};
use crate::value::Value;
use crate::variable::{Kind, Variable};
use lodestride_array::{DType, Scalar};
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::panic::Location;

/// The value of a constant.
#[derive(Clone)]
pub(crate) enum ConstantData {
    /// A literal of the host language; it adopts the dtype of what it meets, within its kind.
    Literal(Scalar),
    /// A typed value, copied when the constant was made and never written again.
    Typed(Box<Value>),
}

impl ConstantData {
    pub(crate) fn ty(&self) -> Type {
        match self {
            Self::Literal(scalar) => Type::tensor(literal_dtype(*scalar), [] as [Dim; 0]),
            Self::Typed(value) => value.exact_type(),
        }
    }

    /// The bytes that decide whether two constants are the same: bit patterns, so that 0.0 and -0.0 stay apart.
    fn bits(&self) -> Vec<u8> {
        match self {
            Self::Literal(Scalar::Float(x)) => x.to_bits().to_le_bytes().to_vec(),
            Self::Literal(scalar) => scalar.as_i64().to_le_bytes().to_vec(),
            Self::Typed(value) => value.bytes().unwrap_or_default(),
        }
    }

    pub(crate) fn hash_bits(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.ty().hash(&mut hasher);
        matches!(self, Self::Literal(_)).hash(&mut hasher);
        self.bits().hash(&mut hasher);
        hasher.finish()
    }

    /// Whether both have the same type and the same bits; ragged constants are compared with their sequences.
    pub(crate) fn same_bits(&self, other: &Self) -> bool {
        let same_lod = match (self, other) {
            (Self::Literal(_), Self::Literal(_)) => true,
            (Self::Typed(a), Self::Typed(b)) => {
                a.lod_tensor().map(|t| t.lod()) == b.lod_tensor().map(|t| t.lod())
            }
            _ => false,
        };
        same_lod && self.ty() == other.ty() && self.bits() == other.bits()
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Typed(value) => (**value).clone(),
            Self::Literal(scalar) => Value::from_scalar(*scalar, literal_dtype(*scalar)),
        }
    }

    /// The value of a scalar constant.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Literal(scalar) => Some(*scalar),
            Self::Typed(value) => value.scalar(),
        }
    }
}

/// A [`Variable`] with a value that no op may change.
///
/// Constants need not be listed among the inputs of a function; listing one is an error.
///
/// ```
/// use lodestride_graph::{Constant, dscalar};
/// let e = dscalar("x") + 1;
/// let one = e.owner().unwrap().inputs()[1].as_constant().unwrap();
/// assert_eq!(one.ty().to_string(), "lscalar");
/// assert_eq!(one.to_string(), "Constant{1}");
/// # let _: Constant = one;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant(Variable);

impl Constant {
    /// A constant with its own copy of `value`.
    ///
    /// # Errors
    /// The array's own error when it cannot be read (its workspace is closed, for instance).
    #[track_caller]
    pub fn new<'a>(
        value: impl Into<Value>,
        name: impl Into<Option<&'a str>>,
    ) -> crate::Result<Self> {
        let span = Span(Location::caller());
        let value = value
            .into()
            .detached()
            .map_err(|kind| crate::GraphError::new(kind, None, span))?;
        Ok(Self::typed(value, name.into(), span))
    }

    pub(crate) fn typed(value: Value, name: Option<&str>, span: Span) -> Self {
        let ty = value.exact_type();
        Self(Variable::with_kind(
            ty,
            Kind::Constant(ConstantData::Typed(Box::new(value))),
            name,
            span,
        ))
    }

    /// A literal, weak in type promotion: `f32 + 1.5` stays f32.
    #[track_caller]
    pub fn literal(value: impl Into<Scalar>) -> Self {
        let value = value.into();
        let ty = Type::tensor(literal_dtype(value), [] as [Dim; 0]);
        let kind = Kind::Constant(ConstantData::Literal(value));
        Self(Variable::with_kind(
            ty,
            kind,
            None,
            Span(Location::caller()),
        ))
    }

    pub(crate) fn from_variable(variable: Variable) -> Self {
        Self(variable)
    }

    /// The value, as an array of the constant's own dtype.
    pub fn data(&self) -> Value {
        match self.0.constant_data() {
            Some(data) => data.value(),
            None => unreachable!("a Constant is only made around constant data"),
        }
    }

    /// The variable, for calls that want one.
    pub fn variable(&self) -> &Variable {
        &self.0
    }
}

/// The dtype a literal shows and has when nothing else decides: Theano's `lscalar` for integers.
pub(crate) fn literal_dtype(value: Scalar) -> DType {
    match value {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::I64,
        Scalar::UInt(_) => DType::U64,
        Scalar::Float(_) => DType::F64,
    }
}

/// A constant variable around existing data.
pub(crate) fn from_data(data: ConstantData, name: Option<&str>) -> Variable {
    Variable::with_kind(data.ty(), Kind::Constant(data), name, Span::here())
}

pub(crate) fn scalar_text(value: Scalar) -> String {
    match value {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::UInt(u) => u.to_string(),
        Scalar::Float(x) => format!("{x:?}"),
    }
}

impl fmt::Display for ConstantData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(f, "Constant{{{}}}", scalar_text(*value)),
            Self::Typed(value) => match value.scalar() {
                Some(scalar) => write!(f, "Constant{{{}}}", scalar_text(scalar)),
                None => write!(f, "Constant{{{}}}", value.exact_type()),
            },
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Deref for Constant {
    type Target = Variable;

    fn deref(&self) -> &Variable {
        &self.0
    }
}

impl From<Constant> for Variable {
    fn from(constant: Constant) -> Self {
        constant.0
    }
}

impl From<&Constant> for Variable {
    fn from(constant: &Constant) -> Self {
        constant.0.clone()
    }
}

macro_rules! literals {
    ($($host:ty)*) => {$(
        /// A weak literal; see [`Constant::literal`].
        impl From<$host> for Variable {
            #[track_caller]
            fn from(value: $host) -> Self {
                Constant::literal(value).0
            }
        }
    )*};
}
literals! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
