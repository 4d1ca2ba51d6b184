//! Values of polynomials. Fits and roots, which need linear algebra, are in `linalg::polynomial`; the product of two is
//! their convolution.

use std::ops::Range;

use lodestride_buffer::{Argument, scope_out};

use crate::NdArray;
use crate::checks::Watch;
use crate::error::{InMethod, Result};
use crate::reduce::{float_of, widened};

/// Powers that are gone through in one pass over memory.
const AT_ONCE: usize = 16;

impl NdArray {
    /// The values at `x` of the polynomial with these coefficients, the highest power first, in the shape of `x`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`](crate::ArrayErrorKind::Form) when the coefficients are not a vector.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let p = NdArray::from([3, 0, 1]); // 3 x² + 1
    /// assert_eq!(p.polyval(&NdArray::from([5, -1]))?, NdArray::from([76, 4]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn polyval(&self, x: &NdArray) -> Result<NdArray> {
        let op = "polyval";
        let watch = Watch::start();
        self.expect_readable(op, Argument::X)?;
        x.expect_readable(op, Argument::Y)?;
        self.expect_line(op)?;
        // Without coefficients there is nothing to promote with.
        let dtype = if self.is_empty() {
            x.dtype()
        } else {
            self.dtype().promote(x.dtype())
        };
        let work = if dtype.is_float() {
            widened(float_of(dtype))
        } else {
            dtype
        };
        let (p, at) = scope_out(|| Ok((self.cast(work)?, x.cast(work)?))).located()?;
        let mut values = NdArray::zeros_of(work, x.shape())?;
        for start in (0..p.len()).step_by(AT_ONCE) {
            let end = p.len().min(start + AT_ONCE);
            values = values.continued(&at, &p, start..end).located()?;
        }
        watch.made(op, &[self, x], values.cast(dtype))
    }

    /// [`polyval`](Self::polyval) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`polyval`](Self::polyval); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn polyval_into(&self, x: &NdArray, out: &NdArray) -> Result<()> {
        out.store("polyval_into", &[self, x], || self.polyval(x))
    }

    /// These values of a polynomial, with the coefficients of lower powers in a range taken in.
    fn continued(&self, x: &NdArray, p: &NdArray, range: Range<usize>) -> Result<NdArray> {
        let mut sum = self.lazy();
        for place in range {
            sum = sum * x + p.get_flat(place as isize)?;
        }
        sum.eval()
    }
}
