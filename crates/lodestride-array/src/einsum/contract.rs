//! One product of two arrays whose axes have labels, as a batched matrix product.

use lodestride_buffer::DType;
use lodestride_shape::{Axes, Order};

use super::subscripts::Subscripts;
use crate::NdArray;
use crate::error::Result;

/// Labels are below this, so that a set of them is the bits of a `u128`.
pub(super) const LABELS: usize = 128;

/// The set of some labels.
pub(super) fn labels_of(labels: &[u8]) -> u128 {
    labels.iter().fold(0, |set, label| set | 1 << label)
}

fn holds(set: u128, label: u8) -> bool {
    set >> label & 1 == 1
}

/// An array with a label per axis, no two the same.
pub(super) struct Labelled {
    array: NdArray,
    pub(super) labels: Vec<u8>,
}

impl Labelled {
    pub(super) fn new(array: NdArray, labels: Vec<u8>) -> Self {
        Self { array, labels }
    }

    /// An operand: diagonals for labels that it has twice, and without axes of size 1 that another operand stretches.
    #[track_caller]
    pub(super) fn read(mut array: NdArray, labels: &[u8], subscripts: &Subscripts) -> Result<Self> {
        let mut labels = labels.to_vec();
        let mut axis = 0;
        while axis < labels.len() {
            let label = labels[axis];
            if let Some(twin) = labels[axis + 1..].iter().position(|&other| other == label) {
                let twin = axis + 1 + twin;
                array = array
                    .move_axis(twin as isize, -1)?
                    .move_axis(axis as isize, -2)?;
                array = array.diagonal(0)?;
                labels.remove(twin);
                labels.remove(axis);
                labels.push(label);
            } else if array.shape()[axis] == 1 && subscripts.sizes[usize::from(label)] != 1 {
                array = array.squeeze(axis as isize)?;
                labels.remove(axis);
            } else {
                axis += 1;
            }
        }
        Ok(Self { array, labels })
    }

    /// Summed over the labels that are not kept.
    #[track_caller]
    fn summed(self, kept: u128) -> Result<Self> {
        let dropped = |&axis: &usize| !holds(kept, self.labels[axis]);
        let axes: Vec<usize> = (0..self.labels.len()).filter(dropped).collect();
        if axes.is_empty() {
            return Ok(self);
        }
        let dtype = self.array.dtype();
        // Integers are summed in 64 bits and wrap when they are stored, as if they had been all along.
        let array = self.array.sum(Axes::from(&axes[..]))?.cast(dtype)?;
        let labels = self
            .labels
            .iter()
            .copied()
            .filter(|&label| holds(kept, label))
            .collect();
        Ok(Self { array, labels })
    }

    /// A view with the axes in this order of labels.
    #[track_caller]
    fn ordered(&self, labels: &[u8]) -> Result<NdArray> {
        let axis = |label: &u8| self.labels.iter().position(|other| other == label);
        let axes: Vec<usize> = labels.iter().filter_map(axis).collect();
        self.array.permute(&axes)
    }

    fn size(&self, label: u8) -> usize {
        let axis = self.labels.iter().position(|&other| other == label);
        axis.map_or(1, |axis| self.array.shape()[axis])
    }

    /// What the whole expression is: summed over all labels but these, which are its axes.
    #[track_caller]
    pub(super) fn finish(self, output: &[u8]) -> Result<NdArray> {
        self.summed(labels_of(output))?.ordered(output)
    }
}

/// The product of two arrays, summed over the labels that are not kept.
#[track_caller]
pub(super) fn pair(op: &'static str, x: Labelled, y: Labelled, kept: u128) -> Result<Labelled> {
    let (in_x, in_y) = (labels_of(&x.labels), labels_of(&y.labels));
    let (x, y) = (x.summed(kept | in_y)?, y.summed(kept | in_x)?);
    // The larger array keeps its order of axes.
    let order = if x.array.len() >= y.array.len() {
        &x.labels
    } else {
        &y.labels
    };
    let both = in_x & in_y;
    let shared = |kept_too: bool| -> Vec<u8> {
        let wanted = |&label: &u8| holds(both, label) && holds(kept, label) == kept_too;
        order.iter().copied().filter(wanted).collect()
    };
    let (batch, contracted) = (shared(true), shared(false));
    let own = |side: &Labelled| -> Vec<u8> {
        side.labels
            .iter()
            .copied()
            .filter(|&label| !holds(both, label))
            .collect()
    };
    let (left, right) = (own(&x), own(&y));
    let labels = [&batch[..], &left, &right].concat();
    // Sums along lines of both are products of matrices, of which each is one line.
    let has_lines = |side: &Labelled| {
        let is_one = contracted.len() == 1 || side.array.layout().is_contiguous(Order::C);
        is_one && side.labels.ends_with(&contracted)
    };
    let is_line = has_lines(&x) && has_lines(&y);
    let array = if contracted.is_empty() {
        spread(&x, &y, &batch, &left, &right)?
    } else if left.is_empty() && right.is_empty() && !is_line && is_single(x.array.dtype()) {
        let order = [&batch[..], &contracted].concat();
        let (x, y) = (x.ordered(&order)?, y.ordered(&order)?);
        let axes: Vec<usize> = (batch.len()..order.len()).collect();
        (x.lazy() * &y).sum(Axes::from(&axes[..]))?
    } else {
        let folded = |side: &Labelled, groups: [&[u8]; 2]| -> Result<NdArray> {
            let order = [&batch[..], groups[0], groups[1]].concat();
            let size = |labels: &[u8]| {
                labels
                    .iter()
                    .map(|&label| side.size(label))
                    .product::<usize>()
            };
            let mut shape: Vec<usize> = batch.iter().map(|&label| side.size(label)).collect();
            shape.extend(groups.map(size));
            side.ordered(&order)?.reshape(shape)
        };
        let (a, b) = (
            folded(&x, [&left, &contracted])?,
            folded(&y, [&contracted, &right])?,
        );
        let sizes = batch.iter().chain(&left).map(|&label| x.size(label));
        let shape: Vec<usize> = sizes
            .chain(right.iter().map(|&label| y.size(label)))
            .collect();
        a.product(op, &b)?.reshape(shape)?
    };
    Ok(Labelled { array, labels })
}

/// The dtypes whose products of elements are exact enough to be summed afterwards.
fn is_single(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// The product without a sum: every element of `left` with every one of `right`.
#[track_caller]
fn spread(x: &Labelled, y: &Labelled, batch: &[u8], left: &[u8], right: &[u8]) -> Result<NdArray> {
    let mut a = x.ordered(&[batch, left].concat())?;
    for _ in right {
        a = a.expand_dims(-1)?;
    }
    let mut b = y.ordered(&[batch, right].concat())?;
    for _ in left {
        b = b.expand_dims(batch.len() as isize)?;
    }
    if a.dtype() == DType::Bool {
        a.logical_and(&b)
    } else {
        a.mul(&b)
    }
}
