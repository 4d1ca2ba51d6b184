//! Errors carry the values that failed, not prose: no `String` inside a type whose name says it is an error. Outside this rule are
//! lodestride-serde, which passes on text that it read from a file, and programs, which pass on words of their command line.

use super::Finding;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust() {
        let is_library = file.path.starts_with("crates/") && file.path.contains("/src/");
        if !is_library || file.path.starts_with("crates/lodestride-serde/") {
            continue;
        }
        for keyword in ["enum", "struct"] {
            for at in rust.words(keyword) {
                let Some(name) = rust.name_after(at, keyword) else {
                    continue;
                };
                if rust.is_test(at) || !name.contains("Error") {
                    continue;
                }
                let body = rust
                    .braces_after(at)
                    .unwrap_or(at..rust.end_of_statement(at));
                if let Some(word) = rust.words("String").find(|word| body.contains(word)) {
                    let advice = format!(
                        "`{name}` holds a `String`: hold the values and write the text in `Display`"
                    );
                    findings.push(Finding::new(
                        &file.path,
                        rust.line_of(word),
                        "error-payload",
                        advice,
                    ));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_in_an_error_is_found() {
        let bad = "pub enum OpError {\n    Bad(String),\n}\nstruct Other(String);\nstruct NameError(\n    String);\n";
        let tree = Tree::of(&[
            ("crates/a/src/e.rs", bad),
            ("crates/lodestride-serde/src/e.rs", bad),
            ("benches/src/e.rs", bad),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        assert_eq!(
            found,
            [
                ("crates/a/src/e.rs".to_owned(), 2),
                ("crates/a/src/e.rs".to_owned(), 6)
            ]
        );
    }
}
