//! Polynomials of least squares, and their roots. Values of polynomials are in `polynomial`, which needs no feature.

use lodestride_buffer::{Argument, DType};
use lodestride_shape::Order;

use super::LeastSquares;
use super::matrices::Matrices;
use super::svd::{epsilon, least_squares};
use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, Result};
use crate::reduce::float_of;

impl NdArray {
    /// The coefficients, the highest power first, of the polynomial of a degree that comes nearest to values `y` at these
    /// points, in the sum of squares. `y` is a vector, or a matrix with a column for each polynomial.
    ///
    /// Where the points do not decide about all coefficients the shortest solution is taken;
    /// [`polyfit_full`](Self::polyfit_full) tells the rank.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is not a vector, or `y` neither a vector nor a matrix, [`ArrayErrorKind::Empty`]
    /// without points, [`ArrayErrorKind::Count`] for another number of values, [`ArrayErrorKind::Linalg`] when a power of a
    /// point or a value is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (x, y) = (NdArray::from([0.0, 1.0, 2.0]), NdArray::from([1.0, 3.0, 7.0]));
    /// let p = x.polyfit(&y, 2)?; // x² + x + 1
    /// assert!(p.all_close(&NdArray::from([1.0, 1.0, 1.0]), 1e-9, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn polyfit(&self, y: &NdArray, degree: usize) -> Result<NdArray> {
        let watch = Watch::start();
        let made = self.fitted("polyfit", y, degree, None).map(|found| found.x);
        watch.made("polyfit", &[self, y], made)
    }

    /// [`polyfit`](Self::polyfit) with what else is known of the fit, and a weight for each point: what its distance from the
    /// polynomial is multiplied by.
    ///
    /// # Errors
    /// As [`polyfit`](Self::polyfit); [`ArrayErrorKind::Count`] for another number of weights.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (x, y) = (NdArray::from([1.0, 1.0]), NdArray::from([2.0, 5.0]));
    /// let found = x.polyfit_full(&y, 1, Some(&NdArray::from([1.0, 0.0])))?;
    /// assert_eq!(found.rank, 1); // one point is not enough for a line
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "polyfit")]
    #[track_caller]
    pub fn polyfit_full(
        &self,
        y: &NdArray,
        degree: usize,
        weights: Option<&NdArray>,
    ) -> Result<LeastSquares> {
        let watch = Watch::start();
        let made = self.fitted("polyfit_full", y, degree, weights);
        let inputs = [self, y, weights.unwrap_or(self)];
        let inputs = &inputs[..2 + usize::from(weights.is_some())];
        watch.made("polyfit_full", inputs, made)
    }

    #[track_caller]
    fn fitted(
        &self,
        op: &'static str,
        y: &NdArray,
        degree: usize,
        weights: Option<&NdArray>,
    ) -> Result<LeastSquares> {
        self.expect_readable(op, Argument::X)?;
        y.expect_readable(op, Argument::Y)?;
        self.expect_line(op)?;
        if self.is_empty() {
            let expected = "points";
            return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
        }
        if !(1..=2).contains(&y.rank()) {
            return Err(y.unfit(
                op,
                "a vector, or a matrix with a column for each polynomial",
            ));
        }
        let (count, columns) = (self.len(), degree.saturating_add(1));
        if y.shape()[0] != count {
            return Err(y.miscounted(op, "values, one per point", count, y.shape()[0]));
        }
        let mut factors = None;
        if let Some(weights) = weights {
            weights.expect_readable(op, Argument::Input(2))?;
            weights.expect_line(op)?;
            if weights.len() != count {
                return Err(weights.miscounted(op, "weights, one per point", count, weights.len()));
            }
            factors = Some(weights.to_f64_vec()?);
        }
        let factor = |row: usize| factors.as_ref().map_or(1.0, |factors| factors[row]);
        // Asks for the memory first, so that too much of it is an error.
        NdArray::recycled_ordered(op, DType::F64, [count, columns].into(), Order::C)?;
        let (powers, scales) = scaled_powers(&self.to_f64_vec()?, columns, factor);
        let a = Matrices::over(op, self, powers, (Vec::new(), count, columns), DType::F64)?;
        let mut right = y.cast(DType::F64)?.dup_order(Order::C)?;
        if y.rank() == 1 {
            right = right.expand_dims(1)?;
        }
        if factors.is_some() {
            let factors: Vec<f64> = (0..count).map(factor).collect();
            right.muli(&NdArray::from_vec(factors, [count, 1])?)?;
        }
        let right = Matrices::of(op, &right)?;
        let tolerance = count as f64 * epsilon(float_of(self.dtype()));
        let mut found = least_squares(op, self, &a, &right, tolerance)?;
        found.x = found.x.div(&NdArray::from_vec(scales, [columns, 1])?)?;
        found.of_rank(y.rank(), float_of(self.dtype().promote(y.dtype())))
    }

    /// The roots of the polynomial with these coefficients, the highest power first: their real and their imaginary parts.
    /// Zeros in front do not count.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is not a vector, [`ArrayErrorKind::Linalg`] when a coefficient, or its quotient by
    /// the first, is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (re, im) = NdArray::from([1.0, -3.0, 2.0]).poly_roots()?; // (x - 1) (x - 2)
    /// assert!(re.sort(0)?.all_close(&NdArray::from([1.0, 2.0]), 1e-9, 0.0)?);
    /// assert_eq!(im.to_vec::<f64>()?, [0.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "roots")]
    #[track_caller]
    pub fn poly_roots(&self) -> Result<(NdArray, NdArray)> {
        let op = "poly_roots";
        let watch = Watch::start();
        self.expect_readable(op, Argument::X)?;
        self.expect_line(op)?;
        let (all, dtype) = (self.to_f64_vec()?, float_of(self.dtype()));
        let counts = |coefficient: &f64| *coefficient != 0.0;
        let first = all.iter().position(counts).unwrap_or(all.len());
        let last = all.iter().rposition(counts).unwrap_or(first);
        let (coefficients, zeros) = match all.get(first..=last) {
            Some(found) => (found, all.len() - 1 - last),
            None => (&[][..], 0),
        };
        // The companion matrix has the polynomial as its own.
        let n = coefficients.len().saturating_sub(1);
        let mut companion = vec![0.0; n * n];
        for (column, coefficient) in coefficients.iter().skip(1).enumerate() {
            companion[column] = -coefficient / coefficients[0];
            if column > 0 {
                companion[column * n + column - 1] = 1.0;
            }
        }
        let (re, im) = NdArray::from_vec(companion, [n, n])?.eigenvalues(op)?;
        let whole = |part: NdArray| part.append(zeros, 0, 0)?.cast(dtype);
        let made = (|| Ok((whole(re)?, whole(im)?)))();
        watch.made(op, &[self], made)
    }
}

/// The powers of each point times its factor, the highest first, in columns of length 1, and what these were divided by.
fn scaled_powers(
    points: &[f64],
    columns: usize,
    factor: impl Fn(usize) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let mut powers = vec![0.0; points.len() * columns];
    let mut squares = vec![0.0; columns];
    for (row, (places, x)) in powers.chunks_exact_mut(columns).zip(points).enumerate() {
        let mut power = factor(row);
        for (place, square) in places.iter_mut().zip(&mut squares).rev() {
            *place = power;
            *square += power * power;
            power *= x;
        }
    }
    // A column of zeros stays one.
    let scale = |square: f64| if square == 0.0 { 1.0 } else { square.sqrt() };
    let scales: Vec<f64> = squares.into_iter().map(scale).collect();
    for row in powers.chunks_mut(columns) {
        for (x, scale) in row.iter_mut().zip(&scales) {
            *x /= scale;
        }
    }
    (powers, scales)
}
