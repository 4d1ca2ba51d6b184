//! Numeric kernels over guarded buffers and strided layouts.

mod isa;

pub use isa::Isa;
