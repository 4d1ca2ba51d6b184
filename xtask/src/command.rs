//! Running other programs: one builder that prints the call before it is made, and the small typed errors of all commands.
//! What to run is decided in the file of each command.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

/// What every command returns.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Top folder of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// One call of another program, run in the repository's top folder.
pub(crate) struct Call {
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
}

/// The `cargo` that started this program.
pub(crate) fn cargo(arguments: &[&str]) -> Call {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Call::new(program, arguments)
}

/// The program of an example, as the tests build it: with the features of the whole workspace, so that no crate is compiled again.
pub(crate) fn example(name: &str) -> Outcome<Call> {
    cargo(&["build", "--quiet", "--workspace", "--examples"]).run()?;
    // This program, too, lies in a folder of cargo's target folder, wherever that is set to be.
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).unwrap_or(&own);
    Ok(Call::new(target.join("debug/examples").join(name), &[]))
}

impl Call {
    /// A call of `program`, found on the search path.
    pub(crate) fn new(program: impl Into<OsString>, arguments: &[&str]) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            variables: Vec::new(),
        }
    }

    /// Adds arguments at the end.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(
            arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// Sets an environment variable for this call only.
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Runs it with our own input and output; an exit code other than 0 is an error.
    pub(crate) fn run(self) -> Outcome {
        println!("$ {self}");
        let result = self.command().status();
        self.judge(result)
    }

    /// Runs it silently and returns what it wrote to stdout; an exit code other than 0 is an error.
    pub(crate) fn read(self) -> Outcome<String> {
        let output = self.command().stderr(Stdio::inherit()).output();
        match output {
            Ok(output) if output.status.success() => {
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Ok(output) => Err(self.failed(output.status)),
            Err(source) => Err(self.not_started(source)),
        }
    }

    /// True when it can be started and exits with 0; prints nothing.
    pub(crate) fn succeeds(self) -> bool {
        let quiet = self
            .command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        quiet.is_ok_and(|status| status.success())
    }

    /// Runs it like [`Call::run`] and adds the test counts that its output reports to `counts`.
    pub(crate) fn run_counting(self, counts: &mut TestCounts) -> Outcome {
        println!("$ {self}");
        let mut child = match self
            .command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
        {
            Ok(child) => child,
            Err(source) => return Err(self.not_started(source)),
        };
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let reader = thread::spawn(move || out.map(|pipe| copy_and_count(pipe, io::stdout())));
        let from_stderr = err.map(|pipe| copy_and_count(pipe, io::stderr()));
        let from_stdout = reader.join().unwrap_or_default();
        for part in [from_stderr, from_stdout].into_iter().flatten() {
            counts.add(part);
        }
        let result = child.wait();
        self.judge(result)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(root());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    fn judge(self, result: io::Result<ExitStatus>) -> Outcome {
        match result {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.failed(status)),
            Err(source) => Err(self.not_started(source)),
        }
    }

    fn failed(self, status: ExitStatus) -> Box<dyn Error> {
        Box::new(CommandError::Failed { call: self, status })
    }

    fn not_started(self, source: io::Error) -> Box<dyn Error> {
        Box::new(CommandError::NotStarted { call: self, source })
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        let name = Path::new(&self.program)
            .file_stem()
            .unwrap_or(&self.program);
        f.write_str(&quoted(name))?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if word.is_empty() || word.contains([' ', '"', '\'', '*']) {
        format!("'{word}'")
    } else {
        word.into_owned()
    }
}

/// Why a call did not do its job.
#[derive(Debug)]
enum CommandError {
    Failed { call: Call, status: ExitStatus },
    NotStarted { call: Call, source: io::Error },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { call, status } => write!(f, "`{call}` failed: {status}"),
            Self::NotStarted { call, source } => {
                write!(f, "`{call}` could not be started: {source}")
            }
        }
    }
}

impl Error for CommandError {}

/// How many tests ran, summed over test binaries and runners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
}

impl TestCounts {
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Reads one line of output of `cargo test` (`test result: ok. 3 passed; ...`) or of nextest (`Summary [..] 3 passed, ..`).
    fn of_line(line: &str) -> Option<Self> {
        let rest = match line.split_once("test result: ") {
            Some((_, rest)) => rest,
            None => {
                line.trim_start()
                    .strip_prefix("Summary [")?
                    .split_once(':')?
                    .1
            }
        };
        let mut counts = Self::default();
        for part in rest.split([';', ',', '.']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => counts.passed += number,
                "failed" => counts.failed += number,
                "ignored" | "skipped" => counts.ignored += number,
                _ => {}
            }
        }
        Some(counts)
    }
}

/// Passes a child's output on, byte for byte, and counts the tests its summary lines report.
fn copy_and_count(from: impl Read, mut to: impl Write) -> TestCounts {
    let mut counts = TestCounts::default();
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        // A closed terminal must not stop the count, so a failed write is let pass.
        to.write_all(&line).and_then(|()| to.flush()).ok();
        if let Some(found) = TestCounts::of_line(&String::from_utf8_lossy(&line)) {
            counts.add(found);
        }
        line.clear();
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_lines_of_both_runners_are_counted() {
        let cases = [
            (
                "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s\n",
                Some((3, 0, 1)),
            ),
            (
                "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\n",
                Some((3, 2, 0)),
            ),
            (
                "     Summary [   0.012s] 25 tests run: 24 passed (1 slow), 1 failed, 3 skipped\n",
                Some((24, 1, 3)),
            ),
            ("test a::passed ... ok\n", None),
        ];
        for (line, expected) in cases {
            let expected = expected.map(|(passed, failed, ignored)| TestCounts {
                passed,
                failed,
                ignored,
            });
            assert_eq!(TestCounts::of_line(line), expected, "{line}");
        }
    }

    #[test]
    fn a_call_reads_as_one_would_type_it() {
        let call =
            Call::new("/usr/bin/cargo", &["test", "--", "a b"]).env("RUSTFLAGS", "--cfg loom");
        assert_eq!(
            call.to_string(),
            "RUSTFLAGS='--cfg loom' cargo test -- 'a b'"
        );
    }
}
