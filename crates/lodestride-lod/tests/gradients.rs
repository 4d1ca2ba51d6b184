//! Every gradient function against central differences, at every level of every shape of LoD, empties included.
#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and tables of cases are long"
)]

use lodestride_lod::sequence::{self, PoolKind, Window};
use lodestride_lod::{Lengths, Lod, LodTensor, NdArray, lengths};

/// LoDs of all kinds: one, two and three levels, empty sequences, nothing but empty ones, no sequence at all.
fn lods() -> Vec<Lod> {
    let forms: [Lengths; 9] = [
        lengths![[2, 3, 1]],
        lengths![[0, 4, 0, 1]],
        lengths![[0, 0]],
        lengths![[]],
        lengths![[2, 1], [3, 1, 2]],
        lengths![[2, 0, 1], [0, 3, 2]],
        lengths![[0, 0], []],
        lengths![[1, 2], [2, 0, 1], [1, 2, 2]],
        lengths![[5]],
    ];
    forms
        .into_iter()
        .map(|form| Lod::from_lengths(form).unwrap())
        .collect()
}

/// Numbers without ties, the same in every run.
fn numbers(shape: &[usize], seed: u64) -> NdArray {
    let count = shape.iter().product();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1u32 << 23) - 1.0
    };
    let values: Vec<f64> = (0..count).map(|_| next()).collect();
    NdArray::from_vec(values, shape.to_vec()).unwrap()
}

/// `grad` must be the derivative of `sum(f(x) * w)` with respect to every number of `x`.
fn check(
    label: &str,
    x: &NdArray,
    f: impl Fn(&NdArray) -> NdArray,
    grad: impl Fn(&NdArray) -> NdArray,
) {
    const STEP: f64 = 1e-6;
    let out = f(x);
    let w = numbers(out.shape(), 77);
    let weights = w.to_vec::<f64>().unwrap();
    let cost = |x: &NdArray| -> f64 {
        f(x).to_vec::<f64>()
            .unwrap()
            .iter()
            .zip(&weights)
            .map(|(value, w)| value * w)
            .sum()
    };
    let found = grad(&w);
    assert_eq!(found.shape(), x.shape(), "{label}: shape of the gradient");
    let found = found.to_vec::<f64>().unwrap();
    let values = x.to_vec::<f64>().unwrap();
    for i in 0..values.len() {
        let moved = |by: f64| {
            let mut values = values.clone();
            values[i] += by;
            cost(&NdArray::from_vec(values, x.shape().to_vec()).unwrap())
        };
        let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
        // Central differences with this step are good to about 1e-9 for these smooth functions of size 1.
        assert!(
            (found[i] - expected).abs() < 1e-7,
            "{label}: d/dx[{i}] = {}, differences say {expected}",
            found[i]
        );
    }
}

/// Calls `f` for rows of several shapes under every LoD, at every level.
fn at_every_level(row: &[usize], f: impl Fn(&str, &Lod, NdArray, isize)) {
    for lod in lods() {
        let mut shape = vec![lod.rows().unwrap()];
        shape.extend_from_slice(row);
        for level in 0..lod.depth() {
            f(
                &format!("{lod}, row {row:?}, level {level}"),
                &lod,
                numbers(&shape, 5),
                level as isize,
            );
        }
    }
}

fn with(x: &NdArray, lod: &Lod) -> LodTensor {
    LodTensor::new(x.clone(), lod.clone()).unwrap()
}

const ROWS: [&[usize]; 4] = [&[], &[1], &[3], &[2, 2]];

#[test]
fn pool() {
    for row in ROWS {
        for kind in PoolKind::ALL {
            at_every_level(row, |label, lod, x, level| {
                check(
                    &format!("pool {kind:?} {label}"),
                    &x,
                    |x| {
                        sequence::pool(&with(x, lod), kind, level, 9.5)
                            .unwrap()
                            .into_data()
                    },
                    |w| sequence::pool_grad(&with(&x, lod), kind, level, w).unwrap(),
                );
            });
        }
    }
}

#[test]
fn softmax() {
    for row in ROWS {
        at_every_level(row, |label, lod, x, level| {
            let f = |x: &NdArray| sequence::softmax(&with(x, lod), level).unwrap();
            let y = f(&x);
            check(
                &format!("softmax {label}"),
                &x,
                |x| f(x).into_data(),
                |w| sequence::softmax_grad(&y, level, w).unwrap(),
            );
        });
    }
}

#[test]
fn reverse_take_and_repeat() {
    for row in ROWS {
        at_every_level(row, |label, lod, x, level| {
            check(
                &format!("reverse {label}"),
                &x,
                |x| sequence::reverse(&with(x, lod), level).unwrap().into_data(),
                |w| sequence::reverse_grad(&with(&x, lod), level, w).unwrap(),
            );
            let count = lod.sequences(level).unwrap();
            let picks: Vec<usize> = (0..2 * count).map(|i| (i * 7 + 1) % count).collect();
            check(
                &format!("take {label}"),
                &x,
                |x| {
                    sequence::take(&with(x, lod), &picks, level)
                        .unwrap()
                        .into_data()
                },
                |w| sequence::take_grad(&with(&x, lod), &picks, level, w).unwrap(),
            );
            let counts: Vec<usize> = (0..count).map(|i| (i + 2) % 3).collect();
            check(
                &format!("repeat {label}"),
                &x,
                |x| {
                    sequence::repeat(&with(x, lod), &counts, level)
                        .unwrap()
                        .into_data()
                },
                |w| sequence::repeat_grad(&with(&x, lod), &counts, level, w).unwrap(),
            );
        });
    }
}

#[test]
fn expand_and_expand_as() {
    for row in ROWS {
        at_every_level(row, |label, lod, _, level| {
            // One row, or one sequence of one or two rows, for each sequence of the level.
            let count = lod.sequences(level).unwrap();
            let mut shape = vec![count];
            shape.extend_from_slice(row);
            let x = numbers(&shape, 8);
            check(
                &format!("expand_as {label}"),
                &x,
                |x| {
                    sequence::expand_as(&x.into(), lod, level)
                        .unwrap()
                        .into_data()
                },
                |w| sequence::expand_as_grad(&(&x).into(), lod, level, w).unwrap(),
            );
            check(
                &format!("expand rows {label}"),
                &x,
                |x| sequence::expand(&x.into(), lod, level).unwrap().into_data(),
                |w| sequence::expand_grad(&(&x).into(), lod, level, w).unwrap(),
            );
            let of_x = Lod::from_lengths((0..count).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
            shape[0] = of_x.rows().unwrap();
            let x = numbers(&shape, 9);
            check(
                &format!("expand sequences {label}"),
                &x,
                |x| {
                    sequence::expand(&with(x, &of_x), lod, level)
                        .unwrap()
                        .into_data()
                },
                |w| sequence::expand_grad(&with(&x, &of_x), lod, level, w).unwrap(),
            );
        });
    }
}

#[test]
fn context_conv_and_row_conv() {
    let windows = [
        (-1, 3),
        (0, 2),
        (0, 1),
        (1, 2),
        (-3, 2),
        (-2, 5),
        (4, 1),
        (-7, 3),
    ];
    for row in [&[][..], &[2], &[1, 3]] {
        let width: usize = row.iter().product();
        at_every_level(row, |label, lod, x, level| {
            for (start, length) in windows {
                let window = Window { start, length };
                let (up, down) = window.padding();
                let padding = numbers(&[up + down, width], 3);
                for padding in [None, Some(&padding)] {
                    let label = format!("{start}..+{length} padding {} {label}", padding.is_some());
                    check(
                        &format!("context {label}"),
                        &x,
                        |x| {
                            sequence::context(&with(x, lod), window, padding, level)
                                .unwrap()
                                .into_data()
                        },
                        |w| {
                            sequence::context_grad(&with(&x, lod), window, padding, level, w)
                                .unwrap()
                                .0
                        },
                    );
                    if let Some(padding) = padding {
                        check(
                            &format!("context padding {label}"),
                            padding,
                            |p| {
                                sequence::context(&with(&x, lod), window, Some(p), level)
                                    .unwrap()
                                    .into_data()
                            },
                            |w| {
                                sequence::context_grad(
                                    &with(&x, lod),
                                    window,
                                    Some(padding),
                                    level,
                                    w,
                                )
                                .unwrap()
                                .1
                                .unwrap()
                            },
                        );
                    }
                }
            }
            let window = Window::centered(3);
            let (filter, padding) = (numbers(&[3 * width, 2], 1), numbers(&[2, width], 2));
            let conv = |x: &NdArray, f: &NdArray, p: &NdArray| {
                sequence::conv(&with(x, lod), f, window, Some(p), level)
                    .unwrap()
                    .into_data()
            };
            let grads = |w: &NdArray| {
                sequence::conv_grad(&with(&x, lod), &filter, window, Some(&padding), level, w)
                    .unwrap()
            };
            check(
                &format!("conv x {label}"),
                &x,
                |x| conv(x, &filter, &padding),
                |w| grads(w).x,
            );
            check(
                &format!("conv filter {label}"),
                &filter,
                |f| conv(&x, f, &padding),
                |w| grads(w).filter,
            );
            check(
                &format!("conv padding {label}"),
                &padding,
                |p| conv(&x, &filter, p),
                |w| grads(w).padding.unwrap(),
            );
            let filter = numbers(&[3, width], 4);
            let row_conv = |x: &NdArray, f: &NdArray| {
                sequence::row_conv(&with(x, lod), f, level)
                    .unwrap()
                    .into_data()
            };
            let grads =
                |w: &NdArray| sequence::row_conv_grad(&with(&x, lod), &filter, level, w).unwrap();
            check(
                &format!("row_conv x {label}"),
                &x,
                |x| row_conv(x, &filter),
                |w| grads(w).0,
            );
            check(
                &format!("row_conv filter {label}"),
                &filter,
                |f| row_conv(&x, f),
                |w| grads(w).1,
            );
        });
    }
}

#[test]
fn pad_and_unpad() {
    for row in ROWS {
        at_every_level(row, |label, lod, x, level| {
            for maxlen in [None, Some(7)] {
                check(
                    &format!("pad {maxlen:?} {label}"),
                    &x,
                    |x| {
                        sequence::pad(&with(x, lod), 0.5, maxlen, level)
                            .unwrap()
                            .data
                            .into_data()
                    },
                    |w| sequence::pad_grad(&with(&x, lod), maxlen, level, w).unwrap(),
                );
            }
            let lengths: Vec<usize> = lod
                .rows_of(level)
                .unwrap()
                .windows(2)
                .map(|p| p[1] - p[0])
                .collect();
            let mut shape = vec![lengths.len(), 6];
            shape.extend_from_slice(row);
            let padded = numbers(&shape, 6);
            check(
                &format!("unpad {label}"),
                &padded,
                |x| sequence::unpad(&x.into(), &lengths).unwrap().into_data(),
                |w| sequence::unpad_grad(&(&padded).into(), &lengths, w).unwrap(),
            );
        });
    }
}

#[test]
fn concat_and_slice() {
    for row in ROWS {
        at_every_level(row, |label, lod, x, level| {
            let other = lod.reverse(level).unwrap().lod;
            let y = numbers(x.shape(), 11);
            let joined = |x: &NdArray, y: &NdArray| {
                let (x, y) = (with(x, lod), with(y, &other));
                sequence::concat(&[&x, &y, &x], level).unwrap().into_data()
            };
            let grads = |w: &NdArray| {
                let (x, y) = (with(&x, lod), with(&y, &other));
                sequence::concat_grad(&[&x, &y, &x], level, w).unwrap()
            };
            // `x` stands at two places: its derivative is the sum of both gradients.
            check(
                &format!("concat x {label}"),
                &x,
                |x| joined(x, &y),
                |w| {
                    let grads = grads(w);
                    grads[0].add(&grads[2]).unwrap()
                },
            );
            check(
                &format!("concat y {label}"),
                &y,
                |y| joined(&x, y),
                |w| grads(w)[1].clone(),
            );
            let offsets: Vec<usize> = lod.lengths_of(level).unwrap().map(|n| n / 2).collect();
            let lengths: Vec<usize> = lod.lengths_of(level).unwrap().map(|n| n - n / 2).collect();
            check(
                &format!("slice {label}"),
                &x,
                |x| {
                    sequence::slice(&with(x, lod), &offsets, &lengths, level)
                        .unwrap()
                        .into_data()
                },
                |w| sequence::slice_grad(&with(&x, lod), &offsets, &lengths, level, w).unwrap(),
            );
        });
    }
}

#[test]
fn reshape_and_scatter() {
    for lod in lods() {
        let x = numbers(&[lod.rows().unwrap(), 6], 12);
        for width in [1, 2, 3, 6] {
            check(
                &format!("reshape to {width} {lod}"),
                &x,
                |x| {
                    sequence::reshape(&with(x, &lod), width)
                        .unwrap()
                        .into_data()
                },
                |w| sequence::reshape_grad(&with(&x, &lod), width, w).unwrap(),
            );
        }
        for level in 0..lod.depth() as isize {
            let ids: Vec<i64> = (0..lod.rows().unwrap() as i64).map(|i| i * i % 4).collect();
            let ids = LodTensor::new(
                NdArray::from_vec(ids, [lod.rows().unwrap()]).unwrap(),
                lod.clone(),
            )
            .unwrap();
            let input = numbers(&[lod.sequences(level).unwrap() + 1, 2, 2], 13);
            let updates = numbers(&[lod.rows().unwrap(), 1], 14);
            let f = |input: &NdArray, updates: &NdArray| {
                sequence::scatter(input, &ids, updates, level).unwrap()
            };
            let grads =
                |w: &NdArray| sequence::scatter_grad(&input, &ids, &updates, level, w).unwrap();
            check(
                &format!("scatter input {lod} {level}"),
                &input,
                |i| f(i, &updates),
                |w| grads(w).0,
            );
            check(
                &format!("scatter updates {lod} {level}"),
                &updates,
                |u| f(&input, u),
                |w| grads(w).1,
            );
        }
    }
}
