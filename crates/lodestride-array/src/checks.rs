//! Watching operations while they run: NaN and infinity in results as errors, and a profile of what was called how often.
//!
//! Everything is off until it is asked for, and then costs one load of one word for each operation. What is watched is a set of
//! independent flags, [`Checks`], for the whole process or for what one closure does on its thread. The profile is in [`Profile`].
//!
//! That stale arrays of workspaces are found is no check to switch on: it always is, see [`Workspace`](crate::Workspace).

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use lodestride_buffer::{Bool, DType};
use lodestride_kernels::{self as kernels, UnaryOp};
use lodestride_shape::Order;

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, OrFail, Result};
use crate::profile::{self, Call};

/// What is looked at after every operation: a set of flags that do not exclude each other.
///
/// ```
/// use lodestride_array::{ArrayErrorKind, Checks, NdArray};
///
/// let a = NdArray::from([1.0f32, f32::NAN, 3.0]);
/// let checks = Checks::none().nan(true).infinity(true);
/// let error = checks.scope(|| a.mul(2.0)).unwrap_err();
/// assert!(matches!(error.kind(), ArrayErrorKind::NotFinite(found) if found.count == 1 && found.first == [1]));
/// assert!(error.to_string().starts_with("P.A.N.I.C.! Op.Z() contains 1 NaN value(s): mul"));
/// assert!(a.mul(2.0).is_ok()); // only what the closure does is watched
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[must_use = "flags do nothing until `set` or `scope`"]
pub struct Checks {
    bits: u8,
}

const NAN: u8 = 1;
const INFINITY: u8 = 2;
const PROFILE: u8 = 4;
/// This many flags are in the low bits of [`ACTIVE`]; the number of open scopes is above them.
const FLAG_BITS: u32 = 8;

/// The flags of the process, and how many scopes are open on all threads: 0 when nobody watches.
static ACTIVE: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The flags of the innermost scope of this thread.
    static SCOPE: Cell<Option<u8>> = const { Cell::new(None) };
}

impl Checks {
    /// Nothing is watched.
    pub const fn none() -> Self {
        Self { bits: 0 }
    }

    /// Whether a NaN in a result is an error (ND4J's `NAN_PANIC`).
    #[doc(alias = "NAN_PANIC")]
    #[doc(alias = "checkForNAN")]
    pub const fn nan(self, on: bool) -> Self {
        self.with(NAN, on)
    }

    /// Whether an infinity of either sign in a result is an error (ND4J's `INF_PANIC`).
    #[doc(alias = "INF_PANIC")]
    #[doc(alias = "checkForINF")]
    pub const fn infinity(self, on: bool) -> Self {
        self.with(INFINITY, on)
    }

    /// Whether calls are counted and timed for [`Profile::of_process`](crate::Profile::of_process) (ND4J's `OPERATIONS` and `BANDWIDTH`).
    #[doc(alias = "OPERATIONS")]
    #[doc(alias = "BANDWIDTH")]
    pub const fn profile(self, on: bool) -> Self {
        self.with(PROFILE, on)
    }

    const fn with(self, flag: u8, on: bool) -> Self {
        let bits = if on {
            self.bits | flag
        } else {
            self.bits & !flag
        };
        Self { bits }
    }

    const fn has(self, flag: u8) -> bool {
        self.bits & flag != 0
    }

    /// Watches for these from now on, and for nothing else, in all threads of the process that are in no
    /// [`scope`](Self::scope).
    ///
    /// ```
    /// use lodestride_array::{Checks, NdArray};
    ///
    /// Checks::none().infinity(true).set();
    /// assert!(NdArray::from([1.0f32]).div(0.0).is_err());
    /// Checks::none().set();
    /// ```
    #[doc(alias = "setProfilingMode")]
    #[doc(alias = "setProfilingConfig")]
    pub fn set(self) {
        let flags = (1 << FLAG_BITS) - 1;
        let change = |active| Some(active & !flags | u32::from(self.bits));
        // The closure never declines.
        let _ = ACTIVE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// What is watched on this thread now.
    pub fn current() -> Self {
        let process = ACTIVE.load(Ordering::Relaxed) as u8;
        Self {
            bits: SCOPE.get().unwrap_or(process),
        }
    }

    /// Runs a closure in which these are watched, and nothing else, on this thread.
    ///
    /// Scopes may be nested; the innermost counts. What other threads do for the closure is not watched.
    pub fn scope<R>(self, body: impl FnOnce() -> R) -> R {
        /// Closes the scope, also when the closure panics.
        struct Close(Option<u8>);
        impl Drop for Close {
            fn drop(&mut self) {
                SCOPE.set(self.0);
                ACTIVE.fetch_sub(1 << FLAG_BITS, Ordering::Relaxed);
            }
        }
        ACTIVE.fetch_add(1 << FLAG_BITS, Ordering::Relaxed);
        let _close = Close(SCOPE.replace(Some(self.bits)));
        body()
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checks")
            .field("nan", &self.has(NAN))
            .field("infinity", &self.has(INFINITY))
            .field("profile", &self.has(PROFILE))
            .finish()
    }
}

/// Values that a check forbids, in the result of an operation. The result has been written.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    /// The operation.
    pub op: &'static str,
    /// Whether they are NaN; else they are infinite.
    pub is_nan: bool,
    /// How many there are.
    pub count: usize,
    /// Where the first one is, in C order.
    pub first: Vec<usize>,
    /// Whether an operand held such values before. What the target of an operation in place held is not known.
    pub in_operand: bool,
    /// The result.
    pub array: ArraySummary,
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = if self.is_nan { "NaN" } else { "INF" };
        let (count, op) = (self.count, self.op);
        write!(
            f,
            "P.A.N.I.C.! Op.Z() contains {count} {values} value(s): {op}"
        )?;
        if !self.first.is_empty() {
            write!(f, ", the first at {:?}", self.first)?;
        }
        write!(f, "\n  result: {}", self.array)?;
        f.write_str(match self.in_operand {
            true => "\n  help: an operand had some already: look at what made it",
            false => {
                "\n  help: no other operand had any: they come from this operation, or were there before an operation in place"
            }
        })?;
        f.write_str("; `is_nan()` and `is_inf()` show where")
    }
}

/// Whether anything is watched anywhere: one load, and the whole cost of the checks where they are off.
#[inline]
pub(crate) fn are_on() -> bool {
    ACTIVE.load(Ordering::Relaxed) != 0
}

/// The beginning of an operation, if it is watched.
#[derive(Debug)]
pub(crate) struct Watch(Option<Started>);

#[derive(Debug)]
struct Started {
    checks: Checks,
    at: Instant,
}

impl Watch {
    /// Called before the kernel runs.
    #[inline]
    pub(crate) fn start() -> Watch {
        if are_on() { Self::begin() } else { Watch(None) }
    }

    #[cold]
    #[inline(never)]
    fn begin() -> Watch {
        let checks = Checks::current();
        let (wanted, at) = (checks.bits != 0 || profile::is_recording(), Instant::now());
        Watch(wanted.then_some(Started { checks, at }))
    }

    /// Called with what the kernel made, and what it read.
    #[inline]
    #[track_caller]
    pub(crate) fn made(
        self,
        op: &'static str,
        inputs: &[&NdArray],
        made: Result<NdArray>,
    ) -> Result<NdArray> {
        let Watch(Some(started)) = self else {
            return made;
        };
        let out = made?;
        started.finish(op, inputs, &out)?;
        Ok(out)
    }
}

/// Runs a kernel that fills or changes an array, under the checks. Unwatched, which is the usual case, it is the kernel and
/// one load; the rest is out of line.
#[inline]
#[track_caller]
pub(crate) fn watched(
    op: &'static str,
    inputs: &[&NdArray],
    out: &NdArray,
    kernel: impl FnOnce() -> kernels::Result<()>,
) -> Result<()> {
    if are_on() {
        return run_watched(op, inputs, out, kernel);
    }
    kernel().or_fail(op)
}

#[cold]
#[inline(never)]
#[track_caller]
fn run_watched(
    op: &'static str,
    inputs: &[&NdArray],
    out: &NdArray,
    kernel: impl FnOnce() -> kernels::Result<()>,
) -> Result<()> {
    let watch = Watch::begin();
    kernel().or_fail(op)?;
    match watch.0 {
        None => Ok(()),
        Some(started) => started.finish(op, inputs, out),
    }
}

impl Started {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn finish(self, op: &'static str, inputs: &[&NdArray], out: &NdArray) -> Result<()> {
        let time = self.at.elapsed();
        profile::record(self.checks.has(PROFILE), op, &Call::new(time, inputs, out));
        if !out.dtype().is_float() {
            return Ok(());
        }
        for (flag, test) in [(NAN, UnaryOp::IsNan), (INFINITY, UnaryOp::IsInf)] {
            if !self.checks.has(flag) {
                continue;
            }
            let Some((count, first)) = found(out, test)? else {
                continue;
            };
            let mut in_operand = false;
            for input in inputs.iter().filter(|input| input.dtype().is_float()) {
                in_operand |= found(input, test)?.is_some();
            }
            return Err(ArrayError::new(ArrayErrorKind::NotFinite(NotFinite {
                op,
                is_nan: flag == NAN,
                count,
                first,
                in_operand,
                array: ArraySummary::of(out),
            })));
        }
        Ok(())
    }
}

/// How many elements pass a test, and where the first one is; `None` when there is none.
#[track_caller]
fn found(array: &NdArray, test: UnaryOp) -> Result<Option<(usize, Vec<usize>)>> {
    let mut place = None;
    let layout = array.layout().packed_in(Order::C, &mut place);
    // What is looked at here has no place in the caller's workspace, nor in the profile.
    let mask = lodestride_buffer::scope_out(|| {
        NdArray::filled_by(test.name(), layout, DType::Bool, |out| {
            kernels::unary(test, array.operand().into(), out)
        })
    })?;
    let count = kernels::count_nonzero(mask.operand()).or_fail(test.name())?;
    let mask = mask.view::<Bool>()?;
    let Some(mut index) = mask.iter().position(|&is| is.into()).filter(|_| count > 0) else {
        return Ok(None);
    };
    let mut first = vec![0; array.rank()];
    for (place, &size) in first.iter_mut().zip(array.shape().iter()).rev() {
        *place = index % size;
        index /= size;
    }
    Ok(Some((count, first)))
}
