//! How a LoD reads: its lengths on one line, or drawn as a tree. Data is printed by `tensor.rs`.

use std::fmt;

use crate::lod::Lod;

/// Sequences drawn before a tree is cut short.
const TREE_LINES: usize = 200;

impl fmt::Display for Lod {
    /// The length form: `[[3, 1, 2], [3, 2, 4, 1, 2, 3]]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lengths().fmt(f)
    }
}

impl Lod {
    /// The nesting as a tree, one line a sequence, with the rows of each sequence of the last level.
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let lod = Lod::from_lengths(lengths![[2, 1], [3, 0, 1]])?;
    /// assert_eq!(lod.tree().to_string(), "\
    /// 2 sequences
    /// ├─ 0: 2 sequences
    /// │  ├─ 0: rows 0..3
    /// │  └─ 1: empty
    /// └─ 1: 1 sequence
    ///    └─ 2: row 3");
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    pub fn tree(&self) -> impl fmt::Display + '_ {
        Tree { lod: self }
    }
}

struct Tree<'a> {
    lod: &'a Lod,
}

/// A sequence still to be drawn: its level, its index there, and what stands left of it.
struct Pending {
    level: usize,
    index: usize,
    last: bool,
    indent: String,
}

impl fmt::Display for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(top) = self.lod.levels().first() else {
            return f.write_str("no levels");
        };
        write_count(f, top.count(), "sequence")?;
        // An explicit stack: a hostile LoD may have any number of levels.
        let mut stack = Vec::new();
        push_children(&mut stack, 0, 0..top.count(), "");
        for _ in 0..TREE_LINES {
            let Some(item) = stack.pop() else {
                return Ok(());
            };
            let (branch, below) = if item.last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            write!(f, "\n{}{branch}{}: ", item.indent, item.index)?;
            let children = self.lod.levels()[item.level].children(item.index);
            if item.level + 1 < self.lod.depth() {
                write_count(f, children.len(), "sequence")?;
                push_children(
                    &mut stack,
                    item.level + 1,
                    children,
                    &format!("{}{below}", item.indent),
                );
            } else {
                match children.len() {
                    0 => f.write_str("empty")?,
                    1 => write!(f, "row {}", children.start)?,
                    _ => write!(f, "rows {}..{}", children.start, children.end)?,
                }
            }
        }
        match stack.len() {
            0 => Ok(()),
            _ => f.write_str("\n…"),
        }
    }
}

/// Only as many children as can still be drawn are kept.
fn push_children(
    stack: &mut Vec<Pending>,
    level: usize,
    range: std::ops::Range<usize>,
    indent: &str,
) {
    let end = range.end;
    let drawn = range.start..end.min(range.start.saturating_add(TREE_LINES + 1));
    stack.extend(drawn.rev().map(|index| Pending {
        level,
        index,
        last: index + 1 == end,
        indent: indent.to_owned(),
    }));
}

fn write_count(f: &mut fmt::Formatter<'_>, count: usize, noun: &str) -> fmt::Result {
    write!(f, "{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use crate::{Lod, lengths};

    #[test]
    fn long_and_deep_trees_stay_short() {
        let wide = Lod::uniform(1_000_000, 1).unwrap().tree().to_string();
        assert_eq!(wide.lines().count(), 202);
        assert!(wide.ends_with("\n…"));
        let deep = Lod::from_lengths(vec![vec![1]; 5_000])
            .unwrap()
            .tree()
            .to_string();
        assert_eq!(deep.lines().count(), 202);
        assert_eq!(Lod::none().tree().to_string(), "no levels");
        assert_eq!(
            Lod::from_lengths(lengths![[]]).unwrap().tree().to_string(),
            "0 sequences"
        );
        assert_eq!(
            Lod::from_lengths(lengths![[1, 3]]).unwrap().to_string(),
            "[[1, 3]]"
        );
    }
}
