//! The arrows between crates: the manifests and the diagram in docs/architecture.md say the same, and all arrows point down.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::Tree;

const DIAGRAM: &str = "docs/architecture.md";
const RULE: &str = "arrows";

/// What a crate needs of ours: line of the statement and the names.
type Arrows = BTreeMap<String, (usize, Vec<String>)>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let drawn = diagram(tree.text(DIAGRAM).unwrap_or_default());
    let mut findings = Vec::new();
    let manifests = tree.files().iter().filter_map(|file| {
        let name = file
            .path
            .strip_prefix("crates/")?
            .strip_suffix("/Cargo.toml")?;
        Some((name, file))
    });
    for (name, file) in manifests {
        let declared = dependencies(&file.text);
        let Some((line, expected)) = drawn.get(name) else {
            findings.push(Finding::new(
                DIAGRAM,
                1,
                RULE,
                format!("the diagram has no line for `{name}`"),
            ));
            continue;
        };
        for (dependency, at, dev) in &declared {
            let allowed = if *dev {
                reaches(&drawn, name, dependency)
            } else {
                expected.contains(dependency)
            };
            if !allowed {
                let advice = format!(
                    "`{name}` may not depend on `{dependency}`: {DIAGRAM} has no such arrow"
                );
                findings.push(Finding::new(&file.path, *at, RULE, advice));
            }
        }
        for dependency in expected {
            if !declared
                .iter()
                .any(|(found, _, dev)| found == dependency && !dev)
            {
                let advice = format!(
                    "the arrow from `{name}` to `{dependency}` is drawn, but the manifest has none"
                );
                findings.push(Finding::new(DIAGRAM, *line, RULE, advice));
            }
        }
        if reaches(&drawn, name, name) {
            findings.push(Finding::new(
                DIAGRAM,
                *line,
                RULE,
                format!("the arrows from `{name}` lead back to it"),
            ));
        }
    }
    findings
}

/// Lines `name -> a, b` of the code block that follows the heading on crates.
fn diagram(text: &str) -> Arrows {
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.starts_with("lodestride"));
    let arrows = lines.filter_map(|(line, number)| {
        let (name, targets) = line.split_once("->")?;
        let targets = targets
            .split([',', ' '])
            .filter(|word| word.starts_with("lodestride"))
            .map(str::to_owned);
        Some((name.trim().to_owned(), (number, targets.collect())))
    });
    arrows.collect()
}

/// Our crates that a manifest names: name, line, and whether only its tests need it.
fn dependencies(manifest: &str) -> Vec<(String, usize, bool)> {
    let mut found = Vec::new();
    let (mut inside, mut dev) = (false, false);
    for (line, number) in manifest.lines().zip(1..) {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line.contains("dependencies");
            dev = line.contains("dev-dependencies");
        }
        let name = line
            .trim_start_matches('[')
            .split(['.', '=', ' ', ']'])
            .find(|word| word.starts_with("lodestride"));
        if let (true, Some(name)) = (inside && line.starts_with("lodestride"), name) {
            found.push((name.to_owned(), number, dev));
        }
    }
    found
}

/// True when following the arrows from `start` arrives at `goal`.
fn reaches(arrows: &Arrows, start: &str, goal: &str) -> bool {
    let mut waiting = vec![start];
    let mut seen = Vec::new();
    while let Some(name) = waiting.pop() {
        let Some((_, targets)) = arrows.get(name) else {
            continue;
        };
        if targets.iter().any(|target| target == goal) {
            return true;
        }
        for target in targets {
            if !seen.contains(&target.as_str()) {
                seen.push(target);
                waiting.push(target);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: &str = "lodestride       -> lodestride-array\nlodestride-array -> lodestride-shape\nlodestride-shape ->\n";

    #[test]
    fn manifests_and_diagram_are_compared_both_ways() {
        let facade = "[dependencies]\nlodestride-shape.workspace = true\n[dev-dependencies]\nlodestride-shape.workspace = true\n";
        let tree = Tree::of(&[
            (DIAGRAM, DRAWN),
            ("crates/lodestride/Cargo.toml", facade),
            (
                "crates/lodestride-array/Cargo.toml",
                "[dependencies]\nlodestride-shape = { path = \"x\" }\n[features]\nlodestride-x = []\n",
            ),
            (
                "crates/lodestride-shape/Cargo.toml",
                "[dev-dependencies]\nlodestride-array.workspace = true\n",
            ),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        let expected = [
            ("crates/lodestride/Cargo.toml", 2),
            (DIAGRAM, 1),
            ("crates/lodestride-shape/Cargo.toml", 2),
        ];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }

    #[test]
    fn circles_are_found() {
        let arrows = diagram("lodestride-a -> lodestride-b\nlodestride-b -> lodestride-a\n");
        assert!(reaches(&arrows, "lodestride-a", "lodestride-a"));
        assert!(!reaches(&diagram(DRAWN), "lodestride", "lodestride"));
    }
}
