//! `cargo xtask doctor`: what the machine offers and what the library chose. The report is an example of the facade, so it sees
//! what any program that uses the library sees, and this tool stays free of it.

use crate::command::{Outcome, cargo};

pub(crate) fn run(features: Option<&str>) -> Outcome {
    let mut call = cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "lodestride",
        "--example",
        "doctor",
    ]);
    if let Some(features) = features {
        call = call.args(["--features", features]);
    }
    call.run()
}
