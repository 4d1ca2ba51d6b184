//! Arrays whose elements stay in their file: as right as those that are read, read-only, and as careful with hostile files.
#![cfg(feature = "mmap")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use lodestride_array::{AccessError, ArrayErrorKind, kernels::KernelError, memory, scope_out};
use lodestride_lod::{LodTensor, lengths};
use lodestride_serde::{DType, NdArray, Result, SerdeErrorKind, Stored, native, npy};
use support::{Folder, every_case, fixture, for_each_case, kept_order, pattern, same, text};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Via {
    Npy,
    Native,
}

impl Via {
    fn write(self, path: &Path, array: &NdArray) -> Result<()> {
        match self {
            Via::Npy => npy::write(path, array),
            Via::Native => native::write(path, array),
        }
    }

    fn open(self, path: &Path) -> Result<NdArray> {
        match self {
            Via::Npy => npy::open_mapped(path),
            Via::Native => native::open_mapped(path)?.into_array(),
        }
    }
}

const BOTH: [Via; 2] = [Via::Npy, Via::Native];

#[test]
fn every_dtype_and_layout_is_mapped_as_it_is_read() {
    let folder = Folder::new("mapped");
    let path = folder.0.join("file");
    let cases = every_case(&BOTH, |via, dtype| {
        via == Via::Native || dtype != DType::BF16
    });
    for_each_case(cases, |(via, _, _, array)| {
        via.write(&path, array).map_err(text)?;
        let mapped = via.open(&path).map_err(text)?;
        same(array, &mapped)?;
        if !mapped.buffer().is_read_only() || mapped.buffer().is_attached() || mapped.is_view() {
            return Err("is not the file itself".to_owned());
        }
        if mapped.order() != kept_order(array) {
            return Err(format!("order {:?}", mapped.order()));
        }
        Ok(())
    });
}

#[test]
fn a_mapped_array_is_read_by_every_op_and_written_by_none() {
    let folder = Folder::new("mapped-ops");
    let path = folder.0.join("file");
    for via in BOTH {
        let array = pattern(DType::F64, &[30, 40]);
        via.write(&path, &array).unwrap();
        let mapped = via.open(&path).unwrap();
        let doubled = mapped.add(&mapped).unwrap();
        same(&array.add(&array).unwrap(), &doubled).unwrap();
        same(&array.sum(0).unwrap(), &mapped.sum(0).unwrap()).unwrap();
        let row = mapped.row(3).unwrap();
        same(&array.row(3).unwrap(), &row).unwrap();
        for error in [
            mapped.addi(1.0).unwrap_err(),
            row.muli(2.0).unwrap_err(),
            array.add_into(&array, &mapped).unwrap_err(),
        ] {
            let refused = match error.kind() {
                ArrayErrorKind::Access { source, .. } => Some(source),
                ArrayErrorKind::Kernel {
                    source: KernelError::Access { source, .. },
                } => Some(source),
                _ => None,
            };
            let refused = refused.is_some_and(|s| matches!(s, AccessError::ReadOnly(_)));
            assert!(refused, "{error}");
            assert!(error.to_string().contains("`dup()`"), "{error}");
        }
        let copy = mapped.dup().unwrap();
        copy.addi(1.0).unwrap();
        same(&array.add(1.0).unwrap(), &copy).unwrap();
        same(&array, &mapped).unwrap();
        same(&array, &via.open(&path).unwrap()).unwrap();
    }
}

#[test]
fn lod_tensors_are_mapped_with_their_levels() {
    let folder = Folder::new("mapped-lod");
    let path = folder.0.join("file");
    for lengths in [
        lengths![[2, 1], [1, 3, 1]],
        lengths![[5]],
        lengths![[0, 5, 0]],
    ] {
        let tensor = LodTensor::new(pattern(DType::I16, &[5, 2]), lengths).unwrap();
        native::write(&path, &tensor).unwrap();
        let mapped = native::open_mapped(&path).unwrap();
        let Stored::Lod(mapped) = mapped else {
            panic!("the LoD is lost");
        };
        assert_eq!(mapped.lod(), tensor.lod());
        same(tensor.data(), mapped.data()).unwrap();
        assert!(mapped.data().buffer().is_read_only());
    }
}

#[test]
fn what_is_not_of_this_machine_is_converted() {
    for_each_case(
        [
            "big_uint16",
            "big_int32",
            "big_float16",
            "big_float32",
            "big_float64",
            "big_fortran",
        ],
        |name| {
            let path = fixture(&format!("{name}.npy"));
            let mapped = npy::open_mapped(&path).map_err(text)?;
            same(&npy::read(&path).map_err(text)?, &mapped)
        },
    );
    let folder = Folder::new("mapped-bools");
    let path = folder.0.join("file");
    npy::write(&path, &pattern(DType::Bool, &[4])).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&[0, 1, 2, 255]);
    fs::write(&path, bytes).unwrap();
    let mapped = npy::open_mapped(&path).unwrap();
    assert_eq!(mapped.to_bytes().unwrap(), [0, 1, 1, 1]);
}

#[test]
fn opening_reads_no_element_into_memory() {
    let folder = Folder::new("mapped-cost");
    let path = folder.0.join("file");
    let array = NdArray::zeros_of(DType::F32, [4 << 20]).unwrap();
    for via in BOTH {
        via.write(&path, &array).unwrap();
        let before = memory::thread_stats().heap_bytes_allocated;
        let mapped = scope_out(|| via.open(&path)).unwrap();
        let allocated = memory::thread_stats().heap_bytes_allocated - before;
        assert!(allocated < 4096, "{via:?}: {allocated} bytes");
        assert_eq!(mapped.sum(..).unwrap().item::<f32>().unwrap(), 0.0);
    }
}

#[test]
fn a_file_replaced_as_a_whole_leaves_the_mapped_one_alone() {
    let folder = Folder::new("mapped-replaced");
    let path = folder.0.join("file");
    for via in BOTH {
        let (old, new) = (pattern(DType::I32, &[70, 9]), pattern(DType::I32, &[3]));
        via.write(&path, &old).unwrap();
        let mapped = via.open(&path).unwrap();
        via.write(&path, &new).unwrap();
        same(&old, &mapped).unwrap();
        same(&new, &via.open(&path).unwrap()).unwrap();
        fs::remove_file(&path).unwrap();
        same(&old, &mapped).unwrap();
    }
}

#[test]
fn a_mapped_file_cut_anywhere_is_an_error() {
    let folder = Folder::new("mapped-cut");
    let path = folder.0.join("file");
    for via in BOTH {
        via.write(&path, &pattern(DType::F32, &[2, 3])).unwrap();
        let bytes = fs::read(&path).unwrap();
        for_each_case(0..bytes.len(), |&length| {
            fs::write(&path, &bytes[..length]).unwrap();
            let error = via.open(&path).err().ok_or("was opened")?;
            match error.kind() {
                SerdeErrorKind::Truncated { .. } if error.path() == Some(&path) => Ok(()),
                _ => Err(error.to_string()),
            }
        });
        fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
        let error = via.open(&path).unwrap_err();
        let end = bytes.len() as u64;
        let trailing = |kind: &SerdeErrorKind| matches!(kind, SerdeErrorKind::Trailing { end: at } if *at == end);
        assert!(trailing(error.kind()), "{error}");
    }
}

#[test]
fn changed_bytes_of_a_mapped_file_never_panic() {
    let folder = Folder::new("mapped-changed");
    let path = folder.0.join("file");
    for via in BOTH {
        via.write(&path, &pattern(DType::F32, &[2, 3])).unwrap();
        let bytes = fs::read(&path).unwrap();
        for place in 0..bytes.len() {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                fs::write(&path, changed).unwrap();
                if let Ok(array) = via.open(&path) {
                    let _ = array.to_string();
                }
            }
        }
    }
}

#[test]
fn claims_and_things_that_are_no_files_are_refused() {
    let folder = Folder::new("mapped-claims");
    let path = folder.0.join("big.npy");
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend([0; 100]);
    fs::write(&path, bytes).unwrap();
    let error = npy::open_mapped(&path).unwrap_err();
    assert!(
        matches!(error.kind(), SerdeErrorKind::Truncated { expected, .. } if *expected == 8 << 40),
        "{error}"
    );
    for via in BOTH {
        for path in [folder.0.clone(), folder.0.join("nothing")] {
            let error = via.open(&path).unwrap_err();
            assert!(matches!(error.kind(), SerdeErrorKind::Io { .. }), "{error}");
        }
    }
}
