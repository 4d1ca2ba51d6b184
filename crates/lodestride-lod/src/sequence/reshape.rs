//! `reshape`: rows of another width, sequence by sequence.

use lodestride_array::NdArray;

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::level::Level;
use crate::lod::Lod;
use crate::rows;
use crate::tensor::LodTensor;

const OP: &str = "sequence_reshape";

/// The same numbers in rows of width `width`; the lengths of the last level change accordingly, levels above stay.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod), [`Indivisible`](LodErrorKind::Indivisible) when the numbers of some sequence do not
/// fill whole rows (also for width 0).
///
/// ```
/// use lodestride_lod::{LodTensor, lengths, sequence};
///
/// let x = LodTensor::from_lists(&[vec![[1i64, 2], [3, 4]], vec![[5, 6], [7, 8], [9, 10], [11, 12]]])?;
/// let y = sequence::reshape(&x, 4)?;
/// assert_eq!((y.shape().to_vec(), y.recursive_sequence_lengths()), (vec![3, 4], lengths![[1, 2]]));
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_reshape")]
pub fn reshape(x: &LodTensor, width: usize) -> Result<LodTensor> {
    let lod = rescaled(x, width)?;
    let rows = lod.rows().unwrap_or(0);
    // A copy: a result that is sometimes a view and sometimes not would be a trap.
    Ok(LodTensor::proven(
        x.data().dup()?.reshape([rows, width])?,
        lod,
    ))
}

/// The gradient of [`reshape`] with respect to `x`: `out_grad` in the old shape.
///
/// # Errors
/// As [`reshape`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn reshape_grad(x: &LodTensor, width: usize, out_grad: &NdArray) -> Result<NdArray> {
    let rows = rescaled(x, width)?.rows().unwrap_or(0);
    rows::check_out_grad(OP, out_grad, &[rows, width])?;
    Ok(out_grad.dup()?.reshape(x.shape())?)
}

#[track_caller]
fn rescaled(x: &LodTensor, width: usize) -> Result<Lod> {
    rows::check_lod(OP, SequenceArgument::X, x)?;
    let old = rows::row_width(x.data());
    let last = x.lod().depth() - 1;
    let mut levels: smallvec::SmallVec<[Level; 1]> = x.lod().levels().into();
    // Rows that are cut evenly: no sequence can refuse, and nothing is divided.
    if let Some(0) = old.checked_rem(width) {
        let lengths = levels[last].lengths().map(|length| length * (old / width));
        levels[last] = Level::from_lengths(lengths, last)?;
        return Ok(Lod::proven(levels));
    }
    let mut lengths = Vec::with_capacity(levels[last].count());
    for (index, length) in levels[last].lengths().enumerate() {
        match (length * old).checked_rem(width) {
            Some(0) => lengths.push(length * old / width),
            _ => {
                let elements = length * old;
                return Err(LodErrorKind::Indivisible {
                    op: OP,
                    index,
                    elements,
                    width,
                }
                .into());
            }
        }
    }
    levels[last] = Level::from_lengths(lengths, last)?;
    Ok(Lod::proven(levels))
}
