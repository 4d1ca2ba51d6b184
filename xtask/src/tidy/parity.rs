//! docs/parity.csv: five columns, no empty cell, no row twice, and every test that a row names exists in the crate it names.
//! What a guide shows may be `open` only when a later capability is named. What will not be built is `decided`, and `ours` says
//! `not ...: ` and the reason.
//! A test is `crate::function`; the example in a function's documentation, which runs as a doc test, is `doc:crate::function`.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::tree::Tree;

const TABLE: &str = "docs/parity.csv";
const RULE: &str = "parity";
const HEAD: [&str; 5] = ["system", "area", "behaviour", "ours", "test"];
const SYSTEMS: [&str; 3] = ["nd4j", "lod", "theano"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(TABLE) else {
        return vec![Finding::new(
            TABLE,
            1,
            RULE,
            "the table of behaviours is missing",
        )];
    };
    let tests = test_names(tree);
    let mut findings = Vec::new();
    let mut seen = BTreeMap::new();
    for (number, record) in records(text) {
        if number == 1 {
            if record != HEAD {
                findings.push(Finding::new(
                    TABLE,
                    1,
                    RULE,
                    format!("the first line is not `{}`", HEAD.join(",")),
                ));
            }
            continue;
        }
        let mut report = |advice: String| findings.push(Finding::new(TABLE, number, RULE, advice));
        let [system, area, behaviour, ours, test] = record.as_slice() else {
            report(format!(
                "{} columns instead of {}: quote cells that hold a comma",
                record.len(),
                HEAD.len()
            ));
            continue;
        };
        if record.iter().any(|cell| cell.trim().is_empty()) {
            report("a cell is empty".to_owned());
        }
        if !SYSTEMS.contains(&system.as_str()) {
            report(format!("`{system}` is none of: {}", SYSTEMS.join(", ")));
        }
        if let Some(first) = seen.insert((system.clone(), area.clone(), behaviour.clone()), number)
        {
            report(format!("the same behaviour stands in line {first}"));
        }
        for complaint in proof_complaints(area, ours, test, &tests) {
            report(complaint);
        }
    }
    findings
}

/// What is wrong with what a row says about its proof.
fn proof_complaints(area: &str, ours: &str, test: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    let is_explained = ["later", "not "]
        .iter()
        .any(|start| ours.starts_with(start));
    if area.starts_with("guide") && test == "open" && !is_explained {
        complaints.push("what the guides show needs a test, unless `ours` starts with `later: ` or says why not".to_owned());
    }
    if test == "decided" && !(ours.starts_with("not ") && ours.contains(": ")) {
        complaints.push(
            "what is `decided` says in `ours` what is not there, and why: `not ...: reason`"
                .to_owned(),
        );
    }
    let names = test.split(' ').filter(|name| {
        let is_word = *name == "open" || *name == "decided" || name.is_empty();
        !is_word && !tests.contains(*name)
    });
    complaints.extend(names.map(|name| {
        format!(
            "no test `{name}`; write `open`, `crate::test` or `doc:crate::function`, several separated by spaces"
        )
    }));
    complaints
}

/// Every test function as `crate::function`, every documented example as `doc:crate::function`; the crate's name is that of its
/// folder.
fn test_names(tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (file, rust) in tree.rust() {
        let folder = file
            .path
            .strip_prefix("crates/")
            .unwrap_or(&file.path)
            .split('/')
            .next()
            .unwrap_or_default();
        let lines: Vec<_> = file.text.lines().collect();
        for at in rust.words("fn") {
            let Some(name) = rust.name_after(at, "fn") else {
                continue;
            };
            if rust.is_test(at) {
                names.insert(format!("{folder}::{name}"));
            } else if has_example(&lines[..rust.line_of(at) - 1]) {
                names.insert(format!("doc:{folder}::{name}"));
            }
        }
    }
    names
}

/// True when the documentation at the end of `lines` holds a code block.
fn has_example(lines: &[&str]) -> bool {
    let attached = lines.iter().rev().map(|line| line.trim_start());
    attached
        .take_while(|line| line.starts_with("///") || line.starts_with("#["))
        .any(|line| line.starts_with("/// ```"))
}

/// The records of a CSV text with the line each starts on; quotes are doubled inside quoted cells.
fn records(text: &str) -> Vec<(usize, Vec<String>)> {
    let (mut records, mut record, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut start, mut in_quotes) = (1, 1, false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if in_quotes && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => record.push(std::mem::take(&mut cell)),
            '\n' if !in_quotes => {
                record.push(std::mem::take(&mut cell));
                records.push((start, std::mem::take(&mut record)));
                start = line + 1;
            }
            '\r' if !in_quotes => {}
            _ => cell.push(c),
        }
        line += usize::from(c == '\n');
    }
    if !cell.is_empty() || !record.is_empty() {
        record.push(cell);
        records.push((start, record));
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_cells_keep_commas_quotes_and_lines() {
        let found = records("a,\"b,c\",\"d \"\"e\"\"\"\n\"f\ng\",h\ni");
        let expected = [
            (1, vec!["a", "b,c", "d \"e\""]),
            (2, vec!["f\ng", "h"]),
            (4, vec!["i"]),
        ];
        assert_eq!(
            found,
            expected.map(|(line, cells)| (line, cells.into_iter().map(str::to_owned).collect()))
        );
    }

    #[test]
    fn rows_and_tests_are_checked() {
        let table = "system,area,behaviour,ours,test\n\
                     nd4j,a,b,c,open\n\
                     nd4j,a,b2,c,lodestride-array::t lodestride-array::gone\n\
                     other,a,b,c,open\n\
                     nd4j,a,b,c,open\n\
                     nd4j,a,,c,open\n\
                     nd4j,a\n\
                     nd4j,a,b3,c,doc:lodestride-array::add\n\
                     nd4j,a,b4,c,doc:lodestride-array::gone\n\
                     nd4j,guide: a,b,later: c,open\n\
                     nd4j,guide: a,b2,c,open\n\
                     nd4j,a,b5,not here: for this reason,decided\n\
                     nd4j,a,b6,later: c,decided\n";
        let source = "fn gone() {}\n\
                      /// Adds.\n/// ```\n/// ```\n#[inline]\npub fn add() {}\n\
                      #[test]\nfn t() {}\n";
        let tree = Tree::of(&[(TABLE, table), ("crates/lodestride-array/src/a.rs", source)]);
        let lines: Vec<_> = check(&tree).into_iter().map(|f| f.line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 7, 9, 11, 13]);
    }
}
