//! Numeric kernels over guarded buffers and strided layouts.

mod across;
mod beside_number;
mod blas;
mod cached;
mod clip;
mod closure;
mod code;
mod compact;
#[cfg(feature = "rayon")]
mod crew;
mod crosswise;
mod dense;
mod distances;
mod door;
mod driver;
mod elementwise;
mod error;
#[cfg(target_arch = "x86_64")]
mod every_second;
#[cfg(target_arch = "x86_64")]
mod every_third;
mod flat;
mod frame;
mod gather_indices;
#[cfg(target_arch = "x86_64")]
mod gemm_across;
mod gemm_beside;
mod gemm_bf16;
mod gemm_choice;
#[cfg(target_arch = "x86_64")]
mod gemm_columns;
mod gemm_copied;
mod gemm_deep;
#[cfg(target_arch = "x86_64")]
mod gemm_dots;
#[cfg(target_arch = "x86_64")]
mod gemm_few;
mod gemm_integers;
#[cfg(target_arch = "x86_64")]
mod gemm_narrow;
#[cfg(target_arch = "x86_64")]
mod gemm_packed;
#[cfg(target_arch = "x86_64")]
mod gemm_register;
mod gemm_series;
mod gemm_small;
mod gemm_spread;
#[cfg(target_arch = "x86_64")]
mod gemm_store;
#[cfg(target_arch = "x86_64")]
mod gemm_sweep;
mod gemm_tile;
#[cfg(target_arch = "x86_64")]
mod gemm_walk;
#[cfg(target_arch = "x86_64")]
mod gemm_windows;
mod index_search;
mod index_vectors;
mod index_walk;
mod inner;
mod instruction;
mod interleave;
mod isa;
mod known;
mod known_power;
mod lane;
#[cfg(target_arch = "x86_64")]
mod line_repeats;
#[cfg(target_arch = "x86_64")]
mod lines;
mod look_up;
mod matmul_bf16;
mod matmul_halves;
mod matmul_mixed;
mod matmul_small;
mod matmul_windows;
mod matrix;
mod moments;
mod nest_form;
mod numeric;
mod octave;
mod op;
mod op_entry;
mod operand;
mod packed;
mod packed_program;
mod packed_reduce;
mod packed_rows;
mod pairs;
mod parted_rows;
mod pass;
mod pick;
mod plan;
mod prefetching;
mod program;
mod program_builder;
mod program_reduce;
mod random_integers;
mod random_philox;
mod random_shuffle;
mod random_waits;
mod rank;
mod reduce_choice;
mod reduce_data;
mod reduce_exponentials;
mod reduce_extremes;
mod reduce_few;
mod reduce_flags;
mod reduce_fold;
mod reduce_kinds;
mod reduce_lifted;
mod reduce_lines;
mod reduce_long;
mod reduce_moments;
mod reduce_narrow;
mod reduce_plan;
mod reduce_product;
mod reduce_short;
mod reduce_short_moments;
mod reduce_squares;
mod reduce_together;
mod reduce_walk;
mod reversed;
mod row_code;
mod row_copy;
mod row_fold;
mod row_frame;
mod row_lines;
mod row_normalise;
mod row_softmax;
mod row_steps;
mod row_walk;
mod rules;
mod runs;
mod scalar;
mod scan_lines;
mod scan_rows;
mod segment_dense;
mod segment_narrow;
mod segment_pool;
mod segment_rows;
mod short_rows;
mod shuffle;
mod shuffled_rows;
mod small;
#[cfg(target_arch = "x86_64")]
mod sort_avx2;
#[cfg(target_arch = "x86_64")]
mod sort_avx512;
mod sort_float;
mod sort_halved;
mod sort_key;
mod sort_lines;
#[cfg(target_arch = "x86_64")]
mod sort_network;
mod sort_order;
#[cfg(target_arch = "x86_64")]
mod sort_partition;
#[cfg(target_arch = "x86_64")]
mod sort_quick;
mod sort_radix;
mod sort_runs;
mod sort_select;
mod sort_share;
mod sort_side;
mod sort_statistic;
mod sort_topk;
mod spacing;
mod spread;
mod square;
mod stream;
mod strided;
mod table;
mod table_halves;
mod table_moves;
mod table_quotients;
mod take_rows;
mod threads;
mod tile;
mod tile_runs;
mod transfer;
mod transfer_joined;
mod transfer_order;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod transpose_halves;
#[cfg(target_arch = "x86_64")]
mod transpose_lines;
mod twice;
mod vector;
mod walk;

pub mod concat;
pub mod convolve;
pub mod gather;
pub mod gather_along;
pub mod index_alike;
mod index_reduce;
pub mod mask;
pub mod matmul;
pub mod normalise;
pub mod random;
pub mod reduce;
pub mod row_pass;
pub mod scan;
pub mod segment;
pub mod segment_gradient;
pub mod segment_move;
pub mod segment_pad;
pub mod segment_ranges;
pub mod segment_repeat;
pub mod segment_softmax;
pub mod segment_steps;
pub mod segment_sums;
pub mod segment_windows;
pub mod sort;
pub mod sort_histogram;
pub mod sort_quantile;
pub mod sort_search;

pub use blas::Backend;
pub use clip::clip;
pub use closure::{ElementFn, zip_map};
pub use concat::concat;
pub use convolve::convolve;
pub use distances::{RowDistance, row_distances};
pub use elementwise::{binary, copy, select, unary};
pub use error::{KernelError, OffsetRule, Result};
pub use gather::{scatter_add, scatter_set, take, take_new};
pub use index_reduce::{ArgOp, index_reduce};
pub use instruction::{Instruction, Register};
pub use isa::Isa;
pub use mask::{compress, count_nonzero, nonzero};
pub use matmul::matmul;
pub use matmul_small::PackedProduct;
pub use matmul_windows::matmul_windows;
pub use normalise::{layer_norm, softmax, softmax_gradient};
pub use op::{BinaryOp, UnaryOp};
pub use operand::{Input, Operand, Output};
pub use packed::{Packed, PackedNumber};
pub use packed_rows::PackedRows;
pub use program::Program;
pub use program_builder::ProgramBuilder;
pub use reduce::{ReduceOp, reduce};
pub use row_pass::{RowFold, RowStep, RowValue, row_pass};
pub use scan::{ScanOp, scan};
pub use segment::{SegmentOp, segment_reduce};
pub use segment_gradient::segment_reduce_gradient;
pub use segment_move::segment_reverse;
pub use segment_pad::segment_pad;
pub use segment_ranges::{RowRange, add_row_ranges, copy_row_ranges};
pub use segment_repeat::segment_broadcast;
pub use segment_softmax::{segment_softmax, segment_softmax_gradient};
pub use segment_steps::segment_steps;
pub use segment_sums::{segment_convolve, segment_convolve_gradient, segment_windows_adjoint};
pub use segment_windows::{SegmentWindow, segment_windows};
pub use spacing::{Numbers, Spacing, write_numbers, write_powers};
pub use threads::{Thresholds, set_threads, set_thresholds, threads, thresholds};
