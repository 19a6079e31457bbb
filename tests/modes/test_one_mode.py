"""Static mode is one for the process: what another thread's choice does to a thread."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine import static


@pytest.fixture(autouse=True)
def eager_again() -> Iterator[None]:
    yield
    paddle.disable_static()


def error_in(call: Callable[[], Any], name: str = "trainer") -> str:
    """What another thread is told."""
    told: list[str] = []

    def run() -> None:
        try:
            call()
        except Exception as error:
            told.append(str(error))

    thread = threading.Thread(target=run, name=name)
    thread.start()
    thread.join()
    (text,) = told
    return text


def in_thread(call: Callable[[], Any], name: str) -> None:
    thread = threading.Thread(target=call, name=name)
    thread.start()
    thread.join()


def leaf() -> Any:
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


# What a thread that computes with tensors does, to which another has switched static mode on.
EAGER: dict[str, Callable[[Any], Any]] = {
    "a tensor and an array that is made": lambda w: w * paddle.ones([2]),
    "a layer that is made": lambda w: paddle.nn.Linear(2, 2)(w),
    "values": lambda w: paddle.ones([2]).numpy(),
    "one value": lambda w: paddle.ones([]).item(),
    "a number": lambda w: float(paddle.ones([])),
    "a list": lambda w: paddle.ones([2]).tolist(),
    "a condition": lambda w: bool(paddle.ones([1]) > 0.0),
    "a length": lambda w: len(paddle.ones([2])),
    "a loop": lambda w: list(paddle.ones([2])),
    "backward": lambda w: paddle.ones([2]).backward(),
    "its gradient": lambda w: paddle.ones([2]).grad,
    "autograd.backward": lambda w: paddle.autograd.backward(w * w),
    "grad": lambda w: paddle.grad(w * w, w),
    "jacobian": lambda w: paddle.autograd.jacobian(lambda x: x * x, w),
    "jvp": lambda w: paddle.autograd.jvp(lambda x: x * x, w),
    "recompute": lambda w: paddle.autograd.recompute(lambda x: x * x, w),
    "a loop of a program": lambda w: static.nn.while_loop(
        lambda i, w: i < 3.0, lambda i, w: [i + 1.0, w], [paddle.ones([2]), w]
    ),
}


@pytest.mark.parametrize("what", EAGER)
def test_static_mode_of_another_thread(what: str) -> None:
    w = leaf()
    paddle.enable_static()
    line = inspect.getsourcelines(test_static_mode_of_another_thread)[1] + 3
    text = error_in(lambda: EAGER[what](w))
    assert (
        "Static mode, which is one for all threads, was switched on by the thread 'MainThread' "
        f"at test_one_mode.py:{line} (paddle.enable_static())"
    ) in text
    assert "program_guard is of its thread alone" in text


# What a thread that builds a program does, to which another has switched static mode off.
BUILDING: dict[str, Callable[[Any], Any]] = {
    "data": lambda x: static.data("y", [2]),
    "a variable and an array that is made": lambda x: x * paddle.to_tensor([1.0, 2.0]),
    "a parameter": lambda x: static.create_parameter([2], "float32"),
}


@pytest.mark.parametrize("what", BUILDING)
def test_eager_mode_of_another_thread(what: str) -> None:
    paddle.enable_static()
    x = static.data("x", [2])
    in_thread(paddle.disable_static, "evaluation")
    with pytest.raises((AssertionError, TypeError)) as error:
        BUILDING[what](x)
    assert re.search(
        "Static mode, which is one for all threads, was switched off by the thread 'evaluation' at",
        str(error.value),
    )


def test_its_own_choice_is_not_told() -> None:
    w = leaf()
    paddle.enable_static()
    for call in EAGER.values():
        with pytest.raises(Exception) as error:  # noqa: PT011 - any of them
            call(w)
        assert "thread" not in str(error.value)


def test_a_guard_is_of_its_thread() -> None:
    """So threads that compute go on, and an error in the guard is the guard's own."""
    w = leaf()
    in_thread(paddle.enable_static, "other")
    in_thread(paddle.disable_static, "other")
    with static.program_guard(static.Program()):
        gradients: list[Any] = []
        in_thread(
            lambda: gradients.append(paddle.grad((w * paddle.ones([2])).sum(), w)[0].tolist()),
            "other",
        )
        assert gradients == [[1.0, 1.0]]
        with pytest.raises(TypeError, match="is an eager Tensor among Variables") as error:
            w * static.data("x", [2])
    assert "thread" not in str(error.value)


def test_tensors_alone_are_computed_with_in_either_mode() -> None:
    """Operands decide; what has none is made in the mode of the process."""
    w = leaf()
    found: list[Any] = []
    paddle.enable_static()

    def train() -> None:
        (w * w).sum().backward()
        found.append(w.grad.tolist())
        found.append(paddle.in_dynamic_mode())

    in_thread(train, "trainer")
    assert found == [[2.0, 4.0], False]
