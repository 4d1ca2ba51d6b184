//! The workloads, a file for each family.

mod chain;
mod elementwise;
mod exponential;
mod matmul;
mod ragged;
mod small;
mod sums;
mod transpose;

use crate::contest::Failure;
use crate::suite::Suite;

/// Runs every workload that the options ask for.
pub(crate) fn run_all(suite: &mut Suite) -> Result<(), Failure> {
    elementwise::run(suite)?;
    chain::run(suite)?;
    exponential::run(suite)?;
    sums::run(suite)?;
    transpose::run(suite)?;
    matmul::run(suite)?;
    small::run(suite)?;
    ragged::run(suite)
}

/// A count the way the tables write it: `1e5` for whole powers of ten.
fn count_name(count: usize) -> String {
    let zeros = count.ilog10();
    if count == 10usize.pow(zeros) {
        format!("1e{zeros}")
    } else {
        count.to_string()
    }
}
