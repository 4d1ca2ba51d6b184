//! How fast the processor is right now: its clock, and the most multiplications and additions it gets done.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pulp::{Arch, Simd, WithSimd};

/// The shortest of the runs of `work` within a stretch of time, in nanoseconds.
fn shortest(span: Duration, mut work: impl FnMut()) -> f64 {
    let end = Instant::now() + span;
    let mut least = f64::INFINITY;
    while Instant::now() < end {
        let start = Instant::now();
        work();
        least = least.min(start.elapsed().as_secs_f64() * 1e9);
    }
    least
}

/// GHz. Each step is an `or` (one cycle) and a multiplication (three cycles on every common processor), each waiting for the
/// last; a product of the value with itself cannot be contracted over several steps.
pub(crate) fn clock() -> f64 {
    const STEPS: u32 = 50_000;
    let took = shortest(Duration::from_millis(30), || {
        let mut value = black_box(0x9E37_79B9_7F4A_7C15u64);
        for _ in 0..STEPS {
            value = value.wrapping_mul(value | 2);
        }
        black_box(value);
    });
    f64::from(STEPS) * 4.0 / took
}

/// Independent sums: more than twice the cycles that a multiplication and addition takes, in both units.
const SUMS: usize = 16;
const STEPS: u32 = 20_000;

struct Single;
struct Double;

impl WithSimd for Single {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let factor = simd.splat_f32s(black_box(0.999));
        let mut sums = [simd.splat_f32s(black_box(1.0)); SUMS];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = simd.mul_add_e_f32s(*sum, factor, factor);
            }
        }
        black_box(sums);
        S::F32_LANES
    }
}

impl WithSimd for Double {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let factor = simd.splat_f64s(black_box(0.999));
        let mut sums = [simd.splat_f64s(black_box(1.0)); SUMS];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = simd.mul_add_e_f64s(*sum, factor, factor);
            }
        }
        black_box(sums);
        S::F64_LANES
    }
}

/// Operations per nanosecond on one thread, for `f32` and `f64`; a multiplication and addition are two.
pub(crate) fn flops() -> [f64; 2] {
    let arch = Arch::new();
    let span = Duration::from_millis(60);
    let count = f64::from(STEPS) * SUMS as f64 * 2.0;
    let mut lanes = 0;
    let single = shortest(span, || lanes = arch.dispatch(Single));
    let single = count * lanes as f64 / single;
    let double = shortest(span, || lanes = arch.dispatch(Double));
    [single, count * lanes as f64 / double]
}
