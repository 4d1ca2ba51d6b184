//! When an elementwise op on small arrays goes the shortest way: operands gap-free from the start of their buffers, of the dtype it
//! computes in, one stretched to the other at most, and nobody who watches results.
//!
//! Each way makes its result where it returns it: a function that handed it on in an `Option` would move it once more, which an `add`
//! of two 3x3 arrays feels (42 ns, not 37).

use lodestride_buffer::Buffer;
use lodestride_kernels::{BinaryOp, Packed, PackedNumber, PackedRows};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks;
use crate::error::Result;

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

    /// The short way of an operation with an array that is stretched to this one's shape, where there is one.
    #[inline(always)]
    pub(crate) fn packed_rows(&self, op: BinaryOp, rhs: &NdArray) -> Option<PackedRows> {
        if self.dtype() != rhs.dtype() || checks::are_on() {
            return None;
        }
        PackedRows::find(op, self.dtype(), self.layout(), rhs.layout())
    }

    /// An operation with an array of another layout: the short way, or any other.
    #[inline(never)]
    #[track_caller]
    pub(crate) fn binary_with_rows(&self, op: BinaryOp, rhs: &NdArray) -> Result<NdArray> {
        if let Some(packed) = self.packed_rows(op, rhs) {
            let dtype = packed.operation().result();
            if let Ok(buffer) = Buffer::recycled(self.len() * dtype.size()) {
                let mut made = NdArray::whole(buffer, self.layout().clone(), dtype);
                let run = |out| packed.run(self.buffer(), rhs.buffer(), out);
                if made.write_sole().is_ok_and(run) {
                    return Ok(made);
                }
            }
        }
        self.binary_of_any(op, Arg::Array(rhs))
    }

    /// The shortest way of an operation with a number, where there is one.
    #[inline(always)]
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
