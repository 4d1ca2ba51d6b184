//! The blocks of a circular workspace: each turn takes the next one, and the arrays of a turn live until it comes round again.
//!
//! A block is a ground with an arena of its own, whose epoch moves when the block is taken for a new turn and not when the
//! workspace is closed: so arrays stay valid meanwhile, and recycling is the protocol of `pin.rs`, unchanged.

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::arena::Arena;
use crate::buffer::Buffer;
use crate::error::AllocError;
use crate::ground::{Ground, Request};
use crate::mode::DebugMode;
use crate::plan::SpillPolicy;

#[derive(Debug)]
pub(crate) struct Ring {
    /// How many blocks there are once each had its turn.
    blocks: usize,
    /// For how many turns an array stays that found no room in its turn's block.
    steps: u64,
    /// The size a block is given when its turn comes.
    block_size: usize,
    lanes: Vec<Lane>,
    /// The lane of the running turn.
    current: usize,
    /// What found no room, a lane for each turn, oldest first.
    pins: VecDeque<Lane>,
}

/// The memory of one turn.
#[derive(Debug)]
struct Lane {
    arena: Arc<Arena>,
    ground: Ground,
}

impl Lane {
    fn new(main: &Arc<Arena>) -> Lane {
        Lane {
            arena: Arc::new(Arena::of_ring(main)),
            ground: Ground::default(),
        }
    }

    /// Ends what was there and starts a generation.
    fn restart(&mut self, bytes: usize, generation: u64, at: &'static Location<'static>) {
        self.end();
        // Without memory for a larger block the lane goes on with what it has, and pins the rest.
        let _goes_on = self.ground.resize(&self.arena, bytes);
        self.ground.start(&self.arena, generation, at);
    }

    /// The arrays of this lane end.
    fn end(&mut self) {
        let line = self.arena.closed_at().or(self.arena.opened_at());
        self.ground
            .close(&self.arena, line.unwrap_or(Location::caller()));
    }

    fn generation(&self) -> u64 {
        self.arena.epoch().get().generation()
    }
}

impl Ring {
    pub(crate) fn new(blocks: usize, steps: u64) -> Ring {
        Ring {
            blocks,
            steps,
            block_size: 0,
            lanes: Vec::new(),
            current: 0,
            pins: VecDeque::new(),
        }
    }

    /// Without memory again.
    pub(crate) fn afresh(&self) -> Ring {
        Ring::new(self.blocks, self.steps)
    }

    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    pub(crate) fn block_size(&self) -> usize {
        self.block_size
    }

    pub(crate) fn set_block_size(&mut self, bytes: usize) {
        self.block_size = bytes;
    }

    /// Starts a turn: ends the one that had its block, and the pinned arrays whose time is over.
    pub(crate) fn turn(
        &mut self,
        main: &Arc<Arena>,
        generation: u64,
        at: &'static Location<'static>,
    ) {
        while let Some(oldest) = self.pins.front()
            && oldest.generation() + self.steps <= generation
        {
            if let Some(mut lane) = self.pins.pop_front() {
                // Opened for nobody: so its arrays are outdated, and not leaked.
                lane.restart(0, generation, at);
            }
        }
        if self.lanes.len() < self.blocks {
            self.current = self.lanes.len();
            self.lanes.push(Lane::new(main));
        } else {
            self.current = (self.current + 1) % self.blocks;
        }
        self.lanes[self.current].restart(self.block_size, generation, at);
        self.count_pins(main);
    }

    /// Ends a turn; its arrays stay.
    pub(crate) fn rest(&mut self, main: &Arena, closed_at: &'static Location<'static>) {
        let generation = main.epoch().get().generation();
        for lane in (self.lanes.iter().chain(&self.pins)).filter(|l| l.generation() == generation) {
            lane.arena.note_closed(closed_at);
        }
        self.count_pins(main);
    }

    /// Tells how much over-sized turns before this one keep.
    fn count_pins(&self, main: &Arena) {
        let sum = |figure: fn(&Arena) -> usize| -> usize {
            self.pins.iter().map(|lane| figure(&lane.arena)).sum()
        };
        let bytes = sum(|arena| arena.figures().spilled.load(Ordering::Relaxed));
        let arrays = sum(|arena| arena.figures().spilled_arrays.load(Ordering::Relaxed));
        main.figures().kept.store(bytes, Ordering::Relaxed);
        main.figures().kept_arrays.store(arrays, Ordering::Relaxed);
    }

    /// An array in the turn's block, or pinned beside it.
    pub(crate) fn allocate(
        &mut self,
        main: &Arc<Arena>,
        mode: DebugMode,
        request: &Request,
    ) -> Result<Buffer, AllocError> {
        let bytes = request.bytes;
        let figures = main.figures();
        let lane = &mut self.lanes[self.current];
        if mode == DebugMode::Off {
            if let Some(array) = lane.ground.place(&lane.arena, request) {
                figures
                    .offset
                    .store(lane.ground.offset(), Ordering::Relaxed);
                figures.add_array();
                return Ok(array);
            }
            if request.spill == SpillPolicy::Fail {
                return Err(lane.ground.full(main, bytes));
            }
        }
        let generation = main.epoch().get().generation();
        if self
            .pins
            .back()
            .is_none_or(|lane| lane.generation() != generation)
        {
            let mut lane = Lane::new(main);
            lane.restart(0, generation, request.allocated_at);
            self.pins.push_back(lane);
        }
        let Some(lane) = self.pins.back_mut() else {
            return Err(AllocError::no_block(bytes));
        };
        let beside = Request {
            spill: SpillPolicy::External,
            ..*request
        };
        let before = lane.arena.figures().spilled.load(Ordering::Relaxed);
        let array = lane.ground.spill(&lane.arena, &beside)?;
        let room = lane.arena.figures().spilled.load(Ordering::Relaxed) - before;
        figures.add_spilled(room);
        figures.add_array();
        Ok(array)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for lane in self.lanes.iter_mut().chain(&mut self.pins) {
            lane.end();
        }
    }
}
