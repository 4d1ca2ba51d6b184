//! Quantiles along an axis: two neighbouring order statistics and what lies between them.

use std::fmt;

use lodestride_buffer::{DType, bf16, f16};
use smallvec::SmallVec;

use crate::compact::Unit;
use crate::door;
use crate::error::Result;
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::sort::TOGETHER;
use crate::sort_key::{Coding, Key};
use crate::sort_lines::{Block, Blocks, Lines, Scratch};
use crate::sort_radix::sort_above;
use crate::sort_select::little;
use crate::sort_share::each_chunk;
use crate::sort_side::sort_side_by_side;
use crate::sort_statistic::{count_equal, nth_and_next};

/// Which value a quantile between two elements has, and where the elements stand.
///
/// With `n` sorted elements `x[0], .., x[n - 1]`, a quantile `q` stands at `h` between `x[floor(h)]` and `x[floor(h) + 1]`.
/// Names and definitions are NumPy's (`method=`), which follows Hyndman and Fan, "Sample quantiles in statistical packages",
/// The American Statistician 50 (1996).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuantileMethod {
    /// `h = (n - 1) q`, on the line between the two: NumPy's default.
    #[default]
    Linear,
    /// `h = (n - 1) q`, the lower of the two.
    Lower,
    /// `h = (n - 1) q`, the higher of the two.
    Higher,
    /// `h = (n - 1) q`, the nearer of the two, the even one of equally near ones.
    Nearest,
    /// `h = (n - 1) q`, halfway between the two.
    Midpoint,
    /// `h = (n + 1) q - 1`, on the line between the two: ND4J's percentile.
    Weibull,
    /// `h = n q - 1/2`, on the line between the two.
    Hazen,
    /// `h = (n + 1/3) q - 2/3`, on the line between the two: unbiased for the median.
    MedianUnbiased,
    /// `h = (n + 1/4) q - 5/8`, on the line between the two: unbiased for normal numbers.
    NormalUnbiased,
}

impl QuantileMethod {
    /// Every method.
    pub const ALL: [QuantileMethod; 9] = [
        Self::Linear,
        Self::Lower,
        Self::Higher,
        Self::Nearest,
        Self::Midpoint,
        Self::Weibull,
        Self::Hazen,
        Self::MedianUnbiased,
        Self::NormalUnbiased,
    ];

    /// NumPy's name of the method.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::Nearest => "nearest",
            Self::Midpoint => "midpoint",
            Self::Weibull => "weibull",
            Self::Hazen => "hazen",
            Self::MedianUnbiased => "median_unbiased",
            Self::NormalUnbiased => "normal_unbiased",
        }
    }

    /// The method of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The element at or before the quantile of `n` elements, and how far on the way to the next one it is.
    fn place(self, n: usize, q: f64) -> (usize, f64) {
        let (count, last) = (n as f64, (n - 1) as f64);
        // Hyndman and Fan's two parameters of a method are equal in all of these.
        let between = |a: f64| count * q + (a + q * (1.0 - 2.0 * a)) - 1.0;
        let h = match self {
            Self::Weibull => between(0.0),
            Self::Hazen => between(0.5),
            Self::MedianUnbiased => between(1.0 / 3.0),
            Self::NormalUnbiased => between(3.0 / 8.0),
            _ => last * q,
        };
        let h = h.clamp(0.0, last);
        let (floor, way) = (h.floor(), h - h.floor());
        let way = match self {
            Self::Lower => 0.0,
            Self::Higher => way.ceil(),
            Self::Nearest => f64::from(way > 0.5 || (way == 0.5 && floor % 2.0 == 1.0)),
            Self::Midpoint if way > 0.0 => 0.5,
            _ => way,
        };
        (floor as usize, way)
    }
}

impl fmt::Display for QuantileMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What to do with lines that hold NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanRule {
    /// Their quantiles are NaN.
    Propagate,
    /// NaNs do not count as elements.
    Skip,
}

/// Writes the quantiles `qs` of `x` along `axis` to `out`, whose first axis counts the quantiles and whose others are those of
/// `x` without `axis`; computed in `f64` from the selected elements. No elements have the quantile NaN.
///
/// # Errors
/// [`KernelError`](crate::KernelError) when the axis is out of range, a quantile outside 0 to 1, `out` of another shape, or a
/// buffer cannot be accessed. Nothing is written then.
pub fn quantile(
    x: Operand<'_>,
    axis: usize,
    qs: &[f64],
    (method, nans): (QuantileMethod, NanRule),
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "quantile";
    door::check_axis(OP, axis, x.layout().rank())?;
    for &q in qs {
        door::check_range(OP, "q", q, (0.0, 1.0))?;
    }
    let mut shape = x.shape().clone();
    let len = shape.remove(axis);
    shape.insert(0, qs.len());
    door::check_output(OP, out, &shape)?;
    if out.layout().is_empty() {
        return Ok(());
    }
    let results = Lines::beside(OP, out.layout(), 0, DType::F64)?;
    let mut opened = results.open(OP)?;
    let values = opened.slice::<f64>();
    if len == 0 {
        values.fill(f64::NAN);
    } else {
        let lines = Lines::copy_of(OP, x, axis, x.dtype())?;
        let wanted = Wanted {
            op: OP,
            len,
            qs,
            method,
            nans,
            dtype: x.dtype(),
        };
        with_unit!(x.dtype(), K => {
            let mut keys = lines.open(OP)?;
            let keys = keys.slice::<K>();
            Blocks { keys, len, from: None }.each(values, qs.len(), |block| wanted.block(block))?;
        });
    }
    drop(opened);
    results.write_to(OP, out, 0)
}

/// Of this many quantiles of one line on, sorting the line is the shorter way.
const MANY: usize = 5;

struct Wanted<'a> {
    op: &'static str,
    len: usize,
    qs: &'a [f64],
    method: QuantileMethod,
    nans: NanRule,
    dtype: DType,
}

impl Wanted<'_> {
    fn block<K: Key + Unit>(&self, block: Block<'_, K, f64>) -> Result<()> {
        let coding = Coding::new(self.dtype, false);
        let scratch = Scratch::new::<K>(self.op, self.len)?;
        let mut scratch = scratch.open(self.op)?;
        let scratch = scratch.slice::<K>();
        let is_sorted = self.qs.len() >= MANY || self.len <= little::<K>();
        let places = self.places(self.len);
        let together = (TOGETHER / self.len).max(1);
        let groups = block.keys.chunks_mut(together * self.len);
        for (keys, values) in groups.zip(block.beside.chunks_mut(together * self.qs.len())) {
            each_chunk(keys, block.parts, |keys| coding.rank(keys));
            let mut nan = coding.nan::<K>();
            let is_done = is_sorted && sort_side_by_side(keys, self.len);
            if is_done {
                coding.decode(keys);
                coding.decode(nan.as_mut_slice());
            }
            let lines = keys.chunks_exact_mut(self.len);
            for (keys, values) in lines.zip(values.chunks_exact_mut(self.qs.len())) {
                if is_sorted && !is_done {
                    sort_above(keys, scratch, 0, block.parts);
                }
                let nans = match nan {
                    // They come last.
                    Some(nan) if is_sorted => {
                        keys.iter().rev().take_while(|&&key| key == nan).count()
                    }
                    Some(nan) => count_equal(keys, nan, block.parts),
                    None => 0,
                };
                if nans == self.len || (nans > 0 && self.nans == NanRule::Propagate) {
                    values.fill(f64::NAN);
                    continue;
                }
                let fewer = (nans > 0).then(|| self.places(self.len - nans));
                let places = fewer.as_ref().unwrap_or(&places);
                for (value, &(place, way)) in values.iter_mut().zip(places) {
                    let mut pair = if is_sorted {
                        let next = (place + 1).min(self.len - nans - 1);
                        [keys[place], keys[next]]
                    } else {
                        nth_and_next(keys, place, scratch, block.parts).into()
                    };
                    if !is_done {
                        coding.decode(&mut pair);
                    }
                    let [low, high] = pair.map(|bits| number(self.dtype, bits.to_u64()));
                    *value = between(low, high, way);
                }
            }
        }
        Ok(())
    }

    /// Where the quantiles of so many elements stand.
    fn places(&self, count: usize) -> SmallVec<[(usize, f64); 4]> {
        let places = self.qs.iter().map(|&q| self.method.place(count, q));
        places.collect()
    }
}

/// The point at `way` (0 to 1) from one number to the next: exact at both ends, and never outside.
fn between(low: f64, high: f64, way: f64) -> f64 {
    let rise = high - low;
    if way == 0.0 || low == high {
        low
    } else if !rise.is_finite() {
        low * (1.0 - way) + high * way
    } else if way < 0.5 {
        low + rise * way
    } else {
        high - rise * (1.0 - way)
    }
}

/// The value of an element's bits.
fn number(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => bits as f64,
        DType::I8 => f64::from(bits as i8),
        DType::I16 => f64::from(bits as i16),
        DType::I32 => f64::from(bits as i32),
        DType::I64 => bits as i64 as f64,
        DType::F16 => f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F64 => f64::from_bits(bits),
    }
}
