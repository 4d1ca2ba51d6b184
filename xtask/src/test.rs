//! `cargo xtask test`: all tests of the workspace. Doc tests run apart because nextest does not know them.

use crate::command::{Call, Outcome, cargo};

/// The benchmarks' rivals sit behind a feature that is off here, so the whole workspace can be named.
pub(crate) fn run(quick: bool) -> Outcome {
    if nextest_is_installed() {
        cargo(&[
            "nextest",
            "run",
            "--workspace",
            "--no-fail-fast",
            "--status-level=slow",
            "--final-status-level=fail",
        ])
        .run()?;
    } else {
        cargo(&[
            "test",
            "--workspace",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
            "--examples",
        ])
        .run()?;
    }
    if !quick {
        cargo(&["test", "--workspace", "--no-fail-fast", "--doc"]).run()?;
    }
    Ok(())
}

fn nextest_is_installed() -> bool {
    Call::new("cargo-nextest", &["nextest", "--version"]).succeeds()
}
