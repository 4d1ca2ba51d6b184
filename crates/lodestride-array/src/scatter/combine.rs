//! The loops of the scatters that no kernel has, products, quotients and extremes, in the elements' own type.
//!
//! The operation is chosen once, both arrays are opened once. Positions are taken in order, since they may repeat; what lies
//! beside them, which does not, is walked in the longest runs there are.

use lodestride_buffer::{Argument, Bool, DType, bf16, f16, scope_out, with_dtype};
use lodestride_shape::{Layout, LoopNest, Order, Shape};

use super::Scatter;
use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, InMethod, InOp, OrFail, Result};
use crate::fancy::picked::Picked;

impl NdArray {
    /// Combines picked elements with values of their dtype, by products, quotients or extremes.
    #[track_caller]
    pub(super) fn combine_picked(
        &self,
        how: Scatter,
        op: &'static str,
        picked: &Picked,
        values: &NdArray,
    ) -> Result<()> {
        let apart = if values.buffer().same_block(self.buffer()) {
            scope_out(|| values.dup()).located()?
        } else {
            values.clone()
        };
        let watch = Watch::start();
        let walk = Walk::new(op, picked, apart.layout())?;
        let source = apart.buffer().read().in_op(op, &apart);
        let source = source.named(op, Argument::Y)?;
        let target = self.buffer().write().in_op(op, self);
        let mut target = target.named(op, Argument::Z)?;
        macro_rules! run {
            ($T:ty, $combine:expr) => {
                walk.run(target.slice_mut::<$T>(), source.slice::<$T>(), $combine)
            };
        }
        match (how, self.dtype()) {
            (Scatter::Max, dtype) => with_dtype!(dtype, T => run!(T, larger)),
            (Scatter::Min, dtype) => with_dtype!(dtype, T => run!(T, smaller)),
            (Scatter::Mul, dtype) => with_dtype!(dtype, T => run!(T, T::times)),
            (_, DType::F16) => run!(f16, f16::over),
            (_, DType::BF16) => run!(bf16, bf16::over),
            (_, DType::F32) => run!(f32, f32::over),
            (_, DType::F64) => run!(f64, f64::over),
            // A quotient of others is a float, which has been refused before.
            (_, dtype) => {
                let kind = ArrayErrorKind::UnsupportedDType { op, dtype };
                return Err(ArrayError::new(kind));
            }
        }
        drop((source, target));
        watch.made(op, &[values], Ok(self.clone())).map(drop)
    }
}

/// The places of picked elements and of the values they meet.
struct Walk {
    /// What lies beside one position: the target's elements and the values.
    nest: LoopNest,
    /// The target's first element, and the distance between its positions.
    start: isize,
    step: isize,
    positions: Vec<i64>,
    /// The first value of every position.
    values: Layout,
}

impl Walk {
    #[track_caller]
    fn new(op: &'static str, picked: &Picked, values: &Layout) -> Result<Self> {
        let (target, at) = (picked.plan.layout(), picked.plan.at());
        let tail = at + picked.plan.indexed().rank();
        let (shape, steps) = (&values.shape()[at..tail], &values.strides()[at..tail]);
        let indexed = Layout::new(Shape::from(shape), steps, values.offset()).or_fail(op)?;
        let beside = |steps: &[isize], tail| [&steps[..at], &steps[tail..]].concat();
        let sizes = [&target.shape()[..at], &target.shape()[at + 1..]].concat();
        let steps = [
            beside(target.strides(), at + 1),
            beside(values.strides(), tail),
        ];
        Ok(Self {
            nest: LoopNest::new(&sizes, &[&steps[0], &steps[1]]),
            start: target.offset().cast_signed(),
            step: target.strides()[at],
            positions: picked.joint().to_vec()?,
            values: indexed,
        })
    }

    /// The values, where they are single ones that follow each other.
    fn run_of_values<'v, T>(&self, values: &'v [T]) -> Option<&'v [T]> {
        let is_run = self.nest.elements() == 1 && self.values.is_contiguous(Order::C);
        is_run.then(|| &values[self.values.offset()..][..self.values.elements()])
    }

    fn run<T: Copy>(self, target: &mut [T], values: &[T], combine: impl Fn(T, T) -> T) {
        let (nest, inner) = (&self.nest, self.nest.inner_strides());
        let mut meet = |[to, from]: [isize; 2], len| {
            combine_run(
                (target, to, inner[0]),
                (values, from, inner[1]),
                len,
                &combine,
            );
        };
        if let Some(new) = self.run_of_values(values) {
            let to = self.start;
            for (&position, &new) in self.positions.iter().zip(new) {
                let old = &mut target[(to + position as isize * self.step).cast_unsigned()];
                *old = combine(*old, new);
            }
            return;
        }
        for (&position, from) in self.positions.iter().zip(self.values.offsets(Order::C)) {
            let (to, from) = (
                self.start + position as isize * self.step,
                from.cast_signed(),
            );
            if nest.run_count() == 1 {
                let start = nest.start();
                meet([to + start[0], from + start[1]], nest.inner_len());
                continue;
            }
            let mut runs = nest.runs(0..nest.elements());
            while let Some(run) = runs.next_run() {
                meet([to + run.offsets[0], from + run.offsets[1]], run.len);
            }
        }
    }
}

/// Combines a run: slice, first place and step of both sides.
fn combine_run<T: Copy>(
    (target, to, step): (&mut [T], isize, isize),
    (values, from, by): (&[T], isize, isize),
    len: usize,
    combine: &impl Fn(T, T) -> T,
) {
    if (step, by) == (1, 1) {
        let target = &mut target[to.cast_unsigned()..][..len];
        for (old, &new) in target
            .iter_mut()
            .zip(&values[from.cast_unsigned()..][..len])
        {
            *old = combine(*old, new);
        }
        return;
    }
    for i in 0..len.cast_signed() {
        let old = &mut target[(to + i * step).cast_unsigned()];
        *old = combine(*old, values[(from + i * by).cast_unsigned()]);
    }
}

/// The larger of both; what equals nothing, not even itself, wins, the older first.
fn larger<T: Copy + PartialOrd>(old: T, new: T) -> T {
    if new > old || is_nan(new) && !is_nan(old) {
        new
    } else {
        old
    }
}

/// The smaller of both; NaN as for [`larger`].
fn smaller<T: Copy + PartialOrd>(old: T, new: T) -> T {
    if new < old || is_nan(new) && !is_nan(old) {
        new
    } else {
        old
    }
}

fn is_nan<T: Copy + PartialOrd>(value: T) -> bool {
    value.partial_cmp(&value).is_none()
}

/// Products as arrays have them: integers wrap, both truth values must hold.
trait Times {
    fn times(self, other: Self) -> Self;
}

/// Quotients of floats.
trait Over {
    fn over(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($T:ty),*) => {$(
        impl Times for $T {
            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

/// Floats, with the type in which they are multiplied and divided: rounded from there once more, nothing changes.
macro_rules! floats {
    ($($T:ty: $wide:ty, $narrow:expr;)*) => {$(
        impl Times for $T {
            #[inline]
            fn times(self, other: Self) -> Self {
                $narrow(<$wide>::from(self) * <$wide>::from(other))
            }
        }
        impl Over for $T {
            #[inline]
            fn over(self, other: Self) -> Self {
                $narrow(<$wide>::from(self) / <$wide>::from(other))
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

floats! {
    f16: f64, f16::from_f64;
    bf16: f64, bf16::from_f64;
    f32: f32, f32::from;
    f64: f64, f64::from;
}

impl Times for Bool {
    #[inline]
    fn times(self, other: Self) -> Self {
        Bool::from(self.get() && other.get())
    }
}
