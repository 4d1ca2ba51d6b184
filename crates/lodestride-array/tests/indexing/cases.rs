//! ND4J's own cases for indexing and views (I) and tensors along dimensions (T), as tables. Where newer rules drop or keep
//! another axis than ND4J's old ones, the shape here is ours and the comment says so.

use lodestride_array::{
    Index, NdArray, NdIndexIterator, Order, Result, Shape, all, fancy, interval, interval_step,
    keep, new_axis, point, s,
};

use crate::report;
use crate::support::tables::{
    Case, changed, faults, in_every_layout, lin, list, of, packed_lin, table, upto,
};

fn check(cases: Vec<Case>) {
    report(cases.len(), &faults(cases));
}

#[test]
fn nd4js_parts_by_points_and_intervals() {
    in_every_layout(parts_by_points_and_intervals);
}

fn parts_by_points_and_intervals() {
    let (cube, square) = (lin(1, &[4, 2, 3]), lin(1, &[3, 3]));
    let line = lin(1, &[5]);
    let thirty = lin(0, &[30]);
    let pair = lin(1, &[3, 2]);
    check(table![
        "I1": lin(1, &[2, 5]).get(&[all(), interval(0, -2)]) => vec![2, 3], list(&[1, 2, 3, 6, 7, 8]);
        "I2": lin(0, &[3, 2, 2]).get(&[all(), all(), new_axis(), new_axis()]) => vec![3, 2, 1, 1, 2], upto(0, 12);
        "I3": lin(0, &[2, 2, 2]).get(&[interval(1, 2)]) => vec![1, 2, 2], upto(4, 8);
        "I4": cube.get(&[point(1), new_axis(), interval(0, 1)]) => vec![1, 1, 3], upto(7, 10);
        "I5": cube.get(&[point(1), new_axis(), all()]) => vec![1, 2, 3], upto(7, 13);
        "I6": cube.get(&[new_axis(), all(), point(1)]) => vec![1, 4, 3], [upto(4, 7), upto(10, 13), upto(16, 19), upto(22, 25)].concat();
        "I7": lin(1, &[4, 3, 3]).get(&[point(0), interval(1, 3), interval(1, 3)]) => vec![2, 2], list(&[5, 6, 8, 9]);
        "I11 inclusive 3": line.get(&s![1..=3;2]) => vec![2], list(&[2, 4]);
        "I11 inclusive 4": line.get(&s![1..=4;2]) => vec![2], list(&[2, 4]);
        "I11 exclusive 4": line.get(&[interval_step(1, 2, 4)]) => vec![2], list(&[2, 4]);
        "I11 from 2": line.get(&s![2..=4;2]) => vec![2], list(&[3, 5]);
        "I13": line.get(&[point(1)]) => vec![], list(&[2]);
        "I15 first": pair.get(&[interval(0, 1)]) => vec![1, 2], list(&[1, 2]);
        "I15 point": pair.get(&[point(1)]) => vec![2], list(&[3, 4]);
        "I15 rest": pair.get(&[interval(1, 3)]) => vec![2, 2], list(&[3, 4, 5, 6]);
        "I15 one": pair.get(&[interval(1, 2), interval(1, 2)]) => vec![1, 1], list(&[4]);
        "I18": lin(1, &[4, 4]).get(&s![..2,..2]).unwrap().mul(0.25) => vec![2, 2], vec![0.25, 0.5, 1.25, 1.5];
        "I25": lin(1, &[4, 3, 2]).get(&[all(), point(1), all()]) => vec![4, 2], list(&[3, 4, 9, 10, 15, 16, 21, 22]);
        "I27": thirty.get(&[interval(20, 30)]) => vec![10], upto(20, 30);
        "I30": lin(1, &[2, 2]).get(&[interval(1, 4)]) => vec![1, 2], list(&[3, 4]);
        // An interval beyond the axis is an error in ND4J, and empty here, as in NumPy.
        "I31": lin(1, &[2, 2]).get(&[interval(2, 4)]) => vec![0, 2], vec![];
        "I34": lin(0, &[8]).get(&[interval_step(3, 2, 6)]) => vec![2], list(&[3, 5]);
        "I34 inclusive": lin(0, &[8]).get(&s![0..=2]) => vec![3], upto(0, 3);
        "I34 step": lin(0, &[8]).get(&[interval_step(0, 2, 2)]) => vec![1], list(&[0]);
        // A slice drops its axis: ND4J's [5, 1] and [1, 7].
        "I39 column": NdArray::ones([5, 7]).unwrap().slice(0, 1) => vec![5], vec![1.0; 5];
        "I39 row": NdArray::ones([5, 7]).unwrap().slice(0, 0) => vec![7], vec![1.0; 7];
        "I40 first": lin(1, &[3, 5, 2]).swap_axes(2, 1).unwrap().slice(0, 0).unwrap().slice(0, 0) => vec![5], list(&[1, 3, 5, 7, 9]);
        "I40 second": lin(1, &[3, 5, 2]).swap_axes(2, 1).unwrap().slice(0, 0).unwrap().slice(1, 0) => vec![5], list(&[2, 4, 6, 8, 10]);
        "rows": square.get_rows([0, 1, 2, 0, 1, 2]) => vec![6, 3], [upto(1, 10), upto(1, 10)].concat();
    ]);
}

#[test]
fn nd4js_parts_by_lists() {
    in_every_layout(parts_by_lists);
}

fn parts_by_lists() {
    let (square, four) = (lin(1, &[3, 3]), lin(1, &[4, 4]));
    let (pair, hyper) = (lin(1, &[3, 2]), lin(1, &[2, 2, 2, 2]));
    let at = |rows: &[Vec<i64>]| {
        let flat: Vec<i64> = rows.concat();
        NdArray::from_vec(flat, [rows.len(), rows[0].len()])
            .unwrap()
            .transpose()
    };
    let upper = lin(1, &[4, 2, 3]);
    check(table![
        // A list of one position keeps its axis.
        "I8": upper.get_outer(&fancy![1..3, [0], [0, 2]]) => vec![2, 1, 2], list(&[7, 9, 13, 15]);
        "I9": four.get_outer(&fancy![.., [0, 2, 3]]) => vec![4, 3], list(&[1, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16]);
        "I9 fancy": four.get_fancy(&fancy![.., [0, 2, 3]]) => vec![4, 3], list(&[1, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16]);
        "I10": square.get_outer(&fancy![[1, 2], [0, 1]]) => vec![2, 2], list(&[4, 5, 7, 8]);
        "I16": square.get_rows([0, 1, 2, 0]) => vec![4, 3], [upto(1, 10), upto(1, 4)].concat();
        "I19": pair.gather_nd(&at(&[vec![0, 1, 2], vec![0, 1, 0]])) => vec![3], list(&[1, 4, 5]);
        "I20": hyper.gather_nd(&at(&[vec![0], vec![1]])) => vec![1, 2, 2], upto(5, 9);
        "I21": changed(hyper.dup().unwrap(), |a| { a.put_fancy(&fancy![[0], [0, 1]], 99).map(drop) }) => vec![2, 2, 2, 2], [vec![99.0; 8], upto(9, 17)].concat();
        "I22": hyper.gather_nd(&at(&[vec![0, 0]])) => vec![2, 2, 2, 2], [upto(1, 9), upto(1, 9)].concat();
        "I23": changed(hyper.dup().unwrap(), |a| { a.put_fancy(&fancy![[0], [1], [0], [0]], 99).map(drop) }).unwrap().get(&s![0, 1, 0, 0]) => vec![], vec![99.0];
        // A column: ND4J turns it into a row.
        "I29": square.get_outer(&fancy![[1, 2], 0..1]) => vec![2, 1], list(&[4, 7]);
    ]);
}

#[test]
fn nd4js_writes_through_views() {
    in_every_layout(writes_through_views);
}

fn writes_through_views() {
    let two = || lin(1, &[2, 2]);
    let three = lin(1, &[2, 3]);
    let window = three.get(&s![.., 0..2]).unwrap();
    check(table![
        "I14": changed(NdArray::zeros([10, 10, 10]).unwrap(), |a| { a.set([0, 0, -1], 1).map(drop) }).unwrap().get(&s![0, 0, 8..]) => vec![2], list(&[0, 1]);
        "I24": window.addi(2).cloned() => vec![2, 2], list(&[3, 4, 6, 7]);
        "I24 parent": Ok(three.clone()) => vec![2, 3], list(&[3, 4, 3, 6, 7, 6]);
        "I33": changed(NdArray::zeros([1, 4]).unwrap(), |a| { a.put(&s![0, 1..=2], &NdArray::ones([2])?).map(drop) }) => vec![1, 4], list(&[0, 1, 1, 0]);
        "I36": changed(NdArray::zeros([3, 3]).unwrap(), |a| { a.put(&[interval_step(0, 2, 3), all()], 1).map(drop) }) => vec![3, 3], list(&[1, 1, 1, 0, 0, 0, 1, 1, 1]);
        "I37": changed(two(), |a|a.row(1)?.addi(1).map(drop)) => vec![2, 2], list(&[1, 2, 4, 5]);
        "I38": changed(two(), |a| { a.row(0)?.subi(&of([5.0f32, 6.0])).map(drop) }).unwrap().row(0) => vec![2], list(&[-4, -4]);
    ]);
    // I12: the offset of an element; one beyond the array has none.
    let offset = |shape: [usize; 2], at: [isize; 2]| {
        let view = packed_lin(0, &shape).get(&[point(at[0]), point(at[1])]);
        view.map(|view| view.layout().offset()).ok()
    };
    assert_eq!(
        [
            offset([2, 2], [1, 1]),
            offset([3, 2], [1, 1]),
            offset([3, 2], [2, 2])
        ],
        [Some(3), Some(3), None]
    );
    // I17: a row is a vector, whatever the matrix; a range keeps the axis.
    let (row, column) = (lin(1, &[1, 5]), lin(1, &[5, 1]));
    let shapes = [
        row.row(0).unwrap(),
        row.get(&s![0..1]).unwrap(),
        column.column(0).unwrap(),
        column.get(&s![.., 0..1]).unwrap(),
    ];
    assert_eq!(
        shapes.map(|part| part.shape().to_vec()),
        [vec![5], vec![1, 5], vec![5], vec![5, 1]]
    );
    // I25, I26: the strides of views.
    assert_eq!(
        packed_lin(1, &[4, 3, 2])
            .get(&[all(), point(1), all()])
            .unwrap()
            .strides()[..],
        [6, 1]
    );
    let padded = NdArray::zeros([1, 1, 9, 9]).unwrap();
    let part = padded
        .get(&[all(), all(), interval_step(0, 2, 8), interval_step(0, 2, 8)])
        .unwrap();
    assert_eq!(
        (&part.shape()[..], &part.strides()[..]),
        (&[1, 1, 4, 4][..], &[81, 81, 18, 2][..])
    );
    // I31, I32.
    assert!(lin(1, &[1, 2]).get(&[point(1)]).is_err() && lin(1, &[2, 4]).set([0, 4], 1).is_err());
}

#[test]
fn points_and_ranges_compose() {
    in_every_layout(points_and_ranges_compose_in_a_layout);
}

fn points_and_ranges_compose_in_a_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    let cube = lin(1, &[5, 5, 5]);
    for at in NdIndexIterator::new(&Shape::from([5, 5, 5]), Order::C) {
        let [s, i, j] = [0, 1, 2].map(|axis| at[axis] as isize);
        checked += 1;
        // I28.
        let one_by_one = cube.get(&[point(s)]).unwrap().get(&s![i.., j..]).unwrap();
        if one_by_one != cube.get(&s![s, i.., j..]).unwrap() {
            failed.push(format!("I28 at {at}"));
        }
    }
    for x in 0..4isize {
        checked += 1;
        // I35: a range of one position is a point with its axis, and a tensor along the others.
        let a = lin(1, &[3, 2, 4]);
        let range = a.get(&s![.., .., x..x + 1]).unwrap();
        let same = range.shape()[..] == [3, 2, 1]
            && range.squeeze(2).unwrap() == a.get(&s![.., .., x]).unwrap()
            && range.squeeze(2).unwrap() == a.tensor_along_dimension(x as usize, [1, 0]).unwrap();
        if !same {
            failed.push(format!("I35 at {x}"));
        }
    }
    report(checked, &failed);
    let none: [Index; 0] = [];
    assert_eq!(cube.get(&none).unwrap(), cube);
}

/// All tensors of an array along some dimensions, one below the other.
fn tensors(array: &NdArray, dims: &[isize]) -> Result<NdArray> {
    let parts: Vec<NdArray> = (0..array.tensors_along_dimension(dims)?)
        .map(|i| array.tensor_along_dimension(i, dims))
        .collect::<Result<_>>()?;
    NdArray::stack(&parts.iter().collect::<Vec<_>>(), 0)
}

#[test]
fn nd4js_tensors_along_dimensions() {
    in_every_layout(tensors_along_dimensions);
}

fn tensors_along_dimensions() {
    let figure = of([[1.0f32, 9.0, 5.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]]);
    let known: Vec<f32> = (0..2)
        .flat_map(|i| (0..3).flat_map(move |j| (0..4).map(move |k| (100 * i + 10 * j + k) as f32)))
        .collect();
    let known = NdArray::from_vec(known, [2, 3, 4]).unwrap();
    let part = |i: usize, dims: [isize; 2]| known.tensor_along_dimension(i, dims);
    let sixteen = lin(1, &[2, 2, 2, 2]);
    let (f_sixteen, f_eight) = (
        lin(1, &[2, 2, 2, 2]).transpose(),
        lin(1, &[2, 2, 2]).transpose(),
    );
    check(table![
        "T1 along 0": tensors(&figure, &[0]) => vec![3, 3], list(&[1, 5, 2, 9, 3, 3, 5, 5, 6]);
        "T1 along 1": tensors(&figure, &[1]) => vec![3, 3], list(&[1, 9, 5, 5, 3, 5, 2, 3, 6]);
        "T2": part(0, [0, 1]) => vec![2, 3], list(&[0, 10, 20, 100, 110, 120]);
        "T2 turned": part(0, [1, 0]) => vec![2, 3], list(&[0, 10, 20, 100, 110, 120]);
        "T3": part(1, [0, 1]) => vec![2, 3], list(&[1, 11, 21, 101, 111, 121]);
        "T4": part(0, [0, 2]) => vec![2, 4], list(&[0, 1, 2, 3, 100, 101, 102, 103]);
        "T4 turned": part(1, [2, 0]) => vec![2, 4], list(&[10, 11, 12, 13, 110, 111, 112, 113]);
        "T5": part(1, [1, 2]) => vec![3, 4], [upto(100, 104), upto(110, 114), upto(120, 124)].concat();
        "T6 row": lin(1, &[1, 5]).tensor_along_dimension(0, keep(1)) => vec![1, 5], upto(1, 6);
        "T9": tensors(&sixteen, &[0, 1]) => vec![4, 2, 2], list(&[1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16]);
        "T10": tensors(&sixteen, &[2]) => vec![8, 2], list(&[1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16]);
        "T11": tensors(&sixteen, &[1]) => vec![8, 2], list(&[1, 5, 2, 6, 3, 7, 4, 8, 9, 13, 10, 14, 11, 15, 12, 16]);
        "T12": tensors(&lin(1, &[3, 2, 2]), &[1]) => vec![6, 2], list(&[1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12]);
        "T13": tensors(&lin(1, &[3, 2, 2]), &[2]) => vec![6, 2], upto(1, 13);
        "T14": tensors(&lin(1, &[2, 2, 2]), &[0, 1]) => vec![2, 2, 2], list(&[1, 3, 5, 7, 2, 4, 6, 8]);
        "T15": tensors(&f_sixteen, &[1]) => vec![8, 2], list(&[1, 3, 9, 11, 5, 7, 13, 15, 2, 4, 10, 12, 6, 8, 14, 16]);
        "T16": tensors(&f_eight, &[0, 1]) => vec![2, 2, 2], list(&[1, 3, 2, 4, 5, 7, 6, 8]);
        "T17": lin(0, &[4, 3, 1, 1]).tensor_along_dimension(0, [0, 2, 3]) => vec![4, 1, 1], list(&[0, 3, 6, 9]);
        "T18 row": changed(lin(0, &[1, 10]), |a| { a.tensor_along_dimension(2, 0)?.assign(5).map(drop) }).unwrap().get(&s![0, 1..4]) => vec![3], list(&[1, 5, 3]);
        "T18 column": changed(lin(0, &[10, 1]), |a| { a.tensor_along_dimension(2, 1)?.assign(5).map(drop) }).unwrap().get(&s![1..4, 0]) => vec![3], list(&[1, 5, 3]);
        "T21 along 2": lin(1, &[4, 3, 2]).tensor_along_dimension(1, 2) => vec![2], list(&[3, 4]);
        "T21 along 1": tensors(&lin(1, &[4, 3, 2]), &[1]).unwrap().get(&s![..3]) => vec![3, 3], list(&[1, 3, 5, 2, 4, 6, 7, 9, 11]);
    ]);
}

/// T6 to T8 and T20.
#[test]
fn counts_and_shapes_of_tensors_in_both_orders() {
    let (mut checked, mut failed) = (0, Vec::new());
    type Counts = (&'static [usize], &'static [isize], usize, &'static [usize]);
    let cases: &[Counts] = &[
        (&[1, 5], &[1], 1, &[5]),
        (&[5, 1], &[0], 1, &[5]),
        (&[3, 4], &[0], 4, &[3]),
        (&[3, 4], &[1], 3, &[4]),
        (&[3, 4, 5], &[0], 20, &[3]),
        (&[3, 4, 5], &[1], 15, &[4]),
        (&[3, 4, 5], &[2], 12, &[5]),
        (&[3, 4, 5, 6], &[0, 1], 30, &[3, 4]),
        (&[3, 4, 5, 6], &[0, 2], 24, &[3, 5]),
        (&[3, 4, 5, 6], &[0, 3], 20, &[3, 6]),
        (&[3, 4, 5, 6], &[1, 2], 18, &[4, 5]),
        (&[3, 4, 5, 6], &[1, 3], 15, &[4, 6]),
        (&[3, 4, 5, 6], &[2, 3], 12, &[5, 6]),
        (&[4, 3, 1, 1], &[0, 2, 3], 3, &[4, 1, 1]),
        (&[3, 5, 7, 9], &[0, 1, 2], 9, &[3, 5, 7]),
        (&[3, 5, 7, 9], &[1, 3], 21, &[5, 9]),
        (&[9, 7, 5, 3], &[0, 2, 3], 7, &[9, 5, 3]),
    ];
    for (shape, dims, count, part) in cases {
        for (layout, view) in crate::support::matrix::layout_matrix(&lin(0, shape)).unwrap() {
            checked += 1;
            let counted = view.tensors_along_dimension(*dims).unwrap() == *count;
            let first = view.tensor_along_dimension(0, *dims).unwrap();
            let same = (0..*count).all(|i| {
                view.tensor_along_dimension(i, *dims).unwrap()
                    == lin(0, shape).tensor_along_dimension(i, *dims).unwrap()
            });
            if !counted || first.shape()[..] != **part || !same {
                failed.push(format!("{shape:?} along {dims:?}, {layout}"));
            }
        }
    }
    // T19: a permuted tensor is the same in both orders of its parent.
    for order in [Order::C, Order::F] {
        let tensor = lin(1, &[1, 5, 1])
            .dup_order(order)
            .unwrap()
            .tensor_along_dimension(0, [1, 2])
            .unwrap();
        let turned = tensor.permute([1, 0]).unwrap();
        checked += 1;
        if turned.shape()[..] != [1, 5] || turned.to_f64_vec().unwrap() != upto(1, 6) {
            failed.push(format!("T19 in {order:?}"));
        }
    }
    report(checked, &failed);
}
