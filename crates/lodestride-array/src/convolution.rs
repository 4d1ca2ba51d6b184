//! Convolution helpers on batches of images `[n, channels, height, width]`: unfolding windows, folding them back, convolving,
//! pooling.
//!
//! Windows are views, so that unfolding is one copy and pooling one reduction; a convolution is the weights times the windows, which
//! are read where they lie or copied in parts.

mod into;
mod pooling;
mod products;
mod vectors;

use lodestride_buffer::{Argument, DType, Scalar};
use lodestride_kernels as kernels;
use lodestride_shape::{Index, Order, interval_step};
use smallvec::SmallVec;

pub use self::vectors::ConvolveMode;
use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};
use crate::pad::PadMode;
use crate::reduce::{float_of, widened};
use crate::target::Target;

/// What is added around an image before windows slide over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// Nothing: windows stay inside.
    #[default]
    Valid,
    /// As much as it takes for `ceil(size / stride)` windows, the odd one behind, as in TensorFlow and ND4J.
    Same,
    /// Every window that overlaps the image at all.
    Full,
    /// Elements before and after each axis.
    Explicit([[usize; 2]; 2]),
}

/// Windows that slide over the last two axes of an image.
///
/// ```
/// use lodestride_array::{Padding, Windows};
///
/// let windows = Windows::new([3, 3]).stride([2, 2]).padding(Padding::Same);
/// assert_eq!(windows.output_size([7, 8])?, [4, 4]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: Padding,
}

/// How the elements of a window become one in [`NdArray::pool2d`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pooling {
    /// The largest; padding does not count.
    Max,
    /// The mean of those inside the image.
    Average,
    /// The mean of the whole window, whose padding is 0.
    AverageWithPadding,
    /// `(sum |x|^p)^(1/p)`.
    PNorm(f64),
}

impl Windows {
    /// Windows of a height and a width, next to each other, without padding.
    pub const fn new(kernel: [usize; 2]) -> Self {
        Self {
            kernel,
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::Valid,
        }
    }

    /// Steps from one window to the next, down and to the right.
    #[must_use]
    pub const fn stride(self, stride: [usize; 2]) -> Self {
        Self { stride, ..self }
    }

    /// Steps from one element of a window to the next: 2 leaves out every second one.
    #[must_use]
    pub const fn dilation(self, dilation: [usize; 2]) -> Self {
        Self { dilation, ..self }
    }

    /// What is added around the image.
    #[must_use]
    pub const fn padding(self, padding: Padding) -> Self {
        Self { padding, ..self }
    }

    /// The extent of a window, with the elements that dilation leaves out.
    #[doc(alias = "effectiveKernelSize")]
    pub fn extent(&self) -> [usize; 2] {
        [0, 1].map(|axis| {
            let gaps = self.kernel[axis].saturating_sub(1);
            gaps.saturating_mul(self.dilation[axis]).saturating_add(1)
        })
    }

    /// How many windows an image of the given height and width has, down and to the right.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when a size, a stride or a dilation is 0 or the image with its padding is smaller than a window.
    #[doc(alias = "outSize")]
    #[track_caller]
    pub fn output_size(&self, image: [usize; 2]) -> Result<[usize; 2]> {
        Ok(self.place("output_size", image)?.count)
    }

    /// Checks the numbers and finds padding and number of windows.
    #[track_caller]
    fn place(&self, op: &'static str, image: [usize; 2]) -> Result<Placed> {
        let given = [
            ("kernel", self.kernel),
            ("stride", self.stride),
            ("dilation", self.dilation),
        ];
        for (name, value) in given
            .iter()
            .flat_map(|(name, pair)| pair.map(|value| (*name, value)))
        {
            if value == 0 {
                return Err(refuse(op, name, 0.0));
            }
        }
        let extent = self.extent();
        let mut placed = Placed {
            pads: [[0; 2]; 2],
            count: [0; 2],
        };
        for axis in 0..2 {
            let (size, reach, stride) = (image[axis], extent[axis], self.stride[axis]);
            let pads = match self.padding {
                Padding::Valid => [0, 0],
                Padding::Full => [reach - 1, reach - 1],
                Padding::Explicit(pads) => pads[axis],
                Padding::Same => {
                    let last = size
                        .div_ceil(stride)
                        .saturating_sub(1)
                        .saturating_mul(stride);
                    let missing = last.saturating_add(reach).saturating_sub(size);
                    [missing / 2, missing - missing / 2]
                }
            };
            let padded = size.saturating_add(pads[0]).saturating_add(pads[1]);
            if padded < reach {
                return Err(refuse(op, "kernel", reach as f64));
            }
            placed.pads[axis] = pads;
            placed.count[axis] = (padded - reach) / stride + 1;
        }
        Ok(placed)
    }
}

/// Padding and number of windows along both axes.
struct Placed {
    pads: [[usize; 2]; 2],
    count: [usize; 2],
}

#[cold]
#[track_caller]
fn refuse(op: &'static str, name: &'static str, value: f64) -> ArrayError {
    let source = kernels::KernelError::InvalidArgument { op, name, value };
    ArrayError::new(ArrayErrorKind::Kernel { source })
}

impl NdArray {
    /// The windows of a batch of images, unfolded: `[n, c, h, w]` becomes `[n, c, kernel h, kernel w, out h, out w]`.
    ///
    /// Reshaped to `[n, c * kernel h * kernel w, out h * out w]` these are the columns a convolution multiplies.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array has not four axes, and as [`Windows::output_size`].
    ///
    /// ```
    /// use lodestride_array::{NdArray, Windows};
    ///
    /// let image = NdArray::arange(0, 9, 1)?.reshape([1, 1, 3, 3])?;
    /// let columns = image.im2col(&Windows::new([2, 2]))?;
    /// assert_eq!(columns.shape()[..], [1, 1, 2, 2, 2, 2]);
    /// assert_eq!(columns.reshape([4, 4])?.row(1)?.to_vec::<f32>()?, [1.0, 2.0, 4.0, 5.0]); // top right elements
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn im2col(&self, windows: &Windows) -> Result<NdArray> {
        self.im2col_to("im2col", windows, Target::New)
    }

    /// [`im2col`](Self::im2col) into an array of the result's shape: only a padded image needs scratch memory.
    ///
    /// # Errors
    /// As [`im2col`](Self::im2col); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn im2col_into(&self, windows: &Windows, out: &NdArray) -> Result<()> {
        self.im2col_to("im2col_into", windows, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    fn im2col_to(
        &self,
        op: &'static str,
        windows: &Windows,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable(op, Argument::X)?;
        let placed = windows.place(op, self.image_size(op)?)?;
        let padded = self.padded_image(op, &placed, Scalar::from(false))?;
        let view = padded.unfolded(op, windows)?;
        let made = target.fill(op, self.dtype(), view.shape().clone(), &[self], |out| {
            kernels::copy(view.operand().into(), out.operand()).or_fail(op)
        });
        watch.made(op, &[self], made)
    }

    /// Folds unfolded windows back to images of the given height and width, adding up where windows overlap: the adjoint of
    /// [`im2col`](Self::im2col).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array does not have the shape that `im2col` gives for such images, and as
    /// [`Windows::output_size`].
    ///
    /// ```
    /// use lodestride_array::{NdArray, Windows};
    ///
    /// let windows = Windows::new([2, 2]);
    /// let columns = NdArray::ones([1, 1, 3, 3])?.im2col(&windows)?;
    /// let counts = columns.col2im(&windows, [3, 3])?; // how many windows cover each element
    /// assert_eq!(counts.to_vec::<f32>()?, [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn col2im(&self, windows: &Windows, image: [usize; 2]) -> Result<NdArray> {
        let watch = Watch::start();
        const OP: &str = "col2im";
        self.expect_readable("col2im", Argument::X)?;
        let placed = windows.place(OP, image)?;
        let [n, c, height, width, rows, columns] = self.shape()[..] else {
            return Err(self.unfit(OP, "six axes, as im2col gives them"));
        };
        let kernel = [height, width];
        if kernel != windows.kernel || [rows, columns] != placed.count {
            return Err(self.unfit(OP, "the shape that im2col gives for such images"));
        }
        let sizes = [0, 1].map(|i| image[i] + placed.pads[i][0] + placed.pads[i][1]);
        let padded = NdArray::zeros_of(self.dtype(), [n, c, sizes[0], sizes[1]])?;
        let folded = padded.unfolded(OP, windows)?;
        // Windows overlap, the elements at one place of all windows do not: one addition for every place.
        for i in 0..kernel[0] {
            for j in 0..kernel[1] {
                let at = |array: &NdArray| array.slice(i as isize, 2)?.slice(j as isize, 2);
                at(&folded)?.addi(&at(self)?)?;
            }
        }
        let mut inside = padded;
        for (axis, [before, _]) in placed.pads.into_iter().enumerate() {
            inside = inside.narrowed(OP, axis + 2, before..before + image[axis])?;
        }
        let made = inside.dup_order(Order::C);
        watch.made("col2im", &[self], made)
    }

    /// Images `[n, c, h, w]` convolved with weights `[out, c, kernel h, kernel w]` (not mirrored, as networks do), plus a bias
    /// of `out` numbers: `[n, out, out h, out w]`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when an array has not four axes or the kernels have another size than the windows,
    /// [`ArrayErrorKind::MatrixProduct`] when the channels differ, [`ArrayErrorKind::VectorLength`] for a bias of another length,
    /// and as [`Windows::output_size`].
    ///
    /// ```
    /// use lodestride_array::{NdArray, Padding, Windows};
    ///
    /// let image = NdArray::ones([1, 1, 3, 3])?;
    /// let windows = Windows::new([3, 3]).padding(Padding::Same);
    /// let neighbours = image.conv2d(&NdArray::ones([1, 1, 3, 3])?, None, &windows)?;
    /// assert_eq!(neighbours.to_vec::<f32>()?, [4.0, 6.0, 4.0, 6.0, 9.0, 6.0, 4.0, 6.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn conv2d(
        &self,
        weights: &NdArray,
        bias: Option<&NdArray>,
        windows: &Windows,
    ) -> Result<NdArray> {
        let given: SmallVec<[&NdArray; 3]> = [Some(self), Some(weights), bias]
            .into_iter()
            .flatten()
            .collect();
        let watch = Watch::start();
        const OP: &str = "conv2d";
        self.expect_readable("conv2d", Argument::X)?;
        weights.expect_readable("conv2d", Argument::Y)?;
        let image = self.image_size(OP)?;
        let [out, channels, height, width] = weights.shape()[..] else {
            return Err(weights.unfit(OP, "weights of four axes, [out, channels, height, width]"));
        };
        if [height, width] != windows.kernel {
            return Err(weights.unfit(OP, "weights with the height and width of the windows"));
        }
        let placed = windows.place(OP, image)?;
        let (count, depth) = (placed.count, channels * windows.area());
        // Windows of one element, at each of the image's and nowhere else, are the image itself.
        let is_image = windows.area() == 1 && windows.stride == [1; 2] && count == image;
        let weights_of_rows = weights.reshape([out, depth])?;
        let product = if is_image {
            let columns = [self.shape()[0], self.shape()[1], count[0] * count[1]];
            weights_of_rows.matmul(&self.reshape(columns)?)?
        } else {
            self.window_products(OP, &weights_of_rows, windows, &placed)?
        };
        if let Some(bias) = bias {
            bias.expect_readable(OP, Argument::Input(2))?;
            if bias.shape()[..] != [out] {
                let (matrix, vector) = (ArraySummary::of(weights), ArraySummary::of(bias));
                return Err(ArrayError::new(ArrayErrorKind::VectorLength {
                    op: OP,
                    expected: out,
                    matrix,
                    vector,
                }));
            }
            product.addi(&bias.expand_dims(1)?)?;
        }
        let made = Ok(product
            .reshape([self.shape()[0], out, count[0], count[1]])?
            .owning());
        watch.made("conv2d", &given, made)
    }

    /// Signals `[n, c, length]` convolved with weights `[out, c, kernel]`, plus a bias: [`conv2d`](Self::conv2d) of images of
    /// height 1. Stride, dilation and padding are those of the windows' second axis.
    ///
    /// # Errors
    /// As [`conv2d`](Self::conv2d).
    ///
    /// ```
    /// use lodestride_array::{NdArray, Windows};
    ///
    /// let signal = NdArray::from([[[1.0f32, 4.0, 9.0, 16.0]]]);
    /// let slope = NdArray::from([[[-1.0f32, 1.0]]]);
    /// let found = signal.conv1d(&slope, None, &Windows::new([1, 2]))?;
    /// assert_eq!(found.to_vec::<f32>()?, [3.0, 5.0, 7.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn conv1d(
        &self,
        weights: &NdArray,
        bias: Option<&NdArray>,
        windows: &Windows,
    ) -> Result<NdArray> {
        let given: SmallVec<[&NdArray; 3]> = [Some(self), Some(weights), bias]
            .into_iter()
            .flatten()
            .collect();
        let watch = Watch::start();
        self.expect_readable("conv1d", Argument::X)?;
        weights.expect_readable("conv1d", Argument::Y)?;
        for array in [self, weights] {
            if array.rank() != 3 {
                return Err(array.unfit("conv1d", "an array of three axes"));
            }
        }
        let found = self
            .expand_dims(2)?
            .conv2d(&weights.expand_dims(2)?, bias, windows)?;
        let made = found.squeeze(2).map(NdArray::owning);
        watch.made("conv1d", &given, made)
    }

    /// One element for every window of a batch of images `[n, c, h, w]`: `[n, c, out h, out w]`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array has not four axes, [`ArrayErrorKind::Kernel`] for a power that is not positive, and
    /// as [`Windows::output_size`].
    ///
    /// ```
    /// use lodestride_array::{NdArray, Pooling, Windows};
    ///
    /// let image = NdArray::arange(0, 16, 1)?.reshape([1, 1, 4, 4])?;
    /// let windows = Windows::new([2, 2]).stride([2, 2]);
    /// assert_eq!(image.pool2d(Pooling::Max, &windows)?.to_vec::<f32>()?, [5.0, 7.0, 13.0, 15.0]);
    /// assert_eq!(image.pool2d(Pooling::Average, &windows)?.to_vec::<f32>()?, [2.5, 4.5, 10.5, 12.5]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "pooling2D")]
    #[track_caller]
    pub fn pool2d(&self, pooling: Pooling, windows: &Windows) -> Result<NdArray> {
        let watch = Watch::start();
        const OP: &str = "pool2d";
        const WINDOW: [isize; 2] = [2, 3];
        self.expect_readable("pool2d", Argument::X)?;
        let placed = windows.place(OP, self.image_size(OP)?)?;
        let outside = match pooling {
            Pooling::Max => lowest(self.dtype()),
            _ => Scalar::from(false),
        };
        let padded = self.padded_image(OP, &placed, outside)?;
        if pooling == Pooling::Max && windows.are_small() && self.dtype() != DType::Bool {
            let made = padded.largest_in_windows(OP, windows);
            return watch.made("pool2d", &[self], made);
        }
        let view = padded.unfolded(OP, windows)?;
        let dtype = float_of(self.dtype());
        let made = match pooling {
            Pooling::Max => view.max(WINDOW),
            Pooling::AverageWithPadding => view.mean(WINDOW),
            Pooling::Average => {
                let ones =
                    NdArray::ones_of(widened(dtype), [1, 1, self.shape()[2], self.shape()[3]])?;
                let inside = ones.padded_image(OP, &placed, outside)?;
                let count = inside.unfolded(OP, windows)?.sum(WINDOW)?;
                let sums = view.widened().sum(WINDOW)?;
                sums.divi(&count)?;
                sums.cast(dtype)
            }
            Pooling::PNorm(p) => {
                if !(p > 0.0 && p.is_finite()) {
                    return Err(refuse(OP, "p", p));
                }
                let sums = view.widened().abs().pow(p).sum(WINDOW)?;
                sums.powi(1.0 / p)?;
                sums.cast(dtype)
            }
        };
        watch.made("pool2d", &[self], made)
    }

    /// Height and width of a batch of images.
    #[track_caller]
    fn image_size(&self, op: &'static str) -> Result<[usize; 2]> {
        match self.shape()[..] {
            [_, _, height, width] => Ok([height, width]),
            _ => Err(self.unfit(op, "four axes, [n, channels, height, width]")),
        }
    }

    /// The images with their padding; themselves without any.
    #[track_caller]
    fn padded_image(&self, op: &'static str, placed: &Placed, value: Scalar) -> Result<NdArray> {
        if placed.pads == [[0; 2]; 2] {
            return Ok(self.clone());
        }
        let widths = [[0; 2], [0; 2], placed.pads[0], placed.pads[1]];
        self.padded(op, &widths, &PadMode::constant(value), Target::New)
    }

    /// A view of all windows of padded images: `[n, c, kernel h, kernel w, out h, out w]`.
    #[track_caller]
    fn unfolded(&self, op: &'static str, windows: &Windows) -> Result<NdArray> {
        let extent = windows.extent();
        let mut layout = self.layout().clone();
        for (axis, (length, step)) in extent.into_iter().zip(windows.stride).enumerate() {
            layout = (layout.windows(axis as isize + 2, length, step)).in_op(op, self)?;
        }
        // Axes are now n, c, out h, out w, extent h, extent w.
        let mut parts: SmallVec<[Index; 6]> = (layout.shape()[..4].iter())
            .map(|&size| interval_step(0, 1, size as isize))
            .collect();
        for (length, step) in extent.into_iter().zip(windows.dilation) {
            parts.push(interval_step(0, step as isize, length as isize));
        }
        let layout = layout.index(&parts).in_op(op, self)?;
        Ok(self.with_layout(layout.permute(&[0, 1, 4, 5, 2, 3]).in_op(op, self)?))
    }
}

impl Windows {
    fn area(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }
}

/// What no element of a dtype is below.
fn lowest(dtype: DType) -> Scalar {
    match dtype {
        dtype if dtype.is_float() => Scalar::from(f64::NEG_INFINITY),
        DType::I8 => Scalar::from(i64::from(i8::MIN)),
        DType::I16 => Scalar::from(i64::from(i16::MIN)),
        DType::I32 => Scalar::from(i64::from(i32::MIN)),
        DType::I64 => Scalar::from(i64::MIN),
        _ => Scalar::from(false),
    }
}
