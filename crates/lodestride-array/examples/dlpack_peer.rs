//! Arrays behind plain C functions, for `cargo xtask interchange`: a script lends them to NumPy and PyTorch by DLPack, takes
//! theirs, and looks at both sides. What is checked stands in that script, `xtask/interchange.py`; nothing here is an interface.
#![expect(
    unsafe_code,
    reason = "functions with C names, and pointers of DLPack structures"
)]

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use lodestride_array::{
    DType, DlManaged, DlManagedVersioned, DlTensor, NdArray, Order, Result, Workspace,
    interval_step,
};

/// Arrays by number, until they are dropped.
static ARRAYS: Mutex<Vec<Option<NdArray>>> = Mutex::new(Vec::new());
static ARENA: LazyLock<Workspace> = LazyLock::new(|| Workspace::new("PEERS"));

fn arrays() -> MutexGuard<'static, Vec<Option<NdArray>>> {
    ARRAYS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep(array: NdArray) -> i64 {
    let mut all = arrays();
    all.push(Some(array));
    all.len() as i64 - 1
}

fn array(number: i64) -> Option<NdArray> {
    arrays().get(usize::try_from(number).ok()?)?.clone()
}

fn number_of(made: Result<NdArray>) -> i64 {
    match made {
        Ok(array) => keep(array),
        Err(error) => {
            eprintln!("{error}");
            -1
        }
    }
}

/// 0, 1, 2 and so on in C order, in one of the layouts that the script names.
fn laid_out(dtype: DType, layout: i32) -> Result<NdArray> {
    let numbered = |shape: &[usize]| {
        let count: usize = shape.iter().product();
        let values: Vec<f64> = (0..count).map(|i| i as f64).collect();
        NdArray::from_vec(values, shape)?.cast(dtype)
    };
    let inside = |room: NdArray, view: NdArray| -> Result<NdArray> {
        view.assign(&numbered(view.shape())?)?;
        drop(room);
        Ok(view)
    };
    match layout {
        0 => numbered(&[3, 4]),
        1 => numbered(&[3, 4])?.dup_order(Order::F),
        2 => {
            let room = NdArray::zeros_of(dtype, [6, 8])?;
            let view = room.get(&[interval_step(0, 2, 6), interval_step(1, 2, 8)])?;
            inside(room, view)
        }
        3 => {
            let room = NdArray::zeros_of(dtype, [3, 4])?;
            let view = room.flip(0)?.flip(1)?;
            inside(room, view)
        }
        4 => numbered(&[]),
        5 => numbered(&[0, 3]),
        6 => {
            let room = NdArray::zeros_of(dtype, [4, 3])?;
            let view = room.row(1)?;
            inside(room, view)
        }
        _ => numbered(&[4])?.broadcast_to([3, 4]),
    }
}

fn raw_of(tensor: Result<DlTensor>, legacy: bool) -> *mut c_void {
    match tensor {
        Ok(tensor) if legacy => tensor.into_legacy().as_ptr().cast(),
        Ok(tensor) => tensor.into_raw().as_ptr().cast(),
        Err(_) => ptr::null_mut(),
    }
}

/// A new array of a dtype, by its place in `DType::ALL`; its number, or -1.
// SAFETY: nothing else in the process has a name that begins like this one; the same holds for all that follow.
#[unsafe(no_mangle)]
pub extern "C" fn peer_new(dtype: usize, layout: i32) -> i64 {
    DType::ALL
        .get(dtype)
        .map_or(-1, |&dtype| number_of(laid_out(dtype, layout)))
}

/// An array of a workspace that has been closed.
#[unsafe(no_mangle)]
pub extern "C" fn peer_leaked() -> i64 {
    match ARENA.scope(|_| laid_out(DType::F32, 0)) {
        Ok(made) => number_of(made),
        Err(_) => -1,
    }
}

/// A tensor lent by an array of a workspace, which is closed and used again before the tensor is given away.
#[unsafe(no_mangle)]
pub extern "C" fn peer_outlives_its_workspace() -> *mut c_void {
    let lent = ARENA.scope(|_| laid_out(DType::F32, 0).and_then(|array| array.to_dlpack()));
    for _ in 0..3 {
        let again = ARENA.scope(|_| NdArray::full([64, 64], 99.0).map(drop));
        if !matches!(again, Ok(Ok(()))) {
            return ptr::null_mut();
        }
    }
    lent.map_or(ptr::null_mut(), |lent| raw_of(lent, false))
}

/// A tensor over an array, or null where it cannot be lent.
#[unsafe(no_mangle)]
pub extern "C" fn peer_lend(number: i64, writable: bool, legacy: bool) -> *mut c_void {
    let Some(array) = array(number) else {
        return ptr::null_mut();
    };
    let tensor = if writable {
        array.to_dlpack_mut()
    } else {
        array.to_dlpack()
    };
    raw_of(tensor, legacy)
}

/// An array over a tensor, which is ours from now on, also where it is refused: its number, or -1.
///
/// # Safety
/// The pointer is a tensor of that version which nobody else deletes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peer_take(raw: *mut c_void, legacy: bool) -> i64 {
    let tensor = if legacy {
        let Some(raw) = NonNull::new(raw.cast::<DlManaged>()) else {
            return -1;
        };
        // SAFETY: the promise of this function's caller.
        unsafe { DlTensor::from_legacy(raw) }
    } else {
        let Some(raw) = NonNull::new(raw.cast::<DlManagedVersioned>()) else {
            return -1;
        };
        // SAFETY: the promise of this function's caller.
        unsafe { DlTensor::from_raw(raw) }
    };
    number_of(NdArray::from_dlpack(tensor))
}

/// An element by its place in C order; NaN where it cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn peer_get(number: i64, place: usize) -> f64 {
    let values = array(number).and_then(|array| array.to_f64_vec().ok());
    values
        .and_then(|values| values.get(place).copied())
        .unwrap_or(f64::NAN)
}

/// Writes one value to all elements; whether that was possible.
#[unsafe(no_mangle)]
pub extern "C" fn peer_fill(number: i64, value: f64) -> bool {
    array(number).is_some_and(|array| array.assign(value).is_ok())
}

/// Whether the array may be read: 1, and also written: 2.
#[unsafe(no_mangle)]
pub extern "C" fn peer_access(number: i64) -> i32 {
    array(number).map_or(-1, |array| {
        // One after the other: a guard excludes the next.
        let readable = array.buffer().read().is_ok();
        let writable = array.buffer().write().is_ok();
        i32::from(readable) + i32::from(writable)
    })
}

/// The dtype, by its place in `DType::ALL`, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn peer_dtype(number: i64) -> i64 {
    let found = |array: NdArray| DType::ALL.iter().position(|&dtype| dtype == array.dtype());
    array(number)
        .and_then(found)
        .map_or(-1, |place| place as i64)
}

/// The size of an axis, or of the rank where there is no such axis, with a minus sign.
#[unsafe(no_mangle)]
pub extern "C" fn peer_size(number: i64, axis: usize) -> i64 {
    array(number).map_or(i64::MIN, |array| match array.shape().get(axis) {
        Some(&size) => size as i64,
        None => -1 - array.rank() as i64,
    })
}

/// Drops an array.
#[unsafe(no_mangle)]
pub extern "C" fn peer_drop(number: i64) {
    let place = usize::try_from(number).ok();
    let mut all = arrays();
    let gone = place
        .and_then(|place| all.get_mut(place))
        .and_then(Option::take);
    drop(all);
    // Outside the lock: a tensor's deleter may come back here.
    drop(gone);
}
