//! Input that is cut off, damaged, lying or of another kind: a typed error, never a panic, never memory for what is not there.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};

use lodestride_array::memory;
use lodestride_lod::{LodTensor, lengths};
use lodestride_serde::npz::Compression;
use lodestride_serde::{DType, NdArray, Result, SerdeError, SerdeErrorKind, native, npy, npz};
use proptest::prelude::*;
use support::{Folder, for_each_case, pattern};

fn npy_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, &pattern(DType::F32, &[2, 3])).unwrap();
    bytes
}

fn tensor() -> LodTensor {
    LodTensor::new(pattern(DType::I16, &[5, 2]), lengths![[2, 1], [1, 3, 1]]).unwrap()
}

fn native_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    native::write_to(&mut bytes, &tensor()).unwrap();
    bytes
}

fn npz_bytes(compression: Compression) -> Vec<u8> {
    let mut writer = npz::Writer::new(Cursor::new(Vec::new())).compression(compression);
    writer.lod_tensor("x", &tensor()).unwrap();
    writer.array("a", &pattern(DType::F64, &[40])).unwrap();
    writer.finish_writer().unwrap().into_inner()
}

fn read_npz(bytes: &[u8]) -> Result<usize> {
    Ok(npz::Reader::new(Cursor::new(bytes))?.read_all()?.len())
}

/// A header with this dictionary, and so much data.
fn npy_with(dictionary: &str, data: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(dictionary.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(dictionary.as_bytes());
    bytes.extend(std::iter::repeat_n(0, data));
    bytes
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let folder = Folder::new("cut");
    let path = folder.0.join("file");
    for bytes in [npy_bytes(), native_bytes()] {
        for_each_case(0..bytes.len(), |&length| {
            let cut = &bytes[..length];
            fs::write(&path, cut).unwrap();
            let found = if bytes.starts_with(b"\x93NUMPY") {
                [npy::read_from(cut).err(), npy::read(&path).err()]
            } else {
                [native::read_from(cut).err(), native::read(&path).err()]
            };
            for error in found {
                let error = error.ok_or("was read")?;
                if !matches!(error.kind(), SerdeErrorKind::Truncated { .. }) {
                    return Err(error.to_string());
                }
            }
            Ok(())
        });
    }
    for compression in [Compression::Stored, Compression::Deflated] {
        let bytes = npz_bytes(compression);
        for_each_case(0..bytes.len(), |&length| match read_npz(&bytes[..length]) {
            Ok(_) => Err("was read".to_owned()),
            Err(_) => Ok(()),
        });
    }
}

#[test]
fn more_data_than_an_array_is_an_error_for_files() {
    let folder = Folder::new("trailing");
    let path = folder.0.join("file");
    for bytes in [npy_bytes(), native_bytes()] {
        fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
        let error = if bytes.starts_with(b"\x93NUMPY") {
            npy::read(&path).unwrap_err()
        } else {
            native::read(&path).unwrap_err()
        };
        let end = bytes.len() as u64;
        assert!(
            matches!(error.kind(), SerdeErrorKind::Trailing { end: at } if *at == end),
            "{error}"
        );
        assert_eq!(error.path(), Some(path.as_path()));
    }
}

#[test]
fn every_changed_byte_of_a_native_file_is_noticed() {
    let bytes = native_bytes();
    for_each_case(0..bytes.len(), |&place| {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        match native::read_from(&changed[..]) {
            Ok(_) => Err("was read".to_owned()),
            Err(_) => Ok(()),
        }
    });
}

#[test]
fn claims_of_terabytes_cost_no_memory() {
    let dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }";
    let folder = Folder::new("claims");
    let path = folder.0.join("big.npy");
    let bytes = npy_with(dictionary, 100);
    fs::write(&path, &bytes).unwrap();
    let before = memory::stats().heap_bytes_allocated;
    let from_file = npy::read(&path).unwrap_err();
    let from_reader = npy::read_from(&bytes[..]).unwrap_err();
    let allocated = memory::stats().heap_bytes_allocated - before;
    let truncated = |error: &SerdeError, wanted: u64| matches!(error.kind(), SerdeErrorKind::Truncated { expected, .. } if *expected == wanted);
    assert!(truncated(&from_file, 8 << 40), "{from_file}");
    assert!(
        matches!(from_reader.kind(), SerdeErrorKind::Truncated { .. }),
        "{from_reader}"
    );
    // Other tests of this binary run beside this one; they need far less.
    assert!(allocated < 64 << 20, "{allocated} bytes");
}

#[test]
fn a_small_archive_cannot_claim_large_arrays() {
    let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1073741824,), }";
    let liar = npy_with(text, 10);
    for method in [
        zip::CompressionMethod::Stored,
        zip::CompressionMethod::Deflated,
    ] {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file("a.npy", options).unwrap();
        archive.write_all(&liar).unwrap();
        let file = archive.finish().unwrap();
        let error = npz::Reader::new(file).unwrap().array("a").unwrap_err();
        let lies = matches!(
            error.kind(),
            SerdeErrorKind::Truncated {
                expected: 1_073_741_824,
                found: 10,
                ..
            }
        );
        assert!(lies, "{error}");
    }
}

#[test]
fn shapes_that_overflow_are_an_error() {
    let huge = "18446744073709551615";
    let shapes = [
        format!("({huge}, {huge})"),
        format!("({huge},)"),
        "(4294967296, 4294967296, 4294967296)".to_owned(),
        format!("(0, {huge}, {huge})"),
        "(2305843009213693952,)".to_owned(),
    ];
    for_each_case(shapes, |shape| {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        match npy::read_from(&npy_with(&text, 64)[..]) {
            Err(error) if matches!(error.kind(), SerdeErrorKind::TooLarge { .. }) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

#[test]
fn malformed_headers_are_errors() {
    let tail = "'fortran_order': False, 'shape': (2,), }";
    let cases = [
        String::new(),
        "{".to_owned(),
        "{}".to_owned(),
        "[]".to_owned(),
        "{'descr': '<f4'}".to_owned(),
        "{'descr': '<f4', 'fortran_order': False}".to_owned(),
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}".to_owned(),
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)} x".to_owned(),
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}".to_owned(),
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}".to_owned(),
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}".to_owned(),
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}".to_owned(),
        format!("{{'descr': '<f4', 'descr': '<f4', {tail}"),
        format!("{{'more': 1, 'descr': '<f4', {tail}"),
        format!("{{'descr': 4, {tail}"),
        format!("{{'descr': '<f4, {tail}"),
        format!("{{'descr': '<\\x664', {tail}"),
        "{".repeat(60_000),
        "(".repeat(60_000),
        format!("{{'shape': {}", "(".repeat(60_000)),
    ];
    for_each_case(cases, |text| match npy::read_from(&npy_with(text, 8)[..]) {
        Err(error) if matches!(error.kind(), SerdeErrorKind::HeaderSyntax { .. }) => Ok(()),
        other => Err(format!("{other:?}")),
    });
}

#[test]
fn unusual_headers_that_are_right_are_read() {
    let cases = [
        "{\"shape\": (2L,), \"fortran_order\": True, \"descr\": \"<f4\"}\n",
        "{'descr':'f4','fortran_order':False,'shape':(2,)}",
        " { 'shape' : ( 2 , ) , 'descr' : '=f4' , 'fortran_order' : False } ",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2), }",
    ];
    for_each_case(cases, |text| match npy::read_from(&npy_with(text, 8)[..]) {
        Ok(array) if array.shape()[..] == [2] && array.dtype() == DType::F32 => Ok(()),
        other => Err(format!("{other:?}")),
    });
}

#[test]
fn bools_of_any_byte_are_read_and_written_as_zero_and_one() {
    let mut bytes = npy_with(
        "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }",
        0,
    );
    bytes.extend_from_slice(&[0, 1, 2, 255]);
    let array = npy::read_from(&bytes[..]).unwrap();
    assert_eq!(array.to_bytes().unwrap(), [0, 1, 1, 1]);
    // An array may hold any byte as well.
    array.buffer().write().unwrap().bytes_mut()[0] = 7;
    let mut written = Vec::new();
    npy::write_to(&mut written, &array).unwrap();
    assert_eq!(written[written.len() - 4..], [1, 1, 1, 1]);
}

#[test]
fn offsets_of_a_level_must_fit() {
    let rows = pattern(DType::F32, &[5, 2]);
    let of = |values: Vec<i64>| {
        let count = values.len();
        NdArray::from_vec(values, [count]).unwrap()
    };
    let cases = [
        ("descending", of(vec![0, 3, 2, 5])),
        ("not from 0", of(vec![1, 5])),
        ("too few rows", of(vec![0, 2, 4])),
        ("no offsets", of(vec![])),
        ("negative", of(vec![0, -1, 5])),
        ("floats", pattern(DType::F32, &[2])),
        ("bools", pattern(DType::Bool, &[2])),
        ("matrix", pattern(DType::I64, &[2, 1])),
    ];
    for_each_case(cases, |(_, offsets)| {
        // The writer refuses such names, so the archive is made by hand.
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, array) in [("x", &rows), ("x.lod0", offsets)] {
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(format!("{name}.npy"), options).unwrap();
            npy::write_to(&mut archive, array).unwrap();
        }
        let mut reader = npz::Reader::new(archive.finish().unwrap()).unwrap();
        match reader.lod_tensor("x") {
            Err(error) => match error.kind() {
                SerdeErrorKind::Lod { .. }
                | SerdeErrorKind::OffsetsType { level: 0, .. }
                | SerdeErrorKind::OffsetRange {
                    level: 0,
                    index: 1,
                    found: -1,
                } => Ok(()),
                _ => Err(error.to_string()),
            },
            Ok(tensor) => Err(format!("{tensor:?}")),
        }
    });
}

/// Gives one byte per call and an interruption before each, as a slow pipe may.
struct Trickle<'b> {
    bytes: &'b [u8],
    interrupt: bool,
}

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let length = into.len().min(1);
        (&mut self.bytes).take(1).read(&mut into[..length])
    }
}

#[test]
fn slow_and_interrupted_readers_are_fine() {
    let bytes = native_bytes();
    let trickle = Trickle {
        bytes: &bytes,
        interrupt: false,
    };
    let back = native::read_from(trickle)
        .unwrap()
        .into_lod_tensor()
        .unwrap();
    assert_eq!(back.lod(), tensor().lod());
}

/// A disk that is full after so many bytes.
struct FullDisk {
    written: Cursor<Vec<u8>>,
    room: u64,
}

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let end = self.written.position() + bytes.len() as u64;
        if end > self.room {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.written.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for FullDisk {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.written.seek(to)
    }
}

#[test]
fn a_disk_that_fills_up_is_an_error_at_every_byte() {
    let whole = npz_bytes(Compression::Stored).len() as u64;
    for_each_case((0..whole).step_by(7), |&room| {
        let written = Cursor::new(Vec::new());
        let mut writer = npz::Writer::new(FullDisk { written, room });
        let first = writer.lod_tensor("x", &tensor()).map(|_| ());
        let second = writer.array("a", &pattern(DType::F64, &[40])).map(|_| ());
        let abandoned = |error: &SerdeError| matches!(error.kind(), SerdeErrorKind::Abandoned);
        if first.is_err() && !second.as_ref().is_err_and(abandoned) {
            return Err(format!("went on after {first:?}: {second:?}"));
        }
        match writer.finish_writer() {
            Ok(_) => Err("was finished".to_owned()),
            Err(error) if second.is_err() && !abandoned(&error) => Err(error.to_string()),
            Err(_) => Ok(()),
        }
    });
    for_each_case(0..npy_bytes().len() as u64, |&room| {
        let written = Cursor::new(Vec::new());
        match npy::write_to(FullDisk { written, room }, &pattern(DType::F32, &[2, 3])) {
            Err(error) if matches!(error.kind(), SerdeErrorKind::Io { .. }) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let before = memory::stats().heap_bytes_allocated;
        for original in [npy_bytes(), native_bytes(), npz_bytes(Compression::Stored), npz_bytes(Compression::Deflated)] {
            let mut bytes = original;
            for (place, value) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *value;
            }
            let _ = npy::read_from(&bytes[..]);
            let _ = native::read_from(&bytes[..]);
            let _ = read_npz(&bytes);
        }
        // Other tests of this binary run beside this one; they need far less.
        prop_assert!(memory::stats().heap_bytes_allocated < before + (64 << 20));
    }

    #[test]
    fn garbage_after_a_right_beginning_never_panics(garbage in prop::collection::vec(any::<u8>(), 0..300)) {
        for beginning in [&b""[..], b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00", b"\x93LDS\r\n\x1a\n\x01\x00", b"PK\x03\x04", b"PK\x05\x06"] {
            let bytes = [beginning, &garbage[..]].concat();
            prop_assert!(npy::read_from(&bytes[..]).is_err());
            prop_assert!(native::read_from(&bytes[..]).is_err());
            let _ = read_npz(&bytes);
        }
    }

    #[test]
    fn header_texts_never_panic(text in "[{}()\\[\\]'\", :0-9A-Za-z<>|=\\\\]{0,200}") {
        let _ = npy::read_from(&npy_with(&text, 16)[..]);
    }
}
