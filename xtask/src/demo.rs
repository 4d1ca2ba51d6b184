//! `cargo xtask demo`: runs the main job. The program itself is crates/lodestride/examples/speakers.rs.

use std::ffi::OsString;

use crate::command::{Outcome, cargo};

pub(crate) fn run(arguments: &[OsString]) -> Outcome {
    cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "lodestride",
        "--example",
        "speakers",
        "--",
    ])
    .args(arguments)
    .run()
}
