//! The command line of the benchmark.

use std::fmt;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Measures lodestride beside ndarray and candle-core, in turn, in the same process.

  --quick        smaller matrices and fewer samples: under two minutes
  --filter TEXT  only workloads whose name contains TEXT
  --threads N    threads for everyone who can use them (default 1, as ndarray has no more)
  --help         this text

Results: a table here, target/bench/bench.json and target/bench/bench.html.";

/// What to measure and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) filter: Option<String>,
    pub(crate) threads: usize,
    pub(crate) help: bool,
}

/// A word of the command line that makes no sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OptionError {
    Unknown(Box<str>),
    Missing(&'static str),
    Threads(Box<str>),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown(word) => write!(f, "unknown option `{word}`; --help lists them"),
            OptionError::Missing(option) => write!(f, "{option} needs a value"),
            OptionError::Threads(word) => {
                write!(f, "--threads needs a whole number from 1 on, not `{word}`")
            }
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
            threads: 1,
            help: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => options.quick = true,
                "--help" | "-h" => options.help = true,
                "--filter" => {
                    let text = words.next().ok_or(OptionError::Missing("--filter"))?;
                    options.filter = Some(text);
                }
                "--threads" => {
                    let count = words.next().ok_or(OptionError::Missing("--threads"))?;
                    options.threads = match count.parse() {
                        Ok(0) | Err(_) => return Err(OptionError::Threads(count.into())),
                        Ok(threads) => threads,
                    };
                }
                _ => return Err(OptionError::Unknown(word.into())),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::{OptionError, Options};

    fn parse(line: &str) -> Result<Options, OptionError> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn words_are_read_or_refused() {
        let options = parse("--quick --filter add --threads 2");
        assert_eq!(
            options,
            Ok(Options {
                quick: true,
                filter: Some("add".to_owned()),
                threads: 2,
                help: false,
            })
        );
        assert_eq!(parse("--filter"), Err(OptionError::Missing("--filter")));
        for wrong in ["0", "two", "-1"] {
            let line = format!("--threads {wrong}");
            assert_eq!(parse(&line), Err(OptionError::Threads(wrong.into())));
        }
        assert_eq!(parse("--fast"), Err(OptionError::Unknown("--fast".into())));
    }
}
