//! Where values belong in a sorted vector.

use std::hint::select_unpredictable;

use lodestride_buffer::{Argument, DType};

use crate::door;
use crate::error::{KernelError, Result};
use crate::isa::{Arch, Level, Task};
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
    if table.len() <= LITTLE {
        let task = Count {
            table,
            values,
            places: &mut *places,
            before: &before,
        };
        if Level::current().run_narrow_tuned(task).is_ok() {
            return;
        }
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

/// Up to so many keys of a table are all compared with every value.
const LITTLE: usize = 16;

struct Count<'a, K, F> {
    table: &'a [K],
    values: &'a [K],
    places: &'a mut [u64],
    before: F,
}

impl<K: Key, F: Fn(K, K) -> bool> Task for Count<'_, K, F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        /// Values that are compared at a time.
        const TILE: usize = 32;
        let one = K::from_u64(1);
        for (values, places) in self.values.chunks(TILE).zip(self.places.chunks_mut(TILE)) {
            let (mut tile, mut counts) = ([K::ZERO; TILE], [K::ZERO; TILE]);
            tile[..values.len()].copy_from_slice(values);
            for &key in self.table {
                for (count, &value) in counts.iter_mut().zip(&tile) {
                    let is_before = (self.before)(key, value);
                    *count = count.plus(if is_before { one } else { K::ZERO });
                }
            }
            for (place, count) in places.iter_mut().zip(counts) {
                *place = count.to_u64();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<K: Key>() {
        let keys: Vec<K> = (0..100u64).map(|i| K::from_u64(i * 37 % 91)).collect();
        for len in (0..20).chain([40]) {
            let mut table: Vec<K> = (0..len).map(|i| K::from_u64(i * 53 % 91)).collect();
            table.extend([K::ZERO, K::MAX].iter().take(len as usize));
            table.sort_unstable();
            for count in [1, 31, 33, keys.len()] {
                let keys = &keys[..count];
                let mut places = vec![u64::MAX; count];
                search(&table, keys, &mut places, |a, b| a < b);
                let expected = keys.iter().map(|&key| table.partition_point(|&a| a < key));
                assert!(expected.eq(places.iter().map(|&place| place as usize)));
                search(&table, keys, &mut places, |a, b| a <= b);
                let expected = keys.iter().map(|&key| table.partition_point(|&a| a <= key));
                assert!(expected.eq(places.iter().map(|&place| place as usize)));
            }
        }
    }

    #[test]
    fn places_are_those_of_a_binary_search() {
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
    }
}
