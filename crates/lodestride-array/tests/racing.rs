//! Operations on several threads while another one opens, fills, closes and destroys the arrays' workspace: each gives the
//! result of its own generation or says that the array is stale; none sees recycled memory. Also run under the address and
//! the thread sanitizer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use lodestride_array::{
    AccessError, ArrayError, DType, NdArray, Workspace, WorkspaceConfig, scope_out,
};

const TURNS: usize = 150;
const READERS: usize = 3;

/// An operation on an array full of one value, and what it gives.
type Reading = (
    &'static str,
    fn(&NdArray) -> Result<f64, ArrayError>,
    fn(f64) -> f64,
);

const READINGS: &[Reading] = &[
    ("sum", |a| a.sum_number(), |value| 48.0 * value),
    ("max", |a| a.max(0)?.get_f64([1]), |value| value),
    ("add", |a| a.add(a)?.get_f64([5, 7]), |value| 2.0 * value),
    (
        "transpose",
        |a| a.transpose().mul(3)?.get_f64([0, 0]),
        |value| 3.0 * value,
    ),
    (
        "mmul",
        |a| a.mmul(&a.transpose())?.get_f64([0, 1]),
        |value| 8.0 * value * value,
    ),
    ("sort", |a| a.sort(1)?.get_f64([2, 3]), |value| value),
    ("dup", |a| a.dup()?.get_f64([3, 3]), |value| value),
    ("detach", |a| a.detach()?.get_f64([3, 3]), |value| value),
    ("row", |a| a.row(2)?.sum_number(), |value| 8.0 * value),
    (
        "cast",
        |a| a.cast(DType::F64)?.get_f64([0, 0]),
        |value| value,
    ),
    (
        "concat",
        |a| NdArray::concat(&[a, a], 0)?.sum_number(),
        |value| 96.0 * value,
    ),
    (
        "view",
        |a| Ok(a.view::<f32>()?.iter().map(|x| f64::from(*x)).sum()),
        |value| 48.0 * value,
    ),
];

/// What the readers have in common.
#[derive(Default)]
struct Race {
    shared: Mutex<Vec<(usize, NdArray)>>,
    done: AtomicBool,
    granted: AtomicUsize,
    refused: AtomicUsize,
}

impl Race {
    /// Reads what is shared until it is told to stop, and once more then.
    fn read_on(&self) {
        loop {
            let done = self.done.load(Ordering::Acquire);
            let arrays = self.shared.lock().expect("no thread has failed").clone();
            for (value, array) in &arrays {
                for (name, read, expected) in READINGS {
                    match read(array) {
                        Ok(found) => {
                            assert_eq!(found, expected(*value as f64), "{name} in turn {value}");
                            self.granted.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => {
                            let stale = matches!(
                                error.kind().access(),
                                Some((_, _, AccessError::Leaked(_) | AccessError::Outdated(_)))
                            );
                            assert!(stale, "{name} in turn {value}: {error}");
                            self.refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            }
            if done {
                return;
            }
            drop(arrays);
            thread::yield_now();
        }
    }

    /// Gives the readers time, in the first turn until one of them has read something.
    fn wait(&self, turn: usize) {
        thread::yield_now();
        while turn == 0 && self.granted.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
    }
}

/// Runs the readers beside an owner that does this in each turn.
fn race(turn: impl Fn(usize, &Race)) {
    let race = Race::default();
    thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| race.read_on());
        }
        for value in 0..TURNS {
            turn(value, &race);
        }
        race.done.store(true, Ordering::Release);
    });
    assert!(
        race.granted.load(Ordering::Relaxed) > 0,
        "somebody came in time"
    );
    assert!(
        race.refused.load(Ordering::Relaxed) > 0,
        "somebody came too late"
    );
}

fn filled(value: usize) -> NdArray {
    NdArray::full_of(DType::F32, [6, 8], value as f64).expect("memory")
}

#[test]
fn operations_race_with_a_workspace() {
    let workspace = Workspace::new("RACED");
    race(|value, race| {
        workspace
            .scope(|_| {
                // More than the block holds now and then, so that spilled arrays are read as well.
                let count = if value % 7 == 0 { 6 } else { 2 };
                let arrays = (0..count).map(|_| (value, filled(value))).collect();
                *race.shared.lock().expect("no thread has failed") = arrays;
                race.wait(value);
            })
            .expect("opens and closes");
        if value % 11 == 0 {
            workspace.destroy().expect("closed");
        }
    });
    assert_eq!(workspace.stats().pinned, 0, "no guard is left");
}

#[test]
fn operations_race_with_a_circular_workspace() {
    let workspace = Workspace::with_config("CIRCLED", WorkspaceConfig::new().circular(3));
    race(|value, race| {
        let array = workspace
            .scope(|_| filled(value))
            .expect("opens and closes");
        let mut arrays = race.shared.lock().expect("no thread has failed");
        arrays.push((value, array));
        // Two more than have blocks, so that the last ones are stale.
        if arrays.len() > 5 {
            arrays.remove(0);
        }
        drop(arrays);
        race.wait(value);
    });
}

#[test]
fn operations_race_with_a_writer_on_the_heap() {
    // A writer excludes readers and readers a writer: whoever is second is told so, and nobody sees half a change.
    let shared = scope_out(|| filled(0));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    match shared.to_f64_vec() {
                        Ok(values) => assert!(values.iter().all(|value| *value == values[0])),
                        Err(error) => assert!(matches!(
                            error.kind().access(),
                            Some((_, _, AccessError::InUse(_)))
                        )),
                    }
                    thread::yield_now();
                }
            });
        }
        let mut changes = 0;
        while changes < TURNS {
            changes += usize::from(shared.addi(1).is_ok());
            thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(shared.get_f64([0, 0]).expect("nobody else"), TURNS as f64);
}
