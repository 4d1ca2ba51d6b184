//! "Creating NDArrays": filled, random, from host arrays, from other arrays.

use lodestride::Result;
use lodestride::array::set_seed;
use lodestride::prelude::*;

use super::assert_prints;

/// "The two most common ways": `zeros` and `ones`.
#[test]
fn zeros_and_ones_take_a_shape() -> Result<()> {
    let zeros = NdArray::zeros([3, 5])?;
    assert_eq!(zeros.to_vec::<f32>()?, [0.0; 15]);
    let ones = NdArray::ones([2, 3, 4])?;
    assert_eq!(
        (ones.shape().to_vec(), ones.to_vec::<f32>()?),
        (vec![2, 3, 4], vec![1.0; 24])
    );
    Ok(())
}

/// "`INDArray tens = Nd4j.zeros(3,5).addi(10)`."
#[test]
fn zeros_and_addi_make_tens() -> Result<()> {
    let zeros = NdArray::zeros([3, 5])?;
    let tens = zeros.addi(10)?;
    assert_eq!(tens.shape()[..], [3, 5]);
    assert_eq!(tens.to_vec::<f32>()?, [10.0; 15]);
    Ok(())
}

/// "`Nd4j.rand`: uniform random numbers in the range 0 to 1."
#[test]
fn rand_is_uniform_between_zero_and_one() -> Result<()> {
    set_seed(1);
    assert_eq!(NdArray::rand([2, 3, 4])?.shape()[..], [2, 3, 4]);
    let many = NdArray::rand([100, 200])?;
    assert!(many.min_number()? >= 0.0 && many.max_number()? < 1.0);
    // Five standard errors of the mean and of the deviation of 20,000 draws.
    assert!((many.mean_number()? - 0.5).abs() < 0.0103);
    assert!((many.std_number()? - 1.0 / 12.0f64.sqrt()).abs() < 0.005);
    Ok(())
}

/// "`Nd4j.randn`: Gaussian random numbers of mean zero and standard deviation 1."
#[test]
fn randn_has_mean_zero_and_deviation_one() -> Result<()> {
    set_seed(2);
    assert_eq!(NdArray::randn([2, 3, 4])?.shape()[..], [2, 3, 4]);
    let many = NdArray::randn([100, 200])?;
    // Five standard errors of 20,000 draws.
    assert!(many.mean_number()?.abs() < 0.036);
    assert!((many.std_number()? - 1.0).abs() < 0.025);
    Ok(())
}

/// "For repeatability: `Nd4j.getRandom().setSeed(long)`."
#[test]
fn a_seed_makes_random_arrays_repeatable() -> Result<()> {
    let draw = |seed| -> Result<_> {
        set_seed(seed);
        Ok((
            NdArray::rand([3, 4])?,
            NdArray::randn([2, 3, 4])?,
            NdArray::rand([3, 4])?,
        ))
    };
    let (first, second, other) = (draw(12345)?, draw(12345)?, draw(54321)?);
    assert_eq!(first, second);
    assert_ne!(first.0, other.0);
    assert_ne!(first.0, first.2, "the sequence goes on");
    Ok(())
}

/// "From a 1D Java array: `create(float[])` and `create(double[])`."
#[test]
fn a_vector_is_created_from_an_array() -> Result<()> {
    let floats = NdArray::from(vec![1.0f32, 2.0, 3.0]);
    let doubles = NdArray::from([1.0f64, 2.0, 3.0]);
    assert_eq!((floats.dtype(), doubles.dtype()), (DType::F32, DType::F64));
    // ND4J's row vector is [1, n]; here the rank is that of the values, and the row is a reshape away.
    assert_eq!((floats.rank(), floats.is_vector()), (1, true));
    let row = floats.reshape([1, -1])?;
    assert_eq!(
        (row.shape().to_vec(), row.is_row_vector()),
        (vec![1, 3], true)
    );
    Ok(())
}

/// "Column vectors: `create(float[], new int[]{length, 1})`."
#[test]
fn a_column_vector_is_created_with_its_shape() -> Result<()> {
    let column = NdArray::from_vec(vec![1.0f64, 2.0, 3.0], [3, 1])?;
    assert!(column.is_column_vector());
    assert_eq!(
        column.to_string().replace(char::is_whitespace, ""),
        "[[1.0],[2.0],[3.0]]"
    );
    Ok(())
}

/// "2D arrays: `create(float[][])` and `create(double[][])`."
#[test]
fn a_matrix_is_created_from_nested_arrays() -> Result<()> {
    let matrix = NdArray::from([[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(
        (matrix.shape().to_vec(), matrix.dtype()),
        (vec![2, 3], DType::F64)
    );
    let nested = NdArray::from_nested(vec![vec![1.0f64, 2.0, 3.0], vec![4.0, 5.0, 6.0]])?;
    assert_eq!(nested, matrix);
    Ok(())
}

/// "3 or more dimensions: `flattenDoubleArray`, then `create(flat, shape, 'c')`."
#[test]
fn any_rank_is_created_from_flattened_values() -> Result<()> {
    let my_double_array = [
        [[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]],
        [[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]],
    ];
    let flat: Vec<f64> = my_double_array
        .iter()
        .flatten()
        .flatten()
        .copied()
        .collect();
    let shape = [2, 3, 2];
    let my_array = NdArray::from_vec_order(flat.clone(), shape, Order::C)?;
    assert_eq!(my_array, NdArray::from(my_double_array));
    assert_eq!(my_array.get_f64([1, 0, 1])?, 8.0);
    // With 'f' the same values are read with the first index running fastest.
    let in_f = NdArray::from_vec_order(flat, shape, Order::F)?;
    assert_eq!(
        (in_f.get_f64([1, 0, 0])?, in_f.get_f64([0, 1, 0])?),
        (2.0, 3.0)
    );
    Ok(())
}

/// "`INDArray.dup()`: an exact copy of an existing array."
#[test]
fn dup_is_an_exact_copy() -> Result<()> {
    let array = NdArray::rand([3, 4])?;
    let copy = array.dup()?;
    assert_eq!(copy, array);
    assert_eq!((copy.dtype(), copy.order()), (array.dtype(), array.order()));
    assert!(!copy.shares_memory(&array));
    Ok(())
}

/// "### HSTACK ####", and: "the inputs may have different numbers of columns".
#[test]
fn hstack_prints_the_guides_output() -> Result<()> {
    let (zeros, ones) = (NdArray::zeros([2, 2])?, NdArray::ones([2, 2])?);
    let hstack = NdArray::hstack(&[&ones, &zeros])?;
    assert_prints(
        &hstack,
        "[[1.00, 1.00, 0.00, 0.00],
        [1.00, 1.00, 0.00, 0.00]]",
    );
    let wider = NdArray::hstack(&[&ones, &NdArray::zeros([2, 3])?])?;
    assert_eq!(wider.shape()[..], [2, 5]);
    assert!(NdArray::hstack(&[&ones, &NdArray::zeros([3, 2])?]).is_err());
    Ok(())
}

/// "### VSTACK ####", and: "the inputs must have the same number of columns".
#[test]
fn vstack_prints_the_guides_output() -> Result<()> {
    let (zeros, ones) = (NdArray::zeros([2, 2])?, NdArray::ones([2, 2])?);
    let vstack = NdArray::vstack(&[&ones, &zeros])?;
    assert_prints(
        &vstack,
        "[[1.00, 1.00],
         [1.00, 1.00],
         [0.00, 0.00],
         [0.00, 0.00]]",
    );
    assert!(NdArray::vstack(&[&ones, &NdArray::zeros([2, 3])?]).is_err());
    Ok(())
}

/// "### COMBINED dimension 0#### ### COMBINED dimension 1 ####".
#[test]
fn concat_prints_the_guides_output() -> Result<()> {
    let (zeros, ones) = (NdArray::zeros([2, 2])?, NdArray::ones([2, 2])?);
    let combined = NdArray::concat(&[&zeros, &ones], 0)?;
    assert_prints(
        &combined,
        "[[0.00, 0.00],
         [0.00, 0.00],
         [1.00, 1.00],
         [1.00, 1.00]]",
    );
    let combined2 = NdArray::concat(&[&zeros, &ones], 1)?;
    assert_prints(
        &combined2,
        "[[0.00, 0.00, 1.00, 1.00],
         [0.00, 0.00, 1.00, 1.00]]",
    );
    Ok(())
}

/// "### Padded ####".
#[test]
fn pad_prints_the_guides_output() -> Result<()> {
    let padded = NdArray::ones([2, 2])?.pad([1, 1], 0)?;
    assert_prints(
        &padded,
        "[[0.00, 0.00, 0.00, 0.00],
         [0.00, 1.00, 1.00, 0.00],
         [0.00, 1.00, 1.00, 0.00],
         [0.00, 0.00, 0.00, 0.00]]",
    );
    Ok(())
}

/// "`Nd4j.diag` has two uses."
#[test]
fn diag_works_both_ways() -> Result<()> {
    let vector = NdArray::from([1.0f32, 2.0, 3.0]);
    let matrix = vector.diag(0)?;
    assert_prints(
        &matrix,
        "[[1.00, 0.00, 0.00], [0.00, 2.00, 0.00], [0.00, 0.00, 3.00]]",
    );
    assert_eq!(matrix.diag(0)?, vector);
    Ok(())
}

/// "The identity matrix of size N: `Nd4j.eye(N)`."
#[test]
fn eye_is_the_identity_matrix() -> Result<()> {
    let eye = NdArray::eye(3)?;
    assert_prints(
        &eye,
        "[[1.00, 0.00, 0.00], [0.00, 1.00, 0.00], [0.00, 0.00, 1.00]]",
    );
    Ok(())
}

/// "`Nd4j.linspace(a, b, b-a+1)`, and `linspace(1,25,25).reshape(5,5)`."
#[test]
fn linspace_counts_and_reshapes() -> Result<()> {
    let (a, b) = (3usize, 9usize);
    let row = NdArray::linspace(a, b, b - a + 1)?;
    assert_eq!(row.to_vec::<f32>()?, [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let square = NdArray::linspace(1, 25, 25)?.reshape([5, 5])?;
    assert_prints(
        &square,
        "[[ 1.00,  2.00,  3.00,  4.00,  5.00],
          [ 6.00,  7.00,  8.00,  9.00, 10.00],
          [11.00, 12.00, 13.00, 14.00, 15.00],
          [16.00, 17.00, 18.00, 19.00, 20.00],
          [21.00, 22.00, 23.00, 24.00, 25.00]]",
    );
    Ok(())
}
