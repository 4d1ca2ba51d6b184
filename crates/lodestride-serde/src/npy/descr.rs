//! NumPy's type strings (`<f4`, `|b1`, ..) and the dtypes they stand for.

use lodestride_array::DType;

use crate::error::{SerdeErrorKind, TypeReason};
use crate::source::Endian;

/// The type string a dtype is written as; `None` when npy has no such type.
pub(crate) fn of(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "|b1",
        DType::U8 => "|u1",
        DType::I8 => "|i1",
        DType::U16 => "<u2",
        DType::I16 => "<i2",
        DType::U32 => "<u4",
        DType::I32 => "<i4",
        DType::U64 => "<u8",
        DType::I64 => "<i8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::BF16 => return None,
    })
}

/// The dtype and byte order a type string stands for.
pub(crate) fn parse(descr: &str) -> Result<(DType, Endian), SerdeErrorKind> {
    let refused = |reason| SerdeErrorKind::UnsupportedType {
        descr: format!("'{descr}'"),
        reason,
    };
    let (endian, rest) = match descr.as_bytes() {
        [b'<', rest @ ..] => (Some(Endian::Little), rest),
        [b'>', rest @ ..] => (Some(Endian::Big), rest),
        [b'=', rest @ ..] => (Some(Endian::NATIVE), rest),
        [b'|', rest @ ..] => (None, rest),
        rest => (Some(Endian::NATIVE), rest),
    };
    let Some((&kind, size)) = rest.split_first() else {
        return Err(refused(TypeReason::Unknown));
    };
    let dtype = match (kind, size) {
        (b'b', b"1") | (b'?', b"") => DType::Bool,
        (b'u', b"1") => DType::U8,
        (b'i', b"1") => DType::I8,
        (b'u', b"2") => DType::U16,
        (b'i', b"2") => DType::I16,
        (b'u', b"4") => DType::U32,
        (b'i', b"4") => DType::I32,
        (b'u', b"8") => DType::U64,
        (b'i', b"8") => DType::I64,
        (b'f', b"2") => DType::F16,
        (b'f', b"4") => DType::F32,
        (b'f', b"8") => DType::F64,
        (b'O', _) => return Err(refused(TypeReason::Objects)),
        (b'S' | b'a' | b'U', _) => return Err(refused(TypeReason::Text)),
        (b'M' | b'm', _) => return Err(refused(TypeReason::Time)),
        (b'c', _) => return Err(refused(TypeReason::Complex)),
        (b'V', _) => return Err(refused(TypeReason::Opaque)),
        (b'b' | b'i' | b'u' | b'f', digits)
            if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) =>
        {
            return Err(refused(TypeReason::Size));
        }
        _ => return Err(refused(TypeReason::Unknown)),
    };
    match endian {
        Some(endian) => Ok((dtype, endian)),
        None if dtype.size() == 1 => Ok((dtype, Endian::NATIVE)),
        // "does not apply" is no byte order for numbers of several bytes.
        None => Err(refused(TypeReason::Unknown)),
    }
}
