//! LoD tensors: nested variable-length sequences in one batch, without padding.
