//! The command line: every command and flag with the line or two of help that `--help` prints.
use std::ffi::OsString;
use std::path::PathBuf;

xflags::xflags! {
    /// lodestride's tasks. Each one prints the cargo calls it makes.
    cmd xtask {
        /// All tests of the workspace: unit, integration and doc tests (cargo-nextest when it is installed, else cargo test).
        /// Rival libraries of the benchmarks are never built.
        cmd test {
            /// Unit and integration tests only, no doc tests.
            optional --quick
        }

        /// The main job: speaker recognition on real recordings, ragged batches and a compiled graph inside a workspace.
        /// Prints its figures and the path of an HTML report. Arguments after `--` go to the program.
        cmd demo {
            /// Passed on to the program.
            repeated args: OsString
        }

        /// Our kernels beside rival libraries in one run: a table with ratios, a JSON and an HTML file. Everything after `bench` goes
        /// to the program in benches/; `--help` after a `--` lists what it understands.
        cmd bench {
            /// Fewer repetitions and smaller sizes, a few minutes.
            optional --quick
            /// Only the workloads whose name contains this text.
            optional --filter filter: String
            /// `1`, `all`, `both` or a number.
            optional --threads threads: String
            /// `python` adds NumPy, PyTorch, JAX and numexpr.
            optional --peers peers: String
            /// Fail when a ratio misses its bar: in the file of this processor in benches/bars, or else the loosest of all files.
            optional --check
            /// Write the measured ratios into the file of this processor in benches/bars.
            optional --bars
            /// Write the table into docs/performance.md.
            optional --docs
            /// Cost against size for each family, drawn into docs/scaling.
            optional --scaling
            /// Passed on to the program.
            repeated args: OsString
        }

        /// Compiles lodestride-kernels from scratch and compares compile time and code size with xtask/size.csv and the budget.
        cmd size {
            /// Record what was measured.
            optional --record
        }

        /// Looks into the compiled kernels: every loop over floats must use vectors on AVX2 and AVX-512, or be listed with the reason in
        /// xtask/asm-exceptions.csv.
        cmd asm {}

        /// Machine instructions of the small-array paths, counted by valgrind, against xtask/instructions.csv; fails where one
        /// grew by more than 3 %.
        cmd instructions {
            /// Record the counts as the new ceilings.
            optional --record
        }

        /// What CI runs: format, clippy, tests, docs, tidy, every crate alone, feature sets, loom, demo; one summary table.
        cmd ci {
            /// Only the steps whose name contains this text.
            optional --only only: String
        }

        /// The rules of docs/architecture.md that no compiler checks: crate arrows, file heads and sizes, where unsafe code may
        /// live, names, error payloads, the tests that docs/parity.csv names.
        cmd tidy {}

        /// What this machine offers and what the library chose: CPU features, kernels, threads and thresholds, BLAS, page size.
        cmd doctor {
            /// Build the report with these features of the `lodestride` crate, for example `openblas`.
            optional --features features: String
        }

        /// Buffer, kernel and array tests under the address and thread sanitizers, the buffer's under Miri; needs a nightly toolchain
        /// and says so without one.
        cmd sanitize {
            /// Only this one: `address`, `thread` or `miri`.
            optional --only only: String
        }

        /// Arrays to and from NumPy and PyTorch by DLPack, under the interpreter that LODESTRIDE_PEERS_PYTHON names.
        cmd interchange {}

        /// Model-checks the lock-free parts of lodestride-buffer: every interleaving of its atomics, with loom.
        cmd loom {}

        /// Converts the Japanese Vowels text files of a folder into data/japanese_vowels.npz.
        cmd data {
            /// Folder that holds the `.ts` files.
            required from: PathBuf
        }
    }
}
