//! Elementwise loops around a caller's closure: compiled, where the caller is compiled, for every instruction set, and run
//! over operands of any layout as the built-in operations are.
#![expect(
    unsafe_code,
    reason = "the erased loop around a closure rebuilds slices from the pointers a frame hands it"
)]

use crate::dense;
use crate::driver;
use crate::error::{KernelError, Result};
use crate::isa::{Arch, Kernel, Level, RawKernel};
use crate::operand::{Operand, Output};
use crate::plan::{Action, Load, Plan, Source, Step};
use lodestride_buffer::{Argument, DType, Element};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::slice;

/// The most operands a closure may take.
pub(crate) const MOST: usize = 4;

/// A closure on `N` elements, one of each operand: `Fn(A) -> Z` to `Fn(A, B, C, D) -> Z`, of any element types. It may be
/// called on several threads at once, in any order, and once for all positions where every operand is one element.
pub trait ElementFn<const N: usize, Arguments>: sealed::Sealed<Arguments> + Sync {
    /// What it returns.
    type Out: Element;

    /// The dtypes of its arguments.
    const DTYPES: [DType; N];

    /// Its loop for the machine at hand.
    #[doc(hidden)]
    fn entry() -> Entry;
}

/// A loop over erased elements; only this file makes one.
#[derive(Clone, Copy, Debug)]
pub struct Entry(RawKernel);

mod sealed {
    /// Keeps the loops and the closures they belong to together.
    pub trait Sealed<Arguments> {}
}

/// The loop around closures of one arity.
macro_rules! arity {
    ($Loop:ident $n:literal: $($T:ident $x:ident $index:literal),+) => {
        struct $Loop<F, Z, $($T),+>(PhantomData<(F, Z, $($T,)+)>);

        impl<F: Fn($($T),+) -> Z, Z: Element, $($T: Element),+> Kernel for $Loop<F, Z, $($T),+> {
            #[inline(always)]
            unsafe fn run<A: Arch>(
                n: usize,
                dst: *mut u8,
                record: *const u8,
                closure: *const u8,
                _c: *const u8,
            ) {
                let record = record.cast::<*const u8>();
                // SAFETY: `dst` takes `n` elements of the closure's result (contract of `Kernel::run`).
                let dst = unsafe { slice::from_raw_parts_mut(dst.cast::<Z>(), n) };
                // SAFETY: `zip_map` has put the closure there, and keeps it until the call ends.
                let closure = unsafe { &*closure.cast::<F>() };
                $(
                    // SAFETY: a frame's record has a pointer per operand.
                    let $x = unsafe { record.wrapping_add($index).read() };
                    // SAFETY: it holds `n` elements of the dtype `zip_map` has checked (contract of `Kernel::run`).
                    let $x = unsafe { slice::from_raw_parts($x.cast::<$T>(), n) };
                )+
                for (i, d) in dst.iter_mut().enumerate() {
                    *d = closure($($x[i]),+);
                }
            }
        }

        impl<F: Fn($($T),+) -> Z, Z: Element, $($T: Element),+> sealed::Sealed<(Z, $($T,)+)> for F {}

        impl<F: Fn($($T),+) -> Z + Sync, Z: Element, $($T: Element),+> ElementFn<$n, (Z, $($T,)+)>
            for F
        {
            type Out = Z;

            const DTYPES: [DType; $n] = [$($T::DTYPE),+];

            fn entry() -> Entry {
                Entry(Level::current().kernel::<$Loop<F, Z, $($T),+>>())
            }
        }
    };
}

arity!(Loop1 1: X x 0);
arity!(Loop2 2: X x 0, Y y 1);
arity!(Loop3 3: X x 0, Y y 1, V v 2);
arity!(Loop4 4: X x 0, Y y 1, V v 2, W w 3);

/// Writes `closure(inputs[0][i], inputs[1][i], ..)` to every `out[i]`, in one pass and in vectors of the best instruction
/// set of the machine, whatever the program was compiled for.
///
/// Inputs have `out`'s shape (broadcast axes have stride 0) and any layout; `out` may share memory with them: the result is
/// as if they had been copied first.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, zip_map};
/// use lodestride_shape::{Layout, Order};
///
/// let x = Buffer::from_vec(vec![1.0f32, 2.0, 3.0])?;
/// let layout = Layout::contiguous([3], Order::C)?;
/// let x = Operand::new(&x, &layout, DType::F32)?;
/// zip_map("squares", &|a: f32, b: f32| a * b + 1.0, [x, x], x)?;
/// assert_eq!(x.buffer().read()?.slice::<f32>(), [2.0, 5.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError::UnsupportedDType`] where an operand is not of the closure's type, and as [`binary`](crate::binary).
/// Nothing is written then.
pub fn zip_map<'a, const N: usize, Arguments, F: ElementFn<N, Arguments>>(
    op: &'static str,
    closure: &F,
    inputs: [Operand<'a>; N],
    out: impl Into<Output<'a>>,
) -> Result<()> {
    let mut out: Output<'a> = out.into();
    let unsupported = |dtype| KernelError::UnsupportedDType { op, dtype };
    for (operand, wanted) in inputs.iter().zip(F::DTYPES) {
        if operand.dtype() != wanted {
            return Err(unsupported(operand.dtype()));
        }
    }
    if out.operand().dtype() != F::Out::DTYPE {
        return Err(unsupported(out.operand().dtype()));
    }
    let closure = std::ptr::from_ref(closure).cast();
    run(op, (F::entry().0, false), closure, &inputs, &mut out)
}

/// What errors call an operand of a closure.
pub(crate) fn argument_of(number: usize) -> Argument {
    match number {
        0 => Argument::X,
        1 => Argument::Y,
        _ => Argument::Input(number),
    }
}

/// [`zip_map`] without its types: the kernel gets a record of pointers to the inputs' elements, and `closure`. With it comes whether
/// it takes longer for a byte than an add, which decides from when on threads share it.
pub(crate) fn run<'a>(
    op: &'static str,
    (kernel, heavy): (RawKernel, bool),
    closure: *const u8,
    inputs: &[Operand<'a>],
    out: &mut Output<'a>,
) -> Result<()> {
    if dense::dense_record::<MOST>(op, (kernel, heavy), inputs, closure, out)? {
        return Ok(());
    }
    let out = out.close();
    out.check_writable(op)?;
    let mut loads: SmallVec<[Load<'_>; MOST + 1]> = SmallVec::new();
    for (number, input) in inputs.iter().enumerate() {
        let argument = argument_of(number);
        input.check_shape(op, argument, out.shape())?;
        loads.push(Load::Array(argument, *input));
    }
    loads.push(Load::Environment(closure));
    driver::run(&Plan {
        op,
        loads: &loads,
        steps: &[Step {
            action: Action::Closure(kernel, inputs.len()),
            dtype: out.dtype(),
            tile: 0,
        }],
        tiles: 0,
        results: &[Source::Step(0)],
        outputs: &[(Argument::Z, out)],
        heavy,
    })
}
