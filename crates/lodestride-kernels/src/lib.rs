//! Numeric kernels over guarded buffers and strided layouts.
