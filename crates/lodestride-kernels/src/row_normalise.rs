//! Layer normalisation of one row, or down several columns: `(x - mean) / sqrt(var + epsilon) * gain + bias`.
//!
//! The mean first and then the squared deviations from it, both from a row that stays in the cache: no cancellation
//! whatever the offset (Ba, Kiros, Hinton: Layer Normalization, 2016, for the operation).

use crate::row_lines::{Columns, Lines};
use crate::row_softmax::{ROWS, block};
use crate::row_walk::RowKernel;
use crate::scalar::raised::Raised;
use crate::vector::Vector;

/// Layer normalisation with a gain and a bias per position, both empty for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerNorm<'a, C> {
    pub(crate) gain: &'a [C],
    pub(crate) bias: &'a [C],
    pub(crate) epsilon: f64,
}

/// The sum of `x - shift`, or of its squares.
#[inline(always)]
fn deviations<C: Raised, V: Vector<C>, const SQUARED: bool>(x: &[C], shift: C) -> f64 {
    let mut total = 0.0;
    for x in x.chunks(block::<C>()) {
        let mut sums = [V::splat(C::ZERO); 4];
        let whole = x.len() / (4 * V::LANES) * 4 * V::LANES;
        for at in (0..whole).step_by(4 * V::LANES) {
            for (i, sum) in sums.iter_mut().enumerate() {
                let deviation = V::load(&x[at + i * V::LANES..]).sub(V::splat(shift));
                *sum = if SQUARED {
                    deviation.mul_add(deviation, *sum)
                } else {
                    deviation.add(*sum)
                };
            }
        }
        for at in (whole..x.len()).step_by(V::LANES) {
            let part = &x[at..x.len().min(at + V::LANES)];
            let deviation = V::load_part(part, shift).sub(V::splat(shift));
            sums[0] = if SQUARED {
                deviation.mul_add(deviation, sums[0])
            } else {
                deviation.add(sums[0])
            };
        }
        let [a, b, c, d] = sums;
        total += a.add(b).add(c.add(d)).total().wide();
    }
    total
}

impl<C: Raised> LayerNorm<'_, C> {
    /// The gain and the bias at a position.
    #[inline(always)]
    fn at(&self, position: usize) -> (C, C) {
        let gain = self.gain.get(position).copied().unwrap_or(C::ONE);
        (gain, self.bias.get(position).copied().unwrap_or(C::ZERO))
    }
}

impl<C: Raised> RowKernel<C> for LayerNorm<'_, C> {
    #[inline(always)]
    fn row<V: Vector<C>>(&self, [x, _]: [&[C]; 2], out: &mut [C]) {
        let count = x.len() as f64;
        let mean = C::of(deviations::<C, V, false>(x, C::ZERO) / count);
        let variance = deviations::<C, V, true>(x, mean) / count;
        let scale = C::of(1.0 / (variance + self.epsilon).sqrt());
        if self.gain.is_empty() {
            for (out, &x) in out.iter_mut().zip(x) {
                *out = x.sub(mean).mul(scale);
            }
            return;
        }
        for (((out, &x), &gain), &bias) in out.iter_mut().zip(x).zip(self.gain).zip(self.bias) {
            *out = x.sub(mean).mul(scale).mul(gain).add(bias);
        }
    }

    #[inline(always)]
    fn columns<V: Vector<C>, const N: usize>(
        &self,
        [x, _]: [Columns<'_, C>; 2],
        out: &mut Lines<'_, C>,
    ) {
        let count = V::splat(C::of(x.rows as f64));
        let mut means = [V::splat(C::ZERO); N];
        let mut squares = [V::splat(C::ZERO); N];
        for first in (0..x.rows).step_by(ROWS) {
            let mut sums = [V::splat(C::ZERO); N];
            for row in first..x.rows.min(first + ROWS) {
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.add(x.load::<V>(row, i));
                }
            }
            for (mean, sum) in means.iter_mut().zip(sums) {
                *mean = mean.add(sum);
            }
        }
        for mean in &mut means {
            *mean = mean.div(count);
        }
        for first in (0..x.rows).step_by(ROWS) {
            let mut sums = [V::splat(C::ZERO); N];
            for row in first..x.rows.min(first + ROWS) {
                for (i, sum) in sums.iter_mut().enumerate() {
                    let deviation = x.load::<V>(row, i).sub(means[i]);
                    *sum = deviation.mul_add(deviation, *sum);
                }
            }
            for (square, sum) in squares.iter_mut().zip(sums) {
                *square = square.add(sum);
            }
        }
        for square in &mut squares {
            let variance = square.div(count).add(V::splat(C::of(self.epsilon)));
            *square = V::splat(C::ONE).div(variance.root());
        }
        for row in 0..x.rows {
            let (gain, bias) = self.at(row);
            for i in 0..N {
                let normal = x.load::<V>(row, i).sub(means[i]).mul(squares[i]);
                normal
                    .mul(V::splat(gain))
                    .add(V::splat(bias))
                    .store(out.slot::<V>(row, i));
            }
        }
    }
}
