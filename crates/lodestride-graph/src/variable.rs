//! Variables: the red boxes of a graph. A variable is a cheap handle; what makes it is its `owner`.
//! Operators on variables live in `operators`, the mathematical methods beside each op in `ops`.

use crate::apply::Apply;
use crate::constant::{Constant, ConstantData};
use crate::error::{GraphErrorKind, Span};
use crate::shared::SharedCell;
use crate::ty::Type;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// What a variable is apart from its producer. An apply node keeps this part of its outputs alive, never the whole
/// variable, so that there is no reference cycle.
pub(crate) struct Identity {
    pub(crate) id: u64,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    name: RwLock<Option<Arc<str>>>,
    /// Set when some apply node takes the variable as an input; only such a variable can close a cycle.
    pub(crate) used: AtomicBool,
}

/// Where the value of a variable without an owner comes from.
#[derive(Clone)]
pub(crate) enum Kind {
    /// Fed by the caller, or computed by the owner.
    Plain,
    /// Part of the graph.
    Constant(ConstantData),
    /// Held by the process, changed by updates.
    Shared(Arc<SharedCell>),
}

pub(crate) struct VariableNode {
    pub(crate) identity: Arc<Identity>,
    /// Set at most once, by the apply node that lists this variable among its outputs.
    pub(crate) owner: OnceLock<(Apply, usize)>,
}

/// A value in a graph: an input, a constant, a shared variable or the result of an [`Apply`].
///
/// Clones are the same variable. Equality is identity, as in Theano; elementwise comparison is the method
/// [`equal`](Variable::equal).
///
/// ```
/// use lodestride_graph::{DType, TensorType, Variable, dmatrix};
/// let x = dmatrix("x");
/// let y = dmatrix("y");
/// let z = &x + &y;
/// assert!(x.owner().is_none());
/// assert_eq!(z.owner().unwrap().inputs(), [x, y]);
/// assert_eq!(z.index(), 0);
/// ```
#[derive(Clone)]
pub struct Variable(pub(crate) Arc<VariableNode>);

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl Identity {
    pub(crate) fn new(ty: Type, kind: Kind, name: Option<&str>, span: Span) -> Arc<Self> {
        Arc::new(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            ty,
            kind,
            span,
            name: RwLock::new(name.map(Arc::from)),
            used: AtomicBool::new(false),
        })
    }
}

impl Variable {
    /// A variable of type `ty` without an owner: an input of the graph, or an output to hand to [`Apply::new`].
    ///
    /// ```
    /// use lodestride_graph::{DType, TensorType, Variable};
    /// let float64_matrix = TensorType::new(DType::F64, [false, false]);
    /// let x = Variable::new(&float64_matrix, "x");
    /// let anonymous = Variable::new(&float64_matrix, None);
    /// assert_eq!(x.name().as_deref(), Some("x"));
    /// assert!(anonymous.name().is_none() && anonymous.owner().is_none());
    /// ```
    #[track_caller]
    pub fn new<'a>(ty: impl Into<Type>, name: impl Into<Option<&'a str>>) -> Self {
        Self::with_kind(
            ty.into(),
            Kind::Plain,
            name.into(),
            Span(Location::caller()),
        )
    }

    pub(crate) fn with_kind(ty: Type, kind: Kind, name: Option<&str>, span: Span) -> Self {
        Self::from_identity(Identity::new(ty, kind, name, span))
    }

    pub(crate) fn from_identity(identity: Arc<Identity>) -> Self {
        Self(Arc::new(VariableNode {
            identity,
            owner: OnceLock::new(),
        }))
    }

    /// The handle of output `index` of `owner`, whose identity the apply node keeps.
    pub(crate) fn output_of(owner: &Apply, index: usize, identity: &Arc<Identity>) -> Self {
        let cell = OnceLock::from((owner.clone(), index));
        Self(Arc::new(VariableNode {
            identity: Arc::clone(identity),
            owner: cell,
        }))
    }

    /// The type: what values the variable may hold.
    pub fn ty(&self) -> &Type {
        &self.0.identity.ty
    }

    /// The element type, short for `ty().dtype()`.
    pub fn dtype(&self) -> lodestride_array::DType {
        self.ty().dtype()
    }

    /// The number of axes, short for `ty().rank()`.
    pub fn rank(&self) -> usize {
        self.ty().rank()
    }

    /// The apply node this variable is an output of; `None` for inputs, constants and shared variables.
    pub fn owner(&self) -> Option<&Apply> {
        self.0.owner.get().map(|(apply, _)| apply)
    }

    /// The position among the owner's outputs; 0 and without meaning when there is no owner.
    pub fn index(&self) -> usize {
        self.0.owner.get().map_or(0, |(_, index)| *index)
    }

    /// The name, if one was given. Names are for people; two variables may share one.
    pub fn name(&self) -> Option<Arc<str>> {
        self.0
            .identity
            .name
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Gives the variable a name and returns it.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        self.set_name(name);
        self
    }

    /// Gives the variable a name, replacing an earlier one.
    pub fn set_name(&self, name: &str) {
        *self
            .0
            .identity
            .name
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some(name.into());
    }

    /// Where in the user's source the variable was written.
    pub fn span(&self) -> Span {
        self.0.identity.span
    }

    /// A number that is unique to this variable within the process.
    pub fn id(&self) -> u64 {
        self.0.identity.id
    }

    /// Whether the value is part of the graph.
    pub fn is_constant(&self) -> bool {
        matches!(self.0.identity.kind, Kind::Constant(_))
    }

    /// Whether the value is held by a shared variable.
    pub fn is_shared(&self) -> bool {
        matches!(self.0.identity.kind, Kind::Shared(_))
    }

    /// The constant behind this variable, if it is one.
    pub fn as_constant(&self) -> Option<Constant> {
        self.is_constant()
            .then(|| Constant::from_variable(self.clone()))
    }

    pub(crate) fn constant_data(&self) -> Option<&ConstantData> {
        match &self.0.identity.kind {
            Kind::Constant(data) => Some(data),
            Kind::Plain | Kind::Shared(_) => None,
        }
    }

    /// Whether this is a literal that takes the dtype of what it meets.
    pub(crate) fn is_weak(&self) -> bool {
        matches!(self.constant_data(), Some(ConstantData::Literal(_)))
    }

    /// Ties this variable to its producer.
    ///
    /// # Errors
    /// `OutputOwned` when another apply node owns it already, `ConstantOutput` for constants and shared variables.
    pub(crate) fn set_owner(&self, apply: &Apply, index: usize) -> Result<(), GraphErrorKind> {
        if !matches!(self.0.identity.kind, Kind::Plain) {
            return Err(GraphErrorKind::ConstantOutput { index });
        }
        self.0
            .owner
            .set((apply.clone(), index))
            .map_err(|_| GraphErrorKind::OutputOwned { index })
    }

    /// How an error message or a listing calls the variable: its name, its value, or `op.index`.
    pub fn label(&self) -> Arc<str> {
        if let Some(name) = self.name() {
            return name;
        }
        if let Some(data) = self.constant_data() {
            return data.to_string().into();
        }
        match self.0.owner.get() {
            Some((apply, index)) => format!("{}.{index}", apply.op().name()).into(),
            None => format!("<{}>", self.ty()).into(),
        }
    }
}

impl PartialEq for Variable {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Variable {}

impl Hash for Variable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variable({}: {})", self.label(), self.ty())
    }
}

impl From<&Variable> for Variable {
    fn from(variable: &Variable) -> Self {
        variable.clone()
    }
}

/// Frees a chain of producers with an explicit stack: a graph may be deeper than the thread's stack.
impl Drop for VariableNode {
    fn drop(&mut self) {
        let Some((apply, _)) = self.owner.take() else {
            return;
        };
        let mut pending = vec![apply];
        while let Some(apply) = pending.pop() {
            let Some(mut node) = Arc::into_inner(apply.0) else {
                continue;
            };
            for input in node.inputs.drain(..) {
                if let Some(mut input) = Arc::into_inner(input.0) {
                    pending.extend(input.owner.take().map(|(apply, _)| apply));
                }
            }
        }
    }
}
