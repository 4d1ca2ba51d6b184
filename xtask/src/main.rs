//! `cargo xtask`: the one entry point for people and CI. Every command is one file here; what a command runs is a plain
//! `cargo` call that anyone could type, and it prints that call first. No library code lives here.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    reason = "a command-line tool talks to its user on stdout"
)]

mod asm;
mod bench;
mod ci;
mod command;
mod data;
mod demo;
mod dependencies;
mod doctor;
mod flags;
mod instructions;
mod interchange;
mod loom;
mod measure;
mod readme;
mod sanitize;
mod size;
mod test;
mod tidy;

use std::process::ExitCode;

use command::Outcome;
use flags::{Xtask, XtaskCmd};

fn main() -> ExitCode {
    match run(&Xtask::from_env_or_exit().subcommand) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &XtaskCmd) -> Outcome {
    match command {
        XtaskCmd::Test(flags) => test::run(flags.quick),
        XtaskCmd::Demo(flags) => demo::run(&flags.args),
        XtaskCmd::Bench(flags) => bench::run(flags),
        XtaskCmd::Size(flags) => size::run(flags.record),
        XtaskCmd::Asm(_) => asm::run(),
        XtaskCmd::Ci(flags) => ci::run(flags.only.as_deref()),
        XtaskCmd::Tidy(_) => tidy::run(),
        XtaskCmd::Doctor(flags) => doctor::run(flags.features.as_deref()),
        XtaskCmd::Sanitize(flags) => sanitize::run(flags.only.as_deref()),
        XtaskCmd::Instructions(flags) => instructions::run(flags.record),
        XtaskCmd::Interchange(_) => interchange::run(),
        XtaskCmd::Loom(_) => loom::run(),
        XtaskCmd::Data(flags) => data::run(&flags.from),
    }
}
