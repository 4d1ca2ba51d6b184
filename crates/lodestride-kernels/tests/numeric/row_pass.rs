//! Passes over rows: every kind of step and operand against plain loops, on every instruction set and several threads.

use lodestride_buffer::{Buffer, DType, Scalar};
use lodestride_kernels::{
    BinaryOp, Isa, KernelError, Operand, Program, ProgramBuilder, ReduceOp, RowFold, RowStep,
    RowValue, UnaryOp, row_pass, set_threads,
};
use lodestride_shape::{Layout, Order};

use crate::support::{Arrangement, Array};
use crate::{Report, floats, settings, zeros};

/// Small whole numbers, so that no order of additions changes a result.
fn whole(i: usize) -> Scalar {
    Scalar::Float(((i * 7919) % 7) as f64 - 3.0)
}

fn dense(shape: &[usize], dtype: DType, from: usize) -> Array {
    Array::new(shape, Arrangement::C, dtype, |i| whole(i + from))
}

/// The first columns of a wider matrix.
fn with_gaps(rows: usize, columns: usize, dtype: DType) -> Array {
    let wide = dense(&[rows, columns + 3], dtype, 0);
    Array {
        layout: Layout::new([rows, columns], [columns as isize + 3, 1], 2).unwrap(),
        ..wide
    }
}

/// `x * y + n` and `x - c`.
fn rows_program(dtype: DType) -> Program {
    let mut program = ProgramBuilder::new("rows");
    let [x, y, n, c] = [(); 4].map(|()| program.load(dtype));
    let product = program.binary(BinaryOp::Mul, x, y).unwrap();
    let a = program.binary(BinaryOp::Add, product, n).unwrap();
    let b = program.binary(BinaryOp::Sub, x, c).unwrap();
    program.store(a);
    program.store(b);
    program.finish()
}

/// `2 n + s + c`, of numbers of rows and one number.
fn numbers_program(dtype: DType) -> Program {
    let mut program = ProgramBuilder::new("numbers");
    let [n, s, c] = [(); 3].map(|()| program.load(dtype));
    let two = program.constant(Scalar::Int(2), dtype).unwrap();
    let twice = program.binary(BinaryOp::Mul, n, two).unwrap();
    let sum = program.binary(BinaryOp::Add, twice, s).unwrap();
    let m = program.binary(BinaryOp::Add, sum, c).unwrap();
    program.store(m);
    program.finish()
}

/// `a * (m - s * s)`, where the second factor is a number, and a number spread over rows.
fn last_program(dtype: DType) -> Program {
    let mut program = ProgramBuilder::new("last");
    let [a, m, s] = [(); 3].map(|()| program.load(dtype));
    let square = program.unary(UnaryOp::Square, s).unwrap();
    let factor = program.binary(BinaryOp::Sub, m, square).unwrap();
    let d = program.binary(BinaryOp::Mul, a, factor).unwrap();
    program.store(d);
    program.store(factor);
    program.finish()
}

/// The results of the pass that the tests run.
struct Results {
    b: Vec<f64>,
    m: Vec<f64>,
    d: Vec<f64>,
    factor: Vec<f64>,
    sums: Vec<f64>,
    most: Vec<f64>,
    total: f64,
    squares: f64,
    largest: Vec<f64>,
}

fn reference(x: &[f64], y: &[f64], c: &[f64], s: f64) -> Results {
    let (rows, columns) = (c.len(), y.len());
    let mut to = Results {
        b: vec![],
        m: vec![],
        d: vec![],
        factor: vec![],
        sums: vec![0.0; columns],
        most: vec![f64::NEG_INFINITY; columns],
        total: 0.0,
        squares: 0.0,
        largest: vec![],
    };
    for row in 0..rows {
        let x = &x[row * columns..][..columns];
        let n: f64 = x.iter().sum();
        let m = 2.0 * n + s + c[row];
        let mut largest = f64::NEG_INFINITY;
        for (j, &x) in x.iter().enumerate() {
            let a = x * y[j] + n;
            let d = a * (m - s * s);
            to.b.push(x - c[row]);
            to.d.push(d);
            to.factor.push(m - s * s);
            to.sums[j] += a;
            to.most[j] = to.most[j].max(a);
            to.total += a;
            to.squares += x * x;
            largest = largest.max(d);
        }
        to.m.push(m);
        to.largest.push(largest);
    }
    to
}

/// Folds, number by number: what is folded, how, and where to.
const FOLDS: [(ReduceOp, RowFold, usize, usize); 6] = [
    (ReduceOp::Sum, RowFold::Along, 0, 4),
    (ReduceOp::Sum, RowFold::Across, 5, 10),
    (ReduceOp::Max, RowFold::Across, 5, 11),
    (ReduceOp::Sum, RowFold::All, 5, 12),
    (ReduceOp::SumSquares, RowFold::All, 0, 13),
    (ReduceOp::Max, RowFold::Along, 8, 14),
];

/// Runs the pass of the tests on `x`, `y`, `c` and `s`, into as many arrays as [`Results`] has.
fn run(given: [&Array; 4], out: &[Array; 9]) {
    let dtype = given[0].dtype;
    let (rows, columns) = (given[0].layout.shape()[0], given[0].layout.shape()[1]);
    let mut values = given.map(|array| RowValue::Given(array.operand())).to_vec();
    values.push(RowValue::Number(dtype));
    values.push(RowValue::Row(dtype));
    values.extend(out.iter().map(|array| RowValue::Wanted(array.operand())));
    let (of_rows, of_numbers) = (rows_program(dtype), numbers_program(dtype));
    let last = last_program(dtype);
    let fold = |number: usize| {
        let (op, over, from, to) = FOLDS[number];
        RowStep::Fold { op, over, from, to }
    };
    let map = |program, inputs, outputs| RowStep::Map {
        program,
        inputs,
        outputs,
    };
    let steps = [
        fold(0),
        map(&of_rows, &[0, 1, 4, 2], &[5, 6]),
        fold(1),
        fold(2),
        fold(3),
        fold(4),
        map(&of_numbers, &[4, 3, 2], &[7]),
        map(&last, &[5, 7, 3], &[8, 9]),
        fold(5),
    ];
    row_pass("test", (rows * columns, columns), &values, &steps).unwrap();
}

fn compare(report: &mut Report, case: &str, x: &Array) {
    let (rows, columns, dtype) = (x.layout.shape()[0], x.layout.shape()[1], x.dtype);
    let (y, c) = (dense(&[1, columns], dtype, 1), dense(&[rows, 1], dtype, 2));
    let s = dense(&[1, 1], dtype, 3);
    let wanted = reference(&floats(x), &floats(&y), &floats(&c), floats(&s)[0]);
    let lists = [
        ("b", [rows, columns], wanted.b),
        ("m", [rows, 1], wanted.m),
        ("d", [rows, columns], wanted.d),
        ("factor", [rows, columns], wanted.factor),
        ("sums", [1, columns], wanted.sums),
        ("most", [1, columns], wanted.most),
        ("total", [1, 1], vec![wanted.total]),
        ("squares", [1, 1], vec![wanted.squares]),
        ("largest", [rows, 1], wanted.largest),
    ];
    let out = lists.each_ref().map(|(_, shape, _)| zeros(shape, dtype));
    run([x, &y, &c, &s], &out);
    for (array, (name, _, wanted)) in out.iter().zip(&lists) {
        // Whole numbers: one rounding at the end.
        report.compare(&format!("{case}: {name}"), array, wanted, 0.0);
    }
}

#[test]
fn every_kind_of_step_matches_plain_loops() {
    let _held = settings();
    let mut report = Report::default();
    let best = Isa::detect();
    let mut ways: Vec<(Isa, usize)> = Isa::available().map(|isa| (isa, 1)).collect();
    ways.push((best, 4));
    let shapes = [
        [1, 2],
        [1, 100],
        [2, 3],
        [5, 64],
        [63, 17],
        [64, 33],
        [65, 1000],
        [300, 65],
        [1500, 7],
        [7, 2500],
        [5, 5000],
        [3, 9000],
    ];
    for dtype in [DType::F32, DType::F64] {
        for [rows, columns] in shapes {
            for x in [
                dense(&[rows, columns], dtype, 0),
                with_gaps(rows, columns, dtype),
            ] {
                for &(isa, threads) in &ways {
                    assert!(isa.select());
                    set_threads(threads);
                    let case = format!("{isa} {threads} {:?}", x.layout);
                    compare(&mut report, &case, &x);
                }
            }
        }
    }
    best.select();
    set_threads(0);
    report.finish();
}

/// `x x + 1`
fn square_and_one(dtype: DType) -> Program {
    let mut program = ProgramBuilder::new("square");
    let x = program.load(dtype);
    let square = program.unary(UnaryOp::Square, x).unwrap();
    let one = program.constant(Scalar::Int(1), dtype).unwrap();
    let sum = program.binary(BinaryOp::Add, square, one).unwrap();
    program.store(sum);
    program.finish()
}

#[test]
fn vectors_are_cut_into_rows_of_which_the_last_may_be_shorter() {
    let _held = settings();
    let mut report = Report::default();
    for threads in [1, 3] {
        set_threads(threads);
        for n in [1, 99, 100, 101, 5000, 70_001] {
            let x = dense(&[n], DType::F64, 0);
            let (out, total) = (zeros(&[n], DType::F64), zeros(&[1, 1], DType::F64));
            let program = square_and_one(DType::F64);
            let values = [
                RowValue::Given(x.operand()),
                RowValue::Wanted(out.operand()),
                RowValue::Wanted(total.operand()),
            ];
            let steps = [
                RowStep::Map {
                    program: &program,
                    inputs: &[0],
                    outputs: &[1],
                },
                RowStep::Fold {
                    op: ReduceOp::Sum,
                    over: RowFold::All,
                    from: 1,
                    to: 2,
                },
            ];
            row_pass("test", (n, 100), &values, &steps).unwrap();
            let wanted: Vec<f64> = floats(&x).iter().map(|x| x * x + 1.0).collect();
            let case = format!("{threads} threads, {n}");
            report.compare(&case, &out, &wanted, 0.0);
            report.compare(&case, &total, &[wanted.iter().sum()], 0.0);
        }
    }
    set_threads(0);
    report.finish();
}

#[test]
fn a_row_for_all_ends_where_a_cut_vector_does() {
    let mut program = ProgramBuilder::new("product");
    let [x, y] = [(); 2].map(|()| program.load(DType::F64));
    let product = program.binary(BinaryOp::Mul, x, y).unwrap();
    program.store(product);
    let program = program.finish();
    let mut report = Report::default();
    for n in [1, 99, 150, 250] {
        let (x, y) = (dense(&[n], DType::F64, 0), dense(&[1, 100], DType::F64, 1));
        // Elements behind the result, which must stay.
        let longer = zeros(&[n + 100], DType::F64);
        let layout = Layout::new([n], [1], longer.layout.offset()).unwrap();
        let out = Operand::new(&longer.buffer, &layout, DType::F64).unwrap();
        let values = [
            RowValue::Given(x.operand()),
            RowValue::Given(y.operand()),
            RowValue::Wanted(out),
        ];
        let map = RowStep::Map {
            program: &program,
            inputs: &[0, 1],
            outputs: &[2],
        };
        row_pass("test", (n, 100), &values, &[map]).unwrap();
        let (x, y) = (floats(&x), floats(&y));
        let mut wanted: Vec<f64> = (0..n).map(|i| x[i] * y[i % 100]).collect();
        wanted.resize(n + 100, 0.0);
        report.compare(&format!("{n}"), &longer, &wanted, 0.0);
    }
    report.finish();
}

#[test]
fn an_input_in_the_memory_of_an_output_is_read_as_it_was() {
    let buffer = Buffer::from_vec((0..12).map(f64::from).collect()).unwrap();
    let layouts = [1, 0].map(|offset| Layout::new([3, 3], [3, 1], offset).unwrap());
    let [x, out] = layouts
        .each_ref()
        .map(|layout| Operand::new(&buffer, layout, DType::F64).unwrap());
    let program = square_and_one(DType::F64);
    let map = RowStep::Map {
        program: &program,
        inputs: &[0],
        outputs: &[1],
    };
    let values = [RowValue::Given(x), RowValue::Wanted(out)];
    row_pass("test", (9, 3), &values, &[map]).unwrap();
    let wanted: Vec<f64> = (1..10).map(|x| f64::from(x * x + 1)).collect();
    assert_eq!(buffer.read().unwrap().slice::<f64>()[..9], wanted);
}

#[test]
fn steps_and_values_that_do_not_fit_are_refused() {
    let (x, out) = (dense(&[4, 3], DType::F64, 0), zeros(&[4, 3], DType::F64));
    let halves = dense(&[4, 3], DType::F16, 0);
    let backwards = Layout::new([4, 3], [-3, 1], 9).unwrap();
    let backwards = Operand::new(&x.buffer, &backwards, DType::F64).unwrap();
    let elsewhere = Layout::contiguous([2, 6], Order::C).unwrap();
    let folded = RowValue::Wanted(Operand::new(&out.buffer, &elsewhere, DType::F64).unwrap());
    let (given, wanted) = (
        RowValue::Given(x.operand()),
        RowValue::Wanted(out.operand()),
    );
    let [halves, backwards] = [halves.operand(), backwards].map(RowValue::Given);
    let (number, row) = (RowValue::Number(DType::F64), RowValue::Row(DType::F64));
    let program = square_and_one(DType::F64);
    let map = |inputs: &'static [usize], outputs: &'static [usize]| RowStep::Map {
        program: &program,
        inputs,
        outputs,
    };
    let fold = |op, over| RowStep::Fold {
        op,
        over,
        from: 0,
        to: 1,
    };
    let (along, across) = (RowFold::Along, RowFold::Across);
    let (sum, any) = (ReduceOp::Sum, ReduceOp::Any);
    let cases = [
        ("number of a value = 7", [given, wanted], map(&[7], &[1])),
        ("number of a value = 7", [given, wanted], map(&[0], &[7])),
        ("1 inputs", [given, wanted], map(&[0, 0], &[1])),
        ("1 outputs", [given, wanted], map(&[0], &[])),
        ("has twice = 0", [given, wanted], map(&[0], &[0])),
        ("not there yet = 1", [given, number], map(&[1], &[0])),
        ("only read = 1", [given, given], map(&[0], &[1])),
        ("another length = 1", [given, number], map(&[0], &[1])),
        ("another length = 1", [given, row], fold(sum, along)),
        ("dtype", [halves, wanted], map(&[0], &[1])),
        ("f16", [halves, wanted], fold(sum, across)),
        ("any", [given, wanted], fold(any, across)),
        ("[1, 3]", [given, wanted], fold(sum, across)),
        ("rows, negative = 3", [backwards, wanted], map(&[0], &[1])),
        ("[2, 6]", [given, folded], map(&[0], &[1])),
    ];
    let mut report = Report::default();
    for (text, values, step) in &cases {
        let error = row_pass("test", (12, 3), values, std::slice::from_ref(step));
        let said = error.err().map(|e| e.to_string()).unwrap_or_default();
        report.check(&format!("{text}: {said}"), said.contains(text));
    }
    report.check("untouched", floats(&out).iter().all(|x| *x == 0.0));
    report.finish();
}

#[test]
fn outputs_in_one_place_and_no_elements_are_refused() {
    let (x, out) = (dense(&[4, 3], DType::F64, 0), zeros(&[4, 3], DType::F64));
    let program = square_and_one(DType::F64);
    let map = RowStep::Map {
        program: &program,
        inputs: &[0],
        outputs: &[1],
    };
    let (given, wanted) = (
        RowValue::Given(x.operand()),
        RowValue::Wanted(out.operand()),
    );
    let twice = row_pass("test", (12, 3), &[given, wanted, wanted], &[map]);
    assert!(matches!(twice, Err(KernelError::OverlappingOutputs { .. })));
    let nothing = row_pass("test", (0, 3), &[given, wanted], &[map]);
    assert!(matches!(nothing, Err(KernelError::InvalidArgument { .. })));
}
