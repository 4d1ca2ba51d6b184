//! `cargo xtask bench`: runs the package in benches/ with its rivals. Measuring and reporting live there.

use crate::command::{Outcome, cargo};
use crate::flags::Bench;

pub(crate) fn run(flags: &Bench) -> Outcome {
    let mut call = cargo(&[
        "run",
        "--release",
        "--package",
        "lodestride-benches",
        "--features",
        "rivals",
        "--",
    ]);
    let switches = [
        ("--quick", flags.quick),
        ("--check", flags.check),
        ("--bars", flags.bars),
        ("--docs", flags.docs),
        ("--scaling", flags.scaling),
    ];
    for (name, _) in switches.into_iter().filter(|(_, on)| *on) {
        call = call.args([name]);
    }
    let values = [
        ("--filter", &flags.filter),
        ("--threads", &flags.threads),
        ("--peers", &flags.peers),
    ];
    for (name, value) in values {
        if let Some(value) = value {
            call = call.args([name, value]);
        }
    }
    call.args(&flags.args).run()
}
