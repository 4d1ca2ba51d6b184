//! docs/cookbook/*.md: tables have four columns, what the second one says stands in a program of the same section, so that every
//! line of the tables is compiled and run, and where the third says `view` or `copy` the program compares the memory: `view(..)`
//! and `copy(..)` do so, `is(..)` does not. The programs are doc tests of the facade.

use super::Finding;
use super::tree::Tree;

const FOLDER: &str = "docs/cookbook/";
const RULE: &str = "cookbook";
const COLUMNS: usize = 4;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files().iter();
    let pages = pages.filter(|file| file.path.starts_with(FOLDER) && file.path.ends_with(".md"));
    pages
        .flat_map(|page| page_findings(&page.path, &page.text))
        .collect()
}

fn page_findings(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut program = String::new();
    let mut in_program = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_program = line == "```rust";
        } else if in_program {
            program.push_str(line);
            program.push('\n');
        } else if line.starts_with("## ") {
            findings.extend(missing(path, &rows, &program));
            rows.clear();
            program.clear();
        } else if let Some(row) = Row::of(number + 1, line) {
            if row.columns != COLUMNS {
                let advice = format!("{} columns instead of {COLUMNS}", row.columns);
                findings.push(Finding::new(path, row.line, RULE, advice));
            }
            rows.push(row);
        }
    }
    findings.extend(missing(path, &rows, &program));
    findings
}

/// A table's line whose second column is code.
struct Row {
    line: usize,
    columns: usize,
    code: String,
    /// What the third column says.
    memory: String,
}

impl Row {
    fn of(number: usize, line: &str) -> Option<Row> {
        let line = line.replace("\\|", "\u{0}");
        let inner = line.strip_prefix('|')?.trim_end().trim_end_matches('|');
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let code = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
        Some(Row {
            line: number,
            columns: cells.len(),
            code: code.replace('\u{0}', "|"),
            memory: cells.get(2).copied().unwrap_or_default().to_owned(),
        })
    }

    /// What is wrong with how a program shows the row.
    fn fault(&self, program: &str) -> Option<String> {
        let code = &self.code;
        let mut shown = program
            .lines()
            .filter(|line| line.contains(code))
            .peekable();
        if shown.peek().is_none() && !program.contains(code) {
            return Some(format!("no program of this section says `{code}`"));
        }
        let of_memory = matches!(self.memory.as_str(), "view" | "copy");
        // Other statements (an `assert!`, a `let`) show what has no memory to compare.
        let compared = shown.any(|line| !line.trim_start().starts_with("is("));
        (of_memory && !compared).then(|| {
            let memory = &self.memory;
            format!("the program says `is` where `{memory}(&a, {code}, ..)` would compare the memory too")
        })
    }
}

fn missing(path: &str, rows: &[Row], program: &str) -> Vec<Finding> {
    rows.iter()
        .filter_map(|row| {
            let fault = row.fault(program)?;
            Some(Finding::new(path, row.line, RULE, fault))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_program_says_is_found() {
        let page = "## One\n| theirs | ours | | |\n|---|---|---|---|\n| `x` | `a.b()?` | | |\n| `y` | `c \\| d` | | |\n\
                    ```rust\nuse(a.b()?);\n```\n## Two\n| `z` | `a.b()?` | | |\n";
        let tree = Tree::of(&[("docs/cookbook/x.md", page)]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.line).collect();
        assert_eq!(found, [5, 10]);
    }

    #[test]
    fn views_and_copies_are_compared_and_columns_counted() {
        let page = "## One\n| `t` | `a.b()?` | view | |\n| `t` | `a.c()?` | copy | |\n| `t` | `a.d()` | view |\n\
                    ```rust\nview(&a, a.b()?, 1);\nis(a.c()?, 1);\nlet d = a.d();\n```\n";
        let tree = Tree::of(&[("docs/cookbook/x.md", page)]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.line).collect();
        assert_eq!(found, [4, 3]);
    }
}
