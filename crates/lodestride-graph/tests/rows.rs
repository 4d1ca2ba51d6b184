//! Passes over rows: which steps of a call are joined, and that results stay those of the graph as written.

use lodestride_array::kernels::set_threads;
use lodestride_array::{NdArray, Rng, s};
use lodestride_graph::{
    DType, Function, GraphErrorKind, Mode, Result, Variable, dmatrix, dvector, fmatrix, fvector,
    grad, shared, tensor,
};

fn function(inputs: &[&Variable], outputs: &[&Variable], mode: Mode) -> Result<Function> {
    Function::builder(inputs, outputs).mode(mode).compile()
}

/// The passes among the steps of a call.
fn passes(f: &Function, values: &[NdArray]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    f.call_profiled(values.to_vec(), |op, _| names.push(op.name().into_owned()))?;
    Ok(names
        .into_iter()
        .filter(|n| n.starts_with("rows{"))
        .collect())
}

/// Checks that a call gives what the graph as written does, on any number of threads the same, and gives its passes.
fn check(inputs: &[&Variable], outputs: &[&Variable], values: &[NdArray]) -> Result<Vec<String>> {
    let plain = function(inputs, outputs, Mode::unoptimised())?.call(values.to_vec())?;
    let strict = function(inputs, outputs, Mode::strict())?;
    assert!(
        passes(&strict, values)?.is_empty(),
        "strict functions add in the order that is written"
    );
    let f = function(inputs, outputs, Mode::default())?;
    let mut first: Option<Vec<Vec<u64>>> = None;
    for threads in [1, 2, 4] {
        set_threads(threads);
        let found = f.call(values.to_vec())?;
        let mut bits = Vec::new();
        for (number, (a, b)) in plain.iter().zip(&found).enumerate() {
            let (a, b) = (a.array(), b.array());
            assert_eq!((a.shape(), a.dtype()), (b.shape(), b.dtype()));
            // Sums of some ten thousand numbers in another order.
            let ulps = if a.dtype() == DType::F32 { 1e-5 } else { 1e-12 };
            let [a, b] = [a, b].map(|x| x.cast(DType::F64)?.to_vec::<f64>());
            let (a, b) = (a?, b?);
            let scale = a.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            for (at, (a, b)) in a.iter().zip(&b).enumerate() {
                let near = (a - b).abs() <= ulps * scale || a.is_nan() && b.is_nan();
                assert!(near, "output {number}, element {at}: {b}, not {a}");
            }
            bits.push(b.iter().map(|x| x.to_bits()).collect());
        }
        assert_eq!(
            first.get_or_insert_with(|| bits.clone()),
            &bits,
            "{threads} threads"
        );
    }
    set_threads(0);
    passes(&f, values)
}

fn uniform(rng: &mut Rng, shape: &[usize], dtype: DType) -> Result<NdArray> {
    Ok(rng.uniform(shape.to_vec(), 0.5, 1.5)?.cast(dtype)?)
}

/// Rows of mean 0 and variance 1 with a gain, and their gradients.
fn normal(x: &Variable, gain: &Variable, axis: isize) -> Result<Variable> {
    let apart = x - x.mean(axis)?.expand_dims(&[axis])?;
    let variance = apart.square()?.mean(axis)?.expand_dims(&[axis])?;
    Ok(&apart / (variance + 1e-5).sqrt()? * gain)
}

#[test]
fn a_normalisation_and_its_gradients_are_one_pass() -> Result<()> {
    let mut rng = Rng::seeded(1);
    for dtype in [DType::F32, DType::F64] {
        for (shape, expected) in [
            (&[500usize, 256][..], 1),
            (&[5, 70, 300], 1),
            (&[1, 300, 400], 1),
            (&[300, 8192], 1),
            (&[3, 8192], 0),
        ] {
            let rank = shape.len();
            let x = tensor("x", dtype, vec![None; rank]);
            let gain = tensor("gain", dtype, [None]);
            let cost = normal(&x, &gain, -1)?.exp()?.mean(..)?;
            let gradients = grad(&cost, &[&x, &gain])?;
            let values = [
                uniform(&mut rng, shape, dtype)?,
                uniform(&mut rng, &shape[rank - 1..], dtype)?,
            ];
            let found = check(
                &[&x, &gain],
                &[&gradients[0], &gradients[1], &cost],
                &values,
            )?;
            assert_eq!(found.len(), expected, "{shape:?} {dtype}: {found:?}");
        }
    }
    Ok(())
}

#[test]
fn rows_that_lie_in_other_ways_are_taken_as_they_lie_or_not_at_all() -> Result<()> {
    let (mut rng, x, gain) = (Rng::seeded(2), dmatrix("x"), dvector("gain"));
    let e = normal(&x, &gain, 1)?;
    let cost = e.exp()?.sum(..)?;
    let gradient = &grad(&cost, &[&x])?[0];
    let whole = uniform(&mut rng, &[1000, 1000], DType::F64)?;
    let gains = uniform(&mut rng, &[1000], DType::F64)?;
    let cases = [
        (whole.clone(), gains.clone(), 1),
        (whole.get(&s![.., 200..])?, gains.get(&s![..800])?, 1),
        (whole.get(&s![..;2, 1..])?, gains.get(&s![1..])?, 1),
        (whole.get(&s![..;-1])?, gains.clone(), 0),
        (whole.transpose(), gains.clone(), 0),
        (whole.get(&s![.., ..;-1])?, gains.clone(), 0),
        (
            whole.clone(),
            gains.get(&s![0..1])?.broadcast_to([1000])?,
            1,
        ),
        (whole.get(&s![0..1])?.broadcast_to([1000, 1000])?, gains, 1),
    ];
    for (number, (x_value, gain_value, expected)) in cases.into_iter().enumerate() {
        let values = [x_value, gain_value];
        let found = check(&[&x, &gain], &[gradient, &e, &cost], &values)?;
        // What cannot be read by rows leaves later steps, on what was written, which can.
        assert!(found.len() >= expected, "case {number}: {found:?}");
    }
    Ok(())
}

#[test]
fn what_others_want_of_a_pass_is_there() -> Result<()> {
    let (mut rng, x, y) = (Rng::seeded(3), fmatrix("x"), fmatrix("y"));
    let product = &x * &y;
    let sums = product.sum(1)?;
    let column = sums.expand_dims(&[1])?;
    let shares = &product / &column;
    let largest = shares.max(0)?;
    let wide = largest.exp()?;
    let rest = &shares - &wide;
    let sorted = sums.cumsum(0)?;
    let outputs = [
        &sums,
        &column,
        &shares,
        &largest,
        &wide,
        &rest.sum(0)?,
        &sorted,
        &rest.min(..)?,
    ];
    let values = [0, 1].map(|_| uniform(&mut rng, &[1500, 300], DType::F32));
    let [a, b] = values;
    let found = check(&[&x, &y], &outputs, &[a?, b?])?;
    assert_eq!(
        found.len(),
        2,
        "the columns' extremes are known after the first: {found:?}"
    );
    Ok(())
}

#[test]
fn vectors_and_short_rows_are_cut() -> Result<()> {
    let mut rng = Rng::seeded(4);
    let (v, w) = (fvector("v"), fvector("w"));
    let apart = &v - &w;
    let cost = apart.square()?.mean(..)? + apart.abs()?.max(..)? + apart.tanh()?.sum(..)?;
    let gradient = &grad(&apart.square()?.mean(..)?, &[&v])?[0];
    for n in [300_000, 400_001] {
        let values = [0, 1].map(|_| uniform(&mut rng, &[n], DType::F32));
        let [a, b] = values;
        let found = check(&[&v, &w], &[gradient, &cost], &[a?, b?])?;
        assert!(!found.is_empty(), "{n}");
    }
    let x = fmatrix("x");
    let e = (&x * 2.0).tanh()?;
    let outputs = [&e.sum(..)?, &e.square()?.mean(..)?, &e.max(..)?];
    let found = check(
        &[&x],
        &outputs,
        &[uniform(&mut rng, &[100_000, 5], DType::F32)?],
    )?;
    assert!(!found.is_empty());
    Ok(())
}

#[test]
fn updates_and_small_calls_stay_as_they_are() -> Result<()> {
    let mut rng = Rng::seeded(5);
    let weights = shared(uniform(&mut rng, &[400, 500], DType::F64)?, "weights")?;
    let x = dmatrix("x");
    let w = weights.variable();
    let e = (&x * w - (&x * w).mean(1)?.expand_dims(&[1])?).square()?;
    let cost = e.sum(..)?;
    let gradient = grad(&cost, &[w])?.remove(0);
    let stepped = w - 1e-3 * gradient;
    let f = Function::builder(&[&x], &[&cost])
        .update(&weights, &stepped)
        .compile()?;
    let value = uniform(&mut rng, &[400, 500], DType::F64)?;
    let mut last = f64::INFINITY;
    for _ in 0..3 {
        let now = f.call([value.clone()])?[0].array().to_vec::<f64>()?[0];
        assert!(now < last, "{now} after {last}");
        last = now;
    }
    let wrong = f.call([uniform(&mut rng, &[400, 499], DType::F64)?]);
    assert!(wrong.is_err_and(|e| !matches!(e.kind(), GraphErrorKind::NotComputable)));
    Ok(())
}

#[test]
fn long_chains_become_several_passes() -> Result<()> {
    let (mut rng, x) = (Rng::seeded(6), dmatrix("x"));
    let mut e = x.clone();
    for _ in 0..200 {
        e = (&e - e.mean(1)?.expand_dims(&[1])?).sin()?;
    }
    let outputs = [&e, &e.sum(..)?];
    let found = check(
        &[&x],
        &outputs,
        &[uniform(&mut rng, &[300, 500], DType::F64)?],
    )?;
    assert!(found.len() > 2, "{} passes", found.len());
    Ok(())
}
