"""LookAhead and ModelAverage beside their definitions, step by step."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ModeError
from tests.over import over

incubate = paddle.incubate
START = [1.0, -2.0]


def parameter():
    return paddle.create_parameter([2], attr=paddle.nn.initializer.Assign(np.float32(START)))


def train(w, optimizer, steps, after=lambda: None):
    """Each step of SGD(0.1) on w^2 multiplies w by 0.8."""
    values = []
    for _ in range(steps):
        (w * w).sum().backward()
        optimizer.step()
        after()
        optimizer.clear_grad()
        values.append(w.numpy().tolist())
    return values


def sgd(w):
    return paddle.optimizer.SGD(0.1, parameters=[w])


@over(("alpha", "k"), [(0.5, 3), (0.8, 1)])
def test_every_k_steps_go_back_on_a_part_of_the_way(alpha, k):
    w = parameter()
    found = train(w, incubate.LookAhead(sgd(w), alpha, k), 7)
    value = np.array(START)
    slow = 0.8 * value  # what the first step makes of it, as in Paddle
    for step in range(7):
        value = 0.8 * value
        if (step + 1) % k == 0:
            value = slow = alpha * value + (1 - alpha) * slow
        np.testing.assert_allclose(found[step], value, rtol=1e-5)


def test_look_ahead_goes_on_from_its_state():
    def resumed(w, state):
        optimizer = incubate.LookAhead(sgd(w), 0.5, 3)
        optimizer.set_state_dict(state)
        return optimizer

    w = parameter()
    whole = incubate.LookAhead(sgd(w), 0.5, 3)
    train(w, whole, 4)
    state, values = whole.state_dict(), w.numpy().copy()
    expected = train(w, whole, 4)
    w.set_value(values)
    assert train(w, resumed(w, state), 4) == expected


def averaged(rate, least, most, steps):
    """From the windows of Paddle's kernel."""
    values = [0.8 ** (k + 1) for k in range(steps)]
    now, before = [], []
    for k, v in enumerate(values):
        now.append(v)
        if len(now) >= least and len(now) >= min(most, (k + 1) * rate):
            now, before = [], now
    return np.mean(now + before) * np.array(START)


WINDOWS = [(0.15, 2, 4), (0.5, 2, 10), (1.0, 3, 3), (0.15, 10000, 10000)]


@over("window", WINDOWS)
def test_averages_over_windows(window):
    w = parameter()
    average = incubate.ModelAverage(window[0], [w], *window[1:])
    last = train(w, sgd(w), 9, average.step)[-1]
    with average.apply():
        np.testing.assert_allclose(w.numpy(), averaged(*window, 9), rtol=1e-5)
    assert w.numpy().tolist() == last
    with average.apply(need_restore=False):
        pass
    np.testing.assert_allclose(w.numpy(), averaged(*window, 9), rtol=1e-5)
    average.restore()
    assert w.numpy().tolist() == last


def test_what_they_do_not_take():
    w = parameter()
    with pytest.raises(ArgumentError, match="inner_optimizer must be an optimizer"):
        incubate.LookAhead([w])
    with pytest.raises(ArgumentError, match="alpha must be a number from 0 to 1, got 2"):
        incubate.LookAhead(sgd(w), 2)
    with pytest.raises(ModeError, match=r"parameters=\[\.\.\.\].*ExponentialMovingAverage"):
        incubate.ModelAverage(0.15)
    with pytest.raises(ArgumentError, match="takes what its state_dict returned"):
        incubate.LookAhead(sgd(w)).set_state_dict({})
