//! Segments side by side, each filled up to the same number of rows.

use lodestride_buffer::{Argument, Element, ReadGuard};
use lodestride_shape::{Layout, Shape};
use smallvec::SmallVec;

use crate::door;
use crate::error::{KernelError, Result};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::segment::with_rows;
use crate::segment_move::{FILL, Rows, with_open};
use crate::segment_rows::{check_offsets, rows_of};
use crate::stream;
use crate::threads;

/// Lays segments side by side: `out[i, t]` is row `t` of segment `i` of `x`, or `value` where the segment is shorter.
///
/// `x` is `[rows, ..]`, `value` has the shape of a row, `out` is `[segments, steps, ..]`; values are cast to its dtype.
/// Every element of `out` is written once, or, without a `value`, those beyond the end of a segment stay as they are.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, segment_pad};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, out) = (Buffer::from_vec(vec![1.0f32, 2.0, 3.0])?, Buffer::zeroed(16)?);
/// let (rows, padded) = (Layout::contiguous([3], Order::C)?, Layout::contiguous([2, 2], Order::C)?);
/// let (minus, one) = (Buffer::from_vec(vec![-1.0f32])?, Layout::contiguous([0; 0], Order::C)?);
/// let minus = Operand::new(&minus, &one, DType::F32)?;
/// let x = Operand::new(&x, &rows, DType::F32)?;
/// segment_pad(x, &[0, 1, 3], Some(minus), Operand::new(&out, &padded, DType::F32)?)?;
/// assert_eq!(out.read()?.slice::<f32>(), [1.0, -1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, a segment has more rows than `out` steps, a shape does not fit,
/// or a buffer cannot be accessed. Nothing is written then.
pub fn segment_pad(
    x: Operand<'_>,
    offsets: &[usize],
    value: Option<Operand<'_>>,
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "segment_pad";
    check_offsets(OP, offsets, rows_of(OP, x)?)?;
    let (segments, steps) = (offsets.len() - 1, out.shape().get(1).copied().unwrap_or(0));
    let mut wanted = with_rows(x.shape(), segments);
    wanted.insert(1, steps);
    door::check_output(OP, out, &wanted)?;
    if let Some(value) = value {
        value.check_shape(OP, Argument::Y, &Shape::from_slice(&x.shape()[1..]))?;
    }
    let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    if let Some((index, len)) = lengths.enumerate().find(|&(_, len)| len > steps) {
        let (start, rows) = (0, steps);
        return Err(KernelError::RowRange {
            op: OP,
            index,
            start,
            len,
            rows,
        });
    }
    let Some(value) = value else {
        return pad_with(OP, x, offsets, None, out);
    };
    let converted = door::converted(OP, value, out.dtype())?;
    let value = door::stand_in(converted.as_ref(), value)?;
    let copy = door::private_copy(OP, Argument::Y, value, &[out])?;
    let guard = door::read(OP, Argument::Y, value, copy.as_ref())?;
    pad_with(OP, x, offsets, Some((value.layout(), &guard)), out)
}

/// [`segment_pad`] with checked arguments and an open value of the dtype of `out`.
fn pad_with(
    op: &'static str,
    x: Operand<'_>,
    offsets: &[usize],
    value: Option<(&Layout, &ReadGuard<'_>)>,
    out: Operand<'_>,
) -> Result<()> {
    let to = out.layout();
    let onto = |start, steps: &[isize]| Rows::onto((start, steps), (to, &to.strides()[1..]));
    let value = value.map(|(layout, guard)| {
        // Every row of the padding is the same one.
        let steps = std::iter::once(0).chain(layout.strides().iter().copied());
        (
            onto(layout.offset(), &steps.collect::<SmallVec<[isize; 6]>>()),
            guard,
        )
    });
    with_open(op, x, out, |x, source, target| {
        let padding = Padding {
            offsets,
            steps: to.shape()[1],
            segment_step: to.strides()[0],
            rows: onto(x.layout().offset(), x.layout().strides()),
        };
        with_unit!(out.dtype(), U => {
            let value = value.as_ref().map(|(rows, guard)| (rows, guard.slice::<U>()));
            padding.run(source.slice::<U>(), value, target.slice_mut::<U>());
        });
        Ok(())
    })
}

/// Segments side by side, each filled up.
struct Padding<'a> {
    offsets: &'a [usize],
    steps: usize,
    /// From segment to segment in the result.
    segment_step: isize,
    rows: Rows,
}

impl Padding<'_> {
    fn run<U: Element>(&self, x: &[U], value: Option<(&Rows, &[U])>, out: &mut [U]) {
        let segments = self.offsets.len() - 1;
        let place = self.rows.dense_row().filter(|width| {
            self.segment_step == (self.steps * width) as isize && segments * self.steps * width > 0
        });
        let Some(width) = place else {
            for (segment, pair) in self.offsets.windows(2).enumerate() {
                let (count, shift) = (pair[1] - pair[0], segment as isize * self.segment_step);
                self.rows.copy((x, pair[0], 1), (out, 0, shift), count);
                if let Some((rows, value)) = value {
                    let rest = self.steps - count;
                    rows.copy((value, 0, 0), (out, count, shift), rest);
                }
            }
            return;
        };
        // Some rows of padding, to be copied in whole lines.
        let repeats = (FILL / size_of::<U>() / width).clamp(1, self.steps);
        let mut fill = vec![U::default(); if value.is_some() { repeats * width } else { 0 }];
        if let Some((rows, value)) = value {
            let shift = -rows.out_start;
            rows.copy((value, 0, 0), (&mut fill, 0, shift), repeats);
        }
        let start = self.rows.out_start as usize;
        let out = &mut out[start..][..segments * self.steps * width];
        let bytes = size_of_val(out);
        let (parts, past) = (
            threads::parts(bytes, false).min(segments),
            stream::pays(bytes),
        );
        let share = segments.div_ceil(parts);
        let pieces = out.chunks_mut(share * self.steps * width).enumerate();
        threads::for_each_part(pieces, |(part, out)| {
            for (index, out) in out.chunks_mut(self.steps * width).enumerate() {
                let segment = part * share + index;
                let (first, end) = (self.offsets[segment], self.offsets[segment + 1]);
                let (real, rest) = out.split_at_mut((end - first) * width);
                self.rows.item(x, ((first, 1), None), real, width, past);
                if value.is_some() {
                    for rest in rest.chunks_mut(fill.len()) {
                        stream::copy_elements(rest, &fill[..rest.len()], past);
                    }
                }
            }
            if past {
                stream::fence();
            }
        });
    }
}
