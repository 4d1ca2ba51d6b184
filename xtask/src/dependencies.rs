//! What a user of the facade pulls in by default: at most [`LIMIT`] foreign crates, none of which needs a C compiler or a system
//! library.

use std::collections::BTreeSet;
use std::fmt;

use crate::command::{Outcome, cargo};

/// Foreign crates in the facade's default build, build scripts and macros included.
const LIMIT: usize = 50;

/// Crates that would call a C tool chain or probe for system libraries.
const FORBIDDEN: [&str; 5] = ["cc", "cmake", "pkg-config", "bindgen", "vcpkg"];

#[derive(Debug)]
enum DependencyError {
    TooMany { found: usize },
    NeedsC { krate: &'static str },
}

impl fmt::Display for DependencyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { found } => {
                write!(
                    f,
                    "the facade's default build has {found} foreign crates; the limit is {LIMIT}"
                )
            }
            Self::NeedsC { krate } => {
                write!(
                    f,
                    "the facade's default build holds `{krate}`, so it would need a C tool chain or a system library"
                )
            }
        }
    }
}

impl std::error::Error for DependencyError {}

pub(crate) fn run() -> Outcome {
    let tree = cargo(&[
        "tree",
        "--package",
        "lodestride",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--locked",
    ])
    .read()?;
    let foreign = foreign_crates(&tree);
    if let Some(krate) = FORBIDDEN.into_iter().find(|name| {
        foreign
            .iter()
            .any(|krate| krate.starts_with(&format!("{name} ")))
    }) {
        return Err(Box::new(DependencyError::NeedsC { krate }));
    }
    if foreign.len() > LIMIT {
        for krate in &foreign {
            println!("  {krate}");
        }
        return Err(Box::new(DependencyError::TooMany {
            found: foreign.len(),
        }));
    }
    println!(
        "facade: {} foreign crates by default (limit {LIMIT}), no C tool chain",
        foreign.len()
    );
    Ok(())
}

/// Name and version of every crate in the output of `cargo tree` that is not our own.
fn foreign_crates(tree: &str) -> BTreeSet<String> {
    let named = tree.lines().map(|line| {
        line.split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    });
    named
        .filter(|krate| !krate.is_empty() && !krate.starts_with("lodestride"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_and_own_crates_are_not_counted() {
        let tree = "lodestride v0.1.0 (/x)\nlodestride-shape v0.1.0 (/x)\nsmallvec v1.0.0\nsmallvec v1.0.0 (*)\n\nhalf v2.7.0\n";
        assert_eq!(
            foreign_crates(tree).into_iter().collect::<Vec<_>>(),
            ["half v2.7.0", "smallvec v1.0.0"]
        );
    }
}
