//! Names that say nothing: no file, module or public type is called after the bag it is (`utils`, `common`) or after its place in
//! someone's head (`Base`, `Inner`, `Impl`).

use super::Finding;
use super::tree::Tree;

const MODULES: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];
const TYPE_WORDS: [&str; 7] = [
    "Base", "Inner", "Impl", "Utils", "Common", "Helpers", "Misc",
];
const ITEMS: [&str; 6] = ["mod", "struct", "enum", "trait", "type", "union"];
const RULE: &str = "names";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust() {
        let parts = file.path.trim_end_matches(".rs").split('/');
        if let Some(part) = parts.into_iter().find(|part| MODULES.contains(part)) {
            findings.push(Finding::new(
                &file.path,
                1,
                RULE,
                format!("`{part}` says nothing: name it after its subject"),
            ));
        }
        for at in rust.words("pub") {
            let Some((keyword, name)) = declared(rust.code(), at) else {
                continue;
            };
            let bad_module = keyword == "mod" && MODULES.contains(&name);
            let bad_type = keyword != "mod"
                && camel_words(name)
                    .iter()
                    .any(|word| TYPE_WORDS.contains(word));
            if bad_module || bad_type {
                let advice = format!("`{name}` says nothing: name it after what it is or does");
                findings.push(Finding::new(&file.path, rust.line_of(at), RULE, advice));
            }
        }
    }
    findings
}

/// Keyword and name of the item that the `pub` at `at` publishes.
fn declared(code: &str, at: usize) -> Option<(&'static str, &str)> {
    let rest = code[at + 3..].trim_start();
    let rest = if rest.starts_with('(') {
        rest.split_once(')')?.1
    } else {
        rest
    };
    let mut words = rest
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty());
    let first = words.next()?;
    let first = if first == "unsafe" {
        words.next()?
    } else {
        first
    };
    let keyword = ITEMS.into_iter().find(|item| *item == first)?;
    Some((keyword, words.next()?))
}

/// `LoopNest` as `["Loop", "Nest"]`.
fn camel_words(name: &str) -> Vec<&str> {
    let mut starts: Vec<_> = name
        .char_indices()
        .filter(|(_, c)| c.is_uppercase())
        .map(|(at, _)| at)
        .collect();
    starts.push(name.len());
    starts
        .windows(2)
        .map(|pair| &name[pair[0]..pair[1]])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_are_found_and_plain_ones_are_not() {
        let tree = Tree::of(&[
            ("a/src/helpers.rs", "//! H\n"),
            (
                "a/src/lib.rs",
                "pub mod utils;\npub(crate) struct ArrayInner;\npub enum Based {}\nmod common;\npub use x::Impl;\n",
            ),
            (
                "a/src/inner.rs",
                "pub unsafe trait BaseOp {}\npub fn inner() {}\n",
            ),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        let expected = [
            ("a/src/helpers.rs", 1),
            ("a/src/lib.rs", 1),
            ("a/src/lib.rs", 2),
            ("a/src/inner.rs", 1),
        ];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }
}
