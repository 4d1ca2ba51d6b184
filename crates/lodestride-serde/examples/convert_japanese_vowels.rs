//! Converts the Japanese Vowels recordings from their text form into one npz with LoD tensors.
//!
//! Takes the folder that holds `JapaneseVowels_TRAIN.ts` and `JapaneseVowels_TEST.ts` (as the time series archive distributes
//! them) and the npz to write. The result has the LoD tensors `train` and `test` (one row of 12 coefficients per frame, one
//! sequence per utterance, f32) and the vectors `train_labels` and `test_labels` (speakers 0 to 8, i64).
#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lodestride_lod::{Lengths, LodTensor};
use lodestride_serde::{NdArray, npz};

/// Coefficients per frame.
const CHANNELS: usize = 12;

/// Labels in the text are 1 to this.
const SPEAKERS: i64 = 9;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, out] = &arguments[..] else {
        eprintln!("usage: convert_japanese_vowels FOLDER OUT.npz");
        return ExitCode::FAILURE;
    };
    match convert(folder, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn convert(folder: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let mut writer = npz::Writer::create(out)?.compression(npz::Compression::Deflated);
    for (name, file) in [
        ("train", "JapaneseVowels_TRAIN.ts"),
        ("test", "JapaneseVowels_TEST.ts"),
    ] {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).map_err(|source| Unreadable {
            path: path.clone(),
            source,
        })?;
        let recordings = Recordings::parse(&text).map_err(|problem| Misfit { path, problem })?;
        let Recordings {
            frames,
            lengths,
            labels,
        } = recordings;
        let (rows, utterances) = (frames.len() / CHANNELS, labels.len());
        let data = NdArray::from_vec(frames, [rows, CHANNELS])?;
        writer
            .lod_tensor(name, &LodTensor::new(data, Lengths::from([lengths]))?)?
            .array(
                &format!("{name}_labels"),
                &NdArray::from_vec(labels, utterances)?,
            )?;
        eprintln!("{name}: {utterances} utterances, {rows} frames of {CHANNELS}");
    }
    writer.finish()?;
    eprintln!("wrote {}", out.display());
    Ok(())
}

/// The utterances of one file: frames one after the other, and how many belong to each utterance.
#[derive(Debug, Default, PartialEq)]
struct Recordings {
    frames: Vec<f32>,
    lengths: Vec<usize>,
    labels: Vec<i64>,
}

impl Recordings {
    fn parse(text: &str) -> Result<Self, Problem> {
        let mut recordings = Self::default();
        let mut in_data = false;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with('@') {
                in_data |= line.eq_ignore_ascii_case("@data");
                continue;
            }
            let at = |wrong| Problem::Line {
                line: index + 1,
                wrong,
            };
            if !in_data {
                return Err(at(Wrong::BeforeData));
            }
            recordings.push(line).map_err(at)?;
        }
        if recordings.labels.is_empty() {
            return Err(Problem::NoData);
        }
        Ok(recordings)
    }

    /// One line is one utterance: twelve channels, each a list of its values over time, then the label.
    fn push(&mut self, line: &str) -> Result<(), Wrong> {
        let fields: Vec<&str> = line.split(':').collect();
        let Some((label, channels)) = fields.split_last() else {
            return Err(Wrong::Channels { found: 0 });
        };
        if channels.len() != CHANNELS {
            return Err(Wrong::Channels {
                found: channels.len(),
            });
        }
        let label: i64 = label
            .trim()
            .parse()
            .ok()
            .filter(|label| (1..=SPEAKERS).contains(label))
            .ok_or_else(|| Wrong::Label {
                found: (*label).to_owned(),
            })?;
        let mut series = Vec::with_capacity(CHANNELS);
        for (channel, values) in channels.iter().enumerate() {
            let values = numbers(values, channel)?;
            let expected = series.first().map_or(values.len(), Vec::len);
            if values.len() != expected {
                return Err(Wrong::Length {
                    channel,
                    expected,
                    found: values.len(),
                });
            }
            series.push(values);
        }
        let length = series[0].len();
        for step in 0..length {
            self.frames.extend(series.iter().map(|values| values[step]));
        }
        self.lengths.push(length);
        self.labels.push(label - 1);
        Ok(())
    }
}

fn numbers(list: &str, channel: usize) -> Result<Vec<f32>, Wrong> {
    let number = |text: &str| {
        let number = text.trim().parse().ok().filter(|x: &f32| x.is_finite());
        number.ok_or_else(|| Wrong::Number {
            channel,
            found: text.to_owned(),
        })
    };
    list.split(',').map(number).collect()
}

#[derive(Debug)]
struct Unreadable {
    path: PathBuf,
    source: std::io::Error,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot read {}: {}\n  help: the first argument is the folder with the two .ts files",
            self.path.display(),
            self.source
        )
    }
}

impl Error for Unreadable {}

/// A file whose contents are not the recordings.
#[derive(Debug)]
struct Misfit {
    path: PathBuf,
    problem: Problem,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Line { line, wrong } => {
                write!(f, "{}:{line}: {wrong}", self.path.display())
            }
            Problem::NoData => write!(
                f,
                "{}: no recordings: there must be lines after `@data`",
                self.path.display()
            ),
        }
    }
}

impl Error for Misfit {}

#[derive(Debug, PartialEq)]
enum Problem {
    NoData,
    Line { line: usize, wrong: Wrong },
}

#[derive(Debug, PartialEq)]
enum Wrong {
    BeforeData,
    Channels {
        found: usize,
    },
    Label {
        found: String,
    },
    Length {
        channel: usize,
        expected: usize,
        found: usize,
    },
    Number {
        channel: usize,
        found: String,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeData => f.write_str("a recording before the line `@data`"),
            Self::Channels { found } => write!(
                f,
                "{found} channels and a label, separated by `:`; there must be {CHANNELS}"
            ),
            Self::Label { found } => {
                write!(f, "label \"{found}\" is not a speaker from 1 to {SPEAKERS}")
            }
            Self::Length {
                channel,
                expected,
                found,
            } => write!(
                f,
                "channel {} has {found} values, the first one {expected}; they must be equally long",
                channel + 1
            ),
            Self::Number { channel, found } => {
                write!(f, "channel {}: \"{found}\" is not a number", channel + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of twelve channels, each with these values.
    fn line(values: &str, label: &str) -> String {
        format!("{}:{label}", [values; CHANNELS].join(":"))
    }

    #[test]
    fn channels_become_rows_and_labels_start_at_zero() {
        let text = format!("#note\n@data\n{}\n{}\n", line("1,2", "9"), line("3", "1"));
        let read = Recordings::parse(&text).unwrap();
        assert_eq!(read.lengths, [2, 1]);
        assert_eq!(read.labels, [8, 0]);
        let rows: Vec<&[f32]> = read.frames.chunks(CHANNELS).collect();
        assert_eq!(
            rows,
            [&[1.0; CHANNELS][..], &[2.0; CHANNELS], &[3.0; CHANNELS]]
        );
    }

    #[test]
    fn every_misfit_names_its_line() {
        let good = line("1,2", "3");
        let cases = [
            (String::new(), "no recordings"),
            (
                format!("@data\n{good}\n1:2:3\n"),
                ":3: 2 channels and a label",
            ),
            (
                format!("@data\n{good}\n\n{}\n", line("1", "10")),
                ":4: label \"10\"",
            ),
            (format!("@data\n{}\n", line("1", "0")), ":2: label \"0\""),
            (format!("@data\n{}\n", line("1", "")), ":2: label \"\""),
            (
                format!("@data\n{}\n", good.replacen("1,2:", "1:", 1)),
                ":2: channel 2 has 2 values, the first one 1",
            ),
            (
                format!("@data\n{}\n", good.replacen("1,2:", "1,x:", 1)),
                ":2: channel 1: \"x\" is not a number",
            ),
            (
                format!("@data\n{}\n", line("NaN", "1")),
                "\"NaN\" is not a number",
            ),
            (
                format!("{good}\n@data\n"),
                ":1: a recording before the line `@data`",
            ),
        ];
        let mut wrong = Vec::new();
        for (text, expected) in cases {
            let path = PathBuf::from("a.ts");
            let shown = match Recordings::parse(&text) {
                Ok(_) => "read".to_owned(),
                Err(problem) => Misfit { path, problem }.to_string(),
            };
            if !shown.contains(expected) {
                wrong.push(format!("{expected:?}: {shown:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
