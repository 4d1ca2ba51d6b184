"""One array library of Python in a process of its own, as the benchmark's peer.

usage: peers.py LIBRARY THREADS, with requests on the standard input and answers on the output, a line of JSON each; see
src/peers.rs. Inputs are those of src/answers.rs: the same generator, the same streams and bounds. Where a library has
several ways to do something, each is tried when the workload is prepared and the fastest is measured.
"""
import atexit
import json
import math
import os
import shutil
import sys
import tempfile
import time

LIBRARY, THREADS = sys.argv[1], int(sys.argv[2])
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[variable] = str(THREADS)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# XLA makes as many threads as there are processors it may use.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-THREADS:])

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"bf16": np.float32, "f16": np.float16, "f32": np.float32, "f64": np.float64, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "bool": np.bool_}


def uniform(shape, stream, low, high, dtype):
    """SplitMix64, as in answers.rs; the arithmetic is that of f32 for both types."""
    count = math.prod(shape)
    with np.errstate(over="ignore"):
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64((stream * 0xD1B54A32D192ED03) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    unit = ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).astype(np.float32) / np.float32(2**24)
    low, high = np.float32(low), np.float32(high)
    return (low + (high - low) * unit).reshape(shape).astype(dtype)


def positions(count, stream, bound):
    return (uniform((count,), stream, 0, 1, np.float32).astype(np.float64) * bound).astype(np.int64)


class NumPy:
    """What the others leave out, they do not have."""

    about = "numpy " + np.__version__
    given = True
    graph = bf16 = None

    def __init__(self):
        self.m = np
        core = openblas_core()
        self.about = f"numpy {np.__version__}" + (f", OpenBLAS for {core}" if core else "")

    def arr(self, a): return a
    def back(self, x): return np.asarray(x)

    def add(self, a, b, o=None): return lambda: np.add(a, b, out=o)
    def div(self, a, b, o=None): return lambda: np.divide(a, b, out=o)
    def adds(self, a): return lambda: np.add(a, 1.5, out=a)
    def fma(self, a, b, c, o): return lambda: np.add(np.multiply(a, b, out=o), c, out=o)

    def chain3(self, a, b, c, o):
        def f():
            t = a - b
            t *= t
            return np.divide(t, c, out=o)
        return f

    def chain10(self, x, y, o):
        k, h = x.dtype.type(1.5), x.dtype.type(0.5)
        return lambda: np.tanh(np.exp(-(x * x)) + np.log(y + k)) * x - y * h

    def function(self, name, x, o, y):
        if name == "pow": return lambda: np.power(x, y, out=o)
        if name == "sigmoid": return lambda: np.reciprocal(np.add(np.exp(np.negative(x, out=o), out=o), 1, out=o), out=o)
        if name == "softplus": return lambda: np.logaddexp(x, 0, out=o)
        f = getattr(np, name, None)
        return f and (lambda: f(x, out=o))

    def reduce(self, name, x, axis):
        if name == "norm2":
            ways = [lambda: np.linalg.norm(x, axis=axis)] if axis is not None else [lambda: np.linalg.norm(x)]
            return ways
        if name == "var": return lambda: np.var(x, axis=axis, ddof=1)
        return lambda: getattr(np, name)(x, axis=axis)

    def view(self, name, x):
        return {"transpose": lambda: x.T, "permute0231": lambda: x.transpose(0, 2, 3, 1), "slice2": lambda: x[::2, ::2]}[name]()

    def copy(self, v, o):
        def f():
            np.copyto(o, v)
            return o
        return f if o is not None else (lambda: np.ascontiguousarray(v))

    def concat(self, xs, axis): return lambda: np.concatenate(xs, axis=axis)
    def gather(self, t, ids): return lambda: np.take(t, ids, axis=0)
    def mask(self, x, m): return lambda: x[m]
    def sort(self, x): return lambda: np.sort(x)
    def argsort(self, x): return lambda: np.argsort(x)
    def cumsum(self, x): return lambda: np.cumsum(x)
    def partition(self, x): return lambda: np.partition(x, x.size // 2)

    def topk(self, x):
        def f():
            i = np.argpartition(x, x.size - 100)[x.size - 100:]
            return x[i[np.argsort(-x[i])]]
        return f

    def wide(self, a, b, row, line, at):
        """What src/workloads/wide.rs measures."""
        flat, first, small, beside = at.ravel(), at[0], a[:128, :128].copy(), b[:128, :128].copy()
        tile, tiles, step, doubles = small[:32, :32].copy(), beside[:32, :32].copy(), a[:, ::2], a.astype(np.float64)
        narrow, three = line[:4096 * 32].copy().reshape(4096, 32), line[:3000].copy().reshape(1000, 3)
        hundred, columns = line[:10000].copy().reshape(100, 100), line[:300].copy().reshape(100, 3)
        rows = line[:300].copy().reshape(3, 100)
        eight, square = line[:256].copy().reshape(32, 8), line[:9].copy().reshape(3, 3)
        batch = line[:9000].copy().reshape(1000, 3, 3)
        points, pixels = line[:999_999].copy().reshape(333_333, 3), line[:999_000].copy().reshape(1000, 333, 3)
        planes = line[:999_000].copy().reshape(3, 1000, 333).transpose(1, 2, 0)
        column, few, order, orders = narrow[:, :1].copy(), narrow.reshape(32, 4096), positions(3, 6, 3), positions(32, 6, 32)
        return {
            "points.add": lambda: points[:, :2] + points[:, 1:], "points.sum.ax0": lambda: points[:, :2].sum(0),
            "pixels.one": lambda: pixels[:, :, 0].sum(1), "pixels.planes": lambda: planes + pixels, "pixels.turned": lambda: -planes,
            "pixels.mean.ax1": lambda: pixels.mean(1), "pixels.median": lambda: np.median(pixels, 2),
            "points.flip": lambda: points[::-1].copy(), "points.tv": lambda: points.T @ line[:333_333],
            "pixels.mirror": lambda: pixels[:, ::-1].copy(), "pixels.backward": lambda: pixels[:, :, ::-1].copy(),
            "pixels.part": lambda: pixels.transpose(2, 0, 1).copy(),
            "narrow.sub.column": lambda: narrow - column, "narrow.less.column": lambda: narrow < column,
            "narrow.mv": lambda: narrow @ row[:32], "narrow.max.few": lambda: few.max(0), "narrow.sum.few": lambda: few.sum(0),
            "narrow.take": lambda: narrow.take(orders, 1), "narrow.repeat": lambda: narrow.repeat(2, 0),
            "narrow.argmax": lambda: narrow.argmax(1), "narrow.all.few": lambda: few.all(0),
            "three.argmax": lambda: three.argmax(1), "three.take": lambda: three.take(order, 1),
            "three.mv": lambda: three @ row[:3], "three.add.row": lambda: three + row[:3],
            "narrow.tv": lambda: narrow.T @ line[:4096], "narrow.mm8": lambda: narrow @ eight, "narrow.gram": lambda: narrow.T @ narrow,
            "three.gram": lambda: three.T @ three, "three.mm3": lambda: three @ square, "three.outer": lambda: three @ three.T,
            "hundred.tv": lambda: hundred.T @ row[:100], "hundred.mm3": lambda: hundred @ columns, "hundred.nt3": lambda: rows @ hundred.T,
            "narrow.turn": lambda: np.ascontiguousarray(narrow.T), "three.turn": lambda: np.ascontiguousarray(three.T),
            "hundred.turn": lambda: np.ascontiguousarray(hundred.T),
            "three.batch": lambda: batch @ batch, "three.batch.turned": lambda: batch @ batch.swapaxes(1, 2),
            "hundred.repeat": lambda: hundred.repeat(2, 1), "hundred.delete": lambda: np.delete(hundred, 5, 1),
            "hundred.counts": lambda: np.unique(hundred, return_counts=True)[0], "hundred.flip": lambda: hundred[:, ::-1].copy(),
            "hundred.mean": lambda: hundred.mean(0), "hundred.tolong": lambda: hundred.astype(np.int64),
            "hundred.sort": lambda: np.sort(hundred, 1), "hundred.sum": lambda: hundred.sum(0),
            "three.cumsum": lambda: three.cumsum(1), "three.step": lambda: three[:, ::2].sum(1),
            "takealong": lambda: np.take_along_axis(a, at, 1), "take.ax1": lambda: a.take(first, 1), "take.line": lambda: line.take(flat),
            "diff.ax0": lambda: np.diff(a, axis=0), "diff.ax1": lambda: np.diff(a, axis=1),
            "cumsum.ax0": lambda: a.cumsum(0), "cumsum.ax1": lambda: a.cumsum(1), "cumsum.turned": lambda: a.T.cumsum(0),
            "cummax.ax1": lambda: np.maximum.accumulate(a, 1),
            "argmax.ax1": lambda: a.argmax(1), "argmax.step": lambda: step.argmax(1),
            "max.step": lambda: step.max(1), "sum.step": lambda: step.sum(1),
            "pow2": lambda: a**2, "pow3": lambda: a**3, "asinh": lambda: np.arcsinh(a), "sinh": lambda: np.sinh(a),
            "cbrt": lambda: np.cbrt(a), "atan": lambda: np.arctan(a), "atan2": lambda: np.arctan2(a, b),
            "topk10": lambda: np.sort(np.partition(a, 990, 1)[:, 990:], 1)[:, ::-1],
            "partition": lambda: np.partition(a, 500, 1), "sort.ax1": lambda: np.sort(a, 1),
            "convolve": lambda: np.convolve(row, row), "gemv.turned": lambda: a.T @ row, "inner": lambda: line @ line,
            "toint": lambda: a.astype(np.int64), "trapezoid": lambda: np.trapezoid(a, axis=1), "nansum": lambda: np.nansum(a, 1),
            "kron": lambda: np.kron(tile, tiles), "log10": lambda: np.log10(a), "arange": lambda: np.arange(a.size, dtype=a.dtype),
            "median": lambda: np.median(line), "add.step": lambda: step + b[:, ::2],
            "logspace": lambda: np.logspace(-3, 3, a.size, dtype=a.dtype),
            "linspace": lambda: np.linspace(0, 1, a.size, dtype=a.dtype), "clip": lambda: np.clip(a, a.dtype.type(0.75), a.dtype.type(1.25)),
            "add.row": lambda: a + row, "mul": lambda: a * b, "max.ax0": lambda: a.max(0), "max.ax1": lambda: a.max(1),
            "min.all": lambda: a.min(), "sum.ax0": lambda: a.sum(0), "floordiv": lambda: a // 7, "mod": lambda: a % b,
            "shift": lambda: a << 1, "gemv": lambda: a @ row, "gevm": lambda: row @ a, "stack.last": lambda: np.stack([a, b], -1), "mm128": lambda: small @ beside,
            "any.ax0": lambda: a.any(0), "all.ax1": lambda: a.all(1), "count.ax0": lambda: a.sum(0),
            "add": lambda: a + b, "add.number": lambda: a + 2.0, "neg": lambda: -a, "exp": lambda: np.exp(a),
            "tof32": lambda: a.astype(np.float32), "fromf64": lambda: doubles.astype(a.dtype), "sum.ax1": lambda: a.sum(1),
            "max.all": lambda: a.max(),
        }

    def unique(self, x): return lambda: np.unique(x)
    def histogram(self, x): return lambda: np.histogram(x, 100)[0]
    def matmul(self, a, b, o): return lambda: np.matmul(a, b, out=o)
    def transposed(self, a): return a.T

    def softmax(self, x):
        def f():
            e = x - x.max(-1, keepdims=True)
            np.exp(e, out=e)
            e /= e.sum(-1, keepdims=True)
            return e
        return f

    def layernorm(self, x, g, b):
        def f():
            d = x - x.mean(-1, keepdims=True)
            d *= 1 / np.sqrt(np.mean(d * d, -1, keepdims=True) + x.dtype.type(1e-5))
            d *= g
            d += b
            return d
        return f

    def logsumexp(self, x):
        def f():
            most = x.max(-1, keepdims=True)
            return np.log(np.exp(x - most).sum(-1)) + most[:, 0]
        return f

    def loop(self, q):
        def f():
            total = np.zeros((4, 4), np.float32)
            for _ in range(1000):
                total += (q + q) * q
            return total
        return f

    def row(self, x): return lambda: x[5]
    def scalar(self, x): return [lambda: x[5, 7], lambda: x.item(5, 7)]

    def random(self, name, dtype, n):
        g, o = np.random.default_rng(1), np.empty(n, dtype)
        f = g.random if name == "uniform" else g.standard_normal
        return lambda: f(n, dtype=dtype, out=o)

    def file(self, name, dtype, n):
        folder = tempfile.mkdtemp(prefix="lodestride-bench-")
        atexit.register(shutil.rmtree, folder)
        path, x = os.path.join(folder, "array.npy"), uniform((n,), 1, 0.1, 1, dtype)
        np.save(path, x)
        if name == "npy.read": return lambda: np.load(path)
        if name == "npy.write": return lambda: np.save(path, x) or np.array([x.nbytes])

    def wide_ragged(self, name, r):
        x, starts, lens = r.x, r.offsets[:-1], r.lens
        if name == "rowconv":
            w, (one, two) = r.filter(), r.inside()
            def f():
                o = x * w[0]
                o[:-1] += x[1:] * w[1] * one
                o[:-2] += x[2:] * w[2] * two
                return o
            return f
        if name == "poolgrad":
            few, inverse = r.few, (1 / lens).astype(np.float32)[:, None]
            return lambda: np.repeat(few * inverse, lens, axis=0)
        if name == "concat":
            y, both, (first, second) = r.weights(), r.both(), r.places()
            def f():
                o = np.empty((2 * len(x), x.shape[1]), x.dtype)
                o[first], o[second] = x, y
                return o
            return [f, lambda: np.concatenate([x, y])[both], lambda: np.take(np.concatenate([x, y]), both, axis=0)]
        if name == "steps":
            go, back = r.steps()
            return [lambda: x[go][back], lambda: x.take(go, axis=0).take(back, axis=0)]
        if name == "softmaxgrad":
            y, g = r.weights(), r.given()
            return lambda: y * (g - np.repeat(np.add.reduceat(y * g, starts, axis=0), lens, axis=0))
        if name == "enumerate":
            ids, index, (one, two) = r.ids(), r.windows(), [~m[:, 0].astype(bool) for m in r.inside()]
            zero = np.zeros(1, np.int64)
            def f():
                o = np.empty((len(ids), 3), np.int64)
                o[:, 0], o[:-1, 1], o[:-2, 2] = ids, ids[1:], ids[2:]
                o[:-1, 1][one] = 0
                o[:-2, 2][two] = 0
                o[-1, 1:] = o[-2, 2] = 0
                return o
            return [f, lambda: np.concatenate([ids, zero])[index], lambda: np.concatenate([ids, zero]).take(index)]

    def ragged(self, name, r):
        x, starts, lens, seg, pos = r.x, r.offsets[:-1], r.lens, r.seg, r.pos
        if name == "pool_sum": return lambda: np.add.reduceat(x, starts, axis=0)
        if name == "pool_max": return lambda: np.maximum.reduceat(x, starts, axis=0)
        if name == "pool_mean":
            inverse = (1 / lens).astype(np.float32)[:, None]
            return lambda: np.add.reduceat(x, starts, axis=0) * inverse
        if name == "softmax":
            s = r.scores
            def f():
                e = np.exp(s - np.repeat(np.maximum.reduceat(s, starts, axis=0), lens, axis=0))
                return e / np.repeat(np.add.reduceat(e, starts, axis=0), lens, axis=0)
            return f
        if name == "expand": return lambda: np.repeat(r.few, lens, axis=0)
        if name == "reverse": return lambda: x[r.reversed]
        if name == "last": return lambda: x[r.last]
        if name == "pad":
            def f():
                d = np.zeros((len(lens), r.longest, x.shape[1]), np.float32)
                d[seg, pos] = x
                return d
            return f
        if name == "unpad":
            d = r.padded()
            return lambda: d[seg, pos]


class NumExpr(NumPy):
    def __init__(self):
        import numexpr
        numexpr.set_num_threads(THREADS)
        self.about, self.ne = "numexpr " + numexpr.__version__, numexpr

    def e(self, text, o=None, **values): return lambda: self.ne.evaluate(text, local_dict=values, out=o)
    def add(self, a, b, o=None): return self.e("a+b", o, a=a, b=b)
    def div(self, a, b, o=None): return self.e("a/b", o, a=a, b=b)
    def fma(self, a, b, c, o): return self.e("a*b+c", o, a=a, b=b, c=c)
    def chain3(self, a, b, c, o): return self.e("(a-b)*(a-b)/c", o, a=a, b=b, c=c)

    def chain10(self, x, y, o):
        k, h = x.dtype.type(1.5), x.dtype.type(0.5)
        return self.e("tanh(exp(-(x*x))+log(y+k))*x-y*h", o, x=x, y=y, k=k, h=h)

    def function(self, name, x, o, y):
        if name == "pow": return self.e("x**y", o, x=x, y=y)
        if name in ("exp", "log", "log1p", "expm1", "sin", "cos", "tan", "tanh", "sqrt"): return self.e(f"{name}(x)", o, x=x)

    def reduce(self, name, x, axis):
        if name == "sum": return self.e("sum(x)" if axis is None else f"sum(x,axis={axis})", x=x)

    copy = concat = gather = mask = sort = argsort = cumsum = partition = topk = unique = histogram = matmul = softmax = layernorm = logsumexp = None
    loop = row = scalar = random = ragged = adds = file = wide = graph = None


class Torch(NumPy):
    file = partition = None

    def __init__(self):
        import torch
        torch.set_num_threads(THREADS)
        torch.set_grad_enabled(False)
        self.t, self.F, self.about = torch, torch.nn.functional, "torch " + torch.__version__

    def arr(self, a): return self.t.from_numpy(np.ascontiguousarray(a))
    def back(self, x): return (x.float() if x.dtype == self.t.bfloat16 else x).numpy() if hasattr(x, "numpy") else np.asarray(x)
    def bf16(self, x): return x.bfloat16()
    def add(self, a, b, o=None): return lambda: self.t.add(a, b, out=o)
    def div(self, a, b, o=None): return lambda: self.t.div(a, b, out=o)
    def adds(self, a): return lambda: a.add_(1.5)
    def fma(self, a, b, c, o): return [lambda: self.t.addcmul(c, a, b, out=o), lambda: self.t.add(self.t.mul(a, b, out=o), c, out=o)]

    def chain3(self, a, b, c, o):
        def f():
            d = a - b
            d *= d
            return self.t.div(d, c, out=o)
        return f

    def chain10(self, x, y, o):
        t = self.t
        return lambda: t.tanh(t.exp(-(x * x)) + t.log(y + 1.5)) * x - y * 0.5

    def function(self, name, x, o, y):
        t = self.t
        if name == "pow": return lambda: t.pow(x, y, out=o)
        if name == "gelu": return lambda: self.F.gelu(x)
        if name == "softplus": return lambda: self.F.softplus(x)
        f = getattr(t, name)
        return lambda: f(x, out=o)

    def reduce(self, name, x, axis):
        t, kw = self.t, {} if axis is None else {"dim": axis}
        f = {"sum": t.sum, "mean": t.mean, "max": t.amax, "argmax": t.argmax, "var": t.var, "norm2": t.linalg.vector_norm}[name]
        return lambda: f(x, **kw)

    def view(self, name, x):
        return {"transpose": lambda: x.t(), "permute0231": lambda: x.permute(0, 2, 3, 1), "slice2": lambda: x[::2, ::2]}[name]()

    def copy(self, v, o): return (lambda: o.copy_(v)) if o is not None else (lambda: v.contiguous())
    def concat(self, xs, axis): return lambda: self.t.cat(xs, dim=axis)
    def gather(self, t, ids): return lambda: self.t.index_select(t, 0, ids)
    def sort(self, x): return lambda: self.t.sort(x).values
    def argsort(self, x): return lambda: self.t.argsort(x)
    def wide(self, a, b, row, line, at):
        t, F = self.t, self.F
        flat, first, small, beside = at.ravel(), at[0], a[:128, :128].clone(), b[:128, :128].clone()
        tile, tiles, step, doubles = small[:32, :32].clone(), beside[:32, :32].clone(), a[:, ::2], a.double()
        narrow, three = line[:4096 * 32].clone().reshape(4096, 32), line[:3000].clone().reshape(1000, 3)
        hundred, columns = line[:10000].clone().reshape(100, 100), line[:300].clone().reshape(100, 3)
        rows = line[:300].clone().reshape(3, 100)
        eight, square = line[:256].clone().reshape(32, 8), line[:9].clone().reshape(3, 3)
        batch = line[:9000].clone().reshape(1000, 3, 3)
        points, pixels = line[:999_999].clone().reshape(333_333, 3), line[:999_000].clone().reshape(1000, 333, 3)
        planes = line[:999_000].clone().reshape(3, 1000, 333).permute(1, 2, 0)
        column, few = narrow[:, :1].clone(), narrow.reshape(32, 4096)
        order, orders = t.from_numpy(positions(3, 6, 3)), t.from_numpy(positions(32, 6, 32))
        images, kernels = a.reshape(4, 16, 125, 125), line[:6400].reshape(16, 16, 5, 5)
        return {
            "points.add": lambda: points[:, :2] + points[:, 1:], "points.sum.ax0": lambda: points[:, :2].sum(0),
            "pixels.one": lambda: pixels[:, :, 0].sum(1), "pixels.planes": lambda: planes + pixels, "pixels.turned": lambda: -planes,
            "pixels.mean.ax1": lambda: pixels.mean(1) if pixels.is_floating_point() else pixels.mean(1, dtype=t.float64),
            "pixels.median": lambda: pixels.median(2).values, "points.flip": lambda: points.flip(0),
            "points.tv": lambda: points.T @ line[:333_333],
            "pixels.mirror": lambda: pixels.flip(1), "pixels.backward": lambda: pixels.flip(2),
            "pixels.part": lambda: pixels.permute(2, 0, 1).contiguous(),
            "narrow.sub.column": lambda: narrow - column, "narrow.less.column": lambda: narrow < column,
            "narrow.mv": lambda: narrow @ row[:32], "narrow.max.few": lambda: few.amax(0), "narrow.sum.few": lambda: few.sum(0),
            "narrow.take": lambda: narrow.index_select(1, orders), "narrow.repeat": lambda: narrow.repeat_interleave(2, 0),
            "narrow.argmax": lambda: narrow.argmax(1), "narrow.all.few": lambda: few.all(0),
            "three.argmax": lambda: three.argmax(1), "three.take": lambda: three.index_select(1, order),
            "three.mv": lambda: three @ row[:3], "three.add.row": lambda: three + row[:3],
            "narrow.tv": lambda: narrow.t() @ line[:4096], "narrow.mm8": lambda: narrow @ eight, "narrow.gram": lambda: narrow.t() @ narrow,
            "three.gram": lambda: three.t() @ three, "three.mm3": lambda: three @ square, "three.outer": lambda: three @ three.t(),
            "hundred.tv": lambda: hundred.t() @ row[:100], "hundred.mm3": lambda: hundred @ columns, "hundred.nt3": lambda: rows @ hundred.t(),
            "narrow.turn": lambda: narrow.t().contiguous(), "three.turn": lambda: three.t().contiguous(), "hundred.turn": lambda: hundred.t().contiguous(),
            "three.batch": lambda: batch @ batch, "three.batch.turned": lambda: batch @ batch.mT,
            "hundred.repeat": lambda: hundred.repeat_interleave(2, 1), "hundred.counts": lambda: t.unique(hundred, return_counts=True)[0],
            "hundred.flip": lambda: hundred.flip(1), "hundred.tolong": lambda: hundred.long(), "hundred.sort": lambda: hundred.sort(1)[0],
            "hundred.sum": lambda: hundred.sum(0), "hundred.softmax": lambda: hundred.softmax(0),
            "three.cumsum": lambda: three.cumsum(1), "three.step": lambda: three[:, ::2].sum(1),
            "takealong": lambda: a.gather(1, at), "take.ax1": lambda: a.index_select(1, first), "take.line": lambda: line.index_select(0, flat),
            "diff.ax0": lambda: t.diff(a, dim=0), "diff.ax1": lambda: t.diff(a, dim=1),
            "cumsum.ax0": lambda: a.cumsum(0), "cumsum.ax1": lambda: a.cumsum(1), "cumsum.turned": lambda: a.t().cumsum(0),
            "cummax.ax1": lambda: a.cummax(1)[0],
            "argmax.ax1": lambda: a.argmax(1), "argmax.step": lambda: step.argmax(1),
            "max.step": lambda: step.amax(1), "sum.step": lambda: step.sum(1),
            "pow2": lambda: a**2, "pow3": lambda: a**3, "asinh": lambda: a.asinh(), "sinh": lambda: a.sinh(),
            "atan": lambda: a.atan(), "atan2": lambda: t.atan2(a, b), "elu": lambda: F.elu(a),
            "topk10": lambda: a.topk(10, 1)[0], "sort.ax1": lambda: a.sort(1)[0],
            "gemv.turned": lambda: a.t() @ row, "inner": lambda: line @ line,
            "toint": lambda: a.to(t.int64), "trapezoid": lambda: t.trapezoid(a, dim=1), "nansum": lambda: a.nansum(1),
            "kron": lambda: t.kron(tile, tiles), "log10": lambda: a.log10(), "arange": lambda: t.arange(a.numel(), dtype=a.dtype),
            "cosine.ax1": lambda: F.cosine_similarity(a, b), "add.step": lambda: step + b[:, ::2],
            "logspace": lambda: t.logspace(-3, 3, a.numel(), dtype=a.dtype),
            "linspace": lambda: t.linspace(0, 1, a.numel(), dtype=a.dtype), "clip": lambda: a.clamp(0.75, 1.25),
            "conv2d": lambda: F.conv2d(images, kernels),
            "add.row": lambda: a + row, "mul": lambda: a * b, "max.ax0": lambda: a.amax(0), "max.ax1": lambda: a.amax(1),
            "min.all": lambda: a.min(), "sum.ax0": lambda: a.sum(0), "floordiv": lambda: a // 7, "mod": lambda: a % b,
            "shift": lambda: a << 1, "gemv": lambda: a @ row, "gevm": lambda: row @ a, "mm": lambda: a @ b, "mm.turned": lambda: a @ b.t(),
            "stack.last": lambda: t.stack([a, b], -1), "mm128": lambda: small @ beside,
            "any.ax0": lambda: a.any(0), "all.ax1": lambda: a.all(1), "count.ax0": lambda: a.sum(0),
            "add": lambda: a + b, "add.number": lambda: a + 2.0, "neg": lambda: -a, "exp": lambda: a.exp(),
            "tof32": lambda: a.float(), "fromf64": lambda: doubles.to(a.dtype), "sum.ax1": lambda: a.sum(1), "max.all": lambda: a.max(),
        }

    def graph(self, name, *a):
        """What src/workloads/graphs.rs measures: the gradient that it compares, computed with all the others."""
        t, F = self.t, self.F

        def gradients(cost, *of):
            for v in of: v.requires_grad_()
            return t.enable_grad()(lambda: t.autograd.grad(cost(), of)[0])
        if name == "logistic":
            def cost():
                p = t.sigmoid(x @ w)
                return (-(y * p.log()) - (1 - y) * (1 - p).log()).mean() + 0.01 * (w * w).sum()
            x, y, w = a
            return gradients(cost, w)
        if name == "mlp":
            x, labels, *p = a
            return gradients(lambda: F.cross_entropy(F.relu(x @ p[0] + p[1]) @ p[2] + p[3], labels), *p)
        if name == "products":
            x, y = a
            return gradients(lambda: (((x * y).tanh() + x.exp()) * y.sigmoid()).sum(), x, y)
        if name == "layernorm":
            x, g, b = a
            return gradients(lambda: F.layer_norm(x, x.shape[-1:], g, b, 1e-5).square().mean() * 1e6, g, x, b)
        if name == "softmax":
            x, weights = a
            return gradients(lambda: (t.log_softmax(x, 1) * weights).sum(), x)
        if name == "embed":
            table, words = a
            return gradients(lambda: table[words].square().sum(), table)
        if name == "rmsnorm":
            x, g, w = a
            return gradients(lambda: (F.rms_norm(x, x.shape[-1:], g, 1e-5) * w).sum(), x, g)
        if name == "cosine": return gradients(lambda: (1 - F.cosine_similarity(*a)).mean() * 1e3, *a)
        if name == "attention":
            q, k, v = a
            return gradients(lambda: (t.softmax(q @ k.transpose(1, 2) * 0.125, -1) @ v).square().sum(), q, k, v)

    def topk(self, x): return lambda: self.t.topk(x, 100)[0]
    def unique(self, x): return lambda: self.t.unique(x)
    def histogram(self, x): return lambda: self.t.histc(x, 100, x.min().item(), x.max().item())
    def cumsum(self, x): return lambda: self.t.cumsum(x, 0)
    def matmul(self, a, b, o): return lambda: self.t.matmul(a, b, out=o)
    def transposed(self, a): return a.t()
    def softmax(self, x): return lambda: self.t.softmax(x, -1)
    def layernorm(self, x, g, b): return lambda: self.F.layer_norm(x, (x.shape[-1],), g, b, 1e-5)
    def logsumexp(self, x): return lambda: self.t.logsumexp(x, -1)

    def loop(self, q):
        def f():
            total = self.t.zeros(4, 4)
            for _ in range(1000):
                total += (q + q) * q
            return total
        return f

    def scalar(self, x): return lambda: x[5, 7].item()

    def random(self, name, dtype, n):
        o = self.t.from_numpy(np.empty(n, dtype))
        return (lambda: o.uniform_()) if name == "uniform" else (lambda: o.normal_())

    def wide_ragged(self, name, r):
        t = self.t
        of = t.from_numpy
        x, lens, seg = of(r.x), of(r.lens), of(r.seg)
        if name == "rowconv":
            w, (one, two) = of(r.filter()), map(of, r.inside())
            def f():
                o = x * w[0]
                o[:-1].addcmul_(x[1:] * w[1], one)
                o[:-2].addcmul_(x[2:] * w[2], two)
                return o
            windows, flat = of(r.windows()), t.cat([x, t.zeros(1, x.shape[1])])
            return [f, lambda: t.einsum("tkc,kc->tc", flat[windows], w)]
        if name == "poolgrad":
            few, inverse = of(r.few), of((1 / r.lens).astype(np.float32))[:, None]
            return [lambda: t.repeat_interleave(few * inverse, lens, dim=0), lambda: (few * inverse).index_select(0, seg)]
        if name == "concat":
            y, both, (first, second) = of(r.weights()), of(r.both()), map(of, r.places())
            def f():
                o = t.empty((2 * len(x), x.shape[1]))
                return o.index_copy_(0, first, x).index_copy_(0, second, y)
            return [f, lambda: t.cat([x, y]).index_select(0, both)]
        if name == "steps":
            go, back = map(of, r.steps())
            return [lambda: x.index_select(0, go).index_select(0, back), lambda: x[go][back]]
        if name == "softmaxgrad":
            y, g = of(r.weights())[:, 0], of(r.given())[:, 0]
            def sums(p): return t.segment_reduce(p, "sum", lengths=lens, unsafe=True)
            def added(p): return t.zeros(len(r.lens)).index_add_(0, seg, p)
            return [lambda: y * (g - sums(y * g)[seg]), lambda: y * (g - added(y * g)[seg])]
        if name == "enumerate":
            ids, index, zero = of(r.ids()), of(r.windows()), t.zeros(1, dtype=t.int64)
            one, two = (of(m[:, 0]).to(t.int64) for m in r.inside())
            def f():
                o = t.zeros((len(ids), 3), dtype=t.int64)
                o[:, 0], o[:-1, 1], o[:-2, 2] = ids, ids[1:] * one, ids[2:] * two
                return o
            return [f, lambda: t.cat([ids, zero])[index], lambda: t.cat([ids, zero]).take(index)]

    def ragged(self, name, r):
        t = self.t
        x, lens, starts = t.from_numpy(r.x), t.from_numpy(r.lens), t.from_numpy(r.offsets[:-1])
        seg, every = t.from_numpy(r.seg), t.arange(len(r.x))
        if name.startswith("pool"):
            kind = name[5:]
            bag = self.F.embedding_bag
            ways = [lambda: bag(every, x, starts, mode=kind), lambda: t.segment_reduce(x, kind, lengths=lens, axis=0, unsafe=True)]
            index, scatter = seg[:, None].expand(-1, x.shape[1]), {"sum": "sum", "max": "amax", "mean": "mean"}[kind]
            zeros = (len(r.lens), x.shape[1])
            return ways + [lambda: t.zeros(zeros).scatter_reduce_(0, index, x, scatter, include_self=False)]
        if name == "softmax":
            s = t.from_numpy(r.scores[:, 0].copy())
            def f():
                e = t.exp(s - t.segment_reduce(s, "max", lengths=lens, unsafe=True)[seg])
                return e / t.segment_reduce(e, "sum", lengths=lens, unsafe=True)[seg]
            return f
        few, back, last = t.from_numpy(r.few), t.from_numpy(r.reversed), t.from_numpy(r.last)
        if name == "expand": return [lambda: t.repeat_interleave(few, lens, dim=0), lambda: few.index_select(0, seg)]
        if name == "reverse": return lambda: x.index_select(0, back)
        if name == "last": return lambda: x.index_select(0, last)
        if name == "pad":
            parts = list(t.split(x, r.lens.tolist()))
            return lambda: t.nn.utils.rnn.pad_sequence(parts, batch_first=True)
        if name == "unpad":
            padded, mask = t.from_numpy(r.padded()), t.arange(r.longest)[None, :] < lens[:, None]
            return [lambda: padded[mask], lambda: t.cat([padded[i, :n] for i, n in enumerate(r.lens.tolist())])]


class Jax(NumPy):
    wide = None

    given = False
    file = partition = unique = histogram = None

    def __init__(self):
        import jax
        jax.config.update("jax_enable_x64", True)
        import jax.numpy
        self.jax, self.j, self.about = jax, jax.numpy, "jax " + jax.__version__

    def arr(self, a): return self.j.asarray(a)

    def jit(self, f, *a):
        g = self.jax.jit(f)
        return lambda: g(*a).block_until_ready()

    def add(self, a, b, o=None): return self.jit(lambda a, b: a + b, a, b)
    def div(self, a, b, o=None): return self.jit(lambda a, b: a / b, a, b)

    def adds(self, a):
        g, state = self.jax.jit(lambda a: a + 1.5, donate_argnums=0), [self.j.array(a, copy=True)]
        def f():
            state[0] = g(state[0]).block_until_ready()
            return state[0]
        return f

    def fma(self, a, b, c, o): return self.jit(lambda a, b, c: a * b + c, a, b, c)
    def chain3(self, a, b, c, o): return self.jit(lambda a, b, c: (a - b) * (a - b) / c, a, b, c)

    def chain10(self, x, y, o):
        j = self.j
        return self.jit(lambda x, y: j.tanh(j.exp(-(x * x)) + j.log(y + 1.5)) * x - y * 0.5, x, y)

    def function(self, name, x, o, y):
        j, nn = self.j, self.jax.nn
        if name == "pow": return self.jit(lambda x, y: x**y, x, y)
        own = {"sigmoid": nn.sigmoid, "softplus": nn.softplus, "erf": self.jax.scipy.special.erf, "gelu": lambda x: nn.gelu(x, approximate=False)}
        return self.jit(own.get(name) or getattr(j, name), x)

    def reduce(self, name, x, axis):
        j = self.j
        own = {"var": lambda x: j.var(x, axis=axis, ddof=1), "norm2": lambda x: j.sqrt(j.sum(x * x, axis=axis))}
        return self.jit(own.get(name) or (lambda x: getattr(j, name)(x, axis=axis)), x)

    def view(self, name, x): return (name, x)

    def copy(self, v, o):
        views = {"transpose": lambda x: x.T, "permute0231": lambda x: x.transpose(0, 2, 3, 1), "slice2": lambda x: x[::2, ::2]}
        return None if o is not None else self.jit(views[v[0]], v[1])

    def concat(self, xs, axis): return self.jit(lambda *xs: self.j.concatenate(xs, axis=axis), *xs)
    def gather(self, t, ids): return self.jit(lambda t, i: self.j.take(t, i, axis=0, mode="clip"), t, ids)
    def mask(self, x, m): return lambda: x[m].block_until_ready()
    def sort(self, x): return self.jit(self.j.sort, x)
    def argsort(self, x): return self.jit(self.j.argsort, x)
    def topk(self, x): return self.jit(lambda x: self.jax.lax.top_k(x, 100)[0], x)
    def cumsum(self, x): return self.jit(self.j.cumsum, x)

    def matmul(self, a, b, o):
        flip = lambda v: v[1].T if isinstance(v, tuple) else v
        plain = lambda v: v[1] if isinstance(v, tuple) else v
        ta, tb = isinstance(a, tuple), isinstance(b, tuple)
        return self.jit(lambda a, b: self.j.matmul(a.T if ta else a, b.T if tb else b), plain(a), plain(b))

    def transposed(self, a): return ("T", a)
    def softmax(self, x): return self.jit(lambda x: self.jax.nn.softmax(x, -1), x)

    def layernorm(self, x, g, b):
        def f(x, g, b):
            d = x - x.mean(-1, keepdims=True)
            return d * self.jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * g + b
        return self.jit(f, x, g, b)

    def logsumexp(self, x): return self.jit(lambda x: self.jax.nn.logsumexp(x, -1), x)
    def loop(self, q): return None
    def scalar(self, x): return lambda: x[5, 7].item()

    def graph(self, name, *a):
        j, nn = self.j, self.jax.nn

        def gradients(cost, of):
            g = self.jax.jit(self.jax.value_and_grad(cost, of))
            return lambda: self.jax.block_until_ready(g(*a))[1][0]
        if name == "logistic":
            def cost(x, y, w):
                p = nn.sigmoid(x @ w)
                return (-(y * j.log(p)) - (1 - y) * j.log(1 - p)).mean() + 0.01 * (w * w).sum()
            return gradients(cost, (2,))
        if name == "mlp":
            def cost(x, labels, w1, b1, w2, b2):
                scores = nn.log_softmax(nn.relu(x @ w1 + b1) @ w2 + b2)
                return -j.take_along_axis(scores, labels[:, None], 1).mean()
            return gradients(cost, (2, 3, 4, 5))
        if name == "products": return gradients(lambda x, y: ((j.tanh(x * y) + j.exp(x)) * nn.sigmoid(y)).sum(), (0, 1))
        if name == "layernorm":
            def cost(x, g, b):
                d = x - x.mean(1, keepdims=True)
                return ((d / j.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * g + b) ** 2).mean() * 1e6
            return gradients(cost, (1, 0, 2))
        if name == "softmax": return gradients(lambda x, w: (nn.log_softmax(x, 1) * w).sum(), (0,))
        if name == "embed": return gradients(lambda e, i: (e[i] ** 2).sum(), (0,))
        if name == "rmsnorm":
            return gradients(lambda x, g, w: (x / j.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * g * w).sum(), (0, 1))
        if name == "cosine":
            def cost(a, b):
                return (1 - (a * b).sum(1) / (j.sqrt((a * a).sum(1)) * j.sqrt((b * b).sum(1)))).mean() * 1e3
            return gradients(cost, (0, 1))
        if name == "attention":
            return gradients(lambda q, k, v: ((nn.softmax(q @ k.transpose(0, 2, 1) * 0.125) @ v) ** 2).sum(), (0, 1, 2))

    def random(self, name, dtype, n):
        key, f = self.jax.random.key(1), getattr(self.jax.random, name)
        return self.jit(lambda k: f(k, (n,), dtype), key)

    def ragged(self, name, r):
        j, ops, n = self.j, self.jax.ops, len(r.lens)
        x, s, few, seg, back, last, lens = map(j.asarray, (r.x, r.scores[:, 0].copy(), r.few, r.seg.astype(np.int32), r.reversed.astype(np.int32), r.last, r.lens))
        kw = dict(num_segments=n, indices_are_sorted=True)
        if name == "pool_sum": return self.jit(lambda x, g: ops.segment_sum(x, g, **kw), x, seg)
        if name == "pool_max": return self.jit(lambda x, g: ops.segment_max(x, g, **kw), x, seg)
        if name == "pool_mean": return self.jit(lambda x, g, l: ops.segment_sum(x, g, **kw) / l[:, None].astype(x.dtype), x, seg, lens)
        if name == "softmax":
            def f(s, g):
                e = j.exp(s - ops.segment_max(s, g, **kw)[g])
                return e / ops.segment_sum(e, g, **kw)[g]
            return self.jit(f, s, seg)
        if name == "expand": return self.jit(lambda f, l: j.repeat(f, l, axis=0, total_repeat_length=len(r.x)), few, lens)
        if name == "reverse": return self.jit(lambda x, i: x[i], x, back)
        if name == "last": return self.jit(lambda x, i: x[i], x, last)


def openblas_core():
    """The processor that NumPy's own OpenBLAS chose its kernels for."""
    import ctypes
    import glob
    for path in glob.glob(os.path.join(os.path.dirname(np.__file__), "..", "numpy.libs", "*openblas*")):
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename64_", "openblas_get_corename"):
            f = getattr(ctypes.CDLL(path), name, None)
            if f:
                f.restype = ctypes.c_char_p
                return f().decode()


class Ragged:
    def __init__(self, columns):
        self.lens = np.array(open(os.path.join(HERE, "..", "data", "ragged-lengths.txt")).read().split(), np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.lens)])
        total, count = int(self.offsets[-1]), len(self.lens)
        self.longest = int(self.lens.max())
        self.seg = np.repeat(np.arange(count), self.lens)
        self.pos = np.arange(total) - self.offsets[self.seg]
        self.reversed = self.offsets[self.seg] + self.lens[self.seg] - 1 - self.pos
        self.last = self.offsets[1:] - 1
        self.x = uniform((total, columns), 1, -1, 1, np.float32)
        self.scores = uniform((total, 1), 2, 0, 1, np.float32)
        self.few = uniform((count, columns), 3, 0, 1, np.float32)

    def filter(self): return uniform((3, self.x.shape[1]), 6, -1, 1, np.float32)
    def ids(self): return positions(len(self.seg), 5, 1000)
    def given(self): return uniform((len(self.seg), 1), 4, 0, 1, np.float32)

    def weights(self):
        e = np.exp(self.scores - np.repeat(np.maximum.reduceat(self.scores, self.offsets[:-1], axis=0), self.lens, axis=0))
        return e / np.repeat(np.add.reduceat(e, self.offsets[:-1], axis=0), self.lens, axis=0)

    def inside(self):
        """Which rows have one, and two, behind them in their sequence; without the last ones of all."""
        return [(self.seg[k:] == self.seg[:-k]).astype(np.float32)[:, None] for k in (1, 2)]

    def windows(self):
        """The three rows from each on; the row behind all for those of other sequences."""
        rows, count = np.arange(len(self.seg))[:, None] + np.arange(3), self.lens[self.seg] - self.pos
        return np.where(np.arange(3) < count[:, None], rows, len(self.seg))

    def places(self):
        """Where the rows of two batches go that are joined sequence by sequence."""
        rows = np.arange(len(self.seg))
        return rows + self.offsets[self.seg], rows + self.offsets[1:][self.seg]

    def both(self):
        first, second = self.places()
        return np.argsort(np.concatenate([first, second]))

    def steps(self):
        """The rows step by step, longest sequence first, and the way back."""
        rank = np.empty(len(self.lens), np.int64)
        rank[np.argsort(-self.lens, kind="stable")] = np.arange(len(self.lens))
        go = np.lexsort((rank[self.seg], self.pos))
        return go, np.argsort(go)

    def padded(self):
        d = np.zeros((len(self.lens), self.longest, self.x.shape[1]), np.float32)
        d[self.seg, self.pos] = self.x
        return d


# What src/workloads draws the arguments of each function from.
BOUNDS = dict(exp=(-10, 10), log=(1e-3, 1e3), log1p=(-0.9, 9), expm1=(-2, 2), sin=(-10, 10), cos=(-10, 10), tan=(-1.5, 1.5), tanh=(-5, 5),
              sigmoid=(-10, 10), erf=(-3, 3), gelu=(-5, 5), softplus=(-10, 10), sqrt=(0, 100), pow=(0.1, 10))


def elementwise(p, name, sizes, dtype):
    a, b, c = (uniform(sizes, s, 0.5, 1.5, dtype) for s in (1, 2, 3))
    a, b, c = p.arr(a), p.arr(b), p.arr(c)
    kind = name.split(".")
    if kind[0] == "adds": return p.adds and p.adds(a)
    graph = kind[-1] not in ("out", "alloc", "ws", "inplace") and len(kind) > 1
    o = p.arr(np.zeros(sizes, dtype)) if p.given else None
    if kind[0] in ("add", "div"):
        f = p.add if kind[0] == "add" else p.div
        if kind[1] == "out": return f(a, b, o) if p.given else None
        return f(a, b)
    if kind[0] == "chain10": return p.chain10(a, b, None if graph else o)
    return {"fma": p.fma, "chain3": p.chain3}[kind[0]](a, b, c, o)


def layout(p, family, name, size, dtype):
    if name.startswith("concat"):
        return p.concat and p.concat([p.arr(uniform((1024, 1024), s, 0.1, 1, dtype)) for s in (1, 2, 3, 4)], int(name[-1]))
    if name == "gather":
        return p.gather and p.gather(p.arr(uniform((50000, 128), 1, 0.1, 1, dtype)), p.arr(positions(100000, 2, 50000)))
    sizes = tuple(int(float(s)) for s in size.split("x"))
    if name in ("sort", "argsort", "cumsum", "partition", "topk", "histogram"):
        f = getattr(p, name)
        return f and f(p.arr(uniform(sizes, 1, 0.1, 1, dtype)))
    if name == "unique":
        return p.unique and p.unique(p.arr(positions(sizes[0], 1, 1000).astype(dtype)))
    if name == "mask":
        return p.mask and p.mask(p.arr(uniform(sizes, 1, 0.1, 1, dtype)), p.arr(positions(sizes[0], 2, 2) == 1))
    if not p.copy: return None
    x = uniform(sizes, 1, -1, 1, dtype)
    to = NumPy.view(p, name, x).shape
    return p.copy(p.view(name, p.arr(x)), p.arr(np.zeros(to, dtype)) if family == "lo" and p.given else None) if family == "ly" or p.given else None


def matmul(p, name, size, dtype):
    if not p.matmul: return None
    sizes = [int(float(s)) for s in size.split("x")]
    n = sizes[0]
    shapes = {"nn": ((n, n), (n, n)), "nt": ((n, n), (n, n)), "tn": ((n, n), (n, n)), "ata": (tuple(sizes), None),
              "gemv": ((n, n), (n, 1)), "batched": ((n, n, n), (n, n, n))}.get(name) or ((sizes[0], sizes[1]), (sizes[1], sizes[2]))
    x = uniform(shapes[0], 1, -1, 1, dtype)
    y = x if shapes[1] is None else uniform(shapes[1], 2, -1, 1, dtype)
    a, b = p.arr(x), p.arr(y)
    if name in ("tn", "ata"): a = p.transposed(a)
    if name == "nt": b = p.transposed(b)
    if name == "gemv": b = p.arr(y[:, 0].copy())
    rows, columns = shapes[0][-1 if name in ("tn", "ata") else -2], y.shape[-2 if name == "nt" else -1]
    shape = (rows,) if name == "gemv" else shapes[0][:-2] + (rows, columns)
    return p.matmul(a, b, p.arr(np.zeros(shape, dtype)) if p.given else None)


def rows(p, name, sizes, dtype):
    if not p.softmax: return None
    x = p.arr(uniform(sizes, 1, -3, 3, dtype))
    if name == "layernorm": return p.layernorm(x, *(p.arr(uniform(sizes[1:], s, 0.1, 1, dtype)) for s in (2, 3)))
    return getattr(p, name)(x)


def small(p, name, dtype):
    if name.startswith("loop"): return p.loop and p.loop(p.arr(uniform((4, 4), 1, 0.5, 1.5, dtype)))
    if name == "add3x3": return p.add(*(p.arr(uniform((3, 3), s, 0.5, 1.5, dtype)) for s in (1, 2)))
    if name == "addi3x3":
        a, zeros = p.arr(uniform((3, 3), 1, 0.5, 1.5, dtype)), p.arr(np.zeros((3, 3), dtype))
        return p.add(a, zeros, a) if p.given else None
    x = p.arr(uniform((100, 100), 1, 0.5, 1.5, dtype))
    if name == "slicerow": return p.row and p.row(x)
    if name == "getscalar": return p.scalar and p.scalar(x)


def wide(p, name, dtype):
    if not p.wide or dtype == "bf16" and not p.bf16: return None
    kind = TYPES[dtype]

    def values(shape, stream):
        if dtype == "bf16": return p.bf16(p.arr(uniform(shape, stream, 0.5, 1.5, kind)))
        if kind in (np.float16, np.float32, np.float64): return p.arr(uniform(shape, stream, 0.5, 1.5, kind))
        bound = 2 if kind is np.bool_ else 100
        return p.arr((positions(math.prod(shape), stream, bound) + (bound == 100)).reshape(shape).astype(kind))
    at = p.arr(positions(1_000_000, 5, 1000).reshape(1000, 1000))
    return p.wide(*(values(shape, s) for shape, s in (((1000, 1000), 1), ((1000, 1000), 2), ((1000,), 3), ((1_000_000,), 4))), at).get(name)


def graph(p, name, sizes, dtype):
    if not p.graph: return None

    def values(stream, *shape, low=-0.5, high=0.5): return p.arr(uniform(shape, stream, low, high, dtype))
    few = dict(low=-0.05, high=0.05)
    n, *more = sizes
    if name == "products": return p.graph(name, values(1, n), values(2, n))
    if name == "embed": return p.graph(name, values(1, *sizes), p.arr(positions(1024, 2, n)))
    m, *more = more
    x = values(1, n, m)
    if name == "logistic": return p.graph(name, x, values(2, n, low=0, high=1), values(3, m, **few))
    if name == "layernorm": return p.graph(name, x, values(2, m, low=0.5, high=1.5), values(3, m))
    if name in ("softmax", "cosine"): return p.graph(name, x, values(2, n, m))
    if name == "rmsnorm": return p.graph(name, x, values(2, m, low=0.5, high=1.5), values(3, n, m))
    if name == "attention": return p.graph(name, *(values(stream, *sizes) for stream in (1, 2, 3)))
    hidden, classes = more
    weights = values(3, m, hidden, **few), values(4, hidden, **few), values(5, hidden, classes, **few), values(6, classes, **few)
    return p.graph(name, x, p.arr(positions(n, 2, classes)), *weights)


def find(p, workload, size, dtype):
    family, name = workload.split(".", 1)
    kind = TYPES[dtype]
    if family in ("ly", "lo"): return layout(p, family, name, size, kind)
    if family == "mm": return matmul(p, name, size, kind)
    if family == "wd" and name.startswith("ragged."):
        return p.wide and p.wide_ragged(name.split(".")[1], Ragged(int(size.split("x")[1])))
    if family == "wd": return wide(p, name, dtype)
    if family == "so": return small(p, name, kind)
    if family == "rg": return p.ragged and p.ragged(name, Ragged(int(size.split("x")[1])))
    sizes = tuple(int(float(s)) for s in size.split("x"))
    if family == "gr": return graph(p, name, sizes, kind)
    if family == "ew": return elementwise(p, name, sizes, kind)
    if family == "sm": return rows(p, name, sizes, kind)
    if family == "io": return p.file and p.file(name, kind, sizes[0])
    if family == "rng": return p.random and p.random(name, kind, sizes[0])
    if family == "bc":
        x, y = uniform(sizes, 1, 0.1, 1, kind), uniform((sizes[0], 1) if name == "col" else sizes[-1:], 2, 0.1, 1, kind)
        return p.add(p.arr(x), p.arr(y), p.arr(np.zeros(sizes, kind)) if p.given else None)
    if family == "tr":
        x, y = uniform(sizes, 1, *BOUNDS[name], kind), uniform(sizes, 2, -3, 3, kind)
        return p.function(name, p.arr(x), p.arr(np.zeros(sizes, kind)) if p.given else None, p.arr(y))
    if family == "red":
        op, over = name.split(".")
        x = p.arr(uniform(sizes, 1, 0.1, 1, kind))
        return p.reduce(op, x, {"all": None, "ax0": 0, "ax1": 1, "mid": 1}[over])


def lasts(f, times=1):
    start = time.perf_counter()
    for _ in range(times):
        f()
    return time.perf_counter() - start


def answer(p, workload, result):
    """A few elements of what was computed; what stands for the whole is what src/workloads compares."""
    family, name = workload.split(".", 1)
    values = p.back(result)
    if family == "rng": values = np.array([values.size])
    if workload == "rg.pad": values = values.sum(1)
    if workload == "ly.partition": values = values[values.size // 2:][:1]
    values = values.reshape(-1)
    places = sorted({round(i * (values.size - 1) / 15) for i in range(16)})
    return {"len": values.size, "elements": [[i, float(values[i])] for i in places]}


def main():
    own = {"numpy": NumPy, "numexpr": NumExpr, "torch": Torch, "jax": Jax}[LIBRARY]()
    out, sys.stdout = sys.stdout, sys.stderr
    work = None
    for line in sys.stdin:
        request = json.loads(line)
        if "hello" in request:
            reply = {"about": own.about}
        elif "prepare" in request:
            key, work = request["prepare"], None
            try:
                ways = find(own, key["workload"], key["size"], key["dtype"])
                ways = ways if isinstance(ways, list) else [ways] if ways else []
                if ways:
                    reply = answer(own, key["workload"], ways[0]())
                    if len(ways) > 1:
                        ways.sort(key=lambda f: min(lasts(f) for _ in range(3)))
                    work = ways[0]
                else:
                    reply = {"missing": "no such operation"}
            except Exception as error:
                reply = {"missing": f"{type(error).__name__}: {error}"[:300]}
        else:
            work()  # What the others left in the caches is theirs.
            reply = {"seconds": lasts(work, request["run"])}
        print(json.dumps(reply), file=out, flush=True)


main()
