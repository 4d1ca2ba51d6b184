//! Arrays made of others: padding beside NumPy's figures, grids, triangles, rolling, cutting, growing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{
    ArrayErrorKind, DType, GridAxes, GrowArray, NdArray, NdIndexIterator, Order, PadMode, Scalar,
    Workspace, s,
};
use support::matrix::{all_shapes, in_layouts, inputs, layout_matrix};
use support::{counted, report};

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

fn sizes(text: &str) -> Vec<usize> {
    numbers(text)
        .into_iter()
        .map(|size| size as usize)
        .collect()
}

fn dtype(name: &str) -> DType {
    match name {
        "float16" => DType::F16,
        "float32" => DType::F32,
        "float64" => DType::F64,
        "int16" => DType::I16,
        "int32" => DType::I32,
        "int64" => DType::I64,
        "uint8" => DType::U8,
        _ => panic!("no dtype {name}"),
    }
}

fn mode(name: &str, pairs: &[f64]) -> PadMode {
    let values = || -> Vec<[Scalar; 2]> {
        let number = |x: f64| Scalar::from(x as i64);
        pairs
            .chunks(2)
            .map(|pair| [number(pair[0]), number(pair[1])])
            .collect()
    };
    let lengths = || -> Vec<[usize; 2]> {
        pairs
            .chunks(2)
            .map(|pair| [pair[0] as usize, pair[1] as usize])
            .collect()
    };
    match name {
        "constant" => PadMode::Constant(values()),
        "edge" => PadMode::Edge,
        "linear_ramp" => PadMode::LinearRamp(values()),
        "maximum" => PadMode::Maximum(lengths()),
        "mean" => PadMode::Mean(lengths()),
        "median" => PadMode::Median(lengths()),
        "minimum" => PadMode::Minimum(lengths()),
        "reflect" => PadMode::Reflect,
        "reflect_odd" => PadMode::ReflectOdd,
        "symmetric" => PadMode::Symmetric,
        "symmetric_odd" => PadMode::SymmetricOdd,
        "wrap" => PadMode::Wrap,
        _ => panic!("no mode {name}"),
    }
}

/// The lines of `testdata/padding.txt`, in every memory layout of the array; and stretched arrays as the same without gaps.
#[test]
fn padding_is_numpys() {
    let (mut checked, mut failed) = (0, Vec::new());
    for line in include_str!("../testdata/padding.txt").lines() {
        let (given, found) = line.split_once("=>").unwrap();
        let given: Vec<&str> = given.split('|').map(str::trim).collect();
        let (shape, expected) = found.split_once('|').unwrap();
        let a = NdArray::from_vec(numbers(given[2]), sizes(given[1])).unwrap();
        let a = a.cast(dtype(given[0])).unwrap();
        let widths: Vec<[usize; 2]> = (sizes(given[3]).chunks(2))
            .map(|pair| [pair[0], pair[1]])
            .collect();
        let mode = mode(given[4], &numbers(given[5]));
        let epsilon = match given[0] {
            "float16" => 1.0 / 1024.0,
            "float32" => f64::from(f32::EPSILON),
            "float64" => f64::EPSILON,
            _ => 0.0,
        };
        // Means are rounded in another order, and NumPy computes ramps in the array's own precision, we in f64.
        let allowed = match given[4] {
            "mean" | "linear_ramp" => 2.0 * epsilon * 16.0,
            _ => 0.0,
        };
        let (shape, expected) = (sizes(shape), numbers(expected));
        for (layout, a, plain) in inputs(&a).unwrap() {
            checked += 1;
            let padded = a.pad_with(&widths[..], &mode).unwrap();
            let values = padded.to_f64_vec().unwrap();
            let expected = match layout.starts_with("stretched") {
                true => (plain.pad_with(&widths[..], &mode).unwrap())
                    .to_f64_vec()
                    .unwrap(),
                false => expected.clone(),
            };
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= allowed;
            let same = values.len() == expected.len() && values.iter().zip(&expected).all(close);
            if padded.dtype() != a.dtype() || padded.shape()[..] != shape || !same {
                failed.push(format!("{line}\n  {layout}: {padded:?}"));
            }
        }
    }
    report(checked, &failed);
    assert!(checked > 3000, "{checked}");
}

/// Rows around the length up to which all of the result is filled first.
#[test]
fn constants_are_put_around_short_and_long_rows() {
    for (shape, widths) in [
        ([2, 3, 1], [[1, 1], [1, 1], [1, 1]]),
        ([2, 3, 30], [[1, 0], [0, 2], [1, 1]]),
        ([1, 40, 31], [[0, 0], [3, 1], [0, 1]]),
        ([2, 3, 62], [[1, 1], [1, 1], [1, 2]]),
        ([2, 3, 300], [[1, 1], [1, 1], [2, 0]]),
        ([2, 3, 5], [[1, 1], [2, 2], [0, 0]]),
        ([2, 0, 5], [[1, 1], [2, 2], [1, 0]]),
    ] {
        for (layout, a) in layout_matrix(&counted(&shape)).unwrap() {
            let padded = a.pad(&widths[..], -7).unwrap();
            let (given, found) = (a.to_f64_vec().unwrap(), padded.to_f64_vec().unwrap());
            let sizes: Vec<usize> = (shape.iter().zip(widths))
                .map(|(size, [before, after])| before + size + after)
                .collect();
            assert_eq!(padded.shape()[..], sizes, "{layout}");
            for (number, &value) in found.iter().enumerate() {
                let at = [
                    number / (sizes[1] * sizes[2]),
                    number / sizes[2] % sizes[1],
                    number % sizes[2],
                ];
                let inside = at.iter().zip(shape).zip(widths).try_fold(
                    0,
                    |place, ((&at, size), [before, _])| {
                        let at = at.checked_sub(before).filter(|&at| at < size)?;
                        Some(place * size + at)
                    },
                );
                let wanted = inside.map_or(-7.0, |place| given[place]);
                assert_eq!(value, wanted, "{layout} {shape:?} {widths:?} at {at:?}");
            }
        }
    }
}

#[test]
fn padding_that_makes_no_sense_is_an_error() {
    let a = counted(&[2, 3]);
    let empty = NdArray::zeros([0, 3]).unwrap();
    let one = [1usize, 1];
    let zero = Scalar::from(0);
    let cases: Vec<(&NdArray, PadMode)> = vec![
        (&empty, PadMode::Edge),
        (&empty, PadMode::Wrap),
        (&a, PadMode::Constant(vec![])),
        (&a, PadMode::Constant(vec![[zero, zero]; 3])),
        (&a, PadMode::LinearRamp(vec![])),
        (&a, PadMode::Mean(vec![[1, 1]; 3])),
        (&a, PadMode::Maximum(vec![[0, 1]])),
    ];
    for (array, mode) in cases {
        let error = array.pad_with(one, &mode).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ArrayErrorKind::Form { .. } | ArrayErrorKind::Count { .. }
            ),
            "{mode:?}: {error}"
        );
    }
    assert!(a.pad_with([1], &PadMode::Edge).is_err());
    assert!(a.pad([usize::MAX, 1], 0).is_err());
    let room = a.pad_with([[1, 0], [0, 0]], &PadMode::Empty).unwrap();
    assert_eq!(room.get(&s![1..]).unwrap(), a);
}

/// A shape operation and where the element at an index of its result comes from.
type Moved = (
    &'static str,
    fn(&NdArray) -> NdArray,
    fn(&[usize], &[usize]) -> Vec<usize>,
);

/// Operations along the first or last axis beside the index they read from.
const MOVED: &[Moved] = &[
    (
        "roll 2",
        |a| a.roll(2, 0).unwrap(),
        |shape, index| {
            let mut from = index.to_vec();
            from[0] = (index[0] + 2 * shape[0] - 2) % shape[0];
            from
        },
    ),
    (
        "roll -9",
        |a| a.roll(-9, -1).unwrap(),
        |shape, index| {
            let (mut from, last) = (index.to_vec(), shape.len() - 1);
            from[last] = (index[last] + 9) % shape[last];
            from
        },
    ),
    (
        "flip all",
        |a| a.flip_axes(..).unwrap(),
        |shape, index| {
            shape
                .iter()
                .zip(index)
                .map(|(size, i)| size - 1 - i)
                .collect()
        },
    ),
    (
        "flip first and last",
        |a| a.flip_axes([-1, 0]).unwrap(),
        |shape, index| {
            let (mut from, last) = (index.to_vec(), shape.len() - 1);
            from[0] = shape[0] - 1 - index[0];
            from[last] = shape[last] - 1 - index[last];
            from
        },
    ),
];

#[test]
fn elements_move_where_they_should() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes().iter().filter(|shape| !shape.is_empty()) {
        for (layout, a, plain) in inputs(&counted(shape)).unwrap() {
            for (name, moved, from) in MOVED {
                checked += 1;
                let b = moved(&a);
                let wrong = NdIndexIterator::new(b.shape(), Order::C).find(|index| {
                    let expected = plain.get_f64(from(shape, index)).unwrap();
                    b.get_f64(&index[..]).unwrap() != expected
                });
                if b.shape() != a.shape() || wrong.is_some() {
                    failed.push(format!("{name} of {shape:?}, {layout}: {wrong:?}"));
                }
            }
        }
    }
    report(checked, &failed);
    assert!(checked > 8000, "{checked}");
    let a = counted(&[2, 3]);
    let flat = a.roll_flat(-2).unwrap();
    assert_eq!(flat.to_f64_vec().unwrap(), [2.0, 3.0, 4.0, 5.0, 0.0, 1.0]);
    assert!(a.roll(1, 2).is_err() && a.flip_axes([2]).is_err());
}

#[test]
fn quarter_turns_agree_with_each_other() {
    for shape in [&[2usize, 3][..], &[3, 1, 4], &[2, 0]] {
        for (layout, a, _) in inputs(&counted(shape)).unwrap() {
            let mut turned = a.clone();
            for quarters in 1..=4 {
                turned = turned.rot90(1, [0, 1]).unwrap();
                assert_eq!(
                    turned,
                    a.rot90(quarters, [0, 1]).unwrap(),
                    "{layout} {quarters}"
                );
                assert_eq!(turned, a.rot90(quarters - 8, [0, 1]).unwrap(), "{layout}");
                assert_eq!(turned, a.rot90(-quarters, [1, 0]).unwrap(), "{layout}");
            }
            assert!(turned == a && (a.is_empty() || turned.shares_memory(&a)));
        }
    }
    let a = NdArray::from([[1i32, 2, 3], [4, 5, 6]]);
    assert_eq!(
        a.rot90(1, [0, 1]).unwrap(),
        NdArray::from([[3i32, 6], [2, 5], [1, 4]])
    );
    assert!(a.rot90(1, [0, 0]).is_err() && a.rot90(1, [0, 2]).is_err());
}

#[test]
fn triangles_follow_the_diagonal() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in [
        &[3usize, 5][..],
        &[5, 3],
        &[2, 4, 4],
        &[0, 3],
        &[3, 0],
        &[1, 1],
    ] {
        for dtype in [DType::F32, DType::I16, DType::Bool, DType::BF16, DType::U64] {
            let a = counted(shape).add(1).unwrap().cast(dtype).unwrap();
            for (layout, a, plain) in inputs(&a).unwrap() {
                let values = plain.to_f64_vec().unwrap();
                for k in [-7isize, -2, -1, 0, 1, 3, 9, isize::MAX, isize::MIN] {
                    checked += 2;
                    let (low, high) = (a.tril(k).unwrap(), a.triu(k).unwrap());
                    assert_eq!((low.dtype(), high.dtype()), (dtype, dtype));
                    let kept = |keeps: fn(i128, i128) -> bool| -> Vec<f64> {
                        let indices = NdIndexIterator::new(a.shape(), Order::C);
                        let kept = indices.zip(&values).map(|(index, value)| {
                            let [.., row, column] = index[..] else {
                                unreachable!()
                            };
                            let keeps = keeps(column as i128 - row as i128, k as i128);
                            if keeps { *value } else { 0.0 }
                        });
                        kept.collect()
                    };
                    let found = [low, high].map(|part| part.to_f64_vec().unwrap());
                    if found != [kept(|apart, k| apart <= k), kept(|apart, k| apart >= k)] {
                        failed.push(format!("{dtype} {shape:?} by {k}, {layout}"));
                    }
                }
            }
        }
    }
    report(checked, &failed);
    // So wide that only the columns that hold some of the triangle are looked at.
    let wide = counted(&[2, 5, 3000]).add(1).unwrap();
    for (layout, a) in layout_matrix(&wide).unwrap() {
        for k in [-9, -2, 0, 700, 1400, 2998, 3100] {
            let low = a.tril(k).unwrap();
            assert_eq!(low.add(&a.triu(k + 1).unwrap()).unwrap(), a, "{layout}");
            let kept = (0..5isize).map(|row| (row + k + 1).clamp(0, 3000).unsigned_abs());
            let found = low.to_f64_vec().unwrap();
            let found = found.iter().filter(|&&value| value != 0.0).count();
            assert_eq!(found, 2 * kept.sum::<usize>(), "{layout} by {k}");
        }
    }
    assert!(counted(&[3]).tril(0).is_err());
    assert_eq!(
        NdArray::tri(3, 5, 2).unwrap(),
        NdArray::ones([3, 5]).unwrap().tril(2).unwrap()
    );
}

#[test]
fn grids_are_products_of_their_vectors() {
    let vectors = [counted(&[4]), counted(&[3]).add(5).unwrap(), counted(&[2])];
    let strided = counted(&[3, 7]).get(&s![.., 4]).unwrap();
    let [a, b, c] = &vectors;
    let run = &mut |layouts: &str, given: [&NdArray; 3]| {
        let ij = NdArray::meshgrid(&given, GridAxes::Ij).unwrap();
        let xy = NdArray::meshgrid(&given, GridAxes::Xy).unwrap();
        for place in NdIndexIterator::new(&[4, 3, 2].into(), Order::C) {
            let [i, j, k] = [0, 1, 2].map(|axis| place[axis]);
            for (vector, at) in [i, j, k].into_iter().enumerate() {
                let expected = vectors[vector].get_f64([at]).unwrap();
                let found = [
                    ij[vector].get_f64([i, j, k]).unwrap(),
                    xy[vector].get_f64([j, i, k]).unwrap(),
                ];
                assert_eq!(found, [expected; 2], "{layouts}");
            }
        }
    };
    in_layouts([a, b, c], run).unwrap();
    let one = NdArray::meshgrid(&[&strided], GridAxes::Xy).unwrap();
    assert_eq!(one[0], strided.dup().unwrap());
    let row = strided.expand_dims(0).unwrap();
    let grid = NdArray::meshgrid(&[&row, &NdArray::scalar(7i32).unwrap()], GridAxes::Xy).unwrap();
    assert_eq!(
        (&grid[0].shape()[..], grid[1].dtype()),
        (&[1, 3][..], DType::I32)
    );
    assert!(NdArray::meshgrid(&[], GridAxes::Ij).unwrap().is_empty());
}

#[test]
fn one_hot_and_is_max() {
    for (layout, classes, _) in inputs(&NdArray::from([[0i64, 3, -1], [2, 5, 1]])).unwrap() {
        for axis in [0isize, 1, 2, -1] {
            let hot = classes.one_hot(4, axis).unwrap();
            let moved = hot.move_axis(axis, -1).unwrap();
            for row in 0..2usize {
                for column in 0..3usize {
                    let class = classes.get_f64([row, column]).unwrap();
                    for place in 0..4usize {
                        let expected = f64::from(u8::from(class == place as f64));
                        let found = moved.get_f64([row, column, place]).unwrap();
                        assert_eq!(found, expected, "{layout}");
                    }
                }
            }
        }
    }
    assert!(NdArray::from([1.0f32]).one_hot(3, 0).is_err());
    assert!(NdArray::from([1i32]).one_hot(3, 2).is_err());
    for shape in [&[3usize, 4][..], &[2, 3, 4], &[7], &[]] {
        // Values repeat, so that ties are decided.
        let a = counted(shape).mul(7).unwrap().modulo(5).unwrap();
        for (layout, a, _) in inputs(&a).unwrap() {
            for axes in [vec![], vec![0isize], vec![-1], vec![0, 1], vec![2, 0]] {
                let fits = axes
                    .iter()
                    .all(|&axis| axis < a.rank() as isize && !shape.is_empty());
                if !fits {
                    assert!(a.is_max(&axes).is_err());
                    continue;
                }
                let found = a.is_max(&axes).unwrap();
                let rows = a
                    .tear(&axes)
                    .unwrap()
                    .into_iter()
                    .zip(found.tear(&axes).unwrap());
                for (row, mask) in rows {
                    let (row, mask) = (row.to_f64_vec().unwrap(), mask.to_f64_vec().unwrap());
                    let largest = row.iter().copied().fold(f64::MIN, f64::max);
                    let first = row.iter().position(|&x| x == largest);
                    let expected = (0..row.len()).map(|i| f64::from(u8::from(Some(i) == first)));
                    assert!(
                        mask.iter().copied().eq(expected),
                        "{shape:?} {layout} {axes:?}"
                    );
                }
            }
        }
    }
    assert_eq!(
        NdArray::zeros([0, 2]).unwrap().is_max(0).unwrap().shape()[..],
        [0, 2]
    );
}

#[test]
fn what_is_repeated_already_is_repeated_again() {
    let mut failures = Vec::new();
    for from in [
        vec![4usize, 1, 1],
        vec![1, 3, 1],
        vec![1, 3, 5],
        vec![1, 1, 1],
    ] {
        let a = counted(&from).broadcast_to([4, 3, 5]).unwrap();
        for (name, a) in [("as it is", a.clone()), ("turned", a.transpose())] {
            let dense = a.dup_order(Order::C).unwrap();
            for axis in 0..3 {
                let (found, expected) = (a.repeat(2, axis), dense.repeat(2, axis));
                if found.unwrap() != expected.unwrap() {
                    failures.push(format!("repeat of {from:?} {name} along {axis}"));
                }
                let mut counts = [1; 3];
                counts[axis as usize] = 3;
                if a.tile(counts).unwrap() != dense.tile(counts).unwrap() {
                    failures.push(format!("tile of {from:?} {name} by {counts:?}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn parts_repeats_and_ends() {
    let a = counted(&[2, 3]);
    for (layout, a) in layout_matrix(&a).unwrap() {
        let longer = a.append(2, -1, 1).unwrap();
        assert_eq!(longer, a.pad([[0, 0], [0, 2]], -1).unwrap(), "{layout}");
        assert_eq!(
            a.prepend(1, 8, 0)
                .unwrap()
                .row(0)
                .unwrap()
                .to_f64_vec()
                .unwrap(),
            [8.0; 3]
        );
        let biased = a.append_bias().unwrap();
        assert_eq!(biased.column(3).unwrap().to_f64_vec().unwrap(), [1.0, 1.0]);
        let each = a.repeat_each(&[0, 2, 1], 1).unwrap();
        assert_eq!(each.to_f64_vec().unwrap(), [1.0, 1.0, 2.0, 4.0, 4.0, 5.0]);
        let parts = a.split(2, -1).unwrap();
        assert!(parts[0].shares_memory(&a) && parts[1].shape()[..] == [2, 1]);
        let again: Vec<&NdArray> = parts.iter().collect();
        assert_eq!(NdArray::concat(&again, 1).unwrap(), a);
        let cut = a.split_at([-1, 9], 1).unwrap();
        let lengths: Vec<usize> = cut.iter().map(|part| part.shape()[1]).collect();
        assert_eq!(lengths, [2, 1, 0]);
        assert_eq!(a.split_at([2, 1], 1).unwrap()[1].shape()[1], 0);
        let columns = a.tear(0).unwrap();
        let columns: Vec<&NdArray> = columns.iter().collect();
        assert_eq!(NdArray::stack(&columns, 1).unwrap(), a);
        let reversed = a.reverse_sequence(&[2, 0, 1], 0, 1).unwrap();
        assert_eq!(
            reversed.to_f64_vec().unwrap(),
            [3.0, 1.0, 2.0, 0.0, 4.0, 5.0]
        );
    }
    assert!(a.repeat_each(&[1], 0).is_err() && a.split(0, 0).is_err() && a.split(2, 5).is_err());
    assert!(counted(&[3]).append_bias().is_err());
    let wrong = [
        a.reverse_sequence(&[1, 1], 0, 0),
        a.reverse_sequence(&[1], 1, 0),
        a.reverse_sequence(&[4, 1], 1, 0),
    ];
    assert!(wrong.iter().all(Result::is_err));
}

#[test]
fn growing_arrays_agree_with_concat() {
    for axis in [0isize, 1, -1] {
        let item = counted(&[2, 3]);
        let mut grown = GrowArray::new(DType::F32, [2, 3], axis).unwrap();
        let mut whole = grown.view();
        assert!(grown.is_empty() && whole.is_empty());
        let mut earlier = Vec::new();
        let mut moves = 0;
        for step in 0..50 {
            // One layout after the other.
            let all = layout_matrix(&item.add(step as i64).unwrap()).unwrap();
            let next = &all[step % all.len()].1;
            let before = grown.capacity();
            grown.push(next).unwrap();
            moves += usize::from(grown.capacity() != before);
            let next = next.expand_dims(axis).unwrap();
            whole = NdArray::concat(&[&whole, &next], axis).unwrap();
            assert_eq!(grown.view(), whole);
            earlier.push((grown.view(), whole.dup().unwrap()));
        }
        assert!(moves < 8, "{moves}");
        assert!(
            earlier.iter().all(|(view, copy)| view == copy),
            "old views keep their elements"
        );
        let own = grown.view();
        grown.extend(&own).unwrap();
        assert_eq!(
            (grown.len(), grown.view()),
            (100, NdArray::concat(&[&own, &own], axis).unwrap())
        );
        grown.truncate(50);
        grown.shrink_to_fit().unwrap();
        assert_eq!((grown.capacity(), grown.view()), (50, whole));
    }
}

#[test]
fn growing_arrays_refuse_what_does_not_fit_and_outlive_workspaces() {
    let mut rows = GrowArray::from_array(&NdArray::from([[1i32, 2]]), 0).unwrap();
    assert!(rows.push(&counted(&[3])).is_err());
    assert!(rows.extend(&NdArray::zeros([2, 3]).unwrap()).is_err());
    assert!(rows.extend(&NdArray::scalar(1i32).unwrap()).is_err());
    assert_eq!(rows.len(), 1);
    rows.push(7).unwrap();
    let workspace = Workspace::new("LOOP");
    for _ in 0..3 {
        workspace
            .scope(|_| {
                for _ in 0..9 {
                    rows.push(&NdArray::from([3i32, 4])).unwrap();
                }
            })
            .unwrap();
    }
    assert_eq!(
        rows.view().get(&s![..2]).unwrap(),
        NdArray::from([[1i32, 2], [7, 7]])
    );
    assert_eq!(rows.view().sum_number().unwrap(), 17.0 + 27.0 * 7.0);
    assert!(GrowArray::new(DType::F32, [2], 2).is_err());
    let mut numbers = GrowArray::new(DType::F64, (), 0).unwrap();
    numbers.push(1.5).unwrap();
    assert_eq!(numbers.view().to_f64_vec().unwrap(), [1.5]);
}

/// How many numbers lie between two of one sign, the second of them included.
fn ulps(a: f64, b: f64) -> u64 {
    a.to_bits().abs_diff(b.to_bits())
}

/// Numbers by their index, of every dtype and of more than are made at a time, beside a plain loop.
#[test]
fn numbers_at_equal_distances_are_those_of_a_loop() {
    let (mut faults, mut checked) = (Vec::new(), 0);
    let mut check = |name: String, found: NdArray, number: &dyn Fn(usize) -> f64| {
        checked += 1;
        let expected: Vec<f64> = (0..found.len()).map(number).collect();
        let expected = NdArray::from_vec(expected, [found.len()]).unwrap();
        if found != expected.cast(found.dtype()).unwrap() {
            faults.push(name);
        }
    };
    for dtype in DType::ALL {
        for count in [0, 1, 2, 10, 2048, 2049, 5000] {
            let last = count.max(2) as f64 - 1.0;
            let name = |what| format!("{what} of {count} {dtype}");
            let (first, end) = (-3.5, 120.25);
            let at = |i: usize| match i as f64 {
                i if i == last => end,
                i => first + (end - first) * (i / last),
            };
            let found = NdArray::linspace_of(dtype, first, end, count).unwrap();
            check(name("linspace"), found, &at);
            let found = NdArray::arange_of(dtype, 7, 7 + 3 * count as i64, 3).unwrap();
            check(name("arange"), found, &|i| 7.0 + 3.0 * i as f64);
            let found = NdArray::arange_of(dtype, 0.5, 0.5 - 0.25 * count as f64, -0.25).unwrap();
            check(name("arange down"), found, &|i| 0.5 - 0.25 * i as f64);
            let found = NdArray::linspace_open_of(dtype, 1.0, 9.0, count).unwrap();
            check(name("linspace_open"), found, &|i| {
                1.0 + i as f64 * (8.0 / count as f64)
            });
            let found = NdArray::geomspace_of(dtype, -2.0, -0.5, count).unwrap();
            let power = |i: usize| match i {
                0 => -2.0,
                _ if i as f64 == last => -0.5,
                _ => {
                    let (first, end) = (2f64.log10(), 0.5f64.log10());
                    -10f64.powf(first + (end - first) * (i as f64 / last))
                }
            };
            // Powers are right to 0.9 units in the last place, those of the reference to half of one.
            let near = |i: usize| match found.get_f64([i as isize]).unwrap() {
                value if dtype == DType::F64 && ulps(value, power(i)) <= 1 => value,
                _ => power(i),
            };
            check(name("geomspace"), found.clone(), &near);
            check(
                name("full"),
                NdArray::full_of(dtype, [count], 2.75).unwrap(),
                &|_| 2.75,
            );
        }
    }
    report(checked, &faults);
}

/// Whole numbers that `f64` does not have, and ranges that are empty, go down or would pass the end of their dtype.
#[test]
fn ranges_of_whole_numbers_are_exact() {
    let of = |dtype, start: i64, end: i64, step: i64| NdArray::arange_of(dtype, start, end, step);
    let odd = (1i64 << 53) + 1;
    let cases: [(i64, i64, i64, &[i64]); 7] = [
        (odd, odd + 5, 2, &[odd, odd + 2, odd + 4]),
        (i64::MIN, i64::MIN + 2, 1, &[i64::MIN, i64::MIN + 1]),
        (i64::MAX, i64::MAX - 3, -2, &[i64::MAX, i64::MAX - 2]),
        (i64::MIN, i64::MAX, i64::MAX, &[i64::MIN, -1, i64::MAX - 1]),
        (5, 5, 1, &[]),
        (5, 4, 1, &[]),
        (3, -4, -3, &[3, 0, -3]),
    ];
    for (start, end, step, expected) in cases {
        let found = of(DType::I64, start, end, step).unwrap();
        assert_eq!(found.to_vec::<i64>().unwrap(), expected, "{start}..{end}");
    }
    // Of unsigned bounds too.
    let found = NdArray::arange_of(DType::I64, odd as u64, odd as u64 + 2, 1u64).unwrap();
    assert_eq!(found.to_vec::<i64>().unwrap(), [odd, odd + 1]);
    let most = i64::from(i32::MAX);
    let found = of(DType::I32, most - 1, most + 1, 1).unwrap();
    assert_eq!(found.to_vec::<i32>().unwrap(), [i32::MAX - 1, i32::MAX]);
    // Beyond the dtype numbers are its last, as they are when floats are cast.
    let found = of(DType::I32, most, most + 2, 1).unwrap();
    assert_eq!(found.to_vec::<i32>().unwrap(), [i32::MAX; 2]);
    assert!(of(DType::I64, 0, 5, 0).is_err());
    let full = NdArray::full_of(DType::U64, [3], u64::MAX).unwrap();
    assert_eq!(full.to_vec::<u64>().unwrap(), [u64::MAX; 3]);
    let full = NdArray::full_of(DType::I64, [3], odd).unwrap();
    assert_eq!(full.to_vec::<i64>().unwrap(), [odd; 3]);
}
