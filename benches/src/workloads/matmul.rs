//! Matrix products into a given output: square ones of every size, transposed, of a matrix with itself, batched, with a
//! vector, and of a few rows.

use std::cell::RefCell;

use candle_core::Tensor;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use lodestride::array::NdArray;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::answers::{Data, Real, of_candle, of_ours, of_slice};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    for n in [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048] {
        square::<T>(suite, n)?;
    }
    product::<T>(
        suite,
        "mm.nt",
        "512",
        Product::new(512, 512, 512).right_transposed(),
    )?;
    product::<T>(
        suite,
        "mm.tn",
        "512",
        Product::new(512, 512, 512).left_transposed(),
    )?;
    product::<T>(
        suite,
        "mm.ata",
        "2048x512",
        Product::new(512, 2048, 512).with_itself(),
    )?;
    product::<T>(suite, "mm.mlp", "128x784x256", Product::new(128, 784, 256))?;
    product::<T>(
        suite,
        "mm.skinny",
        "8x1024x1024",
        Product::new(8, 1024, 1024),
    )?;
    product::<T>(suite, "mm.gemv", "4096", Product::new(4096, 4096, 1))?;
    product::<T>(
        suite,
        "mm.batched",
        "64x64x64x64",
        Product::new(64, 64, 64).times(64),
    )
}

/// Two matrices of `n` rows and columns.
pub(crate) fn square<T: Real>(suite: &mut Suite, n: usize) -> Result<(), Failure> {
    product::<T>(suite, "mm.nn", &n.to_string(), Product::new(n, n, n))
}

/// What is multiplied.
#[derive(Clone, Copy, Debug)]
struct Product {
    m: usize,
    k: usize,
    n: usize,
    /// How many pairs there are.
    batch: usize,
    /// The left matrix lies in memory as its transpose.
    left: bool,
    /// So does the right one.
    right: bool,
    /// The right matrix is the left one's memory.
    itself: bool,
}

impl Product {
    fn new(m: usize, k: usize, n: usize) -> Product {
        Product {
            m,
            k,
            n,
            batch: 1,
            left: false,
            right: false,
            itself: false,
        }
    }

    fn times(self, batch: usize) -> Product {
        Product { batch, ..self }
    }

    fn left_transposed(self) -> Product {
        Product { left: true, ..self }
    }

    fn right_transposed(self) -> Product {
        Product {
            right: true,
            ..self
        }
    }

    fn with_itself(self) -> Product {
        Product {
            left: true,
            itself: true,
            ..self
        }
    }

    /// The shape of a factor in memory.
    fn memory(self, rows: usize, columns: usize, transposed: bool) -> Vec<usize> {
        let (rows, columns) = if transposed {
            (columns, rows)
        } else {
            (rows, columns)
        };
        match self.batch {
            1 => vec![rows, columns],
            batch => vec![batch, rows, columns],
        }
    }

    fn shape(self) -> Vec<usize> {
        self.memory(self.m, self.n, false)
    }

    fn limit<T>(self) -> Limit {
        let flops = 2.0 * (self.batch * self.m * self.k * self.n) as f64;
        match size_of::<T>() {
            size if self.n == 1 => Limit::Read(self.m * self.k * size),
            4 => Limit::SingleFlops(flops),
            _ => Limit::DoubleFlops(flops),
        }
    }
}

fn product<T: Real>(
    suite: &mut Suite,
    workload: &str,
    size: &str,
    p: Product,
) -> Result<(), Failure> {
    let Some(key) = suite.wants(workload, size, T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&p.memory(p.m, p.k, p.left), 1, -1.0, 1.0);
    let y = if p.itself {
        x.clone()
    } else {
        Data::<T>::new(&p.memory(p.k, p.n, p.right), 2, -1.0, 1.0)
    };
    let threads = suite.machine.threads;
    let a = x.ours()?;
    let b = if p.itself { a.clone() } else { y.ours()? };
    let a = if p.left { a.transpose() } else { a };
    let b = if p.right { b.transpose() } else { b };
    let out = NdArray::zeros_of(T::OURS, p.shape())?;
    let their_out = RefCell::new(vec![T::zero(); p.batch * p.m * p.n]);
    let (c, d) = (x.candle()?, y.candle()?);
    let c = if p.left { c.t()? } else { c };
    let d = if p.right { d.t()? } else { d };

    // Whoever came after another with the same operands would find them in the cache.
    let (own_x, own_y) = (x.values.clone(), y.values.clone());
    // The entries of a product are sums of k terms of size 1.
    let close = if size_of::<T>() == 4 { 1e-5 } else { 1e-13 };
    let mut contest = Contest::new(key, close * p.k as f64).limit(p.limit::<T>());
    contest.ours(|| a.matmul_into(&b, &out), |()| of_ours(out.clone()))?;

    let answer = |()| of_slice(&their_out.borrow());
    let (x, y) = (&x, &y);
    contest.sure_rival(
        "faer",
        || {
            by_faer(
                p,
                &x.values,
                &y.values,
                &mut their_out.borrow_mut(),
                threads,
            )
        },
        answer,
    )?;
    contest.rival(
        "ndarray",
        || by_ndarray(p, &own_x, &own_y, &mut their_out.borrow_mut()),
        answer,
    )?;
    contest.rival("candle", || Tensor::matmul(&c, &d), of_candle)?;
    suite.run(contest)
}

/// The pairs of a batch and their product's place, one after the other.
fn pairs<'a, T>(
    p: Product,
    x: &'a [T],
    y: &'a [T],
    out: &'a mut [T],
) -> impl Iterator<Item = (&'a [T], &'a [T], &'a mut [T])> {
    let pairs = x.chunks_exact(p.m * p.k).zip(y.chunks_exact(p.k * p.n));
    pairs
        .zip(out.chunks_exact_mut(p.m * p.n))
        .map(|((x, y), out)| (x, y, out))
}

fn by_faer<T: Real>(p: Product, x: &[T], y: &[T], out: &mut [T], threads: usize) {
    fn view<T>(values: &[T], rows: usize, columns: usize, transposed: bool) -> MatRef<'_, T> {
        if transposed {
            MatRef::from_column_major_slice(values, rows, columns)
        } else {
            MatRef::from_row_major_slice(values, rows, columns)
        }
    }
    let par = if threads > 1 {
        Par::rayon(threads)
    } else {
        Par::Seq
    };
    for (x, y, out) in pairs(p, x, y, out) {
        let out = MatMut::from_row_major_slice_mut(out, p.m, p.n);
        let (a, b) = (view(x, p.m, p.k, p.left), view(y, p.k, p.n, p.right));
        matmul(out, Accum::Replace, a, b, T::one(), par);
    }
}

fn by_ndarray<T: Real>(p: Product, x: &[T], y: &[T], out: &mut [T]) -> Result<(), Failure> {
    fn view<T>(
        values: &[T],
        rows: usize,
        columns: usize,
        transposed: bool,
    ) -> Result<ArrayView2<'_, T>, Failure> {
        Ok(if transposed {
            ArrayView2::from_shape((columns, rows), values)?.reversed_axes()
        } else {
            ArrayView2::from_shape((rows, columns), values)?
        })
    }
    for (x, y, out) in pairs(p, x, y, out) {
        let mut out = ArrayViewMut2::from_shape((p.m, p.n), out)?;
        let (a, b) = (view(x, p.m, p.k, p.left)?, view(y, p.k, p.n, p.right)?);
        general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
    }
    Ok(())
}
