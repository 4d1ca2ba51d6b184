//! What is written comes back: every dtype, every kind of layout, every format, through memory and through files.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Cursor;

use lodestride_lod::{LodTensor, lengths};
use lodestride_serde::npz::Compression;
use lodestride_serde::{DType, NdArray, Stored, native, npy, npz};
use support::{Folder, every_case, for_each_case, kept_order, pattern, same, text};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Via {
    Npy,
    NpzStored,
    NpzDeflated,
    Native,
}

const ALL: [Via; 4] = [Via::Npy, Via::NpzStored, Via::NpzDeflated, Via::Native];

fn there_and_back(via: Via, array: &NdArray) -> Result<NdArray, String> {
    match via {
        Via::Npy => {
            let mut bytes = Vec::new();
            npy::write_to(&mut bytes, array).map_err(text)?;
            npy::read_from(&bytes[..]).map_err(text)
        }
        Via::Native => {
            let mut bytes = Vec::new();
            native::write_to(&mut bytes, array).map_err(text)?;
            let stored = native::read_from(&bytes[..]).map_err(text)?;
            stored.into_array().map_err(text)
        }
        Via::NpzStored | Via::NpzDeflated => {
            let compression = if via == Via::NpzStored {
                Compression::Stored
            } else {
                Compression::Deflated
            };
            let mut writer = npz::Writer::new(Cursor::new(Vec::new())).compression(compression);
            writer.array("a", array).map_err(text)?;
            let file = writer.finish_writer().map_err(text)?;
            npz::Reader::new(file)
                .and_then(|mut reader| reader.array("a"))
                .map_err(text)
        }
    }
}

#[test]
fn every_dtype_and_layout_comes_back_in_its_order() {
    let cases = every_case(&ALL, |via, dtype| {
        via == Via::Native || dtype != DType::BF16
    });
    for_each_case(cases, |(via, _, _, array)| {
        let back = there_and_back(*via, array)?;
        same(array, &back)?;
        if back.order() != kept_order(array) || back.is_view() {
            return Err(format!(
                "order {:?}, view {}; expected order {:?}",
                back.order(),
                back.is_view(),
                kept_order(array)
            ));
        }
        Ok(())
    });
}

#[test]
fn large_blocks_cross_every_piece_boundary() {
    // Larger than the pieces of reader and writer and than what is believed of a source without a length, and no multiple of them.
    let array = NdArray::from_vec((0..700_001u64).collect(), [700_001]).unwrap();
    for_each_case(ALL, |via| same(&array, &there_and_back(*via, &array)?));
    let flags = pattern(DType::Bool, &[1_300_003]);
    for_each_case(ALL, |via| same(&flags, &there_and_back(*via, &flags)?));
}

#[test]
fn special_floats_keep_their_bits() {
    let bits = [0x7fc0_0001_u32, 0xff80_0000, 0x8000_0000, 1, 0x7f7f_ffff];
    let values: Vec<f32> = bits.iter().map(|&b| f32::from_bits(b)).collect();
    let array = NdArray::from_vec(values, [5]).unwrap();
    for_each_case(ALL, |via| same(&array, &there_and_back(*via, &array)?));
}

#[test]
fn files_are_read_back_and_leave_nothing_else() {
    let folder = Folder::new("files");
    let array = pattern(DType::F32, &[3, 4]);
    npy::write(folder.0.join("a.npy"), &array).unwrap();
    native::write(folder.0.join("a.lds"), &array).unwrap();
    let mut writer = npz::Writer::create(folder.0.join("a.npz")).unwrap();
    writer.array("a", &array).unwrap();
    writer.finish().unwrap();
    assert_eq!(folder.names(), ["a.lds", "a.npy", "a.npz"]);
    same(&array, &npy::read(folder.0.join("a.npy")).unwrap()).unwrap();
    let native = native::read(folder.0.join("a.lds")).unwrap();
    same(&array, native.data()).unwrap();
    let mut reader = npz::Reader::open(folder.0.join("a.npz")).unwrap();
    same(&array, &reader.array("a").unwrap()).unwrap();
}

#[test]
fn lod_tensors_come_back_at_every_depth() {
    let rows = pattern(DType::F32, &[6, 2]);
    let cases = [
        lengths![],
        lengths![[6]],
        lengths![[1, 0, 5]],
        lengths![[2, 1], [1, 3, 2]],
        lengths![[1, 1], [0, 2], [4, 2]],
    ];
    for_each_case(cases, |lengths| {
        let tensor = LodTensor::new(rows.clone(), lengths.clone()).map_err(text)?;
        let mut bytes = Vec::new();
        native::write_to(&mut bytes, &tensor).map_err(text)?;
        let Stored::Lod(native) = native::read_from(&bytes[..]).map_err(text)? else {
            return Err("native: read as a plain array".to_owned());
        };
        let mut writer = npz::Writer::new(Cursor::new(Vec::new()));
        writer.lod_tensor("x", &tensor).map_err(text)?;
        let mut reader = npz::Reader::new(writer.finish_writer().map_err(text)?).map_err(text)?;
        let from_npz = reader.lod_tensor("x").map_err(text)?;
        for back in [native, from_npz] {
            same(&rows, back.data())?;
            if back.lod() != tensor.lod() {
                return Err(format!(
                    "came back as {:?}",
                    back.recursive_sequence_lengths()
                ));
            }
        }
        if reader.names().collect::<Vec<_>>() != ["x"] || reader.lod_level("x") != lengths.depth() {
            return Err(format!("{:?}", reader.names().collect::<Vec<_>>()));
        }
        Ok(())
    });
}

#[test]
fn zero_sequences_come_back() {
    let tensor = LodTensor::new(pattern(DType::I64, &[0, 3]), lengths![[]]).unwrap();
    let mut bytes = Vec::new();
    native::write_to(&mut bytes, &tensor).unwrap();
    let back = native::read_from(&bytes[..])
        .unwrap()
        .into_lod_tensor()
        .unwrap();
    assert_eq!(back.recursive_sequence_lengths(), lengths![[]]);
    assert_eq!(back.shape()[..], [0, 3]);
}

#[test]
fn values_follow_each_other_in_one_stream() {
    let (a, b) = (pattern(DType::F32, &[2, 2]), pattern(DType::I8, &[3]));
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, &a).unwrap();
    npy::write_to(&mut bytes, &b).unwrap();
    let mut rest = &bytes[..];
    same(&a, &npy::read_from(&mut rest).unwrap()).unwrap();
    same(&b, &npy::read_from(&mut rest).unwrap()).unwrap();
    assert!(rest.is_empty());

    bytes.clear();
    native::write_to(&mut bytes, &a).unwrap();
    native::write_to(&mut bytes, &b).unwrap();
    let mut rest = &bytes[..];
    same(&a, native::read_from(&mut rest).unwrap().data()).unwrap();
    same(&b, native::read_from(&mut rest).unwrap().data()).unwrap();
    assert!(rest.is_empty());
}

#[test]
fn blocks_of_elements_are_aligned_in_every_format() {
    let array = pattern(DType::F64, &[3]);
    let block = array.to_bytes().unwrap();
    let place = |bytes: &[u8]| {
        bytes
            .windows(block.len())
            .position(|window| window == block)
    };
    let mut npy = Vec::new();
    npy::write_to(&mut npy, &array).unwrap();
    let mut native = Vec::new();
    let tensor = LodTensor::new(array.clone(), lengths![[1, 2]]).unwrap();
    native::write_to(&mut native, &tensor).unwrap();
    let mut writer = npz::Writer::new(Cursor::new(Vec::new()));
    let names = ["a", "a longer name", "c"];
    for name in names {
        writer.array(name, &array).unwrap();
    }
    let npz = writer.finish_writer().unwrap().into_inner();
    for bytes in [&npy, &native] {
        assert_eq!(place(bytes).unwrap() % 64, 0);
    }
    let mut start = 0;
    for _ in names {
        let at = start + place(&npz[start..]).unwrap();
        assert_eq!(at % 64, 0);
        start = at + 1;
    }
}

#[test]
fn arrays_are_read_into_an_open_workspace_and_written_without_it() {
    use lodestride_array::Workspace;
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, &pattern(DType::F32, &[8, 8])).unwrap();
    let workspace = Workspace::new("READING");
    let stale = workspace
        .scope(|_| {
            let array = npy::read_from(&bytes[..]).unwrap();
            assert!(array.is_attached());
            let mut again = Vec::new();
            npy::write_to(
                &mut again,
                &array.transpose().get(&lodestride_array::s![..;2]).unwrap(),
            )
            .unwrap();
            array
        })
        .unwrap();
    let error = npy::write_to(Vec::new(), &stale).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "Op [write] X argument uses leaked workspace pointer from workspace [READING]"
        ),
        "{text}"
    );
}
