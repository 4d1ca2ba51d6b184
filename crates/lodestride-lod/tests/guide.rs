//! The examples of Fluid's LoD tensor guide, in its order, with the results it states. What needs an executor is tested
//! by the graph.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_lod::{DType, Lengths, Lod, LodTensor, NdArray, lengths, offsets, sequence};

/// Column of `values`.
fn column(values: &[f32]) -> NdArray {
    NdArray::from_vec(values.to_vec(), [values.len(), 1]).unwrap()
}

#[test]
fn a_batch_of_equal_images_is_a_tensor_without_levels() {
    let images = LodTensor::from(NdArray::zeros([10, 32, 32]).unwrap());
    assert_eq!(
        (images.lod_level(), images.rows(), images.row_shape()),
        (0, 10, &[32, 32][..])
    );
    // All lengths are 1: the index says nothing and is left out, or kept, as one likes.
    let indexed = images.with_lod(Lod::uniform(10, 1).unwrap()).unwrap();
    assert_eq!(indexed.lod_level(), 1);
    assert_eq!(indexed.with_lod(Lod::none()).unwrap().lod_level(), 0);
    // A parameter is a tensor of no level.
    assert_eq!(
        LodTensor::from(NdArray::ones([3, 4]).unwrap()).lod_level(),
        0
    );
}

#[test]
fn sentences_of_words() {
    let words = NdArray::zeros([3 + 1 + 2, 5]).unwrap();
    let batch = LodTensor::new(words, lengths![[3, 1, 2]]).unwrap();
    assert_eq!((batch.lod_level(), batch.rows()), (1, 6));
    assert_eq!(batch.lod().sequences(0).unwrap(), 3);
}

#[test]
fn articles_of_sentences_of_words() {
    let lod = Lod::from_lengths(lengths![[3, 1, 2], [3, 2, 4, 1, 2, 3]]).unwrap();
    let batch = LodTensor::new(NdArray::zeros([15, 5]).unwrap(), lod).unwrap();
    assert_eq!(
        batch.recursive_sequence_lengths().to_string(),
        "[[3, 1, 2], [3, 2, 4, 1, 2, 3]]"
    );
    // A tree whose leaves are the rows.
    let tree = batch.lod().tree().to_string();
    assert_eq!(tree.lines().nth(5).unwrap(), "├─ 1: 1 sequence");
    assert_eq!(tree.lines().last().unwrap(), "   └─ 5: rows 12..15");
}

#[test]
fn videos_of_frames() {
    let frames = NdArray::zeros_of(DType::U8, [3 + 1 + 2, 640, 480]).unwrap();
    let videos = LodTensor::new(frames, lengths![[3, 1, 2]]).unwrap();
    assert_eq!(videos.sequence(0, 2).unwrap().shape()[..], [2, 640, 480]);
}

#[test]
fn lengths_become_offsets_and_back() {
    let words = Lod::from_lengths([3, 2, 4, 1, 2, 3]).unwrap();
    assert_eq!(words.level(0).unwrap(), [0, 3, 5, 9, 10, 12, 15]);
    assert_eq!(
        (
            words.row_range(0, 0).unwrap(),
            words.row_range(0, 1).unwrap()
        ),
        (0..3, 3..5)
    );
    assert_eq!(
        Lod::from_lengths([3, 1, 2]).unwrap().level(0).unwrap(),
        [0, 3, 4, 6]
    );
    let both = Lod::from_offsets(offsets![[0, 3, 4, 6], [0, 3, 5, 9, 10, 12, 15]]).unwrap();
    assert_eq!(
        both.lengths(),
        lengths![
            [3, 4 - 3, 6 - 4],
            [3, 5 - 3, 9 - 5, 10 - 9, 12 - 10, 15 - 12]
        ]
    );
}

#[test]
fn creating_a_tensor() {
    let a = LodTensor::new(
        NdArray::from_vec(vec![1i64; 15], [15, 1]).unwrap(),
        lengths![[3, 1, 2], [3, 2, 4, 1, 2, 3]],
    )
    .unwrap();
    assert_eq!(a.recursive_sequence_lengths().depth(), 2);
    assert_eq!(
        a.recursive_sequence_lengths()
            .iter()
            .last()
            .unwrap()
            .iter()
            .sum::<usize>(),
        15
    );
    assert_eq!(a.lod().total(-1).unwrap(), 15);
}

#[test]
fn a_tensor_becomes_a_list_of_arrays_and_a_list_a_tensor() {
    let a = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4]), lengths![[1, 3]]).unwrap();
    let arrays = a.to_arrays(0).unwrap();
    assert_eq!(
        arrays
            .iter()
            .map(|x| x.to_vec::<f32>().unwrap())
            .collect::<Vec<_>>(),
        [vec![1.1], vec![2.2, 3.3, 4.4]]
    );
    let sequences: Vec<LodTensor> = arrays.iter().map(LodTensor::from).collect();
    let back = LodTensor::from_sequences(&sequences.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(back.lod().offsets().to_string(), "[[0, 1, 4]]");
    // The dtype is kept; the guide's listing loses it to int64.
    assert_eq!(back.dtype(), DType::F32);
    assert_eq!(back.data().to_vec::<f32>().unwrap(), [1.1, 2.2, 3.3, 4.4]);
}

#[test]
fn sequence_expand_gives_the_result_of_the_example() {
    let x = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4]), lengths![[1, 3]]).unwrap();
    // The text and the complete listing use different second levels; only level 0 counts.
    for second in [[2, 1, 2, 1], [1, 2, 1, 2]] {
        let y = LodTensor::new(
            column(&[1.1; 6]),
            Lengths::from([vec![1, 3], second.to_vec()]),
        )
        .unwrap();
        let result = sequence::expand(&x, &y, 0).unwrap();
        assert_eq!(
            result.data().to_vec::<f32>().unwrap(),
            [1.1, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4]
        );
        assert_eq!(
            result.recursive_sequence_lengths().to_string(),
            "[[1, 3, 3, 3]]"
        );
        assert_eq!(result.lod().offsets().to_string(), "[[0, 1, 4, 7, 10]]");
        // With the default level the numbers of sequences, 2 and 4, do not fit.
        let text = sequence::expand(&x, &y, -1).unwrap_err().to_string();
        assert!(text.contains("has 2 entries, expected 4"), "{text}");
    }
    // x [[3, 1]] shows which lengths are repeated.
    let y = Lod::from_lengths([1, 3]).unwrap();
    let result = sequence::expand(&x.with_lod(lengths![[3, 1]]).unwrap(), &y, 0).unwrap();
    assert_eq!(result.recursive_sequence_lengths(), lengths![[3, 1, 1, 1]]);
}

#[test]
fn a_tensor_prints() {
    let x = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4]), lengths![[1, 3]]).unwrap();
    assert_eq!(
        x.to_string(),
        "2 * var * f32[1]\n├─ 0: [1.1]\n└─ 1: [2.2] [3.3] [4.4]"
    );
    assert_eq!(
        format!("{x:#}"),
        "\tlod: {{0, 1, 4}}\n\tdim: 4, 1\n\tlayout: NCHW\n\tdtype: float\n\tdata: [1.1 2.2 3.3 4.4]\n"
    );
    let flags = LodTensor::new(NdArray::from([[true], [false]]), lengths![[1, 1], [2, 0]]).unwrap();
    assert_eq!(
        format!("{flags:#}"),
        "\tlod: {{0, 1, 2}{0, 2, 2}}\n\tdim: 2, 1\n\tlayout: NCHW\n\tdtype: bool\n\tdata: [1 0]\n"
    );
    let wide = LodTensor::new(NdArray::zeros([3, 100]).unwrap(), lengths![[1, 0, 2]]).unwrap();
    assert_eq!(
        wide.to_string(),
        "3 * var * f32[100]\n├─ 0: rows 0..1\n├─ 1: empty\n└─ 2: rows 1..3"
    );
}
