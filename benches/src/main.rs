//! Benchmarks beside rival libraries.
fn main() {}
