"""`backward()` of a value that carries no gradient: legal, and it says why nothing happens."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.errors import NoHistoryWarning


def leaf() -> Any:
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


def here() -> int:
    """The line of whoever calls it."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def made_from_values() -> tuple[Any, str]:
    return paddle.to_tensor([1.0]), "it was never recorded: it is made from values"


def a_constant() -> tuple[Any, str]:
    return paddle.ones([2]) * 2.0, "it was computed without being recorded"


def under_no_grad() -> tuple[Any, str]:
    x = leaf()
    with paddle.no_grad():
        line = here() - 1
        y = x * x
    return y.sum(), f"the no_grad block at test_no_history.py:{line} "


def under_inference_mode() -> tuple[Any, str]:
    x = leaf()
    with paddle.inference_mode():
        line = here() - 1
        y = x * x
    return y.sum(), f"the inference_mode block at test_no_history.py:{line} "


def decorated() -> tuple[Any, str]:
    @paddle.no_grad()
    def loss(x: Any) -> Any:
        return (x * x).sum()

    y, line = loss(leaf()), here()
    return y, f"the no_grad block at test_no_history.py:{line} "


def detached() -> tuple[Any, str]:
    y, line = leaf().detach(), here()
    return y, f"it was cut off by detach() at test_no_history.py:{line} "


def computed_from_detached() -> tuple[Any, str]:
    y, line = leaf().detach(), here()
    return (y * y).sum(), f"perhaps: cut by detach() at test_no_history.py:{line} "


def stopped() -> tuple[Any, str]:
    y = leaf() * 2.0
    y.stop_gradient = True
    line = here() - 1
    return y, f"stop_gradient was set to True at test_no_history.py:{line} "


def copied() -> tuple[Any, str]:
    x = leaf() * 2.0
    y, line = paddle.to_tensor(x), here()
    return y, f"it was cut off by to_tensor() at test_no_history.py:{line} "


def through_numpy() -> tuple[Any, str]:
    x = leaf() * 2.0
    y, line = paddle.to_tensor(x.numpy()), here()
    return y, f"it was cut off by numpy() at test_no_history.py:{line} "


CASES = [
    made_from_values,
    a_constant,
    under_no_grad,
    under_inference_mode,
    decorated,
    detached,
    computed_from_detached,
    stopped,
    copied,
    through_numpy,
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("create_graph", [False, True])
def test_it_says_why(case: Callable[[], tuple[Any, str]], create_graph: bool) -> None:
    value, why = case()
    with pytest.warns(NoHistoryWarning) as found:
        value.backward(create_graph=create_graph)
    line = here() - 1
    (warning,) = found
    assert (warning.filename, warning.lineno) == (__file__, line)
    text = str(warning.message)
    assert text.startswith(f"test_no_history.py:{line} (value.backward(create_graph")
    assert "backward() has nothing to differentiate, and changes no .grad" in text
    assert why in text


def test_a_generator_that_holds_a_block_open() -> None:
    def batches() -> Iterator[int]:
        with paddle.no_grad():
            yield 1

    line = inspect.getsourcelines(batches)[1] + 1
    x = leaf()
    for _ in batches():
        with pytest.warns(NoHistoryWarning) as found:
            (x * x).sum().backward()
    assert (
        f"recording is off here: the no_grad block at test_no_history.py:{line} (with "
        "paddle.no_grad():) of a generator, which holds it open while it waits"
    ) in str(found[0].message)


def test_once_for_a_line() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(4):
            x = leaf()
            x.detach().backward()
        leaf().detach().backward()
    assert len(found) == 2


def test_of_several_the_one_is_named() -> None:
    x = leaf()
    with pytest.warns(NoHistoryWarning, match=r"tensors\[1\] of backward\(\)"):
        paddle.autograd.backward([(x * x).sum(), paddle.ones([1])])
    assert x.grad.tolist() == [2.0, 4.0]


def test_what_has_a_history_says_nothing() -> None:
    x = leaf()
    with paddle.no_grad():
        x * x
    x.backward()
    (x * x.detach()).sum().backward()
    with paddle.no_grad():
        y = x * 1.0
    y.stop_gradient = False
    (y * y).sum().backward()
    assert y.grad.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [2.0, 3.0]
