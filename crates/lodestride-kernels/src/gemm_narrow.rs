//! Products of small matrices whose columns fit one vector register: nothing is worked out beforehand, since that would take as
//! long as the product.
#![expect(unsafe_code, reason = "operands are raw pointers, loaded under masks")]

use crate::gemm_register::Register;
use crate::gemm_tile::Packed;
use crate::numeric::Compute;

/// Products of matrices of `[m, k]` and `[k, n]` elements. Every sum is added up as that of a tile is, step after step.
///
/// # Safety
/// As [`Packed`]; `n` is at most the number of lanes of `R`, on a machine with its instruction set.
#[inline(always)]
pub(crate) unsafe fn products<R: Register>(sizes: [usize; 3], packed: Packed<R::Item>) {
    let Packed {
        mut a,
        mut b,
        mut out,
        ..
    } = packed;
    let [left, right, to] = packed.steps;
    for _ in 0..packed.count {
        // SAFETY: the pointers are at the matrices of one product after the other; the caller vouches for the rest.
        unsafe { product::<R>(sizes, a, b, out) };
        a = a.wrapping_offset(left);
        b = b.wrapping_offset(right);
        out = out.wrapping_offset(to);
    }
}

/// One of the products. Compiled without the loop around it too, which takes registers for its steps.
///
/// # Safety
/// As [`products`].
#[inline(always)]
pub(crate) unsafe fn product<R: Register>(
    sizes: [usize; 3],
    a: *const R::Item,
    b: *const R::Item,
    out: *mut R::Item,
) {
    let m = sizes[0];
    let mut row = 0;
    while R::ROWS >= 8 && m - row >= 8 {
        // SAFETY: the rows are the matrix's; the caller vouches for the rest, here and below.
        unsafe { rows::<R, 8>(sizes, row, a, b, out) };
        row += 8;
    }
    while m - row >= 4 {
        // SAFETY: as above.
        unsafe { rows::<R, 4>(sizes, row, a, b, out) };
        row += 4;
    }
    while m > row {
        // SAFETY: as above.
        unsafe { rows::<R, 1>(sizes, row, a, b, out) };
        row += 1;
    }
}

/// `M` rows of the product.
///
/// # Safety
/// As [`product`]; the rows `row..row + M` must be the matrix's.
#[inline(always)]
unsafe fn rows<R: Register, const M: usize>(
    [_, k, n]: [usize; 3],
    row: usize,
    a: *const R::Item,
    b: *const R::Item,
    out: *mut R::Item,
) {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mask = unsafe { R::mask(n) };
    // SAFETY: as above.
    let mut sums = [unsafe { R::splat(R::Item::ZERO) }; M];
    let a = a.wrapping_add(row * k);
    for step in 0..k {
        // SAFETY: the lanes of the mask are columns of the matrix.
        let line = unsafe { R::load(b.wrapping_add(step * n), mask) };
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: row and step are the matrix's.
            let factor = unsafe { *a.wrapping_add(i * k + step) };
            // SAFETY: as above.
            let factor = unsafe { R::splat(factor) };
            // SAFETY: as above.
            *sum = unsafe { factor.mul_add(line, *sum) };
        }
    }
    for (i, sum) in sums.into_iter().enumerate() {
        // SAFETY: the row is the result's, and so are the columns of the mask.
        unsafe { sum.store(out.wrapping_add((row + i) * n), mask) };
    }
}
