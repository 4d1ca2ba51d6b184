//! What a processor's own prefetching is like, by its model, and what loops over long streams ask for beside it; two other facts
//! that go with the model.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::stream::{LINE, PAGE, SECOND_LEVEL, prefetch, prefetch_far};

/// How far ahead [`wake`] asks for a line of a page.
const AHEAD: usize = 4 * PAGE;

/// How far ahead it asks for every line.
const NEAR: usize = PAGE / 2;

/// What loops over long streams should ask ahead for on this processor: 0 before the first look, else one of these.
static ASKS: AtomicU8 = AtomicU8::new(0);

/// The bit of those that ask for something.
const WOKEN: u8 = 8;
/// Nothing: its own prefetching goes on by itself.
const NOTHING: u8 = 1;
/// A line of a page to come, now and then.
const PAGES: u8 = WOKEN | 2;
/// Every line of this page.
const LINES: u8 = WOKEN | 3;
/// Nothing, not even where several streams share a page.
const NOTHING_FOR_SEVERAL: u8 = 4;
/// As [`PAGES`], in several streams rather than one.
const SEVERAL: u8 = WOKEN | 5;
/// Nothing, and one stream rather than several.
const NOTHING_FOR_ONE: u8 = 6;

/// The signature, without its stepping, of the Xeons on which several streams are read faster than one: family 6 model 106.
#[cfg(target_arch = "x86_64")]
const ICE_LAKE: u32 = 0x606A0;

/// The signature, without its stepping, of the first Xeons for which every line pays: family 6 model 207.
#[cfg(target_arch = "x86_64")]
const EMERALD_RAPIDS: u32 = 0xC06F0;

/// The family beyond 15 in a signature, and that of the first processors for which several streams of a page are one stream each.
#[cfg(target_arch = "x86_64")]
const FAMILY: u32 = 0xFF << 20;
#[cfg(target_arch = "x86_64")]
const ZEN_5: u32 = (26 - 15) << 20;

/// Whether this processor's own prefetching needs [`wake`]. Intel's stops at the end of every page and hesitates on the
/// next: sums of 64 MiB took 6.1 ms on a Xeon of 2023 (model 143), and 4.4 ms with lines of pages to come, on which asking for
/// every line improves little. On later ones it is the other way round. On model 167 sums of 128 MiB from memory took 7.6 ms,
/// 7.4 ms with lines of pages to come and 5.9 ms with every line asked for 2 KiB ahead, to the second level as well as to the
/// first; where pages are of 4 KiB the second level is better, 6.5 and 7.0 ms. On model 207 (Emerald Rapids) sums gain by neither,
/// additions of 1e7 `f64` take 13.2 ms without, 12.9 ms by pages and 11.7 ms by lines, selections 10.4, 10.6 and 9.5 ms.
/// AMD's goes on by itself, and what it is asked for beside that is in its way: on an EPYC of family 25, maxima of 40 MB took
/// 1.1 ms, and 1.8 ms with it; three operations on arrays of 40 MB in one pass 4.7 and 7.6 ms; on one of family 26 sums of
/// 64 MiB 3.2 ms, and 3.4 to 3.6 with it, those operations 6.5 and 7.7 ms.
#[inline]
pub(crate) fn wakes() -> bool {
    // The first look comes before the first kernel, and loops that ask are compiled hundreds of times.
    ASKS.load(Ordering::Relaxed) & WOKEN != 0
}

/// Whether the processor fetches ahead what four neighbouring rows within a page are read for, a line of each in turn. Zen 5
/// does, which is AMD's family 26: sums along the middle axis of 64x512x256 `f32` took 0.88 ms by fours and 1.49 ms row by
/// row, along the first axis of 4096x4096 1.4 and 2.0 ms.
#[inline]
pub(crate) fn follows_several() -> bool {
    asks() == NOTHING_FOR_SEVERAL
}

/// Whether several streams in turns, a few lines of each, are read faster from memory than one: on AMD's processors before Zen 4,
/// and on Intel's model 106 where they are [woken](wake).
/// An EPYC of family 25 (model 1) read 64 MB in one stream in 3.7 ms, in four of 512 bytes each in 2.3 ms; from its last cache it
/// makes no difference that would pay for keeping the lanes of four. One of its successor (model 17) read 128 MiB in one stream in
/// 4.1 ms, in four in 4.9 ms.
#[inline]
pub(crate) fn are_best() -> bool {
    matches!(asks(), NOTHING | SEVERAL)
}

/// Whether rows of a matrix are best read as eight streams, of which every line is [asked for](prefetch_several): those of so many
/// bytes that come from beyond the second-level cache of a Xeon of family 6 model 106. It read 128 MiB in one stream in 12.2 ms,
/// with pages asked for in 10.4, in four streams in 10.2 and in 9.1 with pages, in eight in 9.4 and in 8.7 with lines.
#[inline]
pub(crate) fn are_eight(bytes: usize) -> bool {
    is_far(bytes) && asks() == SEVERAL
}

/// Asks for the line of one of eight streams that will be read a little later.
#[inline(always)]
pub(crate) fn prefetch_several(address: *const u8) {
    prefetch(address.wrapping_add(NEAR));
}

/// Whether the processor orders integers as fast as floats or faster. Zen 5 takes twice as many minima of 32-bit integers:
/// sorting 1000 rows of 1000 took 1.15 ms by integer keys and 1.33 ms as `f32`, 2.17 and 2.33 ms as `f64`.
#[inline]
pub(crate) fn takes_integers_fast() -> bool {
    asks() == NOTHING_FOR_SEVERAL
}

/// Whether the processor's instruction for copies is slower within the first cache level than a loop of vectors: on AMD's before Zen 5,
/// see `cached.rs`.
#[inline]
pub(crate) fn copies_slowly() -> bool {
    matches!(asks(), NOTHING | NOTHING_FOR_ONE)
}

/// Whether the last-level cache writes back slowly what it gives up, so that less is left in it by results: on Zen 4, see
/// `stream.rs`.
#[inline]
pub(crate) fn keeps_little() -> bool {
    asks() == NOTHING_FOR_ONE
}

/// Whether a stream of so many bytes comes from beyond the second-level cache, on a processor that wants to be woken for it.
#[inline(always)]
pub(crate) fn is_far(bytes: usize) -> bool {
    bytes > SECOND_LEVEL && wakes()
}

#[inline]
fn asks() -> u8 {
    match ASKS.load(Ordering::Relaxed) {
        0 => look_at_processor(),
        known => known,
    }
}

/// Sees what processor this is.
#[cold]
pub(crate) fn look_at_processor() -> u8 {
    #[cfg(target_arch = "x86_64")]
    let asks = {
        use std::arch::x86_64::{__cpuid, __cpuid_count};

        let vendor = __cpuid(0);
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let is_intel = name == [*b"Genu", *b"ineI", *b"ntel"];
        let is_amd = name == [*b"Auth", *b"enti", *b"cAMD"];
        let signature = __cpuid(1).eax;
        // Of the generation after Emerald Rapids on there are prefetches of code (PREFETCHI) too.
        let prefetches_code = vendor.eax >= 7
            && __cpuid_count(7, 0).eax >= 1
            && __cpuid_count(7, 1).edx & (1 << 14) != 0;
        let is_later = prefetches_code || signature & !0xF == EMERALD_RAPIDS;
        if is_intel {
            match signature & !0xF {
                ICE_LAKE => SEVERAL,
                _ if is_later => LINES,
                _ => PAGES,
            }
        } else if is_amd && signature & FAMILY >= ZEN_5 {
            NOTHING_FOR_SEVERAL
        } else if is_amd && is_x86_feature_detected!("avx512f") {
            // Zen 4 shares its family with Zen 3.
            NOTHING_FOR_ONE
        } else {
            NOTHING
        }
    };
    #[cfg(not(target_arch = "x86_64"))]
    let asks = NOTHING;
    ASKS.store(asks, Ordering::Relaxed);
    asks
}

/// Asks for what follows, for a loop that reads one long stream and calls this every `step` bytes, where the processor
/// [`wakes`]. Either for the lines a little further on, or for a line of a page to come: the lines of that page are asked for in
/// turn, so that the processor's own prefetching is under way on it before the loop arrives.
#[inline(always)]
pub(crate) fn wake(address: *const u8, step: usize) {
    if ASKS.load(Ordering::Relaxed) == LINES {
        let from = address.wrapping_add(NEAR);
        return (0..step)
            .step_by(LINE)
            .for_each(|at| prefetch_far(from.wrapping_add(at)));
    }
    let at = address.addr() % PAGE;
    prefetch(
        address
            .wrapping_sub(at)
            .wrapping_add(AHEAD + at / step * LINE),
    );
}
