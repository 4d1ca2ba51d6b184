//! The operations that are made of several steps and have names: one row for each, from which its variant, its result's shape
//! and dtype and its call follow.

use lodestride_buffer::{DType, Scalar};
use lodestride_shape::{Axes, Shape};

use super::parameters::{Arguments, OpParameter};
use crate::NdArray;
use crate::arg::Arg;
use crate::compute::promoted;
use crate::condition::EPS_THRESHOLD;
use crate::error::Result;
use crate::reduce::float_of;

/// The operands, axes and parameters of a call.
pub(super) struct Given<'g> {
    pub(super) op: &'static str,
    pub(super) x: &'g NdArray,
    /// Of an operation of one operand, its operand again.
    pub(super) y: Arg<'g>,
    pub(super) axes: Option<&'g Axes>,
    pub(super) arguments: Arguments,
}

impl Given<'_> {
    /// The axes, or all.
    pub(super) fn axes(&self) -> Axes {
        self.axes.cloned().unwrap_or_else(Axes::all)
    }

    /// The one axis of a call, or the last.
    #[track_caller]
    fn axis(&self) -> Result<isize> {
        match self.axes {
            Some(axes) => self.x.one_axis(self.op, axes),
            None => Ok(-1),
        }
    }

    /// The second operand as an array.
    #[track_caller]
    pub(super) fn second(&self) -> Result<NdArray> {
        match self.y {
            Arg::Array(y) => Ok(y.clone()),
            Arg::Scalar(y) => {
                NdArray::full_of(promoted(self.x.dtype(), &self.y), Shape::scalar(), y)
            }
        }
    }

    /// A limit: whole numbers are weak integers, so that integer arrays stay what they are.
    #[track_caller]
    fn limits(&self) -> Result<(Scalar, Scalar)> {
        Ok((self.arguments.scalar(0)?, self.arguments.scalar(1)?))
    }

    /// The shape that is left of the operands along the axes.
    #[track_caller]
    pub(super) fn reduced_shape(&self) -> Result<Shape> {
        let (axes, shape) = (self.axes(), self.broadcast_shape()?);
        let stretched = self.x.broadcast_to(shape)?;
        let axes = stretched.resolve_axes(self.op, &axes)?;
        Ok(axes.reduced_shape(stretched.shape()))
    }

    #[track_caller]
    fn broadcast_shape(&self) -> Result<Shape> {
        match self.y {
            Arg::Array(y) => self.x.broadcast_with(self.op, y),
            Arg::Scalar(_) => Ok(self.x.shape().clone()),
        }
    }
}

/// The shape of a result.
#[derive(Clone, Copy)]
pub(super) enum Shaped {
    /// That of the first operand.
    Same,
    /// What the operands broadcast to.
    Broadcast,
    /// What is left along the axes.
    Reduced,
    /// As many as the first parameter says.
    Counted,
}

/// The dtype of a result.
#[derive(Clone, Copy)]
pub(super) enum Typed {
    /// That of the first operand.
    Same,
    /// What the operands promote to.
    Promoted,
    /// A float: that of the first operand, or f64.
    Float,
    /// A float: that of both operands, or f64.
    PromotedFloat,
    /// That of the first operand and the parameters, which are weak.
    Limited,
    Bool,
    I64,
    F64,
}

/// What is known of a composed operation.
pub(super) struct Entry {
    name: &'static str,
    pub(super) operands: usize,
    pub(super) parameters: &'static [OpParameter],
    shape: Shaped,
    dtype: Typed,
    run: fn(&Given<'_>) -> Result<NdArray>,
}

impl Entry {
    #[track_caller]
    pub(super) fn shape(&self, given: &Given<'_>) -> Result<Shape> {
        match self.shape {
            Shaped::Same => Ok(given.x.shape().clone()),
            Shaped::Broadcast => given.broadcast_shape(),
            Shaped::Reduced => given.reduced_shape(),
            Shaped::Counted => Ok(Shape::from(given.arguments.whole::<usize>(0)?)),
        }
    }

    #[track_caller]
    pub(super) fn dtype(&self, given: &Given<'_>) -> Result<DType> {
        let x = given.x.dtype();
        Ok(match self.dtype {
            Typed::Same => x,
            Typed::Promoted => promoted(x, &given.y),
            Typed::Float => float_of(x),
            Typed::PromotedFloat => float_of(promoted(x, &given.y)),
            Typed::Limited => {
                let (low, high) = given.limits()?;
                x.promote_scalar(low.kind()).promote_scalar(high.kind())
            }
            Typed::Bool => DType::Bool,
            Typed::I64 => DType::I64,
            Typed::F64 => DType::F64,
        })
    }

    /// Computes the result into a new array.
    #[track_caller]
    pub(super) fn run(&self, given: &Given<'_>) -> Result<NdArray> {
        (self.run)(given)
    }
}

macro_rules! default {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! composed_ops {
    ($(
        $(#[doc = $doc:literal])+
        $Op:ident $name:literal $operands:literal [$($parameter:ident $(= $default:expr)?),*] $shape:ident $dtype:ident
        = $run:expr;
    )*) => {
        /// An operation made of several steps: see the method of the same name, where it is not said otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Composed {
            $( $(#[doc = $doc])+ $Op, )*
        }

        impl Composed {
            /// Every operation.
            pub const ALL: &[Composed] = &[$( Composed::$Op, )*];

            /// The name by which [`op`](super::op) finds it.
            pub fn name(self) -> &'static str {
                self.entry().name
            }

            /// Whether elements of two operands meet one by one.
            pub(super) fn is_elementwise(self) -> bool {
                matches!(self, Composed::Assign) || matches!(self.entry().shape, Shaped::Broadcast)
            }

            pub(super) fn entry(self) -> &'static Entry {
                static ENTRIES: &[Entry] = &[$( Entry {
                    name: $name,
                    operands: $operands,
                    parameters: &[$( OpParameter {
                        name: stringify!($parameter),
                        default: default!($($default)?),
                    } ),*],
                    shape: Shaped::$shape,
                    dtype: Typed::$dtype,
                    run: $run,
                }, )*];
                &ENTRIES[self as usize]
            }
        }
    };
}

composed_ops! {
    /// The array as it is, as a copy.
    Identity "identity" 1 [] Same Same = |c| c.x.dup();
    /// The second operand in the shape and dtype of the first.
    Assign "assign" 2 [] Same Same = |c| {
        let out = c.x.dup()?;
        out.assign_arg(c.op, c.y)?;
        Ok(out)
    };
    /// Along the last axis unless another is named.
    Softmax "softmax" 1 [] Same Float = |c| c.x.softmax(c.axis()?);
    /// Along the last axis unless another is named.
    LogSoftmax "log_softmax" 1 [] Same Float = |c| c.x.log_softmax(c.axis()?);
    /// True at the first of the largest elements.
    IsMax "is_max" 1 [] Same Bool = |c| c.x.is_max(c.axes());
    /// The elements backwards along the axes, or all axes, as a copy: `flip_axes`.
    Reverse "reverse" 1 [] Same Same = |c| c.x.flip_axes(c.axes())?.dup();
    /// The first elements along an axis backwards; the second operand says how many, for each place along the batch axis.
    ReverseSequence "reverse_sequence" 2 [axis = 1.0, batch_axis = 0.0] Same Same = |c| {
        let lengths = c.second()?.cast(DType::I64)?.to_vec::<i64>()?;
        let lengths: Vec<usize> = lengths.iter().map(|&n| n.try_into().unwrap_or(usize::MAX)).collect();
        c.x.reverse_sequence(&lengths, c.arguments.whole(0)?, c.arguments.whole(1)?)
    };
    /// Limited to a range.
    Clip "clip" 1 [low, high] Same Limited = |c| {
        let (low, high) = c.limits()?;
        c.x.clip(low, high)
    };
    /// Scaled down to a norm.
    ClipByNorm "clip_by_norm" 1 [limit] Same Float = |c| c.x.clip_by_norm(c.arguments.number(0)?, c.axes());
    /// Limited to what `exp` can take.
    Stabilize "stabilize" 1 [k = 1.0] Same Float = |c| c.x.stabilize(c.arguments.number(0)?);
    /// `x (1 - x)`.
    TimesOneMinus "times_one_minus" 1 [] Same Same = |c| c.x.times_one_minus();
    /// Over the Euclidean norm.
    UnitVec "unit_vec" 1 [] Same Float = |c| c.x.unit_vec(c.axes());
    /// Of mean 0 and variance 1.
    Standardize "standardize" 1 [] Same Float = |c| c.x.standardize(c.axes());
    /// Another value for NaN.
    ReplaceNan "replace_nan" 1 [value = 0.0] Same Same = |c| c.x.replace_nan(c.arguments.number(0)?);
    /// The power of square matrices.
    MatrixPower "matrix_power" 1 [exponent] Same Same = |c| c.x.matrix_power(c.arguments.whole(0)?);
    /// The counts of `histogram`, without the edges.
    Histogram "histogram" 1 [bins] Counted I64 = |c| Ok(c.x.histogram(c.arguments.whole::<usize>(0)?)?.0);
    /// The median over the axes.
    Median "median" 1 [] Reduced Float = |c| c.x.median(c.axes());
    /// The percentile over the axes, for a percentage.
    Percentile "percentile" 1 [percent] Reduced Float = |c| c.x.percentile(c.arguments.number(0)?, c.axes());
    /// The quantile over the axes, for a share.
    Quantile "quantile" 1 [q] Reduced Float = |c| c.x.quantile(c.arguments.number(0)?, c.axes());
    /// The entropy over the axes.
    Entropy "entropy" 1 [] Reduced Float = |c| c.x.entropy(c.axes());
    /// Its logarithm.
    LogEntropy "log_entropy" 1 [] Reduced Float = |c| c.x.log_entropy(c.axes());
    /// The entropy in bits.
    ShannonEntropy "shannon_entropy" 1 [] Reduced Float = |c| c.x.shannon_entropy(c.axes());
    /// How many elements are 0 over the axes.
    CountZero "count_zero" 1 [] Reduced I64 = |c| c.x.count_zero(c.axes());
    /// The share of elements that are 0 over the axes.
    ZeroFraction "zero_fraction" 1 [] Reduced F64 = |c| c.x.equal(0)?.mean(c.axes());
    /// The first place that is not 0 over the axes, or -1: `first_index_along`.
    FirstIndex "first_index" 1 [] Reduced I64 = |c| c.x.first_index_along(c.axes());
    /// The last place that is not 0 over the axes, or -1: `last_index_along`.
    LastIndex "last_index" 1 [] Reduced I64 = |c| c.x.last_index_along(c.axes());
    /// The largest minus the smallest element over the axes.
    PeakToPeak "peak_to_peak" 1 [] Reduced Same = |c| c.x.peak_to_peak(c.axes());
    /// The element further from zero, with its sign.
    MaximumMagnitude "maximum_magnitude" 2 [] Broadcast Promoted = |c| c.x.maximum_magnitude(c.y);
    /// The element nearer to zero, with its sign.
    MinimumMagnitude "minimum_magnitude" 2 [] Broadcast Promoted = |c| c.x.minimum_magnitude(c.y);
    /// `|x - y| / (|x| + |y|)`.
    RelativeError "relative_error" 2 [] Broadcast PromotedFloat = |c| c.x.relative_error(&c.second()?);
    /// Whether two elements are close.
    EpsEqual "eps_equal" 2 [eps = EPS_THRESHOLD] Broadcast Bool = |c| c.x.eps_equal(c.y, c.arguments.number(0)?);
    /// Whether all elements over the axes are close.
    EqualsWithEps "equals_with_eps" 2 [eps = EPS_THRESHOLD] Reduced Bool
        = |c| c.x.eps_equal(c.y, c.arguments.number(0)?)?.all(c.axes());
}
