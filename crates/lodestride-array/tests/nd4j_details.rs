//! Small points of ND4J's behaviour that docs/parity.csv lists one by one and that no other test states.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_array::kernels::{
    BinaryOp, Thresholds, UnaryOp, set_threads, set_thresholds, threads, thresholds,
};
use lodestride_array::{
    DType, NdArray, Order, Rng, Workspace, all, open_workspaces, point, s, scope_out,
};

fn values(array: &NdArray) -> Vec<f64> {
    array.to_f64_vec().unwrap()
}

/// 0, 1, 2, .. in rows.
fn counted(rows: usize, columns: usize) -> NdArray {
    let length = (rows * columns) as i64;
    NdArray::arange(0, length, 1)
        .unwrap()
        .reshape([rows as isize, columns as isize])
        .unwrap()
}

#[test]
fn orders_and_layouts() {
    let a = counted(2, 3);
    let f = a.dup_order(Order::F).unwrap();
    assert_eq!((f.order(), &f.strides()[..]), (Some(Order::F), &[1, 2][..]));
    assert_eq!((a.order(), &a.strides()[..]), (Some(Order::C), &[3, 1][..]));
    assert_eq!(a.get(&s![1, 1..]).unwrap().layout().offset(), 4);
    assert_eq!(
        f.dup().unwrap().order(),
        Some(Order::F),
        "a copy keeps the order"
    );
    let same = a.permute([0, 1]).unwrap();
    assert!(same.shares_memory(&a) && same == a);
    let rolled = NdArray::zeros([2, 3, 4]).unwrap().move_axis(2, 0).unwrap();
    assert_eq!(rolled.shape()[..], [4, 2, 3]);
    let shuffled = a.permute([1, 0]).unwrap().expand_dims(1).unwrap();
    assert_eq!(
        (&shuffled.shape()[..], shuffled.shares_memory(&a)),
        (&[3, 1, 2][..], true)
    );
    let ones = NdArray::zeros([1, 1, 3, 1]).unwrap();
    assert_eq!(
        ones.shape().iter().take_while(|&&size| size == 1).count(),
        2
    );
    let wanted = [-1, 2];
    assert_eq!(a.reshape(wanted).unwrap().shape()[..], [3, 2]);
    assert_eq!(wanted, [-1, 2], "arguments are only read");
}

#[test]
fn views_over_an_existing_buffer() {
    let a = counted(3, 4);
    let every_second = a.get(&s![.., 0..;2]).unwrap();
    let again = NdArray::from_buffer(
        a.buffer().clone(),
        every_second.layout().clone(),
        DType::F32,
    )
    .unwrap();
    again.addi(100.0).unwrap();
    assert_eq!(values(&a.row(0).unwrap()), [100.0, 1.0, 102.0, 3.0]);
    assert!(
        NdArray::from_buffer(a.buffer().clone(), a.layout().clone(), DType::F64).is_err(),
        "twelve f64 do not fit into the bytes of twelve f32"
    );
}

#[test]
fn rows_and_slices() {
    let row = counted(1, 5);
    assert_eq!(row.row(0).unwrap().shape()[..], [5]);
    assert!(row.row(1).is_err());
    let vector = NdArray::from([1.0f32, 2.0, 3.0]);
    let last = vector.slice(-1, 0).unwrap();
    assert_eq!((last.rank(), last.item::<f32>().unwrap()), (0, 3.0));
    last.addi(1).unwrap();
    assert_eq!(
        values(&vector),
        [1.0, 2.0, 4.0],
        "a slice of a vector is a view"
    );
    let a = counted(2, 2);
    assert_eq!(a.size(0).unwrap(), 2, "the number of slices");
    a.put_slice(1, 1, 9).unwrap();
    assert_eq!(values(&a), [0.0, 9.0, 2.0, 9.0]);
    assert_eq!(a.get(&[all(), point(-1)]).unwrap(), a.column(1).unwrap());
    let cells = a.take(&NdArray::from([1i64, 0, 1]), 0).unwrap();
    assert_eq!(values(&cells), [2.0, 9.0, 0.0, 9.0, 2.0, 9.0]);
}

#[test]
fn joining_few_and_growing() {
    assert!(NdArray::concat(&[], 0).is_err());
    let a = counted(2, 2);
    let alone = NdArray::concat(&[&a], 0).unwrap();
    assert!(
        alone == a && !alone.shares_memory(&a),
        "one input is copied too"
    );
    let ones = NdArray::ones([2, 1]).unwrap();
    assert_eq!(
        values(&NdArray::hstack(&[&a, &ones]).unwrap()),
        [0.0, 1.0, 1.0, 2.0, 3.0, 1.0]
    );
    let appended = a.pad([[0, 0], [0, 2]], -1).unwrap();
    assert_eq!(
        values(&appended),
        [0.0, 1.0, -1.0, -1.0, 2.0, 3.0, -1.0, -1.0]
    );
    assert_eq!(
        values(&NdArray::arange(-2, 2, 1).unwrap()),
        [-2.0, -1.0, 0.0, 1.0]
    );
}

#[test]
fn equality_and_extremes() {
    let row = NdArray::from([[1.0f32, 2.0]]);
    assert!(row != NdArray::from([[1.0f32], [2.0]]) && row != NdArray::from([1.0f32, 2.0]));
    let nan = NdArray::from([f32::NAN]);
    assert!(nan != nan, "NaN equals nothing");
    assert!(!nan.equal(&nan).unwrap().any_true().unwrap());
    let ties = NdArray::from([1.0f32, 3.0, 3.0, -3.0]);
    assert_eq!(
        (ties.argmax_number().unwrap(), ties.argmin_number().unwrap()),
        (1, 3)
    );
    assert_eq!(values(&ties.arg_abs_min(..).unwrap()), [0.0]);
    assert_eq!(
        values(&NdArray::ones([10]).unwrap().argmax(0).unwrap()),
        [0.0]
    );
    let mixed = NdArray::from([1.0f32, f32::NAN, 9.0, f32::NAN]);
    assert_eq!(
        (
            mixed.argmax_number().unwrap(),
            mixed.argmin_number().unwrap()
        ),
        (1, 1)
    );
}

#[test]
fn dtypes_of_results() {
    let integers = NdArray::from([1i32, 2]);
    assert_eq!(integers.exp().unwrap().dtype(), DType::F64);
    assert_eq!(integers.mean(..).unwrap().dtype(), DType::F64);
    assert_eq!(integers.mean_number().unwrap(), 1.5);
    assert!(NdArray::from([true]).bit_not().is_ok());
    assert!(
        NdArray::from([1.5f32]).bit_not().is_err(),
        "floats have no bits to speak of"
    );
}

#[test]
fn compositions_that_nd4j_has_names_for() {
    let a = NdArray::from([-4.0f32, -1.0, 0.0, 8.0]);
    assert_eq!(
        values(&a.abs().unwrap().less(2).unwrap()),
        [0.0, 1.0, 1.0, 0.0]
    );
    assert_eq!(
        values(&a.mul(&a.greater(0).unwrap()).unwrap()),
        [0.0, 0.0, 0.0, 8.0]
    );
    assert_eq!(a.count_nonzero_number().unwrap() / a.len() as f64, 0.75);
    assert_eq!(values(&a.relu().unwrap()), [0.0, 0.0, 0.0, 8.0]);
    assert_eq!(values(&a.relu6().unwrap()), [0.0, 0.0, 0.0, 6.0]);
    assert_eq!(values(&a.hard_tanh().unwrap()), [-1.0, -1.0, 0.0, 1.0]);
    assert_eq!(values(&a.one_minus().unwrap()), [5.0, 2.0, 1.0, -7.0]);
    assert_eq!(values(&a.step().unwrap()), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(values(&a.clip(-2, 2).unwrap()), [-2.0, -1.0, 0.0, 2.0]);
    let base_two = NdArray::from([8.0f64])
        .log()
        .unwrap()
        .div(2f64.ln())
        .unwrap();
    assert!((base_two.item::<f64>().unwrap() - 3.0).abs() < 1e-15);
    assert!(a.elu().is_ok() && a.selu().is_ok());
}

#[test]
fn ops_have_names() {
    for &op in UnaryOp::ALL {
        assert_eq!(UnaryOp::from_name(op.name()), Some(op));
    }
    for &op in BinaryOp::ALL {
        assert_eq!(BinaryOp::from_name(op.name()), Some(op));
    }
    assert_eq!(UnaryOp::from_name("tanh"), Some(UnaryOp::Tanh));
    assert_eq!(UnaryOp::from_name("no such op"), None);
}

#[test]
fn random_numbers_do_not_depend_on_threads() {
    let drawn = || {
        let mut rng = Rng::seeded(7);
        let shape = [300, 1000];
        let arrays = [
            rng.uniform(shape, -1.0, 1.0),
            rng.normal(shape, 2.0, 3.0),
            rng.bernoulli(shape, 0.3),
        ];
        arrays.map(|array| array.unwrap().to_bytes().unwrap())
    };
    set_thresholds(Thresholds {
        light_bytes: 1 << 14,
        heavy_bytes: 1 << 14,
        ..thresholds()
    });
    let many = drawn();
    let before = threads();
    set_threads(1);
    let one = drawn();
    set_threads(0);
    assert!(many == one, "with {before} threads and with one");
    let whole = Rng::seeded(7).integers([1000], -3, 3).unwrap();
    assert!(
        (-3.0..3.0).contains(&whole.min_number().unwrap()) && whole.max_number().unwrap() < 3.0
    );
    let mut order = Rng::seeded(1).permutation(50);
    order.sort_unstable();
    assert!(order.into_iter().eq(0..50));
}

#[test]
fn arrays_move_between_workspaces() {
    let (outer, inner) = (Workspace::new("EXTERNAL"), Workspace::new("INTERNAL"));
    let heap = counted(1, 3);
    assert!(
        heap.detach().unwrap().shares_memory(&heap),
        "on the heap already"
    );
    let kept = outer
        .scope(|outer| {
            let (up, to, moved) = inner
                .scope(|_| {
                    let a = counted(1, 5);
                    let up = a.leverage().unwrap();
                    assert!(up.is_attached() && !up.shares_memory(&a));
                    assert!(up.leverage().unwrap().shares_memory(&up), "there already");
                    let to = a.leverage_to(outer).unwrap();
                    assert!(heap.leverage_to(outer).unwrap().shares_memory(&heap));
                    let detached = a.leverage_or_detach(&Workspace::new("closed")).unwrap();
                    assert!(!detached.is_attached());
                    let outside = scope_out(|| counted(1, 2));
                    assert!(!outside.is_attached() && outside.is_in_scope());
                    assert!(outside.migrate().unwrap().is_attached());
                    assert_eq!(open_workspaces().len(), 2);
                    (up, to, a.migrate().unwrap())
                })
                .unwrap();
            assert!(
                !moved.is_in_scope(),
                "it was moved into the inner workspace, which is closed"
            );
            inner.scope(|_| counted(10, 10)).unwrap();
            assert_eq!(
                (up.sum_number().unwrap(), to.sum_number().unwrap()),
                (10.0, 10.0)
            );
            assert!(outer.is_open() && !inner.is_open());
            up.detach().unwrap()
        })
        .unwrap();
    assert_eq!(kept.sum_number().unwrap(), 10.0);
    assert!(open_workspaces().is_empty());
}
