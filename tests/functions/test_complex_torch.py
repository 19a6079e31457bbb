"""Values and gradients of complex functions beside PyTorch's, where it is installed."""

import numpy as np
import pytest

import autograd_engine as paddle

from .peers import torch

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

RNG = np.random.default_rng(5)


def drawn(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


SQUARE, OTHER, TALL, STACK = drawn(3, 3), drawn(3, 3), drawn(4, 3), drawn(2, 3, 3)
DEFINITE = SQUARE @ SQUARE.conj().T + 2 * np.eye(3)

# Each is called with its operands as it is with theirs.
ALIKE = {
    **{
        name: [SQUARE]
        for name in (
            *("abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "conj", "cos"),
            *("cosh", "exp", "expm1", "imag", "log", "log10", "log1p", "log2", "neg", "real"),
            *("reciprocal", "rsqrt", "sgn", "sin", "sinh", "sqrt", "square", "tan"),
            *("tanh", "cumsum 0", "cumprod 0", "diagonal", "flatten", "mean", "prod", "sum"),
            *("t", "trace", "tril", "triu", "view_as_real"),
            *("linalg.det", "linalg.inv", "linalg.norm", "linalg.pinv", "linalg.matrix_power 3"),
            *("linalg.svdvals", "linalg.slogdet", "linalg.eigvals", "linalg.matrix_norm nuc"),
            *("fft.fft", "fft.ifft", "fft.fft2", "fft.ifft2", "fft.fftn", "fft.ifftn"),
            *("fft.fftshift", "fft.irfft", "fft.irfft2", "fft.irfftn", "fft.hfft"),
            *("linalg.cov", "linalg.corrcoef"),
        )
    },
    **{
        name: [SQUARE, OTHER]
        for name in (
            *("add", "subtract", "multiply", "divide", "pow", "matmul", "mm", "kron", "inner"),
            *("outer 1d", "dot 1d", "linalg.solve"),
        )
    },
    "bmm": [STACK, STACK[::-1].copy()],
    "linalg.cholesky": [DEFINITE],
    "linalg.eigvalsh": [DEFINITE],
    "fft.rfft": [SQUARE.real.copy()],
    "fft.rfft2": [SQUARE.real.copy()],
    "fft.rfftn": [SQUARE.real.copy()],
    "fft.ihfft": [SQUARE.real.copy()],
    "complex": [SQUARE.real.copy(), SQUARE.imag.copy()],
    "polar": [np.abs(SQUARE), SQUARE.real.copy()],
    "view_as_complex": [TALL.real[:, :2].copy()],
}
THEIRS = {
    "linalg.cov": lambda x: torch.cov(x),
    "linalg.corrcoef": lambda x: torch.corrcoef(x),
    "linalg.slogdet": lambda x: torch.stack(list(torch.linalg.slogdet(x))),
    "linalg.cholesky": lambda x: torch.linalg.cholesky(x + x.mH),
}
OURS = {
    "linalg.svdvals": lambda x: paddle.linalg.svd(x)[1],
    "linalg.cholesky": lambda x: paddle.linalg.cholesky(x + paddle.conj(x).t()),
}


def named(module, name):
    """The function, with what stands behind its name as a further argument."""
    name, _, behind = name.partition(" ")
    function = module
    for part in name.split("."):
        function = getattr(function, part)
    if behind == "1d":
        return lambda *xs: function(*[x.reshape([-1]) for x in xs])
    if behind:
        value = int(behind) if behind.isdigit() else behind
        return lambda x: function(x, value)
    return function


def weights(value, dtype):
    rng = np.random.default_rng(9)
    drawn = rng.normal(size=value.shape) + 1j * rng.normal(size=value.shape)
    return drawn.astype(dtype) if value.dtype.kind == "c" else drawn.real.astype(value.dtype)


def results(found):
    return list(found) if isinstance(found, (list, tuple)) else [found]


def ours(name, operands, dtype):
    xs = [paddle.to_tensor(a, stop_gradient=False) for a in operands]
    ys = results((OURS.get(name) or named(paddle, name))(*xs))
    seeds = [paddle.to_tensor(weights(y.numpy(), dtype)) for y in ys]
    gradients = paddle.grad(ys, xs, seeds)
    return [y.numpy() for y in ys], [g.numpy() for g in gradients]


def theirs(name, operands, dtype):
    xs = [torch.tensor(a, requires_grad=True) for a in operands]
    ys = results((THEIRS.get(name) or named(torch, name))(*xs))
    seeds = [torch.tensor(weights(y.detach().resolve_conj().numpy(), dtype)) for y in ys]
    gradients = torch.autograd.grad(ys, xs, seeds)
    return [y.detach().resolve_conj().numpy() for y in ys], [
        g.resolve_conj().numpy() for g in gradients
    ]


@pytest.mark.filterwarnings("ignore:Casting complex values")  # of torch.stack in its backward
@pytest.mark.parametrize(("dtype", "tolerance"), [("complex64", 1e-3), ("complex128", 1e-9)])
def test_values_and_gradients(dtype, tolerance):
    real, wrong = ("float32" if dtype == "complex64" else "float64"), []
    for name, given in ALIKE.items():
        operands = [a.astype(dtype if a.dtype.kind == "c" else real) for a in given]
        pairs = zip(ours(name, operands, dtype), theirs(name, operands, dtype), strict=True)
        for what, (mine, other) in zip(("value", "gradient"), pairs, strict=True):
            for a, b in zip(mine, other, strict=True):
                same = a.dtype == b.dtype and a.shape == b.shape
                if not same or not np.allclose(a, b, rtol=tolerance, atol=tolerance):
                    wrong.append((name, what, a, b))
    assert not wrong
