//! Overlapping windows of one array, checked against a model that copies the source first.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{Index, NdArray};
use proptest::prelude::*;
use support::matrix::layout_matrix;

/// One axis of a window: where it starts, how far apart its positions are, whether it runs backwards.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    step: usize,
    backwards: bool,
}

impl Line {
    fn position(self, i: usize, count: usize) -> usize {
        self.start + self.step * if self.backwards { count - 1 - i } else { i }
    }

    fn index(self, count: usize) -> Index {
        let (first, last) = (
            self.position(0, count) as isize,
            self.position(count - 1, count) as isize,
        );
        if self.backwards {
            let end = if last == 0 { None } else { Some(last - 1) };
            Index::Interval {
                start: Some(first),
                end,
                step: -(self.step as isize),
            }
        } else {
            Index::Interval {
                start: Some(first),
                end: Some(last + 1),
                step: self.step as isize,
            }
        }
    }
}

fn line() -> impl Strategy<Value = Line> {
    (0usize..4, 1usize..3, any::<bool>()).prop_map(|(start, step, backwards)| Line {
        start,
        step,
        backwards,
    })
}

/// The place in the buffer of an element of a window of an array with 24 columns.
fn place(
    window: [Line; 2],
    transposed: bool,
    (i, j): (usize, usize),
    (rows, columns): (usize, usize),
) -> usize {
    let (a, b) = (window[0].position(i, rows), window[1].position(j, columns));
    if transposed { b * 24 + a } else { a * 24 + b }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn writing_through_overlapping_windows_is_as_if_copied(
        target in [line(), line()],
        source in [line(), line()],
        rows in 1usize..10,
        columns in 1usize..10,
        transposed in any::<bool>(),
        op in 0usize..3,
        layout in any::<usize>(),
    ) {
        let values: Vec<f64> = (0..24 * 24).map(|i| f64::from(i) * 0.5 + 1.0).collect();
        let mut model = values.clone();
        for i in 0..rows {
            for j in 0..columns {
                let to = place(target, false, (i, j), (rows, columns));
                let from = place(source, transposed, (i, j), (rows, columns));
                model[to] = match op {
                    0 => values[to] + values[from],
                    1 => values[from] - values[to],
                    _ => values[from],
                };
            }
        }
        let plain = NdArray::from_vec(values, [24, 24]).unwrap();
        let mut all = layout_matrix(&plain).unwrap();
        let (layout, array) = all.swap_remove(layout % all.len());
        let base = if transposed { array.transpose() } else { array.clone() };
        let to = array.get(&[target[0].index(rows), target[1].index(columns)]).unwrap();
        let from = base.get(&[source[0].index(rows), source[1].index(columns)]).unwrap();
        match op {
            0 => to.addi(&from).unwrap(),
            1 => to.rsubi(&from).unwrap(),
            _ => to.assign(&from).unwrap(),
        };
        prop_assert_eq!(array.to_vec::<f64>().unwrap(), model, "{}", layout);
    }
}
