//! "Advanced and miscellaneous topics": the data type, reshaping, flattening, permuting.

use std::process::Command;

use lodestride::Result;
use lodestride::array::with_default_dtype;
use lodestride::prelude::*;

use super::figure_x;

/// "The default is single precision. `Nd4j.setDataType(DataBuffer.Type.DOUBLE)`."
#[test]
fn the_default_dtype_is_single_precision_and_can_be_double() -> Result<()> {
    let single = NdArray::zeros([2, 2])?;
    assert_eq!(single.dtype(), DType::F32);
    let double = with_default_dtype(DType::F64, || NdArray::zeros([2, 2]))?;
    assert_eq!(double.dtype(), DType::F64);
    // The type belongs to the array: both kinds exist side by side and mix.
    assert_eq!(single.add(&double)?.dtype(), DType::F64);
    assert_eq!(NdArray::zeros([1])?.dtype(), DType::F32);
    Ok(())
}

/// "Alternatively, set the property when launching: `-Ddtype=double`." The test runs itself again with the variable set.
#[test]
fn the_environment_sets_the_default_dtype() -> Result<()> {
    const NAME: &str = "miscellaneous::the_environment_sets_the_default_dtype";
    const MARK: &str = "LODESTRIDE_GUIDE_CHILD";
    if std::env::var_os(MARK).is_some() {
        assert_eq!(NdArray::zeros([2])?.dtype(), DType::F64);
        return Ok(());
    }
    let this = std::env::current_exe().expect("a test knows its own path");
    let child = Command::new(this)
        .args([NAME, "--exact"])
        .env("LODESTRIDE_DTYPE", "f64")
        .env(MARK, "1")
        .output()
        .expect("a test can run itself");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
    Ok(())
}

/// "Reshape: coming soon."
#[test]
fn reshape_is_a_view_where_strides_permit() -> Result<()> {
    let x = figure_x();
    let flat = x.reshape([9])?;
    assert!(flat.shares_memory(&x));
    assert_eq!(x.reshape([-1, 1])?.shape()[..], [9, 1]);
    assert_eq!(
        x.transpose().reshape([9])?.to_vec::<f32>()?,
        [1.0, 5.0, 2.0, 9.0, 3.0, 3.0, 5.0, 5.0, 6.0]
    );
    assert!(x.transpose().view_as([9]).is_err());
    Ok(())
}

/// "`Nd4j.toFlattened(char order, INDArray... arrays)`: order c [0,0,0], [0,0,1], ..; order f [0,0,0], [1,0,0], .."
#[test]
fn to_flattened_walks_in_either_order() -> Result<()> {
    let cube = NdArray::arange_of(DType::F32, 0, 8, 1)?.reshape([2, 2, 2])?;
    let c = NdArray::to_flattened(Order::C, &[&cube])?;
    assert_eq!(c.to_vec::<f32>()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let f = NdArray::to_flattened(Order::F, &[&cube])?;
    assert_eq!(f.to_vec::<f32>()?, [0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0]);
    // Several arrays follow each other; how each lies in memory does not matter.
    let both = NdArray::to_flattened(
        Order::F,
        &[&cube.dup_order(Order::F)?, &figure_x().transpose()],
    )?;
    assert_eq!(both.len(), 17);
    assert_eq!(both.get(&s![..8])?, f);
    assert_eq!(
        both.get(&s![8..])?.to_vec::<f32>()?,
        figure_x().to_vec::<f32>()?
    );
    let collection = vec![&c, &f];
    assert_eq!(NdArray::to_flattened(Order::C, &collection)?.len(), 16);
    Ok(())
}

/// "Permute: coming soon."
#[test]
fn permute_is_a_view() -> Result<()> {
    let cube = NdArray::arange(0, 24, 1)?.reshape([2, 3, 4])?;
    let permuted = cube.permute([2, 0, 1])?;
    assert_eq!(permuted.shape()[..], [4, 2, 3]);
    assert_eq!(permuted.get_f64([3, 1, 2])?, cube.get_f64([1, 2, 3])?);
    assert!(permuted.shares_memory(&cube));
    Ok(())
}
