//! A reduction divided among threads.

use super::{OP, Walk};
use crate::numeric::Compute;
use crate::reduce_plan::Sink;
use crate::sort_lines::Scratch;
use crate::spread;

impl<C: Compute, T: Copy + Send + Sync, V: Compute> Walk<'_, C, T, V> {
    /// Pieces of several superblocks: totals of all, merged in order.
    pub(super) fn run_threaded(&self, pieces: usize, parts: usize, sink: &mut Sink<'_, V>) {
        // Batches bound the memory for totals that wait for their turn to be stored.
        let batch = (1024 / parts).max(1);
        for first in (0..pieces).step_by(batch) {
            let here = batch.min(pieces - first);
            let units = spread::map(here * parts, |unit| {
                let piece = self.plan.piece(first + unit / parts, self.width);
                let mut totals = vec![self.reducer.empty(); piece.width];
                self.unit(piece, unit % parts, &mut totals);
                totals
            });
            for (index, units) in units.chunks(parts).enumerate() {
                let piece = self.plan.piece(first + index, self.width);
                let mut totals = vec![self.reducer.empty(); piece.width];
                for unit in units {
                    self.reducer.merge_all(&mut totals, unit);
                }
                self.finish(piece, &totals, sink);
            }
        }
    }

    /// Pieces of one superblock: whoever folds one finishes it too. None, with nothing done, without memory for the values.
    pub(super) fn run_whole(&self, pieces: usize, sink: &mut Sink<'_, V>) -> Option<()> {
        let inner = self.plan.inner;
        let width = self.width.min(inner.size);
        let room = Scratch::new::<V>(OP, pieces * width).ok()?;
        let mut room = room.open(OP).ok()?;
        let values = room.slice::<V>();
        spread::for_each_chunk(values, width, |index, values| {
            let piece = self.plan.piece(index, self.width);
            let mut totals = vec![self.reducer.empty(); piece.width];
            self.unit(piece, 0, &mut totals);
            let values = &mut values[..piece.width];
            self.reducer.finish(&totals, self.plan.depth(), values);
        });
        for (index, values) in values.chunks(width).enumerate() {
            let piece = self.plan.piece(index, self.width);
            sink(piece.out, inner.out, &values[..piece.width]);
        }
        Some(())
    }
}
