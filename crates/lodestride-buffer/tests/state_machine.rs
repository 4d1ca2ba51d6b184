//! Random walks over workspaces of every policy, circular ones among them, arrays and guards beside a naive model that keeps
//! every array's contents in a vector of its own: who may be opened, what it holds, which workspace is current and which its
//! parent, how much memory the workspaces say they use. The model knows the formula of sizes by itself.
#![expect(clippy::unwrap_used, reason = "test code outside of test functions")]

use lodestride_buffer::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(usize),
    Borrow(usize),
    /// Closes a guard, counted from the newest.
    Close(usize),
    Drop(usize),
    Allocate {
        bytes: usize,
        zeroed: bool,
    },
    AllocateIn(usize, usize),
    Detached(usize),
    /// Copies an array into the parent of the current workspace, or to the heap.
    Leverage(usize),
    LeverageTo(usize, usize),
    Forget(usize),
    Read(usize),
    Write(usize, u8),
    HoldReader(usize),
    HoldWriter(usize),
    EndGuard(usize),
    Destroy(usize),
    Initialize(usize),
    ScopedOut(usize),
}

/// So many workspaces each walk has, of configurations that it draws from all.
const SPACES: usize = 5;

/// Each policy, and sizes that are no multiples of 64.
fn configs() -> [WorkspaceConfig; 13] {
    let new = WorkspaceConfig::new();
    let strict = new.allocation(AllocationPolicy::Strict);
    let over_time = strict.learning(LearningPolicy::OverTime);
    let never = new.learning(LearningPolicy::None);
    [
        new,
        strict.initial_size(4096),
        strict.spill(SpillPolicy::Reallocate).max_size(8100),
        new.min_size(3000).max_size(7000),
        new.overallocation(0.7).initial_size(3000).min_size(9000),
        strict.initial_size(5000).spill(SpillPolicy::Fail),
        new.initial_size(1000)
            .min_size(2500)
            .spill(SpillPolicy::Reallocate),
        over_time.cycles_before_init(2).min_size(5000),
        over_time.spill(SpillPolicy::Reallocate),
        never,
        never.initial_size(2000).spill(SpillPolicy::Reallocate),
        strict.circular(2),
        strict
            .circular(3)
            .initial_size(3 * 1024)
            .spill(SpillPolicy::Reallocate)
            .steps_number(2),
    ]
}

/// The formula: `max(needed * (1 + overallocation), min_size)` rounded up to 64, and `max_size` rounded down; of each block.
fn block_size(config: &WorkspaceConfig, needed: usize, is_learned: bool) -> usize {
    let blocks = match config.reset {
        ResetPolicy::Circular => config.blocks,
        _ => 1,
    };
    let mut size = needed;
    if config.allocation == AllocationPolicy::Overallocate {
        size += (config.overallocation * needed as f64).floor() as usize;
    }
    if is_learned {
        size = size.max(config.min_size.div_ceil(blocks));
    }
    size += (64 - size % 64) % 64;
    while config.max_size > 0 && size * blocks > config.max_size {
        size -= 64;
    }
    size
}

/// The size of all blocks that are made for the initial size.
fn first_size(config: &WorkspaceConfig) -> usize {
    match config.reset {
        ResetPolicy::Circular => {
            let share = config.initial_size.div_ceil(config.blocks);
            block_size(config, share, false) * config.blocks
        }
        _ => block_size(config, config.initial_size, false),
    }
}

fn steps() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![0..200_usize, 900..1100_usize, 4000..5000_usize];
    prop_oneof![
        5 => (0..SPACES).prop_map(Step::Enter),
        1 => (0..SPACES).prop_map(Step::Borrow),
        5 => prop_oneof![8 => Just(0), 1 => 0..4_usize].prop_map(Step::Close),
        1 => (0..4_usize).prop_map(Step::Drop),
        12 => (bytes.clone(), any::<bool>()).prop_map(|(bytes, zeroed)| Step::Allocate { bytes, zeroed }),
        2 => (0..SPACES, bytes.clone()).prop_map(|(ws, bytes)| Step::AllocateIn(ws, bytes)),
        1 => bytes.clone().prop_map(Step::ScopedOut),
        1 => bytes.prop_map(Step::Detached),
        3 => any::<usize>().prop_map(Step::Leverage),
        3 => (any::<usize>(), 0..SPACES).prop_map(|(array, ws)| Step::LeverageTo(array, ws)),
        3 => any::<usize>().prop_map(Step::Forget),
        6 => any::<usize>().prop_map(Step::Read),
        6 => (any::<usize>(), any::<u8>()).prop_map(|(array, byte)| Step::Write(array, byte)),
        2 => any::<usize>().prop_map(Step::HoldReader),
        2 => any::<usize>().prop_map(Step::HoldWriter),
        3 => any::<usize>().prop_map(Step::EndGuard),
        1 => (0..SPACES).prop_map(Step::Destroy),
        1 => (0..SPACES).prop_map(Step::Initialize),
    ]
}

enum Guard {
    Read(ReadGuard<'static>),
    Write(WriteGuard<'static>),
}

struct Array {
    /// `None` once the handle was dropped. Guards that are held stand on leaked clones, so they may outlive it.
    buffer: Option<Buffer>,
    /// The workspace and its generation; `None` for the heap.
    home: Option<(usize, u64)>,
    contents: Vec<u8>,
    address: usize,
    /// In a circular workspace: whether it lies beside its turn's block, and why it may not be touched any more.
    pinned: bool,
    ended: Option<&'static str>,
    readers: usize,
    written: bool,
}

#[derive(Default)]
struct Space {
    generation: u64,
    open: bool,
    this_cycle: usize,
    max_cycle: usize,
    cycles: u64,
    /// Of all blocks.
    size: usize,
    offset: usize,
    /// The size of the block in use; in a circular workspace each has the size that was right when its turn came.
    block: usize,
    ring: Option<Circle>,
}

/// What a circular workspace has besides.
struct Circle {
    blocks: usize,
    /// For how many turns pinned arrays stay.
    steps: u64,
    /// Generation and bytes of what over-sized turns keep.
    pins: Vec<(u64, usize)>,
    /// The bytes of these when a turn last began or ended.
    kept: usize,
}

impl Circle {
    fn count(&mut self) {
        self.kept = self.pins.iter().map(|(_, room)| room).sum();
    }
}

impl Space {
    /// What a close or a request does to the size.
    fn learn(&mut self, config: &WorkspaceConfig, is_asked: bool) {
        let learns = self.size == 0
            && match config.learning {
                _ if is_asked => true,
                LearningPolicy::FirstLoop => true,
                LearningPolicy::OverTime => {
                    config.cycles_before_init > 0 && self.cycles >= config.cycles_before_init
                }
                LearningPolicy::None => false,
            };
        let blocks = self.ring.as_ref().map_or(1, |ring| ring.blocks);
        let block = self.size / blocks;
        let grows = block > 0 && config.spill == SpillPolicy::Reallocate && self.max_cycle > block;
        if self.max_cycle > 0 && (learns || grows) {
            self.size = block_size(config, self.max_cycle, true).max(block) * blocks;
        }
    }
}

struct World {
    workspaces: Vec<Workspace>,
    spaces: Vec<Space>,
    /// Workspace, whether this entry opened it, whether it borrows it.
    stack: Vec<(usize, bool, bool)>,
    scopes: Vec<WorkspaceGuard>,
    arrays: Vec<Array>,
    guards: Vec<(usize, Guard)>,
}

impl World {
    /// With workspaces of these configurations.
    fn new(picks: &[usize]) -> World {
        let configs: Vec<_> = picks.iter().map(|pick| configs()[*pick]).collect();
        let space = |config: &WorkspaceConfig| Space {
            ring: (config.reset == ResetPolicy::Circular).then(|| Circle {
                blocks: config.blocks,
                steps: match config.steps_number {
                    0 => config.blocks as u64,
                    steps => steps,
                },
                pins: Vec::new(),
                kept: 0,
            }),
            size: first_size(config),
            ..Space::default()
        };
        let spaces = configs.iter().map(space).collect();
        let named =
            |(index, config)| Workspace::with_config(["A", "B", "C", "D", "E"][index], config);
        World {
            workspaces: configs.into_iter().enumerate().map(named).collect(),
            spaces,
            stack: Vec::new(),
            scopes: Vec::new(),
            arrays: Vec::new(),
            guards: Vec::new(),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Enter(index) => self.enter(index),
            Step::Borrow(index) => self.borrow(index),
            Step::Close(depth) => self.close(depth, true),
            Step::Drop(depth) => self.close(depth, false),
            Step::Allocate { bytes, zeroed } => {
                let home = self.stack.last().map(|entry| entry.0);
                if zeroed {
                    self.add(Buffer::zeroed(bytes), bytes, home, None);
                } else {
                    let contents = vec![self.arrays.len() as u8; bytes];
                    self.add(Buffer::recycled(bytes), bytes, home, Some(contents));
                }
            }
            Step::AllocateIn(index, bytes) => {
                let buffer = Buffer::zeroed_in(&self.workspaces[index], bytes);
                self.add(buffer, bytes, Some(index), None);
            }
            Step::Detached(bytes) => {
                self.add(Buffer::detached_zeroed(bytes), bytes, None, None);
            }
            Step::Leverage(array) => self.leverage(array, self.parent()),
            Step::LeverageTo(array, index) => self.leverage(array, Some(index)),
            Step::Forget(array) => self.forget(array),
            Step::Read(array) => self.read(array, false),
            Step::HoldReader(array) => self.read(array, true),
            Step::Write(array, byte) => self.write(array, Some(byte)),
            Step::HoldWriter(array) => self.write(array, None),
            Step::EndGuard(guard) => self.end_guard(guard),
            Step::Destroy(index) => {
                let destroyed = self.workspaces[index].destroy().is_ok();
                assert_eq!(destroyed, !self.spaces[index].open);
                if destroyed {
                    let space = &mut self.spaces[index];
                    (space.size, space.max_cycle, space.cycles) = (0, 0, 0);
                    if let Some(ring) = &mut space.ring {
                        ring.pins.clear();
                        ring.count();
                        self.end(
                            index,
                            |array| !array.pinned || array.ended.is_none(),
                            "leaked",
                        );
                    }
                }
            }
            Step::Initialize(index) => self.initialize(index),
            Step::ScopedOut(bytes) => {
                let buffer = scope_out(|| {
                    assert!(current_workspace().is_none() && parent_workspace().is_none());
                    Buffer::zeroed(bytes)
                });
                self.add(buffer, bytes, None, None);
            }
        }
    }

    fn enter(&mut self, index: usize) {
        self.scopes.push(self.workspaces[index].enter().unwrap());
        let space = &mut self.spaces[index];
        self.stack.push((index, !space.open, false));
        if !space.open {
            space.open = true;
            space.generation += 1;
            if space.size == 0 {
                space.size = first_size(self.workspaces[index].config());
            }
            space.block = space.size;
            let generation = space.generation;
            if let Some(ring) = &mut space.ring {
                space.block = space.size / ring.blocks;
                let (blocks, steps) = (ring.blocks as u64, ring.steps);
                ring.pins.retain(|(made, _)| made + steps > generation);
                ring.count();
                let is_over = |array: &Array| {
                    let lives = if array.pinned { steps } else { blocks };
                    let made = array.home.map_or(generation, |(_, made)| made);
                    array.ended.is_none() && made + lives <= generation
                };
                self.end(index, is_over, "outdated");
            }
        }
    }

    /// Ends arrays of a circular workspace.
    fn end(&mut self, index: usize, which: impl Fn(&Array) -> bool, why: &'static str) {
        for array in &mut self.arrays {
            if array.home.is_some_and(|(home, _)| home == index) && which(array) {
                array.ended = Some(why);
            }
        }
    }

    fn initialize(&mut self, index: usize) {
        let done = self.workspaces[index].initialize().is_ok();
        assert_eq!(done, !self.spaces[index].open);
        if done {
            let space = &mut self.spaces[index];
            let config = self.workspaces[index].config();
            space.learn(config, true);
        }
    }

    /// The workspace that was current when the current one was opened.
    fn parent(&self) -> Option<usize> {
        let current = self.stack.last()?.0;
        let opened = (self.stack.iter()).position(|entry| (entry.0, entry.1) == (current, true))?;
        Some(self.stack[opened.checked_sub(1)?].0)
    }

    /// Copies an array into a workspace or to the heap, unless it is stale, held by a writer, on the heap or there already.
    fn leverage(&mut self, array: usize, target: Option<usize>) {
        let Some((index, buffer)) = self.pick(array) else {
            return;
        };
        let refusal = self.refusal(index, false);
        let is_stale = refusal.is_some_and(|why| why != "in use");
        assert_eq!(buffer.validate().is_err(), is_stale);
        assert_eq!(buffer.is_in_scope(), !is_stale);
        let home = self.arrays[index].home.map(|(home, _)| home);
        if refusal.is_some() || home.is_none() || home == target {
            return;
        }
        let bytes = buffer.len();
        let copy = match target {
            Some(target) => Buffer::recycled_in(&self.workspaces[target], bytes),
            None => Buffer::detached_recycled(bytes),
        };
        let contents = buffer.read().unwrap().bytes().to_vec();
        self.add(copy, bytes, target, Some(contents));
    }

    fn borrow(&mut self, index: usize) {
        let borrowed = self.stack.contains(&(index, false, true));
        let guard = self.workspaces[index].borrow();
        assert_eq!(guard.is_ok(), self.spaces[index].open && !borrowed);
        if let Ok(guard) = guard {
            self.scopes.push(guard);
            self.stack.push((index, false, true));
        }
    }

    fn close(&mut self, depth: usize, reported: bool) {
        let Some(position) = self.scopes.len().checked_sub(depth + 1) else {
            return;
        };
        let inner: Vec<_> = self.scopes.drain(position + 1..).collect();
        let guard = self.scopes.pop().unwrap();
        if reported {
            assert_eq!(guard.close().is_ok(), inner.is_empty());
        } else {
            drop(guard);
        }
        for guard in inner {
            let already = guard.close();
            assert!(matches!(already, Err(WorkspaceError::AlreadyClosed { .. })));
        }
        for (index, opened, _) in self.stack.drain(position..).rev() {
            let space = &mut self.spaces[index];
            if opened {
                space.open = false;
                space.cycles += 1;
                space.max_cycle = space.max_cycle.max(space.this_cycle);
                let config = self.workspaces[index].config();
                space.learn(config, false);
                (space.this_cycle, space.offset) = (0, 0);
                if let Some(ring) = &mut space.ring {
                    ring.count();
                }
            }
        }
    }

    /// An array that was asked for, or its refusal. Without contents it must be zeroed, else they are written.
    fn add(
        &mut self,
        result: Result<Buffer, AllocError>,
        bytes: usize,
        home: Option<usize>,
        contents: Option<Vec<u8>>,
    ) {
        let room = bytes.next_multiple_of(64);
        let mut pinned = false;
        if let Some(index) = home {
            let config = self.workspaces[index].config();
            let space = &mut self.spaces[index];
            if !space.open {
                assert!(matches!(result, Err(AllocError::NotOpenHere { .. })));
                return;
            }
            pinned = space.block == 0 || space.offset + room > space.block;
            if pinned && config.spill == SpillPolicy::Fail {
                let Err(AllocError::WorkspaceFull(facts)) = result else {
                    panic!("granted")
                };
                let found = (facts.bytes, facts.size, facts.free);
                assert_eq!(found, (bytes, space.block, space.block - space.offset));
                return;
            }
            space.this_cycle += room;
            match &mut space.ring {
                _ if !pinned => space.offset += room,
                Some(ring) => ring.pins.push((space.generation, room)),
                None => {}
            }
        }
        let buffer = result.unwrap();
        assert_eq!(
            (buffer.len(), buffer.is_attached()),
            (bytes, home.is_some())
        );
        if let Some(index) = home {
            assert!(buffer.is_attached_to(&self.workspaces[index]));
        }
        let contents = match contents {
            None => vec![0; bytes],
            Some(contents) => {
                (buffer.write().unwrap().bytes_mut()).copy_from_slice(&contents);
                contents
            }
        };
        assert_eq!(buffer.read().unwrap().bytes(), contents);
        self.arrays.push(Array {
            address: buffer.address(),
            buffer: Some(buffer),
            home: home.map(|index| (index, self.spaces[index].generation)),
            contents,
            pinned,
            ended: None,
            readers: 0,
            written: false,
        });
    }

    /// An array whose handle is there.
    fn pick(&self, array: usize) -> Option<(usize, Buffer)> {
        let index = array.checked_rem(self.arrays.len())?;
        Some((index, self.arrays[index].buffer.clone()?))
    }

    fn forget(&mut self, array: usize) {
        if let Some((index, _)) = self.pick(array) {
            self.arrays[index].buffer = None;
        }
    }

    /// What the door must answer; `None` if it opens.
    fn refusal(&self, array: usize, writing: bool) -> Option<&'static str> {
        let array = &self.arrays[array];
        if let Some((index, generation)) = array.home {
            let space = &self.spaces[index];
            if space.ring.is_some() {
                if array.ended.is_some() {
                    return array.ended;
                }
            } else if !space.open {
                return Some("leaked");
            }
            if space.ring.is_none() && space.generation != generation {
                return Some("outdated");
            }
        }
        (array.written || writing && array.readers > 0).then_some("in use")
    }

    fn read(&mut self, array: usize, hold: bool) {
        let Some((index, buffer)) = self.pick(array) else {
            return;
        };
        if hold && self.refusal(index, false).is_none() {
            let buffer: &'static Buffer = Box::leak(Box::new(buffer));
            self.arrays[index].readers += 1;
            self.guards
                .push((index, Guard::Read(buffer.read().unwrap())));
            return;
        }
        let result = buffer.read();
        assert_eq!(result.as_ref().err().map(name), self.refusal(index, false));
        if let Ok(guard) = result {
            assert_eq!(guard.bytes(), self.arrays[index].contents);
        }
    }

    /// Fills with the byte, or holds a guard.
    fn write(&mut self, array: usize, byte: Option<u8>) {
        let Some((index, buffer)) = self.pick(array) else {
            return;
        };
        if byte.is_none() && self.refusal(index, true).is_none() {
            let buffer: &'static Buffer = Box::leak(Box::new(buffer));
            self.arrays[index].written = true;
            self.guards
                .push((index, Guard::Write(buffer.write().unwrap())));
            return;
        }
        let result = buffer.write();
        assert_eq!(result.as_ref().err().map(name), self.refusal(index, true));
        if let (Ok(mut guard), Some(byte)) = (result, byte) {
            guard.bytes_mut().fill(byte);
            self.arrays[index].contents.fill(byte);
        }
    }

    fn end_guard(&mut self, guard: usize) {
        if self.guards.is_empty() {
            return;
        }
        let (index, guard) = self.guards.swap_remove(guard % self.guards.len());
        match guard {
            Guard::Read(_) => self.arrays[index].readers -= 1,
            Guard::Write(_) => self.arrays[index].written = false,
        }
    }

    /// What must hold after every step.
    fn check(&self) {
        for (workspace, space) in self.workspaces.iter().zip(&self.spaces) {
            let stats = workspace.stats();
            let found = (stats.open, stats.generation, stats.cycles, stats.max_cycle);
            assert_eq!(
                found,
                (space.open, space.generation, space.cycles, space.max_cycle)
            );
            let found = (stats.size, stats.offset, stats.this_cycle);
            assert_eq!(found, (space.size, space.offset, space.this_cycle));
            assert_eq!(stats.this_cycle, stats.offset + stats.spilled);
        }
        let names: Vec<WorkspaceName> = self
            .stack
            .iter()
            .filter(|entry| entry.1)
            .map(|entry| self.workspaces[entry.0].name().clone())
            .collect();
        assert_eq!(open_workspaces(), names);
        let is = |found: Option<Workspace>, expected: Option<usize>| match (found, expected) {
            (Some(found), Some(index)) => found.is_same(&self.workspaces[index]),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(is(current_workspace(), self.stack.last().map(|top| top.0)));
        assert!(is(parent_workspace(), self.parent()));
        // A guard's bytes never change under it, whatever happened to the workspace.
        for (index, guard) in &self.guards {
            let bytes = match guard {
                Guard::Read(guard) => guard.bytes(),
                Guard::Write(guard) => guard.bytes(),
            };
            assert_eq!(bytes, self.arrays[*index].contents);
        }
        // Arrays that may be opened, or are held, never share a byte.
        let mut ranges: Vec<(usize, usize)> = (0..self.arrays.len())
            .filter(|index| {
                let array = &self.arrays[*index];
                !array.contents.is_empty()
                    && (array.written
                        || array.readers > 0
                        || array.buffer.is_some() && self.refusal(*index, false).is_none())
            })
            .map(|index| {
                (
                    self.arrays[index].address,
                    self.arrays[index].contents.len(),
                )
            })
            .collect();
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0);
        }
    }
}

fn name(error: &AccessError) -> &'static str {
    match error {
        AccessError::Leaked(_) => "leaked",
        AccessError::Outdated(_) => "outdated",
        AccessError::InUse(_) => "in use",
        AccessError::ReadOnly(_) => "read-only",
    }
}

/// As many as the environment says, which the sanitizers do.
fn cases() -> u32 {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default().cases,
        None if cfg!(miri) => 8,
        None => 10_000,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_door_agrees_with_a_naive_model(
        picks in proptest::array::uniform::<_, SPACES>(0..configs().len()),
        steps in proptest::collection::vec(steps(), 1..60),
    ) {
        let mut world = World::new(&picks);
        for step in steps {
            world.step(step);
            world.check();
        }
        while !world.scopes.is_empty() {
            world.close(0, true);
        }
        world.guards.clear();
        for (workspace, space) in world.workspaces.iter().zip(&world.spaces) {
            let kept = space.ring.as_ref().map_or(0, |ring| ring.kept);
            prop_assert_eq!(workspace.stats().pinned, kept);
        }
        prop_assert!(current_workspace().is_none());
    }
}
