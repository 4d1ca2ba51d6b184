//! Reductions of small packed arrays over the axes at one end, which have a way of their own: what they give is what the same elements
//! give where they lie otherwise.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_array::{Axes, DType, NdArray, Order, Workspace, keep, s};

type Reduction = fn(&NdArray, Axes) -> lodestride_array::Result<NdArray>;

const REDUCTIONS: [(&str, Reduction); 9] = [
    ("sum", |x, axes| x.sum(axes)),
    ("mean", |x, axes| x.mean(axes)),
    ("max", |x, axes| x.max(axes)),
    ("prod", |x, axes| x.prod(axes)),
    ("var", |x, axes| x.var(axes)),
    ("norm2", |x, axes| x.norm2(axes)),
    ("logsumexp", |x, axes| x.log_sum_exp(axes)),
    ("any", |x, axes| x.any(axes)),
    ("count_nonzero", |x, axes| x.count_nonzero(axes)),
];

/// The same elements with a gap behind each, for which there is no short way.
fn apart(x: &NdArray) -> NdArray {
    let two = NdArray::stack(&[x, x], x.rank() as isize).unwrap();
    two.get(&s![..., 0]).unwrap()
}

/// Within four steps of the precision of the results: the order in which elements are added may differ.
fn are_close(short: &NdArray, long: &NdArray) -> bool {
    let step = match short.dtype() {
        DType::F16 => 1e-3,
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    let values = |x: &NdArray| x.cast(DType::F64).unwrap().to_vec::<f64>().unwrap();
    let close = |(a, b): (f64, f64)| {
        a == b || (a - b).abs() <= 4.0 * step * b.abs() || (a.is_nan() && b.is_nan())
    };
    values(short).into_iter().zip(values(long)).all(close)
}

#[test]
fn axes_at_one_end_are_reduced_as_anywhere() {
    let shapes: [&[usize]; 9] = [
        &[5],
        &[3, 3],
        &[1, 7],
        &[7, 1],
        &[4, 40],
        &[2, 3, 4],
        &[2, 1, 2, 3],
        &[2, 2, 2, 2, 2],
        &[3, 0, 2],
    ];
    let mut failures = Vec::new();
    for shape in shapes {
        let rank = shape.len() as isize;
        let mut choices: Vec<Axes> = vec![Axes::from(..), Axes::none()];
        choices.extend((0..rank).map(Axes::from));
        choices.extend((1..rank).map(|cut| Axes::from((0..cut).collect::<Vec<_>>())));
        choices.extend((1..rank).map(|cut| Axes::from((cut - rank..0).rev().collect::<Vec<_>>())));
        choices.push(Axes::from([0, rank - 1]));
        let kept: Vec<Axes> = choices.iter().map(keep).collect();
        for dtype in [DType::F32, DType::F64, DType::I64, DType::U8, DType::F16] {
            let len: usize = shape.iter().product();
            let values: Vec<f64> = (0..len).map(|i| (i * 7 % 5) as f64 + 0.5).collect();
            let x = NdArray::from_vec(values, shape)
                .unwrap()
                .cast(dtype)
                .unwrap();
            let other = apart(&x);
            assert!(len < 2 || other.strides() != x.strides());
            for (name, reduction) in REDUCTIONS {
                for axes in choices.iter().chain(&kept) {
                    let short = reduction(&x, axes.clone());
                    let long = reduction(&other, axes.clone());
                    let same = match (&short, &long) {
                        (Ok(short), Ok(long)) => {
                            (short.layout(), short.dtype()) == (long.layout(), long.dtype())
                                && are_close(short, long)
                        }
                        (Err(short), Err(long)) => short.to_string() == long.to_string(),
                        _ => false,
                    };
                    if !same {
                        failures.push(format!(
                            "{name} {dtype} {shape:?} {axes:?}: {short:?}, not {long:?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn results_that_keep_their_axes_lie_in_the_workspace_once() {
    let x = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let workspace = Workspace::new("SUMS");
    let used = |reduce: &dyn Fn() -> NdArray| {
        workspace
            .scope(|workspace| {
                let _sum = reduce();
                workspace.stats().this_cycle
            })
            .unwrap()
    };
    assert_eq!(used(&|| x.sum(keep(1)).unwrap()), 64);
    assert_eq!(used(&|| x.sum(keep(..)).unwrap()), 64);
    // Not packed in C order, but reduced all the same.
    let turned = x.dup_order(Order::F).unwrap();
    assert_eq!(
        turned.sum(keep(0)).unwrap().to_vec::<f32>().unwrap(),
        [4.0, 6.0]
    );
}
