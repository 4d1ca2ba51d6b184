//! The formula that the sizes of workspaces come from, term by term. When which size is asked for is `plan.rs`.
//!
//! **The formula.** A block that must hold `needed` bytes has `max(needed * (1 + overallocation), min_size)` of them, rounded up
//! to 64, but never more than `max_size`, which is rounded down to 64. `overallocation` counts as 0 under
//! [`AllocationPolicy::Strict`], and `min_size` for sizes that are learned. `needed` is the initial size, or the bytes of the
//! cycle that is learned from; each array counts with its size rounded up to 64. Of a circular workspace the same holds for each
//! of its blocks, with an equal part of `initial_size`, `min_size` and `max_size`: the whole is `blocks` times that.

use std::fmt;

use crate::block::ALIGNMENT;
use crate::plan::{AllocationPolicy, WorkspaceConfig};

/// How the size of a block comes about: the terms of the formula, and which of them decided. Prints as the calculation.
///
/// ```
/// use lodestride_buffer::{SizeTerm, WorkspaceConfig};
/// let terms = WorkspaceConfig::new().max_size(1000).terms_for(896);
/// assert_eq!((terms.size, terms.decided_by), (960, SizeTerm::Maximum));
/// assert_eq!(terms.to_string(), "896 x (1 + 0.3), at most 960, in steps of 64: 960 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SizeTerms {
    /// The bytes that the block must hold.
    pub needed: usize,
    /// The part that is added to them: 0 under [`AllocationPolicy::Strict`].
    pub overallocation: f64,
    /// The least size: 0 where there is none, and for initial sizes.
    pub min_size: usize,
    /// The largest size, rounded down to 64; `None` for no bound.
    pub max_size: Option<usize>,
    /// What comes of it.
    pub size: usize,
    /// What it is.
    pub decided_by: SizeTerm,
}

/// The term that decided about the size of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SizeTerm {
    /// The bytes needed, and what is added to them.
    Needed,
    /// [`WorkspaceConfig::min_size`] is more than that.
    Minimum,
    /// [`WorkspaceConfig::max_size`] is less than that.
    Maximum,
}

impl SizeTerms {
    fn new(config: &WorkspaceConfig, needed: usize, min_size: usize) -> SizeTerms {
        let overallocation = match config.allocation {
            AllocationPolicy::Strict => 0.0,
            // NaN, too, becomes 0.
            AllocationPolicy::Overallocate => config.overallocation.max(0.0),
        };
        // A float to integer cast saturates.
        let generous = needed.saturating_add((needed as f64 * overallocation) as usize);
        let wanted = (generous.max(min_size))
            .checked_next_multiple_of(ALIGNMENT)
            .unwrap_or(usize::MAX & !(ALIGNMENT - 1));
        let max_size = (config.max_size > 0)
            .then(|| config.max_size / config.parts())
            .map(|bound| bound - bound % ALIGNMENT);
        let size = max_size.map_or(wanted, |bound| bound.min(wanted));
        SizeTerms {
            needed,
            overallocation,
            min_size,
            max_size,
            size,
            decided_by: if size < wanted {
                SizeTerm::Maximum
            } else if min_size > generous {
                SizeTerm::Minimum
            } else {
                SizeTerm::Needed
            },
        }
    }

    /// True if the block cannot hold what is needed.
    pub(crate) fn falls_short(&self) -> bool {
        self.size < self.needed
    }
}

impl fmt::Display for SizeTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x (1 + {})", self.needed, self.overallocation)?;
        if self.min_size > 0 {
            write!(f, ", at least {}", self.min_size)?;
        }
        if let Some(bound) = self.max_size {
            write!(f, ", at most {bound}")?;
        }
        write!(f, ", in steps of {ALIGNMENT}: {} bytes", self.size)
    }
}

impl WorkspaceConfig {
    /// The size of a block that is learned from a cycle of this many bytes. A circular workspace has
    /// [`blocks`](Self::blocks) of them.
    pub fn size_for(&self, needed: usize) -> usize {
        self.terms_for(needed).size
    }

    /// [`size_for`](Self::size_for) with all terms of the formula.
    pub fn terms_for(&self, needed: usize) -> SizeTerms {
        SizeTerms::new(self, needed, self.min_size.div_ceil(self.parts()))
    }

    /// The size of a block that is made for the initial size; 0 if there is none.
    #[doc(alias = "getInitialBlockSize")]
    pub fn initial_block_size(&self) -> usize {
        self.initial_terms().size
    }

    pub(crate) fn initial_terms(&self) -> SizeTerms {
        SizeTerms::new(self, self.initial_size.div_ceil(self.parts()), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SizeTerm::{Maximum, Minimum, Needed};

    #[test]
    fn the_formula_rounds_overallocates_and_clamps() {
        let config = WorkspaceConfig::new();
        let strict = config.allocation(AllocationPolicy::Strict);
        let most = usize::MAX & !63;
        let cases = [
            (strict, 0, 0, Needed),
            (strict, 1, 64, Needed),
            (strict, 64, 64, Needed),
            (strict, 65, 128, Needed),
            (config, 6400, 8320, Needed),
            (config.overallocation(1.0), 1024, 2048, Needed),
            (config.overallocation(f64::NAN), 6400, 6400, Needed),
            (config.overallocation(-2.0), 6400, 6400, Needed),
            (config.overallocation(f64::INFINITY), 64, most, Needed),
            (strict, usize::MAX, most, Needed),
            (strict.min_size(1000), 64, 1024, Minimum),
            (strict.min_size(1000), 1000, 1024, Needed),
            (config.min_size(10 << 20), 400, 10 << 20, Minimum),
            (config.min_size(8000), 6400, 8320, Needed),
            // A bound is never exceeded, so it is rounded down.
            (strict.max_size(1000), 6400, 960, Maximum),
            (strict.max_size(1024), 6400, 1024, Maximum),
            (strict.max_size(1024), 1024, 1024, Needed),
            (strict.max_size(1023), 1000, 960, Maximum),
            (config.max_size(8000), 6400, 8000, Maximum),
            (strict.max_size(64), 1, 64, Needed),
            (strict.max_size(63), 1, 0, Maximum),
            (strict.max_size(usize::MAX), usize::MAX, most, Needed),
            (strict.min_size(2000).max_size(1000), 1, 960, Maximum),
            // In equal parts.
            (strict.circular(3).max_size(1000), 6400, 320, Maximum),
            (strict.circular(3).min_size(1000), 1, 384, Minimum),
        ];
        let failures: Vec<_> = cases
            .into_iter()
            .map(|(config, needed, size, term)| (config.terms_for(needed), size, term))
            .filter(|(terms, size, term)| (terms.size, terms.decided_by) != (*size, *term))
            .collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn the_minimum_is_no_matter_of_initial_sizes() {
        let strict = WorkspaceConfig::new().allocation(AllocationPolicy::Strict);
        let cases = [
            (strict, 0),
            (strict.min_size(5000), 0),
            (strict.initial_size(1000).min_size(5000), 1024),
            (strict.initial_size(5000).max_size(1000), 960),
            (WorkspaceConfig::new().initial_size(6400), 8320),
            (strict.initial_size(1000).circular(3), 384),
        ];
        let failures: Vec<_> = cases
            .into_iter()
            .map(|(config, size)| (config.initial_block_size(), size))
            .enumerate()
            .filter(|(_, (found, expected))| found != expected)
            .collect();
        assert_eq!(failures, [], "(case, (found, expected))");
    }
}
