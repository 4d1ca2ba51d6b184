//! Where values belong in a sorted vector.

use std::hint::select_unpredictable;

use lodestride_buffer::{Argument, DType};

use crate::door;
use crate::error::{KernelError, Result};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::sort_key::{Coding, Key};
use crate::sort_lines::{Blocks, Lines, fill_lines};

/// On which side of equal elements a value belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before them: the first place that keeps the order.
    #[default]
    Left,
    /// After them: the last such place.
    Right,
}

/// Writes for each of `values` how many elements of the ascending vector `sorted` stand before it, to `out` (i64).
///
/// Both are compared in the dtype they promote to, in the order of [`sort`](crate::sort::sort): NaN after all numbers.
/// Costs a binary search per value, of which several run side by side.
///
/// # Errors
/// [`KernelError`] when `sorted` is not a vector, `out` has another shape than `values` or is not i64, or a buffer cannot be
/// accessed. Nothing is written then.
pub fn searchsorted(
    sorted: Operand<'_>,
    values: Operand<'_>,
    side: Side,
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "searchsorted";
    if sorted.layout().rank() != 1 {
        return Err(KernelError::ShapeMismatch {
            op: OP,
            argument: Argument::X,
            found: Box::new(sorted.shape().clone()),
            expected: Box::new(sorted.elements().into()),
        });
    }
    door::check_output(OP, out, values.shape())?;
    door::check_dtype(OP, Argument::Z, out, DType::I64)?;
    if values.layout().is_empty() {
        return Ok(());
    }
    let dtype = sorted.dtype().promote(values.dtype());
    let coding = Coding::new(dtype, false);
    let last = values.layout().rank().saturating_sub(1);
    let table = Lines::copy_of(OP, sorted, 0, dtype)?;
    let values = Lines::copy_of(OP, values, last, dtype)?;
    with_unit!(dtype, K => {
        let mut table = table.open(OP)?;
        let table = table.slice::<K>();
        coding.rank(table);
        let table = &*table;
        let mut keys = values.open(OP)?;
        let keys = keys.slice::<K>();
        fill_lines::<u64>(OP, None, out, last, &mut |places| {
            Blocks { keys, len: 1, from: None }.each(places, 1, |block| {
                coding.rank(block.keys);
                match side {
                    Side::Left => search(table, block.keys, block.beside, |a, b| a < b),
                    Side::Right => search(table, block.keys, block.beside, |a, b| a <= b),
                }
                Ok(())
            })
        })
    })
}

/// Searches that run side by side: their loads wait together.
const LANES: usize = 16;

/// How many of the keys of `table` are `before` each value.
pub(crate) fn search<K: Key>(
    table: &[K],
    values: &[K],
    places: &mut [u64],
    before: impl Fn(K, K) -> bool,
) {
    if table.is_empty() {
        return places.fill(0);
    }
    for (values, places) in values.chunks(LANES).zip(places.chunks_mut(LANES)) {
        let mut low = [0usize; LANES];
        let mut len = table.len();
        while len > 1 {
            let half = len / 2;
            for (low, &value) in low.iter_mut().zip(values) {
                let middle = *low + half;
                // Half the guesses of a branch would be wrong.
                *low = select_unpredictable(before(table[middle], value), middle, *low);
            }
            len -= half;
        }
        for ((place, &low), &value) in places.iter_mut().zip(&low).zip(values) {
            *place = (low + usize::from(before(table[low], value))) as u64;
        }
    }
}
