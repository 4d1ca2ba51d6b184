//! Loop nests and overlap, against lists of the element indices they stand for.

use std::collections::HashSet;

use lodestride_shape::{Layout, LoopNest, Order, Overlap, Shape, overlap};
use proptest::prelude::*;

use crate::model::{Dice, Model, dice, positions};

/// The element index of every operand at every position, in C order of the shape.
fn naive_walk(shape: &[usize], strides: &[&[isize]]) -> Vec<Vec<isize>> {
    let operands: Vec<Vec<isize>> = strides
        .iter()
        .map(|strides| Model::from_parts(shape, strides, 0).elements)
        .collect();
    (0..positions(shape).len())
        .map(|i| operands.iter().map(|elements| elements[i]).collect())
        .collect()
}

/// What the nest visits in the given ranges, one entry per position.
fn nest_walk(
    nest: &LoopNest,
    ranges: impl Iterator<Item = std::ops::Range<usize>>,
) -> Vec<Vec<isize>> {
    let mut visited = Vec::new();
    for range in ranges {
        let mut at = range.start;
        let mut runs = nest.runs(range.clone());
        while let Some(run) = runs.next_run() {
            assert_eq!(run.position, at);
            assert!(run.len > 0 && run.len <= nest.inner_len());
            for i in 0..run.len.cast_signed() {
                let steps = run.offsets.iter().zip(nest.inner_strides());
                visited.push(steps.map(|(offset, stride)| offset + i * stride).collect());
            }
            at += run.len;
        }
        assert_eq!(at, range.end);
    }
    visited
}

/// [`nest_walk`] by blocks of runs, every third run on its own.
fn block_walk(
    nest: &LoopNest,
    ranges: impl Iterator<Item = std::ops::Range<usize>>,
) -> Vec<Vec<isize>> {
    let mut visited = Vec::new();
    let inner = nest.inner_strides();
    for range in ranges {
        let mut runs = nest.runs(range);
        for turn in 0.. {
            let (first, count, steps) = if turn % 3 == 2 {
                let Some(run) = runs.next_run() else { break };
                (run, 1, &[][..])
            } else {
                let Some(block) = runs.next_block() else {
                    break;
                };
                (block.first, block.count, block.steps)
            };
            assert_eq!(first.position, visited.len());
            for row in 0..count.cast_signed() {
                for i in 0..first.len.cast_signed() {
                    let at = |operand: usize| {
                        let rows = if row == 0 { 0 } else { row * steps[operand] };
                        first.offsets[operand] + rows + i * inner[operand]
                    };
                    visited.push((0..inner.len()).map(at).collect());
                }
            }
        }
    }
    visited
}

fn operands(dice: &mut Dice, shape: &Shape) -> Vec<lodestride_shape::Strides> {
    (0..=dice.below(4)).map(|_| dice.operand(shape)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_nest_visits_every_position_once(mut dice in dice()) {
        let shape = dice.shape(5);
        let operands = operands(&mut dice, &shape);
        let strides: Vec<&[isize]> = operands.iter().map(|s| s.as_slice()).collect();
        let nest = LoopNest::new(&shape, &strides);
        prop_assert_eq!(nest.elements(), shape.elements());
        prop_assert_eq!(nest.run_count() * nest.inner_len(), nest.elements());
        let (parts, grain) = (1 + dice.below(5), dice.below(6));
        let ranges: Vec<_> = nest.split(parts, grain).collect();
        prop_assert!(ranges.len() <= parts);
        prop_assert_eq!(ranges[0].start, 0);
        prop_assert_eq!(ranges[ranges.len() - 1].end, nest.elements());
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        let longest = ranges.iter().map(|range| range.len()).max().unwrap();
        let unit = grain.max(1).min(nest.inner_len().max(1));
        prop_assert!(longest <= nest.elements() / parts + 2 * unit, "{:?}", ranges);
        prop_assert_eq!(
            &block_walk(&nest, ranges.clone().into_iter()),
            &nest_walk(&nest, ranges.clone().into_iter())
        );
        let visited = nest_walk(&nest, ranges.into_iter());
        prop_assert_eq!(&visited, &nest_walk(&nest, std::iter::once(0..nest.elements())));
        let (mut visited, mut expected) = (visited, naive_walk(&shape, &strides));
        visited.sort();
        expected.sort();
        prop_assert_eq!(visited, expected);
        for axis in 1..nest.sizes().len() {
            let step = |axis: usize| nest.axis_strides(axis)[0].unsigned_abs();
            prop_assert!(step(axis - 1) >= step(axis), "destination steps shrink inwards: {:?}", nest);
        }
        prop_assert!(nest.inner_strides()[0] >= 0);
    }

    #[test]
    fn a_nest_in_order_visits_in_c_order(mut dice in dice()) {
        let shape = dice.shape(5);
        let operands = operands(&mut dice, &shape);
        let strides: Vec<&[isize]> = operands.iter().map(|s| s.as_slice()).collect();
        let nest = LoopNest::in_order(&shape, &strides);
        prop_assert!(nest.start().iter().all(|&start| start == 0));
        let from = dice.below(nest.elements() + 1);
        let to = from + dice.below(nest.elements() - from + 1);
        let expected = naive_walk(&shape, &strides);
        prop_assert_eq!(nest_walk(&nest, std::iter::once(from..to)), &expected[from..to]);
        // Merging is complete: no two neighbours are left that all operands walk as one.
        for axis in 1..nest.sizes().len() {
            let size = nest.sizes()[axis].cast_signed();
            let pairs = nest.axis_strides(axis - 1).iter().zip(nest.axis_strides(axis));
            let one = pairs.into_iter().all(|(&outer, &inner)| outer == inner * size);
            prop_assert!(!one, "{:?}", nest);
        }
    }

    #[test]
    fn kept_and_reduced_nests_make_up_the_whole(mut dice in dice()) {
        let shape = dice.shape(4);
        let input = dice.operand(&shape);
        let reduced: Vec<usize> = (0..shape.rank()).filter(|_| dice.one_in(2)).collect();
        let kept: Vec<usize> = (0..shape.rank()).filter(|axis| !reduced.contains(axis)).collect();
        let outer = LoopNest::over_axes(&shape, &[&input], &kept);
        let inner = LoopNest::over_axes(&shape, &[&input], &reduced);
        let in_order = LoopNest::with_axis_order(&shape, &[&input], &reduced);
        let mut expected = naive_walk(&shape, &[&input]);
        expected.sort();
        for inner in [inner, in_order] {
            let mut visited = Vec::new();
            for base in nest_walk(&outer, std::iter::once(0..outer.elements())) {
                let block = nest_walk(&inner, std::iter::once(0..inner.elements()));
                visited.extend(block.iter().map(|at| vec![base[0] + at[0]]));
            }
            visited.sort();
            prop_assert_eq!(&visited, &expected);
        }
    }

    #[test]
    fn overlap_never_claims_too_much(mut dice in dice()) {
        let (a, b) = (dice.layout(3, true), dice.layout(3, true));
        let b = b.shifted(dice.between(0, 9)).unwrap_or(b);
        let (a_size, b_size) = ([1, 2, 4, 8][dice.below(4)], [1, 2, 4, 8][dice.below(4)]);
        let bytes = |layout: &Layout, size: usize| -> HashSet<usize> {
            layout.offsets(Order::C).flat_map(|e| e * size..(e + 1) * size).collect()
        };
        let shared = bytes(&a, a_size).intersection(&bytes(&b, b_size)).count();
        let answer = overlap(&a, a_size, &b, b_size);
        prop_assert_eq!(answer, Overlap::classify(&a, a_size, &b, b_size));
        match (answer, overlap(&b, b_size, &a, a_size)) {
            (Overlap::Disjoint, Overlap::Disjoint) => prop_assert_eq!(shared, 0, "{:?} {:?}", a, b),
            (Overlap::Identical, Overlap::Identical) => {
                prop_assert_eq!(a_size, b_size);
                prop_assert_eq!(Model::of(&a), Model::of(&b));
            }
            (Overlap::Partial, Overlap::Partial) => {
                prop_assert!(a_size != b_size || Model::of(&a) != Model::of(&b));
            }
            (one, other) => prop_assert!(false, "not symmetric: {:?} {:?}", one, other),
        }
    }

    #[test]
    fn self_overlap_is_found(mut dice in dice()) {
        let shape = dice.shape(3);
        let strides: Vec<isize> = shape.iter().map(|_| dice.between(-7, 7)).collect();
        let back: isize = shape.iter().zip(&strides).map(|(&n, &s)| (n.cast_signed() - 1).max(0) * s.min(0)).sum();
        let layout = Layout::new(shape.clone(), strides, back.unsigned_abs()).unwrap();
        let distinct: HashSet<usize> = layout.offsets(Order::C).collect();
        let shares = distinct.len() < layout.elements();
        if shares {
            prop_assert!(layout.is_self_overlapping(), "{:?}", layout);
            prop_assert!(layout.check_writable().is_err());
        } else if shape.iter().filter(|&&size| size > 1).count() <= 2 {
            prop_assert!(!layout.is_self_overlapping(), "{:?}", layout);
        }
    }

    #[test]
    fn views_of_a_plain_array_are_writable(mut dice in dice()) {
        let layout = dice.layout(4, false);
        prop_assert!(layout.check_writable().is_ok(), "{:?}", layout);
        prop_assert!(!layout.has_broadcast_axis());
    }
}
