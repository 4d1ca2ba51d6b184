//! Figures of other libraries, stored as text: one case a line, `words | array | .. => array | ..`, an array being
//! `dtype sizes : values`. The scripts beside the files write them.

use lodestride_array::{DType, NdArray};

/// One line.
pub(crate) struct Case<'a> {
    pub(crate) line: &'a str,
    /// What was done, and with which numbers.
    pub(crate) words: Vec<&'a str>,
    pub(crate) inputs: Vec<NdArray>,
    pub(crate) expected: Vec<NdArray>,
}

impl Case<'_> {
    /// Word `at` as a number.
    pub(crate) fn number(&self, at: usize) -> f64 {
        self.words[at].parse().unwrap()
    }

    /// Word `at` as an axis; `all` is every one.
    pub(crate) fn axes(&self, at: usize) -> lodestride_array::Axes {
        match self.words[at] {
            "all" => (..).into(),
            axis => axis.parse::<isize>().unwrap().into(),
        }
    }

    /// Why an answer is not the expected one, if it is not: shape, dtype where `dtypes` says so, and values within
    /// `relative * max(|expected|, 1)`.
    pub(crate) fn fault(&self, at: usize, found: &NdArray, relative: f64) -> Option<String> {
        let expected = &self.expected[at];
        let (a, b) = (found.to_f64_vec().unwrap(), expected.to_f64_vec().unwrap());
        let close = |(a, b): (&f64, &f64)| {
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= relative * b.abs().max(1.0)
        };
        let same = found.shape() == expected.shape() && a.iter().zip(&b).all(close);
        (!same).then(|| {
            let shape = found.shape();
            let line: String = self.line.chars().take(300).collect();
            format!(
                "{line}\n  found {shape:?} {a:?}\n  expected {:?} {b:?}",
                expected.shape()
            )
        })
    }
}

/// All cases of a file.
pub(crate) fn cases(text: &str) -> impl Iterator<Item = Case<'_>> {
    text.lines().map(|line| {
        let (given, found) = line.split_once("=>").unwrap();
        let mut parts = given.split('|').map(str::trim);
        Case {
            line,
            words: parts.next().unwrap().split_whitespace().collect(),
            inputs: parts.filter(|part| !part.is_empty()).map(array).collect(),
            expected: found.split('|').map(array).collect(),
        }
    })
}

fn array(text: &str) -> NdArray {
    let (head, values) = text.split_once(':').unwrap();
    let mut head = head.split_whitespace();
    let dtype = match head.next().unwrap() {
        "float16" => DType::F16,
        "float32" => DType::F32,
        "float64" => DType::F64,
        "int64" => DType::I64,
        "int32" => DType::I32,
        "int8" => DType::I8,
        "uint8" => DType::U8,
        "bool" => DType::Bool,
        name => panic!("no dtype {name}"),
    };
    let shape: Vec<usize> = head.map(|size| size.parse().unwrap()).collect();
    let values: Vec<f64> = (values.split_whitespace())
        .map(|value| value.parse().unwrap())
        .collect();
    NdArray::from_vec(values, shape)
        .unwrap()
        .cast(dtype)
        .unwrap()
}
