"""Attention in C: near NumPy's, each head by itself, on any number of threads."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native import runtime
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing.modes import strided
from tests.kernels.test_compiled import DTYPES, both, close
from tests.over import over

pytestmark = pytest.mark.skipif(
    compiled("attention.attention", np.zeros(1)) is None, reason="no C compiler on PATH"
)
# Batch, queries, keys, heads, width, width of values.
SIZES = [
    (2, 12, 12, 2, 16, 16),
    (1, 125, 130, 3, 16, 33),
    (3, 70, 9, 2, 5, 1),
    (12, 33, 33, 1, 64, 64),
    (1, 300, 300, 1, 8, 8),
]
Case = tuple[str, list[Any], dict[str, Any]]


def cases(dtype: str) -> Iterator[Case]:
    random = np.random.default_rng(0)
    for batch, queries, keys, heads, width, values in SIZES:
        q, k, v, y = (
            random.standard_normal(shape).astype(dtype)
            for shape in (
                (batch, queries, heads, width),
                (batch, keys, heads, width),
                (batch, keys, heads, values),
                (batch, queries, heads, values),
            )
        )
        for causal in (False, True):
            attrs = {"scale": 0.3, "causal": causal}
            weights = REGISTRY["attention"].kernel(q, k, v, **attrs)[1]
            masks = random.random((batch, heads, queries, keys)) < 0.5
            masks[0, 0, ::3] = False
            for seen in (masks, masks[:1, :, :1], masks[0, 0], masks[..., :1], strided(masks)):
                yield "masked_attention", [q, k, v, seen], attrs
                bias = np.where(seen, -4.0, 0.5).astype(dtype)
                yield "biased_attention", [q, k, v, bias], attrs
                yield "biased_attention", [q, k, v, strided(bias)], attrs
            for where in (np.asarray, np.asfortranarray, strided, _heads_first):
                given = [where(x) for x in (q, k, v)]
                yield "attention", given, attrs
                yield "attention_adjoint", [where(y), *given, where(weights)], {"scale": 0.3}


def _heads_first(x: Any) -> Any:
    return np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2)


@over("dtype", DTYPES)
def test_results_are_near_those_of_numpy(dtype: str) -> None:
    wrong = [
        (i, name)
        for i, (name, operands, attrs) in enumerate(cases(dtype))
        if not close(*both(name, *operands, **attrs))
    ]
    assert not wrong


@over("dtype", DTYPES)
def test_bits_do_not_depend_on_threads(dtype: str) -> None:
    before, found = runtime.threads(), set()
    for count in (1, 2, 3):
        runtime.set_threads(count)
        results = [REGISTRY[name].kernel(*a, **attrs) for name, a, attrs in cases(dtype)]
        found.add(b"".join(part.tobytes() for result in results for part in result))
    runtime.set_threads(before)
    assert len(found) == 1


@over("dtype", DTYPES)
def test_a_head_has_the_same_bits_in_any_batch(dtype: str) -> None:
    for name, operands, attrs in cases(dtype):
        whole = REGISTRY[name].kernel(*operands, **attrs)
        last = REGISTRY[name].kernel(*(x[-1:] if x.ndim == 4 else x for x in operands), **attrs)
        for a, b in zip(whole, last, strict=True):
            assert a[-1:].tobytes() == b.tobytes()


def test_what_is_not_finite_stays_with_its_query() -> None:
    q, k, v = (np.random.default_rng(n).standard_normal((1, 40, 2, 8)) for n in range(3))
    q[0, 3, 1] = np.nan
    q[0, 5, 0] = np.inf
    out, _ = REGISTRY["attention"].kernel(q, k, v, scale=1.0, causal=True)
    wrong = np.isnan(out).any(axis=3)
    assert wrong[0, 3, 1]
    assert wrong[0, 5, 0]
    assert np.count_nonzero(wrong) == 2


@over("on", [True, False])
@over("causal", [True, False])
@over("masked", ["", "bool", "float32"])
def test_every_mode_has_the_same_bits(on: bool, causal: bool, masked: str) -> None:
    before = paddle.get_flags("FLAGS_compiled_kernels")
    paddle.set_flags({"FLAGS_compiled_kernels": on})
    x = np.random.default_rng(0).standard_normal((2, 20, 3, 8)).astype("float32")
    function = paddle.nn.functional.scaled_dot_product_attention

    mask = paddle.to_tensor(np.arange(20) % 3 != 0).astype(masked) if masked else None

    def derived(x: Any, create_graph: bool = False) -> list[Any]:
        out = function(x, x, x, mask, is_causal=causal)
        return [out, *paddle.grad([out], [x], [out * out], create_graph=create_graph)]

    def bits(found: list[Any]) -> list[bytes]:
        return [t.numpy().tobytes() for t in found]

    given = paddle.to_tensor(x, stop_gradient=False)
    expected = bits(derived(given))
    recorded = bits(derived(given, create_graph=True))
    program = paddle.jit.to_static(derived, backend="numpy")
    found = [bits(program(given)) for _ in range(3)]
    paddle.set_flags(before)
    assert recorded == expected
    assert found == [expected] * 3
