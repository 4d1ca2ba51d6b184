//! The order in which the operands of an einsum are multiplied.

use super::contract::labels_of;
use super::subscripts::Subscripts;

/// Up to so many operands all orders are compared; beyond, the best next pair is taken.
const EXHAUSTIVE: usize = 8;

/// An order of pairwise products, as [`NdArray::einsum_path`](crate::NdArray::einsum_path) finds it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EinsumPath {
    /// The two operands of each product. Operands are numbered from 0 on, the results of products after them.
    pub steps: Vec<[usize; 2]>,
    /// Multiplications of numbers in all.
    pub products: f64,
}

/// The labels of the operands, as sets, and their sizes.
struct Network<'a> {
    operands: Vec<u128>,
    output: u128,
    sizes: &'a [usize],
}

impl Network<'_> {
    /// Positions that the labels run through.
    fn positions(&self, labels: u128) -> f64 {
        let of =
            |(label, &size): (usize, &usize)| (labels >> label & 1 == 1).then_some(size as f64);
        self.sizes.iter().enumerate().filter_map(of).product()
    }
}

pub(super) fn search(subscripts: &Subscripts) -> EinsumPath {
    let network = Network {
        operands: subscripts
            .inputs
            .iter()
            .map(|labels| labels_of(labels))
            .collect(),
        output: labels_of(&subscripts.output),
        sizes: &subscripts.sizes,
    };
    match network.operands.len() {
        0 | 1 => EinsumPath {
            steps: Vec::new(),
            products: 0.0,
        },
        n if n <= EXHAUSTIVE => network.cheapest(),
        _ => network.greedy(),
    }
}

/// The cheapest way to the product of some of the operands.
#[derive(Clone, Copy)]
struct Best {
    products: f64,
    /// One side of the last product; the other are the rest.
    left: usize,
    /// Labels that are still needed after it.
    kept: u128,
}

impl Network<'_> {
    /// Compares all orders, smaller sets of operands first. Sets are bits of a number.
    fn cheapest(&self) -> EinsumPath {
        let n = self.operands.len();
        let all = (1 << n) - 1;
        let union = |set: usize| {
            let members = (0..n).filter(|i| set >> i & 1 == 1);
            members.fold(0, |labels, i| labels | self.operands[i])
        };
        let mut best: Vec<Best> = Vec::with_capacity(all + 1);
        for set in 0..=all {
            let kept = union(set) & (self.output | union(all & !set));
            let mut entry = Best {
                products: 0.0,
                left: 0,
                kept,
            };
            if set & set.wrapping_sub(1) != 0 {
                entry.products = f64::INFINITY;
                let mut left = (set - 1) & set;
                while left > 0 {
                    let (a, b): (&Best, &Best) = (&best[left], &best[set & !left]);
                    let products = a.products + b.products + self.positions(a.kept | b.kept);
                    if products < entry.products || entry.left == 0 {
                        (entry.products, entry.left) = (products, left);
                    }
                    left = (left - 1) & set;
                }
            }
            best.push(entry);
        }
        let mut steps = Vec::new();
        self.number(&best, all, &mut steps);
        EinsumPath {
            steps,
            products: best[all].products,
        }
    }

    /// Writes the products that make a set, and gives the number of the result.
    fn number(&self, best: &[Best], set: usize, steps: &mut Vec<[usize; 2]>) -> usize {
        let left = best[set].left;
        if left == 0 {
            return set.trailing_zeros() as usize;
        }
        let (x, y) = (
            self.number(best, left, steps),
            self.number(best, set & !left, steps),
        );
        steps.push([x.min(y), x.max(y)]);
        self.operands.len() + steps.len() - 1
    }

    /// Takes the pair whose result is smallest beside what it replaces, again and again.
    fn greedy(&self) -> EinsumPath {
        let mut open: Vec<(usize, u128)> = self.operands.iter().copied().enumerate().collect();
        let mut path = EinsumPath {
            steps: Vec::new(),
            products: 0.0,
        };
        while open.len() > 1 {
            let mut found: Option<((f64, f64), [usize; 2], u128)> = None;
            for j in 1..open.len() {
                for i in 0..j {
                    let (x, y) = (open[i].1, open[j].1);
                    let others = (0..open.len()).filter(|&k| k != i && k != j);
                    let needed = others.fold(self.output, |labels, k| labels | open[k].1);
                    let kept = (x | y) & needed;
                    let grown = self.positions(kept) - self.positions(x) - self.positions(y);
                    let rank = (grown, self.positions(x | y));
                    if found.is_none_or(|(least, ..)| rank < least) {
                        found = Some((rank, [i, j], kept));
                    }
                }
            }
            let Some(((_, products), [i, j], kept)) = found else {
                break;
            };
            let (y, x) = (open.remove(j), open.remove(i));
            open.push((self.operands.len() + path.steps.len(), kept));
            path.steps.push([x.0, y.0]);
            path.products += products;
        }
        path
    }
}
