//! What operations on two operands are to each other.

use crate::op::BinaryOp;

impl BinaryOp {
    /// The operation with its operands exchanged: `op(x, y) == op.reversed()(y, x)`, where there is one.
    pub const fn reversed(self) -> Option<BinaryOp> {
        Some(match self {
            BinaryOp::Sub => BinaryOp::RSub,
            BinaryOp::RSub => BinaryOp::Sub,
            BinaryOp::Div => BinaryOp::RDiv,
            BinaryOp::RDiv => BinaryOp::Div,
            BinaryOp::Lt => BinaryOp::Gt,
            BinaryOp::Le => BinaryOp::Ge,
            BinaryOp::Gt => BinaryOp::Lt,
            BinaryOp::Ge => BinaryOp::Le,
            BinaryOp::FloorDiv
            | BinaryOp::Mod
            | BinaryOp::FMod
            | BinaryOp::Remainder
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => return None,
            commutative => commutative,
        })
    }

    /// Whether the result is a truth value of the operands' order or equality.
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        )
    }
}
