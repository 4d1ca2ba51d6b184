//! Numeric kernels over guarded buffers and strided layouts.

mod driver;
mod elementwise;
mod error;
mod inner;
mod isa;
mod op;
mod operand;
mod scalar;
mod table;
mod threads;
mod tile;

pub use elementwise::{binary, clip, copy, select, unary};
pub use error::{KernelError, Result};
pub use isa::Isa;
pub use op::{BinaryOp, UnaryOp};
pub use operand::{Input, Operand};
pub use threads::{set_threads, threads};
