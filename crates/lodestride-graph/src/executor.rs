//! Fluid's way to run a graph: feed values by name, fetch variables, LoD in and LoD out.

use crate::error::{GraphError, GraphErrorKind, Names, Result, Span};
use crate::fgraph::{FunctionGraph, Source};
use crate::function::{Function, Unused};
use crate::value::Value;
use crate::variable::Variable;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs whatever is asked for; functions are compiled on first use and kept.
///
/// ```
/// use lodestride_array::NdArray;
/// use lodestride_array::kernels::SegmentOp;
/// use lodestride_graph::{DType, Executor, Value, lod};
/// use lodestride_lod::{Lod, LodTensor};
/// let words = lod("words", DType::F64, [1usize], 1);
/// let sums = words.sequence_pool(SegmentOp::Sum, -1)?;
/// let executor = Executor::new();
/// let rows = NdArray::from([[1.0f64], [2.0], [3.0]]);
/// let batch = LodTensor::new(rows, Lod::from_lengths([2, 1])?)?;
/// let fetched = executor.run(&[("words", Value::from(batch))], &[&sums])?;
/// assert_eq!(fetched[0].array().to_vec::<f64>()?, [3.0, 3.0]);
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
#[derive(Debug, Default)]
pub struct Executor {
    compiled: Mutex<Vec<(Vec<u64>, Arc<Function>)>>,
}

/// Functions kept; a program fetches a handful of different sets.
const MAX_FUNCTIONS: usize = 32;

impl Executor {
    /// An executor without any functions yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the variables `fetch` from the inputs named in `feed`.
    ///
    /// Every input that `fetch` depends on must be fed, by its name; more is an error. Results are ragged where the
    /// variables are.
    ///
    /// # Errors
    /// `MissingFeed`, `UnknownFeed`, `DuplicateFeed`, listing the names; `ValueType` for values of another type; whatever
    /// an op finds wrong, with the user's expression and line.
    #[track_caller]
    pub fn run(&self, feed: &[(&str, Value)], fetch: &[&Variable]) -> Result<Vec<Value>> {
        let span = Span(Location::caller());
        let function = self.function(fetch, span)?;
        let feed = feed.iter().map(|(name, value)| (*name, value.into()));
        function.call_feed(feed, span)
    }

    /// The function behind a set of fetched variables, compiled if it is new.
    ///
    /// # Errors
    /// Those of compiling; `UnnamedInput` for inputs that cannot be fed because they have no name.
    #[track_caller]
    pub fn function(&self, fetch: &[&Variable], span: Span) -> Result<Arc<Function>> {
        let key: Vec<u64> = fetch.iter().map(|v| v.id()).collect();
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, function)) = compiled.iter().find(|(k, _)| *k == key) {
            return Ok(Arc::clone(function));
        }
        let inputs = inputs_of(fetch)?;
        let unnamed: Vec<&Variable> = inputs.iter().filter(|v| v.name().is_none()).collect();
        if !unnamed.is_empty() {
            let kind = GraphErrorKind::UnnamedInput {
                names: unnamed.iter().copied().collect::<Names>(),
            };
            return Err(GraphError::new(kind, None, span));
        }
        let inputs: Vec<&Variable> = inputs.iter().collect();
        let function = Function::builder(&inputs, fetch)
            .on_unused_input(Unused::Ignore)
            .name("executor")
            .compile()?;
        let function = Arc::new(function);
        if compiled.len() >= MAX_FUNCTIONS {
            compiled.remove(0);
        }
        compiled.push((key, Arc::clone(&function)));
        Ok(function)
    }
}

/// The inputs that some variables depend on, in the order in which they are met.
fn inputs_of(fetch: &[&Variable]) -> Result<Vec<Variable>> {
    let outputs: Vec<Variable> = fetch.iter().map(|v| (*v).clone()).collect();
    let graph = FunctionGraph::import(&[], &outputs)?;
    let leaf = |source: &Source| match source {
        Source::Leaf(v) if !v.is_shared() => Some(v.clone()),
        Source::Leaf(_) | Source::Constant(..) | Source::Node(..) => None,
    };
    Ok(graph
        .values
        .iter()
        .filter_map(|value| leaf(&value.source))
        .collect())
}
