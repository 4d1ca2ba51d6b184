//! Reading subscripts: from text to a label for each axis.

use std::fmt;

use lodestride_shape::Shape;

use super::contract::LABELS;

/// The label of the last axis that `...` stands for; those before it count down.
const LAST_OF_ELLIPSIS: u8 = b'A' - 1;

/// What is wrong with the subscripts of [`NdArray::einsum`](crate::NdArray::einsum).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptsProblem {
    /// A character that has no meaning at its place, such as a second arrow.
    Character {
        /// The character.
        found: char,
        /// Its place in the text, in bytes.
        position: usize,
    },
    /// More or fewer operands than the subscripts describe.
    Operands {
        /// Terms of the subscripts.
        described: usize,
        /// Operands given.
        given: usize,
    },
    /// An operand with more or fewer axes than letters.
    Rank {
        /// Number of the operand.
        operand: usize,
        /// Letters of its term.
        letters: usize,
        /// Its rank.
        rank: usize,
    },
    /// A letter behind the arrow that is there already.
    RepeatedOutput {
        /// The letter.
        letter: char,
    },
    /// A letter behind the arrow that no operand has.
    UnknownOutput {
        /// The letter.
        letter: char,
    },
    /// No `...` behind the arrow for the axes that those of the operands stand for.
    LostEllipsis,
    /// Axes of one letter with different sizes.
    Size {
        /// The letter; a dot for an axis that `...` stands for.
        letter: char,
        /// Number of the operand.
        operand: usize,
        /// The size it has there.
        size: usize,
        /// The size it has elsewhere.
        expected: usize,
    },
}

impl fmt::Display for SubscriptsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Character { found, position } => {
                write!(
                    f,
                    "`{found}` at position {position} of the subscripts has no meaning there"
                )
            }
            Self::Operands { described, given } => {
                write!(
                    f,
                    "the subscripts describe {described} operands, given are {given}"
                )
            }
            Self::Rank {
                operand,
                letters,
                rank,
            } => {
                write!(
                    f,
                    "operand {operand} has {rank} axes, its subscripts name {letters}"
                )
            }
            Self::RepeatedOutput { letter } => write!(f, "the result has `{letter}` twice"),
            Self::UnknownOutput { letter } => {
                write!(f, "the result has `{letter}`, which no operand has")
            }
            Self::LostEllipsis => {
                f.write_str("the operands have `...`, the result behind the arrow has not")
            }
            Self::Size {
                letter,
                operand,
                size,
                expected,
            } => {
                write!(
                    f,
                    "`{letter}` has size {size} in operand {operand}, {expected} elsewhere"
                )
            }
        }
    }
}

/// Subscripts that fit their operands.
pub(super) struct Subscripts {
    /// A label per axis of each operand.
    pub(super) inputs: Vec<Vec<u8>>,
    /// The labels of the result, in order.
    pub(super) output: Vec<u8>,
    /// The size of each label.
    pub(super) sizes: [usize; LABELS],
}

/// The letters of one term, before and after its `...`.
#[derive(Default)]
struct Term {
    letters: Vec<u8>,
    ellipsis: Option<usize>,
}

impl Term {
    /// A label per axis, with so many for the `...`.
    fn labels(&self, of_ellipsis: usize) -> Vec<u8> {
        let mut labels = self.letters.clone();
        if let Some(place) = self.ellipsis {
            let first = LAST_OF_ELLIPSIS + 1 - of_ellipsis as u8;
            labels.splice(place..place, first..=LAST_OF_ELLIPSIS);
        }
        labels
    }
}

fn letter_of(label: u8) -> char {
    if label > LAST_OF_ELLIPSIS {
        char::from(label)
    } else {
        '.'
    }
}

/// The terms before the arrow, and the one behind it if there is an arrow.
fn terms(text: &str) -> Result<(Vec<Term>, Option<Term>), SubscriptsProblem> {
    let (mut inputs, mut output) = (vec![Term::default()], None);
    let mut rest = text.char_indices();
    while let Some((position, found)) = rest.next() {
        let after = &text[position..];
        let is_input = output.is_none();
        let term = output.as_mut().or(inputs.last_mut());
        match (found, term) {
            (' ' | '\t' | '\n', _) => {}
            (letter, Some(term)) if letter.is_ascii_alphabetic() => term.letters.push(letter as u8),
            ('.', Some(term)) if after.starts_with("...") && term.ellipsis.is_none() => {
                term.ellipsis = Some(term.letters.len());
                rest.nth(1);
            }
            (',', _) if is_input => inputs.push(Term::default()),
            ('-', _) if after.starts_with("->") && is_input => {
                output = Some(Term::default());
                rest.next();
            }
            _ => return Err(SubscriptsProblem::Character { found, position }),
        }
    }
    Ok((inputs, output))
}

/// Reads subscripts for operands of these shapes.
pub(super) fn parse(text: &str, shapes: &[&Shape]) -> Result<Subscripts, SubscriptsProblem> {
    let (terms, output) = terms(text)?;
    if terms.len() != shapes.len() {
        let (described, given) = (terms.len(), shapes.len());
        return Err(SubscriptsProblem::Operands { described, given });
    }
    let (mut inputs, mut broadcast) = (Vec::new(), 0);
    for (operand, (term, shape)) in terms.iter().zip(shapes).enumerate() {
        let (letters, rank) = (term.letters.len(), shape.len());
        let fits = match term.ellipsis {
            Some(_) => rank >= letters && rank - letters <= usize::from(LAST_OF_ELLIPSIS),
            None => rank == letters,
        };
        if !fits {
            return Err(SubscriptsProblem::Rank {
                operand,
                letters,
                rank,
            });
        }
        if term.ellipsis.is_some() {
            broadcast = broadcast.max(rank - letters);
        }
        inputs.push(term.labels(rank - letters));
    }
    let sizes = sizes(&inputs, shapes)?;
    let output = match output {
        Some(term) => checked_output(&term, &inputs, broadcast)?,
        None => implied_output(&inputs),
    };
    Ok(Subscripts {
        inputs,
        output,
        sizes,
    })
}

/// The size of each label; axes of size 1 broadcast.
fn sizes(inputs: &[Vec<u8>], shapes: &[&Shape]) -> Result<[usize; LABELS], SubscriptsProblem> {
    let mut sizes = [1; LABELS];
    for (operand, (labels, shape)) in inputs.iter().zip(shapes).enumerate() {
        for (axis, (&label, &size)) in labels.iter().zip(&shape[..]).enumerate() {
            let expected = sizes[usize::from(label)];
            // Along a diagonal nothing broadcasts.
            let before = labels[..axis].iter().position(|&other| other == label);
            let diagonal = before.is_none_or(|before| shape[before] == size);
            if !diagonal || (size != expected && size != 1 && expected != 1) {
                let letter = letter_of(label);
                let expected = before.map_or(expected, |before| shape[before]);
                return Err(SubscriptsProblem::Size {
                    letter,
                    operand,
                    size,
                    expected,
                });
            }
            if size != 1 {
                sizes[usize::from(label)] = size;
            }
        }
    }
    Ok(sizes)
}

fn checked_output(
    term: &Term,
    inputs: &[Vec<u8>],
    broadcast: usize,
) -> Result<Vec<u8>, SubscriptsProblem> {
    for (i, &label) in term.letters.iter().enumerate() {
        let letter = letter_of(label);
        if term.letters[..i].contains(&label) {
            return Err(SubscriptsProblem::RepeatedOutput { letter });
        }
        if !inputs.iter().any(|labels| labels.contains(&label)) {
            return Err(SubscriptsProblem::UnknownOutput { letter });
        }
    }
    if broadcast > 0 && term.ellipsis.is_none() {
        return Err(SubscriptsProblem::LostEllipsis);
    }
    Ok(term.labels(broadcast))
}

/// The axes of `...`, then the letters that occur once, in alphabetical order.
fn implied_output(inputs: &[Vec<u8>]) -> Vec<u8> {
    let count = |label: u8| {
        inputs
            .iter()
            .flatten()
            .filter(|&&other| other == label)
            .count()
    };
    (0..LABELS as u8)
        .filter(|&label| match count(label) {
            0 => false,
            1 => true,
            _ => label <= LAST_OF_ELLIPSIS,
        })
        .collect()
}
