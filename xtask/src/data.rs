//! `cargo xtask data`: converts the Japanese Vowels text files once into the npz that the demo reads. The converter is an
//! example of the crate that writes npz, because it uses nothing else of the project.

use std::path::Path;

use crate::command::{Outcome, cargo};

pub(crate) fn run(from: &Path) -> Outcome {
    // The converter runs in the repository's top folder; the path was typed in the caller's.
    let from = std::path::absolute(from)?;
    cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "lodestride-serde",
        "--example",
        "convert_japanese_vowels",
        "--",
    ])
    .args([from.as_os_str()])
    .args(["data/japanese_vowels.npz"])
    .run()
}
