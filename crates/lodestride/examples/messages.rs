//! The second program of the README: what mistakes look like.
#![expect(clippy::print_stdout, reason = "it shows the messages")]

use lodestride::prelude::*;

fn main() -> lodestride::Result<()> {
    let (a, b) = (NdArray::ones([3, 4])?, NdArray::ones([3, 5])?);
    if let Err(error) = a.add(&b) {
        println!("{error}\n");
    }
    let step = Workspace::new("LOOP_EXTERNAL");
    let lost = step.scope(|_| NdArray::ones([3, 4]))??;
    if let Err(error) = a.add(&lost) {
        println!("{error}");
    }
    Ok(())
}
