"""Writes convolution.txt: what PyTorch answers. Run with PyTorch."""

import numpy as np
import torch

f = torch.nn.functional
rng = np.random.default_rng(5)
out = open("convolution.txt", "w")


def text(a):
    a = np.asarray(a)
    sizes = " ".join(map(str, a.shape))
    return f"{a.dtype} {sizes} : " + " ".join(repr(float(v)) for v in np.ravel(a))


def case(words, inputs, result):
    out.write(" | ".join([words, *map(text, inputs)]) + " => " + text(result.numpy()) + "\n")


def image(*shape):
    return torch.tensor(rng.integers(-16, 17, shape) / 8)


# words: what, kernel, stride, dilation, padding before and after each axis
for kernel, stride, dilation, pad in [
    ((3, 3), (1, 1), (1, 1), (0, 0)), ((2, 3), (2, 1), (1, 1), (1, 1)), ((3, 2), (1, 2), (2, 1), (2, 0)),
    ((1, 1), (2, 2), (1, 1), (0, 0)), ((3, 3), (3, 2), (1, 2), (1, 2)),
]:
    numbers = " ".join(map(str, [*kernel, *stride, *dilation, pad[0], pad[0], pad[1], pad[1]]))
    x, w, b = image(2, 2, 5, 6), image(3, 2, *kernel), image(3)
    case(f"conv2d {numbers}", [x, w, b], f.conv2d(x, w, b, stride, pad, dilation))
    columns = f.unfold(x, kernel, dilation, pad, stride)
    case(f"im2col {numbers}", [x], columns)
    case(f"col2im {numbers}", [x], f.fold(columns, (5, 6), kernel, dilation, pad, stride))
    if dilation == (1, 1) and all(2 * p <= k for p, k in zip(pad, kernel)):
        case(f"average {numbers}", [x], f.avg_pool2d(x, kernel, stride, pad, count_include_pad=False))
        case(f"average_with_padding {numbers}", [x], f.avg_pool2d(x, kernel, stride, pad))
    if all(2 * p <= k for p, k in zip(pad, kernel)):
        case(f"max {numbers}", [x], f.max_pool2d(x, kernel, stride, pad, dilation))
    if pad == (0, 0) and dilation == (1, 1):
        case(f"pnorm {numbers}", [x.abs()], f.lp_pool2d(x.abs(), 3.0, kernel, stride))
x, w, b = image(2, 3, 9), image(4, 3, 4), image(4)
case("conv1d 1 4 1 2 1 1 0 0 0 0", [x, w, b], f.conv1d(x, w, b, 2))
case("conv1d 1 4 1 1 1 2 0 0 3 3", [x, w, b], f.conv1d(x, w, b, 1, 3, 2))
x, w, b = image(1, 2, 5, 6), image(3, 2, 4, 3), image(3)
case("same 4 3 1 1 1 1 0 0 0 0", [x, w, b], f.conv2d(x, w, b, padding="same"))
