//! Print options of the process and of scopes: who prints with which, on which thread, and until when. What each option does is
//! in `by_name.rs` and in the unit tests of `display`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;

use lodestride_array::{DType, NdArray, Notation, PrintOptions};
use support::report;

/// The tests of this file change what the process prints with: one at a time, and each leaves it as it was before the next begins.
fn alone() -> (impl Drop, MutexGuard<'static, ()>) {
    static LOCK: Mutex<()> = Mutex::new(());
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            PrintOptions::new().set();
        }
    }
    let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // Dropped in this order.
    (Restore, lock)
}

fn long() -> NdArray {
    NdArray::arange_of(DType::I32, 0, 9, 1).unwrap()
}

/// Arrays, options, and what they print together.
fn cases() -> Vec<(NdArray, PrintOptions, &'static str)> {
    let options = PrintOptions::new;
    let numbers = || NdArray::from([0.125, 2.0, -1.0 / 3.0]);
    vec![
        (
            numbers(),
            options(),
            "[ 0.12500000,  2.00000000, -0.33333333]",
        ),
        (numbers(), options().precision(2), "[ 0.12,  2.00, -0.33]"),
        (numbers(), options().precision(0), "[ 0,  2, -0]"),
        // Digits are one thing, the notation another: numbers too far apart stay scientific.
        (
            NdArray::from([1e10, 1.0]),
            options().precision(2),
            "[1.00e+10, 1.00e+00]",
        ),
        (
            NdArray::from([1e-9]),
            options().precision(3).notation(Notation::Fixed),
            "[0.000]",
        ),
        (
            numbers(),
            options().precision(1).notation(Notation::Scientific),
            "[ 1.2e-01,  2.0e+00, -3.3e-01]",
        ),
        (
            NdArray::from([0.0, 12345.678]),
            PrintOptions::nd4j(),
            "[       0, 1.2346e4]",
        ),
        (
            numbers(),
            options().precision(1).separator(" |"),
            "[ 0.1 |  2.0 | -0.3]",
        ),
        (long(), options().threshold(8).edge(2), "[0, 1, ..., 7, 8]"),
        (
            long(),
            options().threshold(9).edge(2),
            "[0, 1, 2, 3, 4, 5, 6, 7, 8]",
        ),
        (
            long(),
            options().line_width(10),
            "[0, 1, 2,\n 3, 4, 5,\n 6, 7, 8]",
        ),
        (
            NdArray::from([true, false]),
            options().precision(3),
            "[ true, false]",
        ),
        (NdArray::from(0.5f32), options().precision(3), "0.500"),
        (
            NdArray::zeros([2, 0]).unwrap(),
            options().precision(3),
            "[]",
        ),
    ]
}

#[test]
fn every_option_counts_in_each_of_three_places() {
    let _alone = alone();
    let mut failures = Vec::new();
    let cases = cases();
    for (array, options, wanted) in &cases {
        let one = array.display(options).to_string();
        let scoped = options.clone().scope(|| array.to_string());
        options.clone().set();
        let set = array.to_string();
        let read = PrintOptions::current();
        PrintOptions::new().set();
        for (place, found) in [("display", one), ("scope", scoped), ("set", set)] {
            if found != *wanted {
                failures.push(format!("{place} {options:?}: {found}, not {wanted}"));
            }
        }
        if read != *options {
            failures.push(format!("{options:?} were read back as {read:?}"));
        }
    }
    report(3 * cases.len(), &failures);
}

#[test]
fn a_format_comes_before_the_options() {
    let _alone = alone();
    let a = NdArray::from([1234.5, 1e-9]);
    PrintOptions::new()
        .precision(3)
        .notation(Notation::Scientific)
        .separator(";")
        .threshold(1)
        .edge(1)
        .set();
    assert_eq!(format!("{a}"), "[1.234e+03; 1.000e-09]");
    assert_eq!(format!("{a:.1}"), "[1.2e+03; 1.0e-09]");
    assert_eq!(format!("{:.1}", long()), "[0; ...; 8]");
    assert_eq!(format!("{:#}", long()), "[0; 1; 2; 3; 4; 5; 6; 7; 8]");
    assert_eq!(format!("{a:?}"), "f64 [2] C\n[1.234e+03; 1.000e-09]");
    assert!(a.explain().contains("1.000e-09"), "{}", a.explain());
    PrintOptions::new().precision(3).set();
    assert_eq!(format!("{a}"), "[1.234e+03, 1.000e-09]");
    // Digits in a format ask for fixed ones, as they always did.
    assert_eq!(format!("{a:.1}"), "[1234.5,    0.0]");
    assert_eq!(format!("{a:.1e}"), "[1.2e+03, 1.0e-09]");
    PrintOptions::nd4j().set();
    assert_eq!(format!("{a:.2}"), "[1.23e3,   1e-9]");
    // What is given with the array comes before all.
    assert_eq!(
        a.display(&PrintOptions::new()).to_string(),
        "[1.2345e+03, 1.0000e-09]"
    );
}

#[test]
fn scopes_are_nested_and_end_with_their_closure() {
    let _alone = alone();
    let a = NdArray::from([0.125]);
    let digits = |digits| PrintOptions::new().precision(digits);
    let shown = digits(1).scope(|| {
        let outer = a.to_string();
        let inner = digits(2).scope(|| {
            // The options of the process do not reach into a scope.
            digits(0).set();
            a.to_string()
        });
        [outer, inner, a.to_string()]
    });
    assert_eq!(shown, ["[0.1]", "[0.12]", "[0.1]"]);
    assert_eq!(a.to_string(), "[0]");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        digits(2).scope(|| panic!("on purpose"))
    }));
    assert!(panicked.is_err());
    assert_eq!(a.to_string(), "[0]");
    // The closure's value and its errors come out.
    let error = digits(2).scope(|| a.add(&NdArray::ones([3, 2])?)?.sum(7));
    assert!(error.is_err() && PrintOptions::current() == digits(0));
}

#[test]
fn options_of_the_process_reach_every_thread_and_scopes_only_theirs() {
    let _alone = alone();
    let a = NdArray::from([0.125]);
    let digits = |digits| PrintOptions::new().precision(digits);
    let (inside, done) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|threads| {
        let other = threads.spawn(|| {
            inside.wait();
            let before = a.to_string();
            done.wait();
            inside.wait();
            let after = a.to_string();
            done.wait();
            [before, after]
        });
        digits(1).scope(|| {
            inside.wait(); // the other thread prints while this one is in its scope
            done.wait();
            assert_eq!(a.to_string(), "[0.1]");
        });
        digits(2).set();
        inside.wait();
        done.wait();
        assert_eq!(other.join().unwrap(), ["[0.125]", "[0.12]"]);
    });
    assert_eq!(
        thread::spawn(|| NdArray::from([0.125]).to_string())
            .join()
            .unwrap(),
        "[0.12]"
    );
}
