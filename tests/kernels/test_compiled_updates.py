"""Updates of parameters in C have the bits of NumPy's passes, for programs trace these."""

from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native import runtime
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.kernels.test_compiled import DTYPES, both
from tests.over import over

pytestmark = pytest.mark.skipif(
    compiled("updates.sgd", np.zeros(1)) is None, reason="no C compiler on PATH"
)
ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
# How many arrays of state there are, and powers of the decay rates behind them.
RULES: list[tuple[str, int, int, dict[str, Any]]] = [
    ("sgd", 0, 0, {}),
    ("momentum", 1, 0, {"mu": 0.9}),
    ("momentum", 1, 0, {"mu": 0.9, "use_nesterov": True, "rescale_grad": 0.5}),
    ("adam", 2, 2, ADAM),
    ("adam_amsgrad", 3, 2, ADAM),
    ("adamw", 2, 2, {**ADAM, "coeff": 0.0}),
    ("adamw_amsgrad", 3, 2, {**ADAM, "coeff": 0.01}),
]


def operands(dtype: str, arrays: int, powers: int, transposed: bool = False) -> list[Any]:
    random = np.random.default_rng(0)
    found = [np.abs(random.standard_normal((317, 211))) for _ in range(2 + arrays)]
    for k in (0, 1):
        found[k] *= random.choice([-1.0, 1.0], found[k].shape)
    for k, x in enumerate(found):
        x[3, k : k + 7] = (np.nan, np.inf, 0.0, 1e-40, 1e30, -0.0, 1.0)
    if transposed:
        found = [np.asfortranarray(x) for x in found]
    rest = [np.asarray(x) for x in (0.01, 0.9**3, 0.999**3)[: 1 + powers]]
    all_of_them = found[:2] + rest[:1] + found[2:] + rest[1:]
    return [x.astype(dtype) for x in all_of_them]


@over("dtype", DTYPES)
@over("rule", RULES)
def test_bits_are_those_of_numpy(dtype: str, rule: tuple[str, int, int, dict[str, Any]]) -> None:
    name, arrays, powers, attrs = rule
    for transposed in (False, True):
        ours, theirs = both(name, *operands(dtype, arrays, powers, transposed), **attrs)
        for a, b in zip(ours, theirs, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_bits_do_not_depend_on_threads() -> None:
    before, found = runtime.threads(), set()
    given = operands("float32", 2, 2)
    for count in (1, 2, 3):
        runtime.set_threads(count)
        found.add(b"".join(x.tobytes() for x in REGISTRY["adam"].kernel(*given, **ADAM)))
    runtime.set_threads(before)
    assert len(found) == 1
