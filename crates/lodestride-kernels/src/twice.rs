//! Two vectors as one: each step is done to both before the next, so that the processor sees work for the latency of a step
//! within the few instructions that it looks ahead.

use crate::octave::Octave;
use crate::scalar::float::Float;
use crate::vector::Vector;

/// Two neighbouring vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twice<V>(V, V);

/// Functions of vectors that give vectors.
macro_rules! both {
    ($($name:ident($($vector:ident),*))*) => { $(
        #[inline(always)]
        fn $name(self $(, $vector: Self)*) -> Self {
            Twice(self.0.$name($($vector.0),*), self.1.$name($($vector.1),*))
        }
    )* };
    (by table: $($name:ident)*) => { $(
        #[inline(always)]
        fn $name(self, table: &[C]) -> Self {
            Twice(self.0.$name(table), self.1.$name(table))
        }
    )* };
}

impl<C: Float, V: Vector<C>> Vector<C> for Twice<V> {
    const LANES: usize = 2 * V::LANES;

    both! {
        add(other) sub(other) mul(other) div(other) mul_add(factor, term) neg_mul_add(factor, term) larger(other)
        smaller(other) choose_above(other, yes, no) exponent_bits() root()
    }

    #[inline(always)]
    fn splat(value: C) -> Self {
        let both = V::splat(value);
        Twice(both, both)
    }
    #[inline(always)]
    fn load(data: &[C]) -> Self {
        Twice(V::load(data), V::load(&data[V::LANES..]))
    }
    #[inline(always)]
    fn load_part(data: &[C], fill: C) -> Self {
        let (low, high) = data.split_at(data.len().min(V::LANES));
        Twice(V::load_part(low, fill), V::load_part(high, fill))
    }
    #[inline(always)]
    fn store(self, data: &mut [C]) {
        let (low, high) = data.split_at_mut(V::LANES);
        self.0.store(low);
        self.1.store(high);
    }
    #[inline(always)]
    fn store_part(self, data: &mut [C]) {
        let (low, high) = data.split_at_mut(data.len().min(V::LANES));
        self.0.store_part(low);
        self.1.store_part(high);
    }
    #[inline(always)]
    fn same(self, other: Self) -> u32 {
        self.0.same(other.0) | self.1.same(other.1) << V::LANES
    }
    #[inline(always)]
    fn total(self) -> C {
        self.0.add(self.1).total()
    }
    #[inline(always)]
    fn largest(self) -> C {
        self.0.larger(self.1).largest()
    }
}

impl<C: Float, V: Octave<C>> Octave<C> for Twice<V> {
    both! { mul_sub(factor, term) size() signed_as(other) zero_as(other) if_within(end, then, other)
    bits_below(top) coarse_piece(first) upper_half_line(slope, start) negative(then, other) }
    both! { by table: pick root_times_power root_over_power }

    #[inline(always)]
    fn octave(self, first: Self) -> (Self, Self, Self, Self) {
        let (a, b) = (self.0.octave(first.0), self.1.octave(first.1));
        (
            Twice(a.0, b.0),
            Twice(a.1, b.1),
            Twice(a.2, b.2),
            Twice(a.3, b.3),
        )
    }
    #[inline(always)]
    fn scaled_within(self, shifted: Self, x: Self, power: Self, end: Self) -> (Self, bool) {
        let (a, low) = (self.0).scaled_within(shifted.0, x.0, power.0, end.0);
        let (b, high) = (self.1).scaled_within(shifted.1, x.1, power.1, end.1);
        (Twice(a, b), low & high)
    }
    #[inline(always)]
    fn are_plain(self) -> bool {
        self.0.are_plain() & self.1.are_plain()
    }
    #[inline(always)]
    fn are_within(self, end: Self) -> bool {
        self.0.are_within(end.0) & self.1.are_within(end.1)
    }
}
