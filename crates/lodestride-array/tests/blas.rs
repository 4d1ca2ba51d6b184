//! BLAS by name against loops written from the definitions, in every layout, dtype and backend.
//!
//! Inputs are small integers, so that products are exact in every dtype and compared without tolerance; only divisions round.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod support;

use lodestride_array::blas::{self, Band, Diagonal, Side, Transpose, Triangle};
use lodestride_array::kernels::Backend;
use lodestride_array::{ArrayError, ArrayErrorKind, DType, NdArray, s};
use support::matrix::{in_layouts, stretched_combinations};

const TRANSPOSES: [Transpose; 2] = [Transpose::No, Transpose::Yes];
const TRIANGLES: [Triangle; 2] = [Triangle::Upper, Triangle::Lower];
const DIAGONALS: [Diagonal; 2] = [Diagonal::Stored, Diagonal::Unit];
const DTYPES: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

/// A matrix of the reference.
#[derive(Clone, Debug)]
struct Plain {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Plain {
    fn new(rows: usize, columns: usize, at: impl Fn(usize, usize) -> f64) -> Self {
        let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        let values = places.map(|(i, j)| at(i, j)).collect();
        Self {
            rows,
            columns,
            values,
        }
    }

    /// Integers from -3 to 3 that look random.
    fn random(rows: usize, columns: usize, seed: usize) -> Self {
        Self::new(rows, columns, |i, j| {
            let mixed = (i * 37 + j * 101 + seed * 53 + 7).wrapping_mul(2_654_435_761) >> 13;
            (mixed % 7) as f64 - 3.0
        })
    }

    fn of(array: &NdArray) -> Self {
        let (rows, columns) = match array.shape()[..] {
            [n] => (n, 1),
            [rows, columns] => (rows, columns),
            _ => panic!("no matrix"),
        };
        let values = array.to_f64_vec().unwrap();
        Self {
            rows,
            columns,
            values,
        }
    }

    fn array(&self, dtype: DType) -> NdArray {
        let values = NdArray::from_vec(self.values.clone(), [self.rows, self.columns]);
        values.unwrap().cast(dtype).unwrap()
    }

    fn vector(&self, dtype: DType) -> NdArray {
        self.array(dtype).reshape([self.values.len()]).unwrap()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.columns + j]
    }

    fn op(&self, transpose: Transpose) -> Self {
        match transpose {
            Transpose::No => self.clone(),
            Transpose::Yes => Self::new(self.columns, self.rows, |i, j| self.at(j, i)),
        }
    }

    fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        Self::new(self.rows, other.columns, |i, j| {
            (0..self.columns)
                .map(|k| self.at(i, k) * other.at(k, j))
                .sum()
        })
    }

    /// `alpha * self + beta * other`, in which a factor of zero hides NaN.
    fn blend(&self, alpha: f64, beta: f64, other: &Self) -> Self {
        let scaled = |factor: f64, x: f64| if factor == 0.0 { 0.0 } else { factor * x };
        Self::new(self.rows, self.columns, |i, j| {
            scaled(alpha, self.at(i, j)) + scaled(beta, other.at(i, j))
        })
    }

    fn in_triangle(triangle: Triangle, i: usize, j: usize) -> bool {
        match triangle {
            Triangle::Upper => i <= j,
            Triangle::Lower => i >= j,
        }
    }

    /// NaN outside the triangle, and on a diagonal that is not stored.
    fn hidden(&self, triangle: Triangle, diagonal: Diagonal) -> Self {
        Self::new(self.rows, self.columns, |i, j| {
            let unread = i == j && diagonal == Diagonal::Unit;
            if Self::in_triangle(triangle, i, j) && !unread {
                self.at(i, j)
            } else {
                f64::NAN
            }
        })
    }

    fn triangular(&self, triangle: Triangle, diagonal: Diagonal) -> Self {
        Self::new(self.rows, self.columns, |i, j| match () {
            () if i == j && diagonal == Diagonal::Unit => 1.0,
            () if Self::in_triangle(triangle, i, j) => self.at(i, j),
            () => 0.0,
        })
    }

    fn symmetric(&self, triangle: Triangle) -> Self {
        Self::new(self.rows, self.columns, |i, j| {
            if Self::in_triangle(triangle, i, j) {
                self.at(i, j)
            } else {
                self.at(j, i)
            }
        })
    }

    /// `self` in the triangle, `old` outside.
    fn merged(&self, triangle: Triangle, old: &Self) -> Self {
        Self::new(self.rows, self.columns, |i, j| {
            if Self::in_triangle(triangle, i, j) {
                self.at(i, j)
            } else {
                old.at(i, j)
            }
        })
    }
}

/// Collects what went wrong, so that one run shows all of it.
#[derive(Default)]
struct Report {
    cases: usize,
    failures: Vec<String>,
}

impl Report {
    fn expect(
        &mut self,
        case: &dyn Fn() -> String,
        got: &NdArray,
        expected: &Plain,
        tolerance: f64,
    ) {
        self.cases += 1;
        let got = got.to_f64_vec().unwrap();
        let same = |(x, y): (&f64, &f64)| {
            x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * (1.0 + y.abs())
        };
        if got.len() != expected.values.len() || !got.iter().zip(&expected.values).all(same) {
            self.failures
                .push(format!("{}:\n  {got:?}\n  {:?}", case(), expected.values));
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let shown = self
            .failures
            .iter()
            .take(8)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        assert!(
            self.failures.is_empty(),
            "{} of {}:\n{shown}",
            self.failures.len(),
            self.cases
        );
        assert!(self.cases > 0);
    }
}

/// Calls `run` once per backend that is built in.
fn on_backends(mut run: impl FnMut()) {
    for backend in [Backend::Gemm, Backend::OpenBlas] {
        if backend.select() {
            run();
        }
    }
    Backend::Gemm.select();
}

/// Orders below, at and above the size at which triangles are halved.
const ORDERS: [usize; 4] = [1, 5, 33, 70];

#[test]
fn products_of_matrices() {
    let mut report = Report::default();
    on_backends(|| {
        for dtype in DTYPES {
            for (ta, tb) in TRANSPOSES.iter().flat_map(|&a| TRANSPOSES.map(|b| (a, b))) {
                for (alpha, beta) in [1.0, -0.5, 2.5, 0.0]
                    .iter()
                    .flat_map(|&a| [0.0, -0.25, 1.5].map(|b| (a, b)))
                {
                    let (a, b) = (Plain::random(4, 6, 1).op(ta), Plain::random(6, 3, 2).op(tb));
                    let old = if beta == 0.0 {
                        Plain::new(4, 3, |_, _| f64::NAN)
                    } else {
                        Plain::random(4, 3, 3)
                    };
                    let expected = a.op(ta).times(&b.op(tb)).blend(alpha, beta, &old);
                    let mut given = [a.array(dtype), b.array(dtype)];
                    if alpha == 0.0 {
                        given = given.map(|x| x.mul(f64::NAN).unwrap());
                    }
                    let [a, b] = &given;
                    in_layouts([a, b, &old.array(dtype)], &mut |name, [a, b, c]| {
                        blas::gemm(ta, tb, alpha, a, b, beta, c).unwrap();
                        report.expect(
                            &|| format!("gemm {dtype} {ta:?} {tb:?} {alpha} {beta} {name}"),
                            c,
                            &expected,
                            0.0,
                        );
                    })
                    .unwrap();
                }
            }
        }
    });
}

#[test]
fn products_with_vectors() {
    let mut report = Report::default();
    on_backends(|| {
        for dtype in DTYPES {
            for (ta, (alpha, beta)) in TRANSPOSES
                .iter()
                .flat_map(|&t| [(2.0, 0.5), (1.0, 0.0), (0.0, 1.5)].map(|b| (t, b)))
            {
                let (a, x) = (Plain::random(4, 7, 1).op(ta), Plain::random(7, 1, 2));
                let old = if beta == 0.0 {
                    Plain::new(4, 1, |_, _| f64::NAN)
                } else {
                    Plain::random(4, 1, 3)
                };
                let expected = a.op(ta).times(&x).blend(alpha, beta, &old);
                in_layouts(
                    [&a.array(dtype), &x.vector(dtype), &old.vector(dtype)],
                    &mut |name, [a, x, y]| {
                        blas::gemv(ta, alpha, a, x, beta, y).unwrap();
                        report.expect(
                            &|| format!("gemv {dtype} {ta:?} {alpha} {beta} {name}"),
                            y,
                            &expected,
                            0.0,
                        );
                    },
                )
                .unwrap();
            }
            let (x, y, a) = (
                Plain::random(4, 1, 1),
                Plain::random(3, 1, 2),
                Plain::random(4, 3, 3),
            );
            let expected = x.times(&y.op(Transpose::Yes)).blend(-2.0, 1.0, &a);
            in_layouts(
                [&x.vector(dtype), &y.vector(dtype), &a.array(dtype)],
                &mut |name, [x, y, a]| {
                    blas::ger(-2.0, x, y, a).unwrap();
                    report.expect(&|| format!("ger {dtype} {name}"), a, &expected, 0.0);
                },
            )
            .unwrap();
        }
    });
}

/// Operands that are only read may have steps of 0.
#[test]
fn stretched_operands_are_read() {
    let mut report = Report::default();
    for (dtype, (ta, tb)) in DTYPES
        .iter()
        .flat_map(|&d| TRANSPOSES.map(|a| (d, a)))
        .flat_map(|(d, a)| TRANSPOSES.map(|b| (d, (a, b))))
    {
        let (a, b) = (Plain::random(4, 6, 1).op(ta), Plain::random(6, 3, 2).op(tb));
        let (x, y) = (Plain::random(6, 1, 3), Plain::random(4, 1, 4));
        let given = [
            a.array(dtype),
            b.array(dtype),
            x.vector(dtype),
            y.vector(dtype),
        ];
        let run = &mut |name: &str, given: &[&NdArray], plain: &[&NdArray]| {
            let [a, b, x, y] = [0, 1, 2, 3].map(|place| Plain::of(plain[place]));
            let case = |op| format!("{op} {dtype} {ta:?} {tb:?} {name}");
            let old = Plain::random(4, 3, 5);
            let out = old.array(dtype);
            blas::gemm(ta, tb, 2.0, given[0], given[1], -1.0, &out).unwrap();
            let expected = a.op(ta).times(&b.op(tb)).blend(2.0, -1.0, &old);
            report.expect(&|| case("gemm"), &out, &expected, 0.0);
            let out = y.vector(dtype);
            blas::gemv(ta, 1.0, given[0], given[2], 1.0, &out).unwrap();
            let expected = a.op(ta).times(&x).blend(1.0, 1.0, &y);
            report.expect(&|| case("gemv"), &out, &expected, 0.0);
            let out = Plain::random(4, 6, 6).array(dtype);
            blas::ger(-1.0, given[3], given[2], &out).unwrap();
            let product = y.times(&x.op(Transpose::Yes));
            let expected = product.blend(-1.0, 1.0, &Plain::random(4, 6, 6));
            report.expect(&|| case("ger"), &out, &expected, 0.0);
            let square = Plain::random(4, 4, 7);
            let out = square.array(dtype);
            blas::syrk(Triangle::Lower, ta, 1.0, given[0], 1.0, &out).unwrap();
            let product = a.op(ta).times(&a.op(ta).op(Transpose::Yes));
            let expected = product.blend(1.0, 1.0, &square);
            let expected = expected.merged(Triangle::Lower, &square);
            report.expect(&|| case("syrk"), &out, &expected, 0.0);
            let out = x.vector(dtype);
            blas::axpy(3.0, given[2], &out).unwrap();
            report.expect(&|| case("axpy"), &out, &x.blend(3.0, 1.0, &x), 0.0);
            let dot = NdArray::from([blas::dot(given[2], given[2]).unwrap()]);
            let expected = x.op(Transpose::Yes).times(&x);
            report.expect(&|| case("dot"), &dot, &expected, 0.0);
        };
        let [a, b, x, y] = &given;
        stretched_combinations(&[a, b, x, y], run).unwrap();
    }
}

#[test]
fn symmetric_products() {
    let mut report = Report::default();
    for (n, triangle) in ORDERS.iter().flat_map(|&n| TRIANGLES.map(|t| (n, t))) {
        let dtype = if n == 5 { DType::F32 } else { DType::F64 };
        let a = Plain::random(n, n, 1);
        let (given, whole) = (
            a.hidden(triangle, Diagonal::Stored).array(dtype),
            a.symmetric(triangle),
        );
        for (side, (alpha, beta)) in [Side::Left, Side::Right]
            .iter()
            .flat_map(|&s| [(2.0, 0.0), (-1.0, 0.5)].map(|b| (s, b)))
        {
            let (rows, columns) = if side == Side::Left { (n, 3) } else { (3, n) };
            let b = Plain::random(rows, columns, 2);
            let old = if beta == 0.0 {
                Plain::new(rows, columns, |_, _| f64::NAN)
            } else {
                Plain::random(rows, columns, 3)
            };
            let product = if side == Side::Left {
                whole.times(&b)
            } else {
                b.times(&whole)
            };
            let expected = product.blend(alpha, beta, &old);
            in_layouts(
                [&given, &b.array(dtype), &old.array(dtype)],
                &mut |name, [a, b, c]| {
                    blas::symm(side, triangle, alpha, a, b, beta, c).unwrap();
                    report.expect(
                        &|| format!("symm {n} {side:?} {triangle:?} {alpha} {beta} {name}"),
                        c,
                        &expected,
                        0.0,
                    );
                },
            )
            .unwrap();
        }
        let (x, old) = (Plain::random(n, 1, 2), Plain::random(n, 1, 3));
        let expected = whole.times(&x).blend(3.0, -1.0, &old);
        let packed = blas::pack(triangle, &given).unwrap();
        in_layouts(
            [&given, &packed, &x.vector(dtype), &old.vector(dtype)],
            &mut |name, [a, packed, x, y]| {
                let other = y.dup().unwrap();
                blas::symv(triangle, 3.0, a, x, -1.0, y).unwrap();
                report.expect(
                    &|| format!("symv {n} {triangle:?} {name}"),
                    y,
                    &expected,
                    0.0,
                );
                blas::spmv(triangle, 3.0, packed, x, -1.0, &other).unwrap();
                report.expect(
                    &|| format!("spmv {n} {triangle:?} {name}"),
                    &other,
                    &expected,
                    0.0,
                );
            },
        )
        .unwrap();
    }
}

#[test]
fn symmetric_updates() {
    let mut report = Report::default();
    let choices = TRIANGLES.iter().flat_map(|&t| TRANSPOSES.map(|o| (t, o)));
    for (n, (triangle, ta)) in ORDERS
        .iter()
        .flat_map(|&n| choices.clone().map(move |c| (n, c)))
    {
        let dtype = if n == 5 { DType::F32 } else { DType::F64 };
        let (a, b, old) = (
            Plain::random(n, 4, 1),
            Plain::random(n, 4, 2),
            Plain::random(n, n, 3),
        );
        let square = a.times(&a.op(Transpose::Yes));
        let mixed = a.times(&b.op(Transpose::Yes));
        let both = mixed.blend(1.0, 1.0, &mixed.op(Transpose::Yes));
        for (alpha, beta) in [(2.0, 0.0), (-1.0, 0.5), (0.0, 2.0)] {
            let nan = Plain::new(n, n, |_, _| f64::NAN);
            let old = if beta == 0.0 { &nan } else { &old };
            let merged = |sum: &Plain| sum.blend(alpha, beta, old).merged(triangle, old);
            let (expected, expected2) = (merged(&square), merged(&both));
            let [a, b] = [a.op(ta).array(dtype), b.op(ta).array(dtype)];
            in_layouts([&a, &b, &old.array(dtype)], &mut |name, [a, b, c]| {
                let other = c.dup().unwrap();
                blas::syrk(triangle, ta, alpha, a, beta, c).unwrap();
                let case = |op| format!("{op} {n} {triangle:?} {ta:?} {alpha} {beta} {name}");
                report.expect(&|| case("syrk"), c, &expected, 0.0);
                blas::syr2k(triangle, ta, alpha, a, b, beta, &other).unwrap();
                report.expect(&|| case("syr2k"), &other, &expected2, 0.0);
            })
            .unwrap();
        }
        let (x, y) = (Plain::random(n, 1, 4), Plain::random(n, 1, 5));
        let mixed = x.times(&y.op(Transpose::Yes));
        let both = mixed.blend(1.0, 1.0, &mixed.op(Transpose::Yes));
        let expected = x
            .times(&x.op(Transpose::Yes))
            .blend(2.0, 1.0, &old)
            .merged(triangle, &old);
        let expected2 = both.blend(2.0, 1.0, &old).merged(triangle, &old);
        in_layouts(
            [&x.vector(dtype), &y.vector(dtype), &old.array(dtype)],
            &mut |name, [x, y, a]| {
                let case = |op| format!("{op} {n} {triangle:?} {name}");
                let (other, packed) = (a.dup().unwrap(), blas::pack(triangle, a).unwrap());
                let packed2 = packed.dup().unwrap();
                blas::syr(triangle, 2.0, x, a).unwrap();
                report.expect(&|| case("syr"), a, &expected, 0.0);
                blas::syr2(triangle, 2.0, x, y, &other).unwrap();
                report.expect(&|| case("syr2"), &other, &expected2, 0.0);
                blas::spr(triangle, 2.0, x, &packed).unwrap();
                let want = Plain::of(&blas::pack(triangle, a).unwrap());
                report.expect(&|| case("spr"), &packed, &want, 0.0);
                blas::spr2(triangle, 2.0, x, y, &packed2).unwrap();
                let want = Plain::of(&blas::pack(triangle, &other).unwrap());
                report.expect(&|| case("spr2"), &packed2, &want, 0.0);
            },
        )
        .unwrap();
    }
}

/// A matrix whose triangles are far from singular.
fn dominant(n: usize) -> Plain {
    let small = Plain::random(n, n, 1);
    Plain::new(n, n, |i, j| {
        if i == j {
            2.0 + (i % 3) as f64
        } else {
            small.at(i, j) / n as f64
        }
    })
}

#[test]
fn triangular_products_and_solutions() {
    let mut report = Report::default();
    let choices = || {
        TRIANGLES.iter().flat_map(|&t| {
            TRANSPOSES
                .iter()
                .flat_map(move |&o| DIAGONALS.map(|d| (t, o, d)))
        })
    };
    for (n, (triangle, ta, diagonal)) in ORDERS.iter().flat_map(|&n| choices().map(move |c| (n, c)))
    {
        let dtype = if n == 5 { DType::F32 } else { DType::F64 };
        // Divisions and their sums: a few units of the last place of each of n terms.
        let tolerance = if n == 5 { 1e-5 } else { 1e-13 };
        let whole = dominant(n);
        let a = whole.hidden(triangle, diagonal).array(dtype);
        let t = Plain::of(&whole.array(dtype))
            .triangular(triangle, diagonal)
            .op(ta);
        for side in [Side::Left, Side::Right] {
            let (rows, columns) = if side == Side::Left { (n, 3) } else { (3, n) };
            let b = Plain::random(rows, columns, 2);
            let product = if side == Side::Left {
                t.times(&b)
            } else {
                b.times(&t)
            };
            let expected = product.blend(-2.0, 0.0, &b);
            in_layouts([&a, &b.array(dtype)], &mut |name, [a, b_array]| {
                let case =
                    |op| format!("{op} {n} {side:?} {triangle:?} {ta:?} {diagonal:?} {name}");
                blas::trmm(side, triangle, ta, diagonal, -2.0, a, b_array).unwrap();
                report.expect(&|| case("trmm"), b_array, &expected, tolerance);
                blas::trsm(side, triangle, ta, diagonal, -0.5, a, b_array).unwrap();
                report.expect(&|| case("trsm"), b_array, &b, tolerance);
            })
            .unwrap();
        }
        let x = Plain::random(n, 1, 3);
        let expected = t.times(&x);
        let packed = blas::pack(triangle, &a).unwrap();
        in_layouts(
            [&a, &packed, &x.vector(dtype)],
            &mut |name, [a, packed, v]| {
                let case = |op| format!("{op} {n} {triangle:?} {ta:?} {diagonal:?} {name}");
                blas::trmv(triangle, ta, diagonal, a, v).unwrap();
                report.expect(&|| case("trmv"), v, &expected, tolerance);
                blas::trsv(triangle, ta, diagonal, a, v).unwrap();
                report.expect(&|| case("trsv"), v, &x, tolerance);
                blas::tpmv(triangle, ta, diagonal, packed, v).unwrap();
                report.expect(&|| case("tpmv"), v, &expected, tolerance);
                blas::tpsv(triangle, ta, diagonal, packed, v).unwrap();
                report.expect(&|| case("tpsv"), v, &x, tolerance);
            },
        )
        .unwrap();
    }
}

#[test]
fn half_floats_are_solved_in_f32() {
    let mut report = Report::default();
    for dtype in [DType::F16, DType::BF16] {
        let tolerance = if dtype == DType::F16 { 4e-3 } else { 3e-2 };
        let (a, x) = (dominant(40).array(dtype), Plain::random(40, 2, 2));
        let b = Plain::of(&a)
            .triangular(Triangle::Lower, Diagonal::Stored)
            .times(&x)
            .array(dtype);
        blas::trsm(
            Side::Left,
            Triangle::Lower,
            Transpose::No,
            Diagonal::Stored,
            1.0,
            &a,
            &b,
        )
        .unwrap();
        report.expect(&|| format!("trsm {dtype}"), &b, &x, tolerance);
    }
}

/// The band storage of a matrix, NaN where nothing is stored.
fn banded(a: &Plain, lower: usize, upper: usize) -> Plain {
    Plain::new(lower + upper + 1, a.columns, |row, j| {
        let i = (row + j).wrapping_sub(upper);
        if i < a.rows { a.at(i, j) } else { f64::NAN }
    })
}

#[test]
fn band_matrices() {
    let mut report = Report::default();
    for (rows, columns, lower, upper) in [
        (5, 5, 1, 1),
        (4, 7, 2, 0),
        (7, 4, 0, 3),
        (3, 3, 5, 4),
        (6, 6, 0, 0),
        (1, 1, 0, 0),
    ] {
        let all = Plain::random(rows, columns, 1);
        let a = Plain::new(rows, columns, |i, j| {
            if j <= i + upper && i <= j + lower {
                all.at(i, j)
            } else {
                0.0
            }
        });
        for (ta, (alpha, beta)) in TRANSPOSES
            .iter()
            .flat_map(|&t| [(2.0, 0.0), (-1.0, 0.5), (0.0, 1.5)].map(|b| (t, b)))
        {
            let (x, old) = (
                Plain::random(a.op(ta).columns, 1, 2),
                Plain::random(a.op(ta).rows, 1, 3),
            );
            let old = if beta == 0.0 {
                Plain::new(old.rows, 1, |_, _| f64::NAN)
            } else {
                old
            };
            let expected = a.op(ta).times(&x).blend(alpha, beta, &old);
            let stored = banded(&a, lower, upper);
            in_layouts(
                [
                    &stored.array(DType::F32),
                    &x.vector(DType::F32),
                    &old.vector(DType::F32),
                ],
                &mut |name, [ab, x, y]| {
                    let band = Band {
                        rows,
                        lower,
                        upper,
                        diagonals: ab,
                    };
                    blas::gbmv(ta, alpha, &band, x, beta, y).unwrap();
                    report.expect(
                        &|| format!("gbmv {rows} {columns} {lower} {upper} {ta:?} {alpha} {name}"),
                        y,
                        &expected,
                        0.0,
                    );
                },
            )
            .unwrap();
        }
    }
    for (n, k) in [(1, 0), (5, 2), (5, 0), (3, 6), (40, 3)] {
        for triangle in TRIANGLES {
            let (lower, upper) = if triangle == Triangle::Upper {
                (0, k)
            } else {
                (k, 0)
            };
            let all = dominant(n);
            let a = Plain::new(n, n, |i, j| {
                if i.abs_diff(j) <= k {
                    all.at(i, j)
                } else {
                    0.0
                }
            });
            let stored = banded(&a, lower, upper).array(DType::F64);
            let (x, old) = (Plain::random(n, 1, 2), Plain::random(n, 1, 3));
            let expected = a.symmetric(triangle).times(&x).blend(2.0, -1.0, &old);
            in_layouts(
                [&stored, &x.vector(DType::F64), &old.vector(DType::F64)],
                &mut |name, [ab, x, y]| {
                    blas::sbmv(triangle, 2.0, ab, x, -1.0, y).unwrap();
                    report.expect(
                        &|| format!("sbmv {n} {k} {triangle:?} {name}"),
                        y,
                        &expected,
                        1e-14,
                    );
                },
            )
            .unwrap();
            for (ta, diagonal) in TRANSPOSES.iter().flat_map(|&t| DIAGONALS.map(|d| (t, d))) {
                let expected = a.triangular(triangle, diagonal).op(ta).times(&x);
                in_layouts([&stored, &x.vector(DType::F64)], &mut |name, [ab, v]| {
                    let case = |op| format!("{op} {n} {k} {triangle:?} {ta:?} {diagonal:?} {name}");
                    blas::tbmv(triangle, ta, diagonal, ab, v).unwrap();
                    report.expect(&|| case("tbmv"), v, &expected, 1e-14);
                    blas::tbsv(triangle, ta, diagonal, ab, v).unwrap();
                    report.expect(&|| case("tbsv"), v, &x, 1e-14);
                })
                .unwrap();
            }
        }
    }
}

#[test]
fn vectors() {
    let mut report = Report::default();
    for (dtype, shape) in DTYPES
        .iter()
        .flat_map(|&d| [&[7][..], &[3, 4], &[2, 3, 2]].map(|s| (d, s)))
    {
        let n = shape.iter().product();
        let (x, y) = (Plain::random(n, 1, 1), Plain::random(n, 1, 2));
        let array = |x: &Plain| x.array(dtype).reshape(shape).unwrap();
        let given = [array(&x), array(&y)];
        in_layouts([&given[0], &given[1]], &mut |name, [a, b]| {
            let case = |op| format!("{op} {dtype} {shape:?} {name}");
            let mut number = |op, got: f64, want: f64, tolerance: f64| {
                report.expect(
                    &|| case(op),
                    &NdArray::from([got]),
                    &Plain::new(1, 1, |_, _| want),
                    tolerance,
                );
            };
            let sum = |f: &dyn Fn(f64, f64) -> f64| {
                x.values
                    .iter()
                    .zip(&y.values)
                    .map(|(&x, &y)| f(x, y))
                    .sum::<f64>()
            };
            number("dot", blas::dot(a, b).unwrap(), sum(&|x, y| x * y), 0.0);
            number("asum", blas::asum(a).unwrap(), sum(&|x, _| x.abs()), 0.0);
            number(
                "nrm2",
                blas::nrm2(a).unwrap(),
                sum(&|x, _| x * x).sqrt(),
                1e-7,
            );
            let largest = x.values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let at = x.values.iter().position(|x| x.abs() == largest).unwrap();
            number("iamax", blas::iamax(a).unwrap() as f64, at as f64, 0.0);
            let smallest = x.values.iter().fold(9.0f64, |m, x| m.min(x.abs()));
            let at = x.values.iter().position(|x| x.abs() == smallest).unwrap();
            number("iamin", blas::iamin(a).unwrap() as f64, at as f64, 0.0);
            blas::axpy(2.0, a, b).unwrap();
            let sum = x.blend(2.0, 1.0, &y);
            report.expect(&|| case("axpy"), b, &sum, 0.0);
            blas::swap(a, b).unwrap();
            report.expect(&|| case("swap"), a, &sum, 0.0);
            report.expect(&|| case("swap"), b, &x, 0.0);
            blas::rot(a, b, 2.0, -1.0).unwrap();
            report.expect(&|| case("rot"), a, &sum.blend(2.0, -1.0, &x), 0.0);
            report.expect(&|| case("rot"), b, &x.blend(2.0, 1.0, &sum), 0.0);
            blas::copy(a, b).unwrap();
            report.expect(&|| case("copy"), b, &sum.blend(2.0, -1.0, &x), 0.0);
            blas::scal(-0.5, b).unwrap();
            report.expect(&|| case("scal"), b, &sum.blend(-1.0, 0.5, &x), 0.0);
        })
        .unwrap();
    }
    // ND4J's vectors are rows and columns.
    let (row, column) = (
        NdArray::from([[1.0f64, 2.0]]),
        NdArray::from([[3.0f64], [4.0]]),
    );
    assert_eq!(blas::dot(&row, &column).unwrap(), 11.0);
    blas::axpy(1.0, &row, &column).unwrap();
    assert_eq!(column.to_vec::<f64>().unwrap(), [4.0, 6.0]);
    // An alpha of zero does not read x.
    blas::axpy(
        0.0,
        &NdArray::full([2], f64::NAN)
            .unwrap()
            .cast(DType::F64)
            .unwrap(),
        &column,
    )
    .unwrap();
    assert_eq!(column.to_vec::<f64>().unwrap(), [4.0, 6.0]);
}

#[test]
fn norms_neither_overflow_nor_underflow() {
    let cases: [(&[f64], f64); 9] = [
        (&[], 0.0),
        (&[0.0, -0.0], 0.0),
        (&[3e300, 4e300], 5e300),
        (&[3e-300, -4e-300], 5e-300),
        (&[5e-324], 5e-324),
        (&[f64::INFINITY, 1.0], f64::INFINITY),
        (&[f64::NEG_INFINITY], f64::INFINITY),
        (&[f64::NAN, f64::INFINITY], f64::NAN),
        (&[3e-300, 4.0], 4.0),
    ];
    for (values, expected) in cases {
        let got = blas::nrm2(&NdArray::from_vec(values.to_vec(), [values.len()]).unwrap()).unwrap();
        let close = (got - expected).abs() <= 4.0 * f64::EPSILON * expected;
        assert!(
            got == expected || close || (got.is_nan() && expected.is_nan()),
            "{values:?}: {got}"
        );
    }
    let small = NdArray::from([3e-30f32, 4e-30, 0.0]);
    assert!((blas::nrm2(&small).unwrap() / 5e-30 - 1.0).abs() < 1e-6);
    let large = NdArray::from([3e30f32, 4e30, 0.0]);
    assert!((blas::nrm2(&large).unwrap() / 5e30 - 1.0).abs() < 1e-6);
    let half = NdArray::full([4], 60_000)
        .unwrap()
        .cast(DType::F16)
        .unwrap();
    assert!((blas::nrm2(&half).unwrap() / 120_000.0 - 1.0).abs() < 1e-3);
}

#[test]
fn rotations_are_those_of_scipy() {
    let mut cases = 0;
    for line in include_str!("../testdata/blas.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let mut words = line.split_whitespace();
        let op = words.next().unwrap();
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let close = |got: &[f64], expected: &[f64]| {
            got.iter()
                .zip(expected)
                .all(|(x, y)| (x - y).abs() <= 1e-15 * y.abs())
        };
        match op {
            "rotg" => {
                let got = blas::rotg(numbers[0], numbers[1]);
                assert!(close(&[got.c, got.s], &numbers[2..]), "{line}: {got:?}");
                assert!(
                    (got.r * got.c - numbers[0]).abs() <= 1e-15 * numbers[0].abs(),
                    "{line}: {got:?}"
                );
            }
            _ => {
                let [d1, d2, x1, y1] = numbers[..4].try_into().unwrap();
                let got = blas::rotmg(d1, d2, x1, y1);
                let param: [f64; 5] = numbers[4..9].try_into().unwrap();
                let expected = blas::ModifiedGivens::from_param(param).matrix;
                assert!(
                    close(got.h.matrix.as_flattened(), expected.as_flattened()),
                    "{line}: {got:?}"
                );
                let (x, y) = (NdArray::from([x1, 1.0]), NdArray::from([y1, -1.0]));
                blas::rotm(&x, &y, got.h).unwrap();
                assert!(
                    close(&x.to_f64_vec().unwrap()[..1], &numbers[9..10]),
                    "{line}: {x:?}"
                );
            }
        }
        cases += 1;
    }
    assert!(cases > 20);
}

#[test]
fn results_may_share_memory_with_inputs() {
    let all = || Plain::random(6, 6, 1).array(DType::F64);
    // Each function on overlapping parts of one array, and on copies of the inputs.
    type Run = fn(&NdArray, &NdArray, &NdArray);
    let runs: [(&str, Run); 9] = [
        ("gemm", |a, b, c| {
            blas::gemm(Transpose::No, Transpose::Yes, 1.0, a, b, 1.0, c).unwrap()
        }),
        ("symm", |a, b, c| {
            blas::symm(Side::Right, Triangle::Lower, 1.0, a, b, 1.0, c).unwrap()
        }),
        ("syrk", |a, _, c| {
            blas::syrk(Triangle::Upper, Transpose::Yes, 1.0, a, 0.0, c).unwrap()
        }),
        ("syr2k", |a, b, c| {
            blas::syr2k(Triangle::Upper, Transpose::No, 1.0, a, b, 2.0, c).unwrap()
        }),
        ("trmm", |a, _, c| {
            blas::trmm(
                Side::Left,
                Triangle::Upper,
                Transpose::No,
                Diagonal::Stored,
                2.0,
                a,
                c,
            )
            .unwrap();
        }),
        ("trsm", |a, _, c| {
            blas::trsm(
                Side::Left,
                Triangle::Upper,
                Transpose::No,
                Diagonal::Unit,
                2.0,
                a,
                c,
            )
            .unwrap();
        }),
        ("axpy", |a, _, c| blas::axpy(2.0, a, c).unwrap()),
        ("copy", |a, _, c| blas::copy(a, c).unwrap()),
        ("gbmv", |a, b, c| {
            let band = Band {
                rows: 4,
                lower: 2,
                upper: 1,
                diagonals: a,
            };
            let (x, y) = (b.row(0).unwrap(), c.row(0).unwrap());
            blas::gbmv(Transpose::No, 1.0, &band, &x, 2.0, &y).unwrap();
        }),
    ];
    for (name, run) in runs {
        let shared = all();
        let part = |array: &NdArray, i: isize| array.get(&s![i..i + 4, i..i + 4]).unwrap();
        let [a, b, c] = [0, 1, 2].map(|i| part(&shared, i));
        let copies = all();
        let [a2, b2] = [0, 1].map(|i| part(&copies, i).dup().unwrap());
        run(&a, &b, &c);
        run(&a2, &b2, &part(&copies, 2));
        assert_eq!(
            shared.to_f64_vec().unwrap(),
            copies.to_f64_vec().unwrap(),
            "{name}"
        );
        // The very same matrix in every place.
        if !matches!(name, "gbmv") {
            let (x, y) = (
                part(&all(), 0).dup().unwrap(),
                part(&all(), 0).dup().unwrap(),
            );
            run(&x, &x, &x);
            run(&y.dup().unwrap(), &y.dup().unwrap(), &y);
            assert_eq!(
                x.to_f64_vec().unwrap(),
                y.to_f64_vec().unwrap(),
                "{name} of one matrix"
            );
        }
    }
    let x = NdArray::arange_of(DType::F64, 0, 8, 1).unwrap();
    let (low, high) = (x.get(&s![..5]).unwrap(), x.get(&s![3..]).unwrap());
    assert!(matches!(
        blas::swap(&low, &high).unwrap_err().kind(),
        ArrayErrorKind::Operands { .. }
    ));
    assert!(blas::rot(&x, &x, 0.6, 0.8).is_err());
}

/// The name of an error's kind.
fn kind(result: Result<(), ArrayError>) -> String {
    let text = match result {
        Ok(()) => return "no error".into(),
        Err(error) => format!("{:?}", error.kind()),
    };
    text.split(' ').next().unwrap().into()
}

#[test]
fn bad_operands_are_typed_errors_and_change_nothing() {
    use {Diagonal::Stored, Transpose::No, Triangle::Upper};
    let [a23, a32, a22] = [[2, 3], [3, 2], [2, 2]].map(|shape| NdArray::ones(shape).unwrap());
    let [x2, x3] = [2, 3].map(|n| NdArray::ones([n]).unwrap());
    let (d2, d22) = (x2.cast(DType::F64).unwrap(), a22.cast(DType::F64).unwrap());
    let ints = NdArray::zeros_of(DType::I32, [2]).unwrap();
    let spread = NdArray::ones([1]).unwrap().broadcast_to([2]).unwrap();
    let band = Band {
        rows: 2,
        lower: 1,
        upper: 1,
        diagonals: &a22,
    };
    let cases = [
        ("MixedDTypes", blas::dot(&x2, &d2).map(drop)),
        ("MixedDTypes", blas::gemv(No, 1.0, &a22, &d2, 0.0, &x2)),
        (
            "MixedDTypes",
            blas::gemm(No, No, 1.0, &a22, &d22, 0.0, &a22),
        ),
        (
            "MixedDTypes",
            blas::trsm(Side::Left, Upper, No, Stored, 1.0, &d22, &a22),
        ),
        ("UnsupportedDType", blas::scal(2.0, &ints)),
        ("Operands", blas::axpy(1.0, &x2, &x3)),
        ("Operands", blas::dot(&a22, &a23).map(drop)),
        ("OverlappingTarget", blas::axpy(1.0, &x2, &spread)),
        (
            "OverlappingTarget",
            blas::gemv(No, 1.0, &a22, &x2, 0.0, &spread),
        ),
        (
            "OverlappingTarget",
            blas::trsv(Upper, No, Stored, &a22, &spread),
        ),
        (
            "Empty",
            blas::iamax(&NdArray::zeros([0]).unwrap()).map(drop),
        ),
        (
            "MatrixProduct",
            blas::gemm(No, No, 1.0, &a23, &a23, 0.0, &a22),
        ),
        (
            "OutputShape",
            blas::gemm(No, No, 1.0, &a23, &a32, 0.0, &a23),
        ),
        ("Form", blas::gemm(No, No, 1.0, &x2, &a22, 0.0, &a22)),
        ("VectorLength", blas::gemv(No, 1.0, &a23, &x2, 0.0, &x2)),
        ("VectorLength", blas::gemv(No, 1.0, &a23, &x3, 0.0, &x3)),
        ("OutputShape", blas::ger(1.0, &x2, &x3, &a32)),
        ("Form", blas::ger(1.0, &a22, &x3, &a32)),
        (
            "Form",
            blas::symm(Side::Left, Upper, 1.0, &a23, &a32, 0.0, &a22),
        ),
        (
            "MatrixProduct",
            blas::symm(Side::Right, Upper, 1.0, &a22, &a23, 0.0, &a23),
        ),
        ("OutputShape", blas::syrk(Upper, No, 1.0, &a32, 0.0, &a22)),
        (
            "MatrixProduct",
            blas::syr2k(Upper, No, 1.0, &a23, &a22, 0.0, &a22),
        ),
        ("VectorLength", blas::syr(Upper, 1.0, &x3, &a22)),
        (
            "MatrixProduct",
            blas::trmm(Side::Left, Upper, No, Stored, 1.0, &a22, &a32),
        ),
        ("Form", blas::trmv(Upper, No, Stored, &a23, &x3)),
        ("VectorLength", blas::trsv(Upper, No, Stored, &a22, &x3)),
        ("Operands", blas::spmv(Upper, 1.0, &x2, &x2, 0.0, &x2)),
        ("Operands", blas::spr(Upper, 1.0, &x3, &x3)),
        ("Form", blas::unpack(Upper, &x2).map(drop)),
        ("Form", blas::gbmv(No, 1.0, &band, &x2, 0.0, &x2)),
        ("VectorLength", blas::tbmv(Upper, No, Stored, &a22, &x3)),
        (
            "Form",
            blas::tbsv(Upper, No, Stored, &NdArray::zeros([0, 2]).unwrap(), &x2),
        ),
    ];
    for (case, (expected, result)) in cases.into_iter().enumerate() {
        assert_eq!(kind(result), expected, "case {case}");
    }
    for array in [&a23, &a32, &a22, &x2, &x3] {
        assert!(array.equal(1).unwrap().all_true().unwrap());
    }
    let text = blas::axpy(1.0, &x2, &x3).unwrap_err().to_string();
    assert!(
        text.starts_with(
            "axpy: needs arrays of one shape, or vectors of one length, got shapes [2] and [3]"
        ),
        "{text}"
    );
    assert!(
        text.contains("lhs: f32 [2] C") && text.contains("tests/blas.rs:"),
        "{text}"
    );
    let text = blas::dot(&x2, &d2).unwrap_err().to_string();
    assert!(
        text.ends_with("help: `cast` one of them to the dtype of the other"),
        "{text}"
    );
}

#[test]
fn nothing_is_a_size_too() {
    let (a, b, x) = (
        NdArray::zeros([0, 0]).unwrap(),
        NdArray::ones([2, 2]).unwrap(),
        NdArray::zeros([0]).unwrap(),
    );
    let none = NdArray::zeros([2, 0]).unwrap();
    blas::gemm(Transpose::No, Transpose::Yes, 1.0, &none, &none, 3.0, &b).unwrap();
    assert_eq!(b.to_vec::<f32>().unwrap(), [3.0; 4]);
    blas::syrk(Triangle::Upper, Transpose::No, 1.0, &none, 0.0, &b).unwrap();
    assert_eq!(b.to_vec::<f32>().unwrap(), [0.0, 0.0, 3.0, 0.0]);
    for triangle in TRIANGLES {
        blas::trsv(triangle, Transpose::No, Diagonal::Stored, &a, &x).unwrap();
        blas::symv(triangle, 1.0, &a, &x, 0.0, &x.dup().unwrap()).unwrap();
        blas::syr(triangle, 1.0, &x, &a).unwrap();
        blas::trmm(
            Side::Right,
            triangle,
            Transpose::No,
            Diagonal::Unit,
            1.0,
            &a,
            &none,
        )
        .unwrap();
        blas::tpsv(
            triangle,
            Transpose::No,
            Diagonal::Stored,
            &x,
            &x.dup().unwrap(),
        )
        .unwrap();
    }
    assert_eq!(blas::dot(&x, &x).unwrap(), 0.0);
    assert_eq!(blas::asum(&x).unwrap(), 0.0);
}
