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

use lodestride::array::{NdArray, memory};

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

/// How often candle's threads look for more work before they sleep, 25,000 times where nothing is said: 0.4 ms, in which they keep the
/// core from whoever is measured next. So many are 30 us, enough between operations of their own.
const SPINS: (&str, &str) = ("CANDLE_BARRIER_POOL_SPIN_LIMIT", "2000");

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

/// How many further processes look at the rows that miss their bars. Where a block lies in physical memory, and with it
/// which sets of the caches it takes, is settled once for a process that keeps its blocks for reuse.
const FURTHER_LOOKS: usize = 2;

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
        let mut all = Results::default();
        for threads in options.threads.runs(cores()) {
            let (mut part, done) = run_apart(threads, None)?;
            complete &= done;
            if options.check {
                complete &= look_again(&mut part, threads)?;
            }
            all.add(part);
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
        let mut runs = vec![results.records.as_slice()];
        let earlier: Result<Vec<_>, _> = options.with.iter().map(|f| Results::read(f)).collect();
        let earlier = earlier?;
        runs.extend(earlier.iter().map(|run| run.records.as_slice()));
        bars.renew(&runs)?;
    }
    Ok(complete && (!options.check || results.passes(&bars)))
}

/// Measures what misses its bar in processes of its own, and takes over what is better there; false when a workload failed.
fn look_again(part: &mut Results, threads: usize) -> Result<bool, Failure> {
    let bars = Bars::read(part.slug())?;
    let mut complete = true;
    for _ in 0..FURTHER_LOOKS {
        let missed = part.records.iter().filter(|r| bars.missed(r).is_some());
        let missed: Vec<_> = missed.map(|record| record.key.to_string()).collect();
        if missed.is_empty() {
            break;
        }
        println!("\nonce more, in a new process: {}", missed.join(", "));
        let (again, done) = run_apart(threads, Some(&missed.join(",")))?;
        complete &= done;
        part.improve(again);
    }
    Ok(complete)
}

/// Measures with so many threads in a process of its own, what a filter chooses or what the command line says; false when a
/// workload failed there.
fn run_apart(threads: usize, filter: Option<&str>) -> Result<(Results, bool), Failure> {
    // A part that is there belongs to an earlier run.
    let _ = fs::remove_file(part(threads));
    let done = start(threads, filter)?;
    Ok((Results::read(&part(threads))?, done))
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Starts this program again with the thread count set and every `OPENBLAS_*` variable cleared: they can pin a BLAS to an
/// old processor and halve its speed, which would flatter whoever does not use it. One thread is bound to one core where
/// `taskset` can do that, as some libraries count the cores they may use and nothing else. False when a workload failed there.
fn start(threads: usize, filter: Option<&str>) -> Result<bool, Failure> {
    let cores = cores();
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
    // Of two filters the later one counts.
    command.args(
        filter
            .map(|filter| ["--filter", filter])
            .into_iter()
            .flatten(),
    );
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
    command.env(SPINS.0, SPINS.1);
    command.env(CORES, cores.to_string());
    command.env(PREPARED, cleared.join(", "));
    Ok(command.status()?.success())
}

fn measure(options: Options, cleared: &str) -> Result<(), Failure> {
    // The first thread counts handles and guards without locks as long as no other one uses arrays: it is this one here, as it
    // is in a program that reads its data first. A line behind the rows says whether that lasted.
    NdArray::from_vec(vec![0_f32], [1])?.to_vec::<f32>()?;
    let all = env::var(CORES).ok().and_then(|text| text.parse().ok());
    let machine = Machine::look(cleared, all.unwrap_or_else(cores))?;
    println!("{machine}");
    let threads = machine.threads;
    // A program makes arrays, and soon has a pool: so there is another thread from the first row on, whichever rows are chosen.
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
    let locks = if memory::needs_locks() {
        "with"
    } else {
        "without"
    };
    println!("handles and guards are counted {locks} locked instructions");
    suite.finish();
    Results::of(suite).write(&part(threads))?;
    done
}
