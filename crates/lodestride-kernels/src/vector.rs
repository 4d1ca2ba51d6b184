//! Vectors of one instruction set, for the few kernels whose loops the compiler does not vectorise well by itself: those
//! that keep several accumulators, join their lanes, and end in the middle of a vector.
//!
//! A kernel is written once over [`Vector`]; [`crate::isa::Arch`] says which type that is. Without vector instructions of
//! our own choice it is an array.
use crate::across::Plain;
use crate::isa::Arch;
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
    /// The lanes of `yes` where this is larger than `other`, of `no` where it is not or either is NaN.
    fn choose_above(self, other: Self, yes: Self, no: Self) -> Self;
    /// A bit for every lane that equals the other's, from the lowest on.
    fn same(self, other: Self) -> u32;
    /// The low bits of each lane moved to where the exponent is.
    fn exponent_bits(self) -> Self;
    fn root(self) -> Self;
    /// The sum of all lanes.
    fn total(self) -> C;
    /// The largest lane, NaN apart.
    fn largest(self) -> C;
}

/// Work that is written over the vectors of an instruction set.
pub(crate) trait VectorTask<C> {
    type Output;
    fn run<A: Arch, V: Vector<C>>(self) -> Self::Output;
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
    fn choose_above(self, other: Self, yes: Self, no: Self) -> Self {
        Array(std::array::from_fn(|lane| {
            let is_above = self.0[lane] > other.0[lane];
            if is_above { yes.0[lane] } else { no.0[lane] }
        }))
    }
    #[inline(always)]
    fn same(self, other: Self) -> u32 {
        (0..N).fold(0, |bits, lane| {
            bits | u32::from(self.0[lane] == other.0[lane]) << lane
        })
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

pub(crate) mod halves;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;
