//! Start-up: the environment is put right in other processes, one for each thread count; there everything is measured. This
//! process puts the parts together and writes them.
//!
//! Thread pools and BLAS libraries read their variables once, when they start, so the only clean way to set them is before
//! the process that uses them exists.

use std::env;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::mpsc;
use std::thread::{self, available_parallelism};

use crate::bars::Bars;
use crate::contest::Failure;
use crate::machine::Machine;
use crate::options::{HELP, Options};
use crate::peers::Peer;
use crate::results::Results;
use crate::suite::Suite;
use crate::{docs, page, scaling, workloads};

/// Set in a process that measures; its value names the variables that were taken out of its environment.
const PREPARED: &str = "LODESTRIDE_BENCH_CLEARED";

/// How many cores the machine has, for a process that is bound to one of them.
const CORES: &str = "LODESTRIDE_BENCH_CORES";

/// What thread pools and BLAS libraries read.
const THREADS: [&str; 5] = [
    "RAYON_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
];

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    let options = match Options::parse(env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    if options.help {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let done = match env::var(PREPARED) {
        Ok(cleared) => measure(options, &cleared).map(|()| true),
        Err(_) => lead(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("the benchmark failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/bench")
}

/// Where the process with so many threads leaves its part.
fn part(threads: usize) -> PathBuf {
    folder().join(format!("part-{threads}.json"))
}

/// Starts the processes that measure, one after the other, and reports; false when a workload failed or a bar was missed.
fn lead(options: &Options) -> Result<bool, Failure> {
    let folder = folder();
    fs::create_dir_all(&folder)?;
    let whole = folder.join("bench.json");
    let mut complete = true;
    let results = if options.render {
        Results::read(&whole)?
    } else {
        let cores = cores();
        let mut all = Results::default();
        for threads in options.threads.runs(cores) {
            // A part that is there belongs to an earlier run.
            let _ = fs::remove_file(part(threads));
            complete &= start(threads, cores)?;
            all.add(Results::read(&part(threads))?);
        }
        all
    };
    if options.scaling {
        return scaling::draw(&results).map(|()| complete);
    }
    results.write(&whole)?;
    page::write(&results, &folder.join("bench.html"))?;
    println!("\n{results}");
    println!("written: target/bench/bench.json, target/bench/bench.html");
    let bars = Bars::read(results.slug())?;
    if options.docs {
        docs::write(&results, &bars)?;
    }
    if options.bars {
        bars.renew(&results.records)?;
    }
    Ok(complete && (!options.check || results.passes(&bars)))
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Starts this program again with the thread count set and every `OPENBLAS_*` variable cleared: they can pin a BLAS to an
/// old processor and halve its speed, which would flatter whoever does not use it. One thread is bound to one core where
/// `taskset` can do that, as some libraries count the cores they may use and nothing else. False when a workload failed there.
fn start(threads: usize, cores: usize) -> Result<bool, Failure> {
    let program = env::current_exe()?;
    let bound = threads == 1 && cores > 1 && Command::new("taskset").arg("-V").output().is_ok();
    let mut command = if bound {
        let mut command = Command::new("taskset");
        command.args(["-c", &(cores - 1).to_string()]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.args(env::args_os().skip(1));
    let mut cleared = Vec::new();
    for (name, _) in env::vars_os() {
        if let Some(text) = name.to_str().filter(|text| text.starts_with("OPENBLAS_")) {
            cleared.push(text.to_owned());
            command.env_remove(&name);
        }
    }
    for variable in THREADS {
        command.env(variable, threads.to_string());
    }
    command.env(CORES, cores.to_string());
    command.env(PREPARED, cleared.join(", "));
    Ok(command.status()?.success())
}

fn measure(options: Options, cleared: &str) -> Result<(), Failure> {
    let all = env::var(CORES).ok().and_then(|text| text.parse().ok());
    let machine = Machine::look(cleared, all.unwrap_or_else(cores))?;
    println!("{machine}");
    let threads = machine.threads;
    // A program that computes soon has a pool, and a process of one thread needs no locked exchanges: so there is another thread
    // from the first row on, whichever rows are chosen.
    let (_pool, parked) = mpsc::channel::<()>();
    thread::spawn(move || parked.recv());
    let peers = if options.peers {
        Peer::start_all(threads)?
    } else {
        Vec::new()
    };
    let bars = if options.check {
        Bars::read(&machine.slug)?
    } else {
        Bars::default()
    };
    let mut suite = Suite::new(options, machine, peers).judged_by(bars);
    let done = if suite.options.scaling {
        workloads::run_scaled(&mut suite)
    } else {
        workloads::run_all(&mut suite)
    };
    suite.finish();
    Results::of(suite).write(&part(threads))?;
    done
}
