"""Arrays that stay where XLA has them: training steps of `to_static`, and of an Executor.

Run in a process of its own; see `steps`.
"""

from __future__ import annotations

import copy
import io
import json
import sys
import threading
from typing import Any

import jax
import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.xla.device_arrays import DeviceArray
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.far_array import FarArray
from autograd_engine.eager.far_tensor import content
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.xla import interrupts
from tests.xla.steps import TABLE, WORDS, Training, lstm, outcomes, perceptron

F, nn = paddle.nn.functional, paddle.nn


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(13, 8, bias_attr=False)  # which the norm would take away
        self.norm, self.last = nn.BatchNorm1D(8), nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        return self.last(F.dropout(F.relu(self.norm(self.first(x))), 0.2, training=self.training))


class Trained:
    """A layer, its optimizer, and a traced training step."""

    def __init__(self, backend: str, loss: Any = F.cross_entropy) -> None:
        paddle.seed(7)
        self.layer = Net()
        self.rate = paddle.optimizer.lr.StepDecay(0.05, 2)
        self.optimizer = paddle.optimizer.Adam(self.rate, parameters=self.layer.parameters())
        self.x, self.y = paddle.to_tensor(TABLE["x"]), paddle.to_tensor(TABLE["y"])

        def step(x: Any, y: Any) -> Any:
            value = loss(self.layer(x), y)
            value.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            return value

        self.step = paddle.jit.to_static(step, backend=backend)

    def losses(self, steps: int) -> list[float]:
        return [float(self.step(self.x, self.y)) for _ in range(steps)]

    def state(self) -> list[np.ndarray]:
        kept = [*self.layer.state_dict().values(), *self.optimizer.state_dict().values()]
        return [np.array(t.numpy()) for t in kept if isinstance(t, paddle.Tensor)]

    def far(self) -> list[bool]:
        tensors = [*self.layer.parameters(), *self.layer.buffers()]
        return [isinstance(content(t), FarArray) for t in tensors]


def same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def a_traced_training_step_keeps_all_on_the_device() -> None:
    by_numpy, by_xla = Trained("numpy"), None
    expected = by_numpy.losses(4)
    by_numpy.rate.step()
    expected += by_numpy.losses(4)
    by_xla = Trained("jax")
    found = by_xla.losses(2)
    assert all(by_xla.far())
    with jax.transfer_guard("disallow"):
        late = [by_xla.step(by_xla.x, by_xla.y) for _ in range(2)]
    assert all(isinstance(content(loss), FarArray) for loss in late)
    by_xla.rate.step()
    found += [float(loss) for loss in late] + by_xla.losses(1)
    with jax.transfer_guard("disallow"):
        late = [by_xla.step(by_xla.x, by_xla.y) for _ in range(3)]
    found += [float(loss) for loss in late]
    same(found, expected)
    same(by_xla.state(), by_numpy.state())


def what_is_written_over_is_handed_over() -> None:
    trained = Trained("jax")
    trained.losses(1)
    parts = [content(p) for p in trained.layer.parameters()]
    parts += [a for state in trained.optimizer._eager_state.values() for a in state]
    assert all(isinstance(part, DeviceArray) for part in parts)
    before = [part.value for part in parts]
    trained.losses(1)
    assert all(value.is_deleted() for value in before)


def values_are_read_when_asked_for_and_written_when_given() -> None:
    found = []
    for backend in ("numpy", "jax"):
        trained = Trained(backend)
        w = trained.layer.first.weight
        trained.losses(2)
        seen = w.numpy().copy()
        alias = w.detach()
        trained.losses(1)
        assert np.abs(w.numpy() - seen).max() > 0
        np.testing.assert_array_equal(alias.numpy(), w.numpy())
        w.set_value(np.full(w.shape, 0.25, "f"))
        losses = trained.losses(2)
        with paddle.no_grad():
            trained.layer.last.bias.add_(paddle.ones([5]))
        state = trained.optimizer.state_dict()
        losses += trained.losses(2)
        trained.optimizer.set_state_dict(state)
        losses += trained.losses(1)
        found.append([np.array(losses), *trained.state()])
    same(found[1], found[0])


def what_is_read_need_not_be_put_there_again() -> None:
    trained = Trained("jax")
    trained.losses(2)
    w = trained.layer.first.weight
    values = w.numpy()
    assert values.base is not None
    assert type(w) is type(Net().first.weight)
    with jax.transfer_guard("disallow"):
        trained.step(trained.x, trained.y)
    assert np.abs(w.numpy() - values).max() > 0


def labels_out_of_range_leave_a_traced_step_as_it_was() -> None:
    trained = Trained("jax")
    trained.losses(2)
    before, good = trained.state(), trained.y
    trained.y = paddle.to_tensor(TABLE["y"] + 4)
    with pytest.raises(paddle.errors.ExecutionError, match=r"residence\.py:.*out of range"):
        trained.losses(1)
    for a, b in zip(trained.state(), before, strict=True):
        np.testing.assert_array_equal(a, b)
    trained.y = good
    trained.losses(1)
    assert all(trained.far())


def an_index_that_follows_from_state_is_checked_in_the_step() -> None:
    w = paddle.create_parameter([3], attr=nn.initializer.Constant(1.0))
    table = paddle.to_tensor([[1.0], [2.0], [3.0]])
    sgd = paddle.optimizer.SGD(1.0, parameters=[w])

    @paddle.jit.to_static(backend="jax")
    def step() -> Any:
        k = 3 - paddle.cast(w.sum(), "int64")  # 0, then 3
        loss = (w * paddle.gather(table, k.reshape([1])).sum()).sum()
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return loss

    assert float(step()) == 3.0
    before = w.numpy().copy()
    with pytest.raises(paddle.errors.ExecutionError, match=r"out of (range|bounds)"):
        step()
    np.testing.assert_array_equal(w.numpy(), before)
    w.set_value(np.ones(3, "f"))
    assert float(step()) == 3.0


def what_was_returned_stays_as_it_is() -> None:
    w = paddle.create_parameter([3], attr=nn.initializer.Constant(1.0))
    sgd = paddle.optimizer.SGD(0.5, parameters=[w])

    @paddle.jit.to_static(backend="jax")
    def step() -> Any:
        old = w * 1.0
        loss = w.sum()
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return old, loss, w * 1.0

    kept = [step() for _ in range(3)]
    found = [[float(t.sum()) for t in one] for one in kept]
    assert found == [[3, 3, 1.5], [1.5, 1.5, 0], [0, 0, -1.5]]


def other_programs_read_what_a_step_has_left() -> None:
    trained = Trained("jax")
    trained.losses(1)
    trained.layer.eval()

    @paddle.jit.to_static(backend="jax")
    def accuracy(x: Any) -> Any:
        with paddle.no_grad():
            return trained.layer(x).argmax(1)

    for _ in range(4):
        accuracy(trained.x)
    with jax.transfer_guard("disallow"):
        found = accuracy(trained.x)
    expected = trained.layer(trained.x).argmax(1)  # eagerly, which reads them
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
    assert not any(trained.far())
    trained.layer.train()
    trained.losses(1)
    assert all(trained.far())


def far_tensors_are_what_they_were_to_all_others() -> None:
    trained = Trained("jax")
    trained.losses(1)
    w = trained.layer.first.weight
    assert isinstance(w, type(Net().first.weight))
    assert isinstance(w, paddle.Tensor)
    assert w.shape == [13, 8]
    assert w.dtype == paddle.float32
    assert not w.stop_gradient
    trained.losses(1)
    again = copy.deepcopy(w)
    np.testing.assert_array_equal(again.numpy(), w.numpy())
    trained.losses(1)
    other = copy.deepcopy(trained.optimizer)
    assert len(other.state_dict()) == len(trained.optimizer.state_dict())
    trained.losses(1)
    file = io.BytesIO()
    paddle.save(trained.layer.state_dict(), file)
    file.seek(0)
    np.testing.assert_array_equal(paddle.load(file)["first.weight"].numpy(), w.numpy())
    loss = trained.step(trained.x, trained.y)
    assert "Tensor" in repr(loss)
    assert loss.shape == []
    assert bool(loss > 0)
    eager = F.cross_entropy(trained.layer(trained.x), trained.y)
    eager.backward()
    trained.optimizer.step()  # eagerly, with the state that was there
    trained.optimizer.clear_grad()
    trained.losses(1)


def an_executor_hands_out_tensors_and_waits_for_none() -> None:
    by_numpy = Training(perceptron, TABLE, "numpy")
    expected = by_numpy.losses(5)
    by_xla = Training(perceptron, TABLE, "jax")
    with paddle.static.scope_guard(by_xla.scope):
        step = by_xla.executor.prepare(
            by_xla.main, list(TABLE), [by_xla.loss], return_numpy=False
        )
    feeds = [paddle.to_tensor(a) for a in TABLE.values()]
    found = [step(*feeds)[0]]
    with jax.transfer_guard_device_to_host("disallow"):
        found += [step(*feeds)[0] for _ in range(3)]
    assert all(isinstance(content(loss), FarArray) for loss in found)
    with paddle.static.scope_guard(by_xla.scope):
        (last,) = by_xla.executor.run(
            by_xla.main, TABLE, [by_xla.loss], return_numpy=False
        )
    np.testing.assert_allclose([float(v) for v in [*found, last]], expected, rtol=1e-4)


def what_tensors_hold_when_they_are_fed_counts() -> None:
    found = []
    for backend in ("numpy", "jax"):
        training = Training(perceptron, TABLE, backend)
        training.feeds = {k: paddle.to_tensor(a) for k, a in TABLE.items()}
        losses = list(training.losses(2))
        training.feeds["x"][0] = 2.0
        losses += list(training.losses(1))
        training.feeds["x"].set_value(TABLE["x"] * 2)
        found.append(losses + list(training.losses(2)))
    same(*found)


def memory_that_a_tensor_shares_with_others_is_looked_at_each_time() -> None:
    found = []
    for backend in ("numpy", "jax"):
        training = Training(perceptron, TABLE, backend)
        lent = TABLE["x"].copy()
        training.feeds = {**TABLE, "x": paddle.from_dlpack(lent)}
        losses = list(training.losses(3))
        lent *= 2.0
        found.append(losses + list(training.losses(2)))
        assert not np.allclose(found[-1][2], found[-1][3])
    same(*found)


def labels_in_fed_tensors_are_checked_once_they_change() -> None:
    training = Training(lstm, WORDS, "jax")
    training.feeds = {k: paddle.to_tensor(a) for k, a in WORDS.items()}
    training.losses(2)
    before = training.state()
    training.feeds["x"].set_value(WORDS["x"] + 15)
    for _ in range(2):
        with pytest.raises(paddle.errors.ExecutionError, match=r"steps\.py:.*out of range"):
            training.losses(1)
    for name, value in training.state().items():
        np.testing.assert_array_equal(value, before[name])
    training.feeds["x"].set_value(WORDS["x"])
    training.losses(1)
    assert training.report().backend == "jax"


def histograms() -> Any:
    x = paddle.static.data("x", [None, 600], "float32")
    parts = [paddle.histogram(paddle.tanh(x * k), bins=4).max() for k in range(1, 7)]
    return paddle.add_n(parts)


def programs_that_call_back_do_not_wait_for_each_other() -> None:
    feeds = {"x": np.random.default_rng(2).standard_normal((600, 600)).astype("f")}
    both = [Training(histograms, feeds, "jax") for _ in range(2)]
    expected = [one.losses(1)[0] for one in both]
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda one=one: found.append(one.losses(20)), daemon=True)
        for one in both
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 2, "they wait for ever"
    for losses in found:
        np.testing.assert_array_equal(losses, expected[0])


def a_function_is_called_back_after_the_last() -> None:
    histogram = REGISTRY["histogram"]

    def two(x: Any) -> Any:
        run, attrs = Run(), histogram.complete_attrs({"bins": 3})
        return [run.call(histogram, [x * k], attrs)[0] for k in (1.0, 2.0)]

    given = jax.ShapeDtypeStruct((8,), np.dtype("f"))
    first, last = [
        e for e in jax.make_jaxpr(two)(given).jaxpr.eqns if "callback" in e.primitive.name
    ]
    assert first.outvars[-1] in last.invars


TESTS = {
    f.__name__: f
    for f in (
        a_traced_training_step_keeps_all_on_the_device,
        what_is_written_over_is_handed_over,
        values_are_read_when_asked_for_and_written_when_given,
        what_is_read_need_not_be_put_there_again,
        labels_out_of_range_leave_a_traced_step_as_it_was,
        an_index_that_follows_from_state_is_checked_in_the_step,
        what_was_returned_stays_as_it_is,
        other_programs_read_what_a_step_has_left,
        far_tensors_are_what_they_were_to_all_others,
        an_executor_hands_out_tensors_and_waits_for_none,
        what_tensors_hold_when_they_are_fed_counts,
        memory_that_a_tensor_shares_with_others_is_looked_at_each_time,
        labels_in_fed_tensors_are_checked_once_they_change,
        programs_that_call_back_do_not_wait_for_each_other,
        a_function_is_called_back_after_the_last,
    )
}

TESTS |= interrupts.TESTS

if __name__ == "__main__":
    print(json.dumps(outcomes(TESTS, sys.argv[1:])))
