//! Convolutions of narrow rows, several rows at a time: most of their segments are shorter than what a vector holds, so the
//! borders between them are left out at first.

use std::ops::Range;

use crate::numeric::Compute;
use crate::segment_sums::{MOST, Sums};
use crate::segment_windows::Places;

impl<C: Compute> Sums<'_, C> {
    /// Narrow rows of a convolution, several at a time and as if all were one segment: where a window reaches outside its own,
    /// the sums are for the caller to write again. False, with nothing written, where that does not pay.
    #[inline(always)]
    pub(crate) fn across_segments(&self, rows: &Range<usize>, out: &mut [C]) -> bool {
        let (places, width) = (self.places, self.width);
        let Places { offsets, start, .. } = places;
        let (Some(filter), all) = (self.filter, offsets[offsets.len() - 1]) else {
            return false;
        };
        // Long windows hardly ever lie inside.
        if width >= MOST || (offsets.len() - 1).saturating_mul(places.len) > all {
            return false;
        }
        let window_end = start.saturating_add_unsigned(places.len);
        let low = start.min(0).unsigned_abs().clamp(rows.start, rows.end);
        let high = (all + 1).saturating_add_signed(window_end.max(1).saturating_neg());
        let high = high.clamp(low, rows.end);
        if low == high {
            return false;
        }
        // The filter beside itself, for as many rows as a block has.
        let block = MOST * width;
        let mut weights = Vec::with_capacity(MOST * filter.len());
        for filter in filter.chunks(width) {
            (0..MOST).for_each(|_| weights.extend_from_slice(filter));
        }
        let from = low.saturating_add_signed(start) * width;
        let out = &mut out[(low - rows.start) * width..(high - rows.start) * width];
        for (at, out) in (0..).step_by(MOST).zip(out.chunks_mut(MOST)) {
            let (from, phase) = (from + at, at % block);
            let mut sums = [C::ZERO; MOST];
            for (place, weights) in weights.chunks(block).enumerate() {
                let x = &self.x[from + place * width..][..out.len()];
                let weights = &weights[phase..][..MOST];
                match x.first_chunk::<MOST>() {
                    Some(x) => add_products(&mut sums, x, weights),
                    None => add_products(&mut sums, x, weights),
                }
            }
            out.copy_from_slice(&sums[..out.len()]);
        }
        true
    }
}

/// Adds products of pairs to sums.
#[inline(always)]
fn add_products<C: Compute>(sums: &mut [C], x: &[C], weights: &[C]) {
    for ((sum, &x), &weight) in sums.iter_mut().zip(x).zip(weights) {
        *sum = sum.add(x.mul(weight));
    }
}
