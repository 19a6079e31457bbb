"""Large updates are written over parameters and state, where nobody else can see the arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.ops.kernels.compiled import compiled
from tests.over import over

pytestmark = pytest.mark.skipif(
    compiled("updates.sgd", np.zeros(1)) is None, reason="no C compiler on PATH"
)
opt = paddle.optimizer
OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "sgd": lambda p: opt.SGD(0.1, parameters=p),
    "momentum": lambda p: opt.Momentum(0.1, 0.9, parameters=p),
    "nesterov": lambda p: opt.Momentum(0.1, 0.9, parameters=p, use_nesterov=True),
    "rescaled": lambda p: opt.Momentum(0.1, 0.9, parameters=p, rescale_grad=0.5),
    "adam": lambda p: opt.Adam(0.1, parameters=p),
    "amsgrad": lambda p: opt.Adam(0.1, parameters=p, amsgrad=True),
    "adamw": lambda p: opt.AdamW(0.1, parameters=p, weight_decay=0.1),
    "adamw without decay": lambda p: opt.AdamW(0.1, parameters=p, weight_decay=0.0),
    "clipped": lambda p: opt.Adam(0.1, parameters=p, grad_clip=paddle.nn.ClipGradByNorm(0.1)),
}
SHAPES = ((71, 93), (40, 50), (3,), ())


def parameters(dtype: str) -> list[Any]:
    random = np.random.default_rng(0)
    made = [paddle.create_parameter(list(shape), dtype) for shape in SHAPES]
    for p in made:
        p.set_value(np.asarray(random.standard_normal(p.shape), dtype))
    return made


def train(parameters: list[Any], optimizer: Any, steps: int = 3) -> None:
    random = np.random.default_rng(1)
    for _ in range(steps):
        for p in parameters:
            c = np.asarray(random.standard_normal(p.shape), p.numpy().dtype)
            (p * paddle.to_tensor(c)).sum().backward()
        optimizer.step()
        optimizer.clear_grad()


@over("dtype", ("float32", "float64"))
@over("name", OPTIMIZERS)
def test_bits_are_those_of_new_arrays(name: str, dtype: str) -> None:
    found = []
    for on in (True, False):
        given = parameters(dtype)
        optimizer = OPTIMIZERS[name](given)
        before = paddle.get_flags("FLAGS_compiled_kernels")
        paddle.set_flags({"FLAGS_compiled_kernels": on})
        train(given, optimizer, steps=1)
        first = given[0]._data.__array_interface__["data"]
        train(given, optimizer)
        stays = given[0]._data.__array_interface__["data"] == first
        paddle.set_flags(before)
        if on and name != "rescaled":  # a new array may lie where an old one was
            assert stays
        state = [v.numpy() for v in optimizer.state_dict().values()]
        found.append([v.tobytes() for v in (*[p.numpy() for p in given], *state)])
    assert found[0] == found[1]


@over("dtype", ("float32", "float64"))
@over("name", OPTIMIZERS)
def test_small_parameters_have_the_bits_of_new_arrays(name: str, dtype: str) -> None:
    """In one call where a rule has much state, and a program has asked for C already."""
    before = paddle.get_flags("FLAGS_compiled_kernels")
    found = []
    for on in (True, False):
        paddle.set_flags({"FLAGS_compiled_kernels": on})
        compiled("rows.softmax", np.zeros(1))
        given = [p for p in parameters(dtype) if p._data.size < 100]
        optimizer = OPTIMIZERS[name](given)
        train(given, optimizer, steps=1)
        first = given[0]._data.__array_interface__["data"]
        train(given, optimizer)
        if on and len(optimizer.state) > 1:
            assert given[0]._data.__array_interface__["data"] == first
        state = [v.numpy() for v in optimizer.state_dict().values()]
        found.append([v.tobytes() for v in (*[p.numpy() for p in given], *state)])
    paddle.set_flags(before)
    assert found[0] == found[1]


def test_what_others_hold_stays() -> None:
    """What a graph has saved, an array that was taken out, what `state_dict` gave."""
    p, q = (paddle.create_parameter([100, 100], "float32") for _ in range(2))
    adam = opt.Adam(0.1, parameters=[p, q])
    train([p, q], adam, steps=1)
    loss = (p * p).sum()
    gradient = 2.0 * p.numpy()
    row, array, twin, state = q[3], q.numpy(), q.detach(), adam.state_dict()
    held = [v.numpy().copy() for v in state.values()] + [array.copy()]
    train([p, q], adam)
    p.clear_grad()
    loss.backward()
    np.testing.assert_array_equal(p.grad.numpy(), gradient)
    now = [v.numpy() for v in state.values()] + [array]
    for a, b in zip(held, now, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(twin.numpy(), q.numpy())  # these share the values of q
    np.testing.assert_array_equal(row.numpy(), q.numpy()[3])
