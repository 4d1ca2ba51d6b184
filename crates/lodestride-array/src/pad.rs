//! Padding: a larger array with this one inside and, around it, constants or what the array itself suggests.
//!
//! Axis after axis, as in NumPy: what an axis adds reaches over the padding of the axes before it, so corners are filled.

use std::ops::Range;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels as kernels;
use lodestride_shape::{Axes, Shape, keep};
use smallvec::SmallVec;

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};
use crate::target::Target;

/// How many elements [`NdArray::pad`] adds before and after each axis.
///
/// From `[[before, after], ..]` per axis, or `[width, ..]` for the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PadWidths {
    widths: SmallVec<[[usize; 2]; 6]>,
}

impl<const N: usize> From<[usize; N]> for PadWidths {
    fn from(both: [usize; N]) -> Self {
        Self {
            widths: both.iter().map(|&width| [width, width]).collect(),
        }
    }
}

impl<const N: usize> From<[[usize; 2]; N]> for PadWidths {
    fn from(widths: [[usize; 2]; N]) -> Self {
        Self {
            widths: widths.into_iter().collect(),
        }
    }
}

impl From<&[[usize; 2]]> for PadWidths {
    fn from(widths: &[[usize; 2]]) -> Self {
        Self {
            widths: widths.iter().copied().collect(),
        }
    }
}

/// What [`NdArray::pad_with`] puts around an array: NumPy's modes.
///
/// Numbers come as pairs `[before, after]`: one pair for all axes, or one per axis. The modes that look at the elements near
/// the edge take how many of them count, in the same way; without a pair the whole axis counts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PadMode {
    /// Constants.
    Constant(Vec<[Scalar; 2]>),
    /// The element at the edge.
    Edge,
    /// A straight line from the edge to a number, which the outermost element reaches.
    LinearRamp(Vec<[Scalar; 2]>),
    /// The largest of the elements nearest to the edge.
    Maximum(Vec<[usize; 2]>),
    /// Their mean, rounded for integers.
    Mean(Vec<[usize; 2]>),
    /// Their median, rounded for integers.
    Median(Vec<[usize; 2]>),
    /// The smallest of them.
    Minimum(Vec<[usize; 2]>),
    /// The mirror image; the edge itself is not repeated.
    Reflect,
    /// The mirror image turned about the edge's value: twice the edge minus the mirrored element.
    ReflectOdd,
    /// The mirror image that begins with the edge.
    Symmetric,
    /// The mirror image that begins with the edge, turned about the edge's value.
    SymmetricOdd,
    /// The array again, as if it went on in circles.
    Wrap,
    /// Nothing in particular: whatever was in the memory, for padding that is written afterwards.
    Empty,
}

impl PadMode {
    /// [`Constant`](Self::Constant) with one number everywhere.
    pub fn constant(value: impl Into<Scalar>) -> Self {
        let value = value.into();
        Self::Constant(vec![[value, value]])
    }

    /// [`LinearRamp`](Self::LinearRamp) to one number everywhere.
    pub fn linear_ramp(end: impl Into<Scalar>) -> Self {
        let end = end.into();
        Self::LinearRamp(vec![[end, end]])
    }

    /// Whether its only work is copying, so that nothing fails when a part is written.
    fn is_plain(&self) -> bool {
        match self {
            Self::Constant(values) => values.len() == 1,
            Self::Edge | Self::Reflect | Self::Symmetric | Self::Wrap | Self::Empty => true,
            _ => false,
        }
    }

    /// Whether there is something to put beside an axis without elements.
    fn extends_nothing(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Empty)
    }
}

impl NdArray {
    /// The array with a constant around it; widths per axis, `[1, 1]` for both sides or `[[1, 0], [0, 2]]` for each.
    ///
    /// [`pad_with`](Self::pad_with) has the other modes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Count`] when there is not one width per axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let padded = NdArray::ones([2, 2])?.pad([[1, 0], [0, 1]], 0.0)?;
    /// assert_eq!(format!("{padded:.0}"), "[[0, 0, 0],\n [1, 1, 0],\n [1, 1, 0]]");
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn pad(&self, widths: impl Into<PadWidths>, value: impl Into<Scalar>) -> Result<NdArray> {
        let mode = PadMode::constant(value);
        self.padded("pad", &widths.into().widths, &mode, Target::New)
    }

    /// [`pad`](Self::pad) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`pad`](Self::pad); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn pad_into(
        &self,
        widths: impl Into<PadWidths>,
        value: impl Into<Scalar>,
        out: &NdArray,
    ) -> Result<()> {
        let (widths, mode) = (widths.into().widths, PadMode::constant(value));
        self.padded("pad_into", &widths, &mode, Target::Into(out))
            .map(drop)
    }

    /// The array with padding of any mode around it; widths per axis as in [`pad`](Self::pad).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Count`] when there is not one width per axis, or the mode has another number of pairs than one or
    /// the number of axes, [`ArrayErrorKind::Form`] when an axis without elements is to be padded by what it holds, or no
    /// element is to count.
    ///
    /// ```
    /// use lodestride_array::{NdArray, PadMode};
    ///
    /// let a = NdArray::from([1i32, 2, 4]);
    /// assert_eq!(a.pad_with([2], &PadMode::Edge)?.to_vec::<i32>()?, [1, 1, 1, 2, 4, 4, 4]);
    /// assert_eq!(a.pad_with([2], &PadMode::Reflect)?.to_vec::<i32>()?, [4, 2, 1, 2, 4, 2, 1]);
    /// assert_eq!(a.pad_with([2], &PadMode::Wrap)?.to_vec::<i32>()?, [2, 4, 1, 2, 4, 1, 2]);
    /// assert_eq!(a.pad_with([2], &PadMode::linear_ramp(0))?.to_vec::<i32>()?, [0, 0, 1, 2, 4, 2, 0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn pad_with(&self, widths: impl Into<PadWidths>, mode: &PadMode) -> Result<NdArray> {
        self.padded("pad_with", &widths.into().widths, mode, Target::New)
    }

    /// [`pad_with`](Self::pad_with) into an array of the result's shape: through scratch memory in the modes that compute or
    /// have values for each axis.
    ///
    /// # Errors
    /// As [`pad_with`](Self::pad_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn pad_with_into(
        &self,
        widths: impl Into<PadWidths>,
        mode: &PadMode,
        out: &NdArray,
    ) -> Result<()> {
        let widths = widths.into().widths;
        self.padded("pad_with_into", &widths, mode, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    pub(crate) fn padded(
        &self,
        op: &'static str,
        widths: &[[usize; 2]],
        mode: &PadMode,
        target: Target<'_>,
    ) -> Result<NdArray> {
        if widths.len() != self.rank() {
            return Err(self.miscounted(op, "widths, one per axis", self.rank(), widths.len()));
        }
        let sides = self.shape().iter().zip(widths);
        if !mode.extends_nothing() && sides.clone().any(|(&size, w)| size == 0 && *w != [0, 0]) {
            let expected = "elements along every padded axis, but in the modes Constant and Empty";
            return Err(self.unfit(op, expected));
        }
        let shape: Shape = sides
            .map(|(&size, [before, after])| size.saturating_add(*before).saturating_add(*after))
            .collect();
        if let Target::Into(out) = target
            && !mode.is_plain()
        {
            let make = || self.padded(op, widths, mode, Target::New);
            return out.store(op, &[self], make).map(|()| out.clone());
        }
        target.fill(op, self.dtype(), shape, &[self], |out| {
            self.pad_around(op, widths, mode, out)
        })
    }

    /// Writes this array into the middle of another one, and around it what the mode says.
    #[track_caller]
    fn pad_around(
        &self,
        op: &'static str,
        widths: &[[usize; 2]],
        mode: &PadMode,
        out: &NdArray,
    ) -> Result<()> {
        let mut middle = out.clone();
        for (axis, (&[before, _], &size)) in widths.iter().zip(self.shape().iter()).enumerate() {
            middle = middle.narrowed(op, axis, before..before + size)?;
        }
        if let PadMode::Constant(values) = mode
            && let [[before, after]] = values[..]
            && before == after
            && before.as_f64().to_bits() == after.as_f64().to_bits()
            && is_narrow(out, widths)
        {
            out.assign(before)?;
            return kernels::copy(self.operand().into(), middle.operand()).or_fail(op);
        }
        kernels::copy(self.operand().into(), middle.operand()).or_fail(op)?;
        // The axes that are still to come are narrowed to the array itself.
        for axis in 0..self.rank() {
            let mut region = out.clone();
            for (later, &[before, _]) in widths.iter().enumerate().skip(axis + 1) {
                region = region.narrowed(op, later, before..before + self.shape()[later])?;
            }
            let band = Band {
                op,
                region,
                axis,
                start: widths[axis][0],
                end: widths[axis][0] + self.shape()[axis],
            };
            band.fill(mode, self)?;
        }
        Ok(())
    }

    /// A view of the positions `range` of an axis.
    #[track_caller]
    pub(crate) fn narrowed(
        &self,
        op: &'static str,
        axis: usize,
        range: Range<usize>,
    ) -> Result<NdArray> {
        let layout = self.layout().narrow(axis as isize, range);
        Ok(self.with_layout(layout.in_op(op, self)?))
    }

    /// The error for an array of the wrong form.
    #[cold]
    #[track_caller]
    pub(crate) fn unfit(&self, op: &'static str, expected: &'static str) -> ArrayError {
        let array = ArraySummary::of(self);
        ArrayError::new(ArrayErrorKind::Form {
            op,
            expected,
            array,
        })
    }
}

/// Whether an array is best filled whole before another is copied into its middle: its rows are so short that columns beside
/// them touch most of their lines.
fn is_narrow(out: &NdArray, widths: &[[usize; 2]]) -> bool {
    let bytes = |&row: &usize| row.saturating_mul(out.dtype().size());
    out.shape().last().map(bytes) <= Some(512) && widths.last().is_some_and(|w| *w != [0, 0])
}

/// A padded array along one axis: positions from `start` to `end` hold the array, the others are to be filled.
struct Band {
    op: &'static str,
    region: NdArray,
    axis: usize,
    start: usize,
    end: usize,
}

impl Band {
    #[track_caller]
    fn fill(&self, mode: &PadMode, array: &NdArray) -> Result<()> {
        if self.start == 0 && self.end == self.after().end {
            return Ok(());
        }
        match mode {
            PadMode::Constant(values) => {
                let [before, after] = self.pair(values, array)?;
                self.part(0..self.start)?.assign(before)?;
                self.part(self.after())?.assign(after)?;
                Ok(())
            }
            PadMode::Edge => self.fill_edges(),
            PadMode::LinearRamp(ends) => {
                let [before, after] = self.pair(ends, array)?;
                self.ramp(self.start..self.start + 1, 0..self.start, before, false)?;
                self.ramp(self.end - 1..self.end, self.after(), after, true)
            }
            PadMode::Maximum(lengths) => self.nearest(lengths, array, |x, axis| x.max(axis)),
            PadMode::Minimum(lengths) => self.nearest(lengths, array, |x, axis| x.min(axis)),
            PadMode::Mean(lengths) => {
                self.nearest(lengths, array, |x, axis| rounded(x.mean(axis)?, x.dtype()))
            }
            PadMode::Median(lengths) => self.nearest(lengths, array, |x, axis| {
                rounded(x.median(axis)?, x.dtype())
            }),
            PadMode::Reflect => self.mirror(1, false),
            PadMode::ReflectOdd => self.mirror(1, true),
            PadMode::Symmetric => self.mirror(0, false),
            PadMode::SymmetricOdd => self.mirror(0, true),
            PadMode::Wrap => self.wrap(),
            PadMode::Empty => Ok(()),
        }
    }

    #[track_caller]
    fn part(&self, range: Range<usize>) -> Result<NdArray> {
        self.region.narrowed(self.op, self.axis, range)
    }

    /// The positions behind the array.
    fn after(&self) -> Range<usize> {
        self.end..self.region.shape()[self.axis]
    }

    /// The pair that is meant for this axis.
    #[track_caller]
    fn pair<T: Copy>(&self, pairs: &[[T; 2]], array: &NdArray) -> Result<[T; 2]> {
        match pairs {
            [all] => Ok(*all),
            _ if pairs.len() == array.rank() => Ok(pairs[self.axis]),
            _ => {
                let what = "pairs of values, one per axis (or a single one)";
                Err(array.miscounted(self.op, what, array.rank(), pairs.len()))
            }
        }
    }

    #[track_caller]
    fn fill_edges(&self) -> Result<()> {
        let first = self.part(self.start..self.start + 1)?;
        self.part(0..self.start)?.assign(&first)?;
        let last = self.part(self.end - 1..self.end)?;
        self.part(self.after())?.assign(&last)?;
        Ok(())
    }

    /// Fills both sides with a reduction of the elements that are nearest to them.
    #[track_caller]
    fn nearest(
        &self,
        lengths: &[[usize; 2]],
        array: &NdArray,
        reduce: impl Fn(&NdArray, Axes) -> Result<NdArray>,
    ) -> Result<()> {
        let size = self.end - self.start;
        let [before, after] = match lengths {
            [] => [size, size],
            _ => self.pair(lengths, array)?.map(|length| length.min(size)),
        };
        if before == 0 || after == 0 {
            return Err(array.unfit(self.op, "at least one element to count on each side"));
        }
        let value = |range| reduce(&self.part(range)?, keep(self.axis));
        let first = value(self.start..self.start + before)?;
        self.part(0..self.start)?.assign(&first)?;
        let last = value(self.end - after..self.end)?;
        self.part(self.after())?.assign(&last)?;
        Ok(())
    }

    /// Fills a range with the line from `end`, at its outer position, to the edge beside it.
    #[track_caller]
    fn ramp(
        &self,
        edge: Range<usize>,
        range: Range<usize>,
        end: Scalar,
        backwards: bool,
    ) -> Result<()> {
        let (axis, count) = (self.axis, range.len());
        if count == 0 {
            return Ok(());
        }
        let mut along: SmallVec<[usize; 6]> = SmallVec::from_elem(1, self.region.rank());
        along[axis] = count;
        let steps = NdArray::arange_of(DType::F64, 0, count, 1)?.reshape(&along[..])?;
        let width = self.part(edge)?.cast(DType::F64)?.sub(end.as_f64())?;
        let step = width.div(count as f64)?;
        // The order of rounding is NumPy's, which decides what integers round down to.
        let line = if step.equal(0)?.any_true()? {
            steps.divi(count as f64)?.mul(&width)?
        } else {
            steps.mul(&step)?
        };
        line.addi(end.as_f64())?;
        if !self.region.dtype().is_float() {
            line.floori()?;
        }
        let line = if backwards {
            line.flip(axis as isize)?
        } else {
            line
        };
        self.part(range)?.assign(&line)?;
        Ok(())
    }

    /// Fills both sides by mirroring; `gap` is 1 when the edge itself is left out.
    #[track_caller]
    fn mirror(&self, gap: usize, odd: bool) -> Result<()> {
        if self.end - self.start == 1 {
            return self.fill_edges();
        }
        let (period, after) = (self.end - self.start - gap, self.after());
        let mut low = self.start;
        while low > 0 {
            let count = period.min(low);
            let source = self.part(low + gap..low + gap + count)?;
            self.mirror_into(low - count..low, &source, odd.then_some(low))?;
            low -= count;
        }
        let mut high = self.end;
        while high < after.end {
            let count = period.min(after.end - high);
            let source = self.part(high - gap - count..high - gap)?;
            self.mirror_into(high..high + count, &source, odd.then_some(high - 1))?;
            high += count;
        }
        Ok(())
    }

    #[track_caller]
    fn mirror_into(
        &self,
        range: Range<usize>,
        source: &NdArray,
        turn_at: Option<usize>,
    ) -> Result<()> {
        let mirrored = source.flip(self.axis as isize)?;
        let target = self.part(range)?;
        match turn_at {
            None => target.assign(&mirrored)?,
            Some(edge) => {
                let twice = self.part(edge..edge + 1)?.mul(2)?;
                target.assign(&twice.sub(&mirrored)?)?
            }
        };
        Ok(())
    }

    #[track_caller]
    fn wrap(&self) -> Result<()> {
        let (period, after) = (self.end - self.start, self.after());
        let mut low = self.start;
        while low > 0 {
            let count = period.min(low);
            let source = self.part(low - count + period..low + period)?;
            self.part(low - count..low)?.assign(&source)?;
            low -= count;
        }
        let mut high = self.end;
        while high < after.end {
            let count = period.min(after.end - high);
            let source = self.part(high - period..high - period + count)?;
            self.part(high..high + count)?.assign(&source)?;
            high += count;
        }
        Ok(())
    }
}

/// The nearest whole numbers where they are to be stored as integers.
#[track_caller]
fn rounded(values: NdArray, dtype: DType) -> Result<NdArray> {
    if !dtype.is_float() && dtype != DType::Bool {
        values.roundi()?;
    }
    Ok(values)
}
