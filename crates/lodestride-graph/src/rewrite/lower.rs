//! Matrix products with a scaled sum, and gradients of a softmax's logarithm, in one call.

use crate::error::Result;
use crate::fgraph::{ValueId, Values};
use crate::ops::{Gemm, LogSoftmaxGradient, MatMul, Reduce, Softmax, is_float_matrix};
use crate::rewrite::engine::Soundness::Reassociating;
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use lodestride_array::DType;
use lodestride_array::kernels::{BinaryOp, ReduceOp, UnaryOp};
use smallvec::smallvec;

type Rewritten = Result<Option<ValueId>>;

pub(super) const RULES: &[Rule] = &[
    rule(
        "gemm_add",
        Key::Binary(BinaryOp::Add),
        Reassociating,
        gemm_add,
    ),
    rule(
        "gemm_sub",
        Key::Binary(BinaryOp::Sub),
        Reassociating,
        gemm_sub,
    ),
    rule(
        "log_softmax_gradient",
        Key::Binary(BinaryOp::Sub),
        Reassociating,
        log_softmax_gradient,
    ),
];

/// A matrix product and its factor: `c * (a @ b)`.
fn scaled_product(r: &Rewriter<'_>, value: ValueId) -> Option<(f64, ValueId, ValueId)> {
    if let Some((_, factors)) = r.made_by::<MatMul>(value) {
        return Some((1.0, factors[0], factors[1]));
    }
    if let Some(inner) = r.unary_of(value, UnaryOp::Neg) {
        let (_, factors) = r.made_by::<MatMul>(inner).filter(|_| !r.is_shared(inner))?;
        return Some((-1.0, factors[0], factors[1]));
    }
    let (x, c) = r.binary_of(value, BinaryOp::Mul)?;
    let factor = r.scalar(c).filter(|_| r.ty(c).rank() == 0)?;
    let (_, factors) = r.made_by::<MatMul>(x).filter(|_| !r.is_shared(x))?;
    Some((factor.as_f64(), factors[0], factors[1]))
}

/// A value and its factor: `c * x`.
fn scaled(r: &Rewriter<'_>, value: ValueId) -> (f64, ValueId) {
    if let Some((x, c)) = r.binary_of(value, BinaryOp::Mul)
        && let Some(factor) = r.scalar(c).filter(|_| r.ty(c).rank() == 0)
        && r.ty(x).dtype() == r.ty(value).dtype()
    {
        return (factor.as_f64(), x);
    }
    if let Some(x) = r.unary_of(value, UnaryOp::Neg) {
        return (-1.0, x);
    }
    (1.0, value)
}

fn gemm_add(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    for (product, summand) in [(x, y), (y, x)] {
        if let Some(value) = gemm(r, site, product, summand, 1.0, 1.0)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

fn gemm_sub(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if let Some(value) = gemm(r, site, x, y, 1.0, -1.0)? {
        return Ok(Some(value));
    }
    gemm(r, site, y, x, -1.0, 1.0)
}

/// `p * (a @ b) + q * c` for matrices of one float dtype, where the sum has the shape of the product.
fn gemm(
    r: &mut Rewriter<'_>,
    site: &Site<'_>,
    product: ValueId,
    summand: ValueId,
    p: f64,
    q: f64,
) -> Rewritten {
    let Some((alpha, a, b)) = scaled_product(r, product).filter(|_| !r.is_shared(product)) else {
        return Ok(None);
    };
    let (beta, c) = scaled(r, summand);
    let matrices = [a, b, product].iter().all(|v| is_float_matrix(r.ty(*v)));
    let dtypes = [a, b, c]
        .iter()
        .all(|v| r.ty(*v).dtype() == site.ty.dtype());
    // A bias of rank 1 or a number is better added by the elementwise kernel that follows anyway.
    if !matrices || !dtypes || r.ty(c).rank() != 2 || r.ty(c).dims().contains(&crate::Dim::Known(1))
    {
        return Ok(None);
    }
    r.apply(Gemm::new(alpha * p, beta * q), &[a, b, c])
        .map(Some)
}

/// `g - softmax(x) * sum(g)`: from the logarithm of the softmax, which the value itself mostly needs anyway.
fn log_softmax_gradient(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [g, product] = *site.inputs else {
        return Ok(None);
    };
    // The logarithm rounded to a half would lose digits of its exponential.
    let is_wide = matches!(site.ty.dtype(), DType::F32 | DType::F64);
    let Some((a, b)) = r.binary_of(product, BinaryOp::Mul).filter(|_| is_wide) else {
        return Ok(None);
    };
    for (p, total) in [(a, b), (b, a)] {
        let Some((Softmax { axis, log: false }, x)) = r.made_by(p) else {
            continue;
        };
        let sum = Reduce {
            op: ReduceOp::Sum,
            axes: smallvec![axis],
            keep: true,
        };
        let is_sum = r.made_by(total) == Some((sum, Values::from_slice(&[g])));
        let alike = [g, p].iter().all(|v| r.ty(*v).dtype() == site.ty.dtype());
        // What is wanted elsewhere is computed whatever happens here.
        let shared = [p, product, total].iter().any(|v| r.is_shared(*v));
        if is_sum && alike && !shared && r.same_shape(g, p) {
            let y = r.apply(Softmax { axis, log: true }, &x)?;
            return r.apply(LogSoftmaxGradient { axis }, &[y, g]).map(Some);
        }
    }
    Ok(None)
}
