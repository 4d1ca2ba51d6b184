//! To and from the `ndarray` crate: the same elements in every layout, and the same memory where nothing is copied.
#![cfg(feature = "ndarray")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{ArrayErrorKind, DType, NdArray, Order, f16};
use ndarray::{Array, ArrayD, Axis, IxDyn, ShapeBuilder, s};
use support::counted;
use support::matrix::{all_shapes, layout_matrix, repeated};

#[test]
fn views_have_the_same_elements() {
    for shape in &all_shapes() {
        for (name, view, same) in repeated(DType::F32, shape).unwrap() {
            let view = view.view::<f32>().unwrap();
            let theirs = view.to_ndarray().unwrap();
            assert_eq!(theirs.shape(), *shape, "{name}");
            let elements: Vec<f32> = theirs.iter().copied().collect();
            assert_eq!(elements, same.to_vec::<f32>().unwrap(), "{name}");
        }
        for (name, array) in layout_matrix(&counted(shape)).unwrap() {
            let view = array.view::<f32>().unwrap();
            let theirs = view.to_ndarray().unwrap();
            assert_eq!(theirs.shape(), *shape, "{name}");
            assert_eq!(
                theirs.iter().copied().collect::<Vec<_>>(),
                array.to_vec::<f32>().unwrap(),
                "{name}"
            );
            if !array.is_empty() {
                assert_eq!(
                    theirs.strides(),
                    &array.strides()[..],
                    "{name}: nothing was copied"
                );
            }
            drop(view);
            let mut view = array.view_mut::<f32>().unwrap();
            view.to_ndarray_mut().unwrap().mapv_inplace(|x| x * 2.0);
            drop(view);
            assert_eq!(array, counted(shape).mul(2).unwrap(), "{shape:?} {name}");
            assert_eq!(
                array
                    .to_ndarray::<f32>()
                    .unwrap()
                    .into_raw_vec_and_offset()
                    .0,
                array.to_vec::<f32>().unwrap()
            );
        }
    }
    let row = NdArray::from([1i64, 2]).broadcast_to([3, 2]).unwrap();
    let view = row.view::<i64>().unwrap();
    assert_eq!(view.to_ndarray().unwrap().sum(), 9);
    let immense = NdArray::from([1u8])
        .broadcast_to([usize::MAX / 2, 1])
        .unwrap();
    let view = immense.view::<u8>().unwrap();
    assert!(view.to_ndarray().map_or_else(
        |e| matches!(e.kind(), ArrayErrorKind::Form { .. }),
        |v| v.len() == usize::MAX / 2
    ));
}

#[test]
fn a_view_keeps_its_guard() {
    let array = counted(&[2, 2]);
    let view = array.view::<f32>().unwrap();
    let theirs = view.to_ndarray().unwrap();
    assert!(array.addi(1).is_err(), "the elements are being read");
    assert_eq!(theirs[[1, 1]], 3.0);
    drop(view);
    array.addi(1).unwrap();
}

#[test]
fn owned_arrays_hand_over_their_memory() {
    let make = || Array::from_shape_fn((3, 4), |(i, j)| (i * 4 + j) as f64);
    let fortran = Array::from_shape_vec((3, 4).f(), (0..12).map(f64::from).collect()).unwrap();
    let cases: [(&str, ArrayD<f64>); 6] = [
        ("C", make().into_dyn()),
        ("F", fortran.into_dyn()),
        ("transposed", make().reversed_axes().into_dyn()),
        ("part", make().slice_move(s![1.., ..;2]).into_dyn()),
        ("reversed", make().slice_move(s![..;-1, ..;-2]).into_dyn()),
        ("no element", Array::zeros(IxDyn(&[2, 0, 3]))),
    ];
    for (name, theirs) in cases {
        let expected: Vec<f64> = theirs.iter().copied().collect();
        let (shape, place) = (theirs.shape().to_vec(), theirs.as_ptr());
        let ours = NdArray::from_ndarray(theirs).unwrap();
        assert_eq!(
            (&ours.shape()[..], ours.dtype()),
            (&shape[..], DType::F64),
            "{name}"
        );
        assert_eq!(ours.to_vec::<f64>().unwrap(), expected, "{name}");
        let view = ours.view::<f64>().unwrap();
        assert!(
            ours.is_empty() || view.to_ndarray().unwrap().as_ptr() == place,
            "{name}: the same memory"
        );
        drop(view);
        ours.addi(1).unwrap();
        assert_eq!(
            ours.sum_number().unwrap(),
            expected.iter().sum::<f64>() + expected.len() as f64,
            "{name}"
        );
    }
    let scalar = NdArray::from_ndarray(ndarray::arr0(7i32)).unwrap();
    assert_eq!((scalar.rank(), scalar.item::<i32>().unwrap()), (0, 7));
    let bytes = NdArray::from_ndarray(Array::from_vec(vec![1u8, 2, 3])).unwrap();
    assert_eq!(bytes.to_vec::<u8>().unwrap(), [1, 2, 3]);
}

#[test]
fn copies_take_every_element_type() {
    let halves = Array::from_shape_fn((2, 2), |(i, j)| f16::from_f32((i + 2 * j) as f32));
    let ours = NdArray::copy_ndarray(halves.t()).unwrap();
    assert_eq!(
        (ours.dtype(), ours.to_f64_vec().unwrap()),
        (DType::F16, vec![0.0, 1.0, 2.0, 3.0])
    );
    assert_eq!(ours.to_ndarray::<f16>().unwrap(), halves.t().into_dyn());
    let mask = NdArray::copy_ndarray(ndarray::array![[true, false]].view()).unwrap();
    assert_eq!(
        mask.to_ndarray::<bool>().unwrap(),
        ndarray::array![[true, false]].into_dyn()
    );
    let column = counted(&[3, 2]).dup_order(Order::F).unwrap();
    let theirs = column.to_ndarray::<f32>().unwrap();
    assert!(theirs.index_axis(Axis(1), 1).iter().eq(&[1.0, 3.0, 5.0]));
    assert!(matches!(
        column.to_ndarray::<f64>().unwrap_err().kind(),
        ArrayErrorKind::DTypeMismatch { .. }
    ));
}
