//! The permanent workloads: few, chosen over all families, so that one figure can be followed from release to release
//! however many rows are added.

use crate::record::Key;

const PERMANENT: &[&str] = &[
    "ew.add.out 1e7 f32",
    "ew.add.ws 1e7 f32",
    "ew.add.alloc 1e7 f32",
    "ew.add.alloc 1e3 f32",
    "ew.chain3 1e5 f32",
    "ew.chain3 1e7 f32",
    "ew.chain10 1e5 f32",
    "ew.chain10 1e7 f32",
    "tr.exp 1e6 f32",
    "tr.log 1e6 f32",
    "tr.tanh 1e6 f32",
    "tr.gelu 1e6 f32",
    "tr.exp 1e6 f64",
    "red.sum.all 4096x4096 f32",
    "red.sum.ax0 4096x4096 f32",
    "red.argmax.ax0 4096x4096 f32",
    "red.var.ax1 4096x4096 f32",
    "red.sum.ax1 1e3x32 f32",
    "bc.col 4096x1024 f32",
    "lo.transpose 4096x4096 f32",
    "lo.permute0231 32x64x56x56 f32",
    "ly.gather 1e5 of 50000x128 f32",
    "ly.mask 1e7 f32",
    "ly.sort 1e6 f32",
    "ly.argsort 1e6 f32",
    "mm.nn 16 f32",
    "mm.nn 64 f32",
    "mm.nn 256 f32",
    "mm.nn 1024 f32",
    "mm.nn 16 f64",
    "mm.nn 64 f64",
    "mm.nn 256 f64",
    "mm.nn 1024 f64",
    "mm.mlp 128x784x256 f32",
    "mm.ata 2048x512 f32",
    "sm.softmax 4096x1024 f32",
    "sm.softmax 1e5x10 f32",
    "sm.layernorm 4096x1024 f32",
    "so.loop1000.ws 4x4 f32",
    "so.add3x3 3x3 f32",
    "rg.pool_max 4096x128 f32",
    "rg.softmax 4096x128 f32",
    "rg.expand 4096x128 f32",
    "rg.reverse 4096x128 f32",
    "rg.pad 4096x128 f32",
    "rg.unpad 4096x128 f32",
    "io.npy.read 1e7 f32",
];

/// Whether a workload is one of the permanent ones.
pub(crate) fn is_permanent(key: &Key) -> bool {
    PERMANENT.contains(&key.to_string().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_workloads_have() {
        let bars = include_str!("../bars/amd-25-17.csv");
        let measured: Vec<String> = bars
            .lines()
            .skip(1)
            .filter_map(|line| {
                let fields: Vec<&str> = line.split(',').take(3).collect();
                Some(format!(
                    "{} {} {}",
                    fields.first()?,
                    fields.get(1)?,
                    fields.get(2)?
                ))
            })
            .collect();
        for name in PERMANENT {
            assert!(measured.iter().any(|other| other == name), "{name}");
        }
    }
}
