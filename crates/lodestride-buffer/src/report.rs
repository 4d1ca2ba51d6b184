//! `memory::report`: what array memory the process has, as a table for people.
//! The figures are `memory.rs` and [`Workspace::stats`](crate::Workspace::stats).

use std::fmt::{self, Write};

use crate::memory::{self, MemoryStats};
use crate::registry::all_workspaces;
use crate::workspace::WorkspaceStats;

/// Bytes in the largest unit of which there is at least one.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB"];
        let text = match (1..=4).rev().find(|power| self.0 >> (10 * power) > 0) {
            None => format!("{} B", self.0),
            Some(power) => {
                let amount = self.0 as f64 / (1_u64 << (10 * power)) as f64;
                format!("{amount:.1} {}", units[power - 1])
            }
        };
        f.pad(&text)
    }
}

/// The process's array memory and every workspace, as text: see [`memory::report`].
pub(crate) fn report() -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _never = write(&mut text);
    text
}

fn write(text: &mut String) -> fmt::Result {
    let MemoryStats {
        heap_bytes_live,
        workspace_bytes,
        cache_bytes,
        ..
    } = memory::stats();
    let held = memory::held_bytes() as u64;
    writeln!(text, "array memory        {:>12}", Bytes(held))?;
    writeln!(text, "  arrays            {:>12}", Bytes(heap_bytes_live))?;
    writeln!(text, "  workspace blocks  {:>12}", Bytes(workspace_bytes))?;
    let limit = Bytes(memory::cache_limit() as u64);
    writeln!(
        text,
        "  cached            {:>12} of at most {limit}",
        Bytes(cache_bytes)
    )?;
    match memory::hard_limit() {
        Some(limit) => writeln!(text, "limit               {:>12}", Bytes(limit as u64))?,
        None => writeln!(text, "limit                       none")?,
    }
    let workspaces = all_workspaces();
    if workspaces.is_empty() {
        return writeln!(text, "no workspaces");
    }
    let names = workspaces.iter().map(|w| w.name().chars().count());
    let width = names.max().unwrap_or(0).max(9);
    writeln!(
        text,
        "{:width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} state",
        "workspace", "size", "used", "spilled", "pinned", "largest", "cycles"
    )?;
    for workspace in workspaces {
        let WorkspaceStats {
            size,
            offset,
            spilled,
            pinned,
            max_cycle,
            cycles,
            open,
            ..
        } = workspace.stats();
        write!(text, "{:width$}", workspace.name().as_str())?;
        for bytes in [size, offset, spilled, pinned, max_cycle] {
            write!(text, " {:>10}", Bytes(bytes as u64))?;
        }
        let state = if open { "open" } else { "closed" };
        writeln!(text, " {cycles:>8} {state}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_their_unit() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1 << 20, "1.0 MiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ];
        let failures: Vec<_> = cases
            .iter()
            .filter(|(bytes, text)| Bytes(*bytes).to_string() != **text)
            .collect();
        assert!(failures.is_empty(), "{failures:?}");
    }
}
