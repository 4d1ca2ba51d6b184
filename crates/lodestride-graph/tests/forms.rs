//! A function gives what its graph says whatever the pattern of lengths it is called with, and says what does not fit as before.

use lodestride_array::kernels::SegmentOp;
use lodestride_array::{NdArray, Rng};
use lodestride_graph::{
    DType, Function, Mode, Result, Unused, Value, Variable, compile, dmatrix, dvector, grad, lod,
    ops,
};
use lodestride_lod::{Lod, LodTensor};

/// An array of values between 0.5 and 1.5.
fn values(rng: &mut Rng, shape: &[usize]) -> Result<NdArray> {
    let array = rng.uniform(shape.to_vec(), 0.5, 1.5)?;
    Ok(array.cast(DType::F64)?)
}

/// The largest difference of two results, in units of the last place of the larger value.
fn difference(a: &NdArray, b: &NdArray) -> Result<f64> {
    assert_eq!(a.shape(), b.shape());
    let (a, b) = (a.to_vec::<f64>()?, b.to_vec::<f64>()?);
    let largest = a.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    // What is no number, or infinite, is so in both.
    let apart = |(a, b): (&f64, &f64)| match (a - b).abs() {
        _ if a == b || (a.is_nan() && b.is_nan()) => 0.0,
        apart if apart.is_nan() => f64::INFINITY,
        apart => apart,
    };
    let differences = a.iter().zip(&b).map(apart);
    Ok(differences.fold(0.0, f64::max) / (largest * f64::EPSILON))
}

/// The same outputs as written and as optimised.
struct Pair {
    name: String,
    plain: Function,
    quick: Function,
    /// In ulp of the largest value: none where no rule may change a bit, else for sums of a few numbers in another order.
    tolerance: f64,
}

impl Pair {
    fn new(
        name: impl Into<String>,
        inputs: &[&Variable],
        outputs: &[&Variable],
        mode: Mode,
    ) -> Result<Self> {
        let function = |mode| {
            let function = Function::builder(inputs, outputs).mode(mode);
            function.on_unused_input(Unused::Ignore).compile()
        };
        Ok(Self {
            name: name.into(),
            plain: function(Mode::unoptimised())?,
            quick: function(mode)?,
            tolerance: if mode == Mode::strict() { 0.0 } else { 256.0 },
        })
    }

    /// What differs for these arguments by more than the tolerance.
    fn failures(&self, arguments: &[NdArray], failures: &mut Vec<String>) -> Result<()> {
        let shapes: Vec<_> = arguments.iter().map(NdArray::shape).collect();
        let name = format!("{} {shapes:?}", self.name);
        let (wanted, found) = (self.plain.call(arguments), self.quick.call(arguments));
        match (wanted, found) {
            (Ok(wanted), Ok(found)) => {
                for (i, (a, b)) in wanted.iter().zip(&found).enumerate() {
                    if a.array().shape() != b.array().shape() {
                        failures.push(format!("{name}: output {i} has another shape"));
                        continue;
                    }
                    let difference = difference(a.array(), b.array())?;
                    if difference > self.tolerance {
                        failures.push(format!("{name}: output {i} is off by {difference} ulp"));
                    }
                }
            }
            (Err(_), Err(_)) => {}
            (wanted, found) => failures.push(format!("{name}: {wanted:?} and {found:?}")),
        }
        Ok(())
    }
}

#[test]
fn every_pattern_of_lengths_gives_the_values_of_the_graph_as_written() -> Result<()> {
    let (x, y) = (dmatrix("x"), dvector("y"));
    let mean = x.mean(1)?.expand_dims(&[1])?;
    let apart = &x - &mean;
    let deviation = (apart.square()?.mean(1)?.expand_dims(&[1])? + 1e-5).sqrt()?;
    let cases = [
        ("products", (&x * &y).tanh()? + x.exp()? * y.sigmoid()?),
        ("norm", &apart / deviation * &y + &y),
        ("distance", (&x - &y).square()? / (&y + 2.0)),
        ("softmax", x.softmax(1)? * &y),
        ("select", ops::select(x.greater(&y)?, &x * &y, &x - &y)?),
        ("row and column", x.sum(0)? * &y + x.max(1)?.sum(0)?),
    ];
    let shapes: [(&[usize], &[usize]); 13] = [
        (&[3, 4], &[4]),
        (&[4, 4], &[4]),
        (&[1, 4], &[4]),
        (&[3, 1], &[1]),
        (&[1, 1], &[1]),
        (&[3, 4], &[1]),
        (&[3, 1], &[4]),
        (&[1, 1], &[4]),
        (&[4, 1], &[4]),
        (&[0, 4], &[4]),
        (&[5, 6], &[6]),
        (&[7, 7], &[7]),
        // Does not fit.
        (&[3, 4], &[3]),
    ];
    let mut rng = Rng::seeded(5);
    let mut failures = Vec::new();
    for (name, e) in &cases {
        // Not the plain sum, whose slope is 0 but for rounding where a norm or a softmax meets a number.
        let cost = e.exp()?.sum(..)?;
        let gradients = grad(&cost, &[&x, &y])?;
        let outputs = [&cost, e, &gradients[0], &gradients[1]];
        let pair = Pair::new(*name, &[&x, &y], &outputs, Mode::default())?;
        // Again, when the forms are there.
        for (a, b) in shapes.iter().chain(&shapes) {
            let arguments = [values(&mut rng, a)?, values(&mut rng, b)?];
            pair.failures(&arguments, &mut failures)?;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

#[test]
fn values_larger_than_the_caches_are_reduced_where_they_are_computed() -> Result<()> {
    let (x, y) = (dmatrix("x"), dvector("y"));
    let e = (&x - &y).square()?.sum(1)?;
    let pair = Pair::new("distance", &[&x, &y], &[&e], Mode::default())?;
    let mut rng = Rng::seeded(6);
    let mut failures = Vec::new();
    for (rows, kernels) in [(3, 2), (4096, 1)] {
        let arguments = [values(&mut rng, &[rows, 257])?, values(&mut rng, &[257])?];
        pair.failures(&arguments, &mut failures)?;
        assert_eq!(pair.quick.latest_kernels().len(), kernels, "{rows} rows");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

#[test]
fn a_gradient_runs_as_one_program_where_nothing_is_stretched() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let cost = (((&x * &y).tanh()? + x.exp()?) * y.sigmoid()?).sum(..)?;
    let gradients = grad(&cost, &[&x, &y])?;
    let f = compile(&[&x, &y], &[&cost, &gradients[0], &gradients[1]])?;
    let mut rng = Rng::seeded(7);
    let arguments = [values(&mut rng, &[5])?, values(&mut rng, &[5])?];
    let mut steps = Vec::new();
    f.call_profiled(&arguments, |op, _| steps.push(op.name().into_owned()))?;
    assert_eq!(steps.len(), 2, "{steps:?}");
    let stretched = [values(&mut rng, &[5])?, values(&mut rng, &[1])?];
    let found = f.call(&stretched)?;
    assert_eq!(found[2].array().shape().as_slice(), [1]);
    Ok(())
}

#[test]
fn what_only_the_shape_is_wanted_of_is_neither_computed_nor_kept() -> Result<()> {
    let (x, y) = (dmatrix("x"), dvector("y"));
    let shape = (&x * 2.0).exp()?.shape_of()?;
    assert_eq!(compile(&[&x], &[&shape])?.kernels().len(), 0);
    // The gradient of a mean asks how many there were, and a stretched vector's gradient, where it was stretched.
    let apart = &x - x.mean(1)?.expand_dims(&[1])?;
    let cost = (apart.square()?.mean(1)?.sqrt()? + (&x * &y).sum(1)?).sum(..)?;
    let gradients = grad(&cost, &[&x, &y])?;
    let outputs = [&cost, &gradients[0], &gradients[1]];
    let pair = Pair::new("deviation", &[&x, &y], &outputs, Mode::default())?;
    let mut rng = Rng::seeded(8);
    let arguments = [values(&mut rng, &[4096, 257])?, values(&mut rng, &[257])?];
    let mut failures = Vec::new();
    pair.failures(&arguments, &mut failures)?;
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let kernels = pair.quick.latest_kernels();
    let names: Vec<String> = kernels.iter().map(|op| op.name().into_owned()).collect();
    let reduced = |name: &String| name == "mean{1}(fused{sub, square})";
    assert!(names.iter().any(reduced), "{names:?}");
    assert!(!names.iter().any(|name| name == "sum_to"), "{names:?}");
    Ok(())
}

/// What a call that must fail says.
fn text(called: Result<Vec<Value>>) -> String {
    called.map_or_else(|error| error.to_string(), |_| String::from("no error"))
}

#[test]
fn errors_name_the_expression_whatever_was_called_before() -> Result<()> {
    let (x, y) = (dmatrix("x"), dvector("y"));
    let e = (&x + &y).sum(1)? + x.sum(1)?;
    let f = compile(&[&x, &y], &[&e])?;
    let mut rng = Rng::seeded(8);
    let wrong = [values(&mut rng, &[3, 4])?, values(&mut rng, &[3])?];
    let first = text(f.call(&wrong));
    f.call([values(&mut rng, &[3, 4])?, values(&mut rng, &[4])?])?;
    let second = text(f.call(&wrong));
    assert_eq!(first, second);
    assert!(first.contains("[3, 4]") && first.contains("[3]"), "{first}");
    Ok(())
}

#[test]
fn rows_of_ragged_batches_may_be_as_many_as_anything_else_is_long() -> Result<()> {
    let (x, w) = (lod("x", DType::F64, [None::<usize>], 1), dvector("w"));
    let hidden = (&x * &w).tanh()?;
    let cost = hidden
        .sequence_pool(SegmentOp::Mean, -1)?
        .square()?
        .sum(..)?;
    let gradient = &grad(&cost, &[&w])?[0];
    let pair = Pair::new("pool", &[&x, &w], &[&cost, gradient], Mode::default())?;
    let mut rng = Rng::seeded(9);
    for (lengths, width) in [
        (vec![2usize, 1], 3),
        (vec![2, 2], 3),
        (vec![1], 1),
        (vec![], 2),
    ] {
        let rows = lengths.iter().sum();
        let batch = LodTensor::new(
            values(&mut rng, &[rows, width])?,
            Lod::from_lengths([lengths])?,
        )?;
        let weights = values(&mut rng, &[width])?;
        let arguments = || [Value::from(batch.clone()), Value::from(weights.clone())];
        let (wanted, found) = (pair.plain.call(arguments())?, pair.quick.call(arguments())?);
        for (a, b) in wanted.iter().zip(&found) {
            assert!(
                difference(a.array(), b.array())? < 64.0,
                "{rows} rows of {width}"
            );
        }
    }
    Ok(())
}

/// A graph of random ops over matrices, rows, columns and numbers, some of its values outputs.
fn random_graph(rng: &mut Rng, leaves: &[Variable]) -> Result<Vec<Variable>> {
    let mut numbers = rng.permutation(4096).into_iter();
    let mut draw = |n: usize| numbers.next().unwrap_or_default() % n;
    let mut known: Vec<Variable> = leaves.to_vec();
    for _ in 0..14 {
        // Mostly of late values, so that the graph is deep.
        let late = |pick: usize, len: usize| len - 1 - pick.min(len - 1);
        let (a, b) = (draw(5), draw(8));
        let (a, b) = (&known[late(a, known.len())], &known[late(b, known.len())]);
        let made = match draw(12) {
            0 => a.tanh()?,
            1 => -a,
            2 => a.square()?,
            3 => a.abs()? + 1.0,
            4 => a * b,
            5 => a - b,
            6 => a.maximum(b)?,
            7 => (a.square()? + 1.0).log()?,
            8 => a.sum(0)?.expand_dims(&[0])?,
            9 => a.mean(1)?.expand_dims(&[1])?,
            10 => ops::select(a.greater(b)?, a, b)?,
            _ => a + b,
        };
        known.push(made);
    }
    let mut outputs = vec![known[known.len() - 1].clone()];
    for _ in 0..draw(3) {
        outputs.push(known[leaves.len() + draw(14)].clone());
    }
    Ok(outputs)
}

#[test]
fn random_graphs_give_the_same_values_fused() -> Result<()> {
    let mut rng = Rng::seeded(10);
    let mut failures = Vec::new();
    for graph in 0..150 {
        let leaves = ["x", "y", "z"].map(dmatrix);
        let outputs = random_graph(&mut rng, &leaves)?;
        let outputs: Vec<&Variable> = outputs.iter().collect();
        let inputs: Vec<&Variable> = leaves.iter().collect();
        let pair = Pair::new(format!("graph {graph}"), &inputs, &outputs, Mode::strict())?;
        let shapes: [[[usize; 2]; 3]; 4] = [
            [[3, 5], [3, 5], [3, 5]],
            [[3, 5], [1, 5], [3, 1]],
            [[5, 5], [5, 1], [1, 1]],
            [[1, 4], [4, 4], [4, 1]],
        ];
        for shapes in shapes {
            let mut arguments = Vec::new();
            for shape in shapes {
                arguments.push(values(&mut rng, &shape)?.sub(1.0)?);
            }
            pair.failures(&arguments, &mut failures)?;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}
