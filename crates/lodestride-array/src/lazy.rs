//! Expressions that are computed in one pass: [`NdArray::lazy`] and [`Lazy`].
//!
//! The operations are the library's, with its dtype rules; what is new is when they run: all at once, tile by tile, so that
//! intermediate results never reach memory.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{self as kernels, BinaryOp, Program, ProgramBuilder, Register, UnaryOp};
use smallvec::SmallVec;

use crate::NdArray;
use crate::choose::weak_dtype;
use crate::error::{OrFail, Result};
use crate::fused::common_shape;
use crate::kept::kept_of;
use crate::lazy_run::run;

/// The name errors of evaluation carry.
const NAME: &str = "eval";

/// An elementwise expression over arrays that has not been computed yet.
///
/// Made by [`NdArray::lazy`], extended by operators, by the named methods and by [`apply`](Lazy::apply) and
/// [`apply_with`](Lazy::apply_with), computed by [`eval`](Lazy::eval) or [`eval_into`](Lazy::eval_into) in one pass over
/// memory. Shapes, dtypes and memory are looked at then, not before. The results are those of the same methods of
/// [`NdArray`] one by one; plain numbers are weak as there.
///
/// ```
/// use lodestride_array::NdArray;
///
/// let (a, b) = (NdArray::from([1.0f32, 5.0]), NdArray::from([3.0f32, 2.0]));
/// let e = (a.lazy() - &b).square() / (b.lazy() + 1.0);
/// assert_eq!(e.eval()?.to_vec::<f32>()?, [1.0, 3.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone)]
pub struct Lazy<'a> {
    /// Operands come before what uses them; the last is the expression itself.
    nodes: SmallVec<[Node<'a>; 6]>,
}

/// One node; operands are earlier nodes by number.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Array(&'a NdArray),
    /// A weak number; only ever an operand of a binary operation, beside an expression with arrays.
    Number(Scalar),
    Unary(UnaryOp, usize),
    Binary(BinaryOp, usize, usize),
    Cast(DType, usize),
}

impl NdArray {
    /// This array as an expression: operations on it run when [`Lazy::eval`] is called, all in one pass.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let x = NdArray::from([0.0f64, 1.0]);
    /// let y = (x.lazy() * 2.0 + 1.0).sqrt().eval()?;
    /// assert_eq!(y.to_vec::<f64>()?, [1.0, 3.0f64.sqrt()]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    pub fn lazy(&self) -> Lazy<'_> {
        Lazy {
            nodes: SmallVec::from_iter([Node::Array(self)]),
        }
    }
}

impl<'a> From<&'a NdArray> for Lazy<'a> {
    fn from(array: &'a NdArray) -> Self {
        array.lazy()
    }
}

impl<'a> From<&Lazy<'a>> for Lazy<'a> {
    fn from(expression: &Lazy<'a>) -> Self {
        expression.clone()
    }
}

/// What may stand beside an expression: another, an array, or a plain number.
pub trait LazyOperand<'a>: sealed::Sealed {
    /// Appends the operand's nodes.
    #[doc(hidden)]
    fn append(self, to: &mut Lazy<'a>) -> usize;
}

mod sealed {
    /// Keeps the list of implementors in this crate.
    pub trait Sealed {}
}

impl sealed::Sealed for Lazy<'_> {}
impl<'a> LazyOperand<'a> for Lazy<'a> {
    fn append(self, to: &mut Lazy<'a>) -> usize {
        to.adopt(self)
    }
}

impl sealed::Sealed for &Lazy<'_> {}
impl<'a> LazyOperand<'a> for &Lazy<'a> {
    fn append(self, to: &mut Lazy<'a>) -> usize {
        to.adopt(self.clone())
    }
}

impl sealed::Sealed for &NdArray {}
impl<'a> LazyOperand<'a> for &'a NdArray {
    fn append(self, to: &mut Lazy<'a>) -> usize {
        to.push(Node::Array(self))
    }
}

/// `LazyOperand` for the plain numbers.
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl sealed::Sealed for $number {}
        impl<'a> LazyOperand<'a> for $number {
            fn append(self, to: &mut Lazy<'a>) -> usize {
                to.push(Node::Number(Scalar::from(self)))
            }
        }
    )*};
}

numbers!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, Scalar);

impl<'a> Lazy<'a> {
    fn push(&mut self, node: Node<'a>) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Takes over another expression's nodes; gives the number of its last one.
    fn adopt(&mut self, other: Lazy<'a>) -> usize {
        let shift = self.nodes.len();
        for node in other.nodes {
            self.nodes.push(match node {
                Node::Array(_) | Node::Number(_) => node,
                Node::Unary(op, x) => Node::Unary(op, x + shift),
                Node::Binary(op, x, y) => Node::Binary(op, x + shift, y + shift),
                Node::Cast(dtype, x) => Node::Cast(dtype, x + shift),
            });
        }
        self.nodes.len() - 1
    }

    /// An operation of the registry on one operand.
    pub fn apply(mut self, op: UnaryOp) -> Lazy<'a> {
        let x = self.nodes.len() - 1;
        self.push(Node::Unary(op, x));
        self
    }

    /// An operation of the registry on this expression and another, an array or a number.
    ///
    /// ```
    /// use lodestride_array::{NdArray, kernels::BinaryOp};
    ///
    /// let a = NdArray::from([1i32, 7]);
    /// let e = a.lazy().apply_with(BinaryOp::Max, 3).apply_with(BinaryOp::Mul, &a);
    /// assert_eq!(e.eval()?.to_vec::<i32>()?, [3, 49]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    pub fn apply_with(mut self, op: BinaryOp, rhs: impl LazyOperand<'a>) -> Lazy<'a> {
        let x = self.nodes.len() - 1;
        let y = rhs.append(&mut self);
        self.push(Node::Binary(op, x, y));
        self
    }

    /// The values in another dtype, converted as [`NdArray::cast`] does.
    pub fn cast(mut self, dtype: DType) -> Lazy<'a> {
        let x = self.nodes.len() - 1;
        if !matches!(self.nodes[x], Node::Array(array) if array.dtype() == dtype) {
            self.push(Node::Cast(dtype, x));
        }
        self
    }

    /// Operands come before what uses them; the last is the expression itself.
    pub(crate) fn nodes(&self) -> &[Node<'a>] {
        &self.nodes
    }

    /// The arrays of the expression, each once.
    pub(crate) fn arrays(&self) -> SmallVec<[&'a NdArray; 4]> {
        let mut arrays: SmallVec<[&'a NdArray; 4]> = SmallVec::new();
        for node in &self.nodes {
            if let Node::Array(array) = *node
                && !arrays.iter().any(|known| std::ptr::eq(*known, array))
            {
                arrays.push(array);
            }
        }
        arrays
    }

    /// Writes the program; equal nodes are computed once.
    pub(crate) fn program(
        &self,
        op: &'static str,
        arrays: &[&NdArray],
    ) -> kernels::Result<Program> {
        let mut writer = Writer {
            builder: ProgramBuilder::new(op),
            known: SmallVec::new(),
        };
        let loads: SmallVec<[Register; 4]> = arrays
            .iter()
            .map(|array| writer.builder.load(array.dtype()))
            .collect();
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        for node in &self.nodes {
            let value = match *node {
                Node::Number(number) => Value::Number(number),
                Node::Array(array) => {
                    let at = arrays.iter().position(|known| std::ptr::eq(*known, array));
                    Value::Register(loads[at.unwrap_or_default()])
                }
                Node::Unary(op, x) => writer.unary(op, values[x])?,
                Node::Cast(dtype, x) => {
                    let x = writer.register(values[x], None)?;
                    Value::Register(writer.builder.cast(x, dtype))
                }
                Node::Binary(op, x, y) => writer.binary(op, values[x], values[y])?,
            };
            values.push(value);
        }
        if let Some(&last) = values.last() {
            let last = writer.register(last, None)?;
            writer.builder.store(last);
        }
        Ok(writer.builder.finish())
    }

    /// Computes the expression into a new array.
    ///
    /// # Errors
    /// `Broadcast` when the shapes do not broadcast, `Kernel` where an operation is not
    /// defined for its dtype, a number does not fit an integer dtype, or memory is stale or in use.
    #[track_caller]
    pub fn eval(&self) -> Result<NdArray> {
        self.eval_as(NAME)
    }

    /// [`eval`](Self::eval) by another name, for errors.
    #[track_caller]
    pub(crate) fn eval_as(&self, op: &'static str) -> Result<NdArray> {
        let arrays = self.arrays();
        let program = self.compiled(op, &arrays).or_fail(op)?;
        let shape = common_shape(op, &arrays)?;
        let layout = kept_of(op, &shape, &arrays)?;
        let out = NdArray::recycled_layout(op, result_dtype(&program), layout)?;
        run(op, &program, &arrays, &out)?;
        Ok(out)
    }

    /// Computes the expression into an existing array, which may be one of its arrays or share memory with them: the result
    /// is as if they had been copied first.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 2.0]);
    /// (a.lazy() * &a - 1.0).eval_into(&a)?;
    /// assert_eq!(a.to_vec::<f32>()?, [0.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`eval`](Self::eval); `OutputShape` and `Cast` errors when `out` cannot take the result, `OverlappingTarget`
    /// when it is a broadcast view.
    #[track_caller]
    pub fn eval_into(&self, out: &NdArray) -> Result<()> {
        self.eval_into_as(NAME, out)
    }

    /// [`eval_into`](Self::eval_into) by another name, for errors.
    #[track_caller]
    pub(crate) fn eval_into_as(&self, op: &'static str, out: &NdArray) -> Result<()> {
        let arrays = self.arrays();
        let program = self.compiled(op, &arrays).or_fail(op)?;
        out.expect_output(op, &common_shape(op, &arrays)?, result_dtype(&program))?;
        run(op, &program, &arrays, out)
    }
}

pub(crate) fn result_dtype(program: &Program) -> DType {
    program.output_dtype(0).unwrap_or(DType::F32)
}

/// A node as the program has it.
#[derive(Clone, Copy)]
enum Value {
    Register(Register),
    Number(Scalar),
}

/// An operation on registers, by which a second one like it is found.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Unary(UnaryOp, Register),
    Binary(BinaryOp, Register, Register),
}

/// A program in the making.
struct Writer {
    builder: ProgramBuilder,
    known: SmallVec<[(Known, Register); 8]>,
}

impl Writer {
    /// The register of a value; a number takes a dtype, its own without one.
    fn register(&mut self, value: Value, dtype: Option<DType>) -> kernels::Result<Register> {
        match value {
            Value::Register(register) => Ok(register),
            Value::Number(number) => {
                let dtype = dtype.unwrap_or_else(|| weak_dtype(number));
                self.builder.constant(number, dtype)
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, x: Value) -> kernels::Result<Value> {
        let x = self.register(x, None)?;
        self.once(Known::Unary(op, x), |builder| builder.unary(op, x))
    }

    fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> kernels::Result<Value> {
        let x_dtype = self.dtype_beside(op, x, y);
        let y_dtype = self.dtype_beside(op, y, x);
        let (x, y) = (self.register(x, x_dtype)?, self.register(y, y_dtype)?);
        self.once(Known::Binary(op, x, y), |builder| builder.binary(op, x, y))
    }

    /// The dtype a number takes beside a register. A comparison with one out of range widens: the answer is known.
    fn dtype_beside(&self, op: BinaryOp, value: Value, other: Value) -> Option<DType> {
        let (Value::Number(number), Value::Register(other)) = (value, other) else {
            return None;
        };
        let dtype = self.builder.dtype(other).promote_scalar(number.kind());
        let widened = op.is_comparison() && self.builder.clone().constant(number, dtype).is_err();
        Some(if widened {
            dtype.promote(weak_dtype(number))
        } else {
            dtype
        })
    }

    fn once(
        &mut self,
        key: Known,
        make: impl FnOnce(&mut ProgramBuilder) -> kernels::Result<Register>,
    ) -> kernels::Result<Value> {
        if let Some((_, register)) = self.known.iter().find(|(known, _)| *known == key) {
            return Ok(Value::Register(*register));
        }
        let register = make(&mut self.builder)?;
        self.known.push((key, register));
        Ok(Value::Register(register))
    }
}

/// The operators between expressions, arrays and numbers.
macro_rules! operators {
    ($($Trait:ident $method:ident $op:ident)*) => {$(
        impl<'a, R: LazyOperand<'a>> $Trait<R> for Lazy<'a> {
            type Output = Lazy<'a>;

            fn $method(self, rhs: R) -> Lazy<'a> {
                self.apply_with(BinaryOp::$op, rhs)
            }
        }

        impl<'a, R: LazyOperand<'a>> $Trait<R> for &Lazy<'a> {
            type Output = Lazy<'a>;

            fn $method(self, rhs: R) -> Lazy<'a> {
                self.clone().apply_with(BinaryOp::$op, rhs)
            }
        }

        operators!(@left $Trait $method $op f64 i64);
    )*};
    (@left $Trait:ident $method:ident $op:ident $($number:ty)*) => {$(
        impl<'a> $Trait<Lazy<'a>> for $number {
            type Output = Lazy<'a>;

            fn $method(self, rhs: Lazy<'a>) -> Lazy<'a> {
                let mut whole = Lazy {
                    nodes: SmallVec::from_iter([Node::Number(Scalar::from(self))]),
                };
                let y = whole.adopt(rhs);
                whole.push(Node::Binary(BinaryOp::$op, 0, y));
                whole
            }
        }
    )*};
}

operators! { Add add Add  Sub sub Sub  Mul mul Mul  Div div Div }

impl<'a> Neg for Lazy<'a> {
    type Output = Lazy<'a>;

    fn neg(self) -> Lazy<'a> {
        self.apply(UnaryOp::Neg)
    }
}

/// The methods of the commonest operations; the rest go by [`Lazy::apply`].
macro_rules! methods {
    ($($method:ident $op:ident)*) => {
        impl<'a> Lazy<'a> {
            $(
                #[doc = concat!("[`NdArray::", stringify!($method), "`] of every element, when the expression is computed.")]
                pub fn $method(self) -> Lazy<'a> {
                    self.apply(UnaryOp::$op)
                }
            )*
        }
    };
}

methods! {
    square Square  sqrt Sqrt  exp Exp  expm1 Expm1  log Log  log1p Log1p  sin Sin  cos Cos  tanh Tanh  abs Abs
    sigmoid Sigmoid  softplus Softplus  relu Relu  gelu Gelu  erf Erf  reciprocal Reciprocal
}

impl<'a> Lazy<'a> {
    /// [`NdArray::pow`] of every element and that of another expression, an array or a number.
    pub fn pow(self, exponent: impl LazyOperand<'a>) -> Lazy<'a> {
        self.apply_with(BinaryOp::Pow, exponent)
    }
}

impl fmt::Debug for Lazy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Lazy({} operations on {} arrays)",
            self.nodes
                .iter()
                .filter(|node| !matches!(node, Node::Array(_) | Node::Number(_)))
                .count(),
            self.arrays().len()
        )
    }
}
