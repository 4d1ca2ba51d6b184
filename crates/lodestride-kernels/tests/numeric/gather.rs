//! Take, scatter, compress, positions of non-zeros, joins.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::gather_along::{put_along, take_along, take_along_new, taken_shape};
use lodestride_kernels::{
    KernelError, compress, concat, count_nonzero, nonzero, scatter_add, scatter_set, take, take_new,
};

use lodestride_shape::Shape;

use crate::support::{Arrangement, Array};
use crate::{Report, array_of, floats, number, positions, zeros};

fn counted(i: usize) -> Scalar {
    Scalar::Int((i % 100) as i64)
}

const INDICES: [f64; 6] = [2.0, -1.0, 0.0, 2.0, -3.0, 1.0];

/// Where each element of a gathered array comes from.
fn sources(
    shape: &[usize],
    axis: usize,
    indices: &[usize],
    index_shape: &[usize],
) -> (Vec<usize>, Vec<usize>) {
    let out_shape: Vec<usize> = shape[..axis]
        .iter()
        .chain(index_shape)
        .chain(&shape[axis + 1..])
        .copied()
        .collect();
    let from = positions(&out_shape)
        .iter()
        .map(|p| {
            let tail = axis + index_shape.len();
            let index = indices[number(&p[axis..tail], index_shape)];
            let at: Vec<usize> = p[..axis]
                .iter()
                .chain([&index])
                .chain(&p[tail..])
                .copied()
                .collect();
            number(&at, shape)
        })
        .collect();
    (out_shape, from)
}

#[test]
fn take_and_its_adjoints_match_plain_loops() {
    let mut report = Report::default();
    let wrapped: Vec<usize> = INDICES
        .iter()
        .map(|&i| {
            if i < 0.0 {
                (i + 3.0) as usize
            } else {
                i as usize
            }
        })
        .collect();
    for (axis, shape) in [(0, [3, 4, 5]), (1, [4, 3, 5]), (2, [4, 5, 3])] {
        for index_shape in [vec![6], vec![2, 3]] {
            for dtype in [DType::Bool, DType::I8, DType::F16, DType::F32, DType::I64] {
                for arrangement in Arrangement::ALL {
                    let x = Array::new(&shape, arrangement, dtype, counted);
                    let values = floats(&x);
                    let indices = array_of(&index_shape, DType::I32, &INDICES);
                    let (out_shape, from) = sources(&shape, axis, &wrapped, &index_shape);
                    let case = format!("{dtype} {arrangement:?} axis {axis} {index_shape:?}");
                    let out = Array::new(&out_shape, Arrangement::Strided, dtype, counted);
                    take(x.operand(), axis, indices.operand(), out.operand()).unwrap();
                    let wanted: Vec<f64> = from.iter().map(|&i| values[i]).collect();
                    report.compare(&format!("take {case}"), &out, &wanted, 0.0);

                    let source = Array::new(&out_shape, arrangement, dtype, |i| {
                        Scalar::Int((i % 3) as i64)
                    });
                    let given = floats(&source);
                    let target = Array::new(&shape, Arrangement::F, dtype, counted);
                    let mut wanted = floats(&target);
                    for (&to, &value) in from.iter().zip(&given) {
                        wanted[to] += value;
                    }
                    scatter_add(target.operand(), axis, indices.operand(), source.operand())
                        .unwrap();
                    report.compare(&format!("scatter_add {case}"), &target, &wanted, 0.0);

                    let target = Array::new(&shape, Arrangement::Reversed, dtype, counted);
                    let mut wanted = floats(&target);
                    for (&to, &value) in from.iter().zip(&given) {
                        wanted[to] = value;
                    }
                    scatter_set(target.operand(), axis, indices.operand(), source.operand())
                        .unwrap();
                    report.compare(&format!("scatter_set {case}"), &target, &wanted, 0.0);
                }
            }
        }
    }
    report.finish();
}

/// Lines so short that several are joined, and rows of every length around those that are copied in pieces.
#[test]
fn short_lines_and_rows_are_taken_as_by_plain_loops() {
    let mut report = Report::default();
    let mut shapes = vec![
        (vec![300, 3], 1),
        (vec![3, 5], 1),
        (vec![7, 90, 3], 2),
        (vec![5, 40, 4], 2),
        (vec![3, 7, 4, 5], 2),
        (vec![9, 70, 2, 3], 3),
        (vec![3], 0),
        // Beyond the second-level cache rows are asked for ahead.
        (vec![60_000, 3], 0),
    ];
    for row in [1, 2, 3, 4, 8, 9, 16, 17, 33, 64, 65, 128, 500, 513] {
        shapes.push((vec![3, row], 0));
        shapes.push((vec![4, 5, row], 1));
    }
    for (shape, axis) in shapes {
        for index_shape in [vec![], vec![2], vec![2, 3], vec![300]] {
            let count = index_shape.iter().product();
            let indices: Vec<f64> = INDICES.into_iter().cycle().take(count).collect();
            let size = shape[axis] as f64;
            let wrapped: Vec<usize> = (indices.iter())
                .map(|&i| if i < 0.0 { i + size } else { i } as usize)
                .collect();
            let (out_shape, from) = sources(&shape, axis, &wrapped, &index_shape);
            for (number, dtype) in [DType::U8, DType::F16, DType::F32, DType::F64]
                .into_iter()
                .enumerate()
            {
                let arrangement = Arrangement::ALL[(number + count) % Arrangement::ALL.len()];
                for arrangement in [Arrangement::C, arrangement] {
                    let x = Array::new(&shape, arrangement, dtype, counted);
                    let values = floats(&x);
                    let wanted: Vec<f64> = from.iter().map(|&i| values[i]).collect();
                    let at = array_of(&index_shape, DType::I64, &indices);
                    for take in [take, take_new] {
                        let out = Array::new(&out_shape, Arrangement::C, dtype, |_| Scalar::Int(1));
                        take(x.operand(), axis, at.operand(), out.operand()).unwrap();
                        let case = format!("{dtype} {arrangement:?} {shape:?} {index_shape:?}");
                        report.compare(&case, &out, &wanted, 0.0);
                    }
                }
            }
        }
    }
    report.finish();
}

/// Shapes of an array and of indices into it, and the axis they index.
const ALONG: [([usize; 3], [usize; 3], usize); 10] = [
    ([3, 4, 5], [3, 4, 7], 2),
    ([3, 4, 5], [3, 6, 5], 1),
    ([3, 4, 5], [2, 4, 5], 0),
    ([3, 4, 5], [1, 4, 2], 2),
    ([1, 4, 5], [3, 1, 300], 2),
    ([2, 300, 3], [2, 9, 3], 1),
    // Many short lines, some of which fill a tile; the longest of those, and longer ones.
    ([90, 2, 3], [90, 2, 3], 2),
    ([9, 20, 5], [30, 20, 5], 0),
    ([2, 3, 9], [2, 3, 128], 2),
    ([2, 3, 9], [2, 3, 129], 2),
];

#[test]
fn elements_along_an_axis_match_plain_loops() {
    let mut report = Report::default();
    for (shape, index_shape, axis) in ALONG {
        let size = shape[axis];
        for dtype in [DType::Bool, DType::I8, DType::F16, DType::F32, DType::I64] {
            for index_dtype in [DType::I8, DType::I64, DType::U16] {
                for arrangement in Arrangement::ALL {
                    let least = if index_dtype == DType::U16 {
                        0
                    } else {
                        size as i64 / 2
                    };
                    let at = Array::new(&index_shape, arrangement, index_dtype, |i| {
                        Scalar::Int((i * 7 % size.min(100)) as i64 - least)
                    });
                    let case = format!(
                        "{dtype} {index_dtype} {arrangement:?} {shape:?} {index_shape:?} {axis}"
                    );
                    check_along(&mut report, &case, (&shape, dtype), &at, axis);
                }
            }
        }
    }
    report.finish();
}

fn check_along(
    report: &mut Report,
    case: &str,
    (shape, dtype): (&[usize], DType),
    at: &Array,
    axis: usize,
) {
    let indices = floats(at);
    let index_shape = at.layout.shape().to_vec();
    let wanted_shape = taken_shape(&Shape::from(shape), axis, at.layout.shape()).unwrap();
    let from: Vec<usize> = (positions(&wanted_shape).iter())
        .map(|p| {
            let of = |shape: &[usize]| -> Vec<usize> {
                p.iter()
                    .zip(shape)
                    .map(|(&i, &size)| if size == 1 { 0 } else { i })
                    .collect()
            };
            let index = indices[number(&of(&index_shape), &index_shape)] as isize;
            let mut place = of(shape);
            place[axis] = (index + if index < 0 { shape[axis] as isize } else { 0 }) as usize;
            number(&place, shape)
        })
        .collect();
    for arrangement in Arrangement::ALL {
        let x = Array::new(shape, arrangement, dtype, counted);
        let values = floats(&x);
        let wanted: Vec<f64> = from.iter().map(|&i| values[i]).collect();
        for target in [Arrangement::C, Arrangement::Strided] {
            for take in [take_along, take_along_new] {
                let out = Array::new(&wanted_shape, target, dtype, counted);
                take(x.operand(), axis, at.operand(), out.operand()).unwrap();
                report.compare(
                    &format!("take {case} {arrangement:?} {target:?}"),
                    &out,
                    &wanted,
                    0.0,
                );
            }
        }
    }
    for arrangement in Arrangement::WRITABLE {
        let source = Array::new(&wanted_shape, arrangement, dtype, |i| {
            Scalar::Int((i % 5) as i64)
        });
        let target = Array::new(shape, arrangement, dtype, counted);
        let (given, mut wanted) = (floats(&source), floats(&target));
        for (&to, &value) in from.iter().zip(&given) {
            wanted[to] = value;
        }
        put_along(target.operand(), axis, at.operand(), source.operand()).unwrap();
        report.compare(
            &format!("put {case} {arrangement:?}"),
            &target,
            &wanted,
            0.0,
        );
    }
}

#[test]
fn elements_along_an_axis_are_refused_before_anything_is_written() {
    let x = Array::new(&[3, 2], Arrangement::C, DType::F32, counted);
    let out = Array::new(&[2, 2], Arrangement::C, DType::F32, |_| Scalar::Int(7));
    let error = |at: &Array| take_along(x.operand(), 0, at.operand(), out.operand()).unwrap_err();
    let bad = array_of(&[2, 2], DType::I64, &[0.0, 1.0, 2.0, 3.0]);
    assert!(matches!(
        error(&bad),
        KernelError::IndexOutOfRange {
            index: 3,
            position: 3,
            axis: 0,
            size: 3,
            ..
        }
    ));
    let put = put_along(x.operand(), 0, bad.operand(), out.operand());
    assert!(matches!(
        put,
        Err(KernelError::IndexOutOfRange { position: 3, .. })
    ));
    assert!(matches!(
        error(&zeros(&[2], DType::I64)),
        KernelError::ShapeMismatch { .. }
    ));
    assert!(matches!(
        error(&zeros(&[2, 3], DType::I64)),
        KernelError::Shape { .. }
    ));
    assert!(matches!(
        error(&zeros(&[1, 2], DType::I64)),
        KernelError::ShapeMismatch { .. }
    ));
    assert!(matches!(
        error(&zeros(&[2, 2], DType::F32)),
        KernelError::UnsupportedDType { .. }
    ));
    assert_eq!(floats(&out), [7.0; 4]);
    let nothing = zeros(&[0, 2], DType::I64);
    take_along(
        x.operand(),
        0,
        nothing.operand(),
        zeros(&[0, 2], DType::F32).operand(),
    )
    .unwrap();
    // In one buffer everything is read first.
    let x = array_of(&[3], DType::I32, &[10.0, 20.0, 30.0]);
    let back = array_of(&[3], DType::I8, &[-1.0, -2.0, -3.0]);
    take_along(x.operand(), 0, back.operand(), x.operand()).unwrap();
    assert_eq!(floats(&x), [30.0, 20.0, 10.0]);
}

#[test]
fn bad_indices_are_named_and_nothing_is_written() {
    let x = Array::new(&[3, 2], Arrangement::C, DType::F32, counted);
    let out = Array::new(&[2, 2], Arrangement::C, DType::F32, |_| Scalar::Int(7));
    for (bad, dtype) in [(3.0, DType::U8), (-4.0, DType::I64), (100.0, DType::I8)] {
        let indices = array_of(&[2], dtype, &[0.0, bad]);
        let error = take(x.operand(), 0, indices.operand(), out.operand()).unwrap_err();
        let wanted = KernelError::IndexOutOfRange {
            op: "take",
            index: bad as i64,
            position: 1,
            axis: 0,
            size: 3,
        };
        assert_eq!(error, wanted);
        let error = scatter_add(x.operand(), 0, indices.operand(), out.operand()).unwrap_err();
        assert!(matches!(
            error,
            KernelError::IndexOutOfRange { position: 1, .. }
        ));
    }
    let floats_as_indices = zeros(&[2], DType::F32);
    assert!(take(x.operand(), 0, floats_as_indices.operand(), out.operand()).is_err());
    assert!(take(x.operand(), 2, floats_as_indices.operand(), out.operand()).is_err());
    assert_eq!(floats(&out), [7.0; 4]);
}

#[test]
fn single_elements_are_checked_while_they_are_taken_too() {
    let x = Array::new(&[2, 5], Arrangement::C, DType::I32, counted);
    for (bad, place) in [(5.0, 0), (-6.0, 299), (1e9, 150), (-1e9, 256)] {
        let value = |i: usize| {
            Scalar::Float(if i == place {
                bad
            } else {
                (i % 10) as f64 - 5.0
            })
        };
        let indices = Array::new(&[300], Arrangement::C, DType::I64, value);
        let out = zeros(&[2, 300], DType::I32);
        let error = take_new(x.operand(), 1, indices.operand(), out.operand()).unwrap_err();
        let found = matches!(error, KernelError::IndexOutOfRange { position, size: 5, .. } if position == place);
        assert!(found, "{error:?}");
        let good = Array::new(&[300], Arrangement::Strided, DType::I64, |i| {
            Scalar::Int(i as i64 % 10 - 5)
        });
        let wanted = zeros(&[2, 300], DType::I32);
        take(x.operand(), 1, good.operand(), wanted.operand()).unwrap();
        take_new(x.operand(), 1, good.operand(), out.operand()).unwrap();
        assert_eq!(floats(&out), floats(&wanted));
    }
}

/// As before, and along an axis without elements, where every index is out of range.
#[test]
fn elements_along_an_axis_of_new_memory_are_checked_while_they_are_copied() {
    // Long lines, and short ones, several of which are taken together.
    for (rows, width) in [(3, 300), (100, 9)] {
        for (arrangement, size) in [
            (Arrangement::C, 5),
            (Arrangement::Strided, 5),
            (Arrangement::C, 0),
        ] {
            let x = Array::new(&[rows, size], arrangement, DType::F32, counted);
            for (bad, place) in [(5, 0), (-6, 899), (i64::MAX, 450), (i64::MIN, 600)] {
                let place = if size == 0 { 0 } else { place };
                let value =
                    |i: usize| Scalar::Int(if i == place { bad } else { i as i64 % 10 - 5 });
                let indices = Array::new(&[rows, width], Arrangement::C, DType::I64, value);
                let out = zeros(&[rows, width], DType::F32);
                let line = zeros(&[rows, rows, width], DType::F32);
                for error in [
                    take_along_new(x.operand(), 1, indices.operand(), out.operand()),
                    take_new(x.operand(), 1, indices.operand(), line.operand()),
                ] {
                    let found = matches!(error, Err(KernelError::IndexOutOfRange { position, axis: 1, .. }) if position == place);
                    assert!(found, "{error:?}");
                }
            }
        }
    }
}

#[test]
fn taking_from_and_into_one_buffer_reads_first() {
    let x = Array::new(&[4], Arrangement::C, DType::I32, |i| {
        Scalar::Int(i as i64 * 10)
    });
    let indices = array_of(&[4], DType::I64, &[3.0, 2.0, 1.0, 0.0]);
    take(x.operand(), 0, indices.operand(), x.operand()).unwrap();
    assert_eq!(floats(&x), [30.0, 20.0, 10.0, 0.0]);
}

#[test]
fn values_are_cast_to_the_output() {
    let x = Array::new(&[3], Arrangement::C, DType::I32, |i| {
        Scalar::Int(i as i64 + 1)
    });
    let indices = array_of(&[2], DType::U8, &[2.0, 0.0]);
    let out = zeros(&[2], DType::F64);
    take(x.operand(), 0, indices.operand(), out.operand()).unwrap();
    assert_eq!(floats(&out), [3.0, 1.0]);
    let out = zeros(&[4], DType::F64);
    let half = array_of(&[1], DType::F16, &[0.5]);
    concat(&[x.operand(), half.operand()], 0, out.operand()).unwrap();
    assert_eq!(floats(&out), [1.0, 2.0, 3.0, 0.5]);
}

#[test]
fn concat_joins_every_layout_along_every_axis() {
    let mut report = Report::default();
    for dtype in [DType::U8, DType::BF16, DType::F32, DType::F64] {
        for arrangement in Arrangement::ALL {
            for axis in 0..3 {
                let sizes = [2, 0, 1, 3];
                let inputs: Vec<Array> = sizes
                    .iter()
                    .map(|&size| {
                        let mut shape = vec![2, 3, 4];
                        shape[axis] = size;
                        Array::new(&shape, arrangement, dtype, |i| counted(i + 10 * size))
                    })
                    .collect();
                let mut shape = vec![2, 3, 4];
                shape[axis] = 6;
                let wanted: Vec<f64> = positions(&shape)
                    .iter()
                    .map(|p| {
                        let mut at = p.clone();
                        for input in &inputs {
                            let here = input.layout.shape().to_vec();
                            if at[axis] < here[axis] {
                                return floats(input)[number(&at, &here)];
                            }
                            at[axis] -= here[axis];
                        }
                        f64::NAN
                    })
                    .collect();
                let out = Array::new(&shape, Arrangement::Reversed, dtype, counted);
                let operands: Vec<_> = inputs.iter().map(Array::operand).collect();
                concat(&operands, axis, out.operand()).unwrap();
                report.compare(
                    &format!("{dtype} {arrangement:?} axis {axis}"),
                    &out,
                    &wanted,
                    0.0,
                );
            }
        }
    }
    report.finish();
    let (a, b) = (zeros(&[2, 3], DType::F32), zeros(&[2, 4], DType::F32));
    let out = zeros(&[4, 3], DType::F32);
    assert!(concat(&[a.operand(), b.operand()], 0, out.operand()).is_err());
    assert!(concat(&[a.operand()], 0, out.operand()).is_err());
}

#[test]
fn masks_choose_rows_and_positions() {
    let mut report = Report::default();
    let mask = array_of(&[4], DType::Bool, &[1.0, 0.0, 1.0, 1.0]);
    assert_eq!(count_nonzero(mask.operand()).unwrap(), 3);
    for arrangement in Arrangement::ALL {
        let x = Array::new(&[4, 3], arrangement, DType::F32, counted);
        let values = floats(&x);
        let out = zeros(&[3, 3], DType::F32);
        compress(x.operand(), 0, mask.operand(), out.operand()).unwrap();
        let wanted: Vec<f64> = [0, 2, 3]
            .iter()
            .flat_map(|&r| values[3 * r..3 * r + 3].to_vec())
            .collect();
        report.compare(&format!("rows {arrangement:?}"), &out, &wanted, 0.0);

        let y = Array::new(&[3, 4], arrangement, DType::F32, counted);
        let values = floats(&y);
        let out = zeros(&[3, 3], DType::F32);
        compress(y.operand(), 1, mask.operand(), out.operand()).unwrap();
        let wanted: Vec<f64> = (0..3)
            .flat_map(|r| [0, 2, 3].map(|c| values[4 * r + c]))
            .collect();
        report.compare(&format!("columns {arrangement:?}"), &out, &wanted, 0.0);

        let found = positions(&[3, 4]);
        let wanted: Vec<f64> = found
            .iter()
            .zip(&values)
            .filter(|(_, v)| **v != 0.0)
            .flat_map(|(p, _)| p.iter().map(|&i| i as f64))
            .collect();
        let out = zeros(&[wanted.len() / 2, 2], DType::I64);
        nonzero(y.operand(), out.operand()).unwrap();
        report.compare(&format!("nonzero {arrangement:?}"), &out, &wanted, 0.0);
    }
    let out = zeros(&[2, 3], DType::F32);
    let x = zeros(&[4, 3], DType::F32);
    assert!(compress(x.operand(), 0, mask.operand(), out.operand()).is_err());
    report.finish();
}

#[test]
fn every_element_that_is_not_zero_is_found_at_every_rank() {
    let mut report = Report::default();
    for shape in [
        &[3000][..],
        &[900, 3],
        &[3, 900],
        &[1200, 1],
        &[1, 1200],
        &[64, 64],
        &[30, 7, 11],
        &[40, 1, 50],
        &[5, 6, 7, 8],
        &[0, 3],
    ] {
        for dtype in [DType::Bool, DType::F32] {
            let x = Array::new(shape, Arrangement::C, dtype, |i| {
                Scalar::Int((i * 7 % 5 % 2) as i64)
            });
            let values = floats(&x);
            let wanted: Vec<f64> = (positions(shape).iter().zip(&values))
                .filter(|(_, value)| **value != 0.0)
                .flat_map(|(p, _)| p.iter().map(|&i| i as f64))
                .collect();
            for out in [DType::I64, DType::I32] {
                let case = format!("{dtype} to {out}, {shape:?}");
                let out = zeros(&[wanted.len() / shape.len(), shape.len()], out);
                nonzero(x.operand(), out.operand()).unwrap();
                report.compare(&case, &out, &wanted, 0.0);
            }
        }
    }
    report.finish();
}
