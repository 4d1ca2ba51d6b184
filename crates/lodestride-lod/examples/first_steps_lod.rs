//! The program of the README that depends on this crate alone.
#![expect(clippy::print_stdout, reason = "it shows what it made")]

use lodestride_lod::{LodTensor, NdArray, lengths, sequence, sequence::PoolKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two texts, of two sentences and of one; six words in all, each a row of two numbers.
    let words = NdArray::arange(0, 12, 1)?.reshape([6, 2])?;
    let texts = LodTensor::new(words, lengths![[2, 1], [2, 1, 3]])?;
    println!("{texts}");
    let sentences = sequence::pool(&texts, PoolKind::Average, -1, 0.0)?;
    println!("{sentences}");
    println!(
        "{}",
        sequence::pool(&sentences, PoolKind::Max, -1, 0.0)?.data()
    );
    Ok(())
}
