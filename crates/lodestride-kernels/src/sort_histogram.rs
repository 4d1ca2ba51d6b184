//! Counting values by bins, and small integers by value.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use lodestride_buffer::{Argument, DType};
use lodestride_shape::Order;

use crate::door;
use crate::error::{KernelError, Result};
use crate::isa::{Arch, Level, Task};
use crate::numeric::Compute;
use crate::operand::Operand;
use crate::sort_key::Coding;
use crate::sort_lines::Lines;
use crate::sort_search::search;
use crate::strided::Source;
use crate::{spread, threads};

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
    let ruler = is_even.then(|| Ruler::new(edges)).flatten();
    with_values(OP, x, |values| {
        let places = match &ruler {
            Some(ruler) => Places::Even(values, ruler),
            None => Places::Uneven(values, edges),
        };
        tally(OP, x, weights, edges.len() - 1, &places)
    })
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
    with_values(OP, x, |values| {
        let places = Places::Integers(values, len, AtomicBool::new(false));
        let made = tally(OP, x, weights, len, &places)?;
        if let Places::Integers(values, len, any_outside) = places
            && any_outside.into_inner()
        {
            let range = 0..len as i64;
            let mut outside = None;
            values.each_tile(0..x.elements(), |_, values| {
                let mut values = values.iter().copied();
                outside = outside.or_else(|| values.find(|value| !range.contains(value)));
            });
            if let Some(value) = outside {
                door::check_range(OP, "value", value as f64, (0.0, len as f64 - 1.0))?;
            }
        }
        Ok(made)
    })
}

/// Calls `work` with the elements in C order: where they lie, or a copy.
fn with_values<C: Compute, R>(
    op: &'static str,
    x: Operand<'_>,
    work: impl FnOnce(Values<'_, C>) -> Result<R>,
) -> Result<R> {
    if !x.layout().is_contiguous(Order::C) {
        let copy = flat(op, x, C::DTYPE)?;
        return work(Values::Own(copy.open(op)?.slice()));
    }
    let guard = x.read(op, Argument::X)?;
    work(Values::of(Source::new(&guard, x.dtype()), x))
}

/// The elements in C order.
fn flat(op: &'static str, x: Operand<'_>, dtype: DType) -> Result<Lines> {
    Lines::copy_of(op, x, x.layout().rank().saturating_sub(1), dtype)
}

/// Values whose bins are found together.
const TILE: usize = 512;

/// Elements in C order.
enum Values<'a, C> {
    Own(&'a [C]),
    /// Of another dtype, and where the first lies.
    Other(Source<'a, C>, isize),
}

impl<'a, C: Compute> Values<'a, C> {
    /// The elements of an operand that lie side by side.
    fn of(source: Source<'a, C>, x: Operand<'_>) -> Self {
        let (start, len) = (x.layout().offset(), x.elements());
        match source.native() {
            Some(all) if len > 0 => Self::Own(&all[start..start + len]),
            _ => Self::Other(source, start.cast_signed()),
        }
    }

    /// Calls `work` with the position of the first of some elements and these elements, tile by tile.
    fn each_tile(&self, range: Range<usize>, mut work: impl FnMut(usize, &[C])) {
        let mut room = [C::default(); TILE];
        for position in range.clone().step_by(TILE) {
            let len = TILE.min(range.end - position);
            match *self {
                Self::Own(values) => work(position, &values[position..][..len]),
                Self::Other(source, start) => {
                    let values = &mut room[..len];
                    source.load(start + position.cast_signed(), 1, values);
                    work(position, values);
                }
            }
        }
    }
}

/// What the bins of elements are found from.
enum Places<'a> {
    /// Values, and edges at equal distances.
    Even(Values<'a, f64>, &'a Ruler<'a>),
    /// Values, and edges.
    Uneven(Values<'a, f64>, &'a [f64]),
    /// Integers that are their bins, of which there are so many, and whether there are others among them.
    Integers(Values<'a, i64>, usize, AtomicBool),
}

/// Takes the bins of some elements and the position of the first; one more bin is for what lies in none.
type Add<'a> = dyn FnMut(usize, &[usize]) + 'a;

impl Places<'_> {
    /// Calls `add` with the bins of a range of the elements, in order.
    fn each(&self, range: Range<usize>, add: &mut Add<'_>) {
        let mut bins = [0; TILE];
        match self {
            Places::Even(values, ruler) => values.each_tile(range, |position, values| {
                let bins = &mut bins[..values.len()];
                let values = Measure {
                    ruler,
                    values,
                    bins,
                };
                Level::current().run_narrow(values);
                add(position, bins);
            }),
            Places::Uneven(values, edges) => by_search(values, range, edges, add),
            Places::Integers(values, len, any_outside) => {
                values.each_tile(range, |position, values| {
                    let bins = &mut bins[..values.len()];
                    let (values, len) = (values, *len);
                    if Level::current().run_narrow(Whole { values, len, bins }) {
                        any_outside.store(true, Ordering::Relaxed);
                    }
                    add(position, bins);
                });
            }
        }
    }
}

/// Makes bins of integers that are their numbers; one more is for others. Whether there are such.
struct Whole<'a> {
    values: &'a [i64],
    len: usize,
    bins: &'a mut [usize],
}

impl Task for Whole<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch>(self) -> bool {
        let mut most = 0;
        for (bin, &value) in self.bins.iter_mut().zip(self.values) {
            // A negative number is far above all bins.
            *bin = (value as u64).min(self.len as u64) as usize;
            most = most.max(*bin);
        }
        most == self.len && !self.values.is_empty()
    }
}

/// Up to so many bins there are several counters for each: equal neighbours then do not wait for one another's sum.
const SEVERAL: usize = 1 << 12;

/// How many elements are in each bin, or the sum of their weights.
fn tally(
    op: &'static str,
    x: Operand<'_>,
    weights: Option<Operand<'_>>,
    bins: usize,
    places: &Places<'_>,
) -> Result<Tally> {
    let len = x.elements();
    let Some(weights) = weights else {
        return Ok(Tally::Counts(counts_of(len, bins, places)));
    };
    weights.check_shape(op, Argument::Y, x.shape())?;
    let weights = flat(op, weights, DType::F64)?;
    let mut weights = weights.open(op)?;
    let weights = weights.slice::<f64>();
    let mut sums = vec![0.0; bins + 1];
    places.each(0..len, &mut |position, bins| {
        for (&bin, &weight) in bins.iter().zip(&weights[position..]) {
            sums[bin] += weight;
        }
    });
    sums.truncate(bins);
    Ok(Tally::Weights(sums))
}

/// How many of `len` elements are in each bin, counted by several threads where that pays.
fn counts_of(len: usize, bins: usize, places: &Places<'_>) -> Vec<i64> {
    /// What an element counts for beside the thresholds of threads: it takes 1.6 ns.
    const BYTES: usize = 32;
    let mut counts = vec![0i64; bins + 1];
    if bins > SEVERAL {
        places.each(0..len, &mut |_, bins| {
            bins.iter().for_each(|&bin| counts[bin] += 1);
        });
    } else {
        let share = len.div_ceil(threads::parts(BYTES * len, true)).max(1);
        let counted = spread::map(len.div_ceil(share), |part| {
            let mut lanes = vec![0i64; 4 * (bins + 1)];
            let range = part * share..len.min((part + 1) * share);
            count_lanes(places, range, &mut lanes, bins + 1);
            lanes
        });
        for lane in counted.iter().flat_map(|lanes| lanes.chunks(bins + 1)) {
            (counts.iter_mut().zip(lane)).for_each(|(sum, more)| *sum += more);
        }
    }
    counts.truncate(bins);
    counts
}

/// Counts a range of elements in four tables of so many bins.
fn count_lanes(places: &Places<'_>, range: Range<usize>, lanes: &mut [i64], bins: usize) {
    let (a, others) = lanes.split_at_mut(bins);
    let (b, others) = others.split_at_mut(bins);
    let (c, d) = others.split_at_mut(bins);
    places.each(range, &mut |_, bins| {
        let (fours, rest) = bins.as_chunks();
        for &[at, bt, ct, dt] in fours {
            a[at] += 1;
            b[bt] += 1;
            c[ct] += 1;
            d[dt] += 1;
        }
        rest.iter().for_each(|&bin| a[bin] += 1);
    });
}

/// Edges at equal distances. The bin of a value is computed where that is sure to be right, and else looked up.
struct Ruler<'a> {
    edges: &'a [f64],
    scale: f64,
    /// Values up to so far from the middle of a bin, in bins, are in it.
    reach: f64,
}

impl<'a> Ruler<'a> {
    /// None where edges lie so far from where they are expected that many bins would have to be looked up.
    fn new(edges: &'a [f64]) -> Option<Self> {
        /// How far an edge may be, in bins.
        const NEAR: f64 = 0.0625;
        let bins = (edges.len() - 1) as f64;
        let mut ruler = Ruler {
            edges,
            scale: bins / (edges[edges.len() - 1] - edges[0]),
            reach: 0.0,
        };
        let mut most = 0.0f64;
        for (index, &edge) in edges.iter().enumerate() {
            let miss = (ruler.place(edge) - index as f64).abs();
            if miss.is_nan() || miss > NEAR {
                return None;
            }
            most = most.max(miss);
        }
        // Places ascend with the values: what is further than `most` from an edge's number is on that side of the edge. The
        // rest is for the rounding of the middle.
        ruler.reach = 0.5 - most - bins * 4.0 * f64::EPSILON;
        Some(ruler)
    }

    /// How far a value is from the first edge, in bins.
    #[inline(always)]
    fn place(&self, value: f64) -> f64 {
        (value - self.edges[0]) * self.scale
    }

    /// The bin of a value; one more than the last for what is in none.
    fn look_up(&self, value: f64) -> usize {
        let last = self.edges.len() - 1;
        let passed = self.edges.partition_point(|&edge| edge <= value);
        bin_after(passed, last, value == self.edges[last])
    }
}

/// The bin of a value that is not below so many edges, of which the `last` one belongs to the bin before it; one more than
/// the last bin for what is in none.
fn bin_after(passed: usize, last: usize, is_last_edge: bool) -> usize {
    match passed {
        0 => last,
        passed if passed <= last => passed - 1,
        _ if is_last_edge => last - 1,
        _ => last,
    }
}

/// Finds the bins of some values.
struct Measure<'a> {
    ruler: &'a Ruler<'a>,
    values: &'a [f64],
    bins: &'a mut [usize],
}

/// In place of a bin that has to be looked up.
const UNSURE: usize = usize::MAX;

impl Task for Measure<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        /// Added to a number, it leaves the nearest integer in the low bits.
        const WHOLE: f64 = (3u64 << 51) as f64;
        let Self {
            ruler,
            values,
            bins,
        } = self;
        let (reach, end) = (ruler.reach, (ruler.edges.len() - 1) as f64);
        let mut any = 0;
        for (bin, &value) in bins.iter_mut().zip(values) {
            let place = ruler.place(value);
            let whole = place - 0.5 + WHOLE;
            let off = place - 0.5 - (whole - WHOLE);
            // `&`: no branches, so that the loop vectorises. NaN is never sure.
            let is_sure = (off.abs() <= reach) & (place > 0.0) & (place < end);
            let at = (whole.to_bits() ^ WHOLE.to_bits()) as usize;
            *bin = if is_sure { at } else { UNSURE };
            any |= *bin;
        }
        if any > UNSURE / 2 {
            for (bin, &value) in bins.iter_mut().zip(values) {
                if *bin == UNSURE {
                    *bin = ruler.look_up(value);
                }
            }
        }
    }
}

/// Bins of any width, by binary search.
fn by_search(values: &Values<'_, f64>, range: Range<usize>, edges: &[f64], add: &mut Add<'_>) {
    let coding = Coding::new(DType::F64, false);
    let ranked = |values: &mut dyn Iterator<Item = f64>| {
        let mut keys: Vec<u64> = values.map(f64::to_bits).collect();
        coding.rank(&mut keys);
        keys
    };
    let table = ranked(&mut edges.iter().copied());
    let last = edges.len() - 1;
    let (mut places, mut bins) = ([0u64; TILE], [0; TILE]);
    values.each_tile(range, |position, values| {
        let keys = ranked(&mut values.iter().copied());
        let places = &mut places[..keys.len()];
        search(&table, &keys, places, |a, b| a <= b);
        let found = places.iter().zip(&keys);
        for (bin, (&place, key)) in bins.iter_mut().zip(found) {
            *bin = bin_after(place as usize, last, *key == table[last]);
        }
        add(position, &bins[..keys.len()]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::{Buffer, Element};
    use lodestride_shape::Layout;

    /// The bin of a value by the definition.
    fn bin(value: f64, edges: &[f64]) -> Option<usize> {
        let last = edges.len() - 1;
        let inside = |bin: usize| edges[bin] <= value && value < edges[bin + 1];
        let at_end = (value == edges[last]).then_some(last - 1);
        (0..last).find(|&bin| inside(bin)).or(at_end)
    }

    /// Histograms of an array and of every second element of it, beside the definition; `is_even` may not matter.
    fn check<T: Element + Into<f64>>(values: &[T], edges: &[f64]) {
        let buffer = Buffer::from_vec(values.to_vec()).unwrap();
        for step in [1, 2] {
            let len = values.len() / step;
            let layout = Layout::new([len], [step as isize], 0).unwrap();
            let x = Operand::new(&buffer, &layout, T::DTYPE).unwrap();
            let mut counts = vec![0; edges.len() - 1];
            let seen = values.iter().step_by(step).take(len);
            for bin in seen.filter_map(|&value| bin(value.into(), edges)) {
                counts[bin] += 1;
            }
            for is_even in [false, true] {
                let found = histogram(x, edges, is_even, None).unwrap();
                assert_eq!(found, Tally::Counts(counts.clone()), "{edges:?}, {is_even}");
                let weights = counts.iter().map(|&count| count as f64).collect();
                let ones = Buffer::from_vec(vec![1.0f32; values.len()]).unwrap();
                let ones = Operand::new(&ones, &layout, DType::F32).unwrap();
                let found = histogram(x, edges, is_even, Some(ones)).unwrap();
                assert_eq!(found, Tally::Weights(weights), "{edges:?}, {is_even}");
            }
        }
    }

    #[test]
    fn bins_are_those_of_the_definition() {
        let even = |first: f64, last: f64, bins: usize| -> Vec<f64> {
            let step = (last - first) / bins as f64;
            let edge = |i: usize| {
                if i == bins {
                    last
                } else {
                    first + i as f64 * step
                }
            };
            (0..=bins).map(edge).collect()
        };
        let rounded = |edges: Vec<f64>| edges.iter().map(|&edge| f64::from(edge as f32)).collect();
        let tables: [Vec<f64>; 8] = [
            even(0.1, 1.0, 100),
            rounded(even(0.1, 1.0, 100)),
            even(-3.0, 5.0, 1),
            even(1e16, 1e16 + 10.0, 40),
            even(0.0, 1e-307, 10),
            even(0.0, 1.0, 3000),
            vec![0.0, 0.0, 1.0, 4.0, 4.0],
            vec![2.0, 2.0],
        ];
        for edges in &tables {
            let (first, last) = (edges[0], edges[edges.len() - 1]);
            let spread = |i: usize| first + (last - first) * ((i * 7919) % 1301) as f64 / 1250.0;
            let beside = edges
                .iter()
                .flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]);
            let odd = [
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                -0.0,
                1e300,
                -1e300,
            ];
            let values: Vec<f64> = (0..1300).map(spread).chain(beside).chain(odd).collect();
            check(&values, edges);
            let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            check(&narrow, edges);
        }
    }
}
