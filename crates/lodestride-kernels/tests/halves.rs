//! f16 and bf16 on every instruction set, beside plain loops over the `half` crate's conversions, bit for bit.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; functions outside `#[test]` are not recognised"
)]

mod support;

use half::{bf16, f16};
use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{BinaryOp, Input, Isa, Operand, ReduceOp, UnaryOp};
use lodestride_kernels::{binary, copy, reduce, unary};
use support::{Arrangement, Array};

/// Where bits of elements are read from and written to.
const ARRANGEMENTS: [Arrangement; 3] =
    [Arrangement::C, Arrangement::Strided, Arrangement::Reversed];

/// Elements of a dtype by their bits.
struct Bits {
    array: Array,
    dtype: DType,
}

impl Bits {
    fn new(dtype: DType, arrangement: Arrangement, bits: &[u64]) -> Bits {
        let integers = match dtype.size() {
            2 => DType::U16,
            4 => DType::U32,
            _ => DType::U64,
        };
        let array = Array::new(&[bits.len()], arrangement, integers, |i| {
            Scalar::UInt(bits[i])
        });
        Bits { array, dtype }
    }

    fn operand(&self) -> Operand<'_> {
        Operand::new(&self.array.buffer, &self.array.layout, self.dtype).unwrap()
    }

    fn bits(&self) -> Vec<u64> {
        let bit = |value| match value {
            Scalar::UInt(bits) => bits,
            Scalar::Int(bits) => bits.cast_unsigned(),
            other => panic!("{other:?} are no bits"),
        };
        self.array.values().into_iter().map(bit).collect()
    }
}

/// An element type of 16 bits as the `half` crate has it.
#[derive(Clone, Copy)]
struct Kind {
    dtype: DType,
    /// The f32 that some bits stand for.
    wide: fn(u64) -> f32,
    /// The bits nearest to an f32.
    nearest: fn(f32) -> u64,
    /// The bit that makes a NaN quiet.
    quiet: u64,
    /// The bits of infinity.
    infinity: u64,
}

const KINDS: [Kind; 2] = [
    Kind {
        dtype: DType::F16,
        wide: |bits| f16::from_bits(bits as u16).to_f32(),
        nearest: |x| f16::from_f32(x).to_bits().into(),
        quiet: 0x200,
        infinity: 0x7c00,
    },
    Kind {
        dtype: DType::BF16,
        wide: |bits| bf16::from_bits(bits as u16).to_f32(),
        nearest: |x| bf16::from_f32(x).to_bits().into(),
        quiet: 0x40,
        infinity: 0x7f80,
    },
];

impl Kind {
    fn is_nan(self, bits: u64) -> bool {
        bits & 0x7fff > self.infinity
    }

    /// Every pattern.
    fn all() -> Vec<u64> {
        (0..=u64::from(u16::MAX)).collect()
    }

    /// The middle between some bits and the next, where the former round up if they are odd.
    fn tie(self, bits: u64) -> f64 {
        let wide = |bits| f64::from((self.wide)(bits));
        if bits + 1 < self.infinity {
            f64::midpoint(wide(bits), wide(bits + 1))
        } else {
            wide(bits) + (wide(bits) - wide(bits - 1)) / 2.0
        }
    }

    /// The bits nearest to an f64 that is no NaN. The `half` crate goes by f32, and rounds twice.
    fn nearest_to_f64(self, x: f64) -> u64 {
        let (sign, size) = (u64::from(x.is_sign_negative()) << 15, x.abs());
        let near = (self.nearest)(size as f32);
        // The largest that is not above it.
        let low = near - u64::from(f64::from((self.wide)(near)) > size);
        let up = low < self.infinity
            && (size > self.tie(low) || (size == self.tie(low) && low & 1 == 1));
        sign | (low + u64::from(up))
    }

    /// f32 at, just below and just above the middle between neighbours, of both signs; beyond the largest too.
    fn around_ties(self) -> Vec<f32> {
        let between = (0..self.infinity).map(|bits| self.tie(bits) as f32);
        between
            .flat_map(|tie| [tie, -tie, tie.next_up(), tie.next_down(), -tie.next_up()])
            .collect()
    }
}

/// Runs a check on every instruction set of this machine, which nothing else in this process may choose meanwhile.
fn on_every_set(check: impl Fn(Isa)) {
    use std::sync::{Mutex, PoisonError};
    static CHOICE: Mutex<()> = Mutex::new(());
    let _held = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = Isa::detect();
    for isa in Isa::available() {
        assert!(isa.select());
        check(isa);
    }
    before.select();
}

/// Converts in every arrangement and compares bits.
fn check_cast(isa: Isa, from: (DType, &[u64]), to: DType, wanted: &[u64]) {
    for (index, arrangement) in ARRANGEMENTS.into_iter().enumerate() {
        let x = Bits::new(from.0, arrangement, from.1);
        let other = ARRANGEMENTS[(index + 1) % ARRANGEMENTS.len()];
        for target in [Arrangement::C, other] {
            let out = Bits::new(to, target, &vec![0; from.1.len()]);
            copy(x.operand().into(), out.operand()).unwrap();
            for ((&x, got), &wanted) in from.1.iter().zip(out.bits()).zip(wanted) {
                assert!(
                    got == wanted,
                    "{isa}: {} {x:#x} to {to} is {got:#x}, wanted {wanted:#x}",
                    from.0
                );
            }
        }
    }
}

#[test]
fn every_half_becomes_f32_and_comes_back() {
    on_every_set(|isa| {
        for kind in KINDS {
            let all = Kind::all();
            // NaN of f16 become quiet, by the instructions as by the steps; those of bf16 are moved.
            let singles: Vec<u64> = all
                .iter()
                .map(|&bits| match kind.dtype {
                    DType::BF16 => bits << 16,
                    _ if kind.is_nan(bits) => {
                        (bits & 0x8000) << 16 | 0x7fc0_0000 | (bits & 0x3ff) << 13
                    }
                    _ => u64::from((kind.wide)(bits).to_bits()),
                })
                .collect();
            check_cast(isa, (kind.dtype, &all), DType::F32, &singles);
            let quiet = |&bits: &u64| {
                if kind.is_nan(bits) {
                    bits | kind.quiet
                } else {
                    bits
                }
            };
            let back: Vec<u64> = all.iter().map(quiet).collect();
            check_cast(isa, (DType::F32, &singles), kind.dtype, &back);
            let doubles: Vec<u64> = all
                .iter()
                .map(|&bits| f64::from((kind.wide)(bits)).to_bits())
                .collect();
            let numbers: Vec<usize> = (0..all.len()).filter(|&i| !kind.is_nan(all[i])).collect();
            let only = |bits: &[u64]| -> Vec<u64> { numbers.iter().map(|&i| bits[i]).collect() };
            check_cast(isa, (kind.dtype, &only(&all)), DType::F64, &only(&doubles));
            check_cast(isa, (DType::F64, &only(&doubles)), kind.dtype, &only(&all));
        }
    });
}

#[test]
fn floats_round_once_to_the_nearest_half() {
    on_every_set(|isa| {
        for kind in KINDS {
            let mut singles = kind.around_ties();
            singles.extend((0..u32::MAX / 9973).map(|i| f32::from_bits(i * 9973)));
            singles.retain(|x| !x.is_nan());
            let bits: Vec<u64> = singles.iter().map(|x| x.to_bits().into()).collect();
            let wanted: Vec<u64> = singles.iter().map(|&x| (kind.nearest)(x)).collect();
            check_cast(isa, (DType::F32, &bits), kind.dtype, &wanted);
            // Just beside a tie of f64, where rounding to f32 first would hit it.
            let doubles: Vec<f64> = kind
                .around_ties()
                .into_iter()
                .map(f64::from)
                .flat_map(|x| [x, x.next_up(), x.next_down()])
                .chain([
                    1e300,
                    -1e-300,
                    f64::INFINITY,
                    f64::from(f32::MAX).next_up(),
                    5e-324,
                ])
                .collect();
            let bits: Vec<u64> = doubles.iter().map(|x| x.to_bits()).collect();
            let wanted: Vec<u64> = doubles.iter().map(|&x| kind.nearest_to_f64(x)).collect();
            check_cast(isa, (DType::F64, &bits), kind.dtype, &wanted);
        }
    });
}

#[test]
fn signs_are_turned_and_dropped_for_every_half() {
    on_every_set(|isa| {
        for kind in KINDS {
            let all = Kind::all();
            for (op, change) in [
                (UnaryOp::Neg, (|bits| bits ^ 0x8000) as fn(u64) -> u64),
                (UnaryOp::Abs, |bits| bits & 0x7fff),
            ] {
                let wanted: Vec<u64> = all.iter().map(|&bits| change(bits)).collect();
                for arrangement in ARRANGEMENTS {
                    let x = Bits::new(kind.dtype, arrangement, &all);
                    let out = Bits::new(kind.dtype, Arrangement::C, &all);
                    unary(op, x.operand().into(), out.operand()).unwrap();
                    assert!(out.bits() == wanted, "{isa} {op} {}", kind.dtype);
                    unary(op, x.operand().into(), x.operand()).unwrap();
                    assert!(x.bits() == wanted, "{isa} {op} {} in place", kind.dtype);
                }
            }
        }
    });
}

/// A function of one instruction and what it is of f32.
type Function = (UnaryOp, fn(f32) -> f32);

#[test]
fn functions_of_one_instruction_are_those_of_f32_for_every_half() {
    let functions: [Function; 8] = [
        (UnaryOp::Floor, f32::floor),
        (UnaryOp::Ceil, f32::ceil),
        (UnaryOp::Round, f32::round_ties_even),
        (UnaryOp::Trunc, f32::trunc),
        (UnaryOp::Sqrt, f32::sqrt),
        (UnaryOp::Reciprocal, |x| 1.0 / x),
        (UnaryOp::Square, |x| x * x),
        (UnaryOp::OneMinus, |x| 1.0 - x),
    ];
    on_every_set(|isa| {
        for (kind, (op, function)) in KINDS
            .into_iter()
            .flat_map(|kind| functions.map(|function| (kind, function)))
        {
            for count in [65_536, 0, 1, 63, 65] {
                let bits = &Kind::all()[..count];
                let x = Bits::new(kind.dtype, Arrangement::C, bits);
                let out = Bits::new(kind.dtype, Arrangement::C, bits);
                unary(op, x.operand().into(), out.operand()).unwrap();
                let case = format!("{isa} {op} of {count} {}", kind.dtype);
                let wanted = bits.iter().map(|&bits| function((kind.wide)(bits)));
                check(&case, kind, &out.bits(), wanted);
            }
        }
    });
}

/// Functions are computed at first and for few elements, and then looked up: beside their results for a few elements at a time.
#[test]
fn functions_looked_up_are_those_computed_for_every_half() {
    const FEW: usize = 256;
    on_every_set(|isa| {
        for (kind, op) in KINDS
            .into_iter()
            .flat_map(|k| UnaryOp::ALL.iter().map(move |op| (k, *op)))
        {
            if op.result_dtype(kind.dtype) != Some(kind.dtype) {
                continue;
            }
            let all = Kind::all();
            let mut wanted = Vec::new();
            for some in all.chunks(FEW) {
                let x = Bits::new(kind.dtype, Arrangement::C, some);
                unary(op, x.operand().into(), x.operand()).unwrap();
                wanted.extend(x.bits());
            }
            // The first of these may be computed.
            for (round, arrangement) in ARRANGEMENTS.into_iter().chain(ARRANGEMENTS).enumerate() {
                // Ends inside a word of four, too.
                let count = all.len() - round;
                let x = Bits::new(kind.dtype, arrangement, &all[..count]);
                let out = Bits::new(kind.dtype, ARRANGEMENTS[round % 2], &vec![0; count]);
                let into = if round < 3 {
                    out.operand()
                } else {
                    x.operand()
                };
                unary(op, x.operand().into(), into).unwrap();
                let found = if round < 3 { out.bits() } else { x.bits() };
                let differs = found.iter().zip(&wanted).position(|(a, b)| a != b);
                let dtype = kind.dtype;
                assert_eq!(
                    differs, None,
                    "{isa} {op} {dtype} {arrangement:?}, round {round}"
                );
            }
        }
    });
}

/// Halves of all sizes, none of them NaN.
fn some(kind: Kind, count: usize, seed: u64) -> Vec<u64> {
    let all = (0..).map(|i: u64| (i * 40_503 + seed * 7_919) % 65_536);
    all.filter(|&bits| !kind.is_nan(bits)).take(count).collect()
}

/// Operations of one instruction and what they do to f32.
type Steps = (BinaryOp, fn(f32, f32) -> f32);

const STEPS: [Steps; 7] = [
    (BinaryOp::Add, |x, y| x + y),
    (BinaryOp::Sub, |x, y| x - y),
    (BinaryOp::RSub, |x, y| y - x),
    (BinaryOp::Mul, |x, y| x * y),
    (BinaryOp::Div, |x, y| x / y),
    (BinaryOp::Max, |x, y| if x > y { x } else { y }),
    (BinaryOp::SquaredDifference, |x, y| (x - y) * (x - y)),
];

/// Compares halves, all NaN alike.
fn check(case: &str, kind: Kind, got: &[u64], wanted: impl Iterator<Item = f32>) {
    for (index, (&got, wanted)) in got.iter().zip(wanted).enumerate() {
        let (nan, wanted) = (wanted.is_nan(), (kind.nearest)(wanted));
        let alike = if nan {
            kind.is_nan(got)
        } else {
            got == wanted || (got | wanted) == 0x8000
        };
        assert!(
            alike,
            "{case}, element {index}: {got:#x}, wanted {wanted:#x}"
        );
    }
}

#[test]
fn arithmetic_is_that_of_f32_rounded_once() {
    // A number that is no half: it keeps the precision of f32.
    let number = 0.1_f32;
    on_every_set(|isa| {
        for (kind, (op, step)) in KINDS.into_iter().flat_map(|k| STEPS.map(|s| (k, s))) {
            for (count, arrangement) in [0, 1, 15, 16, 63, 64, 65, 200, 5000]
                .into_iter()
                .flat_map(|n| ARRANGEMENTS.map(|a| (n, a)))
            {
                let (a, b) = (some(kind, count, 1), some(kind, count, 2));
                let case = format!("{isa} {op} of {count} {} {arrangement:?}", kind.dtype);
                let (x, y) = (
                    Bits::new(kind.dtype, arrangement, &a),
                    Bits::new(kind.dtype, Arrangement::C, &b),
                );
                let wide = |bits: &u64| (kind.wide)(*bits);
                let out = Bits::new(kind.dtype, Arrangement::C, &a);
                let run =
                    |x: Input<'_>, y: Input<'_>, out: Operand<'_>| binary(op, x, y, out).unwrap();
                run(x.operand().into(), y.operand().into(), out.operand());
                let pairs = a.iter().zip(&b);
                check(
                    &case,
                    kind,
                    &out.bits(),
                    pairs.clone().map(|(x, y)| step(wide(x), wide(y))),
                );
                let scalar = Scalar::Float(f64::from(number));
                run(x.operand().into(), scalar.into(), out.operand());
                check(
                    &format!("{case} and a number"),
                    kind,
                    &out.bits(),
                    a.iter().map(|x| step(wide(x), number)),
                );
                run(scalar.into(), x.operand().into(), out.operand());
                check(
                    &format!("{case} after a number"),
                    kind,
                    &out.bits(),
                    a.iter().map(|x| step(number, wide(x))),
                );
                run(x.operand().into(), y.operand().into(), x.operand());
                check(
                    &format!("{case} in place"),
                    kind,
                    &x.bits(),
                    pairs.map(|(x, y)| step(wide(x), wide(y))),
                );
                run(y.operand().into(), scalar.into(), y.operand());
                check(
                    &format!("{case} and a number in place"),
                    kind,
                    &y.bits(),
                    b.iter().map(|x| step(wide(x), number)),
                );
            }
        }
    });
}

#[test]
fn results_of_f32_are_not_rounded_to_halves_in_between() {
    on_every_set(|isa| {
        for kind in KINDS {
            let a = some(kind, 200, 3);
            let x = Bits::new(kind.dtype, Arrangement::C, &a);
            let out = Bits::new(DType::F32, Arrangement::C, &vec![0; a.len()]);
            let exactly = |case: &str, step: fn(f32) -> f32| {
                for (bits, &half) in out.bits().into_iter().zip(&a) {
                    let (got, wanted) = (f32::from_bits(bits as u32), step((kind.wide)(half)));
                    let alike = got.is_nan() && wanted.is_nan() || got == wanted;
                    assert!(alike, "{isa} {case} of {wanted:e} is {got:e}");
                }
            };
            let (input, to) = (|| Input::from(x.operand()), out.operand());
            binary(BinaryOp::Mul, input(), input(), to).unwrap();
            exactly("square", |x| x * x);
            binary(BinaryOp::Mul, input(), Scalar::Float(0.1).into(), to).unwrap();
            exactly("tenth", |x| x * 0.1);
            unary(UnaryOp::Sqrt, input(), to).unwrap();
            exactly("root", f32::sqrt);
            unary(UnaryOp::Neg, input(), to).unwrap();
            exactly("negative", |x| -x);
        }
    });
}

#[test]
fn reductions_of_halves_are_those_of_the_f32_they_stand_for() {
    on_every_set(|isa| {
        for (kind, arrangement) in KINDS.into_iter().flat_map(|k| ARRANGEMENTS.map(|a| (k, a))) {
            let (rows, columns) = (70, 301);
            let small = |i: usize| (kind.nearest)(((i * 37) % 101) as f32 / 16.0 - 3.0);
            let shape = [rows, columns];
            let x = Array::new(&shape, arrangement, DType::U16, |i| Scalar::UInt(small(i)));
            let operand = Operand::new(&x.buffer, &x.layout, kind.dtype).unwrap();
            for (axis, kept) in [(0, columns), (1, rows)] {
                for op in [ReduceOp::Sum, ReduceOp::Max] {
                    let out = Bits::new(kind.dtype, Arrangement::Strided, &vec![0; kept]);
                    reduce(op, operand, &[axis], out.operand()).unwrap();
                    // Sums of so few sixteenths are exact in f32.
                    let wanted = (0..kept).map(|index| {
                        let line = (0..shape[axis]).map(|other| {
                            let at = if axis == 0 {
                                other * columns + index
                            } else {
                                index * columns + other
                            };
                            (kind.wide)(small(at))
                        });
                        if op == ReduceOp::Sum {
                            line.sum()
                        } else {
                            line.fold(f32::MIN, f32::max)
                        }
                    });
                    let case = format!("{isa} {op} {} {arrangement:?} axis {axis}", kind.dtype);
                    check(&case, kind, &out.bits(), wanted);
                }
            }
        }
    });
}

/// Both signs of everything, among numbers in which no run is without some of them.
#[test]
fn extremes_of_halves_find_infinities_zeros_and_every_nan() {
    on_every_set(|isa| {
        for (kind, arrangement) in KINDS.into_iter().flat_map(|k| ARRANGEMENTS.map(|a| (k, a))) {
            let edges = [0, 1, kind.infinity, kind.infinity - 1];
            let nans = [kind.infinity + 1, kind.infinity | kind.quiet, 0x7fff];
            for (shape, with_nan) in [([70, 301], false), ([70, 301], true), ([3, 64], true)] {
                let [_, columns] = shape;
                let bits = |i: usize| {
                    let sign = if i.is_multiple_of(3) { 0x8000 } else { 0 };
                    let size = match i % 47 {
                        13 if with_nan => nans[i % 3],
                        29 => edges[i / 47 % 4],
                        _ => (kind.nearest)((i * 37 % 101) as f32 / 16.0),
                    };
                    sign | size
                };
                let x = Array::new(&shape, arrangement, DType::U16, |i| Scalar::UInt(bits(i)));
                let operand = Operand::new(&x.buffer, &x.layout, kind.dtype).unwrap();
                for (axis, is_max) in [(0, true), (0, false), (1, true), (1, false)] {
                    let op = if is_max { ReduceOp::Max } else { ReduceOp::Min };
                    let kept = shape[1 - axis];
                    let out = Bits::new(kind.dtype, Arrangement::Strided, &vec![0; kept]);
                    reduce(op, operand, &[axis], out.operand()).unwrap();
                    for (index, found) in out.bits().into_iter().enumerate() {
                        let line = (0..shape[axis]).map(|other| {
                            let at = if axis == 0 {
                                [other, index]
                            } else {
                                [index, other]
                            };
                            (kind.wide)(bits(at[0] * columns + at[1]))
                        });
                        let wanted = line.reduce(|a, b| match is_max {
                            _ if a.is_nan() || b.is_nan() => f32::NAN,
                            true => a.max(b),
                            false => a.min(b),
                        });
                        let (wanted, value) = (wanted.unwrap(), (kind.wide)(found));
                        let same = value == wanted || value.is_nan() && wanted.is_nan();
                        let case = format!("{isa} {op} {} {arrangement:?} {axis}", kind.dtype);
                        assert!(same, "{case} at {index}: {found:#x}, wanted {wanted}");
                        let is_quiet = !kind.is_nan(found) || found & kind.quiet != 0;
                        assert!(is_quiet, "{case} at {index}: {found:#x} is not quiet");
                    }
                }
            }
        }
    });
}
