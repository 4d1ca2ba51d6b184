//! The workspace cases of ND4J's own tests (W1 to W64, as far as they need no array operations) as scripts for one
//! interpreter.
//!
//! Their figures follow from one formula: an array of `n` elements of f32 takes `room(n)` bytes, its size rounded up to 64,
//! and a block made for `b` bytes has `b * (1 + over-allocation)` of them, rounded up to 64 and bounded by the minimum (unless
//! `b` is the initial size) and the maximum. ND4J rounds to 8, and not always, so the figures differ where sizes are no multiples of 64.
#![expect(clippy::unwrap_used, reason = "test code outside of test functions")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

use lodestride_buffer::*;

/// Bytes that `count` elements of f32 take in a workspace.
const fn room(count: usize) -> usize {
    (count * 4).next_multiple_of(64)
}

/// What a case does and expects, in order. Workspaces are named by their number in the case.
#[derive(Clone, Debug)]
enum Step {
    Open(usize),
    Borrow(usize),
    /// Closes what was opened or borrowed last.
    Close,
    /// An array of so many elements, which must be zeroed, belong to this workspace (`None`: to none), and be usable.
    Array(usize, Option<usize>),
    /// The same outside all workspaces.
    ScopedOut(usize),
    /// An allocation that the workspace must refuse.
    Refused(usize),
    /// Opens, allocates arrays of so many elements, closes.
    Cycle(usize, Vec<usize>),
    Initialize(usize),
    Size(usize, usize),
    Offset(usize, usize),
    Last(usize, usize),
    Max(usize, usize),
    Spilled(usize, usize),
    Current(Option<usize>),
    /// Whether the array with this number can be used: "", "leaked" or "outdated".
    Use(usize, &'static str),
}
use Step::*;

#[derive(Default)]
struct Run {
    workspaces: Vec<Workspace>,
    scopes: Vec<WorkspaceGuard>,
    arrays: Vec<Buffer>,
}

impl Run {
    /// What was found other than expected.
    fn step(&mut self, step: &Step) -> Option<String> {
        let stats = |workspace: &usize| self.workspaces[*workspace].stats();
        let differs = |found: usize, expected: &usize| {
            (found != *expected).then(|| format!("found {found}, expected {expected}"))
        };
        match step {
            Open(index) => self.scopes.push(self.workspaces[*index].enter().unwrap()),
            Borrow(index) => self.scopes.push(self.workspaces[*index].borrow().unwrap()),
            Close => self.scopes.pop().unwrap().close().unwrap(),
            Array(count, home) => return self.array(*count, *home),
            ScopedOut(count) => return scope_out(|| self.array(*count, None)),
            Refused(count) => {
                let result = Buffer::zeroed(count * 4);
                return (!matches!(result, Err(AllocError::WorkspaceFull(_))))
                    .then(|| "granted".to_owned());
            }
            Cycle(index, counts) => {
                let scope = self.workspaces[*index].enter().unwrap();
                let failed = counts
                    .iter()
                    .find_map(|count| self.array(*count, Some(*index)));
                scope.close().unwrap();
                return failed;
            }
            Initialize(index) => self.workspaces[*index].initialize().unwrap(),
            Size(index, bytes) => return differs(stats(index).size, bytes),
            Offset(index, bytes) => return differs(stats(index).offset, bytes),
            Last(index, bytes) => return differs(stats(index).last_cycle, bytes),
            Max(index, bytes) => return differs(stats(index).max_cycle, bytes),
            Spilled(index, bytes) => return differs(stats(index).spilled, bytes),
            Current(expected) => {
                let current = current_workspace();
                let fits = match expected {
                    None => current.is_none(),
                    Some(index) => current.is_some_and(|c| c.is_same(&self.workspaces[*index])),
                };
                return (!fits).then(|| "another workspace is current".to_owned());
            }
            Use(array, expected) => {
                let found = match self.arrays[*array].read() {
                    Ok(_) => "",
                    Err(AccessError::Leaked(_)) => "leaked",
                    Err(AccessError::Outdated(_)) => "outdated",
                    Err(_) => "another error",
                };
                return (found != *expected).then(|| format!("found {found:?}"));
            }
        }
        None
    }

    fn array(&mut self, count: usize, home: Option<usize>) -> Option<String> {
        let array = Buffer::zeroed(count * 4).unwrap();
        let at_home = match home {
            None => !array.is_attached(),
            Some(index) => array.is_attached_to(&self.workspaces[index]),
        };
        // As bytes, which Miri compares and fills much faster than floats.
        let zeroed = array.read().unwrap().bytes() == vec![0; count * 4];
        // The next array at this place must be zeroed all the same.
        array.write().unwrap().bytes_mut().fill(1);
        let fits = at_home && zeroed && array.is_in_scope();
        let text = (!fits).then(|| format!("array of {count}: {array:?}, zeroed {zeroed}"));
        self.arrays.push(array);
        text
    }
}

/// Runs every case; the failures of all of them.
fn check(cases: Vec<(&str, Vec<WorkspaceConfig>, Vec<Step>)>) {
    let mut failures = Vec::new();
    for (name, configs, steps) in cases {
        let mut run = Run::default();
        for (index, config) in configs.into_iter().enumerate() {
            let workspace = Workspace::with_config(format!("{name}/{index}"), config);
            run.workspaces.push(workspace);
        }
        for (number, step) in steps.iter().enumerate() {
            if let Some(text) = run.step(step) {
                failures.push(format!("{name} step {number} {step:?}: {text}"));
            }
        }
        assert!(run.scopes.is_empty(), "{name} leaves scopes open");
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

fn strict() -> WorkspaceConfig {
    WorkspaceConfig::new().allocation(AllocationPolicy::Strict)
}

/// The configurations of ND4J's tests.
fn basic() -> WorkspaceConfig {
    strict().initial_size(10 << 20).max_size(10 << 20)
}

fn loop_first() -> WorkspaceConfig {
    strict()
}

fn loop_over() -> WorkspaceConfig {
    strict().learning(LearningPolicy::OverTime)
}

fn doubling() -> WorkspaceConfig {
    WorkspaceConfig::new().overallocation(1.0)
}

#[test]
fn sizes_and_learning() {
    let growing = |first: u64| {
        loop_over()
            .cycles_before_init(first)
            .spill(SpillPolicy::Reallocate)
    };
    let tens = (10..=100).step_by(10);
    check(vec![
        (
            "W1",
            vec![doubling().initial_size(1024).learning(LearningPolicy::None)],
            vec![Size(0, 2048), Cycle(0, vec![]), Size(0, 2048)],
        ),
        (
            "W2",
            vec![doubling()],
            vec![Size(0, 0), Cycle(0, vec![100]), Size(0, 2 * room(100))],
        ),
        (
            "W3",
            vec![doubling().learning(LearningPolicy::OverTime)],
            tens.map(|count| Cycle(0, vec![count]))
                .chain([Size(0, 0), Initialize(0), Size(0, 2 * room(100))])
                .collect(),
        ),
        (
            "W4",
            vec![doubling().min_size(10 << 20)],
            vec![
                Open(0),
                Array(100, Some(0)),
                Size(0, 0),
                Close,
                Cycle(0, vec![100]),
                Size(0, 10 << 20),
            ],
        ),
        (
            "an initial size is no smaller for `min_size` than it is without",
            vec![strict().initial_size(1000).min_size(5000)],
            vec![Size(0, 1024), Cycle(0, vec![100]), Size(0, 1024)],
        ),
        (
            "W6",
            vec![
                strict()
                    .initial_size(1 << 20)
                    .max_size(1 << 20)
                    .spill(SpillPolicy::Fail),
            ],
            vec![
                Open(0),
                Array(5, Some(0)),
                Refused(10_000_000),
                Offset(0, room(5)),
                Array(5, Some(0)),
                Offset(0, 2 * room(5)),
                Close,
            ],
        ),
        (
            "W8: a sum needs no hidden array here, so it is not learned",
            vec![loop_over()],
            [Cycle(0, vec![10]), Initialize(0), Size(0, room(10))]
                .into_iter()
                .chain((0..10).flat_map(|_| {
                    [
                        Open(0),
                        Array(10, Some(0)),
                        Offset(0, room(10)),
                        Close,
                        Offset(0, 0),
                    ]
                }))
                .collect(),
        ),
        (
            "W9",
            vec![loop_over()],
            (1..=100)
                .flat_map(|count| [Cycle(0, vec![count]), Offset(0, 0), Size(0, 0)])
                .chain([
                    Initialize(0),
                    Size(0, room(100)),
                    Open(0),
                    Array(10, Some(0)),
                    Offset(0, room(10)),
                    Close,
                ])
                .collect(),
        ),
        (
            "W10",
            vec![loop_first()],
            vec![
                Cycle(0, vec![100, 10]),
                Size(0, room(100) + room(10)),
                Offset(0, 0),
            ],
        ),
        (
            "W11",
            vec![loop_first()],
            vec![
                Cycle(0, vec![100, 100]),
                Size(0, 2 * room(100)),
                Open(0),
                Array(100, Some(0)),
                Offset(0, room(100)),
                Close,
                Offset(0, 0),
                Last(0, room(100)),
                Max(0, 2 * room(100)),
            ],
        ),
        (
            "W12: switching workspaces off is scoping out",
            vec![loop_first()],
            vec![
                Open(0),
                Array(100, Some(0)),
                ScopedOut(100),
                Array(100, Some(0)),
                Close,
                Size(0, 2 * room(100)),
                Open(0),
                Array(100, Some(0)),
                Offset(0, room(100)),
                ScopedOut(100),
                Array(100, Some(0)),
                Offset(0, 2 * room(100)),
                Close,
            ],
        ),
        (
            "W38",
            vec![loop_over()],
            vec![
                Cycle(0, vec![100]),
                Initialize(0),
                Size(0, room(100)),
                Cycle(0, vec![1000]),
                Initialize(0),
                Size(0, room(100)),
            ],
        ),
        (
            "W39",
            vec![loop_over().cycles_before_init(3)],
            (1..10)
                .map(|turn| Cycle(0, vec![100 * turn]))
                .chain([Size(0, room(300))])
                .collect(),
        ),
        (
            "W43",
            vec![growing(0)],
            vec![
                Cycle(0, vec![100]),
                Initialize(0),
                Size(0, room(100)),
                Cycle(0, vec![1000]),
                Max(0, room(1000)),
                Initialize(0),
                Size(0, room(1000)),
                Open(0),
                Array(500, Some(0)),
                Spilled(0, 0),
                Offset(0, room(500)),
                Close,
            ],
        ),
        (
            "W44",
            vec![growing(3)],
            (1..=10)
                .flat_map(|turn| {
                    let size = if turn < 3 { 0 } else { room(100 * turn) };
                    [Cycle(0, vec![100 * turn]), Size(0, size)]
                })
                .collect(),
        ),
        (
            "W45",
            vec![growing(0)],
            (1..=3)
                .map(|turn| Cycle(0, vec![100 * turn]))
                .chain([Initialize(0), Size(0, room(300))])
                .chain((4..=10).map(|turn| Cycle(0, vec![100 * turn])))
                .chain((1..=10).rev().map(|turn| Cycle(0, vec![100 * turn])))
                .chain([Size(0, room(1000))])
                .collect(),
        ),
    ]);
}

#[test]
fn scopes_and_generations() {
    check(vec![
        (
            "W13, W15, W17",
            vec![basic()],
            vec![
                Open(0),
                Array(5, Some(0)),
                Use(0, ""),
                Close,
                Current(None),
                Use(0, "leaked"),
                Array(5, None),
                Use(1, ""),
            ],
        ),
        (
            "W16: the same when the first cycle spilled it",
            vec![loop_first()],
            vec![
                Open(0),
                Array(100, Some(0)),
                Spilled(0, room(100)),
                Size(0, 0),
                Close,
                Spilled(0, 0),
                Use(0, "leaked"),
                Open(0),
                Array(100, Some(0)),
                Offset(0, room(100)),
                Use(0, "outdated"),
                Close,
            ],
        ),
        (
            "W25",
            vec![basic()],
            vec![
                Open(0),
                Array(5, Some(0)),
                ScopedOut(5),
                Offset(0, room(5)),
                Current(Some(0)),
                Array(5, Some(0)),
                Offset(0, 2 * room(5)),
                Close,
                Use(1, ""),
            ],
        ),
        (
            "W58, W59",
            vec![basic()],
            vec![
                Cycle(0, vec![5]),
                Use(0, "leaked"),
                Open(0),
                Use(0, "outdated"),
                Close,
            ],
        ),
        (
            "W60",
            vec![basic(), basic()],
            vec![
                Open(0),
                Array(5, Some(0)),
                Open(1),
                Use(0, ""),
                Close,
                Use(0, ""),
                Close,
            ],
        ),
    ]);
}

#[test]
fn nesting_and_borrowing() {
    let self_nested = (0..9).map(|_| Open(0)).chain([Borrow(0)]);
    let unwound = (0..10).map(|_| Close);
    check(vec![
        (
            "W31",
            vec![basic(), basic()],
            vec![
                Open(0),
                Array(100, Some(0)),
                Offset(0, room(100)),
                Open(1),
                Offset(1, 0),
                Array(100, Some(1)),
                Offset(1, room(100)),
                Offset(0, room(100)),
                Close,
                Close,
                Offset(0, 0),
                Current(None),
            ],
        ),
        (
            "W32",
            vec![basic(), loop_over()],
            [Open(0)]
                .into_iter()
                .chain((1..=100).flat_map(|x| [Cycle(1, vec![x]), Last(1, room(x))]))
                .chain([Initialize(1), Size(1, room(100)), Close])
                .collect(),
        ),
        (
            "W33",
            vec![basic(), basic(), basic()],
            vec![
                Open(0),
                Array(100, Some(0)),
                Cycle(1, vec![100]),
                Cycle(2, vec![100]),
                Offset(1, 0),
                Array(100, Some(0)),
                Offset(0, 2 * room(100)),
                Close,
            ],
        ),
        (
            "W34",
            vec![basic(), basic(), basic()],
            vec![
                Open(0),
                Array(100, Some(0)),
                Open(1),
                Array(100, Some(1)),
                Open(2),
                Array(100, Some(2)),
                Close,
                Array(100, Some(1)),
                Offset(1, 2 * room(100)),
                Close,
                Array(100, Some(0)),
                Offset(0, 2 * room(100)),
                Close,
                Offset(0, 0),
                Offset(1, 0),
                Offset(2, 0),
                Current(None),
            ],
        ),
        (
            "W35",
            vec![basic()],
            vec![
                Open(0),
                Array(100, Some(0)),
                Cycle(0, vec![100]),
                Offset(0, 2 * room(100)),
                Array(100, Some(0)),
                Offset(0, 3 * room(100)),
                Use(0, ""),
                Close,
                Offset(0, 0),
            ],
        ),
        (
            "W36, W37",
            vec![loop_first(), loop_first()],
            vec![
                Open(0),
                Open(1),
                Borrow(0),
                Current(Some(0)),
                Array(100, Some(0)),
                ScopedOut(100),
                Current(Some(0)),
                Array(100, Some(0)),
                Close,
                Current(Some(1)),
                Size(0, 0),
                Close,
                Close,
                Size(0, 2 * room(100)),
            ],
        ),
        (
            "W40",
            vec![basic()],
            self_nested.chain(unwound).chain([Current(None)]).collect(),
        ),
        (
            "W41, W42",
            vec![basic(), basic()],
            vec![
                Open(0),
                Array(5, Some(0)),
                Open(1),
                Array(5, Some(1)),
                Borrow(0),
                Current(Some(0)),
                Array(5, Some(0)),
                Close,
                Current(Some(1)),
                Offset(0, 2 * room(5)),
                Offset(1, room(5)),
                Close,
                Close,
            ],
        ),
    ]);
}

#[test]
fn threads_and_names() {
    // W54, W55: each thread has its own workspace of a name, and the same one each time.
    let threads: Vec<_> = (0..20)
        .map(|_| {
            std::thread::spawn(|| {
                let first = thread_workspace("DEFAULT", WorkspaceConfig::new());
                assert!(first.is_same(&thread_workspace("DEFAULT", WorkspaceConfig::new())));
                assert!(!first.is_same(&Workspace::new("DEFAULT")));
                assert_eq!(thread_workspaces().len(), 1);
                first
            })
        })
        .collect();
    let own: Vec<Workspace> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    for (index, workspace) in own.iter().enumerate() {
        let same = own.iter().filter(|other| other.is_same(workspace)).count();
        assert_eq!(same, 1, "thread {index}");
    }
    assert!(all_workspaces().len() >= 20);
    assert!(
        find_thread_workspace("DEFAULT").is_none(),
        "it is the threads'"
    );
    let open = thread_workspace("OPEN", WorkspaceConfig::new());
    let scope = open.enter().unwrap();
    assert!(find_thread_workspace("OPEN").is_some_and(|found| found.is_open_here()));
    let error = destroy_thread_workspaces().unwrap_err();
    assert!(matches!(error, WorkspaceError::StillOpen { .. }), "{error}");
    assert_eq!(thread_workspaces().len(), 1);
    scope.close().unwrap();
    assert!(find_thread_workspace("OPEN").is_some_and(|found| !found.is_open_here()));
    destroy_thread_workspaces().unwrap();
    assert!(thread_workspaces().is_empty() && find_thread_workspace("OPEN").is_none());
}

/// What ND4J's `WorkspaceUtils` asserts, of workspaces that are closed, open, current, borrowed, or open on another thread.
#[test]
fn what_must_be_open_or_current() {
    let (outer, inner) = (Workspace::new("OUTER"), Workspace::new("INNER"));
    // 0: not open, 1: open, 2: current.
    let state = |workspace: &Workspace| {
        let (open, current) = (workspace.expect_open(), workspace.expect_current());
        assert_eq!(open.is_ok(), workspace.is_open_here());
        assert_eq!(current.is_ok(), workspace.is_current());
        let name = || workspace.name().clone();
        match (open, current) {
            (Ok(()), Ok(())) => 2,
            (Ok(()), Err(error)) => {
                let current = current_workspace().map(|open| open.name().clone());
                assert_eq!(
                    error,
                    WorkspaceError::NotCurrent {
                        workspace: name(),
                        current
                    }
                );
                1
            }
            (Err(first), Err(second)) => {
                assert_eq!(first, WorkspaceError::NotOpen { workspace: name() });
                assert_eq!(second, first);
                0
            }
            (Err(_), Ok(())) => panic!("current and not open"),
        }
    };
    let states = || (state(&outer), state(&inner));
    assert_eq!(states(), (0, 0));
    let first = outer.enter().unwrap();
    assert_eq!(states(), (2, 0));
    let second = inner.enter().unwrap();
    assert_eq!(states(), (1, 2));
    let borrow = outer.borrow().unwrap();
    assert_eq!(states(), (2, 1));
    assert_eq!(scope_out(states), (1, 1));
    let elsewhere = std::thread::scope(|threads| threads.spawn(|| outer.is_open_here()).join());
    assert!(!elsewhere.unwrap() && outer.is_open());
    borrow.close().unwrap();
    second.close().unwrap();
    let error = inner
        .scope(|_| outer.expect_current())
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "workspace [OUTER] is open but not current; current is [INNER]"
    );
    first.close().unwrap();
    assert_eq!(states(), (0, 0));
}

/// The memory of an initial size is there from the beginning; a refusal shows when the workspace is opened.
#[test]
fn initial_sizes_are_allocated_at_once() {
    std::thread::spawn(|| {
        let before = memory::thread_stats().workspace_bytes;
        let workspace = Workspace::with_config("EAGER", strict().initial_size(1 << 20));
        assert_eq!(workspace.stats().size, 1 << 20);
        let held = || memory::thread_stats().workspace_bytes - before;
        assert_eq!(held(), 1 << 20);
        workspace.scope(|_| drop(Buffer::zeroed(400))).unwrap();
        assert_eq!(held(), 1 << 20, "the same block");
        workspace.destroy().unwrap();
        assert_eq!((workspace.stats().size, held()), (0, 0));
        workspace.scope(|_| ()).unwrap();
        assert_eq!((workspace.stats().size, held()), (1 << 20, 1 << 20));
        drop(workspace);
        assert_eq!(held(), 0);
    })
    .join()
    .unwrap();
    // More than is ever asked of the system.
    let impossible = Workspace::with_config("HUGE", strict().initial_size(1 << 63));
    assert_eq!(impossible.stats().size, 0);
    assert_eq!(impossible.config().initial_block_size(), 1 << 63);
    let error = impossible.enter().unwrap_err();
    assert!(matches!(error, WorkspaceError::Alloc { .. }), "{error}");
}
