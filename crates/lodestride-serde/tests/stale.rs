//! Every writer is given an array of a closed workspace, of a reopened one, and one that is being written to: each is refused by
//! the same error as in a computation, nothing is written, and the file that was there stays.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use lodestride_array::{AccessError, Argument, Workspace, s, scope_out};
use lodestride_lod::lengths;
use lodestride_serde::{
    Codec, Compressed, DType, LodTensor, NdArray, Order, SerdeError, SerdeErrorKind, csv, native,
    npy, npz, txt,
};
use support::{Folder, pattern};

type Result = std::result::Result<(), SerdeError>;

/// A writer: its name, into a file, and into memory. Arrays have four rows.
type Writer = (
    &'static str,
    fn(&Path, &NdArray) -> Result,
    fn(&mut Vec<u8>, &NdArray) -> Result,
);

const WRITERS: &[Writer] = &[
    (
        "npy",
        |path, a| npy::write(path, a),
        |sink, a| npy::write_to(sink, a),
    ),
    (
        "native",
        |path, a| native::write(path, a),
        |sink, a| native::write_to(sink, a),
    ),
    (
        "native::to_bytes",
        |_, a| native::to_bytes(a).map(drop),
        |sink, a| native::to_bytes(a).map(|bytes| sink.extend(bytes)),
    ),
    (
        "native, LoD tensor",
        |path, a| native::write(path, &grouped(a)?),
        |sink, a| native::write_to(sink, &grouped(a)?),
    ),
    (
        "txt",
        |path, a| txt::write(path, a),
        |sink, a| txt::write_to(sink, a),
    ),
    (
        "csv",
        |path, a| csv::write(path, a),
        |sink, a| table().write_to(sink, a),
    ),
    (
        "csv with names",
        |path, a| table().names(["a", "b", "c"]).write(path, a),
        |sink, a| table().names(["a", "b", "c"]).write_to(sink, a),
    ),
    (
        "npz",
        |path, a| {
            let mut writer = npz::Writer::create(path)?;
            writer.array("a", a)?;
            writer.finish()
        },
        |sink, a| {
            archive(sink, npz::Compression::Stored, |writer| {
                writer.array("a", a).map(drop)
            })
        },
    ),
    (
        "npz, deflated",
        |path, a| {
            let mut writer = npz::Writer::create(path)?.compression(npz::Compression::Deflated);
            writer.put("a", a)?;
            writer.finish()
        },
        |sink, a| {
            archive(sink, npz::Compression::Deflated, |writer| {
                writer.put("a", a).map(drop)
            })
        },
    ),
    (
        "npz, LoD tensor",
        |path, a| {
            let mut writer = npz::Writer::create(path)?;
            writer.lod_tensor("a", &grouped(a)?)?;
            writer.finish()
        },
        |sink, a| {
            let tensor = grouped(a)?;
            archive(sink, npz::Compression::Stored, |writer| {
                writer.lod_tensor("a", &tensor).map(drop)
            })
        },
    ),
    #[cfg(feature = "safetensors")]
    (
        "safetensors",
        |path, a| lodestride_serde::safetensors::write(path, [("good", &good()), ("a", a)]),
        |sink, a| lodestride_serde::safetensors::write_to(sink, [("good", &good()), ("a", a)]),
    ),
];

fn table() -> csv::Options {
    csv::Options::new()
}

fn good() -> NdArray {
    pattern(DType::F32, &[4, 3])
}

fn grouped(array: &NdArray) -> std::result::Result<LodTensor, SerdeError> {
    Ok(LodTensor::new(array.clone(), lengths![[1, 3]])?)
}

/// What an archive got of what `add` adds; nothing where that fails.
fn archive(
    sink: &mut Vec<u8>,
    compression: npz::Compression,
    add: impl FnOnce(&mut npz::Writer<Cursor<Vec<u8>>>) -> Result,
) -> Result {
    let mut writer = npz::Writer::new(Cursor::new(Vec::new())).compression(compression);
    add(&mut writer)?;
    sink.extend(writer.finish_writer()?.into_inner());
    Ok(())
}

/// Arrays of every way to the elements: as they lie, in F order, strided, and with another dtype.
fn made(layout: &str) -> NdArray {
    let whole = pattern(DType::F32, &[4, 3]);
    match layout {
        "C" => whole.dup().unwrap(),
        "F" => whole.dup_order(Order::F).unwrap(),
        "bool" => pattern(DType::Bool, &[4, 3]).dup().unwrap(),
        _ => pattern(DType::F32, &[4, 6])
            .dup()
            .unwrap()
            .get(&s![.., ..;2])
            .unwrap(),
    }
}

const LAYOUTS: [&str; 4] = ["C", "F", "bool", "strided"];

/// What is wrong with a refusal.
fn fault(done: Result, op: &str, wanted: &str) -> Option<String> {
    let Err(error) = done else {
        return Some("was done".to_owned());
    };
    let SerdeErrorKind::Array { source } = error.kind() else {
        return Some(format!("another error: {error}"));
    };
    let Some((found, argument, why)) = source.kind().access() else {
        return Some(format!("another error: {error}"));
    };
    let name = match why {
        AccessError::Leaked(_) => "leaked",
        AccessError::Outdated(_) => "outdated",
        AccessError::InUse(_) => "in use",
        AccessError::ReadOnly(_) => "read-only",
    };
    let here = error.location().file().ends_with("stale.rs");
    let fits = found == op && argument == Argument::X && name == wanted && here;
    let text = error.to_string();
    let named = text.starts_with(&format!("Op [{op}] X argument")) && text.contains("help:");
    (!fits || !named).then(|| format!("{name} as {found} {argument:?}: {text}"))
}

/// Calls with an array that must be refused, whichever of the ways it may not be read.
fn refusals(layout: &str, call: &mut dyn FnMut(&NdArray, &str)) {
    let workspace = Workspace::new("SWEPT");
    let stale = workspace.scope(|_| made(layout)).unwrap();
    call(&stale, "leaked");
    workspace
        .scope(|_| scope_out(|| call(&stale, "outdated")))
        .unwrap();
    let held = made(layout);
    let guard = held.buffer().write().unwrap();
    call(&held, "in use");
    drop(guard);
}

#[test]
fn no_writer_takes_what_may_not_be_read() {
    let folder = Folder::new("stale-writers");
    let path = folder.0.join("old");
    let (mut checked, mut failures) = (0, Vec::new());
    for &(name, file, memory) in WRITERS {
        for layout in LAYOUTS {
            refusals(layout, &mut |array, wanted| {
                checked += 1;
                fs::write(&path, b"what was there").unwrap();
                let mut sink = b"before".to_vec();
                let faults = [
                    fault(file(&path, array), "write", wanted),
                    fault(memory(&mut sink, array), "write", wanted),
                    (fs::read(&path).unwrap() != b"what was there")
                        .then(|| "the file is another".to_owned()),
                    (sink != b"before").then(|| format!("{} bytes were written", sink.len() - 6)),
                    (fs::read_dir(path.parent().unwrap()).unwrap().count() != 1)
                        .then(|| "a temporary file is left".to_owned()),
                ];
                for fault in faults.into_iter().flatten() {
                    failures.push(format!("{name}, {layout}, {wanted}: {fault}"));
                }
            });
            // With nothing stale it is done.
            let (mut sink, array) = (Vec::new(), made(layout));
            if let Err(error) = file(&path, &array).and_then(|()| memory(&mut sink, &array)) {
                failures.push(format!("{name}, {layout}: {error}"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {checked}:\n{}",
        failures.len(),
        failures[..failures.len().min(20)].join("\n")
    );
    assert!(checked >= 10 * 4 * 3, "{checked}");
}

#[test]
fn what_may_not_be_read_is_not_compressed() {
    let codecs = [
        Codec::Plain,
        Codec::Gzip,
        Codec::Float16,
        Codec::Int8,
        Codec::Int16,
        Codec::UInt8,
        Codec::Threshold(0.5),
    ];
    let mut failures = Vec::new();
    for codec in codecs {
        for layout in LAYOUTS {
            refusals(layout, &mut |array, wanted| {
                let done = Compressed::new(array, codec).map(drop);
                let fault = fault(done, "Compressed::new", wanted);
                failures.extend(fault.map(|fault| format!("{codec:?}, {layout}: {fault}")));
            });
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The refused array leaves no trace, and what came before and comes after it is there.
#[test]
fn an_archive_goes_on_after_a_refusal() {
    for compression in [npz::Compression::Stored, npz::Compression::Deflated] {
        for layout in LAYOUTS {
            refusals(layout, &mut |array, _| {
                let file = Cursor::new(Vec::new());
                let mut writer = npz::Writer::new(file).compression(compression);
                writer.array("first", &good()).unwrap();
                let error = writer.array("a", array).map(drop).unwrap_err();
                assert_eq!(error.entry(), Some("a.npy"));
                writer.array("a", &good()).unwrap();
                let mut reader = npz::Reader::new(writer.finish_writer().unwrap()).unwrap();
                assert_eq!(reader.names().collect::<Vec<_>>(), ["first", "a"]);
                assert_eq!(reader.array("a").unwrap(), good());
            });
        }
    }
}
