//! Shape, strides and offset of an array, drawn over its buffer: [`NdArray::explain`].

use std::fmt::Write as _;

use lodestride_buffer::{Element, Scalar, with_dtype};
use lodestride_shape::Layout;

use super::{PrintOptions, texts};
use crate::NdArray;
use crate::error::ArraySummary;

/// Buffers with more places than this are not drawn whole.
const DRAWN: usize = 128;

/// Columns of a drawing.
const WIDTH: usize = 80;

impl NdArray {
    /// How this array lies in memory, as text: what of its buffer it shows, how far the steps along each axis go, and, for
    /// small buffers, a drawing of the places with the indices they are seen under.
    ///
    /// ```
    /// use lodestride_array::{NdArray, s};
    ///
    /// let a = NdArray::arange(0, 8, 1)?.reshape([2, 4])?;
    /// assert_eq!(
    ///     a.get(&s![.., 1..;2])?.transpose().explain(),
    ///     "\
    /// f32 [2, 2] strided view
    ///   shows 4 of the 8 elements of its buffer, from place 1 on; other handles share it
    ///   axis 0: 2 positions, 2 elements apart (8 bytes)
    ///   axis 1: 2 positions, 4 elements apart (16 bytes)
    ///
    ///   place    0    1    2    3    4    5    6    7
    ///   value  0.0  1.0  2.0  3.0  4.0  5.0  6.0  7.0
    ///   index    .  0,0    .  1,0    .  0,1    .  1,1"
    /// );
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "shapeInfoToString")]
    pub fn explain(&self) -> String {
        let mut text = ArraySummary::of(self).to_string();
        let places = self.buffer().len() / self.dtype().size();
        self.explain_buffer(&mut text, places);
        for axis in 0..self.rank() {
            self.explain_axis(&mut text, axis);
        }
        if let Some((lowest, highest)) = self.layout().bounds() {
            // Of a large buffer only what the array shows of it, if that is small.
            let range = if places <= DRAWN {
                0..places
            } else {
                lowest..highest + 1
            };
            if range.len() <= DRAWN {
                self.draw(&mut text, range);
            }
        }
        text
    }

    fn explain_buffer(&self, text: &mut String, places: usize) {
        let plural = if places == 1 { "" } else { "s" };
        text.push_str("\n  ");
        // Writing to a string does not fail.
        let _ = match seen_places(self.layout()) {
            0 => write!(text, "has no elements"),
            seen if seen == places => {
                write!(text, "shows all {places} element{plural} of its buffer")
            }
            seen => write!(text, "shows {seen} of the {places} elements of its buffer"),
        };
        if !self.is_empty() && self.layout().offset() > 0 {
            let _ = write!(text, ", from place {} on", self.layout().offset());
        }
        if !self.buffer().is_unique() {
            text.push_str("; other handles share it");
        }
        if let Some(workspace) = self.buffer().workspace() {
            let generation = self.buffer().generation().unwrap_or(0);
            let _ = write!(
                text,
                "\n  lies in workspace [{workspace}], generation {generation}"
            );
            if !self.is_in_scope() {
                text.push_str(", which is closed or has begun anew: every use is an error");
            }
        }
    }

    fn explain_axis(&self, text: &mut String, axis: usize) {
        let (size, stride) = (self.shape()[axis], self.strides()[axis]);
        let _ = write!(
            text,
            "\n  axis {axis}: {size} position{}",
            if size == 1 { "" } else { "s" }
        );
        if size < 2 || self.is_empty() {
            return;
        }
        let (steps, bytes) = (
            stride.unsigned_abs(),
            stride.unsigned_abs() * self.dtype().size(),
        );
        let _ = match stride {
            0 => write!(
                text,
                ", all of them one place: a broadcast, which is never written to"
            ),
            1 => write!(text, ", side by side"),
            -1 => write!(text, ", side by side, backwards"),
            2.. => write!(text, ", {steps} elements apart ({bytes} bytes)"),
            _ => write!(text, ", {steps} elements apart ({bytes} bytes), backwards"),
        };
    }

    /// Places of the buffer, what is there, and under which index it is seen.
    fn draw(&self, text: &mut String, range: std::ops::Range<usize>) {
        let Ok(guard) = self.buffer().read() else {
            text.push_str("\n  (the elements cannot be read)");
            return;
        };
        let values: Vec<Scalar> = with_dtype!(self.dtype(), T => {
            guard.slice::<T>()[range.clone()].iter().map(|value| value.to_scalar()).collect()
        });
        drop(guard);
        let values = texts(&values, self.dtype(), &PrintOptions::current());
        let indices = self.index_texts(&range);
        let places: Vec<String> = range.map(|place| place.to_string()).collect();
        let longest = |column: &[String]| column.iter().map(|cell| cell.chars().count()).max();
        let width = [&places, &values, &indices]
            .into_iter()
            .filter_map(|c| longest(c))
            .max();
        let width = width.unwrap_or(1) + 2;
        let across = ((WIDTH - 7) / width).max(1);
        for start in (0..places.len()).step_by(across) {
            text.push('\n');
            let end = (start + across).min(places.len());
            for (label, cells) in [("place", &places), ("value", &values), ("index", &indices)] {
                let _ = write!(text, "\n  {label}");
                for cell in &cells[start..end] {
                    let _ = write!(text, "{cell:>width$}");
                }
            }
        }
    }

    /// For each place the first index it is seen under and how often it is seen; a point for places that are not.
    fn index_texts(&self, range: &std::ops::Range<usize>) -> Vec<String> {
        let mut seen: Vec<(String, usize)> = vec![(String::new(), 0); range.len()];
        // A broadcast axis is not walked: it shows every place as often as it is long.
        let axes = || self.shape().iter().zip(self.strides().iter());
        let walked: Vec<usize> = axes()
            .map(|(&n, &step)| if step == 0 { n.min(1) } else { n })
            .collect();
        let repeats: usize = axes()
            .filter(|&(_, &step)| step == 0)
            .map(|(&n, _)| n)
            .product();
        let mut index = vec![0usize; self.rank()];
        for _ in 0..walked.iter().product::<usize>().min(DRAWN * DRAWN) {
            let steps = index.iter().zip(self.strides().iter());
            let distance: isize = steps.map(|(&i, &stride)| i as isize * stride).sum();
            let place = self.layout().offset().wrapping_add_signed(distance) - range.start;
            let (first, times) = &mut seen[place];
            if *times == 0 {
                let parts: Vec<String> = index.iter().map(usize::to_string).collect();
                *first = if parts.is_empty() {
                    "()".to_owned()
                } else {
                    parts.join(",")
                };
            }
            *times += repeats;
            for (place, &size) in index.iter_mut().zip(&walked).rev() {
                *place += 1;
                if *place < size {
                    break;
                }
                *place = 0;
            }
        }
        let cell = |(first, times)| match times {
            0 => ".".to_owned(),
            1 => first,
            _ => format!("{first} x{times}"),
        };
        seen.into_iter().map(cell).collect()
    }
}

/// How many places of the buffer a layout shows: broadcast axes show theirs again and again.
fn seen_places(layout: &Layout) -> usize {
    let axes = layout.shape().iter().zip(layout.strides().iter());
    axes.map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size })
        .product()
}

#[cfg(test)]
mod tests {
    use crate::{NdArray, Order, Workspace, s};

    #[test]
    fn drawings_look_as_they_should() {
        let a = NdArray::arange(0, 6, 1).unwrap().reshape([2, 3]).unwrap();
        let cases = [
            (
                NdArray::from(2.5f32),
                "f32 [] C\n  shows all 1 element of its buffer\n\n  place    0\n  value  2.5\n  index   ()",
            ),
            (
                NdArray::zeros([2, 0]).unwrap(),
                "f32 [2, 0] C\n  has no elements\n  axis 0: 2 positions\n  axis 1: 0 positions",
            ),
            (
                a.dup_order(Order::F).unwrap().get(&s![..;-1]).unwrap(),
                "f32 [2, 3] strided view\n  shows all 6 elements of its buffer, from place 1 on\n  axis 0: 2 positions, side by side, backwards\n  axis 1: 3 positions, 2 elements apart (8 bytes)\n\n  place    0    1    2    3    4    5\n  value  0.0  3.0  1.0  4.0  2.0  5.0\n  index  1,0  0,0  1,1  0,1  1,2  0,2",
            ),
            (
                NdArray::from([7i32, 8]).broadcast_to([3, 2]).unwrap(),
                "i32 [3, 2] strided view\n  shows all 2 elements of its buffer\n  axis 0: 3 positions, all of them one place: a broadcast, which is never written to\n  axis 1: 2 positions, side by side\n\n  place       0       1\n  value       7       8\n  index  0,0 x3  0,1 x3",
            ),
        ];
        for (array, expected) in cases {
            let found = array.explain();
            assert_eq!(found, expected, "\n{found}\n");
        }
        let pair = NdArray::from([7i32, 8]).broadcast_to([100_000, 2]).unwrap();
        assert!(
            pair.explain().ends_with("index  0,0 x100000  0,1 x100000"),
            "{}",
            pair.explain()
        );
        let long = NdArray::zeros([40]).unwrap().explain();
        assert!(
            long.lines().all(|line| line.len() <= 80) && long.lines().count() > 8,
            "{long}"
        );
        let large = NdArray::zeros([1000, 1000]).unwrap();
        assert_eq!(large.explain().lines().count(), 4);
        assert!(
            large
                .get(&s![500, 10..14])
                .unwrap()
                .explain()
                .contains("place  500010")
        );
        let workspace = Workspace::new("EXPLAINED");
        let stale = workspace.scope(|_| NdArray::zeros([3]).unwrap()).unwrap();
        assert!(
            stale.explain().contains("lies in workspace [EXPLAINED]"),
            "{}",
            stale.explain()
        );
        assert!(stale.explain().ends_with("(the elements cannot be read)"));
    }
}
