//! `cargo xtask sanitize`: tests of the crates that hold or move raw memory, under the address and the thread sanitizer, and
//! those of the buffer crate, where nearly all of the unsafe code is, interpreted by Miri.
//! All three belong to nightly toolchains. The standard library is rebuilt for the sanitizers (component `rust-src`): what its locks
//! and channels order is then seen, and no report has to be explained away.

use std::fmt;
use std::path::Path;

use crate::command::{Call, Outcome, cargo, root};

/// What differs between the checkers.
struct Checker {
    name: &'static str,
    /// Crates whose tests run under it.
    packages: &'static [&'static str],
    /// Further arguments of `cargo test`.
    arguments: &'static [&'static str],
}

const CHECKERS: [Checker; 3] = [
    Checker {
        name: "address",
        packages: &[
            "lodestride-buffer",
            "lodestride-kernels",
            "lodestride-array",
        ],
        arguments: &["--lib", "--tests"],
    },
    // Without rayon: its queues order memory by fences, which the thread sanitizer does not model.
    Checker {
        name: "thread",
        packages: &["lodestride-buffer", "lodestride-array"],
        arguments: &["--lib", "--tests", "--no-default-features"],
    },
    Checker {
        name: MIRI,
        packages: &["lodestride-buffer"],
        arguments: &["--lib", "--tests"],
    },
];

const MIRI: &str = "miri";

#[derive(Debug)]
struct UnknownChecker;

impl fmt::Display for UnknownChecker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = CHECKERS.iter().map(|checker| checker.name).collect();
        write!(f, "`--only` takes one of: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownChecker {}

pub(crate) fn run(only: Option<&str>) -> Outcome {
    let wanted = |checker: &&Checker| only.is_none_or(|name| name == checker.name);
    if !CHECKERS.iter().any(|checker| wanted(&checker)) {
        return Err(Box::new(UnknownChecker));
    }
    if !has_sources() {
        println!(
            "sanitize: no nightly toolchain with the sources of the standard library here (`rustup toolchain install nightly --component rust-src,miri`), so nothing was run"
        );
        return Ok(());
    }
    let target = host_target()?;
    let mut ran = Vec::new();
    for checker in CHECKERS.iter().filter(wanted) {
        let name = checker.name;
        if !is_supported(name, &target) {
            println!("sanitize: `{name}` does not link or start on {target}, so it was not run");
            continue;
        }
        run_one(checker, &target)?;
        ran.push(format!(
            "{name}: clean over {}",
            checker.packages.join(", ")
        ));
    }
    println!("{}", ran.join("\n"));
    Ok(())
}

/// A call of the nightly toolchain.
fn nightly(arguments: &[&str]) -> Call {
    Call::new("rustup", &["run", "nightly"]).args(arguments)
}

fn flags(sanitizer: &str) -> String {
    format!("-Zsanitizer={sanitizer}")
}

/// Whether there is a nightly toolchain, and in it what the standard library is built from.
fn has_sources() -> bool {
    let sysroot = nightly(&["rustc", "--print", "sysroot"]).read();
    sysroot.is_ok_and(|folder| {
        Path::new(folder.trim())
            .join("lib/rustlib/src/rust/library/std")
            .is_dir()
    })
}

fn run_one(checker: &Checker, target: &str) -> Outcome {
    let mut call = if checker.name == MIRI {
        nightly(&["cargo", "miri", "test"])
            // The clock and files are the system's; blocks kept for reuse until a thread ends would be listed as leaks.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks")
            .env("PROPTEST_CASES", "4")
    } else {
        // A target must be named: only then do the flags stay away from build scripts and procedural macros.
        nightly(&["cargo", "test", "-Zbuild-std", "--target", target])
            .env("RUSTFLAGS", flags(checker.name))
            .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
            .env("TSAN_OPTIONS", "allocator_may_return_null=1")
            .env("PROPTEST_CASES", "16")
            // Naive models and loops of the tests are instrumented too: unoptimised they take five times as long.
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
    };
    let folder = format!("target/sanitize-{}", checker.name);
    call = call.args(["--quiet", "--target-dir", &folder]);
    for package in checker.packages {
        call = call.args(["--package", package]);
    }
    call.args(checker.arguments).run()
}

/// Miri answers, or an empty program compiles and starts with the flags: some systems lack a sanitizer's run-time library, some
/// forbid its address layout.
fn is_supported(checker: &str, target: &str) -> bool {
    if checker == MIRI {
        return nightly(&["cargo", "miri", "--version"]).succeeds();
    }
    let folder = root().join("target").join("sanitize-probe");
    if std::fs::create_dir_all(&folder).is_err() {
        return false;
    }
    let (source, program) = (folder.join("probe.rs"), folder.join(checker));
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let flags = flags(checker);
    let compiled = nightly(&["rustc", "--edition=2024", "--target", target])
        // The probe links the library as shipped, which the compiler refuses to mix with instrumented code unless told.
        .args([flags.as_str(), "-Cunsafe-allow-abi-mismatch=sanitizer"])
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
