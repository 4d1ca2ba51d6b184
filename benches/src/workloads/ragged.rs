//! Sequences of very different lengths: 4096 of them, 1 to 509 rows (37.7 on average, half of them 5 or fewer). We walk the
//! rows that exist; a dense library loops over slices, works with the rows' numbers, or pads every sequence to the longest,
//! 13.5 times the memory. What a rival needs beforehand is made outside the measured time.

use std::cell::RefCell;

use candle_core::{Device, Tensor};
use lodestride::array::NdArray;
use lodestride::lod::sequence::{self, PoolKind};
use lodestride::lod::{Lengths, LodTensor};
use ndarray::{Array2, Array3, ArrayView2, Axis, Slice, Zip};

use crate::answers::{Data, of_candle, of_ndarray, of_ours};
use crate::contest::{Contest, Failure, Limit};
use crate::record::Key;
use crate::suite::Suite;

/// 4096 lengths drawn once from a power law: the probability of `l` goes with `l^-1.233`, for `l` from 1 to 512.
const LENGTHS: &str = include_str!("../../data/ragged-lengths.txt");

/// Rivals add up to 509 terms in another order.
const TOLERANCE: f64 = 1e-4;

/// The batch in every form that a contestant wants.
struct Batch {
    lengths: Vec<usize>,
    columns: usize,
    ours: LodTensor,
    rows: Array2<f32>,
    candle: Tensor,
}

/// The lengths of the sequences.
pub(crate) fn lengths() -> Result<Vec<usize>, Failure> {
    let lengths = LENGTHS.split_whitespace().map(str::parse);
    Ok(lengths.collect::<Result<_, _>>()?)
}

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    let columns = suite.size(128, 32);
    let names = [
        "rg.pool_sum",
        "rg.pool_max",
        "rg.pool_mean",
        "rg.softmax",
        "rg.expand",
        "rg.reverse",
        "rg.last",
        "rg.pad",
        "rg.unpad",
    ];
    let size = format!("4096x{columns}");
    let keys = names.map(|name| suite.wants(name, &size, "f32"));
    if keys.iter().all(Option::is_none) {
        return Ok(());
    }
    let batch = Batch::new(columns)?;
    let [sum, max, mean, softmax, expand, reverse, last, pad, unpad] = keys;
    let plus = |total: &mut f32, value: f32| *total += value;
    let larger = |most: &mut f32, value: f32| *most = most.max(value);
    batch.pool(suite, sum, PoolKind::Sum, 0.0, plus)?;
    batch.pool(suite, max, PoolKind::Max, f32::NEG_INFINITY, larger)?;
    batch.pool(suite, mean, PoolKind::Average, 0.0, plus)?;
    batch.softmax(suite, softmax)?;
    batch.expand(suite, expand)?;
    batch.reverse(suite, reverse)?;
    batch.last(suite, last)?;
    batch.pad(suite, pad)?;
    batch.unpad(suite, unpad)
}

impl Batch {
    fn new(columns: usize) -> Result<Batch, Failure> {
        let lengths = lengths()?;
        let total: usize = lengths.iter().sum();
        let values = Data::<f32>::new(&[total, columns], 1, -1.0, 1.0);
        Ok(Batch {
            ours: LodTensor::new(values.ours()?, Lengths::from(lengths.clone()))?,
            rows: values.matrix()?,
            candle: values.candle()?,
            lengths,
            columns,
        })
    }

    /// Bytes of all rows.
    fn bytes(&self) -> usize {
        4 * self.rows.len()
    }

    /// The sequences of a matrix of rows.
    fn sequences<'a, T>(&'a self, rows: &'a Array2<T>) -> impl Iterator<Item = ArrayView2<'a, T>> {
        let mut first = 0;
        self.lengths.iter().map(move |&length| {
            first += length;
            rows.slice_axis(Axis(0), Slice::from(first - length..first))
        })
    }

    /// For each row of the result, the number of the row it comes from.
    fn reversed(&self) -> Vec<usize> {
        let mut first = 0;
        let mut all = Vec::with_capacity(self.rows.nrows());
        for &length in &self.lengths {
            all.extend((first..first + length).rev());
            first += length;
        }
        all
    }

    fn padded(&self) -> Array3<f32> {
        let longest = self.lengths.iter().copied().max().unwrap_or(0);
        let mut padded = Array3::zeros((self.lengths.len(), longest, self.columns));
        for (mut place, rows) in padded.outer_iter_mut().zip(self.sequences(&self.rows)) {
            place
                .slice_axis_mut(Axis(0), Slice::from(..rows.nrows()))
                .assign(&rows);
        }
        padded
    }

    fn pool(
        &self,
        suite: &mut Suite,
        key: Option<Key>,
        kind: PoolKind,
        start: f32,
        step: impl Fn(&mut f32, f32) + Copy,
    ) -> Result<(), Failure> {
        let Some(key) = key else {
            return Ok(());
        };
        let mean = kind == PoolKind::Average;
        let mut contest = Contest::new(key, TOLERANCE).limit(Limit::Read(self.bytes()));
        contest.ours(
            || sequence::pool(&self.ours, kind, -1, 0.0),
            |pooled| of_ours(pooled.into_data()),
        )?;
        contest.sure_rival(
            "ndarray by slices",
            || {
                let mut out = Array2::from_elem((self.lengths.len(), self.columns), start);
                for (mut total, rows) in out.outer_iter_mut().zip(self.sequences(&self.rows)) {
                    for row in rows.outer_iter() {
                        total.zip_mut_with(&row, |total, &value| step(total, value));
                    }
                    if mean {
                        total /= rows.nrows() as f32;
                    }
                }
                out
            },
            of_ndarray,
        )?;
        suite.run(contest)
    }

    /// Over the one column of each sequence.
    fn softmax(&self, suite: &mut Suite, key: Option<Key>) -> Result<(), Failure> {
        let Some(key) = key else {
            return Ok(());
        };
        let scores = Data::<f32>::new(&[self.rows.nrows(), 1], 2, 0.0, 1.0);
        let ours = LodTensor::new(scores.ours()?, Lengths::from(self.lengths.clone()))?;
        let theirs = scores.line();
        let limit = Limit::Copied(8 * scores.values.len());
        let mut contest = Contest::new(key, TOLERANCE).limit(limit);
        contest.ours(
            || sequence::softmax(&ours, -1),
            |result| of_ours(result.into_data()),
        )?;
        contest.sure_rival(
            "ndarray by slices",
            || {
                let mut out = theirs.clone();
                let mut first = 0;
                for &length in &self.lengths {
                    let mut part = out.slice_axis_mut(Axis(0), Slice::from(first..first + length));
                    let most = part.fold(f32::NEG_INFINITY, |most, &x| most.max(x));
                    part.mapv_inplace(|x| (x - most).exp());
                    let sum = part.sum();
                    part /= sum;
                    first += length;
                }
                out
            },
            of_ndarray,
        )?;
        suite.run(contest)
    }

    /// Every sequence's row as often as the sequence has rows.
    fn expand(&self, suite: &mut Suite, key: Option<Key>) -> Result<(), Failure> {
        let Some(key) = key else {
            return Ok(());
        };
        let few = Data::<f32>::new(&[self.lengths.len(), self.columns], 3, 0.0, 1.0);
        let once = vec![1; self.lengths.len()];
        let ours = LodTensor::new(few.ours()?, Lengths::from(once))?;
        let (theirs, candle) = (few.matrix()?, few.candle()?);
        let pairs = self.lengths.iter().enumerate();
        let ids: Vec<usize> = pairs
            .flat_map(|(i, &length)| std::iter::repeat_n(i, length))
            .collect();
        let tensor = ids.iter().map(|&id| id as u32).collect();
        let tensor = Tensor::from_vec(tensor, ids.len(), &Device::Cpu)?;
        let mut contest = Contest::new(key, 0.0).limit(Limit::Copied(self.bytes()));
        contest.ours(
            || sequence::expand_as(&ours, &self.ours, -1),
            |result| of_ours(result.into_data()),
        )?;
        contest.sure_rival(
            "ndarray select",
            || theirs.select(Axis(0), &ids),
            of_ndarray,
        )?;
        contest.rival("candle", || candle.index_select(&tensor, 0), of_candle)?;
        suite.run(contest)
    }

    fn reverse(&self, suite: &mut Suite, key: Option<Key>) -> Result<(), Failure> {
        let Some(key) = key else {
            return Ok(());
        };
        let ids = self.reversed();
        let tensor = ids.iter().map(|&id| id as u32).collect();
        let tensor = Tensor::from_vec(tensor, ids.len(), &Device::Cpu)?;
        let mut contest = Contest::new(key, 0.0).limit(Limit::Copied(2 * self.bytes()));
        contest.ours(
            || sequence::reverse(&self.ours, -1),
            |result| of_ours(result.into_data()),
        )?;
        contest.sure_rival(
            "ndarray select",
            || self.rows.select(Axis(0), &ids),
            of_ndarray,
        )?;
        contest.rival("candle", || self.candle.index_select(&tensor, 0), of_candle)?;
        suite.run(contest)
    }

    fn last(&self, suite: &mut Suite, key: Option<Key>) -> Result<(), Failure> {
        let Some(key) = key else {
            return Ok(());
        };
        let ends = self.lengths.iter().scan(0, |end, &length| {
            *end += length;
            Some(*end - 1)
        });
        let ids: Vec<usize> = ends.collect();
        let limit = Limit::Copied(8 * ids.len() * self.columns);
        let mut contest = Contest::new(key, 0.0).limit(limit);
        contest.ours(
            || sequence::last_step(&self.ours, -1),
            |result| of_ours(result.into_data()),
        )?;
        contest.sure_rival(
            "ndarray select",
            || self.rows.select(Axis(0), &ids),
            of_ndarray,
        )?;
        suite.run(contest)
    }

    /// The sums over time stand for the padded batch in the comparison: it has a quarter of a billion elements.
    fn pad(&self, suite: &mut Suite, key: Option<Key>) -> Result<(), Failure> {
        let Some(key) = key else {
            return Ok(());
        };
        let padded = RefCell::new(self.padded());
        let bytes = 4 * padded.borrow().len();
        let mut contest = Contest::new(key, TOLERANCE).limit(Limit::Copied(self.bytes() + bytes));
        contest.ours(
            || sequence::pad(&self.ours, 0.0, None, -1),
            |padded| of_ours(padded.data.data().sum(1)?),
        )?;
        contest.sure_rival(
            "ndarray by slices, given output",
            || {
                let mut padded = padded.borrow_mut();
                for (mut place, rows) in padded.outer_iter_mut().zip(self.sequences(&self.rows)) {
                    let (mut real, mut rest) = place.view_mut().split_at(Axis(0), rows.nrows());
                    real.assign(&rows);
                    rest.fill(0.0);
                }
            },
            |()| of_ndarray(padded.borrow().sum_axis(Axis(1))),
        )?;
        suite.run(contest)
    }

    fn unpad(&self, suite: &mut Suite, key: Option<Key>) -> Result<(), Failure> {
        let Some(key) = key else {
            return Ok(());
        };
        let padded = self.padded();
        let shape = padded.shape().to_vec();
        let ours = NdArray::from_vec(padded.as_slice().unwrap_or_default().to_vec(), shape)?;
        let ours = LodTensor::from(ours);
        let their_out = RefCell::new(Array2::<f32>::zeros(self.rows.dim()));
        let mut contest = Contest::new(key, 0.0).limit(Limit::Copied(2 * self.bytes()));
        contest.ours(
            || sequence::unpad(&ours, &self.lengths),
            |result| of_ours(result.into_data()),
        )?;
        contest.sure_rival(
            "ndarray by slices, given output",
            || {
                let mut out = their_out.borrow_mut();
                let mut first = 0;
                for (sequence, &length) in padded.outer_iter().zip(&self.lengths) {
                    let place = out.slice_axis_mut(Axis(0), Slice::from(first..first + length));
                    Zip::from(place)
                        .and(sequence.slice_axis(Axis(0), Slice::from(..length)))
                        .for_each(|to, &from| *to = from);
                    first += length;
                }
            },
            |()| of_ndarray(their_out.borrow().clone()),
        )?;
        suite.run(contest)
    }
}
