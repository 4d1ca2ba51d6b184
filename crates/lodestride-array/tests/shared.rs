//! What several threads share has the bits that one thread gives, at sizes beyond which work is shared.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Mutex, PoisonError};

use lodestride_array::kernels::{set_threads, threads};
use lodestride_array::{DType, NdArray, Result};
use support::report;

/// Numbers that look random, of any dtype: few different ones, or many.
fn numbers(dtype: DType, shape: &[usize], limit: usize) -> NdArray {
    let count = shape.iter().product::<usize>();
    let value = |i: usize| ((i * 7919 + 13).wrapping_mul(2_654_435_761) >> 9) % limit;
    let values: Vec<f64> = (0..count).map(|i| value(i) as f64).collect();
    let made = NdArray::from_vec(values, shape).unwrap();
    made.sub((limit / 3) as f64).unwrap().cast(dtype).unwrap()
}

/// The bits of an array's elements in C order: none of them is beyond the whole numbers that `f64` holds.
fn bits(array: &NdArray) -> Vec<u64> {
    let values = array.to_f64_vec().unwrap();
    values.into_iter().map(f64::to_bits).collect()
}

type Op = fn(&NdArray) -> Result<NdArray>;

/// Operations that threads share from some size on, each by a way of its own.
const OPS: [(&str, Op); 22] = [
    ("sum down", |x| x.sum(0)),
    ("largest down", |x| x.max(0)),
    ("deviation down", |x| x.std(0)),
    ("norm along", |x| x.norm2(1)),
    ("every second, largest along", |x| {
        x.get(&lodestride_array::s![.., ..;2])?.max(1)
    }),
    ("where the largest is down", |x| x.argmax(0)),
    ("where the smallest is along", |x| x.argmin(1)),
    ("running sum down", |x| x.cumsum(0)),
    ("running sum along", |x| x.cumsum(1)),
    ("running maximum down", |x| x.cummax(0)),
    ("running maximum along", |x| x.cummax(1)),
    ("sorted along", |x| x.sort(1)),
    ("all sorted", |x| x.reshape([x.len()])?.sort(0)),
    ("order of all", |x| x.reshape([x.len()])?.argsort(0)),
    ("different ones", |x| x.unique()),
    ("not zero", |x| x.nonzero()),
    ("histogram", |x| Ok(x.histogram(10usize)?.0)),
    ("median of all", |x| x.median(..)),
    ("a tenth of all is below", |x| x.quantile(0.1, ..)),
    ("first ten of all", |x| Ok(x.topk(10, ..)?.1)),
    ("first thousands of all", |x| Ok(x.topk(5000, ..)?.1)),
    ("dot of all", |x| {
        let line = x.reshape([x.len()])?;
        line.inner(&line)
    }),
];

/// Compares what several threads give with what one gives.
#[derive(Default)]
struct Checker {
    checked: usize,
    failed: Vec<String>,
}

impl Checker {
    fn check(&mut self, case: &str, run: impl Fn() -> NdArray) {
        /// The number of threads is the whole process's: one test at a time.
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        set_threads(1);
        let alone = bits(&run());
        // Twice each: workers that are awake take part in smaller work.
        for count in [2, 2, 4, 4] {
            set_threads(count);
            self.checked += 1;
            if bits(&run()) != alone {
                self.failed.push(format!("{case}, {} threads", threads()));
            }
        }
        set_threads(0);
    }
}

const DTYPES: [DType; 6] = [
    DType::F32,
    DType::F64,
    DType::F16,
    DType::I32,
    DType::I64,
    DType::U8,
];

#[test]
fn threads_share_without_changing_a_bit() {
    let mut checker = Checker::default();
    for dtype in DTYPES {
        for (shape, limit) in [([1100, 900], 90), ([40, 30_000], 250), ([300, 4500], 250)] {
            let x = numbers(dtype, &shape, limit);
            for (name, op) in OPS {
                checker.check(&format!("{name} of {shape:?} {dtype}"), || op(&x).unwrap());
            }
        }
    }
    report(checker.checked, &checker.failed);
}

/// Products of integers, and products along long axes, in pieces.
#[test]
fn threads_share_products_without_changing_a_bit() {
    let mut checker = Checker::default();
    let shapes = [
        ([260, 250], [250, 270]),
        ([1, 300_000], [300_000, 1]),
        ([33, 9000], [9000, 35]),
        ([2000, 700], [700, 1]),
    ];
    for dtype in DTYPES {
        for (left, right) in shapes {
            let (a, b) = (numbers(dtype, &left, 100), numbers(dtype, &right, 77));
            // Of columns that lie one after the other, too.
            let turned = b.transpose().dup().unwrap().transpose();
            for (b, order) in [(&b, "rows"), (&turned, "columns")] {
                let case = format!("{left:?} by {right:?} {dtype} in {order}");
                checker.check(&case, || a.matmul(b).unwrap());
            }
        }
    }
    report(checker.checked, &checker.failed);
}
