//! Files written by NumPy itself (testdata/make_fixtures.py), and headers compared with an independent parser.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use lodestride_lod::lengths;
use lodestride_serde::{DType, NdArray, Order, SerdeErrorKind, TypeReason, npy, npz};
use support::{fixture, for_each_case, pattern, same, text};

fn read(name: &str) -> Result<NdArray, String> {
    npy::read(fixture(&format!("{name}.npy"))).map_err(text)
}

#[test]
fn every_element_type_of_numpy() {
    let cases = [
        ("bool", DType::Bool),
        ("uint8", DType::U8),
        ("int8", DType::I8),
        ("uint16", DType::U16),
        ("int16", DType::I16),
        ("uint32", DType::U32),
        ("int32", DType::I32),
        ("uint64", DType::U64),
        ("int64", DType::I64),
        ("float16", DType::F16),
        ("float32", DType::F32),
        ("float64", DType::F64),
        ("big_uint16", DType::U16),
        ("big_int32", DType::I32),
        ("big_float16", DType::F16),
        ("big_float32", DType::F32),
        ("big_float64", DType::F64),
    ];
    for_each_case(cases, |&(name, dtype)| {
        same(&pattern(dtype, &[2, 3]), &read(name)?)
    });
}

#[test]
fn orders_shapes_and_versions() {
    let strided: Vec<i32> = [3, 2, 1, 0, 11, 10, 9, 8, 19, 18, 17, 16].to_vec();
    let negatives = vec![-0.0f64, -1.0, -2.0, -3.0];
    let cases = [
        ("fortran", pattern(DType::F32, &[2, 3, 4]), Order::F),
        ("big_fortran", pattern(DType::F64, &[3, 2]), Order::F),
        ("scalar", NdArray::scalar(2.5f64).unwrap(), Order::C),
        ("empty", pattern(DType::F32, &[3, 0, 2]), Order::C),
        ("vector", pattern(DType::F32, &[5]), Order::C),
        (
            "strided",
            NdArray::from_vec(strided, [3, 4]).unwrap(),
            Order::C,
        ),
        (
            "negatives",
            NdArray::from_vec(negatives, [4]).unwrap(),
            Order::C,
        ),
        ("version2", pattern(DType::F32, &[2, 2]), Order::C),
        ("version3", pattern(DType::F32, &[2, 2]), Order::C),
    ];
    for_each_case(cases, |(name, expected, order)| {
        let found = read(name)?;
        same(expected, &found)?;
        if found.order() != Some(*order) {
            return Err(format!("order {:?}", found.order()));
        }
        Ok(())
    });
}

#[test]
fn what_has_no_dtype_is_refused_by_name() {
    let cases = [
        (
            "structured",
            TypeReason::Structured,
            "[('x', '<f4'), ('y', '<i4', (3,))]",
        ),
        ("text", TypeReason::Text, "'<U2'"),
        ("bytes", TypeReason::Text, "'|S2'"),
        ("complex", TypeReason::Complex, "'<c8'"),
        ("time", TypeReason::Time, "'<M8[s]'"),
        ("opaque", TypeReason::Opaque, "'|V2'"),
        ("long_double", TypeReason::Size, "'<f16'"),
        ("objects", TypeReason::Objects, "'|O'"),
    ];
    for_each_case(cases, |&(name, expected, shown)| {
        let Err(error) = npy::read(fixture(&format!("refused_{name}.npy"))) else {
            return Err("was read".to_owned());
        };
        match error.kind() {
            SerdeErrorKind::UnsupportedType { descr, reason }
                if *reason == expected && descr.replace("\\'", "'").starts_with(shown) =>
            {
                Ok(())
            }
            _ => Err(error.to_string()),
        }
    });
}

#[test]
fn archives_stored_and_deflated() {
    for_each_case(["stored.npz", "deflated.npz"], |name| {
        let mut reader = npz::Reader::open(fixture(name)).map_err(text)?;
        let names: Vec<String> = reader.names().map(str::to_owned).collect();
        if names != ["a", "ids", "f", "x"] {
            return Err(format!("names {names:?}"));
        }
        same(
            &pattern(DType::F32, &[2, 3]),
            &reader.array("a").map_err(text)?,
        )?;
        same(
            &pattern(DType::I64, &[4]),
            &reader.array("ids").map_err(text)?,
        )?;
        let fortran = reader.array("f").map_err(text)?;
        same(&pattern(DType::F64, &[3, 2]), &fortran)?;
        let x = reader.lod_tensor("x").map_err(text)?;
        same(&pattern(DType::F32, &[5, 2]), x.data())?;
        if fortran.order() != Some(Order::F)
            || x.recursive_sequence_lengths() != lengths![[2, 1], [1, 3, 1]]
        {
            return Err(format!("{fortran:?} {:?}", x.recursive_sequence_lengths()));
        }
        let all = reader.read_all().map_err(text)?;
        if all.len() != 4 || reader.array("x.lod0").map_err(text)?.len() != 3 {
            return Err("read_all or the offsets as an array".to_owned());
        }
        Ok(())
    });
}

#[test]
fn headers_we_write_mean_the_same_to_another_parser() {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        if dtype != DType::BF16 {
            cases.extend(
                support::layouts(dtype)
                    .into_iter()
                    .map(|(name, a)| (dtype, name, a)),
            );
        }
    }
    for_each_case(cases, |(_, _, array)| {
        let mut bytes = Vec::new();
        npy::write_to(&mut bytes, array).map_err(text)?;
        let mut rest = &bytes[..];
        let header = npyz::NpyHeader::from_reader(&mut rest).map_err(text)?;
        let shape: Vec<usize> = header.shape().iter().map(|&size| size as usize).collect();
        let fortran = header.order() == npyz::Order::Fortran;
        let size = header.dtype().num_bytes();
        let begins = bytes.len() - rest.len();
        if shape != array.shape()[..]
            || fortran != (array.order() == Some(Order::F))
            || size != Some(array.dtype().size())
            || rest.len() != array.len() * array.dtype().size()
            || begins % 64 != 0
        {
            return Err(format!(
                "shape {shape:?}, fortran {fortran}, size {size:?}, begins at {begins}"
            ));
        }
        Ok(())
    });
}

#[test]
fn what_we_write_of_a_fixture_is_what_numpy_wrote() {
    // Byte for byte, which pins the exact form of header and padding.
    let names = [
        "bool", "uint8", "int64", "float16", "float64", "fortran", "scalar", "empty", "vector",
    ];
    for_each_case(names, |name| {
        let original = fs::read(fixture(&format!("{name}.npy"))).map_err(text)?;
        let mut ours = Vec::new();
        npy::write_to(&mut ours, &read(name)?).map_err(text)?;
        if ours != original {
            return Err(format!("{}", ours[..ours.len().min(128)].escape_ascii()));
        }
        Ok(())
    });
}
