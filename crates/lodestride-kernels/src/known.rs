//! What was looked up once: the loops of an operation for a dtype on an instruction set.
//!
//! Looking an operation up is a match on the operation, one on the dtype and one on the instruction set for every form of
//! its loops. That is nothing beside a large array and a fifth of the time of a small one.

use crate::isa::{Isa, Level};
use lodestride_buffer::DType;
use std::sync::OnceLock;

const DTYPES: usize = DType::ALL.len();
const LEVELS: usize = Isa::ALL.len();

/// The loops an operation runs for operands of a dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loops<K> {
    /// The dtype operands are converted to.
    pub(crate) compute: DType,
    pub(crate) kernel: K,
}

type Place<K> = OnceLock<Option<Box<Loops<K>>>>;

/// The loops known so far, by operation, dtype and instruction set.
pub(crate) struct Known<K: 'static, const OPS: usize>([[[Place<K>; LEVELS]; DTYPES]; OPS]);

impl<K, const OPS: usize> Known<K, OPS> {
    pub(crate) const fn new() -> Self {
        Known([const { [const { [const { OnceLock::new() }; LEVELS] }; DTYPES] }; OPS])
    }

    /// The loops of operation number `op`; `make` is asked the first time.
    #[inline]
    pub(crate) fn loops(
        &'static self,
        op: usize,
        dtype: DType,
        level: Level,
        make: impl FnOnce() -> Option<Loops<K>>,
    ) -> Option<&'static Loops<K>> {
        self.0[op][dtype as usize][level.isa() as usize]
            .get_or_init(|| make().map(Box::new))
            .as_deref()
    }
}
