//! Figures of other libraries, stored as text: one case a line, `words | array | .. => array | ..`, an array being
//! `dtype sizes : values`. The scripts beside the files write them.

use lodestride_array::{DType, NdArray, Result};

use super::matrix::{combinations, stretched_combinations};

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

    /// Compares what `answer` makes of the arrays of the case, in every combination of layouts, with the expected arrays; and
    /// what it makes of stretched arrays with what it makes of the same elements without gaps. `relative` is the error that
    /// results of a dtype may have. Counts the comparisons.
    pub(crate) fn check(
        &self,
        answer: &dyn Fn(&[&NdArray]) -> Result<Vec<NdArray>>,
        relative: &dyn Fn(DType) -> f64,
        faults: &mut Vec<String>,
    ) -> usize {
        let mut checked = 0;
        let mut compare = |layouts: &str, found: &[NdArray], expected: &[NdArray]| {
            checked += found.len();
            let line: String = self.line.chars().take(300).collect();
            let pairs = found.iter().zip(expected);
            let wrong = pairs.filter_map(|(a, b)| difference(a, b, relative(a.dtype())));
            faults.extend(wrong.map(|wrong| format!("{line}\n  {layouts}\n  {wrong}")));
        };
        let inputs: Vec<&NdArray> = self.inputs.iter().collect();
        let unstretched = combinations(&inputs, &mut |layouts, given| {
            compare(layouts, &answer(given).unwrap(), &self.expected);
        });
        unstretched.unwrap();
        let stretched = stretched_combinations(&inputs, &mut |layouts, given, plain| match (
            answer(given),
            answer(plain),
        ) {
            (Ok(found), Ok(expected)) => compare(layouts, &found, &expected),
            (found, expected) => assert_eq!(found.is_ok(), expected.is_ok(), "{}", self.line),
        });
        stretched.unwrap();
        checked
    }
}

/// Why an array is not the expected one, if it is not: shape, and values within `relative * max(|expected|, 1)`.
pub(crate) fn difference(found: &NdArray, expected: &NdArray, relative: f64) -> Option<String> {
    let (a, b) = (found.to_f64_vec().unwrap(), expected.to_f64_vec().unwrap());
    let close = |(a, b): (&f64, &f64)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= relative * b.abs().max(1.0)
    };
    let same = found.shape() == expected.shape() && a.iter().zip(&b).all(close);
    let shapes = (found.shape(), expected.shape());
    (!same).then(|| {
        format!(
            "found {:?} {a:?}\n  expected {:?} {b:?}",
            shapes.0, shapes.1
        )
    })
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
