//! NumPy's npz format: a zip archive of named npy files. LoD tensors are stored so that NumPy users can read them too.
//!
//! A LoD tensor `x` with two levels is three arrays: `x` (the rows), `x.lod0` and `x.lod1` (the offsets of each level as i64,
//! outermost first). In Python:
//!
//! ```text
//! z = np.load("batch.npz")
//! first_sequence = z["x"][z["x.lod1"][0] : z["x.lod1"][1]]
//! lengths = np.diff(z["x.lod1"])
//! ```
//!
//! [`Reader`] opens an archive and reads arrays when they are asked for; [`Writer`] adds one after the other. Entries are stored
//! as they are (as by `np.savez`) or deflated (as by `np.savez_compressed`); both are read. The elements of a stored entry start
//! at a multiple of 64 bytes in the file.
//!
//! ```
//! use lodestride_lod::{LodTensor, NdArray, lengths};
//! use lodestride_serde::npz;
//!
//! let batch = LodTensor::new(NdArray::from([[1.0f32], [2.0], [3.0]]), lengths![[1, 2]])?;
//! let labels = NdArray::from([7i64, 4]);
//! let mut file = std::io::Cursor::new(Vec::new());
//! let mut writer = npz::Writer::new(&mut file);
//! writer.lod_tensor("batch", &batch)?.array("labels", &labels)?;
//! writer.finish_writer()?;
//!
//! let mut reader = npz::Reader::new(&mut file)?;
//! assert_eq!(reader.names().collect::<Vec<_>>(), ["batch", "labels"]);
//! assert_eq!(reader.lod_tensor("batch")?.recursive_sequence_lengths(), lengths![[1, 2]]);
//! assert_eq!(reader.array("labels")?.to_vec::<i64>()?, [7, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fused;
mod reader;
mod writer;

pub use reader::Reader;
pub use writer::{Compression, Writer};

/// Ending of the entries of an archive.
const SUFFIX: &str = ".npy";

/// Most LoD levels that are looked for.
const MAX_LEVELS: usize = 64;

/// Name of the array with the offsets of one level.
fn offsets_name(name: &str, level: usize) -> String {
    format!("{name}.lod{level}")
}

/// The array and level that a name of offsets belongs to: `("x", 1)` for `x.lod1`.
fn offsets_owner(name: &str) -> Option<(&str, usize)> {
    let (owner, level) = name.rsplit_once(".lod")?;
    let level: usize = level.parse().ok()?;
    // Only the very name that would be written: not `x.lod01`, not `x.lod+1`.
    (level < MAX_LEVELS && offsets_name(owner, level) == name).then_some((owner, level))
}
