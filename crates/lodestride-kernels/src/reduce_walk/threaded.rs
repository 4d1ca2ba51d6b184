//! A reduction divided among threads.

use super::{OP, Walk};
use crate::numeric::Compute;
use crate::reduce_plan::Sink;
use crate::sort_lines::Scratch;
use crate::spread;
use crate::threads;

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
        // Several pieces by one call, where all of them are a row.
        let sets = if self.plan.outer_x.len() == 1 {
            self.together(1).min(pieces.div_ceil(threads::shares()))
        } else {
            1
        };
        spread::for_each_chunk(values, sets * width, |index, values| {
            let piece = self.plan.piece(index * sets, self.width);
            let count = if sets == 1 { piece.width } else { values.len() };
            let mut totals = vec![self.reducer.empty(); count];
            self.unit(piece, 0, &mut totals);
            self.reducer
                .finish(&totals, self.plan.depth(), &mut values[..count]);
        });
        for (index, values) in values.chunks(width).enumerate() {
            let piece = self.plan.piece(index, self.width);
            sink(piece.out, inner.out, &values[..piece.width]);
        }
        Some(())
    }
}
