//! Wrong arguments of the sequence ops: each is refused with a typed error that names the values, nothing panics, and
//! the text tells the caller's line.
#![expect(clippy::too_many_lines, reason = "tables of cases are long")]

use lodestride_lod::sequence::{self, PoolKind, Window};
use lodestride_lod::{
    DType, Lod, LodError, LodErrorKind as Kind, LodTensor, NdArray, SequenceArgument as Argument,
    Workspace, lengths,
};

type Call<'a> = Box<dyn Fn() -> Result<(), LodError> + 'a>;
type Expected = fn(&Kind) -> bool;

fn call<'a, T>(f: impl Fn() -> Result<T, LodError> + 'a) -> Call<'a> {
    Box::new(move || f().map(drop))
}

fn check_all(cases: Vec<(&str, Call<'_>, Expected)>) {
    let mut wrong = Vec::new();
    for (label, call, expected) in cases {
        match call() {
            Ok(()) => wrong.push(format!("{label}: accepted")),
            Err(error) if !expected(error.kind()) => wrong.push(format!("{label}: {error}")),
            Err(error) if !error.location().file().ends_with("refusals.rs") => {
                wrong.push(format!("{label}: blames another line: {error}"));
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_op_refuses_what_it_cannot_do() {
    let plain = LodTensor::from(NdArray::ones([4, 2]).unwrap());
    let scalar = LodTensor::from(NdArray::scalar(1.0f32).unwrap());
    let x = LodTensor::new(NdArray::ones([4, 2]).unwrap(), lengths![[1, 3]]).unwrap();
    let nested = x.with_lod(lengths![[1, 1], [1, 3]]).unwrap();
    let ints = LodTensor::from_lists(&[vec![1i64], vec![2, 3]]).unwrap();
    let wrong_grad = NdArray::ones([7, 7]).unwrap();
    let y = Lod::from_lengths(lengths![[1, 3], [2, 1, 2, 1]]).unwrap();
    let window = Window::centered(3);
    let filter = NdArray::ones([6, 2]).unwrap();
    let no_lod: Expected = |k| matches!(k, Kind::NoLod { .. });
    let no_level: Expected = |k| matches!(k, Kind::LevelOutOfRange { .. });
    let count: Expected = |k| matches!(k, Kind::CountMismatch { .. });
    let shape: Expected = |k| matches!(k, Kind::ShapeMismatch { .. });
    let ids: Expected = |k| matches!(k, Kind::IdOutOfRange { .. });
    let input = NdArray::ones([2, 3]).unwrap();
    let updates = NdArray::ones([3]).unwrap();
    check_all(vec![
        (
            "pool plain",
            call(|| sequence::pool(&plain, PoolKind::Sum, -1, 0)),
            no_lod,
        ),
        (
            "pool scalar",
            call(|| sequence::pool(&scalar, PoolKind::Sum, -1, 0)),
            no_lod,
        ),
        (
            "pool level",
            call(|| sequence::pool(&x, PoolKind::Sum, 1, 0)),
            no_level,
        ),
        (
            "pool grad",
            call(|| sequence::pool_grad(&x, PoolKind::Sum, -1, &wrong_grad)),
            shape,
        ),
        (
            "pool index of a sum",
            call(|| sequence::pool_with_index(&x, PoolKind::Sum, -1, 0)),
            |k| matches!(k, Kind::Kernel(_)),
        ),
        (
            "softmax plain",
            call(|| sequence::softmax(&plain, -1)),
            no_lod,
        ),
        (
            "softmax level",
            call(|| sequence::softmax(&x, -2)),
            no_level,
        ),
        (
            "softmax of integers",
            call(|| sequence::softmax(&ints, -1)),
            |k| matches!(k, Kind::Kernel(_)),
        ),
        (
            "softmax grad",
            call(|| sequence::softmax_grad(&x, -1, &wrong_grad)),
            shape,
        ),
        (
            "reverse plain",
            call(|| sequence::reverse(&plain, -1)),
            no_lod,
        ),
        ("reverse level", call(|| sequence::reverse(&x, 9)), no_level),
        (
            "reverse grad",
            call(|| sequence::reverse_grad(&x, -1, &wrong_grad)),
            shape,
        ),
        (
            "expand by nothing",
            call(|| sequence::expand(&x, &Lod::none(), -1)),
            no_lod,
        ),
        (
            "expand level",
            call(|| sequence::expand(&x, &y, 2)),
            no_level,
        ),
        (
            "expand 2 sequences by 4",
            call(|| sequence::expand(&x, &y, -1)),
            |k| {
                matches!(
                    k,
                    Kind::CountMismatch {
                        argument: Argument::X,
                        level: 1,
                        expected: 4,
                        found: 2,
                        ..
                    }
                )
            },
        ),
        (
            "expand 4 rows by 2",
            call(|| sequence::expand(&plain, &y, 0)),
            |k| {
                matches!(
                    k,
                    Kind::CountMismatch {
                        expected: 2,
                        found: 4,
                        ..
                    }
                )
            },
        ),
        (
            "expand grad",
            call(|| sequence::expand_grad(&x, &y, 0, &wrong_grad)),
            shape,
        ),
        (
            "expand_as rows",
            call(|| sequence::expand_as(&plain, &Lod::from_lengths([2, 3])?, -1)),
            count,
        ),
        (
            "expand_as by nothing",
            call(|| sequence::expand_as(&plain, &plain, -1)),
            no_lod,
        ),
        (
            "expand_as scalar",
            call(|| sequence::expand_as(&scalar, &y, -1)),
            |k| matches!(k, Kind::Rank { .. }),
        ),
        (
            "expand_as grad",
            call(|| sequence::expand_as_grad(&plain, &y, -1, &wrong_grad)),
            shape,
        ),
        (
            "repeat scalar",
            call(|| sequence::repeat(&scalar, &[1], 0)),
            |k| matches!(k, Kind::Rank { .. }),
        ),
        (
            "repeat counts",
            call(|| sequence::repeat(&x, &[1], 0)),
            count,
        ),
        (
            "context plain",
            call(|| sequence::context(&plain, window, None, -1)),
            no_lod,
        ),
        (
            "context of nothing",
            call(|| {
                sequence::context(
                    &x,
                    Window {
                        start: 0,
                        length: 0,
                    },
                    None,
                    -1,
                )
            }),
            |k| matches!(k, Kind::EmptyWindow { .. }),
        ),
        (
            "context padding",
            call(|| sequence::context(&x, window, Some(&wrong_grad), -1)),
            shape,
        ),
        (
            "context padding dtype",
            call(|| {
                let padding = NdArray::zeros_of(DType::F64, [2, 2])?;
                sequence::context(&x, window, Some(&padding), -1)
            }),
            |k| {
                matches!(
                    k,
                    Kind::DTypeMismatch {
                        expected: DType::F32,
                        found: DType::F64,
                        ..
                    }
                )
            },
        ),
        (
            "context grad",
            call(|| sequence::context_grad(&x, window, None, -1, &wrong_grad)),
            shape,
        ),
        (
            "conv filter height",
            call(|| sequence::conv(&x, &wrong_grad, window, None, -1)),
            shape,
        ),
        (
            "conv filter rank",
            call(|| sequence::conv(&x, &NdArray::ones([6])?, window, None, -1)),
            shape,
        ),
        (
            "conv grad",
            call(|| sequence::conv_grad(&x, &filter, window, None, -1, &wrong_grad)),
            shape,
        ),
        (
            "row_conv filter",
            call(|| sequence::row_conv(&x, &wrong_grad, -1)),
            shape,
        ),
        (
            "row_conv scalar filter",
            call(|| sequence::row_conv(&x, scalar.data(), -1)),
            shape,
        ),
        (
            "pad plain",
            call(|| sequence::pad(&plain, 0, None, -1)),
            no_lod,
        ),
        (
            "pad too short",
            call(|| sequence::pad(&x, 0, Some(2), -1)),
            |k| {
                matches!(
                    k,
                    Kind::TooLong {
                        index: 1,
                        found: 3,
                        limit: 2,
                        ..
                    }
                )
            },
        ),
        (
            "pad value",
            call(|| sequence::pad(&x, &NdArray::ones([5])?, None, -1)),
            |k| matches!(k, Kind::Array(_)),
        ),
        (
            "pad grad",
            call(|| sequence::pad_grad(&x, None, -1, &wrong_grad)),
            shape,
        ),
        (
            "unpad rank",
            call(|| sequence::unpad(&NdArray::ones([4])?.into(), &[1; 4])),
            |k| {
                matches!(
                    k,
                    Kind::Rank {
                        expected: 2,
                        found: 1,
                        ..
                    }
                )
            },
        ),
        (
            "unpad count",
            call(|| sequence::unpad(&plain, &[1; 3])),
            count,
        ),
        (
            "unpad too long",
            call(|| sequence::unpad(&plain, &[1, 2, 3, 2])),
            |k| {
                matches!(
                    k,
                    Kind::TooLong {
                        index: 2,
                        found: 3,
                        limit: 2,
                        ..
                    }
                )
            },
        ),
        (
            "unpad grad",
            call(|| sequence::unpad_grad(&plain, &[1; 4], &wrong_grad)),
            shape,
        ),
        ("concat nothing", call(|| sequence::concat(&[], -1)), no_lod),
        (
            "concat plain",
            call(|| sequence::concat(&[&x, &plain], -1)),
            |k| {
                matches!(
                    k,
                    Kind::NoLod {
                        argument: Argument::Input(1),
                        ..
                    }
                )
            },
        ),
        (
            "concat widths",
            call(|| {
                let other = LodTensor::new(NdArray::ones([4, 3])?, lengths![[1, 3]])?;
                sequence::concat(&[&x, &other], -1)
            }),
            |k| {
                matches!(
                    k,
                    Kind::ShapeMismatch {
                        argument: Argument::Input(1),
                        ..
                    }
                )
            },
        ),
        (
            "concat dtypes",
            call(|| {
                let other =
                    LodTensor::new(NdArray::zeros_of(DType::I32, [4, 2])?, lengths![[1, 3]])?;
                sequence::concat(&[&x, &other], -1)
            }),
            |k| {
                matches!(
                    k,
                    Kind::DTypeMismatch {
                        argument: Argument::Input(1),
                        ..
                    }
                )
            },
        ),
        (
            "concat depths",
            call(|| sequence::concat(&[&x, &nested], -1)),
            |k| matches!(k, Kind::DepthMismatch { .. }),
        ),
        (
            "concat counts",
            call(|| sequence::concat(&[&x, &x.with_lod(lengths![[4]])?], -1)),
            count,
        ),
        (
            "concat groups",
            call(|| sequence::concat(&[&nested, &nested.with_lod(lengths![[2, 0], [1, 3]])?], -1)),
            |k| {
                matches!(
                    k,
                    Kind::LodMismatch {
                        level: 0,
                        index: 0,
                        expected: Some(1),
                        found: Some(2),
                        ..
                    }
                )
            },
        ),
        (
            "concat grad",
            call(|| sequence::concat_grad(&[&x, &x], -1, &wrong_grad)),
            shape,
        ),
        (
            "slice plain",
            call(|| sequence::slice(&plain, &[], &[], -1)),
            no_lod,
        ),
        (
            "slice past the end",
            call(|| sequence::slice(&x, &[0, 2], &[1, 2], -1)),
            |k| {
                matches!(
                    k,
                    Kind::PartOutOfRange {
                        index: 1,
                        offset: 2,
                        length: 2,
                        found: 3,
                        ..
                    }
                )
            },
        ),
        (
            "slice grad",
            call(|| sequence::slice_grad(&x, &[0, 0], &[1, 1], -1, &wrong_grad)),
            shape,
        ),
        ("take index", call(|| sequence::take(&x, &[2], -1)), |k| {
            matches!(
                k,
                Kind::SequenceOutOfRange {
                    index: 0,
                    found: 2,
                    count: 2,
                    ..
                }
            )
        }),
        (
            "take row",
            call(|| sequence::take(&plain, &[0, 4], -1)),
            |k| {
                matches!(
                    k,
                    Kind::SequenceOutOfRange {
                        index: 1,
                        found: 4,
                        count: 4,
                        ..
                    }
                )
            },
        ),
        (
            "take grad",
            call(|| sequence::take_grad(&x, &[0], -1, &wrong_grad)),
            shape,
        ),
        (
            "reshape plain",
            call(|| sequence::reshape(&plain, 4)),
            no_lod,
        ),
        (
            "reshape remainder",
            call(|| sequence::reshape(&x, 4)),
            |k| {
                matches!(
                    k,
                    Kind::Indivisible {
                        index: 0,
                        elements: 2,
                        width: 4,
                        ..
                    }
                )
            },
        ),
        (
            "reshape to nothing",
            call(|| sequence::reshape(&x, 0)),
            |k| matches!(k, Kind::Indivisible { width: 0, .. }),
        ),
        (
            "reshape grad",
            call(|| sequence::reshape_grad(&x, 1, &wrong_grad)),
            shape,
        ),
        (
            "scatter plain ids",
            call(|| sequence::scatter(&input, &NdArray::from([0i64, 1, 2]).into(), &updates, -1)),
            no_lod,
        ),
        (
            "scatter float ids",
            call(|| sequence::scatter(&input, &x, &updates, -1)),
            |k| matches!(k, Kind::NotIntegers { .. }),
        ),
        (
            "scatter updates",
            call(|| sequence::scatter(&input, &ints, &NdArray::ones([2])?, -1)),
            count,
        ),
        (
            "scatter dtype",
            call(|| sequence::scatter(&input, &ints, &NdArray::from([1i64, 1, 1]), -1)),
            |k| {
                matches!(
                    k,
                    Kind::DTypeMismatch {
                        argument: Argument::Updates,
                        ..
                    }
                )
            },
        ),
        (
            "scatter id past the row",
            call(|| sequence::scatter(&input, &ints, &updates, -1)),
            |k| {
                matches!(
                    k,
                    Kind::IdOutOfRange {
                        index: 2,
                        found: 3,
                        limit: 3,
                        ..
                    }
                )
            },
        ),
        (
            "scatter negative id",
            call(|| {
                let negative = LodTensor::from_lists(&[vec![-1i64], vec![0, 0]])?;
                sequence::scatter(&input, &negative, &updates, -1)
            }),
            ids,
        ),
        (
            "scatter rows",
            call(|| sequence::scatter(&NdArray::ones([1, 9])?, &ints, &updates, -1)),
            count,
        ),
        (
            "enumerate plain",
            call(|| sequence::enumerate(&plain, 2, 0, -1)),
            no_lod,
        ),
        (
            "enumerate nothing",
            call(|| sequence::enumerate(&ints, 0, 0, -1)),
            |k| matches!(k, Kind::EmptyWindow { .. }),
        ),
        ("erase floats", call(|| sequence::erase(&x, &[1])), |k| {
            matches!(k, Kind::NotIntegers { .. })
        }),
        (
            "erase wide rows",
            call(|| {
                let wide =
                    LodTensor::new(NdArray::zeros_of(DType::I64, [4, 2])?, lengths![[1, 3]])?;
                sequence::erase(&wide, &[1])
            }),
            shape,
        ),
        (
            "distance of floats",
            call(|| sequence::edit_distance(&x, &ints, false, -1)),
            |k| {
                matches!(
                    k,
                    Kind::NotIntegers {
                        argument: Argument::X,
                        ..
                    }
                )
            },
        ),
        (
            "distance counts",
            call(|| sequence::edit_distance(&ints, &ints.with_lod(lengths![[3]])?, false, -1)),
            count,
        ),
        (
            "distance from nothing",
            call(|| sequence::edit_distance(&ints, &ints.with_lod(lengths![[3, 0]])?, true, -1)),
            |k| matches!(k, Kind::EmptyReference { index: 1, .. }),
        ),
        (
            "counts of floats",
            call(|| sequence::counts(plain.data())),
            |k| matches!(k, Kind::NotIntegers { .. }),
        ),
        (
            "negative counts",
            call(|| sequence::counts(&NdArray::from([3i32, -2]))),
            |k| {
                matches!(
                    k,
                    Kind::NotACount {
                        index: 1,
                        found: -2,
                        ..
                    }
                )
            },
        ),
        (
            "a huge unsigned count",
            call(|| sequence::counts(&NdArray::from([u64::MAX]))),
            |k| matches!(k, Kind::NotACount { index: 0, .. }),
        ),
    ]);
}

#[test]
fn a_tensor_is_made_and_combined_only_when_everything_fits() {
    let rows = NdArray::ones([5, 2]).unwrap();
    let x = LodTensor::new(rows.clone(), lengths![[2, 3]]).unwrap();
    let other = LodTensor::new(rows.clone(), lengths![[3, 2]]).unwrap();
    check_all(vec![
        (
            "rows",
            call(|| LodTensor::new(rows.clone(), lengths![[2, 4]])),
            |k| {
                matches!(
                    k,
                    Kind::RowTotal {
                        level: 0,
                        expected: 6,
                        found: 5
                    }
                )
            },
        ),
        (
            "rows of nothing",
            call(|| LodTensor::new(NdArray::ones([0, 2])?, lengths![[5]])),
            |k| {
                matches!(
                    k,
                    Kind::RowTotal {
                        expected: 5,
                        found: 0,
                        ..
                    }
                )
            },
        ),
        (
            "levels",
            call(|| LodTensor::new(rows.clone(), lengths![[1], [2, 3]])),
            |k| {
                matches!(
                    k,
                    Kind::LevelTotal {
                        level: 0,
                        expected: 1,
                        found: 2
                    }
                )
            },
        ),
        (
            "scalar",
            call(|| LodTensor::new(NdArray::scalar(1.0f32)?, lengths![[1]])),
            |k| matches!(k, Kind::Rank { .. }),
        ),
        ("with_lod", call(|| x.with_lod(lengths![[2, 2]])), |k| {
            matches!(k, Kind::RowTotal { .. })
        }),
        (
            "map to other rows",
            call(|| x.map(|rows| rows.sum(0))),
            |k| matches!(k, Kind::RowTotal { .. }),
        ),
        (
            "zip of other groups",
            call(|| x.zip_map(&other, |a, b| a.add(b))),
            |k| {
                matches!(
                    k,
                    Kind::LodMismatch {
                        level: 0,
                        index: 0,
                        expected: Some(2),
                        found: Some(3),
                        ..
                    }
                )
            },
        ),
        (
            "zip of other depth",
            call(|| x.zip_map(&(&rows).into(), |a, b| a.add(b))),
            |k| {
                matches!(
                    k,
                    Kind::DepthMismatch {
                        expected: 1,
                        found: 0,
                        ..
                    }
                )
            },
        ),
        (
            "zip of other rows",
            call(|| x.zip_map(&x, |a, _| a.add(&NdArray::ones([3])?))),
            |k| matches!(k, Kind::Array(_)),
        ),
        ("sequence", call(|| x.sequence(0, 2)), |k| {
            matches!(
                k,
                Kind::SequenceOutOfRange {
                    found: 2,
                    count: 2,
                    ..
                }
            )
        }),
        ("slice", call(|| x.slice(0, 1..3)), |k| {
            matches!(
                k,
                Kind::RangeOutOfRange {
                    end: 3,
                    count: 2,
                    ..
                }
            )
        }),
        ("slice_rows", call(|| x.slice_rows(1..6)), |k| {
            matches!(
                k,
                Kind::RangeOutOfRange {
                    end: 6,
                    count: 5,
                    ..
                }
            )
        }),
        (
            "split plain",
            call(|| LodTensor::from(&rows).split(2)),
            |k| matches!(k, Kind::NoLod { .. }),
        ),
        ("concat nothing", call(|| LodTensor::concat(&[])), |k| {
            matches!(k, Kind::Array(_))
        }),
        (
            "from no sequences",
            call(|| LodTensor::from_sequences(&[])),
            |k| matches!(k, Kind::Array(_)),
        ),
        (
            "to_lists of another dtype",
            call(|| x.to_lists::<i64>(0)),
            |k| matches!(k, Kind::Array(_)),
        ),
    ]);
    let text = LodTensor::new(rows, lengths![[1], [2, 3]])
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with("level 0 adds up to 1 sequences, but level 1 has 2\n  --> "),
        "{text}"
    );
}

#[test]
fn an_array_of_a_closed_workspace_is_refused_by_every_kind_of_op() {
    let workspace = Workspace::new("LOOP");
    let stale = workspace
        .scope(|_| LodTensor::new(NdArray::ones([4, 2]).unwrap(), lengths![[1, 3]]).unwrap())
        .unwrap();
    let calls: Vec<(&str, Call<'_>)> = vec![
        (
            "pool",
            call(|| sequence::pool(&stale, PoolKind::Max, -1, 0)),
        ),
        ("softmax", call(|| sequence::softmax(&stale, -1))),
        ("reverse", call(|| sequence::reverse(&stale, -1))),
        (
            "context",
            call(|| sequence::context(&stale, Window::centered(3), None, -1)),
        ),
        ("pad", call(|| sequence::pad(&stale, 0, None, -1))),
        (
            "unpad",
            call(|| sequence::unpad(&stale.data().into(), &[1, 2, 0, 1])),
        ),
        ("concat", call(|| sequence::concat(&[&stale, &stale], -1))),
        (
            "slice",
            call(|| sequence::slice(&stale, &[0, 1], &[1, 1], -1)),
        ),
        ("expand", call(|| sequence::expand(&stale, &stale, -1))),
        (
            "expand_as",
            call(|| sequence::expand_as(&stale, &Lod::uniform(4, 2)?, -1)),
        ),
        ("reshape", call(|| sequence::reshape(&stale, 1))),
        ("map", call(|| stale.map(|rows| rows.add(1)))),
    ];
    for (label, call) in calls {
        let text = call().expect_err(label).to_string();
        assert!(
            text.contains("leaked workspace pointer from workspace [LOOP]"),
            "{label}: {text}"
        );
    }
    // What the LoD knows does not live in the workspace.
    assert_eq!(stale.recursive_sequence_lengths(), lengths![[1, 3]]);
    // Formatting fails as formatting does; it never shows stale memory.
    assert!(std::fmt::write(&mut String::new(), format_args!("{stale}")).is_err());
}

#[test]
fn handles_are_small_and_travel_between_threads() {
    fn travels<T: Send + Sync>() {}
    travels::<Lod>();
    travels::<LodTensor>();
    travels::<LodError>();
    assert_eq!(size_of::<LodError>(), 2 * size_of::<usize>());
}

#[test]
fn absurd_sizes_are_errors_and_not_crashes() {
    let x = LodTensor::new(NdArray::ones([4, 2]).unwrap(), lengths![[1, 3]]).unwrap();
    let ids = LodTensor::from_lists(&[vec![1i64], vec![2, 3]]).unwrap();
    let huge = [usize::MAX, usize::MAX / 2, isize::MAX as usize, 1 << 60];
    for n in huge {
        let calls: Vec<(&str, Call<'_>)> = vec![
            ("uniform", call(|| Lod::uniform(n, 0))),
            ("row ids", call(|| Lod::from_row_ids(&[], n))),
            ("repeat", call(|| sequence::repeat(&x, &[n, 0], 0))),
            (
                "repeat empty",
                call(|| Lod::from_lengths([0, 4])?.repeat(0, &[n, 0])),
            ),
            (
                "mask",
                call(|| sequence::mask(&NdArray::from([1i64]), Some(n), DType::Bool)),
            ),
            ("enumerate", call(|| sequence::enumerate(&ids, n, 0, -1))),
            ("pad", call(|| sequence::pad(&x, 0, Some(n), -1))),
            (
                "context",
                call(|| {
                    sequence::context(
                        &x,
                        Window {
                            start: 0,
                            length: n,
                        },
                        None,
                        -1,
                    )
                }),
            ),
            (
                "context padded",
                call(|| {
                    let padding = NdArray::ones([1, 2])?;
                    sequence::context(
                        &x,
                        Window {
                            start: 0,
                            length: n,
                        },
                        Some(&padding),
                        -1,
                    )
                }),
            ),
            ("reshape", call(|| sequence::reshape(&x, n))),
            ("slice", call(|| sequence::slice(&x, &[0, n], &[0, n], -1))),
            (
                "unpad",
                call(|| sequence::unpad(&x.drop_lod().into(), &[n; 4])),
            ),
            ("take", call(|| sequence::take(&x, &[n], -1))),
        ];
        for (label, call) in calls {
            assert!(call().is_err(), "{label} {n}");
        }
    }
    for start in [isize::MIN, isize::MIN + 1, isize::MAX - 1, isize::MAX] {
        let far = sequence::context(&x, Window { start, length: 2 }, None, -1).unwrap();
        assert_eq!(
            far.data().to_vec::<f32>().unwrap(),
            [0.0; 16],
            "start {start}"
        );
        let grad = NdArray::ones([4, 4]).unwrap();
        let (grad, _) =
            sequence::context_grad(&x, Window { start, length: 2 }, None, -1, &grad).unwrap();
        assert_eq!(grad.to_vec::<f32>().unwrap(), [0.0; 8], "start {start}");
        // Padding nobody can allocate, unless its rows hold nothing.
        let flat = LodTensor::new(NdArray::ones([4, 0]).unwrap(), lengths![[1, 3]]).unwrap();
        let window = Window { start, length: 2 };
        let (up, down) = window.padding();
        if let Ok(padding) = NdArray::zeros([up.saturating_add(down), 0]) {
            let outcome = sequence::context(&flat, window, Some(&padding), -1);
            assert!(outcome.is_err() || outcome.unwrap().data().is_empty());
        }
    }
}
