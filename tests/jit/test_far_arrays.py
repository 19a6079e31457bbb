"""A backend of this file that keeps arrays where it has them: one entry in the table is all."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.backend import BACKENDS, Backend
from autograd_engine.core.far_array import FarArray
from autograd_engine.eager.far_tensor import content
from tests.static.node_backend import NodeProgram, NodeRun, Trouble

F, nn = paddle.nn.functional, paddle.nn
reads: list[FarArray] = []
trouble = Trouble()


class Elsewhere(FarArray):
    """An array that is somewhere else, and is known to have been read."""

    def __init__(self, value: Any, alone: bool = False) -> None:
        self.value, self.alone = value, alone

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.value.dtype)

    def shared(self) -> None:
        self.alone = False

    def read(self) -> Any:
        reads.append(self)
        return self.value.copy()

    copied = read


def there(array: Any) -> Any:
    return array.value if isinstance(array, Elsewhere) else array


class ElsewhereProgram(NodeProgram):
    keeps = True

    def step(self, arrays: Sequence[Any]) -> list[FarArray]:
        found = [Elsewhere(a) for a in self._outputs(list(map(there, arrays)))]
        for j, k in self.updates.items():
            old = arrays[k]
            cell = old if isinstance(old, Elsewhere) and old.alone else Elsewhere(None, True)
            cell.value, found[j] = found[j].value, cell
        return list(found)

    def bind(self, arrays: Sequence[Any]) -> NodeRun:
        return ElsewhereRun(self, arrays)


class ElsewhereRun(NodeRun):
    def __call__(self) -> list[Any]:
        return list(map(Elsewhere, super().__call__()))


def compile_elsewhere(graph: Any, name: str) -> ElsewhereProgram:
    return ElsewhereProgram(graph, name, "elsewhere", trouble)


@pytest.fixture(autouse=True)
def fourth_backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    entry = Backend("elsewhere", "elsewhere", __name__, "compile_elsewhere", keeps=True)
    monkeypatch.setitem(BACKENDS, "elsewhere", entry)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    reads.clear()
    yield
    trouble.fail = None


class Trained:
    def __init__(self, backend: str) -> None:
        paddle.seed(1)
        self.layer = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 2))
        self.adam = paddle.optimizer.Adam(0.1, parameters=self.layer.parameters())
        self.x = paddle.to_tensor(np.random.default_rng(0).standard_normal((5, 3)).astype("f"))

        def step(x: Any) -> Any:
            loss = paddle.square(self.layer(x)).mean()
            loss.backward()
            self.adam.step()
            self.adam.clear_grad()
            return loss

        self.step = paddle.jit.to_static(step, backend=backend)

    def state(self) -> list[Any]:
        kept = [*self.layer.state_dict().values(), *self.adam.state_dict().values()]
        return [np.array(t.numpy()) for t in kept if isinstance(t, paddle.Tensor)]


def test_a_traced_step_leaves_all_where_it_is() -> None:
    near, far = Trained("numpy"), Trained("elsewhere")
    losses = [far.step(far.x) for _ in range(2)]  # of which each is traced, for gradients differ
    reads.clear()
    losses += [far.step(far.x) for _ in range(2)]
    assert reads == []
    tensors = [*far.layer.parameters(), *far.layer.buffers(), *losses]
    assert all(isinstance(content(t), Elsewhere) for t in tensors)
    assert [float(v) for v in losses] == [float(near.step(near.x)) for _ in range(4)]
    for a, b in zip(far.state(), near.state(), strict=True):
        np.testing.assert_array_equal(a, b)
    for one in (near, far):
        one.layer[0].weight.set_value(paddle.ones([3, 4]))
        one.step(one.x)
        paddle.square(one.layer(one.x)).mean().backward()
        one.adam.step()  # eagerly
        one.adam.clear_grad()
        one.step(one.x)
    for a, b in zip(far.state(), near.state(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_step_that_fails_leaves_all_as_it_was() -> None:
    far = Trained("elsewhere")
    for _ in range(2):
        far.step(far.x)
    before = far.state()
    trouble.fail = RuntimeError("out of order")
    far.step(far.x)  # by straight-line Python
    assert any((a != b).any() for a, b in zip(far.state(), before, strict=True))
    near = Trained("numpy")
    for _ in range(3):
        near.step(near.x)
    for a, b in zip(far.state(), near.state(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_tensor_is_what_it_was_when_it_was_read() -> None:
    far = Trained("elsewhere")
    far.step(far.x)
    weight = far.layer[0].weight
    kind = type(Trained("numpy").layer[0].weight)
    assert isinstance(weight, kind)
    assert type(weight) is not kind
    again = paddle.to_tensor(weight)
    assert type(weight) is kind
    assert again.shape == weight.shape == [3, 4]


def test_an_executor_hands_out_what_lies_there() -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [None, 3], "float32")
            loss = paddle.square(paddle.static.nn.fc(x, 2)).mean()
            paddle.optimizer.SGD(0.1).minimize(loss)
        scope = paddle.static.Scope()
        exe = paddle.static.Executor(backend="elsewhere")
        exe.run(startup, scope=scope)
        given = np.ones((2, 3), "f")
        step = exe.prepare(main, ["x"], [loss], scope=scope, return_numpy=False)
        lazy = [step(given)[0] for _ in range(3)]
        (last,) = exe.run(main, {"x": given}, [loss], scope=scope, return_numpy=False)
        assert reads == []
        (value,) = exe.run(main, {"x": given}, [loss], scope=scope)
    finally:
        paddle.disable_static()
    found = [*map(float, lazy), float(last), float(value)]
    assert isinstance(value, np.ndarray)
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 5


def test_the_environment_may_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAD_ENGINE_BACKEND", "elsewhere")
    assert paddle.static.Executor().backend == "elsewhere"
