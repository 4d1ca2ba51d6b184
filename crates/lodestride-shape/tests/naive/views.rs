//! Indexing, broadcasting, reshaping, permuting and tensors along dimensions, each against a naive model that lists
//! every element.

use crate::model::{Model, dice, positions, python_slice};
use lodestride_shape::{
    Axes, Index, Layout, NdIndexIterator, Order, Shape, ShapeError, broadcast_shapes, keep,
};
use proptest::prelude::*;

fn as_elements(layout: &Layout, order: Order) -> Vec<isize> {
    layout.offsets(order).map(usize::cast_signed).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn indexing_takes_what_the_model_takes(mut dice in dice()) {
        let layout = dice.layout(4, true);
        let list = dice.indices(layout.shape());
        let expected = Model::of(&layout).index(&list);
        match layout.index(&list) {
            Ok(view) => prop_assert_eq!(Some(Model::of(&view)), expected, "{:?} {:?}", layout, list),
            Err(error) => prop_assert!(expected.is_none(), "{:?} {:?}: {}", layout, list, error),
        }
    }

    #[test]
    fn offsets_bounds_and_contiguity_follow_from_the_elements(mut dice in dice()) {
        let layout = dice.layout(4, true);
        let model = Model::of(&layout);
        for order in [Order::C, Order::F] {
            let elements = model.in_order(order);
            prop_assert_eq!(as_elements(&layout, order), elements.clone());
            let first = layout.offset().cast_signed();
            let gap_free = elements.iter().enumerate().all(|(i, &e)| e == first + i.cast_signed());
            prop_assert_eq!(layout.is_contiguous(order), gap_free, "{:?} {}", layout, order);
        }
        let bounds = model.elements.iter().min().zip(model.elements.iter().max());
        prop_assert_eq!(layout.bounds(), bounds.map(|(&l, &h)| (l.unsigned_abs(), h.unsigned_abs())));
        prop_assert_eq!(layout.elements(), model.elements.len());
        for (position, &element) in positions(layout.shape()).iter().zip(&model.elements) {
            let from_front: Vec<isize> = position.iter().map(|i| i.cast_signed()).collect();
            let from_end: Vec<isize> =
                from_front.iter().zip(layout.shape()).map(|(i, size)| i - size.cast_signed()).collect();
            prop_assert_eq!(layout.offset_of(&from_front).unwrap().cast_signed(), element);
            prop_assert_eq!(layout.offset_of(&from_end).unwrap().cast_signed(), element);
        }
    }

    #[test]
    fn broadcasting_repeats_elements(mut dice in dice()) {
        let layout = dice.layout(3, true);
        let mut target: Shape = layout.shape().clone();
        for size in target.iter_mut() {
            *size = match dice.below(8) { 0 => 1, 1 => 2, 2 => 0, _ if *size == 1 => 3, _ => *size };
        }
        for _ in 0..dice.below(3) {
            target.insert(0, dice.below(3));
        }
        if dice.one_in(10) && target.rank() > 0 {
            target.remove(0);
        }
        let lead = target.rank().checked_sub(layout.rank());
        let possible = lead.is_some_and(|lead| {
            layout.shape().iter().zip(&target[lead..]).all(|(&have, &want)| have == 1 || have == want)
        });
        match layout.broadcast_to(&target) {
            Ok(view) => {
                prop_assert!(possible);
                let lead = lead.unwrap();
                let expected = Model::of(&layout).gather(&target, |p| {
                    p[lead..].iter().zip(layout.shape()).map(|(&i, &size)| if size == 1 { 0 } else { i }).collect()
                });
                prop_assert_eq!(Model::of(&view), expected);
            }
            Err(error) => prop_assert!(!possible, "{}", error),
        }
    }

    #[test]
    fn common_shapes_are_the_least_both_reach(mut dice in dice()) {
        let (a, b) = (dice.shape(4), dice.shape(4));
        match (broadcast_shapes(&a, &b), broadcast_shapes(&b, &a)) {
            (Ok(common), Ok(other_way)) => {
                prop_assert_eq!(&common, &other_way);
                prop_assert_eq!(common.rank(), a.rank().max(b.rank()));
                for shape in [&a, &b] {
                    prop_assert!(Layout::contiguous(shape, Order::C).unwrap().broadcast_to(&common).is_ok());
                }
                for (axis, &size) in common.iter().enumerate() {
                    let from = |s: &Shape| (axis + s.rank()).checked_sub(common.rank()).map(|axis| s[axis]);
                    prop_assert!(from(&a) == Some(size) || from(&b) == Some(size));
                }
            }
            (Err(ShapeError::Broadcast { axis, .. }), Err(_)) => {
                let rank = a.rank().max(b.rank());
                let (x, y) = (a[axis + a.rank() - rank], b[axis + b.rank() - rank]);
                prop_assert!(x != y && x != 1 && y != 1);
            }
            (one, other) => prop_assert!(false, "{:?} {:?}", one, other),
        }
    }

    #[test]
    fn reshape_is_a_view_exactly_when_strides_can_say_it(mut dice in dice()) {
        let layout = dice.layout(4, true);
        let order = dice.order();
        let mut rest = layout.elements();
        let mut shape = Shape::scalar();
        while rest > 1 && shape.rank() < 5 {
            let factors: Vec<usize> = (1..=rest).filter(|f| rest % f == 0).collect();
            let factor = factors[dice.below(factors.len())];
            shape.push(factor);
            rest /= factor;
        }
        if rest != 1 || dice.one_in(4) {
            shape.push(rest);
        }
        let sizes: Vec<isize> = shape.iter().map(|size| size.cast_signed()).collect();
        let elements = Model::of(&layout).in_order(order);
        // The elements in the wanted shape and order; the only strides that could work are the first differences.
        let wanted: Vec<Vec<usize>> =
            NdIndexIterator::new(&shape, order).map(|position| position.to_vec()).collect();
        let step = |axis: usize| {
            let neighbour = wanted.iter().position(|p| p.iter().sum::<usize>() == 1 && p[axis] == 1);
            neighbour.map_or(0, |n| elements[n] - elements[0])
        };
        let strides: Vec<isize> = (0..shape.rank()).map(step).collect();
        let affine = wanted.iter().zip(&elements).all(|(p, &e)| {
            e - elements[0] == p.iter().zip(&strides).map(|(&i, &s)| i.cast_signed() * s).sum::<isize>()
        });
        match layout.reshape(&sizes, order).unwrap() {
            Some(view) => {
                prop_assert_eq!(view.shape(), &shape);
                prop_assert_eq!(as_elements(&view, order), elements);
            }
            None => prop_assert!(!affine, "{:?} -> {} in {}", layout, shape, order),
        }
    }

    #[test]
    fn axes_move_as_the_model_moves_them(mut dice in dice()) {
        let layout = dice.layout(4, true);
        let model = Model::of(&layout);
        let rank = layout.rank();
        let order = dice.permutation(rank);
        let signed: Vec<isize> =
            order.iter().map(|a| a.cast_signed() - if dice.one_in(3) { rank.cast_signed() } else { 0 }).collect();
        let unpermute = |p: &[usize]| {
            let mut source = vec![0; rank];
            order.iter().zip(p).for_each(|(&axis, &i)| source[axis] = i);
            source
        };
        let shape: Vec<usize> = order.iter().map(|&axis| layout.shape()[axis]).collect();
        prop_assert_eq!(Model::of(&layout.permute(&signed).unwrap()), model.gather(&shape, unpermute));
        prop_assert_eq!(Model::of(&layout.transpose()).elements, model.in_f_order());
        if rank == 0 {
            return Ok(());
        }
        let (a, b) = (dice.below(rank), dice.below(rank));
        let (ia, ib) = (a.cast_signed(), b.cast_signed());
        let mut swapped: Vec<usize> = (0..rank).collect();
        swapped.swap(a, b);
        let by = |axes: &[usize]| {
            let axes: Vec<isize> = axes.iter().map(|axis| axis.cast_signed()).collect();
            layout.permute(&axes).unwrap()
        };
        prop_assert_eq!(layout.swap_axes(ia, ib).unwrap(), by(&swapped));
        let mut moved: Vec<usize> = (0..rank).collect();
        let axis = moved.remove(a);
        moved.insert(b, axis);
        prop_assert_eq!(layout.move_axis(ia, ib).unwrap(), by(&moved));
        let flipped = model.gather(&model.shape, |p| {
            let mut source = p.to_vec();
            source[a] = model.shape[a] - 1 - p[a];
            source
        });
        prop_assert_eq!(Model::of(&layout.flip(ia).unwrap()), flipped);
        let expanded = layout.expand_dims(ia).unwrap();
        prop_assert_eq!(&Model::of(&expanded).elements, &model.elements);
        prop_assert_eq!(expanded.shape()[a], 1);
        prop_assert_eq!(Model::of(&expanded.squeeze(ia).unwrap()), model.clone());
        prop_assert!(layout.squeeze_all().shape().iter().all(|&size| size != 1));
        prop_assert_eq!(Model::of(&layout.squeeze_all()).elements, model.elements);
    }

    #[test]
    fn diagonals_and_windows_list_the_right_elements(mut dice in dice()) {
        let layout = dice.layout(4, true);
        let model = Model::of(&layout);
        let rank = layout.rank();
        if rank >= 2 {
            let k = dice.between(-5, 5);
            let (height, width) = (model.shape[rank - 2].cast_signed(), model.shape[rank - 1].cast_signed());
            let length = (0..height).filter(|row| (0..width).contains(&(row + k))).count();
            let shape = [&model.shape[..rank - 2], &[length]].concat();
            let (down, right) = ((-k).max(0).unsigned_abs(), k.max(0).unsigned_abs());
            let expected = model.gather(&shape, |p| [&p[..rank - 2], &[p[rank - 2] + down, p[rank - 2] + right]].concat());
            prop_assert_eq!(Model::of(&layout.diagonal(k).unwrap()), expected);
        }
        if rank >= 1 {
            let (axis, length, step) = (dice.below(rank), 1 + dice.below(4), 1 + dice.below(3));
            let size = model.shape[axis];
            let windows = layout.windows(axis.cast_signed(), length, step);
            if length > size {
                prop_assert_eq!(windows, Err(ShapeError::Window { length, step, size }));
            } else {
                let count = (0..size).step_by(step).filter(|start| start + length <= size).count();
                let mut shape = model.shape.clone();
                shape[axis] = count;
                shape.push(length);
                let expected = model.gather(&shape, |p| {
                    let mut source = p[..rank].to_vec();
                    source[axis] = p[axis] * step + p[rank];
                    source
                });
                prop_assert_eq!(Model::of(&windows.unwrap()), expected);
            }
            let (from, to) = (dice.below(size + 1), dice.below(size + 1));
            let narrowed = layout.narrow(axis.cast_signed(), from..to);
            if from <= to {
                let mut list = vec![Index::All; axis];
                list.push(Index::from(from..to));
                prop_assert_eq!(Some(Model::of(&narrowed.unwrap())), model.index(&list));
            } else {
                prop_assert!(narrowed.is_err());
            }
        }
    }

    #[test]
    fn tensors_along_axes_divide_the_array(mut dice in dice()) {
        let layout = dice.layout(4, true);
        let model = Model::of(&layout);
        let rank = layout.rank();
        let mut listed: Vec<isize> = Vec::new();
        for axis in dice.permutation(rank) {
            for _ in 0..dice.below(3) {
                listed.push(axis.cast_signed() - if dice.one_in(3) { rank.cast_signed() } else { 0 });
            }
        }
        let along = |axis: usize| {
            listed.contains(&axis.cast_signed()) || listed.contains(&(axis.cast_signed() - rank.cast_signed()))
        };
        let block: Vec<usize> = (0..rank).filter(|&axis| along(axis)).map(|axis| model.shape[axis]).collect();
        let others: Vec<usize> = (0..rank).filter(|&axis| !along(axis)).map(|axis| model.shape[axis]).collect();
        let count = layout.tensors_along(listed.as_slice()).unwrap();
        prop_assert_eq!(count, others.iter().product::<usize>());
        for (i, fixed) in positions(&others).iter().enumerate() {
            let expected = model.gather(&block, |p| {
                let (mut p, mut fixed) = (p.iter(), fixed.iter());
                (0..rank).map(|axis| *if along(axis) { p.next() } else { fixed.next() }.unwrap()).collect()
            });
            prop_assert_eq!(Model::of(&layout.tensor_along(i, listed.as_slice()).unwrap()), expected.clone());
            let kept = layout.tensor_along(i, keep(listed.as_slice())).unwrap();
            prop_assert_eq!(kept.rank(), block.len().max(2));
            prop_assert_eq!(Model::of(&kept).elements, expected.elements);
        }
        let beyond = layout.tensor_along(count, listed.as_slice());
        prop_assert_eq!(beyond, Err(ShapeError::TensorOutOfRange { index: count, count }));
    }

    #[test]
    fn reduced_shapes_drop_or_keep_the_axes(mut dice in dice()) {
        let shape = dice.shape(5);
        let listed: Vec<usize> = (0..shape.rank()).filter(|_| dice.one_in(2)).collect();
        let dropped: Vec<usize> =
            (0..shape.rank()).filter(|axis| !listed.contains(axis)).map(|axis| shape[axis]).collect();
        let kept: Vec<usize> =
            (0..shape.rank()).map(|axis| if listed.contains(&axis) { 1 } else { shape[axis] }).collect();
        prop_assert_eq!(Axes::from(&listed).reduced_shape(&shape).unwrap(), Shape::from(dropped));
        prop_assert_eq!(keep(&listed).reduced_shape(&shape).unwrap(), Shape::from(kept));
        prop_assert_eq!(Axes::from(..).reduced_shape(&shape).unwrap(), Shape::scalar());
    }

    #[test]
    fn positions_come_in_order(mut dice in dice()) {
        let shape = dice.shape(5);
        let walked: Vec<Vec<usize>> = NdIndexIterator::new(&shape, Order::C).map(|p| p.to_vec()).collect();
        prop_assert_eq!(NdIndexIterator::new(&shape, Order::C).len(), walked.len());
        prop_assert_eq!(&walked, &positions(&shape));
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let backwards: Vec<Vec<usize>> =
            positions(&reversed).iter().map(|p| p.iter().rev().copied().collect()).collect();
        let walked: Vec<Vec<usize>> = NdIndexIterator::new(&shape, Order::F).map(|p| p.to_vec()).collect();
        prop_assert_eq!(walked, backwards);
    }
}

/// Every combination of bounds and step on small axes against CPython's own answers.
#[test]
fn intervals_are_pythons_slices() {
    let bound = |text: &str| (text != "-").then(|| text.parse::<isize>().unwrap());
    let mut wrong = Vec::new();
    let lines = include_str!("../../testdata/python_slices.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let (question, answer) = line.split_once(':').unwrap();
        let fields: Vec<&str> = question.split_whitespace().collect();
        let size: usize = fields[0].parse().unwrap();
        let (start, end, step) = (
            bound(fields[1]),
            bound(fields[2]),
            fields[3].parse().unwrap(),
        );
        let expected: Vec<usize> = answer
            .split_whitespace()
            .map(|i| i.parse().unwrap())
            .collect();
        let view = Layout::contiguous([size], Order::C)
            .unwrap()
            .index(&[Index::Interval { start, end, step }]);
        let ours: Vec<usize> = view.unwrap().offsets(Order::C).collect();
        if ours != expected || python_slice(size, start, end, step) != expected {
            wrong.push(format!("{line} but got {ours:?}"));
        }
        count += 1;
    }
    assert_eq!(count, 1944);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
