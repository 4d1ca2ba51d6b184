//! Rows and columns that an operation repeats beside whole matrices, and rows that lie apart, on one thread and on several. A test binary of its own, with
//! one test: the number of threads belongs to the process.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; functions outside `#[test]` are not recognised"
)]

mod support;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    BinaryOp, Input, Thresholds, binary, select, set_threads, set_thresholds, thresholds,
};
use support::{Arrangement, Array, reference_binary};

/// Around the bounds of what is packed and of tiles; the number of rows is not that of any tile.
const SHAPES: [&[usize]; 18] = [
    &[1, 100],
    &[0, 100],
    &[23, 1],
    &[23, 63],
    &[23, 64],
    &[23, 250],
    &[23, 1000],
    &[5, 4097],
    &[7, 3, 129],
    &[33, 2, 2, 65],
    &[200, 7],
    &[200, 8],
    &[150, 9],
    &[40, 33],
    &[23, 100],
    &[23, 256],
    &[6, 7, 31],
    &[4, 1, 9, 40],
];

fn value(i: usize) -> Scalar {
    Scalar::Int((i * 7 % 31) as i64)
}

fn other(i: usize) -> Scalar {
    Scalar::Int((i * 5 % 13) as i64)
}

fn floats(x: &Array) -> Vec<f64> {
    x.values().into_iter().map(Scalar::as_f64).collect()
}

/// What is repeated: the left operand, the right one, or both.
fn check_binary(op: BinaryOp, shape: &[usize], dtype: DType, [left, right]: [Arrangement; 2]) {
    let (x, y) = (
        Array::new(shape, left, dtype, value),
        Array::new(shape, right, dtype, other),
    );
    let wanted: Vec<f64> = (x.values().into_iter().zip(y.values()))
        .map(|(x, y)| reference_binary(op, dtype, x, y).as_f64())
        .collect();
    let case = format!("{op} {dtype} {shape:?} {left:?} {right:?}");
    for to in [
        Arrangement::C,
        Arrangement::F,
        Arrangement::Part,
        Arrangement::Reversed,
    ] {
        let out = Array::new(shape, to, dtype, |_| Scalar::Int(0));
        binary(op, x.operand().into(), y.operand().into(), out.operand()).unwrap();
        assert_eq!(floats(&out), wanted, "{case} -> {to:?}");
    }
    for own in [&x, &y] {
        if own.layout.strides().contains(&0) {
            continue;
        }
        let before = own.values();
        binary(op, x.operand().into(), y.operand().into(), own.operand()).unwrap();
        assert_eq!(floats(own), wanted, "{case} in place");
        own.fill(|i| before[i]);
    }
}

/// A row of flags, and a number that is spread over a tile.
fn check_select(shape: &[usize], dtype: DType) {
    let flags = |i: usize| Scalar::Bool(i % 3 == 1);
    let mask = Array::new(shape, Arrangement::RowBroadcast, DType::Bool, flags);
    let x = Array::new(shape, Arrangement::C, dtype, value);
    let chosen = mask.values().into_iter().zip(x.values());
    let number = Scalar::Int(1);
    let wanted: Vec<f64> = chosen
        .map(|(flag, x)| if flag.as_bool() { 1.0 } else { x.as_f64() })
        .collect();
    let out = Array::new(shape, Arrangement::C, dtype, |_| Scalar::Int(0));
    for to in [&out, &x] {
        let own: Input<'_> = x.operand().into();
        select(mask.operand().into(), number.into(), own, to.operand()).unwrap();
        assert_eq!(floats(to), wanted, "select {dtype} {shape:?}");
    }
}

#[test]
fn what_is_repeated_meets_every_row_on_one_thread_and_on_several() {
    let usual = thresholds();
    let low = Thresholds {
        light_bytes: 1 << 12,
        ..usual
    };
    let sides = [
        [Arrangement::C, Arrangement::RowBroadcast],
        [Arrangement::RowBroadcast, Arrangement::C],
        [Arrangement::F, Arrangement::RowBroadcast],
        [Arrangement::C, Arrangement::ColumnBroadcast],
        [Arrangement::ColumnBroadcast, Arrangement::C],
        [Arrangement::Part, Arrangement::ColumnBroadcast],
        [Arrangement::ColumnBroadcast, Arrangement::RowBroadcast],
        [Arrangement::Part, Arrangement::C],
        [Arrangement::RowBroadcast, Arrangement::RowBroadcast],
        [Arrangement::Strided, Arrangement::C],
        [Arrangement::Strided, Arrangement::Strided],
    ];
    for (threads, limits) in [(1, usual), (3, low)] {
        set_threads(threads);
        set_thresholds(limits);
        for dtype in DType::ALL {
            for shape in SHAPES {
                for sides in sides {
                    let ops: &[BinaryOp] = match dtype {
                        DType::Bool => &[BinaryOp::Xor],
                        _ => &[BinaryOp::Add, BinaryOp::Sub],
                    };
                    for &op in ops {
                        check_binary(op, shape, dtype, sides);
                    }
                }
                check_select(shape, dtype);
            }
        }
    }
    set_threads(0);
    set_thresholds(usual);
}
