//! The guide's words and rules, one test per rule: what variables, apply nodes, ops, types and constants are.

use lodestride_array::NdArray;
use lodestride_graph::op::{Argument, Facts, Op, Planned, SlotRef};
use lodestride_graph::ops::{Elemwise, Reduce};
use lodestride_graph::{
    Apply, Client, Constant, DType, FunctionGraph, GraphErrorKind, OpRef, Result, Type, Value,
    Variable, compile, debugprint, dmatrix, dscalar, dvector, fmatrix, fvector, grad, irow,
    ivector, lscalar, ops, shared, tensor,
};
use std::borrow::Cow;

#[test]
fn a_short_expression_makes_two_nodes() -> Result<()> {
    let (x, y, z) = (dmatrix("x"), dmatrix("y"), dmatrix("z"));
    assert!([&x, &y, &z].iter().all(|v| v.owner().is_none()));
    let e = &x + &y * &z;
    let add = e.owner().unwrap();
    assert_eq!(add.op(), &ops::add());
    assert_eq!(add.inputs()[0], x);
    let product = &add.inputs()[1];
    assert_eq!(product.owner().unwrap().op(), &ops::mul());
    assert_eq!(product.owner().unwrap().inputs(), [y.clone(), z.clone()]);
    assert_eq!(
        FunctionGraph::new(&[&x, &y, &z], &[&e])?.toposort()?.len(),
        2
    );
    Ok(())
}

#[test]
fn literals_are_wrapped() -> Result<()> {
    let x = dscalar("x");
    let e = &x + 1;
    let node = e.owner().unwrap();
    let one = node.inputs()[1].as_constant().unwrap();
    assert_eq!(one.ty().to_string(), "lscalar");
    assert_eq!(one.to_string(), "Constant{1}");
    assert_eq!(one.data().array().item::<i64>()?, 1);
    assert_eq!(e.ty().to_string(), "dscalar");
    assert!(one.owner().is_none());
    // The dtype of the result does not depend on the literal's value or width.
    let cases: [(Variable, &str); 5] = [
        (&fvector("v") + 0.1, "fvector"),
        (&fvector("v") * 2, "fvector"),
        (&ivector("v") + 1, "ivector"),
        (&ivector("v") * 0.5, "dvector"),
        (3.0 - &fmatrix("m"), "fmatrix"),
    ];
    for (e, ty) in cases {
        assert_eq!(e.ty().to_string(), ty);
    }
    let error = tensor("t", DType::I8, [None::<usize>])
        .add(300)
        .unwrap_err();
    assert!(
        matches!(error.kind(), GraphErrorKind::LiteralRange { .. }),
        "{error}"
    );
    Ok(())
}

#[test]
fn ops_make_nodes() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let node = ops::add().make_node(&[&x, &y])?;
    assert_eq!(
        (node.op(), node.inputs()),
        (&ops::add(), &[x.clone(), y.clone()][..])
    );
    assert_eq!(node.outputs(), [node.out()?]);
    let again = ops::add().make_node(&[&x, &y])?;
    assert_ne!(node, again, "two calls of one function");
    assert_eq!(node.op(), again.op());
    let e = OpRef::from(Elemwise::Unary(lodestride_array::kernels::UnaryOp::Exp)).call(&[&x])?;
    assert_eq!(e.owner().unwrap().op(), &ops::exp());
    let two = x.sequence_pad(0.0, None);
    assert!(two.is_err(), "a dense vector has no sequences");
    let several = lodestride_graph::lod("l", DType::F64, [2usize], 1).sequence_pad(0.0, None)?;
    let node = several.0.owner().unwrap();
    assert!(matches!(
        node.out().unwrap_err().kind(),
        GraphErrorKind::OutputCount { .. }
    ));
    assert_eq!((several.1.index(), node.output_count()), (1, 2));
    Ok(())
}

#[test]
fn types_are_constraints() {
    let (row, matrix) = (irow("r"), dmatrix("m"));
    assert_eq!(row.ty().broadcastable(), [true, false]);
    assert_eq!((row.dtype(), matrix.dtype()), (DType::I32, DType::F64));
    assert_ne!(row.ty(), matrix.ty());
    assert_eq!(row.ty(), &Type::tensor(DType::I32, [true, false]));
    assert_eq!(lscalar("s").rank(), 0);
}

#[test]
fn variables_have_type_owner_index_name() -> Result<()> {
    let x = ivector("x");
    let y = -&x;
    assert_eq!(y.ty(), x.ty());
    assert_eq!(y.owner().unwrap().output(y.index()).unwrap(), y);
    assert_eq!((x.name().as_deref(), y.name()), (Some("x"), None));
    assert_eq!((x.index(), x.owner()), (0, None));
    y.set_name("minus");
    assert_eq!(y.to_string(), "minus");
    assert_eq!(x.less(&y)?.dtype(), DType::Bool);
    Ok(())
}

#[test]
fn constants_stay_as_they_are() -> Result<()> {
    let data = NdArray::from([1.0f64, 2.0]);
    let constant = Constant::new(&data, "c")?;
    data.assign(9.0)?;
    assert_eq!(constant.data().array().to_vec::<f64>()?, [1.0, 2.0]);
    let x = dvector("x");
    let f = compile(&[&x], &[&(&x + &*constant), &(&*constant * 2.0)])?;
    assert_eq!(f.kernels().len(), 1, "the second output is folded");
    let out = f.call([NdArray::from([1.0f64, 1.0])])?;
    out[1].array().assign(0.0)?;
    let again = f.call([NdArray::from([1.0f64, 1.0])])?;
    assert_eq!(again[0].array().to_vec::<f64>()?, [2.0, 3.0]);
    assert_eq!(again[1].array().to_vec::<f64>()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn the_guides_compiled_graph() -> Result<()> {
    let v = dvector("v");
    let total = (&v + 1).sum(..)?;
    let f = compile(&[&v], &[&total])?;
    let ones = NdArray::from([1.0f64, 2.0]);
    assert_eq!(f.call([&ones])?[0].array().item::<f64>()?, 5.0);
    let graph = f.written_graph();
    let topo = graph.toposort()?;
    assert_eq!(topo.len(), 2);
    let inner = graph.node_outputs(topo[0])[0];
    assert_eq!(graph.clients(inner), [Client::Node(topo[1], 0)]);
    assert_eq!(graph.node_inputs(topo[1])[0], inner);
    let outer = graph.node_outputs(topo[1])[0];
    assert_eq!(graph.clients(outer), [Client::Output(0)]);
    assert_eq!(graph.outputs()[0], outer);
    assert!(graph.op(topo[1]).is::<Reduce>());
    assert_eq!(graph.debugprint().lines().next(), Some("sum{0} [id A] 1"));
    let unused = FunctionGraph::new(&[&v, &dvector("w")], &[&total])?;
    assert!(unused.clients(unused.inputs()[1]).is_empty());
    Ok(())
}

#[test]
fn an_intermediate_variable_may_be_an_input() -> Result<()> {
    let x = dscalar("x");
    let e = x.exp()?;
    let f = compile(&[&e], &[&(&e * 2.0)])?;
    assert_eq!(f.call([3.0])?[0].array().item::<f64>()?, 6.0);
    Ok(())
}

#[test]
fn a_lonely_length_broadcasts_at_run_time() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let f = compile(&[&x, &y], &[&(&x + &y)])?;
    let (three, one) = (NdArray::from([1.0f64, 2.0, 3.0]), NdArray::from([10.0f64]));
    assert_eq!(
        f.call([&three, &one])?[0].array().to_vec::<f64>()?,
        [11.0, 12.0, 13.0]
    );
    // The slope of the short one is summed up, though nothing said so while building.
    let slopes = grad(&(&x * &y).sum(..)?, &[&y])?;
    let g = compile(&[&x, &y], &[&slopes[0]])?;
    assert_eq!(g.call([&three, &one])?[0].array().to_vec::<f64>()?, [6.0]);
    Ok(())
}

#[test]
fn mistakes_show_when_the_expression_is_written() {
    let a = tensor("a", DType::F64, [3usize, 4]);
    let line = line!() + 1;
    let error = a.matmul(&a).unwrap_err();
    assert!(
        matches!(error.kind(), GraphErrorKind::InnerLength { .. }),
        "{error}"
    );
    assert_eq!(error.spans()[0].location().line(), line);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        &a + &tensor("b", DType::F64, [5usize])
    }))
    .unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("Op [add]: cannot broadcast") && text.contains("words.rs"),
        "{text}"
    );
}

#[test]
fn run_time_errors_name_the_users_line() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let line = line!() + 1;
    let e = (&x + &y).exp()?;
    let f = compile(&[&x, &y], &[&e])?;
    let error = f
        .call([
            NdArray::from([1.0f64, 2.0]),
            NdArray::from([1.0f64, 2.0, 3.0]),
        ])
        .unwrap_err();
    assert!(
        error.spans().iter().any(|s| s.location().line() == line),
        "{error}"
    );
    Ok(())
}

#[test]
fn shared_values_are_one_container() -> Result<()> {
    let w = shared(NdArray::from([1.0f64, 2.0]), "w")?;
    let (double, sum) = (
        compile(&[], &[&(&*w * 2.0)])?,
        compile(&[], &[&w.sum(..)?])?,
    );
    w.set(NdArray::from([3.0f64, 4.0]))?;
    assert_eq!(double.call_empty()?[0].array().to_vec::<f64>()?, [6.0, 8.0]);
    assert_eq!(sum.call_empty()?[0].array().item::<f64>()?, 7.0);
    let got = w.get()?;
    got.array().assign(0.0)?;
    assert_eq!(
        sum.call_empty()?[0].array().item::<f64>()?,
        7.0,
        "get gives a copy"
    );
    let error = w.set(NdArray::from([1.0f32, 2.0])).unwrap_err();
    assert!(
        matches!(error.kind(), GraphErrorKind::ValueType { .. }),
        "{error}"
    );
    Ok(())
}

#[test]
fn givens_replace_in_one_function_only() -> Result<()> {
    let (x, y) = (dscalar("x"), dscalar("y"));
    let e = (&x + 1.0) * 2.0;
    let f = lodestride_graph::Function::builder(&[&y], &[&e])
        .given(&x, y.square()?)
        .compile()?;
    assert_eq!(f.call([3.0])?[0].array().item::<f64>()?, 20.0);
    assert_eq!(
        compile(&[&x], &[&e])?.call([3.0])?[0]
            .array()
            .item::<f64>()?,
        8.0
    );
    Ok(())
}

#[test]
fn debugprint_shares_subtrees() -> Result<()> {
    let x = dscalar("x");
    let e = x.exp()?;
    let y = (&e + 1.0) * &e;
    let text = debugprint(&[&y]);
    assert_eq!(text.matches("exp [id").count(), 2, "{text}");
    assert_eq!(text.matches("···").count(), 1, "{text}");
    let svg = compile(&[&x], &[&y])?.to_svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(y.to_dot()?.contains("digraph"));
    Ok(())
}

#[test]
fn an_executor_feeds_and_fetches_by_name() -> Result<()> {
    let executor = lodestride_graph::Executor::new();
    let (x, y) = (dvector("x"), dvector("y"));
    let (sum, product) = (&x + &y, &x * &y);
    let feed = [
        ("x", Value::from(NdArray::from([1.0f64, 2.0]))),
        ("y", Value::from(NdArray::from([3.0f64, 4.0]))),
    ];
    let out = executor.run(&feed, &[&sum, &product])?;
    assert_eq!(out[1].array().to_vec::<f64>()?, [3.0, 8.0]);
    let missing = executor.run(&feed[..1], &[&sum]).unwrap_err();
    assert!(
        missing.to_string().contains("missing feed [y]"),
        "{missing}"
    );
    let unknown = executor.run(&feed, &[&x.exp()?]).unwrap_err();
    assert!(
        unknown.to_string().contains("unknown feed [y]"),
        "{unknown}"
    );
    Ok(())
}

/// Twice its argument, by the array's own addition.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Double;

impl Op for Double {
    fn name(&self) -> Cow<'static, str> {
        "double".into()
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        match inputs {
            [x] => Ok(vec![x.ty.clone()]),
            other => Err(GraphErrorKind::InputCount {
                expected: 1,
                found: other.len(),
            }),
        }
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::fresh(inputs[0].shape().clone())])
    }

    fn perform(
        &self,
        inputs: &[SlotRef<'_>],
        outputs: &[SlotRef<'_>],
    ) -> Result<(), GraphErrorKind> {
        let x = inputs[0].data;
        x.add_into(x, outputs[0].data)?;
        Ok(())
    }

    fn gradient(&self, _: &Apply, slopes: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        let double = |g: &Variable| OpRef::from(Double).call(&[g]);
        Ok(vec![slopes[0].as_ref().map(double).transpose()?])
    }
}

#[test]
fn users_add_their_own_ops() -> Result<()> {
    let x = dvector("x");
    let double = OpRef::from(Double);
    let (y, z) = (double.call(&[&x])?, OpRef::from(Double).call(&[&x])?);
    let slope = grad(&(&y * &z).sum(..)?, &[&x])?.remove(0);
    let f = compile(&[&x], &[&(&y + &z), &slope])?;
    let doubles = f.graph().toposort()?;
    let doubles = doubles.iter().filter(|n| f.graph().op(**n).is::<Double>());
    assert_eq!(
        doubles.count(),
        2,
        "y and z are one node, y * z is a square; one more in the slope"
    );
    let out = f.call([NdArray::from([1.0f64, 2.0])])?;
    assert_eq!(out[0].array().to_vec::<f64>()?, [4.0, 8.0]);
    assert_eq!(out[1].array().to_vec::<f64>()?, [8.0, 16.0]);
    assert!(double.call(&[&x, &x]).is_err());
    Ok(())
}
