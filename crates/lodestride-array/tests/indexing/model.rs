//! What an index list means, said with plain loops over positions: the model the library is compared with. Nothing here uses
//! strides, views or the library's rules; entries are converted for the library at the end.

use lodestride_array::{FancyIndex, Index, NdArray};

/// One entry of an index list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    Point(isize),
    Interval(Option<isize>, Option<isize>, isize),
    All,
    NewAxis,
    Ellipsis,
    List(Vec<usize>, Vec<i64>),
    Mask(Vec<usize>, Vec<bool>),
}

/// What a list picks: the shape of the part and, in its C order, the C-order number of each element in the array.
pub(crate) type Part = (Vec<usize>, Vec<usize>);

/// What becomes of an axis of the array, or of none.
enum Token {
    /// An axis of the result that shows these positions of an axis of the array (`None`: a new axis).
    Shown(Option<usize>, Vec<usize>),
    /// Positions of an index array, along an axis; a point is one without a shape.
    Picked(usize, Vec<usize>, Vec<usize>),
    /// Stands for no axis, but stands between.
    Gap,
}

fn wrap(index: i64, size: usize) -> Option<usize> {
    let index = if index < 0 {
        index + size as i64
    } else {
        index
    };
    (0..size as i64).contains(&index).then_some(index as usize)
}

/// The positions of a Python slice.
fn slice(size: usize, start: Option<isize>, end: Option<isize>, step: isize) -> Vec<usize> {
    let n = size as isize;
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let place = |bound: isize| {
        (if bound < 0 { bound + n } else { bound })
            .max(low)
            .min(high)
    };
    let mut at = start.map_or(if step > 0 { low } else { high }, place);
    let end = end.map_or(if step > 0 { high } else { low }, place);
    let mut all = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        all.push(at as usize);
        at += step;
    }
    all
}

/// Calls a function with every position of a shape, in C order.
pub(crate) fn each_position(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    let count: usize = shape.iter().product();
    let mut position = vec![0; shape.len()];
    for _ in 0..count {
        visit(&position);
        for (digit, &size) in position.iter_mut().zip(shape).rev() {
            *digit += 1;
            if *digit < size {
                break;
            }
            *digit = 0;
        }
    }
}

fn number(shape: &[usize], position: &[usize]) -> usize {
    position
        .iter()
        .zip(shape)
        .fold(0, |n, (i, size)| n * size + i)
}

/// The number of an element of an array stretched to a larger shape.
pub(crate) fn stretched_number(shape: &[usize], position: &[usize]) -> usize {
    let behind = &position[position.len() - shape.len()..];
    let own = behind
        .iter()
        .zip(shape)
        .map(|(&i, &size)| if size == 1 { 0 } else { i });
    number(shape, &own.collect::<Vec<_>>())
}

/// The shape that shapes broadcast to.
fn common(shapes: &[&[usize]]) -> Option<Vec<usize>> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut all = vec![1; rank];
    for shape in shapes {
        let shift = rank - shape.len();
        for (axis, &size) in shape.iter().enumerate() {
            let place = &mut all[shift + axis];
            match (*place, size) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *place = b,
                _ => return None,
            }
        }
    }
    Some(all)
}

fn tokens(shape: &[usize], entries: &[Entry]) -> Option<Vec<Token>> {
    let used = |entry: &Entry| match entry {
        Entry::NewAxis | Entry::Ellipsis => 0,
        Entry::Mask(mask, _) => mask.len(),
        _ => 1,
    };
    let left = shape.len().checked_sub(entries.iter().map(used).sum())?;
    let mut entries = entries.to_vec();
    if !entries.contains(&Entry::Ellipsis) {
        entries.push(Entry::Ellipsis);
    }
    let (mut tokens, mut axis) = (Vec::new(), 0);
    for entry in entries {
        let size = shape.get(axis).copied();
        match entry {
            Entry::NewAxis => tokens.push(Token::Shown(None, vec![0])),
            Entry::Ellipsis => {
                tokens.push(Token::Gap);
                for _ in 0..left {
                    tokens.push(Token::Shown(Some(axis), (0..shape[axis]).collect()));
                    axis += 1;
                }
                continue;
            }
            Entry::Point(i) => {
                tokens.push(Token::Picked(axis, vec![], vec![wrap(i as i64, size?)?]));
            }
            Entry::All => tokens.push(Token::Shown(Some(axis), (0..size?).collect())),
            Entry::Interval(start, end, step) => {
                tokens.push(Token::Shown(Some(axis), slice(size?, start, end, step)));
            }
            Entry::List(list, values) => {
                let places: Option<Vec<usize>> =
                    values.iter().map(|&i| wrap(i, shape[axis])).collect();
                tokens.push(Token::Picked(axis, list, places?));
            }
            Entry::Mask(mask, flags) => {
                if mask[..] != shape[axis..axis + mask.len()] {
                    return None;
                }
                let (mut set, mut flags) = (Vec::new(), flags.into_iter());
                each_position(&mask, |position| {
                    if flags.next().unwrap() {
                        set.push(position.to_vec());
                    }
                });
                for along in 0..mask.len() {
                    let places = set.iter().map(|position| position[along]).collect();
                    tokens.push(Token::Picked(axis, vec![set.len()], places));
                    axis += 1;
                }
                continue;
            }
        }
        axis += usize::from(!matches!(tokens.last(), Some(Token::Shown(None, _))));
    }
    Some(tokens)
}

/// What a list picks by NumPy's rules; `None` where that is an error.
pub(crate) fn pick(shape: &[usize], entries: &[Entry]) -> Option<Part> {
    let tokens = tokens(shape, entries)?;
    let is_array = |entry: &Entry| matches!(entry, Entry::List(..) | Entry::Mask(..));
    let has_arrays = entries.iter().any(is_array);
    let picked: Vec<usize> = (0..tokens.len())
        .filter(|&i| matches!(tokens[i], Token::Picked(..)))
        .collect();
    let shapes: Vec<&[usize]> = (tokens.iter())
        .filter_map(|token| match token {
            Token::Picked(_, shape, _) => Some(&shape[..]),
            _ => None,
        })
        .collect();
    let indexed = common(&shapes)?;
    let side_by_side = picked.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let first = picked
        .first()
        .copied()
        .filter(|_| has_arrays && side_by_side);
    // The axes of the result: shown ones by token, and those of the index arrays at one place.
    let shown_before = |end: usize| {
        tokens[..end]
            .iter()
            .filter(|t| matches!(t, Token::Shown(..)))
            .count()
    };
    let at = first.map_or(0, shown_before);
    let mut out: Vec<usize> = (tokens.iter())
        .filter_map(|token| match token {
            Token::Shown(_, positions) => Some(positions.len()),
            _ => None,
        })
        .collect();
    out.splice(at..at, indexed.iter().copied());
    let (mut places, mut place) = (Vec::new(), vec![0; shape.len()]);
    each_position(&out, |position| {
        let at_indexed = &position[at..at + indexed.len()];
        let mut shown = position[..at].iter().chain(&position[at + indexed.len()..]);
        for token in &tokens {
            match token {
                Token::Shown(axis, positions) => {
                    let i = positions[*shown.next().unwrap()];
                    if let Some(axis) = axis {
                        place[*axis] = i;
                    }
                }
                Token::Picked(axis, own, values) => {
                    place[*axis] = values[stretched_number(own, at_indexed)]
                }
                Token::Gap => {}
            }
        }
        places.push(number(shape, &place));
    });
    Some((out, places))
}

/// What a list picks if each of its lists goes by its own axis.
pub(crate) fn pick_outer(shape: &[usize], entries: &[Entry]) -> Option<Part> {
    let tokens: Vec<Token> = tokens(shape, entries)?;
    let out: Vec<usize> = (tokens.iter())
        .filter_map(|token| match token {
            Token::Shown(_, positions) => Some(positions.len()),
            Token::Picked(_, own, values) if !own.is_empty() => Some(values.len()),
            _ => None,
        })
        .collect();
    let (mut places, mut place) = (Vec::new(), vec![0; shape.len()]);
    each_position(&out, |position| {
        let mut rest = position.iter();
        for token in &tokens {
            match token {
                Token::Shown(Some(axis), positions) => {
                    place[*axis] = positions[*rest.next().unwrap()]
                }
                Token::Shown(None, _) => drop(rest.next()),
                Token::Picked(axis, own, values) if own.is_empty() => place[*axis] = values[0],
                Token::Picked(axis, _, values) => place[*axis] = values[*rest.next().unwrap()],
                Token::Gap => {}
            }
        }
        places.push(number(shape, &place));
    });
    Some((out, places))
}

impl Entry {
    /// The entry as a basic index, where it is one.
    pub(crate) fn basic(&self) -> Option<Index> {
        Some(match *self {
            Entry::Point(i) => Index::Point(i),
            Entry::Interval(start, end, step) => Index::Interval { start, end, step },
            Entry::All => Index::All,
            Entry::NewAxis => Index::NewAxis,
            Entry::Ellipsis => Index::Ellipsis,
            Entry::List(..) | Entry::Mask(..) => return None,
        })
    }

    /// The entry as the library takes it; lists of one axis go as lists by turns with arrays.
    pub(crate) fn fancy(&self, as_array: bool) -> FancyIndex {
        match self {
            Entry::List(shape, values) if shape.len() == 1 && !as_array => {
                FancyIndex::from(&values[..])
            }
            Entry::List(shape, values) => NdArray::from_vec(values.clone(), &shape[..])
                .unwrap()
                .into(),
            Entry::Mask(shape, flags) if shape.len() == 1 && !as_array => {
                FancyIndex::from(&flags[..])
            }
            Entry::Mask(shape, flags) => {
                NdArray::from_vec(flags.clone(), &shape[..]).unwrap().into()
            }
            basic => basic.basic().unwrap().into(),
        }
    }
}
