//! The functions that have a form of their own for whole blocks, where vectors look up values or coefficients.
//!
//! Each says whether some elements are hard, if it did the block; where not, the function is applied element by element.

use crate::isa::Arch;
use crate::scalar::BLOCK;
use crate::scalar::activation::Activation;
use crate::scalar::erf_grid;
use crate::scalar::erf_pieces::{ERF, GELU};
use crate::scalar::hyperbolic_pieces::{LOGISTIC, TANH};
use lodestride_buffer::Element;

/// Element types, with the functions of blocks that they have.
pub(crate) trait Blocks: Element {
    #[inline(always)]
    fn erf<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn expm1<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn gelu<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn log<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn log1p<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn sigmoid<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn tan<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn tanh<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
        None
    }
}

impl Blocks for f64 {
    #[inline(always)]
    fn erf<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        erf_grid::block::<A>(dst, x);
        Some(false)
    }

    #[inline(always)]
    fn tan<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        A::tan_f64(dst, x)
    }

    #[inline(always)]
    fn tanh<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        A::tanh_f64(dst, x)
    }
}

impl Blocks for f32 {
    #[inline(always)]
    fn erf<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        ERF.block::<A::F32>(dst, x)
    }

    #[inline(always)]
    fn expm1<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::expm1_f32(dst, x)
    }

    #[inline(always)]
    fn gelu<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if GELU.block::<A::F32>(dst, x)? {
            // Only those, so that no result depends on its neighbours.
            for (d, &x) in dst.iter_mut().zip(x) {
                let low = Activation::gelu::<A>(x);
                *d = if x < -GELU.reach { low } else { *d };
            }
        }
        Some(false)
    }

    #[inline(always)]
    fn log<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::log_f32(dst, x)
    }

    #[inline(always)]
    fn log1p<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::log1p_f32(dst, x)
    }

    #[inline(always)]
    fn sigmoid<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        let low = LOGISTIC.block::<A::F32>(dst, x)?;
        if low {
            for (d, &x) in dst.iter_mut().zip(x) {
                let low = Activation::sigmoid_near::<A>(x);
                *d = if x < -LOGISTIC.reach { low } else { *d };
            }
        }
        Some(low)
    }

    #[inline(always)]
    fn tanh<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        TANH.block::<A::F32>(dst, x)
    }
}
