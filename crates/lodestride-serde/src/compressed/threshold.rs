//! The codec that keeps only where large elements are: for each block of elements how many, then their places and signs.
//!
//! Two bytes for each block and for each such element. What a few bytes can claim to stand for is bounded by that.

use std::io;

use lodestride_array::{DType, NdArray, Order};

use crate::error::{Result, SerdeErrorKind};
use crate::sink::{gapless, order_in_file};

/// Elements of a block; twice a place in it fits in two bytes.
const BLOCK: usize = 1024;

pub(super) fn encode(array: &NdArray, limit: f64) -> Result<Vec<u8>> {
    if !(limit > 0.0 && limit.is_finite()) {
        return Err(SerdeErrorKind::BadThreshold { found: limit }.into());
    }
    let dense = gapless(array)?;
    let dense = match order_in_file(array) {
        Order::C => dense,
        // The C order of the transposed array is the memory order of this one.
        Order::F => dense.transpose(),
    };
    let wide = dense.cast(DType::F64)?;
    let blocks = wide.len().div_ceil(BLOCK);
    let (mut counts, mut places) = (vec![0u16; blocks], Vec::new());
    for (index, &value) in wide.view::<f64>()?.iter().enumerate() {
        if value.abs() >= limit {
            counts[index / BLOCK] += 1;
            places.push(((index % BLOCK) as u16) << 1 | u16::from(value < 0.0));
        }
    }
    let numbers = counts.into_iter().chain(places);
    Ok(numbers.flat_map(u16::to_le_bytes).collect())
}

/// The bytes that [`encode`] made, once it is known that they are as many as they should be.
pub(super) struct Hits<'b> {
    counts: &'b [[u8; 2]],
    places: &'b [[u8; 2]],
}

impl<'b> Hits<'b> {
    pub(super) fn of(bytes: &'b [u8], elements: usize) -> Result<Self> {
        let (numbers, rest) = bytes.as_chunks::<2>();
        let blocks = elements.div_ceil(BLOCK);
        let Some((counts, places)) = numbers.split_at_checked(blocks) else {
            return Err(wrong_length(2 * blocks as u64, bytes));
        };
        let hits: u64 = (counts.iter())
            .map(|&count| u64::from(u16::from_le_bytes(count)))
            .sum();
        if hits != places.len() as u64 || !rest.is_empty() {
            return Err(wrong_length(2 * (blocks as u64 + hits), bytes));
        }
        Ok(Self { counts, places })
    }

    /// Writes plus or minus the limit to the places there are.
    pub(super) fn fill(&self, values: &mut [f64], limit: f64) -> Result<()> {
        let mut places = self.places.iter();
        for (block, &count) in values.chunks_mut(BLOCK).zip(self.counts) {
            let count = usize::from(u16::from_le_bytes(count));
            for &place in places.by_ref().take(count) {
                let place = u16::from_le_bytes(place);
                let Some(value) = block.get_mut(usize::from(place >> 1)) else {
                    let text = "an element that is counted is in no block";
                    let source = io::Error::new(io::ErrorKind::InvalidData, text);
                    return Err(SerdeErrorKind::Damaged { source }.into());
                };
                *value = if place & 1 == 1 { -limit } else { limit };
            }
        }
        Ok(())
    }
}

#[cold]
fn wrong_length(expected: u64, bytes: &[u8]) -> crate::SerdeError {
    let (what, found) = ("the places of elements", bytes.len() as u64);
    if found < expected {
        return SerdeErrorKind::Truncated {
            what,
            expected,
            found,
        }
        .into();
    }
    SerdeErrorKind::Trailing { end: expected }.into()
}
