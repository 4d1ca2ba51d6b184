"""Writes fancy.txt: what NumPy answers for index lists with index arrays and masks. Run with NumPy 2.

A line is `kind | shape | entries | result or values shape | values`; the array holds 0, 1, 2, .. in C order, values that are
put are 100, 101, ... An entry is p<point>, i<start>:<end>:<step> (_ for none), a (all), n (new axis), e (ellipsis),
l<shape>:<positions> or m<shape>:<flags>.
"""

import numpy as np

rng = np.random.default_rng(11)
out = open("fancy.txt", "w")


def join(values, mark=","):
    return mark.join(str(int(v)) for v in values)


def listed(a, letter):
    return f"{letter}{join(a.shape, 'x')}:{join(a.ravel())}"


def bound(size):
    return None if rng.random() < 0.3 else int(rng.integers(-size - 1, size + 2))


def entry(size, rest, common):
    """An index of one axis (or several: a mask) as Python has it, and as text, and how many axes it takes."""
    kind = rng.integers(0, 10)
    if kind < 2:
        point = int(rng.integers(-size, size))
        return point, f"p{point}", 1
    if kind < 4:
        start, end, step = bound(size), bound(size), int(rng.choice([-2, -1, 1, 2, 3]))
        text = ":".join("_" if b is None else str(b) for b in (start, end))
        return slice(start, end, step), f"i{text}:{step}", 1
    if kind < 5:
        return slice(None), "a", 1
    if kind < 9:
        # Shapes that broadcast with the common one: cut off in front, or 1 in places.
        shape = list(common[rng.integers(0, len(common) + 1) :])
        shape = [1 if rng.random() < 0.2 else s for s in shape]
        positions = rng.integers(-size, size, size=shape)
        return positions, listed(positions, "l"), 1
    axes = int(rng.integers(1, min(2, len(rest)) + 1))
    mask = rng.random(rest[:axes]) < 0.5
    return mask, listed(mask, "m"), axes


def case(shape):
    common = [int(n) for n in rng.integers(1, 4, size=rng.integers(1, 3))]
    entries, texts, axis = [], [], 0
    indexed = int(rng.integers(1, len(shape) + 1))
    while axis < indexed:
        if rng.random() < 0.15:
            entries.append(None)
            texts.append("n")
        index, text, axes = entry(shape[axis], shape[axis:], common)
        entries.append(index)
        texts.append(text)
        axis += axes
    if axis < len(shape) and rng.random() < 0.5 or rng.random() < 0.1:
        # Entries behind the ellipsis stand for the last axes; sizes fit only if they are the same.
        place = int(rng.integers(0, len(entries) + 1))
        entries.insert(place, Ellipsis)
        texts.insert(place, "e")
    return tuple(entries), " ".join(texts)


def write(shape, entries, text):
    a = np.arange(np.prod(shape)).reshape(shape)
    head = f"{join(shape, 'x')} | {text}"
    try:
        part = a[entries]
    except IndexError:
        out.write(f"error | {head}\n")
        return
    if part.size > 60:
        return
    out.write(f"get | {head} | {join(part.shape, 'x')} | {join(part.ravel())}\n")
    cut = int(rng.integers(0, part.ndim + 1))
    of_values = [1 if rng.random() < 0.2 else n for n in part.shape[cut:]]
    values = 100 + np.arange(np.prod(of_values, dtype=int)).reshape(of_values)
    a[entries] = values
    out.write(f"put | {head} | {join(of_values, 'x')} | {join(a.ravel())}\n")


for _ in range(420):
    rank = int(rng.integers(1, 5))
    shape = [int(n) for n in rng.integers(1, 5, size=rank)]
    write(shape, *case(shape))

# Where the axes of the index arrays go, one rule at a time.
i, j = np.array([0, 1]), np.array([[1], [0]])
for entries, text in [
    ((slice(None), i, i), "a l2:0,1 l2:0,1"),
    ((slice(None), i, slice(None), i), "a l2:0,1 a l2:0,1"),
    ((0, slice(None), i), "p0 a l2:0,1"),
    ((slice(None), 0, i), "a p0 l2:0,1"),
    ((slice(None), i, Ellipsis, i), "a l2:0,1 e l2:0,1"),
    ((slice(None), i, Ellipsis, i, slice(None)), "a l2:0,1 e l2:0,1 a"),
    ((slice(None), i, None, i), "a l2:0,1 n l2:0,1"),
    ((None, i, j), "n l2:0,1 l2x1:1,0"),
    ((i, j, Ellipsis), "l2:0,1 l2x1:1,0 e"),
    ((j, slice(None), i), "l2x1:1,0 a l2:0,1"),
    ((Ellipsis, i, 0), "e l2:0,1 p0"),
    ((np.array([], int),), "l0:"),
    ((slice(None), np.zeros((0, 2), int)), "a l0x2:"),
    ((np.array(1), slice(None)), "l:1 a"),
    ((np.array(1), slice(None), i), "l:1 a l2:0,1"),
    ((np.array([0, 3]),), "l2:0,3"),
    ((slice(None), np.array([-4])), "a l1:-4"),
    ((i, np.array([0, 1, 2])), "l2:0,1 l3:0,1,2"),
    ((np.array([True, False]),), "m2:1,0"),
    ((np.array([True, False, True]),), "m3:1,0,1"),
    ((slice(None), np.array([True, False, True]), slice(0, 2), i), "a m3:1,0,1 i0:2:1 l2:0,1"),
]:
    write([2, 3, 4, 2], entries, text)
