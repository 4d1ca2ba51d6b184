//! What one workload gave: times, ratios and a verdict, and how they are written.

/// Ratios within this of 1 are ties: repeated runs differ by as much.
const TIE: f64 = 0.10;

/// What an entry is in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// What is measured.
    Ours,
    /// Another way of ours, not compared.
    Variant,
    /// What it is measured against.
    Rival,
}

/// Nanoseconds per operation of one entry.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) minimum: f64,
    pub(crate) median: f64,
    pub(crate) samples: usize,
}

impl Timing {
    /// Sums up samples, of which there is at least one.
    pub(crate) fn new(name: &'static str, role: Role, mut samples: Vec<f64>) -> Timing {
        samples.sort_by(f64::total_cmp);
        Timing {
            name,
            role,
            minimum: samples[0],
            median: samples[samples.len() / 2],
            samples: samples.len(),
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
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) timings: Vec<Timing>,
    /// The least nanoseconds the hardware allows, where known.
    pub(crate) limit: Option<f64>,
}

impl Record {
    /// A result without a limit.
    pub(crate) fn new(name: String, timings: Vec<Timing>) -> Record {
        Record {
            name,
            timings,
            limit: None,
        }
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

    /// The same of medians.
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
    use super::{Record, Role, Timing, Verdict, duration};

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
        let timing = |name, role, samples: &[f64]| Timing::new(name, role, samples.to_vec());
        let record = Record::new(
            "add".to_owned(),
            vec![
                timing("ours", Role::Ours, &[3.0, 2.0, 4.0]),
                timing("another way", Role::Variant, &[0.5]),
                timing("slow", Role::Rival, &[9.0]),
                timing("quick", Role::Rival, &[1.0]),
            ],
        );
        assert_eq!(record.ratio(), Some(2.0));
        assert_eq!(record.median_ratio(), Some(3.0));
        assert_eq!(record.verdict(), Some(Verdict::Slower));
    }
}
