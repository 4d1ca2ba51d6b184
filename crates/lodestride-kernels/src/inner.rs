//! The element loops, over safe slices: about ten of them, each written once for every operation and element type.
//!
//! In place is a loop of its own: one loop over pointers that may or may not be equal loses its vectors exactly when they
//! are. Which loop runs is `table.rs`' business, for which instruction set `isa.rs`'.

use crate::frame::LONGEST_TILE;
use crate::isa::{Arch, Plain};
use crate::scalar::cast::Cast;
use crate::scalar::{BLOCK, Binary, Hard, Unary};
use crate::stream::{LINE, prefetch_after, wakes};
use lodestride_buffer::Element;
use std::marker::PhantomData;

/// `dst[i] = O(x[i])`.
#[inline(always)]
pub(crate) fn map<O: Unary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: &[T]) {
    for (d, &x) in dst.iter_mut().zip(x) {
        *d = O::apply::<A>(x);
    }
}

/// [`map`] for functions of many instructions, in blocks of a fixed length: what is left over is a padded block, so that
/// the function is compiled once instead of twice (vectors and the rest one by one).
#[inline(always)]
pub(crate) fn map_blocks<O: Unary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: &[T]) {
    if const { in_groups::<O, T>() } {
        return map_groups::<O, T, A>(dst, x);
    }
    for_blocks::<_, _, A, _>(dst, x, true, MapBlock(PhantomData::<O>));
}

/// What is done to the blocks of a slice. No closure: that would be compiled for the baseline, unless it is inlined.
pub(crate) trait BlockJob<T, D> {
    /// Whether few elements are copied by code of its own: where their number is known to the compiler, nothing of it is left.
    const INLINE: bool = false;
    /// Must be `#[inline(always)]`.
    fn run<A: Arch>(&self, dst: &mut [D; BLOCK], x: &[T; BLOCK]);
}

/// A job on two slices of one length, block by block; `ask` says to ask for the memory ahead, on a processor that wants to be
/// [woken](wakes): where it does not, on an EPYC of family 25 (model 17), `elu` of 1e6 `f64` took 0.53 ms and takes 0.29.
#[inline(always)]
pub(crate) fn for_blocks<T: Element, D: Element, A: Arch, J: BlockJob<T, D>>(
    dst: &mut [D],
    x: &[T],
    ask: bool,
    job: J,
) {
    let (ask, len) = (ask && wakes(), x.len());
    let mut source = [T::default(); BLOCK];
    let mut result = [D::default(); BLOCK];
    for at in (0..len).step_by(BLOCK) {
        let at = block_at(at, len);
        let there = block_mut(dst, at).zip(block(x, at));
        let (d, s): (&mut [D; BLOCK], &[T; BLOCK]) = match there {
            Some((dst, x)) => {
                // Of whole blocks, so many lines as the compiler knows.
                if ask {
                    prefetch_after(x);
                    prefetch_after(dst);
                }
                (dst, x)
            }
            None => {
                if const { J::INLINE } {
                    source[..len].copy_from_slice(x);
                } else {
                    copy_few(&mut source, x);
                }
                (&mut result, &source)
            }
        };
        job.run::<A>(d, s);
        if len >= BLOCK {
            continue;
        }
        if const { J::INLINE } {
            dst.copy_from_slice(&result[..len]);
        } else {
            copy_few(dst, &result);
        }
    }
}

/// Whether a block is one of the widest vectors. Loops over these are compiled for whole blocks: the compiler's own take four vectors at a
/// time, and what is less than that in a quarter of one, such as rows of a hundred bytes.
const fn is_vector<T, A: Arch>() -> bool {
    size_of::<[T; BLOCK]>() == LINE && size_of::<A::F32>() == LINE
}

/// The block that begins at a place, if there is a whole one.
#[inline(always)]
fn block<T>(run: &[T], at: usize) -> Option<&[T; BLOCK]> {
    run.get(at..)?.first_chunk()
}

/// [`block`], to be written.
#[inline(always)]
fn block_mut<T>(run: &mut [T], at: usize) -> Option<&mut [T; BLOCK]> {
    run.get_mut(at..)?.first_chunk_mut()
}

/// Copies as many elements as both have, in code that all blocks share.
#[inline(never)]
fn copy_few<T: Copy>(to: &mut [T], from: &[T]) {
    let len = to.len().min(from.len());
    to[..len].copy_from_slice(&from[..len]);
}

/// Where a block begins: the last one ends with the elements, some of which are done twice then, if there are so many.
#[inline(always)]
fn block_at(at: usize, len: usize) -> usize {
    at.min(len.saturating_sub(BLOCK))
}

/// Blocks whose hard elements are done after all of them.
const GROUP: usize = 4;

/// Whether to do so: where hard elements take calls, the constants of the function stay in registers meanwhile, if there are
/// enough of those (sines of `f32` take a fifth less, of `f64` a third more).
const fn in_groups<O: Unary<T>, T: Element>() -> bool {
    matches!(O::HARD, Hard::Slow) && size_of::<T>() == 4
}

/// [`map_blocks`] of up to [`GROUP`] blocks at a time.
#[inline(always)]
fn map_groups<O: Unary<T>, T: Element, A: Arch>(mut dst: &mut [O::Out], mut x: &[T]) {
    let ask = wakes();
    let mut source = [[T::default(); BLOCK]];
    let mut result = [[O::Out::default(); BLOCK]];
    while !x.is_empty() {
        let whole = x.len().min(GROUP * BLOCK) / BLOCK * BLOCK;
        let n = if whole == 0 { x.len() } else { whole };
        let (from, to);
        (from, x) = x.split_at(n);
        (to, dst) = std::mem::take(&mut dst).split_at_mut(n);
        if ask {
            prefetch_after(from);
            prefetch_after(to);
        }
        let (d, s) = if whole == 0 {
            source[0][..n].copy_from_slice(from);
            (&mut result[..], &source[..])
        } else {
            (to.as_chunks_mut().0, from.as_chunks().0)
        };
        map_group::<O, T, A>(d, s);
        if whole == 0 {
            to.copy_from_slice(&result[0][..n]);
        }
    }
}

/// Some blocks of [`map_groups`].
#[inline(always)]
fn map_group<O: Unary<T>, T: Element, A: Arch>(dst: &mut [[O::Out; BLOCK]], x: &[[T; BLOCK]]) {
    // A bit for every block.
    let mut hard = 0u32;
    for (index, (dst, x)) in dst.iter_mut().zip(x).enumerate() {
        hard |= u32::from(first_block::<O, T, A>(dst, x)) << index;
    }
    if hard == 0 {
        return;
    }
    for (index, (dst, x)) in dst.iter_mut().zip(x).enumerate() {
        if hard >> index & 1 == 1 {
            redo_block::<O, T, A>(dst, x);
        }
    }
}

/// One block of [`map_blocks`].
struct MapBlock<O>(PhantomData<O>);

impl<O: Unary<T>, T: Element> BlockJob<T, O::Out> for MapBlock<O> {
    #[inline(always)]
    fn run<A: Arch>(&self, dst: &mut [O::Out; BLOCK], x: &[T; BLOCK]) {
        if first_block::<O, T, A>(dst, x) {
            redo_block::<O, T, A>(dst, x);
        }
    }
}

/// A block as if no element were hard, and whether some are.
#[inline(always)]
fn first_block<O: Unary<T>, T: Element, A: Arch>(
    dst: &mut [O::Out; BLOCK],
    x: &[T; BLOCK],
) -> bool {
    if let Some(hard) = O::block::<A>(dst, x) {
        return hard;
    }
    let mut hard = false;
    for (d, &x) in dst.iter_mut().zip(x) {
        let result = O::apply::<A>(x);
        hard |= O::is_hard(x, result);
        *d = result;
    }
    hard
}

/// The hard elements of a block.
#[inline(always)]
fn redo_block<O: Unary<T>, T: Element, A: Arch>(dst: &mut [O::Out; BLOCK], x: &[T; BLOCK]) {
    if O::HARD == Hard::Slow {
        redo_each::<O, T>(dst, x);
        return;
    }
    for (d, &x) in dst.iter_mut().zip(x) {
        let complete = O::redo::<A>(x);
        *d = if O::is_hard(x, *d) { complete } else { *d };
    }
}

/// The hard elements of a block, one by one.
#[cold]
fn redo_each<O: Unary<T>, T: Element>(dst: &mut [O::Out; BLOCK], x: &[T; BLOCK]) {
    for (d, &x) in dst.iter_mut().zip(x) {
        if O::is_hard(x, *d) {
            *d = O::redo::<Plain>(x);
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
    if const { is_vector::<T, A>() } {
        return zip_vectors::<O, T, A>(dst, x, y);
    }
    for ((d, &x), &y) in dst.iter_mut().zip(x).zip(y) {
        *d = O::apply::<A>(x, y);
    }
}

/// [`zip`] block by block, whatever the processor asks for.
#[inline(always)]
fn zip_vectors<O: Binary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: &[T], y: &[T]) {
    let (is_few, len) = (x.len() < BLOCK, x.len().max(BLOCK));
    let mut sources = [[T::default(); BLOCK]; 2];
    let mut result = [O::Out::default(); BLOCK];
    if is_few {
        copy_few(&mut sources[0], x);
        copy_few(&mut sources[1], y);
    }
    let (to, x, y): (&mut [O::Out], &[T], &[T]) = match is_few {
        true => (&mut result, &sources[0], &sources[1]),
        false => (&mut *dst, x, y),
    };
    for at in (0..len).step_by(BLOCK) {
        let at = block_at(at, len);
        let there = block_mut(to, at).zip(block(x, at).zip(block(y, at)));
        if let Some((d, (x, y))) = there {
            for ((d, &x), &y) in d.iter_mut().zip(x).zip(y) {
                *d = O::apply::<A>(x, y);
            }
        }
    }
    if is_few {
        copy_few(dst, &result);
    }
}

/// [`zip`] as [`map_blocks`] does it.
#[inline(always)]
pub(crate) fn zip_blocks<O: Binary<T>, T: Element, A: Arch>(dst: &mut [O::Out], x: &[T], y: &[T]) {
    let (ask, len) = (wakes(), x.len());
    let mut sources = [[T::default(); BLOCK]; 2];
    let mut result = [O::Out::default(); BLOCK];
    for at in (0..len).step_by(BLOCK) {
        let at = block_at(at, len);
        let there = block_mut(dst, at).zip(block(x, at).zip(block(y, at)));
        let (d, s, t): (&mut [O::Out; BLOCK], &[T; BLOCK], &[T; BLOCK]) = match there {
            Some((dst, (x, y))) => {
                if ask {
                    prefetch_after(x);
                    prefetch_after(y);
                    prefetch_after(dst);
                }
                (dst, x, y)
            }
            None => {
                copy_few(&mut sources[0], x);
                copy_few(&mut sources[1], y);
                (&mut result, &sources[0], &sources[1])
            }
        };
        zip_block::<O, T, A>(d, s, t);
        if len < BLOCK {
            copy_few(dst, &result);
        }
    }
}

/// One block of [`zip_blocks`].
#[inline(always)]
fn zip_block<O: Binary<T>, T: Element, A: Arch>(
    dst: &mut [O::Out; BLOCK],
    x: &[T; BLOCK],
    y: &[T; BLOCK],
) {
    let hard = match O::block::<A>(dst, x, y) {
        Some(hard) => hard,
        None => {
            let mut hard = false;
            for ((d, &x), &y) in dst.iter_mut().zip(x).zip(y) {
                let result = O::apply::<A>(x, y);
                hard |= O::is_hard(x, y, result);
                *d = result;
            }
            hard
        }
    };
    if !hard {
        return;
    }
    if O::HARD == Hard::Slow {
        redo_pairs::<O, T>(dst, x, y);
        return;
    }
    for ((d, &x), &y) in dst.iter_mut().zip(x).zip(y) {
        let complete = O::redo::<A>(x, y);
        *d = if O::is_hard(x, y, *d) { complete } else { *d };
    }
}

/// The hard pairs of a block, one by one.
#[cold]
fn redo_pairs<O: Binary<T>, T: Element>(dst: &mut [O::Out; BLOCK], x: &[T; BLOCK], y: &[T; BLOCK]) {
    for ((d, &x), &y) in dst.iter_mut().zip(x).zip(y) {
        if O::is_hard(x, y, *d) {
            *d = O::redo::<Plain>(x, y);
        }
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
    if O::by_number::<A>(dst, x, y) {
        return;
    }
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

/// Elements that are only chosen among, by their bits.
pub(crate) trait Bits: Element {
    /// `a` if the flag is not zero, else `b`.
    fn choose(flag: u8, a: Self, b: Self) -> Self;
}

macro_rules! bits {
    ($($T:ty),*) => {$(
        impl Bits for $T {
            #[inline(always)]
            fn choose(flag: u8, a: $T, b: $T) -> $T {
                // All ones or none. With an `if` the compiler loads what it needs alone, and makes no vectors.
                let mask = <$T>::from(flag == 0).wrapping_sub(1);
                b ^ ((a ^ b) & mask)
            }
        }
    )*};
}
bits!(u8, u16, u32, u64);

/// `dst[i] = if cond[i] { a[i] } else { b[i] }`; the truth of `cond` is "not zero". Bytes in, so that one loop serves all
/// types of a size.
#[inline(always)]
pub(crate) fn select<T: Bits>(dst: &mut [T], cond: &[u8], a: &[T], b: &[T]) {
    for (((d, &c), &a), &b) in dst.iter_mut().zip(cond).zip(a).zip(b) {
        *d = T::choose(c, a, b);
    }
}

/// [`select`] where `b` is written over.
#[inline(always)]
pub(crate) fn select_in_place<T: Bits>(dst: &mut [T], cond: &[u8], a: &[T]) {
    for ((d, &c), &a) in dst.iter_mut().zip(cond).zip(a) {
        *d = T::choose(c, a, *d);
    }
}

/// `dst[i] = x[i]` in another type.
#[inline(always)]
pub(crate) fn cast<S: Cast<D>, D: Element, A: Arch>(dst: &mut [D], x: &[S]) {
    if const { S::BLOCKS && A::TUNED } {
        return for_blocks::<_, _, A, _>(dst, x, x.len() > LONGEST_TILE, CastBlock);
    }
    for (d, &x) in dst.iter_mut().zip(x) {
        *d = x.cast();
    }
}

/// One block of [`cast`].
struct CastBlock;

impl<S: Cast<D>, D: Element> BlockJob<S, D> for CastBlock {
    const INLINE: bool = true;

    #[inline(always)]
    fn run<A: Arch>(&self, dst: &mut [D; BLOCK], x: &[S; BLOCK]) {
        S::cast_block::<A>(dst, x);
    }
}

/// `dst[i] = x`.
#[inline(always)]
pub(crate) fn fill<T: Element>(dst: &mut [T], x: T) {
    dst.fill(x);
}
