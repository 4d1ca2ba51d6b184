//! The shortest ways of a reduction: all elements of a small array that lies gap-free from the start of its buffer, to one number, or
//! the rows or columns of a matrix that lies so.

use lodestride_buffer::{Buffer, DType, ReadGuard, Scalar, WriteGuard};

use crate::across::FEW;
use crate::numeric::{Compute, ComputeKind};
use crate::reduce::ReduceOp;
use crate::reduce_choice::{Visitor, choose};
use crate::reduce_data::Runs;
use crate::reduce_fold::{BLOCK, Reducer};
use crate::reduce_walk::at_once::Few;
use crate::strided::{Dim, store};

impl ReduceOp {
    /// Reduces the first `n` elements of a buffer to a number of the precision in which it was computed.
    ///
    /// It does what [`reduce`](crate::reduce()) does, or nothing: `None` where the operation computes in another dtype, there are no
    /// elements or many, the buffer is too short or cannot be read.
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, DType, ReadGuard, Scalar};
    /// use lodestride_kernels::ReduceOp;
    ///
    /// let x = Buffer::from_vec(vec![1.0f32, 2.0, 4.0])?;
    /// assert_eq!(ReduceOp::Sum.of_packed(DType::F32, 3, &x), Some(Scalar::Float(7.0)));
    /// assert_eq!(ReduceOp::Sum.of_packed(DType::F32, 4, &x), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn of_packed(self, dtype: DType, n: usize, x: &Buffer) -> Option<Scalar> {
        let kind = self.compute_kind(dtype);
        let fits = (1..=BLOCK).contains(&n) && n * dtype.size() <= x.len();
        if !fits || kind.dtype() != dtype {
            return None;
        }
        let word = self.of_few(kind, n, x)?;
        Some(match (self, kind) {
            (ReduceOp::Any | ReduceOp::All, _) => Scalar::Bool(word != 0),
            (ReduceOp::CountNonZero, _) | (_, ComputeKind::U64) => Scalar::UInt(word),
            (_, ComputeKind::I64) => Scalar::Int(word.cast_signed()),
            (_, ComputeKind::F32 | ComputeKind::F64) => Scalar::Float(f64::from_bits(word)),
        })
    }

    /// Whether a matrix is one for [`of_packed_matrix`](ReduceOp::of_packed_matrix): of the dtype in which the operation computes, with
    /// few elements, fewer results, and more than one element along the axis.
    #[inline]
    pub fn suits_packed_matrix(self, dtype: DType, sizes: [usize; 2], axis: usize) -> bool {
        let few = lines_of(sizes, axis);
        let fits = few.is_some_and(|few| few.fits() && few.line.size > 1 && few.lines > 0);
        fits && self.compute_kind(dtype).dtype() == dtype
    }

    /// Reduces a matrix along axis 0 or 1: its elements, row after row, are the first of a buffer, and its results become the first of an
    /// opened one, of the dtype that [`result_dtype`](ReduceOp::result_dtype) tells.
    ///
    /// It does what [`reduce`](crate::reduce()) does, or nothing: false where the operation computes in another dtype, one of the buffers
    /// is too short or cannot be read, there are no elements along the axis, or many elements or results.
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, DType};
    /// use lodestride_kernels::ReduceOp;
    ///
    /// let x = Buffer::from_vec(vec![1.0f32, 2.0, 4.0, 8.0, 16.0, 32.0])?;
    /// let mut sums = Buffer::zeroed(8)?;
    /// assert!(ReduceOp::Sum.of_packed_matrix(DType::F32, [2, 3], 1, &x, sums.write_sole()?));
    /// assert_eq!(sums.read()?.slice::<f32>(), [7.0, 56.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_packed_matrix(
        self,
        dtype: DType,
        sizes: [usize; 2],
        axis: usize,
        x: &Buffer,
        mut out: WriteGuard<'_>,
    ) -> bool {
        let suits = self.suits_packed_matrix(dtype, sizes, axis);
        let Some(few) = lines_of(sizes, axis).filter(|_| suits) else {
            return false;
        };
        let (kind, result) = (self.compute_kind(dtype), self.result_dtype(dtype));
        let has_room = few.lines * result.size() <= out.buffer().len();
        if !has_room || few.lines * few.line.size * dtype.size() > x.len() {
            return false;
        }
        let Ok(guard) = x.read() else {
            return false;
        };
        let mut all = Each {
            few,
            guard: &guard,
            out: &mut out,
            dtype: result,
            done: false,
        };
        choose(self, kind, &mut all);
        all.done
    }

    /// The number as a word, which is handed on in a register: that of an integer, or the bits of an `f64`.
    fn of_few(self, kind: ComputeKind, n: usize, x: &Buffer) -> Option<u64> {
        let guard = x.read().ok()?;
        let mut all = All {
            guard: &guard,
            n,
            word: 0,
        };
        choose(self, kind, &mut all);
        Some(all.word)
    }
}

/// The lines of a matrix along axis 0 or 1, as a plan has them.
#[inline]
fn lines_of([rows, columns]: [usize; 2], axis: usize) -> Option<Few> {
    let (size, lines) = match axis {
        0 => (rows, columns),
        1 => (columns, rows),
        _ => return None,
    };
    let (sweep, next) = (axis == 0 && columns > 1, columns.cast_signed());
    let (step, stride) = if sweep { (1, next) } else { (next, 1) };
    Some(Few {
        start: 0,
        lines,
        step,
        line: Dim { size, stride },
        sweep,
    })
}

/// All elements, and what becomes of them.
struct All<'a> {
    guard: &'a ReadGuard<'a>,
    n: usize,
    word: u64,
}

impl Visitor for All<'_> {
    fn visit<C: Compute, T: Copy + Send + Sync, V: Compute>(
        &mut self,
        reducer: &dyn Reducer<C, Total = T, Value = V>,
    ) {
        // What the walk of one run comes down to.
        let (mut total, mut value) = ([reducer.empty()], [V::ZERO]);
        reducer.runs(Runs::one(&self.guard.slice()[..self.n]), &mut total);
        reducer.finish(&total, self.n, &mut value);
        let [value] = value;
        self.word = match V::KIND {
            ComputeKind::F32 | ComputeKind::F64 => value.to_f64().to_bits(),
            ComputeKind::I64 => value.to_i64().cast_unsigned(),
            ComputeKind::U64 => value.to_u64(),
        };
    }
}

/// The lines of a matrix, and where their results go.
struct Each<'a, 'o> {
    few: Few,
    guard: &'a ReadGuard<'a>,
    out: &'a mut WriteGuard<'o>,
    dtype: DType,
    done: bool,
}

impl Visitor for Each<'_, '_> {
    fn visit<C: Compute, T: Copy + Send + Sync, V: Compute>(
        &mut self,
        reducer: &dyn Reducer<C, Total = T, Value = V>,
    ) {
        let mut values = [V::ZERO; FEW];
        self.done = (self.few).reduced(self.guard.slice::<C>(), reducer, &mut values);
        if self.done {
            store(self.out, self.dtype, 0, 1, &values[..self.few.lines]);
        }
    }
}
