//! Vectors of one instruction set, for the few kernels whose loops the compiler does not vectorise well by itself: those
//! that keep several accumulators, join their lanes, and end in the middle of a vector.
//!
//! A kernel is written once over [`Vector`]; [`crate::isa::Arch`] says which type that is. Without vector instructions of
//! our own choice it is an array.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them"
    )
)]

use crate::across::Plain;
use crate::numeric::{Compute, ComputeFloat};

/// Some neighbouring numbers, worked on together.
pub(crate) trait Vector<C>: Plain {
    /// How many.
    const LANES: usize;
    fn splat(value: C) -> Self;
    /// The first `LANES` elements.
    ///
    /// # Panics
    /// If there are fewer.
    fn load(data: &[C]) -> Self;
    /// The elements of a slice of at most `LANES`, then `fill`.
    fn load_part(data: &[C], fill: C) -> Self;
    /// Writes the first `LANES` elements.
    ///
    /// # Panics
    /// If there are fewer.
    fn store(self, data: &mut [C]);
    /// Writes as many lanes as a slice of at most `LANES` has elements.
    fn store_part(self, data: &mut [C]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// `self * factor + term`, in one rounding where the machine has the instruction.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `term - self * factor`, in one rounding where the machine has the instruction.
    fn neg_mul_add(self, factor: Self, term: Self) -> Self;
    /// The larger number; `other` where either is NaN.
    fn larger(self, other: Self) -> Self;
    /// The smaller number; `other` where either is NaN.
    fn smaller(self, other: Self) -> Self;
    /// The low bits of each lane moved to where the exponent is.
    fn exponent_bits(self) -> Self;
    fn root(self) -> Self;
    /// The sum of all lanes.
    fn total(self) -> C;
    /// The largest lane, NaN apart.
    fn largest(self) -> C;
}

/// Lanes of the widest vector.
pub(crate) const MOST_LANES: usize = 16;

/// The largest number of a run, NaN apart.
#[inline(always)]
pub(crate) fn largest_of<C: Compute, V: Vector<C>>(run: &[C]) -> C {
    let mut best = [V::splat(C::LOWEST); 4];
    let whole = run.len() / (4 * V::LANES) * 4 * V::LANES;
    for at in (0..whole).step_by(4 * V::LANES) {
        for (i, best) in best.iter_mut().enumerate() {
            *best = V::load(&run[at + i * V::LANES..]).larger(*best);
        }
    }
    for at in (whole..run.len()).step_by(V::LANES) {
        let part = &run[at..run.len().min(at + V::LANES)];
        best[0] = V::load_part(part, C::LOWEST).larger(best[0]);
    }
    let [a, b, c, d] = best;
    a.larger(b).larger(c.larger(d)).largest()
}

/// Floats whose bits can be moved.
pub(crate) trait ExponentBits: ComputeFloat {
    /// Bits of the mantissa.
    fn exponent_bits(self) -> Self;
    fn fused(self, factor: Self, term: Self) -> Self;
    fn square_root(self) -> Self;
}

impl ExponentBits for f32 {
    #[inline(always)]
    fn exponent_bits(self) -> Self {
        f32::from_bits(self.to_bits() << 23)
    }
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        if cfg!(target_arch = "aarch64") {
            f32::mul_add(self, factor, term)
        } else {
            self * factor + term
        }
    }
    #[inline(always)]
    fn square_root(self) -> Self {
        self.sqrt()
    }
}

impl ExponentBits for f64 {
    #[inline(always)]
    fn exponent_bits(self) -> Self {
        f64::from_bits(self.to_bits() << 52)
    }
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        if cfg!(target_arch = "aarch64") {
            f64::mul_add(self, factor, term)
        } else {
            self * factor + term
        }
    }
    #[inline(always)]
    fn square_root(self) -> Self {
        self.sqrt()
    }
}

/// An array as a vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array<C, const N: usize>([C; N]);

impl<C: Copy, const N: usize> Array<C, N> {
    #[inline(always)]
    fn zip(self, other: Self, job: impl Fn(C, C) -> C) -> Self {
        Array(std::array::from_fn(|lane| job(self.0[lane], other.0[lane])))
    }

    #[inline(always)]
    fn zip3(self, b: Self, c: Self, job: impl Fn(C, C, C) -> C) -> Self {
        Array(std::array::from_fn(|lane| {
            job(self.0[lane], b.0[lane], c.0[lane])
        }))
    }
}

impl<C: ExponentBits, const N: usize> Vector<C> for Array<C, N> {
    const LANES: usize = N;

    #[inline(always)]
    fn splat(value: C) -> Self {
        Array([value; N])
    }
    #[inline(always)]
    fn load(data: &[C]) -> Self {
        Array(std::array::from_fn(|lane| data[lane]))
    }
    #[inline(always)]
    fn load_part(data: &[C], fill: C) -> Self {
        let mut lanes = [fill; N];
        lanes[..data.len()].copy_from_slice(data);
        Array(lanes)
    }
    #[inline(always)]
    fn store(self, data: &mut [C]) {
        data[..N].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn store_part(self, data: &mut [C]) {
        data.copy_from_slice(&self.0[..data.len()]);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, C::add)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, C::sub)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, C::mul)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, C::div)
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self.zip3(factor, term, C::fused)
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        self.zip3(factor, term, |a, b, c| C::ZERO.sub(a).fused(b, c))
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn exponent_bits(self) -> Self {
        Array(self.0.map(C::exponent_bits))
    }
    #[inline(always)]
    fn root(self) -> Self {
        Array(self.0.map(C::square_root))
    }
    #[inline(always)]
    fn total(self) -> C {
        self.0.into_iter().fold(C::ZERO, C::add)
    }
    #[inline(always)]
    fn largest(self) -> C {
        self.0.into_iter().fold(
            C::LOWEST,
            |best, value| if value > best { value } else { best },
        )
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    //! Vectors of AVX2 with FMA and of AVX-512.

    use super::Vector;
    use crate::numeric::Compute;
    use std::arch::x86_64::*;

    /// One vector register. Only code that [`crate::isa`] compiles for the register's instruction set makes and uses one.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Register<R>(pub(crate) R);

    /// What both widths do alike: one instruction per function.
    macro_rules! arithmetic {
        ($c:ty, $r:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $max:ident, $min:ident, $fma:ident, $fnma:ident,
         $root:ident, $($name:ident $op:ident),*) => {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(value: $c) -> Self {
                // SAFETY: the processor has the instruction: see `Register`.
                Register(unsafe { $splat(value) })
            }
            #[inline(always)]
            fn load(data: &[$c]) -> Self {
                assert!(data.len() >= $lanes);
                // SAFETY: as above, and the slice holds that many numbers.
                Register(unsafe { $load(data.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, data: &mut [$c]) {
                assert!(data.len() >= $lanes);
                // SAFETY: as above.
                unsafe { $store(data.as_mut_ptr(), self.0) }
            }
            $(
                #[inline(always)]
                fn $name(self, other: Self) -> Self {
                    // SAFETY: the processor has the instruction: see `Register`.
                    Register(unsafe { $op(self.0, other.0) })
                }
            )*
            #[inline(always)]
            fn root(self) -> Self {
                // SAFETY: as above.
                Register(unsafe { $root(self.0) })
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                // SAFETY: as above.
                Register(unsafe { $max(self.0, other.0) })
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                // SAFETY: as above.
                Register(unsafe { $min(self.0, other.0) })
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                // SAFETY: as above.
                Register(unsafe { $fma(self.0, factor.0, term.0) })
            }
            #[inline(always)]
            fn neg_mul_add(self, factor: Self, term: Self) -> Self {
                // SAFETY: as above.
                Register(unsafe { $fnma(self.0, factor.0, term.0) })
            }
        };
    }

    /// Vectors of 512 bits: parts by masks, joins by the library's shuffles.
    macro_rules! wide {
        ($c:ty, $r:ty, $mask:ty, $lanes:literal, $bits:literal, $splat:ident, $load:ident, $store:ident, $max:ident, $min:ident,
         $fma:ident, $fnma:ident, $mask_load:ident, $mask_store:ident, $shift:ident, $to_int:ident, $from_int:ident,
         $total:ident, $largest:ident, $root:ident, $add:ident, $sub:ident, $mul:ident, $div:ident) => {
            impl Vector<$c> for Register<$r> {
                arithmetic!($c, $r, $lanes, $splat, $load, $store, $max, $min, $fma, $fnma,
                    $root, add $add, sub $sub, mul $mul, div $div);

                #[inline(always)]
                fn load_part(data: &[$c], fill: $c) -> Self {
                    let fill = <Self as Vector<$c>>::splat(fill);
                    let mask = part(data.len()) as $mask;
                    // SAFETY: as above; lanes beyond the slice are masked out and not touched.
                    Register(unsafe { $mask_load(fill.0, mask, data.as_ptr()) })
                }
                #[inline(always)]
                fn store_part(self, data: &mut [$c]) {
                    let mask = part(data.len()) as $mask;
                    // SAFETY: as above.
                    unsafe { $mask_store(data.as_mut_ptr(), mask, self.0) }
                }
                #[inline(always)]
                fn exponent_bits(self) -> Self {
                    // SAFETY: the processor has the instruction: see `Register`.
                    let bits = unsafe { $to_int(self.0) };
                    // SAFETY: as above.
                    let bits = unsafe { $shift::<$bits>(bits) };
                    // SAFETY: as above.
                    Register(unsafe { $from_int(bits) })
                }
                #[inline(always)]
                fn total(self) -> $c {
                    // SAFETY: as above.
                    unsafe { $total(self.0) }
                }
                #[inline(always)]
                fn largest(self) -> $c {
                    // SAFETY: as above.
                    unsafe { $largest(self.0) }
                }
            }
        };
    }

    /// The lowest `len` lanes.
    #[inline(always)]
    fn part(len: usize) -> u32 {
        (1u32 << len.min(16)) - 1
    }

    wide!(
        f32,
        __m512,
        __mmask16,
        16,
        23,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_max_ps,
        _mm512_min_ps,
        _mm512_fmadd_ps,
        _mm512_fnmadd_ps,
        _mm512_mask_loadu_ps,
        _mm512_mask_storeu_ps,
        _mm512_slli_epi32,
        _mm512_castps_si512,
        _mm512_castsi512_ps,
        _mm512_reduce_add_ps,
        _mm512_reduce_max_ps,
        _mm512_sqrt_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_div_ps
    );
    wide!(
        f64,
        __m512d,
        __mmask8,
        8,
        52,
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_max_pd,
        _mm512_min_pd,
        _mm512_fmadd_pd,
        _mm512_fnmadd_pd,
        _mm512_mask_loadu_pd,
        _mm512_mask_storeu_pd,
        _mm512_slli_epi64,
        _mm512_castpd_si512,
        _mm512_castsi512_pd,
        _mm512_reduce_add_pd,
        _mm512_reduce_max_pd,
        _mm512_sqrt_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_mul_pd,
        _mm512_div_pd
    );

    /// Vectors of 256 bits: parts and joins through an array.
    macro_rules! narrow {
        ($c:ty, $r:ty, $lanes:literal, $bits:literal, $splat:ident, $load:ident, $store:ident, $max:ident, $min:ident,
         $fma:ident, $fnma:ident, $shift:ident, $to_int:ident, $from_int:ident,
         $root:ident, $add:ident, $sub:ident, $mul:ident, $div:ident) => {
            impl Vector<$c> for Register<$r> {
                arithmetic!($c, $r, $lanes, $splat, $load, $store, $max, $min, $fma, $fnma,
                    $root, add $add, sub $sub, mul $mul, div $div);

                #[inline(always)]
                fn load_part(data: &[$c], fill: $c) -> Self {
                    let mut lanes = [fill; $lanes];
                    for (lane, &value) in lanes.iter_mut().zip(data) {
                        *lane = value;
                    }
                    Self::load(&lanes)
                }
                #[inline(always)]
                fn store_part(self, data: &mut [$c]) {
                    let mut lanes = [0.0; $lanes];
                    self.store(&mut lanes);
                    for (value, &lane) in data.iter_mut().zip(&lanes) {
                        *value = lane;
                    }
                }
                #[inline(always)]
                fn exponent_bits(self) -> Self {
                    // SAFETY: the processor has the instruction: see `Register`.
                    let bits = unsafe { $to_int(self.0) };
                    // SAFETY: as above.
                    let bits = unsafe { $shift::<$bits>(bits) };
                    // SAFETY: as above.
                    Register(unsafe { $from_int(bits) })
                }
                #[inline(always)]
                fn total(self) -> $c {
                    let mut lanes = [0.0; $lanes];
                    self.store(&mut lanes);
                    joined(lanes, |a, b| a + b)
                }
                #[inline(always)]
                fn largest(self) -> $c {
                    let mut lanes = [<$c>::LOWEST; $lanes];
                    self.store(&mut lanes);
                    joined(lanes, |a, b| if a > b { a } else { b })
                }
            }
        };
    }

    /// Joins all lanes, half by half.
    #[inline(always)]
    fn joined<C: Copy, const N: usize>(mut lanes: [C; N], join: impl Fn(C, C) -> C) -> C {
        let mut half = N / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[lane] = join(lanes[lane], lanes[lane + half]);
            }
            half /= 2;
        }
        lanes[0]
    }

    narrow!(
        f32,
        __m256,
        8,
        23,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        _mm256_fmadd_ps,
        _mm256_fnmadd_ps,
        _mm256_slli_epi32,
        _mm256_castps_si256,
        _mm256_castsi256_ps,
        _mm256_sqrt_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_div_ps
    );
    narrow!(
        f64,
        __m256d,
        4,
        52,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_max_pd,
        _mm256_min_pd,
        _mm256_fmadd_pd,
        _mm256_fnmadd_pd,
        _mm256_slli_epi64,
        _mm256_castpd_si256,
        _mm256_castsi256_pd,
        _mm256_sqrt_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_div_pd
    );
}
