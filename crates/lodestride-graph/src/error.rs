//! Everything that can be wrong with a graph or a call, with the op, the types and the user's source line.

use crate::op::OpRef;
use crate::ty::Type;
use crate::variable::Variable;
use lodestride_array::ArrayError;
use lodestride_array::kernels::KernelError;
use lodestride_array::{AccessError, DType, WorkspaceError};
use lodestride_array::{Shape, ShapeError};
use lodestride_lod::LodError;
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

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphErrorKind {
    /// Two known lengths differ and neither is 1.
    #[error("cannot broadcast {types}: the lengths of axis {axis} differ and neither is 1")]
    Broadcast {
        /// The operands' types.
        types: Types,
        /// The axis of the result.
        axis: usize,
    },
    /// Wrong number of arguments.
    #[error("takes {expected} inputs, got {found}")]
    InputCount {
        /// What the op takes.
        expected: usize,
        /// What it was given.
        found: usize,
    },
    /// Wrong number of results in the explicit form, or the only result of several was asked for.
    #[error("has {expected} outputs, {found} were listed")]
    OutputCount {
        /// What the op gives.
        expected: usize,
        /// What was listed.
        found: usize,
    },
    /// An output variable already belongs to another apply node.
    #[error(
        "output {index} already belongs to another apply node; all output variables must belong to this one"
    )]
    OutputOwned {
        /// Position among the outputs.
        index: usize,
    },
    /// A constant or shared variable was listed as an output.
    #[error("output {index} is a constant or shared variable; those have no owner")]
    ConstantOutput {
        /// Position among the outputs.
        index: usize,
    },
    /// An output variable's type cannot hold the result.
    #[error("output {index} has type {found}, the op gives {expected}")]
    OutputType {
        /// Position among the outputs.
        index: usize,
        /// What the op gives.
        expected: Type,
        /// What the variable has.
        found: Type,
    },
    /// The change would make a variable its own ancestor.
    #[error("this would make a cycle: a variable would be computed from itself")]
    Cycle,
    /// The books of a function graph do not balance; a bug in a rewrite or in `replace`.
    #[error("the clients of {name} and the inputs of their nodes disagree")]
    Inconsistent {
        /// The value.
        name: Arc<str>,
    },
    /// The number of uses and the number of inputs differ; a bug in a rewrite or in `replace`.
    #[error("{found} clients for {expected} inputs and outputs")]
    ClientCount {
        /// Inputs of nodes and outputs of the graph.
        expected: usize,
        /// Clients listed.
        found: usize,
    },
    /// The dtype is not one the op is defined for.
    #[error("is not defined for dtype {dtype}")]
    UnsupportedDType {
        /// The dtype given.
        dtype: DType,
    },
    /// A literal does not fit the dtype it has to adopt.
    #[error(
        "the literal {value} does not fit dtype {dtype}; cast the other operand or use a typed constant"
    )]
    LiteralRange {
        /// The literal.
        value: i128,
        /// The dtype to adopt.
        dtype: DType,
    },
    /// An argument has the wrong number of axes.
    #[error("input {input} has type {found} of rank {}, needs {expected}", found.rank())]
    Rank {
        /// Position among the inputs.
        input: usize,
        /// What is needed, in words.
        expected: &'static str,
        /// The type given.
        found: Type,
    },
    /// An argument has a type the op cannot take.
    #[error("input {input} has type {found}, needs {expected}")]
    InputKind {
        /// Position among the inputs.
        input: usize,
        /// What is needed, in words.
        expected: &'static str,
        /// The type given.
        found: Type,
    },
    /// An axis that the argument does not have.
    #[error("axis {axis} is out of range for rank {rank}")]
    Axis {
        /// The axis given.
        axis: isize,
        /// The rank of the argument.
        rank: usize,
    },
    /// The contracted lengths of a matrix product differ.
    #[error("cannot multiply {left} with {right}: the inner lengths differ")]
    InnerLength {
        /// Type of the left factor.
        left: Type,
        /// Type of the right factor.
        right: Type,
    },
    /// Lengths found in a call do not fit the op.
    #[error("shapes {} and {} do not fit: {rule}", shapes.0, shapes.1)]
    ShapesDiffer {
        /// The two shapes.
        shapes: Box<(Shape, Shape)>,
        /// What should hold, in words.
        rule: &'static str,
    },
    /// A parameter of an op is out of its range.
    #[error("{parameter} = {value} is not allowed: {rule}")]
    Parameter {
        /// Which parameter.
        parameter: &'static str,
        /// Its value.
        value: i64,
        /// What should hold, in words.
        rule: &'static str,
    },
    /// An op over sequences was given values without any.
    #[error("the value has no sequences (LoD)")]
    LodMissing,
    /// Two ragged batches with different sequences.
    #[error("the operands have different sequences (LoD); elementwise ops need equal ones")]
    LodDiffers,
    /// The op computes no outputs of unknown shape.
    #[error("does not compute outputs of unknown shape")]
    NotComputable,
    /// The op has no gradient.
    #[error("has no gradient; wrap its input in `disconnected` if none should flow")]
    NotDifferentiable,
    /// The cost is not a single float.
    #[error(
        "the cost must be one float, but has type {found}; reduce it with `sum` or `mean` first"
    )]
    Cost {
        /// The cost's type.
        found: Type,
    },
    /// Gradients are never integers.
    #[error(
        "cannot differentiate with respect to {name} of type {found}: gradients exist for floats only"
    )]
    IntegerGradient {
        /// The variable.
        name: Arc<str>,
        /// Its type.
        found: Type,
    },
    /// The cost does not depend on a variable.
    #[error("the cost does not depend on {names}; use `Disconnected::Zero` if zeros are meant")]
    Disconnected {
        /// The variables.
        names: Names,
    },
    /// Constants or shared variables among the inputs of a function.
    #[error(
        "{names} cannot be inputs: constants and shared variables are part of the graph and need not be listed"
    )]
    ConstantInput {
        /// The variables.
        names: Names,
    },
    /// The outputs need variables that are not among the inputs.
    #[error("{names} used by the outputs but not among the inputs")]
    MissingInput {
        /// The variables.
        names: Names,
    },
    /// Inputs that no output needs.
    #[error(
        "inputs {names} are not used; remove them or allow it with `on_unused_input(Unused::Ignore)`"
    )]
    UnusedInput {
        /// The variables.
        names: Names,
    },
    /// The same variable twice among the inputs.
    #[error("inputs {names} are listed more than once")]
    DuplicateInput {
        /// The variables.
        names: Names,
    },
    /// An update or substitution of the wrong type.
    #[error("{name} has type {expected}, its new value has {found}")]
    UpdateType {
        /// The shared variable, or the variable replaced.
        name: Arc<str>,
        /// Its type.
        expected: Type,
        /// The type of the new expression.
        found: Type,
    },
    /// Two updates of one shared variable.
    #[error("{name} is updated twice in one function")]
    DuplicateUpdate {
        /// The shared variable.
        name: Arc<str>,
    },
    /// Wrong number of values in a positional call.
    #[error("the function takes {} values {expected}, got {found}", expected.0.len())]
    ArgumentCount {
        /// The inputs' names.
        expected: Names,
        /// How many were given.
        found: usize,
    },
    /// Inputs without a value.
    #[error("missing feed {missing}; the inputs are {inputs}")]
    MissingFeed {
        /// The inputs without a value.
        missing: Names,
        /// All inputs.
        inputs: Names,
    },
    /// Values for names that are no inputs.
    #[error("unknown feed {unknown}; the inputs are {inputs}")]
    UnknownFeed {
        /// The names without an input.
        unknown: Names,
        /// All inputs.
        inputs: Names,
    },
    /// Inputs that cannot be fed by name because they have none.
    #[error("inputs {names} have no name and cannot be fed; name them with `with_name`")]
    UnnamedInput {
        /// The inputs' types.
        names: Names,
    },
    /// A name given twice.
    #[error("{name} is fed twice")]
    DuplicateFeed {
        /// The name.
        name: Arc<str>,
    },
    /// A value of the wrong type.
    #[error("{name} has type {expected}, got a value of type {found}")]
    ValueType {
        /// The input or shared variable.
        name: Arc<str>,
        /// Its type.
        expected: Type,
        /// The value's exact type.
        found: Type,
    },
    /// Two lengths of one name differ in a call.
    #[error("the length {symbol} is {first} in one input and {second} in {name}")]
    Symbol {
        /// The name of the length.
        symbol: Arc<str>,
        /// The length seen first.
        first: usize,
        /// The length seen now.
        second: usize,
        /// The input where it differs.
        name: Arc<str>,
    },
    /// An array operation failed.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// A kernel failed.
    #[error(transparent)]
    Kernel(Box<KernelError>),
    /// A sequence operation failed.
    #[error(transparent)]
    Lod(Box<LodError>),
    /// Shapes do not fit.
    #[error(transparent)]
    Shape(Box<ShapeError>),
    /// The workspace of a function could not be opened or closed.
    #[error(transparent)]
    Workspace(Box<WorkspaceError>),
    /// Memory could not be accessed.
    #[error(transparent)]
    Access(Box<AccessError>),
}

impl GraphErrorKind {
    pub(crate) fn shapes_differ(left: Shape, right: Shape, rule: &'static str) -> Self {
        Self::ShapesDiffer {
            shapes: Box::new((left, right)),
            rule,
        }
    }
}

macro_rules! boxed_sources {
    ($($variant:ident $source:ty;)*) => {$(
        impl From<$source> for GraphErrorKind {
            fn from(source: $source) -> Self {
                Self::$variant(Box::new(source))
            }
        }
    )*};
}

boxed_sources! {
    Kernel KernelError;
    Lod LodError;
    Shape ShapeError;
    Access AccessError;
    Workspace WorkspaceError;
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

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(op) = &self.0.op {
            write!(f, "Op [{op}]: ")?;
        }
        self.0.kind.fmt(f)?;
        for span in &self.0.spans {
            write!(f, "\n  written at {span}")?;
        }
        if let Some(operands) = &self.0.operands {
            write!(f, "\n  inputs: {operands}")?;
        }
        Ok(())
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
