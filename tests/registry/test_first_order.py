"""Gradient rules against differences of the kernels; never against another formula."""

import numpy as np

import autograd_engine as paddle
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.over import over

from .harness import (
    call,
    close,
    differences,
    differentiable,
    directions,
    gradient,
    inner,
    is_smooth,
    kernel,
    subsets,
    tensors,
    with_gradient,
)
from .samples import cases

TOLERANCE = 1e-6
COMPLEX_TOLERANCE = 1e-12

# Operations with a gradient whose kernels are no analytic functions, or take no complex numbers.
REAL = {"abs", "cast", "cast_like", "erf", "gelu", "max", "max_pool", "maximum", "min", "minimum"}
REAL |= {
    "cummax",
    "cummin",
    "deviation",
    "distances",
    "logcumsumexp",
    "mode",
    "p_norm",
    "relu",
    "sigmoid",
    "topk",
}


def is_analytic(op, sample):
    return op.name not in REAL and is_smooth(op, sample)


# Elementwise mathematics whose kernels are real: special functions, angles, remainders.
REAL |= {"atan2", "bessel_i", "bessel_ie", "erfinv", "frexp", "gamma_density", "gammainc"}
REAL |= {"gammaincc", "hypot", "lgamma", "logaddexp", "logit", "polygamma", "remainder", "sinc"}
# Activations and bounded logarithms: made of pieces.
REAL |= {"bounded_log", "elu", "gelu_tanh", "log_sigmoid", "logistic_entropy", "logistic_loss"}
REAL |= {"mish", "silu", "softplus"}
REAL |= {"cholesky", "cofactor", "cofactor_tangent", "eigh", "pinv", "qr", "residual_over"}
REAL |= {"slogdet", "svd"}
REAL |= {"dft", "from_half_spectrum", "from_half_spectrum_like", "half_spectrum"}


def test_real_names_operations():
    assert set(REGISTRY) >= REAL


@over(("op", "sample"), cases(is_smooth))
def test_gradient_is_that_of_differences(op, sample):
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    cotangents = directions(with_gradient(op, kernel(op, operands, attrs)), seed=1)

    def projected():
        return inner(with_gradient(op, kernel(op, operands, attrs)), cotangents)

    positions = differentiable(op, operands)
    expected = {k: differences(projected, operands[k]) for k in positions}
    for wanted in subsets(positions):
        found = gradient(op, operands, attrs, wanted, cotangents)
        for k, g in zip(wanted, found, strict=True):
            close(g, expected[k], TOLERANCE)


def complex_step(f, operands, k):
    """Im f(x + i h) / h for each element of operand `k`: no two close numbers are subtracted."""
    h = 1e-30
    out = np.zeros(operands[k].shape)
    for index in np.ndindex(out.shape):
        moved = [a.astype(np.complex128) if a.dtype == np.float64 else a for a in operands]
        moved[k][index] += 1j * h
        out[index] = f(moved).imag / h
    return out


@over(("op", "sample"), cases(is_analytic))
def test_gradient_is_that_of_the_complex_step(op, sample):
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    cotangents = directions(with_gradient(op, kernel(op, operands, attrs)), seed=2)

    def projected(moved):
        results = with_gradient(op, kernel(op, moved, attrs))
        return sum(np.sum(r * u) for r, u in zip(results, cotangents, strict=True))

    positions = differentiable(op, operands)
    found = gradient(op, operands, attrs, positions, cotangents)
    for k, g in zip(positions, found, strict=True):
        close(g, complex_step(projected, operands, k), COMPLEX_TOLERANCE)


def multiple(op, sample):
    return op.multiple and is_smooth(op, sample)


@over(("op", "sample"), cases(multiple))
def test_one_output_alone(op, sample):
    """A cotangent that never arrives counts as zeros."""
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    outputs = with_gradient(op, kernel(op, operands, attrs))
    for i, output in enumerate(outputs):
        (cotangent,) = directions([output], seed=3)
        xs = tensors(operands, (0,))
        result = with_gradient(op, call(op, xs, attrs))[i]
        (found,) = paddle.grad(result, xs[0], tensors([cotangent])[0])

        def projected(i=i, cotangent=cotangent):
            return inner([with_gradient(op, kernel(op, operands, attrs))[i]], [cotangent])

        close(found.numpy(), differences(projected, operands[0]), TOLERANCE)
