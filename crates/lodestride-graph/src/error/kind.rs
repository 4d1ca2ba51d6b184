//! What can be wrong with a graph or a call, with the values that show it.

use crate::error::{Names, Types};
use crate::ty::Type;
use lodestride_array::kernels::KernelError;
use lodestride_array::{
    AccessError, AllocError, ArrayError, DType, Shape, ShapeError, WorkspaceError,
};
use lodestride_lod::LodError;
use std::sync::Arc;

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
    /// There was no memory for intermediate results.
    #[error(transparent)]
    Allocation(Box<AllocError>),
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
    Allocation AllocError;
    Kernel KernelError;
    Lod LodError;
    Shape ShapeError;
    Access AccessError;
    Workspace WorkspaceError;
}
