//! The loops that halves have of their own: a block at a time is made f32, worked on and made halves again in registers. Other
//! operations go through tiles of f32, which costs little beside many instructions but as much again beside one.

use crate::inner::{BlockJob, for_blocks};
use crate::isa::{Arch, Kernel, Level, RawKernel};
use crate::scalar::cast::Cast;
use crate::scalar::{BLOCK, Binary, Unary};
use crate::table::{BinaryKernel, Map, MapBlocks, MapInPlace, NumberZip, UnaryKernel, ZipBlocks};
use crate::vector::Vector;
use half::{bf16, f16};
use lodestride_buffer::{DType, Element};
use std::marker::PhantomData;

/// Floats of 16 bits.
pub(crate) trait Half: Cast<f32> {
    /// The nearest ones.
    fn narrowed<A: Arch>(dst: &mut [Self; BLOCK], x: &[f32; BLOCK]);
    /// The nearest one.
    fn nearest(x: f32) -> Self;
}

macro_rules! half {
    ($($H:ident)*) => { $(
        impl Half for $H {
            #[inline(always)]
            fn narrowed<A: Arch>(dst: &mut [$H; BLOCK], x: &[f32; BLOCK]) {
                Cast::cast_block::<A>(dst, x);
            }

            #[inline(always)]
            fn nearest(x: f32) -> $H {
                x.cast()
            }
        }
    )* };
}

half! { f16 bf16 }

/// An operation on f32, on halves.
pub(crate) struct OnHalves<O>(PhantomData<O>);

impl<H: Half, O: Unary<f32, Out = f32>> Unary<H> for OnHalves<O> {
    type Out = H;

    #[inline(always)]
    fn block<A: Arch>(dst: &mut [H; BLOCK], x: &[H; BLOCK]) -> Option<bool> {
        let (mut singles, mut results) = ([0.0; BLOCK], [0.0; BLOCK]);
        H::cast_block::<A>(&mut singles, x);
        if O::block::<A>(&mut results, &singles).is_none() {
            for (result, &x) in results.iter_mut().zip(&singles) {
                *result = O::apply::<A>(x);
            }
        }
        H::narrowed::<A>(dst, &results);
        Some(false)
    }

    #[inline(always)]
    fn apply<A: Arch>(x: H) -> H {
        H::nearest(O::apply::<A>(x.cast()))
    }
}

impl<H: Half, O: Binary<f32, Out = f32>> Binary<H> for OnHalves<O> {
    type Out = H;

    #[inline(always)]
    fn block<A: Arch>(dst: &mut [H; BLOCK], x: &[H; BLOCK], y: &[H; BLOCK]) -> Option<bool> {
        let mut singles = [[0.0; BLOCK]; 2];
        let [left, right] = &mut singles;
        H::cast_block::<A>(left, x);
        H::cast_block::<A>(right, y);
        let run = const { at_a_time(<A::F32 as Vector<f32>>::LANES) };
        let runs = left.chunks_exact_mut(run).zip(right.chunks_exact(run));
        for (left, right) in runs {
            for (x, &y) in left.iter_mut().zip(right) {
                *x = O::apply::<A>(*x, y);
            }
        }
        H::narrowed::<A>(dst, left);
        Some(false)
    }

    #[inline(always)]
    fn apply<A: Arch>(x: H, y: H) -> H {
        H::nearest(O::apply::<A>(x.cast(), y.cast()))
    }
}

/// How many pairs of a block are worked on at a time: with AVX2 a vector, since of more the compiler chooses among halves what it
/// should choose among f32. Vectors of AVX-512 it would take apart.
const fn at_a_time(lanes: usize) -> usize {
    if lanes == 8 { lanes } else { BLOCK }
}

/// `dst[i] = O(x[i], y)`: the number keeps the precision of f32.
#[inline(always)]
pub(crate) fn zip_number<O: Binary<f32, Out = f32>, H: Half, A: Arch>(
    dst: &mut [H],
    x: &[H],
    y: f32,
) {
    let beside = PhantomData::<O>;
    for_blocks::<_, _, A, _>(dst, x, true, Number { y, beside });
}

/// One block of [`zip_number`].
struct Number<O> {
    y: f32,
    beside: PhantomData<O>,
}

impl<O: Binary<f32, Out = f32>, H: Half> BlockJob<H, H> for Number<O> {
    #[inline(always)]
    fn run<A: Arch>(&self, dst: &mut [H; BLOCK], x: &[H; BLOCK]) {
        let mut singles = [0.0; BLOCK];
        H::cast_block::<A>(&mut singles, x);
        for x in &mut singles {
            *x = O::apply::<A>(*x, self.y);
        }
        H::narrowed::<A>(dst, &singles);
    }
}

/// An operation that changes nothing but the sign, on the bits of a half: what it does to the sign of an f32.
struct BySign<O>(PhantomData<O>);

impl<O: Unary<f32, Out = f32>> Unary<u16> for BySign<O> {
    type Out = u16;

    #[inline(always)]
    fn apply<A: Arch>(x: u16) -> u16 {
        const SIGN: u16 = 1 << 15;
        let sign = |x: f32| (O::apply::<A>(x).to_bits() >> 16) as u16 & SIGN;
        let of_positive = sign(1.0);
        let change = of_positive ^ sign(-1.0);
        (x & !SIGN) | (x & change ^ of_positive)
    }
}

/// The loops of an operation that changes nothing but the sign, the same for both dtypes of 16 bits; `None` for others.
pub(crate) fn sign<O: Unary<f32, Out = f32>>(dtype: DType, level: Level) -> Option<UnaryKernel> {
    dtype.is_half().then(|| UnaryKernel {
        out: dtype,
        heavy: false,
        map: level.kernel::<Map<BySign<O>, u16>>(),
        in_place: Some(level.kernel::<MapInPlace<BySign<O>, u16>>()),
    })
}

/// A loop of blocks of halves: with AVX-512, where there are registers for a block of two operands; and of f16 with AVX2, too. There
/// its conversions are an instruction each, while those of bf16 are several and a tile costs little beside them.
fn kernel<K: Kernel, H: Half>(level: Level) -> Option<RawKernel> {
    if const { cfg!(target_arch = "x86_64") && matches!(H::DTYPE, DType::F16) } {
        return level.wide_kernel::<K>();
    }
    level.widest_kernel::<K>()
}

/// The loops of an operation of few instructions for a dtype of 16 bits.
pub(crate) fn unary<O: Unary<f32, Out = f32>>(dtype: DType, level: Level) -> Option<UnaryKernel> {
    let map = match dtype {
        DType::F16 => kernel::<MapBlocks<OnHalves<O>, f16>, f16>(level)?,
        DType::BF16 => kernel::<MapBlocks<OnHalves<O>, bf16>, bf16>(level)?,
        _ => return None,
    };
    Some(UnaryKernel {
        out: dtype,
        heavy: false,
        map,
        in_place: None,
    })
}

/// [`unary`] for two operands. Its form for a number takes that as f32, not as a half, and so only with
/// [`dense_scalar`](crate::dense::dense_scalar).
pub(crate) fn binary<O: Binary<f32, Out = f32>>(dtype: DType, level: Level) -> Option<HalfLoops> {
    match dtype {
        DType::F16 => of_pairs::<O, f16>(level),
        DType::BF16 => of_pairs::<O, bf16>(level),
        _ => None,
    }
}

/// The loops of an operation on two operands of which one may be a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfLoops {
    /// For two arrays.
    pub(crate) arrays: BinaryKernel,
    /// For an array and a number of f32 behind it.
    pub(crate) number: BinaryKernel,
}

fn of_pairs<O: Binary<f32, Out = f32>, H: Half>(level: Level) -> Option<HalfLoops> {
    let arrays = BinaryKernel {
        out: <H as Element>::DTYPE,
        heavy: false,
        zip: kernel::<ZipBlocks<OnHalves<O>, H>, H>(level)?,
        zip_in_place: None,
        zip_scalar: None,
        zip_scalar_in_place: None,
        scalar_zip: None,
    };
    let number = BinaryKernel {
        zip_scalar: Some(kernel::<NumberZip<O, H>, H>(level)?),
        ..arrays
    };
    Some(HalfLoops { arrays, number })
}
