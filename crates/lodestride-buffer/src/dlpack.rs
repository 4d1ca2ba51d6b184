//! DLPack: tensors that change hands between libraries through the C structures of that standard, without a copy.
//! How arrays are made of them is the business of the array crate.
#![expect(
    unsafe_code,
    reason = "C structures behind pointers, and functions that free them"
)]

mod abi;
mod places;

use std::fmt;
use std::ptr::{self, NonNull};
use std::slice;

use crate::buffer::Buffer;
use crate::dtype::DType;
use crate::error::AccessError;
use crate::guard::{ReadGuard, WriteGuard};
use abi::{CPU, DlDataType, DlDevice, DlView, READ_ONLY, VERSION, type_of};
pub use abi::{DlManaged, DlManagedVersioned};
pub use places::{DlPackError, DlPlaces};
use places::{in_c_order, reach};

/// A tensor on its way between libraries: owns the structure and calls its deleter when dropped.
///
/// A tensor that left this library holds a guard of its buffer until its receiver deletes it, as foreign code asks nobody
/// before it reads: meanwhile writing here is [`AccessError::InUse`], and reading too where the receiver may write.
pub struct DlTensor {
    /// Invariant: a structure as the standard has it, which nobody else will delete.
    raw: NonNull<DlManagedVersioned>,
}

// SAFETY: the standard lets a tensor be used and deleted on any thread; ours are made of a buffer and numbers.
unsafe impl Send for DlTensor {}
// SAFETY: a shared tensor gives away the numbers that describe it, which nobody changes.
unsafe impl Sync for DlTensor {}

/// What an exported tensor keeps alive, beside the structure that points to it.
struct Export<K> {
    managed: DlManagedVersioned,
    keeper: K,
}

/// Sizes, strides and the guard of a tensor of ours.
struct Keeper {
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    _held: Held,
}

/// A guard that owns its handle.
struct Held {
    /// Invariant: a reader or the writer in its access word belongs to this value.
    buffer: Buffer,
    writes: bool,
}

impl Held {
    #[track_caller]
    fn of(buffer: &Buffer, writes: bool) -> Result<Held, AccessError> {
        if writes {
            std::mem::forget(buffer.write()?);
        } else {
            std::mem::forget(buffer.read()?);
        }
        Ok(Held {
            buffer: buffer.clone(),
            writes,
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.writes {
            drop(WriteGuard::pinned(&self.buffer));
        } else {
            drop(ReadGuard::pinned(&self.buffer));
        }
    }
}

impl DlTensor {
    /// A tensor over a buffer's elements for another library, which may only read it, unless `writable`.
    ///
    /// `places` are in elements of its dtype, with `offset` that of the first.
    ///
    /// # Errors
    /// [`DlPackError::Places`] when they reach beyond the buffer, [`DlPackError::Access`] when the buffer is stale or in use.
    ///
    /// ```
    /// use lodestride_buffer::{AccessError, Buffer, DType, DlPlaces, DlTensor};
    /// let buffer = Buffer::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0])?;
    /// let places = DlPlaces { dtype: DType::F32, shape: vec![2], strides: vec![2], offset: 1 };
    /// let tensor = DlTensor::export(&buffer, &places, false)?;
    /// assert_eq!(tensor.shape(), [2]);
    /// assert!(matches!(buffer.write(), Err(AccessError::InUse(_)))); // somebody may be reading
    /// drop(tensor);
    /// assert!(buffer.write().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn export(
        buffer: &Buffer,
        places: &DlPlaces,
        writable: bool,
    ) -> Result<DlTensor, DlPackError> {
        let shape: Vec<i64> = places.shape.iter().map(|&size| size as i64).collect();
        let strides: Vec<i64> = places.strides.iter().map(|&step| step as i64).collect();
        let nowhere = || DlPackError::Places {
            shape: shape.clone(),
            strides: strides.clone(),
        };
        let size = places.dtype.size();
        let reach = reach(&shape, &strides).ok_or_else(nowhere)?;
        let (low, high) = reach.unwrap_or((0, -1));
        let first = i64::try_from(places.offset).map_err(|_| nowhere())?;
        let end = first.checked_add(high).and_then(|last| last.checked_add(1));
        let fits = end.is_some_and(|end| end as i128 * size as i128 <= buffer.len() as i128);
        if first + low < 0 || (reach.is_some() && !fits) || shape.len() != strides.len() {
            return Err(nowhere());
        }
        let held = Held::of(buffer, writable)?;
        let start = buffer.data().as_ptr();
        let data = match reach {
            Some(_) => start.wrapping_add(places.offset * size),
            None => start,
        };
        let tensor = DlView {
            data: data.cast(),
            device: DlDevice { kind: CPU, id: 0 },
            rank: shape.len() as i32,
            dtype: type_of(places.dtype),
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let flags = if held.writes { 0 } else { READ_ONLY };
        let keeper = Keeper {
            shape: shape.into(),
            strides: strides.into(),
            _held: held,
        };
        Ok(DlTensor::pack(tensor, flags, keeper, |tensor, keeper| {
            tensor.shape = keeper.shape.as_mut_ptr();
            tensor.strides = keeper.strides.as_mut_ptr();
        }))
    }

    /// Puts a tensor and what keeps it alive into one box, which the deleter frees. `point` aims the tensor at what is kept, once
    /// that has its place: to move a box ends what was pointed into it before.
    fn pack<K: Send + 'static>(
        tensor: DlView,
        flags: u64,
        keeper: K,
        point: impl FnOnce(&mut DlView, &mut K),
    ) -> DlTensor {
        let export = Box::new(Export {
            managed: DlManagedVersioned {
                version: VERSION,
                context: ptr::null_mut(),
                deleter: Some(delete::<K>),
                flags,
                tensor,
            },
            keeper,
        });
        let export = Box::into_raw(export);
        // SAFETY: the box was given up just now, and nobody else knows it.
        let Export { managed, keeper } = unsafe { &mut *export };
        point(&mut managed.tensor, keeper);
        managed.context = export.cast();
        DlTensor {
            raw: NonNull::from(managed),
        }
    }

    /// Gives the tensor to another library, which calls the deleter once when it needs it no more.
    pub fn into_raw(self) -> NonNull<DlManagedVersioned> {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    /// Takes a tensor over from another library.
    ///
    /// # Safety
    /// The pointer must be that of a structure as DLPack has it, which nobody else deletes: it may be read and deleted on any
    /// thread, its data are initialised and stay where they are until the deleter is called, nobody writes them meanwhile,
    /// and nobody reads them unless they are flagged as read-only.
    pub unsafe fn from_raw(raw: NonNull<DlManagedVersioned>) -> DlTensor {
        DlTensor { raw }
    }

    /// [`into_raw`](Self::into_raw) in the structure of older versions of DLPack.
    ///
    /// That structure cannot say that its receiver must not write: keep to it, or export a writable tensor.
    pub fn into_legacy(self) -> NonNull<DlManaged> {
        let legacy = Box::new(DlManaged {
            tensor: self.managed().tensor,
            context: self.into_raw().as_ptr().cast(),
            deleter: Some(delete_legacy),
        });
        NonNull::from(Box::leak(legacy))
    }

    /// [`from_raw`](Self::from_raw) of the structure of older versions of DLPack, whose data may be written.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw).
    pub unsafe fn from_legacy(raw: NonNull<DlManaged>) -> DlTensor {
        // SAFETY: the caller's contract.
        let tensor = unsafe { raw.as_ref() }.tensor;
        DlTensor::pack(tensor, 0, Legacy(raw), |_, _| ())
    }

    fn managed(&self) -> &DlManagedVersioned {
        // SAFETY: by the type's invariant the structure is there until this value deletes it.
        unsafe { self.raw.as_ref() }
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[i64] {
        let tensor = &self.managed().tensor;
        // SAFETY: by the type's invariant there are as many sizes as axes.
        unsafe { numbers(tensor.shape, tensor.rank) }
    }

    /// Elements from one position of an axis to the next; empty where they are left out, as C order needs none.
    pub fn strides(&self) -> &[i64] {
        let tensor = &self.managed().tensor;
        // SAFETY: by the type's invariant there are as many strides as axes, or none.
        unsafe { numbers(tensor.strides, tensor.rank) }
    }

    /// Whether the receiver may only read.
    pub fn is_read_only(&self) -> bool {
        self.managed().flags & READ_ONLY != 0
    }

    /// A buffer over the tensor's data and where its elements are there. Nothing is copied, unless the data are aligned to
    /// less than 8 bytes; the deleter is called with the buffer's last handle.
    ///
    /// # Errors
    /// Those of [`DlPackError`]; the tensor is deleted then.
    #[track_caller]
    pub fn into_buffer(self) -> Result<(Buffer, DlPlaces), DlPackError> {
        let managed = self.managed();
        let DlView { device, dtype, .. } = managed.tensor;
        if managed.version.major > VERSION.major {
            let major = managed.version.major;
            return Err(DlPackError::Version { major });
        }
        if device.kind != CPU {
            return Err(DlPackError::Device { kind: device.kind });
        }
        let Some(dtype) = DType::ALL.into_iter().find(|&d| type_of(d) == dtype) else {
            let DlDataType { code, bits, lanes } = dtype;
            return Err(DlPackError::ElementType { code, bits, lanes });
        };
        let (memory, places) = self.places(dtype).ok_or_else(|| DlPackError::Places {
            shape: self.shape().to_vec(),
            strides: self.strides().to_vec(),
        })?;
        let read_only = self.is_read_only();
        let received = Received {
            _tensor: self,
            memory,
        };
        let buffer = if read_only {
            Buffer::read_only(received)
        } else {
            Buffer::from_owner(received)
        };
        Ok((buffer?, places))
    }

    /// The bytes from the lowest element to the highest, and where the elements are there; none if they cannot be counted.
    fn places(&self, dtype: DType) -> Option<(NonNull<[u8]>, DlPlaces)> {
        let tensor = &self.managed().tensor;
        let sizes = self.shape();
        let shape = sizes
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect::<Option<Vec<_>>>()?;
        let strides = match self.strides() {
            [] => in_c_order(sizes)?,
            strides => strides.to_vec(),
        };
        let reach = reach(sizes, &strides)?;
        let (low, len) = match reach {
            None => (0, 0),
            Some((low, high)) => {
                let elements = usize::try_from(high.checked_sub(low)?)
                    .ok()?
                    .checked_add(1)?;
                (low, elements.checked_mul(dtype.size())?)
            }
        };
        isize::try_from(len).ok()?;
        let ahead = isize::try_from(low)
            .ok()?
            .checked_mul(dtype.size() as isize)?;
        let byte_offset = usize::try_from(tensor.byte_offset).ok()?;
        let first = tensor.data.cast::<u8>().wrapping_add(byte_offset);
        // Of no elements there may be no data.
        let start = if len == 0 {
            NonNull::dangling()
        } else {
            NonNull::new(first.wrapping_offset(ahead))?
        };
        let places = DlPlaces {
            dtype,
            shape,
            strides: strides
                .iter()
                .map(|&step| isize::try_from(step).ok())
                .collect::<Option<_>>()?,
            offset: usize::try_from(-low).ok()?,
        };
        Some((NonNull::slice_from_raw_parts(start, len), places))
    }
}

impl Drop for DlTensor {
    fn drop(&mut self) {
        if let Some(deleter) = self.managed().deleter {
            // SAFETY: by the type's invariant the structure is deleted here and nowhere else.
            unsafe { deleter(self.raw.as_ptr()) };
        }
    }
}

impl fmt::Debug for DlTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DlTensor")
            .field("shape", &self.shape())
            .field("strides", &self.strides())
            .field("read_only", &self.is_read_only())
            .finish_non_exhaustive()
    }
}

/// Another library's structure of an older version.
struct Legacy(NonNull<DlManaged>);

// SAFETY: as for `DlTensor`.
unsafe impl Send for Legacy {}

impl Drop for Legacy {
    fn drop(&mut self) {
        // SAFETY: `from_legacy` took the structure over, so it is there and is deleted here alone.
        let deleter = unsafe { self.0.as_ref() }.deleter;
        if let Some(deleter) = deleter {
            // SAFETY: as above.
            unsafe { deleter(self.0.as_ptr()) };
        }
    }
}

/// A received tensor as an owner of bytes.
struct Received {
    _tensor: DlTensor,
    /// Invariant: the tensor's data, which `DlTensor::from_raw` was promised to be initialised and left alone.
    memory: NonNull<[u8]>,
}

// SAFETY: the tensor is Send, and the memory is its own.
unsafe impl Send for Received {}
// SAFETY: a shared value gives its bytes for reading only.
unsafe impl Sync for Received {}

impl AsRef<[u8]> for Received {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the memory is valid and initialised as long as the tensor, and not written while this borrow lives.
        unsafe { self.memory.as_ref() }
    }
}

impl AsMut<[u8]> for Received {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; the tensor is one that its receiver may write, or these bytes are read at most.
        unsafe { self.memory.as_mut() }
    }
}

/// Frees a tensor of ours.
///
/// # Safety
/// The structure must be one that `DlTensor::pack` made for a keeper of this type, and this its last use.
unsafe extern "C" fn delete<K>(managed: *mut DlManagedVersioned) {
    // SAFETY: the caller's contract.
    let context = unsafe { (*managed).context };
    // SAFETY: the context is the leaked box, which is taken back once.
    drop(unsafe { Box::from_raw(context.cast::<Export<K>>()) });
}

/// Frees a tensor of ours in the older structure.
///
/// # Safety
/// The structure must be one that `DlTensor::into_legacy` made, and this its last use.
unsafe extern "C" fn delete_legacy(managed: *mut DlManaged) {
    // SAFETY: the structure is the leaked box, which is taken back once.
    let legacy = unsafe { Box::from_raw(managed) };
    if let Some(raw) = NonNull::new(legacy.context.cast()) {
        // SAFETY: the context came from `into_raw`.
        drop(unsafe { DlTensor::from_raw(raw) });
    }
}

/// # Safety
/// The pointer must be null or that of `rank` numbers which live as long as the result.
unsafe fn numbers<'a>(start: *const i64, rank: i32) -> &'a [i64] {
    match usize::try_from(rank) {
        // SAFETY: the caller's contract.
        Ok(rank) if rank > 0 && !start.is_null() => unsafe { slice::from_raw_parts(start, rank) },
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::abi::DlVersion;
    use super::*;
    use crate::workspace::Workspace;

    /// A tensor as another library makes it: elements, sizes and strides of its own, and a witness of its end.
    fn foreign(
        data: Vec<f32>,
        first: usize,
        shape: &[i64],
        strides: Option<&[i64]>,
        flags: u64,
    ) -> (DlTensor, Arc<()>) {
        let alive = Arc::new(());
        let keeper = (
            data,
            shape.to_vec(),
            strides.map(<[i64]>::to_vec),
            alive.clone(),
        );
        let view = DlView {
            data: ptr::null_mut(),
            device: DlDevice { kind: CPU, id: 0 },
            rank: shape.len() as i32,
            dtype: type_of(DType::F32),
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 4 * first as u64,
        };
        let tensor = DlTensor::pack(view, flags, keeper, |view, (data, shape, strides, _)| {
            view.data = data.as_mut_ptr().cast();
            view.shape = shape.as_mut_ptr();
            if let Some(strides) = strides {
                view.strides = strides.as_mut_ptr();
            }
        });
        (tensor, alive)
    }

    fn is_gone(alive: &Arc<()>) -> bool {
        Arc::strong_count(alive) == 1
    }

    fn numbered(len: usize) -> Vec<f32> {
        (0..len).map(|i| i as f32).collect()
    }

    #[test]
    fn received_tensors_are_read_where_they_are() {
        type Case<'a> = (
            usize,
            &'a [i64],
            Option<&'a [i64]>,
            &'a [isize],
            usize,
            &'a [f32],
        );
        let cases: [Case<'_>; 6] = [
            (
                0,
                &[2, 3],
                None,
                &[3, 1],
                0,
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            ),
            (2, &[2], Some(&[3]), &[3], 0, &[2.0, 3.0, 4.0, 5.0]),
            (
                5,
                &[2, 3],
                Some(&[-3, -1]),
                &[-3, -1],
                5,
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            ),
            (4, &[3], Some(&[0]), &[0], 0, &[4.0]),
            (4, &[], None, &[], 0, &[4.0]),
            (0, &[0, 3], None, &[3, 1], 0, &[]),
        ];
        for (first, shape, strides, wanted, offset, bytes) in cases {
            for flags in [0, READ_ONLY] {
                let (tensor, alive) = foreign(numbered(6), first, shape, strides, flags);
                let (buffer, places) = tensor.into_buffer().expect("it is in order");
                assert_eq!(buffer.read().expect("nobody writes").slice::<f32>(), bytes);
                assert_eq!((&places.strides[..], places.offset), (wanted, offset));
                assert_eq!(places.dtype, DType::F32);
                // Of misaligned data and of none a copy is made, which may be written.
                assert!(buffer.is_read_only() == (flags == READ_ONLY) || is_gone(&alive));
                drop(buffer);
                assert!(is_gone(&alive), "{shape:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_received_is_a_typed_error_and_deleted() {
        let change = |change: fn(&mut DlManagedVersioned)| {
            let (mut tensor, alive) = foreign(numbered(6), 0, &[2, 3], Some(&[3, 1]), 0);
            // SAFETY: the structure is this test's.
            change(unsafe { tensor.raw.as_mut() });
            let error = tensor.into_buffer().expect_err("it cannot be received");
            assert!(is_gone(&alive), "{error}");
            error
        };
        let version = change(|m| m.version = DlVersion { major: 2, minor: 0 });
        assert_eq!(version, DlPackError::Version { major: 2 });
        assert_eq!(
            change(|m| m.tensor.device.kind = 2),
            DlPackError::Device { kind: 2 }
        );
        assert!(matches!(
            change(|m| m.tensor.dtype.lanes = 4),
            DlPackError::ElementType { lanes: 4, .. }
        ));
        for (shape, strides) in [
            ([-1, 3], [3, 1]),
            ([i64::MAX, 3], [i64::MAX, 1]),
            ([2, 3], [i64::MIN, i64::MIN]),
            ([2, i64::MAX], [1, 1 << 62]),
        ] {
            let (tensor, alive) = foreign(numbered(6), 0, &shape, Some(&strides), 0);
            let error = tensor.into_buffer().expect_err("it names no places");
            assert!(matches!(error, DlPackError::Places { .. }), "{error}");
            assert!(is_gone(&alive));
        }
    }

    #[test]
    fn sent_tensors_hold_a_guard_until_they_are_deleted() {
        let buffer = Buffer::from_vec(numbered(6)).expect("there is memory");
        let places = DlPlaces {
            dtype: DType::F32,
            shape: vec![2, 2],
            strides: vec![-3, 1],
            offset: 4,
        };
        let tensor = DlTensor::export(&buffer, &places, false).expect("nobody writes");
        assert!(buffer.read().is_ok() && buffer.write().is_err());
        assert!(tensor.is_read_only());
        let (back, received) = tensor.into_buffer().expect("it is ours");
        assert_eq!(received.offset, 3);
        assert_eq!(
            back.read().expect("nobody writes").slice::<f32>(),
            [1.0, 2.0, 3.0, 4.0, 5.0]
        );
        drop(back);
        assert!(buffer.write().is_ok());

        let tensor = DlTensor::export(&buffer, &places, true).expect("nobody reads");
        assert!(buffer.read().is_err() && !tensor.is_read_only());
        let raw = tensor.into_raw();
        // SAFETY: the pointer came from `into_raw` just now.
        let tensor = unsafe { DlTensor::from_raw(raw) };
        std::thread::spawn(move || drop(tensor))
            .join()
            .expect("a tensor may be deleted anywhere");
        assert!(buffer.write().is_ok());
        let stale = Workspace::new("SENT").scope(|_| Buffer::from_vec(vec![1.0_f32; 6]));
        let stale = stale.expect("it opens").expect("there is memory");
        let error = DlTensor::export(&stale, &places, false).expect_err("it is leaked");
        assert!(matches!(error, DlPackError::Access(AccessError::Leaked(_))));
    }

    #[test]
    fn sent_tensors_do_not_reach_beyond_their_buffer() {
        let buffer = Buffer::from_vec(numbered(6)).expect("there is memory");
        for (shape, strides, offset) in [
            (vec![7], vec![1], 0),
            (vec![2], vec![1], 5),
            (vec![2], vec![-1], 0),
            (vec![2], vec![], 0),
            (vec![usize::MAX], vec![1], 0),
            (vec![2], vec![isize::MAX], 1),
            (vec![1], vec![1], usize::MAX),
        ] {
            let places = DlPlaces {
                dtype: DType::F32,
                shape,
                strides,
                offset,
            };
            let error = DlTensor::export(&buffer, &places, false).map(drop);
            assert!(
                matches!(error, Err(DlPackError::Places { .. })),
                "{places:?}"
            );
            assert!(buffer.write().is_ok(), "no guard is left");
        }
    }

    #[test]
    fn the_older_structure_goes_both_ways() {
        static DELETED: AtomicUsize = AtomicUsize::new(0);
        unsafe extern "C" fn deleter(_: *mut DlManaged) {
            DELETED.fetch_add(1, Ordering::Relaxed);
        }
        let buffer = Buffer::from_vec(numbered(6)).expect("there is memory");
        let places = DlPlaces {
            dtype: DType::F32,
            shape: vec![6],
            strides: vec![1],
            offset: 0,
        };
        let tensor = DlTensor::export(&buffer, &places, true).expect("nobody reads");
        let legacy = tensor.into_legacy();
        // SAFETY: the pointer came from `into_legacy` just now.
        let tensor = unsafe { DlTensor::from_legacy(legacy) };
        let (back, _) = tensor.into_buffer().expect("it is ours");
        back.write().expect("it may be written").slice_mut::<f32>()[0] = 9.0;
        assert!(buffer.read().is_err());
        drop(back);
        assert_eq!(buffer.read().expect("nobody writes").slice::<f32>()[0], 9.0);

        let mut data = numbered(2);
        let mut shape = [2_i64];
        let mut managed = DlManaged {
            tensor: DlView {
                data: data.as_mut_ptr().cast::<c_void>(),
                device: DlDevice { kind: CPU, id: 0 },
                rank: 1,
                dtype: type_of(DType::F32),
                shape: shape.as_mut_ptr(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
            context: ptr::null_mut(),
            deleter: Some(deleter),
        };
        // SAFETY: structure and data live until the tensor is dropped, two lines below.
        let tensor = unsafe { DlTensor::from_legacy(NonNull::from(&mut managed)) };
        assert_eq!((tensor.shape(), tensor.strides()), (&[2][..], &[][..]));
        drop(tensor);
        assert_eq!(DELETED.load(Ordering::Relaxed), 1);
    }
}
