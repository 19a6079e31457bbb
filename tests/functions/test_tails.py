"""Activations and their kin far out in both tails: relative errors, eagerly and compiled.

The reference is the definition in 60 decimal digits. An error of some ulps is allowed in the
result, and of one in the argument, which is what any step on the way rounds.
"""

import functools
import math
import shutil
from decimal import Decimal, Overflow, localcontext

import numpy as np
import pytest

import autograd_engine as paddle

F = paddle.nn.functional
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
SELU_SCALE = Decimal("1.0507009873554804934193349852946")
SELU_ALPHA = Decimal("1.6732632423543772848170429916717")
STEP = Decimal("1e-25")
NO_COMPILER = shutil.which("cc") is None and shutil.which("gcc") is None


def expm1(x):
    return x.exp() - 1 if abs(x) > Decimal("1e-15") else x + x * x / 2 + x**3 / 6


def log1p(x):
    return (1 + x).ln() if abs(x) > Decimal("1e-15") else x - x * x / 2 + x**3 / 3


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def softplus(x):
    return max(x, Decimal(0)) + log1p((-abs(x)).exp())


def tanh(x):
    if abs(x) < Decimal("1e-15"):
        return x - x**3 / 3
    e = (-2 * abs(x)).exp()
    return ((1 - e) / (1 + e)).copy_sign(x)


def asinh(x):
    if abs(x) < Decimal("1e-15"):
        return x - x**3 / 6
    return (abs(x) + (x * x + 1).sqrt()).ln().copy_sign(x)


def atanh(x):
    return (log1p(x) - log1p(-x)) / 2


def erf_series(x):
    term = total = x
    n = 0
    while abs(term) > abs(total) * Decimal("1e-60"):
        n += 1
        term = -term * x * x / n
        total += term / (2 * n + 1)
    return 2 * total / PI.sqrt()


def erfc(x):
    """By its series, or beyond 3 by Laplace's continued fraction."""
    if x < -3:
        return 2 - erfc(-x)
    if x <= 3:
        return 1 - erf_series(x)
    value = Decimal(0)
    for k in range(800 if x < 6 else 200, 0, -1):
        value = Decimal(k) / 2 / (x + value)
    return (-x * x).exp() / (x + value) / PI.sqrt()


def erf(x):
    return erf_series(x) if abs(x) < 3 else (1 - erfc(abs(x))).copy_sign(x)


def gelu_tanh(x):
    return x * sigmoid((8 / PI).sqrt() * (x + Decimal("0.044715") * x**3))


FUNCTIONS = {
    "asinh": (paddle.asinh, asinh),
    "atanh": (paddle.atanh, lambda x: atanh(x) if abs(x) < 1 else None),
    "bce with logits": (
        lambda x: F.binary_cross_entropy_with_logits(x, x * 0.0, reduction="none"),
        softplus,
    ),
    "celu": (lambda x: F.celu(x, alpha=2.0), lambda x: x if x > 0 else 2 * expm1(x / 2)),
    "elu": (F.elu, lambda x: x if x > 0 else expm1(x)),
    "erf": (paddle.erf, erf),
    "exp": (paddle.exp, Decimal.exp),
    "expm1": (paddle.expm1, expm1),
    "gelu": (F.gelu, lambda x: x * erfc(-x / Decimal(2).sqrt()) / 2),
    "gelu by tanh": (lambda x: F.gelu(x, approximate=True), gelu_tanh),
    "hardshrink": (F.hardshrink, lambda x: x if abs(x) > Decimal("0.5") else Decimal(0)),
    "leaky_relu": (F.leaky_relu, lambda x: x if x > 0 else x * Decimal("0.01")),
    "log1p": (paddle.log1p, lambda x: log1p(x) if x > -1 else None),
    "log_sigmoid": (F.log_sigmoid, lambda x: -softplus(-x)),
    "logaddexp": (lambda x: paddle.logaddexp(x, x * 0.0), softplus),
    "mish": (F.mish, lambda x: x * tanh(softplus(x))),
    "selu": (F.selu, lambda x: SELU_SCALE * (x if x > 0 else SELU_ALPHA * expm1(x))),
    "sigmoid": (F.sigmoid, sigmoid),
    "silu": (F.silu, lambda x: x * sigmoid(x)),
    "sinh": (paddle.sinh, lambda x: (expm1(x) - expm1(-x)) / 2),
    "soft_margin": (
        lambda x: F.soft_margin_loss(x, x * 0.0 + 1.0, reduction="none"),
        lambda x: softplus(-x),
    ),
    "softplus": (F.softplus, lambda x: softplus(x) if x <= 20 else x),
    "softsign": (F.softsign, lambda x: x / (1 + abs(x))),
    "stanh": (paddle.stanh, lambda x: Decimal("1.7159") * tanh(Decimal("0.67") * x)),
    "swish": (F.swish, lambda x: x * sigmoid(x)),
    "tanh": (paddle.tanh, tanh),
}
SIZES = [0.0, 1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.46, 0.9, 1.0, 1.125, 1.7, 2.9, 4.1, 5.95, 7.0, 9.0]
SIZES += [12.9, 14.6, 17.0, 19.9, 25.0, 33.0, 37.5, 38.4, 50.0, 88.0, 103.0, 300.0, 700.0, 745.0]
SIZES += [800.0, 1e4, 1e15]


@functools.cache
def points(dtype):
    return np.array([s * x for x in SIZES for s in (1, -1)]).astype(dtype)


@functools.cache
def references(dtype):
    """Of each function its values, and how much an error of the argument changes them."""
    found = {}
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 70, 10**17, -(10**17)
        context.traps[Overflow] = False
        for name, (_, definition) in FUNCTIONS.items():
            rows = []
            for x in map(Decimal, points(dtype).tolist()):
                value = definition(x)
                if value is not None and abs(value) > Decimal("1e400"):
                    value = Decimal("Infinity").copy_sign(value)
                if value is None or value == 0 or value.is_infinite():
                    rows.append((value, Decimal(0)))
                    continue
                at = x + abs(x) * STEP
                moved = definition(at) if definition(at) is not None else value
                rows.append((value, abs(moved - value) / STEP / abs(value)))
            found[name] = rows
    return found


def check(dtype, name, values):
    info = np.finfo(dtype)
    largest, eps = Decimal(float(info.max)), Decimal(float(info.eps))
    least = Decimal(float(info.smallest_subnormal))
    for x, (value, condition), got in zip(
        points(dtype).tolist(), references(dtype)[name], values.tolist(), strict=True
    ):
        if value is None:
            continue
        where = f"{name}({x!r}) is {got!r}, not {value:.10e}"
        if abs(value) > largest:
            assert math.isinf(got), where
            assert (got > 0) == (value > 0), where
            continue
        assert math.isfinite(got), where
        relative = eps * (12 + 4 * condition) * abs(value)
        assert abs(Decimal(got) - value) <= relative + least * (2 + 2 * Decimal(abs(x))), where


def computed(mode, x):
    if mode == "eager":
        return [f(paddle.to_tensor(x)).numpy() for f, _ in FUNCTIONS.values()]
    with paddle.static.program_guard(paddle.static.Program()):
        variable = paddle.static.data("x", x.shape, x.dtype)
        results = [f(variable) for f, _ in FUNCTIONS.values()]
        run = paddle.static.Executor(backend=mode).prepare(
            variable.block.program, feed=["x"], fetch_list=results
        )
    return [run(x) for _ in range(4)][-1]  # it is compiled when sizes come again


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", ["eager", "numpy", "native"])
def test_relative_errors(mode, dtype):
    if mode == "native" and NO_COMPILER:
        pytest.skip("no C compiler")
    with np.errstate(all="ignore"):
        made = computed(mode, points(dtype))
    failures = []
    for name, values in zip(FUNCTIONS, made, strict=True):
        try:
            check(dtype, name, np.asarray(values))
        except AssertionError as error:
            failures.append(str(error).partition("\n")[0])
    assert not failures


def test_the_slope_of_gelu_keeps_its_accuracy():
    """To where Phi is subnormal."""
    x = np.array([-1.5, -4.0, -9.0, -15.0, -25.0, -36.0])
    t = paddle.to_tensor(x, stop_gradient=False)
    (slope,) = paddle.grad(F.gelu(t).sum(), t)
    with localcontext() as context:
        context.prec = 70
        for at, got in zip(x.tolist(), slope.numpy().tolist(), strict=True):
            density = (-(Decimal(at) ** 2) / 2).exp() / (2 * PI).sqrt()
            expected = erfc(-Decimal(at) / Decimal(2).sqrt()) / 2 + Decimal(at) * density
            assert abs(Decimal(got) - expected) <= Decimal("1e-14") * abs(expected)
