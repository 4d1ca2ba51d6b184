//! Whether two arrays are equal, as `==` asks it: block by block until one differs, without a mask.

use lodestride_buffer::{Element, with_dtype};
use lodestride_shape::LoopNest;

use crate::NdArray;
use crate::error::{InOp, Result};

/// Elements compared before the answer is looked at: enough for a vectorised loop, few enough to stop early.
const BLOCK: usize = 512;

impl NdArray {
    /// Same shape, dtype and elements; NaN equals nothing.
    #[track_caller]
    pub(crate) fn equal_elements(&self, other: &NdArray) -> Result<bool> {
        if self.dtype() != other.dtype() || self.shape() != other.shape() {
            return Ok(false);
        }
        let (a, b) = (
            self.buffer().read().in_op("==", self)?,
            other.buffer().read().in_op("==", other)?,
        );
        let layouts = [self.layout(), other.layout()];
        let nest = LoopNest::for_layouts(&layouts).in_op("==", self)?;
        let offsets = layouts.map(|layout| layout.offset() as isize);
        Ok(with_dtype!(self.dtype(), T => {
            equal_runs(&nest, a.slice::<T>(), b.slice::<T>(), offsets)
        }))
    }
}

fn equal_runs<T: Element>(nest: &LoopNest, a: &[T], b: &[T], offsets: [isize; 2]) -> bool {
    let (mut runs, strides) = (nest.runs(0..nest.elements()), nest.inner_strides());
    while let Some(run) = runs.next_run() {
        let starts = [0, 1].map(|i| (offsets[i] + run.offsets[i]) as usize);
        let equal = match *strides {
            [1, 1] => equal_slices(&a[starts[0]..][..run.len], &b[starts[1]..][..run.len]),
            _ => (0..run.len as isize).all(|i| {
                let [x, y] = [0, 1].map(|k| (starts[k] as isize + i * strides[k]) as usize);
                a[x] == b[y]
            }),
        };
        if !equal {
            return false;
        }
    }
    true
}

/// Without a way out inside a block, which would keep the loop from being vectorised.
fn equal_slices<T: Element>(a: &[T], b: &[T]) -> bool {
    let mut pairs = a.chunks(BLOCK).zip(b.chunks(BLOCK));
    pairs.all(|(a, b)| a.iter().zip(b).fold(true, |equal, (x, y)| equal & (x == y)))
}
