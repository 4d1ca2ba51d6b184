//! Graphs: expressions that make no sense, inputs that may not be inputs, feeds that are missing, unknown or of another type.

use lodestride::Result;
use lodestride::graph::GraphErrorKind as Kind;
use lodestride::graph::{
    Apply, Constant, Executor, compile, dmatrix, dscalar, dvector, imatrix, ivector, lod, ops,
    tensor,
};
use lodestride::lod::lengths;
use lodestride::prelude::*;

use super::{case, check};

#[test]
fn expressions_that_make_no_sense() -> Result<()> {
    let (a, b) = (
        tensor("a", DType::F64, [3usize]),
        tensor("b", DType::F64, [4usize]),
    );
    let m = tensor("m", DType::F64, [3usize, 4]);
    let x = dmatrix("x");
    let bytes = tensor("bytes", DType::U8, [None]);
    let taken = &x + &x;
    check(vec![
        case!("shapes", [], a.add(&b), Graph Kind::Broadcast { .. },
            ["Op [add]", "(3,)", "(4,)", "written at", "bad_input/graphs.rs", "[a, b]", "help: "]),
        case!("inner lengths", [], m.matmul(&m), Graph Kind::InnerLength { .. },
            ["matmul", "(3, 4)", "inner lengths", "help: "]),
        case!("axis", [], x.sum(2), Graph _, ["axis 2", "rank 2"]),
        case!("literal", [], bytes.add(300), Graph Kind::LiteralRange { value: 300, .. },
            ["Op [add]", "300", "u8", "cast"]),
        case!("number of inputs", [], ops::add().call(&[&x]), Graph Kind::InputCount { expected: 2, found: 1 },
            ["Op [add]", "2 inputs", "got 1"]),
        case!("output taken twice", [], Apply::new(ops::add(), &[&x, &x], &[&taken]), Graph Kind::OutputOwned { index: 0 },
            ["Op [add]", "output 0", "another apply node", "help: "]),
        case!("output of another type", [], Apply::new(ops::add(), &[&x, &x], &[&dvector(None)]), Graph Kind::OutputType { .. },
            ["dmatrix", "dvector", "help: "]),
        case!("a constant as output", [], Apply::new(ops::add(), &[&x, &x], &[&Constant::literal(1)]), Graph Kind::ConstantOutput { .. },
            ["constant", "no owner", "help: "]),
        case!("gradient of a matrix", [], grad(&x, &[&x]), Graph Kind::Cost { .. },
            ["dmatrix", "`sum` or `mean`"]),
        case!("gradient of an integer", [], { let i = imatrix("i"); let cost = (&x * &i).sum(..)?; grad(&cost, &[&i]) }, Graph Kind::IntegerGradient { .. },
            ["i", "floats only", "help: "]),
        case!("gradient without a path", [], grad(&x.sum(..)?, &[&dscalar("other")]), Graph Kind::Disconnected { .. },
            ["other", "`Disconnected::Zero`"]),
        case!("sequences of a dense variable", [], x.sequence_softmax(-1), Graph _, ["dmatrix"]),
    ]);
    Ok(())
}

#[test]
fn inputs_that_may_not_be_inputs() -> Result<()> {
    let (x, y) = (dscalar("x"), dscalar("y"));
    let c = Constant::new(2.0, "c")?;
    let w = shared(NdArray::from(1.0f64), "w")?;
    let e = &x + &y;
    check(vec![
        case!("a constant", [], compile(&[&x, &y, &c], &[&(&e * &Variable::from(&c))]), Graph Kind::ConstantInput { .. },
            ["[c]", "need not be listed", "help: "]),
        case!("a literal", [], compile(&[&x, &y, &Constant::literal(1)], &[&e]), Graph Kind::ConstantInput { .. },
            ["Constant{1}", "help: "]),
        case!("a shared variable", [], compile(&[&x, &y, &w], &[&(&e * &Variable::from(&w))]), Graph Kind::ConstantInput { .. },
            ["[w]", "help: "]),
        case!("a missing one", [], compile(&[&x], &[&e]), Graph Kind::MissingInput { .. },
            ["[y]", "not among the inputs", "written at", "help: "]),
        case!("an unused one", [], compile(&[&x, &y], &[&(&x + 1)]), Graph Kind::UnusedInput { .. },
            ["[y]", "not used", "Unused::Ignore"]),
        case!("one twice", [], compile(&[&x, &y, &x], &[&e]), Graph Kind::DuplicateInput { .. },
            ["[x]", "more than once", "help: "]),
        case!("an update of another type", [], Function::builder(&[], &[]).update(&w, dmatrix("m")).compile(), Graph Kind::UpdateType { .. },
            ["w", "dscalar", "dmatrix", "help: "]),
        case!("two updates of one", [], Function::builder(&[], &[]).update(&w, 1.0).update(&w, 2.0).compile(), Graph Kind::DuplicateUpdate { .. },
            ["w", "twice", "help: "]),
    ]);
    Ok(())
}

#[test]
fn calls_with_the_wrong_values() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let f = compile(&[&x, &y], &[&(&x + &y)])?;
    let n = ivector("n");
    let of_ints = compile(&[&n], &[&(&n + 1)])?;
    let (two, three) = (
        NdArray::from([1.0f64, 2.0]),
        NdArray::from([1.0f64, 2.0, 3.0]),
    );
    let floats = NdArray::from([1.0f32, 2.0]);
    let square = NdArray::from([[1.0f64]]);
    check(vec![
        case!("too few", [&two], f.call([&two]), Graph Kind::ArgumentCount { found: 1, .. },
            ["2 values [x, y]", "got 1", "help: "]),
        case!("another dtype", [&two, &floats], of_ints.call([&floats]), Graph Kind::ValueType { .. },
            ["n", "ivector", "f32", "help: "]),
        case!("another rank", [&two, &square], f.call([&square, &two]), Graph Kind::ValueType { .. },
            ["x", "dvector", "help: "]),
        case!("lengths that only the call knows", [&two, &three], f.call([&two, &three]), Graph Kind::Shape(_),
            ["add", "[2]", "[3]", "bad_input/graphs.rs"]),
        case!("a missing name", [&two], f.call_named([("x", &two)]), Graph Kind::MissingFeed { .. },
            ["[y]", "[x, y]", "help: "]),
        case!("an unknown name", [&two], f.call_named([("x", &two), ("z", &two)]), Graph Kind::UnknownFeed { .. } | Kind::MissingFeed { .. },
            ["z"]),
    ]);
    Ok(())
}

#[test]
fn feeds_that_are_missing_or_unknown() -> Result<()> {
    let (x, y) = (
        lod("x", DType::F32, [None], 1),
        lod("y", DType::F32, [None], 2),
    );
    let out = x.sequence_expand(&y, 0)?;
    let x_d = LodTensor::new(NdArray::ones([4, 1])?, lengths![[1, 3]])?;
    let y_d = LodTensor::new(NdArray::ones([6, 1])?, lengths![[1, 3], [2, 1, 2, 1]])?;
    let (xv, yv) = (Value::from(&x_d), Value::from(&y_d));
    let other = Value::from(LodTensor::new(NdArray::ones([4, 1])?, lengths![[1, 1, 2]])?);
    let exe = Executor::new();
    let unnamed = dscalar(None);
    let run = |feed: &[(&str, &Value)]| {
        let feed: Vec<(&str, Value)> = feed.iter().map(|(name, v)| (*name, (*v).clone())).collect();
        exe.run(&feed, &[&out])
    };
    let dense = Value::from(NdArray::ones([4, 1])?);
    check(vec![
        case!("missing", [x_d.data()], run(&[("x", &xv)]), Graph Kind::MissingFeed { .. },
            ["missing feed [y]", "the inputs are [x, y]", "help: "]),
        case!("unknown", [x_d.data()], run(&[("x", &xv), ("y", &yv), ("z", &xv)]), Graph Kind::UnknownFeed { .. },
            ["unknown feed [z]", "the inputs are [x, y]", "help: "]),
        case!("twice", [x_d.data()], run(&[("x", &xv), ("y", &yv), ("x", &xv)]), Graph Kind::DuplicateFeed { .. },
            ["x", "twice", "help: "]),
        case!("dense for ragged", [x_d.data()], run(&[("x", &dense), ("y", &yv)]), Graph Kind::ValueType { .. },
            ["x", "lod_level=1", "help: "]),
        case!("one level for two", [x_d.data()], run(&[("x", &xv), ("y", &xv)]), Graph Kind::ValueType { .. },
            ["y", "lod_level=2", "lod_level=1", "help: "]),
        case!("sequences that do not match", [x_d.data(), y_d.data()], run(&[("x", &other), ("y", &yv)]), Graph _,
            ["expand", "3", "2", "bad_input/graphs.rs"]),
        case!("an input without a name", [], exe.run(&[], &[&(&unnamed + 1)]), Graph Kind::UnnamedInput { .. },
            ["name"]),
    ]);
    Ok(())
}
