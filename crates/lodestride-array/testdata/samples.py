"""Writes samples.txt: what NumPy and SciPy answer about functions known at points, convolutions and polynomials, norms and
histograms of pairs. Run with NumPy 2."""

import warnings

import numpy as np
import scipy.integrate

warnings.simplefilter("ignore")
rng = np.random.default_rng(17)
out = open("samples.txt", "w")
inf, nan = np.inf, np.nan


def text(a):
    a = np.asarray(a)
    sizes = " ".join(map(str, a.shape))
    return f"{a.dtype} {sizes} : " + " ".join(repr(float(v)) for v in np.ravel(a))


def case(words, inputs, results):
    words = " ".join(map(str, words))
    out.write(" | ".join([words, *map(text, inputs)]) + " => " + " | ".join(map(text, results)) + "\n")


def numbers(*shape):
    return np.round(rng.uniform(-4, 4, shape), 2)


# Straight lines between points.
points, values = np.array([-1.0, 0.5, 0.5, 2.0, 7.25]), np.array([3.0, -1.0, 4.0, 0.25, 9.0])
x = np.array([[-3.0, -1.0, 0.0, 0.5], [1.0, 7.25, 8.0, nan]])
for xp, fp in [
    (points, values),
    (points.astype("float32"), values.astype("int32")),
    (points[:1], values[:1]),
    (points[:2], values[:2]),
    (np.array([0, 2, 3]), np.array([inf, 1.0, -inf])),
    (np.array([-inf, 0.0, inf]), np.array([1.0, 1.0, 3.0])),
]:
    for at in [x, x[0, 1], np.zeros((0, 3)), np.array([1, 2, 3], "int8"), x.astype("float16")]:
        case(["interp"], [at, xp, fp], [np.interp(at, xp, fp)])
        case(["interp_with", -9.5, 9.5], [at, xp, fp], [np.interp(at, xp, fp, left=-9.5, right=9.5)])
for at in [x, np.array([-720.0, 5.0, 359.5, 1000.0]), np.zeros((0, 2)), np.array(7)]:
    xp, fp = np.array([190.0, -10.0, 370.0, 45.5]), np.array([4.0, -1.0, 2.5, 9.0])
    case(["interp_periodic", 360], [at, xp, fp], [np.interp(at, xp, fp, period=360)])
    case(["interp_periodic", -2.5], [at, xp, fp], [np.interp(at, xp, fp, period=-2.5)])
    case(["interp_periodic", 4], [at, xp[:1], fp[:1]], [np.interp(at, xp[:1], fp[:1], period=4)])

# Slopes and areas.
coordinates = {4: np.array([-1.0, 0.0, 0.25, 3.0]), 3: np.array([1, 3, 4]), 5: np.arange(5) * 0.5}
for a in [numbers(4), numbers(3, 4), numbers(4, 3, 2), numbers(5), numbers(4, 0), rng.integers(-9, 9, (3, 4)), numbers(3, 4).astype("float32"), numbers(4).astype("float16"), rng.integers(0, 200, 4).astype("uint8")]:
    for axis in [*range(a.ndim), -1]:
        if a.shape[axis] < 3:
            continue
        for order in [1, 2]:
            for step in [1, 0.5]:
                case(["gradient", axis, order, step], [a], [np.gradient(a, step, axis=axis, edge_order=order)])
            at = coordinates[a.shape[axis]]
            case(["gradient", axis, order, "at"], [a, at], [np.gradient(a, at, axis=axis, edge_order=order)])
    for axis in [*range(a.ndim), -1]:
        y = a.astype(float) if a.dtype.kind in "iu" else a
        for step in [1, 0.5]:
            case(["trapezoid", axis, step], [a], [np.trapezoid(y, dx=step, axis=axis)])
            if a.size:
                case(["cumulative_trapezoid", axis, step], [a], [scipy.integrate.cumulative_trapezoid(y, dx=step, axis=axis)])
        if a.shape[axis] in coordinates:
            at = coordinates[a.shape[axis]]
            # Here the heights are added in the precision of the result already.
            case(["trapezoid", axis, "at"], [a, at], [np.trapezoid(y.astype(float), at, axis=axis)])
a = numbers(2, 2)
case(["gradient", 0, 1, 2], [a], [np.gradient(a, 2, axis=0)])
a, at = numbers(2, 3), np.cumsum(np.abs(numbers(2, 3)), 1)
case(["trapezoid", 1, "at"], [a, at], [np.trapezoid(a, at)])
case(["trapezoid", 1, "at"], [a, at[:1]], [np.trapezoid(a, at[:1])])
case(["trapezoid", 0, 1], [np.zeros((0, 3))], [np.trapezoid(np.zeros((0, 3)), axis=0)])
case(["trapezoid", 0, 1], [np.ones((1, 3))], [np.trapezoid(np.ones((1, 3)), axis=0)])
a = numbers(3, 4)
case(["gradient_axes"], [a, coordinates[4]], np.gradient(a, coordinates[4], 2.0, axis=(1, 0)))

# Sliding one vector past another.
vectors = [
    (numbers(5), numbers(3)),
    (numbers(3), numbers(5)),
    (numbers(4), numbers(4)),
    (numbers(6), numbers(2)),
    (numbers(2), numbers(5)),
    (numbers(1), numbers(4)),
    (rng.integers(-100, 100, 5).astype("int8"), rng.integers(-100, 100, 4).astype("int8")),
    (rng.integers(0, 255, 4).astype("uint8"), rng.integers(-100, 100, 3)),
    (rng.integers(0, 2, 6).astype(bool), rng.integers(0, 2, 3).astype(bool)),
    (rng.integers(0, 2, 3).astype(bool), rng.integers(0, 2, 6).astype(bool)),
    (numbers(5).astype("float32"), numbers(2).astype("float32")),
    (rng.integers(-5, 5, 5).astype("float16"), rng.integers(-5, 5, 2).astype("float16")),
    (numbers(4).astype("float32"), rng.integers(-9, 9, 3).astype("int32")),
    (np.array([1.0, inf, 2.0, nan]), np.array([0.0, 1.0, 3.0])),
    (np.array(2.0), numbers(3)),
    (np.array(2), np.array(3)),
]
for a, b in vectors:
    for mode in ["full", "same", "valid"]:
        case(["convolve", mode], [a, b], [np.convolve(a, b, mode)])
        case(["correlate", mode], [a, b], [np.correlate(np.atleast_1d(a), np.atleast_1d(b), mode)])

# Polynomials.
for p, at in [
    (numbers(4), numbers(2, 3)),
    (numbers(1), numbers(3)),
    (np.zeros(0), numbers(2)),
    (np.array([3, 0, -1]), np.array([[5, -1], [2, 0]])),
    (np.array([3, 100, -1], "int8"), np.array([5, -1], "int8")),
    (np.array([1, 2], "int32"), numbers(3).astype("float32")),
    (numbers(3).astype("float32"), numbers(2, 1).astype("float32")),
    (np.array([1.0, -2.0, 0.5], "float16"), np.array([0.5, 2.0, -3.0], "float16")),
    (numbers(40) / 4, numbers(3) / 4),
    (np.array([1.0, 2.0]), np.array([inf, nan, -inf])),
    (np.array([1.0, 2.0]), np.array(3.0)),
    (np.array([1.0, 2.0]), np.zeros((0, 2))),
]:
    case(["polyval"], [p, at], [np.polyval(p, at)])
x, y = numbers(7), numbers(7)
for degree in [0, 1, 2, 3]:
    case(["polyfit", degree], [x, y], [np.polyfit(x, y, degree)])
    y2 = numbers(7, 2)
    case(["polyfit", degree], [x, y2], [np.polyfit(x, y2, degree)])
    full = np.polyfit(x, y2, degree, full=True, w=np.abs(y))
    case(["polyfit_full", degree], [x, y2, np.abs(y)], [full[0], full[1], full[3]])
case(["polyfit", 3], [np.array([1.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])], [np.polyfit([1.0, 1.0, 2.0], [1.0, 3.0, 5.0], 3)])
case(["polyfit", 1], [np.arange(4), np.array([1, 3, 5, 7])], [np.polyfit(np.arange(4), [1, 3, 5, 7], 1)])


def roots(p):
    found = np.sort_complex(np.round(np.roots(p), 9))
    return [np.sort(found.real), np.sort(found.imag)]


for p in [numbers(4), numbers(6), np.array([0.0, 0.0, 2.0, -3.0, 1.0, 0.0, 0.0]), np.array([1, 0, 1]), np.array([5.0]), np.array([0.0, 0.0]), np.zeros(0), np.array([3.0, 0.0, 0.0])]:
    case(["poly_roots"], [p], roots(p))
for a in [numbers(3, 3), numbers(2, 4, 4), np.zeros((0, 0)), np.zeros((2, 0, 0)), rng.integers(-5, 5, (2, 2))]:
    values = np.linalg.eigvals(a)
    case(["eigvals"], [a], [np.sort(values.real), np.sort(values.imag)])
    case(["eigvalsh"], [a], [np.linalg.eigvalsh(a)])
    for order in [-1, -2, -inf, 1, 2, inf, "nuc", "fro"]:
        if a.size or order not in [-1, -2, -inf]:
            case(["matrix_norm", order], [a], [np.linalg.norm(a, order, axis=(-2, -1))])

# Norms of any order.
for a in [numbers(3, 4), numbers(2, 3, 2), numbers(5), rng.integers(-9, 9, (3, 4)).astype("int8"), np.array([True, False, True]), numbers(3, 4).astype("float32"), np.zeros((0, 3)), np.array(-2.5)]:
    for p in [inf, -inf, 0, 1, 2, 3, 0.5, -1, -2.5]:
        for axis in [*range(a.ndim), None]:
            if p == -inf and a.size == 0 and axis != 1:
                continue
            found = np.linalg.vector_norm(a, ord=p, axis=axis)
            if a.dtype.kind in "bi":
                found = np.linalg.vector_norm(a.astype(float), ord=p, axis=axis)
            case(["norm_p", p, "all" if axis is None else axis], [a], [found])

# Pairs in bins.
x, y, w = numbers(20), numbers(20), np.round(rng.uniform(0, 3, 20), 1)
xe, ye = np.array([-3.0, -1.0, 0.5, 4.0]), np.array([-2, 0, 2, 2, 3])
for bins in [3, 1]:
    case(["histogram2d", bins, bins + 1], [x, y], np.histogram2d(x, y, [bins, bins + 1]))
    case(["histogram2d_density", bins, bins + 1], [x, y, w], np.histogram2d(x, y, [bins, bins + 1], density=True, weights=w))
    case(["histogram2d_range", bins, bins + 1], [x, y], np.histogram2d(x, y, [bins, bins + 1], range=[[-2, 2], [0, 3]]))
case(["histogram2d_edges"], [x, y, xe, ye], np.histogram2d(x, y, [xe, ye]))
case(["histogram2d_edges"], [np.array([-3.0, 4.0, nan, 0.5]), np.array([2.0, 3.0, 0.0, -2.0]), xe, ye], np.histogram2d([-3.0, 4.0, nan, 0.5], [2.0, 3.0, 0.0, -2.0], [xe, ye]))
case(["histogram2d", 2, 2], [np.zeros(0), np.zeros(0)], np.histogram2d([], [], 2))
case(["histogram2d", 2, 3], [np.arange(4), np.ones(4, "int8")], np.histogram2d(np.arange(4), np.ones(4, "int8"), [2, 3]))
