//! "Getting and setting individual values" and "parts of NDArrays": elements, rows, sub-arrays, tensors along dimensions.

use lodestride::Result;
use lodestride::array::{ArrayErrorKind, NdIndexIterator, interval_step};
use lodestride::prelude::*;

use super::figure_x;

/// "`getDouble(int row, int column)` and, for any rank, `getDouble(int...)`."
#[test]
fn values_are_read_by_one_index_per_dimension() -> Result<()> {
    assert_eq!(figure_x().get_f64([0, 1])?, 9.0);
    let (i, j, k) = (1, 2, 3);
    let cube = NdArray::arange(0, 24, 1)?.reshape([2, 3, 4])?;
    assert_eq!(cube.get_f64([i, j, k])?, 23.0);
    assert!(matches!(
        cube.get_f64([i, j]).unwrap_err().kind(),
        ArrayErrorKind::IndexCount { .. }
    ));
    Ok(())
}

/// "`putScalar(int[], double)`, `putScalar(int[], float)`, `putScalar(int[], int)`."
#[test]
fn values_are_set_from_any_kind_of_number() -> Result<()> {
    let array = NdArray::zeros([2, 2])?;
    array
        .set([0, 0], 1.5f64)?
        .set([0, 1], 2.5f32)?
        .set([1, 0], 3)?;
    assert_eq!(array.to_vec::<f32>()?, [1.5, 2.5, 3.0, 0.0]);
    Ok(())
}

/// "The order of `NdIndexIterator` is [0,0,0], [0,0,1], [0,0,2], .., [0,1,0], .."
#[test]
fn the_index_iterator_walks_in_c_order() -> Result<()> {
    let cube = NdArray::zeros([2, 2, 3])?;
    let seen: Vec<String> = NdIndexIterator::new(cube.shape(), Order::C)
        .map(|index| format!("{:?}", &index[..]))
        .collect();
    assert_eq!(
        seen[..5],
        [
            "[0, 0, 0]",
            "[0, 0, 1]",
            "[0, 0, 2]",
            "[0, 1, 0]",
            "[0, 1, 1]"
        ]
    );
    assert_eq!((seen.len(), seen[11].as_str()), (12, "[1, 1, 2]"));
    Ok(())
}

/// "To iterate over the values of a two-dimensional array": the guide's loop.
#[test]
fn a_loop_over_indices_sees_every_value() -> Result<()> {
    let my_array = figure_x();
    let mut seen = Vec::new();
    for next_index in NdIndexIterator::new(my_array.shape(), Order::C) {
        let next_value = my_array.get_f64(&next_index[..])?;
        seen.push(next_value);
    }
    assert_eq!(seen, [1.0, 9.0, 5.0, 5.0, 3.0, 5.0, 2.0, 3.0, 6.0]);
    Ok(())
}

/// "`getRow(int)` is a view; for a copy use `getRow(int).dup()`."
#[test]
fn a_row_is_a_view_and_its_dup_is_not() -> Result<()> {
    let my_array = NdArray::arange_of(DType::F32, 0, 12, 1)?.reshape([4, 3])?;
    my_array.row(3)?.addi(1.0)?;
    assert_eq!(my_array.row(3)?.to_vec::<f32>()?, [10.0, 11.0, 12.0]);
    assert_eq!(my_array.row(2)?.to_vec::<f32>()?, [6.0, 7.0, 8.0]);
    my_array.row(0)?.dup()?.addi(100.0)?;
    assert_eq!(my_array.row(0)?.to_vec::<f32>()?, [0.0, 1.0, 2.0]);
    Ok(())
}

/// "`getRows(int...)` returns the rows stacked; a copy, a view is not possible."
#[test]
fn get_rows_is_a_copy_of_stacked_rows() -> Result<()> {
    let my_array = figure_x();
    let rows = my_array.get_rows([2, 0, 2])?;
    assert_eq!(
        rows,
        NdArray::from([[2.0f32, 3.0, 6.0], [1.0, 9.0, 5.0], [2.0, 3.0, 6.0]])
    );
    assert!(!rows.shares_memory(&my_array));
    rows.assign(0)?;
    assert_eq!(my_array, figure_x());
    Ok(())
}

/// "`putRow(int rowIdx, INDArray row)` sets a single row."
#[test]
fn put_row_sets_one_row() -> Result<()> {
    let my_array = figure_x();
    my_array.put_row(1, &NdArray::from([7.0f32, 8.0, 9.0]))?;
    assert_eq!(
        my_array,
        NdArray::from([[1.0f32, 9.0, 5.0], [7.0, 8.0, 9.0], [2.0, 3.0, 6.0]])
    );
    Ok(())
}

/// "`get(point(rowIdx), all())`, `get(interval(a,b), all())`, `get(all(), interval(0,2,nCols))`."
#[test]
fn get_takes_points_intervals_and_all() -> Result<()> {
    let my_array = NdArray::arange_of(DType::F32, 0, 20, 1)?.reshape([4, 5])?;
    let (row_idx, a, b, n_cols) = (2, 1, 3, 5);
    assert_eq!(my_array.get(&[point(row_idx), all()])?, my_array.row(2)?);
    let rows = my_array.get(&[interval(a, b), all()])?;
    assert_eq!(rows, my_array.get_rows([1, 2])?, "a included, b excluded");
    // Begin, stride, end: every second column.
    let columns = my_array.get(&[all(), interval_step(0, 2, n_cols)])?;
    assert_eq!(columns, my_array.get_columns([0, 2, 4])?);
    // The same in short.
    assert_eq!(my_array.get(&s![1..3, ..])?, rows);
    assert_eq!(my_array.get(&s![.., 0..5; 2])?, columns);
    Ok(())
}

/// "For three dimensions, provide three `NDArrayIndex` objects instead of two."
#[test]
fn indices_extend_to_more_dimensions() -> Result<()> {
    let cube = NdArray::arange_of(DType::F32, 0, 24, 1)?.reshape([2, 3, 4])?;
    let part = cube.get(&[point(1), all(), interval(1, 3)])?;
    assert_eq!(part.shape()[..], [3, 2]);
    assert_eq!(part.to_vec::<f32>()?, [13.0, 14.0, 17.0, 18.0, 21.0, 22.0]);
    let four = cube.reshape([2, 3, 2, 2])?.get(&s![.., 0, 1, 0])?;
    assert_eq!(four.to_vec::<f32>()?, [2.0, 14.0]);
    Ok(())
}

/// "These indices always return a view: changes are reflected in the original."
#[test]
fn get_always_returns_a_view() -> Result<()> {
    let my_array = NdArray::zeros([3, 4])?;
    for indices in [
        vec![point(0), all()],
        vec![all(), interval(1, 2)],
        vec![all(), interval_step(0, 2, 4)],
    ] {
        let part = my_array.get(&indices)?;
        assert!(part.shares_memory(&my_array));
        part.addi(1)?;
    }
    assert_eq!(
        my_array,
        NdArray::from([
            [2.0f32, 2.0, 2.0, 1.0],
            [1.0, 1.0, 1.0, 0.0],
            [1.0, 1.0, 1.0, 0.0]
        ])
    );
    Ok(())
}

/// "`put(INDArrayIndex[], toPut)`: the size must match the indices; the same as `get(..).assign(other)`."
#[test]
fn put_is_get_and_assign() -> Result<()> {
    let (put, assigned) = (NdArray::zeros([3, 4])?, NdArray::zeros([3, 4])?);
    let other = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let indices = [interval(1, 3), interval(0, 2)];
    put.put(&indices, &other)?;
    assigned.get(&indices)?.assign(&other)?;
    assert_eq!(put, assigned);
    assert_eq!(put.get(&s![1.., ..2])?, other);
    let error = put.put(&[interval(0, 1), all()], &other).unwrap_err();
    assert!(matches!(error.kind(), ArrayErrorKind::InPlaceShape { .. }));
    Ok(())
}

/// The figure "Tensor Along Dimension": a view, a row vector for one dimension.
#[test]
fn tensors_along_one_dimension_of_the_figure() -> Result<()> {
    let my_array = figure_x();
    let along_0 = [[1.0f32, 5.0, 2.0], [9.0, 3.0, 3.0], [5.0, 5.0, 6.0]];
    let along_1 = [[1.0f32, 9.0, 5.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]];
    for (dimension, tensors) in [(0, along_0), (1, along_1)] {
        assert_eq!(my_array.tensors_along_dimension(dimension)?, 3);
        for (index, values) in tensors.into_iter().enumerate() {
            let tensor = my_array.tensor_along_dimension(index, dimension)?;
            assert_eq!(tensor, NdArray::from(values));
            assert!(tensor.shares_memory(&my_array));
            // The guide's row vector keeps the dimensions it drops.
            let row = my_array.tensor_along_dimension(index, keep(dimension))?;
            assert_eq!(row, NdArray::from([values]));
            assert!(row.is_row_vector());
        }
    }
    my_array.tensor_along_dimension(1, 1)?.assign(0)?;
    assert_eq!(my_array.row(1)?.to_vec::<f32>()?, [0.0; 3]);
    assert!(my_array.tensor_along_dimension(3, 0).is_err());
    Ok(())
}

/// "`tensorssAlongDimension(0)` = 3, `(1)` = 3, `(0,1)` = 1, `(1,0)` = 1."
#[test]
fn numbers_of_tensors_of_the_figure() -> Result<()> {
    let my_array = figure_x();
    assert_eq!(my_array.tensors_along_dimension(0)?, 3);
    assert_eq!(my_array.tensors_along_dimension(1)?, 3);
    assert_eq!(my_array.tensors_along_dimension([0, 1])?, 1);
    assert_eq!(my_array.tensors_along_dimension([1, 0])?, 1);
    for dimensions in [[0, 1], [1, 0]] {
        let tensor = my_array.tensor_along_dimension(0, dimensions)?;
        assert_eq!(
            tensor, my_array,
            "along all dimensions it is the array itself"
        );
        assert!(tensor.shares_memory(&my_array));
    }
    Ok(())
}

/// "The number of tensors is the product of the remaining sizes": the guide's list for [a,b,c] and [a,b,c,d].
#[test]
fn numbers_and_shapes_of_tensors_of_more_dimensions() -> Result<()> {
    let (a, b, c, d) = (2, 3, 4, 5);
    let three = NdArray::arange(0, 24, 1)?.reshape([2, 3, 4])?;
    let four = NdArray::arange(0, 120, 1)?.reshape([2, 3, 4, 5])?;
    let cases: [(&NdArray, &[usize], usize, Vec<usize>); 6] = [
        (&three, &[0], b * c, vec![a]),
        (&three, &[1], a * c, vec![b]),
        (&three, &[0, 1], c, vec![a, b]),
        (&three, &[1, 2], a, vec![b, c]),
        (&four, &[1, 2], a * d, vec![b, c]),
        (&four, &[0, 2, 3], b, vec![a, c, d]),
    ];
    for (array, dimensions, count, shape) in cases {
        assert_eq!(
            array.tensors_along_dimension(dimensions)?,
            count,
            "{dimensions:?}"
        );
        for i in 0..count {
            let tensor = array.tensor_along_dimension(i, dimensions)?;
            assert_eq!(tensor.shape()[..], shape[..], "{dimensions:?}");
            assert!(tensor.shares_memory(array));
        }
    }
    // One dimension gives the guide's [1, a] and [1, b] where it is asked for.
    assert_eq!(
        three.tensor_along_dimension(5, keep(0))?.shape()[..],
        [1, a]
    );
    assert_eq!(
        three.tensor_along_dimension(5, keep(1))?.shape()[..],
        [1, b]
    );
    Ok(())
}

/// "Slicing: coming soon."
#[test]
fn slices_are_views_along_a_dimension() -> Result<()> {
    let cube = NdArray::arange_of(DType::F32, 0, 24, 1)?.reshape([2, 3, 4])?;
    assert_eq!(cube.slice(1, 0)?, cube.get(&s![1])?);
    assert_eq!(
        cube.slice(2, 1)?.slice(1, 0)?.to_vec::<f32>()?,
        [20.0, 21.0, 22.0, 23.0]
    );
    assert!(cube.slice(1, 0)?.shares_memory(&cube));
    Ok(())
}
