//! `cargo xtask instructions`: how many machine instructions the named paths of small arrays take, counted by valgrind's
//! callgrind, against the ceilings in xtask/instructions.csv. Counts do not depend on load or clock, so a growth of
//! 3 % is a finding. The paths are those of the example `small_calls` of lodestride-array.
//!
//! Valgrind knows no AVX-512: what is counted is the AVX2 build of the kernels, the same on every x86-64 machine.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Call, Outcome, cargo, root};

/// How often each path is run; a count is divided by it.
const TURNS: u64 = 500;
/// The part by which a count may exceed its ceiling.
const GROWTH: f64 = 0.03;
const CEILINGS: &str = "xtask/instructions.csv";
const HEAD: &str = "path,instructions\n";

/// Counts, prints a table, and compares with the ceilings, or with `record` stores the counts as new ones.
pub(crate) fn run(record: bool) -> Outcome {
    if !Call::new("valgrind", &["--version"]).succeeds() {
        return Err(Box::new(CountError::NoValgrind));
    }
    let example = ["--package", "lodestride-array", "--example", "small_calls"];
    cargo(&["build", "--release"]).args(example).run()?;
    let program = root().join("target/release/examples/small_calls");
    let names = Call::new(&program, &["names"]).read()?;
    let names: Vec<&str> = names.lines().collect();
    let counts = count(&program, names.len())?;
    let ceilings = ceilings()?;
    let mut grown = Vec::new();
    println!("{:<34} {:>12} {:>9}", "path", "instructions", "ceiling");
    for (name, &count) in names.iter().zip(&counts) {
        let ceiling = ceilings.iter().find(|(path, _)| path == name);
        let (shown, allowed) = ceiling.map_or((String::from("none"), 0.0), |&(_, ceiling)| {
            (ceiling.to_string(), ceiling as f64 * (1.0 + GROWTH))
        });
        let over = count as f64 > allowed;
        println!(
            "{name:<34} {count:>12} {shown:>9}{}",
            if over { "  above" } else { "" }
        );
        if over {
            grown.push(*name);
        }
    }
    if record {
        let rows: String = (names.iter().zip(&counts))
            .map(|(name, count)| format!("\"{name}\",{count}\n"))
            .collect();
        fs::write(root().join(CEILINGS), format!("{HEAD}{rows}"))?;
        println!("stored in {CEILINGS}");
        return Ok(());
    }
    if grown.is_empty() {
        return Ok(());
    }
    Err(Box::new(CountError::Grown {
        paths: grown.into_iter().map(str::to_owned).collect(),
    }))
}

/// Why the counts are no good.
#[derive(Debug)]
enum CountError {
    NoValgrind,
    Grown { paths: Vec<String> },
    NoTotal { file: PathBuf },
}

impl fmt::Display for CountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValgrind => f.write_str(
                "valgrind is missing: install it with `apt-get install valgrind`, `dnf install valgrind` or \
                 `pacman -S valgrind`",
            ),
            Self::Grown { paths } => write!(
                f,
                "more than {:.0} % above the ceiling of {CEILINGS}: {}",
                GROWTH * 100.0,
                paths.join("; ")
            ),
            Self::NoTotal { file } => write!(f, "{} has no total", file.display()),
        }
    }
}

impl Error for CountError {}

/// Instructions of one turn of every path: the program calls `measure_point` before and behind each, and callgrind writes
/// what it counted since the last time at each of those calls.
fn count(program: &Path, paths: usize) -> Outcome<Vec<u64>> {
    let folder = root().join("target/instructions");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(folder.join("counts"));
    Call::new("valgrind", &["--quiet", "--tool=callgrind"])
        .args([out])
        .args(["--dump-before=*measure_point*"])
        .args([program])
        .args(["count", &TURNS.to_string()])
        .env("LODESTRIDE_ISA", "avx2")
        .run()?;
    (0..paths)
        .map(|path| summary(&folder.join(format!("counts.{}", 2 * path + 2))))
        .collect()
}

/// The sum at the end of a callgrind file, per turn.
fn summary(file: &Path) -> Outcome<u64> {
    let text = fs::read_to_string(file)?;
    let total = text.lines().find_map(|line| {
        line.strip_prefix("totals: ")
            .or(line.strip_prefix("summary: "))
    });
    match total {
        Some(total) => Ok(total.trim().parse::<u64>()?.div_ceil(TURNS)),
        None => Err(Box::new(CountError::NoTotal {
            file: file.to_owned(),
        })),
    }
}

fn ceilings() -> Outcome<Vec<(String, u64)>> {
    let text = fs::read_to_string(root().join(CEILINGS)).unwrap_or_default();
    (text.lines().skip(1))
        .map(|line| {
            let (name, count) = line.rsplit_once(',').unwrap_or((line, ""));
            Ok((name.trim_matches('"').to_owned(), count.parse()?))
        })
        .collect()
}
