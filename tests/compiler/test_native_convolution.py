"""The C kernels of convolutions compute what the NumPy kernels do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native.c_code import c_kernel as ckernel
from autograd_engine.compiler.native.c_code.c_kernel import CKernel
from autograd_engine.compiler.native.conv.correlation import Correlation, forward
from autograd_engine.compiler.native.conv.select import OPERATIONS, conv, way
from autograd_engine.compiler.native.conv.winograd import takes
from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels import conv as reference
from autograd_engine.ops.kernels.windows import window_count
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

Case = tuple[Any, ...]
NONE, ONE = ((0, 0), (0, 0)), ((1, 1), (1, 1))

# images, filters, stride, padding, dilation, groups
CASES: list[Case] = [
    ((3, 2, 9, 11), (4, 2, 3, 3), (1, 1), NONE, (1, 1), 1),
    ((3, 2, 9, 11), (7, 2, 3, 3), (1, 1), ONE, (1, 1), 1),
    ((5, 1, 28, 28), (6, 1, 5, 5), (1, 1), NONE, (1, 1), 1),  # LeNet
    ((5, 6, 12, 12), (16, 6, 5, 5), (1, 1), NONE, (1, 1), 1),
    ((3, 2, 9, 11), (4, 2, 3, 3), (2, 2), ((1, 0), (2, 1)), (1, 1), 1),
    ((3, 4, 9, 11), (6, 2, 3, 2), (2, 3), ((1, 0), (2, 1)), (2, 1), 2),
    ((1, 4, 9, 31), (6, 2, 3, 2), (1, 1), ((1, 0), (2, 1)), (2, 1), 2),  # one image
    ((2, 4, 9, 11), (4, 1, 3, 2), (2, 3), ((1, 0), (2, 1)), (2, 4), 4),  # depthwise
    ((2, 5, 13, 19), (10, 1, 3, 3), (1, 1), ONE, (1, 1), 5),
    ((2, 3, 12, 12), (4, 3, 1, 1), (3, 3), NONE, (1, 1), 1),  # pixels that no window meets
    ((2, 3, 10, 12), (4, 3, 2, 2), (1, 1), ((3, 4), (0, 5)), (1, 1), 1),  # more padding than taps
    ((2, 30, 12, 12), (40, 30, 1, 1), (1, 1), NONE, (1, 1), 1),
    ((9, 30, 4, 4), (40, 30, 1, 1), (2, 2), NONE, (1, 1), 1),
    ((9, 16, 7, 7), (16, 16, 3, 3), (1, 1), ONE, (1, 1), 1),  # several images per product
    ((2, 17, 14, 15), (19, 17, 3, 3), (1, 1), ((0, 0), (3, 4)), (1, 1), 1),
    ((1, 100, 21, 13), (30, 100, 3, 3), (1, 1), ((1, 2), (0, 3)), (1, 1), 1),
    ((2, 4, 6, 7), (5, 4, 6, 7), (1, 1), NONE, (1, 1), 1),  # one window
    ((2, 4, 41), (4, 4, 33), (1,), ((16, 16),), (1,), 1),  # one axis
    ((2, 4, 41), (6, 4, 3), (5,), ((5, 5),), (2,), 1),
    ((2, 4, 6, 5, 7), (4, 4, 3, 2, 3), (2, 1, 2), ((1, 0), (2, 1), (0, 0)), (1, 2, 1), 1),
    ((1, 2, 5, 6, 9), (6, 1, 2, 3, 3), (1, 1, 1), ((1, 1), (0, 0), (1, 1)), (1, 1, 1), 2),
    ((0, 2, 9, 11), (4, 2, 3, 3), (1, 1), ONE, (1, 1), 1),  # no images
]  # fmt: skip
WAYS = ("chosen", "direct", "columns", "winograd")


def arrays(case: Case, dtype: Any, seed: int = 0) -> tuple[Any, Any, Any, dict[str, Any]]:
    """x, w, the cotangent of the output, and the attributes."""
    x, w, stride, padding, dilation, groups = case
    along = zip(x[2:], w[2:], stride, padding, dilation, strict=True)
    out = (x[0], w[0], *(window_count(*axis) for axis in along))
    rng = np.random.default_rng(seed)
    attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return *(rng.standard_normal(shape).astype(dtype) for shape in (x, w, out)), attrs  # type: ignore[return-value]


def calls(x: Any, w: Any, g: Any) -> list[tuple[str, list[Any], list[Any]]]:
    """Each operation with its operands, and those that only tell a shape."""
    return [("conv", [x, w], []), ("conv_input", [g, w], [x]), ("conv_filter", [g, x], [w])]


def forced(how: str) -> Any:
    if how == "chosen":
        return None
    return lambda job: how if how != "winograd" or takes(job) else "columns"


def close(found: Any, expected: Any) -> None:
    tolerance = 1e-5 if found.dtype == np.float32 else 1e-12
    scale = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def run(case: Case, dtype: Any, how: str, x: Any, w: Any, g: Any, attrs: Any) -> list[Any]:
    """The results of the three kernels."""
    every = calls(x, w, g)
    results = [np.full_like(a, np.nan) for a in (g, x, w)]
    kernels: list[CKernel] = []
    for (op, operands, like), result in zip(every, results, strict=True):
        kernel = conv(op, specs(operands + like), specs([result]), attrs, WORKERS, forced(how))
        assert kernel is not None
        kernels.append(kernel)
    # What is not chosen is compiled quickly.
    functions = compiled(kernels, [4] * 3, *(() if how == "chosen" else ("-O1",)))
    for function, kernel, (_, operands, _), result in zip(
        functions, kernels, every, results, strict=True
    ):
        call(function, kernel, operands, [result])
    return results


def job_of(case: Case, dtype: Any) -> Correlation:
    x, w, g, attrs = arrays(case, dtype)
    return forward(
        np.dtype(dtype), x.shape, w.shape, g.shape, attrs["stride"], attrs["padding"],
        attrs["dilation"], attrs["groups"],
    )  # fmt: skip


def applies(case: Case, how: str) -> bool:
    return how != "winograd" or (case[0][0] > 0 and takes(job_of(case, np.float32)))


APPLIED = [(case, how) for case in CASES for how in WAYS if applies(case, how)]


@pytest.mark.parametrize(("case", "how"), by_default(APPLIED, APPLIED[::6]), ids=str)
def test_what_numpy_computes(case: Case, how: str) -> None:
    dtype = np.float64 if (CASES.index(case) + WAYS.index(how)) % 3 == 0 else np.float32
    x, w, g, attrs = arrays(case, dtype)
    results = run(case, dtype, how, x, w, g, attrs)
    for (op, operands, like), found in zip(calls(x, w, g), results, strict=True):
        close(found, getattr(reference, op)(*operands, *like, **attrs))


@pytest.mark.parametrize("case", [CASES[4], CASES[7], CASES[14]], ids=str)
def test_wider_vectors_compute_the_same(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that this processor has not are two of its own."""
    monkeypatch.setattr(ckernel, "simd_bytes", lambda: 64)
    for module in ("direct", "winograd"):
        monkeypatch.setattr(f"autograd_engine.compiler.native.conv.{module}.simd_bytes", lambda: 64)
    x, w, g, attrs = arrays(case, np.float32)
    for how in ("direct", "winograd"):
        results = run(case, np.float32, how, x, w, g, attrs)
        for (op, operands, like), found in zip(calls(x, w, g), results, strict=True):
            close(found, getattr(reference, op)(*operands, *like, **attrs))


@pytest.mark.parametrize("how", ["direct", "columns", "winograd"])
@pytest.mark.parametrize("wild", [np.inf, np.nan, -np.inf, 1e30])
def test_what_is_not_finite_stays_where_it_is(how: str, wild: float) -> None:
    case: Case = ((2, 16, 9, 11), (16, 16, 3, 3), (1, 1), NONE, (1, 1), 1)
    x, w, g, attrs = arrays(case, np.float32)
    x[1, 3, 0, 10] = wild
    g[0, 2, 6, 8] = wild
    results = run(case, np.float32, how, x, w, g, attrs)
    for (op, operands, like), found in zip(calls(x, w, g), results, strict=True):
        with np.errstate(invalid="ignore"):
            expected = getattr(reference, op)(*operands, *like, **attrs)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
        tame = np.isfinite(expected) & (np.abs(expected) < 1e20)
        assert tame.any()
        np.testing.assert_allclose(found[tame], expected[tame], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("how", ["direct", "columns", "winograd"])
def test_the_same_bits_every_time(how: str) -> None:
    """What threads add up does not depend on which of them was first."""
    case: Case = ((16, 16, 12, 12), (16, 16, 3, 3), (1, 1), ONE, (1, 1), 1)
    x, w, g, attrs = arrays(case, np.float32)
    first = run(case, np.float32, how, x, w, g, attrs)
    for _ in range(5):
        again = run(case, np.float32, how, x, w, g, attrs)
        assert all((a == b).all() for a, b in zip(first, again, strict=True))


def test_equal_sizes_are_equal_texts() -> None:
    for case in CASES[:6]:
        x, w, g, attrs = arrays(case, np.float32)
        for (op, operands, like), result in zip(calls(x, w, g), (g, x, w), strict=True):
            key = (op, specs(operands + like), specs([result]), attrs, WORKERS)
            assert conv(*key) == conv(*key)


def test_each_way_is_chosen_where_it_wins() -> None:
    lenet, block = CASES[2], ((16, 64, 32, 32), (64, 64, 3, 3), (1, 1), ONE, (1, 1), 1)
    depthwise = ((2, 64, 32, 32), (64, 1, 3, 3), (1, 1), ONE, (1, 1), 64)
    pointwise = ((2, 64, 32, 32), (64, 64, 1, 1), (1, 1), NONE, (1, 1), 1)
    chosen = [way(job_of(case, np.float32)) for case in (lenet, block, depthwise, pointwise)]
    assert chosen == ["direct", "winograd", "direct", "columns"]


def test_what_is_not_supported_is_left_to_numpy() -> None:
    attrs = {"stride": (1, 1), "padding": NONE, "dilation": (1, 1), "groups": 1}

    def kernel(dtype: Any, images: Any = 2) -> CKernel | None:
        x, w, y = (images, 2, 5, 5), (3, 2, 2, 2), (images, 3, 4, 4)
        image, filters, out = (Spec(shape, np.dtype(dtype)) for shape in (x, w, y))
        return conv("conv", [image, filters], [out], attrs, 1)

    assert kernel(np.float32) is not None
    assert kernel(np.float16) is None
    assert kernel(np.float32, fresh_dim()) is None
    assert OPERATIONS == ("conv", "conv_input", "conv_filter")
