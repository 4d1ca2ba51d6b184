//! ND4J's own cases of linear algebra: O19, O20 and O22 to O24 of the list that docs/parity.csv follows, with the figures its
//! tests assert.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::blas::{self, Transpose};
use lodestride_array::{NdArray, Order, interval};
#[cfg(feature = "linalg")]
use support::matrix::layout_matrix;
use support::report;
use support::tables::{faults, lin, list, table};

#[test]
fn nd4js_products() {
    let (c, f) = (lin(1, &[10, 100]), lin(1, &[100, 10]).transpose());
    let vector = lin(1, &[100]);
    let gemv = |matrix: &NdArray| {
        let y = NdArray::full([10], f32::NAN)?;
        blas::gemv(Transpose::No, 1.0, matrix, &vector, 0.0, &y)?;
        y.get(&[interval(0, 2)])
    };
    let product = c.mmul(&lin(1, &[100, 10])).unwrap();
    let corner = [interval(0, 2), interval(0, 2)];
    let three_by_four = lin(0, &[3, 4, 5]);
    let two = lin(1, &[2, 3]);
    let mut failed = faults(table![
        "O19 mmul": two.mmul(&two.transpose()) => vec![2, 2], list(&[14, 32, 32, 77]);
        "O19 row gemm": lin(1, &[1, 4]).mmul(&lin(1, &[4, 4])) => vec![1, 4], list(&[90, 100, 110, 120]);
        "O19 gemv C": gemv(&c) => vec![2], list(&[338_350, 843_350]);
        "O19 gemv F": gemv(&f) => vec![2], list(&[3_338_050, 3_343_100]);
        "O19 gemm": product.get(&corner) => vec![2, 2], list(&[3_338_050, 3_343_100, 8_298_050, 8_313_100]);
        "O20": three_by_four.tensordot(&lin(0, &[4, 3, 2]), ([1, 0], [0, 1]))
            => vec![5, 2], list(&[4400, 4730, 4532, 4874, 4664, 5018, 4796, 5162, 4928, 5306]);
    ]);
    if f.order() != Some(Order::F) {
        failed.push("O19: the second matrix should be in F order".into());
    }
    report(7, &failed);
}

/// O22 to O24, in every layout: inverses of matrices that are not square, factors that multiply back, eigenvalues.
#[cfg(feature = "linalg")]
#[test]
fn nd4js_linear_algebra() {
    let near = |a: &NdArray, b: &NdArray| a.all_close(b, 0.0, 1e-5).unwrap();
    let nine = lin(1, &[3, 3]);
    let tall = lin(1, &[3, 2]);
    let symmetric = NdArray::from([[2.0f32, 1.0, 0.5], [1.0, 3.0, 1.0], [0.5, 1.0, 4.0]]);
    let twice = NdArray::eye(3).unwrap().mul(2).unwrap();
    let twelfths = NdArray::from([[-16.0f32, -4.0, 8.0], [13.0, 4.0, -5.0]]);
    let inverse = twelfths.div(12.0f32).unwrap();
    let (mut checked, mut failed) = (0, Vec::new());
    let mut check = |name: String, right: bool| {
        checked += 1;
        if !right {
            failed.push(name);
        }
    };
    for (layout, a) in layout_matrix(&nine).unwrap() {
        let lu = a.lu().unwrap();
        let back = lu.p.mmul(&lu.l).unwrap().mmul(&lu.u).unwrap();
        check(
            format!("O23 getrf of lin(1, 9), {layout}"),
            near(&back, &nine),
        );
    }
    for (layout, a) in layout_matrix(&tall).unwrap() {
        let found = a.pinv_left().unwrap();
        check(format!("O22 left, {layout}"), near(&found, &inverse));
        let right = a.transpose().pinv_right().unwrap();
        check(
            format!("O22 right, {layout}"),
            near(&right, &inverse.transpose()),
        );
        let qr = a.qr().unwrap();
        let back = qr.q.mmul(&qr.r).unwrap();
        check(format!("O23 QR, {layout}"), near(&back, &tall));
    }
    for (layout, a) in layout_matrix(&symmetric).unwrap() {
        let lower = a.cholesky().unwrap();
        let back = lower.mmul(&lower.transpose()).unwrap();
        check(format!("O23 Cholesky, {layout}"), near(&back, &symmetric));
        let values = a.eigh().unwrap().values;
        let halves = a.eigh_generalized(&twice).unwrap().values;
        check(
            format!("O24, {layout}"),
            near(&values, &halves.mul(2).unwrap()),
        );
    }
    check("O22 deficient".into(), lin(1, &[4, 3]).pinv_left().is_err());
    check("O22 not square".into(), tall.inv().is_err());
    report(checked, &failed);
}
