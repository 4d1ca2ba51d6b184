//! `cargo xtask demo`: runs the main job. The program itself is crates/lodestride/examples/speakers.rs.

use std::ffi::OsString;

use crate::command::{self, Outcome, cargo};

/// The program that is run.
const EXAMPLE: &str = "speakers";

pub(crate) fn run(arguments: &[OsString]) -> Outcome {
    cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "lodestride",
        "--example",
        EXAMPLE,
        "--",
    ])
    .args(arguments)
    .run()
}

/// The same with little data and as the tests build it, which takes CI no second build of everything.
pub(crate) fn quick() -> Outcome {
    command::example(EXAMPLE)?.args(["--quick"]).run()
}
