//! Normalising along one axis: softmax and its logarithm, their gradients, layer normalisation.

use lodestride_buffer::Argument;

use crate::door;
use crate::error::KernelError;
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
use crate::row_normalise::LayerNorm;
use crate::row_softmax::{Softmax, SoftmaxGradient};
use crate::row_walk::along;
use crate::scalar::raised::Raised;
use crate::strided::Source;

/// What inputs and output are computed in: `f64` where one of them needs it, else `f32`.
fn compute_kind(
    op: &'static str,
    operands: &[Operand<'_>],
    out: Operand<'_>,
) -> Result<ComputeKind, KernelError> {
    if !out.dtype().is_float() {
        let dtype = out.dtype();
        return Err(KernelError::UnsupportedDType { op, dtype });
    }
    let mut dtypes = operands.iter().chain([&out]).map(|operand| operand.dtype());
    let wide = dtypes.any(|dtype| ComputeKind::float(dtype) == ComputeKind::F64);
    Ok(if wide {
        ComputeKind::F64
    } else {
        ComputeKind::F32
    })
}

/// `exp(x) / sum(exp(x))` along an axis, or its logarithm, without overflow on the way.
///
/// `out` has the shape of `x` and any floating dtype; half floats are computed in `f32`, integers in `f64`. The result is
/// within 4 units in the last place of the exact one for rows whose values differ by less than 16 (the difference to the
/// maximum is rounded once, which counts as much as it is large). A row whose maximum is infinite, or that holds a NaN, is
/// NaN, as in NumPy. The same whatever the number of threads.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, softmax};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, out) = (Buffer::from_vec(vec![0.0f32, 0.0, 1000.0, 0.0])?, Buffer::zeroed(16)?);
/// let rows = Layout::contiguous([2, 2], Order::C)?;
/// softmax(Operand::new(&x, &rows, DType::F32)?, 1, false, Operand::new(&out, &rows, DType::F32)?)?;
/// assert_eq!(out.read()?.slice::<f32>(), [0.5, 0.5, 1.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when the axis is out of range, `out` has another shape, is not of a floating dtype or overlaps itself, or
/// a buffer cannot be accessed. Nothing is written then.
pub fn softmax(
    x: Operand<'_>,
    axis: usize,
    log: bool,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    let op = if log { "log_softmax" } else { "softmax" };
    door::check_axis(op, axis, x.layout().rank())?;
    door::check_output(op, out, x.shape())?;
    let (kernel, inputs) = (Softmax { log }, [(Argument::X, x)]);
    match compute_kind(op, &[x], out)? {
        ComputeKind::F32 => along::<f32, _>(op, kernel, &inputs, axis, out),
        _ => along::<f64, _>(op, kernel, &inputs, axis, out),
    }
}

/// The gradient of [`softmax`] from its result `y` and the gradient `g` of that: `y (g - sum(y g))`; with `log`, where `y`
/// is the logarithm of the softmax, `g - exp(y) sum(g)`.
///
/// # Errors
/// As [`softmax`].
pub fn softmax_gradient(
    y: Operand<'_>,
    g: Operand<'_>,
    axis: usize,
    log: bool,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "softmax_gradient";
    door::check_axis(OP, axis, y.layout().rank())?;
    g.check_shape(OP, Argument::Y, y.shape())?;
    door::check_output(OP, out, y.shape())?;
    let (kernel, inputs) = (
        SoftmaxGradient { log },
        [(Argument::X, y), (Argument::Y, g)],
    );
    match compute_kind(OP, &[y, g], out)? {
        ComputeKind::F32 => along::<f32, _>(OP, kernel, &inputs, axis, out),
        _ => along::<f64, _>(OP, kernel, &inputs, axis, out),
    }
}

/// `(x - mean) / sqrt(var + epsilon) * gain + bias` along an axis: mean and (population) variance of each row along it.
///
/// `gain` and `bias` are vectors as long as the axis. `out` has the shape of `x` and any floating dtype; half floats are
/// computed in `f32`, integers in `f64`. The squared deviations are taken from the mean, so an offset costs no digits.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, layer_norm};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, out) = (Buffer::from_vec(vec![1.0f32, 3.0, 8.0, 4.0])?, Buffer::zeroed(16)?);
/// let rows = Layout::contiguous([2, 2], Order::C)?;
/// let (x, normal) = (Operand::new(&x, &rows, DType::F32)?, Operand::new(&out, &rows, DType::F32)?);
/// layer_norm(x, 1, None, None, 0.0, normal)?;
/// assert_eq!(out.read()?.slice::<f32>(), [-1.0, 1.0, 1.0, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`softmax`], and when `gain` or `bias` is not a vector as long as the axis, or `epsilon` is negative or NaN.
pub fn layer_norm(
    x: Operand<'_>,
    axis: usize,
    gain: Option<Operand<'_>>,
    bias: Option<Operand<'_>>,
    epsilon: f64,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "layer_norm";
    door::check_axis(OP, axis, x.layout().rank())?;
    door::check_output(OP, out, x.shape())?;
    door::check_argument(OP, "epsilon", epsilon, epsilon >= 0.0)?;
    let wanted = [x.shape()[axis]].into();
    for (argument, vector) in [(Argument::Y, gain), (Argument::Input(2), bias)] {
        if let Some(vector) = vector {
            vector.check_shape(OP, argument, &wanted)?;
        }
    }
    match compute_kind(OP, &[x], out)? {
        ComputeKind::F32 => normalise::<f32>(OP, x, axis, (gain, bias, epsilon), out),
        _ => normalise::<f64>(OP, x, axis, (gain, bias, epsilon), out),
    }
}

fn normalise<C: Raised>(
    op: &'static str,
    x: Operand<'_>,
    axis: usize,
    (gain, bias, epsilon): (Option<Operand<'_>>, Option<Operand<'_>>, f64),
    out: Operand<'_>,
) -> Result<(), KernelError> {
    let mut gain_values = loaded::<C>(op, Argument::Y, gain)?;
    let mut bias_values = loaded::<C>(op, Argument::Input(2), bias)?;
    if gain.is_some() || bias.is_some() {
        gain_values.resize(x.shape()[axis], C::ONE);
        bias_values.resize(x.shape()[axis], C::ZERO);
    }
    let kernel = LayerNorm {
        gain: &gain_values,
        bias: &bias_values,
        epsilon,
    };
    along::<C, _>(op, kernel, &[(Argument::X, x)], axis, out)
}

/// The numbers of a vector, none for no vector.
fn loaded<C: Compute>(
    op: &'static str,
    argument: Argument,
    x: Option<Operand<'_>>,
) -> Result<Vec<C>, KernelError> {
    let Some(x) = x else { return Ok(Vec::new()) };
    let guard = x.read(op, argument)?;
    let mut values = vec![C::ZERO; x.elements()];
    let stride = x.layout().strides()[0];
    Source::new(&guard, x.dtype()).load(x.layout().offset() as isize, stride, &mut values);
    Ok(values)
}
