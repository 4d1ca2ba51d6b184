//! What an operation does to one element: ordinary safe functions, one file per subject.
//!
//! Every function is branch-free (selects, not jumps) so that the loops of `inner.rs` vectorise, or says why it cannot
//! be. Loops, dtypes known only at run time and memory are not the business of this folder.
//!
//! Functions take a type parameter `A: Arch`: it tells whether a fused multiply-add is one instruction. Where the fast form
//! of a function cannot do every argument (denormal ones, huge ones, the ends of the domain), the loop looks at each block
//! of elements and does the few others again by a complete form: see [`Hard`].

pub(crate) mod activation;
pub(crate) mod arith;
pub(crate) mod atan_table;
pub(crate) mod bitwise;
pub(crate) mod blocks;
pub(crate) mod cast;
pub(crate) mod cbrt_vector;
pub(crate) mod compare;
pub(crate) mod division;
pub(crate) mod erf;
pub(crate) mod erf_grid;
pub(crate) mod erf_pieces;
pub(crate) mod exp;
pub(crate) mod expm1_table;
pub(crate) mod few_pieces;
pub(crate) mod float;
pub(crate) mod gelu_grid;
pub(crate) mod gelu_table;
pub(crate) mod hyperbolic;
pub(crate) mod hyperbolic_log;
pub(crate) mod hyperbolic_pieces;
pub(crate) mod hyperbolic_table;
pub(crate) mod integer;
pub(crate) mod inverse_trig;
pub(crate) mod log;
pub(crate) mod log_pieces;
pub(crate) mod logistic_few;
pub(crate) mod logistic_table;
pub(crate) mod pair;
pub(crate) mod pieces;
pub(crate) mod power;
pub(crate) mod power_pieces;
pub(crate) mod raised;
pub(crate) mod reciprocal;
pub(crate) mod rounding;
pub(crate) mod tan_table;
pub(crate) mod tanh_grid;
pub(crate) mod tanh_table;
pub(crate) mod trig;
pub(crate) mod trig_few;

use crate::isa::Arch;
use lodestride_buffer::Element;

/// Elements per block of the functions of many instructions: enough for the vectors of every instruction set, and to hide
/// the look for arguments that the fast form cannot do.
pub(crate) const BLOCK: usize = 64;

/// How an operation treats the arguments that its fast form cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hard {
    /// There are none.
    Never,
    /// A complete form, in vectors, does their block again.
    Rare,
    /// A complete form does them one by one.
    Slow,
}

/// An operation on one element.
pub(crate) trait Unary<T: Element> {
    /// The element type of the result.
    type Out: Element;

    /// What becomes of the arguments that `apply` cannot do.
    const HARD: Hard = Hard::Never;

    /// Whether `apply` could not do this argument and `redo` must.
    #[inline(always)]
    fn is_hard(_x: T, _result: Self::Out) -> bool {
        false
    }

    /// The complete form.
    #[inline(always)]
    fn redo<A: Arch>(x: T) -> Self::Out {
        Self::apply::<A>(x)
    }

    /// The results of a block in a faster way, if the instruction set has one and it can do these arguments, and whether some are
    /// hard.
    #[inline(always)]
    fn block<A: Arch>(_dst: &mut [Self::Out; BLOCK], _x: &[T; BLOCK]) -> Option<bool> {
        None
    }

    /// The result for one element.
    fn apply<A: Arch>(x: T) -> Self::Out;
}

/// An operation on two elements.
pub(crate) trait Binary<T: Element> {
    /// The element type of the result.
    type Out: Element;

    /// What becomes of the pairs that `apply` cannot do.
    const HARD: Hard = Hard::Never;

    /// Whether `apply` could not do this pair and `redo` must.
    #[inline(always)]
    fn is_hard(_x: T, _y: T, _result: Self::Out) -> bool {
        false
    }

    /// The complete form.
    #[inline(always)]
    fn redo<A: Arch>(x: T, y: T) -> Self::Out {
        Self::apply::<A>(x, y)
    }

    /// The results of `apply` for a block in a faster way, if the instruction set has one, and whether some are hard.
    #[inline(always)]
    fn block<A: Arch>(
        _dst: &mut [Self::Out; BLOCK],
        _x: &[T; BLOCK],
        _y: &[T; BLOCK],
    ) -> Option<bool> {
        None
    }

    /// The results beside one number in a faster way, if there is one, and whether there was: what the number alone decides is
    /// worked out once.
    #[inline(always)]
    fn by_number<A: Arch>(_dst: &mut [Self::Out], _x: &[T], _y: T) -> bool {
        false
    }

    /// The result for one pair.
    fn apply<A: Arch>(x: T, y: T) -> Self::Out;
}
