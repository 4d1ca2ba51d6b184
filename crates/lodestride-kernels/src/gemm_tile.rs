//! Products of float matrices without packing: parts of the result stay in vector registers or L1, the last columns under
//! a mask.
//!
//! A packing library copies both operands before it multiplies; for small and for thin matrices that costs more than it
//! saves.
#![expect(
    unsafe_code,
    reason = "masked loads and stores of vector registers take raw pointers"
)]

use crate::gemm_small::Blend;
use crate::isa::{Isa, Level};
use crate::matrix::{Matrix, MatrixMut};
use crate::threads;

/// A float with tile kernels.
pub(crate) trait TileFloat: Copy + Send + Sync {
    /// Runs a job on this machine's vectors.
    ///
    /// # Safety
    /// As [`Job`] says, with the layouts of the walk; the level must have tiles.
    unsafe fn run(level: Level, job: &Job<Self>, walk: Walk);
}

/// In which order a product is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Tile after tile of the result: what lies in the first caches.
    Tiles,
    /// Row after row of the right operand, whose rows are contiguous: few rows on the left.
    Sweep,
    /// Row after row of the left operand, whose rows are contiguous: one contiguous column on the right.
    Dots,
}

/// One product as pointers and steps.
///
/// To run it, `a[i * a_row + p * a_column]`, `b[p * b_row + j]` and `out[i * out_row + j * out_column]` must be valid for
/// every row `i < m`, column `j < n` and `p < k`, `out` for writes, and `out` must overlap neither input.
#[derive(Clone, Copy)]
pub(crate) struct Job<C> {
    a: *const C,
    b: *const C,
    out: *mut C,
    m: usize,
    n: usize,
    k: usize,
    a_row: isize,
    a_column: isize,
    b_row: isize,
    out_row: isize,
    out_column: isize,
    blend: Blend<C>,
}

/// `out = alpha * a b + beta * out` on up to `threads` threads; false, having done nothing, unless the machine has masked
/// vectors and the layouts are those of the walk. A `beta` of zero never reads `out`.
pub(crate) fn product<C: TileFloat>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
    walk: Walk,
    threads: usize,
) -> bool {
    let (left, right, to) = (a.shape(), b.shape(), out.shape());
    let fits = match walk {
        Walk::Tiles | Walk::Sweep => right.column_step == 1 || right.columns <= 1,
        Walk::Dots => right.columns == 1 && right.row_step == 1 && left.column_step == 1,
    };
    let level = Level::current();
    if !fits || !matches!(level.isa(), Isa::Avx2 | Isa::Avx512) {
        return false;
    }
    assert!(left.rows == to.rows && right.columns == to.columns && left.columns == right.rows);
    let job = Job {
        a: a.data().as_ptr().wrapping_add(left.start),
        b: b.data().as_ptr().wrapping_add(right.start),
        out: out.data().as_mut_ptr().wrapping_add(to.start),
        m: to.rows,
        n: to.columns,
        k: left.columns,
        a_row: left.row_step,
        a_column: left.column_step,
        b_row: right.row_step,
        out_row: to.row_step,
        out_column: to.column_step,
        blend,
    };
    let (total, unit) = match walk {
        Walk::Tiles => (1, 1),
        Walk::Sweep => (job.n, 64),
        Walk::Dots => (job.m, 8),
    };
    let share = total.div_ceil(threads).next_multiple_of(unit);
    threads::for_each_part(0..total.div_ceil(share), |part| {
        let first = part * share;
        let part = job.part(walk, first, share.min(total - first));
        // SAFETY: `Matrix::new` and `MatrixMut::new` have proven every element of these shapes to lie inside the slices
        // the pointers come from; `out` is a unique borrow, and the parts write to different rows or columns of it.
        unsafe { C::run(level, &part, walk) };
    });
    true
}

// SAFETY: the inputs are only read, and threads work on parts with different destinations (`product`).
unsafe impl<C: Sync> Sync for Job<C> {}

impl<C: Copy> Job<C> {
    /// `count` rows (of dots) or columns (of a sweep) from `first` on; tiles are not divided.
    fn part(&self, walk: Walk, first: usize, count: usize) -> Self {
        match walk {
            Walk::Tiles => *self,
            Walk::Sweep => Self {
                b: self.b.wrapping_add(first),
                out: self.out.wrapping_offset(first as isize * self.out_column),
                n: count,
                ..*self
            },
            Walk::Dots => Self {
                a: self.a.wrapping_offset(first as isize * self.a_row),
                out: self.out.wrapping_offset(first as isize * self.out_row),
                m: count,
                ..*self
            },
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod without_vectors {
    use super::{Job, Level, TileFloat, Walk};

    macro_rules! none {
        ($($t:ty),*) => {$(
            impl TileFloat for $t {
                unsafe fn run(_level: Level, _job: &Job<$t>, _walk: Walk) {}
            }
        )*};
    }
    none!(f32, f64);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m256d, __m256i, __m512, __m512d, __mmask8, __mmask16, _mm256_cmpgt_epi32,
        _mm256_cmpgt_epi64, _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_maskload_pd,
        _mm256_maskload_ps, _mm256_maskstore_pd, _mm256_maskstore_ps, _mm256_mul_pd, _mm256_mul_ps,
        _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_set1_ps, _mm256_setr_epi32,
        _mm256_setr_epi64x, _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_mask_storeu_pd,
        _mm512_mask_storeu_ps, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps, _mm512_mul_pd,
        _mm512_mul_ps, _mm512_set1_pd, _mm512_set1_ps,
    };

    use super::{Job, TileFloat, Walk};
    use crate::isa::{Isa, Level};
    use crate::numeric::Compute;

    /// A vector register of floats whose first lanes can be loaded and stored alone.
    ///
    /// Every method needs the register's instruction set; the pointer of `load` and `store` must be valid for the lanes
    /// of the mask.
    trait Register: Copy {
        type Item: Compute;
        type Mask: Copy;
        const LANES: usize;
        /// Rows of a tile two registers wide: as many as leave registers for the operands.
        const ROWS: usize;

        /// The first `lanes` lanes, of at most `LANES`.
        unsafe fn mask(lanes: usize) -> Self::Mask;
        unsafe fn splat(value: Self::Item) -> Self;
        /// Lanes outside the mask are zero and their memory is not touched.
        unsafe fn load(from: *const Self::Item, mask: Self::Mask) -> Self;
        unsafe fn store(self, to: *mut Self::Item, mask: Self::Mask);
        unsafe fn mul(self, other: Self) -> Self;
        /// `self * b + c`.
        unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    }

    macro_rules! register {
        ($R:ty, $t:ty, $Mask:ty, $lanes:literal, $rows:literal, |$n:ident| $mask:expr,
         $splat:ident, $mul:ident, $fma:ident,
         load |$from:ident, $load_mask:ident| $load:expr, store |$to:ident, $store_mask:ident, $value:ident| $store:expr) => {
            impl Register for $R {
                type Item = $t;
                type Mask = $Mask;
                const LANES: usize = $lanes;
                const ROWS: usize = $rows;

                #[inline(always)]
                unsafe fn mask($n: usize) -> $Mask {
                    $mask
                }
                #[inline(always)]
                unsafe fn splat(value: $t) -> Self {
                    // SAFETY: the caller vouches for the instruction set.
                    unsafe { $splat(value) }
                }
                #[inline(always)]
                unsafe fn load($from: *const $t, $load_mask: $Mask) -> Self {
                    // SAFETY: the caller vouches for the instruction set and the lanes of the mask.
                    unsafe { $load }
                }
                #[inline(always)]
                unsafe fn store(self, $to: *mut $t, $store_mask: $Mask) {
                    let $value = self;
                    // SAFETY: the caller vouches for the instruction set and the lanes of the mask.
                    unsafe { $store }
                }
                #[inline(always)]
                unsafe fn mul(self, other: Self) -> Self {
                    // SAFETY: the caller vouches for the instruction set.
                    unsafe { $mul(self, other) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, b: Self, c: Self) -> Self {
                    // SAFETY: the caller vouches for the instruction set.
                    unsafe { $fma(self, b, c) }
                }
            }
        };
    }

    register!(
        __m512,
        f32,
        __mmask16,
        16,
        8,
        |n| ((1u32 << n) - 1) as __mmask16,
        _mm512_set1_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps,
        load | from,
        mask | _mm512_maskz_loadu_ps(mask, from),
        store | to,
        mask,
        value | _mm512_mask_storeu_ps(to, mask, value)
    );
    register!(
        __m512d,
        f64,
        __mmask8,
        8,
        8,
        |n| ((1u32 << n) - 1) as __mmask8,
        _mm512_set1_pd,
        _mm512_mul_pd,
        _mm512_fmadd_pd,
        load | from,
        mask | _mm512_maskz_loadu_pd(mask, from),
        store | to,
        mask,
        value | _mm512_mask_storeu_pd(to, mask, value)
    );
    register!(
        __m256,
        f32,
        __m256i,
        8,
        4,
        |n| lanes_32(n),
        _mm256_set1_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        load | from,
        mask | _mm256_maskload_ps(from, mask),
        store | to,
        mask,
        value | _mm256_maskstore_ps(to, mask, value)
    );
    register!(
        __m256d,
        f64,
        __m256i,
        4,
        4,
        |n| lanes_64(n),
        _mm256_set1_pd,
        _mm256_mul_pd,
        _mm256_fmadd_pd,
        load | from,
        mask | _mm256_maskload_pd(from, mask),
        store | to,
        mask,
        value | _mm256_maskstore_pd(to, mask, value)
    );

    /// All bits set in the first `lanes` of eight lanes.
    #[inline(always)]
    fn lanes_32(lanes: usize) -> __m256i {
        // SAFETY: only called by registers of AVX2, whose callers vouch for it.
        let numbers = unsafe { _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7) };
        // SAFETY: as above.
        let count = unsafe { _mm256_set1_epi32(lanes as i32) };
        // SAFETY: as above.
        unsafe { _mm256_cmpgt_epi32(count, numbers) }
    }

    /// All bits set in the first `lanes` of four lanes.
    #[inline(always)]
    fn lanes_64(lanes: usize) -> __m256i {
        // SAFETY: only called by registers of AVX2, whose callers vouch for it.
        let numbers = unsafe { _mm256_setr_epi64x(0, 1, 2, 3) };
        // SAFETY: as above.
        let count = unsafe { _mm256_set1_epi64x(lanes as i64) };
        // SAFETY: as above.
        unsafe { _mm256_cmpgt_epi64(count, numbers) }
    }

    macro_rules! tile_float {
        ($($t:ty, $wide:ty, $narrow:ty, $avx512:ident, $avx2:ident);*) => {$(
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
            unsafe fn $avx512(job: &Job<$t>, walk: Walk) {
                // SAFETY: the caller vouches for the job; the instruction set is this function's.
                unsafe { walk_through::<$wide>(job, walk) }
            }

            #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
            unsafe fn $avx2(job: &Job<$t>, walk: Walk) {
                // SAFETY: the caller vouches for the job; the instruction set is this function's.
                unsafe { walk_through::<$narrow>(job, walk) }
            }

            impl TileFloat for $t {
                unsafe fn run(level: Level, job: &Job<$t>, walk: Walk) {
                    match level.isa() {
                        // SAFETY: a `Level` names an instruction set of this machine; the caller vouches for the job.
                        Isa::Avx512 => unsafe { $avx512(job, walk) },
                        // SAFETY: as above.
                        Isa::Avx2 => unsafe { $avx2(job, walk) },
                        Isa::Baseline | Isa::Neon => {}
                    }
                }
            }
        )*};
    }
    tile_float!(f32, __m512, __m256, f32_avx512, f32_avx2; f64, __m512d, __m256d, f64_avx512, f64_avx2);

    /// # Safety
    /// As [`Job`], on a machine with the instruction set of `R`, with the layouts the walk needs.
    #[inline(always)]
    unsafe fn walk_through<R: Register>(job: &Job<R::Item>, walk: Walk) {
        match walk {
            // SAFETY: the caller vouches for all of it, here and below.
            Walk::Tiles => unsafe { panels::<R>(job) },
            // SAFETY: as above.
            Walk::Dots => unsafe { dots::<R>(job) },
            Walk::Sweep => {
                let mut row = 0;
                while job.m - row >= 8 {
                    // SAFETY: the rows are the job's.
                    unsafe { sweep::<R, 8>(job, row) };
                    row += 8;
                }
                if job.m - row >= 4 {
                    // SAFETY: as above.
                    unsafe { sweep::<R, 4>(job, row) };
                    row += 4;
                }
                while job.m > row {
                    // SAFETY: as above.
                    unsafe { sweep::<R, 1>(job, row) };
                    row += 1;
                }
            }
        }
    }

    /// Sums that stay in L1 during a sweep, in elements of all its rows together.
    const SUMS: usize = 4096;
    /// Rows of the right operand that are added at once.
    const STEPS: usize = 8;

    /// `M` rows of the product: multiples of rows of the right operand are added to sums that stay in L1.
    ///
    /// # Safety
    /// As [`walk_through`]; the rows `row..row + M` must be the job's.
    #[inline(always)]
    unsafe fn sweep<R: Register, const M: usize>(job: &Job<R::Item>, row: usize) {
        let mut sums = [R::Item::ZERO; SUMS];
        let width = SUMS / M;
        for first in (0..job.n).step_by(width) {
            let len = (job.n - first).min(width);
            sums.fill(R::Item::ZERO);
            let mut step = 0;
            while job.k - step >= STEPS {
                // SAFETY: rows, steps and columns are the job's.
                unsafe { add_rows::<R, M, STEPS>(job, row, step, first, len, &mut sums) };
                step += STEPS;
            }
            while job.k > step {
                // SAFETY: as above.
                unsafe { add_rows::<R, M, 1>(job, row, step, first, len, &mut sums) };
                step += 1;
            }
            for i in 0..M {
                for at in (0..len).step_by(R::LANES) {
                    let lanes = (len - at).min(R::LANES);
                    // SAFETY: the caller vouches for the instruction set, here and below.
                    let mask = unsafe { R::mask(lanes) };
                    // SAFETY: the sums of row `i` begin at `i * width` and are `len` long.
                    let sum = unsafe { R::load(sums.as_ptr().wrapping_add(i * width + at), mask) };
                    let column = (first + at) as isize * job.out_column;
                    let start = (row + i) as isize * job.out_row + column;
                    // SAFETY: row and columns are the job's.
                    unsafe { finish(job, sum, job.out.wrapping_offset(start), mask, lanes) };
                }
            }
        }
    }

    /// Adds multiples of `P` rows of the right operand to the sums of `M` rows.
    ///
    /// # Safety
    /// As [`sweep`]; the steps `step..step + P` and the columns `first..first + len` must be the job's, `M * len` at most
    /// [`SUMS`].
    #[inline(always)]
    unsafe fn add_rows<R: Register, const M: usize, const P: usize>(
        job: &Job<R::Item>,
        row: usize,
        step: usize,
        first: usize,
        len: usize,
        sums: &mut [R::Item; SUMS],
    ) {
        let width = SUMS / M;
        let mut factors = [[R::Item::ZERO; P]; M];
        for i in 0..M {
            for p in 0..P {
                let at = (row + i) as isize * job.a_row + (step + p) as isize * job.a_column;
                // SAFETY: row and step are the job's.
                factors[i][p] = unsafe { *job.a.wrapping_offset(at) };
            }
        }
        let lines: [*const R::Item; P] = std::array::from_fn(|p| {
            job.b
                .wrapping_offset((step + p) as isize * job.b_row)
                .wrapping_add(first)
        });
        for at in (0..len).step_by(R::LANES) {
            // SAFETY: the caller vouches for the instruction set, here and below.
            let mask = unsafe { R::mask((len - at).min(R::LANES)) };
            // SAFETY: the lanes of the mask are columns of the job.
            let values: [R; P] =
                std::array::from_fn(|p| unsafe { R::load(lines[p].wrapping_add(at), mask) });
            for i in 0..M {
                let place = sums.as_mut_ptr().wrapping_add(i * width + at);
                // SAFETY: the sums of row `i` begin at `i * width` and are at least `len` long.
                let mut sum = unsafe { R::load(place, mask) };
                for p in 0..P {
                    // SAFETY: as above.
                    let factor = unsafe { R::splat(factors[i][p]) };
                    // SAFETY: as above.
                    sum = unsafe { factor.mul_add(values[p], sum) };
                }
                // SAFETY: as for the load.
                unsafe { sum.store(place, mask) };
            }
        }
    }

    /// Dot products of all rows of the left operand with one column.
    ///
    /// # Safety
    /// As [`walk_through`].
    #[inline(always)]
    unsafe fn dots<R: Register>(job: &Job<R::Item>) {
        let mut row = 0;
        while job.m - row >= 4 {
            // SAFETY: the rows `row..row + 4` are the job's.
            unsafe { dot_rows::<R, 4, 2>(job, row) };
            row += 4;
        }
        while job.m > row {
            // SAFETY: as above.
            unsafe { dot_rows::<R, 1, 8>(job, row) };
            row += 1;
        }
    }

    /// Dot products of `M` rows, `U` registers of each at a time.
    ///
    /// # Safety
    /// As [`dots`]; the rows `row..row + M` must be the job's.
    #[inline(always)]
    unsafe fn dot_rows<R: Register, const M: usize, const U: usize>(
        job: &Job<R::Item>,
        row: usize,
    ) {
        // SAFETY: the caller vouches for the instruction set, here and below.
        let full = unsafe { R::mask(R::LANES) };
        // SAFETY: as above.
        let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; U]; M];
        let lines: [*const R::Item; M] =
            std::array::from_fn(|i| job.a.wrapping_offset((row + i) as isize * job.a_row));
        let whole = job.k / (U * R::LANES) * (U * R::LANES);
        for at in (0..whole).step_by(U * R::LANES) {
            for u in 0..U {
                let at = at + u * R::LANES;
                // SAFETY: these are steps of the job.
                let x = unsafe { R::load(job.b.wrapping_add(at), full) };
                for i in 0..M {
                    // SAFETY: as above.
                    let value = unsafe { R::load(lines[i].wrapping_add(at), full) };
                    // SAFETY: as above.
                    sums[i][u] = unsafe { value.mul_add(x, sums[i][u]) };
                }
            }
        }
        for at in (whole..job.k).step_by(R::LANES) {
            // SAFETY: as above.
            let mask = unsafe { R::mask((job.k - at).min(R::LANES)) };
            // SAFETY: as above.
            let x = unsafe { R::load(job.b.wrapping_add(at), mask) };
            for i in 0..M {
                // SAFETY: as above.
                let value = unsafe { R::load(lines[i].wrapping_add(at), mask) };
                // SAFETY: as above.
                sums[i][0] = unsafe { value.mul_add(x, sums[i][0]) };
            }
        }
        for i in 0..M {
            let mut lanes = [R::Item::ZERO; 16];
            for u in 0..U {
                let mut part = [R::Item::ZERO; 16];
                // SAFETY: no register has more than 16 lanes.
                unsafe { sums[i][u].store(part.as_mut_ptr(), full) };
                for (lane, part) in lanes.iter_mut().zip(part) {
                    *lane = lane.add(part);
                }
            }
            let mut half = 8;
            while half > 0 {
                for lane in 0..half {
                    lanes[lane] = lanes[lane].add(lanes[lane + half]);
                }
                half /= 2;
            }
            let to = job.out.wrapping_offset((row + i) as isize * job.out_row);
            // SAFETY: the row is the job's, and nobody else holds the destination.
            job.blend.apply(unsafe { &mut *to }, lanes[0]);
        }
    }

    /// The whole product, two registers of columns at a time.
    ///
    /// # Safety
    /// As [`Job`], on a machine with the instruction set of `R`.
    #[inline(always)]
    unsafe fn panels<R: Register>(job: &Job<R::Item>) {
        for first in (0..job.n).step_by(2 * R::LANES) {
            let width = (job.n - first).min(2 * R::LANES);
            if width > R::LANES {
                // SAFETY: the columns `first..first + width` are the job's.
                unsafe { rows::<R, 2>(job, first, width - R::LANES) };
            } else {
                // SAFETY: as above.
                unsafe { rows::<R, 1>(job, first, width) };
            }
        }
    }

    /// All rows of a panel of `V` registers of columns, the last of them with `lanes` columns.
    ///
    /// # Safety
    /// As [`panels`]; the columns must be the job's.
    #[inline(always)]
    unsafe fn rows<R: Register, const V: usize>(job: &Job<R::Item>, first: usize, lanes: usize) {
        let mut row = 0;
        if R::ROWS >= 8 {
            while job.m - row >= 8 {
                // SAFETY: the rows `row..row + 8` are the job's; the caller vouches for the columns.
                unsafe { tile::<R, 8, V>(job, row, first, lanes) };
                row += 8;
            }
        }
        while job.m - row >= 4 {
            // SAFETY: as above.
            unsafe { tile::<R, 4, V>(job, row, first, lanes) };
            row += 4;
        }
        if job.m - row >= 2 {
            // SAFETY: as above.
            unsafe { tile::<R, 2, V>(job, row, first, lanes) };
            row += 2;
        }
        if job.m > row {
            // SAFETY: as above.
            unsafe { tile::<R, 1, V>(job, row, first, lanes) };
        }
    }

    /// `M` rows and `V` registers of columns of the product.
    ///
    /// # Safety
    /// As [`rows`]; the rows `row..row + M` must be the job's.
    #[inline(always)]
    unsafe fn tile<R: Register, const M: usize, const V: usize>(
        job: &Job<R::Item>,
        row: usize,
        first: usize,
        lanes: usize,
    ) {
        // SAFETY: the caller vouches for the instruction set, here and below.
        let (full, last) = unsafe { (R::mask(R::LANES), R::mask(lanes)) };
        let masks: [R::Mask; V] = std::array::from_fn(|v| if v + 1 == V { last } else { full });
        // SAFETY: as above.
        let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; V]; M];
        let mut a = job.a.wrapping_offset(row as isize * job.a_row);
        let mut b = job.b.wrapping_add(first);
        for _ in 0..job.k {
            let mut line = [sums[0][0]; V];
            for v in 0..V {
                // SAFETY: the lanes of the mask are columns of the job; `b` is at one of its rows.
                line[v] = unsafe { R::load(b.wrapping_add(v * R::LANES), masks[v]) };
            }
            for i in 0..M {
                // SAFETY: `a` is at one of the job's columns, `row + i` is one of its rows.
                let value = unsafe { *a.wrapping_offset(i as isize * job.a_row) };
                // SAFETY: as above.
                let value = unsafe { R::splat(value) };
                for v in 0..V {
                    // SAFETY: as above.
                    sums[i][v] = unsafe { value.mul_add(line[v], sums[i][v]) };
                }
            }
            a = a.wrapping_offset(job.a_column);
            b = b.wrapping_offset(job.b_row);
        }
        for i in 0..M {
            let start = (row + i) as isize * job.out_row + first as isize * job.out_column;
            let to = job.out.wrapping_offset(start);
            for v in 0..V {
                let count = if v + 1 == V { lanes } else { R::LANES };
                let to = to.wrapping_offset((v * R::LANES) as isize * job.out_column);
                // SAFETY: the caller vouches for rows and columns: the lanes of the mask are elements of the destination.
                unsafe { finish(job, sums[i][v], to, masks[v], count) };
            }
        }
    }

    /// Blends sums into `count` elements of the destination.
    ///
    /// # Safety
    /// As [`tile`]; `to` is the destination of the first lane.
    #[inline(always)]
    unsafe fn finish<R: Register>(
        job: &Job<R::Item>,
        mut sum: R,
        to: *mut R::Item,
        mask: R::Mask,
        count: usize,
    ) {
        let blend = job.blend;
        if job.out_column != 1 {
            // SAFETY: the caller vouches for the elements.
            unsafe { scatter(job, sum, to, count) };
            return;
        }
        if blend.alpha != R::Item::ONE {
            // SAFETY: the caller vouches for the instruction set, here and below.
            let alpha = unsafe { R::splat(blend.alpha) };
            // SAFETY: as above.
            sum = unsafe { sum.mul(alpha) };
        }
        if blend.beta != R::Item::ZERO {
            // SAFETY: as above.
            let beta = unsafe { R::splat(blend.beta) };
            // SAFETY: the lanes of the mask are elements of the destination.
            let old = unsafe { R::load(to, mask) };
            // SAFETY: as above.
            sum = unsafe { beta.mul_add(old, sum) };
        }
        // SAFETY: the lanes of the mask are elements of the destination.
        unsafe { sum.store(to, mask) };
    }

    /// [`finish`] for a destination whose columns are apart.
    ///
    /// # Safety
    /// As [`finish`].
    #[inline(always)]
    unsafe fn scatter<R: Register>(job: &Job<R::Item>, sum: R, to: *mut R::Item, count: usize) {
        let mut lanes = [R::Item::ZERO; 16];
        // SAFETY: no register has more than 16 lanes; the caller vouches for the instruction set.
        let full = unsafe { R::mask(R::LANES) };
        // SAFETY: as above.
        unsafe { sum.store(lanes.as_mut_ptr(), full) };
        for (column, &sum) in lanes[..count].iter().enumerate() {
            // SAFETY: the caller vouches for these elements of the destination, which nobody else holds.
            let to = unsafe { &mut *to.wrapping_offset(column as isize * job.out_column) };
            job.blend.apply(to, sum);
        }
    }
}
