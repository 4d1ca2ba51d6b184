//! The one entry point for people and CI.
fn main() {}
