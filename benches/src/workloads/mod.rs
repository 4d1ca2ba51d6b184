//! The workloads, a file for each family. Their names are those of docs/performance.md: `ew.add.out` is family `ew`.

mod broadcast;
mod chain;
mod elementwise;
mod files;
mod functions;
mod graphs;
mod layout;
mod matmul;
mod ragged;
mod random;
mod reductions;
mod rows;
mod search;
mod small;
mod wide;
mod wide_ragged;

use crate::contest::Failure;
use crate::suite::Suite;

/// A workload of any size.
type Sized = fn(&mut Suite, usize) -> Result<(), Failure>;

/// What is measured at many sizes: the sizes, as each workload counts them.
const SCALED: [(Sized, &[usize]); 8] = [
    (elementwise::add_out::<f32>, &TENS),
    (elementwise::add_alloc::<f32>, &TENS),
    (functions::exp::<f32>, &TENS),
    (chain::ten::<f32>, &TENS),
    (
        |suite, n| reductions::sum_all::<f32>(suite, [n / 10, 10]),
        &TENS,
    ),
    (|suite, n| layout::transpose::<f32>(suite, [n, n]), &SQUARES),
    (matmul::square::<f32>, &SQUARES),
    (|suite, n| rows::softmax::<f32>(suite, [n, 256]), &SQUARES),
];

const TENS: [usize; 13] = [
    10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000,
    30_000_000,
];

const SQUARES: [usize; 9] = [4, 8, 16, 64, 128, 256, 512, 1024, 2048];

/// Runs some workloads at sizes from a few elements to more than any cache holds.
pub(crate) fn run_scaled(suite: &mut Suite) -> Result<(), Failure> {
    for (workload, sizes) in SCALED {
        for &size in sizes {
            workload(suite, size)?;
        }
    }
    Ok(())
}

/// Measures all workloads of a family.
type Family = fn(&mut Suite) -> Result<(), Failure>;

/// The families, in the order of the tables.
const FAMILIES: [Family; 16] = [
    elementwise::run,
    chain::run,
    functions::run,
    reductions::run,
    broadcast::run,
    layout::run,
    search::run,
    matmul::run,
    rows::run,
    small::run,
    ragged::run,
    files::run,
    random::run,
    wide::run,
    wide_ragged::run,
    graphs::run,
];

/// Runs every workload that the options ask for. An error ends its family and no other; the first one is returned at the end.
pub(crate) fn run_all(suite: &mut Suite) -> Result<(), Failure> {
    let mut first = Ok(());
    for family in FAMILIES {
        if let Err(error) = family(suite) {
            println!("FAILED: {error}");
            first = first.and(Err(error));
        }
    }
    first
}
