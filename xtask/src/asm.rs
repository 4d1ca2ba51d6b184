//! `cargo xtask asm`: whether the compiler made vector code of the loops over floats. The table's kernels and the reductions are
//! found by their symbols, one for each operation, element type and instruction set; one without a packed instruction is a
//! finding, unless xtask/asm-exceptions.csv says why. So is an intrinsic that became a function: it is called from code that was compiled
//! without its instruction set, such as a closure that was not inlined.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use crate::command::{Call, Outcome, root};
use crate::measure;

/// `part of the symbol,reason` under a heading.
const EXCEPTIONS: &str = "xtask/asm-exceptions.csv";

/// What the functions compiled for an instruction set are called.
const SETS: [(&str, &str); 2] = [("_avx2::<", "avx2"), ("_avx512::<", "avx512")];

/// Element types whose loops must be vectors.
const FLOATS: [&str; 2] = ["f32", "f64"];

#[derive(Debug)]
enum AsmError {
    /// Loops without vectors and without a reason, and intrinsics that are called.
    Found { scalar: usize, called: usize },
    /// The library holds no kernel: the symbols changed their form.
    Nothing,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { scalar, called } => {
                write!(
                    f,
                    "{scalar} loop(s) have no vector code ({EXCEPTIONS} lists those that need none), {called} intrinsic(s) are called"
                )
            }
            Self::Nothing => f.write_str("no kernel was found in the library's symbols"),
        }
    }
}

impl std::error::Error for AsmError {}

/// What one function is made of.
#[derive(Debug, Default)]
struct Body {
    packed: usize,
    scalar: usize,
}

pub(crate) fn run() -> Outcome {
    let library = match measure::library() {
        Ok(library) => library,
        Err(_) => measure::build()?.library,
    };
    let path = library.to_string_lossy().into_owned();
    let listing = Call::new("objdump", &["-d", "-C", "--no-show-raw-insn", &path]).read()?;
    let bodies = bodies(&listing);
    if bodies.is_empty() {
        return Err(Box::new(AsmError::Nothing));
    }
    let text = fs::read_to_string(root().join(EXCEPTIONS))?;
    let exceptions: Vec<_> = text
        .lines()
        .skip(1)
        .filter_map(|l| l.split_once(','))
        .collect();
    let mut count = 0;
    let mut excused = 0;
    for (name, body) in bodies.iter().filter(|(_, body)| body.packed == 0) {
        if exceptions.iter().any(|(part, _)| name.contains(part)) {
            excused += 1;
        } else {
            println!("no vectors: {name} ({} scalar)", body.scalar);
            count += 1;
        }
    }
    println!(
        "{} loops over floats looked at: {} with vectors, {excused} listed with a reason, {count} without",
        bodies.len(),
        bodies.len() - excused - count
    );
    let called = intrinsics(&listing);
    for intrinsic in &called {
        println!("called, not inlined: {intrinsic}");
    }
    if count == 0 && called.is_empty() {
        return Ok(());
    }
    let (scalar, called) = (count, called.len());
    Err(Box::new(AsmError::Found { scalar, called }))
}

/// The intrinsics that are functions of a disassembly.
fn intrinsics(listing: &str) -> BTreeSet<&str> {
    let symbols = listing.lines().filter_map(|line| line.strip_suffix(">:"));
    let functions = symbols.filter_map(|line| Some(line.split_once("::core_arch::")?.1));
    functions.collect()
}

/// The functions of interest in a disassembly, by set and the names of what they were made from.
fn bodies(listing: &str) -> BTreeMap<String, Body> {
    let mut bodies: BTreeMap<String, Body> = BTreeMap::new();
    let mut current = None;
    for line in listing.lines() {
        if let Some(symbol) = line.strip_suffix(">:") {
            current = symbol.split_once('<').and_then(|(_, symbol)| name(symbol));
        } else if let Some(name) = &current {
            let words = line.split_once(":\t").map_or("", |(_, words)| words);
            let body = bodies.entry(name.clone()).or_default();
            match instruction(words) {
                Some(true) => body.packed += 1,
                Some(false) => body.scalar += 1,
                None => {}
            }
        }
    }
    // Functions without arithmetic on floats, such as copies and comparisons of whole numbers, prove nothing.
    bodies.retain(|_, body| body.packed + body.scalar > 0);
    bodies
}

/// A short name for a kernel over floats, `None` for every other function.
fn name(symbol: &str) -> Option<String> {
    let (set, rest) = SETS.iter().find_map(|(mark, set)| {
        let (_, rest) = symbol.split_once(mark)?;
        Some((set, rest))
    })?;
    let words = rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let words: Vec<_> = words
        .filter_map(|word| word.rsplit("::").next())
        .filter(|word| !word.is_empty())
        .collect();
    let over_floats = words.iter().any(|word| FLOATS.contains(word));
    over_floats.then(|| format!("{set} {}", words.join(" ")))
}

/// Whether an instruction computes with floats, and if so whether on a vector.
fn instruction(words: &str) -> Option<bool> {
    let mnemonic = words.split_whitespace().next()?;
    let stem = mnemonic.strip_prefix('v')?;
    let arithmetic = [
        "add", "sub", "mul", "div", "fmadd", "fmsub", "fnmadd", "fnmsub", "min", "max", "sqrt",
        "rndscale", "round", "scalef", "cmp", "and", "or", "xor", "andn", "cvt", "blendv", "range",
        "getexp", "getmant", "rcp", "rsqrt", "fixupimm",
    ];
    if !arithmetic.iter().any(|start| stem.starts_with(start)) {
        return None;
    }
    // Conversions between vectors of different widths end with the width of their source.
    let stem = stem.trim_end_matches(['x', 'y']);
    if stem.ends_with("ss") || stem.ends_with("sd") {
        return Some(false);
    }
    // Scalar code uses packed logic on half registers too, to clear a sign or a register.
    let bits = ["and", "or", "xor", "andn", "blendv"];
    let logic = bits.iter().any(|start| stem.starts_with(start));
    let wide = words.contains("%ymm") || words.contains("%zmm") || mnemonic.ends_with('y');
    let half = !logic && (stem.ends_with("ps") || stem.ends_with("pd"));
    (wide || half).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::{bodies, instruction, intrinsics, name};

    #[test]
    fn instructions_are_told_apart() {
        let cases = [
            ("vaddps %zmm0,%zmm1,%zmm2", Some(true)),
            ("vfmadd213pd (%rdi),%ymm1,%ymm2", Some(true)),
            ("vaddss %xmm0,%xmm1,%xmm2", Some(false)),
            ("vmulps %xmm0,%xmm1,%xmm2", Some(true)),
            ("vcvtpd2psy (%rdx,%rcx,8),%xmm0", Some(true)),
            ("vmovups %zmm0,(%rdi)", None),
            ("vxorps %xmm0,%xmm0,%xmm0", None),
            ("ret", None),
        ];
        for (words, kind) in cases {
            assert_eq!(instruction(words), kind, "{words}");
        }
    }

    #[test]
    fn kernels_are_found_by_their_symbols() {
        let symbol = "lodestride_kernels::isa::kernel_avx2::<lodestride_kernels::table::Map<lodestride_kernels::op::Exp, f32>>";
        assert_eq!(name(symbol).as_deref(), Some("avx2 Map Exp f32"));
        assert_eq!(
            name("lodestride_kernels::isa::kernel_avx2::<lodestride_kernels::table::Map<Not, u8>>"),
            None
        );
        let listing = format!("0000 <{symbol}>:\n   0:\tvaddps %ymm0,%ymm1,%ymm2\n   4:\tret\n");
        assert_eq!(bodies(&listing)["avx2 Map Exp f32"].packed, 1);
    }

    #[test]
    fn intrinsics_that_are_functions_are_found() {
        let listing = "0000 <lodestride_kernels::gemm_walk::f64_avx512>:\n   0:\tret\n\
                       0010 <core[c1f1]::core_arch::x86::avx512f::_mm512_set1_pd>:\n   0:\tret\n";
        let found: Vec<_> = intrinsics(listing).into_iter().collect();
        assert_eq!(found, ["x86::avx512f::_mm512_set1_pd"]);
    }
}
