//! Rules to come.
use crate::rewrite::engine::Rule;
pub(super) const RULES: &[Rule] = &[];
pub(super) const LATE_RULES: &[Rule] = &[];
