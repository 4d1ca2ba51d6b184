//! A naive array of element indices to compare layouts with: every operation lists its elements one by one, without
//! strides. Also a source of random layouts.

use lodestride_shape::{Index, Layout, Order, Shape, Strides};
use proptest::prelude::*;

/// An array as a shape and the element index of every position, in C order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Vec<isize>,
}

/// All positions of a shape in C order, by counting.
pub(crate) fn positions(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &size in shape {
        all = all
            .iter()
            .flat_map(|head: &Vec<usize>| {
                (0..size)
                    .map(|i| [head.as_slice(), &[i]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

impl Model {
    pub(crate) fn of(layout: &Layout) -> Model {
        Model::from_parts(
            layout.shape(),
            layout.strides(),
            layout.offset().cast_signed(),
        )
    }

    pub(crate) fn from_parts(shape: &[usize], strides: &[isize], offset: isize) -> Model {
        let element = |position: Vec<usize>| {
            let steps = position.iter().zip(strides);
            offset
                + steps
                    .map(|(&i, &stride)| i.cast_signed() * stride)
                    .sum::<isize>()
        };
        Model {
            shape: shape.to_vec(),
            elements: positions(shape).into_iter().map(element).collect(),
        }
    }

    pub(crate) fn at(&self, position: &[usize]) -> isize {
        assert_eq!(position.len(), self.shape.len());
        let place = position.iter().zip(&self.shape).fold(0, |n, (&i, &size)| {
            assert!(i < size);
            n * size + i
        });
        self.elements[place]
    }

    /// The array of the given shape whose position `p` shows this array's position `source(p)`.
    pub(crate) fn gather(&self, shape: &[usize], source: impl Fn(&[usize]) -> Vec<usize>) -> Model {
        Model {
            shape: shape.to_vec(),
            elements: positions(shape)
                .iter()
                .map(|p| self.at(&source(p)))
                .collect(),
        }
    }

    /// The elements in F order.
    pub(crate) fn in_f_order(&self) -> Vec<isize> {
        let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
        let turn = |p: &[usize]| p.iter().rev().copied().collect::<Vec<_>>();
        self.gather(&reversed, turn).elements
    }

    pub(crate) fn in_order(&self, order: Order) -> Vec<isize> {
        match order {
            Order::C => self.elements.clone(),
            Order::F => self.in_f_order(),
        }
    }

    /// Applies an index list; `None` where an error is due.
    pub(crate) fn index(&self, indices: &[Index]) -> Option<Model> {
        let consumed = indices
            .iter()
            .filter(|i| !matches!(i, Index::NewAxis | Index::Ellipsis))
            .count();
        let ellipses = indices.iter().filter(|i| **i == Index::Ellipsis).count();
        let left = self.shape.len().checked_sub(consumed)?;
        if ellipses > 1 {
            return None;
        }
        let mut full = Vec::new();
        for &index in indices {
            if index == Index::Ellipsis {
                full.extend(vec![Index::All; left]);
            } else {
                full.push(index);
            }
        }
        if ellipses == 0 {
            full.extend(vec![Index::All; left]);
        }
        // For every result axis the source axis and the positions taken; points are result axes that get dropped.
        let mut taken: Vec<(Option<Vec<usize>>, bool)> = Vec::new();
        let mut sizes = self.shape.iter();
        for index in full {
            taken.push(match index {
                Index::NewAxis => (None, true),
                Index::Point(i) => {
                    let size = sizes.next()?.cast_signed();
                    let i = if i < 0 { i + size } else { i };
                    (0..size).contains(&i).then_some(())?;
                    (Some(vec![i.unsigned_abs()]), false)
                }
                Index::Interval { start, end, step } => {
                    (step != 0).then_some(())?;
                    (Some(python_slice(*sizes.next()?, start, end, step)), true)
                }
                _ => (Some((0..*sizes.next()?).collect()), true),
            });
        }
        let shape: Vec<usize> = taken
            .iter()
            .filter(|(_, stays)| *stays)
            .map(|(list, _)| list.as_ref().map_or(1, Vec::len))
            .collect();
        Some(self.gather(&shape, |p| {
            let mut p = p.iter();
            let mut source = Vec::new();
            for (list, stays) in &taken {
                let i = if *stays { *p.next().unwrap() } else { 0 };
                if let Some(list) = list {
                    source.push(list[i]);
                }
            }
            source
        }))
    }
}

/// The positions `range(size)[start:end:step]` has in Python, by walking.
pub(crate) fn python_slice(
    size: usize,
    start: Option<isize>,
    end: Option<isize>,
    step: isize,
) -> Vec<usize> {
    let size = size.cast_signed();
    let from_front = |bound: isize| if bound < 0 { bound + size } else { bound };
    let mut at = match start {
        None if step > 0 => 0,
        None => size - 1,
        // A start outside the axis begins at its edge, not at the first hit inside.
        Some(start) if step > 0 => from_front(start).max(0),
        Some(start) => from_front(start).min(size - 1),
    };
    let stop = match end {
        None if step > 0 => size,
        None => -1,
        Some(end) => from_front(end),
    };
    let mut taken = Vec::new();
    while (0..size).contains(&at) && (if step > 0 { at < stop } else { at > stop }) {
        taken.push(at.unsigned_abs());
        at += step;
    }
    taken
}

/// Random bytes as a supply of small decisions; a short supply ends in zeros, so that shrinking simplifies.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    bytes: Vec<u8>,
    next: usize,
}

/// Random decisions.
pub(crate) fn dice() -> impl Strategy<Value = Dice> {
    proptest::collection::vec(any::<u8>(), 0..96).prop_map(Dice::new)
}

impl Dice {
    pub(crate) fn new(bytes: Vec<u8>) -> Dice {
        Dice { bytes, next: 0 }
    }

    /// A number in `0..n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(byte) % n
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: isize, high: isize) -> isize {
        low + self.below((high - low + 1).unsigned_abs()).cast_signed()
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub(crate) fn shape(&mut self, max_rank: usize) -> Shape {
        let rank = self.below(max_rank + 1);
        (0..rank)
            .map(|_| {
                if self.one_in(12) {
                    0
                } else {
                    1 + self.below(4)
                }
            })
            .collect()
    }

    pub(crate) fn order(&mut self) -> Order {
        [Order::C, Order::F][self.below(2)]
    }

    pub(crate) fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut rest: Vec<usize> = (0..rank).collect();
        (0..rank)
            .map(|_| rest.remove(self.below(rest.len())))
            .collect()
    }

    /// An index list that may be wrong: points and bounds a little outside, sometimes too many.
    pub(crate) fn indices(&mut self, shape: &[usize]) -> Vec<Index> {
        let mut list = Vec::new();
        let count = self.below(shape.len() + 1) + usize::from(self.one_in(16));
        for axis in 0..count {
            if self.one_in(6) {
                list.push(Index::NewAxis);
            }
            if self.one_in(8) {
                list.push(Index::Ellipsis);
            }
            let size = shape.get(axis).copied().unwrap_or(2).cast_signed();
            list.push(match self.below(6) {
                0 => Index::All,
                1 if size > 0 => Index::Point(self.between(-size, size - 1)),
                1 | 2 if self.one_in(8) => Index::Point(self.between(-size - 2, size + 1)),
                _ => self.interval(size),
            });
        }
        if self.one_in(6) {
            list.push(Index::NewAxis);
        }
        list
    }

    fn interval(&mut self, size: isize) -> Index {
        let step = [1, 2, -1, -2, 3, -3, 7][self.below(7)];
        let mut bound = |around: isize| match self.below(4) {
            0 => None,
            1 => Some(self.between(-size - 2, size + 2)),
            _ => Some(around),
        };
        let (start, end) = if step > 0 {
            (bound(0), bound(size))
        } else {
            (bound(size), bound(-size - 1))
        };
        Index::Interval { start, end, step }
    }

    /// A layout made by a few random view operations on a contiguous one; broadcast axes only if asked for.
    pub(crate) fn layout(&mut self, max_rank: usize, broadcast: bool) -> Layout {
        let shape = self.shape(max_rank);
        let order = self.order();
        let mut layout = Layout::contiguous(shape, order)
            .unwrap()
            .shifted(0)
            .unwrap();
        for _ in 0..self.below(4) {
            let rank = layout.rank();
            layout = match self.below(5) {
                0 if rank > 0 => {
                    let order: Vec<isize> = self
                        .permutation(rank)
                        .iter()
                        .map(|a| a.cast_signed())
                        .collect();
                    layout.permute(&order).unwrap()
                }
                1 if rank > 0 => layout.flip(self.below(rank).cast_signed()).unwrap(),
                2 if broadcast && rank < max_rank => {
                    let mut shape = layout.shape().clone();
                    for size in shape.iter_mut() {
                        if *size == 1 {
                            *size = 1 + self.below(3);
                        }
                    }
                    shape.insert(0, 1 + self.below(3));
                    layout.broadcast_to(&shape).unwrap()
                }
                _ => {
                    let list = self.indices(layout.shape());
                    match layout.index(&list) {
                        Ok(view) if view.rank() <= max_rank => view,
                        _ => layout,
                    }
                }
            };
        }
        layout
    }

    /// Strides of one more operand for a shape: of a fresh permuted array, reversed and broadcast here and there.
    pub(crate) fn operand(&mut self, shape: &[usize]) -> Strides {
        let order: Vec<isize> = self
            .permutation(shape.len())
            .iter()
            .map(|a| a.cast_signed())
            .collect();
        let permuted: Shape = order.iter().map(|a| shape[a.unsigned_abs()]).collect();
        let fresh = permuted.contiguous_strides(Order::C).unwrap();
        let mut strides = Strides::filled(0, shape.len());
        for (place, axis) in order.iter().enumerate() {
            strides[axis.unsigned_abs()] = match self.below(6) {
                0 => 0,
                1 => -fresh[place],
                2 => 2 * fresh[place],
                _ => fresh[place],
            };
        }
        strides
    }
}
