//! The indexing oracle: combinations of points, intervals with steps of both signs, all, new axes, an ellipsis, index lists and
//! arrays and masks, up to rank 5, on every layout of the parent, reading and writing, against the model.
//!
//! ND4J runs a fifth of its 888,880 combinations; here all of ranks 1 and 2 are run, and of ranks 3 to 5 a sample by seed.

use lodestride_array::{DType, FancyIndex, Index, NdArray, Scatter};

use crate::model::{Entry, Part, each_position, pick, pick_outer, stretched_number};
use crate::report;
use crate::support::matrix::{layout_matrix, numbered, repeated};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// What may stand for one axis of a size: `kind` counts through points, intervals, whole axes and index lists.
const KINDS: usize = 14;

fn entry(kind: usize, size: usize, dice: &mut Dice) -> Entry {
    let n = size as isize;
    let mut position = || dice.next(2 * size) as i64 - size as i64;
    match kind {
        0 => Entry::Point(0),
        1 => Entry::Point(-1),
        2 => Entry::Point(n / 2),
        3 => Entry::All,
        4 => Entry::Interval(Some(1), None, 1),
        5 => Entry::Interval(None, Some(-1), 1),
        6 => Entry::Interval(None, None, 2),
        7 => Entry::Interval(None, None, -1),
        8 => Entry::Interval(Some(-1), Some(-n - 5), -2),
        9 => Entry::Interval(Some(n), Some(n + 3), 1),
        10 => Entry::List(vec![2], vec![position(), position()]),
        11 => Entry::List(vec![1], vec![position()]),
        12 => Entry::List(vec![2, 1], vec![position(), position()]),
        _ => Entry::Mask(vec![size], (0..size).map(|i| i % 2 == 0).collect()),
    }
}

/// A parent in all its layouts, and the numbers of its elements.
struct Parent {
    shape: Vec<usize>,
    source: NdArray,
    views: Vec<(String, NdArray)>,
    stretched: Vec<(String, NdArray, Vec<f64>)>,
}

impl Parent {
    fn new(shape: &[usize]) -> Self {
        let source = numbered(DType::F32, shape).unwrap();
        let stretched = repeated(DType::F32, shape).unwrap().into_iter();
        Self {
            shape: shape.to_vec(),
            views: layout_matrix(&source).unwrap(),
            source,
            stretched: stretched
                .map(|(name, view, same)| (name, view, same.to_f64_vec().unwrap()))
                .collect(),
        }
    }
}

struct Oracle {
    dice: Dice,
    checked: usize,
    failed: Vec<String>,
}

impl Oracle {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice(seed),
            checked: 0,
            failed: Vec::new(),
        }
    }

    fn say(&mut self, right: bool, what: impl FnOnce() -> String) {
        self.checked += 1;
        if !right {
            self.failed.push(what());
        }
    }

    /// One list on one layout of a parent: read it, and write it every third time.
    fn check(&mut self, parent: &Parent, entries: &[Entry]) {
        let basic: Option<Vec<Index>> = entries.iter().map(Entry::basic).collect();
        let as_array = self.dice.next(2) == 0;
        let list: Vec<FancyIndex> = entries.iter().map(|entry| entry.fancy(as_array)).collect();
        let (layout, view) = &parent.views[self.dice.next(parent.views.len())];
        let wanted = pick(&parent.shape, entries);
        let told = || format!("{:?}, {layout}: {entries:?}", parent.shape);
        if let Some(basic) = &basic {
            let right = read_as(view.get(basic), &wanted, |place| place as f64);
            self.say(right, || format!("get of {}", told()));
        }
        let right = read_as(view.get_fancy(&list), &wanted, |place| place as f64);
        self.say(right, || format!("get_fancy of {}", told()));
        if self.dice.next(4) == 0 && !parent.stretched.is_empty() {
            let (name, view, values) = &parent.stretched[self.dice.next(parent.stretched.len())];
            let right = read_as(view.get_fancy(&list), &wanted, |place| values[place]);
            self.say(right, || {
                format!("get_fancy of {:?}, {name}: {entries:?}", parent.shape)
            });
        }
        if self.dice.next(3) == 0 {
            let values = self.values(wanted.as_ref().map_or(&[], |part| &part.0));
            let how = [
                None,
                None,
                Some(Scatter::Add),
                Some(Scatter::Sub),
                Some(Scatter::Max),
                Some(Scatter::Min),
            ];
            let how = how[self.dice.next(how.len())];
            let done = match (how, &basic) {
                (None, Some(basic)) if as_array => view.put(basic, &values).is_ok(),
                (None, _) => view.put_fancy(&list, &values).is_ok(),
                (Some(how), _) => view.scatter_fancyi(how, &list, &values).is_ok(),
            };
            let right = self.wrote(parent, view, &wanted, &values, how);
            let right = right && done == wanted.is_some();
            self.say(right, || format!("{how:?} into {}", told()));
        }
    }

    /// Values that broadcast to a shape: some axes cut off, some of size 1.
    fn values(&mut self, shape: &[usize]) -> NdArray {
        let cut = self.dice.next(shape.len() + 1);
        let sizes = shape[cut..].iter();
        let sizes: Vec<usize> = sizes
            .map(|&n| if self.dice.next(5) == 0 { 1 } else { n })
            .collect();
        let count = sizes.iter().product();
        let values: Vec<f32> = (0..count).map(|i: usize| 100.0 - 7.0 * i as f32).collect();
        NdArray::from_vec(values, sizes).unwrap()
    }

    /// Whether a write did what loops do; undoes it.
    fn wrote(
        &mut self,
        parent: &Parent,
        view: &NdArray,
        part: &Option<Part>,
        values: &NdArray,
        how: Option<Scatter>,
    ) -> bool {
        let mut wanted: Vec<f64> = (0..view.len()).map(|i| i as f64).collect();
        if let Some((shape, places)) = part {
            let given = values.to_f64_vec().unwrap();
            let mut places = places.iter();
            each_position(shape, |position| {
                let new = given[stretched_number(values.shape(), position)];
                let old = &mut wanted[*places.next().unwrap()];
                *old = match how {
                    Some(Scatter::Add) => *old + new,
                    Some(Scatter::Sub) => *old - new,
                    Some(Scatter::Max) => old.max(new),
                    Some(Scatter::Min) => old.min(new),
                    _ => new,
                };
            });
        }
        let right = view.to_f64_vec().unwrap() == wanted;
        view.assign(&parent.source).unwrap();
        right
    }

    /// A list for a shape: some axes left out, new axes and an ellipsis put in.
    fn list(&mut self, shape: &[usize], kinds: impl Iterator<Item = usize>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for (&size, kind) in shape.iter().zip(kinds) {
            if self.dice.next(9) == 0 {
                entries.push(Entry::NewAxis);
            }
            entries.push(entry(kind, size, &mut self.dice));
        }
        match self.dice.next(6) {
            0 => entries.truncate(self.dice.next(entries.len() + 1)),
            1 | 2 => {
                // The entries behind the ellipsis must suit the last axes, so whole axes are left out in its place.
                let whole: Vec<usize> = (0..entries.len())
                    .filter(|&i| entries[i] == Entry::All)
                    .collect();
                match whole.last() {
                    Some(&place) => entries[place] = Entry::Ellipsis,
                    None => entries.insert(self.dice.next(entries.len() + 1), Entry::Ellipsis),
                }
            }
            3 => entries.push(Entry::NewAxis),
            _ => {}
        }
        entries
    }
}

fn read_as(
    found: lodestride_array::Result<NdArray>,
    wanted: &Option<Part>,
    value: impl Fn(usize) -> f64,
) -> bool {
    match (found, wanted) {
        (Ok(found), Some((shape, places))) => {
            found.shape()[..] == shape[..]
                && found
                    .to_f64_vec()
                    .unwrap()
                    .into_iter()
                    .eq(places.iter().map(|&place| value(place)))
        }
        (Err(_), None) => true,
        _ => false,
    }
}

fn sampled(seed: u64, shapes: &[&[usize]], count: usize) {
    let mut oracle = Oracle::new(seed);
    for shape in shapes {
        let parent = Parent::new(shape);
        for _ in 0..count {
            let kinds: Vec<usize> = shape.iter().map(|_| oracle.dice.next(KINDS)).collect();
            let entries = oracle.list(shape, kinds.into_iter());
            oracle.check(&parent, &entries);
        }
    }
    // Every list is read; of three, one is written, and some are read from stretched arrays and as plain indices too. With the
    // two tests of other lists that makes more than 100,000 cases.
    let least = shapes.len() * count * 4 / 3;
    assert!(
        oracle.checked >= least,
        "{} of {least} cases",
        oracle.checked
    );
    report(oracle.checked, &oracle.failed);
}

#[test]
fn every_combination_of_two_axes_means_what_loops_mean() {
    let mut oracle = Oracle::new(1);
    for shape in [&[5][..], &[1], &[3, 4], &[2, 1]] {
        let parent = Parent::new(shape);
        for number in 0..KINDS.pow(shape.len() as u32) {
            // Each combination with every new axis and ellipsis put in, by chance, several times over.
            for _ in 0..12 {
                let kinds = [number % KINDS, number / KINDS];
                let entries = oracle.list(shape, kinds.into_iter());
                oracle.check(&parent, &entries);
            }
        }
    }
    report(oracle.checked, &oracle.failed);
    assert!(oracle.checked > 10_000, "{} cases", oracle.checked);
}

#[test]
fn index_lists_of_three_axes_mean_what_loops_mean() {
    sampled(3, &[&[2, 3, 4], &[3, 1, 2], &[1, 2, 5], &[4, 2, 2]], 6_000);
}

#[test]
fn index_lists_of_four_axes_mean_what_loops_mean() {
    sampled(4, &[&[2, 3, 1, 2], &[3, 2, 2, 2], &[1, 4, 2, 3]], 6_500);
}

#[test]
fn index_lists_of_five_axes_mean_what_loops_mean() {
    sampled(
        5,
        &[&[2, 3, 1, 2, 2], &[2, 2, 2, 1, 3], &[1, 2, 3, 2, 1]],
        7_000,
    );
}

#[test]
fn lists_by_their_own_axes_mean_what_loops_mean() {
    let mut oracle = Oracle::new(7);
    for shape in [&[5][..], &[3, 4], &[2, 3, 4], &[2, 3, 1, 2]] {
        let parent = Parent::new(shape);
        for _ in 0..1_500 {
            let kinds: Vec<usize> = shape
                .iter()
                .map(|_| [0, 3, 4, 7, 8, 10, 10, 11, 13][oracle.dice.next(9)])
                .collect();
            let entries = oracle.list(shape, kinds.into_iter());
            let wanted = pick_outer(&parent.shape, &entries);
            let list: Vec<FancyIndex> = entries.iter().map(|entry| entry.fancy(false)).collect();
            let (layout, view) = &parent.views[oracle.dice.next(parent.views.len())];
            let right = read_as(view.get_outer(&list), &wanted, |place| place as f64);
            oracle.say(right, || {
                format!("get_outer of {shape:?}, {layout}: {entries:?}")
            });
            let values = oracle.values(wanted.as_ref().map_or(&[], |part| &part.0));
            let done = view.put_outer(&list, &values).is_ok();
            let right =
                oracle.wrote(&parent, view, &wanted, &values, None) && done == wanted.is_some();
            oracle.say(right, || {
                format!("put_outer into {shape:?}, {layout}: {entries:?}")
            });
        }
    }
    assert_eq!(oracle.checked, 12_000);
    report(oracle.checked, &oracle.failed);
}
