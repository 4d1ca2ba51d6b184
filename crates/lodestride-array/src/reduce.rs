//! Reductions over axes: the shared path, positions of extremes, running sums.
//!
//! The reductions themselves are one line each in `totals` and `statistics`; normalising along an axis is in `normalise`.

mod information;
mod nan;
mod normalise;
mod norms;
mod packed;
mod statistics;
mod totals;

use std::cell::Cell;

use lodestride_buffer::{Buffer, DType, Element, WriteGuard, with_dtype};
use lodestride_kernels::{self as kernels, ArgOp, Output, ReduceOp, ScanOp};
use lodestride_shape::{Axes, Layout, Order, ResolvedAxes, Shape, ShapeError, normalize_axis};
use smallvec::SmallVec;

pub(crate) use information::{float_of, widened};

use crate::NdArray;
use crate::checks::{Watch, watched};
use crate::error::{ArrayError, ArrayErrorKind, InOp, OrFail, Result};
use crate::target::Target;

thread_local! {
    /// Where reductions to a number write it: kept, and outside all workspaces, which would learn it and fill up in long loops.
    static SCRATCH: Cell<Option<NdArray>> = const { Cell::new(None) };
}

/// A number on the heap.
#[cold]
#[track_caller]
fn scratch(op: &'static str) -> Result<NdArray> {
    let layout = Layout::contiguous(Shape::scalar(), Order::C).or_fail(op)?;
    let place = Buffer::detached_recycled(DType::F64.size());
    NdArray::over(op, place, layout, DType::F64)
}

/// A layout without axes, which have size 1.
fn squeezed(layout: &Layout, axes: &ResolvedAxes) -> std::result::Result<Layout, ShapeError> {
    let without = |layout: Layout, &axis: &usize| layout.squeeze(axis.cast_signed());
    axes.axes().iter().rev().try_fold(layout.clone(), without)
}

impl NdArray {
    #[track_caller]
    pub(crate) fn resolve_axes(&self, op: &'static str, axes: &Axes) -> Result<ResolvedAxes> {
        axes.resolve(self.rank()).in_op(op, self)
    }

    /// Lets a kernel fill a new array of the shape without the axes, which lies in memory as this one, and gives them back with size 1
    /// if they are kept.
    #[inline]
    #[track_caller]
    fn reduced(
        &self,
        op: &'static str,
        axes: &ResolvedAxes,
        dtype: DType,
        kernel: impl FnOnce(Output<'_>) -> kernels::Result<()>,
    ) -> Result<NdArray> {
        let mut kept = None;
        let layout = match self.order() {
            Some(Order::C) => Layout::contiguous(axes.removed_shape(self.shape()), Order::C),
            _ => {
                let shape = axes.kept_shape(self.shape());
                let kept = kept.insert(Layout::kept_of(shape, &[self.layout()]).or_fail(op)?);
                squeezed(kept, axes)
            }
        };
        let layout = layout.or_fail(op)?;
        let watch = Watch::start();
        let made = NdArray::filled_by(op, &layout, dtype, kernel);
        let reduced = watch.made(op, &[self], made)?;
        if !axes.keeps() {
            return Ok(reduced);
        }
        let layout = match kept {
            Some(kept) => kept,
            None => Layout::contiguous(axes.kept_shape(self.shape()), Order::C).or_fail(op)?,
        };
        Ok(reduced.relaid(layout))
    }

    #[track_caller]
    pub(crate) fn reduce(&self, op: ReduceOp, axes: &Axes) -> Result<NdArray> {
        if axes.are_all(self.rank())
            && let Some(number) = self.packed_number(op)
        {
            let dtype = op.result_dtype(self.dtype());
            if let Ok(buffer) = Buffer::recycled(dtype.size()) {
                // The common layouts are made where they go to, not moved there: 62 ns for a sum of 3x3, and not 69.
                let mut made = match axes.keeps() {
                    false => NdArray::whole(buffer, Layout::scalar(), dtype),
                    true => {
                        NdArray::whole(buffer, self.layout().reduced(0..self.rank(), true), dtype)
                    }
                };
                let write = |mut guard: WriteGuard<'_>| {
                    with_dtype!(dtype, T => guard.slice_mut::<T>()[0] = T::from_scalar(number));
                };
                if made.write_sole().map(write).is_ok() {
                    return Ok(made);
                }
            }
        }
        if let Some((sizes, axis, run)) = self.packed_matrix(op, axes) {
            let (dtype, results) = (op.result_dtype(self.dtype()), sizes[1 - axis]);
            if let Ok(buffer) = Buffer::recycled(results * dtype.size()) {
                let mut made = match axes.keeps() || self.rank() > 2 {
                    false => NdArray::whole(buffer, Layout::line(results), dtype),
                    true => NdArray::whole(buffer, self.layout().reduced(run, axes.keeps()), dtype),
                };
                let fold = |out| op.of_packed_matrix(self.dtype(), sizes, axis, self.buffer(), out);
                if made.write_sole().is_ok_and(fold) {
                    return Ok(made);
                }
            }
        }
        let axes = self.resolve_axes(op.name(), axes)?;
        self.reduced(op.name(), &axes, op.result_dtype(self.dtype()), |out| {
            kernels::reduce(op, self.operand(), axes.axes(), out)
        })
    }

    #[track_caller]
    pub(crate) fn reduce_into(
        &self,
        op: ReduceOp,
        name: &'static str,
        axes: &Axes,
        out: &NdArray,
    ) -> Result<()> {
        let axes = self.resolve_axes(name, axes)?;
        out.expect_output(
            name,
            &axes.reduced_shape(self.shape()),
            op.result_dtype(self.dtype()),
        )?;
        if !axes.keeps() {
            let run = || kernels::reduce(op, self.operand(), axes.axes(), out.operand());
            return watched(name, &[self], out, run);
        }
        let layout = out.without_kept(name, &axes)?;
        let run = || kernels::reduce(op, self.operand(), axes.axes(), out.operand_as(&layout));
        watched(name, &[self], out, run)
    }

    /// The layout of a result without the axes of size 1 that it was asked to keep.
    #[track_caller]
    fn without_kept(&self, op: &'static str, axes: &ResolvedAxes) -> Result<Layout> {
        match axes.keeps() {
            true => squeezed(self.layout(), axes).in_op(op, self),
            false => Ok(self.layout().clone()),
        }
    }

    #[track_caller]
    pub(crate) fn reduce_number(&self, op: ReduceOp) -> Result<f64> {
        if let Some(number) = self.packed_number(op) {
            return Ok(f64::from_scalar(number));
        }
        let axes: SmallVec<[usize; 6]> = (0..self.rank()).collect();
        // Taken, so that work this thread picks up meanwhile has a scratch of its own.
        let out = match SCRATCH.try_with(Cell::take).ok().flatten() {
            Some(scratch) => scratch,
            None => scratch(op.name())?,
        };
        let run = || kernels::reduce(op, self.operand(), &axes, out.operand());
        watched(op.name(), &[self], &out, run)?;
        let number = out.item::<f64>();
        // A thread that is ending has no place for it.
        let _ended = SCRATCH.try_with(|scratch| scratch.set(Some(out)));
        number
    }

    /// The position of the largest element over the given axes; the first of equal ones, a NaN before all numbers.
    ///
    /// Over several axes the position counts in C order within them. The result is i64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] when there is no element.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[0.0f32, 8.0, 4.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]]);
    /// assert_eq!(a.argmax(0)?.to_vec::<i64>()?, [1, 0, 2]);
    /// assert_eq!(a.argmax(..)?.item::<i64>()?, 1);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "IMax")]
    #[track_caller]
    pub fn argmax(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.arg_reduce(ArgOp::ArgMax, &axes.into())
    }

    /// [`argmax`](Self::argmax) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`argmax`](Self::argmax); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn argmax_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.arg_reduce_into(ArgOp::ArgMax, "argmax_into", &axes.into(), out)
    }

    /// The position of the smallest element over the given axes; the first of equal ones, a NaN before all numbers.
    ///
    /// # Errors
    /// As [`argmax`](Self::argmax).
    #[doc(alias = "IMin")]
    #[track_caller]
    pub fn argmin(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.arg_reduce(ArgOp::ArgMin, &axes.into())
    }

    /// [`argmin`](Self::argmin) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`argmin`](Self::argmin); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn argmin_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.arg_reduce_into(ArgOp::ArgMin, "argmin_into", &axes.into(), out)
    }

    /// The position of the element of the largest magnitude over the given axes.
    ///
    /// # Errors
    /// As [`argmax`](Self::argmax).
    #[doc(alias = "IAMax")]
    #[track_caller]
    pub fn arg_abs_max(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.arg_reduce(ArgOp::ArgAbsMax, &axes.into())
    }

    /// [`arg_abs_max`](Self::arg_abs_max) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`arg_abs_max`](Self::arg_abs_max); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn arg_abs_max_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.arg_reduce_into(ArgOp::ArgAbsMax, "arg_abs_max_into", &axes.into(), out)
    }

    /// The position of the element of the smallest magnitude over the given axes.
    ///
    /// # Errors
    /// As [`argmax`](Self::argmax).
    #[doc(alias = "IAMin")]
    #[track_caller]
    pub fn arg_abs_min(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.arg_reduce(ArgOp::ArgAbsMin, &axes.into())
    }

    /// [`arg_abs_min`](Self::arg_abs_min) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`arg_abs_min`](Self::arg_abs_min); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn arg_abs_min_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.arg_reduce_into(ArgOp::ArgAbsMin, "arg_abs_min_into", &axes.into(), out)
    }

    #[track_caller]
    pub(crate) fn arg_reduce(&self, op: ArgOp, axes: &Axes) -> Result<NdArray> {
        let axes = self.resolve_axes(op.name(), axes)?;
        let axis = match axes.axes() {
            &[axis] => Some(axis),
            _ if axes.is_all() => None,
            several => return self.arg_reduce_several(op, &axes, several),
        };
        self.reduced(op.name(), &axes, DType::I64, |out| {
            kernels::index_reduce(op, self.operand(), axis, out)
        })
    }

    #[track_caller]
    fn arg_reduce_into(
        &self,
        op: ArgOp,
        name: &'static str,
        axes: &Axes,
        out: &NdArray,
    ) -> Result<()> {
        let resolved = self.resolve_axes(name, axes)?;
        let axis = match resolved.axes() {
            &[axis] => Some(axis),
            _ if resolved.is_all() => None,
            _ => return out.store(name, &[self], || self.arg_reduce(op, axes)),
        };
        let shape = resolved.reduced_shape(self.shape());
        let into = Target::Into(out);
        into.fill(name, DType::I64, shape, &[self], |out| {
            let layout = out.without_kept(name, &resolved)?;
            kernels::index_reduce(op, self.operand(), axis, out.operand_as(&layout)).or_fail(name)
        })
        .map(drop)
    }

    /// [`arg_reduce`](Self::arg_reduce) over more than one axis, but not all.
    #[track_caller]
    fn arg_reduce_several(
        &self,
        op: ArgOp,
        axes: &ResolvedAxes,
        several: &[usize],
    ) -> Result<NdArray> {
        // The kernel takes one axis or all: move the axes behind the others and make them one.
        let order: SmallVec<[isize; 6]> = (axes.remaining().iter())
            .chain(several)
            .map(|&axis| axis as isize)
            .collect();
        let width: usize = several.iter().map(|&axis| self.shape()[axis]).product();
        let rows: usize = (axes.remaining().iter())
            .map(|&axis| self.shape()[axis])
            .product();
        let matrix = self.permute(&order[..])?.reshape([rows, width])?;
        let flat = Layout::contiguous(rows, Order::C).or_fail(op.name())?;
        let watch = Watch::start();
        let made = NdArray::filled_by(op.name(), &flat, DType::I64, |out| {
            kernels::index_reduce(op, matrix.operand(), Some(1), out)
        });
        let found = watch.made(op.name(), &[self], made)?;
        let layout = Layout::contiguous(axes.reduced_shape(self.shape()), Order::C);
        Ok(found.relaid(layout.or_fail(op.name())?))
    }

    /// The running sum along an axis; integers are summed in 64 bits.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([1.0f32, 2.0, 3.0]).cumsum(0)?.to_vec::<f32>()?, [1.0, 3.0, 6.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn cumsum(&self, axis: isize) -> Result<NdArray> {
        self.scan(ScanOp::Sum, axis)
    }

    /// [`cumsum`](Self::cumsum) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`cumsum`](Self::cumsum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cumsum_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        self.scan_to(ScanOp::Sum, "cumsum_into", axis, Target::Into(out))
            .map(drop)
    }

    /// The running product along an axis; integers are multiplied in 64 bits.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn cumprod(&self, axis: isize) -> Result<NdArray> {
        self.scan(ScanOp::Prod, axis)
    }

    /// [`cumprod`](Self::cumprod) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`cumprod`](Self::cumprod); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cumprod_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        self.scan_to(ScanOp::Prod, "cumprod_into", axis, Target::Into(out))
            .map(drop)
    }

    /// The running maximum along an axis; NaN from the first NaN on.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn cummax(&self, axis: isize) -> Result<NdArray> {
        self.scan(ScanOp::Max, axis)
    }

    /// [`cummax`](Self::cummax) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`cummax`](Self::cummax); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cummax_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        self.scan_to(ScanOp::Max, "cummax_into", axis, Target::Into(out))
            .map(drop)
    }

    /// The running minimum along an axis; NaN from the first NaN on.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn cummin(&self, axis: isize) -> Result<NdArray> {
        self.scan(ScanOp::Min, axis)
    }

    /// [`cummin`](Self::cummin) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`cummin`](Self::cummin); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cummin_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        self.scan_to(ScanOp::Min, "cummin_into", axis, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    pub(crate) fn scan(&self, op: ScanOp, axis: isize) -> Result<NdArray> {
        self.scan_to(op, op.name(), axis, Target::New)
    }

    #[track_caller]
    fn scan_to(
        &self,
        op: ScanOp,
        name: &'static str,
        axis: isize,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let axis = normalize_axis(axis, self.rank()).in_op(name, self)?;
        let turned = |x: &NdArray, axis| x.scan_to(op, name, axis, target);
        if let Some(made) = self.in_memory_order(name, axis, target, turned) {
            return made;
        }
        let (dtype, shape) = (op.result_dtype(self.dtype()), self.shape().clone());
        target.fill(name, dtype, shape, &[self], |out| {
            kernels::scan(op, self.operand(), axis, out.operand()).or_fail(name)
        })
    }

    /// The position, in C order, of the largest element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] when there is no element.
    #[track_caller]
    pub fn argmax_number(&self) -> Result<usize> {
        self.arg_number(ArgOp::ArgMax)
    }

    /// The position, in C order, of the smallest element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] when there is no element.
    #[track_caller]
    pub fn argmin_number(&self) -> Result<usize> {
        self.arg_number(ArgOp::ArgMin)
    }

    #[track_caller]
    fn arg_number(&self, op: ArgOp) -> Result<usize> {
        if self.is_empty() {
            return Err(ArrayError::new(ArrayErrorKind::Empty {
                op: op.name(),
                expected: "at least one element",
            }));
        }
        Ok(self.arg_reduce(op, &Axes::all())?.item::<i64>()? as usize)
    }
}
