"""What a backward pass holds, as it goes along."""

import gc
import itertools
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle

F = paddle.nn.functional
SIZE = 100_000
DEPTH = 30
BYTES = SIZE * 4


def leaf() -> Any:
    return paddle.to_tensor(np.linspace(0, 1, SIZE, dtype=np.float32), stop_gradient=False)


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Before memory is looked at, for the first call loads C, and what compiles it."""
    F.relu(chain(leaf())).sum().backward()
    F.linear(paddle.ones([1024, 64]), paddle.ones([64, 64]), paddle.ones([64])).mean()


class Traced:
    """Traced memory in units of one array."""

    def __enter__(self) -> "Traced":
        gc.collect()
        tracemalloc.start()
        self._start = tracemalloc.get_traced_memory()[0]
        return self

    def __exit__(self, *_: object) -> None:
        tracemalloc.stop()

    def now(self) -> float:
        return (tracemalloc.get_traced_memory()[0] - self._start) / BYTES

    def peak(self) -> float:
        return (tracemalloc.get_traced_memory()[1] - self._start) / BYTES


def chain(x: Any) -> Any:
    for _ in range(DEPTH):
        x = paddle.sin(x)
    return x


def grads(y: Any, x: Any, how: str) -> None:
    if how == "backward":
        y.backward()
    else:
        paddle.grad(y, x, retain_graph=False)


@pytest.mark.parametrize("how", ["backward", "grad"])
def test_the_peak_is_what_was_saved_and_a_few_cotangents(how: str) -> None:
    x = leaf()
    with Traced() as traced:
        y = chain(x).sum()
        assert DEPTH - 1 <= traced.now() < DEPTH + 0.5
        tracemalloc.reset_peak()
        grads(y, x, how)
        assert traced.peak() < DEPTH + 3.5


def test_memory_falls_as_the_pass_advances() -> None:
    x = leaf()
    seen: list[float] = []
    with Traced() as traced:
        h = x
        for _ in range(DEPTH):
            h = paddle.sin(h)
            h.register_hook(lambda g: seen.append(traced.now()))
        h.sum().backward(retain_graph=False)
    del h
    assert len(seen) == DEPTH
    for before, after in itertools.pairwise(seen[1:]):
        assert after < before - 0.9, seen


def test_cotangents_go_as_the_pass_advances() -> None:
    x = leaf()
    alive: list[int] = []
    refs: list[Any] = []

    def look(g: Any) -> None:
        alive.append(sum(r() is not None for r in refs))
        refs.append(weakref.ref(g._data))

    h = x
    for _ in range(DEPTH):
        h = paddle.sin(h)
        h.register_hook(look)
    h.backward()
    assert max(alive) <= 1  # the one before, which a rule has just read
    assert sum(r() is not None for r in refs) == 0


def test_a_retained_graph_keeps_what_it_saved_and_no_cotangent() -> None:
    x = leaf()
    with Traced() as traced:
        y = chain(x).sum()
        saved = traced.now()
        y.backward(retain_graph=True)
        assert traced.now() < saved + 1.5  # .grad
        y.backward()
        del y
        assert traced.now() < 1.5


def test_a_deep_network_adds_the_gradients_of_its_weights_as_activations_go() -> None:
    rng = np.random.default_rng(0)
    width, batch, depth = 64, 1024, 20
    weights = [
        paddle.to_tensor(rng.standard_normal((width, width), np.float32) / 8, stop_gradient=False)
        for _ in range(depth)
    ]
    biases = [paddle.to_tensor(np.zeros(width, np.float32), stop_gradient=False) for _ in weights]
    x = paddle.to_tensor(rng.standard_normal((batch, width), np.float32))
    activation = batch * width * 4 / BYTES
    with Traced() as traced:
        h = x
        for w, b in zip(weights, biases, strict=True):
            h = F.relu(F.linear(h, w, b))
        loss = h.mean()
        del h
        kept = traced.now()
        assert kept < (depth + 0.5) * activation  # one array for each layer
        assert traced.peak() < (depth + 2.5) * activation
        tracemalloc.reset_peak()
        loss.backward()
        assert traced.peak() < kept + 4 * activation


def test_what_one_node_returned_is_not_held_while_the_next_one_runs() -> None:
    x = leaf()
    with Traced() as traced:
        h = chain(x)
        loss = (h * h).sum()
        del h
        kept = traced.now()
        tracemalloc.reset_peak()
        loss.backward()
        assert traced.peak() < kept + 3.5  # both products and their sum, and then neither product
