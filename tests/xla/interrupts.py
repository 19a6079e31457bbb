"""KeyboardInterrupt at every line that a step comes by; run by `residence`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.xla.steps import TABLE, Training

F, nn = paddle.nn.functional, paddle.nn
HERE = Path(paddle.__file__).parent
# Where a step goes by that has state in its hands.
WATCHED = tuple(
    os.fspath(HERE / name)
    for name in (
        *("compiler/xla/", "static/executor/", "core/far_array.py", "eager/far_tensor.py"),
        *("jit/program_call.py", "jit/training_step.py", "jit/concrete.py"),
    )
)
Step, State = Callable[[], Any], Callable[[], list[np.ndarray]]


def interrupted(function: Step, at: int) -> bool:
    """Call it, with Ctrl-C at a line of the package's, by its number; whether it came so far."""
    left = at

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(WATCHED):
            return None
        if event == "line":
            left -= 1
            if not left:
                signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return left <= 0


def whole_at_every_line(make: Callable[[], tuple[Step, State]]) -> int:
    """State is that of a whole number of steps, whatever interrupts; how many lines were tried."""
    (step, state), (twin, expected) = make(), make()
    for _ in range(2):  # of which the first has no gradients yet, and is another program
        step(), twin()
    before, at = expected(), 1
    twin()
    after = expected()
    while interrupted(step, at):
        found = state()
        if all(map(np.array_equal, found, after)):
            before = after
            twin()
            after = expected()
        else:
            assert all(map(np.array_equal, found, before)), f"half a step, at line {at}"
        at += 1
    return at


def traced() -> tuple[Step, State]:
    paddle.seed(3)
    layer = nn.Sequential(nn.Linear(13, 4), nn.Tanh(), nn.Linear(4, 5))
    adam = paddle.optimizer.Adam(0.01, parameters=layer.parameters())
    x, y = paddle.to_tensor(TABLE["x"]), paddle.to_tensor(TABLE["y"])

    @paddle.jit.to_static(backend="jax")
    def step() -> Any:
        loss = F.cross_entropy(layer(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    def state() -> list[np.ndarray]:
        kept = [*layer.state_dict().values(), *adam.state_dict().values()]
        return [np.array(t.numpy()) for t in kept if isinstance(t, paddle.Tensor)]

    return step, state


def bound() -> tuple[Step, State]:
    def build() -> Any:
        x = paddle.static.data("x", [None, 13], "float32")
        y = paddle.static.data("y", [None], "int64")
        loss = F.cross_entropy(paddle.static.nn.fc(x, 5), y)
        paddle.optimizer.Adam(0.01).minimize(loss)
        return loss

    training = Training(build, TABLE, "jax")
    return lambda: training.losses(1), lambda: list(training.state().values())


def a_traced_step_is_done_or_not() -> None:
    assert whole_at_every_line(traced) > 100


def a_bound_step_is_done_or_not() -> None:
    assert whole_at_every_line(bound) > 100


def what_is_compiled_is_compiled_again() -> None:
    step, _ = bound()
    expected = step()[0]
    step, _ = bound()
    for at in (300, 2000, 4000):
        assert interrupted(step, at), at
    assert abs(step()[0] - expected) < 1e-6
    training_goes_on = [step()[0] for _ in range(3)]
    assert training_goes_on[-1] < expected


TESTS = {
    f.__name__: f
    for f in (
        a_traced_step_is_done_or_not,
        a_bound_step_is_done_or_not,
        what_is_compiled_is_compiled_again,
    )
}
