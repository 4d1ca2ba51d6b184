//! Level 1: vectors with vectors.
//!
//! All functions take arrays of any rank and one shape as well, as one long vector.

use lodestride_buffer::DType;

use super::{expect_floats, unlike, vector};
use crate::NdArray;
use crate::checks::{recorded, recorded_in};
use crate::error::{ArrayError, ArrayErrorKind, Result};

/// Two operands of one shape; vectors of one length may lie along different axes.
#[track_caller]
fn pair(op: &'static str, x: &NdArray, y: &NdArray, results: usize) -> Result<(NdArray, NdArray)> {
    expect_floats(op, &[x, y], results)?;
    if x.shape() == y.shape() {
        return Ok((x.clone(), y.clone()));
    }
    if x.is_vector() && y.is_vector() && x.len() == y.len() {
        return Ok((vector(op, x)?, vector(op, y)?));
    }
    let expected = "arrays of one shape, or vectors of one length";
    Err(unlike(op, expected, x, y))
}

/// Two operands that are both results.
#[track_caller]
fn results(op: &'static str, x: &NdArray, y: &NdArray) -> Result<(NdArray, NdArray)> {
    let both = pair(op, x, y, 2)?;
    x.expect_writable(op)?;
    y.expect_writable(op)?;
    if x.shares_memory(y) {
        return Err(unlike(op, "results that share no memory", x, y));
    }
    Ok(both)
}

/// Half floats as f32, in which their sums are computed.
#[track_caller]
fn widened(x: &NdArray) -> Result<NdArray> {
    match x.dtype() {
        DType::F16 | DType::BF16 => x.cast(DType::F32),
        _ => Ok(x.clone()),
    }
}

/// The sum of the products of elements.
///
/// # Errors
/// [`ArrayErrorKind::Operands`] for different shapes, [`ArrayErrorKind::MixedDTypes`] for different dtypes.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// assert_eq!(blas::dot(&NdArray::from([1.0f32, 2.0]), &NdArray::from([[3.0f32], [4.0]]))?, 11.0);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn dot(x: &NdArray, y: &NdArray) -> Result<f64> {
    recorded("dot", &[x, y], || {
        let (x, y) = pair("dot", x, y, 0)?;
        let (x, y) = (widened(&x)?.ravel()?, widened(&y)?.ravel()?);
        x.matmul(&y)?.sum_number()
    })
}

/// The Euclidean norm, without overflow or underflow of the squares.
///
/// # Errors
/// [`ArrayErrorKind::UnsupportedDType`] for integers.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let norm = blas::nrm2(&NdArray::from([3e200f64, 4e200]))?;
/// assert!((norm / 5e200 - 1.0).abs() < 1e-15);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn nrm2(x: &NdArray) -> Result<f64> {
    recorded("nrm2", &[x], || {
        expect_floats("nrm2", &[x], 0)?;
        let x = widened(x)?;
        let norm = x.norm2_number()?;
        // Below these the squares of elements that matter are no longer exact.
        let small = if x.dtype() == DType::F64 {
            1e-140
        } else {
            1e-12
        };
        if norm.is_nan() || x.is_empty() || (norm.is_finite() && norm > small) {
            return Ok(norm);
        }
        let largest = x.norm_max_number()?;
        if largest == 0.0 || !largest.is_finite() {
            return Ok(largest);
        }
        // A power of two, so that dividing by it is exact.
        let scale = largest.log2().floor().exp2();
        Ok(x.div(scale)?.norm2_number()? * scale)
    })
}

/// The sum of the magnitudes.
///
/// # Errors
/// [`ArrayErrorKind::UnsupportedDType`] for integers.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// assert_eq!(blas::asum(&NdArray::from([3.0f32, -4.0]))?, 7.0);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn asum(x: &NdArray) -> Result<f64> {
    recorded("asum", &[x], || {
        expect_floats("asum", &[x], 0)?;
        widened(x)?.norm1_number()
    })
}

/// The position, in C order, of the first element of the largest magnitude; a NaN counts as that.
///
/// # Errors
/// [`ArrayErrorKind::Empty`] when there is no element.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// assert_eq!(blas::iamax(&NdArray::from([3.0f32, -4.0, 4.0]))?, 1);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn iamax(x: &NdArray) -> Result<usize> {
    recorded("iamax", &[x], || {
        expect_elements("iamax", x)?;
        position(&x.arg_abs_max(..)?)
    })
}

/// The position, in C order, of the first element of the smallest magnitude; a NaN counts as that.
///
/// # Errors
/// [`ArrayErrorKind::Empty`] when there is no element.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// assert_eq!(blas::iamin(&NdArray::from([3.0f32, -2.0, 4.0]))?, 1);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn iamin(x: &NdArray) -> Result<usize> {
    recorded("iamin", &[x], || {
        expect_elements("iamin", x)?;
        position(&x.arg_abs_min(..)?)
    })
}

#[track_caller]
fn expect_elements(op: &'static str, x: &NdArray) -> Result<()> {
    expect_floats(op, &[x], 0)?;
    if x.is_empty() {
        let expected = "at least one element";
        return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
    }
    Ok(())
}

#[track_caller]
fn position(index: &NdArray) -> Result<usize> {
    index.item::<i64>().map(|index| index as usize)
}

/// Exchanges the elements of two arrays.
///
/// # Errors
/// [`ArrayErrorKind::Operands`] for different shapes or operands that share memory.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let (x, y) = (NdArray::from([1.0f32, 2.0]), NdArray::from([3.0f32, 4.0]));
/// blas::swap(&x, &y)?;
/// assert_eq!((x.to_vec::<f32>()?, y.to_vec::<f32>()?), (vec![3.0, 4.0], vec![1.0, 2.0]));
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn swap(x: &NdArray, y: &NdArray) -> Result<()> {
    let (given_x, given_y) = (x, y);
    recorded("swap", &[], || {
        let (x, y) = results("swap", given_x, given_y)?;
        let old = x.dup()?;
        x.assign(&y)?;
        y.assign(&old)?;
        Ok((given_x, given_y))
    })
    .map(drop)
}

/// `y = x`.
///
/// # Errors
/// [`ArrayErrorKind::Operands`] for different shapes.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let y = NdArray::zeros([2])?;
/// blas::copy(&NdArray::from([1.0f32, 2.0]), &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn copy(x: &NdArray, y: &NdArray) -> Result<()> {
    recorded_in("copy", &[x], y, || {
        let (x, y) = pair("copy", x, y, 1)?;
        y.assign_arg("copy", (&x).into())
    })
}

/// `y += alpha * x`, in one pass.
///
/// # Errors
/// [`ArrayErrorKind::Operands`] for different shapes.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let y = NdArray::from([10.0f32, 20.0]);
/// blas::axpy(2.0, &NdArray::from([1.0f32, 2.0]), &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [12.0, 24.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn axpy(alpha: f64, x: &NdArray, y: &NdArray) -> Result<()> {
    recorded_in("axpy", &[x], y, || {
        let (x, y) = pair("axpy", x, y, 1)?;
        y.expect_writable("axpy")?;
        if alpha == 0.0 {
            return Ok(());
        }
        (x.lazy() * alpha + &y).eval_into(&y)
    })
}

/// `x *= alpha`; also for an `alpha` of zero NaN stays NaN, as in the reference BLAS.
///
/// # Errors
/// [`ArrayErrorKind::UnsupportedDType`] for integers.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let x = NdArray::from([1.0f32, 2.0]);
/// blas::scal(0.5, &x)?;
/// assert_eq!(x.to_vec::<f32>()?, [0.5, 1.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn scal(alpha: f64, x: &NdArray) -> Result<()> {
    recorded_in("scal", &[], x, || {
        expect_floats("scal", &[x], 1)?;
        x.muli(alpha)?;
        Ok(())
    })
}

/// Rotates the plane: `x, y = c x + s y, c y - s x`.
///
/// # Errors
/// [`ArrayErrorKind::Operands`] for different shapes or operands that share memory.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let (x, y) = (NdArray::from([3.0f64]), NdArray::from([4.0f64]));
/// let turn = blas::rotg(3.0, 4.0);
/// blas::rot(&x, &y, turn.c, turn.s)?;
/// assert_eq!(x.item::<f64>()?, 5.0);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn rot(x: &NdArray, y: &NdArray, c: f64, s: f64) -> Result<()> {
    turn("rot", x, y, [[c, s], [-s, c]])
}

/// `x, y = h x, y` for a modified Givens rotation, as [`rotmg`] makes them.
///
/// # Errors
/// [`ArrayErrorKind::Operands`] for different shapes or operands that share memory.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let (x, y) = (NdArray::from([1.0f64]), NdArray::from([2.0f64]));
/// blas::rotm(&x, &y, blas::rotmg(1.0, 1.0, 1.0, 2.0).h)?;
/// assert_eq!(y.item::<f64>()?, 0.0);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn rotm(x: &NdArray, y: &NdArray, h: ModifiedGivens) -> Result<()> {
    turn("rotm", x, y, h.matrix)
}

#[track_caller]
fn turn(op: &'static str, x: &NdArray, y: &NdArray, h: [[f64; 2]; 2]) -> Result<()> {
    let given = (x, y);
    recorded(op, &[], || {
        let (x, y) = results(op, given.0, given.1)?;
        if h == [[1.0, 0.0], [0.0, 1.0]] {
            return Ok(given);
        }
        let turned = (x.lazy() * h[0][0] + y.lazy() * h[0][1]).eval()?;
        (x.lazy() * h[1][0] + y.lazy() * h[1][1]).eval_into(&y)?;
        x.assign(&turned)?;
        Ok(given)
    })
    .map(drop)
}

/// What [`rotg`] makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Givens {
    /// Cosine.
    pub c: f64,
    /// Sine.
    pub s: f64,
    /// Length of the vector: what its first coordinate becomes.
    pub r: f64,
    /// One number from which sine and cosine can be computed again.
    pub z: f64,
}

/// The rotation that turns the vector `(a, b)` to `(r, 0)`, without overflow.
///
/// ```
/// let turn = lodestride_array::blas::rotg(3.0, 4.0);
/// assert_eq!((turn.c, turn.s, turn.r), (0.6, 0.8, 5.0));
/// ```
pub fn rotg(a: f64, b: f64) -> Givens {
    let (c, s, r, z) = match (a, b) {
        (_, 0.0) => (1.0, 0.0, a, 0.0),
        (0.0, _) => (0.0, 1.0, b, 1.0),
        _ => {
            let (largest, sign) = if a.abs() > b.abs() { (a, a) } else { (b, b) };
            let scale = largest
                .abs()
                .clamp(f64::MIN_POSITIVE, 1.0 / f64::MIN_POSITIVE);
            let length = scale * ((a / scale).powi(2) + (b / scale).powi(2)).sqrt();
            let r = length.copysign(sign);
            let (c, s) = (a / r, b / r);
            let z = match () {
                () if a.abs() > b.abs() => s,
                () if c != 0.0 => 1.0 / c,
                () => 1.0,
            };
            (c, s, r, z)
        }
    };
    Givens { c, s, r, z }
}

/// The two by two matrix of a modified Givens rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModifiedGivens {
    /// `[[h11, h12], [h21, h22]]`.
    pub matrix: [[f64; 2]; 2],
}

impl ModifiedGivens {
    /// Does nothing.
    pub const IDENTITY: Self = Self {
        matrix: [[1.0, 0.0], [0.0, 1.0]],
    };

    /// From the five numbers of the reference BLAS: a flag, then `h11, h21, h12, h22`, of which the flag says which count.
    ///
    /// ```
    /// use lodestride_array::blas::ModifiedGivens;
    ///
    /// let h = ModifiedGivens::from_param([0.0, 9.0, -0.5, 0.5, 9.0]);
    /// assert_eq!(h.matrix, [[1.0, 0.5], [-0.5, 1.0]]);
    /// ```
    pub fn from_param([flag, h11, h21, h12, h22]: [f64; 5]) -> Self {
        let matrix = match flag {
            -2.0 => return Self::IDENTITY,
            0.0 => [[1.0, h12], [h21, 1.0]],
            1.0 => [[h11, 1.0], [-1.0, h22]],
            _ => [[h11, h12], [h21, h22]],
        };
        Self { matrix }
    }
}

/// What [`rotmg`] makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModifiedRotation {
    /// First scale factor afterwards.
    pub d1: f64,
    /// Second scale factor afterwards.
    pub d2: f64,
    /// First coordinate afterwards; the second is zero.
    pub x1: f64,
    /// The rotation, for [`rotm`].
    pub h: ModifiedGivens,
}

/// The modified Givens rotation, without a square root, that zeroes the second coordinate of `(√d1 x1, √d2 y1)`.
///
/// ```
/// let made = lodestride_array::blas::rotmg(1.0, 1.0, 2.0, 1.0);
/// assert_eq!(made.h.matrix, [[1.0, 0.5], [-0.5, 1.0]]);
/// assert_eq!((made.d1, made.x1), (0.8, 2.5));
/// ```
pub fn rotmg(d1: f64, d2: f64, x1: f64, y1: f64) -> ModifiedRotation {
    let nothing = ModifiedRotation {
        d1: 0.0,
        d2: 0.0,
        x1: 0.0,
        h: ModifiedGivens {
            matrix: [[0.0; 2]; 2],
        },
    };
    let (p1, p2) = (d1 * x1, d2 * y1);
    let (q1, q2) = (p1 * x1, p2 * y1);
    let mut made = match () {
        () if d1 < 0.0 => return nothing,
        () if p2 == 0.0 => {
            let h = ModifiedGivens::IDENTITY;
            return ModifiedRotation { d1, d2, x1, h };
        }
        () if q1.abs() > q2.abs() => {
            let (h21, h12) = (-y1 / x1, p2 / p1);
            let u = 1.0 - h12 * h21;
            // Not positive only by rounding.
            if u <= 0.0 {
                return nothing;
            }
            let matrix = [[1.0, h12], [h21, 1.0]];
            let h = ModifiedGivens { matrix };
            let (d1, d2, x1) = (d1 / u, d2 / u, x1 * u);
            ModifiedRotation { d1, d2, x1, h }
        }
        () if q2 < 0.0 => return nothing,
        () => {
            let (h11, h22) = (p1 / p2, x1 / y1);
            let u = 1.0 + h11 * h22;
            let matrix = [[h11, 1.0], [-1.0, h22]];
            let h = ModifiedGivens { matrix };
            let (d1, d2, x1) = (d2 / u, d1 / u, y1 * u);
            ModifiedRotation { d1, d2, x1, h }
        }
    };
    let [first, second] = &mut made.h.matrix;
    let moved = rescale(&mut made.d1, first);
    made.x1 *= moved;
    rescale(&mut made.d2, second);
    made
}

/// Brings a scale factor into the range the reference BLAS keeps it in, its row of the rotation with it; gives the row's
/// factor.
fn rescale(d: &mut f64, row: &mut [f64; 2]) -> f64 {
    const STEP: f64 = 4096.0;
    const LOW: f64 = 1.0 / (STEP * STEP);
    let mut all = 1.0;
    while *d != 0.0 && d.is_finite() && !(LOW < d.abs() && d.abs() < STEP * STEP) {
        let (square, factor) = if d.abs() <= LOW {
            (STEP * STEP, 1.0 / STEP)
        } else {
            (LOW, STEP)
        };
        *d *= square;
        row.iter_mut().for_each(|h| *h *= factor);
        all *= factor;
    }
    all
}
