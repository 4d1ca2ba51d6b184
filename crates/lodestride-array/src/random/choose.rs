//! Chance applied to arrays: shuffling, choosing, dropping out, random rotations.

use std::collections::HashMap;

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::random as draw;
use lodestride_kernels::sort_search::Side;
use lodestride_shape::{Order, Shape, normalize_axis};

use super::distributions::{numbers, valid};
use super::{Rng, float_default, real};
use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, Result, expect_within};

impl Rng {
    /// Puts the positions along an axis into a random order, in place.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4], [5, 6]]);
    /// Rng::seeded(3).shuffle(&a, 0)?;
    /// assert_eq!(a.sort(0)?, NdArray::from([[1i32, 2], [3, 4], [5, 6]])); // rows stay together
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn shuffle(&mut self, array: &NdArray, axis: isize) -> Result<()> {
        self.shuffle_together(&[array], axis)
    }

    /// A copy with the positions along an axis in a random order; [`permutation`](Self::permutation) is the order alone.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4], [5, 6]]);
    /// assert_eq!(Rng::seeded(3).permuted(&a, 0)?.sort(0)?, a);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "permutation")]
    #[track_caller]
    pub fn permuted(&mut self, array: &NdArray, axis: isize) -> Result<NdArray> {
        const OP: &str = "permuted";
        let watch = Watch::start();
        array.expect_readable(OP, Argument::X)?;
        let axis = normalize_axis(axis, array.rank()).in_op(OP, array)?;
        let order = self.order_of(OP, array.shape()[axis])?;
        watch.made(OP, &[array], array.take(&order, axis as isize))
    }

    /// [`shuffle`](Self::shuffle) of several arrays in step: what was at one position stays at one position.
    ///
    /// # Errors
    /// As [`shuffle`](Self::shuffle); [`ArrayErrorKind::Join`] when the sizes along the axis differ. Nothing is written then.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let (x, y) = (NdArray::from([1i32, 2, 3, 4]), NdArray::from([10i32, 20, 30, 40]));
    /// Rng::seeded(3).shuffle_together(&[&x, &y], 0)?;
    /// assert_eq!(x.mul(10)?, y);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn shuffle_together(&mut self, arrays: &[&NdArray], axis: isize) -> Result<()> {
        const OP: &str = "shuffle";
        let Some(first) = arrays.first() else {
            return Ok(());
        };
        let size = first.size(axis)?;
        for (position, array) in arrays.iter().enumerate() {
            let own = normalize_axis(axis, array.rank()).in_op(OP, array)?;
            array.expect_readable(OP, Argument::Input(position))?;
            array.expect_writable(OP)?;
            if array.shape()[own] != size {
                return Err(ArrayError::new(ArrayErrorKind::Join {
                    op: OP,
                    axis: own,
                    first: ArraySummary::of(first),
                    position,
                    found: ArraySummary::of(array),
                }));
            }
        }
        let order = self.order_of(OP, size)?;
        let shuffled: Result<Vec<NdArray>> = (arrays.iter())
            .map(|array| array.take(&order, axis))
            .collect();
        for (array, shuffled) in arrays.iter().zip(shuffled?) {
            array.assign(&shuffled)?;
        }
        Ok(())
    }

    /// `count` positions of axis 0 chosen at random, with or without putting them back.
    ///
    /// With probabilities, one number per position that need not add up to 1, positions are chosen in that proportion; without
    /// putting back, in that proportion among those that are left.
    ///
    /// # Errors
    /// [`ArrayErrorKind::VectorLength`] when there is not one probability per position, [`ArrayErrorKind::Kernel`] for a
    /// negative or infinite probability, probabilities that are all 0, or more positions than there are.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let source = NdArray::from([1i32, 2, 3, 4, 5]);
    /// let weights = NdArray::from([0.0f64, 0.0, 1.0, 0.0, 0.0]);
    /// let threes = Rng::seeded(1).choice(&source, 4, true, Some(&weights))?;
    /// assert_eq!(threes.to_vec::<i32>()?, [3, 3, 3, 3]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn choice(
        &mut self,
        source: &NdArray,
        count: usize,
        replace: bool,
        probabilities: Option<&NdArray>,
    ) -> Result<NdArray> {
        const OP: &str = "choice";
        source.expect_readable("choice", Argument::X)?;
        let size = source.size(0)?;
        let weights = match probabilities {
            Some(probabilities) => Some(weights(source, size, probabilities)?),
            None => None,
        };
        let possible = match &weights {
            Some(weights) => weights.count_nonzero_number()? as usize,
            None => size,
        };
        if !replace || possible == 0 {
            expect_within(OP, "count", count as f64, (0.0, possible as f64))?;
        }
        let positions = match (weights, replace) {
            (None, true) if count == 0 => NdArray::zeros_of(DType::I64, [0])?,
            (None, true) => self.integers([count], 0, size as i64)?,
            (None, false) => positions(OP, self.sample(size, count))?,
            (Some(weights), true) => {
                let sums = weights.cumsum(0)?;
                let places = NdArray::recycled_ordered(OP, DType::F64, count.into(), Order::C)?;
                if count > 0 {
                    self.fill_uniform(&places, 0.0, sums.get_f64([-1])?)?;
                }
                sums.searchsorted(&places, Side::Right)?
            }
            (Some(weights), false) => {
                // Waiting times at these rates: the shortest ones come in the order of drawing without putting back.
                let times = self.exponential_of(DType::F64, size, 1.0)?;
                times
                    .divi(&weights)?
                    .argsort(0)?
                    .narrowed(OP, 0, 0..count)?
            }
        };
        source.take(&positions, 0)
    }

    /// [`choice`](Self::choice) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`choice`](Self::choice); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn choice_into(
        &mut self,
        source: &NdArray,
        count: usize,
        replace: bool,
        probabilities: Option<&NdArray>,
        out: &NdArray,
    ) -> Result<()> {
        let inputs = [source, probabilities.unwrap_or(source)];
        let inputs = &inputs[..1 + usize::from(probabilities.is_some())];
        out.store("choice_into", inputs, || {
            self.choice(source, count, replace, probabilities)
        })
    }

    /// A copy in which every element is kept with the given probability and else is 0; what is kept is scaled by `1 / keep`, so
    /// that means stay (inverted dropout).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when `keep` is not above 0 and at most 1.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let dropped = Rng::seeded(1).dropout(&NdArray::ones([10_000])?, 0.8)?;
    /// assert!((dropped.mean_number()? - 1.0).abs() < 0.02);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "DropOutInverted")]
    #[track_caller]
    pub fn dropout(&mut self, array: &NdArray, keep: f64) -> Result<NdArray> {
        array.expect_readable("dropout", Argument::X)?;
        valid("dropout", "keep", keep, keep > 0.0 && keep <= 1.0)?;
        let kept = self.bernoulli(array.shape().clone(), keep)?;
        kept.select(&array.mul(1.0 / keep)?, 0.0)
    }

    /// [`dropout`](Self::dropout) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`dropout`](Self::dropout); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn dropout_into(&mut self, array: &NdArray, keep: f64, out: &NdArray) -> Result<()> {
        out.store("dropout_into", &[array], || self.dropout(array, keep))
    }

    /// Dropout for networks of `selu`: dropped elements take its negative saturation, and an affine map keeps mean 0 and
    /// variance 1 (Klambauer and others 2017).
    ///
    /// # Errors
    /// As [`dropout`](Self::dropout).
    #[doc(alias = "AlphaDropOut")]
    #[track_caller]
    pub fn alpha_dropout(&mut self, array: &NdArray, keep: f64) -> Result<NdArray> {
        array.expect_readable("alpha_dropout", Argument::X)?;
        // Minus the product of the two constants of selu: its limit far below zero.
        const SATURATION: f64 = -1.758_099_340_847_376_6;
        valid("alpha_dropout", "keep", keep, keep > 0.0 && keep <= 1.0)?;
        let spread = keep + SATURATION * SATURATION * keep * (1.0 - keep);
        let scale = spread.sqrt().recip();
        let shift = -scale * (1.0 - keep) * SATURATION;
        let kept = self.bernoulli(array.shape().clone(), keep)?;
        kept.select(&array.mul(scale)?.add(shift)?, scale * SATURATION + shift)
    }

    /// [`alpha_dropout`](Self::alpha_dropout) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`alpha_dropout`](Self::alpha_dropout); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn alpha_dropout_into(&mut self, array: &NdArray, keep: f64, out: &NdArray) -> Result<()> {
        out.store("alpha_dropout_into", &[array], || {
            self.alpha_dropout(array, keep)
        })
    }

    /// A matrix of the default dtype with orthonormal rows or columns, whichever are fewer, times a factor; evenly distributed
    /// over all of them. For more axes, axis 0 counts rows and the others together columns.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] for less than two axes.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let q = Rng::seeded(1).orthogonal([3, 5], 1.0)?;
    /// assert!(q.mmul(&q.transpose())?.all_close(&NdArray::eye(3)?, 0.0, 1e-6)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "OrthogonalDistribution")]
    #[track_caller]
    pub fn orthogonal(&mut self, shape: impl Into<Shape>, factor: f64) -> Result<NdArray> {
        self.orthogonal_of(float_default(), shape, factor)
    }

    /// [`orthogonal`](Self::orthogonal) of the given float dtype.
    ///
    /// # Errors
    /// As [`orthogonal`](Self::orthogonal); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray, Rng};
    ///
    /// let q = Rng::seeded(1).orthogonal_of(DType::F64, [3, 5], 1.0)?;
    /// assert!(q.mmul(&q.transpose())?.all_close(&NdArray::eye(3)?, 0.0, 1e-14)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn orthogonal_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        factor: f64,
    ) -> Result<NdArray> {
        const OP: &str = "orthogonal";
        let out = real(OP, dtype, shape.into())?;
        if out.rank() < 2 {
            return Err(out.unfit(OP, "at least two axes"));
        }
        let rows = out.shape()[0];
        let columns = out.shape()[1..].iter().product::<usize>();
        let vectors = NdArray::recycled_ordered(
            OP,
            DType::F64,
            [rows.min(columns), rows.max(columns)].into(),
            Order::C,
        )?;
        self.fill_normal(&vectors, 0.0, 1.0)?;
        orthonormalize(&vectors)?;
        let oriented = if rows <= columns {
            vectors
        } else {
            vectors.transpose()
        };
        out.assign(&oriented.mul(factor)?.reshape(out.shape())?)?;
        Ok(out)
    }

    /// A random order of the positions below `size`, as an array.
    #[track_caller]
    fn order_of(&mut self, op: &'static str, size: usize) -> Result<NdArray> {
        positions(op, self.permutation(size))
    }
}

/// Of so many elements one that is chosen costs as much among those that were moved as writing all of them down.
const SPARSE: usize = 256;

/// `count` of the numbers below `n` in random order, each at most once.
pub(super) fn sample(seed: u64, n: usize, count: usize) -> Vec<usize> {
    if count < n / SPARSE {
        sparse_sample(seed, n, count)
    } else {
        draw::sample(seed, n, count)
    }
}

/// [`draw::sample`] with only those elements written down that are not in their own place; `count` is below `n`.
fn sparse_sample(seed: u64, n: usize, count: usize) -> Vec<usize> {
    let mut moved = HashMap::with_capacity(count);
    let partners = draw::partners(seed, n, count);
    let chosen = (n - count..n).rev().zip(partners).map(|(last, partner)| {
        let here = moved.remove(&last).unwrap_or(last);
        // No later exchange reaches the last place.
        if partner == last {
            here
        } else {
            moved.insert(partner, here).unwrap_or(partner)
        }
    });
    let mut chosen: Vec<usize> = chosen.collect();
    chosen.reverse();
    chosen
}

#[track_caller]
fn positions(op: &'static str, positions: Vec<usize>) -> Result<NdArray> {
    let positions: Vec<i64> = (positions.into_iter())
        .map(|position| position as i64)
        .collect();
    NdArray::from_elements(op, &positions, Shape::from(positions.len()))
}

/// Makes the rows orthonormal from the first on (Gram and Schmidt, each row twice, which is as exact as reflections).
#[track_caller]
fn orthonormalize(rows: &NdArray) -> Result<()> {
    for i in 0..rows.shape()[0] {
        let row = rows.slice(i as isize, 0)?;
        let done = rows.narrowed("orthogonal", 0, 0..i)?;
        for _ in 0..2 {
            if i > 0 {
                let shares = done.matmul(&row)?;
                row.subi(&shares.matmul(&done)?)?;
            }
            row.divi(row.norm2_number()?)?;
        }
    }
    Ok(())
}

/// The probabilities as checked f64 numbers.
#[track_caller]
fn weights(source: &NdArray, size: usize, probabilities: &NdArray) -> Result<NdArray> {
    probabilities.expect_readable("choice", Argument::Y)?;
    if probabilities.shape()[..] != [size] {
        return Err(ArrayError::new(ArrayErrorKind::VectorLength {
            op: "choice",
            expected: size,
            matrix: ArraySummary::of(source),
            vector: ArraySummary::of(probabilities),
        }));
    }
    let weights = probabilities.cast(DType::F64)?;
    numbers("choice", "probability", &weights, is_weight)?;
    Ok(weights)
}

/// Whether a number can stand for a share.
pub(super) fn is_weight(weight: f64) -> bool {
    weight >= 0.0 && weight.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_samples_are_those_of_whole_orders() {
        for n in [1, 2, 65, 3000] {
            for count in [0, 1, 2, 11, 64, 500, n - 1] {
                let count = count.min(n - 1);
                let wanted = draw::sample(8, n, count);
                assert_eq!(sparse_sample(8, n, count), wanted, "{count} of {n}");
            }
        }
    }
}
