"""Writes the npy and npz files of this folder with NumPy itself (made with NumPy 2.4.6).

Usage: python make_fixtures.py [FOLDER]

The tests read the files; they are made again only when a case is added. Every array is the same counting pattern, so that the
tests can compute what must come out.
"""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")


def pattern(dtype, *shape):
    """0, 1, 2, .. in C order; every third one for bool."""
    numbers = np.arange(int(np.prod(shape)))
    if np.dtype(dtype) == np.bool_:
        return (numbers % 3 == 0).reshape(shape)
    return numbers.astype(dtype).reshape(shape)


def save(name, array):
    np.save(folder / f"{name}.npy", array)


for dtype in ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]:
    save(f"{np.dtype(dtype).name}", pattern(dtype, 2, 3))
for dtype in ["u2", "i4", "f2", "f4", "f8"]:
    save(f"big_{np.dtype(dtype).name}", pattern(">" + dtype, 2, 3))
save("fortran", np.asfortranarray(pattern("f4", 2, 3, 4)))
save("big_fortran", np.asfortranarray(pattern(">f8", 3, 2)))
save("scalar", np.array(2.5))
save("empty", np.zeros((3, 0, 2), dtype="f4"))
save("vector", pattern("f4", 5))
save("strided", pattern("i4", 6, 4)[::2, ::-1])
save("negatives", -pattern("f8", 4))
with open(folder / "version2.npy", "wb") as file:
    np.lib.format.write_array(file, pattern("f4", 2, 2), version=(2, 0))
with open(folder / "version3.npy", "wb") as file:
    np.lib.format.write_array(file, pattern("f4", 2, 2), version=(3, 0))

# What cannot be read.
save("refused_structured", np.zeros(2, dtype=[("x", "f4"), ("y", "i4", (3,))]))
save("refused_text", np.array(["a", "bc"]))
save("refused_bytes", np.array([b"a", b"bc"]))
save("refused_complex", np.zeros(2, dtype="c8"))
save("refused_time", np.zeros(2, dtype="M8[s]"))
save("refused_opaque", np.zeros(2, dtype="V2"))
save("refused_long_double", np.zeros(2, dtype="f16"))
np.save(folder / "refused_objects.npy", np.array([None, 1], dtype=object), allow_pickle=True)

arrays = {
    "a": pattern("f4", 2, 3),
    "ids": pattern("i8", 4),
    "f": np.asfortranarray(pattern("f8", 3, 2)),
    "x": pattern("f4", 5, 2),
    "x.lod0": np.array([0, 2, 3]),
    "x.lod1": np.array([0, 1, 4, 5], dtype="u8"),
}
np.savez(folder / "stored.npz", **arrays)
np.savez_compressed(folder / "deflated.npz", **arrays)
