//! Values at run time: what is fed, fetched, held by constants and shared variables.

use crate::error::GraphErrorKind;
use crate::op::SlotRef;
use crate::ty::Type;
use lodestride_array::NdArray;
use lodestride_array::{DType, Order, Scalar};
use lodestride_lod::{Lod, LodTensor};
use std::fmt;

/// A dense array or a ragged batch.
///
/// ```
/// use lodestride_array::NdArray;
/// use lodestride_graph::Value;
/// let value = Value::from(NdArray::from([1.0f64, 2.0]));
/// assert_eq!(value.array().shape()[..], [2]);
/// assert!(value.lod_tensor().is_none());
/// ```
#[derive(Clone)]
pub enum Value {
    /// A dense array.
    Dense(NdArray),
    /// A ragged batch; apart, so that a dense value is no larger than its array, which moves in registers.
    Lod(Box<LodTensor>),
}

const _: () = assert!(size_of::<Value>() == size_of::<NdArray>());

impl Value {
    /// The numbers: the array itself, or the rows of the ragged batch.
    pub fn array(&self) -> &NdArray {
        match self {
            Self::Dense(array) => array,
            Self::Lod(tensor) => tensor.data(),
        }
    }

    /// The ragged batch, if it is one.
    pub fn lod_tensor(&self) -> Option<&LodTensor> {
        match self {
            Self::Dense(_) => None,
            Self::Lod(tensor) => Some(tensor),
        }
    }

    /// The numbers by value.
    pub fn into_array(self) -> NdArray {
        match self {
            Self::Dense(array) => array,
            Self::Lod(tensor) => tensor.data().clone(),
        }
    }

    /// The number of LoD levels; 0 for dense arrays.
    pub fn lod_level(&self) -> usize {
        self.lod_tensor().map_or(0, LodTensor::lod_level)
    }

    /// The type with every length known (the row count of ragged batches excepted).
    pub fn exact_type(&self) -> Type {
        Type::of(self.array(), self.lod_tensor().map(LodTensor::lod))
    }

    /// The only element of a dense array of rank 0.
    pub fn scalar(&self) -> Option<Scalar> {
        let array = self.array();
        if array.rank() != 0 || self.lod_level() > 0 {
            return None;
        }
        array.get_scalar([0isize; 0]).ok()
    }

    /// A heap array of rank 0.
    ///
    /// # Panics
    /// When not even one element can be allocated.
    pub(crate) fn from_scalar(scalar: Scalar, dtype: DType) -> Self {
        match lodestride_array::scope_out(|| NdArray::full_of(dtype, (), scalar)) {
            Ok(array) => Self::Dense(array),
            Err(error) => panic!("{error}"),
        }
    }

    /// The elements' bytes in C order; `None` when the memory cannot be read.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        self.array().to_bytes().ok()
    }

    /// A copy outside every workspace, in C order.
    pub(crate) fn detached(&self) -> Result<Self, GraphErrorKind> {
        let copy = lodestride_array::scope_out(|| self.array().dup_order(Order::C))?;
        Self::new(copy, self.by_ref().lod.cloned())
    }

    /// The value as ops see it.
    #[inline]
    pub(crate) fn by_ref(&self) -> SlotRef<'_> {
        let (data, lod) = match self {
            Self::Dense(data) => (data, None),
            Self::Lod(tensor) => (tensor.data(), Some(tensor.lod())),
        };
        SlotRef { data, lod }
    }

    /// The array, with sequences where it is ragged.
    #[inline]
    pub(crate) fn new(data: NdArray, lod: Option<Lod>) -> Result<Self, GraphErrorKind> {
        Ok(match lod {
            None => Self::Dense(data),
            Some(lod) => LodTensor::new(data, lod)?.into(),
        })
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dense(array) => array.fmt(f),
            Self::Lod(tensor) => tensor.fmt(f),
        }
    }
}

/// As the array or the ragged batch prints itself.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dense(array) => array.fmt(f),
            Self::Lod(tensor) => tensor.fmt(f),
        }
    }
}

impl From<NdArray> for Value {
    fn from(array: NdArray) -> Self {
        Self::Dense(array)
    }
}

impl From<&NdArray> for Value {
    fn from(array: &NdArray) -> Self {
        Self::Dense(array.clone())
    }
}

impl From<LodTensor> for Value {
    fn from(tensor: LodTensor) -> Self {
        Self::Lod(Box::new(tensor))
    }
}

impl From<&LodTensor> for Value {
    fn from(tensor: &LodTensor) -> Self {
        tensor.clone().into()
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

macro_rules! scalars {
    ($($host:ty)*) => {$(
        /// An array of rank 0.
        impl From<$host> for Value {
            fn from(value: $host) -> Self {
                Self::Dense(NdArray::from(value))
            }
        }
    )*};
}
scalars! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
