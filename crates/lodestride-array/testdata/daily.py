"""Writes daily.txt: what NumPy answers to functions of daily use. Run with NumPy 2."""

import warnings

import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(11)
out = open("daily.txt", "w")


def text(a):
    a = np.asarray(a)
    sizes = " ".join(map(str, a.shape))
    return f"{a.dtype} {sizes} : " + " ".join(repr(float(v)) for v in np.ravel(a))


def case(words, inputs, results):
    out.write(" | ".join([words, *map(text, inputs)]) + " => " + " | ".join(map(text, results)) + "\n")


def words(*parts):
    return " ".join(",".join(map(str, p)) if isinstance(p, (list, tuple)) else str(p) for p in parts)


# Making.
for first, last, count in [(0, 1, 5), (-3.5, 10, 7), (2, 2, 3), (5, 1, 4), (0, 1, 0), (3, 4, 1)]:
    case(words("linspace_open", first, last, count), [], [np.linspace(first, last, count, endpoint=False)])
    for base in [10, 2, 2.5]:
        case(words("logspace", first, last, count, base), [], [np.logspace(first, last, count, base=base)])
for first, last, count in [(1, 1000, 4), (-2, -0.25, 6), (1e-3, 5e7, 5), (7, 7, 2), (1, 9, 0), (3, 4, 1), (8, 1, 4)]:
    case(words("geomspace", first, last, count), [], [np.geomspace(first, last, count)])
for rows, columns, k in [(3, 3, 0), (2, 4, 1), (4, 2, -1), (2, 3, 7), (2, 3, -7), (0, 3, 0), (3, 0, 1), (1, 1, 0)]:
    case(words("eye_at", rows, columns, k), [], [np.eye(rows, columns, k)])
    case(words("tril_indices", rows, columns, k), [], np.tril_indices(rows, k, columns))
    case(words("triu_indices", rows, columns, k), [], np.triu_indices(rows, k, columns))
for shape in [(2, 3), (4,), (2, 1, 3), (0, 2)]:
    case(words("indices", shape), [], [np.indices(shape)])

# Places.
for shape in [(2, 3, 4), (24,), (1, 24)]:
    for at in [np.array([[0, 5, 23], [7, 7, 11]]), np.array(13), np.zeros((0, 2), int)]:
        case(words("unravel_index", shape), [at], np.unravel_index(at, shape))
case(words("ravel_multi_index", (2, 3)), [np.array([1, 0]), np.array([[1], [2]])], [np.ravel_multi_index((np.array([1, 0]), np.array([[1], [2]])), (2, 3))])
case(words("ravel_multi_index", (5,)), [np.array([[1, 4]], np.int32)], [np.ravel_multi_index((np.array([[1, 4]]),), (5,))])
for shape in [(3, 3), (2, 4), (4, 2), (3, 3, 3), (1, 1), (0, 2)]:
    a = rng.integers(1, 9, shape)
    b = a.copy()
    np.fill_diagonal(b, -1)
    case("fill_diagonal", [a], [b])

# Axes.
a = rng.integers(0, 9, (2, 3, 4))
for f, t in [([0], [2]), ([0, 1], [-1, -2]), ([2, 0], [0, 1]), ([0, 1, 2], [2, 0, 1])]:
    case(words("move_axes", f, t), [a], [np.moveaxis(a, f, t)])
for s, ax in [([1], [0]), ([1, -2], [0, 2]), ([5, 7, -1], [-1, 1, 0]), ([1, 1], [1, 1])]:
    case(words("roll_axes", s, ax), [a], [np.roll(a, s, ax)])
for ax in [[0], [0, -1], [1, 3]]:
    case(words("expand_dims_axes", ax), [a[0]], [np.expand_dims(a[0], tuple(ax))])
b = a[:1, :, :1]
for ax in [[0], [-1], [0, 2]]:
    case(words("squeeze_axes", ax), [b], [np.squeeze(b, tuple(ax))])
for counts in [[2], [2, 1, 3], [1, 2], [2, 1, 1, 2]]:
    case(words("tile", counts), [a[:, :2, 0]], [np.tile(a[:, :2, 0], counts)])

# Joining.
m, v, w = a[0, :2, :3], a[0, 0, :2], a[1, 1, :2]
case("column_stack", [v, w], [np.column_stack([v, w])])
case("column_stack", [v, m], [np.column_stack([v, m])])
case("dstack", [v, w], [np.dstack([v, w])])
case("dstack", [m, m + 0.5], [np.dstack([m, m + 0.5])])
case("dstack", [a[:, :1, :2], a[:, :1, 1:2]], [np.dstack([a[:, :1, :2], a[:, :1, 1:2]])])
case("block 1,1", [v, w], [np.block([[v], [w]])])
case("block 2", [v, w * 0.5], [np.block([[v, w * 0.5]])])
case("block 2,1", [m, m[:, :1], m[0].tolist() + [7]], [np.block([[m, m[:, :1]], [np.array(m[0].tolist() + [7])]])])

# Insertion and deletion.
for at in [[0], [1, 1], [2, 0, -1], []]:
    for ax in [0, 1]:
        shape = list(m.shape)
        shape[ax] = len(at)
        at = [i for i in at if i <= m.shape[ax]]
        shape[ax] = len(at)
        values = rng.integers(20, 30, shape)
        if at:
            case(words("insert", at, ax), [m, values], [np.insert(m, at, values, ax)])
            case(words("delete", at, ax), [m], [np.delete(m, [i for i in at if i < m.shape[ax]], ax)]) if all(i < m.shape[ax] for i in at) else None
case(words("insert", [1, 2], 1), [m, np.array([8, 9])], [np.insert(m, [1, 2], np.array([8, 9]), 1)])
case(words("insert", [1], 0), [m, np.array(5.75)], [np.insert(m, [1], 5.75, 0)])
case(words("insert_flat", [0, 6, 3, 3]), [m, np.array([1, 2, 3, 4])], [np.insert(m, [0, 6, 3, 3], [1, 2, 3, 4])])
case(words("delete_flat", [0, -1, 3, 3]), [m], [np.delete(m, [0, -1, 3, 3])])

# Sets.
x = np.array([3.0, -0.0, np.nan, 1.0, 3.0, np.inf, 2.5])
y = np.array([0.0, 2.5, np.nan, 7.0, np.inf, 2.5])
i, j = rng.integers(0, 9, (3, 3)), rng.integers(4, 12, 5)
for p, q in [(x, y), (y, x), (i, j), (j, i), (i, j + 0.5), (i[:0], j), (i.astype(np.int8), j), (j, i[:0].ravel()), (x.astype(np.float32), y)]:
    case("is_in", [p, q], [np.isin(p, q)])
    case("intersection", [p, q], [np.intersect1d(p, q)])
    case("union", [p, q], [np.union1d(p, q)])
    case("set_difference", [p, q], [np.setdiff1d(p, q)])
    case("symmetric_difference", [p, q], [np.setxor1d(p, q)])

# Numbers.
x = np.array([1.25, -1.25, 2.675, 0.5, -2.5, 1e300, np.nan, np.inf, -np.inf, 123456.789, -0.0])
n = np.array([0, 5, 15, 25, -15, -125, 1249, 99999])
for d in [0, 1, 2, 5, -1, -2, 300]:
    case(words("round_to", d), [x], [np.where(np.isfinite(np.round(x, d)), np.round(x, d), x)])
    case(words("round_to", d), [x[:5].astype(np.float32)], [np.round(x[:5].astype(np.float32), d) if d < 39 else x[:5]])
    case(words("round_to", d), [n], [np.round(n, d)])
for a in [x, n, x[:5].astype(np.float32), n.astype(np.int32)]:
    case("to_radians", [a], [np.deg2rad(a.astype(float))])
    case("to_degrees", [a], [np.rad2deg(a.astype(float))])
    case("sign_bit", [a], [np.signbit(a)])
    for lo, hi, name in [(None, None, "defaults"), (5.0, -6.0, "given")]:
        case(words("replace_not_finite", name), [a], [np.nan_to_num(a, nan=9.0, posinf=lo, neginf=hi)])
for a, b in [(x, x[::-1]), (x[:8], n), (n, n[::-1]), (x[:5].astype(np.float32), x[:1].astype(np.float32))]:
    case("copysign", [a, b], [np.copysign(a, b)])
    case("fmax", [a, b], [np.fmax(a, b)])
    case("fmin", [a, b], [np.fmin(a, b)])
p, q = rng.integers(-60, 60, (2, 3)), rng.integers(-60, 60, 3)
p[0, 0] = q[1] = 0
for a, b in [(p, q), (p.astype(np.int8), q.astype(np.int8)), (np.abs(p).astype(np.uint8), np.abs(q).astype(np.uint8)), (p.astype(np.int32), q)]:
    case("gcd", [a, b], [np.gcd(a, b)])
    case("lcm", [a, b], [np.lcm(a, b)])
    b = np.where(b == 0, 7, b).astype(b.dtype)
    case("div_mod", [a, b], np.divmod(a, b))
    case("div_mod", [a * 0.5, b], np.divmod(a * 0.5, b))
low, high = np.array([-20, 5, -40]), np.array([[30], [10]])
for a in [p, p * 0.5, p.astype(np.int32)]:
    case("clip", [a, low, high], [np.clip(a, low, high)])
    case("clip", [a, low - 0.5, high], [np.clip(a, low - 0.5, high)])
case("clip", [p[0] * 0.5, np.array([np.nan, 0.0, 1.0]), np.array(2.0)], [np.clip(p[0] * 0.5, np.array([np.nan, 0.0, 1.0]), 2.0)])
z = rng.integers(0, 2, (2, 3, 2))
for a in [z, z * 0.5, z.astype(bool), z[:0]]:
    case("count_zero all", [a], [np.sum(a == 0)])
    case("count_zero 1", [a], [np.sum(a == 0, axis=1)])
