//! Expressions with results and gradients computed by NumPy, PyTensor and JAX, each built from its description, run and
//! compared; and what must be left of them after optimisation.
#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    clippy::print_stdout,
    reason = "one checker over a table of forms; the counts are what a reader of the log wants"
)]

mod golden {
    pub(crate) mod build;
    pub(crate) mod check;
}

use golden::build::Unsupported;
use golden::check::{Verdict, check_case};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;

/// Forms that are not there yet, with the number of cases that need them.
const LATER: &[(&str, usize)] = &[("scan", 2), ("ifelse", 1), ("einsum", 1)];

fn cases() -> Vec<Json> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| -> Vec<Json> {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    files.iter().flat_map(read).collect()
}

#[test]
fn golden_cases() {
    let cases = cases();
    let mut failures = Vec::new();
    let mut later: BTreeMap<String, usize> = BTreeMap::new();
    let mut wishes = Vec::new();
    let (mut passed, mut gradients) = (0, 0);
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        match check_case(case) {
            Ok(Verdict {
                gradients: compared,
                unmet,
            }) => {
                passed += 1;
                gradients += compared;
                wishes.extend(unmet.into_iter().map(|wish| format!("{id}: {wish}")));
            }
            Err(error) => match error.downcast::<Unsupported>() {
                Ok(form) => *later.entry(form.0).or_default() += 1,
                Err(error) => failures.push(format!("{id}: {error}")),
            },
        }
    }
    println!(
        "{passed} of {} cases, {gradients} gradients, {} structural wishes open",
        cases.len(),
        wishes.len()
    );
    println!("{}", wishes.join("\n"));
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
    let expected: BTreeMap<String, usize> = LATER
        .iter()
        .map(|(form, n)| ((*form).to_owned(), *n))
        .collect();
    assert_eq!(later, expected, "forms that are open");
}
