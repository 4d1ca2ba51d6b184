//! File formats for arrays and LoD tensors: native binary, npy, npz.
