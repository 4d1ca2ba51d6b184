//! `cargo xtask tidy`: the project's rules that no compiler checks. Each rule is one file below and returns [`Finding`]s; the same
//! rules run as a test, so `cargo test` is enough to meet them.

mod arrows;
mod cookbook;
mod errors;
mod heads;
mod names;
mod parity;
mod paths;
mod rust_source;
mod sizes;
mod tree;
mod unfinished;
mod unsafe_code;

use std::fmt;

use crate::command::{Outcome, root};
use tree::Tree;

/// One broken rule: where, which, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    rule: &'static str,
    advice: String,
}

impl Finding {
    fn new(path: &str, line: usize, rule: &'static str, advice: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: [{}] {}",
            self.path, self.line, self.rule, self.advice
        )
    }
}

#[derive(Debug)]
struct RulesBroken {
    findings: usize,
}

impl fmt::Display for RulesBroken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tidy: {} findings; docs/style.md has the reason for each rule",
            self.findings
        )
    }
}

impl std::error::Error for RulesBroken {}

/// Checks the whole tree and prints what it found.
pub(crate) fn run() -> Outcome {
    let tree = Tree::read(&root())?;
    let findings = findings(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: {} files follow the rules", tree.files().len());
        return Ok(());
    }
    Err(Box::new(RulesBroken {
        findings: findings.len(),
    }))
}

fn findings(tree: &Tree) -> Vec<Finding> {
    let rules: [fn(&Tree) -> Vec<Finding>; 10] = [
        arrows::check,
        heads::check,
        sizes::check,
        unsafe_code::check,
        names::check,
        errors::check,
        unfinished::check,
        parity::check,
        paths::check,
        cookbook::check,
    ];
    let mut findings: Vec<_> = rules.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort_by(|a, b| (&a.path, a.line, a.rule).cmp(&(&b.path, b.line, b.rule)));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_follows_every_rule() {
        let tree = Tree::read(&root()).expect("the repository is readable");
        let findings = findings(&tree);
        let shown: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "tidy findings:\n{}", shown.join("\n"));
    }
}
