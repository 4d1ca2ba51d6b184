//! What the rewrites make of expressions, and what they must leave alone.

use lodestride_array::NdArray;
use lodestride_graph::{
    Disconnected, Function, Mode, Result, Variable, compile, disconnected, dmatrix, dscalar,
    dvector, grad, grad_with, lvector, ops,
};

/// The optimised expression over one vector, on one line per kernel.
fn kernels(x: &Variable, e: &Variable) -> Result<Vec<String>> {
    let f = Function::builder(&[x], &[e])
        .on_unused_input(lodestride_graph::Unused::Ignore)
        .mode(Mode::default().without_fusion())
        .compile()?;
    Ok(f.kernels().iter().map(ToString::to_string).collect())
}

#[test]
fn identities() -> Result<()> {
    let x = dvector("x");
    let cases: Vec<(&str, Variable, &[&str])> = vec![
        ("-(-x)", -(-&x), &[]),
        ("x*1+0", &x * 1.0 + 0.0, &[]),
        ("x-x", &x - &x, &[]),
        ("x*y/y", (&x * 3.0) / 3.0, &[]),
        ("zeros_like(x)+x", x.zeros_like()? + &x, &[]),
        ("ones_like(x)*x", x.ones_like()? * &x, &[]),
        ("(x+1)+2+3", (&x + 1.0) + 2.0 + 3.0, &["add"]),
        ("sum(-x)", (-&x).sum(..)?, &["sum{0}", "neg"]),
        ("sum(2x)", (&x * 2.0).sum(..)?, &["sum{0}", "mul"]),
        ("sum(x*x)", (&x * &x).sum(..)?, &["sum_squares{0}"]),
        ("sqrt(x^2)", x.square()?.sqrt()?, &["abs"]),
        ("x^0.5", x.pow(0.5)?, &["sqrt"]),
        ("x^2", x.pow(2)?, &["square"]),
        ("log(exp x)", x.exp()?.log()?, &[]),
        ("max(x, x)", x.maximum(&x)?, &[]),
        ("where(c, x, x)", ops::select(x.greater(0.0)?, &x, &x)?, &[]),
        ("where(true, x, y)", ops::select(true, &x, x.exp()?)?, &[]),
        ("x + -x*-1", &x * -1.0, &["neg"]),
        ("flip twice", x.flip(0)?.flip(0)?, &[]),
        (
            "x.T.T",
            x.expand_dims(&[0])?.transpose()?.transpose()?.squeeze(0)?,
            &[],
        ),
        ("x == x", x.equal(&x)?, &["eq"]),
    ];
    for (name, e, want) in cases {
        assert_eq!(kernels(&x, &e)?, want, "{name}");
    }
    Ok(())
}

#[test]
fn commutative_operands_are_ordered() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let e = (&x + &y).exp()? * (&y + &x).sin()?;
    let f = Function::builder(&[&x, &y], &[&e])
        .mode(Mode::default().without_fusion())
        .compile()?;
    assert_eq!(
        f.kernels().iter().filter(|op| op.name() == "add").count(),
        1
    );
    Ok(())
}

#[test]
fn strict_mode_keeps_every_bit() -> Result<()> {
    let x = dvector("x");
    let outputs = [&x - &x, &x * 0.0, x.exp()?.log()?, &x + 0.0];
    let outputs: Vec<&Variable> = outputs.iter().collect();
    let strict = Function::builder(&[&x], &outputs)
        .mode(Mode::strict())
        .compile()?;
    let values = NdArray::from([f64::INFINITY, f64::NAN, -0.0]);
    let out = strict.call([&values])?;
    assert!(
        out[0].array().to_vec::<f64>()?[..2]
            .iter()
            .all(|v| v.is_nan())
    );
    assert!(
        out[1].array().to_vec::<f64>()?[..2]
            .iter()
            .all(|v| v.is_nan())
    );
    assert!(out[3].array().to_vec::<f64>()?[2].is_sign_positive());
    Ok(())
}

#[test]
fn naive_losses_have_finite_slopes() -> Result<()> {
    let (x, labels) = (dmatrix("x"), lvector("labels"));
    let p = x.exp()? / x.exp()?.sum(lodestride_array::keep(1))?;
    let loss = -p.pick(&labels)?.log()?.mean(..)?;
    let slope = grad(&loss, &[&x])?.remove(0);
    let f = compile(&[&x, &labels], &[&loss, &slope])?;
    let scores = NdArray::from([[1000.0f64, 0.0], [0.0, -1000.0]]);
    let out = f.call([&scores, &NdArray::from([1i64, 0])])?;
    assert_eq!(out[0].array().item::<f64>()?, 500.0);
    assert_eq!(out[1].array().to_vec::<f64>()?, [0.5, -0.5, 0.0, 0.0]);
    Ok(())
}

#[test]
fn gradients_of_intermediates_and_lost_variables() -> Result<()> {
    let (x, y) = (dscalar("x"), dscalar("y"));
    let inner = x.square()?;
    let cost = (&inner * 3.0).exp()?.log()?;
    let slopes = grad(&cost, &[&inner, &x])?;
    let f = compile(&[&x], &[&slopes[0], &slopes[1]])?;
    let out = f.call([2.0])?;
    assert_eq!(out[0].array().item::<f64>()?, 3.0);
    assert_eq!(out[1].array().item::<f64>()?, 12.0);
    let error = grad(&cost, &[&y]).unwrap_err();
    assert!(
        error.to_string().contains("does not depend on [y]"),
        "{error}"
    );
    let zero = grad_with(&cost, &[&y], Disconnected::Zero)?.remove(0);
    assert_eq!(
        compile(&[&y], &[&zero])
            .or_else(|_| Function::builder(&[&y], &[&zero])
                .on_unused_input(lodestride_graph::Unused::Ignore)
                .compile())?
            .call([1.0])?[0]
            .array()
            .item::<f64>()?,
        0.0
    );
    let stopped = grad(&(disconnected(&inner)? * &x), &[&x])?.remove(0);
    assert_eq!(
        compile(&[&x], &[&stopped])?.call([3.0])?[0]
            .array()
            .item::<f64>()?,
        9.0
    );
    assert!(grad(&dvector("v"), &[&x]).is_err());
    Ok(())
}

#[test]
fn the_gradient_of_a_log_softmax_is_one_kernel_beside_it() -> Result<()> {
    let (x, w) = (dmatrix("x"), dmatrix("w"));
    let cost = (x.log_softmax(1)? * &w).sum(..)?;
    let slope = grad(&cost, &[&x])?.remove(0);
    let compiled = |mode| {
        let builder = Function::builder(&[&x, &w], &[&slope, &cost]);
        builder.mode(mode).compile()
    };
    let (quick, strict) = (compiled(Mode::default())?, compiled(Mode::strict())?);
    let names: Vec<String> = quick.kernels().iter().map(ToString::to_string).collect();
    assert!(
        names.iter().any(|name| name == "log_softmax_gradient{1}"),
        "{names:?}"
    );
    assert!(names.iter().all(|name| name != "softmax{1}"), "{names:?}");
    // An element that is masked out has no weight.
    let masked = f64::NEG_INFINITY;
    let a = NdArray::from([[1.0, -2.0, 30.0, 0.5], [0.0, masked, 3.0, -700.0]]);
    let b = NdArray::from([[0.5, -1.0, 2.0, 0.25], [1.0, 0.0, -0.5, 3.0]]);
    let found = quick.call([&a, &b])?[0].array().to_vec::<f64>()?;
    let wanted = strict.call([&a, &b])?[0].array().to_vec::<f64>()?;
    for (found, wanted) in found.iter().zip(&wanted) {
        let near = (found - wanted).abs() <= 1e-14 * wanted.abs().max(1.0);
        assert!(near, "{found} is not {wanted}");
    }
    Ok(())
}

#[test]
fn second_derivatives() -> Result<()> {
    let x = dscalar("x");
    let y = x.pow(3)? + x.sin()?;
    let first = grad(&y, &[&x])?.remove(0);
    let second = grad(&first, &[&x])?.remove(0);
    let f = compile(&[&x], &[&first, &second])?;
    let out = f.call([0.5])?;
    assert!((out[0].array().item::<f64>()? - (0.75 + 0.5f64.cos())).abs() < 1e-14);
    assert!((out[1].array().item::<f64>()? - (3.0 - 0.5f64.sin())).abs() < 1e-14);
    Ok(())
}

#[test]
fn the_log_names_rule_and_line() -> Result<()> {
    let x = dvector("x");
    let f = compile(&[&x], &[&(&x * 1.0)])?;
    let applied = &f.rewrites()[0];
    assert_eq!((applied.rule, &*applied.op), ("mul_one", "mul"));
    assert!(
        applied
            .span
            .is_some_and(|s| s.to_string().contains("rules.rs"))
    );
    Ok(())
}

#[test]
fn a_reduction_of_a_fused_value_is_one_kernel() -> Result<()> {
    let (x, y) = (dmatrix("x"), dvector("y"));
    let distance = || (&x - &y).square();
    let cases: Vec<(&str, Vec<Variable>, usize)> = vec![
        ("all", vec![distance()?.exp()?.sum(..)?], 1),
        ("rows", vec![distance()?.sum(1)?], 1),
        (
            "columns, kept",
            vec![distance()?.mean(lodestride_array::keep(0))?],
            1,
        ),
        ("largest", vec![(distance()? + 1.0).max(1)?], 1),
        (
            "two of one value",
            vec![distance()?.max(1)?, distance()?.min(1)?],
            3,
        ),
        ("the value too", vec![distance()?, distance()?.max(0)?], 2),
        (
            "part of the value too",
            vec![(distance()? + 1.0).exp()?.max(0)?, distance()? + 1.0],
            3,
        ),
        ("used again", vec![distance()?.exp()?.sum(..)? * &x + &y], 2),
    ];
    let a: Vec<f64> = (0..21).map(|i| f64::from(i % 5) / 4.0).collect();
    let a = NdArray::from_vec(a, [3, 7])?;
    let b = NdArray::from([0.5f64, 1.0, 0.25, 0.0, -1.0, 2.0, 0.125]);
    for (name, outputs, kernels) in cases {
        let outputs: Vec<&Variable> = outputs.iter().collect();
        let plain = Function::builder(&[&x, &y], &outputs)
            .mode(Mode::unoptimised())
            .compile()?;
        let fused = Function::builder(&[&x, &y], &outputs)
            .mode(Mode::default().with_fused_reductions())
            .compile()?;
        assert!(
            fused.kernels().len() <= kernels,
            "{name}: {}",
            fused.debugprint()
        );
        for a in [a.clone(), a.transpose().dup()?.transpose()] {
            let (p, q) = (plain.call([&a, &b])?, fused.call([&a, &b])?);
            for (p, q) in p.iter().zip(&q) {
                assert_eq!(p.array().shape(), q.array().shape(), "{name}");
                let (p, q) = (p.array().to_vec::<f64>()?, q.array().to_vec::<f64>()?);
                // Sums of 21 values in another order.
                let close = |(p, q): (&f64, &f64)| (p - q).abs() <= 21.0 * f64::EPSILON * p.abs();
                assert!(p.iter().zip(&q).all(close), "{name}: {p:?} {q:?}");
            }
        }
    }
    let strict = Function::builder(&[&x], &[&x.exp()?.sum(..)?])
        .mode(Mode::strict().with_fused_reductions())
        .compile()?;
    assert_eq!(strict.kernels().len(), 2, "the order of a sum is kept");
    Ok(())
}

#[test]
fn fusion_keeps_values() -> Result<()> {
    let (x, y) = (dmatrix("x"), dvector("y"));
    let e = ((&x * &y + 1.0).tanh()? - x.exp()?) * 0.5;
    let plain = Function::builder(&[&x, &y], &[&e])
        .mode(Mode::unoptimised())
        .compile()?;
    let fused = compile(&[&x, &y], &[&e])?;
    assert_eq!(fused.kernels().len(), 1);
    let a = NdArray::from([[0.1f64, 0.2, 0.3], [1.0, 2.0, 3.0]]);
    let b = NdArray::from([1.0f64, -1.0, 0.5]);
    let (p, q) = (plain.call([&a, &b])?, fused.call([&a, &b])?);
    assert_eq!(p[0].array().to_vec::<f64>()?, q[0].array().to_vec::<f64>()?);
    Ok(())
}
