//! The element loops, over safe slices: about ten of them, each written once for every operation and element type.
//!
//! In place is a loop of its own: one loop over pointers that may or may not be equal loses its vectors exactly when they
//! are. Which loop runs is `table.rs`' business, for which instruction set `isa.rs`'.

use crate::isa::Arch;
use crate::scalar::cast::Cast;
use crate::scalar::{Binary, Unary};
use lodestride_buffer::Element;

/// Elements per look for arguments the vector path cannot do: small enough that one of them costs little, large enough
/// for the look to cost nothing.
const LOOK: usize = 256;

/// `dst[i] = O(x[i])`.
#[inline(always)]
pub(crate) fn map<O: Unary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: &[T]) {
    if !O::HAS_HARD {
        for (d, &x) in dst.iter_mut().zip(x) {
            *d = O::apply::<A>(x);
        }
        return;
    }
    for (dst, x) in dst.chunks_mut(LOOK).zip(x.chunks(LOOK)) {
        let mut hard = false;
        for (d, &x) in dst.iter_mut().zip(x) {
            hard |= O::is_hard(x);
            *d = O::apply::<A>(x);
        }
        if hard {
            repair::<O, T>(dst, x);
        }
    }
}

/// The second pass over a stretch with hard arguments.
#[cold]
fn repair<O: Unary<T>, T: Element>(dst: &mut [O::Out], x: &[T]) {
    for (d, &x) in dst.iter_mut().zip(x) {
        if O::is_hard(x) {
            *d = O::repair(x);
        }
    }
}

/// `x[i] = O(x[i])`.
#[inline(always)]
pub(crate) fn map_in_place<O: Unary<T, Out = T>, T: Element, A: Arch>(x: &mut [T]) {
    for x in x {
        *x = O::apply::<A>(*x);
    }
}

/// `dst[i] = O(x[i], y[i])`.
#[inline(always)]
pub(crate) fn zip<O: Binary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: &[T], y: &[T]) {
    for ((d, &x), &y) in dst.iter_mut().zip(x).zip(y) {
        *d = O::apply::<A>(x, y);
    }
}

/// `x[i] = O(x[i], y[i])`.
#[inline(always)]
pub(crate) fn zip_in_place<O: Binary<T, Out = T>, T: Element, A: Arch>(x: &mut [T], y: &[T]) {
    for (x, &y) in x.iter_mut().zip(y) {
        *x = O::apply::<A>(*x, y);
    }
}

/// `dst[i] = O(x[i], y)`.
#[inline(always)]
pub(crate) fn zip_scalar<O: Binary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: &[T], y: T) {
    for (d, &x) in dst.iter_mut().zip(x) {
        *d = O::apply::<A>(x, y);
    }
}

/// `dst[i] = O(x, y[i])`.
#[inline(always)]
pub(crate) fn scalar_zip<O: Binary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: T, y: &[T]) {
    for (d, &y) in dst.iter_mut().zip(y) {
        *d = O::apply::<A>(x, y);
    }
}

/// `x[i] = O(x[i], y)`.
#[inline(always)]
pub(crate) fn zip_scalar_in_place<O: Binary<T, Out = T>, T: Element, A: Arch>(x: &mut [T], y: T) {
    for x in x {
        *x = O::apply::<A>(*x, y);
    }
}

/// `dst[i] = S(F(x[i], y[i]), z[i])`.
#[inline(always)]
pub(crate) fn pair<F: Binary<T, Out = T>, S: Binary<T, Out = T>, T: Element, A: Arch>(
    dst: &mut [T],
    x: &[T],
    y: &[T],
    z: &[T],
) {
    for (((d, &x), &y), &z) in dst.iter_mut().zip(x).zip(y).zip(z) {
        *d = S::apply::<A>(F::apply::<A>(x, y), z);
    }
}

/// `dst[i] = if cond[i] { a[i] } else { b[i] }`; the truth of `cond` is "not zero". Bytes in, so that one loop serves all
/// types of a size.
#[inline(always)]
pub(crate) fn select<T: Element>(dst: &mut [T], cond: &[u8], a: &[T], b: &[T]) {
    for (((d, &c), &a), &b) in dst.iter_mut().zip(cond).zip(a).zip(b) {
        *d = if c != 0 { a } else { b };
    }
}

/// `dst[i] = x[i]` in another type.
#[inline(always)]
pub(crate) fn cast<S: Cast<D>, D: Element>(dst: &mut [D], x: &[S]) {
    for (d, &x) in dst.iter_mut().zip(x) {
        *d = x.cast();
    }
}

/// `dst[i] = x`.
#[inline(always)]
pub(crate) fn fill<T: Element>(dst: &mut [T], x: T) {
    dst.fill(x);
}
