//! Sums of products against plain loops over all letters, in every layout; tensor products and chains.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod support;

use lodestride_array::{ArrayErrorKind, DType, NdArray, SubscriptsProblem, s};
use support::matrix::{combinations, in_layouts, inputs, layout_matrix, stretched_combinations};
use support::{counted, report};

/// Integers from -3 to 3 that look random.
fn numbers(shape: &[usize], seed: usize) -> NdArray {
    let n: usize = shape.iter().product();
    let value = |i: usize| {
        ((((i * 37 + seed * 53 + 7).wrapping_mul(2_654_435_761)) >> 13) % 7) as f64 - 3.0
    };
    NdArray::from_vec((0..n).map(value).collect::<Vec<_>>(), shape).unwrap()
}

/// The definition: one loop over every value of every letter. Letters only, with an arrow.
fn by_loops(subscripts: &str, operands: &[NdArray]) -> (Vec<usize>, Vec<f64>) {
    let (inputs, output) = subscripts.split_once("->").unwrap();
    let terms: Vec<&str> = inputs.split(',').collect();
    let mut letters: Vec<char> = output.chars().collect();
    for letter in inputs.chars().filter(|c| c.is_alphabetic()) {
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    let size = |letter: char| {
        let sizes = terms.iter().zip(operands).flat_map(|(term, operand)| {
            term.chars()
                .zip(operand.shape().to_vec())
                .filter(|(c, _)| *c == letter)
                .map(|(_, size)| size)
        });
        sizes.fold(1, |all, size| if size == 1 { all } else { size })
    };
    let sizes: Vec<usize> = letters.iter().map(|&letter| size(letter)).collect();
    let shape = sizes[..output.len()].to_vec();
    let mut result = vec![0.0; shape.iter().product()];
    let total: usize = sizes.iter().product();
    let values: Vec<Vec<f64>> = operands
        .iter()
        .map(|operand| operand.to_f64_vec().unwrap())
        .collect();
    for flat in 0..total {
        let mut position = vec![0; sizes.len()];
        let mut rest = flat;
        for axis in (0..sizes.len()).rev() {
            position[axis] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        let mut product = 1.0;
        for ((term, operand), values) in terms.iter().zip(operands).zip(&values) {
            let place =
                term.chars()
                    .zip(operand.shape().to_vec())
                    .fold(0, |place, (letter, size)| {
                        let at = letters.iter().position(|&c| c == letter).unwrap();
                        place * size + if size == 1 { 0 } else { position[at] }
                    });
            product *= values[place];
        }
        let place = (0..output.len()).fold(0, |place, axis| place * sizes[axis] + position[axis]);
        result[place] += product;
    }
    (shape, result)
}

/// Equal; in f16, whose results of long chains round, to its last place.
fn close(dtype: DType, got: &[f64], expected: &[f64]) -> bool {
    let tolerance = if dtype == DType::F16 {
        f64::exp2(-10.0)
    } else {
        0.0
    };
    let same = |(x, y): (&f64, &f64)| (x - y).abs() <= tolerance * y.abs();
    got.len() == expected.len() && got.iter().zip(expected).all(same)
}

/// Subscripts, the same with letters and an arrow where they differ, and the operands' shapes.
const CASES: &[(&str, &str, &[&[usize]])] = &[
    ("ij,jk->ik", "", &[&[3, 4], &[4, 5]]),
    ("ij,jk", "ij,jk->ik", &[&[3, 4], &[4, 5]]),
    ("ba", "ba->ab", &[&[2, 3]]),
    ("i,i", "i,i->", &[&[7], &[7]]),
    ("i,j->ij", "", &[&[3], &[4]]),
    ("ij->", "", &[&[3, 4]]),
    ("ij->j", "", &[&[3, 4]]),
    ("ii", "ii->", &[&[4, 4]]),
    ("ii->i", "", &[&[4, 4]]),
    ("iij->ij", "", &[&[3, 3, 2]]),
    ("iji->j", "", &[&[3, 2, 3]]),
    ("iii->i", "", &[&[3, 3, 3]]),
    ("ijij->ij", "", &[&[2, 3, 2, 3]]),
    ("ij,ij->ij", "", &[&[3, 4], &[3, 4]]),
    ("ij,ij->i", "", &[&[3, 4], &[3, 4]]),
    ("ij,ij", "ij,ij->", &[&[3, 4], &[3, 4]]),
    ("ij,ji->", "", &[&[3, 4], &[4, 3]]),
    ("bij,bjk->bik", "", &[&[2, 3, 4], &[2, 4, 5]]),
    ("bhqd,bhkd->bhqk", "", &[&[2, 2, 3, 4], &[2, 2, 5, 4]]),
    ("bqhd,bkhd->bhqk", "", &[&[2, 3, 2, 4], &[2, 5, 2, 4]]),
    ("bi,bij->bj", "", &[&[2, 3], &[2, 3, 4]]),
    ("ijk,jil->kl", "", &[&[3, 4, 5], &[4, 3, 2]]),
    ("ij,kl->ijkl", "", &[&[2, 3], &[2, 2]]),
    ("ij,kj->ki", "", &[&[3, 4], &[2, 4]]),
    ("ij,kl->jk", "", &[&[2, 3], &[2, 2]]),
    ("ij,jk,kl->il", "", &[&[2, 3], &[3, 4], &[4, 2]]),
    ("ij,ij,ij->ij", "", &[&[2, 3], &[2, 3], &[2, 3]]),
    ("i,ij,j->", "", &[&[3], &[3, 4], &[4]]),
    (
        "ea,fb,abcd,gc,hd->efgh",
        "",
        &[&[2, 3], &[2, 2], &[3, 2, 2, 2], &[3, 2], &[2, 2]],
    ),
    (
        "a,b,c,d,e,f,g,h,i->",
        "",
        &[&[2], &[1], &[2], &[1], &[2], &[1], &[2], &[1], &[2]],
    ),
    (
        "ab,bc,cd,de,ef,fg,gh,hi,ij->aj",
        "",
        &[
            &[2, 3],
            &[3, 2],
            &[2, 3],
            &[3, 1],
            &[1, 2],
            &[2, 2],
            &[2, 3],
            &[3, 2],
            &[2, 2],
        ],
    ),
    ("...i,...i->...", "abi,abi->ab", &[&[2, 3, 4], &[2, 3, 4]]),
    (
        "...ij,...jk->...ik",
        "abij,bjk->abik",
        &[&[2, 3, 2, 4], &[3, 4, 2]],
    ),
    (
        "...ij,...jk",
        "abij,bjk->abik",
        &[&[2, 1, 2, 4], &[3, 4, 2]],
    ),
    ("i...->...", "iab->ab", &[&[2, 3, 4]]),
    ("i...j->j...i", "iabj->jabi", &[&[2, 3, 2, 4]]),
    ("...", "ab->ab", &[&[2, 3]]),
    ("...,...", "ab,b->ab", &[&[2, 3], &[3]]),
    ("...i,i", "abi,i->ab", &[&[2, 2, 3], &[3]]),
    ("ij,ij", "ij,ij->", &[&[2, 1], &[2, 3]]),
    ("ij,j->i", "", &[&[2, 3], &[1]]),
    ("ij,ij->j", "", &[&[1, 3], &[2, 3]]),
    ("ij -> j i", "ij->ji", &[&[2, 3]]),
    ("aB", "aB->Ba", &[&[2, 3]]),
    (",", ",->", &[&[], &[]]),
    ("", "->", &[&[]]),
    (",ij", ",ij->ij", &[&[], &[2, 3]]),
    ("ij,jk->ik", "", &[&[2, 0], &[0, 3]]),
    ("ij,jk->ik", "", &[&[0, 2], &[2, 3]]),
    ("ij,ij->i", "", &[&[2, 0], &[2, 0]]),
];

/// Why a sum of products is not what it should be, if it is not.
fn fault(
    subscripts: &str,
    given: &[&NdArray],
    shape: &[usize],
    expected: &[f64],
) -> Option<String> {
    let dtype = given[0].dtype();
    let wrapped: Vec<f64> = match dtype {
        DType::I8 => (expected.iter())
            .map(|&x| f64::from(x as i64 as i8))
            .collect(),
        _ => expected.to_vec(),
    };
    match NdArray::einsum(subscripts, given) {
        Ok(got)
            if got.shape()[..] == *shape
                && close(dtype, &got.to_f64_vec().unwrap(), &wrapped)
                && got.dtype() == dtype =>
        {
            let shared = given.iter().any(|x| x.shares_memory(&got)) || got.is_view();
            shared.then(|| format!("{subscripts}: a view of its operand"))
        }
        other => Some(format!(
            "{subscripts} {dtype}: {other:?}\n expected {shape:?} {expected:?}"
        )),
    }
}

#[test]
fn sums_of_products_are_their_definition() {
    let (mut checked, mut failed) = (0, Vec::new());
    for (subscripts, plain, shapes) in CASES {
        let operands: Vec<NdArray> = shapes
            .iter()
            .enumerate()
            .map(|(i, shape)| numbers(shape, i))
            .collect();
        let definition = if plain.is_empty() { subscripts } else { plain };
        let (shape, expected) = by_loops(definition, &operands);
        for dtype in [DType::F64, DType::F32, DType::F16, DType::I32, DType::I8] {
            let operands = operands.iter().map(|x| x.cast(dtype).unwrap());
            let operands: Vec<NdArray> = operands.collect();
            let operands: Vec<&NdArray> = operands.iter().collect();
            let run = &mut |layouts: &str, given: &[&NdArray]| {
                checked += 1;
                let fault = fault(subscripts, given, &shape, &expected);
                failed.extend(fault.map(|fault| format!("{layouts}: {fault}")));
            };
            combinations(&operands, run).unwrap();
            let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
                checked += 1;
                let plain: Vec<NdArray> = plain.iter().map(|&x| x.clone()).collect();
                let (shape, expected) = by_loops(definition, &plain);
                let fault = fault(subscripts, given, &shape, &expected);
                failed.extend(fault.map(|fault| format!("{layouts}: {fault}")));
            };
            stretched_combinations(&operands, run).unwrap();
        }
    }
    report(checked, &failed);
    assert!(checked > 8000, "{checked}");
}

#[test]
fn dtypes_promote_and_bools_are_masks() {
    let (ints, floats) = (
        NdArray::from([1i32, 2, 3]),
        NdArray::from([0.5f32, 0.5, 1.0]),
    );
    let sum = NdArray::einsum("i,i", &[&ints, &floats]).unwrap();
    assert_eq!((sum.dtype(), sum.item::<f64>().unwrap()), (DType::F64, 4.5));
    let mask = NdArray::from([[true, false], [true, true]]);
    for (subscripts, expected) in [
        ("ij,jk->ik", &[true, false, true, true][..]),
        ("ij->i", &[true, true]),
        ("ij,ij->ij", &[true, false, true, true]),
    ] {
        let count = subscripts.matches(',').count() + 1;
        let got = NdArray::einsum(subscripts, &vec![&mask; count]).unwrap();
        assert_eq!(got.to_vec::<bool>().unwrap(), expected, "{subscripts}");
    }
    // Integers wrap as if every step were in their dtype.
    let bytes = NdArray::full_of(DType::U8, [300], 7).unwrap();
    assert_eq!(
        NdArray::einsum("i,i", &[&bytes, &bytes])
            .unwrap()
            .item::<u8>()
            .unwrap(),
        (300 * 49 % 256) as u8
    );
}

#[test]
fn the_cheapest_order_is_taken() {
    let sizes = |sizes: &[usize]| NdArray::zeros(sizes).unwrap();
    let chain = [sizes(&[10, 100]), sizes(&[100, 5]), sizes(&[5, 50])];
    let path = NdArray::einsum_path("ij,jk,kl", &chain.each_ref()).unwrap();
    assert_eq!((path.steps, path.products), (vec![[0, 1], [2, 3]], 7500.0));
    let chain = [sizes(&[50, 5]), sizes(&[5, 100]), sizes(&[100, 10])];
    let path = NdArray::einsum_path("ij,jk,kl", &chain.each_ref()).unwrap();
    assert_eq!((path.steps, path.products), (vec![[1, 2], [0, 3]], 7500.0));
    // Long chains go greedily, and still end with a vector in the middle of everything.
    let (matrix, vector) = (sizes(&[20, 20]), sizes(&[20]));
    let subscripts = "ab,bc,cd,de,ef,fg,gh,hi,ij,j->a";
    let mut operands = vec![&matrix; 9];
    operands.push(&vector);
    let path = NdArray::einsum_path(subscripts, &operands).unwrap();
    assert_eq!((path.steps.len(), path.products), (9, 9.0 * 400.0));
}

#[test]
fn bad_subscripts_are_typed_errors() {
    use SubscriptsProblem as P;
    let matrix = NdArray::ones([2, 3]).unwrap();
    let vector = NdArray::ones([3]).unwrap();
    let turned = matrix.transpose();
    let cases: Vec<(&str, Vec<&NdArray>, P)> = vec![
        ("...i->i", vec![&matrix], P::LostEllipsis),
        ("i->ii", vec![&vector], P::RepeatedOutput { letter: 'i' }),
        ("i->j", vec![&vector], P::UnknownOutput { letter: 'j' }),
        (
            "i.j",
            vec![&matrix],
            P::Character {
                found: '.',
                position: 1,
            },
        ),
        (
            "...i...",
            vec![&matrix],
            P::Character {
                found: '.',
                position: 4,
            },
        ),
        (
            "ij-ji",
            vec![&matrix],
            P::Character {
                found: '-',
                position: 2,
            },
        ),
        (
            "ij->i->j",
            vec![&matrix],
            P::Character {
                found: '-',
                position: 5,
            },
        ),
        (
            "ij->i,j",
            vec![&matrix],
            P::Character {
                found: ',',
                position: 5,
            },
        ),
        (
            "i1",
            vec![&matrix],
            P::Character {
                found: '1',
                position: 1,
            },
        ),
        (
            "ié",
            vec![&matrix],
            P::Character {
                found: 'é',
                position: 1,
            },
        ),
        (
            "i",
            vec![&matrix],
            P::Rank {
                operand: 0,
                letters: 1,
                rank: 2,
            },
        ),
        (
            "i,ijk",
            vec![&vector, &matrix],
            P::Rank {
                operand: 1,
                letters: 3,
                rank: 2,
            },
        ),
        (
            "...ijk",
            vec![&matrix],
            P::Rank {
                operand: 0,
                letters: 3,
                rank: 2,
            },
        ),
        (
            "ij",
            vec![&matrix, &matrix],
            P::Operands {
                described: 1,
                given: 2,
            },
        ),
        (
            "ij",
            vec![],
            P::Operands {
                described: 1,
                given: 0,
            },
        ),
        (
            "ij,jk",
            vec![&matrix, &matrix],
            P::Size {
                letter: 'j',
                operand: 1,
                size: 2,
                expected: 3,
            },
        ),
        (
            "ii",
            vec![&matrix],
            P::Size {
                letter: 'i',
                operand: 0,
                size: 3,
                expected: 2,
            },
        ),
        (
            "...,...",
            vec![&matrix, &turned],
            P::Size {
                letter: '.',
                operand: 1,
                size: 3,
                expected: 2,
            },
        ),
    ];
    for (subscripts, operands, expected) in cases {
        let error = NdArray::einsum(subscripts, &operands).unwrap_err();
        let ArrayErrorKind::Subscripts { problem, .. } = error.kind() else {
            panic!("{subscripts}: {error}")
        };
        assert_eq!(*problem, expected, "{subscripts}");
        assert!(
            error.location().file().ends_with("tests/einsum.rs"),
            "{error}"
        );
    }
    // NumPy refuses this too, though a size of 1 stretches elsewhere.
    assert!(NdArray::einsum("ii", &[&NdArray::ones([1, 3]).unwrap()]).is_err());
}

#[test]
fn tensor_products() {
    // ND4J's own test.
    let a = counted(&[3, 4, 5]);
    let b = counted(&[4, 3, 2]);
    let expected = NdArray::from([
        [4400.0f32, 4730.0],
        [4532.0, 4874.0],
        [4664.0, 5018.0],
        [4796.0, 5162.0],
        [4928.0, 5306.0],
    ]);
    let run = &mut |layouts: &str, [a, b]: [&NdArray; 2]| {
        for axes in [([1, 0], [0, 1]), ([-2, -3], [0, 1])] {
            assert_eq!(a.tensordot(b, axes).unwrap(), expected, "{layouts}");
        }
    };
    in_layouts([&a, &b], run).unwrap();
    let x = numbers(&[2, 3, 4], 1);
    type Product = fn(&NdArray, &NdArray) -> lodestride_array::Result<NdArray>;
    let cases: [(Product, &str, NdArray); 4] = [
        (|x, y| x.tensordot(y, 1), "ijk,kl->ijl", numbers(&[4, 5], 2)),
        (|x, y| x.tensordot(y, 2), "ijk,jk->i", numbers(&[3, 4], 2)),
        (|x, y| x.tensordot(y, 0), "ijk,l->ijkl", numbers(&[2], 2)),
        (
            |x, y| x.tensordot(y, ([2, 0], [2, 0])),
            "ijk,ilk->jl",
            x.clone(),
        ),
    ];
    for (product, subscripts, y) in cases {
        let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
            let plain = [plain[0].clone(), plain[1].clone()];
            let (shape, expected) = by_loops(subscripts, &plain);
            let got = product(given[0], given[1]).unwrap();
            assert_eq!(
                (&got.shape()[..], got.to_f64_vec().unwrap()),
                (&shape[..], expected),
                "{subscripts}, {layouts}"
            );
        };
        stretched_combinations(&[&x, &y], run).unwrap();
        combinations(&[&x, &y], &mut |layouts, given| {
            run(layouts, given, &[&x, &y])
        })
        .unwrap();
    }
    let none: [isize; 0] = [];
    assert_eq!(x.tensordot(&x, (none, none)).unwrap().rank(), 6);
    for bad in [
        x.tensordot(&x, 1),
        x.tensordot(&x, 4),
        x.tensordot(&x, ([0, 1], [0])),
        x.tensordot(&x, ([3], [0])),
        x.tensordot(&x, ([0, 0], [0, 0])),
    ] {
        assert!(matches!(
            bad.unwrap_err().kind(),
            ArrayErrorKind::Operands { .. } | ArrayErrorKind::Shape { .. }
        ));
    }
}

#[test]
fn other_products() {
    let (x, y) = (numbers(&[2, 3], 1), numbers(&[2, 2], 2));
    let run = &mut |name: &str, given: &[&NdArray], plain: &[&NdArray]| {
        let product = given[0].kron(given[1]).unwrap();
        assert_eq!(product.shape()[..], [4, 6]);
        let at = |of: usize, i: usize, j: usize| plain[of].get_f64([i, j]).unwrap();
        for (i, j) in (0..4).flat_map(|i| (0..6).map(move |j| (i, j))) {
            let expected = at(0, i / 2, j / 2) * at(1, i % 2, j % 2);
            assert_eq!(product.get_f64([i, j]).unwrap(), expected, "{name}");
        }
    };
    stretched_combinations(&[&x, &y], run).unwrap();
    combinations(&[&x, &y], &mut |name, given| run(name, given, &[&x, &y])).unwrap();
    assert_eq!(
        NdArray::scalar(2.0f64).unwrap().kron(&y).unwrap(),
        y.mul(2.0).unwrap()
    );
    assert_eq!(
        numbers(&[2], 1).kron(&numbers(&[3, 2], 1)).unwrap().shape()[..],
        [3, 4]
    );
    assert_eq!(
        x.inner(&numbers(&[4, 3], 3)).unwrap(),
        NdArray::einsum("ij,kj", &[&x, &numbers(&[4, 3], 3)]).unwrap()
    );
    assert_eq!(
        x.inner(&NdArray::scalar(2.0f64).unwrap()).unwrap(),
        x.mul(2.0).unwrap()
    );
    assert!(x.inner(&y).is_err() && x.vdot(&y).is_err());
    assert_eq!(
        x.vdot(&x.transpose().dup().unwrap().reshape([6]).unwrap())
            .unwrap()
            .rank(),
        0
    );
    let (a, b) = (numbers(&[4, 1, 3], 4), numbers(&[5, 3], 5));
    // Perpendicular to both, and as long as Lagrange says.
    let dot = |x: &NdArray, y: &NdArray| x.mul(y).unwrap().sum(-1).unwrap();
    let run = &mut |name: &str, given: &[&NdArray], plain: &[&NdArray]| {
        let (product, a, b) = (given[0].cross(given[1]).unwrap(), plain[0], plain[1]);
        assert_eq!(product.shape()[..], [4, 5, 3]);
        let right_angle = |x| dot(&product, x).equal(0).unwrap().all_true().unwrap();
        assert!(right_angle(a) && right_angle(b), "{name}");
        let expected = &(&dot(a, a) * &dot(b, b)) - &(&dot(a, b) * &dot(a, b));
        assert_eq!(dot(&product, &product), expected, "{name}");
    };
    stretched_combinations(&[&a, &b], run).unwrap();
    combinations(&[&a, &b], &mut |name, given| run(name, given, &[&a, &b])).unwrap();
    assert!(
        a.cross(&NdArray::ones([2]).unwrap()).is_err()
            && a.cross(&NdArray::ones([2, 5, 3]).unwrap()).is_err()
    );
    let batch = numbers(&[2, 3, 3], 6);
    for (name, batch, plain) in inputs(&batch).unwrap() {
        let diagonal = |b: usize| (0..3).map(move |i| [b, i, i]);
        let sum = |b| diagonal(b).map(|at| plain.get_f64(at).unwrap()).sum();
        let expected: Vec<f64> = (0..2).map(sum).collect();
        assert_eq!(
            batch.trace().unwrap().to_f64_vec().unwrap(),
            expected,
            "{name}"
        );
    }
    assert_eq!(
        x.trace().unwrap().item::<f64>().unwrap(),
        x.get_f64([0, 0]).unwrap() + x.get_f64([1, 1]).unwrap()
    );
    assert!(NdArray::ones([3]).unwrap().trace().is_err());
}

#[test]
fn powers_and_chains() {
    let batch = numbers(&[2, 3, 3], 1);
    let mut expected = NdArray::eye_of(DType::F64, 3)
        .unwrap()
        .broadcast_to([2, 3, 3])
        .unwrap()
        .dup()
        .unwrap();
    for exponent in 0..12 {
        for (name, view) in layout_matrix(&batch).unwrap() {
            let got = view.matrix_power(exponent).unwrap();
            assert_eq!(got, expected, "{exponent} {name}");
            assert!(!got.shares_memory(&view));
        }
        expected = expected.matmul(&batch).unwrap();
    }
    assert!(numbers(&[2, 3], 1).matrix_power(2).is_err());
    assert_eq!(
        NdArray::zeros([0, 0])
            .unwrap()
            .matrix_power(3)
            .unwrap()
            .shape()[..],
        [0, 0]
    );

    let [a, b, c] = [[2, 3], [3, 4], [4, 2]].map(|shape| numbers(&shape, 1));
    let [v, w] = [2, 2].map(|n| numbers(&[n], 2));
    let by_hand = |arrays: &[&NdArray]| {
        arrays[1..]
            .iter()
            .fold(arrays[0].clone(), |all, x| all.matmul(x).unwrap())
    };
    let long: Vec<&NdArray> = [&a, &b, &c].into_iter().cycle().take(12).collect();
    let chains: [&[&NdArray]; 7] = [
        &[&a],
        &[&a, &b],
        &[&a, &b, &c],
        &[&v, &a, &b, &c],
        &[&a, &b, &c, &w],
        &[&v, &a, &b, &c, &w],
        &long,
    ];
    for chain in chains {
        let expected = by_hand(chain);
        let run = &mut |layouts: &str, given: &[&NdArray]| {
            let got = NdArray::multi_dot(given).unwrap();
            assert_eq!(
                (got.shape(), got.to_f64_vec().unwrap()),
                (expected.shape(), expected.to_f64_vec().unwrap()),
                "{layouts}"
            );
        };
        combinations(chain, run).unwrap();
    }
    let eye = NdArray::eye(2).unwrap();
    assert_eq!(NdArray::multi_dot(&[&eye; 300]).unwrap(), eye);
    assert!(matches!(
        NdArray::multi_dot(&[&a, &a]).unwrap_err().kind(),
        ArrayErrorKind::MatrixProduct { .. }
    ));
    assert!(matches!(
        NdArray::multi_dot(&[]).unwrap_err().kind(),
        ArrayErrorKind::Empty { .. }
    ));
    assert!(matches!(
        NdArray::multi_dot(&[&a, &v, &a]).unwrap_err().kind(),
        ArrayErrorKind::Form { .. }
    ));
    let part = counted(&[6, 6]).get(&s![1..4, ..;2]).unwrap();
    assert_eq!(NdArray::multi_dot(&[&part]).unwrap(), part);
}
