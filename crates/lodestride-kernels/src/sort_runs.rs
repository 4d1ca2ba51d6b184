//! Whether lines are sorted, and where runs of equal values begin in one that is.

use crate::isa::{Arch, Level, Task};
use crate::sort_key::{Coding, Key};

/// Writes whether each value is the first of those that equal it: -0.0 is 0.0, and all NaNs are one value.
pub(crate) fn mark_starts<K: Key>(coding: Coding, values: &[K], starts: &mut [u8]) {
    let level = Level::current();
    if coding.is_bool() {
        let differ = |a: K, b: K| (a == K::ZERO) != (b == K::ZERO);
        return level.run(Starts {
            values,
            starts,
            differ,
        });
    }
    let (sign, infinity) = coding.sign_and_infinity::<K>();
    let differ = move |a: K, b: K| {
        let magnitudes = (a & !sign, b & !sign);
        let is_zero = magnitudes.0 | magnitudes.1 == K::ZERO;
        let is_nan = (magnitudes.0 > infinity) & (magnitudes.1 > infinity);
        (a != b) & !is_zero & !is_nan
    };
    level.run(Starts {
        values,
        starts,
        differ,
    });
}

struct Starts<'a, K, F> {
    values: &'a [K],
    starts: &'a mut [u8],
    differ: F,
}

impl<K: Key, F: Fn(K, K) -> bool> Task for Starts<'_, K, F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Some((first, rest)) = self.starts.split_first_mut() else {
            return;
        };
        *first = 1;
        for (start, pair) in rest.iter_mut().zip(self.values.windows(2)) {
            *start = u8::from((self.differ)(pair[0], pair[1]));
        }
    }
}

/// Keys that are compared before it is asked whether they ascend.
const BLOCK: usize = 64;

/// Whether every line of `len` keys is sorted already. Of others it is known soon.
pub(crate) fn ascend<K: Key>(lines: &[K], len: usize) -> bool {
    Level::current()
        .run_tuned(Ascend { lines, len })
        .unwrap_or(false)
}

struct Ascend<'a, K> {
    lines: &'a [K],
    len: usize,
}

impl<K: Key> Task for Ascend<'_, K> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch>(self) -> bool {
        self.lines.chunks_exact(self.len).all(|line| {
            let next = line.get(1..).unwrap_or_default();
            let mut blocks = line.chunks(BLOCK).zip(next.chunks(BLOCK));
            blocks.all(|(keys, next)| {
                let pairs = keys.iter().zip(next);
                pairs.fold(true, |ascends, (key, next)| ascends & (key <= next))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::DType;

    #[test]
    fn lines_ascend_where_no_key_is_above_the_next() {
        if Level::current()
            .run_tuned(Ascend {
                lines: &[0_u8],
                len: 1,
            })
            .is_err()
        {
            return;
        }
        for len in [1, 2, 63, 64, 65, 66, 300] {
            let keys: Vec<u32> = (0..3 * len).map(|i| i % len / 2).collect();
            assert!(ascend(&keys, len as usize), "{len}");
            for at in 1..3 * len as usize {
                let mut keys = keys.clone();
                keys[at - 1] = 1000;
                let is_inner = !at.is_multiple_of(len as usize);
                assert_eq!(ascend(&keys, len as usize), !is_inner, "{len}, {at}");
            }
        }
    }

    #[test]
    fn runs_of_values_that_compare_equal_have_one_start() {
        let floats = [
            -1.0f32,
            -0.0,
            0.0,
            -0.0,
            1.0,
            1.0,
            f32::INFINITY,
            f32::NAN,
            -f32::NAN,
        ];
        let cases: [(DType, Vec<u32>, [u8; 9]); 2] = [
            (
                DType::F32,
                floats.map(f32::to_bits).into(),
                [1, 1, 0, 0, 1, 0, 1, 1, 0],
            ),
            (
                DType::I32,
                vec![
                    1 << 31,
                    1 << 31,
                    0,
                    0,
                    5,
                    5,
                    6,
                    u32::MAX >> 1,
                    u32::MAX >> 1,
                ],
                [1, 0, 1, 0, 1, 0, 1, 1, 0],
            ),
        ];
        for (dtype, values, expected) in cases {
            let mut starts = [7; 9];
            mark_starts(Coding::new(dtype, false), &values, &mut starts);
            assert_eq!(starts, expected, "{dtype}");
        }
        let mut starts = [7; 4];
        mark_starts(
            Coding::new(DType::Bool, false),
            &[0u8, 1, 2, 255],
            &mut starts,
        );
        assert_eq!(starts, [1, 1, 0, 0]);
    }
}
