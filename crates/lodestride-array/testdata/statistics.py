"""Writes statistics.txt: what NumPy, SciPy and PyTorch answer. Run with NumPy 2, SciPy and PyTorch."""

import warnings

import numpy as np
import torch
from scipy import special
from scipy.spatial import distance

warnings.simplefilter("ignore")
rng = np.random.default_rng(3)
out = open("statistics.txt", "w")


def text(a):
    a = np.asarray(a)
    sizes = " ".join(map(str, a.shape))
    return f"{a.dtype} {sizes} : " + " ".join(repr(float(v)) for v in np.ravel(a))


def case(words, inputs, results):
    out.write(" | ".join([words, *map(text, inputs)]) + " => " + " | ".join(map(text, results)) + "\n")


def axis_of(word):
    return None if word == "all" else int(word)


x = np.round(rng.normal(size=(4, 5)) * 8) / 8
holes = x.copy()
holes[0, 1] = holes[2, 3] = holes[2, 0] = np.nan
holes[3, 2] = np.inf
column = holes.copy()
column[:, 1] = np.nan
counts = rng.integers(-5, 6, (3, 4))
plain = holes.copy()
plain[3, 2] = 2.0
for a in [holes, column, plain, plain.astype(np.float32), x, counts, np.array([1.5, np.nan])]:
    for axis in ["all", "0", "1"][: 1 + a.ndim]:
        for name in ["sum", "prod", "mean", "max", "min"]:
            case(f"nan_{name} {axis}", [a], [getattr(np, "nan" + name)(a, axis_of(axis))])
        for ddof in [0, 1, 3]:
            case(f"nan_var {axis} {ddof}", [a], [np.nanvar(a, axis_of(axis), ddof=ddof)])
        if a is not column:
            case(f"nan_argmax {axis}", [a], [np.nanargmax(a, axis_of(axis))])
            case(f"nan_argmin {axis}", [a], [np.nanargmin(a, axis_of(axis))])
    for axis in ["0", "1"][: a.ndim]:
        case(f"nan_cumsum {axis}", [a], [np.nancumsum(a, int(axis))])
        case(f"nan_cumprod {axis}", [a], [np.nancumprod(a, int(axis))])

p = rng.integers(0, 5, (3, 4)) / 16
for axis in ["all", "0", "1"]:
    shannon = special.entr(p).sum(axis_of(axis))
    case(f"entropy {axis}", [p], [shannon])
    case(f"log_entropy {axis}", [p], [np.log(shannon)])
    case(f"shannon_entropy {axis}", [p], [shannon / np.log(2)])
    case(f"moments {axis}", [x], [x.mean(axis_of(axis)), x.var(axis_of(axis))])
    case(f"peak_to_peak {axis}", [x], [np.ptp(x, axis_of(axis))])
    w = rng.integers(1, 5, x.shape) / 4
    case(f"weighted_mean {axis}", [x, w], [np.average(x, axis_of(axis), weights=w)])
    case(f"weighted_mean {axis}", [counts, np.abs(counts)], [np.average(counts, axis_of(axis), weights=np.abs(counts))])
for ddof in [0, 1]:
    case(f"covariance {ddof}", [x], [np.cov(x, ddof=ddof)])
    case(f"covariance {ddof}", [counts], [np.cov(counts, ddof=ddof)])
case("correlation", [x], [np.corrcoef(x)])
case("correlation", [x.astype(np.float32)], [np.corrcoef(x)])
for a in [x, counts, x.astype(np.float32), rng.integers(0, 250, (2, 3, 2)).astype(np.uint8)]:
    for axis in range(-a.ndim, a.ndim):
        for times in [0, 1, 2, 7]:
            case(f"diff {times} {axis}", [a], [np.diff(a, times, axis)])

a, b = (np.round(rng.normal(size=s) * 8) / 8 for s in [(5, 3), (4, 3)])
sets = [np.abs(a), np.abs(b)]
for name, scipy_name in [
    ("cosine", "cosine"), ("euclidean", "euclidean"), ("squared_euclidean", "sqeuclidean"),
    ("manhattan", "cityblock"), ("chebyshev", "chebyshev"),
]:
    case(f"all {name}", [a, b], [distance.cdist(a, b, scipy_name)])
    case(f"all {name}", [a.astype(np.float32), b.astype(np.float32)], [distance.cdist(a, b, scipy_name)])
    along = [getattr(distance, scipy_name)(u, v) for u, v in zip(a, b)]
    case(f"along 1 {name}", [a[:4], b], [np.array(along)])
    case(f"along 0 {name}", [a[:4].T, b.T], [np.array(along)])
    case(f"whole {name}", [a[:4], b], [getattr(distance, scipy_name)(a[:4].ravel(), b.ravel())])
case("all dot", [a, b], [a @ b.T])
case("all similarity", [a, b], [1 - distance.cdist(a, b, "cosine")])
case("along 1 dot", [a[:4], b], [(a[:4] * b).sum(1)])
case("along 1 similarity", [a[:4], b], [1 - np.array([distance.cosine(u, v) for u, v in zip(a, b)])])
u, v = rng.integers(0, 3, (6, 5)), rng.integers(0, 3, (4, 5))
case("all hamming", [u, v], [distance.cdist(u, v, "hamming")])
case("along 1 hamming", [u[:4], v], [(u[:4] != v).mean(1)])
jaccard = 1 - np.minimum(u[:, None], v[None]).sum(2) / np.maximum(u[:, None], v[None]).sum(2)
case("all jaccard", [u, v], [jaccard])
case("all jaccard", [u > 0, v > 0], [distance.cdist(u > 0, v > 0, "jaccard")])

points = np.array([-30.0, -7.5, -2.6, -1.7, -0.9, -0.3, 0.1, 0.4, 0.75, 1.3, 2.4, 5.5, 6.5, 40.0])
f = torch.nn.functional
FUNCTIONS = {
    "neg": torch.neg, "abs": torch.abs, "square": torch.square, "cube": lambda t: t**3, "exp": torch.exp,
    "reciprocal": torch.reciprocal, "one_minus": lambda t: 1 - t, "exp2": torch.exp2, "expm1": torch.expm1,
    "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh,
    "tanh": torch.tanh, "asinh": torch.asinh, "erf": torch.erf, "erfc": torch.erfc, "floor": torch.floor,
    "sign": torch.sign, "sigmoid": torch.sigmoid, "log_sigmoid": f.logsigmoid, "softplus": torch.nn.Softplus(threshold=99),
    "softsign": f.softsign, "relu": torch.relu, "relu6": f.relu6, "leaky_relu": lambda t: f.leaky_relu(t, 0.01),
    "elu": f.elu, "selu": torch.selu, "gelu": f.gelu, "swish": f.silu, "mish": f.mish, "hard_tanh": f.hardtanh,
    "hard_sigmoid": lambda t: torch.clamp(0.2 * t + 0.5, 0, 1), "rectified_tanh": lambda t: torch.relu(torch.tanh(t)),
    "rational_tanh": lambda t: 1.7159 * torch.sign(t) * (1 - 1 / (1 + (2 * t / 3).abs() + (2 * t / 3) ** 2 + 1.41645 * (2 * t / 3) ** 4)),
}
POSITIVE = {"sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "log": torch.log, "log2": torch.log2, "log10": torch.log10,
            "log1p": torch.log1p, "cbrt": lambda t: t ** (1 / 3)}
INNER = {"asin": torch.asin, "acos": torch.acos, "atanh": torch.atanh}


def slopes(functions, at):
    for name, function in functions.items():
        t = torch.tensor(at, requires_grad=True)
        function(t).sum().backward()
        case(f"derivative {name}", [at], [t.grad.numpy()])


slopes(FUNCTIONS, points)
slopes(POSITIVE, np.array([1e-3, 0.2, 1.0, 3.5, 900.0]))
slopes(INNER, np.array([-0.99, -0.4, 0.0, 0.5, 0.875]))
slopes({"acosh": torch.acosh}, np.array([1.01, 1.5, 7.0]))
