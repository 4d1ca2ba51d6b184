//! The dtype rules of elementwise operations: in which dtype a class of operations computes, and what it returns.

use lodestride_buffer::DType;

/// The dtypes an operation computes in; the others are converted or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// All of them.
    Any,
    /// All but `bool`.
    Number,
    /// As `Any`, but halves stay what they are: nothing but their sign changes.
    AnySign,
    /// As `Number`, but halves stay what they are.
    NumberSign,
    /// f32 and f64; integers and `bool` are computed in f64.
    Float,
    /// Integers and `bool`.
    Bits,
    /// Integers.
    Integer,
}

impl Class {
    /// The dtype in which operands of `dtype` are computed; `None` where the class has no meaning for them.
    pub(crate) const fn compute(self, dtype: DType) -> Option<DType> {
        let wide = match (self, dtype) {
            (Class::AnySign | Class::NumberSign, _) => dtype,
            (_, DType::F16 | DType::BF16) => DType::F32,
            (_, other) => other,
        };
        match (self, wide) {
            (Class::Any | Class::AnySign, _)
            | (Class::Float, DType::F32 | DType::F64)
            | (Class::Bits, DType::Bool) => Some(wide),
            (Class::Float, _) => Some(DType::F64),
            (Class::Number | Class::NumberSign | Class::Integer, DType::Bool) => None,
            (Class::Bits | Class::Integer, _) if wide.is_float() => None,
            (Class::Number | Class::NumberSign | Class::Bits | Class::Integer, _) => Some(wide),
        }
    }
}

/// What an operation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// The dtype of the operands (f64 where integers were computed in f64).
    Same,
    /// `bool`.
    Truth,
}

impl Returns {
    /// The dtype of the result for operands of a (promoted) dtype; `None` where the class has no meaning for them.
    pub(crate) const fn dtype(self, class: Class, dtype: DType) -> Option<DType> {
        match (self, class.compute(dtype)) {
            (_, None) => None,
            (Returns::Truth, _) => Some(DType::Bool),
            (Returns::Same, _) if dtype.is_float() => Some(dtype),
            (Returns::Same, compute) => compute,
        }
    }
}
