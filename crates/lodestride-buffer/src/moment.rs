//! [`Moment`]: several buffers open at once for one short loop, while one thread alone uses buffers.
#![expect(
    unsafe_code,
    reason = "what opens buffers without a guard has a contract"
)]

use crate::bias::{Alone, alone};
use crate::buffer::Buffer;
use crate::pin;

/// A time in which no other thread can use a buffer, so that nothing needs to be registered in access words.
///
/// It is what guards are for a loop over a few elements, without their exchanges: a guard of its own for each operand takes longer than
/// such a loop.
///
/// ```
/// use lodestride_buffer::{Buffer, Moment};
/// let x = Buffer::from_vec(vec![1_i32, 2, 3])?;
/// let mut sum = 0;
/// // SAFETY: nothing below uses a buffer or waits before the moment ends.
/// if let Some(moment) = unsafe { Moment::begin() } {
///     if let Some(bytes) = moment.read(&x) {
///         // SAFETY: three numbers, which may be read as long as the moment lasts.
///         sum = unsafe { std::slice::from_raw_parts(bytes.cast::<i32>(), 3) }.iter().sum();
///     }
/// } else {
///     sum = x.read()?.slice::<i32>().iter().sum();
/// }
/// assert_eq!(sum, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "buffers are open only while the moment lasts"]
#[derive(Debug)]
pub struct Moment(Alone);

impl Moment {
    /// Begins one; `None` where several threads use buffers, and guards are needed.
    ///
    /// # Safety
    /// Until it is dropped the calling thread makes, clones, opens and drops no buffer, ends no guard and begins no other moment: each
    /// of these would end this one. Whoever uses its first buffer meanwhile waits, so the thread waits for nobody and is done soon.
    #[inline(always)]
    pub unsafe fn begin() -> Option<Moment> {
        alone().map(Moment)
    }

    /// Where the bytes of a buffer begin, to be read until the moment ends; `None` where [`Buffer::read`] would be refused.
    #[inline(always)]
    pub fn read(&self, buffer: &Buffer) -> Option<*const u8> {
        self.open(buffer, buffer.access().has_writer())
            .map(|bytes| bytes.cast_const())
    }

    /// The same, to be written; `None` where [`Buffer::write`] would be refused. One buffer that is asked for twice is given twice.
    #[inline(always)]
    pub fn write(&self, buffer: &Buffer) -> Option<*mut u8> {
        self.open(buffer, !buffer.access().is_free())
    }

    #[inline(always)]
    fn open(&self, buffer: &Buffer, is_refused: bool) -> Option<*mut u8> {
        (!is_refused && !pin::is_stale(buffer.home())).then(|| buffer.data().as_ptr())
    }
}
