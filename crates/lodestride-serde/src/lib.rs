//! File formats for the arrays and LoD tensors of lodestride: NumPy's npy and npz, text, tables, ND4J's stream, and a native
//! binary format.
//!
//! | Format | Holds | Read by | Module |
//! |---|---|---|---|
//! | npy | one array | NumPy and everything that knows its files | [`npy`] |
//! | npz | named arrays and LoD tensors, stored or deflated | the same | [`npz`] |
//! | text | one array, to look at | ND4J's `readTxt`, JSON readers | [`txt`] |
//! | csv and other tables | a matrix of numbers | everything | [`csv`] |
//! | ND4J's stream | one array | reading only: what `Nd4j.write` and `saveBinary` made | [`nd4j`] |
//! | native (`.lds`) | one array or LoD tensor of any dtype, with checksums | this crate | [`native`] |
//!
//! ```
//! use lodestride_lod::{LodTensor, lengths};
//! use lodestride_serde::{NdArray, native, npy, npz};
//!
//! # let folder = std::env::temp_dir().join("lodestride-serde-front-page");
//! # std::fs::create_dir_all(&folder)?;
//! let a = NdArray::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
//! npy::write(folder.join("a.npy"), &a)?; // np.load("a.npy") in Python
//! assert_eq!(npy::read(folder.join("a.npy"))?.shape()[..], [2, 3]);
//!
//! // Two sequences, of one and two rows: no padding in the file either.
//! let batch = LodTensor::new(NdArray::from([[0.1f32], [0.2], [0.3]]), lengths![[1, 2]])?;
//! let mut writer = npz::Writer::create(folder.join("batch.npz"))?.compression(npz::Compression::Deflated);
//! writer.lod_tensor("batch", &batch)?.array("labels", &NdArray::from([3i64, 1]))?;
//! writer.finish()?; // the file appears now, whole
//!
//! let mut reader = npz::Reader::open(folder.join("batch.npz"))?;
//! assert_eq!(reader.lod_tensor("batch")?.lod(), batch.lod());
//! assert_eq!(reader.array("labels")?.to_vec::<i64>()?, [3, 1]);
//!
//! native::write(folder.join("batch.lds"), &batch)?;
//! assert_eq!(native::read(folder.join("batch.lds"))?.into_lod_tensor()?.lod(), batch.lod());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Compressed`] arrays are made smaller by a [`Codec`], in memory and in native files.
//!
//! # What is kept
//! Shape, dtype, every bit of every element, and the memory order: a Fortran-ordered file becomes an array with F strides and the
//! other way round. Views are written as the array they show. LoD tensors keep all levels. bf16 has no npy type, so npy and npz
//! refuse it and say what to do; native takes it.
//!
//! # What can be relied on
//! * **Input is hostile until proven otherwise.** A size in a file is compared with what the file can hold before memory is asked
//!   for; of a reader whose length is unknown a part must have come first. Cut off, damaged, lying or foreign input is a [`SerdeError`]
//!   that names file, entry, byte, what was expected and what was found. There is no input that panics.
//! * **All or nothing.** Files are written under another name in the same folder and renamed when they are complete
//!   ([`StagedFile`]). A failed read gives no array, a failed write leaves the old file.
//! * **Elements move as blocks of bytes**, never one by one.
//! * **The door is kept**: writing an array of a closed workspace is the same error as computing with it. Arrays are read into
//!   the thread's current workspace, if one is open.
//!
//! ```
//! use lodestride_serde::{SerdeErrorKind, npz};
//! use std::io::Cursor;
//!
//! let mut file = Cursor::new(Vec::new());
//! let mut writer = npz::Writer::new(&mut file);
//! writer.array("weights", &lodestride_serde::NdArray::zeros([2, 2])?)?;
//! writer.finish_writer()?;
//! let error = npz::Reader::new(file)?.array("weigths").unwrap_err();
//! assert!(matches!(error.kind(), SerdeErrorKind::NoEntry { .. }));
//! assert!(error.to_string().starts_with("the archive has no array `weigths`; it has `weights`"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//! `rayon` (default) and `openblas` are passed on to the array crate; the formats need neither. `mmap` adds `open_mapped` to
//! [`npy`] and [`native`]: arrays whose elements stay in the file, so that opening costs the same whatever their number.
//! `safetensors` adds the module of that name, for model weights.
#![forbid(unsafe_code)]

mod compressed;
pub mod csv;
mod error;
mod header;
#[cfg(feature = "mmap")]
mod mapped;
pub mod native;
pub mod nd4j;
pub mod npy;
pub mod npz;
#[cfg(feature = "safetensors")]
pub mod safetensors;
mod sink;
mod source;
mod staged;
mod stored;
mod text;
pub mod txt;

pub use lodestride_array::{DType, NdArray, Order};
pub use lodestride_lod::{Lod, LodTensor};

pub use compressed::{Codec, Compressed};
pub use error::{Format, Result, SerdeError, SerdeErrorKind, TextProblem, TypeReason};
pub use header::Header;
pub use staged::StagedFile;
pub use stored::{Stored, StoredRef};
