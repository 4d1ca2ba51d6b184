//! Random walks over workspaces, circular ones among them, arrays and guards beside a naive model that keeps every array's
//! contents in a vector of its own: who may be opened, what it holds, how much memory the workspaces say they use.
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

/// The workspaces: three that are reset when they are closed, two circular ones.
const SPACES: usize = 5;

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
    fn learn(&mut self, config: &WorkspaceConfig, learns: bool) {
        let blocks = self.ring.as_ref().map_or(1, |ring| ring.blocks);
        let block = self.size / blocks;
        let grows = block > 0 && config.spill == SpillPolicy::Reallocate && self.max_cycle > block;
        if self.max_cycle > 0 && (learns || grows) {
            self.size = config.size_for(self.max_cycle).max(block) * blocks;
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
    fn new() -> World {
        let strict = WorkspaceConfig::new().allocation(AllocationPolicy::Strict);
        let configs = [
            WorkspaceConfig::new(),
            strict.initial_size(4096),
            strict.spill(SpillPolicy::Reallocate).max_size(8192),
            strict.circular(2),
            strict
                .circular(3)
                .initial_size(3 * 1024)
                .spill(SpillPolicy::Reallocate)
                .steps_number(2),
        ];
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
                let buffer = if zeroed {
                    Buffer::zeroed(bytes)
                } else {
                    Buffer::recycled(bytes)
                };
                self.add(buffer.unwrap(), home, zeroed);
            }
            Step::AllocateIn(index, bytes) => {
                let buffer = Buffer::zeroed_in(&self.workspaces[index], bytes);
                assert_eq!(buffer.is_ok(), self.spaces[index].open);
                if let Ok(buffer) = buffer {
                    self.add(buffer, Some(index), true);
                }
            }
            Step::Detached(bytes) => self.add(Buffer::detached_zeroed(bytes).unwrap(), None, true),
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
                let buffer = scope_out(|| Buffer::zeroed(bytes)).unwrap();
                self.add(buffer, None, true);
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
            if space.size == 0 && self.workspaces[index].config().initial_size > 0 {
                space.size = self.workspaces[index].config().initial_size;
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
            space.learn(config, space.size == 0);
        }
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
                space.learn(config, space.size == 0);
                (space.this_cycle, space.offset) = (0, 0);
                if let Some(ring) = &mut space.ring {
                    ring.count();
                }
            }
        }
    }

    fn add(&mut self, buffer: Buffer, home: Option<usize>, zeroed: bool) {
        let bytes = buffer.len();
        assert_eq!(buffer.is_attached(), home.is_some());
        let mut pinned = false;
        if let Some(index) = home {
            let space = &mut self.spaces[index];
            let room = bytes.next_multiple_of(64);
            space.this_cycle += room;
            pinned = space.block == 0 || space.offset + room > space.block;
            match &mut space.ring {
                _ if !pinned => space.offset += room,
                Some(ring) => ring.pins.push((space.generation, room)),
                None => {}
            }
        }
        let fill = self.arrays.len() as u8;
        if zeroed {
            assert_eq!(buffer.read().unwrap().bytes(), vec![0; bytes]);
        } else {
            buffer.write().unwrap().bytes_mut().fill(fill);
        }
        self.arrays.push(Array {
            address: buffer.address(),
            buffer: Some(buffer),
            home: home.map(|index| (index, self.spaces[index].generation)),
            contents: vec![if zeroed { 0 } else { fill }; bytes],
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
    fn the_door_agrees_with_a_naive_model(steps in proptest::collection::vec(steps(), 1..60)) {
        let mut world = World::new();
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
