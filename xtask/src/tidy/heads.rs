//! Every Rust file opens with `//!`: what lives here and what does not.

use super::Finding;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let headless = tree
        .rust()
        .filter(|(file, _)| !file.text.starts_with("//!"));
    headless
        .map(|(file, _)| {
            Finding::new(
                &file.path,
                1,
                "file-head",
                "open the file with `//!`: what lives here, and what does not",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_head_is_found() {
        let tree = Tree::of(&[("a.rs", "//! A.\n"), ("b.rs", "// B\n"), ("c.md", "C")]);
        let found: Vec<_> = check(&tree)
            .into_iter()
            .map(|finding| finding.path)
            .collect();
        assert_eq!(found, ["b.rs"]);
    }
}
