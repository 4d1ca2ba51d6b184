//! NumPy's answers, stored by `testdata/fancy.py`: they tie the model, and so the oracle, to NumPy itself.

use lodestride_array::{FancyIndex, NdArray};

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

#[test]
fn fancy_indexing_is_numpys() {
    let (mut checked, mut failed) = (0, Vec::new());
    for (number, line) in include_str!("../../testdata/fancy.txt").lines().enumerate() {
        let fields: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let (kind, shape) = (fields[0], sizes(fields[1]));
        let entries: Vec<Entry> = fields[2].split_whitespace().map(entry).collect();
        let list: Vec<FancyIndex> = entries
            .iter()
            .map(|entry| entry.fancy(number % 2 == 0))
            .collect();
        let array = numbered(lodestride_array::DType::F32, &shape).unwrap();
        let views = layout_matrix(&array).unwrap();
        let (layout, view) = &views[number % views.len()];
        checked += 1;
        let right = match kind {
            "error" => pick(&shape, &entries).is_none() && view.get_fancy(&list).is_err(),
            "get" => {
                let (wanted_shape, wanted) = (sizes(fields[3]), numbers::<usize>(fields[4]));
                let found = view.get_fancy(&list).unwrap();
                let found: Vec<usize> = match found.shape()[..] == wanted_shape[..] {
                    true => found
                        .to_f64_vec()
                        .unwrap()
                        .iter()
                        .map(|&x| x as usize)
                        .collect(),
                    false => vec![usize::MAX],
                };
                // The array holds 0, 1, 2, .., so its values are the model's numbers.
                found == wanted && pick(&shape, &entries) == Some((wanted_shape, wanted))
            }
            "put" => {
                let (of_values, wanted) = (sizes(fields[3]), numbers::<f64>(fields[4]));
                let count: usize = of_values.iter().product();
                let values: Vec<f32> = (0..count).map(|i| 100.0 + i as f32).collect();
                let values = NdArray::from_vec(values, &of_values[..]).unwrap();
                view.put_fancy(&list, &values).unwrap();
                let (part, places) = pick(&shape, &entries).unwrap();
                let mut by_model: Vec<f64> = (0..array.len()).map(|i| i as f64).collect();
                let mut places = places.into_iter();
                each_position(&part, |position| {
                    by_model[places.next().unwrap()] =
                        100.0 + stretched_number(&of_values, position) as f64;
                });
                view.to_f64_vec().unwrap() == wanted && by_model == wanted
            }
            _ => panic!("no kind: {kind}"),
        };
        if !right {
            failed.push(format!("{layout}: {line}"));
        }
    }
    report(checked, &failed);
    assert!(checked >= 500, "{checked} cases");
}
