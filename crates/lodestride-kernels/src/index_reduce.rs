//! Positions of extremes: the first largest or smallest value along an axis or of a whole array. How arrays are
//! walked is in `index_walk`.

use std::fmt;

use lodestride_buffer::{Argument, DType};
use lodestride_shape::Shape;
use smallvec::SmallVec;

use crate::door;
use crate::error::KernelError;
use crate::index_walk::Search;
use crate::operand::{Operand, Output};
use crate::reduce_plan::Plan;
use crate::strided::{Dim, Dims, collapse};

/// Which extreme is located.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgOp {
    /// The first largest value.
    ArgMax,
    /// The first smallest value.
    ArgMin,
    /// The first value of largest magnitude.
    ArgAbsMax,
    /// The first value of smallest magnitude.
    ArgAbsMin,
}

impl ArgOp {
    /// Every operation.
    pub const ALL: [ArgOp; 4] = [
        ArgOp::ArgMax,
        ArgOp::ArgMin,
        ArgOp::ArgAbsMax,
        ArgOp::ArgAbsMin,
    ];

    /// The name used in error texts and graphs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArgMax => "argmax",
            Self::ArgMin => "argmin",
            Self::ArgAbsMax => "arg_abs_max",
            Self::ArgAbsMin => "arg_abs_min",
        }
    }

    /// The operation of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The dtype of positions: always `i64`.
    pub const fn result_dtype(self, _input: DType) -> DType {
        DType::I64
    }
}

impl fmt::Display for ArgOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Writes the position of the extreme of `x` along `axis`, or in the whole array (as a logical C-order index) for `None`.
///
/// The first of equal values wins; a NaN beats every number, and the first NaN wins. `out` has the shape of `x` without
/// the axis, and any integer dtype.
///
/// # Errors
/// [`KernelError`] when the axis is out of range, `out` has another shape or is not of an integer dtype, an extreme of no
/// elements is asked for, or a buffer cannot be accessed. Nothing is written then.
pub fn index_reduce<'a>(
    op: ArgOp,
    x: Operand<'a>,
    axis: Option<usize>,
    out: impl Into<Output<'a>>,
) -> Result<(), KernelError> {
    index_reduce_to(op, x, axis, out.into())
}

fn index_reduce_to(
    op: ArgOp,
    x: Operand<'_>,
    axis: Option<usize>,
    mut output: Output<'_>,
) -> Result<(), KernelError> {
    let out = *output.operand();
    let layout = x.layout();
    let (mut kept, mut steps) = (Shape::scalar(), SmallVec::<[isize; 6]>::new());
    let mut reduced = Dims::new();
    let dims = layout.shape().iter().zip(layout.strides());
    for (index, (&size, &stride)) in dims.enumerate() {
        if axis.is_none_or(|axis| axis == index) {
            reduced.push(Dim { size, stride });
        } else {
            kept.push(size);
            steps.push(stride);
        }
    }
    if let Some(axis) = axis {
        door::check_axis(op.name(), axis, layout.rank())?;
    }
    door::check_output(op.name(), out, &kept)?;
    door::check_integer(op.name(), out)?;
    if out.layout().is_empty() {
        return Ok(());
    }
    if layout.is_empty() {
        return Err(KernelError::EmptyReduction {
            op: op.name(),
            shape: Box::new(layout.shape().clone()),
        });
    }
    let copy = door::private_copy(op.name(), Argument::X, x, &[out])?;
    let guard = door::read(op.name(), Argument::X, x, copy.as_ref())?;
    let output = output.guard(op.name())?;
    let places = (out.layout().offset(), &out.layout().strides()[..]);
    let search = Search {
        op,
        plan: Plan::new((layout.offset(), &kept, &steps), |_| false, places, false),
        reduced: collapse(reduced),
        out_dtype: out.dtype(),
    };
    search.run((&guard, x.dtype()), output);
    Ok(())
}
