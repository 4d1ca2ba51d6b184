//! Random integers of any integer dtype, over ranges up to its whole.

use lodestride_buffer::DType;
use lodestride_kernels::{KernelError, random as draw};
use lodestride_shape::{Order, Shape};

use super::Rng;
use crate::NdArray;
use crate::checks::{Watch, recorded_in, watched};
use crate::error::{ArrayError, ArrayErrorKind, OrFail, Result};

impl Rng {
    /// An i64 array of integers of `[low, high)`, each equally likely.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when `low >= high` or a number would be out of i64's range.
    ///
    /// ```
    /// use lodestride_array::Rng;
    ///
    /// let dice = Rng::seeded(1).integers([600], 1, 7)?;
    /// assert_eq!((dice.min_number()?, dice.max_number()?), (1.0, 6.0));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn integers(
        &mut self,
        shape: impl Into<Shape>,
        low: impl Into<i128>,
        high: impl Into<i128>,
    ) -> Result<NdArray> {
        self.integers_of(DType::I64, shape, low, high)
    }

    /// [`integers`](Self::integers) of the given integer dtype. The bounds are of any integer type, so that the whole range of u64
    /// can be named: `0` to `1i128 << 64`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when `low >= high` or a number would be out of the dtype's range;
    /// [`ArrayErrorKind::UnsupportedDType`] for a dtype that is not of integers.
    ///
    /// ```
    /// use lodestride_array::{DType, Rng};
    ///
    /// let bytes = Rng::seeded(1).integers_of(DType::U8, [4, 4], 0, 256)?;
    /// assert_eq!(bytes.dtype(), DType::U8);
    /// let words = Rng::seeded(1).integers_of(DType::U64, [4], 0, 1i128 << 64)?;
    /// assert!(words.max_number()? > 1e18);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn integers_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        low: impl Into<i128>,
        high: impl Into<i128>,
    ) -> Result<NdArray> {
        const OP: &str = "integers";
        let bounds = checked(OP, dtype, low.into(), high.into())?;
        let watch = Watch::start();
        let out = NdArray::recycled_ordered(OP, dtype, shape.into(), Order::C)?;
        self.draw_integers(OP, &out, bounds)?;
        watch.made(OP, &[], Ok(out))
    }

    /// Fills an array of any integer dtype with integers of `[low, high)`, each equally likely; allocates nothing unless the
    /// bounds are beyond i64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when `low >= high` or a number would be out of the dtype's range;
    /// [`ArrayErrorKind::UnsupportedDType`] when the array is not of integers.
    #[track_caller]
    pub fn fill_integers(
        &mut self,
        out: &NdArray,
        low: impl Into<i128>,
        high: impl Into<i128>,
    ) -> Result<()> {
        const OP: &str = "fill_integers";
        out.expect_writable(OP)?;
        let bounds = checked(OP, out.dtype(), low.into(), high.into())?;
        self.draw_integers(OP, out, bounds)
    }

    #[track_caller]
    fn draw_integers(
        &mut self,
        op: &'static str,
        out: &NdArray,
        (low, high): (i128, i128),
    ) -> Result<()> {
        let (seed, stream) = (self.seed, self.next_stream());
        if let (Ok(low), Ok(high)) = (i64::try_from(low), i64::try_from(high)) {
            return watched(op, &[], out, || {
                draw::uniform_integers(seed, stream, low, high, out.operand())
            });
        }
        // Only 64 bits reach so far. The distance from `low` is drawn, as from any other `low`, and added where it wraps.
        recorded_in(op, &[], out, || {
            let below = distances(op, (seed, stream), out.shape(), high - low)?;
            let low = low as u64;
            match out.dtype() {
                DType::U64 => NdArray::zip_map_into([&below], out, |x: u64| low.wrapping_add(x)),
                _ => NdArray::zip_map_into([&below], out, |x: u64| low.wrapping_add(x) as i64),
            }
        })
    }
}

/// Numbers below `width`, which is at most 2^64, as u64.
#[track_caller]
fn distances(
    op: &'static str,
    (seed, stream): (u64, u64),
    shape: &Shape,
    width: i128,
) -> Result<NdArray> {
    let least = i64::MIN;
    if let Ok(width) = u64::try_from(width) {
        let drawn = NdArray::recycled_ordered(op, DType::I64, shape.clone(), Order::C)?;
        let end = least.wrapping_add_unsigned(width);
        draw::uniform_integers(seed, stream, least, end, drawn.operand()).or_fail(op)?;
        return drawn.map(|x: i64| x.abs_diff(least));
    }
    // Of all 64 bits, the upper and the lower half.
    let halves = Shape::from(&[&shape[..], &[2]].concat()[..]);
    let halves = NdArray::recycled_ordered(op, DType::U32, halves, Order::C)?;
    draw::uniform_integers(seed, stream, 0, 1 << 32, halves.operand()).or_fail(op)?;
    let [upper, lower] = [halves.slice(0, -1)?, halves.slice(1, -1)?];
    NdArray::zip_map([&upper, &lower], |upper: u32, lower: u32| {
        u64::from(upper) << 32 | u64::from(lower)
    })
}

/// The bounds, of which every number from the first up to but not including the second is one of the dtype's.
#[track_caller]
fn checked(op: &'static str, dtype: DType, low: i128, high: i128) -> Result<(i128, i128)> {
    if !dtype.is_integer() {
        return Err(ArrayError::new(ArrayErrorKind::UnsupportedDType {
            op,
            dtype,
        }));
    }
    let bits = 8 * dtype.size() as u32;
    let (least, end) = if dtype.is_signed() {
        (-(1i128 << (bits - 1)), 1i128 << (bits - 1))
    } else {
        (0, 1i128 << bits)
    };
    for (name, number, min, max) in [("low", low, least, end - 1), ("high", high, low + 1, end)] {
        if !(min..=max).contains(&number) {
            // Compared as integers: near 2^64 numbers of f64 are far apart.
            return Err(ArrayError::new(ArrayErrorKind::Kernel {
                source: KernelError::OutOfRange {
                    op,
                    name,
                    value: number as f64,
                    min: min as f64,
                    max: max as f64,
                },
            }));
        }
    }
    Ok((low, high))
}
