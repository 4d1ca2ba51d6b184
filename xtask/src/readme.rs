//! The programs of README.md and what they print. Each ```` ```rust ```` block there is the text of an example, and the
//! ```` ```text ```` block after it is that example's exact output, so the page cannot drift from the code.

use std::fmt;

use crate::command::{self, Outcome, root};

/// Package and example of each Rust block of the README, in the README's order.
const PROGRAMS: [(&str, &str); 3] = [
    ("lodestride", "first_steps"),
    ("lodestride-lod", "first_steps_lod"),
    ("lodestride", "messages"),
];

#[derive(Debug)]
enum ReadmeError {
    Blocks {
        found: usize,
    },
    Program {
        example: &'static str,
    },
    Output {
        example: &'static str,
        printed: Printed,
    },
}

/// What a program wrote to stdout.
#[derive(Debug)]
struct Printed(String);

impl fmt::Display for ReadmeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks { found } => write!(
                f,
                "README.md has {found} Rust blocks followed by their output, there should be {}",
                PROGRAMS.len()
            ),
            Self::Program { example } => {
                write!(
                    f,
                    "the Rust block in README.md is not the text of the example `{example}` below its `//!` lines"
                )
            }
            Self::Output { example, printed } => {
                write!(
                    f,
                    "README.md shows another output than the example `{example}` printed:\n{}",
                    printed.0
                )
            }
        }
    }
}

impl std::error::Error for ReadmeError {}

/// Runs every program of the README and compares its output with the page.
pub(crate) fn run() -> Outcome {
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    let programs = programs(&readme);
    if programs.len() != PROGRAMS.len() {
        return Err(Box::new(ReadmeError::Blocks {
            found: programs.len(),
        }));
    }
    for ((package, example), (source, output)) in PROGRAMS.into_iter().zip(programs) {
        let file = root().join(format!("crates/{package}/examples/{example}.rs"));
        if program_text(&std::fs::read_to_string(file)?) != source.trim_end() {
            return Err(Box::new(ReadmeError::Program { example }));
        }
        let printed = command::example(example)?.read()?;
        if printed.trim_end() != output.trim_end() {
            return Err(Box::new(ReadmeError::Output {
                example,
                printed: Printed(printed),
            }));
        }
        println!("readme: `{example}` prints what the page shows");
    }
    Ok(())
}

/// Every Rust block of `readme` with the text block that follows it.
fn programs(readme: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut open = false;
    for line in readme.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                blocks.push((language, String::new()));
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                if let Some((_, text)) = blocks.last_mut() {
                    *text += line;
                    *text += "\n";
                }
            }
            (None, false) => {}
        }
    }
    let pairs = blocks
        .windows(2)
        .filter(|pair| pair[0].0 == "rust" && pair[1].0 == "text");
    pairs
        .map(|pair| (pair[0].1.clone(), pair[1].1.clone()))
        .collect()
}

/// An example's text below the lines that say what it is.
fn program_text(example: &str) -> &str {
    let mut rest = example;
    while rest.starts_with("//!") || rest.starts_with("#![") || rest.starts_with('\n') {
        rest = rest.split_once('\n').map_or("", |(_, after)| after);
    }
    rest.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_paired_with_their_output() {
        let readme = "```sh\na\n```\n```rust\nfn main() {}\n```\nIt prints\n```text\n1\n2\n```\n```rust\nalone\n```\n";
        assert_eq!(
            programs(readme),
            [("fn main() {}\n".to_owned(), "1\n2\n".to_owned())]
        );
    }

    #[test]
    fn the_head_of_an_example_is_left_out() {
        assert_eq!(
            program_text("//! Head.\n//! More.\n#![expect(x)]\n\nfn main() {}\n"),
            "fn main() {}"
        );
    }
}
