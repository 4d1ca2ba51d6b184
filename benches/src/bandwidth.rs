//! How fast memory is right now, from the first-level cache to main memory: the limit of everything that computes little.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use lodestride::array::{DType, NdArray};
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use crate::contest::Failure;

/// Working sets of one thread, from well inside the first-level cache to far beyond the last.
const SIZES: [usize; 15] = [
    8 << 10,
    16 << 10,
    24 << 10,
    48 << 10,
    128 << 10,
    384 << 10,
    768 << 10,
    1536 << 10,
    3 << 20,
    6 << 20,
    12 << 20,
    24 << 20,
    48 << 20,
    96 << 20,
    256 << 20,
];

/// Bytes per nanosecond of all threads together, for working sets of different sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bandwidth {
    /// `(bytes of all threads, bytes read and written per nanosecond)` of the standard library's copy.
    pub(crate) copy: Vec<(f64, f64)>,
    /// The same of a sum: nothing is written.
    pub(crate) read: Vec<(f64, f64)>,
}

impl Bandwidth {
    /// Measures for about a second, in memory like that of every array: on huge pages where there are some.
    pub(crate) fn measure(threads: usize) -> Result<Bandwidth, Failure> {
        let largest = SIZES.iter().copied().max().unwrap_or(0);
        let memory = (0..threads)
            .map(|_| NdArray::ones_of(DType::F32, [largest / 4]))
            .collect::<Result<Vec<_>, _>>()?;
        let curve = |work: fn(usize, &mut [f32]) -> f64| {
            let sizes = SIZES.iter().map(|&bytes| (threads * bytes) as f64);
            Ok::<_, Failure>(sizes.zip(together(&memory, work)?).collect())
        };
        Ok(Bandwidth {
            copy: curve(copy)?,
            read: curve(read)?,
        })
    }

    /// Nanoseconds of copying, `bytes` read and written in all.
    pub(crate) fn copied(&self, bytes: usize) -> f64 {
        bytes as f64 / at(&self.copy, bytes as f64)
    }

    /// Nanoseconds of reading `bytes`.
    pub(crate) fn read(&self, bytes: usize) -> f64 {
        bytes as f64 / at(&self.read, bytes as f64)
    }
}

/// The rate for a working set, between the two nearest measured ones. The highest rate of all larger sets counts too: a cache
/// cannot be slower than what lies behind it.
fn at(curve: &[(f64, f64)], bytes: f64) -> f64 {
    let rate = |i: usize| {
        let larger = curve[i..].iter().map(|&(_, rate)| rate);
        larger.fold(0.0, f64::max)
    };
    let after = curve.iter().position(|&(size, _)| size >= bytes);
    match after {
        None => rate(curve.len() - 1),
        Some(0) => rate(0),
        Some(i) => {
            let (low, high) = (curve[i - 1].0.ln(), curve[i].0.ln());
            let share = (bytes.ln() - low) / (high - low);
            rate(i - 1) * (1.0 - share) + rate(i) * share
        }
    }
}

/// Runs `work` on every size in one thread for each array at once and adds up their rates.
fn together(
    memory: &[NdArray],
    work: fn(usize, &mut [f32]) -> f64,
) -> Result<[f64; SIZES.len()], Failure> {
    let mut views = memory
        .iter()
        .map(NdArray::view_mut::<f32>)
        .collect::<Result<Vec<_>, _>>()?;
    let start = Barrier::new(memory.len());
    let one = |memory: &mut [f32]| {
        SIZES.map(|bytes| {
            start.wait();
            work(bytes, &mut memory[..bytes / 4])
        })
    };
    let mut slices = views.iter_mut().filter_map(|view| view.as_mut_slice());
    let first = slices.next();
    Ok(thread::scope(|scope| {
        let others: Vec<_> = slices.map(|memory| scope.spawn(|| one(memory))).collect();
        let mut rates = first.map_or([0.0; SIZES.len()], one);
        for other in others {
            // A thread that panicked has no share in the sum.
            let theirs = other.join().unwrap_or([0.0; SIZES.len()]);
            rates
                .iter_mut()
                .zip(theirs)
                .for_each(|(rate, more)| *rate += more);
        }
        rates
    }))
}

/// Bytes per nanosecond of the fastest of many repetitions, each of them long enough for the clock.
fn best(bytes: usize, mut work: impl FnMut()) -> f64 {
    let repeat = (1 << 17) / bytes + 1;
    let until = Instant::now() + Duration::from_millis(if bytes > 32 << 20 { 120 } else { 20 });
    let mut least = f64::INFINITY;
    while Instant::now() < until {
        let start = Instant::now();
        for _ in 0..repeat {
            work();
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / repeat as f64);
    }
    bytes as f64 / least
}

fn copy(bytes: usize, memory: &mut [f32]) -> f64 {
    let (from, to) = memory.split_at_mut(bytes / 8);
    best(bytes, || to[..from.len()].copy_from_slice(black_box(from)))
}

fn read(bytes: usize, memory: &mut [f32]) -> f64 {
    let arch = Arch::new();
    best(bytes, || {
        black_box(arch.dispatch(Sum(black_box(&*memory))));
    })
}

/// Reads numbers by adding them up.
struct Sum<'a>(&'a [f32]);

impl WithSimd for Sum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        // Enough independent sums that no addition waits for another.
        let mut sums = [simd.splat_f32s(0.0); 8];
        for block in S::as_simd_f32s(self.0).0.as_chunks::<8>().0 {
            for (sum, &values) in sums.iter_mut().zip(block) {
                *sum = simd.add_f32s(*sum, values);
            }
        }
        sums.into_iter().map(|sum| simd.reduce_sum_f32s(sum)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn rates_lie_between_measurements() {
        let curve = [(1e3, 100.0), (1e5, 60.0), (1e7, 20.0)];
        assert_eq!(at(&curve, 1.0), 100.0);
        assert!((at(&curve, 1e4) - 80.0).abs() < 1e-9);
        assert_eq!(at(&curve, 1e9), 20.0);
    }
}
