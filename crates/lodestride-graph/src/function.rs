//! Compiled functions: a graph, optimised and planned, that takes values and gives values.

mod arena;
mod call;
mod compile;
mod join_rows;
mod packed;
mod plan;
mod plan_cache;
mod program;
mod row_parts;
mod slots;
mod sole;

pub use compile::{Builder, Unused, compile};

use crate::error::{GraphError, GraphErrorKind, Names, Result, Span};
use crate::feed::Feed;
use crate::fgraph::FunctionGraph;
use crate::op::OpRef;
use crate::rewrite::Applied;
use crate::shared::SharedCell;
use crate::ty::Type;
use crate::value::Value;
use arena::Arenas;
use call::Fed;
use plan_cache::PlanCache;
use program::Forms;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A value the function reads from outside: fed by the caller or held by a shared variable.
pub(crate) struct Leaf {
    /// The variable's.
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    pub(crate) ty: Type,
    pub(crate) cell: Option<Arc<SharedCell>>,
}

/// A shared variable that the function gives a new value.
pub(crate) struct Update {
    pub(crate) name: Arc<str>,
    pub(crate) ty: Type,
    pub(crate) cell: Arc<SharedCell>,
}

/// A compiled graph: call it with values.
///
/// Intermediate results live in one workspace arena that the function keeps; a second call with the same shapes
/// allocates nothing but its outputs. Outputs never share memory with inputs.
///
/// ```
/// use lodestride_array::NdArray;
/// use lodestride_graph::{compile, dmatrix};
/// let (x, y) = (dmatrix("x"), dmatrix("y"));
/// let f = compile(&[&x, &y], &[&(&x + &y)])?;
/// let a = NdArray::from([[1.0f64, 2.0]]);
/// let b = NdArray::from([[10.0f64, 20.0]]);
/// let sum = f.call([&a, &b])?;
/// assert_eq!(sum[0].array().to_vec::<f64>()?, [11.0, 22.0]);
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
pub struct Function {
    name: Option<Arc<str>>,
    written: FunctionGraph,
    forms: Forms,
    /// The fed inputs first, then the shared variables read.
    leaves: Vec<Leaf>,
    fed: usize,
    /// How many of the graph's outputs are the caller's; the rest are the new values of `updates`.
    returned: usize,
    updates: Vec<Update>,
    plans: PlanCache,
    arenas: Arenas,
    log: Vec<Applied>,
    compile_time: Duration,
}

impl Function {
    /// The name given in the builder.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The graph that runs for any lengths: optimised and fused. Calls run a form of it in which theirs are known to be equal or
    /// not, see [`latest_kernels`](Function::latest_kernels).
    pub fn graph(&self) -> &FunctionGraph {
        &self.forms.general.graph
    }

    /// The graph as it was written, merged but not optimised.
    pub fn written_graph(&self) -> &FunctionGraph {
        &self.written
    }

    /// How long compiling took.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// The rewrites applied, in order.
    pub fn rewrites(&self) -> &[Applied] {
        &self.log
    }

    /// The ops of [`graph`](Function::graph) that touch array elements, in order of execution; views and shape queries are free and
    /// not listed.
    pub fn kernels(&self) -> Vec<&OpRef> {
        self.forms.general.kernels()
    }

    /// The ops that touched array elements in the latest call: those of the form for its pattern of lengths. Before the first call,
    /// [`kernels`](Function::kernels).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    /// use lodestride_graph::{compile, dvector, grad};
    /// let (x, y) = (dvector("x"), dvector("y"));
    /// let cost = (&x * &y).tanh()?.sum(..)?;
    /// let f = compile(&[&x, &y], &[&grad(&cost, &[&x])?[0]])?;
    /// let a = NdArray::from([0.5f64, 1.0]);
    /// f.call([&a, &a])?;
    /// assert_eq!(f.latest_kernels().len(), 1);
    /// # Ok::<(), lodestride_graph::GraphError>(())
    /// ```
    pub fn latest_kernels(&self) -> Vec<OpRef> {
        let latest = self.plans.latest_program();
        let program = latest.as_ref().unwrap_or(&self.forms.general);
        program.kernels().into_iter().cloned().collect()
    }

    /// The bytes the largest call so far needed for intermediate results.
    pub fn plan_bytes(&self) -> usize {
        self.plans.largest()
    }

    /// The size of the workspace that holds intermediate results.
    pub fn workspace_bytes(&self) -> usize {
        self.arenas.bytes()
    }

    /// The names of the inputs, in order.
    pub fn input_names(&self) -> Names {
        Names(
            self.leaves[..self.fed]
                .iter()
                .map(|leaf| Arc::clone(&leaf.name))
                .collect(),
        )
    }

    /// Calls the function with one value per input, in order.
    ///
    /// # Errors
    /// `ArgumentCount`, `ValueType`, `Symbol` for values that do not fit the inputs; whatever an op finds wrong, with
    /// the user's expression and line.
    #[track_caller]
    pub fn call<'a, V: Into<Feed<'a>>>(
        &self,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Vec<Value>> {
        let span = Span::here();
        let mut fed = Fed::default();
        for value in values {
            self.feed(&mut fed, value.into());
        }
        self.run(&mut fed, span, None)
    }

    /// Calls the function and tells `hook` of every step: the op and how long it took. Steps on large matrices that are joined in one pass
    /// over their rows are one, `rows{..}` of their names.
    ///
    /// # Errors
    /// As for [`call`](Function::call).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    /// use lodestride_graph::{compile, dvector};
    /// let x = dvector("x");
    /// let f = compile(&[&x], &[&x.exp()?.sum(..)?])?;
    /// let mut ops = Vec::new();
    /// f.call_profiled([NdArray::from([0.0f64, 0.0])], |op, _time| ops.push(op.to_string()))?;
    /// assert_eq!(ops, ["exp", "sum{0}"]);
    /// # Ok::<(), lodestride_graph::GraphError>(())
    /// ```
    #[track_caller]
    pub fn call_profiled<'a, V: Into<Feed<'a>>>(
        &self,
        values: impl IntoIterator<Item = V>,
        mut hook: impl FnMut(&OpRef, Duration),
    ) -> Result<Vec<Value>> {
        let span = Span::here();
        let mut fed = Fed::default();
        for value in values {
            self.feed(&mut fed, value.into());
        }
        self.run(&mut fed, span, Some(&mut hook))
    }

    /// Calls a function without inputs.
    ///
    /// # Errors
    /// As for [`call`](Function::call).
    #[track_caller]
    pub fn call_empty(&self) -> Result<Vec<Value>> {
        self.call::<Value>([])
    }

    /// Calls the function with values by input name.
    ///
    /// # Errors
    /// `MissingFeed`, `UnknownFeed` and `DuplicateFeed`, listing the names; else as for [`call`](Function::call).
    #[track_caller]
    pub fn call_named<'a, V: Into<Feed<'a>>>(
        &self,
        feed: impl IntoIterator<Item = (&'static str, V)>,
    ) -> Result<Vec<Value>> {
        let span = Span::here();
        self.call_feed(
            feed.into_iter().map(|(name, value)| (name, value.into())),
            span,
        )
    }

    #[track_caller]
    pub(crate) fn call_feed<'a>(
        &self,
        feed: impl Iterator<Item = (&'a str, Feed<'a>)>,
        span: Span,
    ) -> Result<Vec<Value>> {
        let fail = |kind| GraphError::new(kind, None, span);
        let inputs = &self.leaves[..self.fed];
        let mut values: Vec<Option<Feed<'_>>> = vec![None; self.fed];
        let mut unknown = Vec::new();
        for (name, value) in feed {
            match inputs.iter().position(|leaf| *leaf.name == *name) {
                None => unknown.push(Arc::from(name)),
                Some(at) if values[at].is_some() => {
                    return Err(fail(GraphErrorKind::DuplicateFeed {
                        name: Arc::from(name),
                    }));
                }
                Some(at) => values[at] = Some(value),
            }
        }
        if !unknown.is_empty() {
            let kind = GraphErrorKind::UnknownFeed {
                unknown: Names(unknown),
                inputs: self.input_names(),
            };
            return Err(fail(kind));
        }
        let missing: Vec<Arc<str>> = inputs
            .iter()
            .zip(&values)
            .filter(|(_, v)| v.is_none())
            .map(|(leaf, _)| Arc::clone(&leaf.name))
            .collect();
        if !missing.is_empty() {
            let kind = GraphErrorKind::MissingFeed {
                missing: Names(missing),
                inputs: self.input_names(),
            };
            return Err(fail(kind));
        }
        let mut fed = Fed::default();
        for value in values.into_iter().flatten() {
            self.feed(&mut fed, value);
        }
        self.run(&mut fed, span, None)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Function({}: {} inputs, {} outputs, {} updates, {} kernels)",
            self.name.as_deref().unwrap_or("unnamed"),
            self.fed,
            self.returned,
            self.updates.len(),
            self.kernels().len()
        )
    }
}
