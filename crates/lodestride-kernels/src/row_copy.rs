//! Copying blocks between two arrays of one dtype: the inner step of take, concat, and the row operations of segments.
//!
//! Values are moved, never looked at, so one loop per element size serves every dtype. Operands of different dtypes are
//! converted by the caller first.

use crate::stream;
use lodestride_buffer::Element;
use smallvec::SmallVec;

/// One axis of a block: its size and the step in the source and in the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) size: usize,
    pub(crate) x: isize,
    pub(crate) out: isize,
}

/// Axes of a block, outermost first.
pub(crate) type Pairs = SmallVec<[Pair; 6]>;

/// The axes of two layouts of equal shape.
pub(crate) fn pairs(shape: &[usize], x: &[isize], out: &[isize]) -> Pairs {
    let strides = x.iter().zip(out);
    shape
        .iter()
        .zip(strides)
        .map(|(&size, (&x, &out))| Pair { size, x, out })
        .collect()
}

/// Joins axes that are one even step in both arrays; axes of size 1 vanish.
pub(crate) fn join(axes: impl IntoIterator<Item = Pair>) -> Pairs {
    let mut joined = Pairs::new();
    for axis in axes {
        if axis.size == 1 {
            continue;
        }
        let size = axis.size as isize;
        match joined.last_mut() {
            Some(last) if last.x == axis.x * size && last.out == axis.out * size => {
                *last = Pair {
                    size: last.size * axis.size,
                    ..axis
                };
            }
            _ => joined.push(axis),
        }
    }
    joined
}

/// Copies a block whose first elements are at `from` and `to`.
pub(crate) fn copy_block<U: Element>(
    x: &[U],
    from: isize,
    out: &mut [U],
    to: isize,
    axes: &[Pair],
) {
    match axes {
        [] => out[to as usize] = x[from as usize],
        [run] => copy_run(x, from, out, to, *run),
        [first, rest @ ..] => {
            for step in 0..first.size as isize {
                copy_block(x, from + step * first.x, out, to + step * first.out, rest);
            }
        }
    }
}

#[inline]
fn copy_run<U: Element>(x: &[U], from: isize, out: &mut [U], to: isize, run: Pair) {
    if run.size == 0 {
        return;
    }
    match (run.x, run.out) {
        (1, 1) => {
            let (from, to) = (from as usize, to as usize);
            let out = &mut out[to..to + run.size];
            stream::copy_elements(out, &x[from..from + run.size], false);
        }
        (0, 1) => {
            let to = to as usize;
            out[to..to + run.size].fill(x[from as usize]);
        }
        _ => {
            for step in 0..run.size as isize {
                out[(to + step * run.out) as usize] = x[(from + step * run.x) as usize];
            }
        }
    }
}

/// Runs `$body` with `$U` an unsigned integer as wide as an element of the dtype.
macro_rules! with_unit {
    ($dtype:expr, $U:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $U = u8;
                $body
            }
            2 => {
                type $U = u16;
                $body
            }
            4 => {
                type $U = u32;
                $body
            }
            _ => {
                type $U = u64;
                $body
            }
        }
    };
}
pub(crate) use with_unit;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_strides_are_copied() {
        let x: Vec<u32> = (0..60).collect();
        // Shape [3, 4]: transposed, reversed and broadcast sources.
        for (from, strides) in [(0, [1, 3]), (11, [-4, -1]), (5, [0, 1]), (5, [7, 0])] {
            let mut out = [u32::MAX; 12];
            copy_block(
                &x,
                from,
                &mut out,
                0,
                &join(pairs(&[3, 4], &strides, &[4, 1])),
            );
            for (position, &value) in out.iter().enumerate() {
                let (i, j) = ((position / 4) as isize, (position % 4) as isize);
                let expected = x[(from + i * strides[0] + j * strides[1]) as usize];
                assert_eq!(value, expected, "{strides:?} at {i}, {j}");
            }
        }
    }
}
