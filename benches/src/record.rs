//! What one workload gave: times, ratios and a verdict, and how they are written.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Ratios within this of 1 are ties: repeated runs differ by as much.
const TIE: f64 = 0.10;

/// Which workload: `ew.add.out 1e7 f32`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Key {
    /// Family and operation, `ew.add.out`.
    pub(crate) workload: String,
    /// `1e7` or `4096x1024`.
    pub(crate) size: String,
    /// `f32` or `f64`.
    pub(crate) dtype: String,
}

impl Key {
    /// The part before the first point.
    pub(crate) fn family(&self) -> &str {
        self.workload.split('.').next().unwrap_or_default()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.workload, self.size, self.dtype)
    }
}

/// What an entry is in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// What is measured.
    Ours,
    /// Another way of ours, not compared.
    Variant,
    /// What it is measured against.
    Rival,
}

/// Nanoseconds per operation, as they were measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// Samples during which the thread never waited for a core.
    pub(crate) calm: Vec<f64>,
    /// The others.
    pub(crate) disturbed: Vec<f64>,
}

impl Samples {
    /// Keeps one more.
    pub(crate) fn add(&mut self, nanoseconds: f64, calm: bool) {
        if calm {
            self.calm.push(nanoseconds);
        } else {
            self.disturbed.push(nanoseconds);
        }
    }

    /// The least of both kinds; infinity when there is none.
    pub(crate) fn least(&self) -> f64 {
        let all = self.calm.iter().chain(&self.disturbed);
        all.copied().fold(f64::INFINITY, f64::min)
    }

    /// How many there are of both kinds.
    pub(crate) fn count(&self) -> usize {
        self.calm.len() + self.disturbed.len()
    }
}

/// Nanoseconds per operation of one entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timing {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) minimum: f64,
    pub(crate) median: f64,
    /// How many samples minimum and median are of.
    pub(crate) samples: usize,
    /// How many samples were taken while the thread had to wait for a core.
    pub(crate) disturbed: usize,
}

/// From this many calm samples on, the disturbed ones are left out.
const ENOUGH: usize = 3;

impl Timing {
    /// Sums up samples, of which there is at least one.
    pub(crate) fn new(name: &str, role: Role, samples: &Samples) -> Timing {
        let Samples {
            calm: mut used,
            mut disturbed,
        } = samples.clone();
        let count = disturbed.len();
        if used.len() < ENOUGH {
            used.append(&mut disturbed);
        }
        used.sort_by(f64::total_cmp);
        Timing {
            name: name.to_owned(),
            role,
            minimum: used[0],
            median: used[used.len() / 2],
            samples: used.len(),
            disturbed: count,
        }
    }
}

/// Who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Faster,
    Level,
    Slower,
}

impl Verdict {
    /// One word for tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Level => "level",
            Verdict::Slower => "SLOWER",
        }
    }
}

/// The result of one workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    pub(crate) key: Key,
    pub(crate) threads: usize,
    /// The least nanoseconds the hardware allows, where known.
    pub(crate) limit: Option<f64>,
    /// The first is ours.
    pub(crate) timings: Vec<Timing>,
}

impl Record {
    /// The workload with its thread count.
    pub(crate) fn name(&self) -> String {
        format!("{} ({}t)", self.key, self.threads)
    }

    /// Our time: the first entry's.
    pub(crate) fn ours(&self) -> &Timing {
        &self.timings[0]
    }

    /// The rival with the least minimum.
    pub(crate) fn best_rival(&self) -> Option<&Timing> {
        let rivals = self.timings.iter().filter(|t| t.role == Role::Rival);
        rivals.min_by(|a, b| a.minimum.total_cmp(&b.minimum))
    }

    /// Our minimum divided by the best rival's; below 1 we are faster.
    pub(crate) fn ratio(&self) -> Option<f64> {
        Some(self.ours().minimum / self.best_rival()?.minimum)
    }

    /// The limit divided by our time: 1 is all that the hardware allows.
    pub(crate) fn share_of_limit(&self) -> Option<f64> {
        Some(self.limit? / self.ours().minimum)
    }

    /// Our median divided by the best rival's.
    pub(crate) fn median_ratio(&self) -> Option<f64> {
        Some(self.ours().median / self.best_rival()?.median)
    }

    /// Who won; differences within 10 % are ties.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        Some(match self.ratio()? {
            ratio if ratio > 1.0 + TIE => Verdict::Slower,
            ratio if ratio < 1.0 - TIE => Verdict::Faster,
            _ => Verdict::Level,
        })
    }
}

/// Nanoseconds for people: three digits and a unit.
pub(crate) fn duration(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        t if t < 999.5 => (t, "ns"),
        t if t < 999.5e3 => (t / 1e3, "µs"),
        t if t < 999.5e6 => (t / 1e6, "ms"),
        t => (t / 1e9, "s"),
    };
    let digits = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{Key, Record, Role, Samples, Timing, Verdict, duration};

    #[test]
    fn durations_have_three_digits() {
        let cases = [
            (1.234, "1.23 ns"),
            (999.6, "1.00 µs"),
            (45_678.0, "45.7 µs"),
            (123_456_789.0, "123 ms"),
            (2.5e9, "2.50 s"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(duration(nanoseconds), text);
        }
    }

    #[test]
    fn the_best_rival_decides() {
        let timing = |name, role, calm: &[f64]| {
            let calm = calm.to_vec();
            let disturbed = vec![0.1];
            Timing::new(name, role, &Samples { calm, disturbed })
        };
        let record = Record {
            key: Key {
                workload: "ew.add".to_owned(),
                size: "1e3".to_owned(),
                dtype: "f32".to_owned(),
            },
            threads: 1,
            limit: None,
            timings: vec![
                timing("ours", Role::Ours, &[3.0, 2.0, 4.0]),
                timing("another way", Role::Variant, &[0.5; 3]),
                timing("slow", Role::Rival, &[9.0; 3]),
                timing("quick", Role::Rival, &[1.0; 3]),
            ],
        };
        assert_eq!(record.ratio(), Some(2.0));
        assert_eq!(record.median_ratio(), Some(3.0));
        assert_eq!(record.verdict(), Some(Verdict::Slower));
        assert_eq!(record.name(), "ew.add 1e3 f32 (1t)");
        assert_eq!(record.key.family(), "ew");
    }
}
