//! Sine and cosine of f32 for vectors whose lanes look up among four numbers: the form of `trig.rs` step by step, with what the
//! quadrant decides looked up instead of chosen. The results are the same.
#![allow(
    clippy::needless_range_loop,
    reason = "as in `pieces.rs`: no closures where vectors are worked on"
)]

use crate::pick::{FEW, Pick};
use crate::scalar::BLOCK;
use crate::scalar::float::Float;
use crate::scalar::pieces::OfVectors;
use crate::scalar::trig::{COS_F32, FAR_F32, QUARTER_F32, TrigTable};

/// Vectors in flight.
const FLIGHT: usize = 4;

/// The sine, or the cosine, by what an angle has in each quadrant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circular {
    /// 1 or -1 times the angle left, in the quadrants of sines; plus 1 or -1 in those of cosines.
    slope: [f32; FEW],
    start: [f32; FEW],
    /// The polynomials.
    rows: [[f32; FEW]; 4],
    /// Whether the result turns its sign with the angle.
    is_odd: bool,
}

pub(crate) const SIN: Circular = circular(0);
pub(crate) const COS: Circular = circular(1);

const fn circular(quarter: usize) -> Circular {
    let mut result = Circular {
        slope: [0.0; FEW],
        start: [0.0; FEW],
        rows: [[0.0; FEW]; 4],
        is_odd: quarter == 0,
    };
    let mut place = 0;
    while place < FEW {
        let quadrant = (place + quarter) % FEW;
        let (is_sine, sign) = (
            quadrant.is_multiple_of(2),
            if quadrant < 2 { 1.0 } else { -1.0 },
        );
        if is_sine {
            result.slope[place] = sign;
        } else {
            result.start[place] = sign;
        }
        let mut power = 0;
        while power < 4 {
            let sine = <f32 as TrigTable>::SIN[power];
            result.rows[power][place] = if is_sine { sine } else { COS_F32[power] };
            power += 1;
        }
        place += 1;
    }
    result
}

impl Circular {
    /// The function of a block, if that is fast, and whether some angles are too large for it.
    #[inline(always)]
    pub(crate) fn block<V: Pick>(&self, dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { !V::FEW } {
            return None;
        }
        self.of_block::<V, FLIGHT>(dst, x);
        let mut far = false;
        for &x in x {
            far |= x.abs() > FAR_F32;
        }
        Some(far)
    }
}

impl OfVectors for Circular {
    #[inline(always)]
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L] {
        let (mut quadrant, mut r, mut z, mut sum) = (x, x, x, x);
        let whole = V::splat(f32::WHOLE);
        for i in 0..L {
            let size = x[i].size();
            quadrant[i] = size.mul_add(V::splat(std::f32::consts::FRAC_2_PI), whole);
            let n = quadrant[i].sub(whole);
            let near = n.neg_mul_add(V::splat(QUARTER_F32.0), size);
            let closer = n.neg_mul_add(V::splat(QUARTER_F32.1), near);
            r[i] = n.neg_mul_add(V::splat(QUARTER_F32.2), closer);
            z[i] = r[i].mul(r[i]);
            sum[i] = quadrant[i].pick_few(&self.rows[3]);
        }
        for row in self.rows[..3].iter().rev() {
            for i in 0..L {
                sum[i] = sum[i].mul_add(z[i], quadrant[i].pick_few(row));
            }
        }
        for i in 0..L {
            let start = quadrant[i].pick_few(&self.start);
            let base = r[i].mul_add(quadrant[i].pick_few(&self.slope), start);
            let value = base.mul(z[i]).mul_add(sum[i], base);
            r[i] = if self.is_odd {
                value.turned_by(x[i])
            } else {
                value
            };
        }
        r
    }
}
