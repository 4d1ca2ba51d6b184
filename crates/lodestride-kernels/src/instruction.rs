//! What a fused program is made of, as its writer sees it: registers and the instructions that define them.

use crate::op::{BinaryOp, UnaryOp};
use lodestride_buffer::Scalar;
use std::fmt;

/// A value of a program: an input, a constant, or the result of an instruction. Each is defined once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register(pub(crate) usize);

/// What defines a register.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Instruction {
    /// The elements of an input, by its number.
    Load(usize),
    /// The same number everywhere.
    Constant(Scalar),
    /// An operation on one register.
    Unary(UnaryOp, Register),
    /// An operation on two registers.
    Binary(BinaryOp, Register, Register),
    /// The second register where the first is true, else the third.
    Select(Register, Register, Register),
    /// A register in another dtype.
    Cast(Register),
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Instruction::Load(input) => write!(f, "load {input}"),
            Instruction::Constant(scalar) => write!(f, "constant {scalar}"),
            Instruction::Unary(op, x) => write!(f, "{op} {x}"),
            Instruction::Binary(op, x, y) => write!(f, "{op} {x} {y}"),
            Instruction::Select(condition, a, b) => write!(f, "select {condition} {a} {b}"),
            Instruction::Cast(x) => write!(f, "cast {x}"),
        }
    }
}
