//! NumPy's answers, stored by `testdata/fancy.py`: they tie the model, and so the oracle, to NumPy itself.

use lodestride_array::{DType, FancyIndex, NdArray};

use crate::model::{Entry, each_position, pick, stretched_number};
use crate::report;
use crate::support::matrix::{layout_matrix, numbered};

fn sizes(text: &str) -> Vec<usize> {
    text.split('x')
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().unwrap())
        .collect()
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T>
where
    T::Err: std::fmt::Debug,
{
    text.split(',')
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().unwrap())
        .collect()
}

fn entry(word: &str) -> Entry {
    let (kind, rest) = word.split_at(1);
    let mut parts = rest.split(':');
    let mut part = || parts.next().unwrap();
    let bound = |text: &str| (text != "_").then(|| text.parse().unwrap());
    match kind {
        "p" => Entry::Point(rest.parse().unwrap()),
        "i" => Entry::Interval(bound(part()), bound(part()), part().parse().unwrap()),
        "a" => Entry::All,
        "n" => Entry::NewAxis,
        "e" => Entry::Ellipsis,
        "l" => Entry::List(sizes(part()), numbers(part())),
        "m" => Entry::Mask(
            sizes(part()),
            numbers::<u8>(part())
                .iter()
                .map(|&flag| flag == 1)
                .collect(),
        ),
        _ => panic!("no entry: {word}"),
    }
}

/// One line of the file.
struct Case<'a> {
    kind: &'a str,
    shape: Vec<usize>,
    entries: Vec<Entry>,
    list: Vec<FancyIndex>,
    /// The shape of the result, or of the values that are put.
    of: Vec<usize>,
    /// The elements of the result, or of the array afterwards.
    wanted: &'a str,
}

impl<'a> Case<'a> {
    fn new(number: usize, line: &'a str) -> Self {
        let fields: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let entries: Vec<Entry> = fields[2].split_whitespace().map(entry).collect();
        Self {
            kind: fields[0],
            shape: sizes(fields[1]),
            list: (entries.iter())
                .map(|entry| entry.fancy(number.is_multiple_of(2)))
                .collect(),
            entries,
            of: fields.get(3).map_or(vec![], |text| sizes(text)),
            wanted: fields.get(4).copied().unwrap_or_default(),
        }
    }

    /// Whether an array that holds 0, 1, 2, .., so that its values are the model's numbers, answers as NumPy and the model.
    fn is_right(&self, view: &NdArray) -> bool {
        let picked = pick(&self.shape, &self.entries);
        match self.kind {
            "error" => picked.is_none() && view.get_fancy(&self.list).is_err(),
            "get" => {
                let found = view.get_fancy(&self.list).unwrap();
                let (elements, wanted) = (found.to_f64_vec().unwrap(), numbers(self.wanted));
                found.shape()[..] == self.of
                    && elements
                        .iter()
                        .map(|&x| x as usize)
                        .eq(wanted.iter().copied())
                    && picked == Some((self.of.clone(), wanted))
            }
            "put" => {
                let count: usize = self.of.iter().product();
                let values: Vec<f32> = (0..count).map(|i| 100.0 + i as f32).collect();
                let values = NdArray::from_vec(values, &self.of[..]).unwrap();
                view.put_fancy(&self.list, &values).unwrap();
                let (part, places) = picked.unwrap();
                let mut by_model: Vec<f64> = (0..view.len()).map(|i| i as f64).collect();
                let mut places = places.into_iter();
                each_position(&part, |position| {
                    by_model[places.next().unwrap()] =
                        100.0 + stretched_number(&self.of, position) as f64;
                });
                view.to_f64_vec().unwrap() == numbers::<f64>(self.wanted)
                    && by_model == numbers::<f64>(self.wanted)
            }
            kind => panic!("no kind: {kind}"),
        }
    }
}

#[test]
fn fancy_indexing_is_numpys() {
    let (mut checked, mut failed) = (0, Vec::new());
    for (number, line) in include_str!("../../testdata/fancy.txt").lines().enumerate() {
        let case = Case::new(number, line);
        let array = numbered(DType::F32, &case.shape).unwrap();
        for (layout, view) in layout_matrix(&array).unwrap() {
            checked += 1;
            if !case.is_right(&view) {
                failed.push(format!("{layout}: {line}"));
            }
        }
    }
    report(checked, &failed);
    assert!(checked >= 10_000, "{checked} cases");
}
