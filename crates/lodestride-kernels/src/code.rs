//! Steps resolved to kernel calls on numbered slots: what is decided once per program, not once per tile.
//!
//! Slots are numbered outputs first, then loads, then tiles. Nothing here touches memory; `frame.rs` fills the slots with
//! pointers and makes the calls.

use crate::isa::{Level, RawKernel};
use crate::plan::{Action, Reach, Source, Step};
use crate::table::BinaryKernel;
use crate::table_moves;
use smallvec::SmallVec;

/// The number of a pointer in a frame.
pub(crate) type Slot = u16;

/// One kernel and where its operands are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kernel: RawKernel,
    pub(crate) dst: Slot,
    pub(crate) sources: [Slot; 3],
}

/// How many elements a call of the prologue computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One: all sources are scalars.
    One,
    /// A tile: a scalar is spread for a kernel that wants a vector.
    Tile,
}

/// What is known of a load before it is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadKind {
    /// Bytes per element.
    pub(crate) size: usize,
    /// Whether it is one element for the whole run.
    pub(crate) scalar: bool,
}

/// The calls of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Calls on scalars, made once per run.
    pub(crate) prologue: SmallVec<[(Call, Extent); 2]>,
    /// Calls made for every tile.
    pub(crate) calls: SmallVec<[Call; 4]>,
    /// For each output the slot that holds its value: its own, or another that must be copied.
    pub(crate) results: SmallVec<[Slot; 2]>,
    /// The slots of a closure's operands: a kernel around a closure gets a pointer to their pointers, which is in the slot
    /// after the tiles.
    pub(crate) record: SmallVec<[Slot; 4]>,
    /// How many slots are tiles.
    pub(crate) tiles: usize,
    /// How many slots come before the tiles.
    pub(crate) operands: usize,
}

impl Code {
    /// The only call, where it computes output 0 and there is nothing before it.
    #[inline]
    pub(crate) fn sole_call(&self) -> Option<&Call> {
        let [call] = self.calls.as_slice() else {
            return None;
        };
        let plain = self.prologue.is_empty() && self.record.is_empty();
        (plain && call.dst == 0 && self.results.first() == Some(&0)).then_some(call)
    }
}

/// A value as the calls see it.
#[derive(Clone, Copy, Debug)]
struct Value {
    slot: Slot,
    scalar: bool,
    size: usize,
}

/// What is to be resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'j> {
    pub(crate) steps: &'j [Step],
    /// The number of tiles the steps name.
    pub(crate) tiles: usize,
    pub(crate) loads: &'j [LoadKind],
    /// The value of each output.
    pub(crate) results: &'j [Source],
    /// A load that is the same memory as output 0 and may be overwritten by the only step.
    pub(crate) in_place: Option<usize>,
}

impl Job<'_> {
    /// Resolves the steps to calls.
    pub(crate) fn compile(&self, level: Level) -> Code {
        let operands = self.results.len() + self.loads.len();
        let mut resolver = Resolver {
            job: self,
            values: SmallVec::new(),
            spread: SmallVec::new(),
            level,
            code: Code {
                tiles: self.tiles,
                operands,
                ..Code::default()
            },
        };
        for (number, step) in self.steps.iter().enumerate() {
            let scalar = step.action.sources().all(|s| resolver.value(s).scalar);
            let wanted = |result: &Source| *result == Source::Step(number);
            let dst = match self.results.iter().position(wanted) {
                // A scalar outlives the tile, so it has a place of its own.
                _ if scalar => resolver.new_tile(),
                Some(output) => output as Slot,
                None => (operands + step.tile) as Slot,
            };
            resolver.step(step, dst, scalar);
            resolver.values.push(Value {
                slot: dst,
                scalar,
                size: step.dtype.size(),
            });
        }
        for (output, &result) in self.results.iter().enumerate() {
            let value = resolver.value(result);
            let slot = if value.scalar {
                let fill = resolver.fill(value, output as Slot);
                resolver.code.calls.push(fill);
                output as Slot
            } else {
                value.slot
            };
            resolver.code.results.push(slot);
        }
        resolver.code
    }
}

struct Resolver<'j> {
    job: &'j Job<'j>,
    /// The steps' results so far.
    values: SmallVec<[Value; 8]>,
    /// Scalars that have been spread, and the tile they fill.
    spread: SmallVec<[(Source, Slot); 2]>,
    level: Level,
    code: Code,
}

impl Resolver<'_> {
    fn value(&self, source: Source) -> Value {
        match source {
            Source::Step(step) => self.values[step],
            Source::Load(load) => Value {
                slot: (self.job.results.len() + load) as Slot,
                scalar: self.job.loads[load].scalar,
                size: self.job.loads[load].size,
            },
        }
    }

    fn new_tile(&mut self) -> Slot {
        self.code.tiles += 1;
        (self.code.operands + self.code.tiles - 1) as Slot
    }

    /// The call that fills `dst` with a scalar.
    fn fill(&self, value: Value, dst: Slot) -> Call {
        Call {
            kernel: table_moves::fill_kernel(value.size, self.level),
            dst,
            sources: [value.slot, 0, 0],
        }
    }

    /// The slot of a vector with a source's value: a scalar is spread over a tile, once per run.
    fn vector(&mut self, source: Source, scalar_call: bool) -> Slot {
        let value = self.value(source);
        if scalar_call || !value.scalar {
            return value.slot;
        }
        if let Some((_, slot)) = self.spread.iter().find(|(known, _)| *known == source) {
            return *slot;
        }
        let slot = self.new_tile();
        let fill = self.fill(value, slot);
        self.code.prologue.push((fill, Extent::Tile));
        self.spread.push((source, slot));
        slot
    }

    /// Adds the call of a step. With `scalar` every source is one element, which as a vector of one needs no other form.
    fn step(&mut self, step: &Step, dst: Slot, scalar: bool) {
        let (kernel, sources) = match step.action {
            Action::Unary(kernel, a) => match kernel.in_place {
                Some(in_place) if self.overwrites(a) => (in_place, [dst, 0, 0]),
                _ => (kernel.map, [self.value(a).slot, 0, 0]),
            },
            Action::Cast(kernel, a) => (kernel, [self.value(a).slot, 0, 0]),
            Action::Ternary(kernel, a, b, c) => {
                let over = self.overwrites(c);
                let [a, b, c] = [a, b, c].map(|source| self.vector(source, scalar));
                match kernel.in_place {
                    Some(in_place) if over => (in_place, [a, b, 0]),
                    _ => (kernel.map, [a, b, c]),
                }
            }
            Action::Binary(kernel, a, b) => self.binary(&kernel, a, b, scalar),
            Action::Closure(kernel, count) => {
                self.code.record = (0..count)
                    .map(|load| self.vector(Source::Load(load), scalar))
                    .collect();
                // Nothing takes a tile after this: a closure is the only step of its plan.
                let record = self.code.operands + self.code.tiles;
                let closure = self.value(Source::Load(count)).slot;
                (kernel, [record as Slot, closure, 0])
            }
        };
        let call = Call {
            kernel,
            dst,
            sources,
        };
        if scalar {
            self.code.prologue.push((call, Extent::One));
        } else {
            self.code.calls.push(call);
        }
    }

    fn binary(
        &mut self,
        kernel: &BinaryKernel,
        a: Source,
        b: Source,
        scalar: bool,
    ) -> (RawKernel, [Slot; 3]) {
        let (x, y) = (self.value(a), self.value(b));
        let each = if self.overwrites(a) {
            Reach::Over
        } else {
            Reach::Each
        };
        let left = if x.scalar && !scalar {
            Reach::One
        } else {
            each
        };
        let right = if y.scalar && !scalar {
            Reach::One
        } else {
            Reach::Each
        };
        if let Some(form) = kernel.form(left, right) {
            return (form, [x.slot, y.slot, 0]);
        }
        match kernel.zip_in_place {
            Some(in_place) if each == Reach::Over => {
                (in_place, [x.slot, self.vector(b, scalar), 0])
            }
            _ => {
                let (a, b) = (self.vector(a, scalar), self.vector(b, scalar));
                (kernel.zip, [a, b, 0])
            }
        }
    }

    /// Whether a source is what the in-place forms write over.
    fn overwrites(&self, source: Source) -> bool {
        matches!(source, Source::Load(load) if self.job.in_place == Some(load))
    }
}
