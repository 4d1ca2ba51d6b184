//! `cargo xtask sanitize`: tests of the crates that hold or move raw memory, under the address and the thread sanitizer.
//! Both are nightly compiler flags. The standard library stays as shipped (it is not rebuilt), so the compiler has to be told that
//! instrumented and plain code may be linked together.

use std::fmt;

use crate::command::{Call, Outcome, cargo};

/// Crates whose tests touch raw memory directly (buffer, kernels) or through every public door (array).
const PACKAGES: [&str; 3] = [
    "lodestride-buffer",
    "lodestride-kernels",
    "lodestride-array",
];
const SANITIZERS: [&str; 2] = ["address", "thread"];

#[derive(Debug)]
struct UnknownSanitizer;

impl fmt::Display for UnknownSanitizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`--only` takes one of: {}", SANITIZERS.join(", "))
    }
}

impl std::error::Error for UnknownSanitizer {}

pub(crate) fn run(only: Option<&str>) -> Outcome {
    if only.is_some_and(|name| !SANITIZERS.contains(&name)) {
        return Err(Box::new(UnknownSanitizer));
    }
    if !Call::new("rustup", &["run", "nightly", "cargo", "--version"]).succeeds() {
        println!(
            "sanitize: no nightly toolchain here (`rustup toolchain install nightly`), so nothing was run"
        );
        return Ok(());
    }
    let target = host_target()?;
    let mut ran = Vec::new();
    for sanitizer in SANITIZERS {
        if only.is_some_and(|name| name != sanitizer) {
            continue;
        }
        if !is_supported(sanitizer, &target) {
            println!(
                "sanitize: the {sanitizer} sanitizer does not link or start on {target}, so it was not run"
            );
            continue;
        }
        run_one(sanitizer, &target)?;
        ran.push(sanitizer);
    }
    println!(
        "sanitize: ran {} over {}",
        if ran.is_empty() {
            "nothing".to_owned()
        } else {
            ran.join(" and ")
        },
        PACKAGES.join(", ")
    );
    Ok(())
}

fn flags(sanitizer: &str) -> String {
    format!("-Zsanitizer={sanitizer} -Cunsafe-allow-abi-mismatch=sanitizer")
}

/// A target must be named: only then do the flags stay away from build scripts and procedural macros.
fn run_one(sanitizer: &str, target: &str) -> Outcome {
    let folder = format!("target/sanitize-{sanitizer}");
    let mut call = Call::new(
        "rustup",
        &[
            "run", "nightly", "cargo", "test", "--lib", "--tests", "--target", target,
        ],
    )
    .args(["--target-dir", &folder])
    .env("RUSTFLAGS", flags(sanitizer))
    // Reports of leaked blocks would list the thread-local caches, which are meant to live until the thread ends.
    .env("ASAN_OPTIONS", "detect_leaks=0")
    .env("PROPTEST_CASES", "16");
    for package in PACKAGES {
        call = call.args(["--package", package]);
    }
    call.run()
}

/// Compiles and starts an empty program with the flags: some systems lack the run-time library, some forbid its address layout.
fn is_supported(sanitizer: &str, target: &str) -> bool {
    let folder = crate::command::root().join("target").join("sanitize-probe");
    if std::fs::create_dir_all(&folder).is_err() {
        return false;
    }
    let (source, program) = (folder.join("probe.rs"), folder.join(sanitizer));
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let flags = flags(sanitizer);
    let compiled = Call::new(
        "rustup",
        &[
            "run",
            "nightly",
            "rustc",
            "--edition=2024",
            "--target",
            target,
        ],
    )
    .args(flags.split(' '))
    .args(["-o".as_ref(), program.as_os_str(), source.as_os_str()])
    .succeeds();
    compiled && Call::new(program, &[]).succeeds()
}

fn host_target() -> Outcome<String> {
    let described = cargo(&["--version", "--verbose"]).read()?;
    let host = described
        .lines()
        .find_map(|line| line.strip_prefix("host: "));
    Ok(host.unwrap_or("x86_64-unknown-linux-gnu").to_owned())
}
