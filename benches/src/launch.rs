//! Start-up: the environment is put right in a second process, then everything is measured and written.
//!
//! Thread pools and BLAS libraries read their variables once, when they start, so the only clean way to set them is before
//! the process that uses them exists.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::contest::Failure;
use crate::machine::Machine;
use crate::options::{HELP, Options};
use crate::suite::Suite;
use crate::{page, workloads};

/// Set in the process that measures; its value names the variables that were taken out of its environment.
const PREPARED: &str = "LODESTRIDE_BENCH_CLEARED";

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
        Ok(cleared) => measure(options, &cleared).map(|()| ExitCode::SUCCESS),
        Err(_) => prepare(&options),
    };
    done.unwrap_or_else(|error| {
        println!("the benchmark failed: {error}");
        ExitCode::FAILURE
    })
}

/// Starts this program again with the thread count set and every `OPENBLAS_*` variable cleared: they can pin a BLAS to an
/// old processor and halve its speed, which would flatter whoever does not use it.
fn prepare(options: &Options) -> Result<ExitCode, Failure> {
    let mut command = Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1));
    let mut cleared = Vec::new();
    for (name, _) in env::vars_os() {
        if let Some(text) = name.to_str().filter(|text| text.starts_with("OPENBLAS_")) {
            cleared.push(text.to_owned());
            command.env_remove(&name);
        }
    }
    command.env("RAYON_NUM_THREADS", options.threads.to_string());
    command.env(PREPARED, cleared.join(", "));
    let status = command.status()?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn measure(options: Options, cleared: &str) -> Result<(), Failure> {
    let machine = Machine::look(cleared)?;
    println!("{machine}");
    let mut suite = Suite::new(options, machine);
    workloads::run_all(&mut suite)?;
    suite.finish();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    page::write(&suite, &folder)?;
    println!("written: target/bench/bench.json, target/bench/bench.html");
    Ok(())
}
