//! Reductions over any axes of any layout: sums, products, extremes, norms, moments, counts.
//!
//! Here are the operation list, the dtype rules and the choice of reducer. How the data is walked is in `reduce_walk`,
//! what a reducer keeps is in `reduce_kinds`.

use std::fmt;

use lodestride_buffer::{Argument, DType, WriteGuard};
use lodestride_shape::{Layout, Shape};
use smallvec::SmallVec;

use crate::door;
use crate::error::KernelError;
use crate::numeric::{Compute, ComputeKind};
use crate::operand::{Operand, Output};
use crate::program_reduce::Computed;
use crate::reduce_choice::{Visitor, choose, each, lanes};
use crate::reduce_extremes;
use crate::reduce_few;
use crate::reduce_flags;
use crate::reduce_fold::Reducer;
use crate::reduce_kinds::{Addable, Magnitude, Sum};
use crate::reduce_plan::Plan;
use crate::reduce_walk;
use crate::strided::{Origin, Source, store};

/// A reduction of many values to one.
///
/// ```
/// use lodestride_buffer::DType;
/// use lodestride_kernels::ReduceOp;
///
/// assert_eq!(ReduceOp::Sum.result_dtype(DType::I8), DType::I64);
/// assert_eq!(ReduceOp::Mean.result_dtype(DType::U8), DType::F64);
/// assert_eq!(ReduceOp::Max.result_dtype(DType::F16), DType::F16);
/// assert_eq!(ReduceOp::from_name("norm2"), Some(ReduceOp::Norm2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceOp {
    /// Sum; 0 of nothing. Integers wrap in 64 bits.
    Sum,
    /// Arithmetic mean; NaN of nothing.
    Mean,
    /// Product; 1 of nothing.
    Prod,
    /// Largest value; NaN if any value is NaN. Of nothing: an error.
    Max,
    /// Smallest value; NaN if any value is NaN. Of nothing: an error.
    Min,
    /// Whether any value is not zero (NaN counts as not zero).
    Any,
    /// Whether every value is not zero; true of nothing.
    All,
    /// Sum of magnitudes.
    Norm1,
    /// Euclidean norm, without overflow or underflow on the way.
    Norm2,
    /// Largest magnitude; 0 of nothing.
    NormMax,
    /// Variance: squared deviations from the mean over `count - ddof`.
    Var {
        /// Delta degrees of freedom: 0 for a population, 1 for a sample.
        ddof: usize,
    },
    /// Standard deviation: the root of [`ReduceOp::Var`].
    Std {
        /// Delta degrees of freedom: 0 for a population, 1 for a sample.
        ddof: usize,
    },
    /// `ln(sum(exp(x)))` without overflow; negative infinity of nothing.
    LogSumExp,
    /// How many values are not zero.
    CountNonZero,
    /// Mean of magnitudes; NaN of nothing.
    MeanAbs,
    /// Smallest magnitude; NaN if any value is NaN. Of nothing: an error.
    MinAbs,
    /// Sum of squares.
    SumSquares,
}

impl ReduceOp {
    /// Every operation, variance and deviation with `ddof` 0.
    pub const ALL: [ReduceOp; 17] = [
        ReduceOp::Sum,
        ReduceOp::Mean,
        ReduceOp::Prod,
        ReduceOp::Max,
        ReduceOp::Min,
        ReduceOp::Any,
        ReduceOp::All,
        ReduceOp::Norm1,
        ReduceOp::Norm2,
        ReduceOp::NormMax,
        ReduceOp::Var { ddof: 0 },
        ReduceOp::Std { ddof: 0 },
        ReduceOp::LogSumExp,
        ReduceOp::CountNonZero,
        ReduceOp::MeanAbs,
        ReduceOp::MinAbs,
        ReduceOp::SumSquares,
    ];

    /// The name used in error texts and graphs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Prod => "prod",
            Self::Max => "max",
            Self::Min => "min",
            Self::Any => "any",
            Self::All => "all",
            Self::Norm1 => "norm1",
            Self::Norm2 => "norm2",
            Self::NormMax => "norm_max",
            Self::Var { .. } => "var",
            Self::Std { .. } => "std",
            Self::LogSumExp => "log_sum_exp",
            Self::CountNonZero => "count_nonzero",
            Self::MeanAbs => "mean_abs",
            Self::MinAbs => "min_abs",
            Self::SumSquares => "sum_squares",
        }
    }

    /// The operation of that name (`ddof` 0), if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The dtype of the result for an input dtype, by NumPy's rules.
    ///
    /// Sums and products of integers and bool are 64 bits wide, means, norms and moments of them `f64`; extremes keep the
    /// dtype; floats keep theirs everywhere (half floats are accumulated in `f32` or wider and rounded once).
    pub const fn result_dtype(self, input: DType) -> DType {
        match self {
            Self::Sum | Self::Prod => match input {
                DType::Bool | DType::I8 | DType::I16 | DType::I32 | DType::I64 => DType::I64,
                DType::U8 | DType::U16 | DType::U32 | DType::U64 => DType::U64,
                float => float,
            },
            Self::Max | Self::Min => input,
            Self::Any | Self::All => DType::Bool,
            Self::CountNonZero => DType::I64,
            _ if input.is_float() => input,
            _ => DType::F64,
        }
    }

    /// What the operation computes in for an input dtype.
    pub(crate) fn compute_kind(self, input: DType) -> ComputeKind {
        match self {
            Self::Sum
            | Self::Prod
            | Self::Max
            | Self::Min
            | Self::Any
            | Self::All
            | Self::CountNonZero => ComputeKind::exact(input),
            _ => ComputeKind::float(input),
        }
    }

    /// Whether it does not matter how often a value is met.
    const fn is_idempotent(self) -> bool {
        matches!(
            self,
            Self::Max | Self::Min | Self::Any | Self::All | Self::NormMax | Self::MinAbs
        )
    }

    /// Whether the reduction of no elements has a value.
    pub const fn is_defined_on_nothing(self) -> bool {
        !matches!(self, Self::Max | Self::Min | Self::MinAbs)
    }
}

impl fmt::Display for ReduceOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reduces `x` over `axes` into `out`, whose shape is that of `x` without those axes.
///
/// `out` may have any dtype; the natural one is [`ReduceOp::result_dtype`]. No axes at all means every element is its own
/// reduction. The result does not depend on the number of threads or on the instruction set (but for [`ReduceOp::LogSumExp`],
/// whose exponential may differ in the last place); it may depend in rounding on the memory order of `x`, because axes are
/// walked from the largest stride to the smallest. Allocates nothing, once a thread has its scratch memory, unless `out`
/// shares the buffer of `x` or the work is spread over threads.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, ReduceOp, reduce};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, sums) = (Buffer::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?, Buffer::zeroed(8)?);
/// let (matrix, row_sums) = (Layout::contiguous([2, 3], Order::C)?, Layout::contiguous([2], Order::C)?);
/// let x = Operand::new(&x, &matrix, DType::F32)?;
/// reduce(ReduceOp::Sum, x, &[1], Operand::new(&sums, &row_sums, DType::F32)?)?;
/// assert_eq!(sums.read()?.slice::<f32>(), [6.0, 15.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when an axis is out of range or repeated, `out` has another shape, the operation has no value for zero
/// elements, `out` overlaps itself, or a buffer cannot be accessed. Nothing is written then.
pub fn reduce<'a>(
    op: ReduceOp,
    x: Operand<'a>,
    axes: &[usize],
    out: impl Into<Output<'a>>,
) -> Result<(), KernelError> {
    reduce_to(op, x, axes, out.into())
}

fn reduce_to(
    op: ReduceOp,
    x: Operand<'_>,
    axes: &[usize],
    mut output: Output<'_>,
) -> Result<(), KernelError> {
    let out = *output.operand();
    let reduced = checked(op, x.layout(), axes, out)?;
    let plan = Plan::of(x.layout(), &reduced, out.layout(), op.is_idempotent());
    let copy = door::private_copy(op.name(), Argument::X, x, &[out])?;
    let guard = door::read(op.name(), Argument::X, x, copy.as_ref())?;
    Job {
        op,
        plan: &plan,
        dtype: x.dtype(),
        input: Origin::Memory(&guard, x.dtype()),
        out_dtype: out.dtype(),
        output: output.guard(op.name())?,
    }
    .run();
    Ok(())
}

/// [`reduce`] of values of `dtype` that a program makes, as if they lay in memory by `layout`; nothing in `out` is among
/// what the program reads.
///
/// # Errors
/// As [`reduce`].
pub(crate) fn reduce_computed(
    op: ReduceOp,
    (values, layout, dtype): (&Computed<'_>, &Layout, DType),
    axes: &[usize],
    out: Operand<'_>,
) -> Result<(), KernelError> {
    let reduced = checked(op, layout, axes, out)?;
    let plan = Plan::of(layout, &reduced, out.layout(), op.is_idempotent());
    let mut output = door::write(op.name(), Argument::Z, out)?;
    Job {
        op,
        plan: &plan,
        dtype,
        input: Origin::Computed(values),
        out_dtype: out.dtype(),
        output: &mut output,
    }
    .run();
    Ok(())
}

/// Checks a reduction of elements that lie by a layout, and tells which axes it reduces. The plan is made by the caller: inside of
/// a `Result` it would be moved twice, which takes a hundred instructions.
fn checked(
    op: ReduceOp,
    layout: &Layout,
    axes: &[usize],
    out: Operand<'_>,
) -> Result<SmallVec<[bool; 8]>, KernelError> {
    let shape = layout.shape();
    let reduced = door::marked_axes(op.name(), axes, shape.len())?;
    let kept: Shape = shape
        .iter()
        .zip(&reduced)
        .filter(|(_, reduced)| !**reduced)
        .map(|(&size, _)| size)
        .collect();
    door::check_output(op.name(), out, &kept)?;
    let is_empty = axes.iter().any(|&axis| shape[axis] == 0);
    if is_empty && !op.is_defined_on_nothing() && out.layout().elements() > 0 {
        return Err(KernelError::EmptyReduction {
            op: op.name(),
            shape: Box::new(shape.clone()),
        });
    }
    Ok(reduced)
}

/// A reduction whose guards are open.
struct Job<'a, 'o> {
    op: ReduceOp,
    plan: &'a Plan,
    dtype: DType,
    input: Origin<'a>,
    out_dtype: DType,
    output: &'a mut WriteGuard<'o>,
}

impl Job<'_, '_> {
    fn run(&mut self) {
        if let Origin::Memory(guard, dtype) = self.input {
            let output = (&mut *self.output, self.out_dtype);
            if reduce_flags::run(self.op, self.plan, (guard, dtype), output) {
                return;
            }
            let output = (&mut *self.output, self.out_dtype);
            if reduce_few::run(self.op, self.plan, (guard, dtype), output) {
                return;
            }
            let output = (&mut *self.output, self.out_dtype);
            if reduce_extremes::run(self.op, (guard, dtype), self.plan, output) {
                return;
            }
        }
        if let (ReduceOp::Mean, Origin::Memory(_, dtype)) = (self.op, self.input)
            && dtype.is_integer()
            && dtype.size() <= 4
        {
            match ComputeKind::exact(dtype) {
                ComputeKind::I64 => return self.mean_of_small::<i64>(),
                _ => return self.mean_of_small::<u64>(),
            }
        }
        choose(self.op, self.op.compute_kind(self.dtype), self);
    }

    /// The mean of integers of at most 32 bits: the sum of as many as memory holds is exact in 64 bits, and so rounded once.
    fn mean_of_small<C: Addable<Value = C> + Magnitude>(&mut self) {
        let (plan, dtype) = (self.plan, self.out_dtype);
        let count = plan.depth() as f64;
        let output = &mut *self.output;
        let reducer =
            lanes::<C, _, _>(Sum::<false>, |sums, _, values| each(sums, values, C::value));
        let source = Source::<C>::of(self.input);
        reduce_walk::run(plan, &source, &reducer, &mut |mut offset, stride, sums| {
            let mut means = [0.0; 64];
            for sums in sums.chunks(means.len()) {
                let means = &mut means[..sums.len()];
                each(sums, means, |sum: C| sum.to_f64() / count);
                store(output, dtype, offset, stride, means);
                offset += stride * sums.len() as isize;
            }
        });
    }
}

impl Visitor for Job<'_, '_> {
    fn visit<C: Compute, T: Copy + Send + Sync, V: Compute>(
        &mut self,
        reducer: &dyn Reducer<C, Total = T, Value = V>,
    ) {
        let (plan, dtype) = (self.plan, self.out_dtype);
        let output = &mut *self.output;
        let source = Source::of(self.input);
        reduce_walk::run(plan, &source, reducer, &mut |offset, stride, values| {
            store(output, dtype, offset, stride, values)
        });
    }
}
