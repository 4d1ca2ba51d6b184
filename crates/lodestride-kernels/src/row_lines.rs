//! What kernels along an axis read and write: some neighbouring columns, line by line.

use crate::vector::Vector;

/// Neighbouring columns: line `r` begins at `data[r * pitch]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) pitch: usize,
    pub(crate) rows: usize,
    /// Columns that somebody asks for: vectors beyond them need not be computed.
    pub(crate) width: usize,
}

impl<C> Columns<'_, C> {
    /// Vector `i` of a line.
    #[inline(always)]
    pub(crate) fn load<V: Vector<C>>(&self, row: usize, i: usize) -> V {
        V::load(&self.data[row * self.pitch + i * V::LANES..])
    }
}

/// The lines that are written, from column `at` on.
#[derive(Debug)]
pub(crate) struct Lines<'l, C> {
    /// The first column.
    pub(crate) at: usize,
    place: Place<'l, C>,
}

#[derive(Debug)]
enum Place<'l, C> {
    Even { data: &'l mut [C], pitch: usize },
    Apart(Vec<&'l mut [C]>),
}

impl<'l, C> Lines<'l, C> {
    /// Lines one after the other, `pitch` apart.
    pub(crate) fn even(data: &'l mut [C], pitch: usize) -> Self {
        let place = Place::Even { data, pitch };
        Lines { place, at: 0 }
    }

    /// Parts of lines whose other parts are written by other threads.
    pub(crate) fn apart(lines: Vec<&'l mut [C]>) -> Self {
        let place = Place::Apart(lines);
        Lines { place, at: 0 }
    }

    /// Columns of every line.
    pub(crate) fn width(&self) -> usize {
        match &self.place {
            Place::Even { pitch, .. } => *pitch,
            Place::Apart(lines) => lines.first().map_or(0, |line| line.len()),
        }
    }

    /// Where vector `i` of a line begins.
    #[inline(always)]
    pub(crate) fn slot<V: Vector<C>>(&mut self, row: usize, i: usize) -> &mut [C] {
        let at = self.at + i * V::LANES;
        match &mut self.place {
            Place::Even { data, pitch } => &mut data[row * *pitch + at..],
            Place::Apart(lines) => &mut lines[row][at..],
        }
    }
}
