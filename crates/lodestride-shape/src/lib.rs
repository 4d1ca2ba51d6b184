//! Shapes, strides, layouts, indexing, broadcasting and loop nests: integers only.
