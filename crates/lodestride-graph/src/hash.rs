//! A short hash for the maps of the compiler, whose keys are small numbers and ops, never input from outside.

use std::hash::{BuildHasherDefault, Hasher};

/// Multiplies and rotates one word at a time. Not for keys that an attacker chooses.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShortHasher(u64);

/// A map with the short hash.
pub(crate) type ShortMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<ShortHasher>>;

/// Odd, with bits spread evenly: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl ShortHasher {
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(SPREAD);
    }
}

impl Hasher for ShortHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
        let mut last = [0; 8];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.word(u64::from_le_bytes(last) ^ bytes.len() as u64);
    }

    fn write_u8(&mut self, n: u8) {
        self.word(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.word(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.word(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }

    fn write_isize(&mut self, n: isize) {
        self.word(n as u64);
    }

    // The maps take the top bits for their tags and the low ones for the place: both must depend on everything.
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbours_spread() {
        let low = |n: u64| {
            let mut hasher = ShortHasher::default();
            hasher.write_u64(n);
            hasher.finish() & 0xFFF
        };
        let places: HashSet<u64> = (0..4096).map(low).collect();
        assert!(places.len() > 2000, "{} of 4096 places", places.len());
    }
}
