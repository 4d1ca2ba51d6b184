//! Elementwise ops over every layout, broadcasting, promotion, in-place and overlap rules.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{ArrayError, DType, NdArray, Order, keep, s};
use support::matrix::{all_shapes, in_layouts, stretched_combinations};
use support::tables::{in_every_layout, of};
use support::{counted, report};

fn numbers(array: &NdArray) -> Vec<f32> {
    array.to_vec().unwrap()
}

#[test]
fn results_do_not_depend_on_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes() {
        let x = counted(&shape);
        let y = x.mul(2.0).unwrap().add(1.0).unwrap();
        let expected: Vec<f32> = (0..x.len()).map(|i| 3.0 * i as f32 + 1.0).collect();
        let run = &mut |layouts: &str, [x, y, out]: [&NdArray; 3]| {
            checked += 2;
            x.add_into(y, out).unwrap();
            for (form, sum) in [("add", &x.add(y).unwrap()), ("add_into", out)] {
                if numbers(sum) != expected {
                    failed.push(format!("{shape:?}, {layouts}: {form}"));
                }
            }
        };
        in_layouts([&x, &y, &NdArray::zeros(&shape[..]).unwrap()], run).unwrap();
        let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
            checked += 1;
            let (left, right) = (numbers(plain[0]), numbers(plain[1]));
            let sums: Vec<f32> = left.iter().zip(&right).map(|(x, y)| x + y).collect();
            if numbers(&given[0].add(given[1]).unwrap()) != sums {
                failed.push(format!("{shape:?}, {layouts}: add"));
            }
        };
        stretched_combinations(&[&x, &y], run).unwrap();
    }
    report(checked, &failed);
    assert!(checked > 6000, "{checked}");
}

#[test]
fn in_place_writes_through_every_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes() {
        let y = counted(&shape);
        let expected: Vec<f32> = (0..y.len()).map(|i| (6 * i * 6 * i) as f32).collect();
        let run = &mut |layouts: &str, [x, y]: [&NdArray; 2]| {
            checked += 1;
            x.addi(y).unwrap().muli(3.0).unwrap().squarei().unwrap();
            if numbers(x) != expected {
                failed.push(format!("{shape:?}: {layouts}"));
            }
        };
        in_layouts([&y, &y], run).unwrap();
        let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
            checked += 1;
            let sum: Vec<f32> = (0..)
                .zip(numbers(plain[0]))
                .map(|(i, y)| i as f32 + y)
                .collect();
            if numbers(y.dup().unwrap().addi(given[0]).unwrap()) != sum {
                failed.push(format!("{shape:?}: {layouts}"));
            }
        };
        stretched_combinations(&[&y], run).unwrap();
    }
    report(checked, &failed);
    assert!(checked > 3000, "{checked}");
}

#[test]
fn shapes_broadcast() {
    let cases: &[(&[usize], &[usize], &[usize])] = &[
        (&[3, 1], &[1, 4], &[3, 4]),
        (&[3, 4, 1], &[1, 1, 5], &[3, 4, 5]),
        (&[3, 1, 5], &[1, 4, 1], &[3, 4, 5]),
        (&[3, 1, 1, 1], &[1, 4, 5, 6], &[3, 4, 5, 6]),
        (&[1, 6], &[3, 4, 5, 1], &[3, 4, 5, 6]),
        (&[2, 1, 2, 1], &[2, 1, 5], &[2, 2, 2, 5]),
        (&[4], &[3, 4], &[3, 4]),
        (&[], &[2, 2], &[2, 2]),
        (&[0], &[1], &[0]),
        (&[0, 3], &[1, 3], &[0, 3]),
    ];
    let (mut checked, mut failed) = (0, Vec::new());
    for (a, b, expected) in cases {
        for (a, b) in [(a, b), (b, a)] {
            let (x, y) = (counted(a), counted(b));
            let sum = x.add(&y).unwrap();
            assert_eq!(&sum.shape()[..], *expected, "{a:?} + {b:?}");
            let (left, right) = (
                x.broadcast_to(*expected).unwrap(),
                y.broadcast_to(*expected).unwrap(),
            );
            let pairs = numbers(&left).into_iter().zip(numbers(&right));
            let sums: Vec<f32> = pairs.map(|(x, y)| x + y).collect();
            let run = &mut |layouts: &str, [x, y, out]: [&NdArray; 3]| {
                checked += 1;
                x.add_into(y, out).unwrap();
                if numbers(&x.add(y).unwrap()) != sums || numbers(out) != sums {
                    failed.push(format!("{a:?} + {b:?}, {layouts}"));
                }
            };
            in_layouts([&x, &y, &sum], run).unwrap();
        }
    }
    report(checked, &failed);
}

#[test]
fn dtypes_promote_as_in_numpy() {
    use DType::*;
    const ORDER: [DType; 12] = [Bool, U8, I8, U16, I16, U32, I32, U64, I64, F16, F32, F64];
    // numpy.result_type of NumPy 2 for every pair.
    const TABLE: [[DType; 12]; 12] = [
        [Bool, U8, I8, U16, I16, U32, I32, U64, I64, F16, F32, F64],
        [U8, U8, I16, U16, I16, U32, I32, U64, I64, F16, F32, F64],
        [I8, I16, I8, I32, I16, I64, I32, F64, I64, F16, F32, F64],
        [U16, U16, I32, U16, I32, U32, I32, U64, I64, F32, F32, F64],
        [I16, I16, I16, I32, I16, I64, I32, F64, I64, F32, F32, F64],
        [U32, U32, I64, U32, I64, U32, I64, U64, I64, F64, F64, F64],
        [I32, I32, I32, I32, I32, I64, I32, F64, I64, F64, F64, F64],
        [U64, U64, F64, U64, F64, U64, F64, U64, F64, F64, F64, F64],
        [I64, I64, I64, I64, I64, I64, I64, F64, I64, F64, F64, F64],
        [F16, F16, F16, F32, F32, F64, F64, F64, F64, F16, F32, F64],
        [F32, F32, F32, F32, F32, F64, F64, F64, F64, F32, F32, F64],
        [F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64],
    ];
    let mut failed = Vec::new();
    for (a, row) in ORDER.into_iter().zip(TABLE) {
        for (b, expected) in ORDER.into_iter().zip(row) {
            let (x, y) = (
                NdArray::ones_of(a, [2]).unwrap(),
                NdArray::ones_of(b, [2]).unwrap(),
            );
            let sum = x.add(&y).unwrap();
            let two = if expected == Bool { 1.0 } else { 2.0 };
            if sum.dtype() != expected || sum.get_f64([0]).unwrap() != two {
                failed.push((a, b, expected, sum.dtype()));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn plain_numbers_are_weak() {
    use DType::*;
    let dtype = |dtype: DType, arg: lodestride_array::Arg<'_>| {
        NdArray::ones_of(dtype, [2])
            .unwrap()
            .add(arg)
            .unwrap()
            .dtype()
    };
    let cases = [
        (U8, 1i32.into(), U8),
        (I32, 1i64.into(), I32),
        (F16, 1.5f64.into(), F16),
        (BF16, 1.5f64.into(), BF16),
        (F32, 1.5f64.into(), F32),
        (F32, 3i64.into(), F32),
        (I32, 0.5f64.into(), F64),
        (Bool, 1i32.into(), I64),
        (Bool, 0.5f32.into(), F64),
        (I8, true.into(), I8),
    ];
    for (array, arg, expected) in cases {
        assert_eq!(dtype(array, arg), expected, "{array} + {arg:?}");
    }
    assert_eq!(
        NdArray::from([7i32]).div(2).unwrap().get_f64([0]).unwrap(),
        3.5
    );
    assert_eq!(NdArray::from([true]).exp().unwrap().dtype(), F64);
}

#[test]
fn in_place_broadcasts_only_the_right_side() {
    let a = NdArray::ones([2, 3]).unwrap();
    a.addi(&NdArray::from([1.0f32, 2.0, 3.0])).unwrap();
    assert_eq!(a.to_vec::<f32>().unwrap(), [2.0, 3.0, 4.0, 2.0, 3.0, 4.0]);
    let small = NdArray::ones([3, 1]).unwrap();
    assert!(small.muli(&NdArray::ones([3, 4]).unwrap()).is_err());
    assert_eq!(
        small.to_vec::<f32>().unwrap(),
        [1.0; 3],
        "nothing may be written"
    );
}

#[test]
fn aliases_see_each_other() {
    let a = counted(&[3, 3]);
    let alias = a.clone();
    a.row(0).unwrap().addi(1.0).unwrap();
    a.transpose().row(2).unwrap().assign(0.0).unwrap();
    a.get(&s![1.., ..;2]).unwrap().muli(10.0).unwrap();
    assert_eq!(
        alias.to_vec::<f32>().unwrap(),
        [1.0, 2.0, 0.0, 30.0, 4.0, 0.0, 60.0, 7.0, 0.0]
    );
    let copy = a.dup().unwrap();
    a.assign(5).unwrap();
    assert_eq!(copy.get_f64([0, 0]).unwrap(), 1.0);
    assert!(a.addi(&a).unwrap().shares_memory(&alias));
    assert_eq!(alias.get_f64([2, 2]).unwrap(), 10.0);
}

#[test]
fn overlap_behaves_as_if_the_source_were_copied_first() {
    for n in [5usize, 64, 1000] {
        let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let a = NdArray::from_vec(values.clone(), [n]).unwrap();
        a.get(&s![1..])
            .unwrap()
            .addi(&a.get(&s![..-1]).unwrap())
            .unwrap();
        let forward: Vec<f32> = (0..n)
            .map(|i| {
                if i == 0 {
                    0.0
                } else {
                    values[i] + values[i - 1]
                }
            })
            .collect();
        assert_eq!(a.to_vec::<f32>().unwrap(), forward);

        let a = NdArray::from_vec(values.clone(), [n]).unwrap();
        a.get(&s![..-1])
            .unwrap()
            .subi(&a.get(&s![1..]).unwrap())
            .unwrap();
        let backward: Vec<f32> = (0..n)
            .map(|i| if i + 1 == n { values[i] } else { -1.0 })
            .collect();
        assert_eq!(a.to_vec::<f32>().unwrap(), backward);

        let a = NdArray::from_vec(values.clone(), [n]).unwrap();
        a.assign(&a.flip(0).unwrap()).unwrap();
        assert_eq!(
            a.to_vec::<f32>().unwrap(),
            values.iter().rev().copied().collect::<Vec<_>>()
        );
    }
    let a = counted(&[4, 4]);
    let expected = a.transpose().dup().unwrap().add(&a).unwrap();
    a.addi(&a.transpose()).unwrap();
    assert_eq!(a, expected);
    let a = counted(&[3, 3]);
    a.subi_row_vector(&a.row(1).unwrap()).unwrap();
    assert_eq!(
        a.to_vec::<f32>().unwrap(),
        [-3.0, -3.0, -3.0, 0.0, 0.0, 0.0, 3.0, 3.0, 3.0]
    );
    let a = counted(&[3, 3]);
    a.divi_column_vector(&a.column(1).unwrap()).unwrap();
    assert_eq!(a.column(1).unwrap().to_vec::<f32>().unwrap(), [1.0; 3]);
}

#[test]
fn results_keep_the_order_of_their_operands() {
    let f = counted(&[3, 4]).dup_order(Order::F).unwrap();
    assert_eq!(f.add(1.0).unwrap().order(), Some(Order::F));
    assert_eq!(f.add(&f).unwrap().order(), Some(Order::F));
    assert_eq!(f.add(&counted(&[3, 4])).unwrap().order(), Some(Order::C));
    assert_eq!(f.exp().unwrap().order(), Some(Order::F));
}

/// Strides of what NumPy 2 makes of the same arrays, in elements.
#[test]
fn results_lie_as_numpy_places_them() {
    let base = counted(&[2, 3, 4]);
    let turned = base.permute([1, 2, 0]).unwrap();
    let (c, row) = (turned.dup_order(Order::C).unwrap(), counted(&[2]));
    let part = counted(&[2, 3, 8]).permute([2, 0, 1]).unwrap();
    let part = part.get(&s![..;2, .., ..]).unwrap();
    let flipped = turned.flip(1).unwrap();
    let mask = turned.greater(5).unwrap();
    let cases: [(&str, Result<NdArray, ArrayError>, [isize; 3]); 21] = [
        ("negative", turned.neg(), [4, 1, 12]),
        ("sum of itself", turned.add(&turned), [4, 1, 12]),
        ("sum with C", turned.add(&c), [8, 2, 1]),
        ("C first", c.add(&turned), [8, 2, 1]),
        ("sum with a row", turned.add(&row), [4, 1, 12]),
        ("sum with a number", turned.add(1), [4, 1, 12]),
        ("comparison", turned.less(&turned), [4, 1, 12]),
        ("backwards", flipped.neg(), [4, 1, 12]),
        ("a part with gaps", part.neg(), [1, 12, 4]),
        ("cast", turned.cast(DType::I32), [4, 1, 12]),
        ("copy", turned.dup(), [4, 1, 12]),
        ("choice", mask.select(&turned, 0.0), [4, 1, 12]),
        ("clipped", turned.clip(1.0, 5.0), [4, 1, 12]),
        ("running sums", turned.cumsum(0), [4, 1, 12]),
        ("sorted", turned.sort(1), [4, 1, 12]),
        ("rolled", turned.roll(1, 2), [4, 1, 12]),
        ("fused", (turned.lazy() * 2.0 + &turned).eval(), [4, 1, 12]),
        ("mean", turned.mean(keep(0)), [4, 1, 4]),
        ("variance", turned.var(keep(1)), [1, 1, 3]),
        ("any", turned.any(keep(2)), [4, 1, 12]),
        ("sum of a part", part.sum(keep(1)), [1, 12, 4]),
    ];
    let mut wrong = Vec::new();
    for (name, made, strides) in cases {
        let made = made.unwrap();
        if made.strides()[..] != strides {
            wrong.push(format!(
                "{name}: {:?}, expected {strides:?}",
                made.strides()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let most = turned.max(0).unwrap();
    assert_eq!(
        (&most.shape()[..], &most.strides()[..]),
        (&[4, 2][..], &[1, 4][..])
    );
}

#[test]
fn operators_are_the_methods() {
    let (a, b) = (NdArray::from([1.0f32, 2.0]), NdArray::from([3.0f32, 5.0]));
    assert_eq!(&a + &b, a.add(&b).unwrap());
    assert_eq!(a.clone() - b.clone(), a.sub(&b).unwrap());
    assert_eq!(&a * 2.0, a.mul(2.0).unwrap());
    assert_eq!(10.0 - &a, a.rsub(10.0).unwrap());
    assert_eq!(1 / &b, b.rdiv(1).unwrap());
    assert_eq!(-&a, a.neg().unwrap());
    assert_eq!(
        (2.0 * &a + &b * 1 - 1).sum_number().unwrap(),
        2.0 * 3.0 + 8.0 - 2.0
    );
    assert_eq!(&a * 0.5f32, a.mul(0.5).unwrap());
    assert_eq!(&b % 2.0, NdArray::from([1.0f32, 1.0]));
    let mut c = a.dup().unwrap();
    let alias = c.clone();
    c += 1.0;
    c *= &b;
    assert_eq!(alias, NdArray::from([6.0f32, 15.0]));
    let (low, high) = (a.greater(0).unwrap(), a.less(2).unwrap());
    assert_eq!(&low & &high, NdArray::from([true, false]));
    assert_eq!(!&high, NdArray::from([false, true]));
    let sum = std::panic::AssertUnwindSafe(|| &a + &NdArray::from([1.0f32, 2.0, 3.0]));
    let text = std::panic::catch_unwind(sum).unwrap_err();
    let text = text.downcast_ref::<String>().unwrap();
    assert!(
        text.starts_with("add: shapes [2] and [3] do not broadcast: axis 0 is 2 vs 3\n  --> "),
        "{text}"
    );
    assert!(text.contains("tests/elementwise.rs:"), "{text}");
}

#[test]
fn select_and_clip() {
    in_every_layout(select_and_clip_in_a_layout);
}

fn select_and_clip_in_a_layout() {
    let a = of([[1.0f32, -2.0], [f32::NAN, 4.0]]);
    let positive = a.greater(0).unwrap();
    assert_eq!(
        positive.select(&a, 0.0).unwrap().to_vec::<f32>().unwrap(),
        [1.0, 0.0, 0.0, 4.0]
    );
    let columns = of([[true], [false]]);
    let picked = columns.select(&of([1i32, 2]), &of([10i32, 20])).unwrap();
    assert_eq!(picked, of([[1i32, 2], [10, 20]]));
    assert_eq!(positive.select(1, 0).unwrap().dtype(), DType::I64);
    assert_eq!(
        a.clip(-1.0, 2.0).unwrap().to_vec::<f32>().unwrap()[..2],
        [1.0, -1.0]
    );
    assert!(a.clip(-1.0, 2.0).unwrap().get_f64([1, 0]).unwrap().is_nan());
    let b = of([5u8, 200]);
    b.clipi(10, 100).unwrap();
    assert_eq!(b.to_vec::<u8>().unwrap(), [10, 100]);
}

#[test]
fn row_and_column_vectors() {
    in_every_layout(row_and_column_vectors_in_a_layout);
}

fn row_and_column_vectors_in_a_layout() {
    let a = of([[1.0f32, 2.0, 4.0], [8.0, 16.0, 32.0]]);
    assert_eq!(
        a.rdiv_column_vector(&of([4.0f32, 32.0]))
            .unwrap()
            .to_vec::<f32>()
            .unwrap(),
        [4.0, 2.0, 1.0, 4.0, 2.0, 1.0]
    );
    assert_eq!(
        a.sub_row_vector(&of([[1.0f32, 2.0, 3.0]]))
            .unwrap()
            .row(0)
            .unwrap(),
        of([0.0f32, 0.0, 1.0])
    );
    let strided = of([[1.0f32, 9.0], [2.0, 9.0]]).column(0).unwrap();
    a.muli_column_vector(&strided).unwrap();
    assert_eq!(
        a.row(1).unwrap().to_vec::<f32>().unwrap(),
        [16.0, 32.0, 64.0]
    );
    assert!(a.add_row_vector(&NdArray::ones([2]).unwrap()).is_err());
    assert!(a.add_column_vector(&NdArray::ones([3]).unwrap()).is_err());
}
