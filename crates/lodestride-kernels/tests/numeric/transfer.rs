//! Copies between layouts: every pair of axis orders, steps and directions, element sizes, threads, shared memory.

use lodestride_buffer::{Buffer, DType, Element, Scalar, with_dtype};
use lodestride_kernels::{Operand, copy, set_threads};
use lodestride_shape::{Layout, Order};

use crate::support::Array;
use crate::{Report, settings};

/// The axes of a layout from slow to fast in memory, and the step along the fastest.
struct Form {
    order: &'static [usize],
    step: isize,
    /// Axes walked backwards, bit by bit.
    backwards: usize,
    offset: usize,
}

const FORMS: [Form; 7] = [
    Form {
        order: &[0, 1, 2],
        step: 1,
        backwards: 0,
        offset: 0,
    },
    Form {
        order: &[0, 1, 2],
        step: 1,
        backwards: 4,
        offset: 1,
    },
    Form {
        order: &[2, 1, 0],
        step: 1,
        backwards: 0,
        offset: 3,
    },
    Form {
        order: &[1, 2, 0],
        step: 1,
        backwards: 1,
        offset: 5,
    },
    Form {
        order: &[2, 0, 1],
        step: 2,
        backwards: 0,
        offset: 0,
    },
    Form {
        order: &[0, 2, 1],
        step: 3,
        backwards: 7,
        offset: 2,
    },
    Form {
        order: &[0, 1, 2],
        step: 2,
        backwards: 2,
        offset: 7,
    },
];

fn array(shape: &[usize; 3], form: &Form, dtype: DType, value: impl Fn(usize) -> i64) -> Array {
    let mut strides = [0isize; 3];
    let mut reach = form.step;
    let mut offset = form.offset;
    for &axis in form.order.iter().rev() {
        strides[axis] = reach;
        reach *= shape[axis] as isize;
        if form.backwards >> axis & 1 == 1 {
            offset += strides[axis] as usize * (shape[axis] - 1);
            strides[axis] = -strides[axis];
        }
    }
    let elements = form.offset + reach as usize + 9;
    let buffer = Buffer::zeroed(elements * dtype.size()).unwrap();
    let layout = Layout::new(shape.as_slice(), strides.as_slice(), offset).unwrap();
    let array = Array {
        buffer,
        layout,
        dtype,
    };
    array.fill(|i| Scalar::Int(value(i)));
    array
}

/// All elements of the buffer, those between the array's too.
fn block(array: &Array) -> Vec<Scalar> {
    let guard = array.buffer.read().unwrap();
    with_dtype!(array.dtype, T => guard.slice::<T>().iter().map(|value| value.to_scalar()).collect())
}

#[test]
fn every_pair_of_layouts_is_copied_and_nothing_between_is_touched() {
    let mut report = Report::default();
    let shapes = [
        [2, 3, 4],
        [1, 70, 65],
        [5, 17, 130],
        [33, 2, 40],
        [3, 4, 129],
    ];
    let dtypes = [DType::U8, DType::F16, DType::I32, DType::F64];
    for shape in &shapes {
        for dtype in dtypes {
            for (number, from) in FORMS.iter().enumerate() {
                let x = array(shape, from, dtype, |i| (i % 127) as i64);
                for (target, to) in FORMS.iter().enumerate() {
                    let case = format!("{dtype} {shape:?} from {number} to {target}");
                    let (out, wanted) = (
                        array(shape, to, dtype, |_| 1),
                        array(shape, to, dtype, |i| (i % 127) as i64),
                    );
                    copy(x.operand().into(), out.operand()).unwrap();
                    report.check(&case, block(&out) == block(&wanted));
                }
            }
        }
    }
    report.finish();
}

#[test]
fn threads_do_not_change_copies() {
    let _held = settings();
    let mut report = Report::default();
    for (shape, dtype) in [
        ([3, 500, 700], DType::U8),
        ([1, 700, 900], DType::F32),
        ([40, 9, 2000], DType::F64),
    ] {
        for (number, from) in FORMS.iter().enumerate() {
            let x = array(&shape, from, dtype, |i| (i * 7 % 120) as i64);
            let wanted = block(&array(&shape, &FORMS[0], dtype, |i| (i * 7 % 120) as i64));
            for threads in [1, 2, 4] {
                set_threads(threads);
                let out = array(&shape, &FORMS[0], dtype, |_| 1);
                copy(x.operand().into(), out.operand()).unwrap();
                report.check(
                    &format!("{dtype} from {number}, {threads} threads"),
                    block(&out) == wanted,
                );
            }
        }
    }
    set_threads(0);
    report.finish();
}

#[test]
fn overlapping_views_are_copied_as_if_the_source_came_first() {
    let n = 40;
    let start: Vec<u16> = (0..(n * n) as u16).collect();
    let whole = Layout::contiguous([n, n], Order::C).unwrap();
    let window = |row: usize, column: usize| {
        let rows = whole.narrow(0, row..row + 30).unwrap();
        rows.narrow(1, column..column + 30).unwrap()
    };
    let views = [
        whole.narrow(0, 0..30).unwrap().narrow(1, 0..30).unwrap(),
        window(1, 0),
        window(0, 1),
        window(3, 7).transpose(),
        window(5, 5).flip(1).unwrap(),
        window(2, 2).flip(0).unwrap().transpose(),
    ];
    for (from, x) in views.iter().enumerate() {
        for (to, out) in views.iter().enumerate() {
            let buffer = Buffer::from_vec(start.clone()).unwrap();
            let operand = |layout| Operand::new(&buffer, layout, u16::DTYPE).unwrap();
            copy(operand(x).into(), operand(out)).unwrap();
            let mut wanted = start.clone();
            for i in 0..30 {
                for j in 0..30 {
                    let at = |layout: &Layout| layout.offset_of(&[i, j]).unwrap();
                    wanted[at(out)] = start[at(x)];
                }
            }
            assert_eq!(
                buffer.read().unwrap().slice::<u16>(),
                wanted,
                "{from} to {to}"
            );
        }
    }
}
