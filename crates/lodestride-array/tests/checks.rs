//! Execution checks: NaN and infinity as errors in every form of an operation, scopes and threads, the profile.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Mutex;

use lodestride_array::{
    ArrayErrorKind, Checks, DType, NdArray, NotFinite, Order, Profile, Result, op, s,
};

/// What is watched in the whole process is one setting: tests that set it take turns.
static PROCESS: Mutex<()> = Mutex::new(());

fn not_finite(result: Result<()>) -> Option<NotFinite> {
    match result.unwrap_err().kind() {
        ArrayErrorKind::NotFinite(found) => Some(found.clone()),
        _ => None,
    }
}

/// O26: ND4J's NAN_PANIC, INF_PANIC and ANY_PANIC on `muli`, and every other form.
#[test]
fn forbidden_values_are_errors_in_every_form() {
    type Op = (&'static str, fn(&NdArray) -> Result<()>);
    let ops: [Op; 14] = [
        ("muli", |a| a.muli(3.0).map(drop)),
        ("mul", |a| a.mul(3.0).map(drop)),
        ("mul", |a| a.mul(a).map(drop)),
        ("add", |a| a.add(&NdArray::zeros([3, 4])?).map(drop)),
        ("add_into", |a| a.add_into(1.0, &NdArray::zeros([3, 4])?)),
        ("addi", |a| NdArray::zeros([3, 4])?.addi(a).map(drop)),
        ("neg", |a| a.neg().map(drop)),
        ("negi", |a| a.negi().map(drop)),
        ("sum", |a| a.sum(0).map(drop)),
        ("max", |a| a.max(..).map(drop)),
        ("cumsum", |a| a.cumsum(1).map(drop)),
        ("mmul", |a| a.mmul(&NdArray::ones([4, 2])?).map(drop)),
        ("clip", |a| {
            a.clip(f64::NEG_INFINITY, f64::INFINITY).map(drop)
        }),
        ("sort", |a| a.sort(1).map(drop)),
    ];
    let nan = Checks::none().nan(true);
    let infinity = Checks::none().infinity(true);
    let cases = [
        (f32::NAN, nan, true),
        (f32::NAN, infinity, false),
        (f32::NAN, nan.infinity(true), true),
        (f32::INFINITY, infinity, true),
        (f32::INFINITY, nan, false),
        (f32::NEG_INFINITY, infinity, true),
        (f32::NEG_INFINITY, nan.infinity(true), true),
        (1.5, nan.infinity(true), false),
    ];
    let mut failures = Vec::new();
    for (name, op) in ops {
        for (value, checks, is_found) in cases {
            // The maximum of a negative infinity and numbers is a number.
            if name == "max" && value == f32::NEG_INFINITY {
                continue;
            }
            let a = NdArray::ones([3, 4]).unwrap();
            a.set([2, 1], value).unwrap();
            let found = checks.scope(|| op(&a));
            let case = format!("{name} of {value} under {checks:?}: {found:?}");
            match &found {
                Ok(()) if is_found => failures.push(case),
                Err(error) if !is_found => failures.push(format!("{case}: {error}")),
                Err(error) => match error.kind() {
                    ArrayErrorKind::NotFinite(found) if found.op == name && found.count > 0 => {}
                    _ => failures.push(case),
                },
                Ok(()) => {}
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn errors_tell_where_and_whence() {
    let checks = Checks::none().nan(true).infinity(true);
    let zero = NdArray::zeros([2, 3]).unwrap();
    let error = checks.scope(|| zero.div(&zero)).unwrap_err();
    let text = error.to_string();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("  --> "))
        .collect();
    assert_eq!(
        lines,
        [
            "P.A.N.I.C.! Op.Z() contains 6 NaN value(s): div, the first at [0, 0]",
            "  result: f32 [2, 3] C",
            "  help: no other operand had any: they come from this operation, or were there before an operation in place; `is_nan()` and `is_inf()` show where",
        ]
    );
    assert!(error.location().file().ends_with("checks.rs"));
    let a = NdArray::from([[1.0f64, 2.0], [f64::INFINITY, 4.0]]).transpose();
    let found = not_finite(checks.scope(|| a.add(1.0)).map(drop)).unwrap();
    assert_eq!(
        (
            found.count,
            &found.first[..],
            found.is_nan,
            found.in_operand
        ),
        (1, &[0, 1][..], false, true)
    );
    // Comparisons and integers cannot hold either, and are not looked at.
    assert!(
        checks
            .scope(|| a
                .greater(1.0)
                .and_then(|_| NdArray::from([i32::MAX]).add(1)))
            .is_ok()
    );
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let half = a.cast(dtype).unwrap().get(&s![..;-1, ..]).unwrap();
        assert!(checks.scope(|| half.mul(2.0)).is_err(), "{dtype}");
    }
    assert!(
        checks
            .scope(|| NdArray::zeros([0]).and_then(|a| a.add(1.0)))
            .is_ok()
    );
    assert!(checks.scope(|| NdArray::from(f32::NAN).add(1.0)).is_err());
}

#[test]
fn scopes_nest_end_with_panics_and_stay_on_their_thread() {
    let _turn = PROCESS.lock().unwrap();
    let a = NdArray::from([f32::NAN]);
    let fails = || a.add(1.0).is_err();
    let nan = Checks::none().nan(true);
    assert!(!fails());
    nan.scope(|| {
        assert!(fails());
        Checks::none().scope(|| assert!(!fails()));
        assert!(fails());
        assert!(!std::thread::scope(|threads| threads
            .spawn(fails)
            .join()
            .unwrap()));
        assert_eq!(Checks::current(), nan);
    });
    let panicked = std::panic::catch_unwind(|| nan.scope(|| panic!("on purpose")));
    assert!(panicked.is_err() && !fails() && Checks::current() == Checks::none());
    nan.set();
    assert!(fails() && std::thread::scope(|threads| threads.spawn(fails).join().unwrap()));
    Checks::none().scope(|| assert!(!fails()));
    Checks::none().set();
    assert!(!fails());
}

#[test]
fn profiles_count_calls_bytes_orders_and_strides() {
    let _turn = PROCESS.lock().unwrap();
    let a = NdArray::ones([10, 20]).unwrap();
    let b = a.dup_order(Order::F).unwrap();
    let ((), profile) = Profile::of(|| {
        for _ in 0..3 {
            a.add(&a).unwrap();
        }
        // O26: mixed orders are counted.
        a.addi(&b).unwrap();
        a.get(&s![.., ..;2]).unwrap().mul(2.0).unwrap();
        a.sum(0).unwrap();
        let ((), inner) = Profile::of(|| drop(a.exp().unwrap()));
        assert_eq!(inner.rows().len(), 1);
    });
    let of = |op| {
        profile
            .get(op)
            .map(|row| (row.calls, row.bytes, row.mixed_order, row.strided))
    };
    assert_eq!(of("add"), Some((3, 3 * 3 * 800, 0, 0)));
    assert_eq!(of("addi"), Some((1, 2 * 800, 1, 0)));
    assert_eq!(of("mul"), Some((1, 2 * 400, 0, 1)));
    assert_eq!(of("sum"), Some((1, 880, 0, 0)));
    assert_eq!(of("exp"), Some((1, 1600, 0, 0)));
    assert_eq!(of("sub"), None);
    let text = profile.to_string();
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(
        profile
            .rows()
            .windows(2)
            .all(|pair| pair[0].time >= pair[1].time)
    );

    Profile::reset();
    Checks::none().profile(true).set();
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| a.tanh().unwrap());
        }
    });
    Checks::none().set();
    a.tanh().unwrap();
    let process = Profile::of_process();
    assert_eq!(process.get("tanh").map(|row| row.calls), Some(2));
    Profile::reset();
    assert_eq!(Profile::of_process(), Profile::default());
}

/// What is made elsewhere and copied is one call: it reads its operands and writes the output.
#[test]
fn what_is_copied_into_an_output_is_one_call() {
    let a = NdArray::ones([10, 20]).unwrap();
    let (row, matrix) = (
        NdArray::ones([10]).unwrap(),
        NdArray::ones([10, 10]).unwrap(),
    );
    let (two, counts) = (
        NdArray::zeros([4]).unwrap(),
        NdArray::zeros_of(DType::I64, [4]).unwrap(),
    );
    let ((), profile) = Profile::of(|| {
        a.median_into(1, &row).unwrap();
        matrix.tril_into(0, &matrix.clone()).unwrap();
        matrix.inner_into(&matrix, &matrix).unwrap();
        row.topk_into(4, 0, &two, &counts).unwrap();
        let call = op("argmax").unwrap().on(&[&matrix]).axes(0);
        call.output(&NdArray::zeros_of(DType::I64, [10]).unwrap())
            .run()
            .unwrap();
    });
    let mut rows: Vec<_> = (profile.rows().iter())
        .map(|row| (row.op, row.calls, row.bytes))
        .collect();
    rows.sort_unstable();
    assert_eq!(
        rows,
        [
            ("argmax", 1, 400 + 80),
            ("inner_into", 1, 3 * 400),
            ("median_into", 1, 800 + 40),
            ("topk_into", 1, 40 + 16 + 32),
            ("tril_into", 1, 2 * 400),
        ]
    );
    let nan = NdArray::full([4, 4], f32::NAN).unwrap();
    let found = Checks::none().nan(true).scope(|| nan.tril_into(0, &nan));
    let found = not_finite(found).unwrap();
    assert_eq!(
        (found.op, found.in_operand, found.count),
        ("tril_into", true, 10)
    );
}
