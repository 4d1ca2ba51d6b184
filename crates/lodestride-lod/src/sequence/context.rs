//! Windows over the neighbours of each row inside its sequence: `context`, and the convolutions made of it.

use std::ops::Range;

use lodestride_array::{NdArray, kernels};

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::lengths::room_for;
use crate::rows;
use crate::tensor::LodTensor;

const OP: &str = "sequence_conv";

/// Which neighbours of a row belong to its window: `length` rows from `start` on, counted from the row itself.
///
/// ```
/// use lodestride_lod::sequence::Window;
///
/// assert_eq!(Window::centered(3), Window { start: -1, length: 3 }); // the row before, the row, the row after
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// First row of the window; negative ones lie before the row.
    pub start: isize,
    /// Number of rows in the window.
    pub length: usize,
}

impl Window {
    /// `length` rows around the row itself, starting at `-(length / 2)`: Fluid's default.
    pub fn centered(length: usize) -> Window {
        Window {
            start: -(length as isize / 2),
            length,
        }
    }

    /// Number of window rows that can lie before the first row of a sequence, and after the last.
    pub fn padding(&self) -> (usize, usize) {
        let up = self.start.min(0).unsigned_abs();
        let down = self
            .start
            .saturating_add_unsigned(self.length)
            .saturating_sub(1)
            .max(0);
        (up, down.unsigned_abs())
    }
}

/// For every row the rows of its window side by side: `[rows, length * width]`, 0 for places outside the sequence of
/// `level`. The LoD stays.
///
/// With `padding`, an array `[up + down, width]` (see [`Window::padding`]), the places before a sequence take its first
/// `up` rows and the places after it the other `down`, instead of 0; such padding can be trained.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod), [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange),
/// [`EmptyWindow`](LodErrorKind::EmptyWindow), [`ShapeMismatch`](LodErrorKind::ShapeMismatch) and
/// [`DTypeMismatch`](LodErrorKind::DTypeMismatch) for padding that does not fit.
///
/// ```
/// use lodestride_lod::{LodTensor, sequence, sequence::Window};
///
/// let x = LodTensor::from_lists(&[vec![1i64, 2, 3], vec![4]])?;
/// let windows = sequence::context(&x, Window::centered(3), None, -1)?;
/// assert_eq!(windows.data().to_vec::<i64>()?, [0, 1, 2,  1, 2, 3,  2, 3, 0,  0, 4, 0]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
pub fn context(
    x: &LodTensor,
    window: Window,
    padding: Option<&NdArray>,
    level: isize,
) -> Result<LodTensor> {
    let plan = Plan::new(x, window, padding, level)?;
    let matrix = rows::as_matrix(x.data())?;
    let out = NdArray::recycled(x.dtype(), [x.rows(), plan.places_width()])?;
    kernels::segment_windows(
        matrix.operand(),
        &plan.offsets,
        plan.start(),
        window.length,
        out.operand(),
    )?;
    if let Some(padding) = padding {
        let (places, rows) = plan.outside()?;
        let flat = out.view_as([x.rows().saturating_mul(window.length), plan.width])?;
        rows::put(&rows::gather(padding, &rows)?, places, &flat)?;
    }
    Ok(rows::keep(out, x.lod()))
}

/// The gradients of [`context`] with respect to `x` and to the padding.
///
/// # Errors
/// As [`context`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn context_grad(
    x: &LodTensor,
    window: Window,
    padding: Option<&NdArray>,
    level: isize,
    out_grad: &NdArray,
) -> Result<(NdArray, Option<NdArray>)> {
    let plan = Plan::new(x, window, padding, level)?;
    rows::check_out_grad(OP, out_grad, &[x.rows(), plan.places_width()])?;
    let of_x = NdArray::recycled(out_grad.dtype(), [x.rows(), plan.width])?;
    kernels::segment_windows_adjoint(
        out_grad.operand(),
        &plan.offsets,
        plan.start(),
        window.length,
        of_x.operand(),
    )?;
    let of_x = of_x.reshape(x.shape())?;
    let Some(padding) = padding else {
        return Ok((of_x, None));
    };
    let (places, rows) = plan.outside()?;
    let flat = out_grad.reshape([x.rows().saturating_mul(window.length), plan.width])?;
    let of_padding = rows::scatter_add(&rows::gather(&flat, &places)?, &rows, padding.shape()[0])?;
    Ok((of_x, Some(of_padding)))
}

/// Rows, each a range of one.
type Ranges = Vec<Range<usize>>;

/// What a window op has checked about its arguments.
struct Plan<'a> {
    offsets: std::borrow::Cow<'a, [usize]>,
    window: Window,
    width: usize,
}

impl<'a> Plan<'a> {
    #[track_caller]
    fn new(
        x: &'a LodTensor,
        window: Window,
        padding: Option<&NdArray>,
        level: isize,
    ) -> Result<Plan<'a>> {
        let offsets = rows::offsets_of(OP, x, level)?;
        if window.length == 0 {
            return Err(LodErrorKind::EmptyWindow { op: OP }.into());
        }
        let width = rows::row_width(x.data());
        if let Some(padding) = padding {
            let (up, down) = window.padding();
            rows::check_shape(
                OP,
                SequenceArgument::Padding,
                padding,
                &[up.saturating_add(down), width],
            )?;
            rows::check_dtype(OP, SequenceArgument::Padding, padding, x.dtype())?;
        }
        Ok(Plan {
            offsets,
            window,
            width,
        })
    }

    /// The start of the window, no farther away than where every place is outside anyway.
    fn start(&self) -> isize {
        let rows = self.offsets[self.offsets.len() - 1];
        let far = isize::try_from(rows.saturating_add(self.window.length)).unwrap_or(isize::MAX);
        self.window.start.clamp(-far, far)
    }

    /// Numbers in one window; more than an array can hold where the product overflows.
    fn places_width(&self) -> usize {
        self.window.length.saturating_mul(self.width)
    }

    /// The places outside their sequence, counted through all windows, and the row of the padding each takes.
    #[track_caller]
    fn outside(&self) -> Result<(Ranges, Ranges)> {
        let (up, _) = self.window.padding();
        // At most every place; a list that long need not fit when the rows are empty.
        let rows = self.offsets[self.offsets.len() - 1];
        drop(room_for::<Range<usize>>(
            rows.saturating_mul(self.window.length),
        )?);
        let (mut places, mut taken) = (Ranges::new(), Ranges::new());
        for pair in self.offsets.windows(2) {
            let length = (pair[1] - pair[0]) as isize;
            for row in pair[0]..pair[1] {
                for step in 0..self.window.length {
                    // Counted from the begin of the sequence; negative before it.
                    let at = ((row - pair[0] + step) as isize).saturating_add(self.window.start);
                    let padding = match at {
                        at if at < 0 => up - at.unsigned_abs(),
                        at if at < length => continue,
                        at => up + (at - length).unsigned_abs(),
                    };
                    let place = row * self.window.length + step;
                    places.push(place..place + 1);
                    taken.push(padding..padding + 1);
                }
            }
        }
        Ok((places, taken))
    }
}

/// Convolution over each sequence: the [`context`] windows times a filter `[length * width, features]`.
///
/// The rows of the filter go through the window row by row, column by column inside. The result is
/// `[rows, features]` with the LoD of `x`.
///
/// # Errors
/// As [`context`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when the filter is not a matrix of
/// `length * width` rows.
///
/// ```
/// use lodestride_lod::{LodTensor, NdArray, sequence, sequence::Window};
///
/// let x = LodTensor::from_lists(&[vec![1.0f32, 2.0, 3.0], vec![4.0]])?;
/// let differences = NdArray::from([[-1.0f32], [1.0]]);
/// let y = sequence::conv(&x, &differences, Window { start: -1, length: 2 }, None, -1)?;
/// assert_eq!(y.data().to_vec::<f32>()?, [1.0, 1.0, 1.0, 4.0]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_conv")]
pub fn conv(
    x: &LodTensor,
    filter: &NdArray,
    window: Window,
    padding: Option<&NdArray>,
    level: isize,
) -> Result<LodTensor> {
    check_filter(x, filter, window)?;
    let windows = context(x, window, padding, level)?;
    Ok(rows::keep(windows.data().matmul(filter)?, x.lod()))
}

#[track_caller]
fn check_filter(x: &LodTensor, filter: &NdArray, window: Window) -> Result<()> {
    let features = filter.shape().get(1).copied().unwrap_or(1);
    let height = window.length.saturating_mul(rows::row_width(x.data()));
    rows::check_shape(OP, SequenceArgument::Filter, filter, &[height, features])
}

/// The gradients of [`conv`].
#[derive(Clone, Debug)]
pub struct ConvGrad {
    /// With respect to the rows of the input.
    pub x: NdArray,
    /// With respect to the filter.
    pub filter: NdArray,
    /// With respect to the padding, when there was one.
    pub padding: Option<NdArray>,
}

/// The gradients of [`conv`] with respect to `x`, the filter and the padding.
///
/// # Errors
/// As [`conv`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn conv_grad(
    x: &LodTensor,
    filter: &NdArray,
    window: Window,
    padding: Option<&NdArray>,
    level: isize,
    out_grad: &NdArray,
) -> Result<ConvGrad> {
    check_filter(x, filter, window)?;
    rows::check_out_grad(OP, out_grad, &[x.rows(), filter.shape()[1]])?;
    let windows = context(x, window, padding, level)?;
    let of_windows = out_grad.matmul(&filter.transpose())?;
    let (of_x, of_padding) = context_grad(x, window, padding, level, &of_windows)?;
    Ok(ConvGrad {
        x: of_x,
        filter: windows.data().transpose().matmul(out_grad)?,
        padding: of_padding,
    })
}

/// Look-ahead convolution: every column of a row is the weighted sum of that column over the row and the rows after it
/// in its sequence, `out[t] = sum over k of x[t + k] * filter[k]`, with a filter `[length, width]`.
///
/// # Errors
/// As [`context`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when the filter has not the width of a row.
#[track_caller]
pub fn row_conv(x: &LodTensor, filter: &NdArray, level: isize) -> Result<LodTensor> {
    let window = ahead(x, filter)?;
    let windows = context(x, window, None, level)?;
    let spread = windows
        .data()
        .reshape([x.rows(), window.length, rows::row_width(x.data())])?;
    let out = spread.mul(filter)?.sum(1)?;
    Ok(rows::keep(out.reshape(x.shape())?, x.lod()))
}

/// The gradients of [`row_conv`] with respect to `x` and to the filter.
///
/// # Errors
/// As [`row_conv`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of `x`.
#[track_caller]
pub fn row_conv_grad(
    x: &LodTensor,
    filter: &NdArray,
    level: isize,
    out_grad: &NdArray,
) -> Result<(NdArray, NdArray)> {
    let window = ahead(x, filter)?;
    rows::check_out_grad("row_conv", out_grad, x.shape())?;
    let width = rows::row_width(x.data());
    let spread = [x.rows(), window.length, width];
    let out_grad = out_grad.reshape([x.rows(), 1, width])?;
    let windows = context(x, window, None, level)?;
    let of_filter = windows.data().reshape(spread)?.mul(&out_grad)?.sum(0)?;
    let of_windows = out_grad
        .mul(filter)?
        .reshape([x.rows(), window.length * width])?;
    let (of_x, _) = context_grad(x, window, None, level, &of_windows)?;
    Ok((of_x, of_filter))
}

#[track_caller]
fn ahead(x: &LodTensor, filter: &NdArray) -> Result<Window> {
    let length = filter.shape().first().copied().unwrap_or(0);
    rows::check_shape(
        "row_conv",
        SequenceArgument::Filter,
        filter,
        &[length, rows::row_width(x.data())],
    )?;
    Ok(Window { start: 0, length })
}
