"""Hooks that are registered while another thread registers one, or runs a pass.

The second thread runs at each line of the first, one after the other, so that nothing depends on
when the interpreter switches. Where the first holds a lock, the second waits for it to go on.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.core.locations import PACKAGE_DIR

WAIT = 0.02


def at_line(k: int, call: Callable[[], Any], other: Callable[[], Any]) -> bool:
    """Run `call`, and `other` in another thread before its k-th line; whether there is one."""
    left, failed, threads = [k], [], []

    def run() -> None:
        try:
            other()
        except BaseException as error:
            failed.append(error)

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE_DIR):
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == -1:
                threads.append(threading.Thread(target=run))
                threads[0].start()
                threads[0].join(WAIT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    if threads:
        threads[0].join()
    if failed:
        raise failed[0]
    return bool(threads)


def leaf() -> Any:
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


def became_a_leaf() -> Any:
    with paddle.no_grad():
        x = leaf() * 1.0
    x.stop_gradient = False
    return x


def result() -> Any:
    return leaf() * 3.0


def output_of_several() -> Any:
    return paddle.unbind(leaf() * 3.0)[0]


KINDS = [leaf, became_a_leaf, result, output_of_several]


@pytest.mark.parametrize("make", KINDS)
def test_two_threads_register(make: Callable[[], Any]) -> None:
    k, more = 0, True
    while more:
        x, called = make(), []
        more = at_line(
            k,
            lambda x=x, called=called: x.register_hook(lambda g: called.append("first")),
            lambda x=x, called=called: x.register_hook(lambda g: called.append("second")),
        )
        x.sum().backward()
        assert sorted(called) == (["first", "second"] if more else ["first"]), k
        k += 1
    assert k > 3


@pytest.mark.parametrize("make", KINDS)
def test_a_pass_beside_a_registration(make: Callable[[], Any]) -> None:
    k, more = 0, True
    while more:
        x, called = make(), []
        y = (x * 2.0).sum()
        more = at_line(
            k,
            lambda x=x, called=called: x.register_hook(lambda g: called.append(g.tolist())),
            lambda y=y: y.backward(retain_graph=True),
        )
        if x.is_leaf and more:
            assert x.grad is not None, k
            assert x.grad.tolist() == [2.0, 2.0], k
        called.clear()
        y.backward()
        assert called == [[2.0, 2.0] if x.shape else 2.0], k
        k += 1
    assert k > 3


@pytest.mark.parametrize("make", [leaf, became_a_leaf])
def test_a_registration_beside_a_pass(make: Callable[[], Any]) -> None:
    k, more = 0, True
    while more:
        x, called = make(), []
        y = (x * 2.0).sum()
        more = at_line(
            k,
            lambda y=y: y.backward(retain_graph=True),
            lambda x=x, called=called: x.register_hook(lambda g: called.append(1)),
        )
        called.clear()
        y.backward()
        assert called == ([1] if more else []), k
        assert x.grad.tolist() == [4.0, 4.0], k
        k += 1


def test_two_threads_retain() -> None:
    k, more = 0, True
    while more:
        x = result()
        more = at_line(k, x.retain_grads, x.retain_grads)
        x.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0]
        k += 1
