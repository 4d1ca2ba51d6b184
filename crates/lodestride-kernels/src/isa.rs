//! Which instruction set runs: detection once, and the only `#[target_feature]` functions of the crate.
//!
//! What an element function does is in `scalar/`, the loops are in `inner.rs`; here they are merely compiled once per
//! instruction set. Nothing here knows dtypes or operations.
#![expect(
    unsafe_code,
    reason = "calling a function compiled for more features than the crate's baseline is unsafe by definition"
)]

#[cfg(target_arch = "x86_64")]
use crate::octave;
use crate::octave::{LookUp, LookUpPair};
use crate::pick::{Pick, PickRows};
use crate::prefetching::look_at_processor;
use crate::scalar::BLOCK;
use crate::vector::Array;
use crate::vector::halves::Halves;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86::Register;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction set the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// What every processor of the target has (SSE2 on x86-64).
    Baseline,
    /// x86-64 with AVX2 and FMA: 256-bit vectors.
    Avx2,
    /// x86-64 with AVX-512 F, BW, CD, DQ and VL: 512-bit vectors.
    Avx512,
    /// 64-bit ARM: 128-bit vectors, always present there.
    Neon,
}

impl Isa {
    /// Every instruction set this crate knows, from slow to fast per architecture.
    pub const ALL: [Isa; 4] = [Isa::Baseline, Isa::Avx2, Isa::Avx512, Isa::Neon];

    /// The name `LODESTRIDE_ISA` understands: `baseline`, `avx2`, `avx512`, `neon`.
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
        }
    }

    /// The instruction set of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Isa> {
        Isa::ALL
            .into_iter()
            .find(|isa| isa.name().eq_ignore_ascii_case(name))
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Baseline => !cfg!(target_arch = "aarch64"),
            Isa::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => has_avx512(),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => false,
        }
    }

    /// Every instruction set this machine can run.
    pub fn available() -> impl Iterator<Item = Isa> {
        Isa::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// The instruction set the kernels use in this process: the best of the machine, lowered by the environment variable
    /// `LODESTRIDE_ISA=baseline|avx2|avx512` or by [`Isa::select`]. Looked up once, then one atomic load.
    pub fn detect() -> Isa {
        Level::current().isa()
    }

    /// Makes the kernels of the whole process use this instruction set from now on; false (and no change) where the
    /// machine cannot run it. For tests, benchmarks and bug hunting.
    pub fn select(self) -> bool {
        let available = self.is_available();
        if available {
            look_at_processor();
            CURRENT.store(self as u8, Ordering::Relaxed);
        }
        available
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// The value of `CURRENT` before the first look-up.
const UNKNOWN: u8 = u8::MAX;

/// Only ever `UNKNOWN` or the number of an instruction set that `is_available` has confirmed.
static CURRENT: AtomicU8 = AtomicU8::new(UNKNOWN);

/// An instruction set this machine has been seen to support: the licence to call a kernel compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Invariant: `isa.is_available()`; only this module makes a `Level`.
    isa: Isa,
}

impl Level {
    /// The process-wide choice.
    #[inline]
    pub(crate) fn current() -> Level {
        let isa = match CURRENT.load(Ordering::Relaxed) {
            0 => Isa::Baseline,
            1 => Isa::Avx2,
            2 => Isa::Avx512,
            3 => Isa::Neon,
            _ => return Level::look_up(),
        };
        Level { isa }
    }

    #[cold]
    fn look_up() -> Level {
        let best = Isa::available().last().unwrap_or(Isa::Baseline);
        let wanted = std::env::var("LODESTRIDE_ISA")
            .ok()
            .and_then(|name| Isa::from_name(&name));
        let isa = wanted.filter(|isa| isa.is_available()).unwrap_or(best);
        look_at_processor();
        CURRENT.store(isa as u8, Ordering::Relaxed);
        Level { isa }
    }

    #[inline]
    pub(crate) fn isa(self) -> Isa {
        self.isa
    }

    /// Runs a task compiled for this instruction set.
    #[inline]
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        self.run_tuned(task).unwrap_or_else(task_baseline)
    }

    /// [`Level::run`] for tasks that are a faster way of doing what another does: on the baseline, which is for machines from
    /// before 2013 and for which code would be as long again, the task comes back.
    #[inline]
    pub(crate) fn run_tuned<T: Task>(self, task: T) -> Result<T::Output, T> {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `isa` is available on this machine (invariant of `Level`), so the features are there.
            Isa::Avx2 => Ok(unsafe { task_avx2(task) }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx512 => Ok(unsafe { task_avx512(task) }),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Ok(task.run::<Fused>()),
            _ => Err(task),
        }
    }

    /// [`Level::run`] without AVX-512, for loops that are not worth a third copy of their code.
    #[inline]
    pub(crate) fn run_narrow<T: Task>(self, task: T) -> T::Output {
        self.run_narrow_tuned(task).unwrap_or_else(task_baseline)
    }

    /// [`Level::run_tuned`] without AVX-512.
    #[inline]
    pub(crate) fn run_narrow_tuned<T: Task>(self, task: T) -> Result<T::Output, T> {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; a machine with AVX-512 has AVX2 too: `has_avx512` asks for both.
            Isa::Avx2 | Isa::Avx512 => Ok(unsafe { task_avx2(task) }),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Ok(task.run::<Fused>()),
            _ => Err(task),
        }
    }

    /// Whether [`Level::run_narrow_tuned`] runs tasks.
    #[inline]
    pub(crate) fn is_tuned(self) -> bool {
        !matches!(self.isa, Isa::Baseline)
    }

    /// The function that runs an erased kernel on any machine.
    #[inline]
    pub(crate) fn baseline_kernel<K: Kernel>() -> RawKernel {
        kernel_baseline::<K>
    }

    /// [`Level::kernel`] for kernels that only vector instruction sets have.
    #[inline]
    pub(crate) fn wide_kernel<K: Kernel>(self) -> Option<RawKernel> {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Some(kernel_avx2::<K>),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(kernel_avx512::<K>),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Some(kernel_neon::<K>),
            _ => None,
        }
    }

    /// [`Level::kernel`] for kernels that only AVX-512 has.
    #[inline]
    pub(crate) fn widest_kernel<K: Kernel>(self) -> Option<RawKernel> {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(kernel_avx512::<K>),
            _ => None,
        }
    }

    /// The function that runs an erased kernel on this instruction set.
    #[inline]
    pub(crate) fn kernel<K: Kernel>(self) -> RawKernel {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => kernel_avx2::<K>,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => kernel_avx512::<K>,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => kernel_neon::<K>,
            _ => kernel_baseline::<K>,
        }
    }

    /// [`Level::kernel`] without AVX-512.
    #[inline]
    pub(crate) fn narrow_kernel<K: Kernel>(self) -> RawKernel {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // A machine with AVX-512 has AVX2 too.
            Isa::Avx2 | Isa::Avx512 => kernel_avx2::<K>,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => kernel_neon::<K>,
            _ => kernel_baseline::<K>,
        }
    }
}

/// What an element function may know about the machine it is compiled for.
pub(crate) trait Arch: Copy + 'static {
    /// Whether `mul_add` is one instruction. Without it `mul_add` is a library call, so the plain form is used.
    const FMA: bool;
    /// Whether a second, faster way through a task is worth its code: not on the baseline, see [`Level::run_tuned`].
    const TUNED: bool = true;

    /// The vectors of explicitly vectorised kernels.
    type F32: Pick + Halves;
    /// The same of f64.
    type F64: PickRows;

    /// [`Unary::block`](crate::scalar::Unary::block) of a function of vectors that look up, where there are such vectors.
    #[inline(always)]
    fn look_up_f32<F: LookUp<f32>>(_: &mut [f32; BLOCK], _: &[f32; BLOCK]) -> Option<bool> {
        None
    }
    /// The same of f64.
    #[inline(always)]
    fn look_up_f64<F: LookUp<f64>>(_: &mut [f64; BLOCK], _: &[f64; BLOCK]) -> Option<bool> {
        None
    }
    /// [`Binary::block`](crate::scalar::Binary::block) of such a function of pairs.
    #[inline(always)]
    fn look_up_pairs_f32<F: LookUpPair<f32>>(
        _: &mut [f32; BLOCK],
        _: &[f32; BLOCK],
        _: &[f32; BLOCK],
    ) -> Option<bool> {
        None
    }
    /// The same of f64.
    #[inline(always)]
    fn look_up_pairs_f64<F: LookUpPair<f64>>(
        _: &mut [f64; BLOCK],
        _: &[f64; BLOCK],
        _: &[f64; BLOCK],
    ) -> Option<bool> {
        None
    }
}

/// A machine without fused multiply-add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Arch for Plain {
    const FMA: bool = false;
    const TUNED: bool = false;
    type F32 = Array<f32, 4>;
    type F64 = Array<f64, 4>;
}

/// A machine with fused multiply-add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fused;

#[cfg(target_arch = "x86_64")]
impl Arch for Fused {
    const FMA: bool = true;
    type F32 = Register<__m256>;
    type F64 = Register<__m256d>;
}

#[cfg(not(target_arch = "x86_64"))]
impl Arch for Fused {
    const FMA: bool = true;
    type F32 = Array<f32, 8>;
    type F64 = Array<f64, 4>;
}

/// A machine with AVX-512.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide;

#[cfg(target_arch = "x86_64")]
impl Arch for Wide {
    const FMA: bool = true;
    type F32 = Register<__m512>;
    type F64 = Register<__m512d>;

    #[inline(always)]
    fn look_up_f32<F: LookUp<f32>>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        Some(octave::block::<f32, F, Self::F32>(dst, x))
    }
    #[inline(always)]
    fn look_up_f64<F: LookUp<f64>>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
        Some(octave::block::<f64, F, Self::F64>(dst, x))
    }
    #[inline(always)]
    fn look_up_pairs_f32<F: LookUpPair<f32>>(
        dst: &mut [f32; BLOCK],
        x: &[f32; BLOCK],
        y: &[f32; BLOCK],
    ) -> Option<bool> {
        Some(F::block::<Self::F32>(dst, x, y))
    }
    #[inline(always)]
    fn look_up_pairs_f64<F: LookUpPair<f64>>(
        dst: &mut [f64; BLOCK],
        x: &[f64; BLOCK],
        y: &[f64; BLOCK],
    ) -> Option<bool> {
        Some(F::block::<Self::F64>(dst, x, y))
    }
}

/// Work to be compiled once per instruction set: slices and numbers in its fields, the loop in `run`, which must be
/// `#[inline(always)]` (as must be what it calls) or it is compiled for the baseline only.
pub(crate) trait Task {
    type Output;

    fn run<A: Arch>(self) -> Self::Output;
}

/// A function of its own, as those of the other instruction sets: one copy however often it is called.
#[inline(never)]
pub(crate) fn task_baseline<T: Task>(task: T) -> T::Output {
    task.run::<Plain>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn task_avx2<T: Task>(task: T) -> T::Output {
    task.run::<Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
)]
fn task_avx512<T: Task>(task: T) -> T::Output {
    task.run::<Wide>()
}

/// An element loop with its types erased: `n` elements to `dst` from up to three sources.
///
/// # Safety
/// As `Kernel::run` of the kernel it was made from, and the machine must have the instruction set it was made for.
pub(crate) type RawKernel =
    unsafe fn(n: usize, dst: *mut u8, a: *const u8, b: *const u8, c: *const u8);

/// An element loop over erased pointers, compiled once per instruction set by [`Level::kernel`].
pub(crate) trait Kernel {
    /// Runs the loop over `n` elements. Must be `#[inline(always)]`.
    ///
    /// # Safety
    /// Each pointer the kernel uses is aligned and valid for `n` elements of the type the kernel names for it (one
    /// element for a scalar source), `dst` for writes and not overlapping any source; no other access to `dst` happens
    /// meanwhile.
    unsafe fn run<A: Arch>(n: usize, dst: *mut u8, a: *const u8, b: *const u8, c: *const u8);
}

/// # Safety
/// As `Kernel::run`.
unsafe fn kernel_baseline<K: Kernel>(
    n: usize,
    dst: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
) {
    // SAFETY: the caller keeps the contract of `Kernel::run`.
    unsafe { K::run::<Plain>(n, dst, a, b, c) }
}

/// # Safety
/// As `Kernel::run`.
#[cfg(target_arch = "aarch64")]
unsafe fn kernel_neon<K: Kernel>(n: usize, dst: *mut u8, a: *const u8, b: *const u8, c: *const u8) {
    // SAFETY: the caller keeps the contract of `Kernel::run`.
    unsafe { K::run::<Fused>(n, dst, a, b, c) }
}

/// # Safety
/// As `Kernel::run`; the machine must have the features named.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn kernel_avx2<K: Kernel>(n: usize, dst: *mut u8, a: *const u8, b: *const u8, c: *const u8) {
    // SAFETY: the caller keeps the contract of `Kernel::run`.
    unsafe { K::run::<Fused>(n, dst, a, b, c) }
}

/// # Safety
/// As `Kernel::run`; the machine must have the features named.
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn kernel_avx512<K: Kernel>(
    n: usize,
    dst: *mut u8,
    a: *const u8,
    b: *const u8,
    c: *const u8,
) {
    // SAFETY: the caller keeps the contract of `Kernel::run`.
    unsafe { K::run::<Wide>(n, dst, a, b, c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_the_choice_is_available() {
        for isa in Isa::ALL {
            assert_eq!(Isa::from_name(isa.name()), Some(isa));
        }
        assert_eq!(Isa::from_name("sse9"), None);
        assert!(Isa::detect().is_available());
    }

    #[test]
    fn a_task_runs_on_every_available_set() {
        struct Sum<'a>(&'a [f32]);
        impl Task for Sum<'_> {
            type Output = f32;

            #[inline(always)]
            fn run<A: Arch>(self) -> f32 {
                self.0.iter().sum()
            }
        }
        for isa in Isa::available() {
            assert_eq!(Level { isa }.run(Sum(&[1.0, 2.0, 3.0])), 6.0, "{isa}");
        }
    }
}
