//! Rules about products with factors of fewer elements: they are multiplied with each other first, and outside of sums.
//! For f32 and f64: a half leaves its range too easily when factors meet in another order.

use crate::error::Result;
use crate::fgraph::{ValueId, Values};
use crate::op::OpRef;
use crate::ops::{
    AxisList, Elemwise, Reduce, SequenceExpandAdjoint, SequencePool, SequenceWindowsAdjoint,
    Squeeze,
};
use crate::rewrite::engine::Soundness::{Exact, Reassociating};
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use crate::rewrite::is_wide_float;
use crate::ty::{Dim, Type};
use lodestride_array::kernels::{BinaryOp, ReduceOp, UnaryOp};

type Rewritten = Result<Option<ValueId>>;

/// Rules for graphs that are no longer differentiated.
pub(super) const LATE_RULES: &[Rule] = &[
    rule(
        "small_factors_of_product",
        Key::Binary(BinaryOp::Mul),
        Reassociating,
        small_factors,
    ),
    rule(
        "small_factors_of_quotient",
        Key::Binary(BinaryOp::Div),
        Reassociating,
        small_factors,
    ),
    rule("factor_of_rows", Key::RowSum, Reassociating, factor_of_rows),
    rule("factor_of_lod_like", Key::LodLike, Exact, factor_of_rows),
    rule("factor_of_sum", Key::Reduce, Reassociating, factor_of_sum),
];

/// Products in products in which a factor of a sum is looked for.
const MAX_DEPTH: usize = 3;

/// Whether all of a value's elements along an axis of `ty`, to which it is broadcast, are one.
fn is_stretched_along(r: &Rewriter<'_>, value: ValueId, ty: &Type, axis: usize) -> bool {
    let dims = r.ty(value).dims();
    let missing = ty.rank() - dims.len();
    axis < missing || dims[axis - missing] == Dim::Known(1)
}

/// Whether values together have fewer elements than `ty`, to which they are broadcast.
fn are_small(r: &Rewriter<'_>, values: &[ValueId], ty: &Type) -> bool {
    let same_dtype = |v: &ValueId| r.ty(*v).dtype() == ty.dtype() && !r.ty(*v).is_lod();
    values.iter().all(same_dtype)
        && (0..ty.rank()).any(|axis| {
            let along = |v: &ValueId| is_stretched_along(r, *v, ty, axis);
            ty.dims()[axis] != Dim::Known(1) && values.iter().all(along)
        })
}

/// `(x * b) * c = x * (b * c)` and the same with quotients, for small b and c.
fn small_factors(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    use BinaryOp::{Div, Mul};
    let ([left, right], Some(Elemwise::Binary(outer))) = (site.inputs, site.op.downcast_ref())
    else {
        return Ok(None);
    };
    if !is_wide_float(site.ty.dtype()) || site.ty.is_lod() {
        return Ok(None);
    }
    for (product, c) in [(*left, *right), (*right, *left)] {
        let turned = product == *right && *outer == Div;
        if turned || r.is_shared(product) || !are_small(r, &[c], site.ty) {
            continue;
        }
        let factors = r.binary_of(product, Mul).map(|factors| (Mul, factors));
        let quotient = r.binary_of(product, Div).map(|factors| (Div, factors));
        let Some((inner, (a, b))) = factors.or(quotient) else {
            continue;
        };
        for (x, b) in [(a, b), (b, a)] {
            let numbers = r.graph.is_constant(b) && r.graph.is_constant(c) && inner == *outer;
            let whole = has_shape(r, x, site.ty) && are_small(r, &[b, c], site.ty);
            if numbers || !whole || (inner == Div && x != a) {
                continue;
            }
            let (op, factor) = match (inner, outer) {
                (Mul, Mul) => (Mul, r.binary(Mul, b, c)?),
                (Mul, _) => (Mul, r.binary(Div, b, c)?),
                (_, Mul) => (Mul, r.binary(Div, c, b)?),
                _ => (Div, r.binary(Mul, b, c)?),
            };
            return r.binary(op, x, factor).map(Some);
        }
    }
    Ok(None)
}

/// Whether a value certainly has the type and lengths of a result, without being broadcast.
fn has_shape(r: &Rewriter<'_>, value: ValueId, ty: &Type) -> bool {
    let found = r.ty(value);
    let mut pairs = found.dims().iter().zip(ty.dims());
    found.dtype() == ty.dtype()
        && found.is_lod() == ty.is_lod()
        && found.rank() == ty.rank()
        && pairs.all(|(a, b)| a == b && *a != Dim::Known(1))
}

/// A value as a product of a rest and a factor that is the same for all elements summed.
struct Split {
    rest: ValueId,
    factor: ValueId,
    /// `Mul` or `Div`.
    by: BinaryOp,
}

/// Whether a factor may leave a square: one far from 1 may be what keeps it from vanishing or from being infinite.
fn is_moderate(r: &Rewriter<'_>, factor: ValueId) -> bool {
    let size = r.scalar(factor).map_or(0.0, |number| number.as_f64().abs());
    (1.0 / 256.0..=256.0).contains(&size)
}

fn split(
    r: &mut Rewriter<'_>,
    value: ValueId,
    axes: &[usize],
    depth: usize,
) -> Result<Option<Split>> {
    let ty = r.ty(value).clone();
    if let Some(x) = r.unary_of(value, UnaryOp::Square).filter(|_| depth > 0) {
        let Some(inner) = split(r, x, axes, depth - 1)?.filter(|s| is_moderate(r, s.factor)) else {
            return Ok(None);
        };
        return Ok(Some(Split {
            rest: r.unary(UnaryOp::Square, inner.rest)?,
            factor: r.unary(UnaryOp::Square, inner.factor)?,
            by: inner.by,
        }));
    }
    for by in [BinaryOp::Mul, BinaryOp::Div] {
        let Some((a, b)) = r.binary_of(value, by) else {
            continue;
        };
        for (rest, factor) in [(a, b), (b, a)] {
            if by == BinaryOp::Div && rest != a {
                continue;
            }
            let same = axes
                .iter()
                .all(|axis| is_stretched_along(r, factor, &ty, *axis));
            if same && are_small(r, &[factor], &ty) && has_shape(r, rest, &ty) {
                return Ok(Some(Split { rest, factor, by }));
            }
            if depth == 0 || !has_shape(r, rest, &ty) || !has_shape(r, factor, &ty) {
                continue;
            }
            if let Some(inner) = split(r, rest, axes, depth - 1)?
                && (inner.rest != factor || is_moderate(r, inner.factor))
            {
                let rest = r.binary(by, inner.rest, factor)?;
                return Ok(Some(Split { rest, ..inner }));
            }
        }
    }
    Ok(None)
}

/// sum(x * c) = sum(x) * c for what does not change along the axes summed, also deeper in a product.
fn factor_of_sum(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    let Some(reduce) = site.op.downcast_ref::<Reduce>() else {
        return Ok(None);
    };
    let sums = matches!(reduce.op, ReduceOp::Sum | ReduceOp::Mean);
    if !sums || !is_wide_float(site.ty.dtype()) || r.ty(x).is_lod() {
        return Ok(None);
    }
    let Some(split) = split(r, x, &reduce.axes, MAX_DEPTH)? else {
        return Ok(None);
    };
    // A sum or difference would be stored for this reduction, which might have computed it with the product.
    let op = r.producer(split.rest).and_then(|(op, _)| op.downcast_ref());
    let product = matches!(
        op,
        Some(Elemwise::Unary(UnaryOp::Square) | Elemwise::Binary(BinaryOp::Mul | BinaryOp::Div))
    );
    if op.is_some() && !product {
        return Ok(None);
    }
    let missing = r.ty(x).rank() - r.ty(split.factor).rank();
    let within = reduce
        .axes
        .iter()
        .filter_map(|axis| axis.checked_sub(missing));
    let axes: AxisList = within.filter(|_| !reduce.keep).collect();
    let total = r.apply(reduce.clone(), &[split.rest])?;
    let factor = r.apply(Squeeze { axes }, &[split.factor])?;
    let product = r.binary(split.by, total, factor)?;
    Ok(Some(product).filter(|product| r.ty(*product) == site.ty))
}

/// Ops that add up rows to no more rows than there were.
pub(super) fn sums_rows(op: &OpRef) -> bool {
    let pools = op.downcast_ref().is_some_and(SequencePool::is_linear);
    pools || op.is::<SequenceWindowsAdjoint>() || op.is::<SequenceExpandAdjoint>()
}

/// The sum of rows times a number is computed before they are multiplied.
fn factor_of_rows(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let scaled = site.inputs[0];
    let Some((x, c)) = r.binary_of(scaled, BinaryOp::Mul) else {
        return Ok(None);
    };
    let number = r.ty(c).rank() == 0 && r.ty(x) == r.ty(scaled);
    if !number || r.is_shared(scaled) || !is_wide_float(site.ty.dtype()) {
        return Ok(None);
    }
    let mut inputs = Values::from_slice(site.inputs);
    inputs[0] = x;
    let sum = r.apply(site.op.clone(), &inputs)?;
    let product = r.binary(BinaryOp::Mul, sum, c)?;
    Ok(Some(product).filter(|product| r.ty(*product) == site.ty))
}
