//! Gathering and scattering by index arrays, index vectors and along axes, against plain loops over every layout.

use lodestride_array::{
    ArrayErrorKind, Bool, DType, Indices, NdArray, Order, Result, Scatter, bf16, f16, s,
};

use crate::model::each_position;
use crate::report;
use crate::support::matrix::{layout_matrix, numbered};

pub(crate) const HOW: [Scatter; 7] = [
    Scatter::Update,
    Scatter::Add,
    Scatter::Sub,
    Scatter::Mul,
    Scatter::Div,
    Scatter::Max,
    Scatter::Min,
];

/// One step of a scatter in the element type itself.
pub(crate) trait Plain: Copy {
    fn step(how: Scatter, old: Self, new: Self) -> Self;
}

macro_rules! plain {
    ($($T:ty: $add:expr, $sub:expr, $mul:expr, $div:expr, $lower:expr;)*) => {$(
        impl Plain for $T {
            fn step(how: Scatter, old: Self, new: Self) -> Self {
                let [add, sub, mul, divide]: [fn($T, $T) -> $T; 4] = [$add, $sub, $mul, $div];
                let lower: fn($T, $T) -> bool = $lower;
                match how {
                    Scatter::Add => add(old, new),
                    Scatter::Sub => sub(old, new),
                    Scatter::Mul => mul(old, new),
                    Scatter::Div => divide(old, new),
                    Scatter::Max => if lower(old, new) { new } else { old },
                    Scatter::Min => if lower(new, old) { new } else { old },
                    _ => new,
                }
            }
        }
    )*};
}

plain! {
    f32: |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a / b, |a, b| a < b || (b.is_nan() && !a.is_nan());
    f64: |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a / b, |a, b| a < b || (b.is_nan() && !a.is_nan());
    f16: |a, b| half(a, b, |a, b| a + b), |a, b| half(a, b, |a, b| a - b), |a, b| half(a, b, |a, b| a * b),
        |a, b| half(a, b, |a, b| a / b), |a, b| a < b || (b.is_nan() && !a.is_nan());
    bf16: |a, b| brain(a, b, |a, b| a + b), |a, b| brain(a, b, |a, b| a - b), |a, b| brain(a, b, |a, b| a * b),
        |a, b| brain(a, b, |a, b| a / b), |a, b| a < b || (b.is_nan() && !a.is_nan());
    Bool: |a, b| (a.get() || b.get()).into(), |a, _| a, |a, b| (a.get() && b.get()).into(), |a, _| a,
        |a, b| !a.get() && b.get();
    i16: i16::wrapping_add, i16::wrapping_sub, i16::wrapping_mul, |a, _| a, |a, b| a < b;
    i32: i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul, |a, _| a, |a, b| a < b;
    u8: u8::wrapping_add, u8::wrapping_sub, u8::wrapping_mul, |a, _| a, |a, b| a < b;
    u32: u32::wrapping_add, u32::wrapping_sub, u32::wrapping_mul, |a, _| a, |a, b| a < b;
    i64: i64::wrapping_add, i64::wrapping_sub, i64::wrapping_mul, |a, _| a, |a, b| a < b;
    i8: i8::wrapping_add, i8::wrapping_sub, i8::wrapping_mul, |a, _| a, |a, b| a < b;
    u16: u16::wrapping_add, u16::wrapping_sub, u16::wrapping_mul, |a, _| a, |a, b| a < b;
    u64: u64::wrapping_add, u64::wrapping_sub, u64::wrapping_mul, |a, _| a, |a, b| a < b;
}

/// A step of short floats through one that holds it exactly enough.
fn half(a: f16, b: f16, step: fn(f32, f32) -> f32) -> f16 {
    f16::from_f32(step(a.to_f32(), b.to_f32()))
}

fn brain(a: bf16, b: bf16, step: fn(f32, f32) -> f32) -> bf16 {
    bf16::from_f32(step(a.to_f32(), b.to_f32()))
}

fn along(array: &NdArray, how: Scatter, indices: &NdArray, values: &NdArray, axis: isize) -> bool {
    let done = match how {
        Scatter::Add => array.scatter_addi(indices, values, axis),
        Scatter::Sub => array.scatter_subi(indices, values, axis),
        Scatter::Mul => array.scatter_muli(indices, values, axis),
        Scatter::Div => array.scatter_divi(indices, values, axis),
        Scatter::Max => array.scatter_maxi(indices, values, axis),
        Scatter::Min => array.scatter_mini(indices, values, axis),
        _ => array.scatter_put(indices, values, axis),
    };
    done.is_ok()
}

/// Scatters along each axis of a shape on every layout, with repeated and negative indices.
fn check_along<T: Plain + lodestride_array::Element>(
    shape: &[usize],
    failed: &mut Vec<String>,
) -> usize {
    let mut checked = 0;
    let source = numbered(DType::F64, shape)
        .unwrap()
        .add(1)
        .unwrap()
        .cast(T::DTYPE)
        .unwrap();
    let whole = read::<T>(&source);
    for axis in 0..shape.len() {
        let n = shape[axis] as i64;
        for indices in [
            NdArray::from([0, n - 1, 0, -1]),
            NdArray::from([[n / 2], [-n]]),
        ] {
            let at: Vec<i64> = indices.to_vec::<i64>().unwrap();
            let mut part: Vec<usize> = shape.to_vec();
            part.splice(axis..=axis, indices.shape().iter().copied());
            let values = numbered(DType::F64, &part)
                .unwrap()
                .add(2)
                .unwrap()
                .cast(T::DTYPE)
                .unwrap();
            let given = read::<T>(&values);
            for how in HOW {
                if how == Scatter::Div && !T::DTYPE.is_float() {
                    continue;
                }
                let mut wanted = whole.clone();
                let outer: usize = shape[..axis].iter().product();
                let inner: usize = shape[axis + 1..].iter().product();
                for a in 0..outer {
                    for (j, &index) in at.iter().enumerate() {
                        let index = if index < 0 { index + n } else { index } as usize;
                        for b in 0..inner {
                            let old = &mut wanted[(a * n as usize + index) * inner + b];
                            *old = T::step(how, *old, given[(a * at.len() + j) * inner + b]);
                        }
                    }
                }
                for (layout, view) in layout_matrix(&source).unwrap() {
                    checked += 1;
                    if !along(&view, how, &indices, &values, axis as isize)
                        || read::<T>(&view) != wanted
                    {
                        failed.push(format!(
                            "{how:?} of {} {shape:?}, axis {axis}, {layout}",
                            T::DTYPE
                        ));
                    }
                }
            }
        }
    }
    checked
}

pub(crate) fn read<T: lodestride_array::Element>(array: &NdArray) -> Vec<T> {
    array.view::<T>().unwrap().iter().copied().collect()
}

#[test]
fn scattered_slices_meet_elements_one_after_the_other() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in [&[3][..], &[1], &[3, 4], &[2, 1, 3]] {
        checked += check_along::<f32>(shape, &mut failed);
        checked += check_along::<i8>(shape, &mut failed);
    }
    checked += check_along::<f64>(&[4, 2], &mut failed);
    checked += check_along::<i64>(&[4, 2], &mut failed);
    checked += check_along::<u16>(&[4, 2], &mut failed);
    checked += check_along::<u64>(&[2, 2], &mut failed);
    report(checked, &failed);
}

#[test]
fn extremes_and_products_of_odd_elements() {
    let nan = NdArray::from([1.0f32, f32::NAN, -0.0]);
    let at = NdArray::from([0i64, 1, 2, 0]);
    nan.scatter_maxi(&at, &NdArray::from([f32::NAN, 5.0, 0.0, 9.0]), 0)
        .unwrap();
    let found = nan.to_vec::<f32>().unwrap();
    assert!(
        found[0].is_nan() && found[1].is_nan() && found[2] == 0.0,
        "{found:?}"
    );
    let flags = NdArray::from([true, true, false, false]);
    flags
        .scatter_muli(&at, &NdArray::from([true, false, true, true]), 0)
        .unwrap();
    assert_eq!(flags, NdArray::from([true, false, false, false]));
    flags
        .scatter_maxi(&NdArray::from([3i64]), &NdArray::from([true]), 0)
        .unwrap();
    flags
        .scatter_mini(&NdArray::from([0i64]), &NdArray::from([false]), 0)
        .unwrap();
    assert_eq!(flags, NdArray::from([false, false, false, true]));
    assert!(
        flags.scatter_subi(&at, &flags, 0).is_err(),
        "truth values have no difference"
    );
    let whole = NdArray::from([6i32, 7]);
    assert!(
        whole.scatter_divi(&NdArray::from([0i64]), 2, 0).is_err(),
        "a quotient is a float"
    );
    // Each step is rounded to the element's own type.
    for dtype in [DType::F16, DType::BF16, DType::F32] {
        let one = NdArray::full_of(dtype, [1], 1.0).unwrap();
        one.scatter_divi(&NdArray::from([0i64, 0]), 3, 0).unwrap();
        let by_steps = NdArray::full_of(dtype, [1], 1.0).unwrap();
        by_steps.divi(3).unwrap().divi(3).unwrap();
        assert_eq!(one, by_steps, "{dtype}");
    }
}

#[test]
fn many_values_for_one_element_add_up_exactly() {
    let n = 100_000i64;
    let at = NdArray::from_vec((0..n).map(|i| i % 3).collect(), [n as usize]).unwrap();
    let values = NdArray::arange_of(DType::I64, 0, n, 1).unwrap();
    let sums = NdArray::zeros_of(DType::I64, [3]).unwrap();
    sums.scatter_addi(&at, &values, 0).unwrap();
    let wanted: Vec<i64> = (0..3)
        .map(|r| (0..n).filter(|i| i % 3 == r).sum())
        .collect();
    assert_eq!(sums.to_vec::<i64>().unwrap(), wanted);
    sums.scatter_subi(&at, &values, 0).unwrap();
    assert_eq!(sums.to_vec::<i64>().unwrap(), [0, 0, 0]);
    sums.scatter_maxi(&at, &values, 0).unwrap();
    assert_eq!(sums.to_vec::<i64>().unwrap(), [99_999, 99_997, 99_998]);
}

#[test]
fn index_vectors_name_elements_and_sub_arrays() {
    let (mut checked, mut failed) = (0, Vec::new());
    let shape = [3, 2, 4];
    let source = numbered(DType::F32, &shape).unwrap();
    let all: Vec<Vec<i64>> = vec![
        vec![0, 1, 3],
        vec![-1, 0, -4],
        vec![0, 1, 3],
        vec![1, -2, 2],
    ];
    for count in 0..=3 {
        let rows: Vec<i64> = all.iter().flat_map(|row| row[..count].to_vec()).collect();
        let flat = NdArray::from_vec(rows.clone(), [4, count]).unwrap();
        for indices in [
            flat.clone(),
            flat.reshape([2, 2, count]).unwrap(),
            flat.dup_order(Order::F).unwrap(),
        ] {
            let inner: usize = shape[count..].iter().product();
            let start = |row: usize| {
                let digits = (0..count).map(|axis| {
                    (
                        rows[row * count + axis].rem_euclid(shape[axis] as i64) as usize,
                        shape[axis],
                    )
                });
                digits.fold(0, |n, (i, size)| n * size + i) * inner
            };
            let wanted: Vec<f64> = (0..4)
                .flat_map(|row| (0..inner).map(move |i| (row, i)))
                .map(|(row, i)| (start(row) + i) as f64)
                .collect();
            let mut wanted_shape = indices.shape()[..indices.rank() - 1].to_vec();
            wanted_shape.extend_from_slice(&shape[count..]);
            for (layout, view) in layout_matrix(&source).unwrap() {
                checked += 1;
                let part = view.gather_nd(&indices).unwrap();
                let right =
                    part.shape()[..] == wanted_shape[..] && part.to_f64_vec().unwrap() == wanted;
                let mut summed: Vec<f64> = (0..24).map(f64::from).collect();
                for row in 0..4 {
                    (0..inner).for_each(|i| summed[start(row) + i] += 1.0);
                }
                // With no position at all, the whole array is meant once per index vector.
                view.scatter_ndi(Scatter::Add, &indices, 1).unwrap();
                if !right || view.to_f64_vec().unwrap() != summed {
                    failed.push(format!(
                        "{count} positions, {:?}, {layout}",
                        indices.shape()
                    ));
                }
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn values_are_scattered_over_zeros() {
    let ones = NdArray::scatter_nd(
        &NdArray::from([[0i64], [2]]),
        &NdArray::from([[5i32, 5], [6, 6]]),
        [4, 2],
    )
    .unwrap();
    assert_eq!(ones, NdArray::from([[5i32, 5], [0, 0], [6, 6], [0, 0]]));
}

#[test]
fn positions_along_an_axis_are_taken_and_put_at_each_place() {
    let (mut checked, mut failed) = (0, Vec::new());
    let shape = [2, 3, 4];
    let source = numbered(DType::I32, &shape).unwrap();
    for axis in 0..3 {
        for (taken, ones) in [(1, false), (5, false), (2, true)] {
            let mut sizes = if ones { [1, 1, 1] } else { shape };
            sizes[axis] = taken;
            let count: usize = sizes.iter().product();
            let n = shape[axis] as i64;
            let at: Vec<i64> = (0..count as i64).map(|i| (i * 7) % (2 * n) - n).collect();
            let indices = NdArray::from_vec(at.clone(), sizes).unwrap();
            let mut part = shape;
            part[axis] = taken;
            let (mut wanted, mut put) = (Vec::new(), (0..24).map(f64::from).collect::<Vec<_>>());
            each_position(&part, |position| {
                let own = position
                    .iter()
                    .zip(sizes)
                    .fold(0, |k, (&i, size)| k * size + if size == 1 { 0 } else { i });
                let mut place = position.to_vec();
                place[axis] = at[own].rem_euclid(n) as usize;
                let place = place.iter().zip(shape).fold(0, |k, (i, size)| k * size + i);
                wanted.push(place as f64);
                put[place] = 100.0;
            });
            for (layout, view) in layout_matrix(&source).unwrap() {
                checked += 1;
                let part = view.take_along_axis(&indices, axis as isize).unwrap();
                view.put_along_axis(&indices, 100, axis as isize).unwrap();
                if part.to_f64_vec().unwrap() != wanted || view.to_f64_vec().unwrap() != put {
                    failed.push(format!("axis {axis}, {sizes:?}, {layout}"));
                }
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn values_and_indices_may_share_memory_with_the_target() {
    let a = NdArray::arange_of(DType::I64, 0, 6, 1).unwrap();
    // The array is its own index and its own values.
    a.scatter_put(&a, &a.flip(0).unwrap(), 0).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [5, 4, 3, 2, 1, 0]);
    a.scatter_maxi(&a, &a, 0).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [5, 4, 3, 3, 4, 5]);
    let b = NdArray::arange(0, 9, 1).unwrap().reshape([3, 3]).unwrap();
    b.put_fancy(&lodestride_array::fancy![[2, 0, 1]], &b)
        .unwrap();
    assert_eq!(
        b.to_f64_vec().unwrap(),
        [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.0, 1.0, 2.0]
    );
    b.get_fancy_into(
        &lodestride_array::fancy![[2, 0, 1], [0, 1, 2]],
        &b.row(0).unwrap(),
    )
    .unwrap();
    assert_eq!(b.row(0).unwrap().to_f64_vec().unwrap(), [0.0, 4.0, 8.0]);
    let out = NdArray::zeros_of(DType::F64, [2]).unwrap();
    b.get_fancy_into(&lodestride_array::fancy![0, [1, 2]], &out)
        .unwrap();
    assert_eq!(out.to_vec::<f64>().unwrap(), [4.0, 8.0]);
}

#[test]
fn every_dtype_is_gathered_and_every_integer_indexes() {
    let (mut checked, mut failed) = (0, Vec::new());
    let whole = [
        DType::U8,
        DType::I8,
        DType::U16,
        DType::I16,
        DType::U32,
        DType::I32,
        DType::U64,
        DType::I64,
    ];
    for dtype in DType::ALL {
        let a = numbered(dtype, &[4, 3]).unwrap();
        let all = a.to_f64_vec().unwrap();
        for index in whole {
            let at = NdArray::from([2i64, 0, 3]).cast(index).unwrap();
            let wanted = [all[6], all[1], all[11]];
            checked += 1;
            let found = a
                .get_fancy(&lodestride_array::fancy![&at, [0, 1, 2]])
                .unwrap();
            let b = a.zeros_like().unwrap();
            b.put_fancy(&lodestride_array::fancy![&at, [0, 1, 2]], &found)
                .unwrap();
            if found.dtype() != dtype
                || found.to_f64_vec().unwrap() != wanted
                || b.sum_number().unwrap() != wanted.iter().sum::<f64>()
            {
                failed.push(format!("{dtype} by {index}"));
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn parts_are_divided_and_stitched() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in [&[6][..], &[6, 2], &[2, 3], &[2, 3, 2]] {
        let source = numbered(DType::F32, shape).unwrap();
        let numbers = NdArray::from([2i32, 0, 1, 2, 2, 0]);
        let numbers = if shape[0] == 2 {
            numbers.reshape([2, 3]).unwrap()
        } else {
            numbers
        };
        let slice = source.len() / 6;
        for (layout, view) in layout_matrix(&source).unwrap() {
            checked += 1;
            let parts = view.dynamic_partition(&numbers, 4).unwrap();
            let at = numbers.ravel().unwrap().to_vec::<i32>().unwrap();
            let wanted = |part: i32| -> Vec<f64> {
                let rows = (0..6).filter(|&row| at[row] == part);
                rows.flat_map(|row| (0..slice).map(move |i| (row * slice + i) as f64))
                    .collect()
            };
            let places = NdArray::arange_of(DType::I64, 0, 6, 1)
                .unwrap()
                .reshape(numbers.shape())
                .unwrap();
            let places = places.dynamic_partition(&numbers, 4).unwrap();
            let whole = NdArray::dynamic_stitch(
                &places.iter().collect::<Vec<_>>(),
                &parts.iter().collect::<Vec<_>>(),
            )
            .unwrap();
            let right =
                (0..4).all(|part| parts[part as usize].to_f64_vec().unwrap() == wanted(part));
            if !right || whole.to_f64_vec().unwrap() != source.to_f64_vec().unwrap() {
                failed.push(format!("{shape:?}, {layout}"));
            }
        }
    }
    report(checked, &failed);
    // The last of several slices for one place stays, and places nobody names are zero.
    let (a, b) = (NdArray::from([1i32, 2]), NdArray::from([7i32]));
    let (at, again) = (NdArray::from([0i64, 3]), NdArray::from([3i64]));
    let found = NdArray::dynamic_stitch(&[&at, &again], &[&a, &b]).unwrap();
    assert_eq!(found, NdArray::from([1i32, 0, 0, 7]));
}

/// Counting positions of a shape is what the model rests on.
#[test]
fn positions_are_counted_like_digits() {
    let mut seen = Vec::new();
    each_position(&[2, 1, 2], |position| seen.push(position.to_vec()));
    assert_eq!(seen, [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]);
    let (mut none, mut one) = (0, 0);
    each_position(&[2, 0], |_| none += 1);
    each_position(&[], |_| one += 1);
    assert_eq!((none, one), (0, 1));
}

#[test]
fn a_list_means_what_a_vector_of_the_same_positions_means() {
    let a = NdArray::arange(0, 12, 1).unwrap().reshape([3, 4]).unwrap();
    let list = [2i64, 0, -1, 0];
    let vector = NdArray::from(list);
    let forms = [
        a.take(list, 0),
        a.take(&list[..], 0),
        a.take(list.to_vec(), 0),
        a.take([2, 0, -1, 0], 0),
        a.take(vec![2isize, 0, -1, 0], 0),
        a.take(vec![2usize, 0, 2, 0], 0),
        a.take(&vector, 0),
    ];
    let rows = forms[0].as_ref().unwrap();
    assert_eq!(rows.shape()[..], [4, 4]);
    for form in &forms {
        assert_eq!(form.as_ref().unwrap(), rows);
    }
    a.take_into(list, 1, &rows.get(&s![..3]).unwrap()).unwrap();
    assert_eq!(rows.get(&s![..3]).unwrap(), a.take(&vector, 1).unwrap());
    assert!(a.take([0usize; 0], 0).unwrap().is_empty());
    assert_eq!(a.gather_nd([1, 2]).unwrap().item::<f32>().unwrap(), 6.0);
    let line = a.row(1).unwrap();
    let sorted = line.take_along_axis([3usize, 1, 1], 0).unwrap();
    assert_eq!(sorted.to_vec::<f32>().unwrap(), [7.0, 5.0, 5.0]);
    line.put_along_axis([0], 9, 0).unwrap();
    assert_eq!(line.to_vec::<f32>().unwrap(), [9.0, 5.0, 6.0, 7.0]);
}

#[test]
fn a_list_changes_what_a_vector_of_the_same_positions_changes() {
    type Change = fn(&NdArray, Indices<'_>) -> Result<()>;
    let a = NdArray::arange(0, 12, 1).unwrap().reshape([3, 4]).unwrap();
    let changes: [Change; 9] = [
        |x, at| x.scatter_addi(at, 2, 1).map(drop),
        |x, at| x.scatter_put(at, 2, 1).map(drop),
        |x, at| x.scatter_subi(at, 2, 1).map(drop),
        |x, at| x.scatter_muli(at, 2, 1).map(drop),
        |x, at| x.scatter_divi(at, 2, 1).map(drop),
        |x, at| x.scatter_maxi(at, 2, 1).map(drop),
        |x, at| x.scatter_mini(at, 2, 1).map(drop),
        |x, at| x.scatter_ndi(Scatter::Add, at, 2).map(drop),
        |x, at| {
            x.assign(&NdArray::scatter_nd(at, &x.row(0)?, [3, 4])?)
                .map(drop)
        },
    ];
    for (which, change) in changes.iter().enumerate() {
        let (x, y) = (a.dup().unwrap(), a.dup().unwrap());
        let listed = &[2i64, 0][..1 + usize::from(which < 7)];
        let at = NdArray::from_vec(listed.to_vec(), listed.len()).unwrap();
        change(&x, (&at).into()).unwrap();
        change(&y, listed.into()).unwrap();
        assert_eq!(x, y, "{which}");
    }
    let error = a.take(vec![0usize, 7], 1).unwrap_err();
    assert!(matches!(
        error.kind(),
        ArrayErrorKind::PositionRange {
            axis: 1,
            index: 7,
            position: 1,
            ..
        }
    ));
}
