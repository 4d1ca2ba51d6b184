//! `cargo xtask size`: what the kernels crate costs to compile and how much code comes out, against a budget and against the
//! last recorded figures, so that growth is seen when it happens.

use std::fmt;
use std::fs;

use crate::command::{Call, Outcome, root};
use crate::measure;

/// One line of figures under a heading.
const RECORD: &str = "xtask/size.csv";
const HEAD: &str = "cpu_seconds,code_bytes";

/// The most that is allowed; docs/performance.md tells what it is spent on. Seconds are those of a core of 2 GHz.
const BUDGET: Figures = Figures {
    seconds: 140.0,
    bytes: 7_490_000,
};

/// By how much code may grow beyond what is recorded.
const GROWTH: f64 = 1.05;

/// CPU seconds differ more than that between two builds of the same source.
const NOISE: f64 = 1.3;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    seconds: f64,
    bytes: u64,
}

#[derive(Debug)]
enum SizeError {
    /// More than the budget or than growth allows.
    TooMuch { complaints: usize },
    /// The record or the listing is not in its form.
    Unreadable { what: &'static str },
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMuch { complaints } => write!(f, "{complaints} figure(s) are too high"),
            Self::Unreadable { what } => write!(f, "{what} is not in its form"),
        }
    }
}

impl std::error::Error for SizeError {}

pub(crate) fn run(record: bool) -> Outcome {
    let build = measure::build()?;
    let library = build.library.to_string_lossy().into_owned();
    let listing = Call::new("size", &["-A", &library]).read()?;
    let now = Figures {
        seconds: build.seconds,
        bytes: code_bytes(&listing),
    };
    println!(
        "compiling: {:.1} CPU s (budget {:.0}); code: {:.2} MB (budget {:.1})",
        now.seconds,
        BUDGET.seconds,
        now.bytes as f64 / 1e6,
        BUDGET.bytes as f64 / 1e6
    );
    let path = root().join(RECORD);
    if record {
        let text = format!("{HEAD}\n{:.1},{}\n", now.seconds, now.bytes);
        fs::write(&path, text)?;
        println!("recorded in {RECORD}");
        return Ok(());
    }
    let before = read(&fs::read_to_string(&path)?)?;
    let complaints = complaints(now, before);
    for complaint in &complaints {
        println!("{complaint}");
    }
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(Box::new(SizeError::TooMuch {
            complaints: complaints.len(),
        }))
    }
}

fn complaints(now: Figures, before: Figures) -> Vec<String> {
    let (bytes, recorded) = (now.bytes as f64, before.bytes as f64);
    let mut complaints = Vec::new();
    if now.seconds > BUDGET.seconds.max(before.seconds * NOISE) {
        complaints.push(format!(
            "compiling takes {:.1} CPU s, recorded were {:.1}, the budget is {:.0}",
            now.seconds, before.seconds, BUDGET.seconds
        ));
    }
    if now.bytes > BUDGET.bytes {
        complaints.push(format!("{} bytes of code are beyond the budget", now.bytes));
    }
    if bytes > recorded * GROWTH {
        let growth = (bytes / recorded - 1.0) * 100.0;
        complaints.push(format!(
            "code grew by {growth:.1} % since it was recorded in {RECORD}; if it is worth that, run with --record"
        ));
    }
    complaints
}

/// Sum of the sections that hold machine code, from the listing of `size -A`: a line for each section of each object.
fn code_bytes(listing: &str) -> u64 {
    let sections = listing.lines().filter(|line| line.starts_with(".text"));
    sections
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum()
}

fn read(text: &str) -> Result<Figures, SizeError> {
    let line = text.lines().nth(1).and_then(|line| line.split_once(','));
    let figures = line.and_then(|(seconds, bytes)| {
        Some(Figures {
            seconds: seconds.parse().ok()?,
            bytes: bytes.trim().parse().ok()?,
        })
    });
    figures.ok_or(SizeError::Unreadable { what: RECORD })
}

#[cfg(test)]
mod tests {
    use super::{BUDGET, Figures, code_bytes, complaints, read};

    #[test]
    fn code_is_the_sum_of_its_sections() {
        let listing = "a.o  (ex lib.rlib):\nsection size addr\n.text.one 100 0\n.rodata 50 0\n.text.two 23 0\nTotal 173\n";
        assert_eq!(code_bytes(listing), 123);
    }

    #[test]
    fn growth_and_budget_are_told_apart() {
        let figures = |seconds, bytes| Figures { seconds, bytes };
        let before = figures(50.0, 2_000_000);
        assert!(complaints(figures(58.0, 2_050_000), before).is_empty());
        assert_eq!(complaints(figures(50.0, 2_200_000), before).len(), 1);
        let beyond = figures(BUDGET.seconds + 1.0, BUDGET.bytes + 1);
        assert_eq!(complaints(beyond, before).len(), 3);
    }

    #[test]
    fn the_record_is_read() {
        let figures = read("cpu_seconds,code_bytes\n61.5,2345678\n").expect("it is in its form");
        assert_eq!(figures.bytes, 2_345_678);
        assert!(read("cpu_seconds,code_bytes\n").is_err());
    }
}
