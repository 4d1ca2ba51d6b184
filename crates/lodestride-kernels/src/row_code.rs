//! What a [row pass](crate::row_pass()) does for a few rows at once: kernel calls and folds on numbered slots, as `code.rs` has them for
//! tiles. `row_frame.rs` does it.
#![expect(
    unsafe_code,
    reason = "operands of a pass are shared among threads by their pointers"
)]

use crate::code::{self, Code, Job, LoadKind, Slot};
use crate::isa::{Level, RawKernel};
use crate::program::Program;
use crate::program_builder::Loaded;
use crate::reduce_fold::ROWS;
use crate::row_fold::ErasedFold;
use crate::stream;

/// Elements of the rows that are worked on at once: tiles of as many stay in the first cache level.
const AT_ONCE: usize = 2048;

/// What a slot holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Bytes per element.
    pub(crate) size: usize,
    /// Whether it is one element for a whole row.
    pub(crate) number: bool,
    /// Whether it is the same for every row.
    pub(crate) fixed: bool,
}

/// Where the elements of a slot are, and the bytes from row to row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spot {
    Memory(*mut u8, isize),
    /// So many bytes into the tiles.
    Tile(usize, isize),
}

impl Spot {
    pub(crate) fn step(self) -> isize {
        match self {
            Self::Memory(_, step) | Self::Tile(_, step) => step,
        }
    }
}

/// How many elements of a row something is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    One,
    Row,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// A kernel from sources to a destination.
    Call(RawKernel, [Slot; 3], Slot),
    /// The elements of one slot in another, of so many bytes each.
    Copy(usize, Slot, Slot),
    /// Rows become numbers.
    Reduce(ErasedFold, Slot, Slot),
    /// Everything is added to the total at an offset in a block's.
    Along(ErasedFold, Slot, usize),
    /// Each column is added to its own total.
    Across(ErasedFold, Slot, usize),
    /// Finished rows in a tile go past the caches to where they are wanted.
    Stream(usize, Slot, *mut u8, isize),
}

/// An action on some elements of each row, in one call where all operands lie so that the rows are one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) action: Action,
    pub(crate) extent: Extent,
    pub(crate) joined: bool,
}

/// The instructions of a pass.
#[derive(Debug)]
pub(crate) struct RowCode {
    pub(crate) spots: Vec<Spot>,
    kinds: Vec<Kind>,
    /// Done once for all rows of a block, with so many elements: what follows from numbers that are the same for all.
    pub(crate) first: Vec<(Action, usize)>,
    pub(crate) rows: Vec<Instruction>,
    /// The slots of rows that come from memory.
    pub(crate) ahead: Vec<Slot>,
    /// Bytes of tiles.
    pub(crate) tiles: usize,
    /// Tiles that nothing needs any more: where, and their bytes.
    free: Vec<(usize, usize)>,
    /// Rows that others are added to, and where the totals are that they are added to before they are too many.
    pub(crate) sums: Vec<(ErasedFold, Slot, usize)>,
    /// Folds over all rows, where a block's totals are, and how many.
    pub(crate) folds: Vec<(ErasedFold, usize, usize)>,
    /// Units of totals of a block.
    pub(crate) units: usize,
    pub(crate) columns: usize,
    pub(crate) elements: usize,
    /// Rows that are worked on at once.
    pub(crate) at_once: usize,
    /// Whether rows go past the caches, for which each thread waits in the end.
    pub(crate) streams: bool,
    /// Whether arithmetic rather than memory sets the pace.
    pub(crate) heavy: bool,
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open for this pass; threads get different rows, and
// what a pass writes has a place for each row.
unsafe impl Sync for RowCode {}

impl RowCode {
    /// Nothing to do yet for so many elements in rows of `columns`.
    pub(crate) fn new(elements: usize, columns: usize) -> Self {
        Self {
            spots: Vec::new(),
            kinds: Vec::new(),
            first: Vec::new(),
            rows: Vec::new(),
            ahead: Vec::new(),
            tiles: 0,
            free: Vec::new(),
            sums: Vec::new(),
            folds: Vec::new(),
            units: 0,
            columns,
            elements,
            at_once: (AT_ONCE / columns).clamp(1, ROWS),
            streams: false,
            heavy: false,
        }
    }

    /// A new slot in memory, with the bytes from row to row.
    pub(crate) fn memory(&mut self, at: *mut u8, step: isize, kind: Kind) -> Slot {
        self.slot(Spot::Memory(at, step), kind)
    }

    /// A new slot in memory of rows that are read.
    pub(crate) fn rows(&mut self, at: *mut u8, step: isize, kind: Kind) -> Slot {
        let slot = self.memory(at, step, kind);
        self.ahead.push(slot);
        slot
    }

    /// A new slot in a tile, which may have been another's.
    pub(crate) fn tile(&mut self, kind: Kind) -> Slot {
        let bytes = self.tile_bytes(kind);
        let free = self.free.iter().position(|(_, free)| *free == bytes);
        match free {
            Some(free) => {
                let (at, _) = self.free.swap_remove(free);
                self.slot(Spot::Tile(at, self.tile_step(kind)), kind)
            }
            None => self.lasting_tile(kind),
        }
    }

    /// A new slot in a tile that is nobody else's, whose elements stay from rows to rows.
    fn lasting_tile(&mut self, kind: Kind) -> Slot {
        let at = self.tiles;
        self.tiles += self.tile_bytes(kind);
        self.slot(Spot::Tile(at, self.tile_step(kind)), kind)
    }

    /// The bytes from row to row in a tile.
    fn tile_step(&self, kind: Kind) -> isize {
        let elements = if kind.number { 1 } else { self.columns };
        if kind.number && kind.fixed {
            0
        } else {
            (elements * kind.size).cast_signed()
        }
    }

    fn tile_bytes(&self, kind: Kind) -> usize {
        let elements = if kind.number { 1 } else { self.columns };
        (elements * kind.size * self.at_once).next_multiple_of(stream::LINE)
    }

    /// Lets a tile be that of slots made from now on: nothing that follows reads it.
    pub(crate) fn release(&mut self, slot: Slot) {
        if let Spot::Tile(at, _) = self.spots[usize::from(slot)] {
            self.free.push((at, self.tile_bytes(self.kind(slot))));
        }
    }

    fn slot(&mut self, spot: Spot, kind: Kind) -> Slot {
        self.spots.push(spot);
        self.kinds.push(kind);
        (self.spots.len() - 1) as Slot
    }

    /// Where a slot in memory begins.
    pub(crate) fn start(&self, slot: Slot) -> *mut u8 {
        match self.spots[usize::from(slot)] {
            Spot::Memory(at, _) => at,
            Spot::Tile(..) => std::ptr::null_mut(),
        }
    }

    pub(crate) fn kind(&self, slot: Slot) -> Kind {
        self.kinds[usize::from(slot)]
    }

    fn length(&self, extent: Extent) -> usize {
        match extent {
            Extent::One => 1,
            Extent::Row => self.columns,
        }
    }

    /// Whether the elements of several rows in a slot are as one longer row, or one for all.
    fn joins(&self, slot: Slot, extent: Extent) -> bool {
        let Kind {
            size,
            number,
            fixed,
        } = self.kind(slot);
        let follows =
            self.spots[usize::from(slot)].step() == (self.length(extent) * size).cast_signed();
        if number && extent == Extent::Row {
            return fixed;
        }
        follows || number && fixed
    }

    fn push(&mut self, action: Action, extent: Extent) {
        let joined = self.is_joined(&action, extent);
        self.rows.push(Instruction {
            action,
            extent,
            joined,
        });
    }

    /// Whether an action takes all rows at once.
    fn is_joined(&self, action: &Action, extent: Extent) -> bool {
        match *action {
            Action::Call(_, sources, dst) => {
                sources.iter().all(|slot| self.joins(*slot, extent)) && self.joins(dst, extent)
            }
            Action::Copy(_, from, to) => self.joins(from, extent) && self.joins(to, extent),
            Action::Along(_, from, _) => self.joins(from, extent),
            Action::Stream(size, from, _, step) => {
                self.joins(from, extent) && step == (self.columns * size).cast_signed()
            }
            Action::Reduce(..) | Action::Across(..) => true,
        }
    }

    /// Adds what a program does with slots of its dtypes.
    pub(crate) fn map(&mut self, program: &Program, inputs: &[Slot], outputs: &[Slot]) {
        // Numbers that differ from row to row are elements to a program on numbers, and one for all elements to one on rows.
        let extent = match outputs.first() {
            Some(slot) if self.kind(*slot).number => Extent::One,
            _ => Extent::Row,
        };
        let mut slots: Vec<Slot> = outputs.to_vec();
        let mut loads = Vec::new();
        let mut given = inputs.iter();
        for load in &program.built.loads {
            let slot = match load {
                Loaded::Input(_) => given.next().copied().unwrap_or_default(),
                Loaded::Constant(word, size) => {
                    let at = std::ptr::from_ref(word).cast_mut().cast();
                    let kind = Kind {
                        size: *size,
                        number: true,
                        fixed: true,
                    };
                    self.memory(at, 0, kind)
                }
            };
            slots.push(slot);
            let kind = self.kind(slot);
            loads.push(LoadKind {
                size: kind.size,
                scalar: kind.number && (kind.fixed || extent == Extent::Row),
            });
        }
        let job = Job {
            steps: &program.built.steps,
            tiles: program.tiles,
            loads: &loads,
            results: &program.results,
            in_place: None,
        };
        let code = job.compile(Level::current());
        let passing = self.add_tiles(&code, extent, program.width, &mut slots);
        self.add_calls(&code, extent, &slots);
        for (output, result) in outputs.iter().zip(&code.results) {
            let from = slots[usize::from(*result)];
            if from != *output {
                let size = self.kind(*output).size;
                self.push(Action::Copy(size, from, *output), extent);
            }
        }
        for slot in passing {
            self.release(slot);
        }
        self.heavy |= program.built.heavy;
    }

    /// Slots for the tiles of a program; gives those that nothing needs after it.
    fn add_tiles(
        &mut self,
        code: &Code,
        extent: Extent,
        size: usize,
        slots: &mut Vec<Slot>,
    ) -> Vec<Slot> {
        let mut passing = Vec::new();
        for tile in code.operands..code.operands + code.tiles {
            let makes = |call: &code::Call| usize::from(call.dst) == tile;
            let maker = code.prologue.iter().find(|(call, _)| makes(call));
            let one = maker.is_some_and(|(_, extent)| *extent == code::Extent::One);
            let fixed = maker.is_some_and(|(call, _)| self.is_fixed(call, slots));
            let kind = Kind {
                size,
                number: one || extent == Extent::One,
                fixed: fixed && one,
            };
            if fixed {
                slots.push(self.lasting_tile(kind));
            } else {
                passing.push(self.tile(kind));
                slots.extend(passing.last());
            }
        }
        passing
    }

    /// Whether all that a call of a prologue reads is the same for every row. A kernel of fewer sources than three is given slot 0, the
    /// first output, for the others.
    fn is_fixed(&self, call: &code::Call, slots: &[Slot]) -> bool {
        let sources = call.sources.iter().filter(|slot| **slot > 0);
        { sources }.all(|slot| self.kind(slots[usize::from(*slot)]).fixed)
    }

    fn add_calls(&mut self, code: &Code, extent: Extent, slots: &[Slot]) {
        let action = |call: &code::Call| {
            let sources = call.sources.map(|slot| slots[usize::from(slot)]);
            (sources, slots[usize::from(call.dst)])
        };
        for (call, reach) in &code.prologue {
            let (sources, dst) = action(call);
            let sources = sources.map(|slot| if slot == slots[0] { sources[0] } else { slot });
            let kernel = Action::Call(call.kernel, sources, dst);
            match reach {
                code::Extent::One if self.is_fixed(call, slots) => self.first.push((kernel, 1)),
                // It takes its sources as vectors of one, those that are the same for all rows too.
                code::Extent::One => {
                    let fixed = sources.iter().any(|slot| self.kind(*slot).fixed);
                    self.rows.push(Instruction {
                        action: kernel,
                        extent: Extent::One,
                        joined: !fixed && self.is_joined(&kernel, Extent::One),
                    });
                }
                code::Extent::Tile if self.is_fixed(call, slots) => {
                    let n = self.at_once * self.length(extent);
                    self.first.push((kernel, n));
                }
                code::Extent::Tile => self.push(kernel, extent),
            }
        }
        for call in &code.calls {
            let (sources, dst) = action(call);
            self.push(Action::Call(call.kernel, sources, dst), extent);
        }
    }

    /// Adds the reduction of each row to a number.
    pub(crate) fn reduce(&mut self, fold: ErasedFold, from: Slot, to: Slot) {
        self.push(Action::Reduce(fold, from, to), Extent::Row);
    }

    /// Adds the reduction of everything in a slot; tells where a block's total is.
    pub(crate) fn along(&mut self, fold: ErasedFold, from: Slot) -> usize {
        self.push(Action::Along(fold, from, self.units), Extent::Row);
        self.totals(fold, 1)
    }

    /// Adds the reduction of each column of a slot; tells where a block's totals are.
    pub(crate) fn across(&mut self, fold: ErasedFold, from: Slot) -> usize {
        match fold.addition() {
            Some(add) => {
                let sum = self.lasting_tile(Kind {
                    fixed: true,
                    ..self.kind(from)
                });
                // All rows are added to one.
                if let Spot::Tile(_, step) = &mut self.spots[usize::from(sum)] {
                    *step = 0;
                }
                self.push(Action::Call(add, [sum, from, from], sum), Extent::Row);
                self.sums.push((fold, sum, self.units));
            }
            None => self.push(Action::Across(fold, from, self.units), Extent::Row),
        }
        self.totals(fold, self.columns)
    }

    fn totals(&mut self, fold: ErasedFold, count: usize) -> usize {
        let at = self.units;
        self.units += fold.units(count);
        self.folds.push((fold, at, count));
        at
    }

    /// Adds that finished rows in a tile go past the caches to memory.
    pub(crate) fn stream(&mut self, from: Slot, to: *mut u8, step: isize) {
        let size = self.kind(from).size;
        self.push(Action::Stream(size, from, to, step), Extent::Row);
        self.streams = true;
    }

    /// How many kernels and folds a row takes.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}
