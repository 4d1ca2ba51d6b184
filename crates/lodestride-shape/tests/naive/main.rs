//! Everything in this crate against naive models that list elements one by one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod extremes;
mod model;
mod views;
mod walks;
