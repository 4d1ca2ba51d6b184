//! "Accumulation (reduction) operations" and "index accumulation operations".

use lodestride::Result;
use lodestride::prelude::*;

use super::{assert_prints, figure_y};

/// "`new Sum(myArray)` .. `doubleValue()`, or `myArray.sumNumber().doubleValue()`."
#[test]
fn over_the_whole_array_a_number_is_returned() -> Result<()> {
    let my_array = figure_y();
    let sum: f64 = my_array.sum_number()?;
    assert_eq!(sum, 36.0);
    assert_eq!(my_array.sum(..)?.item::<f32>()?, 36.0);
    Ok(())
}

/// "`exec(new Sum(myArray), 0)` or `myArray.sum(0)`": the figure "Sum along dimension 0", of shape [1,3].
#[test]
fn the_sum_along_dimension_0_is_a_row() -> Result<()> {
    let sum_of_columns = figure_y().sum(keep(0))?;
    assert_eq!(sum_of_columns.shape()[..], [1, 3]);
    assert_prints(&sum_of_columns, "[[7.00, 14.00, 15.00]]");
    assert_eq!(figure_y().sum(0)?, NdArray::from([7.0f32, 14.0, 15.0]));
    Ok(())
}

/// "Along dimension 1 we would get a column vector of shape [3,1] and values (12,13,11)."
#[test]
fn the_sum_along_dimension_1_is_a_column() -> Result<()> {
    let sum_of_rows = figure_y().sum(keep(1))?;
    assert_eq!(sum_of_rows.shape()[..], [3, 1]);
    assert_eq!(sum_of_rows, NdArray::from([[12.0f32], [13.0], [11.0]]));
    assert_eq!(figure_y().sum(1)?, NdArray::from([12.0f32, 13.0, 11.0]));
    Ok(())
}

/// "Accumulations along dimensions generalise to 3 or more dimensions."
#[test]
fn reductions_extend_to_more_dimensions() -> Result<()> {
    let cube = NdArray::arange_of(DType::F32, 0, 24, 1)?.reshape([2, 3, 4])?;
    assert_eq!(cube.sum([0, 2])?, NdArray::from([60.0f32, 92.0, 124.0]));
    assert_eq!(cube.max(keep([1, 2]))?.shape()[..], [2, 1, 1]);
    let four = cube.reshape([2, 3, 2, 2])?;
    assert_eq!(four.mean([0, 1, 3])?, NdArray::from([10.5f32, 12.5]));
    Ok(())
}

/// "They return an integer index instead of a double: IMax, IMin, IAMax" over the whole array.
#[test]
fn index_reductions_return_integers() -> Result<()> {
    let my_array = figure_y();
    let idx: usize = my_array.argmax_number()?;
    assert_eq!(idx, 1);
    assert_eq!(my_array.argmin_number()?, 0);
    let negative = my_array.sub(6.0)?;
    assert_eq!(negative.argmax_number()?, 1);
    assert_eq!(
        negative.arg_abs_max(..)?.item::<i64>()?,
        0,
        "-6 has the largest magnitude"
    );
    assert_eq!(my_array.argmax(0)?.dtype(), DType::I64);
    Ok(())
}

/// "`exec(new IAMax(myArray), 0)`": the figure "Argmax / IAMax"; along 1 the column (1,0,2).
#[test]
fn iamax_gives_the_figure_along_both_dimensions() -> Result<()> {
    let my_array = figure_y();
    let idx_of_max_in_each_column = my_array.arg_abs_max(keep(0))?;
    assert_eq!(idx_of_max_in_each_column, NdArray::from([[1i64, 0, 2]]));
    let in_each_row = my_array.arg_abs_max(keep(1))?;
    assert_eq!(in_each_row, NdArray::from([[1i64], [0], [2]]));
    assert_eq!(my_array.argmax(0)?, NdArray::from([1i64, 0, 2]));
    Ok(())
}
