//! Matrix products.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::ops::elemwise_grad::fit;
use crate::ops::shape::{AxisList, ExpandDims, Permute, Squeeze, apply};
use crate::ty::{Dim, Dims, Type, broadcast_dims};
use crate::variable::Variable;
use lodestride_array::DType;
use lodestride_array::NdArray;
use lodestride_array::kernels;
use lodestride_array::{Layout, Shape, broadcast_shapes};
use smallvec::smallvec;
use std::borrow::Cow;
use std::panic::Location;

/// The product of the last two axes; leading axes are a batch and broadcast. Rows of a ragged left factor keep their
/// sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatMul;

/// `alpha * (a @ b) + beta * c` in one kernel, for matrices; only the optimiser makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gemm {
    alpha: u64,
    beta: u64,
}

impl Gemm {
    pub(crate) fn new(alpha: f64, beta: f64) -> Self {
        Self {
            alpha: alpha.to_bits(),
            beta: beta.to_bits(),
        }
    }

    /// The factor of the product.
    pub fn alpha(&self) -> f64 {
        f64::from_bits(self.alpha)
    }

    /// The factor of the summand.
    pub fn beta(&self) -> f64 {
        f64::from_bits(self.beta)
    }
}

/// Integer products accumulate in 64 bits, as sums do.
fn product_dtype(a: DType, b: DType) -> DType {
    a.promote(b)
}

fn check_ranks(inputs: &[Argument<'_>]) -> Result<(), GraphErrorKind> {
    for (input, argument) in inputs.iter().take(2).enumerate() {
        if argument.ty.rank() < 2 {
            let expected = "at least a matrix";
            return Err(GraphErrorKind::Rank {
                input,
                expected,
                found: argument.ty.clone(),
            });
        }
    }
    Ok(())
}

fn product_type(a: &Type, b: &Type) -> Result<Type, GraphErrorKind> {
    let (ra, rb) = (a.rank(), b.rank());
    if a.dims()[ra - 1].meet(&b.dims()[rb - 2]).is_none() {
        return Err(GraphErrorKind::InnerLength {
            left: a.clone(),
            right: b.clone(),
        });
    }
    let batch = |t: &Type| Type::tensor(t.dtype(), t.dims()[..t.rank() - 2].iter().cloned());
    let mut dims: Dims = broadcast_dims(&[&batch(a), &batch(b)])?;
    dims.push(a.dims()[ra - 2].clone());
    dims.push(b.dims()[rb - 1].clone());
    let dtype = product_dtype(a.dtype(), b.dtype());
    if a.is_lod() && dims.len() == ra && rb == 2 {
        return Ok(Type::lod_from_dims(dtype, &dims, a.lod_level()));
    }
    Ok(Type::tensor(dtype, dims))
}

impl Op for MatMul {
    fn name(&self) -> Cow<'static, str> {
        "matmul".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 2)?;
        check_ranks(inputs)?;
        Ok(vec![product_type(inputs[0].ty, inputs[1].ty)?])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let (a, b) = (inputs[0].shape(), inputs[1].shape());
        let (ra, rb) = (a.rank(), b.rank());
        if a[ra - 1] != b[rb - 2] {
            let rule = "the inner lengths of a matrix product must agree";
            return Err(GraphErrorKind::shapes_differ(a.clone(), b.clone(), rule));
        }
        let mut shape = broadcast_shapes(&Shape::from(&a[..ra - 2]), &Shape::from(&b[..rb - 2]))?;
        shape.push(a[ra - 2]);
        shape.push(b[rb - 1]);
        let lod = if rb == 2 { inputs[0].lod.clone() } else { None };
        Ok(vec![Planned::Fresh { shape, lod }])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let out = outputs[0].data;
        let (a, b) = (stretch(inputs[0].data, out)?, stretch(inputs[1].data, out)?);
        kernels::matmul(a.operand(), b.operand(), out.operand(), 1.0, 0.0)?;
        Ok(())
    }

    fn gradient(
        &self,
        node: &Apply,
        outputs: &[Option<Variable>],
    ) -> Result<Vec<Option<Variable>>> {
        let Some(g) = &outputs[0] else {
            return Ok(vec![None, None]);
        };
        let build = Build::of(node);
        let [a, b] = node.inputs() else {
            return Ok(vec![None, None]);
        };
        let da = if a.dtype().is_float() && !a.is_constant() {
            let product = build.apply(MatMul, vec![g.clone(), flipped(build, b)?])?;
            fit(build, Some(product), a)?
        } else {
            None
        };
        let db = if b.dtype().is_float() && !b.is_constant() {
            let product = build.apply(MatMul, vec![flipped(build, a)?, g.clone()])?;
            fit(build, Some(product), b)?
        } else {
            None
        };
        Ok(vec![da, db])
    }
}

/// The last two axes exchanged.
fn flipped(build: Build, x: &Variable) -> Result<Variable> {
    let rank = x.rank();
    let mut order: AxisList = (0..rank).collect();
    order.swap(rank - 2, rank - 1);
    build.apply(Permute { order }, vec![x.clone()])
}

/// A factor with the batch axes of the result.
fn stretch(x: &NdArray, out: &NdArray) -> Result<NdArray, GraphErrorKind> {
    let rank = x.rank();
    if out.rank() == 2 || (rank == out.rank() && x.shape()[..rank - 2] == out.shape()[..rank - 2]) {
        return Ok(x.clone());
    }
    let mut shape = Shape::from(&out.shape()[..out.rank() - 2]);
    shape.push(x.shape()[rank - 2]);
    shape.push(x.shape()[rank - 1]);
    let layout: Layout = x.layout().broadcast_to(&shape)?;
    Ok(NdArray::from_buffer(x.buffer().clone(), layout, x.dtype())?)
}

impl Op for Gemm {
    fn name(&self) -> Cow<'static, str> {
        format!("gemm{{{}, {}}}", self.alpha(), self.beta()).into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 3)?;
        check_ranks(inputs)?;
        Ok(vec![product_type(inputs[0].ty, inputs[1].ty)?])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        let product = MatMul.plan(&inputs[..2])?;
        if let Some(Planned::Fresh { shape, .. }) = product.first() {
            let joint = broadcast_shapes(shape, inputs[2].shape())?;
            if joint != *shape {
                let rule = "the summand must broadcast to the product";
                return Err(GraphErrorKind::shapes_differ(shape.clone(), joint, rule));
            }
        }
        Ok(product)
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let out = outputs[0].data;
        out.assign(inputs[2].data)?;
        kernels::matmul(
            inputs[0].data.operand(),
            inputs[1].data.operand(),
            out.operand(),
            self.alpha(),
            self.beta(),
        )?;
        Ok(())
    }
}

/// Products.
impl Variable {
    /// The matrix product of the last two axes; a vector counts as a row on the left and as a column on the right.
    ///
    /// # Errors
    /// `InnerLength` when the contracted lengths are known and differ; `Rank` for scalars.
    ///
    /// ```
    /// use lodestride_graph::{DType, tensor};
    /// let a = tensor("a", DType::F64, [3usize, 4]);
    /// let b = tensor("b", DType::F64, [3usize, 4]);
    /// let error = a.matmul(&b).unwrap_err().to_string();
    /// assert!(error.contains("inner lengths differ"), "{error}");
    /// assert_eq!(a.matmul(b.transpose()?)?.ty().to_string(), "TensorType(f64, (3, 3))");
    /// # Ok::<(), lodestride_graph::GraphError>(())
    /// ```
    #[track_caller]
    pub fn matmul(&self, other: impl Into<Variable>) -> Result<Variable> {
        let span = Span(Location::caller());
        let (mut a, mut b) = (self.clone(), other.into());
        for (input, factor) in [&a, &b].into_iter().enumerate() {
            if factor.rank() == 0 {
                let (expected, found) = ("a vector or a matrix", factor.ty().clone());
                let kind = GraphErrorKind::Rank {
                    input,
                    expected,
                    found,
                };
                return Err(GraphError::new(kind, Some(&MatMul.into()), span));
            }
        }
        let (row, column) = (a.rank() == 1, b.rank() == 1);
        if row {
            a = apply(ExpandDims { axes: smallvec![0] }, vec![a], span)?;
        }
        if column {
            b = apply(ExpandDims { axes: smallvec![1] }, vec![b], span)?;
        }
        let product = apply(MatMul, vec![a, b], span)?;
        let rank = product.rank();
        let mut axes = AxisList::new();
        if row {
            axes.push(rank - 2);
        }
        if column {
            axes.push(rank - 1);
        }
        if axes.is_empty() {
            Ok(product)
        } else {
            apply(Squeeze { axes }, vec![product], span)
        }
    }

    /// NumPy's `dot` for operands of rank up to 2: scalars multiply, vectors give their inner product.
    ///
    /// # Errors
    /// As for [`matmul`](Variable::matmul).
    #[track_caller]
    pub fn dot(&self, other: impl Into<Variable>) -> Result<Variable> {
        let other = other.into();
        if self.rank() == 0 || other.rank() == 0 {
            self.mul(other)
        } else {
            self.matmul(other)
        }
    }

    /// The outer product of two vectors.
    ///
    /// # Errors
    /// `Rank` unless both are vectors.
    #[track_caller]
    pub fn outer(&self, other: impl Into<Variable>) -> Result<Variable> {
        let span = Span(Location::caller());
        let other = other.into();
        for (input, factor) in [self, &other].into_iter().enumerate() {
            if factor.rank() != 1 {
                let kind = GraphErrorKind::Rank {
                    input,
                    expected: "a vector",
                    found: factor.ty().clone(),
                };
                return Err(GraphError::new(kind, None, span));
            }
        }
        let column = apply(ExpandDims { axes: smallvec![1] }, vec![self.clone()], span)?;
        let row = apply(ExpandDims { axes: smallvec![0] }, vec![other], span)?;
        Build(span).mul(column, row)
    }
}

/// Whether the type is a matrix of floats, which `Gemm` can take.
pub(crate) fn is_float_matrix(ty: &Type) -> bool {
    ty.rank() == 2 && ty.dtype().is_float() && !ty.dims().contains(&Dim::Known(0))
}
