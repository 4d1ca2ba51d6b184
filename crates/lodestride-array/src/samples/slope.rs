//! Slopes along axes, from differences of neighbours.

use lodestride_buffer::{Argument, DType, scope_out};

use super::Spacing;
use crate::NdArray;
use crate::arg::IndexList;
use crate::checks::Watch;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InMethod, Result};
use crate::lazy::Lazy;
use crate::reduce::{float_of, widened};

/// How many neighbours give the slope at either end of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EdgeOrder {
    /// One: the slope of a line, exact to first order.
    #[default]
    First,
    /// Two: the slope of a parabola, exact to second order as in between.
    Second,
}
impl NdArray {
    /// The slope along an axis, in this array's shape: from both neighbours, weighted by their distance, and at either end
    /// from the only one. Integers give f64.
    ///
    /// The spacing is a number, or a vector of coordinates.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Form`] for an axis of fewer than two positions or
    /// coordinates that are not a vector, [`ArrayErrorKind::Count`] when there is not one coordinate for each position,
    /// [`ArrayErrorKind::UnsupportedDType`] for truth values.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let y = NdArray::from([1.0, 2.0, 4.0, 7.0]);
    /// assert_eq!(y.gradient(1, 0)?.to_vec::<f64>()?, [1.0, 1.5, 2.5, 3.0]);
    /// let x = NdArray::from([0.0, 1.0, 3.0, 5.0]);
    /// assert_eq!(x.mul(2.0)?.gradient(&x, 0)?.to_vec::<f64>()?, [2.0, 2.0, 2.0, 2.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn gradient<'a>(&self, spacing: impl Into<Spacing<'a>>, axis: isize) -> Result<NdArray> {
        self.sloped("gradient", spacing.into(), axis, EdgeOrder::First)
    }

    /// [`gradient`](Self::gradient) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn gradient_into<'a>(
        &self,
        spacing: impl Into<Spacing<'a>>,
        axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        let spacing = spacing.into();
        let inputs = spacing.with(self);
        out.store("gradient_into", &inputs, || self.gradient(spacing, axis))
    }

    /// [`gradient`](Self::gradient) with the slopes at both ends from one or from two neighbours.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient), which for the second order needs three positions along the axis.
    ///
    /// ```
    /// use lodestride_array::{EdgeOrder, NdArray};
    ///
    /// let squares = NdArray::from([0.0, 1.0, 4.0, 9.0]);
    /// let slopes = squares.gradient_with(1, 0, EdgeOrder::Second)?;
    /// assert_eq!(slopes.to_vec::<f64>()?, [0.0, 2.0, 4.0, 6.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "edge_order")]
    #[track_caller]
    pub fn gradient_with<'a>(
        &self,
        spacing: impl Into<Spacing<'a>>,
        axis: isize,
        edges: EdgeOrder,
    ) -> Result<NdArray> {
        self.sloped("gradient_with", spacing.into(), axis, edges)
    }

    /// [`gradient_with`](Self::gradient_with) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`gradient_with`](Self::gradient_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn gradient_with_into<'a>(
        &self,
        spacing: impl Into<Spacing<'a>>,
        axis: isize,
        edges: EdgeOrder,
        out: &NdArray,
    ) -> Result<()> {
        let spacing = spacing.into();
        let inputs = spacing.with(self);
        out.store("gradient_with_into", &inputs, || {
            self.gradient_with(spacing, axis, edges)
        })
    }

    /// [`gradient`](Self::gradient) along several axes, in the order in which they are named. The spacings are none for 1,
    /// one number for all axes, or one for each.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient); [`ArrayErrorKind::Count`] for another number of spacings.
    ///
    /// ```
    /// use lodestride_array::{EdgeOrder, NdArray, Spacing};
    ///
    /// let a = NdArray::from([[1.0, 2.0], [5.0, 6.0]]);
    /// let slopes = a.gradient_axes(&[2.into(), 1.into()], [0, 1], EdgeOrder::First)?;
    /// assert_eq!(slopes[0], NdArray::from([[2.0, 2.0], [2.0, 2.0]]));
    /// assert_eq!(slopes[1], NdArray::from([[1.0, 1.0], [1.0, 1.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "gradient")]
    #[track_caller]
    pub fn gradient_axes(
        &self,
        spacings: &[Spacing<'_>],
        axes: impl IndexList,
        edges: EdgeOrder,
    ) -> Result<Vec<NdArray>> {
        const OP: &str = "gradient_axes";
        let watch = Watch::start();
        self.expect_readable(OP, Argument::X)?;
        let axes = axes.indices();
        let spacings = match spacings {
            [] => vec![Spacing::Step(1.0); axes.len()],
            [step @ Spacing::Step(_)] => vec![*step; axes.len()],
            given if given.len() == axes.len() => given.to_vec(),
            given => {
                let what = "spacings, one per axis";
                return Err(self.miscounted(OP, what, axes.len(), given.len()));
            }
        };
        let mut inputs = vec![self];
        for spacing in &spacings {
            if let Spacing::At(coordinates) = spacing {
                coordinates.expect_readable(OP, Argument::Input(inputs.len()))?;
                inputs.push(coordinates);
            }
        }
        let mut slopes = Vec::with_capacity(axes.len());
        for (spacing, axis) in spacings.into_iter().zip(axes) {
            slopes.push(self.sloped(OP, spacing, axis, edges)?);
        }
        watch.made(OP, &inputs, Ok(slopes))
    }

    #[track_caller]
    fn sloped(
        &self,
        op: &'static str,
        spacing: Spacing<'_>,
        axis: isize,
        edges: EdgeOrder,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        let axis = self.expect_sampled(op, axis)?;
        let size = self.shape()[axis];
        match edges {
            EdgeOrder::First if size < 2 => {
                return Err(self.unfit(op, "at least two positions along the axis"));
            }
            EdgeOrder::Second if size < 3 => {
                return Err(self.unfit(op, "at least three positions along the axis"));
            }
            _ => {}
        }
        let (dtype, distances) = match spacing {
            Spacing::Step(step) => (widened(self.dtype()), Distances::Even(step)),
            Spacing::At(coordinates) => {
                coordinates.expect_readable(op, Argument::Y)?;
                coordinates.expect_line(op)?;
                coordinates.expect_one_each(op, size)?;
                (DType::F64, Distances::of(&coordinates.to_f64_vec()?))
            }
        };
        let slopes = Slopes {
            op,
            axis,
            distances,
            x: scope_out(|| self.cast(dtype)).located()?,
            out: NdArray::recycled(dtype, self.shape().clone())?,
        };
        slopes.fill(edges).located()?;
        let out = slopes.out;
        watch.made(op, &spacing.with(self), out.cast(float_of(self.dtype())))
    }
}

/// Slopes that are being made.
struct Slopes {
    op: &'static str,
    axis: usize,
    distances: Distances,
    x: NdArray,
    out: NdArray,
}

impl Slopes {
    fn fill(&self, edges: EdgeOrder) -> Result<()> {
        let size = self.x.shape()[self.axis];
        if size > 2 {
            self.fill_middle(size - 2)?;
        }
        if edges == EdgeOrder::First {
            for (at, low) in [(0, 0), (size - 1, size - 2)] {
                let [x, y] = [self.part(low, 1)?, self.part(low + 1, 1)?];
                self.put(at, 1, (y.lazy() - &x) / self.distances.get(low))?;
            }
            return Ok(());
        }
        for (at, low) in [(0, 0), (size - 1, size - 3)] {
            let parabola = Parabola(self.distances.get(low), self.distances.get(low + 1));
            let [a, b, c] = if at == 0 {
                parabola.first()
            } else {
                parabola.last()
            };
            let [x, y, z] = [
                self.part(low, 1)?,
                self.part(low + 1, 1)?,
                self.part(low + 2, 1)?,
            ];
            self.put(at, 1, x.lazy() * a + y.lazy() * b + z.lazy() * c)?;
        }
        Ok(())
    }

    /// All slopes but the first and the last.
    fn fill_middle(&self, len: usize) -> Result<()> {
        let [low, middle, high] = [self.part(0, len)?, self.part(1, len)?, self.part(2, len)?];
        let each = match &self.distances {
            Distances::Even(step) => {
                return self.put(1, len, (high.lazy() - &low) / (2.0 * step));
            }
            Distances::Each(each) => each,
        };
        let pairs = each.windows(2).map(|pair| Parabola(pair[0], pair[1]));
        let weights: Vec<[f64; 3]> = pairs.map(Parabola::middle).collect();
        let mut shape = vec![1; self.x.rank() - self.axis];
        shape[0] = len;
        let column = |at: usize| {
            let column = weights.iter().map(|weights| weights[at]).collect();
            scope_out(|| NdArray::from_vec(column, &shape[..]))
        };
        let [a, b, c] = [column(0)?, column(1)?, column(2)?];
        self.put(
            1,
            len,
            low.lazy() * &a + middle.lazy() * &b + high.lazy() * &c,
        )
    }

    fn part(&self, start: usize, len: usize) -> Result<NdArray> {
        self.x.narrowed(self.op, self.axis, start..start + len)
    }

    fn put(&self, start: usize, len: usize, slopes: Lazy<'_>) -> Result<()> {
        let out = self.out.narrowed(self.op, self.axis, start..start + len)?;
        slopes.eval_into_as(self.op, &out)
    }
}

/// The distances between neighbours.
enum Distances {
    Even(f64),
    Each(Vec<f64>),
}

impl Distances {
    fn of(coordinates: &[f64]) -> Self {
        let each: Vec<f64> = (coordinates.windows(2))
            .map(|pair| pair[1] - pair[0])
            .collect();
        match each[..] {
            [first, ref others @ ..] if others.iter().all(|other| *other == first) => {
                Self::Even(first)
            }
            _ => Self::Each(each),
        }
    }

    fn get(&self, at: usize) -> f64 {
        match self {
            Self::Even(step) => *step,
            Self::Each(each) => each[at],
        }
    }
}

/// The parabola through three points, by the distances between them: what the values weigh in its slope.
struct Parabola(f64, f64);

impl Parabola {
    fn first(self) -> [f64; 3] {
        let Self(h, k) = self;
        let both = h + k;
        [-(h + both) / (h * both), both / (h * k), -h / (k * both)]
    }

    fn middle(self) -> [f64; 3] {
        let Self(h, k) = self;
        let both = h + k;
        [-k / (h * both), (k - h) / (h * k), h / (k * both)]
    }

    fn last(self) -> [f64; 3] {
        let Self(h, k) = self;
        let both = h + k;
        [k / (h * both), -both / (h * k), (k + both) / (k * both)]
    }
}
