"""Random functions with branches, loops and Python control flow: traced, bits of eager mode."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.jit import InputSpec, to_static

F = paddle.nn.functional

UNARY = (paddle.tanh, paddle.sin, F.sigmoid, F.softmax, lambda v: v * v, lambda v: v - v.mean())
BINARY = (
    paddle.add,
    paddle.multiply,
    paddle.maximum,
    lambda a, b: a @ b.T @ b * 0.1,
    lambda a, b: paddle.concat([a, b])[1:4],
)


def expression(seed: int, values: Any, depth: int, steps: int) -> Any:
    """What a program of `steps` random steps makes of the values, which all are 3 by 3."""
    rng, values = np.random.default_rng(seed), list(values)
    for _ in range(steps):
        kind = rng.integers(9 if depth < 2 else 6)
        a, b = (values[k] for k in rng.integers(len(values), size=2))
        if kind < 2:
            made = UNARY[rng.integers(len(UNARY))](a)
        elif kind < 4:
            made = BINARY[rng.integers(len(BINARY))](a, b)
        elif kind == 4:
            made = a.clone()
            made[int(rng.integers(3))] = b[0] * 0.5
        elif kind == 5:  # of Python, on what is known of a trace
            made = a * 0.5 if a.shape == [3, 3] and b.dtype == a.dtype and seed % 2 else b + a.ndim
        elif kind < 8:
            seeds, threshold = rng.integers(1 << 30, size=2), float(rng.normal() * 0.3)
            made = static.nn.cond(
                a.mean() > threshold,
                lambda s=seeds[0], v=tuple(values): inner(s, v, depth),
                lambda s=seeds[1], v=tuple(values): inner(s, v, depth),
            )
        else:
            seed, trips, captured = rng.integers(1 << 30), int(rng.integers(4)), tuple(values)
            _, made = static.nn.while_loop(
                lambda i, h, n=trips: i < n,
                lambda i, h, s=seed, v=captured: [i + 1, inner(s, (h, *v), depth)],
                [paddle.to_tensor(0) if rng.integers(2) else paddle.zeros([], "int64"), a],
            )
        values.append(made)
    return values[-1] + values[-2]


def inner(seed: int, values: Any, depth: int) -> Any:
    return paddle.tanh(expression(seed, values, depth + 1, 2))


def orders(outputs: Any, wanted: list[Any]) -> list[Any]:
    current, found = [outputs], []
    for n in range(3):
        total = sum((c * float(n + 1)).sum() for c in current if not c.stop_gradient)
        if not isinstance(total, paddle.Tensor):
            break
        current = paddle.grad(total, wanted, create_graph=True, allow_unused=True)
        found += [None if g is None else g.numpy() for g in current]
        current = [g for g in current if g is not None]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_values_and_gradients_of_three_orders(seed: int) -> None:
    def function(x: Any, y: Any) -> Any:
        return expression(seed, [x, y, w], 0, 5)

    rng = np.random.default_rng(1000 + seed)
    x, y, w = (paddle.to_tensor(rng.normal(size=(3, 3)), stop_gradient=False) for _ in range(3))
    y.stop_gradient = bool(seed % 3 == 0)
    wanted = [t for t in (x, y, w) if not t.stop_gradient]
    want = function(x, y)
    expected = orders(want, wanted)
    open_spec = [InputSpec([3, 3], "float64", stop_gradient=t.stop_gradient) for t in (x, y)]
    for traced in (to_static(function), to_static(function, input_spec=open_spec)):
        for _ in range(2):
            got = traced(x, y)
            assert got.numpy().tobytes() == want.numpy().tobytes()
            for k, (a, b) in enumerate(zip(orders(got, wanted), expected, strict=True)):
                if a is None or b is None:  # zeros for what no branch that ran has read
                    assert not np.any(a if b is None else b), k
                elif k < len(wanted):
                    np.testing.assert_array_equal(a, b, err_msg=str(k))
                else:
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=str(k))
        assert len(traced.program_cache) == 1
