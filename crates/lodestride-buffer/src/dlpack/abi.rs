//! The C structures of DLPack, field by field as its header has them.

use std::ffi::c_void;

use crate::dtype::DType;

/// The version of the standard that is written; versions of the same major number are read.
pub(super) const VERSION: DlVersion = DlVersion { major: 1, minor: 0 };

/// The flag of tensors that their receiver may not write.
pub(super) const READ_ONLY: u64 = 1;

/// Memory of the processor, the only kind there is here.
pub(super) const CPU: i32 = 1;

/// `DLPackVersion`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct DlVersion {
    pub(super) major: u32,
    pub(super) minor: u32,
}

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct DlDevice {
    pub(super) kind: i32,
    pub(super) id: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DlDataType {
    pub(super) code: u8,
    pub(super) bits: u8,
    pub(super) lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct DlView {
    pub(super) data: *mut c_void,
    pub(super) device: DlDevice,
    pub(super) rank: i32,
    pub(super) dtype: DlDataType,
    pub(super) shape: *mut i64,
    pub(super) strides: *mut i64,
    pub(super) byte_offset: u64,
}

/// `DLManagedTensorVersioned`, the structure of DLPack 1.0 and later: what [`DlTensor::into_raw`](super::DlTensor::into_raw) points to.
#[repr(C)]
#[derive(Debug)]
pub struct DlManagedVersioned {
    pub(super) version: DlVersion,
    pub(super) context: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut DlManagedVersioned)>,
    pub(super) flags: u64,
    pub(super) tensor: DlView,
}

/// `DLManagedTensor`, the structure of older versions: what [`DlTensor::into_legacy`](super::DlTensor::into_legacy) points to.
#[repr(C)]
#[derive(Debug)]
pub struct DlManaged {
    pub(super) tensor: DlView,
    pub(super) context: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut DlManaged)>,
}

/// DLPack's number and size of an element type.
pub(super) fn type_of(dtype: DType) -> DlDataType {
    let code = match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::Bool => 6,
    };
    DlDataType {
        code,
        bits: (dtype.size() * 8) as u8,
        lanes: 1,
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The figures of a C compiler for the standard's header.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn structures_are_laid_out_as_in_c() {
        assert_eq!(size_of::<DlView>(), 48);
        assert_eq!(size_of::<DlManaged>(), 64);
        assert_eq!(size_of::<DlManagedVersioned>(), 80);
        assert_eq!(
            [
                offset_of!(DlView, dtype),
                offset_of!(DlView, shape),
                offset_of!(DlView, byte_offset)
            ],
            [20, 24, 40]
        );
        assert_eq!(
            [
                offset_of!(DlManagedVersioned, context),
                offset_of!(DlManagedVersioned, flags),
                offset_of!(DlManagedVersioned, tensor)
            ],
            [8, 24, 32]
        );
    }
}
