//! Every way to combine picked elements with values, in every dtype and layout, against a plain loop over the places.

use lodestride_array::{
    DType, Element, FancyIndex, NdArray, Result, Scatter, f16, fancy, s, with_dtype,
};

use crate::report;
use crate::scatter::{HOW, Plain, read};
use crate::support::matrix::{layout_matrix, numbered};

/// Lists for an array of shape `[3, 4]`: rows, columns behind an axis, elements, parts in between, and nothing; most with
/// positions that repeat.
fn lists() -> Vec<Vec<FancyIndex>> {
    let square = NdArray::from([[0i64, 2], [-1, 0]]);
    let none = NdArray::zeros_of(DType::I64, [0]).unwrap();
    vec![
        fancy![[0, 2, 0, -1]].to_vec(),
        fancy![.., [1, 1, -4]].to_vec(),
        fancy![[0, 2, 0], [1, 3, 1]].to_vec(),
        fancy![&square].to_vec(),
        fancy![0..3;2, [0, 0, 3]].to_vec(),
        fancy![..;-1, [3, 3]].to_vec(),
        fancy![2, [1, 0, 1]].to_vec(),
        fancy![&none].to_vec(),
    ]
}

/// Values for a picked part: one for each element, one row for all, one number for all.
fn values_for(dtype: DType, shape: &[usize], kind: usize) -> Result<NdArray> {
    let shape = match kind % 3 {
        0 => shape,
        1 => &shape[shape.len() - 1..],
        _ => &[],
    };
    let values = numbered(DType::F64, shape)?.fmod(3)?.add(2)?.cast(dtype)?;
    let mut laid = layout_matrix(&values)?;
    let count = laid.len();
    Ok(laid.swap_remove(kind / 3 % count).1)
}

fn check<T: Plain + Element + PartialEq>(failed: &mut Vec<String>) -> Result<usize> {
    let mut checked = 0;
    let source = numbered(T::DTYPE, &[3, 4])?;
    let numbers = NdArray::arange_of(DType::I64, 0, 12, 1)?.reshape([3, 4])?;
    for (number, list) in lists().iter().enumerate() {
        let picked = numbers.get_fancy(list)?;
        let places = read::<i64>(&picked);
        for how in HOW {
            let has_none = match how {
                Scatter::Div => !T::DTYPE.is_float(),
                Scatter::Sub => T::DTYPE == DType::Bool,
                _ => false,
            };
            if has_none {
                continue;
            }
            for (kind, (layout, view)) in layout_matrix(&source)?.into_iter().enumerate() {
                let values = values_for(T::DTYPE, picked.shape(), kind)?;
                let given = read::<T>(&values.broadcast_to(picked.shape().clone())?);
                let mut wanted = read::<T>(&view);
                for (&place, &new) in places.iter().zip(&given) {
                    let old = &mut wanted[place as usize];
                    *old = T::step(how, *old, new);
                }
                checked += 1;
                let done = view.scatter_fancyi(how, list, &values);
                if done.is_err() || read::<T>(&view) != wanted {
                    let dtype = T::DTYPE;
                    failed.push(format!(
                        "{how:?} of {dtype}, list {number}, {layout}: {done:?}"
                    ));
                }
            }
        }
    }
    Ok(checked)
}

#[test]
fn picked_elements_of_every_dtype_meet_their_values_in_order() -> Result<()> {
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in DType::ALL {
        checked += with_dtype!(dtype, T => check::<T>(&mut failed)?);
    }
    report(checked, &failed);
    Ok(())
}

/// Parts of the target as values give what copies of them give.
#[test]
fn values_may_be_parts_of_the_target() -> Result<()> {
    let (mut checked, mut failed) = (0, Vec::new());
    let source = numbered(DType::F64, &[4, 4])?.add(1)?;
    let parts: [fn(&NdArray) -> Result<NdArray>; 5] = [
        |a| Ok(a.clone()),
        |a| a.flip(0),
        |a| Ok(a.transpose()),
        |a| a.row(1),
        |a| a.get(&s![..1, ..]),
    ];
    for how in HOW {
        for (layout, view) in layout_matrix(&source)? {
            for (number, part) in parts.iter().enumerate() {
                let alone = view.dup()?;
                let list = fancy![[2, 0, 1, 2]];
                alone.scatter_fancyi(how, &list, &part(&view)?.dup()?)?;
                let shared = view.dup()?;
                shared.scatter_fancyi(how, &list, &part(&shared)?)?;
                checked += 1;
                if shared != alone {
                    failed.push(format!("{how:?} with part {number}, {layout}"));
                }
            }
        }
    }
    report(checked, &failed);
    Ok(())
}

#[test]
fn nothing_is_written_when_a_position_or_the_values_do_not_fit() -> Result<()> {
    let (mut checked, mut failed) = (0, Vec::new());
    let source = numbered(DType::F32, &[3, 4])?.add(1)?;
    let beyond = NdArray::from([0i64, 1, 3]);
    let vectors = NdArray::from([[0i64, 0], [1, 1], [2, -5]]);
    type Put = Box<dyn Fn(&NdArray, Scatter) -> bool>;
    let puts: Vec<Put> = vec![
        Box::new(move |a, how| a.scatter_fancyi(how, &fancy![[0, 1, 3]], 2).is_err()),
        Box::new(move |a, how| a.scatter_fancyi(how, &fancy![[0, 1], [0, -5]], 2).is_err()),
        Box::new(move |a, how| a.scatter_ndi(how, &vectors, 2).is_err()),
        Box::new(move |a, how| {
            let values = NdArray::ones([3]).unwrap();
            a.scatter_fancyi(how, &fancy![[0, 1]], &values).is_err()
        }),
        Box::new(move |a, how| {
            match how {
                Scatter::Mul => a.scatter_muli(&beyond, 2, 0),
                Scatter::Div => a.scatter_divi(&beyond, 2, 0),
                Scatter::Max => a.scatter_maxi(&beyond, 99, 0),
                Scatter::Min => a.scatter_mini(&beyond, 0, 0),
                Scatter::Add => a.scatter_addi(&beyond, 2, 0),
                Scatter::Sub => a.scatter_subi(&beyond, 2, 0),
                _ => a.scatter_put(&beyond, 2, 0),
            }
            .is_err()
        }),
    ];
    for how in HOW {
        for (layout, view) in layout_matrix(&source)? {
            for (number, put) in puts.iter().enumerate() {
                checked += 1;
                if !put(&view, how) || view != source {
                    failed.push(format!("{how:?}, call {number}, {layout}"));
                }
            }
        }
    }
    report(checked, &failed);
    Ok(())
}

/// NaN wins against numbers from both sides, in every float type.
#[test]
fn extremes_keep_nan() -> Result<()> {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for how in [Scatter::Max, Scatter::Min] {
            let a = NdArray::from([1.0f64, f64::NAN, 3.0]).cast(dtype)?;
            let new = NdArray::from([f64::NAN, 7.0, 3.0, 2.0]).cast(dtype)?;
            a.scatter_fancyi(how, &fancy![[0, 1, 2, 0]], &new)?;
            let found = a.to_f64_vec()?;
            assert!(
                found[0].is_nan() && found[1].is_nan() && found[2] == 3.0,
                "{how:?} of {dtype}: {found:?}"
            );
        }
    }
    // Products round once: 255 squared needs more bits than the short floats have.
    let a = NdArray::full_of(DType::F16, [1], 255)?;
    a.scatter_fancyi(Scatter::Mul, &fancy![[0]], 255)?;
    assert_eq!(read::<f16>(&a), [f16::from_f64(255.0 * 255.0)]);
    Ok(())
}
