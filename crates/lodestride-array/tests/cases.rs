//! Small behaviours that users of ND4J and NumPy ask about, each once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{ArrayErrorKind, Buffer, DType, Layout, NdArray, Order, Rng, interval, s};
use support::counted;
use support::tables::{in_every_layout, lin, of};

fn values(array: &NdArray) -> Vec<f64> {
    array.to_f64_vec().unwrap()
}

#[test]
fn dup_sets_the_order() {
    let a = counted(&[2, 3]);
    let f = a.dup_order(Order::F).unwrap();
    assert_eq!(
        (a.order(), f.order(), f.dup().unwrap().order()),
        (Some(Order::C), Some(Order::F), Some(Order::F))
    );
    assert_eq!(f, a);
    assert_eq!(a.get(&s![.., 1..]).unwrap().order(), None);
    assert_eq!(a.get(&s![.., 1..]).unwrap().layout().offset(), 1);
}

#[test]
fn concat_of_one_array_is_a_copy_and_of_none_an_error() {
    let a = counted(&[2, 2]);
    let one = NdArray::concat(&[&a], 0).unwrap();
    assert!(one == a && !one.shares_memory(&a));
    assert!(matches!(
        NdArray::concat(&[], 0).unwrap_err().kind(),
        ArrayErrorKind::Empty { .. }
    ));
    assert!(matches!(
        NdArray::stack(&[], 0).unwrap_err().kind(),
        ArrayErrorKind::Empty { .. }
    ));
    assert!(NdArray::vstack(&[]).is_err() && NdArray::hstack(&[]).is_err());
}

#[test]
fn slices_count_from_the_end_and_drop_their_axis() {
    in_every_layout(slices_count_from_the_end_and_drop_their_axis_in_a_layout);
}

fn slices_count_from_the_end_and_drop_their_axis_in_a_layout() {
    let a = lin(0, &[2, 3, 4]);
    assert_eq!(a.slice(-1, 0).unwrap(), a.slice(1, 0).unwrap());
    assert_eq!(a.slice(-1, -1).unwrap().shape()[..], [2, 3]);
    assert_eq!(a.unstack(0).unwrap().len(), a.size(0).unwrap());
    let element = lin(0, &[4]).slice(2, 0).unwrap();
    assert!(element.is_scalar() && element.item::<f32>().unwrap() == 2.0);
    a.put_slice(0, 1, &NdArray::zeros([2, 4]).unwrap()).unwrap();
    assert_eq!(a.slice(0, 1).unwrap().sum_number().unwrap(), 0.0);
    a.put_slice(-1, 2, 9).unwrap();
    assert_eq!(a.get_f64([1, 2, 3]).unwrap(), 9.0);
    assert!(a.slice(2, 0).is_err() && a.slice(-3, 0).is_err());
}

#[test]
fn ties_and_nan_decide_positions_as_in_numpy() {
    in_every_layout(ties_and_nan_decide_positions_as_in_numpy_in_a_layout);
}

fn ties_and_nan_decide_positions_as_in_numpy_in_a_layout() {
    assert_eq!(NdArray::ones([10]).unwrap().argmax_number().unwrap(), 0);
    assert_eq!(values(&of([3.0f32, 1.0, 1.0]).argmin(0).unwrap()), [1.0]);
    let nan = of([1.0f32, f32::NAN, 9.0, f32::NAN]);
    assert_eq!(
        (nan.argmax_number().unwrap(), nan.argmin_number().unwrap()),
        (1, 1)
    );
    let signed = of([-0.24f32, -0.26, -0.07, -0.01]);
    assert_eq!(values(&signed.arg_abs_min(0).unwrap()), [3.0]);
    assert_eq!(signed.argmax(0).unwrap().dtype(), DType::I64);
    assert!(NdArray::zeros([0]).unwrap().argmax_number().is_err());
}

#[test]
fn permuting_never_copies() {
    let a = counted(&[2, 3]);
    let same = a.permute([0, 1]).unwrap();
    assert!(same.shares_memory(&a) && same == a);
    let shuffled = a.permute([1, 0]).unwrap().expand_dims(1).unwrap();
    assert_eq!(shuffled.shape()[..], [3, 1, 2]);
    assert_eq!(
        counted(&[2, 3, 4]).move_axis(2, 0).unwrap().shape()[..],
        [4, 2, 3]
    );
    assert!(a.permute([0]).is_err() && a.permute([0, 2]).is_err());
}

#[test]
fn equality_is_of_shape_dtype_and_elements() {
    let a = NdArray::from([1.0f32, 2.0]);
    assert_ne!(a, a.expand_dims(0).unwrap());
    assert_ne!(a, a.cast(DType::F64).unwrap());
    let nan = NdArray::from([f32::NAN]);
    assert_ne!(nan, nan);
    assert!(!nan.equal(&nan).unwrap().any_true().unwrap());
    assert!(!nan.all_close(&nan, 1.0, 1.0).unwrap());
    let infinite = NdArray::from([f32::INFINITY]);
    assert!(infinite.all_close(&infinite, 0.0, 0.0).unwrap());
    assert!(
        a.all_close(&NdArray::from([1.000_01f32, 2.0]), 0.0, 1e-4)
            .unwrap()
    );
}

#[test]
fn arrays_over_existing_buffers() {
    let buffer = Buffer::from_vec(vec![0i32, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let layout = Layout::new([2, 3], [4, 1], 1).unwrap();
    let a = NdArray::from_buffer(buffer.clone(), layout, DType::I32).unwrap();
    assert_eq!(a, NdArray::from([[1i32, 2, 3], [5, 6, 7]]));
    assert!(a.is_view());
    a.assign(0).unwrap();
    assert_eq!(
        buffer.read().unwrap().slice::<i32>(),
        [0, 0, 0, 0, 4, 0, 0, 0]
    );
    let beyond = Layout::new([3, 3], [4, 1], 0).unwrap();
    assert!(NdArray::from_buffer(buffer, beyond, DType::I32).is_err());
}

#[test]
fn casts_are_numpys() {
    in_every_layout(casts_are_numpys_in_a_layout);
}

fn casts_are_numpys_in_a_layout() {
    let a = of([-1.9f64, 0.0, 300.7]);
    assert_eq!(a.cast(DType::I64).unwrap(), of([-1i64, 0, 300]));
    assert_eq!(a.cast(DType::Bool).unwrap(), of([true, false, true]));
    assert_eq!(of([300i32, -1]).cast(DType::U8).unwrap(), of([44u8, 255]));
    assert!(
        a.cast(DType::F64).unwrap().shares_memory(&a),
        "the same dtype is an alias"
    );
    let ints = of([1i32, 2, 3]);
    ints.assign(&a).unwrap();
    assert_eq!(ints, of([-1i32, 0, 300]));
}

#[test]
fn integers_compute_as_in_numpy() {
    in_every_layout(integers_compute_as_in_numpy_in_a_layout);
}

fn integers_compute_as_in_numpy_in_a_layout() {
    assert_eq!(of([4i32]).sqrt().unwrap(), of([2.0f64]));
    assert_eq!(of([250u8]).add(10).unwrap(), of([4u8]));
    assert_eq!(of([7i32, -7]).floor_div(2).unwrap(), of([3i32, -4]));
    assert_eq!(of([7i32, -7]).modulo(3).unwrap(), of([1i32, 2]));
    assert_eq!(of([7i32, -7]).fmod(3).unwrap(), of([1i32, -1]));
    assert_eq!(
        of([true, false]).mean(0).unwrap(),
        NdArray::scalar(0.5f64).unwrap()
    );
    assert_eq!(of([5i32]).mean(0).unwrap().dtype(), DType::F64);
    assert!(of([5i32]).sqrti().is_err() && of([1.5f32]).bit_and(1).is_err());
    let error = of([1u8]).add(300).unwrap_err();
    assert!(error.to_string().contains("300"), "{error}");
}

#[test]
fn one_array_may_grow_into_a_larger_one() {
    let store = NdArray::zeros([8]).unwrap();
    let part = store.get(&[interval(0, 3)]).unwrap();
    part.assign(1).unwrap();
    let more = store.get(&[interval(0, 5)]).unwrap();
    assert_eq!(values(&more), [1.0, 1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn random_draws() {
    let mut rng = Rng::seeded(5);
    let coin = rng.bernoulli([1000], 0.25).unwrap();
    let heads = coin.count_nonzero_number().unwrap();
    assert!(
        coin.dtype() == DType::Bool && (150.0..350.0).contains(&heads),
        "{heads}"
    );
    let dice = rng.integers([1000], 1, 7).unwrap();
    assert_eq!(
        (dice.min_number().unwrap(), dice.max_number().unwrap()),
        (1.0, 6.0)
    );
    assert!(rng.uniform([3], 1.0, 0.0).is_err() && rng.bernoulli([3], 1.5).is_err());
    let filled = NdArray::zeros_of(DType::F64, [4, 4]).unwrap();
    rng.fill_normal(&filled.transpose(), 0.0, 1.0).unwrap();
    assert!(filled.all_true().unwrap());
    assert!(rng.fill_uniform(&NdArray::from([1i32]), 0.0, 1.0).is_err());
}

#[test]
fn ops_can_be_chosen_at_run_time() {
    in_every_layout(ops_can_be_chosen_at_run_time_in_a_layout);
}

fn ops_can_be_chosen_at_run_time_in_a_layout() {
    use lodestride_array::kernels::{BinaryOp, UnaryOp};
    let a = of([0.5f32, -1.0]);
    assert_eq!(a.apply(UnaryOp::Abs).unwrap(), a.abs().unwrap());
    assert_eq!(a.apply_with(BinaryOp::Pow, 2).unwrap(), a.pow(2).unwrap());
    a.applyi(UnaryOp::Neg)
        .unwrap()
        .apply_withi(BinaryOp::Add, 1)
        .unwrap();
    assert_eq!(a, of([0.5f32, 2.0]));
    assert!(
        a.applyi(UnaryOp::IsNan).is_ok(),
        "a truth value fits a float"
    );
}

#[test]
fn absurd_sizes_are_errors() {
    assert!(NdArray::zeros([usize::MAX / 2]).is_err());
    let broadcast = NdArray::ones([1])
        .unwrap()
        .broadcast_to([1 << 40, 1 << 20])
        .unwrap();
    let kind = |error: lodestride_array::ArrayError| {
        matches!(error.kind(), ArrayErrorKind::Allocation { .. })
    };
    assert!(broadcast.to_vec::<f32>().is_err_and(kind));
    assert!(broadcast.to_bytes().is_err_and(kind));
    assert!(broadcast.dup().is_err() && broadcast.add(1).is_err());
    assert_eq!(broadcast.get_f64([7, 9]).unwrap(), 1.0);
    assert!(broadcast.to_string().contains("..."));
}
