//! Windows over the neighbours of each row inside its sequence: `context`, and the convolutions made of it.

use std::borrow::Cow;
use std::ops::Range;

use lodestride_array::kernels::{self, SegmentWindow};
use lodestride_array::{DType, NdArray, Order};

use crate::error::{LodErrorKind, Result, SequenceArgument};
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

    /// The window of the rows in whose windows a row is.
    fn mirrored(self) -> Window {
        let last = self
            .start
            .saturating_add_unsigned(self.length)
            .saturating_sub(1);
        Window {
            start: last.saturating_neg(),
            ..self
        }
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
    let windows = plan.windows(&rows::as_matrix(x.data())?, padding, 0..x.rows())?;
    Ok(rows::keep(windows, x.lod()))
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
        window.start,
        window.length,
        of_x.operand(),
    )?;
    let of_x = of_x.reshape(x.shape())?;
    let Some(padding) = padding else {
        return Ok((of_x, None));
    };
    let edges = plan.edges();
    let windows = edges.rows.iter().cloned().flatten();
    let of_padding = plan.padding_grad(&edges, windows, out_grad, padding)?;
    Ok((of_x, Some(of_padding)))
}

/// What a window op has checked about its arguments.
struct Plan<'a> {
    offsets: Cow<'a, [usize]>,
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

    /// Numbers in one window; more than an array can hold where the product overflows.
    fn places_width(&self) -> usize {
        self.window.length.saturating_mul(self.width)
    }

    /// The windows of some rows of `x`, side by side.
    #[track_caller]
    fn windows(
        &self,
        x: &NdArray,
        padding: Option<&NdArray>,
        rows: Range<usize>,
    ) -> Result<NdArray> {
        let out = NdArray::recycled(x.dtype(), [rows.len(), self.places_width()])?;
        let window = SegmentWindow {
            start: self.window.start,
            len: self.window.length,
            padding: padding.map(NdArray::operand),
        };
        kernels::segment_windows(x.operand(), &self.offsets, rows, window, out.operand())?;
        Ok(out)
    }

    /// What of the windows lies outside the sequences.
    fn edges(&self) -> Edges {
        let (up, down) = self.window.padding();
        let mut edges = Edges::default();
        for pair in self.offsets.windows(2) {
            let low = pair[0].saturating_add(up).min(pair[1]);
            let high = pair[1].saturating_sub(down).max(low);
            for rows in [pair[0]..low, high..pair[1]]
                .into_iter()
                .filter(|rows| !rows.is_empty())
            {
                for row in rows.clone() {
                    edges.places.push(self.outside(row, pair[0]..pair[1]));
                }
                edges.rows.push(rows);
            }
        }
        edges
    }

    /// The places of the window of a row that lie before its sequence and behind it, and the first row of padding they take.
    fn outside(&self, row: usize, sequence: Range<usize>) -> [(Range<usize>, usize); 2] {
        let (up, _) = self.window.padding();
        let length = self.window.length;
        let first = (row as isize).saturating_add(self.window.start);
        let places = |rows: usize| (rows as isize).saturating_sub(first).max(0).unsigned_abs();
        let (before, inside) = (
            places(sequence.start).min(length),
            places(sequence.end).min(length),
        );
        // Where the window begins before the sequence, and where it ends behind it.
        let above = up.saturating_sub(places(sequence.start));
        let over = first
            .saturating_add_unsigned(inside)
            .saturating_sub_unsigned(sequence.end);
        let below = up.saturating_add(over.max(0).unsigned_abs());
        [(0..before, above), (inside..length, below)]
    }

    /// The gradient of the padding from that of windows: `windows` names, for every row at an edge, the row of `grad` with its
    /// window.
    #[track_caller]
    fn padding_grad(
        &self,
        edges: &Edges,
        windows: impl Iterator<Item = usize>,
        grad: &NdArray,
        padding: &NdArray,
    ) -> Result<NdArray> {
        let (mut places, mut taken) = (Vec::new(), Vec::new());
        for (window, outside) in windows.zip(&edges.places) {
            let start = window.saturating_mul(self.window.length);
            for (steps, first) in outside.iter().filter(|(steps, _)| !steps.is_empty()) {
                places.push(start.saturating_add(steps.start)..start.saturating_add(steps.end));
                taken.push(*first..first + steps.len());
            }
        }
        let flat = grad.reshape([
            grad.shape()[0].saturating_mul(self.window.length),
            self.width,
        ])?;
        rows::scatter_add(&rows::gather(&flat, &places)?, &taken, padding.shape()[0])
    }
}

/// Rows whose windows reach outside their sequence.
#[derive(Default)]
struct Edges {
    /// The rows, in order.
    rows: Vec<Range<usize>>,
    /// For each of them the places before and behind the sequence, with the first row of padding each takes.
    places: Vec<[(Range<usize>, usize); 2]>,
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
    let plan = Plan::new(x, window, padding, level)?;
    let out = plan.product(&rows::as_matrix(x.data())?, padding, filter)?;
    Ok(rows::keep(out, x.lod()))
}

/// Bytes of windows that stay in the second-level cache between their making and their product.
const BLOCK: usize = 1 << 19;

impl Plan<'_> {
    /// Calls `job` for blocks of rows, the same on every machine, and their windows.
    #[track_caller]
    fn in_blocks(
        &self,
        x: &NdArray,
        padding: Option<&NdArray>,
        mut job: impl FnMut(Range<usize>, &NdArray) -> Result<()>,
    ) -> Result<()> {
        let bytes = self.places_width().saturating_mul(x.dtype().size()).max(1);
        let (block, rows) = ((BLOCK / bytes).max(LEAST), x.shape()[0]);
        // Gaps are closed once, and not for every block.
        let dense = x.layout().is_contiguous(Order::C);
        let x = if dense {
            x.clone()
        } else {
            x.dup_order(Order::C)?
        };
        for first in (0..rows).step_by(block) {
            let rows = first..rows.min(first.saturating_add(block));
            // No more than the sequences of the block are looked at, or many blocks of many sequences would take for ever.
            let begin = self.offsets.partition_point(|&offset| offset <= rows.start) - 1;
            let end = self.offsets.partition_point(|&offset| offset < rows.end);
            let start = self.offsets[begin];
            let own = self.offsets[begin..=end]
                .iter()
                .map(|offset| offset - start);
            let plan = Plan {
                offsets: own.collect::<Vec<_>>().into(),
                ..*self
            };
            let sequences = rows::view(&x, start..self.offsets[end])?;
            let here = rows.start - start..rows.end - start;
            job(rows, &plan.windows(&sequences, padding, here)?)?;
        }
        Ok(())
    }

    /// The windows of all rows times a matrix.
    #[track_caller]
    fn product(&self, x: &NdArray, padding: Option<&NdArray>, filter: &NdArray) -> Result<NdArray> {
        let dtype = x.dtype().promote(filter.dtype());
        let out = NdArray::recycled(dtype, [x.shape()[0], filter.shape()[1]])?;
        self.in_blocks(x, padding, |rows, windows| {
            Ok(windows.matmul_into(filter, &rows::view(&out, rows)?)?)
        })?;
        Ok(out)
    }
}

/// Rows of a block at least, so that a product is worth its call.
const LEAST: usize = 64;

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
    let features = filter.shape()[1];
    rows::check_out_grad(OP, out_grad, &[x.rows(), features])?;
    let plan = Plan::new(x, window, padding, level)?;
    let of_x = if plan.width < features {
        let of_windows = out_grad.matmul(&filter.transpose())?;
        context_grad(x, window, None, level, &of_windows)?.0
    } else {
        // A row gets something from every row in whose window it is: a convolution with the filter turned round, which
        // keeps less than the windows' gradient aside.
        let (length, width) = (window.length, plan.width);
        let turned = filter.reshape([length, width, features])?.flip(0)?;
        let turned = turned.permute([0, 2, 1])?;
        let turned = turned.reshape([length.saturating_mul(features), width])?;
        let back = Plan {
            offsets: plan.offsets.clone(),
            window: window.mirrored(),
            width: features,
        };
        back.product(out_grad, None, &turned)?.reshape(x.shape())?
    };
    let dtype = x.dtype().promote(out_grad.dtype());
    // The blocks of half floats are added up as a single product of all rows would be.
    let wide = if dtype.is_float() {
        dtype.promote(DType::F32)
    } else {
        dtype
    };
    let of_filter = NdArray::zeros_of(wide, filter.shape().clone())?;
    plan.in_blocks(&rows::as_matrix(x.data())?, padding, |rows, windows| {
        let given = rows::view(out_grad, rows)?;
        Ok(windows
            .transpose()
            .gemm_into(&given, 1.0, 1.0, &of_filter)?)
    })?;
    let of_padding = match padding {
        None => None,
        Some(padding) => {
            let edges = plan.edges();
            let of_windows = rows::gather(out_grad, &edges.rows)?.matmul(&filter.transpose())?;
            let windows = 0..edges.places.len();
            Some(plan.padding_grad(&edges, windows, &of_windows, padding)?)
        }
    };
    Ok(ConvGrad {
        x: of_x,
        filter: of_filter.cast(dtype)?,
        padding: of_padding,
    })
}
