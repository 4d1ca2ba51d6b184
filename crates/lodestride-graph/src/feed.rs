//! What a call is fed: values that are given away, and values that are lent for the call.

use crate::op::SlotRef;
use crate::value::Value;
use lodestride_array::NdArray;
use lodestride_lod::LodTensor;

/// A value for an input of a function, given or lent.
///
/// Whatever converts into a [`Value`] converts into a feed; of references nothing is copied or counted, they are looked at where
/// they are.
///
/// ```
/// use lodestride_array::NdArray;
/// use lodestride_graph::{Feed, compile, dvector};
/// let (x, y) = (dvector("x"), dvector("y"));
/// let f = compile(&[&x, &y], &[&(&x + &y)])?;
/// let a = NdArray::from([1.0f64, 2.0]);
/// let sum = f.call([Feed::from(&a), Feed::from(NdArray::from([10.0f64, 20.0]))])?;
/// assert_eq!(sum[0].array().to_vec::<f64>()?, [11.0, 22.0]);
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Feed<'a>(Held<'a>);

#[derive(Clone, Debug)]
enum Held<'a> {
    Lent(SlotRef<'a>),
    Given(Value),
}

impl Feed<'_> {
    /// The value as ops see it.
    #[inline]
    pub(crate) fn by_ref(&self) -> SlotRef<'_> {
        match &self.0 {
            Held::Lent(slot) => *slot,
            Held::Given(value) => value.by_ref(),
        }
    }
}

impl<'a> From<SlotRef<'a>> for Feed<'a> {
    #[inline]
    fn from(slot: SlotRef<'a>) -> Self {
        Self(Held::Lent(slot))
    }
}

impl<'a> From<&'a NdArray> for Feed<'a> {
    #[inline]
    fn from(data: &'a NdArray) -> Self {
        SlotRef { data, lod: None }.into()
    }
}

impl<'a> From<&'a LodTensor> for Feed<'a> {
    fn from(tensor: &'a LodTensor) -> Self {
        let (data, lod) = (tensor.data(), Some(tensor.lod()));
        SlotRef { data, lod }.into()
    }
}

impl<'a> From<&'a Value> for Feed<'a> {
    #[inline]
    fn from(value: &'a Value) -> Self {
        value.by_ref().into()
    }
}

impl From<Value> for Feed<'_> {
    #[inline]
    fn from(value: Value) -> Self {
        Self(Held::Given(value))
    }
}

macro_rules! given {
    ($($from:ty)*) => {$(
        impl From<$from> for Feed<'_> {
            fn from(value: $from) -> Self {
                Value::from(value).into()
            }
        }
    )*};
}
given! { NdArray LodTensor bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
