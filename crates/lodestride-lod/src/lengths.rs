//! `Lengths` and `Offsets`: the two written forms of a LoD, as different types so that they cannot be mixed up.
//! They are plain lists; only `Lod` knows whether they fit together.

use std::fmt;

use crate::error::{LodErrorKind, Result};

/// The length form of a LoD: for each level, outermost first, the number of children of each sequence.
///
/// What Fluid's Python calls `recursive_sequence_lengths`. Write one level as a plain array, several with
/// [`lengths!`](crate::lengths!).
///
/// ```
/// use lodestride_lod::{Lengths, lengths, offsets};
///
/// let words_of_sentences_of_texts: Lengths = lengths![[3, 1, 2], [3, 2, 4, 1, 2, 3]];
/// assert_eq!(words_of_sentences_of_texts.to_offsets()?, offsets![[0, 3, 4, 6], [0, 3, 5, 9, 10, 12, 15]]);
/// assert_eq!(Lengths::from([2, 0, 1]), lengths![[2, 0, 1]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lengths {
    levels: Vec<Vec<usize>>,
}

/// The offset form of a LoD: for each level, outermost first, where each sequence begins among its children, and the end.
///
/// Level `i` counts sequences of level `i + 1` and the last level counts rows, so every level begins with 0.
///
/// ```
/// use lodestride_lod::{lengths, offsets};
///
/// assert_eq!(offsets![[0, 1, 4]].to_lengths()?, lengths![[1, 3]]);
/// assert!(offsets![[0, 3, 2]].to_lengths().is_err());
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Offsets {
    levels: Vec<Vec<usize>>,
}

/// Writes [`Lengths`] with levels of different sizes: `lengths![[3, 1], [2, 0, 4, 1]]`; `lengths![]` has no level.
#[macro_export]
macro_rules! lengths {
    ($([$($length:expr),* $(,)?]),* $(,)?) => {
        $crate::Lengths::from_iter::<[::std::vec::Vec<usize>; _]>([$(::std::vec![$($length),*]),*])
    };
}

/// Writes [`Offsets`] with levels of different sizes: `offsets![[0, 3, 4], [0, 2, 2, 6, 7]]`; `offsets![]` has no level.
#[macro_export]
macro_rules! offsets {
    ($([$($offset:expr),* $(,)?]),* $(,)?) => {
        $crate::Offsets::from_iter::<[::std::vec::Vec<usize>; _]>([$(::std::vec![$($offset),*]),*])
    };
}

impl Lengths {
    /// The same LoD in offset form.
    ///
    /// # Errors
    /// [`Overflow`](LodErrorKind::Overflow) when a level adds up to more than a `usize` holds.
    #[track_caller]
    pub fn to_offsets(&self) -> Result<Offsets> {
        let mut levels = Vec::with_capacity(self.levels.len());
        for (level, lengths) in self.levels.iter().enumerate() {
            levels.push(offsets_of(lengths.iter().copied(), level)?);
        }
        Ok(Offsets { levels })
    }
}

impl Offsets {
    /// The same LoD in length form.
    ///
    /// # Errors
    /// [`NoOffsets`](LodErrorKind::NoOffsets), [`FirstOffset`](LodErrorKind::FirstOffset) or
    /// [`Descending`](LodErrorKind::Descending) when a level is not a list of offsets.
    #[track_caller]
    pub fn to_lengths(&self) -> Result<Lengths> {
        let mut levels = Vec::with_capacity(self.levels.len());
        for (level, offsets) in self.levels.iter().enumerate() {
            let checked = crate::level::Level::from_offsets(offsets.clone(), level)?;
            levels.push(checked.lengths().collect());
        }
        Ok(Lengths { levels })
    }
}

/// Running sums of `lengths` with a leading 0.
#[track_caller]
pub(crate) fn offsets_of(
    lengths: impl IntoIterator<Item = usize>,
    level: usize,
) -> Result<Vec<usize>> {
    let lengths = lengths.into_iter();
    let mut offsets = Vec::with_capacity(lengths.size_hint().0 + 1);
    offsets.push(0usize);
    let mut end = 0usize;
    for (index, length) in lengths.enumerate() {
        let Some(sum) = end.checked_add(length) else {
            return Err(LodErrorKind::Overflow { level, index }.into());
        };
        end = sum;
        offsets.push(end);
    }
    Ok(offsets)
}

/// An empty list with room for `count` entries, for counts that nothing given in full stands behind.
#[track_caller]
pub(crate) fn room_for<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    match list.try_reserve_exact(count) {
        Ok(()) => Ok(list),
        Err(_) => Err(LodErrorKind::TooManySequences { count }.into()),
    }
}

/// Both forms are lists of levels and offer the same plain access; only their meaning differs.
macro_rules! levels_of_numbers {
    ($form:ident) => {
        impl $form {
            /// Number of levels.
            pub fn depth(&self) -> usize {
                self.levels.len()
            }

            /// The numbers of one level, outermost level 0; `None` when there is no such level.
            pub fn get(&self, level: usize) -> Option<&[usize]> {
                self.levels.get(level).map(Vec::as_slice)
            }

            /// The levels in order, outermost first.
            pub fn iter(&self) -> impl ExactSizeIterator<Item = &[usize]> + DoubleEndedIterator {
                self.levels.iter().map(Vec::as_slice)
            }

            /// Adds a level below the last one.
            pub fn push(&mut self, level: impl Into<Vec<usize>>) {
                self.levels.push(level.into());
            }
        }

        impl<L: Into<Vec<usize>>> FromIterator<L> for $form {
            fn from_iter<I: IntoIterator<Item = L>>(levels: I) -> $form {
                $form {
                    levels: levels.into_iter().map(Into::into).collect(),
                }
            }
        }

        impl IntoIterator for $form {
            type Item = Vec<usize>;
            type IntoIter = std::vec::IntoIter<Vec<usize>>;

            fn into_iter(self) -> Self::IntoIter {
                self.levels.into_iter()
            }
        }

        impl From<Vec<Vec<usize>>> for $form {
            fn from(levels: Vec<Vec<usize>>) -> $form {
                $form { levels }
            }
        }

        impl<const LEVELS: usize> From<[Vec<usize>; LEVELS]> for $form {
            fn from(levels: [Vec<usize>; LEVELS]) -> $form {
                $form::from_iter(levels)
            }
        }

        impl<const LEVELS: usize> From<[&[usize]; LEVELS]> for $form {
            fn from(levels: [&[usize]; LEVELS]) -> $form {
                $form::from_iter(levels)
            }
        }

        impl<const LEVELS: usize, const COUNT: usize> From<[[usize; COUNT]; LEVELS]> for $form {
            fn from(levels: [[usize; COUNT]; LEVELS]) -> $form {
                $form::from_iter(levels)
            }
        }

        impl From<Vec<usize>> for $form {
            /// One level.
            fn from(level: Vec<usize>) -> $form {
                $form {
                    levels: vec![level],
                }
            }
        }

        impl From<&[usize]> for $form {
            /// One level.
            fn from(level: &[usize]) -> $form {
                $form::from(level.to_vec())
            }
        }

        impl<const COUNT: usize> From<[usize; COUNT]> for $form {
            /// One level.
            fn from(level: [usize; COUNT]) -> $form {
                $form::from(level.to_vec())
            }
        }

        impl From<&$form> for $form {
            fn from(form: &$form) -> $form {
                form.clone()
            }
        }

        impl fmt::Display for $form {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.levels)
            }
        }
    };
}

levels_of_numbers!(Lengths);
levels_of_numbers!(Offsets);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_form_means_the_same() {
        let expected = lengths![[3, 1]];
        let forms: [Lengths; 6] = [
            [3, 1].into(),
            vec![3, 1].into(),
            [3usize, 1][..].into(),
            [[3, 1]].into(),
            [vec![3, 1]].into(),
            vec![vec![3, 1]].into(),
        ];
        for form in forms {
            assert_eq!(form, expected);
        }
        assert_eq!(lengths![].depth(), 0);
        assert_eq!(lengths![[]].depth(), 1);
        assert_eq!(
            lengths![[3, 1], [1, 2, 0, 5]].to_string(),
            "[[3, 1], [1, 2, 0, 5]]"
        );
    }

    #[test]
    fn an_overflowing_level_is_named() {
        let error = lengths![[1], [usize::MAX, 1]].to_offsets().unwrap_err();
        assert!(
            matches!(error.kind(), LodErrorKind::Overflow { level: 1, index: 1 }),
            "{error}"
        );
    }
}
