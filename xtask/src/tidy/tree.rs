//! The files the rules look at, read once: every text file of the repository that is ours, with Rust sources parsed as far as the
//! rules need.

use std::fs;
use std::io;
use std::path::Path;

use super::rust_source::RustSource;

/// Folders that hold build results or version control data.
const SKIPPED: [&str; 3] = ["target", ".git", "out"];
/// What counts as text of ours.
const TEXT: [&str; 10] = [
    "rs", "md", "toml", "csv", "sh", "txt", "json", "py", "yml", "yaml",
];

/// One file, with its path relative to the repository's top folder and `/` between folders.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
    /// Present for `.rs` files.
    pub(super) rust: Option<RustSource>,
}

/// All files, sorted by path.
pub(super) struct Tree {
    files: Vec<File>,
}

impl Tree {
    /// Reads everything below `top`.
    pub(super) fn read(top: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        collect(top, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    /// A tree made of `(path, text)` pairs, for tests of the rules.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self {
            files: files
                .iter()
                .map(|(path, text)| file((*path).to_owned(), (*text).to_owned()))
                .collect(),
        }
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    /// The text of the file at `path`.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|file| file.path == path)
            .map(|file| file.text.as_str())
    }

    /// All Rust sources with their files.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&File, &RustSource)> {
        self.files
            .iter()
            .filter_map(|file| file.rust.as_ref().map(|rust| (file, rust)))
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if is_text(&path) {
            // A binary file with a text ending is none of the rules' business.
            if let Ok(text) = fs::read_to_string(entry.path()) {
                files.push(file(path, text));
            }
        }
    }
    Ok(())
}

fn is_text(path: &str) -> bool {
    path == ".ci/run"
        || path
            .rsplit_once('.')
            .is_some_and(|(_, ending)| TEXT.contains(&ending))
}

fn file(path: String, text: String) -> File {
    let rust = path.ends_with(".rs").then(|| RustSource::new(&path, &text));
    File { path, text, rust }
}
