//! Inputs of elementwise calls that lie crosswise: closest together along another axis than the outputs.
//!
//! Gathered element by element they cost a cache line each. Here a band of the outputs at a time, which stays in the second-level
//! cache, is turned by blocks in registers (`transpose.rs`) and then walked as if the input had been dense from the start. On model
//! 207 the sum of two matrices of `f32`, one of them transposed, takes 0.50 ms instead of 0.88 for 1000x1000 and 10 ms instead of 138
//! for 4096x4096.
#![expect(
    unsafe_code,
    reason = "elements of strided inputs are moved to scratch through raw pointers"
)]

use crate::frame::Setup;
use crate::operand::Operand;
use crate::stream::LINE;
use crate::strided::{Dim, Dims, offset_at};
use crate::threads;
use crate::tile::Scratch;
use crate::transfer::Transfer;
use crate::walk::Walk;
use lodestride_shape::{Layout, Order};
use smallvec::SmallVec;
use std::ops::Range;

/// Elements of a call from which on inputs are turned: fewer are in the first cache level when their lines are met again.
const MANY: usize = 1 << 12;

/// Positions from which on an axis is worth a transpose.
const WIDE: usize = 16;

/// Bytes of a band: it stays in the second-level cache until it has been read.
const BAND: usize = 256 << 10;

/// Positions of a band along its axis at least: what is turned reads whole lines.
const LEAST: usize = 32;

/// The crosswise inputs of a call.
#[derive(Debug)]
pub(crate) struct Crosswise {
    /// Axes longer than 1 from the largest step of the outputs to the smallest; none where the first output is not dense or small.
    order: SmallVec<[usize; 6]>,
    inputs: SmallVec<[Input; 2]>,
}

#[derive(Debug)]
struct Input {
    /// Which operand of the walk it is.
    place: usize,
    /// Where its layout begins.
    base: *const u8,
    size: usize,
    /// Sizes and steps along the axes of the order.
    dims: Dims,
    /// The axis it is closest together along.
    own: usize,
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open for reading.
unsafe impl Sync for Crosswise {}

/// How the positions of a call are divided: `step` positions of an axis at a time, of `inner` elements each.
#[derive(Clone, Copy, Debug)]
struct Bands {
    axis: usize,
    step: usize,
    inner: usize,
}

impl Crosswise {
    /// None yet, for a call whose first output has this layout.
    pub(crate) fn new(output: &Layout) -> Self {
        let dense = [Order::C, Order::F].map(|order| output.is_contiguous(order));
        let axes = (0..output.rank()).filter(|&axis| output.shape()[axis] > 1);
        let mut order: SmallVec<[usize; 6]> = match dense {
            _ if output.elements() < MANY => SmallVec::new(),
            [true, _] => axes.collect(),
            [_, true] => axes.rev().collect(),
            _ => SmallVec::new(),
        };
        if order.len() < 2 {
            order.clear();
        }
        Self {
            order,
            inputs: SmallVec::new(),
        }
    }

    /// Takes charge of an input, whose layout begins at `base`, and answers true if it lies crosswise: it is dense in the walk then, as
    /// the first output is.
    pub(crate) fn take(&mut self, input: &Operand<'_>, place: usize, base: *const u8) -> bool {
        let Some(last) = self.order.len().checked_sub(1) else {
            return false;
        };
        let (layout, size) = (input.layout(), input.dtype().size());
        let dims: Dims = (self.order.iter())
            .map(|&axis| Dim {
                size: layout.shape()[axis],
                stride: layout.strides()[axis],
            })
            .collect();
        let bytes = |axis: usize| dims[axis].stride.unsigned_abs() * size;
        let Some(own) = (0..last).min_by_key(|&axis| bytes(axis)) else {
            return false;
        };
        // What repeats along an axis would be copied as often.
        let repeats = (0..=last).any(|axis| bytes(axis) == 0);
        let is_turned = bytes(own) < LINE && bytes(last) >= LINE;
        if repeats || !is_turned || dims[own].size < WIDE {
            return false;
        }
        self.inputs.push(Input {
            place,
            base,
            size,
            dims,
            own,
        });
        true
    }

    /// Whether there are any.
    pub(crate) fn is_any(&self) -> bool {
        !self.inputs.is_empty()
    }

    /// Runs the walk band by band, on so many threads.
    pub(crate) fn run(&self, walk: &Walk<'_, '_>, setup: &Setup<'_>, parts: usize) {
        let bands = self.bands();
        let sizes = |axis: usize| self.inputs[0].dims[axis].size;
        let outer: usize = (0..bands.axis).map(sizes).product();
        let count = outer * sizes(bands.axis).div_ceil(bands.step);
        let parts = parts.min(count);
        let shares = (0..parts).map(|part| part * count / parts..(part + 1) * count / parts);
        threads::for_each_part(shares, |share| {
            self.share(walk.clone(), setup, bands, share)
        });
    }

    /// The widest bands that fit, of whole positions along the axis the inputs are closest together along, or one outside it.
    fn bands(&self) -> Bands {
        let dims = &self.inputs[0].dims;
        let bytes = self.inputs.iter().map(|input| input.size).sum::<usize>();
        let own = self.inputs.iter().map(|input| input.own).min();
        let mut axis = own.unwrap_or(0);
        let mut inner: usize = dims[axis + 1..].iter().map(|dim| dim.size).product();
        while axis > 0 && dims[axis].size * inner * bytes <= BAND {
            inner *= dims[axis].size;
            axis -= 1;
        }
        let step = (BAND / (inner * bytes) / WIDE * WIDE).max(LEAST);
        Bands { axis, step, inner }
    }

    /// Some of the bands, one after the other.
    fn share(&self, mut walk: Walk<'_, '_>, setup: &Setup<'_>, bands: Bands, share: Range<usize>) {
        let Bands { axis, step, inner } = bands;
        let whole = self.inputs[0].dims[axis].size;
        let room = |size: usize| (step.min(whole) * inner * size).next_multiple_of(LINE);
        let mut scratch = Scratch::take(self.inputs.iter().map(|input| room(input.size)).sum());
        let per = whole.div_ceil(step);
        for band in share {
            let (outer, first) = (band / per, band % per * step);
            let count = step.min(whole - first);
            let begin = (outer * whole + first) * inner;
            let mut to = scratch.pointer();
            for input in &self.inputs {
                // SAFETY: the band's positions are the input's, which is open; the scratch has room for them, and nobody else has it.
                unsafe { input.turn(axis, (outer, first, count), to) };
                walk.place_band(input.place, to, begin);
                to = to.wrapping_add(room(input.size));
            }
            walk.range(setup, begin..begin + count * inner);
        }
    }
}

impl Input {
    /// Writes `count` positions along an axis from `first` on, at one position of the axes outside it, densely.
    ///
    /// # Safety
    /// They are positions of the input, whose memory nobody writes; `to` is valid for as many elements, aligned and apart.
    unsafe fn turn(&self, axis: usize, (outer, first, count): (usize, usize, usize), to: *mut u8) {
        let (before, inside) = self.dims.split_at(axis);
        let start = offset_at(before, outer) + first.cast_signed() * inside[0].stride;
        let mut shape: SmallVec<[usize; 6]> = inside.iter().map(|dim| dim.size).collect();
        shape[0] = count;
        let strides: SmallVec<[isize; 6]> = inside.iter().map(|dim| dim.stride).collect();
        let mut dense = SmallVec::<[isize; 6]>::from_elem(1, shape.len());
        for axis in (1..shape.len()).rev() {
            dense[axis - 1] = dense[axis] * shape[axis].cast_signed();
        }
        let from = self.base.wrapping_offset(start * self.size.cast_signed());
        let job = Transfer::new(&shape, [&dense, &strides], to, from, self.size);
        // SAFETY: the caller's contract.
        unsafe { job.walk() };
    }
}
