//! Sorting, selecting, searching and counting against plain loops over every dtype, layout, axis and pattern.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::cmp::Ordering;

use lodestride_array::kernels::{Isa, set_threads};
use lodestride_array::{Bool, DType, Element, NdArray, Sorting, bf16, f16, with_dtype};
use support::layouts;

/// An element type as the reference orders it.
trait Ranked: Element {
    /// The order of numbers with NaN last; -0.0 equals 0.0.
    fn rank(&self, other: &Self) -> Ordering;
    /// The bits, widened.
    fn bits(&self) -> u64;
    fn of(seed: u64) -> Self;
}

macro_rules! ranked_integers {
    ($($t:ty),*) => {$(
        impl Ranked for $t {
            fn rank(&self, other: &Self) -> Ordering { self.cmp(other) }
            fn bits(&self) -> u64 { *self as u64 }
            fn of(seed: u64) -> Self { seed as $t }
        }
    )*};
}
ranked_integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl Ranked for Bool {
    fn rank(&self, other: &Self) -> Ordering {
        bool::from(*self).cmp(&bool::from(*other))
    }
    fn bits(&self) -> u64 {
        u64::from(bool::from(*self))
    }
    fn of(seed: u64) -> Self {
        Bool::from(seed % 2 == 1)
    }
}

macro_rules! ranked_floats {
    ($($t:ty, $nan:expr;)*) => {$(
        impl Ranked for $t {
            fn rank(&self, other: &Self) -> Ordering {
                self.partial_cmp(other)
                    .unwrap_or_else(|| (self != self).cmp(&(other != other)))
            }
            fn bits(&self) -> u64 { u64::from(self.to_bits()) }
            fn of(seed: u64) -> Self {
                match seed % 23 {
                    0 => $nan,
                    1 => -$nan,
                    2 => <$t>::INFINITY,
                    3 => <$t>::NEG_INFINITY,
                    4 => <$t>::from_scalar(0.0.into()),
                    5 => -<$t>::from_scalar(0.0.into()),
                    6 => <$t>::MIN_POSITIVE,
                    _ => <$t>::from_scalar(((seed as i32 % 10_000) as f64 / 16.0).into()),
                }
            }
        }
    )*};
}
ranked_floats!(f16, f16::NAN; bf16, bf16::NAN; f32, f32::NAN; f64, f64::NAN;);

/// Numbers without a pattern, the same every time.
fn noise(index: usize) -> u64 {
    let mut x = index as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3 {
        x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    x ^ (x >> 32)
}

/// The number at an index of an input of a length.
type Pattern = fn(usize, usize) -> u64;

/// Orders of input that sorts have been slow or wrong for.
const PATTERNS: &[(&str, Pattern)] = &[
    ("random", |i, _| noise(i)),
    ("ascending", |i, _| 7 * i as u64 + 7),
    ("descending", |i, n| 7 * (n - i) as u64 + 7),
    ("all equal", |_, _| 42),
    ("few values", |i, _| noise(i) % 4 + 40),
    ("sawtooth", |i, _| (i % 17) as u64 * 9 + 30),
    ("organ pipe", |i, n| i.min(n - i) as u64 + 30),
    (
        "one out of place",
        |i, n| if i + 1 == n { 0 } else { i as u64 },
    ),
];

fn values<T: Ranked>(pattern: Pattern, n: usize) -> Vec<T> {
    (0..n).map(|i| T::of(pattern(i, n))).collect()
}

/// Positions of a stable sort.
fn ordered<T: Ranked>(values: &[T], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&values[a], &values[b]);
        if descending { b.rank(a) } else { a.rank(b) }
    });
    order
}

fn check_vector<T: Ranked>(name: &str, n: usize, data: &[T], failures: &mut Vec<String>) {
    let x = NdArray::from_buffer_of(data);
    for sorting in [Sorting::ascending(), Sorting::descending()] {
        let order = ordered(data, sorting.is_descending());
        let mut fail = |what: &str| {
            failures.push(format!("{what} of {n} {} {name} {sorting:?}", T::DTYPE));
        };
        let indices = x.argsort_with(0, sorting).unwrap().to_vec::<i64>().unwrap();
        if !indices.iter().zip(&order).all(|(&a, &b)| a as usize == b) {
            fail("argsort");
        }
        let stable = read::<T>(&x.sort_with(0, sorting.stable()).unwrap());
        if !stable
            .iter()
            .zip(&order)
            .all(|(a, &b)| a.bits() == data[b].bits())
        {
            fail("stable sort");
        }
        let sorted = read::<T>(&x.sort_with(0, sorting).unwrap());
        if !sorted
            .iter()
            .zip(&order)
            .all(|(a, &b)| a.rank(&data[b]).is_eq())
        {
            fail("sort");
        }
        let (mut before, mut after): (Vec<u64>, Vec<u64>) = (
            data.iter().map(Ranked::bits).collect(),
            sorted.iter().map(Ranked::bits).collect(),
        );
        before.sort_unstable();
        after.sort_unstable();
        if before != after {
            fail("sort loses or makes values");
        }
        for k in [1, 3, n / 50 + 1, n / 2, n] {
            let k = k.min(n);
            let (top, places) = x.topk_with(k, 0, sorting).unwrap();
            let places = places.to_vec::<i64>().unwrap();
            let right = places.iter().zip(&order).all(|(&a, &b)| a as usize == b)
                && read::<T>(&top)
                    .iter()
                    .zip(&order)
                    .all(|(a, &b)| a.bits() == data[b].bits());
            if !right || places.len() != k {
                fail(&format!("topk {k}"));
            }
        }
    }
    check_partitions(name, &x, data, failures);
}

fn check_partitions<T: Ranked>(name: &str, x: &NdArray, data: &[T], failures: &mut Vec<String>) {
    let n = data.len();
    let order = ordered(data, false);
    for kth in [
        vec![0],
        vec![n / 3],
        vec![n.saturating_sub(1)],
        vec![n / 2, n / 7],
    ] {
        if n == 0 {
            break;
        }
        let parted = read::<T>(&x.partition(&kth, 0).unwrap());
        let places = x.argpartition(&kth, 0).unwrap().to_vec::<i64>().unwrap();
        let by_place: Vec<T> = places.iter().map(|&at| data[at as usize]).collect();
        let mut seen: Vec<i64> = places.clone();
        seen.sort_unstable();
        let complete = seen.iter().enumerate().all(|(i, &at)| i as i64 == at);
        for (what, parted) in [("partition", &parted), ("argpartition", &by_place)] {
            let right = complete
                && kth.iter().all(|&k| {
                    let pivot = &data[order[k]];
                    parted[k].rank(pivot).is_eq()
                        && parted[..k].iter().all(|v| v.rank(pivot).is_le())
                        && parted[k..].iter().all(|v| v.rank(pivot).is_ge())
                });
            if !right {
                failures.push(format!("{what} at {kth:?} of {n} {} {name}", T::DTYPE));
            }
        }
    }
}

/// Elements with their exact bits.
fn read<T: Element>(array: &NdArray) -> Vec<T> {
    let array = array.dup_order(lodestride_array::Order::C).unwrap();
    let guard = array.buffer().read().unwrap();
    guard.slice::<T>()[..array.len()].to_vec()
}

/// A vector with exactly these bits.
trait FromBits {
    fn from_buffer_of<T: Element>(data: &[T]) -> NdArray;
}

impl FromBits for NdArray {
    fn from_buffer_of<T: Element>(data: &[T]) -> NdArray {
        let array = NdArray::zeros_of(T::DTYPE, [data.len()]).unwrap();
        let mut guard = array.buffer().write().unwrap();
        guard.slice_mut::<T>()[..data.len()].copy_from_slice(data);
        drop(guard);
        array
    }
}

fn report(failures: &[String]) {
    let shown: Vec<&String> = failures.iter().take(20).collect();
    assert!(
        failures.is_empty(),
        "{} failures: {shown:#?}",
        failures.len()
    );
}

#[test]
fn every_dtype_pattern_and_size_is_sorted() {
    let mut failures = Vec::new();
    let sizes = (0..40).chain([64, 96, 97, 128, 129, 255, 257, 300]);
    for n in sizes {
        for dtype in DType::ALL {
            for &(name, pattern) in PATTERNS {
                with_dtype!(dtype, T => {
                    check_vector::<T>(name, n, &values::<T>(pattern, n), &mut failures);
                });
            }
        }
    }
    report(&failures);
}

#[test]
fn long_vectors_are_sorted() {
    let mut failures = Vec::new();
    for n in [4097, 20_000, 140_001] {
        for dtype in DType::ALL {
            for &(name, pattern) in PATTERNS {
                // Unoptimised references are slow: the longest only where the algorithm changes once more.
                let widest = matches!(dtype, DType::F32 | DType::I64) && name != "sawtooth";
                if n > 4097 && (!widest || (n > 20_000 && name.len() > 9)) {
                    continue;
                }
                with_dtype!(dtype, T => {
                    check_vector::<T>(name, n, &values::<T>(pattern, n), &mut failures);
                });
            }
        }
    }
    report(&failures);
}

/// One line of a 3-axis array.
fn line(shape: &[usize; 3], axis: usize, fixed: [usize; 2]) -> Vec<usize> {
    let mut at = [0; 3];
    let others: Vec<usize> = (0..3).filter(|&a| a != axis).collect();
    (at[others[0]], at[others[1]]) = (fixed[0], fixed[1]);
    (0..shape[axis])
        .map(|i| {
            at[axis] = i;
            (at[0] * shape[1] + at[1]) * shape[2] + at[2]
        })
        .collect()
}

#[test]
fn every_axis_of_every_layout_is_sorted() {
    let mut failures = Vec::new();
    for shape in [[3, 40, 5], [2, 3, 70], [40, 1, 9], [300, 2, 2]] {
        let count = shape.iter().product();
        for dtype in [
            DType::Bool,
            DType::I8,
            DType::U16,
            DType::F16,
            DType::F32,
            DType::I32,
            DType::F64,
        ] {
            with_dtype!(dtype, T => {
                let data = values::<T>(|i, _| noise(i), count);
                let x = NdArray::from_buffer_of(&data).reshape(shape).unwrap();
                for (layout, x) in layouts(&x).unwrap() {
                    for axis in 0..3 {
                        check_axis::<T>(&format!("{layout} axis {axis} of {shape:?}"), &x, (&shape, axis), &data, &mut failures);
                    }
                }
            });
        }
    }
    report(&failures);
}

fn check_axis<T: Ranked>(
    name: &str,
    x: &NdArray,
    (shape, axis): (&[usize; 3], usize),
    data: &[T],
    failures: &mut Vec<String>,
) {
    let k = shape[axis].min(2);
    let sorted = read::<T>(&x.sort(axis as isize).unwrap());
    let order = x.argsort(axis as isize).unwrap().to_vec::<i64>().unwrap();
    let (top, _) = x.topk(k, axis as isize).unwrap();
    let in_place = x.dup().unwrap();
    let target = layouts(&in_place).unwrap();
    for (_, target) in &target {
        target.sorti(axis as isize).unwrap();
    }
    let targets: Vec<Vec<T>> = target.iter().map(|(_, target)| read::<T>(target)).collect();
    let top = read::<T>(&top);
    let others: Vec<usize> = (0..3).filter(|&a| a != axis).map(|a| shape[a]).collect();
    let mut top_shape = *shape;
    top_shape[axis] = k;
    for a in 0..others[0] {
        for b in 0..others[1] {
            let places = line(shape, axis, [a, b]);
            let values: Vec<T> = places.iter().map(|&at| data[at]).collect();
            let expected = ordered(&values, false);
            let down = ordered(&values, true);
            let right = places.iter().zip(&expected).all(|(&at, &from)| {
                sorted[at].rank(&values[from]).is_eq()
                    && order[at] as usize == from
                    && targets
                        .iter()
                        .all(|target| target[at].rank(&values[from]).is_eq())
            });
            let top_right = line(&top_shape, axis, [a, b])
                .iter()
                .zip(&down)
                .all(|(&at, &from)| top[at].bits() == values[from].bits());
            if !right || !top_right {
                failures.push(format!("{} {name}", T::DTYPE));
                return;
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_threads_or_instruction_set() {
    let data = values::<f64>(|i, _| noise(i), 300_000);
    let x = NdArray::from_buffer_of(&data);
    let floats = NdArray::from_buffer_of(&values::<f32>(|i, _| noise(i), 300_000));
    let run = || {
        let mut bits = Vec::new();
        for x in [&x, &floats] {
            bits.extend(read_bits(&x.sort(0).unwrap()));
            bits.extend(read_bits(&x.argsort(0).unwrap()));
            bits.extend(read_bits(&x.partition([1000, 100_000], 0).unwrap()));
            bits.extend(read_bits(&x.argpartition([150_000], 0).unwrap()));
            bits.extend(read_bits(&x.nan_median(0).unwrap()));
            let rows = x.reshape([1000, 300]).unwrap();
            bits.extend(read_bits(&rows.sort(0).unwrap()));
            bits.extend(read_bits(&rows.argsort(1).unwrap()));
            bits.extend(read_bits(&rows.topk(7, 1).unwrap().0));
        }
        bits
    };
    let before = Isa::detect();
    let expected = run();
    for isa in Isa::available() {
        for threads in [1, 2, 4] {
            assert!(isa.select());
            set_threads(threads);
            assert!(run() == expected, "{isa} at {threads} threads");
        }
    }
    set_threads(0);
    before.select();
}

fn read_bits(array: &NdArray) -> Vec<u64> {
    if array.dtype().size() == 4 {
        read::<u32>(array).into_iter().map(u64::from).collect()
    } else {
        read::<u64>(array)
    }
}

#[test]
fn in_place_sorting_reaches_through_views() {
    let a = NdArray::from([[3i32, 9], [1, 8], [2, 7]]);
    a.slice(0, 1).unwrap().sorti(0).unwrap();
    assert_eq!(a, NdArray::from([[1i32, 9], [2, 8], [3, 7]]));
    a.transpose().sorti(..).unwrap();
    assert_eq!(a.transpose().to_vec::<i32>().unwrap(), [1, 2, 3, 7, 8, 9]);
    let indices = a.sorti_with_indices(1, Sorting::descending()).unwrap();
    assert_eq!(indices.to_vec::<i64>().unwrap(), [1, 0, 1, 0, 1, 0]);
    assert_eq!(a.to_vec::<i32>().unwrap(), [7, 1, 8, 2, 9, 3]);
    let scalar = NdArray::from(5i32);
    assert_eq!(scalar.sort(..).unwrap().to_vec::<i32>().unwrap(), [5]);
    assert!(scalar.sort(0).is_err());
}
