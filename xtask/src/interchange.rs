//! `cargo xtask interchange`: lends arrays to NumPy and PyTorch and takes theirs, by DLPack, under the Python interpreter that
//! LODESTRIDE_PEERS_PYTHON names. What is checked is in xtask/interchange.py.

use crate::command::{Call, Outcome, cargo, root};

const INTERPRETER: &str = "LODESTRIDE_PEERS_PYTHON";

pub(crate) fn run() -> Outcome {
    let Some(python) = std::env::var_os(INTERPRETER) else {
        return Err(
            format!("set {INTERPRETER} to a Python interpreter with NumPy and PyTorch").into(),
        );
    };
    cargo(&[
        "build",
        "--package",
        "lodestride-array",
        "--features",
        "peers",
        "--example",
        "dlpack_peer",
    ])
    .run()?;
    let (before, after) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
    let library = target
        .join("debug/examples")
        .join(format!("{before}dlpack_peer{after}"));
    Call::new(python, &["xtask/interchange.py"])
        .args([library])
        .run()
}
