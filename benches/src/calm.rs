//! Whether a stretch of time was ours: Linux counts how long a thread was ready and had to wait for a core.

use std::fs::File;
use std::io::{Read, Seek};

/// Reads the scheduler's account of the thread that opened it. Where there is none, every stretch counts as calm.
#[derive(Debug)]
pub(crate) struct Scheduler {
    account: Option<File>,
}

/// Nanoseconds since the thread began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    ran: u64,
    waited: u64,
}

impl Scheduler {
    /// The account of the calling thread.
    pub(crate) fn of_this_thread() -> Scheduler {
        Scheduler {
            account: File::open("/proc/thread-self/schedstat").ok(),
        }
    }

    /// The account now.
    pub(crate) fn read(&mut self) -> Option<Account> {
        let file = self.account.as_mut()?;
        file.rewind().ok()?;
        let mut text = [0; 80];
        let length = file.read(&mut text).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        let mut numbers = text.split_whitespace().map(str::parse);
        Some(Account {
            ran: numbers.next()?.ok()?,
            waited: numbers.next()?.ok()?,
        })
    }
}

impl Account {
    /// The share of the thread's life that it spent waiting.
    pub(crate) fn share_waited(self) -> f64 {
        self.waited as f64 / (self.ran + self.waited).max(1) as f64
    }

    /// Whether the thread never waited between an earlier account and this one.
    pub(crate) fn calm_since(self, earlier: Account) -> bool {
        self.waited == earlier.waited
    }
}
