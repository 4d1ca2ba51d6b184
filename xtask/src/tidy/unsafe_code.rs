//! Where `unsafe` may stand: only in the files that docs/unsafe.md lists, and the list holds no file without it. Crates that need
//! none forbid it.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const INVENTORY: &str = "docs/unsafe.md";
/// The only crates whose library code may hold unsafe blocks.
const ALLOWED: [&str; 2] = ["crates/lodestride-buffer/", "crates/lodestride-kernels/"];
const RULE: &str = "unsafe";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let inventory = inventory(tree.text(INVENTORY).unwrap_or_default());
    let listed: BTreeSet<_> = inventory.iter().map(|(path, _)| path.as_str()).collect();
    let mut holders = BTreeSet::new();
    let mut findings = Vec::new();
    for (file, rust) in tree.rust() {
        if let Some(at) = rust.words("unsafe").next() {
            holders.insert(file.path.as_str());
            if !listed.contains(file.path.as_str()) {
                let advice = format!(
                    "move it to a file that {INVENTORY} lists, or add this one there with its invariant"
                );
                findings.push(Finding::new(&file.path, rust.line_of(at), RULE, advice));
            }
        }
        if is_crate_root(&file.path) && !rust.code().contains("#![forbid(unsafe_code)]") {
            findings.push(Finding::new(
                &file.path,
                1,
                RULE,
                "this crate needs none: add `#![forbid(unsafe_code)]`",
            ));
        }
    }
    for (path, line) in &inventory {
        if !holders.contains(path.as_str()) {
            findings.push(Finding::new(
                INVENTORY,
                *line,
                RULE,
                format!("{path} holds no `unsafe` (any more): drop the row"),
            ));
        }
    }
    findings
}

/// Paths in the first column of the inventory's tables, with their line.
fn inventory(text: &str) -> Vec<(String, usize)> {
    let rows = text.lines().zip(1..).filter_map(|(line, number)| {
        let cell = line.strip_prefix("| `")?.split('`').next()?;
        cell.ends_with(".rs").then(|| (cell.to_owned(), number))
    });
    rows.collect()
}

fn is_crate_root(path: &str) -> bool {
    let root = path.ends_with("/src/lib.rs") || path == "xtask/src/main.rs";
    root && !ALLOWED.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inventory_and_the_tree_must_agree() {
        let tree = Tree::of(&[
            (
                "crates/lodestride-buffer/src/block.rs",
                "//! B\nunsafe fn f() {}\n",
            ),
            (
                "crates/lodestride-buffer/src/lib.rs",
                "//! L\n#![deny(unsafe_code)]\n",
            ),
            (
                "crates/lodestride-lod/src/lib.rs",
                "//! L\nfn f() { unsafe { g() } }\n",
            ),
            (
                "docs/unsafe.md",
                "| file | what |\n|---|---|\n| `crates/lodestride-buffer/src/block.rs` | x |\n| `gone.rs` | x |\n",
            ),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        let lod = "crates/lodestride-lod/src/lib.rs".to_owned();
        assert_eq!(
            found,
            [(lod.clone(), 2), (lod, 1), (INVENTORY.to_owned(), 4)]
        );
    }
}
