//! The other meaning of several index lists: each picks along its own axis, whatever the others pick.

use lodestride_buffer::Argument;
use lodestride_kernels as kernels;
use lodestride_shape::{Layout, Order};

use super::FancyIndex;
use super::picked::{Positions, split, sums};
use super::plan::{PlanEntry, basic_part};
use crate::NdArray;
use crate::arg::Arg;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};
use crate::scatter::Scatter;

/// A view, and the positions taken along some of its axes.
struct Outer {
    view: Layout,
    along: Vec<(usize, Positions)>,
}

impl Outer {
    #[track_caller]
    fn of(op: &'static str, array: &NdArray, indices: &[FancyIndex]) -> Result<Self> {
        array.expect_readable(op, Argument::X)?;
        let (entries, mut positions) = split(op, indices)?;
        let (view, picked) = basic_part(array.layout(), &entries).in_op(op, array)?;
        let shapes = entries.iter().filter_map(|entry| match entry {
            PlanEntry::Positions(shape) => Some(shape),
            _ => None,
        });
        let is_truth = |entry: &PlanEntry| matches!(entry, PlanEntry::Truth(_));
        let lists = indices.iter().filter(|index| index.is_array()).count();
        // A mask of several axes gives more positions than entries: those along its axes belong together.
        if entries.iter().any(is_truth)
            || shapes.clone().any(|shape| shape.rank() != 1)
            || lists != positions.len()
        {
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected: "index lists and masks of one axis each",
                array: ArraySummary::of(array),
            }));
        }
        for (positions, &(axis, _)) in positions.iter_mut().zip(&picked) {
            positions.wrap(op, array, axis)?;
        }
        let along = picked
            .iter()
            .map(|&(_, axis)| axis)
            .zip(positions)
            .collect();
        Ok(Self { view, along })
    }
}

impl NdArray {
    /// A copy of the positions that each list picks along its own axis: rows 0 and 2 *by* columns 1 and 3.
    ///
    /// This is what several `SpecifiedIndex` mean in ND4J, `np.ix_` in NumPy, and MATLAB's indexing. In
    /// [`get_fancy`](Self::get_fancy) the same lists would pair up, and name the elements `[0, 1]` and `[2, 3]`. Points,
    /// intervals, new axes and the ellipsis may stand among the lists; every axis stays in its place.
    ///
    /// # Errors
    /// As [`get_fancy`](Self::get_fancy); [`ArrayErrorKind::Form`] for index arrays and masks of more than one axis.
    ///
    /// ```
    /// use lodestride_array::{NdArray, fancy};
    ///
    /// let a = NdArray::arange(0, 12, 1)?.reshape([3, 4])?;
    /// let corners = a.get_outer(&fancy![[0, 2], [1, 3]])?;
    /// assert_eq!(corners, NdArray::from([[1.0f32, 3.0], [9.0, 11.0]]));
    /// assert_eq!(a.get_fancy(&fancy![[0, 2], [1, 3]])?, NdArray::from([1.0f32, 11.0]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "ix_")]
    #[doc(alias = "SpecifiedIndex")]
    #[track_caller]
    pub fn get_outer(&self, indices: &[FancyIndex]) -> Result<NdArray> {
        let watch = Watch::start();
        let op = "get_outer";
        let Outer { view, mut along } = Outer::of(op, self, indices)?;
        let mut part = self.with_layout(view);
        // The list that leaves the smallest share of its axis first, so that less is copied on the way.
        along.sort_by(|(a, p), (b, q)| {
            let (p, q) = (p.values.len(), q.values.len());
            (p * part.shape()[*b]).cmp(&(q * part.shape()[*a]))
        });
        if along.is_empty() {
            let copy = part.dup_order(Order::C);
            return watch.made("get_outer", &[self], copy);
        }
        for (axis, positions) in along {
            let mut shape = part.shape().clone();
            shape[axis] = positions.values.len();
            let out = NdArray::recycled_ordered(op, self.dtype(), shape, Order::C)?;
            let positions = positions.array(op)?;
            kernels::gather::take(part.operand(), axis, positions.operand(), out.operand())
                .or_fail(op)?;
            part = out;
        }
        watch.made("get_outer", &[self], Ok(part))
    }

    /// [`get_outer`](Self::get_outer) into an array of the result's shape: it is made elsewhere and copied there, list after
    /// list.
    ///
    /// # Errors
    /// As [`get_outer`](Self::get_outer); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn get_outer_into(&self, indices: &[FancyIndex], out: &NdArray) -> Result<()> {
        out.store("get_outer_into", &[self], || self.get_outer(indices))
    }

    /// Writes the part that [`get_outer`](Self::get_outer) copies: a number, or an array that broadcasts to its shape. Values
    /// are converted to this array's dtype; where a position repeats, the last value stays.
    ///
    /// # Errors
    /// As [`get_outer`](Self::get_outer) and [`put_fancy`](Self::put_fancy). Nothing is written then.
    ///
    /// ```
    /// use lodestride_array::{NdArray, fancy};
    ///
    /// let a = NdArray::zeros([2, 3])?;
    /// a.put_outer(&fancy![[0, 1], [0, 2]], 5)?;
    /// assert_eq!(a.to_vec::<f32>()?, [5.0, 0.0, 5.0, 5.0, 0.0, 5.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn put_outer<'a>(
        &self,
        indices: &[FancyIndex],
        values: impl Into<Arg<'a>>,
    ) -> Result<&Self> {
        let op = "put_outer";
        self.expect_target(op, indices)?;
        let Outer { view, along } = Outer::of(op, self, indices)?;
        let mut shape = view.shape().clone();
        for (axis, positions) in &along {
            shape[*axis] = positions.values.len();
        }
        let values = self.scattered_values(Scatter::Update, op, &shape, values.into())?;
        let lowest = self.layout().bounds().map_or(0, |(lowest, _)| lowest);
        let start = vec![view.offset() as i64 - lowest as i64];
        let steps = (0..view.rank()).map(|axis| {
            let stride = view.strides()[axis] as i64;
            match along.iter().find(|(along, _)| *along == axis) {
                Some((_, positions)) => positions.values.iter().map(|i| i * stride).collect(),
                None => (0..view.shape()[axis] as i64).map(|i| i * stride).collect(),
            }
        });
        let places = sums(std::iter::once(start).chain(steps));
        self.scatter_places(kernels::gather::scatter_set, op, places, &values)?;
        Ok(self)
    }
}
