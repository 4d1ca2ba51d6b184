//! The stream of `Nd4j.write`, of all its generations: read with dtype, order and strides; wrong ones are typed errors.
#![expect(clippy::too_many_lines, reason = "tables of cases")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{AllocationPolicy, Workspace, WorkspaceConfig, scope_out};
use lodestride_serde::{DType, NdArray, Order, SerdeErrorKind, csv, native, nd4j, npy, txt};
use support::{Folder, for_each_case, pattern, same, text};

/// What `Nd4j.write` makes, told from its Java code: the shape block, then the elements.
fn nd4j_stream(
    mode: &str,
    dtype: &str,
    shape: &[i64],
    strides: &[i64],
    order: char,
    data: &[u8],
    count: u64,
) -> Vec<u8> {
    let wide = matches!(mode, "LONG_SHAPE" | "MIXED_DATA_TYPES");
    let mut stream = Vec::new();
    let text = |stream: &mut Vec<u8>, text: &str| {
        stream.extend_from_slice(&u16::try_from(text.len()).unwrap().to_be_bytes());
        stream.extend_from_slice(text.as_bytes());
    };
    let head = |stream: &mut Vec<u8>, count: u64, dtype: &str| {
        text(stream, mode);
        if wide {
            stream.extend_from_slice(&count.to_be_bytes());
        } else {
            stream.extend_from_slice(&u32::try_from(count).unwrap().to_be_bytes());
        }
        text(stream, dtype);
    };
    let numbers = [
        &[shape.len() as i64],
        shape,
        strides,
        &[0, 1, i64::from(u32::from(order))],
    ]
    .concat();
    head(
        &mut stream,
        numbers.len() as u64,
        if wide { "LONG" } else { "INT" },
    );
    for number in numbers {
        if wide {
            stream.extend_from_slice(&number.to_be_bytes());
        } else {
            stream.extend_from_slice(&i32::try_from(number).unwrap().to_be_bytes());
        }
    }
    head(&mut stream, count, dtype);
    stream.extend_from_slice(data);
    stream
}

fn big_endian(array: &NdArray) -> Vec<u8> {
    let mut bytes = array.to_bytes().unwrap();
    bytes
        .chunks_mut(array.dtype().size())
        .for_each(<[u8]>::reverse);
    bytes
}

#[test]
fn streams_of_nd4j_are_read() {
    let types = [
        ("DOUBLE", DType::F64),
        ("FLOAT", DType::F32),
        ("HALF", DType::F16),
        ("BFLOAT16", DType::BF16),
        ("LONG", DType::I64),
        ("INT", DType::I32),
        ("SHORT", DType::I16),
        ("BYTE", DType::I8),
        ("UBYTE", DType::U8),
        ("UINT16", DType::U16),
        ("UINT32", DType::U32),
        ("UINT64", DType::U64),
        ("BOOL", DType::Bool),
    ];
    for mode in [
        "DIRECT",
        "HEAP",
        "JAVACPP",
        "LONG_SHAPE",
        "MIXED_DATA_TYPES",
    ] {
        for_each_case(types, |&(name, dtype)| {
            let a = pattern(dtype, &[2, 3]);
            let stream = nd4j_stream(mode, name, &[2, 3], &[3, 1], 'c', &big_endian(&a), 6);
            let mut rest = &stream[..];
            same(&a, &nd4j::read_from(&mut rest).map_err(text)?)?;
            if !rest.is_empty() {
                return Err(format!("{} bytes are left", rest.len()));
            }
            // F order: the elements as they lie in memory.
            let columns = a.transpose().dup_order(Order::C).map_err(text)?;
            let stream = nd4j_stream(mode, name, &[2, 3], &[1, 2], 'f', &big_endian(&columns), 6);
            let found = nd4j::read_from(&stream[..]).map_err(text)?;
            same(&a, &found)?;
            if found.order() != Some(Order::F) {
                return Err(format!("order {:?}", found.order()));
            }
            for length in 0..stream.len() {
                if nd4j::read_from(&stream[..length]).is_ok() {
                    return Err(format!("was read when cut to {length} bytes"));
                }
            }
            Ok(())
        });
    }
    let cube = pattern(DType::F32, &[2, 3, 4]);
    let stream = nd4j_stream(
        "LONG_SHAPE",
        "FLOAT",
        &[3, 2, 4],
        &[4, 12, 1],
        'c',
        &big_endian(&cube),
        24,
    );
    same(
        &cube.permute([1, 0, 2]).unwrap(),
        &nd4j::read_from(&stream[..]).unwrap(),
    )
    .unwrap();
    let scalar = nd4j_stream(
        "MIXED_DATA_TYPES",
        "DOUBLE",
        &[],
        &[],
        'c',
        &2.5f64.to_be_bytes(),
        1,
    );
    assert_eq!(
        nd4j::read_from(&scalar[..]).unwrap().item::<f64>().unwrap(),
        2.5
    );
    let folder = Folder::new("nd4j");
    let path = folder.0.join("a.bin");
    std::fs::write(&path, &scalar).unwrap();
    assert_eq!(nd4j::read(&path).unwrap().rank(), 0);
    std::fs::write(&path, [&scalar[..], b"x"].concat()).unwrap();
    assert!(matches!(
        nd4j::read(&path).unwrap_err().kind(),
        SerdeErrorKind::Trailing { .. }
    ));
}

#[test]
fn wrong_streams_of_nd4j_are_errors() {
    let data = 1.0f32.to_be_bytes().repeat(4);
    let stream = |shape: &[i64], strides: &[i64], order, count| {
        nd4j_stream(
            "MIXED_DATA_TYPES",
            "FLOAT",
            shape,
            strides,
            order,
            &data,
            count,
        )
    };
    let named = |dtype| nd4j_stream("MIXED_DATA_TYPES", dtype, &[2, 2], &[2, 1], 'c', &data, 4);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            b"\x93NUMPY\x01\x00".to_vec(),
            "this is not ND4J data: it begins with",
        ),
        (
            b"\x00\x04JAVA\x00\x00\x00\x01".to_vec(),
            "this is not ND4J data: it begins with \"JAVA\"",
        ),
        (
            named("UTF8"),
            "the header is malformed: expected a type of numbers",
        ),
        (
            named("COMPRESSED"),
            "the header is malformed: expected a type of numbers",
        ),
        (
            stream(&[2, 2], &[2, 1], 'e', 4),
            "the header is malformed: the order must be 99 or 102",
        ),
        (
            stream(&[-2, 2], &[2, 1], 'c', 4),
            "the header is malformed: a size must be no negative number",
        ),
        (
            stream(&[2, 3], &[3, 1], 'c', 4),
            "the header is malformed: the number of elements must be the product of the shape",
        ),
        (
            stream(&[2, 2], &[4, 1], 'c', 4),
            "the header is malformed: expected strides that stay inside the elements",
        ),
        (
            stream(&[2, 2], &[-2, 1], 'c', 4),
            "the header is malformed: expected strides that stay inside the elements",
        ),
        (
            stream(&[2, 2], &[2, 1], 'c', 1 << 62),
            "the header claims shape [4611686018427387904] of f32",
        ),
        (
            stream(&[2, 2], &[2, 1], 'c', 1 << 40),
            "the data ends too early",
        ),
    ];
    for_each_case(cases, |(stream, expected)| {
        let Err(error) = nd4j::read_from(&stream[..]) else {
            return Err("was read".to_owned());
        };
        if error.to_string().starts_with(expected) {
            Ok(())
        } else {
            Err(error.to_string())
        }
    });
}

/// W56 and W57: what is read inside a workspace belongs to it and costs it nothing else; scoped out it belongs to none.
#[test]
fn w56_w57_what_is_read_follows_the_scope() {
    type Read = fn(&[u8]) -> lodestride_serde::Result<NdArray>;
    let a = pattern(DType::F32, &[2, 5]);
    let of_nd4j = nd4j_stream(
        "MIXED_DATA_TYPES",
        "FLOAT",
        &[2, 5],
        &[5, 1],
        'c',
        &big_endian(&a),
        10,
    );
    let [mut of_native, mut of_npy, mut of_txt, mut of_csv] = [const { Vec::new() }; 4];
    native::write_to(&mut of_native, &a).unwrap();
    npy::write_to(&mut of_npy, &a).unwrap();
    txt::write_to(&mut of_txt, &a).unwrap();
    csv::Options::new()
        .dtype(DType::F32)
        .write_to(&mut of_csv, &a)
        .unwrap();
    let formats: [(&str, Vec<u8>, Read); 5] = [
        ("nd4j", of_nd4j, |bytes| nd4j::read_from(bytes)),
        ("native", of_native, |bytes| {
            native::read_from(bytes)?.into_array()
        }),
        ("npy", of_npy, |bytes| npy::read_from(bytes)),
        ("txt", of_txt, |bytes| txt::read_from(bytes)),
        ("csv", of_csv, |bytes| {
            csv::Options::new().dtype(DType::F32).read_from(bytes)
        }),
    ];
    for_each_case(formats, |(name, bytes, read)| {
        let config = WorkspaceConfig::new()
            .initial_size(10 << 20)
            .allocation(AllocationPolicy::Strict);
        let workspace = Workspace::with_config(*name, config);
        let offset = || workspace.stats().offset;
        let read = || read(bytes).map_err(text);
        workspace
            .scope(|workspace| {
                let outside = scope_out(read)?;
                if outside.is_attached() || offset() != 0 {
                    return Err(format!("scoped out, and {} bytes are used", offset()));
                }
                let inside = read()?;
                if !inside.buffer().is_attached_to(workspace) || offset() != 64 {
                    return Err(format!("{} bytes are used", offset()));
                }
                same(&inside, &outside)
            })
            .map_err(text)?
    });
}
