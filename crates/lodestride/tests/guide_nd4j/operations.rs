//! "Performing operations on NDArrays": copies and in-place forms, scalar and transform operations, broadcasting.

use lodestride::Result;
use lodestride::array::kernels::{BinaryOp, UnaryOp};
use lodestride::prelude::*;

use super::{figure_x, figure_y};

/// "Five types: scalar, transform, accumulation, index accumulation, broadcast; on the whole array or along a dimension."
#[test]
fn five_kinds_of_operations_on_the_whole_or_along_a_dimension() -> Result<()> {
    let y = figure_y();
    let scalar = y.add(1.0)?;
    assert_eq!(scalar.sum_number()?, 36.0 + 9.0);
    let transform = y.square()?;
    assert_eq!(transform.sum_number()?, 188.0);
    let along = y.softmax(1)?.sum(1)?;
    assert!(along.all_close(&NdArray::ones([3])?, 1e-6, 0.0)?);
    assert_eq!(y.sum_number()?, 36.0);
    assert_eq!(y.sum(0)?, NdArray::from([7.0f32, 14.0, 15.0]));
    assert_eq!(y.argmax_number()?, 1);
    assert_eq!(y.argmax(0)?, NdArray::from([1i64, 0, 2]));
    let broadcast = y.add(&NdArray::from([1.0f32, 2.0, 3.0]))?;
    assert_eq!(broadcast.row(0)?, NdArray::from([1.0f32, 10.0, 7.0]));
    Ok(())
}

/// "`INDArray z = x.add(y)`" and the figure "Add": x is not modified.
#[test]
fn add_leaves_x_as_it_is() -> Result<()> {
    let (x, y) = (figure_x(), figure_y());
    let z = x.add(&y)?;
    assert_eq!(
        z,
        NdArray::from([[1.0f32, 17.0, 9.0], [10.0, 6.0, 10.0], [4.0, 6.0, 12.0]])
    );
    assert_eq!((x, y), (figure_x(), figure_y()));
    Ok(())
}

/// "`INDArray z = x.addi(y)`" and the figure "Addi": the result is x itself.
#[test]
fn addi_changes_x_and_returns_it() -> Result<()> {
    let (x, y) = (figure_x(), figure_y());
    let z = x.addi(&y)?;
    assert!(std::ptr::eq(z, &x), "the same object");
    assert_eq!(x, figure_x().add(&y)?);
    assert_eq!(y, figure_y());
    Ok(())
}

/// "The convention (...i is in place, without i a copy) applies to other operations."
#[test]
fn every_operation_has_a_copying_and_an_in_place_form() -> Result<()> {
    type Copying = fn(&NdArray, &NdArray) -> lodestride::array::Result<NdArray>;
    type InPlace = for<'a> fn(&'a NdArray, &NdArray) -> lodestride::array::Result<&'a NdArray>;
    let pairs: [(Copying, InPlace); 6] = [
        (|a, b| a.add(b), |a, b| a.addi(b)),
        (|a, b| a.sub(b), |a, b| a.subi(b)),
        (|a, b| a.mul(b), |a, b| a.muli(b)),
        (|a, b| a.div(b), |a, b| a.divi(b)),
        (|a, b| a.rsub(b), |a, b| a.rsubi(b)),
        (|a, b| a.rdiv(b), |a, b| a.rdivi(b)),
    ];
    for (copying, in_place) in pairs {
        let x = figure_x();
        let expected = copying(&x, &figure_y())?;
        assert_eq!(x, figure_x());
        in_place(&x, &figure_y())?;
        assert_eq!(x, expected);
    }
    Ok(())
}

/// "Examples of scalar operations are add, max, multiply, set and divide"; "`addi(Number)` and `divi(Number)`".
#[test]
fn scalar_operations_take_one_number() -> Result<()> {
    let row = NdArray::from([1.0f32, 2.0, 3.0]);
    let copies = [
        (row.add(1)?, [2.0f32, 3.0, 4.0]),
        (row.maximum(2.0)?, [2.0, 2.0, 3.0]),
        (row.mul(2)?, [2.0, 4.0, 6.0]),
        (row.div(2)?, [0.5, 1.0, 1.5]),
        (row.full_like(9.0)?, [9.0, 9.0, 9.0]),
    ];
    for (found, expected) in copies {
        assert_eq!(found, NdArray::from(expected));
    }
    row.addi(1)?.divi(2.0)?;
    assert_eq!(row, NdArray::from([1.0f32, 1.5, 2.0]));
    row.assign(9.0)?;
    assert_eq!(row, NdArray::from([9.0f32; 3]));
    Ok(())
}

/// "`execAndReturn(new ScalarAdd(myArray,1.0))` modifies myArray; if that is not wanted, use `myArray.dup()`."
#[test]
fn an_executed_scalar_add_changes_the_array() -> Result<()> {
    let my_array = figure_x();
    let kept = my_array.dup()?;
    let returned = my_array.apply_withi(BinaryOp::Add, 1.0)?;
    assert!(std::ptr::eq(returned, &my_array));
    assert_eq!(my_array, kept.add(1.0)?);
    let from_copy = kept.dup()?;
    from_copy.apply_withi(BinaryOp::Add, 1.0)?;
    assert_eq!(kept, figure_x());
    Ok(())
}

/// "Transform operations: logarithm, cosine, tanh, rectified linear; also add, subtract, copy; softmax along a dimension."
#[test]
fn transforms_work_element_by_element() -> Result<()> {
    type Reference = fn(f64) -> f64;
    let row = NdArray::from([-1.0f64, 0.5, 2.0]);
    let cases: [(NdArray, Reference); 4] = [
        (row.abs()?.log()?, |v| v.abs().ln()),
        (row.cos()?, f64::cos),
        (row.tanh()?, f64::tanh),
        (row.relu()?, |v| v.max(0.0)),
    ];
    for (found, reference) in cases {
        let expected = NdArray::from([reference(-1.0), reference(0.5), reference(2.0)]);
        // A few units in the last place: the functions are not those of the standard library.
        assert!(
            found.all_close(&expected, 1e-15, 0.0)?,
            "{found} {expected}"
        );
    }
    let copy = row.zeros_like()?;
    copy.assign(&row)?;
    assert_eq!(copy, row);
    let softmax = NdArray::from([[1.0f64, 1.0], [0.0, 3f64.ln()]]).softmax(1)?;
    assert!(softmax.all_close(&NdArray::from([[0.5, 0.5], [0.25, 0.75]]), 1e-15, 0.0)?);
    Ok(())
}

/// "`execAndReturn(new Tanh(myArr))` is in place: the returned tanh is the same object as the input."
#[test]
fn an_executed_tanh_is_in_place_and_found_by_name() -> Result<()> {
    let my_arr = figure_x();
    let kept = my_arr.dup()?;
    let tanh = my_arr.applyi(UnaryOp::Tanh)?;
    assert!(std::ptr::eq(tanh, &my_arr));
    assert_eq!(my_arr, kept.tanh()?);
    let by_name = UnaryOp::from_name("tanh").map(|op| kept.apply(op));
    assert_eq!(by_name.transpose()?, Some(my_arr));
    Ok(())
}

/// "`Transforms.tanh(INDArray in, boolean copy)`."
#[test]
fn tanh_is_a_copy_or_in_place() -> Result<()> {
    let input = figure_x();
    let copied = input.tanh()?;
    assert_eq!(input, figure_x());
    assert!(!copied.shares_memory(&input));
    input.tanhi()?;
    assert_eq!(input, copied);
    Ok(())
}

/// "`x.addRowVector(y)` adds y to each row of x": the figure.
#[test]
fn add_row_vector_gives_the_figure() -> Result<()> {
    let (x, y) = (figure_x(), NdArray::from([1.0f32, 2.0, 3.0]));
    let expected = NdArray::from([[2.0f32, 11.0, 8.0], [6.0, 5.0, 8.0], [3.0, 5.0, 9.0]]);
    assert_eq!(x.add_row_vector(&y)?, expected);
    assert_eq!(x.add_row_vector(&y.reshape([1, 3])?)?, expected);
    assert_eq!(x, figure_x());
    Ok(())
}

/// "There are in-place and copy versions, and column versions": `muliColumnVector`, `addColumnVector`.
#[test]
fn row_and_column_vectors_come_in_both_forms() -> Result<()> {
    let (x, y) = (figure_x(), NdArray::from([1.0f32, 2.0, 3.0]));
    assert_eq!(
        x.add_column_vector(&y)?,
        NdArray::from([[2.0f32, 10.0, 6.0], [7.0, 5.0, 7.0], [5.0, 6.0, 9.0]])
    );
    x.addi_row_vector(&y)?;
    assert_eq!(x, figure_x().add_row_vector(&y)?);
    x.muli_column_vector(&y)?;
    assert_eq!(
        x,
        NdArray::from([[2.0f32, 11.0, 8.0], [12.0, 10.0, 16.0], [9.0, 15.0, 27.0]])
    );
    Ok(())
}

/// "Boolean indexing: coming soon."
#[test]
fn operations_apply_where_a_condition_holds() -> Result<()> {
    let x = figure_x();
    let large = x.greater(4.0)?;
    assert_eq!(
        x.select_where(&large)?,
        NdArray::from([9.0f32, 5.0, 5.0, 5.0, 6.0])
    );
    x.replace_where(&large, 0)?;
    assert_eq!(
        x,
        NdArray::from([[1.0f32, 0.0, 0.0], [0.0, 3.0, 0.0], [2.0, 3.0, 0.0]])
    );
    Ok(())
}
