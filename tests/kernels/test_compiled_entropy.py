"""Cross entropy in C: near NumPy's, on any number of threads; labels that are no classes."""

from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native import runtime
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.kernels.test_compiled import DTYPES, both, close
from tests.over import over

pytestmark = pytest.mark.skipif(
    compiled("entropy.entropy", np.zeros(1)) is None, reason="no C compiler on PATH"
)


@over("dtype", DTYPES)
@over("shape", [(8, 8), (300, 10), (7, 5, 100), (3, 5000), (2000, 64)])
def test_results_are_near_those_of_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x = (random.standard_normal(shape) * 10).astype(dtype)
    x[0, ..., 3] = -np.inf
    axis, before = x.ndim - 1, runtime.threads()
    label = random.integers(0, shape[-1], shape[:-1])
    some = np.where(random.random(label.shape) < 0.3, -100, label)
    for given in (label, some, label.astype(np.int32), np.full_like(label, -100)):
        for special in (0.0, np.inf, np.nan):
            x[-1, ..., 0] = special
            for mean in (False, True):
                attrs = {"axis": axis, "ignore": -100, "op": "loss", "mean": mean}
                for operand in (x, np.asfortranarray(x)):
                    assert close(*both("label_entropy", operand, given, **attrs))
                    ours, theirs = both("label_loss", operand, given, **attrs)
                    assert close(ours[:2], theirs[:2])
                    assert np.array_equal(ours[2], theirs[2])
        probs = np.abs(random.standard_normal(shape)).astype(dtype)
        y = random.standard_normal(label.shape).astype(dtype)
        spread = np.broadcast_to(y.ravel()[0], label.shape)
        for one in (y, spread):
            attrs = {"axis": axis, "ignore": -100}
            ours, theirs = both("label_entropy_adjoint", one, probs, given, **attrs)
            assert np.array_equal(ours[0], theirs[0])
        found: set[bytes] = set()
        for count in (1, 2, 3):
            runtime.set_threads(count)
            result: Any = REGISTRY["label_entropy"].kernel(
                x, given, axis=axis, ignore=-100, op="loss"
            )
            found.add(b"".join(part.tobytes() for part in result))
        runtime.set_threads(before)
        assert len(found) == 1


def test_a_label_that_is_no_class_is_refused() -> None:
    x, label = np.ones((20, 10)), np.arange(20) % 10
    label[3] = 10
    for name in ("label_entropy", "label_loss"):
        with pytest.raises(IndexError, match="label 10 is out of range"):
            REGISTRY[name].kernel(x, label, axis=1, ignore=-100, op="loss")
    with pytest.raises(IndexError):
        REGISTRY["label_entropy_adjoint"].kernel(np.ones(20), x, label, axis=1, ignore=-100)
