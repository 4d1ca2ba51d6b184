//! Libraries of other languages: one process for each, which makes the same inputs and takes a sample when it is asked to,
//! so that its samples lie between ours.
//!
//! A request is a line of JSON on the process's standard input, and so is its answer on the output:
//! `{"prepare": {"workload", "size", "dtype"}}` gives `{"len", "elements": [[index, value], ..]}` or `{"missing": why}`,
//! `{"run": times}` gives `{"seconds"}`. Between its answers a process is stopped: what its threads go on doing would be done on
//! the core that is being measured.

use std::cell::RefCell;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::contest::Failure;
use crate::record::Key;

/// The libraries that `peers/peers.py` knows, and what installs them.
pub(crate) const PYTHON: [&str; 4] = ["numpy", "torch", "jax", "numexpr"];

/// Names an interpreter that has the libraries, instead of an environment of our own.
const INTERPRETER: &str = "LODESTRIDE_PEERS_PYTHON";

/// A library in a process of its own.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    /// Name, version and what it says about its own settings.
    pub(crate) about: String,
    talk: RefCell<Talk>,
}

#[derive(Debug)]
struct Talk {
    process: Child,
    /// `None` when the process is to end.
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

impl Talk {
    /// Stops all threads of the process, as far as the system can.
    fn stop(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::STOP);
    }

    /// Lets the process run again.
    fn go_on(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::CONT);
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        // A process that has ended is noticed by the answer that does not come.
        let _ =
            rustix::process::kill_process(rustix::process::Pid::from_child(&self.process), signal);
    }
}

/// A part of what a library computed.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    /// How many elements there are.
    pub(crate) len: usize,
    /// Some of them, with their positions in C order.
    pub(crate) elements: Vec<(usize, f64)>,
}

/// The process ended or said something else than it was asked.
#[derive(Debug)]
struct Silent {
    name: &'static str,
    reply: Box<str>,
}

impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answered `{}`", self.name, self.reply.trim())
    }
}

impl std::error::Error for Silent {}

impl Peer {
    /// Starts every library that can be started; the others are named with the reason.
    pub(crate) fn start_all(threads: usize) -> Result<Vec<Peer>, Failure> {
        let Some(interpreter) = interpreter()? else {
            println!("peers      none: no environment could be made");
            return Ok(Vec::new());
        };
        let mut peers = Vec::new();
        for name in PYTHON {
            match Peer::start(&interpreter, name, threads) {
                Ok(peer) => {
                    println!("peer       {}", peer.about);
                    peers.push(peer);
                }
                Err(error) => println!("peer       {name} is missing: {error}"),
            }
        }
        Ok(peers)
    }

    fn start(interpreter: &Path, name: &'static str, threads: usize) -> Result<Peer, Failure> {
        let mut command = Command::new(interpreter);
        command.arg(folder().join("peers/peers.py"));
        command.args([name, &threads.to_string()]);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let requests = process.stdin.take();
        let replies = process.stdout.take();
        let (Some(requests), Some(replies)) = (requests, replies) else {
            return Err("its pipes are closed".into());
        };
        let mut peer = Peer {
            name,
            about: String::new(),
            talk: RefCell::new(Talk {
                process,
                requests: Some(requests),
                replies: BufReader::new(replies),
            }),
        };
        let hello = peer.ask(&json!({ "hello": name }))?;
        peer.about = hello["about"].as_str().unwrap_or(name).to_owned();
        Ok(peer)
    }

    /// What the tables call it.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Makes the inputs of a workload and runs it once; `None` where the library has no such operation.
    pub(crate) fn prepare(&self, key: &Key) -> Result<Option<Answer>, Failure> {
        let reply = self.ask(&json!({ "prepare": key }))?;
        if reply.get("missing").is_some() {
            return Ok(None);
        }
        Ok(Some(serde_json::from_value(reply)?))
    }

    /// Repeats the prepared workload and says how long that took.
    pub(crate) fn time(&self, times: u32) -> Result<Duration, Failure> {
        let reply = self.ask(&json!({ "run": times }))?;
        let seconds = reply["seconds"].as_f64();
        Ok(Duration::try_from_secs_f64(seconds.unwrap_or(f64::NAN))?)
    }

    fn ask(&self, request: &Value) -> Result<Value, Failure> {
        let mut talk = self.talk.borrow_mut();
        talk.go_on();
        if let Some(requests) = &mut talk.requests {
            writeln!(requests, "{request}")?;
            requests.flush()?;
        }
        let mut reply = String::new();
        talk.replies.read_line(&mut reply)?;
        talk.stop();
        serde_json::from_str(&reply).map_err(|_| {
            Failure::from(Silent {
                name: self.name,
                reply: reply.into(),
            })
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends, and removes its files, when its input does.
        let talk = self.talk.get_mut();
        talk.go_on();
        talk.requests = None;
        let _ = talk.process.wait();
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The interpreter that was named, or that of an environment under target/, made and filled when it is not there yet.
fn interpreter() -> Result<Option<PathBuf>, Failure> {
    if let Some(named) = std::env::var_os(INTERPRETER) {
        return Ok(Some(named.into()));
    }
    let place = folder().join("../target/peers");
    let python = place.join("bin/python");
    if !python.exists() {
        println!(
            "making an environment with {} in target/peers",
            PYTHON.join(", ")
        );
        let made = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&place)
            .status();
        if !made.is_ok_and(|status| status.success()) {
            return Ok(None);
        }
        for name in PYTHON {
            let installed = Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", name])
                .status()?;
            if !installed.success() {
                println!("{name} could not be installed");
            }
        }
    }
    Ok(Some(python))
}
