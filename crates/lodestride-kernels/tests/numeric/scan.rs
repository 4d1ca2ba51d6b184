//! Running sums, products and extremes.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{ScanOp, scan};

use crate::support::{Arrangement, Array};
use crate::{Report, floats, number, positions, zeros};

fn step(op: ScanOp, a: f64, b: f64) -> f64 {
    match op {
        ScanOp::Sum => a + b,
        ScanOp::Prod => a * b,
        ScanOp::Max => a.max(b),
        ScanOp::Min => a.min(b),
    }
}

#[test]
fn every_operation_dtype_layout_and_axis_matches_a_plain_loop() {
    let mut report = Report::default();
    for dtype in DType::ALL {
        for arrangement in Arrangement::ALL {
            for shape in [[3, 4, 5], [2, 600, 2], [3, 2, 1100]] {
                let x = Array::new(&shape, arrangement, dtype, |i| {
                    Scalar::Float([1.0, -1.0, 2.0, 0.5, -0.5][i % 5])
                });
                let values = floats(&x);
                for op in ScanOp::ALL {
                    if op == ScanOp::Prod && shape != [3, 4, 5] {
                        continue;
                    }
                    for axis in 0..3 {
                        let mut wanted = values.clone();
                        for p in positions(&shape) {
                            if p[axis] > 0 {
                                let mut before = p.clone();
                                before[axis] -= 1;
                                let (at, from) = (number(&p, &shape), number(&before, &shape));
                                wanted[at] = step(op, wanted[from], values[at]);
                            }
                        }
                        for target in [Arrangement::C, Arrangement::Reversed] {
                            let out = Array::new(&shape, target, op.result_dtype(dtype), |_| {
                                Scalar::Int(9)
                            });
                            scan(op, x.operand(), axis, out.operand()).unwrap();
                            report.compare(
                                &format!("{op} {dtype} {arrangement:?} {shape:?} {axis}"),
                                &out,
                                &wanted,
                                2.0,
                            );
                        }
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn nan_stays_and_in_place_works() {
    let x = Array::new(&[5], Arrangement::C, DType::F32, |i| {
        Scalar::Float([1.0, 3.0, f64::NAN, 9.0, 2.0][i])
    });
    let out = zeros(&[5], DType::F32);
    scan(ScanOp::Max, x.operand(), 0, out.operand()).unwrap();
    let found = floats(&out);
    assert_eq!(found[..2], [1.0, 3.0]);
    assert!(found[2..].iter().all(|v| v.is_nan()), "{found:?}");
    let y = Array::new(&[4], Arrangement::C, DType::I32, |i| {
        Scalar::Int(i as i64 + 1)
    });
    scan(ScanOp::Sum, y.operand(), 0, y.operand()).unwrap();
    assert_eq!(floats(&y), [1.0, 3.0, 6.0, 10.0]);
    assert!(scan(ScanOp::Sum, y.operand(), 1, y.operand()).is_err());
}
