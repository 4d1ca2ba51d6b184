//! Graphs far deeper than a thread's stack, and the building rules of the explicit form.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use lodestride_array::NdArray;
use lodestride_graph::{
    Apply, Client, DType, Function, FunctionGraph, GraphErrorKind, Mode, Result, TensorType,
    Variable, compile, debugprint, dmatrix, dscalar, dvector, grad, ops, shared,
};

const DEPTH: usize = 100_000;

/// Runs on a thread with a small stack: any recursion over the graph would overflow it.
fn on_small_stack(body: impl FnOnce() -> Result<()> + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(body)
        .unwrap();
    thread.join().unwrap().unwrap();
}

fn chain(x: &Variable) -> Result<Variable> {
    let mut y = x.clone();
    for i in 0..DEPTH {
        y = if i % 2 == 0 { y.sin()? } else { y.add(x)? };
    }
    Ok(y)
}

#[test]
fn a_deep_chain_is_built_and_dropped() {
    on_small_stack(|| {
        let x = dscalar("x");
        let y = chain(&x)?;
        let node = y.owner().unwrap().clone();
        drop(y);
        drop(node);
        Ok(())
    });
}

#[test]
fn a_deep_chain_is_compiled_and_run() {
    on_small_stack(|| {
        let x = dscalar("x");
        let f = compile(&[&x], &[&chain(&x)?])?;
        let mut want = 0.3f64;
        for i in 0..DEPTH {
            want = if i % 2 == 0 { want.sin() } else { want + 0.3 };
        }
        let got = f.call([0.3])?[0].array().item::<f64>()?;
        assert!((got - want).abs() < 1e-9, "{got} {want}");
        Ok(())
    });
}

#[test]
fn a_deep_chain_is_differentiated() {
    on_small_stack(|| {
        let x = dscalar("x");
        let slope = grad(&chain(&x)?, &[&x])?.remove(0);
        let f = Function::builder(&[&x], &[&slope])
            .mode(Mode::unoptimised())
            .compile()?;
        let (mut value, mut want) = (0.3f64, 1.0f64);
        for i in 0..DEPTH {
            (value, want) = if i % 2 == 0 {
                (value.sin(), want * value.cos())
            } else {
                (value + 0.3, want + 1.0)
            };
        }
        let got = f.call([0.3])?[0].array().item::<f64>()?;
        assert!(
            (got - want).abs() < 1e-9 * want.abs().max(1.0),
            "{got} {want}"
        );
        Ok(())
    });
}

#[test]
fn a_deep_chain_is_printed() {
    on_small_stack(|| {
        let x = dscalar("x");
        let y = chain(&x)?;
        assert!(debugprint(&[&y]).lines().count() > DEPTH);
        assert!(y.to_dot()?.len() > DEPTH);
        assert!(y.to_svg()?.len() > DEPTH);
        Ok(())
    });
}

#[test]
fn the_explicit_form_sets_owner_and_index() -> Result<()> {
    let matrix = TensorType::new(DType::F64, [false, false]);
    let (x, y, z) = (
        Variable::new(&matrix, "x"),
        Variable::new(&matrix, "y"),
        Variable::new(&matrix, "z"),
    );
    let product = Variable::new(&matrix, None);
    let node_mul = Apply::new(ops::mul(), &[&y, &z], &[&product])?;
    assert_eq!((product.owner(), product.index()), (Some(&node_mul), 0));
    let sum = Variable::new(&matrix, None);
    let node_add = Apply::new(ops::add(), &[&x, &product], &[&sum])?;
    let e = sum;
    assert_eq!(e.owner(), Some(&node_add));
    assert_eq!(e.owner().unwrap().inputs()[0], x);
    assert_eq!(e.owner().unwrap().inputs()[1], product);
    assert_eq!(node_mul.outputs()[0], product);
    let again = Apply::new(ops::add(), &[&x, &y], &[&product]).unwrap_err();
    assert!(
        matches!(again.kind(), GraphErrorKind::OutputOwned { index: 0 }),
        "{again}"
    );
    // The output's identity outlives the handle that was passed in.
    drop(product);
    assert_eq!(node_mul.outputs()[0], node_add.inputs()[1]);
    Ok(())
}

#[test]
fn a_cycle_is_refused_when_it_is_made() -> Result<()> {
    let scalar = TensorType::new(DType::F64, [] as [bool; 0]);
    let x = dscalar("x");
    let open = Variable::new(&scalar, "open");
    let above = &open + &x;
    let error = Apply::new(ops::mul(), &[&above, &x], &[&open]).unwrap_err();
    assert!(matches!(error.kind(), GraphErrorKind::Cycle), "{error}");
    let itself = Apply::new(ops::mul(), &[&open, &x], &[&open]).unwrap_err();
    assert!(matches!(itself.kind(), GraphErrorKind::Cycle), "{itself}");

    let y = (&x + 1.0).exp()?;
    let mut graph = FunctionGraph::new(&[&x], &[&y])?;
    let topo = graph.toposort()?;
    let (sum, power) = (
        graph.node_outputs(topo[0])[0],
        graph.node_outputs(topo[1])[0],
    );
    let error = graph.replace(sum, power).unwrap_err();
    assert!(matches!(error.kind(), GraphErrorKind::Cycle), "{error}");
    graph.validate()?;
    let input = graph.inputs()[0];
    graph.replace(sum, input)?;
    graph.validate()?;
    assert_eq!(graph.toposort()?.len(), 1);
    Ok(())
}

#[test]
fn clients_and_merging() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let square = &x * &x;
    let graph = FunctionGraph::new(&[&x], &[&square, &square])?;
    let mul = graph.toposort()?[0];
    assert_eq!(
        graph.clients(graph.inputs()[0]),
        [Client::Node(mul, 0), Client::Node(mul, 1)]
    );
    assert_eq!(
        graph.clients(graph.outputs()[0]),
        [Client::Output(0), Client::Output(1)]
    );
    let (a, b) = ((&x + &y) * 2.0, (&x + &y) * 3.0);
    assert_eq!(
        FunctionGraph::new(&[&x, &y], &[&a, &b])?.toposort()?.len(),
        3
    );
    // 0.0 and -0.0 are two constants: 1 / x tells them apart.
    let (p, m) = (1.0 / (&x * 0.0), 1.0 / (&x * -0.0));
    assert_eq!(FunctionGraph::new(&[&x], &[&p, &m])?.toposort()?.len(), 4);
    Ok(())
}

#[test]
fn editing_the_graph_after_compiling_changes_nothing() -> Result<()> {
    let x = dscalar("x");
    let y = &x + 1.0;
    let f = compile(&[&x], &[&y])?;
    y.set_name("renamed");
    let _more = (&y * 2.0).exp()?;
    assert_eq!(f.call([1.0])?[0].array().item::<f64>()?, 2.0);
    Ok(())
}

#[test]
fn bad_calls_are_typed_errors() -> Result<()> {
    let (x, y) = (dmatrix("x"), dvector("y"));
    let out = &x + &y;
    let two = lodestride_graph::Constant::literal(2.0);
    let w = shared(NdArray::from([1.0f64]), "w")?;
    let kind = |e: lodestride_graph::GraphError| format!("{:?}", e.kind());
    let compile_cases: Vec<(Result<Function>, &str, &str)> = vec![
        (
            compile(&[&x, &y, &two], &[&out]),
            "ConstantInput",
            "Constant{2.0}",
        ),
        (compile(&[&x, &y, &w], &[&out]), "ConstantInput", "w"),
        (compile(&[&x], &[&out]), "MissingInput", "y"),
        (compile(&[&x, &y, &x], &[&out]), "DuplicateInput", "x"),
        (compile(&[&x, &y], &[&x.sum(..)?]), "UnusedInput", "y"),
    ];
    for (result, name, text) in compile_cases {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert!(kind(error).starts_with(name), "{name}");
    }
    let f = compile(&[&x, &y], &[&out])?;
    let (a, b) = (
        NdArray::from([[1.0f64, 2.0]]),
        NdArray::from([1.0f64, 2.0, 3.0]),
    );
    let mismatch = f.call([&a, &b]).unwrap_err();
    assert!(mismatch.to_string().contains("deep.rs"), "{mismatch}");
    let calls: Vec<(Result<_>, &str)> = vec![
        (f.call([&a]), "ArgumentCount"),
        (f.call([&b, &a]), "ValueType"),
        (
            f.call([&a, &NdArray::from([1i64, 2])]).map(|_| Vec::new()),
            "",
        ),
        (f.call_named([("x", &a)]), "MissingFeed"),
        (
            f.call_named([("x", &a), ("y", &b), ("z", &b)]),
            "UnknownFeed",
        ),
        (
            f.call_named([("x", &a), ("x", &a), ("y", &b)]),
            "DuplicateFeed",
        ),
    ];
    for (result, name) in calls {
        match result {
            Err(error) => assert!(kind(error).starts_with(name), "{name}"),
            Ok(_) => assert!(name.is_empty() || name == "ok", "{name} passed"),
        }
    }
    assert!(
        f.call([&a.cast(DType::F32)?, &b.cast(DType::F32)?])
            .is_err(),
        "lengths differ still"
    );
    Ok(())
}

#[test]
fn updates_read_old_values() -> Result<()> {
    let (a, b) = (
        shared(NdArray::from(1.0f64), "a")?,
        shared(NdArray::from(2.0f64), "b")?,
    );
    let swap = Function::builder(&[], &[&a])
        .update(&a, &b)
        .update(&b, &a)
        .compile()?;
    for (first, second) in [(2.0, 1.0), (1.0, 2.0), (2.0, 1.0)] {
        swap.call_empty()?;
        assert_eq!(
            (
                a.get()?.array().item::<f64>()?,
                b.get()?.array().item::<f64>()?
            ),
            (first, second)
        );
    }
    let twice = Function::builder(&[], &[])
        .update(&a, &b)
        .update(&a, &b)
        .compile()
        .unwrap_err();
    assert!(
        matches!(twice.kind(), GraphErrorKind::DuplicateUpdate { .. }),
        "{twice}"
    );
    let wrong = Function::builder(&[], &[])
        .update(&a, dvector("v"))
        .compile()
        .unwrap_err();
    assert!(
        matches!(wrong.kind(), GraphErrorKind::UpdateType { .. }),
        "{wrong}"
    );
    Ok(())
}

#[test]
fn outputs_never_share_memory_with_inputs() -> Result<()> {
    let x = dmatrix("x");
    let f = compile(
        &[&x],
        &[&x, &x.transpose()?, &x.get(&lodestride_array::s![0])?],
    )?;
    let a = NdArray::from([[1.0f64, 2.0], [3.0, 4.0]]);
    let out = f.call([&a])?;
    for value in &out {
        value.array().assign(9.0)?;
    }
    assert_eq!(a.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    Ok(())
}

#[test]
fn lengths_of_one_name_must_agree() -> Result<()> {
    let x = lodestride_graph::tensor("x", DType::F64, ["n"]);
    let y = lodestride_graph::tensor("y", DType::F64, ["n"]);
    let f = compile(&[&x, &y], &[&(&x + &y)])?;
    let (three, one) = (NdArray::from([1.0f64, 2.0, 3.0]), NdArray::from([1.0f64]));
    assert_eq!(f.call([&three, &three])?[0].array().len(), 3);
    let error = f.call([&three, &one]).unwrap_err();
    assert!(
        matches!(
            error.kind(),
            GraphErrorKind::Symbol {
                first: 3,
                second: 1,
                ..
            }
        ),
        "{error}"
    );
    Ok(())
}
