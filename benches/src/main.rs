//! Wall-clock benchmarks of lodestride beside other Rust array libraries, measured in the same run.
//!
//! `cargo xtask bench` starts it. Without the feature `rivals` there is nothing to measure against, and it says so;
//! what needs no rival is tested even then.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "rivals"),
    allow(dead_code, reason = "tests see a part of the program")
)]
#![expect(clippy::print_stdout, reason = "a program that reports to a terminal")]

#[cfg(feature = "rivals")]
mod answers;
#[cfg(feature = "rivals")]
mod bandwidth;
#[cfg(any(feature = "rivals", test))]
mod bars;
#[cfg(feature = "rivals")]
mod calm;
#[cfg(feature = "rivals")]
mod chart;
#[cfg(feature = "rivals")]
mod contest;
#[cfg(feature = "rivals")]
mod docs;
#[cfg(feature = "rivals")]
mod launch;
#[cfg(feature = "rivals")]
mod machine;
#[cfg(any(feature = "rivals", test))]
mod options;
#[cfg(feature = "rivals")]
mod page;
#[cfg(feature = "rivals")]
mod peak;
#[cfg(feature = "rivals")]
mod peers;
#[cfg(any(feature = "rivals", test))]
mod permanent;
#[cfg(any(feature = "rivals", test))]
mod processor;
#[cfg(any(feature = "rivals", test))]
mod record;
#[cfg(feature = "rivals")]
#[path = "../../crates/lodestride/examples/report/mod.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "shared with an example that draws other charts; this page needs a part of it"
)]
mod report;
#[cfg(feature = "rivals")]
mod results;
#[cfg(feature = "rivals")]
mod scaling;
#[cfg(feature = "rivals")]
mod suite;
#[cfg(feature = "rivals")]
mod workloads;

#[cfg(feature = "rivals")]
fn main() -> std::process::ExitCode {
    launch::run()
}

#[cfg(not(feature = "rivals"))]
fn main() {
    println!(
        "The rivals are not compiled in. Run:\n  cargo xtask bench --quick\nor\n  cargo run --release --package \
         lodestride-benches --features rivals -- --help"
    );
}
