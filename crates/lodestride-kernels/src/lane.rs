//! Operands of a frame: where their next elements are, and how these are reached.
#![expect(unsafe_code, reason = "elements are copied to tiles from raw pointers")]

#[cfg(target_arch = "x86_64")]
use crate::lines;
use crate::tile;
use smallvec::SmallVec;

/// How an operand is reached during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Kernels get the memory itself.
    Direct,
    /// One element for the whole run.
    Scalar,
    /// Elements are copied through a tile.
    Tiled,
}

/// An operand of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// Where the next element is.
    pub(crate) at: *mut u8,
    /// Elements from one to the next.
    pub(crate) stride: isize,
    /// Bytes per element.
    pub(crate) size: usize,
    pub(crate) access: Access,
    /// Whether what lies between its elements may be read too.
    pub(crate) gaps: bool,
}

impl Lane {
    /// Copies the next `n` elements to a tile.
    ///
    /// # Safety
    /// The lane is valid for reads of `n` elements; the tile takes as many, and is apart.
    #[inline]
    pub(crate) unsafe fn gather(&self, tile: *mut u8, n: usize) {
        #[cfg(target_arch = "x86_64")]
        if self.gaps {
            // SAFETY: the caller's contract; what lies between elements may be read.
            let done = unsafe { lines::try_thin(tile, self.at, (n, self.stride), self.size) };
            if done {
                return;
            }
        }
        // SAFETY: the caller's contract.
        unsafe { tile::gather(tile, self.at, self.stride, self.size, n) };
    }

    /// Moves on by `n` elements.
    #[inline]
    pub(crate) fn advance(&mut self, n: usize) {
        let bytes = self.stride * (n * self.size).cast_signed();
        self.at = self.at.wrapping_offset(bytes);
    }
}

/// Operands in the order of the slots: outputs, then loads.
pub(crate) type Lanes = SmallVec<[Lane; 6]>;
