//! Runs one golden case: values, gradients, structure.

use super::build::{Outcome, Scope, array, dtype, input, number, sizes};
use lodestride_array::{DType, NdArray};
use lodestride_graph::ops::{
    ArgReduce, Concat, Cumulative, Elemwise, Fused, FusedReduce, Gemm, MatMul, Reduce, ScatterAdd,
    Take,
};
use lodestride_graph::{Disconnected, Function, OpRef, Unused, Value, Variable, grad_with};
use serde_json::Value as Json;
use std::collections::HashMap;

pub(crate) struct Verdict {
    /// How many gradients were compared.
    pub(crate) gradients: usize,
    /// Structural expectations of level "should" and "stretch" that are not met.
    pub(crate) unmet: Vec<String>,
}

pub(crate) fn check_case(case: &Json) -> Outcome<Verdict> {
    let descriptions = case["inputs"].as_array().unwrap();
    let mut scope = Scope::default();
    let mut inputs = Vec::new();
    for description in descriptions {
        let variable = input(description);
        scope.0.insert(
            description["name"].as_str().unwrap().to_owned(),
            variable.clone(),
        );
        inputs.push(variable);
    }
    let outputs = case["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| scope.build(e))
        .collect::<Outcome<Vec<_>>>()?;
    let function = compiled(&inputs, &outputs)?;
    let values = descriptions
        .iter()
        .map(|d| Ok(Value::from(array(d)?)))
        .collect::<Outcome<Vec<_>>>()?;
    let results = function.call(&values)?;
    for (position, (found, expected)) in results
        .iter()
        .zip(case["expected"].as_array().unwrap())
        .enumerate()
    {
        let other = case["expected_alternative"].get(position);
        compare(
            found.array(),
            expected,
            other,
            &case["tol"],
            case.get("dtype_also"),
        )
        .map_err(|e| format!("output {position}: {e}\n{}", function.debugprint()))?;
    }
    let gradients = check_gradients(case, &scope, descriptions)?;
    let unmet = check_structure(case, &function, &results)?;
    Ok(Verdict { gradients, unmet })
}

fn compiled(inputs: &[Variable], outputs: &[Variable]) -> Outcome<Function> {
    let inputs: Vec<&Variable> = inputs.iter().collect();
    let outputs: Vec<&Variable> = outputs.iter().collect();
    Ok(Function::builder(&inputs, &outputs)
        .on_unused_input(Unused::Ignore)
        .compile()?)
}

fn compare(
    found: &NdArray,
    expected: &Json,
    other: Option<&Json>,
    tol: &Json,
    also: Option<&Json>,
) -> Outcome<()> {
    let want = dtype(expected["dtype"].as_str().unwrap());
    let allowed = |d: &Json| d.as_str().is_some_and(|d| dtype(d) == found.dtype());
    let accepted = also
        .and_then(Json::as_array)
        .is_some_and(|list| list.iter().any(allowed));
    if found.dtype() != want && !accepted {
        return Err(format!("dtype {}, want {want}", found.dtype()).into());
    }
    if found.shape()[..] != sizes(&expected["shape"])[..] {
        return Err(format!("shape {}, want {}", found.shape(), expected["shape"]).into());
    }
    let (rtol, atol) = (
        tol["rtol"].as_f64().unwrap_or(1e-9),
        tol["atol"].as_f64().unwrap_or(1e-12),
    );
    let found = found.cast(DType::F64)?.to_vec::<f64>()?;
    let close = |got: f64, want: f64| {
        got == want
            || (got.is_nan() && want.is_nan())
            || (got - want).abs() <= atol + rtol * want.abs()
    };
    let data = |json: &Json, i: usize| match &json["data"] {
        Json::Array(list) => number(&list[i]),
        one => number(one),
    };
    for (i, got) in found.iter().enumerate() {
        let want = data(expected, i);
        let alternative = other.filter(|o| !o.is_null()).map(|o| data(o, i));
        if !close(*got, want) && !alternative.is_some_and(|want| close(*got, want)) {
            return Err(format!("element {i} is {got:e}, want {want:e}").into());
        }
    }
    Ok(())
}

/// Gradients of the sum of all float outputs, with every float input as f64.
fn check_gradients(case: &Json, scope: &Scope, descriptions: &[Json]) -> Outcome<usize> {
    let Some(expected) = case.get("grad").and_then(Json::as_object) else {
        return Ok(0);
    };
    let mut wide = Scope::default();
    let (mut inputs, mut values) = (Vec::new(), Vec::new());
    for description in descriptions {
        let mut description = description.clone();
        if scope.0[description["name"].as_str().unwrap()]
            .dtype()
            .is_float()
        {
            description["dtype"] = "float64".into();
        }
        let variable = input(&description);
        wide.0.insert(
            description["name"].as_str().unwrap().to_owned(),
            variable.clone(),
        );
        inputs.push(variable);
        values.push(Value::from(array(&description)?));
    }
    let mut cost: Option<Variable> = None;
    for expression in case["outputs"].as_array().unwrap() {
        let output = wide.build(expression)?;
        if output.dtype().is_float() {
            let total = output.sum(..)?.cast(DType::F64)?;
            cost = Some(match cost {
                Some(cost) => cost.add(total)?,
                None => total,
            });
        }
    }
    let Some(cost) = cost else { return Ok(0) };
    let names: Vec<&String> = expected.keys().collect();
    let wrt: Vec<&Variable> = names.iter().map(|n| &wide.0[n.as_str()]).collect();
    let slopes = grad_with(&cost, &wrt, Disconnected::Zero)?;
    let function = compiled(&inputs, &slopes)?;
    let results = function.call(&values)?;
    for (name, found) in names.iter().zip(&results) {
        compare(
            found.array(),
            &expected[name.as_str()],
            None,
            &case["grad_tol"],
            None,
        )
        .map_err(|e| format!("gradient of {name}: {e}\n{}", function.debugprint()))?;
    }
    Ok(names.len())
}

/// The scalar-level operations an op performs.
fn primitives(op: &OpRef) -> Vec<String> {
    let elemwise = |op: Elemwise| match op {
        Elemwise::Unary(op) => op.name().to_owned(),
        Elemwise::Binary(op) => op.name().to_owned(),
        Elemwise::Select => "where".to_owned(),
        Elemwise::Cast(_) => "cast".to_owned(),
    };
    if let Some(fused) = op.downcast_ref::<Fused>() {
        return fused.ops().map(elemwise).collect();
    }
    if let Some(fused) = op.downcast_ref::<FusedReduce>() {
        let mut all: Vec<String> = fused.map().ops().map(elemwise).collect();
        all.extend(primitives(&fused.reduction().clone().into()));
        return all;
    }
    if let Some(op) = op.downcast_ref::<Elemwise>() {
        return vec![elemwise(*op)];
    }
    if let Some(reduce) = op.downcast_ref::<Reduce>() {
        let inner: &[&str] = match reduce.op.name() {
            "sum_squares" => &["square", "sum"],
            "norm1" => &["abs", "sum"],
            name => &[name],
        };
        return inner.iter().map(|s| (*s).to_owned()).collect();
    }
    let named = [
        (op.is::<MatMul>() || op.is::<Gemm>(), "dot"),
        (op.is::<Concat>(), "join"),
        (op.is::<Take>(), "take"),
        (op.is::<ScatterAdd>(), "scatter_add"),
        (op.is::<ArgReduce>(), "arg"),
        (op.is::<Cumulative>(), "cumulative"),
    ];
    vec![
        named
            .iter()
            .find(|(is, _)| *is)
            .map_or_else(|| op.name().into_owned(), |(_, name)| (*name).to_owned()),
    ]
}

fn check_structure(case: &Json, function: &Function, results: &[Value]) -> Outcome<Vec<String>> {
    let Some(after) = case.get("after").and_then(Json::as_object) else {
        return Ok(Vec::new());
    };
    let kernels = function.kernels();
    let mut counts: HashMap<String, u64> = HashMap::new();
    for op in &kernels {
        for name in primitives(op) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let total: u64 = counts.values().sum();
    let mut unmet = Vec::new();
    let mut expect = |met: bool, what: String| {
        if !met {
            unmet.push(what);
        }
    };
    let graph = function.graph();
    for (key, wanted) in after {
        let most = wanted.as_u64().unwrap_or(0);
        match key.as_str() {
            "max" => {
                for (name, most) in wanted.as_object().unwrap() {
                    let found = counts.get(name).copied().unwrap_or(0);
                    expect(
                        found <= most.as_u64().unwrap(),
                        format!("{found} {name}, at most {most}"),
                    );
                }
            }
            "total_max" => expect(
                total <= most,
                format!("{total} primitives, at most {most}: {counts:?}"),
            ),
            "kernels_max" => expect(
                kernels.len() as u64 <= most,
                format!("{} kernels, at most {most}", kernels.len()),
            ),
            "temps_max" => {
                let found = function.plan_bytes();
                expect(
                    most > 0 || found == 0,
                    format!("{found} bytes of temporaries, none wanted"),
                );
            }
            "is_input" => {
                let is = graph.owner(graph.outputs()[0]).is_none()
                    && graph.name(graph.outputs()[0]) == wanted.as_str();
                expect(is, format!("the output is not {wanted}"));
            }
            "is_constant" => expect(kernels.is_empty(), "the output is not constant".to_owned()),
            "unused_inputs" => {
                for name in wanted.as_array().unwrap() {
                    let unused = graph
                        .inputs()
                        .iter()
                        .filter(|v| graph.name(**v) == name.as_str());
                    let unused = unused.into_iter().all(|v| graph.clients(*v).is_empty());
                    expect(unused, format!("{name} is still read"));
                }
            }
            "peak_elems_max" => {
                let largest = results.iter().map(|v| v.array().len()).max().unwrap_or(0) as u64;
                let temporary = function.plan_bytes() as u64 / 8;
                expect(
                    largest.max(temporary) <= most,
                    format!("peak of {} elements", largest.max(temporary)),
                );
            }
            _ => {}
        }
    }
    if after["level"] == "must" && !unmet.is_empty() {
        return Err(format!("must: {}\n{}", unmet.join("; "), function.debugprint()).into());
    }
    Ok(unmet
        .into_iter()
        .map(|w| format!("{}: {w}", after["level"]))
        .collect())
}
