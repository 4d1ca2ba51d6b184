//! Own elementwise loops in one pass: [`NdArray::map`] and [`NdArray::zip_map`] run a closure over arrays of any layout.
//!
//! Expressions made of the library's operations are in `lazy.rs`; loops over guards, for what is not elementwise, in
//! `typed.rs`.

use lodestride_buffer::{DType, Element};
use lodestride_kernels::{self as kernels, ElementFn};
use lodestride_shape::{Shape, broadcast_shapes};

use crate::NdArray;
use crate::checks::{Watch, watched};
use crate::compute::stretched_to;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, OrFail, Result};
use crate::kept::{kept_among, kept_of};

impl NdArray {
    /// An array of `f` of every element.
    ///
    /// As [`zip_map`](Self::zip_map) for one array; the closure's argument type is the array's element type, its result
    /// decides the dtype of the new array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 2.0, 3.0]);
    /// let b = a.map(|x: f32| (x * x + 1.0) as f64)?;
    /// assert_eq!(b.to_vec::<f64>()?, [2.0, 5.0, 10.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`zip_map`](Self::zip_map).
    #[track_caller]
    pub fn map<X: Element, Z: Element>(&self, f: impl Fn(X) -> Z + Sync) -> Result<NdArray> {
        fresh("map", [self], &f)
    }

    /// [`map`](Self::map) in place: every element becomes `f` of itself.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// a.transpose().mapi(|x: i32| 10 * x)?;
    /// assert_eq!(a.to_vec::<i32>()?, [10, 20, 30, 40]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`zip_map_into`](Self::zip_map_into).
    #[track_caller]
    pub fn mapi<X: Element>(&self, f: impl Fn(X) -> X + Sync) -> Result<&Self> {
        into("mapi", [self], self, &f)?;
        Ok(self)
    }

    /// [`map`](Self::map) into an existing array of this shape and the closure's result type, which may share memory with
    /// this one.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray};
    ///
    /// let (a, out) = (NdArray::from([1.0f32, 2.5]), NdArray::zeros_of(DType::I32, [2])?);
    /// a.map_into(|x: f32| x.ceil() as i32, &out)?;
    /// assert_eq!(out.to_vec::<i32>()?, [1, 3]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`zip_map_into`](Self::zip_map_into).
    #[track_caller]
    pub fn map_into<X: Element, Z: Element>(
        &self,
        f: impl Fn(X) -> Z + Sync,
        out: &NdArray,
    ) -> Result<()> {
        into("map_into", [self], out, &f)
    }

    /// An array of `f` of the elements at the same place of one to four arrays, which broadcast.
    ///
    /// One pass over memory, and compiled for AVX-512 and AVX2 beside what the program is built for: the best that the
    /// machine has runs. The closure's arguments say which element types the arrays must have. It may be called in any
    /// order and on several threads; where every array is a single stretched element, once for all.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (a, b) = (NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]), NdArray::from([10.0f32, 20.0]));
    /// let c = NdArray::zip_map([&a, &b], |x: f32, y: f32| (x - y) * (x - y))?;
    /// assert_eq!(c.to_vec::<f32>()?, [81.0, 324.0, 49.0, 256.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// [`ArrayErrorKind::DTypeMismatch`] when an array is not of the closure's element type,
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast, [`ArrayErrorKind::Kernel`] for stale memory or
    /// memory in use.
    #[doc(alias = "par_azip")]
    #[doc(alias = "vectorize")]
    #[track_caller]
    pub fn zip_map<const N: usize, Arguments, F: ElementFn<N, Arguments>>(
        inputs: [&NdArray; N],
        f: F,
    ) -> Result<NdArray> {
        fresh("zip_map", inputs, &f)
    }

    /// [`zip_map`](Self::zip_map) into an existing array, which may be one of the inputs or share memory with them: the
    /// result is as if they had been copied first.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (a, b) = (NdArray::from([1.0f64, 2.0]), NdArray::from([3.0f64, 5.0]));
    /// NdArray::zip_map_into([&a, &b], &a, |x: f64, y: f64| x.max(y) - x)?;
    /// assert_eq!(a.to_vec::<f64>()?, [2.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`zip_map`](Self::zip_map); [`ArrayErrorKind::OutputShape`] when the inputs do not broadcast to `out`'s shape,
    /// [`ArrayErrorKind::OverlappingTarget`] when `out` is a broadcast view.
    #[track_caller]
    pub fn zip_map_into<const N: usize, Arguments, F: ElementFn<N, Arguments>>(
        inputs: [&NdArray; N],
        out: &NdArray,
        f: F,
    ) -> Result<()> {
        into("zip_map_into", inputs, out, &f)
    }
}

/// The shape arrays broadcast to.
#[track_caller]
pub(crate) fn common_shape(op: &'static str, inputs: &[&NdArray]) -> Result<Shape> {
    let Some((first, others)) = inputs.split_first() else {
        return Ok(Shape::from([0usize; 0]));
    };
    let mut shape = first.shape().clone();
    for input in others {
        if *input.shape() == shape {
            continue;
        }
        shape = match broadcast_shapes(&shape, input.shape()) {
            Ok(shape) => shape,
            Err(_) => {
                let (lhs, rhs) = (ArraySummary::of(first), ArraySummary::of(input));
                return Err(ArrayError::new(ArrayErrorKind::Broadcast { op, lhs, rhs }));
            }
        };
    }
    Ok(shape)
}

#[track_caller]
fn expect_dtype(op: &'static str, array: &NdArray, requested: DType) -> Result<()> {
    if array.dtype() == requested {
        return Ok(());
    }
    Err(ArrayError::new(ArrayErrorKind::DTypeMismatch {
        op,
        requested,
        array: ArraySummary::of(array),
    }))
}

#[track_caller]
fn fresh<const N: usize, Arguments, F: ElementFn<N, Arguments>>(
    op: &'static str,
    inputs: [&NdArray; N],
    f: &F,
) -> Result<NdArray> {
    for (input, dtype) in inputs.iter().zip(F::DTYPES) {
        expect_dtype(op, input, dtype)?;
    }
    if let Some(first) = inputs.first()
        && inputs.iter().all(|input| input.shape() == first.shape())
    {
        let mut place = None;
        let layout = kept_among(op, first, &inputs, &mut place)?;
        let watch = Watch::start();
        let made = NdArray::filled_by(op, layout, F::Out::DTYPE, |out| {
            kernels::zip_map(op, f, inputs.map(NdArray::operand), out)
        });
        return watch.made(op, &inputs, made);
    }
    let shape = common_shape(op, &inputs)?;
    let out = NdArray::recycled_layout(op, F::Out::DTYPE, kept_of(op, &shape, &inputs)?)?;
    run(op, inputs, &out, f)?;
    Ok(out)
}

#[track_caller]
fn into<const N: usize, Arguments, F: ElementFn<N, Arguments>>(
    op: &'static str,
    inputs: [&NdArray; N],
    out: &NdArray,
    f: &F,
) -> Result<()> {
    for (input, dtype) in inputs.iter().zip(F::DTYPES) {
        expect_dtype(op, input, dtype)?;
    }
    expect_dtype(op, out, F::Out::DTYPE)?;
    out.expect_output(op, &common_shape(op, &inputs)?, F::Out::DTYPE)?;
    run(op, inputs, out, f)
}

/// Stretches the inputs and runs the closure; shapes and dtypes have been checked.
#[track_caller]
fn run<const N: usize, Arguments, F: ElementFn<N, Arguments>>(
    op: &'static str,
    inputs: [&NdArray; N],
    out: &NdArray,
    f: &F,
) -> Result<()> {
    let mut places = [const { None }; N];
    let mut operands = inputs.map(NdArray::operand);
    for ((operand, place), input) in operands.iter_mut().zip(&mut places).zip(inputs) {
        let layout = stretched_to(out.shape(), input.layout(), place).or_fail(op)?;
        *operand = input.operand_as(layout);
    }
    let run = || kernels::zip_map(op, f, operands, out.operand());
    watched(op, &inputs, out, run)
}
