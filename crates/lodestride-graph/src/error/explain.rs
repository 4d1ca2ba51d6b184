//! The text of a [`GraphError`]: the op and the reason, the source lines, the inputs, and what to do about it.

use std::fmt;

use lodestride_array::DType;

use super::{GraphError, GraphErrorKind};

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
        self.0
            .kind
            .help()
            .map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

impl GraphErrorKind {
    /// The way out, when the reason does not say it already.
    fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Broadcast { .. } => {
                "lengths must be equal or 1, counted from the last axis; `expand_dims` or `reshape` one side"
            }
            Self::OutputOwned { .. } | Self::ConstantOutput { .. } => {
                "make a fresh output with `Variable::new`"
            }
            Self::OutputType { .. } => {
                "give the output that type, or let the op make it with `make_node`"
            }
            Self::Cycle => {
                "a variable may be computed from others only; make a fresh output with `Variable::new`"
            }
            Self::UnsupportedDType {
                dtype: DType::F32 | DType::F64,
            } => "`cast` the input to a dtype it is defined for, such as i64",
            Self::UnsupportedDType { .. } => {
                "`cast` the input to a dtype it is defined for, such as f32"
            }
            Self::Rank { .. } => "`reshape`, `expand_dims` or `squeeze` the input",
            Self::Axis { .. } => "axes count from 0, negative ones from the end",
            Self::InnerLength { .. } => {
                "the last length of the left must be the second to last of the right; `transpose` one of them"
            }
            Self::LodMissing => "feed a `LodTensor` instead of a plain array",
            Self::LodDiffers => "`lod_like` gives one operand the sequences of the other",
            Self::NotComputable => "an op whose `plan` says `Dynamic` needs a `compute` of its own",
            Self::IntegerGradient { .. } => "`cast` it to a float dtype before it is used",
            Self::ConstantInput { .. } => {
                "leave them out of the list of inputs; `set` changes a shared variable"
            }
            Self::MissingInput { .. } => {
                "add them to the list of inputs, or substitute them with `given`"
            }
            Self::DuplicateInput { .. } | Self::DuplicateFeed { .. } => "list each of them once",
            Self::UpdateType { .. } => "`cast` or `reshape` the new value",
            Self::DuplicateUpdate { .. } => "write both changes as one expression",
            Self::ArgumentCount { .. } => {
                "pass one value for each input in this order, or use `call_named`"
            }
            Self::MissingFeed { .. } => "feed them by name too",
            Self::UnknownFeed { .. } => "check the spelling, or leave them out",
            Self::ValueType { .. } => {
                "`cast` or `reshape` the value, or declare the variable with the type of the data"
            }
            Self::Symbol { .. } => {
                "both inputs were declared with that length and must agree in it"
            }
            _ => return None,
        })
    }
}
