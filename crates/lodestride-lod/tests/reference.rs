//! The sequence ops on random batches against the same ops written over plain nested lists.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_lod::sequence::{self, PoolKind, Window};
use lodestride_lod::{DType, Lengths, Lod, LodTensor, NdArray};
use proptest::prelude::*;

type Row = [f64; 2];
/// Texts of sentences of rows.
type Batch = Vec<Vec<Vec<Row>>>;

fn batch() -> impl Strategy<Value = Batch> {
    let number = (-8i32..=8).prop_map(|n| f64::from(n) / 4.0);
    let row = (number.clone(), number).prop_map(|(a, b)| [a, b]);
    let sentence = prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec(row.clone(), 1),
        proptest::collection::vec(row, 2..6)
    ];
    proptest::collection::vec(proptest::collection::vec(sentence, 0..4), 0..5)
}

fn tensor(batch: &Batch) -> LodTensor {
    LodTensor::from_lists(batch).unwrap()
}

fn lod_of(batch: &Batch) -> Lod {
    tensor(batch).lod().clone()
}

/// The rows of every sequence of a level.
fn groups(batch: &Batch, level: isize) -> Vec<Vec<Row>> {
    match level {
        0 => batch.iter().map(|text| text.concat()).collect(),
        _ => batch.concat(),
    }
}

fn flat(rows: impl IntoIterator<Item = Row>) -> Vec<f64> {
    rows.into_iter().flatten().collect()
}

/// Equal up to the rounding of sums in another order.
fn assert_close(found: &NdArray, expected: &[f64]) -> Result<(), TestCaseError> {
    let found = found.to_vec::<f64>().unwrap();
    prop_assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        prop_assert!(
            (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
            "{} against {}",
            found,
            expected
        );
    }
    Ok(())
}

fn pooled(rows: &[Row], kind: PoolKind, pad: f64) -> Row {
    if rows.is_empty() {
        return [pad; 2];
    }
    let fold =
        |f: fn(f64, f64) -> f64| [0, 1].map(|c| rows.iter().map(|row| row[c]).reduce(f).unwrap());
    let n = rows.len() as f64;
    match kind {
        PoolKind::Sum => fold(|a, b| a + b),
        PoolKind::Average => fold(|a, b| a + b).map(|sum| sum / n),
        PoolKind::Sqrt => fold(|a, b| a + b).map(|sum| sum / n.sqrt()),
        PoolKind::Max => fold(f64::max),
        PoolKind::Min => fold(f64::min),
        PoolKind::First => rows[0],
        PoolKind::Last => rows[rows.len() - 1],
    }
}

proptest! {
    #[test]
    fn lists_there_and_back(batch in batch()) {
        let x = tensor(&batch);
        prop_assert_eq!(x.lod_level(), 2);
        let texts: Vec<Vec<f64>> = groups(&batch, 0).into_iter().map(flat).collect();
        prop_assert_eq!(x.to_lists::<f64>(0).unwrap(), texts);
        let sentences: Vec<Vec<f64>> = groups(&batch, 1).into_iter().map(flat).collect();
        prop_assert_eq!(x.to_lists::<f64>(-1).unwrap(), sentences);
        // Each text on its own, then together again.
        let texts = x.sequences(0).unwrap();
        if !texts.is_empty() {
            let again = LodTensor::from_sequences(&texts.iter().collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(again.lod(), x.lod());
            prop_assert_eq!(again.data().to_vec::<f64>().unwrap(), x.data().to_vec::<f64>().unwrap());
        }
        for parts in 1..4 {
            let parts = x.split(parts).unwrap();
            prop_assert!(parts.iter().all(|part| part.data().is_empty() || part.data().shares_memory(x.data())));
            let joined = LodTensor::concat(&parts.iter().collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(joined.lod(), x.lod());
        }
    }

    #[test]
    fn pool(batch in batch()) {
        let x = tensor(&batch);
        for level in 0..2 {
            for kind in PoolKind::ALL {
                let out = sequence::pool(&x, kind, level, -3.5).unwrap();
                prop_assert_eq!(out.lod(), &x.lod().above(level).unwrap());
                let expected = groups(&batch, level).into_iter().map(|rows| pooled(&rows, kind, -3.5));
                assert_close(out.data(), &flat(expected))?;
            }
            let (out, index) = sequence::pool_with_index(&x, PoolKind::Max, level, 0.0).unwrap();
            let rows = x.data().to_vec::<f64>().unwrap();
            for (place, index) in index.to_vec::<i64>().unwrap().into_iter().enumerate() {
                let value = if index < 0 { 0.0 } else { rows[index as usize * 2 + place % 2] };
                prop_assert_eq!(out.data().to_vec::<f64>().unwrap()[place], value);
            }
        }
    }

    #[test]
    fn softmax(batch in batch()) {
        let x = tensor(&batch);
        for level in 0..2 {
            let out = sequence::softmax(&x, level).unwrap();
            prop_assert!(out.lod().is_same(x.lod()));
            let expected = groups(&batch, level).into_iter().flat_map(|rows| {
                let sums = [0, 1].map(|c| rows.iter().map(|row| row[c].exp()).sum::<f64>());
                rows.into_iter().map(move |row| [row[0].exp() / sums[0], row[1].exp() / sums[1]])
            });
            assert_close(out.data(), &flat(expected))?;
        }
    }

    #[test]
    fn reverse(batch in batch()) {
        let texts: Batch = batch.iter().map(|text| text.iter().rev().cloned().collect()).collect();
        let x = sequence::reverse(&tensor(&batch), 0).unwrap();
        prop_assert_eq!(x.lod(), &lod_of(&texts));
        assert_close(x.data(), &flat(texts.concat().concat()))?;
        let x = sequence::reverse(&tensor(&batch), 1).unwrap();
        let expected = batch.concat().into_iter().flat_map(|s| s.into_iter().rev().collect::<Vec<_>>());
        assert_close(x.data(), &flat(expected))?;
    }

    #[test]
    fn context(batch in batch(), start in -6isize..6, length in 1usize..5) {
        let x = tensor(&batch);
        let window = Window { start, length };
        let (up, down) = window.padding();
        let padding: Vec<Row> = (0..up + down).map(|i| [100.0 + i as f64, 200.0 + i as f64]).collect();
        let array = NdArray::from_vec(flat(padding.clone()), [up + down, 2]).unwrap();
        for level in 0..2 {
            for padded in [false, true] {
                let out = sequence::context(&x, window, padded.then_some(&array), level).unwrap();
                let expected = groups(&batch, level).into_iter().flat_map(|rows| {
                    let padding = &padding;
                    (0..rows.len() as isize).flat_map(|t| (0..length as isize).map(move |k| t + start + k)).map(move |at| {
                        let outside = |place: isize| if padded { padding[place as usize] } else { [0.0; 2] };
                        match at {
                            at if at < 0 => outside(up as isize + at),
                            at if at < rows.len() as isize => rows[at as usize],
                            at => outside(up as isize + at - rows.len() as isize),
                        }
                    }).collect::<Vec<_>>()
                });
                assert_close(out.data(), &flat(expected))?;
            }
        }
    }

    #[test]
    fn conv(batch in batch(), start in -2isize..2, length in 1usize..4) {
        let x = tensor(&batch);
        let window = Window { start, length };
        let filter: Vec<f64> = (0..length * 2 * 3).map(|i| (i % 5) as f64 - 2.0).collect();
        let array = NdArray::from_vec(filter.clone(), [length * 2, 3]).unwrap();
        let out = sequence::conv(&x, &array, window, None, -1).unwrap();
        let windows = sequence::context(&x, window, None, -1).unwrap().data().to_vec::<f64>().unwrap();
        let expected: Vec<f64> = windows.chunks(length * 2).flat_map(|w| {
            let filter = &filter;
            (0..3).map(move |m| w.iter().enumerate().map(|(i, v)| v * filter[i * 3 + m]).sum())
        }).collect();
        assert_close(out.data(), &expected)?;
    }

    #[test]
    fn pad_and_unpad(batch in batch(), spare in 0usize..3) {
        let x = tensor(&batch);
        for level in 0..2 {
            let rows = groups(&batch, level);
            let steps = rows.iter().map(Vec::len).max().unwrap_or(0) + spare;
            let maxlen = if spare == 0 { None } else { Some(steps) };
            let value = NdArray::from([7.0f64, -7.0]);
            let padded = sequence::pad(&x, &value, maxlen, level).unwrap();
            prop_assert_eq!(&padded.data.shape()[..], &[rows.len(), steps, 2][..]);
            let expected = rows.iter().flat_map(|rows| (0..steps).map(|t| rows.get(t).copied().unwrap_or([7.0, -7.0])));
            assert_close(padded.data.data(), &flat(expected))?;
            let lengths = sequence::counts(&padded.lengths).unwrap();
            prop_assert_eq!(&lengths, &rows.iter().map(Vec::len).collect::<Vec<_>>());
            let back = sequence::unpad(&padded.data, &lengths).unwrap();
            prop_assert_eq!(back.data().to_vec::<f64>().unwrap(), x.data().to_vec::<f64>().unwrap());
            if level == 1 {
                prop_assert_eq!(back.lod(), x.lod());
            }
            if steps > spare {
                prop_assert!(sequence::pad(&x, 0, Some(steps - spare - 1), level).is_err());
            }
        }
    }

    #[test]
    fn concat(batch in batch()) {
        let x = tensor(&batch);
        let other: Batch = batch.iter().map(|text| text.iter().rev().cloned().collect()).collect();
        let joined: Batch = batch.iter().zip(&other).map(|(a, b)| [&a[..], &b[..]].concat()).collect();
        let found = sequence::concat(&[&x, &tensor(&other)], 0).unwrap();
        prop_assert_eq!(found.lod(), &lod_of(&joined));
        assert_close(found.data(), &flat(joined.concat().concat()))?;
        let doubled: Batch = batch.iter().map(|text| text.iter().map(|s| [&s[..], &s[..]].concat()).collect()).collect();
        let found = sequence::concat(&[&x, &x], -1).unwrap();
        prop_assert_eq!(found.lod(), &lod_of(&doubled));
        assert_close(found.data(), &flat(doubled.concat().concat()))?;
    }

    #[test]
    fn slice_and_take(batch in batch(), picks in proptest::collection::vec(0usize..9, 0..5)) {
        let x = tensor(&batch);
        let lengths: Vec<usize> = batch.iter().map(Vec::len).collect();
        let (starts, sizes): (Vec<usize>, Vec<usize>) = lengths.iter().map(|n| (n / 3, n - n / 2 - n / 3)).unzip();
        let cut: Batch = batch.iter().zip(starts.iter().zip(&sizes)).map(|(text, (&a, &n))| text[a..a + n].to_vec()).collect();
        let found = sequence::slice(&x, &starts, &sizes, 0).unwrap();
        prop_assert_eq!(found.lod(), &lod_of(&cut));
        assert_close(found.data(), &flat(cut.concat().concat()))?;
        if !batch.is_empty() {
            let picks: Vec<usize> = picks.into_iter().map(|p| p % batch.len()).collect();
            let chosen: Batch = picks.iter().map(|&p| batch[p].clone()).collect();
            let found = sequence::take(&x, &picks, 0).unwrap();
            prop_assert_eq!(found.lod(), &lod_of(&chosen));
            assert_close(found.data(), &flat(chosen.concat().concat()))?;
        }
    }

    #[test]
    fn steps(batch in batch()) {
        let x = tensor(&batch);
        for level in 0..2 {
            let steps = sequence::to_steps(&x, level).unwrap();
            let lengths: Vec<usize> = x.lod().lengths_of(level).unwrap().collect();
            let ranked: Vec<usize> = steps.order().iter().map(|&i| lengths[i]).collect();
            prop_assert!(ranked.windows(2).all(|pair| pair[0] >= pair[1]));
            for (t, step) in steps.steps().iter().enumerate() {
                prop_assert_eq!(steps.active(t), ranked.iter().filter(|&&n| n > t).count());
                if level == 1 {
                    let sentences = batch.concat();
                    let expected = steps.order()[..steps.active(t)].iter().map(|&i| sentences[i][t]);
                    assert_close(step.data(), &flat(expected))?;
                }
            }
            let back = sequence::from_steps(&steps).unwrap();
            prop_assert_eq!(back.lod(), x.lod());
            prop_assert_eq!(back.data().to_vec::<f64>().unwrap(), x.data().to_vec::<f64>().unwrap());
            prop_assert_eq!(back.shape(), x.shape());
            // A network's answers to the steps come back in the places of its questions.
            let doubled = steps.steps().iter().map(|step| step.map(|rows| rows.mul(2.0)).unwrap()).collect();
            let answers = sequence::from_steps(&steps.with_steps(doubled).unwrap()).unwrap();
            prop_assert_eq!(answers.data().to_vec::<f64>().unwrap(), x.data().mul(2.0).unwrap().to_vec::<f64>().unwrap());
            if !steps.steps().is_empty() {
                prop_assert!(steps.with_steps(Vec::new()).is_err());
            }
        }
    }

    #[test]
    fn expand_and_expand_as(batch in batch()) {
        let (x, lod) = (tensor(&batch), tensor(&batch).lod().clone());
        // Every text as often as it has sentences.
        let found = sequence::expand(&x, &lod, 0).unwrap();
        let expected: Batch = batch.iter().flat_map(|text| std::iter::repeat_n(text.clone(), text.len())).collect();
        prop_assert_eq!(found.lod(), &lod_of(&expected));
        assert_close(found.data(), &flat(expected.concat().concat()))?;
        for level in 0..2 {
            let rows = groups(&batch, level);
            let ids: Vec<f64> = (0..rows.len()).map(|i| i as f64).collect();
            let ids = LodTensor::from(NdArray::from_vec(ids, [rows.len(), 1]).unwrap());
            let found = sequence::expand_as(&ids, &x, level).unwrap();
            prop_assert!(found.lod().is_same(x.lod()));
            let expected: Vec<f64> = rows.iter().enumerate().flat_map(|(i, rows)| vec![i as f64; rows.len()]).collect();
            assert_close(found.data(), &expected)?;
        }
    }

    #[test]
    fn enumerate_and_erase(lists in proptest::collection::vec(proptest::collection::vec(0i64..5, 0..6), 0..6), window in 1usize..5) {
        let x = LodTensor::from_lists(&lists).unwrap();
        let found = sequence::enumerate(&x, window, -1, -1).unwrap();
        prop_assert!(found.lod().is_same(x.lod()));
        let expected: Vec<i64> = lists.iter().flat_map(|list| (0..list.len()).flat_map(move |t| {
            (t..t + window).map(move |at| list.get(at).copied().unwrap_or(-1))
        })).collect();
        prop_assert_eq!(found.data().to_vec::<i64>().unwrap(), expected);
        let kept: Vec<Vec<i64>> = lists.iter().map(|list| list.iter().copied().filter(|id| ![1, 3].contains(id)).collect()).collect();
        prop_assert_eq!(sequence::erase(&x, &[3, 1, 77]).unwrap().to_lists::<i64>(-1).unwrap(), kept);
    }

    #[test]
    fn scatter(lists in proptest::collection::vec(proptest::collection::vec(0i64..4, 0..5), 0..5)) {
        let ids = LodTensor::from_lists(&lists).unwrap();
        let input = NdArray::zeros_of(DType::F64, [lists.len(), 4]).unwrap();
        let updates = NdArray::arange_of(DType::F64, 1, ids.rows() as i64 + 1, 1).unwrap();
        let found = sequence::scatter(&input, &ids, &updates, -1).unwrap();
        let mut expected = vec![0.0; lists.len() * 4];
        let mut update = 1.0;
        for (row, list) in lists.iter().enumerate() {
            for &id in list {
                expected[row * 4 + id as usize] += update;
                update += 1.0;
            }
        }
        assert_close(&found, &expected)?;
    }
}

/// Rows of several columns, more than a block of a convolution holds, in sequences of all lengths.
fn many(rows: usize, width: usize, seed: usize) -> NdArray {
    let values = (0..rows * width).map(|i| ((i * 7919 + seed) % 1009) as f64 / 504.5 - 1.0);
    NdArray::from_vec(values.collect::<Vec<_>>(), [rows, width]).unwrap()
}

#[test]
fn convolutions_of_many_rows_are_products_with_their_windows() {
    let lengths: Vec<usize> = (0..60).map(|i| i * i % 53).collect();
    let rows = lengths.iter().sum();
    let (window, up_and_down) = (
        Window {
            start: -2,
            length: 4,
        },
        3,
    );
    for (width, features, turned) in [(64, 5, false), (3, 40, false), (64, 5, true)] {
        let data = match turned {
            false => many(rows, width, 1),
            true => many(width, rows, 1).transpose(),
        };
        let x = LodTensor::new(data, Lengths::from(vec![lengths.clone()])).unwrap();
        let (filter, padding) = (many(4 * width, features, 2), many(up_and_down, width, 3));
        let g = many(rows, features, 4);
        let windows = sequence::context(&x, window, Some(&padding), -1).unwrap();
        let out = sequence::conv(&x, &filter, window, Some(&padding), -1).unwrap();
        let grads = sequence::conv_grad(&x, &filter, window, Some(&padding), -1, &g).unwrap();
        let of_windows = g.matmul(&filter.transpose()).unwrap();
        let (of_x, of_padding) =
            sequence::context_grad(&x, window, Some(&padding), -1, &of_windows).unwrap();
        let of_filter = windows.data().transpose().matmul(&g).unwrap();
        let pairs = [
            (out.into_data(), windows.data().matmul(&filter).unwrap()),
            (grads.x, of_x),
            (grads.filter, of_filter),
            (grads.padding.unwrap(), of_padding.unwrap()),
        ];
        for (index, (found, expected)) in pairs.iter().enumerate() {
            let far = found
                .sub(expected)
                .unwrap()
                .abs()
                .unwrap()
                .max_number()
                .unwrap();
            assert!(far < 1e-10, "{index} of {width} columns: {far}");
        }
    }
}

#[test]
fn look_ahead_convolutions_of_many_rows_are_plain_sums() {
    let mut failures = Vec::new();
    // Sequences much longer than a window, about as long, and of no row at all; columns that fill a part of a register, one, and more.
    for longest in [53, 11, 4] {
        for places in [1, 2, 3, 6, 9] {
            for width in [1, 2, 5, 8, 15, 16, 70] {
                if let Err(far) = look_ahead_is_plain_sums(longest, places, width) {
                    failures.push(format!("{longest} {places} {width}: {far}"));
                }
            }
        }
    }
    assert_eq!(failures, [""; 0]);
}

fn look_ahead_is_plain_sums(
    longest: usize,
    places: usize,
    width: usize,
) -> Result<(), TestCaseError> {
    let lengths: Vec<usize> = (0..70).map(|i| i * i % longest).collect();
    let rows: usize = lengths.iter().sum();
    let x = LodTensor::new(many(rows, width, 1), Lengths::from(vec![lengths])).unwrap();
    let (filter, g) = (many(places, width, 2), many(rows, width, 3));
    let [values, weights, given] =
        [x.data(), &filter, &g].map(|array| array.to_vec::<f64>().unwrap());
    let (mut out, mut of_x) = (vec![0.0; rows * width], vec![0.0; rows * width]);
    let mut of_filter = vec![0.0; places * width];
    for pair in x.lod().rows_of(-1).unwrap().windows(2) {
        for t in pair[0]..pair[1] {
            let ahead = 0..places.min(pair[1] - t);
            for (k, c) in ahead.flat_map(|k| (0..width).map(move |c| (k, c))) {
                let (from, to, weight) = ((t + k) * width + c, t * width + c, k * width + c);
                out[to] += values[from] * weights[weight];
                of_x[from] += given[to] * weights[weight];
                of_filter[weight] += values[from] * given[to];
            }
        }
    }
    let (found_x, found_filter) = sequence::row_conv_grad(&x, &filter, -1, &g).unwrap();
    let found = sequence::row_conv(&x, &filter, -1).unwrap().into_data();
    assert_close(&found, &out)?;
    assert_close(&found_x, &of_x)?;
    assert_close(&found_filter, &of_filter)
}

#[test]
fn every_op_takes_zero_sequences() {
    let none = LodTensor::new(
        NdArray::zeros([0, 2]).unwrap(),
        Lod::from_lengths(vec![vec![], vec![]]).unwrap(),
    )
    .unwrap();
    for level in [0, 1, -1] {
        for kind in PoolKind::ALL {
            assert_eq!(
                sequence::pool(&none, kind, level, 1).unwrap().shape()[..],
                [0, 2]
            );
        }
        assert_eq!(sequence::softmax(&none, level).unwrap().rows(), 0);
        assert_eq!(sequence::reverse(&none, level).unwrap().rows(), 0);
        assert_eq!(
            sequence::pad(&none, 0, None, level).unwrap().data.shape()[..],
            [0, 0, 2]
        );
        assert_eq!(
            sequence::context(&none, Window::centered(3), None, level)
                .unwrap()
                .shape()[..],
            [0, 6]
        );
        assert_eq!(sequence::concat(&[&none, &none], level).unwrap().rows(), 0);
        assert_eq!(sequence::slice(&none, &[], &[], level).unwrap().rows(), 0);
        assert_eq!(
            sequence::enumerate(&none, 2, 0, level).unwrap().shape()[..],
            [0, 2, 2]
        );
    }
    assert_eq!(sequence::reshape(&none, 1).unwrap().shape()[..], [0, 1]);
}

#[test]
fn every_op_takes_a_single_input_and_one_window() {
    let x = LodTensor::from_lists(&[vec![1i64], vec![], vec![2, 3]]).unwrap();
    let alone = sequence::concat(&[&x], -1).unwrap();
    assert_eq!(
        (alone.lod(), alone.to_lists::<i64>(0).unwrap()),
        (x.lod(), x.to_lists::<i64>(0).unwrap())
    );
    assert!(!alone.data().shares_memory(x.data()));
    let itself = sequence::enumerate(&x, 1, 0, -1).unwrap();
    assert_eq!(itself.data().to_vec::<i64>().unwrap(), [1, 2, 3]);
    let nothing = sequence::mask(&NdArray::from([0i64, 0]), None, DType::Bool).unwrap();
    assert_eq!(nothing.shape()[..], [2, 0]);
    let negative = sequence::mask(&NdArray::from([-3.5f32, 1.5]), None, DType::I32).unwrap();
    assert_eq!(negative.to_vec::<i32>().unwrap(), [0, 0, 1, 1]);
}
