//! ND4J's own cases for broadcasting (C), index reductions and sorting (X), creation, shape, reductions and validation (O), as
//! tables. Where newer rules drop or keep another axis than ND4J's old ones, the shape here is ours and the comment says so.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{
    DType, Distance, GridAxes, NdArray, NdIndexIterator, Order, QuantileMethod, Result, Rng, Shape,
    Sorting, broadcast_shapes, keep, s,
};
use support::tables::{
    Case, arranged, changed, faults, in_every_layout, lin, list, of, packed_lin, table, upto,
};

fn check(cases: Vec<Case>) {
    let failed = faults(cases);
    assert!(
        failed.is_empty(),
        "{} failures:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

fn row(values: &[f32]) -> NdArray {
    arranged(NdArray::from_vec(values.to_vec(), [values.len()]).unwrap())
}

/// Eight numbers and their negatives: ND4J's matrix of the broadcast cases.
fn both_signs() -> NdArray {
    let up = lin(1, &[1, 8]);
    NdArray::vstack(&[&up, &up.neg().unwrap()]).unwrap()
}

#[test]
fn nd4js_broadcast_shapes() {
    in_every_layout(shapes_of_broadcasts);
}

fn shapes_of_broadcasts() {
    let cases: [(&[usize], &[usize], &[usize]); 7] = [
        (&[3, 1], &[1, 4], &[3, 4]),
        (&[3, 4, 1], &[1, 1, 5], &[3, 4, 5]),
        (&[3, 1, 5], &[1, 4, 1], &[3, 4, 5]),
        (&[3, 1, 1, 1], &[1, 4, 5, 6], &[3, 4, 5, 6]),
        (&[1, 6], &[3, 4, 5, 1], &[3, 4, 5, 6]),
        (&[2, 1, 2, 1], &[2, 1, 5], &[2, 2, 2, 5]),
        (&[5, 1, 2], &[5, 4, 2], &[5, 4, 2]),
    ];
    for (a, b, expected) in cases {
        for (a, b) in [(a, b), (b, a)] {
            let found = broadcast_shapes(&Shape::from(a), &Shape::from(b)).unwrap();
            assert_eq!(found[..], expected[..], "C1, C2: {a:?} {b:?}");
            assert_eq!(lin(0, a).add(&lin(0, b)).unwrap().shape()[..], expected[..]);
        }
    }
}

#[test]
fn nd4js_broadcast_arithmetic() {
    in_every_layout(broadcast_arithmetic);
}

fn broadcast_arithmetic() {
    let (signs, eight) = (both_signs(), lin(1, &[8]));
    let squares: Vec<f64> = (1..9).map(|i| f64::from(i * i)).collect();
    let negated = |values: &[f64]| values.iter().map(|v| -v).collect::<Vec<_>>();
    let pairs = |offset: i32| (offset..offset + 5).map(f64::from).collect::<Vec<_>>();
    let sums = [2, 3, 7, 8, 4, 5, 9, 10].map(pairs).concat();
    let mask = row(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
        .reshape([2, 5])
        .unwrap();
    let mut masked = upto(1, 31);
    for place in [18, 19, 23, 24, 28, 29] {
        masked[place] = 0.0;
    }
    let (five, hundred) = (lin(1, &[5, 1, 2]), lin(1, &[5, 4, 2]));
    check(table![
        "C3": lin(1, &[2, 1, 2, 1]).add(&lin(1, &[2, 1, 5])) => vec![2, 2, 2, 5], sums;
        "C5 mul": signs.mul(&eight) => vec![2, 8], [squares.clone(), negated(&squares)].concat();
        "C5 sub": signs.sub(&eight) => vec![2, 8], [vec![0.0; 8], (1..9).map(|i| f64::from(-2 * i)).collect()].concat();
        "C5 add": signs.add(&eight) => vec![2, 8], [(1..9).map(|i| f64::from(2 * i)).collect(), vec![0.0; 8]].concat();
        "C5 div": signs.div(&eight) => vec![2, 8], [vec![1.0; 8], vec![-1.0; 8]].concat();
        "C7": lin(1, &[2, 3, 5]).mul(&mask.expand_dims(1).unwrap()) => vec![2, 3, 5], masked;
        "C17": five.broadcast_to([5, 4, 2]).unwrap().add(&hundred).unwrap().get(&s![0]) => vec![4, 2], list(&[2, 4, 4, 6, 6, 8, 8, 10]);
        "C19": lin(1, &[2, 2, 2, 1]).mul(&row(&[1.0, 1.0, 2.0, 2.0]).reshape([2, 2, 1, 1]).unwrap()) => vec![2, 2, 2, 1], list(&[1, 2, 3, 4, 10, 12, 14, 16]);
        "C15 column": lin(0, &[3, 1]).broadcast_to([3, 4]) => vec![3, 4], list(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
        "C15 row": lin(0, &[4]).broadcast_to([4, 4]) => vec![4, 4], [upto(0, 4), upto(0, 4), upto(0, 4), upto(0, 4)].concat();
        "C16": NdArray::ones([1, 1]).unwrap().broadcast_to([5, 3]) => vec![5, 3], vec![1.0; 15];
        "C16 scalar": NdArray::scalar(1.0f32).unwrap().broadcast_to([5, 3]) => vec![5, 3], vec![1.0; 15];
        "C18 rdiv": row(&[1.0, 2.0, 4.0, 8.0]).rdiv(2) => vec![4], vec![2.0, 1.0, 0.5, 0.25];
        "C18 rdiv column": row(&[1.0, 2.0, 4.0, 8.0]).reshape([2, 2]).unwrap().rdiv_column_vector(&row(&[2.0, 2.0])) => vec![2, 2], vec![2.0, 1.0, 0.5, 0.25];
        "C18 rsub": row(&[1.0, 2.0, 4.0, 8.0]).rsub(2) => vec![4], list(&[1, 0, -2, -6]);
    ]);
    // C20: in place only the right side broadcasts, and the error says so.
    let column = lin(0, &[3, 1]);
    let error = column.muli(&lin(0, &[3, 4])).unwrap_err().to_string();
    assert!(error.contains("does not broadcast into"), "C20: {error}");
    assert_eq!(column, lin(0, &[3, 1]));
}

/// A number for each position along one axis, added to all others: C4 and C6, against the definition, in both orders.
#[test]
fn nd4js_vectors_and_masks_along_dimensions() {
    in_every_layout(vectors_and_masks_along_dimensions);
}

fn vectors_and_masks_along_dimensions() {
    for order in [Order::C, Order::F] {
        for axis in 0..3usize {
            let cube = lin(1, &[4, 3, 2]).dup_order(order).unwrap();
            let mut along = [1usize; 3];
            along[axis] = cube.shape()[axis];
            let sum = cube.add(&lin(1, &along)).unwrap();
            for index in NdIndexIterator::new(cube.shape(), Order::C) {
                let expected = cube.get_f64(&index).unwrap() + (index[axis] + 1) as f64;
                assert_eq!(
                    sum.get_f64(&index).unwrap(),
                    expected,
                    "C4 {order:?} {axis} {index:?}"
                );
            }
        }
        for (first, second) in [(0usize, 1usize), (0, 2), (1, 2)] {
            let mut sizes = [1usize; 3];
            (sizes[first], sizes[second]) = ([3, 4, 5][first], [3, 4, 5][second]);
            let mask = lin(0, &sizes).modulo(2).unwrap().dup_order(order).unwrap();
            let product = NdArray::ones([3, 4, 5]).unwrap().mul(&mask).unwrap();
            for index in NdIndexIterator::new(product.shape(), Order::C) {
                let mut at = [0usize; 3];
                (at[first], at[second]) = (index[first], index[second]);
                assert_eq!(
                    product.get_f64(&index).unwrap(),
                    mask.get_f64(at).unwrap(),
                    "C6"
                );
            }
        }
    }
}

#[test]
fn nd4js_comparisons_and_vectors() {
    in_every_layout(comparisons_and_vectors);
}

fn comparisons_and_vectors() {
    let down = row(&[5.0, 4.0, 3.0, 2.0, 1.0]);
    let (from_0, from_1) = (lin(0, &[5]), lin(1, &[5]));
    let uneven = row(&[1.0, 2.0, 3.0, 2.0, 1.0]);
    let high = row(&[2.0, 3.0, 3.0, 4.0, 5.0]);
    let (six, nine) = (lin(1, &[2, 3]), lin(1, &[3, 3]));
    let own = lin(1, &[2, 2]);
    let strided = row(&[1.0, 9.0, 2.0, 9.0])
        .reshape([2, 2])
        .unwrap()
        .column(0)
        .unwrap();
    let three = row(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .reshape([3, 2])
        .unwrap();
    let signed = row(&[1.0, 2.0, 3.0, -4.0, -5.0]);
    check(table![
        "C8 less": from_0.less(&down) => vec![5], list(&[1, 1, 1, 0, 0]);
        "C8 greater": from_0.greater(&down) => vec![5], list(&[0, 0, 0, 1, 1]);
        "C8 greater or equal": from_1.greater_equal(&down) => vec![5], list(&[0, 0, 1, 1, 1]);
        "C8 equal": from_1.equal(&down) => vec![5], list(&[0, 0, 1, 0, 0]);
        "C9 min": high.minimum(&from_1) => vec![5], upto(1, 6);
        "C9 max": uneven.maximum(&from_1) => vec![5], upto(1, 6);
        "C9 amax": uneven.maximum_magnitude(&signed) => vec![5], list(&[1, 2, 3, -4, -5]);
        "C9 amin": row(&[2.0, 3.0, 3.0, 4.0, 1.0]).minimum_magnitude(&row(&[1.0, 2.0, 3.0, 4.0, -5.0])) => vec![5], list(&[1, 2, 3, 4, 1]);
        "C9 the magnitude alone": uneven.abs_maximum(&signed) => vec![5], upto(1, 6);
        "C10": six.sub_row_vector(&row(&[1.0, 2.0, 3.0])) => vec![2, 3], list(&[0, 0, 0, 3, 3, 3]);
        "C10 view": nine.get(&s![1..3]).unwrap().sub_row_vector(&row(&[1.0, 2.0, 3.0])) => vec![2, 3], list(&[3, 3, 3, 6, 6, 6]);
        "C11": changed(own.clone(), |a| a.subi_row_vector(&a.row(1)?).map(drop)) => vec![2, 2], list(&[-2, -2, 0, 0]);
        "C12": changed(three.dup().unwrap(), |a| a.muli_row_vector(&strided).map(drop)) => vec![3, 2], list(&[1, 4, 3, 8, 5, 12]);
        "C12 F": changed(three.dup_order(Order::F).unwrap(), |a| a.muli_row_vector(&strided).map(drop)) => vec![3, 2], list(&[1, 4, 3, 8, 5, 12]);
        "C13": changed(NdArray::zeros([5, 1]).unwrap(), |a| a.addi_row_vector(&NdArray::ones([1, 1])?).map(drop)) => vec![5, 1], vec![1.0; 5];
    ]);
    let ten = NdArray::ones([10, 10]).unwrap();
    let (column, short) = (
        NdArray::ones([5, 1]).unwrap(),
        NdArray::ones([1, 5]).unwrap(),
    );
    let wrong: [Result<()>; 4] = [
        ten.add_column_vector(&column).map(drop),
        ten.addi_column_vector(&column).map(drop),
        ten.add_row_vector(&short).map(drop),
        ten.addi_row_vector(&short).map(drop),
    ];
    assert!(wrong.iter().all(Result::is_err), "C14");
}

#[test]
fn nd4js_index_reductions() {
    in_every_layout(index_reductions);
}

fn index_reductions() {
    let cube = lin(1, &[4, 3, 2]);
    let small = row(&[-0.24, -0.26, -0.07, -0.01]);
    let slices = row(&[
        1.0, 10.0, 2.0, 3.0, 4.0, 5.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, 4.0, 3.0, 2.0, 1.0,
        0.0, -1.0,
    ]);
    let slices = slices.reshape([3, 2, 3]).unwrap();
    let ten = lin(1, &[10]);
    let pairs = of([[1.0f32, 0.0, 2.0], [2.0, 3.0, 1.0]]);
    let square = of([[0.0f32, 2.0], [2.0, 1.0]]);
    let hot = |places: [usize; 3]| {
        places
            .iter()
            .flat_map(|&place| (0..6).map(move |i| f64::from(u8::from(i == place))))
            .collect::<Vec<_>>()
    };
    check(table![
        "X1 dim 0": cube.argmax(0) => vec![3, 2], vec![3.0; 6];
        "X1 dim 1": cube.argmax(1) => vec![4, 2], vec![2.0; 8];
        "X1 dim 2": cube.argmax(2) => vec![4, 3], vec![1.0; 12];
        "X2": NdArray::ones([10]).unwrap().argmax(0) => vec![], list(&[0]);
        "X3": small.argmax(0) => vec![], list(&[3]);
        "X3 magnitude": small.arg_abs_max(0) => vec![], list(&[1]);
        "X4": small.argmin(0) => vec![], list(&[1]);
        "X4 magnitude": small.arg_abs_min(0) => vec![], list(&[3]);
        "X5": slices.argmax([1, 2]) => vec![3], list(&[1, 5, 0]);
        "X6": ten.argmax(..) => vec![], list(&[9]);
        "X6 negated": ten.neg().unwrap().argmax(..) => vec![], list(&[0]);
        "X7 63": lin(1, &[63]).argmax(0) => vec![], list(&[62]);
        "X7 64": lin(1, &[64]).argmax(0) => vec![], list(&[63]);
        "X8 equal": NdArray::ones([3]).unwrap().is_max(..) => vec![3], list(&[1, 0, 0]);
        "X8 plateau": row(&[0.0, 0.0, 0.0, 2.0, 2.0, 0.0]).is_max(..) => vec![6], list(&[0, 0, 0, 1, 0, 0]);
        "X8 matrix": square.is_max(..) => vec![2, 2], list(&[0, 1, 0, 0]);
        "X8 matrix F": square.dup_order(Order::F).unwrap().is_max(..) => vec![2, 2], list(&[0, 1, 0, 0]);
        "X9 dim 0": pairs.is_max(0) => vec![2, 3], list(&[0, 0, 1, 1, 1, 0]);
        "X9 dim 1": pairs.is_max(1) => vec![2, 3], list(&[0, 0, 1, 0, 1, 0]);
        "X10": slices.is_max([1, 2]) => vec![3, 2, 3], hot([1, 5, 0]);
    ]);
}

#[test]
fn nd4js_sorting() {
    in_every_layout(sorting);
}

fn sorting() {
    let square = of([[2.0f32, 1.0], [3.0, 4.0]]);
    let digits = row(&[9.0, 2.0, 1.0, 7.0, 6.0, 5.0, 4.0, 3.0, 8.0, 0.0]);
    let (down, mixed) = (
        upto(0, 10).into_iter().rev().collect::<Vec<_>>(),
        row(&[3.0, 8.0, 2.0, 7.0, 5.0, 6.0, 4.0, 9.0, 1.0, 0.0]),
    );
    let rows = mixed.broadcast_to([4, 10]).unwrap();
    let parent = digits
        .broadcast_to([3, 10])
        .unwrap()
        .transpose()
        .dup()
        .unwrap();
    parent.column(0).unwrap().sorti(0).unwrap();
    let indexed = lin(1, &[2, 2]);
    let indices = indexed.sorti_with_indices(1, Sorting::descending());
    let with_nan = row(&[3.0, f32::NAN, 1.0, 2.0]).sort(0).unwrap();
    let percentile =
        |end: usize, q: f64| lin(1, &[end]).percentile_with(q, .., QuantileMethod::Weibull);
    check(table![
        "X11": lin(1, &[2, 2]).sort_with(1, Sorting::descending()) => vec![2, 2], list(&[2, 1, 4, 3]);
        "X12 indices": indices => vec![2, 2], list(&[1, 0, 1, 0]);
        "X12 data": Ok(indexed.clone()) => vec![2, 2], list(&[2, 1, 4, 3]);
        "X15": digits.sort(0) => vec![10], upto(0, 10);
        "X15 descending": digits.sort_with(0, Sorting::descending()) => vec![10], down.clone();
        "X16": parent.column(0) => vec![10], upto(0, 10);
        "X16 others": parent.column(1) => vec![10], digits.to_f64_vec().unwrap();
        "X17": rows.sort_with(1, Sorting::descending()) => vec![4, 10], [down.clone(), down.clone(), down.clone(), down].concat();
        "X19 10, 50": percentile(10, 50.0) => vec![], vec![5.5];
        "X19 10, 75": percentile(10, 75.0) => vec![], vec![8.25];
        "X19 9, 50": percentile(9, 50.0) => vec![], vec![5.0];
        "X19 9, 75": percentile(9, 75.0) => vec![], vec![7.5];
        "X19 along 1": lin(1, &[9]).broadcast_to([3, 9]).unwrap().percentile_with(75.0, 1, QuantileMethod::Weibull) => vec![3], vec![7.5; 3];
        "X20": with_nan.get(&s![..3]) => vec![3], upto(1, 4);
        "sorted rows": square.sort_rows(1, Sorting::descending()) => vec![2, 2], list(&[3, 4, 2, 1]);
    ]);
    assert!(
        with_nan.get_f64([3]).unwrap().is_nan(),
        "X20: the NaN is last"
    );
}

/// X13, X14, X18: the key is sorted, rows travel whole, the input stays; a million elements.
#[test]
fn nd4js_sorting_of_rows_and_of_many() {
    let mut rng = Rng::seeded(13);
    let table = rng.normal([10, 5], 0.0, 1.0).unwrap();
    let before = table.dup().unwrap();
    for column in 0..5isize {
        for sorting in [Sorting::ascending(), Sorting::descending()] {
            let sorted = table.sort_rows(column, sorting).unwrap();
            let keys = table.column(column).unwrap();
            assert_eq!(
                sorted.column(column).unwrap(),
                keys.sort_with(0, sorting).unwrap(),
                "X13"
            );
            let order = keys.argsort_with(0, sorting).unwrap();
            assert_eq!(
                sorted,
                table.take(&order, 0).unwrap(),
                "X13: rows travel whole"
            );
            let mirrored = table.transpose().sort_columns(column, sorting).unwrap();
            assert_eq!(mirrored, sorted.transpose(), "X14");
        }
    }
    assert_eq!(table, before);
    let many = NdArray::arange_of(DType::I32, 0, 1_048_576, 1).unwrap();
    let shuffled = many.dup().unwrap();
    rng.shuffle(&shuffled, 0).unwrap();
    assert_ne!(shuffled, many);
    assert_eq!(shuffled.sort(0).unwrap(), many, "X18");
    let reversed = NdArray::arange_of(DType::F32, 0, 2_017_152, 1).unwrap();
    assert_eq!(reversed.flip(0).unwrap().sort(0).unwrap(), reversed, "X18");
}

#[test]
fn nd4js_creation() {
    in_every_layout(creation);
}

fn creation() {
    let square = lin(1, &[2, 2]);
    let (x, y) = (lin(1, &[4]), lin(5, &[3]));
    let grid = NdArray::meshgrid(&[&x, &y], GridAxes::Xy).unwrap();
    let view = of([[1.0f32, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])
        .column(0)
        .unwrap();
    let from_view = NdArray::meshgrid(&[&view, &y], GridAxes::Xy).unwrap();
    let table = lin(0, &[10, 15]);
    let torn = table.tear(1).unwrap();
    let again: Vec<&NdArray> = torn.iter().collect();
    let [a, b] = [lin(0, &[2, 3, 4]), lin(100, &[2, 3, 4])];
    let joined = |axis: isize| NdArray::concat(&[&a, &b], axis).unwrap();
    check(table![
        "O1": NdArray::arange(-2, 2, 1) => vec![4], list(&[-2, -1, 0, 1]);
        "O2 tri": NdArray::tri(3, 5, 2) => vec![3, 5], list(&[1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]);
        "O2 triu": lin(1, &[4, 3]).triu(-1) => vec![4, 3], list(&[1, 2, 3, 4, 5, 6, 0, 8, 9, 0, 0, 12]);
        "O3 append": square.append(3, 1, -1) => vec![2, 5], list(&[1, 2, 1, 1, 1, 3, 4, 1, 1, 1]);
        "O3 prepend": square.prepend(3, 1, -1) => vec![2, 5], list(&[1, 1, 1, 1, 2, 1, 1, 1, 3, 4]);
        "O3 pad": lin(1, &[3, 3]).pad([5, 5], 0).unwrap().sum(..) => vec![], list(&[45]);
        "O4 dim 0": joined(0).get(&s![2..]) => vec![2, 3, 4], upto(100, 124);
        "O4 dim 1": joined(1).get(&s![.., 3..]) => vec![2, 3, 4], upto(100, 124);
        "O4 dim 2": joined(2).get(&s![.., .., 4..]) => vec![2, 3, 4], upto(100, 124);
        "O5 x": Ok(grid[0].clone()) => vec![3, 4], [upto(1, 5), upto(1, 5), upto(1, 5)].concat();
        "O5 y": Ok(grid[1].clone()) => vec![3, 4], list(&[5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7]);
        "O5 view": Ok(from_view[0].clone()) => vec![3, 4], [upto(1, 5), upto(1, 5), upto(1, 5)].concat();
        "O6 repeat": square.repeat(2, 1) => vec![2, 4], list(&[1, 1, 2, 2, 3, 3, 4, 4]);
        "O6 tile": lin(0, &[3]).tile([2, 2]) => vec![2, 6], [upto(0, 3), upto(0, 3), upto(0, 3), upto(0, 3)].concat();
        "O7": NdArray::stack(&again, 0) => vec![10, 15], upto(0, 150);
    ]);
    assert_eq!(torn.len(), 10, "O7");
    assert_eq!(
        lin(1, &[3, 3]).pad([5, 5], 0).unwrap().shape()[..],
        [13, 13],
        "O3"
    );
}

#[test]
fn nd4js_shapes() {
    in_every_layout(shapes);
}

fn shapes() {
    let sixty = packed_lin(0, &[3, 4, 5]);
    let turned = sixty.permute([2, 1, 0]).unwrap();
    assert_eq!(turned.strides()[..], [1, 5, 20], "O8");
    let reshaped = turned.reshape([-1, 12]).unwrap();
    assert_eq!(
        (&reshaped.shape()[..], &reshaped.strides()[..]),
        (&[5, 12][..], &[12, 1][..]),
        "O8"
    );
    let square = lin(1, &[2, 2]);
    let error = square.reshape([2, 100]).unwrap_err().to_string();
    assert!(
        error.contains("[2, 2]") && error.contains("[2, 100]"),
        "O9: {error}"
    );
    let f = square.dup_order(Order::F).unwrap();
    let strided = NdArray::zeros([2, 4]).unwrap().get(&s![.., 0..;2]).unwrap();
    strided.assign(&square).unwrap();
    let scalar = NdArray::scalar(5.0f32).unwrap();
    check(table![
        "O10 C": NdArray::to_flattened(Order::C, &[&square, &f]) => vec![8], list(&[1, 2, 3, 4, 1, 2, 3, 4]);
        "O10 F": NdArray::to_flattened(Order::F, &[&square, &f]) => vec![8], list(&[1, 3, 2, 4, 1, 3, 2, 4]);
        "O10 views": NdArray::to_flattened(Order::C, &[&strided, &f.transpose()]) => vec![8], list(&[1, 2, 3, 4, 1, 3, 2, 4]);
        "O11": scalar.reshape([1, 1, 1, 1]) => vec![1, 1, 1, 1], list(&[5]);
        "O11 vector": Ok(lin(1, &[3]).transpose()) => vec![3], upto(1, 4);
        "O13": square.get_rows([1, 0]) => vec![2, 2], list(&[3, 4, 1, 2]);
    ]);
    assert!(
        scalar.len() == 1 && !scalar.is_vector() && !scalar.is_matrix(),
        "O11"
    );
    assert!(square.size(2).is_err(), "O12");
    let wrong = [
        square.get_rows([2]),
        square.get_rows([-3]),
        lin(0, &[3]).get_columns([0]),
    ];
    assert!(wrong.iter().all(Result::is_err), "O13");
}

#[test]
fn nd4js_reductions() {
    in_every_layout(reductions);
}

fn reductions() {
    let ones = NdArray::ones([10, 10]).unwrap();
    let four = lin(1, &[3, 3, 2, 2]);
    let cube = lin(1, &[4, 3, 2]);
    let mut running = upto(1, 25);
    for i in 6..24 {
        running[i] += running[i - 6];
    }
    check(table![
        // Sums drop their axes unless they are kept.
        "O14 dim 0": ones.sum(keep(0)) => vec![1, 10], vec![10.0; 10];
        "O14 dim 1": ones.sum(keep(1)) => vec![10, 1], vec![10.0; 10];
        "O14 both": ones.sum(keep([0, 1])) => vec![1, 1], vec![100.0];
        "O14 all but 3": four.sum([0, 1, 2]) => vec![2], list(&[324, 342]);
        "O14 all but 2": four.sum([0, 1, 3]) => vec![2], list(&[315, 351]);
        "O14 all but 1": four.sum([0, 2, 3]) => vec![3], list(&[174, 222, 270]);
        "O14 all but 0": four.sum([1, 2, 3]) => vec![3], list(&[78, 222, 366]);
        "O15": cube.cumsum(0) => vec![4, 3, 2], running;
        "O16 population": lin(1, &[2, 3]).var_ddof(0, 0) => vec![3], vec![2.25; 3];
        "O16 columns": lin(1, &[150, 4]).var(0) => vec![4], vec![30200.0; 4];
        "O18 equal": of([1.0f64 + 1e-6]).is_close(1.0, 0.0, 1e-5) => vec![1], vec![1.0];
        "O18 NaN": of([f64::NAN]).is_close(f64::NAN, 0.0, 1e-5) => vec![1], vec![0.0];
    ]);
    let number = |array: Result<NdArray>| array.unwrap().item::<f64>().unwrap();
    let near = |found: f64, expected: f64, name: &str| {
        assert!((found - expected).abs() < 1e-6, "{name}: {found}");
    };
    near(
        number(of([1.0f64, 2.0, 3.0]).log_sum_exp(0)),
        3.407_605_9,
        "O16",
    );
    let five = NdArray::scalar(5.3f64).unwrap();
    near(number(five.remainder(2)), -0.7, "O17 remainder");
    near(number(five.fmod(2)), 1.3, "O17 fmod");
    let (many, one) = (
        NdArray::ones([400, 20]).unwrap(),
        NdArray::ones([1, 20]).unwrap(),
    );
    assert!(
        many.distance_number(Distance::Euclidean, &one).is_err(),
        "O18"
    );
}

#[test]
fn nd4js_choices_and_seeds() {
    in_every_layout(choices_and_seeds);
}

fn choices_and_seeds() {
    let mut rng = Rng::seeded(28);
    let source = lin(1, &[5]);
    let third = row(&[0.0, 0.0, 1.0, 0.0, 0.0]);
    let threes = rng.choice(&source, 5, true, Some(&third)).unwrap();
    assert_eq!(threes.to_f64_vec().unwrap(), [3.0; 5], "O28");
    let mut again = [Rng::seeded(119), Rng::seeded(119)];
    let [a, b] = again
        .each_mut()
        .map(|rng| rng.uniform([10, 10], 0.0, 1.0).unwrap());
    assert_eq!(a, b, "O28");
}
