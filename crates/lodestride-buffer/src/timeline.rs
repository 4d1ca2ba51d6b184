//! What happened in a workspace, in order: openings, allocations, spills, sizes, stale uses, each with its source line.
//! Nothing is recorded until it is asked for; the drawing is `timeline_svg.rs`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::workspace::{Workspace, WorkspaceName};

/// The events of one workspace: see [`Workspace::timeline`]. Prints as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The workspace.
    pub workspace: WorkspaceName,
    /// The events, oldest first.
    pub events: Vec<TimelineEvent>,
    /// How many older events there were no room for.
    pub lost: u64,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineEvent {
    /// The time since the recording began.
    pub time: Duration,
    /// The generation of the workspace; of a stale use, that of the array.
    pub generation: u64,
    /// The user's line, where it is known.
    pub place: Option<&'static Location<'static>>,
    /// What it was.
    pub kind: TimelineKind,
}

/// What can happen to a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimelineKind {
    /// It was opened.
    Opened,
    /// It was closed, after this many bytes were allocated.
    Closed {
        /// Bytes of the cycle.
        bytes: usize,
    },
    /// An array was allocated.
    Allocated {
        /// Bytes asked for.
        bytes: usize,
        /// Whether the block had no room for it.
        spilled: bool,
    },
    /// It was given another size.
    Resized {
        /// Size before.
        from: usize,
        /// Size now.
        to: usize,
    },
    /// An array of an earlier generation was used, which was an error.
    StaleUse {
        /// True if the workspace had moved on, false if it was closed.
        outdated: bool,
        /// Where the array was made.
        allocated_at: &'static Location<'static>,
        /// The generation it would have had to be of.
        current_generation: u64,
    },
}

/// Where a workspace and its arrays write their events.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    on: AtomicBool,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    began: Option<Instant>,
    events: VecDeque<TimelineEvent>,
    /// How many events are kept.
    limit: usize,
    lost: u64,
}

thread_local! {
    /// The stale use this thread recorded last, to be given a line by who knows it: the log and the number of the event.
    static STALE: RefCell<Option<(Weak<Recorder>, u64)>> = const { RefCell::new(None) };
}

impl Recorder {
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an event; its number.
    #[cold]
    fn record(
        &self,
        generation: u64,
        place: Option<&'static Location<'static>>,
        kind: TimelineKind,
    ) -> u64 {
        let mut log = self.log();
        let time = log.began.map_or(Duration::ZERO, |began| began.elapsed());
        log.events.push_back(TimelineEvent {
            time,
            generation,
            place,
            kind,
        });
        while log.events.len() > log.limit {
            log.events.pop_front();
            log.lost += 1;
        }
        log.lost + log.events.len() as u64
    }

    pub(crate) fn note(
        &self,
        generation: u64,
        place: Option<&'static Location<'static>>,
        kind: TimelineKind,
    ) {
        if self.is_on() {
            self.record(generation, place, kind);
        }
    }

    /// Records a stale use, whose line [`note_stale_use`] may add.
    pub(crate) fn note_stale(self: &Arc<Self>, generation: u64, kind: TimelineKind) {
        if self.is_on() {
            let number = self.record(generation, None, kind);
            let _ending = STALE.try_with(|stale| {
                *stale.borrow_mut() = Some((Arc::downgrade(self), number));
            });
        }
    }
}

/// Gives the stale use that this thread met last the line of the user's code, if it is being recorded and has none yet: who
/// words the error knows it.
#[cold]
pub fn note_stale_use(place: &'static Location<'static>) {
    let last = STALE.try_with(RefCell::take).ok().flatten();
    if let Some((recorder, number)) = last
        && let Some(recorder) = recorder.upgrade()
    {
        let mut log = recorder.log();
        // Events are counted from 1, and the oldest kept is the one after those that were lost.
        let index = number.checked_sub(log.lost + 1);
        if let Some(event) = index.and_then(|index| log.events.get_mut(index as usize)) {
            event.place = Some(place);
        }
    }
}

impl Workspace {
    /// Begins to record what happens in this workspace from the next opening on, the last `events` events; 0 ends recording
    /// and forgets them.
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, Workspace};
    /// let workspace = Workspace::new("LOOP");
    /// workspace.record_timeline(1000);
    /// let leaked = workspace.scope(|_| Buffer::zeroed(400))??;
    /// assert!(leaked.read().is_err());
    /// let text = workspace.timeline().to_string();
    /// assert!(text.contains("spilled 400 bytes") && text.contains("leaked use"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record_timeline(&self, events: usize) {
        let recorder = self.arena().timeline();
        *recorder.log() = Log {
            began: Some(Instant::now()),
            limit: events,
            ..Log::default()
        };
        recorder.on.store(events > 0, Ordering::Relaxed);
    }

    /// What was recorded so far.
    pub fn timeline(&self) -> Timeline {
        let log = self.arena().timeline().log();
        Timeline {
            workspace: self.name().clone(),
            events: log.events.iter().copied().collect(),
            lost: log.lost,
        }
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "workspace [{}]: {} events",
            self.workspace,
            self.events.len()
        )?;
        if self.lost > 0 {
            writeln!(f, "({} older events were not kept)", self.lost)?;
        }
        for event in &self.events {
            let micros = event.time.as_nanos() as f64 / 1e3;
            write!(
                f,
                "{micros:>12.1} us  generation {:<6} {}",
                event.generation, event.kind
            )?;
            if let Some(place) = event.place {
                write!(f, "  at {place}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for TimelineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimelineKind::Opened => f.write_str("opened"),
            TimelineKind::Closed { bytes } => write!(f, "closed after {bytes} bytes"),
            TimelineKind::Allocated { bytes, spilled } => {
                let verb = if *spilled { "spilled" } else { "allocated" };
                write!(f, "{verb} {bytes} bytes")
            }
            TimelineKind::Resized { from, to } => write!(f, "resized from {from} to {to} bytes"),
            TimelineKind::StaleUse {
                outdated,
                allocated_at,
                current_generation,
            } => {
                let kind = if *outdated { "outdated" } else { "leaked" };
                write!(
                    f,
                    "{kind} use in generation {current_generation} of an array made at {allocated_at}"
                )
            }
        }
    }
}
