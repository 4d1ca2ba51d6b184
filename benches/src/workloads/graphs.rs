//! Costs and their gradients as graphs over inputs of unknown lengths, compiled once: what training spends its time on. Their
//! rivals are PyTorch, which records and walks back, and JAX, which compiles for the lengths.

use lodestride::array::{ArrayError, NdArray};
use lodestride::graph::{
    Function, GraphError, Value, Variable, compile, fmatrix, ftensor3, fvector, grad, lvector,
};

use crate::answers::{of_ours, positions, uniform};
use crate::contest::{Contest, Failure};
use crate::suite::Suite;

/// The name, the size as the tables write it, and what makes the function and its arguments. The first output is compared.
type Case = (&'static str, &'static str, fn() -> Result<Called, Failure>);

/// A compiled function and what it is called with.
struct Called {
    function: Function,
    arguments: Vec<NdArray>,
}

const CASES: [Case; 10] = [
    ("gr.logistic", "400x784", logistic),
    ("gr.mlp", "128x784x256x10", perceptron),
    ("gr.products", "1e3", || products(1_000)),
    ("gr.products", "1e6", || products(1_000_000)),
    ("gr.layernorm", "4096x1024", layer_norm),
    ("gr.softmax", "4096x1024", softmax),
    ("gr.embed", "1e4x64", embedding),
    ("gr.rmsnorm", "512x512", root_mean_square_norm),
    ("gr.cosine", "1024x256", cosine),
    ("gr.attention", "16x128x64", attention),
];

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    for (workload, size, build) in CASES {
        let Some(key) = suite.wants(workload, size, "f32") else {
            continue;
        };
        let Called {
            function,
            arguments,
        } = build()?;
        // Sums of up to four million numbers, in another order.
        let mut contest = Contest::new(key, 1e-4);
        contest.ours(
            || function.call(&arguments),
            |values: Vec<Value>| of_ours(values[0].array().clone()),
        )?;
        suite.run(contest)?;
    }
    Ok(())
}

/// A cost and its gradients, the one that is compared first.
fn gradients(
    cost: &Variable,
    inputs: &[&Variable],
    of: &[&Variable],
) -> Result<Function, GraphError> {
    let gradients = grad(cost, of)?;
    let outputs: Vec<&Variable> = gradients.iter().chain([cost]).collect();
    compile(inputs, &outputs)
}

fn floats(shape: &[usize], stream: u64, low: f32, high: f32) -> Result<NdArray, ArrayError> {
    NdArray::from_vec(uniform(shape.iter().product(), stream, low, high), shape)
}

fn integers(count: usize, stream: u64, bound: usize) -> Result<NdArray, ArrayError> {
    NdArray::from_vec(positions(count, stream, bound), [count])
}

/// Logistic regression of the guide: cross-entropy with a penalty.
fn logistic() -> Result<Called, Failure> {
    let (x, y, w) = (fmatrix("x"), fvector("y"), fvector("w"));
    let p = x.matmul(&w)?.sigmoid()?;
    let entropy = -(&y * p.log()?) - (1.0 - &y) * (1.0 - &p).log()?;
    let cost = entropy.mean(..)? + 0.01 * w.square()?.sum(..)?;
    Ok(Called {
        function: gradients(&cost, &[&x, &y, &w], &[&w])?,
        arguments: vec![
            floats(&[400, 784], 1, -0.5, 0.5)?,
            floats(&[400], 2, 0.0, 1.0)?,
            floats(&[784], 3, -0.05, 0.05)?,
        ],
    })
}

/// One hidden layer and the cross-entropy of classes.
fn perceptron() -> Result<Called, Failure> {
    let (x, labels) = (fmatrix("x"), lvector("labels"));
    let (w1, b1, w2, b2) = (fmatrix("w1"), fvector("b1"), fmatrix("w2"), fvector("b2"));
    let hidden = (x.matmul(&w1)? + &b1).relu()?;
    let scores = hidden.matmul(&w2)? + &b2;
    let cost = scores.softmax_cross_entropy(&labels)?.mean(..)?;
    let parameters = [&w1, &b1, &w2, &b2];
    Ok(Called {
        function: gradients(&cost, &[&x, &labels, &w1, &b1, &w2, &b2], &parameters)?,
        arguments: vec![
            floats(&[128, 784], 1, -0.5, 0.5)?,
            integers(128, 2, 10)?,
            floats(&[784, 256], 3, -0.05, 0.05)?,
            floats(&[256], 4, -0.05, 0.05)?,
            floats(&[256, 10], 5, -0.05, 0.05)?,
            floats(&[10], 6, -0.05, 0.05)?,
        ],
    })
}

/// Elementwise only: `sum((tanh(x y) + exp(x)) sigmoid(y))`.
fn products(count: usize) -> Result<Called, Failure> {
    let (x, y) = (fvector("x"), fvector("y"));
    let cost = (((&x * &y).tanh()? + x.exp()?) * y.sigmoid()?).sum(..)?;
    Ok(Called {
        function: gradients(&cost, &[&x, &y], &[&x, &y])?,
        arguments: vec![
            floats(&[count], 1, -0.5, 0.5)?,
            floats(&[count], 2, -0.5, 0.5)?,
        ],
    })
}

/// Rows of mean 0 and variance 1 with a gain and a shift, written out; the cost is their mean square.
fn layer_norm() -> Result<Called, Failure> {
    let (x, gain, shift) = (fmatrix("x"), fvector("gain"), fvector("shift"));
    let apart = &x - x.mean(1)?.expand_dims(&[1])?;
    let variance = apart.square()?.mean(1)?.expand_dims(&[1])?;
    let normal = &apart / (variance + 1e-5).sqrt()? * &gain + &shift;
    let cost = normal.square()?.mean(..)? * 1e6;
    Ok(Called {
        function: gradients(&cost, &[&x, &gain, &shift], &[&gain, &x, &shift])?,
        arguments: vec![
            floats(&[4096, 1024], 1, -0.5, 0.5)?,
            floats(&[1024], 2, 0.5, 1.5)?,
            floats(&[1024], 3, -0.5, 0.5)?,
        ],
    })
}

/// The logarithm of the softmax of rows, weighted.
fn softmax() -> Result<Called, Failure> {
    let (x, weights) = (fmatrix("x"), fmatrix("weights"));
    let cost = (x.log_softmax(1)? * &weights).sum(..)?;
    Ok(Called {
        function: gradients(&cost, &[&x, &weights], &[&x])?,
        arguments: vec![
            floats(&[4096, 1024], 1, -0.5, 0.5)?,
            floats(&[4096, 1024], 2, -0.5, 0.5)?,
        ],
    })
}

/// Rows of a table by number: the gradient adds them up again.
fn embedding() -> Result<Called, Failure> {
    let (table, words) = (fmatrix("table"), lvector("words"));
    let cost = table.take(&words, 0)?.square()?.sum(..)?;
    Ok(Called {
        function: gradients(&cost, &[&table, &words], &[&table])?,
        arguments: vec![
            floats(&[10_000, 64], 1, -0.5, 0.5)?,
            integers(1_024, 2, 10_000)?,
        ],
    })
}

/// Rows divided by the root of their mean square, with a gain, weighted.
fn root_mean_square_norm() -> Result<Called, Failure> {
    let (x, gain, weights) = (fmatrix("x"), fvector("gain"), fmatrix("weights"));
    let mean = x.square()?.mean(1)?.expand_dims(&[1])?;
    let normal = &x / (mean + 1e-5).sqrt()? * &gain;
    let cost = (normal * &weights).sum(..)?;
    Ok(Called {
        function: gradients(&cost, &[&x, &gain, &weights], &[&x, &gain])?,
        arguments: vec![
            floats(&[512, 512], 1, -0.5, 0.5)?,
            floats(&[512], 2, 0.5, 1.5)?,
            floats(&[512, 512], 3, -0.5, 0.5)?,
        ],
    })
}

/// How far rows point in other directions: one less the cosine of the angle between them.
fn cosine() -> Result<Called, Failure> {
    let (a, b) = (fmatrix("a"), fmatrix("b"));
    let dot = (&a * &b).sum(1)?;
    let lengths = a.square()?.sum(1)?.sqrt()? * b.square()?.sum(1)?.sqrt()?;
    let cost = (1.0 - dot / lengths).mean(..)? * 1e3;
    Ok(Called {
        function: gradients(&cost, &[&a, &b], &[&a, &b])?,
        arguments: vec![
            floats(&[1024, 256], 1, -0.5, 0.5)?,
            floats(&[1024, 256], 2, -0.5, 0.5)?,
        ],
    })
}

/// Attention of some heads, and the mean square of what comes out.
fn attention() -> Result<Called, Failure> {
    let [q, k, v] = ["q", "k", "v"].map(|name| ftensor3(name));
    let scores = q.matmul(&k.permute(&[0, 2, 1])?)? * 0.125;
    let out = scores.softmax(2)?.matmul(&v)?;
    let cost = out.square()?.sum(..)?;
    let of = |stream| floats(&[16, 128, 64], stream, -0.5, 0.5);
    Ok(Called {
        function: gradients(&cost, &[&q, &k, &v], &[&q, &k, &v])?,
        arguments: vec![of(1)?, of(2)?, of(3)?],
    })
}
