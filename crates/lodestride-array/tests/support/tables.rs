//! Tables of cases with known answers, one a line, through one checker, their arrays in one layout after the other.

use std::cell::RefCell;

use lodestride_array::{NdArray, Result};

use super::matrix::layout_matrix;

/// A name, what was found, and the shape and elements it should have.
pub(crate) type Case = (&'static str, Result<NdArray>, Vec<usize>, Vec<f64>);

/// A table of cases, one a line: `"name": what is found => shape, elements;`.
macro_rules! table {
    ($($name:literal: $found:expr => $shape:expr, $values:expr;)*) => {
        vec![$(($name, $found, $shape, $values)),*]
    };
}
pub(crate) use table;

/// What is wrong with the cases of a table: shape and elements must be exactly those it names.
pub(crate) fn faults(cases: Vec<Case>) -> Vec<String> {
    let mut failed = Vec::new();
    for (name, found, shape, values) in cases {
        match found {
            Ok(found)
                if found.shape()[..] == shape[..] && found.to_f64_vec().unwrap() == values => {}
            Ok(found) => failed.push(format!("{name}: {found:?}, not {shape:?} of {values:?}")),
            Err(error) => failed.push(format!("{name}: {error}")),
        }
    }
    failed
}

/// A turn of [`in_every_layout`]: its number, and the layouts taken in it.
struct Turn {
    number: usize,
    layouts: Vec<String>,
}

thread_local! {
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// Runs a test in so many turns that each array it [arranges](arranged) is in every layout of its matrix at least once, beside
/// changing ones of the others. When it fails, the layouts of that turn are told.
pub(crate) fn in_every_layout(test: fn()) {
    /// Tells what the turn was when the test has panicked.
    struct Ended;
    impl Drop for Ended {
        fn drop(&mut self) {
            let turn = TURN.take();
            if let Some(turn) = turn.filter(|_| std::thread::panicking()) {
                eprintln!("turn {}, arrays in turn: {:#?}", turn.number, turn.layouts);
            }
        }
    }
    // No array up to rank 5 has more layouts.
    for number in 0..48 {
        TURN.set(Some(Turn {
            number,
            layouts: Vec::new(),
        }));
        let _ended = Ended;
        test();
    }
}

/// The same elements in the layout whose turn it is; outside of [`in_every_layout`] the array itself.
pub(crate) fn arranged(array: NdArray) -> NdArray {
    TURN.with_borrow_mut(|turn| {
        let Some(turn) = turn else { return array };
        let mut all = layout_matrix(&array).unwrap();
        let place = (turn.number + 5 * turn.layouts.len()) % all.len();
        let (name, view) = all.swap_remove(place);
        turn.layouts.push(format!("{:?}: {name}", view.shape()));
        view
    })
}

/// `NdArray::from`, [`arranged`].
pub(crate) fn of<T>(values: T) -> NdArray
where
    NdArray: From<T>,
{
    arranged(NdArray::from(values))
}

/// `first, first + 1, ..` in a shape, [`arranged`].
pub(crate) fn lin(first: usize, shape: &[usize]) -> NdArray {
    arranged(packed_lin(first, shape))
}

/// [`lin`] in C order, where a case is about memory.
pub(crate) fn packed_lin(first: usize, shape: &[usize]) -> NdArray {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (first..first + count).map(|i| i as f32).collect();
    NdArray::from_vec(values, shape).unwrap()
}

/// The integers from `first` up to `end`, as elements.
pub(crate) fn upto(first: i32, end: i32) -> Vec<f64> {
    (first..end).map(f64::from).collect()
}

/// Integers as elements.
pub(crate) fn list(values: &[i32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

/// What an array became.
pub(crate) fn changed(
    array: NdArray,
    change: impl FnOnce(&NdArray) -> Result<()>,
) -> Result<NdArray> {
    change(&array)?;
    Ok(array)
}
