//! Just enough of Rust's grammar for the rules: a copy of a source in which comments and literals are blank, which of its lines
//! belong to tests, and where items and bodies end. No types, no expansion of macros.

use std::ops::Range;

/// One source file, prepared for searching.
pub(super) struct RustSource {
    /// The source with every comment, string and character literal replaced by spaces; same length, same lines.
    code: String,
    /// For each line (from 0) whether it is part of a test.
    test_lines: Vec<bool>,
    /// Byte offset at which each line starts.
    line_starts: Vec<usize>,
}

/// A function with a body.
pub(super) struct Function {
    pub(super) line: usize,
    pub(super) name: String,
    /// Lines of its body that hold code.
    pub(super) body_lines: usize,
}

impl RustSource {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let code = blank_literals_and_comments(text);
        let line_starts: Vec<usize> = std::iter::once(0)
            .chain(code.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let mut source = Self {
            test_lines: vec![is_test_file(path); line_starts.len()],
            code,
            line_starts,
        };
        source.mark_tests();
        source
    }

    /// The blanked text.
    pub(super) fn code(&self) -> &str {
        &self.code
    }

    /// Number, from 1, of the line that holds byte `at`.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at)
    }

    /// True when byte `at` lies in a test file, a `#[cfg(test)]` item or a `#[test]` function.
    pub(super) fn is_test(&self, at: usize) -> bool {
        self.test_lines[self.line_of(at) - 1]
    }

    /// [`RustSource::is_test`] for a line, counted from 1.
    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines[line - 1]
    }

    /// End of the statement that starts at `at`: just past its `;`.
    pub(super) fn end_of_statement(&self, at: usize) -> usize {
        first_outside_brackets(&self.code[at..], &[';']).map_or(self.code.len(), |end| at + end + 1)
    }

    /// Lines that belong to no test.
    pub(super) fn lines_outside_tests(&self) -> usize {
        let last_is_empty = self.line_starts.last() == Some(&self.code.len());
        self.test_lines.iter().filter(|&&test| !test).count()
            - usize::from(last_is_empty && self.test_lines.last() == Some(&false))
    }

    /// Where `word` stands as a whole word.
    pub(super) fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code
            .match_indices(word)
            .map(|(at, _)| at)
            .filter(move |&at| {
                let before = self.code[..at].chars().next_back();
                let after = self.code[at + word.len()..].chars().next();
                !before.is_some_and(is_name) && !after.is_some_and(is_name)
            })
    }

    /// The name that follows `keyword` at byte `at`, if one follows directly.
    pub(super) fn name_after(&self, at: usize, keyword: &str) -> Option<&str> {
        let rest = &self.code[at + keyword.len()..];
        let start = rest.find(|c: char| !c.is_whitespace())?;
        let rest = &rest[start..];
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        (end > 0 && start > 0).then(|| &rest[..end])
    }

    /// Every function that has a body.
    pub(super) fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for at in self.words("fn") {
            let Some(name) = self.name_after(at, "fn") else {
                continue;
            };
            let Some(body) = self.braces_after(at) else {
                continue;
            };
            let inner = &self.code[body.start + 1..body.end - 1];
            let body_lines = inner.lines().filter(|line| !line.trim().is_empty()).count();
            functions.push(Function {
                line: self.line_of(at),
                name: name.to_owned(),
                body_lines,
            });
        }
        functions
    }

    /// The `{..}` that belongs to the item starting at `at`; nothing when a `;` comes first.
    pub(super) fn braces_after(&self, at: usize) -> Option<Range<usize>> {
        let open = at + first_outside_brackets(&self.code[at..], &['{', ';'])?;
        (self.code.as_bytes()[open] == b'{').then(|| open..open + balanced(&self.code[open..]))
    }

    fn mark_tests(&mut self) {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, _) in self.code.match_indices("#[") {
            let attribute = &self.code[at..at + balanced(&self.code[at + 1..]) + 1];
            if is_test_attribute(attribute) {
                let after = at + attribute.len();
                let end = self.braces_after(after).map_or_else(
                    || {
                        after
                            + self.code[after..]
                                .find(';')
                                .map_or(0, |semicolon| semicolon + 1)
                    },
                    |braces| braces.end,
                );
                ranges.push(at..end);
            }
        }
        if self.code.contains("#![cfg(test)]") {
            ranges.push(0..self.code.len());
        }
        for range in ranges {
            let lines = self.line_of(range.start) - 1..self.line_of(range.end.max(1) - 1);
            self.test_lines[lines].fill(true);
        }
    }
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

fn is_test_attribute(attribute: &str) -> bool {
    let plain: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
    let words = |text: &str| text.split(|c: char| !is_name(c)).any(|word| word == "test");
    plain == "#[test]"
        || (plain.starts_with("#[cfg(") && words(&plain) && !plain.contains("not(test"))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Offset of the first of `wanted` that stands outside round and square brackets.
fn first_outside_brackets(code: &str, wanted: &[char]) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ if depth == 0 && wanted.contains(&c) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Length of the bracketed text that `code` starts with.
fn balanced(code: &str) -> usize {
    let mut depth = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Replaces the inside of comments and literals by spaces, byte for byte.
fn blank_literals_and_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let after_name = at > 0 && is_name(char::from(bytes[at - 1]));
        let length = literal_or_comment(&bytes[at..], after_name);
        if length == 0 {
            out.push(bytes[at]);
            at += 1;
        } else {
            out.extend(
                bytes[at..at + length]
                    .iter()
                    .map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }),
            );
            at += length;
        }
    }
    // Whole characters are copied or blanked, so the result is UTF-8 again.
    String::from_utf8_lossy(&out).into_owned()
}

/// Length of the comment or literal that `rest` starts with, else 0.
fn literal_or_comment(rest: &[u8], after_name: bool) -> usize {
    match rest {
        [b'/', b'/', ..] => rest
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => quoted(rest, 1),
        [b'\'', ..] => character(rest),
        [b'b' | b'c', b'"', ..] if !after_name => quoted(rest, 2),
        [b'b', b'\'', ..] if !after_name => 1 + character(&rest[1..]),
        [b'r', b'"' | b'#', ..] if !after_name => raw(rest, 1),
        [b'b' | b'c', b'r', b'"' | b'#', ..] if !after_name => raw(rest, 2),
        _ => 0,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &[u8], mut at: usize) -> usize {
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// A raw string, or 0 when the `r#` starts a raw identifier.
fn raw(rest: &[u8], prefix: usize) -> usize {
    let hashes = rest[prefix..]
        .iter()
        .take_while(|&&byte| byte == b'#')
        .count();
    if rest.get(prefix + hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'#'; hashes + 1];
    end[0] = b'"';
    let body = prefix + hashes + 1;
    let found = rest[body..]
        .windows(end.len())
        .position(|window| window == end);
    found.map_or(rest.len(), |at| body + at + end.len())
}

/// A character literal, or 0 when the quote starts a lifetime.
fn character(rest: &[u8]) -> usize {
    match rest {
        [_, b'\\', ..] => rest
            .iter()
            .skip(3)
            .position(|&byte| byte == b'\'')
            .map_or(rest.len(), |at| at + 4),
        [_, first, ..] => {
            let width = match first {
                0x00..0x80 => 1,
                0x80..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            if rest.get(1 + width) == Some(&b'\'') {
                width + 2
            } else {
                0
            }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_become_blank() {
        let cases = [
            ("a // unsafe\nb", "a\nb"),
            ("a /* x /* y */ z */ b", "a b"),
            (r#"f("un\"safe") g"#, "f( ) g"),
            ("r#\"a\"b\"# c", "c"),
            ("let r#type = 1;", "let r#type = 1;"),
            ("'a' 'x: &'a str", "'x: &'a str"),
            (r"'\'' '\u{41}' b'x'", ""),
            ("\"é\" z", "z"),
        ];
        for (source, expected) in cases {
            let code = blank_literals_and_comments(source);
            assert_eq!(code.len(), source.len(), "{source}");
            let lines = code
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
            assert_eq!(lines.collect::<Vec<_>>().join("\n"), expected, "{source}");
        }
    }

    #[test]
    fn test_code_is_recognised() {
        let text = "fn a() {\n}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[test]\nfn d() {\n}\n#[cfg(not(test))]\nfn e() {}\n";
        let source = RustSource::new("x/src/lib.rs", text);
        let tested: Vec<_> = (1..=12)
            .filter(|line| source.test_lines[line - 1])
            .collect();
        assert_eq!(tested, [3, 4, 5, 6, 8, 9, 10]);
        assert_eq!(source.lines_outside_tests(), 5);
        assert!(RustSource::new("x/tests/a.rs", "fn f() {}").is_test(0));
    }

    #[test]
    fn functions_are_measured_by_their_code() {
        let text = "trait T { fn none(&self) -> [u8; 4]; }\nfn two(f: fn(u8)) -> [u8; { 1 }] {\n    // a comment\n\n    let x = \"}\";\n    x\n}\n";
        let found: Vec<_> = RustSource::new("a.rs", text)
            .functions()
            .iter()
            .map(|f| (f.name.clone(), f.line, f.body_lines))
            .collect();
        assert_eq!(found, [("two".to_owned(), 2, 2)]);
    }

    #[test]
    fn words_are_whole() {
        let source = RustSource::new("a.rs", "unsafe_code unsafe fn f() {}");
        assert_eq!(source.words("unsafe").collect::<Vec<_>>(), [12]);
        assert_eq!(source.name_after(19, "fn"), Some("f"));
    }
}
