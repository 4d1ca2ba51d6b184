//! Rows of arrays as segment operations see them: where the rows are, and how values of a row are stored.

use std::borrow::Cow;
use std::ops::Range;

use lodestride_buffer::{ReadGuard, WriteGuard};

use crate::error::{KernelError, OffsetRule};
use crate::numeric::Compute;
use crate::operand::Operand;
use crate::strided::{Dim, Dims, Source, collapse, count, dims_of, offset_at, store};

/// Refuses offsets that do not divide `rows` rows into segments: one pass, nothing allocated.
pub(crate) fn check_offsets(
    op: &'static str,
    offsets: &[usize],
    rows: usize,
) -> Result<(), KernelError> {
    let fail = |index: usize, found: usize, rule: OffsetRule| {
        Err(KernelError::Offsets {
            op,
            index,
            found,
            rule,
        })
    };
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return fail(0, 0, OffsetRule::StartsAtZero);
    };
    if first != 0 {
        return fail(0, first, OffsetRule::StartsAtZero);
    }
    for (index, pair) in offsets.windows(2).enumerate() {
        if pair[1] < pair[0] {
            let previous = pair[0];
            return fail(index + 1, pair[1], OffsetRule::Ascends { previous });
        }
    }
    if last != rows {
        return fail(offsets.len() - 1, last, OffsetRule::EndsAtRows { rows });
    }
    Ok(())
}

/// Refuses a 0-d array, which has no rows; returns the number of rows.
pub(crate) fn rows_of(op: &'static str, x: Operand<'_>) -> Result<usize, KernelError> {
    crate::door::check_axis(op, 0, x.layout().rank())?;
    Ok(x.layout().shape()[0])
}

/// The segments as `parts` ranges of about equal numbers of rows.
pub(crate) fn balanced(offsets: &[usize], parts: usize, index: usize) -> Range<usize> {
    let segments = offsets.len() - 1;
    let rows = offsets[segments];
    let boundary = |part: usize| match part {
        0 => 0,
        part if part == parts => segments,
        part => {
            // Empty segments count a little, or a batch of them would all fall to one part.
            let target = (rows + segments) * part / parts;
            let weight = |segment: usize| offsets[segment] + segment;
            let (mut low, mut high) = (0, segments);
            while low < high {
                let middle = (low + high) / 2;
                if weight(middle) < target {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        }
    };
    boundary(index)..boundary(index + 1)
}

/// Rows that can be read as unit-stride pieces of the compute type.
#[derive(Debug)]
pub(crate) struct RowView<'a, C: Clone> {
    pub(crate) data: Cow<'a, [C]>,
    pub(crate) start: isize,
    pub(crate) row_stride: isize,
    /// Axes of a row but the last.
    pub(crate) outer: Dims,
    /// Elements of a piece: the last axis of a row.
    pub(crate) width: usize,
}

impl<'a, C: Compute> RowView<'a, C> {
    /// Borrows the rows of `x` where they lie, or, when they are of another dtype or not of unit stride, copies them.
    pub(crate) fn with<R>(
        guard: &'a ReadGuard<'_>,
        x: Operand<'_>,
        job: impl FnOnce(&RowView<'_, C>) -> R,
    ) -> R {
        let layout = x.layout();
        let dims = dims_of(layout.shape(), layout.strides());
        let (rows, row) = (dims[0], collapse(dims[1..].iter().copied()));
        let start = layout.offset() as isize;
        let source = Source::<C>::new(guard, x.dtype());
        let inner = row.last().copied().unwrap_or(Dim { size: 1, stride: 1 });
        let view = if let (Some(data), 1) = (source.native(), inner.stride) {
            let mut outer = row;
            outer.pop();
            RowView {
                data: Cow::Borrowed(data),
                start,
                row_stride: rows.stride,
                outer,
                width: inner.size,
            }
        } else {
            let width = count(&row);
            RowView {
                data: Cow::Owned(copied(&source, start, rows, &row)),
                start: 0,
                row_stride: width as isize,
                outer: Dims::new(),
                width,
            }
        };
        job(&view)
    }

    /// The element of a row's piece `outer` from which its columns are counted.
    #[inline]
    pub(crate) fn piece(&self, row: usize, outer: usize) -> isize {
        self.start + row as isize * self.row_stride + offset_at(&self.outer, outer)
    }

    /// Pieces of a row.
    pub(crate) fn pieces(&self) -> usize {
        count(&self.outer)
    }

    /// Elements of a row.
    pub(crate) fn row_len(&self) -> usize {
        self.pieces() * self.width
    }
}

fn copied<C: Compute>(source: &Source<'_, C>, start: isize, rows: Dim, row: &[Dim]) -> Vec<C> {
    let width = count(row);
    let mut data = vec![C::ZERO; rows.size * width];
    if data.is_empty() {
        return data;
    }
    let one = [Dim { size: 1, stride: 1 }];
    let (inner, outer) = row.split_last().unwrap_or((&one[0], &[]));
    for (index, line) in data.chunks_mut(inner.size).enumerate() {
        let (row, piece) = (index / count(outer), index % count(outer));
        let at = start + row as isize * rows.stride + offset_at(outer, piece);
        source.load(at, inner.stride, line);
    }
    data
}

/// Where the values of rows go, by their logical position in the row.
#[derive(Clone, Debug)]
pub(crate) struct RowSink {
    dtype: lodestride_buffer::DType,
    start: isize,
    row_stride: isize,
    outer: Dims,
    inner: Dim,
}

impl RowSink {
    pub(crate) fn new(out: Operand<'_>) -> Self {
        let layout = out.layout();
        let dims = dims_of(layout.shape(), layout.strides());
        let mut outer = collapse(dims[1..].iter().copied());
        let inner = outer.pop().unwrap_or(Dim { size: 1, stride: 1 });
        Self {
            dtype: out.dtype(),
            start: layout.offset() as isize,
            row_stride: dims[0].stride,
            outer,
            inner,
        }
    }

    /// The first element of the rows where they follow each other without gaps, `width` elements of type `C` each.
    pub(crate) fn dense_start<C: Compute>(&self, width: usize) -> Option<usize> {
        let is_dense = self.outer.is_empty()
            && (self.inner.stride == 1 || width == 1)
            && self.row_stride == width as isize;
        (self.dtype == C::DTYPE && is_dense).then_some(self.start as usize)
    }

    /// Stores values at the positions `position..` of a row.
    pub(crate) fn store<C: Compute>(
        &self,
        guard: &mut WriteGuard<'_>,
        row: usize,
        mut position: usize,
        mut values: &[C],
    ) {
        let row = self.start + row as isize * self.row_stride;
        while !values.is_empty() {
            let (piece, at) = (position / self.inner.size, position % self.inner.size);
            let (here, rest) = values.split_at(values.len().min(self.inner.size - at));
            let offset = row + offset_at(&self.outer, piece) + at as isize * self.inner.stride;
            store(guard, self.dtype, offset, self.inner.stride, here);
            position += here.len();
            values = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_checked_with_their_values() {
        let cases: [(&[usize], usize, Option<usize>); 8] = [
            (&[0], 0, None),
            (&[0, 0, 0], 0, None),
            (&[0, 3, 3, 5], 5, None),
            (&[], 0, Some(0)),
            (&[1, 5], 5, Some(0)),
            (&[0, 4, 3, 5], 5, Some(2)),
            (&[0, 3], 5, Some(1)),
            (&[0, 7], 5, Some(1)),
        ];
        for (offsets, rows, expected) in cases {
            let found = match check_offsets("op", offsets, rows) {
                Err(KernelError::Offsets { index, .. }) => Some(index),
                _ => None,
            };
            assert_eq!(found, expected, "{offsets:?} over {rows} rows");
        }
    }

    #[test]
    fn parts_cover_all_segments_and_are_balanced() {
        let offsets: Vec<usize> = [5, 0, 0, 100, 1, 1, 1, 50, 0, 40]
            .iter()
            .scan(0, |sum, len| {
                *sum += len;
                Some(*sum)
            })
            .collect();
        let offsets: Vec<usize> = std::iter::once(0).chain(offsets).collect();
        for parts in 1..6 {
            let mut next = 0;
            for index in 0..parts {
                let range = balanced(&offsets, parts, index);
                assert_eq!(range.start, next);
                next = range.end;
            }
            assert_eq!(next, offsets.len() - 1, "{parts} parts");
        }
    }
}
