"""The C kernels of pooling compute what the NumPy kernels do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native.c_code.c_kernel import CKernel
from autograd_engine.compiler.native.pool.select import OPERATIONS, pool
from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels import pool as reference
from tests.compiler.helpers.native_kernels import (  # noqa: F401
    WORKERS,
    call,
    compiled,
    needs_compiler,
    some_threads,
    specs,
)
from tests.tiers import by_default

pytestmark = needs_compiler

NONE = ((0, 0), (0, 0))
# images, kernel, stride, padding, ceil_mode
WINDOWS: list[tuple[Any, ...]] = [
    ((2, 3, 8, 10), (2, 2), (2, 2), NONE, False),
    ((70, 3, 9, 12), (2, 2), (2, 2), NONE, False),
    ((2, 3, 9, 11), (3, 3), (2, 2), ((1, 1), (1, 1)), False),
    ((2, 3, 9, 11), (3, 2), (2, 3), ((1, 0), (0, 1)), True),
    ((2, 3, 9, 11), (5, 6), (1, 1), ((1, 2), (3, 1)), True),
    ((2, 3, 9, 11), (9, 11), (1, 1), NONE, False),
    ((1, 2, 1200), (3,), (2,), ((0, 0),), False),
    ((2, 3, 29), (4,), (3,), ((1, 2),), True),
    ((2, 2, 7, 6, 9), (2, 3, 2), (2, 1, 2), ((1, 0), (1, 1), (0, 1)), True),
    ((0, 3, 8, 10), (2, 2), (2, 2), NONE, False),
]
BINS: list[tuple[Any, ...]] = [
    ((2, 3, 8, 10), (1, 1)),
    ((2, 3, 8, 10), (3, 4)),
    ((2, 3, 8, 10), (4, None)),
    ((2, 3, 7), (9,)),
    ((2, 3, 5, 6, 7), (2, 3, 4)),
]
DTYPES = [np.float32, np.float64]
Call = tuple[str, list[Any], list[Any], dict[str, Any]]


def check(every: list[Call]) -> None:
    """Compare each call with the NumPy kernel: floats nearly, indices exactly."""
    expected, kernels = [], []
    for op, operands, like, attrs in every:
        with np.errstate(invalid="ignore"):
            results = getattr(reference, op)(*operands, *like, **attrs)
        results = results if isinstance(results, tuple) else (results,)
        kernel = pool(op, specs(operands + like), specs(results), attrs, WORKERS)
        assert isinstance(kernel, CKernel), op
        expected.append(results)
        kernels.append(kernel)
    counts = [
        len(operands) + len(results) + 1
        for (_, operands, _, _), results in zip(every, expected, strict=True)
    ]
    functions = compiled(kernels, counts)
    for function, (op, operands, _, attrs), kernel, results in zip(
        functions, every, kernels, expected, strict=True
    ):
        found = [np.full_like(a, 7) for a in results]
        call(function, kernel, operands, found)
        for a, b in zip(found, results, strict=True):
            if b.dtype == np.int64:
                np.testing.assert_array_equal(a, b, err_msg=f"{op} {attrs}")
            else:
                tolerance = 1e-5 if b.dtype == np.float32 else 1e-12
                np.testing.assert_allclose(
                    a, b, rtol=tolerance, atol=tolerance, err_msg=f"{op} {attrs}"
                )


def drawn(shape: Any, dtype: Any) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def attributes(window: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("kernel", "stride", "padding", "ceil_mode"), window[1:], strict=True))


@pytest.mark.parametrize("dtype", by_default(DTYPES, 1))
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_maxima_and_their_places(window: tuple[Any, ...], dtype: Any) -> None:
    """Ties, NaN and -inf included: the first place wins."""
    rng, attrs = np.random.default_rng(1), attributes(window)
    tied = rng.integers(-3, 3, window[0]).astype(dtype)
    wild = tied.copy()
    wild[rng.random(window[0]) < 0.5] = -np.inf
    wild[rng.random(window[0]) < 0.02] = np.nan
    out, index = reference.max_pool(tied, **attrs)
    g = drawn(out.shape, dtype)
    check(
        [
            ("max_pool", [tied], [], attrs),
            ("max_pool", [wild], [], attrs),
            ("max_pool_scatter", [g, index], [tied], {}),
            ("max_pool_gather", [tied, index], [], {}),
        ]
    )


@pytest.mark.parametrize("dtype", by_default(DTYPES, 1))
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_means_and_their_adjoints(window: tuple[Any, ...], dtype: Any) -> None:
    x, every = drawn(window[0], dtype), []
    for exclusive, divisor in ((True, None), (False, None), (True, 3.0)):
        attrs = {**attributes(window), "exclusive": exclusive, "divisor": divisor}
        g = drawn(reference.avg_pool(x, **attrs).shape, dtype)
        every += [("avg_pool", [x], [], attrs), ("avg_pool_input", [g], [x], attrs)]
    check(every)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", BINS, ids=str)
def test_adaptive(case: tuple[Any, ...], dtype: Any) -> None:
    shape, size = case
    rng, x = np.random.default_rng(2), drawn(shape, dtype)
    tied = rng.integers(-2, 2, shape).astype(dtype)
    tied[rng.random(shape) < 0.02] = np.nan
    g = drawn(reference.adaptive_avg_pool(x, size=size).shape, dtype)
    attrs = {"size": size}
    check(
        [
            ("adaptive_max_pool", [tied], [], attrs),
            ("adaptive_avg_pool", [x], [], attrs),
            ("adaptive_avg_pool_input", [g], [x], attrs),
        ]
    )


def test_an_index_outside_writes_nowhere() -> None:
    g, like = np.ones((1, 2, 3), np.float32), np.zeros((1, 2, 4), np.float32)
    index = np.array([[[0, 4, -1], [3, 3, 1 << 40]]])
    kernel = pool("max_pool_scatter", specs([g, index, like]), specs([like]), {}, WORKERS)
    assert kernel is not None
    (function,) = compiled([kernel], [4])
    call(function, kernel, [g, index], [like])
    np.testing.assert_array_equal(like, [[[1, 0, 0, 0], [0, 0, 0, 2]]])


def test_what_is_not_supported_is_left_to_numpy() -> None:
    attrs = {**attributes(WINDOWS[0]), "exclusive": True}

    def kernel(dtype: Any) -> CKernel | None:
        x, y = (Spec(shape, np.dtype(dtype)) for shape in ((2, 3, 8, 10), (2, 3, 4, 5)))
        return pool("avg_pool", [x], [y], attrs, 1)

    assert kernel(np.float64) is not None
    assert kernel(np.float16) is None
    assert "last_writes" not in OPERATIONS  # it raises an error of its own
