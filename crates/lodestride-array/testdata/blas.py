"""Writes blas.txt: rotations as SciPy's BLAS makes them.

rotg: a b, then c s. rotmg: d1 d2 x1 y1, then the five numbers of its parameter and what it turns x1 into."""
import itertools
import scipy
from scipy.linalg import blas

with open("blas.txt", "w") as out:
    print(f"# scipy {scipy.__version__}, testdata/blas.py", file=out)
    for a, b in itertools.product([3.0, -3.0, 1e-3], [4.0, -4.0, 0.5]):
        print("rotg", *map(repr, map(float, (a, b, *blas.drotg(a, b)))), file=out)
    for values in itertools.product([2.0, 1e-9, 5e8], [3.0, 1e9], [1.5, -0.25], [0.5, -7.0]):
        param = blas.drotmg(*values)
        x, _ = blas.drotm([values[2]], [values[3]], param)
        print("rotmg", *map(repr, map(float, (*values, *param, x[0]))), file=out)
