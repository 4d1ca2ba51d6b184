//! Division of integers by one number, which is done by its reciprocal: the operand's layouts, the number's forms, and every
//! instruction set.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{BinaryOp, Input, Isa, binary};

use crate::support::{Arrangement, Array, close, reference_binary, through};

const SHAPE: [usize; 2] = [5, 67];

/// Numbers of all sizes and both signs, small ones and the ends of every dtype among them.
fn sample(i: usize) -> Scalar {
    let ends = [0, 1, -1, i64::MAX, i64::MIN, i64::MIN + 1, 6, -7];
    let spread = (i as i64).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
    Scalar::Int(match i % 3 {
        0 => ends[i / 3 % ends.len()],
        1 => spread,
        _ => spread >> (i % 64),
    })
}

fn divisors(dtype: DType) -> Vec<Scalar> {
    let numbers = [0, 1, 2, 3, 7, 10, 64, 100, 127, 128, 255, 1000, 65_521];
    let ends = [i64::MAX, i64::MIN, i64::MAX / 3, 1 << 31, 1 << 15];
    let signed = numbers.into_iter().flat_map(|n| [n, -n]).chain(ends);
    let fitting = signed.map(|n| through(Scalar::Int(n), dtype));
    fitting.collect()
}

fn same(found: &Array, wanted: &[Scalar]) -> bool {
    let dtype = found.dtype;
    let mut pairs = found.values().into_iter().zip(wanted);
    pairs.all(|(found, &wanted)| close(found, wanted, dtype, 0.0))
}

#[test]
fn one_divisor_for_all_is_divided_by_as_each_would_be() {
    let _held = crate::settings();
    let best = Isa::detect();
    let mut wrong = Vec::new();
    for op in [BinaryOp::FloorDiv, BinaryOp::Mod, BinaryOp::FMod] {
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_integer()) {
            for from in Arrangement::ALL {
                let x = Array::new(&SHAPE, from, dtype, sample);
                for y in divisors(dtype) {
                    let values = x.values().into_iter();
                    let wanted: Vec<_> =
                        values.map(|x| reference_binary(op, dtype, x, y)).collect();
                    let broadcast = Array::new(&SHAPE, Arrangement::Constant, dtype, |_| y);
                    for isa in Isa::available() {
                        assert!(isa.select());
                        let forms = [Input::Scalar(y), broadcast.operand().into()];
                        for (form, number) in ["number", "broadcast"].into_iter().zip(forms) {
                            let out = Array::new(&SHAPE, Arrangement::C, dtype, sample);
                            binary(op, x.operand().into(), number, out.operand()).unwrap();
                            if !same(&out, &wanted) {
                                wrong.push(format!("{isa} {op} {dtype} {from:?} {y:?} {form}"));
                            }
                        }
                        if Arrangement::WRITABLE.contains(&from) {
                            let own = Array::new(&SHAPE, from, dtype, sample);
                            binary(op, own.operand().into(), y.into(), own.operand()).unwrap();
                            if !same(&own, &wanted) {
                                wrong.push(format!("{isa} {op} {dtype} {from:?} {y:?} in place"));
                            }
                        }
                    }
                }
            }
        }
    }
    best.select();
    assert!(
        wrong.is_empty(),
        "{} wrong: {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(20)]
    );
}

#[test]
fn quotients_of_integers_are_those_of_f64() {
    let _held = crate::settings();
    let best = Isa::detect();
    let mut wrong = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_integer()) {
        for (from, len) in Arrangement::ALL
            .into_iter()
            .flat_map(|from| [0, 1, 3, 16, 67].map(|len| (from, len)))
        {
            let shape = [5, len];
            let x = Array::new(&shape, from, dtype, sample);
            let y = Array::new(&shape, Arrangement::C, dtype, |i| sample(i + 5));
            let pairs = x.values().into_iter().zip(y.values());
            let wanted: Vec<_> = pairs
                .map(|(x, y)| Scalar::Float(x.as_f64() / y.as_f64()))
                .collect();
            for isa in Isa::available() {
                assert!(isa.select());
                let out = Array::new(&shape, Arrangement::C, DType::F64, sample);
                binary(
                    BinaryOp::Div,
                    x.operand().into(),
                    y.operand().into(),
                    out.operand(),
                )
                .unwrap();
                if !same(&out, &wanted) {
                    wrong.push(format!("{isa} {dtype} {from:?} {len}"));
                }
            }
        }
    }
    best.select();
    assert!(wrong.is_empty(), "{wrong:?}");
}
