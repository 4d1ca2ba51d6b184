//! Where runs of equal values begin in a sorted line.

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

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::DType;

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
