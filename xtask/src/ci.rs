//! `cargo xtask ci`: everything CI checks, step after step, with one table at the end. A failed step does not hide the later ones.

use std::fmt;
use std::time::{Duration, Instant};

use crate::command::{Call, Outcome, TestCounts, cargo, root};
use crate::{demo, dependencies, loom, readme, tidy};

type Run = fn(&mut TestCounts) -> Outcome;

/// Name and body of each step, in order; what later steps can reuse is built first.
const STEPS: [(&str, Run); 13] = [
    ("format", |_| cargo(&["fmt", "--all", "--check"]).run()),
    ("tidy", |_| tidy::run()),
    ("dependencies", |_| dependencies::run()),
    ("clippy", clippy),
    ("tests as in the README", readme_tests),
    ("programs of the README", |_| readme::run()),
    ("documentation", documentation),
    ("every crate alone", crates_alone),
    ("another processor", another_processor),
    ("no default features", no_default_features),
    ("optional libraries", optional_libraries),
    ("loom", loom::counted),
    ("demo", |_| demo::quick()),
];

struct Row {
    name: &'static str,
    took: Duration,
    error: Option<Box<dyn std::error::Error>>,
}

#[derive(Debug)]
enum CiError {
    StepsFailed { failed: usize, of: usize },
    NoSuchStep,
    NoTestCommandInReadme,
}

impl fmt::Display for CiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepsFailed { failed, of } => write!(f, "{failed} of {of} steps failed"),
            Self::NoSuchStep => {
                let names: Vec<_> = STEPS.iter().map(|(name, _)| *name).collect();
                write!(f, "no step of that name; there are: {}", names.join(", "))
            }
            Self::NoTestCommandInReadme => {
                write!(
                    f,
                    "README.md names no test command: a line of a code block that starts with `cargo xtask test`"
                )
            }
        }
    }
}

impl std::error::Error for CiError {}

pub(crate) fn run(only: Option<&str>) -> Outcome {
    let mut counts = TestCounts::default();
    let mut rows = Vec::new();
    for (name, step) in STEPS {
        if only.is_some_and(|text| !name.contains(text)) {
            continue;
        }
        println!("\n==== {name}");
        let start = Instant::now();
        let error = step(&mut counts).err();
        if let Some(error) = &error {
            println!("{name}: {error}");
        }
        rows.push(Row {
            name,
            took: start.elapsed(),
            error,
        });
    }
    report(&rows, counts)
}

fn report(rows: &[Row], counts: TestCounts) -> Outcome {
    if rows.is_empty() {
        return Err(Box::new(CiError::NoSuchStep));
    }
    println!("\n{:<26} {:>8}  result", "step", "seconds");
    for row in rows {
        let result = row
            .error
            .as_ref()
            .map_or_else(|| "ok".to_owned(), |error| format!("FAILED: {error}"));
        println!("{:<26} {:>8.1}  {result}", row.name, row.took.as_secs_f64());
    }
    let total: Duration = rows.iter().map(|row| row.took).sum();
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    println!(
        "{:<26} {:>8.1}  {}",
        "together",
        total.as_secs_f64(),
        if failed == 0 { "ok" } else { "FAILED" }
    );
    // The sum over every test binary above, in the words cargo test uses, so that whoever reads logs finds one last line.
    let TestCounts {
        passed,
        failed: failures,
        ignored,
    } = counts;
    println!(
        "\ntest result: {}. {passed} passed; {failures} failed; {ignored} ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        if failed == 0 && failures == 0 {
            "ok"
        } else {
            "FAILED"
        },
        total.as_secs_f64()
    );
    if failed > 0 {
        return Err(Box::new(CiError::StepsFailed {
            failed,
            of: rows.len(),
        }));
    }
    Ok(())
}

fn clippy(_: &mut TestCounts) -> Outcome {
    cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])
    .run()
}

/// Runs the very command that the README tells a newcomer to type, read from the README.
fn readme_tests(counts: &mut TestCounts) -> Outcome {
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    let Some(line) = test_command(&readme) else {
        return Err(Box::new(CiError::NoTestCommandInReadme));
    };
    let words: Vec<_> = line.split_whitespace().collect();
    Call::new("cargo", &words[1..]).run_counting(counts)
}

/// The first line inside a code block of `readme` that starts with `cargo xtask test`, without its comment.
fn test_command(readme: &str) -> Option<&str> {
    let mut in_block = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block && line.starts_with("cargo xtask test") {
            return Some(line.split('#').next().unwrap_or(line).trim());
        }
    }
    None
}

fn documentation(_: &mut TestCounts) -> Outcome {
    cargo(&["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
}

/// Each library crate with its own features only, as someone who depends on that crate alone builds it. Its tests ran with those of
/// all; here they have to compile.
fn crates_alone(_: &mut TestCounts) -> Outcome {
    for package in library_crates()? {
        cargo(&["check", "--quiet", "--package", &package, "--all-targets"]).run()?;
    }
    Ok(())
}

/// A processor without the instruction sets that kernels are written for by hand.
const OTHER_TARGET: &str = "aarch64-unknown-linux-gnu";

/// The library crates have to compile for another processor than this one. Its standard library is fetched by
/// rustup where it is missing; without rustup or a network the step says that nothing was checked.
fn another_processor(_: &mut TestCounts) -> Outcome {
    if !Call::new("rustup", &["target", "add", OTHER_TARGET]).succeeds() {
        println!("not checked: there is no standard library for {OTHER_TARGET} here");
        return Ok(());
    }
    let packages = library_crates()?
        .into_iter()
        .map(|package| format!("--package={package}"));
    cargo(&["check", "--target", OTHER_TARGET])
        .args(packages)
        .run()
}

/// Names of the packages in crates/, which are the names of their folders.
fn library_crates() -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("crates"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn no_default_features(counts: &mut TestCounts) -> Outcome {
    let ours = [
        "--workspace",
        "--exclude",
        "xtask",
        "--exclude",
        "lodestride-benches",
        "--no-default-features",
    ];
    cargo(&["check", "--all-targets"]).args(ours).run()?;
    cargo(&["test", "--quiet", "--package=lodestride-kernels"])
        .args(["--no-default-features"])
        .args(kernel_tests()?)
        .run_counting(counts)
}

/// The test programs of the kernels. Unit tests would have the kernels compiled once more for each choice of features.
fn kernel_tests() -> Outcome<Vec<String>> {
    let mut tests = Vec::new();
    for file in std::fs::read_dir(root().join("crates/lodestride-kernels/tests"))? {
        let path = file?.path();
        if path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").is_file() {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            tests.push(format!("--test={name}"));
        }
    }
    Ok(tests)
}

/// What optional libraries bring in: OpenBLAS under the kernels and BLAS by name, faer under the linear algebra, ndarray, safetensors;
/// in one choice of features, so that the kernels are built once.
fn optional_libraries(counts: &mut TestCounts) -> Outcome {
    let call = |kind: &[&str]| {
        cargo(&["test", "--quiet"]).args(kind).args([
            "--package=lodestride",
            "--features=lodestride/linalg",
            "--package=lodestride-kernels",
            "--package=lodestride-array",
            "--features=lodestride-kernels/openblas,lodestride-array/openblas",
            "--features=lodestride-array/linalg,lodestride-array/ndarray",
            "--package=lodestride-serde",
            "--features=lodestride-serde/safetensors",
        ])
    };
    let mut tests = kernel_tests()?;
    tests.extend(
        ["blas", "interchange", "linalg", "safetensors"].map(|name| format!("--test={name}")),
    );
    call(&[]).args(tests).run_counting(counts)?;
    call(&["--doc"])
        .args(["--", "linalg", "interchange", "cookbook"])
        .run_counting(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_command_is_read_from_a_code_block() {
        let readme =
            "Run cargo xtask test.\n```sh\ncargo xtask demo\ncargo xtask test   # all tests\n```\n";
        assert_eq!(test_command(readme), Some("cargo xtask test"));
        assert_eq!(test_command("cargo xtask test\n"), None);
    }

    #[test]
    fn the_readme_has_a_test_command() {
        let readme =
            std::fs::read_to_string(root().join("README.md")).expect("README.md is readable");
        assert_eq!(test_command(&readme), Some("cargo xtask test"));
    }
}
