//! The `Op` trait: the function definition, where an `Apply` is the call. Ops of the crate live in `ops`.

use crate::apply::Apply;
use crate::constant::ConstantData;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::ty::Type;
use crate::variable::Variable;
use lodestride_array::NdArray;
use lodestride_array::{DType, Scalar};
use lodestride_array::{Layout, Shape};
use lodestride_lod::Lod;
use smallvec::SmallVec;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

/// What an op sees of an argument while the graph is built.
#[derive(Clone, Copy)]
pub struct Argument<'a> {
    /// The argument's type.
    pub ty: &'a Type,
    pub(crate) constant: Option<&'a ConstantData>,
}

impl<'a> Argument<'a> {
    pub(crate) fn list(variables: &'a [Variable]) -> Vec<Self> {
        variables
            .iter()
            .map(|v| Self {
                ty: v.ty(),
                constant: v.constant_data(),
            })
            .collect()
    }

    /// Arguments of which only the types are known.
    pub(crate) fn of_types(types: &'a [Type]) -> Vec<Self> {
        let of = |ty| Self { ty, constant: None };
        types.iter().map(of).collect()
    }

    /// The literal, when the argument is one and adopts the dtype of the others.
    pub fn literal(&self) -> Option<Scalar> {
        match self.constant {
            Some(ConstantData::Literal(scalar)) => Some(*scalar),
            _ => None,
        }
    }

    /// The value of a constant array.
    pub fn value(&self) -> Option<&'a NdArray> {
        match self.constant {
            Some(ConstantData::Typed(value)) => Some(value.array()),
            _ => None,
        }
    }
}

impl fmt::Debug for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Argument({})", self.ty)
    }
}

/// What is known of an argument when a call's shapes are worked out.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The element type.
    pub dtype: DType,
    /// Shape, strides and offset in elements.
    pub layout: Layout,
    /// The sequences of a ragged batch.
    pub lod: Option<Lod>,
}

impl Facts {
    /// The shape.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }
}

/// What an op says of an output before it runs.
#[derive(Clone, Debug)]
pub enum Planned {
    /// New memory of this shape, C order; the op overwrites all of it.
    Fresh {
        /// The shape of the result.
        shape: Shape,
        /// The sequences of the result, if it is ragged.
        lod: Option<Lod>,
    },
    /// The memory of input `input`, seen through `layout`; nothing runs.
    View {
        /// Which input is looked at.
        input: usize,
        /// The layout over that input's buffer, offset included.
        layout: Layout,
        /// The sequences of the result, if it is ragged.
        lod: Option<Lod>,
    },
    /// Integers that follow from the shapes alone: lengths and counts, written without running the op.
    Integers {
        /// The shape of the result, whose dtype is i64.
        shape: Shape,
        /// The numbers, in C order.
        values: SmallVec<[i64; 4]>,
    },
    /// Known only when the op has run ([`Op::compute`]).
    Dynamic,
}

impl Planned {
    /// A dense result of this shape.
    pub fn fresh(shape: impl Into<Shape>) -> Self {
        Self::Fresh {
            shape: shape.into(),
            lod: None,
        }
    }

    /// A result with the shape and the sequences of an input.
    pub(crate) fn like(input: &Facts) -> Self {
        Self::Fresh {
            shape: input.shape().clone(),
            lod: input.lod.clone(),
        }
    }

    /// A dense view of input 0.
    pub fn view(layout: Layout) -> Self {
        Self::View {
            input: 0,
            layout,
            lod: None,
        }
    }
}

/// A value that a running function holds: an array and, for ragged batches, its sequences.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The numbers.
    pub data: NdArray,
    /// The sequences of a ragged batch.
    pub lod: Option<Lod>,
}

impl Slot {
    /// The value as ops see it.
    #[inline]
    pub fn by_ref(&self) -> SlotRef<'_> {
        SlotRef {
            data: &self.data,
            lod: self.lod.as_ref(),
        }
    }
}

/// A value while a function runs, whoever holds it: what is fed stays where the caller has it.
#[derive(Clone, Copy, Debug)]
pub struct SlotRef<'a> {
    /// The numbers.
    pub data: &'a NdArray,
    /// The sequences of a ragged batch.
    pub lod: Option<&'a Lod>,
}

impl SlotRef<'_> {
    /// What a plan needs to know of the value.
    pub(crate) fn facts(self) -> Facts {
        Facts {
            dtype: self.data.dtype(),
            layout: self.data.layout().clone(),
            lod: self.lod.cloned(),
        }
    }
}

/// Structural identity of ops, implemented for every `Eq + Hash` type: equal ops on equal inputs are one computation.
pub trait OpIdentity: Any {
    /// The op as `Any`, for downcasts.
    fn as_any(&self) -> &dyn Any;
    /// Whether `other` is the same op with the same parameters.
    fn equals(&self, other: &dyn Any) -> bool;
    /// Feeds the op's parameters to a hasher.
    fn hash_into(&self, state: &mut dyn Hasher);
}

impl<T: Any + Eq + Hash> OpIdentity for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }

    fn hash_into(&self, mut state: &mut dyn Hasher) {
        self.type_id().hash(&mut state);
        self.hash(&mut state);
    }
}

/// A function from values to values: what it accepts, what it gives, how it runs, how it is differentiated.
///
/// Implement it to add an op; `#[derive(Debug, PartialEq, Eq, Hash)]` on the type is the rest.
///
/// ```
/// use lodestride_graph::op::{Argument, Facts, Op, Planned, SlotRef};
/// use lodestride_graph::{GraphErrorKind, OpRef, Type, Variable, dvector};
/// use std::borrow::Cow;
///
/// /// Twice its argument.
/// #[derive(Debug, PartialEq, Eq, Hash)]
/// struct Double;
///
/// impl Op for Double {
///     fn name(&self) -> Cow<'static, str> {
///         "Double".into()
///     }
///     fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
///         Ok(vec![inputs[0].ty.clone()])
///     }
///     fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
///         Ok(vec![Planned::fresh(inputs[0].shape().clone())])
///     }
///     fn perform(&self, inputs: &[SlotRef<'_>], outputs: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
///         inputs[0].data.add_into(inputs[0].data, outputs[0].data)?;
///         Ok(())
///     }
/// }
///
/// let x = dvector("x");
/// let y: Variable = OpRef::from(Double).call(&[&x])?;
/// assert_eq!(y.ty(), x.ty());
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
pub trait Op: OpIdentity + fmt::Debug + Send + Sync {
    /// The name in listings and messages, parameters included.
    fn name(&self) -> Cow<'static, str>;

    /// The output types for these arguments.
    ///
    /// # Errors
    /// Whatever makes the call impossible: number, dtypes, ranks, known lengths.
    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind>;

    /// Shapes, LoD and aliasing of the outputs for one call.
    ///
    /// # Errors
    /// What only the call can know: lengths that do not fit.
    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind>;

    /// Computes the outputs that [`plan`](Op::plan) called fresh, in the memory given.
    ///
    /// # Errors
    /// A kernel's refusal, most often memory of a closed workspace.
    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind>;

    /// Computes outputs whose shape depends on the numbers; only called when the plan says `Dynamic`.
    ///
    /// # Errors
    /// As for [`perform`](Op::perform).
    fn compute(&self, inputs: &[SlotRef<'_>]) -> Result<Vec<Slot>, GraphErrorKind> {
        let _ = inputs;
        Err(GraphErrorKind::NotComputable)
    }

    /// The gradient with respect to each input, given those of the outputs (`None` = no path from the cost).
    ///
    /// `None` for an input says that the output does not depend on it differentiably: an index, a shape, an integer.
    ///
    /// # Errors
    /// `NotDifferentiable` unless the op implements this.
    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let _ = outputs;
        Err(GraphError::new(
            GraphErrorKind::NotDifferentiable,
            Some(node.op()),
            node.span(),
        ))
    }

    /// Whether the shape of the outputs depends on the numbers, so that [`plan`](Op::plan) says `Dynamic`.
    fn is_dynamic(&self) -> bool {
        false
    }

    /// Whether the op looks at the numbers of an input, or at its shape and sequences only.
    ///
    /// What is needed for its shape only is never computed.
    fn reads(&self, input: usize) -> bool {
        let _ = input;
        true
    }

    /// Which inputs' memory output 0 may take over when nobody needs them any more.
    fn may_overwrite(&self) -> Overwrite {
        Overwrite::Never
    }

    /// Whether equal inputs always give equal outputs; only then are equal nodes merged and constants folded.
    fn is_pure(&self) -> bool {
        true
    }
}

/// Which inputs an op may write its first output over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// None of them.
    Never,
    /// Any of the same shape and dtype: each element is read before it is written.
    AnyInput,
    /// This one only.
    Input(usize),
}

/// A shared handle of an [`Op`]; equality is structural.
#[derive(Clone)]
pub struct OpRef(Arc<dyn Op>);

impl OpRef {
    /// Applies the op and gives its only output.
    ///
    /// # Errors
    /// The op's refusal of the arguments, with their types and this source line; `OutputCount` for several outputs.
    #[track_caller]
    pub fn call(&self, inputs: &[&Variable]) -> Result<Variable> {
        let inputs = inputs.iter().map(|v| (*v).clone()).collect();
        Apply::make(self.clone(), inputs, Span(Location::caller()))?.out()
    }

    /// Applies the op: what Theano calls `make_node`.
    ///
    /// # Errors
    /// The op's refusal of the arguments, with their types and this source line.
    #[track_caller]
    pub fn make_node(&self, inputs: &[&Variable]) -> Result<Apply> {
        let inputs = inputs.iter().map(|v| (*v).clone()).collect();
        Apply::make(self.clone(), inputs, Span(Location::caller()))
    }

    /// The op as its concrete type, if it is that.
    pub fn downcast_ref<T: Op>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }

    /// Whether the op is of this concrete type.
    pub fn is<T: Op>(&self) -> bool {
        self.downcast_ref::<T>().is_some()
    }
}

impl<T: Op> From<T> for OpRef {
    fn from(op: T) -> Self {
        Self(Arc::new(op))
    }
}

impl From<&OpRef> for OpRef {
    fn from(op: &OpRef) -> Self {
        op.clone()
    }
}

impl Deref for OpRef {
    type Target = dyn Op;

    fn deref(&self) -> &(dyn Op + 'static) {
        &*self.0
    }
}

impl PartialEq for OpRef {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.equals(other.0.as_any())
    }
}

impl Eq for OpRef {}

impl Hash for OpRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash_into(state);
    }
}

impl fmt::Debug for OpRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for OpRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
