//! Fluid's guide to LoD tensors in the order of its sections: every example and every result it states, the last ones
//! through a graph and an executor. One test for each of its paragraphs; docs/parity.csv names them.

use lodestride::Result;
use lodestride::array::Scalar;
use lodestride::graph::{Executor, Type, lod};
use lodestride::lod::{lengths, offsets};
use lodestride::prelude::*;

/// Values below each other, as the guide's `np.array([[1.1], [2.2], ..])`.
fn column(values: &[f32]) -> Result<NdArray> {
    Ok(NdArray::from_vec(values.to_vec(), [values.len(), 1])?)
}

/// A text without its white space, which the guide does not fix.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The guide's two levels: articles of sentences of words.
fn articles() -> Lengths {
    lengths![[3, 1, 2], [3, 2, 4, 1, 2, 3]]
}

/// "10 images of 32x32 are a 10x32x32 tensor; in many cases, however, the training data are of variable length."
#[test]
fn sequences_of_different_lengths_need_no_padding() -> Result<()> {
    let images = LodTensor::from(NdArray::zeros([10, 32, 32])?);
    assert_eq!(
        (images.lod_level(), images.shape().to_vec()),
        (0, vec![10, 32, 32])
    );
    // Words of D = 4 numbers: only those that exist are stored.
    let sentences = LodTensor::new(NdArray::ones([3 + 7 + 1, 4])?, Lengths::from([3, 7, 1]))?;
    assert_eq!(sentences.data().len(), 11 * 4);
    assert_eq!(sentences.sequences(0)?.len(), 3);
    Ok(())
}

/// "A mini-batch of sentences: 3 sentences of 3, 1 and 2 words are a (3+1+2)xD tensor with a 1-level LoD 3, 1, 2."
#[test]
fn a_batch_of_sentences_has_one_level() -> Result<()> {
    let d = 5;
    let batch = LodTensor::new(NdArray::zeros([3 + 1 + 2, d])?, lengths![[3, 1, 2]])?;
    assert_eq!((batch.lod_level(), batch.rows()), (1, 6));
    let words: Vec<usize> = batch.sequences(0)?.iter().map(LodTensor::rows).collect();
    assert_eq!(words, [3, 1, 2]);
    assert_eq!(batch.row_shape(), [d]);
    Ok(())
}

/// "Recursive sequences: articles of 3, 1 and 2 sentences": `[[3,1,2]/*level=0*/,[3,2,4,1,2,3]/*level=1*/]`.
#[test]
fn a_batch_of_articles_has_two_levels() -> Result<()> {
    let batch = LodTensor::new(NdArray::zeros([15, 5])?, articles())?;
    assert_eq!(batch.lod_level(), 2);
    assert_eq!(
        squeezed(&batch.recursive_sequence_lengths().to_string()),
        "[[3,1,2],[3,2,4,1,2,3]]"
    );
    assert_eq!(batch.lod().sequences(0)?, 3);
    assert_eq!(batch.lod().sequences(1)?, 6);
    let words: Vec<usize> = batch.sequences(0)?.iter().map(LodTensor::rows).collect();
    assert_eq!(words, [3 + 2 + 4, 1, 2 + 3]);
    // The tree of the figure: words as leaves below sentences below articles.
    let tree = batch.lod().tree().to_string();
    let branches: Vec<&str> = tree.lines().collect();
    let of_words = |line: &&&str| line.contains("row");
    let sentences = branches.iter().filter(of_words).count();
    assert_eq!(branches[0], "3 sequences");
    assert_eq!((branches.len(), sentences), (1 + 3 + 6, 6), "{tree}");
    Ok(())
}

/// "A mini-batch of videos of 3, 1 and 2 frames of 640x480: the lowest tensor is (3+1+2)x640x480."
#[test]
fn a_batch_of_videos_has_frames_as_rows() -> Result<()> {
    let frames = NdArray::zeros_of(DType::U8, [3 + 1 + 2, 640, 480])?;
    let videos = LodTensor::new(frames, lengths![[3, 1, 2]])?;
    assert_eq!(videos.shape()[..], [6, 640, 480]);
    let shapes: Vec<Vec<usize>> = videos
        .sequences(0)?
        .iter()
        .map(|video| video.shape().to_vec())
        .collect();
    assert_eq!(
        shapes,
        [vec![3, 640, 480], vec![1, 640, 480], vec![2, 640, 480]]
    );
    Ok(())
}

/// "A mini-batch of images: all indices are 1, and the LoD tensor is an ordinary tensor." "Parameters are 0-level."
#[test]
fn images_and_parameters_are_ordinary_tensors() -> Result<()> {
    let images = LodTensor::from(NdArray::zeros([7, 4, 4])?);
    assert_eq!((images.lod_level(), images.rows()), (0, 7));
    // The information of all ones can be kept, or left out without loss.
    let indexed = images.with_lod(Lod::uniform(7, 1)?)?;
    assert_eq!(indexed.recursive_sequence_lengths(), Lengths::from([1; 7]));
    assert_eq!(indexed.drop_lod(), *images.data());
    let parameter = LodTensor::from(NdArray::ones([3, 4])?);
    assert_eq!(parameter.lod_level(), 0);
    assert_eq!(parameter.recursive_sequence_lengths().depth(), 0);
    Ok(())
}

/// "The lengths 3 2 4 1 2 3 are converted to the offsets 0 3 5 9 10 12 15."
#[test]
fn lengths_are_converted_to_offsets() -> Result<()> {
    let words = Lod::from_lengths([3, 2, 4, 1, 2, 3])?;
    assert_eq!(words.level(0)?, [0, 3, 5, 9, 10, 12, 15]);
    // "The first sentence is from word 0 to word 3, the second from word 3 to word 5."
    assert_eq!(
        (words.row_range(0, 0)?, words.row_range(0, 1)?),
        (0..3, 3..5)
    );
    // "The lengths 3 1 2 of the top level become 0 3 4 6."
    assert_eq!(Lod::from_lengths([3, 1, 2])?.level(0)?, [0, 3, 4, 6]);
    // The figure of both levels leaves out the 0 of the second one; the list three lines below it does not.
    let both = Lod::from_lengths(articles())?;
    assert_eq!(
        squeezed(&both.offsets().to_string()),
        "[[0,3,4,6],[0,3,5,9,10,12,15]]"
    );
    Ok(())
}

/// "By offsets [[0,3,4,6],[0,3,5,9,10,12,15]]; by lengths [[3-0,4-3,6-4],[3-0,5-3,9-5,10-9,12-10,15-12]]."
#[test]
fn offsets_are_converted_to_lengths() -> Result<()> {
    let offsets = offsets![[0, 3, 4, 6], [0, 3, 5, 9, 10, 12, 15]];
    let difference = |level: &[usize]| -> Vec<usize> {
        level.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let lengths: Lengths = offsets.iter().map(difference).collect();
    let lod = Lod::from_offsets(offsets)?;
    assert_eq!(lod.lengths(), lengths);
    assert_eq!(lengths, articles());
    assert_eq!(lengths.to_offsets()?, lod.offsets());
    // "The size of the outer list is the number of levels; each inner list has the sizes of one level."
    assert_eq!((lengths.depth(), lod.depth()), (2, 2));
    Ok(())
}

/// "Creating a LoD tensor": `# output:2` and `# output:15 (3+2+4+1+2+3=15)`.
#[test]
fn creating_a_lod_tensor() -> Result<()> {
    let data = NdArray::from([[1i64]; 15]);
    let a = LodTensor::new(data, articles())?;
    assert_eq!(a.recursive_sequence_lengths().depth(), 2);
    let lengths = a.recursive_sequence_lengths();
    let last = lengths.iter().last().expect("there are two levels");
    assert_eq!(last.iter().sum::<usize>(), 15);
    assert_eq!((a.dtype(), a.shape().to_vec()), (DType::I64, vec![15, 1]));
    Ok(())
}

/// "LoD tensor to tensor": the guide's loop over the offsets, and the method.
#[test]
fn a_lod_tensor_becomes_a_list_of_arrays() -> Result<()> {
    let a = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4])?, lengths![[1, 3]])?;
    let lod = a.lod().offsets();
    let offsets = lod.get(0).expect("there is one level");
    let mut new_array = Vec::new();
    for i in 0..offsets.len() - 1 {
        let (begin, end) = (offsets[i] as isize, offsets[i + 1] as isize);
        new_array.push(a.data().get(&[interval(begin, end), all()])?);
    }
    assert_eq!(new_array, [column(&[1.1])?, column(&[2.2, 3.3, 4.4])?]);
    assert_eq!(a.to_arrays(0)?, new_array);
    let printed: Vec<String> = new_array.iter().map(|x| squeezed(&x.to_string())).collect();
    assert_eq!(printed, ["[[1.1]]", "[[2.2],[3.3],[4.4]]"]);
    Ok(())
}

/// "Tensor to LoD tensor": the guide's steps; its listing casts to int64 and loses 1.1, which is shown and not repeated.
#[test]
fn a_list_of_arrays_becomes_a_lod_tensor() -> Result<()> {
    let new_array = [column(&[1.1])?, column(&[2.2, 3.3, 4.4])?];
    let mut lod = vec![0];
    let mut cur_len = 0;
    for sequence in &new_array {
        cur_len += sequence.rows()?;
        lod.push(cur_len);
    }
    let flattened_data = NdArray::concat(&new_array.each_ref(), 0)?;
    let lod_tensor = LodTensor::new(flattened_data.clone(), Offsets::from(lod))?;
    // "The LoD of the result" and "the array".
    assert_eq!(
        squeezed(&lod_tensor.lod().offsets().to_string()),
        "[[0,1,4]]"
    );
    assert_eq!(lod_tensor.data(), &column(&[1.1, 2.2, 3.3, 4.4])?);
    let as_in_the_listing = flattened_data.cast(DType::I64)?;
    assert_eq!(as_in_the_listing.to_vec::<i64>()?, [1, 2, 3, 4]);
    // In one call.
    let sequences = new_array.each_ref().map(LodTensor::from);
    let at_once = LodTensor::from_sequences(&sequences.each_ref())?;
    assert_eq!(at_once.lod(), lod_tensor.lod());
    assert_eq!(at_once.data(), lod_tensor.data());
    Ok(())
}

/// The example's variables: "the shapes of x and y are only placeholders and do not affect the result".
fn declared() -> (Variable, Variable) {
    (
        lod("x", DType::F32, [None], 1),
        lod("y", DType::F32, [None], 2),
    )
}

/// "Defining the computation": x with lod_level 1, y with lod_level 2, `sequence_expand(x, y, ref_level=0)`.
#[test]
fn the_computation_is_defined_symbolically() -> Result<()> {
    let (x, y) = declared();
    let out = x.sequence_expand(&y, 0)?;
    assert_eq!((x.ty().lod_level(), y.ty().lod_level()), (1, 2));
    assert!(matches!(out.ty(), Type::Lod(ty) if ty.lod_level() == 1 && ty.dtype() == DType::F32));
    // The same graph runs rows of any width.
    for width in [1, 3] {
        let x_d = LodTensor::new(NdArray::ones([4, width])?, lengths![[1, 3]])?;
        let y_d = LodTensor::new(NdArray::ones([6, 1])?, lengths![[1, 3], [2, 1, 2, 1]])?;
        let results = Executor::new().run(&[("x", x_d.into()), ("y", y_d.into())], &[&out])?;
        assert_eq!(results[0].array().shape()[..], [10, width]);
    }
    Ok(())
}

/// "Preparing the data", "running", "viewing the LoD tensor", "viewing the sequence lengths", with the text's y.
#[test]
fn the_example_gives_the_guides_results() -> Result<()> {
    let (x, y) = declared();
    let out = x.sequence_expand(&y, 0)?;
    let exe = Executor::new();
    let x_d = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4])?, lengths![[1, 3]])?;
    let y_d = LodTensor::new(column(&[1.1; 6])?, lengths![[1, 3], [2, 1, 2, 1]])?;
    let feed = [("x", Value::from(&x_d)), ("y", Value::from(&y_d))];
    let results = exe.run(&feed, &[&out])?;
    assert_eq!(
        squeezed(&results[0].array().to_string()),
        "[[1.1],[2.2],[3.3],[4.4],[2.2],[3.3],[4.4],[2.2],[3.3],[4.4]]"
    );
    let result = results[0].lod_tensor().expect("LoD comes out");
    assert_eq!(
        result.recursive_sequence_lengths().to_string(),
        "[[1, 3, 3, 3]]"
    );
    assert_eq!(results[0].array().dtype(), DType::F32);
    // "The data of y does not take part in the computation."
    let other = y_d.map(|rows| rows.mul(-7.0))?;
    let again = exe.run(&[("x", (&x_d).into()), ("y", other.into())], &[&out])?;
    assert_eq!(again[0].array(), results[0].array());
    Ok(())
}

/// "Complete code": the listing's y is [[1,3],[1,2,1,2]]; data, lengths and LoD are printed.
#[test]
fn the_complete_listing_gives_the_same_results() -> Result<()> {
    let (x, y) = declared();
    let out = x.sequence_expand(&y, 0)?;
    let x_d = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4])?, lengths![[1, 3]])?;
    let y_d = LodTensor::new(column(&[1.1; 6])?, lengths![[1, 3], [1, 2, 1, 2]])?;
    let results = Executor::new().run(&[("x", x_d.into()), ("y", y_d.into())], &[&out])?;
    let result = results[0].lod_tensor().expect("LoD comes out");
    assert_eq!(
        squeezed(&format!("The data of the result: {}.", result.data())),
        "Thedataoftheresult:[[1.1],[2.2],[3.3],[4.4],[2.2],[3.3],[4.4],[2.2],[3.3],[4.4]]."
    );
    assert_eq!(
        format!(
            "The recursive sequence lengths of the result: {}.",
            result.recursive_sequence_lengths()
        ),
        "The recursive sequence lengths of the result: [[1, 3, 3, 3]]."
    );
    assert_eq!(
        format!("The LoD of the result: {}.", result.lod().offsets()),
        "The LoD of the result: [[0, 1, 4, 7, 10]]."
    );
    Ok(())
}

/// "Try to modify x_d and y_d and observe the output": which lengths are repeated, the default level, no graph at all.
#[test]
fn other_inputs_show_what_sequence_expand_does() -> Result<()> {
    let x = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4])?, lengths![[3, 1]])?;
    let y = Lod::from_lengths([1, 3])?;
    let expanded = sequence::expand(&x, &y, 0)?;
    assert_eq!(
        expanded.recursive_sequence_lengths(),
        lengths![[3, 1, 1, 1]]
    );
    assert_eq!(
        expanded.data().to_vec::<f32>()?,
        [1.1, 2.2, 3.3, 4.4, 4.4, 4.4]
    );
    // Two sequences of x against the four of y's last level.
    let y = Lod::from_lengths(lengths![[1, 3], [2, 1, 2, 1]])?;
    let error = sequence::expand(&x, &y, -1).expect_err("counts differ");
    assert!(
        error.to_string().contains("has 2 entries, expected 4"),
        "{error}"
    );
    Ok(())
}

/// "A LoD tensor cannot be viewed by a direct print": here it can, as a tree or as Fluid's own text.
#[test]
fn a_lod_tensor_prints() -> Result<()> {
    let x = LodTensor::new(column(&[1.1, 2.2, 3.3, 4.4])?, lengths![[1, 3]])?;
    assert_eq!(
        x.to_string(),
        "2 * var * f32[1]\n├─ 0: [1.1]\n└─ 1: [2.2] [3.3] [4.4]"
    );
    assert_eq!(
        format!("{x:#}"),
        "\tlod: {{0, 1, 4}}\n\tdim: 4, 1\n\tlayout: NCHW\n\tdtype: float\n\tdata: [1.1 2.2 3.3 4.4]\n"
    );
    // A copy of the numbers is a plain array: writing to it leaves the tensor alone.
    let array = x.data().dup()?;
    array.assign(Scalar::Float(0.0))?;
    assert_eq!(x.data().get_f64([0, 0])?, f64::from(1.1f32));
    Ok(())
}
