//! ND4J's own test cases for indexing, tensors along dimensions, broadcasting and reshaping, as far as they are about
//! integers. Elements are numbered from 0 in C order unless a case says otherwise. Where ND4J kept every array at least a
//! matrix the true rank is expected here.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

use lodestride_shape::{
    Axes, Index, Layout, NdIndexIterator, Order, Shape, all, broadcast_shapes, interval,
    interval_step, keep, new_axis, point, s,
};

/// The elements of every tensor along some axes.
type Tensors = Vec<Vec<usize>>;

/// A shape, axes, and the number and shape of the tensors along them.
type AlongCase = (&'static [usize], &'static [isize], usize, &'static [usize]);

fn lin(shape: &[usize]) -> Layout {
    Layout::contiguous(shape, Order::C).unwrap()
}

fn elements(layout: &Layout) -> Vec<usize> {
    layout.offsets(Order::C).collect()
}

/// Checks all cases and reports every one that fails.
fn check(cases: Vec<(&str, Layout, &[usize], Vec<usize>)>) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(_, layout, shape, expected)| {
            layout.shape() != *shape || elements(layout) != *expected
        })
        .map(|(name, layout, shape, expected)| {
            format!(
                "{name}: {layout:?} shows {:?}, expected {shape:?} {expected:?}",
                elements(layout)
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn less_one(values: &[usize]) -> Vec<usize> {
    values.iter().map(|value| value - 1).collect()
}

#[test]
fn indexing() {
    let get = |shape: &[usize], indices: &[Index]| lin(shape).index(indices).unwrap();
    check(vec![
        (
            "I1 negative bound",
            get(&[2, 5], &[all(), interval(0, -2)]),
            &[2, 3],
            vec![0, 1, 2, 5, 6, 7],
        ),
        (
            "I2 new axes",
            get(&[3, 2, 2], &[all(), all(), new_axis(), new_axis()]),
            &[3, 2, 1, 1, 2],
            (0..12).collect(),
        ),
        (
            "I3 interval keeps the axis",
            get(&[2, 2, 2], &[interval(1, 2)]),
            &[1, 2, 2],
            vec![4, 5, 6, 7],
        ),
        (
            "I4 point, new axis, interval",
            get(&[4, 2, 3], &[point(1), new_axis(), interval(0, 1)]),
            &[1, 1, 3],
            less_one(&[7, 8, 9]),
        ),
        (
            "I5 new axis in the middle",
            get(&[4, 2, 3], &[point(1), new_axis(), all()]),
            &[1, 2, 3],
            less_one(&[7, 8, 9, 10, 11, 12]),
        ),
        (
            "I6 leading new axis",
            get(&[4, 2, 3], &[new_axis(), all(), point(1)]),
            &[1, 4, 3],
            less_one(&[4, 5, 6, 10, 11, 12, 16, 17, 18, 22, 23, 24]),
        ),
        (
            "I7 point, interval, interval",
            get(&[4, 3, 3], &[point(0), interval(1, 3), interval(1, 3)]),
            &[2, 2],
            less_one(&[5, 6, 8, 9]),
        ),
        (
            "I11 inclusive 1..=3 by 2",
            get(&[5], &s![1..=3;2]),
            &[2],
            vec![1, 3],
        ),
        (
            "I11 inclusive 1..=4 by 2",
            get(&[5], &s![1..=4;2]),
            &[2],
            vec![1, 3],
        ),
        (
            "I11 exclusive 1..4 by 2",
            get(&[5], &[interval_step(1, 2, 4)]),
            &[2],
            vec![1, 3],
        ),
        (
            "I11 inclusive 2..=4 by 2",
            get(&[5], &s![2..=4;2]),
            &[2],
            vec![2, 4],
        ),
        ("I13 scalar", get(&[5], &[point(1)]), &[], vec![1]),
        (
            "I14 last of the last axis",
            get(&[10, 10, 10], &s![0, 0, -1]),
            &[],
            vec![9],
        ),
        (
            "I15 first rows",
            get(&[3, 2], &[interval(0, 1)]),
            &[1, 2],
            vec![0, 1],
        ),
        ("I15 a row", get(&[3, 2], &[point(1)]), &[2], vec![2, 3]),
        (
            "I15 rows 1 and 2",
            get(&[3, 2], &[interval(1, 3)]),
            &[2, 2],
            vec![2, 3, 4, 5],
        ),
        (
            "I15 one element",
            get(&[3, 2], &[interval(1, 2), interval(1, 2)]),
            &[1, 1],
            vec![3],
        ),
        (
            "I17 row of a row vector",
            get(&[1, 5], &[interval(0, 1)]),
            &[1, 5],
            (0..5).collect(),
        ),
        (
            "I18 corner",
            get(&[4, 4], &s![0..2, 0..2]),
            &[2, 2],
            vec![0, 1, 4, 5],
        ),
        (
            "I24 columns",
            get(&[2, 3], &s![.., 0..2]),
            &[2, 2],
            vec![0, 1, 3, 4],
        ),
        (
            "I25 point in the middle",
            get(&[4, 3, 2], &[all(), point(1), all()]),
            &[4, 2],
            less_one(&[3, 4, 9, 10, 15, 16, 21, 22]),
        ),
        (
            "I27 part of a vector",
            get(&[30], &[interval(20, 30)]),
            &[10],
            (20..30).collect(),
        ),
        (
            "I30 clipped end",
            get(&[2, 2], &[interval(1, 4)]),
            &[1, 2],
            vec![2, 3],
        ),
        (
            "I31 start behind the end is empty, as in NumPy",
            get(&[2, 2], &[interval(2, 4)]),
            &[0, 2],
            vec![],
        ),
        (
            "I33 point and interval",
            get(&[1, 4], &s![0, 1..=2]),
            &[2],
            vec![1, 2],
        ),
        (
            "I34 3..6 by 2",
            get(&[8], &[interval_step(3, 2, 6)]),
            &[2],
            vec![3, 5],
        ),
        (
            "I34 0..2 by 2",
            get(&[8], &[interval_step(0, 2, 2)]),
            &[1],
            vec![0],
        ),
        (
            "I36 every second row",
            get(&[3, 3], &[interval_step(0, 2, 3), all()]),
            &[2, 3],
            vec![0, 1, 2, 6, 7, 8],
        ),
        (
            "I39 slice along 1",
            lin(&[2, 3]).slice(2, 1).unwrap(),
            &[2],
            vec![2, 5],
        ),
        (
            "guide: every second column",
            get(&[3, 5], &[all(), interval_step(0, 2, 5)]),
            &[3, 3],
            { vec![0, 2, 4, 5, 7, 9, 10, 12, 14] },
        ),
    ]);
    assert_eq!(
        lin(&[4, 3, 2]).index(&s![.., 1, ..]).unwrap().strides(),
        &[6, 1],
        "I25"
    );
}

#[test]
fn more_views() {
    // I26: a window into a padded array keeps the parent's strides.
    let padded = lin(&[2, 2, 9, 9]);
    let view = padded.index(&s![.., .., 0..8;2, 0..8;2]).unwrap();
    assert_eq!(
        (view.shape(), view.strides().as_slice()),
        (&Shape::from([2, 2, 4, 4]), [162, 81, 18, 2].as_slice())
    );
    // I28: indexing in two steps is indexing at once.
    let cube = lin(&[5, 5, 5]);
    for position in NdIndexIterator::new(cube.shape(), Order::C) {
        let (a, i, j) = (position[0], position[1], position[2]);
        let at_once = cube.index(&s![a, i.., j..]).unwrap();
        assert_eq!(
            cube.index(&s![a]).unwrap().index(&s![i.., j..]).unwrap(),
            at_once
        );
    }
    // I35: an interval of one, a point and a tensor along the other axes show the same elements.
    let block = lin(&[3, 2, 4]);
    for x in 0..4 {
        let one = block.index(&s![.., .., x..x + 1]).unwrap();
        assert_eq!(one.shape(), &[3, 2, 1]);
        assert_eq!(
            one.squeeze(-1).unwrap(),
            block.index(&s![.., .., x]).unwrap()
        );
        assert_eq!(
            block.index(&s![.., .., x]).unwrap(),
            block.tensor_along(x, [1, 0]).unwrap()
        );
    }
    // I40
    let swapped = lin(&[3, 5, 2])
        .swap_axes(2, 1)
        .unwrap()
        .slice(0, 0)
        .unwrap();
    assert_eq!(elements(&swapped.slice(0, 0).unwrap()), [0, 2, 4, 6, 8]);
    assert_eq!(elements(&swapped.slice(1, 0).unwrap()), [1, 3, 5, 7, 9]);
    // I12
    assert_eq!(lin(&[2, 2]).offset_of(&[1, 1]).unwrap(), 3);
    assert_eq!(lin(&[3, 2]).offset_of(&[1, 1]).unwrap(), 3);
    assert!(lin(&[3, 2]).offset_of(&[2, 2]).is_err());
    // O8: the permuted strides; the reshape needs a copy, and the copy is plain.
    let permuted = lin(&[3, 4, 5]).permute(&[2, 1, 0]).unwrap();
    assert_eq!(permuted.strides(), &[1, 5, 20]);
    assert_eq!(permuted.reshape(&[-1, 12], Order::C).unwrap(), None);
    let copy = Layout::contiguous(
        permuted.shape().resolve_reshape(&[-1, 12]).unwrap(),
        Order::C,
    )
    .unwrap();
    assert_eq!(
        (copy.shape(), copy.strides().as_slice()),
        (&Shape::from([5, 12]), [12, 1].as_slice())
    );
}

#[test]
fn tensors_along_dimensions() {
    let tad = |shape: &[usize], i: usize, axes: Axes| lin(shape).tensor_along(i, axes).unwrap();
    // Element [i, j, k] of a [2, 3, 4] array is number 12i + 4j + k.
    let at = |list: &[[usize; 3]]| {
        list.iter()
            .map(|[i, j, k]| 12 * i + 4 * j + k)
            .collect::<Vec<_>>()
    };
    check(vec![
        (
            "T1 along 0",
            tad(&[3, 3], 0, Axes::from(0)),
            &[3],
            vec![0, 3, 6],
        ),
        (
            "T1 along 1",
            tad(&[3, 3], 1, Axes::from(1)),
            &[3],
            vec![3, 4, 5],
        ),
        (
            "guide: [1, a]",
            tad(&[3, 4], 1, keep(0)),
            &[1, 3],
            vec![1, 5, 9],
        ),
        (
            "T2",
            tad(&[2, 3, 4], 0, Axes::from([0, 1])),
            &[2, 3],
            vec![0, 4, 8, 12, 16, 20],
        ),
        (
            "T2 in any order",
            tad(&[2, 3, 4], 0, Axes::from([1, 0])),
            &[2, 3],
            vec![0, 4, 8, 12, 16, 20],
        ),
        (
            "T3",
            tad(&[2, 3, 4], 1, Axes::from([0, 1])),
            &[2, 3],
            vec![1, 5, 9, 13, 17, 21],
        ),
        (
            "T4",
            tad(&[2, 3, 4], 0, Axes::from([0, 2])),
            &[2, 4],
            vec![0, 1, 2, 3, 12, 13, 14, 15],
        ),
        (
            "T4 second",
            tad(&[2, 3, 4], 1, Axes::from([2, 0])),
            &[2, 4],
            {
                at(&[
                    [0, 1, 0],
                    [0, 1, 1],
                    [0, 1, 2],
                    [0, 1, 3],
                    [1, 1, 0],
                    [1, 1, 1],
                    [1, 1, 2],
                    [1, 1, 3],
                ])
            },
        ),
        (
            "T5",
            tad(&[2, 3, 4], 1, Axes::from([1, 2])),
            &[3, 4],
            (12..24).collect(),
        ),
        (
            "T6 row",
            tad(&[1, 5], 0, keep(1)),
            &[1, 5],
            (0..5).collect(),
        ),
        (
            "T6 column",
            tad(&[5, 1], 0, keep(0)),
            &[1, 5],
            (0..5).collect(),
        ),
        (
            "T17",
            tad(&[4, 3, 1, 1], 0, Axes::from([0, 2, 3])),
            &[4, 1, 1],
            vec![0, 3, 6, 9],
        ),
        (
            "T18 row vector",
            tad(&[1, 10], 2, Axes::from(0)),
            &[1],
            vec![2],
        ),
        (
            "T18 column vector",
            tad(&[10, 1], 2, Axes::from(1)),
            &[1],
            vec![2],
        ),
        (
            "T19",
            tad(&[1, 5, 1], 0, Axes::from([1, 2])).transpose(),
            &[1, 5],
            (0..5).collect(),
        ),
        ("T21", tad(&[4, 3, 2], 1, Axes::from(2)), &[2], vec![2, 3]),
        (
            "all axes: the array itself",
            tad(&[2, 3], 0, Axes::from(..)),
            &[2, 3],
            (0..6).collect(),
        ),
        (
            "no axis: one element",
            tad(&[2, 3], 4, Axes::none()),
            &[],
            vec![4],
        ),
    ]);
}

#[test]
fn tensors_in_order() {
    let every = |layout: &Layout, axes: Axes| -> Vec<Vec<usize>> {
        let count = layout.tensors_along(axes.clone()).unwrap();
        let tensor = |i| {
            elements(&layout.tensor_along(i, axes.clone()).unwrap())
                .iter()
                .map(|e| e + 1)
                .collect()
        };
        (0..count).map(tensor).collect()
    };
    let two = lin(&[2, 2, 2, 2]);
    let cases: Vec<(&str, Tensors, Tensors)> = vec![
        (
            "T9",
            every(&two, Axes::from([0, 1])),
            vec![
                vec![1, 5, 9, 13],
                vec![2, 6, 10, 14],
                vec![3, 7, 11, 15],
                vec![4, 8, 12, 16],
            ],
        ),
        (
            "T10",
            every(&two, Axes::from(2)),
            [
                [1, 3],
                [2, 4],
                [5, 7],
                [6, 8],
                [9, 11],
                [10, 12],
                [13, 15],
                [14, 16],
            ]
            .map(Vec::from)
            .to_vec(),
        ),
        (
            "T11",
            every(&two, Axes::from(1)),
            [
                [1, 5],
                [2, 6],
                [3, 7],
                [4, 8],
                [9, 13],
                [10, 14],
                [11, 15],
                [12, 16],
            ]
            .map(Vec::from)
            .to_vec(),
        ),
        (
            "T12",
            every(&lin(&[3, 2, 2]), Axes::from(1)),
            [[1, 3], [2, 4], [5, 7], [6, 8], [9, 11], [10, 12]]
                .map(Vec::from)
                .to_vec(),
        ),
        (
            "T13",
            every(&lin(&[3, 2, 2, 2]), Axes::from(3)),
            (0..12).map(|i| vec![2 * i + 1, 2 * i + 2]).collect(),
        ),
        (
            "T14",
            every(&lin(&[2, 2, 2]), Axes::from([0, 1])),
            vec![vec![1, 3, 5, 7], vec![2, 4, 6, 8]],
        ),
        (
            "T15: F order in memory, C enumeration",
            every(
                &Layout::contiguous([2, 2, 2, 2], Order::F).unwrap(),
                Axes::from(1),
            ),
            [
                [1, 3],
                [9, 11],
                [5, 7],
                [13, 15],
                [2, 4],
                [10, 12],
                [6, 8],
                [14, 16],
            ]
            .map(Vec::from)
            .to_vec(),
        ),
        (
            "T16",
            every(
                &Layout::contiguous([2, 2, 2], Order::F).unwrap(),
                Axes::from([0, 1]),
            ),
            vec![vec![1, 3, 2, 4], vec![5, 7, 6, 8]],
        ),
        (
            "T21",
            every(&lin(&[4, 3, 2]), Axes::from(1))[..3].to_vec(),
            { vec![vec![1, 3, 5], vec![2, 4, 6], vec![7, 9, 11]] },
        ),
    ];
    for (name, ours, expected) in cases {
        assert_eq!(ours, expected, "{name}");
    }
}

#[test]
fn tensor_counts_and_shapes_in_every_memory_layout() {
    let cases: [AlongCase; 11] = [
        (&[3, 4], &[0], 4, &[3]),
        (&[3, 4], &[1], 3, &[4]),
        (&[3, 4, 5], &[0], 20, &[3]),
        (&[3, 4, 5], &[1], 15, &[4]),
        (&[3, 4, 5], &[2], 12, &[5]),
        (&[3, 4, 5, 6], &[0, 1], 30, &[3, 4]),
        (&[3, 4, 5, 6], &[0, 2], 24, &[3, 5]),
        (&[3, 4, 5, 6], &[0, -1], 20, &[3, 6]),
        (&[3, 4, 5, 6], &[2, 1], 18, &[4, 5]),
        (&[3, 4, 5, 6], &[1, 3, 1], 15, &[4, 6]),
        (&[3, 4, 5, 6], &[0, 2, 3], 4, &[3, 5, 6]),
    ];
    for (shape, axes, count, block) in cases {
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let larger: Vec<usize> = shape.iter().map(|size| size + 2).collect();
        let inner: Vec<Index> = shape.iter().map(|&size| Index::from(1..=size)).collect();
        let layouts = [
            lin(shape),
            Layout::contiguous(shape, Order::F).unwrap(),
            lin(&reversed).transpose(),
            lin(&larger).index(&inner).unwrap(),
            lin(shape).flip(0).unwrap(),
        ];
        for layout in layouts {
            assert_eq!(
                layout.tensors_along(axes).unwrap(),
                count,
                "{layout:?} along {axes:?}"
            );
            assert_eq!(
                layout.tensor_along(count - 1, axes).unwrap().shape(),
                block,
                "{layout:?} along {axes:?}"
            );
        }
    }
}

#[test]
fn broadcasting_pairs() {
    // C1 and C2.
    let cases: [(&[usize], &[usize], &[usize]); 8] = [
        (&[3, 1], &[1, 4], &[3, 4]),
        (&[3, 4, 1], &[1, 1, 5], &[3, 4, 5]),
        (&[3, 1, 5], &[1, 4, 1], &[3, 4, 5]),
        (&[3, 1, 1, 1], &[1, 4, 5, 6], &[3, 4, 5, 6]),
        (&[1, 6], &[3, 4, 5, 1], &[3, 4, 5, 6]),
        (&[2, 1, 2, 1], &[2, 1, 5], &[2, 2, 2, 5]),
        (&[], &[5, 3], &[5, 3]),
        (&[0], &[1], &[0]),
    ];
    for (a, b, expected) in cases {
        assert_eq!(broadcast_shapes(&a.into(), &b.into()).unwrap(), *expected);
        assert_eq!(broadcast_shapes(&b.into(), &a.into()).unwrap(), *expected);
    }
}

#[test]
fn errors_tell_what_to_do() {
    let matrix = lin(&[3, 4]);
    let big = lin(&[2, 2]).broadcast_to(&Shape::from([3, 2, 2])).unwrap();
    let text =
        |result: Result<Layout, lodestride_shape::ShapeError>| result.unwrap_err().to_string();
    let cases = [
        (
            text(matrix.index(&s![3])),
            "index 3 is out of range for axis 0 of size 3: use -3 to 2",
        ),
        (
            text(matrix.index(&s![0, -5])),
            "index -5 is out of range for axis 1 of size 4: use -4 to 3",
        ),
        (
            text(lin(&[0]).index(&s![0])),
            "index 0 is out of range: axis 0 has size 0",
        ),
        (
            text(matrix.index(&s![0, 0, 0])),
            "3 indices for shape [3, 4], which has 2 axes",
        ),
        (
            text(matrix.index(&s![..., ...])),
            "2 ellipses in one index list: at most one can be filled in",
        ),
        (
            text(matrix.index(&s![..;0])),
            "the interval for axis 0 has step 0: use a positive or a negative step",
        ),
        (
            text(matrix.flip(2)),
            "axis 2 is out of range for rank 2: use -2 to 1",
        ),
        (
            text(Layout::scalar().flip(0)),
            "axis 0 is out of range: a scalar (rank 0) has no axes",
        ),
        (
            text(matrix.permute(&[0, 0])),
            "axis 0 appears more than once; each of the 2 axes may appear once",
        ),
        (
            text(matrix.permute(&[0])),
            "1 entries given for rank 2: every axis needs exactly one",
        ),
        (
            text(matrix.squeeze(1)),
            "axis 1 has size 4: only axes of size 1 can be squeezed",
        ),
        (
            text(matrix.tensor_along(4, 0)),
            "tensor 4 does not exist: there are 4 tensors along these axes",
        ),
        (
            text(lin(&[3]).diagonal(0)),
            "shape [3] has rank 1, at least rank 2 is needed",
        ),
        (
            text(matrix.windows(0, 4, 1)),
            "windows of 4 moved by 1 do not fit an axis of size 3: length must be 1 to the size, the step at least 1",
        ),
        (
            text(matrix.broadcast_to(&Shape::from([3, 5]))),
            "shape [3, 4] does not broadcast to [3, 5]: axis 1 is 4, only 1 or 5 can become 5",
        ),
        (
            text(matrix.broadcast_to(&Shape::from([4]))),
            "shape [3, 4] does not broadcast to [4]: it has 2 axes, the target only 1",
        ),
        (
            text(matrix.reshape(&[5, -1], Order::C).map(Option::unwrap)),
            "cannot reshape [3, 4] (12 elements) to [5, -1]: 12 is not a multiple of 5",
        ),
        (
            text(matrix.reshape(&[-1, -1], Order::C).map(Option::unwrap)),
            "cannot reshape [3, 4] to [-1, -1]: only one size may be -1, 2 are",
        ),
        (
            text(lin(&[0, 3]).reshape(&[0, -1], Order::C).map(Option::unwrap)),
            "cannot reshape [0, 3] to [0, -1]: with a size 0 beside it the -1 could be anything; name the size",
        ),
        (
            text(matrix.reshape(&[-2, 6], Order::C).map(Option::unwrap)),
            "size -2 at position 0: sizes are 0 or more (-1 once, to be inferred)",
        ),
        (
            text(Layout::new([4], [-1], 2)),
            "the layout reaches element -1, before the start of the buffer (offset 2)",
        ),
        (
            matrix.check_fits(11).unwrap_err().to_string(),
            "the layout reaches element 11 of a buffer that holds 11",
        ),
        (
            big.check_writable().unwrap_err().to_string(),
            "cannot write to shape [3, 2, 2] with strides [0, 2, 1]: \
             several positions share one element (a broadcast view); write to a copy",
        ),
    ];
    let wrong: Vec<_> = cases
        .iter()
        .filter(|(ours, expected)| ours != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn index_macro_forms() {
    let (i, from, to) = (2usize, 1isize, 4i64);
    let range = |start: Option<isize>, end: Option<isize>, step: isize| Index::Interval {
        start,
        end,
        step,
    };
    let list = s![
        i, -1, .., 1..3, ..-1, 2.., from..5, ..to, ..;2, 5..1;-2, ..=-1, 1..=3, 4..=0;-1, ..;-1, NewAxis, Ellipsis,
        Index::All, point(3),
    ];
    assert_eq!(
        list,
        [
            Index::Point(2),
            Index::Point(-1),
            Index::All,
            range(Some(1), Some(3), 1),
            range(None, Some(-1), 1),
            range(Some(2), None, 1),
            range(Some(1), Some(5), 1),
            range(None, Some(4), 1),
            range(None, None, 2),
            range(Some(5), Some(1), -2),
            range(None, None, 1),
            range(Some(1), Some(4), 1),
            range(Some(4), None, -1),
            range(None, None, -1),
            Index::NewAxis,
            Index::Ellipsis,
            Index::All,
            Index::Point(3),
        ]
    );
    assert_eq!(s![...], [Index::Ellipsis]);
    assert_eq!(lin(&[2, 2]).index(&s![]).unwrap(), lin(&[2, 2]));
    let texts: Vec<String> = s![3, .., 1..-1;2, ...]
        .iter()
        .map(Index::to_string)
        .collect();
    assert_eq!(texts, ["3", "..", "1..-1;2", "..."]);
}
