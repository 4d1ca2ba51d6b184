//! Vectors that take numbers apart into octaves and look up by the piece of the octave: what powers by tables need beyond
//! [`Vector`].
//!
//! With AVX-512 a table of two registers is looked up by one instruction, masks put a number in the place of what is not done,
//! and another instruction tells which numbers are plain. Elsewhere there are none of these vectors.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them"
    )
)]

use crate::scalar::BLOCK;
use crate::scalar::float::Float;
use crate::twice::Twice;
use crate::vector::Vector;

/// Vectors whose lanes look up in a table of two vectors.
pub(crate) trait Octave<C: Float>: Vector<C> {
    /// Per lane, the number of the table at the place that its lowest bits say.
    fn pick(self, table: &[C]) -> Self;
    /// `self * factor - term`, in one rounding.
    fn mul_sub(self, factor: Self, term: Self) -> Self;
    /// Plain numbers as `2^k m`, the octave of `m` beginning with `first`: in the lowest bits which piece of the octave, then `m`,
    /// `k` times 2 to the number of mantissa bits, and 2^-k, or 0 where that is denormal.
    fn octave(self, first: Self) -> (Self, Self, Self, Self);
    /// Times 2^n, from `WHOLE + n`, where `x` is plain and `power` nearer to zero than `end`, else 0; and whether none is 0.
    fn scaled_within(self, shifted: Self, x: Self, power: Self, end: Self) -> (Self, bool);
    /// Per lane, the number of the table at the place that its lowest bits say, times 2 to what the bits above say. The bits of the
    /// table's numbers are less by their places where the exponent begins.
    fn root_times_power(self, table: &[C]) -> Self;
    /// The same over 2 to what the bits above say, of a table whose numbers are more by their places.
    fn root_over_power(self, table: &[C]) -> Self;
    /// Whether all are plain numbers: positive, neither denormal nor infinite.
    fn are_plain(self) -> bool;
    /// Whether all are nearer to zero than `end`.
    fn are_within(self, end: Self) -> bool;
    /// Distance from zero.
    fn size(self) -> Self;
    /// With the sign of another.
    fn signed_as(self, other: Self) -> Self;
    /// `other` where that is zero, of either sign.
    fn zero_as(self, other: Self) -> Self;
    /// The bits of `top` less those of this one: of a positive number near its inverse, by a `top` for that.
    fn bits_below(self, top: Self) -> Self;
    /// In the lowest bits which piece of the octaves that begin with `first`: a quarter of them (f32) or half of them (f64).
    fn coarse_piece(self, first: Self) -> Self;
    /// The upper half of the bits as a whole number, times `slope` plus `start`: the low bits of that as the upper half.
    fn upper_half_line(self, slope: Self, start: Self) -> Self;
    /// Where the sign of this one is negative `then`, elsewhere `other`.
    fn negative(self, then: Self, other: Self) -> Self;
    /// `then` where this is nearer to zero than `end`, else `other`.
    fn if_within(self, end: Self, then: Self, other: Self) -> Self;
}

/// A function of vectors that look up.
pub(crate) trait LookUp<C: Float> {
    /// The results, and whether it could do all of these numbers.
    fn of<V: Octave<C>>(x: V) -> (V, bool);
}

/// A function of pairs of vectors that look up.
pub(crate) trait LookUpPair<C: Float> {
    /// The results for a block, and whether there are pairs that it could not do.
    fn block<V: Octave<C>>(dst: &mut [C; BLOCK], x: &[C; BLOCK], y: &[C; BLOCK]) -> bool;
}

/// `c[0] + c[1] x + c[2] x^2 + ..`; of a long one the odd powers beside the even ones.
#[inline(always)]
pub(crate) fn polynomial<C: Float, V: Octave<C>>(x: V, c: &[C]) -> V {
    if c.len() < 12 {
        return every(x, c, 0, 1);
    }
    let square = x.mul(x);
    every(square, c, 1, 2).mul_add(x, every(square, c, 0, 2))
}

/// The polynomial of every `step`-th coefficient from `first` on.
#[inline(always)]
fn every<C: Float, V: Octave<C>>(x: V, c: &[C], first: usize, step: usize) -> V {
    let mut place = first + (c.len() - 1 - first) / step * step;
    let mut sum = V::splat(c[place]);
    while place > first {
        place -= step;
        sum = sum.mul_add(x, V::splat(c[place]));
    }
    sum
}

/// The function of a block, and whether there are numbers that it could not do.
#[inline(always)]
pub(crate) fn block<C: Float, F: LookUp<C>, V: Octave<C>>(
    dst: &mut [C; BLOCK],
    x: &[C; BLOCK],
) -> bool {
    let mut all = true;
    for at in (0..BLOCK).step_by(4 * V::LANES) {
        let (result, done) = F::of(Twice::<Twice<V>>::load(&x[at..]));
        all &= done;
        result.store(&mut dst[at..]);
    }
    !all
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Octave;
    use crate::vector::Vector;
    use crate::vector::x86::Register;
    use std::arch::x86_64::*;

    /// Every class of numbers but the plain ones.
    const NOT_PLAIN: i32 = 0xff;

    macro_rules! octave {
        ($c:ty, $r:ty, $mantissa:literal, $half:literal, $coarse:literal, $piece:literal, $bits:ident, $of_bits:ident, $pick:ident, $mul_sub:ident,
         $splat:ident($exponent:expr), $add:ident, $add_all:ident, $sub:ident, $max:ident, $left:ident, $right:ident, $to_float:ident, $class:ident,
         $abs:ident, $compare:ident, $blend:ident, $signs:ident) => {
            impl Octave<$c> for Register<$r> {
                #[inline(always)]
                fn pick(self, table: &[$c]) -> Self {
                    let (low, high) = (Self::load(table), Self::load(&table[Self::LANES..]));
                    // SAFETY: the processor has the instruction: see `Register`.
                    Register(unsafe { $pick(low.0, $bits(self.0), high.0) })
                }
                #[inline(always)]
                fn mul_sub(self, factor: Self, term: Self) -> Self {
                    // SAFETY: as above.
                    Register(unsafe { $mul_sub(self.0, factor.0, term.0) })
                }
                #[inline(always)]
                fn octave(self, first: Self) -> (Self, Self, Self, Self) {
                    let one = Self::splat(1.0);
                    // SAFETY: as above.
                    unsafe {
                        let moved = $sub($bits(self.0), $bits(first.0));
                        let octave = _mm512_and_si512(moved, $splat($exponent));
                        let (piece, m) = ($right::<$piece>(moved), $sub($bits(self.0), octave));
                        (
                            Register($of_bits(piece)),
                            Register($of_bits(m)),
                            Register($to_float(octave)),
                            Register($of_bits($max(
                                $sub($bits(one.0), octave),
                                _mm512_setzero_si512(),
                            ))),
                        )
                    }
                }
                #[inline(always)]
                fn are_plain(self) -> bool {
                    // SAFETY: as above.
                    unsafe { $class::<NOT_PLAIN>(self.0) == 0 }
                }
                #[inline(always)]
                fn are_within(self, end: Self) -> bool {
                    // SAFETY: as above.
                    unsafe { $compare::<_CMP_LT_OQ>(!0, $abs(self.0), end.0) == !0 }
                }
                #[inline(always)]
                fn scaled_within(
                    self,
                    shifted: Self,
                    x: Self,
                    power: Self,
                    end: Self,
                ) -> (Self, bool) {
                    // SAFETY: as above.
                    unsafe {
                        let plain = !$class::<NOT_PLAIN>(x.0);
                        let within = $compare::<_CMP_LT_OQ>(plain, $abs(power.0), end.0);
                        let exponent = $left::<$mantissa>($bits(shifted.0));
                        let results = $add(within, $bits(self.0), exponent);
                        (Register($of_bits(results)), within == !0)
                    }
                }
                #[inline(always)]
                fn root_times_power(self, table: &[$c]) -> Self {
                    // SAFETY: as above.
                    unsafe {
                        let power = $left::<$piece>($bits(self.0));
                        Register($of_bits($add_all($bits(self.pick(table).0), power)))
                    }
                }
                #[inline(always)]
                fn root_over_power(self, table: &[$c]) -> Self {
                    // SAFETY: as above.
                    unsafe {
                        let power = $left::<$piece>($bits(self.0));
                        Register($of_bits($sub($bits(self.pick(table).0), power)))
                    }
                }
                #[inline(always)]
                fn bits_below(self, top: Self) -> Self {
                    // SAFETY: as above.
                    Register(unsafe { $of_bits($sub($bits(top.0), $bits(self.0))) })
                }
                #[inline(always)]
                fn coarse_piece(self, first: Self) -> Self {
                    // SAFETY: as above.
                    unsafe {
                        let moved = $sub($bits(self.0), $bits(first.0));
                        Register($of_bits($right::<$coarse>(moved)))
                    }
                }
                #[inline(always)]
                fn upper_half_line(self, slope: Self, start: Self) -> Self {
                    // SAFETY: as above.
                    let top = Register(unsafe { $to_float($right::<$half>($bits(self.0))) });
                    let line = top.mul_add(slope, start);
                    // SAFETY: as above.
                    Register(unsafe { $of_bits($left::<$half>($bits(line.0))) })
                }
                #[inline(always)]
                fn negative(self, then: Self, other: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { Register($blend($signs($bits(self.0)), other.0, then.0)) }
                }
                #[inline(always)]
                fn if_within(self, end: Self, then: Self, other: Self) -> Self {
                    // SAFETY: as above.
                    unsafe {
                        let within = $compare::<_CMP_LT_OQ>(!0, $abs(self.0), end.0);
                        Register($blend(within, other.0, then.0))
                    }
                }
                #[inline(always)]
                fn size(self) -> Self {
                    // SAFETY: as above.
                    Register(unsafe { $abs(self.0) })
                }
                #[inline(always)]
                fn zero_as(self, other: Self) -> Self {
                    let zero = Self::splat(0.0);
                    // SAFETY: as above.
                    Register(unsafe {
                        let zeros = $compare::<_CMP_EQ_OQ>(!0, other.0, zero.0);
                        $blend(zeros, self.0, other.0)
                    })
                }
                #[inline(always)]
                fn signed_as(self, other: Self) -> Self {
                    let sign = Self::splat(-0.0);
                    // Bit by bit `other` where `sign` is set, else `self`.
                    // SAFETY: as above.
                    Register(unsafe {
                        $of_bits(_mm512_ternarylogic_epi64::<0xd8>(
                            $bits(self.0),
                            $bits(other.0),
                            $bits(sign.0),
                        ))
                    })
                }
            }
        };
    }

    octave!(
        f32,
        __m512,
        23,
        16,
        21,
        18,
        _mm512_castps_si512,
        _mm512_castsi512_ps,
        _mm512_permutex2var_ps,
        _mm512_fmsub_ps,
        _mm512_set1_epi32(!0 << 23),
        _mm512_maskz_add_epi32,
        _mm512_add_epi32,
        _mm512_sub_epi32,
        _mm512_max_epi32,
        _mm512_slli_epi32,
        _mm512_srli_epi32,
        _mm512_cvtepi32_ps,
        _mm512_fpclass_ps_mask,
        _mm512_abs_ps,
        _mm512_mask_cmp_ps_mask,
        _mm512_mask_blend_ps,
        _mm512_movepi32_mask
    );
    octave!(
        f64,
        __m512d,
        52,
        32,
        51,
        48,
        _mm512_castpd_si512,
        _mm512_castsi512_pd,
        _mm512_permutex2var_pd,
        _mm512_fmsub_pd,
        _mm512_set1_epi64(!0 << 52),
        _mm512_maskz_add_epi64,
        _mm512_add_epi64,
        _mm512_sub_epi64,
        _mm512_max_epi64,
        _mm512_slli_epi64,
        _mm512_srli_epi64,
        _mm512_cvtepi64_pd,
        _mm512_fpclass_pd_mask,
        _mm512_abs_pd,
        _mm512_mask_cmp_pd_mask,
        _mm512_mask_blend_pd,
        _mm512_movepi64_mask
    );
}
