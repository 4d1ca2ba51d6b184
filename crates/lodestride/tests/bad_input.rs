//! Bad input, tried through the facade: each case must be a typed error with a text a newcomer can act on, must leave every
//! array it was given as it was, and must not panic. One table for each kind of input, one checker for all of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lodestride::prelude::*;
use lodestride::{Error, Result};

#[path = "bad_input/arrays.rs"]
mod arrays;
#[path = "bad_input/files.rs"]
mod files;
#[path = "bad_input/graphs.rs"]
mod graphs;
#[path = "bad_input/ragged.rs"]
mod ragged;

/// One thing that must not work.
struct Case<'a> {
    /// What is tried.
    name: &'static str,
    /// Arrays that must hold the same bytes afterwards.
    watched: Vec<&'a NdArray>,
    /// The attempt; what it gives is of no interest.
    attempt: Box<dyn Fn() -> Result<()> + 'a>,
    /// Whether the error is of the right kind.
    is_expected: fn(&Error) -> bool,
    /// What the text must tell: op, argument, shapes and values, and the way out.
    words: &'static [&'static str],
}

/// `case!("name", watch [a, b], expression, pattern of the kind, ["word", ..])`; the layer stands before the pattern.
macro_rules! case {
    ($name:literal, [$($watched:expr),*], $attempt:expr, $layer:ident $kind:pat, [$($word:literal),+ $(,)?]) => {
        $crate::Case {
            name: $name,
            watched: vec![$($watched),*],
            attempt: Box::new(|| {
                ($attempt).map(drop)?;
                Ok(())
            }),
            is_expected: |error| matches!(error, lodestride::Error::$layer(error) if matches!(error.kind(), $kind)),
            words: &[$($word),+],
        }
    };
}
use case;

/// Tries every case and reports all that went wrong at the end.
#[track_caller]
fn check(cases: Vec<Case<'_>>) {
    let complaints: Vec<String> = cases.iter().flat_map(complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// What is wrong with one case.
fn complaints(case: &Case<'_>) -> Vec<String> {
    let bytes = || -> Vec<Vec<u8>> {
        let watched = case.watched.iter();
        watched
            .map(|array| array.to_bytes().unwrap_or_default())
            .collect()
    };
    let before = bytes();
    let outcome = catch_unwind(AssertUnwindSafe(&case.attempt));
    let mut found = Vec::new();
    match outcome {
        Err(_) => found.push(format!("{}: it panicked", case.name)),
        Ok(Ok(())) => found.push(format!("{}: it was accepted", case.name)),
        Ok(Err(error)) => {
            let text = error.to_string();
            if !(case.is_expected)(&error) {
                found.push(format!("{}: another kind of error: {error:?}", case.name));
            }
            for word in case.words.iter().filter(|word| !text.contains(**word)) {
                found.push(format!("{}: the text lacks `{word}`: {text}", case.name));
            }
        }
    }
    if bytes() != before {
        found.push(format!("{}: something was written", case.name));
    }
    found
}
