//! "Serialisation": the guide's array of 1 to 10, written and read back.

use std::fs;
use std::path::PathBuf;

use lodestride::Result;
use lodestride::prelude::*;
use lodestride::serde::{native, npy};

/// A folder of its own for one test.
fn folder(test: &str) -> PathBuf {
    let name = format!("lodestride-{test}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

/// "Binary format: `Nd4j.write(arrWrite, sWrite)`, `Nd4j.read(sRead)`", with the file `tmp.bin`.
#[test]
fn the_binary_format_keeps_the_array() -> Result<()> {
    let arr_write = NdArray::linspace(1, 10, 10)?;
    let folder = folder("guide-binary");
    native::write(folder.join("tmp.bin"), &arr_write)?;
    let arr_read = native::read(folder.join("tmp.bin"))?.into_array()?;
    fs::remove_dir_all(folder).expect("the folder is ours");
    assert_eq!(arr_read, arr_write);
    // ND4J converts to the global type when it reads; here dtype and order are those that were written.
    let doubles = NdArray::from([[1.0f64, 2.0], [3.0, 4.0]]).dup_order(Order::F)?;
    let mut stream = Vec::new();
    native::write_to(&mut stream, &doubles)?;
    let read = native::read_from(&stream[..])?.into_array()?;
    assert_eq!((&read, read.order()), (&doubles, Some(Order::F)));
    Ok(())
}

/// "Binary format using java.nio.ByteBuffer: `BinarySerde.toByteBuffer`, `BinarySerde.toArray`."
#[test]
fn the_binary_format_works_on_bytes() -> Result<()> {
    let arr_write = NdArray::linspace(1, 10, 10)?;
    let mut buffer = Vec::new();
    native::write_to(&mut buffer, &arr_write)?;
    let arr_read = native::read_from(&buffer[..])?.into_array()?;
    assert_eq!(arr_read, arr_write);
    Ok(())
}

/// "To read NumPy's format": whole arrays, as `numpy.save` writes them.
#[test]
fn numpy_files_are_written_and_read() -> Result<()> {
    let arr_write = NdArray::linspace(1, 10, 10)?;
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, &arr_write)?;
    assert!(bytes.starts_with(b"\x93NUMPY"));
    assert_eq!(npy::read_from(&bytes[..])?, arr_write);
    Ok(())
}
