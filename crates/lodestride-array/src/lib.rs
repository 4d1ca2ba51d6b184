//! `NdArray`: strided n-dimensional arrays with a run-time dtype, views that share memory, and in-place ops.
//!
//! ```
//! use lodestride_array::{NdArray, Result, s};
//!
//! fn main() -> Result<()> {
//!     let a = NdArray::arange(0, 6, 1)?.reshape([2, 3])?;
//!     a.row(0)?.addi(10.0)?; // a row is a view: this changes `a`
//!     let b = &a * 2.0 - &a.transpose().dup()?.transpose();
//!     println!("{b:?}");
//!     assert_eq!(b.get(&s![.., 0])?.to_vec::<f32>()?, [10.0, 3.0]);
//!     Ok(())
//! }
//! ```
//!
//! # Where to look
//!
//! | Subject | Methods |
//! |---|---|
//! | Making | [`zeros`](NdArray::zeros), [`from`](NdArray#impl-From%3CV%3E-for-NdArray), [`from_vec`](NdArray::from_vec), [`arange`](NdArray::arange), [`linspace`](NdArray::linspace), [`eye`](NdArray::eye) |
//! | Parts, as views | [`get`](NdArray::get), [`row`](NdArray::row), [`slice`](NdArray::slice), [`tensor_along_dimension`](NdArray::tensor_along_dimension) |
//! | Other shapes | [`reshape`](NdArray::reshape), [`transpose`](NdArray::transpose), [`permute`](NdArray::permute), [`broadcast_to`](NdArray::broadcast_to) |
//! | Parts, by lists and masks | [`get_fancy`](NdArray::get_fancy), [`get_outer`](NdArray::get_outer), [`take`](NdArray::take), [`gather_nd`](NdArray::gather_nd), [`select_where`](NdArray::select_where) |
//! | Made of others | [`concat`](NdArray::concat), [`pad_with`](NdArray::pad_with), [`roll`](NdArray::roll), [`meshgrid`](NdArray::meshgrid), [`one_hot`](NdArray::one_hot); growing: [`GrowArray`] |
//! | Elements | [`get_f64`](NdArray::get_f64), [`set`](NdArray::set), [`put`](NdArray::put), [`assign`](NdArray::assign), [`to_vec`](NdArray::to_vec) |
//! | Arithmetic | [`add`](NdArray::add) and the others: `add` returns, `addi` changes in place, `add_into` fills; operators |
//! | Order | [`sort`](NdArray::sort), [`argsort`](NdArray::argsort), [`topk`](NdArray::topk), [`unique`](NdArray::unique), [`median`](NdArray::median), [`histogram`](NdArray::histogram) |
//! | Statistics | [`sum`](NdArray::sum), [`moments`](NdArray::moments), [`entropy`](NdArray::entropy), [`nan_mean`](NdArray::nan_mean), [`covariance`](NdArray::covariance), [`distance`](NdArray::distance) |
//! | Samples | [`interp`](NdArray::interp), [`gradient`](NdArray::gradient), [`trapezoid`](NdArray::trapezoid), [`convolve`](NdArray::convolve), [`polyval`](NdArray::polyval), `polyfit` with the feature `linalg` |
//! | Chance | [`rand`](NdArray::rand), [`Rng`]: distributions of any dtype, shuffling, choosing, dropout |
//! | Printing | [`display`](NdArray::display), [`PrintOptions`] for one array, a closure or the process; [`explain`](NdArray::explain) |
//! | Images | [`conv2d`](NdArray::conv2d), [`pool2d`](NdArray::pool2d), [`im2col`](NdArray::im2col) over [`Windows`] |
//! | Products | [`matmul`](NdArray::matmul), [`einsum`](NdArray::einsum), [`tensordot`](NdArray::tensordot), [`multi_dot`](NdArray::multi_dot), [`kron`](NdArray::kron), [`cross`](NdArray::cross) |
//! | Linear algebra, with the feature `linalg` | `solve`, `lstsq`, `inv`, `pinv`, `det`, `lu`, `qr`, `cholesky`, `eigh`, `eig`, `eigvals`, `svd`, `matrix_norm`, `pca` |
//! | BLAS by name | [`blas::gemm`] and the others of levels 1 to 3 |
//! | Operations by name | [`op`], [`Op`] |
//! | Own loops | [`map`](NdArray::map), [`zip_map`](NdArray::zip_map), [`view`](NdArray::view), [`view_mut`](NdArray::view_mut) |
//! | Several operations in one pass | [`lazy`](NdArray::lazy) |
//! | NaN, infinity and time of operations | [`Checks`], [`Profile`] |
//! | Other libraries' memory | [`to_dlpack`](NdArray::to_dlpack), [`from_dlpack`](NdArray::from_dlpack), the feature `ndarray` |
//! | Workspaces | [`detach`](NdArray::detach), [`leverage_to`](NdArray::leverage_to); kinds of arrays: [`WorkspaceManager`] |
//!
//! # Rules
//!
//! * **A clone is an alias, a `dup` is a copy.** Indexing, transposing and reshaping make views: writing through any of
//!   them is seen by all. In-place methods take `&self` for that reason.
//! * **In place, only the right side broadcasts.** Anything else is an error and nothing is written. Overlapping
//!   operands behave as if the right side had been copied first.
//! * **What returns a new array can also fill an old one**: `add_into`, `sum_into`, `concat_into`, `einsum_into` and so on take
//!   an array of the result's shape and of its dtype or a higher one, in any layout, which may share memory with the
//!   operands; one that does not fit is an error and keeps its elements. They allocate nothing unless their page says so.
//!   Copies and conversions are `out.assign(&a)`, random numbers `fill_normal` and the others; results whose shape the data
//!   decide (`nonzero`, `unique`, `select_where`, `bincount`) have no such form.
//! * **Dtypes promote as in NumPy 2.** Plain numbers are weak: `i32 array + 1` is i32, `f32 array * 2.0` is f32,
//!   `i32 array + 0.5` is f64. Arrays promote to the smallest dtype that holds both (`i32` with `f32` is f64, `f16` with
//!   `bf16` is f32): the table is in [`promotion`]. In place, the result must be of the array's kind or a lower one.
//! * **Rank is true.** Scalars have rank 0, a point index drops its axis, a reduction drops its axes unless they are
//!   [`keep`]-ed.
//! * **Errors are values** with both shapes, the operands and your source line; operators panic with the same text.
//!
//! ```text
//! add: shapes [3, 4] and [3, 5] do not broadcast: axis 1 is 4 vs 5
//!   --> src/main.rs:12:9
//!   lhs: f32 [3, 4] C
//!   rhs: f32 [3, 5] C view
//!   help: sizes must be equal or 1, counted from the last axis; `expand_dims` or `reshape` one side
//! ```
//!
//! # Coming from ND4J
//!
//! | ND4J | here |
//! |---|---|
//! | `Nd4j.zeros(3, 5).addi(10)` | `NdArray::zeros([3, 5])?.addi(10)?` |
//! | `Nd4j.create(double[][])`, `Nd4j.create(flat, shape, 'c')` | `NdArray::from([[1.0, 2.0], [3.0, 4.0]])`, `NdArray::from_vec(flat, shape)?` |
//! | `Nd4j.create(values, new int[]{n, 1})` | `NdArray::from_vec(values, [n, 1])?` |
//! | `Nd4j.rand(r, c)`, `Nd4j.randn(shape)`, `getRandom().setSeed(s)` | `NdArray::rand([r, c])?`, `NdArray::randn(shape)?`, [`set_seed`]`(s)` |
//! | `Nd4j.linspace(1, 25, 25).reshape(5, 5)` | `NdArray::linspace(1, 25, 25)?.reshape([5, 5])?` |
//! | `Nd4j.hstack(a, b)`, `vstack`, `concat(0, a, b)`, `pile` | `NdArray::hstack(&[&a, &b])?`, `vstack`, `concat(&[&a, &b], 0)?`, `stack` |
//! | `Nd4j.pad(a, new int[]{1, 1}, CONSTANT)`, `Nd4j.diag(a)`, `Nd4j.eye(n)` | `a.pad([1, 1], 0)?`, `a.diag(0)?`, `NdArray::eye(n)?` |
//! | `Nd4j.toFlattened('c', a, b)` | `NdArray::to_flattened(Order::C, &[&a, &b])?` |
//! | `a.rank()`, `rows()`, `columns()`, `size(i)`, `shape()`, `length()` | the same with `?` where an array may lack it; `len()` |
//! | `a.getDouble(i, j)`, `a.putScalar(idx, v)` | `a.get_f64([i, j])?`, `a.set([i, j], v)?` |
//! | `a.getRow(i)`, `a.getRows(i, j)`, `a.putRow(i, row)` | `a.row(i)?`, `a.get_rows([i, j])?`, `a.put_row(i, &row)?` |
//! | `a.get(point(i), all())`, `interval(a, b)`, `interval(a, s, b)` | the same words in `a.get(&[point(i), all()])?`, or `s![i, ..]`, `s![a..b]`, `s![a..b;s]` |
//! | `a.put(indices, b)` | `a.put(&s![..], &b)?` |
//! | `a.get(indices(0, 2), indices(1, 3))`, `put` of the same | `a.get_outer(&fancy![[0, 2], [1, 3]])?`, `put_outer`; NumPy's pairs are `get_fancy`, `put_fancy` |
//! | `a.get(indexArray)`, `gatherNd`, `scatterUpdate`, `scatterAdd` | `a.gather_nd(&indices.transpose())?`, `gather_nd`, `scatter_put`, `scatter_addi` |
//! | `a.tensorAlongDimension(i, 0)` (a `[1, n]` row) | `a.tensor_along_dimension(i, 0)?` (`[n]`) or with `keep(0)` (`[1, n]`) |
//! | `a.add(b)`, `a.addi(b)`, `a.rsub(2)`, `a.rdivi(2)` | `a.add(&b)?`, `a.addi(&b)?`, `a.rsub(2)?`, `a.rdivi(2)?` |
//! | `a.addRowVector(v)`, `a.muliColumnVector(v)` | `a.add_row_vector(&v)?`, `a.muli_column_vector(&v)?` |
//! | `Transforms.tanh(a, true)`, `Transforms.tanh(a, false)` | `a.tanh()?`, `a.tanhi()?` |
//! | `a.sumNumber()`, `a.sum(0)` (a `[1, n]` row) | `a.sum_number()?`, `a.sum(0)?` (`[n]`) or `a.sum(keep(0))?` (`[1, n]`) |
//! | `a.std(0)` | `a.std(0)?`: over n - 1, as in ND4J; `std_ddof(0, 0)` as in NumPy |
//! | `Nd4j.sort(a, 1, true)`, `Nd4j.sortWithIndices(a, 1, false)`, `Nd4j.sortRows(a, 0, true)` | `a.sorti(1)?`, `a.sorti_with_indices(1, Sorting::descending())?`, `a.sort_rows(0, Sorting::ascending())?` |
//! | `a.medianNumber()`, `a.percentileNumber(q)` | `a.median_number()?`, `a.percentile_with(q, .., QuantileMethod::Weibull)?` |
//! | `IMax`, `IMin`, `IAMax` | `argmax(axis)?`, `argmin(axis)?`, `arg_abs_max(axis)?` |
//! | `Transforms.euclideanDistance(a, b)`, `new CosineSimilarity(a, b)` along 1, `allManhattanDistances(a, b, 1)` | `a.distance_number(Distance::Euclidean, &b)?`, `a.distance(Distance::CosineSimilarity, &b, 1)?`, `a.all_distances(Distance::Manhattan, &b)?` |
//! | `Nd4j.shuffle(a, 0)`, `Nd4j.choice(a, p, n)`, `DropOutInverted` | `rng.shuffle(&a, 0)?`, `rng.choice(&a, n, true, Some(&p))?`, `rng.dropout(&a, keep)?` of a [`Rng`] |
//! | `BooleanIndexing.replaceWhere(a, v, Conditions.lessThan(0))`, `chooseFrom`, `firstIndex` and others | `a.replace_where(Condition::less(0), v)?`, `a.select_where(..)?`, `a.matches(&c)?.first_index()?`: see [`Condition`] |
//! | `a.mmul(b)`, `a.transpose()`, `a.dup()`, `a.assign(b)` | `a.mmul(&b)?`, `a.transpose()`, `a.dup()?`, `a.assign(&b)?` |
//! | `Nd4j.getBlasWrapper().level1().dot(x, y)`, `Nd4j.gemm(a, b, c, tA, tB, alpha, beta)` | [`blas::dot`]`(&x, &y)?`, [`blas::gemm`]`(tA, tB, alpha, &a, &b, beta, &c)?` |
//! | `a.detach()`, `a.leverageTo("W")`, `a.migrate()` | `a.detach()?`, `a.leverage_to(&workspace)?`, `a.migrate()?` |
//! | `Nd4j.setDataType(DOUBLE)` | `LODESTRIDE_DTYPE=f64`, or [`with_default_dtype`]`(DType::F64, ..)` |
#![forbid(unsafe_code)]

mod arg;
mod arithmetic;
mod arrange;
mod array;
mod bitwise;
pub mod blas;
mod checks;
mod choose;
mod combine;
mod compare;
mod compute;
mod compute_packed;
mod condition;
mod conditional;
mod convert;
mod convolution;
mod create;
mod display;
mod distance;
mod dlpack;
mod edit;
mod einsum;
mod equality;
mod error;
mod fancy;
mod fused;
mod gather;
mod get_put;
mod grid;
mod grow;
#[cfg(feature = "ndarray")]
mod interchange;
mod kept;
mod lazy;
mod lazy_cache;
mod lazy_reduce;
mod lazy_run;
mod linalg;
mod manager;
mod masks;
mod math;
mod named;
mod nested;
mod operators;
mod pad;
mod partition;
mod polynomial;
mod products;
mod products_into;
mod profile;
pub mod promotion;
mod random;
mod reduce;
mod samples;
mod scatter;
mod scatter_nd;
mod several_axes;
mod sort;
mod target;
mod transfer;
mod typed;
mod vectors;
mod view;
mod walk;

#[cfg(feature = "mmap")]
pub use lodestride_buffer::MappedFile;
pub use lodestride_buffer::{
    AccessError, AllocError, AllocationPolicy, Argument, Bool, Buffer, DType, DebugMode, DlManaged,
    DlManagedVersioned, DlPackError, DlPlaces, DlTensor, Element, HostType, LearningPolicy,
    PlanReason, ResetPolicy, Scalar, ScalarKind, SizeTerm, SizeTerms, SpillPolicy, Timeline,
    TimelineEvent, TimelineKind, Workspace, WorkspaceConfig, WorkspaceError, WorkspaceGuard,
    WorkspaceName, WorkspacePlan, WorkspaceStats, all_workspaces, bf16, current_workspace,
    debug_mode, destroy_thread_workspaces, f16, find_thread_workspace, memory, open_workspaces,
    scope_out, set_debug_mode, set_room_aside, thread_workspace, thread_workspaces,
    with_default_dtype, with_dtype,
};
pub use lodestride_kernels as kernels;
pub use lodestride_kernels::sort::Sorting;
pub use lodestride_kernels::sort_quantile::QuantileMethod;
pub use lodestride_kernels::sort_search::Side;
pub use lodestride_shape::{
    Axes, Index, Layout, NdIndexIterator, Order, Position, Shape, ShapeError, Strides, all,
    broadcast_shapes, interval, interval_step, keep, new_axis, normalize_axis, point, s,
};

pub use crate::arg::{Arg, IndexList, Indices};
pub use crate::array::NdArray;
pub use crate::checks::{Checks, NotFinite};
pub use crate::condition::{Condition, EPS_THRESHOLD};
pub use crate::conditional::Where;
pub use crate::convolution::{ConvolveMode, Padding, Pooling, Windows};
pub use crate::display::{Notation, PrintOptions, Printed};
pub use crate::distance::Distance;
pub use crate::einsum::{AxisPairs, EinsumPath, SubscriptsProblem};
pub use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};
pub use crate::fancy::FancyIndex;
pub use crate::grid::GridAxes;
pub use crate::grow::GrowArray;
pub use crate::lazy::{Lazy, LazyOperand};
#[cfg(feature = "linalg")]
pub use crate::linalg::{
    Components, Eigen, LeastSquares, LinalgProblem, LogDeterminant, Lu, MatrixNorm, Pca, Qr, Svd,
    SymmetricEigen,
};
pub use crate::manager::{Misplaced, OpenKinds, PlaceError, WorkspaceManager};
pub use crate::named::{Composed, Op, OpCall, OpParameter, ParameterProblem, op};
pub use crate::nested::{Fixed, Nested, Rectangular};
pub use crate::operators::Rhs;
pub use crate::pad::{PadMode, PadWidths};
pub use crate::profile::{OpStatistics, Profile};
pub use crate::random::{Rng, set_seed};
pub use crate::samples::{EdgeOrder, Spacing};
pub use crate::scatter::Scatter;
pub use crate::sort::{Bins, Histogram2d, Histogram2dOptions, HistogramOptions, Unique};
pub use crate::typed::{ArrayView, ArrayViewMut, Window, WindowMut};
pub use crate::walk::Elements;
