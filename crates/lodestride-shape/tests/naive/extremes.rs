//! Sizes, strides and arguments at the edges of their types: typed errors, never a panic or an overflow.

use lodestride_shape::{
    Index, Layout, LoopNest, Order, Shape, Strides, broadcast_shapes, concat_shapes, keep,
    matmul_shape, overlap, stack_shapes,
};
use proptest::prelude::*;

use crate::model::{Dice, dice};

const MAX: usize = isize::MAX as usize;

fn size(dice: &mut Dice) -> usize {
    [
        1,
        0,
        2,
        3,
        7,
        1 << 31,
        (1 << 31) + 1,
        1 << 62,
        MAX,
        MAX - 1,
        MAX / 2,
        usize::MAX,
        1 << 63,
    ][dice.below(13)]
}

fn number(dice: &mut Dice) -> isize {
    [
        0,
        1,
        -1,
        2,
        -2,
        3,
        1 << 31,
        -(1 << 31),
        isize::MAX,
        isize::MIN,
        isize::MIN + 1,
        isize::MAX - 1,
        1 << 62,
    ][dice.below(13)]
}

/// The layout's promise: what it reaches can be computed and its elements counted.
fn check(layout: &Layout) {
    assert!(layout.shape().checked_elements().is_ok(), "{layout:?}");
    assert_eq!(layout.bounds().is_none(), layout.is_empty(), "{layout:?}");
    if let Some((low, high)) = layout.bounds() {
        assert!(
            low <= layout.offset() && layout.offset() <= high && high <= MAX,
            "{layout:?}"
        );
    } else {
        assert_eq!(layout.offset(), 0);
    }
    let _ = (
        layout.order(),
        layout.is_self_overlapping(),
        layout.fits(10),
        layout.check_fits(MAX),
    );
}

fn index(dice: &mut Dice) -> Index {
    let mut bound = || {
        if dice.one_in(3) {
            None
        } else {
            Some(number(dice))
        }
    };
    let (start, end) = (bound(), bound());
    match dice.below(5) {
        0 => Index::Point(number(dice)),
        1 => Index::All,
        2 => Index::NewAxis,
        _ => Index::Interval {
            start,
            end,
            step: number(dice),
        },
    }
}

fn derive(dice: &mut Dice, layout: &Layout) -> Vec<Layout> {
    let axis = dice.between(-4, 4);
    let list: Vec<Index> = (0..dice.below(4)).map(|_| index(dice)).collect();
    let target: Shape = (0..dice.below(4)).map(|_| size(dice)).collect();
    let sizes: Vec<isize> = (0..dice.below(4)).map(|_| number(dice)).collect();
    let order = dice.order();
    [
        layout.index(&list),
        layout.broadcast_to(&target),
        layout.flip(axis),
        layout.diagonal(number(dice)),
        layout.windows(axis, size(dice), size(dice)),
        layout.slice(number(dice), axis),
        layout.narrow(axis, size(dice)..size(dice)),
        layout.swap_axes(axis, 0),
        layout.move_axis(axis, 0),
        layout.expand_dims(axis),
        layout.squeeze(axis),
        layout.tensor_along(size(dice), axis),
        layout.tensor_along(0, keep(axis)),
        layout.shifted(number(dice)),
        Ok(layout.transpose()),
        Ok(layout.squeeze_all()),
    ]
    .into_iter()
    .filter_map(|result| {
        result
            .map_err(|error| assert!(!error.to_string().is_empty()))
            .ok()
    })
    .chain(layout.reshape(&sizes, order).ok().flatten())
    .chain(layout.flatten(order))
    .chain(layout.view_as(&target, order))
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_argument_overflows(mut dice in dice()) {
        let shape: Shape = (0..dice.below(4)).map(|_| size(&mut dice)).collect();
        let other: Shape = (0..dice.below(4)).map(|_| size(&mut dice)).collect();
        let strides: Strides = shape.iter().map(|_| number(&mut dice)).collect();
        let _ = (broadcast_shapes(&shape, &other), matmul_shape(&shape, &other));
        let _ = (concat_shapes(&[&shape, &other], 0), stack_shapes(&[&shape, &shape], 0));
        let made = [
            Layout::new(shape.clone(), strides, size(&mut dice)),
            Layout::contiguous(shape, Order::F),
            Layout::contiguous(other, Order::C),
        ];
        let mut layouts: Vec<Layout> = made.into_iter().filter_map(Result::ok).collect();
        layouts.push(Layout::scalar());
        for _ in 0..3 {
            let layout = layouts[dice.below(layouts.len())].clone();
            let views = derive(&mut dice, &layout);
            views.iter().for_each(check);
            for view in &views {
                let _ = overlap(&layout, 8, view, 16);
                let nest = LoopNest::for_layouts(&[view, view]).unwrap();
                prop_assert_eq!(nest.elements(), view.elements());
                let mut parts = nest.split(size(&mut dice), size(&mut dice));
                if let Some(range) = parts.next_back() {
                    let mut runs = nest.runs(range);
                    let _ = runs.next_run().map(|run| run.len);
                    let _ = runs.next_run().map(|run| run.len);
                }
            }
            layouts.extend(views);
        }
    }
}

#[test]
fn too_large_shapes_are_errors() {
    let cases: [&[usize]; 6] = [
        &[usize::MAX],
        &[MAX, 2],
        &[1 << 32, 1 << 32],
        &[0, usize::MAX],
        &[MAX, 0, 2],
        &[1 << 63],
    ];
    for case in cases {
        let shape = Shape::from(case);
        let error = Layout::contiguous(&shape, Order::C).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "shape {shape} spans more elements than can be addressed (9223372036854775807)"
            )
        );
    }
    assert!(Layout::contiguous([MAX], Order::C).is_ok());
    assert!(Layout::contiguous([0, MAX], Order::C).is_ok());
    assert!(Layout::new([2], [isize::MAX], 1).is_err());
    assert!(Layout::new([2], [isize::MAX], 0).is_ok());
    assert!(
        Layout::scalar()
            .broadcast_to(&Shape::from([MAX, MAX]))
            .is_err()
    );
}
