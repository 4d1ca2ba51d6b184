"""Writes sorting.txt: what NumPy answers for quantiles, histograms, searches, distinct values. Run with NumPy 2."""

import numpy as np

rng = np.random.default_rng(7)
out = open("sorting.txt", "w")


def text(values):
    return " ".join(repr(float(v)) for v in np.ravel(values))


def case(kind, arguments, inputs, results):
    parts = [kind, arguments, *map(text, inputs), "=>", *map(text, results)]
    out.write(" | ".join(parts) + "\n")


METHODS = [
    "linear", "lower", "higher", "nearest", "midpoint",
    "weibull", "hazen", "median_unbiased", "normal_unbiased",
]
for n in [1, 2, 3, 4, 9, 10, 300]:
    x = np.round(rng.normal(size=n) * 8) / 4
    for method in METHODS if n < 300 else ["linear", "nearest"]:
        for q in [0.0, 0.05, 0.25, 0.3, 0.5, 0.75, 0.875, 1.0] if n < 300 else [0.3, 0.875]:
            case("quantile", f"{method} {q}", [x], [np.quantile(x, q, method=method)])
    case("median", "", [x], [np.median(x)])

with_nan = np.array([3.0, np.nan, 1.0, 2.0, np.nan, 8.0])
case("median", "", [with_nan], [np.median(with_nan)])
case("nan_median", "", [with_nan], [np.nanmedian(with_nan)])

x = np.round(rng.normal(size=200) * 4) / 4
x[5] = 0.0
for bins in [1, 3, 7, 10]:
    case("histogram", f"{bins}", [x], np.histogram(x, bins))
    for low, high in [(-1.0, 1.0), (0.0, 0.0), (-0.3, 0.7)]:
        case("histogram_range", f"{bins} {low} {high}", [x], np.histogram(x, bins, (low, high)))
    case("histogram_density", f"{bins}", [x], np.histogram(x, bins, density=True))
edges = np.array([-2.0, -0.5, 0.0, 0.0, 0.25, 3.0])
case("histogram_edges", "", [x, edges], [np.histogram(x, edges)[0]])
w = np.round(rng.random(200) * 16) / 16
case("histogram_weights", "5", [x, w], np.histogram(x, 5, weights=w))

table = np.sort(np.round(rng.normal(size=60) * 8) / 8)
table[-2:] = [np.inf, np.nan]
values = np.concatenate([x[:50], [np.nan, np.inf, -np.inf, -0.0]])
for side in ["left", "right"]:
    case("searchsorted", side, [table, values], [np.searchsorted(table, values, side)])
for right in [False, True]:
    for bins in [edges, edges[::-1]]:
        case("digitize", str(int(right)), [x, bins], [np.digitize(x, bins, right)])

x[3] = x[9] = np.nan
found = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
case("unique", "", [x], found)
i = rng.integers(0, 9, 50)
case("bincount", "0", [i], [np.bincount(i)])
case("bincount", "12", [i], [np.bincount(i, minlength=12)])
case("bincount_weights", "0", [i, w[:50]], [np.bincount(i, w[:50])])
keys = rng.integers(0, 4, (3, 40))
case("lexsort", "", keys, [np.lexsort(keys)])
