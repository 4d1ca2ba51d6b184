//! A batch step by step, longest sequence first, so that the batch shrinks as sequences end: the order in which a
//! recurrent network reads it without padding.

use std::ops::Range;

use crate::error::{LodErrorKind, Result, SequenceArgument};
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
    /// The steps, first to last; as many as the longest sequence is long.
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
    let mut active = order.len();
    let mut steps = Vec::with_capacity(source.extremes().1);
    for step in 0..source.extremes().1 {
        while active > 0 && source.children(order[active - 1]).len() <= step {
            active -= 1;
        }
        let entries = order[..active]
            .iter()
            .map(|&i| source.children(i).start + step);
        steps.push(x.select(pick(x.lod(), level + 1, entries)?)?);
    }
    let lod = Lod::proven(x.lod().levels()[..=level].into());
    let nothing = x.select(pick(x.lod(), level + 1, std::iter::empty())?)?;
    Ok(Steps {
        steps,
        order,
        nothing,
        lod,
    })
}

/// The entries of `level`, which is one past the last for rows.
#[track_caller]
fn pick(lod: &Lod, level: usize, entries: impl Iterator<Item = usize>) -> Result<Selection> {
    let ranges: Vec<Range<usize>> = entries.map(|i| i..i + 1).collect();
    if level < lod.depth() {
        return lod.gather(level, smallvec::SmallVec::new(), ranges);
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
    let all = match steps.steps.is_empty() {
        true => steps.nothing.clone(),
        false => LodTensor::concat(&steps.steps.iter().collect::<Vec<_>>())?,
    };
    let mut starts = Vec::with_capacity(steps.steps.len());
    let mut start = 0;
    for step in &steps.steps {
        starts.push(start);
        start += entries(step);
    }
    let mut rank = vec![0; steps.order.len()];
    for (place, &sequence) in steps.order.iter().enumerate() {
        rank[sequence] = place;
    }
    let lengths = steps.lod.lengths_of(-1)?;
    let places = lengths
        .zip(rank)
        .flat_map(|(length, rank)| starts[..length].iter().map(move |start| start + rank));
    let selection = pick(all.lod(), 0, places)?;
    let mut levels: smallvec::SmallVec<[crate::level::Level; 1]> = steps.lod.levels().into();
    levels.extend(selection.lod.levels().iter().cloned());
    let data = rows::gather(all.data(), &selection.rows)?;
    Ok(LodTensor::proven(data, Lod::proven(levels)))
}
