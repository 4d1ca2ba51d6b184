//! The native format byte by byte: what version 1 wrote must be readable for ever.

use lodestride_lod::{LodTensor, lengths};
use lodestride_serde::{NdArray, native};

/// `[[1], [2], [3]]` of i16 in two sequences of one and two rows.
#[rustfmt::skip]
const GOLDEN: &[u8] = &[
    0x93, b'L', b'D', b'S', b'\r', b'\n', 0x1a, b'\n', // magic
    1, 0, // version
    1, 5, 0, 2, 1, 0, // LoD tensor, i16, C, rank 2, one level, reserved
    3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, // shape
    3, 0, 0, 0, 0, 0, 0, 0, // offsets of the level
    0, 0, 0, 0, 0, 0, 0, 0, // checksum (put in below), reserved
    0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, // offsets
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // up to 128
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0,
    1, 0, 2, 0, 3, 0, // elements
    0, 0, 0, 0, // checksum (put in below)
    b'L', b'D', b'S', b'E',
];

/// CRC-32 bit by bit, from its definition.
fn crc(bytes: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
        }
    }
    (!crc).to_le_bytes()
}

#[test]
fn version_1_stays_what_it_is() {
    let mut golden = GOLDEN.to_vec();
    let head = crc(&golden[..40]);
    golden[40..44].copy_from_slice(&head);
    let end = golden.len() - 8;
    let body = crc(&golden[48..end]);
    golden[end..end + 4].copy_from_slice(&body);

    let rows = NdArray::from([[1i16], [2], [3]]);
    let tensor = LodTensor::new(rows, lengths![[1, 2]]).unwrap();
    let mut written = Vec::new();
    native::write_to(&mut written, &tensor).unwrap();
    assert_eq!(written, golden);
    let read = native::read_from(&golden[..])
        .unwrap()
        .into_lod_tensor()
        .unwrap();
    assert_eq!(read.lod(), tensor.lod());
    assert_eq!(read.data().to_vec::<i16>().unwrap(), [1, 2, 3]);
}
