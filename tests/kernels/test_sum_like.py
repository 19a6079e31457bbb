"""Cotangents summed over the axes that broadcasting had added or stretched."""

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels.sums import MANY_ROWS, leading, sum_like
from autograd_engine.testing.same_bits import assert_same
from tests.over import over

# From a shape, to one that broadcasts to it, and how many axes in front are added up.
PAIRS = (
    ((32, 5), (5,), 1),
    ((32, 5), (1, 5), 1),
    ((32, 5), (32, 1), None),
    ((32, 5), (), 2),
    ((32, 5), (1, 1), 2),
    ((2, 16, 5), (5,), 2),
    ((2, 16, 5), (1, 16, 5), 1),
    ((2, 16, 5), (1, 1, 5), 2),
    ((2, 16, 5), (16, 1), None),
    ((1, 16, 5), (1, 1, 5), None),
    ((MANY_ROWS - 1, 5), (1, 5), 1),
    ((1500, 3), (3,), 1),
    ((0, 3), (1, 3), 1),
    ((32, 0), (1, 0), 1),
)


@over(("given", "shape", "lead"), PAIRS)
def test_which_axes_are_in_front(given: Any, shape: Any, lead: int | None) -> None:
    assert leading(given, shape) == lead


@over("dtype", ("float16", "float32", "float64", "complex128"))
@over("order", "CF")
@over(("given", "shape", "lead"), PAIRS)
def test_sums(given: Any, shape: Any, lead: Any, order: Any, dtype: str) -> None:
    x = np.asarray(np.random.default_rng(0).uniform(0.5, 1.0, given), dtype, order=order)
    found = sum_like(x, Spec(shape, np.dtype(dtype)))
    assert (found.shape, found.dtype) == (shape, np.dtype(dtype))
    columns = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), given).ravel()
    for k, total in enumerate(found.ravel()):
        parts = [complex(v) for v in x.ravel()[columns == k]]
        expected = math.fsum(v.real for v in parts)
        tolerance = {"float16": 1e-3, "float32": 1e-6}.get(dtype, 1e-14)
        assert math.isclose(complex(total).real, expected, rel_tol=tolerance, abs_tol=1e-300)


@over("shape", ((5,), (1, 5), (1, 1), (32, 1)))
def test_modes_have_the_same_bits(shape: Any) -> None:
    random = np.random.default_rng(0)
    x, b = (np.asarray(random.standard_normal(s), "float32") for s in ((32, 5), shape))
    assert_same(lambda x, b: paddle.tanh(x + b), x, b)
