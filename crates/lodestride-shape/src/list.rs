//! [`List`]: the short list of numbers that shapes and strides are made of.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Lists up to this length, and so shapes up to this rank, need no heap memory.
///
/// With 4, an array handle is 128 bytes: the largest value that compilers move in registers, without a call.
pub const INLINE_RANK: usize = 4;

/// Up to [`INLINE_RANK`] numbers in place, more on the heap.
///
/// Copying and comparing inline lists are moves of a fixed size, not calls with a length: layouts are made for every
/// view and every result.
#[derive(Debug)]
pub(crate) enum List<T> {
    /// Invariant: the items from `len` on are 0.
    Inline { len: Count, items: [T; INLINE_RANK] },
    /// Invariant: more than [`INLINE_RANK`].
    Heap(Vec<T>),
}

/// How many numbers lie in place. As wide as an item, and with values to spare that mark the other form, so that a list is
/// whole words: a copy in odd pieces cannot be loaded again before it has reached the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Count {
    Zero,
    One,
    Two,
    Three,
    Four,
}

const _: () = assert!(size_of::<List<usize>>() == size_of::<[usize; INLINE_RANK + 1]>());

impl Count {
    /// `None` for more than lie in place.
    #[inline]
    fn new(len: usize) -> Option<Count> {
        Some(match len {
            0 => Count::Zero,
            1 => Count::One,
            2 => Count::Two,
            3 => Count::Three,
            4 => Count::Four,
            _ => return None,
        })
    }

    #[inline]
    fn get(self) -> usize {
        self as usize
    }

    /// One more; `None` if that is too many.
    #[inline]
    fn more(self) -> Option<Count> {
        Count::new(self.get() + 1)
    }

    /// One less, but not less than none.
    #[inline]
    fn less(self) -> Count {
        match self {
            Count::Zero | Count::One => Count::Zero,
            Count::Two => Count::One,
            Count::Three => Count::Two,
            Count::Four => Count::Three,
        }
    }
}

impl<T: Copy + Default> List<T> {
    #[inline]
    pub(crate) fn from_slice(numbers: &[T]) -> List<T> {
        let Some(len) = Count::new(numbers.len()) else {
            return List::Heap(numbers.to_vec());
        };
        let mut items = [T::default(); INLINE_RANK];
        for (item, &number) in items.iter_mut().zip(numbers) {
            *item = number;
        }
        List::Inline { len, items }
    }

    #[inline]
    pub(crate) fn filled(number: T, len: usize) -> List<T> {
        let Some(count) = Count::new(len) else {
            return List::Heap(vec![number; len]);
        };
        let mut items = [T::default(); INLINE_RANK];
        for item in items.iter_mut().take(len) {
            *item = number;
        }
        List::Inline { len: count, items }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            List::Inline { len, items } => &items[..len.get()],
            List::Heap(items) => items,
        }
    }

    /// The list as an array, if it has this many numbers.
    #[inline]
    pub(crate) fn as_array<const N: usize>(&self) -> Option<&[T; N]> {
        match self {
            List::Inline { len, items } if len.get() == N => items.first_chunk(),
            List::Heap(items) if N > INLINE_RANK => items.as_slice().try_into().ok(),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        match self {
            List::Inline { len, items } => &mut items[..len.get()],
            List::Heap(items) => items,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, number: T) {
        if let List::Inline { len, items } = self
            && let Some(more) = len.more()
        {
            items[len.get()] = number;
            *len = more;
        } else {
            self.on_heap().push(number);
        }
    }

    #[inline]
    pub(crate) fn insert(&mut self, place: usize, number: T) {
        if let List::Inline { len, items } = self
            && let Some(more) = len.more()
            && place <= len.get()
        {
            items.copy_within(place..INLINE_RANK - 1, place + 1);
            items[place] = number;
            *len = more;
        } else {
            self.on_heap().insert(place, number);
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, place: usize) -> T {
        let number = self.as_slice()[place];
        *self = self.without(place);
        number
    }

    /// The list without the number at a place, which exists.
    #[inline]
    pub(crate) fn without(&self, place: usize) -> List<T> {
        let List::Inline { len, items } = self else {
            return self.without_on_heap(place);
        };
        let zero = T::default();
        let [a, b, c, d] = *items;
        let rest = match place {
            0 => [b, c, d, zero],
            1 => [a, c, d, zero],
            2 => [a, b, d, zero],
            _ => [a, b, c, zero],
        };
        List::Inline {
            len: len.less(),
            items: rest,
        }
    }

    /// The list from its end to its beginning.
    #[inline]
    pub(crate) fn reversed(&self) -> List<T> {
        let List::Inline { len, items } = self else {
            return List::Heap(self.as_slice().iter().rev().copied().collect());
        };
        let [a, b, c, d] = *items;
        let items = match len {
            Count::Zero | Count::One => *items,
            Count::Two => [b, a, c, d],
            Count::Three => [c, b, a, d],
            Count::Four => [d, c, b, a],
        };
        List::Inline { len: *len, items }
    }

    #[cold]
    #[inline(never)]
    fn without_on_heap(&self, place: usize) -> List<T> {
        let (front, back) = self.as_slice().split_at(place);
        List::from_slice(&[front, &back[1..]].concat())
    }

    /// The list as a vector, which can grow, and whose methods panic where a place does not exist.
    #[cold]
    fn on_heap(&mut self) -> &mut Vec<T> {
        if let List::Inline { .. } = self {
            *self = List::Heap(self.as_slice().to_vec());
        }
        match self {
            List::Heap(items) => items,
            List::Inline { .. } => unreachable!("moved to the heap above"),
        }
    }
}

impl<T: Copy> Clone for List<T> {
    #[inline]
    fn clone(&self) -> List<T> {
        match self {
            List::Inline { len, items } => List::Inline {
                len: *len,
                items: *items,
            },
            List::Heap(items) => List::Heap(items.clone()),
        }
    }
}

impl<T: Copy + Default> Default for List<T> {
    #[inline]
    fn default() -> List<T> {
        List::Inline {
            len: Count::Zero,
            items: [T::default(); INLINE_RANK],
        }
    }
}

impl<T: Copy + Default + PartialEq> PartialEq for List<T> {
    #[inline]
    fn eq(&self, other: &List<T>) -> bool {
        match (self, other) {
            (
                List::Inline { len, items },
                List::Inline {
                    len: other_len,
                    items: others,
                },
            ) => {
                // All of them, without a branch for each and without a call.
                let same = items
                    .iter()
                    .zip(others)
                    .fold(true, |same, (a, b)| same & (a == b));
                same & (len == other_len)
            }
            _ => self.as_slice() == other.as_slice(),
        }
    }
}

impl<T: Copy + Default + Eq> Eq for List<T> {}

impl<T: Copy + Default + Ord> PartialOrd for List<T> {
    fn partial_cmp(&self, other: &List<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Copy + Default + Ord> Ord for List<T> {
    fn cmp(&self, other: &List<T>) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl<T: Copy + Default + Hash> Hash for List<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl<T: Copy + Default> FromIterator<T> for List<T> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> List<T> {
        let mut list = List::default();
        numbers.into_iter().for_each(|number| list.push(number));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list does what a vector does, on both sides of the inline length.
    #[test]
    fn every_change_is_that_of_a_vector() {
        for len in 0..8usize {
            let numbers: Vec<usize> = (1..=len).collect();
            let list = List::from_slice(&numbers);
            assert_eq!(list.as_slice(), numbers);
            assert_eq!(numbers.iter().copied().collect::<List<_>>(), list);
            for place in 0..=len {
                let (mut longer, mut wanted) = (list.clone(), numbers.clone());
                longer.insert(place, 77);
                wanted.insert(place, 77);
                assert_eq!(longer.as_slice(), wanted, "insert at {place} of {len}");
                assert_eq!(longer.remove(place), 77);
                assert_eq!(longer, list, "removed again, {place} of {len}");
                assert_eq!(list, longer);
            }
            for place in 0..len {
                let (mut shorter, mut wanted) = (list.clone(), numbers.clone());
                assert_eq!(shorter.remove(place), wanted.remove(place));
                assert_eq!(shorter.as_slice(), wanted, "remove {place} of {len}");
                assert_eq!(shorter, List::from_slice(&wanted), "the rest is zeros");
                shorter.push(place);
                wanted.push(place);
                assert_eq!(shorter.as_slice(), wanted);
            }
            assert_eq!(List::filled(4usize, len).as_slice(), vec![4; len]);
            let wanted: Vec<usize> = numbers.iter().rev().copied().collect();
            assert_eq!(list.reversed(), List::from_slice(&wanted));
        }
        assert!(List::from_slice(&[1, 2]) < List::from_slice(&[1, 2, 0]));
    }

    #[test]
    #[should_panic(expected = "insertion index")]
    fn a_place_beyond_the_end_is_refused() {
        List::from_slice(&[1usize, 2]).insert(3, 0);
    }
}
