//! Functions as 32 polynomials side by side, for vectors that look up their own coefficients.
//!
//! Short polynomials around the middle of narrow pieces take half the steps of one formula for all arguments, and their
//! large term comes from the table in two parts, so that little but the last rounding is lost. The coefficients are nearly
//! minimax per piece for the relative error: least squares on Chebyshev points, reweighted, rounded one after another.
#![allow(
    clippy::needless_range_loop,
    reason = "a closure would be compiled without the vector instructions of its caller; what is not inlined at once calls \
              them one by one"
)]

use crate::pick::{PIECES, Pick};
use crate::scalar::BLOCK;
use crate::scalar::float::Float;

/// Per row the coefficients of one power for every piece, of powers 0 to N - 2; before them, what the coefficient of power 0
/// lost.
pub(crate) type Rows<const N: usize> = [[f32; PIECES]; N];

/// Vectors in flight of functions with short polynomials; the tables of longer ones leave registers for fewer.
const FLIGHT: usize = 4;
const FEWER: usize = 2;

/// A function of vectors.
pub(crate) trait OfVectors {
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L];

    /// The function of a block, several vectors at a time.
    #[inline(always)]
    fn of_block<V: Pick, const L: usize>(&self, dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) {
        for at in (0..BLOCK).step_by(L * V::LANES) {
            self.group::<V, L>(&mut dst[at..], &x[at..]);
        }
    }

    /// The function of the first few vectors of slices.
    #[inline(always)]
    fn group<V: Pick, const L: usize>(&self, dst: &mut [f32], x: &[f32]) {
        let mut group = [V::splat(0.0); L];
        for i in 0..L {
            group[i] = V::load(&x[i * V::LANES..]);
        }
        let group = self.of(group);
        for i in 0..L {
            group[i].store(&mut dst[i * V::LANES..]);
        }
    }
}

/// Of the polynomials of the pieces named by the low bits of `piece`, of `t`: all but the coefficient of power 0, and that.
#[inline(always)]
fn polynomials<V: Pick, const N: usize, const L: usize>(
    piece: [V; L],
    t: [V; L],
    rows: &Rows<N>,
) -> ([V; L], [V; L]) {
    let (mut sums, mut large) = (piece, piece);
    for i in 0..L {
        sums[i] = piece[i].pick(&rows[N - 1]);
    }
    for row in rows[2..N - 1].iter().rev() {
        for i in 0..L {
            sums[i] = sums[i].mul_add(t[i], piece[i].pick(row));
        }
    }
    for i in 0..L {
        sums[i] = sums[i].mul_add(t[i], piece[i].pick(&rows[0]));
        large[i] = piece[i].pick(&rows[1]);
    }
    (sums, large)
}

/// An increasing function with the sign of its argument, level from some distance from zero on. In the first piece, whose large
/// term is 0, the argument itself is the large term: the first coefficients there are those of the function less its argument.
///
/// Piece `i` is about `i / SCALE` and reaches from `(i - 1/2) / SCALE + shift` to one piece further: more above than below,
/// so that near a zero at zero the large term of a piece never cancels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odd<const N: usize> {
    /// 1.5 times 2^23 over SCALE: adding it leaves the piece in the low bits.
    pub(crate) grid: f32,
    pub(crate) shift: f32,
    /// Something in the last piece.
    pub(crate) last: f32,
    /// From here on the function is level.
    pub(crate) level: f32,
    pub(crate) rows: Rows<N>,
}

impl<const N: usize> Odd<N> {
    /// The function of a block, if that is fast; no argument is hard.
    #[inline(always)]
    pub(crate) fn block<V: Pick>(&self, dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { V::QUICK } {
            self.of_block::<V, FLIGHT>(dst, x);
        }
        V::QUICK.then_some(false)
    }

    /// The pieces of vectors, and the distances from their middles.
    #[inline(always)]
    fn pieces<V: Pick, const L: usize>(&self, x: [V; L]) -> ([V; L], [V; L]) {
        let grid = V::splat(self.grid);
        let (mut piece, mut t) = (x, x);
        for i in 0..L {
            // NaN stays.
            let size = V::splat(self.level).smaller(x[i].size());
            let moved = size.smaller(V::splat(self.last)).sub(V::splat(self.shift));
            piece[i] = moved.add(grid);
            t[i] = size.sub(piece[i].sub(grid));
        }
        (piece, t)
    }
}

impl<const N: usize> OfVectors for Odd<N> {
    #[inline(always)]
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L] {
        let (piece, t) = self.pieces(x);
        let (mut results, large) = polynomials(piece, t, &self.rows);
        let second = V::splat(self.rows[1][1]);
        for i in 0..L {
            // In the first piece t is less than the large term of the second, in the others that term is no less.
            let large = large[i].larger(t[i].smaller(second));
            results[i] = results[i].add(large).signed_as(x[i]);
        }
        results
    }
}

/// A function that dies off, for negative arguments not below `-reach`, and 1 less it for the positive ones: that is 1 beyond.
///
/// Piece `i` is about `i` times the width, of so few bits that its multiples are exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<const N: usize> {
    pub(crate) width: f32,
    pub(crate) reach: f32,
    pub(crate) rows: Rows<N>,
}

impl<const N: usize> Step<N> {
    /// The function of a block, if that is fast, and whether some arguments are too low for it.
    #[inline(always)]
    pub(crate) fn block<V: Pick>(&self, dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { !V::QUICK } {
            return None;
        }
        self.of_block::<V, FLIGHT>(dst, x);
        Some(any_below(x, -self.reach))
    }
}

impl<const N: usize> OfVectors for Step<N> {
    #[inline(always)]
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L] {
        let (mut piece, mut t) = (x, x);
        let whole = V::splat(f32::WHOLE);
        for i in 0..L {
            // NaN stays.
            let size = V::splat(self.reach).smaller(x[i].size());
            piece[i] = size.mul_add(V::splat(1.0 / self.width), whole);
            t[i] = piece[i].sub(whole).neg_mul_add(V::splat(self.width), size);
        }
        let (mut results, large) = polynomials(piece, t, &self.rows);
        for i in 0..L {
            let share = results[i].add(large[i]);
            results[i] = x[i].negative(share, V::splat(1.0).sub(share));
        }
        results
    }
}

/// Whether some numbers are below a bound.
#[inline(always)]
pub(crate) fn any_below(x: &[f32; BLOCK], bound: f32) -> bool {
    let mut below = false;
    for &x in x {
        below |= x < bound;
    }
    below
}

/// `max(x, 0)` less an even function that dies off: for arguments not below `-reach`.
///
/// Piece `i` is where `|x| (slope + bend |x|)` rounds to `i`: narrower where the function falls faster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rectified<const N: usize> {
    pub(crate) slope: f32,
    pub(crate) bend: f32,
    pub(crate) reach: f32,
    /// The points the polynomials are around.
    pub(crate) middles: [f32; PIECES],
    pub(crate) rows: Rows<N>,
}

impl<const N: usize> Rectified<N> {
    /// The function of a block, if that is fast, and whether some arguments are too low for it.
    #[inline(always)]
    pub(crate) fn block<V: Pick>(&self, dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { !V::QUICK } {
            return None;
        }
        self.of_block::<V, FEWER>(dst, x);
        Some(any_below(x, -self.reach))
    }
}

impl<const N: usize> OfVectors for Rectified<N> {
    #[inline(always)]
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L] {
        let (mut piece, mut t) = (x, x);
        for i in 0..L {
            // NaN stays.
            let size = V::splat(self.reach).smaller(x[i].size());
            let rate = size.mul_add(V::splat(self.bend), V::splat(self.slope));
            piece[i] = size.mul_add(rate, V::splat(f32::WHOLE));
            t[i] = size.sub(piece[i].pick(&self.middles));
        }
        let (mut results, large) = polynomials(piece, t, &self.rows);
        for i in 0..L {
            let rest = results[i].add(large[i]);
            // The difference would lose the sign of zero.
            results[i] = x[i].larger(V::splat(0.0)).sub(rest).signed_as(x[i]);
        }
        results
    }
}
