//! `cargo xtask sanitize`: tests of the crates that hold or move raw memory, under the address and the thread sanitizer.
//! Both are nightly compiler flags. The standard library stays as shipped (it is not rebuilt), so the compiler has to be told that
//! instrumented and plain code may be linked together, and the thread sanitizer which of its reports come from there.

use std::fmt;

use crate::command::{Call, Outcome, cargo, root};

/// What differs between the sanitizers.
struct Sanitizer {
    name: &'static str,
    /// Crates whose tests run under it.
    packages: &'static [&'static str],
    /// Further arguments of `cargo test`.
    arguments: &'static [&'static str],
}

const SANITIZERS: [Sanitizer; 2] = [
    Sanitizer {
        name: "address",
        packages: &[
            "lodestride-buffer",
            "lodestride-kernels",
            "lodestride-array",
        ],
        arguments: &["--lib", "--tests"],
    },
    // Without rayon: its queues order memory by fences, which the thread sanitizer does not model. One test at a time, because
    // the test harness hands results over inside the uninstrumented standard library.
    Sanitizer {
        name: "thread",
        packages: &["lodestride-buffer", "lodestride-array"],
        arguments: &[
            "--lib",
            "--tests",
            "--no-default-features",
            "--",
            "--test-threads=1",
        ],
    },
];

#[derive(Debug)]
struct UnknownSanitizer;

impl fmt::Display for UnknownSanitizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = SANITIZERS.iter().map(|sanitizer| sanitizer.name).collect();
        write!(f, "`--only` takes one of: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownSanitizer {}

pub(crate) fn run(only: Option<&str>) -> Outcome {
    let wanted = |sanitizer: &&Sanitizer| only.is_none_or(|name| name == sanitizer.name);
    if !SANITIZERS.iter().any(|sanitizer| wanted(&sanitizer)) {
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
    for sanitizer in SANITIZERS.iter().filter(wanted) {
        let name = sanitizer.name;
        if !is_supported(name, &target) {
            println!(
                "sanitize: the {name} sanitizer does not link or start on {target}, so it was not run"
            );
            continue;
        }
        run_one(sanitizer, &target)?;
        ran.push(format!(
            "{name} sanitizer: clean over {}",
            sanitizer.packages.join(", ")
        ));
    }
    println!("{}", ran.join("\n"));
    Ok(())
}

fn flags(sanitizer: &str) -> String {
    format!("-Zsanitizer={sanitizer} -Cunsafe-allow-abi-mismatch=sanitizer")
}

/// A target must be named: only then do the flags stay away from build scripts and procedural macros.
fn run_one(sanitizer: &Sanitizer, target: &str) -> Outcome {
    let folder = format!("target/sanitize-{}", sanitizer.name);
    let suppressions = root().join("xtask/tsan-suppressions.txt");
    let mut call = Call::new(
        "rustup",
        &[
            "run", "nightly", "cargo", "test", "--quiet", "--target", target,
        ],
    )
    .args(["--target-dir", &folder])
    .env("RUSTFLAGS", flags(sanitizer.name))
    // Blocks that a thread keeps for reuse until it ends would be listed as leaks.
    .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
    .env(
        "TSAN_OPTIONS",
        format!("suppressions={}", suppressions.display()),
    )
    .env("PROPTEST_CASES", "16");
    for package in sanitizer.packages {
        call = call.args(["--package", package]);
    }
    call.args(sanitizer.arguments).run()
}

/// Compiles and starts an empty program with the flags: some systems lack the run-time library, some forbid its address layout.
fn is_supported(sanitizer: &str, target: &str) -> bool {
    let folder = root().join("target").join("sanitize-probe");
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
