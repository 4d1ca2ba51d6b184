//! The words of what goes wrong when an operation is called by its name.

use std::fmt;

use super::ArrayErrorKind;

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
            _ => Ok(()),
        }
    }
}
