//! Rules that save passes over memory: what they make of expressions, where they must not apply, and that results stay.

use lodestride_array::kernels::SegmentOp;
use lodestride_array::{NdArray, Rng};
use lodestride_graph::{
    DType, Dim, Function, Mode, Result, Unused, Value, Variable, compile, dmatrix, dvector,
    fmatrix, grad, lod, lvector, ops, tensor,
};
use lodestride_lod::{Lengths, LodTensor};

fn function(inputs: &[&Variable], outputs: &[&Variable], mode: Mode) -> Result<Function> {
    let builder = Function::builder(inputs, outputs).on_unused_input(Unused::Ignore);
    builder.mode(mode).compile()
}

fn values(rng: &mut Rng, shape: &[usize]) -> Result<Value> {
    let array = rng.uniform(shape.to_vec(), 0.5, 1.5)?;
    Ok(array.cast(DType::F64)?.into())
}

/// Checks that the optimised function gives what the graph as written does, and names the kernels of the call.
fn kernels(inputs: &[&Variable], outputs: &[&Variable], values: &[Value]) -> Result<Vec<String>> {
    let plain = function(inputs, outputs, Mode::unoptimised())?.call(values.to_vec())?;
    for mode in [Mode::default(), Mode::strict()] {
        let found = function(inputs, outputs, mode)?.call(values.to_vec())?;
        for (a, b) in plain.iter().zip(&found) {
            let (a, b) = (a.array(), b.array());
            assert_eq!((a.shape(), a.dtype()), (b.shape(), b.dtype()));
            let (a, b) = (a.cast(DType::F64)?, b.cast(DType::F64)?);
            for (a, b) in a.to_vec::<f64>()?.iter().zip(&b.to_vec::<f64>()?) {
                let near = (a - b).abs() <= 1e-13 * (1.0 + a.abs());
                assert!(
                    near || a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                    "{a} {b}"
                );
            }
        }
    }
    let f = function(inputs, outputs, Mode::default().without_fusion())?;
    f.call(values.to_vec())?;
    let names = f.latest_kernels();
    Ok(names.iter().map(|op| op.name().into_owned()).collect())
}

/// The cost of an expression and its gradients.
fn with_gradients(e: &Variable, of: &[&Variable]) -> Result<Vec<Variable>> {
    let cost = e.square()?.sum(..)?;
    let mut outputs = vec![cost.clone()];
    outputs.extend(grad(&cost, of)?);
    Ok(outputs)
}

#[test]
fn what_is_stretched_is_computed_before() -> Result<()> {
    let (mut rng, x, a) = (Rng::seeded(1), dvector("x"), dmatrix("a"));
    let small = ["square", "sum{0}", "mul", "cast"];
    for shape in [&[4usize, 3][..], &[0, 3], &[2, 5, 3]] {
        for n in [3usize, 1] {
            let outputs = with_gradients(&x.broadcast_to(shape)?, &[&x])?;
            let outputs: Vec<&Variable> = outputs.iter().collect();
            let names = kernels(&[&x], &outputs, &[values(&mut rng, &[n])?])?;
            assert!(
                !names.iter().any(|n| n == "sum_to" || n == "sum{0, 1}"),
                "{names:?}"
            );
        }
    }
    // Lengths that only the call knows, none among them.
    for (rows, columns) in [(4, 3), (0, 3), (4, 0)] {
        let e = x.broadcast_like(&a)?.exp()? * 3.0;
        let sum = e.sum(..)?;
        let given = [
            values(&mut rng, &[columns])?,
            values(&mut rng, &[rows, columns])?,
        ];
        let names = kernels(&[&x, &a], &[&sum, &e], &given)?;
        assert!(names.iter().any(|n| n == small[1]), "{names:?}");
    }
    // Two operands, or a sum along some of the axes: left.
    let wide = x.broadcast_to(&[4, 3])?;
    let given = [values(&mut rng, &[3])?, values(&mut rng, &[4, 3])?];
    let names = kernels(&[&x, &a], &[&(&wide * &a).sum(..)?, &wide.sum(1)?], &given)?;
    assert_eq!(names, ["mul", "sum{0, 1}", "sum{1}"]);
    Ok(())
}

#[test]
fn infinite_values_and_narrow_dtypes_are_summed_as_written() -> Result<()> {
    let mut rng = Rng::seeded(2);
    for dtype in [
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::I32,
        DType::I8,
        DType::U8,
        DType::Bool,
    ] {
        let x = tensor("x", dtype, [Dim::Unknown, Dim::Unknown]);
        let wide = x.broadcast_to(&[300, 4])?;
        let array = NdArray::from([[0.0f64, 1.0, 3.0, 2.0]]).cast(dtype)?;
        let back = x.broadcast_to(&[200, 4])?.sum_to(&x)?;
        kernels(&[&x], &[&wide.sum(..)?, &back], &[array.into()])?;
    }
    let x = dvector("x");
    let infinite = NdArray::from([f64::INFINITY, -1.0, f64::NAN]);
    for wide in [x.broadcast_to(&[2, 3])?, x.broadcast_to(&[0, 3])?] {
        kernels(
            &[&x],
            &[&wide.exp()?.sum_to(&x)?],
            &[infinite.clone().into()],
        )?;
    }
    // Ragged batches are not unstretched.
    let (r, y) = (lod("r", DType::F64, [2usize], 1), dvector("y"));
    let rows = NdArray::from([[1.0f64, 2.0], [3.0, 4.0]]);
    let ragged = LodTensor::new(rows, Lengths::from(vec![vec![2usize, 0]]))?;
    let e = y.broadcast_like(&r)? * 2.0;
    kernels(
        &[&y, &r],
        &[&e, &e.sum(..)?],
        &[values(&mut rng, &[2])?, ragged.into()],
    )?;
    Ok(())
}

#[test]
fn moves_are_undone_across_elementwise_ops() -> Result<()> {
    let (mut rng, a, b) = (Rng::seeded(3), dmatrix("a"), dmatrix("b"));
    for shape in [[3usize, 4], [1, 4], [0, 4], [3, 3]] {
        let given = [values(&mut rng, &shape)?, values(&mut rng, &shape)?];
        let outputs = with_gradients(&(a.flip(1)? * 2.0), &[&a])?;
        let outputs: Vec<&Variable> = outputs.iter().collect();
        let names = kernels(&[&a], &outputs, &given[..1])?;
        assert!(!names.iter().any(|n| n.starts_with("place")), "{names:?}");
        let back = (a.flip(0)? * b.flip(0)?).flip(0)?;
        let turned = (a.transpose()?.exp()? + 1.0).transpose()?;
        let most = (a.transpose()? * 2.0).prod(..)?;
        let names = kernels(&[&a, &b], &[&back, &turned, &most], &given)?;
        assert_eq!(names.len(), 5, "{names:?}");
    }
    // Other moves, other axes, other ranks, reductions of some axes.
    let x = dvector("x");
    let given = [values(&mut rng, &[3, 3])?, values(&mut rng, &[3])?];
    let cases = [
        (a.flip(0)? * 2.0).flip(1)?,
        (a.flip(0)? * x.flip(0)?).flip(0)?,
        (a.flip(0)? * &a).flip(0)?,
        (a.flip(1)? * 2.0).sum(1)?,
        (a.flip(1)? * 2.0).sum(0)?,
        (a.transpose()? * 2.0).sum(0)?,
        a.get(&lodestride_array::s![..;2, ..])?.sum(..)?,
    ];
    for e in &cases {
        let slopes = with_gradients(e, &[&a])?;
        let outputs: Vec<&Variable> = std::iter::once(e).chain(&slopes).collect();
        kernels(&[&a, &x], &outputs, &given)?;
    }
    Ok(())
}

#[test]
fn small_factors_meet_first() -> Result<()> {
    let (mut rng, a, row, column) = (Rng::seeded(4), dmatrix("a"), dvector("r"), dmatrix("c"));
    let cases = [
        (&a * &row * 2.0, 2),
        (&a / &row * 3.0, 2),
        (3.0 * (&row * &a) / row.exp()?, 4),
        (&a / &row / row.exp()?, 3),
        // A row and a column together are as many as all, and nothing is saved on numbers over a quotient's top.
        (&a * &row * &column, 2),
        (&row / &a * 2.0, 2),
    ];
    for shape in [[3usize, 4], [0, 4], [3, 0]] {
        let column_shape = [shape[0], 1];
        let given = [&shape[..], &shape[1..], &column_shape];
        let given = given.map(|shape| values(&mut rng, shape));
        let given: Vec<Value> = given.into_iter().collect::<Result<_>>()?;
        for (e, steps) in &cases {
            let names = kernels(&[&a, &row, &column], &[e], &given)?;
            assert!(names.len() <= *steps, "{names:?}");
        }
        let sums = [
            ((&a * 2.0 * &a).sum(0)?, "sum_squares{0}"),
            ((&a * 3.0).square()?.sum(..)?, "sum_squares{0, 1}"),
            ((&a * &row * &a).sum(0)?, "sum{0}"),
            ((&a / &row).square()?.mean(0)?, "mean{0}"),
            ((&a * &row).sum(1)?, "sum{1}"),
            ((&a * &column).sum(lodestride_array::keep(1))?, "sum{1}"),
        ];
        for (e, kernel) in &sums {
            let names = kernels(&[&a, &row, &column], &[e], &given)?;
            assert!(names.iter().any(|n| n == kernel), "{names:?}");
        }
    }
    // What keeps squares from vanishing stays in them.
    let tiny = |e: &Variable| e * 1e-200;
    let given = [values(&mut rng, &[3, 4])?, values(&mut rng, &[4])?];
    let (low, high) = (tiny(&a), tiny(&row));
    let outputs = [
        (&low / &high).square()?.sum(0)?,
        (&low / &high).square()?.mean(0)?,
        (&low * (1.0 / &high) * &low).sum(0)? * 1e200,
        (&low * 1e200).square()?.sum(..)?,
    ];
    kernels(&[&a, &row], &outputs.iter().collect::<Vec<_>>(), &given)?;
    // Factors of halves stay where they are: a quotient of two may be out of range.
    let x = tensor("x", DType::F16, [Dim::Unknown, Dim::Unknown]);
    let tiny = NdArray::from([[1e-5f64, 1.0]]).cast(DType::F16)?;
    let e = &x / 1e-5f32 * 1e-5f32;
    let names = kernels(&[&x], &[&e], &[tiny.into()])?;
    assert_eq!(names, ["div", "mul"]);
    Ok(())
}

#[test]
fn a_reduction_goes_on_from_one_of_fewer_axes() -> Result<()> {
    let (mut rng, a) = (Rng::seeded(5), dmatrix("a"));
    for shape in [[3usize, 4], [0, 4], [1, 1]] {
        let given = [values(&mut rng, &shape)?];
        let kept = a.max(lodestride_array::keep(0))?;
        let outputs = [
            a.sum(..)?,
            a.sum(1)?,
            a.square()?.sum(0)?,
            a.square()?.sum(..)?,
        ];
        let names = kernels(&[&a], &outputs.iter().collect::<Vec<_>>(), &given)?;
        assert_eq!(
            names.iter().filter(|n| n.ends_with("{0, 1}")).count(),
            0,
            "{names:?}"
        );
        if shape[0] > 0 {
            kernels(&[&a], &[&a.max(..)?, &kept], &given)?;
        }
    }
    // Means, norms and narrow values do not add up, and a part of more axes is none.
    let given = [values(&mut rng, &[3, 4])?];
    let names = kernels(
        &[&a],
        &[&a.norm2(..)?, &a.norm2(1)?, &a.sum(0)?, &a.sum(1)?],
        &given,
    )?;
    assert_eq!(names, ["norm2{0, 1}", "norm2{1}", "sum{0}", "sum{1}"]);
    Ok(())
}

#[test]
fn a_result_that_shows_all_of_a_value_takes_its_memory() -> Result<()> {
    let (mut rng, a) = (Rng::seeded(6), dmatrix("a"));
    let y = a.exp()?;
    let flat = y.reshape(&[12])?;
    let outputs = [
        flat.clone(),
        y.clone(),
        flat.expand_dims(&[0])?,
        y.transpose()?,
        y.get(&lodestride_array::s![1])?,
    ];
    for order in [[0usize, 1, 2, 3, 4], [1, 0, 3, 2, 4], [3, 2, 4, 1, 0]] {
        let outputs: Vec<&Variable> = order.iter().map(|i| &outputs[*i]).collect();
        kernels(&[&a], &outputs, &[values(&mut rng, &[3, 4])?])?;
        let found = compile(&[&a], &outputs)?.call([values(&mut rng, &[3, 4])?])?;
        for (i, x) in found.iter().enumerate() {
            let others = found[i + 1..].iter();
            assert!(others.clone().all(|y| !x.array().shares_memory(y.array())));
        }
    }
    // Picked elements: the gradient is made flat and handed out as a matrix.
    let ids = lvector("ids");
    let x = fmatrix("x");
    let slope = grad(&x.pick(&ids)?.sum(..)?, &[&x])?.remove(0);
    let f = compile(&[&x, &ids], &[&slope])?;
    let array = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let found = f.call([array, NdArray::from([1i64, 0])])?;
    assert_eq!(found[0].array().to_vec::<f32>()?, [0.0, 1.0, 1.0, 0.0]);
    Ok(())
}

#[test]
fn pieces_are_summed_and_parted_without_joining_them() -> Result<()> {
    let (mut rng, a, b) = (Rng::seeded(7), dmatrix("a"), dmatrix("b"));
    for (left, right, axis) in [
        ([3, 4], [2, 4], 0),
        ([3, 4], [3, 1], 1),
        ([0, 4], [2, 4], 0),
        ([0, 4], [0, 3], 1),
    ] {
        let given = [values(&mut rng, &left)?, values(&mut rng, &right)?];
        let joined = ops::concat(&[&a, &b], axis)?;
        let outputs = with_gradients(&(joined * 3.0), &[&a, &b])?;
        let outputs: Vec<&Variable> = outputs.iter().collect();
        let names = kernels(&[&a, &b], &outputs, &given)?;
        let joins = names.iter().any(|n| n.starts_with("concat"));
        assert!(!joins, "{names:?}");
    }
    let given = [values(&mut rng, &[3, 4])?, values(&mut rng, &[3, 4])?];
    for axis in 0..3 {
        let outputs = with_gradients(&ops::stack(&[&a, &b], axis)?.exp()?, &[&a, &b])?;
        let outputs: Vec<&Variable> = outputs.iter().collect();
        let names = kernels(&[&a, &b], &outputs, &given)?;
        // The exponential is wanted once more for the slope, and not computed in parts again.
        assert!(
            names.iter().filter(|n| *n == "exp").count() <= 2,
            "{names:?}"
        );
    }
    // Operands of other pieces or shapes, what is wanted whole, sums along an axis.
    let (joined, turned) = (ops::concat(&[&a, &b], 0)?, ops::concat(&[&b, &a], 1)?);
    let column = a.sum(1)?.mean(0)?;
    let cases = [
        &joined * ops::concat(&[&b, &a], 0)?,
        &joined * &column,
        (&joined * 2.0).exp()?,
        &joined * b.get(&lodestride_array::s![0])?,
        joined.matmul(&a.transpose()?)?,
        turned.sum(0)?,
        joined.max(..)? + turned.abs()?.sum(..)?,
    ];
    for e in &cases {
        let slopes = with_gradients(e, &[&a, &b])?;
        let outputs: Vec<&Variable> = std::iter::once(e).chain(&slopes).collect();
        kernels(&[&a, &b], &outputs, &given)?;
    }
    Ok(())
}

#[test]
fn long_chains_with_their_gradient_take_few_kernels() -> Result<()> {
    let (mut rng, x, y) = (Rng::seeded(8), dvector("x"), dvector("y"));
    let mut h = x.clone();
    for _ in 0..200 {
        h = (&h * 1.01 + &y).tanh()?;
    }
    let cost = h.square()?.sum(..)?;
    let slopes = grad(&cost, &[&x, &y])?;
    let outputs = [&cost, &slopes[0], &slopes[1]];
    let given = [values(&mut rng, &[5])?, values(&mut rng, &[5])?];
    kernels(&[&x, &y], &outputs, &given)?;
    let f = compile(&[&x, &y], &outputs)?;
    let found = f.call(given.to_vec())?;
    let plain = function(&[&x, &y], &outputs, Mode::unoptimised())?.call(given.to_vec())?;
    for (a, b) in found.iter().zip(&plain) {
        let (a, b) = (a.array().to_vec::<f64>()?, b.array().to_vec::<f64>()?);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        assert!(a.iter().zip(&b).all(near), "{a:?} {b:?}");
    }
    // 48 ops of about 1000 in each.
    let kernels = f.latest_kernels().len();
    assert!(kernels < 60, "{kernels}");
    Ok(())
}

#[test]
fn the_loser_of_a_maximum_has_no_slope_even_of_an_infinite_one() -> Result<()> {
    let (x, y) = (dvector("x"), dvector("y"));
    let cost = (x.maximum(&y)? * f64::INFINITY).sum(..)?;
    let slopes = grad(&cost, &[&x, &y])?;
    let f = compile(&[&x, &y], &[&slopes[0], &slopes[1]])?;
    let given = [NdArray::from([2.0f64, 1.0]), NdArray::from([1.0f64, 1.0])];
    let found = f.call(given)?;
    let infinite = f64::INFINITY;
    assert_eq!(found[0].array().to_vec::<f64>()?, [infinite, infinite]);
    assert_eq!(found[1].array().to_vec::<f64>()?, [0.0, infinite]);
    Ok(())
}

#[test]
fn factors_leave_sums_of_rows_and_reversals_cancel() -> Result<()> {
    let (mut rng, r, s) = (
        Rng::seeded(9),
        lod("r", DType::F64, [2usize], 2),
        lod("s", DType::F64, [2usize], 2),
    );
    let levels = || Lengths::from(vec![vec![2usize, 0, 1], vec![3, 0, 2]]);
    let mut given = Vec::new();
    for _ in 0..2 {
        let rows = values(&mut rng, &[5, 2])?.into_array();
        given.push(LodTensor::new(rows, levels())?.into());
    }
    let names = |e: &Variable, outer: &Variable| -> Result<Vec<String>> {
        let cost = e.square()?.sum(..)?;
        let slope = grad(&cost, &[&r])?.remove(0);
        kernels(&[&r, &s], &[&cost, &slope, outer], &given)
    };
    for level in 0..2 {
        let turned = r.sequence_reverse(level)? * 2.0;
        let both = (turned.exp()? * 3.0).sequence_reverse(level)?;
        let found = names(&turned, &both)?;
        assert!(
            !found.iter().any(|n| n.starts_with("sequence_reverse")),
            "{found:?}"
        );
        // Another level, another operand.
        let found = names(&turned, &turned.sequence_reverse(1 - level)?)?;
        assert!(
            found.iter().any(|n| n.starts_with("sequence_reverse")),
            "{found:?}"
        );
        names(
            &(r.sequence_reverse(level)? * s.sequence_reverse(level)?),
            &turned,
        )?;
    }
    let last = |found: &[String], op: &str| {
        let at = |name: &str| found.iter().position(|n| n.starts_with(name));
        at(op) < at("mul")
    };
    let found = names(&r.sequence_windows(-1, 3, 1)?, &s)?;
    assert!(last(&found, "sequence_windows_adjoint"), "{found:?}");
    for kind in [
        SegmentOp::Sum,
        SegmentOp::Mean,
        SegmentOp::Sqrt,
        SegmentOp::First,
        SegmentOp::Max,
    ] {
        for level in 0..2 {
            let pooled = r.sequence_pool(kind, level)?;
            let found = names(&pooled, &(&r * 3.0).sequence_pool(kind, level)?)?;
            assert!(
                found.iter().any(|n| n.starts_with("sequence_pool")),
                "{found:?}"
            );
        }
    }
    // The value of an empty sequence is no multiple.
    let padded = (&r * 3.0).sequence_pool_or(SegmentOp::Sum, 1, 7.0)?;
    names(&padded, &padded)?;
    Ok(())
}

/// Regions joined in any order must leave a graph without cycles, and its values.
#[test]
fn regions_of_random_graphs_wait_for_nothing_that_waits_for_them() -> Result<()> {
    for seed in 0..60 {
        let mut rng = Rng::seeded(seed);
        let numbers = rng.integers([600], 0, 1 << 30)?.to_vec::<i64>()?;
        let mut numbers = numbers.into_iter().map(|n| n as usize);
        let mut pick = |n: usize| numbers.next().unwrap_or(0) % n;
        let (a, b) = (dmatrix("a"), dmatrix("b"));
        let mut made = vec![a.clone(), b.clone()];
        for _ in 0..60 {
            let x = made[made.len() - 1 - pick(made.len().min(12))].clone();
            let y = made[made.len() - 1 - pick(made.len().min(12))].clone();
            made.push(match pick(9) {
                0 => x.tanh()?,
                1 => x.sigmoid()?,
                2 => (&x + &y) * 0.5,
                3 => &x * &y,
                4 => &x - x.mean(lodestride_array::keep(0))?,
                5 => &x * y.sum(lodestride_array::keep(1))?.tanh()?,
                6 => x.maximum(&y)?,
                7 => x.softmax(1)?,
                _ => x.sin()?,
            });
        }
        let mut outputs: Vec<&Variable> = made[2..].iter().filter(|_| pick(6) == 0).collect();
        outputs.push(&made[61]);
        let given = [values(&mut rng, &[3, 4])?, values(&mut rng, &[3, 4])?];
        let found = function(&[&a, &b], &outputs, Mode::default())?.call(given.clone())?;
        let plain = function(&[&a, &b], &outputs, Mode::unoptimised())?.call(given)?;
        for (x, y) in found.iter().zip(&plain) {
            let (x, y) = (x.array().to_vec::<f64>()?, y.array().to_vec::<f64>()?);
            let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * (1.0 + y.abs());
            assert!(x.iter().zip(&y).all(near), "{seed}: {x:?} {y:?}");
        }
    }
    Ok(())
}
