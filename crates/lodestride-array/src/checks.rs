//! Watching operations while they run: NaN and infinity in results as errors, and a profile of what was called how often.
//!
//! Everything is off until it is asked for, and then costs one load of one word for each operation. What is watched is a set of
//! independent flags, [`Checks`], for the whole process or for what one closure does on its thread. The profile is in [`Profile`].
//!
//! An operation is watched as a whole: what it is made of is part of it, neither counted nor looked at on its own.
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
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, OrFail, Result};
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
    /// Whether a watched operation runs on this thread: others are parts of it.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
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

/// What an operation gives back, as the checks see it.
pub(crate) trait Made {
    /// The arrays that were made or changed; a number is one without axes.
    fn arrays(&self) -> Vec<NdArray>;
}

impl Made for NdArray {
    fn arrays(&self) -> Vec<NdArray> {
        vec![self.clone()]
    }
}

impl Made for Vec<NdArray> {
    fn arrays(&self) -> Vec<NdArray> {
        self.clone()
    }
}

impl<T: Made> Made for &T {
    fn arrays(&self) -> Vec<NdArray> {
        T::arrays(self)
    }
}

impl<T: Made, U: Made> Made for (T, U) {
    fn arrays(&self) -> Vec<NdArray> {
        [self.0.arrays(), self.1.arrays()].concat()
    }
}

impl Made for f64 {
    fn arrays(&self) -> Vec<NdArray> {
        let number = lodestride_buffer::scope_out(|| NdArray::scalar(*self));
        number.into_iter().collect()
    }
}

/// What is no array of floats: positions, and elements handed out.
macro_rules! nothing_made {
    ($($kind:ty),*) => {
        $(impl Made for $kind {
            fn arrays(&self) -> Vec<NdArray> {
                Vec::new()
            }
        })*
    };
}
nothing_made!((), usize);

/// The beginning of an operation, if it is watched.
#[derive(Debug)]
pub(crate) struct Watch(Option<Started>);

#[derive(Debug)]
struct Started {
    checks: Checks,
    at: Instant,
}

/// Also when the operation fails or panics.
impl Drop for Started {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
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
        let (checks, at) = (Checks::current(), Instant::now());
        if INSIDE.get() || !(checks.bits != 0 || profile::is_recording()) {
            return Watch(None);
        }
        INSIDE.set(true);
        Watch(Some(Started { checks, at }))
    }

    /// Called with what the operation made, and what it read.
    #[inline]
    #[track_caller]
    pub(crate) fn made<T: Made>(
        self,
        op: &'static str,
        inputs: &[&NdArray],
        made: Result<T>,
    ) -> Result<T> {
        let Watch(Some(started)) = self else {
            return made;
        };
        let out = made?;
        started.finish(op, inputs, &|| out.arrays())?;
        Ok(out)
    }
}

/// Runs an operation that is made of others, or of loops of its own, under the checks, which see it and not its parts. Errors
/// point at the line of this function's caller; memory asked for in the closure does not, so that what makes arrays calls
/// [`Watch::start`] and [`Watch::made`] instead.
#[inline]
#[track_caller]
pub(crate) fn recorded<T: Made>(
    op: &'static str,
    inputs: &[&NdArray],
    run: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let watch = Watch::start();
    let made = run().located();
    watch.made(op, inputs, made)
}

/// [`recorded`] for an operation that fills or changes an array.
#[inline]
#[track_caller]
pub(crate) fn recorded_in(
    op: &'static str,
    inputs: &[&NdArray],
    out: &NdArray,
    run: impl FnOnce() -> Result<()>,
) -> Result<()> {
    recorded(op, inputs, || run().map(|()| out)).map(drop)
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
        Some(started) => started.finish(op, inputs, &|| vec![out.clone()]),
    }
}

impl Started {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn finish(
        self,
        op: &'static str,
        inputs: &[&NdArray],
        made: &dyn Fn() -> Vec<NdArray>,
    ) -> Result<()> {
        let time = self.at.elapsed();
        let made = made();
        let call = Call::new(time, inputs, &made);
        profile::record(self.checks.has(PROFILE), op, &call);
        for out in &made {
            self.checks.look_at(op, inputs, out)?;
        }
        Ok(())
    }
}

impl Checks {
    /// The error where a result holds what these forbid.
    #[track_caller]
    fn look_at(self, op: &'static str, inputs: &[&NdArray], out: &NdArray) -> Result<()> {
        if !out.dtype().is_float() {
            return Ok(());
        }
        for (flag, test) in [(NAN, UnaryOp::IsNan), (INFINITY, UnaryOp::IsInf)] {
            if !self.has(flag) {
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
