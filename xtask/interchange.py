"""Checks DLPack with NumPy and PyTorch through the library of `cargo xtask interchange`: python interchange.py LIBRARY.

Both ways: their arrays over our memory, our arrays over theirs; values, writing seen by the other side, read-only flags, who
may read and write meanwhile, and that what was lent comes back once. Prints what a library does not take, fails on what is wrong.
"""

import ctypes
import sys

import numpy
import torch

# The order of `DType::ALL`; what a library lacks is skipped.
DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16",
          "float32", "float64"]
LAYOUTS = ["C", "F", "strided", "reversed", "scalar", "empty", "row", "stretched"]
SHAPES = [(3, 4), (3, 4), (3, 4), (3, 4), (), (0, 3), (3,), (3, 4)]

peer = ctypes.CDLL(sys.argv[1])
for name, result, arguments in [
    ("new", ctypes.c_int64, [ctypes.c_size_t, ctypes.c_int32]),
    ("leaked", ctypes.c_int64, []),
    ("outlives_its_workspace", ctypes.c_void_p, []),
    ("lend", ctypes.c_void_p, [ctypes.c_int64, ctypes.c_bool, ctypes.c_bool]),
    ("take", ctypes.c_int64, [ctypes.c_void_p, ctypes.c_bool]),
    ("get", ctypes.c_double, [ctypes.c_int64, ctypes.c_size_t]),
    ("fill", ctypes.c_bool, [ctypes.c_int64, ctypes.c_double]),
    ("access", ctypes.c_int32, [ctypes.c_int64]),
    ("dtype", ctypes.c_int64, [ctypes.c_int64]),
    ("size", ctypes.c_int64, [ctypes.c_int64, ctypes.c_size_t]),
    ("drop", None, [ctypes.c_int64]),
]:
    function = getattr(peer, "peer_" + name)
    function.restype, function.argtypes = result, arguments
    setattr(peer, name, function)

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.restype, is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.restype, rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]

NAMES = {True: b"dltensor", False: b"dltensor_versioned"}
USED = {True: b"used_dltensor", False: b"used_dltensor_versioned"}
count = 0
failures = []
refusals = {}


def check(what, holds):
    global count
    count += 1
    if not holds:
        failures.append(what)


class Lent:
    """What a library asks for a tensor: one pointer, given once, as the version that is wanted."""

    def __init__(self, number, writable, legacy):
        self.number, self.writable, self.legacy, self.capsule = number, writable, legacy, None

    def __dlpack__(self, **_):
        pointer = peer.lend(self.number, self.writable, self.legacy)
        if not pointer:
            raise BufferError("not lent")
        self.capsule = new_capsule(pointer, NAMES[self.legacy], None)
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)

    def take_back(self):
        """Deletes what the library did not consume; whether there was anything."""
        if self.capsule is None or not is_valid(self.capsule, NAMES[self.legacy]):
            return False
        rename(self.capsule, USED[self.legacy])
        taken = peer.take(pointer_of(self.capsule, USED[self.legacy]), self.legacy)
        peer.drop(taken)
        return True


def values(array):
    """Elements in C order as floats."""
    if isinstance(array, torch.Tensor):
        return [float(value) for value in array.to(torch.float64).flatten().tolist()]
    return [float(value) for value in array.astype(numpy.float64).ravel().tolist()]


def expected(dtype, layout):
    size = 1
    for axis in SHAPES[layout]:
        size *= axis
    numbers = [float(i % 4 if LAYOUTS[layout] == "stretched" else i) for i in range(size)]
    return [float(number != 0) for number in numbers] if dtype == "bool" else numbers


def name_of(dtype):
    return str(dtype).replace("torch.", "")


def lend(library, dtype, layout, writable, legacy):
    what = f"{library.__name__} {DTYPES[dtype]} {LAYOUTS[layout]} {'mut' if writable else 'read'} {'legacy' if legacy else 'versioned'}"
    number = peer.new(dtype, layout)
    check(what + ": made", number >= 0 and peer.access(number) == 2)
    lent = Lent(number, writable, legacy)
    if writable and LAYOUTS[layout] == "stretched":
        check(what + ": elements that repeat are not lent for writing", not peer.lend(number, True, legacy))
        return
    try:
        theirs = library.from_dlpack(lent)
    except Exception as error:
        refusals.setdefault(f"{library.__name__}, {LAYOUTS[layout]}: {type(error).__name__}: {str(error).splitlines()[0][:90]}", set()).add(DTYPES[dtype])
        lent.take_back()
        check(what + ": comes back when it is refused", peer.access(number) == 2)
        return
    check(what + ": consumed", not is_valid(lent.capsule, NAMES[legacy]))
    del lent
    check(what + ": dtype", name_of(theirs.dtype) == DTYPES[dtype])
    check(what + ": shape", tuple(theirs.shape) == SHAPES[layout])
    check(what + f": values {values(theirs)}", values(theirs) == expected(DTYPES[dtype], layout))
    held = peer.access(number)
    check(what + f": held {held}", held == (0 if writable else 1))
    check(what + ": not written by us", not peer.fill(number, 1))
    if library is numpy and not legacy:
        check(what + ": flag", theirs.flags.writeable == writable)
    if writable and (library is torch or theirs.flags.writeable):
        theirs[...] = 1
    wrote = writable and (library is torch or theirs.flags.writeable)
    view = theirs[...]
    del theirs
    check(what + ": held by a view", peer.access(number) == held)
    del view
    check(what + ": released", peer.access(number) == 2)
    if wrote:
        ours = [peer.get(number, place) for place in range(len(expected(DTYPES[dtype], layout)))]
        check(what + f": written {ours}", all(value == 1 for value in ours))
    peer.drop(number)


def theirs_of(library, dtype, form):
    """An array of theirs in one of several forms, numbered in C order."""
    kind = getattr(library, dtype)
    plain = library.arange(0, 24).reshape(4, 6)
    plain = plain.astype(kind) if library is numpy else plain.to(kind)
    copy = (lambda a: a.copy(order="C")) if library is numpy else (lambda a: a.clone())
    return {
        "whole": lambda: plain,
        "turned": lambda: plain.T,
        "strided": lambda: plain[1:, ::2],
        "tail": lambda: copy(plain.reshape(24))[1:],
        "reversed": lambda: plain[::-1, ::-1] if library is numpy else plain,
        "scalar": lambda: plain[2, 3],
        "empty": lambda: plain[:0],
        "stretched": lambda: library.broadcast_to(plain[0], (3, 6)) if library is numpy else plain[0].expand(3, 6),
    }[form]()


FORMS = ["whole", "turned", "strided", "tail", "reversed", "scalar", "empty", "stretched"]


def take(library, dtype, form, legacy):
    what = f"from {library.__name__} {dtype} {form} {'legacy' if legacy else 'versioned'}"
    theirs = theirs_of(library, dtype, form)
    if not hasattr(theirs, "__dlpack__"):
        theirs = numpy.asarray(theirs)
    wanted = values(theirs)
    before = sys.getrefcount(theirs)
    version = {} if legacy else {"max_version": (1, 0)}
    try:
        capsule = theirs.__dlpack__(**version)
    except Exception as error:
        refusals.setdefault(f"from {library.__name__}, {form}: {type(error).__name__}: {str(error).splitlines()[0][:90]}", set()).add(dtype)
        return
    legacy = bool(is_valid(capsule, NAMES[True]))
    pointer = pointer_of(capsule, NAMES[legacy])
    rename(capsule, USED[legacy])
    del capsule
    number = peer.take(pointer, legacy)
    check(what + ": taken", number >= 0)
    if number < 0:
        return
    check(what + ": dtype", DTYPES[peer.dtype(number)] == dtype)
    shape = [peer.size(number, axis) for axis in range(len(theirs.shape))]
    rank = -1 - peer.size(number, 99)
    check(what + f": shape {shape}", shape == list(theirs.shape) and rank == len(theirs.shape))
    ours = [peer.get(number, place) for place in range(len(wanted))]
    check(what + f": values {ours}", ours == wanted)
    is_writable = library is torch or theirs.flags.writeable
    filled = peer.fill(number, 1)
    # A stretched array cannot be written by us; nor what they lend for reading only.
    if form == "stretched" or not is_writable:
        check(what + ": not written", not filled)
    elif wanted and theirs_address(theirs) % 8 == 0:
        check(what + ": written by us", filled and all(value == 1 for value in values(theirs)))
    elif wanted:
        # Less than 8 bytes: a copy, as documented.
        check(what + ": a copy", filled and values(theirs) == wanted)
    peer.drop(number)
    check(what + f": comes back, {sys.getrefcount(theirs) - before}", library is torch or sys.getrefcount(theirs) == before)


def theirs_address(array):
    """The lowest address of its elements."""
    if isinstance(array, torch.Tensor):
        return array.data_ptr()
    return numpy.lib.array_utils.byte_bounds(array)[0]


def workspaces():
    number = peer.leaked()
    check("a leaked array is not lent", number >= 0 and not peer.lend(number, False, False))
    pointer = peer.outlives_its_workspace()
    check("an array of a workspace is lent", bool(pointer))

    class Once:
        def __dlpack__(self, **_):
            return new_capsule(pointer, NAMES[False], None)

        def __dlpack_device__(self):
            return (1, 0)

    theirs = numpy.from_dlpack(Once())
    check("a tensor keeps its memory when the workspace is used again", values(theirs) == [float(i) for i in range(12)])


def torch_frees_once():
    """Storage of PyTorch is freed when our array goes, not before and not twice."""
    base = numpy.arange(12, dtype=numpy.float64)
    before = sys.getrefcount(base)
    tensor = torch.from_numpy(base)
    capsule = tensor.__dlpack__(max_version=(1, 0))
    legacy = bool(is_valid(capsule, NAMES[True]))
    pointer = pointer_of(capsule, NAMES[legacy])
    rename(capsule, USED[legacy])
    number = peer.take(pointer, legacy)
    del capsule, tensor
    check("torch: storage lives with our array", sys.getrefcount(base) == before + 1 and peer.get(number, 11) == 11)
    peer.drop(number)
    check("torch: storage is freed with it", sys.getrefcount(base) == before)


for library in [numpy, torch]:
    for dtype, name in enumerate(DTYPES):
        if not hasattr(library, name):
            continue
        for layout in range(len(LAYOUTS)):
            for writable in [False, True]:
                for legacy in [False, True]:
                    lend(library, dtype, layout, writable, legacy)
        for form in FORMS:
            for legacy in [False, True]:
                take(library, name, form, legacy)
workspaces()
torch_frees_once()
for refusal, dtypes in sorted(refusals.items()):
    print(f"not taken by {refusal} ({', '.join(sorted(dtypes))})")
for failure in failures[:60]:
    print("FAILED", failure)
print(f"NumPy {numpy.__version__}, PyTorch {torch.__version__}: {count} checks, {len(failures)} failed")
sys.exit(bool(failures))
