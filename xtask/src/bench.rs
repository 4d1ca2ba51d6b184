//! `cargo xtask bench`: runs the package in benches/ with its rivals. Measuring and reporting live there.

use std::ffi::OsString;

use crate::command::{Outcome, cargo};

pub(crate) fn run(quick: bool, filter: Option<&str>, more: &[OsString]) -> Outcome {
    let mut call = cargo(&[
        "run",
        "--release",
        "--package",
        "lodestride-benches",
        "--features",
        "rivals",
        "--",
    ]);
    if quick {
        call = call.args(["--quick"]);
    }
    if let Some(filter) = filter {
        call = call.args(["--filter", filter]);
    }
    call.args(more).run()
}
