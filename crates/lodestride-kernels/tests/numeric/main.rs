//! Reductions, scans, gathers, segments, products and random numbers, over the layout matrix, against plain loops.
#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    reason = "test support that fails should panic, and is shared between test binaries"
)]

mod direct;
mod division;
mod extremes;
mod gather;
mod lines;
mod matmul;
mod matmul_windows;
mod normalise;
mod random;
mod reduce;
mod row_pass;
mod scan;
mod segment;
mod segment_ranges;
mod segment_short;
mod segment_windows;
#[path = "../support/mod.rs"]
mod support;
mod transfer;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{Thresholds, set_thresholds};
use support::{Arrangement, Array, close};

/// Collects failures so that one run shows them all.
#[derive(Default)]
struct Report(Vec<String>);

impl Report {
    /// Compares elements within `ulps` of the dtype, relative to `scale` where that is larger than the wanted value.
    fn compare(&mut self, case: &str, found: &Array, wanted: &[f64], ulps: f64) {
        let values = found.values();
        assert_eq!(values.len(), wanted.len(), "{case}");
        for (position, (&value, &wanted)) in values.iter().zip(wanted).enumerate() {
            let wanted = support::through(Scalar::Float(wanted), found.dtype);
            if !close(value, wanted, found.dtype, ulps) {
                self.0.push(format!(
                    "{case}: element {position} is {value:?}, not {wanted:?}"
                ));
                return;
            }
        }
    }

    fn check(&mut self, case: &str, passes: bool) {
        if !passes {
            self.0.push(case.to_owned());
        }
    }

    fn finish(self) {
        let failures = self.0;
        let shown = &failures[..failures.len().min(20)];
        assert!(
            failures.is_empty(),
            "{} failed:\n{}",
            failures.len(),
            shown.join("\n")
        );
    }
}

/// Held by tests that change process-wide settings, so that they do not disturb each other. From now on small operations are
/// divided among threads and written past the caches too.
fn settings() -> std::sync::MutexGuard<'static, ()> {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    set_thresholds(Thresholds {
        light_bytes: 1 << 14,
        heavy_bytes: 1 << 14,
        stream_bytes: 1 << 16,
    });
    LOCK.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A zeroed C-order array.
fn zeros(shape: &[usize], dtype: DType) -> Array {
    Array::new(shape, Arrangement::C, dtype, |_| Scalar::Int(0))
}

/// The elements as f64, in C order.
fn floats(array: &Array) -> Vec<f64> {
    array.values().iter().map(|value| value.as_f64()).collect()
}

/// A C-order f64 array of the given values.
fn array_of(shape: &[usize], dtype: DType, values: &[f64]) -> Array {
    Array::new(shape, Arrangement::C, dtype, |i| Scalar::Float(values[i]))
}

/// Pseudo-random numbers in [-1, 1), by a generator other than the library's.
fn noise(i: usize) -> f64 {
    let mut x = (i as u64)
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 30;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 27;
    (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// All positions of a shape in C order.
fn positions(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &size in shape {
        all = all
            .into_iter()
            .flat_map(|p: Vec<usize>| {
                (0..size).map(move |i| p.iter().copied().chain([i]).collect())
            })
            .collect();
    }
    all
}

/// The C-order number of a position.
fn number(position: &[usize], shape: &[usize]) -> usize {
    position
        .iter()
        .zip(shape)
        .fold(0, |n, (&i, &size)| n * size + i)
}
