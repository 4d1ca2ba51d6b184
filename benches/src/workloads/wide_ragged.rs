//! What people do with ragged batches beside the performance goals: windows, gradients, and rows put in another order. The batch
//! and its lengths are those of `ragged`; the rivals are NumPy and PyTorch, told beforehand where every row goes.

use lodestride::array::NdArray;
use lodestride::lod::sequence::{self, PoolKind};
use lodestride::lod::{self, Lengths, LodTensor};

use crate::answers::{Data, of_ours, positions, uniform};
use crate::contest::{Contest, Failure};
use crate::suite::Suite;
use crate::workloads::ragged::lengths;

/// What the operations work on.
struct Operands {
    x: LodTensor,
    /// Ids, one for each row.
    ids: LodTensor,
    /// The softmax of scores, one for each row, and what comes back for it.
    weights: LodTensor,
    given: NdArray,
    /// A row for each sequence.
    few: NdArray,
    /// A filter of three rows.
    filter: NdArray,
}

/// A name, the columns, the dtype, how far answers may differ, and what is measured.
type Case = (
    &'static str,
    usize,
    &'static str,
    f64,
    fn(&Operands) -> lod::Result<NdArray>,
);

const CASES: [Case; 6] = [
    ("rowconv", 128, "f32", 1e-4, |o| {
        Ok(sequence::row_conv(&o.x, &o.filter, -1)?.into_data())
    }),
    ("poolgrad", 1, "f32", 1e-6, |o| {
        sequence::pool_grad(&o.x, PoolKind::Average, -1, &o.few)
    }),
    ("concat", 1, "f32", 1e-6, |o| {
        Ok(sequence::concat(&[&o.x, &o.weights], -1)?.into_data())
    }),
    ("steps", 1, "f32", 1e-6, |o| {
        Ok(sequence::from_steps(&sequence::to_steps(&o.x, -1)?)?.into_data())
    }),
    ("softmaxgrad", 1, "f32", 1e-4, |o| {
        sequence::softmax_grad(&o.weights, -1, &o.given)
    }),
    ("enumerate", 1, "i64", 0.0, |o| {
        Ok(sequence::enumerate(&o.ids, 3, 0, -1)?.into_data())
    }),
];

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    for (name, columns, dtype, tolerance, operation) in CASES {
        let size = format!("4096x{columns}");
        let Some(key) = suite.wants(&format!("wd.ragged.{name}"), &size, dtype) else {
            continue;
        };
        let operands = Operands::new(columns)?;
        let mut contest = Contest::new(key, tolerance);
        contest.ours(|| operation(&operands), of_ours)?;
        suite.run(contest)?;
    }
    Ok(())
}

impl Operands {
    fn new(columns: usize) -> Result<Self, Failure> {
        let lengths = lengths()?;
        let (count, total) = (lengths.len(), lengths.iter().sum());
        let batch = |data| LodTensor::new(data, Lengths::from(lengths.clone()));
        let scores = Data::<f32>::new(&[total, 1], 2, 0.0, 1.0).ours()?;
        Ok(Self {
            x: batch(Data::<f32>::new(&[total, columns], 1, -1.0, 1.0).ours()?)?,
            ids: batch(NdArray::from_vec(positions(total, 5, 1000), [total, 1])?)?,
            weights: sequence::softmax(&batch(scores)?, -1)?,
            given: NdArray::from_vec(uniform(total, 4, 0.0, 1.0), [total, 1])?,
            few: Data::<f32>::new(&[count, columns], 3, 0.0, 1.0).ours()?,
            filter: NdArray::from_vec(uniform(3 * columns, 6, -1.0, 1.0), [3, columns])?,
        })
    }
}
