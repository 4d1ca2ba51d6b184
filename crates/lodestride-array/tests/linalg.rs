//! Solutions and decompositions: what they must satisfy, ND4J's own cases, and NumPy's figures.
#![cfg(feature = "linalg")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod support;

use lodestride_array::{
    ArrayError, ArrayErrorKind, Components, DType, LinalgProblem, MatrixNorm, NdArray, Order, s,
};
use support::matrix::{in_layouts, inputs, layout_matrix};
use support::report;

/// Numbers from -1 to 1 that look random.
fn random(shape: &[usize], seed: usize) -> NdArray {
    let n: usize = shape.iter().product();
    let value =
        |i: usize| ((i * 7919 + seed * 104_729 + 13).wrapping_mul(2_654_435_761) >> 8) % 2001;
    let values = (0..n)
        .map(|i| value(i) as f64 / 1000.0 - 1.0)
        .collect::<Vec<_>>();
    NdArray::from_vec(values, shape).unwrap()
}

/// Random and far from singular.
fn regular(n: usize, seed: usize) -> NdArray {
    random(&[n, n], seed)
        .add(&NdArray::eye_of(DType::F64, n).unwrap().mul(n).unwrap())
        .unwrap()
}

fn symmetric(n: usize, seed: usize) -> NdArray {
    let a = random(&[n, n], seed);
    a.add(&a.transpose()).unwrap()
}

fn positive(n: usize, seed: usize) -> NdArray {
    let a = random(&[n, n], seed);
    a.mmul(&a.transpose())
        .unwrap()
        .add(&NdArray::eye_of(DType::F64, n).unwrap())
        .unwrap()
}

fn eye(n: usize) -> NdArray {
    NdArray::eye_of(DType::F64, n).unwrap()
}

/// Every element within a tolerance, in f64.
#[track_caller]
fn close(got: &NdArray, expected: &NdArray, tolerance: f64, case: &str) {
    assert_eq!(got.shape(), expected.shape(), "{case}");
    let got64 = got.cast(DType::F64).unwrap();
    let same = got64
        .all_close(&expected.cast(DType::F64).unwrap(), tolerance, tolerance)
        .unwrap();
    assert!(same, "{case}:\n{got}\n{expected}");
}

/// How far f32 or f64 results of small well-conditioned problems may be off: a few hundred units of the last place.
fn tolerance(dtype: DType) -> f64 {
    if dtype == DType::F64 { 1e-12 } else { 1e-5 }
}

const ORDERS: [usize; 5] = [1, 2, 5, 17, 40];

/// Calls `run` with a matrix in every layout and two dtypes.
fn everywhere(matrix: &NdArray, mut run: impl FnMut(&str, &NdArray, f64)) {
    for dtype in [DType::F64, DType::F32] {
        // Of large matrices every fourth layout, since each takes all of the time a decomposition takes.
        let stride = if matrix.len() > 1000 { 4 } else { 1 };
        let all = layout_matrix(&matrix.cast(dtype).unwrap()).unwrap();
        for (name, view) in all.into_iter().step_by(stride) {
            let case = format!("{dtype} {:?} {name}", view.shape());
            run(&case, &view, tolerance(dtype));
        }
    }
}

/// As [`everywhere`], and with the first row, column or element stretched to a matrix of rank 1.
fn everywhere_and_stretched(matrix: &NdArray, mut run: impl FnMut(&str, &NdArray, f64)) {
    for dtype in [DType::F64, DType::F32] {
        for (name, view, _) in inputs(&matrix.cast(dtype).unwrap()).unwrap() {
            let case = format!("{dtype} {:?} {name}", view.shape());
            run(&case, &view, tolerance(dtype));
        }
    }
}

#[test]
fn systems_are_solved() {
    for n in ORDERS {
        let (a, x) = (regular(n, 1), random(&[n, 3], 2));
        everywhere(&a, |case, a, tolerance| {
            let x = x.cast(a.dtype()).unwrap();
            let b = a.mmul(&x).unwrap();
            let found = a.solve(&b).unwrap();
            assert_eq!(found.dtype(), a.dtype());
            close(&found, &x, tolerance, case);
            let column = x.column(0).unwrap();
            close(
                &a.solve(&a.matmul(&column).unwrap()).unwrap(),
                &column,
                tolerance,
                case,
            );
            let inverse = a.inv().unwrap();
            close(&inverse.mmul(a).unwrap(), &eye(n), tolerance, case);
            let place = a.dup().unwrap();
            place.invi().unwrap();
            close(&place, &inverse, 0.0, case);
            let det = a.det().unwrap().get_f64([0usize; 0]).unwrap();
            let log = a.slogdet().unwrap();
            let (sign, log) = (
                log.sign.to_f64_vec().unwrap()[0],
                log.log.to_f64_vec().unwrap()[0],
            );
            // Of 40 rows it is beyond f32.
            let fits = det.is_finite();
            assert!(
                !fits || (sign * log.exp() / det - 1.0).abs() < 100.0 * tolerance,
                "{case}: {det} {sign} {log}"
            );
        });
    }
    // Batches broadcast, in both directions.
    let a = NdArray::stack(&[&regular(3, 1), &regular(3, 2)], 0).unwrap();
    let x = random(&[2, 3, 4], 3);
    in_layouts([&a, &a.matmul(&x).unwrap()], &mut |case, [a, b]| {
        close(&a.solve(b).unwrap(), &x, 1e-12, case);
    })
    .unwrap();
    let one = a.slice(0, 0).unwrap();
    close(
        &one.solve(&one.matmul(&x).unwrap()).unwrap(),
        &x,
        1e-12,
        "one matrix, a batch of right sides",
    );
    let shared = a.solve(&x.slice(0, 0).unwrap()).unwrap();
    let by_hand = a
        .slice(1, 0)
        .unwrap()
        .solve(&x.slice(0, 0).unwrap())
        .unwrap();
    close(
        &shared.slice(1, 0).unwrap(),
        &by_hand,
        1e-14,
        "a batch of matrices, one right side",
    );
    close(
        &a.inv().unwrap().slice(1, 0).unwrap(),
        &a.slice(1, 0).unwrap().inv().unwrap(),
        0.0,
        "batch of inverses",
    );
    // Integers are solved as f64.
    let ints = NdArray::from([[2i32, 1], [1, 3]]);
    assert_eq!(
        ints.solve(&NdArray::from([3i32, 4])).unwrap().dtype(),
        DType::F64
    );
}

#[test]
fn right_sides_may_have_any_layout() {
    let (a, x) = (regular(5, 1), random(&[5, 3], 2));
    let b = a.mmul(&x).unwrap();
    let (vector, column) = (b.column(1).unwrap(), x.column(1).unwrap());
    let (tall, metric) = (random(&[7, 5], 3), positive(5, 4));
    let (fitted, values) = (
        tall.lstsq(&random(&[7, 2], 4)).unwrap().x,
        symmetric(5, 5).eigh_generalized(&metric).unwrap().values,
    );
    in_layouts([&a, &b], &mut |case, [a, b]| {
        close(&a.solve(b).unwrap(), &x, 1e-12, case);
    })
    .unwrap();
    in_layouts([&a, &vector], &mut |case, [a, b]| {
        close(&a.solve(b).unwrap(), &column, 1e-12, case);
    })
    .unwrap();
    in_layouts([&tall, &random(&[7, 2], 4)], &mut |case, [a, b]| {
        close(&a.lstsq(b).unwrap().x, &fitted, 1e-12, case);
    })
    .unwrap();
    in_layouts([&symmetric(5, 5), &metric], &mut |case, [a, b]| {
        let found = a.eigh_generalized(b).unwrap();
        close(&found.values, &values, 1e-12, case);
    })
    .unwrap();
    // One right side for all rows of a column, and for all columns of a row.
    for (case, b, plain) in inputs(&b).unwrap() {
        let back = a.mmul(&a.solve(&b).unwrap()).unwrap();
        close(&back, &plain, 1e-12, &case);
    }
}

/// Rows or columns that are all the same: elimination meets pivots of zero, and goes on.
#[test]
fn determinants_of_rank_one_are_zero() {
    for n in [2, 3, 5, 40] {
        for (case, a, _) in inputs(&random(&[n, n], n)).unwrap() {
            if !case.starts_with("stretched") {
                continue;
            }
            let det = a.det().unwrap().item::<f64>().unwrap();
            let log = a.slogdet().unwrap().log.item::<f64>().unwrap();
            assert!(det.abs() < 1e-15 && log < -30.0, "{n} {case}: {det} {log}");
        }
    }
    let ones = NdArray::ones([3, 3]).unwrap();
    let log = ones.slogdet().unwrap();
    assert_eq!(
        (
            ones.det().unwrap().item::<f32>().unwrap(),
            log.sign.item::<f32>().unwrap(),
            log.log.item::<f32>().unwrap()
        ),
        (0.0, 0.0, f32::NEG_INFINITY)
    );
}

#[test]
fn factors_multiply_to_the_matrix() {
    for (rows, columns) in [(1, 1), (3, 3), (5, 3), (3, 5), (20, 33), (33, 20)] {
        let small = rows.min(columns);
        everywhere_and_stretched(&random(&[rows, columns], rows), |case, a, tolerance| {
            let f = a.lu().unwrap();
            close(
                &f.p.mmul(&f.l).unwrap().mmul(&f.u).unwrap(),
                a,
                tolerance,
                case,
            );
            close(&f.p.mmul(&f.p.transpose()).unwrap(), &eye(rows), 0.0, case);
            assert!(
                f.l.norm_max_number().unwrap() <= 1.0,
                "{case}: pivots are the largest"
            );
            let f = a.qr().unwrap();
            close(&f.q.mmul(&f.r).unwrap(), a, tolerance, case);
            close(
                &f.q.transpose().mmul(&f.q).unwrap(),
                &eye(small),
                tolerance,
                case,
            );
            for i in 1..small {
                let below = f.r.get(&s![i as isize, ..i as isize]).unwrap();
                assert_eq!(
                    below.norm_max_number().unwrap(),
                    0.0,
                    "{case}: r is triangular"
                );
            }
            let f = a.svd().unwrap();
            close(
                &f.u.mul(&f.s).unwrap().mmul(&f.vt).unwrap(),
                a,
                tolerance,
                case,
            );
            close(
                &f.u.transpose().mmul(&f.u).unwrap(),
                &eye(small),
                tolerance,
                case,
            );
            close(
                &f.vt.mmul(&f.vt.transpose()).unwrap(),
                &eye(small),
                tolerance,
                case,
            );
            let s = f.s.to_f64_vec().unwrap();
            assert!(
                s.is_sorted_by(|a, b| a >= b) && s[small - 1] >= 0.0,
                "{case}: {s:?}"
            );
            close(&a.singular_values().unwrap(), &f.s, tolerance, case);
        });
    }
    for n in ORDERS {
        everywhere(&positive(n, 3), |case, a, tolerance| {
            let l = a.cholesky().unwrap();
            close(&l.mmul(&l.transpose()).unwrap(), a, tolerance, case);
            // What is above the diagonal is not read.
            let spoilt = a.dup().unwrap();
            if n > 1 {
                spoilt.set([0, n - 1], 1e6).unwrap();
            }
            close(&spoilt.cholesky().unwrap(), &l, 0.0, case);
        });
    }
    let batch = NdArray::stack(&[&random(&[4, 3], 1), &random(&[4, 3], 2)], 0).unwrap();
    let f = batch.svd().unwrap();
    assert_eq!(
        (&f.u.shape()[..], &f.s.shape()[..], &f.vt.shape()[..]),
        (&[2, 4, 3][..], &[2, 3][..], &[2, 3, 3][..])
    );
    close(
        &f.u.mul(&f.s.expand_dims(1).unwrap())
            .unwrap()
            .matmul(&f.vt)
            .unwrap(),
        &batch,
        1e-12,
        "batch",
    );
    let f = batch.qr().unwrap();
    close(&f.q.matmul(&f.r).unwrap(), &batch, 1e-12, "batch");
}

#[test]
fn eigenvectors_are_stretched() {
    for n in ORDERS {
        everywhere(&symmetric(n, 4), |case, a, tolerance| {
            let f = a.eigh().unwrap();
            close(
                &a.mmul(&f.vectors).unwrap(),
                &f.vectors.mul(&f.values).unwrap(),
                10.0 * tolerance,
                case,
            );
            close(
                &f.vectors.transpose().mmul(&f.vectors).unwrap(),
                &eye(n),
                tolerance,
                case,
            );
            assert!(f.values.to_f64_vec().unwrap().is_sorted(), "{case}");
        });
        let (a, b) = (symmetric(n, 5), positive(n, 6));
        everywhere(&b, |case, b, tolerance| {
            let a = a.cast(b.dtype()).unwrap();
            let f = a.eigh_generalized(b).unwrap();
            let right = b.mmul(&f.vectors).unwrap().mul(&f.values).unwrap();
            close(
                &a.mmul(&f.vectors).unwrap(),
                &right,
                100.0 * tolerance,
                case,
            );
            let metric = f
                .vectors
                .transpose()
                .mmul(b)
                .unwrap()
                .mmul(&f.vectors)
                .unwrap();
            close(&metric, &eye(n), 10.0 * tolerance, case);
        });
        everywhere(&random(&[n, n], 7), |case, a, tolerance| {
            let f = a.eig().unwrap();
            let (re, im) = (&f.vectors_re, &f.vectors_im);
            let stretched_re = &(re * &f.values_re) - &(im * &f.values_im);
            let stretched_im = &(re * &f.values_im) + &(im * &f.values_re);
            close(&a.mmul(re).unwrap(), &stretched_re, 10.0 * tolerance, case);
            close(&a.mmul(im).unwrap(), &stretched_im, 10.0 * tolerance, case);
            let lengths = &re.sum_squares(0).unwrap() + &im.sum_squares(0).unwrap();
            close(&lengths, &NdArray::ones([n]).unwrap(), tolerance, case);
        });
    }
    // ND4J's test2Syev: the eigenvalues of A are twice those of A with 2 I.
    let a = symmetric(6, 8);
    let halved = a.eigh_generalized(&eye(6).mul(2).unwrap()).unwrap();
    close(
        &halved.values.mul(2).unwrap(),
        &a.eigh().unwrap().values,
        1e-12,
        "test2Syev",
    );
}

#[test]
fn pseudo_inverses_obey_moore_and_penrose() {
    let deficient = random(&[6, 2], 1).mmul(&random(&[2, 4], 2)).unwrap();
    for a in [
        random(&[5, 3], 1),
        random(&[3, 5], 2),
        regular(4, 3),
        deficient.clone(),
        NdArray::zeros_of(DType::F64, [3, 2]).unwrap(),
    ] {
        everywhere_and_stretched(&a, |case, a, tolerance| {
            let (p, tolerance) = (a.pinv().unwrap(), 10.0 * tolerance);
            let (ap, pa) = (a.mmul(&p).unwrap(), p.mmul(a).unwrap());
            close(&ap.mmul(a).unwrap(), a, tolerance, case);
            close(&pa.mmul(&p).unwrap(), &p, tolerance, case);
            close(&ap.transpose(), &ap, tolerance, case);
            close(&pa.transpose(), &pa, tolerance, case);
        });
    }
    // ND4J's TestInvertMatrices.
    let a = NdArray::from([[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let expected = NdArray::from([[-16.0f64, -4.0, 8.0], [13.0, 4.0, -5.0]])
        .div(12)
        .unwrap();
    close(&a.pinv_left().unwrap(), &expected, 1e-12, "left");
    close(
        &a.transpose().pinv_right().unwrap(),
        &expected.transpose(),
        1e-12,
        "right",
    );
    for result in [
        a.transpose().pinv_left(),
        a.pinv_right(),
        deficient.pinv_left(),
    ] {
        assert!(matches!(
            found(result),
            LinalgProblem::RankDeficient { matrix: 0, .. }
        ));
    }
    let rank = |a: &NdArray| a.matrix_rank().unwrap().item::<i64>().unwrap();
    assert_eq!(
        [
            rank(&a),
            rank(&deficient),
            rank(&eye(5)),
            rank(&NdArray::zeros([3, 3]).unwrap())
        ],
        [2, 2, 5, 0]
    );
    assert_eq!(rank(&deficient.cast(DType::F32).unwrap()), 2);
}

#[test]
fn least_squares_leave_what_is_perpendicular() {
    for (rows, columns) in [(8, 3), (3, 8), (4, 4)] {
        let a = random(&[rows, columns], 5).add(0.1).unwrap();
        let b = random(&[rows, 2], 6);
        everywhere(&a, |case, a, tolerance| {
            let b = b.cast(a.dtype()).unwrap();
            let found = a.lstsq(&b).unwrap();
            let rest = a.mmul(&found.x).unwrap().sub(&b).unwrap();
            close(
                &a.transpose().mmul(&rest).unwrap(),
                &NdArray::zeros([columns, 2]).unwrap(),
                10.0 * tolerance,
                case,
            );
            close(
                &rest.sum_squares(0).unwrap(),
                &found.residuals,
                10.0 * tolerance,
                case,
            );
            close(
                &found.x,
                &a.pinv().unwrap().mmul(&b).unwrap(),
                10.0 * tolerance,
                case,
            );
            assert_eq!(found.rank, rows.min(columns));
            let column = a.lstsq(&b.column(1).unwrap()).unwrap();
            close(&column.x, &found.x.column(1).unwrap(), tolerance, case);
            assert_eq!(column.residuals.rank(), 0);
        });
    }
    let a = random(&[5, 2], 1).mmul(&random(&[2, 4], 2)).unwrap();
    assert_eq!(a.lstsq(&random(&[5], 3)).unwrap().rank, 2);
}

/// What a line of figures names, of a matrix.
fn figure(name: &str, a: &NdArray) -> NdArray {
    let norm = |norm| a.matrix_norm(norm).unwrap();
    match name {
        "det" => a.det().unwrap(),
        "inv" => a.inv().unwrap(),
        "solve" => a.solve(&NdArray::from([1.0f64, 2.0, 3.0])).unwrap(),
        "singular values" => a.svd().unwrap().s,
        "eigh values" => a.eigh().unwrap().values,
        "eig real" => a.eig().unwrap().values_re.sort(-1).unwrap(),
        "eig imaginary" => a.eig().unwrap().values_im.sort(-1).unwrap(),
        "pinv of two columns" => a.get(&s![.., ..2]).unwrap().pinv().unwrap(),
        "lstsq of two columns" => {
            a.get(&s![.., ..2])
                .unwrap()
                .lstsq(&NdArray::from([1.0f64, 2.0, 3.0]))
                .unwrap()
                .x
        }
        "norm 1" => norm(MatrixNorm::One),
        "norm 2" => norm(MatrixNorm::Two),
        "norm inf" => norm(MatrixNorm::Infinity),
        "norm fro" => norm(MatrixNorm::Frobenius),
        "norm nuc" => norm(MatrixNorm::Nuclear),
        "cond" => a.cond().unwrap(),
        "expm" => a.expm().unwrap(),
        "cholesky" => a.transpose().mmul(a).unwrap().cholesky().unwrap(),
        "variances" => a
            .pca(Components::Count(3))
            .unwrap()
            .variances
            .get(&s![..2])
            .unwrap(),
        _ => panic!("{name}"),
    }
}

#[test]
fn figures_of_numpy() {
    let a = NdArray::from([[2.0f64, -1.0, 0.5], [1.0, 3.0, -2.0], [0.0, 1.5, 4.0]]);
    let (all, mut checked, mut failed) = (layout_matrix(&a).unwrap(), 0, Vec::new());
    for line in include_str!("../testdata/linalg.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let (name, numbers) = line.split_once(':').unwrap();
        let expected: Vec<f64> = numbers
            .split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect();
        for (layout, a) in &all {
            checked += 1;
            let got = figure(name, a).to_f64_vec().unwrap();
            let same = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-12 * (1.0 + y.abs());
            if got.len() != expected.len() || !got.iter().zip(&expected).all(same) {
                failed.push(format!("{name}, {layout}: {got:?} {expected:?}"));
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn principal_components_explain_the_variance() {
    let data = random(&[30, 4], 1)
        .mul(&NdArray::from([5.0f64, 0.1, 2.0, 0.01]))
        .unwrap()
        .add(7)
        .unwrap();
    everywhere(&data, |case, data, tolerance| {
        let all = data.pca(Components::Count(9)).unwrap();
        assert_eq!(all.components.shape()[..], [4, 4]);
        let restored = all
            .scores
            .mmul(&all.components)
            .unwrap()
            .add(&all.mean)
            .unwrap();
        close(&restored, data, 10.0 * tolerance, case);
        close(
            &all.scores.var(0).unwrap(),
            &all.variances,
            100.0 * tolerance,
            case,
        );
        let most = data.pca(Components::Variance(0.95)).unwrap();
        assert_eq!(most.scores.shape()[..], [30, 2], "{case}");
        assert_eq!(
            data.pca(Components::Variance(0.0)).unwrap().scores.shape()[..],
            [30, 0]
        );
        assert_eq!(
            data.pca(Components::Variance(1.0)).unwrap().scores.shape()[0],
            30
        );
    });
    assert!(
        NdArray::ones([1, 3])
            .unwrap()
            .pca(Components::Count(1))
            .is_err()
    );
}

#[test]
fn exponentials_of_matrices() {
    for n in [1, 3, 10] {
        everywhere(&random(&[n, n], 1), |case, a, tolerance| {
            let back = a
                .expm()
                .unwrap()
                .mmul(&a.neg().unwrap().expm().unwrap())
                .unwrap();
            close(&back, &eye(n), 100.0 * tolerance, case);
        });
    }
    let turn = NdArray::from([[0.0f64, -1.0], [1.0, 0.0]])
        .mul(std::f64::consts::PI)
        .unwrap();
    close(
        &turn.expm().unwrap(),
        &eye(2).neg().unwrap(),
        1e-14,
        "half a turn",
    );
}

#[test]
fn sizes_of_zero() {
    let none = NdArray::zeros([0, 0]).unwrap();
    assert_eq!(none.det().unwrap().item::<f32>().unwrap(), 1.0);
    assert_eq!(none.slogdet().unwrap().log.item::<f32>().unwrap(), 0.0);
    assert_eq!(none.inv().unwrap().shape()[..], [0, 0]);
    assert_eq!(
        none.solve(&NdArray::zeros([0, 2]).unwrap())
            .unwrap()
            .shape()[..],
        [0, 2]
    );
    assert_eq!(none.eigh().unwrap().values.shape()[..], [0]);
    assert_eq!(none.eig().unwrap().values_re.shape()[..], [0]);
    assert_eq!(none.expm().unwrap().shape()[..], [0, 0]);
    let empty = NdArray::zeros([3, 0]).unwrap();
    assert_eq!(empty.svd().unwrap().u.shape()[..], [3, 0]);
    assert_eq!(empty.pinv().unwrap().shape()[..], [0, 3]);
    assert_eq!(empty.qr().unwrap().q.shape()[..], [3, 0]);
    assert_eq!(empty.lu().unwrap().p.shape()[..], [3, 3]);
    assert_eq!(empty.matrix_rank().unwrap().item::<i64>().unwrap(), 0);
    assert_eq!(
        empty
            .matrix_norm(MatrixNorm::Two)
            .unwrap()
            .item::<f32>()
            .unwrap(),
        0.0
    );
    let found = empty.lstsq(&NdArray::ones([3]).unwrap()).unwrap();
    assert_eq!(
        (
            &found.x.shape()[..],
            found.residuals.item::<f32>().unwrap(),
            found.rank
        ),
        (&[0][..], 3.0, 0)
    );
    assert_eq!(empty.transpose().lu().unwrap().u.shape()[..], [0, 3]);
    let batch = NdArray::zeros([0, 2, 2]).unwrap();
    assert_eq!(batch.inv().unwrap().shape()[..], [0, 2, 2]);
    assert_eq!(batch.det().unwrap().shape()[..], [0]);
    assert!(none.cond().is_err());
}

#[track_caller]
fn found<T>(result: Result<T, ArrayError>) -> LinalgProblem {
    match result.map(drop).unwrap_err().kind() {
        ArrayErrorKind::Linalg { problem, .. } => *problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_matrices_are_typed_errors() {
    use LinalgProblem as P;
    let singular = NdArray::from([[1.0f64, 2.0], [2.0, 4.0]]);
    let batch = NdArray::stack(&[&eye(2), &singular], 0).unwrap();
    let x = NdArray::ones([2]).unwrap();
    assert_eq!(
        found(singular.solve(&x)),
        P::Singular {
            matrix: 0,
            pivot: 1
        }
    );
    assert_eq!(
        found(batch.solve(&NdArray::ones([2, 1]).unwrap())),
        P::Singular {
            matrix: 1,
            pivot: 1
        }
    );
    assert_eq!(
        found(batch.inv()),
        P::Singular {
            matrix: 1,
            pivot: 1
        }
    );
    assert_eq!(
        found(singular.invi()),
        P::Singular {
            matrix: 0,
            pivot: 1
        }
    );
    assert_eq!(batch.det().unwrap().to_f64_vec().unwrap(), [1.0, 0.0]);
    let log = singular.slogdet().unwrap();
    assert_eq!(
        (
            log.sign.to_f64_vec().unwrap()[0],
            log.log.to_f64_vec().unwrap()[0]
        ),
        (0.0, f64::NEG_INFINITY)
    );
    assert_eq!(
        singular.cond().unwrap().item::<f64>().unwrap().max(1e15),
        singular.cond().unwrap().item::<f64>().unwrap()
    );
    let indefinite = NdArray::from([[1.0f64, 2.0], [2.0, 1.0]]);
    assert!(matches!(
        found(indefinite.cholesky()),
        P::NotPositiveDefinite {
            matrix: 0,
            pivot: 1
        }
    ));
    assert!(matches!(
        found(eye(2).eigh_generalized(&indefinite)),
        P::NotPositiveDefinite { .. }
    ));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let bad = batch.dup().unwrap();
        bad.set([1, 0, 1], value).unwrap();
        let problems = [
            found(bad.solve(&x)),
            found(bad.inv()),
            found(bad.det()),
            found(bad.slogdet()),
            found(bad.lu()),
            found(bad.qr()),
            found(bad.cholesky()),
            found(bad.eigh()),
            found(bad.eig()),
            found(bad.svd()),
            found(bad.pinv()),
            found(bad.expm()),
            found(bad.matrix_rank()),
            found(bad.cond()),
            found(bad.matrix_norm(MatrixNorm::Two)),
        ];
        for problem in problems {
            assert!(
                matches!(problem, P::NotFinite { matrix: 1, value: at } if at == value || at.is_nan()),
                "{problem:?}"
            );
        }
        assert!(matches!(
            found(eye(2).solve(&x.mul(value).unwrap())),
            P::NotFinite { .. }
        ));
    }
    let oblong = NdArray::ones([2, 3]).unwrap();
    for result in [
        oblong.inv(),
        oblong.det(),
        oblong.cholesky(),
        oblong.expm(),
        oblong.solve(&x),
        x.det(),
        x.pinv(),
    ] {
        assert!(matches!(
            result.unwrap_err().kind(),
            ArrayErrorKind::Form { .. }
        ));
    }
    for result in [
        oblong.eigh().map(drop),
        oblong.eig().map(drop),
        x.svd().map(drop),
        x.lu().map(drop),
        x.qr().map(drop),
    ] {
        assert!(matches!(
            result.unwrap_err().kind(),
            ArrayErrorKind::Form { .. }
        ));
    }
    let wrong = eye(2).solve(&NdArray::ones([3]).unwrap()).unwrap_err();
    assert!(
        matches!(wrong.kind(), ArrayErrorKind::RightSide { .. }),
        "{wrong}"
    );
    assert!(matches!(
        oblong
            .lstsq(&NdArray::ones([3]).unwrap())
            .unwrap_err()
            .kind(),
        ArrayErrorKind::RightSide { .. }
    ));
    let ints = NdArray::from([[2i32, 0], [0, 2]]);
    assert!(matches!(
        ints.invi().unwrap_err().kind(),
        ArrayErrorKind::Cast { .. }
    ));
    let text = batch.inv().unwrap_err().to_string();
    assert!(
        text.starts_with("inv: matrix 1 is singular: pivot 1 is zero"),
        "{text}"
    );
    assert!(
        text.contains("array: f64 [2, 2, 2] C") && text.contains("tests/linalg.rs:"),
        "{text}"
    );
}

/// Inverse and determinant by elimination with the largest pivot of all that is left, of a matrix in row order.
fn by_full_pivots(matrix: &[f64], n: usize) -> (Vec<f64>, f64) {
    let width = 2 * n;
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let unit = (0..n).map(|j| f64::from(u8::from(i == j)));
            matrix[i * n..][..n].iter().copied().chain(unit).collect()
        })
        .collect();
    let (mut det, mut columns) = (1.0, (0..n).collect::<Vec<_>>());
    for k in 0..n {
        let places = (k..n).flat_map(|i| (k..n).map(move |j| (i, j)));
        let (i, j) = places
            .max_by(|x, y| rows[x.0][x.1].abs().total_cmp(&rows[y.0][y.1].abs()))
            .unwrap();
        det *= if (i == k) == (j == k) { 1.0 } else { -1.0 };
        rows.swap(i, k);
        rows.iter_mut().for_each(|row| row.swap(j, k));
        columns.swap(j, k);
        let pivot = rows[k][k];
        det *= pivot;
        rows[k].iter_mut().for_each(|x| *x /= pivot);
        let done = rows[k].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k];
            (0..width).for_each(|c| row[c] -= factor * done[c]);
        }
    }
    let mut inverse = vec![0.0; n * n];
    for (row, &to) in rows.iter().zip(&columns) {
        inverse[to * n..][..n].copy_from_slice(&row[n..]);
    }
    (inverse, det)
}

/// Every number of rows around those at which another way is taken, where pivots are not on the diagonal.
#[test]
fn batches_are_eliminated_one_by_one() {
    for n in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24] {
        // Rows in another order: none of the large elements is on the diagonal.
        let order = (0..n as i64)
            .map(|i| (i + 1) % n as i64)
            .collect::<Vec<_>>();
        let matrices = (0..5).map(|seed| regular(n, seed).take(&order, 0).unwrap());
        let matrices = matrices.collect::<Vec<_>>();
        let batch = NdArray::stack(&matrices.iter().collect::<Vec<_>>(), 0).unwrap();
        let found = matrices
            .iter()
            .map(|a| by_full_pivots(&a.to_f64_vec().unwrap(), n));
        let (inverses, dets): (Vec<_>, Vec<_>) = found.unzip();
        let inverses = NdArray::from_vec(inverses.concat(), [5, n, n]).unwrap();
        for dtype in [DType::F64, DType::F32] {
            let tolerance = tolerance(dtype);
            in_layouts([&batch.cast(dtype).unwrap()], &mut |case, [a]| {
                let case = format!("{n} {dtype} {case}");
                close(&a.inv().unwrap(), &inverses, tolerance, &case);
                let found = a.det().unwrap().to_f64_vec().unwrap();
                let log = a.slogdet().unwrap();
                let signs = log.sign.to_f64_vec().unwrap();
                let logs = log.log.to_f64_vec().unwrap();
                for (i, det) in dets.iter().enumerate() {
                    let off = (found[i] / det - 1.0).abs();
                    assert!(off < 10.0 * tolerance, "{case}: {} {det}", found[i]);
                    assert_eq!(signs[i], det.signum(), "{case}");
                    let off = (logs[i] - det.abs().ln()).abs();
                    assert!(off < 100.0 * tolerance, "{case}: {} {det}", logs[i]);
                }
                for columns in [0, 1, 3, 4, 8, 11] {
                    let x = random(&[5, n, columns], 9).cast(dtype).unwrap();
                    let found = a.solve(&a.matmul(&x).unwrap()).unwrap();
                    close(&found, &x, 10.0 * tolerance, &case);
                }
            })
            .unwrap();
        }
    }
}

/// A singular matrix neither stops the others nor leaves anything behind for them.
#[test]
fn singular_matrices_stay_alone_in_a_batch() {
    for n in [2, 4, 6, 8, 12, 16, 20] {
        let zeros = NdArray::zeros_of(DType::F64, [n, n]).unwrap();
        let ones = NdArray::ones_of(DType::F64, [n, n]).unwrap();
        let hole = regular(n, 2);
        hole.slice(1, 1).unwrap().assign(0).unwrap();
        let (first, last) = (regular(n, 1), regular(n, 3));
        let batch = NdArray::stack(&[&first, &zeros, &hole, &ones, &last], 0).unwrap();
        let expected = [&first, &zeros, &hole, &ones, &last].map(|a| {
            let alone = a.det().unwrap();
            alone.item::<f64>().unwrap()
        });
        assert_eq!(expected[1..4], [0.0; 3], "{n}");
        assert_eq!(batch.det().unwrap().to_f64_vec().unwrap(), expected);
        let log = batch.slogdet().unwrap();
        let logs = log.log.to_f64_vec().unwrap();
        assert_eq!(logs[1..4], [f64::NEG_INFINITY; 3], "{n}");
        assert_eq!(log.sign.to_f64_vec().unwrap()[1..4], [0.0; 3], "{n}");
        assert!((logs[4] - expected[4].abs().ln()).abs() < 1e-12, "{n}");
        for (others, place, pivot) in [
            ([&first, &zeros], 1, 0),
            ([&hole, &first], 0, 1),
            ([&last, &ones], 1, 1),
        ] {
            let batch = NdArray::stack(&others, 0).unwrap();
            let expected = LinalgProblem::Singular {
                matrix: place,
                pivot,
            };
            assert_eq!(found(batch.inv()), expected, "{n}");
            let right = NdArray::ones_of(DType::F64, [2, n, 1]).unwrap();
            assert_eq!(found(batch.solve(&right)), expected, "{n}");
        }
    }
}

/// Matrices that are reduced to as many rows as columns, in one block of rows and in several.
#[test]
fn tall_least_squares_are_as_of_the_decomposition() {
    for (rows, columns, sides) in [
        (6, 3, 2),
        (1000, 20, 1),
        (20_000, 3, 2),
        (9000, 1, 1),
        (50, 4, 0),
    ] {
        let a = random(&[rows, columns], 5).add(0.1).unwrap();
        let b = random(&[rows, sides], 6);
        let decomposed = a.svd().unwrap();
        let found = a.lstsq(&b).unwrap();
        let case = format!("{rows} {columns} {sides}");
        close(&found.s, &decomposed.s, 1e-12, &case);
        assert_eq!(found.rank, columns);
        close(
            &found.x,
            &a.pinv().unwrap().matmul(&b).unwrap(),
            1e-11,
            &case,
        );
        let rest = a.matmul(&found.x).unwrap().sub(&b).unwrap();
        close(
            &rest.sum_squares(0).unwrap(),
            &found.residuals,
            1e-11,
            &case,
        );
        // Views that are not row after row.
        let turned = a.transpose().dup_order(Order::C).unwrap().transpose();
        close(&turned.lstsq(&b).unwrap().x, &found.x, 1e-12, &case);
    }
    // Of lower rank, also by whole columns of zeros: the shortest solution.
    for rows in [300, 12_000] {
        let a = random(&[rows, 2], 1).matmul(&random(&[2, 5], 2)).unwrap();
        let zeros = NdArray::zeros_of(DType::F64, [rows, 2]).unwrap();
        let a = NdArray::concat(&[&zeros, &a, &zeros], 1).unwrap();
        let b = random(&[rows], 3);
        let found = a.lstsq(&b).unwrap();
        assert_eq!(found.rank, 2);
        let expected = a.pinv().unwrap().matmul(&b).unwrap();
        close(&found.x, &expected, 1e-11, "of rank 2");
    }
}

#[test]
fn values_alone_are_those_of_the_decomposition() {
    for shape in [[1, 1], [7, 7], [40, 3], [3, 40], [90, 90], [150, 140]] {
        let a = random(&shape, 4);
        let s = a.svd().unwrap().s;
        close(
            &a.singular_values().unwrap(),
            &s,
            1e-12,
            &format!("{shape:?}"),
        );
        let s = s.to_f64_vec().unwrap();
        let least = s[0] * shape[0].max(shape[1]) as f64 * f64::EPSILON;
        let rank = a.matrix_rank().unwrap().item::<i64>().unwrap();
        let counted = s.iter().filter(|value| **value > least).count();
        assert_eq!(rank, counted as i64, "{shape:?}");
    }
    let deficient = random(&[120, 10], 1)
        .matmul(&random(&[10, 100], 2))
        .unwrap();
    assert_eq!(deficient.matrix_rank().unwrap().item::<i64>().unwrap(), 10);
    let p = deficient.pinv().unwrap();
    let again = deficient.matmul(&p).unwrap().matmul(&deficient).unwrap();
    close(&again, &deficient, 1e-10, "of rank 10");
    let shorter = p.matmul(&deficient).unwrap().matmul(&p).unwrap();
    close(&shorter, &p, 1e-10, "of rank 10");
}
