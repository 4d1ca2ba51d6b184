//! No text names a folder of somebody's machine.

use super::Finding;
use super::tree::Tree;

/// How such paths begin; put together here so that this file passes its own rule.
const STARTS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("C:\\Us", "ers"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        for (line, number) in file.text.lines().zip(1..) {
            if let Some(start) = STARTS.into_iter().find(|start| names_folder(line, start)) {
                let advice = format!(
                    "`{start}` is a path of one machine: name it relative to the repository"
                );
                findings.push(Finding::new(&file.path, number, "machine-path", advice));
            }
        }
    }
    findings
}

/// True when `start` stands in `line` as the beginning of a path, not inside a longer one such as `a/home/b`.
fn names_folder(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ')' | '}' | '/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_found_and_relative_ones_are_not() {
        let absolute = concat!("see /ho", "me/a/b");
        let relative = concat!("see net/ho", "me/b");
        let tree = Tree::of(&[("a.md", absolute), ("b.md", relative)]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(found, ["a.md"]);
    }
}
