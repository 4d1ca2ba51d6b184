//! Indexing of every kind against a naive model, against NumPy's stored answers, and ND4J's own cases.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod combined;
mod conditions;
mod errors;
mod model;
mod numpy;
mod oracle;
mod scatter;
#[path = "../support/mod.rs"]
mod support;

use support::report;
