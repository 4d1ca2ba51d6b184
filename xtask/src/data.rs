//! `cargo xtask data`: converts the Japanese Vowels text files once into the npz that the demo reads. The converter is an
//! example of lodestride-serde, because it writes the file with that crate's npz writer.

use std::path::Path;

use crate::command::{Outcome, cargo};

pub(crate) fn run(from: &Path) -> Outcome {
    let converter = [
        "--package",
        "lodestride-serde",
        "--example",
        "convert_japanese_vowels",
        "--",
    ];
    cargo(&["run", "--release", "--quiet"])
        .args(converter)
        .args([from.as_os_str(), "data/japanese_vowels.npz".as_ref()])
        .run()
}
