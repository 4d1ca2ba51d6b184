//! Nothing unfinished and no hidden panics: `todo!`, `unimplemented!` and `dbg!` nowhere, `.unwrap()` only in tests.

use super::Finding;
use super::tree::Tree;

const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust() {
        for name in MACROS {
            let calls = rust
                .words(name)
                .filter(|at| rust.code()[at + name.len()..].starts_with('!'));
            findings.extend(calls.map(|at| {
                Finding::new(
                    &file.path,
                    rust.line_of(at),
                    "unfinished",
                    format!("`{name}!` has no place on main"),
                )
            }));
        }
        let unwraps = rust.words("unwrap").filter(|&at| {
            rust.code()[..at].ends_with('.')
                && rust.code()[at..].starts_with("unwrap()")
                && !rust.is_test(at)
        });
        findings.extend(unwraps.map(|at| {
            let advice = "return an error, or `expect(..)` with the reason why it cannot fail";
            Finding::new(&file.path, rust.line_of(at), "unwrap", advice)
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_tests_and_look_alikes_pass() {
        let text = "//! todo!()\nfn f() {\n    x.unwrap_or(1);\n    x.unwrap();\n    dbg!(x);\n}\n#[cfg(test)]\nmod tests { fn t() { x.unwrap(); } }\n";
        let found: Vec<_> = check(&Tree::of(&[("a.rs", text)]))
            .into_iter()
            .map(|f| (f.line, f.rule))
            .collect();
        assert_eq!(found, [(5, "unfinished"), (4, "unwrap")]);
    }
}
