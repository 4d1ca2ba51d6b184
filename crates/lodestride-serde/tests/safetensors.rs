//! The safetensors format: round trips, a file by another hand, wrong files.
#![cfg(feature = "safetensors")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::memory;
use lodestride_serde::{DType, NdArray, SerdeErrorKind, safetensors};
use proptest::prelude::*;
use support::{Folder, every_case, for_each_case, pattern, same, text};

/// Eight bytes of length, the header, the data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), data].concat()
}

#[test]
fn every_dtype_and_layout_comes_back_in_c_order() {
    let cases = every_case(&["safetensors"], |_, _| true);
    for_each_case(cases, |(_, _, name, array)| {
        let mut bytes = Vec::new();
        let other = NdArray::from([1u8, 2, 3]);
        safetensors::write_to(&mut bytes, [(name.as_str(), array), ("other", &other)])
            .map_err(text)?;
        let back = safetensors::read_from(&bytes[..]).map_err(text)?;
        same(&other, &back["other"])?;
        same(array, &back[name.as_str()])
    });
}

#[test]
fn files_of_others_are_read() {
    let header = r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"n":{"dtype":"I64","shape":[],"data_offsets":[8,16]}}"#;
    let data = [
        &1.5f32.to_le_bytes()[..],
        &(-2f32).to_le_bytes(),
        &7i64.to_le_bytes(),
    ]
    .concat();
    let folder = Folder::new("safetensors");
    let path = folder.0.join("model.safetensors");
    std::fs::write(&path, file(header, &data)).unwrap();
    let arrays = safetensors::read(&path).unwrap();
    assert_eq!(arrays.keys().collect::<Vec<_>>(), ["n", "w"]);
    assert_eq!(
        (
            &arrays["w"].shape()[..],
            arrays["w"].to_vec::<f32>().unwrap()
        ),
        (&[1, 2][..], vec![1.5, -2.0])
    );
    assert_eq!(arrays["n"].item::<i64>().unwrap(), 7);
    safetensors::write(
        &path,
        arrays.iter().map(|(name, array)| (name.as_str(), array)),
    )
    .unwrap();
    same(&arrays["w"], &safetensors::read(&path).unwrap()["w"]).unwrap();
    assert_eq!(folder.names(), ["model.safetensors"]);
}

#[test]
fn wrong_files_are_errors() {
    let of = |header: &str| file(header, &[0; 8]);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "the data is damaged"),
        (b"\x93NUMPY\x01\x00".to_vec(), "the data is damaged"),
        (of("{"), "the data is damaged"),
        (
            of(r#"{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#),
            "the data is damaged",
        ),
        (
            of(r#"{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#),
            "the data is damaged",
        ),
        (
            of(r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#),
            "the data is damaged",
        ),
        (
            of(r#"{"w":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}}"#),
            "the header is malformed: expected an element type",
        ),
        (
            of(r#"{"w":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}"#),
            "the header is malformed: expected an element type",
        ),
        (u64::MAX.to_le_bytes().repeat(2), "the data is damaged"),
    ];
    for_each_case(cases, |(bytes, expected)| {
        let before = memory::stats().heap_bytes_allocated;
        let Err(error) = safetensors::read_from(&bytes[..]) else {
            return Err("was read".to_owned());
        };
        let small = memory::stats().heap_bytes_allocated - before < 1 << 20;
        if small && error.to_string().starts_with(expected) {
            Ok(())
        } else {
            Err(error.to_string())
        }
    });
    let a = pattern(DType::F32, &[2]);
    let error = safetensors::write_to(Vec::new(), [("a", &a), ("a", &a)]).unwrap_err();
    assert!(
        matches!(error.kind(), SerdeErrorKind::DuplicateName { .. }),
        "{error}"
    );
    let mut whole = Vec::new();
    safetensors::write_to(&mut whole, [("a", &a)]).unwrap();
    for_each_case(0..whole.len(), |&length| {
        match safetensors::read_from(&whole[..length]) {
            Ok(_) => Err("was read".to_owned()),
            Err(_) => Ok(()),
        }
    });
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(header in ".{0,80}", data in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = safetensors::read_from(&file(&header, &data)[..]);
        let _ = safetensors::read_from(&data[..]);
    }
}
