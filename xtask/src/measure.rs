//! One clean release build of the kernels crate, looked at from outside: what it costs and what came out. `size` and `asm` share
//! it; it has a target folder of its own, so that it is clean when it should be and disturbs no other build.

use std::fs;
use std::path::PathBuf;

use crate::command::{Call, Outcome, cargo, root};

/// A finished build.
pub(crate) struct Build {
    /// The library.
    pub(crate) library: PathBuf,
    /// CPU seconds the compiler took for this crate, without its dependencies.
    pub(crate) seconds: f64,
}

fn folder() -> PathBuf {
    root().join("target/measure")
}

/// Builds the crate from scratch, its dependencies not.
pub(crate) fn build() -> Outcome<Build> {
    let crate_alone = [
        "rustc",
        "--release",
        "--package",
        "lodestride-kernels",
        "--lib",
    ];
    // Dependencies first, by a build that does not optimise this crate: only what comes after is counted.
    kernels(&crate_alone)
        .args(["--", "-C", "opt-level=0"])
        .run()?;
    kernels(&["clean", "--release", "--package", "lodestride-kernels"]).run()?;
    let before = children_seconds();
    kernels(&crate_alone).run()?;
    Ok(Build {
        library: library()?,
        seconds: children_seconds() - before,
    })
}

/// The library of the last build.
pub(crate) fn library() -> Outcome<PathBuf> {
    let path = folder().join("release/liblodestride_kernels.rlib");
    fs::metadata(&path)?;
    Ok(path)
}

/// A call of cargo that names generic arguments in symbols and compiles as users do: not incrementally.
fn kernels(arguments: &[&str]) -> Call {
    cargo(arguments)
        .env("CARGO_TARGET_DIR", folder())
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTFLAGS", "-C symbol-mangling-version=v0")
}

/// CPU seconds of all processes this one has started and seen the end of, and of theirs. From Linux's account of this process;
/// 0 elsewhere.
fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may hold spaces. After it, fields 14 and 15 are user and system time of children.
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok());
    (ticks(13).unwrap_or(0.0) + ticks(14).unwrap_or(0.0)) / TICKS
}

/// Clock ticks of a second in that account: fixed by Linux's interface to programs.
const TICKS: f64 = 100.0;
