//! Products of one row with a matrix of a few columns, in the registers of AVX-512: as many rows as a register has lanes are as many
//! registers as there are columns, and the elements that they are multiplied by are spread to each of these by one permutation.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them, and load through raw pointers"
    )
)]

use crate::numeric::Compute;

/// Most columns.
pub(crate) const MOST: usize = 8;

/// For each of `columns`, 2 to [`MOST`], the sum of the products of a row's elements with the column of packed rows, as far as there
/// are whole groups of them; and how many elements of the row these were, none where this is no faster.
pub(crate) fn add_up<C: Compute>(row: &[C], x: &[C], columns: usize) -> ([C; MOST], usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(found) = registers::add_up(row, x, columns) {
        return found;
    }
    let _ = (row, x, columns);
    ([C::ZERO; MOST], 0)
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use super::MOST;
    use crate::across::Lines;
    use crate::isa::Isa;
    use crate::numeric::{Compute, ComputeKind};
    use std::arch::x86_64::*;

    /// Groups of rows whose products are added up before they are added to those of others, which keeps what rounding takes small.
    const GROUPS: usize = 64;
    /// Lanes of the widest element of those that are multiplied so.
    const LANES: usize = 16;

    /// As [`super::add_up`], none where this is no faster.
    pub(super) fn add_up<C: Compute>(
        row: &[C],
        x: &[C],
        columns: usize,
    ) -> Option<([C; MOST], usize)> {
        assert!((2..=MOST).contains(&columns) && row.len() * columns <= x.len());
        if Isa::detect() != Isa::Avx512 {
            return None;
        }
        let mut lanes = Lines([C::ZERO; LANES * MOST]);
        let (row_at, x_at, to) = (row.as_ptr(), x.as_ptr(), lanes.0.as_mut_ptr());
        let width = match C::KIND {
            ComputeKind::F32 => {
                let (from, groups) = ((row_at.cast(), x_at.cast()), row.len() / 16);
                // SAFETY: the processor has AVX-512, elements are `f32`, each group is whole, and there is room for all lanes.
                unsafe { single(columns, from, groups, to.cast()) };
                16
            }
            ComputeKind::F64 => {
                let (from, groups) = ((row_at.cast(), x_at.cast()), row.len() / 8);
                // SAFETY: as above, of `f64`.
                unsafe { double(columns, from, groups, to.cast()) };
                8
            }
            _ => return None,
        };
        let mut sums = [C::ZERO; MOST];
        for group in lanes.0[..width * columns].chunks_exact(columns) {
            for (sum, &lane) in sums.iter_mut().zip(group) {
                *sum = sum.add(lane);
            }
        }
        Some((sums, row.len() / width * width))
    }

    macro_rules! spread {
        ($name:ident $of:ident $t:ty, $index:ty, $lanes:literal, $zero:ident $load:ident $permute:ident $fma:ident $add:ident $store:ident) => {
            /// # Safety
            /// As the function for so many columns.
            #[target_feature(enable = "avx512f")]
            unsafe fn $name(
                columns: usize,
                from: (*const $t, *const $t),
                groups: usize,
                to: *mut $t,
            ) {
                match columns {
                    // SAFETY: the caller's contract.
                    2 => unsafe { $of::<2>(from, groups, to) },
                    // SAFETY: as above.
                    3 => unsafe { $of::<3>(from, groups, to) },
                    // SAFETY: as above.
                    4 => unsafe { $of::<4>(from, groups, to) },
                    // SAFETY: as above.
                    5 => unsafe { $of::<5>(from, groups, to) },
                    // SAFETY: as above.
                    6 => unsafe { $of::<6>(from, groups, to) },
                    // SAFETY: as above.
                    7 => unsafe { $of::<7>(from, groups, to) },
                    // SAFETY: as above.
                    _ => unsafe { $of::<8>(from, groups, to) },
                }
            }

            /// Writes the sums of each lane of the registers of a group.
            ///
            /// # Safety
            /// So many groups of a row's elements, and of rows of `N` columns, can be read, and a group of these be written.
            #[target_feature(enable = "avx512f")]
            unsafe fn $of<const N: usize>(
                (mut row, mut x): (*const $t, *const $t),
                groups: usize,
                to: *mut $t,
            ) {
                // Which element of the row belongs to each lane.
                let mut places = [[0 as $index; $lanes]; N];
                for (at, place) in places.as_flattened_mut().iter_mut().enumerate() {
                    *place = (at / N) as $index;
                }
                let places = places.map(|places| {
                    // SAFETY: as long as a register.
                    unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }
                });
                let mut totals = [$zero(); N];
                let mut left = groups;
                while left > 0 {
                    let some = left.min(GROUPS);
                    left -= some;
                    let mut sums = [$zero(); N];
                    for _ in 0..some {
                        // SAFETY: a group of the row.
                        let elements = unsafe { $load(row) };
                        for part in 0..N {
                            // SAFETY: a register of a group of rows.
                            let values = unsafe { $load(x.wrapping_add(part * $lanes)) };
                            sums[part] = $fma(values, $permute(places[part], elements), sums[part]);
                        }
                        (row, x) = (row.wrapping_add($lanes), x.wrapping_add(N * $lanes));
                    }
                    for part in 0..N {
                        totals[part] = $add(totals[part], sums[part]);
                    }
                }
                for part in 0..N {
                    // SAFETY: a register of the group to write.
                    unsafe { $store(to.wrapping_add(part * $lanes), totals[part]) };
                }
            }
        };
    }
    spread!(single single_of f32, i32, 16, _mm512_setzero_ps _mm512_loadu_ps _mm512_permutexvar_ps _mm512_fmadd_ps _mm512_add_ps _mm512_storeu_ps);
    spread!(double double_of f64, i64, 8, _mm512_setzero_pd _mm512_loadu_pd _mm512_permutexvar_pd _mm512_fmadd_pd _mm512_add_pd _mm512_storeu_pd);
}
