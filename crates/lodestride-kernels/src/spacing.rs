//! Numbers at equal distances, each computed from its index alone.

use crate::isa::{Arch, Level, Task};

/// How a number follows from its index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// `first + i * step`.
    Step {
        /// The number at index 0.
        first: f64,
        /// How far it is to the next one.
        step: f64,
    },
    /// `first + (last - first) * (i / gaps)`, and `last` itself at index `gaps`.
    Between {
        /// The number at index 0.
        first: f64,
        /// The number at index `gaps`.
        last: f64,
        /// How many steps lie between them: at least one.
        gaps: usize,
    },
}

impl Spacing {
    /// Writes the numbers of the indices from `start` on, in vectors of the best instruction set of the machine; which one it is
    /// does not change them.
    ///
    /// ```
    /// use lodestride_kernels::Spacing;
    ///
    /// let mut numbers = [0.0; 3];
    /// Spacing::Step { first: 1.0, step: 0.5 }.fill(2, &mut numbers);
    /// assert_eq!(numbers, [2.0, 2.5, 3.0]);
    /// Spacing::Between { first: 0.0, last: 1.0, gaps: 4 }.fill(2, &mut numbers);
    /// assert_eq!(numbers, [0.5, 0.75, 1.0]);
    /// ```
    pub fn fill(self, start: usize, out: &mut [f64]) {
        let level = Level::current();
        match self {
            Self::Step { first, step } => level.run(Indexed {
                start,
                out,
                number: |i| first + i * step,
            }),
            Self::Between { first, last, gaps } => {
                let (width, count) = (last - first, gaps as f64);
                level.run(Indexed {
                    start,
                    out: &mut *out,
                    number: |i| first + width * (i / count),
                });
                // Not a rounded sum.
                if let Some(end) = gaps.checked_sub(start).and_then(|end| out.get_mut(end)) {
                    *end = last;
                }
            }
        }
    }
}

/// Indices that are counted in 32 bits, which every instruction set converts in vectors.
const COUNTED: usize = 1 << 16;

struct Indexed<'a, F> {
    start: usize,
    out: &'a mut [f64],
    number: F,
}

impl<F: Fn(f64) -> f64> Task for Indexed<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (part, out) in self.out.chunks_mut(COUNTED).enumerate() {
            let start = (self.start + part * COUNTED) as f64;
            for (i, to) in (0i32..).zip(out) {
                *to = (self.number)(start + f64::from(i));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_a_plain_loop_wherever_they_begin() {
        let (first, last) = (-3.7, 1e6 / 3.0);
        let mut wrong = Vec::new();
        for len in [0, 1, 2, 7, 64, 1000, COUNTED + 3] {
            for start in [0, 1, 5, 4096, (1 << 40) + 1] {
                for gaps in [1, 3, start + len.saturating_sub(1).max(1), start + len + 9] {
                    let mut found = vec![0.0; len];
                    Spacing::Between { first, last, gaps }.fill(start, &mut found);
                    let expected = (start..start + len).map(|i| match i {
                        _ if i == gaps => last,
                        _ => first + (last - first) * (i as f64 / gaps as f64),
                    });
                    if !expected.eq(found.iter().copied()) {
                        wrong.push(format!("{len} from {start} of {gaps}"));
                    }
                    Spacing::Step { first, step: 0.3 }.fill(start, &mut found);
                    if !(start..start + len)
                        .map(|i| first + i as f64 * 0.3)
                        .eq(found)
                    {
                        wrong.push(format!("{len} steps from {start}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
