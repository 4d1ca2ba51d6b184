//! `cargo xtask data`: converts the Japanese Vowels text files once into the npz that the demo reads. The converter is an
//! example of the facade, because it writes the file with the library's own npz writer.

use std::path::Path;

use crate::command::{Outcome, cargo};

pub(crate) fn run(from: &Path) -> Outcome {
    cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "lodestride",
        "--example",
        "convert_japanese_vowels",
        "--",
    ])
    .args([from.as_os_str()])
    .args(["data/japanese_vowels.npz"])
    .run()
}
