//! Bytes, who may touch them, and what they mean: dtypes, buffers with access guards, workspaces.
