"""Writes linalg.txt: figures of NumPy and SciPy for one small matrix."""
import numpy as np
import scipy.linalg

a = np.array([[2.0, -1.0, 0.5], [1.0, 3.0, -2.0], [0.0, 1.5, 4.0]])
b = np.array([1.0, 2.0, 3.0])
lower = np.tril(a) + np.tril(a, -1).T
figures = {
    "det": np.linalg.det(a),
    "inv": np.linalg.inv(a),
    "solve": np.linalg.solve(a, b),
    "singular values": np.linalg.svd(a)[1],
    "eigh values": np.linalg.eigh(lower)[0],
    "eig real": np.sort(np.linalg.eigvals(a).real),
    "eig imaginary": np.sort(np.linalg.eigvals(a).imag),
    "pinv of two columns": np.linalg.pinv(a[:, :2]),
    "lstsq of two columns": np.linalg.lstsq(a[:, :2], b)[0],
    "norm 1": np.linalg.norm(a, 1),
    "norm 2": np.linalg.norm(a, 2),
    "norm inf": np.linalg.norm(a, np.inf),
    "norm fro": np.linalg.norm(a),
    "norm nuc": np.linalg.norm(a, "nuc"),
    "cond": np.linalg.cond(a),
    "expm": scipy.linalg.expm(a),
    "cholesky": np.linalg.cholesky(a.T @ a),
    "variances": np.sort(np.linalg.eigvalsh(np.cov(a.T)))[::-1][:2],
}
with open("linalg.txt", "w") as out:
    print(f"# numpy {np.__version__}, scipy {scipy.__version__}, testdata/linalg.py", file=out)
    for name, value in figures.items():
        print(f"{name}:", *(repr(float(x)) for x in np.ravel(value)), file=out)
