//! Shared variables: values that live between calls and that updates change.

use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::Facts;
use crate::ty::Type;
use crate::value::Value;
use crate::variable::{Kind, Variable};
use lodestride_array::{NdArray, scope_out};
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The container of one shared variable. Functions hold it by reference count; the value sits outside every workspace.
pub(crate) struct SharedCell {
    held: Mutex<Held>,
}

/// The value, and the memory of the one before it: updates write there while the present value is still read.
pub(crate) struct Held {
    pub(crate) value: Value,
    spare: Option<NdArray>,
}

impl SharedCell {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Memory for the next value: that of the last one if nobody else has it, else new.
    pub(crate) fn spare(&mut self, facts: &Facts) -> Result<NdArray, GraphErrorKind> {
        let reusable = |a: &NdArray| {
            a.dtype() == facts.dtype
                && a.shape() == facts.shape()
                && !a.is_view()
                && a.buffer().is_unique()
        };
        match self.spare.take().filter(reusable) {
            Some(array) => Ok(array),
            None => Ok(scope_out(|| {
                NdArray::recycled(facts.dtype, facts.shape().clone())
            })?),
        }
    }

    pub(crate) fn store(&mut self, value: Value) {
        let old = std::mem::replace(&mut self.value, value);
        self.spare = Some(old.into_array());
    }
}

/// A variable whose value the process holds: model parameters, optimiser state, counters.
///
/// ```
/// use lodestride_array::NdArray;
/// use lodestride_graph::shared;
/// let w = shared(NdArray::from([1.0f64, 2.0]), "w")?;
/// assert_eq!(w.get()?.array().to_vec::<f64>()?, [1.0, 2.0]);
/// w.set(NdArray::from([3.0f64, 4.0]))?;
/// assert_eq!(w.get()?.array().to_vec::<f64>()?, [3.0, 4.0]);
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shared(Variable);

/// A shared variable with its own copy of `value`; the type has exactly the value's lengths.
///
/// # Errors
/// The array's own error when it cannot be read.
#[track_caller]
pub fn shared<'a>(value: impl Into<Value>, name: impl Into<Option<&'a str>>) -> Result<Shared> {
    let value = value.into();
    let ty = value.exact_type();
    Shared::make(value, ty, name.into(), Span(Location::caller()))
}

/// A shared variable of a wider type than its first value, so that later values may have other lengths.
///
/// # Errors
/// `ValueType` when the value is not of that type; the array's own error when it cannot be read.
#[track_caller]
pub fn shared_of<'a>(
    ty: impl Into<Type>,
    value: impl Into<Value>,
    name: impl Into<Option<&'a str>>,
) -> Result<Shared> {
    Shared::make(
        value.into(),
        ty.into(),
        name.into(),
        Span(Location::caller()),
    )
}

impl Shared {
    fn make(value: Value, ty: Type, name: Option<&str>, span: Span) -> Result<Self> {
        let fail = |kind| GraphError::new(kind, None, span);
        if !accepts(&ty, &value) {
            let name = name.unwrap_or("<shared>").into();
            return Err(fail(GraphErrorKind::ValueType {
                name,
                expected: ty,
                found: value.exact_type(),
            }));
        }
        let cell = SharedCell {
            held: Mutex::new(Held {
                value: value.detached().map_err(fail)?,
                spare: None,
            }),
        };
        Ok(Self(Variable::with_kind(
            ty,
            Kind::Shared(cell.into()),
            name,
            span,
        )))
    }

    fn cell(&self) -> &SharedCell {
        match &self.0.0.identity.kind {
            Kind::Shared(cell) => cell,
            Kind::Plain | Kind::Constant(_) => {
                unreachable!("a Shared is only made around a shared cell")
            }
        }
    }

    /// A copy of the value.
    ///
    /// # Errors
    /// The allocator's, when there is no memory for the copy.
    #[track_caller]
    pub fn get(&self) -> Result<Value> {
        let held = self.cell().lock();
        held.value
            .detached()
            .map_err(|kind| GraphError::new(kind, None, Span::here()))
    }

    /// Replaces the value by a copy of `value`.
    ///
    /// # Errors
    /// `ValueType` when the value is not of the variable's type; the array's own error when it cannot be read.
    #[track_caller]
    pub fn set(&self, value: impl Into<Value>) -> Result<()> {
        let span = Span(Location::caller());
        let value = value.into();
        let fail = |kind| GraphError::new(kind, None, span);
        if !accepts(self.0.ty(), &value) {
            let (name, expected) = (self.0.label(), self.0.ty().clone());
            return Err(fail(GraphErrorKind::ValueType {
                name,
                expected,
                found: value.exact_type(),
            }));
        }
        let copy = value.detached().map_err(fail)?;
        self.cell().lock().store(copy);
        Ok(())
    }

    /// The variable, for calls that want one.
    pub fn variable(&self) -> &Variable {
        &self.0
    }
}

/// Whether `value` is of type `ty`, without conversion.
pub(crate) fn accepts(ty: &Type, value: &Value) -> bool {
    ty.is_compatible(&value.exact_type())
}

impl Deref for Shared {
    type Target = Variable;

    fn deref(&self) -> &Variable {
        &self.0
    }
}

impl From<&Shared> for Variable {
    fn from(shared: &Shared) -> Self {
        shared.0.clone()
    }
}

impl From<Shared> for Variable {
    fn from(shared: Shared) -> Self {
        shared.0
    }
}
