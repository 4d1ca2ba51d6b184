//! Creation, views, indexing, joining: ND4J's and NumPy's behaviours, case by case.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod support;

use lodestride_array::{
    DType, NdArray, NdIndexIterator, Order, Rng, all, interval, interval_step, keep, point, s,
    with_default_dtype,
};
use support::matrix::{all_shapes, in_layouts, inputs, layout_matrix};
use support::tables::{in_every_layout, of};
use support::{counted, report};

fn values(array: &NdArray) -> Vec<f64> {
    array.to_f64_vec().unwrap()
}

#[test]
fn creation() {
    assert_eq!(values(&NdArray::zeros([2, 2]).unwrap()), [0.0; 4]);
    assert_eq!(
        NdArray::ones_of(DType::Bool, 2).unwrap(),
        NdArray::from([true, true])
    );
    assert_eq!(values(&NdArray::full([3], 2.5).unwrap()), [2.5; 3]);
    assert_eq!(NdArray::eye(3).unwrap().sum_number().unwrap(), 3.0);
    assert_eq!(
        values(&NdArray::arange(0, 1, 0.25).unwrap()),
        [0.0, 0.25, 0.5, 0.75]
    );
    assert!(NdArray::arange(3, 1, 1).unwrap().is_empty());
    assert_eq!(values(&NdArray::arange(3, 1, -1).unwrap()), [3.0, 2.0]);
    assert_eq!(
        values(&NdArray::linspace(1, 10, 10).unwrap()),
        (1..=10).map(f64::from).collect::<Vec<_>>()
    );
    assert_eq!(values(&NdArray::linspace(5, 9, 1).unwrap()), [5.0]);
    assert_eq!(NdArray::from([[[1u8; 4]; 3]; 2]).shape()[..], [2, 3, 4]);
    assert_eq!(NdArray::from(vec![1.5f64, 2.5]).dtype(), DType::F64);
    assert_eq!(NdArray::from(&[1i64, 2][..]).shape()[..], [2]);
    assert_eq!(NdArray::from(3i32).rank(), 0);
    let f = NdArray::from_vec_order(vec![1, 2, 3, 4, 5, 6], [2, 3], Order::F).unwrap();
    assert_eq!(f, NdArray::from([[1, 3, 5], [2, 4, 6]]));
    assert_eq!(f.strides()[..], [1, 2]);
    assert_eq!(counted(&[3, 3]).strides()[..], [3, 1]);
    let d = with_default_dtype(DType::F64, || NdArray::zeros([1]).unwrap());
    assert_eq!(d.dtype(), DType::F64);
    assert_eq!(NdArray::zeros([2, 0, 3]).unwrap().len(), 0);
    let like = f.zeros_like().unwrap();
    assert_eq!((like.dtype(), &like.shape()[..]), (DType::I32, &[2, 3][..]));
}

#[test]
fn forms() {
    let row = NdArray::zeros([1, 4]).unwrap();
    let column = NdArray::zeros([4, 1]).unwrap();
    let vector = NdArray::zeros([4]).unwrap();
    let scalar = NdArray::zeros(()).unwrap();
    assert!(row.is_row_vector() && row.is_vector() && row.is_matrix() && !row.is_column_vector());
    assert!(
        column.is_column_vector()
            && column.is_vector()
            && !column.is_row_vector()
            && !column.is_square()
    );
    assert!(vector.is_vector() && vector.is_row_vector() && !vector.is_matrix());
    assert!(scalar.is_scalar() && !scalar.is_vector() && scalar.len() == 1);
    assert!(NdArray::eye(2).unwrap().is_square());
    assert_eq!(
        (
            row.rows().unwrap(),
            row.columns().unwrap(),
            row.size(-1).unwrap()
        ),
        (1, 4, 4)
    );
    assert!(vector.rows().is_err() && row.size(2).is_err());
    assert!(
        !row.is_view() && row.transpose().is_view() && !row.transpose().dup().unwrap().is_view()
    );
}

#[test]
fn reading_out_does_not_depend_on_layout() {
    for shape in &all_shapes() {
        for (name, array, plain) in inputs(&counted(shape)).unwrap() {
            let expected = plain.to_vec::<f32>().unwrap();
            assert_eq!(array.to_vec::<f32>().unwrap(), expected, "{shape:?} {name}");
            assert_eq!(array, plain, "{shape:?} {name}");
            assert_eq!(
                array
                    .cast(DType::I16)
                    .unwrap()
                    .to_vec::<i16>()
                    .unwrap()
                    .len(),
                expected.len()
            );
            let view = array.view::<f32>().unwrap();
            assert!(view.iter().eq(expected.iter()), "{shape:?} {name}");
            assert_eq!(view.iter().len(), expected.len());
            drop(view);
            let flat = array.ravel().unwrap();
            assert_eq!(flat.to_vec::<f32>().unwrap(), expected, "{shape:?} {name}");
            let bytes: Vec<u8> = expected
                .iter()
                .flat_map(|value| value.to_ne_bytes())
                .collect();
            assert_eq!(array.to_bytes().unwrap(), bytes, "{shape:?} {name}");
            for (position, index) in NdIndexIterator::new(array.shape(), Order::C).enumerate() {
                assert_eq!(
                    array.get_f64(&index[..]).unwrap(),
                    f64::from(expected[position]),
                    "{shape:?} {name}"
                );
            }
        }
    }
}

#[test]
fn indexing() {
    let a = counted(&[4, 5]);
    assert_eq!(
        values(&a.get(&[point(1), all()]).unwrap()),
        [5.0, 6.0, 7.0, 8.0, 9.0]
    );
    assert_eq!(a.get(&[interval(0, 3), all()]).unwrap().shape()[..], [3, 5]);
    assert_eq!(
        values(
            &a.get(&[all(), interval_step(0, 2, 5)])
                .unwrap()
                .row(0)
                .unwrap()
        ),
        [0.0, 2.0, 4.0]
    );
    assert_eq!(
        values(&a.get(&s![-1, ..;-1]).unwrap()),
        [19.0, 18.0, 17.0, 16.0, 15.0]
    );
    assert_eq!(a.get(&s![1]).unwrap().shape()[..], [5]);
    let b = counted(&[2, 3, 4]);
    assert_eq!(b.get(&s![.., 1, 2..]).unwrap().shape()[..], [2, 2]);
    assert_eq!(
        values(&b.slice(1, 0).unwrap().slice(2, 0).unwrap()),
        [20.0, 21.0, 22.0, 23.0]
    );
    a.put(&s![1..3, 0..2], 0.0).unwrap();
    assert_eq!(a.sum_number().unwrap(), 190.0 - (5.0 + 6.0 + 10.0 + 11.0));
    a.put_row(0, &NdArray::ones([5]).unwrap()).unwrap();
    a.put_column(-1, 7).unwrap();
    assert_eq!(values(&a.row(0).unwrap()), [1.0, 1.0, 1.0, 1.0, 7.0]);
    assert!(
        a.put(&s![0..2, 0..2], &NdArray::ones([3]).unwrap())
            .is_err()
    );
    assert!(a.row(4).is_err() && a.column(-6).is_err());
    assert_eq!(
        values(&a.get_columns([4, 4]).unwrap().row(1).unwrap()),
        [7.0, 7.0]
    );
    assert!(a.get_rows([0, 9]).is_err());
    assert!(!a.get_rows([0]).unwrap().shares_memory(&a));
}

#[test]
fn tensors_along_dimensions() {
    let x = NdArray::from([[1.0f32, 9.0, 5.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]]);
    assert_eq!(x.tensors_along_dimension(0).unwrap(), 3);
    assert_eq!(x.tensors_along_dimension([1, 0]).unwrap(), 1);
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|i| values(&x.tensor_along_dimension(i, 0).unwrap()))
        .collect();
    assert_eq!(columns, [[1.0, 5.0, 2.0], [9.0, 3.0, 3.0], [5.0, 5.0, 6.0]]);
    let b = counted(&[2, 3, 4, 5]);
    let cases: &[(&[isize], usize, &[usize])] = &[
        (&[0], 60, &[2]),
        (&[1, 2], 10, &[3, 4]),
        (&[0, 2, 3], 3, &[2, 4, 5]),
        (&[-1], 24, &[5]),
    ];
    for (axes, count, shape) in cases {
        assert_eq!(b.tensors_along_dimension(*axes).unwrap(), *count);
        assert_eq!(
            &b.tensor_along_dimension(count - 1, *axes).unwrap().shape()[..],
            *shape
        );
    }
    assert_eq!(
        b.tensor_along_dimension(0, keep([1])).unwrap().shape()[..],
        [1, 3]
    );
    x.tensor_along_dimension(1, 1).unwrap().assign(0).unwrap();
    assert_eq!(values(&x.row(1).unwrap()), [0.0; 3]);
    assert!(x.tensor_along_dimension(3, 0).is_err());
}

#[test]
fn reshaping() {
    let a = counted(&[4, 6]);
    assert!(a.reshape([2, 12]).unwrap().shares_memory(&a));
    assert!(!a.transpose().reshape([24]).unwrap().shares_memory(&a));
    assert!(!a.transpose().reshape([24]).unwrap().is_view());
    assert_eq!(
        values(&a.transpose().reshape([24]).unwrap())[..3],
        [0.0, 6.0, 12.0]
    );
    assert_eq!(a.reshape([-1, 2, 3]).unwrap().shape()[..], [4, 2, 3]);
    assert_eq!(
        values(&a.reshape_order([24], Order::F).unwrap())[..3],
        [0.0, 6.0, 12.0]
    );
    assert_eq!(
        a.reshape(counted(&[3, 8]).shape()).unwrap().shape()[..],
        [3, 8]
    );
    assert!(a.reshape([5, -1]).is_err() && a.reshape([-1, -1]).is_err());
    assert_eq!(a.expand_dims(-1).unwrap().shape()[..], [4, 6, 1]);
    assert_eq!(a.expand_dims(0).unwrap().squeeze(0).unwrap(), a);
    assert_eq!(counted(&[1, 3, 1]).squeeze_all().shape()[..], [3]);
    assert_eq!(
        counted(&[3, 4, 5]).permute([2, 1, 0]).unwrap().strides()[..],
        [1, 5, 20]
    );
    assert_eq!(
        counted(&[3, 4, 5]).swap_axes(0, -1).unwrap().shape()[..],
        [5, 4, 3]
    );
    assert_eq!(counted(&[4]).transpose().shape()[..], [4]);
    assert_eq!(
        counted(&[3]).windows(0, 2, 1).unwrap(),
        NdArray::from([[0.0f32, 1.0], [1.0, 2.0]])
    );
    for shape in &all_shapes() {
        for (name, array, _) in inputs(&counted(shape)).unwrap() {
            let flat = array.reshape([-1]);
            if !array.is_empty() {
                assert_eq!(
                    flat.unwrap().to_vec::<f32>().unwrap(),
                    array.to_vec::<f32>().unwrap(),
                    "{shape:?} {name}"
                );
            }
        }
    }
}

#[test]
fn joining() {
    let (zeros, ones) = (
        NdArray::zeros([2, 2]).unwrap(),
        NdArray::ones([2, 2]).unwrap(),
    );
    let printed = |array: &NdArray| format!("{array:.2}");
    assert_eq!(
        printed(&NdArray::hstack(&[&ones, &zeros]).unwrap()),
        "[[1.00, 1.00, 0.00, 0.00],\n [1.00, 1.00, 0.00, 0.00]]"
    );
    assert_eq!(
        printed(&NdArray::vstack(&[&ones, &zeros]).unwrap()),
        "[[1.00, 1.00],\n [1.00, 1.00],\n [0.00, 0.00],\n [0.00, 0.00]]"
    );
    let padded = ones.pad([1, 1], 0).unwrap();
    assert_eq!(
        printed(&padded),
        "[[0.00, 0.00, 0.00, 0.00],\n [0.00, 1.00, 1.00, 0.00],\n [0.00, 1.00, 1.00, 0.00],\n [0.00, 0.00, 0.00, 0.00]]"
    );
    assert_eq!(
        NdArray::concat(&[&counted(&[2, 3, 4]), &counted(&[2, 1, 4])], -2)
            .unwrap()
            .shape()[..],
        [2, 4, 4]
    );
    let (v, w) = (NdArray::from([1i32, 2]), NdArray::from([3.0f32, 4.0]));
    assert_eq!(
        NdArray::hstack(&[&v, &w]).unwrap(),
        NdArray::from([1.0f64, 2.0, 3.0, 4.0])
    );
    assert_eq!(
        NdArray::vstack(&[&v, &v]).unwrap(),
        NdArray::from([[1i32, 2], [1, 2]])
    );
    assert_eq!(
        NdArray::stack(&[&v, &v], 1).unwrap(),
        NdArray::from([[1i32, 1], [2, 2]])
    );
    let parts = counted(&[3, 2]).unstack(0).unwrap();
    assert_eq!(values(&parts[2]), [4.0, 5.0]);
    assert_eq!(
        NdArray::stack(&parts.iter().collect::<Vec<_>>(), 0).unwrap(),
        counted(&[3, 2])
    );
    assert_eq!(
        NdArray::from([[1i32, 2]]).tile([2, 1, 2]).unwrap().shape()[..],
        [2, 1, 4]
    );
    assert_eq!(
        NdArray::from([[1i32, 2], [3, 4]])
            .repeat(2, 0)
            .unwrap()
            .column(0)
            .unwrap(),
        NdArray::from([1i32, 1, 3, 3])
    );
    assert!(ones.pad([1], 0).is_err());
    for order in [Order::C, Order::F] {
        let expected = if order == Order::C {
            [0.0, 1.0, 2.0, 3.0]
        } else {
            [0.0, 2.0, 1.0, 3.0]
        };
        for (name, array) in layout_matrix(&counted(&[2, 2])).unwrap() {
            assert_eq!(
                values(&NdArray::to_flattened(order, &[&array]).unwrap()),
                expected,
                "{name}"
            );
        }
    }
}

#[test]
fn diagonals() {
    let a = counted(&[3, 3]);
    assert_eq!(values(&a.diag(0).unwrap()), [0.0, 4.0, 8.0]);
    assert_eq!(values(&a.diag(1).unwrap()), [1.0, 5.0]);
    assert_eq!(values(&a.diag(-2).unwrap()), [6.0]);
    let b = NdArray::from([1.0f32, 2.0]).diag(1).unwrap();
    assert_eq!(
        b,
        NdArray::from([[0.0f32, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    );
    a.diagonal(0).unwrap().assign(1).unwrap();
    assert_eq!(a.get_f64([2, 2]).unwrap(), 1.0);
    assert!(counted(&[2, 2, 2]).diag(0).is_err());
}

#[test]
fn reductions_agree_with_a_plain_loop() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in &all_shapes() {
        for (name, array, plain) in inputs(&counted(shape)).unwrap() {
            let elements = values(&plain);
            for (axis, &size) in shape.iter().enumerate() {
                checked += 1;
                let (sum, kept) = (array.sum(axis).unwrap(), array.sum(keep(axis)).unwrap());
                let inner: usize = shape[axis + 1..].iter().product();
                let total = |place: usize| -> f64 {
                    let first = place / inner * size * inner + place % inner;
                    (0..size).map(|i| elements[first + i * inner]).sum()
                };
                let totals: Vec<f64> = (0..sum.len()).map(total).collect();
                let outs = [sum.full_like(9).unwrap(), kept.full_like(9).unwrap()];
                array.sum_into(axis, &outs[0]).unwrap();
                array.sum_into(keep(axis), &outs[1]).unwrap();
                let squeezed = kept.squeeze(axis as isize).unwrap();
                if values(&sum) != totals || squeezed != sum || outs != [sum, kept] {
                    failed.push(format!("{shape:?} {name} axis {axis}"));
                }
            }
            let all = f64::from(array.sum(..).unwrap().item::<f32>().unwrap());
            if all != array.sum_number().unwrap() || all != elements.iter().sum() {
                failed.push(format!("{shape:?} {name}"));
            }
        }
    }
    report(checked, &failed);
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn reductions_of_known_values() {
    in_every_layout(reductions_of_known_values_in_a_layout);
}

fn reductions_of_known_values_in_a_layout() {
    let y = of([[0.0f32, 8.0, 4.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]]);
    assert_eq!(values(&y.sum(0).unwrap()), [7.0, 14.0, 15.0]);
    assert_eq!(values(&y.sum(1).unwrap()), [12.0, 13.0, 11.0]);
    assert_eq!(y.sum([0, 1]).unwrap().rank(), 0);
    assert_eq!(values(&y.argmax(0).unwrap()), [1.0, 0.0, 2.0]);
    assert_eq!(values(&y.argmax(1).unwrap()), [1.0, 0.0, 2.0]);
    assert_eq!(y.argmax(keep(1)).unwrap().shape()[..], [3, 1]);
    assert_eq!(
        (y.argmax_number().unwrap(), y.argmin_number().unwrap()),
        (1, 0)
    );
    let slices = of([
        [[1.0f32, 10.0, 2.0], [3.0, 4.0, 5.0]],
        [[-10.0, -9.0, -8.0], [-7.0, -6.0, -5.0]],
        [[4.0, 3.0, 2.0], [1.0, 0.0, -1.0]],
    ]);
    assert_eq!(values(&slices.argmax([1, 2]).unwrap()), [1.0, 5.0, 0.0]);
    assert_eq!(
        values(&slices.transpose().argmax([0, 1]).unwrap()),
        [2.0, 5.0, 0.0]
    );
    let signed = of([-0.24f32, -0.26, -0.07, -0.01]);
    assert_eq!(values(&signed.arg_abs_max(..).unwrap()), [1.0]);
    let a = NdArray::linspace(1, 6, 6).unwrap().reshape([2, 3]).unwrap();
    assert_eq!(values(&a.var_ddof(0, 0).unwrap()), [2.25; 3]);
    assert_eq!(values(&a.var(0).unwrap()), [4.5; 3]);
    assert_eq!(a.norm1_number().unwrap(), 21.0);
    assert!((a.norm2_number().unwrap() - 91f64.sqrt()).abs() < 1e-12);
    assert!((a.std_number().unwrap() - 3.5f64.sqrt()).abs() < 1e-12);
    assert_eq!(
        (a.prod_number().unwrap(), a.mean_number().unwrap()),
        (720.0, 3.5)
    );
    assert!(
        (of([1.0f64, 2.0, 3.0]).log_sum_exp_number().unwrap() - 3.407_605_964_444_38).abs() < 1e-12
    );
    assert_eq!(
        of([200u8, 100]).sum(0).unwrap(),
        NdArray::scalar(300u64).unwrap()
    );
    assert!(of([1.0f32, f32::NAN]).max_number().unwrap().is_nan());
    assert!(
        a.greater(5).unwrap().any_true().unwrap() && !a.greater(5).unwrap().all_true().unwrap()
    );
    assert_eq!(
        values(&a.greater(3).unwrap().count_nonzero(1).unwrap()),
        [0.0, 3.0]
    );
    assert_eq!(
        values(&a.cumsum(1).unwrap()),
        [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]
    );
    let p = a.softmax(1).unwrap();
    assert!(
        p.sum(1)
            .unwrap()
            .all_close(&NdArray::ones([2]).unwrap(), 1e-6, 0.0)
            .unwrap()
    );
    assert!(
        a.log_softmax(1)
            .unwrap()
            .all_close(&p.log().unwrap(), 1e-5, 1e-6)
            .unwrap()
    );
    assert!(
        NdArray::zeros([2, 0])
            .unwrap()
            .softmax(1)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn masks() {
    in_every_layout(masks_in_a_layout);
}

fn masks_in_a_layout() {
    let a = of([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let down = a.flip(0).unwrap().dup().unwrap();
    a.replace_where(&a.greater(4).unwrap(), &down).unwrap();
    assert_eq!(values(&a), [1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0]);
    let nan = of([f32::NAN, 1e-18, 5.0]);
    nan.replace_where(&nan.is_nan().unwrap(), 0).unwrap();
    assert_eq!(nan.get_f64([0]).unwrap(), 0.0);
    let m = of([[0.0f32, 1.0], [2.0, 0.0]]);
    assert_eq!(
        values(&m.select_where(&m.greater(0).unwrap()).unwrap()),
        [1.0, 2.0]
    );
    assert!(m.select_where(&m.greater(9).unwrap()).unwrap().is_empty());
    m.replace_where(&of([true, false]), 8).unwrap();
    assert_eq!(values(&m), [8.0, 1.0, 8.0, 0.0]);
    let v = of([1.0f32, 2.0, 9.0, 0.0]);
    let last = v.greater_equal(2).unwrap().last_index().unwrap();
    assert_eq!(
        (v.greater_equal(3).unwrap().first_index().unwrap(), last),
        (Some(2), Some(2))
    );
    assert!(v.replace_where(&v, 1).is_err());
}

#[test]
fn products() {
    let a = NdArray::linspace(1, 4, 4).unwrap();
    let m = NdArray::linspace(1, 16, 16)
        .unwrap()
        .reshape([4, 4])
        .unwrap();
    assert_eq!(values(&a.matmul(&m).unwrap()), [90.0, 100.0, 110.0, 120.0]);
    assert_eq!(
        values(&a.reshape([1, 4]).unwrap().mmul(&m).unwrap()),
        [90.0, 100.0, 110.0, 120.0]
    );
    assert_eq!(a.matmul(&a).unwrap().item::<f32>().unwrap(), 30.0);
    assert_eq!(values(&m.matmul(&a).unwrap()), [30.0, 70.0, 110.0, 150.0]);
    let expected = NdArray::from([[28.0f32, 34.0], [76.0, 98.0], [124.0, 162.0]]);
    let (x, y, out) = (
        counted(&[3, 4]),
        counted(&[4, 2]),
        expected.full_like(f32::NAN),
    );
    let run = &mut |layouts: &str, [x, y, out]: [&NdArray; 3]| {
        assert_eq!(x.mmul(y).unwrap(), expected, "{layouts}");
        x.mmul_into(y, out).unwrap();
        assert_eq!(*out, expected, "{layouts}");
        x.gemm_into(y, 2.0, -1.0, out).unwrap();
        assert_eq!(*out, expected, "{layouts}");
    };
    in_layouts([&x, &y, &out.unwrap()], run).unwrap();
    let batch = counted(&[2, 1, 3, 4]).matmul(&counted(&[5, 4, 2])).unwrap();
    assert_eq!(batch.shape()[..], [2, 5, 3, 2]);
    let one = counted(&[2, 1, 3, 4])
        .get(&s![1, 0])
        .unwrap()
        .mmul(&counted(&[5, 4, 2]).slice(3, 0).unwrap())
        .unwrap();
    assert_eq!(batch.get(&s![1, 3]).unwrap(), one);
    assert_eq!(
        NdArray::from([[1i32, 2]])
            .mmul(&NdArray::from([[3i32], [4]]))
            .unwrap(),
        NdArray::from([[11i32]])
    );
    let square = counted(&[3, 3]);
    let expected = square.mmul(&square).unwrap();
    square.mmul_into(&square, &square).unwrap();
    assert_eq!(square, expected);
    assert_eq!(
        a.outer(&NdArray::from([1.0f32, 10.0])).unwrap().shape()[..],
        [4, 2]
    );
    assert!(a.mmul(&m).is_err() && m.matmul(&NdArray::ones([3]).unwrap()).is_err());
    assert_eq!(
        NdArray::zeros([2, 0])
            .unwrap()
            .mmul(&NdArray::zeros([0, 3]).unwrap())
            .unwrap()
            .sum_number()
            .unwrap(),
        0.0
    );
}

#[test]
fn typed_views_split_where_memory_does() {
    let a = counted(&[4, 3]);
    let mut view = a.view_mut::<f32>().unwrap();
    assert!(
        view.split_at(1, 1).is_err(),
        "the columns of a C matrix interleave"
    );
    assert!(view.split_at(0, 5).is_err() && view.split_at(2, 0).is_err());
    let (mut top, mut bottom) = view.split_at(0, 3).unwrap();
    top[[0, 0]] = 100.0;
    bottom[[0, 2]] = 200.0;
    assert_eq!((top.shape()[0], bottom.shape()[0]), (3, 1));
    assert_eq!(bottom.as_mut_slice().unwrap(), [9.0, 10.0, 200.0]);
    let (_, empty) = view.split_at(0, 4).unwrap();
    assert_eq!(empty.iter().count(), 0);
    drop(view);
    let columns = a.transpose();
    let mut view = columns.view_mut::<f32>().unwrap();
    let (left, mut right) = view.split_at(1, 1).unwrap();
    assert_eq!(left[[0, 0]], 100.0);
    right.for_each(|value| *value = 0.0);
    drop(view);
    assert_eq!(
        values(&a),
        [100.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
    let flipped = a.flip(0).unwrap();
    let mut view = flipped.view_mut::<f32>().unwrap();
    let (mut first, mut second) = view.split_at(0, 1).unwrap();
    first[[0, 0]] = 1.0;
    second[[2, 0]] = 2.0;
    drop(view);
    assert_eq!(
        (a.get_f64([3, 0]).unwrap(), a.get_f64([0, 0]).unwrap()),
        (1.0, 2.0)
    );
    let view = a.view::<f32>().unwrap();
    let (left, right) = view.split_at(1, 1).unwrap();
    assert_eq!(left.iter().count() + right.iter().count(), 12);
    assert!(view.as_slice().is_some() && right.as_slice().is_none());
}

#[test]
fn scattering() {
    let a = NdArray::zeros([3, 2]).unwrap();
    let rows = NdArray::from([2i64, 0, 2]);
    a.scatter_addi(&rows, &NdArray::ones([3, 2]).unwrap(), 0)
        .unwrap();
    assert_eq!(values(&a), [1.0, 1.0, 0.0, 0.0, 2.0, 2.0]);
    a.scatter_put(
        &NdArray::from([1i32]),
        &NdArray::full([1, 2], 7).unwrap(),
        0,
    )
    .unwrap();
    assert_eq!(values(&a.row(1).unwrap()), [7.0, 7.0]);
    assert!(
        a.scatter_addi(&NdArray::from([5i64]), &NdArray::ones([1, 2]).unwrap(), 0)
            .is_err()
    );
}

#[test]
fn arrays_may_cross_threads() {
    let a = Rng::seeded(1).normal([100, 100], 0.0, 1.0).unwrap();
    let expected = a.sum_number().unwrap();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| assert_eq!(a.sum_number().unwrap(), expected));
        }
    });
}
