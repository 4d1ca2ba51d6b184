//! What this machine offers and what the library chose; started by `cargo xtask doctor`. Put its output into a bug report.
#![expect(clippy::print_stdout, reason = "a report is for reading")]

use std::fs;
use std::num::NonZero;
use std::thread::available_parallelism;

use lodestride_array::kernels::{Backend, Isa, threads, thresholds};
use lodestride_array::{DType, NdArray, memory};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    line("lodestride", env!("CARGO_PKG_VERSION"));
    line(
        "processor",
        processor().unwrap_or_else(|| "unknown".to_owned()),
    );
    line(
        "target",
        format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
    );
    line("features found", found_features());
    let sets: Vec<_> = Isa::available().map(Isa::name).collect();
    line(
        "kernels",
        format!(
            "{} (of {}; LODESTRIDE_ISA lowers it)",
            Isa::detect(),
            sets.join(", ")
        ),
    );
    let cores = available_parallelism().map_or(1, NonZero::get);
    let pool = if cfg!(feature = "rayon") {
        "rayon"
    } else {
        "built without rayon"
    };
    line(
        "threads",
        format!(
            "{} of {cores} ({pool}; RAYON_NUM_THREADS sets it)",
            threads()
        ),
    );
    sizes_that_decide();
    line("matrix products", matrix_products());
    line(
        "page size",
        page_size().unwrap_or_else(|| "unknown".to_owned()),
    );
    line(
        "huge pages",
        huge_pages().unwrap_or_else(|| "unknown".to_owned()),
    );
    line(
        "default dtype",
        format!("{} (LODESTRIDE_DTYPE sets it)", DType::default()),
    );
    line("cache limit", size(memory::cache_limit()));
    line("self-test", self_test()?);
    Ok(())
}

/// From which sizes on an operation is run in another way.
fn sizes_that_decide() {
    let from = thresholds();
    line(
        "divided from",
        format!(
            "{} where bandwidth decides, {} elsewhere; a quarter of it in a row of operations that come to as much",
            size(from.light_bytes),
            size(from.heavy_bytes)
        ),
    );
    line(
        "past the caches",
        format!(
            "results of operations that move more than {}",
            size(from.stream_bytes)
        ),
    );
}

fn line(name: &str, value: impl std::fmt::Display) {
    println!("{name:<16} {value}");
}

fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} KiB", bytes >> 10)
    }
}

/// The name that Linux gives the first processor.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = text
        .lines()
        .find(|line| line.starts_with("model name") || line.starts_with("CPU part"))?;
    Some(name.split_once(':')?.1.trim().to_owned())
}

#[cfg(target_arch = "x86_64")]
fn found_features() -> String {
    let features = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512fp16", is_x86_feature_detected!("avx512fp16")),
        ("avx512bf16", is_x86_feature_detected!("avx512bf16")),
    ];
    let found: Vec<_> = features
        .into_iter()
        .filter(|(_, has)| *has)
        .map(|(name, _)| name)
        .collect();
    found.join(" ")
}

#[cfg(not(target_arch = "x86_64"))]
fn found_features() -> String {
    "the target's own".to_owned()
}

fn matrix_products() -> String {
    let chosen = Backend::current().name();
    if Backend::OpenBlas.is_available() {
        format!("{chosen}; OpenBLAS is linked too (LODESTRIDE_BLAS chooses)")
    } else {
        format!("{chosen}; OpenBLAS is not linked (feature `openblas`)")
    }
}

fn page_size() -> Option<String> {
    let text = fs::read_to_string("/proc/self/smaps").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("KernelPageSize:"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn huge_pages() -> Option<String> {
    let modes = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    let chosen = modes.split_once('[')?.1.split_once(']')?.0;
    Some(format!("{chosen} (large blocks ask for them)"))
}

/// A product whose answer is known, through whatever was chosen above.
fn self_test() -> Result<&'static str, Box<dyn std::error::Error>> {
    let a = NdArray::full([300, 200], 0.5)?;
    let b = NdArray::full([200, 100], 2.0)?;
    let right = a.mmul(&b)?.equal(200.0)?.all_true()?;
    Ok(if right {
        "passed"
    } else {
        "FAILED: a product of constant matrices is wrong"
    })
}
