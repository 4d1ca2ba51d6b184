//! Compressed arrays: what each codec keeps, in memory and in files, and wrong bytes as typed errors.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use lodestride_array::memory;
use lodestride_serde::{Codec, Compressed, DType, NdArray, Order, SerdeErrorKind, native};
use support::{Folder, every_case, for_each_case, kept_order, pattern, same, text};

const CODECS: [Codec; 7] = [
    Codec::Plain,
    Codec::Gzip,
    Codec::Float16,
    Codec::Int8,
    Codec::Int16,
    Codec::UInt8,
    Codec::Threshold(2.5),
];

fn bytes_of(compressed: &Compressed) -> Vec<u8> {
    let mut bytes = Vec::new();
    compressed.write_to(&mut bytes).unwrap();
    bytes
}

/// S10, S15 and S17: the pattern has whole numbers up to 127, which all codecs but the last keep.
#[test]
fn every_codec_keeps_small_numbers_of_every_dtype_and_layout() {
    let cases = every_case(&CODECS, |_, _| true).into_iter();
    let cases = cases.filter(|(_, _, _, array)| array.len() <= 128);
    for_each_case(cases, |(codec, dtype, _, array)| {
        let made = Compressed::new(array, *codec).map_err(text)?;
        let back = Compressed::read_from(&bytes_of(&made)[..]).map_err(text)?;
        if back != made || back.codec() != *codec || back.shape() != array.shape() {
            return Err(format!("{back:?} of {made:?}"));
        }
        let found = back.decompress().map_err(text)?;
        if let Codec::Threshold(limit) = codec {
            let expected = array.cast(DType::F64).and_then(|a| a.greater_equal(*limit));
            let expected =
                expected.and_then(|hits| hits.cast(DType::F64)?.mul(*limit)?.cast(*dtype));
            return same(&expected.map_err(text)?, &found);
        }
        same(array, &found)?;
        if found.order() != kept_order(array) && array.len() > 1 {
            return Err(format!("order {:?}", found.order()));
        }
        Ok(())
    });
}

/// O27 and what follows from it, beside a plain loop.
#[test]
fn narrow_codecs_end_at_their_limits() {
    let values = [
        1005.0f64, -3.7, 3.7, -1005.0, 0.5, -0.5, 127.0, 128.0, 255.5, 256.0, 1e300, -1e300,
        40000.0, -32769.0,
    ];
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
    let all: Vec<f64> = values.into_iter().chain(special).collect();
    let limits = [
        (Codec::Int8, -128.0, 127.0),
        (Codec::Int16, -32768.0, 32767.0),
        (Codec::UInt8, 0.0, 255.0),
    ];
    for (codec, low, high) in limits {
        for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
            let array = NdArray::from_vec(all.clone(), [all.len()]).unwrap();
            let array = array.cast(dtype).unwrap();
            let found = Compressed::new(&array, codec)
                .unwrap()
                .decompress()
                .unwrap();
            let values = array.cast(DType::F64).unwrap().to_vec::<f64>().unwrap();
            let expected = values.iter().map(|value| match value.is_nan() {
                true => 0.0,
                false => value.clamp(low, high).trunc(),
            });
            let expected = NdArray::from_vec(expected.collect::<Vec<f64>>(), [all.len()]).unwrap();
            let expected = expected.cast(dtype).unwrap();
            assert_eq!(found, expected, "{array:?} as {}", codec.name());
        }
        // Integers of every width too.
        let wide = NdArray::from([i64::MIN, -129, 300, i64::MAX]);
        let found = Compressed::new(&wide, codec).unwrap().decompress().unwrap();
        let expected = [i64::MIN, -129, 300, i64::MAX].map(|n| n.clamp(low as i64, high as i64));
        assert_eq!(found.to_vec::<i64>().unwrap(), expected);
    }
    let signs = NdArray::from([0.5f32, -0.5, 0.49, f32::NAN, f32::NEG_INFINITY]);
    let found = Compressed::new(&signs, Codec::Threshold(0.5)).unwrap();
    assert_eq!(
        found.decompress().unwrap().to_vec::<f32>().unwrap(),
        [0.5, -0.5, 0.0, 0.0, -0.5]
    );
    let half = Compressed::new(&NdArray::from([0.1f32, 1e6]), Codec::Float16).unwrap();
    let half = half.decompress().unwrap().to_vec::<f32>().unwrap();
    assert!((half[0] - 0.1).abs() < 1e-4 && half[1] == f32::INFINITY);
    for limit in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Compressed::new(&signs, Codec::Threshold(limit)).unwrap_err();
        assert!(
            matches!(error.kind(), SerdeErrorKind::BadThreshold { .. }),
            "{error}"
        );
    }
}

#[test]
fn large_arrays_shrink_and_come_back() {
    let zeros = NdArray::zeros([10_000_000]).unwrap();
    let gzip = Compressed::new(&zeros, Codec::Gzip).unwrap();
    assert!(
        gzip.ratio() > 500.0 && Codec::Gzip.is_lossless(),
        "{gzip:?}"
    );
    same(&zeros, &gzip.decompress().unwrap()).unwrap();
    let sparse = NdArray::zeros([3000]).unwrap();
    for place in [0isize, 1023, 1024, 2999] {
        sparse.set([place], -4.0).unwrap();
    }
    let small = Compressed::new(&sparse, Codec::Threshold(4.0)).unwrap();
    assert_eq!(small.bytes().len(), 2 * (3 + 4));
    same(&sparse, &small.decompress().unwrap()).unwrap();
    assert_eq!(format!("{small:?}"), "f32 [3000] as THRESHOLD in 14 bytes");
}

#[test]
fn native_files_take_compressed_arrays() {
    let folder = Folder::new("compressed");
    let path = folder.0.join("a.lds");
    let a = pattern(DType::F32, &[30, 20]).dup_order(Order::F).unwrap();
    Compressed::new(&a, Codec::Gzip)
        .unwrap()
        .write(&path)
        .unwrap();
    same(&a, native::read(&path).unwrap().data()).unwrap();
    same(
        &a,
        native::from_bytes(fs::read(&path).unwrap()).unwrap().data(),
    )
    .unwrap();
    #[cfg(feature = "mmap")]
    same(&a, native::open_mapped(&path).unwrap().data()).unwrap();
    assert_eq!(
        native::read_header(&path).unwrap().to_string(),
        "f32 [30, 20] F"
    );
    assert_eq!(Compressed::read(&path).unwrap().order(), Order::F);
    native::write(&path, &a).unwrap();
    let error = Compressed::read(&path).unwrap_err();
    assert!(
        matches!(
            error.kind(),
            SerdeErrorKind::HeaderField {
                field: "the kind",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn files_cut_or_changed_anywhere_are_errors() {
    for codec in CODECS {
        let whole = bytes_of(&Compressed::new(&pattern(DType::F32, &[5]), codec).unwrap());
        for_each_case(0..whole.len(), |&place| {
            let mut changed = whole.clone();
            changed[place] ^= 0x10;
            for bytes in [&whole[..place], &changed] {
                if Compressed::read_from(bytes).is_ok() || native::read_from(bytes).is_ok() {
                    return Err(format!("was read, {} bytes", bytes.len()));
                }
            }
            Ok(())
        });
    }
}

/// A file whose header claims another size than the bytes are for, with right checksums.
#[test]
fn claims_beyond_the_bytes_are_errors_and_cost_no_memory() {
    let claim = |codec, size: u64| {
        let mut bytes = bytes_of(&Compressed::new(&pattern(DType::F32, &[40]), codec).unwrap());
        bytes[16..24].copy_from_slice(&size.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..24]).to_le_bytes();
        bytes[24..28].copy_from_slice(&checksum);
        bytes
    };
    let cases: Vec<_> = CODECS
        .into_iter()
        .flat_map(|codec| [0, 39, 41, 1025, 1 << 40, 1 << 61].map(|size| (codec, size)))
        .collect();
    for_each_case(cases, |&(codec, size)| {
        // Of the places of 40 elements it cannot be told that there were 41, nor 39 when the last is none.
        if matches!(codec, Codec::Threshold(_)) && size <= 1024 && size > 39 {
            return Ok(());
        }
        let before = memory::stats().heap_bytes_allocated;
        let Err(error) = native::read_from(&claim(codec, size)[..]) else {
            return Err("was read".to_owned());
        };
        let allocated = memory::stats().heap_bytes_allocated - before;
        let typed = matches!(
            error.kind(),
            SerdeErrorKind::Truncated { .. }
                | SerdeErrorKind::Trailing { .. }
                | SerdeErrorKind::TooLarge { .. }
                | SerdeErrorKind::Damaged { .. }
        );
        if typed && allocated < 4 << 20 {
            Ok(())
        } else {
            Err(format!("{allocated} bytes, {error}"))
        }
    });
}
