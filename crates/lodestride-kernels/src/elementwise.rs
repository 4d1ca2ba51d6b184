//! The elementwise entry points: one operation over operands of any layout and dtype.
//!
//! Checks and dtype rules are here; how memory is walked is `driver.rs`' business.

use crate::beside_number::{beside_number, half_beside_number};
use crate::dense::{dense_binary, dense_unary};
use crate::driver;
use crate::error::{KernelError, Result};
use crate::isa::Level;
use crate::known::Loops;
use crate::known_power::by_known_power;
use crate::look_up::looked_up;
use crate::op::{self, BinaryOp, UnaryOp};
use crate::operand::{Input, Operand, Output};
use crate::plan::{Action, Load, Plan, Source, Step};
use crate::small::{Term, small};
use crate::table::{BinaryKernel, UnaryKernel};
use crate::table_moves;
use crate::table_quotients;
use crate::transfer::transfer;
use lodestride_buffer::{Argument, Bool, DType, Element, Scalar, bf16, f16};
use lodestride_shape::Shape;
use smallvec::SmallVec;

/// Writes `op(x)` to `out`, element by element.
///
/// `x` is computed in [`UnaryOp::compute_dtype`] and converted to `out`'s dtype. `out` may be `x` itself or share memory
/// with it: the result is as if `x` had been copied first.
/// Functions of many instructions on floats of 16 bits are looked up, once 65,536 elements were asked for, in a table of all results
/// that the process keeps (128 KiB for each function and dtype); bits are the same.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, UnaryOp, unary};
/// use lodestride_shape::{Layout, Order};
///
/// let x = Buffer::from_vec(vec![1.0f32, 4.0, 9.0])?;
/// let layout = Layout::contiguous([3], Order::C)?;
/// let operand = Operand::new(&x, &layout, DType::F32)?;
/// unary(UnaryOp::Sqrt, operand.into(), operand)?;
/// assert_eq!(x.read()?.slice::<f32>(), [1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError::UnsupportedDType`] where the operation is not defined for `x`'s dtype, [`KernelError::ShapeMismatch`]
/// unless `x` has `out`'s shape, [`KernelError::Shape`] where `out` has positions that share an element,
/// [`KernelError::Access`] where memory may not be touched. Nothing is written then.
pub fn unary<'a>(op: UnaryOp, x: Input<'a>, out: impl Into<Output<'a>>) -> Result<()> {
    unary_to(op, &x, &mut out.into())
}

fn unary_to<'a>(op: UnaryOp, x: &Input<'a>, out: &mut Output<'a>) -> Result<()> {
    let name = op.name();
    let dtype = input_dtype(x);
    let Some(loops) = op::unary_loops(op, dtype, Level::current()) else {
        return Err(KernelError::UnsupportedDType { op: name, dtype });
    };
    let &Loops {
        compute,
        ref kernel,
    } = loops;
    if kernel.heavy
        && let Input::Array(x) = x
        && looked_up(op, loops, x, out)?
    {
        return Ok(());
    }
    if kernel.out != out.operand().dtype()
        && let Some(wide) = op.compute_dtype(dtype).filter(|wide| *wide != compute)
        && let Some(kernel) = &op::unary_kernel(op, wide, Level::current())
    {
        // The loops that halves have of their own round to halves: results of other dtypes are not rounded in between.
        return unary_by(name, kernel, wide, x, out);
    }
    unary_by(name, kernel, compute, x, out)
}

/// Loops on one operand, converted to the dtype they compute in.
#[inline(always)]
pub(crate) fn unary_by<'a>(
    name: &'static str,
    kernel: &UnaryKernel,
    compute: DType,
    x: &Input<'a>,
    out: &mut Output<'a>,
) -> Result<()> {
    if let Input::Array(x) = x
        && x.dtype() == compute
        && out.operand().dtype() == kernel.out
        && dense_unary(name, kernel, x, out)?
    {
        return Ok(());
    }
    let terms = [term(Argument::X, x, compute)];
    if small(name, kernel.map, terms, kernel.out, out)? {
        return Ok(());
    }
    let out = &out.close();
    let mut sketch = Sketch::new(name, out)?;
    let x = sketch.load(Argument::X, x, compute)?;
    let result = sketch.step(Action::Unary(*kernel, x), kernel.out);
    sketch.finish(result, out, kernel.heavy)
}

/// Writes `op(x, y)` to `out`, element by element.
///
/// Operands are promoted as NumPy does (scalars are weak), computed in [`BinaryOp::compute_dtype`] of that, and converted
/// to `out`'s dtype. `out` may share memory with `x` and `y`: the result is as if they had been copied first.
///
/// ```
/// use lodestride_buffer::{Buffer, DType, Scalar};
/// use lodestride_kernels::{BinaryOp, Operand, binary};
/// use lodestride_shape::{Layout, Order};
///
/// let x = Buffer::from_vec(vec![1i32, 2, 3])?;
/// let layout = Layout::contiguous([3], Order::C)?;
/// let operand = Operand::new(&x, &layout, DType::I32)?;
/// binary(BinaryOp::Mul, operand.into(), Scalar::Int(10).into(), operand)?;
/// assert_eq!(x.read()?.slice::<i32>(), [10, 20, 30]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`unary`], and [`KernelError::ScalarOutOfRange`] where an integer scalar does not fit the array's integer dtype.
pub fn binary<'a>(
    op: BinaryOp,
    x: Input<'a>,
    y: Input<'a>,
    out: impl Into<Output<'a>>,
) -> Result<()> {
    binary_to(op, &x, &y, &mut out.into())
}

#[inline]
fn binary_to<'a>(op: BinaryOp, x: &Input<'a>, y: &Input<'a>, out: &mut Output<'a>) -> Result<()> {
    // What most calls are: dense arrays of one dtype, the one that the operation computes in.
    if let (Input::Array(left), Input::Array(right)) = (x, y)
        && left.dtype() == right.dtype()
        && let Some((compute, kernel)) = loops_of_arrays(op, left.dtype(), out, Level::current())
        && compute == left.dtype()
        && out.operand().dtype() == kernel.out
        && dense_binary(op.name(), kernel, left, right, out)?
    {
        return Ok(());
    }
    binary_of_any(op, x, y, out)
}

/// In which dtype an operation on two arrays computes, and its loops: those that halves have of their own where the results
/// are such halves (of other dtypes they are not rounded in between), and those of quotients of integers.
#[inline]
fn loops_of_arrays(
    op: BinaryOp,
    dtype: DType,
    out: &Output<'_>,
    level: Level,
) -> Option<(DType, &'static BinaryKernel)> {
    if out.operand().dtype() == dtype
        && let Some(loops) = op::half_loops_of(op, dtype, level)
    {
        return Some((dtype, &loops.kernel.arrays));
    }
    if op == BinaryOp::Div
        && out.operand().dtype() == DType::F64
        && let Some(kernel) = table_quotients::kernel(dtype, level)
    {
        return Some((dtype, kernel));
    }
    let Loops { compute, kernel } = op::binary_loops(op, dtype, level)?;
    Some((*compute, kernel))
}

#[inline(never)]
fn binary_of_any<'a>(
    op: BinaryOp,
    x: &Input<'a>,
    y: &Input<'a>,
    out: &mut Output<'a>,
) -> Result<()> {
    let name = op.name();
    let dtype = promoted_dtype(op, x, y);
    let level = Level::current();
    let loops = match (x, y) {
        (Input::Array(_), Input::Array(_)) => loops_of_arrays(op, dtype, out, level),
        _ => op::binary_loops(op, dtype, level).map(|loops| (loops.compute, &loops.kernel)),
    };
    let Some((compute, kernel)) = loops else {
        return Err(KernelError::UnsupportedDType { op: name, dtype });
    };
    if op == BinaryOp::Pow
        && let Input::Scalar(y) = *y
        && by_known_power(y, compute, x, out)?
    {
        return Ok(());
    }
    if beside_number(name, kernel, compute, [x, y], out)?
        || half_beside_number(op, dtype, [x, y], out)?
    {
        return Ok(());
    }
    let terms = [term(Argument::X, x, compute), term(Argument::Y, y, compute)];
    if small(name, kernel.zip, terms, kernel.out, out)? {
        return Ok(());
    }
    let out = &out.close();
    // Only the left operand has an in-place form, and of integers only the right one may be a number for a whole row: where it is
    // the other one, the reversed operation runs.
    if let (Input::Array(array), Some(reversed)) = (y, op.reversed())
        && (array.buffer().same_block(out.buffer()) && array.layout() == out.layout()
            || kernel.scalar_zip.is_none() && kernel.zip_scalar.is_some() && is_column(x, array))
        && let Some(kernel) = op::binary_kernel(reversed, compute, level)
    {
        let mut sketch = Sketch::new(name, out)?;
        let y = sketch.load(Argument::Y, y, compute)?;
        let x = sketch.load(Argument::X, x, compute)?;
        let result = sketch.step(Action::Binary(kernel, y, x), kernel.out);
        return sketch.finish(result, out, kernel.heavy);
    }
    let mut sketch = Sketch::new(name, out)?;
    let x = sketch.load(Argument::X, x, compute)?;
    let y = sketch.load(Argument::Y, y, compute)?;
    let result = sketch.step(Action::Binary(*kernel, x, y), kernel.out);
    sketch.finish(result, out, kernel.heavy)
}

/// Whether each row of the left operand is one element, as it is or as it is broadcast, beside rows of the right one.
fn is_column(left: &Input<'_>, right: &Operand<'_>) -> bool {
    let is_one = |array: &Operand<'_>| {
        let layout = array.layout();
        layout.shape().last() == Some(&1) || layout.strides().last() == Some(&0)
    };
    matches!(left, Input::Array(left) if is_one(left)) && !is_one(right)
}

/// A source of a small operation.
fn term<'t, 'a>(argument: Argument, input: &'t Input<'a>, dtype: DType) -> Term<'t, 'a> {
    Term {
        argument,
        input,
        dtype,
    }
}

/// Writes `a` to `out` where `condition` is true (not zero), `b` elsewhere; both converted to `out`'s dtype by way of
/// their promoted one.
///
/// Errors name `condition` as X, `a` as Y and `b` as "input 2".
///
/// # Errors
/// As [`binary`].
pub fn select(condition: Input<'_>, a: Input<'_>, b: Input<'_>, out: Operand<'_>) -> Result<()> {
    let name = "select";
    let dtype = promote_inputs(&a, &b);
    let kernel = table_moves::select_kernel(dtype.size(), Level::current());
    let terms = [
        term(Argument::X, &condition, DType::Bool),
        term(Argument::Y, &a, dtype),
        term(Argument::Input(2), &b, dtype),
    ];
    if small(name, kernel.map, terms, dtype, &mut out.into())? {
        return Ok(());
    }
    let mut sketch = Sketch::new(name, &out)?;
    let condition = sketch.load(Argument::X, &condition, DType::Bool)?;
    let a = sketch.load(Argument::Y, &a, dtype)?;
    let b = sketch.load(Argument::Input(2), &b, dtype)?;
    let result = sketch.step(Action::Ternary(kernel, condition, a, b), dtype);
    sketch.finish(result, &out, false)
}

/// Writes `x` to `out`: a copy between any layouts, a cast, or a fill.
///
/// Floats become integers by dropping the fraction (saturating, NaN to 0); integers wrap; to `bool` is "not zero".
///
/// # Errors
/// As [`unary`].
pub fn copy<'a>(x: Input<'a>, out: Operand<'a>) -> Result<()> {
    let name = "assign";
    let mut output = Output::from(out);
    if let Input::Array(x) = &x {
        if x.dtype() == out.dtype() {
            return transfer(name, x, &out);
        }
        let level = Level::current();
        let kernel = UnaryKernel {
            out: out.dtype(),
            heavy: false,
            map: table_moves::cast_kernel(x.dtype(), out.dtype(), level),
            in_place: None,
        };
        if dense_unary(name, &kernel, x, &mut output)? {
            return Ok(());
        }
    }
    let own = match &x {
        Input::Array(x) => x.dtype(),
        Input::Scalar(_) => out.dtype(),
    };
    let kernel = table_moves::cast_kernel(own, out.dtype(), Level::current());
    if small(
        name,
        kernel,
        [term(Argument::X, &x, own)],
        out.dtype(),
        &mut output,
    )? {
        return Ok(());
    }
    let mut sketch = Sketch::new(name, &out)?;
    let result = match &x {
        Input::Array(operand) if operand.dtype() != out.dtype() => {
            let load = sketch.load(Argument::X, &x, operand.dtype())?;
            sketch.cast(load, operand.dtype(), out.dtype())
        }
        _ => sketch.load(Argument::X, &x, out.dtype())?,
    };
    sketch.finish_as(result, out.dtype(), &out, false)
}

/// The dtype of an operand on its own.
#[inline]
pub(crate) fn input_dtype(input: &Input<'_>) -> DType {
    match input {
        Input::Array(operand) => operand.dtype(),
        Input::Scalar(Scalar::Bool(_)) => DType::Bool,
        Input::Scalar(Scalar::Int(_)) => DType::I64,
        Input::Scalar(Scalar::UInt(_)) => DType::U64,
        Input::Scalar(Scalar::Float(_)) => DType::F64,
    }
}

/// The dtype two operands meet in; a scalar is weak beside an array.
#[inline]
fn promote_inputs(x: &Input<'_>, y: &Input<'_>) -> DType {
    match (x, y) {
        (Input::Array(x), Input::Scalar(y)) => x.dtype().promote_scalar(y.kind()),
        (Input::Scalar(x), Input::Array(y)) => y.dtype().promote_scalar(x.kind()),
        _ => input_dtype(x).promote(input_dtype(y)),
    }
}

/// [`promote_inputs`], but a comparison with a scalar out of the array's range widens: the answer is known and no error.
#[inline]
fn promoted_dtype(op: BinaryOp, x: &Input<'_>, y: &Input<'_>) -> DType {
    let dtype = promote_inputs(x, y);
    let fits = |input: &Input<'_>| match input {
        Input::Scalar(scalar) => scalar_fits(*scalar, dtype),
        Input::Array(_) => true,
    };
    if op.is_comparison() && !(fits(x) && fits(y)) {
        input_dtype(x).promote(input_dtype(y))
    } else {
        dtype
    }
}

/// Whether an integer scalar is in the range of an integer dtype; anything else is rounded, which is no error.
#[inline]
pub(crate) fn scalar_fits(scalar: Scalar, dtype: DType) -> bool {
    let value = match scalar {
        Scalar::Int(value) => i128::from(value),
        Scalar::UInt(value) => i128::from(value),
        Scalar::Bool(_) | Scalar::Float(_) => return true,
    };
    if !dtype.is_integer() {
        return true;
    }
    let bits = 8 * dtype.size() as u32;
    let (low, high) = if dtype.is_signed() {
        (-(1i128 << (bits - 1)), 1i128 << (bits - 1))
    } else {
        (0, 1i128 << bits)
    };
    (low..high).contains(&value)
}

/// The bytes of a scalar as an element of `dtype`, from the start of a word.
#[inline]
pub(crate) fn scalar_word(scalar: Scalar, dtype: DType) -> u64 {
    fn place<const N: usize>(bytes: [u8; N]) -> u64 {
        let mut word = [0; 8];
        word[..N].copy_from_slice(&bytes);
        u64::from_ne_bytes(word)
    }
    macro_rules! bytes {
        ($($Variant:ident $T:ty),*) => {
            match dtype {
                DType::Bool => place([u8::from(bool::from(Bool::from_scalar(scalar)))]),
                $( DType::$Variant => place(<$T>::from_scalar(scalar).to_ne_bytes()), )*
            }
        };
    }
    bytes!(U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}

/// A plan for one operation in the making.
pub(crate) struct Sketch<'a> {
    op: &'static str,
    shape: &'a Shape,
    loads: SmallVec<[Load<'a>; 3]>,
    steps: SmallVec<[Step; 5]>,
}

impl<'a> Sketch<'a> {
    pub(crate) fn new(op: &'static str, out: &Operand<'a>) -> Result<Sketch<'a>> {
        out.check_writable(op)?;
        Ok(Sketch {
            op,
            shape: out.shape(),
            loads: SmallVec::new(),
            steps: SmallVec::new(),
        })
    }

    /// An operand as a value of `dtype`.
    pub(crate) fn load(
        &mut self,
        argument: Argument,
        input: &Input<'a>,
        dtype: DType,
    ) -> Result<Source> {
        let load = Source::Load(self.loads.len());
        match *input {
            Input::Scalar(scalar) => {
                if !scalar_fits(scalar, dtype) {
                    return Err(KernelError::ScalarOutOfRange {
                        op: self.op,
                        scalar,
                        dtype,
                    });
                }
                self.loads
                    .push(Load::Scalar(scalar_word(scalar, dtype), dtype.size()));
                Ok(load)
            }
            Input::Array(operand) => {
                operand.check_shape(self.op, argument, self.shape)?;
                self.loads.push(Load::Array(argument, operand));
                Ok(self.cast(load, operand.dtype(), dtype))
            }
        }
    }

    fn cast(&mut self, source: Source, from: DType, to: DType) -> Source {
        if from == to {
            return source;
        }
        self.step(
            Action::Cast(table_moves::cast_kernel(from, to, Level::current()), source),
            to,
        )
    }

    pub(crate) fn step(&mut self, action: Action, dtype: DType) -> Source {
        let number = self.steps.len();
        self.steps.push(Step {
            action,
            dtype,
            tile: number,
        });
        Source::Step(number)
    }

    /// Runs the plan: the value of the last step goes to `out`, converted to its dtype.
    pub(crate) fn finish(self, result: Source, out: &Operand<'a>, heavy: bool) -> Result<()> {
        let dtype = self.steps.last().map_or(out.dtype(), |step| step.dtype);
        self.finish_as(result, dtype, out, heavy)
    }

    /// [`Sketch::finish`] for a value of a given dtype.
    fn finish_as(
        mut self,
        result: Source,
        dtype: DType,
        out: &Operand<'a>,
        heavy: bool,
    ) -> Result<()> {
        let result = self.cast(result, dtype, out.dtype());
        driver::run(&Plan {
            op: self.op,
            loads: &self.loads,
            steps: &self.steps,
            // The last step writes to the output.
            tiles: self.steps.len().saturating_sub(1),
            results: &[result],
            outputs: &[(Argument::Z, *out)],
            heavy,
        })
    }
}
