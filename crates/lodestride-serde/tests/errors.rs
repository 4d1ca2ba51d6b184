//! The texts of errors, whole: reason, place, advice.
#![expect(clippy::too_many_lines, reason = "a table of cases")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use lodestride_lod::{LodTensor, lengths};
use lodestride_serde::{DType, NdArray, SerdeError, SerdeErrorKind, native, npy, npz};
use support::{Folder, for_each_case, pattern, without_location};

fn error_of<T>(result: Result<T, SerdeError>) -> SerdeError {
    match result {
        Ok(_) => panic!("it worked"),
        Err(error) => error,
    }
}

#[test]
fn texts_say_what_where_and_what_to_do() {
    let bf16 = pattern(DType::BF16, &[2]);
    let mut cut = Vec::new();
    npy::write_to(&mut cut, &pattern(DType::F32, &[2, 5])).unwrap();
    cut.truncate(140);
    let mut tensor = Vec::new();
    let batch = LodTensor::new(pattern(DType::F32, &[3, 1]), lengths![[1, 2]]).unwrap();
    native::write_to(&mut tensor, &batch).unwrap();
    let mut damaged = tensor.clone();
    let last = damaged.len() - 9;
    damaged[last] ^= 1;
    let mut newer = tensor.clone();
    newer[8] = 2;
    let wide = NdArray::zeros(vec![1usize; 65]).unwrap();
    let cases = [
        (
            error_of(npy::write_to(Vec::new(), &bf16)),
            "npy has no type for bf16\n  help: `cast(DType::F32)` it first, which is exact, or use the native format",
        ),
        (
            error_of(npy::read_from(&cut[..])),
            "the data ends too early: the block of elements needs 40 bytes, 12 are left\n  byte: 128\n  help: the file is cut off, or was never finished: copy, download or write it again",
        ),
        (
            error_of(npy::read_from(&b"PK\x03\x04 and more"[..])),
            "this is not npy data: it begins with \"PK\\x03\\x04 a\"\n  byte: 0\n  help: this is a zip archive: open it with `npz::Reader::open`",
        ),
        (
            error_of(npy::read_from(&b"\x93NUMPY\x09\x00"[..])),
            "npy version 9.0 is not known\n  byte: 6\n  help: update lodestride, or save the file in an older version",
        ),
        (
            error_of(npy::read_from(&b"\x93NUMPY\x01\x00\x0a\x00{'descr': "[..])),
            "the header is malformed: expected a type string, found the end of the header\n  byte: 20\n  help: the file is damaged or of another kind; write it again",
        ),
        (
            error_of(npy::read_from(&b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..])),
            "the header claims to be 4294967295 bytes long; at most 65536 are read\n  byte: 12\n  help: the file is damaged or of another kind; write it again",
        ),
        (
            error_of(native::read_from(&cut[..])),
            "this is not lodestride data: it begins with \"\\x93NUMPY\\x01\\x00\"\n  byte: 0\n  help: this is an npy file: read it with `npy::read`",
        ),
        (
            error_of(native::read_from(&newer[..])),
            "lodestride version 2.0 is not known\n  byte: 8\n  help: update lodestride, or save the file in an older version",
        ),
        (
            error_of(npz::Reader::new(Cursor::new(&cut[..]))),
            "this is not npz data: it begins with \"\\x93NUMPY\\x01\\x00\"\n  help: this is an npy file: read it with `npy::read`",
        ),
        (
            error_of(npy::write_to(Vec::new(), &wide)),
            "65 axes are more than the 64 a file may have\n  help: `reshape` it to fewer axes before writing",
        ),
        (
            error_of(native::read_from(&tensor[..]).unwrap().into_array()),
            "this is a LoD tensor of 1 level(s), not a plain array\n  help: read it with `lod_tensor`, or match on `Stored`",
        ),
    ];
    for_each_case(cases, |(error, expected)| {
        let found = without_location(error);
        let here = error.location().file().ends_with("errors.rs");
        if found != *expected || !here {
            return Err(format!(
                "\n{found}\n  instead of\n{expected}\n  at {}",
                error.location()
            ));
        }
        Ok(())
    });
    let error = error_of(native::read_from(&damaged[..]));
    let text = without_location(&error);
    assert!(
        text.starts_with("the data is damaged: the checksum of the offsets and elements is "),
        "{text}"
    );
    assert!(text.ends_with("nothing of it was used"), "{text}");
}

#[test]
fn files_and_entries_are_named() {
    let folder = Folder::new("named");
    let path = folder.0.join("data.npz");
    let missing = error_of(npy::read(folder.0.join("none.npy")));
    assert!(
        missing.to_string().starts_with("cannot open: "),
        "{missing}"
    );
    assert!(missing.to_string().contains("none.npy"), "{missing}");

    let mut writer = npz::Writer::create(&path).unwrap();
    let refused = error_of(
        writer
            .array("half", &pattern(DType::BF16, &[2]))
            .map(|_| ()),
    );
    assert_eq!(refused.entry(), Some("half.npy"));
    // The archive goes on without it.
    writer.array("a", &pattern(DType::U8, &[200])).unwrap();
    writer.finish().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let block = pattern(DType::U8, &[200]).to_bytes().unwrap();
    let place = bytes
        .windows(200)
        .position(|window| window == block)
        .unwrap();
    bytes[place + 7] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut reader = npz::Reader::open(&path).unwrap();
    let damaged = error_of(reader.array("a"));
    let expected = format!(
        "the data is damaged: Invalid checksum\n  file: {}, entry: a.npy, byte: 328\n  help: copy, download or write the file again; nothing of it was used",
        path.display()
    );
    assert_eq!(without_location(&damaged), expected);
    let unknown = error_of(reader.lod_tensor("b"));
    assert!(
        unknown
            .to_string()
            .starts_with("the archive has no array `b`; it has `a`\n"),
        "{unknown}"
    );
}

#[test]
fn names_that_cannot_be_are_refused() {
    let array = pattern(DType::U8, &[1]);
    let long = "n".repeat(1025);
    let cases = [
        "", "../a", "a//b", "/a", "a\\b", "a\0", "x.lod0", "x.lod12", &long,
    ];
    for_each_case(cases, |name| {
        let mut writer = npz::Writer::new(Cursor::new(Vec::new()));
        match writer.array(name, &array) {
            Err(error) if matches!(error.kind(), SerdeErrorKind::BadName { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
            Ok(_) => Err("was taken".to_owned()),
        }
    });
    let mut writer = npz::Writer::new(Cursor::new(Vec::new()));
    for name in ["a", "a/b", "a.npy", "x.lod", "x.lod01", "ä b", "x.lod99"] {
        writer.array(name, &array).unwrap();
    }
    let twice = error_of(writer.array("a/b", &array).map(|_| ()));
    assert!(matches!(twice.kind(), SerdeErrorKind::DuplicateName { name } if name == "a/b"));
    let reader = npz::Reader::new(writer.finish_writer().unwrap()).unwrap();
    assert_eq!(reader.names().count(), 7);
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = Folder::new("kept");
    let path = folder.0.join("a.npy");
    let good = pattern(DType::F32, &[3]);
    npy::write(&path, &good).unwrap();
    let old = fs::read(&path).unwrap();
    error_of(npy::write(&path, &pattern(DType::BF16, &[3])));
    let mut unfinished = npz::Writer::create(&path).unwrap();
    unfinished.array("a", &good).unwrap();
    drop(unfinished);
    assert_eq!(fs::read(&path).unwrap(), old);
    assert_eq!(folder.names(), ["a.npy"]);

    let cases = [
        (
            folder.0.clone(),
            "cannot write: the path names something that is not a file",
        ),
        (
            folder.0.join("no/such/folder.npy"),
            "cannot create a temporary file beside it: ",
        ),
        (
            Path::new("").to_path_buf(),
            "cannot write: the path names something that is not a file",
        ),
    ];
    for_each_case(cases, |(path, expected)| {
        let found = error_of(npy::write(path, &good)).to_string();
        if found.starts_with(expected) {
            Ok(())
        } else {
            Err(found)
        }
    });
}

#[cfg(unix)]
#[test]
fn links_and_permissions_of_the_old_file_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("links");
    let (target, link) = (folder.0.join("target.npy"), folder.0.join("link.npy"));
    fs::write(&target, b"old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&target, &link).unwrap();
    npy::write(&link, &pattern(DType::F32, &[3])).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(npy::read(&target).unwrap().len(), 3);
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(folder.names(), ["link.npy", "target.npy"]);
}

#[test]
fn an_error_is_one_pointer_and_can_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<SerdeError>();
    assert_eq!(size_of::<SerdeError>(), size_of::<usize>());
}
