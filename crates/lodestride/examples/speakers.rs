//! Speaker recognition on the Japanese Vowels recordings (Kudo, Toyama, Shimbo 1999): who of nine men says "ae"?
//!
//! 640 utterances of 7 to 29 frames, 12 cepstrum coefficients each. A batch is one LoD tensor: no utterance is ever padded.
//! Arrays prepare the data, one graph describes the network, its gradient and Adam, and every training step runs inside a
//! workspace. `cargo xtask demo` runs it and prints where the report is.
#![expect(clippy::print_stdout, reason = "a program that reports to a terminal")]

mod report;

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lodestride::array::{Rng, kernels::SegmentOp};
use lodestride::graph::{Builder, DType as Type, Shared, compile, lod, lvector};
use lodestride::prelude::*;
use lodestride::serde::npz;
use report::{Bars, Heat, Lines, Report, Series};

const SPEAKERS: usize = 9;
const COEFFICIENTS: usize = 12;
/// Frames that the hidden layer sees at once: the frame itself and three on either side.
const WINDOW: usize = 7;
const HIDDEN: usize = 64;
const BATCH: usize = 27;
const EPOCHS: usize = 60;
const SEEDS: u64 = 5;
const DATA: &str = "data/japanese_vowels.npz";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let data = Data::load(Path::new(DATA))?;
    println!("{data}");
    let mut runs = Vec::new();
    let bar = ProgressBar::new(SEEDS * EPOCHS as u64).with_style(ProgressStyle::with_template(
        "{bar:40} {pos}/{len} epochs  {msg}",
    )?);
    for seed in 0..SEEDS {
        runs.push(train(&data, seed, &bar)?);
    }
    bar.finish_and_clear();
    let first = &runs[0];
    println!("{first}");
    let mean = runs.iter().map(|run| run.accuracy).sum::<f64>() / runs.len() as f64;
    let worst = runs.iter().map(|run| run.accuracy).fold(1.0, f64::min);
    println!(
        "accuracy    seed 0: {:.2} %; mean of {SEEDS} seeds: {:.2} %, lowest {:.2} %",
        100.0 * first.accuracy,
        100.0 * mean,
        100.0 * worst
    );
    let folder = Path::new("target/demo");
    let same = reload(first, &data, &folder.join("speakers.npz"))?;
    println!(
        "model       saved as npz and loaded again: {same} of {} predictions the same",
        data.test_labels.len()
    );
    match first.stale.add(1.0) {
        Err(error) => println!("an array of a finished step is refused:\n{error}"),
        Ok(_) => return Err("an array of a finished step was still readable".into()),
    }
    let page = folder.join("speakers.html");
    write_report(&runs, mean, &data, &page)?;
    println!("report      {}", page.display());
    Ok(())
}

/// The recordings, each coefficient with mean 0 and deviation 1 over the training frames.
struct Data {
    train: LodTensor,
    test: LodTensor,
    train_labels: NdArray,
    test_labels: NdArray,
}

impl Data {
    fn load(path: &Path) -> Outcome<Self> {
        let mut file = npz::Reader::open(path)?;
        let (train, test) = (file.lod_tensor("train")?, file.lod_tensor("test")?);
        let (mean, deviation) = (train.data().mean(0)?, train.data().std(0)?);
        for part in [&train, &test] {
            part.data().subi(&mean)?.divi(&deviation)?;
        }
        let labels = |array: NdArray, utterances: &LodTensor| {
            let (found, expected) = (array.len(), utterances.lod().sequences(0)?);
            if found != expected {
                return Err(Box::<dyn Error>::from(LabelCount { found, expected }));
            }
            Ok(array)
        };
        Ok(Self {
            train_labels: labels(file.array("train_labels")?, &train)?,
            test_labels: labels(file.array("test_labels")?, &test)?,
            train,
            test,
        })
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "data        {} utterances of {} frames to train on, {} of {} to test; nothing is padded",
            self.train_labels.len(),
            self.train.rows(),
            self.test_labels.len(),
            self.test.rows()
        )
    }
}

/// Labels and utterances that do not belong together.
#[derive(Debug)]
struct LabelCount {
    found: usize,
    expected: usize,
}

impl fmt::Display for LabelCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, expected } = self;
        write!(
            f,
            "{found} labels for {expected} utterances\n  help: convert the recordings again with `cargo xtask data`"
        )
    }
}

impl Error for LabelCount {}

/// The network: parameters, a training step and a prediction.
struct Model {
    parameters: Vec<Shared>,
    step: Function,
    predict: Function,
}

impl Model {
    fn build(seed: u64) -> Outcome<Self> {
        let mut rng = Rng::seeded(seed);
        let mut normal = |rows: usize, columns: usize, name: &str| {
            let deviation = (1.0 / rows as f64).sqrt();
            Ok::<_, lodestride::Error>(shared(rng.normal([rows, columns], 0.0, deviation)?, name)?)
        };
        let w1 = normal(WINDOW * COEFFICIENTS, HIDDEN, "w1")?;
        let w2 = normal(HIDDEN, SPEAKERS, "w2")?;
        let b1 = shared(NdArray::zeros([HIDDEN])?, "b1")?;
        let b2 = shared(NdArray::zeros([SPEAKERS])?, "b2")?;

        let (x, labels) = (lod("x", Type::F32, [COEFFICIENTS], 1), lvector("labels"));
        let windows = x.sequence_windows(-(WINDOW as isize / 2), WINDOW, -1)?;
        let hidden = (windows.matmul(&w1)? + &b1).tanh()?;
        let utterance = hidden.sequence_pool(SegmentOp::Mean, -1)?;
        let scores = utterance.matmul(&w2)? + &b2;
        let loss = scores.softmax_cross_entropy(&labels)?.mean(..)?;
        let decay = 5e-4 * (w1.square()?.sum(..)? + w2.square()?.sum(..)?);

        let parameters = vec![w1, b1, w2, b2];
        let step = Function::builder(&[&x, &labels], &[&loss]).name("step");
        Ok(Self {
            step: adam(step, &(&loss + decay), &parameters, 3e-3)?.compile()?,
            predict: compile(&[&x], &[&scores.argmax(1)?])?,
            parameters,
        })
    }

    fn predictions(&self, batch: &LodTensor) -> Outcome<Vec<i64>> {
        Ok(self.predict.call([batch])?[0].array().to_vec::<i64>()?)
    }

    fn accuracy(&self, batch: &LodTensor, labels: &NdArray) -> Outcome<f64> {
        let predicted = self.predictions(batch)?;
        let right = predicted
            .iter()
            .zip(labels.to_vec::<i64>()?)
            .filter(|(p, l)| **p == *l)
            .count();
        Ok(right as f64 / predicted.len() as f64)
    }
}

/// Adam (Kingma, Ba 2015) as updates of shared variables.
fn adam(mut step: Builder, cost: &Variable, parameters: &[Shared], rate: f64) -> Outcome<Builder> {
    let count = shared(NdArray::zeros([])?, "count")?;
    let t = &*count + 1.0;
    let wrt: Vec<&Variable> = parameters.iter().map(Shared::variable).collect();
    let corrected =
        |decay: f64| Ok::<Variable, lodestride::Error>(1.0 - Variable::from(decay).pow(&t)?);
    let rate = rate * corrected(0.999)?.sqrt()? / corrected(0.9)?;
    let gradients: Vec<Variable> = grad(cost, &wrt)?;
    for (parameter, gradient) in parameters.iter().zip(&gradients) {
        let zeros = parameter.get()?.array().mul(0.0)?;
        let mean: Shared = shared(&zeros, "mean")?;
        let square: Shared = shared(&zeros, "square")?;
        let new_mean = 0.9 * &*mean + 0.1 * gradient;
        let new_square: Variable = 0.999 * &*square + 0.001 * gradient.square()?;
        let change = &rate * &new_mean / (new_square.sqrt()? + 1e-8);
        step = step
            .update(parameter, &**parameter - change)
            .update(&mean, new_mean)
            .update(&square, new_square);
    }
    Ok(step.update(&count, t))
}

/// One training run and what was seen on the way.
struct Run {
    model: Model,
    accuracy: f64,
    /// After each epoch: mean loss, accuracy on the training and on the test utterances.
    history: Vec<[f64; 3]>,
    /// Bytes in use in the step's workspace, sampled through the first steps.
    workspace_use: Vec<(f64, f64)>,
    workspace: Workspace,
    per_step: Duration,
    /// Array memory taken outside the workspaces after the first epoch.
    outside: u64,
    steps: usize,
    /// The loss of the last step, whose workspace has been closed since.
    stale: NdArray,
}

fn train(data: &Data, seed: u64, bar: &ProgressBar) -> Outcome<Run> {
    let mut run = Run {
        model: Model::build(seed)?,
        accuracy: 0.0,
        history: Vec::new(),
        workspace_use: Vec::new(),
        workspace: Workspace::new("STEP"),
        per_step: Duration::ZERO,
        outside: 0,
        steps: 0,
        stale: NdArray::zeros([])?,
    };
    let mut rng = Rng::seeded(1000 + seed);
    // The longest utterances first: the workspaces learn their final size in the first step.
    let mut order = data.train.lod().rank_by_length(0)?;
    for epoch in 0..EPOCHS {
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            loss += run.step(data, batch, epoch > 0)? * batch.len() as f64;
        }
        let train_accuracy = run.model.accuracy(&data.train, &data.train_labels)?;
        run.accuracy = run.model.accuracy(&data.test, &data.test_labels)?;
        run.history
            .push([loss / order.len() as f64, train_accuracy, run.accuracy]);
        order = rng.permutation(order.len());
        bar.inc(1);
        bar.set_message(format!(
            "seed {seed}: test accuracy {:.1} %",
            100.0 * run.accuracy
        ));
    }
    run.per_step /= run.steps as u32;
    Ok(run)
}

impl Run {
    /// One step on the utterances of `batch`, inside the workspace; returns the loss.
    fn step(&mut self, data: &Data, batch: &[usize], warm: bool) -> Outcome<f64> {
        let (start, heap) = (Instant::now(), memory::stats().heap_bytes_allocated);
        let workspace = self.workspace.clone();
        let guard = workspace.enter()?;
        let x = data.train.take(0, batch)?;
        self.sample();
        let positions: Vec<i64> = batch.iter().map(|&i| i as i64).collect();
        let labels = data.train_labels.take(&NdArray::from(positions), 0)?;
        let outputs = self
            .model
            .step
            .call([Value::from(x), Value::from(labels)])?;
        self.sample();
        let loss = outputs[0].array().item::<f32>()?;
        self.stale = outputs[0].array().clone();
        drop(outputs);
        guard.close()?;
        self.sample();
        if warm {
            self.outside += memory::stats().heap_bytes_allocated - heap;
            self.per_step += start.elapsed();
            self.steps += 1;
        }
        Ok(f64::from(loss))
    }

    fn sample(&mut self) {
        let at = self.workspace_use.len() as f64 / 3.0;
        if at < 40.0 {
            self.workspace_use
                .push((at, self.workspace.stats().this_cycle as f64));
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = &self.model.step;
        writeln!(
            f,
            "compiled    training step in {:.2} ms: {} nodes as written, {} kernels to run",
            step.compile_time().as_secs_f64() * 1e3,
            step.written_graph()
                .toposort()
                .map_or(0, |nodes| nodes.len()),
            step.latest_kernels().len()
        )?;
        writeln!(
            f,
            "step        {:.3} ms for {BATCH} utterances, mean of {} steps after the first epoch",
            self.per_step.as_secs_f64() * 1e3,
            self.steps
        )?;
        write!(
            f,
            "memory      workspace STEP {} bytes, intermediates {} bytes; allocated outside per step: {} bytes",
            self.workspace.stats().size,
            step.workspace_bytes(),
            self.outside / self.steps as u64
        )
    }
}

/// Saves the parameters, loads them into a fresh model, and counts the test utterances on which both agree.
fn reload(run: &Run, data: &Data, path: &Path) -> Outcome<usize> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut file = npz::Writer::create(path)?;
    for (i, parameter) in run.model.parameters.iter().enumerate() {
        file.array(&format!("parameter{i}"), parameter.get()?.array())?;
    }
    file.finish()?;
    let mut file = npz::Reader::open(path)?;
    let other = Model::build(u64::MAX)?;
    for (i, parameter) in other.parameters.iter().enumerate() {
        parameter.set(file.array(&format!("parameter{i}"))?)?;
    }
    let (ours, theirs) = (
        run.model.predictions(&data.test)?,
        other.predictions(&data.test)?,
    );
    Ok(ours.iter().zip(&theirs).filter(|(a, b)| a == b).count())
}

fn write_report(runs: &[Run], mean: f64, data: &Data, path: &Path) -> Outcome<()> {
    let (run, step) = (&runs[0], &runs[0].model.step);
    let mut page = Report::new(
        "Who is speaking?",
        "Nine speakers, 640 utterances of Japanese vowels (Kudo, Toyama, Shimbo 1999; UCI archive, CC BY 4.0)",
    );
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let milliseconds = |time: Duration| format!("{:.3} ms", 1e3 * time.as_secs_f64());
    page.tile("test accuracy, seed 0", &percent(run.accuracy));
    page.tile(&format!("mean of {SEEDS} seeds"), &percent(mean));
    page.tile("to compile the step", &milliseconds(step.compile_time()));
    page.tile("per training step", &milliseconds(run.per_step));
    let outside = format!("{} B", run.outside / run.steps as u64);
    page.tile("outside the workspace per step", &outside);
    curves(run, &mut page);
    page.figure(
        "Confusion",
        "Test utterances by true and by recognised speaker; mistakes in the second colour.",
        &confusion(run, data)?.to_svg(),
    );
    page.figure(
        "Lengths",
        "Frames per utterance, training and test together: the reason not to pad.",
        &lengths(data)?.to_svg(),
    );
    let bytes = Series::new("STEP", run.workspace_use.clone());
    page.wide_figure(
        "Workspace",
        "Bytes in use through the first steps: each fills the arena from its start, closing it costs nothing.",
        &Lines::new("step", "bytes in use", vec![bytes]).filled().to_svg(),
    );
    page.wide_figure(
        "The graph as written",
        "Forward pass, gradient and Adam.",
        &step.written_graph().to_svg(),
    );
    page.wide_figure(
        "The graph that runs",
        "After merging, folding and fusion.",
        &step.graph().to_svg(),
    );
    Ok(page.write(path)?)
}

/// Loss and accuracy by epoch.
fn curves(run: &Run, page: &mut Report) {
    let column = |i: usize| {
        let epochs = run.history.iter().zip(1..);
        epochs
            .map(|(row, epoch)| (f64::from(epoch), row[i]))
            .collect()
    };
    let loss = vec![Series::new("training", column(0))];
    page.figure(
        "Loss",
        "Mean softmax cross-entropy over the training utterances, seed 0.",
        &Lines::new("epoch", "nats", loss).to_svg(),
    );
    let accuracy = vec![
        Series::new("training", column(1)),
        Series::new("test", column(2)),
    ];
    page.figure(
        "Accuracy",
        "Share of utterances given to the right speaker.",
        &Lines::new("epoch", "share", accuracy)
            .range(0.5, 1.0)
            .to_svg(),
    );
}

fn confusion(run: &Run, data: &Data) -> Outcome<Heat<'static>> {
    let mut counts = vec![vec![0; SPEAKERS]; SPEAKERS];
    for (answer, truth) in run
        .model
        .predictions(&data.test)?
        .iter()
        .zip(data.test_labels.to_vec::<i64>()?)
    {
        counts[truth as usize][*answer as usize] += 1;
    }
    let labels = (1..=SPEAKERS).map(|i| i.to_string()).collect();
    Ok(Heat {
        x_label: "recognised speaker",
        y_label: "true speaker",
        labels,
        counts,
    })
}

fn lengths(data: &Data) -> Outcome<Bars<'static>> {
    let mut counts = std::collections::BTreeMap::new();
    for part in [&data.train, &data.test] {
        for length in part.lod().lengths_of(0)? {
            *counts.entry(length).or_insert(0.0) += 1.0;
        }
    }
    let bars = counts
        .into_iter()
        .map(|(length, count): (usize, f64)| (length.to_string(), count))
        .collect();
    Ok(Bars {
        x_label: "frames",
        y_label: "utterances",
        bars,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_do_not_match_the_utterances_are_refused() {
        let path = std::env::temp_dir().join(format!("speakers-{}.npz", std::process::id()));
        let frames = NdArray::ones([3, COEFFICIENTS]).unwrap();
        let batch = LodTensor::new(frames, Lengths::from([[1, 2]])).unwrap();
        let mut file = npz::Writer::create(&path).unwrap();
        for part in ["train", "test"] {
            file.lod_tensor(part, &batch).unwrap();
            let labels = NdArray::from([4i64, 7, 1]);
            file.array(&format!("{part}_labels"), &labels).unwrap();
        }
        file.finish().unwrap();
        let error = Data::load(&path).err().unwrap();
        std::fs::remove_file(&path).unwrap();
        let LabelCount { found, expected } = error.downcast_ref().unwrap();
        assert_eq!((*found, *expected), (3, 2));
        assert!(error.to_string().contains("3 labels for 2 utterances"));
    }
}
