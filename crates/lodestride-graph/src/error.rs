//! Everything that can be wrong with a graph or a call, with the op, the types and the user's source line.

mod explain;
mod kind;

pub use kind::GraphErrorKind;

use crate::op::OpRef;
use crate::ty::Type;
use crate::variable::Variable;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// The result of building, compiling or calling a graph.
pub type Result<T, E = GraphError> = std::result::Result<T, E>;

/// A place in the user's source.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span(pub(crate) &'static Location<'static>);

impl Span {
    /// The place of the caller.
    #[track_caller]
    pub fn here() -> Self {
        Self(Location::caller())
    }

    /// File, line and column.
    pub fn location(&self) -> &'static Location<'static> {
        self.0
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Names of variables, for messages that list them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub Vec<Arc<str>>);

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, name) in self.0.iter().enumerate() {
            write!(f, "{}{name}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str("]")
    }
}

impl<'a> FromIterator<&'a Variable> for Names {
    fn from_iter<I: IntoIterator<Item = &'a Variable>>(variables: I) -> Self {
        Self(variables.into_iter().map(Variable::label).collect())
    }
}

/// Types of the operands, for messages that list them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Types(pub Vec<Type>);

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, ty) in self.0.iter().enumerate() {
            write!(f, "{}{ty}", if i > 0 { " with " } else { "" })?;
        }
        Ok(())
    }
}

impl FromIterator<Type> for Types {
    fn from_iter<I: IntoIterator<Item = Type>>(types: I) -> Self {
        Self(types.into_iter().collect())
    }
}

struct Detail {
    kind: GraphErrorKind,
    op: Option<Arc<str>>,
    operands: Option<Names>,
    /// The user's lines behind the failing node: several when nodes were merged or fused.
    spans: Vec<Span>,
}

/// An error of building, compiling or calling a graph: what happened, in which op, written on which line.
///
/// ```
/// use lodestride_graph::{DType, GraphErrorKind, ops, tensor};
/// let a = tensor("a", DType::F64, [3usize]);
/// let b = tensor("b", DType::F64, [4usize]);
/// let error = a.add(&b).unwrap_err();
/// assert!(matches!(error.kind(), GraphErrorKind::Broadcast { .. }));
/// assert!(error.to_string().starts_with("Op [add]: cannot broadcast TensorType(f64, (3,)) with TensorType(f64, (4,))"));
/// ```
pub struct GraphError(Box<Detail>);

impl GraphError {
    pub(crate) fn new(kind: GraphErrorKind, op: Option<&OpRef>, span: Span) -> Self {
        Self::with_spans(kind, op, vec![span])
    }

    pub(crate) fn with_spans(kind: GraphErrorKind, op: Option<&OpRef>, spans: Vec<Span>) -> Self {
        let op = op.map(|op| Arc::from(&*op.name()));
        Self(Box::new(Detail {
            kind,
            op,
            operands: None,
            spans,
        }))
    }

    pub(crate) fn with_operands(mut self, operands: &[Variable]) -> Self {
        self.0.operands = Some(operands.iter().collect());
        self
    }

    pub(crate) fn with_names(mut self, names: Vec<Arc<str>>) -> Self {
        self.0.operands = Some(Names(names));
        self
    }

    /// The error with the caller's line, unless it has one already.
    pub(crate) fn or_span(mut self, span: Span) -> Self {
        if self.0.spans.is_empty() {
            self.0.spans.push(span);
        }
        self
    }

    pub(crate) fn into_kind(self) -> GraphErrorKind {
        self.0.kind
    }

    /// What went wrong.
    pub fn kind(&self) -> &GraphErrorKind {
        &self.0.kind
    }

    /// The op that failed, if one did.
    pub fn op(&self) -> Option<&str> {
        self.0.op.as_deref()
    }

    /// The user's source lines behind the failure.
    pub fn spans(&self) -> &[Span] {
        &self.0.spans
    }
}

impl fmt::Debug for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphError({self})")
    }
}

impl std::error::Error for GraphError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            GraphErrorKind::Array(e) => Some(e),
            GraphErrorKind::Kernel(e) => Some(&**e),
            GraphErrorKind::Lod(e) => Some(&**e),
            GraphErrorKind::Shape(e) => Some(&**e),
            GraphErrorKind::Access(e) => Some(&**e),
            GraphErrorKind::Workspace(e) => Some(&**e),
            _ => None,
        }
    }
}

/// A kind without an op: array calls inside user code with `?`.
impl<K: Into<GraphErrorKind>> From<K> for GraphError {
    #[track_caller]
    fn from(kind: K) -> Self {
        Self::new(kind.into(), None, Span::here())
    }
}
