"""Distances in C: as exact as differences are, also where squares leave the range of the dtype."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native import runtime
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.kernels.test_compiled import DTYPES, both, close
from tests.over import over

pytestmark = pytest.mark.skipif(
    compiled("distances.distances", np.zeros(1)) is None, reason="no C compiler on PATH"
)
Array = np.ndarray[Any, Any]


def rows_of(dtype: str, *shapes: tuple[int, ...], scale: float = 1.0) -> list[Array]:
    random = np.random.default_rng(0)
    return [(random.standard_normal(s) * scale).astype(dtype) for s in shapes]


@over("dtype", DTYPES)
@over("case", [((40, 7), (50, 7)), ((3, 30, 5), (3, 300, 5)), ((2000, 1), (9, 1)), ((9, 65),) * 2])
def test_results_are_near_those_of_numpy(dtype: str, case: Any) -> None:
    x, y = rows_of(dtype, *case)
    w = rows_of(dtype, (*x.shape[:-1], y.shape[-2]))[0]
    assert compiled("distances.distances", x) is not None
    before = runtime.threads()
    for where in (np.asarray, np.asfortranarray):
        for name, operands in (("distances", (x, y)), ("weighted_differences", (w, x, y))):
            given = [where(v) for v in operands]
            ours, theirs = both(name, *given)
            assert close(ours, theirs)
            runtime.set_threads(3)
            assert REGISTRY[name].kernel(*given).tobytes() == ours[0].tobytes()
            runtime.set_threads(before)


@over("dtype", DTYPES)
def test_of_the_whole_range(dtype: str) -> None:
    """Rows that coincide are 0 apart; those far off, or very near, are as exact as others."""
    info = np.finfo(dtype)
    for scale in (1.0, float(info.tiny) * 1e3, float(info.max) / 1e3):
        x, y = rows_of(dtype, (40, 7), (50, 7), scale=scale)
        x[3] = y[5]
        x[4, 0], y[6, 1] = np.inf, np.nan
        with np.errstate(all="ignore"):
            rest = (x[:, None] / scale - y / scale).astype("float64")
            expected = np.sqrt((rest * rest).sum(-1)) * scale
            found = REGISTRY["distances"].kernel(x, y)
        np.testing.assert_allclose(found, expected, rtol=100 * float(info.eps))
        assert found[3, 5] == 0.0


def test_small_distances_keep_their_digits() -> None:
    """By products they would be those of 1e4, less one another."""
    x = np.linspace(0.0, 1.0, 100, dtype="float32")[:, None] * np.float32(1e-2) + np.float32(100)
    found = paddle.cdist(paddle.to_tensor(x), paddle.to_tensor(x)).numpy()
    np.testing.assert_array_equal(found, np.abs(x - x.T))


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_gradient_of_rows_that_coincide_is_zero(create_graph: bool) -> None:
    x = paddle.to_tensor(rows_of("float64", (60, 3))[0], stop_gradient=False)
    total = paddle.cdist(x, x.detach()).trace()
    (found,) = paddle.grad(total, x, create_graph=create_graph)
    assert not found.numpy().any()
