//! Direct ways to results that the general ones give too: they must agree wherever both go.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::random::open_unit;
use lodestride_array::{Condition, DType, NdArray, Padding, Pooling, Rng, Windows};
use support::counted;
use support::tables::{arranged, in_every_layout, lin};

fn integers() -> impl Iterator<Item = DType> {
    DType::ALL.into_iter().filter(|dtype| dtype.is_integer())
}

/// The elements in C order.
fn numbers_of(array: &NdArray) -> Vec<f64> {
    array.cast(DType::F64).unwrap().to_vec().unwrap()
}

#[test]
fn integers_are_looked_up_in_tables_as_among_sorted_ones() {
    for own in integers() {
        for other in integers() {
            let a = counted(&[40]).sub(if own.is_signed() { 9 } else { 0 });
            let a = a.unwrap().cast(own).unwrap();
            let values = NdArray::from([3i64, 5, 5, 17, 30]).cast(other).unwrap();
            let found = a.is_in(&values).unwrap().to_vec::<bool>().unwrap();
            let wanted = numbers_of(&a).into_iter();
            let wanted = wanted.map(|x| [3.0, 5.0, 17.0, 30.0].contains(&x));
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{own} in {other}");
        }
    }
    // The ends of the range, where places wrap round.
    let ends = NdArray::from([i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]);
    for (values, wanted) in [
        (
            [i64::MAX - 1, i64::MAX],
            [false, false, false, false, false, true, true],
        ),
        (
            [i64::MIN, i64::MIN + 1],
            [true, true, false, false, false, false, false],
        ),
        (
            [i64::MIN, i64::MAX],
            [true, false, false, false, false, false, true],
        ),
        ([-1, 1], [false, false, true, false, true, false, false]),
    ] {
        let found = ends.is_in(&NdArray::from(values)).unwrap();
        assert_eq!(found.to_vec::<bool>().unwrap(), wanted, "{values:?}");
    }
    let large = NdArray::from([u64::MAX, 0, 1 << 63, 5]);
    for (values, wanted) in [
        ([u64::MAX, u64::MAX - 1], [true, false, false, false]),
        ([1 << 63, (1 << 63) + 1], [false, false, true, false]),
        ([5, 6], [false, false, false, true]),
    ] {
        let found = large.is_in(&NdArray::from(values)).unwrap();
        assert_eq!(found.to_vec::<bool>().unwrap(), wanted, "{values:?}");
    }
    in_every_layout(|| {
        let a = arranged(counted(&[6, 7]).cast(DType::I32).unwrap());
        let found = a.is_in(&lin(0, &[3, 2]).cast(DType::I32).unwrap()).unwrap();
        assert_eq!(found, a.less(6).unwrap());
    });
}

#[test]
fn areas_at_even_distances_keep_what_is_not_finite() {
    let area = |y: &NdArray, step: f64| y.trapezoid(step, 0).unwrap().item::<f64>().unwrap();
    let y = NdArray::from([f64::INFINITY, 1.0, 1.0, 2.0]);
    assert_eq!(area(&y, 1.0), f64::INFINITY);
    assert_eq!(area(&y, -0.5), f64::NEG_INFINITY);
    assert!(
        area(
            &NdArray::from([f64::INFINITY, 1.0, f64::NEG_INFINITY, 2.0]),
            1.0
        )
        .is_nan()
    );
    // The sum of all is infinite, the area is not.
    let high = NdArray::from([8e307; 4]);
    assert!((area(&high, 0.01) / 2.4e306 - 1.0).abs() < 1e-15);
    for (values, wanted) in [
        (&[][..], 0.0),
        (&[3.0], 0.0),
        (&[3.0, 5.0], 8.0),
        (&[3.0, 5.0, 7.0], 20.0),
    ] {
        let y = NdArray::from_vec(values.to_vec(), [values.len()]).unwrap();
        assert_eq!(area(&y, 2.0), wanted, "{values:?}");
    }
    in_every_layout(|| {
        let y = lin(0, &[4, 5]);
        let x = NdArray::arange(0, 15, 3).unwrap();
        assert_eq!(y.trapezoid(3, 1).unwrap(), y.trapezoid(&x, 1).unwrap());
        let halves = y.cast(DType::F16).unwrap().trapezoid(3, 0).unwrap();
        assert_eq!(halves, y.trapezoid(3, 0).unwrap().cast(DType::F16).unwrap());
        let whole = y.cast(DType::I32).unwrap().trapezoid(3, 0).unwrap();
        assert_eq!(whole, y.cast(DType::F64).unwrap().trapezoid(3, 0).unwrap());
    });
}

#[test]
fn reductions_past_nan_do_without_the_nan() {
    let columns = [
        [1.0f32, f32::NAN, 4.0, f32::NAN],
        [3.0, 2.0, f32::INFINITY, f32::NAN],
    ];
    let a = NdArray::from(columns);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let a = a.cast(dtype).unwrap();
        let known = a.get(&lodestride_array::s![.., ..2]).unwrap();
        assert_eq!(numbers_of(&known.nan_sum(0).unwrap()), [4.0, 2.0]);
        assert_eq!(numbers_of(&known.nan_prod(1).unwrap()), [1.0, 6.0]);
        assert_eq!(numbers_of(&known.nan_mean(0).unwrap()), [2.0, 2.0]);
        assert_eq!(numbers_of(&known.nan_var(0, 0).unwrap()), [1.0, 0.0]);
        assert_eq!(numbers_of(&a.nan_max(1).unwrap()), [4.0, f64::INFINITY]);
        assert_eq!(numbers_of(&a.nan_min(1).unwrap()), [1.0, 2.0]);
        let none = a.nan_max(0).unwrap();
        assert_eq!(
            none.is_nan().unwrap().to_vec::<bool>().unwrap(),
            [false, false, false, true]
        );
        assert_eq!(numbers_of(&a.nan_sum(0).unwrap())[3], 0.0);
        assert_eq!(a.nan_sum(0).unwrap().dtype(), dtype);
    }
}

#[test]
fn short_rows_of_kronecker_products_are_multiplied_as_long_ones() {
    const SHAPES: [(&[usize], &[usize]); 11] = [
        (&[3, 4], &[2, 3]),
        // Rows in several parts, and rows that have no such parts.
        (&[2, 96], &[3, 16]),
        (&[2, 2, 64], &[16]),
        (&[2, 37], &[3, 16]),
        (&[3, 1], &[5, 7]),
        (&[2, 3], &[2, 300]),
        (&[2, 2, 3], &[4, 2]),
        (&[5], &[2, 3]),
        (&[0, 3], &[2, 2]),
        (&[4, 3], &[2, 0]),
        (&[], &[2, 2]),
    ];
    in_every_layout(|| {
        for (left, right) in SHAPES {
            let (a, b) = (lin(0, left), lin(1, right));
            let found = a.kron(&b).unwrap();
            let rank = left.len().max(right.len());
            let filled = |shape: &[usize]| [&vec![1; rank - shape.len()], shape].concat();
            let (left, right) = (filled(left), filled(right));
            let (a, b) = (
                a.reshape(&left[..]).unwrap(),
                b.reshape(&right[..]).unwrap(),
            );
            let sizes: Vec<usize> = left.iter().zip(&right).map(|(a, b)| a * b).collect();
            assert_eq!(found.shape()[..], sizes[..]);
            let (found, a, b) = (numbers_of(&found), numbers_of(&a), numbers_of(&b));
            for (place, found) in found.into_iter().enumerate() {
                let (mut rest, mut of_a, mut of_b) = (place, 0, 0);
                let (mut step_a, mut step_b) = (1, 1);
                for axis in (0..rank).rev() {
                    let at = rest % sizes[axis];
                    rest /= sizes[axis];
                    of_a += at / right[axis] * step_a;
                    of_b += at % right[axis] * step_b;
                    step_a *= left[axis];
                    step_b *= right[axis];
                }
                assert_eq!(found, a[of_a] * b[of_b], "{left:?} {right:?} {place}");
            }
        }
    });
}

#[test]
fn several_axes_are_rolled_as_one_after_the_other() {
    in_every_layout(|| {
        for shape in [&[4, 5][..], &[0, 3], &[1, 1], &[2, 3, 2, 3, 2]] {
            let a = lin(0, shape);
            let shifts: Vec<isize> = (0..shape.len()).map(|i| 3 * i as isize - 2).collect();
            let axes: Vec<isize> = (0..shape.len() as isize).collect();
            let mut wanted = a.clone();
            for (&shift, &axis) in shifts.iter().zip(&axes) {
                wanted = wanted.roll(shift, axis).unwrap();
            }
            let found = a.roll_axes(&shifts[..], &axes[..]).unwrap();
            assert_eq!(found, wanted, "{shape:?}");
            assert!(!found.shares_memory(&a));
        }
    });
}

#[test]
fn the_largest_of_windows_are_those_of_unfolded_images() {
    in_every_layout(|| {
        let image = counted(&[2, 3, 9, 8]).sub(100).unwrap();
        image.set([1, 2, 4, 4], f64::NAN).unwrap();
        let image = arranged(image);
        for kernel in [[1, 1], [2, 2], [3, 1], [1, 3], [3, 4], [9, 8]] {
            for (stride, dilation) in [([1, 1], [1, 1]), ([2, 3], [1, 1]), ([2, 1], [2, 1])] {
                for padding in [
                    Padding::Valid,
                    Padding::Same,
                    Padding::Full,
                    Padding::Explicit([[1, 0], [0, 2]]),
                ] {
                    let windows = Windows::new(kernel)
                        .stride(stride)
                        .dilation(dilation)
                        .padding(padding);
                    for dtype in [DType::F32, DType::F16, DType::I32, DType::I8] {
                        let image = image.cast(dtype).unwrap();
                        let Ok(found) = image.pool2d(Pooling::Max, &windows) else {
                            assert!(image.im2col(&windows).is_err());
                            continue;
                        };
                        // What lies outside is no larger than anything.
                        let inside = NdArray::ones_of(DType::Bool, image.shape().clone()).unwrap();
                        let inside = inside.im2col(&windows).unwrap();
                        let lowest = image.min_number().unwrap();
                        let lowest = if lowest.is_nan() { -200.0 } else { lowest };
                        let all = image.im2col(&windows).unwrap();
                        let all = inside.select(&all, lowest).unwrap();
                        let wanted = all.max([2, 3]).unwrap();
                        assert_eq!(found.shape(), wanted.shape());
                        let all_outside = inside.any([2, 3]).unwrap().logical_not().unwrap();
                        let [found, wanted] = [&found, &wanted].map(|array| {
                            let array = array.cast(DType::F64).unwrap();
                            array.replace_where(&all_outside, 0.0).unwrap();
                            numbers_of(&array.replace_nan(7.5).unwrap())
                        });
                        assert_eq!(found, wanted, "{windows:?} {dtype}");
                    }
                }
            }
        }
    });
}

#[test]
fn elements_are_put_into_a_copy_as_in_place() {
    in_every_layout(|| {
        let a = lin(0, &[4, 5]);
        let row = NdArray::from([-1.0f32, -2.0, -3.0, -4.0, -5.0]);
        let found = a.put_where(Condition::greater(7), &row).unwrap();
        let wanted = a.dup().unwrap();
        wanted.replace_where(Condition::greater(7), &row).unwrap();
        assert_eq!(found, wanted);
        assert_eq!(
            (found.dtype(), found.shares_memory(&a)),
            (DType::F32, false)
        );
    });
    let whole = NdArray::from([1i8, 2, 3]);
    let found = whole.put_where(Condition::less(3), 7.9).unwrap();
    assert_eq!(found, NdArray::from([7i8, 7, 3]));
}

#[test]
fn waiting_times_are_logarithms_of_the_words_of_elements() {
    // Integers of this range are their words less one, from the lowest on.
    let starts = Rng::seeded(9)
        .integers_of(DType::I64, [1000], i64::MIN, i64::MAX)
        .unwrap();
    let found = Rng::seeded(9)
        .exponential_of(DType::F64, [1000], 3.0)
        .unwrap();
    let pairs = starts
        .to_vec::<i64>()
        .unwrap()
        .into_iter()
        .zip(numbers_of(&found));
    for (start, found) in pairs {
        let word = start.abs_diff(i64::MIN) + 1;
        let wanted = -3.0 * open_unit(word).ln();
        assert!(
            (found - wanted).abs() <= 1e-15 * wanted,
            "{found}, not {wanted}"
        );
    }
}

#[test]
fn arrays_are_equal_or_not_wherever_they_differ() {
    in_every_layout(|| {
        for dtype in [DType::Bool, DType::U8, DType::I64, DType::F16, DType::F64] {
            // Longer than what is compared at a time.
            let a = arranged(counted(&[3, 700]).modulo(2).unwrap().cast(dtype).unwrap());
            let b = arranged(a.dup().unwrap());
            assert_eq!(a, b, "{dtype}");
            for place in [[0, 0], [1, 511], [1, 512], [2, 699]] {
                let before = b.get_f64(place).unwrap();
                b.set(place, 1.0 - before).unwrap();
                assert_ne!(a, b, "{dtype} at {place:?}");
                b.set(place, before).unwrap();
            }
            assert_eq!(a, b, "{dtype}");
        }
    });
}

#[test]
fn closeness_is_what_its_formula_says() {
    let values = [
        0.0,
        1.0,
        1.001,
        -1.0,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let n = values.len();
    let pairs = || (0..n * n).map(|at| (values[at / n], values[at % n]));
    for dtype in [DType::F32, DType::F64] {
        let side = |of: fn((f64, f64)) -> f64| {
            let all = NdArray::from_vec(pairs().map(of).collect(), [n, n]).unwrap();
            all.cast(dtype).unwrap()
        };
        let (a, b) = (side(|pair| pair.0), side(|pair| pair.1));
        for (relative, absolute) in [(1e-2, 0.0), (0.0, 1e-2), (1e-5, 2.0), (1.0, f64::INFINITY)] {
            let known = |array: &NdArray| array.cast(DType::F64).unwrap().to_vec::<f64>().unwrap();
            let wanted: Vec<bool> = (known(&a).into_iter().zip(known(&b)))
                .map(|(x, y)| {
                    let limit = absolute + relative * y.abs();
                    let is_plain = relative == 0.0 || y.is_finite();
                    x == y || is_plain && (x - y).abs() <= limit
                })
                .collect();
            let found = arranged(a.dup().unwrap()).is_close(&b, relative, absolute);
            let found = found.unwrap().to_vec::<bool>().unwrap();
            assert_eq!(found, wanted, "{dtype} {relative} {absolute}");
        }
    }
}

#[test]
fn single_elements_are_scattered_along_every_axis() {
    in_every_layout(|| {
        let indices = arranged(NdArray::from([[3i64, 0, -1], [3, 2, 0]]));
        for dtype in [DType::U8, DType::I32, DType::F16, DType::F32, DType::F64] {
            let values = arranged(counted(&[2, 2, 3]).cast(dtype).unwrap());
            let target = || arranged(NdArray::full_of(dtype, [2, 4], 1).unwrap());
            let [set, sum, most] = [target(), target(), target()];
            set.scatter_put(&indices, &values, 1).unwrap();
            sum.scatter_addi(&indices, &values, 1).unwrap();
            most.scatter_maxi(&indices, &values, 1).unwrap();
            let (mut last, mut total, mut largest) = ([[1.0; 4]; 2], [[1.0; 4]; 2], [[1.0; 4]; 2]);
            for (line, (number, place)) in (0..2).flat_map(|line| {
                let places = [3, 0, 3, 3, 2, 0];
                places.into_iter().enumerate().map(move |at| (line, at))
            }) {
                let value = values.get_f64([line, number / 3, number % 3]).unwrap();
                last[line][place] = value;
                total[line][place] += value;
                largest[line][place] = f64::max(largest[line][place], value);
            }
            for (found, wanted) in [(set, last), (sum, total), (most, largest)] {
                assert_eq!(found, NdArray::from(wanted).cast(dtype).unwrap(), "{dtype}");
            }
        }
    });
}

#[test]
fn places_of_ones_are_where_indices_say() {
    in_every_layout(|| {
        let indices = arranged(NdArray::from([[2i32, -1, 0], [3, 1, 2]]));
        for axis in [0, 1, 2, -1] {
            let hot = indices.one_hot(3, axis).unwrap();
            let hot = hot.move_axis(axis, -1).unwrap();
            for (at, place) in [Some(2), None, Some(0), None, Some(1), Some(2)]
                .iter()
                .enumerate()
            {
                let line = hot.reshape([6, 3]).unwrap().row(at as isize).unwrap();
                let wanted: Vec<f32> = (0..3)
                    .map(|i| f32::from(u8::from(Some(i) == *place)))
                    .collect();
                assert_eq!(line.to_vec::<f32>().unwrap(), wanted, "{at}, axis {axis}");
            }
        }
        let far = NdArray::from([u64::MAX, 1]).one_hot(2, 0).unwrap();
        assert_eq!(far, NdArray::from([[0.0f32, 0.0], [0.0, 1.0]]));
        assert_eq!(indices.one_hot(0, 0).unwrap().shape()[..], [0, 2, 3]);
    });
}
