//! When an elementwise op on small arrays goes the shortest way: operands gap-free from the start of their buffers, of the dtype it
//! computes in, and nobody who watches results.

use lodestride_kernels::{BinaryOp, Packed, PackedNumber};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks;

impl NdArray {
    /// The shortest way of an operation with an array, where there is one.
    #[inline]
    pub(crate) fn packed_with(&self, op: BinaryOp, rhs: &NdArray) -> Option<Packed> {
        let plain = self.dtype() == rhs.dtype() && self.layout().is_packed_like(rhs.layout());
        if !plain || checks::are_on() {
            return None;
        }
        Packed::find(op, self.dtype()).filter(|packed| packed.suits(self.len()))
    }

    /// The shortest way of an operation with a number, where there is one.
    #[inline]
    pub(crate) fn packed_beside(&self, op: BinaryOp, rhs: Arg<'_>) -> Option<PackedNumber> {
        let Arg::Scalar(number) = rhs else {
            return None;
        };
        if !self.layout().is_packed_like(self.layout()) || checks::are_on() {
            return None;
        }
        let packed = PackedNumber::find(op, self.dtype(), number)?;
        packed.operation().suits(self.len()).then_some(packed)
    }
}
