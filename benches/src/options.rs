//! The command line of the benchmark.

use std::fmt;
use std::path::PathBuf;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Measures lodestride beside ndarray, candle (with gemm's kernels), faer, rten and rand, in turn, in the same process.

  --quick          smaller arrays and fewer samples: a few minutes
  --filter TEXT    only workloads whose `name size dtype` contains TEXT; several, divided by commas, are any of them
  --threads WHICH  1 (the default), all, both, or a number
  --peers python   NumPy, PyTorch, JAX and numexpr as well, each in a process of its own that takes its samples in turn;
                   they are installed under target/peers, or found in the interpreter that LODESTRIDE_PEERS_PYTHON names
  --check          fail when a ratio is above its bar by more than the noise stated there; bars are those of benches/bars/<slug>.csv,
                   where <slug> names the processor (intel-6-143, or intel-6 for a family), or else the loosest of all files
  --bars           write the bars of the workloads that were measured into the file of this processor, with the reasons kept
  --with FILES     for --bars, results of earlier runs (bench.json, kept elsewhere), divided by commas: the largest ratio of
                   all runs counts, since a rival that was disturbed in one of them makes a bar that cannot be kept; runs
                   in which our own time was above 1.2 of its least do not
  --docs           write the table into docs/performance.md
  --scaling        cost against size for each family instead, drawn into docs/scaling
  --render         measure nothing: table, page, check and documents from the last run
  --help           this text

Results: a table here, target/bench/bench.json and target/bench/bench.html.";

/// How many threads everyone may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// So many.
    Count(usize),
    /// As many as there are cores.
    All,
    /// One run with one and one run with all.
    Both,
}

impl Threads {
    /// The thread count of each run on a machine with so many cores.
    pub(crate) fn runs(self, cores: usize) -> Vec<usize> {
        match self {
            Threads::Count(count) => vec![count],
            Threads::All => vec![cores],
            Threads::Both if cores > 1 => vec![1, cores],
            Threads::Both => vec![1],
        }
    }
}

/// What to measure and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) filter: Option<String>,
    pub(crate) threads: Threads,
    pub(crate) peers: bool,
    pub(crate) check: bool,
    pub(crate) bars: bool,
    /// Results of earlier runs that bars must be kept by, too.
    pub(crate) with: Vec<PathBuf>,
    pub(crate) docs: bool,
    pub(crate) scaling: bool,
    pub(crate) render: bool,
    pub(crate) help: bool,
}

/// A word of the command line that makes no sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OptionError {
    Unknown(Box<str>),
    Missing(&'static str),
    Threads(Box<str>),
    Peers(Box<str>),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown(word) => write!(f, "unknown option `{word}`; --help lists them"),
            OptionError::Missing(option) => write!(f, "{option} needs a value"),
            OptionError::Threads(word) => {
                write!(
                    f,
                    "--threads needs `all`, `both` or a whole number from 1 on, not `{word}`"
                )
            }
            OptionError::Peers(word) => write!(f, "--peers knows `python`, not `{word}`"),
        }
    }
}

impl std::error::Error for OptionError {}

impl Options {
    /// Reads the words after the program's name.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Options, OptionError> {
        let mut options = Options {
            quick: false,
            filter: None,
            threads: Threads::Count(1),
            peers: false,
            check: false,
            bars: false,
            with: Vec::new(),
            docs: false,
            scaling: false,
            render: false,
            help: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = |option| words.next().ok_or(OptionError::Missing(option));
            match word.as_str() {
                "--quick" => options.quick = true,
                "--check" => options.check = true,
                "--bars" => options.bars = true,
                "--docs" => options.docs = true,
                "--scaling" => options.scaling = true,
                "--render" => options.render = true,
                "--help" | "-h" => options.help = true,
                "--with" => {
                    let files = value("--with")?;
                    options.with = files.split(',').map(PathBuf::from).collect();
                }
                "--filter" => options.filter = Some(value("--filter")?),
                "--threads" => options.threads = threads(value("--threads")?)?,
                "--peers" => match value("--peers")? {
                    name if name == "python" => options.peers = true,
                    name => return Err(OptionError::Peers(name.into())),
                },
                _ => return Err(OptionError::Unknown(word.into())),
            }
        }
        Ok(options)
    }

    /// Whether a workload of this name is asked for.
    pub(crate) fn want(&self, name: &str) -> bool {
        let filter = self.filter.as_deref();
        filter.is_none_or(|texts| texts.split(',').any(|text| name.contains(text.trim())))
    }
}

fn threads(word: String) -> Result<Threads, OptionError> {
    match (word.as_str(), word.parse()) {
        ("all", _) => Ok(Threads::All),
        ("both", _) => Ok(Threads::Both),
        (_, Ok(0) | Err(_)) => Err(OptionError::Threads(word.into())),
        (_, Ok(count)) => Ok(Threads::Count(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::{OptionError, Options, Threads};

    fn parse(line: &str) -> Result<Options, OptionError> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn words_are_read_or_refused() {
        let options = parse("--quick --filter add,exp --threads 2 --peers python");
        assert_eq!(
            options,
            Ok(Options {
                quick: true,
                filter: Some("add,exp".to_owned()),
                threads: Threads::Count(2),
                peers: true,
                check: false,
                bars: false,
                with: Vec::new(),
                docs: false,
                scaling: false,
                render: false,
                help: false,
            })
        );
        let kept = parse("--render --bars --with a.json,b.json").map(|options| options.with);
        assert_eq!(kept, Ok(vec!["a.json".into(), "b.json".into()]));
        assert_eq!(parse("--filter"), Err(OptionError::Missing("--filter")));
        for wrong in ["0", "two", "-1"] {
            let line = format!("--threads {wrong}");
            assert_eq!(parse(&line), Err(OptionError::Threads(wrong.into())));
        }
        assert_eq!(parse("--fast"), Err(OptionError::Unknown("--fast".into())));
        assert_eq!(parse("--peers r"), Err(OptionError::Peers("r".into())));
    }

    #[test]
    fn any_word_of_the_filter_wants_a_workload() {
        let options = parse("--filter add,exp").expect("it parses");
        assert!(options.want("tr.exp 1e6 f32"));
        assert!(!options.want("tr.log 1e6 f32"));
    }

    #[test]
    fn both_means_one_and_all() {
        assert_eq!(Threads::Both.runs(4), [1, 4]);
        assert_eq!(Threads::Both.runs(1), [1]);
        assert_eq!(Threads::All.runs(4), [4]);
        assert_eq!(Threads::Count(3).runs(4), [3]);
    }
}
