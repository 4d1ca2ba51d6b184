//! Values between sample points, on straight lines.

use lodestride_buffer::{Argument, DType, scope_out};
use lodestride_kernels::KernelError;

use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, InMethod, Result};
use crate::sort::first_fall;

impl NdArray {
    /// The values at these positions of a function that is a straight line between sample points, as f64 in this array's
    /// shape. Before the first point and behind the last one the function keeps its value there.
    ///
    /// The points must not fall; where some are equal, the last of their values counts. NaN gives NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] without points, [`ArrayErrorKind::Form`] when they are not a vector,
    /// [`ArrayErrorKind::Count`] for another number of values, [`ArrayErrorKind::NotAscending`] when a point is NaN or lower
    /// than the one before it, which NumPy does not look at.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (points, values) = (NdArray::from([1.0, 2.0, 3.0]), NdArray::from([3.0, 2.0, 0.0]));
    /// let x = NdArray::from([0.0, 1.5, 2.75]);
    /// assert_eq!(x.interp(&points, &values)?.to_vec::<f64>()?, [3.0, 2.5, 0.5]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn interp(&self, points: &NdArray, values: &NdArray) -> Result<NdArray> {
        self.interpolated("interp", points, values, [None, None])
    }

    /// [`interp`](Self::interp) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`interp`](Self::interp); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn interp_into(&self, points: &NdArray, values: &NdArray, out: &NdArray) -> Result<()> {
        out.store("interp_into", &[self, points, values], || {
            self.interp(points, values)
        })
    }

    /// [`interp`](Self::interp) with values of their own before the first and behind the last point.
    ///
    /// # Errors
    /// As [`interp`](Self::interp).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (points, values) = (NdArray::from([1.0, 2.0]), NdArray::from([10.0, 20.0]));
    /// let y = NdArray::from([0.0, 1.5, 3.0]).interp_with(&points, &values, Some(-1.0), None)?;
    /// assert_eq!(y.to_vec::<f64>()?, [-1.0, 15.0, 20.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "interp")]
    #[track_caller]
    pub fn interp_with(
        &self,
        points: &NdArray,
        values: &NdArray,
        left: Option<f64>,
        right: Option<f64>,
    ) -> Result<NdArray> {
        self.interpolated("interp_with", points, values, [left, right])
    }

    /// [`interp_with`](Self::interp_with) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`interp`](Self::interp); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn interp_with_into(
        &self,
        points: &NdArray,
        values: &NdArray,
        left: Option<f64>,
        right: Option<f64>,
        out: &NdArray,
    ) -> Result<()> {
        out.store("interp_with_into", &[self, points, values], || {
            self.interp_with(points, values, left, right)
        })
    }

    /// [`interp`](Self::interp) of a function that repeats itself after every `period`, such as one of an angle: the points
    /// may come in any order.
    ///
    /// # Errors
    /// As [`interp`](Self::interp), but for the order; [`ArrayErrorKind::Kernel`] for a period that is 0 or not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (angles, values) = (NdArray::from([350.0, 10.0, 190.0]), NdArray::from([0.0, 2.0, 20.0]));
    /// let y = NdArray::from([0.0, 370.0, -80.0]).interp_periodic(&angles, &values, 360.0)?;
    /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 8.75]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "period")]
    #[track_caller]
    pub fn interp_periodic(
        &self,
        points: &NdArray,
        values: &NdArray,
        period: f64,
    ) -> Result<NdArray> {
        let op = "interp_periodic";
        let watch = Watch::start();
        self.expect_readable(op, Argument::X)?;
        let samples = Samples::read(op, points, values)?;
        let period = period.abs();
        if !(period > 0.0 && period.is_finite()) {
            let (name, value) = ("period", period);
            let source = KernelError::InvalidArgument { op, name, value };
            return Err(ArrayError::new(ArrayErrorKind::Kernel { source }));
        }
        let samples = samples.wrapped(period).ascending(op)?;
        let x = scope_out(|| self.cast(DType::F64)).located()?;
        let made = x.map(|x: f64| samples.at(modulo(x, period), [None, None]));
        watch.made(op, &[self, points, values], made)
    }

    /// [`interp_periodic`](Self::interp_periodic) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`interp_periodic`](Self::interp_periodic); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn interp_periodic_into(
        &self,
        points: &NdArray,
        values: &NdArray,
        period: f64,
        out: &NdArray,
    ) -> Result<()> {
        out.store("interp_periodic_into", &[self, points, values], || {
            self.interp_periodic(points, values, period)
        })
    }

    #[track_caller]
    fn interpolated(
        &self,
        op: &'static str,
        points: &NdArray,
        values: &NdArray,
        ends: [Option<f64>; 2],
    ) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable(op, Argument::X)?;
        let samples = Samples::read(op, points, values)?.ascending(op)?;
        let x = scope_out(|| self.cast(DType::F64)).located()?;
        let made = x.map(|x: f64| samples.at(x, ends));
        watch.made(op, &[self, points, values], made)
    }
}

/// A function by its values at ascending points.
struct Samples {
    points: Vec<f64>,
    values: Vec<f64>,
}

impl Samples {
    #[track_caller]
    fn read(op: &'static str, points: &NdArray, values: &NdArray) -> Result<Self> {
        points.expect_readable(op, Argument::Y)?;
        values.expect_readable(op, Argument::Input(2))?;
        points.expect_line(op)?;
        values.expect_line(op)?;
        if points.is_empty() {
            let expected = "sample points";
            return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
        }
        if points.len() != values.len() {
            let what = "values, one per point";
            return Err(values.miscounted(op, what, points.len(), values.len()));
        }
        let (points, values) = (points.to_f64_vec()?, values.to_f64_vec()?);
        Ok(Self { points, values })
    }

    /// These, if their points do not fall.
    #[track_caller]
    fn ascending(self, op: &'static str) -> Result<Self> {
        let points = &self.points;
        if let Some(index) = first_fall(points) {
            return Err(ArrayError::new(ArrayErrorKind::NotAscending {
                op,
                index,
                value: points[index],
                previous: points[index.saturating_sub(1)],
            }));
        }
        Ok(self)
    }

    /// These within one period, in order, and the next one on either side.
    fn wrapped(self, period: f64) -> Self {
        let points = self.points.into_iter().map(|x| modulo(x, period));
        let mut pairs: Vec<(f64, f64)> = points.zip(self.values).collect();
        pairs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (first, last) = (pairs[0], pairs[pairs.len() - 1]);
        pairs.insert(0, (last.0 - period, last.1));
        pairs.push((first.0 + period, first.1));
        let (points, values) = pairs.into_iter().unzip();
        Self { points, values }
    }

    /// The value at `x`; `ends` are those before and behind all points.
    fn at(&self, x: f64, [left, right]: [Option<f64>; 2]) -> f64 {
        let (points, values) = (&self.points[..], &self.values[..]);
        let last = points.len() - 1;
        if x < points[0] {
            return left.unwrap_or(values[0]);
        }
        if x > points[last] {
            return right.unwrap_or(values[last]);
        }
        if last == 0 {
            // As NumPy has it, for NaN too.
            return values[0];
        }
        if x.is_nan() {
            return x;
        }
        let at = points.partition_point(|point| *point <= x) - 1;
        // No line is drawn through a point itself: it may end at infinity.
        if at == last || points[at] == x {
            return values[at];
        }
        let slope = (values[at + 1] - values[at]) / (points[at + 1] - points[at]);
        let forward = slope * (x - points[at]) + values[at];
        if !forward.is_nan() {
            return forward;
        }
        let backward = slope * (x - points[at + 1]) + values[at + 1];
        if backward.is_nan() && values[at] == values[at + 1] {
            return values[at];
        }
        backward
    }
}

/// What is left of a number after whole periods, from 0 to one of them.
fn modulo(x: f64, period: f64) -> f64 {
    // Zero has no sign here, by which points that are equal would be sorted.
    let left = x % period + 0.0;
    if left < 0.0 { left + period } else { left }
}
