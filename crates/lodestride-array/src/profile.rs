//! What was called how often and how long it took: [`Profile`], a table by operation. The switch is in `checks`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lodestride_shape::Order;

use crate::NdArray;
use crate::checks::Checks;

/// What is known about the calls of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OpStatistics {
    /// Name of the operation, as errors have it.
    pub op: &'static str,
    /// Number of calls.
    pub calls: u64,
    /// Time in all of them.
    pub time: Duration,
    /// The longest call.
    pub longest: Duration,
    /// Bytes of elements read and written.
    pub bytes: u64,
    /// Calls whose arrays lie in different orders, C and F, which is slower than one order.
    pub mixed_order: u64,
    /// Calls with an array whose elements do not lie without gaps in either order.
    pub strided: u64,
}

impl OpStatistics {
    /// Billions of bytes read and written in a second.
    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.time.as_nanos().max(1) as f64
    }

    fn add(&mut self, op: &'static str, call: &Call) {
        self.op = op;
        self.calls += 1;
        self.time += call.time;
        self.longest = self.longest.max(call.time);
        self.bytes += call.bytes;
        self.mixed_order += u64::from(call.mixed_order);
        self.strided += u64::from(call.strided);
    }
}

/// One call of an operation.
pub(crate) struct Call {
    time: Duration,
    bytes: u64,
    mixed_order: bool,
    strided: bool,
}

impl Call {
    pub(crate) fn new(time: Duration, inputs: &[&NdArray], made: &[NdArray]) -> Call {
        let arrays = || inputs.iter().copied().chain(made);
        let has = |order| arrays().any(|a| a.rank() > 1 && a.order() == Some(order) && !is_both(a));
        Call {
            time,
            bytes: arrays().map(|a| (a.len() * a.dtype().size()) as u64).sum(),
            mixed_order: has(Order::C) && has(Order::F),
            strided: arrays().any(|a| a.order().is_none()),
        }
    }
}

/// Whether C and F order are the same for this array.
fn is_both(array: &NdArray) -> bool {
    array.layout().is_contiguous(Order::C) && array.layout().is_contiguous(Order::F)
}

type Table = HashMap<&'static str, OpStatistics>;

static PROCESS: Mutex<Option<Table>> = Mutex::new(None);

thread_local! {
    /// The profiles that are being made on this thread, the innermost last.
    static OPEN: RefCell<Vec<Table>> = const { RefCell::new(Vec::new()) };
}

/// Whether a profile is being made on this thread.
pub(crate) fn is_recording() -> bool {
    OPEN.with_borrow(|open| !open.is_empty())
}

/// Adds a call to the profile of the process, if it is wanted there, and to those of this thread.
pub(crate) fn record(for_process: bool, op: &'static str, call: &Call) {
    if for_process {
        let mut table = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        table
            .get_or_insert_default()
            .entry(op)
            .or_default()
            .add(op, call);
    }
    OPEN.with_borrow_mut(|open| {
        for table in open {
            table.entry(op).or_default().add(op, call);
        }
    });
}

/// How often every operation was called, how long it took and what it moved; prints as a table.
///
/// An operation is one row under the name that its errors have; what it calls itself is part of it. Methods that only put
/// others together, [`roll_flat`](NdArray::roll_flat) and the like, show as those. Making views, elements read and written one
/// by one, and memory that is zeroed or adopted are no operations.
///
/// ```
/// use lodestride_array::{NdArray, Profile};
///
/// let a = NdArray::ones([100, 100])?;
/// let (sum, profile) = Profile::of(|| a.add(&a).and_then(|b| b.mul(2.0)).and_then(|c| c.sum(..)));
/// assert_eq!(sum?.item::<f32>()?, 40_000.0);
/// let adding = profile.get("add").unwrap();
/// assert_eq!((adding.calls, adding.bytes), (1, 3 * 40_000));
/// println!("{profile}");
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(alias = "OpProfiler")]
pub struct Profile {
    rows: Vec<OpStatistics>,
}

impl Profile {
    /// Runs a closure and tells what it called on this thread.
    pub fn of<R>(body: impl FnOnce() -> R) -> (R, Profile) {
        /// Takes the table away again, also when the closure panics.
        struct Open(usize);
        impl Drop for Open {
            fn drop(&mut self) {
                OPEN.with_borrow_mut(|open| open.truncate(self.0));
            }
        }
        let depth = OPEN.with_borrow_mut(|open| {
            open.push(Table::new());
            open.len() - 1
        });
        let open = Open(depth);
        // A scope makes operations look at all; the checks that hold here stay.
        let value = Checks::current().scope(body);
        let table = OPEN.with_borrow_mut(|open| open.pop()).unwrap_or_default();
        drop(open);
        (value, Profile::from_table(&table))
    }

    /// What all threads called while [`Checks::profile`] was on, since the last [`reset`](Self::reset).
    #[doc(alias = "printOutDashboard")]
    pub fn of_process() -> Profile {
        let table = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        table.as_ref().map(Profile::from_table).unwrap_or_default()
    }

    /// Forgets what [`of_process`](Self::of_process) has.
    pub fn reset() {
        *PROCESS.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn from_table(table: &Table) -> Profile {
        let mut rows: Vec<OpStatistics> = table.values().copied().collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.time), row.op));
        Profile { rows }
    }

    /// The operations, those that took longest first.
    pub fn rows(&self) -> &[OpStatistics] {
        &self.rows
    }

    /// One operation.
    pub fn get(&self, op: &str) -> Option<&OpStatistics> {
        self.rows.iter().find(|row| row.op == op)
    }

    /// Time in all operations.
    pub fn time(&self) -> Duration {
        self.rows.iter().map(|row| row.time).sum()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return f.write_str("no operation was called");
        }
        let all = self.time().as_nanos().max(1) as f64;
        let width = self
            .rows
            .iter()
            .map(|row| row.op.len())
            .max()
            .unwrap_or(0)
            .max(9);
        write!(
            f,
            "{:width$}  {:>9}  {:>9}  {:>6}  {:>9}  {:>9}  {:>9}  {:>6}  {:>7}  {:>7}",
            "operation",
            "calls",
            "time",
            "share",
            "per call",
            "longest",
            "bytes",
            "GB/s",
            "mixed",
            "strided"
        )?;
        for row in &self.rows {
            let share = 100.0 * row.time.as_nanos() as f64 / all;
            let per_call = row.time / u32::try_from(row.calls.max(1)).unwrap_or(u32::MAX);
            write!(
                f,
                "\n{:width$}  {:>9}  {:>9}  {share:>5.1}%  {:>9}  {:>9}  {:>9}  {:>6.2}  {:>7}  {:>7}",
                row.op,
                row.calls,
                time(row.time),
                time(per_call),
                time(row.longest),
                bytes(row.bytes),
                row.gigabytes_per_second(),
                row.mixed_order,
                row.strided,
            )?;
        }
        Ok(())
    }
}

/// `1.23 ms`.
fn time(time: Duration) -> String {
    scaled(time.as_nanos() as f64, &["ns", "µs", "ms", "s"])
}

/// `1.23 MB`.
fn bytes(count: u64) -> String {
    scaled(count as f64, &["B", "kB", "MB", "GB", "TB"])
}

/// A number with three digits in the largest unit of which there is at least one.
fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => 0,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_aligned_and_in_units_that_are_read() {
        let row = |op, calls, nanos, count| OpStatistics {
            op,
            calls,
            time: Duration::from_nanos(nanos),
            longest: Duration::from_nanos(nanos / 2),
            bytes: count,
            ..OpStatistics::default()
        };
        let profile = Profile {
            rows: vec![
                row("mmul", 3, 30_000_000, 12_000_000),
                row("add", 12, 999, 999),
            ],
        };
        let expected = "\
operation      calls       time   share   per call    longest      bytes    GB/s    mixed  strided
mmul               3    30.0 ms  100.0%    10.0 ms    15.0 ms    12.0 MB    0.40        0        0
add               12     999 ns    0.0%      83 ns     499 ns      999 B    1.00        0        0";
        assert_eq!(profile.to_string(), expected);
        assert_eq!(Profile::default().to_string(), "no operation was called");
        assert_eq!(scaled(999.6, &["ns", "µs"]), "1.00 µs");
    }
}
