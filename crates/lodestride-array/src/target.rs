//! Where results go: into new arrays, or into arrays of the caller. `_into` forms of what is neither elementwise nor a reduction
//! come through here; those two are in `compute` and `reduce`.

use lodestride_buffer::{Argument, DType};
use lodestride_shape::{Order, Shape};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, Result};
use crate::kept::kept_of;

/// Where an operation leaves its result.
#[derive(Clone, Copy)]
pub(crate) enum Target<'o> {
    /// In a new array in C order.
    New,
    /// In a new array that lies in memory as the inputs do, which broadcast to the result's shape.
    Kept,
    /// In an array of the result's shape.
    Into(&'o NdArray),
}

impl Target<'_> {
    /// Lets `fill` write all elements of an array of the given dtype and shape: of a new one, or of the caller's, where it
    /// shares no memory with the inputs and is of that dtype. Otherwise the result is copied there when it is complete.
    ///
    /// What can fail for another reason than its memory must fail before the first element is written.
    #[inline]
    #[track_caller]
    pub(crate) fn fill(
        self,
        op: &'static str,
        dtype: DType,
        shape: Shape,
        inputs: &[&NdArray],
        fill: impl FnOnce(&NdArray) -> Result<()>,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        let Self::Into(out) = self else {
            let made = match self {
                Self::Kept => NdArray::recycled_layout(op, dtype, kept_of(op, &shape, inputs)?)?,
                _ => NdArray::recycled_ordered(op, dtype, shape, Order::C)?,
            };
            fill(&made).located()?;
            return watch.made(op, inputs, Ok(made));
        };
        out.expect_readable(op, Argument::Z)?;
        out.expect_output(op, &shape, dtype)?;
        for (place, input) in inputs.iter().enumerate() {
            let argument = match (inputs.len(), place) {
                (1 | 2, 0) => Argument::X,
                (2, _) => Argument::Y,
                _ => Argument::Input(place),
            };
            input.expect_readable(op, argument)?;
        }
        if out.dtype() == dtype && !inputs.iter().any(|input| input.shares_memory(out)) {
            fill(out).located()?;
        } else {
            let made = NdArray::recycled_ordered(op, dtype, shape, Order::C)?;
            fill(&made).located()?;
            out.assign_arg(op, Arg::Array(&made))?;
        }
        watch.made(op, inputs, Ok(out.clone()))
    }
}

impl NdArray {
    /// Copies a result here that can only be made elsewhere. The checks see both as one operation on the inputs.
    #[track_caller]
    pub(crate) fn store(
        &self,
        op: &'static str,
        inputs: &[&NdArray],
        make: impl FnOnce() -> Result<NdArray>,
    ) -> Result<()> {
        let watch = Watch::start();
        self.expect_readable(op, Argument::Z)?;
        self.expect_writable(op)?;
        let made = make().renamed(op).located()?;
        self.expect_output(op, made.shape(), made.dtype())?;
        self.assign_arg(op, Arg::Array(&made))?;
        watch.made(op, inputs, Ok(self)).map(drop)
    }

    /// [`store`](Self::store) of two results; nothing is written unless both fit.
    #[track_caller]
    pub(crate) fn store_both(
        outs: [&NdArray; 2],
        op: &'static str,
        inputs: &[&NdArray],
        make: impl FnOnce() -> Result<(NdArray, NdArray)>,
    ) -> Result<()> {
        let watch = Watch::start();
        for (place, out) in outs.into_iter().enumerate() {
            out.expect_readable(op, Argument::Output(place))?;
            out.expect_writable(op)?;
        }
        if outs[0].shares_memory(outs[1]) {
            let [lhs, rhs] = outs.map(ArraySummary::of);
            let expected = "two outputs that share no memory";
            return Err(ArrayError::new(ArrayErrorKind::Operands {
                op,
                expected,
                lhs,
                rhs,
            }));
        }
        let made = make().renamed(op).located()?;
        let made = [made.0, made.1];
        for (out, made) in outs.into_iter().zip(&made) {
            out.expect_output(op, made.shape(), made.dtype())?;
        }
        for (out, made) in outs.into_iter().zip(&made) {
            out.assign_arg(op, Arg::Array(made))?;
        }
        watch.made(op, inputs, Ok((outs[0], outs[1]))).map(drop)
    }
}
