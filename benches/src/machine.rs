//! The machine as it is during this run: what it is, how fast it is right now, and how much others use it.

use std::fmt;
use std::fs;
use std::hint::black_box;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Instant;

use lodestride::array::NdArray;
use lodestride::array::kernels::{self, Backend, Isa};

use crate::contest::{Failure, Limit};

/// Facts and calibrations printed above the table and used for its limits.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) threads: usize,
    pub(crate) isa: Isa,
    /// Whether 512-bit vectors run in two halves.
    pub(crate) halves: bool,
    pub(crate) products: &'static str,
    /// GHz, by a loop of known length.
    pub(crate) clock: f64,
    /// `f32` operations per nanosecond in our own matrix product.
    pub(crate) product_rate: f64,
    /// Bytes per nanosecond, read and written, by the standard library's copy between large blocks.
    pub(crate) copy_rate: f64,
    /// Names of the variables that were taken out of the environment.
    pub(crate) cleared: String,
    pub(crate) load: String,
}

impl Machine {
    /// Asks the system and takes the calibrations: under a second on an idle machine.
    pub(crate) fn look(cleared: &str) -> Result<Machine, Failure> {
        Ok(Machine {
            processor: processor(),
            cores: available_parallelism().map_or(1, NonZero::get),
            threads: kernels::threads(),
            isa: Isa::detect(),
            halves: is_zen4(),
            products: Backend::current().name(),
            clock: clock(),
            product_rate: product_rate()?,
            copy_rate: copy_rate(),
            cleared: cleared.to_owned(),
            load: load(),
        })
    }

    /// The most `f32` operations per clock and core: two units that multiply and add a vector. Zen 4 runs 512-bit vectors
    /// in two halves.
    fn flops_per_cycle(&self) -> f64 {
        match self.isa {
            Isa::Avx512 if !self.halves => 64.0,
            Isa::Avx512 | Isa::Avx2 => 32.0,
            Isa::Baseline | Isa::Neon => 16.0,
        }
    }

    /// Nanoseconds below which a workload cannot go here, by this run's calibrations. The copy runs on one thread, so
    /// bytes have no known limit on several.
    pub(crate) fn nanoseconds(&self, limit: Limit) -> Option<f64> {
        let peak = self.flops_per_cycle() * self.clock * self.threads as f64;
        match limit {
            Limit::Bytes(bytes) => (self.threads == 1).then(|| bytes as f64 / self.copy_rate),
            Limit::SingleFlops(count) => Some(count / peak),
            Limit::DoubleFlops(count) => Some(count / peak * 2.0),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "machine    {}, {} cores, {} thread(s) used; kernels {}, matrix products {}",
            self.processor, self.cores, self.threads, self.isa, self.products
        )?;
        let share = self.product_rate / (self.clock * self.flops_per_cycle() * self.threads as f64);
        writeln!(
            f,
            "now        clock {:.2} GHz, matmul 384 f32 {:.0} GFLOP/s ({:.0} % of the peak at that clock), copy {:.1} GB/s",
            self.clock,
            self.product_rate,
            share * 100.0,
            self.copy_rate
        )?;
        let cleared = if self.cleared.is_empty() {
            "none were set"
        } else {
            &self.cleared
        };
        writeln!(
            f,
            "others     load {}; OPENBLAS_* variables cleared: {cleared}",
            self.load
        )?;
        write!(
            f,
            "rivals     ndarray 0.17 (matrixmultiply; one thread), candle-core 0.11 (with gemm's AVX-512 kernels, which \
             its own default leaves off)"
        )
    }
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or_else(
        || std::env::consts::ARCH.to_owned(),
        |(_, name)| name.trim().to_owned(),
    )
}

/// Whether the first processor is an AMD of family 25, the only one of the kind with AVX-512.
fn is_zen4() -> bool {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = |key: &str, value: &str| {
        let mut lines = text.lines().filter(|line| line.starts_with(key));
        lines.next().is_some_and(|line| line.ends_with(value))
    };
    has("vendor_id", "AuthenticAMD") && has("cpu family", ": 25")
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.unwrap_or("unknown").to_owned()
}

/// The shortest of several runs of `work`, in nanoseconds.
fn shortest(runs: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e9
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Each step is an `or` (one cycle) and a multiplication (three cycles on every common processor), each waiting for the
/// last; a product of the value with itself cannot be contracted over several steps.
fn clock() -> f64 {
    const STEPS: u32 = 50_000;
    let took = shortest(200, || {
        let mut value = black_box(0x9E37_79B9_7F4A_7C15u64);
        for _ in 0..STEPS {
            value = value.wrapping_mul(value | 2);
        }
        black_box(value);
    });
    f64::from(STEPS) * 4.0 / took
}

fn product_rate() -> Result<f64, Failure> {
    const N: usize = 384;
    let a = NdArray::full([N, N], 0.5f32)?;
    let out = NdArray::zeros([N, N])?;
    a.mmul_into(&a, &out)?;
    let took = shortest(200, || {
        // The first call above has shown that it works.
        let _ = black_box(a.mmul_into(&a, &out));
    });
    Ok(2.0 * (N * N * N) as f64 / took)
}

/// Copies block by block between memory far larger than the caches, and counts the fastest tenth of the blocks: a block is
/// short enough to be copied between two interruptions.
fn copy_rate() -> f64 {
    const BYTES: usize = 128 << 20;
    const BLOCK: usize = 2 << 20;
    let from = vec![1u8; BYTES];
    let mut to = vec![2u8; BYTES];
    let mut times = Vec::new();
    for _ in 0..8 {
        for (to, from) in to.chunks_exact_mut(BLOCK).zip(from.chunks_exact(BLOCK)) {
            let start = Instant::now();
            to.copy_from_slice(black_box(from));
            times.push(start.elapsed().as_secs_f64() * 1e9);
        }
    }
    black_box(to);
    times.sort_by(f64::total_cmp);
    2.0 * BLOCK as f64 / times[times.len() / 10]
}
