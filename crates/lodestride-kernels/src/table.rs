//! `(operation, dtype, form) -> function`: the only place where a dtype known at run time meets a type known to the
//! compiler. A kernel knows nothing of shapes; the driver decides which form fits.
#![expect(
    unsafe_code,
    reason = "erased kernels rebuild slices from the pointers the driver hands them"
)]

use crate::inner;
use crate::isa::{Arch, Isa, Kernel, Level, RawKernel};
use crate::plan::Reach;
use crate::scalar::cast::Cast;
use crate::scalar::{Binary, Unary};
use crate::table_halves::{self, Half};
use lodestride_buffer::{Bool, DType, Element};
use std::marker::PhantomData;
use std::slice;

/// The loops of an operation on one operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnaryKernel {
    /// The dtype of the result.
    pub(crate) out: DType,
    /// Whether arithmetic rather than memory sets the pace.
    pub(crate) heavy: bool,
    /// `dst = op(a)`, nothing shared.
    pub(crate) map: RawKernel,
    /// `dst = op(dst)`.
    pub(crate) in_place: Option<RawKernel>,
}

/// The loops of an operation on two operands. A form that is `None` is replaced by [`BinaryKernel::zip`] over tiles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BinaryKernel {
    /// The dtype of the result.
    pub(crate) out: DType,
    /// Whether arithmetic rather than memory sets the pace.
    pub(crate) heavy: bool,
    /// `dst = op(a, b)`, nothing shared with `dst`.
    pub(crate) zip: RawKernel,
    /// `dst = op(dst, b)`.
    pub(crate) zip_in_place: Option<RawKernel>,
    /// `dst = op(a, *b)`: `b` is one element.
    pub(crate) zip_scalar: Option<RawKernel>,
    /// `dst = op(dst, *b)`: `b` is one element.
    pub(crate) zip_scalar_in_place: Option<RawKernel>,
    /// `dst = op(*a, b)`: `a` is one element.
    pub(crate) scalar_zip: Option<RawKernel>,
}

impl BinaryKernel {
    /// The loop for operands that reach it so, where there is one.
    #[inline]
    pub(crate) fn form(&self, left: Reach, right: Reach) -> Option<RawKernel> {
        match (left, right) {
            (Reach::Each, Reach::Each) => Some(self.zip),
            (Reach::Over, Reach::Each) => self.zip_in_place,
            (Reach::Each, Reach::One) => self.zip_scalar,
            (Reach::Over, Reach::One) => self.zip_scalar_in_place,
            (Reach::One, Reach::Each) => self.scalar_zip,
            _ => None,
        }
    }
}

/// The loops of an operation on three operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TernaryKernel {
    /// `dst = op(a, b, c)`, nothing shared with `dst`.
    pub(crate) map: RawKernel,
    /// `dst = op(a, b, dst)`.
    pub(crate) in_place: Option<RawKernel>,
}

/// The slice an erased source pointer stands for.
///
/// # Safety
/// `pointer` is aligned and valid for reads of `n` elements of `T` for the lifetime the caller picks, and nothing writes
/// them meanwhile. Every pattern of bytes is a `T` (contract of `Element`).
#[inline(always)]
unsafe fn source<'a, T: Element>(pointer: *const u8, n: usize) -> &'a [T] {
    // SAFETY: the caller's contract is that of `from_raw_parts`.
    unsafe { slice::from_raw_parts(pointer.cast(), n) }
}

/// The slice an erased destination pointer stands for.
///
/// # Safety
/// As [`source`], for reads and writes, and nothing else touches the elements meanwhile.
#[inline(always)]
unsafe fn target<'a, T: Element>(pointer: *mut u8, n: usize) -> &'a mut [T] {
    // SAFETY: the caller's contract is that of `from_raw_parts_mut`.
    unsafe { slice::from_raw_parts_mut(pointer.cast(), n) }
}

/// The one element an erased scalar pointer stands for.
///
/// # Safety
/// `pointer` is aligned and valid for a read of a `T`.
#[inline(always)]
unsafe fn single<T: Element>(pointer: *const u8) -> T {
    // SAFETY: the caller's contract is that of `read`.
    unsafe { pointer.cast::<T>().read() }
}

/// Declares an erased kernel: the views it makes of its pointers and the loop it runs over them.
macro_rules! erased {
    ($(
        $(#[$doc:meta])*
        $Name:ident<$($P:ident),+> where ($($bound:tt)+) ($n:ident, $d:ident, $a:ident, $b:ident, $c:ident) {
            $( $view:ident = $make:ident::<$V:ty>($pointer:expr $(, $len:ident)?); )*
            => $call:expr
        }
    )*) => { $(
        $(#[$doc])*
        pub(crate) struct $Name<$($P),+>(PhantomData<($($P,)+)>);

        impl<$($P),+> Kernel for $Name<$($P),+> where $($bound)+ {
            #[inline(always)]
            unsafe fn run<A: Arch>($n: usize, $d: *mut u8, $a: *const u8, $b: *const u8, $c: *const u8) {
                // SAFETY: the contract of `Kernel::run` gives alignment, extent and disjointness for the types named.
                $( let $view = unsafe { $make::<$V>($pointer $(, $len)?) }; )*
                $call
            }
        }
    )* };
}

erased! {
    /// `dst = O(a)`.
    Map<O, T> where (O: Unary<T>, T: Element) (n, d, a, _b, _c) {
        dst = target::<O::Out>(d, n);
        x = source::<T>(a, n);
        => inner::map::<O, T, A>(dst, x)
    }
    /// `dst = O(a)`, of many instructions.
    MapBlocks<O, T> where (O: Unary<T>, T: Element) (n, d, a, _b, _c) {
        dst = target::<O::Out>(d, n);
        x = source::<T>(a, n);
        => inner::map_blocks::<O, T, A>(dst, x)
    }
    /// `dst = O(dst)`.
    MapInPlace<O, T> where (O: Unary<T, Out = T>, T: Element) (n, d, _a, _b, _c) {
        dst = target::<T>(d, n);
        => inner::map_in_place::<O, T, A>(dst)
    }
    /// `dst = O(a, b)`.
    Zip<O, T> where (O: Binary<T>, T: Element) (n, d, a, b, _c) {
        dst = target::<O::Out>(d, n);
        x = source::<T>(a, n);
        y = source::<T>(b, n);
        => inner::zip::<O, T, A>(dst, x, y)
    }
    /// `dst = O(a, b)`, of many instructions.
    ZipBlocks<O, T> where (O: Binary<T>, T: Element) (n, d, a, b, _c) {
        dst = target::<O::Out>(d, n);
        x = source::<T>(a, n);
        y = source::<T>(b, n);
        => inner::zip_blocks::<O, T, A>(dst, x, y)
    }
    /// `dst = O(dst, b)`.
    ZipInPlace<O, T> where (O: Binary<T, Out = T>, T: Element) (n, d, _a, b, _c) {
        dst = target::<T>(d, n);
        y = source::<T>(b, n);
        => inner::zip_in_place::<O, T, A>(dst, y)
    }
    /// `dst = O(a, *b)`.
    ZipScalar<O, T> where (O: Binary<T>, T: Element) (n, d, a, b, _c) {
        dst = target::<O::Out>(d, n);
        x = source::<T>(a, n);
        y = single::<T>(b);
        => inner::zip_scalar::<O, T, A>(dst, x, y)
    }
    /// `dst = O(dst, *b)`.
    ZipScalarInPlace<O, T> where (O: Binary<T, Out = T>, T: Element) (n, d, _a, b, _c) {
        dst = target::<T>(d, n);
        y = single::<T>(b);
        => inner::zip_scalar_in_place::<O, T, A>(dst, y)
    }
    /// `dst = O(*a, b)`.
    ScalarZip<O, T> where (O: Binary<T>, T: Element) (n, d, a, b, _c) {
        dst = target::<O::Out>(d, n);
        x = single::<T>(a);
        y = source::<T>(b, n);
        => inner::scalar_zip::<O, T, A>(dst, x, y)
    }
    /// `dst = O(a, *b)` on halves, `b` an f32.
    NumberZip<O, H> where (O: Binary<f32, Out = f32>, H: Half) (n, d, a, b, _c) {
        dst = target::<H>(d, n);
        x = source::<H>(a, n);
        y = single::<f32>(b);
        => table_halves::zip_number::<O, H, A>(dst, x, y)
    }
    /// `dst = a ? b : c`.
    Select<T> where (T: inner::Bits) (n, d, a, b, c) {
        dst = target::<T>(d, n);
        cond = source::<u8>(a, n);
        x = source::<T>(b, n);
        y = source::<T>(c, n);
        => inner::select::<T>(dst, cond, x, y)
    }
    /// `dst = a ? b : dst`.
    SelectInPlace<T> where (T: inner::Bits) (n, d, a, b, _c) {
        dst = target::<T>(d, n);
        cond = source::<u8>(a, n);
        x = source::<T>(b, n);
        => inner::select_in_place::<T>(dst, cond, x)
    }
    /// `dst = S(F(a, b), c)`.
    Pair<F, S, T> where (F: Binary<T, Out = T>, S: Binary<T, Out = T>, T: Element) (n, d, a, b, c) {
        dst = target::<T>(d, n);
        x = source::<T>(a, n);
        y = source::<T>(b, n);
        z = source::<T>(c, n);
        => inner::pair::<F, S, T, A>(dst, x, y, z)
    }
    /// `dst = a` in another type.
    Convert<S, D> where (S: Cast<D>, D: Element) (n, d, a, _b, _c) {
        dst = target::<D>(d, n);
        x = source::<S>(a, n);
        => inner::cast::<S, D, A>(dst, x)
    }
    /// `dst = *a`.
    Fill<T> where (T: Element) (n, d, a, _b, _c) {
        dst = target::<T>(d, n);
        x = single::<T>(a);
        => inner::fill::<T>(dst, x)
    }
}

/// An operation whose result has the dtype of its operand, so that it can run in place.
pub(crate) trait SameUnary<T: Element>: Unary<T, Out = T> {}
impl<T: Element, O: Unary<T, Out = T>> SameUnary<T> for O {}

/// An operation whose result has the dtype of its operands, so that it can run in place.
pub(crate) trait SameBinary<T: Element>: Binary<T, Out = T> {}
impl<T: Element, O: Binary<T, Out = T>> SameBinary<T> for O {}

/// One function per dtype class, which makes the loops of operation `O` for a dtype of the class. With `signless` the
/// operation does the same to the bits of a signed integer and of the unsigned one of its size, and the two share loops.
macro_rules! classes {
    ($Bound:ident, $make:ident, $Kernel:ident) => {
        classes! { @list $Bound $make $Kernel (dtype => dtype)
            [Bool Bool,] [U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64,] }
    };
    (signless $Bound:ident, $make:ident, $Kernel:ident) => {
        classes! { @list $Bound $make $Kernel (dtype => unsigned(dtype))
            [Bool Bool,] [U8 u8, U16 u16, U32 u32, U64 u64,] }
    };
    (@list $Bound:ident $make:ident $Kernel:ident ($dtype:ident => $loops:expr)
        [$($bool:tt)*] [$($integers:tt)*]) => {
        classes! { @class any $Bound $make $Kernel ($dtype => $loops) $($bool)* $($integers)* F32 f32, F64 f64, }
        classes! { @class number $Bound $make $Kernel ($dtype => $loops) $($integers)* F32 f32, F64 f64, }
        classes! { @class float $Bound $make $Kernel ($dtype => $loops) F32 f32, F64 f64, }
        classes! { @class bits $Bound $make $Kernel ($dtype => $loops) $($bool)* $($integers)* }
        classes! { @class integer $Bound $make $Kernel ($dtype => $loops) $($integers)* }
    };
    (@class $class:ident $Bound:ident $make:ident $Kernel:ident ($dtype:ident => $loops:expr)
        $($Variant:ident $T:ty,)*) => {
        #[allow(dead_code, reason = "not every combination of weight and class has an operation")]
        pub(crate) fn $class<O: $($Bound<$T> +)* 'static>($dtype: DType, level: Level) -> Option<$Kernel> {
            match $loops {
                $( DType::$Variant => Some($make::<O, $T>($dtype, level)), )*
                _ => None,
            }
        }
    };
}

/// The unsigned integer of the size of a signed one; other dtypes stay.
pub(crate) fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    }
}

/// Operations on one operand.
pub(crate) mod unary {
    use super::*;

    /// Memory-bound operations with a result of the operand's dtype: every form for floats. Integers and `bool` make do
    /// with one, because every form of every dtype is compiled once per instruction set.
    pub(crate) mod light {
        use super::*;

        pub(super) fn make<O: SameUnary<T>, T: Element>(out: DType, level: Level) -> UnaryKernel {
            UnaryKernel {
                out,
                heavy: false,
                map: level.kernel::<Map<O, T>>(),
                in_place: if const { T::DTYPE.is_float() } {
                    Some(level.kernel::<MapInPlace<O, T>>())
                } else {
                    None
                },
            }
        }

        classes!(SameUnary, make, UnaryKernel);
    }

    /// [`light`], of operations that do not look at the sign of an integer.
    pub(crate) mod signless {
        use super::*;
        use light::make;

        classes!(signless SameUnary, make, UnaryKernel);
    }

    /// Operations that give a truth value and do not look at the sign of an integer.
    pub(crate) mod test {
        use super::*;

        fn make<O: Unary<T, Out = Bool>, T: Element>(_dtype: DType, level: Level) -> UnaryKernel {
            UnaryKernel {
                out: DType::Bool,
                heavy: false,
                map: level.kernel::<Map<O, T>>(),
                in_place: None,
            }
        }

        /// An operation that gives a truth value.
        pub(crate) trait TruthUnary<T: Element>: Unary<T, Out = Bool> {}
        impl<T: Element, O: Unary<T, Out = Bool>> TruthUnary<T> for O {}

        classes!(signless TruthUnary, make, UnaryKernel);
    }

    /// Operations whose work hides a copy through a tile.
    pub(crate) mod heavy {
        use super::*;

        fn make<O: SameUnary<T>, T: Element>(out: DType, level: Level) -> UnaryKernel {
            UnaryKernel {
                out,
                heavy: true,
                map: level.kernel::<MapBlocks<O, T>>(),
                in_place: None,
            }
        }

        classes!(SameUnary, make, UnaryKernel);
    }
}

/// Operations on two operands.
pub(crate) mod binary {
    use super::*;

    /// Memory-bound operations with a result of the operands' dtype: every form for floats. Integers and `bool` make do
    /// with fewer (scalars are spread over a tile), because every form of every dtype is compiled once per instruction set.
    /// Wide ones need no number spread over a tile: by AVX2 a column subtracted from 4096 rows of 64 `i32` took 61 us with it, 30
    /// without; by AVX-512 from 32 `i64` 95 us, 77 without, and a shift of 1e6 of them by one 490 us, 320 without.
    pub(crate) mod light {
        use super::*;

        pub(super) fn make<O: SameBinary<T>, T: Element>(out: DType, level: Level) -> BinaryKernel {
            let fewer = BinaryKernel {
                out,
                heavy: false,
                zip: level.kernel::<Zip<O, T>>(),
                zip_in_place: Some(level.kernel::<ZipInPlace<O, T>>()),
                zip_scalar: None,
                zip_scalar_in_place: None,
                scalar_zip: None,
            };
            if const { !T::DTYPE.is_float() } {
                let zip_scalar = if const { size_of::<T>() >= 4 } {
                    level.wide_kernel::<ZipScalar<O, T>>()
                } else {
                    None
                };
                return BinaryKernel {
                    zip_scalar,
                    ..fewer
                };
            }
            BinaryKernel {
                zip_scalar: Some(level.kernel::<ZipScalar<O, T>>()),
                zip_scalar_in_place: Some(level.kernel::<ZipScalarInPlace<O, T>>()),
                scalar_zip: Some(level.kernel::<ScalarZip<O, T>>()),
                ..fewer
            }
        }

        classes!(SameBinary, make, BinaryKernel);
    }

    /// [`light`], of operations that do not look at the sign of an integer.
    pub(crate) mod signless {
        use super::light::make;
        use super::*;

        classes!(signless SameBinary, make, BinaryKernel);
    }

    /// Memory-bound operations with a truth value as result: nothing to do in place.
    pub(crate) mod truth {
        use super::*;

        pub(super) fn make<O: Binary<T, Out = Bool>, T: Element>(
            _dtype: DType,
            level: Level,
        ) -> BinaryKernel {
            BinaryKernel {
                out: DType::Bool,
                heavy: false,
                zip: level.kernel::<Zip<O, T>>(),
                zip_in_place: None,
                zip_scalar: if const { T::DTYPE.is_float() } {
                    Some(level.kernel::<ZipScalar<O, T>>())
                } else {
                    None
                },
                zip_scalar_in_place: None,
                scalar_zip: None,
            }
        }

        /// An operation that gives a truth value.
        pub(crate) trait TruthBinary<T: Element>: Binary<T, Out = Bool> {}
        impl<T: Element, O: Binary<T, Out = Bool>> TruthBinary<T> for O {}

        classes!(TruthBinary, make, BinaryKernel);
    }

    /// [`truth`], of operations that do not look at the sign of an integer.
    pub(crate) mod signless_truth {
        use super::truth::{TruthBinary, make};
        use super::*;

        classes!(signless TruthBinary, make, BinaryKernel);
    }

    /// Operations whose work hides a copy through a tile; of integers for the baseline only.
    pub(crate) mod heavy {
        use super::*;

        pub(super) fn make<O: SameBinary<T>, T: Element>(out: DType, level: Level) -> BinaryKernel {
            BinaryKernel {
                out,
                heavy: true,
                zip: if const { T::DTYPE.is_float() } {
                    level.kernel::<ZipBlocks<O, T>>()
                } else {
                    Level::baseline_kernel::<Zip<O, T>>()
                },
                zip_in_place: None,
                zip_scalar: None,
                zip_scalar_in_place: None,
                scalar_zip: None,
            }
        }

        classes!(SameBinary, make, BinaryKernel);
    }

    /// [`heavy`], of operations that vectors do for integers by floats; of 64 bits, some of which floats do not hold, by blocks.
    /// Beside a number they multiply by its reciprocal.
    pub(crate) mod division {
        use super::*;

        fn make<O: SameBinary<T>, T: Element>(out: DType, level: Level) -> BinaryKernel {
            let mut kernel = heavy::make::<O, T>(out, level);
            if const { !T::DTYPE.is_float() && size_of::<T>() <= 4 } {
                kernel.zip = level.narrow_kernel::<Zip<O, T>>();
            } else if const { !T::DTYPE.is_float() } {
                kernel.zip = level.kernel::<ZipBlocks<O, T>>();
            }
            // Words of 64 bits AVX2 multiplies, shifts and compares in too many steps: i64 took 0.71 ms instead of 0.38.
            let multiplies = level.isa() == Isa::Avx512 || size_of::<T>() < 8;
            if const { !T::DTYPE.is_float() } && multiplies {
                kernel.zip_scalar = level.wide_kernel::<ZipScalar<O, T>>();
            }
            kernel
        }

        classes!(SameBinary, make, BinaryKernel);
    }
}
