//! Conditions, masks, and what is done where they hold, against plain loops and ND4J's own cases (B of the list).

use lodestride_array::{Condition, DType, EPS_THRESHOLD, Element, NdArray};

use crate::report;
use crate::support::matrix::{layout_matrix, numbered, repeated};
use crate::support::tables::{arranged, in_every_layout, of};

type Test = fn(f64) -> bool;

/// Conditions and what they say of a number.
fn conditions() -> Vec<(&'static str, Condition, Test)> {
    let (less, nan) = (Condition::less(2), Condition::is_nan());
    vec![
        ("equal", Condition::equal(2), |x| x == 2.0),
        ("not equal", Condition::not_equal(2), |x| x != 2.0),
        ("less", Condition::less(2), |x| x < 2.0),
        ("at most", Condition::less_equal(2), |x| x <= 2.0),
        ("greater", Condition::greater(2.5), |x| x > 2.5),
        ("at least", Condition::greater_equal(2), |x| x >= 2.0),
        ("|x| equal", Condition::abs_equal(2), |x| x.abs() == 2.0),
        ("|x| less", Condition::abs_less(3), |x| x.abs() < 3.0),
        ("|x| at most", Condition::abs_less_equal(3), |x| {
            x.abs() <= 3.0
        }),
        ("|x| greater", Condition::abs_greater(2), |x| x.abs() > 2.0),
        ("|x| at least", Condition::abs_greater_equal(3), |x| {
            x.abs() >= 3.0
        }),
        ("|x| at least -1", Condition::abs_greater_equal(-1), |x| {
            x.abs() >= -1.0
        }),
        ("near", Condition::eps_equal(2), |x| (x - 2.0).abs() <= 1e-5),
        ("within 1", Condition::eps_equal_within(2, 1.0), |x| {
            (x - 2.0).abs() <= 1.0
        }),
        ("far", Condition::eps_not_equal(2), |x| {
            x.is_nan() || (x - 2.0).abs() > 1e-5
        }),
        ("NaN", Condition::is_nan(), f64::is_nan),
        ("infinite", Condition::is_inf(), f64::is_infinite),
        ("finite", Condition::is_finite(), f64::is_finite),
        ("and", Condition::greater(-2).and(less.clone()), |x| {
            x > -2.0 && x < 2.0
        }),
        ("or", less.clone().or(Condition::equal(4)), |x| {
            x < 2.0 || x == 4.0
        }),
        ("not", less.clone().not(), |x| x.is_nan() || x >= 2.0),
        (
            "nested",
            !(less.clone() & !nan.clone()) | Condition::equal(0),
            |x| x.is_nan() || x >= 2.0 || x == 0.0,
        ),
        (
            "many",
            (0..8).fold(nan, |all, i| all | Condition::equal(2 * i)),
            |x| x.is_nan() || (x % 2.0 == 0.0 && (0.0..16.0).contains(&x)),
        ),
    ]
}

#[test]
fn conditions_say_of_every_element_what_a_loop_says() {
    let (mut checked, mut failed) = (0, Vec::new());
    let odd = [
        -3.0,
        -2.0,
        0.0,
        2.0,
        1.999_999,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        3.0,
        2.5,
        4.0,
        -0.0,
    ];
    let odd = NdArray::from_vec(odd.to_vec(), [3, 4]).unwrap();
    for dtype in DType::ALL {
        let finite = NdArray::from([[-3.0f64, -2.0, 0.0, 2.0], [1.0, 6.0, 3.0, 4.0]]);
        let source = if dtype.is_float() { &odd } else { &finite };
        let array = source.cast(dtype).unwrap();
        let values = array.to_f64_vec().unwrap();
        for (layout, view) in layout_matrix(&array).unwrap() {
            for (name, condition, test) in conditions() {
                checked += 1;
                // Half floats and bytes hold other numbers; what they hold is what counts.
                let wanted: Vec<bool> = values.iter().map(|&x| test(x)).collect();
                let found = view.matches(&condition).unwrap();
                if found.dtype() != DType::Bool || found.to_vec::<bool>().unwrap() != wanted {
                    failed.push(format!("{dtype}, {layout}: {name}"));
                }
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn integers_are_compared_exactly_at_the_ends_of_their_range() {
    let ends = NdArray::from([i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX]);
    let mask = |condition: Condition| ends.matches(&condition).unwrap().to_vec::<bool>().unwrap();
    assert_eq!(
        mask(Condition::abs_greater(i64::MAX)),
        [true, false, false, false, false, false]
    );
    assert_eq!(
        mask(Condition::eps_equal_within(i64::MAX, 1.0)),
        [false, false, false, false, true, true]
    );
    let near = ends.eps_equal(&ends.flip(0).unwrap(), 1.0).unwrap();
    assert_eq!(
        near.to_vec::<bool>().unwrap(),
        [false, false, true, true, false, false]
    );
    let bytes = NdArray::from([0u8, 3, 255]);
    let near = bytes
        .eps_equal(&NdArray::from([255u8, 1, 250]), 4.9)
        .unwrap();
    assert_eq!(near.to_vec::<bool>().unwrap(), [false, true, false]);
    let signed = NdArray::from([-128i8, 127]);
    assert_eq!(
        signed
            .eps_equal(&signed.flip(0).unwrap(), 254.0)
            .unwrap()
            .to_vec::<bool>()
            .unwrap(),
        [false, false]
    );
    assert!(
        signed
            .eps_equal(&signed.flip(0).unwrap(), 255.0)
            .unwrap()
            .all_true()
            .unwrap()
    );
    assert!(
        signed.eps_equal(0, -1.0).is_err()
            && signed
                .matches(&Condition::eps_equal_within(0, f64::NAN))
                .is_err()
    );
    assert!(
        signed
            .eps_equal(0, f64::INFINITY)
            .unwrap()
            .all_true()
            .unwrap()
    );
}

#[test]
fn infinities_are_near_themselves_and_truth_values_one_apart() {
    let infinite = NdArray::from([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
    assert_eq!(
        infinite
            .eps_equal(f32::INFINITY, 1.0)
            .unwrap()
            .to_vec::<bool>()
            .unwrap(),
        [true, false, false]
    );
    let truths = NdArray::from([true, false]);
    assert_eq!(
        truths
            .eps_equal(true, 0.5)
            .unwrap()
            .to_vec::<bool>()
            .unwrap(),
        [true, false]
    );
    assert!(truths.eps_equal(true, 1.0).unwrap().all_true().unwrap());
}

#[test]
fn elementwise_forms_write_into_arrays_and_broadcast() {
    let (a, b) = (
        NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]),
        NdArray::from([1.0f32, 4.0]),
    );
    let (out, other) = (NdArray::from([[true; 2]; 2]), NdArray::from([[true; 2]; 2]));
    a.eps_equal_into(&b, EPS_THRESHOLD, &out).unwrap();
    a.eps_not_equal_into(&b, EPS_THRESHOLD, &other).unwrap();
    assert_eq!(out, NdArray::from([[true, false], [false, true]]));
    assert_eq!(other, out.logical_not().unwrap());
    assert_eq!(a.eps_not_equal(&b, EPS_THRESHOLD).unwrap(), other);
    a.matches_into(&Condition::greater(2), &out).unwrap();
    assert_eq!(out, a.greater(2).unwrap());
    let error = a
        .eps_equal(&NdArray::ones([3]).unwrap(), 0.1)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("eps_equal: shapes [2, 2] and [3] do not broadcast"),
        "{error}"
    );
    let error = a
        .matches_into(&Condition::is_nan(), &b)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("matches_into: the result has shape [2, 2]"),
        "{error}"
    );
}

/// What is done to every element of a layout, and what a loop does to numbers.
fn check_writes<T: Element + Into<f64>>(
    mut change: impl FnMut(&NdArray),
    wanted: impl Fn(f64) -> f64,
) {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in [&[][..], &[0], &[7], &[3, 4], &[2, 1, 3], &[2, 3, 2, 2]] {
        let source = numbered(T::DTYPE, shape).unwrap();
        let values = source.to_f64_vec().unwrap();
        let wanted: Vec<f64> = values.iter().map(|&x| wanted(x)).collect();
        for (layout, view) in layout_matrix(&source).unwrap() {
            checked += 1;
            change(&view);
            if view.to_f64_vec().unwrap() != wanted {
                failed.push(format!("{shape:?}: {layout}"));
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn writes_where_a_condition_holds_reach_these_elements_alone() {
    let above = Condition::greater(4);
    let replaced = |x: f64| if x > 4.0 { -1.0 } else { x };
    check_writes::<f32>(|a| drop(a.replace_where(&above, -1).map(|_| ())), replaced);
    check_writes::<i32>(
        |a| drop(a.replace_where(&a.greater(4).unwrap(), -1).map(|_| ())),
        replaced,
    );
    check_writes::<f64>(
        |a| drop(a.apply_where(&above, |x: f64| 2.0 * x).map(|_| ())),
        |x| if x > 4.0 { 2.0 * x } else { x },
    );
    check_writes::<i32>(
        |a| {
            drop(
                a.apply_where_else(&above, |x: i32| x + 1, |x| -x)
                    .map(|_| ()),
            )
        },
        |x| if x > 4.0 { x + 1.0 } else { -x },
    );
    check_writes::<f32>(
        |a| drop(a.assign_if(&a.mul(2).unwrap(), &above).map(|_| ())),
        |x| if 2.0 * x > 4.0 { 2.0 * x } else { x },
    );
    check_writes::<f32>(
        |a| {
            let copy = a.put_where(&above, -1).unwrap();
            a.assign(&copy).unwrap();
        },
        replaced,
    );
}

#[test]
fn first_and_last_places_are_those_a_loop_finds() {
    let (mut checked, mut failed) = (0, Vec::new());
    let shape = [2, 3, 4];
    let bits: Vec<f32> = (0..24)
        .map(|i| f32::from(u8::from(0b1001_0000_0010_1100_0000_0000u32 >> i & 1 == 1)))
        .collect();
    let source = NdArray::from_vec(bits.clone(), shape).unwrap();
    let mut views: Vec<(String, NdArray)> = layout_matrix(&source).unwrap();
    views.push(("of truth values".into(), source.cast(DType::Bool).unwrap()));
    for axes in [
        vec![0isize],
        vec![1],
        vec![-1],
        vec![0, 2],
        vec![2, 1],
        vec![0, 1, 2],
    ] {
        let has = |axis: usize| axes.iter().any(|a| a.rem_euclid(3) as usize == axis);
        let mut groups: std::collections::BTreeMap<Vec<usize>, Vec<bool>> = Default::default();
        crate::model::each_position(&shape, |p| {
            let key = (0..3)
                .filter(|&axis| !has(axis))
                .map(|axis| p[axis])
                .collect();
            groups
                .entry(key)
                .or_default()
                .push(bits[(p[0] * 3 + p[1]) * 4 + p[2]] == 1.0);
        });
        let find = |last: bool| -> Vec<i64> {
            let place = |group: &Vec<bool>| {
                let found = if last {
                    group.iter().rposition(|b| *b)
                } else {
                    group.iter().position(|b| *b)
                };
                found.map_or(-1, |i| i as i64)
            };
            groups.values().map(place).collect()
        };
        for (layout, view) in &views {
            checked += 2;
            let found = [
                view.first_index_along(&axes[..]).unwrap(),
                view.last_index_along(&axes[..]).unwrap(),
            ];
            if found.map(|found| found.to_vec::<i64>().unwrap()) != [find(false), find(true)] {
                failed.push(format!("{axes:?}, {layout}"));
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn places_in_arrays_without_elements_or_axes() {
    let source = NdArray::from([[0i32, 0, 1, 1], [0, 1, 0, 1]]);
    assert_eq!(
        (source.first_index().unwrap(), source.last_index().unwrap()),
        (Some(2), Some(7))
    );
    let none = NdArray::zeros([2, 0]).unwrap();
    assert_eq!(
        (none.first_index().unwrap(), none.last_index().unwrap()),
        (None, None)
    );
    assert_eq!(
        none.first_index_along(1).unwrap().to_vec::<i64>().unwrap(),
        [-1, -1]
    );
    assert_eq!(
        none.last_index_along(1).unwrap().to_vec::<i64>().unwrap(),
        [-1, -1]
    );
    assert!(none.first_index_along(0).unwrap().is_empty() && source.last_index_along(3).is_err());
    let scalar = NdArray::scalar(true).unwrap();
    assert_eq!(
        (scalar.first_index().unwrap(), scalar.last_index().unwrap()),
        (Some(0), Some(0))
    );
}

#[test]
fn stretched_and_mistyped_targets_are_refused() {
    let (_, stretched, _) = repeated(DType::F32, &[3, 4]).unwrap().remove(0);
    let text =
        |result: lodestride_array::Result<&NdArray>| result.map(drop).unwrap_err().to_string();
    let all = Condition::is_finite();
    for error in [
        text(stretched.replace_where(&all, 1)),
        text(stretched.assign_if(&NdArray::ones([4]).unwrap(), &all)),
        text(stretched.apply_where(&all, |x: f32| x)),
    ] {
        assert!(
            error.contains("cannot write into a broadcast view"),
            "{error}"
        );
    }
    let a = NdArray::ones([2, 2]).unwrap();
    assert!(text(a.apply_where(&all, |x: f64| x)).contains("asked for elements of type f64"));
    assert!(
        text(a.assign_if(&NdArray::ones([3]).unwrap(), &all))
            .starts_with("assign_if: shape [3] does not broadcast into [2, 2]")
    );
    assert!(text(a.replace_where(&NdArray::from([true; 3]), 1)).contains("mask"));
    assert!(
        a.put_where(&NdArray::ones([2, 2]).unwrap(), 1).is_err(),
        "a mask is a bool array"
    );
    assert_eq!(a.sum_number().unwrap(), 4.0);
}

fn values(array: &NdArray) -> Vec<f64> {
    array.to_f64_vec().unwrap()
}

/// A name, what the array became or gave, and what ND4J's test asserts.
type Case = (&'static str, Vec<f64>, Vec<f64>);

/// A table of cases, one a line: `"name": what is found => what it should be;`.
macro_rules! table {
    ($($name:literal: $found:expr => $wanted:expr;)*) => {
        &[$(($name, $found, $wanted)),*]
    };
}

fn check(cases: &[Case]) {
    let failed: Vec<String> = (cases.iter())
        .filter(|(_, found, wanted)| found != wanted)
        .map(|(name, found, wanted)| format!("{name}: {found:?}, not {wanted:?}"))
        .collect();
    report(cases.len(), &failed);
}

fn whole(array: &NdArray, condition: Condition) -> [f64; 2] {
    let mask = array.matches(&condition).unwrap();
    [
        f64::from(u8::from(mask.all_true().unwrap())),
        f64::from(u8::from(mask.any_true().unwrap())),
    ]
}

/// An array after a change.
fn after<'a>(
    array: &NdArray,
    change: impl FnOnce(&NdArray) -> lodestride_array::Result<&NdArray> + 'a,
) -> Vec<f64> {
    let copy = arranged(array.dup().unwrap());
    change(&copy).map(values).unwrap()
}

#[test]
fn nd4js_boolean_reductions() {
    in_every_layout(boolean_reductions);
}

fn boolean_reductions() {
    let five = of([1.0f32, 2.0, 3.0, 4.0, 5.0]);
    let small = NdArray::full([5], 1e-5f32).unwrap();
    let square = NdArray::zeros([10, 10]).unwrap();
    square.slice(4, 0).unwrap().set([2], 1e-5).unwrap();
    let rows = NdArray::ones([3, 10]).unwrap();
    rows.put_row(2, 0).unwrap();
    let one_left = rows.dup().unwrap();
    one_left.set([2, 3], 1.0).unwrap();
    let all = |a: &NdArray, c: Condition| whole(a, c)[0];
    let any = |a: &NdArray, c: Condition| whole(a, c)[1];
    let ten = NdArray::arange(0, 10, 1).unwrap();
    let count = |a: &NdArray, c: Condition| a.matches(&c).unwrap().count_nonzero_number().unwrap();
    check(table![
        "B1": vec![all(&five, Condition::greater(0.5)), all(&five, Condition::less(6)), all(&five, Condition::less(5)), all(&five, Condition::greater(4))] => vec![1.0, 1.0, 0.0, 0.0];
        "B2": vec![all(&small, Condition::greater_equal(1e-5f32)), all(&small, Condition::less(1e-5f32)), all(&small, Condition::equal(1e-5f32))] => vec![1.0, 0.0, 1.0];
        "B3": vec![any(&five, Condition::greater(3)), any(&five, Condition::less(3)), any(&five, Condition::greater(6))] => vec![1.0, 1.0, 0.0];
        "B6": vec![all(&square, Condition::equal(0)), any(&square, Condition::greater(1e-6))] => vec![0.0, 1.0];
        "B14": vec![count(&ten, Condition::less(5)), count(&of([1.0f32, f32::NAN]), Condition::is_nan()), count(&of([f32::NEG_INFINITY, 0.0]), Condition::is_inf())] => vec![5.0, 1.0, 1.0];
        "B15 and": values(&rows.matches(&Condition::equal(0)).unwrap().all(1).unwrap()) => vec![0.0, 0.0, 1.0];
        "B15 or": values(&one_left.matches(&Condition::less(0.9)).unwrap().any(1).unwrap()) => vec![0.0, 0.0, 1.0];
        "B15 none": values(&one_left.matches(&Condition::less(0)).unwrap().all(1).unwrap()) => vec![0.0, 0.0, 0.0];
        "B20": vec![count(&of([-1.0f64, -1.0, -1e-8, 1e-8, 1.0, 1.0]), Condition::eps_equal(0))] => vec![2.0];
        "B25": vec![count(&of([-2.0f32, 0.0, 2.0, 2.0]), Condition::abs_greater_equal(0)), count(&of([-2.0f32, 0.0, 2.0, 2.0]), Condition::abs_greater(0))] => vec![4.0, 3.0];
    ]);
}

#[test]
fn nd4js_conditional_writes() {
    in_every_layout(conditional_writes);
}

fn conditional_writes() {
    let a = of([1i32, 2, 0, 4, 5]);
    let y = of([2i32, 4, 3, 0, 5]);
    let ones = NdArray::ones([4, 4]).unwrap();
    ones.set([1, 2], 1e-5).unwrap();
    let mixed = of([1e-18f64, f64::NAN, 2.0]);
    let smallest = NdArray::full_of(DType::F64, [4], -1.0).unwrap();
    check(table![
        "B4": after(&smallest, |a| { a.replace_where(Condition::less(EPS_THRESHOLD), EPS_THRESHOLD) }) => vec![EPS_THRESHOLD; 4];
        "B5": after(&mixed, |a| { a.replace_where(Condition::less(1e-12), 1e-12)?.replace_where(Condition::is_nan(), 1e-16) }) => vec![1e-12, 1e-16, 2.0];
        "B7": vec![after(&ones, |a|a.replace_where(Condition::less(1e-4), 1e-12))[6], after(&ones, |a|a.replace_where(Condition::less(1e-4), 1e-12)).iter().filter(|x|**x == 1.0).count() as f64] => vec![f64::from(1e-12f32), 15.0];
        "B8": after(&of([1i32, 2, 3, 4, 5, 6, 7]), |a| { a.replace_where(Condition::greater(4), &of([7i32, 6, 5, 4, 3, 2, 1])) }) => vec![1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0];
        "B9": [after(&a, |a|a.replace_where(Condition::equal(0), 3)), after(&a, |a|a.replace_where(Condition::less(2), 3))].concat() => vec![1.0, 2.0, 3.0, 4.0, 5.0, 3.0, 2.0, 3.0, 4.0, 5.0];
        "B10": after(&a, |a|a.assign_if(&y, &Condition::not_equal(0))) => vec![2.0, 4.0, 3.0, 4.0, 5.0];
        "B11": after(&a, |a| { a.replace_where(Condition::not_equal(0), &of([2i32, 4, 3, 4, 5])) }) => vec![2.0, 4.0, 0.0, 4.0, 5.0];
        "B12": after(&a, |a| { a.replace_where(Condition::less(2), &of([2i32, 4, 3, 4, 5])) }) => vec![2.0, 2.0, 3.0, 4.0, 5.0];
        "B13": after(&NdArray::ones([5]).unwrap(), |a| a.assign_if(&NdArray::linspace(-2, 2, 5)?, &Condition::equal(0))) => vec![1.0, 1.0, 0.0, 1.0, 1.0];
        "B21": after(&of([1e-3f64, 5e-6, 5e-6, 5e-6, 5e-6]), |a| { a.replace_where(Condition::eps_equal(0), 1) }) => vec![1e-3, 1.0, 1.0, 1.0, 1.0];
        "B24": values(&NdArray::arange(0, 4, 1).unwrap().put_where(&of([false, false, true, true]), 5).unwrap()) => vec![0.0, 1.0, 5.0, 5.0];
    ]);
}

#[test]
fn nd4js_places_and_choices() {
    in_every_layout(places_and_choices);
}

fn places_and_choices() {
    let line = of([1i32, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
    let first = |c: Condition| {
        line.matches(&c)
            .unwrap()
            .first_index()
            .unwrap()
            .map_or(-1.0, |i| i as f64)
    };
    let last = |c: Condition| {
        line.matches(&c)
            .unwrap()
            .last_index()
            .unwrap()
            .map_or(-1.0, |i| i as f64)
    };
    let two = of([[1i32, 2, 3], [0, 1, 3], [7, 8, 9]]);
    let other = of([[1i32, 2, 3], [0, 1, 3], [7, 8, 0]]);
    let ones = of([[1i32, 1, 1, 0], [1, 1, 0, 0]])
        .matches(&Condition::equal(1))
        .unwrap();
    let four = NdArray::linspace(0, 4, 4).unwrap();
    let two_or_more = Condition::greater_equal(2);
    check(table![
        "B16": vec![first(Condition::greater_equal(3)), first(Condition::less(3)), last(Condition::greater_equal(3)), first(Condition::greater(99))] => vec![2.0, 0.0, 8.0, -1.0];
        "B17": values(&two.matches(&two_or_more).unwrap().first_index_along(1).unwrap()) => vec![1.0, 2.0, 0.0];
        "B18": values(&other.matches(&two_or_more).unwrap().last_index_along(1).unwrap()) => vec![2.0, 2.0, 1.0];
        "B19": [values(&ones.last_index_along(0).unwrap()), values(&ones.last_index_along(1).unwrap())].concat() => vec![1.0, 1.0, 0.0, -1.0, 2.0, 1.0];
        "B22": vec![four.select_where(Condition::greater(0)).unwrap().len() as f64] => vec![3.0];
        "B23": vec![four.select_where(Condition::greater(5)).unwrap().len() as f64] => vec![0.0];
    ]);
}
