//! "Cheat sheet: an overview of ND4J's methods" and the two questions at the end, group by group.

use lodestride::Result;
use lodestride::array::kernels::UnaryOp;
use lodestride::prelude::*;

use super::{figure_x, figure_y};

/// "Creating NDArrays."
#[test]
fn sheet_creating() -> Result<()> {
    assert_eq!(NdArray::zeros([2, 3])?.sum_number()?, 0.0);
    assert_eq!(NdArray::ones([2, 3])?.sum_number()?, 6.0);
    let arr = figure_x();
    assert_eq!(arr.dup()?, arr);
    let my_double_arr: Vec<f64> = (1..=10).map(f64::from).collect();
    let my_row = NdArray::from(my_double_arr.clone());
    let my_col = NdArray::from_vec(my_double_arr, [10, 1])?;
    assert_eq!(
        (my_row.shape().to_vec(), my_col.shape().to_vec()),
        (vec![10], vec![10, 1])
    );
    let matrix = NdArray::from([[1.0f64, 2.0], [3.0, 4.0]]);
    assert_eq!(NdArray::hstack(&[&matrix, &matrix])?.shape()[..], [2, 4]);
    assert_eq!(NdArray::vstack(&[&matrix, &matrix])?.shape()[..], [4, 2]);
    for random in [NdArray::rand, NdArray::randn] {
        assert_eq!(random([3, 4])?.shape()[..], [3, 4]);
    }
    assert_eq!(NdArray::rand([2, 3, 4])?.rank(), 3);
    assert_eq!(NdArray::randn([2, 3, 4])?.rank(), 3);
    Ok(())
}

/// "Determining the size and dimensions of an INDArray."
#[test]
fn sheet_sizes() -> Result<()> {
    let arr = NdArray::zeros([3, 5])?;
    assert_eq!(
        (arr.rank(), arr.rows()?, arr.columns()?, arr.size(1)?),
        (2, 3, 5, 5)
    );
    assert_eq!((arr.shape().to_vec(), arr.len()), (vec![3, 5], 15));
    let (vector, row, column) = (
        NdArray::zeros([5])?,
        NdArray::zeros([1, 5])?,
        NdArray::zeros([5, 1])?,
    );
    let forms = |a: &NdArray| (a.is_matrix(), a.is_row_vector(), a.is_column_vector());
    assert_eq!(forms(&arr), (true, false, false));
    assert!(!arr.is_vector() && vector.is_vector() && row.is_vector() && column.is_vector());
    assert!(row.is_row_vector() && !row.is_column_vector());
    assert!(column.is_column_vector() && !column.is_row_vector());
    Ok(())
}

/// "Getting and setting individual values."
#[test]
fn sheet_single_values() -> Result<()> {
    let arr = figure_x();
    assert_eq!(arr.get_f64([2, 1])?, 3.0);
    let cube = NdArray::zeros([2, 2, 2])?;
    cube.set([1, 0, 1], 4.5)?;
    assert_eq!(cube.get_f64([1, 0, 1])?, 4.5);
    Ok(())
}

/// "Scalar operations": copies here, in place with an i.
#[test]
fn sheet_scalar_operations() -> Result<()> {
    type Form = fn(&NdArray) -> lodestride::array::Result<NdArray>;
    let cases: [(Form, Form, [f32; 3]); 6] = [
        (|a| a.add(2.0), |a| a.addi(2.0).cloned(), [3.0, 4.0, 6.0]),
        (|a| a.sub(2.0), |a| a.subi(2.0).cloned(), [-1.0, 0.0, 2.0]),
        (|a| a.mul(2.0), |a| a.muli(2.0).cloned(), [2.0, 4.0, 8.0]),
        (|a| a.div(2.0), |a| a.divi(2.0).cloned(), [0.5, 1.0, 2.0]),
        // Reversed: scalar - array, scalar / array.
        (|a| a.rsub(2.0), |a| a.rsubi(2.0).cloned(), [1.0, 0.0, -2.0]),
        (|a| a.rdiv(2.0), |a| a.rdivi(2.0).cloned(), [2.0, 1.0, 0.5]),
    ];
    for (copying, in_place, expected) in cases {
        let arr = NdArray::from([1.0f32, 2.0, 4.0]);
        assert_eq!(copying(&arr)?, NdArray::from(expected));
        assert_eq!(arr, NdArray::from([1.0f32, 2.0, 4.0]));
        in_place(&arr)?;
        assert_eq!(arr, NdArray::from(expected));
    }
    Ok(())
}

/// "Element-wise operations": add, sub, mul, div, assign.
#[test]
fn sheet_element_wise_operations() -> Result<()> {
    type Form = for<'a> fn(&'a NdArray, &NdArray) -> lodestride::array::Result<NdArray>;
    let cases: [(Form, Form, [f32; 2]); 4] = [
        (|a, b| a.add(b), |a, b| a.addi(b).cloned(), [10.0, 6.0]),
        (|a, b| a.sub(b), |a, b| a.subi(b).cloned(), [6.0, -2.0]),
        (|a, b| a.mul(b), |a, b| a.muli(b).cloned(), [16.0, 8.0]),
        (|a, b| a.div(b), |a, b| a.divi(b).cloned(), [4.0, 0.5]),
    ];
    let arr2 = NdArray::from([2.0f32, 4.0]);
    for (copying, in_place, expected) in cases {
        let arr1 = NdArray::from([8.0f32, 2.0]);
        assert_eq!(copying(&arr1, &arr2)?, NdArray::from(expected));
        assert_eq!(arr1, NdArray::from([8.0f32, 2.0]), "arr1 is not modified");
        in_place(&arr1, &arr2)?;
        assert_eq!(arr1, NdArray::from(expected), "arr1 is modified");
    }
    let arr1 = NdArray::zeros([2])?;
    arr1.assign(&arr2)?;
    assert_eq!(arr1, arr2);
    Ok(())
}

/// "Reduction operations" over the entire array.
#[test]
fn sheet_reductions() -> Result<()> {
    let arr = NdArray::from([[1.0f64, -2.0], [3.0, -4.0]]);
    assert_eq!(arr.sum_number()?, -2.0);
    assert_eq!(arr.prod_number()?, 24.0);
    assert_eq!(arr.norm1_number()?, 10.0);
    assert!((arr.norm2_number()? - 30f64.sqrt()).abs() < 1e-14);
    // ND4J's standard deviation divides by n - 1: squared deviations from -0.5 add up to 29.
    assert!((arr.std_number()? - (29.0f64 / 3.0).sqrt()).abs() < 1e-14);
    Ok(())
}

/// "Linear algebra": matrix product, transpose, diagonal.
#[test]
fn sheet_linear_algebra() -> Result<()> {
    let arr1 = NdArray::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let product = arr1.mmul(&arr1.transpose())?;
    assert_eq!(product, NdArray::from([[14.0f32, 32.0], [32.0, 77.0]]));
    assert_eq!(arr1.transpose().row(2)?, arr1.column(2)?);
    assert_eq!(figure_x().diag(0)?, NdArray::from([1.0f32, 3.0, 6.0]));
    Ok(())
}

/// "Getting parts of a larger NDArray": all of them views but `getRows`.
#[test]
fn sheet_parts() -> Result<()> {
    let arr = NdArray::arange_of(DType::F32, 0, 20, 1)?.reshape([5, 4])?;
    assert_eq!(arr.row(1)?.to_vec::<f32>()?, [4.0, 5.0, 6.0, 7.0]);
    assert_eq!(
        arr.get_rows([0, 4])?.column(0)?.to_vec::<f32>()?,
        [0.0, 16.0]
    );
    arr.put_row(4, &NdArray::zeros([4])?)?;
    assert_eq!(arr.row(4)?.sum_number()?, 0.0);
    let first_three = arr.get(&[interval(0, 3), all()])?;
    assert_eq!(first_three.shape()[..], [3, 4]);
    assert!(first_three.shares_memory(&arr));
    Ok(())
}

/// "Element transforms": `Transforms.sin`, `log`, `sigmoid`; directly; and by name.
#[test]
fn sheet_transforms() -> Result<()> {
    let arr = figure_y().add(0.5)?;
    let reference = |f: fn(f64) -> f64| -> Result<NdArray> {
        let values: Vec<f64> = arr.to_f64_vec()?.into_iter().map(f).collect();
        Ok(NdArray::from_vec(values, [3, 3])?.cast(DType::F32)?)
    };
    // Two units in the last place of f32.
    let close = |found: &NdArray, expected: &NdArray| found.all_close(expected, 2.4e-7, 1e-7);
    assert!(close(&arr.sin()?, &reference(f64::sin)?)?);
    assert!(close(&arr.log()?, &reference(f64::ln)?)?);
    assert!(close(
        &arr.sigmoid()?,
        &reference(|v| 1.0 / (1.0 + (-v).exp()))?
    )?);
    assert!(close(&arr.apply(UnaryOp::Tanh)?, &reference(f64::tanh)?)?);
    let by_name = UnaryOp::from_name("tanh").expect("tanh is an op");
    assert_eq!(arr.apply(by_name)?, arr.tanh()?);
    assert_eq!(UnaryOp::from_name("no such op"), None);
    Ok(())
}

/// "Can the size of an INDArray be changed? Workaround 1: allocate a new array and copy, for example with put."
#[test]
fn question_growing_by_copying_into_a_larger_array() -> Result<()> {
    let small = figure_x();
    let larger = NdArray::zeros([4, 5])?;
    larger.put(&[interval(0, 3), interval(0, 3)], &small)?;
    assert_eq!(larger.get(&s![..3, ..3])?, small);
    assert_eq!(larger.sum_number()?, small.sum_number()?);
    Ok(())
}

/// "Workaround 2: pre-allocate more than needed, work on a view of it, and take larger views as required."
#[test]
fn question_growing_by_larger_views() -> Result<()> {
    let preallocated = NdArray::zeros([8, 2])?;
    for rows in 1..=8 {
        let view = preallocated.get(&[interval(0, rows), all()])?;
        view.row(-1)?.assign(rows as f64)?;
        assert_eq!(view.sum(0)?.get_f64([0])?, (rows * (rows + 1) / 2) as f64);
        assert!(view.shares_memory(&preallocated));
    }
    Ok(())
}
