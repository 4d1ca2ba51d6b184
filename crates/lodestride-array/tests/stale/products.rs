//! Rows of the sweep: BLAS by name, and products of many kinds.

use lodestride_array::NdArray;
use lodestride_array::blas::{
    self, Band, Diagonal::Stored, Side::Left, Transpose::No, Triangle::Upper,
};

use super::table::{Row, row};

pub(super) const PRODUCTS: &[Row] = &[
    row("dot", "dot", "cc", "XY", |a| {
        blas::dot(&a[0], &a[1]).map(drop)
    }),
    row("nrm2", "nrm2", "c", "X", |a| blas::nrm2(&a[0]).map(drop)),
    row("asum", "asum", "c", "X", |a| blas::asum(&a[0]).map(drop)),
    row("iamax", "iamax", "c", "X", |a| blas::iamax(&a[0]).map(drop)),
    row("iamin", "iamin", "c", "X", |a| blas::iamin(&a[0]).map(drop)),
    row("swap", "swap", "cc", "01", |a| blas::swap(&a[0], &a[1])),
    row("copy", "copy", "cc", "XZ", |a| blas::copy(&a[0], &a[1])),
    row("axpy", "axpy", "cc", "XZ", |a| {
        blas::axpy(2.0, &a[0], &a[1])
    }),
    row("scal", "scal", "c", "Z", |a| blas::scal(2.0, &a[0])),
    row("rot", "rot", "cc", "01", |a| {
        blas::rot(&a[0], &a[1], 0.6, 0.8)
    }),
    row("rotm", "rotm", "cc", "01", |a| {
        blas::rotm(&a[0], &a[1], blas::rotmg(1.0, 1.0, 1.0, 2.0).h)
    }),
    row("gemv", "gemv", "scc", "XYZ", |a| {
        blas::gemv(No, 1.0, &a[0], &a[1], 0.0, &a[2])
    }),
    row("ger", "ger", "ccs", "XYZ", |a| {
        blas::ger(1.0, &a[0], &a[1], &a[2])
    }),
    row("symv", "symv", "scc", "XYZ", |a| {
        blas::symv(Upper, 1.0, &a[0], &a[1], 0.0, &a[2])
    }),
    row("syr", "syr", "cs", "XZ", |a| {
        blas::syr(Upper, 1.0, &a[0], &a[1])
    }),
    row("syr2", "syr2", "ccs", "XYZ", |a| {
        blas::syr2(Upper, 1.0, &a[0], &a[1], &a[2])
    }),
    row("trmv", "trmv", "sc", "XZ", |a| {
        blas::trmv(Upper, No, Stored, &a[0], &a[1])
    }),
    row("trsv", "trsv", "sc", "XZ", |a| {
        blas::trsv(Upper, No, Stored, &a[0], &a[1])
    }),
    row("spmv", "spmv", "ooo", "XYZ", |a| {
        blas::spmv(Upper, 1.0, &a[0], &a[1], 0.0, &a[2])
    }),
    row("spr", "spr", "oo", "XZ", |a| {
        blas::spr(Upper, 1.0, &a[0], &a[1])
    }),
    row("spr2", "spr2", "ooo", "XYZ", |a| {
        blas::spr2(Upper, 1.0, &a[0], &a[1], &a[2])
    }),
    row("tpmv", "tpmv", "oo", "XZ", |a| {
        blas::tpmv(Upper, No, Stored, &a[0], &a[1])
    }),
    row("tpsv", "tpsv", "oo", "XZ", |a| {
        blas::tpsv(Upper, No, Stored, &a[0], &a[1])
    }),
    row("gbmv", "gbmv", "scc", "XYZ", |a| {
        blas::gbmv(
            No,
            1.0,
            &Band {
                rows: 3,
                lower: 1,
                upper: 1,
                diagonals: &a[0],
            },
            &a[1],
            0.0,
            &a[2],
        )
    }),
    row("sbmv", "sbmv", "scc", "XYZ", |a| {
        blas::sbmv(Upper, 1.0, &a[0], &a[1], 0.0, &a[2])
    }),
    row("tbmv", "tbmv", "sc", "XZ", |a| {
        blas::tbmv(Upper, No, Stored, &a[0], &a[1])
    }),
    row("tbsv", "tbsv", "sc", "XZ", |a| {
        blas::tbsv(Upper, No, Stored, &a[0], &a[1])
    }),
    row("gemm", "gemm", "sss", "XYZ", |a| {
        blas::gemm(No, No, 1.0, &a[0], &a[1], 0.0, &a[2])
    }),
    row("symm", "symm", "sss", "XYZ", |a| {
        blas::symm(Left, Upper, 1.0, &a[0], &a[1], 0.0, &a[2])
    }),
    row("syrk", "syrk", "ss", "XZ", |a| {
        blas::syrk(Upper, No, 1.0, &a[0], 0.0, &a[1])
    }),
    row("syr2k", "syr2k", "sss", "XYZ", |a| {
        blas::syr2k(Upper, No, 1.0, &a[0], &a[1], 0.0, &a[2])
    }),
    row("trmm", "trmm", "ss", "XZ", |a| {
        blas::trmm(Left, Upper, No, Stored, 1.0, &a[0], &a[1])
    }),
    row("trsm", "trsm", "ss", "XZ", |a| {
        blas::trsm(Left, Upper, No, Stored, 1.0, &a[0], &a[1])
    }),
    row("pack", "pack", "s", "X", |a| {
        blas::pack(Upper, &a[0]).map(drop)
    }),
    row("unpack", "unpack", "o", "X", |a| {
        blas::unpack(Upper, &a[0]).map(drop)
    }),
    row("einsum", "einsum", "mss", "012", |a| {
        NdArray::einsum("ij,kl,lm", &[&a[0], &a[1], &a[2]]).map(drop)
    }),
    row("tensordot", "tensordot", "ss", "XY", |a| {
        a[0].tensordot(&a[1], 1).map(drop)
    }),
    row("inner", "inner", "ss", "XY", |a| {
        a[0].inner(&a[1]).map(drop)
    }),
    row("vdot", "vdot", "ss", "XY", |a| a[0].vdot(&a[1]).map(drop)),
    row("kron", "kron", "ss", "XY", |a| a[0].kron(&a[1]).map(drop)),
    row("cross", "cross", "ss", "XY", |a| {
        a[0].cross(&a[1]).map(drop)
    }),
    row("trace", "trace", "s", "X", |a| a[0].trace().map(drop)),
    row("matrix_power", "matrix_power", "s", "X", |a| {
        a[0].matrix_power(5).map(drop)
    }),
    row("multi_dot", "multi_dot", "sss", "012", |a| {
        NdArray::multi_dot(&[&a[0], &a[1], &a[2]]).map(drop)
    }),
];
