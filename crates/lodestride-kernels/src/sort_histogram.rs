//! Counting values by bins, and small integers by value.

use lodestride_buffer::{Argument, DType};

use crate::door;
use crate::error::{KernelError, Result};
use crate::operand::Operand;
use crate::sort_key::Coding;
use crate::sort_lines::Lines;
use crate::sort_search::search;

/// How often each bin or value occurs.
#[derive(Clone, Debug, PartialEq)]
pub enum Tally {
    /// Numbers of elements.
    Counts(Vec<i64>),
    /// Sums of the weights of the elements, added in C order.
    Weights(Vec<f64>),
}

/// Counts the elements of `x` by bins, or sums their `weights`: bin `i` holds `edges[i] <= x < edges[i + 1]`, the last one its
/// upper edge too. What lies outside, and NaN, is not counted.
///
/// Values are compared in `f64`. `is_even` says that the edges are evenly spaced, which is faster and changes no result.
///
/// # Errors
/// [`KernelError`] when there are fewer than two edges or they do not ascend, `weights` has another shape
/// than `x`, or a buffer cannot be accessed.
pub fn histogram(
    x: Operand<'_>,
    edges: &[f64],
    is_even: bool,
    weights: Option<Operand<'_>>,
) -> Result<Tally> {
    const OP: &str = "histogram";
    door::check_argument(OP, "number of edges", edges.len() as f64, edges.len() > 1)?;
    for (index, &edge) in edges.iter().enumerate() {
        let previous = edges[index.saturating_sub(1)];
        if edge.is_nan() || previous > edge {
            return Err(KernelError::Edges {
                op: OP,
                index,
                edge,
                previous,
            });
        }
    }
    let values = flat(OP, x, DType::F64)?;
    let mut values = values.open(OP)?;
    let values = values.slice::<f64>();
    let bins = edges.len() - 1;
    let is_even = is_even && (edges[bins] - edges[0]).is_normal();
    let places = if is_even {
        Places::Even { values, edges }
    } else {
        Places::Uneven { values, edges }
    };
    tally(OP, x, weights, bins, &places)
}

/// Counts how often each of the numbers `0..len` occurs in the integers `x`, or sums the `weights` of its occurrences.
///
/// # Errors
/// [`KernelError`] when `x` is not of an integer dtype (or bool) or holds another number, `weights` has
/// another shape than `x`, or a buffer cannot be accessed.
pub fn bincount(x: Operand<'_>, len: usize, weights: Option<Operand<'_>>) -> Result<Tally> {
    const OP: &str = "bincount";
    if x.dtype() != DType::Bool {
        door::check_integer(OP, x)?;
    }
    let values = flat(OP, x, DType::I64)?;
    let mut values = values.open(OP)?;
    let values = values.slice::<i64>();
    for &value in values.iter() {
        if usize::try_from(value).is_ok_and(|value| value < len) {
            continue;
        }
        door::check_range(OP, "value", value as f64, (0.0, len as f64 - 1.0))?;
    }
    tally(OP, x, weights, len, &Places::Values(values))
}

/// The elements in C order.
fn flat(op: &'static str, x: Operand<'_>, dtype: DType) -> Result<Lines> {
    Lines::copy_of(op, x, x.layout().rank().saturating_sub(1), dtype)
}

/// What the bins of elements are found from.
enum Places<'a> {
    /// Values, and edges at equal distances.
    Even { values: &'a [f64], edges: &'a [f64] },
    /// Values, and edges.
    Uneven { values: &'a [f64], edges: &'a [f64] },
    /// Integers that are their bins, all in range.
    Values(&'a [i64]),
}

impl Places<'_> {
    /// Calls `add` with the bin and the position of every element that lies in one, in order.
    fn each(&self, mut add: impl FnMut(usize, usize)) {
        match *self {
            Places::Even { values, edges } => by_width(values, edges, add),
            Places::Uneven { values, edges } => by_search(values, edges, add),
            Places::Values(values) => {
                for (position, &value) in values.iter().enumerate() {
                    add(value as usize, position);
                }
            }
        }
    }
}

/// Up to so many bins there are two counters for each: equal neighbours then do not wait for one another's sum.
const PAIRED: usize = 1 << 12;

/// How many elements are in each bin, or the sum of their weights.
fn tally(
    op: &'static str,
    x: Operand<'_>,
    weights: Option<Operand<'_>>,
    bins: usize,
    places: &Places<'_>,
) -> Result<Tally> {
    let Some(weights) = weights else {
        let mut counts = vec![0i64; bins];
        if bins > PAIRED {
            places.each(|bin, _| counts[bin] += 1);
        } else {
            let mut odd = vec![0i64; bins];
            places.each(|bin, position| {
                let counts = if position % 2 == 0 {
                    &mut counts
                } else {
                    &mut odd
                };
                counts[bin] += 1;
            });
            counts
                .iter_mut()
                .zip(&odd)
                .for_each(|(sum, more)| *sum += more);
        }
        return Ok(Tally::Counts(counts));
    };
    weights.check_shape(op, Argument::Y, x.shape())?;
    let weights = flat(op, weights, DType::F64)?;
    let mut weights = weights.open(op)?;
    let weights = weights.slice::<f64>();
    let mut sums = vec![0.0; bins];
    places.each(|bin, position| sums[bin] += weights[position]);
    Ok(Tally::Weights(sums))
}

/// Values whose bins are estimated together.
const TILE: usize = 256;

/// Bins of equal width: the bin is computed, and set right by its edges where rounding missed it.
fn by_width(values: &[f64], edges: &[f64], mut add: impl FnMut(usize, usize)) {
    let bins = edges.len() - 1;
    let (first, last) = (edges[0], edges[bins]);
    let scale = bins as f64 / (last - first);
    let mut estimates = [0u32; TILE];
    for (tile, values) in values.chunks(TILE).enumerate() {
        for (estimate, &value) in estimates.iter_mut().zip(values) {
            // Saturates: what is too large is set right below, and NaN is left out there.
            *estimate = ((value - first) * scale) as u32;
        }
        for (at, (&value, &estimate)) in values.iter().zip(&estimates).enumerate() {
            if !(value >= first && value <= last) {
                continue;
            }
            let mut bin = (estimate as usize).min(bins - 1);
            while value < edges[bin] {
                bin -= 1;
            }
            while bin + 1 < bins && value >= edges[bin + 1] {
                bin += 1;
            }
            add(bin, tile * TILE + at);
        }
    }
}

/// Bins of any width, by binary search.
fn by_search(values: &[f64], edges: &[f64], mut add: impl FnMut(usize, usize)) {
    let coding = Coding::new(DType::F64, false);
    let ranked = |values: &mut dyn Iterator<Item = f64>| {
        let mut keys: Vec<u64> = values.map(f64::to_bits).collect();
        coding.rank(&mut keys);
        keys
    };
    let table = ranked(&mut edges.iter().copied());
    let bins = edges.len() - 1;
    let mut places = [0u64; TILE];
    for (tile, values) in values.chunks(TILE).enumerate() {
        let keys = ranked(&mut values.iter().copied());
        let places = &mut places[..keys.len()];
        search(&table, &keys, places, |a, b| a <= b);
        for (at, (&place, key)) in places.iter().zip(&keys).enumerate() {
            let position = tile * TILE + at;
            match place as usize {
                0 => {}
                place if place <= bins => add(place - 1, position),
                _ if *key == table[bins] => add(bins - 1, position),
                _ => {}
            }
        }
    }
}
