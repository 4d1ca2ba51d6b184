//! The functions that have a form of their own for whole blocks, where vectors look up values or coefficients.
//!
//! Each says whether it did the block; where not, the function is applied element by element.

use crate::isa::Arch;
use crate::scalar::BLOCK;
use crate::scalar::erf_grid;
use crate::scalar::erf_pieces::{ERF, GELU};
use crate::scalar::hyperbolic_pieces::{LOGISTIC, TANH};
use lodestride_buffer::Element;

/// Element types, with the functions of blocks that they have.
pub(crate) trait Blocks: Element {
    #[inline(always)]
    fn erf<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> bool {
        false
    }

    #[inline(always)]
    fn gelu<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> bool {
        false
    }

    #[inline(always)]
    fn sigmoid<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> bool {
        false
    }

    #[inline(always)]
    fn tanh<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> bool {
        false
    }
}

impl Blocks for f64 {
    #[inline(always)]
    fn erf<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> bool {
        erf_grid::block::<A>(dst, x);
        true
    }
}

impl Blocks for f32 {
    #[inline(always)]
    fn erf<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> bool {
        ERF.block::<A::F32>(dst, x)
    }

    #[inline(always)]
    fn gelu<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> bool {
        GELU.block::<A::F32>(dst, x)
    }

    #[inline(always)]
    fn sigmoid<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> bool {
        LOGISTIC.block::<A::F32>(dst, x)
    }

    #[inline(always)]
    fn tanh<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> bool {
        TANH.block::<A::F32>(dst, x)
    }
}
