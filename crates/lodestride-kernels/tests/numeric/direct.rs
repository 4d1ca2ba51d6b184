//! Ways that skip a tile, a list or a look: narrow rows repeated, segments by steps, short segments, single elements, elements
//! folded as they are read. Each against a plain loop, at every length around its limits.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    Isa, KernelError, ReduceOp, SegmentOp, reduce, segment_broadcast, segment_reduce_gradient,
    segment_softmax, segment_softmax_gradient, segment_steps, set_threads, take, take_new,
};

use crate::segment::whole;
use crate::support::{Arrangement, Array};
use crate::{Report, floats, noise, settings, zeros};

/// Lengths around those of vectors, in an order in which short ones follow long ones.
fn lengths() -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..40).rev().collect();
    lengths.extend([0, 1, 0, 3, 70, 1, 2, 0]);
    lengths
}

fn offsets_of(lengths: &[usize]) -> Vec<usize> {
    let ends = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Runs a job under every instruction set, with one thread and with several.
fn everywhere(mut job: impl FnMut(&str)) {
    let _held = settings();
    let best = Isa::detect();
    for isa in Isa::available() {
        isa.select();
        for threads in [1, 3] {
            set_threads(threads);
            job(&format!("{isa}, {threads} threads"));
        }
    }
    set_threads(0);
    best.select();
}

#[test]
fn narrow_rows_are_repeated_for_segments_of_every_length() {
    let mut report = Report::default();
    let lengths = lengths();
    let (offsets, count) = (offsets_of(&lengths), lengths.len());
    let rows = offsets[count];
    everywhere(|place| {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
            for arrangement in [
                Arrangement::C,
                Arrangement::F,
                Arrangement::Reversed,
                Arrangement::Strided,
                Arrangement::RowBroadcast,
            ] {
                for width in [1, 2, 3, 5, 8, 9, 17] {
                    let x = Array::new(&[count, width], arrangement, dtype, |i| {
                        Scalar::Int(i as i64 % 100)
                    });
                    let values = floats(&x);
                    let wanted: Vec<f64> = (lengths.iter().enumerate())
                        .flat_map(|(s, &length)| values[s * width..(s + 1) * width].repeat(length))
                        .collect();
                    for target in [Arrangement::C, Arrangement::Strided] {
                        let out = Array::new(&[rows, width], target, dtype, whole);
                        segment_broadcast(x.operand(), &offsets, out.operand()).unwrap();
                        report.compare(
                            &format!("{place} {dtype} {arrangement:?} {width} {target:?}"),
                            &out,
                            &wanted,
                            0.0,
                        );
                    }
                    if dtype == DType::F32 {
                        let case = format!("mean {place} {arrangement:?} {width}");
                        means_spread_back(&case, &x, &lengths, &mut report);
                    }
                }
            }
        }
    });
    report.finish();
}

/// The gradient of means, whose rows are narrow.
fn means_spread_back(case: &str, x: &Array, lengths: &[usize], report: &mut Report) {
    let (values, width) = (floats(x), x.layout.shape()[1]);
    let share = |(s, &length): (usize, &usize)| {
        let row = values[s * width..(s + 1) * width].iter();
        row.map(|v| v / length as f64)
            .collect::<Vec<_>>()
            .repeat(length)
    };
    let wanted: Vec<f64> = lengths.iter().enumerate().flat_map(share).collect();
    let offsets = offsets_of(lengths);
    let out = Array::new(
        &[wanted.len() / width, width],
        Arrangement::C,
        DType::F32,
        whole,
    );
    let (x, dx) = (x.operand(), out.operand());
    segment_reduce_gradient(SegmentOp::Mean, x, &offsets, None, dx).unwrap();
    report.compare(case, &out, &wanted, 0.5);
}

#[test]
fn segments_are_written_step_by_step() {
    let mut report = Report::default();
    let mut lengths = lengths();
    let offsets = offsets_of(&lengths);
    let rows = offsets[lengths.len()];
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(lengths[i]));
    let starts: Vec<usize> = order.iter().map(|&i| offsets[i]).collect();
    lengths.sort_unstable();
    let counts: Vec<usize> = (0..70)
        .map(|step| lengths.iter().filter(|&&length| length > step).count())
        .collect();
    let from: Vec<usize> = (counts.iter().enumerate())
        .flat_map(|(step, &count)| starts[..count].iter().map(move |start| start + step))
        .collect();
    everywhere(|place| {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
            for arrangement in Arrangement::ALL {
                for row in [&[][..], &[1], &[3], &[0]] {
                    let width: usize = row.iter().product();
                    let shape: Vec<usize> = [rows].iter().chain(row).copied().collect();
                    let x = Array::new(&shape, arrangement, dtype, |i| Scalar::Int(i as i64 % 101));
                    let values = floats(&x);
                    let wanted: Vec<f64> = (from.iter())
                        .flat_map(|r| values[r * width..(r + 1) * width].to_vec())
                        .collect();
                    for (target, to) in [
                        (Arrangement::C, dtype),
                        (Arrangement::Reversed, dtype),
                        (Arrangement::C, DType::F64),
                    ] {
                        let out = Array::new(&shape, target, to, whole);
                        segment_steps(x.operand(), &starts, &counts, out.operand()).unwrap();
                        report.compare(
                            &format!("{place} {dtype} {arrangement:?} {row:?} {target:?} {to}"),
                            &out,
                            &wanted,
                            0.0,
                        );
                    }
                }
            }
        }
    });
    report.finish();
}

#[test]
fn steps_of_nothing_are_nothing_and_wrong_ones_are_refused() {
    let x = zeros(&[4, 1], DType::F32);
    let none = zeros(&[0, 1], DType::F32);
    segment_steps(x.operand(), &[], &[], none.operand()).unwrap();
    segment_steps(x.operand(), &[9], &[0, 0], none.operand()).unwrap();
    let three = zeros(&[3, 1], DType::F32);
    for (starts, counts) in [
        (vec![3, 0], vec![2, 1]),
        (vec![0], vec![2, 1]),
        (vec![0, 1], vec![2, 2]),
    ] {
        let result = segment_steps(x.operand(), &starts, &counts, three.operand());
        assert!(
            matches!(
                result,
                Err(KernelError::RowRange { .. } | KernelError::ShapeMismatch { .. })
            ),
            "{starts:?}"
        );
    }
}

#[test]
fn softmax_of_short_columns_and_its_gradient_match_the_formula() {
    let mut report = Report::default();
    let lengths = lengths();
    let (offsets, count) = (offsets_of(&lengths), lengths.len());
    let rows = offsets[count];
    everywhere(|place| {
        for (dtype, one) in [
            (DType::F32, f64::from(f32::EPSILON)),
            (DType::F64, f64::EPSILON),
        ] {
            let column = |stream: usize| {
                Array::new(&[rows, 1], Arrangement::C, dtype, |i| {
                    Scalar::Float(4.0 * noise(i + stream))
                })
            };
            let (x, g) = (column(0), column(9000));
            let (y, out) = (column(1), column(2));
            segment_softmax(x.operand(), &offsets, y.operand()).unwrap();
            segment_softmax_gradient(y.operand(), g.operand(), &offsets, out.operand()).unwrap();
            let [x, g, y, out] = [x, g, y, out].map(|array| floats(&array));
            for pair in offsets.windows(2) {
                let own = pair[0]..pair[1];
                let total: f64 = x[own.clone()].iter().map(|x| x.exp()).sum();
                let sum: f64 = own.clone().map(|i| y[i] * g[i]).sum();
                for i in own {
                    let wanted = x[i].exp() / total;
                    report.check(
                        &format!("{place} {dtype} {pair:?}"),
                        (y[i] - wanted).abs() <= 16.0 * one * wanted,
                    );
                    let wanted = y[i] * (g[i] - sum);
                    report.check(
                        &format!("gradient {place} {dtype} {pair:?}"),
                        (out[i] - wanted).abs() <= 64.0 * one * y[i],
                    );
                }
            }
        }
    });
    report.finish();
}

#[test]
fn single_elements_are_taken_by_positive_and_negative_positions() {
    let mut report = Report::default();
    let at = |i: usize, signs: usize| -> i64 {
        let index = (i * 7919 % 600) as i64;
        // None, some stretches, or all of them count from the end.
        let negative = [false, i / 300 % 2 == 1, true][signs];
        if negative { index - 600 } else { index }
    };
    everywhere(|place| {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
            for arrangement in Arrangement::ALL {
                for (outer, signs) in [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1), (3, 2)] {
                    let x = Array::new(&[outer, 600], arrangement, dtype, |i| {
                        Scalar::Int(i as i64 % 113)
                    });
                    let values = floats(&x);
                    let indices = Array::new(&[1000], Arrangement::C, DType::I64, |i| {
                        Scalar::Int(at(i, signs))
                    });
                    let row = |o: usize| {
                        let values = &values[o * 600..];
                        (0..1000)
                            .map(|i| values[at(i, signs).rem_euclid(600) as usize])
                            .collect::<Vec<_>>()
                    };
                    let wanted: Vec<f64> = (0..outer).flat_map(row).collect();
                    let out = zeros(&[outer, 1000], dtype);
                    take_new(x.operand(), 1, indices.operand(), out.operand()).unwrap();
                    report.compare(
                        &format!("{place} {dtype} {arrangement:?} {outer} {signs}"),
                        &out,
                        &wanted,
                        0.0,
                    );
                    for wrong in [-601, 600, i64::MIN, i64::MAX, -1201] {
                        let index =
                            |i: usize| Scalar::Int(if i == 777 { wrong } else { at(i, signs) });
                        let indices = Array::new(&[1000], Arrangement::C, DType::I64, index);
                        for take in [take, take_new] {
                            let result = take(x.operand(), 1, indices.operand(), out.operand());
                            let named = matches!(result, Err(KernelError::IndexOutOfRange { index, position: 777, .. }) if index == wrong);
                            report.check(
                                &format!("{wrong} {place} {dtype} {arrangement:?} {outer} {signs}"),
                                named,
                            );
                        }
                    }
                }
            }
        }
    });
    report.finish();
}

#[test]
fn sums_of_converted_and_spaced_rows_have_the_bits_of_sums_of_dense_ones() {
    let mut report = Report::default();
    everywhere(|place| {
        for (dtype, compute) in [
            (DType::F16, DType::F32),
            (DType::BF16, DType::F32),
            (DType::F32, DType::F32),
            (DType::F64, DType::F64),
        ] {
            for length in [
                1, 100, 191, 192, 193, 255, 256, 257, 1000, 4095, 4096, 4097, 4200, 4400, 9000,
            ] {
                for arrangement in [
                    Arrangement::C,
                    Arrangement::Strided,
                    Arrangement::Reversed,
                    Arrangement::RowBroadcast,
                ] {
                    let x = Array::new(&[3, length], arrangement, dtype, |i| {
                        Scalar::Float(noise(i))
                    });
                    let values = floats(&x);
                    // Walked in the order of memory.
                    let order = |i: usize| match arrangement {
                        Arrangement::Reversed => i / length * length + length - 1 - i % length,
                        _ => i,
                    };
                    let dense = Array::new(&[3, length], Arrangement::C, compute, |i| {
                        Scalar::Float(values[order(i)])
                    });
                    for op in [ReduceOp::Sum, ReduceOp::Mean] {
                        let [found, wanted] = [&x, &dense].map(|x| {
                            let out = zeros(&[3], compute);
                            reduce(op, x.operand(), &[1], out.operand()).unwrap();
                            floats(&out)
                        });
                        report.check(&format!("{op:?} {place} {dtype} {arrangement:?} {length}: {found:?} {wanted:?}"), found == wanted);
                    }
                }
            }
        }
    });
    report.finish();
}
