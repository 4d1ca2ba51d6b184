//! Weights times windows. Floats whose windows lie side by side are multiplied where they are; other windows are copied some at a
//! time, so that their copies are multiplied while they are in the last-level cache: all of them are larger than the images by the area
//! of a window.

use lodestride_buffer::Scalar;
use lodestride_kernels as kernels;
use lodestride_shape::{Layout, Order, Shape};

use super::{Placed, Windows};
use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, OrFail, Result};

/// Bytes of windows that are copied at a time: products of fewer columns are slower by a tenth.
const COPIED: usize = 1 << 22;

impl NdArray {
    /// Weights `[out, depth]` times the windows of images: `[n, out, out h * out w]`.
    #[track_caller]
    pub(super) fn window_products(
        &self,
        op: &'static str,
        weights: &NdArray,
        windows: &Windows,
        placed: &Placed,
    ) -> Result<NdArray> {
        let padded = self.padded_image(op, placed, Scalar::from(false))?;
        let view = padded.unfolded(op, windows)?;
        let [images, rows, columns] = [0, 4, 5].map(|axis| view.shape()[axis]);
        let depth: usize = view.shape()[1..4].iter().product();
        if weights.shape()[1] != depth {
            let mut rhs = ArraySummary::of(self);
            rhs.shape = Shape::from([images, depth, rows * columns]);
            let lhs = ArraySummary::of(weights);
            return Err(ArrayError::new(ArrayErrorKind::MatrixProduct {
                op,
                lhs,
                rhs,
            }));
        }
        let (out, dtype) = (weights.shape()[0], self.dtype().promote(weights.dtype()));
        let shape = Shape::from([images, out, rows * columns]);
        let product = Self::recycled_ordered(op, dtype, shape, Order::C)?;
        if product.is_empty() {
            return Ok(product);
        }
        let (x, y, z) = (weights.operand(), view.operand(), product.operand());
        if kernels::matmul_windows(x, y, z).or_fail(op)? {
            return Ok(product);
        }
        // Whole images, or rows of windows of one, or of a row single windows.
        let (axis, lines, width) = match rows {
            1 => (5, columns, 1),
            _ => (4, rows, columns),
        };
        let of_line = (depth * width).saturating_mul(dtype.size()).max(1);
        let together = (COPIED / of_line.saturating_mul(lines)).clamp(1, images);
        let stretch = lines.div_ceil(lines.div_ceil((COPIED / of_line).clamp(1, lines)));
        let elements = together * depth * stretch * width;
        let copies = Self::recycled_ordered(op, self.dtype(), elements.into(), Order::C)?;
        for image in (0..images).step_by(together) {
            let images = image..images.min(image + together);
            for line in (0..lines).step_by(stretch) {
                let lines = line..lines.min(line + stretch);
                let part = view.narrowed(op, 0, images.clone())?;
                let part = part.narrowed(op, axis, lines.clone())?;
                let packed = |shape| Layout::contiguous(shape, Order::C).or_fail(op);
                let layout = packed(part.shape().clone())?;
                kernels::copy(part.operand().into(), copies.operand_as(&layout)).or_fail(op)?;
                let matrices = Shape::from([images.len(), depth, lines.len() * width]);
                let matrices = copies.with_layout(packed(matrices)?);
                let result = product.narrowed(op, 0, images.clone())?;
                let place = lines.start * width..lines.end * width;
                weights.matmul_into(&matrices, &result.narrowed(op, 2, place)?)?;
            }
        }
        Ok(product)
    }
}
