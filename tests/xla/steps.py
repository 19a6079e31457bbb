"""Programs through XLA, beside NumPy; run in a process of its own. Each function is one test."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograd_engine as paddle

F = paddle.nn.functional
Feeds = dict[str, Any]


class Training:
    """A program that trains, its scope, and a step of it."""

    def __init__(self, build: Callable[[], Any], feeds: Feeds, backend: str) -> None:
        paddle.enable_static()
        try:
            self.main, startup = paddle.static.Program(), paddle.static.Program()
            startup.random_seed = 3
            paddle.seed(5)
            with (
                paddle.static.program_guard(self.main, startup),
                paddle.utils.unique_name.guard(),
            ):
                self.loss = build()
            self.scope = paddle.static.Scope()
            self.executor = paddle.static.Executor(backend=backend)
            with paddle.static.scope_guard(self.scope):
                self.executor.run(startup)
                self.step = self.executor.prepare(
                    self.main, feed=list(feeds), fetch_list=[self.loss]
                )
        finally:
            paddle.disable_static()
        self.feeds = feeds

    def losses(self, steps: int) -> np.ndarray:
        return np.array([float(self.step(*self.feeds.values())[0]) for _ in range(steps)])

    def state(self) -> dict[str, np.ndarray]:
        names = [v.name for v in self.main.list_vars() if v.persistable]
        found = {n: self.scope.find_var(n) for n in names}
        return {n: np.array(v.get_tensor()) for n, v in found.items() if v is not None}

    def report(self) -> Any:
        with paddle.static.scope_guard(self.scope):
            return self.executor.explain(self.main, self.feeds, [self.loss])


def data(name: str, shape: list[Any], dtype: str = "float32") -> Any:
    return paddle.static.data(name, shape, dtype)


RNG = np.random.default_rng(0)
TABLE = {"x": RNG.standard_normal((16, 13)).astype("f"), "y": RNG.integers(0, 5, 16)}
IMAGES = {"x": RNG.standard_normal((4, 1, 28, 28)).astype("f"), "y": RNG.integers(0, 10, 4)}
WORDS = {"x": RNG.integers(0, 20, (4, 6)), "y": RNG.integers(0, 3, 4)}


def perceptron() -> Any:
    x, y = data("x", [None, 13]), data("y", [None], "int64")
    hidden = F.dropout(F.relu(paddle.static.nn.fc(x, 32)), 0.3)
    loss = F.cross_entropy(paddle.static.nn.fc(hidden, 5), y)
    paddle.optimizer.Adam(0.01).minimize(loss)
    return loss


def lenet() -> Any:
    x, y = data("x", [None, 1, 28, 28]), data("y", [None], "int64")
    for channels in (6, 16):
        x = F.max_pool2d(F.relu(paddle.static.nn.conv2d(x, channels, 5)), 2)
    x = F.relu(paddle.static.nn.fc(x, 84))
    loss = F.cross_entropy(paddle.static.nn.fc(x, 10), y)
    paddle.optimizer.Momentum(0.01).minimize(loss)
    return loss


def lstm() -> Any:
    x, y = data("x", [None, 6], "int64"), data("y", [None], "int64")
    embedded = paddle.nn.Embedding(20, 8)(x)
    _, (h, _) = paddle.nn.LSTM(8, 12)(embedded)
    loss = F.cross_entropy(paddle.nn.Linear(12, 3)(h[-1]), y)
    paddle.optimizer.SGD(0.1).minimize(loss)
    return loss


def same(build: Callable[[], Any], feeds: Feeds, steps: int) -> None:
    by_numpy = Training(build, feeds, "numpy")
    losses = by_numpy.losses(steps)
    by_xla = Training(build, feeds, "jax")  # which seeds the stream again
    np.testing.assert_allclose(by_xla.losses(steps), losses, rtol=1e-4)
    report = by_xla.report()
    assert report.backend == "jax", report.reasons
    assert report.called_back() == ()
    for name, value in by_numpy.state().items():
        np.testing.assert_allclose(by_xla.state()[name], value, rtol=1e-3, atol=1e-4)


def a_perceptron_with_dropout_trains_as_with_numpy() -> None:
    same(perceptron, TABLE, 20)


def a_report_says_what_is_drawn_before() -> None:
    training = Training(perceptron, TABLE, "jax")
    training.losses(1)
    where = {p.operation: p.where for p in training.report().placements}
    assert where["dropout_mask"] == "drawn before"
    assert where["matmul"] == "XLA"


def lenet_trains_as_with_numpy() -> None:
    same(lenet, IMAGES, 5)


def an_lstm_trains_as_with_numpy() -> None:
    same(lstm, WORDS, 10)


def a_network_that_is_written_out_looks_up_words() -> None:
    """Rounds forwards; backwards each adds rows to the gradient of a table."""

    def build() -> Any:
        x, h = data("x", [4, 6], "int64"), paddle.zeros([4, 8])
        words, linear = paddle.nn.Embedding(20, 8, sparse=True), paddle.nn.Linear(8, 8)
        for t in range(12):
            row = words(x[:, t % 6])
            h = paddle.tanh(linear(h) + row) * 0.9 + h * paddle.sin(row) * 0.1
        loss = (h * h).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss

    same(build, {"x": WORDS["x"]}, 5)


def rows_of_a_lazy_table_alone_are_updated() -> None:
    """Some are looked up twice, some once and then no more."""

    def build(optimizer: Any) -> Any:
        rows = paddle.nn.Embedding(20, 3, sparse=True)(data("x", [None, 6], "int64"))
        loss = (rows * rows + rows).sum()
        optimizer(0.1, lazy_mode=True).minimize(loss)
        return loss

    for optimizer in (paddle.optimizer.Adam, paddle.optimizer.AdamW):
        found = []
        for backend in ("numpy", "jax"):
            training = Training(partial(build, optimizer), {"x": WORDS["x"]}, backend)
            training.losses(1)
            training.feeds = {"x": WORDS["x"][::-1] % 7}
            training.losses(2)
            found.append(training.state())
        for name, value in found[0].items():
            np.testing.assert_allclose(found[1][name], value, rtol=1e-4, atol=1e-6)


def state_stays_on_the_device() -> None:
    training = Training(perceptron, TABLE, "jax")
    first = training.losses(1)
    with jax.transfer_guard("disallow"):
        later = training.losses(5)
    assert later[-1] < first[0]


def state_is_handed_over_and_not_copied() -> None:
    training = Training(perceptron, TABLE, "jax")
    training.losses(1)
    before = [memory.value for memory in training.step.binding.bound.held.values()]
    training.losses(1)
    assert all(a.is_deleted() for a in before)


def the_scope_reads_and_writes_it() -> None:
    training = Training(perceptron, TABLE, "jax")
    training.losses(3)
    name = next(n for n in training.state() if n.endswith("w_0"))
    before = training.state()[name]
    training.losses(1)
    assert np.abs(training.state()[name] - before).max() > 0
    tensor = training.scope.find_var(name).get_tensor()
    tensor.set(np.zeros_like(before), paddle.CPUPlace())
    training.losses(1)
    after = training.state()[name]
    assert 0 < np.abs(after).max() < 0.1


def what_is_fed_may_be_written_to_afterwards() -> None:
    found = []
    for backend in ("numpy", "jax"):
        feeds = {name: a.copy() for name, a in TABLE.items()}
        training = Training(perceptron, feeds, backend)
        training.losses(1)
        feeds["x"] *= 2.0  # the very array that was fed
        found.append(training.losses(2))
    np.testing.assert_allclose(*found, rtol=1e-4)


def labels_out_of_range_are_named_and_nothing_is_updated() -> None:
    training = Training(perceptron, TABLE, "jax")
    training.losses(2)
    before = training.state()
    training.feeds = {**TABLE, "y": TABLE["y"] + 3}
    with pytest.raises(paddle.errors.ExecutionError, match=r"steps\.py:.*label \d is out of range"):
        training.losses(1)
    for name, value in training.state().items():
        np.testing.assert_array_equal(value, before[name])
    training.feeds = TABLE
    training.losses(1)
    assert training.report().backend == "jax"


def indices_out_of_range_are_named_and_nothing_is_updated() -> None:
    training = Training(lstm, WORDS, "jax")
    training.losses(2)
    before = training.state()
    training.feeds = {**WORDS, "x": WORDS["x"] + 15}
    with pytest.raises(paddle.errors.ExecutionError, match=r"steps\.py:.*out of range"):
        training.losses(1)
    for name, value in training.state().items():
        np.testing.assert_array_equal(value, before[name])


def what_numpy_must_compute_is_called_back_and_shown() -> None:
    def build() -> Any:
        return paddle.histogram(data("x", [None, 13]), bins=5).max()

    feeds = {"x": np.abs(TABLE["x"]) + 0.5}
    by_numpy, by_xla = (Training(build, feeds, backend) for backend in ("numpy", "jax"))
    np.testing.assert_allclose(by_xla.losses(1), by_numpy.losses(1), rtol=1e-5)
    (back,) = by_xla.report().called_back()
    assert back.operation == "histogram"
    assert "steps.py" in back.line


def what_cannot_be_compiled_says_so_and_runs() -> None:
    def build() -> Any:
        return paddle.masked_select(data("x", [None, 13]), data("m", [None, 13], "bool")).sum()

    feeds = {"x": TABLE["x"], "m": TABLE["x"] > 0}
    by_numpy, by_xla = (Training(build, feeds, backend) for backend in ("numpy", "jax"))
    np.testing.assert_allclose(by_xla.losses(2), by_numpy.losses(2), rtol=1e-5)
    report = by_xla.report()
    assert report.backend != "jax"
    assert "steps.py" in report.reasons[0]


def arrays_of_64_bits_are_there_for_programs_alone() -> None:
    def build() -> Any:
        return (data("x", [None, 13], "float64") ** 2).sum()

    feeds = {"x": TABLE["x"].astype("d")}
    by_numpy, by_xla = (Training(build, feeds, backend) for backend in ("numpy", "jax"))
    np.testing.assert_allclose(by_xla.losses(1), by_numpy.losses(1), rtol=1e-13)
    assert by_xla.report().backend == "jax"
    assert jnp.ones(2).dtype == np.float32
    assert not jax.config.jax_enable_x64


def a_traced_function_and_its_gradient() -> None:
    def loss(x: Any) -> Any:
        return (paddle.tanh(x) * x).sum()

    found = []
    for backend in ("numpy", "jax"):
        traced = paddle.jit.to_static(loss, backend=backend)
        for _ in range(4):
            x = paddle.to_tensor(TABLE["x"], stop_gradient=False)
            value = traced(x)
            value.backward()
        found.append((value.numpy(), x.grad.numpy()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


TESTS = {
    f.__name__: f
    for f in (
        a_perceptron_with_dropout_trains_as_with_numpy,
        a_report_says_what_is_drawn_before,
        lenet_trains_as_with_numpy,
        an_lstm_trains_as_with_numpy,
        a_network_that_is_written_out_looks_up_words,
        rows_of_a_lazy_table_alone_are_updated,
        state_stays_on_the_device,
        state_is_handed_over_and_not_copied,
        the_scope_reads_and_writes_it,
        what_is_fed_may_be_written_to_afterwards,
        labels_out_of_range_are_named_and_nothing_is_updated,
        indices_out_of_range_are_named_and_nothing_is_updated,
        what_numpy_must_compute_is_called_back_and_shown,
        what_cannot_be_compiled_says_so_and_runs,
        arrays_of_64_bits_are_there_for_programs_alone,
        a_traced_function_and_its_gradient,
    )
}

def outcomes(tests: dict[str, Callable[[], None]], names: list[str]) -> dict[str, str]:
    """What is wrong with each test, or with those of these names; empty where nothing is."""
    found = {}
    for name, test in tests.items():
        if names and name not in names:
            continue
        try:
            test()
            found[name] = ""
        except BaseException:
            found[name] = traceback.format_exc()
    return found


if __name__ == "__main__":
    print(json.dumps(outcomes(TESTS, sys.argv[1:])))
