//! Ranges of rows: copied from several arrays, zeros between them, added back.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{RowRange, add_row_ranges, copy_row_ranges, set_threads};

use crate::segment::whole;
use crate::support::{Arrangement, Array};
use crate::{Report, floats, zeros};

fn shaped(rows: usize, row: &[usize]) -> Vec<usize> {
    [rows].iter().chain(row).copied().collect()
}

/// Array, rows; no array for zeros.
const RANGES: [(Option<usize>, std::ops::Range<usize>); 9] = [
    (Some(0), 2..5),
    (Some(1), 0..0),
    (None, 0..2),
    (Some(1), 3..4),
    (Some(0), 0..9),
    (None, 0..0),
    (Some(0), 2..5),
    (Some(1), 0..4),
    (None, 0..1),
];

#[test]
fn ranges_of_several_arrays_are_copied_in_every_layout_and_dtype() {
    let mut report = Report::default();
    let ranges = RANGES.map(|(source, rows)| match source {
        Some(source) => RowRange::new(source, rows),
        None => RowRange::zeros(rows.len()),
    });
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        for arrangement in Arrangement::ALL {
            for row in [&[][..], &[3], &[2, 2], &[0]] {
                let width: usize = row.iter().product();
                let a = Array::new(&shaped(9, row), arrangement, dtype, |i| {
                    Scalar::Int(i as i64 % 100)
                });
                let b = Array::new(&shaped(4, row), Arrangement::C, DType::F64, |i| {
                    Scalar::Int(100 + i as i64)
                });
                let values = [floats(&a), floats(&b)];
                let mut wanted = Vec::new();
                for (source, rows) in RANGES {
                    match source {
                        Some(source) => {
                            wanted.extend(&values[source][rows.start * width..rows.end * width])
                        }
                        None => wanted.resize(wanted.len() + rows.len() * width, 0.0),
                    }
                }
                for target in [Arrangement::C, Arrangement::Strided, Arrangement::Reversed] {
                    let out = Array::new(&shaped(23, row), target, dtype, whole);
                    copy_row_ranges(&[a.operand(), b.operand()], &ranges, out.operand()).unwrap();
                    let case = format!("{dtype} {arrangement:?} {row:?} to {target:?}");
                    report.compare(&case, &out, &wanted, 0.0);
                }
            }
        }
    }
    across(&mut report);
    // In place: rows are those from before.
    let x = Array::new(&[4, 1], Arrangement::C, DType::F32, |i| {
        Scalar::Int(i as i64)
    });
    let swapped = [RowRange::new(0, 2..4), RowRange::new(0, 0..2)];
    copy_row_ranges(&[x.operand()], &swapped, x.operand()).unwrap();
    assert_eq!(floats(&x), [2.0, 3.0, 0.0, 1.0]);
    let none = zeros(&[3, 2], DType::I16);
    copy_row_ranges(&[], &[RowRange::zeros(3)], none.operand()).unwrap();
    report.finish();
}

/// One row of each of several arrays, cut anywhere, between other ranges.
fn across(report: &mut Report) {
    for arrangement in Arrangement::ALL {
        for row in [&[][..], &[3], &[2, 2]] {
            let width: usize = row.iter().product();
            let arrays: Vec<Array> = (0..5)
                .map(|k| {
                    Array::new(&shaped(6 - k, row), arrangement, DType::I32, |i| {
                        Scalar::Int((100 * k + i) as i64)
                    })
                })
                .collect();
            let operands: Vec<_> = arrays.iter().map(Array::operand).collect();
            let values: Vec<_> = arrays.iter().map(floats).collect();
            let ranges = [
                RowRange::across(0..5, 1),
                RowRange::new(2, 0..2),
                RowRange::across(3..3, 0),
                RowRange::across(1..3, 3),
            ];
            let rows = [
                (0, 1),
                (1, 1),
                (2, 1),
                (3, 1),
                (4, 1),
                (2, 0),
                (2, 1),
                (1, 3),
                (2, 3),
            ];
            let wanted: Vec<f64> = rows
                .iter()
                .flat_map(|&(k, r)| values[k][r * width..(r + 1) * width].to_vec())
                .collect();
            for target in [Arrangement::C, Arrangement::Strided] {
                let out = Array::new(&shaped(9, row), target, DType::I32, whole);
                copy_row_ranges(&operands, &ranges, out.operand()).unwrap();
                report.compare(
                    &format!("across {arrangement:?} {row:?} to {target:?}"),
                    &out,
                    &wanted,
                    0.0,
                );
            }
            let out = zeros(&shaped(5, row), DType::I32);
            for wrong in [
                RowRange::across(0..5, 2),
                RowRange::across(1..6, 0),
                RowRange::across(usize::MAX..usize::MAX, 0),
            ] {
                assert!(
                    copy_row_ranges(&operands, &[wrong], out.operand()).is_err(),
                    "{wrong:?}"
                );
            }
        }
    }
}

#[test]
fn long_copies_on_threads_are_cut_anywhere() {
    for width in [1, 40] {
        let rows = (12 << 20) / (4 * width);
        let x = Array::new(&[rows, width], Arrangement::C, DType::I32, |i| {
            Scalar::Int(i as i64)
        });
        let (out, cuts) = (
            zeros(&[rows, width], DType::I32),
            [0, rows / 7, rows / 2, rows],
        );
        let mut ranges: Vec<RowRange> = cuts
            .windows(2)
            .map(|c| RowRange::new(0, c[0]..c[1]))
            .collect();
        ranges.insert(1, RowRange::zeros(0));
        for threads in [1, 2, 0] {
            set_threads(threads);
            out.fill(|_| Scalar::Int(-1));
            copy_row_ranges(&[x.operand()], &ranges, out.operand()).unwrap();
            let is_same = floats(&out)
                .iter()
                .enumerate()
                .all(|(i, &value)| value == i as f64);
            assert!(is_same, "{width} columns, {threads} threads");
        }
        set_threads(0);
    }
}

#[test]
fn rows_are_added_to_where_ranges_say() {
    let mut report = Report::default();
    let ranges = [2..5, 0..0, 8..9, 0..9, 2..5, 4..5];
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64, DType::I64] {
        for arrangement in Arrangement::ALL {
            for row in [&[][..], &[3], &[2, 9], &[0]] {
                let width: usize = row.iter().product();
                let x = Array::new(&shaped(17, row), arrangement, dtype, whole);
                let values = floats(&x);
                for target in [Arrangement::C, Arrangement::Strided] {
                    let out = Array::new(&shaped(9, row), target, dtype, whole);
                    let mut wanted = floats(&out);
                    for (from, to) in ranges.iter().cloned().flatten().enumerate() {
                        for column in 0..width {
                            wanted[to * width + column] += values[from * width + column];
                        }
                    }
                    add_row_ranges(x.operand(), &ranges, out.operand()).unwrap();
                    let case = format!("{dtype} {arrangement:?} {row:?} to {target:?}");
                    report.compare(&case, &out, &wanted, 0.0);
                }
            }
        }
    }
    let (x, out) = (zeros(&[2, 3], DType::F32), zeros(&[4, 3], DType::F32));
    for ranges in [
        &[0..0, 3..5][..],
        &[0..1, 0..0],
        &[usize::MAX - 1..usize::MAX, 0..1],
    ] {
        assert!(add_row_ranges(x.operand(), ranges, out.operand()).is_err());
    }
    report.finish();
}
