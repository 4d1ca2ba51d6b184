//! The words of what goes wrong when an operation is called by its name.

use std::fmt;

use super::ArrayErrorKind;
use crate::named::ParameterProblem;

impl ArrayErrorKind {
    /// The whole text of the kinds that only calls by name have.
    pub(super) fn write_by_name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOp { name, nearest } => {
                write!(f, "op: there is no operation `{name}`\n  help: ")?;
                for (i, name) in nearest.iter().enumerate() {
                    let lead = if i == 0 { "did you mean " } else { " or " };
                    write!(f, "{lead}`{name}`")?;
                }
                let lead = if nearest.is_empty() { "" } else { "? " };
                write!(f, "{lead}`Op::all()` lists every one")
            }
            Self::OperandCount {
                op,
                expected,
                given,
            } => {
                write!(
                    f,
                    "{op}: takes {expected} operand(s), got {given}\n  help: "
                )?;
                f.write_str("`on` takes arrays, `scalar` a plain number as second operand")
            }
            Self::Parameter { op, known, problem } => {
                write!(f, "{op}: ")?;
                match problem {
                    ParameterProblem::TooMany { given } => {
                        write!(f, "has {} parameter(s), got {given}", known.len())
                    }
                    ParameterProblem::Unknown { name } => write!(f, "has no parameter `{name}`"),
                    ParameterProblem::Missing { name } => write!(f, "needs the parameter `{name}`"),
                    ParameterProblem::NotWhole { name, value } => {
                        write!(f, "`{name}` must be a whole number, got {value}")
                    }
                }?;
                f.write_str("\n  help: ")?;
                for (i, parameter) in known.iter().enumerate() {
                    let lead = if i == 0 { "its parameters are " } else { ", " };
                    write!(f, "{lead}`{}`", parameter.name)?;
                    if let Some(default) = parameter.default {
                        write!(f, " ({default})")?;
                    }
                }
                f.write_str(if known.is_empty() {
                    "it has operands only, which `on` and `scalar` take"
                } else {
                    ": `arg` sets them in order, `named_arg` by name"
                })
            }
            _ => Ok(()),
        }
    }
}
