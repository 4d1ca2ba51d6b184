//! The first program of the README: an array with views, a ragged batch, and a graph with its gradient.
#![expect(clippy::print_stdout, reason = "it shows what it made")]

use lodestride::graph::{self, compile};
use lodestride::prelude::*;

fn main() -> lodestride::Result<()> {
    let a = NdArray::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    a.row(0)?.addi(10)?; // a row is a view, so this changes `a`
    println!("{a}\n{}", a.sum(keep(1))?);
    let words = NdArray::linspace(1, 6, 6)?.reshape([6, 1])?;
    let batch = LodTensor::new(words, Lengths::from([[3, 1, 2]]))?; // three sentences, no padding
    println!("{batch}");
    let x = graph::lod("x", DType::F32, [1usize], 1);
    let cost = x.sequence_last_step()?.square()?.sum(..)?;
    let f = compile(&[&x], &[&cost, &grad(&cost, &[&x])?[0]])?;
    for value in f.call([&batch])? {
        println!("{value}");
    }
    Ok(())
}
