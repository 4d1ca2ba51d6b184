//! Convolutions and pooling into existing arrays.

use super::{Pooling, Windows};
use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// [`col2im`](Self::col2im) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`col2im`](Self::col2im); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn col2im_into(&self, windows: &Windows, image: [usize; 2], out: &NdArray) -> Result<()> {
        out.store("col2im_into", &[self], || self.col2im(windows, image))
    }

    /// [`conv2d`](Self::conv2d) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`conv2d`](Self::conv2d); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn conv2d_into(
        &self,
        weights: &NdArray,
        bias: Option<&NdArray>,
        windows: &Windows,
        out: &NdArray,
    ) -> Result<()> {
        let inputs = [self, weights, bias.unwrap_or(self)];
        let inputs = &inputs[..2 + usize::from(bias.is_some())];
        out.store("conv2d_into", inputs, || {
            self.conv2d(weights, bias, windows)
        })
    }

    /// [`conv1d`](Self::conv1d) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`conv1d`](Self::conv1d); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn conv1d_into(
        &self,
        weights: &NdArray,
        bias: Option<&NdArray>,
        windows: &Windows,
        out: &NdArray,
    ) -> Result<()> {
        let inputs = [self, weights, bias.unwrap_or(self)];
        let inputs = &inputs[..2 + usize::from(bias.is_some())];
        out.store("conv1d_into", inputs, || {
            self.conv1d(weights, bias, windows)
        })
    }

    /// [`pool2d`](Self::pool2d) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`pool2d`](Self::pool2d); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn pool2d_into(&self, pooling: Pooling, windows: &Windows, out: &NdArray) -> Result<()> {
        out.store("pool2d_into", &[self], || self.pool2d(pooling, windows))
    }
}
