//! `pad` and `unpad`: between ragged rows and one rectangular array.

use std::ops::Range;

use lodestride_array::{Arg, NdArray, kernels};

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::restructure::check_count;
use crate::rows;
use crate::tensor::LodTensor;

/// A padded batch: what [`pad`] gives and [`unpad`] takes.
#[derive(Clone, Debug)]
pub struct Padded {
    /// `[sequences, longest, row...]`, grouped by the levels above the padded one.
    pub data: LodTensor,
    /// How many of the steps of each sequence are real: `i64`, `[sequences]`.
    pub lengths: NdArray,
}

/// The rows of each sequence of a level side by side in one array `[sequences, maxlen, row...]`, filled up with
/// `value`, a number or an array of the shape of a row.
///
/// Without `maxlen` the array is as long as the longest sequence.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod), [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange),
/// [`TooLong`](LodErrorKind::TooLong) when a sequence is longer than `maxlen`, and the array's when `value` does not
/// broadcast to a row.
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1i64, 2], vec![], vec![3, 4, 5]])?;
/// let padded = sequence::pad(&x, -1, None, -1)?;
/// assert_eq!(padded.data.data().to_vec::<i64>()?, [1, 2, -1,  -1, -1, -1,  3, 4, 5]);
/// assert_eq!(padded.lengths.to_vec::<i64>()?, [2, 0, 3]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_pad")]
pub fn pad<'a>(
    x: &LodTensor,
    value: impl Into<Arg<'a>>,
    maxlen: Option<usize>,
    level: isize,
) -> Result<Padded> {
    let frame = Frame::of_level(x, maxlen, level)?;
    let offsets = rows::offsets_of("sequence_pad", x, level)?;
    let mut shape = vec![frame.sequences(), frame.steps];
    shape.extend_from_slice(x.row_shape());
    let row = NdArray::recycled(x.dtype(), x.row_shape().to_vec())?;
    row.assign(value)?;
    let out = NdArray::recycled(x.dtype(), shape)?;
    let padding = Some(row.operand());
    kernels::segment_pad(x.data().operand(), &offsets, padding, out.operand())?;
    let lengths = frame.lengths.iter().map(|&n| n as i64).collect::<Vec<_>>();
    Ok(Padded {
        data: LodTensor::proven(out, x.lod().above(level)?),
        // Copied, so that it lives in the open workspace.
        lengths: NdArray::from_nested(&lengths[..])?,
    })
}

/// The gradient of [`pad`] with respect to `x`: the real steps of `out_grad`.
///
/// # Errors
/// As [`pad`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn pad_grad(
    x: &LodTensor,
    maxlen: Option<usize>,
    level: isize,
    out_grad: &NdArray,
) -> Result<NdArray> {
    let frame = Frame::of_level(x, maxlen, level)?;
    let mut shape = vec![frame.sequences(), frame.steps];
    shape.extend_from_slice(x.row_shape());
    rows::check_out_grad("sequence_pad", out_grad, &shape)?;
    let filled: Vec<_> = frame.filled().collect();
    rows::gather(&frame.flat(out_grad)?, &filled)
}

/// The first `lengths[i]` steps of each row of a padded array `[sequences, steps, row...]`, as one more level below the
/// levels of `x`.
///
/// A padded matrix `[sequences, steps]` gives a column, `[total, 1]`, as in Fluid. Lengths in an array become plain
/// numbers with [`counts`](crate::sequence::counts).
///
/// # Errors
/// [`Rank`](LodErrorKind::Rank), [`CountMismatch`](LodErrorKind::CountMismatch) unless there is one length a sequence,
/// [`TooLong`](LodErrorKind::TooLong) when a length is more than the number of steps.
///
/// ```
/// use lodestride_lod::{NdArray, sequence};
///
/// let x = sequence::unpad(&NdArray::from([[1i64, 2, 0], [3, 0, 0]]).into(), &[2, 1])?;
/// assert_eq!(x.to_lists::<i64>(-1)?, [vec![1, 2], vec![3]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_unpad")]
pub fn unpad(x: &LodTensor, lengths: &[usize]) -> Result<LodTensor> {
    let frame = Frame::of_padded(x.data(), lengths)?;
    let filled: Vec<_> = frame.filled().collect();
    let mut data = rows::gather(&frame.flat(x.data())?, &filled)?;
    if data.rank() == 1 {
        data = data.expand_dims(1)?;
    }
    LodTensor::new(data, x.lod().append(lengths)?)
}

/// The gradient of [`unpad`] with respect to `x`: `out_grad` in the real steps, 0 in the padding.
///
/// # Errors
/// As [`unpad`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn unpad_grad(x: &LodTensor, lengths: &[usize], out_grad: &NdArray) -> Result<NdArray> {
    let frame = Frame::of_padded(x.data(), lengths)?;
    let mut shape = vec![lengths.iter().sum()];
    shape.extend_from_slice(&x.shape()[2..]);
    if shape.len() == 1 {
        shape.push(1);
    }
    rows::check_out_grad("sequence_unpad", out_grad, &shape)?;
    let steps = [&shape[..1], &x.shape()[2..]].concat();
    let all = frame.sequences().saturating_mul(frame.steps);
    let out = rows::put_back(&out_grad.reshape(steps)?, frame.filled(), all)?;
    Ok(out.reshape(x.shape())?)
}

/// A rectangle of steps, of which the first few of each sequence are filled.
struct Frame {
    lengths: Vec<usize>,
    steps: usize,
}

impl Frame {
    #[track_caller]
    fn of_level(x: &LodTensor, maxlen: Option<usize>, level: isize) -> Result<Frame> {
        let offsets = rows::offsets_of("sequence_pad", x, level)?;
        let lengths: Vec<usize> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        Frame::new("sequence_pad", lengths, maxlen.unwrap_or(longest))
    }

    #[track_caller]
    fn of_padded(x: &NdArray, lengths: &[usize]) -> Result<Frame> {
        rows::check_rank("sequence_unpad", SequenceArgument::X, x, 2)?;
        check_count(
            "sequence_unpad",
            SequenceArgument::Length,
            0,
            x.shape()[0],
            lengths.len(),
        )?;
        Frame::new("sequence_unpad", lengths.to_vec(), x.shape()[1])
    }

    #[track_caller]
    fn new(op: &'static str, lengths: Vec<usize>, steps: usize) -> Result<Frame> {
        match lengths.iter().position(|&length| length > steps) {
            None => Ok(Frame { lengths, steps }),
            Some(index) => Err(LodErrorKind::TooLong {
                op,
                index,
                found: lengths[index],
                limit: steps,
            }
            .into()),
        }
    }

    fn sequences(&self) -> usize {
        self.lengths.len()
    }

    /// The filled steps, counted through all sequences.
    fn filled(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = self
            .lengths
            .iter()
            .enumerate()
            .map(|(i, &length)| (i.saturating_mul(self.steps), length));
        starts.map(|(start, length)| start..start.saturating_add(length))
    }

    /// A padded array with its two first axes joined; shares memory when it can.
    #[track_caller]
    fn flat(&self, padded: &NdArray) -> Result<NdArray> {
        let mut shape = vec![self.sequences().saturating_mul(self.steps)];
        shape.extend_from_slice(&padded.shape()[2..]);
        Ok(padded.reshape(shape)?)
    }
}
