//! The shortest way for packed operands: it does what `binary` does, or nothing at all. One thread alone needs no guards there, and
//! test harnesses use buffers on several, so this test is a program.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program that panics where something is wrong, and lists its test as test runners ask for it"
)]

use std::thread;

use lodestride_buffer::{Bool, Buffer, DType, Element, Scalar, Workspace, memory, with_dtype};
use lodestride_kernels::{
    BinaryOp, Operand, Packed, PackedNumber, PackedRows, Program, ProgramBuilder, ReduceOp,
    UnaryOp, binary, reduce,
};
use lodestride_shape::{Layout, Order};

fn main() {
    let asks = |what: &str| std::env::args().any(|argument| argument == what);
    if asks("--list") {
        if !asks("--ignored") {
            println!("one_thread_and_then_two: test");
        }
        return;
    }
    let all = || {
        packed_operands_give_what_the_general_way_gives();
        stretched_operands_give_what_the_general_way_gives();
        programs_give_what_they_give_by_guards();
        numbers_of_packed_elements_are_those_of_reductions();
        lines_of_packed_matrices_are_reduced_as_any_others();
        what_does_not_fit_is_refused_and_nothing_is_written();
    };
    all();
    let other = thread::spawn(|| drop(Buffer::zeroed(64).unwrap().clone()));
    assert!(other.join().is_ok());
    assert!(memory::needs_locks());
    all();
    println!("ok");
}

/// Every operation on elements of a dtype, beside the general way.
fn agrees<T: Element + Into<Scalar>>(values: fn(usize) -> T, failures: &mut Vec<String>) {
    for n in [1, 3, 9, 64, 1000] {
        let layout = Layout::contiguous([n], Order::C).unwrap();
        let x = Buffer::from_vec((0..n).map(values).collect::<Vec<T>>()).unwrap();
        let y = Buffer::from_vec((0..n).map(|i| values(i + 2)).collect::<Vec<T>>()).unwrap();
        let operand = |buffer| Operand::new(buffer, &layout, T::DTYPE).unwrap();
        for op in BinaryOp::ALL {
            let Some(packed) = Packed::find(*op, T::DTYPE) else {
                continue;
            };
            let bytes = n * packed.result().size();
            let expected = Buffer::zeroed(bytes).unwrap();
            let out = Operand::new(&expected, &layout, packed.result()).unwrap();
            binary(*op, operand(&x).into(), operand(&y).into(), out).unwrap();
            let expected = expected.read().unwrap().bytes().to_vec();
            let mut found = Buffer::recycled(bytes).unwrap();
            let done = packed.run(n, &x, &y, found.write_sole().unwrap());
            if done != packed.suits(n) || done && found.read().unwrap().bytes() != expected {
                failures.push(format!("{op:?} of {n} {:?}", T::DTYPE));
            }
            let given = Buffer::zeroed(bytes).unwrap();
            let done = packed.run_into(n, &x, &y, &given);
            if done != packed.suits(n) || done && given.read().unwrap().bytes() != expected {
                failures.push(format!("{op:?} of {n} {:?} into a buffer", T::DTYPE));
            }
            let changed = Buffer::from_vec((0..n).map(values).collect::<Vec<T>>()).unwrap();
            if packed.run_in_place(n, &changed, &y) && changed.read().unwrap().bytes() != expected {
                failures.push(format!("{op:?} in place of {n} {:?}", T::DTYPE));
            }
        }
    }
}

/// Every operation on elements of a dtype and a number, beside the general way.
fn agrees_with_number<T: Element + Into<Scalar>>(
    values: fn(usize) -> T,
    failures: &mut Vec<String>,
) {
    for n in [1, 3, 9, 64, 1000, 2000] {
        let layout = Layout::contiguous([n], Order::C).unwrap();
        let fresh = || Buffer::from_vec((0..n).map(values).collect::<Vec<T>>()).unwrap();
        let x = fresh();
        for op in BinaryOp::ALL {
            let Some(packed) = PackedNumber::find(*op, T::DTYPE, values(5).into()) else {
                continue;
            };
            let result = packed.operation().result();
            let bytes = n * result.size();
            let expected = Buffer::zeroed(bytes).unwrap();
            let out = Operand::new(&expected, &layout, result).unwrap();
            let left = Operand::new(&x, &layout, T::DTYPE).unwrap();
            let number: Scalar = values(5).into();
            binary(*op, left.into(), number.into(), out).unwrap();
            let expected = expected.read().unwrap().bytes().to_vec();
            let mut found = Buffer::recycled(bytes).unwrap();
            let anew = packed.run(n, &x, found.write_sole().unwrap());
            let (given, changed) = (Buffer::zeroed(bytes).unwrap(), fresh());
            let into = packed.run_into(n, &x, &given);
            let over = packed.run_in_place(n, &changed);
            for (done, found) in [(anew, found), (into, given), (over, changed)] {
                let wrong = done && found.read().unwrap().bytes() != expected;
                if wrong || done && !packed.operation().suits(n) {
                    failures.push(format!("{op:?} of {n} {:?} and {number:?}", T::DTYPE));
                }
            }
        }
    }
}

/// Shapes around the bounds of what is repeated in a tile, and what stretches to them.
const STRETCHED: [(&[usize], &[usize]); 17] = [
    (&[3, 3], &[3]),
    (&[3, 3], &[3, 1]),
    (&[1, 5], &[5]),
    (&[5, 1], &[1, 1]),
    (&[7, 4], &[]),
    (&[64, 10], &[10]),
    (&[64, 10], &[64, 1]),
    (&[9, 48], &[1, 48]),
    (&[9, 64], &[64]),
    (&[40, 100], &[40, 1]),
    (&[200, 3], &[200, 1]),
    (&[3, 300], &[300]),
    (&[3, 700], &[3, 1]),
    (&[2, 3, 5], &[3, 5]),
    (&[6, 5, 2, 9], &[6, 5, 1, 1]),
    (&[1, 30, 8], &[30, 1]),
    (&[300, 2], &[2]),
];

/// Every operation on elements of a dtype and a row, a column or one element, beside the general way.
fn agrees_with_rows<T: Element + Into<Scalar>>(values: fn(usize) -> T, failures: &mut Vec<String>) {
    for (shape, others) in STRETCHED {
        let layout = Layout::contiguous(shape, Order::C).unwrap();
        // Behind two elements that are not among its own.
        let beside = Layout::contiguous(others, Order::C).unwrap();
        let beside = Layout::new(others, beside.strides().as_slice(), 2).unwrap();
        let stretched = beside.broadcast_to(layout.shape()).unwrap();
        let n = layout.elements();
        let fresh = || Buffer::from_vec((0..n).map(values).collect::<Vec<T>>()).unwrap();
        let count = beside.elements() + 2;
        let y = Buffer::from_vec((0..count).map(|i| values(i + 3)).collect::<Vec<T>>()).unwrap();
        let x = fresh();
        for op in BinaryOp::ALL {
            let Some(packed) = Packed::find(*op, T::DTYPE) else {
                continue;
            };
            let case = format!("{op:?} of {others:?} to {shape:?} {:?}", T::DTYPE);
            let Some(rows) = PackedRows::find(*op, T::DTYPE, &layout, &beside) else {
                if shape.iter().product::<usize>() < 700 {
                    failures.push(format!("{case} has no short way"));
                }
                continue;
            };
            let bytes = n * packed.result().size();
            let expected = Buffer::zeroed(bytes).unwrap();
            let out = Operand::new(&expected, &layout, packed.result()).unwrap();
            let left = Operand::new(&x, &layout, T::DTYPE).unwrap();
            let right = Operand::new(&y, &stretched, T::DTYPE).unwrap();
            binary(*op, left.into(), right.into(), out).unwrap();
            let expected = expected.read().unwrap().bytes().to_vec();
            let mut found = Buffer::recycled(bytes).unwrap();
            let done = rows.run(&x, &y, found.write_sole().unwrap());
            if !done || found.read().unwrap().bytes() != expected {
                failures.push(case.clone());
            }
            let given = Buffer::zeroed(bytes).unwrap();
            if !rows.run_into(&x, &y, &given) || given.read().unwrap().bytes() != expected {
                failures.push(format!("{case}, into a buffer"));
            }
            let changed = fresh();
            if rows.run_in_place(&changed, &y) && changed.read().unwrap().bytes() != expected {
                failures.push(format!("{case}, in place"));
            }
            let short = Buffer::from_vec(vec![values(0); n - 1]).unwrap();
            let refused = [
                rows.run_in_place(&short, &y),
                rows.run_into(&short, &y, &given),
                rows.run_into(&x, &y, &x),
                rows.run_in_place(&x, &x),
            ];
            if refused.contains(&true) {
                failures.push(format!("{case}, not refused: {refused:?}"));
            }
        }
    }
}

fn stretched_operands_give_what_the_general_way_gives() {
    let mut failures = Vec::new();
    agrees_with_rows(|i| i as f32 * 0.5 - 2.0, &mut failures);
    agrees_with_rows(|i| i as f64 * 0.25 - 3.0, &mut failures);
    agrees_with_rows(|i| i as i32 % 13 - 4, &mut failures);
    agrees_with_rows(|i| i as i64 % 17 - 4, &mut failures);
    agrees_with_rows(|i| (i % 7) as u8, &mut failures);
    agrees_with_rows(|i| (i % 11) as i16, &mut failures);
    agrees_with_rows(|i| Bool::from(i % 3 == 0), &mut failures);
    assert!(failures.is_empty(), "{failures:#?}");
}

fn packed_operands_give_what_the_general_way_gives() {
    let mut failures = Vec::new();
    agrees::<f32>(|i| i as f32 * 0.75 - 2.0, &mut failures);
    agrees::<f64>(|i| i as f64 * 0.75 - 2.0, &mut failures);
    agrees::<i32>(|i| i as i32 % 7 + 1, &mut failures);
    agrees::<u8>(|i| (i % 7 + 1) as u8, &mut failures);
    agrees_with_number::<f32>(|i| i as f32 * 0.75 - 2.0, &mut failures);
    agrees_with_number::<f64>(|i| i as f64 * 0.75 - 2.0, &mut failures);
    agrees_with_number::<i32>(|i| i as i32 % 7 - 3, &mut failures);
    agrees_with_number::<i64>(|i| i as i64 % 7 + 1, &mut failures);
    agrees_with_number::<u8>(|i| (i % 7 + 1) as u8, &mut failures);
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Programs of one kernel and of several, on three inputs of a dtype.
fn programs(dtype: DType) -> Vec<(&'static str, Program)> {
    let number = Scalar::Int(3);
    let build = |name, of: &dyn Fn(&mut ProgramBuilder) -> lodestride_kernels::Result<()>| {
        let mut builder = ProgramBuilder::new(name);
        of(&mut builder).unwrap();
        (name, builder.finish())
    };
    vec![
        build("sum", &|b| {
            let (x, y) = (b.load(dtype), b.load(dtype));
            let sum = b.binary(BinaryOp::Add, x, y)?;
            b.store(sum);
            Ok(())
        }),
        build("beside a number", &|b| {
            let (x, y) = (b.load(dtype), b.constant(number, dtype)?);
            let difference = b.binary(BinaryOp::Sub, y, x)?;
            b.store(difference);
            Ok(())
        }),
        build("compared", &|b| {
            let (x, y) = (b.load(dtype), b.load(dtype));
            let less = b.binary(BinaryOp::Lt, x, y)?;
            b.store(less);
            Ok(())
        }),
        build("with itself", &|b| {
            let x = b.load(dtype);
            let square = b.binary(BinaryOp::Mul, x, x)?;
            b.store(square);
            Ok(())
        }),
        build("product and sum", &|b| {
            let (x, y, z) = (b.load(dtype), b.load(dtype), b.load(dtype));
            let product = b.binary(BinaryOp::Mul, x, y)?;
            let sum = b.binary(BinaryOp::Add, product, z)?;
            b.store(sum);
            Ok(())
        }),
        build("square of a difference over", &|b| {
            let (x, y, z) = (b.load(dtype), b.load(dtype), b.load(dtype));
            let difference = b.binary(BinaryOp::Sub, x, y)?;
            let square = b.binary(BinaryOp::Mul, difference, difference)?;
            let quotient = b.binary(BinaryOp::Div, square, z)?;
            b.store(quotient);
            Ok(())
        }),
        build("two results", &|b| {
            let (x, y) = (b.load(dtype), b.load(dtype));
            let (sum, opposite) = (b.binary(BinaryOp::Add, x, y)?, b.unary(UnaryOp::Neg, x)?);
            b.store(sum);
            b.store(opposite);
            Ok(())
        }),
    ]
}

/// Every program on elements of a dtype, beside the same program on operands; gives how many of them were done.
fn programs_agree<T: Element>(values: fn(usize) -> T, failures: &mut Vec<String>) -> usize {
    let mut done = 0;
    for n in [1, 3, 64, 1000, 5000] {
        let layout = Layout::contiguous([n], Order::C).unwrap();
        let of = |from: usize| (0..n).map(|i| values(i + from)).collect::<Vec<T>>();
        let buffers = [0, 2, 5].map(|from| Buffer::from_vec(of(from)).unwrap());
        for (name, program) in programs(T::DTYPE) {
            let inputs: Vec<&Buffer> = buffers.iter().take(program.inputs()).collect();
            let operands: Vec<_> = (inputs.iter())
                .map(|buffer| Operand::new(buffer, &layout, T::DTYPE).unwrap().into())
                .collect();
            let dtypes = (0..program.outputs()).map(|i| program.output_dtype(i).unwrap());
            let outputs: Vec<(Buffer, DType)> = dtypes
                .map(|dtype| (Buffer::zeroed(n * dtype.size()).unwrap(), dtype))
                .collect();
            let results: Vec<_> = (outputs.iter())
                .map(|(buffer, dtype)| Operand::new(buffer, &layout, *dtype).unwrap())
                .collect();
            program.run(&operands, &results).unwrap();
            let expected = outputs[0].0.read().unwrap().bytes().to_vec();
            let out = Buffer::zeroed(expected.len()).unwrap();
            let is_done = program.run_packed(n, &inputs, &out);
            if is_done != program.suits_packed(n) {
                failures.push(format!("{name} of {n} {:?} is not done as told", T::DTYPE));
            }
            done += usize::from(is_done);
            let found = out.read().unwrap().bytes().to_vec();
            if found
                != if is_done {
                    expected
                } else {
                    vec![0; found.len()]
                }
            {
                failures.push(format!("{name} of {n} {:?}", T::DTYPE));
            }
        }
    }
    done
}

fn programs_give_what_they_give_by_guards() {
    let mut failures = Vec::new();
    let done = programs_agree::<f32>(|i| i as f32 * 0.75 + 2.0, &mut failures)
        + programs_agree::<f64>(|i| i as f64 * 0.75 - 2.1, &mut failures)
        + programs_agree::<i32>(|i| i as i32 % 7 + 1, &mut failures)
        + programs_agree::<u8>(|i| (i % 7 + 4) as u8, &mut failures);
    assert!(failures.is_empty(), "{failures:#?}");
    // At least those of one operation on arrays, at all lengths but the last; alone and with locks.
    let least = 3 * 4 * 4;
    assert!(done >= least, "{done} of {least}");
}

/// Every reduction of elements of a dtype to a number, beside the general way to the same dtype.
fn numbers_agree<T: Element>(values: fn(usize) -> T, failures: &mut Vec<String>) -> usize {
    let (mut done, scalar) = (0, Layout::contiguous([0usize; 0], Order::C).unwrap());
    for n in [1, 3, 64, 1000, 4096, 5000] {
        let layout = Layout::contiguous([n], Order::C).unwrap();
        let x = Buffer::from_vec((0..n).map(values).collect::<Vec<T>>()).unwrap();
        for op in ReduceOp::ALL {
            let Some(number) = op.of_packed(T::DTYPE, n, &x) else {
                continue;
            };
            done += 1;
            let result = op.result_dtype(T::DTYPE);
            let found = Buffer::zeroed(result.size()).unwrap();
            let out = Operand::new(&found, &scalar, result).unwrap();
            reduce(op, Operand::new(&x, &layout, T::DTYPE).unwrap(), &[0], out).unwrap();
            let whole = with_dtype!(result, R => Buffer::from_vec(vec![R::from_scalar(number)]));
            let same = whole.unwrap().read().unwrap().bytes() == found.read().unwrap().bytes();
            if !same {
                failures.push(format!("{op} of {n} {:?}: {number:?}", T::DTYPE));
            }
        }
    }
    done
}

/// Every reduction of a matrix along each axis, beside the general way; gives how many were done.
fn matrices_agree<T: Element>(values: fn(usize) -> T, failures: &mut Vec<String>) -> usize {
    const SIZES: [[usize; 2]; 11] = [
        [1, 3],
        [3, 1],
        [2, 2],
        [3, 3],
        [16, 5],
        [5, 16],
        [17, 4],
        [40, 16],
        [16, 256],
        [300, 13],
        [0, 4],
    ];
    let mut done = 0;
    for sizes in SIZES {
        let layout = Layout::contiguous(sizes, Order::C).unwrap();
        let x = Buffer::from_vec((0..layout.elements()).map(values).collect::<Vec<T>>()).unwrap();
        for (op, axis) in ReduceOp::ALL.into_iter().flat_map(|op| [(op, 0), (op, 1)]) {
            let (result, count) = (op.result_dtype(T::DTYPE), sizes[1 - axis]);
            let mut found = Buffer::zeroed(count * result.size()).unwrap();
            let out = found.write_sole().unwrap();
            let is_done = op.of_packed_matrix(T::DTYPE, sizes, axis, &x, out);
            let suits = op.suits_packed_matrix(T::DTYPE, sizes, axis);
            done += usize::from(is_done);
            let expected = Buffer::zeroed(count * result.size()).unwrap();
            if is_done {
                let line = Layout::line(count);
                let out = Operand::new(&expected, &line, result).unwrap();
                reduce(
                    op,
                    Operand::new(&x, &layout, T::DTYPE).unwrap(),
                    &[axis],
                    out,
                )
                .unwrap();
                let short = Buffer::zeroed((count - 1) * result.size()).unwrap();
                let no_room =
                    op.of_packed_matrix(T::DTYPE, sizes, axis, &x, short.write().unwrap());
                let [rows, columns] = sizes;
                let more = [rows + 1, columns];
                let beyond = op.of_packed_matrix(T::DTYPE, more, axis, &x, short.write().unwrap());
                if no_room || beyond {
                    failures.push(format!("{op} of {sizes:?} along {axis} beyond its memory"));
                }
            }
            let same = found.read().unwrap().bytes() == expected.read().unwrap().bytes();
            if !same || is_done != suits {
                failures.push(format!("{op} of {sizes:?} along {axis}, {:?}", T::DTYPE));
            }
        }
    }
    done
}

fn lines_of_packed_matrices_are_reduced_as_any_others() {
    let mut failures = Vec::new();
    let done = [
        matrices_agree::<f32>(|i| (i * 7 % 23) as f32 * 0.75 - 7.0, &mut failures),
        matrices_agree::<f64>(|i| (i * 7 % 23) as f64 * 0.1 - 1.0, &mut failures),
        matrices_agree::<i64>(|i| (i as i64 - 2) * 0x1_2345_6789_abcd, &mut failures),
        matrices_agree::<i32>(|i| i as i32 % 7, &mut failures),
    ];
    assert!(failures.is_empty(), "{failures:#?}");
    let least = 12 * ReduceOp::ALL.len();
    assert!(
        done[0] >= least && done[1] >= least && done[3] == 0,
        "{done:?}"
    );
    let x = Buffer::from_vec(vec![1.0f32; 4]).unwrap();
    let _writer = x.write().unwrap();
    let mut out = Buffer::zeroed(8).unwrap();
    let out = out.write_sole().unwrap();
    assert!(
        !ReduceOp::Sum.of_packed_matrix(DType::F32, [2, 2], 0, &x, out),
        "in use"
    );
}

fn numbers_of_packed_elements_are_those_of_reductions() {
    let mut failures = Vec::new();
    let all = ReduceOp::ALL.len();
    let done = [
        numbers_agree::<f32>(|i| (i * 7 % 23) as f32 * 0.75 - 7.0, &mut failures),
        numbers_agree::<f32>(|i| if i == 2 { f32::NAN } else { -0.0 }, &mut failures),
        numbers_agree::<f64>(|i| (i * 7 % 23) as f64 * 0.1 - 1.0, &mut failures),
        numbers_agree::<i64>(|i| (i as i64 - 2) * 0x1_2345_6789_abcd, &mut failures),
        numbers_agree::<u64>(|i| u64::MAX / 3 * (i as u64 % 2), &mut failures),
    ];
    assert!(failures.is_empty(), "{failures:#?}");
    // At all lengths but the last; moments and norms of integers compute in f64.
    assert_eq!(done[..3], [5 * all; 3]);
    assert!(done[3] == done[4] && done[3] >= 5 * 7, "{done:?}");
    let x = Buffer::from_vec(vec![1.0f32; 3]).unwrap();
    let sum = |n| ReduceOp::Sum.of_packed(DType::F32, n, &x);
    assert_eq!(sum(3), Some(Scalar::Float(3.0)));
    assert!(sum(0).is_none() && sum(4).is_none() && sum(usize::MAX / 2).is_none());
    let _writer = x.write().unwrap();
    assert!(sum(3).is_none(), "in use");
}

/// Programs on packed operands refuse what they cannot open or what does not fit, and write nothing then.
fn programs_refuse(x: &Buffer, y: &Buffer, stale: &Buffer) {
    let (_, sum) = programs(DType::F32).swap_remove(0);
    let out = Buffer::zeroed(12).unwrap();
    let refused: [(&str, usize, &[&Buffer], &Buffer); 8] = [
        ("an input too few", 3, &[x], &out),
        ("an input too many", 3, &[x, y, x], &out),
        ("a short input", 4, &[x, y], &Buffer::zeroed(16).unwrap()),
        ("a short result", 3, &[x, y], &Buffer::zeroed(8).unwrap()),
        ("an input written over", 3, &[x, y], x),
        ("a stale input", 3, &[x, stale], &out),
        ("a stale result", 3, &[x, y], stale),
        ("more than memory holds", usize::MAX / 2, &[x, y], &out),
    ];
    let done = refused
        .iter()
        .filter(|(_, n, inputs, out)| sum.run_packed(*n, inputs, out));
    let done: Vec<&str> = done.map(|(name, ..)| *name).collect();
    assert!(done.is_empty(), "{done:?}");
    {
        let _writer = y.write().unwrap();
        assert!(!sum.run_packed(3, &[x, y], &out), "in use");
    }
    {
        let _reader = out.read().unwrap();
        assert!(!sum.run_packed(3, &[x, y], &out), "in use");
    }
    assert_eq!(out.read().unwrap().slice::<f32>(), [0.0; 3]);
    assert!(sum.run_packed(3, &[x, y], &out));
}

fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let (x, y) = (
        Buffer::from_vec(vec![1.0f32; 4]).unwrap(),
        Buffer::from_vec(vec![2.0f32; 3]).unwrap(),
    );
    let add = Packed::find(BinaryOp::Add, DType::F32).unwrap();
    assert!(!add.run_in_place(4, &x, &y), "the second is too short");
    assert!(!add.run_in_place(4, &x, &x), "one buffer");
    assert!(!add.run_into(3, &x, &y, &x) && !add.run_into(3, &y, &x, &x));
    let less = Packed::find(BinaryOp::Lt, DType::F32).unwrap();
    assert_eq!(less.result(), DType::Bool);
    assert!(!less.run_in_place(3, &x, &y), "another dtype");
    {
        let _reader = x.read().unwrap();
        assert!(!add.run_in_place(3, &x, &y), "in use");
        assert!(!add.run_into(3, &y, &y, &x), "in use");
        assert!(add.run_into(3, &x, &y, &Buffer::zeroed(12).unwrap()));
    }
    {
        let _writer = x.write().unwrap();
        assert!(!add.run_in_place(3, &x, &y), "in use");
        assert!(!add.run_in_place(3, &y, &x), "in use");
        assert!(
            !add.run_into(3, &y, &x, &Buffer::zeroed(12).unwrap()),
            "in use"
        );
        let mut out = Buffer::recycled(12).unwrap();
        let done = add.run(3, &x, &y, out.write_sole().unwrap());
        assert!(!done, "in use");
    }
    let mut out = Buffer::recycled(8).unwrap();
    let done = add.run(3, &x, &y, out.write_sole().unwrap());
    assert!(!done, "no room for the results");
    let (workspace, leaked) = (Workspace::new("LEAK"), || Buffer::zeroed(12));
    let stale = workspace.scope(|_| leaked()).unwrap().unwrap();
    assert!(!add.run_in_place(3, &stale, &y) && !add.run_in_place(3, &x, &stale));
    assert!(!add.run_into(3, &x, &y, &stale) && !add.run_into(3, &stale, &y, &x));
    programs_refuse(&x, &y, &stale);
    let half = PackedNumber::find(BinaryOp::Mul, DType::F32, Scalar::Float(0.5)).unwrap();
    assert!(!half.run_in_place(5, &x), "too short");
    assert!(!half.run_into(4, &x, &x), "one buffer");
    assert_eq!(x.read().unwrap().slice::<f32>(), [1.0; 4]);
    let none = [
        (BinaryOp::Add, DType::U8, Scalar::Int(300)),
        (BinaryOp::Add, DType::I32, Scalar::Float(0.5)),
        (BinaryOp::Pow, DType::F32, Scalar::Float(2.0)),
    ];
    for (op, dtype, number) in none {
        let found = PackedNumber::find(op, dtype, number);
        assert!(found.is_none(), "{op:?} {dtype} {number:?}");
    }
}
