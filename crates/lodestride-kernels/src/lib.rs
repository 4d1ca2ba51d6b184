//! Numeric kernels over guarded buffers and strided layouts.

mod across;
mod blas;
mod closure;
mod code;
mod compact;
#[cfg(feature = "rayon")]
mod crew;
mod crosswise;
mod dense;
mod door;
mod driver;
mod elementwise;
mod error;
mod flat;
mod frame;
mod gemm_choice;
#[cfg(target_arch = "x86_64")]
mod gemm_narrow;
#[cfg(target_arch = "x86_64")]
mod gemm_packed;
#[cfg(target_arch = "x86_64")]
mod gemm_register;
mod gemm_small;
#[cfg(target_arch = "x86_64")]
mod gemm_store;
mod gemm_tile;
#[cfg(target_arch = "x86_64")]
mod gemm_walk;
mod index_search;
mod inner;
mod instruction;
mod isa;
mod known;
#[cfg(target_arch = "x86_64")]
mod lines;
mod matmul_mixed;
mod matmul_small;
mod matrix;
mod nest_form;
mod numeric;
mod octave;
mod op;
mod operand;
mod packed;
mod pairs;
mod pass;
mod pick;
mod plan;
mod program;
mod program_builder;
mod program_reduce;
mod random_philox;
mod reduce_data;
mod reduce_exponentials;
mod reduce_fold;
mod reduce_kinds;
mod reduce_long;
mod reduce_moments;
mod reduce_plan;
mod reduce_short;
mod reduce_short_moments;
mod reduce_squares;
mod reduce_walk;
mod row_copy;
mod row_lines;
mod row_normalise;
mod row_softmax;
mod row_walk;
mod rules;
mod runs;
mod scalar;
mod segment_pool;
mod segment_rows;
mod shuffle;
mod small;
#[cfg(target_arch = "x86_64")]
mod sort_avx512;
mod sort_float;
mod sort_key;
mod sort_lines;
#[cfg(target_arch = "x86_64")]
mod sort_network;
mod sort_order;
mod sort_radix;
mod sort_runs;
mod sort_select;
mod sort_share;
mod spread;
mod square;
mod stream;
mod strided;
mod table;
mod take_rows;
mod threads;
mod tile;
mod transfer;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod transpose_lines;
mod vector;
mod walk;

pub mod concat;
pub mod gather;
pub mod index_reduce;
pub mod mask;
pub mod matmul;
pub mod normalise;
pub mod random;
pub mod reduce;
pub mod scan;
pub mod segment;
pub mod segment_gradient;
pub mod segment_move;
pub mod segment_softmax;
pub mod segment_windows;
pub mod sort;
pub mod sort_histogram;
pub mod sort_quantile;
pub mod sort_search;

pub use blas::Backend;
pub use closure::{ElementFn, zip_map};
pub use concat::concat;
pub use elementwise::{binary, clip, copy, select, unary};
pub use error::{KernelError, OffsetRule, Result};
pub use gather::{scatter_add, scatter_set, take};
pub use index_reduce::{ArgOp, index_reduce};
pub use instruction::{Instruction, Register};
pub use isa::Isa;
pub use mask::{compress, count_nonzero, nonzero};
pub use matmul::matmul;
pub use matmul_small::PackedProduct;
pub use normalise::{layer_norm, softmax, softmax_gradient};
pub use op::{BinaryOp, UnaryOp};
pub use operand::{Input, Operand, Output};
pub use packed::Packed;
pub use program::Program;
pub use program_builder::ProgramBuilder;
pub use reduce::{ReduceOp, reduce};
pub use scan::{ScanOp, scan};
pub use segment::{SegmentOp, segment_reduce};
pub use segment_gradient::segment_reduce_gradient;
pub use segment_move::{copy_row_ranges, segment_broadcast, segment_pad, segment_reverse};
pub use segment_softmax::segment_softmax;
pub use segment_windows::{segment_windows, segment_windows_adjoint};
pub use threads::{Thresholds, set_threads, set_thresholds, threads, thresholds};
