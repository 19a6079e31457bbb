"""The first elements of rows in C: those that NumPy finds, in its order."""

import numpy as np
import pytest

from autograd_engine.compiler.native import runtime
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.kernels.test_compiled import DTYPES, both
from tests.over import over

pytestmark = pytest.mark.skipif(
    compiled("order.topk", np.zeros(1)) is None, reason="no C compiler on PATH"
)


@over("dtype", DTYPES)
@over("shape", [(8, 8), (3, 100), (2, 3, 1000), (50, 33), (1, 65)])
@over("largest", [True, False])
def test_topk(dtype: str, shape: tuple[int, ...], largest: bool) -> None:
    random = np.random.default_rng(0)
    distinct = random.standard_normal(shape).astype(dtype)
    tied = random.integers(0, 4, shape).astype(dtype)
    with_nan = np.where(random.random(shape) < 0.3, np.nan, tied).astype(dtype)
    special = np.where(random.random(shape) < 0.7, np.nan, distinct).astype(dtype)
    special[random.random(shape) < 0.2] = -np.inf
    special[random.random(shape) < 0.2] = -0.0
    before = runtime.threads()
    for x in (distinct, tied, with_nan, special, np.asfortranarray(tied)):
        for k in (1, 4, 8, 32):
            if k > shape[-1]:
                continue
            attrs = {"k": k, "axis": x.ndim - 1, "largest": largest}
            ours, theirs = both("topk", x, **attrs)
            for a, b in zip(ours, theirs, strict=True):
                assert a.dtype == b.dtype
                assert a.tobytes() == b.tobytes()
            runtime.set_threads(3)
            again = REGISTRY["topk"].kernel(x, **attrs)
            runtime.set_threads(before)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, again, strict=True))
