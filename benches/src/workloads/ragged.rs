//! Pooling of sequences of very different lengths: 4096 of them, 1 to 509 rows (37.7 on average, half of them 5 or
//! fewer). We walk the rows that exist; a dense library pads every sequence to the longest, 13.5 times the memory, or
//! loops over slices. The padded batch is made outside the measured time.

use lodestride::array::NdArray;
use lodestride::lod::sequence::{PoolKind, pool};
use lodestride::lod::{Lengths, LodError, LodTensor};
use ndarray::{Array1, Array2, Array3, ArrayView1, Axis, Slice};

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure, Limit};
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
    padded: Array3<f32>,
}

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    let columns = suite.size(128, 32);
    let names = ["sum", "max"].map(|kind| format!("ragged {kind} 4096 seq x {columns}"));
    if !names.iter().any(|name| suite.wants(name)) {
        return Ok(());
    }
    let batch = Batch::new(columns)?;
    if suite.wants(&names[0]) {
        sum(suite, &names[0], &batch)?;
    }
    if suite.wants(&names[1]) {
        max(suite, &names[1], &batch)?;
    }
    Ok(())
}

impl Batch {
    fn new(columns: usize) -> Result<Batch, Failure> {
        let lengths = LENGTHS.split_whitespace().map(str::parse);
        let lengths: Vec<usize> = lengths.collect::<Result<_, _>>()?;
        let total = lengths.iter().sum();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let values = uniform(total * columns, 1, -1.0, 1.0);
        let data = NdArray::from_vec(values.clone(), [total, columns])?;
        let rows = Array2::from_shape_vec((total, columns), values)?;
        let mut padded = Array3::zeros((lengths.len(), longest, columns));
        let mut first = 0;
        for (i, &length) in lengths.iter().enumerate() {
            let sequence = rows.slice_axis(Axis(0), Slice::from(first..first + length));
            let mut place = padded.index_axis_mut(Axis(0), i);
            place
                .slice_axis_mut(Axis(0), Slice::from(..length))
                .assign(&sequence);
            first += length;
        }
        Ok(Batch {
            ours: LodTensor::new(data, Lengths::from(lengths.clone()))?,
            lengths,
            columns,
            rows,
            padded,
        })
    }

    fn contest<'a>(&self, name: &str) -> Contest<'a> {
        Contest::new(name, TOLERANCE).limit(Limit::Bytes(4 * self.rows.len()))
    }

    fn pooled(&self, kind: PoolKind) -> Result<NdArray, LodError> {
        Ok(pool(&self.ours, kind, -1, 0.0)?.into_data())
    }

    /// A row for each sequence, from the slice of its rows.
    fn by_slices(
        &self,
        reduce: impl Fn(ndarray::ArrayView2<'_, f32>) -> Array1<f32>,
    ) -> Array2<f32> {
        let mut out = Array2::zeros((self.lengths.len(), self.columns));
        let mut first = 0;
        for (&length, mut row) in self.lengths.iter().zip(out.outer_iter_mut()) {
            let sequence = Slice::from(first..first + length);
            row.assign(&reduce(self.rows.slice_axis(Axis(0), sequence)));
            first += length;
        }
        out
    }

    /// The usual loop over a padded batch: every step of time for all sequences, with a mask.
    fn by_masks(&self, start: f32, step: impl Fn(&mut f32, f32)) -> Array2<f32> {
        let mut out = Array2::from_elem((self.lengths.len(), self.columns), start);
        for (time, rows) in self.padded.axis_iter(Axis(1)).enumerate() {
            let pairs = out.outer_iter_mut().zip(rows.outer_iter());
            for ((mut total, row), &length) in pairs.zip(&self.lengths) {
                if time < length {
                    total.zip_mut_with(&row, |total, &value| step(total, value));
                }
            }
        }
        out
    }
}

fn sum(suite: &mut Suite, name: &str, batch: &Batch) -> Result<(), Failure> {
    let shape = batch.padded.dim();
    let padded = tensor(batch.padded.iter().copied().collect(), shape)?;
    let mut contest = batch.contest(name);
    contest.ours(|| batch.pooled(PoolKind::Sum), of_ours)?;
    contest.sure_rival(
        "ndarray by slices",
        || batch.by_slices(|rows| rows.sum_axis(Axis(0))),
        of_ndarray,
    )?;
    contest.sure_rival(
        "ndarray padded",
        || batch.padded.sum_axis(Axis(1)),
        of_ndarray,
    )?;
    contest.sure_rival(
        "ndarray padded, masked",
        || batch.by_masks(0.0, |total, value| *total += value),
        of_ndarray,
    )?;
    contest.rival("candle padded", || padded.sum(1), of_candle)?;
    suite.run(contest)
}

fn max(suite: &mut Suite, name: &str, batch: &Batch) -> Result<(), Failure> {
    let larger = |most: &mut f32, value: f32| *most = most.max(value);
    let mut contest = batch.contest(name);
    contest.ours(|| batch.pooled(PoolKind::Max), of_ours)?;
    contest.sure_rival(
        "ndarray by slices",
        || {
            batch.by_slices(|rows| {
                let start = Array1::from_elem(rows.ncols(), f32::NEG_INFINITY);
                rows.outer_iter()
                    .fold(start, |mut most, row: ArrayView1<'_, f32>| {
                        most.zip_mut_with(&row, |most, &value| larger(most, value));
                        most
                    })
            })
        },
        of_ndarray,
    )?;
    contest.sure_rival(
        "ndarray padded, masked",
        || batch.by_masks(f32::NEG_INFINITY, larger),
        of_ndarray,
    )?;
    suite.run(contest)
}
