//! Sorting, selecting, searching and counting against plain loops over every dtype, layout, axis and pattern.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::cmp::Ordering;

use lodestride_array::kernels::{
    Isa, Thresholds, set_threads, set_thresholds, threads, thresholds,
};
use lodestride_array::{Bool, DType, Element, NdArray, Sorting, bf16, f16, with_dtype};
use support::matrix::{all_shapes, inputs, layout_matrix};
use support::report;
use support::tables::{in_every_layout, of};

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

#[test]
fn every_dtype_pattern_and_size_is_sorted() {
    let (mut checked, mut failures) = (0, Vec::new());
    let sizes = (0..40).chain([64, 96, 97, 128, 129, 255, 257, 300, 513, 1030]);
    for n in sizes {
        for dtype in DType::ALL {
            for &(name, pattern) in PATTERNS {
                with_dtype!(dtype, T => {
                    check_vector::<T>(name, n, &values::<T>(pattern, n), &mut failures);
                    checked += 1;
                });
            }
        }
    }
    report(checked, &failures);
}

/// Sorts, partitions and quantiles of many lines together beside those of each line alone.
fn check_lines<T: Ranked>(rows: usize, len: usize, failures: &mut Vec<String>) {
    let data = values::<T>(|i, _| noise(i) % 40, rows * len);
    let x = NdArray::from_buffer_of(&data).reshape([rows, len]).unwrap();
    let across = x.transpose().dup_order(lodestride_array::Order::C).unwrap();
    let bits = |array: &NdArray| -> Vec<u64> { read::<T>(array).iter().map(T::bits).collect() };
    let mut check = |what: &str, of: &dyn Fn(&NdArray, isize) -> NdArray| {
        let lines = data.chunks_exact(len).map(NdArray::from_buffer_of);
        let alone: Vec<Vec<u64>> = lines.map(|line| bits(&of(&line, 0))).collect();
        let down = of(&across, 0);
        let down = if down.rank() == 2 {
            down.transpose()
        } else {
            down
        };
        for (way, together) in [("along", of(&x, 1)), ("across", down)] {
            if bits(&together) != alone.concat() {
                failures.push(format!("{what} {way} {rows} lines of {len} {}", T::DTYPE));
            }
        }
    };
    for sorting in [Sorting::ascending(), Sorting::descending()] {
        for sorting in [sorting, sorting.stable()] {
            check(&format!("{sorting:?}"), &|x, axis| {
                x.sort_with(axis, sorting).unwrap()
            });
        }
    }
    for q in [0.0, 0.3, 0.5, 1.0] {
        let cast = |x: NdArray| x.cast(T::DTYPE).unwrap();
        check(&format!("quantile {q}"), &|x, axis| {
            cast(x.quantile(q, axis).unwrap())
        });
    }
    check("nan_median", &|x, axis| {
        x.nan_median(axis).unwrap().cast(T::DTYPE).unwrap()
    });
}

/// What is done to an array along an axis.
type Along = fn(&NdArray, isize) -> NdArray;

/// Positions in many lines together beside those in each line alone.
fn check_positions<T: Ranked>(rows: usize, len: usize, failures: &mut Vec<String>) {
    let data = values::<T>(|i, _| noise(i) % 40, rows * len);
    let x = NdArray::from_buffer_of(&data).reshape([rows, len]).unwrap();
    let across = x.transpose().dup_order(lodestride_array::Order::C).unwrap();
    let positions: [(&str, Along); 3] = [
        ("argsort", |x, axis| x.argsort(axis).unwrap()),
        ("topk", |x, axis| x.topk(1, axis).unwrap().1),
        ("argpartition", |x, axis| x.argpartition([0], axis).unwrap()),
    ];
    for (what, of) in positions {
        let lines = data.chunks_exact(len).map(NdArray::from_buffer_of);
        let alone: Vec<Vec<i64>> = lines.map(|line| of(&line, 0).to_vec().unwrap()).collect();
        let down = of(&across, 0).transpose();
        for together in [of(&x, 1), down] {
            if together.to_vec::<i64>().unwrap() != alone.concat() {
                failures.push(format!("{what} of {rows} lines of {len} {}", T::DTYPE));
            }
        }
    }
}

#[test]
fn many_short_lines_are_sorted_as_each_of_them_is() {
    let (mut checked, mut failures) = (0, Vec::new());
    for len in [1, 2, 3, 5, 8, 24, 25, 32, 33] {
        for rows in [15, 16, 70] {
            for dtype in DType::ALL {
                with_dtype!(dtype, T => {
                    check_lines::<T>(rows, len, &mut failures);
                    check_positions::<T>(rows, len, &mut failures);
                });
                checked += 1;
            }
        }
    }
    report(checked, &failures);
}

#[test]
fn long_vectors_are_sorted() {
    let (mut checked, mut failures) = (0, Vec::new());
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
                    checked += 1;
                });
            }
        }
    }
    report(checked, &failures);
}

/// The places of each line of an array along an axis, in C order.
fn lines(shape: &[usize], axis: usize) -> Vec<Vec<usize>> {
    let (size, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let outer: usize = shape[..axis].iter().product();
    let starts = (0..outer).flat_map(|i| (0..inner).map(move |j| i * size * inner + j));
    starts
        .map(|start| (0..size).map(|i| start + i * inner).collect())
        .collect()
}

#[test]
fn every_axis_of_every_layout_is_sorted() {
    let (mut checked, mut failures) = (0, Vec::new());
    let large = [[3, 40, 5], [2, 3, 70], [40, 1, 9], [300, 2, 2]].map(Vec::from);
    for shape in all_shapes().into_iter().chain(large) {
        let count = shape.iter().product();
        for (number, dtype) in [
            DType::F32,
            DType::I32,
            DType::Bool,
            DType::I8,
            DType::U16,
            DType::F16,
            DType::F64,
        ]
        .into_iter()
        .enumerate()
        // Lines of one and two elements in the first dtype only.
        .take(if shape.iter().any(|&size| size > 2) {
            7
        } else {
            1
        }) {
            // Every layout in the first dtype, every third in the others, each time others: the time is that of the references.
            let part = |index: usize| number == 0 || index % 3 == number % 3;
            with_dtype!(dtype, T => {
                let data = values::<T>(|i, _| noise(i), count);
                let x = NdArray::from_buffer_of(&data).reshape(&shape[..]).unwrap();
                let given = inputs(&x).unwrap().into_iter().enumerate();
                let given: Vec<_> = given.filter(|(at, _)| part(*at)).map(|(_, x)| x).collect();
                for axis in 0..shape.len() {
                    let name = format!("{dtype} {shape:?}, axis {axis}");
                    check_axis::<T>(&name, &given, axis, &mut failures);
                    let targets = layout_matrix(&x).unwrap().into_iter().enumerate();
                    let targets = targets.filter(|(at, _)| part(*at)).map(|(_, target)| target);
                    let targets: Vec<_> = targets.collect();
                    check_in_place::<T>(&name, &x, &targets, axis, &mut failures);
                    checked += given.len() + targets.len();
                }
            });
        }
    }
    report(checked, &failures);
    assert!(checked > 20_000, "{checked}");
}

/// What a stable sort of each line of plain elements gives: the elements and their positions, and the first of it.
struct Ordered<T> {
    places: Vec<Vec<usize>>,
    sorted: Vec<Vec<T>>,
    order: Vec<Vec<usize>>,
}

impl<T: Ranked> Ordered<T> {
    fn new(plain: &NdArray, axis: usize, descending: bool) -> Self {
        let (data, places) = (read::<T>(plain), lines(plain.shape(), axis));
        let values: Vec<Vec<T>> = (places.iter())
            .map(|line| line.iter().map(|&at| data[at]).collect())
            .collect();
        let order: Vec<Vec<usize>> = (values.iter())
            .map(|line| ordered(line, descending))
            .collect();
        let sorted = (values.iter().zip(&order))
            .map(|(line, order)| order.iter().map(|&from| line[from]).collect())
            .collect();
        Self {
            places,
            sorted,
            order,
        }
    }

    /// Whether an array has the elements, each line in the order of a sort.
    fn are_of(&self, array: &NdArray) -> bool {
        let found = read::<T>(array);
        let lines = self.places.iter().zip(&self.sorted);
        lines
            .flat_map(|(places, sorted)| places.iter().zip(sorted))
            .all(|(&at, wanted)| found[at].rank(wanted).is_eq())
    }

    /// Whether an array has the positions of a sort.
    fn is_order(&self, array: &NdArray) -> bool {
        let found = array.to_vec::<i64>().unwrap();
        let lines = self.places.iter().zip(&self.order);
        lines
            .flat_map(|(places, order)| places.iter().zip(order))
            .all(|(&at, &from)| found[at] as usize == from)
    }

    /// Whether an array has the bits of the first `k` of each line.
    fn start_with(&self, array: &NdArray, axis: usize) -> bool {
        let found = read::<T>(array);
        let lines = lines(array.shape(), axis).into_iter().zip(&self.sorted);
        lines
            .flat_map(|(places, sorted)| places.into_iter().zip(sorted))
            .all(|(at, wanted)| found[at].bits() == wanted.bits())
    }
}

/// Sorts, argsorts and selects along an axis of arrays, all but the stretched ones of which have the same elements.
fn check_axis<T: Ranked>(
    name: &str,
    given: &[(String, NdArray, NdArray)],
    axis: usize,
    failures: &mut Vec<String>,
) {
    let along = axis as isize;
    let mut of_whole = None;
    for (layout, x, plain) in given {
        let rising_falling =
            || [false, true].map(|descending| Ordered::<T>::new(plain, axis, descending));
        let of_stretched;
        let [rising, falling] = if layout.starts_with("stretched") {
            of_stretched = rising_falling();
            &of_stretched
        } else {
            of_whole.get_or_insert_with(rising_falling)
        };
        let (top, _) = x.topk(x.shape()[axis].min(2), along).unwrap();
        if !rising.are_of(&x.sort(along).unwrap())
            || !rising.is_order(&x.argsort(along).unwrap())
            || !falling.start_with(&top, axis)
        {
            failures.push(format!("{name}, {layout}"));
        }
    }
}

/// Sorts layouts of `x` in place.
fn check_in_place<T: Ranked>(
    name: &str,
    x: &NdArray,
    targets: &[(String, NdArray)],
    axis: usize,
    failures: &mut Vec<String>,
) {
    let rising = Ordered::<T>::new(x, axis, false);
    for (layout, target) in targets {
        target.sorti(axis as isize).unwrap();
        if !rising.are_of(target) {
            failures.push(format!("{name}, {layout}, in place"));
        }
    }
}

#[test]
fn results_do_not_depend_on_threads_or_instruction_set() {
    let data = values::<f64>(|i, _| noise(i), 300_000);
    let x = NdArray::from_buffer_of(&data);
    let floats = NdArray::from_buffer_of(&values::<f32>(|i, _| noise(i), 300_000));
    let halves = NdArray::from_buffer_of(&values::<f16>(|i, _| noise(i), 300_000));
    let run = || {
        let mut bits = Vec::new();
        for x in [&x, &floats, &halves] {
            bits.extend(read_bits(&x.sort(0).unwrap()));
            bits.extend(read_bits(&x.argsort(0).unwrap()));
            bits.extend(read_bits(&x.partition([1000, 100_000], 0).unwrap()));
            bits.extend(read_bits(&x.argpartition([150_000], 0).unwrap()));
            bits.extend(read_bits(&x.nan_median(0).unwrap()));
            let rows = x.reshape([1000, 300]).unwrap();
            bits.extend(read_bits(&rows.sort(0).unwrap()));
            bits.extend(read_bits(&rows.argsort(1).unwrap()));
            bits.extend(read_bits(&rows.topk(7, 1).unwrap().0));
            bits.extend(read_bits(&rows.partition([100], 0).unwrap()));
            bits.extend(read_bits(&rows.argpartition([100], 1).unwrap()));
            let cube = x.reshape([3, 500, 200]).unwrap();
            bits.extend(read_bits(&cube.sort(1).unwrap()));
            bits.extend(read_bits(&cube.partition([77], 1).unwrap()));
            bits.extend(read_bits(&cube.argsort(1).unwrap()));
            let short = x.reshape([30_000, 10]).unwrap();
            bits.extend(read_bits(&short.argsort(1).unwrap()));
            bits.extend(read_bits(&short.topk(2, 1).unwrap().1));
        }
        bits
    };
    set_thresholds(Thresholds {
        light_bytes: 1 << 14,
        heavy_bytes: 1 << 14,
        ..thresholds()
    });
    let before = Isa::detect();
    let expected = run();
    for isa in Isa::available() {
        let mut ran = Vec::new();
        for wanted in [1, 2, 4] {
            assert!(isa.select());
            set_threads(wanted);
            // Without the pool, or in a smaller one, several are the same.
            let threads = threads();
            if !ran.contains(&threads) {
                assert!(run() == expected, "{isa} at {threads} threads");
                ran.push(threads);
            }
        }
    }
    set_threads(0);
    before.select();
}

fn read_bits(array: &NdArray) -> Vec<u64> {
    match array.dtype().size() {
        2 => read::<u16>(array).into_iter().map(u64::from).collect(),
        4 => read::<u32>(array).into_iter().map(u64::from).collect(),
        _ => read::<u64>(array),
    }
}

#[test]
fn in_place_sorting_reaches_through_views() {
    in_every_layout(in_place_sorting_reaches_through_views_in_a_layout);
}

fn in_place_sorting_reaches_through_views_in_a_layout() {
    let a = of([[3i32, 9], [1, 8], [2, 7]]);
    a.slice(0, 1).unwrap().sorti(0).unwrap();
    assert_eq!(a, of([[1i32, 9], [2, 8], [3, 7]]));
    a.transpose().sorti(..).unwrap();
    assert_eq!(a.transpose().to_vec::<i32>().unwrap(), [1, 2, 3, 7, 8, 9]);
    let indices = a.sorti_with_indices(1, Sorting::descending()).unwrap();
    assert_eq!(indices.to_vec::<i64>().unwrap(), [1, 0, 1, 0, 1, 0]);
    assert_eq!(a.to_vec::<i32>().unwrap(), [7, 1, 8, 2, 9, 3]);
    let scalar = of(5i32);
    assert_eq!(scalar.sort(..).unwrap().to_vec::<i32>().unwrap(), [5]);
    assert!(scalar.sort(0).is_err());
}
