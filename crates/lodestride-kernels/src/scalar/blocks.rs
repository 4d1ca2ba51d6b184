//! The functions that have a form of their own for whole blocks, where vectors look up values or coefficients.
//!
//! Each says whether some elements are hard, if it did the block; where not, the function is applied element by element.

use crate::isa::Arch;
use crate::pick::{Pick, PickRows};
use crate::scalar::BLOCK;
use crate::scalar::activation::{Activation, SELU_SCALE};
use crate::scalar::atan_table::Atan;
use crate::scalar::cbrt_vector::Cbrt;
use crate::scalar::erf_grid;
use crate::scalar::erf_pieces::{ERF, GELU};
use crate::scalar::exp::ExpTable;
use crate::scalar::expm1_table::Expm1;
use crate::scalar::few_pieces;
use crate::scalar::float::Float;
use crate::scalar::gelu_grid;
use crate::scalar::gelu_table::{self, Gelu};
use crate::scalar::hyperbolic::{Hyperbolic, acosh_beyond, asinh_beyond, atanh_end};
use crate::scalar::hyperbolic_log::{Acosh, Asinh, Atanh, SQUARES_END};
use crate::scalar::hyperbolic_pieces::{LOGISTIC, TANH};
use crate::scalar::hyperbolic_table::{Cosh, Sinh};
use crate::scalar::log_pieces::{Log, Log1p, Log2, Log10};
use crate::scalar::logistic_few;
use crate::scalar::logistic_table::{Sigmoid, Swish};
use crate::scalar::tan_table::Tan;
use crate::scalar::tanh_grid;
use crate::scalar::tanh_table::Tanh;
use crate::scalar::trig_few;
use crate::vector::halves::{Halves, whole};
use lodestride_buffer::Element;

/// The functions of blocks, which a type does not have unless it says so.
macro_rules! blocks {
    ($($function:ident)*) => {
        /// Element types, with the functions of blocks that they have.
        pub(crate) trait Blocks: Element {
            $(
                #[inline(always)]
                fn $function<A: Arch>(_dst: &mut [Self; BLOCK], _x: &[Self; BLOCK]) -> Option<bool> {
                    None
                }
            )*
        }
    };
}

blocks! {
    acosh asinh atan atanh cbrt ceil cos cosh elu erf expm1 floor gelu log log10 log1p log2 round selu sigmoid sin sinh swish tan tanh trunc
}

/// A function of a block that a form for vectors does for the easy numbers, and another for the others.
///
/// Only those, so that no result depends on its neighbours.
macro_rules! mended {
    ($dst:ident $x:ident = $block:expr; |$y:ident| $is_easy:expr, else $redo:expr) => {{
        if $block? {
            for (d, &$y) in $dst.iter_mut().zip($x) {
                let redone = $redo;
                *d = if $is_easy { *d } else { redone };
            }
        }
        Some(false)
    }};
}

/// What the float types have in common.
macro_rules! common {
    ($T:ident $look_up:ident) => {
        #[inline(always)]
        fn acosh<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            mended!(dst x = A::$look_up::<Acosh>(dst, x);
                |x| (1.0..SQUARES_END as $T).contains(&x), else acosh_beyond::<$T, A>(x))
        }

        #[inline(always)]
        fn asinh<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            mended!(dst x = A::$look_up::<Asinh>(dst, x);
                |x| x.abs() < SQUARES_END as $T, else asinh_beyond::<$T, A>(x))
        }

        #[inline(always)]
        fn atan<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            A::$look_up::<Atan>(dst, x)
        }

        #[inline(always)]
        fn cbrt<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            A::$look_up::<Cbrt>(dst, x)
        }

        #[inline(always)]
        fn swish<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            A::$look_up::<Swish>(dst, x)
        }

        #[inline(always)]
        fn atanh<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            mended!(dst x = A::$look_up::<Atanh>(dst, x);
                |x| x.abs() < 1.0, else atanh_end(x))
        }

        #[inline(always)]
        fn cosh<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            mended!(dst x = A::$look_up::<Cosh>(dst, x);
                |x| x.abs() < $T::NEAR, else Hyperbolic::cosh::<A>(x))
        }

        #[inline(always)]
        fn sinh<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            mended!(dst x = A::$look_up::<Sinh>(dst, x);
                |x| x.abs() < $T::NEAR, else Hyperbolic::sinh::<A>(x))
        }

        #[inline(always)]
        fn elu<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            scaled_where_positive(dst, x, 1.0)
        }

        #[inline(always)]
        fn selu<A: Arch>(dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) -> Option<bool> {
            scaled_where_positive(dst, x, SELU_SCALE as $T)
        }
    };
}

/// A block of positive numbers times a factor: what is left of functions whose negative half takes many steps.
#[inline(always)]
fn scaled_where_positive<R: Float>(
    dst: &mut [R; BLOCK],
    x: &[R; BLOCK],
    factor: R,
) -> Option<bool> {
    // In one loop: of two, the second would be a call that copies memory where the factor is 1.
    let mut all = true;
    for (d, &x) in dst.iter_mut().zip(x) {
        all &= x > R::ZERO;
        *d = factor * x;
    }
    all.then_some(false)
}

impl Blocks for f64 {
    common!(f64 look_up_f64);

    #[inline(always)]
    fn erf<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        erf_grid::block::<A>(dst, x);
        Some(false)
    }

    #[inline(always)]
    fn gelu<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        if const { <A::F64 as PickRows>::QUICK } {
            return mended!(dst x = gelu_grid::block::<A::F64>(dst, x);
                |x| x >= -gelu_grid::REACH, else Activation::gelu::<A>(x));
        }
        mended!(dst x = A::look_up_f64::<Gelu>(dst, x);
            |x| x.abs() < gelu_table::FAR, else Activation::gelu::<A>(x))
    }

    #[inline(always)]
    fn sigmoid<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        A::look_up_f64::<Sigmoid>(dst, x)
    }

    #[inline(always)]
    fn tan<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        A::look_up_f64::<Tan>(dst, x)
    }

    #[inline(always)]
    fn tanh<A: Arch>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        match A::look_up_f64::<Tanh>(dst, x) {
            None => tanh_grid::block::<A::F64>(dst, x),
            done => done,
        }
    }
}

impl Blocks for f32 {
    common!(f32 look_up_f32);

    #[inline(always)]
    fn erf<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        match ERF.block::<A::F32>(dst, x) {
            None => few_pieces::ERF.block::<A::F32>(dst, x),
            done => done,
        }
    }

    #[inline(always)]
    fn expm1<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::look_up_f32::<Expm1>(dst, x)
    }

    #[inline(always)]
    fn gelu<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { A::F32::FEW } {
            return mended!(dst x = few_pieces::GELU.block::<A::F32>(dst, x);
                |x| x >= -few_pieces::GELU.reach, else Activation::gelu::<A>(x));
        }
        mended!(dst x = GELU.block::<A::F32>(dst, x);
            |x| x >= -GELU.reach, else Activation::gelu::<A>(x))
    }

    #[inline(always)]
    fn log<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::look_up_f32::<Log>(dst, x)
    }

    #[inline(always)]
    fn log1p<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::look_up_f32::<Log1p>(dst, x)
    }

    #[inline(always)]
    fn log10<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::look_up_f32::<Log10>(dst, x)
    }

    #[inline(always)]
    fn log2<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::look_up_f32::<Log2>(dst, x)
    }

    #[inline(always)]
    fn sigmoid<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { A::F32::FEW } {
            return Some(logistic_few::block::<A::F32>(dst, x));
        }
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
    fn ceil<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::F32::rounded::<{ whole::UP }>(dst, x)
    }

    #[inline(always)]
    fn floor<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::F32::rounded::<{ whole::DOWN }>(dst, x)
    }

    #[inline(always)]
    fn round<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::F32::rounded::<{ whole::NEAREST }>(dst, x)
    }

    #[inline(always)]
    fn trunc<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        A::F32::rounded::<{ whole::TOWARDS_ZERO }>(dst, x)
    }

    #[inline(always)]
    fn cos<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        trig_few::COS.block::<A::F32>(dst, x)
    }

    #[inline(always)]
    fn sin<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        trig_few::SIN.block::<A::F32>(dst, x)
    }

    #[inline(always)]
    fn tanh<A: Arch>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        match TANH.block::<A::F32>(dst, x) {
            None => few_pieces::TANH.block::<A::F32>(dst, x),
            done => done,
        }
    }
}
