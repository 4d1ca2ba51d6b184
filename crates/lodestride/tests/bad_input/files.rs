//! Files: missing, of another kind, cut off anywhere, damaged anywhere; and writes that fail.

use std::fs;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use lodestride::Result;
use lodestride::lod::lengths;
use lodestride::prelude::*;
use lodestride::serde::SerdeErrorKind as Kind;
use lodestride::serde::{SerdeError, native, npy, npz};

use super::{case, check};

/// A folder for one test, removed with everything in it at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("lodestride-bad-input-{test}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Folder(path)
    }

    /// A file with the given bytes.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("the folder is ours");
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder is ours");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("readable").file_name();
        entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind in the system's temporary folder harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn batch() -> Result<LodTensor> {
    let rows = NdArray::from([[0.5f32, 1.5], [2.5, 3.5], [4.5, 5.5]]);
    Ok(LodTensor::new(rows, lengths![[1, 2]])?)
}

fn native_bytes() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    native::write_to(&mut bytes, &batch()?)?;
    Ok(bytes)
}

fn npy_bytes() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, batch()?.data())?;
    Ok(bytes)
}

fn npz_bytes() -> Result<Vec<u8>> {
    let mut file = Cursor::new(Vec::new());
    let mut writer = npz::Writer::new(&mut file);
    writer
        .lod_tensor("batch", &batch()?)?
        .array("labels", &NdArray::from([3i64, 1]))?;
    writer.finish_writer()?;
    Ok(file.into_inner())
}

/// Reads everything there is, as each format is read.
fn read(format: &str, bytes: &[u8]) -> std::result::Result<(), SerdeError> {
    match format {
        "npy" => npy::read_from(bytes).map(drop),
        "npz" => npz::Reader::new(Cursor::new(bytes))?.read_all().map(drop),
        _ => native::read_from(bytes).map(drop),
    }
}

#[test]
fn files_that_cannot_be_read() -> Result<()> {
    let folder = Folder::new("read");
    let missing = folder.0.join("missing.npy");
    let text = folder.file("notes.npy", b"these are my notes, not an array");
    let empty = folder.file("empty.lds", b"");
    let npy_file = folder.file("a.npy", &npy_bytes()?);
    let npz_file = folder.file("a.npz", &npz_bytes()?);
    let lds_file = folder.file("a.lds", &native_bytes()?);
    let cut = folder.file("cut.npy", &npy_bytes()?[..140]);
    check(vec![
        case!("missing npy", [], npy::read(&missing), Serde Kind::Io { .. }, ["cannot", "missing.npy"]),
        case!("missing npz", [], npz::Reader::open(&missing), Serde Kind::Io { .. }, ["missing.npy"]),
        case!("missing native", [], native::read(&missing), Serde Kind::Io { .. }, ["missing.npy"]),
        case!("text as npy", [], npy::read(&text), Serde Kind::Magic { .. },
            ["not npy data", "these", "notes.npy", "help: "]),
        case!("text as npz", [], npz::Reader::open(&text), Serde Kind::Magic { .. },
            ["not npz data", "help: "]),
        case!("text as native", [], native::read(&text), Serde Kind::Magic { .. },
            ["not lodestride data", "help: "]),
        case!("an empty file", [], native::read(&empty), Serde Kind::Truncated { .. },
            ["too early", "empty.lds", "help: "]),
        case!("npz read as npy", [], npy::read(&npz_file), Serde Kind::Magic { .. }, ["`npz::Reader::open`"]),
        case!("npy read as npz", [], npz::Reader::open(&npy_file), Serde Kind::Magic { .. }, ["`npy::read`"]),
        case!("native read as npy", [], npy::read(&lds_file), Serde Kind::Magic { .. }, ["`native::read`"]),
        case!("cut off", [], npy::read(&cut), Serde Kind::Truncated { .. },
            ["ends too early", "bytes", "cut.npy", "help: "]),
        case!("a name that is not there", [], npz::Reader::open(&npz_file)?.array("labells"), Serde Kind::NoEntry { .. },
            ["`labells`", "`labels`", "`batch`"]),
        case!("a LoD tensor as an array", [], native::read(&lds_file)?.into_array(), Serde Kind::HasLod { .. },
            ["LoD tensor", "help: ", "`lod_tensor`"]),
        case!("a folder as a file", [], npy::write(&folder.0, &NdArray::ones([2])?), Serde Kind::NotAFile | Kind::Io { .. },
            ["cannot write"]),
        case!("a folder that is not there", [], npy::write(folder.0.join("no/a.npy"), &NdArray::ones([2])?), Serde Kind::Io { .. },
            ["cannot", "a.npy"]),
    ]);
    Ok(())
}

/// Every prefix of a file is an error that says so.
#[test]
fn files_cut_off_anywhere() -> Result<()> {
    for (format, bytes) in [
        ("npy", npy_bytes()?),
        ("npz", npz_bytes()?),
        ("native", native_bytes()?),
    ] {
        read(format, &bytes)?;
        for length in 0..bytes.len() {
            let result = catch_unwind(AssertUnwindSafe(|| read(format, &bytes[..length])));
            let Ok(result) = result else {
                panic!("{format} cut at {length} panicked")
            };
            let error = result.expect_err("a part is not the whole").to_string();
            assert!(
                error.contains("help: "),
                "{format} cut at {length}: {error}"
            );
        }
    }
    Ok(())
}

/// Any changed byte of a native file and of an npz archive's data is noticed; of an npy file, which has no checksum, every
/// change of the header that matters. Nothing panics.
#[test]
fn files_damaged_anywhere() -> Result<()> {
    for (format, bytes) in [
        ("npy", npy_bytes()?),
        ("npz", npz_bytes()?),
        ("native", native_bytes()?),
    ] {
        for position in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[position] ^= flip;
                let result = catch_unwind(AssertUnwindSafe(|| read(format, &damaged)));
                let Ok(result) = result else {
                    panic!("{format} with byte {position} changed by {flip:#x} panicked")
                };
                if format == "native" {
                    let error = result
                        .expect_err("checksums notice every change")
                        .to_string();
                    assert!(!error.is_empty());
                }
            }
        }
    }
    Ok(())
}

/// A write that fails leaves the old file, and no other.
#[test]
fn failed_writes_leave_the_old_file() -> Result<()> {
    let folder = Folder::new("write");
    let lost = Workspace::new("LOOP").scope(|_| NdArray::ones([2, 2]))??;
    let bf16 = NdArray::zeros_of(DType::BF16, [2])?;
    let old = folder.file("a.npy", b"the old file");
    check(vec![
        case!("an array of a closed workspace", [], npy::write(&old, &lost), Serde Kind::Array { .. },
            ["leaked workspace pointer", "[LOOP]"]),
        case!("the same, native", [], native::write(&old, &lost), Serde Kind::Array { .. },
            ["leaked workspace pointer"]),
        case!("a dtype that npy lacks", [&bf16], npy::write(&old, &bf16), Serde Kind::NoNpyType { .. },
            ["bf16", "help: ", "native"]),
        case!("an archive with a bad part", [], { let mut w = npz::Writer::create(&old)?; w.array("good", &NdArray::ones([2])?)?; w.array("lost", &lost).map(drop) }, Serde Kind::Array { .. },
            ["leaked"]),
        case!("two arrays of one name", [], { let mut w = npz::Writer::create(&old)?; w.array("a", &bf16.cast(DType::F32)?)?; w.array("a", &bf16.cast(DType::F32)?).map(drop) }, Serde Kind::DuplicateName { .. },
            ["`a`", "help: "]),
    ]);
    assert_eq!(fs::read(&old).expect("still there"), b"the old file");
    assert_eq!(folder.names(), ["a.npy"]);
    Ok(())
}
