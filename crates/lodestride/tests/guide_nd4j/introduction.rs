//! "Introduction": rank, shape, length, stride, dtype; how arrays lie in memory; views.

use lodestride::Result;
use lodestride::array::kernels::BinaryOp;
use lodestride::prelude::*;

use super::figure_x;

/// "Some concepts you should be familiar with."
#[test]
fn an_array_has_rank_shape_length_strides_and_dtype() -> Result<()> {
    let array = NdArray::zeros([3, 5])?;
    assert_eq!(array.rank(), 2);
    assert_eq!(array.shape()[..], [3, 5]);
    assert_eq!(array.len(), 15);
    assert_eq!(array.strides()[..], [5, 1]);
    assert_eq!(array.dtype(), DType::F32);
    for rank in 0..10 {
        let array = NdArray::ones(vec![2; rank])?;
        assert_eq!(
            (array.rank(), array.strides().len()),
            (rank, rank),
            "one stride per dimension"
        );
        assert_eq!(array.len(), array.shape().iter().product::<usize>());
    }
    Ok(())
}

/// "Dimension 0 is rows, dimension 1 is columns, indices start at 0."
#[test]
fn rows_and_columns_count_from_zero() -> Result<()> {
    let array = NdArray::arange(0, 15, 1)?.reshape([3, 5])?;
    assert_eq!((array.size(0)?, array.size(1)?), (3, 5));
    assert_eq!(
        (array.get_f64([0, 0])?, array.get_f64([2, 4])?),
        (0.0, 14.0)
    );
    assert!(array.row(3).is_err() && array.column(5).is_err());
    Ok(())
}

/// "The figure shows how a simple 3x3 array is stored": C and F order.
#[test]
fn a_three_by_three_array_lies_in_c_or_f_order() -> Result<()> {
    let c = NdArray::arange_of(DType::F32, 1, 10, 1)?.reshape([3, 3])?;
    let f = c.dup_order(Order::F)?;
    for array in [&c, &f] {
        assert_eq!(
            (array.shape().to_vec(), array.rank(), array.len()),
            (vec![3, 3], 2, 9)
        );
    }
    assert_eq!(c.strides()[..], [3, 1]);
    assert_eq!(f.strides()[..], [1, 3]);
    assert_eq!(
        c.buffer().read()?.slice::<f32>(),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    );
    assert_eq!(
        f.buffer().read()?.slice::<f32>(),
        [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0]
    );
    Ok(())
}

/// "ND4J can use a combination of C and F order arrays at the same time."
#[test]
fn c_and_f_arrays_mix_and_the_default_is_c() -> Result<()> {
    let c = figure_x();
    let f = c.dup_order(Order::F)?;
    assert_eq!(c, f);
    assert_eq!(c.add(&f)?, c.mul(2.0)?);
    assert_eq!(f.apply_with(BinaryOp::Sub, &c)?.sum_number()?, 0.0);
    assert_eq!(NdArray::zeros([3, 3])?.order(), Some(Order::C));
    Ok(())
}

/// "Java arrays are limited to 2^31 - 1 elements": lengths and indices here have 64 bits.
#[test]
fn lengths_have_no_limit_of_31_bits() -> Result<()> {
    let long = NdArray::from([7.0f32]).broadcast_to([1usize << 33])?;
    assert_eq!(long.len(), 1 << 33);
    assert_eq!(long.get_f64([(1usize << 33) - 1])?, 7.0);
    Ok(())
}

/// "Two arrays can refer to the same data": which methods give views.
#[test]
fn get_transpose_and_get_row_are_views() -> Result<()> {
    let array = figure_x();
    let views = [
        array.get(&s![1.., ..2])?,
        array.transpose(),
        array.row(0)?,
        array.clone(),
    ];
    for view in &views {
        assert!(view.shares_memory(&array));
    }
    assert!(views[0].is_view() && views[1].is_view() && views[2].is_view());
    array.set([1, 0], 50.0)?;
    assert_eq!(views[0].get_f64([0, 0])?, 50.0);
    assert_eq!(views[1].get_f64([0, 1])?, 50.0);
    assert_eq!(views[3].get_f64([1, 0])?, 50.0);
    Ok(())
}

/// "A transpose of a 10000x1000 matrix in constant time, without any copy."
#[test]
fn transposing_a_large_matrix_copies_nothing() -> Result<()> {
    let matrix = NdArray::zeros_of(DType::U8, [10_000, 1_000])?;
    let before = memory::thread_stats().heap_bytes_allocated;
    let transposed = matrix.transpose();
    assert_eq!(memory::thread_stats().heap_bytes_allocated, before);
    assert_eq!(transposed.shape()[..], [1_000, 10_000]);
    assert_eq!(transposed.strides()[..], [1, 1_000]);
    transposed.set([999, 9_999], 3)?;
    assert_eq!(matrix.get_i64([9_999, 999])?, 3);
    Ok(())
}

/// "`INDArray out = myMatrix.transpose().dup()`: no link between the two."
#[test]
fn dup_cuts_the_link_to_the_original() -> Result<()> {
    let my_matrix = figure_x();
    let out = my_matrix.transpose().dup()?;
    assert!(!out.shares_memory(&my_matrix));
    out.set([0, 0], 100.0)?;
    my_matrix.set([2, 2], 200.0)?;
    assert_eq!(my_matrix.get_f64([0, 0])?, 1.0);
    assert_eq!(out.get_f64([2, 2])?, 6.0);
    Ok(())
}

/// "`myArray.getRow(0).addi(1.0)`": the change shows in the parent, and changes of the parent in the row.
#[test]
fn get_row_addi_is_seen_through_the_parent() -> Result<()> {
    let my_array = figure_x();
    let row = my_array.row(0)?;
    my_array.row(0)?.addi(1.0)?;
    assert_eq!(
        my_array,
        NdArray::from([[2.0f32, 10.0, 6.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]])
    );
    assert_eq!(row, NdArray::from([2.0f32, 10.0, 6.0]));
    my_array.muli(10.0)?;
    assert_eq!(row, NdArray::from([20.0f32, 100.0, 60.0]));
    Ok(())
}
