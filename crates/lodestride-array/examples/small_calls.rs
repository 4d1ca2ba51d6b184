//! What single calls on small arrays cost: a table of nanoseconds, or, for `cargo xtask instructions`, one stretch of
//! instructions per path between two calls of `measure_point`.
//!
//! `small_calls` prints times; `small_calls names` the paths, one per line; `small_calls count TURNS` runs every path
//! that often between two measure points, without printing.
#![expect(
    clippy::print_stdout,
    reason = "a table for people, names for the task"
)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use lodestride_array::{NdArray, Workspace, keep, s};

/// Does its work so often.
type Work<'a> = dyn Fn(usize) -> Result<(), Box<dyn Error>> + 'a;

/// A named path.
struct Path<'a> {
    name: &'static str,
    run: Box<Work<'a>>,
}

/// The operands of the paths.
struct Operands {
    a: NdArray,
    b: NdArray,
    zeros: NdArray,
    out: NdArray,
    row: NdArray,
    column: NdArray,
    line: NdArray,
    line_out: NdArray,
    workspace: Workspace,
    long: Workspace,
}

impl Operands {
    fn new() -> Result<Operands, Box<dyn Error>> {
        let values = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        let a = NdArray::from_vec(values.to_vec(), [3, 3])?;
        let line = NdArray::arange(0, 1000, 1)?;
        Ok(Operands {
            b: a.dup()?,
            zeros: a.zeros_like()?,
            out: a.zeros_like()?,
            row: a.row(0)?.dup()?,
            column: NdArray::from_vec(vec![1.0f32, 2.0, 3.0], [3, 1])?,
            line_out: line.zeros_like()?,
            a,
            line,
            workspace: Workspace::new("SMALL"),
            // Of its own, so that its size is learned from a hundred turns.
            long: Workspace::new("LONG"),
        })
    }
}

/// A path that repeats one expression, which must succeed.
macro_rules! path {
    ($name:literal, $expression:expr) => {
        Path {
            name: $name,
            run: Box::new(move |turns| {
                for _ in 0..turns {
                    black_box($expression?);
                }
                Ok(())
            }),
        }
    };
}

fn paths(o: &Operands) -> Vec<Path<'_>> {
    let mut paths = operations(o);
    paths.extend(views(o));
    paths.extend(loops(o));
    paths
}

/// One operation, with a new result or a given one.
fn operations(o: &Operands) -> Vec<Path<'_>> {
    let (a, b, out) = (&o.a, &o.b, &o.out);
    vec![
        path!("add, new result", a.add(b)),
        path!("add, operator", Ok::<_, Box<dyn Error>>(a + b)),
        path!("add, in place", a.addi(&o.zeros)),
        path!("add, into", a.add_into(b, out)),
        path!("add number, new result", a.add(1.5)),
        path!("add number, in place", out.addi(0.0)),
        path!("abs, new result", a.abs()),
        path!("abs, in place", a.absi()),
        path!("exp, new result", a.exp()),
        path!("less, new result", a.less(b)),
        path!("add row, new result", a.add(&o.row)),
        path!("add row, in place", out.addi(&o.row)),
        path!("add column, new result", a.add(&o.column)),
        path!("add transposed, new result", a.add(&a.transpose())),
        path!("add rows, new result", a.row(0)?.add(&a.row(1)?)),
        path!("sum all", a.sum(..)),
        path!("sum axis 0", a.sum(0)),
        path!("sum axis 1 kept", a.sum(keep(1))),
        path!("argmax axis 1", a.argmax(1)),
        path!("sum as number", a.sum(..)?.item::<f32>()),
        path!("dup", a.dup()),
        path!("matmul", a.matmul(b)),
        path!("matmul, vector", a.matmul(&o.row)),
        path!("add 1000, new result", o.line.add(&o.line)),
        path!("add 1000, into", o.line.add_into(&o.line, &o.line_out)),
        path!(
            "closure of two",
            NdArray::zip_map([a, b], |x: f32, y: f32| (x - y) * y)
        ),
        path!("expression of two", ((a.lazy() - b) * b).eval()),
    ]
}

/// Views and single elements.
fn views(o: &Operands) -> Vec<Path<'_>> {
    let (a, out) = (&o.a, &o.out);
    vec![
        path!("clone", Ok::<_, Box<dyn Error>>(a.clone())),
        path!("row view", a.row(1)),
        path!("get view", a.get(&s![1, ..])),
        path!("get block view", a.get(&s![0..2, 1..])),
        path!("transpose view", Ok::<_, Box<dyn Error>>(a.transpose())),
        path!("reshape view", a.reshape([9])),
        path!("get_f64", a.get_f64([1, 2])),
        path!("set", out.set([1, 2], 0.5)),
        path!("typed view", a.view::<f32>().map(drop)),
        Path {
            name: "typed element",
            run: Box::new(|turns| {
                let view = o.a.view::<f32>()?;
                for turn in 0..turns {
                    black_box(view[[turn & 1, 2]]);
                }
                Ok(())
            }),
        },
    ]
}

/// Several operations in a row, on the heap and in scopes.
fn loops(o: &Operands) -> Vec<Path<'_>> {
    let mut paths = Vec::new();
    paths.push(Path {
        name: "three ops, heap",
        run: Box::new(|turns| {
            for _ in 0..turns {
                black_box(three_ops(&o.a, &o.zeros)?);
            }
            Ok(())
        }),
    });
    paths.push(Path {
        name: "three ops, scope per turn",
        run: Box::new(|turns| {
            for _ in 0..turns {
                o.workspace
                    .scope(|_| three_ops(&o.a, &o.zeros).map(drop))??;
            }
            Ok(())
        }),
    });
    paths.push(Path {
        name: "three ops, scope of 100 turns",
        run: Box::new(|turns| {
            for start in (0..turns).step_by(100) {
                o.long.scope(|_| {
                    (start..turns.min(start + 100))
                        .try_for_each(|_| three_ops(&o.a, &o.zeros).map(drop))
                })??;
            }
            Ok(())
        }),
    });
    paths.push(path!("empty scope", o.workspace.scope(|_| ())));
    paths
}

/// `acc += (q + q) * q`.
fn three_ops(q: &NdArray, acc: &NdArray) -> lodestride_array::Result<()> {
    let product = q.add(q)?.mul(q)?;
    acc.addi(&product)?;
    Ok(())
}

/// Where the counting task begins a new stretch.
#[inline(never)]
fn measure_point(path: usize) {
    black_box(path);
}

fn main() -> Result<(), Box<dyn Error>> {
    let operands = Operands::new()?;
    let paths = paths(&operands);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("names") => paths.iter().for_each(|path| println!("{}", path.name)),
        Some("count") => {
            let turns = arguments.get(1).map_or(Ok(1000), |turns| turns.parse())?;
            for (number, path) in paths.iter().enumerate() {
                // Caches are filled and workspaces have learned their size before counting.
                (path.run)(200)?;
                measure_point(number);
                (path.run)(turns)?;
                measure_point(number);
            }
        }
        filter => {
            let chosen = paths
                .iter()
                .filter(|path| filter.is_none_or(|filter| path.name.contains(filter)));
            for path in chosen {
                println!("{:<32} {:>9.2} ns", path.name, time(path)?);
            }
        }
    }
    Ok(())
}

/// The shortest time of one turn over many samples.
fn time(path: &Path<'_>) -> Result<f64, Box<dyn Error>> {
    const TURNS: usize = 2000;
    (path.run)(TURNS)?;
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let start = Instant::now();
        (path.run)(TURNS)?;
        best = best.min(start.elapsed().as_nanos() as f64 / TURNS as f64);
    }
    Ok(best)
}
