//! `edit_distance`: how many changes turn one sequence of tokens into another.

use lodestride_array::NdArray;

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::restructure::check_count;
use crate::rows;
use crate::sequence::ids::numbers;
use crate::tensor::LodTensor;

const OP: &str = "edit_distance";

/// The Levenshtein distance of each sequence of a level of `x` from the sequence of `y` at the same place: the least
/// number of insertions, deletions and replacements, as `f32` of shape `[sequences, 1]`.
///
/// `normalized` divides by the length of the sequence of `y`. Tokens that shall not count are taken out of both with
/// [`erase`](crate::sequence::erase) first.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod), [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange),
/// [`NotIntegers`](LodErrorKind::NotIntegers), [`CountMismatch`](LodErrorKind::CountMismatch) for another number of
/// sequences, [`EmptyReference`](LodErrorKind::EmptyReference) when there is nothing to divide by.
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let heard = LodTensor::from_lists(&[vec![12i64], vec![3, 5, 8, 2]])?;
/// let said = LodTensor::from_lists(&[vec![12i64], vec![4, 7, 8]])?;
/// assert_eq!(sequence::edit_distance(&heard, &said, false, -1)?.to_vec::<f32>()?, [0.0, 3.0]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
pub fn edit_distance(
    x: &LodTensor,
    y: &LodTensor,
    normalized: bool,
    level: isize,
) -> Result<NdArray> {
    rows::check_lod(OP, SequenceArgument::Y, y)?;
    let (of_x, of_y) = (rows::offsets_of(OP, x, level)?, y.lod().rows_of(level)?);
    let level = x.lod().resolve_level(level)?;
    check_count(
        OP,
        SequenceArgument::Y,
        level,
        of_x.len() - 1,
        of_y.len() - 1,
    )?;
    let tokens_of_x = numbers(OP, SequenceArgument::X, x)?.to_vec::<i64>()?;
    let tokens_of_y = numbers(OP, SequenceArgument::Y, y)?.to_vec::<i64>()?;
    let mut row = Vec::new();
    let mut distances = Vec::with_capacity(of_x.len() - 1);
    for (index, (a, b)) in of_x.windows(2).zip(of_y.windows(2)).enumerate() {
        let reference = &tokens_of_y[b[0]..b[1]];
        let changes = distance(&tokens_of_x[a[0]..a[1]], reference, &mut row) as f32;
        if normalized && reference.is_empty() {
            return Err(LodErrorKind::EmptyReference { op: OP, index }.into());
        }
        distances.push([if normalized {
            changes / reference.len() as f32
        } else {
            changes
        }]);
    }
    Ok(NdArray::from_nested(&distances[..])?)
}

/// The distance by rows of the usual table, of which `row` holds the last one.
fn distance(a: &[i64], b: &[i64], row: &mut Vec<usize>) -> usize {
    row.clear();
    row.extend(0..=b.len());
    for (i, token) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(token != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    /// The definition, without a table.
    fn by_definition(a: &[i64], b: &[i64]) -> usize {
        match (a, b) {
            ([], rest) | (rest, []) => rest.len(),
            ([x, a_rest @ ..], [y, b_rest @ ..]) => {
                let replaced = by_definition(a_rest, b_rest) + usize::from(x != y);
                replaced
                    .min(by_definition(a_rest, b) + 1)
                    .min(by_definition(a, b_rest) + 1)
            }
        }
    }

    #[test]
    fn the_table_agrees_with_the_definition() {
        // All pairs of sequences of up to four tokens out of two.
        let all: Vec<Vec<i64>> = (0..5u32)
            .flat_map(|n| {
                (0..1u32 << n).map(move |bits| (0..n).map(|i| i64::from(bits >> i & 1)).collect())
            })
            .collect();
        for a in &all {
            for b in &all {
                assert_eq!(
                    distance(a, b, &mut Vec::new()),
                    by_definition(a, b),
                    "{a:?} {b:?}"
                );
            }
        }
    }
}
