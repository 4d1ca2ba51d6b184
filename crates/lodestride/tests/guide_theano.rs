//! Theano's tutorial on graph structures in the order of its sections: every example and every result it states. One test
//! for each of its paragraphs; docs/parity.csv names them.

use lodestride::Result;
use lodestride::array::Scalar;
use lodestride::graph::{
    Apply, Client, Constant, Dim, FunctionGraph, GraphErrorKind, Mode, TensorType, Type, compile,
    debugprint, dmatrix, dscalar, irow, ivector, matrix, ops, vector,
};
use lodestride::prelude::*;

/// The apply node that computes a variable.
#[track_caller]
fn owner(variable: &Variable) -> &Apply {
    variable.owner().expect("the variable is computed")
}

/// "Graph structures": the figure of `z = x + y` for two double matrices.
#[test]
fn the_figure_of_x_plus_y() -> Result<()> {
    let x = dmatrix("x");
    let y = dmatrix("y");
    let z = &x + &y;
    // Red boxes: three Variables. A blue box: one Apply. A green circle: its Op. Purple boxes: their Types.
    let node: &Apply = owner(&z);
    assert_eq!(*node.op(), ops::add());
    for variable in [&x, &y, &z] {
        assert_eq!(*variable.ty(), Type::tensor(DType::F64, [false, false]));
    }
    assert_eq!(node.inputs(), [x.clone(), y.clone()]);
    assert_eq!(node.outputs(), std::slice::from_ref(&z));
    // "The owner of x and y is None because they are not the result of another computation."
    assert!(x.owner().is_none() && y.owner().is_none());
    // "The Apply's output points to z, and z.owner points back to the Apply."
    assert_eq!(node.output(z.index()).as_ref(), Some(&z));
    Ok(())
}

/// "A bipartite, directed, acyclic graph": Variables and Apply nodes alternate; a cycle is refused.
#[test]
fn the_graph_is_bipartite_directed_and_acyclic() -> Result<()> {
    let (x, y) = (dmatrix("x"), dmatrix("y"));
    let e = (&x + &y).exp()? * &x;
    let mut variables = vec![e.clone()];
    let mut applications = 0;
    while let Some(variable) = variables.pop() {
        if let Some(node) = variable.owner() {
            applications += 1;
            assert!(node.outputs().contains(&variable));
            variables.extend_from_slice(node.inputs());
        }
    }
    assert_eq!(applications, 3);
    let circle = Variable::new(x.ty(), None);
    let error = Apply::new(ops::add(), &[&circle, &x], &[&circle]).expect_err("a cycle");
    assert!(matches!(error.kind(), GraphErrorKind::Cycle), "{error}");
    Ok(())
}

/// "Short example": three Variables without owner; two Variables and two Apply nodes for `e = x + y * z`.
#[test]
fn the_short_example() -> Result<()> {
    let x = matrix("x");
    let y = matrix("y");
    let z = matrix("z");
    let e = &x + &y * &z;
    for variable in [&x, &y, &z] {
        assert!(variable.owner().is_none());
    }
    let node_add = owner(&e);
    assert_eq!(*node_add.op(), ops::add());
    let product = &node_add.inputs()[1];
    let node_mul = owner(product);
    assert_eq!(*node_mul.op(), ops::mul());
    assert_ne!(node_add, node_mul);
    assert_eq!(
        FunctionGraph::new(&[&x, &y, &z], &[&e])?.toposort()?.len(),
        2
    );
    Ok(())
}

/// "Long example": the same graph without any shortcut, with each of the guide's assertions.
#[test]
fn the_long_example() -> Result<()> {
    // A type that represents a matrix of doubles.
    let float64_matrix = TensorType::new(DType::F64, [false, false]);
    assert_eq!(float64_matrix.dtype(), DType::F64);
    assert_eq!(float64_matrix.broadcastable(), [false, false]);

    // The Variables we need.
    let x = Variable::new(&float64_matrix, "x");
    let y = Variable::new(&float64_matrix, "y");
    let z = Variable::new(&float64_matrix, "z");

    // The Variable that stands for y * z.
    let mul_variable = Variable::new(&float64_matrix, None);
    assert!(mul_variable.owner().is_none());

    // A symbolic multiplication.
    let node_mul = Apply::new(ops::mul(), &[&y, &z], &[&mul_variable])?;
    // "Fields 'owner' and 'index' are set by Apply."
    assert_eq!(mul_variable.owner(), Some(&node_mul));
    assert_eq!(mul_variable.index(), 0);

    // The Variable that stands for x + (y * z).
    let add_variable = Variable::new(&float64_matrix, None);
    assert!(add_variable.owner().is_none());

    // A symbolic addition.
    let node_add = Apply::new(ops::add(), &[&x, &mul_variable], &[&add_variable])?;
    assert_eq!(add_variable.owner(), Some(&node_add));
    assert_eq!(add_variable.index(), 0);

    let e = add_variable;

    // "We have access to x, y and z through pointers."
    assert_eq!(owner(&e).inputs()[0], x);
    assert_eq!(owner(&e).inputs()[1], mul_variable);
    assert_eq!(owner(&owner(&e).inputs()[1]).inputs()[0], y);
    assert_eq!(owner(&owner(&e).inputs()[1]).inputs()[1], z);

    // Both ways give the same computation.
    let explicit = compile(&[&x, &y, &z], &[&e])?;
    let [a, b, c] = [2.0, 3.0, 4.0].map(|v| NdArray::from([[v]]));
    let [found] = &explicit.call([&a, &b, &c])?[..] else {
        unreachable!("one output")
    };
    assert_eq!(found.array(), &NdArray::from([[14.0]]));
    Ok(())
}

/// "Automatic wrapping": `e = dscalar('x') + 1` and the graph it builds.
#[test]
fn numbers_are_wrapped_as_constants() -> Result<()> {
    let x = dscalar("x");
    let e = &x + 1;
    let node = owner(&e);
    assert_eq!(*node.op(), ops::add());
    assert_eq!(node.inputs()[0], x);
    assert_eq!(
        (x.ty().to_string(), x.name().as_deref()),
        ("dscalar".into(), Some("x"))
    );
    let constant = node.inputs()[1].as_constant().expect("1 is a Constant");
    assert_eq!(constant.ty().to_string(), "lscalar");
    assert_eq!(constant.data().array(), &NdArray::scalar(1i64)?);
    assert_eq!(node.outputs(), std::slice::from_ref(&e));
    assert_eq!(e.ty().to_string(), "dscalar");
    Ok(())
}

/// "..builds the following graph: `Apply(op = add, inputs = [Variable.., Constant..], outputs = [Variable(dscalar)])`."
#[test]
fn the_wrapped_graph_can_be_written_by_hand() -> Result<()> {
    let dscalar = TensorType::new(DType::F64, [] as [Dim; 0]);
    let x = Variable::new(&dscalar, "x");
    let one = Constant::literal(1);
    let node = Apply::new(ops::add(), &[&x, &one], &[&Variable::new(&dscalar, None)])?;
    let e = node.out()?;
    assert_eq!((e.ty().to_string(), e.index()), ("dscalar".into(), 0));
    let f = compile(&[&x], &[&e])?;
    assert_eq!(f.call([2.5])?[0].array().item::<f64>()?, 3.5);
    Ok(())
}

/// "An Apply node: op, inputs, outputs"; "obtained from the Op and a list of inputs by calling `Op.make_node`".
#[test]
fn an_apply_has_op_inputs_and_outputs() -> Result<()> {
    let (x, y) = (dmatrix("x"), dmatrix("y"));
    let node = ops::mul().make_node(&[&x, &y])?;
    assert_eq!(*node.op(), ops::mul());
    assert_eq!(node.inputs(), [x.clone(), y.clone()]);
    assert_eq!((node.output_count(), node.outputs().len()), (1, 1));
    let result = node.out()?;
    assert_eq!((result.owner(), result.index()), (Some(&node), 0));
    // "Apply nodes are reached through the owner of a variable."
    assert_eq!(*owner(&(&x * &y)).op(), *node.op());
    Ok(())
}

/// "An Op is the definition of a function, an Apply its call: `g(f(4), 5)` makes an Apply node for f."
#[test]
fn an_op_is_a_definition_and_an_apply_a_call() -> Result<()> {
    let x = dmatrix("x");
    let f = ops::exp();
    let (a, b) = (f.call(&[&x])?, f.call(&[&x])?);
    assert_eq!(owner(&a).op(), owner(&b).op(), "one Op");
    assert_ne!(owner(&a), owner(&b), "two calls");
    let g = ops::add().call(&[&a, &Variable::from(5.0)])?;
    assert_eq!(*owner(&owner(&g).inputs()[0]).op(), f);
    // Compiling merges equal calls: two in the user's graph, one in the copy.
    let graph = FunctionGraph::new(&[&x], &[&a, &b])?;
    assert_eq!(graph.toposort()?.len(), 1);
    assert_eq!(graph.outputs()[0], graph.outputs()[1]);
    Ok(())
}

/// "A Type is a set of constraints on data": irow is i32, two-dimensional and 1xN; dmatrix is f64 and MxN.
#[test]
fn a_type_constrains_dtype_and_shape() -> Result<()> {
    let (row, matrix) = (irow("row"), dmatrix("matrix"));
    let irow = row.ty();
    assert_eq!((irow.dtype(), irow.rank()), (DType::I32, 2));
    assert_eq!(irow.dims(), [Dim::Known(1), Dim::Unknown]);
    assert_eq!(irow.broadcastable(), [true, false]);
    let dmatrix = matrix.ty();
    assert_eq!((dmatrix.dtype(), dmatrix.rank()), (DType::F64, 2));
    assert_eq!(dmatrix.dims(), [Dim::Unknown, Dim::Unknown]);
    assert_eq!(dmatrix.broadcastable(), [false, false]);
    // "Both use numpy.ndarray to compute and store, and yet they are different Types."
    assert_ne!(irow, dmatrix);
    assert_eq!(
        (irow.to_string(), dmatrix.to_string()),
        ("irow".into(), "dmatrix".into())
    );
    Ok(())
}

/// The constraints hold when data arrive: what irow and dmatrix accept.
#[test]
fn values_are_checked_against_their_type() -> Result<()> {
    let (row, matrix) = (irow("row"), dmatrix("matrix"));
    let of_row = compile(&[&row], &[&(&row + 1)])?;
    let of_matrix = compile(&[&matrix], &[&(&matrix + 1)])?;
    let ints = |shape: [usize; 2]| NdArray::zeros_of(DType::I32, shape);
    assert_eq!(of_row.call([ints([1, 4])?])?[0].array().shape()[..], [1, 4]);
    let refused = [
        of_row.call([ints([2, 4])?]),
        of_row.call([NdArray::zeros_of(DType::I64, [1, 4])?]),
        of_row.call([NdArray::zeros_of(DType::F64, [1, 4])?]),
        of_row.call([NdArray::zeros_of(DType::I32, [4])?]),
        of_matrix.call([NdArray::zeros_of(DType::F64, [2, 3, 4])?]),
    ];
    for result in refused {
        let error = result.expect_err("outside the type");
        assert!(
            matches!(error.kind(), GraphErrorKind::ValueType { .. }),
            "{error}"
        );
    }
    // As in Theano, a value that loses nothing on the way is converted: i32 becomes f64, never the other way round.
    assert_eq!(
        of_matrix.call([ints([2, 4])?])?[0].array().dtype(),
        DType::F64
    );
    for shape in [[2, 3], [1, 1], [0, 5]] {
        let value = NdArray::zeros_of(DType::F64, shape)?;
        assert_eq!(of_matrix.call([value])?[0].array().shape()[..], shape);
    }
    Ok(())
}

/// "`x = ivector(); y = -x`: both are Variables, of the same Type; the computation is reached through `y.owner`."
#[test]
fn the_variables_of_minus_x() -> Result<()> {
    let x = ivector(None);
    let y = -&x;
    assert_eq!((x.ty(), x.ty().to_string()), (y.ty(), "ivector".into()));
    assert!(x.owner().is_none());
    assert_eq!(*owner(&y).op(), ops::neg());
    assert_eq!(owner(&y).inputs(), [x]);
    Ok(())
}

/// "A variable r has four fields: type, owner, index, name."
#[test]
fn a_variable_has_type_owner_index_and_name() -> Result<()> {
    let r = (dscalar("x") * 2.0).with_name("twice");
    assert_eq!(r.ty().to_string(), "dscalar");
    assert_eq!(
        owner(&r).output(r.index()),
        Some(r.clone()),
        "owner.outputs[index] is r"
    );
    assert_eq!(r.name().as_deref(), Some("twice"));
    // "A name for friendly printing and debugging": it decides nothing else.
    assert_eq!(
        debugprint(&[&r]),
        "mul [id A] 'twice'\n ├─ x [id B]\n └─ Constant{2.0} [id C]\n"
    );
    assert_ne!(dscalar("twice"), r);
    Ok(())
}

/// "A Constant is a Variable with one more field, data, which is set once", and Ops do not modify it.
#[test]
fn a_constant_is_a_variable_with_data() -> Result<()> {
    let data = NdArray::from([1.0f64, 2.0]);
    let c = Constant::new(&data, "c")?;
    assert!(c.owner().is_none() && c.variable().is_constant());
    data.assign(Scalar::Float(9.0))?;
    assert_eq!(
        c.data().array(),
        &NdArray::from([1.0f64, 2.0]),
        "its own copy"
    );
    // "It takes part in many optimisations": 2 * c + 1 is folded and nothing is left to compute.
    let folded = compile(&[], &[&(&Variable::from(&c) * 2.0 + 1.0)])?;
    assert_eq!(
        folded.graph().toposort()?.len(),
        0,
        "{}",
        folded.debugprint()
    );
    assert_eq!(
        folded.call_empty()?[0].array(),
        &NdArray::from([3.0f64, 5.0])
    );
    assert_eq!(c.data().array(), &NdArray::from([1.0f64, 2.0]));
    Ok(())
}

/// "Constants need not be given in the inputs of a function. In fact, doing so raises an exception."
#[test]
fn a_constant_among_the_inputs_is_an_error() -> Result<()> {
    let x = dscalar("x");
    let c = Constant::new(2.0, "c")?;
    let e = &x + &Variable::from(&c);
    assert_eq!(
        compile(&[&x], &[&e])?.call([1.0])?[0]
            .array()
            .item::<f64>()?,
        3.0
    );
    let error = compile(&[&x, &c], &[&e]).expect_err("c is a constant");
    assert!(
        matches!(error.kind(), GraphErrorKind::ConstantInput { names } if names.to_string() == "[c]"),
        "{error}"
    );
    Ok(())
}

/// "The graph is copied at the start of compilation, so that compiling does not affect the user's graph."
#[test]
fn compiling_copies_the_graph() -> Result<()> {
    let (x, y) = (dmatrix("x"), dmatrix("y"));
    let e = (&x + &y * 1.0 + 0.0).with_name("e");
    let (printed, inputs) = (debugprint(&[&e]), owner(&e).inputs().to_vec());
    let f = compile(&[&x, &y], &[&e])?;
    assert_eq!(
        f.graph().toposort()?.len(),
        1,
        "optimised: {}",
        f.debugprint()
    );
    assert_eq!(debugprint(&[&e]), printed);
    assert_eq!(owner(&e).inputs(), inputs);
    // Later changes of the user's variables do not reach the function.
    x.set_name("renamed");
    assert_eq!(f.input_names().to_string(), "[x, y]");
    Ok(())
}

/// "Each variable gets clients; a length of 0 means that it is not used; two kinds of pairs."
#[test]
fn clients_list_every_use() -> Result<()> {
    let (x, unused) = (dscalar("x"), dscalar("unused"));
    let square = &x * &x;
    let graph = FunctionGraph::new(&[&x, &unused], &[&square, &square])?;
    let node = graph.toposort()?[0];
    let (x, unused) = (graph.inputs()[0], graph.inputs()[1]);
    assert_eq!(graph.clients(unused), []);
    assert_eq!(
        graph.clients(x),
        [Client::Node(node, 0), Client::Node(node, 1)]
    );
    let output = graph.node_outputs(node)[0];
    assert_eq!(
        graph.clients(output),
        [Client::Output(0), Client::Output(1)]
    );
    // `var.clients[*][0].inputs[index]` or `fgraph.outputs[index]` is the variable.
    for value in [x, output] {
        for client in graph.clients(value) {
            let used = match *client {
                Client::Node(node, index) => graph.node_inputs(node)[index],
                Client::Output(index) => graph.outputs()[index],
            };
            assert_eq!(used, value);
        }
    }
    Ok(())
}

/// "`f = theano.function([v], (v+1).sum())`": debugprint, toposort, and the clients of its two nodes, as written.
#[test]
fn the_compiled_graph_of_v_plus_1_sum() -> Result<()> {
    let v = vector("v");
    let f = compile(&[&v], &[&(&v + 1).sum(..)?])?;
    let value = NdArray::from([1.0f32, 2.0, 3.0]);
    assert_eq!(f.call([&value])?[0].array().item::<f32>()?, 9.0);

    let fgraph = f.written_graph();
    assert_eq!(
        fgraph.debugprint(),
        "sum{0} [id A] 1\n └─ add [id B] 0\n    ├─ v [id C]\n    └─ Constant{1} [id D]\n"
    );
    let topo = fgraph.toposort()?;
    assert_eq!(topo.len(), 2);
    assert_eq!(*fgraph.op(topo[0]), ops::add());
    assert!(fgraph.op(topo[1]).name().starts_with("sum"));

    // An internal variable: [(Sum(Elemwise{add,no_inplace}.0), 0)].
    let var = fgraph.node_outputs(topo[0])[0];
    assert_eq!(fgraph.clients(var), [Client::Node(topo[1], 0)]);
    let Client::Node(node, index) = fgraph.clients(var)[0] else {
        unreachable!("the client is an apply node")
    };
    assert_eq!(fgraph.node_inputs(node)[index], var);

    // An output of the graph: [('output', 0)].
    let var = fgraph.node_outputs(topo[1])[0];
    assert_eq!(fgraph.clients(var), [Client::Output(0)]);
    let Client::Output(index) = fgraph.clients(var)[0] else {
        unreachable!("the client is the function's output")
    };
    assert_eq!(fgraph.outputs()[index], var);
    Ok(())
}

/// The graphs as they run: node by node without fusion, the elementwise part as one kernel with it.
#[test]
fn the_same_graphs_unfused_and_fused() -> Result<()> {
    let unfused = Mode::default().without_fusion();
    let v = vector("v");
    let sum = (&v + 1).sum(..)?;
    let f = Function::builder(&[&v], &[&sum]).mode(unfused).compile()?;
    assert_eq!(
        f.graph().toposort()?.len(),
        2,
        "add and sum: {}",
        f.debugprint()
    );
    assert_eq!(f.kernels().len(), 2);
    let value = NdArray::from([1.0f32, 2.0, 3.0]);
    assert_eq!(f.call([&value])?[0].array().item::<f32>()?, 9.0);

    let (x, y, z) = (matrix("x"), matrix("y"), matrix("z"));
    let e = &x + &y * &z;
    for (mode, kernels) in [(unfused, 2), (Mode::default(), 1)] {
        let f = Function::builder(&[&x, &y, &z], &[&e])
            .mode(mode)
            .compile()?;
        assert_eq!(f.kernels().len(), kernels, "{}", f.debugprint());
        let values = [2.0f32, 3.0, 4.0].map(|v| NdArray::from([[v]]));
        assert_eq!(f.call(&values)?[0].array(), &NdArray::from([[14.0f32]]));
    }
    Ok(())
}
