//! Matrix products.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{Backend, Isa, matmul, set_threads};
use lodestride_shape::Layout;

use crate::support::{Arrangement, Array};
use crate::{Report, array_of, floats, noise, zeros};

/// `alpha * a b + beta * out` of a batch, in f64.
fn reference(a: &Array, b: &Array, out: &Array, alpha: f64, beta: f64) -> Vec<f64> {
    let (shape, right) = (a.layout.shape().to_vec(), b.layout.shape().to_vec());
    let rank = shape.len();
    let (m, k, n) = (shape[rank - 2], shape[rank - 1], right[rank - 1]);
    let (left, right, old) = (floats(a), floats(b), floats(out));
    let mut wanted = vec![0.0; old.len()];
    for (at, value) in wanted.iter_mut().enumerate() {
        let (batch, i, j) = (at / (m * n), at / n % m, at % n);
        let sum: f64 = (0..k)
            .map(|p| left[(batch * m + i) * k + p] * right[(batch * k + p) * n + j])
            .sum();
        *value = alpha * sum + if beta == 0.0 { 0.0 } else { beta * old[at] };
    }
    wanted
}

pub(crate) fn whole(i: usize) -> Scalar {
    Scalar::Int([1, 2, 0, 3, 1, 0, 2][(i + i / 7) % 7])
}

fn backends() -> impl Iterator<Item = Backend> {
    [Backend::Gemm, Backend::OpenBlas]
        .into_iter()
        .filter(|b| b.is_available())
}

#[test]
fn every_layout_and_size_matches_the_reference() {
    let _held = crate::settings();
    let mut report = Report::default();
    let sizes = [
        (1, 1, 1),
        (2, 3, 4),
        (4, 4, 4),
        (5, 1, 7),
        (1, 6, 5),
        (7, 5, 1),
        (17, 9, 33),
        (33, 70, 20),
        (3, 600, 2),
        (1, 40, 300),
        (300, 40, 1),
        (64, 64, 64),
        (37, 130, 41),
        (40, 3, 1),
        (9, 200, 1),
        (30, 90, 3),
        (100, 5, 3),
        (3, 4, 90),
    ];
    for backend in backends() {
        backend.select();
        for dtype in [DType::F32, DType::F64] {
            for (m, k, n) in sizes {
                for left in Arrangement::ALL {
                    for right in Arrangement::ALL {
                        let a = Array::new(&[m, k], left, dtype, whole);
                        let b = Array::new(&[k, n], right, dtype, |i| whole(i + 3));
                        for target in Arrangement::WRITABLE {
                            // Whole numbers: every order of summation gives the same value.
                            let (alpha, beta) = if target == Arrangement::C {
                                (1.0, 0.0)
                            } else {
                                (2.0, -1.0)
                            };
                            let out = Array::new(&[m, n], target, dtype, whole);
                            let wanted = reference(&a, &b, &out, alpha, beta);
                            matmul(a.operand(), b.operand(), out.operand(), alpha, beta).unwrap();
                            let case = format!(
                                "{backend:?} {dtype} {m}x{k}x{n} {left:?} {right:?} {target:?}"
                            );
                            report.compare(&case, &out, &wanted, 0.0);
                        }
                    }
                }
            }
        }
    }
    Backend::Gemm.select();
    report.finish();
}

/// Small, thin and packed products: `m`, `k` and `n`.
const WALKED: &[(usize, usize, usize)] = &[
    (3, 5, 2),
    (4, 4, 16),
    (13, 7, 47),
    (16, 31, 17),
    (1, 300, 5000),
    (5, 170, 701),
    (11, 600, 33),
    (2005, 301, 1),
    (50, 50, 50),
    (20, 300, 301),
    (90, 90, 101),
    (70, 515, 67),
    // Several blocks of rows and of columns.
    (700, 260, 50),
    (24, 9, 4200),
    (300, 100, 20),
    (601, 8, 1),
    // Rows of few elements that lie one after the other.
    (600, 2, 1),
    (601, 3, 1),
    (77, 4, 1),
    (5, 3, 1),
    (90, 90, 1),
    (3, 700, 3),
    (7, 1200, 9),
    (100, 90, 2),
    (63, 200, 4),
    // Columns that are copied, and one element more than can be.
    (40, 512, 3),
    (21, 513, 2),
    (500, 8, 8),
    (3, 3, 400),
    (2, 20_000, 3),
    (4, 70_000, 2),
    // Swept: few rows, many rows with small results.
    (3, 33, 501),
    (4, 130, 1100),
    (6, 77, 963),
    (8, 130, 1100),
    (32, 300, 32),
    (13, 500, 61),
];

/// Small, thin and packed products on every instruction set and at every number of threads.
#[test]
fn every_walk_gives_the_same_on_every_instruction_set() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    let mut settings: Vec<(Isa, usize)> = Isa::available().map(|isa| (isa, 1)).collect();
    settings.extend([(best, 2), (best, 4)]);
    for dtype in [DType::F32, DType::F64] {
        for &(m, k, n) in WALKED {
            for left in [Arrangement::C, Arrangement::F] {
                for right in [Arrangement::C, Arrangement::F, Arrangement::Reversed] {
                    let a = Array::new(&[m, k], left, dtype, whole);
                    let b = Array::new(&[k, n], right, dtype, |i| whole(i + 3));
                    for (target, beta) in [(Arrangement::C, 0.0), (Arrangement::F, 3.0)] {
                        let out = || Array::new(&[m, n], target, dtype, whole);
                        let wanted = reference(&a, &b, &out(), 2.0, beta);
                        for &(isa, threads) in &settings {
                            assert!(isa.select());
                            set_threads(threads);
                            let out = out();
                            matmul(a.operand(), b.operand(), out.operand(), 2.0, beta).unwrap();
                            let case = format!(
                                "{isa} {threads} {dtype} {m}x{k}x{n} {left:?} {right:?} {target:?}"
                            );
                            report.compare(&case, &out, &wanted, 0.0);
                        }
                    }
                }
            }
        }
    }
    best.select();
    set_threads(0);
    report.finish();
}

/// A matrix times its own transpose, from the same memory: only one triangle is multiplied. The long ones have several
/// blocks of steps, the widest several blocks of columns.
#[test]
fn the_square_of_one_matrix_is_symmetric() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    let mut settings: Vec<(Isa, usize)> = Isa::available().map(|isa| (isa, 1)).collect();
    settings.extend([(best, 2), (best, 4)]);
    let layouts = [Arrangement::C, Arrangement::F, Arrangement::Strided];
    let targets = [
        (Arrangement::C, 0.0),
        (Arrangement::F, 0.0),
        (Arrangement::Strided, 0.0),
        (Arrangement::C, 1.0),
    ];
    for dtype in [DType::F32, DType::F64] {
        for (m, k, layouts, targets) in [
            (129, 3, &layouts[..], &targets[..]),
            (70, 300, &layouts, &targets),
            (257, 130, &layouts, &targets[..1]),
            (530, 256, &layouts[1..2], &targets[..1]),
            // Of so many steps that the sums stay in L1.
            (32, 600, &layouts, &targets),
            (45, 700, &layouts[1..], &targets),
        ] {
            for &layout in layouts {
                let a = Array::new(&[m, k], layout, dtype, whole);
                let transposed = Array {
                    layout: a.layout.transpose(),
                    ..a.clone()
                };
                for &(target, beta) in targets {
                    let old = Array::new(&[m, m], target, dtype, whole);
                    let wanted = reference(&a, &transposed, &old, 0.5, beta);
                    for &(isa, threads) in &settings {
                        assert!(isa.select());
                        set_threads(threads);
                        let out = Array::new(&[m, m], target, dtype, whole);
                        matmul(a.operand(), transposed.operand(), out.operand(), 0.5, beta)
                            .unwrap();
                        let case =
                            format!("{isa} {threads} {dtype} {m}x{k} {layout:?} {target:?} {beta}");
                        report.compare(&case, &out, &wanted, 0.0);
                    }
                }
            }
        }
    }
    best.select();
    set_threads(0);
    report.finish();
}

/// Halves: few rows and few columns, in each of which one operand is read as it lies, and products large enough to be packed in pairs
/// of elements where the processor has an instruction for them; with odd and even steps.
#[test]
fn halves_of_every_layout_match_the_reference() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    let mut settings: Vec<(Isa, usize)> = Isa::available().map(|isa| (isa, 1)).collect();
    settings.push((best, 2));
    let sizes = [
        (1, 70, 130),
        (3, 129, 200),
        (4, 600, 65),
        (2, 1030, 70),
        (90, 65, 1),
        (1100, 67, 3),
        (70, 130, 2),
        (50, 48, 49),
        (20, 101, 90),
        (9, 523, 40),
        (130, 9, 133),
        (70, 1027, 67),
    ];
    for dtype in [DType::BF16, DType::F16] {
        for (m, k, n) in sizes {
            for left in Arrangement::ALL {
                for right in Arrangement::ALL {
                    let a = Array::new(&[m, k], left, dtype, whole);
                    let b = Array::new(&[k, n], right, dtype, |i| whole(i + 3));
                    for (target, out_dtype, beta) in [
                        (Arrangement::C, dtype, 0.0),
                        (Arrangement::F, DType::F32, 0.0),
                        (Arrangement::Strided, dtype, 1.0),
                    ] {
                        let out = || Array::new(&[m, n], target, out_dtype, whole);
                        let wanted = reference(&a, &b, &out(), 1.0, beta);
                        for &(isa, threads) in &settings {
                            assert!(isa.select());
                            set_threads(threads);
                            let out = out();
                            matmul(a.operand(), b.operand(), out.operand(), 1.0, beta).unwrap();
                            let case = format!(
                                "{isa} {threads} {dtype} {m}x{k}x{n} {left:?} {right:?} {target:?}"
                            );
                            // Sums of whole numbers are exact, and rounded once.
                            report.compare(&case, &out, &wanted, 0.5);
                        }
                    }
                }
            }
        }
    }
    best.select();
    set_threads(0);
    report.finish();
}

/// One right matrix for a batch, and batches of both.
#[test]
fn batches_of_halves_match_the_reference() {
    let mut report = Report::default();
    for dtype in [DType::BF16, DType::F16] {
        for (m, k, n) in [(50, 49, 48), (40, 64, 70), (3, 80, 90)] {
            for order in [Arrangement::C, Arrangement::F, Arrangement::Strided] {
                let a = Array::new(&[2, 3, m, k], order, dtype, whole);
                let one = Array::new(&[1, 1, k, n], order, dtype, whole);
                let layout = one.layout.broadcast_to(&[2, 3, k, n].into()).unwrap();
                let repeated = Array { layout, ..one };
                let several = Array::new(&[2, 3, k, n], order, dtype, |i| whole(i + 3));
                for b in [repeated, several] {
                    let out = Array::new(&[2, 3, m, n], Arrangement::C, dtype, whole);
                    let wanted = reference(&a, &b, &out, 1.0, 0.0);
                    matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
                    let case = format!("{dtype} {m}x{k}x{n} {order:?}");
                    report.compare(&case, &out, &wanted, 0.5);
                }
            }
        }
    }
    report.finish();
}

/// A product into memory of one of its operands, as if these had been read before.
#[test]
fn halves_may_be_multiplied_into_themselves() {
    let mut report = Report::default();
    for dtype in [DType::BF16, DType::F16] {
        for (m, k) in [(60, 60), (3, 80)] {
            let a = Array::new(&[m, k], Arrangement::C, dtype, whole);
            let b = Array::new(&[k, k], Arrangement::F, dtype, |i| whole(i + 3));
            let wanted = reference(&a, &b, &a, 1.0, 0.0);
            matmul(a.operand(), b.operand(), a.operand(), 1.0, 0.0).unwrap();
            report.compare(&format!("{dtype} {m}x{k}"), &a, &wanted, 0.5);
        }
    }
    report.finish();
}

#[test]
fn every_dtype_and_mixture_is_multiplied() {
    let mut report = Report::default();
    for left in DType::ALL {
        for right in [left, DType::F32, DType::I16] {
            for (m, k, n) in [(3, 5, 4), (9, 70, 37)] {
                let a = Array::new(&[m, k], Arrangement::F, left, whole);
                let b = Array::new(&[k, n], Arrangement::Reversed, right, whole);
                for out_dtype in [left.promote(right), DType::F64, DType::I32] {
                    let out = Array::new(&[m, n], Arrangement::Strided, out_dtype, whole);
                    let wanted = reference(&a, &b, &out, 1.0, 0.0);
                    matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
                    let wanted: Vec<f64> = match out_dtype {
                        DType::Bool => wanted
                            .iter()
                            .map(|&v| f64::from(u8::from(v != 0.0)))
                            .collect(),
                        _ if out_dtype.size() == 1 => {
                            wanted.iter().map(|&v| wrap(v, out_dtype)).collect()
                        }
                        _ => wanted,
                    };
                    report.compare(
                        &format!("{left} {right} -> {out_dtype} {k}"),
                        &out,
                        &wanted,
                        1.0,
                    );
                }
            }
        }
    }
    let a = array_of(&[1, 1], DType::I32, &[5.0]);
    let out = array_of(&[1, 1], DType::I32, &[10.0]);
    matmul(a.operand(), a.operand(), out.operand(), 2.0, 3.0).unwrap();
    report.compare("integers blend", &out, &[80.0], 0.0);
    report.finish();
}

fn wrap(value: f64, dtype: DType) -> f64 {
    let bits = 8 * dtype.size();
    let low = value as i128 & ((1 << bits) - 1);
    if dtype.is_signed() && low >> (bits - 1) != 0 {
        (low - (1 << bits)) as f64
    } else {
        low as f64
    }
}

#[test]
fn integers_of_every_size_wrap_in_their_own_type() {
    let _held = crate::settings();
    let best = Isa::detect();
    let mut report = Report::default();
    let sizes = [
        (17, 70, 1),
        (5, 30, 270),
        (1, 9, 3),
        (6, 1, 1),
        (40, 33, 2),
        // Tiles: several panels of rows and of columns, and what is left of both.
        (9, 260, 34),
        (7, 20, 133),
        // Few columns or rows, long and short.
        (3, 100, 3),
        (40, 5, 3),
        (2, 40, 50),
        (33, 3, 40),
    ];
    let dtypes = DType::ALL.into_iter().filter(|dtype| dtype.is_integer());
    for dtype in dtypes {
        for (m, k, n) in sizes {
            for left in Arrangement::ALL {
                for right in Arrangement::ALL {
                    // Products of sums beyond eight bits, within what f64 holds.
                    let value = |i: usize| Scalar::Int((i as i64 * 37) % 101);
                    let a = Array::new(&[m, k], left, dtype, value);
                    let b = Array::new(&[k, n], right, dtype, |i| value(i + 3));
                    for target in [Arrangement::C, Arrangement::F] {
                        let out = Array::new(&[m, n], target, dtype, value);
                        let wanted = reference(&a, &b, &out, 1.0, 0.0);
                        let wanted: Vec<f64> = wanted.iter().map(|&sum| wrap(sum, dtype)).collect();
                        for isa in Isa::available() {
                            assert!(isa.select());
                            out.fill(value);
                            matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
                            let case =
                                format!("{isa} {dtype} {m}x{k}x{n} {left:?} {right:?} {target:?}");
                            report.compare(&case, &out, &wanted, 0.0);
                        }
                    }
                }
            }
        }
    }
    best.select();
    report.finish();
}

/// Enough steps for several threads, which have some rows each.
#[test]
fn long_products_of_integers_are_shared_out() {
    let _held = crate::settings();
    let mut report = Report::default();
    for dtype in [DType::U8, DType::I32, DType::I64] {
        for (m, k, n) in [(32, 3300, 32), (37, 2900, 33), (130, 300, 90)] {
            for left in [Arrangement::C, Arrangement::F] {
                let a = Array::new(&[m, k], left, dtype, whole);
                let b = Array::new(&[k, n], Arrangement::C, dtype, |i| whole(i + 3));
                for target in [Arrangement::C, Arrangement::F, Arrangement::Strided] {
                    let mut wanted = None;
                    for threads in [1, 2, 4] {
                        set_threads(threads);
                        let out = Array::new(&[m, n], target, dtype, whole);
                        let wanted: &mut Vec<f64> = wanted.get_or_insert_with(|| {
                            let sums = reference(&a, &b, &out, 1.0, 0.0);
                            sums.into_iter().map(|sum| wrap(sum, dtype)).collect()
                        });
                        matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
                        let case = format!("{threads} {dtype} {m}x{k}x{n} {left:?} {target:?}");
                        report.compare(&case, &out, wanted, 0.0);
                    }
                }
            }
        }
    }
    set_threads(0);
    report.finish();
}

/// Of few rows each, but many together where one right matrix is for all.
#[test]
fn batches_of_small_products_are_multiplied() {
    let mut report = Report::default();
    let sizes = [
        (5, 4, 3, 9),
        (9, 2, 20, 17),
        (3, 7, 5, 6),
        (4, 5, 9, 2),
        (7, 3, 3, 1),
        (3, 5, 12, 1),
        (2, 1, 16, 16),
        (3, 17, 66, 3),
        (2, 16, 70, 2),
    ];
    for dtype in [DType::I64, DType::U8, DType::F32, DType::F64] {
        for (batch, m, k, n) in sizes {
            for left in Arrangement::ALL {
                for right in Arrangement::ALL {
                    let a = Array::new(&[batch, m, k], left, dtype, whole);
                    let b = Array::new(&[batch, k, n], right, dtype, |i| whole(i + 3));
                    let one = Array::new(&[k, n], right, dtype, |i| whole(i + 3));
                    let all = Array {
                        layout: one.layout.broadcast_to(&[batch, k, n].into()).unwrap(),
                        ..one
                    };
                    for b in [b, all] {
                        let out = Array::new(&[batch, m, n], Arrangement::F, dtype, whole);
                        let mut wanted = reference(&a, &b, &out, 1.0, 0.0);
                        if !dtype.is_float() {
                            wanted.iter_mut().for_each(|sum| *sum = wrap(*sum, dtype));
                        }
                        matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
                        let case = format!("{dtype} {batch} {m}x{k}x{n} {left:?} {right:?}");
                        report.compare(&case, &out, &wanted, 0.0);
                    }
                }
            }
        }
    }
    report.finish();
}

/// Enough of them for several threads, none of which ends another's share.
#[test]
fn many_small_products_are_shared_out() {
    let _held = crate::settings();
    let mut report = Report::default();
    let sizes = [3001, 8, 16, 9];
    let [batch, m, k, n] = sizes;
    for right in [Arrangement::C, Arrangement::F] {
        let a = Array::new(&[batch, m, k], Arrangement::C, DType::F32, whole);
        let b = Array::new(&[batch, k, n], right, DType::F32, |i| whole(i + 3));
        let mut wanted = None;
        for threads in [1, 2, 4] {
            set_threads(threads);
            let out = zeros(&[batch, m, n], DType::F32);
            let wanted = wanted.get_or_insert_with(|| reference(&a, &b, &out, 1.0, 0.0));
            matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
            report.compare(&format!("{threads} {right:?}"), &out, wanted, 0.0);
        }
    }
    set_threads(0);
    report.finish();
}

#[test]
fn batches_of_any_layout_are_multiplied() {
    let _held = crate::settings();
    let mut report = Report::default();
    for backend in backends() {
        backend.select();
        for threads in [1, 2] {
            set_threads(threads);
            let sizes = [
                (3, 4, 5, 6),
                (40, 33, 34, 35),
                (3, 61, 64, 67),
                (1, 2, 3, 4),
            ];
            for (batch, m, k, n) in sizes {
                for left in Arrangement::ALL {
                    for right in [Arrangement::C, Arrangement::F, Arrangement::RowBroadcast] {
                        let a = Array::new(&[batch, m, k], left, DType::F32, whole);
                        let b = Array::new(&[batch, k, n], right, DType::F32, whole);
                        for target in [Arrangement::C, Arrangement::F, Arrangement::Reversed] {
                            let out = Array::new(&[batch, m, n], target, DType::F32, whole);
                            let wanted = reference(&a, &b, &out, 1.0, 1.0);
                            matmul(a.operand(), b.operand(), out.operand(), 1.0, 1.0).unwrap();
                            let case = format!(
                                "{backend:?} {threads} {batch} {left:?} {right:?} {target:?}"
                            );
                            report.compare(&case, &out, &wanted, 0.0);
                        }
                    }
                }
            }
        }
    }
    set_threads(0);
    Backend::Gemm.select();
    report.finish();
}

#[test]
fn nan_in_the_output_is_erased_and_empty_sizes_give_zeros() {
    let _held = crate::settings();
    let mut report = Report::default();
    for backend in backends() {
        backend.select();
        for dtype in [DType::F32, DType::F64, DType::F16] {
            for (m, k, n) in [
                (2, 2, 2),
                (3, 0, 4),
                (100, 100, 100),
                (1, 50, 60),
                (60, 50, 1),
            ] {
                let a = Array::new(&[m, k], Arrangement::C, dtype, |_| Scalar::Int(1));
                let b = Array::new(&[k, n], Arrangement::C, dtype, |_| Scalar::Int(1));
                let out = Array::new(&[m, n], Arrangement::C, dtype, |_| Scalar::Float(f64::NAN));
                matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
                report.compare(
                    &format!("{backend:?} {dtype} {m} {k} {n}"),
                    &out,
                    &vec![k as f64; m * n],
                    0.0,
                );
            }
            let out = Array::new(&[2, 2], Arrangement::C, dtype, |_| Scalar::Int(3));
            let (a, b) = (zeros(&[2, 0], dtype), zeros(&[0, 2], dtype));
            matmul(a.operand(), b.operand(), out.operand(), 1.0, 2.0).unwrap();
            report.compare("k = 0 with beta", &out, &[6.0; 4], 0.0);
            for (m, n, batch) in [(0, 3, 2), (3, 0, 2), (2, 2, 0)] {
                let (a, b) = (zeros(&[batch, m, 4], dtype), zeros(&[batch, 4, n], dtype));
                let out = zeros(&[batch, m, n], dtype);
                matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
            }
        }
    }
    Backend::Gemm.select();
    report.finish();
}

#[test]
fn outputs_may_overlap_inputs() {
    let a = Array::new(&[3, 3], Arrangement::C, DType::F32, whole);
    let wanted = reference(&a, &a, &a, 1.0, 0.0);
    matmul(a.operand(), a.operand(), a.operand(), 1.0, 0.0).unwrap();
    assert_eq!(floats(&a), wanted);
}

#[test]
fn misuse_is_refused_and_nothing_written() {
    let out = Array::new(&[2, 2], Arrangement::C, DType::F32, |_| Scalar::Int(7));
    let cases: [(&[usize], &[usize]); 5] = [
        (&[2, 3], &[2, 2]),
        (&[2], &[2, 2]),
        (&[2, 3], &[3, 3]),
        (&[1, 2, 2], &[2, 2, 2]),
        (&[3, 3], &[3, 2]),
    ];
    for (left, right) in cases {
        let (a, b) = (zeros(left, DType::F32), zeros(right, DType::F32));
        let error = matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap_err();
        assert!(error.to_string().contains("matmul"), "{error}");
    }
    let a = zeros(&[2, 2], DType::F32);
    let shared = Array {
        layout: Layout::new([2, 2], [0, 1], 0).unwrap(),
        ..out.clone()
    };
    assert!(matmul(a.operand(), a.operand(), shared.operand(), 1.0, 0.0).is_err());
    assert_eq!(floats(&out), [7.0; 4]);
}

#[test]
fn rounding_stays_small_and_does_not_depend_on_threads() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    for (m, k, n, right) in [
        (200, 300, 250, Arrangement::C),
        (200, 300, 250, Arrangement::F),
        (130, 1_500, 70, Arrangement::C),
        (60, 513, 1_100, Arrangement::F),
        (900, 2_000, 1, Arrangement::C),
        (1, 2_000, 900, Arrangement::C),
        (7, 2_000, 300, Arrangement::C),
        (7, 2_000, 300, Arrangement::F),
        (20, 2_000, 300, Arrangement::F),
        // Few rows and a large matrix.
        (20, 1_301, 1_310, Arrangement::C),
        (30, 30, 30, Arrangement::C),
        (503, 70, 3, Arrangement::F),
        (2_005, 200, 4, Arrangement::F),
        (1_003, 70, 3, Arrangement::C),
        (501, 512, 2, Arrangement::C),
        (19, 64, 4, Arrangement::C),
        (505, 6, 1, Arrangement::C),
        (3, 200_000, 3, Arrangement::F),
    ] {
        for dtype in [DType::F32, DType::F64, DType::F16] {
            let a = Array::new(&[m, k], Arrangement::C, dtype, |i| Scalar::Float(noise(i)));
            let b = Array::new(&[k, n], right, dtype, |i| Scalar::Float(noise(i + 7)));
            let old = zeros(&[m, n], dtype);
            let wanted = reference(&a, &b, &old, 1.0, 0.0);
            for isa in [Isa::Baseline, best] {
                isa.select();
                let mut first: Option<Vec<f64>> = None;
                for threads in [1, 2, 4] {
                    set_threads(threads);
                    let out = zeros(&[m, n], dtype);
                    matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0).unwrap();
                    let found = floats(&out);
                    // k roundings of partial sums that grow like sqrt(k) / 3: k / 8 epsilon, eight times over.
                    let epsilon = [2f64.powi(-10), f64::from(f32::EPSILON), f64::EPSILON]
                        [match dtype {
                            DType::F16 => 0,
                            DType::F32 => 1,
                            _ => 2,
                        }];
                    let bound = epsilon * k as f64;
                    let worst = found
                        .iter()
                        .zip(&wanted)
                        .map(|(a, b)| (a - b).abs())
                        .fold(0.0, f64::max);
                    let case = format!("{dtype} {m}x{k}x{n} {right:?} {isa} {threads}: {worst:e}");
                    report.check(&case, worst <= bound);
                    let same = first.get_or_insert_with(|| found.clone());
                    report.check(&format!("threads {case}"), *same == found);
                }
            }
        }
    }
    set_threads(0);
    best.select();
    report.finish();
}
