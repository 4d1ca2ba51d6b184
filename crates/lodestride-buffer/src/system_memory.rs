//! How much memory the machine has for this process, and which part of it freed blocks may keep.

use std::fs;

/// The part of the memory that freed blocks may keep is one in this many.
const PARTS: usize = 8;
/// What freed blocks may keep where the system does not tell how much memory there is.
const ASSUMED: usize = 512 << 20;

/// An eighth of what the process may use: of the machine's memory, or of its control group's where that is less.
pub(crate) fn share() -> usize {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| in_machine(&text));
    let group = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let groups = group
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    // A group without a limit says `max`, or a number larger than any machine's.
    let limits = groups.filter_map(|text| text.trim().parse::<usize>().ok());
    (limits.chain(machine).min()).map_or(ASSUMED, |bytes| bytes / PARTS)
}

/// The bytes that the line `MemTotal:  24000000 kB` tells of.
fn in_machine(text: &str) -> Option<usize> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes = line
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<usize>()
        .ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_machine_is_found() {
        let text = "MemFree: 1 kB\nMemTotal:       24567890 kB\nSwapTotal: 0 kB\n";
        assert_eq!(in_machine(text), Some(24_567_890 * 1024));
        assert_eq!(in_machine("MemTotal: much\n"), None);
        assert_eq!(in_machine(""), None);
    }

    #[test]
    fn a_share_is_smaller_than_any_memory_and_not_nothing() {
        assert!((1 << 20..1 << 46).contains(&share()));
    }
}
