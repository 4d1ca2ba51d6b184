//! Strided arrays with workspaces, ragged batches without padding, and a graph compiler, in one stack.
