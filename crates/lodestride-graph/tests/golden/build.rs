//! From the s-expressions of the golden files to variables.

use lodestride_array::kernels::{BinaryOp, UnaryOp};
use lodestride_array::{Axes, DType, Index, NdArray, keep};
use lodestride_graph::ops::{self, Elemwise};
use lodestride_graph::{Constant, Dim, OpRef, Value, Variable, grad, tensor};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::error::Error;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// A form that the crate does not have yet.
#[derive(Debug)]
pub(crate) struct Unsupported(pub(crate) String);

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not supported", self.0)
    }
}

impl Error for Unsupported {}

fn unsupported<T>(form: &str) -> Outcome<T> {
    Err(Box::new(Unsupported(form.to_owned())))
}

pub(crate) fn dtype(name: &str) -> DType {
    match name {
        "bool" => DType::Bool,
        "int8" => DType::I8,
        "int16" => DType::I16,
        "int32" => DType::I32,
        "int64" => DType::I64,
        "uint8" => DType::U8,
        "uint16" => DType::U16,
        "uint32" => DType::U32,
        "uint64" => DType::U64,
        "float32" => DType::F32,
        "float64" => DType::F64,
        other => panic!("dtype {other}"),
    }
}

pub(crate) fn number(json: &Json) -> f64 {
    match json {
        Json::String(s) if s == "nan" => f64::NAN,
        Json::String(s) if s == "inf" => f64::INFINITY,
        Json::String(s) if s == "-inf" => f64::NEG_INFINITY,
        Json::Bool(b) => f64::from(u8::from(*b)),
        other => other.as_f64().unwrap_or_else(|| panic!("number {other}")),
    }
}

pub(crate) fn sizes(json: &Json) -> Vec<usize> {
    json.as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap() as usize)
        .collect()
}

fn ints(json: &Json) -> Vec<isize> {
    match json {
        Json::Array(list) => list.iter().map(|n| n.as_i64().unwrap() as isize).collect(),
        one => vec![one.as_i64().unwrap() as isize],
    }
}

/// The array of a `dtype`, `shape`, `data` description; integers beyond 2^53 do not occur in the files.
pub(crate) fn array(json: &Json) -> Outcome<NdArray> {
    array_of(
        dtype(json["dtype"].as_str().unwrap()),
        &sizes(&json["shape"]),
        &json["data"],
    )
}

fn array_of(dtype: DType, shape: &[usize], data: &Json) -> Outcome<NdArray> {
    let data: Vec<f64> = match data {
        Json::Array(list) => list.iter().map(number).collect(),
        one => vec![number(one)],
    };
    Ok(NdArray::from_vec(data, shape)?.cast(dtype)?)
}

pub(crate) fn input(json: &Json) -> Variable {
    let shape = &json["static_shape"];
    let dims: Vec<Dim> = match shape {
        Json::Array(dims) => dims
            .iter()
            .map(|d| Dim::from(d.as_u64().map(|n| n as usize)))
            .collect(),
        _ => vec![Dim::Unknown; json["shape"].as_array().unwrap().len()],
    };
    tensor(
        json["name"].as_str().unwrap(),
        dtype(json["dtype"].as_str().unwrap()),
        dims,
    )
}

/// Names in sight.
#[derive(Clone, Default)]
pub(crate) struct Scope(pub(crate) HashMap<String, Variable>);

impl Scope {
    pub(crate) fn build(&self, json: &Json) -> Outcome<Variable> {
        let list = json
            .as_array()
            .ok_or_else(|| format!("expression {json}"))?;
        let form = list[0].as_str().unwrap();
        let arg = |i: usize| self.build(&list[i]);
        if let Some(op) = unary(form) {
            return Ok(OpRef::from(Elemwise::Unary(op)).call(&[&arg(1)?])?);
        }
        if let Some(op) = binary(form) {
            return Ok(OpRef::from(Elemwise::Binary(op)).call(&[&arg(1)?, &arg(2)?])?);
        }
        Ok(match form {
            "var" => self
                .0
                .get(list[1].as_str().unwrap())
                .cloned()
                .ok_or("unknown name")?,
            "const" => literal(&list[1]),
            "array" => constant(array_of(
                dtype(list[1].as_str().unwrap()),
                &sizes(&list[2]),
                &list[3],
            )?)?,
            "let" => {
                let mut inner = self.clone();
                for binding in list[1].as_array().unwrap() {
                    let value = inner.build(&binding[1])?;
                    inner
                        .0
                        .insert(binding[0].as_str().unwrap().to_owned(), value);
                }
                inner.build(&list[2])?
            }
            "dot" => arg(1)?.dot(arg(2)?)?,
            "matmul" => arg(1)?.matmul(arg(2)?)?,
            "outer" => arg(1)?.outer(arg(2)?)?,
            "where" => ops::select(arg(1)?, arg(2)?, arg(3)?)?,
            "clip" => arg(1)?.clip(arg(2)?, arg(3)?)?,
            "cast" => arg(1)?.cast(dtype(list[2].as_str().unwrap()))?,
            "softmax" => arg(1)?.softmax(axis(&list[2]))?,
            "log_softmax" => arg(1)?.log_softmax(axis(&list[2]))?,
            "cumsum" => arg(1)?.cumsum(axis(&list[2]))?,
            "cumprod" => arg(1)?.cumprod(axis(&list[2]))?,
            "argmax" => arg(1)?.argmax(list[2]["axis"].as_i64().map(|a| a as isize))?,
            "argmin" => arg(1)?.argmin(list[2]["axis"].as_i64().map(|a| a as isize))?,
            "reshape" => arg(1)?.reshape(&ints(&list[2]))?,
            "transpose" => arg(1)?.permute(&ints(&list[2]))?,
            "expand_dims" => arg(1)?.expand_dims(&ints(&list[2]))?,
            "squeeze" => arg(1)?.squeeze(Axes::from(ints(&list[2])))?,
            "broadcast_to" => arg(1)?.broadcast_to(&sizes(&list[2]))?,
            "flip" => arg(1)?.flip(list[2].as_i64().unwrap() as isize)?,
            "concat" | "stack" => self.join(form, list)?,
            "index" => self.index(&arg(1)?, list[2].as_array().unwrap())?,
            "set_index" | "inc_index" => {
                let index = basic(list[2].as_array().unwrap())
                    .ok_or_else(|| Unsupported(form.to_owned()))?;
                let (x, y) = (arg(1)?, arg(3)?);
                if form == "set_index" {
                    x.set_index(&index, y)?
                } else {
                    x.inc_index(&index, y)?
                }
            }
            "diag" => arg(1)?.diagonal()?,
            "trace" => arg(1)?.diagonal()?.sum(..)?,
            "shape" => {
                let at = list[2].as_i64().unwrap() as isize;
                arg(1)?.shape_of()?.get(&[Index::Point(at)])?
            }
            "grad" => {
                let name = list[2].as_str().unwrap();
                grad(&arg(1)?, &[&self.0[name]])?.remove(0)
            }
            reduction => self.reduce(reduction, list)?,
        })
    }

    fn reduce(&self, form: &str, list: &[Json]) -> Outcome<Variable> {
        if !matches!(
            form,
            "sum"
                | "prod"
                | "mean"
                | "variance"
                | "stddev"
                | "max"
                | "min"
                | "any"
                | "all"
                | "logsumexp"
        ) {
            return unsupported(form);
        }
        let x = self.build(&list[1])?;
        let options = &list[2];
        let axes = if options["axis"].is_null() {
            Axes::all()
        } else {
            Axes::from(ints(&options["axis"]))
        };
        let axes = if options["keepdims"].as_bool().unwrap_or(false) {
            keep(axes)
        } else {
            axes
        };
        Ok(match form {
            "sum" => x.sum(axes)?,
            "prod" => x.prod(axes)?,
            "mean" => x.mean(axes)?,
            "variance" => x.var(axes)?,
            "stddev" => x.std(axes)?,
            "max" => x.max(axes)?,
            "min" => x.min(axes)?,
            "any" => x.any(axes)?,
            "all" => x.all(axes)?,
            _ => x.logsumexp(axes)?,
        })
    }

    fn join(&self, form: &str, list: &[Json]) -> Outcome<Variable> {
        let parts = list[1]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| self.build(e))
            .collect::<Outcome<Vec<_>>>()?;
        let parts: Vec<&Variable> = parts.iter().collect();
        let axis = list[2].as_i64().unwrap() as isize;
        Ok(if form == "concat" {
            ops::concat(&parts, axis)?
        } else {
            ops::stack(&parts, axis)?
        })
    }

    /// Basic indices are views; leading index arrays gather, one after whole axes takes, a mask alone compresses.
    fn index(&self, x: &Variable, spec: &[Json]) -> Outcome<Variable> {
        if let Some(index) = basic(spec) {
            return Ok(x.get(&index)?);
        }
        let whole = |s: &&Json| **s == serde_json::json!({"slice": [null, null, null]});
        let skipped = spec.iter().take_while(whole).count();
        let arrays = spec[skipped..]
            .iter()
            .map(|e| self.build(e))
            .collect::<Outcome<Vec<_>>>()?;
        match arrays.as_slice() {
            [mask] if mask.dtype() == DType::Bool && skipped == 0 => Ok(x.compress(mask)?),
            [at] if at.dtype().is_integer() => Ok(x.take(at, skipped as isize)?),
            several if skipped == 0 && several.iter().all(|a| a.dtype().is_integer()) => {
                Ok(x.gather(&several.iter().collect::<Vec<_>>())?)
            }
            _ => unsupported("index"),
        }
    }
}

fn literal(json: &Json) -> Variable {
    match json {
        Json::Bool(b) => Variable::from(*b),
        Json::Number(n) if n.is_i64() => Variable::from(n.as_i64().unwrap()),
        other => Variable::from(number(other)),
    }
}

fn constant(array: NdArray) -> Outcome<Variable> {
    Ok(Constant::new(Value::from(array), None)?.into())
}

fn axis(options: &Json) -> isize {
    options["axis"].as_i64().unwrap() as isize
}

fn basic(spec: &[Json]) -> Option<Vec<Index>> {
    let bound = |json: &Json| json.as_i64().map(|n| n as isize);
    spec.iter()
        .map(|entry| match entry {
            Json::Number(n) => n.as_i64().map(|n| Index::Point(n as isize)),
            Json::String(s) if s == "newaxis" => Some(Index::NewAxis),
            Json::String(s) if s == "ellipsis" => Some(Index::Ellipsis),
            Json::Object(o) => {
                let slice = &o["slice"];
                let (start, end) = (bound(&slice[0]), bound(&slice[1]));
                Some(Index::Interval {
                    start,
                    end,
                    step: bound(&slice[2]).unwrap_or(1),
                })
            }
            _ => None,
        })
        .collect()
}

fn unary(form: &str) -> Option<UnaryOp> {
    Some(match form {
        "arcsin" => UnaryOp::Asin,
        "arccos" => UnaryOp::Acos,
        "arctan" => UnaryOp::Atan,
        "isnan" => UnaryOp::IsNan,
        "isinf" => UnaryOp::IsInf,
        "neg" | "abs" | "sign" | "exp" | "log" | "log1p" | "expm1" | "log2" | "log10" | "sqrt"
        | "square" | "reciprocal" | "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh"
        | "sigmoid" | "softplus" | "erf" | "erfc" | "floor" | "ceil" | "round" | "trunc"
        | "not" => UnaryOp::from_name(form)?,
        _ => return None,
    })
}

fn binary(form: &str) -> Option<BinaryOp> {
    Some(match form {
        "floordiv" => BinaryOp::FloorDiv,
        "maximum" => BinaryOp::Max,
        "minimum" => BinaryOp::Min,
        "arctan2" => BinaryOp::Atan2,
        "logaddexp" => BinaryOp::LogAddExp,
        "add" | "sub" | "mul" | "div" | "mod" | "pow" | "lt" | "le" | "gt" | "ge" | "eq" | "ne"
        | "and" | "or" | "xor" => BinaryOp::from_name(form)?,
        _ => return None,
    })
}
