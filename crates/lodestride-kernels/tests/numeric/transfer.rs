//! Copies between layouts: every pair of axis orders, steps and directions, element sizes, threads, shared memory.

use lodestride_buffer::{Buffer, DType, Element, Scalar, with_dtype};
use lodestride_kernels::{Operand, concat, copy, set_threads};
use lodestride_shape::{Layout, Order};

use crate::support::{Arrangement, Array};
use crate::{Report, settings};

/// The axes of a layout from slow to fast in memory, and the step along the fastest.
struct Form {
    order: &'static [usize],
    step: isize,
    /// Axes walked backwards, bit by bit.
    backwards: usize,
    offset: usize,
}

const FORMS: [Form; 9] = [
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
    // Short rows may be joined to elements here, and not where they begin at odd places.
    Form {
        order: &[1, 0, 2],
        step: 1,
        backwards: 1,
        offset: 8,
    },
    Form {
        order: &[1, 0, 2],
        step: 1,
        backwards: 0,
        offset: 9,
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

/// Few short rows inside many: each repeated, or from matrices side by side.
#[test]
fn few_short_rows_inside_many_are_copied() {
    let mut report = Report::default();
    for [many, few, run] in [
        [15, 2, 3],
        [16, 2, 3],
        [1000, 2, 3],
        [700, 3, 1],
        [300, 15, 9],
        [300, 16, 9],
        [100, 2, 64],
        [200, 2, 65],
        [50, 5, 513],
    ] {
        for dtype in [DType::U8, DType::F16, DType::I32, DType::F64] {
            let shape = [many, few, run];
            for outer in [1, 3] {
                for (number, steps) in [[run, 0, 1], [run, many * run, 1]].iter().enumerate() {
                    for gap in [0, 1] {
                        let x = array(&[outer, few, many * run], &FORMS[0], dtype, |i| {
                            (i % 127) as i64
                        });
                        let from = Layout::new(
                            [outer, many, few, run].as_slice(),
                            [few * many * run, steps[0], steps[1], steps[2]]
                                .map(usize::cast_signed)
                                .as_slice(),
                            0,
                        )
                        .unwrap();
                        let from = Operand::new(&x.buffer, &from, dtype).unwrap();
                        let pitch = run + gap;
                        let out = array(&[outer, many * few, pitch], &FORMS[0], dtype, |_| 1);
                        let to = Layout::new(
                            [outer, many, few, run].as_slice(),
                            [many * few * pitch, few * pitch, pitch, 1]
                                .map(usize::cast_signed)
                                .as_slice(),
                            0,
                        )
                        .unwrap();
                        let to = Operand::new(&out.buffer, &to, dtype).unwrap();
                        copy(from.into(), to).unwrap();
                        let wanted = array(&[outer, many * few, pitch], &FORMS[0], dtype, |i| {
                            let (line, at) = (i / pitch, i % pitch);
                            let (o, m, f) = (line / (many * few), line / few % many, line % few);
                            let place = o * few * many * run + m * steps[0] + f * steps[1] + at;
                            if at < run { (place % 127) as i64 } else { 1 }
                        });
                        let case = format!("{dtype} {outer} {shape:?} {number} gap {gap}");
                        report.check(&case, block(&out) == block(&wanted));
                    }
                }
            }
        }
    }
    report.finish();
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
        [17, 70, 2],
        [40, 9, 4],
        [6, 33, 8],
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

/// A few runs joined element by element: the last two axes of a copy exchanged, and arrays joined along a last axis of one.
#[test]
fn few_runs_are_joined_element_by_element() {
    let _held = settings();
    let mut report = Report::default();
    for dtype in [DType::U8, DType::BF16, DType::F32, DType::F64] {
        for few in 1..6 {
            // The longest are shared out, and written past the caches.
            let is_tried = dtype == DType::F32 && (2..4).contains(&few);
            let longest = if is_tried { 3 << 20 } else { 5000 };
            for n in [0, 1, 3, 16, 67, 1000, longest] {
                let value = |i: usize| Scalar::Int((i % 127) as i64);
                let run =
                    |k: usize| Array::new(&[n, 1], Arrangement::C, dtype, |i| value(i * 5 + k));
                let runs: Vec<Array> = (0..few).map(run).collect();
                let side_by_side = Array::new(&[2, few, n], Arrangement::C, dtype, value);
                let exchanged = side_by_side.layout.swap_axes(1, 2).unwrap();
                let exchanged = Operand::new(&side_by_side.buffer, &exchanged, dtype).unwrap();
                for threads in [1, 2] {
                    set_threads(threads);
                    let out = Array::new(&[n, few], Arrangement::C, dtype, |_| Scalar::Int(0));
                    let pieces: Vec<Operand<'_>> = runs.iter().map(Array::operand).collect();
                    concat(&pieces, 1, out.operand()).unwrap();
                    let wanted: Vec<f64> = (0..n * few)
                        .map(|at| ((at / few * 5 + at % few) % 127) as f64)
                        .collect();
                    report.compare(&format!("{dtype} {few} of {n} joined"), &out, &wanted, 0.0);
                    let out = Array::new(&[2, n, few], Arrangement::C, dtype, |_| Scalar::Int(0));
                    copy(exchanged.into(), out.operand()).unwrap();
                    let wanted: Vec<f64> = (0..2 * n * few)
                        .map(|at| {
                            let (half, row, column) = (at / (n * few), at / few % n, at % few);
                            (((half * few + column) * n + row) % 127) as f64
                        })
                        .collect();
                    report.compare(
                        &format!("{dtype} {few} of {n} exchanged"),
                        &out,
                        &wanted,
                        0.0,
                    );
                }
            }
        }
    }
    set_threads(0);
    report.finish();
}
