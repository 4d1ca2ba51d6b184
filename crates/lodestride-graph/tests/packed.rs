//! Calls of one fused kernel on arrays that lie packed, which open their arrays for a moment where one thread alone uses buffers.
//! Test harnesses use buffers on several, so this test is a program: all of it alone, and again with locks.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program that panics where something is wrong, and lists its test as test runners ask for it"
)]

use std::thread;

use lodestride_array::{Buffer, NdArray, Order, Workspace, all, interval, memory};
use lodestride_graph::{Feed, Function, Value, compile, dvector, fmatrix, fscalar, shared};

fn main() {
    let asks = |what: &str| std::env::args().any(|argument| argument == what);
    if asks("--list") {
        if !asks("--ignored") {
            println!("one_thread_and_then_two: test");
        }
        return;
    }
    let every_check = || {
        every_layout_gives_what_a_loop_gives();
        results_are_the_callers();
        what_cannot_be_read_is_named();
        shared_variables_are_updated();
    };
    every_check();
    let other = thread::spawn(|| drop(Buffer::zeroed(64).unwrap().clone()));
    assert!(other.join().is_ok());
    assert!(memory::needs_locks());
    every_check();
    println!("ok");
}

/// `(a - b)^2 / c`, which is one kernel.
fn function() -> Function {
    let (a, b, c) = (fmatrix("a"), fmatrix("b"), fmatrix("c"));
    let d = &a - &b;
    compile(&[&a, &b, &c], &[&(&(&d * &d) / &c)]).unwrap()
}

fn matrix(rows: usize, columns: usize, first: usize) -> NdArray {
    let numbers = (0..rows * columns).map(|i| ((i * 7 + first) % 23) as f32 + 0.5);
    NdArray::from_vec(numbers.collect(), [rows, columns]).unwrap()
}

/// Small and large, packed in both orders, mixed, strided, reversed, and one array for all three inputs.
fn every_layout_gives_what_a_loop_gives() {
    let f = function();
    let mut wrong = Vec::new();
    for (rows, columns) in [(1, 1), (2, 3), (31, 33), (70, 90), (0, 4)] {
        let [a, b, c] = [0, 5, 11].map(|first| matrix(rows, columns, first));
        let turned = |x: &NdArray| x.dup_order(Order::F).unwrap();
        let wide = |x: &NdArray| {
            let twice = NdArray::concat(&[x, x], 1).unwrap();
            twice.get(&[all(), interval(0, columns as isize)]).unwrap()
        };
        let reversed = |x: &NdArray| x.flip(0).unwrap();
        let cases = [
            ("packed", [a.clone(), b.clone(), c.clone()]),
            ("in order F", [turned(&a), turned(&b), turned(&c)]),
            ("in both orders", [a.clone(), turned(&b), c.clone()]),
            ("strided", [wide(&a), b.clone(), wide(&c)]),
            ("reversed", [reversed(&a), reversed(&b), c.clone()]),
            ("one array", [a.clone(), a.clone(), a.clone()]),
        ];
        for (name, inputs) in cases {
            let before = inputs.each_ref().map(|x| x.to_vec::<f32>().unwrap());
            let [x, y, z] = &before;
            let one = |i: usize| (x[i] - y[i]) * (x[i] - y[i]) / z[i];
            let expected: Vec<f32> = (0..x.len()).map(one).collect();
            for turn in 0..2 {
                let found = f.call(&inputs).unwrap();
                let found = found[0].array().to_vec::<f32>().unwrap();
                let after = inputs.each_ref().map(|x| x.to_vec::<f32>().unwrap());
                if found != expected || after != before {
                    wrong.push(format!("{name} of {rows}x{columns}, call {turn}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Results are where the caller allocates, and nobody else's.
fn results_are_the_callers() {
    let f = function();
    let [a, b, c] = [0, 5, 11].map(|first| matrix(3, 3, first));
    let heap = f.call([&a, &b, &c]).unwrap();
    let again = f.call([&a, &b, &c]).unwrap();
    assert!(!heap[0].array().is_attached());
    heap[0].array().addi(1.0).unwrap();
    assert_ne!(heap[0].array(), again[0].array());
    let given = f.call([
        Feed::from(&a),
        Feed::from(b.clone()),
        Feed::from(Value::from(c.clone())),
    ]);
    assert_eq!(given.unwrap()[0].array(), again[0].array());
    let workspace = Workspace::new("CALLER");
    let leaked = workspace
        .scope(|_| {
            let inside = f.call([&a, &b, &c]).unwrap().swap_remove(0).into_array();
            assert!(inside.is_attached());
            assert_eq!(&inside, again[0].array());
            inside
        })
        .unwrap();
    assert!(leaked.to_vec::<f32>().is_err());
}

/// An input that cannot be read is named, whichever it is, and a later call is well again.
fn what_cannot_be_read_is_named() {
    let f = function();
    let arrays = [0, 5, 11].map(|first| matrix(3, 3, first));
    let workspace = Workspace::new("INPUTS");
    let stale = workspace.scope(|_| matrix(3, 3, 2)).unwrap();
    for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
        let mut inputs = arrays.each_ref();
        inputs[place] = &stale;
        let text = f.call(inputs).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains("INPUTS"), "{text}");
        let writer = arrays[place].buffer().write().unwrap();
        let text = f.call(&arrays).unwrap_err().to_string();
        assert!(text.contains("argument"), "{text}");
        drop(writer);
        assert!(f.call(&arrays).is_ok());
    }
}

/// A function with updates runs the usual way; so does one whose numbers are stretched.
fn shared_variables_are_updated() {
    let (x, weights) = (
        dvector("x"),
        shared(NdArray::from([1.0f64, 2.0]), "w").unwrap(),
    );
    let new = &(weights.variable() * &x) + weights.variable();
    let step = Function::builder(&[&x], &[&new])
        .update(&weights, &new)
        .compile()
        .unwrap();
    for expected in [[3.0, 8.0], [9.0, 32.0]] {
        let found = step.call([NdArray::from([2.0f64, 3.0])]).unwrap();
        assert_eq!(found[0].array().to_vec::<f64>().unwrap(), expected);
        assert_eq!(
            weights.get().unwrap().array().to_vec::<f64>().unwrap(),
            expected
        );
    }
    let (a, s) = (fmatrix("a"), fscalar("s"));
    let scaled = compile(&[&a, &s], &[&(&a * &s)]).unwrap();
    let found = scaled
        .call([&matrix(2, 2, 0), &NdArray::from(2.0f32)])
        .unwrap();
    assert_eq!(
        found[0].array().to_vec::<f32>().unwrap(),
        [1.0, 15.0, 29.0, 43.0]
    );
}
