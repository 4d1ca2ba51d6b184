//! Spreading independent units of work over threads, with results in order.
//!
//! The split never changes what a unit computes, so results do not depend on the number of threads.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::threads;

/// Computes `work(0), .., work(count - 1)`, the units split evenly over the threads.
#[inline]
pub(crate) fn map<T: Send + Sync>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_erased(count, &work)
}

/// [`map`], compiled once for each type of results.
#[inline(never)]
fn map_erased<T: Send + Sync>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let mut results: Vec<OnceLock<T>> = Vec::new();
    results.resize_with(count, OnceLock::new);
    for_each(count, &|index| {
        // Every index is visited once, so the cell is empty.
        let _ = results[index].set(work(index));
    });
    results
        .into_iter()
        .filter_map(OnceLock::into_inner)
        .collect()
}

/// Calls `work(index, chunk)` for chunks of `size` elements (the last may be shorter), split evenly over the threads.
#[inline]
pub(crate) fn for_each_chunk<T: Send>(
    data: &mut [T],
    size: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    for_each_chunk_erased(data, size, &work);
}

/// [`for_each_chunk`], compiled once for each type of elements.
#[inline(never)]
fn for_each_chunk_erased<T: Send>(
    data: &mut [T],
    size: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let chunks: Vec<_> = data.chunks_mut(size).map(Mutex::new).collect();
    for_each(chunks.len(), &|index| {
        // Never contended: every index is visited once.
        let mut chunk = chunks[index].lock().unwrap_or_else(PoisonError::into_inner);
        work(index, &mut chunk);
    });
}

/// Calls `work` for every index, even shares of neighbouring ones for each part. Compiled once: callers are erased.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let share = count.div_ceil(threads::shares()).max(1);
    threads::for_each_part(0..count.div_ceil(share), |part| {
        (part * share..count.min((part + 1) * share)).for_each(work);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for count in [0, 1, 2, 7, 100] {
            let expected: Vec<usize> = (0..count).map(|i| i * i).collect();
            assert_eq!(map(count, |i| i * i), expected);
        }
    }

    #[test]
    fn every_chunk_is_visited_once() {
        for len in [0, 1, 9, 10, 11, 95] {
            let mut data = vec![0; len];
            for_each_chunk(&mut data, 10, |index, chunk| {
                chunk.iter_mut().for_each(|value| *value += index + 1);
            });
            for (position, &value) in data.iter().enumerate() {
                assert_eq!(value, position / 10 + 1, "position {position} of {len}");
            }
        }
    }
}
