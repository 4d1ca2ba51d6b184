//! NdArray: strided n-dimensional arrays with a run-time dtype, views that share memory, in-place ops.
