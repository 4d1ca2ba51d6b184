//! Size caps: 500 lines of a file outside its tests, 60 lines of code in a function outside tests.

use super::Finding;
use super::tree::Tree;

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 60;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust() {
        let lines = rust.lines_outside_tests();
        if lines > FILE_LINES {
            let advice = format!(
                "{lines} lines outside tests, the cap is {FILE_LINES}: split it by subject"
            );
            findings.push(Finding::new(&file.path, 1, "file-size", advice));
        }
        for function in rust.functions() {
            if function.body_lines > FUNCTION_LINES && !rust.is_test_line(function.line) {
                let advice = format!(
                    "`{}` has {} lines of code, the cap is {FUNCTION_LINES}: give its parts names",
                    function.name, function.body_lines
                );
                findings.push(Finding::new(
                    &file.path,
                    function.line,
                    "function-size",
                    advice,
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_outside_tests_counts() {
        let body = "    step();\n".repeat(61);
        let long = format!(
            "fn long() {{\n{body}}}\n#[cfg(test)]\nmod tests {{\n    fn t() {{\n{body}}}\n}}\n"
        );
        let many = "// a line\n".repeat(501);
        let tree = Tree::of(&[("a.rs", &long), ("b.rs", &many), ("c/tests/t.rs", &many)]);
        let found: Vec<_> = check(&tree)
            .into_iter()
            .map(|f| (f.path, f.line, f.rule))
            .collect();
        assert_eq!(
            found,
            [
                ("a.rs".to_owned(), 1, "function-size"),
                ("b.rs".to_owned(), 1, "file-size")
            ]
        );
    }
}
