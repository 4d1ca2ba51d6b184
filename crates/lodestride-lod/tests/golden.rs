//! Runs the answers of the real Fluid in `testdata/golden` through one checker that reports every case that differs.
#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and tables of cases are long"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use lodestride_lod::sequence::{self, PoolKind, Window};
use lodestride_lod::{
    DType, Lengths, Lod, LodError, LodTensor, NdArray, Offsets, SequenceArgument,
};
use serde_json::Value;

/// Groups of Fluid whose ops come with the later capabilities; their golden files are not here.
const LATER: [&str; 15] = [
    "beam_search",
    "beam_search_decode",
    "chunk_eval",
    "crf_decoding",
    "ctc_align",
    "dynamic_rnn",
    "filter_by_instag",
    "gru",
    "linear_chain_crf",
    "lod_tensor_file",
    "lstm",
    "lstmp",
    "sequence_topk_avg_pooling",
    "warpctc",
    "data_feeder",
];

/// What an op answered: outputs and gradients by slot, or a text.
#[derive(Default)]
struct Answer {
    outputs: Vec<(&'static str, LodTensor)>,
    grads: Vec<(String, NdArray)>,
    text: Option<String>,
    /// Steps have been compared by the op's own function.
    steps: bool,
}

impl Answer {
    fn of(slot: &'static str, output: LodTensor) -> Answer {
        Answer {
            outputs: vec![(slot, output)],
            ..Answer::default()
        }
    }

    fn with(mut self, slot: &'static str, output: LodTensor) -> Answer {
        self.outputs.push((slot, output));
        self
    }

    fn grad(mut self, slot: impl Into<String>, grad: NdArray) -> Answer {
        self.grads.push((slot.into(), grad));
        self
    }
}

/// One case of a file.
struct Case<'a>(&'a Value);

impl Case<'_> {
    fn id(&self) -> &str {
        self.0["id"].as_str().unwrap_or("?")
    }

    fn has(&self, key: &str) -> bool {
        !self.0[key].is_null()
    }

    fn int(&self, attr: &str) -> i64 {
        self.0["attrs"][attr].as_i64().unwrap()
    }

    fn float(&self, attr: &str) -> f64 {
        self.0["attrs"][attr].as_f64().unwrap()
    }

    fn ints(&self, attr: &str) -> Vec<i64> {
        self.0["attrs"][attr]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_i64().unwrap())
            .collect()
    }

    fn input(&self, slot: &str) -> Result<LodTensor, LodError> {
        tensor(&self.0["inputs"][slot])
    }

    fn array(&self, slot: &str) -> Result<NdArray, LodError> {
        Ok(self.input(slot)?.into_data())
    }

    fn list(&self) -> Result<Vec<LodTensor>, LodError> {
        (0..)
            .map(|i| format!("X{i}"))
            .take_while(|slot| self.0["inputs"].get(slot).is_some())
            .map(|s| self.input(&s))
            .collect()
    }

    /// The weight of each output in the scalar whose gradient is given.
    fn weight(&self) -> Option<NdArray> {
        self.has("grads")
            .then(|| tensor(&self.0["w"]).unwrap().into_data())
    }
}

fn dtype(name: &str) -> DType {
    let short = name
        .replace("float", "f")
        .replace("uint", "u")
        .replace("int", "i");
    short.parse().unwrap_or_else(|_| panic!("dtype {name}"))
}

fn numbers(data: &Value) -> Vec<f64> {
    let number = |v: &Value| match v {
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::String(text) => text.parse().unwrap(),
        number => number.as_f64().unwrap(),
    };
    data.as_array().unwrap().iter().map(number).collect()
}

fn levels(value: &Value) -> Vec<Vec<usize>> {
    let level = |v: &Value| {
        v.as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap() as usize)
            .collect()
    };
    value.as_array().unwrap().iter().map(level).collect()
}

fn tensor(value: &Value) -> Result<LodTensor, LodError> {
    let shape: Vec<usize> = value["shape"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_u64().unwrap() as usize)
        .collect();
    let data = NdArray::from_vec(numbers(&value["data"]), shape)?
        .cast(dtype(value["dtype"].as_str().unwrap()))?;
    match &value["lod_lengths"] {
        Value::Null => Ok(LodTensor::from(data)),
        lengths => LodTensor::new(data, Lengths::from(levels(lengths))),
    }
}

/// The answer of this crate to a case; `None` for an op that is not built yet.
fn answer(case: &Case<'_>) -> Option<Result<Answer, LodError>> {
    let run: fn(&Case<'_>) -> Result<Answer, LodError> = match case.0["op"].as_str().unwrap() {
        "sequence_expand" => expand,
        "sequence_expand_as" => expand_as,
        "sequence_pool" => pool,
        "sequence_first_step" => |case| step(case, PoolKind::First),
        "sequence_last_step" => |case| step(case, PoolKind::Last),
        "sequence_softmax" => softmax,
        "sequence_reverse" => reverse,
        "sequence_conv" => conv,
        "row_conv" => row_conv,
        "sequence_pad" => pad,
        "sequence_unpad" => unpad,
        "sequence_concat" => concat,
        "sequence_slice" => slice,
        "sequence_reshape" => reshape,
        "sequence_scatter" => scatter,
        "sequence_enumerate" => enumerate,
        "sequence_erase" => |case| {
            Ok(Answer::of(
                "Out",
                sequence::erase(&case.input("X")?, &case.ints("tokens"))?,
            ))
        },
        "sequence_mask" => mask,
        "lod_reset" => lod_reset,
        "reorder_lod_tensor_by_rank" => reorder,
        "split_lod_tensor" => |case| split_by_mask(case, false),
        "split_lod_tensor+merge_lod_tensor" => |case| split_by_mask(case, true),
        "edit_distance" => edit_distance,
        "lod_tensor_to_array" => to_array,
        "shrink_rnn_memory" => shrink,
        "check_lod" => check_lod,
        "str" => |case| {
            Ok(Answer {
                text: Some(format!("{:#}", case.input("X")?)),
                ..Answer::default()
            })
        },
        "create_lod_tensor_from_ndarray" => create_from_array,
        "create_lod_tensor_from_list" => create_from_list,
        "elementwise_add" => |case| {
            let y = case.array("Y")?;
            Ok(Answer::of("Out", case.input("X")?.map(|x| x.add(&y))?))
        },
        "sum" => |case| {
            Ok(Answer::of(
                "Out",
                case.input("X0")?
                    .zip_map(&case.input("X1")?, |a, b| a.add(b))?,
            ))
        },
        "relu" => |case| Ok(Answer::of("Out", case.input("X")?.map(|x| x.relu())?)),
        "softmax" => |case| Ok(Answer::of("Out", case.input("X")?.map(|x| x.softmax(-1))?)),
        "reduce_sum" => |case| {
            Ok(Answer::of(
                "Out",
                case.input("X")?.map(|x| x.sum(1)?.expand_dims(1))?,
            ))
        },
        "stack" => |case| {
            let other = case.array("X1")?;
            Ok(Answer::of(
                "Y",
                case.input("X0")?.map(|x| NdArray::stack(&[x, &other], 1))?,
            ))
        },
        "lookup_table_v2" => |case| {
            let table = case.array("W")?;
            Ok(Answer::of(
                "Out",
                case.input("Ids")?.map(|ids| table.take(ids, 0))?,
            ))
        },
        "gather" => |case| {
            Ok(Answer::of(
                "Out",
                case.array("X")?.take(&case.array("Index")?, 0)?.into(),
            ))
        },
        "reshape2" => |case| {
            Ok(Answer::of(
                "Out",
                case.array("X")?.reshape(case.ints("shape"))?.into(),
            ))
        },
        _ => return None,
    };
    Some(run(case))
}

fn expand(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, y, level) = (
        case.input("X")?,
        case.input("Y")?,
        case.int("ref_level") as isize,
    );
    let answer = Answer::of("Out", sequence::expand(&x, &y, level)?);
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::expand_grad(&x, &y, level, &w)?),
        None => answer,
    })
}

fn expand_as(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, y) = (case.input("X")?, case.input("Y")?);
    let answer = Answer::of("Out", sequence::expand_as(&x, &y, -1)?);
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::expand_as_grad(&x, &y, -1, &w)?),
        None => answer,
    })
}

fn pool(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, pad) = (case.input("X")?, case.float("pad_value"));
    let kind = match case.0["attrs"]["pooltype"].as_str().unwrap() {
        "SUM" => PoolKind::Sum,
        "AVERAGE" => PoolKind::Average,
        "SQRT" => PoolKind::Sqrt,
        "MAX" => PoolKind::Max,
        "FIRST" => PoolKind::First,
        "LAST" => PoolKind::Last,
        other => panic!("pool {other}"),
    };
    let mut answer = if case.0["outputs"].get("MaxIndex").is_some() {
        let (out, index) = sequence::pool_with_index(&x, kind, -1, pad)?;
        Answer::of("Out", out).with("MaxIndex", index.into())
    } else {
        Answer::of("Out", sequence::pool(&x, kind, -1, pad)?)
    };
    if let Some(w) = case.weight() {
        answer = answer.grad("X", sequence::pool_grad(&x, kind, -1, &w)?);
    }
    Ok(answer)
}

fn step(case: &Case<'_>, kind: PoolKind) -> Result<Answer, LodError> {
    let x = case.input("X")?;
    let out = if kind == PoolKind::First {
        sequence::first_step(&x, -1)?
    } else {
        sequence::last_step(&x, -1)?
    };
    let grad = sequence::pool_grad(&x, kind, -1, &case.weight().unwrap())?;
    Ok(Answer::of("Out", out).grad("X", grad))
}

fn softmax(case: &Case<'_>) -> Result<Answer, LodError> {
    let y = sequence::softmax(&case.input("X")?, -1)?;
    let grad = case
        .weight()
        .map(|w| sequence::softmax_grad(&y, -1, &w))
        .transpose()?;
    let answer = Answer::of("Out", y);
    Ok(match grad {
        Some(grad) => answer.grad("X", grad),
        None => answer,
    })
}

fn reverse(case: &Case<'_>) -> Result<Answer, LodError> {
    let x = case.input("X")?;
    let answer = Answer::of("Y", sequence::reverse(&x, -1)?);
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::reverse_grad(&x, -1, &w)?),
        None => answer,
    })
}

fn conv(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, filter) = (case.input("X")?, case.array("Filter")?);
    let padding = case.0["inputs"]
        .get("PaddingData")
        .map(|_| case.array("PaddingData"))
        .transpose()?;
    let window = Window {
        start: case.int("contextStart") as isize,
        length: case.int("contextLength") as usize,
    };
    let answer = Answer::of(
        "Out",
        sequence::conv(&x, &filter, window, padding.as_ref(), -1)?,
    );
    let Some(w) = case.weight() else {
        return Ok(answer);
    };
    let grads = sequence::conv_grad(&x, &filter, window, padding.as_ref(), -1, &w)?;
    let answer = answer.grad("X", grads.x).grad("Filter", grads.filter);
    Ok(match grads.padding {
        Some(padding) => answer.grad("PaddingData", padding),
        None => answer,
    })
}

fn row_conv(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, filter) = (case.input("X")?, case.array("Filter")?);
    let (of_x, of_filter) = sequence::row_conv_grad(&x, &filter, -1, &case.weight().unwrap())?;
    Ok(Answer::of("Out", sequence::row_conv(&x, &filter, -1)?)
        .grad("X", of_x)
        .grad("Filter", of_filter))
}

fn pad(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, value) = (case.input("X")?, case.array("PadValue")?);
    let maxlen = usize::try_from(case.int("padded_length")).ok();
    let padded = sequence::pad(&x, &value, maxlen, -1)?;
    let answer = Answer::of("Out", padded.data).with("Length", padded.lengths.into());
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::pad_grad(&x, maxlen, -1, &w)?),
        None => answer,
    })
}

fn unpad(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, lengths) = (case.input("X")?, sequence::counts(&case.array("Length")?)?);
    let answer = Answer::of("Out", sequence::unpad(&x, &lengths)?);
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::unpad_grad(&x, &lengths, &w)?),
        None => answer,
    })
}

fn concat(case: &Case<'_>) -> Result<Answer, LodError> {
    let inputs = case.list()?;
    let inputs: Vec<&LodTensor> = inputs.iter().collect();
    let mut answer = Answer::of("Out", sequence::concat(&inputs, -1)?);
    if let Some(w) = case.weight() {
        for (i, grad) in sequence::concat_grad(&inputs, -1, &w)?
            .into_iter()
            .enumerate()
        {
            answer = answer.grad(format!("X{i}"), grad);
        }
    }
    Ok(answer)
}

fn slice(case: &Case<'_>) -> Result<Answer, LodError> {
    let x = case.input("X")?;
    let (offsets, lengths) = (
        sequence::counts(&case.array("Offset")?)?,
        sequence::counts(&case.array("Length")?)?,
    );
    let answer = Answer::of("Out", sequence::slice(&x, &offsets, &lengths, -1)?);
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::slice_grad(&x, &offsets, &lengths, -1, &w)?),
        None => answer,
    })
}

fn reshape(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, width) = (case.input("X")?, case.int("new_dim") as usize);
    let answer = Answer::of("Out", sequence::reshape(&x, width)?);
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::reshape_grad(&x, width, &w)?),
        None => answer,
    })
}

fn scatter(case: &Case<'_>) -> Result<Answer, LodError> {
    let (x, ids, updates) = (case.array("X")?, case.input("Ids")?, case.array("Updates")?);
    let answer = Answer::of("Out", sequence::scatter(&x, &ids, &updates, -1)?.into());
    let Some(w) = case.weight() else {
        return Ok(answer);
    };
    let (of_x, of_updates) = sequence::scatter_grad(&x, &ids, &updates, -1, &w)?;
    Ok(answer.grad("X", of_x).grad("Updates", of_updates))
}

fn enumerate(case: &Case<'_>) -> Result<Answer, LodError> {
    let (window, pad) = (case.int("win_size") as usize, case.int("pad_value"));
    Ok(Answer::of(
        "Out",
        sequence::enumerate(&case.input("X")?, window, pad, -1)?,
    ))
}

fn mask(case: &Case<'_>) -> Result<Answer, LodError> {
    let dtype = match case.int("out_dtype") {
        0 => DType::Bool,
        2 => DType::I32,
        3 => DType::I64,
        5 => DType::F32,
        6 => DType::F64,
        other => panic!("dtype number {other}"),
    };
    let maxlen = usize::try_from(case.int("maxlen")).ok();
    Ok(Answer::of(
        "Y",
        sequence::mask(&case.array("X")?, maxlen, dtype)?.into(),
    ))
}

fn lod_reset(case: &Case<'_>) -> Result<Answer, LodError> {
    let x = case.input("X")?;
    let target: Vec<usize> = case
        .ints("target_lod")
        .into_iter()
        .map(|o| usize::try_from(o).unwrap())
        .collect();
    let target = match case.0["inputs"].get("Y").map(tensor).transpose()? {
        Some(y) if y.lod_level() > 0 => y.lod().offsets(),
        Some(y) => Offsets::from(sequence::counts(y.data())?),
        None => Offsets::from(target),
    };
    let out = if case.0["attrs"]["append"].as_bool().unwrap() {
        let lengths = target.to_lengths()?;
        x.with_lod(x.lod().append(lengths.get(0).unwrap())?)?
    } else {
        x.with_lod(target)?
    };
    let answer = Answer::of("Out", out);
    // The rows stay where they are, and so does their gradient.
    Ok(match case.weight() {
        Some(w) => answer.grad("X", w),
        None => answer,
    })
}

fn reorder(case: &Case<'_>) -> Result<Answer, LodError> {
    let order = case
        .input("RankSource")?
        .lod()
        .rank_by_length(case.int("rank_level") as isize)?;
    let x = case.input("X")?;
    let answer = Answer::of("Out", sequence::take(&x, &order, 0)?);
    Ok(match case.weight() {
        Some(w) => answer.grad("X", sequence::take_grad(&x, &order, 0, &w)?),
        None => answer,
    })
}

fn split_by_mask(case: &Case<'_>, merge: bool) -> Result<Answer, LodError> {
    let (x, level) = (case.input("X")?, case.int("level") as isize);
    let mask = case.array("Mask")?.to_vec::<bool>()?;
    let (yes, no): (Vec<usize>, Vec<usize>) = (0..mask.len()).partition(|&i| mask[i]);
    let (out_true, out_false) = (
        sequence::take(&x, &yes, level)?,
        sequence::take(&x, &no, level)?,
    );
    if !merge {
        return Ok(Answer::of("OutTrue", out_true).with("OutFalse", out_false));
    }
    let order = yes.iter().chain(&no).copied();
    let mut places = vec![0; mask.len()];
    for (place, sequence) in order.enumerate() {
        places[sequence] = place;
    }
    let both = LodTensor::concat(&[&out_true, &out_false])?;
    Ok(Answer::of("Out", sequence::take(&both, &places, 0)?))
}

fn to_array(case: &Case<'_>) -> Result<Answer, LodError> {
    let x = case.input("X")?;
    let steps = sequence::to_steps(&x, case.int("rank_level") as isize)?;
    let expected = case.0["outputs"]["Out"]["array"].as_array().unwrap();
    assert_eq!(
        steps.steps().len(),
        expected.len(),
        "{}: number of steps",
        case.id()
    );
    for (step, expected) in steps.steps().iter().zip(expected) {
        let wrong = differences("step", expected, step, 1e-5, true);
        assert!(wrong.is_empty(), "{}: {wrong:?}", case.id());
    }
    let back = sequence::from_steps(&steps)?;
    assert_eq!(back.lod(), x.lod(), "{}: back again", case.id());
    assert_eq!(
        back.data().to_f64_vec()?,
        x.data().to_f64_vec()?,
        "{}: back again",
        case.id()
    );
    Ok(Answer {
        steps: true,
        ..Answer::default()
    })
}

fn edit_distance(case: &Case<'_>) -> Result<Answer, LodError> {
    let (mut x, mut y) = (case.input("Hyps")?, case.input("Refs")?);
    if case.0["attrs"].get("ignored_tokens").is_some() {
        let tokens = case.ints("ignored_tokens");
        (x, y) = (sequence::erase(&x, &tokens)?, sequence::erase(&y, &tokens)?);
    }
    let normalized = case.0["attrs"]["normalized"].as_bool().unwrap();
    let distances = sequence::edit_distance(&x, &y, normalized, -1)?;
    let count = NdArray::from([distances.shape()[0] as i64]);
    Ok(Answer::of("Out", distances.into()).with("SequenceNum", count.into()))
}

fn shrink(case: &Case<'_>) -> Result<Answer, LodError> {
    let steps = sequence::to_steps(&case.input("RankSource")?, case.int("rank_level") as isize)?;
    let step = case.array("I")?.to_vec::<i64>()?[0] as usize;
    Ok(Answer::of(
        "Out",
        case.input("X")?.slice_rows(0..steps.active(step))?,
    ))
}

/// Fluid's check; answers with the two forms as text, because there is no tensor.
fn check_lod(case: &Case<'_>) -> Result<Answer, LodError> {
    let inputs = &case.0["inputs"];
    let given = levels(&inputs["lod"]);
    let lod = match inputs["form"].as_str().unwrap() {
        "offsets" => Lod::from_offsets(Offsets::from(given))?,
        _ => Lod::from_lengths(given)?,
    };
    lod.check_rows(inputs["height"].as_u64().unwrap() as usize)?;
    Ok(Answer {
        text: Some(format!("{} {}", lod.offsets(), lod.lengths())),
        ..Answer::default()
    })
}

fn create_from_array(case: &Case<'_>) -> Result<Answer, LodError> {
    let lengths = Lengths::from(levels(&case.0["inputs"]["lens"]));
    Ok(Answer::of(
        "Out",
        LodTensor::new(case.array("data")?, lengths)?,
    ))
}

fn create_from_list(case: &Case<'_>) -> Result<Answer, LodError> {
    let inputs = &case.0["inputs"];
    let mut items = Vec::new();
    for item in inputs["data"].as_array().unwrap() {
        let rows = item.as_array().unwrap();
        let width = rows.first().and_then(Value::as_array).map(Vec::len);
        let flat: Vec<i64> = rows
            .iter()
            .flat_map(|row| row.as_array().cloned().unwrap_or_else(|| vec![row.clone()]))
            .map(|v| v.as_i64().unwrap())
            .collect();
        // Fluid appends an axis of size 1 to every list.
        let shape = [Some(rows.len()), width, Some(1)];
        items.push(LodTensor::from(NdArray::from_vec(
            flat,
            shape.into_iter().flatten().collect::<Vec<_>>(),
        )?));
    }
    let out = LodTensor::from_sequences(&items.iter().collect::<Vec<_>>())?;
    let expected = Lod::from_lengths(levels(&inputs["lens"]))?;
    out.lod()
        .check_equal(&expected, "create_lod_tensor", SequenceArgument::Length)?;
    Ok(Answer::of("Out", out))
}

/// Everything in which `found` differs from `expected`, within `tolerance` absolute or relative.
fn differences(
    slot: &str,
    expected: &Value,
    found: &LodTensor,
    tolerance: f64,
    with_lod: bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    if with_lod {
        let lengths = match &expected["lod_lengths"] {
            Value::Null => Lengths::default(),
            lengths => Lengths::from(levels(lengths)),
        };
        if found.recursive_sequence_lengths() != lengths {
            wrong.push(format!(
                "{slot}: LoD {}, expected {lengths}",
                found.recursive_sequence_lengths()
            ));
        }
    }
    if expected["shape"].is_null() {
        if !found.data().is_empty() {
            wrong.push(format!(
                "{slot}: shape {:?}, expected no element",
                found.shape()
            ));
        }
        return wrong;
    }
    let shape: Vec<usize> = expected["shape"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_u64().unwrap() as usize)
        .collect();
    if found.shape()[..] != shape[..] {
        wrong.push(format!(
            "{slot}: shape {:?}, expected {shape:?}",
            found.shape()
        ));
        return wrong;
    }
    // Indices are i64 here and int32 there.
    let expected_dtype = dtype(expected["dtype"].as_str().unwrap());
    if found.dtype() != expected_dtype && slot != "MaxIndex" {
        wrong.push(format!(
            "{slot}: dtype {}, expected {expected_dtype}",
            found.dtype()
        ));
    }
    let values = found.data().to_f64_vec().unwrap();
    for (i, (&found, expected)) in values.iter().zip(numbers(&expected["data"])).enumerate() {
        let close = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
        if !(close || found == expected || found.is_nan() && expected.is_nan()) {
            wrong.push(format!("{slot}[{i}] = {found}, expected {expected}"));
        }
    }
    wrong
}

/// Compares an answer with the outputs and gradients of its case.
fn compare(case: &Case<'_>, answer: &Answer) -> Vec<String> {
    let mut wrong = Vec::new();
    let outputs = &case.0["outputs"];
    if answer.steps {
        return wrong;
    }
    if let Some(text) = &answer.text {
        let expected = match outputs["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!(
                "{} {}",
                Offsets::from(levels(&outputs["offsets"])),
                Lengths::from(levels(&outputs["lengths"]))
            ),
        };
        if *text != expected {
            wrong.push(format!("text {text:?}, expected {expected:?}"));
        }
        return wrong;
    }
    for slot in outputs.as_object().unwrap().keys() {
        match answer.outputs.iter().find(|(name, _)| name == slot) {
            Some((_, found)) => wrong.extend(differences(slot, &outputs[slot], found, 1e-5, true)),
            None => wrong.push(format!("{slot}: not answered")),
        }
    }
    if case.has("grads") && !case.has("grad_quirk") {
        for slot in case.0["grads"].as_object().unwrap().keys() {
            match answer.grads.iter().find(|(name, _)| name == slot) {
                Some((_, grad)) => {
                    let grad = LodTensor::from(grad);
                    wrong.extend(differences(
                        &format!("d{slot}"),
                        &case.0["grads"][slot],
                        &grad,
                        1e-4,
                        false,
                    ));
                }
                None => wrong.push(format!("d{slot}: not answered")),
            }
        }
    }
    wrong
}

/// How a case came out.
#[derive(Default)]
struct Tally {
    passed: usize,
    refused: usize,
    wider: usize,
    not_compared: usize,
    later: Vec<String>,
    failures: Vec<String>,
}

impl Tally {
    fn check(&mut self, case: &Case<'_>) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            answer(case).map(|answer| answer.map(|a| compare_or_pass(case, &a)))
        }));
        // Zero sequences are a value here; Fluid cannot express them.
        let zero_sequences = case.0["outputs"]["valid"] == false && case.0["inputs"]["height"] == 0;
        let must_fail = case.0["error_kind"] == "invalid"
            || case.0["outputs"]["valid"] == false && !zero_sequences;
        let anything =
            case.has("error") || case.has("quirk") || case.has("undefined") || zero_sequences;
        match outcome {
            Err(_) => self.failures.push(format!("{}: panicked", case.id())),
            Ok(None) => self.later.push(case.0["op"].as_str().unwrap().to_owned()),
            Ok(Some(Err(error))) if must_fail => {
                assert!(!error.to_string().is_empty());
                self.refused += 1;
            }
            Ok(Some(Ok(_))) if must_fail => self
                .failures
                .push(format!("{}: accepted, must be refused", case.id())),
            Ok(Some(Ok(_))) if anything => self.wider += 1,
            Ok(Some(Err(_))) if anything => self.not_compared += 1,
            Ok(Some(Err(error))) => self
                .failures
                .push(format!("{}: refused: {error}", case.id())),
            Ok(Some(Ok(wrong))) if wrong.is_empty() => self.passed += 1,
            Ok(Some(Ok(wrong))) => {
                self.failures
                    .push(format!("{}: {}", case.id(), wrong.join("; ")))
            }
        }
    }
}

fn compare_or_pass(case: &Case<'_>, answer: &Answer) -> Vec<String> {
    let comparable = !["error", "quirk", "undefined"]
        .iter()
        .any(|key| case.has(key))
        && case.0["outputs"]["valid"] != false;
    if comparable {
        compare(case, answer)
    } else {
        Vec::new()
    }
}

#[test]
fn every_golden_case_is_answered_as_fluid_does() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/golden");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "json"));
    files.sort();
    let mut tally = Tally::default();
    for file in &files {
        let cases: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for case in &cases {
            tally.check(&Case(case));
        }
    }
    tally.later.sort();
    tally.later.dedup();
    let report = format!(
        "golden: {} files; {} cases equal, {} invalid ones refused, {} accepted that Fluid refuses or gets wrong, {} refused as by Fluid; \
         ops of these files for later: {:?}; groups for later: {LATER:?}",
        files.len(),
        tally.passed,
        tally.refused,
        tally.wider,
        tally.not_compared,
        tally.later,
    );
    assert!(
        tally.failures.is_empty(),
        "{report}\n{} failures:\n{}",
        tally.failures.len(),
        tally.failures.join("\n")
    );
    eprintln!("{report}");
}
