//! A batch step by step, longest sequence first, so that the batch shrinks as sequences end: the order in which a
//! recurrent network reads it without padding.

use std::ops::Range;

use lodestride_array::kernels::RowRange;
use lodestride_array::{DType, NdArray};
use smallvec::SmallVec;

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::level::Level;
use crate::lod::Lod;
use crate::restructure::{Selection, join_ranges};
use crate::rows;
use crate::tensor::LodTensor;

/// The steps of a batch, as [`to_steps`] makes them: Fluid's tensor array with its rank table.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Step `t` has one entry for each sequence longer than `t`, longest first: a row, or a whole sequence of the level
    /// below.
    steps: Vec<LodTensor>,
    /// The sequences, longest first, equal lengths in their old order.
    order: Vec<usize>,
    /// No entry at all, in the form of the others: what a batch of nothing but empty sequences is made of.
    nothing: LodTensor,
    /// The levels down to the one that was taken apart; its lengths never ascend along `order`.
    lod: Lod,
}

impl Steps {
    /// The steps, first to last; as many as the longest sequence is long. [`to_steps`] makes them parts of one array.
    pub fn steps(&self) -> &[LodTensor] {
        &self.steps
    }

    /// The number of each sequence, longest first: entry `k` of every step belongs to sequence `order()[k]`.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// How many sequences are longer than `step`: the number of entries of that step. A state kept for all sequences
    /// in [`order`](Steps::order) shrinks to its first rows, as by Fluid's `shrink_rnn_memory`.
    pub fn active(&self, step: usize) -> usize {
        let Ok(lengths) = self.lod.lengths_of(-1) else {
            return 0;
        };
        lengths.filter(|&length| length > step).count()
    }

    /// The same steps with other values, for example what a network made of each.
    ///
    /// # Errors
    /// [`CountMismatch`](LodErrorKind::CountMismatch) unless there are as many steps, with as many entries each.
    #[track_caller]
    pub fn with_steps(&self, steps: Vec<LodTensor>) -> Result<Steps> {
        let (op, argument) = ("with_steps", SequenceArgument::X);
        let level = self.lod.depth().saturating_sub(1);
        let mismatch = |expected, found| LodErrorKind::CountMismatch {
            op,
            argument,
            level,
            expected,
            found,
        };
        if steps.len() != self.steps.len() {
            return Err(mismatch(self.steps.len(), steps.len()).into());
        }
        for (old, new) in self.steps.iter().zip(&steps) {
            if entries(old) != entries(new) {
                return Err(mismatch(entries(old), entries(new)).into());
            }
        }
        Ok(Steps {
            steps,
            ..self.clone()
        })
    }
}

fn entries(step: &LodTensor) -> usize {
    step.lod()
        .levels()
        .first()
        .map_or(step.rows(), |top| top.count())
}

/// Takes the sequences of a level apart into steps.
///
/// The gradient is [`from_steps`] of the steps' gradients.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod), [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1i64, 2], vec![3, 4, 5], vec![6]])?;
/// let steps = sequence::to_steps(&x, -1)?;
/// assert_eq!(steps.order(), [1, 0, 2]);
/// assert_eq!(steps.steps()[0].data().to_vec::<i64>()?, [3, 1, 6]);
/// assert_eq!(steps.steps()[2].data().to_vec::<i64>()?, [5]);
/// assert_eq!(sequence::from_steps(&steps)?.to_lists::<i64>(-1)?, x.to_lists::<i64>(-1)?);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "lod_tensor_to_array")]
pub fn to_steps(x: &LodTensor, level: isize) -> Result<Steps> {
    rows::check_lod("to_steps", SequenceArgument::X, x)?;
    let level = x.lod().resolve_level(level)?;
    let source = &x.lod().levels()[level];
    let order = x.lod().rank_by_length(level as isize)?;
    let starts: Vec<usize> = order.iter().map(|&i| source.children(i).start).collect();
    let mut active = order.len();
    let mut counts = Vec::with_capacity(source.extremes().1);
    for step in 0..source.extremes().1 {
        while active > 0 && source.children(order[active - 1]).len() <= step {
            active -= 1;
        }
        counts.push(active);
    }
    let nothing = x.select(pick(x.lod(), level + 1, std::iter::empty())?)?;
    let entries = counts.iter().enumerate();
    let entries = entries.map(|(step, &active)| starts[..active].iter().map(move |i| i + step));
    // All steps are parts of one array, which is written once.
    let (data, lods) = if level + 1 == x.lod_level() {
        (rows::by_steps(x.data(), &starts, &counts)?, None)
    } else {
        let (mut rows, mut lods) = (Vec::new(), Vec::with_capacity(counts.len()));
        for entries in entries {
            let selection = pick(x.lod(), level + 1, entries)?;
            rows.extend(selection.rows);
            lods.push(selection.lod);
        }
        (rows::gather(x.data(), &rows)?, Some(lods))
    };
    let mut end = 0;
    let mut steps = Vec::with_capacity(counts.len());
    for (step, &active) in counts.iter().enumerate() {
        let lod = lods
            .as_ref()
            .map_or_else(Lod::none, |lods| lods[step].clone());
        let start = end;
        end += lod.rows().unwrap_or(active);
        steps.push(LodTensor::proven(rows::view(&data, start..end)?, lod));
    }
    Ok(Steps {
        steps,
        order,
        nothing,
        lod: Lod::proven(x.lod().levels()[..=level].into()),
    })
}

/// The entries of `level`, which is one past the last for rows.
#[track_caller]
fn pick(lod: &Lod, level: usize, entries: impl Iterator<Item = usize>) -> Result<Selection> {
    let ranges: Vec<Range<usize>> = entries.map(|i| i..i + 1).collect();
    if level < lod.depth() {
        return lod.gather(level, SmallVec::new(), ranges);
    }
    let (lod, rows) = (Lod::none(), join_ranges(ranges));
    Ok(Selection { lod, rows })
}

/// Puts steps together again, in the original order of the sequences and with the levels above them.
///
/// The gradient is [`to_steps`] of the gradient.
///
/// # Errors
/// The array's, when the rows of the steps differ in shape, and [`DepthMismatch`](LodErrorKind::DepthMismatch) when
/// their levels do.
#[track_caller]
#[doc(alias = "array_to_lod_tensor")]
pub fn from_steps(steps: &Steps) -> Result<LodTensor> {
    if steps.steps.is_empty() {
        let mut levels: SmallVec<[Level; 1]> = steps.lod.levels().into();
        levels.extend(steps.nothing.lod().levels().iter().cloned());
        return Ok(LodTensor::proven(
            steps.nothing.data().dup()?,
            Lod::proven(levels),
        ));
    }
    let mut rank = vec![0; steps.order.len()];
    for (place, &sequence) in steps.order.iter().enumerate() {
        rank[sequence] = place;
    }
    let lengths: Vec<usize> = steps.lod.lengths_of(-1)?.collect();
    let sequences = || lengths.iter().copied().zip(rank.iter().copied());
    let lods: Vec<&Lod> = steps.steps.iter().map(LodTensor::lod).collect();
    let all = Lod::concat(&lods)?;
    let mut levels: SmallVec<[Level; 1]> = steps.lod.levels().into();
    let pieces: Vec<RowRange> = if all.is_none() {
        let rows = |(length, rank)| RowRange::across(0..length, rank);
        sequences().map(rows).collect()
    } else {
        let mut starts = Vec::with_capacity(steps.steps.len());
        let mut start = 0;
        for step in &steps.steps {
            starts.push(start);
            start += entries(step);
        }
        // Where every entry of the result lies: in which step, and there at which place.
        let places =
            || sequences().flat_map(|(length, rank)| (0..length).map(move |step| (step, rank)));
        let chosen = places().map(|(step, place)| starts[step] + place);
        levels.extend(pick(&all, 0, chosen)?.lod.levels().iter().cloned());
        let offsets = lods.iter().map(|lod| lod.rows_of(0));
        let offsets = offsets.collect::<Result<Vec<_>>>()?;
        let rows = |(step, place): (usize, usize)| {
            RowRange::new(step, offsets[step][place]..offsets[step][place + 1])
        };
        places().map(rows).collect()
    };
    let data: Vec<&NdArray> = steps.steps.iter().map(LodTensor::data).collect();
    let dtype = data.iter().map(|x| x.dtype()).reduce(DType::promote);
    let data = rows::assemble(dtype.unwrap_or(DType::F32), &data, &pieces)?;
    Ok(LodTensor::proven(data, Lod::proven(levels)))
}
