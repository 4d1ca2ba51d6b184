//! docs/cookbook/*.md: what the second column of a table says stands in a program of the same section, so that every line of the
//! tables is compiled and run. The programs are doc tests of the facade.

use super::Finding;
use super::tree::Tree;

const FOLDER: &str = "docs/cookbook/";
const RULE: &str = "cookbook";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files().iter();
    let pages = pages.filter(|file| file.path.starts_with(FOLDER) && file.path.ends_with(".md"));
    pages
        .flat_map(|page| page_findings(&page.path, &page.text))
        .collect()
}

fn page_findings(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut rows: Vec<(usize, String)> = Vec::new();
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
        } else if let Some(code) = ours(line) {
            rows.push((number + 1, code));
        }
    }
    findings.extend(missing(path, &rows, &program));
    findings
}

fn missing(path: &str, rows: &[(usize, String)], program: &str) -> Vec<Finding> {
    let lost = rows.iter().filter(|(_, code)| !program.contains(code));
    lost.map(|(line, code)| {
        let advice = format!("no program of this section says `{code}`");
        Finding::new(path, *line, RULE, advice)
    })
    .collect()
}

/// The code in the second column of a table's line.
fn ours(line: &str) -> Option<String> {
    let line = line.strip_prefix('|')?.replace("\\|", "\u{0}");
    let cell = line.split('|').nth(1)?.trim();
    let code = cell.strip_prefix('`')?.strip_suffix('`')?;
    Some(code.replace('\u{0}', "|"))
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
}
