//! Random arrays: uniform, normal, Bernoulli, integers, permutations.
//!
//! Element `i` (in logical C order) of a draw depends on the seed, the stream, `i` and the width of the element's draw
//! alone: not on layout, thread count or instruction set. The generator is in `random_philox`, integers are in
//! `random_integers`.

use lodestride_buffer::{Argument, DType, WriteGuard};

use crate::across::Lines;
use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::numeric::Compute;
use crate::operand::Operand;
pub use crate::random_integers::uniform_integers;
use crate::random_philox::{Draw, GROUP, for_each_counter, half, of_counter, words};
pub use crate::random_shuffle::{partners, permutation, sample};
pub use crate::random_waits::{exponential, open_unit, split_mix};
use crate::stream;
use crate::strided::{Dim, collapse, count, dims_of, offset_at, store};
use crate::{spread, threads};

/// What each byte counts for beside the thresholds of threads: a random number takes three to six times as long as an `exp`.
const DRAWING: usize = 4;

/// Fills `out` with numbers spread evenly over `[low, high)`; every element is below `high`, also after rounding.
///
/// # Errors
/// [`KernelError`] when `out` is not of a floating dtype, the bounds are not finite and ascending, or the buffer cannot be
/// accessed.
pub fn uniform(
    seed: u64,
    stream: u64,
    low: f64,
    high: f64,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "uniform";
    door::check_argument(OP, "high", high, low < high && (high - low).is_finite())?;
    let limit = below(out.dtype(), high);
    fill(OP, out, |guard, filler| match float_of(out) {
        Some(Float::F32) => filler.run(guard, &Uniform::<f32>::new(seed, stream, low, high, limit)),
        Some(Float::F64) => filler.run(guard, &Uniform::<f64>::new(seed, stream, low, high, limit)),
        None => {}
    })
}

/// Fills `out` with normal numbers of the given mean and standard deviation (Box-Muller).
///
/// # Errors
/// [`KernelError`] when `out` is not of a floating dtype, `deviation` is negative or not finite, or the buffer cannot be
/// accessed.
pub fn normal(
    seed: u64,
    stream: u64,
    mean: f64,
    deviation: f64,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "normal";
    door::check_argument(OP, "mean", mean, mean.is_finite())?;
    let valid = deviation >= 0.0 && deviation.is_finite();
    door::check_argument(OP, "deviation", deviation, valid)?;
    fill(OP, out, |guard, filler| match float_of(out) {
        Some(Float::F32) => filler.run(guard, &Normal::<f32>::new(seed, stream, mean, deviation)),
        Some(Float::F64) => filler.run(guard, &Normal::<f64>::new(seed, stream, mean, deviation)),
        None => {}
    })
}

/// Fills `out`, of any dtype, with ones with the given probability and zeros otherwise.
///
/// # Errors
/// [`KernelError`] when `probability` is outside `[0, 1]` or the buffer cannot be accessed.
pub fn bernoulli(
    seed: u64,
    stream: u64,
    probability: f64,
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "bernoulli";
    let valid = (0.0..=1.0).contains(&probability);
    door::check_argument(OP, "probability", probability, valid)?;
    // In 2^-32 steps; 2^32 itself means always.
    let threshold = (probability * 4_294_967_296.0).round() as u64;
    let draw = Bernoulli {
        seed,
        stream,
        threshold,
    };
    door::check_output(OP, out, out.layout().shape())?;
    let mut guard = door::write(OP, Argument::Z, out)?;
    Filler::new(out).run(&mut guard, &draw);
    Ok(())
}

enum Float {
    F32,
    F64,
}

fn float_of(out: Operand<'_>) -> Option<Float> {
    match out.dtype() {
        DType::F64 => Some(Float::F64),
        dtype if dtype.is_float() => Some(Float::F32),
        _ => None,
    }
}

pub(crate) fn fill(
    op: &'static str,
    out: Operand<'_>,
    job: impl FnOnce(&mut WriteGuard<'_>, Filler),
) -> Result<(), KernelError> {
    if float_of(out).is_none() {
        return Err(KernelError::UnsupportedDType {
            op,
            dtype: out.dtype(),
        });
    }
    door::check_output(op, out, out.layout().shape())?;
    let mut guard = door::write(op, Argument::Z, out)?;
    job(&mut guard, Filler::new(out));
    Ok(())
}

/// The largest value of a floating dtype strictly below `bound`.
fn below(dtype: DType, bound: f64) -> f64 {
    use half::{bf16, f16};
    match dtype {
        DType::F16 => step_below(
            f16::from_f64(bound).to_f64(),
            bound,
            |v| f16::from_f64(v).to_bits().into(),
            |bits| f16::from_bits(bits as u16).to_f64(),
        ),
        DType::BF16 => step_below(
            bf16::from_f64(bound).to_f64(),
            bound,
            |v| bf16::from_f64(v).to_bits().into(),
            |bits| bf16::from_bits(bits as u16).to_f64(),
        ),
        DType::F32 => match bound as f32 {
            rounded if f64::from(rounded) < bound => f64::from(rounded),
            rounded => f64::from(rounded.next_down()),
        },
        _ => bound.next_down(),
    }
}

fn step_below(
    rounded: f64,
    bound: f64,
    bits: impl Fn(f64) -> u32,
    value: impl Fn(u32) -> f64,
) -> f64 {
    if rounded < bound {
        rounded
    } else if rounded > 0.0 {
        value(bits(rounded) - 1)
    } else if rounded == 0.0 {
        value(0x8001)
    } else {
        value(bits(rounded) + 1)
    }
}

/// A distribution: values of the compute type `C`, a group of counters at a time.
pub(crate) trait Distribution<C>: Sync {
    /// Values per group.
    const PER_GROUP: usize;
    /// Writes the values of group `group`; `out` has room for all of them.
    fn group<A: Arch>(&self, group: u64, out: &mut [C]);
}

struct Uniform<C> {
    seed: u64,
    stream: u64,
    low: C,
    width: C,
    limit: C,
}

impl<C: Draw> Uniform<C> {
    fn new(seed: u64, stream: u64, low: f64, high: f64, limit: f64) -> Self {
        Self {
            seed,
            stream,
            low: C::of(low),
            width: C::of(high - low),
            limit: C::of(limit),
        }
    }
}

impl<C: Draw> Distribution<C> for Uniform<C> {
    const PER_GROUP: usize = C::PER_GROUP;

    #[inline(always)]
    fn group<A: Arch>(&self, group: u64, out: &mut [C]) {
        let (rows, _) = out.as_chunks_mut::<GROUP>();
        // A known length, so that nothing is checked in the loop, where words become numbers while they are in registers.
        let rows = &mut rows[..C::PER_GROUP / GROUP];
        for_each_counter(
            self.seed,
            self.stream,
            group * GROUP as u64,
            |lane, words| {
                for (slot, row) in rows.iter_mut().enumerate() {
                    let drawn = self.low.add(C::unit::<A>(words, slot).mul(self.width));
                    row[lane] = if drawn < self.limit {
                        drawn
                    } else {
                        self.limit
                    };
                }
            },
        );
    }
}

struct Normal<C> {
    seed: u64,
    stream: u64,
    mean: C,
    deviation: C,
}

impl<C: Draw> Normal<C> {
    fn new(seed: u64, stream: u64, mean: f64, deviation: f64) -> Self {
        Self {
            seed,
            stream,
            mean: C::of(mean),
            deviation: C::of(deviation),
        }
    }
}

impl<C: Draw> Distribution<C> for Normal<C> {
    const PER_GROUP: usize = C::PER_GROUP;

    #[inline(always)]
    fn group<A: Arch>(&self, group: u64, out: &mut [C]) {
        let words = words(self.seed, self.stream, group * GROUP as u64);
        let (rows, _) = out.as_chunks_mut::<GROUP>();
        let (pairs, _) = rows.as_chunks_mut::<2>();
        for (pair, [first, second]) in pairs.iter_mut().enumerate() {
            for lane in 0..GROUP {
                let (a, b) = C::normal::<A>(of_counter(&words, lane), pair);
                first[lane] = self.mean.add(a.mul(self.deviation));
                second[lane] = self.mean.add(b.mul(self.deviation));
            }
        }
    }
}

struct Bernoulli {
    seed: u64,
    stream: u64,
    threshold: u64,
}

impl Distribution<u64> for Bernoulli {
    const PER_GROUP: usize = 4 * GROUP;

    #[inline(always)]
    fn group<A: Arch>(&self, group: u64, out: &mut [u64]) {
        let words = words(self.seed, self.stream, group * GROUP as u64);
        let (rows, _) = out.as_chunks_mut::<GROUP>();
        for (index, row) in rows.iter_mut().enumerate() {
            for (lane, value) in row.iter_mut().enumerate() {
                *value =
                    u64::from(u64::from(half(of_counter(&words, lane), index)) < self.threshold);
            }
        }
    }
}

/// Values drawn before they are stored.
const TILE: usize = 1024;

/// The values of a tile, compiled per instruction set.
struct TileTask<'a, C, D> {
    draw: &'a D,
    first_group: u64,
    tile: &'a mut [C],
}

impl<C, D: Distribution<C>> Task for TileTask<'_, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let groups = self.tile.chunks_exact_mut(D::PER_GROUP);
        for (group, out) in groups.enumerate() {
            self.draw.group::<A>(self.first_group + group as u64, out);
        }
    }
}

/// Where values go: the runs of an output in logical C order.
pub(crate) struct Filler {
    dtype: DType,
    start: isize,
    outer: crate::strided::Dims,
    inner: Dim,
    elements: usize,
}

impl Filler {
    pub(crate) fn new(out: Operand<'_>) -> Self {
        let layout = out.layout();
        let mut dims = collapse(dims_of(layout.shape(), layout.strides()));
        let inner = dims.pop().unwrap_or(Dim { size: 1, stride: 1 });
        Self {
            dtype: out.dtype(),
            start: layout.offset() as isize,
            outer: dims,
            inner,
            elements: layout.elements(),
        }
    }

    pub(crate) fn run<C: Compute, D: Distribution<C>>(&self, guard: &mut WriteGuard<'_>, draw: &D) {
        if self.elements == 0 {
            return;
        }
        let one_run = self.outer.is_empty() && self.inner.stride == 1;
        if one_run && self.dtype == C::DTYPE {
            let from = self.start as usize;
            let out = &mut guard.slice_mut::<C>()[from..from + self.elements];
            let past = stream::pays(size_of_val(out));
            return if threads::are_worth(DRAWING * size_of_val(out), true) {
                spread::for_each_chunk(out, CHUNK * TILE, |chunk, out| {
                    draw_run(draw, chunk * CHUNK, out, past);
                });
            } else {
                draw_run(draw, 0, out, past);
            };
        }
        let Lines(tile) = &mut Lines([C::ZERO; TILE]);
        for index in 0..self.elements.div_ceil(TILE) {
            let len = TILE.min(self.elements - index * TILE);
            let groups = len.next_multiple_of(D::PER_GROUP).min(TILE);
            draw_groups(draw, index * TILE / D::PER_GROUP, &mut tile[..groups]);
            self.store(guard, index * TILE, &tile[..len]);
        }
    }

    /// Stores values at the logical positions from `first` on.
    fn store<C: Compute>(&self, guard: &mut WriteGuard<'_>, first: usize, mut values: &[C]) {
        let mut position = first;
        while !values.is_empty() {
            let (run, at) = (position / self.inner.size, position % self.inner.size);
            let (here, rest) = values.split_at(values.len().min(self.inner.size - at));
            let offset = self.start + offset_at(&self.outer, run) + at as isize * self.inner.stride;
            store(guard, self.dtype, offset, self.inner.stride, here);
            position += here.len();
            values = rest;
        }
        debug_assert!(position <= count(&self.outer) * self.inner.size);
    }
}

/// Tiles that a thread draws at a time.
const CHUNK: usize = 64;

/// Draws the tiles from `first` on into `out`: in place, or aside where a tile is not whole or leaves `past` the caches, then a
/// group at a time, so that memory takes one while the next is made.
fn draw_run<C: Compute, D: Distribution<C>>(draw: &D, first: usize, out: &mut [C], past: bool) {
    // In whole lines: where the stack began elsewhere, 1e7 uniform `f64` took 15.5 ms instead of 11.
    let Lines(tile) = &mut Lines([C::ZERO; TILE]);
    let step = if past { D::PER_GROUP } else { TILE };
    for (index, out) in out.chunks_mut(step).enumerate() {
        let group = (first * TILE + index * step) / D::PER_GROUP;
        if out.len() == step && !past {
            draw_groups(draw, group, out);
        } else {
            let groups = out.len().next_multiple_of(D::PER_GROUP).min(TILE);
            draw_groups(draw, group, &mut tile[..groups]);
            stream::copy_elements(out, &tile[..out.len()], past);
        }
    }
    if past {
        stream::fence();
    }
}

fn draw_groups<C, D: Distribution<C>>(draw: &D, first: usize, tile: &mut [C]) {
    Level::current().run(TileTask {
        draw,
        first_group: first as u64,
        tile,
    });
}
