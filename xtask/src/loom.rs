//! `cargo xtask loom`: model-checks the access word and the workspace protocol of lodestride-buffer. The models are the tests
//! named `loom_*` there; they exist only under `--cfg loom`, which swaps the atomics for loom's.

use crate::command::{Outcome, TestCounts, cargo};

pub(crate) fn run() -> Outcome {
    counted(&mut TestCounts::default())
}

/// Its own target folder: the flag would otherwise rebuild everything twice, back and forth.
pub(crate) fn counted(counts: &mut TestCounts) -> Outcome {
    cargo(&[
        "test",
        "--package",
        "lodestride-buffer",
        "--lib",
        "--target-dir",
        "target/loom",
        "loom_",
    ])
    .env("RUSTFLAGS", "--cfg loom")
    .env("LOOM_MAX_PREEMPTIONS", "3")
    .run_counting(counts)
}
