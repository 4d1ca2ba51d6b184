"""Writes padding.txt: what NumPy's pad answers in every mode. Run with NumPy 2."""

import numpy as np

rng = np.random.default_rng(11)
out = open("padding.txt", "w")


def text(values):
    return " ".join(repr(float(v)) for v in np.ravel(values))


def whole(values):
    return " ".join(str(int(v)) for v in np.ravel(values))


def case(a, widths, name, pairs, **kwargs):
    """One line: dtype | shape | values | widths | mode | pairs => shape | values."""
    found = np.pad(a, widths, **kwargs)
    parts = [str(a.dtype), whole(a.shape), text(a), whole(widths), name, text(pairs)]
    out.write(" | ".join(parts) + " => " + whole(found.shape) + " | " + text(found) + "\n")


def every_mode(a, widths):
    rank = a.ndim
    pair = (3, 2) if a.dtype == np.uint8 else (3, -2)
    case(a, widths, "constant", pair, mode="constant", constant_values=pair)
    per_axis = [(i, i + 1) for i in range(1, rank + 1)]
    if rank > 1:
        case(a, widths, "constant", per_axis, mode="constant", constant_values=per_axis)
    case(a, widths, "edge", [], mode="edge")
    case(a, widths, "linear_ramp", [0, 0], mode="linear_ramp", end_values=0)
    case(a, widths, "linear_ramp", per_axis, mode="linear_ramp", end_values=per_axis)
    for stat in ["maximum", "mean", "median", "minimum"]:
        case(a, widths, stat, [], mode=stat)
        case(a, widths, stat, [1, 2], mode=stat, stat_length=(1, 2))
        case(a, widths, stat, per_axis, mode=stat, stat_length=per_axis)
    for mirror in ["reflect", "symmetric"]:
        case(a, widths, mirror, [], mode=mirror)
        case(a, widths, mirror + "_odd", [], mode=mirror, reflect_type="odd")
    case(a, widths, "wrap", [], mode="wrap")


def array(dtype, shape):
    high = 40 if dtype == "uint8" else 80
    low = 0 if dtype == "uint8" else -80
    values = rng.integers(low, high, shape)
    return (values / 8).astype(dtype) if dtype.startswith("float") else values.astype(dtype)


for dtype in ["float32", "float64", "float16", "int32", "int64", "uint8", "int16"]:
    every_mode(array(dtype, [5]), [(2, 3)])
for dtype in ["float32", "int32"]:
    every_mode(array(dtype, [4]), [(11, 9)])
    every_mode(array(dtype, [3, 4]), [(1, 2), (0, 3)])
    every_mode(array(dtype, [2, 3]), [(5, 0), (2, 7)])
    every_mode(array(dtype, [1, 3]), [(2, 2), (1, 1)])
every_mode(array("float64", [2, 1, 3]), [(1, 1), (2, 0), (0, 2)])
empty = np.zeros([0, 2], np.float32)
case(empty, [(1, 1), (0, 1)], "constant", [5, 5], mode="constant", constant_values=5)
case(empty, [(0, 0), (1, 1)], "edge", [], mode="edge")
