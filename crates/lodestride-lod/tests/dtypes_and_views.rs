//! The ops that move rows take every dtype, and every op takes strided, flipped and transposed data like contiguous data.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_lod::array::Scalar;
use lodestride_lod::sequence::{self, PoolKind, Window};
use lodestride_lod::{DType, Lod, LodError, LodTensor, NdArray, lengths, s};

type Op = fn(&LodTensor, isize) -> Result<NdArray, LodError>;

/// Ops that copy values and compute nothing.
const MOVES: [(&str, Op); 19] = [
    ("pool first", |x, l| {
        Ok(sequence::pool(x, PoolKind::First, l, 1)?.into_data())
    }),
    ("pool last", |x, l| {
        Ok(sequence::pool(x, PoolKind::Last, l, 1)?.into_data())
    }),
    ("pool max", |x, l| {
        Ok(sequence::pool(x, PoolKind::Max, l, 1)?.into_data())
    }),
    ("pool min", |x, l| {
        Ok(sequence::pool(x, PoolKind::Min, l, 1)?.into_data())
    }),
    ("reverse", |x, l| Ok(sequence::reverse(x, l)?.into_data())),
    ("context", |x, l| {
        Ok(sequence::context(x, Window::centered(3), None, l)?.into_data())
    }),
    ("pad", |x, l| {
        Ok(sequence::pad(x, Scalar::from(1), None, l)?.data.into_data())
    }),
    ("unpad", |x, l| {
        let padded = sequence::pad(x, 0, Some(9), l)?;
        Ok(sequence::unpad(&padded.data, &sequence::counts(&padded.lengths)?)?.into_data())
    }),
    ("concat", |x, l| {
        Ok(sequence::concat(&[x, x, x], l)?.into_data())
    }),
    ("slice", |x, l| {
        let lengths: Vec<usize> = x.lod().lengths_of(l)?.collect();
        let offsets: Vec<usize> = lengths.iter().map(|n| n / 2).collect();
        let lengths: Vec<usize> = lengths.iter().map(|n| n - n / 2).collect();
        Ok(sequence::slice(x, &offsets, &lengths, l)?.into_data())
    }),
    ("expand", |x, _| Ok(sequence::expand(x, x, 0)?.into_data())),
    ("reshape", |x, _| Ok(sequence::reshape(x, 1)?.into_data())),
    ("enumerate", |x, l| {
        Ok(sequence::enumerate(x, 2, 1, l)?.into_data())
    }),
    ("steps", |x, l| {
        Ok(sequence::from_steps(&sequence::to_steps(x, l)?)?.into_data())
    }),
    ("concat_grad", |x, l| {
        let joined = sequence::concat(&[x, x], l)?;
        Ok(sequence::concat_grad(&[x, x], l, joined.data())?.remove(1))
    }),
    ("slice_grad", |x, l| {
        let (none, all): (Vec<usize>, Vec<usize>) = x.lod().lengths_of(l)?.map(|n| (0, n)).unzip();
        sequence::slice_grad(x, &none, &all, l, x.data())
    }),
    ("unpad_grad", |x, l| {
        let padded = sequence::pad(x, 0, Some(9), l)?;
        let lengths = sequence::counts(&padded.lengths)?;
        let rows = sequence::unpad(&padded.data, &lengths)?;
        sequence::unpad_grad(&padded.data, &lengths, rows.data())
    }),
    ("pool_grad first", |x, l| {
        let first = sequence::pool(x, PoolKind::First, l, 0)?;
        sequence::pool_grad(x, PoolKind::First, l, first.data())
    }),
    ("pool_grad max", |x, l| {
        let largest = sequence::pool(x, PoolKind::Max, l, 0)?;
        sequence::pool_grad(x, PoolKind::Max, l, largest.data())
    }),
];

/// Ops that compute.
const SUMS: [(&str, Op); 13] = [
    ("pool sum", |x, l| {
        Ok(sequence::pool(x, PoolKind::Sum, l, 1)?.into_data())
    }),
    ("pool average", |x, l| {
        Ok(sequence::pool(x, PoolKind::Average, l, 1)?.into_data())
    }),
    ("pool sqrt", |x, l| {
        Ok(sequence::pool(x, PoolKind::Sqrt, l, 1)?.into_data())
    }),
    ("softmax", |x, l| Ok(sequence::softmax(x, l)?.into_data())),
    ("conv", |x, l| {
        let filter = NdArray::full_of(x.dtype(), [4, 2], 0.5)?;
        Ok(sequence::conv(x, &filter, Window::centered(2), None, l)?.into_data())
    }),
    ("row_conv", |x, l| {
        let filter = NdArray::full_of(x.dtype(), [2, 2], 0.5)?;
        Ok(sequence::row_conv(x, &filter, l)?.into_data())
    }),
    ("row_conv_grad", |x, l| {
        let filter = NdArray::full_of(x.dtype(), [2, 2], 0.5)?;
        Ok(sequence::row_conv_grad(x, &filter, l, x.data())?.0)
    }),
    ("row_conv_grad filter", |x, l| {
        let filter = NdArray::full_of(x.dtype(), [2, 2], 0.5)?;
        Ok(sequence::row_conv_grad(x, &filter, l, x.data())?.1)
    }),
    ("conv_grad", |x, l| {
        let filter = NdArray::full_of(x.dtype(), [4, 2], 0.5)?;
        Ok(sequence::conv_grad(x, &filter, Window::centered(2), None, l, x.data())?.x)
    }),
    ("conv_grad filter", |x, l| {
        let filter = NdArray::full_of(x.dtype(), [4, 2], 0.5)?;
        Ok(sequence::conv_grad(x, &filter, Window::centered(2), None, l, x.data())?.filter)
    }),
    ("context_grad", |x, l| {
        let windows = sequence::context(x, Window::centered(3), None, l)?;
        Ok(sequence::context_grad(x, Window::centered(3), None, l, windows.data())?.0)
    }),
    ("softmax_grad", |x, l| {
        sequence::softmax_grad(x, l, x.data())
    }),
    ("take_grad", |x, l| {
        let out = sequence::take(x, &[1, 0, 1], l)?;
        sequence::take_grad(x, &[1, 0, 1], l, out.data())
    }),
];

fn lod() -> Lod {
    Lod::from_lengths(lengths![[2, 0, 1], [3, 0, 2]]).unwrap()
}

/// Zeros and ones, which every dtype holds exactly.
fn bits() -> NdArray {
    NdArray::from([
        [1.0f64, 0.0],
        [0.0, 0.0],
        [1.0, 1.0],
        [0.0, 1.0],
        [1.0, 0.0],
    ])
}

#[test]
fn rows_of_every_dtype_move() {
    let expected = LodTensor::new(bits(), lod()).unwrap();
    for dtype in DType::ALL {
        let x = LodTensor::new(bits().cast(dtype).unwrap(), lod()).unwrap();
        for (name, op) in MOVES {
            for level in 0..2 {
                let found =
                    op(&x, level).unwrap_or_else(|error| panic!("{name} of {dtype}: {error}"));
                assert_eq!(found.dtype(), dtype, "{name}");
                let expected = op(&expected, level).unwrap().to_vec::<f64>().unwrap();
                assert_eq!(
                    found.to_f64_vec().unwrap(),
                    expected,
                    "{name} of {dtype} at level {level}"
                );
            }
        }
        for (name, op) in SUMS {
            // Computed, or refused with a reason; never a panic.
            if let Err(error) = op(&x, -1) {
                assert!(!dtype.is_float(), "{name} of {dtype}: {error}");
            }
        }
    }
}

#[test]
fn strided_data_gives_what_contiguous_data_gives() {
    let numbers = NdArray::linspace_of(DType::F64, -3, 5, 60).unwrap();
    let wide = numbers.reshape([10, 6]).unwrap();
    let views = [
        ("every other row", wide.get(&s![..;2, 1..3]).unwrap()),
        (
            "flipped rows",
            wide.get(&s![1..6, 2..4]).unwrap().flip(0).unwrap(),
        ),
        ("transposed", wide.get(&s![3..5, 1..6]).unwrap().transpose()),
        (
            "broadcast",
            wide.get(&s![4..5, 2..4])
                .unwrap()
                .broadcast_to([5, 2])
                .unwrap(),
        ),
    ];
    for (label, view) in views {
        let x = LodTensor::new(view.clone(), lod()).unwrap();
        let copy = LodTensor::new(view.dup().unwrap(), lod()).unwrap();
        for (name, op) in MOVES.iter().chain(&SUMS) {
            for level in 0..2 {
                let found = op(&x, level).unwrap().to_vec::<f64>().unwrap();
                let expected = op(&copy, level).unwrap().to_vec::<f64>().unwrap();
                assert_eq!(found.len(), expected.len(), "{name} of {label}");
                for (found, expected) in found.iter().zip(&expected) {
                    // A matrix product may add in another order for another layout.
                    assert!(
                        (found - expected).abs() < 1e-12,
                        "{name} of {label} at level {level}"
                    );
                }
            }
        }
    }
}

#[test]
fn results_never_share_memory_with_their_input() {
    let x = LodTensor::new(bits(), lod()).unwrap();
    for (name, op) in MOVES.iter().chain(&SUMS) {
        for level in 0..2 {
            assert!(!op(&x, level).unwrap().shares_memory(x.data()), "{name}");
        }
    }
    // Views do, and writing through one is seen in the batch.
    x.sequence(-1, 2).unwrap().data().assign(7.0).unwrap();
    assert_eq!(x.data().to_vec::<f64>().unwrap()[6..], [7.0; 4]);
}
